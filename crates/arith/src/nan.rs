//! Step 5: the bits of a NaN result.

use crate::{Event, Flags, Format, NanRule, OperandIndex, Outcome, Profile, Trace};

/// The NaN result, in the format `to`, for NaNs among the operands in `used`, or for an invalid operation. A payload is
/// kept where the operands have the result's format.
pub(crate) fn nan_result(
    format: Format,
    to: Format,
    profile: &Profile,
    operands: [u64; 3],
    used: &[OperandIndex],
    invalid_operation: bool,
    trace: &mut impl Trace,
) -> Outcome {
    let bits_of = |operand| operands[operand as usize];
    let rule = profile.nan_rule(to);
    let order = match rule {
        NanRule::Canonical => [OperandIndex::A, OperandIndex::B, OperandIndex::C],
        NanRule::Payload(order) => order,
    };
    let chosen = order.into_iter().find(|&operand| used.contains(&operand) && format.is_nan(bits_of(operand)));
    let signalling = used.iter().any(|&operand| format.is_signalling(bits_of(operand)));
    match chosen {
        Some(operand) => trace.event(Event::NanOperand(operand)),
        // `used` is empty for infinity − infinity, which the caller reports.
        None if !used.is_empty() => trace.event(Event::ZeroTimesInfinity),
        None => {}
    }
    let bits = rule.result(to, chosen.filter(|_| to == format).map(bits_of));
    Outcome { bits, flags: Flags::INVALID.when(invalid_operation || signalling) }
}
