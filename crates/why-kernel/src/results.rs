//! What runs leave in the observed buffers, each run made once.

use std::collections::HashMap;
use std::rc::Rc;

use crate::first_difference::{Thread, last_writer};
use crate::search::{Tried, run};
use crate::{Experiment, ObservedBuffer};

/// The results of the policies that are shown, and who wrote their elements.
pub(crate) struct Results<'a> {
    experiment: &'a Experiment<'a>,
    /// By the policy and the argument.
    bytes: HashMap<(Vec<usize>, usize), Rc<Vec<u8>>>,
    /// By the argument and the element's first byte.
    writers: HashMap<(usize, usize), Option<Thread>>,
}

impl<'a> Results<'a> {
    pub(crate) fn new(experiment: &'a Experiment<'a>) -> Results<'a> {
        Results { experiment, bytes: HashMap::new(), writers: HashMap::new() }
    }

    /// What a policy leaves in an observed argument's buffer; nothing if it cannot be run.
    pub(crate) fn of(&mut self, policy: &Tried, arg: usize) -> Rc<Vec<u8>> {
        if let Some(known) = self.bytes.get(&(policy.set.clone(), arg)) {
            return Rc::clone(known);
        }
        let launch = &self.experiment.launch;
        let buffers = run(launch, &policy.kernel, launch.options.clone()).map(|report| report.buffers);
        let buffers = buffers.unwrap_or_default();
        for observed in self.experiment.observations.iter().flat_map(|observation| &observation.arrays) {
            let buffer = buffers.get(observed.arg).and_then(Option::as_ref);
            let bytes = Rc::new(buffer.map(|buffer| buffer.to_bytes()).unwrap_or_default());
            self.bytes.insert((policy.set.clone(), observed.arg), bytes);
        }
        self.bytes.get(&(policy.set.clone(), arg)).map(Rc::clone).unwrap_or_default()
    }

    /// The thread that writes an element last, as the kernel is written.
    pub(crate) fn writer(&mut self, observed: &ObservedBuffer, element: usize) -> Option<Thread> {
        let Experiment { launch, kernel, .. } = self.experiment;
        let (arg, first, size) = (observed.arg, element * observed.size, observed.size);
        *self.writers.entry((arg, first)).or_insert_with(|| last_writer(launch, kernel, arg, first, size))
    }
}
