//! Which native code a worker enters at which point, and when it stops trying.

use super::phase::{Phases, Recording};
use super::register::AnyColumn;
use super::tile_numbers::HeldRegisters;
use crate::kernel::{DecodedKernel, LANES, LaunchConfig};
use crate::native::{
    self, CodeCache, CodeInstance, CompileMode, History, LaunchConstants, ProgramPoint, SegmentView, TileCounts,
};
use roundonce_ir::Reg;
use std::collections::BTreeMap;
use std::ops::Range;

/// A worker's native entry points.
#[derive(Debug, Default)]
pub(super) struct NativeEntries {
    enabled: bool,
    pub(super) entries: BTreeMap<ProgramPoint, Entry>,
    /// Registers that native code has left, or was given, as numbers of tiles.
    pub(super) held: HeldRegisters,
    /// What earlier launches of the same found.
    history: History,
    /// Some entry needed masks: the others are compiled with them from the start.
    masked: bool,
    /// Nanoseconds, more or less, that the interpreter has run, and that it would run of the launch as far as is known.
    interpreted: u64,
    expected: u64,
    /// The same of compiling the whole kernel.
    compile_cost: u64,
    /// How many batches it has begun, and what it had run before the last.
    batches: u64,
    before_batch: u64,
    /// Lists of one entry, kept for the next: the columns that code writes, which tiles completed, the segments.
    pub(super) outputs: Vec<(Reg, AnyColumn)>,
    pub(super) tiles: Vec<bool>,
    pub(super) segments: Vec<SegmentView>,
    /// The way of the current batch, and what a few blocks at a time run instead once it is known.
    pub(super) recording: Recording,
    pub(super) phases: Option<Phases>,
}

impl NativeEntries {
    pub(super) fn new(code: &DecodedKernel<'_>, config: &LaunchConfig, cache: &CodeCache) -> NativeEntries {
        let enabled = config.native.is_some() && native::may_run(&LaunchConstants { code, config });
        if !enabled {
            return NativeEntries::default();
        }
        let insts = code.insts().count() as u64;
        let (history, compile_cost) = (cache.history(), insts * COMPILE_COST);
        // Launches that are too short for it each may be long enough together.
        let is_frequent = pays(history.spent.saturating_add(compile_cost), history.interpreted);
        // Every thread runs every instruction once, as long as no more is known.
        let expected = if config.compiles_late && !is_frequent {
            let blocks = config.block_range();
            let threads = (blocks.end - blocks.start).saturating_mul(config.threads() as u64);
            let batches = threads.div_ceil(LANES as u64);
            insts.saturating_mul(batches).saturating_mul(interpreted_cost((threads / batches.max(1)) as usize))
        } else {
            u64::MAX
        };
        NativeEntries { enabled, expected, compile_cost, history, ..NativeEntries::default() }
    }
    /// A batch begins: the last had so many blocks, and so many are left.
    pub(super) fn begin_batch(&mut self, ran: u64, left: u64) {
        let of_last = self.interpreted - self.before_batch;
        // The first may do what no other does, and the edge of an image comes before its middle: half of it is counted.
        if self.batches > 1 && ran > 0 {
            let rest = u128::from(of_last) * u128::from(left) / u128::from(ran) / 2;
            self.expected = self.expected.max(self.interpreted.saturating_add(rest.min(u64::MAX.into()) as u64));
        }
        (self.batches, self.before_batch) = (self.batches + 1, self.interpreted);
    }
    /// The interpreter ran so many instructions over so many lanes.
    pub(super) fn interpreted(&mut self, insts: usize, lanes: usize) {
        self.interpreted += insts as u64 * interpreted_cost(lanes);
    }
    /// It took so many lanes or rows of lanes one after the other.
    pub(super) fn interpreted_singly(&mut self, count: usize) {
        self.interpreted += SINGLE_COST * count as u64;
    }
    /// Whether to compile more when so much has been spent on it: a launch that ends right behind has lost little by it.
    pub(super) fn may_compile(&self, spent: u64) -> bool {
        pays(spent.saturating_add(self.compile_cost), self.interpreted.max(self.expected))
    }
    /// Whether an earlier launch has left code for a point.
    pub(super) fn has_code(&self, point: &ProgramPoint) -> bool {
        self.history.modes.contains_key(point)
    }
    /// Leaves what this worker has found to later launches.
    pub(super) fn note(&self, cache: &CodeCache) {
        let used = self.entries.iter().filter(|(_, entry)| !entry.disabled && !entry.instances.is_empty());
        cache.note(self.interpreted, used.map(|(&point, entry)| (point, entry.mode)));
    }
    /// Takes an entry out, which may be new.
    pub(super) fn take(&mut self, start: ProgramPoint) -> Entry {
        let fresh = || {
            let mode = CompileMode { masked: self.masked, ..CompileMode::default() };
            Entry { mode: self.history.modes.get(&start).copied().unwrap_or(mode), ..Entry::default() }
        };
        self.entries.remove(&start).unwrap_or_else(fresh)
    }
    pub(super) fn put_back(&mut self, start: ProgramPoint, entry: Entry) {
        self.masked |= entry.mode.masked;
        self.entries.insert(start, entry);
    }
    /// Whether the launch may run native code at all. A constant where the machine has none, so that builds for it are without
    /// the compiler.
    pub(super) fn are_enabled(&self) -> bool {
        cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) && self.enabled
    }
}

