//! The arithmetic forms of sm_70 to sm_121: which spellings of the table compute what.
//!
//! NVIDIA documents none of them. A form is here where PTX's document says what the instruction that the assembler makes
//! it of computes, or where hardware was asked (`vectors/hw`); the other spellings of the table (the scales of FMUL, `.FMZ` of uniform
//! and packed f32, `.F32` of halves, `.FTZ` and `.SAT` of packed bf16) are encoded and printed, and not computed. What `HADD2.F32` does
//! to a half and −0 is a conversion, which `lower` knows.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Language, Part, Range, Recipe, Slot, Variants, Version};

use super::opcode::{Modifier, Opcode};
use super::table::{BF16, FLUSH, FMZ, FTZ, OPCODES, PACKED_BF16, RND, SAT, choice};
use super::target::{Generation, Target};

const fn optional(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: false })
}
const fn needed(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: true })
}

const RELU_CHOICE: Choice = choice(".RELU", Effect::Clamp(Clamp::Relu));
const SATURATE: Choice = choice(".SAT", Effect::Clamp(Clamp::Unit));
const FMZ_PART: Part = Part::Slot(FMZ.slot);
const FTZ_PART: Part = Part::Slot(FTZ.slot);
const RND_PART: Part = Part::Slot(RND.slot);
const SAT_PART: Part = Part::Slot(SAT.slot);
const TYPE_PART: Part = Part::Slot(BF16.slot);
const FLUSHED: Part = optional(".FTZ", &[FLUSH]);
const PACKED: Part = needed(".BF16_V2", &[PACKED_BF16]);
const OOB: Part = needed(".OOB", &[choice(".OOB", Effect::OutOfBounds)]);
const RELU: Part = optional(".RELU", &[RELU_CHOICE]);
const CLAMP: Part = optional(".clamp", &[SATURATE, RELU_CHOICE]);
const MMA: Part = Part::Fixed(".MMA");

const fn recipe(op: ArithOp, format: Format) -> Recipe {
    Recipe::scalar(Operation::new(op, format, Rounding::NearestEven))
}
const fn packed(op: ArithOp, format: Format) -> Recipe {
    Recipe { components: 2, ..recipe(op, format) }
}
/// With one operand, or two, of half precision.
const fn widening(op: ArithOp) -> Recipe {
    recipe(op, Format::F32).with(Effect::Factors(Format::F16))
}

const fn since(first: u32) -> Gate {
    Gate::of(Range::new(Version(0, 0)), Range::new(first), Variants::All)
}
const fn between(first: u32, last: u32) -> Gate {
    Gate::of(Range::new(Version(0, 0)), Range::until(first, last), Variants::All)
}
const SM_70: Gate = since(70);
const SM_80: Gate = since(80);
const SM_90: Gate = since(90);
const SM_100: Gate = since(100);
const SM_120: Gate = since(120);

const MUL_ADD: &str = "Rd, {-}Ra, {-}Sb, {-}Sc";
const ADD: &str = "Rd, {-}Ra, {-}Sc";
const MUL: &str = "Rd, {-}Ra, {-}Sb";
const FUSED: ArithOp = ArithOp::MulAdd;
const SUM: ArithOp = ArithOp::Add;
const PRODUCT: ArithOp = ArithOp::Mul;
const MIXED: &str = "the narrow operands are f16, or bf16 with .BF16; c and d are f32";
const HALF: &str = "two f16, the first in the low half";
const HALF_FMZ: &str = "two f16, the first in the low half; .FMZ as an H200 has it";
const BFLOAT: &str = "two bf16, the first in the low half";
const PAIR: &str = "two f32 in a register pair, the first in the low half; sm_101 has none";
const UNIFORM: &str = "of uniform registers";
const DOUBLE: &str = "in register pairs";
const OUT_OF_BOUNDS: &str = "an operand that is the out-of-bounds NaN 0x7ff7 makes the component +0";

const fn row(
    mnemonic: &'static str,
    parts: &'static [Part],
    operands: &'static str,
    gate: Gate,
    recipe: Recipe,
    note: &'static str,
) -> Form {
    let source = "SASS of sm_70 to sm_121: the PTX it is made of";
    Form { language: Language::Sass, mnemonic, parts, operands, gate, recipe, source, note }
}

