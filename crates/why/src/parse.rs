//! Expressions as people paste them from C++, CUDA, GLSL, Python or Julia: statements, operators, calls, casts. What words
//! mean there is `vocabulary.rs`.

use std::collections::{BTreeMap, BTreeSet};

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::Typed;
use roundonce_functions::Function;
use roundonce_isa::convert;

use crate::arrays::is_reduction;
use crate::call::{Call, Relation};
use crate::expr::{Expr, ExprError, parse_typed};
use crate::tokens::{Kind, Token, tokens};
use crate::vocabulary::{Meaning, is_integer_type, is_keyword, meaning, type_of};

/// Deeper nesting, or more operations, is no question a person asks, and would exhaust the stack.
const MAX_DEPTH: usize = 200;

/// The statements of a text: the last one's value is the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statements {
    /// What each name is that a statement gives a value, as written last.
    pub named: BTreeMap<String, Expr>,
    /// The last statement's.
    pub result: Expr,
}

/// Reads an expression, or statements of which the last gives the result; every name must have a value.
///
/// # Errors
/// The place, what was found, what was expected.
pub fn parse_expr(text: &str, names: &BTreeMap<String, Typed>) -> Result<Expr, ExprError> {
    parse_statements(text, names).map(|statements| statements.result)
}

/// The same with what each statement gives a name.
///
/// ```
/// use std::collections::BTreeMap;
/// use roundonce_why::{parse_statements, parse_typed};
/// let names = ["a", "b"].map(|name| (name.to_owned(), parse_typed("1.5f").unwrap().0));
/// let read = parse_statements("t = a*b; u = sqrtf(t) - 1.f; u / t", &BTreeMap::from(names)).unwrap();
/// assert_eq!(read.result.to_string(), "(sqrt(a * b) - 1.f) / (a * b)");
/// assert_eq!(read.named["t"].to_string(), "a * b");
/// ```
///
/// # Errors
/// As [`parse_expr`].
pub fn parse_statements(text: &str, names: &BTreeMap<String, Typed>) -> Result<Statements, ExprError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, end: text.len(), names, named: BTreeMap::new(), depth: 0, operations: 0 };
    let mut result = None;
    while parser.skip_separators() {
        result = Some(parser.statement()?);
    }
    let result = result.ok_or_else(|| ExprError { at: text.len(), message: "expected an expression".to_owned() })?;
    Ok(Statements { named: parser.named, result })
}

/// The names that an expression takes a value for from outside.
///
/// ```
/// assert!(roundonce_why::names_in("t = fma(a, b2, 1.5f); np.sin(t)").iter().eq(["a", "b2"]));
/// ```
pub fn names_in(text: &str) -> BTreeSet<String> {
    let Ok(tokens) = tokens(text) else { return BTreeSet::new() };
    let (mut names, mut given) = (BTreeSet::new(), BTreeSet::new());
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|token| token.kind);
        let Kind::Name(name) = token.kind else { continue };
        if next == Some(Kind::Mark("=")) {
            given.insert(name);
        } else if next != Some(Kind::Mark("(")) && !given.contains(name) && type_of(name).is_none() && !is_keyword(name)
        {
            names.insert(name.to_owned());
        }
    }
    names
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The byte behind the text.
    end: usize,
    names: &'a BTreeMap<String, Typed>,
    named: BTreeMap<String, Expr>,
    depth: usize,
    operations: usize,
}

