//! The table of 128-bit words: every opcode of the float family from sm_70 to sm_121.
//!
//! Source of every field: words with each bit flipped, given to NVIDIA's disassembler (`dev/sass/modern.py`). NVIDIA
//! documents the mnemonics alone.

use roundonce_arith::{Clamp, Format, Rounding};
use roundonce_isa::{Choice, Effect, Slot as ModifierSlot};

use super::opcode::{Modifier, Number, Opcode, Place, Role, Selector};
use super::target::{Generation, Generations};

pub(super) const fn choice(text: &'static str, effect: Effect) -> Choice {
    Choice { text, effect }
}
const fn modifier(
    name: &'static str,
    bits: &'static [u8],
    texts: &'static [&'static str],
    choices: &'static [Choice],
) -> Modifier {
    assert!(texts.len() == 1 << bits.len(), "a text for each value");
    Modifier { slot: ModifierSlot { name, choices, required: false }, bits, texts, generations: Generations::ALL }
}
const fn on(generations: Generations, modifier: Modifier) -> Modifier {
    Modifier { generations, ..modifier }
}

const ALL: Generations = Generations::ALL;
const SM_75: Generations = Generations::since(Generation::Turing);
const SM_80: Generations = Generations::since(Generation::Ampere);
const SM_90: Generations = Generations::since(Generation::Hopper);
const SM_100: Generations = Generations::since(Generation::Blackwell);
const BEFORE_80: Generations = Generations::before(Generation::Ampere);
const BEFORE_86: Generations = Generations::before(Generation::Ada);
const BEFORE_90: Generations = Generations::before(Generation::Hopper);
const BEFORE_100: Generations = Generations::before(Generation::Blackwell);
const SM_86: Generations = Generations::since(Generation::Ada);
const SM_80_TO_90: Generations = SM_80.and(BEFORE_100);
const SM_86_TO_90: Generations = SM_86.and(BEFORE_100);
const ONLY_100: Generations = Generations::range(Generation::Blackwell, Generation::Blackwell);
const ONLY_120: Generations = Generations::since(Generation::Consumer);

pub(super) const FLUSH: Choice = choice(".FTZ", Effect::Flush);
const MULTIPLY_ZERO: Choice = choice(".FMZ", Effect::FlushAndZeroDominate);
static FMZ_TEXTS: &[&str] = &["", ".FMZ", ".FTZ", ".INVALID3"];
/// Of f32 and f16; measured on sm_90.
pub(super) const FMZ: Modifier = modifier(".fmz", &[76, 80], FMZ_TEXTS, &[FLUSH, MULTIPLY_ZERO]);
/// Where nothing says what `.FMZ` does.
pub(super) const FMZ_UNKNOWN: Modifier = modifier(".fmz", &[76, 80], FMZ_TEXTS, &[FLUSH]);
/// From sm_90 on the fourth value is `.oob`.
const FMZ_OOB: Modifier = modifier(
    ".fmz",
    &[76, 80],
    &["", ".FMZ", ".FTZ", ".OOB"],
    &[FLUSH, MULTIPLY_ZERO, choice(".OOB", Effect::OutOfBounds)],
);
pub(super) const FTZ: Modifier = modifier(".FTZ", &[80], &["", ".FTZ"], &[FLUSH]);
pub(super) const RND: Modifier = modifier(
    ".rnd",
    &[78, 79],
    &["", ".RM", ".RP", ".RZ"],
    &[
        choice(".RN", Effect::Round(Rounding::NearestEven)),
        choice(".RM", Effect::Round(Rounding::Down)),
        choice(".RP", Effect::Round(Rounding::Up)),
        choice(".RZ", Effect::Round(Rounding::TowardZero)),
    ],
);
pub(super) const SAT: Modifier = modifier(".SAT", &[77], &["", ".SAT"], &[choice(".SAT", Effect::Clamp(Clamp::Unit))]);
const RELU: Modifier = modifier(".RELU", &[79], &["", ".RELU"], &[choice(".RELU", Effect::Clamp(Clamp::Relu))]);
/// A power of two that the product is multiplied by.
const SCALE: Modifier =
    modifier(".scale", &[84, 85, 86], &[".INVALID0", ".D8", ".D4", ".D2", "", ".M2", ".M4", ".M8"], &[]);
