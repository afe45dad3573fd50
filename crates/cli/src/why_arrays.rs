//! `why` on arrays: .npy files among the inputs and the seen values.

use std::collections::BTreeMap;
use std::path::Path;

use roundonce::Profile;
use roundonce::arith::Format as Lane;
use roundonce::matrix::tensor_units;
use roundonce::why::diff::files::compare_arrays;
use roundonce::why::{Column, Literal, LiteralTypes, Options, Question, Values, Work, answer_arrays};

use crate::answer_output::Writer;
use crate::argument::Argument;
use crate::array::Array;
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::why::{read_value, split_input, underlined};
use crate::{Ended, Failure, files};

/// An array of floating-point numbers.
pub(crate) fn read(path: &Path) -> Result<Values, Failure> {
    let fault = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
    let Array { header, bytes, .. } = Array::read(path)?;
    let format = match header.element() {
        "f2" => Lane::F16,
        "f4" => Lane::F32,
        "f8" => Lane::F64,
        "V2" => Lane::BF16,
        other => {
            return Err(fault(format!("its elements are {other}: expected f2, f4, f8, or V2 for bf16")));
        }
    };
    if header.fortran {
        return Err(fault("its first axis runs fastest (Fortran order): expected C order".to_owned()));
    }
    let column = Column::of_bytes(format, &bytes).ok_or_else(|| fault("it ends within an element".to_owned()))?;
    Ok(Values { column, shape: header.shape.iter().map(|&length| length as usize).collect() })
}

/// An array, or one value and its literal.
fn values(name: &str, given: &Argument, types: LiteralTypes) -> Result<(Values, Option<Literal>), Failure> {
    if given.is_array() {
        return Ok((read(given.path())?, None));
    }
    let text = given.text()?;
    if Values::is_list(text) {
        let (values, is_untyped) = list(name, text, types, None)?;
        let literal = Literal { is_untyped, ..Literal::typed(values.column.at(0), true) };
        return Ok((values, Some(literal)));
    }
    let literal = read_value(name, text, types)?;
    Ok((Values { column: Column::one(literal.value), shape: Vec::new() }, Some(literal)))
}

/// An array written as a list.
fn list(name: &str, text: &str, types: LiteralTypes, ty: Option<Lane>) -> Result<(Values, bool), Failure> {
    let found = Values::list(text, types, ty).map_err(|problem| Failure::Input(format!("{name}: {problem}")))?;
    if found.0.column.is_empty() { Err(Failure::Input(format!("{name}: an empty list"))) } else { Ok(found) }
}

pub(crate) fn ask(
    expression: &str,
    inputs: &[Argument],
    saw: &[Argument],
    (options, profile): (Options, &Profile),
    types: LiteralTypes,
    picture: Option<&Path>,
    mut writer: Writer<'_>,
) -> Ended {
    picture.map_or(Ok(()), plot::check)?;
    let types = types.beside_arrays();
    let mut names = BTreeMap::new();
    for input in inputs {
        let (name, text) = split_input(input)?;
        if names.insert(name.to_owned(), values(name, &text, types)?).is_some() {
            return Err(Failure::Input(format!("`{name}` is given twice")));
        }
    }
    let is_untyped = |literal: &Option<Literal>| literal.is_some_and(|literal| literal.is_untyped);
    let mut has_untyped = names.values().any(|(_, literal)| is_untyped(literal));
    let question = Question::parse_as(expression, types.values_of(names), types);
    let question = question.map_err(|error| underlined(expression, &error))?;
    let question = question.on_tensor_cores(|| tensor_units(profile));
    let seen = saw.iter().map(|given| {
        let values = if given.is_array() {
            read(given.path())?
        } else if Values::is_list(given.text()?) {
            list("--saw", given.text()?, types, Some(question.format()))?.0
        } else {
            let printed = Column::printed(question.format(), given.text()?);
            let column = printed.map_err(|problem| Failure::Input(format!("--saw: {problem}")))?;
            Values { column, shape: Vec::new() }
        };
        Ok((given.to_string(), values))
    });
    let seen = seen.collect::<Result<Vec<(String, Values)>, Failure>>()?;
    if let Some((name, _)) = seen.iter().find(|(_, values)| values.column.is_empty()) {
        return Err(Failure::Input(format!("{name}: it has no elements: there is nothing to explain")));
    }
    if seen.is_empty() {
        return Err(Failure::Input("there are arrays among the inputs: expected --saw FILE.npy".to_owned()));
    }
    let progress = Progress::new(0);
    let answer = answer_arrays(&question, &seen, options, profile, &mut |work| match work {
        Work::Expected(steps) => progress.expect(steps),
        Work::Done(steps) => progress.advance(steps),
    });
    drop(progress);
    let mut answer = answer.map_err(Failure::Input)?;
    has_untyped |= question.has_untyped();
    answer.literals = has_untyped.then(|| types.sentence());
    if picture.is_some() || writer.has_page() {
        let compared = seen.iter().map(|(name, values)| {
            let written = question.as_written(values, options, profile);
            let title = format!("{expression} as written, and {name}");
            Ok(Comparison { title, differences: compare_arrays(&written, values)? })
        });
        let svg = plot::svg(&compared.collect::<Result<Vec<_>, String>>().map_err(Failure::Input)?)?;
        picture.map_or(Ok(()), |path| files::write(path, svg.as_bytes()))?;
        writer.picture(svg);
    }
    writer.only(&answer, None)
}
