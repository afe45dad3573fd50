//! Conversions to the formats of eight bits and fewer against their judge, and from them against tables of their values.

use num_bigint::BigUint;
use roundonce_arith::{
    ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Profile, Rounding, Unpacked,
};
use roundonce_oracle::conversion::Conversion;

/// Magnitudes are multiples of 2^-SCALE.
const SCALE: i32 = 200;

/// The magnitude of every code without its sign, by the formula of OFP8 and MX: exponent bits, fraction bits, bias.
fn magnitudes(exp_bits: u32, frac_bits: u32, count: usize) -> Vec<BigUint> {
    let bias = (1 << (exp_bits - 1)) - 1;
    let of = |code: usize| {
        let (field, fraction) = ((code >> frac_bits) as i32, code & ((1 << frac_bits) - 1));
        let (significand, exponent) =
            if field == 0 { (fraction, 1 - bias) } else { (fraction | 1 << frac_bits, field - bias) };
        BigUint::from(significand) << (SCALE + exponent - frac_bits as i32) as u32
    };
    (0..count).map(of).collect()
}

/// The finite magnitudes of a format, and its name: E, M and how many codes are finite.
fn tables() -> [(NarrowFormat, Vec<BigUint>); 5] {
    [
        (NarrowFormat::E4M3, magnitudes(4, 3, 0x7f)),
        (NarrowFormat::E5M2, magnitudes(5, 2, 0x7c)),
        (NarrowFormat::E2M3, magnitudes(2, 3, 0x20)),
        (NarrowFormat::E3M2, magnitudes(3, 2, 0x20)),
        (NarrowFormat::E2M1, magnitudes(2, 1, 0x8)),
    ]
}

fn exact(bits: u64) -> BigUint {
    let (fraction, field) = (bits & 0x7f_ffff, (bits >> 23 & 0xff) as i32);
    let (significand, quantum) = if field == 0 { (fraction, -149) } else { (fraction | 1 << 23, field - 150) };
    BigUint::from(significand) << (SCALE + quantum) as u32
}

fn conversion(format: NarrowFormat, rounding: ConversionRounding, relu: bool) -> PackedConversion {
    let random = rounding == ConversionRounding::Random;
    PackedConversion {
        to: Element::Narrow(format),
        from: Element::Float(Format::F32),
        count: if random { 4 } else { 2 },
        rounding,
        satfinite: true,
        relu,
    }
}

/// The judge of the same conversion.
fn judge(conversion: &PackedConversion) -> Conversion {
    let rounding = match conversion.rounding {
        ConversionRounding::Random => "rs",
        ConversionRounding::Direction(direction) => direction.name(),
    };
    let relu = if conversion.relu { ".relu" } else { "" };
    let spelling = format!("cvt.{rounding}.satfinite{relu}.{}x{}.f32", conversion.to.name(), conversion.count);
    Conversion::read(&spelling).expect("a spelling")
}

fn check(judge: &Conversion, conversion: &PackedConversion, bits: u64, random: (u64, u32)) {
    let (found, expected) = (conversion.convert(&Profile::NVIDIA, bits, random), judge.value(bits, random));
    assert_eq!(found, expected, "{bits:#010x} to {} {:?}, {random:?}", conversion.to.name(), conversion.rounding);
}

const ROUNDINGS: [ConversionRounding; 3] = [
    ConversionRounding::Direction(Rounding::NearestEven),
    ConversionRounding::Direction(Rounding::TowardZero),
    ConversionRounding::Random,
];

/// f32s at and beside every value and every midpoint, at the ends of the range, and pseudorandom ones.
fn inputs(table: &[BigUint]) -> Vec<u64> {
    let mut all: Vec<u64> =
        (0..0x100).flat_map(|field| [0, 1, 0x3f_ffff, 0x40_0000, 0x7f_ffff].map(|f| field << 23 | f)).collect();
    for pair in table.windows(2) {
        for twice in [&pair[0] * 2_u32, &pair[0] + &pair[1]] {
            let value: f64 = twice.to_string().parse::<f64>().unwrap() * 2.0_f64.powi(-SCALE - 1);
            let bits = u64::from((value as f32).to_bits());
            all.extend((bits.saturating_sub(2)..bits + 3).collect::<Vec<_>>());
        }
    }
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        // Half of them near the formats' ranges.
        let bits = state >> 32;
        all.push(if bits & 1 == 0 { bits } else { bits & 0x87ff_ffff | 0x3800_0000 });
    }
    all.iter().flat_map(|bits| [*bits, bits ^ 0x8000_0000]).collect()
}

