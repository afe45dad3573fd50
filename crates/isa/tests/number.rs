//! Text to bits and back, against the standard library's own parser (f32, f64) and by hand elsewhere.

use roundonce_arith::Format;
use roundonce_isa::{exact_decimal, hexadecimal, missing_digits, nearest, parse_number, parse_value, shortest_decimal};
use roundonce_oracle::generate::SplitMix64;

fn random_words(count: usize) -> impl Iterator<Item = u64> {
    let mut random = SplitMix64(0x243f_6a88_85a3_08d3);
    (0..count).map(move |_| random.next_bits())
}

#[test]
fn decimals_agree_with_the_standard_library() {
    for word in random_words(200_000) {
        // Digits and an exponent around and beyond every edge of both formats.
        let digits = word >> (word % 60);
        let text = format!("{}{}.{}e{}", if word & 1 == 1 { "-" } else { "" }, digits, word % 1000, (word >> 13) % 720);
        let text = if word & 2 == 2 { text.replace('e', "e-") } else { text };
        let f64_bits = text.parse::<f64>().unwrap().to_bits();
        let f32_bits = u64::from(text.parse::<f32>().unwrap().to_bits());
        assert_eq!(parse_number(Format::F64, &text).unwrap().bits, f64_bits, "{text}");
        assert_eq!(parse_number(Format::F32, &text).unwrap().bits, f32_bits, "{text}");
    }
}

#[test]
fn every_number_reads_back() {
    let formats = [Format::F16, Format::BF16, Format::F32, Format::F64, Format::E4M3, Format::E5M2];
    for (index, word) in random_words(60_000).enumerate() {
        let format = formats[index % formats.len()];
        let bits = word & format.mask();
        if format.is_nan(bits) {
            continue;
        }
        for text in [shortest_decimal(format, bits), hexadecimal(format, bits), exact_decimal(format, bits)] {
            assert_eq!(parse_number(format, &text).unwrap().bits, bits, "{text}");
        }
    }
}

#[test]
fn one_rounding_only() {
    // Halfway between 1 and the next f16, and a little more: through f32 both would tie.
    assert_eq!(parse_number(Format::F16, "1.00048828125").unwrap().bits, 0x3c00);
    assert_eq!(parse_number(Format::F16, "1.000488281250000000000000000001").unwrap().bits, 0x3c01);
    assert_eq!(parse_number(Format::BF16, "1.003906250000000000000000000001").unwrap().bits, 0x3f81);
    assert_eq!(parse_number(Format::F32, "0x1.000001000000000000000000001p0").unwrap().bits, 0x3f80_0001);
}

/// Halfway between numbers of f64, all 767 digits of it and more; then so many digits that a quadratic time is felt.
#[test]
fn digits_without_end() {
    let random = random_words(400).map(|word| word & Format::F64.mask()).filter(|bits| !Format::F64.is_nan(*bits));
    for bits in random.chain([0, 1, 2, 0x000f_ffff_ffff_ffff, 0x0010_0000_0000_0000, 0x7fef_ffff_ffff_fffe]) {
        let magnitude = bits & !Format::F64.sign_mask();
        if magnitude >= Format::F64.infinity() - 1 {
            continue;
        }
        // The digits of 2 m + 1 in units of half the last place.
        let wide = |bits: u64| exact_decimal(Format::F64, bits);
        let halfway = midpoint(&wide(magnitude), &wide(magnitude + 1));
        let even = magnitude + (magnitude & 1);
        let zeros = "0".repeat(2000);
        assert_eq!(parse_number(Format::F64, &halfway).unwrap().bits, even, "{halfway}");
        let above = parse_number(Format::F64, &format!("{halfway}{zeros}1")).unwrap();
        assert_eq!((above.bits, above.exact), (magnitude + 1, false), "{halfway}…1");
        let as_much = parse_number(Format::F64, &format!("{halfway}{zeros}")).unwrap();
        assert_eq!((as_much.bits, as_much.exact), (even, false), "{halfway}…0");
    }
    let start = std::time::Instant::now();
    let third = parse_number(Format::F32, &format!("0.{}", "3".repeat(10_000_000))).unwrap();
    assert_eq!(third.bits, 0x3eaa_aaab);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// Half the sum of two decimals without an exponent, with a point.
fn midpoint(one: &str, other: &str) -> String {
    use num_bigint::BigUint;
    let behind = |text: &str| text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let places = behind(one).max(behind(other));
    let scaled = |text: &str| -> BigUint {
        let zeros = "0".repeat(places - behind(text));
        format!("{}{zeros}", text.replace('.', "")).parse().unwrap()
    };
    // A half in one more place.
    let digits = format!("{:0>width$}", ((scaled(one) + scaled(other)) * 5u32).to_string(), width = places + 2);
    let (whole, fraction) = digits.split_at(digits.len() - places - 1);
    format!("{whole}.{fraction}")
}

#[test]
fn a_word_that_is_near_none() {
    let known = ["FFMA", "fma.rn.f32", "mad.f32", "add.f32"];
    let near = |word: &str| nearest(word, known.into_iter(), 1 + word.len() / 4);
    assert_eq!(
        [near("ffam"), near("fmma.rn.f32"), near("mad.f32x2")],
        [Some("FFMA"), Some("fma.rn.f32"), Some("mad.f32")]
    );
    assert_eq!([near("0x00001387"), near("#"), near("//"), near("bogus"), near("")], [None; 5]);
    let long = "fma.rn.f32".repeat(1_000_000);
    assert_eq!([near(&long), near(&"é".repeat(1000))], [None; 2]);
}

#[test]
fn vectors_wider_than_64_bits_have_all_their_digits_too() {
    let whole = format!("0x{}3f80000040000000", "0".repeat(48));
    assert_eq!(missing_digits("0x3f80000040000000", 256), Some(whole.clone()));
    assert_eq!(missing_digits("0x13f80000040000000", 128), Some(format!("0x{}13f80000040000000", "0".repeat(15))));
    assert_eq!(
        (missing_digits(&whole, 256), missing_digits("0x1p3", 256), missing_digits("0x", 32)),
        (None, None, None)
    );
}

#[test]
fn edges_and_absurd_lengths() {
    let cases = [
        ("1e39", 0x7f80_0000),
        ("1e999999999999999999999", 0x7f80_0000),
        ("-1e-999999999999999999999", 0x8000_0000),
        ("0e999999999999999999999", 0),
        ("0x0.0000000000000000000000000001p-999999999999", 0),
        ("inf", 0x7f80_0000),
        ("-nan", 0xffc0_0000),
        ("1.4e-45", 1),
        (".5", 0x3f00_0000),
        ("5.", 0x40a0_0000),
    ];
    for (text, bits) in cases {
        assert_eq!(parse_number(Format::F32, text).map(|number| number.bits), Some(bits), "{text}");
    }
    let long = format!("1.{}1", "0".repeat(100_000));
    assert!(!parse_number(Format::F64, &long).unwrap().exact);
    for text in ["", "-", ".", "e5", "1e", "1e+", "0x", "0x.p1", "1.2.3", "1_0", "0b1", "infinit", "½"] {
        assert_eq!(parse_number(Format::F32, text), None, "{text}");
    }
}

/// Short decimals are read without big integers, up to some powers of ten: on either side of each limit the host's number.
#[test]
fn short_decimals_are_the_hosts() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let integers = [1, 2, 9, 10, 5_000_000_000, (1 << 53) + 1, (1 << 54) - 1, u64::MAX, u64::MAX / 10];
    let integers = integers.into_iter().chain((0..2_000).map(|at| next() >> (at % 64)).filter(|integer| *integer > 0));
    for integer in integers {
        for power in -24..=21 {
            let digits = integer.to_string();
            let (whole, fraction) = digits.split_at(digits.len() / 2);
            for text in [
                format!("{digits}e{power}"),
                format!("{whole}.{fraction}e{}", power + fraction.len() as i32),
                format!("-0.00{digits}e{}", power + 2 + digits.len() as i32),
                format!("{digits}0.e{}", power - 1),
            ] {
                let value: f64 = text.parse().unwrap();
                let read = parse_number(Format::F64, &text).unwrap();
                assert_eq!(read.bits, value.to_bits(), "{text}");
                let single: f32 = text.parse().unwrap();
                let read = parse_number(Format::F32, &text).unwrap();
                assert_eq!(read.bits, u64::from(single.to_bits()), "{text}");
            }
        }
    }
    for (text, exact) in
        [("0.1", false), ("0.5", true), ("0.125e1", true), ("9007199254740993", false), ("3e-1", false)]
    {
        assert_eq!(parse_number(Format::F64, text).unwrap().exact, exact, "{text}");
    }
}

