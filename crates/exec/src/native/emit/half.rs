//! f16 and bf16. A 16-bit register has 32 bits a lane, zeros above; arithmetic is that of f32, rounded to odd or in the
//! direction of the second rounding, which gives the bits of one rounding: `roundonce_arith`'s `batch/vector.rs` says
//! why.

use super::super::asm::{Decorators, direction_number};
use super::{A, B, C, D, E, EmitError, EmitResult, Emitter, Part, ymm};
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{ArithOp, Clamp, Format, NanRule, Operation, Rounding, Tininess, widen};
use roundonce_ir::{Operand, Reg, Width};

const K2: Register = Register::K2;
const K3: Register = Register::K3;

/// f32 magnitudes below this are tiny as f16, the first rounding being to odd or toward zero. In the other directions the
/// bound would depend on the sign.
fn tiny_f16(rounding: Rounding, tininess: Tininess) -> Option<u64> {
    // 2^-14 as f32.
    const SMALLEST: u64 = 0x3880_0000;
    match (rounding, tininess) {
        (Rounding::TowardZero, _) | (Rounding::NearestEven, Tininess::BeforeRounding) => Some(SMALLEST),
        // Half way between 2^-14 and the number of 11 bits below it: the tie rounds up to even.
        (Rounding::NearestEven, Tininess::AfterRounding) => Some(SMALLEST - 0x1000),
        // The same with 10 bits.
        (Rounding::NearestEven, Tininess::Result) => Some(SMALLEST - 0x2000),
        (Rounding::Down | Rounding::Up, _) => None,
    }
}

