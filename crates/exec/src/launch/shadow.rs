//! What a shadow run says of buffers: how far rounding moved them, and whether it explains what a reference differs by.

use std::collections::BTreeMap;

use crate::interp::{ShadowElement, ShadowLine};
use roundonce_functions::{Breadth, Wider};

/// How far rounding moved what a run computed.
#[derive(Clone, PartialEq, Debug)]
pub struct ShadowReport {
    /// How wide the shadow was.
    pub breadth: Breadth,
    /// By instruction, an index into the kernel's source locations.
    pub lines: BTreeMap<u32, ShadowLine>,
    /// By argument, the floats that the kernel left in the buffer, by their offsets. What it did not compute is not there.
    pub buffers: Vec<Vec<ShadowElement>>,
}

/// The upper ends, in ulps, of the classes that [`ShadowReport::spread`] counts; the last class is all beyond.
pub const SPREAD: [f64; 4] = [0.5, 4.0, 1024.0, f64::MAX];

/// A difference from a reference that is at most so many times as far from the wider value as the run's own result
/// (where that lies within an ulp: so many ulps) is called rounding: another order of the same operations moves a value
/// by about as much.
pub const ROUNDING_FACTOR: f64 = 8.0;

/// A reference against a run and its shadow.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Against {
    /// Elements of other bits than the run's.
    pub differing: u64,
    /// Of them those that rounding explains: see [`ROUNDING_FACTOR`].
    pub rounding: u64,
    /// The others: how many, the first, the reference's bits there, and its distance from the wider value in ulps.
    pub further: u64,
    /// The first of the others.
    pub first_further: Option<(ShadowElement, u64, f64)>,
}

impl ShadowReport {
    /// How many floats of a buffer moved by up to each of [`SPREAD`], and by more or to no finite number.
    pub fn spread(&self, argument: usize) -> [u64; SPREAD.len() + 1] {
        let mut counts = [0; SPREAD.len() + 1];
        for element in &self.buffers[argument] {
            counts[SPREAD.iter().position(|&limit| element.ulps <= limit).unwrap_or(SPREAD.len())] += 1;
        }
        counts
    }

    /// The float of a buffer that moved furthest.
    pub fn furthest(&self, argument: usize) -> Option<&ShadowElement> {
        // Of equal ones the first.
        self.buffers[argument].iter().rev().max_by(|a, b| a.ulps.total_cmp(&b.ulps))
    }

    /// Compares what a buffer should hold with what it holds and with what it would hold without rounding.
    pub fn against(&self, argument: usize, reference: &[u8]) -> Against {
        let mut against = Against::default();
        for element in &self.buffers[argument] {
            let bytes = element.format.width() as usize / 8;
            let Some(expected) = reference.get(element.offset as usize..).and_then(|rest| rest.get(..bytes)) else {
                continue;
            };
            let expected = expected.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            if expected == element.bits {
                continue;
            }
            against.differing += 1;
            let wide = Wider::of(Breadth::Double, roundonce_arith::Format::F64, element.wide.to_bits());
            let ulps = wide.distance(element.format, expected);
            if ulps <= ROUNDING_FACTOR * element.ulps.max(1.0) {
                against.rounding += 1;
            } else {
                against.further += 1;
                against.first_further.get_or_insert((*element, expected, ulps));
            }
        }
        against
    }
}
