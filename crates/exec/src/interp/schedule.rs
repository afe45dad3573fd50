//! The run of one batch of thread blocks: which split runs next, branches, divergence and reconvergence.
//!
//! All lanes start as one split. A divergent branch divides a split in two. The split at the block of the lowest priority
//! number runs first, so that others reach it where their paths join, and are merged with it there. A barrier blocks a
//! split until nothing else can run; then every thread block whose lanes have all arrived goes on.
//!
//! A split that has come round a loop that waits (`kernel/waits.rs`) lets all others run first. Where every split
//! waits and a turn of each has changed nothing, the batch waits for another one: the worker sets it aside.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::parked::Progress;
use super::races::RaceDetector;
use super::register::{Geometry, Lane};
use super::split::{Split, StepOutcome};
use super::trace::Tracer;
use crate::kernel::{DecodedInst, may_block};
use roundonce_ir::{Operand, Terminator};
use std::collections::BTreeMap;

/// Every so many turns the split that has waited longest runs, so that a lane that spins does not starve the others.
const FAIRNESS_INTERVAL: u64 = 1024;
/// The most patience: a power of two.
const MOST_PATIENCE: u32 = 16;

impl<'a> Interpreter<'a> {
    /// Runs blocks `first..first + blocks` of the grid, of their lanes those in `lanes_left`: the others have exited.
    pub(crate) fn run(&mut self, batch: u64, first: u64, blocks: usize, lanes_left: Mask) -> Outcome<Progress> {
        if self.native.phases.is_some() && lanes_left == Mask::first(blocks * self.threads) {
            return self.run_phases(batch, first, blocks);
        }
        self.begin(batch, first, blocks, lanes_left);
        let progress = self.go_on(0)?;
        self.note_batch();
        Ok(progress)
    }
    /// Makes everything ready for the first instruction of a batch.
    pub(super) fn begin(&mut self, batch: u64, first: u64, blocks: usize, lanes_left: Mask) {
        let row = self.config.block[0] as usize;
        let lanes = blocks * self.threads;
        self.geometry = Geometry { lanes, row, rows: lanes / row };
        self.native.begin_batch(self.blocks as u64, self.config.block_range().end - first);
        (self.batch, self.first_block, self.blocks) = (batch, first, blocks);
        // Native code does not write the registers of lanes that it takes to their end.
        if std::mem::take(&mut self.registers_dirty) || self.files.is_empty() {
            self.files.reset(self.code.kernel);
        }
        self.clear_shared(blocks);
        self.native.recording.start();
        self.local.clear();
        self.local.resize(self.local_words, 0);
        self.arrivals.clear();
        self.issued = 0;
        self.races = self.config.check_races.then(|| RaceDetector::new(lanes, blocks, self.shared_words * 4));
        self.live = lanes_left;
        let first_thread = first * self.threads as u64;
        let trace = self.config.trace_lane.and_then(|lane| lane.checked_sub(first_thread));
        self.tracer = Tracer::of(trace.map(|lane| lane as usize).filter(|&lane| lane < lanes));
        if let Some(shadow) = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut()) {
            shadow.start_batch(self.code.kernel.registers.len());
        }

