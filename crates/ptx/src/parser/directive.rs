//! Directives: declarations, functions, debug data.

use super::{Parser, Result};
use crate::ast::{
    Directive, Function, Item, Line, Linkage, Operand, OperandKind, Operands, Pointer, Section, Space, Span, Statement,
    Variable, is_target_list,
};
use crate::lexer::{Mark, TokenKind};
use crate::literal::{WARP_SIZE, integer};
use roundonce_isa::Finding;

/// What stands before a name.
#[derive(Clone, Copy, Default)]
struct Prefix<'a> {
    linkage: Option<Linkage>,
    space: Option<Space>,
    align: Option<u32>,
    lanes: Option<u8>,
    ty: Option<&'a str>,
    attributes: Operands,
    pointer: Option<Pointer<'a>>,
}

impl Prefix<'_> {
    /// Whether it may stand before `.entry` or `.func`.
    fn is_of_function(&self) -> bool {
        self.linkage != Some(Linkage::Common)
            && self.space.is_none()
            && self.align.is_none()
            && self.attributes.len == 0
    }
}

/// A part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Linkage,
    Space,
    /// `.align 8`
    Align,
    /// `.attribute(.managed)`
    Attribute,
    /// `.v2`
    Lanes,
    /// Behind the state space.
    Type,
    /// `.ptr .global .align 4`, or an alignment alone.
    Pointer,
}

/// What a declaration is made of where it stands, as ptxas 12.9 and 13.5 read it.
struct Shape {
    /// Before the name, step by step: the part of a step at most once, or of several parts any, in any order; but one space.
    steps: &'static [&'static [Part]],
    /// Behind it, the most sizes like `[4]`.
    sizes: usize,
    /// Whether `<4>` may stand behind it, or an initial value.
    is_variable: bool,
}

const PLACE: &[Part] = &[Part::Space, Part::Align, Part::Attribute];
const MODULE: Shape =
    Shape { steps: &[&[Part::Linkage], PLACE, &[Part::Lanes], &[Part::Type]], sizes: usize::MAX, is_variable: true };
const BODY: Shape = Shape { steps: &[PLACE, &[Part::Lanes], &[Part::Type]], ..MODULE };
const PARAMETER: Shape = Shape { sizes: 1, is_variable: false, ..BODY };
/// Of a kernel, or of a prototype.
const KERNEL: Shape = Shape { steps: &[PLACE, &[Part::Lanes], &[Part::Type], &[Part::Pointer]], ..PARAMETER };
/// Behind `.entry` and `.func`.
const FUNCTION: Shape = Shape { steps: &[&[Part::Attribute]], ..PARAMETER };

/// Where a `.ptr` may point to.
const POINTED: [Space; 4] = [Space::Const(None), Space::Global, Space::Local, Space::Shared];

impl<'a> Parser<'a> {
    /// A whole number that fits.
    pub(super) fn natural(&mut self, expected: &str) -> Result<u32> {
        let value = match self.token.kind {
            TokenKind::Number => integer(self.here()).and_then(|integer| u32::try_from(integer.bits).ok()),
            TokenKind::Word if self.here() == "WARP_SZ" => Some(WARP_SIZE),
            _ => None,
        };
        match value {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => Err(self.unexpected(expected)),
        }
    }

