//! The question on whole arrays: which evaluation explains most elements, and what explains the rest.
//!
//! Reading order: [`Column`] (a name's values), `evaluate.rs` (a way over many elements), `sums.rs` (sums over an axis),
//! `cover.rs` (which candidates explain which elements), this file (the answer and its sentences).

mod column;
mod cover;
mod evaluate;
mod sums;

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile, Rounding};
use roundonce_isa::{convert, grouped, hex_bits, shortest_decimal};
use serde::Serialize;

pub use column::{Bits, Column};
use cover::{Cover, Group, Judge, cover};
pub(crate) use evaluate::{BLOCK, Runner};
use sums::{Sum, SumWay};

use crate::answer::{COLUMNS, Evaluated, describe};
use crate::expr::{Expr, ExprError, Typed, parse_expr};
use crate::search::{Options, ulps, ways};
use crate::text::{Line, Role, wrap};
use crate::way::{Departure, Way};

/// Elements looked at to say what their inputs have in common.
const LOOKED_AT: usize = 4096;

/// An array: its values and its shape, the last axis running fastest. One value for all has no axes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// The values.
    pub column: Column,
    /// The lengths of its axes.
    pub shape: Vec<usize>,
}

/// An expression over arrays of one shape, or a sum of one over an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    expr: Expr,
    columns: BTreeMap<String, Column>,
    shape: Vec<usize>,
    /// The axis summed over; all of them, if it has no number.
    sum: Option<Option<usize>>,
}

impl Question {
    /// Reads `a*x + y`, `sum(a*b)`, `sum(a*b, 1)`, with the names' values. Single values serve every element.
    ///
    /// # Errors
    /// The byte of the text at fault, and what is wrong there: also where shapes differ.
    pub fn parse(text: &str, names: BTreeMap<String, Values>) -> Result<Question, ExprError> {
        let whole = |message: String| ExprError { at: 0, message };
        let mut shape: Option<(&str, &[usize])> = None;
        for (name, values) in names.iter().filter(|(_, values)| values.column.len().is_some()) {
            match shape {
                None => shape = Some((name, &values.shape)),
                Some((first, known)) if known != values.shape => {
                    let message = format!("`{first}` has the shape {known:?} and `{name}` {:?}", values.shape);
                    return Err(whole(message));
                }
                Some(_) => {}
            }
        }
        let shape = shape.map(|(_, shape)| shape.to_vec()).ok_or_else(|| whole("no name is an array".to_owned()))?;
        let types = names.iter().map(|(name, values)| (name.clone(), values.column.at_any())).collect();
        let (term, sum) = split_sum(text, shape.len())?;
        let expr = parse_expr(&text[term.clone()], &types)
            .map_err(|error| ExprError { at: error.at + term.start, ..error })?;
        let columns = names.into_iter().map(|(name, values)| (name, values.column)).collect();
        Ok(Question { expr, columns, shape, sum })
    }

    /// The expression's type.
    pub fn format(&self) -> Format {
        self.expr.format()
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> Vec<usize> {
        match self.sum {
            None => self.shape.clone(),
            Some(None) => Vec::new(),
            Some(Some(axis)) => [&self.shape[..axis], &self.shape[axis + 1..]].concat(),
        }
    }

    fn text(&self) -> String {
        match self.sum {
            None => self.expr.to_string(),
            Some(None) => format!("sum({})", self.expr),
            Some(Some(axis)) => format!("sum({}, {axis})", self.expr),
        }
    }
}

impl Column {
    /// A value of the column's type: the type is what counts.
    fn at_any(&self) -> Typed {
        match self.bits {
            Bits::One(bits) => Typed { format: self.format, bits },
            _ => Typed { format: self.format, bits: 0 },
        }
    }
}

/// The bytes of the term of `sum(TERM, AXIS)`, and the axis; of the whole text, if it is no sum.
fn split_sum(text: &str, axes: usize) -> Result<(std::ops::Range<usize>, Option<Option<usize>>), ExprError> {
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let Some(inner) = text[start..end].strip_prefix("sum(") else { return Ok((0..text.len(), None)) };
    let first = start + "sum(".len();
    let Some(inner) = inner.strip_suffix(')') else {
        return Err(ExprError { at: end, message: "found the end, expected `)` behind the sum".to_owned() });
    };
    let mut depth = 0usize;
    for (at, character) in inner.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1).ok_or_else(|| ExprError {
                    at: first + at,
                    message: "a sum stands alone: nothing is computed with it".to_owned(),
                })?;
            }
            ',' if depth == 0 => {
                let number = inner[at + 1..].trim();
                let axis = number.parse::<usize>().ok().filter(|axis| *axis < axes);
                let message = || format!("`{number}` is not an axis: the arrays have {axes}, counted from 0");
                let axis = axis.ok_or_else(|| ExprError { at: first + at + 1, message: message() })?;
                return Ok((first..first + at, Some(Some(axis))));
            }
            _ => {}
        }
    }
    Ok((first..first + inner.len(), Some(None)))
}

