//! The terms of sums as numbers, and additions of them by batch arithmetic.

use roundonce_arith::batch::{Batch, Lane, Source};
use roundonce_arith::{
    ArithOp, Dot, Element, Elements, Format, MatrixProduct, Operation, Pairs, Profile, Rounding, Unpacked, Vectors,
    unpack,
};
use roundonce_isa::convert;

use super::engine::{Arithmetic, Compensation};
use super::schedule::TensorUnit;

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
    /// What is added to each result's sum, where it may begin from that.
    addends: Vec<T>,
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
            addends: Vec::new(),
        }
    }

    /// With what is added to each result's sum.
    pub(crate) fn with_addends(self, addends: Vec<T>) -> Lanes<'a, T> {
        Lanes { addends, ..self }
    }

    /// Adds or subtracts others.
    fn combine(&self, subtracts: bool, sums: &mut [T], others: &[T]) {
        if sums.len() <= FEW {
            // A multiply-add by one: the scalar pipeline's fast path.
            let one = self.additions.format.one();
            let operation = Operation { negate_addend: subtracts, ..*self.multiply_add.operation() };
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = T::cut(operation.evaluate(&self.profile, &[one, sum.bits(), other.bits()]).bits);
            }
            return;
        }
        let batch = if subtracts { &self.subtract } else { &self.add };
        batch.run(&[Source::Out, Source::Slice(others)], sums);
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

/// The bits of a register that holds a number of a format as an element, if it can.
pub(super) fn in_element(format: Format, element: Element, bits: u64) -> Option<u64> {
    match element {
        // The machine ignores what TF32 does not hold.
        Element::Float(Format::TF32) => (format == Format::F32).then_some(bits),
        Element::Float(own) if own == format => Some(bits),
        Element::Float(own) => {
            let (narrow, is_exact) = convert(format, own, Rounding::NearestEven, bits);
            is_exact.then_some(narrow)
        }
        Element::Narrow(own) => {
            let sign = if format.is_negative(bits) { element.sign_mask() } else { 0 };
            let narrow = match unpack(format, bits) {
                Unpacked::Zero { .. } => sign,
                Unpacked::Finite(number) => own.nearest(number.into()),
                Unpacked::Infinite { .. } if own.has_infinities() => sign | own.fields().infinity(),
                Unpacked::Infinite { .. } => return None,
                Unpacked::Nan { .. } => return own.nan(),
            };
            (own.widen(format, narrow) == bits).then_some(narrow)
        }
        // A scale, and no element.
        Element::PowerOfTwo => None,
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
        self.combine(false, sums, others);
        round_to(self.additions.format, self.additions.narrow, sums);
    }

    fn compensated(&mut self, how: Compensation, first: &[usize], length: usize) -> Vec<T> {
        let format = self.additions.format;
        let lanes = first.len() * self.results();
        let mut sums = vec![T::default(); lanes];
        let (mut lost, mut total) = (sums.clone(), sums.clone());
        for at in 0..length {
            self.gather(first, at);
            let mut terms = std::mem::take(&mut self.gathered[0]);
            if how == Compensation::Kahan {
                self.combine(true, &mut terms, &lost);
            }
            total.copy_from_slice(&sums);
            self.combine(false, &mut total, &terms);
            match how {
                // (total - sum) - term
                Compensation::Kahan => {
                    lost.copy_from_slice(&total);
                    self.combine(true, &mut lost, &sums);
                    self.combine(true, &mut lost, &terms);
                }
                // (larger - total) + smaller
                Compensation::Neumaier => {
                    let magnitude = |bits: T| bits.bits() & format.magnitude_mask();
                    for (sum, term) in sums.iter_mut().zip(&mut terms) {
                        if magnitude(*sum) < magnitude(*term) {
                            std::mem::swap(sum, term);
                        }
                    }
                    self.combine(true, &mut sums, &total);
                    self.combine(false, &mut sums, &terms);
                    self.combine(false, &mut lost, &sums);
                }
            }
            std::mem::swap(&mut sums, &mut total);
            self.gathered[0] = terms;
        }
        if how == Compensation::Neumaier {
            // What is lost of an infinite sum is no number.
            let is_number = |bits: T| !format.is_nan(bits.bits()) && !format.is_infinite(bits.bits());
            lost.iter_mut().filter(|lost| !is_number(**lost)).for_each(|lost| *lost = T::default());
            self.combine(false, &mut sums, &lost);
        }
        sums
    }

    fn on_tensor_core(&mut self, unit: &TensorUnit, begins: bool, first: &[usize], length: usize) -> Vec<T> {
        // Whole instructions: zeros behind the last product change nothing.
        let depth = length.next_multiple_of(unit.dot.k as usize);
        let format = self.additions.format;
        let lanes = first.len() * self.results();
        let rows = |factor: &Factor<'_, T>, element: Element| {
            let mut all = Elements::of_width(element.stride().max(8));
            for &term in first {
                for &result in &factor.first {
                    for at in 0..length {
                        let bits = factor.elements[result + (term + at) * factor.step].bits();
                        all.push(in_element(format, element, bits).unwrap_or(0));
                    }
                    all.push_repeated(0, depth - length);
                }
            }
            all
        };
        let [a, b] = self.factors.as_slice() else { return vec![T::default(); lanes] };
        let Dot { a: of_a, b: of_b, .. } = unit.dot;
        let (a, b) = (rows(a, of_a), rows(b, of_b));
        let [a, b] = [&a, &b].map(|all| Vectors::new(all, depth, 1));
        let mut sums = vec![0; lanes];
        if begins {
            sums.iter_mut().zip(self.addends.iter().cycle()).for_each(|(sum, addend)| *sum = addend.bits());
        }
        if let Ok(product) = MatrixProduct::new(unit.dot, &self.profile, a, b, Pairs::Each, depth) {
            product.rows(0, &mut sums);
        }
        sums.into_iter().map(T::cut).collect()
    }
}
