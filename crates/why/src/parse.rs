//! Expressions as people paste them from C++, CUDA, GLSL, Python or Julia: statements, operators, calls, casts. What words
//! mean there is `vocabulary.rs`.

use std::collections::{BTreeMap, BTreeSet};

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::{NarrowBy, Typed};
use roundonce_functions::Function;
use roundonce_isa::convert;

use crate::arrays::is_reduction;
use crate::call::{Call, Relation};
use crate::expr::{Expr, ExprError, parse_typed};
use crate::integer::{IntegerCast, IntegerType};
use crate::literals::{Language, is_integer};
use crate::tokens::{Kind, Token, tokens};
use crate::vocabulary::{Built, Meaning, integer_type, is_keyword, lerp, meaning, operand_type, to_integer, type_of};

/// Deeper nesting, or more operations, is no question a person asks, and would exhaust the stack.
const MAX_DEPTH: usize = 200;

/// The largest exponent that becomes products.
const LONGEST_POWER: f64 = 16.0;

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
    parse_in(text, names, None)
}

/// The same as a language has it.
pub(crate) fn parse_in(
    text: &str,
    names: &BTreeMap<String, Typed>,
    language: Option<Language>,
) -> Result<Statements, ExprError> {
    let (tokens, named) = (tokens(text)?, BTreeMap::new());
    let mut parser = Parser { tokens, at: 0, end: text.len(), names, named, language, depth: 0, operations: 0 };
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
    placed_names(text).into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The same, each where it stands first, in the text's order.
pub(crate) fn placed_names(text: &str) -> Vec<(usize, &str)> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|token| token.kind);
        let Kind::Name(name) = token.kind else { continue };
        // A type of integers stands before the end of its parentheses, or before another word of it.
        let is_integer = integer_type(&[name]).is_some() && is_within_cast(&tokens, index);
        let is_function = next == Some(Kind::Mark("(")) || type_of(name).is_some() || is_keyword(name) || is_integer;
        if next == Some(Kind::Mark("=")) {
            known.insert(name);
        } else if !is_function && known.insert(name) {
            names.push((token.at, name));
        }
    }
    names
}

/// Whether a word stands among others alone in parentheses behind which a value follows, as a type does.
fn is_within_cast(tokens: &[Token<'_>], at: usize) -> bool {
    let is_word = |token: &&Token<'_>| matches!(token.kind, Kind::Name(_));
    let before = tokens[..at].iter().rev().find(|token| !is_word(token)).map(|token| token.kind);
    let mut behind = tokens[at..].iter().skip_while(is_word).map(|token| token.kind);
    before == Some(Kind::Mark("("))
        && behind.next() == Some(Kind::Mark(")"))
        && matches!(behind.next(), Some(Kind::Name(_) | Kind::Number(_) | Kind::Mark("(")))
}

/// Whether an operand is an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    No,
    /// A literal, or made of such.
    Literal,
    /// What is cast to one, or made of such.
    Cast,
}

/// A type that a value is cast to.
enum Cast {
    Float(Format),
    Integer(IntegerType),
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The byte behind the text.
    end: usize,
    names: &'a BTreeMap<String, Typed>,
    named: BTreeMap<String, Expr>,
    language: Option<Language>,
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
        let (mut value, _) = self.comparison()?;
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
            Some(Kind::Mark("%")) => Err(self.error("fmod(x, y) for a remainder of the sign of x")),
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

    fn comparison(&mut self) -> Result<(Expr, Whole), ExprError> {
        let (left, whole) = self.sum()?;
        for (sign, relation) in Relation::SIGNS {
            if self.take(sign) {
                self.count(1)?;
                return Ok((Expr::Call(Call::Compare(relation), vec![left, self.sum()?.0]), Whole::No));
            }
        }
        Ok((left, whole))
    }

    fn sum(&mut self) -> Result<(Expr, Whole), ExprError> {
        let (mut left, mut whole) = self.product()?;
        loop {
            let at = self.place();
            let is_sum = self.take("+");
            if !is_sum && !self.take("-") {
                return Ok((left, whole));
            }
            self.count(1)?;
            let (right, other) = self.product()?;
            whole = self.whole(at, [whole, other], false)?;
            let (a, b) = (Box::new(left), Box::new(right));
            left = if is_sum { Expr::Add(a, b) } else { Expr::Sub(a, b) };
        }
    }

