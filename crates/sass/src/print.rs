//! From an instruction to its text.

use core::fmt;

use crate::decimal::{push_integer, write_decimal, write_wide_decimal};
use crate::fields;
use crate::instruction::{Guard, Instruction, PT, RZ, half_bits, register_or_none, swap_register};
use crate::row::{BANK, Bits, Kind, OFFSET, OperandField, Slot};
use crate::schedule::Slot as Schedule;

/// How immediates are printed. Everything else is the same in every style.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Style {
    /// Decimal where it reads back to the same bits, hex where it would not: NaNs, whose payload no decimal has.
    #[default]
    Exact,
    /// Exactly as nvdisasm 12.8 prints: every NaN `+QNAN ` or `-QNAN `, and a blank behind those, `+INF ` and `-0.0 `.
    Nvdisasm,
    /// Every floating-point immediate as its bits.
    Hex,
}

/// A register's name: `R7`, `RZ`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register(pub u8);

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::new();
        push_register(self.0, &mut name);
        f.write_str(&name)
    }
}

pub(crate) fn push_register(number: u8, out: &mut String) {
    if number == RZ {
        out.push_str("RZ");
    } else {
        out.push('R');
        push_integer(u64::from(number), out);
    }
}

fn push_predicate(number: u8, out: &mut String) {
    out.push('P');
    out.push(if number == PT { 'T' } else { char::from(b'0' + (number & 7)) });
}

pub(crate) fn push_hex(number: u64, out: &mut String) {
    out.push_str("0x");
    push_hex_digits(number, 16 - (number.leading_zeros() / 4).min(15), out);
}

pub(crate) fn push_hex_digits(number: u64, digits: u32, out: &mut String) {
    for place in (0..digits).rev() {
        let digit = number >> (4 * place) & 0xf;
        out.push(char::from(b"0123456789abcdef"[digit as usize]));
    }
}

fn push_signed_hex(number: i64, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    push_hex(number.unsigned_abs(), out);
}

/// The name of a guard, `@!P0 `, with its blank; nothing for [`Guard::ALWAYS`].
fn push_guard(guard: Guard, out: &mut String) {
    if guard == Guard::ALWAYS {
        return;
    }
    out.push_str(if guard.negated { "@!" } else { "@" });
    push_predicate(guard.predicate, out);
    out.push(' ');
}

/// What is special about the bits of a number.
enum Special {
    Nan { quiet: bool },
    Infinity,
    MinusZero,
}

fn special(magnitude: u64, infinity: u64, negative: bool) -> Option<Special> {
    match magnitude {
        // The highest bit of the fraction, the lowest of whose exponent is `infinity`'s.
        _ if magnitude > infinity => {
            Some(Special::Nan { quiet: magnitude & (infinity & infinity.wrapping_neg()) >> 1 != 0 })
        }
        _ if magnitude == infinity => Some(Special::Infinity),
        0 if negative => Some(Special::MinusZero),
        _ => None,
    }
}

