//! Steps 3 and 10: flush and saturate, before and after the arithmetic.

use crate::{Event, Format, OperandIndex, Trace};

/// Step 3: [`Format::flush`] of an operand.
#[inline(always)]
pub(crate) fn flush_operand(format: Format, bits: u64, operand: OperandIndex, trace: &mut impl Trace) -> u64 {
    if format.is_subnormal(bits) {
        trace.event(Event::FlushedOperand(operand));
    }
    format.flush(bits)
}

/// Step 10: [`Format::saturate`].
#[inline(always)]
pub(crate) fn saturate(format: Format, bits: u64, trace: &mut impl Trace) -> u64 {
    let clamped = format.saturate(bits);
    if clamped != bits {
        trace.event(Event::Saturated(bits));
    }
    clamped
}
