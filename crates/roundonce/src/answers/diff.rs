//! Two computations.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_isa::Language;
use roundonce_why::Column;
use roundonce_why::diff::{Budget, Comparison, Query, Verdict, compare};

use super::counterpart::{is_spelling, undeclared};
use super::why::underlined;
use super::{NoAnswer, Noted};
use crate::{SideProblem, Target, calls_second_c, instruction, sides};

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
/// proves a query unsatisfiable, `progress` receives how many inputs were compared. The notes say what is assumed of an
/// instruction that leaves its bits open.
///
/// # Errors
/// If one is no computation, or the two have different results.
pub fn between(
    asked: &Compared<'_>,
    solve: &dyn Fn(&Query) -> Option<String>,
    progress: &dyn Fn(u64),
) -> Result<Noted<Comparison>, NoAnswer> {
    let [first, second] = sides(asked.texts, asked.ty, &asked.target)?;
    let data = asked.data.map(|data| by_column(data, asked));
    let compared = compare(&first, &second, data.as_ref(), asked.budget, asked.profile, solve, progress);
    let answer = compared.map_err(NoAnswer::Input)?;
    let open = |text: &&str| {
        let instruction = is_spelling(text).then(|| instruction(text, &asked.target).ok()).flatten()?;
        let nan = || format!("`{text}` leaves open the bits of a NaN (they are those of NVIDIA's GPUs)");
        let is_open = asked.budget.nan_bits && instruction.form.language == Language::SpirV;
        undeclared(text, &instruction).or_else(|| is_open.then(nan))
    };
    let mut notes: Vec<String> = asked.texts.iter().filter_map(open).collect();
    notes.dedup();
    Ok(Noted { answer, notes })
}

/// The values by the names of columns: a second operand may be given by the name that `forms` has for it.
fn by_column(data: &BTreeMap<String, Column>, asked: &Compared<'_>) -> BTreeMap<String, Column> {
    let mut data = data.clone();
    let calls_c = |text: &&str| {
        is_spelling(text) && instruction(text, &asked.target).is_ok_and(|instruction| calls_second_c(&instruction))
    };
    if !data.contains_key("b")
        && asked.texts.iter().all(calls_c)
        && let Some(column) = data.remove("c")
    {
        data.insert("b".to_owned(), column);
    }
    data
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
