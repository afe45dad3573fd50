//! What of a run a GPU need not have alike: the same data and the same words for `run`, `diff` and `why`.

use std::collections::BTreeMap;

use roundonce_exec::Report;
use roundonce_ir::{Kernel, Op, place_name};
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

    /// Of a kernel that is not run: nothing ran, not once.
    pub fn of_text(kernel: &Kernel) -> Doubts {
        let instructions = kernel.blocks.iter().flat_map(|block| &block.instructions);
        let names = instructions.filter_map(|instruction| match &instruction.op {
            Op::Approximate { name, .. } => Some(name.clone()),
            _ => None,
        });
        Doubts {
            not_exact: names.map(|name| (name, 0)).collect(),
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
            let times = if *count == 0 { String::new() } else { format!(" × {count}") };
            format!("not exact: {name}{times} (correctly rounded here; the GPU approximates it)")
        });
        let unordered = place_names(self.addresses, &self.unordered).map(|places| {
            format!("not determined: the order of atomic float additions, {places} (that of the threads here; a GPU's is left to chance)")
        });
        inexact.chain(unordered).collect()
    }
}

/// Lines or addresses in a note; `None` of none.
pub(crate) fn place_names(addresses: bool, lines: &[u32]) -> Option<String> {
    let places: Vec<String> = lines.iter().map(|&line| place_name(addresses, line)).collect();
    (!places.is_empty()).then(|| places.join(", "))
}

/// What is said of what a module leaves open; `None` where that is nothing.
pub fn assumed(undetermined: &[String]) -> Option<String> {
    (!undetermined.is_empty())
        .then(|| format!("the module does not determine the bits; assumed {}", undetermined.join("; ")))
}
