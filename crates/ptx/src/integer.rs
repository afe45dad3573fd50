//! The rows of the integer multiply-add: what is spelled how, and where it exists. What each computes is its lowering.

use crate::types::Type;
use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Slot, Version, split_modifiers};

const fn plain(text: &'static str) -> Choice {
    Choice { text, effect: Effect::Nothing }
}
const fn ty(text: &'static str) -> Choice {
    Choice { text, effect: Effect::NamesType }
}
const fn always(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: true })
}

const HALF: Part = always(".half", &[plain(".lo"), plain(".hi")]);
const CARRY_OUT: Part = Part::Slot(Slot { name: ".cc", choices: &[plain(".cc")], required: false });
// Not fixed parts, which stand in order: these stand anywhere.
const WIDE: Part = always(".wide", &[plain(".wide")]);
const HIGH: Part = always(".hi", &[plain(".hi")]);
const CC: Part = always(".cc", &[plain(".cc")]);
const SAT: Part = always(".sat", &[plain(".sat")]);
const S32: Part = Part::Fixed(".s32");
const OF_16_TO_64: Part = always(".type", &[ty(".u16"), ty(".s16"), ty(".u32"), ty(".s32"), ty(".u64"), ty(".s64")]);
const OF_16_OR_32: Part = always(".type", &[ty(".u16"), ty(".s16"), ty(".u32"), ty(".s32")]);
const OF_16: Part = always(".type", &[ty(".u16"), ty(".s16")]);
const OF_32: Part = always(".type", &[ty(".u32"), ty(".s32")]);
const OF_64: Part = always(".type", &[ty(".u64"), ty(".s64")]);
const ATYPE: Part = always(".atype", &[ty(".u32"), ty(".s32")]);
const BTYPE: Part = always(".btype", &[ty(".u32"), ty(".s32")]);

const V1: Gate = Gate::since(Version(1, 0), 10);
const CARRIES: Gate = Gate::since(Version(3, 0), 20);
const CARRIES_64: Gate = Gate::since(Version(4, 3), 20);
const DOT: Gate = Gate::since(Version(5, 0), 61);
const MAD: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: mad";
const MAD24: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: mad24";
const MADC: &str = "PTX ISA, 9.7.2 extended-precision integer arithmetic instructions";
const DP: &str = "PTX ISA, 9.7.1 integer arithmetic instructions: dp4a, dp2a";
const OF_24: &str = "the low 24 bits of each factor; .lo takes bits 0 to 31 of the product, .hi bits 16 to 47";
const CLAMPS: &str = "the sum is clamped to the range of .s32";
const WITH_CARRY: &str = "adds the carry flag too";
const UNDOCUMENTED: &str = "not in the manual; the assembler takes it";

const fn row(
    mnemonic: &'static str,
    parts: &'static [Part],
    gate: Gate,
    source: &'static str,
    note: &'static str,
) -> Form<()> {
    Form { language: Language::Ptx, mnemonic, parts, operands: "d, a, b, c", gate, recipe: (), source, note }
}

/// Every form of the integer multiply-add.
#[rustfmt::skip] // One row a form.
pub static FORMS: &[Form<()>] = &[
    row("mad", &[HALF, OF_16_TO_64], V1, MAD, ""),
    row("mad", &[WIDE, OF_16_OR_32], V1, MAD, "c and d are twice as wide as a and b"),
    row("mad", &[HIGH, SAT, S32], V1, MAD, CLAMPS),
    row("mad", &[HALF, CC, OF_32], CARRIES, MADC, ""),
    row("mad", &[HALF, CC, OF_64], CARRIES_64, MADC, ""),
    row("madc", &[HALF, CARRY_OUT, OF_32], CARRIES, MADC, WITH_CARRY),
    row("madc", &[HALF, OF_64], CARRIES, MADC, WITH_CARRY),
    row("madc", &[HALF, CC, OF_64], CARRIES_64, MADC, WITH_CARRY),
    row("mad24", &[HALF, OF_32], V1, MAD24, OF_24),
    row("mad24", &[HIGH, SAT, S32], V1, MAD24, CLAMPS),
    row("dp4a", &[ATYPE, BTYPE], DOT, DP, "four products of bytes and c; the sum wraps"),
    row("dp2a", &[HALF, ATYPE, BTYPE], DOT, DP, "two products of 16 bits and a byte (.lo: bytes 0 and 1 of b) and c"),
];

/// What the assembler takes and the manual does not have: nothing says what it computes.
pub static NOT_RUN: &[Form<()>] = &[
    row("madc", &[HALF, OF_16], CARRIES, MADC, UNDOCUMENTED),
    row("madc", &[HIGH, SAT, S32], CARRIES, MADC, UNDOCUMENTED),
];

/// An operand: a number of so many bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntegerType {
    /// 16, 32 or 64.
    pub bits: u32,
    /// Whether it is read with a sign.
    pub signed: bool,
}

/// The types of d, a, b and c, as a spelling of one of [`FORMS`] says them.
pub fn operand_types(spelling: &str) -> [IntegerType; 4] {
    let words = split_modifiers(spelling);
    let types: Vec<IntegerType> = words
        .iter()
        .filter_map(|word| Type::of(word))
        .map(|ty| IntegerType { bits: ty.bits, signed: ty.is_signed() })
        .collect();
    let a = types.first().copied().unwrap_or(IntegerType { bits: 32, signed: false });
    let b = types.get(1).copied().unwrap_or(a);
    let bits = if words.contains(&".wide") { 2 * a.bits } else { a.bits };
    let wide = IntegerType { bits, signed: a.signed || b.signed };
    [wide, a, b, wide]
}
