#![doc = include_str!("../README.md")]
//!
//! Reading order: [`Deviation`] (the one list), `plausibility.rs` (what may be a cause), `text.rs` (its words), [`EvalModel`] (an operation with every step of
//! its evaluation apart, to which a deviation is applied), `sets.rs` (which deviations are considered for an
//! expression, an instruction and a kernel), [`mod@cover`] (the fewest that explain all elements).
//!
//! What this is not: it knows no expression and no program. What a deviation of a whole computation does (which product
//! is fused, in which order a sum is taken) is done by those who have the computation.

pub mod cover;
mod deviation;
mod model;
mod plausibility;
mod sets;
mod stages;
mod text;

pub use deviation::{Approximation, Deviation, FactorRounding, Fmas, Narrowing, Products, Tf32Rounding};
pub use model::{EvalMethod, EvalModel, Typed};
pub use plausibility::{Allowed, Plausibility, UnusualMode, plausibility};
pub use sets::{ExpressionTraits, ModeSets, for_expressions, for_instructions, for_kernels};
pub use stages::{Carried, NarrowBy, Stages};
pub use text::{Scope, direction};
