//! Batches of thread blocks among workers, in order on one thread or in parallel.

use super::api::RunError;
use super::arguments::GlobalMemory;
use crate::interp::{Fault, Interpreter, Stats};
use crate::kernel::{DecodedKernel, Global, LANES, LaunchConfig, SegmentWords};
use crate::native::CodeCache;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

/// The blocks that run, in batches of neighbours.
struct Batches {
    start: u64,
    end: u64,
    per_batch: u64,
}

impl Batches {
    fn new(config: &LaunchConfig, workers: usize) -> Batches {
        let all: u64 = config.grid.iter().map(|&axis| u64::from(axis)).product();
        let (start, end) = config.only_block.map_or((0, all), |only| (only.min(all), only.saturating_add(1).min(all)));
        // Full batches, but enough of them for every worker.
        let fitting = (LANES / config.threads()) as u64;
        Batches { start, end, per_batch: fitting.min((end - start).div_ceil(workers as u64)).max(1) }
    }
    fn get(&self, batch: u64) -> Option<(u64, usize)> {
        let first = batch.checked_mul(self.per_batch)?.checked_add(self.start).filter(|&first| first < self.end)?;
        Some((first, self.per_batch.min(self.end - first) as usize))
    }
    /// How many batches a worker takes at once: enough that the cost of taking them does not count, fewer toward the end so
    /// that all workers are busy until then.
    fn chunk(&self, from: u64, workers: usize) -> u64 {
        let batches = (self.end - self.start).div_ceil(self.per_batch);
        (batches.saturating_sub(from) / (4 * workers as u64)).clamp(1, 16)
    }
    /// Runs `count` batches from one on; the first fault, with its batch. `None` when there are no more.
    fn run(&self, interp: &mut Interpreter<'_>, from: u64, count: u64) -> Option<Result<(), (u64, Box<Fault>)>> {
        let (first, _) = self.get(from)?;
        if interp.is_stopped() {
            return Some(Err((from, Fault::stopped())));
        }
        let blocks = (self.per_batch * count).min(self.end - first) as usize;
        let lanes_left = interp.run_whole_kernels(first, blocks, self.per_batch as usize);
        for (batch, lanes_left) in (from..).zip(lanes_left) {
            if let Some((first, blocks)) = self.get(batch)
                && !lanes_left.is_empty()
                && let Err(fault) = interp.run(batch, first, blocks, lanes_left)
            {
                return Some(Err((batch, fault)));
            }
        }
        Some(Ok(()))
    }
}

fn error_of(code: &DecodedKernel<'_>, interp: &Interpreter<'_>, fault: Fault) -> RunError {
    let source = &code.kernel.source_locs[interp.loc() as usize];
    let lane = fault.lane.or_else(|| interp.first_active());
    RunError {
        kind: fault.kind,
        message: fault.message,
        kernel: code.kernel.name.clone(),
        line: source.line,
        is_address: code.kernel.addresses,
        instruction: source.text.clone(),
        thread: lane.map(|lane| interp.thread_of(lane)),
    }
}

/// All batches in order, on this thread.
pub(super) fn run_serial(
    code: &DecodedKernel<'_>,
    config: &LaunchConfig,
    memory: &mut GlobalMemory,
) -> Result<Stats, RunError> {
    let code_cache = CodeCache::new(config.compile_limit);
    let words = memory.words.iter_mut().map(|words| SegmentWords::Exclusive(words)).collect();
    let mut interp = Interpreter::new(code, config, &code_cache, Global { layout: &memory.layout, words, last: 0 });
    let batches = Batches::new(config, 1);
    let mut batch = 0;
    loop {
        let count = batches.chunk(batch, 1);
        match batches.run(&mut interp, batch, count) {
            None => return Ok(interp.into_stats()),
            Some(Ok(())) => batch += count,
            Some(Err((_, fault))) => return Err(error_of(code, &interp, *fault)),
        }
    }
}

/// A segment that workers share.
enum SharedSegment {
    ReadOnly(Vec<u32>),
    Atomic(Vec<AtomicU32>),
}

/// The batches among several threads. Segments that may be written are atomics (each access is a plain load or store of the
/// machine); the others are read-only.
pub(super) fn run_parallel(
    code: &DecodedKernel<'_>,
    config: &LaunchConfig,
    memory: &mut GlobalMemory,
    workers: usize,
) -> Result<Stats, RunError> {
    let code_cache = CodeCache::new(config.compile_limit);
    let segments: Vec<SharedSegment> = std::mem::take(&mut memory.words)
        .into_iter()
        .zip(&memory.written)
        .map(|(words, written)| {
            if *written {
                SharedSegment::Atomic(words.into_iter().map(AtomicU32::new).collect())
            } else {
                SharedSegment::ReadOnly(words)
            }
        })
        .collect();
    let batches = Batches::new(config, workers);
    let next = AtomicU64::new(0);
    // Batches are taken in order: when one fails, all before it have been taken, and they finish.
    let end = AtomicU64::new(u64::MAX);
    let failure: Mutex<Option<(u64, RunError)>> = Mutex::new(None);
    let layout = &memory.layout;
    let work = &|| {
        let words = segments.iter().map(|segment| match segment {
            SharedSegment::ReadOnly(words) => SegmentWords::ReadOnly(words),
            SharedSegment::Atomic(words) => SegmentWords::Atomic(words),
        });
        let mut interp =
            Interpreter::new(code, config, &code_cache, Global { layout, words: words.collect(), last: 0 });
        loop {
            let mut count = 0;
            let take = |from| {
                count = batches.chunk(from, workers);
                Some(from.saturating_add(count))
            };
            let (Ok(from) | Err(from)) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
            if from >= end.load(Ordering::Relaxed) {
                break;
            }
            let Some(outcome) = batches.run(&mut interp, from, count) else { break };
            if let Err((batch, fault)) = outcome {
                end.fetch_min(batch, Ordering::Relaxed);
                let error = error_of(code, &interp, *fault);
                if let Ok(mut failure) = failure.lock()
                    && failure.as_ref().is_none_or(|(other, _)| batch < *other)
                {
                    *failure = Some((batch, error));
                }
                break;
            }
        }
        interp.into_stats()
    };
    // The threads are those of a pool: starting one costs more than many launches take.
    let (sender, all_stats) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let _ = sender.send(work());
            });
        }
        let _ = sender.send(work());
    });
    drop(sender);
    if let Some((_, error)) = failure.into_inner().unwrap_or(None) {
        return Err(error);
    }
    memory.words = segments
        .into_iter()
        .map(|segment| match segment {
            SharedSegment::ReadOnly(words) => words,
            SharedSegment::Atomic(words) => words.into_iter().map(AtomicU32::into_inner).collect(),
        })
        .collect();
    let mut all = Stats::default();
    for stats in all_stats {
        all.merge(stats);
    }
    all.printed.sort_by_key(|(batch, _)| *batch);
    Ok(all)
}
