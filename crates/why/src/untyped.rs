//! A question as it was typed: its literals may have no type, and another one may be the answer.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_functions::Function;
use serde::Serialize;

use crate::answer::{Answer, ObservedAnswer, answer};
use crate::call::Call;
use crate::evaluation_text::describe;
use crate::expr::{Expr, ExprError};
use crate::literals::{Doubles, Literal, LiteralTypes, is_integer};
use crate::observed::ObservedValue;
use crate::search::{CandidateSet, Options};
use crate::verdict::Outcome;

/// An expression, the names' values as written, and what gives literals their types.
#[derive(Clone, Copy, Debug)]
pub struct Untyped<'a> {
    /// The expression, or statements.
    pub expression: &'a str,
    /// The name that a statement gives a value and that is asked about; the last statement's value, if there is none.
    pub result: Option<&'a str>,
    /// The names' values.
    pub values: &'a BTreeMap<String, String>,
    /// Which types literals without one have.
    pub types: LiteralTypes,
}

/// What is wrong with a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A name's value, and what is wrong with it.
    Value(String, String),
    /// The expression.
    Expression(ExprError),
}

/// That a value is explained where literals, or the result, have another type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OtherTypes {
    /// What gives them this type: an option of the command, or literals or the result written otherwise.
    pub option: String,
    /// The evaluation that then gives the value.
    pub sentence: String,
    /// Whether it is weak evidence.
    pub is_weak: bool,
}

impl OtherTypes {
    pub(crate) fn text(&self) -> String {
        let is = if self.is_weak { "it is consistent with" } else { "it is explained by" };
        format!("with {}, {is} the evaluation that {}", self.option, self.sentence)
    }
}

