//! SPIR-V's fused multiply-add, `OpFmaKHR` of SPV_KHR_fma.
//!
//! Reading order: [`forms`] (the rows), [`Module`] (words and places), [`assemble`], [`disassemble`].
#![forbid(unsafe_code)]

mod asm;
mod disasm;
pub mod forms;
mod grammar;
mod literal;
mod module;

pub use asm::{assemble, assemble_module};
pub use disasm::{disassemble, disassemble_module};
pub use module::{IdName, Instruction, Module};
