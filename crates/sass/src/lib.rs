#![doc = include_str!("../README.md")]
//!
//! Reading order: `row.rs` (what a row is made of), `maxwell/` (the one table, a file for each class of instructions:
//! a row for each mnemonic and operand form), [`Instruction`], then [`decode`], `parse.rs` with `parse/fit.rs` (from a
//! text to a row's word) and `print.rs`, which only read the table.
//!
//! A decoded [`Instruction`] is its word and the number of its row. A lowering asks for
//! [`mnemonic`](Instruction::mnemonic), [`guard`](Instruction::guard), [`operands`](Instruction::operands), which
//! are as many as the row has, printed or not, and [`modifier`](Instruction::modifier) by the slot's name.
//!
//! `lower.rs` makes programs of straight-line listings, `program/` of whole kernels ([`lower_cubin`]). `outline.rs` is what an
//! editor shows.
//!
//! What this is not: it computes nothing.

mod assemble;
mod check;
mod compiled;
mod cubin;
mod decimal;
mod decode;
mod disassemble;
mod encode;
pub mod fields;
pub mod forms;
mod generation;
mod instruction;
mod line_table;
mod listing;
mod lookup;
mod lower;
mod maxwell;
pub mod modern;
mod outline;
mod parse;
mod patch;
mod print;
mod program;
mod row;
mod rules;
mod schedule;
mod schedule_text;

pub use assemble::{Assembled, Assembly, NOP, asm_file, asm_file_for, asm_line, asm_line_for, parse_line};
pub use check::{check, check_counted};
pub use compiled::{CompiledKernel, CompiledModule, CompiledOperation, CompiledSource};
pub use cubin::{Cubin, Kernel, MAXWELL_TARGETS};
pub use decimal::write_decimal;
pub use decode::{DecodeError, decode, decode_for};
pub use disassemble::{Layout, disasm_bundles, disasm_word, disasm_word_into, disasm_words};
pub use encode::EncodeError;
pub use forms::FORMS;
pub use generation::Generation;
pub use instruction::{Guard, Instruction, Operand, OperandKind, Operands, PT, RZ, Value};
pub use listing::{Code, Line, Listing};
pub use lower::{Lowered, Name, lower};
pub use maxwell::{ARITHMETIC, rows};
pub use outline::{mnemonics, next_modifiers, operand_kinds, outline};
pub use parse::Statement;
pub use patch::patch;
pub use print::{Register, Style};
pub use program::{
    cubin_hazards, cubin_kernels, cubin_target, is_kernel_listing, listing_hazards, listing_kernels, lower_cubin,
    lower_kernel_listing, simplify,
};
pub use row::{Arithmetic, Bits, Kind, Latency, Lowering, MAX_OPERANDS, OperandField, Row, Slot as RowSlot};
pub use rules::{NOT_COMPUTED, RULES, check_word};
pub use schedule::{Control, SCHEDULE_NAMES, Slot, SlotFault};
pub use schedule_text::ScheduleStyle;
