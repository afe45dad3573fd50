//! From the text of one statement to its instruction.
//!
//! The parser walks bytes once and allocates only for a finding.

mod numbers;

use roundonce_isa::{Effect, Finding};

use self::numbers::whole_number;
pub(crate) use self::numbers::{read_immediate, read_number};
use crate::instruction::{Guard, Instruction, Operand, PT, RZ, Value};
use crate::lookup::{self, Entry, Siblings, short_counterpart};
use crate::opcode::{Lowering, MAX_MODIFIERS, MAX_OPERANDS, Opcode, OperandForm, OperandKind};
use crate::opcodes::{ON_DESTINATION, OPCODES};
use crate::rules;
use crate::schedule::Slot;
use crate::schedule_text::{NOTHING, apply_suffix, read_cuassembler, read_maxas};

/// A range of bytes.
pub(crate) type Span = (usize, usize);

/// One statement: an instruction, the locations of its parts, and its scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The instruction.
    pub instruction: Instruction,
    /// Its scheduling, where any is written.
    pub slot: Option<Slot>,
    /// The bytes of its mnemonic.
    pub mnemonic: (usize, usize),
    /// The bytes of each operand, the destination first.
    pub operands: [(usize, usize); MAX_OPERANDS],
    /// The bytes from the guard to the last operand.
    pub span: (usize, usize),
}

impl Statement {
    /// An instruction of the operand form with that index, with nothing set.
    pub(crate) const fn blank(entry: u16) -> Statement {
        Statement {
            instruction: Instruction::blank(entry),
            slot: None,
            mnemonic: (0, 0),
            operands: [(0, 0); MAX_OPERANDS],
            span: (0, 0),
        }
    }
}

