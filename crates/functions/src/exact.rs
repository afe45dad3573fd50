//! What does not round, or to an integer: signs, extrema, integral values.

use roundonce_arith::{ExactNumber, FiniteNumber, Format, Profile, Rounding, Unpacked, unpack};

/// The bits above the format cleared; with `flush` a subnormal becomes zero of its sign.
#[inline(always)]
pub const fn flushed(format: Format, flush: bool, bits: u64) -> u64 {
    if flush { format.flush(bits) } else { bits & format.mask() }
}

/// Absolute value or negation as arithmetic: a NaN is the profile's, and keeps its sign where it keeps its payload.
#[inline(always)]
pub fn signed_sum(profile: &Profile, format: Format, negate: bool, flush: bool, a: u64) -> u64 {
    let a = a & format.mask();
    if format.is_nan(a) { profile.nan_result(format, Some(a)) } else { sign(format, negate, flush, a) }
}

/// Absolute value or negation of the bits, of a NaN too.
#[inline(always)]
pub fn sign(format: Format, negate: bool, flush: bool, a: u64) -> u64 {
    let a = flushed(format, flush, a);
    if negate { a ^ format.sign_mask() } else { a & format.magnitude_mask() }
}

/// The bits of a number as an integer that orders as the number does, −0 below +0.
#[inline(always)]
pub fn ordered(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if format.is_negative(bits) { -1 - magnitude } else { magnitude }
}

/// A minimum or maximum; as PTX and SASS have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MinMax {
    /// Of operands and result.
    pub format: Format,
    /// The larger, not the smaller.
    pub max: bool,
    /// Subnormal operands become zero.
    pub flush: bool,
    /// A NaN operand makes the result NaN; otherwise the other operand is the result.
    pub nan: bool,
    /// Compares magnitudes; the sign is the product's.
    pub xorsign_abs: bool,
}

/// The smaller or the larger.
#[inline(always)]
pub fn min_max(profile: &Profile, op: MinMax, [a, b]: [u64; 2]) -> u64 {
    let MinMax { format, max, flush, nan, xorsign_abs } = op;
    let (mut a, mut b) = (flushed(format, flush, a), flushed(format, flush, b));
    let signs = (a ^ b) & format.sign_mask();
    if xorsign_abs {
        (a, b) = (a & format.magnitude_mask(), b & format.magnitude_mask());
    }
    let result = match (format.is_nan(a), format.is_nan(b)) {
        (false, false) => {
            if (ordered(format, a) > ordered(format, b)) == max {
                a
            } else {
                b
            }
        }
        (true, false) if !nan => b,
        (false, true) if !nan => a,
        _ => return profile.nan_of_pair(format, a, b),
    };
    if xorsign_abs { result | signs } else { result }
}

/// The magnitude of one with the sign of another.
#[inline(always)]
pub fn copy_sign(format: Format, sign: u64, magnitude: u64) -> u64 {
    (sign & format.sign_mask()) | (magnitude & format.magnitude_mask())
}

/// A number rounded to an integer.
pub fn integral(x: FiniteNumber, rounding: Rounding) -> ExactNumber {
    let significand = to_integral(x.significand, x.quantum, x.negative, rounding);
    ExactNumber { quantum: 0, significand, ..x.into() }
}

/// A number rounded to an integer; what is 2^64 or more as 2^64. `None` of a NaN.
///
/// ```
/// use roundonce_arith::{Format, Rounding};
/// use roundonce_functions::as_integer;
/// assert_eq!(as_integer(Format::F32, 0xc020_0000, Rounding::TowardZero), Some(-2)); // -2.5
/// assert_eq!(as_integer(Format::F32, 0xff80_0000, Rounding::TowardZero), Some(-1 << 64));
/// ```
pub fn as_integer(format: Format, bits: u64, rounding: Rounding) -> Option<i128> {
    let limit = 1i128 << 64;
    let (negative, magnitude) = match unpack(format, bits) {
        Unpacked::Nan { .. } => return None,
        Unpacked::Zero { .. } => return Some(0),
        Unpacked::Infinite { negative } => (negative, limit),
        Unpacked::Finite(x) if x.quantum >= 64 => (x.negative, limit),
        Unpacked::Finite(x) => {
            let magnitude = to_integral(x.significand, x.quantum, x.negative, rounding);
            (x.negative, i128::try_from(magnitude).map_or(limit, |magnitude| magnitude.min(limit)))
        }
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// The bits of an integer that a NaN becomes: 0, but from f64 or to 64 bits the highest bit alone.
///
/// Source: PTX ISA 9.0, `cvt`.
pub const fn nan_as_integer(from: Format, bits: u32) -> u64 {
    let is_wide = from.width() == 64 || bits == 64;
    if is_wide { 1 << (bits - 1) } else { 0 }
}

/// significand × 2^quantum as an integer, rounded; `quantum` is below 64.
pub fn to_integral(significand: u64, quantum: i32, negative: bool, rounding: Rounding) -> u128 {
    if quantum >= 0 {
        return (significand as u128) << quantum;
    }
    let drop = -quantum as u32;
    if drop > 64 {
        let up = matches!((rounding, negative), (Rounding::Down, true) | (Rounding::Up, false));
        return up as u128;
    }
    let whole = significand as u128;
    let (kept, rest) = (whole >> drop, whole & ((1u128 << drop) - 1));
    let half = 1u128 << (drop - 1);
    let up = match rounding {
        Rounding::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Rounding::TowardZero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    kept + up as u128
}
