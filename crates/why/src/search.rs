//! The search: every evaluation of an expression, and which of them give an observed value.

use std::cell::OnceCell;

use roundonce_arith::{Format, Profile};
use roundonce_deviate::cover::{is_subset, minimal};
use roundonce_deviate::{Deviation, ExpressionTraits, Typed, for_expressions, rare_for_expressions};

use crate::evaluation::{Evaluation, Step};
use crate::expr::Expr;
use crate::observed::ObservedValue;
use crate::plan::{Fusion, Plan, fusion_choices, reorderings};

/// What a search may do beyond the usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Sums may be taken in any order.
    pub reassociate: bool,
    /// Of arrays: one NaN is as good as another.
    pub any_nan: bool,
}

/// More evaluations than this are not enumerated: the question is too large for one answer.
pub const MAX_EVALUATIONS: usize = 500_000;

/// At most so many evaluations has one plan.
const MAX_MODES: usize = 100;

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

/// An evaluation carried out, and a digest of what it computes: two that carry out the same operations on the same
/// values are one evaluation, whatever they are called.
struct Candidate {
    explanation: Explanation,
    digest: u64,
}

/// The evaluations of an expression: those of its plans in every mode that machines have, and, where none of these
/// explains a value, those with [rare](rare_for_expressions) deviations.
pub struct CandidateSet {
    plans: Vec<OrderedPlan>,
    profile: Profile,
    usual: Vec<Candidate>,
    rare: OnceCell<Vec<Candidate>>,
}

/// A plan, and the order of its sum, if it is not the written one.
pub(crate) struct OrderedPlan {
    plan: Plan,
    order: Option<String>,
}

impl CandidateSet {
    /// Every evaluation in the usual modes, carried out.
    ///
    /// # Errors
    /// If there are more than [`MAX_EVALUATIONS`].
    pub fn of(expr: &Expr, options: Options, profile: &Profile) -> Result<CandidateSet, String> {
        let plans = plans(expr, options)?;
        let usual = evaluations(&plans).into_iter().map(|evaluation| Candidate::of(evaluation, profile)).collect();
        Ok(CandidateSet { plans, profile: *profile, usual, rare: OnceCell::new() })
    }

    fn rare(&self) -> &[Candidate] {
        self.rare.get_or_init(|| {
            let evaluations = rare_evaluations(&self.plans).into_iter();
            evaluations.map(|evaluation| Candidate::of(evaluation, &self.profile)).collect()
        })
    }

    /// The type of the result.
    pub fn format(&self) -> Format {
        self.as_written().evaluation.plan.format()
    }

    /// The simplest evaluations that give an observed value: those of which no other, with some of the same deviations
    /// and no more, gives it too. Simplest first. Rare deviations are considered where nothing else gives it.
    pub fn explain(&self, observed: &ObservedValue) -> Vec<&Explanation> {
        let usual = explaining(&self.usual, observed);
        if usual.is_empty() { explaining(self.rare(), observed) } else { usual }
    }

    /// The evaluation in a usual mode whose result lies nearest to the bits, and how many ulps away.
    pub fn nearest(&self, format: Format, bits: u64) -> Option<(&Explanation, u64)> {
        self.usual
            .iter()
            .map(|candidate| &candidate.explanation)
            .filter(|explanation| explanation.result.format == format)
            .filter_map(|explanation| Some((explanation, ulps(format, explanation.result.bits, bits)?)))
            .min_by_key(|(explanation, distance)| (*distance, explanation.deviations.len()))
    }

    /// The expression as written, every operation rounded to nearest even.
    pub fn as_written(&self) -> &Explanation {
        &self.usual[0].explanation
    }

    /// How many evaluations were compared so far.
    pub fn len(&self) -> usize {
        self.usual.len() + self.rare.get().map_or(0, Vec::len)
    }
    /// Never: there is always the expression as written.
    pub fn is_empty(&self) -> bool {
        self.usual.is_empty()
    }
}

/// The simplest of some evaluations that give an observed value, simplest first.
fn explaining<'c>(candidates: &'c [Candidate], observed: &ObservedValue) -> Vec<&'c Explanation> {
    let gives = |candidate: &&Candidate| {
        let Explanation { evaluation, result, .. } = &candidate.explanation;
        observed.matches(*result, &evaluation.model())
    };
    let mut found: Vec<&Candidate> = candidates.iter().filter(gives).collect();
    found.sort_by_key(|candidate| (candidate.explanation.deviations.len(), &candidate.explanation.deviations));
    let found = minimal(found, |simpler, other| {
        simpler.digest == other.digest || is_subset(&simpler.explanation.deviations, &other.explanation.deviations)
    });
    found.into_iter().map(|candidate| &candidate.explanation).collect()
}

