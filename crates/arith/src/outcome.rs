//! The outcome of an operation: bits and flags.

use crate::Format;

/// The exceptions that the arithmetic raised (IEEE 754-2019, clause 7). GPUs do not keep them.
///
/// As bits, Berkeley TestFloat's: 0 inexact, 1 underflow, 2 overflow, 3 infinite (division by zero: never here),
/// 4 invalid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u8);

impl Flags {
    /// No exception.
    pub const NONE: Flags = Flags(0);
    /// The result differs from the exact value.
    pub const INEXACT: Flags = Flags(1);
    /// The result is tiny and inexact, or was flushed to zero.
    pub const UNDERFLOW: Flags = Flags(2);
    /// The rounded result is beyond the largest finite number.
    pub const OVERFLOW: Flags = Flags(4);
    /// A signalling NaN operand, 0 × infinity, or infinity − infinity.
    pub const INVALID: Flags = Flags(16);

    /// The flags as TestFloat writes them.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// Both sets together.
    #[must_use]
    #[inline]
    pub const fn union(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// Whether every flag of `other` is raised.
    #[inline]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// This set if `raised`, otherwise none.
    #[inline]
    pub(crate) const fn when(self, raised: bool) -> Flags {
        Flags(self.0 * raised as u8)
    }
    /// The names of the raised flags.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [(Flags, &str); 4] = [
            (Flags::INEXACT, "inexact"),
            (Flags::UNDERFLOW, "underflow"),
            (Flags::OVERFLOW, "overflow"),
            (Flags::INVALID, "invalid"),
        ];
        NAMES.into_iter().filter(move |(flag, _)| self.contains(*flag)).map(|(_, name)| name)
    }
}

impl core::fmt::Debug for Flags {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// A result: its bits and the exceptions raised on the way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// The result in the destination format.
    pub bits: u64,
    /// The exceptions.
    pub flags: Flags,
}

/// The condition codes that SASS `Rd.CC` writes, computed from the final result.
///
/// Source: FFMA `.CC`. Z = zero or NaN, S = negative (not −0) or NaN; C and V are always clear. The meaning of Z and
/// S is a decision (see [`Profile::DECISIONS`](crate::Profile::DECISIONS)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConditionCodes {
    /// Zero or NaN.
    pub zero: bool,
    /// Negative or NaN.
    pub sign: bool,
}

impl ConditionCodes {
    /// The codes of a result.
    #[inline]
    pub const fn of(format: Format, bits: u64) -> ConditionCodes {
        let nan = format.is_nan(bits);
        ConditionCodes {
            zero: nan || format.is_zero(bits),
            sign: nan || (format.is_negative(bits) && !format.is_zero(bits)),
        }
    }
    /// The hardware's order: bit 0 Z, bit 1 S, bit 2 C, bit 3 V.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.zero as u8 | (self.sign as u8) << 1
    }
}

/// `ZSCV`, with `-` for a clear code.
impl core::fmt::Display for ConditionCodes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let letter = |set, letter| if set { letter } else { '-' };
        write!(f, "{}{}--", letter(self.zero, 'Z'), letter(self.sign, 'S'))
    }
}
