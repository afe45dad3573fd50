//! The pipeline for small formats by listing every number: a judge that neither packs, nor unpacks, nor shifts.
//!
//! A format's non-negative numbers, in the order of their encodings, are 0, u, 2u, 3u, …, and after every full binade
//! (but the first) the step doubles. That is all that this file knows of a format. A sum is looked up between two
//! neighbours in the list, and the four directions choose between those.

use crate::{Direction, FlushRule, INEXACT, INVALID, Layout, NanBits, OVERFLOW, Shape, Spec, UNDERFLOW, Verdict};

/// The numbers of a destination format and of the factors' format.
#[derive(Debug)]
pub struct Table {
    to: List,
    factors: List,
    /// 2^(what turns a product of factors into the destination's units).
    product_scale: i128,
    /// The largest number below the smallest normal one, had the exponent no lower bound.
    below_normal: i128,
}

/// The finite non-negative numbers of a format by encoding, and after them, where infinity stands, the number that
/// would come next.
#[derive(Debug)]
struct List {
    layout: Layout,
    numbers: Vec<i128>,
}

impl List {
    /// In units of the smallest positive number.
    fn new(layout: Layout) -> List {
        let binade = 1_usize << layout.frac_bits;
        let infinity = ((1 << layout.exp_bits) - 1) * binade;
        let (mut number, mut step) = (0, 1);
        let mut numbers = Vec::with_capacity(infinity + 1);
        for encoding in 0..=infinity {
            numbers.push(number);
            // The subnormals and the first normal binade share one step.
            if encoding >= 2 * binade && encoding % binade == 0 {
                step *= 2;
            }
            number += step;
        }
        List { layout, numbers }
    }
    #[inline]
    fn infinity(&self) -> u64 {
        self.numbers.len() as u64 - 1
    }
    #[inline]
    fn magnitude(&self, bits: u64) -> u64 {
        bits & self.layout.magnitude()
    }
    #[inline]
    fn number(&self, bits: u64) -> i128 {
        let number = self.numbers[self.magnitude(bits) as usize];
        if bits & self.layout.sign() != 0 { -number } else { number }
    }
    #[inline]
    fn smallest_normal(&self) -> u64 {
        1 << self.layout.frac_bits
    }
}

/// What steps 1 to 7 leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    /// A NaN; whether it raises invalid.
    Nan {
        /// A signalling operand, or an operation without a value.
        invalid: bool,
    },
    /// An infinity.
    Infinity {
        /// Its sign.
        negative: bool,
    },
    /// A zero whose sign does not depend on the direction.
    Zero {
        /// Its sign.
        negative: bool,
    },
    /// A zero of opposite terms.
    Cancelled {
        /// A truncated product lost bits.
        truncated: bool,
    },
    /// A number that is not zero, between its neighbours.
    Number(Position),
}

/// Where a number lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    negative: bool,
    /// The encoding at or below it, and whether it is exactly there. Infinity's encoding: at or beyond the number that
    /// would come after the largest.
    below: u64,
    exact: bool,
    /// Against the middle between the neighbours.
    middle: core::cmp::Ordering,
    small_exact: bool,
    /// Below the smallest normal number once rounded with an unbounded exponent: for each direction.
    small_rounded: [bool; 4],
    truncated: bool,
}

impl Table {
    /// For factors of one format and results of another that holds them.
    pub fn new(factors: Layout, to: Layout) -> Table {
        let (factors, to) = (List::new(factors), List::new(to));
        // The unit is small enough for products, and for a step of the binade below the smallest normal number.
        let unit = (2 * factors.layout.quantum()).min(to.layout.quantum() - 1);
        let addend_scale = 1_i128 << (to.layout.quantum() - unit);
        let product_scale = 1 << (2 * factors.layout.quantum() - unit);
        let normal = to.numbers[to.smallest_normal() as usize] * addend_scale;
        let to = List { numbers: to.numbers.iter().map(|number| number * addend_scale).collect(), ..to };
        Table { below_normal: normal - addend_scale / 2, to, factors, product_scale }
    }

