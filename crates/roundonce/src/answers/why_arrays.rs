//! Which evaluations of an expression of arrays give the arrays that were seen.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_why::{
    ArrayAnswer, Column, Literal, LiteralTypes, ObservedArray, Options, OtherTypes, Outcome, Question, Values, Work,
    answer_arrays,
};

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
    let AskedArrays { expression, inputs, options, .. } = asked;
    let types = asked.types.beside_arrays();
    let mut notes = Vec::new();
    // What has no type, or an `f` behind it, may be read again.
    let is_written = |(_, given): &(&str, ArrayValue<'_>)| matches!(given, ArrayValue::Written(_));
    let has_numbers = inputs.iter().any(is_written) || expression.bytes().any(|byte| byte.is_ascii_digit());
    let inputs_again = has_numbers.then(|| inputs.clone());
    let (question, has_untyped) = read(expression, inputs, types, profile, &mut notes)?;
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
    if has_untyped {
        answer.literals = Some(types.sentence());
    }
    if let Some(inputs) = inputs_again {
        let about = (&question, seen.as_slice(), has_untyped);
        with_other_literals(&mut answer, about, (expression, inputs), types, profile, |question, seen| {
            answer_arrays(question, seen, options, profile, progress).ok()
        });
    }
    Ok(Noted { answer: AboutArrays { answer, question, seen }, notes })
}

/// Says of the arrays that an answer does not explain which other types of the literals in the expression explain them.
/// `about` is the question as it was read, what was seen, and whether a literal has no type; `written` the expression and
/// its values.
pub fn with_other_literals(
    answer: &mut ArrayAnswer,
    about: (&Question, &[(String, Values)], bool),
    written: (&str, Vec<(&str, ArrayValue<'_>)>),
    types: LiteralTypes,
    profile: &Profile,
    answer_to: impl FnMut(&Question, &[(String, Values)]) -> Option<ArrayAnswer>,
) {
    let (question, seen, has_untyped) = about;
    let (expression, inputs) = written;
    let read = |expression, types, option| {
        Some((read(expression, inputs.clone(), types, profile, &mut Vec::new()).ok()?.0, option))
    };
    let doubles = types.with_doubles(expression, &types.floats(expression));
    let doubles = doubles.iter().filter_map(|it| read(&it.expression, it.types, it.option.clone()));
    let typed = types.others().filter(|_| has_untyped);
    let others = doubles.chain(typed.filter_map(|(types, option)| read(expression, types, option)));
    with_other_types(answer, (question, seen), others, answer_to);
}

/// The question, and whether a literal of it has no type.
fn read(
    expression: &str,
    inputs: Vec<(&str, ArrayValue<'_>)>,
    types: LiteralTypes,
    profile: &Profile,
    notes: &mut Vec<String>,
) -> Result<(Question, bool), NoAnswer> {
    let mut names = BTreeMap::new();
    for (name, given) in inputs {
        let values = values(name, given, types, notes)?;
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
    let has_untyped = has_untyped || question.has_untyped();
    Ok((question.on_tensor_cores(|| tensor_units(profile)), has_untyped))
}

fn nothing(name: &str) -> NoAnswer {
    NoAnswer::Input(format!("{name}: it has no elements: there is nothing to explain"))
}

/// Says of the arrays that are not explained which other types of the literals explain them, each question tried once.
fn with_other_types(
    answer: &mut ArrayAnswer,
    (asked, seen): (&Question, &[(String, Values)]),
    mut others: impl Iterator<Item = (Question, String)>,
    mut answer_to: impl FnMut(&Question, &[(String, Values)]) -> Option<ArrayAnswer>,
) {
    let mut known: Vec<Question> = Vec::new();
    // Several evaluations for parts of an array may be one with other types, and what may be an accident another cause.
    let is_doubtful = |answered: &ObservedArray| answered.outcome == Outcome::Consistent;
    let is_left = |answered: &ObservedArray| {
        let is_open = answered.unexplained > 0 || answered.groups.len() > 1 || is_doubtful(answered);
        is_open && answered.other_types.is_none()
    };
    while answer.seen.iter().any(is_left) {
        let Some((question, option)) = others.next() else { return };
        if question == *asked || known.contains(&question) {
            continue;
        }
        for (answered, seen) in answer.seen.iter_mut().zip(seen).filter(|(answered, _)| is_left(answered)) {
            let found = answer_to(&question, std::slice::from_ref(seen));
            let is_better = |seen: &ObservedArray| match answered.unexplained {
                0 => seen.groups.len() == 1 && !(is_doubtful(answered) && is_doubtful(seen)),
                _ => true,
            };
            let is_whole = |seen: &ObservedArray| seen.unexplained == 0 && is_better(seen);
            let explained = found.into_iter().flat_map(|found| found.seen).find(is_whole);
            answered.other_types = explained.and_then(|seen| {
                let sentence = seen.groups.first()?.sentence.clone();
                Some(OtherTypes { option: option.clone(), sentence, is_weak: seen.outcome == Outcome::Consistent })
            });
        }
        known.push(question);
    }
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
