//! Failures by cause: which deviations give the observed results, and the fewest that explain them all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use roundonce::arith::{Flags, Underflow};
use roundonce_deviate::cover::{Matcher, NanMatch, Preference, Search, cover};
use roundonce_deviate::{Deviation, EvalModel, Plausibility, Scope, for_instructions};

use crate::block::Vector;
use crate::instruction::{Criterion, InstructionUnderTest};
use crate::report::{Example, Group};

/// Failures beyond these are counted, not looked into.
pub(crate) const MOST_EXAMINED: u64 = 100_000;
/// Passing vectors that a cause is held against: one that is at work everywhere contradicts none.
const MOST_PASSING: usize = 4096;
/// Failing vectors that a cause is held against: where it changes the result, it must be to the one that was seen.
const MOST_FAILING: usize = 4096;
/// Of one block, so that the sample is of more than one instruction.
const PASSING_OF_A_BLOCK: usize = 1024;

/// What a failing vector may be explained by; vectors with the same are counted together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// These candidates.
    Candidates(Vec<usize>),
    /// The bits are right, the flags those of tininess before rounding.
    TininessBeforeRounding,
    /// The bits are right; these flags are missing and these too many. The candidates give both, bits and flags.
    Flags { missing: u8, extra: u8, candidates: Vec<usize> },
    /// One unit in the last place beside the right result.
    OneUlp,
    /// Nothing known.
    Unknown,
}

struct Tally {
    count: u64,
    first: Example,
    /// Whether all of them are one unit in the last place beside the right result.
    is_near: bool,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.count += other.count;
        self.is_near &= other.is_near;
        if other.first.row < self.first.row {
            self.first = other.first;
        }
    }
}

/// The candidates of an instruction, each evaluated otherwise than the right one and than the others.
struct Models {
    right: EvalModel,
    candidates: Vec<(usize, EvalModel)>,
}

impl Models {
    fn of(tested: &InstructionUnderTest, candidates: &[Vec<Deviation>]) -> Models {
        let mut right = EvalModel::of(tested.recipe().operation, &tested.profile);
        if tested.criterion == Criterion::AnyNan {
            right = right.accepting_any_nan();
        }
        let mut all: Vec<(usize, EvalModel)> = Vec::new();
        for (candidate, deviations) in candidates.iter().enumerate() {
            let model = deviations.iter().try_fold(right, EvalModel::with).filter(|model| *model != right);
            // A pair whose second undoes or repeats the first, or that one deviation already says.
            if let Some(model) = model
                && !all.iter().any(|(_, known)| *known == model)
            {
                all.push((candidate, model));
            }
        }
        Models { right, candidates: all }
    }
    fn of_candidate(&self, candidate: usize) -> Option<&EvalModel> {
        self.candidates.iter().find(|(it, _)| *it == candidate).map(|(_, model)| model)
    }
}

/// Whether an instruction so evaluated gives a vector's result.
fn gives(model: &EvalModel, tested: &InstructionUnderTest, vector: &Vector) -> bool {
    let format = tested.recipe().operation.format;
    let mut results = results(model, vector).zip(vector.result.components());
    results.all(|(result, &observed)| model.accepts(format, result, observed))
}

/// Whether an instruction so evaluated gives a vector's result and its flags.
fn gives_flags(model: &EvalModel, tested: &InstructionUnderTest, vector: &Vector, flags: u8) -> bool {
    let Some(operation) = model.as_operation() else { return false };
    let raised = components(vector).fold(Flags::NONE, |raised, operands| {
        raised.union(operation.evaluate(&tested.profile, &operands[..vector.operands.len()]).flags)
    });
    raised.bits() == flags && gives(model, tested, vector)
}

/// The operands of each component.
fn components(vector: &Vector) -> impl Iterator<Item = [u64; 3]> {
    (0..vector.result.components().len()).map(move |component| {
        let mut operands = [0; 3];
        for (bits, value) in operands.iter_mut().zip(&vector.operands) {
            *bits = value.components()[component];
        }
        operands
    })
}

/// What an instruction so evaluated gives, by component.
fn results(model: &EvalModel, vector: &Vector) -> impl Iterator<Item = u64> {
    components(vector).map(|operands| model.result(&operands[..vector.operands.len()]))
}

/// Whether every component is at most one unit in the last place beside the right one.
fn is_near(tested: &InstructionUnderTest, vector: &Vector) -> bool {
    let format = tested.recipe().operation.format;
    let right = tested.evaluate(&vector.operands).value;
    let mut components = right.components().iter().zip(vector.result.components());
    components.all(|(&right, &seen)| roundonce::why::ulps(format, right, seen).is_some_and(|ulps| ulps <= 1))
}

/// The failures of a run.
pub(crate) struct Failures {
    /// One deviation, or two; the simpler first.
    candidates: Vec<Vec<Deviation>>,
    tallies: HashMap<Key, Tally>,
    examined: u64,
    passing: Vec<(usize, InstructionUnderTest, Vector)>,
    failing: Vec<(usize, InstructionUnderTest, Vector)>,
    models: HashMap<usize, Models>,
}

