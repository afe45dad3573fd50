//! The memory that native code shares with its caller: one frame for each region, and one record for each tile.

use super::shape::VectorShape;
use roundonce_ir::{Operand, Reg, Space};
use std::collections::BTreeMap;

/// The frame's header: offsets that both the code and its caller know.
pub(super) mod header {
    /// The caller's floating-point environment, while the code runs.
    pub(in crate::native) const SAVED: i64 = 0;
    /// The code's floating-point environment.
    pub(in crate::native) const ENVIRONMENT: i64 = 4;
    /// One past the last tile; in whole kernels, of a block.
    pub(in crate::native) const END: i64 = 8;
    /// The instructions that a tile may issue.
    pub(in crate::native) const BUDGET: i64 = 16;
    /// Whether the current tile has committed: it continues at the exit that its record has.
    pub(in crate::native) const COMMITTED: i64 = 24;
    /// Instructions completed by some lanes of the current tile only, summed over those lanes.
    pub(in crate::native) const PREDICATED: i64 = 32;
    /// The tile where the code stopped.
    pub(in crate::native) const TILE: i64 = 40;
    /// The address that missed an inline cache.
    pub(in crate::native) const ADDRESS: i64 = 48;
    /// For AVX2 and NEON: the environments of the four directions of rounding. For AVX2: the mask registers, 32 bytes each from
    /// K0 on.
    pub(in crate::native) const ENVIRONMENTS: i64 = 64;
    pub(in crate::native) const MASKS: i64 = 96;
    /// For whole kernels: the current block, three axes; how many blocks are left, the current one among them; the first tile of a block.
    pub(in crate::native) const CTAID: i64 = 384;
    pub(in crate::native) const BLOCKS: i64 = 408;
    pub(in crate::native) const FIRST: i64 = 416;
    /// Sums over all tiles of what their records hold otherwise: STEPS and PREDICATED.
    pub(in crate::native) const ALL_STEPS: i64 = 424;
    pub(in crate::native) const ALL_PREDICATED: i64 = 432;
    /// The next lines to prefetch and where they end, as host addresses, of those that will be read and of those that will be written; and
    /// whether there are any.
    pub(in crate::native) const NEXT_READ: i64 = 448;
    pub(in crate::native) const NEXT_WRITTEN: i64 = 464;
    pub(in crate::native) const NEXT_ANY: i64 = 480;
    pub(in crate::native) const BYTES: i64 = 488;
}

/// The words of a tile's record. Code of whole kernels has records of a block's tiles alone, whatever the block: their LANE and TID.
pub(super) mod record {
    /// The number of its first lane in the group.
    pub(in crate::native) const LANE: usize = 0;
    /// The first lane's thread, three axes.
    pub(in crate::native) const TID: usize = 1;
    /// Its block, three axes.
    pub(in crate::native) const CTAID: usize = 4;
    /// The host address of its block's shared memory.
    pub(in crate::native) const SHARED: usize = 7;
    /// The exit that the tile took.
    pub(in crate::native) const EXIT: usize = 8;
    /// Instructions completed by every lane.
    pub(in crate::native) const STEPS: usize = 9;
    /// What is left of its budget: between the two that are summed, as a load of both at once would wait for all stores before.
    pub(in crate::native) const BUDGET_LEFT: usize = 10;
    /// As in the frame's header.
    pub(in crate::native) const PREDICATED: usize = 11;
    /// Live values: the inputs, then those of each exit.
    pub(in crate::native) const VALUES: usize = 12;
}

/// Whether an access reads or writes memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Load,
    Store,
    /// A store whose bits are all ones: of several it does not matter which comes first.
    StoreOnes,
}

/// An instruction that accesses memory. For global memory the frame holds its inline cache, four words: the segment's
/// base address, the number of aligned positions in the segment where the access may start for all lanes, the distance from the
/// program's addresses to the host's, and the number of positions where it may start for one lane.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct AccessSite {
    /// The inline cache's offset in the frame.
    pub(super) cache: i64,
    pub(super) space: Space,
    pub(super) access: Access,
    /// What a lane's address must be a multiple of.
    pub(super) align: u32,
    /// From the first byte accessed to one past the last, over all lanes.
    pub(super) span: u64,
    /// The address operand and its shape, and the bytes that a lane accesses from there: for alias checks.
    pub(super) address: Operand,
    pub(super) shape: VectorShape,
    pub(super) offset: i64,
    pub(super) length: u64,
}

/// A register that is live into or out of a region, and how its value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LiveReg {
    pub(super) reg: Reg,
    pub(super) location: LiveLocation,
}

impl LiveReg {
    /// The column that the value is passed in, if it is.
    pub(super) fn column(&self) -> Option<(Reg, i64)> {
        match self.location {
            LiveLocation::Column(at) => Some((self.reg, at)),
            _ => None,
        }
    }
}

/// Where a live-in or live-out value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LiveLocation {
    Constant(u64),
    /// A word of the tile's record, plus a pattern.
    Word {
        word: usize,
        pattern: usize,
    },
    /// A column, whose address is at this offset in the frame.
    Column(i64),
}

/// A frame while it is planned.
#[derive(Clone, Default, Debug)]
pub(super) struct Frame {
    size: i64,
    constants: Vec<(i64, Vec<u8>)>,
    pub(super) sites: Vec<AccessSite>,
    /// By its number, the word where a site's accesses ended in the last tile, as a host address.
    pub(super) ends: BTreeMap<usize, i64>,
    /// By its number, the word that has all bits set where a site accesses a segment that the launch cannot write, and none elsewhere.
    pub(super) unwritten: BTreeMap<usize, i64>,
    /// Words for live values that are reserved in a tile's record.
    pub(super) record_values: usize,
}

impl Frame {
    pub(super) fn new() -> Frame {
        Frame { size: header::BYTES, ..Frame::default() }
    }
    pub(super) fn reserve(&mut self, bytes: usize, align: i64) -> i64 {
        let at = (self.size + align - 1) / align * align;
        self.size = at + bytes as i64;
        at
    }
    /// The word where a site's accesses end.
    pub(super) fn end_of(&mut self, site: usize) -> i64 {
        self.word_of(site, |frame| &mut frame.ends)
    }
    /// The word that says whether what a site accesses stays as it is.
    pub(super) fn unwritten_of(&mut self, site: usize) -> i64 {
        self.word_of(site, |frame| &mut frame.unwritten)
    }
    fn word_of(&mut self, site: usize, words: impl Fn(&mut Frame) -> &mut BTreeMap<usize, i64>) -> i64 {
        if let Some(&word) = words(self).get(&site) {
            return word;
        }
        let word = self.reserve(8, 8);
        words(self).insert(site, word);
        word
    }
    /// The offset of these bytes, aligned to their length.
    pub(super) fn constant(&mut self, bytes: Vec<u8>) -> i64 {
        if let Some((at, _)) = self.constants.iter().find(|(_, other)| *other == bytes) {
            return *at;
        }
        let at = self.reserve(bytes.len(), bytes.len() as i64);
        self.constants.push((at, bytes));
        at
    }
    /// Reserves a word of the tiles' records.
    pub(super) fn record_word(&mut self) -> usize {
        self.record_values += 1;
        record::VALUES + self.record_values - 1
    }
    /// The frame's bytes, its constants in place.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        for (at, constant) in &self.constants {
            bytes[*at as usize..][..constant.len()].copy_from_slice(constant);
        }
        bytes
    }
}
