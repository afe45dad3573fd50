//! From a word to its instruction.

use core::fmt;

use crate::fields::{self, Field};
use crate::instruction::Instruction;
use crate::lookup;
use crate::maxwell;

/// A word of none of the table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecodeError {
    /// The word.
    pub word: u64,
}

impl DecodeError {
    /// The field at fault.
    pub const FIELD: Field = fields::OPCODE;
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// The instruction of a word. Bits that mean nothing in its row are [`Instruction::ignored_bits`].
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
    match lookup::word(word) {
        Some(row) => Ok(Instruction { row, reuse: 0, word }),
        None => Err(DecodeError { word }),
    }
}
