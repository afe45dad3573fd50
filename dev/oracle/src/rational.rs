//! The whole pipeline on exact rationals, for any format.
//!
//! Every operand and every product is a whole multiple of one tiny power of two, the unit; a value is therefore a big
//! integer, counted in units, and nothing is lost anywhere before the one rounding.

use num_bigint::BigUint;

use crate::special::{Dyadic, Prepared, prepare};
use crate::{Direction, FlushRule, INEXACT, Layout, OVERFLOW, Shape, Spec, UNDERFLOW, Verdict, rectified, saturated};

/// The result of the pipeline on `[a, b, c]`.
pub fn judge(spec: &Spec, operands: [u64; 3]) -> Verdict {
    let [a, b, c] = operands;
    // Of either sign; the addend does not count.
    if spec.oob_nan.is_some_and(|nan| a & 0x7fff == nan || b & 0x7fff == nan) {
        return Verdict { bits: 0, flags: 0 };
    }
    if spec.shape == Shape::TruncatedMulAdd && addend_is_zero(spec, c) {
        let two = Spec { flush: spec.flush.and(spec.flush_of_two.or(spec.flush)), ..*spec };
        let product = judge(&Spec { shape: Shape::Mul, saturate: false, relu: false, ..two }, [a, b, 0]);
        let sum = Spec { shape: Shape::Add, factors: spec.to, negate_a: false, ..two };
        let sum = judge(&sum, [product.bits, 0, c]);
        return Verdict { bits: sum.bits, flags: product.flags | sum.flags };
    }
    let mut verdict = match prepare(spec, operands) {
        Prepared::Decided(verdict) => verdict,
        Prepared::Terms { product, addend } => numbers(spec, product, addend),
    };
    if spec.saturate {
        verdict.bits = saturated(spec.to, verdict.bits);
        if spec.fmz_nan_is_zero && zero_meets_nan(spec, a, b) {
            verdict.bits = 0;
        }
    }
    if spec.relu {
        verdict.bits = rectified(spec.to, verdict.bits);
    }
    verdict
}

/// ±significand × 2^exponent, or slightly more in magnitude if `more`, as a number of `to`.
pub fn number(
    to: Layout,
    direction: Direction,
    negative: bool,
    significand: u128,
    exponent: i32,
    more: bool,
) -> Verdict {
    number_as(&Spec::new(Shape::MulAdd, to, direction), negative, significand, exponent, more)
}

/// The same, rounded and flushed as an operation says.
pub fn number_as(spec: &Spec, negative: bool, significand: u128, exponent: i32, more: bool) -> Verdict {
    let unit = exponent.min(spec.to.quantum()) - 2;
    let magnitude = (BigUint::from(significand) << (exponent - unit)) + u32::from(more);
    rounded(spec, unit, negative, &magnitude)
}

fn addend_is_zero(spec: &Spec, c: u64) -> bool {
    let magnitude = c & spec.to.magnitude();
    magnitude == 0 || (spec.flush.is_some() && magnitude < spec.to.smallest_normal())
}

/// Whether one factor counts as a zero that makes the product +0, and the other is a NaN.
fn zero_meets_nan(spec: &Spec, a: u64, b: u64) -> bool {
    let is_zero = |bits: u64| {
        let magnitude = bits & spec.factors.magnitude();
        // As in `meaning`: subnormal in the format that computes.
        let is_subnormal = magnitude < spec.factors.smallest_normal()
            && spec.factors.quantum() + (magnitude.max(1).ilog2() as i32) < spec.to.emin();
        magnitude == 0 || spec.flush.is_some() && is_subnormal
    };
    let pair = |x, y| is_zero(x) && spec.factors.is_nan(y);
    spec.fmz && spec.shape != Shape::Add && (pair(a, b) || pair(b, a))
}

