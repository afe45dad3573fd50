//! The expressions that people ask about: `+ - * /`, functions, casts, names, literals with types. `parse.rs` reads them.

use roundonce_arith::Format;
use roundonce_deviate::Typed;
use roundonce_functions::Function;
use roundonce_isa::{TYPE_LETTERS, parse_number, parse_testfloat, parse_whole};

use crate::call::Call;
use crate::integer::{HELD_IN, IntegerType};
use crate::literals::is_untyped;

/// An expression over typed scalars.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
    /// A quotient, or a function of one or two operands.
    Call(Call, Vec<Expr>),
    /// A value rounded to a type by a cast; without one, to its own, so that nothing is fused with it.
    Round(Option<Format>, Box<Expr>),
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
/// // A digit is missing at either end.
/// assert!(roundonce_why::parse_typed("0x3f80000:f32").unwrap_err().contains("write 0x03f80000"));
/// ```
pub fn parse_typed(text: &str) -> Result<(Typed, bool), String> {
    let of = |format, text: &str| {
        parse_whole(format, 1, text).map(|parsed| (Typed { format, bits: parsed.value.components()[0] }, parsed.exact))
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
    let is_ptx = |mark, length| {
        unsigned.len() == length && unsigned.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(mark))
    };
    if is_ptx("0f", 10) {
        return of(Format::F32, text);
    }
    if is_ptx("0d", 18) {
        return of(Format::F64, text);
    }
    // `inf` ends in an f that is no suffix, and an f of a hexadecimal float stands behind its exponent.
    let number = |format, text: &str| {
        parse_number(format, text).map(|number| (Typed { format, bits: number.bits }, number.exact))
    };
    for (letter, format) in TYPE_LETTERS {
        if let Some(found) = text.strip_suffix(letter).and_then(|rest| number(format, rest)) {
            return Ok(found);
        }
    }
    // As TestFloat writes numbers, of which the digits say the type.
    let testfloat = |format| Some((Typed { format, bits: parse_testfloat(format, text)? }, true));
    number(Format::F64, text)
        .or_else(|| [Format::F16, Format::F32, Format::F64].into_iter().find_map(testfloat))
        .ok_or_else(|| format!("`{text}` is not a value: expected such as 1.5f, 2.0, 1.5h, 1.5b or 0x3f800000"))
}

