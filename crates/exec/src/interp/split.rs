//! Divergence: the lanes of a batch in splits, each at one instruction.

use super::mask::Mask;
use crate::kernel::Wait;

/// Lanes that are at the same instruction.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) block: usize,
    /// The instruction of the block.
    pub(super) at: usize,
    pub(super) mask: Mask,
    pub(super) blocked_on: Option<BlockedOn>,
    /// The scheduler's turn when it last ran.
    pub(super) last_turn: u64,
    /// Native code bailed out for these lanes at this instruction: the interpreter runs it.
    pub(super) bailed_out_at: Option<(usize, usize)>,
    /// It has come round a loop that waits: it runs when nothing else can.
    pub(super) waiting: Option<Wait>,
}

/// What a split waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockedOn {
    /// A barrier of its thread block, and how many threads it expects (all where absent).
    Barrier { id: u32, count: Option<u32> },
    /// Other lanes of its warp; how many lanes were live when it stopped.
    Warp(usize),
}

/// The lanes an instruction acts on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveLanes {
    pub(super) mask: Mask,
    /// All live lanes: the values of inactive lanes are dead.
    pub(super) full: bool,
    /// Fewer than the split's lanes: a guard masks the others off.
    pub(super) predicated: bool,
    /// All are in `low..high`.
    pub(super) low: usize,
    pub(super) high: usize,
    pub(super) count: usize,
}

impl ActiveLanes {
    pub(super) fn none() -> ActiveLanes {
        ActiveLanes { mask: Mask::default(), full: true, predicated: false, low: 0, high: 0, count: 0 }
    }
}

/// What an instruction did to the control flow of its split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepOutcome {
    /// On to the next instruction.
    Next,
    /// On past the next instruction, a store that was executed together with this one.
    FusedStore,
    /// The active lanes exited.
    Exited,
    /// The split waits before this instruction.
    Blocked(BlockedOn),
}
