#![doc = include_str!("../README.md")]
//!
//! Reading order: [`Recipe`] (a meaning as data), [`Form`] (a row), [`Gate`] (where it is available), [`Finding`],
//! [`parse_value`], [`evaluate()`].
//!
//! What this is not: it knows no language's syntax and no program.

mod diag;
mod evaluate;
mod form;
mod gate;
mod number;
mod open;
mod outline;
mod recipe;
mod resolve;
mod rule;
mod value;

pub use diag::{
    ColumnUnit, Finding, Fix, LineIndex, Location, Severity, apply_counted, apply_edits, apply_fixes, has_errors,
    line_column,
};
pub use evaluate::{Evaluation, evaluate};
pub use form::{Choice, Form, Instruction, Language, Mismatch, Part, Slot, split_modifiers, split_spelling};
pub use gate::{Gate, Range, SmTarget, SmVariant, Variants, Version};
pub use number::{
    ParsedNumber, counted, exact_decimal, extended_decimal, grouped, hex_bits, hexadecimal, parse_narrow, parse_number,
    push_hex_digits, shortest_decimal,
};
pub use open::{Alternatives, OpenChoice, Sequence, SequenceOperand};
pub use outline::{Declaration, Outline, Spelled, Token, TokenClass, Use};
pub use recipe::{Effect, Recipe, fused};
pub use resolve::{NO_SUCH_INSTRUCTION, Table, nearest};
pub use rule::Rule;
pub use value::{
    MAX_COMPONENTS, ParsedValue, TYPE_LETTERS, Value, convert, missing_digits, parse_plain_hex, parse_testfloat,
    parse_value, parse_whole,
};
