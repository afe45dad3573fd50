//! From a word to its instruction.

use core::fmt;

use crate::fields::{self, Field};
use crate::generation::Generation;
use crate::instruction::Instruction;
use crate::lookup;
use crate::maxwell;

/// A word of none of the table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecodeError {
    /// The word.
    pub word: u64,
    /// The GPUs for which it is none.
    pub generation: Generation,
}

impl DecodeError {
    /// The field at fault.
    pub const FIELD: Field = fields::OPCODE;
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = lookup::word(self.word, Generation::NEWEST) {
            let (row, first) = (lookup::row(number), self.generation.first());
            return write!(
                f,
                "{:#018x} is no instruction of sm_{first}: {} is one from sm_{} on",
                self.word,
                row.name,
                row.since.first()
            );
        }
        // The row whose fixed bits differ least is the one that a flipped bit would have spoilt.
        let nearest = maxwell::rows().min_by_key(|row| ((self.word ^ row.bits) & row.mask).count_ones());
        write!(
            f,
            "{:#018x} is no instruction of this GPU family: its opcode (bits 51 to 63) is {:013b}",
            self.word,
            DecodeError::FIELD.get(self.word)
        )?;
        match nearest {
            Some(row) => {
                write!(
                    f,
                    ", the nearest is {} with {} ({:013b})",
                    row.name,
                    row.kinds(),
                    DecodeError::FIELD.get(row.bits)
                )
            }
            None => Ok(()),
        }
    }
}

/// The instruction of a word on the newest GPUs of the family, which have every instruction. Bits that mean nothing in its row are [`Instruction::ignored_bits`].
///
/// `.INVALIDFMZ3` decodes: [`Instruction::illegal_modifier`] names it.
///
/// # Errors
/// If the word is of no row.
///
/// ```
/// assert!(roundonce_sass::decode(0x5980_0180_0027_0100).is_ok());
/// assert!(roundonce_sass::decode(0xe7f0_0000_0000_0000).is_err());
/// ```
#[inline]
pub fn decode(word: u64) -> Result<Instruction, DecodeError> {
    decode_for(word, Generation::NEWEST)
}

/// The same on the GPUs of one generation: older ones have fewer instructions, and other names for some.
///
/// # Errors
/// If the word is of no row there.
///
/// ```
/// use roundonce_sass::{Generation, decode_for};
/// let root = |generation| decode_for(0x5080_0000_0087_0000, generation).unwrap().to_string();
/// assert_eq!(root(Generation::Sm52), "MUFU.SQRT R0, R0;");
/// assert_eq!(root(Generation::Sm50), "MUFU.INVALIDMUFUOPCODE8 R0, R0;");
/// ```
#[inline]
pub fn decode_for(word: u64, generation: Generation) -> Result<Instruction, DecodeError> {
    match lookup::word(word, generation) {
        Some(row) => Ok(Instruction { row, reuse: 0, word }),
        None => Err(DecodeError { word, generation }),
    }
}
