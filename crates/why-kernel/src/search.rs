//! The search: the kernel run under one policy after the other, and which runs give what was seen.

use std::collections::{BTreeMap, HashSet};
use std::slice;

use roundonce_deviate::Plausibility;
use roundonce_deviate::cover::minimal;
use roundonce_exec::{Buffer, Engine, Launch, Options, Report, RunError};
use roundonce_ir::{Kernel, Op, Program, Space};
use roundonce_why::{FARTHEST, bits_after_choice, bits_of_evidence, chance_of_a_match, place};

use crate::first_difference::last_writer;
use crate::policy::{Rewrite, named_modes, rewrites, rewritten};
use crate::{Doubts, Experiment, Observation, ObservedBuffer, bits_of};

/// Pairs of rewrites that are looked at; each costs a run of one block at least.
const MAX_SETS: usize = 4000;
/// The same where each costs a whole run.
const MAX_RUNS: usize = 1000;
/// Of so many products every subset is tried.
const SUBSETS: usize = 8;
/// Rewrites that are put together one by one where no pair explains everything.
const MAX_STEPS: usize = 12;

/// How a run compares with an observation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Score {
    /// Elements that agree.
    pub(crate) matched: usize,
    /// Of these, NaNs of other bits.
    pub(crate) nans: usize,
    /// Floats that would agree if all were moved by the same ulps, where that is most.
    pub(crate) moved: usize,
    /// The first element that does not: the array's and its own place.
    pub(crate) first: Option<(usize, usize)>,
}

/// A policy that was run.
pub(crate) struct Tried {
    /// Places in the list of rewrites, in order.
    pub(crate) set: Vec<usize>,
    pub(crate) kernel: Kernel,
    /// One for each observation; empty where the run failed.
    pub(crate) scores: Vec<Score>,
}

impl Tried {
    pub(crate) fn explains(&self, observation: usize) -> bool {
        self.scores.get(observation).is_some_and(|score| score.first.is_none())
    }
    fn matched(&self, observation: usize) -> usize {
        self.scores.get(observation).map_or(0, |score| score.matched)
    }
}

/// What explains an observation.
pub(crate) struct Explanations<'s> {
    /// The most plausible.
    pub(crate) best: Vec<&'s Tried>,
    /// The simplest of another class.
    pub(crate) less_plausible: Option<&'s Tried>,
    /// Where there is no cause: what gives it and is none.
    pub(crate) also_possible: Option<&'s Tried>,
}

/// One block that shows quickly that a policy is not it: an element that the kernel as written does not give, with the
/// thread that writes it.
struct Screen {
    block: u64,
    observation: usize,
    array: usize,
    element: usize,
}

