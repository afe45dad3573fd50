//! One element of a matrix multiply-add on exact integers: every term is a big integer, counted in units of one tiny power of
//! two, and cut by division.

use num_bigint::{BigInt, BigUint, Sign};

use crate::{Direction, Layout, OVERFLOW, rational};

/// A format of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// As IEEE 754, bits in the lowest places.
    Ieee(Layout),
    /// TF32: the upper 19 of 32 bits.
    Tf32,
    /// OCP e4m3: no infinities, all ones is a NaN.
    E4m3,
    /// OCP formats of six and four bits: numbers alone.
    Finite(Layout),
    /// 2^(bits − 127), 255 a NaN.
    Ue8m0,
    /// e4m3 without its sign.
    Ue4m3,
}

/// What one element of a result is.
#[derive(Clone, Copy, Debug)]
pub struct DotSpec {
    /// a's elements.
    pub a: Kind,
    /// b's elements.
    pub b: Kind,
    /// The addend.
    pub c: Layout,
    /// The result.
    pub d: Layout,
    /// The sums between.
    pub accumulator: Layout,
    /// Products.
    pub k: usize,
    /// Products a step.
    pub block: usize,
    /// Products that are summed exactly before their scale is applied.
    pub group: usize,
    /// Bits below the largest exponent; nothing is cut without.
    pub kept: Option<i32>,
    /// k mod 4 below 2 first.
    pub halves: bool,
    /// The addend is added at the end, to nearest even.
    pub late_addend: bool,
    /// The direction of the conversion.
    pub direction: Direction,
    /// Fraction bits that the conversion keeps.
    pub fraction: u32,
    /// The exponent of zero terms.
    pub floor: i32,
    /// The scales' format, and the products that share one.
    pub scale: Option<(Kind, usize)>,
}

/// A value: ± significand × 2^(exponent − fraction), the exponent that of its format.
#[derive(Clone)]
enum Decoded {
    Nan,
    Infinite(bool),
    Number { negative: bool, significand: u128, exponent: i32, fraction: i32 },
}

impl Kind {
    fn decode(self, bits: u64) -> Decoded {
        let (layout, bits) = match self {
            Kind::Ieee(layout) | Kind::Finite(layout) => (layout, bits),
            Kind::Tf32 => (Layout { exp_bits: 8, frac_bits: 10 }, bits >> 13),
            Kind::E4m3 => (Layout { exp_bits: 4, frac_bits: 3 }, bits),
            Kind::Ue4m3 => (Layout { exp_bits: 4, frac_bits: 3 }, bits & 127),
            Kind::Ue8m0 if bits == 255 => return Decoded::Nan,
            Kind::Ue8m0 => {
                return Decoded::Number { negative: false, significand: 1, exponent: bits as i32 - 127, fraction: 0 };
            }
        };
        let fraction = bits % (1 << layout.frac_bits);
        let field = (bits >> layout.frac_bits) % (1 << layout.exp_bits);
        let negative = (bits >> (layout.frac_bits + layout.exp_bits)) % 2 == 1;
        let top = (1 << layout.exp_bits) - 1;
        let is_ieee = matches!(self, Kind::Ieee(_) | Kind::Tf32);
        match (field == top, fraction) {
            (true, 0) if is_ieee => return Decoded::Infinite(negative),
            (true, _) if is_ieee => return Decoded::Nan,
            (true, 7) if matches!(self, Kind::E4m3 | Kind::Ue4m3) => return Decoded::Nan,
            _ => {}
        }
        let bias = (1 << (layout.exp_bits - 1)) - 1;
        let significand = u128::from(if field == 0 { fraction } else { fraction + (1 << layout.frac_bits) });
        Decoded::Number {
            negative,
            significand,
            exponent: field.max(1) as i32 - bias,
            fraction: layout.frac_bits as i32,
        }
    }
}

/// The product of two values.
fn times(x: &Decoded, y: &Decoded) -> Decoded {
    use Decoded::{Infinite, Nan, Number};
    match (x, y) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinite(_), Number { significand: 0, .. }) | (Number { significand: 0, .. }, Infinite(_)) => Nan,
        (Infinite(x), Infinite(y) | Number { negative: y, .. }) | (Number { negative: x, .. }, Infinite(y)) => {
            Infinite(x != y)
        }
        (
            Number { negative: s, significand: m, exponent: e, fraction: f },
            Number { negative: t, significand: n, exponent: g, fraction: h },
        ) => Number { negative: s != t, significand: m * n, exponent: e + g, fraction: f + h },
    }
}

/// All values are whole multiples of 2^UNIT.
const UNIT: i32 = -4000;

fn exactly(significand: u128, exponent: i32) -> BigUint {
    BigUint::from(significand) << (exponent - UNIT) as u32
}

fn canonical_nan(layout: Layout) -> u64 {
    (1 << (layout.exp_bits + layout.frac_bits)) - 1
}

fn infinity(layout: Layout, negative: bool) -> u64 {
    let magnitude = ((1 << layout.exp_bits) - 1) << layout.frac_bits;
    magnitude | u64::from(negative) << (layout.exp_bits + layout.frac_bits)
}

/// A sum in units as a number; what overflows is an infinity if anything was cut.
fn convert(layout: Layout, direction: Direction, sum: &BigInt, is_cut: bool) -> u64 {
    let (sign, magnitude) = sum.clone().into_parts();
    let drop = magnitude.bits().saturating_sub(100);
    let kept = u128::try_from(&magnitude >> drop).unwrap_or(0);
    let more = (BigUint::from(kept) << drop) != magnitude;
    let negative = sign == Sign::Minus;
    let verdict = rational::number(layout, direction, negative, kept, UNIT + drop as i32, more);
    match is_cut {
        true if verdict.flags & OVERFLOW != 0 => infinity(layout, negative),
        // The only zero is +0.
        true if verdict.bits << (64 - layout.exp_bits - layout.frac_bits) == 0 => 0,
        _ => verdict.bits,
    }
}

