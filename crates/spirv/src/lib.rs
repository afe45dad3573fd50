//! SPIR-V's fused multiply-add, `OpFmaKHR` of SPV_KHR_fma: read, written, checked.
//!
//! Reading order: [`forms`] (the rows), [`Module`] (words and places), [`assemble`], [`disassemble`], [`check`] and its
//! [`Environment`], [`FloatModes`].
//!
//! What this is not: it computes nothing but which results are legal, and is no full validator: what [`check`] calls an
//! error is one, around the multiply-add family; what it lets pass elsewhere may still be refused by spirv-val.
#![forbid(unsafe_code)]

mod asm;
mod disasm;
mod environment;
mod facts;
pub mod forms;
mod grammar;
mod literal;
mod modes;
mod module;
mod rules;

pub use asm::{assemble, assemble_module};
pub use disasm::{disassemble, disassemble_module};
pub use environment::Environment;
pub use modes::{Denorm, FloatModes};
pub use module::{IdName, Instruction, Module};
pub use rules::{check, check_binary, check_text};
