//! The question on whole arrays: which evaluation explains most elements, and what explains the rest.
//!
//! Reading order: [`Column`] (a name's values), [`Question`], `evaluate.rs` (an evaluation over many elements), `sums.rs`
//! (sums over an axis), this file (the answer), `text.rs` (its sentences). Which candidates explain which elements is
//! `roundonce-deviate`'s cover.

mod column;
mod evaluate;
mod question;
mod sums;
mod text;

use std::ops::Range;

use roundonce_arith::{Elements, Format, Profile, Rounding};
use roundonce_deviate::cover::{Cover, Group, Matcher, NanMatch, Preference, Search, cover};
use roundonce_deviate::{Deviation, Typed};
use roundonce_isa::{convert, hex_bits, shortest_decimal};
use serde::Serialize;

pub use column::{Bits, Column};
pub(crate) use evaluate::{BLOCK, Runner};
pub use question::{Question, Values};
use sums::{Sum, SumEvaluation};

use crate::answer::{EvaluationText, describe};
use crate::evaluation::Evaluation;
use crate::search::{Options, evaluations, plans, rare_evaluations, ulps};
use crate::verdict::Outcome;

/// Elements looked at to say what their inputs have in common.
const LOOKED_AT: usize = 4096;

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
    pub seen: Vec<ObservedArray>,
}

/// What one seen array comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedArray {
    /// Its name.
    pub saw: String,
    /// Whether one evaluation explains every element, groups of them have one each, more than one explain every element,
    /// or some have none.
    pub outcome: Outcome,
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
    /// How the evaluation deviates from the expression as written.
    #[serde(rename = "departures")]
    pub deviations: Vec<Deviation>,
    /// The same in words.
    pub sentence: String,
    /// Other evaluations, as simple, that explain the same elements.
    pub alternatives: Vec<String>,
    /// What all their inputs have in common, if there is something.
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
    pub evaluated: Option<EvaluationText>,
}

/// The first candidate.
const AS_WRITTEN: usize = 0;

/// A class of bits of a format.
type Class = fn(&Format, u64) -> bool;

/// Groups, beyond which the rest is left unexplained: more would not be read.
const MAX_GROUPS: usize = 8;

/// What the candidates are.
enum Candidates {
    /// Evaluations in the usual modes, then rare ones.
    Evaluations {
        all: Vec<Evaluation>,
        usual: usize,
    },
    Sums(Vec<SumEvaluation>),
}

impl Candidates {
    fn deviations(&self, question: &Question) -> Vec<Vec<Deviation>> {
        match self {
            Candidates::Evaluations { all, .. } => all.iter().map(Evaluation::deviations).collect(),
            Candidates::Sums(all) => all.iter().map(|evaluation| evaluation.deviations(&question.expr)).collect(),
        }
    }

    /// Those that are considered first, and all.
    fn tiers(&self) -> Vec<Range<usize>> {
        match self {
            Candidates::Evaluations { all, usual } => vec![0..*usual, 0..all.len()],
            Candidates::Sums(all) => std::iter::once(0..all.len()).collect(),
        }
    }
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
            Candidates::Evaluations { all, .. } => {
                let mut runner = Runner::new(&all[candidate], &self.question.columns, self.profile);
                for block in elements.chunks(BLOCK) {
                    for (&element, &bits) in block.iter().zip(runner.run(block)) {
                        give(element, store(bits));
                    }
                    (self.progress)(block.len() as u64);
                }
            }
            Candidates::Sums(all) => {
                let Some(sum) = self.question.sum() else { return };
                for &element in elements {
                    give(element, store(sum.result(&all[candidate], element, self.profile)));
                    (self.progress)(sum.length as u64);
                }
            }
        }
    }
}

impl Matcher for Comparison<'_> {
    fn matches(&mut self, candidate: usize, elements: &[usize], nan: NanMatch) -> Vec<bool> {
        let seen = self.seen;
        let any_nan = nan == NanMatch::Any || self.any_nan;
        let model = match self.candidates {
            Candidates::Evaluations { all, .. } => Some(all[candidate].model()),
            Candidates::Sums(_) => None,
        };
        let mut matches = Vec::with_capacity(elements.len());
        self.results(candidate, elements, |element, bits| {
            let saw = seen.at(element).bits;
            let is_accepted = model.map_or(bits == saw, |model| model.accepts(seen.format, bits, saw));
            matches.push(is_accepted || any_nan && seen.format.is_nan(bits) && seen.format.is_nan(saw));
        });
        matches
    }
}

