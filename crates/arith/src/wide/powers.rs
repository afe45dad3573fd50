//! Sums of normal numbers, and what is kept of them, by multiplications with powers of two.
//!
//! The upper half of a product of 64 by 64 bits is one factor shifted to the right, the lower half what the shift loses.
//! Without BMI, x86-64 shifts by a variable with two operations, and as many for what is lost.

use super::{Sum, Terms, Wide};
use crate::Format;

/// At `MIDDLE` + d, 2^(62 - |d|), at least 1: for every distance d of two terms of f32 (-378 to 381), and some more.
const POWERS: &[i64; 2 * MIDDLE] = &{
    let mut powers = [1; 2 * MIDDLE];
    let mut distance = 0;
    while distance < 62 {
        powers[MIDDLE + distance] = 1 << (62 - distance);
        powers[MIDDLE - distance] = 1 << (62 - distance);
        distance += 1;
    }
    powers
};
const MIDDLE: usize = 384;

/// [`Wide::sum`].
#[inline(always)]
pub(super) fn sum(format: Format, Terms { product, addend, differ, product_above }: Terms<u64>) -> Sum<u64> {
    // Both relative to the product's sign.
    let negated = ((differ << (64 - format.width())) as i64) >> 63;
    let (product, addend) = (product as i64, ((addend as i64 ^ negated) - negated) << format.precision());
    let (high, low) = if product_above >= 0 { (product, addend) } else { (addend, product) };
    let room = u64::room(format.precision());
    let power = POWERS.get((product_above + MIDDLE as i64) as usize).copied().unwrap_or(1);
    // 2^62 leaves the sign its bit; the other two of 64 are here.
    let low = i128::from(low << (room + 2)) * i128::from(power);
    let sum = (i128::from(high << room) << 64) + low;
    Sum { sign: (sum >> 127) as u64, significand: (sum.unsigned_abs() >> 64) as u64, sticky: sum as u64 != 0 }
}

/// [`Wide::split`].
#[inline(always)]
pub(super) fn split(significand: u64, precision: u32) -> Option<(u64, u64, u64)> {
    // 2^62 is the highest power: it keeps `precision` bits of a number of one more.
    if significand < 2 << precision {
        return None;
    }
    let leading = u64::from(significand.leading_zeros()) ^ 63;
    // 2^(63 + precision - leading). A slice, so that the sum of the constants is part of the address.
    let powers = &POWERS[MIDDLE - precision as usize - 1..];
    let product = u128::from(significand) * u128::from(powers[leading as usize] as u64);
    Some((leading, (product >> 64) as u64, product as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::shifts;

    /// 32-bit machines shift. Both ways have the same sum and keep the same of it.
    #[test]
    fn the_same_as_by_shifts() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        let format = Format::F32;
        let mut compared = 0;
        for round in 0..2_000_000 {
            // Every fourth significand is a power of two, every fourth one less.
            let mut significand = || match random() % 4 {
                0 => 1 << 23,
                1 => (1 << 24) - 1,
                _ => 1 << 23 | random() & 0x7f_ffff,
            };
            let (product, addend) = (significand() * significand(), significand());
            let differ = (random() & 1) << 31;
            let product_above = if round % 2 == 0 { random() as i64 % 7 - 3 } else { random() as i64 % 760 - 378 };
            let terms = || Terms { product, addend, differ, product_above };
            let (by_powers, by_shifts) = (sum(format, terms()), shifts::sum(format, terms()));
            let case = (product, addend, differ, product_above);
            let lowest = by_powers.significand | u64::from(by_powers.sticky);
            assert_eq!(lowest, by_shifts.significand, "{case:x?}");
            if lowest != 0 {
                let sign = |sum: &Sum<u64>| format.is_negative(sum.sign);
                assert_eq!(sign(&by_powers), sign(&by_shifts), "{case:x?}");
            }
            if let Some(parts) = split(lowest, format.precision()) {
                assert_eq!(Some(parts), shifts::split(lowest, format.precision()), "{case:x?}");
                compared += 1;
            }
        }
        assert!(compared > 1_900_000, "{compared}");
    }
}
