#![doc = include_str!("../README.md")]
//!
//! Reading order: `policy.rs` (what may be done with a kernel), `search.rs` (which policies give what was observed),
//! `first_difference.rs` (the first instruction that they do not agree on), `text.rs` (the sentences); `compare.rs` (two kernels on
//! the same data), `baseline.rs` (a run and an earlier one), `doubts.rs` (what a GPU need not give alike).
//!
//! What this is not: a search through approximations. What hardware approximates is correctly rounded here; a kernel
//! that uses such instructions is reported with that as a reason for doubt.

mod baseline;
mod compare;
mod doubts;
mod first_difference;
mod policy;
mod results;
mod search;
mod text;
mod verdict;

use std::collections::BTreeMap;
use std::slice;

use roundonce_arith::Format;
use roundonce_deviate::{Allowed, Plausibility};
use roundonce_exec::{Launch, RunError};
use roundonce_ir::Kernel;
use roundonce_isa::{hex_bits, shortest_decimal};
use serde::Serialize;

pub use baseline::{Baseline, BaselineComparison, BufferDigest, Divergent, InstructionDigest};
pub use compare::{
    BufferDifferences, Equality, KernelComparison, KernelPair, OpenBits, SharedBuffer, Side, compare_kernels, proved,
};
pub use doubts::{Doubts, assumed};
use first_difference::first_difference;
pub use first_difference::{Computation, FirstDifference, Thread, WorkedExample};
pub use policy::{DeviationText, Freedom, Machine};
use results::Results;
use roundonce_why::{Advice, Outcome, SCHEMA, WEAK_BITS, advice, chance_of, element_index, ulps};
use search::{Explanations, Search, Tried};

/// A launch, and what was seen of its results elsewhere.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
    /// The arguments and the grid. Contraction is left out of its options: the search sees to it.
    pub launch: Launch<'a>,
    /// The kernel as written, one of the launch's program.
    pub kernel: &'a Kernel,
    /// What its language lets vary.
    pub freedom: Freedom,
    /// What was seen; each is explained by itself.
    pub observations: Vec<Observation>,
    /// The unusual modes that may be causes, beside those that the kernel names itself.
    pub allow: Allowed,
    /// The toolchain whose options are advised; of all that the language has, if there is none.
    pub toolchain: Option<&'static str>,
}

/// The arrays that one run elsewhere has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// Of different arguments.
    pub arrays: Vec<ObservedBuffer>,
}

impl Observation {
    /// Buffers by the runs that they are of: a buffer that was seen before is of another run.
    pub fn by_run(seen: impl IntoIterator<Item = ObservedBuffer>) -> Vec<Observation> {
        let mut runs: Vec<Observation> = Vec::new();
        let mut times: BTreeMap<usize, usize> = BTreeMap::new();
        for buffer in seen {
            let time = times.entry(buffer.arg).or_default();
            match runs.get_mut(*time) {
                Some(run) => run.arrays.push(buffer),
                None => runs.push(Observation { arrays: vec![buffer] }),
            }
            *time += 1;
        }
        runs
    }
}

/// An argument's buffer as it was seen after a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedBuffer {
    /// Where it was seen: a file's name.
    pub name: String,
    /// The parameter's name.
    pub parameter: String,
    /// The argument.
    pub arg: usize,
    /// Its bytes; as many as the buffer has, or fewer.
    pub bytes: Vec<u8>,
    /// Bytes of an element.
    pub size: usize,
    /// What the elements are; `None` for integers.
    pub format: Option<Format>,
    /// The lengths of its axes, the last running fastest.
    pub shape: Vec<usize>,
}

/// An element's bits.
fn bits_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

impl ObservedBuffer {
    /// The same, if it can be of a buffer of so many bytes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_bytes(self, expected: usize) -> Result<ObservedBuffer, String> {
        let (name, found) = (&self.name, self.bytes.len());
        if found != expected {
            return Err(format!("{name}: it has {found} bytes, the buffer `{}` {expected}", self.parameter));
        }
        if found == 0 {
            return Err(format!("{name}: it has no elements: there is nothing to explain"));
        }
        Ok(self)
    }
    /// Its elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.size.max(1)
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The bits of the element at a place of a buffer.
    fn element(&self, bytes: &[u8], at: usize) -> u64 {
        bytes.get(at * self.size..(at + 1) * self.size).map_or(0, bits_of)
    }
    /// Bits as a reader sees them.
    fn show(&self, bits: u64) -> String {
        let hex = hex_bits(self.size as u32 * 8, bits);
        match self.format {
            Some(format) => format!("{hex} {}", shortest_decimal(format, bits)),
            None => format!("{hex} {bits}"),
        }
    }
}