#[test]
fn operands() {
    let bits =
        |format, lanes, text: &str| parse_value(format, lanes, text).map(|parsed| parsed.value.components().to_vec());
    assert_eq!(bits(Format::F32, 1, "0f3FC00000"), Ok(vec![0x3fc0_0000]));
    assert_eq!(bits(Format::F32, 1, "0d3FF8000000000000"), Ok(vec![0x3fc0_0000]));
    assert_eq!(bits(Format::F64, 1, "0f3FC00000"), Ok(vec![0x3ff8_0000_0000_0000]));
    assert_eq!(bits(Format::F32, 1, "-0x3fc00000"), Ok(vec![0xbfc0_0000]));
    assert_eq!(bits(Format::F32, 1, "0x1"), Ok(vec![1]));
    assert_eq!(bits(Format::F16, 4, "0x0004000300020001"), Ok(vec![1, 2, 3, 4]));
    assert_eq!(bits(Format::F64, 4, &format!("0x{}", "f".repeat(64))), Ok(vec![u64::MAX; 4]));
    for (format, lanes, text) in
        [(Format::F16, 1, "0x10000"), (Format::F32, 1, "0f3FC0000"), (Format::F32, 2, "1.5"), (Format::F32, 1, "0x")]
    {
        assert!(bits(format, lanes, text).is_err(), "{text}");
    }
    // With the letter of the operand's own type.
    for (format, text, value) in [
        (Format::F32, "1.5f", 0x3fc0_0000),
        (Format::F32, "-2.F", 0xc000_0000),
        (Format::F32, "0x1.8p0f", 0x3fc0_0000),
        (Format::F16, "1.5h", 0x3e00),
        (Format::BF16, "1.5b", 0x3fc0),
    ] {
        assert_eq!(bits(format, 1, text), Ok(vec![value]), "{text}");
    }
    // What is wrong, and not something else.
    for (text, problem) in [
        ("0x", "`0x` has no digits"),
        ("0xg", "`0xg` has a character that is no hex digit"),
        ("-0x1.8", "`-0x1.8` lacks the exponent of a hexadecimal number: expected such as `-0x1.8p0`"),
        ("0x1.8.", "`0x1.8.` has a character that is no hex digit"),
        ("1.5h", "`1.5h` has a type of its own, and the operand's is known: expected `1.5`"),
        ("1.5d", "`1.5d` has a type of its own, and the operand's is known: expected `1.5`"),
        ("4080000f", "`4080000f` has a type of its own, and the operand's is known: expected `4080000`"),
        ("inff", "`inff` is not a value: "),
        ("1.5q", "`1.5q` is not a value: "),
    ] {
        let found = bits(Format::F32, 1, text).unwrap_err();
        assert!(found.starts_with(problem), "{text}: {found}");
    }
}
