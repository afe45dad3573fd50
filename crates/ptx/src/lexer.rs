//! Text to tokens, one at a time and without allocation.
//!
//! White space and comments separate tokens and are dropped. A dot belongs to the word behind it (`.rn`,
//! `.L2::128B`), because white space may stand before it and never after it.

use crate::ast::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// The end of the text.
    End,
    /// `fma`, `%f1`, `$L__BB0_2`
    Word,
    /// `.f32`
    Dot,
    /// `42`, `0x10U`, `1.5e3`
    Number,
    /// `0f3F800000`, `0d…`: raw bits, which take part in no expression but, for `0d`, behind a minus.
    Bits32,
    /// See [`TokenKind::Bits32`].
    Bits64,
    /// A string, its quotes included.
    Text,
    /// A single character, or one of the operators of two.
    Mark(Mark),
    /// A line that begins with `@@DWARF`.
    Dwarf,
    /// Something that begins no token.
    Junk,
    /// A comment or string without an end.
    Unended,
}

/// Punctuation: the character, and a second one or 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark(pub(crate) u8, pub(crate) u8);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

impl Token {
    pub(crate) fn is(&self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(Mark(mark, 0))
    }
}

const SPACE: u8 = 1;
const WORD: u8 = 2; // goes on a word
const START: u8 = 4; // begins a word
const DIGIT: u8 = 8;
const HEX: u8 = 16;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        class[byte] = match c {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => SPACE,
            b'0'..=b'9' => WORD | DIGIT | HEX,
            b'a'..=b'f' | b'A'..=b'F' => WORD | START | HEX,
            b'g'..=b'z' | b'G'..=b'Z' => WORD | START,
            b'_' | b'$' => WORD | START,
            b'%' => START,
            _ => 0,
        };
        byte += 1;
    }
    class
};

pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Whether a string has no end: every later one is without.
    is_string_lost: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, is_string_lost: false }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    fn class(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).map_or(0, |&byte| CLASS[byte as usize])
    }
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }
    fn run(&self, mut at: usize, class: u8) -> usize {
        while self.class(at) & class != 0 {
            at += 1;
        }
        at
    }

    /// Goes back (or on) to a byte.
    pub(crate) fn seek(&mut self, at: u32) {
        self.at = at as usize;
    }

    /// The rest of the line from where the lexer stands.
    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().position(|&byte| byte == b'\n').map_or(self.text.len(), |length| from + length)
    }

    /// Skips white space and comments; a comment without an end is given back as a token.
    fn skip(&mut self) -> Option<Token> {
        loop {
            self.at = self.run(self.at, SPACE);
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'/', b'/') => self.at = self.line_end(self.at),
                (b'/', b'*') => {
                    let start = self.at;
                    match self.text.as_bytes()[start + 2..].windows(2).position(|pair| pair == b"*/") {
                        Some(length) => self.at = start + 2 + length + 2,
                        None => {
                            self.at = self.text.len();
                            return Some(self.token(TokenKind::Unended, start));
                        }
                    }
                }
                // A C preprocessor's `# 12 "file"`. Other lines with # are errors to the assembler too.
                (b'#', _) if self.class(self.run(self.at + 1, SPACE)) & DIGIT != 0 => {
                    self.at = self.line_end(self.at);
                }
                // Modules cut out of binaries end in zeros.
                (0, _) if self.at < self.text.len() && self.text.as_bytes()[self.at..].iter().all(|&b| b == 0) => {
                    self.at = self.text.len();
                }
                _ => return None,
            }
        }
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    pub(crate) fn next(&mut self) -> Token {
        if let Some(unended) = self.skip() {
            return unended;
        }
        let start = self.at;
        let first = self.byte(start);
        let class = CLASS[first as usize];
        if class & START != 0 {
            self.at = self.run(start + 1, WORD);
            // A `%` alone is the remainder; `_` alone is a word.
            let kind =
                if first == b'%' && self.at == start + 1 { TokenKind::Mark(Mark(b'%', 0)) } else { TokenKind::Word };
            return self.token(kind, start);
        }
        if class & DIGIT != 0 {
            let kind = self.number(start);
            return self.token(kind, start);
        }
        match first {
            b'.' => {
                self.at = self.run(start + 1, WORD);
                if self.at == start + 1 {
                    return self.token(TokenKind::Junk, start);
                }
                while self.byte(self.at) == b':'
                    && self.byte(self.at + 1) == b':'
                    && self.class(self.at + 2) & WORD != 0
                {
                    self.at = self.run(self.at + 2, WORD);
                }
                self.token(TokenKind::Dot, start)
            }
            b'"' => self.string(start),
            0 if start >= self.text.len() => self.token(TokenKind::End, start),
            b'@' if self.text.as_bytes()[start..].starts_with(b"@@DWARF") => {
                self.at = self.line_end(start);
                self.token(TokenKind::Dwarf, start)
            }
            _ => self.mark(start, first),
        }
    }

    fn mark(&mut self, start: usize, first: u8) -> Token {
        let second = self.byte(start + 1);
        let pair = matches!(
            (first, second),
            (b'<', b'<' | b'=') | (b'>', b'>' | b'=') | (b'=', b'=') | (b'!', b'=') | (b'&', b'&') | (b'|', b'|')
        );
        if pair {
            self.at = start + 2;
            return self.token(TokenKind::Mark(Mark(first, second)), start);
        }
        if b"@;,:(){}[]<>=+-*/!~&|^?".contains(&first) {
            self.at = start + 1;
            return self.token(TokenKind::Mark(Mark(first, 0)), start);
        }
        // A whole character, so that a span never cuts one.
        self.at = start + self.text[start..].chars().next().map_or(1, char::len_utf8);
        self.token(TokenKind::Junk, start)
    }

    /// A string. It has no escapes: a backslash is itself, and the next quote ends it.
    fn string(&mut self, start: usize) -> Token {
        let rest = &self.text.as_bytes()[start + 1..];
        let length = if self.is_string_lost { None } else { rest.iter().position(|&byte| byte == b'"') };
        let Some(length) = length else {
            // What stands behind its line is read all the same, and no other string looked for in it.
            self.at = self.line_end(start);
            self.is_string_lost = true;
            return self.token(TokenKind::Unended, start);
        };
        self.at = start + 1 + length + 1;
        self.token(TokenKind::Text, start)
    }

    /// A number from `start`, which a digit or (asked for by the parser) a dot stands at. As the assembler does, it
    /// takes the longest number there is and leaves the rest to the next token: `0f3F80000` is `0`, then a word.
    fn number(&mut self, start: usize) -> TokenKind {
        let digits = |lexer: &Self, from: usize, class: u8, count: usize| {
            (0..count).all(|k| lexer.class(from + k) & class != 0).then_some(from + count)
        };
        if self.byte(start) == b'0' {
            let body = start + 2;
            let radix_end = match self.byte(start + 1) {
                b'f' | b'F' => {
                    if let Some(end) = digits(self, body, HEX, 8) {
                        self.at = end;
                        return TokenKind::Bits32;
                    }
                    start
                }
                b'd' | b'D' => {
                    if let Some(end) = digits(self, body, HEX, 16) {
                        self.at = end;
                        return TokenKind::Bits64;
                    }
                    start
                }
                b'x' | b'X' => self.run(body, HEX),
                b'b' | b'B' => {
                    let mut end = body;
                    while matches!(self.byte(end), b'0' | b'1') {
                        end += 1;
                    }
                    end
                }
                _ => start,
            };
            if radix_end > body {
                self.at = self.unsigned(radix_end);
                return TokenKind::Number;
            }
        }
        let whole = self.run(start, DIGIT);
        let mut end = whole;
        if self.byte(end) == b'.' {
            end = self.run(end + 1, DIGIT);
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            let exponent = self.run(end + 1 + sign, DIGIT);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        if end == whole {
            // A whole number; with a leading zero it is octal and ends before an 8.
            if self.byte(start) == b'0' {
                end = start + 1;
                while matches!(self.byte(end), b'0'..=b'7') {
                    end += 1;
                }
            }
            end = self.unsigned(end);
        }
        self.at = end;
        TokenKind::Number
    }

    /// Past a `U`.
    fn unsigned(&self, end: usize) -> usize {
        end + usize::from(self.byte(end) == b'U')
    }

    /// The token at a dot read again as a number, `.5`; nothing if no digit follows the dot.
    pub(crate) fn number_at_dot(&mut self, start: u32) -> Option<Token> {
        let start = start as usize;
        if self.class(start + 1) & DIGIT == 0 {
            return None;
        }
        let kind = self.number(start);
        Some(self.token(kind, start))
    }
}
