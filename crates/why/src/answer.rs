//! The answer to "these values differ: which evaluation gives each?", as data and as sentences.

use roundonce_arith::{Format, Profile};
use roundonce_isa::{grouped, hex_bits, shortest_decimal};
use serde::Serialize;

use crate::expr::{Expr, Typed};
use crate::search::{Explanation, Options, Space, parting, ulps};
use crate::seen::Seen;
use crate::spell::{Spelling, result_name, spell, step_text};
use crate::text::{Line, Role, wrap};
use crate::way::{Departure, Step, Way, Width};

/// How many explanations of one value are listed in text; the data has all.
const LISTED: usize = 4;
/// Columns of the text.
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
    pub as_written: Evaluated,
    /// What each seen value comes from.
    pub seen: Vec<SeenAnswer>,
    /// One sentence about the cause, then where the first two seen values part.
    pub cause: Vec<String>,
}

/// What one seen value comes from.
#[derive(Clone, Debug, Serialize)]
pub struct SeenAnswer {
    /// The value as given.
    pub saw: String,
    /// `one`, `ambiguous` or `none`.
    pub outcome: &'static str,
    /// The evaluations that give it, simplest first.
    pub explanations: Vec<Evaluated>,
    /// Where none does: the nearest one, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// An evaluation as a reader sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluated {
    /// How it departs from the expression as written.
    pub departures: Vec<Departure>,
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
/// use roundonce_why::{Options, Seen, answer, parse_expr, parse_typed};
/// let names = [("a", "1e20f"), ("b", "-1e20f"), ("x", "1e10f")]
///     .map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
/// let expr = parse_expr("a*x+b*x", &BTreeMap::from(names)).unwrap();
/// let seen = [Seen::parse("4.993411122843311e+21").unwrap(), Seen::parse("0").unwrap()];
/// let answer = answer(&expr, &seen, Options::default(), &Profile::NVIDIA).unwrap();
/// assert!(answer.cause[0].contains("fuses `a * x` into the sum"), "{:?}", answer.cause);
/// ```
pub fn answer(expr: &Expr, seen: &[Seen], options: Options, profile: &Profile) -> Result<Answer, String> {
    let space = Space::of(expr, options, profile)?;
    let format = space.format();
    let found: Vec<Vec<&Explanation>> = seen.iter().map(|seen| space.explain(seen)).collect();
    let seen_answers = seen.iter().zip(&found).map(|(seen, found)| {
        let nearest = found.is_empty().then(|| nearest(&space, format, seen)).flatten();
        SeenAnswer {
            saw: seen.text.clone(),
            outcome: match found.len() {
                0 => "none",
                1 => "one",
                _ => "ambiguous",
            },
            explanations: found.iter().map(|explanation| Evaluated::of(&explanation.way, profile)).collect(),
            nearest,
        }
    });
    let plain = space.as_written();
    Ok(Answer {
        expression: expr.to_string(),
        ty: format.name().unwrap_or("?").to_owned(),
        evaluations: space.len(),
        as_written: Evaluated::of(&plain.way, profile),
        seen: seen_answers.collect(),
        cause: cause(seen, &found, profile),
    })
}

fn nearest(space: &Space, format: Format, seen: &Seen) -> Option<String> {
    let (explanation, distance) = space.nearest(format, seen.bits(format)?)?;
    let sentence = describe(&explanation.departures);
    Some(format!("the nearest, {} away, {sentence}", count_ulps(distance)))
}

fn count_ulps(distance: u64) -> String {
    if distance == 1 { "1 ulp".to_owned() } else { format!("{} ulps", grouped(distance)) }
}

/// What an evaluation does, as the predicate of a sentence.
pub(crate) fn describe(departures: &[Departure]) -> String {
    if departures.is_empty() {
        return "rounds every operation as written, to nearest even".to_owned();
    }
    let clauses: Vec<String> = departures
        .iter()
        .map(|departure| match departure {
            Departure::Fused(product) => format!("fuses `{product}` into the sum, which rounds once"),
            Departure::SplitFma => "computes the fma as a product and a sum, which rounds twice".to_owned(),
            Departure::Flush => "flushes subnormals to zero (.ftz)".to_owned(),
            Departure::ZeroDominance => "lets a zero factor make the product +0 (.FMZ)".to_owned(),
            Departure::WideEachOperation(wide) => {
                format!("computes each operation in {wide} and rounds it again (double rounding)")
            }
            Departure::WideWhole(wide) => format!("computes everything in {wide} and rounds the result once more"),
            Departure::Round(rounding) => format!("rounds {}", direction(rounding)),
            Departure::TruncatedProduct => "cuts the product to 24 bits (mad.f32 of sm_1x)".to_owned(),
            Departure::Saturate => "clamps the result to [0, 1] (.sat)".to_owned(),
            Departure::Order(order) => format!("adds in the order {order}"),
            Departure::OtherNan => "gives a NaN of other bits".to_owned(),
        })
        .collect();
    match clauses.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// A direction of rounding (`rz`) as the end of a sentence: "toward zero".
pub fn direction(rounding: &str) -> &'static str {
    match rounding {
        "rz" => "toward zero (.rz)",
        "rm" => "toward -infinity (.rm)",
        "rp" => "toward +infinity (.rp)",
        _ => "to nearest even (.rn)",
    }
}

/// One sentence for each seen value's simplest explanation, then how far the first two lie apart and where they part.
fn cause(seen: &[Seen], found: &[Vec<&Explanation>], profile: &Profile) -> Vec<String> {
    let explained: Vec<(&Seen, &Explanation)> =
        seen.iter().zip(found).filter_map(|(seen, found)| Some((seen, *found.first()?))).collect();
    let clauses: Vec<String> =
        explained.iter().map(|(seen, found)| format!("{} {}", seen.text, describe(&found.departures))).collect();
    let mut sentences = Vec::new();
    if !clauses.is_empty() {
        sentences.push(format!("The evaluation behind {}.", clauses.join("; the one behind ")));
    }
    if let [(_, one), (_, other), ..] = explained[..] {
        sentences.extend(difference(one, other, profile));
    }
    sentences
}

/// How far two results lie apart, and the first operation in which their evaluations do.
fn difference(one: &Explanation, other: &Explanation, profile: &Profile) -> Vec<String> {
    let format = one.result.format;
    let mut sentences = Vec::new();
    if let Some(distance) = ulps(format, one.result.bits, other.result.bits) {
        sentences.push(match distance {
            0 => format!("Both are the same {} value.", format.name().unwrap_or("")),
            _ => format!("They lie {} apart in {}.", count_ulps(distance), format.name().unwrap_or("")),
        });
    }
    let (one_steps, other_steps) = (one.way.trace(profile).1, other.way.trace(profile).1);
    if let Some((a, b)) = parting(&one_steps, &other_steps) {
        sentences.push(format!(
            "They part where the first computes {} and the second {}.",
            step_sentence(&one.way, a),
            step_sentence(&other.way, b)
        ));
    }
    sentences
}

fn step_sentence(way: &Way, step: &Step) -> String {
    let format = step.operation.format;
    let rounded = if step.inexact { "rounded to" } else { "exactly" };
    format!(
        "{} = {} {} ({rounded} {} bits)",
        step_text(way, &step.operation, &step.operands),
        hex_bits(format.width(), step.result),
        shortest_decimal(format, step.result),
        format.precision(),
    )
}

impl Evaluated {
    pub(crate) fn of(way: &Way, profile: &Profile) -> Evaluated {
        let (result, steps) = way.trace(profile);
        let step = |(index, step): (usize, &Step)| {
            let Typed { format, bits } =
                step.narrowed.unwrap_or(Typed { format: step.operation.format, bits: step.result });
            let narrowed = if step.narrowed.is_some() {
                format!(", then to {}", format.name().unwrap_or("?"))
            } else {
                String::new()
            };
            StepText {
                name: result_name(way, index),
                operation: format!("{}{narrowed}", step_text(way, &step.operation, &step.operands)),
                bits: hex_bits(format.width(), bits),
                value: shortest_decimal(format, bits),
                inexact: step.inexact || (way.width != Width::Native && widened(step) != step.result),
            }
        };
        Evaluated {
            departures: way.departures(),
            sentence: describe(&way.departures()),
            bits: hex_bits(result.format.width(), result.bits),
            value: shortest_decimal(result.format, result.bits),
            steps: steps.iter().enumerate().map(step).collect(),
            write: spell(way),
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
        self.seen.iter().all(|seen| seen.outcome != "none")
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
                "one" => "one evaluation gives it".to_owned(),
                "none" => "none: no evaluation gives it".to_owned(),
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