pub(super) const BF16: Modifier =
    modifier(".type", &[82], &["", ".BF16"], &[choice(".BF16", Effect::Factors(Format::BF16))]);
pub(super) const PACKED_BF16: Choice = choice(".BF16_V2", Effect::Type(Format::BF16, 2));
const HALF_TYPE: Modifier = modifier(".type", &[78], &["", ".F32"], &[]);
const HALF_TYPE_BF16: Modifier = modifier(".type", &[78, 85], &["", ".F32", ".BF16_V2", ".INVALID3"], &[PACKED_BF16]);
const ADD_TYPE: Modifier = modifier(".type", &[85], &["", ".BF16_V2"], &[PACKED_BF16]);
/// From sm_90 on HMUL2 and HFMA2.MMA have no `.F32`.
const NARROW_TYPE: Modifier = modifier(".type", &[78, 85], &["", ".INVALID1", ".BF16_V2", ".INVALID3"], &[PACKED_BF16]);

const fn selector(
    role: Role,
    place: Place,
    bits: &'static [u8],
    texts: &'static [&'static str],
    generations: Generations,
) -> Selector {
    assert!(texts.len() == 1 << bits.len(), "a text for each value");
    Selector { role, place, bits, texts, generations, on_immediate: false }
}

static HIGH: &[&str] = &["", ".H1"];
/// Which half of the register is the factor.
static MIXED_HALVES: &[Selector] = &[
    selector(Role::A, Place::A, &[83], HIGH, ALL),
    selector(Role::B, Place::Wide, &[84], HIGH, ALL),
    selector(Role::B, Place::Y, &[84], HIGH, ALL),
];

static HALVES: &[&str] = &["", ".F32", ".H0_H0", ".H1_H1"];
static HALVES_90: &[&str] = &["", ".INVALID1", ".H0_H0", ".H1_H1"];
static HALVES_NEGATED: &[&str] = &["", ".F32", ".H0_H0", ".H1_H1", ".H0_NH1", ".INVALID5", ".INVALID6", ".INVALID7"];
static HALF_A: [Selector; 2] = [
    selector(Role::A, Place::A, &[74, 75], HALVES, BEFORE_90),
    selector(Role::A, Place::A, &[74, 75], HALVES_90, SM_90),
];
static HALF_C: [Selector; 2] = [
    selector(Role::C, Place::Wide, &[60, 61], HALVES, BEFORE_90),
    selector(Role::C, Place::Wide, &[60, 61], HALVES_90, SM_90),
];
static HALVES_OF_FMA: &[Selector] = &[
    HALF_A[0],
    HALF_A[1],
    selector(Role::B, Place::Wide, &[60, 61], HALVES, BEFORE_86),
    selector(Role::B, Place::Wide, &[60, 61, 86], HALVES_NEGATED, SM_86),
    selector(Role::B, Place::Y, &[81, 82], HALVES, BEFORE_86),
    selector(Role::B, Place::Y, &[81, 82, 86], HALVES_NEGATED, SM_86),
    HALF_C[0],
    HALF_C[1],
    selector(Role::C, Place::Y, &[81, 82], HALVES, BEFORE_90),
    selector(Role::C, Place::Y, &[81, 82], HALVES_90, SM_90),
];
static HALVES_OF_ADD: &[Selector] = &[HALF_A[0], HALF_A[1], HALF_C[0], HALF_C[1]];
static HALVES_OF_MUL: &[Selector] = &[
    HALF_A[0],
    HALF_A[1],
    selector(Role::B, Place::Wide, &[60, 61], HALVES, BEFORE_90),
    selector(Role::B, Place::Wide, &[60, 61], HALVES_90, SM_90),
];

