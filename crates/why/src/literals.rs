//! The types of literals that carry none, as a language has them or as a person says.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Rounding};
use roundonce_deviate::Typed;
use roundonce_functions::Function;
use roundonce_isa::{TYPE_LETTERS, convert, parse_number};

use crate::call::Call;
use crate::expr::{Expr, ExprError, common, parse_typed};
use crate::parse::{Statements, parse_in};
use crate::tokens::{Kind, tokens};

/// A language whose rules give literals their types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Language {
    /// `0.1` is a double; an integer takes the type beside it.
    #[default]
    C,
    /// As C.
    Cuda,
    /// A number of Python takes the type beside it, and is float64 alone (NEP 50).
    Numpy,
    /// A number of Python takes the type beside it, and is float32 alone (the default dtype).
    Torch,
    /// A number of Python takes the type beside it, and is float32 alone.
    Jax,
    /// `0.1` is a Float64; an integer takes the type beside it.
    Julia,
    /// `0.1` is a float; an integer takes the type beside it.
    Glsl,
    /// A literal takes the type beside it, and is f32 alone.
    Wgsl,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 8] = [
        Language::C,
        Language::Cuda,
        Language::Numpy,
        Language::Torch,
        Language::Jax,
        Language::Julia,
        Language::Glsl,
        Language::Wgsl,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cuda => "cuda",
            Language::Numpy => "numpy",
            Language::Torch => "torch",
            Language::Jax => "jax",
            Language::Julia => "julia",
            Language::Glsl => "glsl",
            Language::Wgsl => "wgsl",
        }
    }

    /// A language by its name.
    ///
    /// # Errors
    /// The names there are.
    pub fn parse(name: &str) -> Result<Language, String> {
        let known = || Language::ALL.map(Language::name).join(", ");
        let found = Language::ALL.into_iter().find(|language| language.name() == name);
        found.ok_or_else(|| format!("`{name}` is no language whose literals are known: expected one of {}", known()))
    }

    /// The type of a literal with a point or an exponent; `None` if it takes that of what stands beside it.
    const fn fraction(self) -> Option<Format> {
        match self {
            Language::C | Language::Cuda | Language::Julia => Some(Format::F64),
            Language::Glsl => Some(Format::F32),
            Language::Numpy | Language::Torch | Language::Jax | Language::Wgsl => None,
        }
    }

    /// Whether it divides integers to an integer.
    pub(crate) const fn cuts_quotients(self) -> bool {
        matches!(self, Language::C | Language::Cuda | Language::Glsl | Language::Wgsl)
    }
    pub(crate) const fn is_python(self) -> bool {
        matches!(self, Language::Numpy | Language::Torch | Language::Jax)
    }
    /// The type of a function of literals without a type alone, such as `sqrt(2)`; `None` if it takes that of what stands beside it.
    const fn of_literals(self) -> Option<Format> {
        match self {
            Language::C | Language::Cuda | Language::Julia | Language::Numpy => Some(Format::F64),
            Language::Glsl => Some(Format::F32),
            Language::Torch | Language::Jax | Language::Wgsl => None,
        }
    }

    /// The type of a literal that stands beside none that has one.
    const fn alone(self) -> Format {
        match self {
            Language::C | Language::Cuda | Language::Julia | Language::Numpy => Format::F64,
            Language::Torch | Language::Jax | Language::Glsl | Language::Wgsl => Format::F32,
        }
    }
}

/// What gives untyped literals their types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LiteralTypes {
    /// This type, all of them.
    pub ty: Option<Format>,
    /// The rules of this language.
    pub language: Option<Language>,
    /// Whose rules they are without either: C's, or NumPy's beside arrays.
    pub guess: Language,
}

/// A literal with its type, if it has one already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Literal {
    /// Its value; of one without a type in f64.
    pub value: Typed,
    /// Whether the format holds what was written.
    pub exact: bool,
    /// Whether it takes the type of what stands beside it.
    pub is_weak: bool,
    /// Whether it was written without a type.
    pub is_untyped: bool,
}

