//! The search: every evaluation of an expression, and which of them give a seen value.

use roundonce_arith::{Format, Profile, Rounding};

use crate::expr::{Expr, Typed};
use crate::plan::{Fusion, Plan, fusion_choices, reorderings};
use crate::seen::Seen;
use crate::way::{Departure, Step, Way, Width};

/// What a search may do beyond the usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Sums may be taken in any order.
    pub reassociate: bool,
    /// Of arrays: one NaN is as good as another.
    pub any_nan: bool,
}

/// More ways than this are not enumerated: the question is too large for one answer.
pub const MAX_WAYS: usize = 500_000;

/// An evaluation that gives a seen value.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The evaluation.
    pub way: Way,
    /// Its result.
    pub result: Typed,
    /// How it departs from the expression as written; empty for the expression as written.
    pub departures: Vec<Departure>,
}

/// The ways to evaluate an expression.
pub struct Space {
    ways: Vec<(Explanation, u64)>,
}

impl Space {
    /// Every way, evaluated.
    ///
    /// # Errors
    /// If there are more than [`MAX_WAYS`].
    pub fn of(expr: &Expr, options: Options, profile: &Profile) -> Result<Space, String> {
        let ways = ways(expr, options)?.into_iter().map(|way| evaluated(way, profile)).collect();
        Ok(Space { ways })
    }

    /// The type of the result.
    pub fn format(&self) -> Format {
        self.ways[0].0.way.plan.format()
    }

    /// The simplest evaluations that give a seen value: those of which no other, with some of the same departures and
    /// no more, gives it too. Simplest first.
    pub fn explain(&self, seen: &Seen) -> Vec<&Explanation> {
        let mut found: Vec<&(Explanation, u64)> =
            self.ways.iter().filter(|(explanation, _)| seen.matches(explanation.result)).collect();
        found.sort_by_key(|(explanation, _)| (explanation.departures.len(), explanation.departures.clone()));
        let minimal = found.iter().enumerate().filter(|(index, (candidate, signature))| {
            !found[..*index].iter().any(|(simpler, other)| {
                signature == other || simpler.departures.iter().all(|it| candidate.departures.contains(it))
            })
        });
        minimal.map(|(_, (explanation, _))| explanation).collect()
    }

    /// The evaluation whose result lies nearest to the bits, and how many ulps away.
    pub fn nearest(&self, format: Format, bits: u64) -> Option<(&Explanation, u64)> {
        self.ways
            .iter()
            .filter(|(explanation, _)| explanation.result.format == format)
            .filter_map(|(explanation, _)| Some((explanation, ulps(format, explanation.result.bits, bits)?)))
            .min_by_key(|(explanation, distance)| (*distance, explanation.departures.len()))
    }

    /// The expression as written, every operation rounded to nearest even.
    pub fn as_written(&self) -> &Explanation {
        &self.ways[0].0
    }

    /// How many evaluations there are.
    pub fn len(&self) -> usize {
        self.ways.len()
    }
    /// Never: there is always the expression as written.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }
}

/// Every way, the expression as written first.
///
/// # Errors
/// If there are more than [`MAX_WAYS`].
pub(crate) fn ways(expr: &Expr, options: Options) -> Result<Vec<Way>, String> {
    let mut ways = Vec::new();
    for (order, ordered) in orders(expr, options) {
        let choices = fusion_choices(&ordered);
        let plans: usize = choices.iter().map(Vec::len).try_fold(1usize, usize::checked_mul).unwrap_or(usize::MAX);
        if plans.saturating_mul(100).saturating_add(ways.len()) > MAX_WAYS {
            return Err(format!("the expression has more than {MAX_WAYS} evaluations: ask about a part of it"));
        }
        for index in 0..plans {
            let fusions = pick(&choices, index);
            for split in [false, true] {
                let plan = Plan::build(&ordered, &fusions, split);
                if split && plan.split == 0 {
                    continue;
                }
                ways.extend(modes(plan, order.as_deref()));
            }
        }
    }
    Ok(ways)
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

/// A plan in every mode that some machine has.
fn modes(plan: Plan, order: Option<&str>) -> Vec<Way> {
    let plain = Way { order: order.map(str::to_owned), ..Way::plain(plan) };
    let format = plain.plan.format();
    let uniform = plain.plan.ops.iter().all(|op| op.format == format);
    let widths = match format {
        Format::F16 | Format::BF16 => vec![Width::Native, Width::EachOperation(Format::F32), Width::Whole(Format::F32)],
        Format::F32 => vec![Width::Native, Width::EachOperation(Format::F64), Width::Whole(Format::F64)],
        _ => vec![Width::Native],
    };
    let is_f32 = format == Format::F32 && uniform;
    let flushes: &[(bool, bool)] =
        if is_f32 { &[(false, false), (true, false), (true, true)] } else { &[(false, false), (true, false)] };
    let mut ways = Vec::new();
    for &width in &widths {
        for rounding in Rounding::ALL {
            for &(flush, fmz) in flushes {
                for saturate in [false, true] {
                    let native = width == Width::Native;
                    if (saturate || fmz) && !native {
                        continue;
                    }
                    ways.push(Way { width, rounding, flush, fmz, saturate, ..plain.clone() });
                }
            }
        }
    }
    if is_f32 && !plain.plan.fused.is_empty() {
        let truncated = Way { truncated: true, flush: true, ..plain };
        ways.push(Way { saturate: true, ..truncated.clone() });
        ways.push(truncated);
    }
    ways
}

/// A way with its result, and a digest of what it computes: two ways that carry out the same operations on the same
/// values are one evaluation, however it is called.
fn evaluated(way: Way, profile: &Profile) -> (Explanation, u64) {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    let result = way.run(profile, |step| {
        (step.operation, step.bits, step.result).hash(&mut hasher);
        // A whole expression of one operation narrows as that operation alone does.
        step.narrowed.map(|narrowed| narrowed.bits).hash(&mut hasher);
    });
    let departures = way.departures();
    (Explanation { way, result, departures }, hasher.finish())
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
pub fn parting<'s>(one: &'s [Step], other: &'s [Step]) -> Option<(&'s Step, &'s Step)> {
    let same = |a: &Step, b: &Step| {
        a.operation.op == b.operation.op && a.bits == b.bits && a.result == b.result && a.narrowed == b.narrowed
    };
    let first_unshared =
        |steps: &'s [Step], others: &[Step]| steps.iter().find(|step| !others.iter().any(|other| same(step, other)));
    first_unshared(one, other).zip(first_unshared(other, one))
}
