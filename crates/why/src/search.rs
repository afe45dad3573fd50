//! The search: the evaluations of an expression, the most plausible first, and which of them give an observed value.

mod plans;

use std::cell::{Cell, OnceCell};
use std::num::NonZeroUsize;

use roundonce_arith::{Format, Profile};
use roundonce_deviate::cover::{is_subset, minimal};
use roundonce_deviate::{Allowed, Deviation, FactorRounding, Plausibility, Typed, plausibility};
use roundonce_isa::grouped;

use crate::accuracy::ALL_DOCUMENTS;
use crate::accurate::{has_narrow_factors, is_merely_accurate, is_sum_of_products};
use crate::approximate::MAX_APPROXIMATIONS;
use crate::chance::Neighbourhood;
use crate::evaluation::{Evaluation, has_wider_type, is_same_fused};
use crate::expr::Expr;
use crate::observed::{Agreement, ObservedValue};
use crate::whole::nearby;

pub(crate) use plans::Plans;

/// What a search may do beyond the usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Sums may be taken in any order.
    pub reassociate: bool,
    /// Of arrays: one NaN is as good as another.
    pub any_nan: bool,
    /// The unusual modes that may be causes.
    pub allow: Allowed,
    /// The [toolchain](crate::toolchain) whose options are advised; of all, if there is none.
    pub toolchain: Option<&'static str>,
    /// Less plausible evaluations are named in text too.
    pub verbose: bool,
    /// Of arrays: how many threads compare; one a core without it.
    pub threads: Option<NonZeroUsize>,
}

/// More plans than this are not enumerated: of a large expression, some contractions and orders are left out.
pub const MAX_PLANS: usize = 4096;

/// An evaluation that gives an observed value.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The evaluation.
    pub evaluation: Evaluation,
    /// Its result.
    pub result: Typed,
    /// How it deviates from the expression as written; empty for the expression as written.
    pub deviations: Vec<Deviation>,
}

/// An evaluation carried out.
struct Candidate {
    evaluation: Evaluation,
    result: Typed,
    /// What is said of it where it explains something: few of many do.
    explanation: OnceCell<Explanation>,
}

/// What gives an observed value.
#[derive(Clone, Debug)]
pub struct Found<'c> {
    /// The simplest evaluations of the most plausible class that has any: those of which no other, with some of the same
    /// deviations and no more, gives it too. Simplest first.
    pub explanations: Vec<&'c Explanation>,
    /// The simplest of the next class that has any: not a cause.
    pub less_plausible: Option<&'c Explanation>,
    /// Where there is no explanation: the simplest that is arithmetically possible, and no cause.
    pub also_possible: Option<&'c Explanation>,
    /// Which values near to it evaluations as plausible as the explanations give; any cause, if there is none.
    pub nearby: Neighbourhood,
    /// Whether the most plausible and simplest evaluation of all has the value seen only to the digits seen.
    pub is_by_digits: bool,
    /// The explanation says no more than that the value is accurate.
    pub is_merely_accurate: bool,
    /// The explanation rounds factors as products of matrices do, and may be one by accident.
    pub is_merely_narrow: bool,
}

impl Found<'_> {
    /// Whether what was found says little: it may be an accident, or have the value seen only to the digits seen, or a
    /// function gives one of several values that its documents allow.
    pub(crate) fn is_weak(&self) -> bool {
        let is_approximated = |found: &&Explanation| class(found) == Plausibility::Approximated;
        self.is_by_digits
            || self.is_merely_accurate
            || self.is_merely_narrow
            || self.nearby.is_weak()
            || self.explanations.first().is_some_and(is_approximated)
    }
}

/// One step of the search: evaluations of one class, those in the usual modes before those in rare ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tier {
    Usual(Plausibility),
    Rare(Plausibility),
    /// What is no cause.
    Possible,
}

impl Tier {
    /// Every step, in order.
    pub(crate) const ALL: [Tier; 12] = {
        use Plausibility::{Approximated, OtherOrder, PartialContraction, Replaced, Uniform, Unusual};
        [
            Tier::Usual(Uniform),
            Tier::Rare(Uniform),
            Tier::Usual(Replaced),
            Tier::Rare(Replaced),
            Tier::Usual(PartialContraction),
            Tier::Rare(PartialContraction),
            Tier::Usual(OtherOrder),
            Tier::Rare(OtherOrder),
            Tier::Usual(Approximated),
            Tier::Usual(Unusual),
            Tier::Rare(Unusual),
            Tier::Possible,
        ]
    };

