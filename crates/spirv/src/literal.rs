//! Numbers of the assembly language, read and written as spirv-as and spirv-dis do.
//!
//! Decimals of 16 bits are rounded to f32 and then toward zero, hexadecimal ones of every width toward zero: that is
//! what spirv-as does, and a module must not change bits by the assembler that read it.

use roundonce_arith::{ExactNumber, Flags, Format, Rounding, Unpacked, unpack};
use roundonce_isa::{convert, parse_number};

/// The type of a number whose width an instruction's type gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberType {
    Integer { width: u32, signed: bool },
    Float(Format),
}

impl NumberType {
    pub(crate) const UNSIGNED: NumberType = NumberType::Integer { width: 32, signed: false };

    /// The type that OpTypeInt or OpTypeFloat declares with these operands, if it is one whose numbers we write.
    pub(crate) fn of_int(width: u32, signedness: u32) -> Option<NumberType> {
        matches!(width, 8 | 16 | 32 | 64).then_some(NumberType::Integer { width, signed: signedness == 1 })
    }

    pub(crate) fn of_float(width: u32, encoding: Option<u32>) -> Option<NumberType> {
        match (width, encoding) {
            (16, None) => Some(NumberType::Float(Format::F16)),
            (32, None) => Some(NumberType::Float(Format::F32)),
            (64, None) => Some(NumberType::Float(Format::F64)),
            (16, Some(encoding)) if encoding == rspirv::spirv::FPEncoding::BFloat16KHR as u32 => {
                Some(NumberType::Float(Format::BF16))
            }
            _ => None,
        }
    }

    fn width(self) -> u32 {
        match self {
            NumberType::Integer { width, .. } => width,
            NumberType::Float(format) => format.width(),
        }
    }

    /// How many words a number takes.
    pub(crate) fn words(self) -> usize {
        self.width().div_ceil(32) as usize
    }

    /// Reads a number into its words, the low one first; an error is a sentence.
    pub(crate) fn read(self, text: &str) -> Result<([u32; 2], usize), String> {
        let bits = match self {
            NumberType::Integer { width, signed } => read_integer(text, width, signed)?,
            NumberType::Float(format) => {
                read_float(text, format).ok_or_else(|| format!("`{text}` is no {}-bit float", format.width()))?
            }
        };
        Ok(([bits as u32, (bits >> 32) as u32], self.words()))
    }

    /// Writes the number that the words hold; `None` if words beyond its width are not as they must be, so that it
    /// would not read back.
    pub(crate) fn write(self, words: &[u32]) -> Option<String> {
        let bits = match words {
            [low] => u64::from(*low),
            [low, high] => u64::from(*low) | u64::from(*high) << 32,
            _ => return None,
        };
        match self {
            NumberType::Integer { width, signed } => {
                let shift = 64 - width;
                // A narrow number is extended to its word by its sign.
                let extended = if signed && width < 32 { (bits as u32 as i32) as u64 } else { bits };
                let value = if signed { ((extended << shift) as i64) >> shift } else { 0 };
                let unsigned = extended << shift >> shift;
                match signed {
                    true if width == 32 || value as u64 == extended => Some(value.to_string()),
                    false if unsigned == bits => Some(unsigned.to_string()),
                    _ => None,
                }
            }
            NumberType::Float(format) => (bits & !format.mask() == 0).then(|| float_literal(format, bits)),
        }
    }
}

fn read_integer(text: &str, width: u32, signed: bool) -> Result<u64, String> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X"));
    let digits = hex.unwrap_or(magnitude);
    let radix = match hex {
        Some(_) => 16,
        None if digits.len() > 1 && digits.starts_with('0') => 8,
        None => 10,
    };
    let unreadable = || format!("`{text}` is no {}signed integer of {width} bits", if signed { "" } else { "un" });
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(unreadable());
    }
    let magnitude = u64::from_str_radix(digits, radix).map_err(|_| unreadable())?;
    if negative && !signed {
        return Err(format!("`{text}` is negative, and its type is unsigned"));
    }
    let all = u64::MAX >> (64 - width);
    // A hexadecimal number is a bit pattern: its top bit may be the sign.
    let limit = match (signed, negative, hex.is_some()) {
        (true, false, false) => all >> 1,
        (true, true, _) => (all >> 1) + 1,
        _ => all,
    };
    if magnitude > limit {
        return Err(format!("`{text}` does not fit in {width} bits"));
    }
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    // Narrow signed numbers fill their word with their sign.
    let extended = if signed && width < 32 { ((value << (64 - width)) as i64 >> (64 - width)) as u64 } else { value };
    Ok(if width <= 32 { extended & 0xffff_ffff } else { extended })
}

fn read_float(text: &str, format: Format) -> Option<u64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = unsigned.strip_prefix("0x") {
        let sign = if text.starts_with('-') { format.sign_mask() } else { 0 };
        return Some(sign | read_hexadecimal(hex, format)?);
    }
    // `inf`, `nan` and an exponent without digits are no numbers here.
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let through = if format.width() == 16 { Format::F32 } else { format };
    let number = parse_number(through, text)?;
    let (bits, _) = convert(through, format, Rounding::TowardZero, number.bits);
    (!through.is_infinite(number.bits) && (number.bits & through.magnitude_mask() < beyond(format, through)))
        .then_some(bits)
}

