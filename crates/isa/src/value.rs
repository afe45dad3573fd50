//! Operands as text: hex bits, PTX literals, numbers; packed vectors in hex.

use roundonce_arith::{ExactNumber, Flags, Format, Rounding, Unpacked, unpack, widen};

use crate::{hex_bits, hexadecimal, parse_number, shortest_decimal};

/// The most components that a packed operand has.
pub const MAX_COMPONENTS: usize = 4;

/// An operand or a result: the bits of each component, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    components: [u64; MAX_COMPONENTS],
    count: usize,
}

impl Value {
    /// One component.
    pub const fn scalar(bits: u64) -> Value {
        Value { components: [bits, 0, 0, 0], count: 1 }
    }
    /// The components of an iterator.
    ///
    /// # Panics
    /// If there are none, or more than [`MAX_COMPONENTS`].
    pub fn of(components: impl IntoIterator<Item = u64>) -> Value {
        let mut value = Value { components: [0; MAX_COMPONENTS], count: 0 };
        for bits in components {
            value.components[value.count] = bits;
            value.count += 1;
        }
        assert!(value.count > 0, "a value has at least one component");
        value
    }
    /// The components' bits.
    pub fn components(&self) -> &[u64] {
        &self.components[..self.count]
    }
    /// All components as one hex number, the lowest in the lowest bits.
    pub fn hex(&self, format: Format) -> String {
        let digits: String =
            self.components().iter().rev().map(|&bits| hex_bits(format.width(), bits)[2..].to_owned()).collect();
        format!("0x{digits}")
    }
    /// The value as a decimal that reads back, or such a list.
    pub fn decimal(&self, format: Format) -> String {
        self.listed(|bits| shortest_decimal(format, bits))
    }
    /// The value as a C hexadecimal floating literal, or such a list.
    pub fn hexadecimal(&self, format: Format) -> String {
        self.listed(|bits| hexadecimal(format, bits))
    }
    fn listed(&self, show: impl Fn(u64) -> String) -> String {
        match self.components() {
            [bits] => show(*bits),
            components => format!("({})", components.iter().map(|&bits| show(bits)).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// An operand read from text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsedValue {
    /// Its bits.
    pub value: Value,
    /// Whether the format holds what was written.
    pub exact: bool,
}

/// Reads an operand of `components` components: hex bits `0x3fc00000` (a `-` before them flips every sign), PTX `0f3FC00000`
/// and `0d3FF8000000000000`, and where there is one component every number that [`parse_number`] reads, also with the letter that expressions
/// have for the operand's type behind it (`1.5f`).
///
/// # Errors
/// What was found and what was expected.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_isa::parse_value;
/// assert_eq!(parse_value(Format::F32, 2, "0x3f80000040000000").unwrap().value.components(), [0x4000_0000, 0x3f80_0000]);
/// assert!(parse_value(Format::F16, 1, "0x3f800000").is_err());
/// ```
pub fn parse_value(format: Format, components: u32, text: &str) -> Result<ParsedValue, String> {
    let (flip, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (format.sign_mask(), rest),
        None => (0, text),
    };
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    if let Some(digits) = hex {
        match parse_hex_components(format, components, digits) {
            Ok(mut value) => {
                value.components[..value.count].iter_mut().for_each(|bits| *bits ^= flip);
                return Ok(ParsedValue { value, exact: true });
            }
            // C's hexadecimal numbers have a `p`, which no hex digit is.
            Err(_) if digits.contains(['p', 'P']) => {}
            Err(_)
                if digits.contains('.') && components == 1 && parse_number(format, &format!("{text}p0")).is_some() =>
            {
                return Err(format!(
                    "`{text}` lacks the exponent of a hexadecimal number: expected such as `{text}p0`"
                ));
            }
            Err(problem) => return Err(format!("`{text}` {problem}")),
        }
    }
    if components > 1 {
        return Err(format!(
            "`{text}` is not a packed operand: {components} components are written as one hex number of {} digits",
            components * format.width() / 4
        ));
    }
    let ptx = |prefix: [&str; 2], digits| {
        let hex = prefix.iter().find_map(|prefix| unsigned.strip_prefix(prefix))?;
        (hex.len() == digits).then(|| u64::from_str_radix(hex, 16).ok()).flatten()
    };
    let literal = ptx(["0f", "0F"], 8).map(|bits| (Format::F32, bits));
    let literal = literal.or_else(|| ptx(["0d", "0D"], 16).map(|bits| (Format::F64, bits)));
    if let Some((from, bits)) = literal {
        let (bits, exact) = convert(from, format, Rounding::NearestEven, bits);
        return Ok(ParsedValue { value: Value::scalar(bits ^ flip), exact });
    }
    let number = |text| parse_number(format, text).map(|number| (number.bits, number.exact));
    let scalar = |(bits, exact)| Ok(ParsedValue { value: Value::scalar(bits), exact });
    if let Some(read) = number(text).or_else(|| Some((parse_testfloat(format, text)?, true))) {
        return scalar(read);
    }
    // As many hex digits as the operand has may be its bits.
    let may_be_bits = 4 * text.len() == format.width() as usize && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match without_type(text).and_then(|(of, digits)| Some((of, digits, number(digits)?))) {
        Some((of, _, read)) if of == Some(format) && !may_be_bits => scalar(read),
        Some((_, digits, _)) => {
            Err(format!("`{text}` has a type of its own, and the operand's is known: expected `{digits}`"))
        }
        None => Err(format!(
            "`{text}` is not a value: expected hex bits such as {}, a decimal, 0x1.8p0, inf or nan",
            hex_bits(format.width(), format.one())
        )),
    }
}

/// The letters behind numbers that say their types, as C, CUDA and expressions here have them: `1.5f`, `2h`.
pub const TYPE_LETTERS: [(char, Format); 4] =
    [('f', Format::F32), ('F', Format::F32), ('h', Format::F16), ('b', Format::BF16)];

/// A number and the type of the letter behind it, if it is one that operands have.
fn without_type(text: &str) -> Option<(Option<Format>, &str)> {
    let last = text.chars().next_back()?;
    let format = TYPE_LETTERS.into_iter().find(|(letter, _)| *letter == last).map(|(_, format)| format);
    let number = text.strip_suffix(last).filter(|_| format.is_some() || matches!(last, 'd' | 'l' | 'L'))?;
    number.ends_with(|digit: char| digit.is_ascii_digit() || digit == '.').then_some((format, number))
}

/// The same as a person writes it: hex bits have all their digits.
///
/// # Errors
/// What was found and what was expected.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_isa::parse_whole;
/// assert!(parse_whole(Format::F32, 1, "0x0").is_ok());
/// let error = parse_whole(Format::F32, 1, "0x3f80000").unwrap_err();
/// assert_eq!(error, "`0x3f80000` has too few digits for 32 bits: write 0x03f80000 if it is that");
/// ```
pub fn parse_whole(format: Format, components: u32, text: &str) -> Result<ParsedValue, String> {
    let width = format.width() * components;
    if let Some(whole) = missing_digits(text, width) {
        return Err(format!("`{text}` has too few digits for {width} bits: write {whole} if it is that"));
    }
    parse_value(format, components, text)
}

/// Of hex bits that have fewer digits than a float of so many bits, the same with all of them: one may be missing at either
/// end. `0x0` is whole.
///
/// ```
/// use roundonce_isa::missing_digits;
/// assert_eq!(missing_digits("0x3f8", 32), Some("0x000003f8".to_owned()));
/// assert_eq!((missing_digits("0x0", 32), missing_digits("0x1p3", 32)), (None, None));
/// ```
pub fn missing_digits(text: &str, width: u32) -> Option<String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let count = width.div_ceil(4) as usize;
    (is_hex && digits != "0" && digits.len() < count).then(|| format!("0x{digits:0>count$}"))
}

/// The bits of a number as TestFloat writes it: `-7F.400000` is a sign, the exponent field and the significand field. With
/// decimal digits alone it may be a decimal too ([`parse_value`] takes it for one).
///
/// ```
/// use roundonce_arith::Format;
/// assert_eq!(roundonce_isa::parse_testfloat(Format::F32, "+54.61FFFE"), Some(0x2a61_fffe));
/// assert_eq!(roundonce_isa::parse_testfloat(Format::F16, "-0F.000"), Some(0xbc00));
/// ```
pub fn parse_testfloat(format: Format, text: &str) -> Option<u64> {
    let (sign, magnitude) = match text.strip_prefix('+') {
        Some(rest) => (0, rest),
        None => (format.sign_mask(), text.strip_prefix('-')?),
    };
    let field = |digits: &str, width: u32| {
        let is_whole =
            digits.len() == width.div_ceil(4) as usize && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|bits| is_whole && bits >> width == 0)
    };
    let (exponent, fraction) = magnitude.split_once('.')?;
    Some(sign | field(exponent, format.exp_bits())? << format.frac_bits() | field(fraction, format.frac_bits())?)
}

/// What each byte is as a hex digit; of one that is none, more than every digit.
const HEX_DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut digit = 0;
    while digit < 16 {
        let upper = b"0123456789ABCDEF"[digit as usize];
        digits[upper as usize] = digit;
        digits[upper.to_ascii_lowercase() as usize] = digit;
        digit += 1;
    }
    digits
};