    const fn class(self) -> Plausibility {
        match self {
            Tier::Usual(class) | Tier::Rare(class) => class,
            Tier::Possible => Plausibility::Unusual,
        }
    }
}

/// The evaluations of an expression, carried out as far as they are asked for.
pub struct CandidateSet {
    plans: Plans,
    profile: Profile,
    tiers: [OnceCell<Vec<Candidate>>; Tier::ALL.len()],
    /// Not every value that documents allow was tried.
    leaves_approximations_out: Cell<bool>,
    /// The expression is what an element of a product of matrices is.
    pub(crate) is_sum_of_products: bool,
}

impl CandidateSet {
    /// The evaluations of an expression.
    pub fn of(expr: &Expr, options: Options, profile: &Profile) -> CandidateSet {
        CandidateSet {
            plans: Plans::of(expr, options),
            profile: *profile,
            tiers: Default::default(),
            leaves_approximations_out: Cell::new(false),
            is_sum_of_products: is_sum_of_products(expr),
        }
    }

    fn tier(&self, index: usize) -> &[Candidate] {
        self.tiers[index].get_or_init(|| {
            let tier = Tier::ALL[index];
            let candidate = |evaluation| Candidate::of(evaluation, &self.profile);
            if tier == Tier::Usual(Plausibility::Approximated) {
                let each = self.plans.approximable().map(|whole| whole.approximations(ALL_DOCUMENTS, &self.profile));
                let count = |all: &Vec<_>| {
                    let left_out = all.len() >= MAX_APPROXIMATIONS;
                    self.leaves_approximations_out.set(self.leaves_approximations_out.get() || left_out);
                };
                return each.inspect(count).flatten().map(|(evaluation, _)| candidate(evaluation)).collect();
            }
            self.plans.evaluations(tier).map(candidate).collect()
        })
    }

    /// The type of the result.
    pub fn format(&self) -> Format {
        self.as_written().evaluation.plan.format()
    }

    /// Every evaluation that may be a cause, the most plausible class first.
    pub fn offered(&self) -> impl Iterator<Item = &Explanation> {
        let is_cause = |index: &usize| Tier::ALL[*index] != Tier::Possible;
        (0..Tier::ALL.len()).filter(is_cause).flat_map(|index| self.tier(index)).map(Candidate::explanation)
    }

    /// The simplest evaluations of a step that give an observed value, those that it names before those that have its
    /// digits, and of these the simplest first. Of what has its digits, none that is the same as an earlier one and more.
    fn explaining(&self, tier: usize, observed: &ObservedValue) -> Vec<&Explanation> {
        // What was seen in the result's own type was rounded to it.
        let is_typed = observed.is_typed(self.format());
        let gives = self.tier(tier).iter().filter_map(|it| {
            let agreement = match it.evaluation.unheld_integer(it.result) {
                Some(digits) => (observed.text == digits).then_some(Agreement::Named)?,
                None => observed.agreement(it.result, &it.evaluation.model())?,
            };
            let may_be_it = !is_typed || it.result.format == self.format();
            may_be_it.then(|| (agreement, it.explanation(), digest(&it.evaluation, &self.profile)))
        });
        let mut found: Vec<(Agreement, &Explanation, u64)> = gives.collect();
        found.sort_by_key(|(agreement, it, _)| (*agreement, it.deviations.len(), &it.deviations));
        let found = minimal(found, |(_, simpler, one), (_, other, another)| {
            let is_more = is_subset(&simpler.deviations, &other.deviations);
            one == another || is_more && !is_same_fused(&simpler.deviations, &other.deviations)
        });
        let mut found: Vec<&Explanation> = found.into_iter().map(|(_, it, _)| it).collect();
        // What gives any NaN says less than what gives this one.
        let is_any_nan = |it: &&Explanation| it.deviations.contains(&Deviation::OtherNan);
        if !found.iter().all(is_any_nan) {
            found.retain(|it| !is_any_nan(it));
        }
        found
    }

