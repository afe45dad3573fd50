#![doc = include_str!("../README.md")]
//!
//! Reading order: [`Expr`] (what is asked about), `plan.rs` (which operations, in which order, fused where),
//! [`Evaluation`] (a plan and what its operations do otherwise), [`CandidateSet`] (all evaluations, and which of them give
//! an [`ObservedValue`]), [`answer()`] (the sentences); `arrays/` asks the same of whole arrays. [`explain()`] stands
//! beside them: it asks the pipeline itself what it did.
//!
//! What this is not: it knows no program and no engine (`roundonce-why-kernel` does), and no terminal; text comes as
//! [`Line`]s with [`Role`]s. What may be done otherwise is `roundonce-deviate`'s list.

mod accuracy;
mod accurate;
mod advice;
mod answer;
mod approximate;
mod arrays;
mod bit_fields;
mod call;
mod cases;
mod chance;
pub mod diff;
mod evaluation;
mod evaluation_text;
mod explain;
mod expr;
mod integer;
mod literals;
mod observed;
mod parse;
mod plan;
pub mod random;
mod reference;
mod rewrite;
mod search;
mod spell;
mod text;
mod tokens;
mod untyped;
mod verdict;
mod vocabulary;
mod whole;
mod x87;

pub use accuracy::{AccuracyRow, accuracy_rows};
pub use advice::{Advice, Topic, advice, lines as advice_lines, toolchain};
pub use answer::{Answer, ObservedAnswer, SCHEMA, answer};
pub use arrays::{
    ArrayAnswer, ArrayGroup, Bits, Column, Example, ObservedArray, PossibleGroup, Question, TensorUnit, Values, Work,
    answer_arrays, element_index,
};
pub use bit_fields::{BitFields, FormatFields};
pub use call::{Call, Relation};
pub use cases::{CASES, Case};
pub use chance::{
    FARTHEST, Neighbourhood, WEAK, WEAK_BITS, bits_after_choice, bits_of_evidence, chance_of, chance_of_a_match,
    evidence_text, is_beyond_accident,
};
pub use evaluation::{Evaluation, Step, first_difference};
pub use evaluation_text::{Delivered, EvaluationText, StepText};
pub use explain::{
    COLOURS, Component, Counterpart, DotExplained, DotMachine, DotMachines, DotPlace, DotReference, DotStep,
    DotTermText, Explained, Neighbour, Number, OperandText, Picture, explain, explain_dot, flags_text, meaning,
};
pub use expr::{Expr, ExprError, parse_typed};
pub use integer::{IntegerCast, IntegerType, OutOfRange};
pub use literals::{Doubles, Language, Literal, LiteralTypes};
pub use observed::ObservedValue;
pub use parse::{Statements, names_in, parse_expr, parse_statements};
pub use plan::{OpKind, Plan, PlanOp, Ref};
pub use reference::{CaseAnswer, ReferenceReport, ReferenceTest};
pub use roundonce_deviate::{Allowed, Deviation, Plausibility, Typed};
pub use search::{CandidateSet, Explanation, Found, MAX_PLANS, Options, place, ulps};
pub use spell::{Spelling, result_type, spell};
pub use text::{COLUMNS, Line, Role, wrap};
pub use untyped::{OtherTypes, Problem, Untyped};
pub use verdict::{Outcome, Verdict, simplest};