/// What was found out about the arrays seen.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayAnswer {
    /// The expression, as read.
    pub expression: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// How many results there are.
    pub elements: usize,
    /// How many evaluations were compared.
    pub evaluations: usize,
    /// What each seen array comes from.
    pub seen: Vec<ArraySeen>,
}

/// What one seen array comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ArraySeen {
    /// Its name.
    pub saw: String,
    /// `one`: one evaluation explains every element; `several`: groups of them do; `ambiguous`: more than one explains
    /// every element; `none`: nothing explains some.
    pub outcome: &'static str,
    /// Its elements by what explains them, the evaluation that explains most first.
    pub groups: Vec<ArrayGroup>,
    /// How many elements nothing explains.
    pub unexplained: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unexplained: Option<Example>,
}

/// Elements that one evaluation explains.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayGroup {
    /// How many.
    pub count: usize,
    /// How the evaluation departs from the expression as written.
    pub departures: Vec<Departure>,
    /// The same in words.
    pub sentence: String,
    /// Other evaluations, as simple, that explain the same elements.
    pub alternatives: Vec<String>,
    /// What all their inputs have in common, if it tells something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<&'static str>,
    /// One of them, worked through: the first that differs from the expression as written, if any does.
    pub example: Example,
}

/// One element.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// Its place along each axis.
    pub index: Vec<usize>,
    /// The names' values there; empty for a sum.
    pub inputs: Vec<(String, String)>,
    /// The bits seen.
    pub saw: String,
    /// What the expression as written gives, to nearest even.
    pub as_written: String,
    /// Units in the last place between the two, if neither is a NaN.
    pub ulps: Option<u64>,
    /// The evaluation that explains it, step by step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<Evaluated>,
}

/// The first candidate.
const AS_WRITTEN: usize = 0;

/// A class of bits of a format.
type Class = fn(&Format, u64) -> bool;

/// What the candidates are.
enum Candidates {
    Ways(Vec<Way>),
    Sums(Vec<SumWay>),
}

/// Evaluates candidates at elements and compares them with what was seen.
struct Comparison<'a> {
    question: &'a Question,
    candidates: &'a Candidates,
    seen: &'a Column,
    any_nan: bool,
    profile: &'a Profile,
    progress: &'a mut dyn FnMut(u64),
}

impl Question {
    fn sum(&self) -> Option<Sum<'_>> {
        let axis = self.sum?;
        let (length, stride) = match axis {
            None => (self.shape.iter().product(), 1),
            Some(axis) => (self.shape[axis], self.shape[axis + 1..].iter().product()),
        };
        Some(Sum { term: &self.expr, columns: &self.columns, length, stride })
    }
}

impl Comparison<'_> {
    /// The results of a candidate at elements, in the seen array's format.
    fn results(&mut self, candidate: usize, elements: &[usize], mut give: impl FnMut(usize, u64)) {
        let to = self.seen.format;
        let from = self.question.format();
        let store = |bits| convert(from, to, Rounding::NearestEven, bits).0;
        match self.candidates {
            Candidates::Ways(ways) => {
                let mut runner = Runner::new(&ways[candidate], &self.question.columns, self.profile);
                for block in elements.chunks(BLOCK) {
                    for (&element, &bits) in block.iter().zip(runner.run(block)) {
                        give(element, store(bits));
                    }
                    (self.progress)(block.len() as u64);
                }
            }
            Candidates::Sums(ways) => {
                let Some(sum) = self.question.sum() else { return };
                for &element in elements {
                    give(element, store(sum.result(&ways[candidate], element, self.profile)));
                    (self.progress)(sum.length as u64);
                }
            }
        }
    }
}

