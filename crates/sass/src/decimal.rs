//! Decimal immediates as nvdisasm 12.8 writes them: C's `%.20g`, and `%.20e` from 1e9 on.
//!
//! The rule was found by bisection and holds on every row of `vectors/edge/sass`: twenty significant digits without
//! trailing zeros below 1e9; one digit and twenty decimals, trailing zeros kept, at and above it. The value is exact
//! before it is cut, and a tie goes to the even digit.

/// 5^n for n up to 66: 66 digits behind the point are the most that twenty significant digits of an f32 need.
const POWERS_OF_5: [[u64; 3]; 67] = {
    let mut table = [[1, 0, 0]; 67];
    let mut n = 1;
    while n < 67 {
        table[n] = multiply(table[n - 1], 5);
        n += 1;
    }
    table
};

const POWERS_OF_10: [u64; 20] = {
    let mut table = [1; 20];
    let mut n = 1;
    while n < 20 {
        table[n] = table[n - 1] * 10;
        n += 1;
    }
    table
};

/// A number of three 64-bit limbs, the lowest first, times a small one.
const fn multiply(limbs: [u64; 3], factor: u64) -> [u64; 3] {
    let mut product = [0; 3];
    let mut carry = 0;
    let mut index = 0;
    while index < 3 {
        let sum = limbs[index] as u128 * factor as u128 + carry;
        product[index] = sum as u64;
        carry = sum >> 64;
        index += 1;
    }
    product
}

/// Half of a quotient's last digit, more, or less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    Below,
    Half,
    Above,
}

impl Rest {
    fn of(ordering: core::cmp::Ordering) -> Rest {
        match ordering {
            core::cmp::Ordering::Less => Rest::Below,
            core::cmp::Ordering::Equal => Rest::Half,
            core::cmp::Ordering::Greater => Rest::Above,
        }
    }
}

/// The limbs shifted right by `shift` (at most 191) and what fell out; the result fits 128 bits wherever it is used.
fn shift_right(limbs: [u64; 3], shift: u32) -> (u128, Rest) {
    let limb = |index: usize| limbs.get(index).copied().unwrap_or(0);
    let at = |start: u32| {
        // 64 bits from bit `start` on.
        let (index, inside) = ((start / 64) as usize, start % 64);
        let high = if inside == 0 { 0 } else { limb(index + 1) << (64 - inside) };
        limb(index) >> inside | high
    };
    let quotient = u128::from(at(shift)) | u128::from(at(shift + 64)) << 64;
    if shift == 0 {
        return (quotient, Rest::Below);
    }
    let half_bit = shift - 1;
    let half = limb((half_bit / 64) as usize) >> (half_bit % 64) & 1 == 1;
    let below = (0..3).any(|index| {
        let start = index * 64;
        let kept = half_bit.saturating_sub(start).min(64);
        kept > 0 && limbs[index as usize] << (64 - kept) != 0
    });
    let rest = match (half, below) {
        (false, _) => Rest::Below,
        (true, false) => Rest::Half,
        (true, true) => Rest::Above,
    };
    (quotient, rest)
}

/// significand × 2^exponent × 10^scale, cut to an integer, and what was cut off.
fn scaled(significand: u64, exponent: i32, scale: i32) -> (u128, Rest) {
    if exponent < 0 {
        // significand × 5^scale × 2^(scale + exponent); such a value is below 2^24, so scale is not negative.
        let product = multiply(POWERS_OF_5[scale as usize], significand);
        let shift = scale + exponent;
        if shift < 0 {
            shift_right(product, shift.unsigned_abs())
        } else {
            (shift_right(product, 0).0 << shift, Rest::Below)
        }
    } else {
        let integer = u128::from(significand) << exponent;
        if scale >= 0 {
            return (integer * u128::from(POWERS_OF_10[scale as usize]), Rest::Below);
        }
        let divisor = u128::from(POWERS_OF_10[scale.unsigned_abs() as usize]);
        let rest = integer % divisor;
        (integer / divisor, Rest::of((2 * rest).cmp(&divisor)))
    }
}

