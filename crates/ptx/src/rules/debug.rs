//! Debug data: `.section` and `.file`.

use super::Check;
use super::directives::{DIFFERENCE, LABELS, NEGATIVE, OFFSET, SECTION, STAMPED};
use crate::ast::{Directive, Line, OperandKind, Section, Span};
use crate::lexer::{Lexer, Mark, Token, TokenKind};
use crate::literal::{Constant, evaluate, integer};
use roundonce_isa::Finding;
use std::collections::HashSet;

const FILE: &str = "PTX ISA, 11.5 debugging directives";
pub(super) const LINES: &str = "PTX ISA, 11.5.4 .loc";

/// A type of debug data: the greatest number in it, the least below zero, and whether labels are. As ptxas has them.
struct Type {
    name: &'static str,
    most: u64,
    below: u64,
    labels: bool,
}

static TYPES: &[Type] = &[
    Type { name: ".b8", most: 0xff, below: 1 << 7, labels: false },
    Type { name: ".b16", most: 0xffff, below: 1 << 15, labels: false },
    Type { name: ".b32", most: u64::MAX, below: 1 << 31, labels: true },
    Type { name: ".b64", most: u64::MAX, below: (1 << 63) - 1, labels: true },
];

/// A section's tokens.
struct Data<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token,
}

impl<'a> Data<'a> {
    fn advance(&mut self) -> Token {
        std::mem::replace(&mut self.token, self.lexer.next())
    }
    fn eat(&mut self, mark: u8) -> bool {
        let found = self.token.is(mark);
        if found {
            self.advance();
        }
        found
    }
    fn here(&self) -> &'a str {
        self.token.span.of(self.text)
    }
}

/// What not every version has.
#[derive(Default)]
struct Needs {
    labels: bool,
    offset: bool,
    negative: bool,
    difference: bool,
}

/// What stands in debug data where something else was expected.
struct Wrong {
    at: Span,
    expected: &'static str,
}

impl<'a> Check<'_, 'a> {
    pub(super) fn section(&mut self, section: &Section<'a>) {
        let mut lexer = Lexer::new(section.body);
        let token = lexer.next();
        let mut data = Data { text: section.body, lexer, token };
        let mut needs = Needs::default();
        self.labels.insert(section.name);
        let wrong = read(&mut data, &mut needs, &mut self.labels);
        let Needs { labels, offset, negative, difference } = needs;
        for (needed, what) in [(labels, LABELS), (offset, OFFSET), (negative, NEGATIVE), (difference, DIFFERENCE)] {
            if needed {
                self.available(what, self.span(section.name));
            }
        }
        if let Err(Wrong { at, expected }) = wrong {
            let found = match at.of(section.body) {
                "" => "its end",
                found => found,
            };
            let message = format!("`{found}` in the section `{}`: expected {expected}", section.name);
            let place = self.span(section.body).start;
            let place = Span::new(place + at.start, place + at.end).place();
            self.report(Finding::error("PTX0036", place, message).rule(SECTION));
        }
    }

    /// A source line, and where what it is of was inlined: at one that a `.loc` before it names.
    pub(super) fn line(&mut self, line: &Line<'a>) {
        if let Some((label, _, at)) = line.inlined {
            self.inlined.push((label, line.span));
            if !self.lines.contains(&at) {
                let [file, number, column] = at;
                let message = format!("inlined at {file} {number} {column}: expected what a `.loc` before it has");
                self.report(Finding::error("PTX0036", line.span.place(), message).rule(LINES));
            }
        }
        self.lines.insert([line.file, line.line, line.column]);
    }

    /// That the name of each function that was inlined is in debug data.
    pub(super) fn inlined_names(&mut self) {
        for (label, span) in std::mem::take(&mut self.inlined) {
            if !self.labels.contains(label) {
                let message =
                    format!("the name of a function at `{label}`: expected a label of a `.section`, or a section");
                self.report(Finding::error("PTX0036", span.place(), message).rule(LINES));
            }
        }
    }

    /// A section among statements.
    pub(super) fn section_in_body(&mut self, section: &Section<'a>) {
        let message = format!("the section `{}` in a body: expected it outside functions", section.name);
        self.report(Finding::error("PTX0036", section.span.place(), message).rule(SECTION));
    }

    /// `.file INDEX "PATH", TIME, SIZE`
    pub(super) fn file(&mut self, directive: &Directive<'a>) {
        let module = self.module;
        let [index, _, rest @ ..] = module.operands(directive.operands) else { return };
        if !rest.is_empty() {
            self.available(STAMPED, directive.span);
        }
        let natural = |operand: &super::Operand| match operand.kind {
            OperandKind::Number(_) | OperandKind::Name("WARP_SZ") => {
                evaluate(module, operand).ok().and_then(Constant::natural)
            }
            _ => None,
        };
        let wrong = match natural(index) {
            None => Some((index, "an integer as its index")),
            Some(number) if !self.files.insert(number) => Some((index, "an index that no other `.file` has")),
            Some(_) => {
                let more = rest.iter().enumerate().find(|(at, operand)| *at > 1 || natural(operand).is_none());
                more.map(|(_, operand)| (operand, "the time and the size of the file behind its path, integers"))
            }
        };
        if let Some((operand, expected)) = wrong {
            let message = format!("`{}` in `.file`: expected {expected}", operand.span.of(module.text()));
            self.report(Finding::error("PTX0036", operand.span.place(), message).rule(FILE));
        }
    }
}

