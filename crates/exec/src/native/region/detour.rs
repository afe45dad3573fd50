//! Detours: short sides of a branch, which all lanes pass together under masks.

use super::{
    Cost, Exit, Next, PendingTarget, ProgramPoint, RegionBuilder, Target, cost, is_live, is_store, is_supported,
    live_at_start,
};
use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_ir::{Role, Terminator};

/// Instructions of a detour's side: it is compiled twice. Where tiles do take both sides it may be longer.
const MAX_DETOUR: usize = 16;
const MAX_MASKED: usize = 48;
/// Blocks of a detour's side, and the one behind it.
const MAX_WAY: usize = 4;

/// A few instructions that some lanes pass on their way to where all meet: while all lanes are together they are run under a
/// mask, and the lanes stay together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::native) struct Detour {
    /// The sides of the branch that have instructions, in the order in which they run.
    pub(in crate::native) sides: [Option<Side>; 2],
    /// The block where the lanes meet, and where that is in the region.
    pub(in crate::native) meet: usize,
    pub(in crate::native) to: Target,
    /// Where the tile commits, if there are stores and the region goes on.
    pub(in crate::native) commit: Option<usize>,
    /// What a block that only exits, at which it ends, adds to all lanes' counts: it is counted before the stores.
    pub(in crate::native) end: Cost,
}

/// A side of a detour: blocks that one after the other lead to where the lanes meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::native) struct Side {
    first: usize,
    /// The predicate's value of the lanes that pass it.
    pub(in crate::native) expected: bool,
    pub(in crate::native) cost: Cost,
}

impl Detour {
    /// The blocks of a side.
    pub(in crate::native) fn blocks<'a>(
        &'a self,
        code: &'a DecodedKernel<'_>,
        side: Side,
    ) -> impl Iterator<Item = usize> + 'a {
        way(code, side.first).take_while(|&block| block != self.meet)
    }
}

/// A block, and those that one after the other follow it.
fn way<'a>(code: &'a DecodedKernel<'_>, block: usize) -> impl Iterator<Item = usize> + 'a {
    let next = |&block: &usize| match code.blocks[block].terminator {
        Terminator::Jump(to) => Some(*to),
        _ => None,
    };
    std::iter::successors(Some(block), next).take(MAX_WAY)
}

/// A detour before the nodes are sorted.
#[derive(Clone, Copy)]
pub(super) struct PendingDetour {
    sides: [Option<Side>; 2],
    meet: usize,
    to: PendingTarget,
    commit: Option<usize>,
}

impl PendingDetour {
    /// With its end in the region, if all its blocks are whole.
    pub(super) fn with_target(
        self,
        code: &DecodedKernel<'_>,
        target: impl Fn(PendingTarget) -> Target,
        is_whole: impl Fn(usize) -> bool,
    ) -> Option<Detour> {
        let PendingDetour { sides, meet, to, commit } = self;
        let detour = Detour { sides, meet, to: target(to), commit, end: Cost::default() };
        let mut blocks = sides.into_iter().flatten().flat_map(|side| detour.blocks(code, side));
        blocks.all(is_whole).then_some(detour)
    }
}

impl RegionBuilder<'_, '_> {
    /// The detour that the sides of a branch are.
    pub(super) fn detour(&mut self, from: usize, then: usize, otherwise: usize) -> Option<PendingDetour> {
        let code = self.code;
        let meet = way(code, then).find(|&block| way(code, otherwise).any(|other| other == block))?;
        let blocks = |first: usize| way(code, first).take_while(|&block| block != meet).collect::<Vec<usize>>();
        let mut sides: Vec<(usize, bool, Vec<usize>)> =
            [(then, true), (otherwise, false)].map(|(first, expected)| (first, expected, blocks(first))).into();
        sides.retain(|(.., blocks)| !blocks.is_empty());
        // In the order in which diverging lanes would run them.
        sides.sort_by_key(|&(first, ..)| code.cfg.priority[first]);
        let live = live_at_start(code, meet);
        let (mut stores, mut is_alone, mut longest) = (false, true, 0);
        let leaves = |from: usize| self.leaves(from, meet);
        for (index, (.., blocks)) in sides.iter().enumerate() {
            let (mut stored, mut length, mut before) = (false, 0, from);
            for &block in blocks {
                if self.leaves(before, block) || !self.may_run_masked(block, stored) {
                    return None;
                }
                for inst in &code.blocks[block].insts {
                    stored |= is_store(inst.op);
                    inst.op.registers(|role, reg| is_alone &= role == Role::Use || !is_live(&live, reg));
                }
                length += code.blocks[block].insts.len();
                before = block;
            }
            stores |= stored;
            longest = longest.max(length);
            // A side exit behind a store would run it again.
            let stores_early = stored && index + 1 < sides.len();
            if stores_early || leaves(before) != leaves(from) {
                return None;
            }
        }
        let last = *sides.first()?.2.last()?;
        let goes_on = stores && !self.ends_or_leaves(last, meet);
        // What is committed was computed by all lanes.
        if longest > MAX_MASKED || goes_on && !is_alone {
            return None;
        }
        // What all lanes have as one number is one for each lane where only some lanes set it.
        if !self.mode.masked && (!is_alone || !stores || sides.len() > 1 || longest > MAX_DETOUR) {
            self.may_mask = true;
            return None;
        }
        let commit = goes_on.then(|| self.exit(Exit::At(ProgramPoint { block: meet, at: 0 })));
        let to = self.block_target((last, meet));
        let mut both = [None; 2];
        for (side, (first, expected, blocks)) in both.iter_mut().zip(sides) {
            let mut all = Cost::default();
            for block in blocks {
                let jump = Next::Jump(Target::Node(0));
                all.add(cost(code, ProgramPoint { block, at: 0 }, code.blocks[block].insts.len(), jump));
            }
            *side = Some(Side { first, expected, cost: all });
        }
        Some(PendingDetour { sides: both, meet, to, commit })
    }
    /// Whether a block has code under a mask: one where stores come last, or nothing else if there were some before.
    fn may_run_masked(&self, block: usize, stored: bool) -> bool {
        let side = &self.code.blocks[block].insts;
        let first = side.iter().position(|inst| is_store(inst.op)).unwrap_or(side.len());
        let point = |at: usize| ProgramPoint { block, at };
        let is_known = |(at, inst): (usize, &DecodedInst<'_>)| {
            let fits = inst.guard.is_none() && is_supported(inst.op, false) && is_store(inst.op) == (at >= first);
            fits && !self.boundaries.contains(&point(at))
        };
        let is_outside = self.boundaries.contains(&point(side.len()))
            || self.mode.isolate_stores && first < side.len()
            || stored && first > 0;
        !is_outside && side.iter().enumerate().all(is_known)
    }
}
