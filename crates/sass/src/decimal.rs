//! Decimal immediates as nvdisasm 12.8 writes them: C's `%.20g`, and `%.20e` from 1e9 on.
//!
//! The rule was found by bisection and holds on every row of `vectors/edge/sass`: twenty significant digits without
//! trailing zeros below 1e9; one digit and twenty decimals, trailing zeros kept, at and above it. The value is exact
//! before it is cut, and a tie goes to the even digit.

/// Writes a finite f32 as nvdisasm 12.8 does, but without the blank that it puts behind `-0.0`.
///
/// ```
/// let mut text = String::new();
/// roundonce_sass::write_decimal(0x3dcc_cccd, &mut text);
/// assert_eq!(text, "0.10000000149011611938");
/// ```
pub fn write_decimal(bits: u32, out: &mut String) {
    // Every f32 is an f64.
    write_wide_decimal(f64::from(f32::from_bits(bits)), out);
}

/// The same for a finite f64.
pub(crate) fn write_wide_decimal(value: f64, out: &mut String) {
    if value == 0.0 {
        out.push_str(if value.is_sign_positive() { "0" } else { "-0.0" });
        return;
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    let value = value.abs();
    // Most immediates are small integers: they need no conversion.
    if value < 16_777_216.0 && value.fract() == 0.0 {
        push_integer(value as u64, out);
        return;
    }
    let scientific = value >= 1e9;
    let text = format!("{value:.*e}", if scientific { 20 } else { 19 });
    let (significand, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    let all = significand.replacen('.', "", 1);
    let shown = if scientific { all.as_str() } else { all.trim_end_matches('0') };
    if scientific || power < -4 {
        let (first, rest) = shown.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        // At least two digits of exponent.
        out.push_str(if power < 0 { "e-" } else { "e+" });
        out.push_str(if power.abs() < 10 { "0" } else { "" });
        push_integer(u64::from(power.unsigned_abs()), out);
    } else if power < 0 {
        out.push_str(&"0.0000"[..(1 - power) as usize]);
        out.push_str(shown);
    } else {
        let whole = power as usize + 1;
        out.push_str(&all[..whole]);
        if shown.len() > whole {
            out.push('.');
            out.push_str(&shown[whole..]);
        }
    }
}

/// A number in decimal.
pub(crate) fn push_integer(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}
