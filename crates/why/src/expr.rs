//! The expressions that people ask about: `+ - * ( )`, `fma(a,b,c)`, names, literals with types.

use std::collections::{BTreeMap, BTreeSet};

use roundonce_arith::Format;
use roundonce_deviate::Typed;
use roundonce_isa::{parse_number, parse_value};

use crate::literals::is_untyped;

/// An expression over typed scalars.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A value, and how it was written.
    Value(Typed, String),
    /// The sign flipped.
    Neg(Box<Expr>),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// A difference.
    Sub(Box<Expr>, Box<Expr>),
    /// A product.
    Mul(Box<Expr>, Box<Expr>),
    /// A fused multiply-add, as written.
    Fma(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// What is wrong with an expression, and where: a byte of its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExprError {
    /// The byte at fault.
    pub at: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// Reads a literal that carries its type: `1e20f` f32, `2.0` f64, `1.5h` f16, `1.5b` bf16, `0x3f800000` by its digits
/// (8 f32, 16 f64), `0x3c00:f16`, `0x3f88:bf16`, `0f3F800000`, `0d3FF0000000000000`. Also whether the format holds
/// what was written.
///
/// # Errors
/// What was found and what was expected.
///
/// ```
/// use roundonce_arith::Format;
/// let (value, exact) = roundonce_why::parse_typed("1.5h").unwrap();
/// assert_eq!((value.format, value.bits, exact), (Format::F16, 0x3e00, true));
/// ```
pub fn parse_typed(text: &str) -> Result<(Typed, bool), String> {
    let of = |format, text: &str| {
        parse_value(format, 1, text).map(|parsed| (Typed { format, bits: parsed.value.components()[0] }, parsed.exact))
    };
    if let Some((value, name)) = text.rsplit_once(':') {
        let named = Format::NAMED.iter().find(|(known, _)| *known == name);
        let (_, format) = named.ok_or_else(|| format!("`{name}` is no type: expected f16, bf16, f32 or f64"))?;
        return of(*format, value);
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    let is_hex = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    if is_hex && !unsigned.contains(['p', 'P']) {
        return match unsigned.len() - 2 {
            8 => of(Format::F32, text),
            16 => of(Format::F64, text),
            digits => Err(format!(
                "`{text}` has {digits} hex digits: 8 are an f32, 16 an f64; for others add :f16, :bf16, :f32 or :f64"
            )),
        };
    }
    if unsigned.starts_with("0f") && unsigned.len() == 10 {
        return of(Format::F32, text);
    }
    if unsigned.starts_with("0d") && unsigned.len() == 18 {
        return of(Format::F64, text);
    }
    let suffixed = [("f", Format::F32), ("h", Format::F16), ("b", Format::BF16)];
    // `inf` ends in an f that is no suffix, and an f of a hexadecimal float stands behind its exponent.
    let number = |format, text: &str| {
        parse_number(format, text).map(|number| (Typed { format, bits: number.bits }, number.exact))
    };
    for (suffix, format) in suffixed {
        if let Some(found) = text.strip_suffix(suffix).and_then(|rest| number(format, rest)) {
            return Ok(found);
        }
    }
    number(Format::F64, text)
        .ok_or_else(|| format!("`{text}` is not a value: expected such as 1.5f, 2.0, 1.5h, 1.5b or 0x3f800000"))
}

/// Reads an expression; every name must have a value.
///
/// # Errors
/// The place, what was found, what was expected.
pub fn parse_expr(text: &str, names: &BTreeMap<String, Typed>) -> Result<Expr, ExprError> {
    let mut parser = Parser { text, at: 0, names, depth: 0, operations: 0 };
    let expr = parser.sum()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.error("an operator or the end"));
    }
    Ok(expr)
}

/// Deeper nesting, or more operations in a row, is no question a person asks, and would exhaust the stack.
const MAX_DEPTH: usize = 200;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: &'a BTreeMap<String, Typed>,
    depth: usize,
    operations: usize,
}