static LANES: &[&str] = &[".F32x2.HI_LO", ".F32x2.LO_HI", ".F32", ".INVALID3"];
static NP: &[&str] = &["", ".NP"];
static PAIR_LANES: &[Selector] = &[
    selector(Role::A, Place::A, &[81, 82], LANES, ALL),
    selector(Role::A, Place::A, &[83], NP, ALL),
    selector(Role::B, Place::Wide, &[87, 88], LANES, ALL),
    selector(Role::B, Place::Y, &[87, 88], LANES, ALL),
    selector(Role::C, Place::Wide, &[84, 85], LANES, ALL),
    selector(Role::C, Place::Y, &[84, 85], LANES, ALL),
    Selector { on_immediate: true, ..selector(Role::C, Place::Wide, &[86], NP, ALL) },
    selector(Role::C, Place::Y, &[86], NP, ALL),
];

static MUL_ADD: &[Role] = &[Role::A, Role::B, Role::C];
static ADD: &[Role] = &[Role::A, Role::C];
static MUL: &[Role] = &[Role::A, Role::B];

type Forms = &'static [(u8, Generations)];
const MUL_ADD_FORMS: Forms = &[(1, ALL), (2, ALL), (3, BEFORE_100), (4, ALL), (5, BEFORE_100), (6, SM_75), (7, SM_75)];
const ADD_FORMS: Forms = &[(1, ALL), (2, ALL), (3, BEFORE_100), (7, SM_75)];
const MUL_FORMS: Forms = &[(1, ALL), (4, ALL), (5, BEFORE_100), (6, SM_75)];
const WIDE_SUM_FORMS: Forms = &[(1, SM_86), (2, SM_86), (3, SM_86.and(BEFORE_100)), (7, SM_86)];
const MMA_FORMS: Forms = &[
    (1, SM_80_TO_90),
    (2, SM_80_TO_90),
    (3, SM_80_TO_90),
    (4, SM_80_TO_90),
    (5, SM_80_TO_90),
    (6, SM_80_TO_90),
    (7, SM_80_TO_90),
];

/// A row with what most have.
const fn row(
    name: &'static str,
    low: u16,
    roles: &'static [Role],
    forms: Forms,
    number: Number,
    modifiers: &'static [Modifier],
) -> Opcode {
    Opcode {
        name,
        low,
        picked_by: None,
        roles,
        addend_in_y: false,
        forms,
        number,
        modifiers,
        a_signs: [Some(73), Some(72)],
        y_signs: [Some(74), Some(75)],
        selectors: &[],
        exclusive: &[],
        keeps_a: true,
        uniform: false,
        spaced_constants: false,
    }
}
/// FHFMA and the like.
const fn mixed(row: Opcode) -> Opcode {
    Opcode { picked_by: Some(81), selectors: MIXED_HALVES, ..row }
}
const fn half(selectors: &'static [Selector], row: Opcode) -> Opcode {
    Opcode { selectors, y_signs: [Some(83), Some(84)], spaced_constants: true, ..row }
}
const fn excluding(exclusive: &'static [([u8; 2], Generations)], row: Opcode) -> Opcode {
    Opcode { exclusive, ..row }
}
const fn pair(row: Opcode) -> Opcode {
    Opcode { selectors: PAIR_LANES, ..row }
}
const fn addend_in_y(row: Opcode) -> Opcode {
    Opcode { addend_in_y: true, ..row }
}
const fn uniform(row: Opcode) -> Opcode {
    Opcode { uniform: true, ..row }
}

static F32_FMA: &[Modifier] = &[FMZ, RND, SAT];
static UNIFORM_FMA: &[Modifier] = &[FMZ_UNKNOWN, RND, SAT];
static F32_ADD: &[Modifier] = &[FTZ, RND, SAT];
static F32_MUL: &[Modifier] = &[FMZ, SCALE, RND, SAT];
static UNIFORM_MUL: &[Modifier] = &[FMZ_UNKNOWN, SCALE, RND, SAT];
static F64: &[Modifier] = &[RND];
static MIXED: &[Modifier] = &[BF16, RND, SAT];
static HALF_FMA: &[Modifier] = &[
    on(BEFORE_80, HALF_TYPE),
    on(SM_80, HALF_TYPE_BF16),
    on(BEFORE_90, FMZ),
    on(SM_90, FMZ_OOB),
    on(SM_80, RELU),
    SAT,
];
static HALF_ADD: &[Modifier] = &[on(BEFORE_86, HALF_TYPE), on(SM_90, ADD_TYPE), FTZ, SAT];
static HALF_SUM_F32: &[Modifier] = &[FTZ, SAT];
static HALF_MUL: &[Modifier] = &[on(BEFORE_90, HALF_TYPE), on(SM_90, NARROW_TYPE), FMZ, SAT];
static HALF_MMA: &[Modifier] = &[on(SM_90, NARROW_TYPE), FMZ, RELU, SAT];
static PAIR_FMA: &[Modifier] = &[FMZ_UNKNOWN, RND];
static PAIR_ADD: &[Modifier] = &[FTZ, RND];
static PAIR_MUL: &[Modifier] = &[FMZ_UNKNOWN, RND];

