//! Functions that hardware approximates, correctly rounded.
//!
//! The host's f64 functions serve as a filter (Ziv's test): where the result with its error bound rounds one way, that
//! is the answer whatever the host computed exactly; where it does not, 192 bits decide. The bits therefore do not
//! depend on the host.

use core::f64::consts::PI;
use std::cell::RefCell;

use astro_float_num::{BigFloat, Consts, RoundingMode};
use roundonce_arith::{ExactNumber, Format, Profile, Rounding, Tininess, Unpacked, unpack, widen};

use crate::{divide, flushed, reciprocal_square_root, square_root};
use crate::{range, roots, turns};

/// Functions that hardware approximates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // Each is what its name says, of `a`, or of `a` and `b`.
pub enum Function {
    Divide,
    Reciprocal,
    ReciprocalSquareRoot,
    SquareRoot,
    Exp2,
    Log2,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
    Erf,
    Exp10,
    Log10,
    ExpM1,
    Log1P,
    Cbrt,
    Hypot,
    SinPi,
    CosPi,
    Erfc,
    TanPi,
    AsinPi,
    AcosPi,
    AtanPi,
    Atan2Pi,
    /// IEEE 754's pown: `Pow` with an integer, of which no bit is lost to the format.
    Pown,
    /// IEEE 754's powr: exp(b × ln a), and a NaN where that has no value.
    Powr,
    /// The root of `a` whose degree is the integer `b`.
    Root,
}

impl Function {
    /// Whether `b` is an integer of 32 bits, signed, and no number of the format.
    pub const fn takes_integer(self) -> bool {
        matches!(self, Function::Pown | Function::Root)
    }
}

/// What the host's functions are trusted to, relative: theirs is 2^-50 or better, but for differences of logarithms.
const TRUSTED: f64 = 1.0 / (1u64 << 36) as f64;
/// Bits of the second try.
const PRECISION: usize = 192;

/// A function of `a` (or of `a` and `b`), rounded once.
///
/// ```
/// use roundonce_arith::{Format, Profile, Rounding};
/// use roundonce_functions::{Function, approximate};
/// let sine = approximate(&Profile::NVIDIA, Function::Sin, Format::F32, Rounding::NearestEven, false, [0x3f80_0000, 0]);
/// assert_eq!(sine, 0x3f57_6aa4);
/// ```
pub fn approximate(
    profile: &Profile,
    function: Function,
    format: Format,
    rounding: Rounding,
    flush: bool,
    [a, b]: [u64; 2],
) -> u64 {
    match function {
        Function::Divide => return divide(profile, format, rounding, flush, a, b),
        Function::Reciprocal => return divide(profile, format, rounding, flush, format.one(), a),
        Function::SquareRoot => return square_root(profile, format, rounding, flush, a),
        Function::ReciprocalSquareRoot => return reciprocal_square_root(profile, format, rounding, flush, a),
        _ => {}
    }
    let clean = |bits| flushed(format, flush, bits);
    let two =
        matches!(function, Function::Atan2 | Function::Atan2Pi | Function::Pow | Function::Powr | Function::Hypot);
    let (a, b) = (clean(a), if two { clean(b) } else { b });
    let (x, y) = (host(format, a), if function.takes_integer() { f64::from(b as i32) } else { host(format, b) });
    // An infinite leg makes an infinite hypotenuse, whatever the other is.
    if function == Function::Hypot && (x.is_infinite() || y.is_infinite()) {
        return format.infinity();
    }
    // 1 to any power, and anything to the power of 0, is 1: where the other is a NaN too.
    if matches!(function, Function::Pow | Function::Pown) && (x == 1.0 || y == 0.0) {
        return format.one();
    }
    if format.is_nan(a) || (two && format.is_nan(b)) {
        return if two { profile.nan_of_pair(format, a, b) } else { profile.nan_result(format, Some(a)) };
    }
    let to = Destination { format, rounding, flush: flush.then_some(profile.tininess) };
    match function {
        Function::Powr if (y * x.ln()).is_nan() => profile.nan_result(format, None),
        Function::Powr => finite(profile, Function::Pow, to, x.abs(), y),
        Function::Pown => finite(profile, Function::Pow, to, x, y),
        _ => finite(profile, function, to, x, y),
    }
}

