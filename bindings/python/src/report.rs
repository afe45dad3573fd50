//! Answers as lines of text with roles, and as JSON.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use roundonce::answers::{ArrayValue, unused, with_other_literals};
use roundonce::arith::Format;
use roundonce::ptx::{conversions, integer};
use roundonce::spirv::FloatModes;
use roundonce::why::diff::files::compare_arrays;
use roundonce::why::diff::{Budget, Query, compare};
use roundonce::why::{
    Allowed, BitFields, Column, Language, Line, Literal, LiteralTypes, ObservedValue, Options, Problem, Question, Role,
    Untyped, Values, answer_arrays, names_in, toolchain,
};
use roundonce::{Form, Profile, SideProblem, TABLES, sides};
use roundonce_plot::{Comparison, ShareCell, Shares, shares_svg, svg};
use serde::Serialize;

use crate::error;
use crate::evaluate::{Instruction, profile, target, value};

/// Lines of pieces, each with its role; the same as JSON.
pub(crate) type Report = (Vec<Vec<(&'static str, String)>>, String);

pub(crate) fn report(lines: Vec<Line>, data: &impl Serialize) -> PyResult<Report> {
    let pieces = |line: Line| line.0.into_iter().map(|(role, text)| (name(role), text)).collect();
    let json = serde_json::to_string(data).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()));
    Ok((lines.into_iter().map(pieces).collect(), json?))
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Plain => "plain",
        Role::Strong => "strong",
        Role::Label => "label",
        Role::Kept => "kept",
        Role::Dropped => "dropped",
        Role::Faint => "faint",
    }
}

fn values(instruction: &Instruction, operands: &[Vec<u64>]) -> PyResult<Vec<roundonce::Value>> {
    operands.iter().map(|components| value(components, instruction.inner.recipe.components)).collect()
}

/// The pipeline on these operands, step by step.
#[pyfunction]
pub(crate) fn explain(py: Python<'_>, instruction: &Instruction, operands: Vec<Vec<u64>>) -> PyResult<Report> {
    instruction.check_arity(py, operands.len())?;
    let operands = values(instruction, &operands)?;
    let inner = &instruction.inner;
    let explained = roundonce::explain(&instruction.spelling, inner, &operands, &instruction.profile);
    report(explained.lines(inner.recipe.operation.op), &explained)
}

/// Ranges of legal bits, the first, the last and the choice that gives them, for each component; and the modes declared.
type AllowedResults = (String, Vec<Vec<(u64, u64, String)>>);

#[pyfunction]
pub(crate) fn allowed(py: Python<'_>, instruction: &Instruction, operands: Vec<Vec<u64>>) -> PyResult<AllowedResults> {
    instruction.check_arity(py, operands.len())?;
    let operands = values(instruction, &operands)?;
    let sets = roundonce::allowed(&instruction.spelling, &instruction.inner, &operands)
        .map_err(|finding| error::of_finding(py, &finding))?;
    let range = |range: &roundonce::spirv::Range| (range.first, range.last, range.choice.to_string());
    let components = sets.iter().map(|set| set.ranges().iter().map(range).collect()).collect();
    Ok((FloatModes::of_spelling(&instruction.spelling).to_string(), components))
}

/// Units in the last place between two numbers; `None` for a NaN or an unknown format.
#[pyfunction]
pub(crate) fn ulps(format: &str, one: u64, other: u64) -> Option<u64> {
    roundonce::why::ulps(named(format)?, one, other)
}

pub(crate) fn named(format: &str) -> Option<Format> {
    Format::NAMED.iter().find(|(name, _)| *name == format).map(|(_, format)| *format)
}

/// A type of literals by its name.
fn literal_type(py: Python<'_>, name: &str) -> PyResult<Format> {
    named(name).ok_or_else(|| error::whole(py, format!("`{name}` is no type: expected f16, bf16, f32 or f64")))
}

/// What `why` is asked beside the expression and its values.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    reassociate: bool,
    any_nan: bool,
    allow: String,
    toolchain: Option<String>,
    #[pyo3(item("type"))]
    literal_type: Option<String>,
    #[pyo3(item("as"))]
    language: Option<String>,
    profile: Option<String>,
}

impl How {
    fn read(&self, py: Python<'_>) -> PyResult<(Options, LiteralTypes, Profile)> {
        let of = |name: &str, problem: String| error::whole(py, format!("{name}: {problem}"));
        let named = self.toolchain.as_deref().map(toolchain).transpose();
        let options = Options {
            reassociate: self.reassociate,
            any_nan: self.any_nan,
            allow: Allowed::parse(&self.allow).map_err(|problem| of("allow", problem))?,
            toolchain: named.map_err(|problem| of("toolchain", problem))?,
            ..Options::default()
        };
        if self.literal_type.is_some() && self.language.is_some() {
            return Err(error::whole(py, "`type` and `as_` both give literals their types: expected one".to_owned()));
        }
        let language = self.language.as_deref().map(Language::parse).transpose();
        let types = LiteralTypes {
            ty: self.literal_type.as_deref().map(|name| literal_type(py, name)).transpose()?,
            language: language.map_err(|problem| of("as_", problem))?,
            guess: Language::Numpy,
        };
        Ok((options, types, profile(py, self.profile.as_deref(), Profile::NVIDIA)?))
    }
}

