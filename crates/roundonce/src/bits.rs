//! Bits written as text.

use roundonce_arith::Format;
use roundonce_isa::parse_whole;

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

/// The bits of a float as a person writes it, rounded once if its format does not hold it.
pub(crate) fn read_float(format: Format, text: &str) -> Result<u64, String> {
    parse_whole(format, 1, text).map(|parsed| parsed.value.components()[0])
}

#[cfg(test)]
mod tests {
    use roundonce_arith::Format;

    use super::{NotBits, parse_bits, read_float};

    #[test]
    fn the_bits_of_a_float_have_all_their_digits() {
        let read = |text| read_float(Format::F32, text);
        assert_eq!((read("0x3f800000"), read("0x0"), read("1.5")), (Ok(0x3f80_0000), Ok(0), Ok(0x3fc0_0000)));
        assert!(read("0x3f8").unwrap_err().contains("write 0x000003f8"));
        assert!(read("-0X3f8").unwrap_err().contains("write 0x000003f8"));
        assert!(read("0x3f8000000").is_err());
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