    /// The pipeline of `spec`, whose formats are this table's, whose NaNs are all ones and which has no `fmz_nan_is_zero`.
    #[inline]
    pub fn judge(&self, spec: &Spec, [a, b, c]: [u64; 3]) -> Verdict {
        assert!(spec.to == self.to.layout && spec.factors == self.factors.layout && spec.nan == NanBits::AllOnes);
        assert!(!spec.fmz_nan_is_zero);
        let c_flushes = spec.flush.is_some() && self.to.magnitude(c) < self.to.smallest_normal();
        if spec.shape == Shape::TruncatedMulAdd && (self.to.magnitude(c) == 0 || c_flushes) {
            assert_eq!(spec.to, spec.factors, "the two steps of sm_1x have one format");
            let two = Spec { flush: spec.flush.and(spec.flush_of_two.or(spec.flush)), ..*spec };
            let mul = Spec { shape: Shape::Mul, saturate: false, relu: false, ..two };
            let product = self.finish(&mul, self.sum(&mul, [a, b, 0]));
            let add = Spec { shape: Shape::Add, negate_a: false, ..two };
            let sum = self.finish(&add, self.sum(&add, [product.bits, 0, c]));
            return Verdict { bits: sum.bits, flags: product.flags | sum.flags };
        }
        self.finish(spec, self.sum(spec, [a, b, c]))
    }

    /// Steps 1 to 7, but for the truncated shape with a zero addend. Of `spec` only the shape, the signs, zero
    /// dominance and whether operands flush are looked at.
    #[inline]
    pub fn sum(&self, spec: &Spec, [mut a, mut b, mut c]: [u64; 3]) -> Sum {
        let (factors, to) = (&self.factors, &self.to);
        a ^= if spec.negate_a { factors.layout.sign() } else { 0 };
        c ^= if spec.negate_c { to.layout.sign() } else { 0 };
        if spec.flush.is_some() {
            a = self.flushed_factor(a);
            b = self.flushed_factor(b);
            if to.magnitude(c) < to.smallest_normal() {
                c &= to.layout.sign();
            }
        }
        let (has_b, has_c) = (spec.shape != Shape::Add, spec.shape != Shape::Mul);
        if spec.fmz && has_b && (factors.magnitude(a) == 0 || factors.magnitude(b) == 0) {
            (a, b) = (0, 0);
        }
        let a_magnitude = factors.magnitude(a);
        // Absent operands are a factor of +1 and no addend.
        let b_magnitude = if has_b { factors.magnitude(b) } else { factors.layout.one() };
        let c_magnitude = if has_c { to.magnitude(c) } else { 0 };
        let p_negative = (a & factors.layout.sign() != 0) ^ (has_b && b & factors.layout.sign() != 0);
        let c_negative = c & to.layout.sign() != 0;

        if a_magnitude > factors.infinity() || b_magnitude > factors.infinity() || c_magnitude > to.infinity() {
            let signalling =
                |list: &List, magnitude| magnitude > list.infinity() && magnitude & list.layout.quiet() == 0;
            let product = (a_magnitude == 0 && b_magnitude == factors.infinity())
                || (a_magnitude == factors.infinity() && b_magnitude == 0);
            let invalid = signalling(factors, a_magnitude)
                || signalling(factors, b_magnitude)
                || signalling(to, c_magnitude)
                || product;
            return Sum::Nan { invalid };
        }
        if a_magnitude == factors.infinity() || b_magnitude == factors.infinity() {
            let no_value =
                a_magnitude == 0 || b_magnitude == 0 || (c_magnitude == to.infinity() && c_negative != p_negative);
            return if no_value { Sum::Nan { invalid: true } } else { Sum::Infinity { negative: p_negative } };
        }
        if c_magnitude == to.infinity() {
            return Sum::Infinity { negative: c_negative };
        }

        let one = factors.numbers[factors.layout.one() as usize];
        let b_number = if has_b { factors.number(b) } else { one };
        let mut product = factors.number(a) * b_number * self.product_scale;
        let mut truncated = false;
        if spec.shape == Shape::TruncatedMulAdd {
            let cut = self.cut(product);
            truncated = cut != product;
            product = cut;
        }
        let sum = product + if has_c { to.number(c) } else { 0 };
        if sum != 0 {
            Sum::Number(self.locate(sum, truncated))
        } else if !has_c || (product == 0 && c_negative == p_negative) {
            Sum::Zero { negative: p_negative }
        } else {
            Sum::Cancelled { truncated }
        }
    }

    /// In the format that computes, only a factor whose value is below the smallest normal number is subnormal.
    #[inline]
    fn flushed_factor(&self, bits: u64) -> u64 {
        let (factors, to) = (&self.factors, &self.to);
        let magnitude = factors.magnitude(bits);
        if magnitude >= factors.infinity() {
            return bits;
        }
        // Both sides in units of 2^(2 × the factors' quantum), or finer.
        let one = factors.numbers[factors.layout.one() as usize];
        let value = factors.numbers[magnitude as usize] * one * self.product_scale;
        if value < to.numbers[to.smallest_normal() as usize] { bits & factors.layout.sign() } else { bits }
    }

