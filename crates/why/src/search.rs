//! The search: the evaluations of an expression, the most plausible first, and which of them give an observed value.

use std::cell::OnceCell;

use roundonce_arith::{Format, Profile};
use roundonce_deviate::cover::{is_subset, minimal};
use roundonce_deviate::{
    Allowed, Deviation, ExpressionTraits, ModeSets, Plausibility, Typed, for_expressions, plausibility,
};

use crate::chance::Neighbourhood;
use crate::evaluation::{Evaluation, Step};
use crate::expr::Expr;
use crate::observed::ObservedValue;
use crate::plan::{Fusion, Fusions, MAX_TERMS, Plan, Reorderings, compilers_choice, fusion_choices};
use crate::rewrite::rewritings;

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

/// An evaluation carried out, and a digest of what it computes: two that carry out the same operations on the same
/// values are one evaluation, whatever they are called.
struct Candidate {
    explanation: Explanation,
    digest: u64,
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
}

impl Found<'_> {
    /// Whether what was found says little: it may be an accident, or a function gives one of several values that its
    /// documents allow.
    pub(crate) fn is_weak(&self) -> bool {
        let is_approximated = |found: &&Explanation| class(found) == Plausibility::Approximated;
        self.nearby.is_weak() || self.explanations.first().is_some_and(is_approximated)
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
}

impl CandidateSet {
    /// The evaluations of an expression.
    pub fn of(expr: &Expr, options: Options, profile: &Profile) -> CandidateSet {
        CandidateSet { plans: Plans::of(expr, options), profile: *profile, tiers: Default::default() }
    }

