//! From a word to its instruction.

use core::fmt;

use crate::fields::{self, Field};
use crate::instruction::{Guard, Instruction, Operand, Value};
use crate::shape::{BY_OPCODE, ENCODABLE, Place, SHAPES};

/// A word that is neither FFMA nor FFMA32I: its opcode is at fault.
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
        // The form whose fixed bits differ least is the one that a flipped bit would have spoilt.
        let distance = |mask: u64, opcode: u64| ((self.word ^ opcode) & mask).count_ones();
        let nearest = SHAPES
            .iter()
            .filter_map(|shape| shape.encoding.map(|e| (distance(e.mask, e.opcode), shape, e)))
            .min_by_key(|(distance, ..)| *distance);
        write!(
            f,
            "{:#018x} is neither FFMA nor FFMA32I: its opcode (bits 55 to 63) is {:09b}",
            self.word,
            DecodeError::FIELD.get(self.word)
        )?;
        match nearest {
            Some((_, shape, encoding)) => write!(
                f,
                ", the nearest is {} with {} ({:09b})",
                shape.mnemonic,
                shape.name,
                DecodeError::FIELD.get(encoding.opcode)
            ),
            None => Ok(()),
        }
    }
}

/// The instruction of a word. Bits that mean nothing in its form are kept in [`Instruction::ignored_bits`], so that
/// [`encode`](crate::encode) gives the word back.
///
/// `.INVALIDFMZ3` decodes: [`Instruction::illegal_modifier`] names it.
///
/// # Errors
/// If the opcode is no form's.
///
/// ```
/// assert!(roundonce_sass::decode(0x5980_0180_0027_0100).is_ok());
/// assert!(roundonce_sass::decode(0x5900_0380_0067_0008).is_err());
/// ```
#[inline]
pub fn decode(word: u64) -> Result<Instruction, DecodeError> {
    // One copy of the code for each encodable shape, in which the shape's table is a constant.
    match BY_OPCODE[fields::OPCODE.get(word) as usize] {
        0 => decode_as::<0>(word),
        1 => decode_as::<1>(word),
        2 => decode_as::<2>(word),
        3 => decode_as::<3>(word),
        4 => decode_as::<4>(word),
        _ => Err(DecodeError { word }),
    }
}

const _: () = assert!(ENCODABLE == 5, "a copy of the code for each encodable shape");

#[inline(always)]
fn decode_as<const SHAPE: usize>(word: u64) -> Result<Instruction, DecodeError> {
    let shape = const { &SHAPES[SHAPE] };
    let Some(encoding) = &shape.encoding else {
        return Err(DecodeError { word });
    };
    let mut instruction = Instruction::blank(SHAPE as u8);
    instruction.guard =
        Guard { predicate: fields::PREDICATE.get(word) as u8, negated: fields::PREDICATE_NOT.get(word) != 0 };
    for (value, field) in instruction.modifiers.iter_mut().zip(shape.modifiers) {
        *value = field.field.get(word) as u8;
    }
    for (operand, place) in instruction.operands.iter_mut().zip(shape.places) {
        *operand = Operand::plain(match *place {
            Place::Register(field) => Value::Register(field.get(word) as u8),
            Place::Destination => Value::Register(fields::RD.get(word) as u8),
            Place::Constant { offset, bank } => {
                Value::Constant { bank: bank.get(word) as u8, offset: (offset.get(word) * 4) as u16 }
            }
            Place::ShortImmediate { low, sign } => {
                Value::Immediate((low.get(word) << 12 | sign.get(word) << 31) as u32)
            }
            Place::Immediate(field) => Value::Immediate(field.get(word) as u32),
            // Shapes with an encoding have none of these.
            Place::Text(_) => return Err(DecodeError { word }),
        });
    }
    instruction.operands[encoding.product_sign_on].negate = encoding.negate_product.get(word) != 0;
    instruction.operands[3].negate = encoding.negate_addend.get(word) != 0;
    instruction.ignored_bits = word & const { SHAPES[SHAPE].ignored() };
    Ok(instruction)
}
