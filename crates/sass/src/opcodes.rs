//! The one table of opcodes: mnemonics, modifiers, operand forms, encodings, meanings. Parser, printer, encoder,
//! decoder, rules, lowering and the arithmetic forms ([`FORMS`](crate::FORMS)) all read it; no other file names a
//! mnemonic.
//!
//! To add an opcode is to add a row. `tests/opcodes.rs` fails by name where something is missing.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Recipe, Slot};

use crate::fields::{self, Field};
use crate::opcode::{
    EncodedForm, Encoding, FormVisitor, Lowering, Modifier, Opcode, OperandField, OperandForm, OperandKind, SignField,
};

const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}
const fn modifier(name: &'static str, first: u8, choices: &'static [Choice]) -> Modifier {
    Modifier { slot: Slot { name, choices, required: false }, first, illegal: None }
}

/// Denormal flush and multiply mode.
const FMZ: Modifier =
    modifier(".fmz", 1, &[choice(".FTZ", Effect::Flush), choice(".FMZ", Effect::FlushAndZeroDominate)]);
/// The same where the field's fourth value is known.
const FMZ_FIELD: Modifier = Modifier { illegal: Some((3, ".INVALIDFMZ3")), ..FMZ };
const FTZ: Modifier = modifier(".FTZ", 1, &[choice(".FTZ", Effect::Flush)]);
const RND: Modifier = modifier(
    ".rnd",
    0,
    &[
        choice(".RN", Effect::Round(Rounding::NearestEven)),
        choice(".RM", Effect::Round(Rounding::Down)),
        choice(".RP", Effect::Round(Rounding::Up)),
        choice(".RZ", Effect::Round(Rounding::TowardZero)),
    ],
);
const SAT: Modifier = modifier(".SAT", 1, &[choice(".SAT", Effect::Clamp(Clamp::Unit))]);
/// The modifier that a listing writes behind the destination: `Rd.CC`.
pub(crate) const ON_DESTINATION: &str = ".CC";
const CC: Modifier = modifier(ON_DESTINATION, 1, &[choice(ON_DESTINATION, Effect::ConditionCodes)]);

const RD: OperandField = OperandField::Register(fields::RD);
const RA: OperandField = OperandField::Register(fields::RA);
const RB: OperandField = OperandField::Register(fields::RB);
const RC: OperandField = OperandField::Register(fields::RC);
const CONSTANT: OperandField = OperandField::Constant { offset: fields::OFFSET, bank: fields::BANK };
const IMM20: OperandField = OperandField::ShortImmediate { low: fields::IMMEDIATE_LOW, sign: fields::IMMEDIATE_SIGN };
const IMM32: OperandField = OperandField::Immediate(fields::IMMEDIATE_32);
/// A register that must be the destination.
const SAME: OperandField = OperandField::Destination;
const R: OperandField = OperandField::Unencoded(OperandKind::Register);
const C: OperandField = OperandField::Unencoded(OperandKind::Constant);
const I: OperandField = OperandField::Unencoded(OperandKind::Immediate);

const ALL_9: u64 = fields::OPCODE.mask();
/// Bit 56 is the immediate's sign.
const ALL_BUT_SIGN: u64 = ALL_9 & !fields::IMMEDIATE_SIGN.mask();
/// Bits 55 to 57 are modifiers.
const TOP_6: u64 = 0b1111_1100 << 56;

const fn text(name: &'static str, operands: &'static [OperandField]) -> OperandForm {
    OperandForm { name, operands, encoding: None }
}

/// Three sources, the product's sign printed on Sb.
const FMA: (&[Field], &[SignField]) = (
    &[fields::FMZ, fields::ROUNDING, fields::SAT, fields::CC],
    &[
        SignField { field: fields::NEGATE_PRODUCT, operands: 0b0110, printed_on: 2 },
        SignField { field: fields::NEGATE_ADDEND, operands: 0b1000, printed_on: 3 },
    ],
);
/// The same with a 32-bit immediate, the product's sign printed on Ra.
const FMA_LONG: (&[Field], &[SignField]) = (
    &[fields::FMZ, fields::LONG_SAT, fields::LONG_CC],
    &[
        SignField { field: fields::LONG_NEGATE_A, operands: 0b0110, printed_on: 1 },
        SignField { field: fields::LONG_NEGATE_C, operands: 0b1000, printed_on: 3 },
    ],
);

/// The operand forms with an encoding: a type, a name, the operands, the fields of modifiers and signs, the bits that
/// identify the form and their values.
macro_rules! encoded {
    ($($form:ident $name:literal [$($operand:expr),*] $fields:ident $mask:ident $bits:literal << $shift:literal;)*) => {
        /// An operand form with an encoding.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Encoded { $($form),* }

        impl Encoded {
            /// Runs the visitor's copy for the form.
            #[inline(always)]
            pub(crate) fn visit<V: FormVisitor>(self, visitor: V) -> V::Output {
                match self { $(Encoded::$form => visitor.visit::<$form>()),* }
            }
        }

        $(
            struct $form;
            impl EncodedForm for $form {
                const ENCODED: Encoded = Encoded::$form;
                const FORM: OperandForm =
                    OperandForm { name: $name, operands: &[$($operand),*], encoding: Some(Self::ENCODING) };
                const ENCODING: Encoding = Encoding {
                    encoded: Encoded::$form,
                    mask: $mask,
                    bits: $bits << $shift,
                    modifiers: $fields.0,
                    signs: $fields.1,
                };
            }
        )*
    };
}

