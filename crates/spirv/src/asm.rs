//! Assembly text to words.
//!
//! Reads what spirv-as reads: `%id = Op…` and `Op…`, ids by name and by number, literals of every width, strings with
//! escapes, masks `A|B`, raw words `!0x…`, comments. Numeric ids keep their number (spirv-as does with
//! `--preserve-numeric-ids`), so that a printed module assembles to the same words; and where a text begins with the
//! printer's header (`; SPIR-V`, `; Version: 1.3`…) the words get that header.
//!
//! One thing is ours: a `!` that is the first on its line begins an instruction, so that raw instructions can follow
//! one that takes any number of operands.

use std::collections::{HashMap, HashSet};

use roundonce_isa::{Finding, Location, Version};
use rspirv::grammar::OperandKind;
use rspirv::spirv;

use crate::grammar::{self, Class, Expected};
use crate::literal::{NumberType, string_words};
use crate::module::{HEADER_WORDS, MAX_ID, Module, NumberTypes, describe};

/// The header of a text that says nothing: version 1.6, as spirv-as, and no registered generator.
const DEFAULT_VERSION: Version = Version(1, 6);

/// Assembles a text into words, the header's five first.
///
/// # Errors
/// Every instruction that cannot be read, with its location.
///
/// ```
/// let words = roundonce_spirv::assemble("OpCapability FMAKHR ; 6030\n").unwrap();
/// assert_eq!(words[5..], [0x0002_0011, 6030]);
/// let findings = roundonce_spirv::assemble("OpCapability Fused").unwrap_err();
/// assert_eq!(findings[0].message, "`Fused` is no Capability");
/// ```
pub fn assemble(text: &str) -> Result<Vec<u32>, Vec<Finding>> {
    assemble_module(text, None).map(|module| module.words().to_vec())
}

/// Assembles a text into a module that knows the locations in the text. The version is the text's header's, or the one given,
/// or 1.6.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_module(text: &str, version: Option<Version>) -> Result<Module, Vec<Finding>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![syntax(0, 0, "a text of more than 4 GiB is not read".to_owned())]);
    }
    let tokens = tokens(text);
    let mut numeric = HashSet::new();
    for token in &tokens {
        if let Some(id) = token.of(text).strip_prefix('%').and_then(numeric_id) {
            numeric.insert(id);
        }
    }
    let mut header = header(text);
    header.version = header.version.or(version);
    let mut assembler = Assembler {
        text,
        tokens,
        at: 0,
        words: vec![0; HEADER_WORDS],
        spans: vec![(0, 0); HEADER_WORDS],
        ids: HashMap::new(),
        numeric,
        next: 1,
        types: NumberTypes::default(),
        expected: Expected::new(),
        findings: Vec::new(),
    };
    while assembler.at < assembler.tokens.len() {
        assembler.statement();
    }
    assembler.finish(&header)
}

fn syntax(start: usize, end: usize, message: String) -> Finding {
    Finding::error("SPV0002", Location::Span { start, end }, message)
}

#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) end: u32,
    first_on_line: bool,
}

impl Token {
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
    fn span(self) -> (u32, u32) {
        (self.start, self.end)
    }
}

/// Words of the text: what white space and comments part, white space within quotes kept.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 8);
    let mut at = 0;
    let mut first_on_line = true;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => {
                first_on_line = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b';' => at = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length),
            _ => {
                let start = at;
                let mut quoted = false;
                while at < bytes.len() {
                    match bytes[at] {
                        b'\\' if quoted => at += 1,
                        b'"' => quoted = !quoted,
                        b' ' | b'\t' | b'\r' | b'\n' | b';' if !quoted => break,
                        _ => {}
                    }
                    at += 1;
                }
                at = at.min(bytes.len());
                tokens.push(Token { start: start as u32, end: at as u32, first_on_line });
                first_on_line = false;
            }
        }
    }
    tokens
}

/// Whether an instruction begins at a token, or the text ends.
pub(crate) fn starts(text: &str, tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return true;
    };
    match token.of(text).as_bytes() {
        [b'O', b'p', b'A'..=b'Z', ..] => true,
        [b'%', ..] => tokens.get(at + 1).is_some_and(|next| next.of(text) == "="),
        [b'!', ..] => token.first_on_line,
        _ => false,
    }
}

/// The number that an id's name is. One with leading zeros is a name.
fn numeric_id(name: &str) -> Option<u32> {
    let canonical = name == "0" || name.starts_with(|first: char| matches!(first, '1'..='9'));
    (canonical && name.bytes().all(|digit| digit.is_ascii_digit())).then(|| name.parse().ok()).flatten()
}

#[derive(Default)]
struct Header {
    version: Option<Version>,
    generator: u32,
    bound: u32,
    schema: u32,
}

