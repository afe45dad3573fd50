//! One step: products and an addend, aligned, cut, added and converted. The only place that cuts.

use super::{Class, Dot, Factor, MAX_BLOCK, ScaleFormat};
use crate::{Element, ExactNumber, Flags, Format, NarrowFormat, Profile, Unpacked, ZeroExponent, ZeroSum};

/// What a term of a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// The product of this index.
    Product(usize),
    /// The exact sum of the group of products that begins at this index, scaled.
    Group(usize),
    /// The addend, or the result of the step before.
    Addend,
}

/// A term of a step: ±significand × 2^(exponent − fraction), and what is left of it on the step's grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DotTerm {
    /// What it is.
    pub position: Position,
    /// Whether it is subtracted.
    pub negative: bool,
    /// The exponent that it is aligned by; the significand may be 0 or up to just below 4 (of a group, more).
    pub exponent: i32,
    /// The significand, an integer.
    pub significand: u64,
    /// Fraction bits of the significand.
    pub fraction: u32,
    /// Its magnitude in units of the grid, toward zero.
    pub cut: u64,
    /// Whether something of it was cut off.
    pub inexact: bool,
}

/// What a matrix multiply-add did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DotEvent<'a> {
    /// A step in which nothing but numbers stands.
    Step {
        /// The terms, the addend last.
        terms: &'a [DotTerm],
        /// The largest exponent of them.
        largest: i32,
        /// The exponent of one unit of the grid.
        grid: i32,
        /// The exact sum of what was left of the terms, in units of the grid.
        sum: i64,
        /// Its conversion.
        result: u64,
    },
    /// A step with a NaN, zero times infinity or two infinities of unlike signs: the first term that is one of these.
    Invalid {
        /// The term.
        position: Position,
        /// The NaN.
        result: u64,
    },
    /// A step with an infinity.
    Infinite {
        /// The first term that is one.
        position: Position,
        /// The infinity.
        result: u64,
    },
    /// A fused multiply-add of one product.
    Fused {
        /// The product.
        index: usize,
        /// The factors in the accumulator's format.
        factors: [u64; 2],
        /// The addend.
        sum: u64,
        /// The result.
        result: u64,
    },
    /// The addition of the addend at the end.
    AddendAdded {
        /// The sum of the products.
        sum: u64,
        /// The addend.
        addend: u64,
        /// The result.
        result: u64,
    },
    /// The conversion of the last sum to the result's format.
    Converted {
        /// The sum.
        sum: u64,
        /// The result.
        result: u64,
    },
}

/// An observer of a matrix multiply-add. `()` observes nothing, at no cost.
pub trait DotTrace {
    /// Called at each step, in order.
    fn event(&mut self, event: DotEvent<'_>);
}

impl DotTrace for () {
    #[inline(always)]
    fn event(&mut self, _: DotEvent<'_>) {}
}

impl<F: FnMut(DotEvent<'_>)> DotTrace for F {
    fn event(&mut self, event: DotEvent<'_>) {
        self(event);
    }
}

/// The terms of a step and what is special about them.
struct Terms {
    terms: [DotTerm; MAX_BLOCK + 1],
    count: usize,
    invalid: Option<Position>,
    infinite: Option<(Position, bool)>,
    /// The largest exponent so far.
    largest: Option<i32>,
    zero: ZeroExponent,
    floor: i32,
}

impl Terms {
    fn new(zero: ZeroExponent, floor: i32) -> Terms {
        let none = DotTerm {
            position: Position::Addend,
            negative: false,
            exponent: 0,
            significand: 0,
            fraction: 0,
            cut: 0,
            inexact: false,
        };
        Terms { terms: [none; MAX_BLOCK + 1], count: 0, invalid: None, infinite: None, largest: None, zero, floor }
    }

