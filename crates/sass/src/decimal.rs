//! Decimal immediates as nvdisasm 12.8 writes them: C's `%.20g`, and `%.20e` from 1e9 on.
//!
//! The rule was found by bisection and holds on every row of `vectors/edge/sass`: twenty significant digits without
//! trailing zeros below 1e9; one digit and twenty decimals, trailing zeros kept, at and above it. The value is exact
//! before it is cut, and a tie goes to the even digit.
//!
//! The standard library's `{:.19e}` has the same digits (a test compares them), but needs a microsecond for them:
//! it would take more time than all the rest of a line. 128 bits and one wide product are enough for an f32.

use core::cmp::Ordering;

/// Powers of 5 that leave room for a 24-bit significand in 128 bits.
const POWERS_OF_5: [u128; 45] = {
    let mut table = [1; 45];
    let mut n = 1;
    while n < table.len() {
        table[n] = table[n - 1] * 5;
        n += 1;
    }
    table
};

/// significand × 2^exponent × 10^scale, rounded to the nearest integer, ties to even.
fn scaled(significand: u128, exponent: i32, scale: i32) -> u128 {
    let (quotient, rest) = if scale < 0 {
        // Only numbers from 1e9 on come here: they are integers.
        let divisor = 10_u128.pow(scale.unsigned_abs());
        let integer = significand << exponent;
        (integer / divisor, (2 * (integer % divisor)).cmp(&divisor))
    } else {
        // significand × 5^scale × 2^(exponent + scale)
        let largest = POWERS_OF_5.len() - 1;
        let scale = scale as usize;
        let shift = -(exponent + scale as i32);
        let product = significand * POWERS_OF_5[scale.min(largest)];
        if shift <= 0 {
            return product << -shift;
        }
        let (product, shift) = match scale.checked_sub(largest) {
            None | Some(0) => (product, shift),
            // Up to 178 bits. The lowest 56 become one sticky bit; the shift is at least 61.
            Some(more) => {
                let low = (product & u128::from(u64::MAX)) * POWERS_OF_5[more];
                let high = (product >> 64) * POWERS_OF_5[more] + (low >> 64);
                let low = low as u64;
                (high << 8 | u128::from(low >> 56) | u128::from(low << 8 != 0), shift - 56)
            }
        };
        (product >> shift, (product & ((1 << shift) - 1)).cmp(&(1 << (shift - 1))))
    };
    let up = rest == Ordering::Greater || rest == Ordering::Equal && quotient % 2 == 1;
    quotient + u128::from(up)
}

/// `count` significant digits of a positive number, rounded to nearest even, and the power of ten of the first.
fn digits(significand: u128, exponent: i32, count: i32) -> (u128, i32) {
    // floor(log10 2^n) for every n of an f32: one too small at most. Rounding can add one digit more.
    let mut power = ((significand.ilog2() as i32 + exponent) * 1233) >> 12;
    loop {
        let integer = scaled(significand, exponent, count - 1 - power);
        if integer < 10_u128.pow(count.unsigned_abs()) {
            return (integer, power);
        }
        power += 1;
    }
}

/// Writes a finite f32 as nvdisasm 12.8 does, but without the blank that it puts behind `-0.0`.
///
/// ```
/// let mut text = String::new();
/// roundonce_sass::write_decimal(0x3dcc_cccd, &mut text);
/// assert_eq!(text, "0.10000000149011611938");
/// ```
pub fn write_decimal(bits: u32, out: &mut String) {
    let magnitude = bits & 0x7fff_ffff;
    if magnitude == 0 {
        out.push_str(if bits == 0 { "0" } else { "-0.0" });
        return;
    }
    if bits >> 31 == 1 {
        out.push('-');
    }
    let (fraction, field) = (u128::from(bits & 0x007f_ffff), (magnitude >> 23) as i32);
    let (significand, exponent) = if field == 0 { (fraction, -149) } else { (fraction | 1 << 23, field - 150) };
    // Most immediates are small integers: they need no power of ten.
    if (-23..=0).contains(&exponent) && significand.trailing_zeros() as i32 >= -exponent {
        push_integer((significand >> -exponent) as u64, out);
        return;
    }
    // 1e9 is 0x4e6e6b28.
    let scientific = magnitude >= 0x4e6e_6b28;
    let (integer, power) = digits(significand, exponent, if scientific { 21 } else { 20 });
    let mut buffer = itoa::Buffer::new();
    let all = buffer.format(integer);
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

/// A number in decimal.
pub(crate) fn push_integer(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}
