//! Finite results that no double holds: larger than any, or smaller.

use roundonce_arith::ExactNumber;

use crate::Function;

/// A number that rounds as the result does, where the host's is an infinity or a zero and the result is neither.
pub(crate) fn beyond_doubles(function: Function, x: f64, y: f64, guess: f64) -> Option<ExactNumber> {
    let (grows, vanishes) = match function {
        Function::Exp | Function::Exp2 | Function::Exp10 => (true, true),
        Function::Sinh | Function::Cosh | Function::ExpM1 => (true, false),
        Function::Pow => (x != 0.0 && y.is_finite(), x != 0.0 && y.is_finite()),
        Function::Hypot => (true, false),
        Function::Atan2 | Function::Atan2Pi => (false, x != 0.0 && y.is_finite()),
        Function::Erfc => (false, true),
        _ => (false, false),
    };
    // Far beyond the largest double, and far below the smallest.
    let quantum = match guess {
        _ if !x.is_finite() => return None,
        guess if guess.is_infinite() && grows => 2000,
        guess if guess == 0.0 && vanishes => -2000,
        _ => return None,
    };
    Some(ExactNumber { negative: guess.is_sign_negative(), quantum, significand: 1, sticky: true })
}

#[cfg(test)]
mod tests {
    use roundonce_arith::{Format, Profile, Rounding};

    use crate::{Function, approximate};

    /// The largest number or an infinity, zero or the smallest number: as the direction says.
    #[test]
    fn directions_beyond_the_range() {
        use Rounding::{Down, NearestEven, TowardZero, Up};
        const MAX: f64 = f64::MAX;
        const INF: f64 = f64::INFINITY;
        const LEAST: f64 = f64::from_bits(1);
        for (function, x, y, expected) in [
            (Function::Sinh, -838.4, 0.0, [-INF, -MAX, -INF, -MAX]),
            (Function::Exp, 800.0, 0.0, [INF, MAX, MAX, INF]),
            (Function::Exp, -800.0, 0.0, [0.0, 0.0, 0.0, LEAST]),
            (Function::Pow, 10.0, 400.0, [INF, MAX, MAX, INF]),
            (Function::Pow, -10.0, -401.0, [-0.0, -0.0, -LEAST, -0.0]),
            (Function::Hypot, 1.7e308, 1.7e308, [INF, MAX, MAX, INF]),
            // Those that are infinite, or zero.
            (Function::Pow, 0.0, -1.0, [INF; 4]),
            (Function::Exp, -INF, 0.0, [0.0; 4]),
            (Function::Pow, 2.0, INF, [INF; 4]),
        ] {
            let of = |rounding| {
                let operands = [x, y].map(f64::to_bits);
                f64::from_bits(approximate(&Profile::NVIDIA, function, Format::F64, rounding, false, operands))
            };
            let found = [NearestEven, TowardZero, Down, Up].map(of);
            assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{function:?} {x} {y}: {found:?}");
        }
    }
}
