#![doc = include_str!("../README.md")]
//!
//! Reading order: `quotient.rs` (integers with a sticky bit), [`approximate`] (the functions that hardware approximates,
//! correctly rounded), `exact.rs` (extrema, signs, integral values), [`Wider`] (numbers to measure
//! rounding by).

mod elementary;
mod exact;
mod quotient;
mod range;
mod roots;
mod turns;
mod wider;

pub use elementary::{Function, approximate};
pub use exact::{
    MinMax, as_integer, copy_sign, flushed, integral, min_max, nan_as_integer, ordered, sign, signed_sum, to_integral,
};
pub use quotient::{divide, reciprocal_square_root, remainder, scale, square_root};
pub use wider::{Breadth, Wider};
