//! From a line of text to its 128-bit word.

mod word;

use roundonce_arith::Format;
use roundonce_isa::{Finding, Location};

use super::decode::{CONTROL, control, decode};
use super::instruction::{Bank, ImmediateFormat, Value};
use super::opcode::{Kind, Number, Opcode, gather, scatter};
use super::print::{NanNames, Reuse, push_number};
use super::table::OPCODES;
use super::target::{Generation, Target};
use crate::Style;
use crate::fields;
use crate::instruction::{Guard, PT, RZ};
use crate::parse::{Cursor, Span, What, is_illegal, read_number};
use crate::rules;
use crate::schedule_text::Scheduling;

/// More than any opcode has.
const MOST_MODIFIERS: usize = 8;

/// What stands behind an operand, in up to three pieces: within its bars, behind them, and behind `.reuse`.
type Suffixes = [Span; 3];

/// A source as it is written.
#[derive(Clone, Copy)]
struct Written {
    value: Value,
    negate: bool,
    absolute: bool,
    reuse: bool,
    suffixes: Suffixes,
    span: Span,
}

/// A statement as it is written.
struct Statement {
    row: &'static Opcode,
    guard: Guard,
    /// The bits of the modifiers.
    modifiers: u128,
    relu: bool,
    destination: u8,
    sources: [Option<Written>; 3],
    predicate: Option<Guard>,
    scheduling: Scheduling,
    span: Span,
}

/// A line's word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) word: u128,
    /// The floats that its word was made of.
    immediates: Vec<(Format, u64, Span)>,
    /// What it says of its control fields; all of them where its word is beside it.
    scheduling: Option<Scheduling>,
}

impl Line {
    /// A note for each immediate of its text that was rounded.
    pub(super) fn rounded(&self, text: &str) -> impl Iterator<Item = Finding> {
        self.immediates.iter().filter_map(move |&(format, bits, span)| {
            let printed = |out: &mut String| push_number(format, bits, NanNames::Both, Style::Nvdisasm, out);
            rules::rounded(format, text.get(span.0..span.1)?, bits, printed, span)
        })
    }
}

/// The word of one line of text. What the line does not say of the control fields is the slowest: a stall of 15 cycles
/// (of 11 beside `.reuse`, which longer ones exclude), no barrier and no wait.
///
/// # Errors
/// A finding with its location in the line: nothing is truncated or guessed.
///
/// ```
/// use roundonce_sass::modern::{Target, asm_line};
/// let sm_90 = Target::new(90).unwrap();
/// assert_eq!(asm_line("[B------:R-:W-:-:S04] FFMA.RZ R0, R1, -R2, |R3| ;", sm_90),
///     Ok(0x000fe8000000_c403_8000_0002_0100_7223));
/// assert_eq!(asm_line("FFMA2 R0, R2, R4, R6", sm_90).unwrap_err().code, "SASS0002");
/// ```
pub fn asm_line(line: &str, target: Target) -> Result<u128, Finding> {
    parse_line(line, target).map(|line| line.word)
}

pub(super) fn parse_line(line: &str, target: Target) -> Result<Line, Finding> {
    let mut cursor = Cursor::new(line);
    let mut words = Vec::new();
    skip_comments(&mut cursor, &mut words)?;
    words.clear();
    let prefix = cursor.schedule_prefix()?;
    cursor.skip_blanks();
    let statement = cursor.modern_statement(prefix, target)?;
    cursor.skip_blanks();
    if cursor.peek() == b';' {
        cursor.at += 1;
    }
    skip_comments(&mut cursor, &mut words)?;
    if cursor.at < line.len() {
        return Err(cursor.expected("`;` or the end of the line behind the statement"));
    }
    let own = statement.word(line, target)?;
    match words[..] {
        [low, high] => beside(own, u128::from(high) << 64 | u128::from(low), statement.span, target),
        _ => Ok(Line { word: own, immediates: cursor.immediates, scheduling: Some(statement.scheduling) }),
    }
}

