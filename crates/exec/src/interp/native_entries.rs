//! Which native code a worker enters at which point, and when it stops trying.

use crate::kernel::{DecodedKernel, LaunchConfig};
use crate::native::{self, CodeInstance, CompileMode, LaunchConstants, ProgramPoint, TileExit};
use std::collections::BTreeMap;

/// A worker's native entry points.
#[derive(Debug, Default)]
pub(super) struct NativeEntries {
    enabled: bool,
    pub(super) entries: BTreeMap<ProgramPoint, Entry>,
    /// Some entry needed masks: the others are compiled with them from the start.
    masked: bool,
}

impl NativeEntries {
    pub(super) fn new(code: &DecodedKernel<'_>, config: &LaunchConfig) -> NativeEntries {
        let enabled = config.native.is_some() && native::may_run(&LaunchConstants { code, config });
        NativeEntries { enabled, ..NativeEntries::default() }
    }
    /// Takes an entry out, which may be new.
    pub(super) fn take(&mut self, start: ProgramPoint) -> Entry {
        let fresh =
            || Entry { mode: CompileMode { masked: self.masked, ..CompileMode::default() }, ..Entry::default() };
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
    pub(super) fn record(&mut self, instance: CodeInstance, ran: &TileRuns) {
        let completed = ran.tiles.iter().flatten().count() as u32;
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
            if !instance.code.is_whole() {
                let gain = ran.tiles.iter().flatten().map(|tile| instance.code.gain(tile.steps, tile.predicated)).sum();
                self.balance = self.balance.saturating_add(gain).min(0);
            }
            self.disabled = self.failures > MAX_FAILURES || self.balance < LEAST_BALANCE;
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
pub(super) struct TileRuns {
    /// The exit of each tile; none if it took a side exit or was not run.
    pub(super) tiles: Vec<Option<TileExit>>,
    /// How many took a side exit.
    pub(super) failed: u32,
    /// Of these, how many because their lanes diverged.
    pub(super) diverged: u32,
    /// A store may alias other lanes' accesses.
    pub(super) conflict: bool,
}

impl TileRuns {
    pub(super) fn with_capacity(count: usize) -> TileRuns {
        TileRuns { tiles: Vec::with_capacity(count), failed: 0, diverged: 0, conflict: false }
    }
    /// The next tiles took a side exit.
    pub(super) fn fail(&mut self, count: usize) {
        self.failed += count as u32;
        self.tiles.resize(self.tiles.len() + count, None);
    }
}
