//! Matrix multiply-add: one element of a matrix's result, a dot product plus an addend, as tensor cores compute it.
//!
//! A tensor core adds several products at once: it cuts each toward zero to a grid below the largest exponent, adds what
//! is left exactly, and converts the sum once. Nothing in PTX says so; the rows that say which fields a machine has are
//! in the language's table, with the evidence for each.

#[cfg(feature = "std")]
mod lanes;
#[cfg(feature = "std")]
mod matrices;
mod step;

#[cfg(feature = "std")]
pub use matrices::{MatrixProduct, Pairs, Vectors};
pub use step::{DotEvent, DotTerm, DotTrace, Position};

use crate::{
    AddendCut, ArithOp, Element, ExactNumber, FiniteNumber, Format, NarrowFormat, Operation, Profile, Rounding,
    Unpacked, unpack, widen,
};

/// The most products that a step adds.
const MAX_BLOCK: usize = 64;

/// A format of scales, which are not negative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScaleFormat {
    /// A power of two: 2^(bits − 127); 255 is a NaN. There is no zero.
    Ue8m0,
    /// e4m3 with its sign ignored.
    Ue4m3,
}

impl ScaleFormat {
    /// As PTX writes it: `ue8m0`, `ue4m3`.
    pub const fn name(self) -> &'static str {
        match self {
            ScaleFormat::Ue8m0 => "ue8m0",
            ScaleFormat::Ue4m3 => "ue4m3",
        }
    }

    /// Reads the bits of a scale.
    pub const fn unpack(self, bits: u64) -> Unpacked {
        match self {
            ScaleFormat::Ue8m0 if bits & 0xff == 0xff => Unpacked::Nan { signalling: false },
            ScaleFormat::Ue8m0 => {
                Unpacked::Finite(FiniteNumber { negative: false, quantum: (bits & 0xff) as i32 - 127, significand: 1 })
            }
            ScaleFormat::Ue4m3 => NarrowFormat::E4M3.unpack(bits & 0x7f),
        }
    }
}

/// Scales of a and of b: each is for so many products, k ascending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scale {
    /// Their format.
    pub format: ScaleFormat,
    /// Products that share one scale of a and one of b.
    pub block: u32,
}

/// The order in which the steps take the products.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// k ascending.
    Ascending,
    /// Those with k mod 4 in {0, 1}, then those with k mod 4 in {2, 3}: 8-bit floats that an assembler unpacks to f16.
    Halves,
}

/// Where the addend enters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addend {
    /// The first step takes it as a term.
    InFirstStep,
    /// The first step starts from +0; one addition to nearest even takes the addend at the end.
    AfterLastStep,
}

/// One element of a matrix multiply-add: d = c + the sum of a\[i\] × b\[i\], as steps of `block` products each.
///
/// With `kept` of `None` nothing is cut: each step is one fused multiply-add, rounded once, and `block` is 1. With one
/// product that is `fma`.
///
/// ```
/// use roundonce_arith::{Addend, Dot, Element, Format, Order, Profile, Rounding};
/// let a100 = Dot { // mma.sync m16n8k8 f16 on sm_80
///     a: Element::Float(Format::F16),
///     b: Element::Float(Format::F16),
///     c: Format::F32,
///     d: Format::F32,
///     accumulator: Format::F32,
///     k: 8,
///     block: 8,
///     group: 1,
///     kept: Some(24),
///     order: Order::Ascending,
///     addend: Addend::InFirstStep,
///     rounding: Rounding::TowardZero,
///     fraction: 23,
///     scale: None,
///     floor: -132,
/// };
/// // 2^10 × 2^10 + seven times 2^-6: 2^-6 is 2^-26 of the largest term, so that all seven are cut away.
/// let (mut a, mut b) = ([0x2400; 8], [0x3c00; 8]);
/// (a[0], b[0]) = (0x6400, 0x6400);
/// assert_eq!(a100.evaluate(&Profile::NVIDIA, &a, &b, 0, [&[], &[]]), 0x4980_0000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dot {
    /// The format of a's elements.
    pub a: Element,
    /// The format of b's elements.
    pub b: Element,
    /// The addend's format; `accumulator` holds it.
    pub c: Format,
    /// The result's format. If it is not `accumulator`, the last sum is rounded to it, to nearest even.
    pub d: Format,
    /// The format of a step's result, and of the next one's addend.
    pub accumulator: Format,
    /// Products.
    pub k: u32,
    /// Products a step; `k` is a multiple of it.
    pub block: u32,
    /// Products that are added exactly before a scale is applied: 1, or 16 in the kinds of 4-bit numbers, where one term
    /// is such a sum.
    pub group: u32,
    /// Bits kept below the largest exponent of a step's terms; `None`: nothing is cut.
    pub kept: Option<u32>,
    /// The order of the products.
    pub order: Order,
    /// Where the addend enters.
    pub addend: Addend,
    /// The direction of a step's conversion to `accumulator`. What is too large becomes an infinity, also toward zero, if
    /// terms were cut.
    pub rounding: Rounding,
    /// Fraction bits that the conversion keeps; the rest of the accumulator's are zero.
    pub fraction: u32,
    /// Block scales.
    pub scale: Option<Scale>,
    /// The exponent of a term that is zero, by [`ZeroExponent::Floor`](crate::ZeroExponent::Floor).
    pub floor: i32,
}

/// A factor taken apart: ±significand × 2^(exponent − fraction bits of its format). A subnormal number keeps its format's
/// smallest exponent.
#[derive(Clone, Copy)]
struct Factor {
    negative: bool,
    class: Class,
    exponent: i32,
    significand: u64,
}

impl Factor {
    const ONE: Factor = Factor { negative: false, class: Class::Finite, exponent: 0, significand: 1 };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Zero,
    Finite,
    Infinite,
    Nan,
}

