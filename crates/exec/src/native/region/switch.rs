//! Switches by a number that all lanes have.

use super::{Next, PendingNext, PendingTarget, Region, RegionBuilder, Target};
use roundonce_ir::{Operand, Reg};

/// Those with more targets are the interpreter's: the number is compared with one after the other.
const MAX_TARGETS: usize = 64;

/// Where a switch leads.
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
