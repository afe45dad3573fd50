//! Control flow, barriers, and the rest.

use super::words::*;
use crate::generation::Generation::{Sm52, Sm60};
use crate::row::{Kind, OperandField, Row, Slot};

const RELATIVE: OperandField = OperandField::new(Kind::Relative(at(20, 24)));
const ABSOLUTE: OperandField = hex(20, 32);
const INDEXED: OperandField =
    OperandField::new(Kind::ConstantAt { register: at(8, 8), offset: at(20, 16), bank: at(36, 5) });
/// A constant whose offset is in bytes.
const BYTES: OperandField =
    OperandField::new(Kind::ConstantAt { register: at(0, 0), offset: at(20, 16), bank: at(36, 5) });
const fn plus(width: u8) -> OperandField {
    OperandField::new(Kind::RegisterPlus { register: at(8, 8), offset: at(20, width) })
}
/// The target is in a constant.
const fn from_constant(
    name: &'static str,
    top: u16,
    modifiers: &'static [Slot],
    operands: &'static [OperandField],
) -> Row {
    Row::new(name, top, 0xfff0, modifiers, operands).when(at(5, 1), 1)
}
const fn direct(name: &'static str, top: u16, modifiers: &'static [Slot], operands: &'static [OperandField]) -> Row {
    Row::new(name, top, 0xfff0, modifiers, operands).when(at(5, 1), 0)
}
const fn test_only(name: &'static str, top: u16) -> Row {
    Row::new(name, top, 0xfff0, &[], &[CC_TEST])
}
const DEPBAR_SET: OperandField = OperandField::new(Kind::Set(at(0, 6))).omit(0);
static TRAPS: [&str; 8] = [".DRAIN_ILLEGAL", ".CAL", ".PAUSE", ".TRAP", ".INT", ".DRAIN", ".PAUSE_QUIET", ".???7"];
static TRAPS_50: [&str; 8] = renamed(TRAPS, &[(6, ".???6")]);
const fn trap(texts: &'static [&'static str]) -> Slot {
    Slot::new("mode", at(6, 3), texts)
}
static TRAP_NUMBER: &[OperandField] = &[hex(20, 20).omit(0)];
const fn bpt(modifiers: &'static [Slot]) -> Row {
    Row::new("BPT", 0xe3a0, 0xfff0, modifiers, TRAP_NUMBER).unguarded()
}
const BAR_RED: Slot = Slot::new("op", at(35, 2), &[".RED.POPC", ".RED.AND", ".RED.OR", ".RED.INVALIDBARMODE3"]);

