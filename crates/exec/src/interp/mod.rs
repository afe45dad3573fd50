//! The interpreter: it runs a decoded kernel over a batch of whole thread blocks, up to 2,048 lanes at a time, and hands
//! lanes to native code where there is some.
//!
//! Reading order: `register` (a register over many lanes: uniform, affine or varying), `split` (divergence), `interpreter`
//! (one worker's state), `schedule` (which split runs next, branches and reconvergence), `parked` (batches that wait), `alu`, `access`, `warp`,
//! `matrix`, `barrier`, `image` (one instruction over the active lanes), `affine`, `strided`, `lanewise` (their loops), `hooks`
//! (counts and the trace), `observe` (exceptions and shadows), `folded_load` (arithmetic on memory in place),
//! `native_entry` (lanes into native code and back), `phase` and `phases` (native code from barrier to barrier, a few
//! blocks at a time).
//!
//! The top floor but one: it uses [`kernel`](crate::kernel) and [`native`](crate::native); only
//! [`launch`](crate::launch) uses it.

mod access;
mod affine;
mod alu;
mod atomic;
mod barrier;
mod fault;
mod folded_load;
mod hooks;
mod image;
mod interpreter;
mod lanewise;
mod mask;
mod matrix;
mod native_entries;
mod native_entry;
mod observe;
mod parked;
mod phase;
mod phases;
mod prefetch;
mod print;
mod races;
mod register;
mod schedule;
mod settle;
mod split;
mod stats;
mod strided;
mod tile_numbers;
mod trace;
mod warp;

pub(crate) use fault::Fault;
pub use fault::FaultKind;
pub(crate) use interpreter::Interpreter;
pub(crate) use observe::{Digests, Exceptions};
pub use observe::{Exception, ExceptionKind, Moved, ResultDigest, ShadowElement, ShadowLine};
pub(crate) use parked::{Parked, Progress};
pub(crate) use stats::Stats;
pub use trace::{Computed, TraceLine};
