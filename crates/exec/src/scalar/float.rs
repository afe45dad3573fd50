//! Comparisons and classes of floats.

use core::cmp::Ordering;

use roundonce_arith::Format;
use roundonce_functions::{flushed, ordered};
use roundonce_ir::{Class, Comparand, Comparison};

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
    holds(comparison, order, unordered)
}

/// Whether a comparison of two values in some order, or in none, is true.
#[inline(always)]
pub(crate) fn holds(comparison: Comparison, order: Ordering, unordered: bool) -> bool {
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