impl Question {
    fn candidates(&self, options: Options) -> Result<Candidates, String> {
        if self.sum.is_some() {
            return Ok(Candidates::Sums(sums::evaluations(&self.expr)));
        }
        let plans = plans(&self.expr, options)?;
        let mut all = evaluations(&plans);
        let usual = all.len();
        // NaNs of other bits are a group of their own.
        all.extend(rare_evaluations(&plans).into_iter().filter(|it| !it.modes.contains(&Deviation::OtherNan)));
        Ok(Candidates::Evaluations { all, usual })
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
        Ok(Values { column: Column { format: seen.format, bits: Bits::Each(Elements::U64(bits)) }, shape })
    }
}

/// Finds, for each seen array, the evaluations behind its elements. `progress` receives how many elements of one
/// candidate were done.
///
/// # Errors
/// If the expression has too many evaluations, or a seen array's shape is not the result's.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::{Elements, Format, Profile};
/// use roundonce_why::{Bits, Column, Options, Question, Values, answer_arrays};
/// let array = |bits: [u32; 2]| Values {
///     column: Column { format: Format::F32, bits: Bits::Each(Elements::U32(bits.to_vec())) },
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
    let deviations = candidates.deviations(question);
    let mut compared = 0;
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
        let (found, tried) = comparison.cover(&deviations, elements);
        compared = compared.max(tried);
        answers.push(comparison.answer(name, &deviations, &found));
    }
    Ok(ArrayAnswer {
        expression: question.text(),
        ty: question.format().name().unwrap_or("?").to_owned(),
        elements,
        evaluations: compared,
        seen: answers,
    })
}

impl Comparison<'_> {
    /// What explains the elements, and how many candidates were compared. Rare deviations are considered where the
    /// usual ones leave elements unexplained or in several groups, and believed where that is better with them.
    fn cover(&mut self, deviations: &[Vec<Deviation>], elements: usize) -> (Cover, usize) {
        let search =
            Search { preference: Preference::MostExplained, max_groups: MAX_GROUPS, falls_back_to_any_nan: true };
        let mut best = Cover { groups: Vec::new(), unexplained: (0..elements).collect() };
        let mut tried = 0;
        let rest = |cover: &Cover| (cover.unexplained.len(), cover.groups.len());
        for tier in self.candidates.tiers() {
            tried = tier.len();
            let found = cover(&deviations[tier], elements, search, self);
            if best.groups.is_empty() || rest(&found) < rest(&best) {
                best = found;
            }
            if best.unexplained.is_empty() && best.groups.len() <= 1 {
                break;
            }
        }
        (best, tried)
    }

    fn answer(&mut self, name: &str, deviations: &[Vec<Deviation>], found: &Cover) -> ObservedArray {
        let groups: Vec<ArrayGroup> = found.groups.iter().map(|group| self.group(deviations, group)).collect();
        ObservedArray {
            saw: name.to_owned(),
            outcome: match groups.as_slice() {
                _ if !found.unexplained.is_empty() => Outcome::None,
                [only] if only.alternatives.is_empty() => Outcome::One,
                [_] => Outcome::Ambiguous,
                _ => Outcome::Several,
            },
            groups,
            unexplained: found.unexplained.len(),
            first_unexplained: found.unexplained.first().map(|&element| self.example(element, None)),
        }
    }

    fn group(&mut self, deviations: &[Vec<Deviation>], group: &Group) -> ArrayGroup {
        let with_nan = |candidate: usize| {
            let nan = (group.nan == NanMatch::Any).then_some(Deviation::OtherNan);
            deviations[candidate].iter().cloned().chain(nan).collect::<Vec<Deviation>>()
        };
        let (simplest, others) = (group.candidates[0], &group.candidates[1..]);
        let shown = self.first_shown(&group.elements);
        ArrayGroup {
            count: group.elements.len(),
            deviations: with_nan(simplest),
            sentence: describe(&with_nan(simplest)),
            alternatives: others.iter().map(|&other| describe(&with_nan(other))).collect(),
            inputs: self.in_common(&group.elements),
            example: self.example(shown, Some(simplest)),
        }
    }

    /// The first element that is not what the expression as written gives, NaNs' bits apart; the first one, if all are.
    fn first_shown(&mut self, elements: &[usize]) -> usize {
        let shown = elements.chunks(LOOKED_AT).find_map(|block| {
            let as_written = self.matches(AS_WRITTEN, block, NanMatch::Any);
            block.iter().zip(as_written).find_map(|(&element, same)| (!same).then_some(element))
        });
        shown.unwrap_or(elements[0])
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
            (Candidates::Evaluations { all, .. }, Some(candidate)) => {
                let mut evaluation = all[candidate].clone();
                for (leaf, name) in &mut evaluation.plan.leaves {
                    *leaf = self.question.columns.get(name).map_or(*leaf, |column| column.at(element));
                }
                Some(EvaluationText::of(&evaluation, self.profile))
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
