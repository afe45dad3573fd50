#![doc = include_str!("../README.md")]
//!
//! What this is not: it runs nothing, and `check` does not look at every instruction ([`Report::unchecked`]).
//!
//! Reading order: `ast` (what a module is), `encoding`, `lexer`, `parser`, `printer`, `literal` (what a number's bits are),
//! `opcodes` (the one table), `forms`, `integer`, `conversions` and `matrix` (the rows that compute), `signatures` (what the
//! others take), `types`, `video` (parts of registers), `scopes`, `rules`, `lower`, `outline` and
//! `vocabulary` (what an editor shows and offers).

pub mod ast;
pub mod conversions;
mod encoding;
pub mod forms;
pub mod integer;
mod lexer;
pub mod literal;
mod lower;
pub mod matrix;
mod opcodes;
mod outline;
mod parser;
mod printer;
mod rules;
mod scopes;
mod signatures;
mod types;
mod video;
mod vocabulary;

pub use ast::Module;
pub use encoding::decode;
pub use lower::{LoweredKernel, Settings, UNSUPPORTED, lower, lower_each, lower_with};
pub use opcodes::{is_opcode, lowered_opcodes};
pub use outline::outline;
pub use parser::{Parsed, parse};
pub use printer::{print, print_instruction};
pub use rules::{
    Contraction, Options, RULES, Report, check, check_text, contractions, first_version, is_version, no_version,
    report_text, targets,
};
pub use vocabulary::{OpcodeText, directives, next_modifiers, opcode_text, opcodes};
