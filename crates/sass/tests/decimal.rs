//! The decimals of immediates against the standard library's exact ones.

use roundonce_sass::write_decimal;

/// C's `%.20g` below 1e9 and `%.20e` from there on, from the digits of the standard library.
fn reference(value: f32) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0" }.to_owned();
    }
    let scientific = |decimals: usize| {
        let text = format!("{value:.decimals$e}");
        let (digits, power) = text.split_once('e').unwrap();
        (digits.to_owned(), power.parse::<i32>().unwrap())
    };
    let trimmed = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if value.abs() >= 1e9 {
        let (digits, power) = scientific(20);
        return format!("{digits}e+{power:02}");
    }
    let (digits, power) = scientific(19);
    if power < -4 {
        return format!("{}e-{:02}", trimmed(&digits), -power);
    }
    let decimals = (19 - power) as usize;
    trimmed(&format!("{value:.decimals$}"))
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
