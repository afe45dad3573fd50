//! What compiling may cost, so that a kernel made to be hard to compile runs no later than the interpreter would run it.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the compiler may still spend on a launch, in steps of its inner loops: a nanosecond, more or less. Once it is spent
/// the interpreter runs what is not compiled yet.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: u64,
    left: AtomicU64,
}

impl Budget {
    pub(crate) const fn new(steps: u64) -> Budget {
        Budget { steps, left: AtomicU64::new(steps) }
    }

    /// What has been spent.
    pub(crate) fn spent(&self) -> u64 {
        self.steps - self.left.load(Ordering::Relaxed)
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes some steps; `None` if they are not there any more, and nothing is left then.
    pub(crate) fn spend(&self, steps: usize) -> Option<()> {
        let take = |left: u64| Some(left.saturating_sub(steps as u64));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
        (left >= steps as u64 && left > 0).then_some(())
    }
}
