//! Step 5: which NaN a NaN result is.

use crate::{Event, Flags, Format, NanRule, Operand, Outcome, Profile, Trace};

/// The NaN that comes of the NaNs among the operands in use (`places`), or of an invalid operation.
pub(crate) fn nan_result(
    format: Format,
    profile: &Profile,
    operands: [u64; 3],
    places: &[Operand],
    invalid_operation: bool,
    trace: &mut impl Trace,
) -> Outcome {
    let bits_of = |operand| operands[operand as usize];
    let rule = profile.nan_rule(format);
    let order = match rule {
        NanRule::Canonical => [Operand::A, Operand::B, Operand::C],
        NanRule::Payload(order) => order,
    };
    let chosen = order.into_iter().find(|&operand| places.contains(&operand) && format.is_nan(bits_of(operand)));
    let signalling = places.iter().any(|&operand| format.is_signalling(bits_of(operand)));
    match chosen {
        Some(operand) => trace.event(Event::NanOperand(operand)),
        // infinity - infinity is reported by the caller, without operands.
        None if !places.is_empty() => trace.event(Event::ZeroTimesInfinity),
        None => {}
    }
    let bits = profile.quiet_nan(format, chosen.map(bits_of));
    Outcome { bits, flags: Flags::INVALID.when(invalid_operation || signalling) }
}