/// The result on a row of a, a column of b, c and the scales. The NaNs of f64 are not judged: they are the canonical one.
pub fn judge(spec: &DotSpec, a: &[u64], b: &[u64], c: u64, scales: [&[u64]; 2]) -> u64 {
    let order: Vec<usize> = if spec.halves {
        let half = |upper| (0..spec.k).filter(move |index| (index % 4 >= 2) == upper);
        half(false).chain(half(true)).collect()
    } else {
        (0..spec.k).collect()
    };
    let addend = widened(spec.c, spec.accumulator, c);
    let mut sum = if spec.late_addend { 0 } else { addend };
    for step in order.chunks(spec.block) {
        let mut terms: Vec<Decoded> = Vec::new();
        for group in step.chunks(spec.group) {
            let mut products = group.iter().map(|&index| times(&spec.a.decode(a[index]), &spec.b.decode(b[index])));
            let mut term = if spec.group == 1 { products.next_back().unwrap_or(Decoded::Nan) } else { total(products) };
            if let Some((kind, block)) = spec.scale {
                let scale = |matrix: usize| kind.decode(scales[matrix][group[0] / block]);
                term = times(&term, &times(&scale(0), &scale(1)));
            }
            terms.push(term);
        }
        terms.push(Kind::Ieee(spec.accumulator).decode(sum));
        sum = add(spec, &terms);
    }
    if spec.late_addend {
        let terms = [sum, addend].map(|bits| Kind::Ieee(spec.accumulator).decode(bits));
        let fraction = spec.accumulator.frac_bits;
        sum = add(&DotSpec { kept: None, direction: Direction::Nearest, fraction, ..*spec }, &terms);
    }
    if spec.d == spec.accumulator {
        return sum;
    }
    match Kind::Ieee(spec.accumulator).decode(sum) {
        Decoded::Nan => canonical_nan(spec.d),
        Decoded::Infinite(negative) => infinity(spec.d, negative),
        Decoded::Number { negative, significand, exponent, fraction } => {
            rational::number(spec.d, Direction::Nearest, negative, significand, exponent - fraction, false).bits
        }
    }
}

/// The exact sum of products of a group, at the exponent 0: their formats have no smaller one.
fn total(products: impl Iterator<Item = Decoded>) -> Decoded {
    const FRACTION: i32 = 2;
    let mut total = 0i64;
    for product in products {
        let Decoded::Number { negative, significand, exponent, fraction } = product else { return Decoded::Nan };
        let magnitude = (significand as i64) << (exponent - fraction + FRACTION);
        total += if negative { -magnitude } else { magnitude };
    }
    Decoded::Number { negative: total < 0, significand: total.unsigned_abs().into(), exponent: 0, fraction: FRACTION }
}

/// The terms, cut where the specification says so, added and converted.
fn add(spec: &DotSpec, terms: &[Decoded]) -> u64 {
    let layout = spec.accumulator;
    let infinite =
        |sign: bool| terms.iter().any(|term| matches!(term, Decoded::Infinite(negative) if *negative == sign));
    if terms.iter().any(|term| matches!(term, Decoded::Nan)) || infinite(false) && infinite(true) {
        return canonical_nan(layout);
    }
    if infinite(false) || infinite(true) {
        return infinity(layout, infinite(true));
    }
    let mut numbers = Vec::new();
    for term in terms {
        if let Decoded::Number { negative, significand, exponent, fraction } = *term {
            let exponent_of_term = if significand == 0 { spec.floor } else { exponent };
            let sign = if negative { Sign::Minus } else { Sign::Plus };
            let value = BigInt::from_biguint(
                sign,
                exactly(significand, if significand == 0 { 0 } else { exponent - fraction }),
            );
            numbers.push((exponent_of_term, value));
        }
    }
    let Some(kept) = spec.kept else {
        let sum: BigInt = numbers.into_iter().map(|(_, value)| value).sum();
        if sum == BigInt::ZERO {
            // IEEE 754: the sign that both terms have, else + but toward −infinity.
            let negative = |term: &Decoded| matches!(term, Decoded::Number { negative: true, significand: 0, .. });
            let is_negative = terms.iter().all(negative) || spec.direction == Direction::Down && !all_plus(terms);
            return u64::from(is_negative) << (layout.exp_bits + layout.frac_bits);
        }
        return convert(layout, spec.direction, &sum, false);
    };
    let largest = numbers.iter().map(|(exponent, _)| *exponent).max().unwrap_or(spec.floor);
    let unit = exactly(1, largest - kept);
    // Division of big integers truncates toward zero.
    let sum: BigInt = numbers.into_iter().map(|(_, value)| value / BigInt::from(unit.clone())).sum();
    let shift = layout.frac_bits - spec.fraction;
    let short = Layout { exp_bits: layout.exp_bits, frac_bits: spec.fraction };
    convert(short, spec.direction, &(sum * BigInt::from(unit)), true) << shift
}

fn all_plus(terms: &[Decoded]) -> bool {
    terms.iter().all(|term| matches!(term, Decoded::Number { negative: false, significand: 0, .. }))
}

/// A value in a format that holds it.
fn widened(from: Layout, to: Layout, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    match Kind::Ieee(from).decode(bits) {
        Decoded::Nan => canonical_nan(to),
        Decoded::Infinite(negative) => infinity(to, negative),
        Decoded::Number { negative, significand, exponent, fraction } => {
            rational::number(to, Direction::Nearest, negative, significand, exponent - fraction, false).bits
        }
    }
}
