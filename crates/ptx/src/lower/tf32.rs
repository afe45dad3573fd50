//! `cvt` to `.tf32`: an f32 with 10 bits of fraction, the other 13 zero.

use super::statement::Inst;
use super::{Body, Result};
use crate::types::Type;
use roundonce_arith::{Element, Format, Rounding};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, Signedness, Width};

const MAGNITUDE: u64 = 0x7fff_ffff;
const INFINITY: u64 = 0x7f80_0000;
/// What is kept.
const KEPT: u64 = 0xffff_e000;
/// One in the last place kept.
const ULP: u64 = 1 << 13;

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn cvt_tf32(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (a, d) = (self.value_at(inst, 1, Type::F32)?, self.exact(self.operand_at(inst, 0)?, Type::B32)?);
        let result = if inst.has(".rna") { self.ties_away(inst, a) } else { self.by_f2fp(inst, a) };
        let to = Element::Float(Format::TF32);
        // Of a tie there is no word: an observer sees the bits, not how they were chosen.
        let rounding = inst.rounding().unwrap_or(Rounding::NearestEven);
        self.stepwise(inst, d, (to, 1), rounding, &[a]);
        self.emit(Op::Move { d, a: result.into() });
        Ok(())
    }

    /// As ptxas expands it for sm_80 to sm_120, into integer arithmetic; so a NaN keeps what is kept of its payload (it may
    /// become an infinity), and `.satfinite` takes an ulp off infinities and NaNs.
    fn ties_away(&mut self, inst: &Inst<'m, 'a>, a: Operand) -> Reg {
        let finite = self.below(a, INFINITY);
        let sum = self.bits(IntOp::Add, a, ULP / 2);
        let rounded = self.choose(finite, sum.into(), a);
        let kept = self.bits(IntOp::And, rounded.into(), KEPT);
        if !inst.has(".satfinite") {
            return kept;
        }
        let finite = self.below(kept.into(), INFINITY);
        let less = self.bits(IntOp::Sub, kept.into(), ULP);
        self.choose(finite, kept.into(), less.into())
    }

    /// `.rn`, `.rz`: one instruction of the machine. A NaN becomes 0x7fffe000 (measured on sm_90).
    fn by_f2fp(&mut self, inst: &Inst<'m, 'a>, a: Operand) -> Reg {
        let mut sum = a;
        if !inst.has(".rz") {
            let last = self.bits(IntOp::Shr(Signedness::Unsigned), a, ULP.trailing_zeros().into());
            let last = self.bits(IntOp::And, last.into(), 1);
            let half = self.bits(IntOp::Add, last.into(), ULP / 2 - 1);
            sum = self.int(IntOp::Add, Width::B32, [a, half.into(), Operand::ZERO]).into();
        }
        let mut result = self.bits(IntOp::And, sum, KEPT);
        if inst.has(".satfinite") {
            let finite = self.below(result.into(), INFINITY);
            let sign = self.bits(IntOp::And, a, !MAGNITUDE & Width::B32.mask());
            let largest = self.bits(IntOp::Or, sign.into(), INFINITY - ULP);
            result = self.choose(finite, result.into(), largest.into());
        }
        if inst.has(".relu") {
            result = self.bits(IntOp::Max(Signedness::Signed), result.into(), 0);
        }
        let number = self.below(a, INFINITY + 1);
        self.choose(number, result.into(), Operand::Imm(MAGNITUDE & KEPT))
    }

    pub(super) fn bits(&mut self, op: IntOp, a: Operand, b: u64) -> Reg {
        self.int(op, Width::B32, [a, Operand::Imm(b), Operand::ZERO])
    }

    /// Whether a magnitude is below a bound.
    fn below(&mut self, a: Operand, bound: u64) -> Reg {
        let magnitude = self.bits(IntOp::And, a, MAGNITUDE);
        self.compare(Comparison::Lt, Comparand::Unsigned(Width::B32), magnitude.into(), Operand::Imm(bound))
    }

    pub(super) fn choose(&mut self, p: Reg, a: Operand, b: Operand) -> Reg {
        let d = self.fresh(Width::B32);
        self.emit_always(Op::Select { d, p: p.into(), a, b });
        d
    }
}