pub(crate) struct Search<'a> {
    experiment: &'a Experiment<'a>,
    pub(crate) kernel: &'a Kernel,
    pub(crate) rewrites: Vec<Rewrite>,
    /// Places of those that may be causes.
    causes: Vec<usize>,
    /// Products and fmas that were not tried one by one.
    pub(crate) left_out: usize,
    /// Those of the kernel as written.
    pub(crate) doubts: Doubts,
    /// The kernel as written first.
    pub(crate) tried: Vec<Tried>,
    /// Sets that a screen has rejected.
    pub(crate) screened: Vec<Vec<usize>>,
    screens: Vec<Screen>,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a> Search<'a> {
    /// The kernel as written, run.
    pub(crate) fn new(
        experiment: &'a Experiment<'a>,
        progress: &'a mut dyn FnMut(u64),
    ) -> Result<Search<'a>, RunError> {
        let kernel = experiment.kernel;
        // The engine checks the program before anything else looks at it.
        let report = run(&experiment.launch, kernel, experiment.launch.options.clone())?;
        let (rewrites, left_out) = rewrites(kernel, &experiment.freedom);
        let allow = named_modes(kernel).or(experiment.allow);
        let causes =
            (0..rewrites.len()).filter(|&at| allow.is_cause(slice::from_ref(&rewrites[at].deviation))).collect();
        let scores = experiment.observations.iter().map(|observation| observation.score(&report)).collect();
        let tried = vec![Tried { set: Vec::new(), kernel: kernel.clone(), scores }];
        let doubts = Doubts::of(&report, kernel);
        let (screens, screened) = (Vec::new(), Vec::new());
        Ok(Search { experiment, kernel, rewrites, causes, left_out, doubts, tried, screened, screens, progress })
    }

    /// Tries what is done to the whole kernel, one rewrite and two, then every rewrite and pair, then more of them at a
    /// time, until every observation is explained; at last what may be no cause.
    pub(crate) fn run(&mut self) {
        let uniform = |search: &Self| {
            let is_uniform = |at: &usize| search.rewrites[*at].plausibility == Plausibility::Uniform;
            search.causes.iter().copied().filter(is_uniform).collect::<Vec<usize>>()
        };
        let steps: [fn(&mut Self, &[usize]); 2] = [
            |search, rewrites| rewrites.iter().for_each(|&rewrite| search.put(vec![rewrite])),
            |search, rewrites| {
                search.screens = search.screens();
                let most = if search.screens.is_empty() { MAX_RUNS } else { MAX_SETS };
                for set in search.pairs(rewrites).into_iter().take(most) {
                    search.put_screened(set);
                }
            },
        ];
        for rewrites in [uniform(self), self.causes.clone()] {
            for step in steps {
                if self.explained() {
                    return;
                }
                step(self, &rewrites);
            }
        }
        if self.explained() {
            return;
        }
        for set in self.subsets() {
            self.put_screened(set);
        }
        for observation in 0..self.experiment.observations.len() {
            self.climb(observation);
        }
        for rewrite in (0..self.rewrites.len()).filter(|at| !self.causes.contains(at)).collect::<Vec<usize>>() {
            self.put(vec![rewrite]);
        }
    }

    fn explained(&self) -> bool {
        (0..self.experiment.observations.len()).all(|at| !self.unexplained(at))
    }

    fn unexplained(&self, observation: usize) -> bool {
        !self.tried.iter().any(|tried| tried.explains(observation) && self.is_cause(tried))
    }

    fn is_cause(&self, tried: &Tried) -> bool {
        tried.set.iter().all(|rewrite| self.causes.contains(rewrite))
    }

    /// How plausible a policy is.
    pub(crate) fn plausibility(&self, set: &[usize]) -> Plausibility {
        set.iter().map(|&at| self.rewrites[at].plausibility).max().unwrap_or(Plausibility::Uniform)
    }

    /// The order in which policies are preferred: the more plausible class, in it the simpler.
    fn preference(&self, set: &[usize]) -> (Plausibility, usize) {
        (self.plausibility(set), set.len())
    }

    fn pairs(&self, rewrites: &[usize]) -> Vec<Vec<usize>> {
        // What made no program of its own alone makes none beside another.
        let alone: Vec<usize> =
            self.tried.iter().filter_map(|tried| <[usize; 1]>::try_from(&tried.set[..]).ok()).flatten().collect();
        let alone: Vec<usize> = alone.into_iter().filter(|rewrite| rewrites.contains(rewrite)).collect();
        let pairs =
            alone.iter().enumerate().flat_map(|(at, one)| alone[at + 1..].iter().map(move |other| vec![*one, *other]));
        let mut pairs: Vec<Vec<usize>> = pairs.filter(|pair| self.is_consistent(pair)).collect();
        // What is about the whole kernel first: it is what options do.
        pairs.sort_by_key(|pair| pair.iter().filter(|&&at| self.rewrites[at].is_single()).count());
        pairs
    }

    /// The sets of three and more products, where there are few.
    fn subsets(&self) -> Vec<Vec<usize>> {
        let is_fusion = |at: &usize| self.rewrites[*at].is_fusion();
        let fusions: Vec<usize> = (0..self.rewrites.len()).filter(is_fusion).collect();
        if fusions.len() > SUBSETS {
            return Vec::new();
        }
        let picked = |mask: u32| -> Vec<usize> {
            fusions.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &at)| at).collect()
        };
        let large = (0..1u32 << fusions.len()).filter(|mask| mask.count_ones() > 2).map(picked);
        large.filter(|set| self.is_consistent(set)).collect()
    }

    fn is_consistent(&self, set: &[usize]) -> bool {
        let pairs = set.iter().enumerate().flat_map(|(at, one)| set[at + 1..].iter().map(move |other| (*one, *other)));
        pairs.into_iter().all(|(one, other)| !self.rewrites[one].contradicts(&self.rewrites[other]))
    }

    /// Adds to the best policy, one by one, the rewrite that explains most.
    fn climb(&mut self, observation: usize) {
        for _ in 0..MAX_STEPS {
            if !self.unexplained(observation) {
                return;
            }
            let best = self.best(observation);
            let (set, matched) = (best.set.clone(), best.matched(observation));
            for rewrite in self.causes.clone().into_iter().filter(|rewrite| !set.contains(rewrite)) {
                let mut larger = set.clone();
                larger.push(rewrite);
                larger.sort_unstable();
                if self.is_consistent(&larger) {
                    self.put(larger);
                }
            }
            if self.best(observation).matched(observation) == matched {
                return;
            }
        }
    }

    /// Of the policies that may be causes the one that explains most, the simplest of them.
    pub(crate) fn best(&self, observation: usize) -> &Tried {
        let better = |best: &'_ Tried, other: &'_ Tried| {
            let key = |tried: &Tried| (std::cmp::Reverse(tried.matched(observation)), tried.set.len());
            key(other) < key(best)
        };
        let causes = self.tried.iter().filter(|tried| self.is_cause(tried));
        causes.fold(&self.tried[0], |best, other| if better(best, other) { other } else { best })
    }

    /// The simplest policies that explain all of an observation: of the most plausible class, those of which no part
    /// does, simplest first; then the simplest of the next class that has any, and the simplest that is no cause.
    pub(crate) fn explanations(&self, observation: usize) -> Explanations<'_> {
        let explains = |tried: &&Tried| tried.explains(observation);
        let (mut found, mut possible): (Vec<&Tried>, Vec<&Tried>) =
            self.tried.iter().filter(explains).partition(|tried| self.is_cause(tried));
        let key = |tried: &&Tried| (self.preference(&tried.set), tried.set.clone());
        found.sort_by_key(key);
        possible.sort_by_key(key);
        let first = found.first().map(|tried| self.plausibility(&tried.set));
        let (best, others): (Vec<&Tried>, Vec<&Tried>) =
            found.into_iter().partition(|tried| Some(self.plausibility(&tried.set)) == first);
        let is_part = |simpler: &&Tried, other: &&Tried| simpler.set.iter().all(|rewrite| other.set.contains(rewrite));
        let is_new = |other: &&Tried| !best.iter().any(|simpler| is_part(simpler, other));
        let less_plausible = others.into_iter().find(is_new);
        let also_possible = if best.is_empty() { possible.first().copied() } else { None };
        Explanations { best: minimal(best, is_part), less_plausible, also_possible }
    }

    /// Bits of evidence for a policy that gives all elements of an observation. It is chosen among all that were tried and are
    /// not preferred less.
    pub(crate) fn evidence(&self, observation: usize, policy: &Tried) -> f64 {
        let arrays = &self.experiment.observations[observation].arrays;
        let elements: usize = arrays.iter().map(ObservedBuffer::len).sum();
        let moved = self.tried.iter().filter_map(|tried| tried.scores.get(observation)).map(|score| score.moved);
        let chance = chance_of_a_match(moved.max().unwrap_or(0), elements);
        let distinct: usize = arrays.iter().map(ObservedBuffer::distinct).sum();
        let last = self.preference(&policy.set);
        let sets = self.tried.iter().map(|tried| &tried.set).chain(&self.screened);
        let among = sets.filter(|set| self.preference(set) <= last).count();
        bits_after_choice(bits_of_evidence(distinct, distinct.max(1), chance), among)
    }

    fn kernel_of(&self, set: &[usize]) -> Option<Kernel> {
        let rewrites: Vec<&Rewrite> = set.iter().map(|&at| &self.rewrites[at]).collect();
        let kernel = rewritten(self.kernel, &rewrites, &self.experiment.launch.options.profile);
        // The same program is the same policy.
        (!self.tried.iter().any(|tried| tried.kernel == kernel)).then_some(kernel)
    }

    /// Runs a policy and keeps it.
    fn put(&mut self, set: Vec<usize>) {
        if let Some(kernel) = self.kernel_of(&set) {
            self.keep(set, kernel);
        }
    }

    fn keep(&mut self, set: Vec<usize>, kernel: Kernel) {
        let launch = &self.experiment.launch;
        let score = |report| self.experiment.observations.iter().map(|it| it.score(&report)).collect();
        // A policy whose run faults explains nothing.
        let scores = run(launch, &kernel, launch.options.clone()).map(score).unwrap_or_default();
        self.tried.push(Tried { set, kernel, scores });
        (self.progress)(1);
    }

    /// The same, if one block does not show that it explains nothing.
    fn put_screened(&mut self, set: Vec<usize>) {
        let Some(kernel) = self.kernel_of(&set) else { return };
        let passes = self.screens.is_empty() || self.screens.iter().any(|screen| self.passes(screen, &kernel));
        if passes {
            self.keep(set, kernel);
        } else {
            self.screened.push(set);
            (self.progress)(1);
        }
    }

    /// One for each observation that is not explained yet; none where blocks communicate.
    fn screens(&self) -> Vec<Screen> {
        let launch = &self.experiment.launch;
        let blocks: u64 = launch.grid.iter().map(|&axis| u64::from(axis)).product();
        if blocks < 2 || communicates(self.kernel) {
            return Vec::new();
        }
        let unexplained = (0..self.experiment.observations.len()).filter(|&at| self.unexplained(at));
        let screens = unexplained.map(|observation| {
            let (array, element) = self.tried[0].scores[observation].first?;
            let seen = &self.experiment.observations[observation].arrays[array];
            let thread = last_writer(launch, self.kernel, seen.arg, element * seen.size, seen.size)?;
            Some(Screen { block: thread.block_number(launch.grid), observation, array, element })
        });
        // Without a screen for each of them nothing may be rejected.
        screens.collect::<Option<Vec<Screen>>>().unwrap_or_default()
    }

    /// Interpreted: native code for one block is not worth compiling, and the run of all blocks compiles it then once.
    fn passes(&self, screen: &Screen, kernel: &Kernel) -> bool {
        let all = self.experiment.launch.options.clone();
        let options = Options { blocks: Some(screen.block..screen.block + 1), engine: Engine::Interpreter, ..all };
        let seen = &self.experiment.observations[screen.observation].arrays[screen.array];
        run(&self.experiment.launch, kernel, options).is_ok_and(|report| {
            let bytes = report.buffers[seen.arg].as_ref().map(Buffer::to_bytes).unwrap_or_default();
            seen.agrees(&bytes, screen.element).is_some()
        })
    }
}

