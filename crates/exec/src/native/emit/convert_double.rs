//! Conversions from f64 and to it, whose lanes are twice as wide.

use super::super::asm::{Decorators, direction_number};
use super::{A, C, D, E, EmitError, EmitResult, Emitter, Part, Source, ymm};
use crate::native::deferred::{FLUSH_PENDING, NAN_PENDING};
use crate::scalar::Conversion;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{NanRule, Rounding};
use roundonce_ir::{Operand, Reg, Signedness, Width};

const K2: Register = Register::K2;

impl Emitter<'_> {
    /// Integers of up to 32 bits as f64, exactly.
    pub(super) fn convert_integer_to_double(
        &mut self,
        d: Reg,
        (bits, sign): (u32, Signedness),
        a: Operand,
    ) -> EmitResult {
        let upper_half = (bits, sign) == (32, Signedness::Unsigned);
        for part in self.parts(d) {
            let mut x = self.extended(a, (bits, sign), part, A)?;
            if upper_half {
                self.less_top(A, x);
                x = A;
            }
            let x = self.half_of(a, x, part);
            let to = self.target(d, part, D);
            self.doubles(to, ymm(x), upper_half);
            self.write_back(d, part, to);
        }
        Ok(())
    }
    /// Numbers of 32 bits without a sign become such with one, less 2^31; and the other way.
    pub(super) fn less_top(&mut self, to: Register, x: Register) {
        let top = self.broadcast_constant(0x8000_0000, Width::B32);
        self.op3(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, to, x, top, Decorators::default());
    }
    /// Half a vector of numbers with a sign as f64, exactly; plus 2^31 where they are less by that.
    pub(super) fn doubles(&mut self, to: Register, lanes: Register, are_less: bool) {
        self.asm.rr(Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er, to, lanes);
        if are_less {
            let top = self.broadcast_constant(2_147_483_648f64.to_bits(), Width::B64);
            self.op3(Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, to, to, top, Decorators::default());
        }
    }

    /// f32 to f64, whose NaNs keep their payloads unless they are flushed.
    pub(super) fn convert_to_double(&mut self, d: Reg, how: Conversion, a: Operand) -> EmitResult {
        let profile = &self.launch.code.profile;
        let is_known =
            matches!(profile.nan_f64, NanRule::Payload(_)) && (!how.flush || profile.nan_f32 == NanRule::Canonical);
        if !is_known {
            return Err(EmitError::Unsupported);
        }
        for part in self.parts(d) {
            let mut x = self.canonicalised(a, Width::B32, part, A)?;
            if how.flush {
                self.copy_vector(A, x);
                self.canonicalise(A, NAN_PENDING | FLUSH_PENDING);
                x = A;
            }
            let x = self.half_of(a, x, part);
            let to = self.target(d, part, D);
            self.asm.rr(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, to, ymm(x));
            self.write_back(d, part, to);
        }
        Ok(())
    }
    /// f64 rounded to f32; a NaN keeps its sign and the upper part of its payload, as the processor's does.
    pub(super) fn convert_from_double(&mut self, d: Reg, how: Conversion, a: Operand) -> EmitResult {
        // What a flushing processor flushes is what flushing conversions do, and no others.
        if how.flush != self.deferred.ftz {
            return Err(EmitError::Unsupported);
        }
        let round = Decorators { rounding: Some(how.rounding), ..Decorators::default() };
        for part in self.parts(d) {
            self.join_halves(a, part, |emit, to, from| {
                emit.asm.vector(Instruction::with2(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, ymm(to), from), round);
                Ok(())
            })?;
            self.write_back(d, part, D);
        }
        Ok(())
    }
    /// f64 rounded to integers of 32 bits, those out of range to its ends; of a NaN the sign bit is left.
    pub(super) fn convert_double_to_integer(
        &mut self,
        d: Reg,
        rounding: Rounding,
        signed: bool,
        a: Operand,
    ) -> EmitResult {
        let exact = Decorators::default();
        for part in self.parts(d) {
            self.join_halves(a, part, |emit, to, from| {
                let [most, top, zero] = [if signed { 2_147_483_647.0 } else { 4_294_967_295.0 }, 2_147_483_648.0, 0f64]
                    .map(|bound| emit.broadcast_constant(bound.to_bits(), Width::B64));
                // The second operand is the result for a NaN. Less than the least becomes the sign bit.
                let most = emit.load(most, Width::B64, E);
                let least = Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
                emit.op3(least, to, most, Source::Register(from), exact);
                let integral = Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
                emit.asm.push(Instruction::with3(integral, to, to, 8 | direction_number(rounding)));
                if !signed {
                    let greatest = Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
                    let zero = emit.load(zero, Width::B64, E);
                    emit.op3(greatest, to, zero, Source::Register(to), exact);
                    let (compare, blend) =
                        (Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64);
                    emit.asm.push(Instruction::with4(compare, K2, from, from, 3));
                    emit.op3(blend, to, to, top, Decorators::masked(K2));
                    // As signed numbers less 2^31.
                    emit.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, to, to, top, exact);
                }
                emit.asm.rr(Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae, ymm(to), to);
                Ok(())
            })?;
            if !signed {
                self.less_top(D, D);
            }
            self.write_back(d, part, D);
        }
        Ok(())
    }
    /// Half of a vector of an operand's 32-bit lanes, in its lower lanes: in A, where it is the upper one.
    fn half_of(&mut self, a: Operand, x: Register, part: Part) -> Register {
        if part.half == 0 || self.is_uniform(a) {
            return x;
        }
        let upper = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.asm.push(Instruction::with3(upper, ymm(A), x, 1));
        A
    }
    /// D becomes what both halves of an operand of 64 bits become, side by side. Uses A and C.
    fn join_halves(
        &mut self,
        a: Operand,
        part: Part,
        one: impl Fn(&mut Self, Register, Register) -> EmitResult,
    ) -> EmitResult {
        for (half, to) in [(0, D), (1, C)] {
            let x = self.register(a, Width::B64, Part { half, ..part }, A)?;
            one(self, to, x)?;
        }
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.push(Instruction::with4(insert, D, D, ymm(C), 1));
        Ok(())
    }
}
