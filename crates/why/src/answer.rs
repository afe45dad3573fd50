//! The answer to "these values differ: which evaluation gives each?", as data and as sentences.

use roundonce_arith::{Format, Profile};
use roundonce_deviate::{Deviation, Scope, Typed};
use roundonce_isa::{grouped, hex_bits, shortest_decimal};
use serde::Serialize;

use crate::evaluation::{Evaluation, Step};
use crate::expr::Expr;
use crate::observed::ObservedValue;
use crate::search::{CandidateSet, Explanation, Options, first_difference, ulps};
use crate::spell::{Spelling, result_name, spell, step_text};
use crate::text::{Line, Role, wrap};
use crate::verdict::Outcome;

/// How many explanations of one value are listed in text; the data has all.
const LISTED: usize = 4;
/// Columns of a line of an answer.
pub const COLUMNS: usize = 80;

/// Everything found out about an expression and the values seen.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The expression, as read.
    pub expression: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// How many evaluations were compared.
    pub evaluations: usize,
    /// The expression as written, to nearest even.
    pub as_written: EvaluationText,
    /// What each seen value comes from.
    pub seen: Vec<ObservedAnswer>,
    /// One sentence about the cause, then where the evaluations of the first two values differ.
    pub cause: Vec<String>,
}

/// What one seen value comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedAnswer {
    /// The value as given.
    pub saw: String,
    /// One evaluation gives it, several do, or none.
    pub outcome: Outcome,
    /// The evaluations that give it, simplest first.
    pub explanations: Vec<EvaluationText>,
    /// Where none does: the nearest one, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// An evaluation as a reader sees it.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluationText {
    /// How it deviates from the expression as written.
    #[serde(rename = "departures")]
    pub deviations: Vec<Deviation>,
    /// The same in words.
    pub sentence: String,
    /// Its result.
    pub bits: String,
    /// Its result as a number.
    pub value: String,
    /// Its operations, in order.
    pub steps: Vec<StepText>,
    /// What to write to get it.
    pub write: Spelling,
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
}

/// Finds the evaluations behind the seen values.
///
/// # Errors
/// If the expression has too many evaluations.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::Profile;
/// use roundonce_why::{Options, ObservedValue, answer, parse_expr, parse_typed};
/// let names = [("a", "1e20f"), ("b", "-1e20f"), ("x", "1e10f")]
///     .map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
/// let expr = parse_expr("a*x+b*x", &BTreeMap::from(names)).unwrap();
/// let seen = [ObservedValue::parse("4.993411122843311e+21").unwrap(), ObservedValue::parse("0").unwrap()];
/// let answer = answer(&expr, &seen, Options::default(), &Profile::NVIDIA).unwrap();
/// assert!(answer.cause[0].contains("fuses `a * x` into the sum"), "{:?}", answer.cause);
/// ```
pub fn answer(expr: &Expr, seen: &[ObservedValue], options: Options, profile: &Profile) -> Result<Answer, String> {
    let candidates = CandidateSet::of(expr, options, profile)?;
    let format = candidates.format();
    let found: Vec<Vec<&Explanation>> = seen.iter().map(|seen| candidates.explain(seen)).collect();
    let seen_answers = seen.iter().zip(&found).map(|(seen, found)| {
        let nearest = found.is_empty().then(|| nearest(&candidates, format, seen)).flatten();
        ObservedAnswer {
            saw: seen.text.clone(),
            outcome: Outcome::of(found.len()),
            explanations: found
                .iter()
                .map(|explanation| EvaluationText::of(&explanation.evaluation, profile))
                .collect(),
            nearest,
        }
    });
    let plain = candidates.as_written();
    Ok(Answer {
        expression: expr.to_string(),
        ty: format.name().unwrap_or("?").to_owned(),
        evaluations: candidates.len(),
        as_written: EvaluationText::of(&plain.evaluation, profile),
        seen: seen_answers.collect(),
        cause: cause(seen, &found, profile),
    })
}