/// What a result is rounded to.
#[derive(Clone, Copy)]
struct Destination {
    format: Format,
    rounding: Rounding,
    /// Subnormal results become zero, by this criterion.
    flush: Option<Tininess>,
}

impl Destination {
    fn rounded(self, exact: ExactNumber) -> u64 {
        exact.round_and_flush(self.format, self.rounding, self.flush).bits
    }
}

/// A value of a format up to f64 as the host's.
pub(crate) fn host(format: Format, bits: u64) -> f64 {
    f64::from_bits(widen(format, Format::F64, bits))
}

/// A host's value rounded.
fn rounded(to: Destination, value: f64) -> u64 {
    let format = to.format;
    match unpack(Format::F64, value.to_bits()) {
        Unpacked::Finite(x) => to.rounded(x.into()),
        Unpacked::Zero { negative } => {
            if negative {
                format.sign_mask()
            } else {
                0
            }
        }
        Unpacked::Infinite { negative } => format.infinity() | if negative { format.sign_mask() } else { 0 },
        Unpacked::Nan { .. } => format.magnitude_mask(),
    }
}

fn finite(profile: &Profile, function: Function, to: Destination, x: f64, y: f64) -> u64 {
    let format = to.format;
    if let Some(exact) = turns::exactly(function, x, y) {
        return rounded(to, exact);
    }
    if let Some(near) = turns::near(function, x, y) {
        return to.rounded(near);
    }
    let guess = match function {
        Function::Exp2 => x.exp2(),
        Function::Log2 => x.log2(),
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Atan2 => x.atan2(y),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Asinh => x.asinh(),
        Function::Acosh => x.acosh(),
        Function::Atanh => x.atanh(),
        Function::Pow => match exact_power(x, y) {
            Some(power) => return rounded(to, power),
            None => x.powf(y),
        },
        // Beyond six it is 1 to more than any format's precision.
        Function::Erf if x.abs() > 6.0 => return to.rounded(below(x < 0.0, 0)),
        Function::Erf => libm::erf(x),
        Function::Exp10 => exp10(x),
        Function::Log10 => x.log10(),
        Function::ExpM1 => x.exp_m1(),
        Function::Log1P => x.ln_1p(),
        Function::Cbrt => x.cbrt(),
        Function::Hypot => x.hypot(y),
        Function::SinPi | Function::CosPi => of_turns(function, x),
        Function::Erfc => libm::erfc(x),
        Function::TanPi => (PI * turns::part(x)).tan(),
        Function::AsinPi => x.asin() / PI,
        Function::AcosPi => x.acos() / PI,
        Function::AtanPi => x.atan() / PI,
        Function::Atan2Pi => x.atan2(y) / PI,
        Function::Root => match roots::exactly(x, y) {
            Some(root) => return rounded(to, root),
            None => roots::guess(x, y),
        },
        Function::Divide
        | Function::Reciprocal
        | Function::ReciprocalSquareRoot
        | Function::SquareRoot
        | Function::Pown
        | Function::Powr => x,
    };
    if guess.is_nan() {
        return profile.nan_result(format, None);
    }
    if let Some(result) = range::beyond_doubles(function, x, y, guess) {
        return to.rounded(result);
    }
    let trusted = format != Format::F64 || !guess.is_finite() || guess == 0.0;
    let (low, high) = (rounded(to, guess - guess * TRUSTED), rounded(to, guess + guess * TRUSTED));
    if trusted && low == high {
        return low;
    }
    let is_host_exact = format != Format::F64 || function == Function::Hypot;
    if guess == 0.0 || guess.is_infinite() || (is_host_exact && is_exact(function, x, y)) {
        return rounded(to, guess);
    }
    match (precisely(function, x, y), unpack(Format::F64, guess.to_bits())) {
        (Some(exact), _) => to.rounded(exact),
        // The host's value of what is irrational.
        (None, Unpacked::Finite(guess)) => to.rounded(ExactNumber { sticky: true, ..guess.into() }),
        (None, _) => rounded(to, guess),
    }
}

