//! One operation, stage by stage: what is done to its operands, the arithmetic, what is done to its result.

use roundonce_arith::{ArithOp, Clamp, Flags, Format, Operation, Outcome, Profile, Rounding, Tininess};
use roundonce_isa::convert;

use crate::deviation::FactorRounding;
use crate::model::Typed;

/// The format with one bit of significand more; `None` where it has no room.
pub(crate) fn with_guard_bit(format: Format) -> Option<Format> {
    (format.width() < 64).then(|| Format::new(format.exp_bits(), format.frac_bits() + 1))
}

/// A number in a narrower format, to nearest with ties away from zero: half an ulp is added, and what is below cut off.
fn ties_away(from: Format, to: Format, bits: u64) -> u64 {
    let Some(guarded) = with_guard_bit(to).filter(|_| !from.is_nan(bits)) else {
        return convert(from, to, Rounding::NearestEven, bits).0;
    };
    let cut = convert(from, guarded, Rounding::TowardZero, bits).0;
    let sign = if guarded.is_negative(cut) { to.sign_mask() } else { 0 };
    // A carry increments the exponent; from the largest number on it gives infinity.
    sign | ((cut & guarded.magnitude_mask()) + 1) >> 1
}

/// How a result becomes one of a narrower format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NarrowBy {
    /// In a direction, or to nearest even.
    Direction(Rounding),
    /// To nearest, ties away from zero.
    TiesAway,
}

impl NarrowBy {
    /// A number in a narrower format.
    pub fn convert(self, from: Format, to: Format, bits: u64) -> u64 {
        match self {
            NarrowBy::Direction(rounding) => convert(from, to, rounding, bits).0,
            NarrowBy::TiesAway => ties_away(from, to, bits),
        }
    }

    /// As conversions spell it: `rz`, `rna`.
    pub const fn name(self) -> &'static str {
        match self {
            NarrowBy::Direction(rounding) => rounding.name(),
            NarrowBy::TiesAway => "rna",
        }
    }

    /// The direction; of ties away from zero, to nearest.
    const fn rounding(self) -> Rounding {
        match self {
            NarrowBy::Direction(rounding) => rounding,
            NarrowBy::TiesAway => Rounding::NearestEven,
        }
    }
}

/// One operation, stage by stage: what is done to the operands, the arithmetic, what is done to its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stages {
    /// Subnormal operands are flushed, in their own formats.
    pub flush_operands: bool,
    /// The factors of an f32 product are rounded so, behind that.
    pub factors: Option<FactorRounding>,
    /// An out-of-bounds NaN as a factor makes the result +0; looked for in the operands as they are given.
    pub out_of_bounds: bool,
    /// The arithmetic.
    pub operation: Operation,
    /// What the documents leave open.
    pub profile: Profile,
    /// Its result is rounded to this format.
    pub narrow: Option<(Format, NarrowBy)>,
    /// Subnormal results are flushed by this rule.
    pub flush_result: Option<Tininess>,
    /// An infinite result is the largest finite number of its sign.
    pub stays_finite: bool,
    /// The result is clamped.
    pub clamp: Clamp,
}

/// An operation carried out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Carried {
    /// The operands in the formats that the arithmetic takes; unused places are 0.
    pub operands: [u64; 3],
    /// The result of the arithmetic, and of what follows it if that is not narrowed.
    pub result: Typed,
    /// Whether the arithmetic's result is not the exact value.
    pub inexact: bool,
    /// The result rounded to a narrower format, and what follows.
    pub narrowed: Option<Typed>,
    /// Whether the result was flushed after the arithmetic.
    pub flushed_result: bool,
    /// Whether the result was kept from an infinity.
    pub stayed_finite: bool,
    /// Whether an operand was flushed, or the result, but for what the operation itself says of that and `flushed_result`.
    pub flushed_within: [bool; 2],
}

impl Carried {
    /// What the operation gives.
    pub fn value(&self) -> Typed {
        self.narrowed.unwrap_or(self.result)
    }
}

impl Stages {
    /// An operation as it is.
    pub const fn of(operation: Operation, profile: &Profile) -> Stages {
        Stages {
            flush_operands: false,
            factors: None,
            out_of_bounds: false,
            operation,
            profile: *profile,
            narrow: None,
            flush_result: None,
            stays_finite: false,
            clamp: Clamp::None,
        }
    }

    /// Whether a result of this format is kept from being an infinity.
    pub fn keeps_finite(&self, format: Format, bits: u64) -> bool {
        self.stays_finite && bits & format.magnitude_mask() == format.infinity()
    }

