//! From an instruction to its word.

use core::fmt;

use crate::fields;
use crate::instruction::{Instruction, Value};
use crate::lookup::ENCODED;
use crate::opcode::{EncodedForm, FormVisitor, MAX_OPERANDS, OperandField};
use crate::print::Register;

/// Why an instruction has no word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EncodeError {
    /// Only the text of this mnemonic is known.
    TextOnly,
    /// An operand is of another kind than the form has there.
    Kind,
    /// The lower 12 bits of a 20-bit immediate are not zero.
    ShortImmediate {
        /// The f32's bits.
        bits: u32,
    },
    /// The addend's register is not the destination, though the word has one field for both.
    AddendIsNotDestination {
        /// The mnemonic.
        opcode: &'static str,
        /// The destination.
        destination: u8,
        /// The addend's register.
        addend: u8,
    },
    /// A constant's offset is no multiple of 4.
    Offset {
        /// In bytes.
        offset: u16,
    },
    /// A constant bank above 31.
    Bank {
        /// The bank.
        bank: u8,
    },
    /// A predicate above PT.
    Predicate {
        /// Its number.
        predicate: u8,
    },
    /// `-Rd`: an operand that has no sign.
    NoSign,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EncodeError::TextOnly => {
                f.write_str("the encoding of this mnemonic is not known here: it is read as text only")
            }
            EncodeError::Kind => f.write_str("an operand is of a kind that this form does not have there"),
            EncodeError::ShortImmediate { bits } => {
                write!(
                    f,
                    "the immediate {bits:#010x} does not fit in 20 bits: its lower 12 bits are {:#05x}, not zero",
                    bits & 0xfff
                )
            }
            EncodeError::AddendIsNotDestination { opcode, destination, addend } => write!(
                f,
                "the addend of {opcode} is {}, but it must be the destination, {}",
                Register(addend),
                Register(destination)
            ),
            EncodeError::Offset { offset } => write!(f, "the constant offset {offset:#x} is not a multiple of 4"),
            EncodeError::Bank { bank } => write!(f, "there is no constant bank {bank:#x}: banks end at 0x1f"),
            EncodeError::Predicate { predicate } => {
                write!(f, "there is no predicate {predicate}: they are P0 to P6 and PT")
            }
            EncodeError::NoSign => f.write_str("this operand has no sign"),
        }
    }
}

/// The word of an instruction; the second half of an error is the operand at fault, counted from the destination.
///
/// Where only the product's sign can be written, the signs of both factors are taken together: `-Ra, -Sb` cancel.
///
/// # Errors
/// What the word has no room for.
///
/// ```
/// let word = 0x338101bfc0070100;
/// let instruction = roundonce_sass::decode(word).unwrap();
/// assert_eq!(roundonce_sass::encode(&instruction), Ok(word));
/// ```
#[inline]
pub fn encode(instruction: &Instruction) -> Result<u64, (EncodeError, usize)> {
    match ENCODED[usize::from(instruction.entry)] {
        Some(form) => form.visit(Encoder { instruction }),
        None => Err((EncodeError::TextOnly, 0)),
    }
}

struct Encoder<'a> {
    instruction: &'a Instruction,
}

impl FormVisitor for Encoder<'_> {
    type Output = Result<u64, (EncodeError, usize)>;

    #[inline(always)]
    fn visit<F: EncodedForm>(self) -> Self::Output {
        encode_as::<F>(self.instruction)
    }
}

#[inline(always)]
fn encode_as<F: EncodedForm>(instruction: &Instruction) -> Result<u64, (EncodeError, usize)> {
    let encoding = const { &F::ENCODING };
    let guard = instruction.guard;
    if guard.predicate > fields::PREDICATE.max() as u8 {
        return Err((EncodeError::Predicate { predicate: guard.predicate }, 0));
    }
    let mut word = encoding.bits
        | instruction.ignored_bits & const { F::FORM.ignored() }
        | fields::PREDICATE.put(u64::from(guard.predicate))
        | fields::PREDICATE_NOT.put(u64::from(guard.negated));
    for (field, value) in encoding.modifiers.iter().zip(instruction.modifiers) {
        word |= field.put(u64::from(value));
    }
    for (index, (field, operand)) in const { F::FORM.operands }.iter().zip(&instruction.operands).enumerate() {
        word |= match (field, operand.value) {
            (OperandField::Register(field), Value::Register(number)) => field.put(u64::from(number)),
            (OperandField::Constant { offset, bank }, Value::Constant { bank: number, offset: bytes }) => {
                if bytes % 4 != 0 {
                    return Err((EncodeError::Offset { offset: bytes }, index));
                }
                if u64::from(number) > bank.max() {
                    return Err((EncodeError::Bank { bank: number }, index));
                }
                offset.put(u64::from(bytes / 4)) | bank.put(u64::from(number))
            }
            (OperandField::ShortImmediate { low, sign }, Value::Immediate(bits)) => {
                if bits & 0xfff != 0 {
                    return Err((EncodeError::ShortImmediate { bits }, index));
                }
                low.put(u64::from(bits >> 12)) | sign.put(u64::from(bits >> 31))
            }
            (OperandField::Immediate(field), Value::Immediate(bits)) => field.put(u64::from(bits)),
            (OperandField::Destination, Value::Register(addend)) => {
                let destination = instruction.destination();
                if addend != destination {
                    let opcode = instruction.opcode().name;
                    return Err((EncodeError::AddendIsNotDestination { opcode, destination, addend }, index));
                }
                0
            }
            _ => return Err((EncodeError::Kind, index)),
        };
    }
    let negated = instruction.operands.map(|operand| operand.negate);
    let mut signed = 0;
    for sign in encoding.signs {
        let combines = |index: &usize| sign.operands >> index & 1 == 1;
        let negative = (0..MAX_OPERANDS).filter(combines).fold(false, |negative, index| negative ^ negated[index]);
        word |= sign.field.put(u64::from(negative));
        signed |= sign.operands;
    }
    match (0..const { F::FORM.operands.len() }).find(|index| negated[*index] && signed >> index & 1 == 0) {
        Some(unsigned) => Err((EncodeError::NoSign, unsigned)),
        None => Ok(word),
    }
}
