//! One operand as it is written, before a row says what it means.

use roundonce_isa::Finding;

use super::numbers::whole_number;
use super::{Cursor, Span};
use crate::instruction::{OperandKind, PT, RZ};
use crate::rules;

/// What is written. Numbers and names are read when a row says which of them is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Register(u8),
    RegisterPlus { register: u8, offset: i64 },
    Predicate(u8),
    Constant { bank: u8, offset: i64 },
    ConstantAt { bank: u8, register: u8, offset: i64 },
    Memory { attribute: bool, register: u8, offset: i64 },
    Set(u8),
    Word(Span),
}

/// An operand with what stands around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) what: What,
    /// `-`, `~`, `!`; nothing.
    pub(super) sign: &'static str,
    pub(super) absolute: bool,
    /// `.CC`, `.H1`.
    pub(super) suffix: Span,
    pub(super) reuse: bool,
    pub(super) span: Span,
}

impl Written {
    pub(super) const NONE: Written =
        Written { what: What::Register(RZ), sign: "", absolute: false, suffix: (0, 0), reuse: false, span: (0, 0) };
    /// Its kind, for a finding.
    pub(super) fn kind(&self) -> OperandKind {
        match self.what {
            What::Register(_) | What::RegisterPlus { .. } => OperandKind::Register,
            What::Predicate(_) => OperandKind::Predicate,
            What::Constant { .. } | What::ConstantAt { .. } => OperandKind::Constant,
            What::Memory { .. } => OperandKind::Memory,
            What::Set(_) => OperandKind::Name,
            What::Word(_) => OperandKind::Immediate,
        }
    }
}

/// What ends a number: the signs that stand behind an immediate.
static BEHIND: [(&str, &str); 4] = [(".NEG", "-"), (".INV", "~"), (".ABS", "|"), (".reuse", "")];