impl Default for Failures {
    fn default() -> Failures {
        let singles = for_instructions();
        let mut candidates: Vec<Vec<Deviation>> = singles.iter().map(|one| vec![one.clone()]).collect();
        for (index, first) in singles.iter().enumerate() {
            candidates.extend(singles[index + 1..].iter().map(|second| vec![first.clone(), second.clone()]));
        }
        let (tallies, passing, failing, models) = Default::default();
        Failures { candidates, tallies, examined: 0, passing, failing, models }
    }
}

impl Failures {
    /// Whether one more will be looked into.
    pub(crate) fn wants_more(&self) -> bool {
        self.examined < MOST_EXAMINED
    }

    /// How many were looked into.
    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    /// Looks into a failing vector of the `tested`th instruction.
    pub(crate) fn add(&mut self, index: usize, tested: &InstructionUnderTest, vector: &Vector, example: Example) {
        self.examined += 1;
        if self.failing.len() < MOST_FAILING {
            self.failing.push((index, tested.clone(), vector.clone()));
        }
        let is_near = is_near(tested, vector);
        let key = self.key(index, tested, vector, is_near);
        let one = Tally { count: 1, first: example, is_near };
        match self.tallies.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().add(one),
            Entry::Vacant(place) => drop(place.insert(one)),
        }
    }

    fn key(&mut self, index: usize, tested: &InstructionUnderTest, vector: &Vector, is_near: bool) -> Key {
        let candidates = &self.candidates;
        let models = self.models.entry(index).or_insert_with(|| Models::of(tested, candidates));
        let right = tested.evaluate(&vector.operands);
        if right.value == vector.result
            && let Some(flags) = vector.flags
        {
            let before = roundonce::eval(
                &tested.instruction,
                &vector.operands,
                &roundonce::Profile { underflow: Underflow::BeforeRounding, ..tested.profile },
            );
            if before.flags.bits() == flags {
                return Key::TininessBeforeRounding;
            }
            let right = right.flags.bits();
            let giving = models.candidates.iter().filter(|(_, model)| gives_flags(model, tested, vector, flags));
            let candidates = giving.map(|(candidate, _)| *candidate).collect();
            return Key::Flags { missing: right & !flags, extra: flags & !right, candidates };
        }
        let giving = models.candidates.iter().filter(|(_, model)| gives(model, tested, vector));
        let explained: Vec<usize> = giving.map(|(candidate, _)| *candidate).collect();
        if !explained.is_empty() {
            return Key::Candidates(explained);
        }
        if is_near { Key::OneUlp } else { Key::Unknown }
    }

    /// How many passing vectors of a block of so many are worth keeping.
    pub(crate) fn passing_wanted(&self) -> usize {
        PASSING_OF_A_BLOCK.min(MOST_PASSING - self.passing.len())
    }
    /// Keeps a passing vector.
    pub(crate) fn keep_passing(&mut self, index: usize, tested: &InstructionUnderTest, vector: Vector) {
        self.passing.push((index, tested.clone(), vector));
    }

    /// How many of the passing vectors kept a candidate would have changed, and how many of the failing ones it would have
    /// changed to something else; each of how many.
    fn contradicted(&self, candidate: usize) -> [(u64, u64); 2] {
        let count = |kept: &[(usize, InstructionUnderTest, Vector)], is_passing: bool| {
            let (mut contradicted, mut of) = (0, 0);
            for (index, tested, vector) in kept {
                let Some(models) = self.models.get(index) else { continue };
                of += 1;
                let Some(model) = models.of_candidate(candidate) else { continue };
                let acts = || is_passing || !results(model, vector).eq(results(&models.right, vector));
                contradicted += u64::from(!gives(model, tested, vector) && acts());
            }
            (contradicted, of)
        };
        [count(&self.passing, true), count(&self.failing, false)]
    }

    fn text(&self, candidate: usize) -> String {
        let texts: Vec<String> = self.candidates[candidate].iter().map(|it| it.text(Scope::Instruction)).collect();
        texts.join(" and ")
    }

    /// The failures by cause, what explains most first.
    pub(crate) fn groups(mut self) -> Vec<Group> {
        let tallies = std::mem::take(&mut self.tallies);
        let mut explained: Vec<(Vec<usize>, Tally)> = Vec::new();
        let mut flagged: Vec<(Vec<usize>, String, Tally)> = Vec::new();
        let mut rest: Vec<(bool, String, Tally)> = Vec::new();
        for (key, tally) in tallies {
            match key {
                Key::Candidates(candidates) => explained.push((candidates, tally)),
                Key::TininessBeforeRounding => rest.push((true, TININESS.to_owned(), tally)),
                Key::Flags { missing, extra, candidates } => {
                    flagged.push((candidates, flags_text(missing, extra), tally));
                }
                Key::OneUlp => rest.push((false, ONE_ULP.to_owned(), tally)),
                Key::Unknown => rest.push((false, UNKNOWN.to_owned(), tally)),
            }
        }
        let search =
            Search { preference: Preference::FewestDeviations, max_groups: usize::MAX, falls_back_to_any_nan: false };
        let mut matcher = Tallies { failures: &self, tallies: &explained, contradicted: HashMap::new() };
        let found = cover(&self.candidates, explained.len(), search, &mut matcher);
        let one_ulp: u64 = rest.iter().filter(|(_, text, _)| text == ONE_ULP).map(|(.., tally)| tally.count).sum();
        let mut groups = Vec::with_capacity(found.groups.len() + rest.len());
        for group in found.groups {
            let candidate = group.candidates[0];
            let taken = || group.elements.iter().map(|&at| &explained[at].1);
            let Some(first) = taken().map(|tally| &tally.first).min_by_key(|first| first.row) else { continue };
            let count = taken().map(|tally| tally.count).sum();
            // Another rounding is one unit beside the right result: where as many results are and no rounding gives them, it
            // is none of these either.
            let explained = one_ulp < count || !taken().all(|tally| tally.is_near);
            let cause = self.text(candidate);
            let [(contradicted, sampled), (failures_contradicted, failures_sampled)] = self.contradicted(candidate);
            let cause = if explained { cause } else { format!("{ONE_ULP_AS} {cause}") };
            let mut group_of = Group::new(explained, cause, count, first.clone());
            if explained {
                // What gives the same bits otherwise may give the flags of others, too.
                for (_, _, tally) in flagged.extract_if(.., |(candidates, ..)| candidates.contains(&candidate)) {
                    group_of.add(tally.count, tally.first);
                }
                let (most, deviations) = (matcher.contradictions(candidate), self.candidates[candidate].len());
                let as_well = group.candidates[1..].iter().filter(|&&other| {
                    self.candidates[other].len() <= deviations && matcher.contradictions(other) <= most
                });
                group_of.as_well = as_well.map(|&other| self.text(other)).collect();
            }
            groups.push(Group { contradicted, sampled, failures_contradicted, failures_sampled, ..group_of });
        }
        for (_, text, tally) in flagged {
            match rest.iter_mut().find(|(_, known, _)| *known == text) {
                Some((.., known)) => known.add(tally),
                None => rest.push((false, text, tally)),
            }
        }
        rest.sort_by_key(|(explained, text, tally)| {
            (!explained, text == UNKNOWN, std::cmp::Reverse(tally.count), tally.first.row)
        });
        groups.extend(
            rest.into_iter().map(|(explained, cause, tally)| Group::new(explained, cause, tally.count, tally.first)),
        );
        groups
    }
}

