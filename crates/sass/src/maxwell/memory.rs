//! Memory: loads, stores, atomics, caches, attributes.

use super::words::*;
use crate::generation::Generation::{Sm50, Sm52, Sm60};
use crate::row::{Kind, NUMBERED, OperandField, Row, Slot};

static SHARED_SIZE: &[&str] = &[
    ".U8",
    ".S8",
    ".U16",
    ".S16",
    "",
    ".64",
    ".128",
    ".INVALIDSIZE7",
    ".U.U8",
    ".U.S8",
    ".U.U16",
    ".U.S16",
    ".U.32",
    ".U.64",
    ".U.128",
    ".U.INVALIDSIZE7",
];
const LDC_SIZE: Slot =
    Slot::new("size", at(48, 3), &[".U8", ".S8", ".U16", ".S16", "", ".64", ".INVALIDSIZE6", ".INVALIDSIZE7"]);
const LDC_MODE: Slot = Slot::new("mode", at(44, 2), &["", ".IL", ".IS", ".ISL"]);
const LDC_SOURCE: OperandField =
    OperandField::new(Kind::ConstantAt { register: at(8, 8), offset: at(20, 16), bank: at(36, 5) });

const fn atomic_op(low: u8) -> Slot {
    Slot::new(
        "op",
        at(low, 4),
        &[".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH", ".INVALIDATOMOP9", ".SAFEADD"],
    )
    .numbered(".INVALIDATOMOP")
}
const fn red_op(low: u8) -> Slot {
    Slot::new("op", at(low, 3), &[".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"])
}
static TYPES: [&str; 8] = ["", ".S32", ".U64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".F64.RN", ".INVALIDATOMICSIZE7"];
static TYPES_50: [&str; 8] = renamed(TYPES, &[(4, ".U128"), (6, ".INVALIDATOMICSIZE6")]);
static TYPES_52: [&str; 8] = renamed(TYPES, &[(4, ".F16x2.FTZ.RN"), (6, ".INVALIDATOMICSIZE6")]);
const fn atomic_type(low: u8, texts: &'static [&'static str]) -> Slot {
    Slot::new("type", at(low, 3), texts)
}
static ATOM: &[OperandField] = &[RD, memory(28, 20, 0), register(20)];
static ATOM_DONE: &[OperandField] = &[inverted(41), RD, memory(0, 0, 0), register(20)];
static RED: &[OperandField] = &[memory(28, 20, 0), RD];
const fn atom(modifiers: &'static [Slot]) -> Row {
    Row::new("ATOM", 0xed00, 0xff00, modifiers, ATOM).variable()
}
/// The same with a predicate that says whether it was done.
const fn atom_done(modifiers: &'static [Slot]) -> Row {
    Row::new("ATOM", 0xee60, 0xfff0, modifiers, ATOM_DONE).refuse(&[(0xff << 8, 0xff << 8)]).variable()
}
const fn red(modifiers: &'static [Slot]) -> Row {
    Row::new("RED", 0xebf8, 0xfff8, modifiers, RED).variable()
}
/// A pair ends before RZ.
const NO_PAIR: &[(u64, u64)] =
    &[(0xff << 20, 0xff << 20), (0xff << 20, 0xfe << 20), (1 << 49 | 0xff << 20, 1 << 49 | 0xfd << 20)];
const NO_PAIR_NOR_BASE: &[(u64, u64)] = &[
    (0xff << 8, 0xff << 8),
    (0xff << 20, 0xff << 20),
    (0xff << 20, 0xfe << 20),
    (1 << 49 | 0xff << 20, 1 << 49 | 0xfd << 20),
];
const NO_CAST: &[(u64, u64)] = &[(3 << 53, 3 << 53)];
const NO_SHARED_PAIR: &[(u64, u64)] = &[
    (3 << 53, 3 << 53),
    (0xff << 20, 0xff << 20),
    (0xff << 20, 0xfe << 20),
    (1 << 52 | 0xff << 20, 1 << 52 | 0xfd << 20),
];
const fn swap(wide: u8) -> OperandField {
    OperandField::new(Kind::SwapRegister { register: at(20, 8), wide: at(wide, 1) })
}
const fn wide(low: u8) -> Slot {
    Slot::new("type", at(low, 1), &["", ".64"])
}
const ZERO: OperandField = OperandField::new(Kind::Zero);
const CAS: Slot = fixed(&[".CAS"]);
const SHARED_TYPE: Slot = Slot::new("type", at(28, 2), &["", ".S32", ".U64", ".S64"]);
const SHARED_OP: Slot =
    Slot::new("op", at(52, 4), &[".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH"])
        .numbered(".INVALIDATOMSOP");
