//! The pipeline: every instruction of every language is this with fields set.
//!
//! The steps are those of the project's semantics: widen, negate, flush operands, zero factors, NaN, exact product,
//! exact sum, round once, flush the result, clamp. Condition codes follow from the bits
//! ([`ConditionCodes::of`](crate::ConditionCodes::of)).

use crate::fast_path;
use crate::flush::flush_operand;
use crate::nan::nan_result;
use crate::round::{ExactValue, handle_underflow, round};
use crate::wide::Wide;
use crate::{
    Event, FiniteNumber, Flags, FmzSatNan, Format, OperandIndex, Outcome, Profile, Rounding, Sm1xMad, Term, Trace,
    Unpacked,
};
use crate::{unpack, widen};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArithOp {
    /// a × b + c, rounded once.
    MulAdd,
    /// a + c.
    Add,
    /// a × b.
    Mul,
    /// a × b cut to the format's precision with an unbounded exponent, then + c, rounded once: `mad.f32` of sm_1x.
    TruncatedMulAdd,
}

impl ArithOp {
    /// The number of operands.
    pub const fn arity(self) -> usize {
        match self {
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => 3,
            ArithOp::Add | ArithOp::Mul => 2,
        }
    }
    /// The positions of its operands, in order.
    pub const fn operands(self) -> &'static [OperandIndex] {
        match self {
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => &[OperandIndex::A, OperandIndex::B, OperandIndex::C],
            ArithOp::Add => &[OperandIndex::A, OperandIndex::C],
            ArithOp::Mul => &[OperandIndex::A, OperandIndex::B],
        }
    }
}

/// The range that a result is clamped to, in its own format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Clamp {
    /// None.
    None,
    /// [+0, 1]; NaN becomes +0: `.sat`, `.SAT`.
    Unit,
    /// [+0, +infinity]; NaN becomes the canonical NaN: `.relu`.
    Relu,
}

/// One component's arithmetic: everything that an instruction's spelling decides.
///
/// ```
/// use roundonce_arith::{Format, Operation, Profile, Rounding};
/// let fma = Operation::mul_add(Format::F32, Rounding::NearestEven);
/// let outcome = fma.evaluate(&Profile::NVIDIA, &[0x3f80_0001, 0x3f80_0001, 0xbf80_0002]);
/// assert_eq!(outcome.bits, 0x2880_0000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    /// What is computed.
    pub op: ArithOp,
    /// The format of the addend and of the result.
    pub format: Format,
    /// The format of the factors (of an addition, of its first operand): the same, or one that `format` holds.
    pub source_format: Format,
    /// The formats of a, b and c where `source_format` and `format` do not say them: an addend of another format than
    /// the result's, or two factors of unlike formats. All of them, and the result's, are formats that f32 holds.
    pub operand_formats: Option<[Format; 3]>,
    /// The product (of an addition, the first operand) is negated.
    pub negate_product: bool,
    /// The addend is negated.
    pub negate_addend: bool,
    /// The direction of the one rounding.
    pub rounding: Rounding,
    /// Subnormal operands and results become zero of their sign: `.ftz`, `.FTZ`, and part of `.FMZ`.
    pub flush: bool,
    /// A zero factor makes the product +0, whatever the other factor is (the multiplication of Direct3D 9): `.FMZ`.
    pub fmz: bool,
    /// The range that the result is clamped to: `.sat`, `.SAT`, `.relu`.
    pub clamp: Clamp,
    /// An out-of-bounds NaN as a factor makes the result +0, before the clamp: `.oob`.
    pub oob: bool,
}

impl Operation {
    /// An operation of one format with nothing but its rounding set.
    pub const fn new(op: ArithOp, format: Format, rounding: Rounding) -> Operation {
        Operation {
            op,
            format,
            source_format: format,
            operand_formats: None,
            negate_product: false,
            negate_addend: false,
            rounding,
            flush: false,
            fmz: false,
            clamp: Clamp::None,
            oob: false,
        }
    }
    /// The fused multiply-add of one format.
    pub const fn mul_add(format: Format, rounding: Rounding) -> Operation {
        Operation::new(ArithOp::MulAdd, format, rounding)
    }

    /// Whether results are clamped to [+0, 1].
    pub const fn saturates(&self) -> bool {
        matches!(self.clamp, Clamp::Unit)
    }