/// What was found out about a kernel and the arrays seen.
#[derive(Clone, Debug, Serialize)]
pub struct KernelAnswer {
    /// The version of this form.
    pub schema: u32,
    /// The kernel's name.
    pub kernel: String,
    /// Different programs that were compared with what was seen, the kernel as written among them.
    pub policies: usize,
    /// Products and fmas that were not tried one by one, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// What each observation comes from.
    pub seen: Vec<ObservedRun>,
    /// What the results here may not have of a GPU's.
    #[serde(flatten)]
    pub doubts: Doubts,
    /// What to do so that both sides agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What one observation comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedRun {
    /// The names of its arrays.
    pub saw: Vec<String>,
    /// Elements of them all.
    pub elements: usize,
    /// Whether one policy gives every element, several do, or none; or what gives them might by accident.
    pub outcome: Outcome,
    /// The chance that a policy gives them all by accident, estimated from above.
    pub chance: f64,
    /// The same as bits of evidence that it is no accident.
    pub evidence: f64,
    /// The policies of the most plausible class that give every element, simplest first.
    pub explanations: Vec<PolicyText>,
    /// The simplest less plausible one, which is no cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_plausible: Option<PolicyText>,
    /// Where no cause gives every element: the simplest policy that is possible and none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_possible: Option<PolicyText>,
    /// How many elements the kernel as written gives.
    pub as_written: usize,
    /// Where none gives all: the one that gives most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// Where the simplest explanation, or the nearest policy, first differs from the kernel as written.
    #[serde(rename = "parting", skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<DifferingElement>,
}

/// A policy as a reader sees it.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyText {
    /// How it deviates from the kernel as written.
    #[serde(rename = "changes")]
    pub deviations: Vec<DeviationText>,
    /// The same in words.
    pub sentence: String,
    /// How plausible it is.
    pub plausibility: Plausibility,
    /// Elements that are NaNs, of other bits than those seen.
    #[serde(skip_serializing_if = "is_zero")]
    pub nan_bits: usize,
}

/// The policy that comes nearest.
#[derive(Clone, Debug, Serialize)]
pub struct Nearest {
    /// The policy.
    #[serde(flatten)]
    pub policy: PolicyText,
    /// How many elements it gives.
    pub explained: usize,
    /// The first that it does not.
    pub first_unexplained: Element,
}

/// An element of an array that was seen.
#[derive(Clone, Debug, Serialize)]
pub struct Element {
    /// The parameter.
    pub parameter: String,
    /// Its place along each axis.
    pub index: Vec<usize>,
    /// What was seen there.
    pub saw: String,
    /// What the policy gives.
    pub computed: String,
    /// Units in the last place between the two, if they are floats and neither is a NaN.
    pub ulps: Option<u64>,
    /// The thread that writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
}

/// Where a policy's results first differ from those of the kernel as written.
#[derive(Clone, Debug, Serialize)]
pub struct DifferingElement {
    /// The first element that differs: what the kernel as written gives stands under `saw`, what the policy gives under
    /// `computed`.
    pub element: Element,
    /// The first instruction that does; `None` where it was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<FirstDifference>,
}

/// Finds the policies behind what was seen of a kernel's results. `progress` receives how many runs were made.
///
/// # Errors
/// If the kernel as written cannot be run.
pub fn answer_kernel(experiment: &Experiment<'_>, progress: &mut dyn FnMut(u64)) -> Result<KernelAnswer, RunError> {
    let kernel = experiment.kernel;
    let mut search = Search::new(experiment, progress)?;
    search.run();
    let mut results = Results::new(experiment);
    let observations = 0..experiment.observations.len();
    let seen = observations.clone().map(|at| explained(experiment, &search, &mut results, at)).collect();
    let simplest = observations.filter_map(|at| search.explanations(at).best.first().copied());
    let deviations = simplest.flat_map(|tried| tried.set.iter().map(|&at| &search.rewrites[at].deviation));
    Ok(KernelAnswer {
        schema: SCHEMA,
        advice: advice(
            deviations,
            None,
            experiment.toolchain.as_ref().map_or(experiment.freedom.toolchains, slice::from_ref),
        ),
        kernel: kernel.name.clone(),
        policies: search.tried.len() + search.screened.len(),
        left_out: search.left_out,
        seen,
        doubts: search.doubts.clone(),
    })
}

