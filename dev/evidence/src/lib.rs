//! The evidence: what every form was held against, recorded by the programs that did it, and the page made of it.
//!
//! `check` holds a spelling against the judges again and prints what was recorded; `page` writes docs/evidence.md and
//! the README's totals. Nothing on that page is written by hand.

pub mod check;
pub mod conversions;
mod hardware;
pub mod page;
#[path = "../../../crates/roundonce/tests/reader/mod.rs"]
mod reader;
pub mod records;

pub use reader::spellings;
