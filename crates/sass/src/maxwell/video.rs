//! Bytes and half words within registers: the video instructions.

use super::words::*;
use crate::generation::Generation::Sm52;
use crate::row::{OperandField, Row, Slot};

static TYPES: &[&str] = &[
    ".U8",
    ".U8",
    ".U8",
    ".U8",
    ".U16",
    ".U16",
    ".U32",
    ".INVALIDSEL6",
    ".S8",
    ".S8",
    ".S8",
    ".S8",
    ".S16",
    ".S16",
    ".S32",
    ".INVALIDSEL7",
];
static PARTS: &[&str] = &["", ".B1", ".B2", ".B3", "", ".H1", "", "", "", ".B1", ".B2", ".B3", "", ".H1", "", ""];
static COUNT_PARTS: &[&str] = &["", ".B1", ".B2", ".B3", "", ".H1", "", ""];
const A_BITS: crate::row::Bits = at(36, 3).and(48, 1);
const B_BITS: crate::row::Bits = at(28, 3).and(49, 1);
const A_TYPE: Slot = Slot::new("a_type", A_BITS, TYPES);
const B_TYPE: Slot = Slot::new("b_type", B_BITS, TYPES);
/// A shift's count has no sign.
const COUNT_TYPE: Slot =
    Slot::new("b_type", at(28, 3), &[".U8", ".U8", ".U8", ".U8", ".U16", ".U16", ".U32", ".INVALIDSEL7"]);
const A: OperandField = RA.suffix(Slot::new("part", A_BITS, PARTS));
const B: OperandField = RB.suffix(Slot::new("part", B_BITS, PARTS));
const COUNT: OperandField = RB.suffix(Slot::new("part", at(28, 3), COUNT_PARTS));
const D: OperandField = RD.cc(47);
const U16: OperandField = hex(20, 16);
const S16: OperandField = signed(at(20, 16));
/// A sign before the number, and none before zero.
const MINUS_U16: OperandField = U16.sign(Slot::new("minus", at(56, 2), &["", "-", "", ""]));
const HALF_TYPE: Slot = Slot::new("b_type", at(49, 1), &[".U16", ".S16"]);
const UD: Slot = Slot::new("ud", at(54, 1), &[".UD", ""]);
const MERGE: Slot =
    Slot::new("merge", at(51, 3), &[".MRG_16H", ".MRG_16L", ".MRG_8B0", ".MRG_8B2", ".ACC", ".MIN", ".MAX", ""]);
const U: Slot = fixed(&[".U16"]);
const S: Slot = fixed(&[".S16"]);
const MX: Slot = Slot::new("mx", at(56, 1), &["", ".MX"]);
const VSETP_CMP: Slot = Slot::new("cmp", at(43, 2).and(47, 1), &[".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"]);
const SHR: Slot = Slot::new("scale", at(51, 2), &["", ".SHR_7", ".SHR_15", ".INVALIDVMADSCALE3"]);

/// The second source a register, or an immediate of 16 bits with or without a sign. `.S32` for both is not printed,
/// and beside it an immediate's `.S16` is not either; of VMAD that holds up to sm_53.
macro_rules! video {
    ($name:literal $top:literal $mask:literal [$($before:expr),*] [$($after:expr),*] [$($first:expr),*] [$($last:expr),*]) => {
        &[
            Row::new($name, $top, $mask, &[$($before,)* $($after),*], &[$($first,)* A, RB, $($last),*]).when(at(49, 2), 3).when(A_BITS, 14).when(at(28, 3), 6),
            Row::new($name, $top, $mask, &[$($before,)* A_TYPE, B_TYPE, $($after),*], &[$($first,)* A, B, $($last),*]).when(at(50, 1), 1),
            Row::new($name, $top, $mask, &[$($before,)* $($after),*], &[$($first,)* A, S16, $($last),*]).when(at(49, 2), 1).when(A_BITS, 14),
            Row::new($name, $top, $mask, &[$($before,)* A_TYPE, S, $($after),*], &[$($first,)* A, S16, $($last),*]).when(at(49, 2), 1),
            Row::new($name, $top, $mask, &[$($before,)* A_TYPE, U, $($after),*], &[$($first,)* A, U16, $($last),*]).when(at(49, 2), 0),
        ]
    };
}
macro_rules! shift {
    ($name:literal $top:literal) => {
        &[
            Row::new($name, $top, 0xff00, &[UD, w(49), sat(55), MERGE], &[D, A, RB, RC])
                .when(at(50, 1), 1)
                .when(A_BITS, 14)
                .when(at(28, 3), 6),
            Row::new($name, $top, 0xff00, &[UD, A_TYPE, COUNT_TYPE, w(49), sat(55), MERGE], &[D, A, COUNT, RC])
                .when(at(50, 1), 1),
            Row::new($name, $top, 0xff00, &[UD, w(49), sat(55), MERGE], &[D, A, U16, RC])
                .when(at(50, 1), 0)
                .when(A_BITS, 14),
            Row::new($name, $top, 0xff00, &[UD, A_TYPE, U, w(49), sat(55), MERGE], &[D, A, U16, RC]).when(at(50, 1), 0),
        ]
    };
}

