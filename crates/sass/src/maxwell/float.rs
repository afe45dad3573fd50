//! Numbers of 32 and 64 bits.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_isa::{Choice, Effect, Recipe, Slot as ArithmeticSlot};

use super::words::*;
use crate::generation::Generation::{Sm50, Sm52};
use crate::row::{Arithmetic, Kind, Lowering, OperandField, Row, Slot};

const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}
const fn choices(name: &'static str, choices: &'static [Choice]) -> ArithmeticSlot {
    ArithmeticSlot { name, choices, required: false }
}

/// Denormal flush and multiply mode.
const FMZ: ArithmeticSlot =
    choices(".fmz", &[choice(".FTZ", Effect::Flush), choice(".FMZ", Effect::FlushAndZeroDominate)]);
const FTZ: ArithmeticSlot = choices(".FTZ", &[choice(".FTZ", Effect::Flush)]);
const RND: ArithmeticSlot = choices(
    ".rnd",
    &[
        choice(".RN", Effect::Round(Rounding::NearestEven)),
        choice(".RM", Effect::Round(Rounding::Down)),
        choice(".RP", Effect::Round(Rounding::Up)),
        choice(".RZ", Effect::Round(Rounding::TowardZero)),
    ],
);
const SAT: ArithmeticSlot = choices(".SAT", &[choice(".SAT", Effect::Clamp(Clamp::Unit))]);
const CC: ArithmeticSlot = choices(".CC", &[choice(".CC", Effect::ConditionCodes)]);

const fn recipe(op: ArithOp) -> Recipe {
    Recipe::scalar(Operation::new(op, Format::F32, Rounding::NearestEven))
}

const MANUAL: &str = "Maxwell SASS (SPA 5.0), FFMA";
const PUBLIC: &str = "Maxwell SASS, public assemblers";

/// The arithmetic of the rows, in the order in which it is listed.
#[rustfmt::skip] // Columns, so that rows can be compared.
pub static ARITHMETIC: [Arithmetic; 6] = [
    Arithmetic {
        name: "FFMA", recipe: recipe(ArithOp::MulAdd), slots: &[FMZ, RND, SAT, CC],
        operands: "Rd{.CC}, {-}Ra, {-}Sb, {-}Sc", long_immediate: Some("FFMA32I"), source: MANUAL,
        note: "Sb: register, constant or 20-bit immediate; Sc: register, or constant where Sb is a register",
    },
    Arithmetic {
        name: "FFMA32I", recipe: recipe(ArithOp::MulAdd), slots: &[FMZ, SAT, CC],
        operands: "Rd{.CC}, {-}Ra, imm32, {-}Rd", long_immediate: None, source: MANUAL,
        note: "the addend's register is the destination; rounding is .RN",
    },
    Arithmetic {
        name: "FADD", recipe: recipe(ArithOp::Add), slots: &[FTZ, RND, SAT, CC],
        operands: "Rd{.CC}, {-}Ra, {-}Sb", long_immediate: Some("FADD32I"), source: PUBLIC, note: "",
    },
    Arithmetic {
        name: "FMUL", recipe: recipe(ArithOp::Mul), slots: &[FMZ, RND, SAT, CC],
        operands: "Rd{.CC}, {-}Ra, {-}Sb", long_immediate: Some("FMUL32I"), source: PUBLIC, note: "",
    },
    Arithmetic {
        name: "FADD32I", recipe: recipe(ArithOp::Add), slots: &[FTZ, CC],
        operands: "Rd{.CC}, {-}Ra, imm32", long_immediate: None, source: PUBLIC, note: "",
    },
    Arithmetic {
        name: "FMUL32I", recipe: recipe(ArithOp::Mul), slots: &[FMZ, SAT, CC],
        operands: "Rd{.CC}, {-}Ra, imm32", long_immediate: None, source: PUBLIC,
        note: "the sign of Ra is written into the immediate's",
    },
];

const fn arithmetic(index: usize) -> Lowering {
    Lowering::Arithmetic(&ARITHMETIC[index])
}

/// FCMP's comparison: `.GT` is not printed.
const FCMP: Slot = Slot::new(
    "cmp",
    at(48, 4),
    &[
        ".F", ".LT", ".EQ", ".LE", "", ".NE", ".GE", ".NUM", ".NAN", ".LTU", ".EQU", ".LEU", ".GTU", ".NEU", ".GEU",
        ".T",
    ],
);
const NDV: Slot = Slot::new("ndv", at(38, 1), &["", ".NDV"]);
static FUNCTIONS: [&str; 16] = [
    ".COS",
    ".SIN",
    ".EX2",
    ".LG2",
    ".RCP",
    ".RSQ",
    ".RCP64H",
    ".RSQ64H",
    ".SQRT",
    ".INVALIDMUFUOPCODE9",
    ".INVALIDMUFUOPCODEA",
    ".INVALIDMUFUOPCODEB",
    ".INVALIDMUFUOPCODEC",
    ".INVALIDMUFUOPCODED",
    ".INVALIDMUFUOPCODEE",
    ".INVALIDMUFUOPCODEF",
];
static FUNCTIONS_50: [&str; 16] = renamed(FUNCTIONS, &[(8, ".INVALIDMUFUOPCODE8")]);
static FUNCTION_OPERANDS: &[OperandField] = &[RD, register(8).neg(48).abs(46)];
const fn mufu(modifiers: &'static [Slot]) -> Row {
    Row::new("MUFU", 0x5080, 0xfff8, modifiers, FUNCTION_OPERANDS).variable()
}
const fn function(texts: &'static [&'static str]) -> Slot {
    Slot::new("function", at(20, 4), texts)
}
const FCHK: Slot = Slot::new("function", at(39, 6), &[".DIVIDE"]).numbered(".INVALIDCHKMODE");
const RRO: Slot = Slot::new("function", at(39, 1), &[".SINCOS", ".EX2"]);