/// The first bits of `through` that are beyond the format's range, overflow counted from the power of two above its largest.
fn beyond(format: Format, through: Format) -> u64 {
    if format.emax() >= through.emax() {
        return through.infinity();
    }
    ((format.emax() + 1 + through.bias()) as u64) << through.frac_bits()
}

/// `1.8p+0` after its `0x`. One exponent above the largest number's are infinity (`1p+128`) and the NaNs
/// (`1.8p+128`): so spirv-dis writes them.
fn read_hexadecimal(text: &str, format: Format) -> Option<u64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let exponent_digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if exponent_digits.is_empty() || !exponent_digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // Clamped: a thousand digits of exponent overflow nothing.
    let magnitude = exponent_digits.parse::<i32>().unwrap_or(i32::MAX).min(1 << 20);
    let exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut significand = 0u128;
    let mut quantum = exponent;
    let mut sticky = false;
    let mut any = false;
    let pairs = whole.chars().map(|digit| (digit, 0)).chain(fraction.chars().map(|digit| (digit, 4)));
    for (digit, behind) in pairs {
        let digit = digit.to_digit(16)?;
        any = true;
        if significand >> 120 == 0 {
            significand = significand << 4 | u128::from(digit);
            quantum = quantum.saturating_sub(behind);
        } else {
            sticky |= digit != 0;
            quantum = quantum.saturating_add(4 - behind);
        }
    }
    if !any {
        return None;
    }
    if significand == 0 {
        return Some(0);
    }
    // The rounding needs a quantum in range; these are beyond every format in either case.
    let quantum = quantum.clamp(-(1 << 21), 1 << 21);
    let round =
        |quantum| ExactNumber { negative: false, quantum, significand, sticky }.round(format, Rounding::TowardZero);
    let outcome = round(quantum);
    if !outcome.flags.contains(Flags::OVERFLOW) {
        return Some(outcome.bits);
    }
    let halved = round(quantum - 1);
    let fraction = if halved.flags.contains(Flags::OVERFLOW) { 0 } else { halved.bits & format.frac_mask() };
    Some(format.infinity() | fraction)
}

/// A float as the assembly language writes it: f32 and f64 as C's `%.9g` and `%.17g`, which read back; subnormals,
/// infinities, NaNs and 16-bit formats in hexadecimal.
///
/// ```
/// use roundonce_arith::Format;
/// assert_eq!(roundonce_spirv::float_literal(Format::F32, 0x3fc0_0000), "1.5");
/// assert_eq!(roundonce_spirv::float_literal(Format::F16, 0x7c00), "0x1p+16");
/// ```
pub fn float_literal(format: Format, bits: u64) -> String {
    let plain = !(format.is_subnormal(bits) || format.is_nan(bits) || format.is_infinite(bits));
    match format {
        Format::F32 if plain => general(&format!("{:.8e}", f32::from_bits(bits as u32)), 9),
        Format::F64 if plain => general(&format!("{:.16e}", f64::from_bits(bits)), 17),
        _ => hexadecimal(format, bits),
    }
}

/// C's `%g` from Rust's `%e`.
fn general(scientific: &str, precision: i32) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let point = |digits: &str, at: usize| {
        let (whole, fraction) = digits.split_at(at.min(digits.len()));
        if fraction.is_empty() { format!("{whole:0<at$}") } else { format!("{whole}.{fraction}") }
    };
    if digits.is_empty() {
        return format!("{sign}0");
    }
    if exponent < -4 || exponent >= precision {
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}e{exponent_sign}{:02}", point(digits, 1), exponent.abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    format!("{sign}{}", point(digits, exponent as usize + 1))
}

/// `0x1.8p+0`; infinity and NaN with the exponent above the largest.
fn hexadecimal(format: Format, bits: u64) -> String {
    let sign = if format.is_negative(bits) { "-" } else { "" };
    let (exponent, fraction) = match unpack(format, bits) {
        Unpacked::Zero { .. } => return format!("{sign}0x0p+0"),
        Unpacked::Infinite { .. } | Unpacked::Nan { .. } => (format.emax() + 1, bits & format.frac_mask()),
        Unpacked::Finite(number) => {
            let top = 63 - number.significand.leading_zeros();
            let fraction = number.significand << (format.frac_bits() - top) & format.frac_mask();
            (number.quantum + top as i32, fraction)
        }
    };
    let digits = format.frac_bits().div_ceil(4);
    let aligned = fraction << (digits * 4 - format.frac_bits());
    let hex = format!("{aligned:0width$x}", width = digits as usize);
    let hex = hex.trim_end_matches('0');
    let point = if hex.is_empty() { "" } else { "." };
    format!("{sign}0x1{point}{hex}p{exponent:+}")
}