/// `count` significant digits of a positive number, rounded to nearest even, and the power of ten of the first.
fn digits(significand: u64, exponent: i32, count: i32) -> (u128, i32) {
    let top_bit = significand.ilog2() as i32 + exponent;
    // floor(log10 2^n) for every n of an f32: one too small at most.
    let mut power = (top_bit * 1233) >> 12;
    let limit = 10_u128.pow(count as u32);
    let (mut integer, mut rest) = scaled(significand, exponent, count - 1 - power);
    if integer >= limit {
        power += 1;
        (integer, rest) = scaled(significand, exponent, count - 1 - power);
    }
    if rest == Rest::Above || rest == Rest::Half && integer % 2 == 1 {
        integer += 1;
    }
    if integer == limit { (limit / 10, power + 1) } else { (integer, power) }
}

/// Writes a finite f32 as nvdisasm 12.8 does, but without the blank that it puts behind `-0.0`.
///
/// ```
/// let mut text = String::new();
/// roundonce_sass::write_decimal(0x3dcc_cccd, &mut text);
/// assert_eq!(text, "0.10000000149011611938");
/// ```
pub fn write_decimal(bits: u32, out: &mut String) {
    let fraction = u64::from(bits & 0x007f_ffff);
    let field = (bits >> 23 & 0xff) as i32;
    if bits & 0x7fff_ffff == 0 {
        out.push_str(if bits == 0 { "0" } else { "-0.0" });
        return;
    }
    if bits >> 31 == 1 {
        out.push('-');
    }
    let (significand, exponent) = if field == 0 { (fraction, -149) } else { (fraction | 1 << 23, field - 150) };
    // Most immediates are small integers: they need no power of ten.
    if (-23..=0).contains(&exponent) && significand.trailing_zeros() as i32 >= -exponent {
        push_integer(significand >> -exponent, out);
        return;
    }
    let mut buffer = [b'0'; 21];
    // 1e9 is 0x4e6e6b28.
    if bits & 0x7fff_ffff >= 0x4e6e_6b28 {
        let (integer, power) = digits(significand, exponent, 21);
        spell(integer, &mut buffer);
        push_scientific(&buffer, power, out);
        return;
    }
    let (integer, power) = digits(significand, exponent, 20);
    spell(integer, &mut buffer[..20]);
    let length = 20 - buffer[..20].iter().rev().take_while(|digit| **digit == b'0').count();
    if power < -4 {
        push_scientific(&buffer[..length.max(1)], power, out);
    } else if power < 0 {
        out.push_str(&"0.0000"[..(1 - power) as usize]);
        push_digits(&buffer[..length], out);
    } else {
        let whole = power as usize + 1;
        push_digits(&buffer[..whole], out);
        if length > whole {
            out.push('.');
            push_digits(&buffer[whole..length], out);
        }
    }
}

/// The decimal digits of a number that has no more than the buffer holds, with leading zeros.
fn spell(number: u128, buffer: &mut [u8]) {
    // In two halves, because 128-bit divisions are slow.
    let middle = buffer.len() - 10;
    let (mut high, mut low) = ((number / 10_000_000_000) as u64, (number % 10_000_000_000) as u64);
    for digit in buffer[middle..].iter_mut().rev() {
        *digit = b'0' + (low % 10) as u8;
        low /= 10;
    }
    for digit in buffer[..middle].iter_mut().rev() {
        *digit = b'0' + (high % 10) as u8;
        high /= 10;
    }
}

fn push_digits(digits: &[u8], out: &mut String) {
    // ASCII digits are always text.
    out.push_str(core::str::from_utf8(digits).unwrap_or_default());
}

/// `d.ddde-07`: at least two digits of exponent.
fn push_scientific(digits: &[u8], power: i32, out: &mut String) {
    push_digits(&digits[..1], out);
    if digits.len() > 1 {
        out.push('.');
        push_digits(&digits[1..], out);
    }
    out.push_str(if power < 0 { "e-" } else { "e+" });
    let power = power.unsigned_abs() as u8;
    push_digits(&[b'0' + power / 10, b'0' + power % 10], out);
}

/// A small number in decimal.
pub(crate) fn push_integer(number: u64, out: &mut String) {
    let mut buffer = [0; 20];
    let mut start = buffer.len();
    let mut left = number;
    loop {
        start -= 1;
        buffer[start] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    push_digits(&buffer[start..], out);
}