/// The word that a line gives of itself, if it is the instruction's: it knows the bits that the text does not show.
pub(super) fn beside(own: u128, word: u128, span: Span, target: Target) -> Result<Line, Finding> {
    let print = |word: u128| {
        let mut text = String::new();
        // Whether `.reuse` shows depends on the stall, which the text may not say.
        decode(word, target)
            .map(|instruction| instruction.write_with_reuse(Style::Nvdisasm, Reuse::Hidden, &mut text))?;
        Ok(text)
    };
    let differs = |message: String| Err(rules::WORD_DIFFERS.at(span, message));
    match (print(own), print(word)) {
        (_, Err(error)) => {
            let error: super::DecodeError = error;
            differs(format!("the word beside is no instruction: {error}"))
        }
        (Ok(own), Ok(other)) if own != other => differs(format!("the word beside is `{other}`, not `{own}`")),
        _ => Ok(Line { word, immediates: Vec::new(), scheduling: None }),
    }
}

/// Blanks and comments; the words of 16 hex digits among them.
fn skip_comments(cursor: &mut Cursor<'_>, words: &mut Vec<u64>) -> Result<(), Finding> {
    loop {
        cursor.skip_blanks();
        if cursor.peek() == b'\n' {
            cursor.at += 1;
        } else if cursor.starts_with("//") || cursor.peek() == b'#' {
            cursor.at = cursor.text[cursor.at..].find('\n').map_or(cursor.text.len(), |length| cursor.at + length);
        } else if cursor.starts_with("/*") {
            words.extend(cursor.comment()?);
        } else {
            return Ok(());
        }
    }
}