    fn product(&mut self) -> Result<(Expr, Whole), ExprError> {
        let (mut left, mut whole) = self.factor()?;
        loop {
            let at = self.place();
            let is_product = self.take("*");
            if !is_product && !self.take("/") {
                return Ok((left, whole));
            }
            self.count(1)?;
            let (right, other) = self.factor()?;
            whole = self.whole(at, [whole, other], !is_product)?;
            left = match is_product {
                true => Expr::Mul(Box::new(left), Box::new(right)),
                false => Expr::Call(Call::Function(Function::Divide), vec![left, right]),
            };
        }
    }

    /// Whether the result of an operation at a place is an integer. Integers are not computed, nor is what a language makes of
    /// the quotient of two literals if that is no fraction.
    fn whole(&self, at: usize, operands: [Whole; 2], divides: bool) -> Result<Whole, ExprError> {
        let language = self.language.filter(|language| language.cuts_quotients());
        match (operands, language) {
            ([Whole::No, _] | [_, Whole::No], _) => Ok(Whole::No),
            ([Whole::Literal, Whole::Literal], Some(language)) if divides => {
                let name = language.name();
                let message =
                    format!("{name} cuts the quotient of two integers, which is not computed: write a point, `1.0`");
                Err(ExprError { at, message })
            }
            ([Whole::Literal, Whole::Literal], _) => Ok(if divides { Whole::No } else { Whole::Literal }),
            _ => {
                let message = "arithmetic of integers is not computed: expected a float, such as `(float)`, beside one";
                Err(ExprError { at, message: message.to_owned() })
            }
        }
    }

