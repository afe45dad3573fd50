//! Where functions in half turns, and the error function's complement, are rational, or so close to a rational number
//! that no number of bits shows on which side they lie.

use roundonce_arith::ExactNumber;

use crate::Function;
use crate::elementary::below;

/// How close: any format's precision, and what a double's square root leaves of it.
const TINY: f64 = 1.0 / (1u64 << 60) as f64;

/// What is left of a number of half turns, of at most a quarter turn: exact.
pub(crate) fn part(x: f64) -> f64 {
    x - x.round_ties_even()
}

/// The exact result, of the arguments that have one (Niven: the others' results are irrational).
pub(crate) fn exactly(function: Function, x: f64, y: f64) -> Option<f64> {
    match function {
        Function::TanPi => {
            let part = part(x);
            let odd = x % 2.0 != 0.0;
            match part.abs() {
                0.0 => Some(if odd { -0f64.copysign(x) } else { 0f64.copysign(x) }),
                0.25 => Some(1f64.copysign(part)),
                0.5 => Some(f64::INFINITY.copysign(part)),
                _ => None,
            }
        }
        Function::AsinPi if x == 0.0 || x.abs() == 1.0 => Some(x / 2.0),
        Function::AcosPi if x == 0.0 || x.abs() == 1.0 => Some((1.0 - x) / 2.0),
        Function::AtanPi if x == 0.0 || x.abs() == 1.0 => Some(x / 4.0),
        Function::AtanPi if x.is_infinite() => Some(0.5f64.copysign(x)),
        Function::Atan2Pi if x == 0.0 || y == 0.0 || x.is_infinite() || y.is_infinite() || x.abs() == y.abs() => {
            // A whole number of eighths of a turn; zero keeps its sign.
            Some((x.atan2(y) / core::f64::consts::FRAC_PI_4).round() / 4.0)
        }
        Function::Erfc if x == 0.0 => Some(1.0),
        Function::Erf if x.is_infinite() => Some(1f64.copysign(x)),
        Function::Erfc if x.is_infinite() => Some(1.0 - 1f64.copysign(x)),
        _ => None,
    }
}

