//! Evaluations and their steps as a reader sees them.

use std::collections::BTreeMap;

use roundonce_arith::{Event, Extended, Format, Profile, Tininess};
use roundonce_deviate::{Deviation, NarrowBy, Plausibility, Scope, Typed};
use roundonce_isa::{convert, counted, extended_decimal, hex_bits, shortest_decimal};
use serde::Serialize;

use crate::call::Call;
use crate::evaluation::{Evaluation, Step};
use crate::integer::IntegerType;
use crate::spell::{Spelling, result_name, spell, step_text};
use crate::text::{COLUMNS, Line, Role, wrap};

/// An evaluation as a reader sees it.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluationText {
    /// How it deviates from the expression as written.
    #[serde(rename = "departures")]
    pub deviations: Vec<Deviation>,
    /// The same in words.
    pub sentence: String,
    /// How plausible it is.
    pub plausibility: Plausibility,
    /// Its result's type, where that is not the expression's.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<&'static str>,
    /// Its result.
    pub bits: String,
    /// Its result as a number.
    pub value: String,
    /// How many digits were seen of it, where they name another number of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<usize>,
    /// Its operations, in order.
    pub steps: Vec<StepText>,
    /// What to write to get it.
    pub write: Spelling,
    /// The same as text, by language, of those that have it.
    pub code: BTreeMap<&'static str, String>,
}

/// One operation as a reader sees it.
#[derive(Clone, Debug, Serialize)]
pub struct StepText {
    /// What its result is called.
    pub name: String,
    /// The operation and its operands.
    pub operation: String,
    /// Its result.
    pub bits: String,
    /// Its result as a number.
    pub value: String,
    /// Whether it was rounded.
    pub inexact: bool,
    /// What became of the exact result; absent for a NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Delivered>,
}

/// What became of an operation's exact result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivered {
    /// It is the result.
    Exact,
    /// It was rounded.
    Rounded,
    /// It, or an operand, was subnormal and became zero.
    Flushed,
    /// It was clamped to the operation's range.
    Clamped,
    /// The result is another value than the correctly rounded one, as documents allow.
    Approximated,
    /// The type of integers does not hold it, and the result is what a machine gives then.
    #[serde(rename = "out-of-range")]
    OutOfRange,
}

impl Delivered {
    /// Of a step whose result reads so; `inexact` if it was rounded, in its own type or in the one that it was narrowed to.
    fn of(step: &Step, value: &str, inexact: bool) -> Option<Delivered> {
        if value.ends_with("nan") {
            return None;
        }
        if step.approximated {
            return Some(Delivered::Approximated);
        }
        if let (Some(Call::ToInteger(cast)), [false, _]) = (step.call, step.flushed_within) {
            return cast.delivered(&step.profile, step.bits[0], step.inexact);
        }
        let [mut operand_flushed, mut result_flushed] = step.flushed_within;
        result_flushed |= step.flushed[1];
        let mut clamped = step.stayed_finite;
        if step.call.is_none() && step.x87.is_none() {
            step.operation.evaluate_traced(&step.profile, &step.bits, &mut |event| match event {
                Event::Clamped(_) => clamped = true,
                Event::FlushedResult => result_flushed = true,
                Event::FlushedOperand(_) => operand_flushed = true,
                _ => {}
            });
        }
        Some(match (clamped, result_flushed, inexact, operand_flushed) {
            (true, ..) => Delivered::Clamped,
            (_, true, ..) | (_, _, false, true) => Delivered::Flushed,
            (_, _, true, _) => Delivered::Rounded,
            _ => Delivered::Exact,
        })
    }
    const fn word(self) -> &'static str {
        match self {
            Delivered::Exact => "exact",
            Delivered::Rounded => "rounded",
            Delivered::Flushed => "flushed",
            Delivered::Clamped => "clamped",
            Delivered::Approximated => "approximated",
            Delivered::OutOfRange => "out of range",
        }
    }
}

