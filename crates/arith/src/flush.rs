//! Steps 3 and 10: what happens to a value before and after the arithmetic.

use crate::{Event, Format, Operand, Trace};

/// Step 3: a subnormal operand becomes zero of its sign.
#[inline(always)]
pub(crate) fn flush_operand(format: Format, bits: u64, operand: Operand, trace: &mut impl Trace) -> u64 {
    if format.is_subnormal(bits) {
        trace.event(Event::FlushedOperand(operand));
        format.flush_to_zero(bits)
    } else {
        bits
    }
}

/// Step 10: clamps to [+0, 1].
#[inline(always)]
pub(crate) fn saturate(format: Format, bits: u64, trace: &mut impl Trace) -> u64 {
    let clamped = format.saturate(bits);
    if clamped != bits {
        trace.event(Event::Saturated(bits));
    }
    clamped
}
