//! The plans that are searched: an expression as written, as compilers contract it, and rewritten or in other orders, with the
//! modes of each.

use std::sync::Arc;

use roundonce_arith::{ArithOp, Format};
use roundonce_deviate::{Allowed, Deviation, ExpressionTraits, ModeSets, Plausibility, for_expressions, plausibility};

use super::{MAX_PLANS, Options, Tier};
use crate::call::Call;
use crate::evaluation::Evaluation;
use crate::expr::Expr;
use crate::plan::{Choices, Fusion, MAX_TERMS, Plan, PlanOp, Reorderings};
use crate::rewrite::rewritings;
use crate::x87;

/// A plan, and the order of its sum, if it is not the written one.
struct OrderedPlan {
    plan: Arc<Plan>,
    order: Option<String>,
    class: Plausibility,
    /// The place of its modes among those of all plans.
    modes: usize,
}

/// The plans of an expression, the one as written first.
pub(crate) struct Plans {
    plans: Vec<OrderedPlan>,
    /// The modes of each kind of plan.
    modes: Vec<(ExpressionTraits, ModeSets)>,
    allow: Allowed,
    /// The sum with its rounding errors added.
    compensated: Option<Plan>,
    /// What was left out, in sentences.
    pub(crate) untried: Vec<String>,
}

