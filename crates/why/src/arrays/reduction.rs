//! A sum over an axis or a matrix product as it is written: where it stands in a text, and what it is of.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::expr::ExprError;
use crate::tokens::{Kind, Token, tokens};

/// What is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// A sum over an axis or over all.
    Sum,
    /// A sum divided by the number of its terms.
    Mean,
    /// A product of vectors or matrices: `a @ b`.
    Product,
    /// `dot(a, b)`: the same of at most two axes each.
    Dot,
}

/// Whether a name is that of a function that takes arrays alone.
pub(crate) fn is_reduction(name: &str) -> bool {
    function(name).is_some()
}

/// A reduction in a text, by bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Written {
    pub(super) word: Word,
    pub(super) span: Range<usize>,
    /// What is summed, or the two factors.
    pub(super) operands: Vec<Range<usize>>,
    /// The axis, counted from the last if it is negative, and where it stands; all of them without one.
    pub(super) axis: Option<(i64, usize)>,
    /// Whether the axis stays, of length 1.
    pub(super) keeps_axis: bool,
    /// Where its statement begins.
    pub(super) statement: usize,
}

static SUMS: [&str; 2] = ["sum", "mean"];
static PRODUCTS: [&str; 6] = ["dot", "matmul", "mm", "mv", "bmm", "vdot"];
/// What stands before a function's name, and is no array.
static MODULES: [&str; 8] = ["np", "numpy", "cp", "cupy", "torch", "jnp", "jax.numpy", "tf"];

/// A function's name: its word, and the array that it is a method of.
fn function(name: &str) -> Option<(Word, Option<&str>)> {
    let (before, last) = name.rsplit_once('.').map_or((None, name), |(before, last)| (Some(before), last));
    let word = match last {
        "sum" => Word::Sum,
        "mean" => Word::Mean,
        "dot" | "vdot" => Word::Dot,
        _ if PRODUCTS.contains(&last) => Word::Product,
        _ => return None,
    };
    Some((word, before.filter(|before| !MODULES.contains(before))))
}

/// Bytes of a text that statements are written into, at most.
const MAX_INLINED: usize = 1 << 16;

/// A text whose statements before a byte, each `name = …`, are written where their names stand behind it: the arrays of what
/// they compute need not have the shape of a reduction of them. `None` where a statement is something else.
pub(super) fn inlined(text: &str, from: usize) -> Option<String> {
    let tokens = tokens(text).ok()?;
    let written = |part: &[Token<'_>], values: &BTreeMap<&str, String>| -> String {
        // A method's name stands behind its array's.
        let word = |name: &str| match (values.get(name), name.split_once('.')) {
            (Some(value), _) => value.clone(),
            (None, Some((base, method))) if values.contains_key(base) => format!("{}.{method}", values[base]),
            _ => name.to_owned(),
        };
        let words = part.iter().map(|token| match token.kind {
            Kind::Name(name) => word(name),
            Kind::Number(text) | Kind::Mark(text) => text.to_owned(),
            Kind::Separator => ";".to_owned(),
        });
        words.collect::<Vec<String>>().join(" ")
    };
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    let before = tokens.iter().take_while(|token| token.at < from).count();
    for statement in tokens[..before].split(|token| token.kind == Kind::Separator).filter(|it| !it.is_empty()) {
        let [Token { kind: Kind::Name(name), .. }, Token { kind: Kind::Mark("="), .. }, value @ ..] = statement else {
            return None;
        };
        let value = format!("({})", written(value, &values));
        if value.len() > MAX_INLINED {
            return None;
        }
        values.insert(name, value);
    }
    let inlined = written(&tokens[before..], &values);
    (inlined.len() <= MAX_INLINED).then_some(inlined)
}

struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    end: usize,
}

