//! The pipeline's steps as events, for explanations.

use crate::{OperandIndex, Outcome, Tininess};

/// An exact finite nonzero term: ±significand × 2^quantum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// Whether it is subtracted.
    pub negative: bool,
    /// The exponent of the significand's lowest bit.
    pub quantum: i32,
    /// The significand.
    pub significand: u128,
}

/// Something that a step of the pipeline did. Steps that change nothing send no event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Step 3: a subnormal operand became zero.
    FlushedOperand(OperandIndex),
    /// Step 4, `.FMZ`: a factor is zero, so the product is +0 whatever the other factor is.
    ZeroFactor,
    /// Step 5: the result is the NaN of this operand, or a canonical one because of it.
    NanOperand(OperandIndex),
    /// Step 5: zero times infinity.
    ZeroTimesInfinity,
    /// Step 5: infinity minus infinity.
    InfinityMinusInfinity,
    /// Steps 6 and 7: both terms, exact; `None` for a zero or absent one. Not sent if either is infinite.
    Terms {
        /// The product (of an addition, its first operand).
        product: Option<Term>,
        /// The addend.
        addend: Option<Term>,
    },
    /// Step 6, `mad.f32` of sm_1x: bits of the product were cut off.
    ProductTruncated,
    /// `mad.f32` of sm_1x with a zero addend: the product is rounded like `mul.f32`'s.
    SeparateProduct(Outcome),
    /// Step 9: the criteria of tininess do not agree on whether this result is flushed. The exact value is below the
    /// smallest normal number, and rounded it is that number.
    Boundary {
        /// The criterion that decides.
        tininess: Tininess,
        /// Whether the value rounded with an unbounded exponent range is below, too.
        tiny_after: bool,
    },
    /// Step 8: the sum rounded, before any flush.
    Rounded(Outcome),
    /// Step 9: the subnormal result became zero.
    FlushedResult,
    /// Step 10: the result was clamped; these were its bits.
    Clamped(u64),
    /// `.oob`: an operand is the out-of-bounds NaN, so that the result is +0 before the clamp.
    OutOfBounds,
}

/// An observer of the pipeline. `()` observes nothing, at no cost.
pub trait Trace {
    /// Called at each step that did something, in order.
    fn event(&mut self, event: Event);
}

impl Trace for () {
    #[inline(always)]
    fn event(&mut self, _: Event) {}
}

impl<F: FnMut(Event)> Trace for F {
    fn event(&mut self, event: Event) {
        self(event);
    }
}
