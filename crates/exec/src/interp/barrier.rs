//! Synchronisation: barriers of a thread block, reconvergence at warp instructions.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::register::Lane;
use super::split::{BlockedOn, Split, StepOutcome};
use crate::kernel::DecodedKernel;
use roundonce_ir::{BarrierKind, Op, Operand};
use std::collections::BTreeMap;

impl Interpreter<'_> {
    /// No split can run but those that wait: every thread block whose live lanes have all arrived at one barrier passes
    /// it. Whether there was one.
    pub(super) fn release_barriers(&mut self) -> bool {
        let mut released = false;
        // Lanes that a warp instruction waited for may have exited meanwhile.
        let live = self.live.count();
        for split in &mut self.splits {
            if matches!(split.blocked_on, Some(BlockedOn::Warp(then)) if then != live) {
                split.blocked_on = None;
                released = true;
            }
        }
        if released {
            return true;
        }
        let waiting: Vec<Split> = std::mem::take(&mut self.splits);
        for block in 0..self.blocks {
            let lanes = self.block_mask(block);
            let mut barriers: BTreeMap<u32, (usize, Option<u32>)> = BTreeMap::new();
            for split in &waiting {
                if let Some(BlockedOn::Barrier { id, count }) = split.blocked_on {
                    let here = split.mask.and(lanes).count();
                    if here > 0 {
                        let entry = barriers.entry(id).or_insert((0, count));
                        entry.0 += here;
                    }
                }
            }
            for (id, (here, count)) in barriers {
                let arrived = self.arrivals.get(&(block, id)).copied().unwrap_or(0) as usize;
                let wanted = count.map_or_else(|| self.live.and(lanes).count(), |count| count as usize);
                if here + arrived < wanted {
                    continue;
                }
                released = true;
                self.arrivals.remove(&(block, id));
                let gathered = waiting.iter().filter(
                    |split| matches!(split.blocked_on, Some(BlockedOn::Barrier { id: other, .. }) if other == id),
                );
                let gathered: Vec<Split> = gathered
                    .map(|split| Split { mask: split.mask.and(lanes), blocked_on: None, ..split.clone() })
                    .filter(|split| !split.mask.is_empty())
                    .collect();
                self.pass_barrier(block, gathered);
            }
        }
        // The others remain blocked.
        let gone = self.splits.iter().fold(Mask::default(), |all, split| all.or(split.mask));
        for mut split in waiting {
            split.mask = split.mask.without(gone);
            if !split.mask.is_empty() {
                self.splits.push(split);
            }
        }
        released
    }

    /// Lanes of one thread block pass a barrier together.
    fn pass_barrier(&mut self, block: usize, gathered: Vec<Split>) {
        // The set was computed before the splits waited here: the result is live in lanes that have passed already.
        self.inactive_live = None;
        if let Some(races) = &mut self.races {
            races.barrier(block);
        }
        let (mut yes, mut all) = (0, 0);
        for split in &gathered {
            if let Some(BarrierKind::Count { p, .. } | BarrierKind::Reduce { p, .. }) = asks_of(self.code, split) {
                all += split.mask.count();
                yes += self.true_lanes(p).and(split.mask).count();
            }
        }
        for mut split in gathered {
            let kind = asks_of(self.code, &split);
            self.activate(split.mask);
            match kind {
                Some(BarrierKind::Count { d, .. }) => self.set_uniform::<u32>(d, yes as u32),
                Some(BarrierKind::Reduce { d, all: every, .. }) => {
                    self.set_uniform::<u8>(d, if every { yes == all } else { yes > 0 } as u8);
                }
                _ => {}
            }
            let code = self.code;
            self.after(&code.blocks[split.block].insts[split.at]);
            split.at += 1;
            self.splits.push(split);
        }
    }

    /// Whether lanes of one warp wait for each other at several instructions: hardware may join them there, this does not.
    fn waits_at_several_places(&self) -> bool {
        let waiting = || self.splits.iter().filter(|split| matches!(split.blocked_on, Some(BlockedOn::Warp(_))));
        let mut places: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        waiting().any(|split| {
            split.mask.lanes().any(|lane| {
                let here = (split.block, split.at);
                *places.entry(lane / 32).or_insert(here) != here
            })
        })
    }

    #[cold]
    pub(super) fn deadlock(&mut self) -> Box<Fault> {
        let mut places = Vec::new();
        let mut first = None;
        for split in &self.splits {
            let inst = self.code.blocks[split.block].insts.get(split.at);
            let loc = inst.map_or(0, |inst| inst.loc);
            let place = self.code.kernel.place_name(self.code.kernel.source_locs[loc as usize].line);
            let lanes = split.mask.count();
            let what = match split.blocked_on {
                Some(BlockedOn::Barrier { id, .. }) => format!("{lanes} threads wait at barrier {id}, {place}"),
                _ => {
                    let is_group = inst.is_some_and(
                        |inst| matches!(inst.op, Op::MultiplyMatrices { multiply, .. } if multiply.warps > 1),
                    );
                    let unit = if is_group { "warpgroup" } else { "warp" };
                    format!("{lanes} threads wait for lanes of their {unit}, {place}")
                }
            };
            places.push(what);
            if first.is_none() {
                first = split.mask.lanes().next().map(|lane| (lane, loc));
            }
        }
        let ended = self.geometry.lanes - self.live.count();
        if ended > 0 {
            places.push(format!("{ended} have ended"));
        }
        if self.waits_at_several_places() {
            places.push(
                "threads of a warp are joined at one instruction, not at two that name the same threads".to_owned(),
            );
        }
        let mut fault = Fault::new(FaultKind::Deadlock, format!("deadlock: {}", places.join("; ")));
        if let Some((lane, loc)) = first {
            self.loc = loc;
            fault.lane = Some(lane);
        }
        fault
    }

    /// The barrier that a split is at, if that is plain to see without a look at registers.
    pub(super) fn plain_barrier(&self, split: &Split) -> Option<BlockedOn> {
        let inst = self.code.blocks[split.block].insts.get(split.at).filter(|inst| inst.guard.is_none())?;
        match *inst.op {
            Op::Barrier { id: Operand::Imm(id), count: None, .. } => {
                Some(BlockedOn::Barrier { id: id as u32, count: None })
            }
            _ => None,
        }
    }
    /// Passes a barrier without blocking, if all lanes have reached it. Whether they have.
    pub(super) fn passes_barrier(&mut self, wait: BlockedOn, split: &mut Split) -> bool {
        let BlockedOn::Barrier { id, count: None } = wait else { return false };
        let code = self.code;
        let inst = &code.blocks[split.block].insts[split.at];
        let plain = matches!(inst.op, Op::Barrier { kind: BarrierKind::Wait, .. });
        let all = self.splits.is_empty() && split.mask == self.live;
        if !plain || !all || self.arrivals.keys().any(|&(_, other)| other == id) {
            return false;
        }
        for block in 0..self.blocks {
            if let Some(races) = &mut self.races {
                races.barrier(block);
            }
        }
        self.loc = inst.loc;
        self.after(inst);
        split.at += 1;
        true
    }

    /// The barrier instruction: blocks, or only counts arrivals.
    pub(super) fn barrier(
        &mut self,
        split: &mut Split,
        kind: BarrierKind,
        id: Operand,
        count: Option<Operand>,
    ) -> Outcome<StepOutcome> {
        let first = self.active.mask.lanes().next().unwrap_or(0);
        let value =
            |interp: &Interpreter<'_>, operand, lane| u32::file(&interp.files).lane(operand, lane, interp.geometry);
        let wanted = (value(self, id, first), count.map(|count| value(self, count, first)));
        if let Some(count) = wanted.1.filter(|count| count % 32 != 0) {
            let message = format!("a barrier of {count} threads, which is no multiple of 32, the size of a warp");
            return Err(Fault::at(FaultKind::Trap, first, message));
        }
        if u32::file(&self.files).uniform(id).is_none() {
            // Lanes that name another barrier execute this instruction as a split of their own.
            let same = self.active.mask.lanes().filter(|&lane| value(self, id, lane) == wanted.0);
            let same = same.fold(Mask::default(), |all, lane| all.or(Mask::range(lane, lane + 1)));
            let others = self.active.mask.without(same);
            if !others.is_empty() {
                self.splits.push(Split { mask: others, ..split.clone() });
                self.update_inactive_live();
                split.mask = split.mask.without(others);
                self.activate(same);
            }
        }
        if kind == BarrierKind::Arrive {
            for block in 0..self.blocks {
                let here = self.active.mask.and(self.block_mask(block)).count() as u32;
                if here > 0 {
                    *self.arrivals.entry((block, wanted.0)).or_default() += here;
                }
            }
            self.activate(split.mask);
            return Ok(StepOutcome::Next);
        }
        Ok(StepOutcome::Blocked(BlockedOn::Barrier { id: wanted.0, count: wanted.1 }))
    }

    /// Merges the splits that are blocked at this instruction waiting for lanes of their warp.
    pub(super) fn gather(&mut self, split: &mut Split) {
        let mut joined = false;
        self.splits.retain(|other| {
            let same = matches!(other.blocked_on, Some(BlockedOn::Warp(_)))
                && (other.block, other.at) == (split.block, split.at);
            if same {
                split.mask = split.mask.or(other.mask);
                joined = true;
            }
            !same
        });
        if joined {
            self.activate(split.mask);
        }
    }

    /// Splits off the lanes that must wait here. Whether any lanes stay.
    pub(super) fn leave_waiting(&mut self, split: &mut Split, waiting: Mask) -> bool {
        if waiting.is_empty() {
            return true;
        }
        let blocked_on = Some(BlockedOn::Warp(self.live.count()));
        self.splits.push(Split { mask: waiting, blocked_on, ..split.clone() });
        self.update_inactive_live();
        split.mask = split.mask.without(waiting);
        let stay = self.active.mask.without(waiting);
        self.activate(stay);
        !stay.is_empty()
    }
}

fn asks_of(code: &DecodedKernel<'_>, split: &Split) -> Option<BarrierKind> {
    match code.blocks[split.block].insts[split.at].op {
        Op::Barrier { kind, .. } => Some(*kind),
        _ => None,
    }
}