impl Judge for Comparison<'_> {
    fn matches(&mut self, candidate: usize, elements: &[usize], any_nan: bool) -> Vec<bool> {
        let seen = self.seen;
        let any_nan = any_nan || self.any_nan;
        let mut matches = Vec::with_capacity(elements.len());
        self.results(candidate, elements, |element, bits| {
            let saw = seen.at(element).bits;
            matches.push(bits == saw || any_nan && seen.format.is_nan(bits) && seen.format.is_nan(saw));
        });
        matches
    }
}

impl Question {
    fn candidates(&self, options: Options) -> Result<Candidates, String> {
        Ok(match self.sum {
            None => Candidates::Ways(ways(&self.expr, options)?),
            Some(_) => Candidates::Sums(sums::ways(&self.expr)),
        })
    }

    /// What the expression as written gives, every operation rounded to nearest even, in the format of a seen array.
    ///
    /// # Errors
    /// As [`answer_arrays`].
    pub fn as_written(&self, seen: &Values, options: Options, profile: &Profile) -> Result<Values, String> {
        let candidates = self.candidates(options)?;
        let (seen, any_nan, progress) = (&seen.column, options.any_nan, &mut |_| ());
        let mut comparison = Comparison { question: self, candidates: &candidates, seen, any_nan, profile, progress };
        let shape = self.result_shape();
        let elements: Vec<usize> = (0..shape.iter().product()).collect();
        let mut bits = Vec::with_capacity(elements.len());
        comparison.results(AS_WRITTEN, &elements, |_, result| bits.push(result));
        Ok(Values { column: Column { format: seen.format, bits: Bits::U64(bits) }, shape })
    }
}

/// Finds, for each seen array, the evaluations behind its elements. `progress` is told how many elements of one
/// candidate were done.
///
/// # Errors
/// If the expression has too many evaluations, or a seen array's shape is not the result's.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::{Format, Profile};
/// use roundonce_why::{Bits, Column, Options, Question, Values, answer_arrays};
/// let array = |bits: [u32; 2]| Values {
///     column: Column { format: Format::F32, bits: Bits::U32(bits.to_vec()) },
///     shape: vec![2],
/// };
/// let names = [("a", [0x3f80_0001; 2]), ("c", [0xbf80_0002, 0])].map(|(name, bits)| (name.to_owned(), array(bits)));
/// let question = Question::parse("a*a+c", BTreeMap::from(names)).unwrap();
/// let seen = [("gpu".to_owned(), array([0x2880_0000, 0x3f80_0002]))];
/// let answer = answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap();
/// assert_eq!(answer.seen[0].groups[0].count, 2);
/// assert!(answer.seen[0].groups[0].sentence.starts_with("fuses `a * a` into the sum"));
/// ```
pub fn answer_arrays(
    question: &Question,
    seen: &[(String, Values)],
    options: Options,
    profile: &Profile,
    progress: &mut dyn FnMut(u64),
) -> Result<ArrayAnswer, String> {
    let candidates = question.candidates(options)?;
    let departures: Vec<Vec<Departure>> = match &candidates {
        Candidates::Ways(ways) => ways.iter().map(Way::departures).collect(),
        Candidates::Sums(ways) => ways.iter().map(|way| way.departures(&question.expr)).collect(),
    };
    let shape = question.result_shape();
    let elements = shape.iter().product();
    let mut answers = Vec::with_capacity(seen.len());
    for (name, values) in seen {
        let one_sum = shape.is_empty() && values.column.len().is_none_or(|length| length == 1);
        if values.shape != shape && !one_sum {
            return Err(format!("`{name}` has the shape {:?}, the result {shape:?}", values.shape));
        }
        let mut comparison = Comparison {
            question,
            candidates: &candidates,
            seen: &values.column,
            any_nan: options.any_nan,
            profile,
            progress,
        };
        let found = cover(&departures, elements, &mut comparison);
        answers.push(comparison.answer(name, &departures, &found));
    }
    Ok(ArrayAnswer {
        expression: question.text(),
        ty: question.format().name().unwrap_or("?").to_owned(),
        elements,
        evaluations: departures.len(),
        seen: answers,
    })
}

