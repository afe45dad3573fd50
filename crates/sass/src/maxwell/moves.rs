//! Moves, selections, predicates, special registers, and votes.

use super::special::{OLDER_SPECIAL_REGISTERS, OLDEST_SPECIAL_REGISTERS, SPECIAL_REGISTERS};
use super::words::*;
use crate::generation::Generation::{Sm50, Sm52, Sm60};
use crate::row::{Kind, Lowering, OperandField, Row, Slot};

/// The bytes that a move writes; all of them are not printed.
const BYTES: OperandField = hex(39, 4).omit(0xf);
const SPECIAL: OperandField = special(&SPECIAL_REGISTERS);
const SPECIAL_52: OperandField = special(&OLDER_SPECIAL_REGISTERS);
const SPECIAL_50: OperandField = special(&OLDEST_SPECIAL_REGISTERS);
const fn special(names: &'static [&'static str]) -> OperandField {
    named(Slot::new("special", at(20, 8), names).numbered("SR"))
}
const fn s2r(operands: &'static [OperandField]) -> Row {
    Row::new("S2R", 0xf0c8, 0xfff8, &[], operands).variable()
}
const fn cs2r(operands: &'static [OperandField]) -> Row {
    Row::new("CS2R", 0x50c8, 0xfff8, &[], operands)
}
static PR: &[&str] = &["PR", "CC"];
const WHICH: OperandField = named(Slot::new("which", at(40, 1), PR));
const CC: OperandField = named(fixed(&["CC"]));
const CC_CMP: Slot = Slot::new("cmp", at(8, 5), super::special::CC_MODIFIERS);
const fn logic_at(name: &'static str, low: u8) -> Slot {
    Slot::new(name, at(low, 2), &[".AND", ".OR", ".XOR", ".INVALIDBOP3"])
}
const VOTE: Slot = Slot::new("vote", at(48, 2), &[".ALL", ".ANY", ".EQ", ".INVALIDVMODE3"]);
const VTG: Slot = Slot::new("vote", at(48, 2), &[".VTG.R", ".VTG.A", ".VTG.RA", ".VTG.INVALIDVTGMODE3"]);
const SHFL: Slot = Slot::new("mode", at(30, 2), &[".IDX", ".UP", ".DOWN", ".BFLY"]);
const RESULT: Slot = Slot::new("mode", at(32, 2), &["", ".RESULT", ".WARP", ".INVALID"]);

const fn p(low: u8, not: u8) -> OperandField {
    predicate(low).not(not)
}

const fn shfl(lane_immediate: u64, clamp_immediate: u64, operands: &'static [OperandField]) -> Row {
    Row::new("SHFL", 0xef10, 0xfff8, &[SHFL], operands)
        .when(at(28, 2), lane_immediate | clamp_immediate << 1)
        .variable()
}

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    rows3!("MOV" 0xfff8 0x5c98 0x4c98 0x3898 I20 [] [RD] {} [BYTES] .lowering(Lowering::Move)),
    &[Row::new("MOV32I", 0x0100, 0xfff0, &[], &[RD, H32, hex(12, 4).omit(0xf)]).lowering(Lowering::Move)],
    rows3!("SEL" 0xfff8 0x5ca0 0x4ca0 0x38a0 I20 [] [RD, RA] {} [P39]),
    &[
        shfl(0, 0, &[predicate(48), RD, register(8), register(20), register(39)]),
        shfl(1, 0, &[predicate(48), RD, register(8), hex(20, 5), register(39)]),
        shfl(0, 1, &[predicate(48), RD, register(8), register(20), hex(34, 13)]),
        shfl(1, 1, &[predicate(48), RD, register(8), hex(20, 5), hex(34, 13)]),
    ],

    rows3!("P2R" 0xfff8 0x5ce8 0x4ce8 0x38e8 I20 [byte(41)] [RD, WHICH, RA] {} []),
    rows3!("R2P" 0xfff8 0x5cf0 0x4cf0 0x38f0 U20 [] [WHICH, RA.suffix(byte(41))] {} []),
    &[Row::new("PSET", 0x5088, 0xfff8, &[bf(44), logic_at("bool", 24), logic_at("bool2", 45)],
        &[RD.cc(47), p(12, 15), p(29, 32), P39])],
    &[Row::new("PSETP", 0x5090, 0xfff8, &[logic_at("bool", 24), logic_at("bool2", 45)],
        &[predicate(3), predicate(0), p(12, 15), p(29, 32), P39])],
    &[Row::new("CSET", 0x5098, 0xfff8, &[bf(44), CC_CMP, bool_op(45)], &[RD.cc(47), CC, P39])],
    &[Row::new("CSETP", 0x50a0, 0xfff8, &[CC_CMP, bool_op(45)], &[predicate(3), predicate(0), CC, P39])],

    &[s2r(&[RD, SPECIAL_50]).until(Sm50), s2r(&[RD, SPECIAL_52]).since(Sm52).until(Sm52), s2r(&[RD, SPECIAL]).since(Sm60)],
    &[cs2r(&[RD, SPECIAL_50]).until(Sm50), cs2r(&[RD, SPECIAL_52]).since(Sm52).until(Sm52), cs2r(&[RD, SPECIAL]).since(Sm60)],
    &[
        Row::new("B2R", 0xf0b8, 0xfff8, &[], &[RD, hex(8, 8)]).when(at(32, 2), 0).variable(),
        Row::new("B2R", 0xf0b8, 0xfff8, &[fixed(&[".INVALID"])], &[RD, hex(8, 8)]).when(at(32, 2), 3).variable(),
        Row::new("B2R", 0xf0b8, 0xfff8, &[fixed(&[".RESULT"])], &[RD, optional(45)]).when(at(32, 2), 1).when(at(8, 8), 255).variable(),
    ],
    &[Row::new("R2B", 0xf0c0, 0xfff8, &[RESULT], &[hex(28, 4), register(20)]).variable()],
    &[Row::new("LEPC", 0x50d0, 0xfff8, &[], &[RD])],
    &[
        Row::new("VOTE", 0x50d8, 0xfff8, &[VOTE], &[RD.omit(255), predicate(45), P39]),
        Row::new("VOTE", 0x50e0, 0xfff8, &[VTG], &[hex(20, 28)]),
    ],
    &[Row::new("PIXLD", 0xefe8, 0xfff8, &[Slot::new("mode", at(31, 3), &["", ".COVMASK", ".COVERED", ".OFFSET",
        ".CENTROID_OFFSET", ".MY_INDEX", ".INVALID0", ".INVALID1"])],
        &[RD, optional(45), OperandField::new(Kind::Memory { space: "", register: at(8, 8), offset: at(20, 8), shift: 0 })]).variable()],
];