    /// Toward zero to as many leading bits as a significand has.
    fn cut(&self, product: i128) -> i128 {
        let mut step = 1;
        while product.abs() / step >= 2 << self.to.layout.frac_bits {
            step *= 2;
        }
        product / step * step
    }

    fn locate(&self, sum: i128, truncated: bool) -> Position {
        let numbers = &self.to.numbers;
        let value = sum.abs();
        let negative = sum < 0;
        let below = numbers.partition_point(|&number| number <= value) - 1;
        let lower = numbers[below];
        let upper = if below + 1 < numbers.len() { numbers[below + 1] } else { 2 * lower };
        let normal = numbers[self.to.smallest_normal() as usize];
        // Between the last number of the unbounded binade and the smallest normal one, the direction decides; a tie
        // goes to the latter, whose significand is even.
        let last = self.below_normal;
        let small_rounded = Direction::ALL.map(|direction| {
            value < normal
                && (value <= last
                    || match direction {
                        Direction::Nearest => value - last < normal - value,
                        Direction::Zero => true,
                        Direction::Down => !negative,
                        Direction::Up => negative,
                    })
        });
        Position {
            negative,
            below: below as u64,
            exact: lower == value,
            middle: (value - lower).cmp(&(upper - value)),
            small_exact: value < normal,
            small_rounded,
            truncated,
        }
    }

    /// Steps 8 to 10. Of `spec` the direction, the flush rule, the underflow rule and the clamps are looked at.
    #[inline]
    pub fn finish(&self, spec: &Spec, sum: Sum) -> Verdict {
        let (sign, infinity) = (self.to.layout.sign(), self.to.infinity());
        let signed = |negative: bool, magnitude| if negative { sign | magnitude } else { magnitude };
        let verdict = match sum {
            Sum::Nan { invalid } => Verdict { bits: sign - 1, flags: if invalid { INVALID } else { 0 } },
            Sum::Infinity { negative } => Verdict { bits: signed(negative, infinity), flags: 0 },
            Sum::Zero { negative } => Verdict { bits: signed(negative, 0), flags: 0 },
            Sum::Cancelled { truncated } => {
                let bits = signed(spec.direction == Direction::Down, 0);
                Verdict { bits, flags: if truncated { INEXACT } else { 0 } }
            }
            Sum::Number(position) => {
                let (magnitude, flags) = self.choose(spec, position);
                let flags = if position.truncated { flags | INEXACT } else { flags };
                Verdict { bits: signed(position.negative, magnitude), flags }
            }
        };
        if spec.relu {
            let nan = verdict.bits & (sign - 1) > infinity;
            let bits = match verdict.bits {
                _ if nan => sign - 1,
                negative if negative >= sign => 0,
                other => other,
            };
            return Verdict { bits, ..verdict };
        }
        if !spec.saturate {
            return verdict;
        }
        let clamped =
            if verdict.bits >= sign || verdict.bits > infinity { 0 } else { verdict.bits.min(self.to.layout.one()) };
        Verdict { bits: clamped, ..verdict }
    }

    #[inline]
    fn choose(&self, spec: &Spec, position: Position) -> (u64, u8) {
        use core::cmp::Ordering::{Equal, Greater, Less};
        let Position { negative, below, exact, .. } = position;
        let infinity = self.to.infinity();
        let away = match spec.direction {
            Direction::Nearest => match position.middle {
                Less => false,
                Equal => below % 2 == 1,
                Greater => true,
            },
            Direction::Zero => false,
            Direction::Down => negative,
            Direction::Up => !negative,
        };
        let magnitude = if exact || !away { below } else { below + 1 };
        if magnitude >= infinity {
            let stays = match spec.direction {
                Direction::Nearest => false,
                Direction::Zero => true,
                Direction::Down => !negative,
                Direction::Up => negative,
            };
            return (if stays { infinity - 1 } else { infinity }, OVERFLOW | INEXACT);
        }
        let small_rounded = position.small_rounded[spec.direction as usize];
        let flushed = match spec.flush {
            None => false,
            Some(FlushRule::Delivered) => magnitude < self.to.smallest_normal(),
            Some(FlushRule::Rounded) => small_rounded,
            Some(FlushRule::Exact) => position.small_exact,
        };
        if flushed {
            return (0, INEXACT | UNDERFLOW);
        }
        let small = if spec.underflow_before_rounding { position.small_exact } else { small_rounded };
        let flags = match (exact, small) {
            (true, _) => 0,
            (false, false) => INEXACT,
            (false, true) => INEXACT | UNDERFLOW,
        };
        (magnitude, flags)
    }
}
