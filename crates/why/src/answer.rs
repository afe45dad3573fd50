//! The answer to "these values differ: which evaluation gives each?", as data and as sentences.

use roundonce_arith::{ArithOp, Flags, Format, Operation, Profile, Rounding};
use roundonce_deviate::Typed;
use roundonce_isa::{counted, shortest_decimal};
use serde::Serialize;

use crate::accurate::{MERELY_ACCURATE, MERELY_NARROW, has_narrow_factors};
use crate::advice::{Advice, advice};
use crate::call::Call;
use crate::chance::Neighbourhood;
use crate::evaluation::{Step, first_difference, is_same_fused};
use crate::evaluation_text::{EvaluationText, describe, printed, step_sentence};
use crate::explain::Component;
use crate::expr::Expr;
use crate::observed::ObservedValue;
use crate::plan::{has_long_product, has_product_of_sum, terms_of};
use crate::search::{CandidateSet, Explanation, Found, Options, ulps};
use crate::spell::step_text;
use crate::text::{COLUMNS, Line, Role, wrap};
use crate::untyped::OtherTypes;
use crate::verdict::Outcome;

/// How many explanations of one value are listed in text; the data has all.
const LISTED: usize = 4;
/// The version of the answers' form in JSON.
pub const SCHEMA: u32 = 1;

/// What is said where other orders of a sum were not asked for, and one of them may be it.
pub(crate) const ORDERS_UNTRIED: &str = "the sum was not taken in other orders: --reassociate does";

/// What is said where a product of three factors may be taken in another order.
pub(crate) const PRODUCTS_UNTRIED: &str =
    "products of three factors and more were not taken in other orders, nor multiplied out";

/// What is said where a product of a sum may be multiplied out.
pub(crate) const MULTIPLIED_OUT_UNTRIED: &str =
    "products of sums were not multiplied out, except where the sum has a 1, as in x * (1 + y)";

/// What is said where an evaluation and the same with all products fused give what was seen.
pub(crate) const FUSED_OR_NOT: &str = "fused or not, it is the same here: other inputs can tell";

/// Everything found out about an expression and the values seen.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The version of this form.
    pub schema: u32,
    /// The name that a statement gives what is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The expression, as read.
    pub expression: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Which types literals without one have, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literals: Option<String>,
    /// How many evaluations were compared.
    pub evaluations: usize,
    /// What was not tried, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
    /// The expression as written, to nearest even.
    pub as_written: EvaluationText,
    /// What each seen value comes from.
    pub seen: Vec<ObservedAnswer>,
    /// One sentence about the cause, then where the evaluations of the first two values differ.
    pub cause: Vec<String>,
    /// What to do so that both sides agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// Where the evaluations differ.
    #[serde(skip)]
    place: Option<Place>,
    /// Whether the text names less plausible evaluations, and long code.
    #[serde(skip)]
    verbose: bool,
}

/// Where two evaluations differ: a sentence, and the picture of one of the two operations.
#[derive(Clone, Debug)]
struct Place {
    sentence: String,
    /// The operation, and its aligned significands.
    picture: Vec<Line>,
}

/// What one seen value comes from.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedAnswer {
    /// The value as given.
    pub saw: String,
    /// One evaluation gives it, several do, or none; or what gives it might by accident.
    pub outcome: Outcome,
    /// The chance that a value near to it has an explanation as plausible.
    pub chance: f64,
    /// The values near to it.
    pub nearby: Neighbourhood,
    /// The evaluations say no more than that it is accurate: other formulas that are give it too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merely_accurate: bool,
    /// The evaluations round factors as products of matrices do, and may give it by accident.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merely_narrow: bool,
    /// Its type, where it is another than the result's: the result is rounded to it, to nearest even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_as: Option<&'static str>,
    /// The evaluations of the most plausible class that give it, simplest first.
    pub explanations: Vec<EvaluationText>,
    /// The simplest less plausible evaluation that gives it, which is no cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less_plausible: Option<EvaluationText>,
    /// Where no cause gives it: the simplest evaluation that is arithmetically possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_possible: Option<EvaluationText>,
    /// Where none does: the nearest one, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// Where none is it to all its digits: that the result as written, cut to a whole number, is it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Where none does: that one does if literals have another type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_types: Option<OtherTypes>,
}

impl ObservedAnswer {
    /// Why what gives it may be an accident, beside the chance.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = &'static str> {
        let all = [(self.merely_accurate, MERELY_ACCURATE), (self.merely_narrow, MERELY_NARROW)];
        all.into_iter().filter_map(|(holds, doubt)| holds.then_some(doubt))
    }
}

