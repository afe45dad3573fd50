//! Answers as data: what the command prints with `--format json`, by `Serialize`, and the lines for a person. The command and
//! the web page take them from here, so that they cannot differ.

mod bits;
mod completions;
mod counterpart;
mod describe;
mod diff;
mod eval;
mod findings;
mod forms;
mod run;
mod translation;
mod why;
mod why_arrays;

pub use bits::bits;
pub use completions::{Completion, completions};
pub use counterpart::{
    AskedExpression, CounterpartAnswer, CounterpartOutcome, RefusalAnswer, Way, is_spelling, translate_expression,
    translate_instruction, undeclared,
};
pub use describe::{Described, describe, literal};
pub use diff::{Compared, between, equal};
pub use eval::{
    Beside, Evaluated, Explanation, eval, explain, inexact_elements, inexact_lines, inexact_number, inexact_numbers,
    inexact_operand,
};
pub use findings::{CheckOptions, Checked, Edit, Row, TextLanguage, Unchecked, located, sentence};
pub use forms::{FormRow, MatrixColumns, form_lines, forms};
pub use run::{DifferingBuffer, RunAnswer, TracedStep};
pub use translation::{TranslatedKernel, TranslatedModule, VerifiedKernel};
pub use why::{Asked, ListedCase, Seen, case, cases, literal_type, unused, why};
pub use why_arrays::{AboutArrays, ArrayValue, AskedArrays, why_arrays, with_other_literals};

use crate::Finding;
use crate::kernel;

/// An answer, and what its reader should know beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted<T> {
    /// The answer.
    pub answer: T,
    /// In sentences: what was rounded before anything was computed, what was assumed.
    pub notes: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// What was asked cannot be read: the command's status 2.
    Input(String),
    /// It is not supported: the command's status 3.
    Unsupported(String),
}

impl From<Finding> for NoAnswer {
    fn from(finding: Finding) -> NoAnswer {
        let mut text = finding.message;
        if !finding.rule.is_empty() {
            text.push_str(&format!("\n  rule: {}", finding.rule));
        }
        if !finding.help.is_empty() {
            text.push_str(&format!("\n  help: {}", finding.help));
        }
        if finding.code == crate::NOT_COMPUTED { NoAnswer::Unsupported(text) } else { NoAnswer::Input(text) }
    }
}

impl NoAnswer {
    /// Why a module of this name and text cannot be run; the text of a binary is empty.
    pub fn refused(file: &str, text: &str, refusal: kernel::Refusal) -> NoAnswer {
        use kernel::Refusal;
        match refusal {
            Refusal::Findings { findings, unsupported: true } => NoAnswer::Unsupported(located(file, text, findings)),
            Refusal::Findings { findings, .. } => NoAnswer::Input(located(file, text, findings)),
            Refusal::Several(names) => {
                NoAnswer::Input(format!("{file}: several kernels, choose with --entry: {}", names.join(", ")))
            }
            Refusal::Usage(problem) => NoAnswer::Input(format!("{file}: {problem}")),
        }
    }
}