impl Reader<'_> {
    fn mark(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }
    /// The byte behind a token.
    fn end_of(&self, at: usize) -> usize {
        let token = &self.tokens[at];
        token.at
            + match token.kind {
                Kind::Number(text) | Kind::Name(text) | Kind::Mark(text) => text.len(),
                Kind::Separator => 1,
            }
    }
    /// The bracket that closes the one at a token.
    fn closing(&self, open: usize) -> Result<usize, ExprError> {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.mark(at) {
                Some("(") => depth += 1,
                Some(")") if depth == 1 => return Ok(at),
                Some(")") => depth -= 1,
                _ => {}
            }
        }
        Err(ExprError { at: self.end, message: "found the end, expected `)` behind the sum".to_owned() })
    }
    /// The bracket that opens what the one at a token closes.
    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.mark(at) {
                Some(")") => depth += 1,
                Some("(") if depth == 1 => return Some(at),
                Some("(") => depth -= 1,
                _ => {}
            }
        }
        None
    }
    fn range(&self, tokens: Range<usize>) -> Range<usize> {
        self.tokens[tokens.start].at..self.end_of(tokens.end - 1)
    }

    /// The tokens of each argument between brackets.
    fn arguments(&self, open: usize, close: usize) -> Vec<Range<usize>> {
        let (mut arguments, mut first, mut depth) = (Vec::new(), open + 1, 0usize);
        for at in open + 1..=close {
            match self.mark(at) {
                _ if at == close => {}
                Some("(") => depth += 1,
                Some(")") => depth -= 1,
                Some(",") if depth == 0 => {}
                _ => continue,
            }
            if at == close || self.mark(at) == Some(",") && depth == 0 {
                arguments.push(first..at);
                first = at + 1;
            }
        }
        arguments.retain(|argument| !argument.is_empty());
        arguments
    }

    /// The factors on both sides of an `@`, by tokens: to the left products and quotients too, as in Python.
    fn factors(&self, at: usize) -> Result<[Range<usize>; 2], ExprError> {
        let missing = |token: usize, side: &str| {
            let place = self.tokens.get(token).map_or(self.end, |token| token.at);
            ExprError { at: place, message: format!("expected an array {side} `@`") }
        };
        let (mut first, mut depth) = (at, 0usize);
        while first > 0 {
            match (&self.tokens[first - 1].kind, self.mark(first - 1)) {
                (_, Some(")")) => depth += 1,
                (_, Some("(")) if depth > 0 => depth -= 1,
                (_, Some("*" | "/" | "**")) => {}
                (_, Some(_)) if depth == 0 => break,
                (Kind::Separator, _) => break,
                (Kind::Name("return"), _) => break,
                _ => {}
            }
            first -= 1;
        }
        if first == at {
            return Err(missing(at, "before"));
        }
        let mut end = at + 1;
        loop {
            while matches!(self.mark(end), Some("-" | "+")) {
                end += 1;
            }
            match (self.tokens.get(end).map(|token| token.kind), self.mark(end + 1)) {
                (Some(Kind::Name(_)), Some("(")) => end = self.closing(end + 1)? + 1,
                (Some(Kind::Name(_) | Kind::Number(_)), _) => end += 1,
                (Some(Kind::Mark("(")), _) => end = self.closing(end)? + 1,
                _ => return Err(missing(end, "behind")),
            }
            if self.mark(end) != Some("**") {
                break;
            }
            end += 1;
        }
        Ok([first..at, at + 1..end])
    }
}

/// The first reduction of a text, the outermost of those within each other.
///
/// # Errors
/// For one that is not closed, or whose arguments are not what is summed, an axis and whether it is kept.
pub(super) fn first_reduction(text: &str) -> Result<Option<Written>, ExprError> {
    // What is no expression is said where it is read.
    let Ok(tokens) = tokens(text) else { return Ok(None) };
    let reader = Reader { tokens, end: text.len() };
    let mut statement = 0;
    let mut product = None;
    for at in 0..reader.tokens.len() {
        let token = reader.tokens[at];
        let is_call = reader.mark(at + 1) == Some("(");
        match token.kind {
            Kind::Separator => {
                if product.is_some() {
                    break;
                }
                statement = reader.end_of(at);
            }
            Kind::Mark("@") if product.is_none() => {
                let factors = reader.factors(at)?;
                let span = reader.range(factors[0].start..factors[1].end);
                product = Some(Written {
                    word: Word::Product,
                    span,
                    operands: factors.map(|factor| reader.range(factor)).to_vec(),
                    axis: None,
                    keeps_axis: false,
                    statement,
                });
            }
            Kind::Name(name) if is_call && function(name).is_some() => {
                let Some((word, of)) = function(name) else { continue };
                let own = of.map(|of| token.at..token.at + of.len());
                let written = reader.call(word, token.at, own, at + 1, statement)?;
                return Ok(Some(outer(product, written)));
            }
            // `(a*b).sum(1)`
            Kind::Number(name) if is_call && at > 0 && reader.mark(at - 1) == Some(")") => {
                let word = name.strip_prefix('.').filter(|name| SUMS.contains(name) || *name == "dot");
                let Some((word, _)) = word.and_then(function) else { continue };
                let Some(open) = reader.opening(at - 1) else { continue };
                let own = reader.range(open..at);
                let written = reader.call(word, own.start, Some(own), at + 1, statement)?;
                return Ok(Some(outer(product, written)));
            }
            _ => {}
        }
    }
    Ok(product)
}