/// Finds the evaluations behind the seen values.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_arith::Profile;
/// use roundonce_why::{Options, ObservedValue, answer, parse_expr, parse_typed};
/// let names = [("a", "1e20f"), ("b", "-1e20f"), ("x", "1e10f")]
///     .map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
/// let expr = parse_expr("a*x+b*x", &BTreeMap::from(names)).unwrap();
/// let seen = [ObservedValue::parse("4.993411122843311e+21").unwrap(), ObservedValue::parse("0").unwrap()];
/// let answer = answer(&expr, &seen, Options::default(), &Profile::NVIDIA);
/// assert!(answer.cause[0].contains("fuses `a * x` into the sum"), "{:?}", answer.cause);
/// ```
pub fn answer(expr: &Expr, seen: &[ObservedValue], options: Options, profile: &Profile) -> Answer {
    let candidates = CandidateSet::of(expr, options, profile);
    let format = candidates.format();
    let found = explain_apart(&candidates, seen);
    let seen_answers = seen.iter().zip(&found).map(|(seen, found)| {
        let text = |explanation: &Explanation| EvaluationText {
            digits: seen.digits_of(explanation),
            ..EvaluationText::of(&explanation.evaluation, profile)
        };
        let plain = candidates.as_written();
        let is_doubtful = found.explanations.is_empty() || found.is_by_digits;
        let nearest = found.explanations.is_empty().then(|| nearest(&candidates, format, seen, profile)).flatten();
        ObservedAnswer {
            saw: seen.text.clone(),
            outcome: Outcome::of(found.explanations.len(), found.is_weak()),
            chance: found.nearby.chance(),
            nearby: found.nearby,
            merely_accurate: found.is_merely_accurate,
            merely_narrow: found.is_merely_narrow,
            stored_as: seen.stored_as(format).filter(|stored| {
                // What has that type itself is converted to none.
                let is_it = |first: &&&Explanation| first.result.format.name() == Some(*stored);
                plain.evaluation.plan.integer().is_none() && found.explanations.first().filter(is_it).is_none()
            }),
            explanations: found.explanations.iter().map(|explanation| text(explanation)).collect(),
            less_plausible: found.less_plausible.map(text),
            also_possible: found.also_possible.map(text),
            cut: (is_doubtful && seen.is_cut_from(plain.result)).then(|| cut(plain.result, seen)),
            nearest,
            other_types: None,
        }
    });
    let mut untried = candidates.untried();
    if found.iter().any(|found| found.explanations.is_empty() || found.is_weak()) {
        let left_out = [
            (!options.reassociate && terms_of(expr) > 2, ORDERS_UNTRIED),
            (has_product_of_sum(expr), MULTIPLIED_OUT_UNTRIED),
            (has_long_product(expr), PRODUCTS_UNTRIED),
        ];
        untried.extend(left_out.into_iter().filter(|(is_left_out, _)| *is_left_out).map(|(_, what)| what.to_owned()));
    }
    let plain = candidates.as_written();
    let causes: Vec<&Explanation> = found.iter().filter_map(|found| found.explanations.first().copied()).collect();
    let they = if seen.len() == 2 { "They".to_owned() } else { two_of(seen, &found) };
    let place = Place::of(&they, &causes, plain, profile);
    let mut cause: Vec<String> = seen.iter().zip(&found).map(|(seen, found)| clause(seen, found)).collect();
    if let [one, other, ..] = causes[..] {
        cause.extend(distance(&they, one, other, profile));
    }
    cause.extend(place.iter().map(|place| place.sentence.clone()));
    Answer {
        place,
        advice: advice(
            // What libraries of matrices do is switched off nowhere else.
            causes
                .iter()
                .filter(|cause| candidates.is_sum_of_products || !has_narrow_factors(cause))
                .flat_map(|cause| &cause.deviations),
            Some(flushed_cast(&causes, profile).unwrap_or(format)),
            options.toolchain.as_slice(),
        ),
        verbose: options.verbose,
        schema: SCHEMA,
        literals: None,
        name: None,
        expression: expr.to_string(),
        ty: plain.evaluation.plan.type_name().to_owned(),
        evaluations: candidates.len(),
        untried,
        as_written: EvaluationText::of(&plain.evaluation, profile),
        seen: seen_answers.collect(),
        cause,
    }
}

/// The type of a cast whose result an evaluation flushes: options about subnormals of the whole's type are not about it.
fn flushed_cast(causes: &[&Explanation], profile: &Profile) -> Option<Format> {
    let steps = |cause: &&Explanation| cause.evaluation.trace(profile).1.into_iter();
    let is_flushed = |step: &Step| step.call.is_some_and(Call::is_cast) && step.flushed_within[1];
    causes.iter().flat_map(steps).find(is_flushed).map(|step| step.operation.format)
}

