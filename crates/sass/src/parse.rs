//! From the text of one statement to its instruction.
//!
//! The parser walks bytes once and allocates only for a finding.

mod fit;
mod numbers;
mod operand;

use roundonce_arith::Format;
use roundonce_isa::{Effect, Finding};

use self::fit::{Misfit, fit};
pub(crate) use self::numbers::{read_immediate, read_number};
pub(crate) use self::operand::What;
use self::operand::Written;
pub(crate) use self::operand::signed_hex;
use crate::encode::EncodeError;
use crate::generation::Generation;
use crate::instruction::{Guard, Instruction, OperandKind, PT};
use crate::lookup::{self, short_counterpart};
use crate::print::guard_bits;
use crate::row::{Kind, MAX_OPERANDS, Row};
use crate::rules;
use crate::schedule::Slot;
use crate::schedule_text::{NoSuffix, Scheduling, apply_suffix, read_cuassembler, read_maxas};

/// A range of bytes.
pub(crate) type Span = (usize, usize);

/// One statement: an instruction, the locations of its parts, and its scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The instruction.
    pub instruction: Instruction,
    /// What is written of its scheduling, `.reuse` with it.
    pub(crate) scheduling: Scheduling,
    /// The bytes of its mnemonic.
    pub mnemonic: (usize, usize),
    /// The bytes of each operand, the destination first.
    pub operands: [(usize, usize); MAX_OPERANDS],
    /// The bytes from the guard to the last operand.
    pub span: (usize, usize),
    /// Why the instruction has no word, and the operand at fault, counted as written. Its instruction is the nearest
    /// that has one.
    pub(crate) fault: Option<(EncodeError, usize)>,
    /// The code that it names.
    pub(crate) target: Option<Target>,
}

/// The code that a branch names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// By its address.
    Address(i64),
    /// By a label: the bytes of its name.
    Label(Span),
}

impl Statement {
    /// Nothing yet.
    pub(crate) const fn blank() -> Statement {
        Statement {
            instruction: Instruction { row: 0, reuse: 0, word: 0 },
            scheduling: Scheduling::NONE,
            mnemonic: (0, 0),
            operands: [(0, 0); MAX_OPERANDS],
            span: (0, 0),
            fault: None,
            target: None,
        }
    }

    /// Its scheduling, where more than `.reuse` is written; what is not written is [`Slot::CAUTIOUS`]'s.
    pub fn slot(&self) -> Option<Slot> {
        self.scheduling.is_given().then(|| self.scheduling.over(Slot::CAUTIOUS))
    }

    /// Its word.
    ///
    /// # Errors
    /// Why it has none, and the operand at fault, counted as written.
    pub fn word(&self) -> Result<u64, (EncodeError, usize)> {
        self.fault.map_or(Ok(self.instruction.word), Err)
    }

    /// The field of its branch target.
    pub(crate) fn target_field(&self) -> Option<crate::row::Bits> {
        self.instruction.row().operands.iter().find_map(|field| match field.kind {
            Kind::Relative(bits) => Some(bits),
            _ => None,
        })
    }

