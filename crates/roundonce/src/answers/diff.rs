//! Two computations.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_why::Column;
use roundonce_why::diff::{Budget, Comparison, Query, Verdict, compare};

use super::NoAnswer;
use super::why::underlined;
use crate::{SideProblem, Target, sides};

/// What is compared, and how.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Expressions or instructions.
    pub texts: [&'a str; 2],
    /// The type of names that no instruction gives one.
    pub ty: Format,
    /// Where the meaning of an instruction depends on it.
    pub target: Target,
    /// What the documents leave open.
    pub profile: &'a Profile,
    /// How much is tried.
    pub budget: Budget,
    /// Values to estimate on how often the two differ.
    pub data: Option<&'a BTreeMap<String, Column>>,
}

/// Whether two computations are bit-equal, or the smallest input that shows otherwise. `solve` gives the name of a solver that
/// proves a query unsatisfiable, `progress` receives how many inputs were compared.
///
/// # Errors
/// If one is no computation, or the two have different results.
pub fn between(
    asked: &Compared<'_>,
    solve: &dyn Fn(&Query) -> Option<String>,
    progress: &dyn Fn(u64),
) -> Result<Comparison, NoAnswer> {
    let [first, second] = sides(asked.texts, asked.ty, &asked.target)?;
    compare(&first, &second, asked.data, asked.budget, asked.profile, solve, progress).map_err(NoAnswer::Input)
}

impl From<SideProblem> for NoAnswer {
    fn from(problem: SideProblem) -> NoAnswer {
        match problem {
            SideProblem::Instruction(finding) => finding.into(),
            SideProblem::Expression { text, error } => NoAnswer::Input(underlined(&text, &error)),
            SideProblem::Unlike(message) => NoAnswer::Input(message),
            SideProblem::Unsupported(message) => NoAnswer::Unsupported(message),
        }
    }
}

/// Whether the two are equal.
///
/// # Errors
/// If that is not decided.
pub fn equal(comparison: &Comparison) -> Result<bool, NoAnswer> {
    match comparison.verdict {
        Verdict::Equal { .. } => Ok(true),
        Verdict::Different { .. } => Ok(false),
        Verdict::Unknown { .. } => Err(NoAnswer::Unsupported(
            "their inputs have too many bits to try them all, and no SMT solver (bitwuzla, cvc5, z3) decided"
                .to_owned(),
        )),
    }
}
