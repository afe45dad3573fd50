//! Lanes that wait for others: barriers of a block, meetings of a warp.

use super::code::{Code, Step};
use super::group::{Fragment, Machine, Wait, Went};
use super::lanes::Lane;
use super::mask::Mask;
use super::{Fault, Outcome};
use crate::launch::Trouble;
use roundonce_ir::{BarrierKind, Op, Operand};
use std::collections::BTreeMap;

impl Machine<'_> {
    /// Nothing can run: every block all of whose lanes wait at one barrier goes on.
    pub(super) fn release(&mut self) -> Outcome {
        let mut released = false;
        // Lanes of a warp that were waited for may have ended meanwhile.
        let live = self.live.count();
        for fragment in &mut self.fragments {
            if matches!(fragment.waits, Some(Wait::Warp(then)) if then != live) {
                fragment.waits = None;
                released = true;
            }
        }
        if released {
            return Ok(());
        }
        let waiting: Vec<Fragment> = std::mem::take(&mut self.fragments);
        for block in 0..self.blocks {
            let lanes = self.block_mask(block);
            let mut barriers: BTreeMap<u32, (usize, Option<u32>)> = BTreeMap::new();
            for fragment in &waiting {
                if let Some(Wait::Barrier { id, count }) = fragment.waits {
                    let here = fragment.mask.and(lanes).count();
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
                let gathered = waiting
                    .iter()
                    .filter(|fragment| matches!(fragment.waits, Some(Wait::Barrier { id: other, .. }) if other == id));
                let gathered: Vec<Fragment> = gathered
                    .map(|fragment| Fragment { mask: fragment.mask.and(lanes), waits: None, ..fragment.clone() })
                    .filter(|fragment| !fragment.mask.is_empty())
                    .collect();
                self.pass(block, gathered);
            }
        }
        // What was not released waits on.
        let gone = self.fragments.iter().fold(Mask::default(), |all, fragment| all.or(fragment.mask));
        for mut fragment in waiting {
            fragment.mask = fragment.mask.without(gone);
            if !fragment.mask.is_empty() {
                self.fragments.push(fragment);
            }
        }
        if released { Ok(()) } else { Err(self.deadlock()) }
    }

    /// Lanes of one block pass a barrier together.
    fn pass(&mut self, block: usize, gathered: Vec<Fragment>) {
        if let Some(races) = &mut self.races {
            races.barrier(block);
        }
        let (mut yes, mut all) = (0, 0);
        for fragment in &gathered {
            if let Some(BarrierKind::Count { p, .. } | BarrierKind::Reduce { p, .. }) = asks_of(self.code, fragment) {
                all += fragment.mask.count();
                yes += self.true_lanes(p).and(fragment.mask).count();
            }
        }
        for mut fragment in gathered {
            let kind = asks_of(self.code, &fragment);
            self.activate(fragment.mask);
            match kind {
                Some(BarrierKind::Count { d, .. }) => self.set_uniform::<u32>(d, yes as u32),
                Some(BarrierKind::Reduce { d, all: every, .. }) => {
                    self.set_uniform::<u8>(d, if every { yes == all } else { yes > 0 } as u8);
                }
                _ => {}
            }
            let code = self.code;
            self.after(&code.blocks[fragment.block].steps[fragment.at]);
            fragment.at += 1;
            self.fragments.push(fragment);
        }
    }

    #[cold]
    fn deadlock(&mut self) -> Box<Fault> {
        let mut places = Vec::new();
        let mut first = None;
        for fragment in &self.fragments {
            let step = self.code.blocks[fragment.block].steps.get(fragment.at);
            let place = step.map_or(0, |step| step.place);
            let line = self.code.kernel.source_locs[place as usize].line;
            let lanes = fragment.mask.count();
            let what = match fragment.waits {
                Some(Wait::Barrier { id, .. }) => format!("{lanes} threads wait at barrier {id}, line {line}"),
                _ => format!("{lanes} threads wait for lanes of their warp, line {line}"),
            };
            places.push(what);
            if first.is_none() {
                first = fragment.mask.lanes().next().map(|lane| (lane, place));
            }
        }
        let ended = self.geometry.lanes - self.live.count();
        if ended > 0 {
            places.push(format!("{ended} have ended"));
        }
        let mut fault = Fault::new(Trouble::Deadlock, format!("deadlock: {}", places.join("; ")));
        if let Some((lane, place)) = first {
            self.place = place;
            fault.lane = Some(lane);
        }
        fault
    }

    /// Whether a barrier that all lanes have reached lets them go on at once.
    pub(super) fn passes_alone(&mut self, wait: Wait, step: &Step<'_>) -> bool {
        let Wait::Barrier { id, count } = wait else { return false };
        let plain = matches!(step.op, Op::Barrier { kind: BarrierKind::Wait, .. });
        if !plain || count.is_some() || self.arrivals.keys().any(|&(_, other)| other == id) {
            return false;
        }
        for block in 0..self.blocks {
            if let Some(races) = &mut self.races {
                races.barrier(block);
            }
        }
        true
    }

    /// The barrier instruction: waits, or is only counted.
    pub(super) fn barrier(
        &mut self,
        fragment: &mut Fragment,
        kind: BarrierKind,
        id: Operand,
        count: Option<Operand>,
    ) -> Outcome<Went> {
        let first = self.active.mask.lanes().next().unwrap_or(0);
        let value =
            |machine: &Machine<'_>, operand, lane| u32::file(&machine.files).lane(operand, lane, machine.geometry);
        let wanted = (value(self, id, first), count.map(|count| value(self, count, first)));
        if u32::file(&self.files).uniform(id).is_none() {
            // Lanes at another barrier come to this instruction on their own.
            let same = self.active.mask.lanes().filter(|&lane| value(self, id, lane) == wanted.0);
            let same = same.fold(Mask::default(), |all, lane| all.or(Mask::range(lane, lane + 1)));
            let others = self.active.mask.without(same);
            if !others.is_empty() {
                self.fragments.push(Fragment { mask: others, ..fragment.clone() });
                self.want();
                fragment.mask = fragment.mask.without(others);
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
            self.activate(fragment.mask);
            return Ok(Went::On);
        }
        Ok(Went::Waits(Wait::Barrier { id: wanted.0, count: wanted.1 }))
    }

    /// Takes in the lanes that wait at this very instruction for others of their warp.
    pub(super) fn gather(&mut self, fragment: &mut Fragment) {
        let mut joined = false;
        self.fragments.retain(|other| {
            let same =
                matches!(other.waits, Some(Wait::Warp(_))) && (other.block, other.at) == (fragment.block, fragment.at);
            if same {
                fragment.mask = fragment.mask.or(other.mask);
                joined = true;
            }
            !same
        });
        if joined {
            self.activate(fragment.mask);
        }
    }

    /// Lanes that must wait here leave the fragment; whether any stay.
    pub(super) fn leave_waiting(&mut self, fragment: &mut Fragment, waiting: Mask) -> bool {
        if waiting.is_empty() {
            return true;
        }
        let waits = Some(Wait::Warp(self.live.count()));
        self.fragments.push(Fragment { mask: waiting, waits, ..fragment.clone() });
        self.want();
        fragment.mask = fragment.mask.without(waiting);
        let stay = self.active.mask.without(waiting);
        self.activate(stay);
        !stay.is_empty()
    }
}

/// Whether lanes may have to wait at an instruction.
pub(super) const fn may_wait(op: &Op) -> bool {
    matches!(
        op,
        Op::Barrier { .. }
            | Op::WarpBarrier { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Elect { .. }
            | Op::Reduce { .. }
    )
}

fn asks_of(code: &Code<'_>, fragment: &Fragment) -> Option<BarrierKind> {
    match code.blocks[fragment.block].steps[fragment.at].op {
        Op::Barrier { kind, .. } => Some(*kind),
        _ => None,
    }
}