/// What is said of each name that does not stand in an expression.
#[pyfunction]
pub(crate) fn unused_names(expression: &str, names: Vec<String>) -> Vec<String> {
    let used = names_in(expression);
    names.iter().filter(|name| !used.contains(name.as_str())).map(|name| unused(name)).collect()
}

/// Which evaluations give the seen values, where no name is an array.
#[pyfunction]
pub(crate) fn why(
    py: Python<'_>,
    expression: &str,
    names: BTreeMap<String, String>,
    saw: Vec<String>,
    how: How,
) -> PyResult<Report> {
    let (options, types, profile) = how.read(py)?;
    let asked = Untyped { expression, result: None, values: &names, types };
    let seen = saw.iter().map(|text| asked.seen(text).map_err(|problem| error::whole(py, format!("saw: {problem}"))));
    let seen = seen.collect::<PyResult<Vec<ObservedValue>>>()?;
    let answered = py.detach(|| asked.answer(&seen, options, &profile));
    let (answer, _) = answered.map_err(|problem| match problem {
        Problem::Value(name, problem) => error::whole(py, format!("{name}: {problem}")),
        Problem::Expression(fault) => error::at(py, expression, fault.at, &fault.message),
    })?;
    report(answer.lines(), &answer)
}

/// One value, or an array: its format, its shape, its bytes.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Text(String),
    Array(String, Vec<usize>, PyBackedBytes),
}

impl Given {
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<Values> {
        Ok(self.literals(py, name, LiteralTypes::default())?.0)
    }

    /// The same where literals have these types, and the literal of a single value.
    fn literals(&self, py: Python<'_>, name: &str, types: LiteralTypes) -> PyResult<(Values, Option<Literal>)> {
        match self {
            Given::Text(text) => {
                let literal = types.read(text).map_err(|problem| error::whole(py, format!("{name}: {problem}")))?;
                Ok((Values { column: Column::one(literal.value), shape: Vec::new() }, Some(literal)))
            }
            Given::Array(format, shape, bytes) => {
                let column = named(format).and_then(|format| Column::of_bytes(format, bytes));
                let column =
                    column.ok_or_else(|| error::whole(py, format!("{name}: no whole elements of {format}")))?;
                Ok((Values { column, shape: shape.clone() }, None))
            }
        }
    }
}

/// The same over arrays; what was seen has names for the report.
#[pyfunction]
pub(crate) fn why_arrays(
    py: Python<'_>,
    expression: &str,
    names: BTreeMap<String, Given>,
    saw: Vec<(String, Given)>,
    how: How,
) -> PyResult<Report> {
    let (options, types, profile) = how.read(py)?;
    let has_numbers = expression.bytes().any(|byte| byte.is_ascii_digit())
        || names.values().any(|given| matches!(given, Given::Text(_)));
    let mut again = Vec::new();
    for (name, given) in names.iter().filter(|_| has_numbers) {
        let value = match given {
            Given::Text(text) => ArrayValue::Written(text),
            given => ArrayValue::Read(given.values(py, name)?),
        };
        again.push((name.as_str(), value));
    }
    let read = names.iter().map(|(name, given)| Ok((name.clone(), given.literals(py, name, types)?)));
    let read = read.collect::<PyResult<BTreeMap<String, (Values, Option<Literal>)>>>()?;
    let is_untyped = |literal: &Option<Literal>| literal.is_some_and(|literal| literal.is_untyped);
    let has_untyped = read.values().any(|(_, literal)| is_untyped(literal));
    let question = Question::parse_as(expression, types.values_of(read), types);
    let question = question.map_err(|fault| error::at(py, expression, fault.at, &fault.message))?;
    let question = question.on_tensor_cores(|| roundonce::matrix::tensor_units(&profile));
    let seen = saw.into_iter().map(|(name, given)| {
        let values = match &given {
            Given::Text(text) => {
                let column = Column::printed(question.format(), text);
                let column = column.map_err(|problem| error::whole(py, format!("{name}: {problem}")))?;
                Values { column, shape: Vec::new() }
            }
            Given::Array(..) => given.values(py, &name)?,
        };
        Ok((name, values))
    });
    let seen = seen.collect::<PyResult<Vec<(String, Values)>>>()?;
    let answer = py.detach(|| answer_arrays(&question, &seen, options, &profile, &mut |_| ()));
    let mut answer = answer.map_err(|problem| error::whole(py, problem))?;
    let has_untyped = has_untyped || question.has_untyped();
    answer.literals = has_untyped.then(|| types.sentence());
    if has_numbers {
        let about = (&question, seen.as_slice(), has_untyped);
        py.detach(|| {
            with_other_literals(&mut answer, about, (expression, again), types, &profile, |question, seen| {
                answer_arrays(question, seen, options, &profile, &mut |_| ()).ok()
            });
        });
    }
    report(answer.lines(), &answer)
}

