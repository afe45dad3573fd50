//! The decimals of immediates against big integers.

use num_bigint::BigUint;
use roundonce_sass::write_decimal;

/// `count` significant digits of a positive value, rounded to nearest even, and the power of ten of the first.
fn digits(value: f32, count: i32) -> (String, i32) {
    let (fraction, field) = (value.to_bits() & 0x7f_ffff, (value.to_bits() >> 23) as i32);
    let (significand, quantum) = if field == 0 { (fraction, -149) } else { (fraction | 1 << 23, field - 150) };
    let ten = BigUint::from(10_u32);
    let mut power = f64::from(value).log10().floor() as i32 + 1;
    loop {
        // The value is `over` / `under` units of the last digit.
        let scale = count - 1 - power;
        let over = (BigUint::from(significand) * ten.pow(scale.max(0) as u32)) << quantum.max(0) as u32;
        let under = ten.pow((-scale).max(0) as u32) << (-quantum).max(0) as u32;
        let (mut whole, rest) = (&over / &under, (&over % &under) * 2_u32);
        if rest > under || rest == under && whole.bit(0) {
            whole += 1_u32;
        }
        let text = whole.to_string();
        // The power was one too large if a digit is missing.
        if text.len() as i32 == count {
            return (text, power);
        }
        power += text.len() as i32 - count;
    }
}

/// C's `%.20g` below 1e9 and `%.20e` from there on.
fn reference(value: f32) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let value = value.abs();
    if value == 0.0 {
        return if sign.is_empty() { "0" } else { "-0.0" }.to_owned();
    }
    if value >= 1e9 {
        let (digits, power) = digits(value, 21);
        return format!("{sign}{}.{}e+{power:02}", &digits[..1], &digits[1..]);
    }
    let (digits, power) = digits(value, 20);
    let with_point =
        |whole: &str, rest: &str| format!("{whole}.{rest}").trim_end_matches(['0']).trim_end_matches('.').to_owned();
    if power < -4 {
        return format!("{sign}{}e-{:02}", with_point(&digits[..1], &digits[1..]), -power);
    }
    let zeros = "0".repeat((-power).max(0) as usize);
    let all = zeros + &digits;
    let whole = power.max(0) as usize + 1;
    sign.to_owned() + &with_point(&all[..whole], &all[whole..])
}

fn assert_equal(bits: u32, out: &mut String) {
    let value = f32::from_bits(bits);
    if value.is_finite() {
        out.clear();
        write_decimal(bits, out);
        assert_eq!(*out, reference(value), "{bits:#010x}");
    }
}

#[test]
fn every_short_immediate() {
    let mut out = String::new();
    for bits in 0..1 << 20 {
        assert_equal(bits << 12, &mut out);
    }
}

#[test]
fn long_immediates() {
    let mut out = String::new();
    // Every exponent with the ends of its range, then a walk whose step is odd: no bits come twice.
    for exponent in 0..0xff_u32 {
        for fraction in [0, 1, 2, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff] {
            assert_equal(exponent << 23 | fraction, &mut out);
        }
    }
    for step in 0..500_000_u32 {
        assert_equal(step.wrapping_mul(0x9e37_79b9), &mut out);
    }
}