/// The bits of an operand of one component in hex, `0x3fc00000`, with all its digits, or `0x0`: what most operands of
/// batches are. `None` for every other text, of which [`parse_value`] knows more.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_isa::parse_plain_hex;
/// assert_eq!(parse_plain_hex(Format::F16, "0x3C00"), Some(0x3c00));
/// assert_eq!(parse_plain_hex(Format::F16, "0x0"), Some(0));
/// assert_eq!(parse_plain_hex(Format::F16, "0x00003c00"), None);
/// assert_eq!(parse_plain_hex(Format::F16, "0x3c"), None);
/// assert_eq!(parse_plain_hex(Format::F16, "0x1p"), None);
/// ```
#[inline]
pub fn parse_plain_hex(format: Format, text: &str) -> Option<u64> {
    let digits = text.as_bytes().strip_prefix(b"0x")?;
    if digits.len() != format.width() as usize / 4 && digits != b"0" {
        return None;
    }
    let (mut bits, mut greatest) = (0, 0);
    for byte in digits {
        let digit = HEX_DIGITS[usize::from(*byte)];
        bits = bits << 4 | u64::from(digit);
        greatest |= digit;
    }
    // No branch on a digit: a processor would mispredict every third one.
    (greatest < 16).then_some(bits)
}

fn parse_hex_components(format: Format, components: u32, digits: &str) -> Result<Value, String> {
    let digits = digits.as_bytes();
    let greatest = digits.iter().fold(0, |greatest, byte| greatest | HEX_DIGITS[usize::from(*byte)]);
    if digits.is_empty() {
        return Err("has no digits".to_owned());
    }
    if greatest > 15 {
        return Err("has a character that is no hex digit".to_owned());
    }
    let width = format.width();
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    let significant = &digits[zeros..];
    let bits = significant
        .first()
        .map_or(0, |first| significant.len() * 4 - (HEX_DIGITS[usize::from(*first)].leading_zeros() as usize - 4));
    if bits > (components * width) as usize {
        return Err(format!("does not fit: it has {bits} bits, the operand has {}", components * width));
    }
    // A format narrower than a whole number of digits is one component only.
    let per_lane = width.div_ceil(4) as usize;
    let mut value = Value { components: [0; MAX_COMPONENTS], count: components as usize };
    for (lane, digits) in value.components.iter_mut().zip(significant.rchunks(per_lane)) {
        *lane = digits.iter().fold(0, |bits, byte| bits << 4 | u64::from(HEX_DIGITS[usize::from(*byte)]));
    }
    Ok(value)
}