/// The bytes of words: letters, digits and `_`.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.ahead(0)
    }
    /// A byte further on; 0 behind the end.
    #[inline]
    pub(crate) fn ahead(&self, by: usize) -> u8 {
        self.text.as_bytes().get(self.at + by).copied().unwrap_or(0)
    }
    #[inline]
    pub(crate) fn starts_with(&self, text: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(text.as_bytes())
    }
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && self.at < self.text.len();
        self.at += usize::from(found);
        found
    }
    /// Steps over the comment that begins here with `/*`; the result is the word of 16 hex digits that it is, if any.
    /// `/*/` opens a comment and does not close it.
    pub(crate) fn comment(&mut self) -> Result<Option<u64>, Finding> {
        let start = self.at;
        let inside = self.text.get(start + 2..).unwrap_or_default();
        let Some(length) = inside.find("*/") else {
            self.at = self.text.len();
            return Err(rules::SYNTAX.at((start, self.at), "a comment without its end"));
        };
        self.at = start + length + 4;
        let digits = inside[..length].trim().strip_prefix("0x").filter(|digits| digits.len() == 16);
        Ok(digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()))
    }
    /// Blanks within a line.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }
    #[inline]
    pub(crate) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.text.len() && wanted(self.text.as_bytes()[self.at]) {
            self.at += 1;
        }
        // Only ASCII bytes are wanted anywhere, so both ends are character boundaries.
        self.text.get(start..self.at).unwrap_or_default()
    }
    /// The bytes from one on.
    #[inline]
    fn from(&self, start: usize) -> &'a [u8] {
        self.text.as_bytes().get(start..).unwrap_or_default()
    }
    #[inline]
    pub(crate) fn take_word(&mut self) -> &'a str {
        let start = self.at;
        self.skip_word();
        self.text.get(start..self.at).unwrap_or_default()
    }
    /// Steps over a word; the result is its length.
    #[inline]
    fn skip_word(&mut self) -> usize {
        let length = self.from(self.at).iter().take_while(|byte| WORD[usize::from(**byte)]).count();
        self.at += length;
        length
    }
    /// The next word or character, for a message.
    fn found(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        match &rest[..end.max(first)] {
            "" => "the end".to_owned(),
            "\n" => "the end of the line".to_owned(),
            text => format!("`{text}`"),
        }
    }
    #[cold]
    pub(crate) fn expected(&self, what: &str) -> Finding {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        rules::SYNTAX.at((self.at, self.at + width), format!("expected {what}, found {}", self.found()))
    }

    /// Scheduling as maxas and CuAssembler write it before an instruction.
    pub(crate) fn schedule_prefix(&mut self) -> Result<Option<Slot>, Finding> {
        let start = self.at;
        let control = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':');
        if self.starts_with("[B") {
            self.at += 1;
            let slot = read_cuassembler(self.take_while(control));
            if slot.is_some() && self.eat(b']') {
                return Ok(slot);
            }
            let message = "this is not CuAssembler's `[B------:R-:W-:Y:S01]`";
            return Err(rules::SCHEDULE.at((start, self.at), message));
        }
        let two = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
        if two(self.peek()) && two(self.ahead(1)) && self.ahead(2) == b':' {
            let slot = read_maxas(self.take_while(control));
            if slot.is_some() {
                return Ok(slot);
            }
            return Err(rules::SCHEDULE.at((start, self.at), "this is not maxas's `--:-:-:Y:1`"));
        }
        Ok(None)
    }

    /// Scheduling in the manual's notation, behind the operands.
    pub(crate) fn schedule_suffix(&mut self, mut slot: Option<Slot>) -> Result<Option<Slot>, Finding> {
        loop {
            self.skip_blanks();
            let start = self.at;
            match self.peek() {
                b'?' => {
                    self.at += 1;
                    self.take_word();
                }
                b'&' => {
                    self.at += 1;
                    self.take_word();
                    self.skip_blanks();
                    if self.eat(b'=') {
                        self.skip_blanks();
                        if self.peek() == b'{' {
                            self.take_while(|byte| !matches!(byte, b'}' | b'\n' | b';') && byte.is_ascii());
                            self.eat(b'}');
                        } else {
                            self.take_word();
                        }
                    }
                }
                _ => return Ok(slot),
            }
            let piece = self.text.get(start..self.at).unwrap_or_default().trim_end();
            slot = Some(apply_suffix(slot.unwrap_or(NOTHING), piece).ok_or_else(|| {
                rules::SCHEDULE
                    .at((start, self.at), format!("`{piece}` is no scheduling"))
                    .help("`&req={0,2}` for barriers 0 to 5, `?W1G` to `?W15G`, `?W1` to `?W11`, `?DRAIN`")
            })?);
        }
    }

    /// One statement without its end, `;` or the line's, written into `out`, which is large.
    pub(crate) fn statement(&mut self, prefix: Option<Slot>, out: &mut Statement) -> Result<(), Finding> {
        self.skip_blanks();
        let start = self.at;
        let guard = self.guard()?;
        let mnemonic_start = self.at;
        let length = self.skip_word();
        let mnemonic_span = (mnemonic_start, self.at);
        if length == 0 {
            return Err(self.expected("a mnemonic"));
        }
        let Some(siblings) = lookup::mnemonic(self.from(mnemonic_start), length) else {
            return Err(unknown_mnemonic(&self.text[mnemonic_start..self.at], mnemonic_span));
        };
        *out = Statement::blank(siblings.first);
        let instruction = &mut out.instruction;
        instruction.guard = guard;
        let bits = instruction.opcode().immediates_are_bits();
        let mut given = [false; MAX_MODIFIERS];
        while self.peek() == b'.' {
            self.modifier(instruction, &mut given)?;
        }
        if !matches!(self.peek(), b' ' | b'\t') {
            return Err(self.expected("a blank and the destination"));
        }
        let operands = &mut out.operands;
        let mut count = 0;
        loop {
            self.skip_blanks();
            if count == MAX_OPERANDS {
                return Err(self.expected("the end of the statement after four operands"));
            }
            let operand_start = self.at;
            self.operand(bits, &mut instruction.operands[count])?;
            if count == 0 {
                // The manual has it behind the other modifiers; a listing has it on the destination.
                if self.starts_with(ON_DESTINATION) {
                    self.modifier(instruction, &mut given)?;
                }
            } else {
                self.reuse(&mut instruction.operands[count], operand_start)?;
            }
            operands[count] = (operand_start, self.at);
            count += 1;
            self.skip_blanks();
            if !self.eat(b',') {
                break;
            }
        }
        if self.peek().is_ascii_alphanumeric() || self.peek() == b'-' {
            return Err(self.expected("`,` or the end of the statement"));
        }
        out.mnemonic = mnemonic_span;
        out.span = (start, operands[count - 1].1);
        select_form(out, siblings, count)?;
        if count < out.instruction.operand_form().operands.len() {
            out.operands[count] = out.operands[0];
        }
        out.slot = self.schedule_suffix(prefix)?;
        if let Some(slot) = &mut out.slot {
            let kept = (1..count).filter(|index| out.instruction.operands[*index].reuse);
            let mask = kept.fold(slot.reuse(), |mask, index| mask | 1 << (index - 1));
            *slot = slot.with(crate::fields::REUSE, mask);
        }
        Ok(())
    }

    fn guard(&mut self) -> Result<Guard, Finding> {
        let start = self.at;
        if !self.eat(b'@') {
            return Ok(Guard::ALWAYS);
        }
        let negated = self.eat(b'!');
        let name = self.take_word();
        let predicate = match name.as_bytes() {
            b"PT" => PT,
            [b'P', digit @ b'0'..=b'6'] => digit - b'0',
            _ => {
                let span = (start, self.at);
                return Err(rules::PREDICATE.at(span, format!("`{name}` is not a predicate: expected P0 to P6 or PT")));
            }
        };
        self.skip_blanks();
        Ok(Guard { predicate, negated })
    }

    /// One modifier; their order is free.
    fn modifier(&mut self, instruction: &mut Instruction, given: &mut [bool; MAX_MODIFIERS]) -> Result<(), Finding> {
        let start = self.at;
        self.at += 1;
        let length = self.skip_word() + 1;
        let entry = instruction.entry();
        let Some((index, value)) = lookup::modifier(entry.opcode, self.from(start), length) else {
            return Err(self.no_modifier(entry.opcode(), start));
        };
        if given[index] {
            let text = self.text.get(start..self.at).unwrap_or_default();
            return Err(rules::MODIFIER.at((start, self.at), format!("`{text}` is one too many for its slot")));
        }
        given[index] = true;
        instruction.modifiers[index] = value;
        Ok(())
    }

    #[cold]
    fn no_modifier(&self, opcode: &Opcode, start: usize) -> Finding {
        let text = self.text.get(start..self.at).unwrap_or_default();
        let message = format!("`{text}` is not a modifier of {}: the form is `{}`", opcode.name, opcode.syntax());
        rules::MODIFIER.at((start, self.at), message).help(rounding_help(opcode, text).unwrap_or_default())
    }

    fn reuse(&mut self, operand: &mut Operand, start: usize) -> Result<(), Finding> {
        if !self.starts_with(".reuse") {
            return Ok(());
        }
        self.at += ".reuse".len();
        if operand.value.kind() != OperandKind::Register {
            let message = format!("a {} is not kept for reuse: only a register is", operand.value.kind().name());
            return Err(rules::SYNTAX.at((start, self.at), message));
        }
        operand.reuse = true;
        Ok(())
    }

    /// One operand, written into a plain one.
    #[inline]
    fn operand(&mut self, immediates_are_bits: bool, out: &mut Operand) -> Result<(), Finding> {
        let sign = usize::from(self.peek() == b'-');
        match (self.ahead(sign), self.ahead(sign + 1)) {
            (b'R', b'0'..=b'9' | b'Z') => {
                self.at += sign;
                out.negate = sign == 1;
                out.value = Value::Register(self.register()?);
            }
            (b'c', b'[') => {
                self.at += sign;
                out.negate = sign == 1;
                out.value = self.constant()?;
            }
            (b'|', _) => {
                let span = (self.at, self.at + sign + 1);
                return Err(rules::SYNTAX.at(span, "no source of these instructions has an absolute value"));
            }
            _ => {
                let bits = if immediates_are_bits { self.integer()? } else { self.immediate()? };
                out.value = Value::Immediate(bits);
                // The disassembler's specials end in a blank: `+INF .NEG`.
                let end = self.at;
                self.skip_blanks();
                out.negate = self.starts_with(".NEG") && !self.ahead(4).is_ascii_alphanumeric();
                self.at = if out.negate { self.at + 4 } else { end };
            }
        }
        Ok(())
    }

    #[inline]
    fn register(&mut self) -> Result<u8, Finding> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        let mut number: u32 = 0;
        // Four digits are one too many already.
        while let Some(digit) = bytes.get(self.at).filter(|byte| byte.is_ascii_digit() && self.at < start + 5) {
            number = number * 10 + u32::from(digit - b'0');
            self.at += 1;
        }
        if self.at == start + 1 && self.peek() == b'Z' {
            self.at += 1;
            number = u32::from(RZ);
        } else if number >= u32::from(RZ) {
            return Err(self.no_register(start));
        }
        if self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
            return Err(self.no_register(start));
        }
        Ok(number as u8)
    }

    #[cold]
    fn no_register(&mut self, start: usize) -> Finding {
        self.take_word();
        let span = (start, self.at);
        match self.text.get(start..self.at).unwrap_or_default() {
            "R255" => rules::REGISTER.at(span, "register 255 is written RZ").fix(start, self.at, "RZ"),
            name => rules::REGISTER.at(span, format!("`{name}` is not a register: they are R0 to R254 and RZ")),
        }
    }

    pub(crate) fn constant(&mut self) -> Result<Value, Finding> {
        let start = self.at;
        self.at += 1;
        let bank = self.bracketed()?;
        let offset = self.bracketed()?;
        let span = (start, self.at);
        let Some(bank) = u8::try_from(bank).ok().filter(|bank| u64::from(*bank) <= crate::fields::BANK.max()) else {
            return Err(rules::CONSTANT.at(span, format!("there is no constant bank {bank:#x}: banks are 0x0 to 0x1f")));
        };
        if !(-0x8000..0x1_0000).contains(&offset) {
            let message = format!("the constant offset {} is out of range: -0x8000 to 0xfffc", signed_hex(offset));
            return Err(rules::CONSTANT.at(span, message));
        }
        if offset % 4 != 0 {
            let message = format!("the constant offset {} is not a multiple of 4", signed_hex(offset));
            return Err(rules::OFFSET.at(span, message));
        }
        Ok(Value::Constant { bank, offset: offset as u16 })
    }

    /// `[0x140]`, `[-0x7eb8]`, `[320]`.
    pub(crate) fn bracketed(&mut self) -> Result<i64, Finding> {
        self.skip_blanks();
        if !self.eat(b'[') {
            return Err(self.expected("`[`"));
        }
        self.skip_blanks();
        let start = self.at;
        let negative = self.eat(b'-');
        let text = self.take_word();
        let Some(number) = whole_number(text) else {
            return Err(rules::CONSTANT.at((start, self.at), format!("`{text}` is not a whole number such as 0x140")));
        };
        self.skip_blanks();
        if !self.eat(b']') {
            return Err(self.expected("`]`"));
        }
        Ok(if negative { -number } else { number })
    }
}