/// The words of a string: UTF-8, four bytes a word, the first byte lowest, a zero byte at its end.
pub(crate) fn string_words(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    (0..text.len() / 4 + 1).map(|word| {
        (0..4).fold(0, |sum, byte| sum | u32::from(text.get(word * 4 + byte).copied().unwrap_or(0)) << (8 * byte))
    })
}

/// A string's bytes and how many words it takes; `None` if no zero byte ends it.
pub(crate) fn read_string(words: &[u32]) -> Option<(Vec<u8>, usize)> {
    let last = words.iter().position(|word| word.to_le_bytes().contains(&0))?;
    let mut bytes: Vec<u8> = words[..=last].iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(bytes.iter().position(|&byte| byte == 0)?);
    Some((bytes, last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // What spirv-as 2025.5 makes of these texts, and spirv-dis of the bits.
    #[rustfmt::skip] // A case a line.
    const FLOATS: [(Format, &str, u64, &str); 22] = [
        (Format::F32, "0.1",             0x3dcc_cccd, "0.100000001"),
        (Format::F32, "0x1p+128",        0x7f80_0000, "0x1p+128"),
        (Format::F32, "-0x1.8p+128",     0xffc0_0000, "-0x1.8p+128"),
        (Format::F32, "0x1p-149",        0x0000_0001, "0x1p-149"),
        (Format::F32, "1e20",            0x60ad_78ec, "1.00000002e+20"),
        (Format::F32, "-0",              0x8000_0000, "-0"),
        (Format::F32, "1e-40",           0x0001_16c2, "0x1.16c2p-133"),
        (Format::F32, "16777217",        0x4b80_0000, "16777216"),
        (Format::F32, "0x1.fffffffp+0",  0x3fff_ffff, "1.99999988"),
        (Format::F32, "0x1p+300",        0x7f80_0000, "0x1p+128"),
        (Format::F32, "9.31322575e-10",  0x3080_0000, "9.31322575e-10"),
        (Format::F32, "1e10",            0x5015_02f9, "1e+10"),
        (Format::F32, "1.00024414",      0x3f80_0800, "1.00024414"),
        (Format::F16, "0.1",             0x2e66,      "0x1.998p-4"),
        (Format::F16, "1.9999",          0x3fff,      "0x1.ffcp+0"),
        (Format::F16, "65519",           0x7bff,      "0x1.ffcp+15"),
        (Format::F16, "0x1.8p-24",       0x0001,      "0x1p-24"),
        (Format::F16, "-0x0p0",          0x8000,      "-0x0p+0"),
        (Format::F16, "0x.8p1",          0x3c00,      "0x1p+0"),
        (Format::BF16, "1.1",            0x3f8c,      "0x1.18p+0"),
        (Format::F64, "0.1",             0x3fb9_9999_9999_999a, "0.10000000000000001"),
        (Format::F64, "0x1.921fb54442d18p+1", 0x4009_21fb_5444_2d18, "3.1415926535897931"),
    ];

    #[test]
    fn floats_are_read_and_written_as_the_assembler_does() {
        for (format, text, bits, written) in FLOATS {
            assert_eq!(read_float(text, format), Some(bits), "{text}");
            assert_eq!(float_literal(format, bits), written, "{text}");
            assert_eq!(read_float(written, format), Some(bits), "{written}");
        }
        for (format, text) in [
            (Format::F32, "inf"),
            (Format::F32, "nan"),
            (Format::F32, "0xff"),
            (Format::F16, "1e10"),
            (Format::F32, "1e39"),
            (Format::F32, "1e"),
            (Format::F32, "0x1.8"),
            (Format::F32, "1f"),
            (Format::F16, ""),
        ] {
            assert_eq!(read_float(text, format), None, "{text}");
        }
    }

    #[test]
    fn every_16_bit_pattern_reads_back() {
        for format in [Format::F16, Format::BF16] {
            for bits in 0..=0xffff {
                assert_eq!(read_float(&float_literal(format, bits), format), Some(bits), "{bits:#x}");
            }
        }
    }

    #[test]
    fn integers() {
        let signed = |width| NumberType::Integer { width, signed: true };
        let unsigned = |width| NumberType::Integer { width, signed: false };
        assert_eq!(signed(32).read("0xffffffff"), Ok(([0xffff_ffff, 0], 1)));
        assert_eq!(signed(16).read("-1"), Ok(([0xffff_ffff, 0], 1)));
        assert_eq!(signed(64).read("-1"), Ok(([0xffff_ffff, 0xffff_ffff], 2)));
        assert_eq!(unsigned(8).read("255"), Ok(([255, 0], 1)));
        assert!(signed(8).read("128").is_err() && unsigned(16).read("-1").is_err() && unsigned(32).read("x").is_err());
        assert_eq!(signed(16).write(&[0xffff_ffff]).as_deref(), Some("-1"));
        assert_eq!(unsigned(16).write(&[0xffff]).as_deref(), Some("65535"));
        assert_eq!(unsigned(16).write(&[0xf_ffff]), None);
        assert_eq!(signed(64).write(&[0xffff_fffe, 0xffff_ffff]).as_deref(), Some("-2"));
    }
}
