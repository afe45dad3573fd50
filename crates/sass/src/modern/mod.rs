//! Volta to Blackwell, sm_70 to sm_121: the float family as 128-bit words and as text, both ways.

mod cubin;
mod decode;
mod disassemble;
mod forms;
mod instruction;
mod listing;
mod lower;
mod names;
mod opcode;
mod parse;
mod print;
mod table;
mod target;

pub use cubin::{Cubin, Kernel, replaced};
pub use decode::{DecodeError, decode};
pub use disassemble::{disasm_word_into, disasm_words};
pub use forms::{FORMS, is_spelling};
pub use instruction::{Bank, Instruction, Operand, Value};
pub use listing::{CodeLine, Listing, asm_file, check, listing_target};
pub use lower::lower;
pub use names::mnemonic;
pub use opcode::{Kind, Modifier, Number, Opcode, Place, Role, SHAPES, Selector, Shape};
pub use parse::{Line, asm_line, parse_line};
pub use table::OPCODES;
pub use target::{Generation, TARGETS, Target};
