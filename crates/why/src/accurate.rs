//! Explanations that say no more than that a value is accurate, or inaccurate.

use roundonce_arith::{Format, Profile};
use roundonce_deviate::{Deviation, Narrowing};

use crate::evaluation::Evaluation;
use crate::expr::Expr;
use crate::search::Explanation;
use crate::x87;

/// What is said of such a value.
pub(crate) const MERELY_ACCURATE: &str =
    "any formula more accurate than the one written gives it too, most likely: other inputs can tell";

/// Whether an explanation computes everything in a wider type, and a still wider one gives the same value, which the
/// expression as written does not give. Every formula that rounds better gives it, whatever the type.
pub(crate) fn is_merely_accurate(explanation: &Explanation, as_written: &Explanation, profile: &Profile) -> bool {
    let Explanation { evaluation, result, .. } = explanation;
    let ops = &evaluation.plan.ops;
    // One operation is most accurate as written: from a wider type it is rounded twice.
    if ops.len() < 2 || *result == as_written.result {
        return false;
    }
    let is_wide = |mode: &Deviation| matches!(mode, Deviation::WideWhole(_) | Deviation::X87(Narrowing::Whole));
    let Some(at) = evaluation.modes.iter().position(is_wide) else { return false };
    let wider = match evaluation.modes[at] {
        Deviation::WideWhole(Format::F32) => Deviation::WideWhole(Format::F64),
        Deviation::WideWhole(_) if ops.iter().all(x87::has) => Deviation::X87(Narrowing::Whole),
        _ => return true,
    };
    let mut modes = evaluation.modes.clone();
    modes[at] = wider;
    Evaluation { modes, ..evaluation.clone() }.result(profile) == *result
}

/// What is said of a single value that narrow factors give.
pub(crate) const MERELY_NARROW: &str =
    "factors are rounded so in products of matrices; a single value may be so by accident: other inputs can tell";

/// Whether factors are rounded to a narrower type.
pub(crate) fn has_narrow_factors(explanation: &Explanation) -> bool {
    explanation.deviations.iter().any(|it| matches!(it, Deviation::Tf32(_) | Deviation::NarrowFactors(_)))
}

/// Whether an expression is what an element of a product of matrices is: a sum of products of values, and of one more value
/// at most. Where terms cancel, or a product is a factor, few narrow results are possible, and some wrong value is one of them.
pub(crate) fn is_sum_of_products(expr: &Expr) -> bool {
    let mut others = 0;
    let is_one = is_of_products(expr, &mut others);
    is_one && others <= 1
}

fn is_of_products(expr: &Expr, others: &mut usize) -> bool {
    match expr {
        Expr::Add(a, b) => is_of_products(a, others) && is_of_products(b, others),
        Expr::Mul(a, b) => is_value(a) && is_value(b),
        Expr::Fma(a, b, c) => is_value(a) && is_value(b) && is_of_products(c, others),
        Expr::Round(_, inner) if !is_value(inner) => is_of_products(inner, others),
        value => {
            *others += 1;
            is_value(value)
        }
    }
}

/// A value, as it is or cast.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Value(..) => true,
        Expr::Neg(inner) | Expr::Round(_, inner) => is_value(inner),
        _ => false,
    }
}