    /// Takes a number whose significand has so many fraction bits.
    fn push(&mut self, position: Position, number: Factor, fraction: u32) {
        let Factor { negative, mut exponent, significand, .. } = number;
        let mut takes_part = true;
        match number.class {
            Class::Nan => {
                self.invalid.get_or_insert(position);
                return;
            }
            Class::Infinite => {
                match self.infinite {
                    Some((_, other)) if other != negative => {
                        self.invalid.get_or_insert(position);
                    }
                    _ => {
                        self.infinite.get_or_insert((position, negative));
                    }
                }
                return;
            }
            Class::Zero => match self.zero {
                ZeroExponent::Floor => exponent = self.floor,
                ZeroExponent::Operand => {}
                ZeroExponent::Absent => takes_part = false,
            },
            Class::Finite => {}
        }
        if takes_part {
            self.largest = Some(self.largest.map_or(exponent, |largest| largest.max(exponent)));
        }
        self.terms[self.count] =
            DotTerm { position, negative, exponent, significand, fraction, cut: 0, inexact: false };
        self.count += 1;
    }
}

/// The product of two factors, not normalised.
fn product(a: Factor, b: Factor) -> Factor {
    let class = match (a.class, b.class) {
        (Class::Nan, _) | (_, Class::Nan) | (Class::Zero, Class::Infinite) | (Class::Infinite, Class::Zero) => {
            Class::Nan
        }
        (Class::Infinite, _) | (_, Class::Infinite) => Class::Infinite,
        (Class::Zero, _) | (_, Class::Zero) => Class::Zero,
        (Class::Finite, Class::Finite) => Class::Finite,
    };
    Factor {
        negative: a.negative ^ b.negative,
        class,
        exponent: a.exponent + b.exponent,
        significand: a.significand * b.significand,
    }
}

/// A number cut toward zero to multiples of 2^grid: how many they are, and whether something was cut off.
fn cut(significand: u64, quantum: i32, grid: i32) -> (u64, bool) {
    match quantum - grid {
        // The exponent of a zero may be any.
        _ if significand == 0 => (0, false),
        left @ 0.. => (significand << left, false),
        right => {
            let right = right.unsigned_abs().min(63);
            let kept = significand >> right;
            (kept, kept << right != significand)
        }
    }
}

impl ScaleFormat {
    /// Takes a scale apart, and says how many fraction bits its significand has.
    fn factor(self, bits: u64) -> (Factor, u32) {
        match self {
            ScaleFormat::Ue8m0 => {
                let class = match self.unpack(bits) {
                    Unpacked::Nan { .. } => Class::Nan,
                    _ => Class::Finite,
                };
                (Factor { negative: false, class, exponent: (bits & 0xff) as i32 - 127, significand: 1 }, 0)
            }
            ScaleFormat::Ue4m3 => {
                let e4m3 = Element::Narrow(NarrowFormat::E4M3);
                (e4m3.factor(bits & 0x7f), e4m3.fields().frac_bits())
            }
        }
    }
}

impl Dot {
    /// The step of the products from `start` on in the order of the steps, with the addend `sum`.
    #[allow(clippy::too_many_arguments)] // The operands of the operation and where it stands.
    pub(super) fn step(
        &self,
        kept: u32,
        profile: &Profile,
        [a, b]: [&[u64]; 2],
        scales: [&[u64]; 2],
        start: usize,
        sum: u64,
        trace: &mut impl DotTrace,
    ) -> u64 {
        let mut terms = Terms::new(profile.dot_zero, self.floor);
        let fraction = self.a.fields().frac_bits() + self.b.fields().frac_bits();
        for place in (start..start + self.block as usize).step_by(self.group as usize) {
            let index = self.index(place);
            let product =
                |index: usize| product(self.factor(profile, self.a, a[index]), self.factor(profile, self.b, b[index]));
            let scale = self.scale.map(|scale| {
                let at = index / scale.block as usize;
                let ((a, fraction), (b, _)) = (scale.format.factor(scales[0][at]), scale.format.factor(scales[1][at]));
                (self::product(a, b), 2 * fraction)
            });
            let (scale, scale_fraction) = scale.unwrap_or((Factor::ONE, 0));
            let (position, unscaled) = match self.group {
                1 => (Position::Product(index), product(index)),
                group => (Position::Group(index), self.group_sum((index..index + group as usize).map(product))),
            };
            terms.push(position, self::product(unscaled, scale), fraction + scale_fraction);
        }
        let addend = Element::Float(self.accumulator);
        terms.push(Position::Addend, self.factor(profile, addend, sum), self.accumulator.frac_bits());

        let sign = |negative| if negative { self.accumulator.sign_mask() } else { 0 };
        if let Some(position) = terms.invalid {
            let result = profile.nan_result(self.accumulator, None);
            trace.event(DotEvent::Invalid { position, result });
            return result;
        }
        if let Some((position, negative)) = terms.infinite {
            let result = sign(negative) | self.accumulator.infinity();
            trace.event(DotEvent::Infinite { position, result });
            return result;
        }
        let largest = terms.largest.unwrap_or(self.floor);
        let grid = largest - kept as i32;
        let terms = &mut terms.terms[..terms.count];
        for term in terms.iter_mut() {
            let coarser = match term.position {
                Position::Addend => kept - self.kept_of_addend(kept, profile).min(kept),
                _ => 0,
            };
            let quantum = term.exponent - term.fraction as i32;
            let (units, inexact) = cut(term.significand, quantum, grid + coarser as i32);
            (term.cut, term.inexact) = (units << coarser, inexact);
        }
        let signed = |term: &DotTerm| if term.negative { -(term.cut as i64) } else { term.cut as i64 };
        let total: i64 = terms.iter().map(signed).sum();
        let result = if total == 0 {
            let negative = match profile.dot_zero_sign {
                ZeroSum::Positive => false,
                ZeroSum::AllNegative => terms.iter().all(|term| term.negative),
            };
            sign(negative)
        } else {
            let exact = ExactNumber {
                negative: total < 0,
                quantum: grid,
                significand: total.unsigned_abs().into(),
                sticky: false,
            };
            self.conversion(profile, exact)
        };
        trace.event(DotEvent::Step { terms, largest, grid, sum: total, result });
        result
    }

