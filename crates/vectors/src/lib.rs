#![doc = include_str!("../README.md")]
//!
//! Reading order: `instruction.rs` (what a vector is about, and which results are right), `directed.rs` and `generate.rs` (where
//! vectors come from), `format/` (a file a format), `verify.rs` (captured results against what is right), `cause.rs`
//! (which deviations would have given them), `sweep.rs`; `output.rs` (how files are written).
//!
//! What this is not: it knows no terminal, and it computes nothing itself: every result is the engine's.

mod block;
mod cause;
mod directed;
mod format;
mod generate;
mod instruction;
mod matrices;
pub mod npy;
pub mod output;
mod report;
pub mod sweep;
mod verify;

pub use block::Vector;
pub use format::{Format, Options, run_testfloat, verify_file, verify_stream, without_mark};
pub use generate::Generated;
pub use instruction::{Criterion, InstructionUnderTest};
pub use report::{Checked, Example, Group, Report};
pub use roundonce::why::random::next as split_mix_64;
pub use verify::Observer;
