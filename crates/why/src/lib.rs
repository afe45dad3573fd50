//! Which evaluation gives the seen bits, and why; and one instruction explained step by step.
//!
//! Reading order: [`Expr`] (what is asked about), `plan.rs` (which operations, in which order, fused where), [`Way`] (a
//! plan with roundings, flushes and widths), [`Space`] (all ways, and which of them give a [`Seen`] value),
//! [`answer()`] (the sentences); `arrays/` asks the same of whole arrays. [`explain()`] stands
//! beside them: it asks the pipeline itself what it did.
//!
//! What this is not: it knows no program and no engine (`roundonce-why-kernel` does), and no terminal; text comes as [`Line`]s with [`Role`]s.

mod anatomy;
mod answer;
mod arrays;
mod cases;
pub mod diff;
mod explain;
mod expr;
mod plan;
mod reference;
mod search;
mod seen;
mod spell;
mod text;
mod verdict;
mod way;

pub use anatomy::{Anatomy, InFormat};
pub use answer::{Answer, COLUMNS, Evaluated, SeenAnswer, StepText, answer, direction};
pub use arrays::{
    ArrayAnswer, ArrayGroup, ArraySeen, Bits, Column, Example, Question, Values, answer_arrays, element_index,
};
pub use cases::{CASES, Case};
pub use explain::{Component, Counterpart, Explained, Neighbour, Number, OperandText, Picture, explain};
pub use expr::{Expr, ExprError, Typed, names_in, parse_expr, parse_typed};
pub use plan::{Plan, PlanOp, Ref};
pub use reference::{Trial, TrialAnswer};
pub use search::{Explanation, MAX_WAYS, Options, Space, parting, ulps};
pub use seen::Seen;
pub use spell::{Spelling, spell};
pub use text::{Line, Role, wrap};
pub use verdict::{Verdict, simplest};
pub use way::{Departure, Step, Way, Width};
