//! C's `printf`, as `vprintf` gives it: a format and a block of arguments, both in memory.

use super::fault::{Fault, FaultKind, Outcome};
use super::interpreter::Interpreter;
use super::register::{Lane, View};
use roundonce_ir::{Operand, Reg, Space, Width};
use std::fmt::Write;

/// Longest string that is read: a longer one is taken as not terminated.
const LONGEST: u64 = 1 << 16;

impl Interpreter<'_> {
    pub(super) fn print(&mut self, d: Option<Reg>, format: Operand, args: Operand) -> Outcome {
        let width = if self.code.program.address_bits == 32 { Width::B32 } else { Width::B64 };
        self.widen_operand(0, format, width);
        self.widen_operand(1, args, width);
        let lanes: Vec<usize> = self.active.mask.lanes().collect();
        for lane in lanes {
            let (format, args) = (self.wide[0][lane], self.wide[1][lane]);
            let text = self.formatted(lane, format, args)?;
            match self.stats.printed.last_mut() {
                Some((batch, printed)) if *batch == self.batch => printed.push_str(&text),
                _ => self.stats.printed.push((self.batch, text)),
            }
        }
        if let Some(d) = d {
            let known = matches!(u32::file(&self.files).view(Operand::Reg(d)), View::Uniform(_));
            debug_assert!(known || self.geometry.lanes > 0);
            self.set_uniform::<u32>(d, 1);
        }
        Ok(())
    }

    /// A string in memory, as Latin-1 if it is not UTF-8.
    fn text(&mut self, lane: usize, address: u64) -> Outcome<String> {
        let mut bytes = Vec::new();
        for at in 0.. {
            if at == LONGEST {
                return Err(Fault::at(FaultKind::Access, lane, format!("the string at {address:#x} does not end")));
            }
            match self.read_lane(Space::Generic, lane, address.wrapping_add(at), 1)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| byte as char).collect()))
    }

    fn formatted(&mut self, lane: usize, format: u64, args: u64) -> Outcome<String> {
        let format = self.text(lane, format)?;
        let mut out = String::new();
        let mut next = args;
        let mut rest = format.chars().peekable();
        while let Some(letter) = rest.next() {
            if letter != '%' {
                out.push(letter);
                continue;
            }
            let mut spec = Spec::default();
            while let Some(&flag) = rest.peek() {
                match flag {
                    '-' => spec.left = true,
                    '+' => spec.plus = true,
                    ' ' => spec.space = true,
                    '#' => spec.alternate = true,
                    '0' => spec.zeros = true,
                    _ => break,
                }
                rest.next();
            }
            let mut number = |interp: &mut Self, next: &mut u64| -> Outcome<Option<usize>> {
                if rest.peek() == Some(&'*') {
                    rest.next();
                    return Ok(Some(interp.argument(lane, next, 4)? as usize & 0xfff));
                }
                let mut value = None;
                while let Some(digit) = rest.peek().and_then(|letter| letter.to_digit(10)) {
                    value = Some((value.unwrap_or(0) * 10 + digit as usize).min(4095));
                    rest.next();
                }
                Ok(value)
            };
            spec.width = number(self, &mut next)?.unwrap_or(0);
            let mut precise = false;
            if rest.peek() == Some(&'.') {
                rest.next();
                precise = true;
            }
            if precise {
                let mut digits = 0;
                if rest.peek() == Some(&'*') {
                    rest.next();
                    digits = self.argument(lane, &mut next, 4)? as usize & 0xfff;
                }
                while let Some(digit) = rest.peek().and_then(|letter| letter.to_digit(10)) {
                    digits = (digits * 10 + digit as usize).min(4095);
                    rest.next();
                }
                spec.precision = Some(digits);
            }
            let mut long = false;
            while let Some(&length) = rest.peek() {
                match length {
                    'l' | 'j' | 'z' | 't' | 'L' => long = true,
                    'h' => {}
                    _ => break,
                }
                rest.next();
            }
            let bytes = if long { 8 } else { 4 };
            match rest.next() {
                Some('%') => out.push('%'),
                Some('d' | 'i') => {
                    let value = self.argument(lane, &mut next, bytes)?;
                    let value = if long { value as i64 } else { value as i32 as i64 };
                    spec.number(&mut out, value < 0, &spec.digits(value.unsigned_abs().to_string()));
                }
                Some(kind @ ('u' | 'x' | 'X' | 'o')) => {
                    let value = self.argument(lane, &mut next, bytes)?;
                    let digits = match kind {
                        'x' => format!("{value:x}"),
                        'X' => format!("{value:X}"),
                        'o' => format!("{value:o}"),
                        _ => value.to_string(),
                    };
                    let prefix = if spec.alternate && value != 0 && kind != 'u' {
                        ["0x", "0X", "0"][match kind {
                            'x' => 0,
                            'X' => 1,
                            _ => 2,
                        }]
                    } else {
                        ""
                    };
                    let unsigned = Spec { plus: false, space: false, ..spec };
                    unsigned.number(&mut out, false, &format!("{prefix}{}", spec.digits(digits)));
                }
                Some('c') => {
                    let value = self.argument(lane, &mut next, 4)? as u8;
                    spec.pad(&mut out, &(value as char).to_string());
                }
                Some('p') => {
                    let value = self.argument(lane, &mut next, 8)?;
                    spec.pad(&mut out, &format!("0x{value:x}"));
                }
                Some('s') => {
                    let bytes = self.code.program.address_bits / 8;
                    let address = self.argument(lane, &mut next, bytes)?;
                    let text = self.text(lane, address)?;
                    let kept: String = text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
                    spec.pad(&mut out, &kept);
                }
                Some(kind @ ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A')) => {
                    let value = f64::from_bits(self.argument(lane, &mut next, 8)?);
                    let text = spec.float(kind, value.abs());
                    let plain = Spec { zeros: spec.zeros && value.is_finite(), precision: None, ..spec };
                    plain.number(&mut out, value.is_sign_negative(), &text);
                }
                Some(other) => {
                    out.push('%');
                    out.push(other);
                }
                None => out.push('%'),
            }
        }
        Ok(out)
    }

    /// The next argument, aligned to its size.
    fn argument(&mut self, lane: usize, next: &mut u64, bytes: u32) -> Outcome<u64> {
        let at = next.next_multiple_of(bytes.into());
        *next = at.wrapping_add(bytes.into());
        self.read_lane(Space::Generic, lane, at, bytes)
    }
}