/// A number that rounds as the result does, which lies closer to 1, 2 or 1/2 than any number of a format.
pub(crate) fn near(function: Function, x: f64, y: f64) -> Option<ExactNumber> {
    let above = |negative, exponent: i32| ExactNumber {
        negative,
        quantum: exponent - 100,
        significand: 1 << 100,
        sticky: true,
    };
    let negative = x < 0.0;
    match function {
        Function::Erfc if x.abs() < TINY => Some(if negative { above(false, 0) } else { below(false, 0) }),
        Function::Erfc if x < -6.0 => Some(below(false, 1)),
        Function::AcosPi if x.abs() < TINY => Some(if negative { above(false, -1) } else { below(false, -1) }),
        Function::AtanPi if x.abs() > 1.0 / TINY => Some(below(negative, -1)),
        Function::Atan2Pi if x.abs() * TINY > y.abs() => {
            Some(if y < 0.0 { above(negative, -1) } else { below(negative, -1) })
        }
        Function::Atan2Pi if y < 0.0 && x.abs() < y.abs() * TINY => Some(below(negative, 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use roundonce_arith::{Format, Profile, Rounding};

    use crate::{Function, approximate};

    fn double(function: Function, rounding: Rounding, x: f64, y: f64) -> f64 {
        let operands = [x.to_bits(), y.to_bits()];
        f64::from_bits(approximate(&Profile::NVIDIA, function, Format::F64, rounding, false, operands))
    }

    /// Of a computation with 3000 bits, rounded to the nearest double and printed.
    #[test]
    fn nearest_doubles() {
        use Function::{AcosPi, AsinPi, Atan2Pi, AtanPi, Erfc, TanPi};
        #[rustfmt::skip] // A case a line.
        let cases = [
            (Erfc, 0.3, 0.0, 0.671_373_240_540_872_6),
            (Erfc, -0.7, 0.0, 1.677_801_193_837_418_4),
            (Erfc, 3.0, 0.0, 2.209_049_699_858_544e-5),
            (Erfc, 10.0, 0.0, 2.088_487_583_762_545e-45),
            (Erfc, 26.0, 0.0, 5.663_192_408_856_143e-296),
            (TanPi, 0.3, 0.0, 1.376_381_920_471_173_4),
            (TanPi, -0.7, 0.0, 1.376_381_920_471_174),
            (TanPi, 0.999, 0.0, -0.003_141_602_989_056_159),
            (TanPi, 1_000_000.375, 0.0, 2.414_213_562_373_095),
            (AsinPi, 0.3, 0.0, 0.096_986_684_020_678_28),
            (AsinPi, 0.999, 0.0, 0.485_763_562_593_760_36),
            (AcosPi, -0.7, 0.0, 0.746_816_688_893_365),
            (AcosPi, 0.999, 0.0, 0.014_236_437_406_239_661),
            (AtanPi, 0.3, 0.0, 0.092_773_579_077_742_34),
            (AtanPi, 1_000_000.375, 0.0, 0.499_999_681_690_233_2),
            (Atan2Pi, 1.0, 3.0, 0.102_416_382_349_566_72),
            (Atan2Pi, 1.0, -3.0, 0.897_583_617_650_433_3),
            (Atan2Pi, -2.5, -0.1, -0.512_725_611_347_991_9),
            (Atan2Pi, 1e-3, -7.0, 0.999_954_527_159_425_9),
        ];
        for (function, x, y, expected) in cases {
            assert_eq!(double(function, Rounding::NearestEven, x, y), expected, "{function:?} {x} {y}");
        }
    }

    /// Rational results, in every direction; and those a hair beside them, which the direction moves.
    #[test]
    fn rational_and_nearly() {
        use Function::{AcosPi, AsinPi, Atan2Pi, AtanPi, Erfc, TanPi};
        let infinity = f64::INFINITY;
        let exact = [
            (TanPi, 0.25, 0.0, 1.0),
            (TanPi, -0.75, 0.0, 1.0),
            (TanPi, 1.5, 0.0, -infinity),
            (TanPi, 2.5, 0.0, infinity),
            (TanPi, 3.0, 0.0, -0.0),
            (TanPi, -3.0, 0.0, 0.0),
            (TanPi, -0.0, 0.0, -0.0),
            (AsinPi, -1.0, 0.0, -0.5),
            (AsinPi, -0.0, 0.0, -0.0),
            (AcosPi, -1.0, 0.0, 1.0),
            (AcosPi, 1.0, 0.0, 0.0),
            (AcosPi, 0.0, 0.0, 0.5),
            (AtanPi, -1.0, 0.0, -0.25),
            (AtanPi, -infinity, 0.0, -0.5),
            (Atan2Pi, -3.0, -3.0, -0.75),
            (Atan2Pi, -0.0, -2.0, -1.0),
            (Atan2Pi, -0.0, 2.0, -0.0),
            (Atan2Pi, infinity, -infinity, 0.75),
            (Erfc, 0.0, 0.0, 1.0),
            (Erfc, -infinity, 0.0, 2.0),
            (Erfc, infinity, 0.0, 0.0),
        ];
        for rounding in [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up] {
            for (function, x, y, expected) in exact {
                let found = double(function, rounding, x, y);
                assert_eq!(found.to_bits(), expected.to_bits(), "{function:?} {x} {y} {rounding:?}: {found}");
            }
        }
        let nearly: [(Function, f64, f64, f64, bool); 8] = [
            (Erfc, 1e-300, 0.0, 1.0, true),
            (Erfc, -1e-300, 0.0, 1.0, false),
            (Erfc, -20.0, 0.0, 2.0, true),
            (AcosPi, 1e-300, 0.0, 0.5, true),
            (AcosPi, -1e-300, 0.0, 0.5, false),
            (AtanPi, 1e300, 0.0, 0.5, true),
            (Atan2Pi, 1e300, -1e-10, 0.5, false),
            (Atan2Pi, 1e-300, -1.0, 1.0, true),
        ];
        for (function, x, y, edge, is_below) in nearly {
            let found = [Rounding::Down, Rounding::NearestEven, Rounding::Up].map(|it| double(function, it, x, y));
            let expected = if is_below { [edge.next_down(), edge, edge] } else { [edge, edge, edge.next_up()] };
            assert_eq!(found, expected, "{function:?} {x} {y}");
        }
        assert!(double(TanPi, Rounding::NearestEven, infinity, 0.0).is_nan());
        assert!(double(AsinPi, Rounding::NearestEven, 1.5, 0.0).is_nan());
    }

    /// Single precision's filter agrees with double precision's 192 bits, which decide always.
    #[test]
    fn filter_and_long() {
        use Function::{AcosPi, AsinPi, AtanPi, Erfc, TanPi};
        for function in [AcosPi, AsinPi, AtanPi, Erfc, TanPi] {
            for step in -150i32..150 {
                let x = step as f32 / 151.3;
                let even = Rounding::NearestEven;
                let single = approximate(&Profile::NVIDIA, function, Format::F32, even, false, [x.to_bits().into(), 0]);
                let long = double(function, even, x.into(), 0.0) as f32;
                assert_eq!(single, u64::from(long.to_bits()), "{function:?} {x}");
            }
        }
    }
}