/// A number between 2^exponent and the next below it in any format.
pub(crate) fn below(negative: bool, exponent: i32) -> ExactNumber {
    ExactNumber { negative, quantum: exponent - 100, significand: (1 << 100) - 1, sticky: true }
}

/// The error function by its series: 2/√π × Σ (−1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1)). The largest term is below e^(x²) and the
/// terms lose as many bits, as does what is left of 1 in the complement: the precision has them to spare.
fn error_function(x: &BigFloat, square: f64, constants: &mut Consts) -> BigFloat {
    // Two times log2 e is below three.
    let square = square as u32;
    let (p, mode) = (PRECISION + 64 + 3 * square as usize, RoundingMode::ToEven);
    let minus_square = x.mul(x, p, mode).neg();
    let (mut power, mut sum) = (x.clone(), x.clone());
    for n in 1..200 + 10 * square {
        power = power.mul(&minus_square, p, mode).div(&BigFloat::from_u32(n, p), p, mode);
        let term = power.div(&BigFloat::from_u32(2 * n + 1, p), p, mode);
        sum = sum.add(&term, p, mode);
        // Behind the largest term each is smaller than the one before.
        let is_small = |(term, sum): (i32, i32)| term < sum - p as i32;
        if term.exponent().zip(sum.exponent()).is_some_and(is_small) {
            break;
        }
    }
    let root = constants.pi(p, mode).sqrt(p, mode);
    sum.mul(&BigFloat::from_u32(2, p), p, mode).div(&root, p, mode)
}

/// 1 − erf(x).
fn complement(x: &BigFloat, square: f64, constants: &mut Consts) -> BigFloat {
    let error = error_function(x, square, constants);
    let p = error.mantissa_max_bit_len().unwrap_or(PRECISION);
    BigFloat::from_u32(1, p).sub(&error, p, RoundingMode::ToEven)
}

/// x^y as exp(y × ln |x|), whose steps never meet a number of few bits: the library's own powers do not end where the
/// result has a finite number of bits but more than are asked for.
fn power(x: &BigFloat, y: &BigFloat, constants: &mut Consts) -> BigFloat {
    let (p, mode) = (PRECISION + 64, RoundingMode::ToEven);
    if x.is_negative() && !y.is_int() {
        return BigFloat::nan(None);
    }
    let magnitude = x.abs().ln(p, mode, constants).mul(y, p, mode).exp(p, mode, constants);
    let is_even = y.rem(&BigFloat::from_u32(2, p)).is_zero();
    if x.is_negative() && !is_even { magnitude.neg() } else { magnitude }
}

/// The square of a number that a double holds, about.
fn square(x: &BigFloat) -> f64 {
    let magnitude = bits_of_big(x).map_or(0.0, |exact| f64::from_bits(exact.round(Format::F64, Rounding::Up).bits));
    magnitude * magnitude
}

/// Where the result is rational and the host's exact.
fn is_exact(function: Function, x: f64, y: f64) -> bool {
    match function {
        Function::Exp2 => x.fract() == 0.0,
        Function::Log2 => x.to_bits() << 12 == 0,
        // In f32 the others' rational results are none that lie half way between two numbers.
        Function::Exp10 => x.fract() == 0.0 && (0.0..=22.0).contains(&x),
        Function::SinPi | Function::CosPi => (2.0 * x).fract() == 0.0,
        Function::Hypot => x == 0.0 || y == 0.0 || is_whole_root(x, y),
        _ => x == 0.0,
    }
}

/// Whether √(x² + y²) is what the host computes, to the last bit.
fn is_whole_root(x: f64, y: f64) -> bool {
    // Below it the errors of squares are no doubles.
    const LEAST: f64 = 1e-100;
    let (root, [a, b]) = (x.hypot(y), [x * x, y * y]);
    let sum = a + b;
    let is_square = |side: f64, square: f64| side.abs() > LEAST && side.mul_add(side, -square) == 0.0;
    sum.is_finite() && is_square(x, a) && is_square(y, b) && (sum - a == b && sum - b == a) && is_square(root, sum)
}