/// Every opcode.
#[rustfmt::skip] // Columns, so that rows can be compared.
pub static OPCODES: &[Opcode] = &[
    row("FFMA",  0x023, MUL_ADD, MUL_ADD_FORMS, Number::F32, F32_FMA),
    row("FADD",  0x021, ADD,     ADD_FORMS,     Number::F32, F32_ADD),
    row("FMUL",  0x020, MUL,     MUL_FORMS,     Number::F32, F32_MUL),
    mixed(row("FHFMA", 0x023, MUL_ADD, &[(1, SM_100), (6, SM_100), (7, SM_100)], Number::F32, MIXED)),
    mixed(row("FHADD", 0x021, ADD, &[(1, SM_100), (7, SM_100)], Number::F32, MIXED)),
    row("DFMA",  0x02b, MUL_ADD, MUL_ADD_FORMS, Number::F64, F64),
    addend_in_y(row("DADD", 0x029, ADD, ADD_FORMS, Number::F64, F64)),
    row("DMUL",  0x028, MUL,     MUL_FORMS,     Number::F64, F64),
    excluding(&[([77, 79], SM_80), ([78, 85], SM_86_TO_90)],
        half(HALVES_OF_FMA, row("HFMA2", 0x031, MUL_ADD, MUL_ADD_FORMS, Number::Half, HALF_FMA))),
    half(HALVES_OF_ADD, row("HADD2", 0x030, ADD, ADD_FORMS, Number::Half, HALF_ADD)),
    Opcode { picked_by: Some(78), a_signs: [None, Some(72)], keeps_a: false, ..excluding(&[([78, 85], SM_90)],
        half(HALVES_OF_ADD, row("HADD2.F32", 0x030, ADD, WIDE_SUM_FORMS, Number::LowHalf, HALF_SUM_F32))) },
    half(HALVES_OF_MUL, row("HMUL2", 0x032, MUL, MUL_FORMS, Number::Half, HALF_MUL)),
    Opcode { spaced_constants: false, ..excluding(&[([77, 79], ALL)],
        half(&[], row("HFMA2.MMA", 0x035, MUL_ADD, MMA_FORMS, Number::Half, HALF_MMA))) },
    pair(row("FFMA2", 0x049, MUL_ADD, &[(1, ONLY_100), (2, ONLY_100), (4, ONLY_100), (6, ONLY_100), (7, ONLY_100)],
        Number::F32, PAIR_FMA)),
    pair(row("FADD2", 0x04b, ADD, &[(1, ONLY_100), (2, ONLY_100), (7, ONLY_100)], Number::F32, PAIR_ADD)),
    pair(row("FMUL2", 0x04a, MUL, &[(1, ONLY_100), (4, ONLY_100), (6, ONLY_100)], Number::F32, PAIR_MUL)),
    uniform(row("UFFMA", 0x055, MUL_ADD, &[(1, ONLY_120), (2, ONLY_120), (4, ONLY_120)], Number::F32, UNIFORM_FMA)),
    addend_in_y(uniform(row("UFADD", 0x054, ADD, &[(1, ONLY_120), (2, ONLY_120)], Number::F32, F32_ADD))),
    uniform(row("UFMUL", 0x056, MUL, &[(1, ONLY_120), (4, ONLY_120)], Number::F32, UNIFORM_MUL)),
    uniform(mixed(row("UFHFMA", 0x055, MUL_ADD, &[(1, ONLY_120)], Number::F32, MIXED))),
    addend_in_y(uniform(mixed(row("UFHADD", 0x054, ADD, &[(1, ONLY_120)], Number::F32, MIXED)))),
];