impl Element {
    /// Takes an element apart.
    fn factor(self, container: u64) -> Factor {
        let bits = self.of_container(container);
        let fields = self.fields();
        let class = match self.unpack(bits) {
            Unpacked::Zero { .. } => Class::Zero,
            Unpacked::Finite(_) => Class::Finite,
            Unpacked::Infinite { .. } => Class::Infinite,
            Unpacked::Nan { .. } => Class::Nan,
        };
        let field = (bits >> fields.frac_bits()) & fields.exp_max();
        let hidden = if field == 0 { 0 } else { fields.smallest_normal() };
        Factor {
            negative: fields.is_negative(bits),
            class,
            exponent: field.max(1) as i32 - fields.bias(),
            significand: bits & fields.frac_mask() | hidden,
        }
    }
}

impl Dot {
    /// The index of the product that comes at `place` in the order of the steps.
    #[inline]
    pub const fn index(&self, place: usize) -> usize {
        match self.order {
            Order::Ascending => place,
            Order::Halves => {
                let half = self.k as usize / 2;
                let (within, upper) = (place % half, place / half);
                within / 2 * 4 + upper * 2 + within % 2
            }
        }
    }

    /// Steps.
    pub const fn steps(&self) -> u32 {
        self.k / self.block
    }

    /// The number of scales of each matrix that one element takes.
    pub const fn scales(&self) -> usize {
        match self.scale {
            None => 0,
            Some(scale) => (self.k / scale.block) as usize,
        }
    }

    /// The scale 2^(`power` − 4): 0 to 7.
    pub const fn scale_near_one(&self, power: u64) -> u64 {
        match self.scale {
            Some(Scale { format: ScaleFormat::Ue4m3, .. }) => (power % 8 + 3) << 3,
            _ => power % 8 + 123,
        }
    }

    /// The result. `scales` are those of a and of b, k ascending; none where the row has no scales.
    ///
    /// # Panics
    /// If `a` or `b` has not `k` elements, or `scales` not [`scales`](Dot::scales) each.
    pub fn evaluate(&self, profile: &Profile, a: &[u64], b: &[u64], c: u64, scales: [&[u64]; 2]) -> u64 {
        self.evaluate_traced(profile, a, b, c, scales, &mut ())
    }

    /// [`evaluate`](Dot::evaluate), with an event for every step sent to `trace`.
    ///
    /// # Panics
    /// As [`evaluate`](Dot::evaluate).
    pub fn evaluate_traced(
        &self,
        profile: &Profile,
        a: &[u64],
        b: &[u64],
        c: u64,
        scales: [&[u64]; 2],
        trace: &mut impl DotTrace,
    ) -> u64 {
        let k = self.k as usize;
        assert!(a.len() == k && b.len() == k, "{k} products need {k} elements of each matrix");
        assert!(scales.iter().all(|scales| scales.len() == self.scales()), "scales: {} of each matrix", self.scales());
        let c = if self.c == self.accumulator { c & self.c.mask() } else { widen(self.c, self.accumulator, c) };
        let mut sum = match self.addend {
            Addend::InFirstStep => c,
            Addend::AfterLastStep => 0,
        };
        for start in (0..k).step_by(self.block as usize) {
            sum = match self.kept {
                Some(kept) => self.step(kept, profile, [a, b], scales, start, sum, trace),
                None => self.fused_step(profile, [a, b], start, sum, trace),
            };
        }
        if self.addend == Addend::AfterLastStep {
            let add = Operation::new(ArithOp::Add, self.accumulator, Rounding::NearestEven);
            let before = sum;
            sum = add.evaluate(profile, &[before, c]).bits;
            trace.event(DotEvent::AddendAdded { sum: before, addend: c, result: sum });
        }
        if self.d == self.accumulator {
            return sum;
        }
        let result = self.converted(profile, sum);
        trace.event(DotEvent::Converted { sum, result });
        result
    }

    /// The step of one product of which nothing is cut.
    fn fused_step(
        &self,
        profile: &Profile,
        [a, b]: [&[u64]; 2],
        start: usize,
        sum: u64,
        trace: &mut impl DotTrace,
    ) -> u64 {
        let index = self.index(start);
        let wide = |element: Element, bits| match element {
            Element::Float(format) if format == self.accumulator => bits,
            _ => element.widened_to(self.accumulator, bits),
        };
        let fma = Operation::mul_add(self.accumulator, self.rounding);
        let factors = [wide(self.a, a[index]), wide(self.b, b[index])];
        let profile = Profile { nan_f64: profile.dot_nan_f64, ..*profile };
        let result = fma.evaluate(&profile, &[factors[0], factors[1], sum]).bits;
        trace.event(DotEvent::Fused { index, factors, sum, result });
        result
    }

    /// A sum of the accumulator's format in the result's.
    fn converted(&self, profile: &Profile, sum: u64) -> u64 {
        let signed = |negative, magnitude| if negative { self.d.sign_mask() | magnitude } else { magnitude };
        match unpack(self.accumulator, sum) {
            Unpacked::Zero { negative } => signed(negative, 0),
            Unpacked::Infinite { negative } => signed(negative, self.d.infinity()),
            Unpacked::Nan { .. } => profile.nan_result(self.d, None),
            Unpacked::Finite(number) => ExactNumber::from(number).round(self.d, Rounding::NearestEven).bits,
        }
    }

    /// The bits kept of the addend.
    const fn kept_of_addend(&self, kept: u32, profile: &Profile) -> u32 {
        match profile.dot_addend {
            AddendCut::AsProducts => kept,
            AddendCut::ToPrecision => self.accumulator.frac_bits(),
        }
    }
}
