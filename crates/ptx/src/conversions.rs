//! The rows of the conversions from and to formats of eight bits and fewer, and of those with random bits: what is
//! spelled how, where it exists, and what it computes ([`PackedConversion`]).

use roundonce_arith::{ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Rounding};
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

const CVT: &str = "PTX ISA, 9.7.9 data movement and conversion instructions: cvt";
const SEPARATE: &str = "a is converted into the upper half of d, b into the lower";
const RANDOM_BITS: &str = "the magnitude plus the random bits below the last bit kept, truncated (unmeasured)";

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
    row(&[RZ, SATFINITE, RELU, ALLX2, F32], "d, a, b", SM_107, SEPARATE),
    row(&[RZ, SATFINITE, RELU, ALLX2, HALVES], "d, a", SM_107, ""),
    row(&[RS, SATFINITE, RELU, ALLX4, F32], "d, {a, b, e, f}, rbits", RANDOM, RANDOM_BITS),
    row(&[RS, MAY_SATFINITE, RELU, HALVES, F32], "d, a, b, rbits", RANDOM, RANDOM_BITS),
];

/// Whether modifiers are of such a conversion, right or wrong: they name a narrow format or random bits.
pub fn is_conversion(modifiers: &[&str]) -> bool {
    modifiers.iter().any(|word| *word == ".rs" || matches!(element(word), Some((Element::Narrow(_), _))))
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
    if let Some(narrow) = NarrowFormat::named(name) {
        return Some((Element::Narrow(narrow), count));
    }
    let (_, format) = Format::NAMED.into_iter().find(|(known, _)| *known == name)?;
    Some((Element::Float(format), count))
}
