//! The numbers of a statement: whole ones and immediates.

use roundonce_arith::Format;
use roundonce_isa::parse_value;

use super::Cursor;

impl<'a> Cursor<'a> {
    /// The extent of a number: letters, digits and points up to a suffix, and a sign at the start or behind an exponent
    /// letter.
    pub(crate) fn number_text(&mut self) -> &'a str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        if matches!(self.peek(), b'+' | b'-') {
            self.at += 1;
        }
        let hex = self.peek() == b'0' && matches!(self.ahead(1), b'x' | b'X');
        while let Some(byte) = bytes.get(self.at) {
            let goes_on = match byte {
                b'.' => ![".NEG", ".NP", ".ABS", ".INV", ".reuse", ".B1", ".B2", ".B3", ".H1"]
                    .iter()
                    .any(|behind| self.starts_with(behind)),
                b'+' | b'-' => match bytes[self.at - 1] {
                    b'e' | b'E' => !hex && self.at > start + 1,
                    b'p' | b'P' => hex,
                    _ => false,
                },
                byte => byte.is_ascii_alphanumeric() || *byte == b'_',
            };
            if !goes_on {
                break;
            }
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }
}

/// A decimal or hex whole number below 2^40.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let mut number = 0;
    for byte in digits.bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' if radix == 16 => byte - b'a' + 10,
            b'A'..=b'F' if radix == 16 => byte - b'A' + 10,
            _ => return None,
        };
        number = number * radix + i64::from(digit);
        if number >= 1 << 40 {
            return None;
        }
    }
    (!digits.is_empty()).then_some(number)
}

/// The f32 bits of an immediate's text: a decimal, hex bits, `0x1.8p0`, `INF`, `QNAN`, each with or without a sign.
pub(crate) fn read_immediate(text: &str) -> Result<u32, String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    // Rust reads a decimal with one rounding to nearest even, as `parse_value` does, and much faster.
    if unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && let Ok(number) = text.parse::<f32>()
    {
        return Ok(number.to_bits());
    }
    read_number(Format::F32, text).map(|bits| bits as u32)
}

/// The bits of a number in any format, rounded once to nearest even.
pub(crate) fn read_number(format: Format, text: &str) -> Result<u64, String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { format.sign_mask() } else { 0 };
    if unsigned.eq_ignore_ascii_case("QNAN") {
        return Ok(sign | format.infinity() | format.quiet_bit());
    }
    if unsigned.eq_ignore_ascii_case("SNAN") {
        return Ok(sign | format.infinity() | format.quiet_bit() >> 1);
    }
    let parsed = parse_value(format, 1, text.strip_prefix('+').unwrap_or(text))?;
    Ok(parsed.value.components()[0])
}
