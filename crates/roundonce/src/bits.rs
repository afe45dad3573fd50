//! Bits written as text.

use roundonce_arith::Format;
use roundonce_isa::{ParsedValue, parse_value};

/// Why a text is not so many bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotBits {
    /// It is no integer.
    NoInteger,
    /// It is one that they do not hold.
    TooWide,
}

/// Hex bits, or a decimal in the range of so many bits, with a sign or without.
pub(crate) fn parse_bits(text: &str, width: u32) -> Result<u64, NotBits> {
    let mask = u64::MAX >> (64 - width);
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u128::from_str_radix(hex, 16),
        Some(_) => return Err(NotBits::NoInteger),
        None => digits.parse(),
    };
    let number = number.ok().filter(|_| !digits.starts_with('+')).ok_or(NotBits::NoInteger)?;
    match is_negative {
        false if number <= u128::from(mask) => Ok(number as u64),
        true if number <= u128::from(mask / 2 + 1) => Ok((number as u64).wrapping_neg() & mask),
        _ => Err(NotBits::TooWide),
    }
}

/// Of hex bits that have fewer digits than a float of so many bits, the same with all of them: one may be missing at either
/// end. `0x0` is whole.
pub(crate) fn missing_digits(text: &str, width: u32) -> Option<String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let count = width.div_ceil(4) as usize;
    (is_hex && digits != "0" && digits.len() < count).then(|| format!("0x{digits:0>count$}"))
}

/// A float as a person writes it, rounded once if its format does not hold it.
pub(crate) fn parse_float(format: Format, text: &str) -> Result<ParsedValue, String> {
    if let Some(whole) = missing_digits(text, format.width()) {
        return Err(format!("`{text}` has too few digits for {} bits: write {whole} if it is that", format.width()));
    }
    parse_value(format, 1, text)
}

/// The bits of [`parse_float`].
pub(crate) fn read_float(format: Format, text: &str) -> Result<u64, String> {
    parse_float(format, text).map(|parsed| parsed.value.components()[0])
}

#[cfg(test)]
mod tests {
    use roundonce_arith::Format;

    use super::{NotBits, missing_digits, parse_bits, read_float};

    #[test]
    fn the_bits_of_a_float_have_all_their_digits() {
        let read = |text| read_float(Format::F32, text);
        assert_eq!((read("0x3f800000"), read("0x0"), read("1.5")), (Ok(0x3f80_0000), Ok(0), Ok(0x3fc0_0000)));
        assert!(read("0x3f8").unwrap_err().contains("write 0x000003f8"));
        assert!(read("-0X3f8").unwrap_err().contains("write 0x000003f8"));
        assert!(read("0x3f8000000").is_err());
    }

    #[test]
    fn vectors_wider_than_64_bits_have_all_their_digits_too() {
        let whole = format!("0x{}3f80000040000000", "0".repeat(48));
        assert_eq!(missing_digits("0x3f80000040000000", 256), Some(whole.clone()));
        assert_eq!(missing_digits("0x13f80000040000000", 128), Some(format!("0x{}13f80000040000000", "0".repeat(15))));
        assert_eq!(
            (missing_digits(&whole, 256), missing_digits("0x1p3", 256), missing_digits("0x", 32)),
            (None, None, None)
        );
    }

    #[test]
    fn bits_with_and_without_a_sign() {
        assert_eq!(parse_bits("0xffff", 16), Ok(0xffff));
        assert_eq!(parse_bits("65535", 16), Ok(0xffff));
        assert_eq!(parse_bits("-32768", 16), Ok(0x8000));
        assert_eq!(parse_bits("-1", 64), Ok(u64::MAX));
        for wide in ["0x10000", "65536", "-32769"] {
            assert_eq!(parse_bits(wide, 16), Err(NotBits::TooWide), "{wide}");
        }
        for text in ["", "-", "1.0", "+1", "0x", "0x+1", "--1", "nan"] {
            assert_eq!(parse_bits(text, 16), Err(NotBits::NoInteger), "{text}");
        }
    }
}