/// One native entry point: its code, by what registers hold there.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) instances: Vec<CodeInstance>,
    pub(super) mode: CompileMode,
    /// Tiles that exited by a side exit, less those that completed.
    failures: u32,
    /// What its tiles saved the interpreter, less what their entries cost; no more than 0.
    balance: i64,
    /// It is left to the interpreter.
    pub(super) disabled: bool,
}

/// Compiling may take one part in so many of what the interpreter takes.
const COMPILE_SHARE: u64 = 5;
/// Whether what compiling takes is little beside what the interpreter takes.
const fn pays(compiling: u64, interpreting: u64) -> bool {
    compiling <= interpreting / COMPILE_SHARE
}
/// Nanoseconds that compiling an instruction takes, more or less.
const COMPILE_COST: u64 = 15_000;
/// The same of interpreting one for so many lanes, by loops over vectors.
const fn interpreted_cost(lanes: usize) -> u64 {
    64 + lanes as u64 / 16
}
/// The same of a lane, or a row of them, where one follows the other.
const SINGLE_COST: u64 = 24;

/// After so many side exits an entry is left to the interpreter.
const MAX_FAILURES: u32 = 64;
/// So far the balance of instructions may fall: the cost of that is small beside compilation.
const LEAST_BALANCE: i64 = -1024;
/// If one tile in so many diverges, code for divergent lanes pays off: the interpreter takes as much longer.
const DIVERGENCE_RATIO: u32 = 8;
/// The same of code that keeps lanes together under masks, which costs less; of a single tile the other ratio holds.
const MASKED_RATIO: u32 = 64;
/// So many specialisations of an entry are compiled.
pub(super) const MAX_INSTANCES: usize = 4;

impl Entry {
    /// Puts code back after a run, unless the run asks for another kind of code or for none.
    pub(super) fn record(&mut self, instance: CodeInstance, ran: &TileRuns, recording: &Recording) {
        let completed = ran.completed as u32;
        let count = completed + ran.failed;
        self.failures = (self.failures + ran.failed).saturating_sub(completed / 4);
        let exceeds = |ratio: u32| ratio * ran.diverged > count || ran.diverged > 0 && self.failures > MAX_FAILURES;
        if ran.conflict {
            // Stores are isolated from now on; if they already are, the entry is disabled.
            self.disabled = self.mode.isolate_stores;
            self.recompile_as(CompileMode { isolate_stores: true, ..self.mode });
        } else if !self.mode.masked
            && instance.code.may_mask
            && exceeds(MASKED_RATIO.min(DIVERGENCE_RATIO * ran.diverged))
        {
            self.recompile_as(CompileMode { masked: true, ..self.mode });
        } else if !self.mode.divergent && exceeds(DIVERGENCE_RATIO) {
            self.recompile_as(CompileMode { divergent: true, ..self.mode });
        } else {
            // Code of kernels from their starts to their ends is entered without the interpreter's registers.
            if !instance.code.is_whole {
                let gain = instance.code.gain(ran.completed, ran.steps, ran.predicated);
                self.balance = self.balance.saturating_add(gain).min(0);
            }
            // In groups that go one way an entry costs little.
            self.disabled = self.failures > MAX_FAILURES || self.balance < LEAST_BALANCE && !recording.is_on();
            self.instances.push(instance);
        }
    }
    fn recompile_as(&mut self, mode: CompileMode) {
        self.instances.clear();
        self.failures = 0;
        self.mode = mode;
    }
}

/// The outcome of native code over the tiles of a batch.
#[derive(Default)]
pub(super) struct TileRuns {
    /// Whether each tile completed; if not, it took a side exit or was not run.
    pub(super) tiles: Vec<bool>,
    /// How many did, the instructions that all their lanes completed and those that some did, summed over these, and the least
    /// that one of them has left of its budget.
    pub(super) completed: usize,
    pub(super) steps: u64,
    pub(super) predicated: u64,
    pub(super) budget_left: Option<i64>,
    /// How many took a side exit.
    pub(super) failed: u32,
    /// Of these, how many because their lanes diverged.
    pub(super) diverged: u32,
    /// A store may alias other lanes' accesses.
    pub(super) conflict: bool,
}

impl TileRuns {
    /// None has run yet; the list of them is to be filled.
    pub(super) fn new(mut tiles: Vec<bool>) -> TileRuns {
        tiles.clear();
        TileRuns { tiles, ..TileRuns::default() }
    }
    /// The next tiles completed.
    pub(super) fn complete(&mut self, instance: &CodeInstance, tiles: Range<usize>) {
        self.tiles.resize(tiles.end, true);
        self.completed += tiles.len();
        let TileCounts { budget_left, steps, predicated } = instance.counts(tiles);
        self.steps += steps;
        self.predicated += predicated;
        self.budget_left = self.budget_left.into_iter().chain(budget_left).min();
    }
    /// They took a side exit.
    pub(super) fn fail(&mut self, count: usize) {
        self.failed += count as u32;
        self.tiles.resize(self.tiles.len() + count, false);
    }
    /// The tiles that completed.
    pub(super) fn completed(&self) -> impl DoubleEndedIterator<Item = usize> + Clone {
        self.tiles.iter().enumerate().filter(|(_, completed)| **completed).map(|(tile, _)| tile)
    }
}