const SHARED_CAST: Slot = Slot::new("op", at(53, 2), &[".CAST", ".CAST.SPIN", ".CAS"]);

const CACHE: Slot = Slot::new(
    "cache",
    at(4, 3),
    &["", ".U", ".C", ".I", ".CRS", ".INVALIDCACHETYPE5", ".INVALIDCACHETYPE6", ".INVALIDCACHETYPE7"],
);
const LOCAL_CACHE: Slot = Slot::new("cache", at(4, 2), &["", ".???1", ".INVALIDLCACHETYPE2", ".INVALIDLCACHETYPE3"]);
const CACHE_OP: Slot =
    Slot::new("op", at(0, 4), &[NUMBERED, ".PF1", ".PF1.5", ".PF2", ".WB", ".IV", NUMBERED, ".RS", NUMBERED, ".RSLB"])
        .numbered(".INVALIDCCTLOP");
const TEXTURE_CACHE_OP: Slot = Slot::new("op", at(0, 2), &[NUMBERED, ".IVTH"]).numbered(".INVALIDCCTLTOP");
const NO_OP: &[(u64, u64)] = &[(0xf, 0), (0xf, 6), (0xf, 8)];
const LEVEL: Slot = Slot::new("level", at(8, 2), &[".CTA", ".GL", ".SYS", ".VC"]);
const INVALIDATE: Slot = Slot::new("ivall", at(0, 2), &["", ".IVALLD", ".IVALLT", ".IVALLTD"]);

const fn attribute(register: u8) -> OperandField {
    OperandField::new(Kind::Memory { space: "a", register: at(register, 8), offset: at(20, 11), shift: 0 })
}
const O: Slot = Slot::new("o", at(32, 1), &["", ".O"]);
const P: Slot = Slot::new("p", at(31, 1), &["", ".P"]);
/// `a[0x80]`.
const ABSOLUTE: OperandField =
    OperandField::new(Kind::Memory { space: "a", register: at(8, 8), offset: at(20, 10), shift: 0 });
/// `a[R1]`.
const PHYSICAL: OperandField =
    OperandField::new(Kind::Memory { space: "a", register: at(8, 8), offset: at(0, 0), shift: 0 });
