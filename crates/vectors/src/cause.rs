//! Failures by cause: which deviations give the observed results, and the fewest that explain them all.

use std::collections::HashMap;

use roundonce::arith::{Flags, Underflow};
use roundonce_deviate::cover::{Matcher, NanMatch, Preference, Search, cover};
use roundonce_deviate::{Deviation, EvalModel, Scope, for_instructions};

use crate::block::Vector;
use crate::instruction::{Criterion, InstructionUnderTest};
use crate::report::{Example, Group};

/// Failures beyond these are counted, not looked into.
pub(crate) const MOST_EXAMINED: u64 = 100_000;
/// Passing vectors that a cause is held against: one that is at work everywhere contradicts none.
const MOST_PASSING: usize = 4096;
/// Of one block, so that the sample is of more than one instruction.
const PASSING_OF_A_BLOCK: usize = 1024;

/// What a failing vector may be explained by; vectors with the same are counted together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// These candidates.
    Candidates(Vec<usize>),
    /// The bits are right, the flags those of tininess before rounding.
    TininessBeforeRounding,
    /// The bits are right; these flags are missing and these too many.
    Flags { missing: u8, extra: u8 },
    /// One unit in the last place beside the right result.
    OneUlp,
    /// Nothing known.
    Unknown,
}

struct Tally {
    count: u64,
    first: Example,
}

/// The candidates of an instruction, each evaluated otherwise than the right one and than the others.
struct Models(Vec<(usize, EvalModel)>);

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
        Models(all)
    }
}

/// Whether an instruction so evaluated gives a vector's result.
fn gives(model: &EvalModel, tested: &InstructionUnderTest, vector: &Vector) -> bool {
    let format = tested.recipe().operation.format;
    vector.result.components().iter().enumerate().all(|(component, &observed)| {
        let mut operands = [0; 3];
        for (bits, value) in operands.iter_mut().zip(&vector.operands) {
            *bits = value.components()[component];
        }
        model.accepts(format, model.result(&operands[..vector.operands.len()]), observed)
    })
}

/// The failures of a run.
pub(crate) struct Failures {
    /// One deviation, or two; the simpler first.
    candidates: Vec<Vec<Deviation>>,
    tallies: HashMap<Key, Tally>,
    examined: u64,
    passing: Vec<(usize, InstructionUnderTest, Vector)>,
    models: HashMap<usize, Models>,
}

impl Default for Failures {
    fn default() -> Failures {
        let singles = for_instructions();
        let mut candidates: Vec<Vec<Deviation>> = singles.iter().map(|one| vec![one.clone()]).collect();
        for (index, first) in singles.iter().enumerate() {
            candidates.extend(singles[index + 1..].iter().map(|second| vec![first.clone(), second.clone()]));
        }
        let (tallies, passing, models) = (HashMap::new(), Vec::new(), HashMap::new());
        Failures { candidates, tallies, examined: 0, passing, models }
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
        let key = self.key(index, tested, vector);
        let tally = self.tallies.entry(key).or_insert_with(|| Tally { count: 0, first: example.clone() });
        tally.count += 1;
        if example.row < tally.first.row {
            tally.first = example;
        }
    }