/// The header that the printer wrote as comments before the first instruction.
fn header(text: &str) -> Header {
    let mut header = Header::default();
    let mut lines = text.lines().map(str::trim);
    if lines.next() != Some("; SPIR-V") {
        return header;
    }
    for line in lines {
        let Some((key, value)) = line.strip_prefix(';').and_then(|line| line.split_once(':')) else {
            break;
        };
        let value = value.trim();
        match key.trim() {
            "Version" => {
                header.version = value.parse().ok().filter(|Version(major, minor)| *major < 256 && *minor < 256)
            }
            "Generator" => header.generator = crate::disasm::generator_word(value).unwrap_or(0),
            "Bound" => header.bound = value.parse().unwrap_or(0),
            "Schema" => header.schema = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    header
}

struct Assembler<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    words: Vec<u32>,
    spans: Vec<(u32, u32)>,
    ids: HashMap<&'t str, u32>,
    numeric: HashSet<u32>,
    next: u32,
    types: NumberTypes,
    expected: Expected,
    findings: Vec<Finding>,
}

impl<'t> Assembler<'t> {
    fn finish(mut self, header: &Header) -> Result<Module, Vec<Finding>> {
        if !self.findings.is_empty() {
            return Err(self.findings);
        }
        let Version(major, minor) = header.version.unwrap_or(DEFAULT_VERSION);
        let largest = self.numeric.iter().copied().max().unwrap_or(0).max(self.next - 1);
        let head = [
            spirv::MAGIC_NUMBER,
            u32::from(major) << 16 | u32::from(minor) << 8,
            header.generator,
            header.bound.max(largest + 1),
            header.schema,
        ];
        self.words[..HEADER_WORDS].copy_from_slice(&head);
        let named = self.ids.iter().filter(|(name, _)| numeric_id(name).is_none());
        let mut names: Vec<(u32, String)> = named.map(|(name, &id)| (id, (*name).to_owned())).collect();
        names.sort_unstable();
        match Module::from_words(self.words) {
            Ok(module) => Ok(module.with_text(self.spans, names)),
            // Only raw words can give a wrong length.
            Err(mut finding) => {
                if let Location::Word(word) = finding.location {
                    let (start, end) = self.spans.get(word).copied().unwrap_or((0, 0));
                    finding.location = Location::Span { start: start as usize, end: end as usize };
                }
                Err(vec![finding])
            }
        }
    }

    fn token(&self, at: usize) -> Option<&'t str> {
        self.tokens.get(at).map(|token| token.of(self.text))
    }

    fn starts(&self, at: usize) -> bool {
        starts(self.text, &self.tokens, at)
    }

    fn error_at(&mut self, token: usize, message: String) {
        let last = self.tokens.len() - 1;
        let (start, end) = self.tokens[token.min(last)].span();
        self.findings.push(syntax(start as usize, end as usize, message));
    }

    fn skip_to_start(&mut self) {
        while !self.starts(self.at) {
            self.at += 1;
        }
    }

    /// One instruction. Of one that cannot be read nothing is kept but the finding.
    fn statement(&mut self) {
        let first_token = self.at;
        let first_word = self.words.len();
        if let Err((token, message)) = self.instruction() {
            self.error_at(token, message);
            self.words.truncate(first_word);
            self.spans.truncate(first_word);
            self.at = self.at.max(first_token + 1);
            self.skip_to_start();
            return;
        }
        // The first word has the location of the whole instruction.
        let (start, _) = self.tokens[first_token].span();
        let (_, end) = self.tokens[self.at - 1].span();
        if let Some(span) = self.spans.get_mut(first_word) {
            *span = (start, end);
        }
        let raw = self.words[first_word];
        self.types.track(raw as u16, &self.words[first_word..]);
    }

    fn instruction(&mut self) -> Result<(), (usize, String)> {
        let first = self.token(self.at).unwrap_or_default();
        if first.starts_with('!') {
            return self.raw_operands();
        }
        let mut result = None;
        if first.starts_with('%') {
            if self.token(self.at + 1) != Some("=") {
                return Err((self.at, format!("expected an instruction or `%id =`, found `{first}`")));
            }
            result = Some(self.at);
            self.at += 2;
        }
        let name = self.token(self.at).unwrap_or_default();
        if result.is_some() && name.starts_with('!') {
            return Err((self.at, "a raw instruction takes no `%id =`: write its words".to_owned()));
        }
        let known = name.strip_prefix("Op").and_then(grammar::opcode_of);
        let Some((opcode, shape)) = known.and_then(|opcode| Some((opcode, grammar::shape(opcode)?))) else {
            let message = match name {
                "" => "expected an instruction, found the end".to_owned(),
                _ if name.starts_with("Op") => format!("`{name}` is no instruction"),
                _ => match opcode_in_another_case(name) {
                    Some(meant) => format!("expected an instruction, found `{name}`: write `{meant}`"),
                    None => format!("expected an instruction, found `{name}`"),
                },
            };
            let name_at = self.at;
            // What follows `%id =` looks like the beginning of the next instruction, and is none.
            self.at += usize::from(name.starts_with("Op"));
            return Err((name_at, message));
        };
        let name_at = self.at;
        self.at += 1;
        match (shape.has_result, result) {
            (true, None) => return Err((name_at, format!("{name} has a result: write `%id = {name} …`"))),
            (false, Some(at)) => {
                let id = self.token(at).unwrap_or_default();
                return Err((at, format!("{name} has no result that `{id}` could name")));
            }
            _ => {}
        }
        let first_word = self.words.len();
        self.push(u32::from(opcode), self.tokens[name_at].span());
        self.expected.start(shape.grammar);
        self.operands(name, first_word, result)?;
        let count = self.words.len() - first_word;
        let Ok(count) = u16::try_from(count) else {
            return Err((name_at, format!("{name} would have {count} words; an instruction has 65535 at most")));
        };
        self.words[first_word] |= u32::from(count) << 16;
        Ok(())
    }

    fn operands(&mut self, name: &str, first_word: usize, result: Option<usize>) -> Result<(), (usize, String)> {
        while let Some((kind, required)) = self.expected.next() {
            let class = grammar::class(kind);
            if class == Class::Result {
                if let Some(at) = result {
                    let id = self.id(at)?;
                    self.push(id, self.tokens[at].span());
                }
                continue;
            }
            if self.starts(self.at) {
                if !required {
                    break;
                }
                let found = self.token(self.at).map_or("the end".to_owned(), |token| format!("`{token}`"));
                return Err((self.at - 1, self.missing(name, first_word, kind, &found)));
            }
            if self.token(self.at).is_some_and(|token| token.starts_with('!')) {
                // The result, wherever it is written, comes second.
                if let (Class::ResultType, Some(at)) = (class, result) {
                    let raw = self.raw_word(self.at)?;
                    self.push(raw, self.tokens[self.at].span());
                    let id = self.id(at)?;
                    self.push(id, self.tokens[at].span());
                    self.at += 1;
                    if self.starts(self.at) {
                        return Ok(());
                    }
                }
                return self.raw_operands();
            }
            self.operand(kind, class, first_word)?;
        }
        if !self.starts(self.at) {
            let extra = self.token(self.at).unwrap_or_default();
            return Err((self.at, format!("{name} takes no operand `{extra}`: it was complete before")));
        }
        Ok(())
    }

    /// An operand is missing. OpFmaKHR's are named as its document does.
    fn missing(&self, name: &str, first_word: usize, kind: OperandKind, found: &str) -> String {
        let have = self.words.len() - first_word;
        match have {
            3..=5 if name == "OpFmaKHR" => format!("OpFmaKHR lacks Operand {}: found {found}", have - 2),
            _ => format!("{name} lacks {}: found {found}", describe(kind)),
        }
    }

    fn push(&mut self, word: u32, span: (u32, u32)) {
        self.words.push(word);
        self.spans.push(span);
    }

    fn operand(&mut self, kind: OperandKind, class: Class, first_word: usize) -> Result<(), (usize, String)> {
        let at = self.at;
        let span = self.tokens[at].span();
        let token = self.token(at).unwrap_or_default();
        let fail = |message: String| Err((at, message));
        match class {
            Class::ResultType | Class::Id | Class::Result => {
                let id = self.id(at)?;
                self.push(id, span);
            }
            Class::Integer => self.number(NumberType::UNSIGNED)?,
            Class::Float => self.number(NumberType::Float(roundonce_arith::Format::F32))?,
            Class::Typed => {
                // OpSwitch holds its selector in the first operand word, constants their type.
                let id = self.words.get(first_word + 1).copied().unwrap_or(0);
                let of_value = self.words[first_word] as u16 == spirv::Op::Switch as u16;
                let found = if of_value { self.types.of_value(id) } else { self.types.of_type(id) };
                let Some(number) = found else {
                    return fail(format!("the type of `{token}` is no integer or floating-point type that is known"));
                };
                self.number(number)?;
            }
            Class::Text => self.string(at)?,
            Class::Extended => {
                let import = self.words.last().copied().unwrap_or(0);
                let set = self.types.set(import);
                let number = set.and_then(|set| grammar::extended_of(set, token)).or_else(|| token.parse().ok());
                let Some(number) = number else {
                    let set = set.map_or("an unknown set".to_owned(), |set| format!("`{set}`"));
                    return fail(format!("`{token}` is no instruction of {set}"));
                };
                self.expected.after_extended(set, number);
                self.push(number, span);
            }
            Class::SpecOpcode => {
                let opcode = grammar::opcode_of(token).filter(|&opcode| grammar::spec_constant_opcode(opcode.into()));
                let Some(opcode) = opcode else {
                    return fail(format!("OpSpecConstantOp takes no `{token}`"));
                };
                self.expected.after_spec_opcode(opcode.into());
                self.push(opcode.into(), span);
            }
            Class::Value | Class::Mask => {
                let Some(value) = grammar::value_of(kind, token) else {
                    return fail(format!("`{token}` is no {kind:?}"));
                };
                self.expected.after_enumerant(kind, value);
                self.push(value, span);
            }
            Class::Raw => self.number(NumberType::UNSIGNED)?,
        }
        self.at = at + 1;
        Ok(())
    }

    fn number(&mut self, number: NumberType) -> Result<(), (usize, String)> {
        let token = self.token(self.at).unwrap_or_default();
        let (words, count) = number.read(token).map_err(|message| (self.at, message))?;
        let span = self.tokens[self.at].span();
        for &word in &words[..count] {
            self.push(word, span);
        }
        Ok(())
    }

    fn string(&mut self, at: usize) -> Result<(), (usize, String)> {
        let token = self.token(at).unwrap_or_default();
        let inner = token.strip_prefix('"').and_then(unescape);
        let Some(bytes) = inner else {
            return Err((at, format!("`{token}` is no string: expected `\"…\"`")));
        };
        let span = self.tokens[at].span();
        // It would end there when read again.
        if bytes.contains(&0) {
            return Err((at, "a string cannot hold a zero byte, which is its end".to_owned()));
        }
        for word in string_words(&bytes) {
            self.push(word, span);
        }
        Ok(())
    }

    fn raw_word(&self, at: usize) -> Result<u32, (usize, String)> {
        let digits = self.token(at).unwrap_or_default().trim_start_matches('!');
        NumberType::UNSIGNED.read(digits).map(|(words, _)| words[0]).map_err(|message| (at, message))
    }

    /// From a raw word on every operand is what it looks like: a raw word, an id, a string, a number.
    fn raw_operands(&mut self) -> Result<(), (usize, String)> {
        let first = self.at;
        while self.at == first || !self.starts(self.at) {
            let at = self.at;
            let token = self.token(at).unwrap_or_default();
            let span = self.tokens[at].span();
            if token.starts_with('!') {
                let raw = self.raw_word(at)?;
                self.push(raw, span);
            } else if token.starts_with('%') {
                let id = self.id(at)?;
                self.push(id, span);
            } else if token.starts_with('"') {
                self.string(at)?;
            } else {
                let signed = NumberType::Integer { width: 32, signed: token.starts_with('-') };
                let float = NumberType::Float(roundonce_arith::Format::F32);
                let read = signed.read(token).or_else(|_| float.read(token));
                let (words, _) = read.map_err(|_| (at, format!("`{token}` is no number, id or string")))?;
                self.push(words[0], span);
            }
            self.at = at + 1;
        }
        Ok(())
    }

    /// The id that a token names.
    fn id(&mut self, at: usize) -> Result<u32, (usize, String)> {
        let token = self.token(at).unwrap_or_default();
        let valid = |name: &&str| !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
        let Some(name) = token.strip_prefix('%').filter(valid) else {
            return Err((at, format!("expected an id such as `%a`, found `{token}`")));
        };
        if let Some(&id) = self.ids.get(name) {
            return Ok(id);
        }
        let id = match numeric_id(name) {
            Some(id) => id,
            None => {
                while self.numeric.contains(&self.next) {
                    self.next += 1;
                }
                self.next += 1;
                self.next - 1
            }
        };
        if id > MAX_ID {
            return Err((at, format!("`{token}` is beyond the largest id, {MAX_ID}")));
        }
        self.ids.insert(name, id);
        Ok(id)
    }
}

/// A string after its opening quote: `\x` is `x`, whatever x is. `None` without a closing quote at its end.
fn unescape(rest: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(rest.len());
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => bytes.push(rest.next()?),
            b'"' => return rest.next().is_none().then_some(bytes),
            _ => bytes.push(byte),
        }
    }
    None
}

/// `opfmakhr` is close to an instruction.
fn opcode_in_another_case(name: &str) -> Option<String> {
    let rest = name.get(..2).filter(|op| op.eq_ignore_ascii_case("op")).map(|_| &name[2..])?;
    let mut rows = rspirv::grammar::INSTRUCTION_TABLE.iter();
    rows.find(|row| row.opname.eq_ignore_ascii_case(rest)).map(|row| format!("Op{}", row.opname))
}
