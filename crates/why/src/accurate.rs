//! Explanations that say no more than that a value is accurate.

use roundonce_arith::{Format, Profile};
use roundonce_deviate::{Deviation, Narrowing};

use crate::evaluation::Evaluation;
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