/// Steps 6 to 9.
fn numbers(spec: &Spec, product: Dyadic, addend: Option<Dyadic>) -> Verdict {
    let to = spec.to;
    // Two places below the finest thing there is: half a quantum exists, and half of half a one.
    let finest = spec.layouts().map(Layout::quantum).into_iter().min().unwrap_or(0);
    let unit = (2 * finest).min(to.quantum()) - 2;
    let in_units = |term: &Dyadic| {
        let shift = u32::try_from(term.exponent - unit).expect("nothing is finer than the unit");
        BigUint::from(term.significand) << shift
    };

    let mut exact_product = in_units(&product);
    let mut truncated = false;
    if spec.shape == Shape::TruncatedMulAdd {
        let excess = exact_product.bits().saturating_sub(to.precision() as u64);
        let cut = (&exact_product >> excess) << excess;
        truncated = cut != exact_product;
        exact_product = cut;
    }
    let (negative, magnitude) = match addend {
        None => (product.negative, exact_product),
        Some(addend) => {
            let exact_addend = in_units(&addend);
            if product.negative == addend.negative {
                (product.negative, exact_product + exact_addend)
            } else if exact_product == exact_addend {
                (spec.direction == Direction::Down, BigUint::ZERO)
            } else if exact_product > exact_addend {
                (product.negative, exact_product - exact_addend)
            } else {
                (addend.negative, exact_addend - exact_product)
            }
        }
    };
    let mut verdict = rounded(spec, unit, negative, &magnitude);
    if truncated {
        verdict.flags |= INEXACT;
    }
    verdict
}

/// Steps 8 and 9 for ±magnitude units.
fn rounded(spec: &Spec, unit: i32, negative: bool, magnitude: &BigUint) -> Verdict {
    let to = spec.to;
    let sign = if negative { to.sign() } else { 0 };
    if *magnitude == BigUint::ZERO {
        return Verdict { bits: sign, flags: 0 };
    }
    let exponent = magnitude.bits() as i32 - 1 + unit;
    // The spacing of the format's numbers around the value, without and with the lower bound on exponents.
    let unbounded = exponent - to.frac_bits as i32;
    let spacing = unbounded.max(to.quantum());
    let (count, inexact) = to_multiple(spec.direction, negative, magnitude, spacing - unit);
    let mut flags = if inexact { INEXACT } else { 0 };

    // count × 2^spacing at or beyond 2^(emax + 1)?
    let full = 1_u64 << to.precision();
    let (count, spacing) = if count == full { (full >> 1, spacing + 1) } else { (count, spacing) };
    if count >= full >> 1 && spacing + to.frac_bits as i32 > to.emax() {
        let finite = match spec.direction {
            Direction::Nearest => false,
            Direction::Zero => true,
            Direction::Down => !negative,
            Direction::Up => negative,
        };
        let bits = if finite { to.infinity() - 1 } else { to.infinity() };
        return Verdict { bits: sign | bits, flags: OVERFLOW | INEXACT };
    }

    let small_exact = exponent < to.emin();
    // Only a carry into the next power of two reaches the smallest normal number.
    let carries = || to_multiple(spec.direction, negative, magnitude, unbounded - unit).0 == full;
    let small_rounded = small_exact && !(exponent + 1 == to.emin() && carries());
    let delivered_subnormal = count < full >> 1;
    let flushed = match spec.flush {
        None => false,
        Some(FlushRule::Delivered) => delivered_subnormal,
        Some(FlushRule::Rounded) => small_rounded,
        Some(FlushRule::Exact) => small_exact,
    };
    if flushed {
        return Verdict { bits: sign, flags: INEXACT | UNDERFLOW };
    }
    if inexact && if spec.underflow_before_rounding { small_exact } else { small_rounded } {
        flags |= UNDERFLOW;
    }
    let bits = if delivered_subnormal {
        count
    } else {
        (((spacing - to.quantum() + 1) as u64) << to.frac_bits) + (count - (full >> 1))
    };
    Verdict { bits: sign | bits, flags }
}

/// How many 2^shift there are in `value`, rounded, and whether there was a rest.
fn to_multiple(direction: Direction, negative: bool, value: &BigUint, shift: i32) -> (u64, bool) {
    let shift = u32::try_from(shift).expect("nothing is finer than the unit");
    let below = value >> shift;
    let rest = value - (&below << shift);
    let below = u64::try_from(&below).expect("a significand has at most 53 bits");
    if rest == BigUint::ZERO {
        return (below, false);
    }
    let twice = rest << 1_u32;
    let whole = BigUint::from(1_u32) << shift;
    let away = match direction {
        Direction::Nearest => twice > whole || (twice == whole && below % 2 == 1),
        Direction::Zero => false,
        Direction::Down => negative,
        Direction::Up => !negative,
    };
    (below + away as u64, true)
}