impl Observation {
    /// How a run's buffers compare with what was seen.
    fn score(&self, report: &Report) -> Score {
        let mut score = Score::default();
        let mut moved = BTreeMap::new();
        for (array, seen) in self.arrays.iter().enumerate() {
            let bytes = report.buffers[seen.arg].as_ref().map(Buffer::to_bytes).unwrap_or_default();
            for element in 0..seen.len() {
                match seen.agrees(&bytes, element) {
                    Some(exactly) => {
                        score.matched += 1;
                        score.nans += usize::from(!exactly);
                    }
                    None => {
                        score.first.get_or_insert((array, element));
                        if let Some(ulps) = seen.ulps_away(&bytes, element).filter(|ulps| ulps.abs() <= FARTHEST) {
                            *moved.entry(ulps).or_insert(0) += 1;
                        }
                    }
                }
            }
        }
        score.moved = moved.into_values().max().unwrap_or(0);
        score
    }
}

impl ObservedBuffer {
    /// How many different elements it has.
    fn distinct(&self) -> usize {
        self.bytes.chunks(self.size.max(1)).collect::<HashSet<&[u8]>>().len()
    }

    /// How far a float of a buffer is from the one seen.
    fn ulps_away(&self, bytes: &[u8], element: usize) -> Option<i128> {
        let (format, found) = (self.format?, self.element(bytes, element));
        let seen = self.element(&self.bytes, element);
        let is_number = |bits: u64| !format.is_nan(bits);
        (is_number(seen) && is_number(found)).then(|| place(format, found) - place(format, seen))
    }