const IPA_MODE: Slot = Slot::new("mode", at(54, 2), &[".PASS", "", ".CONSTANT", ".SC"]);
const IPA_PLACE: Slot = Slot::new("place", at(52, 2), &["", ".CENTROID", ".OFFSET", ".INVALID"]);

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    &[Row::new("LD", 0x8000, 0xe000, &[e(52), load(56), size_u(53)], &[RD, memory(20, 32, 0), optional(58)]).variable()],
    &[Row::new("ST", 0xa000, 0xe000, &[e(52), store(56), size(53)], &[memory(20, 32, 0), RD, optional(58)]).variable()],
    &[
        Row::new("LDG", 0xeed0, 0xfff8, &[e(45), load(46), size_u(48)], &[RD, memory(20, 24, 0)]).variable(),
        Row::new("LDG", 0xeec8, 0xfff8, &[e(45), load(46), size_u(48)], &[inverted(41), RD, memory(20, 20, 0)]).variable().since(Sm52),
    ],
    &[Row::new("STG", 0xeed8, 0xfff8, &[e(45), store(46), size(48)], &[memory(20, 24, 0), RD]).variable()],
    &[Row::new("LDL", 0xef40, 0xfff8, &[load_local(44), size(48)], &[RD, memory(20, 24, 0)]).variable()],
    &[Row::new("STL", 0xef50, 0xfff8, &[store(44), size(48)], &[memory(20, 24, 0), RD]).variable()],
    &[Row::new("LDS", 0xef48, 0xfff8, &[Slot::new("size", at(48, 3).and(44, 1), SHARED_SIZE)], &[RD, memory(20, 24, 0)]).variable()],
    &[Row::new("STS", 0xef58, 0xfff8, &[size(48)], &[memory(20, 24, 0), RD]).variable()],
    &[Row::new("LDC", 0xef90, 0xfff8, &[LDC_SIZE, LDC_MODE], &[RD, LDC_SOURCE]).variable()],

    &[
        atom(&[e(48), atomic_op(52), atomic_type(49, &TYPES_50)]).until(Sm50),
        atom(&[e(48), atomic_op(52), atomic_type(49, &TYPES_52)]).since(Sm52).until(Sm52),
        atom(&[e(48), atomic_op(52), atomic_type(49, &TYPES)]).since(Sm60),
        Row::new("ATOM", 0xeef0, 0xfffc, &[e(48), CAS, wide(49)], &[RD, memory(28, 20, 0), register(20), swap(49)]).refuse(NO_PAIR).variable(),
        Row::new("ATOM", 0xeef4, 0xfffc, &[e(48), CAS, wide(49)], &[RD, memory(28, 20, 0), register(20), ZERO]).variable(),
        Row::new("ATOM", 0xeef8, 0xfffc, &[e(48), CAS, wide(49)], &[RD, memory(28, 20, 0), ZERO, register(20)]).variable(),
        atom_done(&[e(48), atomic_op(44), atomic_type(49, &TYPES_52)]).since(Sm52).until(Sm52),
        atom_done(&[e(48), atomic_op(44), atomic_type(49, &TYPES)]).since(Sm60),
        Row::new("ATOM", 0xee70, 0xfffc, &[e(48), CAS, wide(49)], &[inverted(41), RD, memory(0, 0, 0), register(20), swap(49)]).refuse(NO_PAIR_NOR_BASE).variable().since(Sm52),
        Row::new("ATOM", 0xee74, 0xfffc, &[e(48), CAS, wide(49)], &[inverted(41), RD, memory(0, 0, 0), register(20), ZERO]).refuse(&[(0xff << 8, 0xff << 8)]).variable().since(Sm52),
        Row::new("ATOM", 0xee78, 0xfffc, &[e(48), CAS, wide(49)], &[inverted(41), RD, memory(0, 0, 0), ZERO, register(20)]).refuse(&[(0xff << 8, 0xff << 8)]).variable().since(Sm52),
    ],
    &[
        Row::new("ATOMS", 0xec00, 0xff00, &[SHARED_OP, SHARED_TYPE], &[RD, memory(30, 22, 2), register(20)]).variable(),
        Row::new("ATOMS", 0xee00, 0xff80, &[SHARED_CAST, wide(52)], &[RD, memory(30, 22, 2), register(20), swap(52)]).when(at(28, 2), 0).refuse(NO_SHARED_PAIR).variable(),
        Row::new("ATOMS", 0xee00, 0xff80, &[SHARED_CAST, wide(52)], &[RD, memory(30, 22, 2), register(20), ZERO]).when(at(28, 2), 1).refuse(NO_CAST).variable(),
        Row::new("ATOMS", 0xee00, 0xff80, &[SHARED_CAST, wide(52)], &[RD, memory(30, 22, 2), ZERO, register(20)]).when(at(28, 2), 2).refuse(NO_CAST).variable(),
    ],
    &[
        red(&[e(48), red_op(23), atomic_type(20, &TYPES_50)]).until(Sm50),
        red(&[e(48), red_op(23), atomic_type(20, &TYPES_52)]).since(Sm52).until(Sm52),
        red(&[e(48), red_op(23), atomic_type(20, &TYPES)]).since(Sm60),
    ],

    &[
        Row::new("CCTL", 0xef60, 0xffe0, &[e(52), CACHE, fixed(&[".QRY1"])],
            &[OperandField::new(Kind::Memory { space: "", register: at(8, 8), offset: at(22, 30), shift: 2 })]).when(at(0, 4), 0).separator("").variable(),
        Row::new("CCTL", 0xef60, 0xffe0, &[e(52), CACHE, CACHE_OP], &[memory(22, 30, 2)]).refuse(NO_OP).variable(),
        Row::new("CCTLL", 0xef80, 0xfff8, &[LOCAL_CACHE, CACHE_OP], &[memory(22, 22, 2)]).refuse(NO_OP).variable(),
        Row::new("CCTLT", 0xebf0, 0xfff8, &[fixed(&[".IVALL"])], &[]).when(at(0, 2), 0).when(at(36, 13), 0).variable(),
        Row::new("CCTLT", 0xebf0, 0xfff8, &[TEXTURE_CACHE_OP], &[hex(36, 13)]).refuse(&[(3, 0)]).variable(),
        Row::new("CCTLT", 0xebe8, 0xfff8, &[TEXTURE_CACHE_OP], &[register(39)]).refuse(&[(3, 0)]).variable(),
    ],
    &[Row::new("MEMBAR", 0xef98, 0xfff8, &[LEVEL, INVALIDATE], &[]).variable()],

    &[
        Row::new("AL2P", 0xefa0, 0xfff8, &[O, words(47)], &[optional(44), RD, hex(20, 10).omit(0)]).when(at(8, 8), 255).variable(),
        Row::new("AL2P", 0xefa0, 0xfff8, &[O, words(47)], &[optional(44), RD, register(8), signed(at(20, 11)).omit(0)]).variable(),
    ],
    &[
        Row::new("ALD", 0xefd8, 0xfff8, &[O, P, words(47)], &[RD, ABSOLUTE, register(39).omit(255)]).when(at(8, 8), 255).variable(),
        Row::new("ALD", 0xefd8, 0xfff8, &[O, P, words(47)], &[RD, attribute(8), register(39).omit(255)]).when(at(31, 1), 1).variable(),
        Row::new("ALD", 0xefd8, 0xfff8, &[O, fixed(&[".PHYS"]), words(47)], &[RD, PHYSICAL, register(39).omit(255)]).when(at(20, 12), 0).variable(),
        Row::new("AST", 0xeff0, 0xfff8, &[P, words(47)], &[ABSOLUTE, RD, register(39).omit(255)]).when(at(8, 8), 255).variable(),
        Row::new("AST", 0xeff0, 0xfff8, &[P, words(47)], &[attribute(8), RD, register(39).omit(255)]).when(at(31, 1), 1).variable(),
        Row::new("AST", 0xeff0, 0xfff8, &[fixed(&[".PHYS"]), words(47)], &[PHYSICAL, RD, register(39).omit(255)]).when(at(20, 12), 0).variable(),
    ],
    &[Row::new("ISBERD", 0xefd0, 0xfff8, &[O, Slot::new("space", at(33, 2), &["", ".PATCH", ".PRIM", ".ATTR"]), Slot::new("skew", at(31, 1), &["", ".SKEW"]),
        Slot::new("size", at(47, 2), &["", ".U16", ".32", ".???3"])], &[RD, memory(0, 0, 0)]).variable()],
    &[Row::new("STP", 0xeea0, 0xfff8, &[Slot::new("wait", at(31, 1), &["", ".WAIT"])], &[hex(20, 8)]).unguarded()],
    rows3!("OUT" 0xfff8 0xfbe0 0xebe0 0xf6e0 I20 [Slot::new("mode", at(39, 2), &[".INVALIDOUTSTYPE0", ".EMIT", ".CUT", ".EMIT_THEN_CUT"])]
        [RD, register(8)] {.reuse(0)} [] .variable()),
    &[
        Row::new("IPA", 0xe000, 0xff00, &[IPA_MODE, IPA_PLACE, sat(51)],
            &[RD, OperandField::new(Kind::Memory { space: "a", register: at(0, 0), offset: at(28, 10), shift: 0 }), register(20), register(39).omit(255), predicate(47).not(50).omit(7)])
            .when(at(38, 1), 0).when(at(8, 8), 255).variable(),
        Row::new("IPA", 0xe000, 0xff00, &[fixed(&[".IDX"]), IPA_MODE, IPA_PLACE, sat(51)],
            &[RD, PHYSICAL, register(20), register(39).omit(255), predicate(47).not(50)]).when(at(38, 1), 1).variable(),
    ],
];