impl Emitter<'_> {
    /// The multiply-add family in f16 or bf16.
    pub(super) fn half_float(&mut self, d: Reg, operation: &Operation, args: &[Operand; 3]) -> EmitResult {
        let profile = self.launch.code.profile;
        let &Operation { format, rounding, flush, clamp, .. } = operation;
        let bound = tiny_f16(rounding, profile.tininess).filter(|_| format == Format::F16);
        let known = operation.is_uniform()
            && operation.op != ArithOp::TruncatedMulAdd
            && !operation.fmz
            && !operation.oob
            && (clamp != Clamp::None || profile.nan_small == NanRule::Canonical)
            && (!flush || bound.is_some())
            // Where the processor flushes, bf16 would be flushed too.
            && (format == Format::F16 || !self.deferred.daz);
        if !known {
            return Err(EmitError::Unsupported);
        }
        // Uniform operands are widened once.
        let used = &args[..operation.op.arity()];
        let mut shared = [false; 3];
        let parts = self.parts(d);
        let first = Part { vector: 0, half: 0 };
        for ((shared, &arg), scratch) in shared.iter_mut().zip(used).zip([A, B, C]) {
            if self.is_uniform(arg) {
                *shared = true;
                self.widened_half(arg, (format, flush), first, scratch)?;
            }
        }
        for part in parts {
            for ((&shared, &arg), scratch) in shared.iter().zip(used).zip([A, B, C]) {
                if !shared {
                    self.widened_half(arg, (format, flush), part, scratch)?;
                }
            }
            let target = self.target(d, part, D);
            let (wide, spare) = self.wide_result(operation, shared[2]);
            if clamp != Clamp::Unit {
                self.nan_mask(wide, K3);
            }
            if let Some(bound) = bound.filter(|_| flush) {
                let constant = |emit: &mut Self, bits| emit.broadcast_constant(bits, Width::B32);
                let magnitude = constant(self, Format::F32.magnitude_mask());
                self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, spare, wide, magnitude, Decorators::default());
                let bound = constant(self, bound);
                let below = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
                self.op3_immediate(below, K2, spare, bound, 1);
                let sign = constant(self, Format::F32.sign_mask());
                self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, wide, wide, sign, Decorators::masked(K2));
            }
            self.clamp_single(clamp, wide);
            self.narrowed_half((format, rounding), target, wide);
            if clamp != Clamp::Unit {
                self.canonical_nan(format, target, K3);
            }
            self.write_back(d, part, target);
        }
        Ok(())
    }

    /// The operation in f32 on A, B and C, rounded for a rounding to 16 bits. C is kept if `keeps_c`. The register of the
    /// result, and one that is free then.
    fn wide_result(&mut self, operation: &Operation, keeps_c: bool) -> (Register, Register) {
        let x = [A, B, C];
        let round = |rounding| Decorators { rounding: Some(rounding), ..Decorators::default() };
        match (operation.op, operation.rounding) {
            (ArithOp::Mul, Rounding::NearestEven) => {
                self.arithmetic(operation, Width::B32, D, x, round(Rounding::TowardZero));
                (D, E)
            }
            (_, Rounding::NearestEven) => {
                let above = if operation.op == ArithOp::MulAdd && keeps_c { E } else { C };
                self.arithmetic(operation, Width::B32, D, x, round(Rounding::Down));
                self.arithmetic(operation, Width::B32, above, x, round(Rounding::Up));
                self.round_to_odd(D, above);
                (above, D)
            }
            (_, rounding) => {
                self.arithmetic(operation, Width::B32, D, x, round(rounding));
                (D, E)
            }
        }
    }

    /// Of a result rounded down and up: the odd one, or the one that they both are, in `above`. Uses K2.
    pub(super) fn round_to_odd(&mut self, below: Register, above: Register) {
        let one = self.broadcast_constant(1, Width::B32);
        self.op3(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, K2, below, one, Decorators::default());
        let merge = Instruction::with2(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, above, below);
        self.asm.vector(merge, Decorators::masked(K2));
    }

    /// Lanes of f16 or bf16 as f32, in `to`; subnormal f16 flushed if so asked. Uses K2.
    pub(super) fn widened_half(
        &mut self,
        arg: Operand,
        (format, flush): (Format, bool),
        part: Part,
        to: Register,
    ) -> EmitResult {
        if let VectorShape::Constant(bits) = self.shapes.shape(arg) {
            let bits = if flush { format.flush(bits) } else { bits };
            let wide = self.broadcast_constant(widen(format, Format::F32, bits & format.mask()), Width::B32);
            self.load(wide, Width::B32, to);
            return Ok(());
        }
        let mut x = self.register(arg, Width::B16, part, to)?;
        if flush {
            self.copy_vector(to, x);
            self.flush(format, to, 0);
            x = to;
        }
        match format {
            Format::F16 => {
                self.asm.rr(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, ymm(to), x);
                self.asm.rr(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, to, ymm(to));
            }
            _ => self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, to, x, 16),
        }
        Ok(())
    }

    /// f32 rounded to f16 or bf16; what becomes of a NaN is not said. Changes `from`; uses K2.
    pub(super) fn narrowed_half(&mut self, (format, rounding): (Format, Rounding), to: Register, from: Register) {
        if format == Format::F16 {
            let code = Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae;
            self.asm.push(Instruction::with3(code, ymm(to), from, direction_number(rounding)));
            return self.asm.rr(Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256, to, ymm(to));
        }
        // A bf16 is the upper half: what is added to the lower half carries where the upper one is to grow.
        let add = |emit: &mut Self, bits, decorators| {
            let bits = emit.broadcast_constant(bits, Width::B32);
            emit.op3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, from, from, bits, decorators);
        };
        match rounding {
            Rounding::TowardZero => {}
            Rounding::NearestEven => {
                let last = self.broadcast_constant(0x1_0000, Width::B32);
                self.op3(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, K2, from, last, Decorators::default());
                add(self, 0x7fff, Decorators::default());
                add(self, 1, Decorators::masked(K2));
            }
            Rounding::Down | Rounding::Up => {
                self.asm.rr(Code::EVEX_Vpmovd2m_kr_zmm, K2, from);
                if rounding == Rounding::Up {
                    self.asm.rr(Code::VEX_Knotw_kr_kr, K2, K2);
                }
                add(self, 0xffff, Decorators::masked(K2));
            }
        }
        self.shift(Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, to, from, 16);
    }
}
