//! PTX: whole modules read into a tree ([`parse`]), written back ([`print()`]), and checked by the rules that the
//! assembler keeps ([`check`]).
//!
//! ```
//! let text = ".version 8.6\n.target sm_100\n.entry k () { .reg .f32 f<4>; fma.rn.f32 f0, f1, f2, f3; ret; }\n";
//! let parsed = roundonce_ptx::parse(text);
//! assert!(parsed.findings.is_empty());
//! let printed = roundonce_ptx::print(&parsed.module);
//! assert_eq!(roundonce_ptx::parse(&printed).module, parsed.module);
//! ```
//!
//! What this is not: it runs nothing, and `check` does not look at every instruction ([`Report::unchecked`]).
//!
//! Reading order: `ast` (what a module is), `lexer`, `parser`, `printer`, `literal` (what a number's bits are),
//! `opcodes` (the one table), `forms`, `integer`, `conversions` and `matrix` (the rows that compute), `signatures` (what the
//! others take), `types`, `video` (parts of registers), `scopes`, `rules`, `lower`.

pub mod ast;
pub mod conversions;
pub mod forms;
pub mod integer;
mod lexer;
pub mod literal;
mod lower;
pub mod matrix;
mod opcodes;
mod parser;
mod printer;
mod rules;
mod scopes;
mod signatures;
mod types;
mod video;

pub use ast::Module;
pub use lower::{LoweredKernel, Settings, UNSUPPORTED, lower, lower_each, lower_with};
pub use opcodes::{is_opcode, lowered_opcodes};
pub use parser::{Parsed, parse};
pub use printer::{print, print_instruction};
pub use rules::{Contraction, Options, RULES, Report, check, check_text, contractions, report_text, targets};
