//! Floats without rounding: signs, extrema, comparisons, classes.

use roundonce_arith::{Format, Profile};
use roundonce_ir::{Class, Comparand, Comparison};

/// The sign bit cleared or flipped; of a NaN too.
#[inline(always)]
pub fn sign(format: Format, negate: bool, flush: bool, a: u64) -> u64 {
    let a = if flush { format.flush(a) } else { a & format.mask() };
    if negate { a ^ format.sign_mask() } else { a & format.magnitude_mask() }
}

/// The bits of a number as an integer that orders as the number does, −0 below +0.
#[inline(always)]
fn ordered(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if format.is_negative(bits) { -1 - magnitude } else { magnitude }
}

/// The smaller or the larger; see [`Op::MinMax`](roundonce_ir::Op::MinMax).
#[inline(always)]
pub fn extremum(
    profile: &Profile,
    format: Format,
    max: bool,
    flush: bool,
    nan: bool,
    xorsign_abs: bool,
    [a, b]: [u64; 2],
) -> u64 {
    let (mut a, mut b) = (a & format.mask(), b & format.mask());
    if flush {
        (a, b) = (format.flush(a), format.flush(b));
    }
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
        (a_is_nan, _) => return profile.nan_result(format, Some(if a_is_nan { a } else { b })),
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
        Comparand::Float(format, flush) => {
            let clean = |bits| if flush { format.flush(bits) } else { bits & format.mask() };
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
