//! Unpacking bits into sign, exponent and significand.

use crate::Format;

/// A finite nonzero number, its significand an integer with its leading bit at position `precision - 1`: the value is
/// ±significand × 2^quantum. Subnormals are normalised to the same form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FiniteNumber {
    /// Whether the sign bit is set.
    pub negative: bool,
    /// The exponent of the significand's lowest bit.
    pub quantum: i32,
    /// The significand, the hidden bit included.
    pub significand: u64,
}

/// A value by its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unpacked {
    /// +0 or −0.
    Zero {
        /// Whether the sign bit is set.
        negative: bool,
    },
    /// A finite nonzero number.
    Finite(FiniteNumber),
    /// An infinity.
    Infinite {
        /// Whether the sign bit is set.
        negative: bool,
    },
    /// A NaN.
    Nan {
        /// Whether its quiet bit is clear.
        signalling: bool,
    },
}

/// Reads the bits of a value.
///
/// ```
/// use roundonce_arith::{FiniteNumber, Format, Unpacked, unpack};
/// let three = unpack(Format::F32, 0x4040_0000);
/// assert_eq!(three, Unpacked::Finite(FiniteNumber { negative: false, quantum: -22, significand: 3 << 22 }));
/// ```
#[inline(always)]
pub const fn unpack(format: Format, bits: u64) -> Unpacked {
    let negative = format.is_negative(bits);
    let field = (bits >> format.frac_bits()) & format.exp_max();
    let fraction = bits & format.frac_mask();
    if field == format.exp_max() {
        if fraction == 0 {
            Unpacked::Infinite { negative }
        } else {
            Unpacked::Nan { signalling: fraction & format.quiet_bit() == 0 }
        }
    } else if field != 0 {
        let quantum = field as i32 - 1 + format.min_quantum();
        Unpacked::Finite(FiniteNumber { negative, quantum, significand: fraction | format.smallest_normal() })
    } else if fraction == 0 {
        Unpacked::Zero { negative }
    } else {
        let shift = fraction.leading_zeros() - (64 - format.precision());
        let quantum = format.min_quantum() - shift as i32;
        Unpacked::Finite(FiniteNumber { negative, quantum, significand: fraction << shift })
    }
}

/// A value of `from` as the same value of `to`, which must hold it exactly: at least as much precision and range.
/// NaNs keep their sign, their quiet bit and the top of their payload.
///
/// This is step 1 of the pipeline for mixed-precision operands: f16 and bf16 become f32. A subnormal f16 is a normal
/// f32.
///
/// ```
/// use roundonce_arith::{Format, widen};
/// assert_eq!(widen(Format::F16, Format::F32, 0x0001), 0x3380_0000); // 2^-24
/// ```
///
/// # Panics
/// If `to` has less precision or fewer exponent bits than `from`.
#[inline(always)]
pub const fn widen(from: Format, to: Format, bits: u64) -> u64 {
    assert!(from.precision() <= to.precision() && from.exp_bits() <= to.exp_bits());
    let sign = if from.is_negative(bits) { to.sign_mask() } else { 0 };
    let shift = to.frac_bits() - from.frac_bits();
    let magnitude = match unpack(from, bits) {
        Unpacked::Zero { .. } => 0,
        Unpacked::Infinite { .. } => to.infinity(),
        Unpacked::Nan { .. } => to.infinity() | (bits & from.frac_mask()) << shift,
        Unpacked::Finite(number) => {
            let significand = number.significand << shift;
            let field = number.quantum - shift as i32 - to.min_quantum() + 1;
            if field >= 1 { ((field as u64 - 1) << to.frac_bits()) + significand } else { significand >> (1 - field) }
        }
    };
    sign | magnitude
}
