//! The one table of instructions: every mnemonic of Maxwell and Pascal (SM50 to SM62) with its operand forms, encodings
//! and texts. Parser, printer, encoder, decoder, rules and lowering read it; no other file knows an encoding.
//!
//! Source: nvdisasm 12.8 asked for words with each bit flipped and each field at each of its values
//! (`dev/sass/judge.py`).

#[macro_use]
mod words;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod memory;
mod moves;
mod special;
mod surface;
mod texture;
mod video;

pub use float::ARITHMETIC;

use crate::row::Row;

/// The table, class by class. Of two rows that fit a word the first is meant.
pub(crate) static TABLE: &[&[&[Row]]] = &[
    float::ROWS,
    half::ROWS,
    integer::ROWS,
    convert::ROWS,
    moves::ROWS,
    memory::ROWS,
    texture::ROWS,
    surface::ROWS,
    video::ROWS,
    control::ROWS,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|class| class.iter()).flat_map(|rows| rows.iter())
}