/// What gives each value. Two that were seen to differ are not taken for one: of a decimal that names another number than
/// its result, where that is another value that was seen, the number that it names is looked for.
fn explain_apart<'c>(candidates: &'c CandidateSet, seen: &[ObservedValue]) -> Vec<Found<'c>> {
    // Beside a −0 that was seen, `0` is +0.
    let signed = seen.iter().any(|value| value.zero() == Some(true));
    let explain = |value: &ObservedValue| match value.nearest(candidates.format()) {
        Some(positive) if signed && value.zero() == Some(false) => candidates.explain(&positive),
        _ => candidates.explain(value),
    };
    let mut found: Vec<Found<'_>> = seen.iter().map(explain).collect();
    // The results, and the digits that were seen of them where these name another number.
    type Seen = (Typed, Option<usize>);
    let result = |value: &ObservedValue, it: &Explanation| (it.result, value.digits_of(it));
    let first = |(value, found): (&ObservedValue, &Found<'_>)| Some(result(value, found.explanations.first()?));
    let first: Vec<Option<Seen>> = seen.iter().zip(&found).map(first).collect();
    for (value, found) in seen.iter().zip(&mut found) {
        let Some(nearest) = value.nearest(candidates.format()) else { continue };
        let is_another = |it: &&Explanation| {
            let (own, digits) = result(value, it);
            let is_it = |other: &Seen| other.0 == own && other.1.is_none_or(|more| Some(more) > digits);
            digits.is_some() && first.iter().flatten().any(is_it)
        };
        if found.explanations.iter().any(is_another) {
            *found = candidates.explain(&nearest);
        }
    }
    found
}

/// That a result, cut to a whole number, is what was seen.
fn cut(Typed { format, bits }: Typed, seen: &ObservedValue) -> String {
    let value = shortest_decimal(format, bits);
    format!(
        "as written it is {value}, and cut to a whole number {}: so a conversion to an integer does, and a quotient of integers",
        seen.text
    )
}

fn nearest(candidates: &CandidateSet, format: Format, seen: &ObservedValue, profile: &Profile) -> Option<String> {
    let bits = seen.bits(format)?;
    let (explanation, distance) = candidates.nearest(format, bits)?;
    let sentence = describe(&explanation.deviations);
    if distance == 0 && explanation.result.bits != bits {
        return Some(format!("the nearest is the zero of the other sign: what an evaluation gives that {sentence}"));
    }
    if distance == 0 {
        let name = format.name().unwrap_or("the result's type");
        return Some(format!("no {name} prints so: the nearest is what an evaluation gives that {sentence}"));
    }
    if is_far(format, distance) || explanation.evaluation.plan.integer().is_some() {
        let value = EvaluationText::of(&explanation.evaluation, profile).value;
        return Some(format!("the nearest gives {value}: it {sentence}"));
    }
    Some(format!("the nearest, {} away, {sentence}", count_ulps(distance)))
}

pub(crate) fn count_ulps(distance: u64) -> String {
    counted(distance, "ulp")
}

/// Whether so many ulps say little: half a binade or more.
fn is_far(format: Format, ulps: u64) -> bool {
    ulps >= 1 << (format.precision() - 1)
}

/// The difference of two values, and whether it is exact.
fn subtracted(format: Format, a: u64, b: u64, profile: &Profile) -> (u64, bool) {
    let subtract = Operation { negate_addend: true, ..Operation::new(ArithOp::Add, format, Rounding::NearestEven) };
    let outcome = subtract.evaluate(profile, &[a, b]);
    (outcome.bits & format.magnitude_mask(), !outcome.flags.contains(Flags::INEXACT))
}

/// Whether a value is the rounding error of a step that is a product.
fn is_rounding_error(step: &Step, magnitude: u64, profile: &Profile) -> bool {
    let Operation { op, format, rounding, .. } = step.operation;
    let &[a, b] = step.bits.as_slice() else { return false };
    let negated_product = step.operation.negate_product;
    let error =
        Operation { negate_addend: true, negate_product: negated_product, ..Operation::mul_add(format, rounding) };
    let error = error.evaluate(profile, &[a, b, step.result]);
    op == ArithOp::Mul
        && step.call.is_none()
        && !error.flags.contains(Flags::INEXACT)
        && !format.is_zero(magnitude)
        && error.bits & format.magnitude_mask() == magnitude
}

