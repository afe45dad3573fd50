//! Test vectors: made, read in the formats that people keep them in, verified; and whole spaces of operands swept.
//!
//! ```
//! use roundonce_vectors::{Observer, Options, verify_stream};
//! struct Nobody;
//! impl Observer for Nobody {
//!     fn bad_row(&mut self, row: u64, problem: &str) {
//!         panic!("row {row}: {problem}");
//!     }
//!     fn progress(&mut self, _: u64, _: Option<u64>) {}
//! }
//! let captured = br#"{"instruction":"fma.rn.f32","a":"0x3f800001","b":"0x3f800001","c":"0xbf800002","d":"0x00000000"}"#;
//! let report = verify_stream(captured.as_slice(), &Options::default(), &mut Nobody)?;
//! assert_eq!(report.failed, 1);
//! assert_eq!(report.causes[0].cause, "rounding the product before the sum (unfused)");
//! # Ok::<(), std::io::Error>(())
//! ```
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
