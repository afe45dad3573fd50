//! f16 and bf16 by the host's f64, which holds them and f32.

use roundonce_arith::{Format, Rounding};

/// The number that bits stand for.
pub(crate) fn value(format: Format, bits: u64) -> f64 {
    if format == Format::F64 {
        return f64::from_bits(bits);
    }
    let (exponent_bits, fraction_bits) = fields(format);
    let negative = bits >> (exponent_bits + fraction_bits) & 1 == 1;
    let exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    let fraction = bits & ((1 << fraction_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = if exponent == (1 << exponent_bits) - 1 {
        if fraction == 0 { f64::INFINITY } else { f64::NAN }
    } else if exponent == 0 {
        fraction as f64 * 2f64.powi(1 - bias - fraction_bits)
    } else {
        (fraction | 1 << fraction_bits) as f64 * 2f64.powi(exponent as i32 - bias - fraction_bits)
    };
    if negative { -magnitude } else { magnitude }
}

/// The bits of a number, no NaN, rounded.
pub(crate) fn round(format: Format, number: f64, rounding: Rounding) -> u64 {
    let (exponent_bits, fraction_bits) = fields(format);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let sign = u64::from(number.is_sign_negative()) << (exponent_bits + fraction_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    if number.is_infinite() {
        return sign | infinity;
    }
    // In units of the last place, by powers of two: exact.
    let exponent = ((number.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - bias);
    let scaled = number.abs() * 2f64.powi(fraction_bits - exponent);
    let away = match rounding {
        Rounding::NearestEven => scaled.round_ties_even(),
        Rounding::TowardZero => scaled.floor(),
        Rounding::Down if sign == 0 => scaled.floor(),
        Rounding::Up if sign != 0 => scaled.floor(),
        Rounding::Down | Rounding::Up => scaled.ceil(),
    } as u64;
    // The exponent's lowest value has the hidden bit's place: a carry into it is right.
    let magnitude = ((exponent + bias - 1) as u64) * (1 << fraction_bits) + away;
    let overflows = magnitude >= infinity;
    let stops = match rounding {
        Rounding::NearestEven => false,
        Rounding::TowardZero => true,
        Rounding::Down => sign == 0,
        Rounding::Up => sign != 0,
    };
    sign | if overflows && stops { infinity - 1 } else { magnitude.min(infinity) }
}

/// A minimum or maximum: `.max`, `.ftz`, `.NaN`, `.xorsign.abs`.
pub(crate) fn min_max(format: Format, (max, flush, nan, xorsign_abs): (bool, bool, bool, bool), a: u64, b: u64) -> u64 {
    let (exponent_bits, fraction_bits) = fields(format);
    let sign = 1u64 << (exponent_bits + fraction_bits);
    let clean =
        |bits: u64| if flush && bits & (sign - 1) >> fraction_bits << fraction_bits == 0 { bits & sign } else { bits };
    let (mut a, mut b) = (clean(a), clean(b));
    let signs = (a ^ b) & sign;
    if xorsign_abs {
        (a, b) = (a & !sign, b & !sign);
    }
    let (x, y) = (value(format, a), value(format, b));
    if x.is_nan() && y.is_nan() || nan && (x.is_nan() || y.is_nan()) {
        // f64 keeps a payload: that of b, if b is a NaN.
        return match format {
            Format::F64 => (if y.is_nan() { b } else { a }) | 1 << 51,
            _ => sign - 1,
        };
    }
    let above = x > y || x == y && a & sign == 0;
    let result = if y.is_nan() || !x.is_nan() && above == max { a } else { b };
    if xorsign_abs { result | signs } else { result }
}

/// Bits of the exponent and of the fraction.
fn fields(format: Format) -> (i32, i32) {
    match format.width() {
        16 if format == Format::BF16 => (8, 7),
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    }
}
