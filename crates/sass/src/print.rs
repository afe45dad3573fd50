//! From an instruction to its text.

use core::fmt;

use crate::decimal::{push_integer, write_decimal};
use crate::instruction::{Guard, Instruction, Operand, PT, RZ, Value};
use crate::opcode::OperandKind;
use crate::opcodes::ON_DESTINATION;
use crate::schedule::Slot;

/// How immediates are printed. Everything else is the same in every style.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Style {
    /// Decimal where it reads back to the same bits, hex where it would not: NaNs, whose payload no decimal has.
    #[default]
    Exact,
    /// Exactly as nvdisasm 12.8 prints: every NaN `+QNAN ` or `-QNAN `, and a blank behind those, `+INF ` and `-0.0 `.
    Nvdisasm,
    /// Every immediate as the bits of its f32.
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

pub(crate) fn push_hex(number: u32, out: &mut String) {
    out.push_str("0x");
    push_hex_digits(number, 8 - (number.leading_zeros() / 4).min(7), out);
}

pub(crate) fn push_hex_digits(number: u32, digits: u32, out: &mut String) {
    for place in (0..digits).rev() {
        let digit = number >> (4 * place) & 0xf;
        out.push(char::from(b"0123456789abcdef"[digit as usize]));
    }
}

/// The name of a guard, `@!P0 `, with its blank; nothing for [`Guard::ALWAYS`].
fn push_guard(guard: Guard, out: &mut String) {
    if guard == Guard::ALWAYS {
        return;
    }
    out.push_str(if guard.negated { "@!P" } else { "@P" });
    if guard.predicate == PT {
        out.push('T');
    } else {
        push_integer(u64::from(guard.predicate), out);
    }
    out.push(' ');
}

/// Writes an f32 as an immediate.
pub(crate) fn push_immediate(bits: u32, style: Style, out: &mut String) {
    let magnitude = bits & 0x7fff_ffff;
    let special = match magnitude {
        0x7f80_0001.. if style == Style::Nvdisasm => Some(if bits >> 31 == 0 { "+QNAN " } else { "-QNAN " }),
        0x7f80_0000 => Some(if bits >> 31 == 0 { "+INF " } else { "-INF " }),
        0 if bits != 0 => Some("-0.0 "),
        _ => None,
    };
    match (style, special) {
        (Style::Hex, _) => {
            out.push_str("0x");
            push_hex_digits(bits, 8, out);
        }
        (Style::Nvdisasm, Some(special)) => out.push_str(special),
        (Style::Exact, Some(special)) => out.push_str(special.trim_end()),
        (_, None) if magnitude > 0x7f80_0000 => push_hex(bits, out),
        (_, None) => write_decimal(bits, out),
    }
}

fn push_operand(operand: Operand, reuse: bool, integer: bool, style: Style, out: &mut String) {
    let immediate = operand.value.kind() == OperandKind::Immediate;
    if operand.negate && !immediate {
        out.push('-');
    }
    match operand.value {
        Value::Register(number) => push_register(number, out),
        Value::Immediate(bits) if integer => push_hex(bits, out),
        Value::Immediate(bits) => push_immediate(bits, style, out),
        Value::Constant { bank, offset } => {
            out.push_str("c[");
            push_hex(u32::from(bank), out);
            out.push_str("][");
            if offset >= 0x8000 {
                out.push('-');
            }
            push_hex(u32::from((offset as i16).unsigned_abs()), out);
            out.push(']');
        }
    }
    if operand.negate && immediate {
        out.push_str(".NEG");
    }
    if reuse {
        out.push_str(".reuse");
    }
}

impl Instruction {
    /// Appends the instruction's text, without its end. A slot's reuse bits show as `.reuse`, as do the operands' own.
    pub fn write_body(&self, style: Style, slot: Option<Slot>, out: &mut String) {
        push_guard(self.guard, out);
        let opcode = self.opcode();
        out.push_str(opcode.name);
        let mut on_destination = "";
        for text in self.slots().filter_map(|(modifier, value)| modifier.text(value)) {
            if text == ON_DESTINATION {
                on_destination = text;
            } else {
                out.push_str(text);
            }
        }
        let reuse = slot.map_or(0, Slot::reuse);
        for (index, operand) in self.operands().iter().enumerate() {
            out.push_str(if index == 0 { " " } else { ", " });
            let is_source_register = index > 0 && operand.value.kind() == OperandKind::Register;
            let reused = operand.reuse || is_source_register && reuse >> (index - 1) & 1 == 1;
            push_operand(*operand, reused, opcode.immediates_are_bits(), style, out);
            if index == 0 {
                out.push_str(on_destination);
            }
        }
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
    pub fn write(&self, style: Style, slot: Option<Slot>, out: &mut String) {
        self.write_body(style, slot, out);
        out.push_str(if slot.is_some_and(|slot| slot.schedule() != 0) { " ;" } else { ";" });
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