#[test]
fn to_narrow_formats() {
    for (format, table) in tables() {
        let inputs = inputs(&table);
        for (rounding, relu) in ROUNDINGS.into_iter().flat_map(|rounding| [(rounding, false), (rounding, true)]) {
            let conversion = conversion(format, rounding, relu);
            let judge = judge(&conversion);
            for &bits in &inputs {
                if rounding == ConversionRounding::Random {
                    for random in [bits.wrapping_mul(0x9e37_79b9) >> 7 & 0xffff, 0, 0xffff] {
                        check(&judge, &conversion, bits, (random, 16));
                    }
                } else {
                    check(&judge, &conversion, bits, (0, 16));
                }
            }
        }
    }
}

#[test]
fn from_narrow_formats() {
    for (format, table) in tables() {
        let sign = 1_u64 << (format.width() - 1);
        for code in 0..1_u64 << format.width() {
            let magnitude = code & (sign - 1);
            match (format.unpack(code), table.get(magnitude as usize)) {
                (Unpacked::Zero { negative }, Some(value)) => {
                    assert_eq!((negative, value), (code & sign != 0, &BigUint::ZERO));
                }
                (Unpacked::Finite(number), Some(value)) => {
                    assert_eq!(number.negative, code & sign != 0);
                    assert_eq!(&(BigUint::from(number.significand) << (number.quantum + SCALE) as u32), value);
                }
                (Unpacked::Infinite { negative }, None) => {
                    assert_eq!((format, magnitude, negative), (NarrowFormat::E5M2, 0x7c, code & sign != 0));
                }
                (Unpacked::Nan { .. }, None) => assert!(format.nan().is_some() && magnitude >= 0x7d),
                (found, expected) => panic!("{} {code:#x}: {found:?}, {expected:?}", format.name()),
            }
            for (to, infinity, nan) in [(Format::F16, 0x7c00, 0x7fff), (Format::BF16, 0x7f80, 0x7fff)] {
                let conversion = PackedConversion {
                    to: Element::Float(to),
                    from: Element::Narrow(format),
                    count: 2,
                    rounding: ConversionRounding::Direction(Rounding::NearestEven),
                    satfinite: false,
                    relu: false,
                };
                let shift = Element::Narrow(format).stride();
                let found = conversion.evaluate(&Profile::NVIDIA, &[code << shift | code], 0);
                assert_eq!(found >> 16, found & 0xffff, "both halves");
                let (found, top) = (found & 0x7fff, found >> 15 & 1 == 1);
                match table.get(magnitude as usize) {
                    // f16 and bf16 hold every value: shifted to an f32 it is the same one.
                    Some(value) => {
                        assert_eq!(top, code & sign != 0);
                        let f16 = |bits: u64| {
                            let (fraction, field) = (bits & 0x3ff, (bits >> 10) as i32);
                            let (significand, quantum) =
                                if field == 0 { (fraction, -24) } else { (fraction | 0x400, field - 25) };
                            BigUint::from(significand) << (SCALE + quantum) as u32
                        };
                        assert_eq!(&if to == Format::F16 { f16(found) } else { exact(found << 16) }, value);
                    }
                    None if (format, magnitude) == (NarrowFormat::E5M2, 0x7c) => assert_eq!(found, infinity),
                    None => assert_eq!((found, top), (nan, false)),
                }
            }
        }
    }
}

