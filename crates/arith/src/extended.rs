//! The x87's 80-bit format: what C's `long double` is on x86, and what its stack computes in.

use core::cmp::Ordering;

use crate::{ExactNumber, FiniteNumber, Flags, Format, Outcome, Rounding, Unpacked, unpack};

/// A number of 80 bits: a sign, 15 bits of exponent, 64 of significand, whose leading one is written.
///
/// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 4.2.2 and 4.8.3.
///
/// ```
/// use roundonce_arith::{Extended, Format};
/// // 1 + 2^-60 fits; as f64 it is 1.
/// let [one, tiny] = [1f64, 2f64.powi(-60)].map(|x| Extended::of(Format::F64, x.to_bits()));
/// let sum = one.plus(tiny);
/// assert_eq!((sum.number.bits(), sum.inexact), (0x3fff_8000_0000_0000_0008, false));
/// assert_eq!(sum.number.round(Format::F64).bits, 1f64.to_bits());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extended(u128);

/// A result of an operation of [`Extended`] numbers, rounded once to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtendedResult {
    /// The result.
    pub number: Extended,
    /// Whether it differs from the exact value.
    pub inexact: bool,
}

const SIGN: u128 = 1 << 79;
const LEADING: u64 = 1 << 63;
const QUIET: u64 = 1 << 62;
const EXPONENT_MAX: u128 = 0x7fff;
/// The quantum of the smallest numbers.
const MIN_QUANTUM: i32 = -16_445;

impl Extended {
    /// The invalid operation's result: the x87's indefinite.
    const INDEFINITE: Extended = Extended(SIGN | EXPONENT_MAX << 64 | (LEADING | QUIET) as u128);

    /// The value of some bits of a format, exactly. NaNs become quiet.
    pub fn of(format: Format, bits: u64) -> Extended {
        match unpack(format, bits) {
            Unpacked::Zero { negative } => Extended::zero(negative),
            Unpacked::Infinite { negative } => Extended::infinity(negative),
            Unpacked::Nan { .. } => {
                let payload = (bits & format.frac_mask()) << (63 - format.frac_bits());
                Extended::signed(format.is_negative(bits), EXPONENT_MAX, LEADING | QUIET | payload)
            }
            Unpacked::Finite(number) => Extended::exact(number.into()).number,
        }
    }

    /// The 80 bits.
    pub const fn bits(self) -> u128 {
        self.0
    }

