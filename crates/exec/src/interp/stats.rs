//! Counters and output of a worker's batches.

use super::observe::Observers;
use super::trace::TraceLine;
use std::collections::BTreeMap;

/// What a worker's batches produce besides memory.
#[derive(Default, Debug)]
pub(crate) struct Stats {
    /// How often each approximate instruction ran.
    pub(crate) approximations: BTreeMap<String, u64>,
    /// By batch.
    pub(crate) printed: Vec<(u64, String)>,
    pub(crate) steps: u64,
    /// Of them, by native code.
    pub(crate) native_steps: u64,
    pub(crate) trace: Vec<TraceLine>,
    /// Instructions by source location.
    pub(crate) locs: BTreeMap<u32, u64>,
    /// Those of the one worker of an observed launch.
    pub(crate) observers: Option<Box<Observers>>,
}

impl Stats {
    /// An approximate instruction ran so often; one that never ran is not named.
    pub(crate) fn approximated(&mut self, name: &str, count: u64) {
        match self.approximations.get_mut(name) {
            Some(all) => *all += count,
            None if count == 0 => {}
            None => drop(self.approximations.insert(name.to_owned(), count)),
        }
    }

    /// Adds another worker's.
    pub(crate) fn merge(&mut self, other: Stats) {
        for (name, times) in other.approximations {
            *self.approximations.entry(name).or_default() += times;
        }
        for (loc, times) in other.locs {
            *self.locs.entry(loc).or_default() += times;
        }
        self.printed.extend(other.printed);
        self.steps += other.steps;
        self.native_steps += other.native_steps;
        self.trace.extend(other.trace);
    }
}
