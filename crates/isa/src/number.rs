//! Numbers as text: decimal, C hexadecimal, infinity and NaN, parsed to the bits of any format with one rounding, and
//! printed so that parsing gives the same bits.

use num_bigint::BigUint;
use roundonce_arith::{
    ExactNumber, Extended, FiniteNumber, Flags, Format, NarrowFormat, Rounding, Unpacked, unpack, widen,
};

/// A number read from text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsedNumber {
    /// Its bits in the format asked for.
    pub bits: u64,
    /// Whether the format holds the written value exactly.
    pub exact: bool,
}

/// Reads a number: `1.5`, `-3e-4`, `0x1.8p0`, `inf`, `-inf`, `nan` (the quiet NaN with an empty payload). A value that
/// the format does not hold is rounded once, to nearest even. `None` if the text is not a number.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_isa::parse_number;
/// assert_eq!(parse_number(Format::F32, "0x1.8p0").unwrap().bits, 0x3fc0_0000);
/// assert!(!parse_number(Format::F32, "0.1").unwrap().exact);
/// ```
pub fn parse_number(format: Format, text: &str) -> Option<ParsedNumber> {
    let (negative, number) = parse_written(text)?;
    let sign = if negative { format.sign_mask() } else { 0 };
    let special = |bits| Some(ParsedNumber { bits: sign | bits, exact: true });
    match number {
        Written::Infinity => special(format.infinity()),
        Written::Nan => special(format.infinity() | format.quiet_bit()),
        Written::Finite(number) => {
            let outcome = number.round(format, Rounding::NearestEven);
            Some(ParsedNumber { bits: outcome.bits, exact: !outcome.flags.contains(Flags::INEXACT) })
        }
    }
}

/// The same for a format of eight bits or fewer, and hex bits such as `0x7e`. What is too large becomes the largest
/// finite number, an infinity too where the format has none; `nan` is no number where it has none.
///
/// ```
/// use roundonce_arith::NarrowFormat;
/// use roundonce_isa::parse_narrow;
/// assert_eq!(parse_narrow(NarrowFormat::E4M3, "448").unwrap().bits, 0x7e);
/// assert_eq!(parse_narrow(NarrowFormat::E2M1, "0xf").unwrap().bits, 0xf);
/// ```
pub fn parse_narrow(format: NarrowFormat, text: &str) -> Option<ParsedNumber> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
        && !digits.contains(['p', 'P'])
    {
        let bits = u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
        return (bits >> format.width() == 0).then_some(ParsedNumber { bits, exact: true });
    }
    let (negative, number) = parse_written(text)?;
    let sign = if negative { format.fields().sign_mask() } else { 0 };
    Some(match number {
        Written::Infinity if format.has_infinities() => {
            ParsedNumber { bits: sign | format.fields().infinity(), exact: true }
        }
        Written::Infinity => ParsedNumber { bits: sign | format.largest_finite(), exact: false },
        Written::Nan => ParsedNumber { bits: sign | format.nan()?, exact: true },
        Written::Finite(number) => {
            let bits = format.nearest(number);
            let wide = number.round(Format::F64, Rounding::NearestEven);
            let exact = !wide.flags.contains(Flags::INEXACT) && wide.bits == format.widen(Format::F64, bits);
            ParsedNumber { bits, exact }
        }
    })
}

/// A number as it is written.
enum Written {
    Infinity,
    Nan,
    Finite(ExactNumber),
}

/// Whether there is a minus, and what number stands there.
fn parse_written(text: &str) -> Option<(bool, Written)> {
    let (negative, magnitude) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if ["inf", "infinity"].iter().any(|name| magnitude.eq_ignore_ascii_case(name)) {
        return Some((negative, Written::Infinity));
    }
    if magnitude.eq_ignore_ascii_case("nan") {
        return Some((negative, Written::Nan));
    }
    let exact = match magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        Some(hex) => parse_hexadecimal(hex)?,
        None => parse_decimal(magnitude)?,
    };
    Some((negative, Written::Finite(ExactNumber { negative, ..exact })))
}