/// The barrier and the number of threads, each a register or a number.
macro_rules! barrier {
    ($mode:literal $modifier:expr, $count:expr, [$($when:tt)*] [$($after:expr),*]) => {
        &[
            Row::new("BAR", 0xf0a8, 0xfff8, &[$modifier], &[register(8), register(20), $($after),*]).when(at(43, 2).and(32, 3), $mode << 2) $($when)*.variable(),
            Row::new("BAR", 0xf0a8, 0xfff8, &[$modifier], &[hex(8, 8), register(20), $($after),*]).when(at(43, 2).and(32, 3), $mode << 2 | 2) $($when)*.variable(),
            Row::new("BAR", 0xf0a8, 0xfff8, &[$modifier], &[register(8), $count, $($after),*]).when(at(43, 2).and(32, 3), $mode << 2 | 1) $($when)*.variable(),
            Row::new("BAR", 0xf0a8, 0xfff8, &[$modifier], &[hex(8, 8), $count, $($after),*]).when(at(43, 2).and(32, 3), $mode << 2 | 3) $($when)*.variable(),
        ]
    };
}

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    &[direct("BRA", 0xe240, &[u(7), lmt(6)], &[CC_TEST, RELATIVE]), from_constant("BRA", 0xe240, &[u(7), lmt(6)], &[CC_TEST, BYTES])],
    &[direct("BRX", 0xe250, &[lmt(6)], &[CC_TEST, plus(24)]), from_constant("BRX", 0xe250, &[lmt(6)], &[CC_TEST, INDEXED])],
    &[direct("JMP", 0xe210, &[u(7), lmt(6)], &[CC_TEST, ABSOLUTE]), from_constant("JMP", 0xe210, &[u(7), lmt(6)], &[CC_TEST, BYTES])],
    &[direct("JMX", 0xe200, &[lmt(6)], &[CC_TEST, plus(32)]), from_constant("JMX", 0xe200, &[lmt(6)], &[CC_TEST, INDEXED])],
    &[direct("CAL", 0xe260, &[inc(6)], &[RELATIVE]).unguarded(), from_constant("CAL", 0xe260, &[inc(6)], &[BYTES]).unguarded()],
    &[direct("JCAL", 0xe220, &[inc(6)], &[ABSOLUTE]).unguarded(), from_constant("JCAL", 0xe220, &[inc(6)], &[BYTES]).unguarded()],
    &[direct("PRET", 0xe270, &[inc(6)], &[RELATIVE]).unguarded(), from_constant("PRET", 0xe270, &[inc(6)], &[BYTES]).unguarded()],
    &[direct("SSY", 0xe290, &[], &[RELATIVE]).unguarded(), from_constant("SSY", 0xe290, &[], &[BYTES]).unguarded()],
    &[direct("PBK", 0xe2a0, &[], &[RELATIVE]).unguarded(), from_constant("PBK", 0xe2a0, &[], &[BYTES]).unguarded()],
    &[direct("PCNT", 0xe2b0, &[], &[RELATIVE]).unguarded(), from_constant("PCNT", 0xe2b0, &[], &[BYTES]).unguarded()],
    &[direct("PLONGJMP", 0xe280, &[], &[RELATIVE]).unguarded(), from_constant("PLONGJMP", 0xe280, &[], &[BYTES]).unguarded()],
    &[Row::new("PEXIT", 0xe230, 0xfff0, &[], &[RELATIVE]).unguarded()],
    &[Row::new("EXIT", 0xe300, 0xfff0, &[Slot::new("keep", at(5, 1), &["", ".KEEPREFCOUNT"])], &[CC_TEST])],
    &[test_only("RET", 0xe320)],
    &[test_only("BRK", 0xe340)],
    &[test_only("CONT", 0xe350)],
    &[test_only("LONGJMP", 0xe310)],
    &[test_only("KIL", 0xe330)],
    &[Row::new("SYNC", 0xf0f8, 0xfff8, &[], &[CC_TEST])],
    &[
        Row::new("NOP", 0x50b0, 0xfff8, &[Slot::new("trig", at(13, 1), &["", ".TRIG"])],
            &[named(Slot::new("cc", at(8, 5), CC_TEXTS)), hex(20, 16).omit(0)]),
    ],
    barrier!(0 fixed(&[".SYNC"]), hex(20, 12).omit(0), [.when(at(39, 4), 7)] []),
    barrier!(1 fixed(&[".ARV"]), hex(20, 12), [.when(at(39, 4), 7)] []),
    barrier!(2 BAR_RED, hex(20, 12).omit(0), [] [predicate(39).not(42)]),
    barrier!(3 fixed(&[".SCAN"]), hex(20, 12), [] [predicate(39).not(42)]),
    &[
        Row::new("DEPBAR", 0xf0f0, 0xfff8, &[], &[DEPBAR_SET]).when(at(29, 1), 0),
        Row::new("DEPBAR", 0xf0f0, 0xfff8, &[fixed(&[".LE"])],
            &[OperandField::new(Kind::Scoreboard(at(26, 3))), hex(20, 6), DEPBAR_SET]).when(at(29, 1), 1).refuse(&[(7 << 26, 6 << 26), (7 << 26, 7 << 26)]),
    ],
    &[Row::new("GETCRSPTR", 0xe2c0, 0xfff0, &[], &[RD]).variable().unguarded()],
    &[Row::new("GETLMEMBASE", 0xe2d0, 0xfff0, &[], &[RD]).variable().unguarded()],
    &[Row::new("SETCRSPTR", 0xe2e0, 0xfff0, &[], &[register(8)]).variable().unguarded()],
    &[Row::new("SETLMEMBASE", 0xe2f0, 0xfff0, &[], &[register(8)]).variable().unguarded()],
    &[Row::new("RTT", 0xe360, 0xfff0, &[Slot::new("mode", at(0, 2), &["", ".TERMINATE", ".FALLTHROUGH", ".PREEMPTED"])], &[]).unguarded()],
    &[Row::new("SAM", 0xe370, 0xfff0, &[], &[]).unguarded()],
    &[Row::new("RAM", 0xe380, 0xfff0, &[], &[]).unguarded()],
    &[Row::new("IDE", 0xe390, 0xfff0, &[Slot::new("mode", at(5, 1), &[".EN", ""])], &[hex(20, 16)]).unguarded()],
    &[bpt(&[trap(&TRAPS_50)]).until(Sm52), bpt(&[trap(&TRAPS)]).since(Sm60)],
];
