//! Digests of every instruction's results, by how often its thread has run it: where two runs part.

use std::collections::HashMap;

use crate::kernel::mix;
use roundonce_ir::Reg;

/// The results of one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultDigest {
    /// An index into the kernel's source locations.
    pub loc: u32,
    /// Whether they are floats.
    pub is_float: bool,
    /// How many there are.
    pub results: u64,
    /// A digest of the results that threads had when they ran it for the first time, for the second, the third and fourth,
    /// the fifth to eighth, and so on. It does not depend on the order in which threads ran.
    pub digests: Vec<u64>,
}

/// What was digested so far.
#[derive(Clone, Default, Debug)]
pub(crate) struct Digests {
    /// In the order of their first results.
    all: Vec<ResultDigest>,
    places: HashMap<u32, usize>,
    /// How often each lane of the blocks that run has written each register of an instruction.
    times: HashMap<(u32, Reg), Vec<u64>>,
    first_block: u64,
}

impl Digests {
    /// The following results are those of other blocks.
    pub(super) fn enter(&mut self, first_block: u64) {
        if self.first_block != first_block {
            self.first_block = first_block;
            self.times.values_mut().for_each(Vec::clear);
        }
    }

    /// A register that an instruction has written: of each lane, with the number of its thread in the grid, the bits.
    pub(super) fn record(
        &mut self,
        (loc, is_float): (u32, bool),
        register: Reg,
        written: impl Iterator<Item = (usize, u64, u64)>,
    ) {
        let place = *self.places.entry(loc).or_insert_with(|| {
            self.all.push(ResultDigest { loc, is_float, results: 0, digests: Vec::new() });
            self.all.len() - 1
        });
        let (entry, times) = (&mut self.all[place], self.times.entry((loc, register)).or_default());
        entry.is_float |= is_float;
        for (lane, thread, bits) in written {
            if times.len() <= lane {
                times.resize(lane + 1, 0);
            }
            let window = (u64::BITS - times[lane].leading_zeros()) as usize;
            times[lane] += 1;
            if entry.digests.len() <= window {
                entry.digests.resize(window + 1, 0);
            }
            entry.results += 1;
            let digest = &mut entry.digests[window];
            *digest = digest.wrapping_add(mix(mix(thread ^ times[lane] << 32) ^ bits));
        }
    }

    /// All, in the order of their first results.
    pub(crate) fn into_list(self) -> Vec<ResultDigest> {
        self.all
    }
}
