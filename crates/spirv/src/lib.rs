#![doc = include_str!("../README.md")]
//!
//! Reading order: [`forms`] (the rows), [`Module`] (words and locations), [`assemble`], [`disassemble`], [`check`] and its
//! [`Environment`], [`migrate_text`],
//! [`FloatModes`] and [`allowed`], [`lower`], [`outline()`] (what an editor shows).
//!
//! What this is not: it computes nothing but which results are legal, and is no full validator: what [`check`] calls an
//! error is one, around the multiply-add family; what it lets pass elsewhere may still be refused by spirv-val.
#![forbid(unsafe_code)]

mod allowed;
mod asm;
mod disasm;
mod environment;
mod facts;
mod fast_math;
pub mod forms;
mod grammar;
mod literal;
mod lower;
mod migrate;
mod modes;
mod module;
mod outline;
mod rules;

pub use allowed::{AllowedSet, Choice, Range, ResultFlush, Special, allowed};
pub use asm::{assemble, assemble_module};
pub use disasm::{disassemble, disassemble_module};
pub use environment::Environment;
pub use literal::float_literal;
pub use lower::{
    Assume, Lowered, LoweredEntry, Settings, SpecConstant, UNSUPPORTED, entry_points, lower, lower_each, spec_constants,
};
pub use migrate::{Migrated, Migration, NOT_MIGRATED, migrate_binary, migrate_text, migration_fixes};
pub use modes::{Denorm, FloatModes};
pub use module::{IdName, Instruction, Module};
pub use outline::{enumerants_at, opcode_text, opcodes, outline};
pub use rules::{OF_DETERMINACY, RULES, check, check_binary, check_text, structural_errors, unchecked};