/// Beyond these powers of two every format overflows or underflows.
const EXPONENT_LIMIT: i64 = 1 << 16;

const ZERO: ExactNumber = ExactNumber { negative: false, quantum: 0, significand: 0, sticky: false };

/// A number above every format.
const HUGE: ExactNumber = ExactNumber { quantum: EXPONENT_LIMIT as i32, significand: 1 << 126, sticky: true, ..ZERO };
/// A number below every format.
const MINUTE: ExactNumber = ExactNumber { quantum: -EXPONENT_LIMIT as i32, ..HUGE };

/// The top of a big integer, times 2^quantum.
fn exact_number(integer: &BigUint, quantum: i64, sticky: bool) -> ExactNumber {
    let extra = integer.bits().saturating_sub(126);
    let top = integer >> extra;
    let sticky = sticky || integer.trailing_zeros().is_some_and(|zeros| zeros < extra);
    let quantum = quantum + extra as i64;
    if quantum.abs() > EXPONENT_LIMIT {
        return if quantum > 0 { HUGE } else { MINUTE };
    }
    let significand = top.iter_u64_digits().rev().fold(0, |sum, digit| sum << 64 | u128::from(digit));
    ExactNumber { quantum: quantum as i32, significand, sticky, ..ZERO }
}

/// Cuts off an exponent marked by a letter; a missing one is zero, an absurd one is clamped.
fn split_exponent(text: &str, marks: [char; 2]) -> Option<(&str, i64)> {
    let Some((digits, exponent)) = text.split_once(marks) else {
        return Some((text, 0));
    };
    let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = unsigned.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    Some((digits, if exponent.starts_with('-') { -magnitude } else { magnitude }))
}

/// Digits without their point, and how many stood behind it. `None` if there is no digit or something else.
fn split_point(text: &str, radix: u32) -> Option<(String, i64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let good = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    good.then_some((digits, fraction.len() as i64))
}

fn parse_hexadecimal(text: &str) -> Option<ExactNumber> {
    if !text.contains(['p', 'P']) {
        return None;
    }
    let (digits, exponent) = split_exponent(text, ['p', 'P'])?;
    let (digits, behind) = split_point(digits, 16)?;
    let integer = BigUint::parse_bytes(digits.as_bytes(), 16)?;
    if integer == BigUint::ZERO {
        return Some(ZERO);
    }
    Some(exact_number(&integer, exponent - 4 * behind, false))
}

