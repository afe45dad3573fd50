#![doc = include_str!("../README.md")]
//!
//! Reading order: [`Format`] (a format as data), [`Operation`] (what an instruction asks for) and its
//! [`evaluate`](Operation::evaluate), [`Profile`] (what the documents leave open), `round.rs` (the one place that
//! rounds).
//!
//! What this is not: it knows no language and no instruction's name, keeps no state, and needs nothing but `core`; only
//! the kernels of [`batch`] use a floating-point unit.
//!
//! Feature `std` (default): `batch` detects the processor's features at run time.
#![no_std]
#![deny(clippy::float_arithmetic)]

#[cfg(feature = "std")]
extern crate std;

pub mod batch;
mod dot;
#[cfg(feature = "std")]
mod elements;
mod extended;
mod fast_path;
mod flush;
mod format;
mod machine;
mod mul_add;
mod nan;
mod narrow;
mod outcome;
mod profile;
mod round;
mod trace;
mod unpack;
mod wide;

pub use dot::{Addend, Dot, DotEvent, DotTerm, DotTrace, Order, Position, Scale, ScaleFormat};
#[cfg(feature = "std")]
pub use dot::{MatrixProduct, Pairs, Vectors};
#[cfg(feature = "std")]
pub use elements::Elements;
pub use extended::{Extended, ExtendedResult};
pub use format::Format;
pub use machine::Machine;
pub use mul_add::{ArithOp, Clamp, Operation};
pub use narrow::{ConversionRounding, Element, NarrowFormat, PackedConversion};
pub use outcome::{ConditionCodes, Flags, Outcome};
pub use profile::{
    AddendCut, Decision, FmzSatNan, NanRule, OperandIndex, Profile, Sm1xMad, Status, Tininess, TuringBlock, Underflow,
    ZeroExponent, ZeroSum,
};
pub use round::{ExactNumber, Rounding};
pub use trace::{Event, Term, Trace};
pub use unpack::{FiniteNumber, Unpacked, unpack, widen};