    /// The format of each operand, in order.
    pub fn operand_format(&self, index: usize) -> Format {
        let operand = self.op.operands()[index];
        match (self.operand_formats, operand) {
            (Some(formats), operand) => formats[operand as usize],
            (None, OperandIndex::C) => self.format,
            (None, OperandIndex::A | OperandIndex::B) => self.source_format,
        }
    }

    /// The same with its own result, a product, for the first operand: its format is the result's.
    #[must_use]
    pub fn taking_product(&self) -> Operation {
        let format = self.format;
        let operand_formats = self.operand_formats.map(|[.., addend]| [format, format, addend]);
        Operation { source_format: format, operand_formats, ..*self }
    }

    /// Whether the operands and the result are of one format.
    pub fn is_uniform(&self) -> bool {
        self.operand_formats.is_none() && self.source_format == self.format
    }

    /// The result of the pipeline.
    ///
    /// # Panics
    /// If the number of operands is not [`ArithOp::arity`], or `format` (where `operand_formats` is set: f32) cannot hold
    /// an operand's format.
    #[inline(always)]
    pub fn evaluate(&self, profile: &Profile, operands: &[u64]) -> Outcome {
        if let (ArithOp::MulAdd, &[a, b, c]) = (self.op, operands)
            && let Some(outcome) = self.evaluate_normal([a, b, c])
        {
            return outcome;
        }
        self.evaluate_untraced(profile, operands)
    }
    /// The same for a loop over sums: a fast path is compiled where it is called.
    ///
    /// ```
    /// use roundonce_arith::{ArithOp, Format, Operation, Profile, Rounding};
    /// let add = Operation::new(ArithOp::Add, Format::F32, Rounding::NearestEven);
    /// assert_eq!(add.evaluate_sum(&Profile::NVIDIA, [0x3f80_0000, 0x4000_0000]).bits, 0x4040_0000);
    /// ```
    ///
    /// # Panics
    /// If the operation is not [`ArithOp::Add`]; and as [`evaluate`](Operation::evaluate).
    #[inline(always)]
    pub fn evaluate_sum(&self, profile: &Profile, [a, c]: [u64; 2]) -> Outcome {
        assert!(self.op == ArithOp::Add, "{:?} is no sum", self.op);
        // a + c = a × 1 + c.
        let fast = self.evaluate_normal([a, self.format.one(), c]);
        fast.unwrap_or_else(|| self.evaluate_untraced(profile, &[a, c]))
    }

    /// The result of a × b + c by the fast path, if operands and result are normal.
    #[inline(always)]
    fn evaluate_normal(&self, operands: [u64; 3]) -> Option<Outcome> {
        if !self.is_uniform() || self.oob {
            return None;
        }
        // Each arm is compiled to a copy for its format.
        match self.format {
            Format::F32 => self.evaluate_normal_in::<u64>(Format::F32, operands),
            Format::F64 => self.evaluate_normal_in::<u128>(Format::F64, operands),
            _ => None,
        }
    }
    #[inline(always)]
    fn evaluate_normal_in<W: Wide>(&self, format: Format, [a, b, c]: [u64; 3]) -> Option<Outcome> {
        let sign = |negate| if negate { format.sign_mask() } else { 0 };
        let operands = [a ^ sign(self.negate_product), b, c ^ sign(self.negate_addend)];
        let Outcome { bits, flags } = fast_path::mul_add::<W>(format, self.rounding, operands)?;
        Some(Outcome { bits: self.clamp.apply(format, bits), flags })
    }

    #[inline(never)]
    fn evaluate_untraced(&self, profile: &Profile, operands: &[u64]) -> Outcome {
        self.evaluate_traced(profile, operands, &mut ())
    }