    fn word(&mut self, expected: &str) -> Result<&'a str> {
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected(expected));
        }
        let token = self.advance();
        Ok(self.slice(token.span))
    }

    /// A `.loc`, which ends without a semicolon.
    pub(super) fn line(&mut self) -> Result<Line<'a>> {
        let start = self.token.span;
        self.advance();
        let file = self.natural("a file's index")?;
        let line = self.natural("a line")?;
        let column = self.natural("a column")?;
        let mut inlined = None;
        if self.at(b',') {
            self.advance();
            if self.word("`function_name`")? != "function_name" {
                return Err(self.unexpected("`function_name LABEL`"));
            }
            // The label may be a section's name.
            let label = match self.token.kind {
                TokenKind::Dot => {
                    let token = self.advance();
                    self.slice(token.span)
                }
                _ => self.word("a label")?,
            };
            let offset = if self.eat(b'+') { Some(self.natural("an offset")?) } else { None };
            self.expect(b',', "`,`")?;
            if self.word("`inlined_at`")? != "inlined_at" {
                return Err(self.unexpected("`inlined_at FILE LINE COLUMN`"));
            }
            let at = [self.natural("a file's index")?, self.natural("a line")?, self.natural("a column")?];
            inlined = Some((label, offset, at));
        }
        Ok(Line { span: self.since(start), file, line, column, inlined })
    }

    /// A `.file`, which ends without a semicolon.
    pub(super) fn file(&mut self) -> Result<Directive<'a>> {
        let start = self.token.span;
        let name = self.here();
        self.advance();
        let from = self.open.len();
        for expected in ["a file's index", "a path in quotes"] {
            let operand = self.operand()?;
            let fits = match operand.kind {
                OperandKind::Number(_) | OperandKind::Name("WARP_SZ") => expected == "a file's index",
                OperandKind::Text(_) => expected == "a path in quotes",
                _ => false,
            };
            if !fits {
                return Err(self.unexpected(expected));
            }
            self.open.push(operand);
        }
        while self.eat(b',') {
            let operand = self.operand()?;
            self.open.push(operand);
        }
        let operands = self.close(from);
        Ok(Directive { span: self.since(start), name, operands })
    }

    /// `.section NAME { … }`.
    pub(super) fn section(&mut self) -> Result<Section<'a>> {
        let start = self.token.span;
        self.advance();
        if self.token.kind != TokenKind::Dot {
            return Err(self.unexpected("a section's name like `.debug_info`"));
        }
        let name = self.here();
        self.advance();
        let opening = self.token.span;
        self.expect(b'{', "`{`")?;
        loop {
            match self.token.kind {
                TokenKind::Mark(Mark(b'}', 0)) => break,
                TokenKind::Mark(Mark(b',' | b':' | b'+' | b'-' | b'(' | b')', 0)) => {}
                TokenKind::Dot | TokenKind::Word | TokenKind::Number | TokenKind::Text => {}
                _ => return Err(self.unexpected("debug data like `.b8 1, 2` or `}`")),
            }
            self.advance();
        }
        let body = self.slice(Span::new(opening.end, self.token.span.start));
        self.advance();
        Ok(Section { span: self.since(start), name, body })
    }

    /// A variable, a function, or a directive with operands, at the top.
    pub(super) fn declaration(&mut self, start: Span) -> Result<Item<'a>> {
        let prefix = self.prefix(&MODULE)?;
        if self.token.kind == TokenKind::Dot && matches!(self.here(), ".entry" | ".func") && prefix.is_of_function() {
            let is_entry = self.here() == ".entry";
            self.advance();
            let attributes = self.prefix(&FUNCTION)?.attributes;
            let shape = if is_entry { &KERNEL } else { &PARAMETER };
            let mut function = self.function(start, is_entry, Prefix { attributes, ..prefix }, shape)?;
            if self.at(b'{') {
                function.body = Some(self.body()?);
            } else if is_entry && !function.directives.is_empty() {
                return Err(self.unexpected("`{`: what is said of a kernel stands before its body"));
            } else if !self.eat(b';') && (is_entry || !self.begins_item()) {
                // The assembler asks for no semicolon behind the prototype of a function.
                return Err(self.unexpected("`{`, `;` or a directive like `.maxntid`"));
            }
            function.span = self.since(start);
            return Ok(self.function_item(function));
        }
        if prefix.space.is_some() {
            let variables = self.variables(start, &prefix, &MODULE)?;
            self.expect(b';', "`,`, `=` or `;`")?;
            return Ok(Item::Variables(self.declare(variables)));
        }
        if self.token.kind != TokenKind::Dot || self.token.span.start != start.start {
            return Err(self.unexpected("a state space like `.global`, `.entry` or `.func`"));
        }
        let directive = self.directive()?;
        self.expect(b';', "`,` or `;`")?;
        Ok(Item::Directive(directive))
    }

    /// Whether a declaration of the module begins here, or the module has ended.
    fn begins_item(&self) -> bool {
        let words = [
            ".address_size",
            ".alias",
            ".common",
            ".const",
            ".entry",
            ".extern",
            ".file",
            ".func",
            ".global",
            ".section",
            ".shared",
            ".target",
            ".tex",
            ".version",
            ".visible",
            ".weak",
        ];
        match self.token.kind {
            TokenKind::End => true,
            TokenKind::Dot => words.contains(&self.here()),
            _ => false,
        }
    }

    /// A directive with a list of operands, without what ends it.
    fn directive(&mut self) -> Result<Directive<'a>> {
        let start = self.token.span;
        let name = self.here();
        self.advance();
        let begins = match self.token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Bits32 | TokenKind::Bits64 | TokenKind::Text => true,
            TokenKind::Mark(Mark(mark, _)) => matches!(mark, b'(' | b'[' | b'-' | b'_' | b'+' | b'~' | b'!'),
            _ => false,
        };
        let one = if is_target_list(name) { Self::target } else { Self::operand };
        let operands = if begins { self.operand_list(one)? } else { Operands::default() };
        Ok(Directive { span: self.since(start), name, operands })
    }

    /// One of a list of targets: `L0`, or several as `L<3>`.
    fn target(&mut self) -> Result<Operand<'a>> {
        let operand = self.operand()?;
        let Some(name) = operand.name().filter(|_| self.eat(b'<')) else { return Ok(operand) };
        let count = self.natural("a number of targets")?;
        self.expect(b'>', "`>`")?;
        Ok(self.make(operand.span, OperandKind::Range(name, count)))
    }

    /// Everything before the name.
    fn prefix(&mut self, shape: &Shape) -> Result<Prefix<'a>> {
        let mut prefix = Prefix::default();
        for step in shape.steps {
            while self.token.kind == TokenKind::Dot {
                let mut taken = false;
                for part in *step {
                    taken = taken || self.part(*part, &mut prefix)?;
                }
                if !taken || step.len() == 1 {
                    break;
                }
            }
        }
        Ok(prefix)
    }

    /// Reads a part if it stands here; says whether it did.
    fn part(&mut self, part: Part, prefix: &mut Prefix<'a>) -> Result<bool> {
        let text = self.here();
        match (part, text) {
            (Part::Linkage, _) => {
                prefix.linkage = Linkage::ALL.into_iter().find(|linkage| linkage.text() == text);
                if prefix.linkage.is_none() {
                    return Ok(false);
                }
                self.advance();
            }
            (Part::Space, _) if prefix.space.is_none() => {
                let Some(space) = Space::ALL.into_iter().find(|space| space.text() == text) else { return Ok(false) };
                prefix.space = Some(self.space(space)?);
            }
            (Part::Align | Part::Pointer, ".align") => {
                self.advance();
                prefix.align = Some(self.natural("an alignment")?);
            }
            (Part::Attribute, ".attribute") => {
                self.advance();
                let list = self.call_list()?;
                match list.kind {
                    OperandKind::List(items) if items.len > 0 => prefix.attributes = items,
                    _ => return Err(self.unexpected("`.attribute(.managed)`, with an attribute")),
                }
            }
            (Part::Lanes, ".v2" | ".v4" | ".v8") => {
                prefix.lanes = Some(text.as_bytes()[2] - b'0');
                self.advance();
            }
            (Part::Type, _) if prefix.space.is_some() => {
                prefix.ty = Some(text);
                self.advance();
            }
            (Part::Pointer, ".ptr") => {
                self.advance();
                prefix.pointer = Some(self.pointer()?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A state space, with its bank.
    fn space(&mut self, space: Space) -> Result<Space> {
        let end = self.token.span.end;
        self.advance();
        if !matches!(space, Space::Const(_)) || self.bank_end(end).is_none() {
            return Ok(space);
        }
        self.advance();
        let bank = self.natural("a bank")?;
        self.expect(b']', "`]`")?;
        Ok(Space::Const(Some(bank.min(255) as u8)))
    }

    /// What stands behind `.ptr`.
    fn pointer(&mut self) -> Result<Pointer<'a>> {
        let mut pointer = Pointer { space: None, align: None };
        if self.token.kind == TokenKind::Dot && POINTED.iter().any(|space| space.text() == self.here()) {
            pointer.space = Some(self.here());
            self.advance();
        }
        if self.token.kind == TokenKind::Dot && self.here() == ".align" {
            self.advance();
            pointer.align = Some(self.natural("an alignment")?);
        }
        Ok(pointer)
    }

    /// One name, or several with commas between, all behind one prefix.
    fn variables(&mut self, start: Span, prefix: &Prefix<'a>, shape: &Shape) -> Result<Vec<Variable<'a>>> {
        let mut all = vec![self.variable(start, prefix, shape)?];
        while self.eat(b',') {
            let start = self.token.span;
            let next = Variable { continues: true, ..self.variable(start, prefix, shape)? };
            all.push(next);
        }
        Ok(all)
    }

    fn variable(&mut self, start: Span, prefix: &Prefix<'a>, shape: &Shape) -> Result<Variable<'a>> {
        let Some(space) = prefix.space else {
            return Err(self.unexpected("a state space like `.reg` or `.param`"));
        };
        let Some(ty) = prefix.ty else {
            return Err(self.unexpected("a type like `.f32`"));
        };
        let name = self.word("a name")?;
        let count = if shape.is_variable && self.eat(b'<') {
            let count = self.natural("a number of registers")?;
            self.expect(b'>', "`>`")?;
            Some(count)
        } else {
            None
        };
        let from = self.open.len();
        let sizes = if count.is_some() { 0 } else { shape.sizes };
        while self.at(b'[') && self.open.len() - from < sizes {
            self.index()?;
        }
        let dimensions = self.close(from);
        let initial = if shape.is_variable && self.eat(b'=') {
            let value = self.operand()?;
            Some(self.push(value))
        } else {
            None
        };
        Ok(Variable {
            span: self.since(start),
            linkage: prefix.linkage,
            space,
            align: prefix.align,
            lanes: prefix.lanes.unwrap_or(1),
            ty,
            attributes: prefix.attributes,
            pointer: prefix.pointer,
            name,
            count,
            dimensions,
            initial,
            continues: false,
        })
    }

    /// `(.param .b32 a, .reg .f32 b)`.
    fn parameters(&mut self, shape: &Shape) -> Result<Vec<Variable<'a>>> {
        self.expect(b'(', "`(`")?;
        let mut all = Vec::new();
        if self.eat(b')') {
            return Ok(all);
        }
        loop {
            let start = self.token.span;
            let prefix = self.prefix(shape)?;
            all.push(self.variable(start, &prefix, shape)?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "`,` or `)`")?;
        Ok(all)
    }

    /// A function from its results on, without what ends it. A kernel has none.
    fn function(&mut self, start: Span, is_entry: bool, prefix: Prefix<'a>, shape: &Shape) -> Result<Function<'a>> {
        let has_results = self.at(b'(') && !is_entry;
        let returns = if has_results { self.parameters(shape)? } else { Vec::new() };
        let name = self.word("a function's name")?;
        let has_list = self.at(b'(');
        let parameters = if has_list { self.parameters(shape)? } else { Vec::new() };
        let mut directives = Vec::new();
        while self.token.kind == TokenKind::Dot && !self.begins_item() {
            let directive = self.directive()?;
            // Of the directives that stand here, a pragma alone has a semicolon.
            if directive.name == ".pragma" {
                self.expect(b';', "`;`")?;
            }
            directives.push(directive);
        }
        Ok(Function {
            span: self.since(start),
            linkage: prefix.linkage,
            is_entry,
            attributes: prefix.attributes,
            returns: self.declare(returns),
            name,
            has_list,
            parameters: self.declare(parameters),
            directives,
            body: None,
        })
    }

    /// A directive inside a body.
    pub(super) fn body_directive(&mut self, start: Span) -> Result<Statement<'a>> {
        match self.here() {
            ".loc" => return Ok(Statement::Line(Box::new(self.line()?))),
            ".section" => return Ok(Statement::Section(Box::new(self.section()?))),
            ".callprototype" => {
                self.advance();
                if self.here() != "_" && !self.at(b'(') {
                    return Err(self.unexpected("`_`, or results like `(.param .b32 _)` and `_`"));
                }
                let has_results = self.at(b'(');
                let prototype = self.function(start, false, Prefix::default(), &KERNEL)?;
                if has_results && prototype.name != "_" {
                    let place = self.module.span_of(prototype.name).unwrap_or(start).place();
                    let message = format!("`{}` as the name of a prototype: expected `_`", prototype.name);
                    self.report(Finding::error("PTX0001", place, message));
                }
                self.expect(b';', "`;`")?;
                return Ok(Statement::Prototype(Box::new(prototype)));
            }
            _ => {}
        }
        let prefix = self.prefix(&BODY)?;
        if prefix.space.is_some() {
            let variables = self.variables(start, &prefix, &BODY)?;
            self.expect(b';', "`,`, `=` or `;`")?;
            return Ok(Statement::Variables(self.declare(variables)));
        }
        if self.token.kind != TokenKind::Dot || self.token.span.start != start.start {
            return Err(self.unexpected("a state space like `.reg`"));
        }
        let directive = self.directive()?;
        self.expect(b';', "`,` or `;`")?;
        Ok(Statement::Directive(directive))
    }
}