fn explained(experiment: &Experiment<'_>, search: &Search<'_>, results: &mut Results<'_>, at: usize) -> ObservedRun {
    let observation = &experiment.observations[at];
    let Explanations { best: found, less_plausible, also_possible } = search.explanations(at);
    let evidence = found.first().map_or(0.0, |policy| search.evidence(at, policy));
    let policy = |tried: &Tried| PolicyText::of(search, tried, tried.scores.get(at).map_or(0, |score| score.nans));
    let best = found.first().copied().unwrap_or_else(|| search.best(at));
    let nearest = best.scores.get(at).and_then(|score| {
        let (array, element) = score.first?;
        let seen = &observation.arrays[array];
        let computed = seen.element(&results.of(best, seen.arg), element);
        let first_unexplained = Element::of(results, seen, element, [seen.element(&seen.bytes, element), computed]);
        Some(Nearest { policy: policy(best), explained: score.matched, first_unexplained })
    });
    let first_difference =
        (!best.set.is_empty()).then(|| differing_element(experiment, results, [&search.tried[0], best], observation));
    ObservedRun {
        saw: observation.arrays.iter().map(|seen| seen.name.clone()).collect(),
        elements: observation.arrays.iter().map(ObservedBuffer::len).sum(),
        outcome: Outcome::of(found.len(), evidence < WEAK_BITS),
        chance: chance_of(evidence),
        evidence,
        explanations: found.iter().map(|tried| policy(tried)).collect(),
        less_plausible: less_plausible.map(policy),
        also_possible: also_possible.map(policy),
        as_written: search.tried[0].scores[at].matched,
        nearest,
        first_difference: first_difference.flatten(),
    }
}

/// Where a policy's results first differ from those of the kernel as written, which is the first of the two.
fn differing_element(
    experiment: &Experiment<'_>,
    results: &mut Results<'_>,
    policies: [&Tried; 2],
    observation: &Observation,
) -> Option<DifferingElement> {
    observation.arrays.iter().find_map(|seen| {
        let bytes = policies.map(|policy| results.of(policy, seen.arg));
        let at_both = |at: usize| bytes.each_ref().map(|bytes| seen.element(bytes, at));
        let at = (0..seen.len()).find(|&at| {
            let [one, other] = at_both(at);
            one != other
        })?;
        let element = Element::of(results, seen, at, at_both(at));
        let kernels = policies.map(|policy| &policy.kernel);
        let difference = |thread| first_difference(&experiment.launch, kernels, thread, at_both(at).into());
        let at = element.thread.and_then(difference);
        Some(DifferingElement { element, at })
    })
}

impl Element {
    /// Of two values of an element: the one that stands under `saw`, and the one computed.
    fn of(results: &mut Results<'_>, seen: &ObservedBuffer, at: usize, [saw, computed]: [u64; 2]) -> Element {
        Element {
            parameter: seen.parameter.clone(),
            index: element_index(&seen.shape, at),
            saw: seen.show(saw),
            computed: seen.show(computed),
            ulps: seen.format.and_then(|format| ulps(format, saw, computed)),
            thread: results.writer(seen, at),
        }
    }
}

impl PolicyText {
    fn of(search: &Search<'_>, tried: &Tried, nan_bits: usize) -> PolicyText {
        let deviations: Vec<DeviationText> = tried.set.iter().map(|&at| search.rewrites[at].text()).collect();
        let clauses: Vec<String> = deviations.iter().map(|deviation| deviation.sentence.clone()).collect();
        let sentence = if clauses.is_empty() { "runs the kernel as written".to_owned() } else { clauses.join(" and ") };
        PolicyText { deviations, sentence, plausibility: search.plausibility(&tried.set), nan_bits }
    }
}
