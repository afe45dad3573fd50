//! Tokens to tree, with recovery.
//!
//! The parser keeps unknown instructions and unknown directives; it refuses only what has no shape. After an error it
//! continues behind the next `;`, or before the next `}`.

mod directive;
mod operand;

use crate::ast::{
    Function, GuardKind, Instruction, Item, Modifiers, Module, Operand, OperandId, OperandKind, Operands, Source, Span,
    Statement, Variable, Variables,
};
use crate::lexer::{Lexer, Mark, Token, TokenKind};
use roundonce_isa::{Finding, Location, Version};

/// What became of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed<'a> {
    /// Everything that could be read.
    pub module: Module<'a>,
    /// What could not, in order. The module is whole exactly when this is empty.
    pub findings: Vec<Finding>,
}

/// Findings beyond this many are not kept: the text is no PTX.
const MAX_FINDINGS: usize = 100;
/// Parentheses and brackets inside one another. Deeper ones are an error, not a stack overflow.
const MAX_DEPTH: u32 = 64;
/// How many operators a constant expression may have.
const MAX_OPERATORS: u32 = 512;

/// Parses a module.
///
/// ```
/// let parsed = roundonce_ptx::parse(".version 8.6\n.target sm_100\n.entry k () { mov.u32 %r1 5; exit }");
/// let codes: Vec<_> = parsed.findings.iter().map(|finding| finding.code).collect();
/// assert_eq!(codes, ["PTX0001", "PTX0001"]);
/// assert!(parsed.findings[0].message.contains("found `5`, expected `,` or `;`"));
/// ```
pub fn parse(text: &str) -> Parsed<'_> {
    if text.len() > u32::MAX as usize - 16 {
        let finding = Finding::error("PTX0005", Location::Whole, "a text of 4 GiB or more: expected a PTX module")
            .help("split it: each module is parsed alone");
        return Parsed { module: Module::default(), findings: vec![finding] };
    }
    let mut parser = Parser::new(text);
    parser.module();
    // The pools grew by doubling.
    parser.module.operands.shrink_to_fit();
    parser.module.modifiers.shrink_to_fit();
    parser.module.variables.shrink_to_fit();
    Parsed { module: parser.module, findings: parser.findings }
}

/// Parses an operand alone.
pub(crate) fn parse_operand(text: &str) -> core::result::Result<(Module<'_>, Operand<'_>), Finding> {
    let mut parser = Parser::new(text);
    let operand = parser.operand();
    if operand.is_ok() && parser.token.kind != TokenKind::End {
        let _ = parser.unexpected("the end of the operand");
    }
    match (parser.findings.into_iter().next(), operand) {
        (None, Ok(operand)) => Ok((parser.module, operand)),
        (finding, _) => {
            Err(finding.unwrap_or_else(|| Finding::error("PTX0001", Location::Whole, "expected an operand")))
        }
    }
}

