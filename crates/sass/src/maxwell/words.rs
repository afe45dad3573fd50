//! The vocabulary of the rows: fields, operands and modifiers that several of them share.

use crate::row::{Bits, Kind, OperandField, Slot};

pub(super) const fn at(low: u8, width: u8) -> Bits {
    Bits::new(low, width)
}
const fn operand(kind: Kind) -> OperandField {
    OperandField::new(kind)
}
pub(super) const fn register(low: u8) -> OperandField {
    operand(Kind::Register(at(low, 8)))
}
pub(super) const fn predicate(low: u8) -> OperandField {
    operand(Kind::Predicate(at(low, 3)))
}
pub(super) const fn inverted(low: u8) -> OperandField {
    operand(Kind::Inverted(at(low, 3)))
}
/// A whole number in hex, without a sign.
pub(super) const fn hex(low: u8, width: u8) -> OperandField {
    operand(Kind::Integer { bits: at(low, width), signed: false })
}
pub(super) const fn signed(bits: Bits) -> OperandField {
    operand(Kind::Integer { bits, signed: true })
}
const fn float(bits: Bits, format: u8) -> OperandField {
    operand(Kind::Float { bits, format })
}
/// `[R1+0x10]`, the register in bits 8 to 15.
pub(super) const fn memory(low: u8, width: u8, shift: u8) -> OperandField {
    operand(Kind::Memory { space: "", register: at(8, 8), offset: at(low, width), shift })
}
pub(super) const fn named(slot: Slot) -> OperandField {
    operand(Kind::Named(slot))
}

pub(super) const RD: OperandField = register(0);
/// The first source, where it can be kept for reuse.
pub(super) const RA: OperandField = register(8).reuse(1);
pub(super) const RB: OperandField = register(20).reuse(2);
pub(super) const RC: OperandField = register(39).reuse(4);
/// The second source where a constant has its field.
pub(super) const RCB: OperandField = register(39).reuse(2);
pub(super) const CONSTANT: OperandField = operand(Kind::Constant { spaced: false });
pub(super) const SPACED: OperandField = operand(Kind::Constant { spaced: true });
const SHORT: Bits = at(20, 19).and(56, 1);
pub(super) const I20: OperandField = signed(SHORT);
pub(super) const U20: OperandField = operand(Kind::Integer { bits: SHORT, signed: false });
pub(super) const F32: OperandField = float(SHORT, 32);
pub(super) const F64: OperandField = float(SHORT, 64);
pub(super) const F16: OperandField = float(SHORT, 16);
pub(super) const I32: OperandField = signed(at(20, 32));
pub(super) const H32: OperandField = hex(20, 32);
pub(super) const F32_LONG: OperandField = float(at(20, 32), 32);
/// The two halves of a packed immediate: the upper 10 bits of each, or all 16.
pub(super) const HALF_HIGH: OperandField = float(at(30, 9).and(56, 1), 16);
pub(super) const HALF_LOW: OperandField = float(at(20, 10), 16);
pub(super) const HALF_HIGH_LONG: OperandField = float(at(36, 16), 16);
pub(super) const HALF_LOW_LONG: OperandField = float(at(20, 16), 16);
/// The predicate that a comparison combines its result with, or that selects.
pub(super) const P39: OperandField = predicate(39).not(42);
/// An optional predicate that is not printed where it is PT.
pub(super) const fn optional(low: u8) -> OperandField {
    predicate(low).omit(7)
}

/// Modifiers whose name, width and texts are always the same: a function of the lowest bit for each.
macro_rules! slots {
    ($($constructor:ident $name:literal $width:literal [$($text:expr),*];)*) => {
        $(pub(super) const fn $constructor(low: u8) -> Slot {
            Slot::new($name, at(low, $width), &[$($text),*])
        })*
    };
}