    /// An element taken apart, with the exponent that the profile gives a zero.
    fn factor(&self, profile: &Profile, element: Element, bits: u64) -> Factor {
        let mut factor = element.factor(bits);
        if factor.class == Class::Zero && profile.dot_zero == ZeroExponent::Operand {
            factor.exponent = Format::F32.emin();
        }
        factor
    }

    /// The exact sum of products of a group, in units of the smallest product.
    fn group_sum(&self, products: impl Iterator<Item = Factor>) -> Factor {
        let exponent = self.a.fields().emin() + self.b.fields().emin();
        let sum: i64 = products
            .map(|product| {
                // The exponent of a zero says nothing here.
                let left = if product.class == Class::Zero { 0 } else { product.exponent - exponent };
                let magnitude = (product.significand << left) as i64;
                if product.negative { -magnitude } else { magnitude }
            })
            .sum();
        let class = if sum == 0 { Class::Zero } else { Class::Finite };
        Factor { negative: sum < 0, class, exponent, significand: sum.unsigned_abs() }
    }

    /// The sum of a step as the accumulator's format has it.
    fn conversion(&self, profile: &Profile, exact: ExactNumber) -> u64 {
        let shift = self.accumulator.frac_bits() - self.fraction;
        let format = Format::new(self.accumulator.exp_bits(), self.fraction);
        let outcome = exact.round(format, self.rounding);
        let sign = outcome.bits & format.sign_mask();
        if outcome.flags.contains(Flags::OVERFLOW) {
            return (sign | format.infinity()) << shift;
        }
        if format.is_zero(outcome.bits) && profile.dot_zero_sign == ZeroSum::Positive {
            return 0;
        }
        outcome.bits << shift
    }
}