impl Plans {
    pub(crate) fn of(expr: &Expr, options: Options) -> Plans {
        let mut plans = Plans {
            plans: Vec::new(),
            modes: Vec::new(),
            allow: options.allow,
            compensated: Plan::compensated(expr),
            untried: Vec::new(),
        };
        let choices = Choices::of(expr);
        plans.add_as_compilers(&choices, Changes::default());
        for (rewritten, other) in rewritings(expr) {
            plans.add_as_compilers(&Choices::of(&other), Changes { order: None, rewritten: &rewritten });
        }
        let products: usize = choices.sums.iter().map(|here| here.len() - 1).sum();
        let (subsets, are_all) = subsets(&choices);
        for fusions in &subsets {
            plans.add(&choices, fusions, Changes::default());
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
            let choices = Choices::of(tree);
            let changes = Changes { order: order.as_deref(), rewritten: &[] };
            self.add_as_compilers(&choices, changes);
            let (subsets, has_all) = subsets(&choices);
            are_all &= has_all && self.plans.len() + subsets.len() <= MAX_PLANS;
            if are_all {
                for fusions in &subsets {
                    self.add(&choices, fusions, changes);
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
    fn add_as_compilers(&mut self, choices: &Choices<'_>, changes: Changes<'_>) {
        self.add(choices, &[], changes);
        let compilers = choices.compilers();
        if compilers.iter().any(|fusion| *fusion != Fusion::None) {
            self.add(choices, &compilers, changes);
        }
    }

    /// The plan of an expression with some fusions, and the same with every explicit fma split.
    fn add(&mut self, choices: &Choices<'_>, fusions: &[Fusion], Changes { order, rewritten }: Changes<'_>) {
        for splits_fma in [false, true] {
            let plan = Plan { rewritten: rewritten.to_vec(), ..choices.plan(fusions, splits_fma) };
            // The fma of what is multiplied out is not in the expression.
            if splits_fma && (plan.split == 0 || rewritten.contains(&Deviation::MultipliedOut)) {
                continue;
            }
            let evaluation = Evaluation { order: order.map(str::to_owned), ..Evaluation::plain(plan) };
            let class = evaluation.plausibility();
            let Evaluation { plan, order, .. } = evaluation;
            let traits = traits(&plan);
            let known = self.modes.iter().position(|(known, _)| *known == traits);
            let modes = known.unwrap_or_else(|| {
                let modes = for_expressions(&traits);
                self.modes.push((traits, modes));
                self.modes.len() - 1
            });
            self.plans.push(OrderedPlan { plan, order, class, modes });
        }
    }

    /// The evaluations whose functions may give other values than the correctly rounded ones: plans as compilers make them,
    /// as written and with subnormals flushed.
    pub(crate) fn approximable(&self) -> impl Iterator<Item = Evaluation> {
        let plans = self.plans.iter().filter(|plan| plan.class <= Plausibility::Replaced && plan.order.is_none());
        plans.flat_map(move |plan| {
            let flush = self.modes[plan.modes].0.flush().map(|flush| vec![flush]);
            let modes = [Some(Vec::new()), flush].into_iter().flatten();
            modes.map(move |modes| Evaluation { modes, ..Evaluation::plain(plan.plan.clone()) })
        })
    }

    /// The same of expressions of 16 bits whose functions are computed in f32, as libraries have them, by each way of doing so.
    pub(crate) fn approximable_in_f32(&self) -> [Vec<Evaluation>; 2] {
        [Deviation::WideWhole(Format::F32), Deviation::WideEachOperation(Format::F32)].map(|mode| {
            let is_narrow = |it: &Evaluation| it.modes.is_empty() && it.plan.format().width() == 16;
            self.approximable().filter(is_narrow).map(|it| Evaluation { modes: vec![mode.clone()], ..it }).collect()
        })
    }

    /// The evaluations of one step of the search.
    pub(crate) fn evaluations(&self, tier: Tier) -> impl Iterator<Item = Evaluation> {
        let is_asked = tier == Tier::Rare(Plausibility::OtherOrder);
        let compensated = self.compensated.iter().filter(move |_| is_asked).cloned().map(Evaluation::plain);
        let plans = self.plans.iter();
        plans.flat_map(move |plan| plan.evaluations(tier, self.allow, &self.modes[plan.modes].1)).chain(compensated)
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
fn subsets(choices: &Choices<'_>) -> (Vec<Vec<Fusion>>, bool) {
    let (sums, compilers) = (&choices.sums, choices.compilers());
    let count = sums.iter().map(Vec::len).try_fold(1usize, usize::checked_mul);
    if let Some(count) = count.filter(|count| *count <= MAX_PLANS) {
        let others = (1..count).map(|index| pick(sums, index)).filter(|fusions| *fusions != compilers);
        return (others.collect(), true);
    }
    let mut subsets = Vec::new();
    for (at, here) in sums.iter().enumerate() {
        for fusion in here.iter().filter(|fusion| **fusion != Fusion::None) {
            let mut one = vec![Fusion::None; sums.len()];
            one[at] = *fusion;
            subsets.push(one);
        }
        let mut but_one = compilers.clone();
        but_one[at] = Fusion::None;
        subsets.push(but_one);
    }
    subsets.retain(|fusions| *fusions != compilers);
    (subsets, false)
}

fn is_to_integer(op: &PlanOp) -> bool {
    matches!(op.call(), Some(Call::ToInteger(_)))
}

fn traits(plan: &Plan) -> ExpressionTraits {
    let mut formats: Vec<Format> = Vec::new();
    // What holds an integer is no operation's type.
    for op in plan.ops.iter().filter(|op| !is_to_integer(op)) {
        if !formats.contains(&op.format) {
            formats.push(op.format);
        }
    }
    ExpressionTraits {
        format: plan
            .ops
            .last()
            .filter(|op| is_to_integer(op))
            .map_or(plan.format(), |op| plan.format_of(op.operands[0])),
        formats,
        is_contracted: !plan.fused.is_empty(),
        has_product: plan.ops.iter().any(|op| matches!(op.arith(), Some(ArithOp::Mul | ArithOp::MulAdd))),
        only: match plan.ops.as_slice() {
            [op] => op.arith(),
            _ => None,
        },
        fits_x87: !plan.ops.is_empty() && plan.ops.iter().all(x87::has),
        narrowed_to: plan.ops.iter().filter(|op| plan.is_narrowing(op)).map(|op| op.format).collect(),
    }
}

impl OrderedPlan {
    /// Its evaluations that belong to a step of the search. What is no cause is tried of plans that compilers make.
    fn evaluations(&self, tier: Tier, allow: Allowed, sets: &ModeSets) -> Vec<Evaluation> {
        let is_compilers = self.class <= Plausibility::Replaced;
        let has_any = match tier {
            Tier::Possible => is_compilers,
            // Modes of one class are tried of plans of a better one.
            _ => match tier.class() {
                Plausibility::Replaced => is_compilers,
                class => self.class == class || class == Plausibility::Unusual,
            },
        };
        if !has_any {
            return Vec::new();
        }
        let is_in_tier = |modes: &&Vec<Deviation>| {
            let class = plausibility(modes).max(self.class);
            let is_cause = allow.is_cause(modes);
            if tier == Tier::Possible { !is_cause } else { is_cause && class == tier.class() }
        };
        let ModeSets { usual, rare, hypothetical } = sets;
        let is_anything = allow == Allowed::ANYTHING;
        let of = |modes: &'_ [Vec<Deviation>]| modes.iter().filter(is_in_tier).cloned().collect::<Vec<_>>();
        let modes: Vec<Vec<Deviation>> = match tier {
            Tier::Usual(_) => of(usual),
            Tier::Rare(Plausibility::Unusual) if is_anything => [of(rare), hypothetical.clone()].concat(),
            Tier::Rare(_) => of(rare),
            Tier::Possible if is_anything => Vec::new(),
            Tier::Possible => [of(usual), of(rare), hypothetical.clone()].concat(),
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
fn pick(choices: &[Vec<Fusion>], mut index: usize) -> Vec<Fusion> {
    let mut picked = Vec::with_capacity(choices.len());
    for choice in choices {
        picked.push(choice[index % choice.len()]);
        index /= choice.len();
    }
    picked
}
