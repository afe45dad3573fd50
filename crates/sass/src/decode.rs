//! From a word to its instruction.

use core::fmt;

use crate::fields::{self, Field};
use crate::instruction::{Guard, Instruction, Operand, Value};
use crate::lookup::{self, ENTRIES, encodable_names};
use crate::opcode::{EncodedForm, FormVisitor, OperandField};

/// A word of none of the table's encodings: its opcode is at fault.
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
        let distance = |mask: u64, bits: u64| ((self.word ^ bits) & mask).count_ones();
        let nearest = ENTRIES
            .iter()
            .filter_map(|entry| entry.form.encoding.map(|e| (distance(e.mask, e.bits), entry, e)))
            .min_by_key(|(distance, ..)| *distance);
        write!(
            f,
            "{:#018x} is neither {}: its opcode (bits 55 to 63) is {:09b}",
            self.word,
            encodable_names().join(" nor "),
            DecodeError::FIELD.get(self.word)
        )?;
        match nearest {
            Some((_, entry, encoding)) => write!(
                f,
                ", the nearest is {} with {} ({:09b})",
                entry.opcode().name,
                entry.form.name,
                DecodeError::FIELD.get(encoding.bits)
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
    match lookup::word(word) {
        Some(form) => form.visit(Decoder { word }),
        None => Err(DecodeError { word }),
    }
}

struct Decoder {
    word: u64,
}

impl FormVisitor for Decoder {
    type Output = Result<Instruction, DecodeError>;

    #[inline(always)]
    fn visit<F: EncodedForm>(self) -> Self::Output {
        decode_as::<F>(self.word)
    }
}

#[inline(always)]
fn decode_as<F: EncodedForm>(word: u64) -> Result<Instruction, DecodeError> {
    let encoding = const { &F::ENCODING };
    let mut instruction = Instruction::blank(const { lookup::entry_of(F::ENCODED) });
    instruction.guard =
        Guard { predicate: fields::PREDICATE.get(word) as u8, negated: fields::PREDICATE_NOT.get(word) != 0 };
    for (value, field) in instruction.modifiers.iter_mut().zip(encoding.modifiers) {
        *value = field.get(word) as u8;
    }
    for (operand, field) in instruction.operands.iter_mut().zip(const { F::FORM.operands }) {
        *operand = Operand::plain(match *field {
            OperandField::Register(field) => Value::Register(field.get(word) as u8),
            OperandField::Destination => Value::Register(fields::RD.get(word) as u8),
            OperandField::Constant { offset, bank } => {
                Value::Constant { bank: bank.get(word) as u8, offset: (offset.get(word) * 4) as u16 }
            }
            OperandField::ShortImmediate { low, sign } => {
                Value::Immediate((low.get(word) << 12 | sign.get(word) << 31) as u32)
            }
            OperandField::Immediate(field) => Value::Immediate(field.get(word) as u32),
            // Forms with an encoding have none of these.
            OperandField::Unencoded(_) => return Err(DecodeError { word }),
        });
    }
    for sign in encoding.signs {
        instruction.operands[sign.printed_on].negate = sign.field.get(word) != 0;
    }
    instruction.ignored_bits = word & const { F::FORM.ignored() };
    Ok(instruction)
}
