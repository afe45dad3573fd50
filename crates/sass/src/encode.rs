//! Why an instruction has no word.

use core::fmt;

use crate::print::Register;

/// Why an instruction that can be read has no word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EncodeError {
    /// The lower bits of a short immediate are not zero.
    ShortImmediate {
        /// The number's bits.
        bits: u64,
        /// The width of its format: 16, 32 or 64.
        format: u8,
    },
    /// A whole number has more bits than its field.
    Integer {
        /// The number.
        value: i64,
        /// The bits of the field.
        width: u32,
    },
    /// Two operands that have one field are different: the addend and the destination.
    AddendIsNotDestination {
        /// The mnemonic.
        opcode: &'static str,
        /// The destination.
        destination: u8,
        /// The addend's register.
        addend: u8,
    },
    /// A compare-and-swap's second register is not the one behind the first.
    SwapRegister {
        /// The register.
        register: u8,
    },
    /// A constant's offset is no multiple of 4.
    Offset {
        /// In bytes.
        offset: i64,
    },
    /// An address's offset has no room, or is no multiple of its unit.
    AddressOffset {
        /// In bytes.
        offset: i64,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EncodeError::ShortImmediate { bits, format: 32 } => {
                write!(
                    f,
                    "the immediate {bits:#010x} does not fit in 20 bits: its lower 12 bits are {:#05x}, not zero",
                    bits & 0xfff
                )
            }
            EncodeError::ShortImmediate { bits, .. } => {
                write!(
                    f,
                    "the immediate {bits:#x} does not fit: its field has its upper bits alone, and others are set"
                )
            }
            EncodeError::Integer { value, width } => {
                write!(f, "the number {} does not fit in {width} bits", crate::parse::signed_hex(value))
            }
            EncodeError::AddendIsNotDestination { opcode, destination, addend } => write!(
                f,
                "the addend of {opcode} is {}, but it must be the destination, {}",
                Register(addend),
                Register(destination)
            ),
            EncodeError::SwapRegister { register } => {
                write!(f, "{} is not the register behind the one compared", Register(register))
            }
            EncodeError::Offset { offset } => {
                write!(f, "the constant offset {} is not a multiple of 4", crate::parse::signed_hex(offset))
            }
            EncodeError::AddressOffset { offset } => {
                write!(f, "the offset {} has no room in the word", crate::parse::signed_hex(offset))
            }
        }
    }
}
