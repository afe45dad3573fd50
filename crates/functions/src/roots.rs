//! Roots of whole degrees.

use astro_float_num::{BigFloat, Consts, RoundingMode};
use roundonce_arith::{Format, Unpacked, unpack};

use crate::elementary::exact_power;

/// The root where it is a number of few bits; of a number with a fraction of its own, no other root is rational.
pub(crate) fn exactly(x: f64, degree: f64) -> Option<f64> {
    let Unpacked::Finite(number) = unpack(Format::F64, x.to_bits()) else { return None };
    let near = guess(x, degree);
    if degree == 1.0 {
        return Some(x);
    }
    if degree == 0.0 || near.is_nan() {
        return None;
    }
    let zeros = number.significand.trailing_zeros();
    if number.significand >> zeros == 1 {
        // A power of two; the root's exponent is at most half as large, or the other's negative.
        let exponent = f64::from(number.quantum + zeros as i32) / degree;
        let root = f64::from_bits(((exponent + 1023.0) as u64) << 52);
        return (exponent.fract() == 0.0 && exponent.abs() < 1000.0).then(|| root.copysign(near));
    }
    // A square has twice the root's bits.
    let root = f64::from_bits((near.to_bits() + (1 << 23)) >> 24 << 24);
    (exact_power(root, degree) == Some(x)).then_some(root)
}

/// The host's root, of the sign and with the special values that OpenCL C has.
pub(crate) fn guess(x: f64, degree: f64) -> f64 {
    let odd = degree % 2.0 != 0.0;
    if degree == 0.0 || (x < 0.0 && !odd) {
        return f64::NAN;
    }
    let root = x.abs().powf(degree.recip());
    if odd { root.copysign(x) } else { root }
}

/// |x|^(1/degree) as exp(ln |x| / degree).
pub(crate) fn root(x: &BigFloat, degree: &BigFloat, p: usize, constants: &mut Consts) -> BigFloat {
    let mode = RoundingMode::ToEven;
    let odd = !degree.rem(&BigFloat::from_u32(2, p)).is_zero();
    if degree.is_zero() || (x.is_negative() && !odd) {
        return BigFloat::nan(None);
    }
    let magnitude = x.abs().ln(p, mode, constants).div(degree, p, mode).exp(p, mode, constants);
    if x.is_negative() { magnitude.neg() } else { magnitude }
}

#[cfg(test)]
mod tests {
    use roundonce_arith::{Format, Profile, Rounding};

    use crate::{Function, approximate};

    fn double(rounding: Rounding, x: f64, degree: f64) -> f64 {
        let operands = [x.to_bits(), degree as i32 as u64];
        f64::from_bits(approximate(&Profile::NVIDIA, Function::Root, Format::F64, rounding, false, operands))
    }

    #[test]
    fn roots() {
        let infinity = f64::INFINITY;
        let exact = [
            (27.0, 3.0, 3.0),
            (-27.0, 3.0, -3.0),
            (0.125, -3.0, 2.0),
            (f64::from_bits(1), 2.0, 2f64.powi(-537)),
            (f64::from_bits(1), -1074.0, 2.0),
            (134_217_727.0 * 134_217_727.0 - 134_217_727.0 * 2.0 + 1.0, 2.0, 134_217_726.0),
            (1.1, 1.0, 1.1),
            (0.0, -2.0, infinity),
            (-0.0, -3.0, -infinity),
            (-0.0, 2.0, 0.0),
            (-0.0, 5.0, -0.0),
            (-infinity, 3.0, -infinity),
            (infinity, -4.0, 0.0),
        ];
        for rounding in [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up] {
            for (x, degree, expected) in exact {
                let found = double(rounding, x, degree);
                assert_eq!(found.to_bits(), expected.to_bits(), "{x} {degree} {rounding:?}: {found}");
            }
        }
        assert!([double(Rounding::Up, 2.0, 0.0), double(Rounding::Up, -4.0, 2.0)].iter().all(|it| it.is_nan()));
        for step in 1..300u32 {
            let x = f64::from(step) * 0.37;
            let even = Rounding::NearestEven;
            // The square root and the reciprocal are correctly rounded by IEEE 754.
            assert_eq!(double(even, x, 2.0), x.sqrt(), "{x}");
            assert_eq!(double(even, x, -1.0), 1.0 / x, "{x}");
            let cube = [x.to_bits(), 0];
            let cube = approximate(&Profile::NVIDIA, Function::Cbrt, Format::F64, even, false, cube);
            assert_eq!(double(even, x, 3.0).to_bits(), cube, "{x}");
            let single = [(x as f32).to_bits().into(), 7];
            let single = approximate(&Profile::NVIDIA, Function::Root, Format::F32, even, false, single);
            assert_eq!(single, u64::from((double(even, (x as f32).into(), 7.0) as f32).to_bits()), "{x}");
        }
    }
}
