//! How one operation is evaluated: every step that may be done otherwise, apart.

use roundonce_arith::{
    ArithOp, Clamp, Format, NanRule, OperandIndex, Operation, Profile, Rounding, Tininess, Underflow,
};

use crate::deviation::{Deviation, FactorRounding, Narrowing};
use crate::stages::{NarrowBy, Stages, with_guard_bit};

/// A typed scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Typed {
    /// Its format.
    pub format: Format,
    /// Its bits.
    pub bits: u64,
}

/// The precision in which operations are carried out: C's `FLT_EVAL_METHOD`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EvalMethod {
    /// The operations' own formats.
    Native,
    /// Each operation in a wider format, its result rounded again to its own.
    EachOperation(Format),
    /// Everything in a wider format, only the last result rounded to its own.
    Whole(Format),
}

impl EvalMethod {
    /// The wider format, if there is one.
    pub const fn wide(self) -> Option<Format> {
        match self {
            EvalMethod::Native => None,
            EvalMethod::EachOperation(wide) | EvalMethod::Whole(wide) => Some(wide),
        }
    }
}

/// Which results are flushed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ResultFlush {
    /// None.
    None,
    /// The subnormal ones, as the profile says for the operation.
    ByProfile,
    /// The subnormal ones, by another rule than the profile's.
    By(Tininess),
}

/// An operation, and how it is evaluated.
///
/// ```
/// use roundonce_arith::{Format, Operation, Profile, Rounding, Tininess};
/// use roundonce_deviate::{Deviation, EvalModel};
/// let fma = Operation::mul_add(Format::F32, Rounding::NearestEven);
/// let model = EvalModel::of(fma, &Profile::NVIDIA);
/// // 2^-127 - 2^-126: an operand is subnormal and so is the result.
/// let operands = [0x0040_0000, 0x3f80_0000, 0x8080_0000];
/// let results = |deviation| model.with(&deviation).unwrap().result(&operands);
/// assert_eq!(results(Deviation::FlushResults(Tininess::Result)), 0x8000_0000);
/// assert_eq!(results(Deviation::Flush(None)), 0x8080_0000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EvalModel {
    /// Its `flush` is what the two fields below say.
    operation: Operation,
    profile: Profile,
    flush_operands: bool,
    flush_results: ResultFlush,
    /// Subnormals of the wider format that the operation is carried out in are flushed.
    flush_wide: bool,
    /// The product of a multiply-add is rounded before the sum.
    rounds_product: bool,
    method: EvalMethod,
    /// What is rounded to the operation's own format is cut off.
    cuts: bool,
    /// What is rounded to it to nearest has its ties away from zero.
    ties_away: bool,
    /// What is too large for it stays at its largest finite number.
    stays_finite: bool,
    /// The last result stays in the wider format.
    keeps_wide: bool,
    any_nan: bool,
    any_zero: bool,
    factors: Option<FactorRounding>,
}

impl EvalModel {
    /// An operation evaluated as it is written.
    pub fn of(operation: Operation, profile: &Profile) -> EvalModel {
        EvalModel {
            operation: Operation { flush: false, ..operation },
            profile: *profile,
            flush_operands: operation.flush,
            flush_results: if operation.flush { ResultFlush::ByProfile } else { ResultFlush::None },
            flush_wide: false,
            rounds_product: false,
            method: EvalMethod::Native,
            cuts: false,
            ties_away: false,
            stays_finite: false,
            keeps_wide: false,
            any_nan: false,
            any_zero: false,
            factors: None,
        }
    }

    /// The same where any NaN is as good as another.
    #[must_use]
    pub fn accepting_any_nan(self) -> EvalModel {
        EvalModel { any_nan: true, ..self }
    }

