//! Kernels with barriers a few blocks at a time, in native code from one barrier to the next.
//!
//! A batch has all its lanes at each barrier at once, so that their registers and what they load and store are more than the nearest
//! cache holds. Once batches go the same way, all of it in native code, later blocks do so in groups of few: of each phase
//! between two barriers there is code with columns and records of its own, which the phases behind it read. Where a group
//! goes another way the engine takes it over with its registers, as if it had run a batch of these blocks.

use super::fault::{Fault, Outcome};
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::native_entries::TileRuns;
use super::parked::Progress;
use super::phase::{Deviation, Passed, Phase, Phases, Step, Way};
use crate::kernel::{LANES, LaunchConfig};
use crate::native::{LiveValue, SegmentView};
use roundonce_ir::Reg;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which phase wrote a register last, and how it left it.
type Written = BTreeMap<Reg, (usize, LiveValue)>;

/// Lanes of a group, where a block has no more.
const GROUP_LANES: usize = 1024;
/// If one group in so many goes another way, batches are faster.
const DEVIATION_RATIO: u64 = 16;

impl Interpreter<'_> {
    /// After a batch that has ended: makes phases of the way that it and the one before went.
    pub(super) fn note_batch(&mut self) {
        if !self.native.recording.is_on() || !self.code.waits.are_none() {
            return;
        }
        if let Some(steps) = self.native.recording.repeated().map(<[Step]>::to_vec) {
            self.native.phases = self.make_phases(&steps);
        }
    }

    /// `None` where a register is not passed in a way that is known before the run, or there is no memory for the columns.
    fn make_phases(&mut self, steps: &[Step]) -> Option<Phases> {
        let columns: usize = steps.iter().map(|step| step.code.columns.len() + step.code.inputs().count()).sum();
        let bytes = (8 * LANES * columns) as u64;
        if self.value_bytes() + bytes > self.config.register_limit / 2 {
            return None;
        }
        let mut phases = Phases::default();
        let mut written = Written::new();
        for (index, step) in steps.iter().enumerate() {
            if self.make_phase(&mut phases, step, &written).is_none() {
                self.release_phases(phases);
                return None;
            }
            written.extend(step.code.outputs(step.exit).map(|(reg, value)| (reg, (index, value))));
        }
        // Segments stay where they are during a launch.
        let mut segments = std::mem::take(&mut self.native.segments);
        self.put_segments(&mut segments);
        phases.all.iter_mut().for_each(|phase| phase.instance.refresh_caches(&segments));
        self.native.segments = segments;
        Some(phases)
    }
    /// Adds a phase.
    fn make_phase(&mut self, phases: &mut Phases, step: &Step, written: &Written) -> Option<()> {
        let (threads, size) = (self.threads, self.config.block);
        let (code, count) = (&step.code, group_blocks(threads) * threads / step.code.lanes);
        let entry = self.native.entries.get(&step.start)?;
        let mut instance = entry.instances.iter().find(|instance| Arc::ptr_eq(&instance.code, code))?.clone();
        instance.reserve_tiles(count, |tile| LaunchConfig::axes(size, (tile * code.lanes % threads) as u64));
        let mut phase =
            Phase { step: step.clone(), instance, columns: Vec::new(), passed: Vec::new(), spread: Vec::new() };
        let bound = self.bind(phases, &mut phase, count, written);
        for &(reg, at) in &code.columns {
            let mut column = self.acquire_any(reg);
            phase.instance.set(at, column.address());
            phase.columns.push((reg, column));
        }
        phases.prefetch.add(phases.all.len(), phase.instance.ends());
        phases.all.push(phase);
        bound
    }
    /// Binds what a phase of so many tiles reads to what earlier ones write.
    fn bind(&mut self, phases: &mut Phases, phase: &mut Phase, count: usize, written: &Written) -> Option<()> {
        let code = phase.step.code.clone();
        for (reg, value) in code.inputs() {
            let source = written.get(&reg).copied();
            match (value, source) {
                // A number of the kernel's.
                (LiveValue::Constant(_), _) => {}
                (LiveValue::Scalar(to, pattern), Some((earlier, LiveValue::Scalar(from, before)))) => {
                    let (before, pattern) =
                        (phases.all[earlier].instance.patterns[before], phase.instance.patterns[pattern]);
                    let mask = self.code.kernel.width(reg).mask();
                    let retiling =
                        if before == pattern { None } else { Some(self.native.held.retiling(before, pattern, mask)?) };
                    phase.passed.push(Passed { phase: earlier, way: Way::Number { from, to, retiling } });
                }
                (LiveValue::Scalar(to, pattern), None | Some((_, LiveValue::Constant(_)))) => {
                    if code.pattern(pattern).iter().any(|&number| number != 0) {
                        return None;
                    }
                    let bits = number_of(source) & self.code.kernel.width(reg).mask();
                    phase.instance.words_mut(to).take(count).for_each(|word| *word = bits);
                }
                (LiveValue::Column(at), Some((earlier, LiveValue::Column(_)))) => {
                    let columns = &mut phases.all[earlier].columns;
                    let (_, column) = columns.iter_mut().find(|(other, _)| *other == reg)?;
                    phase.instance.set(at, column.address());
                }
                (LiveValue::Column(at), None | Some((_, LiveValue::Constant(_)))) => {
                    let mut column = self.acquire_any(reg);
                    column.spread(0, &[0; LANES], number_of(source));
                    phase.instance.set(at, column.address());
                    phases.uniform.push(column);
                }
                (LiveValue::Scalar(to, pattern), Some((earlier, LiveValue::Column(_)))) => {
                    let column = phases.all[earlier].columns.iter().position(|(other, _)| *other == reg)?;
                    phase.passed.push(Passed { phase: earlier, way: Way::Found { column, to, pattern } });
                }
                (LiveValue::Column(at), Some((earlier, LiveValue::Scalar(from, pattern)))) => {
                    let mut column = self.acquire_any(reg);
                    phase.instance.set(at, column.address());
                    phase.passed.push(Passed {
                        phase: earlier,
                        way: Way::Spread { from, pattern, column: phase.spread.len() },
                    });
                    phase.spread.push(column);
                }
            }
        }
        Some(())
    }

    /// Runs the blocks of a batch by phases, group by group.
    pub(super) fn run_phases(&mut self, batch: u64, first: u64, blocks: usize) -> Outcome<Progress> {
        let mut progress = Progress::Ended;
        let of_group = group_blocks(self.threads);
        let Some(mut phases) = self.native.phases.take() else { return Ok(progress) };
        let mut segments = std::mem::take(&mut self.native.segments);
        self.put_segments(&mut segments);
        let mut next = 0;
        while next < blocks && progress == Progress::Ended {
            if self.is_stopped() {
                return Err(Fault::stopped());
            }
            let (start, count) = (first + next as u64, of_group.min(blocks - next));
            phases.groups += 1;
            if let Err(deviation) = self.run_group(&mut phases, start, count, &segments) {
                phases.deviations += 1;
                self.native.segments = segments;
                progress = self.leave_phases(&mut phases, (batch, start, count), deviation)?;
                segments = std::mem::take(&mut self.native.segments);
            }
            next += count;
        }
        self.native.segments = segments;
        if phases.deviations * DEVIATION_RATIO <= phases.groups + 4 * DEVIATION_RATIO {
            self.native.phases = Some(phases);
        } else {
            self.release_phases(phases);
        }
        Ok(progress)
    }

    /// Gives the columns back.
    fn release_phases(&mut self, phases: Phases) {
        let of_phases = phases.all.into_iter().flat_map(|phase| {
            let written = phase.columns.into_iter().map(|(_, column)| column);
            written.chain(phase.spread)
        });
        of_phases.chain(phases.uniform).for_each(|column| self.files.release(column));
    }

    /// Runs a group by phases; where it goes another way, up to there.
    fn run_group(
        &mut self,
        phases: &mut Phases,
        first: u64,
        blocks: usize,
        segments: &[SegmentView],
    ) -> Result<(), Deviation> {
        self.clear_shared(blocks);
        let limit = i64::try_from(self.config.step_limit).unwrap_or(i64::MAX);
        let mut issued = 0u64;
        let Phases { all, prefetch, numbers, .. } = phases;
        for index in 0..all.len() {
            let (before, rest) = all.split_at_mut(index);
            let phase = &mut rest[0];
            let count = blocks * self.threads / phase.step.code.lanes;
            self.set_blocks(&mut phase.instance, first, blocks);
            if !phase.take_registers(before, blocks * self.threads, numbers) {
                return Err(Deviation { phase: index, issued, done: None });
            }
            let Phase { step, instance, .. } = phase;
            instance.set_prefetch(prefetch.next(index));
            let outcome = instance.run(0..count, self.config, segments, limit.saturating_sub_unsigned(issued));
            let done = outcome.done(count);
            if done < count
                || instance.take_diverged_late() > 0
                || instance.exits().take(count).any(|exit| exit != step.exit)
            {
                return Err(Deviation { phase: index, issued, done: Some(done) });
            }
            prefetch.note(index, instance.prefetched(), instance.ends(), blocks * self.threads);
            let counts = instance.counts(0..count);
            self.count_native(instance, (counts.steps, counts.predicated), 0..count);
            self.stats.steps += step.counted * (blocks * self.threads) as u64;
            issued = limit.saturating_sub(counts.budget_left.unwrap_or(limit)) as u64 + step.barriers;
        }
        Ok(())
    }

    /// Goes on with a group as with a batch from where it went another way.
    fn leave_phases(
        &mut self,
        phases: &mut Phases,
        (batch, first, blocks): (u64, u64, usize),
        Deviation { phase: last, issued, done }: Deviation,
    ) -> Outcome<Progress> {
        let lanes = blocks * self.threads;
        let shared = std::mem::take(&mut self.shared);
        self.begin(batch, first, blocks, Mask::first(lanes));
        self.shared = shared;
        self.native.recording.stop();
        self.activate(self.live);
        self.registers_dirty = true;
        let copies = |interp: &mut Self, phase: &Phase| {
            phase.columns.iter().map(|(reg, column)| (*reg, interp.files.copy(column, lanes))).collect::<Vec<_>>()
        };
        for phase in &phases.all[..last] {
            let mut outputs = copies(self, phase);
            self.take_outputs(&phase.instance, phase.step.exit, &mut outputs, (true, true));
            outputs.into_iter().for_each(|(_, column)| self.files.release(column));
        }
        self.issued = issued;
        let phase = &mut phases.all[last];
        let (start, lanes_of_tile) = (phase.step.start, phase.instance.code.lanes);
        let mut split = self.split_at(start, self.live, 0);
        self.splits.clear();
        let mut ran = TileRuns::new(Vec::new());
        let Some(done) = done else {
            self.splits.push(split);
            return self.go_on(0);
        };
        ran.complete(&phase.instance, 0..done);
        let ran = self.run_rest(&mut phase.instance, lanes / lanes_of_tile, ran, |_| true);
        if ran.completed > 0 {
            self.count_native(&mut phase.instance, (ran.steps, ran.predicated), ran.completed());
            let mut outputs = copies(self, phase);
            self.exit_native(&phase.instance, &ran, &mut outputs, start, &mut split);
            outputs.into_iter().for_each(|(_, column)| self.files.release(column));
        } else {
            split.bailed_out_at = Some((start.block, start.at));
        }
        if !split.mask.is_empty() {
            self.splits.push(split);
        }
        self.go_on(0)
    }
}

/// Blocks of a group.
fn group_blocks(threads: usize) -> usize {
    (GROUP_LANES / threads.max(1)).max(1)
}
/// What a register that no phase has left in lanes holds.
fn number_of(source: Option<(usize, LiveValue)>) -> u64 {
    match source {
        Some((_, LiveValue::Constant(bits))) => bits,
        _ => 0,
    }
}