/// One number taken apart in every format.
#[pyfunction]
pub(crate) fn bits(py: Python<'_>, text: &str) -> PyResult<Report> {
    let (fields, _) = BitFields::parse(text).map_err(|problem| error::whole(py, problem))?;
    report(fields.lines(), &fields)
}

/// Whether two arrays of results are equal, and how they differ.
#[pyfunction]
pub(crate) fn diff_arrays(py: Python<'_>, first: Given, second: Given) -> PyResult<Report> {
    let (first, second) = (first.values(py, "the first")?, second.values(py, "the second")?);
    let differences = py.detach(|| compare_arrays(&first, &second));
    let differences = differences.map_err(|problem| error::whole(py, problem))?;
    report(differences.lines(), &differences)
}

/// A picture, as SVG, of how pairs of arrays differ, a row for each, under its title.
#[pyfunction]
pub(crate) fn plot(py: Python<'_>, pairs: Vec<(String, Given, Given)>) -> PyResult<String> {
    let read = |(title, first, second): (String, Given, Given)| {
        let (first, second) = (first.values(py, "the first")?, second.values(py, "the second")?);
        let differences = py.detach(|| compare_arrays(&first, &second));
        let differences = differences.map_err(|problem| error::whole(py, format!("{title}: {problem}")))?;
        Ok(Comparison { title, differences })
    };
    let comparisons = pairs.into_iter().map(read).collect::<PyResult<Vec<Comparison>>>()?;
    py.detach(|| svg(&comparisons)).map_err(|problem| error::whole(py, problem))
}

/// A picture, as SVG, of the share of elements that something holds for: cells of a place, elements, and those it holds for.
#[pyfunction]
pub(crate) fn plot_shares(
    py: Python<'_>,
    title: String,
    axes: [String; 3],
    cells: Vec<([i128; 2], u64, u64)>,
) -> PyResult<String> {
    let narrow = |number: i128| {
        i32::try_from(number).map_err(|_| error::whole(py, format!("the number {number} takes more than 32 bits")))
    };
    let cell = |([x, y], elements, holding): ([i128; 2], u64, u64)| {
        Ok(ShareCell { at: [narrow(x)?, narrow(y)?], elements, holding })
    };
    let cells = cells.into_iter().map(cell).collect::<PyResult<Vec<ShareCell>>>()?;
    let shares = Shares { title, axes, cells };
    py.detach(|| shares_svg(&shares)).map_err(|problem| error::whole(py, problem))
}

/// Whether two computations are equal on all inputs. `solve` is given a script for an SMT solver and says the name of
/// one that proves it unsatisfiable.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the signature that Python calls")]
pub(crate) fn diff(
    py: Python<'_>,
    texts: [String; 2],
    ty: &str,
    data: BTreeMap<String, Given>,
    tries: Option<u64>,
    nan_bits: bool,
    target: Option<&str>,
    version: Option<&str>,
    profile: Option<&str>,
    solve: Py<PyAny>,
) -> PyResult<Report> {
    let ty = literal_type(py, ty)?;
    let (target, profile) = (self::target(py, target, version)?, self::profile(py, profile, Profile::NVIDIA)?);
    let [first, second] = sides([&texts[0], &texts[1]], ty, &target).map_err(|problem| match problem {
        SideProblem::Instruction(finding) => error::of_finding(py, &finding),
        SideProblem::Expression { text, error } => error::at(py, &text, error.at, &error.message),
        SideProblem::Unlike(message) | SideProblem::Unsupported(message) => error::whole(py, message),
    })?;
    let columns = data.iter().map(|(name, given)| Ok((name.clone(), given.values(py, name)?.column)));
    let columns = columns.collect::<PyResult<BTreeMap<String, Column>>>()?;
    let columns = (!columns.is_empty()).then_some(&columns);
    let budget = Budget { random: tries.unwrap_or(Budget::default().random), nan_bits, ..Budget::default() };
    let compared = py.detach(|| {
        let solve = |query: &Query| {
            Python::attach(|py| solve.call1(py, (query.script.as_str(),)).and_then(|name| name.extract(py)).ok()?)
        };
        compare(&first, &second, columns, budget, &profile, &solve, &|_| ())
    });
    let compared = compared.map_err(|problem| error::whole(py, problem))?;
    report(compared.lines(), &compared)
}

fn row<'py, M>(py: Python<'py>, form: &Form<M>) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("language", form.language.name())?;
    row.set_item("syntax", form.syntax())?;
    row.set_item("operands", form.operands)?;
    row.set_item("gate", form.gate.to_string())?;
    row.set_item("source", form.source)?;
    row.set_item("note", form.note)?;
    row.set_item("spellings", form.spelled().into_iter().map(|(text, _)| text).collect::<Vec<_>>())?;
    Ok(row)
}

/// Every row of every language.
#[pyfunction]
pub(crate) fn forms(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let floats = TABLES.into_iter().flatten().map(|form| row(py, form));
    let others = integer::FORMS.iter().chain(conversions::FORMS).map(|form| row(py, form));
    floats.chain(others).collect()
}
