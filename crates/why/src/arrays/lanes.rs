//! The terms of sums as numbers, and additions of them by batch arithmetic.

use roundonce_arith::batch::{Batch, Lane, Source};
use roundonce_arith::{ArithOp, Elements, Format, Operation, Profile, Rounding};
use roundonce_isa::convert;

use super::engine::{Arithmetic, Compensation};

/// A factor of the terms of several results: the elements of an array, in the format that is added in.
#[derive(Clone, Debug)]
pub(crate) struct Factor<'a, T> {
    elements: &'a [T],
    /// The element of the first term, for each result.
    first: Vec<usize>,
    /// Whether these stand beside each other.
    is_run: bool,
    /// Elements from one term to the next.
    step: usize,
}

/// How terms are made and added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Additions {
    pub(crate) format: Format,
    pub(crate) flush: bool,
    /// A product is not rounded before it is added.
    pub(crate) is_fused: bool,
    /// Each sum is rounded to this narrower format.
    pub(crate) narrow: Option<Format>,
    /// Each product is rounded to this narrower format.
    pub(crate) narrow_product: Option<Format>,
}

/// Integers whose slices are the elements of a width.
pub(crate) trait Width: Lane {
    /// The elements, if they are so wide.
    fn of(elements: &Elements) -> Option<&[Self]>;
    /// The bits of one.
    fn bits(self) -> u64;
    /// The lower bits.
    fn cut(bits: u64) -> Self;
}

macro_rules! width {
    ($int:ty, $variant:ident) => {
        impl Width for $int {
            fn of(elements: &Elements) -> Option<&[$int]> {
                if let Elements::$variant(all) = elements { Some(all) } else { None }
            }
            fn bits(self) -> u64 {
                self.into()
            }
            fn cut(bits: u64) -> $int {
                bits as $int
            }
        }
    };
}
width!(u16, U16);
width!(u32, U32);
width!(u64, U64);

/// Lanes that are faster added one by one.
const FEW: usize = 4;

/// Additions of the terms of several results.
pub(crate) struct Lanes<'a, T> {
    profile: Profile,
    factors: Vec<Factor<'a, T>>,
    additions: Additions,
    add: Batch,
    subtract: Batch,
    multiply: Batch,
    multiply_add: Batch,
    /// The factors of the terms that are added.
    gathered: [Vec<T>; 2],
}

impl<'a, T: Width> Lanes<'a, T> {
    /// Of one factor, or of products of two.
    pub(crate) fn new(factors: Vec<Factor<'a, T>>, additions: Additions, profile: &Profile) -> Lanes<'a, T> {
        let operation = |kind| Operation {
            flush: additions.flush,
            ..Operation::new(kind, additions.format, Rounding::NearestEven)
        };
        let batch = |kind| Batch::new(operation(kind), profile);
        let subtract = Operation { negate_addend: true, ..operation(ArithOp::Add) };
        Lanes {
            profile: *profile,
            factors,
            additions,
            add: batch(ArithOp::Add),
            subtract: Batch::new(subtract, profile),
            multiply: batch(ArithOp::Mul),
            multiply_add: batch(ArithOp::MulAdd),
            gathered: [Vec::new(), Vec::new()],
        }
    }

    /// The factors of the terms that stand so much further than each first one; products are rounded unless they are
    /// fused.
    fn gather(&mut self, first: &[usize], further: usize) {
        for (factor, out) in self.factors.iter().zip(&mut self.gathered) {
            factor.gather(first, further, out);
        }
        if self.factors.len() == 2 && !self.additions.is_fused {
            let [a, b] = &mut self.gathered;
            self.multiply.run(&[Source::Out, Source::Slice(b)], a);
            round_to(self.additions.format, self.additions.narrow_product, a);
        }
    }
}

/// Rounds to a narrower format and back.
fn round_to<T: Width>(format: Format, narrow: Option<Format>, lanes: &mut [T]) {
    let Some(narrow) = narrow else { return };
    for lane in lanes {
        let rounded = convert(format, narrow, Rounding::NearestEven, lane.bits()).0;
        *lane = T::cut(convert(narrow, format, Rounding::NearestEven, rounded).0);
    }
}

impl<'a, T: Width> Factor<'a, T> {
    /// With the element of the first term for each result, and the elements from one term to the next.
    pub(crate) fn new(elements: &'a [T], first: Vec<usize>, step: usize) -> Factor<'a, T> {
        let is_run = first.windows(2).all(|pair| pair[1] == pair[0] + 1);
        Factor { elements, first, is_run, step }
    }

    /// Terms that stand beside each other in the order of the lanes.
    fn beside(&self, first: &[usize], further: usize) -> Option<&'a [T]> {
        let (only, term) = (*self.first.first()?, *first.first()?);
        let from = only + (term + further) * self.step;
        let is_run = |length: usize| first.last().is_some_and(|last| last + 1 == term + length);
        match (first.len(), self.first.len()) {
            (1, results) if self.is_run => Some(&self.elements[from..][..results]),
            // Partial sums are made of runs of terms.
            (length, 1) if self.step == 1 && is_run(length) => Some(&self.elements[from..][..length]),
            _ => None,
        }
    }

