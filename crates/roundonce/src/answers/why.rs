//! Which evaluation of an expression gives the values that were seen.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_why::{
    Answer, CASES, Case, ExprError, Literal, LiteralTypes, ObservedValue, Options, Problem, Untyped, names_in,
};
use serde::Serialize;

use super::{NoAnswer, Noted};

/// A value that was seen: of the name that a statement gives a value, or of the result.
pub type Seen<'a> = (Option<&'a str>, &'a str);

/// What is asked about an expression of single values.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The expression.
    pub expression: &'a str,
    /// The values of its names.
    pub inputs: Vec<(&'a str, &'a str)>,
    /// The values that were seen.
    pub seen: Vec<Seen<'a>>,
    /// How it is looked for.
    pub options: Options,
    /// The types of literals without one.
    pub types: LiteralTypes,
}

/// An answer for each name that was seen, the notes about the values once.
///
/// # Errors
/// If the expression or a value cannot be read.
pub fn why(asked: &Asked<'_>, profile: &Profile) -> Result<Noted<Vec<Answer>>, NoAnswer> {
    let mut values = BTreeMap::new();
    for (name, text) in &asked.inputs {
        if values.insert((*name).to_owned(), (*text).to_owned()).is_some() {
            return Err(NoAnswer::Input(format!("`{name}` is given twice")));
        }
    }
    let (expression, options, types) = (asked.expression, asked.options, asked.types);
    let question = |result| Untyped { expression, result, values: &values, types };
    let mut seen: Vec<(Option<&str>, Vec<ObservedValue>)> = Vec::new();
    for (name, text) in &asked.seen {
        let value = question(*name).seen(text).map_err(|problem| NoAnswer::Input(format!("--saw: {problem}")))?;
        match seen.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => seen.push((*name, vec![value])),
        }
    }
    if seen.is_empty() {
        seen.push((None, Vec::new()));
    }
    let mut noted = Noted { answer: Vec::new(), notes: Vec::new() };
    for (index, (name, seen)) in seen.iter().enumerate() {
        let (answer, literals) = question(*name).answer(seen, options, profile).map_err(|problem| match problem {
            Problem::Value(name, problem) => NoAnswer::Input(format!("{name}: {problem}")),
            Problem::Expression(error) => NoAnswer::Input(underlined(expression, &error)),
        })?;
        if index == 0 {
            noted.notes = notes(expression, &values, &literals);
        }
        noted.answer.push(answer);
    }
    Ok(noted)
}

/// Which values were rounded and which names are not used.
fn notes(expression: &str, values: &BTreeMap<String, String>, literals: &BTreeMap<String, Literal>) -> Vec<String> {
    let used = names_in(expression);
    let note = |(name, literal): (&String, &Literal)| match used.contains(name.as_str()) {
        true => inexact(name, &values[name], literal),
        false => Some(unused(name)),
    };
    literals.iter().filter_map(note).collect()
}

/// What is said of a name that something was given for.
pub fn unused(name: &str) -> String {
    format!("`{name}` does not stand in the expression")
}

fn inexact(name: &str, text: &str, literal: &Literal) -> Option<String> {
    // What takes the type of what stands beside it is not yet of a type.
    let is_rounded = !literal.exact && !literal.is_weak;
    let ty = literal.value.format.name().unwrap_or("its type");
    is_rounded.then(|| format!("{name}={text} is not exact in {ty}: rounded once, to nearest even"))
}

/// A value of a name, and what is to be said of it.
pub(super) fn read_value(name: &str, text: &str, types: LiteralTypes) -> Result<(Literal, Option<String>), NoAnswer> {
    let literal = types.read(text).map_err(|problem| NoAnswer::Input(format!("{name}: {problem}")))?;
    Ok((literal, inexact(name, text, &literal)))
}

/// What is wrong with an expression, with its place marked.
pub(super) fn underlined(expression: &str, error: &ExprError) -> String {
    let column = expression[..error.at].chars().count();
    format!("{}\n  {expression}\n  {:column$}^", error.message, "")
}

/// The type of literals of a name.
///
/// # Errors
/// If there is none of that name.
pub fn literal_type(name: &str) -> Result<Format, String> {
    let found = Format::NAMED.iter().find(|(known, _)| *known == name);
    found.map(|(_, format)| *format).ok_or_else(|| format!("`{name}` is no type: expected f16, bf16, f32 or f64"))
}

/// The published case of a name; the first where none is named.
///
/// # Errors
/// If there is none of that name.
pub fn case(name: Option<&str>) -> Result<&'static Case, NoAnswer> {
    let Some(name) = name else { return Ok(&CASES[0]) };
    CASES.iter().find(|case| case.name == name).ok_or_else(|| {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        NoAnswer::Input(format!("there is no case `{name}`: expected one of {}", names.join(", ")))
    })
}

/// A published case and the command that asks about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedCase {
    /// Its name.
    pub name: &'static str,
    /// The public thread.
    pub source: &'static str,
    /// The expression.
    pub expression: &'static str,
    /// What the thread says the cause is.
    pub cause: &'static str,
    /// The command.
    pub command: String,
}

impl From<&Case> for ListedCase {
    fn from(case: &Case) -> ListedCase {
        let Case { name, source, expression, cause, .. } = *case;
        ListedCase { name, source, expression, cause, command: command(case) }
    }
}

/// The published cases.
pub fn cases() -> Vec<ListedCase> {
    CASES.iter().map(ListedCase::from).collect()
}

/// The command that asks about a case.
fn command(case: &Case) -> String {
    let inputs: Vec<String> = case.inputs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let saw: Vec<String> = case.seen.iter().map(|(value, _)| format!("--saw {value}")).collect();
    format!("roundonce why '{}' {} {}", case.expression, inputs.join(" "), saw.join(" "))
}