/// Digits with a point that make an integer of 64 bits, times a small power of ten: without big integers.
fn short_decimal(digits: &str, exponent: i64) -> Option<ExactNumber> {
    let (mut integer, mut power, mut has_point) = (0_u64, exponent, false);
    for byte in digits.bytes() {
        if byte == b'.' && !has_point {
            has_point = true;
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        integer = integer.checked_mul(10)?.checked_add(digit.into())?;
        power -= i64::from(has_point);
    }
    // A zero may have no digit.
    if integer == 0 {
        return None;
    }
    let integer = u128::from(integer);
    match power {
        // Below 2^126.
        0..=18 => Some(ExactNumber { significand: integer * 10_u128.pow(power as u32), ..ZERO }),
        // The divisor is below 2^70, so that the quotient has 58 bits or more: two more than f64 keeps are enough.
        -21..=-1 => {
            let divisor = 10_u128.pow(power.unsigned_abs() as u32);
            let shift = integer.leading_zeros();
            let dividend = integer << shift;
            let significand = dividend / divisor;
            let sticky = significand * divisor != dividend;
            Some(ExactNumber { quantum: -(shift as i32), significand, sticky, ..ZERO })
        }
        _ => None,
    }
}

/// Every number halfway between two of f64, the widest format, has fewer digits: of more it only matters whether one is
/// not 0.
const SIGNIFICANT_DIGITS: usize = 800;

fn parse_decimal(text: &str) -> Option<ExactNumber> {
    let (digits, exponent) = split_exponent(text, ['e', 'E'])?;
    if let Some(number) = short_decimal(digits, exponent) {
        return Some(number);
    }
    let (digits, behind) = split_point(digits, 10)?;
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some(ZERO);
    }
    let trailing = (digits.len() - digits.trim_end_matches('0').len()) as i64;
    let power = exponent - behind + trailing;
    // 10^4000 lies far outside every format: no need to work it out.
    let magnitude = power + significant.len() as i64;
    if magnitude.abs() > 4000 {
        return Some(if magnitude > 0 { HUGE } else { MINUTE });
    }
    // The last significant digit is not 0, so that what is cut off is not either.
    let (kept, cut) = significant.split_at(significant.len().min(SIGNIFICANT_DIGITS));
    let (power, is_cut) = (power + cut.len() as i64, !cut.is_empty());
    let integer = BigUint::parse_bytes(kept.as_bytes(), 10)?;
    let ten = BigUint::from(10u32);
    if power >= 0 {
        return Some(exact_number(&(integer * ten.pow(power as u32)), 0, is_cut));
    }
    let divisor = ten.pow(power.unsigned_abs() as u32);
    let shift = (divisor.bits() + 126).saturating_sub(integer.bits());
    let scaled = integer << shift;
    let quotient = &scaled / &divisor;
    let sticky = is_cut || &quotient * &divisor != scaled;
    Some(exact_number(&quotient, -(shift as i64), sticky))
}

/// The host's `f64` of the same value: every format fits. For printing only.
fn host(format: Format, bits: u64) -> f64 {
    f64::from_bits(widen(format, Format::F64, bits & format.mask()))
}

/// The shortest decimal that reads back as these bits; a whole number below 10^16 with all its digits; `nan`, `inf`,
/// `-0`.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_isa::shortest_decimal;
/// assert_eq!(shortest_decimal(Format::F16, 0x2e66), "0.1");
/// assert_eq!(shortest_decimal(Format::F32, 0x2880_0000), "1.4210855e-14");
/// ```
pub fn shortest_decimal(format: Format, bits: u64) -> String {
    if format.is_nan(bits) {
        return if format.is_negative(bits) { "-nan".to_owned() } else { "nan".to_owned() };
    }
    let value = host(format, bits);
    if value.is_infinite() || (value.fract() == 0.0 && value.abs() < 1e16) {
        return format!("{value}");
    }
    // 17 digits tell any two f64 apart.
    let candidates = (0..17).map(|digits| format!("{value:.digits$e}"));
    let read_back = |text: &String| parse_number(format, text).is_some_and(|n| n.bits == bits & format.mask());
    let scientific = candidates.into_iter().find(read_back).unwrap_or_else(|| format!("{value:e}"));
    plain_if_short(&scientific)
}

/// An x87 number to 21 significant digits, which tell any two of them apart.
///
/// ```
/// use roundonce_arith::{Extended, Format};
/// let tenth = Extended::of(Format::F64, 0.1f64.to_bits());
/// assert_eq!(roundonce_isa::extended_decimal(tenth), "0.100000000000000005551");
/// ```
pub fn extended_decimal(number: Extended) -> String {
    const DIGITS: usize = 21;
    let Unpacked::Finite(FiniteNumber { negative, quantum, significand }) = number.unpack() else {
        // Zeros, infinities and NaNs are f64's.
        return shortest_decimal(Format::F64, number.round(Format::F64).bits);
    };
    // In units of a power of ten.
    let (integer, unit) = if quantum < 0 {
        (BigUint::from(significand) * BigUint::from(5u32).pow(quantum.unsigned_abs()), quantum)
    } else {
        (BigUint::from(significand) << quantum, 0)
    };
    let length = integer.to_string().len();
    let dropped = length.saturating_sub(DIGITS);
    let power = BigUint::from(10u32).pow(dropped as u32);
    let (kept, rest) = (&integer / &power, &integer % &power);
    let up = (rest << 1u32) + u32::from(kept.bit(0)) > power;
    let digits = (kept + u32::from(up)).to_string();
    let exponent = digits.len() as i32 - 1 + dropped as i32 + unit;
    let digits = digits.trim_end_matches('0');
    let point = if digits.len() > 1 { "." } else { "" };
    let sign = if negative { "-" } else { "" };
    plain_if_short(&format!("{sign}{}{point}{}e{exponent}", &digits[..1], &digits[1..]))
}