impl Comparison<'_> {
    fn answer(&mut self, name: &str, departures: &[Vec<Departure>], found: &Cover) -> ArraySeen {
        let groups: Vec<ArrayGroup> = found.groups.iter().map(|group| self.group(departures, group)).collect();
        ArraySeen {
            saw: name.to_owned(),
            outcome: match groups.as_slice() {
                _ if !found.unexplained.is_empty() => "none",
                [only] if only.alternatives.is_empty() => "one",
                [_] => "ambiguous",
                _ => "several",
            },
            groups,
            unexplained: found.unexplained.len(),
            first_unexplained: found.unexplained.first().map(|&element| self.example(element, None)),
        }
    }

    fn group(&mut self, departures: &[Vec<Departure>], group: &Group) -> ArrayGroup {
        let with_nan = |candidate: usize| {
            let nan = group.any_nan.then_some(Departure::OtherNan);
            departures[candidate].iter().cloned().chain(nan).collect::<Vec<Departure>>()
        };
        let (simplest, others) = (group.candidates[0], &group.candidates[1..]);
        let telling = self.first_telling(&group.elements);
        ArrayGroup {
            count: group.elements.len(),
            departures: with_nan(simplest),
            sentence: describe(&with_nan(simplest)),
            alternatives: others.iter().map(|&other| describe(&with_nan(other))).collect(),
            inputs: self.in_common(&group.elements),
            example: self.example(telling, Some(simplest)),
        }
    }

    /// The first element that is not what the expression as written gives, NaNs' bits apart; the first one, if all are.
    fn first_telling(&mut self, elements: &[usize]) -> usize {
        let telling = elements.chunks(LOOKED_AT).find_map(|block| {
            let as_written = self.matches(AS_WRITTEN, block, true);
            block.iter().zip(as_written).find_map(|(&element, same)| (!same).then_some(element))
        });
        telling.unwrap_or(elements[0])
    }

    /// What the inputs of all these elements have in common.
    fn in_common(&self, elements: &[usize]) -> Option<&'static str> {
        self.question.sum.is_none().then_some(())?;
        let looked_at = &elements[..elements.len().min(LOOKED_AT)];
        let columns: Vec<&Column> = self.question.columns.values().collect();
        let all = |is: Class| {
            looked_at.iter().all(|&element| {
                columns.iter().any(|column| {
                    let value = column.at(element);
                    is(&value.format, value.bits)
                })
            })
        };
        let kinds: [(Class, &'static str); 4] = [
            (|format, bits| format.is_nan(bits), "a NaN is among the inputs of each"),
            (|format, bits| format.is_infinite(bits), "an infinity is among the inputs of each"),
            (|format, bits| format.is_subnormal(bits), "a subnormal is among the inputs of each"),
            (|format, bits| format.is_zero(bits), "a zero is among the inputs of each"),
        ];
        if let Some((_, text)) = kinds.into_iter().find(|(is, _)| all(*is)) {
            return Some(text);
        }
        let tiny = |element: &usize| {
            let bits = self.seen.at(*element).bits;
            self.seen.format.is_subnormal(bits) || self.seen.format.is_zero(bits)
        };
        looked_at.iter().all(tiny).then_some("each result is subnormal or zero")
    }

    fn example(&mut self, element: usize, candidate: Option<usize>) -> Example {
        let format = self.seen.format;
        let saw = self.seen.at(element).bits;
        let mut as_written = 0;
        self.results(AS_WRITTEN, &[element], |_, bits| as_written = bits);
        let value = |bits: u64| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
        let evaluated = match (self.candidates, candidate) {
            (Candidates::Ways(ways), Some(candidate)) => {
                let mut way = ways[candidate].clone();
                for (leaf, name) in &mut way.plan.leaves {
                    *leaf = self.question.columns.get(name).map_or(*leaf, |column| column.at(element));
                }
                Some(Evaluated::of(&way, self.profile))
            }
            _ => None,
        };
        let inputs = match self.question.sum {
            Some(_) => Vec::new(),
            None => self.question.columns.iter().map(|(name, column)| input(name, column.at(element))).collect(),
        };
        Example {
            index: element_index(&self.question.result_shape(), element),
            inputs,
            saw: value(saw),
            as_written: value(as_written),
            ulps: ulps(format, saw, as_written),
            evaluated,
        }
    }
}