encoded! {
    FfmaRegister       "register"            [RD, RA, RB, RC]       FMA      ALL_9        0b0_1011_0011 << 55;
    FfmaConstantB      "constant Sb"         [RD, RA, CONSTANT, RC] FMA      ALL_9        0b0_1001_0011 << 55;
    FfmaConstantC      "constant Sc"         [RD, RA, RC, CONSTANT] FMA      ALL_9        0b0_1010_0011 << 55;
    FfmaShortImmediate "20-bit immediate Sb" [RD, RA, IMM20, RC]    FMA      ALL_BUT_SIGN 0b0_0110_0101 << 55;
    FfmaLongImmediate  "32-bit immediate"    [RD, RA, IMM32, SAME]  FMA_LONG TOP_6        0b0000_1100 << 56;
}

const BINARY: &[OperandForm] =
    &[text("register", &[R, R, R]), text("constant", &[R, R, C]), text("immediate", &[R, R, I])];
const BINARY_LONG: &[OperandForm] = &[text("32-bit immediate", &[R, R, I])];

const fn arithmetic(op: ArithOp) -> Lowering {
    Lowering::Arithmetic(Recipe::scalar(Operation::new(op, Format::F32, Rounding::NearestEven)))
}

const MANUAL: &str = "Maxwell SASS (SPA 5.0), FFMA";
const PUBLIC: &str = "Maxwell SASS, public assemblers";

/// Every opcode.
#[rustfmt::skip] // Columns, so that rows can be compared.
pub const OPCODES: &[Opcode] = &[
    Opcode {
        name: "FFMA", modifiers: &[FMZ_FIELD, RND, SAT, CC], operands: "Rd{.CC}, {-}Ra, {-}Sb, {-}Sc",
        lowering: arithmetic(ArithOp::MulAdd), long_immediate: Some("FFMA32I"), source: MANUAL,
        note: "Sb: register, constant or 20-bit immediate; Sc: register, or constant where Sb is a register",
        forms: &[FfmaRegister::FORM, FfmaConstantB::FORM, FfmaConstantC::FORM, FfmaShortImmediate::FORM],
    },
    Opcode {
        name: "FFMA32I", modifiers: &[FMZ_FIELD, SAT, CC], operands: "Rd{.CC}, {-}Ra, imm32, {-}Rd",
        lowering: arithmetic(ArithOp::MulAdd), long_immediate: None, source: MANUAL,
        note: "the addend's register is the destination; rounding is .RN",
        forms: &[FfmaLongImmediate::FORM],
    },
    Opcode {
        name: "FADD", modifiers: &[FTZ, RND, SAT, CC], operands: "Rd{.CC}, {-}Ra, {-}Sb",
        lowering: arithmetic(ArithOp::Add), long_immediate: Some("FADD32I"), source: PUBLIC, note: "text only",
        forms: BINARY,
    },
    Opcode {
        name: "FMUL", modifiers: &[FMZ, RND, SAT, CC], operands: "Rd{.CC}, {-}Ra, {-}Sb",
        lowering: arithmetic(ArithOp::Mul), long_immediate: Some("FMUL32I"), source: PUBLIC, note: "text only",
        forms: BINARY,
    },
    Opcode {
        name: "FADD32I", modifiers: &[FTZ, CC], operands: "Rd{.CC}, {-}Ra, imm32",
        lowering: arithmetic(ArithOp::Add), long_immediate: None, source: PUBLIC, note: "text only",
        forms: BINARY_LONG,
    },
    Opcode {
        name: "FMUL32I", modifiers: &[FMZ, SAT, CC], operands: "Rd{.CC}, {-}Ra, imm32",
        lowering: arithmetic(ArithOp::Mul), long_immediate: None, source: PUBLIC, note: "text only",
        forms: BINARY_LONG,
    },
    Opcode {
        name: "MOV", modifiers: &[], operands: "Rd, Sb",
        lowering: Lowering::Move, long_immediate: Some("MOV32I"), source: PUBLIC, note: "text only",
        forms: &[text("register", &[R, R]), text("constant", &[R, C]), text("immediate", &[R, I])],
    },
    Opcode {
        name: "MOV32I", modifiers: &[], operands: "Rd, imm32",
        lowering: Lowering::Move, long_immediate: None, source: PUBLIC, note: "text only",
        forms: &[text("32-bit immediate", &[R, I])],
    },
];