    const fn signed(negative: bool, exponent: u128, significand: u64) -> Extended {
        Extended((if negative { SIGN } else { 0 }) | exponent << 64 | significand as u128)
    }
    const fn zero(negative: bool) -> Extended {
        Extended::signed(negative, 0, 0)
    }
    const fn infinity(negative: bool) -> Extended {
        Extended::signed(negative, EXPONENT_MAX, LEADING)
    }
    const fn significand(self) -> u64 {
        self.0 as u64
    }
    const fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }

    /// What it is; a finite number's significand has its leading bit at the top.
    pub fn unpack(self) -> Unpacked {
        let (negative, significand) = (self.is_negative(), self.significand());
        let field = (self.0 >> 64 & EXPONENT_MAX) as i32;
        match (field as u128, significand) {
            (EXPONENT_MAX, LEADING) => Unpacked::Infinite { negative },
            (EXPONENT_MAX, _) => Unpacked::Nan { signalling: significand & QUIET == 0 },
            (_, 0) => Unpacked::Zero { negative },
            _ => {
                let shift = significand.leading_zeros();
                let quantum = MIN_QUANTUM + (field - 1).max(0) - shift as i32;
                Unpacked::Finite(FiniteNumber { negative, quantum, significand: significand << shift })
            }
        }
    }

    /// Rounded once to nearest even to a format.
    pub fn round(self, format: Format) -> Outcome {
        let signed = |magnitude: u64| if self.is_negative() { magnitude | format.sign_mask() } else { magnitude };
        let exact = |bits| Outcome { bits, flags: Flags::NONE };
        match self.unpack() {
            Unpacked::Zero { .. } => exact(signed(0)),
            Unpacked::Infinite { .. } => exact(signed(format.infinity())),
            Unpacked::Nan { .. } => {
                let payload = self.significand() >> (63 - format.frac_bits()) & format.frac_mask();
                exact(signed(format.infinity() | format.quiet_bit() | payload))
            }
            Unpacked::Finite(number) => {
                // Beyond this every number overflows, or is less than half of the smallest.
                let quantum = number.quantum.clamp(-2000, 2000);
                ExactNumber { quantum, ..number.into() }.round(format, Rounding::NearestEven)
            }
        }
    }

    /// An exact number rounded once to nearest even.
    fn exact(number: ExactNumber) -> ExtendedResult {
        if number.significand == 0 {
            return Extended::zero(number.negative).exactly();
        }
        let (significand, quantum, inexact) = number.round_to_64_bits(MIN_QUANTUM);
        let field = if significand & LEADING == 0 { 0 } else { (quantum - MIN_QUANTUM + 1) as u128 };
        if field >= EXPONENT_MAX {
            return ExtendedResult { number: Extended::infinity(number.negative), inexact: true };
        }
        ExtendedResult { number: Extended::signed(number.negative, field, significand), inexact }
    }

    const fn exactly(self) -> ExtendedResult {
        ExtendedResult { number: self, inexact: false }
    }

    /// Of two operands one of which is a NaN: the quiet one of the larger significand.
    fn nan(self, other: Extended) -> ExtendedResult {
        let is_nan = |number: &Extended| matches!(number.unpack(), Unpacked::Nan { .. });
        let nans = [other, self].into_iter().filter(is_nan);
        let chosen = nans.max_by_key(|nan| nan.significand()).unwrap_or(Extended::INDEFINITE);
        Extended(chosen.0 | u128::from(QUIET)).exactly()
    }

    /// The sum.
    pub fn plus(self, other: Extended) -> ExtendedResult {
        use Unpacked::{Finite, Infinite, Nan, Zero};
        match (self.unpack(), other.unpack()) {
            (Nan { .. }, _) | (_, Nan { .. }) => self.nan(other),
            (Infinite { negative: a }, Infinite { negative: b }) if a != b => Extended::INDEFINITE.exactly(),
            (Infinite { .. }, _) => self.exactly(),
            (_, Infinite { .. }) => other.exactly(),
            (Zero { negative: a }, Zero { negative: b }) => Extended::zero(a && b).exactly(),
            (Zero { .. }, _) => other.exactly(),
            (_, Zero { .. }) => self.exactly(),
            (Finite(a), Finite(b)) => {
                let is_less = (a.quantum, a.significand) < (b.quantum, b.significand);
                let (large, small) = if is_less { (b, a) } else { (a, b) };
                // 62 zero bits behind the larger one's significand, and one before it for a carry.
                let wide = |number: FiniteNumber| u128::from(number.significand) << 62;
                let apart = (large.quantum - small.quantum).min(127) as u32;
                let (aligned, lost) = (wide(small) >> apart, wide(small) & ((1 << apart) - 1) != 0);
                let significand = if large.negative == small.negative {
                    wide(large) + aligned
                } else {
                    wide(large) - aligned - u128::from(lost)
                };
                let (quantum, negative) = (large.quantum - 62, large.negative && significand != 0);
                Extended::exact(ExactNumber { negative, quantum, significand, sticky: lost })
            }
        }
    }

    /// The product.
    pub fn times(self, other: Extended) -> ExtendedResult {
        use Unpacked::{Finite, Infinite, Nan, Zero};
        let negative = self.is_negative() != other.is_negative();
        match (self.unpack(), other.unpack()) {
            (Nan { .. }, _) | (_, Nan { .. }) => self.nan(other),
            (Infinite { .. }, Zero { .. }) | (Zero { .. }, Infinite { .. }) => Extended::INDEFINITE.exactly(),
            (Infinite { .. }, _) | (_, Infinite { .. }) => Extended::infinity(negative).exactly(),
            (Zero { .. }, _) | (_, Zero { .. }) => Extended::zero(negative).exactly(),
            (Finite(a), Finite(b)) => {
                let significand = u128::from(a.significand) * u128::from(b.significand);
                Extended::exact(ExactNumber { negative, quantum: a.quantum + b.quantum, significand, sticky: false })
            }
        }
    }

    /// The quotient.
    pub fn over(self, other: Extended) -> ExtendedResult {
        use Unpacked::{Finite, Infinite, Nan, Zero};
        let negative = self.is_negative() != other.is_negative();
        match (self.unpack(), other.unpack()) {
            (Nan { .. }, _) | (_, Nan { .. }) => self.nan(other),
            (Infinite { .. }, Infinite { .. }) | (Zero { .. }, Zero { .. }) => Extended::INDEFINITE.exactly(),
            (Infinite { .. }, _) | (_, Zero { .. }) => Extended::infinity(negative).exactly(),
            (Zero { .. }, _) | (_, Infinite { .. }) => Extended::zero(negative).exactly(),
            (Finite(a), Finite(b)) => {
                // Two digits of base 2^64, and of the second its upper four bits.
                let divisor = u128::from(b.significand);
                let dividend = u128::from(a.significand) << 64;
                let rest = dividend % divisor << 4;
                let significand = dividend / divisor << 4 | rest / divisor;
                let quantum = a.quantum - b.quantum - 68;
                Extended::exact(ExactNumber { negative, quantum, significand, sticky: rest % divisor != 0 })
            }
        }
    }

    /// The square root.
    pub fn root(self) -> ExtendedResult {
        match self.unpack() {
            Unpacked::Nan { .. } => self.nan(self),
            Unpacked::Zero { .. } | Unpacked::Infinite { negative: false } => self.exactly(),
            Unpacked::Infinite { .. } | Unpacked::Finite(FiniteNumber { negative: true, .. }) => {
                Extended::INDEFINITE.exactly()
            }
            Unpacked::Finite(number) => {
                // An even quantum. The root of 127 or 128 bits has 64; the exact one lies above root + 1/2 if the rest is
                // larger than the root, and never on it.
                let shift = 63 + (number.quantum + 63).rem_euclid(2);
                let square = u128::from(number.significand) << shift;
                let root = square.isqrt();
                let rest = square - root * root;
                let significand = root << 2 | u128::from(rest > root) << 1;
                let quantum = (number.quantum - shift) / 2 - 2;
                Extended::exact(ExactNumber { negative: false, quantum, significand, sticky: rest != 0 })
            }
        }
    }

    /// With the sign flipped.
    #[must_use]
    pub const fn negated(self) -> Extended {
        Extended(self.0 ^ SIGN)
    }
    /// Without its sign.
    #[must_use]
    pub const fn magnitude(self) -> Extended {
        Extended(self.0 & !SIGN)
    }
    /// The order of two numbers; `None` where one is a NaN.
    pub fn order(self, other: Extended) -> Option<Ordering> {
        let is_nan = |number: Extended| matches!(number.unpack(), Unpacked::Nan { .. });
        let place = |number: Extended| {
            let magnitude = number.magnitude().0 as i128;
            if number.is_negative() { -magnitude } else { magnitude }
        };
        (!is_nan(self) && !is_nan(other)).then(|| place(self).cmp(&place(other)))
    }
}
