//! What follows a node of a region.

use super::{Detour, PendingNext, PendingTarget, Region, RegionBuilder};
use roundonce_ir::{Operand, Reg};

/// Switches with more targets are the interpreter's: the number is compared with one after the other.
const MAX_TARGETS: usize = 64;

/// What follows a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::native) enum Next {
    /// An exit in the middle of a block.
    Exit(usize),
    /// The block's terminator jumps.
    Jump(Target),
    /// The block's terminator branches, or (`mid_block`) a predicated `exit` before it does.
    Branch { pred: Reg, then: Target, otherwise: Target, mid_block: bool, detour: Option<Detour> },
    /// The block's terminator goes by a number that all lanes have: the place in [`Region::switches`].
    Switch(usize),
    /// The node's own stores, which are a separate node.
    Stores(usize),
    /// The next node of the block, with the stores.
    Fall(usize),
    /// What the node stores stands: the tile is left as by the exit, and goes on at the node. Lanes that have parted do not
    /// store here: they take the exit `before`.
    Commit { exit: usize, node: usize, before: Option<usize> },
}

/// The target of a jump: a node, or an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::native) enum Target {
    Node(usize),
    Exit(usize),
}

impl Next {
    /// All but a switch's.
    fn fixed_targets(self) -> [Option<Target>; 3] {
        match self {
            Next::Switch(_) => [None; 3],
            Next::Exit(exit) => [Some(Target::Exit(exit)), None, None],
            Next::Jump(target) => [Some(target), None, None],
            Next::Branch { then, otherwise, detour, .. } => {
                let commit = detour.and_then(|detour| detour.commit);
                [Some(then), Some(otherwise), commit.map(Target::Exit)]
            }
            Next::Stores(node) | Next::Fall(node) => [Some(Target::Node(node)), None, None],
            Next::Commit { exit, node, before } => {
                [Some(Target::Node(node)), Some(Target::Exit(exit)), before.map(Target::Exit)]
            }
        }
    }
}

/// Where a switch by a number that all lanes have leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::native) struct Switch<T = Target> {
    pub(in crate::native) index: Operand,
    /// Of each number from 0 on, then of all others.
    pub(in crate::native) targets: Vec<T>,
}

impl Switch<PendingTarget> {
    pub(super) fn with_targets(&self, target: impl Fn(PendingTarget) -> Target) -> Switch {
        Switch { index: self.index, targets: self.targets.iter().map(|&pending| target(pending)).collect() }
    }
}

impl RegionBuilder<'_, '_> {
    /// A switch at a block's end, if it may be part of the region.
    pub(super) fn switch(
        &mut self,
        from: usize,
        index: Operand,
        (targets, otherwise): (&[usize], usize),
    ) -> Option<PendingNext> {
        if targets.len() > MAX_TARGETS || self.mode.divergent {
            return None;
        }
        let all = targets.iter().copied().chain([otherwise]);
        let targets = all.map(|block| self.block_target((from, block))).collect();
        self.switches.push(Switch { index, targets });
        Some(PendingNext::Switch(self.switches.len() - 1))
    }
}

impl Region {
    /// Where a node's lanes go on.
    pub(in crate::native) fn targets(&self, next: Next) -> impl Iterator<Item = Target> + '_ {
        let of_switch = match next {
            Next::Switch(switch) => &self.switches[switch].targets[..],
            _ => &[],
        };
        next.fixed_targets().into_iter().flatten().chain(of_switch.iter().copied())
    }
    /// The register that decides where they go on.
    pub(in crate::native) fn decider(&self, next: Next) -> Option<Reg> {
        match next {
            Next::Branch { pred, .. } => Some(pred),
            Next::Switch(switch) => match self.switches[switch].index {
                Operand::Reg(index) => Some(index),
                Operand::Imm(_) => None,
            },
            _ => None,
        }
    }
}
