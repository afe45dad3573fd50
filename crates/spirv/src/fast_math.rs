//! Fast-math flags: those of an instruction, and an entry point's defaults.

use rspirv::spirv::{Capability, Decoration, ExecutionMode, FPFastMathMode, Op};

use crate::facts::Facts;
use crate::module::Module;

/// Flags that allow an operation to be contracted with those that produce its operands.
const CONTRACTS: u32 = FPFastMathMode::ALLOW_CONTRACT.bits() | FPFastMathMode::FAST.bits();

/// Whether flags keep infinities, NaNs and the signs of zeros.
pub(crate) fn keeps_special(mask: u32) -> bool {
    let loses = FPFastMathMode::NOT_NAN | FPFastMathMode::NOT_INF | FPFastMathMode::NSZ | FPFastMathMode::FAST;
    mask & loses.bits() == 0
}

/// The flags without those that let operations be rearranged.
pub(crate) fn without_contraction(mask: u32) -> u32 {
    let rearranges = FPFastMathMode::ALLOW_REASSOC | FPFastMathMode::ALLOW_TRANSFORM;
    mask & !(rearranges.bits() | CONTRACTS)
}

impl Facts {
    /// The flags that an instruction is decorated with.
    pub(crate) fn fast_math(&self, id: u32) -> Option<u32> {
        let mut decorations = self.decorations_of(id);
        decorations.find(|at| at.value == Decoration::FPFastMathMode as u32)?.words.first().copied()
    }

    /// The flags that the constant of an FPFastMathDefault holds: one of a 32-bit integer type, not specialised.
    pub(crate) fn fast_math_constant(&self, module: &Module, id: u32) -> Option<u32> {
        let of = self.defined_by(module, self.type_of(id)?, Op::TypeInt)?;
        let constant = self.instruction(module, id).filter(|_| module.operand_word(of, 1) == 32)?;
        match Op::from_u32(constant.opcode.into()) {
            Some(Op::Constant) => Some(module.operand_word(constant, 2)),
            Some(Op::ConstantNull) => Some(0),
            _ => None,
        }
    }

    /// The flags of an entry point's instructions of a width that are not decorated; `None` if the entry point declares no
    /// default at all. A type without a default of its own has no flags then.
    ///
    /// Source: SPV_KHR_float_controls2, 3.15 FP Fast Math Mode.
    pub(crate) fn fast_math_default(&self, module: &Module, function: u32, width: u32) -> Option<u32> {
        let defaults = self.modes_of(function).filter(|at| at.value == ExecutionMode::FPFastMathDefault as u32);
        let mut defaults = defaults.peekable();
        defaults.peek()?;
        let own = defaults.filter_map(|at| match at.words.as_slice() {
            &[of, flags] if self.float(module, of) == Some((width, None)) => self.fast_math_constant(module, flags),
            _ => None,
        });
        Some(own.fold(0, |mask, flags| mask | flags))
    }

    /// Whether nothing on a product forbids a sum that takes it to be contracted with it. Of flags the sum's alone count.
    pub(crate) fn may_be_contracted(&self, product: u32) -> bool {
        !self.is_decorated(product, Decoration::NoContraction)
    }

    /// Whether nothing on an instruction forbids to contract it with what produces its operands: NoContraction, or flags
    /// without AllowContract, its own or else the entry point's. Kernels may forbid it too (ContractionOff).
    pub(crate) fn may_contract(&self, id: u32, default: Option<u32>) -> bool {
        let mask = self.fast_math(id).filter(|_| self.has(Capability::FloatControls2)).or(default);
        self.may_be_contracted(id) && mask.is_none_or(|mask| mask & CONTRACTS != 0)
    }
}