/// Powers of two: every bf16, f32s at and beside every power and its double, and the values on which nothing but NVIDIA's
/// library says a word (`__nv_cvt_float_to_e8m0`): a sign, zero, what is less than 2^-127.
#[test]
fn powers_of_two() {
    let powers = Element::PowerOfTwo;
    for (rounding, satfinite) in
        [(Rounding::TowardZero, true), (Rounding::TowardZero, false), (Rounding::Up, true), (Rounding::Up, false)]
    {
        for from in [Format::F32, Format::BF16] {
            let to_power = PackedConversion {
                to: powers,
                from: Element::Float(from),
                count: 2,
                rounding: ConversionRounding::Direction(rounding),
                satfinite,
                relu: false,
            };
            let flag = if satfinite { ".satfinite" } else { "" };
            let source = if from == Format::F32 { "f32" } else { "bf16x2" };
            let judge =
                Conversion::read(&format!("cvt.{}{flag}.ue8m0x2.{source}", rounding.name())).expect("a spelling");
            let all: Vec<u64> = match from {
                Format::BF16 => (0..=0xffff).collect(),
                _ => inputs(&magnitudes(8, 0, 0x100)[2..]),
            };
            for bits in all {
                check(&judge, &to_power, bits, (0, 16));
            }
        }
    }
    let from_f32 = |rounding, satfinite, bits| {
        let rounding = ConversionRounding::Direction(rounding);
        let from = Element::Float(Format::F32);
        let to_power = PackedConversion { to: powers, from, count: 2, rounding, satfinite, relu: false };
        to_power.convert(&Profile::NVIDIA, bits, (0, 0))
    };
    // 3, -3, +0, -0, the smallest subnormal, 2^-127 and the next, the largest, infinity, NaN.
    let inputs =
        [0x4040_0000, 0xc040_0000, 0, 0x8000_0000, 1, 0x0040_0000, 0x0040_0001, 0x7f7f_ffff, 0xff80_0000, 0xffc0_0001];
    let all = |rounding, satfinite| inputs.map(|bits| from_f32(rounding, satfinite, bits));
    assert_eq!(all(Rounding::TowardZero, true), [0x80, 0x80, 0, 0, 0, 0, 0, 0xfe, 0xfe, 0xff]);
    assert_eq!(all(Rounding::Up, true), [0x81, 0x81, 0, 0, 0, 0, 1, 0xfe, 0xfe, 0xff]);
    assert_eq!(all(Rounding::Up, false), [0x81, 0x81, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff]);
    let widen = PackedConversion {
        to: Element::Float(Format::BF16),
        from: powers,
        count: 2,
        rounding: ConversionRounding::Direction(Rounding::NearestEven),
        satfinite: false,
        relu: false,
    };
    for code in 0..0x100_u64 {
        let expected = match code {
            0 => 0x0040,
            0xff => 0x7fff,
            _ => code << 7,
        };
        assert_eq!(widen.evaluate(&Profile::NVIDIA, &[code << 8 | 0x7f], 0), expected << 16 | 0x3f80);
    }
}

/// Where the random bits of each value lie: PTX ISA, `cvt`, `rbits`.
#[test]
fn places_of_random_bits() {
    let f32s = Element::Float(Format::F32);
    let of =
        |to, count| PackedConversion { to, from: f32s, count, ..conversion(NarrowFormat::E4M3, ROUNDINGS[2], false) };
    let all = |conversion: PackedConversion| {
        (0..conversion.count as usize).map(|at| conversion.random_bits(at, 0xabcd_ef12)).collect::<Vec<_>>()
    };
    assert_eq!(all(of(Element::Float(Format::BF16), 2)), [(0xef12, 16), (0xabcd, 16)]);
    assert_eq!(all(of(Element::Float(Format::F16), 2)), [(0x0f12, 13), (0x0bcd, 13)]);
    let eight = [(0xef12, 16), (0xef12, 16), (0xabcd, 16), (0xabcd, 16)];
    assert_eq!(all(of(Element::Narrow(NarrowFormat::E5M2), 4)), eight);
    assert_eq!(all(of(Element::Narrow(NarrowFormat::E2M3), 4)), eight);
    let four = [(0xcd12, 16), (0xcd12, 16), (0xabef, 16), (0xabef, 16)];
    assert_eq!(all(of(Element::Narrow(NarrowFormat::E2M1), 4)), four);
    // 1 + 2^-10 - 2^-23 and all random bits: f16's next number.
    let f16 = of(Element::Float(Format::F16), 2);
    assert_eq!(f16.evaluate(&Profile::NVIDIA, &[0x3f80_1fff, 0x3f80_1fff], 0x1fff_0000), 0x3c01_3c00);
    // Beyond the largest number: infinity, or with `.satfinite` the largest.
    let large = [0x477f_ffff, 0xc77f_ffff];
    assert_eq!(
        PackedConversion { satfinite: false, ..f16 }.evaluate(&Profile::NVIDIA, &large, 0x1fff_1fff),
        0x7c00_fc00
    );
    assert_eq!(f16.evaluate(&Profile::NVIDIA, &large, 0x1fff_1fff), 0x7bff_fbff);
}
