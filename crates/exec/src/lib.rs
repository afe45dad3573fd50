//! Executes recipes and programs, bit for bit.
//!
//! What this is not: it knows no syntax and no terminal; it reads no file.

mod eval;
pub mod scalar;

pub use eval::{Evaluation, evaluate};