        self.folded.clear();
        self.splits.clear();
        self.splits.push(Split {
            block: 0,
            at: 0,
            mask: self.live,
            blocked_on: None,
            last_turn: 0,
            bailed_out_at: None,
            waiting: None,
        });
    }
    /// Shared memory of so many blocks.
    pub(super) fn clear_shared(&mut self, blocks: usize) {
        self.shared.clear();
        self.shared.resize(self.shared_words * blocks, 0);
        // Native code that extends the last element reads 8 bytes for it.
        self.shared.reserve(1);
    }

    /// Runs the batch until all its lanes have exited or all wait. A wait that a number of attempts ends has 2^`patience`
    /// of them.
    pub(crate) fn go_on(&mut self, patience: u32) -> Outcome<Progress> {
        (self.idle_turns, self.has_moved) = (0, false);
        while let Some(split) = self.schedule(patience)? {
            self.run_split(split)?;
        }
        if self.splits.is_empty() {
            return Ok(Progress::Ended);
        }
        let mut waits = self.splits.iter().filter(|split| split.blocked_on.is_none()).filter_map(|split| split.waiting);
        let is_endless = waits.all(|wait| wait.is_endless);
        Ok(Progress::Waits { is_endless, has_moved: self.has_moved })
    }

    /// The batch does something else than to wait.
    fn works(&mut self) {
        (self.idle_turns, self.has_moved) = (0, true);
    }

    /// The next split to run, merged with all others at the same instruction. None when all lanes have exited or wait.
    fn schedule(&mut self, patience: u32) -> Outcome<Option<Split>> {
        loop {
            if self.splits.is_empty() {
                return Ok(None);
            }
            self.turns += 1;
            let priority = &self.code.cfg.priority;
            let ready = || self.splits.iter().enumerate().filter(|(_, split)| split.blocked_on.is_none());
            let oldest = || ready().min_by_key(|(_, split)| split.last_turn);
            let working = || ready().filter(|(_, split)| split.waiting.is_none());
            let chosen = if self.turns.is_multiple_of(FAIRNESS_INTERVAL) {
                oldest()
            } else {
                working().min_by_key(|(_, split)| (priority[split.block], split.at))
            };
            let index = match chosen {
                Some((index, _)) => index,
                None => {
                    let oldest = oldest().map(|(index, _)| index);
                    let waiting = ready().filter_map(|(_, split)| split.waiting);
                    let iteration: usize = waiting.map(|wait| self.code.waits.blocks(wait)).sum();
                    let is_endless = ready().all(|(_, split)| split.waiting.is_none_or(|wait| wait.is_endless));
                    if self.idle_turns == 0 && self.release_barriers() {
                        continue;
                    }
                    let Some(oldest) = oldest else { return Err(self.deadlock()) };
                    if std::mem::take(&mut self.atomic_changed) {
                        self.works();
                    }
                    let patience = if is_endless { 0 } else { patience.min(MOST_PATIENCE) };
                    if self.idle_turns >= iteration << patience {
                        return Ok(None);
                    }
                    oldest
                }
            };
            let mut split = self.splits.swap_remove(index);
            if split.waiting.is_some() {
                self.idle_turns += 1;
            } else {
                self.works();
            }
            self.splits.retain(|other| {
                let same = other.blocked_on.is_none() && (other.block, other.at) == (split.block, split.at);
                if same {
                    split.mask = split.mask.or(other.mask);
                }
                !same
            });
            split.last_turn = self.turns;
            self.update_inactive_live();
            return Ok(Some(split));
        }
    }

    /// Runs a split until it exits, blocks, or others may have to run first.
    fn run_split(&mut self, mut split: Split) -> Outcome {
        let code = self.code;
        self.activate(split.mask);
        'entries: loop {
            // Before registers are settled: a barrier does not look at them.
            if self.native.are_enabled()
                && let Some(barrier) = self.plain_barrier(&split)
                && self.passes_barrier(barrier, &mut split)
            {
                self.issued += 1;
                if self.value_bytes() > self.config.register_limit {
                    return Err(self.out_of_registers());
                }
                self.native.recording.passed_barrier(code.blocks[split.block].insts[split.at - 1].completes);
                continue;
            }
            if self.may_enter_native(&split) && self.enter_native(&mut split) {
                if split.mask.is_empty() {
                    self.native.held.clear();
                    return Ok(());
                }
                continue;
            }
            self.native.recording.stop();
            self.settle();
            self.registers_dirty = true;
            let block = &code.blocks[split.block];
            let joins_at = self.joins_at(&split);
            while let Some(inst) = block.insts.get(split.at).filter(|_| split.at != joins_at) {
                self.loc = inst.loc;
                self.issued += 1;
                if self.value_bytes() > self.config.register_limit {
                    return Err(self.out_of_registers());
                }
                let others = self.splits.len();
                match self.step(inst, &mut split)? {
                    StepOutcome::Next => {
                        split.at += 1;
                        // Those that a guard has left out go on from here too.
                        if self.splits.len() > others {
                            self.splits.push(split);
                            return Ok(());
                        }
                        if self.active.full && self.splits.is_empty() {
                            for &reg in &inst.kills {
                                self.kill(reg);
                            }
                            if inst.precedes_native_entry && self.native.are_enabled() {
                                continue 'entries;
                            }
                        }
                    }
                    StepOutcome::FusedStore => {
                        let store = &block.insts[split.at + 1];
                        self.loc = store.loc;
                        self.issued += 1;
                        self.after(store);
                        split.at += 2;
                        for &reg in inst.kills.iter().chain(&store.kills) {
                            self.kill(reg);
                        }
                    }
                    StepOutcome::Exited => {
                        self.live = self.live.without(self.active.mask);
                        split.mask = split.mask.without(self.active.mask);
                        if split.mask.is_empty() {
                            return Ok(());
                        }
                        self.activate(split.mask);
                        split.at += 1;
                    }
                    StepOutcome::Blocked(on) => {
                        if split.mask.is_empty() {
                            return Ok(());
                        }
                        if self.passes_barrier(on, &mut split) {
                            continue 'entries;
                        }
                        split.blocked_on = Some(on);
                        self.splits.push(split);
                        return Ok(());
                    }
                }
            }
            if split.at == joins_at {
                self.splits.push(split);
                return Ok(());
            }
            if block.loc != 0 {
                self.loc = block.loc;
            }
            self.leave(block);
            self.native.interpreted(block.insts.len(), self.active.count);
            self.issued += 1;
            if self.issued > self.config.step_limit {
                return Err(self.out_of_steps());
            }
            if self.is_stopped() {
                return Err(Fault::stopped());
            }
            split.at = 0;
            let from = split.block;
            match block.terminator {
                Terminator::Jump(target) => split.block = *target,
                Terminator::Exit => {
                    self.live = self.live.without(split.mask);
                    return Ok(());
                }
                Terminator::Branch { pred, then, otherwise } => {
                    if let Some(value) = u8::file(&self.files).uniform(Operand::Reg(*pred)) {
                        split.block = if value != 0 { *then } else { *otherwise };
                    } else {
                        let taken = self.true_lanes(Operand::Reg(*pred)).and(split.mask);
                        self.diverge(&mut split, taken, *then, *otherwise);
                    }
                }
                Terminator::Switch { index, targets, otherwise } => {
                    if let Some(index) = u32::file(&self.files).uniform(*index) {
                        split.block = targets.get(index as usize).copied().unwrap_or(*otherwise);
                    } else {
                        self.switch(&mut split, *index, targets, *otherwise);
                    }
                }
            }
            split.waiting = code.waits.after(split.waiting, from, split.block);
            if split.waiting.is_none() {
                self.works();
            }
            if !self.splits.is_empty() || split.waiting.is_some() {
                self.splits.push(split);
                return Ok(());
            }
            for &reg in &block.kills {
                if self.active.full {
                    self.kill(reg);
                }
            }
        }
    }

    /// Bytes of the registers, of batches that are set aside, and of what is observed of them.
    #[inline]
    pub(super) fn value_bytes(&self) -> u64 {
        self.files.bytes() + self.parked_bytes + self.observers.as_ref().map_or(0, |observers| observers.bytes())
    }

    #[cold]
    fn out_of_steps(&self) -> Box<Fault> {
        let message = format!("the step limit of {} instructions is reached", self.config.step_limit);
        Fault::new(FaultKind::StepLimit, message)
    }

    /// What becomes of a batch that waits for what never comes: it would go round until the step limit.
    #[cold]
    pub(crate) fn waits_forever(&mut self) -> Box<Fault> {
        let waiting = self.splits.iter().filter(|split| split.blocked_on.is_none());
        if let Some(split) = waiting.max_by_key(|split| split.last_turn) {
            self.activate(split.mask);
        }
        self.out_of_steps()
    }

    #[cold]
    fn out_of_registers(&self) -> Box<Fault> {
        let (bytes, limit) = (self.value_bytes(), self.config.register_limit);
        let message =
            format!("the registers take {bytes} bytes of memory; the memory limit leaves {limit} for each worker");
        Fault::new(FaultKind::MemoryLimit, message)
    }

    /// The next instruction of a split's block at which another one waits to run: they go on together. Native code may
    /// leave lanes in the middle of a block.
    fn joins_at(&self, split: &Split) -> usize {
        let ready = self.splits.iter().filter(|other| other.blocked_on.is_none() && other.block == split.block);
        ready.map(|other| other.at).filter(|&at| at > split.at).min().unwrap_or(usize::MAX)
    }

    /// A divergent branch: the lanes in `taken` go to `then`.
    fn diverge(&mut self, split: &mut Split, taken: Mask, then: usize, otherwise: usize) {
        let rest = split.mask.without(taken);
        let from = split.block;
        split.block = then;
        if taken.is_empty() {
            split.block = otherwise;
        } else if !rest.is_empty() && then != otherwise {
            split.mask = taken;
            let waiting = self.code.waits.after(split.waiting, from, otherwise);
            self.splits.push(Split { block: otherwise, mask: rest, waiting, ..split.clone() });
        }
    }

    fn switch(&mut self, split: &mut Split, index: Operand, targets: &[usize], otherwise: usize) {
        let mut by_target: BTreeMap<usize, Mask> = BTreeMap::new();
        for lane in split.mask.lanes() {
            let index = u32::file(&self.files).lane(index, lane, self.geometry) as usize;
            let target = targets.get(index).copied().unwrap_or(otherwise);
            let mask = by_target.entry(target).or_default();
            *mask = mask.or(Mask::range(lane, lane + 1));
        }
        let from = split.block;
        let mut targets = by_target.into_iter();
        if let Some((block, mask)) = targets.next() {
            (split.block, split.mask) = (block, mask);
        }
        for (block, mask) in targets {
            let waiting = self.code.waits.after(split.waiting, from, block);
            self.splits.push(Split { block, mask, waiting, ..split.clone() });
        }
    }

    /// Executes one instruction in those lanes whose guard is true.
    #[inline]
    fn step(&mut self, inst: &DecodedInst<'a>, split: &mut Split) -> Outcome<StepOutcome> {
        let Some(guard) = inst.guard else {
            return self.step_active(inst, split);
        };
        if let Some(value) = u8::file(&self.files).uniform(Operand::Reg(guard.pred)) {
            return if (value != 0) == guard.expected { self.step_active(inst, split) } else { Ok(StepOutcome::Next) };
        }
        let holds = self.true_lanes(Operand::Reg(guard.pred));
        let whole = self.active;
        let mask = if guard.expected { whole.mask.and(holds) } else { whole.mask.without(holds) };
        if mask.is_empty() {
            return Ok(StepOutcome::Next);
        }
        if mask == whole.mask {
            return self.step_active(inst, split);
        }
        self.activate(mask);
        if may_block(inst.op) {
            // The lanes whose guard is false go on.
            let rest = Split { mask: whole.mask.without(mask), at: split.at + 1, ..split.clone() };
            self.splits.push(rest);
            self.update_inactive_live();
            split.mask = mask;
            return self.step_active(inst, split);
        }
        self.active.predicated = true;
        let outcome = self.step_active(inst, split)?;
        if outcome == StepOutcome::Next {
            self.active = whole;
        }
        Ok(outcome)
    }

    /// Executes one instruction in the active lanes, between the hooks.
    #[inline]
    fn step_active(&mut self, inst: &DecodedInst<'a>, split: &mut Split) -> Outcome<StepOutcome> {
        self.before(inst);
        let outcome = self.execute(inst, split)?;
        if !matches!(outcome, StepOutcome::Blocked(_)) {
            self.after(inst);
        }
        Ok(outcome)
    }
}