/// Every arithmetic form.
#[rustfmt::skip] // One row a form.
pub static FORMS: &[Form] = &[
    row("FFMA", &[FMZ_PART, RND_PART, SAT_PART], MUL_ADD, SM_70, recipe(FUSED, Format::F32), ""),
    row("FADD", &[FTZ_PART, RND_PART, SAT_PART], ADD, SM_70, recipe(SUM, Format::F32), ""),
    row("FMUL", &[FMZ_PART, RND_PART, SAT_PART], MUL, SM_70, recipe(PRODUCT, Format::F32), ".FMZ as an H200 has it"),
    row("FHFMA", &[TYPE_PART, RND_PART, SAT_PART], MUL_ADD, SM_100, widening(FUSED), MIXED),
    row("FHADD", &[TYPE_PART, RND_PART, SAT_PART], ADD, SM_100, widening(SUM), MIXED),
    row("DFMA", &[RND_PART], MUL_ADD, SM_70, recipe(FUSED, Format::F64), DOUBLE),
    row("DADD", &[RND_PART], ADD, SM_70, recipe(SUM, Format::F64), DOUBLE),
    row("DMUL", &[RND_PART], MUL, SM_70, recipe(PRODUCT, Format::F64), DOUBLE),
    row("HFMA2", &[FMZ_PART, CLAMP], MUL_ADD, SM_80, packed(FUSED, Format::F16), HALF_FMZ),
    row("HFMA2", &[FMZ_PART, SAT_PART], MUL_ADD, between(70, 75), packed(FUSED, Format::F16), HALF_FMZ),
    row("HFMA2", &[PACKED, RELU], MUL_ADD, SM_80, packed(FUSED, Format::F16), BFLOAT),
    row("HFMA2", &[OOB, CLAMP], MUL_ADD, SM_90, packed(FUSED, Format::F16), OUT_OF_BOUNDS),
    row("HFMA2", &[PACKED, OOB, RELU], MUL_ADD, SM_90, packed(FUSED, Format::F16), OUT_OF_BOUNDS),
    row("HFMA2", &[MMA, FMZ_PART, CLAMP], MUL_ADD, between(80, 90), packed(FUSED, Format::F16), HALF_FMZ),
    row("HFMA2", &[MMA, PACKED, RELU], MUL_ADD, between(90, 90), packed(FUSED, Format::F16), BFLOAT),
    row("HADD2", &[FTZ_PART, SAT_PART], ADD, SM_70, packed(SUM, Format::F16), HALF),
    row("HADD2", &[PACKED], ADD, SM_90, packed(SUM, Format::F16), BFLOAT),
    row("HMUL2", &[FMZ_PART, SAT_PART], MUL, SM_70, packed(PRODUCT, Format::F16), HALF_FMZ),
    row("HMUL2", &[PACKED], MUL, SM_90, packed(PRODUCT, Format::F16), BFLOAT),
    row("FFMA2", &[FLUSHED, RND_PART], MUL_ADD, between(100, 107), packed(FUSED, Format::F32), PAIR),
    row("FADD2", &[FTZ_PART, RND_PART], ADD, between(100, 107), packed(SUM, Format::F32), PAIR),
    row("FMUL2", &[FLUSHED, RND_PART], MUL, between(100, 107), packed(PRODUCT, Format::F32), PAIR),
    row("UFFMA", &[FLUSHED, RND_PART, SAT_PART], MUL_ADD, SM_120, recipe(FUSED, Format::F32), UNIFORM),
    row("UFADD", &[FTZ_PART, RND_PART, SAT_PART], ADD, SM_120, recipe(SUM, Format::F32), UNIFORM),
    row("UFMUL", &[FLUSHED, RND_PART, SAT_PART], MUL, SM_120, recipe(PRODUCT, Format::F32), UNIFORM),
    row("UFHFMA", &[TYPE_PART, RND_PART, SAT_PART], MUL_ADD, SM_120, widening(FUSED), UNIFORM),
    row("UFHADD", &[TYPE_PART, RND_PART, SAT_PART], ADD, SM_120, widening(SUM), UNIFORM),
];

/// Whether a target, or any, has this spelling, with or without a known meaning.
pub fn is_spelling(spelling: &str, target: Option<Target>) -> bool {
    let has = |row: &Opcode, generation: Generation| {
        let Some(rest) = spelling.strip_prefix(row.name) else { return false };
        let is_of = |modifier: &Modifier, piece: &str| {
            let choices = modifier.slot.choices.iter().map(|choice| choice.text);
            modifier.texts.iter().copied().chain(choices).any(|text| text.strip_prefix('.') == Some(piece))
        };
        let mut pieces = rest.split('.');
        let mut free: Vec<&Modifier> = row.modifiers_on(generation).collect();
        let mut takes = |piece: &str| {
            let slot = free.iter().position(|modifier| is_of(modifier, piece));
            slot.map(|slot| free.swap_remove(slot)).is_some()
        };
        pieces.next() == Some("") && pieces.all(&mut takes)
    };
    let asked = |generation: &Generation| target.is_none_or(|target| target.generation() == *generation);
    OPCODES.iter().any(|row| row.generations().filter(asked).any(|generation| has(row, generation)))
}
