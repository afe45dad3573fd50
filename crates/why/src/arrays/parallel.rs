//! Pieces of work on all cores.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::Work;

/// Steps, below which a thread is not worth its start.
const FEW_STEPS: u64 = 1 << 16;

/// As many threads as were asked for, without one a core.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    asked.map_or_else(cores, NonZeroUsize::get)
}

/// The results of so many pieces of work, in order. `progress` receives how many steps are done; a piece has so many.
pub(crate) fn map<T: Send>(
    threads: usize,
    pieces: usize,
    steps_each: u64,
    progress: &mut dyn FnMut(Work),
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.min(pieces);
    if threads <= 1 || steps_each.saturating_mul(pieces as u64) < FEW_STEPS {
        let one = |piece| {
            let result = work(piece);
            progress(Work::Done(steps_each));
            result
        };
        return (0..pieces).map(one).collect();
    }
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let found: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(pieces));
    let work_on = |report: &mut dyn FnMut()| {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            let result = work(piece);
            done.fetch_add(steps_each, Ordering::Relaxed);
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((piece, result));
            report();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| work_on(&mut || ()));
        }
        work_on(&mut || progress(Work::Done(done.swap(0, Ordering::Relaxed))));
    });
    progress(Work::Done(done.into_inner()));
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_unstable_by_key(|(piece, _)| *piece);
    found.into_iter().map(|(_, result)| result).collect()
}
