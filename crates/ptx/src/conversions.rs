//! The rows of the conversions from and to formats of eight bits and fewer, and of those with random bits: what is
//! spelled how, where it exists, and what it computes ([`PackedConversion`]).

use roundonce_arith::{ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Rounding, ScaleFormat};
use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Range, Slot, Variants, Version, split_modifiers};

const fn plain(text: &'static str) -> Choice {
    Choice { text, effect: Effect::Nothing }
}
/// Slots, not fixed parts, which stand in order: modifiers stand anywhere.
const fn one(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: true })
}
const fn optional(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: false })
}
const fn ty(text: &'static str) -> Choice {
    Choice { text, effect: Effect::NamesType }
}

const RN: Part = one(".rn", &[plain(".rn")]);
const RZ: Part = one(".rz", &[plain(".rz")]);
const RS: Part = one(".rs", &[plain(".rs")]);
/// To powers of two, whose magnitude is rounded.
const FRND3: Part = one(".frnd3", &[plain(".rz"), plain(".rp")]);
const SATFINITE: Part = one(".satfinite", &[plain(".satfinite")]);
const MAY_SATFINITE: Part = optional(".satfinite", &[plain(".satfinite")]);
const RELU: Part = optional(".relu", &[plain(".relu")]);
const F32: Part = Part::Fixed(".f32");
const F16X2: Part = Part::Fixed(".f16x2");
const BF16X2: Part = Part::Fixed(".bf16x2");
const HALVES: Part = one(".f16x2type", &[ty(".f16x2"), ty(".bf16x2")]);
const F8X2: Part = one(".f8x2type", &[ty(".e4m3x2"), ty(".e5m2x2")]);
const SMALLX2: Part = one(".f6x2type", &[ty(".e2m3x2"), ty(".e3m2x2"), ty(".e2m1x2")]);
const ALLX2: Part = one(".f8x2type", &[ty(".e4m3x2"), ty(".e5m2x2"), ty(".e2m3x2"), ty(".e3m2x2"), ty(".e2m1x2")]);
const UE8M0X2: Part = Part::Fixed(".ue8m0x2");
const S2F6X2: Part = Part::Fixed(".s2f6x2");
const SCALED: Part = one(".scaled::n2::ue8m0", &[plain(".scaled::n2::ue8m0")]);
const ALLX4: Part = one(".f8x4type", &[ty(".e4m3x4"), ty(".e5m2x4"), ty(".e2m3x4"), ty(".e3m2x4"), ty(".e2m1x4")]);

/// From the target of a row on, in its `a` and `f` variants alone.
const fn variants(version: Version, first: u32, last: Option<u32>) -> Gate {
    Gate::of(Range::new(version), Range { first, last }, Variants::Specific)
}
const SM_90: Gate = Gate::since(Version(7, 8), 90);
const SM_89: Gate = Gate::of(Range::new(Version(8, 1)), Range::until(89, 89), Variants::All);
const SM_100: Gate = variants(Version(8, 6), 100, None);
const FROM_HALVES: Gate = variants(Version(9, 1), 100, None);
const TO_BF16: Gate = variants(Version(9, 2), 100, None);
const SM_107: Gate = variants(Version(9, 4), 107, Some(107));
/// The targets whose `a` variant has `.rs`.
const RANDOM_ON: Variants = Variants::Architecture(&[100, 103, 107]);
const RANDOM: Gate = Gate::of(Range::new(Version(8, 7)), Range::until(100, 107), RANDOM_ON);

/// Those with s2f6x2.
const FIXED_ON: Variants = Variants::Architecture(&[100, 103, 107, 110, 120, 121]);
const FIXED: Gate = Gate::of(Range::new(Version(9, 1)), Range::new(100), FIXED_ON);
const FIXED_CUT: Gate = Gate::of(Range::new(Version(9, 4)), Range::new(100), Variants::Architecture(&[107]));