impl Literal {
    /// A value that has a type.
    pub const fn typed(value: Typed, exact: bool) -> Literal {
        Literal { value, exact, is_weak: false, is_untyped: false }
    }
}

/// An expression that has doubles where another one has floats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doubles {
    /// The expression.
    pub expression: String,
    /// The types of its literals.
    pub types: LiteralTypes,
    /// What is otherwise in it, to be said behind "with".
    pub option: String,
}

/// A float's literal without its `f`.
fn without_suffix(literal: &str) -> Option<&str> {
    literal.strip_suffix(['f', 'F']).filter(|number| is_untyped(number) && !is_untyped(literal))
}

/// Whether a text is a number without a type.
pub(crate) fn is_untyped(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['-', '+']);
    let lower = unsigned.to_ascii_lowercase();
    let is_bits = lower.starts_with("0x") && !lower.contains('p');
    let is_ptx = (lower.starts_with("0f") && lower.len() == 10) || (lower.starts_with("0d") && lower.len() == 18);
    let is_suffixed = || {
        let suffixed = TYPE_LETTERS.into_iter().filter_map(|(letter, _)| text.strip_suffix(letter));
        suffixed.into_iter().any(|rest| parse_number(Format::F64, rest).is_some())
    };
    !text.contains(':') && !is_bits && !is_ptx && !is_suffixed() && parse_number(Format::F64, text).is_some()
}

/// Whether a literal is an integer without a type.
pub(crate) fn is_integer(text: &str) -> bool {
    text.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit())
}

impl LiteralTypes {
    /// Other types of literals, and the options of the command that say them.
    pub fn others(self) -> impl Iterator<Item = (LiteralTypes, String)> {
        let types = [Format::F32, Format::F64, Format::F16, Format::BF16].map(|ty| {
            let option = format!("--type {}", ty.name().unwrap_or("?"));
            (LiteralTypes { ty: Some(ty), ..self }, option)
        });
        let languages = Language::ALL.map(|language| {
            let types = LiteralTypes { ty: None, language: Some(language), ..self };
            (types, format!("--as {}", language.name()))
        });
        types.into_iter().chain(languages)
    }

