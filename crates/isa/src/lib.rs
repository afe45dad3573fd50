//! What the languages share: an instruction's meaning as data ([`Recipe`]), the rows of the tables of forms
//! ([`Form`]), who has them ([`Gate`]), findings ([`Finding`]).
//!
//! What this is not: it knows no language's syntax, and computes nothing.

mod diag;
mod form;
mod gate;
mod recipe;

pub use diag::{Finding, Fix, Level, Place, apply_fixes, line_column};
pub use form::{Choice, Form, Instruction, Mismatch, Part, Slot, split_modifiers, split_spelling};
pub use gate::{Gate, Since, Version};
pub use recipe::{Effect, Recipe};