/// Writes a number of 16, 32 or 64 bits.
fn push_float(bits: u64, format: u8, style: Style, out: &mut String) {
    let width = u32::from(format);
    let sign = bits >> (width - 1) & 1;
    let magnitude = bits & !(1 << (width - 1));
    let infinity = match format {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    let kind = special(magnitude, infinity, sign == 1);
    if style == Style::Hex || matches!(kind, Some(Special::Nan { .. })) && style == Style::Exact {
        out.push_str("0x");
        push_hex_digits(bits, width / 4, out);
        return;
    }
    match kind {
        Some(kind) => {
            let minus = sign == 1;
            out.push_str(match kind {
                // Of the wide format alone it says which.
                Special::Nan { quiet: false } if format == 64 => {
                    if minus {
                        "-SNAN"
                    } else {
                        "+SNAN"
                    }
                }
                Special::Nan { .. } => {
                    if minus {
                        "-QNAN"
                    } else {
                        "+QNAN"
                    }
                }
                Special::Infinity => {
                    if minus {
                        "-INF"
                    } else {
                        "+INF"
                    }
                }
                Special::MinusZero => "-0.0",
            });
            if style == Style::Nvdisasm {
                out.push(' ');
            }
        }
        None if format == 32 => write_decimal(bits as u32, out),
        None if format == 16 => write_wide_decimal(half_value(bits as u16), out),
        None => write_wide_decimal(f64::from_bits(bits), out),
    }
}

/// The value of a finite f16.
fn half_value(bits: u16) -> f64 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u64::from(bits & 0x3ff));
    let magnitude = match exponent {
        // A unit is 2^-24.
        0 => fraction as f64 / 16_777_216.0,
        _ => f64::from_bits(u64::from(exponent + 1023 - 15) << 52 | fraction << 42),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Writes an f32 as an immediate.
pub(crate) fn push_immediate(bits: u32, style: Style, out: &mut String) {
    push_float(u64::from(bits), 32, style, out);
}

fn push_slot(slot: &Slot, word: u64, out: &mut String) {
    match slot.text(word) {
        Ok(text) => out.push_str(text),
        Err(value) => {
            out.push_str(slot.numbered);
            push_integer(value, out);
        }
    }
}

fn push_address(register: u8, offset: i64, out: &mut String) {
    match (register, offset) {
        (RZ, offset) if offset != 0 => push_signed_hex(offset, out),
        (_, 0) => push_register(register, out),
        _ => {
            push_register(register, out);
            out.push('+');
            push_signed_hex(offset, out);
        }
    }
}

fn push_constant(bank: u64, spaced: bool, out: &mut String) {
    out.push_str("c[");
    push_hex(bank, out);
    out.push_str(if spaced { "] [" } else { "][" });
}

/// The pattern of a number: its upper bits are the field's.
pub(crate) fn float_bits(bits: Bits, format: u8, word: u64) -> u64 {
    match format {
        16 => u64::from(half_bits(bits, word)),
        _ => bits.get(word) << (u32::from(format) - bits.width()),
    }
}

fn push_value(kind: &Kind, word: u64, address: u64, style: Style, out: &mut String) {
    match kind {
        Kind::Register(bits) => push_register(bits.get(word) as u8, out),
        Kind::SwapRegister { register, wide } => {
            push_register(swap_register(register.get(word) as u8, wide.get(word) != 0), out);
        }
        Kind::Predicate(bits) => push_predicate(bits.get(word) as u8, out),
        Kind::Inverted(bits) => push_predicate(7 - bits.get(word) as u8, out),
        Kind::Zero => push_register(RZ, out),
        Kind::Constant { spaced } => {
            push_constant(BANK.get(word), *spaced, out);
            push_signed_hex(i64::from((OFFSET.get(word) * 4) as u16 as i16), out);
            out.push(']');
        }
        Kind::ConstantAt { register, offset, bank } => {
            push_constant(bank.get(word), false, out);
            match (register_or_none(*register, word), offset.get_signed(word)) {
                // Zero is printed, unlike in an address.
                (RZ, offset) => push_signed_hex(offset, out),
                (register, offset) => push_address(register, offset, out),
            }
            out.push(']');
        }
        Kind::Integer { bits, signed: true } => push_signed_hex(bits.get_signed(word), out),
        Kind::Integer { bits, signed: false } => push_hex(bits.get(word), out),
        Kind::Float { bits, format } => push_float(float_bits(*bits, *format, word), *format, style, out),
        Kind::Memory { space, register, offset, shift } => {
            out.push_str(space);
            out.push('[');
            let has_register = register.width() > 0;
            let register = register_or_none(*register, word);
            let distance = if register == RZ { offset.get(word) as i64 } else { offset.get_signed(word) };
            match register {
                // Zero is printed, unlike in an address.
                _ if !has_register => push_hex(distance as u64, out),
                _ => push_address(register, distance << shift, out),
            }
            out.push(']');
        }
        Kind::Relative(bits) => push_signed_hex(address as i64 + 8 + bits.get_signed(word), out),
        Kind::RegisterPlus { register, offset } => {
            push_register(register.get(word) as u8, out);
            let offset = offset.get_signed(word);
            if offset != 0 {
                out.push(' ');
                push_signed_hex(offset, out);
            }
        }
        Kind::Set(bits) => {
            let set = bits.get(word);
            out.push('{');
            let mut first = true;
            for bit in (0..bits.width()).rev().filter(|bit| set >> bit & 1 == 1) {
                if !core::mem::take(&mut first) {
                    out.push(',');
                }
                push_integer(u64::from(bit), out);
            }
            out.push('}');
        }
        Kind::Scoreboard(bits) => {
            let number = bits.get(word);
            out.push_str(if number < 6 { "SB" } else { "          ???" });
            push_integer(number, out);
        }
        Kind::Signs(bits) => {
            let pattern = bits.get(word);
            for pair in [6, 4, 2, 0] {
                out.push_str(SIGNS[(pattern >> pair & 3) as usize]);
            }
        }
        Kind::Named(slot) => push_slot(slot, word, out),
    }
}

/// What two bits of [`Kind::Signs`] print; the uppermost come first.
pub(crate) static SIGNS: [&str; 4] = ["PP", "NP", "PN", "ZP"];

impl OperandField {
    /// Whether a word's operand is not printed.
    pub(crate) fn is_omitted(&self, word: u64) -> bool {
        if self.sign.is_some_and(|slot| slot.text(word) != Ok("")) {
            return false;
        }
        match &self.kind {
            Kind::Named(slot) => slot.text(word) == Ok(""),
            Kind::Register(bits)
            | Kind::Predicate(bits)
            | Kind::Inverted(bits)
            | Kind::Set(bits)
            | Kind::Integer { bits, .. } => self.omitted == Some(bits.get(word)),
            _ => false,
        }
    }
}

/// The name of a sign that stands before its number.
pub(crate) const MINUS: &str = "minus";

fn push_operand(field: &OperandField, word: u64, address: u64, reuse: bool, style: Style, out: &mut String) {
    let sign = match &field.sign {
        Some(slot) => slot.text(word).unwrap_or_default(),
        None => "",
    };
    let absolute = field.absolute.is_some_and(|bit| bit.get(word) != 0);
    if matches!(field.kind, Kind::Integer { .. } | Kind::Float { .. }) {
        let before = field.sign.is_some_and(|slot| slot.name == MINUS) && sign == "-";
        if let (true, Kind::Integer { bits, .. }) = (before, &field.kind)
            && bits.get(word) != 0
        {
            out.push('-');
        }
        push_value(&field.kind, word, address, style, out);
        out.push_str(match sign {
            "-" if !before => ".NEG",
            "~" => ".INV",
            _ => "",
        });
        out.push_str(if absolute { ".ABS" } else { "" });
        if let Some(slot) = &field.suffix {
            push_slot(slot, word, out);
        }
    } else {
        out.push_str(sign);
        out.push_str(if absolute { "|" } else { "" });
        push_value(&field.kind, word, address, style, out);
        if let Some(slot) = &field.suffix {
            push_slot(slot, word, out);
        }
        out.push_str(if absolute { "|" } else { "" });
    }
    if reuse {
        out.push_str(".reuse");
    }
}

impl Instruction {
    /// Appends the instruction's text, without its end, as it is at an address, which only the targets of branches
    /// show. A slot's reuse bits show as `.reuse`, as do the operands' own.
    pub fn write_body_at(&self, address: u64, style: Style, slot: Option<Schedule>, out: &mut String) {
        let (word, row) = (self.word, self.row());
        push_guard(self.guard(), out);
        out.push_str(row.name);
        for slot in row.modifiers {
            push_slot(slot, word, out);
        }
        let mut separator = row.separator;
        let reuse = slot.map_or(0, Schedule::reuse) as u8 | self.reuse;
        for field in row.operands.iter().filter(|field| !field.is_omitted(word)) {
            out.push_str(core::mem::replace(&mut separator, ", "));
            push_operand(field, word, address, reuse & field.reuse != 0, style, out);
        }
    }
    /// The same at address 0.
    pub fn write_body(&self, style: Style, slot: Option<Schedule>, out: &mut String) {
        self.write_body_at(0, style, slot, out);
    }

    /// Appends the instruction's text with its semicolon. nvdisasm puts a blank before the semicolon unless the
    /// slot's stall and yield bits are all zero, as they are where there is no slot.
    ///
    /// ```
    /// use roundonce_sass::{Style, decode};
    /// let mut text = String::new();
    /// decode(0x328001bfc0070100).unwrap().write(Style::Nvdisasm, None, &mut text);
    /// assert_eq!(text, "FFMA R0, R1, 1.5, R3;");
    /// ```
    pub fn write(&self, style: Style, slot: Option<Schedule>, out: &mut String) {
        self.write_body(style, slot, out);
        out.push_str(if slot.is_some_and(|slot| slot.schedule() != 0) { " ;" } else { ";" });
    }

    /// The bits of a control word's reuse mask that the text can show.
    pub(crate) fn shown_reuse(&self) -> u32 {
        let word = self.word;
        let shown = self.row().operands.iter().filter(|field| !field.is_omitted(word));
        shown.fold(0, |mask, field| mask | u32::from(field.reuse))
    }
}

/// The text in the default style.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(Style::Exact, None, &mut text);
        f.write_str(&text)
    }
}

/// The bits of the guard in a word.
pub(crate) const fn guard_bits(guard: Guard) -> u64 {
    fields::PREDICATE.put(guard.predicate as u64) | fields::PREDICATE_NOT.put(guard.negated as u64)
}
