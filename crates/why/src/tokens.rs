//! The names, numbers and signs of an expression.

use crate::expr::ExprError;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind<'t> {
    Number(&'t str),
    /// `np.float32` and `std::exp` are one name.
    Name(&'t str),
    Mark(&'t str),
    /// The end of a line outside brackets, or `;`.
    Separator,
}

/// A token and the byte at which it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind<'t>,
    pub(crate) at: usize,
}

impl Token<'_> {
    fn ends_operand(&self) -> bool {
        matches!(self.kind, Kind::Number(_) | Kind::Name(_) | Kind::Mark(")"))
    }
}

/// Whether what stands behind `//` may go on with an expression: a comment is of several words, as a rule.
fn may_be_divisor(text: &str) -> bool {
    let is_word = |token: &Token| matches!(token.kind, Kind::Number(_) | Kind::Name(_));
    let text = text.split("//").next().unwrap_or_default();
    tokens(text).is_ok_and(|tokens| {
        tokens.first().is_some_and(|first| is_word(first) || matches!(first.kind, Kind::Mark("(" | "-")))
            && !tokens.windows(2).any(|pair| is_word(&pair[0]) && is_word(&pair[1]))
    })
}

/// Two characters before one.
static MARKS: [&str; 22] = [
    "**", "+=", "-=", "*=", "/=", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ",", "=", "^", "%",
    "@",
];

/// What is said of a bracket that does not begin a name's index.
static BRACKET: &str = "`[` is not read here: an index stands behind a name, as in `a[1]` or `a[i, k]`, and an array is a \
                        value, as in `a=[1f, 2f]`";

/// The tokens of an expression.
///
/// # Errors
/// The first character that none begins with.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ExprError> {
    let (mut tokens, mut at, mut depth) = (Vec::new(), 0, 0usize);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut push = |kind, length: usize| {
            tokens.push(Token { kind, at });
            length
        };
        at += if first == ';' || first == '\n' && depth == 0 {
            push(Kind::Separator, 1)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") || first == '#' {
            let length = rest.find('\n').unwrap_or(rest.len());
            let is_behind_operand = tokens.last().is_some_and(Token::ends_operand);
            if first == '/' && is_behind_operand && may_be_divisor(&rest[2..length]) {
                let message = "`//` divides and rounds down in Python, which is not computed, and begins a comment elsewhere: \
                               write floor(a / b), or leave the comment out";
                return Err(ExprError { at, message: message.to_owned() });
            }
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = name_length(rest);
            push(Kind::Name(&rest[..length]), length)
        } else if first.is_ascii_digit() || first == '.' {
            let length = literal_length(rest);
            push(Kind::Number(&rest[..length]), length)
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            depth = if mark == "(" { depth + 1 } else { depth.saturating_sub(usize::from(mark == ")")) };
            push(Kind::Mark(mark), mark.len())
        } else {
            let message = match first {
                '[' => BRACKET.to_owned(),
                _ => format!("`{first}` is not known: expected names, numbers, + - * / ** ( ) , = < > or ;"),
            };
            return Err(ExprError { at, message });
        };
    }
    Ok(tokens)
}

/// Letters, digits and underscores, with points and `::` between; an index in brackets belongs to it: `a[i]`, `m[2, k]`.
fn name_length(text: &str) -> usize {
    let is_first = |c: char| c.is_alphabetic() || c == '_';
    let part = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut length = part(text);
    loop {
        let rest = &text[length..];
        if let Some(index) = index_length(rest) {
            length += index;
            continue;
        }
        let Some(next) = rest.strip_prefix("::").or_else(|| rest.strip_prefix('.')) else { return length };
        if !next.starts_with(is_first) {
            return length;
        }
        length = text.len() - next.len() + part(next);
    }
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

/// The length of an index in brackets; `None` where there is none, or no simple one.
fn index_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find(|c: char| !c.is_alphanumeric() && !"_+-*, :.".contains(c))?;
    (end > 0 && inner[end..].starts_with(']')).then_some(end + 2)
}