    fn key(&mut self, index: usize, tested: &InstructionUnderTest, vector: &Vector) -> Key {
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
            return Key::Flags { missing: right & !flags, extra: flags & !right };
        }
        let candidates = &self.candidates;
        let models = self.models.entry(index).or_insert_with(|| Models::of(tested, candidates));
        let giving = models.0.iter().filter(|(_, model)| gives(model, tested, vector));
        let explained: Vec<usize> = giving.map(|(candidate, _)| *candidate).collect();
        if !explained.is_empty() {
            return Key::Candidates(explained);
        }
        let format = tested.recipe().operation.format;
        let components = right.value.components().iter().zip(vector.result.components());
        let near =
            |(&right, &seen): (&u64, &u64)| roundonce::why::ulps(format, right, seen).is_some_and(|ulps| ulps <= 1);
        if components.clone().all(near) { Key::OneUlp } else { Key::Unknown }
    }

    /// How many passing vectors of a block of so many are worth keeping.
    pub(crate) fn passing_wanted(&self) -> usize {
        PASSING_OF_A_BLOCK.min(MOST_PASSING - self.passing.len())
    }
    /// Keeps a passing vector.
    pub(crate) fn keep_passing(&mut self, index: usize, tested: &InstructionUnderTest, vector: Vector) {
        self.passing.push((index, tested.clone(), vector));
    }

    /// How many of the passing vectors kept a candidate would have changed, and of how many.
    fn contradicted(&self, candidate: usize) -> (u64, u64) {
        let mut of = 0;
        let mut contradicted = 0;
        for (index, tested, vector) in &self.passing {
            let Some(models) = self.models.get(index) else { continue };
            of += 1;
            let model = models.0.iter().find(|(it, _)| *it == candidate);
            contradicted += u64::from(model.is_some_and(|(_, model)| !gives(model, tested, vector)));
        }
        (contradicted, of)
    }

    fn text(&self, candidate: usize) -> String {
        let texts: Vec<String> = self.candidates[candidate].iter().map(|it| it.text(Scope::Instruction)).collect();
        texts.join(" and ")
    }

    /// The failures by cause, what explains most first.
    pub(crate) fn groups(mut self) -> Vec<Group> {
        let tallies = std::mem::take(&mut self.tallies);
        let mut explained: Vec<(Vec<usize>, Tally)> = Vec::new();
        let mut rest: Vec<(bool, String, Tally)> = Vec::new();
        for (key, tally) in tallies {
            match key {
                Key::Candidates(candidates) => explained.push((candidates, tally)),
                Key::TininessBeforeRounding => rest.push((true, TININESS.to_owned(), tally)),
                Key::Flags { missing, extra } => rest.push((false, flags_text(missing, extra), tally)),
                Key::OneUlp => rest.push((false, ONE_ULP.to_owned(), tally)),
                Key::Unknown => rest.push((false, UNKNOWN.to_owned(), tally)),
            }
        }
        let search =
            Search { preference: Preference::FewestDeviations, max_groups: usize::MAX, falls_back_to_any_nan: false };
        let mut matcher = Tallies { failures: &self, tallies: &explained, contradicted: HashMap::new() };
        let found = cover(&self.candidates, explained.len(), search, &mut matcher);
        let mut groups = Vec::with_capacity(found.groups.len() + rest.len());
        for group in found.groups {
            let candidate = group.candidates[0];
            let taken = || group.elements.iter().map(|&at| &explained[at].1);
            let Some(first) = taken().map(|tally| &tally.first).min_by_key(|first| first.row) else { continue };
            let (contradicted, sampled) = self.contradicted(candidate);
            groups.push(Group {
                explained: true,
                cause: self.text(candidate),
                count: taken().map(|tally| tally.count).sum(),
                contradicted,
                sampled,
                first: first.clone(),
            });
        }
        rest.sort_by_key(|(explained, text, tally)| {
            (!explained, text == UNKNOWN, std::cmp::Reverse(tally.count), tally.first.row)
        });
        let group = |(explained, cause, tally): (bool, String, Tally)| Group {
            explained,
            cause,
            count: tally.count,
            contradicted: 0,
            sampled: 0,
            first: tally.first,
        };
        groups.extend(rest.into_iter().map(group));
        groups
    }
}

/// The failures that the same candidates explain, each an element of the cover.
struct Tallies<'a> {
    failures: &'a Failures,
    tallies: &'a [(Vec<usize>, Tally)],
    /// How many passing vectors contradict a candidate, where that was asked.
    contradicted: HashMap<usize, u64>,
}

impl Matcher for Tallies<'_> {
    fn matches(&mut self, candidate: usize, elements: &[usize], _nan: NanMatch) -> Vec<bool> {
        elements.iter().map(|&at| self.tallies[at].0.binary_search(&candidate).is_ok()).collect()
    }
    fn weight(&self, element: usize) -> u64 {
        self.tallies[element].1.count
    }
    fn contradictions(&mut self, candidate: usize) -> u64 {
        *self.contradicted.entry(candidate).or_insert_with(|| self.failures.contradicted(candidate).0)
    }
}

const TININESS: &str = "flags of tininess detected before rounding";
const ONE_ULP: &str = "one unit in the last place beside the expected result; nothing known explains it";
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