impl<'a> Parser<'a> {
    fn kind(&self) -> Option<Kind<'a>> {
        self.kind_at(0)
    }
    fn kind_at(&self, ahead: usize) -> Option<Kind<'a>> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }
    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |token| token.at)
    }
    fn error(&self, expected: &str) -> ExprError {
        let found = match self.kind() {
            None => "the end".to_owned(),
            Some(Kind::Separator) => "the end of the statement".to_owned(),
            Some(Kind::Number(text) | Kind::Name(text) | Kind::Mark(text)) => format!("`{text}`"),
        };
        ExprError { at: self.place(), message: format!("found {found}, expected {expected}") }
    }
    fn take(&mut self, mark: &str) -> bool {
        let found = self.kind() == Some(Kind::Mark(mark));
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, mark: &str) -> Result<(), ExprError> {
        if self.take(mark) { Ok(()) } else { Err(self.error(&format!("`{mark}`"))) }
    }
    /// Whether a statement follows.
    fn skip_separators(&mut self) -> bool {
        while self.kind() == Some(Kind::Separator) {
            self.at += 1;
        }
        self.at < self.tokens.len()
    }
    /// Counts operations, those of what a name stands for too.
    fn count(&mut self, operations: usize) -> Result<(), ExprError> {
        self.operations += operations;
        if self.operations > MAX_DEPTH {
            return Err(ExprError {
                at: self.place(),
                message: format!("more than {MAX_DEPTH} operations: an expression has at most {MAX_DEPTH}"),
            });
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<Expr, ExprError> {
        let mut declared = None;
        while let (Some(Kind::Name(word)), Some(Kind::Name(_) | Kind::Number(_) | Kind::Mark("(" | "-"))) =
            (self.kind(), self.kind_at(1))
        {
            let is_declaration = type_of(word).is_some() && matches!(self.kind_at(1), Some(Kind::Name(_)));
            if !is_keyword(word) && !is_declaration {
                break;
            }
            declared = type_of(word).or(declared);
            self.at += 1;
        }
        let place = self.place();
        let operator = match (self.kind(), self.kind_at(1)) {
            (Some(Kind::Name(name)), Some(Kind::Mark(mark @ ("=" | "+=" | "-=" | "*=" | "/=")))) => {
                self.at += 2;
                Some((name, mark))
            }
            _ => None,
        };
        let mut value = self.comparison()?;
        if let Some((name, mark)) = operator {
            if mark != "=" {
                let left = self.value_of(name, place)?;
                self.count(1)?;
                let (left, right) = (Box::new(left), Box::new(value));
                value = match mark {
                    "+=" => Expr::Add(left, right),
                    "-=" => Expr::Sub(left, right),
                    "*=" => Expr::Mul(left, right),
                    _ => Expr::Call(Call::Function(Function::Divide), vec![*left, *right]),
                };
            }
            if let Some(format) = declared {
                value = Expr::Round(Some(format), Box::new(value));
            }
            self.named.insert(name.to_owned(), value.clone());
        }
        match self.kind() {
            None | Some(Kind::Separator) => Ok(value),
            Some(Kind::Mark("@")) => Err(self.error("the factors of a matrix product as arrays: .npy files, or lists")),
            _ => Err(self.error("an operator or the end")),
        }
    }

    /// What a name stands for.
    fn value_of(&mut self, name: &str, at: usize) -> Result<Expr, ExprError> {
        if let Some(expr) = self.named.get(name) {
            let expr = expr.clone();
            self.count(expr.operations())?;
            return Ok(expr);
        }
        match self.names.get(name) {
            Some(value) => Ok(Expr::Value(*value, name.to_owned())),
            None => Err(ExprError { at, message: format!("`{name}` has no value: add `{name}=…`") }),
        }
    }

    fn comparison(&mut self) -> Result<Expr, ExprError> {
        let left = self.sum()?;
        for (sign, relation) in Relation::SIGNS {
            if self.take(sign) {
                self.count(1)?;
                return Ok(Expr::Call(Call::Compare(relation), vec![left, self.sum()?]));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expr, ExprError> {
        let mut left = self.product()?;
        loop {
            let is_sum = self.take("+");
            if !is_sum && !self.take("-") {
                return Ok(left);
            }
            self.count(1)?;
            let (a, b) = (Box::new(left), Box::new(self.product()?));
            left = if is_sum { Expr::Add(a, b) } else { Expr::Sub(a, b) };
        }
    }

    fn product(&mut self) -> Result<Expr, ExprError> {
        let mut left = self.factor()?;
        loop {
            if self.take("*") {
                self.count(1)?;
                left = Expr::Mul(Box::new(left), Box::new(self.factor()?));
            } else if self.take("/") {
                self.count(1)?;
                left = Expr::Call(Call::Function(Function::Divide), vec![left, self.factor()?]);
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<Expr, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError {
                at: self.place(),
                message: format!("nested more than {MAX_DEPTH} deep, the most that an expression is"),
            });
        }
        let factor = self.factor_within();
        self.depth -= 1;
        factor
    }

    fn factor_within(&mut self) -> Result<Expr, ExprError> {
        if self.take("-") {
            return Ok(Expr::Neg(Box::new(self.factor()?)));
        }
        if self.take("+") {
            return self.factor();
        }
        // `(float)x`
        if let (Some(Kind::Mark("(")), Some(Kind::Name(name)), Some(Kind::Mark(")"))) =
            (self.kind(), self.kind_at(1), self.kind_at(2))
            && (type_of(name).is_some() || is_integer_type(name))
        {
            self.at += 3;
            self.count(1)?;
            let inner = self.factor()?;
            return Ok(match type_of(name) {
                Some(format) => Expr::Round(Some(format), Box::new(inner)),
                None => Expr::Call(Call::Trunc, vec![inner]),
            });
        }
        let base = self.primary()?;
        if !self.take("**") {
            return Ok(base);
        }
        let power = self.factor()?;
        self.count(1 + base.operations())?;
        Ok(raised(base, power))
    }

    fn primary(&mut self) -> Result<Expr, ExprError> {
        let at = self.place();
        match self.kind() {
            Some(Kind::Mark("(")) => {
                self.at += 1;
                let inner = self.comparison()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Kind::Name(name)) => {
                self.at += 1;
                if self.kind() == Some(Kind::Mark("(")) { self.call(name, at) } else { self.value_of(name, at) }
            }
            Some(Kind::Number(literal)) => {
                let (value, _) = parse_typed(literal).map_err(|message| ExprError { at, message })?;
                self.at += 1;
                Ok(Expr::Value(value, literal.to_owned()))
            }
            Some(Kind::Mark("^")) => Err(self.error("`**` or pow(x, y) for a power")),
            _ => Err(self.error("a name, a number, a function, `-` or `(`")),
        }
    }

    fn call(&mut self, name: &str, at: usize) -> Result<Expr, ExprError> {
        let Some(meaning) = meaning(name) else {
            if is_reduction(name) {
                let message =
                    format!("`{name}` is of an array: expected one among the values, such as a.npy or [1f, 2f]");
                return Err(ExprError { at, message });
            }
            let known: Vec<&str> = ["fma", "mad", "mix", "lerp", "clamp"].into_iter().chain(Call::names()).collect();
            let message = format!(
                "`{name}` is no function that is known: expected {}, or a type; C's, CUDA's and NumPy's names of them too",
                known.join(", ")
            );
            return Err(ExprError { at, message });
        };
        self.expect("(")?;
        let mut operands = Vec::new();
        while self.kind() != Some(Kind::Mark(")")) {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.sum()?);
        }
        self.expect(")")?;
        self.count(1)?;
        let arity = match meaning {
            Meaning::Call(call) => call.arity(),
            Meaning::Built(built) => built.arity(),
            Meaning::Cast(_) => 1,
        };
        if operands.len() != arity {
            let message = format!("`{name}` takes {arity} operands, found {}", operands.len());
            return Err(ExprError { at, message });
        }
        Ok(match meaning {
            Meaning::Built(built) => {
                let built = built.build(&operands);
                self.count(built.operations())?;
                built
            }
            Meaning::Call(call) => Expr::Call(call, operands),
            Meaning::Cast(format) => Expr::Round(Some(format), Box::new(operands.swap_remove(0))),
        })
    }
}

/// A power; a square is a product and a power of a half a root, as NumPy and compilers have it.
fn raised(base: Expr, power: Expr) -> Expr {
    let constant = match &power {
        Expr::Value(Typed { format, bits }, written)
            if written.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
        {
            Some(f64::from_bits(convert(*format, Format::F64, Rounding::NearestEven, *bits).0))
        }
        _ => None,
    };
    match constant {
        Some(2.0) => Expr::Mul(Box::new(base.clone()), Box::new(base)),
        Some(0.5) => Expr::Call(Call::Function(Function::SquareRoot), vec![base]),
        _ => Expr::Call(Call::Function(Function::Pow), vec![base, power]),
    }
}
