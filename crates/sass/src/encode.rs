//! From an instruction to its word.

use core::fmt;

use crate::fields;
use crate::instruction::{Instruction, Value};
use crate::shape::{ENCODABLE, Place, SHAPES};

/// Why an instruction has no word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EncodeError {
    /// Only the text of this mnemonic is known.
    TextOnly,
    /// An operand is of another kind than the shape has in its place.
    Kind,
    /// The lower 12 bits of a 20-bit immediate are not zero.
    ShortImmediate {
        /// The f32's bits.
        bits: u32,
    },
    /// The addend's register of FFMA32I is not the destination.
    AddendIsNotDestination {
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
    /// `-Rd`: a destination has no sign.
    NegatedDestination,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EncodeError::TextOnly => {
                f.write_str("the encoding of this mnemonic is not known here: it is read as text only")
            }
            EncodeError::Kind => f.write_str("an operand is of a kind that this form does not have in its place"),
            EncodeError::ShortImmediate { bits } => {
                write!(
                    f,
                    "the immediate {bits:#010x} does not fit in 20 bits: its lower 12 bits are {:#05x}, not zero",
                    bits & 0xfff
                )
            }
            EncodeError::AddendIsNotDestination { destination, addend } => write!(
                f,
                "the addend of FFMA32I is {}, but it must be the destination, {}",
                crate::print::Register(addend),
                crate::print::Register(destination)
            ),
            EncodeError::Offset { offset } => write!(f, "the constant offset {offset:#x} is not a multiple of 4"),
            EncodeError::Bank { bank } => write!(f, "there is no constant bank {bank:#x}: banks end at 0x1f"),
            EncodeError::Predicate { predicate } => {
                write!(f, "there is no predicate {predicate}: they are P0 to P6 and PT")
            }
            EncodeError::NegatedDestination => f.write_str("a destination has no sign"),
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
    // One copy of the code for each encodable shape, in which the shape's table is a constant.
    match instruction.shape {
        0 => encode_as::<0>(instruction),
        1 => encode_as::<1>(instruction),
        2 => encode_as::<2>(instruction),
        3 => encode_as::<3>(instruction),
        4 => encode_as::<4>(instruction),
        _ => Err((EncodeError::TextOnly, 0)),
    }
}

const _: () = assert!(ENCODABLE == 5, "a copy of the code for each encodable shape");

#[inline(always)]
fn encode_as<const SHAPE: usize>(instruction: &Instruction) -> Result<u64, (EncodeError, usize)> {
    let shape = const { &SHAPES[SHAPE] };
    let Some(encoding) = &shape.encoding else {
        return Err((EncodeError::TextOnly, 0));
    };
    let guard = instruction.guard;
    if guard.predicate > fields::PREDICATE.max() as u8 {
        return Err((EncodeError::Predicate { predicate: guard.predicate }, 0));
    }
    let mut word = encoding.opcode
        | instruction.ignored_bits & const { SHAPES[SHAPE].ignored() }
        | fields::PREDICATE.put(u64::from(guard.predicate))
        | fields::PREDICATE_NOT.put(u64::from(guard.negated));
    for (field, value) in shape.modifiers.iter().zip(instruction.modifiers) {
        word |= field.field.put(u64::from(value));
    }
    for (index, (place, operand)) in shape.places.iter().zip(instruction.operands).enumerate() {
        word |= match (*place, operand.value) {
            (Place::Register(field), Value::Register(number)) => field.put(u64::from(number)),
            (Place::Constant { offset, bank }, Value::Constant { bank: number, offset: bytes }) => {
                if bytes % 4 != 0 {
                    return Err((EncodeError::Offset { offset: bytes }, index));
                }
                if u64::from(number) > bank.max() {
                    return Err((EncodeError::Bank { bank: number }, index));
                }
                offset.put(u64::from(bytes / 4)) | bank.put(u64::from(number))
            }
            (Place::ShortImmediate { low, sign }, Value::Immediate(bits)) => {
                if bits & 0xfff != 0 {
                    return Err((EncodeError::ShortImmediate { bits }, index));
                }
                low.put(u64::from(bits >> 12)) | sign.put(u64::from(bits >> 31))
            }
            (Place::Immediate(field), Value::Immediate(bits)) => field.put(u64::from(bits)),
            (Place::Destination, Value::Register(addend)) => {
                let destination = instruction.destination();
                if addend != destination {
                    return Err((EncodeError::AddendIsNotDestination { destination, addend }, index));
                }
                0
            }
            _ => return Err((EncodeError::Kind, index)),
        };
    }
    let [destination, a, b, c] = instruction.operands.map(|operand| operand.negate);
    if destination {
        return Err((EncodeError::NegatedDestination, 0));
    }
    word |= encoding.negate_product.put(u64::from(a ^ b));
    word |= encoding.negate_addend.put(u64::from(c));
    Ok(word)
}