/// Reads labels, and types with values; notes what not every version has.
fn read<'a>(data: &mut Data<'a>, needs: &mut Needs, labels: &mut HashSet<&'a str>) -> Result<(), Wrong> {
    loop {
        match data.token.kind {
            TokenKind::End => return Ok(()),
            TokenKind::Word => {
                let at = data.advance().span;
                if !labels.insert(at.of(data.text)) {
                    return Err(Wrong { at, expected: "another label than one before" });
                }
                if !data.eat(b':') {
                    return Err(Wrong { at: data.token.span, expected: "`:` behind a label" });
                }
                needs.labels = true;
            }
            TokenKind::Dot => {
                let Some(ty) = TYPES.iter().find(|ty| ty.name == data.here()) else {
                    return Err(Wrong { at: data.token.span, expected: "`.b8`, `.b16`, `.b32` or `.b64`" });
                };
                data.advance();
                value(data, ty, needs)?;
                while data.eat(b',') {
                    value(data, ty, needs)?;
                }
            }
            _ => return Err(Wrong { at: data.token.span, expected: "a label, or a type like `.b8`" }),
        }
    }
}

/// A number; in 32 and 64 bits also a label or a section, with a number or less another label.
fn value(data: &mut Data, ty: &Type, needs: &mut Needs) -> Result<(), Wrong> {
    match data.token.kind {
        TokenKind::Number | TokenKind::Mark(Mark(b'-', 0)) => number(data, ty, needs),
        TokenKind::Word | TokenKind::Dot if ty.labels => {
            data.advance();
            if data.eat(b'+') {
                needs.offset = true;
                return match data.token.kind {
                    TokenKind::Number => number(data, ty, needs),
                    _ => Err(Wrong { at: data.token.span, expected: "a number" }),
                };
            }
            if data.eat(b'-') {
                needs.difference = true;
                if data.token.kind != TokenKind::Word {
                    return Err(Wrong { at: data.token.span, expected: "a label" });
                }
                data.advance();
            }
            Ok(())
        }
        _ => Err(Wrong { at: data.token.span, expected: "a number, or in 32 and 64 bits a label" }),
    }
}

fn number(data: &mut Data, ty: &Type, needs: &mut Needs) -> Result<(), Wrong> {
    let is_negative = data.eat(b'-');
    needs.negative |= is_negative;
    let token = data.advance();
    let value = integer(token.span.of(data.text)).filter(|_| token.kind == TokenKind::Number);
    let Some(value) = value else { return Err(Wrong { at: token.span, expected: "an integer" }) };
    let most = if is_negative { ty.below } else { ty.most };
    if value.bits <= most { Ok(()) } else { Err(Wrong { at: token.span, expected: "a number that fits" }) }
}