const CVT: &str = "PTX ISA, 9.7.9 data movement and conversion instructions: cvt";
const SEPARATE: &str = "a is converted into the upper half of d, b into the lower";
const RANDOM_BITS: &str = "the magnitude plus the random bits below the last bit kept, truncated (unmeasured)";

const POWER: &str = "the magnitude's power of two, never below 2^-127, the sign left out: so the CUDA Math API says \
                     (unmeasured); NaN, and without .satfinite what is above 2^127, is 0xff";
const NOT_FIXED: &str =
    "s2f6 is a fixed-point number; which NaN, and which end of its range, .satfinite gives is unmeasured";
const NOT_SCALED: &str = "where the scale enters the rounding and the saturation is unmeasured";

const fn row(parts: &'static [Part], operands: &'static str, gate: Gate, note: &'static str) -> Form<()> {
    Form { language: Language::Ptx, mnemonic: "cvt", parts, operands, gate, recipe: (), source: CVT, note }
}

/// Every form.
#[rustfmt::skip] // One row a form.
pub static FORMS: &[Form<()>] = &[
    row(&[RN, SATFINITE, RELU, F8X2, F32], "d, a, b", SM_90, SEPARATE),
    row(&[RN, SATFINITE, RELU, F8X2, F32], "d, a, b", SM_89, SEPARATE),
    row(&[RN, SATFINITE, RELU, F8X2, F16X2], "d, a", SM_90, ""),
    row(&[RN, SATFINITE, RELU, F8X2, F16X2], "d, a", SM_89, ""),
    row(&[RN, RELU, F16X2, F8X2], "d, a", SM_90, ""),
    row(&[RN, RELU, F16X2, F8X2], "d, a", SM_89, ""),
    row(&[RN, SATFINITE, RELU, SMALLX2, F32], "d, a, b", SM_100, SEPARATE),
    row(&[RN, RELU, F16X2, SMALLX2], "d, a", SM_100, ""),
    row(&[RN, SATFINITE, RELU, SMALLX2, F16X2], "d, a", FROM_HALVES, ""),
    row(&[RN, SATFINITE, RELU, ALLX2, BF16X2], "d, a", FROM_HALVES, ""),
    row(&[RN, MAY_SATFINITE, RELU, BF16X2, ALLX2], "d, a", TO_BF16, ""),
    row(&[FRND3, MAY_SATFINITE, UE8M0X2, F32], "d, a, b", SM_100, POWER),
    row(&[FRND3, MAY_SATFINITE, UE8M0X2, BF16X2], "d, a", SM_100, POWER),
    row(&[RN, BF16X2, UE8M0X2], "d, a", SM_100, "0xff is a NaN"),
    row(&[RZ, SATFINITE, RELU, ALLX2, F32], "d, a, b", SM_107, SEPARATE),
    row(&[RZ, SATFINITE, RELU, ALLX2, HALVES], "d, a", SM_107, ""),
    row(&[RS, SATFINITE, RELU, ALLX4, F32], "d, {a, b, e, f}, rbits", RANDOM, RANDOM_BITS),
    row(&[RS, MAY_SATFINITE, RELU, HALVES, F32], "d, a, b, rbits", RANDOM, RANDOM_BITS),
];

