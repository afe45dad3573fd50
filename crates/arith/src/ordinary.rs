//! The fused multiply-add where nothing is special: operands and result normal, the sum not zero.
//!
//! Steps 3 to 5 and 9 of the pipeline change nothing there, and what is left of it needs no case distinction that a
//! processor cannot foresee. Everything else is the pipeline's. It is a short cut, not a second meaning: the tests hold
//! it against the pipeline as they hold the vector kernels.

use crate::round::{Exact, round_ordinary};
use crate::wide::Wide;
use crate::{Format, Outcome, Rounding};

/// Steps 6 to 8 of a × b + c; nothing where anything is special.
#[inline(always)]
pub(crate) fn mul_add<W: Wide>(format: Format, rounding: Rounding, [a, b, c]: [u64; 3]) -> Option<Outcome> {
    let field = |bits: u64| ((bits >> format.frac_bits()) & format.exp_max()) as i32;
    let (ea, eb, ec) = (field(a), field(b), field(c));
    let normal = |field: i32| (field as u32).wrapping_sub(1) < format.exp_max() as u32 - 1;
    if !(normal(ea) & normal(eb) & normal(ec)) {
        return None;
    }
    // As the pipeline places them: the leading bits at the third or fourth place from the top.
    let significand = |bits: u64| (bits & format.frac_mask()) | format.smallest_normal();
    let (product_shift, addend_shift) = (W::BITS - 2 - 2 * format.precision(), W::BITS - 2 - format.precision());
    let product = W::product(significand(a), significand(b)) << product_shift;
    let addend = W::from(significand(c)) << addend_shift;
    let unit = format.min_quantum() - 1;
    let product_quantum = ea + eb + 2 * unit - product_shift as i32;
    let addend_quantum = ec + unit - addend_shift as i32;

    let product_negative = format.is_negative(a ^ b);
    let differ = product_negative != format.is_negative(c);
    let apart = product_quantum - addend_quantum;
    let (high, low, high_negative) =
        if apart >= 0 { (product, addend, product_negative) } else { (addend, product, product_negative ^ differ) };
    let low = low.shift_right_sticky(apart.unsigned_abs());
    // The difference as two's complement, then its magnitude: no branch on which term is larger.
    let sum = high.add_or_subtract(low, differ);
    let below = sum.leading_zeros() == 0;
    let significand = W::ZERO.add_or_subtract(sum, below);
    let quantum = product_quantum.max(addend_quantum);
    round_ordinary(format, rounding, Exact { negative: high_negative ^ below, quantum, significand })
}
