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
    let text;
    let mut buffer = [0; 21];
    let (all, power): (&str, i32) = match few_digits(value, 20 + u32::from(scientific), &mut buffer) {
        Some(found) => found,
        None => {
            text = format!("{value:.*e}", if scientific { 20 } else { 19 }).replacen('.', "", 1);
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            (digits, power.parse().unwrap_or_default())
        }
    };
    let shown = if scientific { all } else { all.trim_end_matches('0') };
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

/// As many digits of a number as asked for, 20 or 21, and the power of ten of the first of them, where 128 bits hold all
/// its digits: much faster than the general way. A tie goes to the even digit.
fn few_digits(value: f64, places: u32, buffer: &mut [u8; 21]) -> Option<(&str, i32)> {
    let exponent = (value.to_bits() >> 52) as i32 - 1075;
    let significand = value.to_bits() & ((1 << 52) - 1) | 1 << 52;
    let zeros = significand.trailing_zeros();
    let (significand, exponent) = (u128::from(significand >> zeros), exponent + zeros as i32);
    let (number, below) = match u32::try_from(exponent) {
        Ok(above) if above <= significand.leading_zeros() => (significand << above, 0),
        Ok(_) => return None,
        // significand × 5^below / 10^below.
        Err(_) => (significand.checked_mul(5_u128.checked_pow(exponent.unsigned_abs())?)?, -exponent),
    };
    let count = number.ilog10() + 1;
    let mut power = count as i32 - 1 - below;
    let digits = if count > places {
        let unit = 10_u128.pow(count - places);
        let (digits, rest) = (number / unit, number % unit);
        let rounded = digits + u128::from(rest > unit / 2 || rest == unit / 2 && digits % 2 == 1);
        let carried = rounded == 10_u128.pow(places);
        power += i32::from(carried);
        if carried { rounded / 10 } else { rounded }
    } else {
        number * 10_u128.pow(places - count)
    };
    // The last nineteen, then the one or two before them: steps of 64 bits.
    let split = 10_u128.pow(19);
    let (mut first, mut rest) = ((digits / split) as u64, (digits % split) as u64);
    let buffer = &mut buffer[..places as usize];
    let (begin, end) = buffer.split_at_mut(places as usize - 19);
    for (half, part) in [(&mut first, begin), (&mut rest, end)] {
        for place in part.iter_mut().rev() {
            *place = b'0' + (*half % 10) as u8;
            *half /= 10;
        }
    }
    Some((core::str::from_utf8(buffer).ok()?, power))
}

/// A number in decimal.
pub(crate) fn push_integer(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}
