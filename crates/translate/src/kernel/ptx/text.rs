//! Instructions as text.

use core::fmt::Write;

use roundonce_arith::Format;
use roundonce_ir::{Guard, Operand, Reg, Width};

use super::body::{Body, DYNAMIC_SHARED};

/// A register of the writer's own, free again after the instruction of the program that it serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Temporary {
    pub(super) width: Width,
    pub(super) number: u32,
}

/// What an address begins with, or what has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Symbol {
    /// The array of all the kernel's shared memory.
    Shared,
    /// The array of a thread's local memory.
    Local,
    /// A parameter of the written kernel.
    Param(usize),
    /// A variable of the program.
    Variable(usize),
}

/// A part of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg<'a> {
    /// A register of the program.
    Reg(Reg),
    /// One of the writer's.
    Temp(Temporary),
    /// An integer, or bits.
    Int(u64, Width),
    /// The bits of an f32 where one is wanted.
    F32(u64),
    /// The bits of an f64.
    F64(u64),
    /// What has an address.
    Symbol(Symbol),
    /// A name or a number, as it is.
    Text(&'a str),
    /// `{a, b}`
    Vector(&'a [Arg<'a>]),
    /// `d|p`
    Pair(&'a [Arg<'a>; 2]),
    /// `[a+8]`
    Address(&'a Arg<'a>, i64),
    /// `[image, sampler, {x, y}]`
    Handles(&'a [Arg<'a>], &'a [Arg<'a>]),
    /// `_`
    Sink,
}

impl From<Reg> for Arg<'_> {
    fn from(reg: Reg) -> Self {
        Arg::Reg(reg)
    }
}

impl From<Temporary> for Arg<'_> {
    fn from(temporary: Temporary) -> Self {
        Arg::Temp(temporary)
    }
}

/// What registers of a width are called; the writer's own have a `t` behind it.
pub(super) const fn prefix(width: Width) -> &'static str {
    match width {
        Width::Pred => "%p",
        Width::B16 => "%rs",
        Width::B32 => "%r",
        Width::B64 => "%rd",
    }
}

/// The place of a width among the counts of registers.
pub(super) const fn place(width: Width) -> usize {
    match width {
        Width::Pred => 0,
        Width::B16 => 1,
        Width::B32 => 2,
        Width::B64 => 3,
    }
}

pub(super) const fn bits_type(width: Width) -> &'static str {
    match width {
        Width::Pred => ".pred",
        Width::B16 => ".b16",
        Width::B32 => ".b32",
        Width::B64 => ".b64",
    }
}

pub(super) const fn unsigned_type(width: Width) -> &'static str {
    match width {
        Width::Pred => ".pred",
        Width::B16 => ".u16",
        Width::B32 => ".u32",
        Width::B64 => ".u64",
    }
}

pub(super) const fn signed_type(width: Width) -> &'static str {
    match width {
        Width::Pred => ".pred",
        Width::B16 => ".s16",
        Width::B32 => ".s32",
        Width::B64 => ".s64",
    }
}

/// A decimal number, without the machinery of `write!`.
pub(super) fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// Hexadecimal digits, as many as are asked for.
fn push_hex(text: &mut String, bits: u64, digits: u32) {
    for place in (0..digits).rev() {
        let digit = (bits >> (4 * place) & 15) as u32;
        text.push(char::from_digit(digit, 16).unwrap_or('0').to_ascii_uppercase());
    }
}

/// A small number in decimal, one close below zero with its sign, other bits in hexadecimal.
fn push_integer(text: &mut String, bits: u64, width: Width) {
    let mask = width.mask();
    let bits = bits & mask;
    let below = (mask - bits).wrapping_add(1);
    if bits <= 0xffff && (bits <= 4096 || width != Width::B16) {
        push_number(text, bits);
    } else if below <= 4096 && width != Width::Pred {
        text.push('-');
        push_number(text, below);
    } else {
        text.push_str("0x");
        let digits = (64 - bits.leading_zeros()).div_ceil(4);
        let start = text.len();
        push_hex(text, bits, digits);
        text[start..].make_ascii_lowercase();
    }
}

