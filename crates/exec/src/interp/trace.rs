//! The trace of one lane: its lines, and the instruction in progress.

use roundonce_arith::Operation;
use roundonce_ir::{Op, Reg};

/// One instruction of the traced thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceLine {
    /// An index into the kernel's source locations.
    pub loc: u32,
    /// Its line.
    pub line: u32,
    /// As written.
    pub text: String,
    /// The operands' bits, in order, and how many bits each has.
    pub operands: Vec<(u64, u32)>,
    /// The results' bits, in order.
    pub results: Vec<(u64, u32)>,
    /// The multiply-adds that it consists of, in order.
    pub computed: Vec<Computed>,
}

impl TraceLine {
    /// Whether it is an instruction of the text: what a launch makes around those of a listing is none.
    pub fn is_written(&self) -> bool {
        !self.text.is_empty()
    }
}

/// One multiply-add of the traced thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Computed {
    /// What was computed.
    pub operation: Operation,
    /// The operands' bits, as many as the operation takes.
    pub operands: Vec<u64>,
    /// The result's bits.
    pub result: u64,
}

/// The traced lane's source instruction, as far as its operations have run.
#[derive(Default, Debug)]
pub(super) struct Tracer<'a> {
    /// The lane, if it is in this batch.
    pub(super) lane: Option<usize>,
    /// The source location of the instruction.
    pub(super) loc: u32,
    /// The last operation whose operands were recorded: a blocked one executes again.
    pub(super) recorded: Option<&'a Op>,
    /// Registers read that no operation of the instruction wrote.
    pub(super) operands: Vec<Snapshot>,
    /// Registers written, and whether an operation has read each since: then it is a temporary, not a result.
    pub(super) written: Vec<(Snapshot, bool)>,
    /// The multiply-adds, the last one without its result until it has run.
    pub(super) computed: Vec<Computed>,
}

/// A register's value at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot {
    pub(super) reg: Reg,
    pub(super) bits: u64,
    pub(super) width: u32,
}

impl Tracer<'_> {
    pub(super) fn of(lane: Option<usize>) -> Self {
        Tracer { lane, ..Tracer::default() }
    }
    /// Whether the traced lane is in this batch.
    pub(super) const fn is_active(&self) -> bool {
        self.lane.is_some()
    }
    pub(super) fn clear(&mut self) {
        *self = Tracer::of(self.lane);
    }
}
