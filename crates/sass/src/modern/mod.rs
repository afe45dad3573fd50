//! Volta to Blackwell, sm_70 to sm_121: the float family as 128-bit words and as text, both ways.

mod decode;
mod instruction;
mod opcode;
mod parse;
mod print;
mod table;
mod target;

pub use decode::{DecodeError, decode};
pub use instruction::{Bank, Instruction, Operand, Value};
pub use opcode::{Kind, Modifier, Number, Opcode, Place, Role, SHAPES, Selector, Shape};
pub use parse::{Line, asm_line, parse_line};
pub use table::OPCODES;
pub use target::{Generation, TARGETS, Target};