impl Cursor<'_> {
    fn modern_statement(&mut self, prefix: Scheduling, target: Target) -> Result<Statement, Finding> {
        let start = self.at;
        let guard = self.modern_guard()?;
        let row = self.modern_mnemonic(target)?;
        if guard.1 != row.uniform && guard.0 != Guard::ALWAYS {
            let kind = if row.uniform { "a uniform predicate, UP0" } else { "a predicate, P0" };
            return Err(rules::PREDICATE.at((start, self.at), format!("the guard of {} is {kind}", row.name)));
        }
        let modifiers = self.modern_modifiers(row, target)?;
        if !matches!(self.peek(), b' ' | b'\t') {
            return Err(self.expected("a blank and the destination"));
        }
        self.skip_blanks();
        let destination_start = self.at;
        let (Value::Register(destination) | Value::Uniform(Some(destination))) = self.modern_register(row, target)?
        else {
            return Err(rules::REGISTER.at((destination_start, self.at), "the destination is a register"));
        };
        let bf16 = row.modifiers_on(target.generation()).any(|modifier| {
            modifier
                .texts
                .iter()
                .enumerate()
                .any(|(value, text)| *text == ".BF16_V2" && gather(modifiers, modifier.bits) == value)
        });
        let format = match row.number {
            Number::F32 => ImmediateFormat::F32,
            Number::F64 => ImmediateFormat::F64,
            Number::LowHalf => ImmediateFormat::LowF16,
            Number::Half if bf16 => ImmediateFormat::Bf16Pair,
            Number::Half => ImmediateFormat::F16Pair,
        };
        let relu = row
            .modifiers_on(target.generation())
            .any(|modifier| modifier.slot.name == ".RELU" && gather(modifiers, modifier.bits) != 0);
        let mut sources = [None; 3];
        let mut predicate = None;
        let mut count = 0;
        loop {
            self.skip_blanks();
            if !self.eat(b',') {
                break;
            }
            self.skip_blanks();
            if let Some(source) = sources[..row.roles.len()].get_mut(count) {
                *source = Some(self.modern_operand(format, target)?);
            } else if count == row.roles.len() && relu {
                let start = self.at;
                let (read, uniform) = self.modern_predicate()?;
                if uniform {
                    let message = format!("the predicate of {}.RELU is a predicate, P0, and no uniform one", row.name);
                    return Err(rules::PREDICATE.at((start, self.at), message));
                }
                predicate = Some(read);
            } else {
                return Err(self.expected("the end of the statement"));
            }
            count += 1;
        }
        let span = (start, self.at);
        let scheduling = self.schedule_suffix(prefix)?;
        Ok(Statement { row, guard: guard.0, modifiers, relu, destination, sources, predicate, scheduling, span })
    }

    fn modern_guard(&mut self) -> Result<(Guard, bool), Finding> {
        if !self.eat(b'@') {
            return Ok((Guard::ALWAYS, false));
        }
        let guard = self.modern_predicate()?;
        self.skip_blanks();
        Ok(guard)
    }

    /// `P0`, `!UP6`, `PT`, and whether it is uniform.
    fn modern_predicate(&mut self) -> Result<(Guard, bool), Finding> {
        let start = self.at;
        let negated = self.eat(b'!');
        let name = self.take_word();
        let (uniform, plain) = match name.strip_prefix('U') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let predicate = match plain.as_bytes() {
            b"PT" => PT,
            [b'P', digit @ b'0'..=b'6'] => digit - b'0',
            _ => {
                return Err(self.no_predicate(start, name));
            }
        };
        Ok((Guard { predicate, negated }, uniform))
    }

    /// The row whose name stands here: the longest, since `HFMA2.MMA` begins as `HFMA2` does.
    fn modern_mnemonic(&mut self, target: Target) -> Result<&'static Opcode, Finding> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let named = |row: &&Opcode| {
            let behind = rest.strip_prefix(row.name);
            behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        };
        let on_target = |row: &&Opcode| row.generations().any(|generation| generation == target.generation());
        let found = OPCODES.iter().filter(named).filter(on_target).max_by_key(|row| row.name.len());
        if let Some(row) = found {
            self.at += row.name.len();
            return Ok(row);
        }
        let start = self.at;
        let name = self.take_word();
        let span = (start, self.at);
        if name.is_empty() {
            return Err(self.expected("a mnemonic"));
        }
        if OPCODES.iter().any(|row| row.name == name) {
            return Err(rules::MNEMONIC.at(span, format!("{target} has no {name}")));
        }
        let known: Vec<&str> = OPCODES.iter().filter(on_target).map(|row| row.name).collect();
        let finding = rules::MNEMONIC.at(span, format!("`{name}` is not one of {}", known.join(", ")));
        Err(finding.help(rules::did_you_mean(name, known.into_iter()).unwrap_or_default()))
    }

    /// The bits of the modifiers, in any order.
    fn modern_modifiers(&mut self, row: &Opcode, target: Target) -> Result<u128, Finding> {
        let mut spans = [(0, 0); MOST_MODIFIERS];
        let mut count = 0;
        while self.peek() == b'.' {
            let start = self.at;
            self.at += 1;
            self.take_word();
            if count == MOST_MODIFIERS {
                return Err(rules::MODIFIER.at((start, self.at), "there are more modifiers than any opcode has"));
            }
            spans[count] = (start, self.at);
            count += 1;
        }
        let mut bits = 0;
        for modifier in row.modifiers_on(target.generation()) {
            bits |= scatter(modifier.default_value(), modifier.bits);
        }
        let mut given = 0_u32;
        // `.INVALID3` may belong to two slots: it takes the one that the others leave.
        for shared in [false, true] {
            for &span in &spans[..count] {
                let text = self.text.get(span.0..span.1).unwrap_or_default();
                let slots = row.modifiers_on(target.generation()).enumerate();
                let mut slots = slots.filter_map(|(index, modifier)| Some((index, modifier, modifier.value(text)?)));
                if shared != (slots.clone().count() > 1) {
                    continue;
                }
                let Some((index, modifier, value)) = slots.clone().filter(|(index, ..)| given >> index & 1 == 0).last()
                else {
                    return Err(match slots.next() {
                        Some(_) => rules::MODIFIER.at(span, format!("`{text}` is one too many for its slot")),
                        None => unknown_modifier(row, target, text, span),
                    });
                };
                given |= 1 << index;
                bits = bits & !scatter(usize::MAX, modifier.bits) | scatter(value, modifier.bits);
            }
        }
        Ok(bits)
    }

    /// A register of the row's file; of a uniform row the zero register is 255.
    fn modern_register(&mut self, row: &Opcode, target: Target) -> Result<Value, Finding> {
        let start = self.at;
        let found = if row.uniform { self.uniform_register(target, false)? } else { self.plain_register()? };
        match found {
            Some(Value::Uniform(None)) => Ok(Value::Uniform(Some(RZ))),
            Some(value) => Ok(value),
            None => {
                let file = if row.uniform { "UR0 to UR254 or URZ" } else { "R0 to R254 or RZ" };
                self.take_word();
                Err(rules::REGISTER.at((start, self.at), format!("the destination of {} is {file}", row.name)))
            }
        }
    }

    fn plain_register(&mut self) -> Result<Option<Value>, Finding> {
        if self.peek() != b'R' || !(self.ahead(1).is_ascii_digit() || self.ahead(1) == b'Z') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        let digits = self.take_word();
        let number = if digits == "Z" { Some(RZ) } else { register_number(digits, RZ) };
        number.map(|number| Some(Value::Register(number))).ok_or_else(|| {
            rules::REGISTER.at((start, self.at), format!("`R{digits}` is not a register: they are R0 to R254 and RZ"))
        })
    }

    /// `UR5`; `short` where the field has six bits on every target.
    fn uniform_register(&mut self, target: Target, short: bool) -> Result<Option<Value>, Finding> {
        if !self.starts_with("UR") || !(self.ahead(2).is_ascii_digit() || self.ahead(2) == b'Z') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 2;
        let digits = self.take_word();
        let most = if short || target.generation() < Generation::Blackwell { 63 } else { 255 };
        let number = if digits == "Z" { Some(None) } else { register_number(digits, most).map(Some) };
        number.map(|number| Some(Value::Uniform(number))).ok_or_else(|| {
            let message = format!("`UR{digits}` is not a uniform register: they are UR0 to UR{} and URZ", most - 1);
            rules::REGISTER.at((start, self.at), message)
        })
    }

    fn modern_operand(&mut self, format: ImmediateFormat, target: Target) -> Result<Written, Finding> {
        let start = self.at;
        let negate = self.peek() == b'-' && !(self.ahead(1).is_ascii_digit() || self.ahead(1) == b'.');
        let named = negate && matches!(self.ahead(1), b'R' | b'U' | b'|' | b'c');
        self.at += usize::from(named);
        let absolute = self.eat(b'|');
        let value = if let Some(register) = self.plain_register()? {
            register
        } else if let Some(register) = self.uniform_register(target, false)? {
            register
        } else if self.starts_with("c[") {
            match self.constant()? {
                What::Constant { bank, offset } if offset % 4 == 0 => {
                    Value::Constant { bank: Bank::Number(bank), offset: offset as u16 }
                }
                What::Constant { .. } => {
                    let message = "the constant's offset is not a multiple of 4";
                    return Err(rules::OFFSET.at((start, self.at), message));
                }
                _ => return Err(self.expected("a constant")),
            }
        } else if self.starts_with("cx[") {
            self.indirect_constant(target)?
        } else if absolute || named {
            return Err(self.expected("a register or a constant"));
        } else {
            let bits = self.modern_immediate(format)?;
            // The disassembler's specials end in a blank: `+INF .NP`.
            let end = self.at;
            self.skip_blanks();
            if self.peek() != b'.' {
                self.at = end;
            }
            Value::Immediate(bits)
        };
        let mut suffixes = [(self.at, self.at); 3];
        suffixes[0] = self.modern_suffix();
        if absolute && !self.eat(b'|') {
            return Err(self.expected("`|`"));
        }
        suffixes[1] = self.modern_suffix();
        let reuse = self.starts_with(".reuse");
        if reuse {
            self.at += ".reuse".len();
            if !matches!(value, Value::Register(_)) {
                return Err(rules::SYNTAX.at((start, self.at), "only a register is kept for reuse"));
            }
        }
        suffixes[2] = self.modern_suffix();
        Ok(Written { value, negate: named, absolute, reuse, suffixes, span: (start, self.at) })
    }

    /// The bytes of `.H0_H0` and the like.
    fn modern_suffix(&mut self) -> Span {
        let start = self.at;
        while self.peek() == b'.' && !self.starts_with(".reuse") {
            self.at += 1;
            self.take_word();
        }
        (start, self.at)
    }

    /// `cx[UR4][0x160]`.
    fn indirect_constant(&mut self, target: Target) -> Result<Value, Finding> {
        let start = self.at;
        self.at += "cx[".len();
        let Some(Value::Uniform(base)) = self.uniform_register(target, true)? else {
            return Err(self.expected("a uniform register"));
        };
        if !self.eat(b']') {
            return Err(self.expected("`]`"));
        }
        let offset = self.bracketed()?;
        let span = (start, self.at);
        if target.generation() == Generation::Volta {
            return Err(rules::CONSTANT.at(span, format!("{target} has no uniform registers")));
        }
        match u16::try_from(offset) {
            Ok(offset) if offset % 4 == 0 => Ok(Value::Constant { bank: Bank::Uniform(base), offset }),
            Ok(_) => Err(rules::OFFSET.at(span, "the constant's offset is not a multiple of 4")),
            Err(_) => Err(rules::CONSTANT.at(span, "the constant's offset is out of range: 0 to 0xfffc")),
        }
    }

    fn modern_immediate(&mut self, format: ImmediateFormat) -> Result<u32, Finding> {
        match format {
            ImmediateFormat::F32 => Ok(self.number(Format::F32)? as u32),
            ImmediateFormat::LowF16 => Ok(self.number(Format::F16)? as u32),
            ImmediateFormat::F64 => {
                let start = self.at;
                let bits = self.number(Format::F64)?;
                let text = self.text.get(start..self.at).unwrap_or_default();
                // What was printed with twenty digits is the number next to it.
                if bits as u32 == 0 {
                    return Ok((bits >> 32) as u32);
                }
                let message =
                    format!("`{text}` does not fit: only the upper 32 bits of an f64 do, and it is {bits:#018x}");
                Err(rules::NUMBER.at((start, self.at), message))
            }
            ImmediateFormat::F16Pair | ImmediateFormat::Bf16Pair => {
                let half = if format == ImmediateFormat::F16Pair { Format::F16 } else { Format::BF16 };
                let high = self.number(half)? as u32;
                self.skip_blanks();
                if !self.eat(b',') {
                    return Err(self.expected("`,` and the number of the lower half"));
                }
                self.skip_blanks();
                Ok(high << 16 | self.number(half)? as u32)
            }
        }
    }

    fn number(&mut self, format: Format) -> Result<u64, Finding> {
        let start = self.at;
        let text = self.number_text();
        if text.is_empty() {
            return Err(self.expected("a register, a constant or an immediate"));
        }
        let span = (start, self.at);
        let bits = read_number(format, text).map_err(|message| rules::NUMBER.at(span, message))?;
        self.immediates.push((format, bits, span));
        Ok(bits)
    }
}

