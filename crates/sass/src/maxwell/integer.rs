//! Whole numbers.

use super::words::*;
use crate::generation::Generation;
use crate::row::{Row, Slot};

/// The signs of two factors together; nothing where both are signed.
const fn signs(low: u8, high: u8) -> Slot {
    Slot::new("type", at(low, 1).and(high, 1), &[".U32.U32", ".S32.U32", ".U32.S32", ""])
}
const IADD32I_PO: Slot = Slot::new("po", at(55, 2), &["", "", "", ".PO"]);
const IADD32I_NEG: Slot = Slot::new("neg", at(55, 2), &["", "", "-", ""]);
const MUL_TYPES: Slot = signs(40, 41);
const MAD_TYPES: Slot = signs(48, 53);
const EXTENDED: Slot = Slot::new("part", at(43, 2), &["", ".XLO", ".XMED", ".XHI"]);
const SHR_X: Slot = Slot::new("x", at(43, 2), &["", ".INVALIDSHRXMODE1", ".X", ".XHI"]);
const SH: Slot = Slot::new("sh", at(41, 1), &["", ".SH"]);
const SHIFT_3: Slot = Slot::new("shift", at(37, 2), &["", ".RS", ".LS", ".???3"]);
const FUNNEL: Slot = Slot::new("type", at(37, 2), &["", ".INVALIDMAXSHIFT3", ".U64", ".S64"]);
const FUNNEL_PART: Slot = Slot::new("part", at(48, 2), &["", ".HI", ".X", ".XHI"]);
const XMAD_TYPES: Slot = Slot::new("type", at(48, 2), &["", ".S16.U16", ".U16.S16", ".S16.S16"]);
static XMAD_3: &[&str] = &["", ".CLO", ".CHI", ".CSFU", ".CBCC", ".???5", ".???6", ".???7"];
static PSL: &[&str] = &["", ".PSL"];
static MRG: &[&str] = &["", ".MRG"];
const fn psl(low: u8) -> Slot {
    Slot::new("psl", at(low, 1), PSL)
}
const fn mrg(low: u8) -> Slot {
    Slot::new("mrg", at(low, 1), MRG)
}
const XMAD_MODE: Slot = Slot::new("mode", at(50, 3), XMAD_3);
const XMAD_SHORT_MODE: Slot = Slot::new("mode", at(50, 2), &["", ".CLO", ".CHI", ".CSFU"]);
const PRMT: Slot = Slot::new(
    "mode",
    at(48, 4),
    &[
        "",
        ".F4E",
        ".B4E",
        ".RC8",
        ".ECL",
        ".ECR",
        ".RC16",
        ".INVALIDPMODE7",
        ".???8",
        ".???9",
        ".???10",
        ".???11",
        ".???12",
        ".???13",
        ".???14",
        ".???15",
    ],
);
const SP_A: Slot = Slot::new(
    "a_type",
    at(49, 2).and(48, 1),
    &[".U32", ".U24", ".U16H0", ".U16H1", ".S32", ".S24", ".S16H0", ".S16H1"],
);
const SP_B: Slot = Slot::new("b_type", at(53, 2), &[".U24", ".S24", ".U16H0", ".S16H0"]);
/// The third type takes the sign of the first or of the second.
const SP_C: Slot = Slot::new(
    "c_type",
    at(51, 2).and(48, 1).and(53, 1),
    &[
        ".U32", ".U24", ".U16H0", "", ".S32", ".S24", ".S16H0", "", ".S32", ".S24", ".S16H0", "", ".S32", ".S24",
        ".S16H0", "",
    ],
);
/// With 3 in the third type the first two come from elsewhere, and nothing but `.SD` is printed.
const NO_SP: &[(u64, u64)] = &[(3 << 51, 3 << 51)];
const LEA_SHIFT: crate::row::OperandField = hex(39, 5).omit(0);
const IDP: Slot = Slot::new("mode", at(48, 1).and(50, 1), &[".4A", ".2A.LO", "", ".2A.HI"]);
const NO_IDP: &[(u64, u64)] = &[(5 << 48, 4 << 48)];

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    rows3!("IADD" 0xfff8 0x5c10 0x4c10 0x3810 I20 [po(48), sat(50), x(43)] [RD.cc(47), RA.neg_high(48)] {.neg_low(48)} []),
    &[Row::new("IADD32I", 0x1c00, 0xfe00, &[IADD32I_PO, sat(54), x(53)], &[RD.cc(52), RA.sign(IADD32I_NEG), I32]).refuse(&[(3 << 55, 1 << 55)])],
    &[
        Row::new("IADD3", 0x5cc0, 0xfff0, &[SHIFT_3, x(48)],
            &[RD.cc(47), RA.neg(51).suffix(halves(35)), RB.neg(50).suffix(halves(33)), RC.neg(49).suffix(halves(31))]),
        Row::new("IADD3", 0x4cc0, 0xfff0, &[x(48)], &[RD.cc(47), RA.neg(51), CONSTANT.neg(50), RC.neg(49)]),
        Row::new("IADD3", 0x38c0, 0xfef0, &[x(48)], &[RD.cc(47), RA.neg(51), U20.neg(50), RC.neg(49)]),
    ],
    rows3!("ISCADD" 0xfff8 0x5c18 0x4c18 0x3818 I20 [po(48)] [RD.cc(47), RA.neg_high(48)] {.neg_low(48)} [hex(39, 5)]),
    &[Row::new("ISCADD32I", 0x1400, 0xfc00, &[], &[RD.cc(52), RA, I32, hex(53, 5)])],
    rows3!("IMNMX" 0xfff8 0x5c20 0x4c20 0x3820 I20 [u32_(48), EXTENDED] [RD.cc(47), RA] {} [P39]),
    rows3!("IMUL" 0xfff8 0x5c38 0x4c38 0x3838 I20 [MUL_TYPES, hi(39)] [RD.cc(47), RA] {} [] .variable()),
    &[Row::new("IMUL32I", 0x1f00, 0xff00, &[signs(54, 55), hi(53)], &[RD.cc(52), RA, I32]).variable()],
    rows4!("IMAD" 0xff80 0x5a00 0x4a00 0x5200 0x3400 I20 [MAD_TYPES, hi(54), po(51), sat(50), x(49)]
        [RD.cc(47), RA.neg_high(51)] {} {.neg_low(51)} .variable()),
    &[Row::new("IMAD32I", 0x1000, 0xfc00, &[signs(54, 57), hi(53), po(55)], &[RD.cc(52), RA.neg_high(55), I32, RD.neg_low(55)]).variable()],
    rows4!("IMADSP" 0xff80 0x5a80 0x4a80 0x5280 0x3480 I20 [SP_A, SP_B, SP_C] [RD.cc(47), RA] {} {} .refuse(NO_SP).variable()),
    &[
        Row::new("XMAD", 0x5b00, 0xffc0, &[XMAD_TYPES, psl(36), XMAD_MODE, mrg(37), x(38)],
            &[RD.cc(47), RA.suffix(h1(53)), RB.suffix(h1(35)), RC]),
        Row::new("XMAD", 0x4e00, 0xfe00, &[XMAD_TYPES, psl(55), XMAD_SHORT_MODE, mrg(56), x(54)],
            &[RD.cc(47), RA.suffix(h1(53)), SPACED.suffix(h1(52)), RC]),
        Row::new("XMAD", 0x5100, 0xff80, &[XMAD_TYPES, XMAD_SHORT_MODE, x(54)],
            &[RD.cc(47), RA.suffix(h1(53)), RCB.suffix(h1(52)), CONSTANT]),
        Row::new("XMAD", 0x3600, 0xfec0, &[XMAD_TYPES, psl(36), XMAD_MODE, mrg(37), x(38)],
            &[RD.cc(47), RA.suffix(h1(53)), hex(20, 16), RC]).when(at(49, 1), 0),
        Row::new("XMAD", 0x3600, 0xfec0, &[XMAD_TYPES, psl(36), XMAD_MODE, mrg(37), x(38)],
            &[RD.cc(47), RA.suffix(h1(53)), signed(at(20, 16)), RC]).when(at(49, 1), 1),
    ],
    rows3!("ISET" 0xfff0 0x5b50 0x4b50 0x3650 I20 [bf(44), cmp(49), u32_(48), x(43), bool_op(45)] [RD.cc(47), RA] {} [P39]),
    rows3!("ISETP" 0xfff0 0x5b60 0x4b60 0x3660 I20 [cmp(49), u32_(48), x(43), bool_op(45)] [predicate(3), predicate(0), RA] {} [P39]),
    rows4!("ICMP" 0xfff0 0x5b40 0x4b40 0x5340 0x3640 I20 [cmp(49), u32_(48)] [RD, RA] {} {}),

    rows3!("SHL" 0xfff8 0x5c48 0x4c48 0x3848 I20 [w(39), x(43)] [RD.cc(47), RA] {} []),
    rows3!("SHR" 0xfff8 0x5c28 0x4c28 0x3828 I20 [u32_(48), w(39), SHR_X, brev(40)] [RD.cc(47), RA] {} []),
    &[
        Row::new("SHF", 0x5bf8, 0xfff8, &[fixed(&[".L"]), w(50), FUNNEL, FUNNEL_PART], &[RD.cc(47), RA, RB, RC]),
        Row::new("SHF", 0x36f8, 0xfef8, &[fixed(&[".L"]), w(50), FUNNEL, FUNNEL_PART], &[RD.cc(47), RA, hex(20, 6), RC]),
        Row::new("SHF", 0x5cf8, 0xfff8, &[fixed(&[".R"]), w(50), FUNNEL, FUNNEL_PART], &[RD.cc(47), RA, RB, RC]),
        Row::new("SHF", 0x38f8, 0xfef8, &[fixed(&[".R"]), w(50), FUNNEL, FUNNEL_PART], &[RD.cc(47), RA, hex(20, 6), RC]),
    ],
    rows3!("BFE" 0xfff8 0x5c00 0x4c00 0x3800 I20 [u32_(48), brev(40)] [RD.cc(47), RA] {} []),
    rows4!("BFI" 0xfff8 0x5bf0 0x4bf0 0x53f0 0x36f0 I20 [] [RD.cc(47), RA] {} {}),
    rows3!("FLO" 0xfff8 0x5c30 0x4c30 0x3830 I20 [u32_(48), SH] [RD.cc(47)] {.inv(40)} [] .variable()),
    rows3!("POPC" 0xfff8 0x5c08 0x4c08 0x3808 I20 [] [RD] {.inv(40)} [] .variable()),
    rows4!("PRMT" 0xfff0 0x5bc0 0x4bc0 0x53c0 0x36c0 I20 [PRMT] [RD, RA] {} {}),

    rows3!("LOP" 0xfff8 0x5c40 0x4c40 0x3840 I20 [logic(41), x(43), test(44)]
        [optional(48), RD.cc(47), RA.inv(39)] {.inv(40)} []),
    &[Row::new("LOP32I", 0x0400, 0xfc00, &[logic(53), x(57)], &[RD.cc(52), RA.inv(55), H32.inv(56)])],
    &[
        Row::new("LOP3", 0x5be0, 0xfff8, &[fixed(&[".LUT"]), x(38), test(36)], &[optional(48), RD.cc(47), RA, RB, RC, hex(28, 8)]),
        Row::new("LOP3", 0x0200, 0xfe00, &[fixed(&[".LUT"]), x(56)], &[RD.cc(47), RA, CONSTANT, RC, hex(48, 8)]),
        Row::new("LOP3", 0x3c00, 0xfc00, &[fixed(&[".LUT"]), x(57)], &[RD.cc(47), RA, I20, RC, hex(48, 8)]),
    ],
    rows3!("LEA" 0xfff8 0x5bd0 0x4bd0 0x36d0 I20 [x(46)] [optional(48), RD.cc(47), RA.neg(45)] {} [LEA_SHIFT]),
    &[
        Row::new("LEA", 0x5bd8, 0xfff8, &[fixed(&[".HI"]), x(38)], &[optional(48), RD.cc(47), RA.neg(37), RB, RC, hex(28, 5).omit(0)]),
        Row::new("LEA", 0x1800, 0xfc00, &[fixed(&[".HI"]), x(57)], &[optional(48), RD.cc(47), RA.neg(56), CONSTANT, RC, hex(51, 5).omit(0)]),
    ],
    &[
        Row::new("IDP", 0x53f8, 0xfff8, &[IDP, Slot::new("type", at(49, 1).and(48, 1).and(47, 1), IDP_TYPES)], &[RD, RA, RB, RC]).since(Generation::Sm61).refuse(NO_IDP),
        Row::new("IDP", 0x53d8, 0xfff8, &[IDP, Slot::new("type", at(49, 1).and(48, 1).and(47, 1), IDP_TYPES)], &[RD, RA, CONSTANT, RC]).since(Generation::Sm61).refuse(NO_IDP),
    ],
];
static IDP_TYPES: &[&str] = &[".U8.U8", ".S8.U8", ".U16.U8", ".S16.U8", ".U8.S8", ".S8.S8", ".U16.S8", ".S16.S8"];