    /// [`evaluate`](Operation::evaluate), with an event for every step sent to `trace`.
    ///
    /// # Panics
    /// As [`evaluate`](Operation::evaluate).
    #[inline]
    pub fn evaluate_traced(&self, profile: &Profile, operands: &[u64], trace: &mut impl Trace) -> Outcome {
        let operands = match (self.op, operands) {
            (ArithOp::MulAdd | ArithOp::TruncatedMulAdd, &[a, b, c]) => [a, b, c],
            (ArithOp::Add, &[a, c]) => [a, 0, c],
            (ArithOp::Mul, &[a, b]) => [a, b, 0],
            (op, _) => panic!("{op:?} takes {} operands, not {}", op.arity(), operands.len()),
        };
        if let Some(formats) = self.operand_formats {
            return in_single_precision(self, formats, profile, operands, trace);
        }
        // Each arm is compiled to a copy of the pipeline for its format.
        match self.format {
            Format::F32 => dispatch::<u64>(Format::F32, self, profile, operands, trace),
            Format::F64 => dispatch::<u128>(Format::F64, self, profile, operands, trace),
            format if format.precision() <= 29 => dispatch::<u64>(format, self, profile, operands, trace),
            format => dispatch::<u128>(format, self, profile, operands, trace),
        }
    }
}

/// `.oob`, step 1, and the two-step case of sm_1x; everything else passes the pipeline once.
#[inline(always)]
fn dispatch<W: Wide>(
    format: Format,
    operation: &Operation,
    profile: &Profile,
    [mut a, mut b, c]: [u64; 3],
    trace: &mut impl Trace,
) -> Outcome {
    if operation.oob && profile.has_oob_factor([a, b, c]) {
        trace.event(Event::OutOfBounds);
        return Outcome { bits: 0, flags: Flags::NONE };
    }
    if operation.source_format != format {
        a = widen(operation.source_format, format, a);
        b = widen(operation.source_format, format, b);
    }
    if operation.op == ArithOp::TruncatedMulAdd {
        return truncated::<W>(format, operation, profile, [a, b, c], trace);
    }
    pipeline::<W>(format, format, operation, profile, [a, b, c], trace)
}

/// Operands of formats of their own: each is widened to f32, which holds them all, and the exact value is rounded to the
/// result's format.
#[cold]
#[inline(never)]
fn in_single_precision(
    operation: &Operation,
    formats: [Format; 3],
    profile: &Profile,
    operands: [u64; 3],
    trace: &mut impl Trace,
) -> Outcome {
    let wide = |index: usize| match formats[index] {
        Format::F32 => operands[index],
        format => widen(format, Format::F32, operands[index]),
    };
    pipeline::<u64>(Format::F32, operation.format, operation, profile, [wide(0), wide(1), wide(2)], trace)
}

/// `mad.f32` of sm_1x: `mul` then `add` where the addend is zero (once flushed); fused where the profile says that a
/// driver recompiled it.
#[cold]
#[inline(never)]
fn truncated<W: Wide>(
    format: Format,
    operation: &Operation,
    profile: &Profile,
    [a, b, c]: [u64; 3],
    trace: &mut impl Trace,
) -> Outcome {
    if profile.sm1x_mad == Sm1xMad::FusedFtz {
        let fused = Operation { op: ArithOp::MulAdd, flush: true, ..*operation };
        return pipeline::<W>(format, format, &fused, profile, [a, b, c], trace);
    }
    let c_is_zero = format.is_zero(c) || (operation.flush && format.is_subnormal(c));
    if !c_is_zero {
        return pipeline::<W>(format, format, operation, profile, [a, b, c], trace);
    }
    let mul = Operation { op: ArithOp::Mul, clamp: Clamp::None, ..*operation };
    let product = pipeline::<W>(format, format, &mul, profile, [a, b, 0], trace);
    trace.event(Event::SeparateProduct(product));
    let add = Operation { op: ArithOp::Add, negate_product: false, ..*operation };
    let sum = pipeline::<W>(format, format, &add, profile, [product.bits, 0, c], trace);
    Outcome { bits: sum.bits, flags: product.flags.union(sum.flags) }
}