/// A value of one format in another, rounded once if it does not fit, and whether it fitted. NaNs keep the top of
/// their payload and become quiet if it is cut.
pub fn convert(from: Format, to: Format, rounding: Rounding, bits: u64) -> (u64, bool) {
    if from == to {
        return (bits & to.mask(), true);
    }
    if from.precision() <= to.precision() && from.exp_bits() <= to.exp_bits() {
        return (widen(from, to, bits), true);
    }
    let negative = from.is_negative(bits);
    let sign = if negative { to.sign_mask() } else { 0 };
    match unpack(from, bits) {
        Unpacked::Zero { .. } => (sign, true),
        Unpacked::Infinite { .. } => (sign | to.infinity(), true),
        Unpacked::Nan { .. } => {
            let fraction = (bits & from.frac_mask()) << (64 - from.frac_bits()) >> (64 - to.frac_bits());
            let kept = sign | to.infinity() | to.quiet_bit() | fraction;
            (kept, fraction << (64 - to.frac_bits()) == (bits & from.frac_mask()) << (64 - from.frac_bits()))
        }
        Unpacked::Finite(number) => {
            let outcome = ExactNumber { negative, ..number.into() }.round(to, rounding);
            (outcome.bits, !outcome.flags.contains(Flags::INEXACT))
        }
    }
}
