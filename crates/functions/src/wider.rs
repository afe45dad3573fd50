//! Numbers wider than those of a kernel, which show how far rounding has moved its results.
//!
//! A wider number is itself rounded: to 53 bits, or to 1,024. It is a measure and no reference: what is said of it is a
//! distance, never bits.

use std::cmp::Ordering;

use astro_float_num::{BigFloat, RoundingMode};
use roundonce_arith::{FiniteNumber, Format, Profile, Rounding, Unpacked, unpack};

use crate::elementary::{bits_of_big, function_of_big, host};
use crate::{Function, approximate, integral, scale};

/// Bits of the significand of [`Wider::Long`].
const LONG: usize = 1024;
const EVEN: RoundingMode = RoundingMode::ToEven;

/// How wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Breadth {
    /// f64: 53 bits.
    Double,
    /// 1,024 bits, with exponents that do not overflow; elementary functions have 192 bits.
    Long,
}

/// A number of one [`Breadth`]. Operands of unlike breadths are taken as doubles.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_functions::{Breadth, Wider};
/// // 0.1 + 0.2 in f32, against the sum of the same two f32 numbers in f64.
/// let number = |bits| Wider::of(Breadth::Double, Format::F32, bits);
/// let sum = number(0x3dcc_cccd).plus(&number(0x3e4c_cccd));
/// assert_eq!(sum.distance(Format::F32, 0x3e99_999a), 0.25); // a quarter of a unit in the last place
/// ```
#[derive(Clone, Debug)]
pub enum Wider {
    /// See [`Breadth::Double`].
    Double(f64),
    /// See [`Breadth::Long`].
    Long(Box<BigFloat>),
}

fn long(number: BigFloat) -> Wider {
    Wider::Long(Box::new(number))
}

