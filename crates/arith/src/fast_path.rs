//! The fast path of the fused multiply-add: operands and result are normal, the sum is not zero.
//!
//! Steps 3 to 5 and 9 of the pipeline change nothing there, and the rest needs no unpredictable branch. Everything else
//! goes through the pipeline. The tests compare this path with the judges as they compare the pipeline and the vector
//! kernels.

use crate::round::{ExactValue, round_normal};
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
