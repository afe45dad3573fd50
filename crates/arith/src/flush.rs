//! Steps 3 and 10: flush and clamp, before and after the arithmetic.

use crate::{Clamp, Event, Format, OperandIndex, Trace};

/// Step 3: [`Format::flush`] of an operand.
#[inline(always)]
pub(crate) fn flush_operand(format: Format, bits: u64, operand: OperandIndex, trace: &mut impl Trace) -> u64 {
    if format.is_subnormal(bits) {
        trace.event(Event::FlushedOperand(operand));
    }
    format.flush(bits)
}

impl Clamp {
    /// Step 10: the clamped value of a result. `Unit` is [`Format::saturate`]; under `Relu` everything below zero, −0
    /// included, becomes +0, and a NaN is the canonical one.
    #[inline(always)]
    pub const fn apply(self, format: Format, bits: u64) -> u64 {
        match self {
            Clamp::None => bits,
            Clamp::Unit => format.saturate(bits),
            Clamp::Relu if format.is_nan(bits) => format.sign_mask() - 1,
            Clamp::Relu if format.is_negative(bits) => 0,
            Clamp::Relu => bits,
        }
    }
}