fn signed_hex(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:#x}", number.unsigned_abs())
}

#[cold]
fn unknown_mnemonic(mnemonic: &str, span: Span) -> Finding {
    let known: Vec<&str> = OPCODES.iter().map(|opcode| opcode.name).collect();
    let finding = rules::MNEMONIC.at(span, format!("`{mnemonic}` is not one of {}", known.join(", ")));
    match known.iter().find(|name| name.eq_ignore_ascii_case(mnemonic)) {
        Some(name) => finding.help("mnemonics are in capitals").fix(span.0, span.1, *name),
        None => finding,
    }
}

/// What to do about a rounding modifier on an opcode that has none because of its long immediate.
fn rounding_help(opcode: &Opcode, text: &str) -> Option<String> {
    let (Lowering::Arithmetic(recipe), Some(short)) = (opcode.lowering, short_counterpart(opcode)) else {
        return None;
    };
    let mut slots = short.modifiers.iter().map(|modifier| &modifier.slot);
    let (slot, effect) = slots.find_map(|slot| {
        let choice = slot.choices.iter().find(|choice| choice.text == text)?;
        Some((slot, choice.effect))
    })?;
    match effect {
        Effect::Round(rounding) if rounding == recipe.operation.rounding => {
            Some(format!("{} always rounds to nearest even: leave `{text}` out", opcode.name))
        }
        Effect::Round(_) => {
            Some(format!("{} always rounds to nearest even; {} has `{}`", opcode.name, short.name, slot.name))
        }
        _ => None,
    }
}