    fn tier(&self, index: usize) -> &[Candidate] {
        self.tiers[index].get_or_init(|| {
            let tier = Tier::ALL[index];
            let candidate = |evaluation| Candidate::of(evaluation, &self.profile);
            if tier == Tier::Usual(Plausibility::Approximated) {
                return self.plans.approximated(&self.profile).map(candidate).collect();
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
        (0..Tier::ALL.len()).filter(is_cause).flat_map(|index| self.tier(index)).map(|it| &it.explanation)
    }

    /// What gives an observed value.
    pub fn explain(&self, observed: &ObservedValue) -> Found<'_> {
        let mut found = Found {
            explanations: Vec::new(),
            less_plausible: None,
            also_possible: None,
            nearby: Neighbourhood::of([]),
        };
        let mut tried = Tier::ALL.len() - 1;
        for (index, tier) in Tier::ALL.into_iter().enumerate() {
            let class_is_over = found.explanations.first().is_some_and(|first| class(first) < tier.class());
            if tier == Tier::Possible {
                if found.explanations.is_empty() {
                    found.also_possible = explaining(self.tier(index), observed).into_iter().next();
                }
            } else if found.explanations.is_empty() {
                found.explanations = explaining(self.tier(index), observed);
                tried = if found.explanations.is_empty() { tried } else { index + 1 };
            } else if class_is_over && found.less_plausible.is_none() && tier.class() != Plausibility::Unusual {
                found.less_plausible = explaining(self.tier(index), observed).into_iter().next();
            }
        }
        let scale = observed.scale(self.format());
        let results = (0..tried).flat_map(|index| self.tier(index)).map(|it| it.explanation.result);
        let itself = (!found.explanations.is_empty()).then_some(0);
        let others = results.filter_map(|result| scale.distance(result)).filter(|distance| *distance != 0);
        let is_any_nan = |found: &&Explanation| found.deviations.contains(&Deviation::OtherNan);
        found.nearby = match found.explanations.first() {
            Some(first) if is_any_nan(first) => Neighbourhood::ALL,
            _ => Neighbourhood::of(others.chain(itself)),
        };
        found
    }

    /// Of the evaluations carried out so far that may be causes, the one whose result lies nearest to the bits, and how
    /// many ulps away.
    pub fn nearest(&self, format: Format, bits: u64) -> Option<(&Explanation, u64)> {
        Tier::ALL
            .iter()
            .zip(&self.tiers)
            .filter(|(tier, _)| **tier != Tier::Possible)
            .filter_map(|(_, candidates)| candidates.get())
            .flatten()
            .map(|candidate| &candidate.explanation)
            .filter(|explanation| explanation.result.format == format)
            .filter_map(|explanation| Some((explanation, ulps(format, explanation.result.bits, bits)?)))
            .min_by_key(|(explanation, distance)| (*distance, class(explanation), explanation.deviations.len()))
    }

    /// The expression as written, every operation rounded to nearest even.
    pub fn as_written(&self) -> &Explanation {
        &self.tier(0)[0].explanation
    }

    /// What was not tried, in sentences.
    pub fn untried(&self) -> &[String] {
        &self.plans.untried
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

fn class(explanation: &Explanation) -> Plausibility {
    plausibility(&explanation.deviations)
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

/// A plan, and the order of its sum, if it is not the written one.
struct OrderedPlan {
    plan: Plan,
    order: Option<String>,
    class: Plausibility,
}

/// The plans of an expression, the one as written first.
pub(crate) struct Plans {
    plans: Vec<OrderedPlan>,
    allow: Allowed,
    /// What was left out, in sentences.
    pub(crate) untried: Vec<String>,
}

impl Plans {
    pub(crate) fn of(expr: &Expr, options: Options) -> Plans {
        let mut plans = Plans { plans: Vec::new(), allow: options.allow, untried: Vec::new() };
        let choices = fusion_choices(expr);
        let compilers = compilers_choice(&choices);
        plans.add_as_compilers(expr, &compilers, Changes::default());
        for (rewritten, other) in rewritings(expr) {
            let compilers = compilers_choice(&fusion_choices(&other));
            plans.add_as_compilers(&other, &compilers, Changes { order: None, rewritten: &rewritten });
        }
        let products: usize = choices.iter().map(|(_, here)| here.len() - 1).sum();
        let (subsets, are_all) = subsets(&choices);
        for fusions in subsets.iter().filter(|fusions| **fusions != compilers) {
            plans.add(expr, fusions, Changes::default());
        }
        if !are_all {
            plans.untried.push(format!(
                "of {products} products that can be fused, partial contractions were tried of one product, and of all \
                 but one; the others were not tried"
            ));
        }
        if options.reassociate {
            plans.add_orders(expr);
        }
        plans
    }

    /// The expression in other orders, contracted or not.
    fn add_orders(&mut self, expr: &Expr) {
        let orders = Reorderings::of(expr);
        let mut are_all = true;
        for tree in &orders.trees {
            let order = Some(parenthesized(tree));
            let choices = fusion_choices(tree);
            let compilers = compilers_choice(&choices);
            let changes = Changes { order: order.as_deref(), rewritten: &[] };
            self.add_as_compilers(tree, &compilers, changes);
            let (subsets, has_all) = subsets(&choices);
            are_all &= has_all && self.plans.len() + subsets.len() <= MAX_PLANS;
            if are_all {
                for fusions in subsets.iter().filter(|fusions| **fusions != compilers) {
                    self.add(tree, fusions, changes);
                }
            }
        }
        if orders.is_limited() {
            self.untried.push(format!(
                "the sum has {} terms: other orders were tried from the last to the first and by halves; all of them are \
                 tried of at most {MAX_TERMS} terms",
                orders.terms
            ));
        }
        if !are_all {
            self.untried.push("in other orders, not all partial contractions were tried".to_owned());
        }
    }

    /// The plans of an expression as written and as compilers contract it, if there is something to contract.
    fn add_as_compilers(&mut self, expr: &Expr, compilers: &Fusions, changes: Changes<'_>) {
        self.add(expr, &Fusions::new(), changes);
        if !compilers.is_empty() {
            self.add(expr, compilers, changes);
        }
    }

    /// The plan of an expression with some fusions, and the same with every explicit fma split.
    fn add(&mut self, expr: &Expr, fusions: &Fusions, Changes { order, rewritten }: Changes<'_>) {
        for splits_fma in [false, true] {
            let plan = Plan { rewritten: rewritten.to_vec(), ..Plan::build(expr, fusions, splits_fma) };
            if splits_fma && plan.split == 0 {
                continue;
            }
            let evaluation = Evaluation { order: order.map(str::to_owned), ..Evaluation::plain(plan) };
            let class = evaluation.plausibility();
            let Evaluation { plan, order, .. } = evaluation;
            self.plans.push(OrderedPlan { plan, order, class });
        }
    }

    /// The evaluations in which functions give other values than the correctly rounded ones, of plans as compilers make
    /// them: as written and with subnormals flushed.
    pub(crate) fn approximated(&self, profile: &Profile) -> impl Iterator<Item = Evaluation> {
        let plans = self.plans.iter().filter(|plan| plan.class <= Plausibility::Replaced && plan.order.is_none());
        plans.flat_map(move |plan| {
            let flush = plan.traits().flush().map(|flush| vec![flush]);
            [Some(Vec::new()), flush].into_iter().flatten().flat_map(move |modes| {
                let whole = Evaluation { modes, ..Evaluation::plain(plan.plan.clone()) };
                whole.approximated(profile)
            })
        })
    }

    /// The evaluations of one step of the search.
    pub(crate) fn evaluations(&self, tier: Tier) -> impl Iterator<Item = Evaluation> {
        self.plans.iter().flat_map(move |plan| plan.evaluations(tier, self.allow))
    }
}

/// How a plan's expression differs from the one as written.
#[derive(Clone, Copy, Default)]
struct Changes<'a> {
    /// The order of its sum.
    order: Option<&'a str>,
    /// Its quotients and roots.
    rewritten: &'a [Deviation],
}

/// What may be fused together beside nothing and what compilers choose, and whether that is all there is: of many
/// products one alone, and all but one.
fn subsets(choices: &[(Expr, Vec<Fusion>)]) -> (Vec<Fusions>, bool) {
    let count = choices.iter().map(|(_, here)| here.len()).try_fold(1usize, usize::checked_mul);
    if let Some(count) = count.filter(|count| *count <= MAX_PLANS) {
        return ((1..count).map(|index| pick(choices, index)).collect(), true);
    }
    let compilers = compilers_choice(choices);
    let mut subsets = Vec::new();
    for (sum, here) in choices {
        let fusions = here.iter().filter(|fusion| **fusion != Fusion::None);
        subsets.extend(fusions.map(|fusion| Fusions::from([(sum.clone(), *fusion)])));
        let mut but_one = compilers.clone();
        but_one.remove(sum);
        subsets.push(but_one);
    }
    (subsets, false)
}

impl OrderedPlan {
    fn traits(&self) -> ExpressionTraits {
        let mut formats: Vec<Format> = Vec::new();
        for op in &self.plan.ops {
            if !formats.contains(&op.format) {
                formats.push(op.format);
            }
        }
        ExpressionTraits {
            format: self.plan.format(),
            formats,
            is_contracted: !self.plan.fused.is_empty(),
            only: match self.plan.ops.as_slice() {
                [op] => op.arith(),
                _ => None,
            },
        }
    }

    /// Its evaluations that belong to a step of the search. What is no cause is tried of plans that compilers make.
    fn evaluations(&self, tier: Tier, allow: Allowed) -> Vec<Evaluation> {
        let is_compilers = self.class <= Plausibility::Replaced;
        let has_any = match tier {
            Tier::Possible => is_compilers,
            _ => self.class == tier.class() || tier.class() == Plausibility::Unusual,
        };
        if !has_any {
            return Vec::new();
        }
        let is_in_tier = |modes: &Vec<Deviation>| {
            let class = plausibility(modes).max(self.class);
            let is_cause = allow.is_cause(modes);
            if tier == Tier::Possible { !is_cause } else { is_cause && class == tier.class() }
        };
        let ModeSets { usual, rare, hypothetical } = for_expressions(&self.traits());
        let is_anything = allow == Allowed::ANYTHING;
        let modes: Vec<Vec<Deviation>> = match tier {
            Tier::Usual(_) => usual.into_iter().filter(is_in_tier).collect(),
            Tier::Rare(Plausibility::Unusual) if is_anything => {
                rare.into_iter().filter(is_in_tier).chain(hypothetical).collect()
            }
            Tier::Rare(_) => rare.into_iter().filter(is_in_tier).collect(),
            Tier::Possible if is_anything => Vec::new(),
            Tier::Possible => usual.into_iter().chain(rare).filter(is_in_tier).chain(hypothetical).collect(),
        };
        let evaluation =
            |modes| Evaluation { order: self.order.clone(), modes, ..Evaluation::plain(self.plan.clone()) };
        modes.into_iter().map(evaluation).collect()
    }
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
fn pick(choices: &[(Expr, Vec<Fusion>)], mut index: usize) -> Fusions {
    let mut picked = Fusions::new();
    for (sum, here) in choices {
        let fusion = here[index % here.len()];
        if fusion != Fusion::None {
            picked.insert(sum.clone(), fusion);
        }
        index /= here.len();
    }
    picked
}

impl Candidate {
    fn of(evaluation: Evaluation, profile: &Profile) -> Candidate {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        let result = evaluation.run(profile, |step| {
            (step.operation, step.call, step.bits, step.result).hash(&mut hasher);
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

/// The first operation of each of two evaluations that the other does not carry out with the same result.
pub fn first_difference<'s>(one: &'s [Step], other: &'s [Step]) -> Option<(&'s Step, &'s Step)> {
    let same = |a: &Step, b: &Step| {
        a.operation.op == b.operation.op
            && a.call == b.call
            && a.bits == b.bits
            && a.result == b.result
            && a.narrowed == b.narrowed
    };
    let first_unshared =
        |steps: &'s [Step], others: &[Step]| steps.iter().find(|step| !others.iter().any(|other| same(step, other)));
    first_unshared(one, other).zip(first_unshared(other, one))
}