/// The plans of an expression, the one as written first.
///
/// # Errors
/// If they have more than [`MAX_EVALUATIONS`].
pub(crate) fn plans(expr: &Expr, options: Options) -> Result<Vec<OrderedPlan>, String> {
    let mut plans: Vec<OrderedPlan> = Vec::new();
    let mut total = 0usize;
    for (order, ordered) in orders(expr, options) {
        let choices = fusion_choices(&ordered);
        let count = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX);
        if count.saturating_mul(MAX_MODES).saturating_add(total) > MAX_EVALUATIONS {
            return Err(format!("the expression has more than {MAX_EVALUATIONS} evaluations: ask about a part of it"));
        }
        for index in 0..count {
            let fusions = pick(&choices, index);
            for splits_fma in [false, true] {
                let plan = Plan::build(&ordered, &fusions, splits_fma);
                if splits_fma && plan.split == 0 {
                    continue;
                }
                let plan = OrderedPlan { plan, order: order.clone() };
                total += for_expressions(&plan.traits()).len();
                plans.push(plan);
            }
        }
    }
    Ok(plans)
}

/// Every plan in every mode that machines have, the expression as written first.
pub(crate) fn evaluations(plans: &[OrderedPlan]) -> Vec<Evaluation> {
    plans.iter().flat_map(|plan| plan.in_modes(for_expressions(&plan.traits()))).collect()
}

/// Every plan with every rare deviation.
pub(crate) fn rare_evaluations(plans: &[OrderedPlan]) -> Vec<Evaluation> {
    plans.iter().flat_map(|plan| plan.in_modes(rare_for_expressions(&plan.traits()))).collect()
}

impl OrderedPlan {
    fn traits(&self) -> ExpressionTraits {
        let format = self.plan.format();
        ExpressionTraits {
            format,
            is_uniform: self.plan.ops.iter().all(|op| op.format == format),
            is_contracted: !self.plan.fused.is_empty(),
            only: match self.plan.ops.as_slice() {
                [op] => Some(op.kind),
                _ => None,
            },
        }
    }

    fn in_modes(&self, all: Vec<Vec<Deviation>>) -> impl Iterator<Item = Evaluation> {
        let evaluation = |modes| Evaluation { plan: self.plan.clone(), order: self.order.clone(), modes };
        all.into_iter().map(evaluation)
    }
}

fn orders(expr: &Expr, options: Options) -> Vec<(Option<String>, Expr)> {
    let mut orders = vec![(None, expr.clone())];
    if options.reassociate {
        orders.extend(reorderings(expr).into_iter().map(|tree| (Some(parenthesized(&tree)), tree)));
    }
    orders
}

/// A sum with every pair of brackets written.
fn parenthesized(expr: &Expr) -> String {
    match expr {
        Expr::Add(a, b) => format!("({} + {})", parenthesized(a), parenthesized(b)),
        Expr::Sub(a, b) => format!("({} - {})", parenthesized(a), parenthesized(b)),
        other => other.to_string(),
    }
}

/// The `index`th combination of choices.
fn pick(choices: &[Vec<Fusion>], mut index: usize) -> Vec<Fusion> {
    let mut picked = Vec::with_capacity(choices.len());
    for choice in choices {
        picked.push(choice[index % choice.len()]);
        index /= choice.len();
    }
    picked
}

impl Candidate {
    fn of(evaluation: Evaluation, profile: &Profile) -> Candidate {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        let result = evaluation.run(profile, |step| {
            (step.operation, step.bits, step.result).hash(&mut hasher);
            // A whole expression of one operation narrows as that operation alone does.
            step.narrowed.map(|narrowed| narrowed.bits).hash(&mut hasher);
        });
        let deviations = evaluation.deviations();
        Candidate { explanation: Explanation { evaluation, result, deviations }, digest: hasher.finish() }
    }
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
    let place = |bits: u64| {
        let magnitude = (bits & format.magnitude_mask()) as i64;
        i128::from(if format.is_negative(bits) { -magnitude } else { magnitude })
    };
    Some((place(a) - place(b)).unsigned_abs() as u64)
}

/// The first operation of each of two evaluations that the other does not carry out with the same result.
pub fn first_difference<'s>(one: &'s [Step], other: &'s [Step]) -> Option<(&'s Step, &'s Step)> {
    let same = |a: &Step, b: &Step| {
        a.operation.op == b.operation.op && a.bits == b.bits && a.result == b.result && a.narrowed == b.narrowed
    };
    let first_unshared =
        |steps: &'s [Step], others: &[Step]| steps.iter().find(|step| !others.iter().any(|other| same(step, other)));
    first_unshared(one, other).zip(first_unshared(other, one))
}
