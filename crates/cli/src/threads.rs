//! How many threads work.

use std::num::NonZeroUsize;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Failure;

/// Threads for each one that the machine runs at a time, at most: more only wait for one another.
const MOST_A_CORE: usize = 4;

/// How many are asked for, in words of an option.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, at least 1")
}

/// One a core.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// As many as were asked for (one a core without), but no more than there are pieces of work or the machine can use.
pub(crate) fn useful(asked: Option<NonZeroUsize>, pieces: u64) -> usize {
    let cores = cores();
    let wanted = asked.map_or(cores, |asked| asked.get().min(cores.saturating_mul(MOST_A_CORE)));
    wanted.min(usize::try_from(pieces).unwrap_or(usize::MAX)).max(1)
}

/// A pool of them.
pub(crate) fn pool(asked: Option<NonZeroUsize>, pieces: u64) -> Result<ThreadPool, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(useful(asked, pieces)).build();
    pool.map_err(|error| Failure::Input(format!("--threads: {error}")))
}
