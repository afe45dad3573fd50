//! One machine that might have given a seen result: the instruction with a few things done otherwise.

use roundonce::arith::{ArithOp, Clamp, Flags, Format, Operation, Outcome, Rounding, Tininess, Underflow, widen};
use roundonce::isa::convert;
use roundonce::{Profile, Value};

use crate::block::Vector;
use crate::subject::{Law, PROFILE, Subject};

/// An operation with every choice of its pipeline apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Machine {
    /// Its `flush` is not looked at.
    operation: Operation,
    profile: Profile,
    flush_operands: bool,
    flush_results: Option<Tininess>,
    /// The product is rounded before the sum.
    unfused: bool,
    /// Everything is computed in this format, then rounded again.
    wide: Option<Format>,
    /// Any NaN is as good as another.
    any_nan: bool,
    /// Either zero is as good as the other.
    any_zero: bool,
}

/// One thing done otherwise. Where several explain the same failures, the earlier is believed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Cause {
    AnotherNan,
    OtherZero,
    FlushOperands,
    FlushResults,
    FlushBoth,
    FlushResultsAfterRounding,
    FlushResultsBeforeRounding,
    KeepOperands,
    KeepResults,
    KeepBoth,
    TowardZero,
    NearestEven,
    Down,
    Up,
    Saturate,
    NotSaturate,
    Unfused,
    WideF32,
    WideF64,
    ZeroDominance,
    NoZeroDominance,
    Truncated,
    NotTruncated,
    NegatedAddend,
    NegatedProduct,
}

impl Cause {
    pub(crate) const ALL: [Cause; 25] = [
        Cause::AnotherNan,
        Cause::OtherZero,
        Cause::FlushOperands,
        Cause::FlushResults,
        Cause::FlushBoth,
        Cause::FlushResultsAfterRounding,
        Cause::FlushResultsBeforeRounding,
        Cause::KeepOperands,
        Cause::KeepResults,
        Cause::KeepBoth,
        Cause::TowardZero,
        Cause::NearestEven,
        Cause::Down,
        Cause::Up,
        Cause::Saturate,
        Cause::NotSaturate,
        Cause::Unfused,
        Cause::WideF32,
        Cause::WideF64,
        Cause::ZeroDominance,
        Cause::NoZeroDominance,
        Cause::Truncated,
        Cause::NotTruncated,
        Cause::NegatedAddend,
        Cause::NegatedProduct,
    ];

    /// What was done, as the end of "explained by".
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Cause::AnotherNan => "another NaN's bits",
            Cause::OtherZero => "the other sign of a zero",
            Cause::FlushOperands => "flushing subnormal operands",
            Cause::FlushResults => "flushing subnormal results",
            Cause::FlushBoth => "flushing subnormal operands and results",
            Cause::FlushResultsAfterRounding => {
                "flushing results that are subnormal when rounded with an unbounded exponent"
            }
            Cause::FlushResultsBeforeRounding => "flushing subnormal results before rounding",
            Cause::KeepOperands => "keeping subnormal operands",
            Cause::KeepResults => "keeping subnormal results",
            Cause::KeepBoth => "keeping subnormal operands and results",
            Cause::TowardZero => "rounding toward zero",
            Cause::NearestEven => "rounding to nearest even",
            Cause::Down => "rounding down",
            Cause::Up => "rounding up",
            Cause::Saturate => "saturating the result",
            Cause::NotSaturate => "not saturating the result",
            Cause::Unfused => "rounding the product before the sum (unfused)",
            Cause::WideF32 => "computing in f32 and rounding again (double rounding)",
            Cause::WideF64 => "computing in f64 and rounding again (double rounding)",
            Cause::ZeroDominance => "a zero factor making the product +0 (FMZ)",
            Cause::NoZeroDominance => "a zero factor not making the product +0 (no FMZ)",
            Cause::Truncated => "cutting the product to the result's precision (mad of sm_1x)",
            Cause::NotTruncated => "not cutting the product (fma)",
            Cause::NegatedAddend => "the addend's sign flipped",
            Cause::NegatedProduct => "the product's sign flipped",
        }
    }
}

impl Machine {
    /// The machine that does everything right.
    pub(crate) fn right(subject: &Subject) -> Machine {
        let operation = subject.recipe().operation;
        Machine {
            operation,
            profile: PROFILE,
            flush_operands: operation.flush,
            flush_results: operation.flush.then_some(PROFILE.tininess),
            unfused: false,
            wide: None,
            any_nan: subject.law == Law::AnyNan,
            any_zero: false,
        }
    }