impl Cursor<'_> {
    pub(super) fn operand(&mut self) -> Result<Written, Finding> {
        let start = self.at;
        let mut out = Written::NONE;
        let number = matches!(self.peek(), b'-' | b'+') && (self.ahead(1).is_ascii_digit() || self.ahead(1) == b'.')
            || self.peek() == b'-' && self.is_named_number(self.at + 1)
            || self.peek() == b'+';
        if !number {
            out.sign = match self.peek() {
                b'-' => "-",
                b'~' => "~",
                b'!' => "!",
                _ => "",
            };
            self.at += out.sign.len();
            out.absolute = self.eat(b'|');
        }
        out.what = self.what()?;
        if let What::Word(span) = out.what {
            if span.0 == span.1 {
                self.at = start;
                return Err(self.expected("a register, a constant or an immediate"));
            }
            self.behind(start, &mut out)?;
        } else {
            self.suffix(start, &mut out)?;
        }
        if out.absolute && !matches!(out.what, What::Word(_)) && !self.eat(b'|') {
            return Err(self.expected("`|`"));
        }
        // `|R1|.reuse`.
        if self.starts_with(".reuse") {
            self.suffix(start, &mut out)?;
        }
        out.span = (start, self.at);
        Ok(out)
    }

    /// Whether an infinity or a NaN stands at a place.
    fn is_named_number(&self, at: usize) -> bool {
        let rest = self.from(at);
        let word = &rest[..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()];
        ["INF", "INFINITY", "NAN", "QNAN", "SNAN"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// `.H1`, `.CC`, `.reuse` behind a register or a constant.
    fn suffix(&mut self, start: usize, out: &mut Written) -> Result<(), Finding> {
        let from = self.at;
        let mut end = from;
        while self.peek() == b'.' {
            let reuse = self.starts_with(".reuse");
            self.at += 1;
            while self.peek() == b'?' {
                self.at += 1;
            }
            self.skip_word();
            if !reuse {
                end = self.at;
                continue;
            }
            if !matches!(out.what, What::Register(_)) {
                let message = format!("a {} is not kept for reuse: only a register is", out.kind().name());
                return Err(rules::SYNTAX.at((start, self.at), message));
            }
            out.reuse = true;
        }
        if end > from {
            out.suffix = (from, end);
        }
        Ok(())
    }

    /// `.NEG`, `.ABS`, `.INV` behind a number. The disassembler's specials end in a blank: `+INF .NEG`.
    fn behind(&mut self, start: usize, out: &mut Written) -> Result<(), Finding> {
        loop {
            let end = self.at;
            self.skip_blanks();
            let found = BEHIND.iter().find(|(text, _)| self.starts_with(text));
            let Some((text, sign)) = found.filter(|(text, _)| !self.ahead(text.len()).is_ascii_alphanumeric()) else {
                if self.peek() != b'.' {
                    self.at = end;
                    return Ok(());
                }
                return self.suffix(start, out);
            };
            self.at += text.len();
            match *sign {
                "" => {
                    let message = "a immediate is not kept for reuse: only a register is".replace("a imm", "an imm");
                    return Err(rules::SYNTAX.at((start, self.at), message));
                }
                "|" => out.absolute = true,
                sign => out.sign = sign,
            }
        }
    }

    fn what(&mut self) -> Result<What, Finding> {
        match (self.peek(), self.ahead(1)) {
            (b'R', b'0'..=b'9') => self.register_or_sum(),
            (b'R', b'Z') if !is_word(self.ahead(2)) => self.register_or_sum(),
            (b'P', digit @ (b'0'..=b'6' | b'T')) if !is_word(self.ahead(2)) => {
                self.at += 2;
                Ok(What::Predicate(if digit == b'T' { PT } else { digit - b'0' }))
            }
            (b'c', b'[') => self.constant(),
            (b'[', _) | (b'a', b'[') => {
                let attribute = self.eat(b'a');
                let (register, offset) = self.address()?;
                Ok(What::Memory { attribute, register, offset })
            }
            (b'{', _) => self.set(),
            (b'`', _) => {
                let start = self.at;
                self.take_while(|byte| !matches!(byte, b')' | b';' | b'\n') && byte.is_ascii());
                self.eat(b')');
                Ok(What::Word((start, self.at)))
            }
            _ => {
                let start = self.at;
                self.eat(b'#');
                self.number_text();
                Ok(What::Word((start, self.at)))
            }
        }
    }

    /// `R1`, or `R1 0x10` where a branch adds a number.
    fn register_or_sum(&mut self) -> Result<What, Finding> {
        let register = self.register()?;
        let end = self.at;
        self.skip_blanks();
        let negative = self.peek() == b'-';
        if self.at == end || !self.ahead(usize::from(negative)).is_ascii_digit() {
            self.at = end;
            return Ok(What::Register(register));
        }
        self.at += usize::from(negative);
        let text = self.take_word();
        match whole_number(text) {
            Some(number) => Ok(What::RegisterPlus { register, offset: if negative { -number } else { number } }),
            None => {
                self.at = end;
                Ok(What::Register(register))
            }
        }
    }

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
        if is_word(self.peek()) {
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

    pub(crate) fn constant(&mut self) -> Result<What, Finding> {
        let start = self.at;
        self.at += 1;
        let bank = self.bracketed()?;
        self.skip_blanks();
        let (register, offset) = self.address()?;
        let span = (start, self.at);
        let Some(bank) = u8::try_from(bank).ok().filter(|bank| u64::from(*bank) <= crate::row::BANK.get(u64::MAX))
        else {
            return Err(rules::CONSTANT.at(span, format!("there is no constant bank {bank:#x}: banks are 0x0 to 0x1f")));
        };
        if register != RZ {
            return Ok(What::ConstantAt { bank, register, offset });
        }
        if !(-0x8000..0x1_0000).contains(&offset) {
            let message = format!("the constant offset {} is out of range: -0x8000 to 0xfffc", signed_hex(offset));
            return Err(rules::CONSTANT.at(span, message));
        }
        Ok(What::Constant { bank, offset })
    }

    /// `[0x140]`, `[-0x7eb8]`, `[320]`.
    pub(crate) fn bracketed(&mut self) -> Result<i64, Finding> {
        self.skip_blanks();
        if !self.eat(b'[') {
            return Err(self.expected("`[`"));
        }
        self.skip_blanks();
        let number = self.signed_number()?;
        self.skip_blanks();
        if !self.eat(b']') {
            return Err(self.expected("`]`"));
        }
        Ok(number)
    }

    fn signed_number(&mut self) -> Result<i64, Finding> {
        let start = self.at;
        let negative = self.eat(b'-');
        let text = self.take_word();
        let Some(number) = whole_number(text) else {
            return Err(rules::CONSTANT.at((start, self.at), format!("`{text}` is not a whole number such as 0x140")));
        };
        Ok(if negative { -number } else { number })
    }

    /// `[R1+0x10]`, `[R1]`, `[0x10]`.
    fn address(&mut self) -> Result<(u8, i64), Finding> {
        self.skip_blanks();
        if !self.eat(b'[') {
            return Err(self.expected("`[`"));
        }
        self.skip_blanks();
        let mut register = RZ;
        let mut offset = 0;
        if self.peek() == b'R' {
            register = self.register()?;
            self.skip_blanks();
            if self.eat(b'+') {
                self.skip_blanks();
                offset = self.signed_number()?;
            } else if self.peek() == b'-' {
                offset = self.signed_number()?;
            }
        } else {
            offset = self.signed_number()?;
        }
        self.skip_blanks();
        if !self.eat(b']') {
            return Err(self.expected("`]`"));
        }
        Ok((register, offset))
    }

    /// `{5,4,0}`.
    fn set(&mut self) -> Result<What, Finding> {
        self.at += 1;
        let mut set = 0;
        while !self.eat(b'}') {
            match self.peek() {
                digit @ b'0'..=b'5' => set |= 1 << (digit - b'0'),
                b',' | b' ' => {}
                _ => return Err(self.expected("a barrier, 0 to 5")),
            }
            self.at += 1;
        }
        Ok(What::Set(set))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn signed_hex(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:#x}", number.unsigned_abs())
}