    /// The same without narrow factors where no matrices are multiplied: the first of these are left to the end of the search.
    fn explaining_widely<'c>(
        &'c self,
        tier: usize,
        observed: &ObservedValue,
        narrow: &mut Vec<&'c Explanation>,
    ) -> Vec<&'c Explanation> {
        let mut found = self.explaining(tier, observed);
        if !self.is_sum_of_products {
            let (others, rest) = found.into_iter().partition(|it| has_narrow_factors(it));
            found = rest;
            if narrow.is_empty() {
                *narrow = others;
            }
        }
        found
    }

    /// What gives an observed value.
    pub fn explain(&self, observed: &ObservedValue) -> Found<'_> {
        let mut found = Found {
            explanations: Vec::new(),
            less_plausible: None,
            also_possible: None,
            nearby: Neighbourhood::of([]),
            is_by_digits: false,
            is_merely_accurate: false,
            is_merely_narrow: false,
        };
        let mut narrow: Vec<&Explanation> = Vec::new();
        let is_named = |it: &&Explanation| observed.digits_of(it).is_none();
        let is_by_digits = |found: &[&Explanation]| {
            found.iter().min_by_key(|it| (it.deviations.len(), &it.deviations)).is_some_and(|it| !is_named(it))
        };
        // Of what has the value's digits alone, nothing is a cause beside what names it.
        let is_wider_alone = |found: &[&Explanation]| {
            let has_named = found.iter().any(is_named);
            found.iter().filter(|it| is_named(it) || !has_named).all(is_wider)
        };
        let mut tried = Tier::ALL.len() - 1;
        for (index, tier) in Tier::ALL.into_iter().enumerate() {
            if tier == Tier::Usual(Plausibility::Approximated) && found.explanations.is_empty() {
                found.explanations = core::mem::take(&mut narrow);
                found.is_by_digits = is_by_digits(&found.explanations);
                tried = if found.explanations.is_empty() { tried } else { index };
            }
            let class_is_over = found.explanations.first().is_some_and(|first| class(first) < tier.class());
            if tier == Tier::Possible {
                if found.explanations.is_empty() {
                    found.also_possible = self.explaining_widely(index, observed, &mut narrow).into_iter().next();
                }
            } else if found.explanations.is_empty() {
                found.explanations = self.explaining_widely(index, observed, &mut narrow);
                if tier == Tier::Usual(Plausibility::Approximated) && observed.is_cut_from(self.as_written().result) {
                    found.explanations.retain(is_named);
                }
                found.is_by_digits = is_by_digits(&found.explanations);
                tried = if found.explanations.is_empty() { tried } else { index + 1 };
            } else if tier == Tier::Usual(Plausibility::OtherOrder) && is_wider_alone(&found.explanations) {
                // Where other orders are asked for, one is as good a cause as a wider type.
                let has_named = found.explanations.iter().any(is_named);
                let mut orders = self.explaining_widely(index, observed, &mut narrow);
                orders.retain(|order| !is_wider(order) && (is_named(order) || !has_named));
                if !orders.is_empty() {
                    (tried, found.is_by_digits) = (index + 1, is_by_digits(&orders));
                }
                found.explanations.splice(0..0, orders);
            } else if tier == Tier::Rare(Plausibility::OtherOrder) && found.explanations.iter().all(is_on_x87) {
                // Of the sums of languages, those in `long double` and compensated ones are as common as each other.
                let is_compensated = |it: &&Explanation| it.deviations == [Deviation::Compensated];
                found.explanations.extend(self.explaining(index, observed).into_iter().filter(is_compensated));
            } else if tier.class() < Plausibility::Approximated && !found.explanations.iter().any(is_named) {
                // What the digits name comes before what is more plausible and has another value.
                let mut named = self.explaining_widely(index, observed, &mut narrow);
                named.retain(is_named);
                tried = if named.is_empty() { tried } else { index + 1 };
                found.explanations.splice(0..0, named);
            } else if class_is_over && found.less_plausible.is_none() && tier.class() < Plausibility::Approximated {
                let digest = |it: &Explanation| digest(&it.evaluation, &self.profile);
                let known: Vec<u64> = found.explanations.iter().map(|it| digest(it)).collect();
                let others = self.explaining_widely(index, observed, &mut narrow);
                found.less_plausible = others.into_iter().find(|it| !known.contains(&digest(it)));
            }
        }
        found.explanations.sort_by_key(|it| !is_named(it));
        let first = found.explanations.first();
        found.is_merely_accurate =
            first.is_some_and(|first| is_merely_accurate(first, self.as_written(), &self.profile));
        found.is_merely_narrow = first.is_some_and(|first| {
            let is_zero = first.result.format.is_zero(first.result.bits);
            has_narrow_factors(first) && (!self.is_sum_of_products || is_zero)
        });
        found.nearby = nearby(self, found.explanations.first().copied(), tried, observed, &self.profile);
        found
    }

    /// The evaluations of the first steps, and their results.
    pub(crate) fn tried(&self, steps: usize) -> impl Iterator<Item = (&Evaluation, Typed)> {
        (0..steps).flat_map(|index| self.tier(index)).map(|it| (&it.evaluation, it.result))
    }

    /// Of the evaluations carried out so far that may be causes, the one whose result lies nearest to the bits, and how
    /// many ulps away.
    pub fn nearest(&self, format: Format, bits: u64) -> Option<(&Explanation, u64)> {
        let near = Tier::ALL
            .iter()
            .zip(&self.tiers)
            .filter(|(tier, _)| **tier != Tier::Possible)
            .filter_map(|(_, candidates)| candidates.get())
            .flatten()
            .filter(|candidate| candidate.result.format == format)
            .filter_map(|candidate| Some((candidate, ulps(format, candidate.result.bits, bits)?)));
        let least = near.clone().map(|(_, distance)| distance).min()?;
        near.filter(|(_, distance)| *distance == least)
            .map(|(candidate, distance)| (candidate.explanation(), distance))
            .min_by_key(|(explanation, _)| (class(explanation), explanation.deviations.len()))
    }

    /// The expression as written, every operation rounded to nearest even.
    pub fn as_written(&self) -> &Explanation {
        self.tier(0)[0].explanation()
    }

    /// What was not tried, in sentences.
    pub fn untried(&self) -> Vec<String> {
        let left_out = self.leaves_approximations_out.get().then(|| {
            format!(
                "of the values that documents allow the functions, {} combinations of each plan were tried",
                grouped(MAX_APPROXIMATIONS as u64)
            )
        });
        self.plans.untried.iter().cloned().chain(left_out).collect()
    }

    /// How many evaluations were compared so far.
    pub fn len(&self) -> usize {
        self.tiers.iter().filter_map(OnceCell::get).map(Vec::len).sum()
    }
    /// Never: there is always the expression as written.
    pub fn is_empty(&self) -> bool {
        self.tier(0).is_empty()
    }
}