#[cold]
fn unknown_modifier(row: &Opcode, target: Target, text: &str, span: Span) -> Finding {
    let all = row.modifiers_on(target.generation()).flat_map(|modifier| modifier.texts);
    let all: Vec<&str> = all.copied().filter(|text| !text.is_empty() && !is_illegal(text)).collect();
    let message = format!("`{text}` is not a modifier of {} on {target}: it has {}", row.name, all.join(" "));
    rules::MODIFIER.at(span, message).help(rules::did_you_mean(text, all.into_iter()).unwrap_or_default())
}

/// A register's number below `most`.
fn register_number(digits: &str, most: u8) -> Option<u8> {
    let all = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 3;
    digits.parse().ok().filter(|number: &u8| all && *number < most)
}

fn kind(value: Value) -> Kind {
    match value {
        Value::Register(_) => Kind::Register,
        Value::Uniform(_) => Kind::Uniform,
        Value::Constant { .. } => Kind::Constant,
        Value::Immediate(_) => Kind::Immediate,
    }
}

/// The word of a line in the place of another word: what the line does not say of the control fields stays, but that the
/// operands kept for reuse are its own.
pub(super) fn in_place_of(line: &Line, other: u128, target: Target) -> Result<u128, Finding> {
    let Some(scheduling) = line.scheduling else { return Ok(line.word) };
    let kept = control(other).with(fields::REUSE, control(line.word).reuse());
    let below = (1 << CONTROL) - 1;
    let word = line.word & below | u128::from(scheduling.over(kept).bits()) << CONTROL | other & 3 << 126;
    match decode(word, target) {
        Ok(_) => Ok(word),
        Err(error) => {
            Err(rules::SCHEDULE.finding(Location::Whole, format!("beside the control fields that are there: {error}")))
        }
    }
}