impl Parser<'_> {
    fn error(&self, expected: &str) -> ExprError {
        let found = self.text[self.at..].chars().next();
        let found = found.map_or("the end".to_owned(), |found| format!("`{found}`"));
        ExprError { at: self.at, message: format!("found {found}, expected {expected}") }
    }
    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn take(&mut self, token: char) -> bool {
        self.skip_blanks();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }
    /// A binary operator, if there is one.
    fn take_operator(&mut self, operator: char) -> Result<bool, ExprError> {
        let found = self.take(operator);
        self.operations += usize::from(found);
        if self.operations > MAX_DEPTH {
            return Err(ExprError { at: self.at, message: format!("more than {MAX_DEPTH} operations") });
        }
        Ok(found)
    }
    fn expect(&mut self, token: char) -> Result<(), ExprError> {
        if self.take(token) { Ok(()) } else { Err(self.error(&format!("`{token}`"))) }
    }

    fn sum(&mut self) -> Result<Expr, ExprError> {
        let mut left = self.product()?;
        loop {
            if self.take_operator('+')? {
                left = Expr::Add(Box::new(left), Box::new(self.product()?));
            } else if self.take_operator('-')? {
                left = Expr::Sub(Box::new(left), Box::new(self.product()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Expr, ExprError> {
        let mut left = self.factor()?;
        while self.take_operator('*')? {
            left = Expr::Mul(Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError { at: self.at, message: format!("nested more than {MAX_DEPTH} deep") });
        }
        let factor = self.factor_within();
        self.depth -= 1;
        factor
    }

    fn factor_within(&mut self) -> Result<Expr, ExprError> {
        self.skip_blanks();
        let start = self.at;
        if self.take('-') {
            return Ok(Expr::Neg(Box::new(self.factor()?)));
        }
        if self.take('(') {
            let inner = self.sum()?;
            self.expect(')')?;
            return Ok(inner);
        }
        let rest = &self.text[start..];
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let name = &rest[..end];
            self.at += end;
            if name == "fma" && self.take('(') {
                return self.fma();
            }
            return match self.names.get(name) {
                Some(value) => Ok(Expr::Value(*value, name.to_owned())),
                None => Err(ExprError { at: start, message: format!("`{name}` has no value: add `{name}=…`") }),
            };
        }
        if first.is_ascii_digit() || first == '.' {
            let end = literal_length(rest);
            let literal = &rest[..end];
            let (value, _) = parse_typed(literal).map_err(|message| ExprError { at: start, message })?;
            self.at += end;
            return Ok(Expr::Value(value, literal.to_owned()));
        }
        Err(self.error("a name, a literal, `fma(`, `-` or `(`"))
    }

    fn fma(&mut self) -> Result<Expr, ExprError> {
        let a = self.sum()?;
        self.expect(',')?;
        let b = self.sum()?;
        self.expect(',')?;
        let c = self.sum()?;
        self.expect(')')?;
        Ok(Expr::Fma(Box::new(a), Box::new(b), Box::new(c)))
    }
}

/// The names that an expression's text has.
///
/// ```
/// assert!(roundonce_why::names_in("fma(a, b2, 1.5f)").iter().eq(["a", "b2"]));
/// ```
pub fn names_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if !rest[end..].trim_start().starts_with('(') {
                names.insert(rest[..end].to_owned());
            }
            end
        } else if first.is_ascii_digit() || first == '.' {
            literal_length(rest)
        } else {
            first.len_utf8()
        };
        rest = &rest[length.max(1)..];
    }
    names
}

/// A literal goes on over letters, digits, points and colons, and over a sign behind an exponent's letter.
fn literal_length(text: &str) -> usize {
    let hex_bits = text.starts_with("0x") && !text[..text.find([' ', ')', ',']).unwrap_or(text.len())].contains('p');
    let mut before = ' ';
    text.char_indices()
        .find(|&(_, c)| {
            let mark = if hex_bits {
                ""
            } else if text.starts_with("0x") {
                "pP"
            } else {
                "eE"
            };
            let goes_on =
                c.is_alphanumeric() || c == '.' || c == ':' || (matches!(c, '+' | '-') && mark.contains(before));
            before = c;
            !goes_on
        })
        .map_or(text.len(), |(at, _)| at)
}

impl Expr {
    /// Whether it has a literal without a type.
    pub(crate) fn has_untyped(&self) -> bool {
        match self {
            Expr::Value(_, written) => is_untyped(written),
            Expr::Neg(inner) => inner.has_untyped(),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => a.has_untyped() || b.has_untyped(),
            Expr::Fma(a, b, c) => a.has_untyped() || b.has_untyped() || c.has_untyped(),
        }
    }

    /// The type that C's rules give it: the wider of its operands' types, f32 for f16 with bf16.
    pub fn format(&self) -> Format {
        match self {
            Expr::Value(value, _) => value.format,
            Expr::Neg(inner) => inner.format(),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => common(a.format(), b.format()),
            Expr::Fma(a, b, c) => common(common(a.format(), b.format()), c.format()),
        }
    }
}

/// The type in which two types meet.
pub(crate) fn common(a: Format, b: Format) -> Format {
    match (a.width(), b.width()) {
        _ if a == b => a,
        (16, 16) => Format::F32,
        (wide, narrow) if wide > narrow => a,
        _ => b,
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let factor = |expr: &Expr| match expr {
            Expr::Add(..) | Expr::Sub(..) => format!("({expr})"),
            _ => expr.to_string(),
        };
        match self {
            Expr::Value(_, written) => f.write_str(written),
            Expr::Neg(inner) if matches!(**inner, Expr::Mul(..) | Expr::Neg(..)) => write!(f, "-({inner})"),
            Expr::Neg(inner) => write!(f, "-{}", factor(inner)),
            Expr::Add(a, b) => write!(f, "{a} + {}", factor(b)),
            Expr::Sub(a, b) => write!(f, "{a} - {}", factor(b)),
            Expr::Mul(a, b) if matches!(**b, Expr::Mul(..)) => write!(f, "{} * ({b})", factor(a)),
            Expr::Mul(a, b) => write!(f, "{} * {}", factor(a), factor(b)),
            Expr::Fma(a, b, c) => write!(f, "fma({a}, {b}, {c})"),
        }
    }
}