/// Ten to the power of whole numbers is the decimal's own.
fn exp10(x: f64) -> f64 {
    if x.fract() == 0.0 && x.abs() < 400.0 {
        let text = format!("1e{x}");
        return text.parse().unwrap_or(f64::NAN);
    }
    10f64.powf(x)
}

/// Sine and cosine of π × x: of whole and half turns exact.
fn of_turns(function: Function, x: f64) -> f64 {
    // Exact: an even number of half turns changes nothing.
    let turn = x % 2.0;
    let turn = if turn > 1.0 {
        turn - 2.0
    } else if turn < -1.0 {
        turn + 2.0
    } else {
        turn
    };
    let sine = |turn: f64| {
        // sin(π − z) is sin z: below half a turn the host's error stays small.
        let folded = if turn.abs() > 0.5 { turn.signum() - turn } else { turn };
        (PI * folded).sin()
    };
    match function {
        // Zero has the sign of x.
        Function::SinPi if turn.abs() == 1.0 || turn == 0.0 => 0f64.copysign(x),
        Function::SinPi => sine(turn),
        _ if turn.abs() == 0.5 => 0.0,
        // cos(π z) = sin(π (1/2 − |z|)): exact where it is near zero.
        _ if turn.abs() > 0.25 => sine(0.5 - turn.abs()),
        _ => (PI * turn).cos(),
    }
}

/// x^y for a small whole y where no step rounds.
pub(crate) fn exact_power(x: f64, y: f64) -> Option<f64> {
    if y.fract() != 0.0 || !(1.0..=64.0).contains(&y) || !x.is_finite() {
        return None;
    }
    let mut power = x;
    for _ in 1..y as u32 {
        let next = power * x;
        if power.mul_add(x, -next) != 0.0 || !next.is_normal() {
            return None;
        }
        power = next;
    }
    Some(power)
}

thread_local! {
    static CONSTANTS: RefCell<Option<Consts>> = RefCell::new(Consts::new().ok());
}

/// 126 bits of the result, which is not a number of so few bits.
fn precisely(function: Function, x: f64, y: f64) -> Option<ExactNumber> {
    let [big, other] = [x, y].map(|value| BigFloat::from_f64(value, PRECISION));
    let mut result = function_of_big(function, &big, &other)?;
    if !matches!(function, Function::Pow | Function::Exp2 | Function::Exp10) {
        return bits_of_big(&result).map(|exact| ExactNumber { sticky: true, ..exact });
    }
    // A power may be a number of few bits, or half way between two such: then it is that, not something close to it.
    result.set_precision(128, RoundingMode::ToEven).ok()?;
    bits_of_big(&result).map(|exact| ExactNumber { sticky: exact.significand as u64 != 0, ..exact })
}

/// The leading 128 bits of a finite number that is not zero.
pub(crate) fn bits_of_big(number: &BigFloat) -> Option<ExactNumber> {
    let (words, _, sign, exponent, _) = number.as_raw_parts().filter(|_| !number.is_zero())?;
    let top = words.iter().rev().take(2).fold((0u128, 0), |(all, taken), &word| {
        ((all << astro_float_num::WORD_BIT_SIZE) | word as u128, taken + astro_float_num::WORD_BIT_SIZE)
    });
    let quantum = exponent.checked_sub(top.1 as i32)?;
    let sticky = words.iter().rev().skip(2).any(|&word| word != 0);
    Some(ExactNumber { negative: sign == astro_float_num::Sign::Neg, quantum, significand: top.0, sticky })
}

