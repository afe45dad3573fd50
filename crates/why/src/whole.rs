//! Results that are whole numbers: of floors, casts to integers, comparisons. What may be seen in the place of one is the next
//! whole number, not the next number of its format.

use roundonce_arith::{Profile, Unpacked, unpack};
use roundonce_deviate::{Deviation, Typed};

use crate::call::Call;
use crate::chance::Neighbourhood;
use crate::evaluation::Evaluation;
use crate::observed::ObservedValue;
use crate::plan::{Plan, Ref};
use crate::search::{CandidateSet, Explanation, place};

/// What a result is, whatever the operands are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 0 or 1, of either sign.
    Truth,
    /// A whole number.
    Whole,
}

/// What a plan's result is by its last operation, signs and casts behind it apart.
pub(crate) fn kind(plan: &Plan) -> Option<Kind> {
    let mut kind = None;
    let mut at = plan.ops.len().checked_sub(1);
    while let Some(op) = at.map(|at| &plan.ops[at]) {
        match op.call() {
            Some(Call::Compare(_)) => return Some(Kind::Truth),
            Some(call) if call.gives_whole() => kind = Some(Kind::Whole),
            Some(Call::Negate | Call::Abs | Call::Round | Call::RoundTo(..)) => {}
            _ => break,
        }
        at = if let Ref::Op(earlier) = op.operands[0] { Some(earlier) } else { None };
    }
    kind
}

/// The values near to what was observed that the first `tried` steps of the search give.
pub(crate) fn nearby(
    candidates: &CandidateSet,
    first: Option<&Explanation>,
    tried: usize,
    observed: &ObservedValue,
    profile: &Profile,
) -> Neighbourhood {
    let as_written = &candidates.as_written().evaluation;
    match first {
        Some(first) if first.deviations.contains(&Deviation::OtherNan) => return Neighbourhood::ALL,
        _ if kind(&as_written.plan) == Some(Kind::Truth) => return Neighbourhood::OF_TWO,
        _ => {}
    }
    let itself = first.map(|_| 0);
    let Some((at, own)) = first.and_then(|first| deciding(&first.evaluation, as_written, profile)) else {
        let scale = observed.scale(candidates.format());
        let others = candidates.tried(tried).filter_map(|(_, result)| scale.distance(result));
        return Neighbourhood::of(others.filter(|distance| *distance != 0).chain(itself));
    };
    let others = candidates.tried(tried).filter(|(_, result)| !observed.prints_as(*result));
    let whole = others.filter_map(|(evaluation, _)| apart(own, *wholes(evaluation, profile).get(at)?));
    Neighbourhood::of(whole.filter(|distance| *distance != 0).chain(itself))
}

/// The operation of whole numbers, by its place among them, in which an evaluation differs from the expression as written,
/// and what it gives; the last one where none does and that is the result.
fn deciding(evaluation: &Evaluation, as_written: &Evaluation, profile: &Profile) -> Option<(usize, Typed)> {
    let own = wholes(evaluation, profile);
    let plain = wholes(as_written, profile);
    let differs = own.iter().zip(&plain).position(|(own, plain)| apart(*plain, *own) != Some(0));
    let last = || kind(&as_written.plan).and_then(|_| own.len().checked_sub(1));
    let at = differs.or_else(last)?;
    Some((at, own[at]))
}

/// The whole numbers that an evaluation's operations give, in order.
fn wholes(evaluation: &Evaluation, profile: &Profile) -> Vec<Typed> {
    let gives_whole = |at: &usize| evaluation.plan.ops[*at].call().is_some_and(Call::gives_whole);
    let places: Vec<usize> = (0..evaluation.plan.ops.len()).filter(gives_whole).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let steps = evaluation.trace(profile).1;
    places.into_iter().map(|at| steps[at].narrowed.unwrap_or(steps[at].computed())).collect()
}

/// How many values one whole number is from another: numbers of the format, where these are farther apart than whole ones.
fn apart(from: Typed, to: Typed) -> Option<i64> {
    let whole = || i64::try_from(whole(to)? - whole(from)?).ok();
    let format = from.format;
    let numbers = (to.format == format && !format.is_nan(from.bits) && !format.is_nan(to.bits))
        .then(|| place(format, to.bits) - place(format, from.bits))
        .and_then(|places| i64::try_from(places).ok());
    numbers.into_iter().chain(whole()).min_by_key(|distance| distance.unsigned_abs())
}

/// A number cut to a whole one; `None` if it is none, or is very large.
pub(crate) fn whole(Typed { format, bits }: Typed) -> Option<i128> {
    let number = match unpack(format, bits) {
        Unpacked::Zero { .. } => return Some(0),
        Unpacked::Finite(number) => number,
        Unpacked::Infinite { .. } | Unpacked::Nan { .. } => return None,
    };
    let magnitude = match number.quantum {
        up @ 0..64 => i128::from(number.significand) << up,
        64.. => return None,
        down => i128::from(number.significand).checked_shr(down.unsigned_abs()).unwrap_or(0),
    };
    Some(if number.negative { -magnitude } else { magnitude })
}
