//! The memory that native code shares with its caller: a frame for each region, and a line for each tile.

use super::shape::Shape;
use roundonce_ir::{Operand, Reg, Space};

/// Places of the frame that the code and its caller know.
pub(super) mod head {
    /// The caller's floating-point environment, while the code runs.
    pub(in crate::native) const SAVED: i64 = 0;
    /// The code's.
    pub(in crate::native) const ENVIRONMENT: i64 = 4;
    /// One past the last tile.
    pub(in crate::native) const END: i64 = 8;
    /// The instructions that a tile may issue.
    pub(in crate::native) const BUDGET: i64 = 16;
    /// Instructions completed by a lane of the tile at work.
    pub(in crate::native) const STEPS: i64 = 24;
    /// Completed besides, by those lanes that a guard let through.
    pub(in crate::native) const GUARDED: i64 = 32;
    /// The tile where the code stopped.
    pub(in crate::native) const TILE: i64 = 40;
    /// The address that was in no segment known.
    pub(in crate::native) const ADDRESS: i64 = 48;
    pub(in crate::native) const BYTES: i64 = 64;
}

/// Words of a tile's line.
pub(super) mod line {
    /// The number of its first lane in the group.
    pub(in crate::native) const LANE: usize = 0;
    /// The first lane's thread, three axes.
    pub(in crate::native) const TID: usize = 1;
    /// Its block.
    pub(in crate::native) const CTAID: usize = 4;
    /// Where its block's shared memory is.
    pub(in crate::native) const SHARED: usize = 7;
    /// By which exit it left.
    pub(in crate::native) const EXIT: usize = 8;
    /// What was left of its budget.
    pub(in crate::native) const LEFT: usize = 9;
    pub(in crate::native) const STEPS: usize = 10;
    pub(in crate::native) const GUARDED: usize = 11;
    /// Numbers handed over: inputs, then those of each exit.
    pub(in crate::native) const NUMBERS: usize = 12;
}

/// An instruction that accesses memory. For global memory, in the frame stand its segment's address, how many places of its alignment an
/// access may start at, and the distance from addresses of the program to those of the machine.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Site {
    /// Where in the frame.
    pub(super) at: i64,
    pub(super) space: Space,
    pub(super) store: bool,
    /// An element's bytes.
    pub(super) bytes: u32,
    /// From the first byte accessed to one past the last, over all lanes.
    pub(super) span: u64,
    /// What it is told apart by from other sites: its register and the bytes of a lane.
    pub(super) address: Operand,
    pub(super) shape: Shape,
    pub(super) offset: i64,
    pub(super) length: u64,
}

/// A register that the code reads from the interpreter, or gives it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Handed {
    pub(super) reg: Reg,
    pub(super) how: How,
}

impl Handed {
    /// The column that it is handed over in, if it is.
    pub(super) fn column(&self) -> Option<(Reg, i64)> {
        match self.how {
            How::Column(at) => Some((self.reg, at)),
            _ => None,
        }
    }
}

/// How a register is handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    Constant(u64),
    /// A number of the tile's line, and a pattern.
    Number {
        word: usize,
        pattern: usize,
    },
    /// A column, whose address stands in the frame.
    Column(i64),
}

/// A frame while it is planned.
#[derive(Clone, Default, Debug)]
pub(super) struct Frame {
    size: i64,
    constants: Vec<(i64, Vec<u8>)>,
    pub(super) sites: Vec<Site>,
    /// Numbers of a tile's line that are taken.
    pub(super) numbers: usize,
}

impl Frame {
    pub(super) fn new() -> Frame {
        Frame { size: head::BYTES, ..Frame::default() }
    }
    pub(super) fn reserve(&mut self, bytes: usize, align: i64) -> i64 {
        let at = (self.size + align - 1) / align * align;
        self.size = at + bytes as i64;
        at
    }
    /// Where these bytes stand, aligned to their number.
    pub(super) fn constant(&mut self, bytes: Vec<u8>) -> i64 {
        if let Some((at, _)) = self.constants.iter().find(|(_, other)| *other == bytes) {
            return *at;
        }
        let at = self.reserve(bytes.len(), bytes.len() as i64);
        self.constants.push((at, bytes));
        at
    }
    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        line::NUMBERS + self.numbers - 1
    }
    /// The frame's words, its constants in place.
    pub(super) fn words(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        for (at, constant) in &self.constants {
            bytes[*at as usize..][..constant.len()].copy_from_slice(constant);
        }
        bytes
    }
}
