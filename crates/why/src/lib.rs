//! Which evaluation gives the seen bits, and why; and one instruction explained step by step.
//!
//! Reading order: [`Expr`] (what is asked about), `plan.rs` (which operations, in which order, fused where), [`Way`] (a
//! plan with roundings, flushes and widths), [`Space`] (all ways, and which of them give a [`Seen`] value),
//! [`answer()`] (the sentences); `arrays/` and `kernel/` ask the same of whole arrays and of kernels. [`explain()`] stands
//! beside them: it asks the pipeline itself what it did.
//!
//! What this is not: it knows no terminal; text comes as [`Line`]s with [`Role`]s.

mod anatomy;
mod answer;
mod arrays;
mod cases;
pub mod diff;
mod explain;
mod expr;
mod kernel;
mod plan;
mod reference;
mod search;
mod seen;
mod spell;
mod text;
mod verdict;
mod way;

pub use anatomy::{Anatomy, InFormat};
pub use answer::{Answer, Evaluated, SeenAnswer, StepText, answer};
pub use arrays::{ArrayAnswer, ArrayGroup, ArraySeen, Bits, Column, Example, Question, Values, answer_arrays};
pub use cases::{CASES, Case};
pub use explain::{Component, Counterpart, Explained, Neighbour, Number, OperandText, Picture, explain};
pub use expr::{Expr, ExprError, Typed, names_in, parse_expr, parse_typed};
pub use kernel::{
    BufferDifferences, ChangeText, Computation, Element, Experiment, Freedom, KernelAnswer, KernelComparison,
    KernelPair, Nearest, Observation, Parted, Parting, PolicyText, SeenArray, SeenKernel, SharedBuffer, Thread, Worked,
    answer_kernel, compare_kernels,
};
pub use plan::{Plan, PlanOp, Ref};
pub use reference::{Trial, TrialAnswer};
pub use search::{Explanation, MAX_WAYS, Options, Space, parting, ulps};
pub use seen::Seen;
pub use spell::{Spelling, spell};
pub use text::{Line, Role, wrap};
pub use verdict::Verdict;
pub use way::{Departure, Step, Way, Width};