impl Expr {
    /// The expressions that it is made of.
    pub(crate) fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Value(..) => Vec::new(),
            Expr::Neg(inner) | Expr::Round(_, inner) => vec![inner],
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => vec![a, b],
            Expr::Fma(a, b, c) => vec![a, b, c],
            Expr::Call(_, operands) => operands.iter().collect(),
        }
    }

    /// The same with each of the expressions that it is made of replaced.
    #[must_use]
    pub(crate) fn map_parts(self, mut with: impl FnMut(Expr) -> Expr) -> Expr {
        let mut map = |inner: Box<Expr>| Box::new(with(*inner));
        match self {
            Expr::Value(..) => self,
            Expr::Neg(inner) => Expr::Neg(map(inner)),
            Expr::Round(format, inner) => Expr::Round(format, map(inner)),
            Expr::Add(a, b) => Expr::Add(map(a), map(b)),
            Expr::Sub(a, b) => Expr::Sub(map(a), map(b)),
            Expr::Mul(a, b) => Expr::Mul(map(a), map(b)),
            Expr::Fma(a, b, c) => Expr::Fma(map(a), map(b), map(c)),
            Expr::Call(call, operands) => Expr::Call(call, operands.into_iter().map(with).collect()),
        }
    }

    /// Whether it has a literal without a type.
    pub(crate) fn has_untyped(&self) -> bool {
        matches!(self, Expr::Value(_, written) if is_untyped(written))
            || self.parts().into_iter().any(Expr::has_untyped)
    }

    /// The quotient or function in it that stands first, if there is one.
    pub fn first_call(&self) -> Option<Call> {
        match self {
            Expr::Call(call, _) => Some(*call),
            _ => self.parts().into_iter().find_map(Expr::first_call),
        }
    }

    /// How many operations it has, each time that it is written.
    pub(crate) fn operations(&self) -> usize {
        let own = !matches!(self, Expr::Value(..) | Expr::Round(None, _));
        usize::from(own) + self.parts().into_iter().map(Expr::operations).sum::<usize>()
    }

    /// The type that C's rules give it: the wider of its operands' types, f32 for f16 with bf16; beside a float an integer
    /// takes the float's. Of an integer, the type that holds it.
    pub fn format(&self) -> Format {
        self.float_type().unwrap_or(HELD_IN)
    }

    /// The type of integers that it has, if it is a cast to one.
    pub(crate) fn integer(&self) -> Option<IntegerType> {
        match self {
            Expr::Call(Call::ToInteger(cast), _) => Some(cast.to),
            Expr::Neg(inner) => inner.integer(),
            _ => None,
        }
    }

    /// The same as [`format`](Expr::format); `None` of an integer.
    pub(crate) fn float_type(&self) -> Option<Format> {
        match self {
            Expr::Value(value, _) => Some(value.format),
            Expr::Round(Some(format), _) => Some(*format),
            Expr::Call(Call::ToInteger(_), _) => None,
            Expr::Call(Call::RoundTo(format, _), _) => Some(*format),
            _ => self.parts().into_iter().filter_map(Expr::float_type).reduce(common),
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

/// An expression where a term stands.
fn term(expr: &Expr) -> String {
    match expr {
        Expr::Call(Call::Compare(_), _) => format!("({expr})"),
        _ => expr.to_string(),
    }
}

/// An expression where a factor stands.
fn factor(expr: &Expr) -> String {
    match expr {
        Expr::Add(..) | Expr::Sub(..) => format!("({expr})"),
        _ => term(expr),
    }
}

/// An expression where a factor stands behind another one, or a divisor.
fn divisor(expr: &Expr) -> String {
    match expr {
        Expr::Mul(..) | Expr::Call(Call::Function(Function::Divide), _) => format!("({expr})"),
        _ => factor(expr),
    }
}

/// A product, as an expression has it.
pub(crate) fn product_text(a: &Expr, b: &Expr) -> String {
    format!("{} * {}", factor(a), divisor(b))
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expr::Value(_, written) => f.write_str(written),
            Expr::Neg(inner) if matches!(**inner, Expr::Mul(..) | Expr::Neg(..)) => write!(f, "-({inner})"),
            Expr::Neg(inner) => write!(f, "-{}", factor(inner)),
            Expr::Add(a, b) => write!(f, "{} + {}", term(a), factor(b)),
            Expr::Sub(a, b) => write!(f, "{} - {}", term(a), factor(b)),
            Expr::Mul(a, b) => f.write_str(&product_text(a, b)),
            Expr::Fma(a, b, c) => write!(f, "fma({a}, {b}, {c})"),
            Expr::Call(Call::Function(Function::Divide), operands) => {
                write!(f, "{} / {}", factor(&operands[0]), divisor(&operands[1]))
            }
            Expr::Call(Call::Compare(relation), operands) => {
                write!(f, "{} {} {}", term(&operands[0]), relation.sign(), term(&operands[1]))
            }
            Expr::Call(call, operands) => {
                let operands: Vec<String> = operands.iter().map(Expr::to_string).collect();
                match call {
                    Call::RoundTo(format, by) => {
                        write!(f, "{}_{}({})", format.name().unwrap_or("?"), by.name(), operands.join(", "))
                    }
                    Call::ToInteger(cast) => write!(f, "{cast}({})", operands.join(", ")),
                    _ => write!(f, "{}({})", call.name(), operands.join(", ")),
                }
            }
            // A value is rounded already.
            Expr::Round(None, inner) if matches!(**inner, Expr::Value(..)) => write!(f, "{inner}"),
            Expr::Round(None, inner) => write!(f, "rounded({inner})"),
            Expr::Round(Some(format), inner) => write!(f, "{}({inner})", format.name().unwrap_or("?")),
        }
    }
}
