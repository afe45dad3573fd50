//! Conversions.

use super::words::*;
use crate::row::{OperandField, Row, Slot};

const FLOAT_TO: Slot = Slot::new("to", at(8, 2), &[".INVALIDFPDEST0", ".F16", ".F32", ".F64"]);
const FLOAT_FROM: Slot = Slot::new("from", at(10, 2), &[".INVALIDFPSRC0", ".F16", ".F32", ".F64"]);
/// Rounding to an integral value, where the format stays.
const INTEGRAL: Slot =
    Slot::new("rnd", at(39, 2).and(42, 1), &["", ".PASS", ".PASS", ".PASS", ".ROUND", ".FLOOR", ".CEIL", ".TRUNC"]);
const INT_TO: Slot =
    Slot::new("to", at(8, 2).and(12, 1), &[".INVALID0", ".U16", ".U32", ".U64", ".INVALID1", ".S16", ".S32", ".S64"]);
const INT_FROM: Slot =
    Slot::new("from", at(10, 2).and(13, 1), &[".U8", ".U16", ".U32", ".U64", ".S8", ".S16", ".S32", ".S64"]);
const INT_DEST: Slot = Slot::new("to", at(8, 2), &[".INVALIDFPSRC0", ".F16", ".F32", ".F64"]);
const I2I_TO: Slot =
    Slot::new("to", at(8, 2).and(12, 1), &[".U8", ".U16", ".U32", ".???6", ".S8", ".S16", ".S32", ".???7"]);
const I2I_FROM: Slot =
    Slot::new("from", at(10, 2).and(13, 1), &[".U8", ".U16", ".U32", ".INVALID6", ".S8", ".S16", ".S32", ".INVALID7"]);
const BYTE_OF: Slot = byte(41);
const HALF_OF: Slot = Slot::new("half", at(41, 2), &["", ".INVALIDSIZE1", ".H1", ".INVALIDSIZE3"]);

const D: OperandField = RD.cc(47);
const B: OperandField = register(20).neg(45).abs(49);
const C: OperandField = CONSTANT.neg(45).abs(49);
const S: OperandField = SPACED.neg(45).abs(49);

/// The format stays: rounding to an integral value.
macro_rules! same {
    ($value:literal $imm:ident $constant:ident $($half:tt)*) => {
        &[
            Row::new("F2F", 0x5ca8, 0xfff8, &[ftz(44), FLOAT_TO, FLOAT_FROM, INTEGRAL, sat(50)], &[D, B $($half)*]).when(at(8, 4), $value).variable(),
            Row::new("F2F", 0x4ca8, 0xfff8, &[ftz(44), FLOAT_TO, FLOAT_FROM, INTEGRAL, sat(50)], &[D, $constant $($half)*]).when(at(8, 4), $value).variable(),
            Row::new("F2F", 0x38a8, 0xfef8, &[ftz(44), FLOAT_TO, FLOAT_FROM, INTEGRAL, sat(50)], &[D, $imm.neg(45).abs(49) $($half)*]).when(at(8, 4), $value).variable(),
        ]
    };
}
macro_rules! other {
    ($name:literal $r:literal $c:literal $i:literal $from:literal $imm:ident $constant:ident [$($modifier:expr),*] $($half:tt)*) => {
        &[
            Row::new($name, $r, 0xfff8, &[$($modifier),*], &[D, B $($half)*]).when(at(10, 2), $from).variable(),
            Row::new($name, $c, 0xfff8, &[$($modifier),*], &[D, $constant $($half)*]).when(at(10, 2), $from).variable(),
            Row::new($name, $i, 0xfef8, &[$($modifier),*], &[D, $imm.neg(45).abs(49) $($half)*]).when(at(10, 2), $from).variable(),
        ]
    };
}

#[rustfmt::skip] // One mnemonic a paragraph.
pub(super) static ROWS: &[&[Row]] = &[
    same!(0b0000 F32 C), same!(0b0101 F16 S .suffix(h1(41))), same!(0b1010 F32 C), same!(0b1111 F64 C),
    other!("F2F" 0x5ca8 0x4ca8 0x38a8 0 F32 C [ftz(44), FLOAT_TO, FLOAT_FROM, rnd(39), sat(50)]),
    other!("F2F" 0x5ca8 0x4ca8 0x38a8 1 F16 S [ftz(44), FLOAT_TO, FLOAT_FROM, rnd(39), sat(50)] .suffix(h1(41))),
    other!("F2F" 0x5ca8 0x4ca8 0x38a8 2 F32 C [ftz(44), FLOAT_TO, FLOAT_FROM, rnd(39), sat(50)]),
    other!("F2F" 0x5ca8 0x4ca8 0x38a8 3 F64 C [ftz(44), FLOAT_TO, FLOAT_FROM, rnd(39), sat(50)]),
    other!("F2I" 0x5cb0 0x4cb0 0x38b0 0 F32 S [ftz(44), INT_TO, FLOAT_FROM, rint(39)] .suffix(h1(41))),
    other!("F2I" 0x5cb0 0x4cb0 0x38b0 1 F16 S [ftz(44), INT_TO, FLOAT_FROM, rint(39)] .suffix(h1(41))),
    other!("F2I" 0x5cb0 0x4cb0 0x38b0 2 F32 S [ftz(44), INT_TO, FLOAT_FROM, rint(39)] .suffix(h1(41))),
    other!("F2I" 0x5cb0 0x4cb0 0x38b0 3 F64 S [ftz(44), INT_TO, FLOAT_FROM, rint(39)] .suffix(h1(41))),
    other!("I2F" 0x5cb8 0x4cb8 0x38b8 0 I20 S [INT_DEST, INT_FROM, rnd(39)] .suffix(BYTE_OF)),
    other!("I2F" 0x5cb8 0x4cb8 0x38b8 1 I20 S [INT_DEST, INT_FROM, rnd(39)] .suffix(HALF_OF)),
    other!("I2F" 0x5cb8 0x4cb8 0x38b8 2 I20 S [INT_DEST, INT_FROM, rnd(39)] .suffix(BYTE_OF)),
    other!("I2F" 0x5cb8 0x4cb8 0x38b8 3 I20 S [INT_DEST, INT_FROM, rnd(39)] .suffix(BYTE_OF)),
    other!("I2I" 0x5ce0 0x4ce0 0x38e0 0 I20 S [I2I_TO, I2I_FROM, sat(50)] .suffix(BYTE_OF)),
    other!("I2I" 0x5ce0 0x4ce0 0x38e0 1 I20 S [I2I_TO, I2I_FROM, sat(50)] .suffix(HALF_OF)),
    other!("I2I" 0x5ce0 0x4ce0 0x38e0 2 I20 S [I2I_TO, I2I_FROM, sat(50)] .suffix(BYTE_OF)),
    other!("I2I" 0x5ce0 0x4ce0 0x38e0 3 I20 S [I2I_TO, I2I_FROM, sat(50)] .suffix(BYTE_OF)),
];