/// An error was reported; the caller recovers.
struct Failed;
type Result<T> = core::result::Result<T, Failed>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    /// The end of the token before.
    last_end: u32,
    module: Module<'a>,
    /// Operands of lists not yet closed: they go to the pool together.
    open: Vec<Operand<'a>>,
    findings: Vec<Finding>,
    depth: u32,
    /// Operators of the constant expression so far.
    operators: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        let mut lexer = Lexer::new(text);
        // A byte-order mark is no part of the module.
        if text.starts_with('\u{feff}') {
            lexer.seek(3);
        }
        let token = lexer.next();
        Parser {
            lexer,
            token,
            last_end: 0,
            module: Module { source: Source(text), ..Module::default() },
            open: Vec::new(),
            findings: Vec::new(),
            depth: 0,
            operators: 0,
        }
    }

    // Tokens.

    fn advance(&mut self) -> Token {
        let token = self.token;
        self.last_end = token.span.end;
        self.token = self.lexer.next();
        token
    }
    fn slice(&self, span: Span) -> &'a str {
        span.of(self.lexer.text())
    }
    fn here(&self) -> &'a str {
        self.slice(self.token.span)
    }
    fn at(&self, mark: u8) -> bool {
        self.token.is(mark)
    }
    fn eat(&mut self, mark: u8) -> bool {
        let found = self.at(mark);
        if found {
            self.advance();
        }
        found
    }
    fn expect(&mut self, mark: u8, expected: &str) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(expected)) }
    }
    fn done(&self) -> bool {
        self.token.kind == TokenKind::End || self.findings.len() >= MAX_FINDINGS
    }
    /// From a start to the end of the last token taken.
    fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.last_end.max(start.start))
    }

    // Errors.

    fn report(&mut self, mut finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            if self.findings.len() + 1 == MAX_FINDINGS {
                finding.add_help(&format!("reading stops here, at syntax error {MAX_FINDINGS}"));
            }
            self.findings.push(finding);
        }
    }

    /// Reports the token at hand.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let place = self.token.span.place();
        let here = self.here();
        let finding = match self.token.kind {
            TokenKind::End => {
                Finding::error("PTX0001", place, format!("found the end of the text, expected {expected}"))
            }
            TokenKind::Unended if here.starts_with('"') => {
                Finding::error("PTX0002", place, "this string has no end: expected `\"`")
            }
            TokenKind::Unended => Finding::error("PTX0002", place, "this comment has no end: expected `*/`"),
            TokenKind::Junk if here == "." => {
                Finding::error("PTX0001", place, format!("found `.` with nothing right behind it, expected {expected}"))
                    .help("white space may stand before the dot of a modifier, not after it")
            }
            _ => {
                let finding =
                    Finding::error("PTX0001", place, format!("found `{}`, expected {expected}", shortened(here)));
                match self.number_was_cut() {
                    Some(help) => finding.help(help),
                    None => finding,
                }
            }
        };
        self.report(finding);
        Failed
    }

    /// Advice where the token before ended because a literal was malformed: `0f3F80000` is `0` and a word.
    fn number_was_cut(&self) -> Option<&'static str> {
        let text = self.lexer.text();
        let before = text.as_bytes().get((self.last_end as usize).checked_sub(1)?)?;
        if self.last_end != self.token.span.start || !before.is_ascii_alphanumeric() {
            return None;
        }
        match self.here().as_bytes().first()? {
            b'f' | b'F' if *before == b'0' => Some("`0f` takes exactly 8 hexadecimal digits"),
            b'd' | b'D' if *before == b'0' => Some("`0d` takes exactly 16 hexadecimal digits"),
            b'8' | b'9' => Some("a leading 0 makes a number octal: its digits are 0 to 7"),
            b'u' => Some("the suffix of an unsigned number is a capital `U`"),
            b'f' | b'F' => Some("a decimal number takes no suffix"),
            b'_' => Some("digits are not grouped in PTX"),
            b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => Some("`0f` takes exactly 8 hexadecimal digits, `0d` exactly 16"),
            _ => None,
        }
    }

    /// Goes behind the next `;`, or before a brace or the end.
    fn recover(&mut self) {
        self.open.clear();
        self.depth = 0;
        loop {
            match self.token.kind {
                TokenKind::End | TokenKind::Mark(Mark(b'}' | b'{', 0)) => return,
                TokenKind::Mark(Mark(b';', 0)) => {
                    self.advance();
                    return;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    fn enter(&mut self) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_large(format!("brackets nested deeper than {MAX_DEPTH}: expected a flatter one")));
        }
        self.depth += 1;
        Ok(())
    }

    /// A chain of operators (`1+1+1`) is as deep a tree as it is long.
    fn count_operator(&mut self) -> Result<()> {
        if self.operators >= MAX_OPERATORS {
            let message = format!("more than {MAX_OPERATORS} operators in an expression: expected a shorter one");
            return Err(self.too_large(message));
        }
        self.operators += 1;
        Ok(())
    }

    fn too_large(&mut self, message: String) -> Failed {
        let finding = Finding::error("PTX0003", self.token.span.place(), message);
        self.report(finding.help("no generator of PTX writes such ones"));
        Failed
    }

    // Pools.

    fn push(&mut self, operand: Operand<'a>) -> OperandId {
        make_room(&mut self.module.operands, 1, self.last_end, self.lexer.text());
        self.module.operands.push(operand);
        OperandId(self.module.operands.len() as u32 - 1)
    }
    /// Moves the open operands from `from` on to the pool.
    fn close(&mut self, from: usize) -> Operands {
        let start = self.module.operands.len() as u32;
        let len = (self.open.len() - from) as u32;
        make_room(&mut self.module.operands, len as usize, self.last_end, self.lexer.text());
        self.module.operands.extend(self.open.drain(from..));
        Operands { start, len }
    }

    // Modules.

    fn module(&mut self) {
        while !self.done() {
            let before = self.token.span.start;
            match self.item() {
                Ok(item) => self.module.items.push(item),
                Err(Failed) => {
                    self.recover();
                    // A body left over from a broken header is gone through, its own errors found.
                    if self.at(b'{') {
                        let _ = self.body();
                    } else if self.at(b'}') {
                        self.advance();
                    }
                }
            }
            if self.token.span.start == before && self.token.kind != TokenKind::End {
                self.advance();
            }
        }
    }

    fn item(&mut self) -> Result<Item<'a>> {
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Dwarf => {
                let line = self.here();
                self.advance();
                return Ok(Item::Dwarf(line));
            }
            TokenKind::Dot => {}
            _ => return Err(self.unexpected("a directive like `.version`, `.global` or `.entry`")),
        }
        match self.here() {
            ".version" => {
                self.advance();
                let version = self.version()?;
                Ok(Item::Version { span: self.since(start), version })
            }
            ".target" => {
                self.advance();
                let words = self.operand_list(|parser| {
                    if parser.token.kind != TokenKind::Word {
                        return Err(parser.unexpected("a target like `sm_90`"));
                    }
                    let word = parser.advance();
                    Ok(parser.make(word.span, OperandKind::Name(parser.slice(word.span))))
                })?;
                Ok(Item::Target { span: self.since(start), words })
            }
            ".address_size" => {
                self.advance();
                let bits = self.natural("32 or 64")?;
                Ok(Item::AddressSize { span: self.since(start), bits })
            }
            ".loc" => Ok(Item::Line(Box::new(self.line()?))),
            ".section" => Ok(Item::Section(Box::new(self.section()?))),
            ".file" => Ok(Item::Directive(self.file()?)),
            _ => self.declaration(start),
        }
    }

    fn version(&mut self) -> Result<Version> {
        let text = self.here();
        match text.parse() {
            Ok(version) if self.token.kind == TokenKind::Number => {
                self.advance();
                Ok(version)
            }
            _ => Err(self.unexpected("a version like `8.6`")),
        }
    }

    // Bodies.

    /// From `{` to its `}`. Inner blocks stay flat.
    fn body(&mut self) -> Result<Vec<Statement<'a>>> {
        let opening = self.token.span;
        self.expect(b'{', "`{`")?;
        let mut statements = Vec::new();
        let mut depth = 0usize;
        loop {
            make_room(&mut statements, 1, self.last_end, self.lexer.text());
            if self.at(b'}') {
                let span = self.token.span;
                self.advance();
                if depth == 0 {
                    return Ok(statements);
                }
                depth -= 1;
                statements.push(Statement::Close(span));
                continue;
            }
            if self.done() {
                let place = opening.place();
                self.report(
                    Finding::error("PTX0004", place, "this `{` is never closed: expected `}` before the end")
                        .help("add the missing `}`"),
                );
                return Ok(statements);
            }
            if self.at(b'{') {
                depth += 1;
                let brace = self.advance();
                statements.push(Statement::Open(brace.span));
                continue;
            }
            let before = self.token.span.start;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Failed) => {
                    self.recover();
                    if self.token.span.start == before && !self.at(b'}') {
                        self.advance();
                    }
                }
            }
        }
    }

    fn statement(&mut self) -> Result<Statement<'a>> {
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Word => {
                let word = self.advance();
                if self.eat(b':') {
                    return Ok(Statement::Label(self.slice(word.span)));
                }
                self.instruction(start, word, GuardKind::None)
            }
            TokenKind::Mark(Mark(b'@', 0)) => {
                self.advance();
                let guard = if self.eat(b'!') { GuardKind::IfNot } else { GuardKind::If };
                if self.token.kind != TokenKind::Word {
                    return Err(self.unexpected("a predicate register"));
                }
                let name = self.advance();
                let predicate = self.name_or_component(name)?;
                self.push(predicate);
                if self.token.kind != TokenKind::Word {
                    return Err(self.unexpected("an instruction"));
                }
                let word = self.advance();
                self.instruction(start, word, guard)
            }
            TokenKind::Dot => self.body_directive(start),
            TokenKind::Dwarf => {
                let line = self.here();
                self.advance();
                Ok(Statement::Dwarf(line))
            }
            _ => Err(self.unexpected("an instruction, a label, a declaration or `}`")),
        }
    }

    fn instruction(&mut self, start: Span, word: Token, guard: GuardKind) -> Result<Statement<'a>> {
        let opcode = self.slice(word.span);
        let first = self.module.modifiers.len();
        while self.token.kind == TokenKind::Dot {
            let mut span = self.token.span;
            // PTX before 2.2 writes a constant bank behind the space: `ld.const[2].f32`.
            if self.here() == ".const"
                && let Some(end) = self.bank_end(span.end)
            {
                span.end = end;
                self.lexer.seek(end);
            }
            let modifier = self.slice(span);
            self.advance();
            self.last_end = span.end;
            make_room(&mut self.module.modifiers, 1, self.last_end, self.lexer.text());
            self.module.modifiers.push(modifier);
        }
        let modifiers = Modifiers { start: first as u32, len: (self.module.modifiers.len() - first) as u32 };
        let operands = self.instruction_operands(opcode, guard)?;
        let span = self.since(start);
        if !self.eat(b';') {
            return Err(self.unexpected("`,` or `;`"));
        }
        Ok(Statement::Instruction(Instruction { span, opcode, modifiers, operands, guard }))
    }

    /// The end of `[2]` right at a byte.
    fn bank_end(&self, at: u32) -> Option<u32> {
        let rest = self.lexer.text().get(at as usize..)?.strip_prefix('[')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest.as_bytes().get(digits) == Some(&b']')).then(|| at + digits as u32 + 2)
    }

    fn instruction_operands(&mut self, opcode: &str, guard: GuardKind) -> Result<Operands> {
        // The guard was pushed last, and must stay right in front of the operands; nested lists go to the pool
        // before their owner, so it is taken off meanwhile.
        let predicate = (guard != GuardKind::None).then(|| self.module.operands.pop()).flatten();
        let from = self.open.len();
        if self.at(b'}') || self.token.kind == TokenKind::End {
            return Err(self.unexpected("an operand or `;`"));
        }
        if !self.at(b';') {
            loop {
                let operand = if opcode == "call" && self.at(b'(') {
                    self.call_list()?
                } else if self.open.len() == from {
                    self.first_operand()?
                } else {
                    self.operand()?
                };
                self.open.push(operand);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.module.operands.extend(predicate);
        Ok(self.close(from))
    }

    /// `a, b`: at least one.
    fn operand_list(&mut self, mut one: impl FnMut(&mut Self) -> Result<Operand<'a>>) -> Result<Operands> {
        let from = self.open.len();
        loop {
            let operand = one(self)?;
            self.open.push(operand);
            if !self.eat(b',') {
                return Ok(self.close(from));
            }
        }
    }

    fn declare(&mut self, variables: Vec<Variable<'a>>) -> Variables {
        let start = self.module.variables.len() as u32;
        let len = variables.len() as u32;
        make_room(&mut self.module.variables, variables.len(), self.last_end, self.lexer.text());
        self.module.variables.extend(variables);
        Variables { start, len }
    }

    fn function_item(&mut self, function: Function<'a>) -> Item<'a> {
        Item::Function(Box::new(function))
    }
}

/// Makes room for more items of a pool: for as many as the rest of the text holds if it goes on like this, because
/// doubling would take up to twice the memory in the end.
fn make_room<T>(pool: &mut Vec<T>, more: usize, at: u32, text: &str) {
    if pool.capacity() - pool.len() >= more {
        return;
    }
    let filled = pool.len() as u64;
    let expected = filled * text.len() as u64 / u64::from(at.max(1)) * 17 / 16;
    let room = (expected.saturating_sub(filled) as usize).clamp(pool.len() / 4, pool.len());
    pool.reserve_exact(room.max(more).max(16));
}

/// A token short enough for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().nth(LONGEST).is_none() {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
