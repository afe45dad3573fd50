//! Steps 1 to 6 for the rational judge: everything that is not a number, and the exact terms of what is.

use crate::{INVALID, Layout, NanBits, Shape, Spec, Verdict};

/// An exact term: ±significand × 2^exponent. A zero keeps its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dyadic {
    pub(crate) negative: bool,
    pub(crate) significand: u128,
    pub(crate) exponent: i32,
}

/// What is left to do after step 6.
pub(crate) enum Prepared {
    /// A NaN or an infinity: nothing.
    Decided(Verdict),
    /// To add up and to round. No addend: a product alone.
    Terms { product: Dyadic, addend: Option<Dyadic> },
}

/// An operand's meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Number(Dyadic),
    Infinity {
        negative: bool,
    },
    /// In the bits of the destination.
    Nan {
        bits: u64,
        signalling: bool,
    },
}

fn meaning(layout: Layout, spec: &Spec, bits: u64, negate: bool) -> Meaning {
    let (to, flush) = (spec.to, spec.flush.is_some());
    let negative = (bits & layout.sign() != 0) ^ negate;
    let field = (bits & layout.magnitude()) >> layout.frac_bits;
    let fraction = bits & (layout.smallest_normal() - 1);
    if field == layout.infinity() >> layout.frac_bits {
        if fraction == 0 {
            return Meaning::Infinity { negative };
        }
        // A minus leaves it alone.
        let sign = if bits & layout.sign() != 0 { to.sign() } else { 0 };
        // A NaN wider than the result has no payload to keep.
        let payload = to.frac_bits.checked_sub(layout.frac_bits).map_or(0, |more| fraction << more);
        return Meaning::Nan { bits: sign | to.infinity() | payload, signalling: fraction & layout.quiet() == 0 };
    }
    let (significand, exponent) = if field == 0 {
        (fraction, layout.quantum())
    } else {
        (fraction + layout.smallest_normal(), layout.quantum() + field as i32 - 1)
    };
    // Only the value tells whether an operand is subnormal in the format that computes: a subnormal f16 is a normal
    // f32, and stays.
    let computing = if spec.operands.is_some() { Layout::F32 } else { to };
    let top = exponent + (u64::BITS - significand.leading_zeros()) as i32 - 1;
    let significand = if flush && significand != 0 && top < computing.emin() { 0 } else { significand };
    Meaning::Number(Dyadic { negative, significand: significand as u128, exponent })
}

pub(crate) fn prepare(spec: &Spec, operands: [u64; 3]) -> Prepared {
    let to = spec.to;
    let [of_a, of_b, of_c] = spec.layouts();
    let one = Meaning::Number(Dyadic { negative: false, significand: 1, exponent: 0 });
    // An addition's first operand is a times one.
    let mut a = meaning(of_a, spec, operands[0], spec.negate_a);
    let mut b = if spec.shape == Shape::Add { one } else { meaning(of_b, spec, operands[1], false) };
    let c = (spec.shape != Shape::Mul).then(|| meaning(of_c, spec, operands[2], spec.negate_c));

    let zero = |m: Meaning| matches!(m, Meaning::Number(Dyadic { significand: 0, .. }));
    if spec.fmz && spec.shape != Shape::Add && (zero(a) || zero(b)) {
        a = Meaning::Number(Dyadic { negative: false, significand: 0, exponent: 0 });
        b = one;
    }

    let used = [Some(a), Some(b), c];
    let nans: Vec<(usize, u64, bool)> = used
        .iter()
        .enumerate()
        .filter_map(|(position, m)| match *m {
            Some(Meaning::Nan { bits, signalling }) => Some((position, bits, signalling)),
            _ => None,
        })
        .collect();
    let infinite = |m: Meaning| matches!(m, Meaning::Infinity { .. });
    let zero_times_infinity = (zero(a) && infinite(b)) || (infinite(a) && zero(b));
    let negative = |m: Meaning| match m {
        Meaning::Number(term) => term.negative,
        Meaning::Infinity { negative } => negative,
        Meaning::Nan { .. } => false,
    };
    let product_negative = negative(a) != negative(b);
    let product_infinite = infinite(a) || infinite(b);
    let addend_infinite = c.is_some_and(infinite);
    let infinity_minus_infinity =
        nans.is_empty() && product_infinite && c.is_some_and(|c| infinite(c) && negative(c) != product_negative);

    if !nans.is_empty() || zero_times_infinity || infinity_minus_infinity {
        let first = |order: [usize; 3]| {
            order.iter().find_map(|place| nans.iter().find(|nan| nan.0 == *place)).map(|(_, bits, _)| *bits)
        };
        let bits = match spec.nan {
            NanBits::AllOnes => to.magnitude(),
            NanBits::FirstOf(order) => first(order).unwrap_or(to.sign() | to.infinity()) | to.quiet(),
        };
        let invalid = zero_times_infinity || infinity_minus_infinity || nans.iter().any(|nan| nan.2);
        return Prepared::Decided(Verdict { bits, flags: if invalid { INVALID } else { 0 } });
    }
    if product_infinite || addend_infinite {
        let negative = if product_infinite { product_negative } else { negative(c.unwrap_or(a)) };
        return Prepared::Decided(Verdict { bits: to.infinity() | if negative { to.sign() } else { 0 }, flags: 0 });
    }
    let number = |m: Meaning| match m {
        Meaning::Number(term) => term,
        _ => unreachable!("NaNs and infinities are settled"),
    };
    let (x, y) = (number(a), number(b));
    let product = Dyadic {
        negative: product_negative,
        significand: x.significand * y.significand,
        exponent: x.exponent + y.exponent,
    };
    Prepared::Terms { product, addend: c.map(number) }
}
