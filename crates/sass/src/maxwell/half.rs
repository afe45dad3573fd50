//! Pairs of 16-bit numbers.

use super::words::*;
use crate::generation::Generation;
use crate::row::{Row, Slot};

const HSET2_BOOL: Slot = Slot::new("bool", at(45, 2), &[".AND", ".OR", ".XOR", ".???3"]);
static H_AND: &[&str] = &["", ".H_AND"];

const fn row(
    name: &'static str,
    top: u16,
    mask: u16,
    modifiers: &'static [Slot],
    operands: &'static [crate::row::OperandField],
) -> Row {
    Row::new(name, top, mask, modifiers, operands).since(Generation::Sm52).variable()
}

#[rustfmt::skip] // Columns.
pub(super) static ROWS: &[&[Row]] = &[
    &[
        row("HFMA2", 0x5d00, 0xfff8, &[merge(49), fmz_half(37), sat(32)],
            &[RD, RA.suffix(packed(47)), RB.neg(31).suffix(packed(28)), RC.neg(30).suffix(packed(35))]),
        row("HFMA2", 0x6080, 0xf880, &[merge(49), fmz(57), sat(52)],
            &[RD, RA.suffix(packed(47)), RCB.neg(56).suffix(packed(53)), CONSTANT.neg(51)]),
        row("HFMA2", 0x7080, 0xf880, &[merge(49), fmz_half(57), sat(52)],
            &[RD, RA.suffix(packed(47)), CONSTANT.neg(56), RC.neg(51).suffix(packed(53))]),
        row("HFMA2", 0x7000, 0xf880, &[merge(49), fmz_half(57), sat(52)],
            &[RD, RA.suffix(packed(47)), HALF_HIGH, HALF_LOW, RC.neg(51).suffix(packed(53))]),
        row("HFMA2_32I", 0x2800, 0xfe00, &[fmz(55)],
            &[RD, RA.suffix(packed(53)), HALF_HIGH_LONG, HALF_LOW_LONG, RD.neg(52).reuse(4)]),
    ],
    &[
        row("HMUL2", 0x5d08, 0xfff8, &[merge(49), fmz_half(39), sat(32)],
            &[RD, RA.abs(44).suffix(packed(47)), RB.neg(31).abs(30).suffix(packed(28))]),
        row("HMUL2", 0x7880, 0xfe80, &[merge(49), fmz_half(39), sat(52)],
            &[RD, RA.abs(44).suffix(packed(47)), CONSTANT.neg(43).abs(54)]),
        row("HMUL2", 0x7800, 0xfe80, &[merge(49), fmz_half(39), sat(52)],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), HALF_HIGH, HALF_LOW]),
        row("HMUL2_32I", 0x2a00, 0xfe00, &[fmz_half(55), sat(52)],
            &[RD, RA.suffix(packed(53)), HALF_HIGH_LONG, HALF_LOW_LONG]),
    ],
    &[
        row("HADD2", 0x5d10, 0xfff8, &[merge(49), ftz(39), sat(32)],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), RB.neg(31).reuse(4).abs(30).suffix(packed(28))]),
        row("HADD2", 0x7a80, 0xfe80, &[merge(49), ftz(39), sat(52)],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), CONSTANT.neg(56).abs(54)]),
        row("HADD2", 0x7a00, 0xfe80, &[merge(49), ftz(39), sat(52)],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), HALF_HIGH, HALF_LOW]),
        row("HADD2_32I", 0x2c00, 0xfe00, &[ftz(55), sat(52)],
            &[RD, RA.neg(56).suffix(packed(53)), HALF_HIGH_LONG, HALF_LOW_LONG]),
    ],
    &[
        row("HSET2", 0x5d18, 0xfff8, &[bf(49), fcmp(35), ftz(50), HSET2_BOOL],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), RB.neg(31).abs(30).suffix(packed(28)), P39]),
        row("HSET2", 0x7c80, 0xfe80, &[bf(53), fcmp(49), ftz(54), HSET2_BOOL],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), CONSTANT.neg(56), P39]),
        row("HSET2", 0x7c00, 0xfe80, &[bf(53), fcmp(49), ftz(54), HSET2_BOOL],
            &[RD, RA.neg(43).abs(44).suffix(packed(47)), HALF_HIGH, HALF_LOW, P39]),
    ],
    &[
        row("HSETP2", 0x5d20, 0xfff8, &[fcmp(35), Slot::new("h_and", at(49, 1), H_AND), ftz(6), bool_op(45)],
            &[predicate(3), predicate(0), RA.neg(43).abs(44).suffix(packed(47)), RB.neg(31).abs(30).suffix(packed(28)), P39]),
        row("HSETP2", 0x7e80, 0xfe80, &[fcmp(49), Slot::new("h_and", at(53, 1), H_AND), ftz(6), bool_op(45)],
            &[predicate(3), predicate(0), RA.neg(43).abs(44).suffix(packed(47)), CONSTANT.neg(56).abs(54), P39]),
        row("HSETP2", 0x7e00, 0xfe80, &[fcmp(49), Slot::new("h_and", at(53, 1), H_AND), ftz(6), bool_op(45)],
            &[predicate(3), predicate(0), RA.neg(43).abs(44).suffix(packed(47)), HALF_HIGH, HALF_LOW, P39]),
    ],
];