/// Steps 2 to 10, on operands of `format`; the result is rounded to `to`.
#[inline(always)]
fn pipeline<W: Wide>(
    format: Format,
    to: Format,
    operation: &Operation,
    profile: &Profile,
    [mut a, mut b, mut c]: [u64; 3],
    trace: &mut impl Trace,
) -> Outcome {
    let has_b = operation.op != ArithOp::Add;
    let has_c = operation.op != ArithOp::Mul;
    // 2. Negate. The two factor signs are one product sign. A NaN keeps its sign.
    a ^= if operation.negate_product && !format.is_nan(a) { format.sign_mask() } else { 0 };
    c ^= if operation.negate_addend && !format.is_nan(c) { format.sign_mask() } else { 0 };
    // 3. Flush operands.
    if operation.flush {
        a = flush_operand(format, a, OperandIndex::A, trace);
        if has_b {
            b = flush_operand(format, b, OperandIndex::B, trace);
        }
        if has_c {
            c = flush_operand(format, c, OperandIndex::C, trace);
        }
    }
    // 4. A zero factor under `.FMZ`: the product becomes +0 × +0.
    let mut nan_factor = false;
    if operation.fmz && has_b && (format.is_zero(a) || format.is_zero(b)) {
        trace.event(Event::ZeroFactor);
        nan_factor = format.is_nan(a) || format.is_nan(b);
        (a, b) = (0, 0);
    }
    let (ua, uc) = (unpack(format, a), unpack(format, c));
    let ub = if has_b { unpack(format, b) } else { Unpacked::Zero { negative: false } };

    // 5 to 9. The common case first: nothing but finite nonzero numbers.
    let product = match (ua, ub) {
        (Unpacked::Finite(x), Unpacked::Finite(y)) => Some(multiply::<W>(format, operation.op, x, y, trace)),
        (Unpacked::Finite(x), Unpacked::Zero { .. }) if !has_b => Some((align::<W>(format, x), false)),
        _ => None,
    };
    let outcome = match (product, uc) {
        (Some((product, truncated)), Unpacked::Finite(addend)) if has_c => {
            let addend = align::<W>(format, addend);
            trace.event(Event::Terms { product: Some(term(product)), addend: Some(term(addend)) });
            let sum = add(product, addend);
            let mut outcome = round_sum(to, operation, profile, sum, trace);
            outcome.flags = outcome.flags.union(Flags::INEXACT.when(truncated));
            outcome
        }
        _ => special_cases::<W>(format, operation, profile, [a, b, c], [ua, ub, uc], product, trace),
    };
    // 10. Clamp.
    let mut bits = operation.clamp.apply(to, outcome.bits);
    if nan_factor && operation.saturates() && profile.fmz_sat_nan == FmzSatNan::Zero {
        bits = 0;
    }
    if bits != outcome.bits {
        trace.event(Event::Clamped(outcome.bits));
    }
    Outcome { bits, ..outcome }
}

/// The special cases: zeros, infinities and NaNs.
#[inline(never)]
fn special_cases<W: Wide>(
    format: Format,
    operation: &Operation,
    profile: &Profile,
    operands: [u64; 3],
    [ua, ub, uc]: [Unpacked; 3],
    product: Option<(ExactValue<W>, bool)>,
    trace: &mut impl Trace,
) -> Outcome {
    use Unpacked::{Finite, Infinite, Nan, Zero};
    let to = operation.format;
    let used = operation.op.operands();
    let has_b = operation.op != ArithOp::Add;
    let has_c = operation.op != ArithOp::Mul;
    let is_nan = |unpacked| matches!(unpacked, Nan { .. });
    let zero_times_infinity =
        has_b && matches!((ua, ub), (Zero { .. }, Infinite { .. }) | (Infinite { .. }, Zero { .. }));

    // 5. NaN.
    if is_nan(ua) || (has_b && is_nan(ub)) || (has_c && is_nan(uc)) || zero_times_infinity {
        return nan_result(format, to, profile, operands, used, zero_times_infinity, trace);
    }
    let sign_a = format.is_negative(operands[0]);
    let product_negative = if has_b { sign_a ^ format.is_negative(operands[1]) } else { sign_a };
    let product_infinite = matches!(ua, Infinite { .. }) || (has_b && matches!(ub, Infinite { .. }));
    let addend_negative = format.is_negative(operands[2]);
    let addend_infinite = has_c && matches!(uc, Infinite { .. });
    if product_infinite && addend_infinite && product_negative != addend_negative {
        trace.event(Event::InfinityMinusInfinity);
        return nan_result(format, to, profile, operands, &[], true, trace);
    }
    let signed = |negative, magnitude| if negative { to.sign_mask() | magnitude } else { magnitude };
    let exactly = |bits| Outcome { bits, flags: Flags::NONE };
    if product_infinite || addend_infinite {
        return exactly(signed(if product_infinite { product_negative } else { addend_negative }, to.infinity()));
    }
    // 7. At most one term is left; the other is a zero, or absent.
    let addend = match uc {
        Finite(number) if has_c => Some(align::<W>(format, number)),
        _ => None,
    };
    trace.event(Event::Terms { product: product.map(|(exact, _)| term(exact)), addend: addend.map(term) });
    match (product, addend) {
        (Some((exact, truncated)), _) => {
            let outcome = round_sum(to, operation, profile, exact, trace);
            Outcome { flags: outcome.flags.union(Flags::INEXACT.when(truncated)), ..outcome }
        }
        (None, Some(exact)) => round_sum(to, operation, profile, exact, trace),
        (None, None) if !has_c => exactly(signed(product_negative, 0)),
        (None, None) if product_negative == addend_negative => exactly(signed(product_negative, 0)),
        (None, None) => exactly(signed(operation.rounding == Rounding::Down, 0)),
    }
}