/// What gives a value, in a sentence.
fn clause(seen: &ObservedValue, found: &Found<'_>) -> String {
    let Some(first) = found.explanations.first() else { return format!("No evaluation gives {}.", seen.text) };
    let (is, by) = if found.is_weak() { ("consistent", "with") } else { ("explained", "by") };
    let others = match found.explanations.len() {
        1 => String::new(),
        2 => format!(", or {by} another one"),
        count => format!(", or {by} one of {} others", count - 1),
    };
    let printed = seen.digits_of(first).map_or(String::new(), |digits| {
        let Typed { format, bits } = first.result;
        format!(" ({})", printed(&shortest_decimal(format, bits), digits))
    });
    format!("{} is {is} {by} the evaluation that {}{printed}{others}.", seen.text, describe(&first.deviations))
}

/// The names of the first two values that are explained.
fn two_of(seen: &[ObservedValue], found: &[Found<'_>]) -> String {
    let named = seen.iter().zip(found).filter(|(_, found)| !found.explanations.is_empty());
    named.take(2).map(|(seen, _)| seen.text.as_str()).collect::<Vec<&str>>().join(" and ")
}

/// How far two results are apart.
fn distance(they: &str, one: &Explanation, other: &Explanation, profile: &Profile) -> Option<String> {
    let format = one.result.format;
    if other.result.format != format {
        return None;
    }
    let name = format.name().unwrap_or("");
    let ulps = ulps(format, one.result.bits, other.result.bits)?;
    if ulps == 0 && one.result.bits != other.result.bits {
        return Some(format!("{they} differ in the sign of zero."));
    }
    if ulps == 0 {
        return Some(format!("{they} are the same {name} value, to the digits given."));
    }
    let is_integer = one.evaluation.plan.integer().is_some();
    if !is_far(format, ulps) && !is_integer {
        return Some(format!("{they} lie {} apart in {name}.", count_ulps(ulps)));
    }
    let (difference, is_exact) = subtracted(format, one.result.bits, other.result.bits, profile);
    let is_error = |step: &Step| step.operation.format == format && is_rounding_error(step, difference, profile);
    let (one_steps, other_steps) = (one.evaluation.trace(profile).1, other.evaluation.trace(profile).1);
    let apart = first_difference(&one_steps, &other_steps);
    let product = apart.into_iter().flat_map(|(a, b)| [a, b]).find(|step| is_exact && is_error(step));
    let what = if product.is_some() { ": the rounding error of the product" } else { "" };
    let name = if is_integer { String::new() } else { format!(" in {name}") };
    Some(format!("{they} differ by {}{name}{what}.", shortest_decimal(format, difference)))
}

impl Place {
    /// The first operations in which the evaluations of the first two values differ, or of one and the expression as
    /// written; and the picture of the one that is fused, else of one that is rounded.
    fn of(names: &str, explained: &[&Explanation], as_written: &Explanation, profile: &Profile) -> Option<Place> {
        let (one, other) = match *explained {
            [] => return None,
            [one] => (one, as_written),
            [one, other, ..] => (one, other),
        };
        let (one_steps, other_steps) = (one.evaluation.trace(profile).1, other.evaluation.trace(profile).1);
        let (a, b) = first_difference(&one_steps, &other_steps)?;
        let steps = [(one, a), (other, b)];
        let [one, other] = steps.map(|(found, step)| step_sentence(&found.evaluation, step));
        let sentence = if explained.len() == 1 {
            format!("It first differs from what is written where it computes {one} in place of {other}.")
        } else {
            format!("{names} first differ where the first computes {one} and the second {other}.")
        };
        let is_fused = |(_, step): &&(&Explanation, &Step)| step.operation.op == ArithOp::MulAdd;
        let is_drawn = |(_, step): &&(&Explanation, &Step)| step.inexact && step.call.is_none() && step.x87.is_none();
        let shown = steps.iter().find(is_fused).or_else(|| steps.iter().find(is_drawn));
        let picture = shown.map_or_else(Vec::new, |(found, step)| {
            let mut lines = Vec::new();
            Component::of(&step.operation, false, &step.bits, profile).picture_lines(step.operation.op, &mut lines);
            let operation = step_text(&found.evaluation, step);
            if !lines.is_empty() {
                lines.insert(0, Line::of(Role::Faint, format!("  {operation}")));
            }
            lines
        });
        Some(Place { sentence, picture })
    }
}

impl Answer {
    /// Whether every seen value is explained.
    pub fn explained(&self) -> bool {
        self.seen.iter().all(|seen| seen.outcome != Outcome::None)
    }

    /// The answer for a reader: plain sentences first, then the evidence.
    pub fn lines(&self) -> Vec<Line> {
        let name = self.name.as_ref().map_or(String::new(), |name| format!("{name} = "));
        let mut lines = vec![
            Line::of(Role::Strong, name + &self.expression).and(
                Role::Faint,
                format!("   in {}, {} compared", self.ty, counted(self.evaluations as u64, "evaluation")),
            ),
            Line::default(),
        ];
        lines.extend(self.literals.iter().flat_map(|text| wrap(Role::Plain, text, 0, COLUMNS)));
        let happened = &self.cause[..self.cause.len() - usize::from(self.place.is_some())];
        if !happened.is_empty() {
            lines.push(Line::of(Role::Label, "what happened"));
            lines.extend(happened.iter().flat_map(|text| wrap(Role::Plain, text, 2, COLUMNS)));
        }
        if let Some(place) = &self.place {
            lines.push(Line::default());
            lines.push(Line::of(Role::Label, "where"));
            lines.extend(wrap(Role::Plain, &place.sentence, 2, COLUMNS));
            lines.extend(place.picture.iter().cloned());
        }
        if self.seen.is_empty() {
            lines.extend(wrap(Role::Plain, "As written, every operation rounded to nearest even:", 0, COLUMNS));
            lines.push(Line::of(Role::Strong, format!("  {} {}", self.as_written.bits, self.as_written.value)));
            self.as_written.lines(self.verbose, &mut lines);
        }
        for seen in &self.seen {
            lines.push(Line::default());
            let count = seen.explanations.len();
            let head = match (seen.outcome, count) {
                (Outcome::None, _) => "none: no evaluation gives it".to_owned(),
                (Outcome::Consistent, 1) => "consistent with one evaluation".to_owned(),
                (Outcome::Consistent, _) => format!("consistent with {count} evaluations, simplest first"),
                (_, 1) => "one evaluation gives it".to_owned(),
                _ => format!("ambiguous: {count} evaluations give it, simplest first"),
            };
            lines.push(
                Line::of(Role::Label, "saw ").and(Role::Strong, seen.saw.clone()).and(Role::Plain, format!("  {head}")),
            );
            if count > 0 {
                lines.extend(wrap(Role::Faint, &seen.nearby.sentence(), 4, COLUMNS));
            }
            for doubt in seen.doubts() {
                lines.extend(wrap(Role::Plain, doubt, 4, COLUMNS));
            }
            if let Some(first) = seen.explanations.first()
                && seen.explanations.iter().any(|it| is_same_fused(&first.deviations, &it.deviations))
            {
                lines.push(Line::of(Role::Plain, format!("    {FUSED_OR_NOT}")));
            }
            if let Some(stored) = seen.stored_as.filter(|_| count > 0) {
                let is_held = Format::F32.name() == Some(stored) && self.ty != "f64" || stored == "f64";
                let how = if is_held { "converted" } else { "rounded" };
                let text = format!("the {} result is {how} to {stored}, as what was seen", self.ty);
                lines.extend(wrap(Role::Plain, &text, 4, COLUMNS));
            }
            if let Some(nearest) = &seen.nearest {
                lines.extend(wrap(Role::Plain, nearest, 4, COLUMNS));
            }
            if let Some(cut) = &seen.cut {
                lines.extend(wrap(Role::Plain, cut, 4, COLUMNS));
            }
            if let Some(other) = &seen.other_types {
                lines.extend(wrap(Role::Plain, &other.text(), 4, COLUMNS));
            }
            for (index, found) in seen.explanations.iter().take(LISTED).enumerate() {
                let mut wrapped = wrap(Role::Strong, &format!("{}. {}", index + 1, found.of_seen()), 2, COLUMNS);
                lines.append(&mut wrapped);
                // The simplest is worked through; the others are named.
                if index == 0 {
                    found.lines(self.verbose, &mut lines);
                }
            }
            if let Some(other) = seen.less_plausible.as_ref().filter(|_| self.verbose) {
                lines.extend(wrap(Role::Faint, &format!("less plausible: {}", other.of_seen()), 2, COLUMNS));
            }
            if let Some(possible) = &seen.also_possible {
                let text = format!("also arithmetically possible: {}", possible.of_seen());
                lines.extend(wrap(Role::Faint, &text, 4, COLUMNS));
            }
            if count > LISTED {
                lines.push(Line::of(Role::Faint, format!("  and {} more", count - LISTED)));
            }
        }
        lines.extend(self.untried.iter().flat_map(|text| wrap(Role::Faint, text, 0, COLUMNS)));
        crate::advice::lines(&self.advice, &mut lines);
        lines
    }
}