    /// The same with one thing done otherwise; `None` if that changes nothing, is about more than one operation, or is
    /// nothing that this operation has.
    pub fn with(self, deviation: &Deviation) -> Option<EvalModel> {
        let mut other = self;
        let EvalModel { operation, flush_operands, flush_results, .. } = &mut other;
        let is_flushing = self.flushes();
        let has_f32_factors = operation.format == Format::F32 && operation.op != ArithOp::Add;
        let is_about = |format: &Option<Format>| format.is_none_or(|format| format == self.operation.format);
        match deviation {
            Deviation::Flush(format) if is_about(format) && !is_flushing => {
                (*flush_operands, *flush_results) = (true, ResultFlush::ByProfile);
            }
            Deviation::Flush(Some(wide)) if is_wider(*wide, self.operation.format) => other.flush_wide = true,
            Deviation::Keep(format) if is_about(format) => {
                (*flush_operands, *flush_results) = (false, ResultFlush::None)
            }
            Deviation::FlushOperands => *flush_operands = true,
            Deviation::FlushResults(rule) if *rule == self.profile.tininess_of(operation.op) => {
                *flush_results = ResultFlush::ByProfile;
            }
            Deviation::FlushResults(rule) => *flush_results = ResultFlush::By(*rule),
            Deviation::KeepOperands => *flush_operands = false,
            Deviation::KeepResults => *flush_results = ResultFlush::None,
            Deviation::ZeroDominance if is_flushing => operation.fmz = operation.op != ArithOp::Add,
            Deviation::NoZeroDominance => operation.fmz = false,
            Deviation::Round(rounding) | Deviation::RoundUnmodified(rounding) => operation.rounding = *rounding,
            Deviation::OutOfBounds if operation.op == ArithOp::MulAdd && has_out_of_bounds(operation) => {
                operation.oob = true;
            }
            Deviation::NoOutOfBounds => operation.oob = false,
            Deviation::Saturate => operation.clamp = Clamp::Unit,
            Deviation::NoSaturate => operation.clamp = Clamp::None,
            Deviation::Split(_) => other.rounds_product = operation.op == ArithOp::MulAdd,
            Deviation::WideEachOperation(wide) if is_wider(*wide, operation.format) => {
                other.method = EvalMethod::EachOperation(*wide);
            }
            Deviation::WideResult(wide) if is_wider(*wide, operation.format) => {
                (other.method, other.keeps_wide) = (EvalMethod::Whole(*wide), true);
            }
            Deviation::Bf16Cut(narrowing) if operation.format == Format::BF16 => {
                other.cuts = true;
                other.method = match narrowing {
                    Narrowing::EachOperation => EvalMethod::EachOperation(Format::F32),
                    Narrowing::Whole => EvalMethod::Whole(Format::F32),
                };
            }
            // A cut has no ties, and neither has a direction.
            Deviation::TiesAway(format) if is_about(format) && with_guard_bit(operation.format).is_some() => {
                other.ties_away = operation.rounding == Rounding::NearestEven;
            }
            Deviation::StayFinite(format) if *format == operation.format => other.stays_finite = true,
            Deviation::SubnormalsTwice => {
                if let Some(wide) = with_wider_exponent(operation.format) {
                    other.method = EvalMethod::EachOperation(wide);
                }
            }
            Deviation::WideWhole(wide) if is_wider(*wide, operation.format) => other.method = EvalMethod::Whole(*wide),
            Deviation::TruncatedProduct if operation.op == ArithOp::MulAdd => operation.op = ArithOp::TruncatedMulAdd,
            Deviation::WholeProduct if operation.op == ArithOp::TruncatedMulAdd => operation.op = ArithOp::MulAdd,
            Deviation::NegateAddend => operation.negate_addend ^= operation.op != ArithOp::Mul,
            Deviation::NegateProduct => operation.negate_product ^= true,
            Deviation::NanOperand(rule) if !self.chooses_nan_by(*rule) => {
                (other.profile.nan_f32, other.profile.nan_f64, other.profile.nan_small) = (*rule, *rule, *rule);
                other.profile.div_nan_f64 = *rule;
            }
            Deviation::OtherNan => other.any_nan = true,
            Deviation::OtherZero => other.any_zero = true,
            Deviation::Tf32(how) if has_f32_factors => other.factors = Some(FactorRounding::Tf32(*how)),
            Deviation::NarrowFactors(format) if has_f32_factors => {
                other.factors = Some(FactorRounding::Narrow(*format));
            }
            Deviation::Flush(_)
            | Deviation::Keep(_)
            | Deviation::ZeroDominance
            | Deviation::OutOfBounds
            | Deviation::WideEachOperation(_)
            | Deviation::WideWhole(_)
            | Deviation::WideResult(_)
            | Deviation::Bf16Cut(_)
            | Deviation::TiesAway(_)
            | Deviation::StayFinite(_)
            | Deviation::WideSum(_)
            | Deviation::TruncatedProduct
            | Deviation::WholeProduct
            | Deviation::NanOperand(_)
            | Deviation::Contract(_)
            | Deviation::Order(_)
            | Deviation::TensorCores(_)
            | Deviation::Machine(_)
            | Deviation::Reciprocal
            | Deviation::RootByReciprocal
            | Deviation::ReciprocalByRoot
            | Deviation::ReciprocalRoot
            | Deviation::ExpM1
            | Deviation::Log1P
            | Deviation::MultipliedOut
            | Deviation::QuotientByRoot
            | Deviation::CastThroughF32
            | Deviation::HalfToEven
            | Deviation::HalfAway
            | Deviation::X86Integers
            | Deviation::UnlimitedIntegers
            | Deviation::NumberFirst
            | Deviation::CastsLeftOut
            | Deviation::Tf32(_)
            | Deviation::NarrowFactors(_)
            | Deviation::X87(_)
            | Deviation::Compensated
            | Deviation::Approximate(_) => {}
        }
        (other != self).then_some(other)
    }