    /// An operand in the format that the arithmetic takes.
    pub fn operand(&self, index: usize, Typed { format, bits }: Typed) -> u64 {
        let bits = if self.flush_operands { format.flush(bits) } else { bits };
        let bits = match self.factors {
            Some(how) if index < 2 && format == Format::F32 => how.of_f32(bits),
            _ => bits,
        };
        convert(format, self.operation.operand_format(index), Rounding::NearestEven, bits).0
    }

    /// The arithmetic's result in the format of the stages' result, before flush and clamp.
    pub fn narrowed(&self, bits: u64) -> u64 {
        let Some((format, by)) = self.narrow else { return bits };
        let narrow = by.convert(self.operation.format, format, bits);
        if !format.is_nan(narrow) {
            return narrow;
        }
        // Which NaN it is, is the narrower format's own rule.
        Operation::new(ArithOp::Add, format, by.rounding()).evaluate(&self.profile, &[narrow, narrow]).bits
    }

    /// Whether a result is flushed after the arithmetic.
    fn flushes_result(&self, format: Format, bits: u64, flags: Flags) -> bool {
        match self.flush_result {
            None => false,
            // An inexact tiny result raises underflow by the same rule; an exact one is subnormal.
            Some(Tininess::AfterRounding | Tininess::BeforeRounding) if flags.contains(Flags::INEXACT) => {
                flags.contains(Flags::UNDERFLOW)
            }
            Some(_) => format.is_subnormal(bits),
        }
    }

    /// A result flushed and clamped.
    fn finished(&self, format: Format, bits: u64, is_flushed: bool) -> u64 {
        let bits = if is_flushed { bits & format.sign_mask() } else { bits };
        let bits = bits - u64::from(self.keeps_finite(format, bits));
        self.clamp.apply(format, bits)
    }

    /// Whether the bits of the arithmetic's results are enough to finish them: no rule asks for their exceptions.
    pub const fn needs_no_flags(&self) -> bool {
        matches!(self.flush_result, None | Some(Tininess::Result))
    }

    /// The result of what follows the arithmetic, where it [needs no flags](Stages::needs_no_flags).
    pub fn finish(&self, bits: u64) -> u64 {
        let (format, bits) = (self.result_format(), self.narrowed(bits));
        self.finished(format, bits, self.flushes_result(format, bits, Flags::NONE))
    }

    /// Whether anything follows the arithmetic.
    pub const fn has_finish(&self) -> bool {
        self.narrow.is_some() || self.flush_result.is_some() || self.stays_finite || !matches!(self.clamp, Clamp::None)
    }

    /// The format of what the stages give.
    pub fn result_format(&self) -> Format {
        self.narrow.map_or(self.operation.format, |(format, _)| format)
    }

    /// Whether the arithmetic takes operands of its formats as they are.
    pub const fn takes_operands_as_they_are(&self) -> bool {
        !self.flush_operands && self.factors.is_none()
    }

    /// Carries the operation out.
    pub fn run(&self, operands: &[Typed]) -> Carried {
        self.run_as(operands, |bits| self.operation.evaluate(&self.profile, bits))
    }

    /// Carries something else out in the operation's place, of the same operands and with what follows.
    pub fn run_as(&self, operands: &[Typed], arithmetic: impl FnOnce(&[u64]) -> Outcome) -> Carried {
        let mut bits = [0; 3];
        for (index, (bits, operand)) in bits.iter_mut().zip(operands).enumerate() {
            *bits = self.operand(index, *operand);
        }
        let given: [u64; 3] = std::array::from_fn(|at| operands.get(at).map_or(0, |operand| operand.bits));
        let outcome = match self.out_of_bounds && self.profile.has_oob_factor(given) {
            true => Outcome { bits: 0, flags: Flags::NONE },
            false => arithmetic(&bits[..operands.len()]),
        };
        let format = self.result_format();
        let narrowed = self.narrowed(outcome.bits);
        let flushed_result = self.flushes_result(format, narrowed, outcome.flags);
        let value = Typed { format, bits: self.finished(format, narrowed, flushed_result) };
        let is_narrowed = self.narrow.is_some();
        Carried {
            operands: bits,
            result: if is_narrowed { Typed { format: self.operation.format, bits: outcome.bits } } else { value },
            inexact: outcome.flags.contains(Flags::INEXACT),
            narrowed: is_narrowed.then_some(value),
            flushed_result,
            stayed_finite: self.keeps_finite(format, narrowed),
            flushed_within: [self.flush_operands && operands.iter().any(|it| it.format.is_subnormal(it.bits)), false],
        }
    }
}