    fn factor(&mut self) -> Result<(Expr, Whole), ExprError> {
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

    fn factor_within(&mut self) -> Result<(Expr, Whole), ExprError> {
        if self.take("-") {
            let (inner, whole) = self.factor()?;
            return Ok((Expr::Neg(Box::new(inner)), whole));
        }
        if self.take("+") {
            return self.factor();
        }
        if let Some((tokens, cast)) = self.cast()? {
            self.at += tokens;
            self.count(1)?;
            let (inner, _) = self.factor()?;
            return Ok(match cast {
                Cast::Float(format) => (Expr::Round(Some(format), Box::new(inner)), Whole::No),
                Cast::Integer(to) => {
                    let cut = IntegerCast::written(to, NarrowBy::Direction(Rounding::TowardZero));
                    (Expr::Call(Call::ToInteger(cut), vec![inner]), Whole::Cast)
                }
            });
        }
        let (base, whole) = self.primary()?;
        if !self.take("**") {
            return Ok((base, whole));
        }
        let (power, _) = self.factor()?;
        Ok((self.raised(base, power)?, Whole::No))
    }

    /// A type in parentheses, such as `(float)` or `(unsigned int)`, and how many tokens it has.
    ///
    /// # Errors
    /// That casts to the type are not computed.
    fn cast(&self) -> Result<Option<(usize, Cast)>, ExprError> {
        let words: Vec<&str> = (1..)
            .map_while(|ahead| match self.kind_at(ahead) {
                Some(Kind::Name(word)) => Some(word),
                _ => None,
            })
            .collect();
        let behind = self.kind_at(words.len() + 1);
        if self.kind() != Some(Kind::Mark("(")) || words.is_empty() || behind != Some(Kind::Mark(")")) {
            return Ok(None);
        }
        let float = if let [name] = words[..] { type_of(name) } else { None };
        // A name that has a value is no type.
        let is_value = |word: &&str| self.names.contains_key(*word) || self.named.contains_key(*word);
        let integer = || integer_type(&words).filter(|_| !words.iter().any(is_value)).map(Cast::Integer);
        let found = float.map(Cast::Float).or_else(integer).map(|cast| (words.len() + 2, cast));
        let is_type =
            || words.len() > 1 || matches!(words[0], "bool" | "_Bool") && is_within_cast(&self.tokens, self.at + 1);
        if found.is_none() && is_type() {
            let message = format!(
                "`{}` is no type that casts are computed to: expected a float of 16 to 64 bits or an integer of 8 to 64",
                words.join(" ")
            );
            return Err(ExprError { at: self.place(), message });
        }
        Ok(found)
    }

    /// A power. A square is a product and a power of a half a root, as NumPy and compilers have it; torch and JAX
    /// multiply for other exponents too.
    fn raised(&mut self, base: Expr, power: Expr) -> Result<Expr, ExprError> {
        let is_product = |whole: f64| match self.language {
            _ if whole == 2.0 => true,
            // Of f16 it takes pow in f32.
            Some(Language::Torch) => whole == 3.0 && base.format() != Format::F16,
            Some(Language::Jax) => whole.fract() == 0.0 && (3.0..=LONGEST_POWER).contains(&whole),
            _ => false,
        };
        match constant(&power) {
            Some(0.5) => {
                self.count(1)?;
                Ok(Expr::Call(Call::Function(Function::SquareRoot), vec![base]))
            }
            Some(whole) if is_product(whole) => {
                self.count((whole as usize - 1) * (1 + base.operations()))?;
                Ok(multiplied(base, whole as u32))
            }
            _ => {
                self.count(1)?;
                Ok(Expr::Call(Call::Function(Function::Pow), vec![base, power]))
            }
        }
    }

    fn primary(&mut self) -> Result<(Expr, Whole), ExprError> {
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
                match self.kind() {
                    Some(Kind::Mark("(")) => self.call(name, at),
                    _ => Ok((self.value_of(name, at)?, Whole::No)),
                }
            }
            Some(Kind::Number(literal)) => {
                let (value, _) = parse_typed(literal).map_err(|message| ExprError { at, message })?;
                self.at += 1;
                let whole = if is_integer(literal) { Whole::Literal } else { Whole::No };
                Ok((Expr::Value(value, literal.to_owned()), whole))
            }
            Some(Kind::Mark("^")) => Err(self.error("`**` or pow(x, y) for a power")),
            _ => Err(self.error("a name, a number, a function, `-` or `(`")),
        }
    }

    fn call(&mut self, name: &str, at: usize) -> Result<(Expr, Whole), ExprError> {
        let Some(meaning) = meaning(name, self.language) else {
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
            operands.push(self.sum()?.0);
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
        if let Some(format) = operand_type(name, self.language) {
            operands = operands.into_iter().map(|operand| converted(operand, format)).collect();
        }
        let whole = if to_integer(name, self.language).is_some() { Whole::Cast } else { Whole::No };
        let expr = match meaning {
            Meaning::Call(Call::Function(Function::Pow))
                if matches!(self.language, Some(Language::Torch | Language::Jax)) =>
            {
                let power = operands.swap_remove(1);
                self.raised(operands.swap_remove(0), power)?
            }
            Meaning::Built(built) => {
                let built = match built {
                    Built::Lerp => {
                        let weight = constant(&operands[2]);
                        lerp(name, self.language, weight).map_err(|message| ExprError { at, message })?
                    }
                    other => other,
                };
                let built = built.build(&operands);
                self.count(built.operations())?;
                built
            }
            Meaning::Call(Call::RoundAway) if self.language == Some(Language::Glsl) => {
                let message = "GLSL leaves open which of two integers as near `round` gives: expected `roundEven`";
                return Err(ExprError { at, message: message.to_owned() });
            }
            Meaning::Call(call) => Expr::Call(call, operands),
            Meaning::Cast(format) => Expr::Round(Some(format), Box::new(operands.swap_remove(0))),
        };
        Ok((expr, whole))
    }
}

/// An operand converted to a function's type. A sign stays outside where it rounds nothing: it is the function's own there.
fn converted(operand: Expr, format: Format) -> Expr {
    match operand {
        Expr::Neg(inner) if format == Format::F64 => Expr::Neg(Box::new(converted(*inner, format))),
        operand => Expr::Round(Some(format), Box::new(operand)),
    }
}

/// A whole power by squares, from the lowest bit of the exponent, as JAX has it.
fn multiplied(base: Expr, mut power: u32) -> Expr {
    let (mut square, mut product) = (base, None);
    loop {
        if power & 1 == 1 {
            product = Some(match product {
                None => square.clone(),
                Some(product) => Expr::Mul(Box::new(product), Box::new(square.clone())),
            });
        }
        power >>= 1;
        if power == 0 {
            return product.unwrap_or(square);
        }
        square = Expr::Mul(Box::new(square.clone()), Box::new(square));
    }
}

/// The value of a power that is a literal.
fn constant(power: &Expr) -> Option<f64> {
    match power {
        Expr::Value(Typed { format, bits }, written)
            if written.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
        {
            Some(f64::from_bits(convert(*format, Format::F64, Rounding::NearestEven, *bits).0))
        }
        _ => None,
    }
}
