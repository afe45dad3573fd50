//! Operands and constant expressions.
//!
//! A name takes part in one sum only, `name + constant`: arithmetic is for constants.

use super::{Failed, Parser, Result};
use crate::ast::{Binary, Cast, Component, Operand, OperandKind, Operands, Span, Unary};
use crate::lexer::{Mark, Token, TokenKind};
use crate::video::Selector;
use roundonce_isa::Finding;

impl<'a> Parser<'a> {
    pub(super) fn make(&self, start: Span, kind: OperandKind<'a>) -> Operand<'a> {
        Operand { span: self.since(start), kind }
    }

    /// One operand of an instruction.
    pub(super) fn operand(&mut self) -> Result<Operand<'a>> {
        self.number_at_dot();
        let start = self.token.span;
        let operand = match self.token.kind {
            TokenKind::Mark(Mark(b'[', 0)) => {
                let items = self.bracketed(b'[', b']', "`,` or `]`")?;
                self.make(start, OperandKind::Address(items))
            }
            TokenKind::Mark(Mark(b'{', 0)) => {
                let items = self.bracketed(b'{', b'}', "`,` or `}`")?;
                self.make(start, OperandKind::Vector(items))
            }
            TokenKind::Word => {
                let name = self.advance();
                self.named(name)?
            }
            // A register negated, as video instructions have it, and predicates inverted.
            TokenKind::Mark(Mark(sign @ (b'-' | b'!'), 0)) => {
                let mark = self.advance();
                if self.token.kind == TokenKind::Word && !matches!(self.here(), "WARP_SZ" | "_") {
                    let name = self.advance();
                    let inner = self.name_or_component(name)?;
                    let inner = self.push(inner);
                    let unary = if sign == b'-' { Unary::Minus } else { Unary::Not };
                    self.make(start, OperandKind::Unary(unary, inner))
                } else {
                    self.lexer.seek(mark.span.start);
                    self.token = self.lexer.next();
                    self.constant()?
                }
            }
            TokenKind::Dot => {
                let word = self.advance();
                let dot = self.make(start, OperandKind::Dot(self.slice(word.span)));
                if self.at(b'(') { self.apply(dot)? } else { dot }
            }
            TokenKind::Text => {
                let text = self.advance();
                self.ascii(text.span);
                let inner = Span::new(text.span.start + 1, text.span.end - 1);
                self.make(start, OperandKind::Text(self.slice(inner)))
            }
            TokenKind::Number
            | TokenKind::Bits32
            | TokenKind::Bits64
            | TokenKind::Mark(Mark(b'(' | b'+' | b'~', 0)) => {
                let value = self.constant()?;
                if self.at(b'(') { self.apply(value)? } else { value }
            }
            _ => return Err(self.unexpected("an operand")),
        };
        Ok(operand)
    }

    /// Reports what is no ASCII in a string.
    fn ascii(&mut self, string: Span) {
        let Some((at, character)) = self.slice(string).char_indices().find(|(_, character)| !character.is_ascii())
        else {
            return;
        };
        let start = string.start + at as u32;
        let place = Span::new(start, start + character.len_utf8() as u32).place();
        let message = format!("`{character}` in a string: expected ASCII, as everywhere but in comments");
        self.report(Finding::error("PTX0001", place, message).rule("PTX ISA, 4.1 source format"));
    }