    /// The same with one thing done otherwise; `None` if that changes nothing or makes no sense.
    pub(crate) fn with(self, cause: Cause) -> Option<Machine> {
        let mut other = self;
        let operation = &mut other.operation;
        match cause {
            Cause::AnotherNan => other.any_nan = true,
            Cause::OtherZero => other.any_zero = true,
            Cause::FlushOperands => other.flush_operands = true,
            Cause::FlushResults => other.flush_results = Some(Tininess::Result),
            Cause::FlushBoth if !self.flush_operands && self.flush_results.is_none() => {
                other.flush_operands = true;
                other.flush_results = Some(Tininess::Result);
            }
            Cause::FlushResultsAfterRounding => other.flush_results = Some(Tininess::AfterRounding),
            Cause::FlushResultsBeforeRounding => other.flush_results = Some(Tininess::BeforeRounding),
            Cause::KeepOperands => other.flush_operands = false,
            Cause::KeepResults => other.flush_results = None,
            Cause::KeepBoth if self.flush_operands && self.flush_results.is_some() => {
                other.flush_operands = false;
                other.flush_results = None;
            }
            Cause::FlushBoth | Cause::KeepBoth => {}
            Cause::TowardZero => operation.rounding = Rounding::TowardZero,
            Cause::NearestEven => operation.rounding = Rounding::NearestEven,
            Cause::Down => operation.rounding = Rounding::Down,
            Cause::Up => operation.rounding = Rounding::Up,
            Cause::Saturate => operation.clamp = Clamp::Unit,
            Cause::NotSaturate => operation.clamp = Clamp::None,
            Cause::Unfused => other.unfused = operation.op == ArithOp::MulAdd,
            Cause::WideF32 if operation.format.width() < 32 => other.wide = Some(Format::F32),
            Cause::WideF64 if operation.format.width() < 64 => other.wide = Some(Format::F64),
            Cause::WideF32 | Cause::WideF64 => {}
            Cause::ZeroDominance => operation.fmz = operation.op != ArithOp::Add,
            Cause::NoZeroDominance => operation.fmz = false,
            Cause::Truncated if operation.op == ArithOp::MulAdd => operation.op = ArithOp::TruncatedMulAdd,
            Cause::NotTruncated if operation.op == ArithOp::TruncatedMulAdd => operation.op = ArithOp::MulAdd,
            Cause::Truncated | Cause::NotTruncated => {}
            Cause::NegatedAddend => operation.negate_addend ^= operation.op != ArithOp::Mul,
            Cause::NegatedProduct => operation.negate_product ^= true,
        }
        (other != self).then_some(other)
    }

    /// Whether the machine gives a vector's result.
    pub(crate) fn gives(&self, vector: &Vector) -> bool {
        let format = self.operation.format;
        vector.result.components().iter().enumerate().all(|(lane, &seen)| {
            let bits = self.component(lane, &vector.operands);
            bits == seen
                || self.any_nan && format.is_nan(bits) && format.is_nan(seen)
                || self.any_zero && format.is_zero(bits) && format.is_zero(seen)
        })
    }

    fn component(&self, lane: usize, values: &[Value]) -> u64 {
        let format = self.operation.format;
        let mut bits = [0; 3];
        for (index, (bits, value)) in bits.iter_mut().zip(values).enumerate() {
            *bits = widen(self.operation.operand_format(index), format, value.components()[lane]);
        }
        let operands = &mut bits[..values.len()];
        let operation = Operation { source_format: format, flush: false, ..self.operation };
        // Where operands and results are flushed alike, the pipeline does it, between its own steps too.
        if let Some(tiny) = self.flush_results
            && self.flush_operands
            && self.wide.is_none()
        {
            let profile = Profile { tininess: tiny, ..self.profile };
            return self.steps(&Operation { flush: true, ..operation }, &profile, operands).bits;
        }
        if self.flush_operands {
            for bits in &mut *operands {
                *bits = if format.is_subnormal(*bits) { *bits & format.sign_mask() } else { *bits };
            }
        }
        let unclamped = Operation { clamp: Clamp::None, ..operation };
        let bits = match self.wide {
            None => self.flushed(&unclamped, operands),
            Some(wide) => self.narrowed(&unclamped, wide, operands),
        };
        operation.clamp.apply(format, bits)
    }

    /// The operation, its product rounded by itself if it is unfused.
    fn steps(&self, operation: &Operation, profile: &Profile, operands: &[u64]) -> Outcome {
        if !self.unfused {
            return operation.evaluate(profile, operands);
        }
        let product = Operation { op: ArithOp::Mul, clamp: Clamp::None, ..*operation };
        let product = product.evaluate(profile, &operands[..2]);
        let sum = Operation { op: ArithOp::Add, negate_product: false, fmz: false, ..*operation };
        sum.evaluate(profile, &[product.bits, operands[2]])
    }

    /// The result flushed by this machine's rule, the operands as they are.
    fn flushed(&self, operation: &Operation, operands: &[u64]) -> u64 {
        let format = operation.format;
        let underflow = match self.flush_results {
            Some(Tininess::BeforeRounding) => Underflow::BeforeRounding,
            _ => Underflow::AfterRounding,
        };
        let outcome = self.steps(operation, &Profile { underflow, ..self.profile }, operands);
        let tiny = match self.flush_results {
            None => false,
            Some(Tininess::Result) => format.is_subnormal(outcome.bits),
            // An inexact tiny result raises underflow by the same rule; an exact one is subnormal.
            Some(_) if outcome.flags.contains(Flags::INEXACT) => outcome.flags.contains(Flags::UNDERFLOW),
            Some(_) => format.is_subnormal(outcome.bits),
        };
        if tiny { outcome.bits & format.sign_mask() } else { outcome.bits }
    }

    /// Computed in a wider format and rounded again.
    fn narrowed(&self, operation: &Operation, wide: Format, operands: &[u64]) -> u64 {
        let format = operation.format;
        let wider = Operation { format: wide, source_format: wide, ..*operation };
        let mut widened = [0; 3];
        for (to, bits) in widened.iter_mut().zip(operands) {
            *to = widen(format, wide, *bits);
        }
        let outcome = self.steps(&wider, &self.profile, &widened[..operands.len()]);
        let bits = if wide.is_nan(outcome.bits) {
            // The NaN of the narrow operation: this is about numbers.
            operation.evaluate(&self.profile, operands).bits
        } else {
            convert(wide, format, operation.rounding, outcome.bits).0
        };
        if self.flush_results.is_some() && format.is_subnormal(bits) { bits & format.sign_mask() } else { bits }
    }
}