impl Wider {
    /// The value of bits.
    pub fn of(breadth: Breadth, format: Format, bits: u64) -> Wider {
        Wider::of_double(breadth, host(format, bits))
    }
    fn of_double(breadth: Breadth, value: f64) -> Wider {
        match breadth {
            Breadth::Double => Wider::Double(value),
            Breadth::Long => long(BigFloat::from_f64(value, LONG)),
        }
    }
    /// An integer's value, or the nearest double to it.
    pub fn of_integer(breadth: Breadth, value: i128) -> Wider {
        match breadth {
            Breadth::Double => Wider::Double(value as f64),
            Breadth::Long => long(BigFloat::from_i128(value, LONG)),
        }
    }
    const fn breadth(&self) -> Breadth {
        match self {
            Wider::Double(_) => Breadth::Double,
            Wider::Long(_) => Breadth::Long,
        }
    }
    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        match self {
            Wider::Double(value) => *value,
            Wider::Long(number) if number.is_nan() => f64::NAN,
            Wider::Long(number) if number.is_inf_pos() => f64::INFINITY,
            Wider::Long(number) if number.is_inf_neg() => f64::NEG_INFINITY,
            Wider::Long(number) => bits_of_big(number)
                .map_or(0.0, |exact| f64::from_bits(exact.round(Format::F64, Rounding::NearestEven).bits)),
        }
    }
    /// Whether it is no number.
    pub fn is_nan(&self) -> bool {
        match self {
            Wider::Double(value) => value.is_nan(),
            Wider::Long(number) => number.is_nan(),
        }
    }
    fn is_finite_nonzero(&self) -> bool {
        match self {
            Wider::Double(value) => value.is_finite() && *value != 0.0,
            Wider::Long(number) => !number.is_nan() && !number.is_inf() && !number.is_zero(),
        }
    }
    /// The exponent of the leading bit; `None` of zeros, infinities and NaNs.
    pub fn exponent(&self) -> Option<i32> {
        if !self.is_finite_nonzero() {
            return None;
        }
        match self {
            Wider::Double(value) => match unpack(Format::F64, value.to_bits()) {
                Unpacked::Finite(FiniteNumber { quantum, .. }) => Some(quantum + Format::F64.frac_bits() as i32),
                _ => None,
            },
            Wider::Long(number) => number.exponent().map(|exponent| exponent - 1),
        }
    }

    fn combine(
        &self,
        other: &Wider,
        double: impl Fn(f64, f64) -> f64,
        big: impl Fn(&BigFloat, &BigFloat) -> BigFloat,
    ) -> Wider {
        match (self, other) {
            (Wider::Long(a), Wider::Long(b)) => long(big(a, b)),
            _ => Wider::Double(double(self.to_f64(), other.to_f64())),
        }
    }
    /// The sum.
    pub fn plus(&self, other: &Wider) -> Wider {
        self.combine(other, |a, b| a + b, |a, b| a.add(b, LONG, EVEN))
    }
    /// The product.
    pub fn times(&self, other: &Wider) -> Wider {
        self.combine(other, |a, b| a * b, |a, b| a.mul(b, LONG, EVEN))
    }
    /// self × other + addend; of doubles rounded once.
    pub fn times_plus(&self, other: &Wider, addend: &Wider) -> Wider {
        match (self, other, addend) {
            (Wider::Double(a), Wider::Double(b), Wider::Double(c)) => Wider::Double(a.mul_add(*b, *c)),
            _ => self.times(other).plus(addend),
        }
    }
    /// The quotient.
    pub fn over(&self, other: &Wider) -> Wider {
        self.combine(other, |a, b| a / b, |a, b| a.div(b, LONG, EVEN))
    }
    /// The remainder of a division whose quotient is rounded toward zero.
    pub fn modulo(&self, other: &Wider) -> Wider {
        self.combine(other, |a, b| a % b, |a, b| a.rem(b))
    }
    /// The square root.
    pub fn root(&self) -> Wider {
        match self {
            Wider::Double(value) => Wider::Double(value.sqrt()),
            Wider::Long(number) => long(number.sqrt(LONG, EVEN)),
        }
    }
    /// With the sign flipped.
    #[must_use]
    pub fn negated(&self) -> Wider {
        match self {
            Wider::Double(value) => Wider::Double(-value),
            Wider::Long(number) => long(number.neg()),
        }
    }
    /// Without its sign.
    #[must_use]
    pub fn magnitude(&self) -> Wider {
        match self {
            Wider::Double(value) => Wider::Double(value.abs()),
            Wider::Long(number) => long(number.abs()),
        }
    }
    /// Times a power of two.
    #[must_use]
    pub fn scaled(&self, exponent: i32) -> Wider {
        match self {
            Wider::Double(value) => {
                let bits =
                    scale(&Profile::NVIDIA, Format::F64, Rounding::NearestEven, false, value.to_bits(), exponent);
                Wider::Double(f64::from_bits(bits))
            }
            Wider::Long(number) if self.is_finite_nonzero() => {
                let mut scaled = number.clone();
                let exponent = exponent.clamp(-8192, 8192);
                scaled.set_exponent(number.exponent().unwrap_or(0).saturating_add(exponent));
                Wider::Long(scaled)
            }
            Wider::Long(_) => self.clone(),
        }
    }
    /// A function of this number, or of it and another.
    pub fn function(&self, function: Function, other: &Wider) -> Wider {
        let one = Wider::of_double(self.breadth(), 1.0);
        match function {
            Function::Divide => return self.over(other),
            Function::Reciprocal => return one.over(self),
            Function::SquareRoot => return self.root(),
            Function::ReciprocalSquareRoot => return one.over(&self.root()),
            _ => {}
        }
        if let (Wider::Long(a), Wider::Long(b)) = (self, other)
            && self.is_finite_nonzero()
            && let Some(result) = function_of_big(function, a, b)
        {
            return long(result);
        }
        let other = other.to_f64();
        let other = if function.takes_integer() { other as i32 as u64 } else { other.to_bits() };
        let operands = [self.to_f64().to_bits(), other];
        let bits = approximate(&Profile::NVIDIA, function, Format::F64, Rounding::NearestEven, false, operands);
        Wider::of_double(self.breadth(), f64::from_bits(bits))
    }
    /// Rounded to an integral value.
    #[must_use]
    pub fn integral(&self, rounding: Rounding) -> Wider {
        // A long number with a fraction has one as a double too, unless it lies within 2^-53 of an integer.
        let value = self.to_f64();
        match unpack(Format::F64, value.to_bits()) {
            Unpacked::Finite(number) => {
                let bits = integral(number, rounding).round(Format::F64, Rounding::NearestEven).bits;
                Wider::of_double(self.breadth(), f64::from_bits(bits))
            }
            _ => self.clone(),
        }
    }
    /// The order of two numbers; `None` where one is a NaN.
    pub fn order(&self, other: &Wider) -> Option<Ordering> {
        match (self, other) {
            (Wider::Long(a), Wider::Long(b)) => a.cmp(b).map(|order| order.cmp(&0)),
            _ => self.to_f64().partial_cmp(&other.to_f64()),
        }
    }

    /// How far the value of some bits lies from this number, in units of the format's last place at this number.
    /// Infinite where one of the two is no finite number and the other is not the same.
    pub fn distance(&self, format: Format, bits: u64) -> f64 {
        let value = Wider::of(self.breadth(), format, bits);
        if (self.is_nan() && value.is_nan()) || self.order(&value) == Some(Ordering::Equal) {
            return 0.0;
        }
        let finite = |number: &Wider| number.to_f64().is_finite() || number.is_finite_nonzero();
        if !finite(self) || !finite(&value) {
            return f64::INFINITY;
        }
        let exponent = self.exponent().unwrap_or(format.emin()).clamp(format.emin(), format.emax());
        let difference = value.plus(&self.negated());
        difference.scaled(format.frac_bits() as i32 - exponent).to_f64().abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32(breadth: Breadth, value: f32) -> Wider {
        Wider::of(breadth, Format::F32, value.to_bits().into())
    }

    /// Both breadths agree where nothing is rounded.
    #[test]
    fn both_breadths() {
        for (a, b) in [(1.5f32, -2.25f32), (1e30, 3.0), (-0.75, 1e-30), (7.0, 2.0), (0.0, 4.0), (1e-45, 1.0)] {
            let both = |f: &dyn Fn(&Wider, &Wider) -> Wider| {
                let [double, long] =
                    [Breadth::Double, Breadth::Long].map(|breadth| f(&f32(breadth, a), &f32(breadth, b)).to_f64());
                assert!(double == long || (double - long).abs() <= double.abs() * 1e-15, "{a} {b}: {double} {long}");
            };
            both(&Wider::plus);
            both(&Wider::times);
            both(&Wider::over);
            both(&Wider::modulo);
            both(&|a, b| a.times_plus(b, a));
            both(&|a, _| a.magnitude().root());
            both(&|a, _| a.negated());
            both(&|a, _| a.scaled(-3));
            both(&|a, _| a.function(Function::Tanh, a));
            both(&|a, _| a.integral(Rounding::Down));
            for breadth in [Breadth::Double, Breadth::Long] {
                assert_eq!(f32(breadth, a).order(&f32(breadth, b)), a.partial_cmp(&b));
                assert_eq!(f32(breadth, a).distance(Format::F32, a.to_bits().into()), 0.0);
            }
        }
    }

    /// Distances at a binade's edge, among subnormals, past the largest number and of NaNs.
    #[test]
    fn distances() {
        for breadth in [Breadth::Double, Breadth::Long] {
            let distance = |number: f32, of: u64| f32(breadth, number).distance(Format::F32, of);
            assert_eq!(distance(1.0, 0x3f80_0001), 1.0);
            assert_eq!(distance(1.0, 0x3f7f_ffff), 0.5);
            assert_eq!(distance(0.0, 3), 3.0);
            assert_eq!(distance(f32::MIN_POSITIVE, 0), 8_388_608.0);
            assert_eq!(distance(f32::MAX, 0x7f80_0000), f64::INFINITY);
            assert_eq!(distance(f32::NAN, 0x7fff_ffff), 0.0);
            assert_eq!(distance(1.0, 0x7fff_ffff), f64::INFINITY);
            assert_eq!(distance(-1.0, 0xbf80_0000), 0.0);
        }
        // What no double holds.
        let long = |value: f64| Wider::of(Breadth::Long, Format::F64, value.to_bits());
        let sum = long(1.0).plus(&long(2f64.powi(-100)));
        assert_eq!(sum.distance(Format::F64, 1f64.to_bits()), 2f64.powi(-48));
        assert_eq!(sum.exponent(), Some(0));
        let huge = long(f64::MAX).times(&long(2.0));
        assert_eq!(huge.exponent(), Some(1024));
        assert_eq!(huge.distance(Format::F64, f64::INFINITY.to_bits()), f64::INFINITY);
    }
}
