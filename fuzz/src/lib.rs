//! What targets share: the input's bytes as choices, generators of programs that make them, and the comparison of
//! engines.

pub mod choices;
pub mod elf;
pub mod engines;
pub mod expression;
pub mod listing;
pub mod portable;
pub mod ptx;
pub mod sass;
pub mod spirv;

pub use choices::Choices;