/// A number aligned with its leading bit at the third position from the top.
#[inline(always)]
fn align<W: Wide>(format: Format, number: FiniteNumber) -> ExactValue<W> {
    let shift = W::BITS - 2 - format.precision();
    ExactValue {
        negative: number.negative,
        quantum: number.quantum - shift as i32,
        significand: W::from(number.significand) << shift,
    }
}

/// 6. The exact product, its leading bit at the third or fourth position from the top; and whether it was truncated.
#[inline(always)]
fn multiply<W: Wide>(
    format: Format,
    op: ArithOp,
    x: FiniteNumber,
    y: FiniteNumber,
    trace: &mut impl Trace,
) -> (ExactValue<W>, bool) {
    let shift = W::BITS - 2 - 2 * format.precision();
    let mut significand = W::product(x.significand, y.significand) << shift;
    let mut truncated = false;
    if op == ArithOp::TruncatedMulAdd {
        let drop = W::BITS - significand.leading_zeros() - format.precision();
        let kept = (significand >> drop) << drop;
        truncated = kept != significand;
        if truncated {
            trace.event(Event::ProductTruncated);
        }
        significand = kept;
    }
    let quantum = x.quantum + y.quantum - shift as i32;
    (ExactValue { negative: x.negative ^ y.negative, quantum, significand }, truncated)
}

/// 7. The sum, exact but for a sticky lowest bit far below the rounding position.
#[inline(always)]
fn add<W: Wide>(x: ExactValue<W>, y: ExactValue<W>) -> ExactValue<W> {
    let quantum = x.quantum.max(y.quantum);
    let xs = x.significand.shift_right_sticky((quantum - x.quantum) as u32);
    let ys = y.significand.shift_right_sticky((quantum - y.quantum) as u32);
    // Selections, not branches: which is larger and whether the signs agree is unpredictable.
    let (large, small, negative) = if xs >= ys { (xs, ys, x.negative) } else { (ys, xs, y.negative) };
    let significand = if x.negative == y.negative { large + small } else { large - small };
    ExactValue { negative, quantum, significand }
}

/// 8 and 9. Rounds a sum (zero by cancellation: +0, under .rm −0) and flushes it.
#[inline(always)]
fn round_sum<W: Wide>(
    format: Format,
    operation: &Operation,
    profile: &Profile,
    sum: ExactValue<W>,
    trace: &mut impl Trace,
) -> Outcome {
    if sum.significand == W::ZERO {
        let bits = if operation.rounding == Rounding::Down { format.sign_mask() } else { 0 };
        return Outcome { bits, flags: Flags::NONE };
    }
    let rounded = round(format, operation.rounding, sum);
    trace.event(Event::Rounded(rounded.outcome));
    let tininess = profile.tininess_of(operation.op);
    let outcome = handle_underflow(format, profile.underflow, operation.flush.then_some(tininess), rounded);
    if operation.flush && rounded.is_contested(format) {
        trace.event(Event::Boundary { tininess, tiny_after: rounded.tiny_after });
    }
    if outcome.bits != rounded.outcome.bits {
        trace.event(Event::FlushedResult);
    }
    outcome
}

/// A term for the trace: without the trailing zeros of the alignment.
#[inline(always)]
fn term<W: Wide>(exact: ExactValue<W>) -> Term {
    let significand = exact.significand.full();
    let zeros = significand.trailing_zeros();
    Term { negative: exact.negative, quantum: exact.quantum + zeros as i32, significand: significand >> zeros }
}