    /// The same with several things done otherwise, as far as the operation has them.
    #[must_use]
    pub fn with_all<'d>(self, deviations: impl IntoIterator<Item = &'d Deviation>) -> EvalModel {
        deviations.into_iter().fold(self, |model, deviation| model.with(deviation).unwrap_or(model))
    }

    /// Whether a rule chooses the NaN that the profile's chooses, of the operands that the operation has.
    fn chooses_nan_by(&self, rule: NanRule) -> bool {
        let order = |rule: NanRule| match rule {
            NanRule::Canonical => None,
            NanRule::Payload(order) => {
                let has = |operand: &OperandIndex| self.operation.op.operands().contains(operand);
                Some(order.into_iter().filter(has).collect::<Vec<_>>())
            }
        };
        order(self.profile.nan_rule(self.operation.format)) == order(rule)
    }

    /// The operation that gives the model's bits in one go under its profile; `None` if there is none.
    pub fn as_operation(&self) -> Option<Operation> {
        let stages = self.stages(true);
        let is_one = !stages.flush_operands && stages.factors.is_none() && !stages.has_finish() && !self.rounds_product;
        (is_one && stages.profile == self.profile).then_some(stages.operation)
    }

    /// How what is rounded to its own format is.
    pub const fn narrowing(&self) -> NarrowBy {
        match self.operation.rounding {
            _ if self.cuts => NarrowBy::Direction(Rounding::TowardZero),
            _ if self.ties_away => NarrowBy::TiesAway,
            rounding => NarrowBy::Direction(rounding),
        }
    }
    /// The direction of its roundings.
    pub const fn rounding(&self) -> Rounding {
        self.operation.rounding
    }
    /// The precision that it is carried out in.
    pub const fn method(&self) -> EvalMethod {
        self.method
    }
    /// Whether operands and results are flushed alike, as a flushing instruction does.
    pub const fn flushes(&self) -> bool {
        self.flush_operands && !matches!(self.flush_results, ResultFlush::None)
    }
    /// Whether subnormals of the wider format that it is carried out in are flushed.
    pub const fn flushes_wide(&self) -> bool {
        self.flush_wide
    }
    /// Whether subnormals are flushed as no instruction does it: operands or results alone, or results by another rule
    /// than the profile's.
    pub fn flushes_unusually(&self) -> bool {
        self.flush_operands != (self.flush_results != ResultFlush::None)
            || matches!(self.flush_results, ResultFlush::By(_))
    }

    /// The stages in which the operation is carried out. `is_last`: its result is that of the whole computation.
    pub fn stages(&self, is_last: bool) -> Stages {
        let stages = self.stages_to_infinity(is_last);
        Stages { stays_finite: self.stays_finite && stages.result_format() == self.operation.format, ..stages }
    }

    /// The same where what is too large becomes an infinity.
    fn stages_to_infinity(&self, is_last: bool) -> Stages {
        let format = self.operation.format;
        let profile = match self.flush_results {
            ResultFlush::By(rule) => Profile { tininess: rule, sm1x_tininess: rule, ..self.profile },
            ResultFlush::None | ResultFlush::ByProfile => self.profile,
        };
        let flush_results = match self.flush_results {
            ResultFlush::None => None,
            ResultFlush::ByProfile => Some(self.profile.tininess_of(self.operation.op)),
            ResultFlush::By(rule) => Some(rule),
        };
        if let Some(wide) = self.method.wide() {
            let narrows = is_last && !self.keeps_wide || matches!(self.method, EvalMethod::EachOperation(_));
            let narrowing = self.narrowing();
            return Stages {
                flush_operands: self.flush_operands,
                factors: self.factors,
                out_of_bounds: self.operation.oob,
                narrow: narrows.then_some((format, narrowing)),
                // The rules ask for the exact value, which the first rounding has lost.
                flush_result: flush_results.filter(|_| narrows).map(|_| Tininess::Result),
                clamp: self.operation.clamp,
                ..Stages::of(Operation { flush: self.flush_wide, ..self.carried_in(wide) }, &profile)
            };
        }
        // Cut to one bit more, the result says which way a tie goes.
        if let Some(guarded) = with_guard_bit(format).filter(|_| self.ties_away) {
            let cut = Operation { rounding: Rounding::TowardZero, flush: false, ..self.carried_in(guarded) };
            return Stages {
                flush_operands: self.flush_operands,
                factors: self.factors,
                out_of_bounds: self.operation.oob,
                narrow: Some((format, NarrowBy::TiesAway)),
                flush_result: flush_results.map(|_| Tininess::Result),
                clamp: self.operation.clamp,
                ..Stages::of(cut, &profile)
            };
        }
        // Where operands and results are flushed alike, the pipeline does it.
        if self.flushes() {
            return Stages {
                factors: self.factors,
                ..Stages::of(Operation { flush: true, ..self.operation }, &profile)
            };
        }
        let underflow = match flush_results {
            Some(Tininess::BeforeRounding) => Underflow::BeforeRounding,
            Some(_) => Underflow::AfterRounding,
            None => self.profile.underflow,
        };
        // A clamp comes after the flush.
        let (within, after) = match flush_results {
            Some(_) => (Clamp::None, self.operation.clamp),
            None => (self.operation.clamp, Clamp::None),
        };
        Stages {
            flush_operands: self.flush_operands,
            factors: self.factors,
            flush_result: flush_results,
            clamp: after,
            ..Stages::of(Operation { clamp: within, ..self.operation }, &Profile { underflow, ..self.profile })
        }
    }

    /// The operation with a result of another format, which is finished later. Its operands are in that format too, where it
    /// holds them; no NaN is out of bounds there.
    fn carried_in(&self, format: Format) -> Operation {
        let holds = |of: &Format| of.precision() <= format.precision() && of.exp_bits() <= format.exp_bits();
        let operand_formats = self.operation.operand_formats.filter(|formats| !formats.iter().all(holds));
        Operation { format, source_format: format, operand_formats, clamp: Clamp::None, oob: false, ..self.operation }
    }

    /// The result for operands in the operation's own formats.
    pub fn result(&self, operands: &[u64]) -> u64 {
        let typed = |(index, &bits)| Typed { format: self.operation.operand_format(index), bits };
        let mut values = [Typed { format: self.operation.format, bits: 0 }; 3];
        let given = operands.iter().enumerate().map(typed);
        values.iter_mut().zip(given).for_each(|(value, operand)| *value = operand);
        let values = &values[..operands.len()];
        match (self.rounds_product, values) {
            (true, &[a, b, c]) => {
                let whole = EvalModel { rounds_product: false, ..*self };
                let part = |operation| EvalModel { operation, ..whole };
                let product =
                    Operation { op: ArithOp::Mul, negate_addend: false, clamp: Clamp::None, ..self.operation };
                let product = part(product).stages(false).run(&[a, b]).value();
                let sum = Operation {
                    op: ArithOp::Add,
                    negate_product: false,
                    fmz: false,
                    ..self.operation.taking_product()
                };
                part(sum).stages(true).run(&[product, c]).value().bits
            }
            _ => self.stages(true).run(values).value().bits,
        }
    }

    /// Whether a result may be observed as these bits of its format.
    pub fn accepts(&self, format: Format, result: u64, observed: u64) -> bool {
        result == observed
            || self.any_nan && format.is_nan(result) && format.is_nan(observed)
            || self.any_zero && format.is_zero(result) && format.is_zero(observed)
    }
}

/// The format with one exponent bit more, in which its subnormals are normal numbers; `None` where there is none.
pub(crate) fn with_wider_exponent(format: Format) -> Option<Format> {
    (format.exp_bits() < Format::F64.exp_bits()).then(|| Format::new(format.exp_bits() + 1, format.frac_bits()))
}

/// Whether the factors are of a format that has an out-of-bounds NaN.
fn has_out_of_bounds(operation: &Operation) -> bool {
    operation.is_uniform() && matches!(operation.format, Format::F16 | Format::BF16)
}

fn is_wider(wide: Format, format: Format) -> bool {
    wide.width() > format.width()
}