    fn gather(&self, first: &[usize], further: usize, out: &mut Vec<T>) {
        out.clear();
        if let Some(terms) = self.beside(first, further) {
            return out.extend_from_slice(terms);
        }
        let place = |term: usize| (term + further) * self.step;
        match self.first.as_slice() {
            [only] => out.extend(first.iter().map(|&term| self.elements[only + place(term)])),
            results => {
                for &term in first {
                    let from = place(term);
                    if self.is_run {
                        out.extend_from_slice(&self.elements[results[0] + from..][..results.len()]);
                    } else {
                        out.extend(results.iter().map(|result| self.elements[result + from]));
                    }
                }
            }
        }
    }
}

impl<T: Width> Arithmetic for Lanes<'_, T> {
    type Lane = T;

    fn results(&self) -> usize {
        self.factors[0].first.len()
    }

    fn accumulate(&mut self, sums: &mut [T], first: &[usize], further: usize) {
        // What stands in memory as it is added is not copied.
        if let ([factor], None) = (self.factors.as_slice(), self.additions.narrow)
            && let Some(terms) = factor.beside(first, further)
        {
            return self.add(sums, terms);
        }
        self.gather(first, further);
        let [a, b] = &self.gathered;
        if self.additions.is_fused && self.factors.len() == 2 {
            self.multiply_add.run(&[Source::Slice(a), Source::Slice(b), Source::Out], sums);
        } else {
            self.add.run(&[Source::Out, Source::Slice(a)], sums);
        }
        round_to(self.additions.format, self.additions.narrow, sums);
    }

    fn add(&mut self, sums: &mut [T], others: &[T]) {
        if sums.len() <= FEW && self.additions.narrow.is_none() {
            // A multiply-add by one: the scalar pipeline's fast path.
            let (one, operation) = (self.additions.format.one(), self.multiply_add.operation());
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = T::cut(operation.evaluate(&self.profile, &[one, sum.bits(), other.bits()]).bits);
            }
            return;
        }
        self.add.run(&[Source::Out, Source::Slice(others)], sums);
        round_to(self.additions.format, self.additions.narrow, sums);
    }

    fn compensated(&mut self, how: Compensation, first: &[usize], length: usize) -> Vec<T> {
        let format = self.additions.format;
        let lanes = first.len() * self.results();
        let mut sums = vec![T::default(); lanes];
        let mut lost = sums.clone();
        for at in 0..length {
            self.gather(first, at);
            let mut terms = std::mem::take(&mut self.gathered[0]);
            if how == Compensation::Kahan {
                self.subtract.run(&[Source::Out, Source::Slice(&lost)], &mut terms);
            }
            let mut total = sums.clone();
            self.add.run(&[Source::Out, Source::Slice(&terms)], &mut total);
            match how {
                // (total - sum) - term
                Compensation::Kahan => {
                    lost.clone_from(&total);
                    self.subtract.run(&[Source::Out, Source::Slice(&sums)], &mut lost);
                    self.subtract.run(&[Source::Out, Source::Slice(&terms)], &mut lost);
                }
                // (larger - total) + smaller
                Compensation::Neumaier => {
                    let magnitude = |bits: T| bits.bits() & !format.sign_mask();
                    for (sum, term) in sums.iter_mut().zip(&mut terms) {
                        if magnitude(*sum) < magnitude(*term) {
                            std::mem::swap(sum, term);
                        }
                    }
                    self.subtract.run(&[Source::Out, Source::Slice(&total)], &mut sums);
                    self.add.run(&[Source::Out, Source::Slice(&terms)], &mut sums);
                    self.add.run(&[Source::Out, Source::Slice(&sums)], &mut lost);
                }
            }
            sums = total;
            self.gathered[0] = terms;
        }
        if how == Compensation::Neumaier {
            // What is lost of an infinite sum is no number.
            let is_number = |bits: T| !format.is_nan(bits.bits()) && !format.is_infinite(bits.bits());
            lost.iter_mut().filter(|lost| !is_number(**lost)).for_each(|lost| *lost = T::default());
            self.add.run(&[Source::Out, Source::Slice(&lost)], &mut sums);
        }
        sums
    }
}