    /// The first operand of an instruction, which may be a result and a predicate: `d|p`.
    pub(super) fn first_operand(&mut self) -> Result<Operand<'a>> {
        let from = self.open.len();
        let first = self.operand()?;
        if !self.eat(b'|') {
            return Ok(first);
        }
        self.open.push(first);
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected("a predicate register or `_`"));
        }
        let name = self.advance();
        let second = self.name_or_component(name)?;
        self.open.push(second);
        let pair = self.close(from);
        Ok(self.make(first.span, OperandKind::Pair(pair)))
    }

    /// Where a number may stand, a dot with a digit behind it begins one: `.5`.
    fn number_at_dot(&mut self) {
        if self.token.kind == TokenKind::Dot
            && let Some(number) = self.lexer.number_at_dot(self.token.span.start)
        {
            self.token = number;
        }
    }

    /// `_`, `x`, `x.y`.
    pub(super) fn name_or_component(&mut self, name: Token) -> Result<Operand<'a>> {
        let text = self.slice(name.span);
        if self.token.kind == TokenKind::Dot {
            let kind = match (Component::of(self.here()), Selector::of(self.here())) {
                (Some(component), _) => OperandKind::Component(text, component),
                (None, Some(_)) => OperandKind::Selected(text, self.here()),
                (None, None) => return Err(self.unexpected("a component like `.x`")),
            };
            self.advance();
            return Ok(self.make(name.span, kind));
        }
        let kind = if text == "_" { OperandKind::Discard } else { OperandKind::Name(text) };
        Ok(self.make(name.span, kind))
    }

    /// What begins with a name: itself, a component, an index, an application, a sum.
    fn named(&mut self, name: Token) -> Result<Operand<'a>> {
        if self.slice(name.span) == "WARP_SZ" {
            self.lexer.seek(name.span.start);
            self.token = self.lexer.next();
            return self.constant();
        }
        let mut operand = self.name_or_component(name)?;
        if self.at(b'[') {
            let from = self.open.len();
            self.open.push(operand);
            self.element()?;
            let items = self.close(from);
            operand = self.make(name.span, OperandKind::Index(items));
        } else if self.at(b'(') {
            operand = self.apply(operand)?;
        }
        self.offset(operand)
    }

    /// A name, and what is added to it. `a-4` is no operand to the assembler either; `a+-4` is.
    fn offset(&mut self, operand: Operand<'a>) -> Result<Operand<'a>> {
        if !self.eat(b'+') {
            return Ok(operand);
        }
        let from = self.open.len();
        self.open.push(operand);
        let offset = self.constant()?;
        self.open.push(offset);
        let items = self.close(from);
        Ok(self.make(operand.span, OperandKind::Binary(Binary::Add, items)))
    }

    /// `[3]`, `[r]` or `[r+3]` behind an array, pushed to the open list.
    fn element(&mut self) -> Result<()> {
        self.expect(b'[', "`[`")?;
        let operand = if self.token.kind == TokenKind::Word && self.here() != "WARP_SZ" {
            let name = self.advance();
            let name = self.make(name.span, OperandKind::Name(self.slice(name.span)));
            self.offset(name)?
        } else {
            self.constant()?
        };
        self.expect(b']', "`]`")?;
        self.open.push(operand);
        Ok(())
    }

    /// `[3]`, pushed to the open list; `[]` is empty.
    pub(super) fn index(&mut self) -> Result<()> {
        let start = self.token.span;
        self.expect(b'[', "`[`")?;
        let operand = if self.at(b']') {
            Operand { span: Span::new(start.start, self.token.span.end), kind: OperandKind::Empty }
        } else {
            self.constant()?
        };
        self.expect(b']', "`]`")?;
        self.open.push(operand);
        Ok(())
    }

    /// `f(x, y)`, its first part read.
    pub(super) fn apply(&mut self, applied: Operand<'a>) -> Result<Operand<'a>> {
        let from = self.open.len();
        self.open.push(applied);
        // Its first part waits in the open list, and so do the others.
        self.list_items(usize::MAX, b'(', b')', "`,` or `)`")?;
        let items = self.close(from);
        Ok(self.make(applied.span, OperandKind::Apply(items)))
    }

    /// `(a, b)` of a call.
    pub(super) fn call_list(&mut self) -> Result<Operand<'a>> {
        let start = self.token.span;
        let items = self.bracketed(b'(', b')', "`,` or `)`")?;
        Ok(self.make(start, OperandKind::List(items)))
    }

    fn bracketed(&mut self, open: u8, close: u8, expected: &str) -> Result<Operands> {
        let from = self.open.len();
        let start = self.module.operands.len();
        if self.list_items(start, open, close, expected)? {
            let len = (self.module.operands.len() - start) as u32;
            return Ok(Operands { start: start as u32, len });
        }
        Ok(self.close(from))
    }

    /// Reads a list. As long as its items are leaves (tables of numbers are nothing else, and long) they go to the
    /// pool right away, and the answer is true; from the first other item on, all of them wait in the open list.
    fn list_items(&mut self, start: usize, open: u8, close: u8, expected: &str) -> Result<bool> {
        self.enter()?;
        self.expect(open, expected)?;
        let mut direct = self.module.operands.len() == start;
        if !self.eat(close) {
            loop {
                let before = self.module.operands.len();
                let mut item = self.operand()?;
                if self.eat(b'=') {
                    let from = self.open.len();
                    self.open.push(item);
                    let value = self.operand()?;
                    self.open.push(value);
                    let items = self.close(from);
                    item = self.make(item.span, OperandKind::Assign(items));
                }
                if direct && self.module.operands.len() > before {
                    direct = false;
                    self.open.extend_from_slice(&self.module.operands[start..before]);
                }
                if direct {
                    self.push(item);
                } else {
                    self.open.push(item);
                }
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(close, expected)?;
        }
        self.depth -= 1;
        Ok(direct)
    }

    /// A constant expression that is part of no other.
    fn constant(&mut self) -> Result<Operand<'a>> {
        self.operators = 0;
        self.expression(0)
    }

    /// A constant expression whose operators bind at least as tightly as `least`; 0 takes `? :` too.
    fn expression(&mut self, least: u8) -> Result<Operand<'a>> {
        self.enter()?;
        let start = self.token.span;
        let mut left = self.prefixed()?;
        while let Some(operator) = self.binary() {
            let precedence = operator.precedence();
            if precedence < least.max(1) || self.bits(&left) {
                break;
            }
            self.count_operator()?;
            self.advance();
            let from = self.open.len();
            self.open.push(left);
            if self.token.kind == TokenKind::Bits32 {
                return Err(self.operator_on_bits());
            }
            let right = self.expression(precedence + 1)?;
            self.open.push(right);
            let items = self.close(from);
            left = self.make(start, OperandKind::Binary(operator, items));
        }
        if least == 0 && self.at(b'?') {
            self.advance();
            let from = self.open.len();
            self.open.push(left);
            let then = self.expression(0)?;
            self.open.push(then);
            self.expect(b':', "`:`")?;
            let otherwise = self.expression(0)?;
            self.open.push(otherwise);
            let items = self.close(from);
            left = self.make(start, OperandKind::Choose(items));
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Whether it is a `0f` literal, which takes part in no expression.
    fn bits(&self, operand: &Operand<'a>) -> bool {
        matches!(operand.kind, OperandKind::Number(text) if is_bits32(text))
    }

    fn binary(&self) -> Option<Binary> {
        match self.token.kind {
            // What stands behind most numbers.
            TokenKind::Mark(Mark(b',' | b';' | b']' | b'}' | b')', _)) => None,
            TokenKind::Mark(_) => Binary::of(self.here()),
            _ => None,
        }
    }

    fn prefixed(&mut self) -> Result<Operand<'a>> {
        self.number_at_dot();
        let start = self.token.span;
        if let (TokenKind::Mark(_), Some(unary)) = (self.token.kind, Unary::of(self.here())) {
            self.enter()?;
            self.advance();
            if self.token.kind == TokenKind::Bits32 {
                return Err(self.operator_on_bits());
            }
            let inner = self.prefixed()?;
            let inner = self.push(inner);
            self.depth -= 1;
            return Ok(self.make(start, OperandKind::Unary(unary, inner)));
        }
        match self.token.kind {
            TokenKind::Number | TokenKind::Bits32 | TokenKind::Bits64 => {
                let number = self.advance();
                Ok(self.make(start, OperandKind::Number(self.slice(number.span))))
            }
            TokenKind::Word if self.here() == "WARP_SZ" => {
                let name = self.advance();
                Ok(self.make(start, OperandKind::Name(self.slice(name.span))))
            }
            TokenKind::Mark(Mark(b'(', 0)) => {
                self.enter()?;
                self.advance();
                self.number_at_dot();
                if self.token.kind == TokenKind::Dot {
                    let Some(cast) = Cast::of(self.here()) else {
                        return Err(self.unexpected("`.s64` or `.u64`"));
                    };
                    self.advance();
                    self.expect(b')', "`)`")?;
                    let inner = self.prefixed()?;
                    let inner = self.push(inner);
                    self.depth -= 1;
                    return Ok(self.make(start, OperandKind::Cast(cast, inner)));
                }
                let inner = self.expression(0)?;
                self.expect(b')', "`)`")?;
                let inner = self.push(inner);
                self.depth -= 1;
                Ok(self.make(start, OperandKind::Group(inner)))
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    fn operator_on_bits(&mut self) -> Failed {
        let failed = self.unexpected("a number");
        if let Some(finding) = self.findings.last_mut() {
            finding.help =
                "`0f` is raw bits and takes no operator: set its sign bit instead, the first digit plus 8".to_owned();
        }
        failed
    }
}

/// Whether a number is a `0f` literal.
pub(crate) fn is_bits32(number: &str) -> bool {
    number.len() == 10 && matches!(number.as_bytes()[1], b'f' | b'F')
}
