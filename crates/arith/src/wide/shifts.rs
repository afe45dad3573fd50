//! Sums of normal numbers, and what is kept of them, by shifts.

use super::{Sum, Terms, Wide};
use crate::Format;

/// [`Wide::sum`].
#[inline(always)]
pub(super) fn sum<W: Wide>(format: Format, Terms { product, addend, differ, product_above }: Terms<W>) -> Sum<W> {
    let (room, addend) = (W::room(format.precision()), addend << format.precision());
    let (high, low, high_sign) = if product_above >= 0 { (product, addend, 0) } else { (addend, product, differ) };
    let low = (low << room).shift_right_sticky(product_above.unsigned_abs() as u32);
    // The difference in two's complement, then its magnitude: no branch on which term is larger.
    let sum = (high << room).add_or_subtract(low, differ != 0);
    let borrow = sum.leading_zeros() == 0;
    let sign = high_sign ^ (borrow as u64).wrapping_neg();
    Sum { sign, significand: W::ZERO.add_or_subtract(sum, borrow), sticky: false }
}

/// [`Wide::split`].
#[inline(always)]
pub(super) fn split<W: Wide>(significand: W, precision: u32) -> Option<(u64, u64, W)> {
    if significand == W::ZERO {
        return None;
    }
    let zeros = significand.leading_zeros();
    let aligned = significand << zeros;
    Some(((W::BITS - 1 - zeros).into(), (aligned >> (W::BITS - precision)).low(), aligned << precision))
}