/// Whether a wider type is among what it does otherwise.
fn is_wider(explanation: &&Explanation) -> bool {
    has_wider_type(&explanation.deviations)
}

fn is_on_x87(explanation: &&Explanation) -> bool {
    explanation.evaluation.on_x87().is_some()
}

fn class(explanation: &Explanation) -> Plausibility {
    plausibility(&explanation.deviations)
}

impl Candidate {
    fn of(evaluation: Evaluation, profile: &Profile) -> Candidate {
        Candidate { result: evaluation.result(profile), evaluation, explanation: OnceCell::new() }
    }

    fn explanation(&self) -> &Explanation {
        self.explanation.get_or_init(|| Explanation {
            evaluation: self.evaluation.clone(),
            result: self.result,
            deviations: self.evaluation.deviations(),
        })
    }
}

/// A digest of what an evaluation computes: two that carry out the same operations on the same values are one evaluation,
/// whatever they are called.
fn digest(evaluation: &Evaluation, profile: &Profile) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    for step in evaluation.trace(profile).1 {
        (step.operation, step.call, step.bits, step.result).hash(&mut hasher);
        // What a TF32 and an f16 hold alike are two causes.
        step.factors.map(FactorRounding::name).hash(&mut hasher);
        // A whole expression of one operation narrows as that operation alone does.
        (step.narrowed.map(|narrowed| narrowed.bits), step.x87).hash(&mut hasher);
    }
    hasher.finish()
}

/// The distance of two numbers in units of the last place, counting from one representable number to the next;
/// `None` if one is a NaN.
///
/// ```
/// use roundonce_arith::Format;
/// assert_eq!(roundonce_why::ulps(Format::F32, 0x8000_0000, 0x0000_0001), Some(1));
/// ```
pub fn ulps(format: Format, a: u64, b: u64) -> Option<u64> {
    if format.is_nan(a) || format.is_nan(b) {
        return None;
    }
    Some((place(format, a) - place(format, b)).unsigned_abs() as u64)
}

/// The place of a number among all of its format; both zeros have the place 0.
pub fn place(format: Format, bits: u64) -> i128 {
    let magnitude = i128::from(bits & format.magnitude_mask());
    if format.is_negative(bits) { -magnitude } else { magnitude }
}

/// The bits at a place; beyond the largest number, infinity.
pub(crate) fn at_place(format: Format, place: i128) -> u64 {
    let magnitude = place.unsigned_abs().min(u128::from(format.infinity())) as u64;
    if place < 0 { magnitude | format.sign_mask() } else { magnitude }
}