    /// The literals of an expression that an `f` makes floats, each once; none where they would be floats without it.
    pub fn floats<'t>(&self, expression: &'t str) -> Vec<&'t str> {
        let has_doubles = self.ty.is_none() && self.language.is_none_or(|it| it.fraction() == Some(Format::F64));
        let mut found = Vec::new();
        for token in tokens(expression).unwrap_or_default() {
            match token.kind {
                Kind::Number(it) if has_doubles && without_suffix(it).is_some() && !found.contains(&it) => {
                    found.push(it)
                }
                _ => {}
            }
        }
        found
    }

    /// An expression where the `f` of these literals was forgotten; `None` if there are none.
    ///
    /// ```
    /// use roundonce_why::LiteralTypes;
    /// let types = LiteralTypes::default();
    /// let text = "0.1f*x + 2.f";
    /// assert_eq!(types.floats(text), ["0.1f", "2.f"]);
    /// assert_eq!(types.with_doubles(text, &["0.1f"]).unwrap().expression, "0.1*x + 2.f");
    /// ```
    pub fn with_doubles(&self, expression: &str, floats: &[&str]) -> Option<Doubles> {
        let (mut text, mut copied) = (String::new(), 0);
        for token in tokens(expression).unwrap_or_default() {
            match token.kind {
                Kind::Number(literal) if floats.contains(&literal) => {
                    text.push_str(&expression[copied..token.at]);
                    text.push_str(without_suffix(literal)?);
                    copied = token.at + literal.len();
                }
                _ => {}
            }
        }
        text.push_str(&expression[copied..]);
        let written = floats.iter().map(|it| format!("`{it}`")).collect::<Vec<String>>().join(", ");
        let doubles = if floats.len() == 1 { "a double" } else { "doubles" };
        let option = format!("{doubles} in the place of {written}");
        let types = LiteralTypes { language: self.language.or(Some(Language::C)), ..*self };
        (copied > 0).then_some(Doubles { expression: text, types, option })
    }

    /// Reads a literal.
    ///
    /// # Errors
    /// As [`parse_typed`].
    pub fn read(&self, text: &str) -> Result<Literal, String> {
        let (value, exact) = parse_typed(text)?;
        if !is_untyped(text) {
            return Ok(Literal::typed(value, exact));
        }
        let strong = match self.ty {
            Some(ty) => Some(ty),
            None if is_integer(text) => None,
            None => self.rules().fraction(),
        };
        let Some(format) = strong else { return Ok(Literal { value, exact, is_weak: true, is_untyped: true }) };
        let number = parse_number(format, text).ok_or_else(|| format!("`{text}` is not a value"))?;
        let value = Typed { format, bits: number.bits };
        Ok(Literal { value, exact: number.exact, is_weak: false, is_untyped: true })
    }

    /// The same beside arrays.
    pub fn beside_arrays(self) -> LiteralTypes {
        LiteralTypes { guess: Language::Numpy, ..self }
    }

    pub(crate) fn rules(&self) -> Language {
        self.language.unwrap_or(self.guess)
    }

    /// What was chosen or guessed, in a sentence about literals of which some have no type.
    pub fn sentence(&self) -> String {
        match (self.ty, self.language) {
            (Some(ty), _) => format!("Literals without a type are {}.", ty.name().unwrap_or("?")),
            (None, Some(language)) => {
                format!("Literals without a type have the type that {} gives them.", language.name())
            }
            (None, None) => format!("Literals without a type are read as with --as {}: a guess.", self.guess.name()),
        }
    }

    /// The type of a literal beside values of some types; as if it stood alone if there are none.
    pub fn beside(&self, types: impl IntoIterator<Item = Format>) -> Format {
        types.into_iter().reduce(common).unwrap_or(self.rules().alone())
    }

    /// Reads an expression; every name must have a value. Literals and names that are weak take the type of what stands
    /// beside them.
    ///
    /// # Errors
    /// As [`crate::parse_expr`].
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use roundonce_arith::Format;
    /// use roundonce_why::{Language, LiteralTypes};
    /// let of = |language: &str, text| {
    ///     let types = LiteralTypes { language: Some(Language::parse(language).unwrap()), ..LiteralTypes::default() };
    ///     let names = BTreeMap::from([("x".to_owned(), types.read("1.5f").unwrap())]);
    ///     types.parse_expr(text, &names).unwrap().format()
    /// };
    /// assert_eq!((of("numpy", "0.1*x"), of("c", "0.1*x"), of("c", "10*x")), (Format::F32, Format::F64, Format::F32));
    /// ```
    pub fn parse_expr(&self, text: &str, names: &BTreeMap<String, Literal>) -> Result<Expr, ExprError> {
        self.parse_statements(text, names).map(|statements| statements.result)
    }

    /// The same with what each statement gives a name.
    ///
    /// # Errors
    /// As [`crate::parse_expr`].
    pub fn parse_statements(&self, text: &str, names: &BTreeMap<String, Literal>) -> Result<Statements, ExprError> {
        let values = names.iter().map(|(name, literal)| (name.clone(), literal.value)).collect();
        let read = parse_in(text, &values, self.language)?;
        let leaf = |value: Typed, written: &str| match names.get(written) {
            Some(literal) => *literal,
            None => self.read(written).unwrap_or(Literal::typed(value, true)),
        };
        let alone = self.beside([]);
        let typing = Typing {
            leaf: &leaf,
            of_literals: self.language.and_then(Language::of_literals),
            keeps_numbers: self.language == Some(Language::Torch),
        };
        let named = read.named.into_iter().map(|(name, expr)| (name, typing.typed(expr, alone))).collect();
        Ok(Statements { named, result: typing.typed(read.result, alone) })
    }
}

