//! Surfaces.

use super::words::*;
use crate::generation::Generation::{Sm50, Sm52, Sm60, Sm61};
use crate::row::{OperandField, Row, Slot};

const DIM: Slot = Slot::new(
    "dim",
    at(33, 3),
    &[".1D", ".1D_BUFFER", ".1D_ARRAY", ".2D", ".2D_ARRAY", ".3D", ".INVALIDSURFACEDIM6", ".INVALIDSURFACEDIM7"],
);
const CLAMP: Slot = Slot::new("clamp", at(49, 2), &[".IGN", "", ".TRAP", ".INVALIDSURFACECLAMP3"]);
const RGBA: Slot = Slot::new(
    "components",
    at(20, 4),
    &[".???0", ".R", ".G", ".RG", ".B", ".RB", ".GB", ".RGB", ".A", ".RA", ".GA", ".RGA", ".BA", ".RBA", ".GBA", ""],
);
const fn op(low: u8) -> Slot {
    Slot::new("op", at(low, 4), &[".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH"])
        .numbered(".INVALIDATOMSOP")
}
const fn red_op(low: u8) -> Slot {
    Slot::new("op", at(low, 3), &[".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"])
}
const fn kind(low: u8, texts: &'static [&'static str]) -> Slot {
    Slot::new("type", at(low, 3), texts)
}
static TYPES: [&str; 8] = ["", ".S32", ".U64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".SD32", ".SD64"];
static TYPES_50: [&str; 8] = renamed(TYPES, &[(4, ".INVALIDATOMICSIZE4")]);
static TYPES_52: [&str; 8] = renamed(TYPES, &[(4, ".F16x2.FTZ.RN")]);
const P: Slot = fixed(&[".P"]);
const D: Slot = fixed(&[".D"]);
const CAS: Slot = fixed(&[".CAS"]);
/// The operation's field means nothing beside a swap, but is printed.
const CAS_OP: Slot = Slot::new("op", at(29, 4), &[".CAS"]).numbered(".???");
const ADDRESS: OperandField = memory(0, 0, 0);
const REGISTER: OperandField = register(39);
const NUMBER: OperandField = hex(36, 13);
const SECOND: OperandField = register(20);
/// The predicate's field holds 7 minus its number; PT is not printed.
const OK: OperandField = inverted(30).omit(0);

const fn row(
    name: &'static str,
    top: u16,
    mask: u16,
    modifiers: &'static [Slot],
    operands: &'static [OperandField],
) -> Row {
    Row::new(name, top, mask, modifiers, operands).variable()
}

/// Rows that name a type, each GPU with its own names.
macro_rules! typed {
    ($types:expr, $since:ident to $until:ident) => {
        &[
            row(
                "SURED",
                0xeb50,
                0xfff8,
                &[D, ba(23), DIM, red_op(24), kind(20, $types), CLAMP],
                &[ADDRESS, RD, REGISTER],
            )
            .since($since)
            .until($until),
            row(
                "SURED",
                0xeb58,
                0xfff8,
                &[D, ba(23), DIM, red_op(24), kind(20, $types), CLAMP],
                &[ADDRESS, RD, NUMBER],
            )
            .since($since)
            .until($until),
            row(
                "SUATOM",
                0xea00,
                0xffc0,
                &[D, ba(28), DIM, op(29), kind(51, $types), CLAMP],
                &[RD, ADDRESS, SECOND, NUMBER],
            )
            .since($since)
            .until($until),
            row(
                "SUATOM",
                0xea70,
                0xfff8,
                &[D, ba(28), DIM, op(29), kind(36, $types), CLAMP],
                &[RD, ADDRESS, SECOND, REGISTER],
            )
            .since($since)
            .until($until),
        ]
    };
}
/// The same with a predicate that says whether it was done.
macro_rules! done {
    ($types:expr, $since:ident to $until:ident) => {
        &[
            row(
                "SUATOM",
                0xea80,
                0xffc0,
                &[D, ba(28), DIM, CAS, kind(51, $types), CLAMP],
                &[OK, RD, ADDRESS, SECOND, NUMBER],
            )
            .since($since)
            .until($until),
            row(
                "SUATOM",
                0xead0,
                0xfff8,
                &[D, ba(28), DIM, CAS, kind(36, $types), CLAMP],
                &[OK, RD, ADDRESS, SECOND, REGISTER],
            )
            .since($since)
            .until($until),
            row(
                "SUATOM",
                0xeb80,
                0xffc0,
                &[D, ba(28), DIM, op(29), kind(36, $types), CLAMP],
                &[inverted(51), RD, ADDRESS, SECOND, REGISTER],
            )
            .since($since)
            .until($until),
        ]
    };
}

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    typed!(&TYPES, Sm60 to Sm61),
    done!(&TYPES, Sm60 to Sm61),
    typed!(&TYPES_52, Sm52 to Sm52),
    done!(&TYPES_52, Sm52 to Sm52),
    typed!(&TYPES_50, Sm50 to Sm50),
    &[
        row("SUATOM", 0xea80, 0xffc0, &[D, ba(28), DIM, CAS, kind(51, &TYPES_50), CLAMP], &[OK, RD, ADDRESS, SECOND, NUMBER]).when(at(30, 3), 0).until(Sm50),
        row("SUATOM", 0xead0, 0xfff8, &[D, ba(28), DIM, CAS, kind(36, &TYPES_50), CLAMP], &[OK, RD, ADDRESS, SECOND, REGISTER]).when(at(30, 3), 0).until(Sm50),
    ],
    &[
        row("SULD", 0xeb00, 0xfff8, &[P, DIM, load(24), RGBA, CLAMP], &[OK, RD, ADDRESS, REGISTER]).since(Sm52),
        row("SULD", 0xeb08, 0xfff8, &[P, DIM, load(24), RGBA, CLAMP], &[OK, RD, ADDRESS, NUMBER]).since(Sm52),
        row("SULD", 0xeb10, 0xfff8, &[D, ba(23), DIM, load(24), size(20), CLAMP], &[OK, RD, ADDRESS, REGISTER]).since(Sm52),
        row("SULD", 0xeb18, 0xfff8, &[D, ba(23), DIM, load(24), size(20), CLAMP], &[OK, RD, ADDRESS, NUMBER]).since(Sm52),
        row("SULD", 0xeb00, 0xfff8, &[P, DIM, load(24), RGBA, CLAMP], &[RD, ADDRESS, REGISTER]).until(Sm50),
        row("SULD", 0xeb08, 0xfff8, &[P, DIM, load(24), RGBA, CLAMP], &[RD, ADDRESS, NUMBER]).until(Sm50),
        row("SULD", 0xeb10, 0xfff8, &[D, ba(23), DIM, load(24), size(20), CLAMP], &[RD, ADDRESS, REGISTER]).until(Sm50),
        row("SULD", 0xeb18, 0xfff8, &[D, ba(23), DIM, load(24), size(20), CLAMP], &[RD, ADDRESS, NUMBER]).until(Sm50),
    ],
    &[
        row("SUST", 0xeb20, 0xfff8, &[P, DIM, store(24), RGBA, CLAMP], &[ADDRESS, RD, REGISTER]),
        row("SUST", 0xeb28, 0xfff8, &[P, DIM, store(24), RGBA, CLAMP], &[ADDRESS, RD, NUMBER]),
        row("SUST", 0xeb30, 0xfff8, &[D, ba(23), DIM, store(24), size(20), CLAMP], &[ADDRESS, RD, REGISTER]),
        row("SUST", 0xeb38, 0xfff8, &[D, ba(23), DIM, store(24), size(20), CLAMP], &[ADDRESS, RD, NUMBER]),
    ],
    &[
        row("SURED", 0xeb40, 0xfff8, &[P, DIM, red_op(24), CLAMP], &[ADDRESS, RD, REGISTER]),
        row("SURED", 0xeb48, 0xfff8, &[P, DIM, red_op(24), CLAMP], &[ADDRESS, RD, NUMBER]),
    ],
    &[
        row("SUATOM", 0xea60, 0xfff8, &[P, DIM, op(29), CLAMP], &[RD, ADDRESS, SECOND, REGISTER]),
        row("SUATOM", 0xea68, 0xfff8, &[P, DIM, op(29), CLAMP], &[RD, ADDRESS, SECOND, NUMBER]),
        row("SUATOM", 0xeac0, 0xfff8, &[P, DIM, CAS_OP, CLAMP], &[RD, ADDRESS, SECOND, REGISTER]),
        row("SUATOM", 0xeac8, 0xfff8, &[P, DIM, CAS_OP, CLAMP], &[RD, ADDRESS, SECOND, NUMBER]),
    ],
];
