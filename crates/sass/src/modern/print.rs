//! From an instruction to its text.

use roundonce_arith::{Format, widen};

use super::instruction::{Bank, ImmediateFormat, Instruction, Operand, Value};
use super::target::Generation;
use crate::decimal::{push_integer, write_wide_decimal};
use crate::instruction::{Guard, PT};
use crate::print::{Style, push_hex, push_hex_digits, push_register};

/// What a NaN of 16 or 32 bits is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NanNames {
    /// `QNAN` or `SNAN`.
    Both,
    /// Always `QNAN`: the last disassembler that knows sm_70, 12.8.
    Quiet,
}

/// On which registers `.reuse` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reuse {
    /// None.
    Hidden,
    /// Those that the disassembler writes it on.
    Shown,
    /// Each whose bit is set, whatever the stall.
    Own,
}

impl Instruction {
    /// Appends its text, without an end.
    ///
    /// ```
    /// use roundonce_sass::{Style, modern::{Target, decode}};
    /// let mut text = String::new();
    /// let word = 0x000fe200084e000a_0000000806047e23;
    /// decode(word, Target::new(103).unwrap()).unwrap().write(Style::Nvdisasm, &mut text);
    /// assert_eq!(text, "FHFMA.BF16 R4, R6.H1, R10, UR8");
    /// ```
    pub fn write(&self, style: Style, out: &mut String) {
        let reuse = if self.entry.shows_reuse(self.control()) { Reuse::Shown } else { Reuse::Hidden };
        self.write_with_reuse(style, reuse, out);
    }

    /// The same, with or without `.reuse`.
    pub(super) fn write_with_reuse(&self, style: Style, reuse: Reuse, out: &mut String) {
        let row = self.opcode();
        push_guard(self.guard(), row.uniform, out);
        out.push_str(row.name);
        for (modifier, value) in self.modifiers() {
            out.push_str(modifier.texts[value]);
        }
        out.push(' ');
        push_base(self.destination(), row.spaced_constants, out);
        for operand in self.operands() {
            out.push_str(", ");
            self.write_operand(operand, style, reuse, out);
        }
        if let Some(predicate) = self.relu_predicate() {
            out.push_str(", ");
            push_predicate(predicate, false, out);
        }
        // Infinities and the like have a blank behind them, which the end of a line does not show.
        if out.ends_with(' ') {
            out.pop();
        }
    }

    fn nan_names(&self) -> NanNames {
        if self.generation() == Generation::Volta { NanNames::Quiet } else { NanNames::Both }
    }

    fn write_operand(&self, operand: Operand, style: Style, reuse: Reuse, out: &mut String) {
        if operand.negate {
            out.push('-');
        }
        if operand.absolute {
            out.push('|');
        }
        // The bars of anything but a register are around what is behind it too.
        let outside = !matches!(operand.value, Value::Register(_));
        match operand.value {
            Value::Immediate(bits) => push_immediate(bits, self.number(), self.nan_names(), style, out),
            value => push_base(value, self.opcode().spaced_constants, out),
        }
        if operand.absolute && !outside {
            out.push('|');
        }
        let reused = match reuse {
            Reuse::Hidden => false,
            Reuse::Shown => self.reuses(operand),
            Reuse::Own => self.own_reuse() & operand.role.reuse_bit() != 0,
        };
        if reused {
            out.push_str(".reuse");
        }
        for (selector, value) in self.selectors(operand) {
            out.push_str(selector.texts[value]);
        }
        if operand.absolute && outside {
            out.push('|');
        }
    }
}

impl core::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut text = String::new();
        self.write(Style::Exact, &mut text);
        write!(f, "{text} ({}, {:#034x})", self.target(), self.word())
    }
}

fn push_guard(guard: Guard, uniform: bool, out: &mut String) {
    if guard == Guard::ALWAYS {
        return;
    }
    out.push('@');
    push_predicate(guard, uniform, out);
    out.push(' ');
}

fn push_predicate(guard: Guard, uniform: bool, out: &mut String) {
    out.push_str(if guard.negated { "!" } else { "" });
    out.push_str(if uniform { "UP" } else { "P" });
    if guard.predicate == PT {
        out.push('T');
    } else {
        push_integer(u64::from(guard.predicate), out);
    }
}

fn push_uniform(number: Option<u8>, out: &mut String) {
    out.push_str("UR");
    match number {
        None => out.push('Z'),
        Some(number) => push_integer(u64::from(number), out),
    }
}

/// Anything but an immediate.
fn push_base(value: Value, spaced: bool, out: &mut String) {
    match value {
        Value::Register(number) => push_register(number, out),
        Value::Uniform(number) => push_uniform(number, out),
        Value::Immediate(bits) => push_hex(bits.into(), out),
        Value::Constant { bank, offset } => {
            let mut signed = 0;
            match bank {
                Bank::Number(number) => {
                    out.push_str("c[");
                    push_hex(number.into(), out);
                    signed = offset & 0x8000;
                }
                Bank::Uniform(number) => {
                    out.push_str("cx[");
                    push_uniform(number, out);
                }
            }
            out.push_str(if spaced { "] [" } else { "][" });
            if signed != 0 {
                out.push('-');
            }
            let magnitude = if signed != 0 { offset.wrapping_neg() } else { offset };
            push_hex(magnitude.into(), out);
            out.push(']');
        }
    }
}

fn push_immediate(bits: u32, format: ImmediateFormat, names: NanNames, style: Style, out: &mut String) {
    match format {
        ImmediateFormat::F32 => push_number(Format::F32, u64::from(bits), names, style, out),
        ImmediateFormat::F64 => push_number(Format::F64, u64::from(bits) << 32, NanNames::Both, style, out),
        ImmediateFormat::LowF16 => push_number(Format::F16, u64::from(bits & 0xffff), names, style, out),
        ImmediateFormat::F16Pair | ImmediateFormat::Bf16Pair => {
            let half = if format == ImmediateFormat::F16Pair { Format::F16 } else { Format::BF16 };
            push_number(half, u64::from(bits >> 16), names, style, out);
            out.push_str(", ");
            push_number(half, u64::from(bits & 0xffff), names, style, out);
        }
    }
}

/// One number, with a blank behind what nvdisasm puts one behind.
pub(super) fn push_number(format: Format, bits: u64, names: NanNames, style: Style, out: &mut String) {
    let negative = format.is_negative(bits);
    if style == Style::Hex || style == Style::Exact && format.is_nan(bits) {
        out.push_str("0x");
        if format.width() > 32 {
            push_hex_digits(bits >> 32, 8, out);
        }
        push_hex_digits(bits, format.width().min(32) / 4, out);
        return;
    }
    let end = if style == Style::Nvdisasm { " " } else { "" };
    if format.is_nan(bits) {
        let quiet = !format.is_signalling(bits) || names == NanNames::Quiet;
        out.push_str(if negative { "-" } else { "+" });
        out.push_str(if quiet { "QNAN" } else { "SNAN" });
        out.push_str(end);
    } else if format.is_infinite(bits) {
        out.push_str(if negative { "-INF" } else { "+INF" });
        out.push_str(end);
    } else {
        let wide = if format == Format::F64 { bits } else { widen(format, Format::F64, bits) };
        write_wide_decimal(f64::from_bits(wide), out);
        if negative && format.is_zero(bits) {
            out.push_str(end);
        }
    }
}