    /// Its word at an address; `label` knows where labels are.
    ///
    /// # Errors
    /// If its target is out of reach, or a label that is not known.
    pub(crate) fn placed(
        &self,
        word: u64,
        address: u64,
        label: impl FnOnce(Span) -> Option<i64>,
    ) -> Result<u64, Finding> {
        let (Some(target), Some(bits)) = (self.target, self.target_field()) else { return Ok(word) };
        let target = match target {
            Target::Address(address) => address,
            Target::Label(name) => label(name).ok_or_else(|| rules::TARGET.at(name, "there is no such label"))?,
        };
        let distance = target - address as i64 - 8;
        let placed = word & !bits.mask() | bits.put(distance as u64);
        if bits.get_signed(placed) == distance {
            return Ok(placed);
        }
        Err(rules::TARGET.at(self.span, "the target is further away than 24 bits reach"))
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
    /// Whose instructions of 64 bits are read.
    generation: Generation,
    /// The floats of a statement of 128 bits, as they were read.
    pub(crate) immediates: Vec<(Format, u64, Span)>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor::of(text, Generation::NEWEST)
    }
    pub(crate) fn of(text: &'a str, generation: Generation) -> Cursor<'a> {
        Cursor { text, at: 0, generation, immediates: Vec::new() }
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
    /// The bytes of the next character.
    pub(crate) fn character(&self) -> Span {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        (self.at, self.at + next.map_or(0, char::len_utf8))
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
        rules::SYNTAX.at(self.character(), format!("expected {what}, found {}", self.found()))
    }

    /// Scheduling as maxas and CuAssembler write it before an instruction.
    pub(crate) fn schedule_prefix(&mut self) -> Result<Scheduling, Finding> {
        let start = self.at;
        let control = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':');
        if self.starts_with("[B") {
            self.at += 1;
            let read = read_cuassembler(self.take_while(control));
            if let Some(scheduling) = read.filter(|_| self.eat(b']')) {
                return Ok(scheduling);
            }
            let message = "this is not CuAssembler's `[B------:R-:W-:Y:S01]`";
            return Err(rules::SCHEDULE.at((start, self.at), message));
        }
        let two = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
        if two(self.peek()) && two(self.ahead(1)) && self.ahead(2) == b':' {
            if let Some(scheduling) = read_maxas(self.take_while(control)) {
                return Ok(scheduling);
            }
            return Err(rules::SCHEDULE.at((start, self.at), "this is not maxas's `--:-:-:Y:1`"));
        }
        Ok(Scheduling::NONE)
    }

    /// Scheduling in the manual's notation, behind the operands.
    pub(crate) fn schedule_suffix(&mut self, mut scheduling: Scheduling) -> Result<Scheduling, Finding> {
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
                _ => return Ok(scheduling),
            }
            let piece = self.text.get(start..self.at).unwrap_or_default().trim_end();
            scheduling = apply_suffix(scheduling, piece).map_err(|why| match why {
                NoSuffix::Twice => rules::SCHEDULE
                    .at((start, self.at), format!("`{piece}` is one too many: the text has said it before")),
                NoSuffix::Unknown => rules::SCHEDULE
                    .at((start, self.at), format!("`{piece}` is no scheduling"))
                    .help("`&req={0,2}` for barriers 0 to 5, `?W1G` to `?W15G`, `?W1` to `?W11`, `?DRAIN`"),
            })?;
        }
    }

    /// One statement without its end, `;` or the line's, written into `out`, which is large.
    pub(crate) fn statement(&mut self, prefix: Scheduling, out: &mut Statement) -> Result<(), Finding> {
        self.skip_blanks();
        let start = self.at;
        let guard = self.guard()?;
        let mnemonic_start = self.at;
        let mnemonic = self.take_word();
        let mnemonic_span = (mnemonic_start, self.at);
        if mnemonic.is_empty() {
            return Err(self.expected("a mnemonic"));
        }
        let Some(rows) = lookup::mnemonic(mnemonic, self.generation) else {
            return Err(unknown_mnemonic(mnemonic, mnemonic_span, self.generation));
        };
        let modifiers_start = self.at;
        while self.peek() == b'.' {
            self.at += 1;
            // What the disassembler has no name for: `.???5`.
            while self.peek() == b'?' {
                self.at += 1;
            }
            self.skip_word();
        }
        let modifiers = (modifiers_start, self.at);
        let mut written = [Written::NONE; MAX_OPERANDS];
        let mut count = 0;
        let mut end = self.at;
        let blank_start = self.at;
        self.skip_blanks();
        if self.begins_operand() {
            if self.at == blank_start && self.peek() != b'[' {
                return Err(self.expected("a blank and the first operand"));
            }
            loop {
                self.skip_blanks();
                if count == MAX_OPERANDS {
                    return Err(self.expected("the end of the statement after eight operands"));
                }
                written[count] = self.operand()?;
                out.operands[count] = written[count].span;
                end = self.at;
                count += 1;
                self.skip_blanks();
                if !self.eat(b',') {
                    break;
                }
            }
            if self.begins_operand() {
                return Err(self.expected("`,` or the end of the statement"));
            }
        }
        out.mnemonic = mnemonic_span;
        out.span = (start, end);
        self.choose(rows, modifiers, &written[..count], out)?;
        if out.instruction.row().guarded {
            out.instruction.word = out.instruction.word & !crate::row::GUARD | guard_bits(guard);
        } else if guard != Guard::ALWAYS {
            let message = format!("{mnemonic} runs always: it has no guard");
            return Err(rules::PREDICATE.at((start, mnemonic_start), message));
        }
        out.scheduling = self.schedule_suffix(prefix)?.reusing(u32::from(out.instruction.reuse));
        Ok(())
    }

    /// Whether an operand begins here.
    fn begins_operand(&self) -> bool {
        match self.peek() {
            b'-' | b'+' | b'~' | b'!' | b'|' | b'[' | b'`' => true,
            b'{' => self.ahead(1).is_ascii_digit() || self.ahead(1) == b'}',
            b'?' => self.ahead(1) == b'?',
            byte => byte.is_ascii_alphanumeric(),
        }
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
                return Err(self.no_predicate(start, name));
            }
        };
        self.skip_blanks();
        Ok(Guard { predicate, negated })
    }

    #[cold]
    pub(crate) fn no_predicate(&self, start: usize, name: &str) -> Finding {
        let (found, end) = match name {
            "" => (self.found(), self.character().1),
            name => (format!("`{name}`"), self.at),
        };
        rules::PREDICATE.at((start, end), format!("{found} is not a predicate: expected P0 to P6 or PT"))
    }

    /// Every modifier is one of some row's; their order is free.
    fn known_modifiers(&self, rows: &[u16], (start, end): Span) -> Result<(), Finding> {
        let text = self.text.get(start..end).unwrap_or_default();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let length = rows.iter().filter_map(|row| fit::known_modifier(lookup::row(*row), rest)).max();
            match length {
                Some(length) => at += length,
                None => {
                    let length = 1 + rest[1..].find('.').unwrap_or(rest.len() - 1);
                    return Err(self.no_modifier(rows, (start + at, start + at + length)));
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn no_modifier(&self, rows: &[u16], span: Span) -> Finding {
        let row = lookup::row(rows[0]);
        let text = self.text.get(span.0..span.1).unwrap_or_default();
        let syntax = match lookup::arithmetic(row) {
            Some(arithmetic) => arithmetic.syntax(),
            None => row.modifiers.iter().fold(row.name.to_owned(), |text, slot| format!("{text}{{.{}}}", slot.name)),
        };
        let message = format!("`{text}` is not a modifier of {}: the form is `{syntax}`", row.name);
        let slots = rows.iter().flat_map(|row| lookup::row(*row).modifiers);
        let known =
            slots.flat_map(|slot| slot.texts).copied().filter(|text| text.starts_with('.') && !is_illegal(text));
        let meant = || rules::did_you_mean(text, known.clone());
        rules::MODIFIER.at(span, message).help(rounding_help(row, text).or_else(meant).unwrap_or_default())
    }

    /// Picks the first row that the statement fits; what the nearest one misses is the finding.
    fn choose(&self, rows: &[u16], modifiers: Span, written: &[Written], out: &mut Statement) -> Result<(), Finding> {
        let mut nearest: Option<(u16, Misfit)> = None;
        for number in rows {
            match fit(lookup::row(*number), self.text, modifiers, written) {
                Ok(fitted) => {
                    out.instruction = Instruction { row: *number, reuse: fitted.reuse, word: fitted.word };
                    (out.fault, out.target) = (None, fitted.target);
                    return Ok(());
                }
                Err(misfit) => {
                    if nearest.as_ref().is_none_or(|(_, other)| misfit.rank() > other.rank()) {
                        nearest = Some((*number, misfit));
                    }
                }
            }
        }
        let Some((number, misfit)) = nearest else { return Err(self.expected("an instruction")) };
        let row = lookup::row(number);
        if !matches!(misfit, Misfit::Unencodable { .. }) {
            self.known_modifiers(rows, modifiers)?;
        }
        match misfit {
            Misfit::Unencodable { fitted, error, operand } => {
                out.instruction = Instruction { row: number, reuse: fitted.reuse, word: fitted.word };
                (out.fault, out.target) = (Some((error, operand)), fitted.target);
                Ok(())
            }
            Misfit::Number { span, message } => Err(rules::NUMBER.at(span, message)),
            Misfit::Operand { operand, message } => Err(rules::SYNTAX.at(written[operand].span, message)),
            Misfit::Twice { start, end } => {
                let text = self.text.get(start..end).unwrap_or_default();
                Err(rules::MODIFIER.at((start, end), format!("`{text}` is one too many for its slot")))
            }
            Misfit::Missing { texts } => {
                let known: Vec<&str> = texts.iter().copied().filter(|text| !is_illegal(text)).collect();
                let message = format!("{} needs one of {}", row.name, known.join(", "));
                Err(rules::MODIFIER.at(out.mnemonic, message))
            }
            Misfit::Contradiction => {
                Err(rules::MODIFIER.at(out.span, format!("no word of {} has all of these together", row.name)))
            }
            Misfit::Kinds { .. } => Err(no_form(rows, written, out)),
        }
    }
}

/// Whether a modifier means nothing.
pub(crate) fn is_illegal(text: &str) -> bool {
    text.contains("INVALID") || text.contains("???")
}

/// The first GPUs with an instruction of this name.
fn since(mnemonic: &str) -> Option<Generation> {
    Generation::ALL.into_iter().find(|generation| lookup::mnemonic(mnemonic, *generation).is_some())
}

#[cold]
fn unknown_mnemonic(mnemonic: &str, span: Span, generation: Generation) -> Finding {
    let known = lookup::mnemonics(generation);
    if let Some(name) = known.clone().find(|name| name.eq_ignore_ascii_case(mnemonic)) {
        return rules::MNEMONIC
            .at(span, format!("`{mnemonic}` is not a mnemonic"))
            .help("mnemonics are in capitals")
            .fix(span.0, span.1, name);
    }
    if let Some(since) = since(mnemonic) {
        let message = format!("sm_{} has no {mnemonic}: it is from sm_{} on", generation.first(), since.first());
        return rules::MNEMONIC.at(span, message);
    }
    let count = lookup::mnemonics(Generation::NEWEST).count();
    let message = format!("`{mnemonic}` is not one of the {count} mnemonics of this GPU family");
    rules::MNEMONIC.at(span, message).help(rules::did_you_mean(mnemonic, known).unwrap_or_default())
}

/// What to do about a rounding modifier on an opcode that has none because of its long immediate.
fn rounding_help(row: &Row, text: &str) -> Option<String> {
    let (arithmetic, short) = (lookup::arithmetic(row)?, short_counterpart(row.name)?);
    let (slot, effect) = short.slots.iter().find_map(|slot| {
        let choice = slot.choices.iter().find(|choice| choice.text == text)?;
        Some((slot, choice.effect))
    })?;
    match effect {
        Effect::Round(rounding) if rounding == arithmetic.recipe.operation.rounding => {
            Some(format!("{} always rounds to nearest even: leave `{text}` out", row.name))
        }
        Effect::Round(_) => {
            Some(format!("{} always rounds to nearest even; {} has `{}`", row.name, short.name, slot.name))
        }
        _ => None,
    }
}

#[cold]
fn no_form(rows: &[u16], written: &[Written], statement: &Statement) -> Finding {
    let mnemonic = lookup::row(rows[0]).name;
    let found: Vec<OperandKind> = written.iter().map(Written::kind).collect();
    let kinds: Vec<&str> = found.iter().map(|kind| kind.name()).collect();
    let mut forms: Vec<String> = rows.iter().map(|row| format!("({})", lookup::row(*row).kinds())).collect();
    forms.dedup();
    let message =
        format!("{mnemonic} does not take ({}): its operand forms are {}", kinds.join(", "), forms.join(", "));
    use OperandKind::{Constant, Immediate, Register};
    let arithmetic = lookup::arithmetic(lookup::row(rows[0])).is_some();
    let spans = &statement.operands;
    let location = match found[..] {
        [Constant | Immediate, ..] if arithmetic => spans[0],
        [_, Constant | Immediate, ..] if arithmetic => spans[1],
        [_, _, _, Immediate] if arithmetic => spans[3],
        _ => statement.span,
    };
    let help = match found[..] {
        _ if !arithmetic => "",
        [_, Constant | Immediate, Register, ..] => "the product commutes: write the register first",
        [_, _, Constant, Constant] => "only one source can be a constant: load the other into a register",
        [_, _, _, Immediate] => "an addend cannot be an immediate: move it to a register or a constant bank",
        _ => "",
    };
    rules::OPERANDS.at(location, message).help(help)
}