fn fits(form: &OperandForm, operands: &[Operand]) -> bool {
    let kinds = form.operands.iter().zip(operands).all(|(field, operand)| field.kind() == operand.value.kind());
    let implied = form.implies_last() && operands.len() + 1 == form.operands.len();
    kinds && (operands.len() == form.operands.len() || implied)
}

/// Picks the operand form that the operands' kinds name.
fn select_form(statement: &mut Statement, siblings: Siblings, count: usize) -> Result<(), Finding> {
    let instruction = &mut statement.instruction;
    let operands = &instruction.operands[..count];
    let Some(index) = siblings.entries().iter().position(|entry| fits(entry.form, operands)) else {
        return Err(no_form(siblings.entries(), operands, &statement.operands, statement.span));
    };
    instruction.entry = siblings.first + index as u16;
    if instruction.operands[0].negate {
        return Err(rules::SYNTAX.at(statement.operands[0], "a destination has no sign"));
    }
    let signed = (1..count).find(|source| instruction.operands[*source].negate);
    if let (Some(source), Lowering::Move) = (signed, instruction.opcode().lowering) {
        let message = "a move copies a pattern of bits: its source has no sign";
        return Err(rules::SYNTAX.at(statement.operands[source], message));
    }
    if count < instruction.operand_form().operands.len() {
        instruction.operands[count] = Operand::plain(instruction.operands[0].value);
    }
    Ok(())
}

