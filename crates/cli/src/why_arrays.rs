//! `why` on arrays: .npy files among the inputs and the seen values.

use std::path::Path;

use roundonce::Profile;
use roundonce::answers::{self, AboutArrays, ArrayValue, AskedArrays, Noted};
use roundonce::arith::Format as Lane;
use roundonce::why::diff::files::compare_arrays;
use roundonce::why::{Column, LiteralTypes, Options, Values, Work};

use crate::answer_output::Writer;
use crate::argument::Argument;
use crate::array::Array;
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::why::split_input;
use crate::{Ended, Failure, files, output};

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
            let remark = header.remark();
            return Err(fault(format!("its elements are {other}{remark}: expected f2, f4, f8, or V2 for bf16")));
        }
    };
    let column = Column::of_bytes(format, &bytes).ok_or_else(|| fault("it ends within an element".to_owned()))?;
    Ok(Values { column, shape: header.shape.iter().map(|&length| length as usize).collect() })
}

/// What a word of the command line stands for.
fn given(argument: &Argument) -> Result<ArrayValue<'_>, Failure> {
    if argument.is_array() {
        Ok(ArrayValue::Read(read(argument.path())?))
    } else {
        argument.text().map(ArrayValue::Written)
    }
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
    let inputs: Vec<(&str, Argument)> = inputs.iter().map(split_input).collect::<Result<_, _>>()?;
    let values = inputs.iter().map(|(name, value)| Ok((*name, given(value)?)));
    let seen = saw.iter().map(|value| Ok((value.to_string(), given(value)?)));
    let asked = AskedArrays {
        expression,
        inputs: values.collect::<Result<_, Failure>>()?,
        seen: seen.collect::<Result<_, Failure>>()?,
        options,
        types,
    };
    let progress = Progress::new(0);
    let answered = answers::why_arrays(asked, profile, &mut |work| match work {
        Work::Expected(steps) => progress.expect(steps),
        Work::Done(steps) => progress.advance(steps),
    });
    drop(progress);
    let Noted { answer: AboutArrays { answer, question, seen }, notes } = answered?;
    notes.iter().for_each(|note| output::note(note));
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
