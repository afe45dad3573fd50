//! The rows of Maxwell SASS: FFMA and FFMA32I, and the neighbours that a listing puts beside them.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Form, Gate, Part, Recipe, Slot};

const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}
const fn optional(name: &'static str, choices: &'static [Choice]) -> Part {
    Part::Slot(Slot { name, choices, required: false })
}

/// Denormal flush and multiply mode.
const FMZ: Part = optional(".fmz", &[choice(".FTZ", Effect::Flush), choice(".FMZ", Effect::FlushAndZeroDominate)]);
const FTZ: Part = optional(".FTZ", &[choice(".FTZ", Effect::Flush)]);
const RND: Part = optional(
    ".rnd",
    &[
        choice(".RN", Effect::Round(Rounding::NearestEven)),
        choice(".RM", Effect::Round(Rounding::Down)),
        choice(".RP", Effect::Round(Rounding::Up)),
        choice(".RZ", Effect::Round(Rounding::TowardZero)),
    ],
);
const SAT: Part = optional(".SAT", &[choice(".SAT", Effect::Saturate)]);
/// In a listing it stands on the destination: `Rd.CC`.
const CC: Part = optional(".CC", &[choice(".CC", Effect::ConditionCodes)]);

const fn recipe(kind: ArithOp) -> Recipe {
    Recipe::scalar(Operation::new(kind, Format::F32, Rounding::NearestEven))
}

const FFMA: &str = "Maxwell SASS (SPA 5.0), FFMA";
const PUBLIC: &str = "Maxwell SASS, public assemblers";
const SPA_5: Gate = Gate::needs(&["SPA 5.0"]);

const fn row(
    mnemonic: &'static str,
    parts: &'static [Part],
    operands: &'static str,
    kind: ArithOp,
    source: &'static str,
    note: &'static str,
) -> Form {
    Form { language: "SASS", mnemonic, parts, operands, gate: SPA_5, recipe: recipe(kind), source, note }
}

/// Every SASS form.
#[rustfmt::skip] // One row a form, so that rows can be compared.
pub const FORMS: &[Form] = &[
    row("FFMA", &[FMZ, RND, SAT, CC], "Rd{.CC}, {-}Ra, {-}Sb, {-}Sc", ArithOp::MulAdd, FFMA,
        "Sb: register, constant or 20-bit immediate; Sc: register, or constant where Sb is a register"),
    row("FFMA32I", &[FMZ, SAT, CC], "Rd{.CC}, {-}Ra, imm32, {-}Rd", ArithOp::MulAdd, FFMA,
        "the addend's register is the destination; rounding is .RN"),
    row("FADD", &[FTZ, RND, SAT, CC], "Rd{.CC}, {-}Ra, {-}Sb", ArithOp::Add, PUBLIC, "text only"),
    row("FMUL", &[FMZ, RND, SAT, CC], "Rd{.CC}, {-}Ra, {-}Sb", ArithOp::Mul, PUBLIC, "text only"),
    row("FADD32I", &[FTZ, CC], "Rd{.CC}, {-}Ra, imm32", ArithOp::Add, PUBLIC, "text only"),
    row("FMUL32I", &[FMZ, SAT, CC], "Rd{.CC}, {-}Ra, imm32", ArithOp::Mul, PUBLIC, "text only"),
];
