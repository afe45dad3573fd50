//! What of a run a GPU need not have alike: the same data and the same words for `run`, `diff` and `why`.

use std::collections::BTreeMap;

use roundonce_exec::Report;
use roundonce_ir::{Kernel, place_name};
use serde::Serialize;

/// What of a run's results a GPU need not give.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Doubts {
    /// Instructions that a GPU approximates, and how often they ran: their results here are correctly rounded ones.
    pub not_exact: BTreeMap<String, u64>,
    /// Lines of float additions to memory, in an order that nothing fixes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<u32>,
    /// Whether lines are addresses, as in machine code.
    #[serde(skip)]
    pub addresses: bool,
}

impl Doubts {
    /// Of a run of a kernel.
    pub fn of(report: &Report, kernel: &Kernel) -> Doubts {
        Doubts {
            not_exact: report.approximations.clone(),
            unordered: kernel.unordered_sums(),
            addresses: kernel.addresses,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.not_exact.is_empty() && self.unordered.is_empty()
    }

    /// A note for each.
    pub fn notes(&self) -> Vec<String> {
        let inexact = self.not_exact.iter().map(|(name, count)| {
            format!("not exact: {name} × {count} (correctly rounded here; the GPU approximates it)")
        });
        let unordered = (!self.unordered.is_empty()).then(|| {
            let places: Vec<String> = self.unordered.iter().map(|&line| place_name(self.addresses, line)).collect();
            let places = places.join(", ");
            format!("not determined: the order of atomic float additions, {places} (that of the threads here; a GPU's is left to chance)")
        });
        inexact.chain(unordered).collect()
    }
}