fn nearest(candidates: &CandidateSet, format: Format, seen: &ObservedValue) -> Option<String> {
    let (explanation, distance) = candidates.nearest(format, seen.bits(format)?)?;
    let sentence = describe(&explanation.deviations);
    Some(format!("the nearest, {} away, {sentence}", count_ulps(distance)))
}

fn count_ulps(distance: u64) -> String {
    if distance == 1 { "1 ulp".to_owned() } else { format!("{} ulps", grouped(distance)) }
}

/// What an evaluation does, as the predicate of a sentence.
pub(crate) fn describe(deviations: &[Deviation]) -> String {
    if deviations.is_empty() {
        return "rounds every operation as written, to nearest even".to_owned();
    }
    let clauses: Vec<String> = deviations.iter().map(|deviation| deviation.text(Scope::Expression)).collect();
    match clauses.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// One sentence for each value's simplest explanation, then how far the first two are apart and where they first differ.
fn cause(seen: &[ObservedValue], found: &[Vec<&Explanation>], profile: &Profile) -> Vec<String> {
    let explained: Vec<(&ObservedValue, &Explanation)> =
        seen.iter().zip(found).filter_map(|(seen, found)| Some((seen, *found.first()?))).collect();
    let clauses: Vec<String> =
        explained.iter().map(|(seen, found)| format!("{} {}", seen.text, describe(&found.deviations))).collect();
    let mut sentences = Vec::new();
    if !clauses.is_empty() {
        sentences.push(format!("The evaluation behind {}.", clauses.join("; the one behind ")));
    }
    if let [(_, one), (_, other), ..] = explained[..] {
        sentences.extend(difference(one, other, profile));
    }
    sentences
}

/// How far two results are apart, and the first operation in which their evaluations differ.
fn difference(one: &Explanation, other: &Explanation, profile: &Profile) -> Vec<String> {
    let format = one.result.format;
    let mut sentences = Vec::new();
    if let Some(distance) = ulps(format, one.result.bits, other.result.bits) {
        sentences.push(match distance {
            0 => format!("Both are the same {} value.", format.name().unwrap_or("")),
            _ => format!("They lie {} apart in {}.", count_ulps(distance), format.name().unwrap_or("")),
        });
    }
    let (one_steps, other_steps) = (one.evaluation.trace(profile).1, other.evaluation.trace(profile).1);
    if let Some((a, b)) = first_difference(&one_steps, &other_steps) {
        sentences.push(format!(
            "They first differ where the first computes {} and the second {}.",
            step_sentence(&one.evaluation, a),
            step_sentence(&other.evaluation, b)
        ));
    }
    sentences
}

fn step_sentence(evaluation: &Evaluation, step: &Step) -> String {
    let format = step.operation.format;
    let rounded = if step.inexact { "rounded to" } else { "exactly" };
    format!(
        "{} = {} {} ({rounded} {} bits)",
        step_text(evaluation, &step.operation, &step.operands),
        hex_bits(format.width(), step.result),
        shortest_decimal(format, step.result),
        format.precision(),
    )
}

impl EvaluationText {
    pub(crate) fn of(evaluation: &Evaluation, profile: &Profile) -> EvaluationText {
        let (result, steps) = evaluation.trace(profile);
        let step = |(index, step): (usize, &Step)| {
            let Typed { format, bits } =
                step.narrowed.unwrap_or(Typed { format: step.operation.format, bits: step.result });
            let [operands_flushed, result_flushed] = step.flushed;
            let mut operation = step_text(evaluation, &step.operation, &step.operands);
            operation.push_str(if operands_flushed { ", operands flushed" } else { "" });
            if step.narrowed.is_some() {
                operation.push_str(&format!(", then to {}", format.name().unwrap_or("?")));
            }
            operation.push_str(if result_flushed { ", then flushed" } else { "" });
            StepText {
                name: result_name(evaluation, index),
                operation,
                bits: hex_bits(format.width(), bits),
                value: shortest_decimal(format, bits),
                inexact: step.inexact || widened(step) != step.result,
            }
        };
        EvaluationText {
            deviations: evaluation.deviations(),
            sentence: describe(&evaluation.deviations()),
            bits: hex_bits(result.format.width(), result.bits),
            value: shortest_decimal(result.format, result.bits),
            steps: steps.iter().enumerate().map(step).collect(),
            write: spell(evaluation, profile),
        }
    }

    /// The evaluation, its steps, and what to write.
    pub(crate) fn lines(&self, lines: &mut Vec<Line>) {
        for step in &self.steps {
            let inexact = if step.inexact { "rounded" } else { "exact" };
            lines.push(
                Line::of(Role::Faint, format!("      {:<3}= ", step.name))
                    .and(Role::Plain, format!("{:<34} ", step.operation))
                    .and(Role::Faint, format!("{} {} {inexact}", step.bits, step.value)),
            );
        }
        let write = [
            ("PTX", self.write.ptx.join(" ")),
            ("CUDA", self.write.cuda.clone()),
            ("SPIR-V", self.write.spirv.join("; ")),
        ];
        for (language, text) in write.into_iter().filter(|(_, text)| !text.is_empty()) {
            let mut wrapped = wrap(Role::Plain, &text, 14, COLUMNS);
            if let Some(first) = wrapped.first_mut() {
                let text = first.to_string();
                *first = Line::of(Role::Label, format!("      {language:<8}")).and(Role::Plain, text.trim_start());
            }
            lines.extend(wrapped);
        }
    }
}

/// The narrowed result of a step in the wide format again.
fn widened(step: &Step) -> u64 {
    step.narrowed.map_or(step.result, |narrowed| {
        roundonce_isa::convert(narrowed.format, step.operation.format, step.operation.rounding, narrowed.bits).0
    })
}

impl Answer {
    /// Whether every seen value is explained.
    pub fn explained(&self) -> bool {
        self.seen.iter().all(|seen| seen.outcome != Outcome::None)
    }

    /// The answer for a reader: plain sentences first, then the evidence.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::of(Role::Strong, self.expression.clone()).and(
                Role::Faint,
                format!("   in {}, {} evaluations compared", self.ty, grouped(self.evaluations as u64)),
            ),
            Line::default(),
        ];
        for sentence in &self.cause {
            lines.extend(wrap(Role::Plain, sentence, 0, COLUMNS));
        }
        if self.seen.is_empty() {
            lines.extend(wrap(Role::Plain, "As written, every operation rounded to nearest even:", 0, COLUMNS));
            lines.push(Line::of(Role::Strong, format!("  {} {}", self.as_written.bits, self.as_written.value)));
            self.as_written.lines(&mut lines);
        }
        for seen in &self.seen {
            lines.push(Line::default());
            let head = match seen.outcome {
                Outcome::One => "one evaluation gives it".to_owned(),
                Outcome::None => "none: no evaluation gives it".to_owned(),
                _ => format!("ambiguous: {} evaluations give it, simplest first", seen.explanations.len()),
            };
            lines.push(
                Line::of(Role::Label, "saw ").and(Role::Strong, seen.saw.clone()).and(Role::Plain, format!("  {head}")),
            );
            if let Some(nearest) = &seen.nearest {
                lines.extend(wrap(Role::Plain, nearest, 4, COLUMNS));
            }
            for (index, found) in seen.explanations.iter().take(LISTED).enumerate() {
                let mut wrapped = wrap(Role::Strong, &format!("{}. {}", index + 1, found.sentence), 2, COLUMNS);
                lines.append(&mut wrapped);
                // The simplest is worked through; the others are named.
                if index == 0 {
                    found.lines(&mut lines);
                }
            }
            if seen.explanations.len() > LISTED {
                lines.push(Line::of(Role::Faint, format!("  and {} more", seen.explanations.len() - LISTED)));
            }
        }
        lines
    }
}