/// Of a product that stands before a call in the text, the one that the other does not stand in.
fn outer(product: Option<Written>, call: Written) -> Written {
    match product {
        Some(product) if product.span.start < call.span.start || product.span.end > call.span.end => product,
        _ => call,
    }
}

impl Reader<'_> {
    /// The call of a function, of an array that stands before its name if it is a method.
    fn call(
        &self,
        word: Word,
        start: usize,
        own: Option<Range<usize>>,
        open: usize,
        statement: usize,
    ) -> Result<Written, ExprError> {
        let close = self.closing(open)?;
        let mut written = Written {
            word,
            span: start..self.end_of(close),
            operands: own.into_iter().collect(),
            axis: None,
            keeps_axis: false,
            statement,
        };
        let wanted = if SUMS.contains(&word.name()) { 1 } else { 2 };
        for argument in self.arguments(open, close) {
            let place = self.tokens[argument.start].at;
            let fault = |message: String| Err(ExprError { at: place, message });
            let key = match (self.tokens[argument.start].kind, self.mark(argument.start + 1)) {
                (Kind::Name(key), Some("=")) => Some(key),
                _ => None,
            };
            let value = argument.start + if key.is_some() { 2 } else { 0 }..argument.end;
            if value.is_empty() {
                return fault("expected a value behind `=`".to_owned());
            }
            let value = self.range(value);
            if key.is_none() && written.operands.len() < wanted {
                written.operands.push(value);
                continue;
            }
            let of_value = Reader::text(self, &value);
            match key {
                None | Some("axis" | "dim" | "dims") if wanted == 1 => match of_value.parse::<i64>() {
                    Ok(axis) => written.axis = Some((axis, value.start)),
                    Err(_) if of_value == "None" => written.axis = None,
                    Err(_) => {
                        let message = format!("`{of_value}` is not an axis: expected one number, such as 0 or -1");
                        return Err(ExprError { at: value.start, message });
                    }
                },
                Some("keepdims" | "keepdim") if wanted == 1 => match of_value.as_str() {
                    "True" | "true" | "1" => written.keeps_axis = true,
                    "False" | "false" | "0" => written.keeps_axis = false,
                    _ => return fault("expected keepdims=True or keepdims=False".to_owned()),
                },
                Some(key) => {
                    return fault(format!("`{key}` is not known of {}: expected axis, keepdims", word.name()));
                }
                None => return fault(format!("`{}` takes {wanted} operands", word.name())),
            }
        }
        if written.operands.len() != wanted {
            let message = format!("`{}` takes {wanted} operands, found {}", word.name(), written.operands.len());
            return Err(ExprError { at: start, message });
        }
        Ok(written)
    }

    /// The text of some bytes, without the spaces between its tokens.
    fn text(&self, bytes: &Range<usize>) -> String {
        let within = self.tokens.iter().filter(|token| bytes.contains(&token.at));
        let text = |token: &Token<'_>| match token.kind {
            Kind::Number(text) | Kind::Name(text) | Kind::Mark(text) => text.to_owned(),
            Kind::Separator => ";".to_owned(),
        };
        within.map(text).collect()
    }
}

impl Word {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Word::Sum => "sum",
            Word::Mean => "mean",
            Word::Product => "matmul",
            Word::Dot => "dot",
        }
    }
}
