//! The integers that hold an exact product or sum.

use crate::Format;

#[cfg(target_pointer_width = "64")]
mod powers;
mod shifts;

/// An unsigned integer wide enough for the product of two significands and room to align a third.
///
/// `u64` serves every format whose significand has at most 29 bits (f16, bf16, f32), `u128` the rest (f64): a product
/// of 2p bits is aligned with its leading bit at the second or third position from the top, which leaves at least three
/// zero bits below it, so that a right shift which loses a bit always leaves the other term far larger.
pub(crate) trait Wide:
    Copy
    + Eq
    + Ord
    + From<u64>
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::BitAnd<Output = Self>
    + core::ops::BitOr<Output = Self>
    + core::ops::Shl<u32, Output = Self>
    + core::ops::Shr<u32, Output = Self>
{
    const BITS: u32;
    const ZERO: Self;
    /// The product of two significands.
    fn product(a: u64, b: u64) -> Self;
    /// Zeros above the leading bit.
    fn leading_zeros(self) -> u32;
    /// The low 64 bits.
    fn low(self) -> u64;
    /// All the bits.
    fn full(self) -> u128;
    /// The sum, or the difference as two's complement.
    fn add_or_subtract(self, other: Self, subtract: bool) -> Self;

    /// A product plus an addend.
    fn sum(format: Format, terms: Terms<Self>) -> Sum<Self>;
    /// The position of the leading bit, `precision` bits from that one on, and the rest from the top on. `None` of zero,
    /// and perhaps of a number of at most `precision` bits.
    fn split(self, precision: u32) -> Option<(u64, u64, Self)>;

    /// By how much [`sum`](Wide::sum) shifts its terms to the left: the top three bits stay clear.
    #[inline(always)]
    fn room(precision: u32) -> u32 {
        Self::BITS - 3 - 2 * precision
    }

    /// `self >> shift` with every lost bit collected in the lowest one. For a shift of all bits the top one must be clear.
    #[inline(always)]
    fn shift_right_sticky(self, shift: u32) -> Self {
        // With the top bit clear, a shift by BITS - 1 loses as much as any longer one.
        let shift = shift.min(Self::BITS - 1);
        let lost = self & ((Self::from(1) << shift) - Self::from(1)) != Self::ZERO;
        (self >> shift) | Self::from(lost as u64)
    }
}

/// The terms of a multiply-add of normal numbers.
pub(crate) struct Terms<W> {
    /// The product of the factors' significands.
    pub(crate) product: W,
    /// The addend's significand; its quantum is taken `precision` bits lower.
    pub(crate) addend: W,
    /// The format's sign bit if their signs differ, otherwise zero.
    pub(crate) differ: u64,
    /// The product's quantum less the addend's.
    pub(crate) product_above: i64,
}

/// The sum of [`Terms`].
pub(crate) struct Sum<W> {
    /// The format's sign bit is set here if its sign is not the product's. Other bits mean nothing.
    pub(crate) sign: u64,
    /// The magnitude, its quantum the higher one of the two less [`Wide::room`].
    pub(crate) significand: W,
    /// Something nonzero follows the significand's lowest bit, which is then far below the rounding position.
    pub(crate) sticky: bool,
}

macro_rules! wide {
    ($int:ty, $way:ident) => {
        impl Wide for $int {
            const BITS: u32 = <$int>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn product(a: u64, b: u64) -> Self {
                a as $int * b as $int
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                <$int>::leading_zeros(self)
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn full(self) -> u128 {
                self as u128
            }
            #[inline(always)]
            fn add_or_subtract(self, other: Self, subtract: bool) -> Self {
                // A mask, not a branch: which of the two is needed is unpredictable.
                let mask = (subtract as $int).wrapping_neg();
                self.wrapping_add((other ^ mask).wrapping_sub(mask))
            }
            #[inline(always)]
            fn sum(format: Format, terms: Terms<Self>) -> Sum<Self> {
                $way::sum(format, terms)
            }
            #[inline(always)]
            fn split(self, precision: u32) -> Option<(u64, u64, Self)> {
                $way::split(self, precision)
            }
        }
    };
}
#[cfg(target_pointer_width = "64")]
wide!(u64, powers);
#[cfg(not(target_pointer_width = "64"))]
wide!(u64, shifts);
wide!(u128, shifts);
