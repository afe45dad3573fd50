//! Which evaluations of an expression of arrays give the arrays that were seen.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_why::{ArrayAnswer, Column, Literal, LiteralTypes, Options, Question, Values, Work, answer_arrays};

use super::why::{read_value, underlined};
use super::{NoAnswer, Noted};
use crate::matrix::tensor_units;

/// What a name stands for, or what was seen.
#[derive(Clone, Debug)]
pub enum ArrayValue<'a> {
    /// An array of a file.
    Read(Values),
    /// A value, or a list of values: `[1, 2.5]:f32`.
    Written(&'a str),
}

/// What is asked about an expression of arrays.
#[derive(Clone, Debug)]
pub struct AskedArrays<'a> {
    /// The expression.
    pub expression: &'a str,
    /// What its names stand for.
    pub inputs: Vec<(&'a str, ArrayValue<'a>)>,
    /// What was seen, with the names that the answer has for it.
    pub seen: Vec<(String, ArrayValue<'a>)>,
    /// How it is looked for.
    pub options: Options,
    /// The types of literals without one.
    pub types: LiteralTypes,
}

/// An answer, and what it is about.
#[derive(Clone, Debug)]
pub struct AboutArrays {
    /// The answer.
    pub answer: ArrayAnswer,
    /// The question, as read.
    pub question: Question,
    /// What was seen, as read.
    pub seen: Vec<(String, Values)>,
}

/// The answer. `progress` receives how far it is.
///
/// # Errors
/// If the expression or a value cannot be read, or shapes do not fit.
pub fn why_arrays(
    asked: AskedArrays<'_>,
    profile: &Profile,
    progress: &mut dyn FnMut(Work),
) -> Result<Noted<AboutArrays>, NoAnswer> {
    let (expression, options, types) = (asked.expression, asked.options, asked.types.beside_arrays());
    let (mut names, mut notes) = (BTreeMap::new(), Vec::new());
    let nothing = |name: &str| NoAnswer::Input(format!("{name}: it has no elements: there is nothing to explain"));
    for (name, given) in asked.inputs {
        let values = values(name, given, types, &mut notes)?;
        if values.0.column.is_empty() {
            return Err(nothing(name));
        }
        if names.insert(name.to_owned(), values).is_some() {
            return Err(NoAnswer::Input(format!("`{name}` is given twice")));
        }
    }
    let is_untyped = |literal: &Option<Literal>| literal.is_some_and(|literal| literal.is_untyped);
    let has_untyped = names.values().any(|(_, literal)| is_untyped(literal));
    let question = Question::parse_as(expression, types.values_of(names), types);
    let question = question.map_err(|error| NoAnswer::Input(underlined(expression, &error)))?;
    let question = question.on_tensor_cores(|| tensor_units(profile));
    let seen = asked.seen.into_iter().map(|(name, given)| {
        let values = seen_values(given, types, question.format())?;
        if values.column.is_empty() {
            return Err(nothing(&name));
        }
        Ok((name, values))
    });
    let seen = seen.collect::<Result<Vec<_>, NoAnswer>>()?;
    if seen.is_empty() {
        let message = "there are arrays among the inputs: expected what was seen, --saw FILE.npy or --saw '[1, 2.5]'";
        return Err(NoAnswer::Input(message.to_owned()));
    }
    let mut answer = answer_arrays(&question, &seen, options, profile, progress).map_err(NoAnswer::Input)?;
    answer.literals = (has_untyped || question.has_untyped()).then(|| types.sentence());
    Ok(Noted { answer: AboutArrays { answer, question, seen }, notes })
}

/// What a name stands for; of values that are written, with their literal.
fn values(
    name: &str,
    given: ArrayValue<'_>,
    types: LiteralTypes,
    notes: &mut Vec<String>,
) -> Result<(Values, Option<Literal>), NoAnswer> {
    let text = match given {
        ArrayValue::Read(values) => return Ok((values, None)),
        ArrayValue::Written(text) => text,
    };
    if Values::is_list(text) {
        let (values, is_untyped) = list(name, text, types, None)?;
        let literal = Literal { is_untyped, ..Literal::typed(values.column.at(0), true) };
        return Ok((values, Some(literal)));
    }
    let (literal, note) = read_value(name, text, types)?;
    notes.extend(note);
    Ok((Values { column: Column::one(literal.value), shape: Vec::new() }, Some(literal)))
}

/// What was seen: untyped numbers have the result's format.
fn seen_values(given: ArrayValue<'_>, types: LiteralTypes, format: Format) -> Result<Values, NoAnswer> {
    match given {
        ArrayValue::Read(values) => Ok(values),
        ArrayValue::Written(text) if Values::is_list(text) => Ok(list("--saw", text, types, Some(format))?.0),
        ArrayValue::Written(text) => {
            let printed = Column::printed(format, text);
            let column = printed.map_err(|problem| NoAnswer::Input(format!("--saw: {problem}")))?;
            Ok(Values { column, shape: Vec::new() })
        }
    }
}

/// An array written as a list.
fn list(name: &str, text: &str, types: LiteralTypes, ty: Option<Format>) -> Result<(Values, bool), NoAnswer> {
    let found = Values::list(text, types, ty).map_err(|problem| NoAnswer::Input(format!("{name}: {problem}")))?;
    if found.0.column.is_empty() { Err(NoAnswer::Input(format!("{name}: an empty list"))) } else { Ok(found) }
}
