//! An instruction's meaning as data.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};

/// What an instruction computes. Two instructions with equal recipes give equal bits: translation compares recipes,
/// not names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Recipe {
    /// The arithmetic of one component.
    pub operation: Operation,
    /// The number of components: 1, or that of the packed operands, the first in the lowest bits.
    pub components: u32,
    /// Condition codes are written beside the result (SASS `.CC`).
    pub condition_codes: bool,
    /// A compiler may contract it with another operation: PTX `mul`, `add` and `sub` without a rounding modifier.
    pub contractible: bool,
}

impl Recipe {
    /// One component, no condition codes, never contracted.
    pub const fn scalar(operation: Operation) -> Recipe {
        Recipe { operation, components: 1, condition_codes: false, contractible: false }
    }
    /// Bits of the result.
    pub const fn result_width(&self) -> u32 {
        self.operation.format.width() * self.components
    }
    /// The format of each operand, in order.
    pub fn operand_formats(&self) -> Vec<Format> {
        (0..self.operation.op.arity()).map(|index| self.operation.operand_format(index)).collect()
    }
    /// The fields in which another meaning of the same number of operands differs, in words. That a compiler may contract
    /// one of them is none.
    pub fn differing_fields(&self, other: &Recipe) -> Vec<&'static str> {
        let (a, b) = (&self.operation, &other.operation);
        let fields = [
            ("the product is truncated", a.op != b.op),
            ("operand types", self.operand_formats() != other.operand_formats()),
            ("components", self.components != other.components),
            ("rounding", a.rounding != b.rounding),
            ("subnormals", a.flush != b.flush),
            ("zero dominance", a.fmz != b.fmz),
            ("saturation", a.clamp != b.clamp),
            ("out-of-bounds NaN", a.oob != b.oob),
            ("signs", (a.negate_product, a.negate_addend) != (b.negate_product, b.negate_addend)),
            ("condition codes", self.condition_codes != other.condition_codes),
        ];
        fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
    /// With one spelled modifier applied.
    #[must_use]
    pub const fn with(mut self, effect: Effect) -> Recipe {
        match effect {
            Effect::Nothing | Effect::NamesType => {}
            Effect::Round(rounding) => self.operation.rounding = rounding,
            Effect::RoundExplicitly(rounding) => {
                self.operation.rounding = rounding;
                self.contractible = false;
            }
            Effect::Flush => self.operation.flush = true,
            Effect::FlushAndZeroDominate => {
                self.operation.flush = true;
                self.operation.fmz = true;
            }
            Effect::Clamp(clamp) => self.operation.clamp = clamp,
            Effect::OutOfBounds => self.operation.oob = true,
            Effect::Factors(format) => self.operation.source_format = format,
            Effect::FirstFactor(format) => {
                let wide = self.operation.format;
                self.operation.operand_formats = Some([format, wide, wide]);
            }
            Effect::Type(format, components) => {
                self.operation.format = format;
                self.operation.source_format = format;
                self.components = components;
            }
            Effect::ConditionCodes => self.condition_codes = true,
        }
        self
    }
}

/// What a spelled modifier changes in the recipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Names a type of a form without a recipe.
    NamesType,
    /// Accepted, and changes nothing.
    Nothing,
    /// Sets the rounding direction.
    Round(Rounding),
    /// Sets the rounding direction, and forbids contraction.
    RoundExplicitly(Rounding),
    /// Flushes subnormals.
    Flush,
    /// Flushes subnormals; a zero factor makes the product +0.
    FlushAndZeroDominate,
    /// Clamps the result.
    Clamp(Clamp),
    /// An out-of-bounds NaN among the operands makes the result +0.
    OutOfBounds,
    /// The factors' format.
    Factors(Format),
    /// The format of the first factor alone.
    FirstFactor(Format),
    /// The format of everything, and the number of components.
    Type(Format, u32),
    /// Asks for condition codes.
    ConditionCodes,
}

/// The one operation that a product and the addition that takes it become: of its `first` operand or of its second.
/// `None` where no operation has the modes of both.
pub fn fused(mul: &Operation, add: &Operation, first: bool) -> Option<Operation> {
    if (mul.op, add.op, mul.clamp) != (ArithOp::Mul, ArithOp::Add, Clamp::None)
        || add.format != mul.format
        || !add.is_uniform()
        || mul.operand_formats.is_some()
        || add.flush != mul.flush
    {
        return None;
    }
    let (negate_product, negate_addend) =
        if first { (add.negate_product, add.negate_addend) } else { (add.negate_addend, add.negate_product) };
    let negate_product = negate_product ^ mul.negate_product;
    Some(Operation { op: ArithOp::MulAdd, source_format: mul.source_format, negate_product, negate_addend, ..*add })
}