/// Flags, width and precision of a conversion specification.
#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    /// Padded with zeros to the precision; no digits for zero with precision 0.
    fn digits(&self, digits: String) -> String {
        match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(wanted) => format!("{digits:0>wanted$}"),
            None => digits,
        }
    }
    fn number(&self, out: &mut String, negative: bool, digits: &str) {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        if self.zeros && !self.left && self.precision.is_none() {
            let width = self.width.saturating_sub(sign.len());
            let _ = write!(out, "{sign}{digits:0>width$}");
        } else {
            self.pad(out, &format!("{sign}{digits}"));
        }
    }
    fn pad(&self, out: &mut String, text: &str) {
        let width = self.width;
        let _ = if self.left { write!(out, "{text:<width$}") } else { write!(out, "{text:>width$}") };
    }
    /// The digits of a magnitude.
    fn float(&self, kind: char, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let text = match kind.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            'f' => format!("{value:.precision$}"),
            'e' => exponential(value, precision),
            'a' => hexadecimal(value),
            _ => self.general(value, precision.max(1)),
        };
        if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
    }
    /// `%g`.
    fn general(&self, value: f64, precision: usize) -> String {
        let scientific = format!("{value:.*e}", precision - 1);
        let exponent: i32 = scientific.split_once('e').and_then(|(_, digits)| digits.parse().ok()).unwrap_or(0);
        let trimmed = |text: String| {
            if self.alternate || !text.contains('.') {
                text
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        if exponent < -4 || exponent >= precision as i32 {
            let text = exponential(value, precision - 1);
            let (digits, power) = text.split_once('e').unwrap_or((&text, "+00"));
            format!("{}e{power}", trimmed(digits.to_owned()))
        } else {
            let places = (precision as i32 - 1 - exponent).max(0) as usize;
            trimmed(format!("{value:.places$}"))
        }
    }
}

/// C's form: a sign and at least two digits in the exponent.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

/// `%a`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let fraction = format!("{:013x}", bits & ((1 << 52) - 1));
    let fraction = fraction.trim_end_matches('0');
    let field = (bits >> 52) as i32 & 0x7ff;
    let (lead, exponent) = match field {
        0 if value == 0.0 => (0, 0),
        0 => (0, -1022),
        _ => (1, field - 1023),
    };
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("0x{lead}{dot}{fraction}p{exponent:+}")
}