/// `1.25e2` as `125`; very large and very small numbers stay as they are.
fn plain_if_short(scientific: &str) -> String {
    let Some((significand, exponent)) = scientific.split_once('e') else {
        return scientific.to_owned();
    };
    let exponent: i32 = exponent.parse().unwrap_or(i32::MAX);
    if !(-5..16).contains(&exponent) {
        return scientific.to_owned();
    }
    let (sign, significand) = significand.strip_prefix('-').map_or(("", significand), |rest| ("-", rest));
    let digits = significand.replace('.', "");
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(-exponent as usize - 1));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        format!("{sign}{digits}{}", "0".repeat(whole - digits.len()))
    } else {
        format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
    }
}

/// Every digit of the value; `nan`, `inf`.
pub fn exact_decimal(format: Format, bits: u64) -> String {
    let value = host(format, bits);
    if !value.is_finite() {
        return shortest_decimal(format, bits);
    }
    // The smallest f64 has 1,074 digits behind the point.
    let text = format!("{value:.1074}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// C's hexadecimal floating literal, exact: `0x1.8p0`.
///
/// ```
/// use roundonce_arith::Format;
/// assert_eq!(roundonce_isa::hexadecimal(Format::F32, 0x3fa0_0003), "0x1.400006p0");
/// ```
pub fn hexadecimal(format: Format, bits: u64) -> String {
    let sign = if format.is_negative(bits) { "-" } else { "" };
    match unpack(format, bits) {
        Unpacked::Zero { .. } => format!("{sign}0x0p0"),
        Unpacked::Infinite { .. } | Unpacked::Nan { .. } => shortest_decimal(format, bits),
        Unpacked::Finite(number) => {
            let exponent = number.quantum + format.frac_bits() as i32;
            let fraction = number.significand << (64 - format.frac_bits());
            let digits = format!("{fraction:016x}");
            let digits = digits.trim_end_matches('0');
            let point = if digits.is_empty() { "" } else { "." };
            format!("{sign}0x1{point}{digits}p{exponent}")
        }
    }
}

/// The bits with all their digits: `0x3fc00000`.
pub fn hex_bits(width: u32, bits: u64) -> String {
    format!("{bits:#0digits$x}", digits = 2 + width.div_ceil(4) as usize)
}

/// Appends the lowest hex digits of a number, so many of them, at most 16.
///
/// ```
/// let mut text = "0x".to_owned();
/// roundonce_isa::push_hex_digits(&mut text, 4, 0x13c00);
/// assert_eq!(text, "0x3c00");
/// ```
pub fn push_hex_digits(text: &mut String, digits: u32, bits: u64) {
    let mut written = [0; 16];
    for (place, digit) in written.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(bits >> (4 * place) & 15) as usize];
    }
    let first = written.len() - (digits as usize).min(written.len());
    // They are ASCII.
    text.push_str(std::str::from_utf8(&written[first..]).unwrap_or_default());
}

/// A number in groups of three digits.
///
/// ```
/// assert_eq!(roundonce_isa::grouped(1_234_567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something, in words: a noun that takes an s.
///
/// ```
/// assert_eq!((roundonce_isa::counted(1, "element"), roundonce_isa::counted(1200, "element")),
///     ("1 element".to_owned(), "1,200 elements".to_owned()));
/// ```
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}