const SELECT_A: Slot = Slot::new(
    "select",
    at(32, 4),
    &[
        ".0000",
        ".1111",
        ".2222",
        ".3333",
        "",
        ".4321",
        ".5432",
        ".6543",
        ".3201",
        ".3012",
        ".0213",
        ".3120",
        ".1230",
        ".2310",
        ".INVALIDASEL4E",
        ".INVALIDASEL4F",
    ],
);
const SELECT_B: Slot = Slot::new(
    "select",
    at(28, 4),
    &[
        ".4444",
        ".5555",
        ".6666",
        ".7777",
        "",
        ".6543",
        ".5432",
        ".4321",
        ".4567",
        ".6745",
        ".5476",
        ".INVALIDBSEL4B",
        ".INVALIDBSEL4C",
        ".INVALIDBSEL4D",
        ".INVALIDBSEL4E",
    ],
);
const FOUR_TYPES: Slot = Slot::new("type", at(48, 2), &[".U8.U8", ".S8.U8", ".U8.S8", ""]);
const FOUR_MERGE: Slot = Slot::new("merge", at(53, 2), &["", ".ACC", ".INVALIDRED2", ".INVALIDRED3"]);
const FOUR_MASK: Slot = Slot::new(
    "mask",
    at(36, 2).and(51, 2),
    &[".???0", ".Z", ".W", ".ZW", ".X", ".XZ", ".XW", ".XZW", ".Y", ".YZ", ".YW", ".YZW", ".XY", ".XYZ", ".XYW", ""],
);

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new("VADD", 0x2000, 0xfc00, &[UD, po(56), sat(55), MERGE], &[D, A.neg_high(56), RB.neg_low(56), RC]).when(at(49, 2), 3).when(A_BITS, 14).when(at(28, 3), 6),
        Row::new("VADD", 0x2000, 0xfc00, &[UD, A_TYPE, B_TYPE, po(56), sat(55), MERGE], &[D, A.neg_high(56), B.neg_low(56), RC]).when(at(50, 1), 1),
        Row::new("VADD", 0x2000, 0xfc00, &[UD, po(56), sat(55), MERGE], &[D, A.neg_high(56), MINUS_U16, RC]).when(at(49, 2), 1).when(A_BITS, 14),
        Row::new("VADD", 0x2000, 0xfc00, &[UD, A_TYPE, HALF_TYPE, po(56), sat(55), MERGE], &[D, A.neg_high(56), MINUS_U16, RC]).when(at(50, 1), 0),
    ],
    video!("VABSDIFF" 0x5400 0xff00 [sd(54)] [sat(55), MERGE] [D] [RC]),
    video!("VMNMX" 0x3a00 0xfe00 [UD] [MX, sat(55), MERGE] [D] [RC]),
    video!("VSET" 0x4000 0xfe00 [cmp(54)] [MERGE] [D] [RC]),
    &[
        // A first factor of 32 bits makes the latency variable, as ptxas has it.
        Row::new("VMAD", 0x5f00, 0xff00, &[po(53), SHR, sat(55)], &[D, A.neg_high(53), B, RC.neg_low(53)]).when(at(50, 1), 1).when(A_BITS, 14).when(B_BITS, 14).variable().until(Sm52),
        Row::new("VMAD", 0x5f00, 0xff00, &[po(53), SHR, sat(55)], &[D, A.neg_high(53), U16, RC.neg_low(53)]).when(at(49, 2), 1).when(A_BITS, 14).variable().until(Sm52),
        Row::new("VMAD", 0x5f00, 0xff00, &[A_TYPE, B_TYPE, po(53), SHR, sat(55)], &[D, A.neg_high(53), B, RC.neg_low(53)]).when(at(50, 1), 1).variable_where(at(36, 3), 6),
        Row::new("VMAD", 0x5f00, 0xff00, &[A_TYPE, HALF_TYPE, po(53), SHR, sat(55)], &[D, A.neg_high(53), U16, RC.neg_low(53)]).when(at(50, 1), 0).variable_where(at(36, 3), 6),
    ],
    &[
        Row::new("VSETP", 0x50f0, 0xfff8, &[VSETP_CMP, bool_op(45)], &[predicate(3), predicate(0), A, RB, P39])
            .when(at(49, 2), 3).when(A_BITS, 14).when(at(28, 3), 6),
        Row::new("VSETP", 0x50f0, 0xfff8, &[VSETP_CMP, A_TYPE, B_TYPE, bool_op(45)], &[predicate(3), predicate(0), A, B, P39]).when(at(50, 1), 1),
        Row::new("VSETP", 0x50f0, 0xfff8, &[VSETP_CMP, A_TYPE, S, bool_op(45)], &[predicate(3), predicate(0), A, S16, P39]).when(at(49, 2), 1),
        Row::new("VSETP", 0x50f0, 0xfff8, &[VSETP_CMP, A_TYPE, U, bool_op(45)], &[predicate(3), predicate(0), A, U16, P39]).when(at(49, 2), 0),
    ],
    shift!("VSHR" 0x5600),
    shift!("VSHL" 0x5700),
    &[
        Row::new("VABSDIFF4", 0x5000, 0xff80, &[sd(38), FOUR_TYPES, sat(50), FOUR_MERGE, FOUR_MASK], &[D, RA.suffix(SELECT_A), hex(20, 8), RC]).when(at(28, 4), 15).when(at(49, 1), 0),
        Row::new("VABSDIFF4", 0x5000, 0xff80, &[sd(38), FOUR_TYPES, sat(50), FOUR_MERGE, FOUR_MASK], &[D, RA.suffix(SELECT_A), signed(at(20, 8)), RC]).when(at(28, 4), 15),
        Row::new("VABSDIFF4", 0x5000, 0xff80, &[sd(38), FOUR_TYPES, sat(50), FOUR_MERGE, FOUR_MASK], &[D, RA.suffix(SELECT_A), RB.suffix(SELECT_B), RC]).refuse(&[(15 << 28, 15 << 28)]),
    ],
];
