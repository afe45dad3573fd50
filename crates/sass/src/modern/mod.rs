//! Volta to Blackwell, sm_70 to sm_121: the float family as 128-bit words and as text, both ways.
//!
//! Reading order: [`OPCODES`] (the table: a row for each mnemonic with its bits, its modifiers and its operand forms),
//! `opcode.rs` (what a row is made of), [`Generation`] (targets that share an encoding), [`decode`], [`Instruction`] (a word
//! and the form that says what its bits are: nothing is lost), `print.rs` and `parse.rs`, which only read the table, and
//! [`FORMS`] (what the spellings compute).
//!
//! A word carries its own scheduling: its bits 105 to 125 are one slot of Maxwell's control words.

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

pub(crate) use cubin::replaced;
pub use cubin::{Cubin, Kernel};
pub use decode::{DecodeError, decode};
pub use disassemble::{disasm_word_into, disasm_words};
pub use forms::{FORMS, is_spelling};
pub use instruction::{Bank, Instruction, Operand, Value};
pub use listing::{CodeLine, Listing, asm_file, check, listing_target};
pub use lower::lower;
pub use names::mnemonic;
pub(crate) use names::registers_written;
pub use opcode::{Kind, Modifier, Number, Opcode, Place, Role, SHAPES, Selector, Shape};
pub use parse::asm_line;
pub use table::OPCODES;
pub use target::{Generation, TARGETS, Target};