/// A function of one argument or two, in [`PRECISION`] bits. `None` of those that have a file of their own, and of
/// `Atan2`, which stays with the host's value: in single precision its ties are out of reach.
pub(crate) fn function_of_big(function: Function, big: &BigFloat, other: &BigFloat) -> Option<BigFloat> {
    CONSTANTS.with_borrow_mut(|constants| {
        let constants = constants.as_mut()?;
        let (p, mode) = (PRECISION, RoundingMode::ToEven);
        let turns = || big.rem(&BigFloat::from_f64(2.0, p));
        let result = match function {
            Function::Exp2 => power(&BigFloat::from_f64(2.0, p), big, constants),
            Function::Log2 => big.log2(p, mode, constants),
            Function::Exp => big.exp(p, mode, constants),
            Function::Log => big.ln(p, mode, constants),
            Function::Sin => big.sin(p, mode, constants),
            Function::Cos => big.cos(p, mode, constants),
            Function::Tan => big.tan(p, mode, constants),
            Function::Asin => big.asin(p, mode, constants),
            Function::Acos => big.acos(p, mode, constants),
            Function::Atan => big.atan(p, mode, constants),
            Function::Sinh => big.sinh(p, mode, constants),
            Function::Cosh => big.cosh(p, mode, constants),
            Function::Tanh => big.tanh(p, mode, constants),
            Function::Asinh => big.asinh(p, mode, constants),
            Function::Acosh => big.acosh(p, mode, constants),
            Function::Atanh => big.atanh(p, mode, constants),
            Function::Powr if big.is_negative() => BigFloat::nan(None),
            Function::Pow | Function::Pown | Function::Powr => power(big, other, constants),
            Function::Root => roots::root(big, other, PRECISION + 64, constants),
            // Nearer to 1 than the precision.
            Function::Erf if square(big) > 800.0 => BigFloat::from_f64(if big.is_negative() { -1.0 } else { 1.0 }, p),
            Function::Erfc if square(big) > 800.0 => return None,
            Function::Erf => error_function(big, square(big), constants),
            Function::Erfc => complement(big, square(big), constants),
            Function::TanPi => {
                let turns = big.rem(&BigFloat::from_f64(1.0, p));
                constants.pi(p, mode).mul(&turns, p, mode).tan(p, mode, constants)
            }
            Function::AsinPi => big.asin(p, mode, constants).div(&constants.pi(p, mode), p, mode),
            Function::AcosPi => big.acos(p, mode, constants).div(&constants.pi(p, mode), p, mode),
            Function::AtanPi => big.atan(p, mode, constants).div(&constants.pi(p, mode), p, mode),
            Function::Atan2Pi => {
                let angle = big.div(other, p, mode).atan(p, mode, constants).div(&constants.pi(p, mode), p, mode);
                let half = BigFloat::from_f64(if big.is_negative() { -1.0 } else { 1.0 }, p);
                if other.is_negative() { angle.add(&half, p, mode) } else { angle }
            }
            Function::Exp10 => power(&BigFloat::from_f64(10.0, p), big, constants),
            Function::Log10 => big.log10(p, mode, constants),
            // 192 bits leave enough where the difference is small, of an f32.
            Function::ExpM1 => big.exp(p, mode, constants).sub(&BigFloat::from_f64(1.0, p), p, mode),
            Function::Log1P => big.add(&BigFloat::from_f64(1.0, p), p, mode).ln(p, mode, constants),
            Function::Cbrt => big.cbrt(p, mode),
            Function::Hypot => big.mul(big, p, mode).add(&other.mul(other, p, mode), p, mode).sqrt(p, mode),
            Function::SinPi => constants.pi(p, mode).mul(&turns(), p, mode).sin(p, mode, constants),
            Function::CosPi => constants.pi(p, mode).mul(&turns(), p, mode).cos(p, mode, constants),
            _ => return None,
        };
        Some(result)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let f32 = |function, a: u64| {
            approximate(&Profile::NVIDIA, function, Format::F32, Rounding::NearestEven, false, [a, 0])
        };
        assert_eq!(f32(Function::Exp2, 0x4040_0000), 0x4100_0000);
        assert_eq!(f32(Function::Log2, 0x4100_0000), 0x4040_0000);
        assert_eq!(f32(Function::Log2, 0xbf80_0000), 0x7fff_ffff);
        assert_eq!(f32(Function::Log2, 0), 0xff80_0000);
        assert_eq!(f32(Function::Cos, 0), 0x3f80_0000);
        assert_eq!(f32(Function::Sin, 0x8000_0000), 0x8000_0000);
        assert_eq!(f32(Function::Exp2, 0xff80_0000), 0);
        // 1.1⁵ has 265 bits; 134217729² lies half way between two doubles, to even; 3^20 and √(2^-20) are numbers.
        let pow = |x: f64, y: f64| {
            let operands = [x.to_bits(), y.to_bits()];
            let bits =
                approximate(&Profile::NVIDIA, Function::Pow, Format::F64, Rounding::NearestEven, false, operands);
            f64::from_bits(bits)
        };
        assert_eq!(pow(1.1, 5.0), 1.610_510_000_000_000_6);
        assert_eq!(pow(134_217_729.0, 2.0), 18_014_398_777_917_440.0);
        assert_eq!([pow(3.0, 20.0), pow(-3.0, 3.0)], [3_486_784_401.0, -27.0]);
        assert_eq!([pow(2f64.powi(-20), 0.5), pow(2.0, -1074.0)], [2f64.powi(-10), f64::from_bits(1)]);
        let exp10 = |x: f64| {
            let even = Rounding::NearestEven;
            approximate(&Profile::NVIDIA, Function::Exp10, Format::F64, even, false, [x.to_bits(), 0])
        };
        assert_eq!([exp10(100.0), exp10(5.0)], [1e100f64.to_bits(), 1e5f64.to_bits()]);
        let pow = approximate(
            &Profile::NVIDIA,
            Function::Pow,
            Format::F32,
            Rounding::NearestEven,
            false,
            [0x4580_0800, 0x4000_0000],
        );
        assert_eq!(pow, 0x4b80_1000); // 4097² lies half way; to even.
        assert_eq!(f32(Function::Exp10, 0x4040_0000), 0x447a_0000);
        assert_eq!(f32(Function::SinPi, 0xbf80_0000), 0x8000_0000);
        assert_eq!(f32(Function::CosPi, 0x4020_0000), 0);
        assert_eq!(f32(Function::CosPi, 0x3eaa_aaab), 0x3eff_ffff);
        assert_eq!(f32(Function::Cbrt, 0xc1d8_0000), 0xc040_0000);
        let hypot =
            |a, b| approximate(&Profile::NVIDIA, Function::Hypot, Format::F32, Rounding::NearestEven, false, [a, b]);
        assert_eq!(hypot(0x4040_0000, 0xc080_0000), 0x40a0_0000);
        // 5 × 3355445 lies half way between 16777224 and 16777226; to even. Its legs are 24 bits long.
        assert_eq!(hypot(0x4b19_999f, 0x4b4c_ccd4), 0x4b80_0004);
        assert_eq!(hypot(0xff80_0000, 0x7fc0_0000), 0x7f80_0000);
    }

    /// What IEEE 754 says of the three powers, and integers that the format rounds.
    #[test]
    fn powers() {
        let power = |function, format, a, b| {
            approximate(&Profile::NVIDIA, function, format, Rounding::NearestEven, false, [a, b])
        };
        const ONE: u64 = 0x3f80_0000;
        const MINUS_ZERO: u64 = 0x8000_0000;
        const INFINITY: u64 = 0x7f80_0000;
        const NAN: u64 = 0x7fff_ffff;
        let rows = [
            (Function::Pow, ONE, NAN, ONE),
            (Function::Pow, NAN, MINUS_ZERO, ONE),
            (Function::Pow, NAN, ONE, NAN),
            (Function::Pow, 0xbf80_0000, INFINITY, ONE),
            (Function::Pow, MINUS_ZERO, 0xc040_0000, 0xff80_0000),
            (Function::Pown, NAN, 0, ONE),
            (Function::Pown, NAN, 1, NAN),
            (Function::Pown, MINUS_ZERO, 0xffff_fffd, 0xff80_0000),
            (Function::Pown, 0xbf80_0000, 0x0100_0001, 0xbf80_0000),
            (Function::Pown, 0x3f80_0001, 0x02fa_f081, 0x43c1_e522),
            (Function::Powr, ONE, NAN, NAN),
            (Function::Powr, NAN, 0, NAN),
            (Function::Powr, ONE, INFINITY, NAN),
            (Function::Powr, INFINITY, 0, NAN),
            (Function::Powr, MINUS_ZERO, 0, NAN),
            (Function::Powr, 0xc000_0000, 0x4000_0000, NAN),
            (Function::Powr, MINUS_ZERO, 0xc040_0000, INFINITY),
            (Function::Powr, MINUS_ZERO, 0x4040_0000, 0),
            (Function::Powr, 0x4000_0000, 0, ONE),
            (Function::Powr, 0x4110_0000, 0xbf00_0000, 0x3eaa_aaab),
            (Function::Root, 0xbf80_0000, 0x0100_0001, 0xbf80_0000),
            (Function::Root, NAN, 3, NAN),
        ];
        for (function, a, b, expected) in rows {
            assert_eq!(power(function, Format::F32, a, b), expected, "{function:?} {a:#x} {b:#x}");
        }
        let half = |a, b| power(Function::Pown, Format::F16, a, b);
        assert_eq!([half(0xbc00, 2049), half(0x3c00, 70_001), half(0xbc00, 70_001)], [0xbc00, 0x3c00, 0xbc00]);
        assert_eq!(half(0x3c01, 2049), 0x4764); // 7.389; 7.382 of the power 2048.
    }

    /// The second try gives what the first does where both can answer.
    #[test]
    fn both_ways() {
        let functions = [
            Function::Exp2,
            Function::Log2,
            Function::Sin,
            Function::Cos,
            Function::Tanh,
            Function::Exp,
            Function::Log,
            Function::Exp10,
            Function::Log10,
            Function::ExpM1,
            Function::Log1P,
            Function::Cbrt,
            Function::SinPi,
            Function::CosPi,
        ];
        for function in functions {
            for step in 1u32..200 {
                let x = f64::from(step as f32 * 0.137);
                let to = Destination { format: Format::F32, rounding: Rounding::NearestEven, flush: None };
                let first = finite(&Profile::NVIDIA, function, to, x, 0.0);
                let second = to.rounded(precisely(function, x, 0.0).unwrap());
                assert_eq!(first, second, "{function:?} of {x}");
            }
        }
    }

    /// Values of the error function from a table of 50 digits, rounded by hand.
    #[test]
    fn error_functions() {
        let erf =
            |format, a| approximate(&Profile::NVIDIA, Function::Erf, format, Rounding::NearestEven, false, [a, 0]);
        let f32 = |a: f32| erf(Format::F32, a.to_bits().into());
        // erf(0.5) = 0.52049987781304653768…, erf(1) = 0.84270079294971486934…, erf(3) = 0.99997790950300141456…
        assert_eq!(
            [0.5, 1.0, 3.0].map(f32),
            [0.520_499_9f32, 0.842_700_8, 0.999_977_9].map(|it| u64::from(it.to_bits()))
        );
        assert_eq!(erf(Format::F64, (-1f64).to_bits()), (-0.842_700_792_949_714_9f64).to_bits());
        assert_eq!(erf(Format::F64, 5.5f64.to_bits()), 0.999_999_999_999_992_7f64.to_bits());
        assert_eq!(
            [7.0, f32::INFINITY, -9.0, 0.0, -0.0].map(f32),
            [0x3f80_0000, 0x3f80_0000, 0xbf80_0000, 0, 0x8000_0000]
        );
        assert_eq!(erf(Format::F32, 1), 1); // 2/√π × 2^-149 lies nearest to it
        // The filter and the series: 2^-45 to 6.
        for at in 0..300u32 {
            let a = f32::from_bits(0x2900_0000 + at * 0xf_1357);
            let exact = precisely(Function::Erf, a.into(), 0.0).unwrap();
            assert_eq!(f32(a), exact.round(Format::F32, Rounding::NearestEven).bits, "{a}");
        }
    }
}