#[rustfmt::skip] // One mnemonic a paragraph, its operands in columns.
pub(super) static ROWS: &[&[Row]] = &[
    rows4!("FFMA" 0xff80 0x5980 0x4980 0x5180 0x3280 F32 [fmz(53), rnd(51), sat(50)] [RD.cc(47), RA] {.neg(48)} {.neg(49)}
        .lowering(arithmetic(0))),
    &[Row::new("FFMA32I", 0x0c00, 0xfc00, &[fmz(53), sat(55)], &[RD.cc(52), RA.neg(56), F32_LONG, RD.neg(57).reuse(4)])
        .lowering(arithmetic(1))],
    rows3!("FADD" 0xfff8 0x5c58 0x4c58 0x3858 F32 [ftz(44), rnd(39), sat(50)] [RD.cc(47), RA.neg(48).abs(46)] {.neg(45).abs(49)} []
        .lowering(arithmetic(2))),
    &[Row::new("FADD32I", 0x0800, 0xfc00, &[ftz(55)], &[RD.cc(52), RA.neg(56).abs(54), F32_LONG.neg(53).abs(57)])
        .lowering(arithmetic(4))],
    rows3!("FMUL" 0xfff8 0x5c68 0x4c68 0x3868 F32 [fmz(44), scale(41), rnd(39), sat(50)] [RD.cc(47), RA] {.neg(48)} []
        .lowering(arithmetic(3))),
    &[Row::new("FMUL32I", 0x1e00, 0xff00, &[fmz(53), sat(55)], &[RD.cc(52), RA, F32_LONG])
        .lowering(arithmetic(5))],

    rows3!("FMNMX" 0xfff8 0x5c60 0x4c60 0x3860 F32 [ftz(44)] [RD.cc(47), RA.neg(48).abs(46)] {.neg(45).abs(49)} [P39]),
    rows3!("FSET" 0xff00 0x5800 0x4800 0x3000 F32 [bf(52), fcmp(48), ftz(55), bool_op(45)]
        [RD.cc(47), RA.neg(43).abs(54)] {.neg(53).abs(44)} [P39]),
    rows3!("FSETP" 0xfff0 0x5bb0 0x4bb0 0x36b0 F32 [fcmp(48), ftz(47), bool_op(45)]
        [predicate(3), predicate(0), RA.neg(43).abs(7)] {.neg(6).abs(44)} [P39]),
    rows4!("FCMP" 0xfff0 0x5ba0 0x4ba0 0x53a0 0x36a0 F32 [FCMP, ftz(47)] [RD, RA] {} {}),
    &[Row::new("FSWZADD", 0x50f8, 0xfff8, &[ftz(44), rnd(39), NDV],
        &[RD.cc(47), RA, RB, OperandField::new(Kind::Signs(at(28, 8)))])],
    &[mufu(&[function(&FUNCTIONS_50), sat(50)]).until(Sm50), mufu(&[function(&FUNCTIONS), sat(50)]).since(Sm52)],
    rows3!("FCHK" 0xfff8 0x5c88 0x4c88 0x3888 F32 [FCHK] [predicate(3), register(8).neg(48).abs(46)] {.neg(45).abs(49)} [] .variable()),
    rows3!("RRO" 0xfff8 0x5c90 0x4c90 0x3890 F32 [RRO] [RD] {.neg(45).abs(49)} []),

    rows3!("DADD" 0xfff8 0x5c70 0x4c70 0x3870 F64 [rnd(39)] [RD.cc(47), RA.neg(48).abs(46)] {.neg(45).abs(49)} [] .variable()),
    rows3!("DMUL" 0xfff8 0x5c80 0x4c80 0x3880 F64 [rnd(39)] [RD.cc(47), RA] {.neg(48)} [] .variable()),
    rows3!("DMNMX" 0xfff8 0x5c50 0x4c50 0x3850 F64 [] [RD.cc(47), RA.neg(48).abs(46)] {.neg(45).abs(49)} [P39] .variable()),
    rows4!("DFMA" 0xfff0 0x5b70 0x4b70 0x5370 0x3670 F64 [rnd(50)] [RD.cc(47), RA] {.neg(48)} {.neg(49)} .variable()),
    rows3!("DSET" 0xff80 0x5900 0x4900 0x3200 F64 [bf(52), fcmp(48), bool_op(45)]
        [RD.cc(47), RA.neg(43).abs(54)] {.neg(53).abs(44)} [P39] .variable()),
    rows3!("DSETP" 0xfff0 0x5b80 0x4b80 0x3680 F64 [fcmp(48), bool_op(45)]
        [predicate(3), predicate(0), RA.neg(43).abs(7)] {.neg(6).abs(44)} [P39] .variable()),
];
