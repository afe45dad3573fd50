//! Executes recipes and programs, bit for bit.
//!
//! What this is not: it knows no syntax and no terminal; it reads no file.

mod engine;
mod launch;
mod memory;
mod native;
pub mod scalar;
mod uses;

pub use launch::{Arg, Computed, Contract, Difference, Engine, Launch, Options, Report, RunError, TraceLine, Trouble};
pub use memory::Buffer;
pub use uses::element_formats;
