//! Batches of thread blocks among workers, in order on one thread or in parallel.

use super::api::RunError;
use super::arguments::GlobalMemory;
use crate::interp::{Fault, Interpreter, Parked, Progress, Stats};
use crate::kernel::{DecodedKernel, Global, LANES, LaunchConfig, SegmentWords};
use crate::native::{CodeCache, LaunchConstants};
use rayon::ThreadPool;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

/// Blocks of a batch at most where blocks wait for others: all that wait look again each time that one goes on.
const WAITING: u64 = 64;

/// Threads of a batch at most, but for those of one block, where they try to swap what is in memory: of those that want one
/// place, one succeeds at each try of all.
const RETRYING: usize = 256;

/// The blocks that run, in batches of neighbours.
struct Batches {
    start: u64,
    end: u64,
    per_batch: u64,
}

impl Batches {
    fn new(code: &DecodedKernel<'_>, config: &LaunchConfig, workers: usize) -> Batches {
        let Range { start, end } = config.block_range();
        // Full batches, but enough of them for every worker.
        let most = if code.waits.between_blocks().is_some() { WAITING } else { u64::MAX };
        let lanes = if code.waits.has_retries() { RETRYING } else { LANES };
        let fitting = most.min((lanes / config.threads()) as u64);
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
        (batches.saturating_sub(from) / (4 * workers as u64)).clamp(1, 128)
    }
    /// Runs `count` batches from one on; the first fault, with its batch. `None` when there are no more. `waits` is given
    /// those that wait.
    fn run<'a>(
        &self,
        interp: &mut Interpreter<'a>,
        (mut from, count): (u64, u64),
        mut waits: impl FnMut(&mut Interpreter<'a>, Progress) -> Result<(), Box<Fault>>,
    ) -> Option<Result<(), (u64, Box<Fault>)>> {
        self.get(from)?;
        let end = from + count;
        while let Some((first, _)) = self.get(from).filter(|_| from < end) {
            if interp.is_stopped() {
                return Some(Err((from, Fault::stopped())));
            }
            let blocks = (self.per_batch * (end - from)).min(self.end - first) as usize;
            for lanes_left in interp.run_whole_kernels(first, blocks, self.per_batch as usize) {
                if let Some((first, blocks)) = self.get(from)
                    && !lanes_left.is_empty()
                    && let Err(fault) = interp.run(from, first, blocks, lanes_left).and_then(|got| waits(interp, got))
                {
                    return Some(Err((from, fault)));
                }
                from += 1;
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
    let launch = LaunchConstants { code, config };
    let code_cache = CodeCache::new(&launch);
    let words = memory.words.iter_mut().map(|words| SegmentWords::Exclusive(words)).collect();
    let mut interp = Interpreter::new(code, config, &code_cache, Global { layout: &memory.layout, words, last: 0 });
    let batches = Batches::new(code, config, 1);
    let mut batch = 0;
    let mut parked = Waiting::default();
    loop {
        let count = batches.chunk(batch, 1);
        let ran = batches.run(&mut interp, (batch, count), |interp, progress| {
            parked.keep(interp, progress);
            // One of those that wait, so that few do.
            parked.try_one(interp, 0).map(drop)
        });
        match ran {
            None => break,
            Some(Ok(())) => batch += count,
            Some(Err((_, fault))) => return Err(error_of(code, &interp, *fault)),
        }
    }
    parked.finish(&mut interp).map_err(|fault| error_of(code, &interp, *fault))?;
    let stats = interp.into_stats();
    code_cache.keep(&launch);
    Ok(stats)
}

/// The batches that wait for others, on one thread.
#[derive(Default)]
struct Waiting<'a>(VecDeque<Parked<'a>>);

impl<'a> Waiting<'a> {
    fn keep(&mut self, interp: &mut Interpreter<'a>, progress: Progress) {
        if progress != Progress::Ended {
            self.0.push_back(interp.park());
        }
    }
    /// Runs the one that was left first, as far as it goes.
    fn try_one(&mut self, interp: &mut Interpreter<'a>, patience: u32) -> Result<Progress, Box<Fault>> {
        let Some(first) = self.0.pop_front() else { return Ok(Progress::Ended) };
        interp.take_up(first);
        let progress = interp.go_on(patience)?;
        self.keep(interp, progress);
        Ok(progress)
    }
    /// Runs all to their ends, in turns.
    fn finish(&mut self, interp: &mut Interpreter<'a>) -> Result<(), Box<Fault>> {
        let mut patience = 0;
        while !self.0.is_empty() {
            let mut goes_on = false;
            let mut may_end = false;
            for _ in 0..self.0.len() {
                match self.try_one(interp, patience)? {
                    Progress::Ended => goes_on = true,
                    Progress::Waits { is_endless, has_moved } => {
                        goes_on |= has_moved;
                        may_end |= !is_endless;
                    }
                }
            }
            patience = if goes_on { 0 } else { patience + 1 };
            if !goes_on && !may_end {
                let first = self.0.iter().enumerate().min_by_key(|(_, parked)| parked.batch).map(|(place, _)| place);
                if let Some(first) = first.and_then(|place| self.0.remove(place)) {
                    interp.take_up(first);
                }
                return Err(interp.waits_forever());
            }
        }
        Ok(())
    }
}

/// Where no block waits for another one: goes on with a batch until it ends.
fn finish_alone(interp: &mut Interpreter<'_>, progress: Progress) -> Result<(), Box<Fault>> {
    let mut progress = progress;
    let mut patience = 0;
    while let Progress::Waits { is_endless, has_moved } = progress {
        if is_endless && !has_moved {
            return Err(interp.waits_forever());
        }
        patience = if has_moved { 0 } else { patience + 1 };
        progress = interp.go_on(patience)?;
    }
    Ok(())
}

/// A segment that workers share.
enum SharedSegment {
    ReadOnly(Vec<u32>),
    Atomic(Vec<AtomicU32>),
}

/// The batches among several workers on the threads of a pool. Segments that may be written are atomics (each access is a
/// plain load or store of the machine); the others are read-only.
pub(super) fn run_parallel(
    code: &DecodedKernel<'_>,
    config: &LaunchConfig,
    memory: &mut GlobalMemory,
    (pool, workers): (&ThreadPool, usize),
) -> Result<Stats, RunError> {
    let launch = LaunchConstants { code, config };
    let code_cache = CodeCache::new(&launch);
    let segments: Vec<SharedSegment> = std::mem::take(&mut memory.words)
        .into_iter()
        .zip(&memory.layout.segments)
        .map(|(words, segment)| {
            if segment.is_writable() {
                SharedSegment::Atomic(words.into_iter().map(AtomicU32::new).collect())
            } else {
                SharedSegment::ReadOnly(words)
            }
        })
        .collect();
    let batches = Batches::new(code, config, workers);
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
            let Some(outcome) = batches.run(&mut interp, (from, count), finish_alone) else { break };
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
    pool.in_place_scope(|scope| {
        for _ in 1..workers {
            let sender = sender.clone();
            scope.spawn(move |_| {
                let _ = sender.send(work());
            });
        }
        let _ = sender.send(work());
    });
    drop(sender);
    memory.words = segments
        .into_iter()
        .map(|segment| match segment {
            SharedSegment::ReadOnly(words) => words,
            SharedSegment::Atomic(words) => words.into_iter().map(AtomicU32::into_inner).collect(),
        })
        .collect();
    if let Some((_, error)) = failure.into_inner().unwrap_or(None) {
        return Err(error);
    }
    code_cache.keep(&launch);
    let mut all = Stats::default();
    for stats in all_stats {
        all.merge(stats);
    }
    all.printed.sort_by_key(|(batch, _)| *batch);
    Ok(all)
}