/// What gives the parts of an expression their types.
struct Typing<'a> {
    leaf: &'a dyn Fn(Typed, &str) -> Literal,
    /// Of a function of literals alone.
    of_literals: Option<Format>,
    /// Whether a number beside a value of 16 bits stays in f32 as a factor, a divisor or a term, as in torch.
    keeps_numbers: bool,
}

impl Typing<'_> {
    /// The type of an expression, if something in it has one.
    fn strong(&self, expr: &Expr) -> Option<Format> {
        let meet = |a: Option<Format>, b: Option<Format>| match (a, b) {
            (Some(a), Some(b)) => Some(common(a, b)),
            (one, other) => one.or(other),
        };
        match expr {
            Expr::Value(value, written) => {
                let literal = (self.leaf)(*value, written);
                (!literal.is_weak).then_some(literal.value.format)
            }
            Expr::Round(Some(format), _) => Some(*format),
            Expr::Call(Call::ToInteger(_), _) => None,
            Expr::Call(Call::RoundTo(format, _), _) => Some(*format),
            _ => {
                let of_parts = expr.parts().into_iter().fold(None, |known, part| meet(known, self.strong(part)));
                of_parts.or(self.of_literals.filter(|_| is_of_literals(expr)))
            }
        }
    }

    /// The expression with every leaf of its type; `beside` is that of what stands beside it.
    fn typed(&self, expr: Expr, beside: Format) -> Expr {
        let own = self.strong(&expr).unwrap_or(beside);
        match expr {
            Expr::Value(value, written) => {
                let Literal { value, is_weak, .. } = (self.leaf)(value, &written);
                let bits = convert(value.format, own, Rounding::NearestEven, value.bits).0;
                Expr::Value(if is_weak { Typed { format: own, bits } } else { value }, written)
            }
            Expr::Round(Some(format), inner) => match self.typed(*inner, format) {
                // A cast to the type that it has already.
                inner if inner.float_type() == Some(format) => inner,
                inner => Expr::Round(Some(format), Box::new(inner)),
            },
            _ if self.keeps_numbers && own.width() == 16 && self.has_a_number(&expr) => {
                let is_sum = matches!(expr, Expr::Add(..) | Expr::Sub(..));
                let wide = expr.map_parts(|part| match self.strong(&part) {
                    Some(own) => Expr::Round(Some(Format::F32), Box::new(self.typed(part, own))),
                    // What stands apart is what `rewrite.rs` looks for: torch's kernels differ in it.
                    None if is_sum => Expr::Round(None, Box::new(self.typed(part, Format::F32))),
                    None => self.typed(part, Format::F32),
                });
                Expr::Round(Some(own), Box::new(wide))
            }
            _ => expr.map_parts(|part| self.typed(part, own)),
        }
    }

    /// Whether it is a product or a sum of a value and a number, or a quotient by a number.
    fn has_a_number(&self, expr: &Expr) -> bool {
        let is_number = |part: &Expr| self.strong(part).is_none();
        match expr {
            Expr::Mul(a, b) | Expr::Add(a, b) | Expr::Sub(a, b) => is_number(a) != is_number(b),
            Expr::Call(Call::Function(Function::Divide), parts) => !is_number(&parts[0]) && is_number(&parts[1]),
            _ => false,
        }
    }
}

/// Whether it is a function of literals, such as `sqrt(2)`.
fn is_of_literals(expr: &Expr) -> bool {
    let is_literal = |part: &Expr| matches!(part, Expr::Value(_, written) if is_untyped(written));
    match expr {
        Expr::Call(Call::Function(function), parts) => *function != Function::Divide && parts.iter().all(is_literal),
        _ => false,
    }
}