#[rustfmt::skip] // One slot a line.
slots! {
    ftz        "ftz"      1 ["", ".FTZ"];
    fmz        "fmz"      2 ["", ".FTZ", ".FMZ", ".INVALIDFMZ3"];
    fmz_half   "fmz"      2 ["", ".FTZ", ".FMZ", ".INVALID"];
    rnd        "rnd"      2 ["", ".RM", ".RP", ".RZ"];
    rint       "rnd"      2 ["", ".FLOOR", ".CEIL", ".TRUNC"];
    sat        "sat"      1 ["", ".SAT"];
    x          "x"        1 ["", ".X"];
    hi         "hi"       1 ["", ".HI"];
    w          "w"        1 ["", ".W"];
    brev       "brev"     1 ["", ".BREV"];
    bf         "bf"       1 ["", ".BF"];
    u32_       "type"     1 [".U32", ""];
    scale      "scale"    3 ["", ".D2", ".D4", ".D8", ".M8", ".M4", ".M2", ".INVALIDSCALE37"];
    bool_op    "bool"     2 [".AND", ".OR", ".XOR", ".INVALIDBOP3"];
    logic      "logic"    2 [".AND", ".OR", ".XOR", ".PASS_B"];
    test       "test"     2 ["", ".T", ".Z", ".NZ"];
    cmp        "cmp"      3 [".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"];
    fcmp       "cmp"      4 [".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM",
                             ".NAN", ".LTU", ".EQU", ".LEU", ".GTU", ".NEU", ".GEU", ".T"];
    po         "po"       2 ["", "", "", ".PO"];
    byte       "byte"     2 ["", ".B1", ".B2", ".B3"];
    h1         "half"     1 ["", ".H1"];
    halves     "half"     2 ["", ".H0", ".H1", ".???3"];
    packed     "half"     2 ["", ".F32", ".H0_H0", ".H1_H1"];
    merge      "merge"    2 ["", ".F32", ".MRG_H0", ".MRG_H1"];
    e          "e"        1 ["", ".E"];
    load       "cache"    2 ["", ".CG", ".CI", ".CV"];
    load_local "cache"    2 ["", ".LU", ".CI", ".CV"];
    store      "cache"    2 ["", ".CG", ".CS", ".WT"];
    size       "size"     3 [".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".INVALIDSIZE7"];
    size_u     "size"     3 [".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"];
    words      "size"     2 ["", ".64", ".96", ".128"];
    nodep      "nodep"    1 ["", ".NODEP"];
    ndv        "ndv"      1 ["", ".NDV"];
    dc         "dc"       1 ["", ".DC"];
    lc         "lc"       1 ["", ".LC"];
    aoffi      "aoffi"    1 ["", ".AOFFI"];
    ms         "ms"       1 ["", ".MS"];
    component  "component" 2 [".R", ".G", ".B", ".A"];
    dim        "dim"      3 ["1D", "ARRAY_1D", "2D", "ARRAY_2D", "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE"];
    u          "u"        1 ["", ".U"];
    lmt        "lmt"      1 ["", ".LMT"];
    inc        "inc"      1 [".NOINC", ""];
    sd         "sd"       1 ["", ".SD"];
    ba         "ba"       1 ["", ".BA"];
}

/// Texts of which some are others.
pub(super) const fn renamed<const N: usize>(
    mut texts: [&'static str; N],
    changes: &[(usize, &'static str)],
) -> [&'static str; N] {
    let mut at = 0;
    while at < changes.len() {
        texts[changes[at].0] = changes[at].1;
        at += 1;
    }
    texts
}

/// A name without a field: the row's own bits say it.
pub(super) const fn fixed(text: &'static [&'static str]) -> Slot {
    Slot::new("fixed", at(0, 0), text)
}

/// The condition codes that a branch asks for; nothing where it asks for none.
pub(super) const CC_TEST: OperandField = named(Slot::new("cc", at(0, 5), CC_TEXTS));
pub(super) static CC_TEXTS: &[&str] = &[
    "CC.F",
    "CC.LT",
    "CC.EQ",
    "CC.LE",
    "CC.GT",
    "CC.NE",
    "CC.GE",
    "CC.NUM",
    "CC.NAN",
    "CC.LTU",
    "CC.EQU",
    "CC.LEU",
    "CC.GTU",
    "CC.NEU",
    "CC.GEU",
    "",
    "CC.OFF",
    "CC.LO",
    "CC.SFF",
    "CC.LS",
    "CC.HI",
    "CC.SFT",
    "CC.HS",
    "CC.OFT",
    "CC.CSM_TA",
    "CC.CSM_TR",
    "CC.CSM_MX",
    "CC.FCSM_TA",
    "CC.FCSM_TR",
    "CC.FCSM_MX",
    "CC.RLE",
    "CC.RGT",
];

/// Three rows of one mnemonic: its second source a register, a constant or an immediate.
macro_rules! rows3 {
    ($name:literal $mask:literal $r:literal $c:literal $i:literal $imm:ident [$($modifier:expr),*]
        [$($before:expr),*] {$($b:tt)*} [$($after:expr),*] $($rest:tt)*) => {
        &[
            Row::new($name, $r, $mask, &[$($modifier),*], &[$($before,)* RB $($b)*, $($after),*]) $($rest)*,
            Row::new($name, $c, $mask, &[$($modifier),*], &[$($before,)* CONSTANT $($b)*, $($after),*]) $($rest)*,
            Row::new($name, $i, $mask & 0xfeff, &[$($modifier),*], &[$($before,)* $imm $($b)*, $($after),*]) $($rest)*,
        ]
    };
}
/// Four rows of one mnemonic with three sources: one of the last two may be a constant, the second an immediate.
macro_rules! rows4 {
    ($name:literal $mask:literal $r:literal $cb:literal $cc:literal $i:literal $imm:ident [$($modifier:expr),*]
        [$($before:expr),*] {$($b:tt)*} {$($c:tt)*} $($rest:tt)*) => {
        &[
            Row::new($name, $r, $mask, &[$($modifier),*], &[$($before,)* RB $($b)*, RC $($c)*]) $($rest)*,
            Row::new($name, $cb, $mask, &[$($modifier),*], &[$($before,)* CONSTANT $($b)*, RC $($c)*]) $($rest)*,
            Row::new($name, $cc, $mask, &[$($modifier),*], &[$($before,)* RCB $($b)*, CONSTANT $($c)*]) $($rest)*,
            Row::new($name, $i, $mask & 0xfeff, &[$($modifier),*], &[$($before,)* $imm $($b)*, RC $($c)*]) $($rest)*,
        ]
    };
}