impl Body<'_> {
    /// One instruction: the words of its spelling, its operands. The guard of the program's instruction stands before it.
    pub(super) fn ins(&mut self, words: &[&str], args: &[Arg<'_>]) {
        self.text.push_str("    ");
        if let Some(guard) = self.guard {
            self.push_guard(guard);
        }
        for word in words {
            self.text.push_str(word);
        }
        for (index, arg) in args.iter().enumerate() {
            self.text.push_str(if index == 0 { " " } else { ", " });
            self.push_arg(arg);
        }
        self.text.push_str(";\n");
    }

    /// One instruction whatever the guard: it writes a register that nothing else reads.
    pub(super) fn always(&mut self, words: &[&str], args: &[Arg<'_>]) {
        let guard = self.guard.take();
        self.ins(words, args);
        self.guard = guard;
    }

    pub(super) fn push_guard(&mut self, Guard { pred, expected }: Guard) {
        self.text.push_str(if expected { "@" } else { "@!" });
        self.push_arg(&Arg::Reg(pred));
        self.text.push(' ');
    }

    pub(super) fn push_arg(&mut self, arg: &Arg<'_>) {
        let text = &mut self.text;
        match *arg {
            Arg::Reg(reg) => {
                text.push_str(prefix(self.kernel.width(reg)));
                push_number(text, self.numbers.get(reg.0 as usize).copied().unwrap_or(0).into());
            }
            Arg::Temp(Temporary { width, number }) => {
                text.push_str(prefix(width));
                text.push('t');
                push_number(text, number.into());
            }
            Arg::Int(bits, width) => push_integer(text, bits, width),
            Arg::F32(bits) => {
                text.push_str("0f");
                push_hex(text, bits, 8);
            }
            Arg::F64(bits) => {
                text.push_str("0d");
                push_hex(text, bits, 16);
            }
            Arg::Symbol(symbol) => {
                let name = if symbol == Symbol::Shared && self.kernel.shared_bytes == 0 {
                    DYNAMIC_SHARED
                } else {
                    self.names.of(symbol)
                };
                text.push_str(name);
            }
            Arg::Text(name) => text.push_str(name),
            Arg::Sink => text.push('_'),
            Arg::Vector(parts) => {
                text.push('{');
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    self.push_arg(part);
                }
                self.text.push('}');
            }
            Arg::Handles(handles, coordinates) => {
                text.push('[');
                for handle in handles {
                    self.push_arg(handle);
                    self.text.push_str(", ");
                }
                self.push_arg(&Arg::Vector(coordinates));
                self.text.push(']');
            }
            Arg::Pair([first, second]) => {
                self.push_arg(first);
                self.text.push('|');
                self.push_arg(second);
            }
            Arg::Address(base, offset) => {
                text.push('[');
                self.push_arg(base);
                if offset != 0 {
                    self.text.push('+');
                    if offset < 0 {
                        self.text.push('-');
                    }
                    push_number(&mut self.text, offset.unsigned_abs());
                }
                self.text.push(']');
            }
        }
    }

    /// A fresh register of the writer's own.
    pub(super) fn temporary(&mut self, width: Width) -> Arg<'static> {
        let taken = &mut self.taken[place(width)];
        let number = *taken;
        *taken += 1;
        self.temporaries[place(width)] = self.temporaries[place(width)].max(*taken);
        Arg::Temp(Temporary { width, number })
    }

    /// An operand of an integer operation.
    pub(super) fn int(&self, operand: Operand, width: Width) -> Arg<'static> {
        match operand {
            Operand::Reg(reg) => Arg::Reg(reg),
            Operand::Imm(bits) => Arg::Int(bits & width.mask(), width),
        }
    }

    /// An operand in a register, where an instruction takes no constant.
    pub(super) fn register(&mut self, operand: Operand, width: Width) -> Arg<'static> {
        let arg = self.int(operand, width);
        self.in_register(arg, width)
    }

    /// The same of what is no operand of the program.
    pub(super) fn in_register(&mut self, arg: Arg<'static>, width: Width) -> Arg<'static> {
        if matches!(arg, Arg::Reg(_) | Arg::Temp(_)) {
            return arg;
        }
        let d = self.temporary(width);
        self.always(&["mov", bits_type(width)], &[d, arg]);
        d
    }

    /// An operand of a floating-point operation: f32 and f64 take constants, other formats registers alone.
    pub(super) fn float_operand(&mut self, operand: Operand, format: Format, components: u32) -> Arg<'static> {
        match operand {
            Operand::Reg(reg) => Arg::Reg(reg),
            Operand::Imm(bits) if components == 1 && format == Format::F32 => Arg::F32(bits),
            Operand::Imm(bits) if components == 1 && format == Format::F64 => Arg::F64(bits),
            Operand::Imm(_) => self.register(operand, Width::holding(format.width() * components)),
        }
    }

    /// A computation into a fresh register.
    pub(super) fn computed(&mut self, width: Width, words: &[&str], args: &[Arg<'_>]) -> Arg<'static> {
        let d = self.temporary(width);
        self.text.push_str("    ");
        for word in words {
            self.text.push_str(word);
        }
        self.text.push(' ');
        self.push_arg(&d);
        for arg in args {
            self.text.push_str(", ");
            self.push_arg(arg);
        }
        self.text.push_str(";\n");
        d
    }

    /// A line of its own.
    pub(super) fn line(&mut self, line: core::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }
}