impl Untyped<'_> {
    /// The names' literals and the expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(&self) -> Result<(BTreeMap<String, Literal>, Expr), Problem> {
        let read = |(name, text): (&String, &String)| match self.types.read(text) {
            Ok(literal) => Ok((name.clone(), literal)),
            Err(message) => Err(Problem::Value(name.clone(), message)),
        };
        let names = self.values.iter().map(read).collect::<Result<BTreeMap<String, Literal>, Problem>>()?;
        let read = self.types.parse_statements(self.expression, &names).map_err(Problem::Expression)?;
        let Some(name) = self.result else { return Ok((names, read.result)) };
        let known: Vec<&str> = read.named.keys().map(String::as_str).collect();
        let message = || match known.as_slice() {
            [] => format!("no statement gives `{name}` a value"),
            known => format!("no statement gives `{name}` a value: expected one of {}", known.join(", ")),
        };
        let expr = read.named.get(name).cloned();
        expr.map(|expr| (names, expr)).ok_or_else(|| Problem::Expression(ExprError { at: 0, message: message() }))
    }

    /// A value that was seen of the result: where that has 16 bits, four hex digits are its.
    ///
    /// # Errors
    /// As [`ObservedValue::parse`].
    pub fn seen(&self, text: &str) -> Result<ObservedValue, String> {
        ObservedValue::parse(text).or_else(|problem| match self.read() {
            Ok((_, expr)) => ObservedValue::parse_of(expr.format(), text),
            Err(_) => Err(problem),
        })
    }

    /// The answer, with the names' literals. A value that no evaluation gives is tried with other types of the literals
    /// that have none.
    ///
    /// # Errors
    /// What is wrong with the question.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use roundonce_arith::Profile;
    /// use roundonce_why::{LiteralTypes, ObservedValue, Options, Untyped};
    /// let values = BTreeMap::from([("x", "0.1"), ("y", "0.3")].map(|(name, text)| (name.to_owned(), text.to_owned())));
    /// let asked = Untyped { expression: "x*y", result: None, values: &values, types: LiteralTypes::default() };
    /// let seen = [ObservedValue::parse("0x3cf5c290").unwrap()];
    /// let (answer, _) = asked.answer(&seen, Options::default(), &Profile::NVIDIA).unwrap();
    /// assert_eq!(answer.seen[0].other_types.as_ref().unwrap().option, "--type f32");
    /// ```
    pub fn answer(
        &self,
        seen: &[ObservedValue],
        options: Options,
        profile: &Profile,
    ) -> Result<(Answer, BTreeMap<String, Literal>), Problem> {
        let (names, expr) = self.read()?;
        let mut found = answer(&expr, seen, options, profile);
        found.name = self.result.map(str::to_owned);
        for (answered, seen) in found.seen.iter_mut().zip(seen).filter(|(it, _)| it.outcome == Outcome::None) {
            let ty = seen.typed(expr.format()).map_or(expr.format(), |typed| typed.format);
            let others = self.meant(&expr, ty).into_iter();
            let mut explained = others
                .filter_map(|(other, option)| explained(&CandidateSet::of(&other, options, profile), seen, &option));
            answered.other_types = explained.next();
        }
        if names.values().any(|literal| literal.is_untyped) || expr.has_untyped() {
            let mut cut = Vec::new();
            let with_cut = self.cut_quotients(expr.clone(), &mut cut);
            let language = self.types.rules().name();
            let quotients = cut.iter().map(|it| format!("`{it}`")).collect::<Vec<String>>().join(", ");
            let are_not = if cut.len() == 1 { "is not cut to a whole number" } else { "are not cut to whole numbers" };
            let uncut = format!(" {quotients} {are_not}, as {language} cuts quotients of integers.");
            found.literals = Some(self.types.sentence() + if cut.is_empty() { "" } else { &uncut });
            if found.seen.iter().any(is_open) {
                if !cut.is_empty() {
                    let candidates = CandidateSet::of(&with_cut, options, profile);
                    let option = format!("{quotients} cut to a whole number, as {language} cuts quotients of integers");
                    // An integer is never -0.
                    let may_be_cut = |(answered, seen): &(&mut ObservedAnswer, &ObservedValue)| {
                        is_open(answered) && seen.zero() != Some(true)
                    };
                    for (answered, seen) in found.seen.iter_mut().zip(seen).filter(may_be_cut) {
                        let other = explained(&candidates, seen, &option);
                        answered.cut = other.map(|it| it.text()).or(answered.cut.take());
                    }
                }
                for (other, option) in self.others(&expr) {
                    let candidates = CandidateSet::of(&other, options, profile);
                    for (answered, seen) in found.seen.iter_mut().zip(seen) {
                        if is_open(answered) && answered.other_types.is_none() {
                            let other = explained(&candidates, seen, &option);
                            // What has the digits that were seen gives way to what they name alone.
                            answered.other_types = other.filter(|it| answered.outcome == Outcome::None || !it.is_weak);
                        }
                    }
                }
            }
        }
        Ok((found, names))
    }

    /// What else may have been meant by an expression that does not give a value of this type, and what says so: a cast
    /// to a narrow type that was not written; literals whose `f` was forgotten, so that they are doubles, all or one.
    fn meant(&self, expr: &Expr, seen: Format) -> Vec<(Expr, String)> {
        let ty = expr.format();
        let cast =
            |to: Format, expr: Expr| if expr.format() == to { expr } else { Expr::Round(Some(to), Box::new(expr)) };
        let narrowed = cast(seen, expr.clone());
        let is_narrowed = seen.width() == 16 && narrowed != *expr;
        let narrowed = is_narrowed.then(|| (narrowed.clone(), format!("`{narrowed}`")));
        let floats = self.types.floats(self.expression);
        let one_each = floats.iter().map(std::slice::from_ref).filter(|_| floats.len() > 1).take(MOST_SUFFIXES);
        let doubles = std::iter::once(&floats[..]).chain(one_each).filter_map(|literals| {
            let Doubles { expression, types, option } = self.types.with_doubles(self.expression, literals)?;
            let (_, wide) = Untyped { expression: &expression, types, ..*self }.read().ok()?;
            Some((cast(ty, wide), option))
        });
        narrowed.into_iter().chain(doubles).collect()
    }

    /// The expression with its quotients of integers cut as its language cuts them, and these as written.
    fn cut_quotients(&self, expr: Expr, cut: &mut Vec<String>) -> Expr {
        let is_cut = self.types.ty.is_none() && self.types.rules().cuts_quotients() && self.is_cut(&expr);
        let written = is_cut.then(|| expr.to_string());
        let expr = expr.map_parts(|part| self.cut_quotients(part, cut));
        let Some(written) = written else { return expr };
        if !cut.contains(&written) {
            cut.push(written);
        }
        Expr::Call(Call::Trunc, vec![expr])
    }

    /// Whether it is a quotient of integers.
    fn is_cut(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Call(Call::Function(Function::Divide), _)) && self.is_whole(expr)
    }

    /// Whether it is made of integers without a type alone.
    fn is_whole(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Value(_, written) => is_integer(self.values.get(written).unwrap_or(written)),
            Expr::Neg(_)
            | Expr::Add(..)
            | Expr::Sub(..)
            | Expr::Mul(..)
            | Expr::Call(Call::Function(Function::Divide), _) => {
                expr.parts().into_iter().all(|part| self.is_whole(part))
            }
            _ => false,
        }
    }

    /// The expression with other types of its literals, each typing once, and the options that say them.
    fn others(&self, asked: &Expr) -> Vec<(Expr, String)> {
        let mut all: Vec<(Expr, String)> = Vec::new();
        for (types, option) in self.types.others() {
            let Ok((_, expr)) = (Untyped { types, ..*self }).read() else { continue };
            if expr != *asked && all.iter().all(|(known, _)| *known != expr) {
                all.push((expr, option));
            }
        }
        all
    }
}

/// The most literals that are tried as doubles one by one.
const MOST_SUFFIXES: usize = 8;

/// Whether other types may explain what was seen better: nothing gives it, or only to the digits that were seen.
fn is_open(answered: &ObservedAnswer) -> bool {
    answered.outcome == Outcome::None || answered.explanations.first().is_some_and(|first| first.digits.is_some())
}

/// What explains a value, if something does.
fn explained(candidates: &CandidateSet, seen: &ObservedValue, option: &str) -> Option<OtherTypes> {
    let found = candidates.explain(seen);
    let first = found.explanations.first()?;
    let (option, sentence) = (option.to_owned(), describe(&first.deviations));
    Some(OtherTypes { option, sentence, is_weak: found.is_weak() })
}
