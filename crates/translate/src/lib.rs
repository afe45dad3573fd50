#![doc = include_str!("../README.md")]
//!
//! Nothing is weakened in silence: where the bits would not be the same, the answer is a list of findings, each with the
//! place and what has no counterpart ([`rules`]).

pub mod expression;
pub mod instruction;
pub mod kernel;
pub mod rules;