/// What is not computed: nothing says all of it. A scale has an operand of its own, the last.
#[rustfmt::skip] // One row a form.
pub static NOT_RUN: &[Form<()>] = &[
    row(&[RN, SATFINITE, RELU, S2F6X2, F32], "d, a, b", FIXED, NOT_FIXED),
    row(&[RN, SATFINITE, RELU, SCALED, S2F6X2, F32], "d, a, b, scale", FIXED, NOT_SCALED),
    row(&[RN, SATFINITE, RELU, S2F6X2, BF16X2], "d, a", FIXED, NOT_FIXED),
    row(&[RN, SATFINITE, RELU, SCALED, S2F6X2, BF16X2], "d, a, scale", FIXED, NOT_SCALED),
    row(&[RN, MAY_SATFINITE, RELU, BF16X2, S2F6X2], "d, a", FIXED, NOT_FIXED),
    row(&[RN, MAY_SATFINITE, RELU, SCALED, BF16X2, S2F6X2], "d, a, scale", FIXED, NOT_SCALED),
    row(&[RN, MAY_SATFINITE, RELU, SCALED, BF16X2, ALLX2], "d, a, scale", TO_BF16, NOT_SCALED),
    row(&[RZ, SATFINITE, RELU, S2F6X2, F32], "d, a, b", FIXED_CUT, NOT_FIXED),
    row(&[RZ, SATFINITE, RELU, SCALED, S2F6X2, F32], "d, a, b, scale", FIXED_CUT, NOT_SCALED),
    row(&[RZ, SATFINITE, RELU, S2F6X2, BF16X2], "d, a", FIXED_CUT, NOT_FIXED),
    row(&[RZ, SATFINITE, RELU, SCALED, S2F6X2, BF16X2], "d, a, scale", FIXED_CUT, NOT_SCALED),
];

/// Whether modifiers are of such a conversion, right or wrong: they name a narrow format, a scale, or random bits.
pub fn is_conversion(modifiers: &[&str]) -> bool {
    let is_narrow = |word| matches!(element(word), Some((Element::Narrow(_) | Element::PowerOfTwo, _)));
    modifiers.iter().any(|word| matches!(*word, ".rs" | ".s2f6x2" | ".scaled::n2::ue8m0") || is_narrow(word))
}

/// The registers that hold values of a type of these rows; `None` for what is no type.
pub(crate) fn registers(word: &str) -> Option<&'static [&'static str]> {
    Some(match word {
        ".f32" => &[".f32", ".b32"],
        ".f16x2" => &[".f16x2", ".b32"],
        ".bf16x2" => &[".b32"],
        ".e2m1x2" => &[".b8"],
        ".e2m1x4" | ".s2f6x2" => &[".b16"],
        _ => match element(word)? {
            (_, 2) => &[".b16"],
            _ => &[".b32"],
        },
    })
}

/// What a spelling of one of [`FORMS`] computes; `None` if it names no two types.
///
/// ```
/// let cvt = roundonce_ptx::conversions::packed_conversion("cvt.rn.satfinite.e4m3x2.f32").unwrap();
/// assert_eq!((cvt.to.name(), cvt.count), ("e4m3", 2));
/// ```
pub fn packed_conversion(spelling: &str) -> Option<PackedConversion> {
    let words = split_modifiers(spelling);
    let named: Vec<(Element, u32)> = words.iter().filter_map(|word| element(word)).collect();
    let &[(to, count), (from, _)] = named.as_slice() else { return None };
    let rounding = if words.contains(&".rs") {
        ConversionRounding::Random
    } else if words.contains(&".rz") {
        ConversionRounding::Direction(Rounding::TowardZero)
    } else if words.contains(&".rp") {
        ConversionRounding::Direction(Rounding::Up)
    } else {
        ConversionRounding::Direction(Rounding::NearestEven)
    };
    let (satfinite, relu) = (words.contains(&".satfinite"), words.contains(&".relu"));
    Some(PackedConversion { to, from, count, rounding, satfinite, relu })
}

/// The element of a type and how many it has: `.e4m3x2`.
fn element(word: &str) -> Option<(Element, u32)> {
    let name = word.strip_prefix('.')?;
    let (name, count) = match name.rsplit_once('x') {
        Some((name, "2")) => (name, 2),
        Some((name, "4")) => (name, 4),
        _ => (name, 1),
    };
    if name == ScaleFormat::Ue8m0.name() {
        return Some((Element::PowerOfTwo, count));
    }
    if let Some(narrow) = NarrowFormat::named(name) {
        return Some((Element::Narrow(narrow), count));
    }
    let (_, format) = Format::NAMED.into_iter().find(|(known, _)| *known == name)?;
    Some((Element::Float(format), count))
}
