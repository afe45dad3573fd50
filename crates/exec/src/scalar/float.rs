//! Floats without rounding: signs, extrema, comparisons, classes.

use roundonce_arith::{Format, Profile};
use roundonce_ir::{Class, Comparand, Comparison};

/// The bits above the format cleared; with `flush` a subnormal becomes zero of its sign.
#[inline(always)]
pub(super) const fn flushed(format: Format, flush: bool, bits: u64) -> u64 {
    if flush { format.flush(bits) } else { bits & format.mask() }
}

/// Absolute value or negation, of a NaN too.
#[inline(always)]
pub fn sign(format: Format, negate: bool, flush: bool, a: u64) -> u64 {
    let a = flushed(format, flush, a);
    if negate { a ^ format.sign_mask() } else { a & format.magnitude_mask() }
}

/// The bits of a number as an integer that orders as the number does, −0 below +0.
#[inline(always)]
fn ordered(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if format.is_negative(bits) { -1 - magnitude } else { magnitude }
}

/// A minimum or maximum; see [`Op::MinMax`](roundonce_ir::Op::MinMax).
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

/// A comparison.
#[inline(always)]
pub fn compare(comparison: Comparison, of: Comparand, a: u64, b: u64) -> bool {
    let (order, unordered) = match of {
        Comparand::Unsigned(width) => ((a & width.mask()).cmp(&(b & width.mask())), false),
        Comparand::Signed(width) => {
            let bits = width.bits();
            (super::sign_extend(a, bits).cmp(&super::sign_extend(b, bits)), false)
        }
        Comparand::Float { format, flush } => {
            let clean = |bits| flushed(format, flush, bits);
            let (a, b) = (clean(a), clean(b));
            // Zeros are equal whatever their signs.
            let key = |bits| if format.is_zero(bits) { 0 } else { ordered(format, bits) };
            (key(a).cmp(&key(b)), format.is_nan(a) || format.is_nan(b))
        }
    };
    match comparison {
        Comparison::Eq => !unordered && order.is_eq(),
        Comparison::Ne => !unordered && order.is_ne(),
        Comparison::Lt => !unordered && order.is_lt(),
        Comparison::Le => !unordered && order.is_le(),
        Comparison::Gt => !unordered && order.is_gt(),
        Comparison::Ge => !unordered && order.is_ge(),
        Comparison::Equ => unordered || order.is_eq(),
        Comparison::Neu => unordered || order.is_ne(),
        Comparison::Ltu => unordered || order.is_lt(),
        Comparison::Leu => unordered || order.is_le(),
        Comparison::Gtu => unordered || order.is_gt(),
        Comparison::Geu => unordered || order.is_ge(),
        Comparison::Num => !unordered,
        Comparison::Nan => unordered,
    }
}

/// Whether a value is of a class.
#[inline(always)]
pub fn classify(format: Format, class: Class, a: u64) -> bool {
    match class {
        Class::Finite => !format.is_nan(a) && !format.is_infinite(a),
        Class::Infinite => format.is_infinite(a),
        Class::Number => !format.is_nan(a),
        Class::NotANumber => format.is_nan(a),
        Class::Normal => !format.is_nan(a) && !format.is_infinite(a) && !format.is_zero(a) && !format.is_subnormal(a),
        Class::Subnormal => format.is_subnormal(a),
    }
}