/// What an evaluation does, as the predicate of a sentence.
pub(crate) fn describe(deviations: &[Deviation]) -> String {
    if deviations.is_empty() {
        return "rounds every operation as written, to nearest even".to_owned();
    }
    // What looks before rounding is no `.ftz`: the two are one mode.
    let is_before = |it: &Deviation| matches!(it, Deviation::FlushResults(Tininess::BeforeRounding));
    let is_flush = |it: &Deviation| matches!(it, Deviation::Flush(_));
    let is_one_mode = deviations.iter().any(is_before) && deviations.iter().any(is_flush);
    let clause = |deviation: &Deviation| match deviation {
        flush if is_one_mode && is_flush(flush) => None,
        before if is_one_mode && is_before(before) => {
            Some("flushes subnormals to zero, results before rounding, as Arm's processors do".to_owned())
        }
        other => Some(other.text(Scope::Expression)),
    };
    let clauses: Vec<String> = deviations.iter().filter_map(clause).collect();
    match clauses.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// That a number was printed with so many digits.
pub(crate) fn printed(value: &str, digits: usize) -> String {
    format!("{value} printed with {}", counted(digits as u64, "digit"))
}

/// An operation and its result, within a sentence.
pub(crate) fn step_sentence(evaluation: &Evaluation, step: &Step) -> String {
    let ([bits, value], precision) = match step.x87 {
        Some(number) => (extended_texts(number), 64),
        None => (texts(step.computed(), step.integer()), step.operation.format.precision()),
    };
    let delivered = match Delivered::of(step, &value, step.inexact) {
        None => String::new(),
        Some(of_integer) if step.integer().is_some() => format!(" ({})", of_integer.word()),
        Some(Delivered::Exact) => format!(" (exactly {precision} bits)"),
        Some(Delivered::Rounded) => format!(" (rounded to {precision} bits)"),
        Some(other) => format!(" ({})", other.word()),
    };
    format!("{} = {bits} {value}{delivered}", step_text(evaluation, step))
}

/// The bits and the decimal of a number, or of an integer of a type.
fn texts(Typed { format, bits }: Typed, integer: Option<IntegerType>) -> [String; 2] {
    let number = || [hex_bits(format.width(), bits), shortest_decimal(format, bits)];
    integer.and_then(|to| to.texts(bits)).unwrap_or_else(number)
}

fn extended_texts(number: Extended) -> [String; 2] {
    [format!("0x{:020x}", number.bits()), extended_decimal(number)]
}

impl EvaluationText {
    pub(crate) fn of(evaluation: &Evaluation, profile: &Profile) -> EvaluationText {
        let (result, steps) = evaluation.trace(profile);
        let last = evaluation.plan.ops.len().saturating_sub(1);
        let is_negated = evaluation.plan.negate_result;
        let step = |(index, step): (usize, &Step)| {
            let [bits, value] = match (step.narrowed, step.x87) {
                (None, Some(number)) => extended_texts(number),
                (narrowed, _) => texts(narrowed.unwrap_or(step.computed()), step.integer()),
            };
            let [operands_flushed, result_flushed] = step.flushed;
            let mut operation = step_text(evaluation, step);
            operation.push_str(if operands_flushed { ", operands flushed" } else { "" });
            if let Some(factors) = step.factors {
                operation.push_str(&format!(", factors in {}", factors.name()));
            }
            if let Some(Typed { format, .. }) = step.narrowed {
                let name = format.name().unwrap_or("?");
                operation.push_str(&match step.narrow_by {
                    Some(NarrowBy::TiesAway) => format!(", then to {name}, ties away"),
                    Some(NarrowBy::Direction(rounding)) if rounding != step.operation.rounding => {
                        format!(", then to {name} by {}", rounding.name())
                    }
                    _ => format!(", then to {name}"),
                });
            }
            operation.push_str(if result_flushed { ", then flushed" } else { "" });
            operation.push_str(if step.stayed_finite { ", kept finite" } else { "" });
            let inexact = step.inexact || is_narrowed_inexactly(step);
            StepText {
                name: if is_negated && index == last { format!("t{last}") } else { result_name(evaluation, index) },
                operation,
                delivered: Delivered::of(step, &value, inexact),
                bits,
                value,
                inexact,
            }
        };
        let [bits, value] = texts(result, evaluation.plan.integer());
        let negated = is_negated.then(|| StepText {
            name: result_name(evaluation, last),
            operation: match steps.is_empty() {
                true => format!("-{}", evaluation.plan.leaves[0].1),
                false => format!("-t{last}"),
            },
            bits: bits.clone(),
            value: value.clone(),
            inexact: false,
            delivered: (!value.ends_with("nan")).then_some(Delivered::Exact),
        });
        let write = spell(evaluation, profile);
        EvaluationText {
            deviations: evaluation.deviations(),
            sentence: describe(&evaluation.deviations()),
            plausibility: evaluation.plausibility(),
            ty: Some(result.format).filter(|own| *own != evaluation.plan.format()).and_then(Format::name),
            bits,
            value,
            digits: None,
            steps: steps.iter().enumerate().map(step).chain(negated).collect(),
            code: write.texts().into_iter().collect(),
            write,
        }
    }

    /// Its sentence, and that its result was printed with fewer digits than tell it from others.
    pub(crate) fn of_seen(&self) -> String {
        let printed = self.digits.map_or(String::new(), |digits| format!(" ({})", printed(&self.value, digits)));
        format!("{}{printed}", self.sentence)
    }

    /// The evaluation, its steps, and what to write: of all languages where that is asked for, else in short.
    pub(crate) fn lines(&self, verbose: bool, lines: &mut Vec<Line>) {
        for step in &self.steps {
            let name = Line::of(Role::Faint, format!("      {:<3}= ", step.name));
            let words = [&step.bits[..], &step.value].into_iter().chain(step.delivered.map(Delivered::word));
            let result = words.collect::<Vec<_>>().join(" ");
            let width = |operation: usize| 11 + operation + 1 + result.chars().count();
            if width(step.operation.chars().count().max(34)) <= COLUMNS {
                lines.push(name.and(Role::Plain, format!("{:<34} ", step.operation)).and(Role::Faint, result));
            } else {
                lines.push(name.and(Role::Plain, step.operation.clone()));
                lines.push(Line::of(Role::Faint, format!("           {result}")));
            }
        }
        for (language, text) in self.write.texts() {
            let language = match language {
                "ptx" => "PTX",
                "cuda" => "CUDA",
                _ => "SPIR-V",
            };
            let mut wrapped = wrap(Role::Plain, &text, 14, COLUMNS);
            if wrapped.len() > 1 && !verbose {
                continue;
            }
            if let Some(first) = wrapped.first_mut() {
                let text = first.to_string();
                *first = Line::of(Role::Label, format!("      {language:<8}")).and(Role::Plain, text.trim_start());
            }
            lines.extend(wrapped);
        }
    }
}

/// Whether the narrowed result of a step is another value than the wide one.
fn is_narrowed_inexactly(step: &Step) -> bool {
    step.narrowed.is_some_and(|Typed { format, bits }| match step.x87 {
        Some(number) => Extended::of(format, bits) != number,
        None => convert(format, step.operation.format, step.operation.rounding, bits).0 != step.result,
    })
}
