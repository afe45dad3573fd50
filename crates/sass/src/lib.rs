//! SASS of Maxwell GPUs (SPA 5.0): FFMA and FFMA32I as text and as words, both ways, with their control words; the
//! neighbours that a listing puts beside them (FADD, FMUL, MOV and their 32I forms) as text.
//!
//! Reading order: [`rows`] (the one table: a row for each mnemonic with its modifiers, operand forms, encodings and
//! meaning), `row.rs` (what a row is made of), [`fields`] (the bit ranges), [`Instruction`], then [`decode()`], `encode.rs`,
//! `parse.rs` and `print.rs`, which only read the table.
//!
//! `program` makes programs of a cubin's kernels ([`lower_cubin`]), `lower.rs` of listings.
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
mod instruction;
mod line_table;
mod listing;
mod lookup;
mod lower;
mod maxwell;
pub mod modern;
mod parse;
mod patch;
mod print;
mod program;
mod row;
mod rules;
mod schedule;
mod schedule_text;

pub use assemble::{Assembly, NOP, asm_file, asm_line, parse_line};
pub use check::check;
pub use compiled::{CompiledKernel, CompiledModule, CompiledOperation};
pub use cubin::{Cubin, Kernel, MAXWELL_TARGETS};
pub use decimal::write_decimal;
pub use decode::{DecodeError, decode};
pub use disassemble::{Layout, disasm_bundles, disasm_word, disasm_word_into, disasm_words};
pub use encode::EncodeError;
pub use forms::FORMS;
pub use instruction::{Guard, Instruction, Operand, OperandKind, Operands, PT, RZ, Value};
pub use listing::{Code, Line, Listing};
pub use lower::{Lowered, Name, lower};
pub use maxwell::{ARITHMETIC, rows};
pub use parse::Statement;
pub use patch::patch;
pub use print::{Register, Style};
pub use program::{cubin_kernels, lower_cubin};
pub use row::{Arithmetic, Bits, Kind, Latency, Lowering, MAX_OPERANDS, OperandField, Row, Since, Slot as RowSlot};
pub use rules::{NOT_COMPUTED, RULES, Rule, check_word};
pub use schedule::{Control, SCHEDULE_NAMES, Slot, SlotFault};
pub use schedule_text::ScheduleStyle;
