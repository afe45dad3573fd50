//! Threads that belong to a process.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Bytes of a thread's stack: what a process's first thread usually has, since modules are read here too.
const STACK: usize = 8 << 20;

/// Threads for one kind of work. A process that was forked has its parent's memory but none of its threads: work given to
/// the parent's pool would wait for ever. So each process starts its own, and leaves that pool alone. There is no lock that a
/// thread which is not in the new process could hold.
#[derive(Debug, Default)]
pub struct Threads(OnceLock<Box<Owned>>);

/// A pool, the process that started it, and the threads of processes forked from that one.
#[derive(Debug)]
struct Owned {
    process: u32,
    pool: ThreadPool,
    forked: Threads,
}

impl Threads {
    /// None yet.
    pub const fn new() -> Threads {
        Threads(OnceLock::new())
    }

    /// This process's, which its first call starts.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn pool(&self) -> Result<&ThreadPool, ThreadPoolBuildError> {
        let process = std::process::id();
        let mut threads = self;
        loop {
            match threads.0.get() {
                Some(owned) if owned.process == process => return Ok(&owned.pool),
                Some(owned) => threads = &owned.forked,
                None => {
                    let pool = ThreadPoolBuilder::new().stack_size(STACK).build()?;
                    // Where another thread was faster, the next turn finds its pool, and this one ends.
                    let _ = threads.0.set(Box::new(Owned { process, pool, forked: Threads::new() }));
                }
            }
        }
    }
}
