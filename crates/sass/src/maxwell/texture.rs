//! Textures.

use super::words::*;
use crate::generation::Generation::{Sm50, Sm52, Sm60};
use crate::row::{NUMBERED, OperandField, Row, Slot};

static LOD: &[&str] = &["", ".LZ", ".LB", ".LL", ".INVALIDBLOD4", ".INVALIDBLOD5", ".LBA", ".LLA"];
static OFFSETS: &[&str] = &["", ".AOFFI", ".PTP", ".INVALIDBTOFF03"];
const fn lod(low: u8) -> Slot {
    Slot::new("lod", at(low, 3), LOD)
}
const fn offsets(low: u8) -> Slot {
    Slot::new("offset", at(low, 2), OFFSETS)
}
const fn zero_or_level(low: u8) -> Slot {
    Slot::new("lod", at(low, 1), &[".LZ", ".LL"])
}
const CL: Slot = Slot::new("cl", at(54, 1), &["", ".CL"]);
const B: Slot = fixed(&[".B"]);
const P: OperandField = optional(51);
const A: OperandField = register(8);
const SECOND: OperandField = register(20).omit(255);
const TEXTURE: OperandField = hex(36, 13);
const DIM: OperandField = named(dim(28));
const MASK: OperandField = hex(31, 4);

/// The format of the short forms' results: 3 is another instruction.
const FORMAT: Slot = Slot::new("format", at(58, 2), &[".F16", ".F16.RTZ", ""]);
const NO_FORMAT: &[(u64, u64)] = &[(3 << 58, 3 << 58), (7 << 54, 7 << 54)];
/// sm_52 and sm_53 have no `.RTZ`.
const NO_FORMAT_52: &[(u64, u64)] = &[(1 << 58, 1 << 58), (7 << 54, 7 << 54)];
const NO_TLDS: &[(u64, u64)] = &no_tlds(3 << 58);
const NO_TLDS_52: &[(u64, u64)] = &no_tlds(1 << 58);
/// What no TLDS has: the bits of `reserved`, which depend on the generation, all set; or these levels and shapes.
const fn no_tlds(reserved: u64) -> [(u64, u64); 7] {
    [
        (reserved, reserved),
        (0xf << 53, 3 << 53),
        (0xf << 53, 9 << 53),
        (0xf << 53, 10 << 53),
        (0xf << 53, 11 << 53),
        (0xf << 53, 13 << 53),
        (7 << 54, 7 << 54),
    ]
}
const TEXS_LOD: Slot = Slot::new(
    "lod",
    at(53, 4),
    &[".LZ", "", ".LZ", ".LL", ".DC", ".LL.DC", ".LZ.DC", "", ".LZ", ".LZ.DC", "", ".LZ", "", ".LL"],
);
const TEXS_DIM: OperandField = named(Slot::new(
    "dim",
    at(53, 4),
    &["1D", "2D", "2D", "2D", "2D", "2D", "2D", "ARRAY_2D", "ARRAY_2D", "ARRAY_2D", "3D", "3D", "CUBE", "CUBE"],
));
const TLDS_LOD: Slot = Slot::new(
    "lod",
    at(53, 4),
    &[
        ".LZ",
        ".LL",
        ".LZ",
        NUMBERED,
        ".LZ.AOFFI",
        ".LL",
        ".LZ.MS",
        ".LZ",
        ".LZ",
        NUMBERED,
        NUMBERED,
        NUMBERED,
        ".LL.AOFFI",
    ],
);
const TLDS_DIM: OperandField = named(Slot::new(
    "dim",
    at(53, 4),
    &["1D", "1D", "2D", NUMBERED, "2D", "2D", "2D", "3D", "ARRAY_2D", NUMBERED, NUMBERED, NUMBERED, "2D"],
));
/// What TXQ asks for; those without a name are numbered.
#[rustfmt::skip] // By their values.
static QUERIES: &[&str] = &[
    NUMBERED, "TEX_HEADER_DIMENSION", "TEX_HEADER_TEXTURE_TYPE", NUMBERED, NUMBERED, "TEX_HEADER_SAMPLER_POS",
    "3", NUMBERED, "4", NUMBERED, "5", NUMBERED, "6", NUMBERED, "7", NUMBERED, "TEX_SAMPLER_FILTER", NUMBERED,
    "TEX_SAMPLER_LOD", NUMBERED, "TEX_SAMPLER_WRAP", NUMBERED, "TEX_SAMPLER_BORDER_COLOR", NUMBERED, "12",
    NUMBERED, "13", NUMBERED, "14", NUMBERED, "15", NUMBERED, "16", NUMBERED, "17", NUMBERED, "18", NUMBERED,
    "19", NUMBERED, "20", NUMBERED, "21", NUMBERED, "22", NUMBERED, "23", NUMBERED, "24", NUMBERED, "25",
    NUMBERED, "26", NUMBERED, "27", NUMBERED, "28", NUMBERED, "29", NUMBERED, "30", NUMBERED, "31", NUMBERED,
];
const QUERY: OperandField = named(Slot::new("query", at(22, 6), QUERIES));
const NO_QUERY: &[(u64, u64)] = &[
    (0x3f << 22, 0),
    (0x3f << 22, 3 << 22),
    (0x3f << 22, 4 << 22),
    (0x3f << 22, 7 << 22),
    (9 << 22, 9 << 22),
    (17 << 22, 17 << 22),
    (33 << 22, 33 << 22),
];
const ONE_OR_TWO: OperandField =
    named(Slot::new("components", at(50, 3), &["R", "G", "B", "A", "RG", "RA", "GA", "BA"]));
