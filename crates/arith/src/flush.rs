//! Steps 3 and 10: what happens to a value before and after the arithmetic.

use crate::{Event, Format, Operand, Trace};

/// Step 3: a subnormal operand becomes zero of its sign.
#[inline(always)]
pub(crate) fn flush_operand(format: Format, bits: u64, operand: Operand, trace: &mut impl Trace) -> u64 {
    if format.is_subnormal(bits) {
        trace.event(Event::FlushedOperand(operand));
        bits & format.sign_mask()
    } else {
        bits
    }
}

/// Step 10: NaN and everything below zero, −0 included, become +0; everything above one becomes one.
#[inline(always)]
pub(crate) fn saturate(format: Format, bits: u64, trace: &mut impl Trace) -> u64 {
    let clamped = if format.is_nan(bits) || format.is_negative(bits) { 0 } else { bits.min(format.one()) };
    if clamped != bits {
        trace.event(Event::Saturated(bits));
    }
    clamped
}
