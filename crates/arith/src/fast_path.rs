//! The fast path of the fused multiply-add: operands and result are normal, the sum is not zero.
//!
//! Steps 3 to 5 and 9 of the pipeline change nothing there, and the rest needs no unpredictable branch. Everything else
//! goes through the pipeline. The tests compare this path with the judges as they compare the pipeline and the vector
//! kernels.

use crate::round::{ExactValue, round_aligned, round_normal};
use crate::wide::Wide;
use crate::{Format, Outcome, Rounding};

/// Steps 6 to 8 of a × b + c; `None` for a special case.
#[inline(always)]
pub(crate) fn mul_add<W: Wide>(format: Format, rounding: Rounding, [a, b, c]: [u64; 3]) -> Option<Outcome> {
    let field = |bits: u64| ((bits >> format.frac_bits()) & format.exp_max()) as i32;
    let (ea, eb, ec) = (field(a), field(b), field(c));
    let normal = |field: i32| (field as u32).wrapping_sub(1) < format.exp_max() as u32 - 1;
    if !(normal(ea) & normal(eb) & normal(ec)) {
        return None;
    }
    // Aligned as in the pipeline: the leading bits at the third or fourth position from the top.
    let significand = |bits: u64| (bits & format.frac_mask()) | format.smallest_normal();
    let (product_shift, addend_shift) = (W::BITS - 2 - 2 * format.precision(), W::BITS - 2 - format.precision());
    let product = W::product(significand(a), significand(b)) << product_shift;
    let addend = W::from(significand(c)) << addend_shift;
    let unit = format.min_quantum() - 1;
    let product_quantum = ea + eb + 2 * unit - product_shift as i32;
    let addend_quantum = ec + unit - addend_shift as i32;

    let product_negative = format.is_negative(a ^ b);
    let differ = product_negative != format.is_negative(c);
    let distance = product_quantum - addend_quantum;
    let (high, low, high_negative) =
        if distance >= 0 { (product, addend, product_negative) } else { (addend, product, product_negative ^ differ) };
    let low = low.shift_right_sticky(distance.unsigned_abs());
    // The difference in two's complement, then its magnitude: no branch on which term is larger.
    let sum = high.add_or_subtract(low, differ);
    let borrow = sum.leading_zeros() == 0;
    let significand = W::ZERO.add_or_subtract(sum, borrow);
    let quantum = product_quantum.max(addend_quantum);
    round_normal(format, rounding, ExactValue { negative: high_negative ^ borrow, quantum, significand })
}

/// [`mul_add`] of f32 by the processor's f64, in which a product of two f32 is exact.
///
/// In any direction of rounding, what a sum leaves of the smaller term is rounded to the nearest or to a neighbour, so that
/// its sign is exact (Boldo, Graillat, Muller, "On the robustness of the 2Sum and Fast2Sum algorithms", 2017). No term is
/// subnormal in f64: flushing changes nothing. Sticky flags are raised, and an unmasked exception traps.
#[inline(always)]
pub(crate) fn mul_add_f32(rounding: Rounding, operands: [u64; 3]) -> Option<Outcome> {
    let normal = |bits: u64| (bits as u32).wrapping_add(1 << 23) & 0x7fff_ffff >= 1 << 24;
    let [a, b, c] = operands;
    if !(normal(a) & normal(b) & normal(c)) {
        return None;
    }
    let [a, b, c] = operands.map(|bits| f64::from(f32::from_bits(bits as u32)));
    let product = a * b;
    let sum = product + c;
    let rest = if product.abs() >= c.abs() { c - (sum - product) } else { product - (sum - c) };

    // The exact sum is `sum`, or between it and a neighbour. There the odd one of the two stands for it: its last bit is
    // far below an f32's.
    let (bits, rest) = (sum.to_bits(), rest.to_bits());
    let inexact = (rest << 1 != 0) as u64;
    let odd = (bits - (inexact & (bits ^ rest) >> 63)) | inexact;
    let quantum = (odd << 1 >> 53) as i32 - (1023 + 63);
    let significand = (odd | 1 << 52) << 11;
    round_aligned(Format::F32, rounding, ExactValue { negative: bits >> 63 == 1, quantum, significand })
}