/// The failures that the same candidates explain, each an element of the cover.
struct Tallies<'a> {
    failures: &'a Failures,
    tallies: &'a [(Vec<usize>, Tally)],
    /// How many vectors contradict a candidate, where that was asked.
    contradicted: HashMap<usize, u64>,
}

impl Matcher for Tallies<'_> {
    fn matches(&mut self, candidate: usize, elements: &[usize], _nan: NanMatch) -> Vec<bool> {
        elements.iter().map(|&at| self.tallies[at].0.binary_search(&candidate).is_ok()).collect()
    }
    /// Of one instruction, a mode that it may name is as plausible as anything.
    fn plausibility(&self, _candidate: usize) -> Plausibility {
        Plausibility::Uniform
    }
    fn weight(&self, element: usize) -> u64 {
        self.tallies[element].1.count
    }
    fn contradictions(&mut self, candidate: usize) -> u64 {
        *self
            .contradicted
            .entry(candidate)
            .or_insert_with(|| self.failures.contradicted(candidate).map(|(count, _)| count).iter().sum())
    }
}

const TININESS: &str = "flags of tininess detected before rounding";
const ONE_ULP: &str = "one unit in the last place beside the expected result; nothing known explains it";
const ONE_ULP_AS: &str =
    "one unit in the last place beside the expected result, as others that nothing known explains; these are as if by";
const UNKNOWN: &str = "nothing known explains it";

fn flags_text(missing: u8, extra: u8) -> String {
    let names = |bits: u8| {
        let known = [Flags::INEXACT, Flags::UNDERFLOW, Flags::OVERFLOW, Flags::INVALID];
        let mut names: Vec<&str> =
            known.into_iter().filter(|flag| bits & flag.bits() != 0).flat_map(Flags::names).collect();
        names.extend((bits & DIVISION_BY_ZERO != 0).then_some("infinite"));
        names.join(", ")
    };
    let mut parts = Vec::new();
    parts.extend((missing != 0).then(|| format!("{} missing", names(missing))));
    parts.extend((extra != 0).then(|| format!("{} too many", names(extra))));
    format!("flags alone: {}", parts.join(", "))
}

/// TestFloat's flag of a division by zero, which no multiply-add raises.
const DIVISION_BY_ZERO: u8 = 8;