    /// Whether an element of a buffer is the one seen: exactly, or but for the bits of a NaN. `None` if it is not.
    fn agrees(&self, bytes: &[u8], element: usize) -> Option<bool> {
        let range = element * self.size..(element + 1) * self.size;
        let (seen, found) = (self.bytes.get(range.clone())?, bytes.get(range)?);
        let nan = |bytes: &[u8]| self.format.is_some_and(|format| format.is_nan(bits_of(bytes)));
        match seen == found {
            true => Some(true),
            false => (nan(seen) && nan(found)).then_some(false),
        }
    }
}

/// Whether blocks may communicate: then none can be run alone.
pub(crate) fn communicates(kernel: &Kernel) -> bool {
    let ops = kernel.blocks.iter().flat_map(|block| &block.instructions).map(|instruction| &instruction.op);
    ops.into_iter().any(|op| match op {
        Op::Atomic { space, .. } => matches!(space, Space::Global | Space::Generic),
        Op::Fence => true,
        _ => false,
    })
}

/// Runs a kernel in place of a launch's own.
pub(crate) fn run(launch: &Launch<'_>, kernel: &Kernel, options: Options) -> Result<Report, RunError> {
    let Program { variables, address_bits, .. } = launch.program;
    let program = Program { kernels: vec![kernel.clone()], variables: variables.clone(), address_bits: *address_bits };
    Launch { program: &program, entry: None, options, ..launch.clone() }.run()
}