#[cold]
fn no_form(entries: &[Entry], operands: &[Operand], spans: &[Span; MAX_OPERANDS], span: Span) -> Finding {
    let mnemonic = entries.first().map_or("", |entry| entry.opcode().name);
    let kinds: Vec<&str> = operands.iter().map(|operand| operand.value.kind().name()).collect();
    let forms: Vec<String> = entries.iter().map(|entry| format!("({})", entry.form.kinds())).collect();
    let found = operands.iter().map(|operand| operand.value.kind()).collect::<Vec<OperandKind>>();
    let message =
        format!("{mnemonic} does not take ({}): its operand forms are {}", kinds.join(", "), forms.join(", "));
    use OperandKind::{Constant, Immediate, Register};
    let location = match found[..] {
        [Constant | Immediate, ..] => spans[0],
        [_, Constant | Immediate, ..] => spans[1],
        [_, _, _, Immediate] => spans[3],
        _ => span,
    };
    let help = match found[..] {
        [_, Constant | Immediate, Register, ..] => "the product commutes: write the register first",
        [_, _, Constant, Constant] => "only one source can be a constant: load the other into a register",
        [_, _, _, Immediate] => "an addend cannot be an immediate: move it to a register or a constant bank",
        _ => "",
    };
    rules::OPERANDS.at(location, message).help(help)
}