fn input(name: &str, value: Typed) -> (String, String) {
    let bits = hex_bits(value.format.width(), value.bits);
    (name.to_owned(), format!("{bits} {}", shortest_decimal(value.format, value.bits)))
}

/// An element's place along each axis.
pub fn element_index(shape: &[usize], mut element: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, length) in index.iter_mut().zip(shape).rev() {
        *place = element % length;
        element /= length;
    }
    index
}

impl ArrayAnswer {
    /// Whether every element of every seen array is explained.
    pub fn explained(&self) -> bool {
        self.seen.iter().all(|seen| seen.unexplained == 0)
    }

    /// The answer for a reader: plain sentences first, then the evidence.
    pub fn lines(&self) -> Vec<Line> {
        let of = |count: usize| format!("{} of {}", grouped(count as u64), grouped(self.elements as u64));
        let about = format!(
            "   in {}, {} elements, {} evaluations compared",
            self.ty,
            grouped(self.elements as u64),
            grouped(self.evaluations as u64)
        );
        let mut lines = vec![Line::of(Role::Strong, self.expression.clone()).and(Role::Faint, about)];
        for seen in &self.seen {
            lines.push(Line::default());
            let main = match seen.groups.first() {
                Some(group) => format!("the evaluation that {} explains {}", group.sentence, of(group.count)),
                None => format!("no evaluation explains any of {} elements", grouped(self.elements as u64)),
            };
            lines.extend(wrap(Role::Strong, &format!("{}: {main}", seen.saw), 0, COLUMNS));
            for (index, group) in seen.groups.iter().enumerate() {
                if index > 0 {
                    lines.push(Line::default());
                    let text = format!("{} more: the evaluation that {}", of(group.count), group.sentence);
                    lines.extend(wrap(Role::Plain, &text, 2, COLUMNS));
                }
                for other in group.alternatives.iter().take(3) {
                    lines.extend(wrap(Role::Plain, &format!("or, just as well: the one that {other}"), 4, COLUMNS));
                }
                if let Some(inputs) = group.inputs {
                    lines.push(Line::of(Role::Faint, format!("    {inputs}")));
                }
                group.example.lines(&mut lines);
            }
            if seen.unexplained > 0 {
                lines.push(Line::default());
                lines.push(Line::of(Role::Strong, format!("  {}: nothing explains them", of(seen.unexplained))));
            }
            if let Some(example) = &seen.first_unexplained {
                example.lines(&mut lines);
            }
        }
        lines
    }
}

impl Example {
    fn lines(&self, lines: &mut Vec<Line>) {
        let index: Vec<String> = self.index.iter().map(usize::to_string).collect();
        let distance = match self.ulps {
            Some(0) => "the same as written".to_owned(),
            Some(ulps) => format!("{} ulp from as written, {}", grouped(ulps), self.as_written),
            None => format!("as written {}", self.as_written),
        };
        let head = Line::of(Role::Label, format!("    such as [{}]: ", index.join(", ")));
        lines.push(head.and(Role::Strong, self.saw.clone()).and(Role::Faint, format!("  ({distance})")));
        for (name, value) in &self.inputs {
            lines.push(Line::of(Role::Faint, format!("      {name} = {value}")));
        }
        if let Some(evaluated) = &self.evaluated {
            evaluated.lines(lines);
        }
    }
}
