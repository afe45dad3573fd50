//! A question as it was typed: its literals may have no type, and another one may be the answer.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use serde::Serialize;

use crate::answer::{Answer, ObservedAnswer, answer};
use crate::evaluation_text::describe;
use crate::expr::{Expr, ExprError};
use crate::literals::{Literal, LiteralTypes};
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

/// That a value is explained where literals have another type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OtherTypes {
    /// The option of the command that gives them this type.
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
        if names.values().any(|literal| literal.is_untyped) || expr.has_untyped() {
            found.literals = Some(self.types.sentence());
            if found.seen.iter().any(is_open) {
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