const THREE_OR_FOUR: OperandField = named(Slot::new(
    "components",
    at(50, 3),
    &["RGB", "RGA", "RBA", "GBA", "RGBA", "INVALID5", "INVALID6", "INVALID7"],
));

/// sm_50 to sm_53 print `.NDV`, later GPUs do not.
static TLD4_NDV: &[Slot] = &[component(56), offsets(54), dc(50), ndv(35), nodep(49)];
static TLD4_B_NDV: &[Slot] = &[component(38), B, offsets(36), dc(50), ndv(35), nodep(49)];
static TLD: &[Slot] = &[zero_or_level(55), aoffi(35), ms(50), CL, nodep(49)];
static TLD_B: &[Slot] = &[B, zero_or_level(55), aoffi(35), ms(50), CL, nodep(49)];
static TLD4S: &[Slot] =
    &[Slot::new("format", at(54, 2), &["", NUMBERED, ".F16", ".F16.RTZ"]), component(52), aoffi(51), dc(50), nodep(49)];

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    &[
        // sm_50 knows no predicate and no `.LC`, and no 16-bit results of the short forms.
        Row::new("TEX", 0xc000, 0xf800, &[lod(55), aoffi(54), dc(50), ndv(35), nodep(49)], &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).when(at(51, 3), 7).when(at(58, 1), 0).variable().until(Sm50),
        Row::new("TEX", 0xde80, 0xffc0, &[B, lod(37), aoffi(36), dc(50), ndv(35), nodep(49)], &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).when(at(51, 3), 7).when(at(40, 1), 0).variable().until(Sm50),
        Row::new("TLD4", 0xc800, 0xfc00, TLD4_NDV, &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).when(at(51, 3), 7).variable().until(Sm50),
        Row::new("TLD4", 0xc800, 0xfc00, TLD4_NDV, &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).variable().since(Sm52).until(Sm52),
        Row::new("TLD4", 0xdec0, 0xffc0, TLD4_B_NDV, &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).when(at(40, 1), 0).when(at(51, 3), 7).variable().until(Sm50),
        Row::new("TLD4", 0xdec0, 0xffc0, TLD4_B_NDV, &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).when(at(40, 1), 0).variable().since(Sm52).until(Sm52),
        Row::new("TXD", 0xde00, 0xffc0, &[aoffi(35), nodep(49)], &[P, RD, A, register(20), TEXTURE, DIM, MASK]).when(at(50, 4), 14).variable().until(Sm50),
        Row::new("TXD", 0xde40, 0xffc0, &[B, aoffi(35), nodep(49)], &[P, RD, A, register(20), hex(0, 0), DIM, MASK]).when(at(50, 4), 14).variable().until(Sm50),
        Row::new("TLD", 0xdc00, 0xff00, TLD, &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).when(at(51, 3), 7).variable().until(Sm50),
        Row::new("TLD", 0xdd00, 0xff00, TLD_B, &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).when(at(51, 3), 7).variable().until(Sm50),
        Row::new("TLD4S", 0xdf00, 0xff00, TLD4S, &[register(28), RD, A, register(20), TEXTURE]).when(at(54, 2), 0).variable().until(Sm50),
        Row::new("TLD4S", 0xdf00, 0xff00, TLD4S, &[register(28), RD, A, register(20), TEXTURE]).refuse(&[(1 << 54, 1 << 54)]).variable().since(Sm52).until(Sm52),
        Row::new("TEX", 0xc000, 0xf800, &[lod(55), lc(58), aoffi(54), dc(50), ndv(35), nodep(49)], &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).variable().since(Sm52),
        Row::new("TEX", 0xde80, 0xffc0, &[B, lod(37), lc(40), aoffi(36), dc(50), ndv(35), nodep(49)], &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).variable().since(Sm52),
        Row::new("TLD4", 0xc800, 0xfc00, &[component(56), offsets(54), dc(50), nodep(49)], &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).variable().since(Sm60),
        Row::new("TLD4", 0xdec0, 0xffc0, &[component(38), B, offsets(36), dc(50), nodep(49)], &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).when(at(40, 1), 0).variable().since(Sm60),
        Row::new("TXD", 0xde00, 0xffc0, &[lc(50), aoffi(35), nodep(49)], &[P, RD, A, register(20), TEXTURE, DIM, MASK]).variable().since(Sm52),
        Row::new("TXD", 0xde40, 0xffc0, &[B, lc(50), aoffi(35), nodep(49)], &[P, RD, A, register(20), hex(0, 0), DIM, MASK]).variable().since(Sm52),
        Row::new("TLD", 0xdc00, 0xff00, TLD, &[P, RD, A, SECOND, TEXTURE, DIM, MASK]).variable().since(Sm52),
        Row::new("TLD", 0xdd00, 0xff00, TLD_B, &[P, RD, A, SECOND, hex(0, 0), DIM, MASK]).variable().since(Sm52),
        Row::new("TLD4S", 0xdf00, 0xff00, TLD4S, &[register(28), RD, A, register(20), TEXTURE]).refuse(&[(3 << 54, 1 << 54)]).variable().since(Sm60),
        Row::new("TXA", 0xdf40, 0xfff8, &[ndv(35), nodep(49)], &[RD, A, TEXTURE, MASK]).variable(),
        Row::new("TXQ", 0xdf48, 0xfff8, &[nodep(49)], &[RD, A, QUERY, TEXTURE, MASK]).refuse(NO_QUERY).variable(),
        Row::new("TXQ", 0xdf50, 0xfff8, &[B, nodep(49)], &[RD, A, QUERY, hex(0, 0), MASK]).refuse(NO_QUERY).variable(),
        Row::new("TMML", 0xdf58, 0xfff8, &[fixed(&[".LOD"]), ndv(35), nodep(49)], &[RD, A, TEXTURE, DIM, MASK]).variable(),
        Row::new("TMML", 0xdf60, 0xfff8, &[fixed(&[".B.LOD"]), ndv(35), nodep(49)], &[RD, A, SECOND, hex(0, 0), DIM, MASK]).variable(),
    ],
    &[
        Row::new("TEXS", 0xd000, 0xf200, &[TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).when(at(58, 2), 2).refuse(NO_FORMAT).variable().until(Sm50),
        Row::new("TEXS", 0xd000, 0xf200, &[TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, THREE_OR_FOUR]).when(at(58, 2), 2).refuse(NO_FORMAT).variable().until(Sm50),
        Row::new("TEXS", 0xd000, 0xf200, &[FORMAT, TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).refuse(NO_FORMAT_52).variable().since(Sm52).until(Sm52),
        Row::new("TEXS", 0xd000, 0xf200, &[FORMAT, TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, THREE_OR_FOUR]).refuse(NO_FORMAT_52).variable().since(Sm52).until(Sm52),
        Row::new("TEXS", 0xd000, 0xf200, &[FORMAT, TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).refuse(NO_FORMAT).variable().since(Sm60),
        Row::new("TEXS", 0xd000, 0xf200, &[FORMAT, TEXS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TEXS_DIM, THREE_OR_FOUR]).refuse(NO_FORMAT).variable().since(Sm60),
        Row::new("TLDS", 0xd200, 0xf200, &[TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).when(at(58, 2), 2).refuse(NO_TLDS).variable().until(Sm50),
        Row::new("TLDS", 0xd200, 0xf200, &[TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, THREE_OR_FOUR]).when(at(58, 2), 2).refuse(NO_TLDS).variable().until(Sm50),
        Row::new("TLDS", 0xd200, 0xf200, &[FORMAT, TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).refuse(NO_TLDS_52).variable().since(Sm52).until(Sm52),
        Row::new("TLDS", 0xd200, 0xf200, &[FORMAT, TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, THREE_OR_FOUR]).refuse(NO_TLDS_52).variable().since(Sm52).until(Sm52),
        Row::new("TLDS", 0xd200, 0xf200, &[FORMAT, TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, ONE_OR_TWO]).when(at(28, 8), 255).refuse(NO_TLDS).variable().since(Sm60),
        Row::new("TLDS", 0xd200, 0xf200, &[FORMAT, TLDS_LOD, nodep(49)], &[register(28), RD, A, SECOND, TEXTURE, TLDS_DIM, THREE_OR_FOUR]).refuse(NO_TLDS).variable().since(Sm60),
    ],
];
