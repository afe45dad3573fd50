//! Quotients, roots and powers of two on vectors. The processor rounds the first two once, as the interpreter does; a
//! reciprocal root and a power of f32 are computed in f64.

use super::super::asm::{Decorators, at};
use super::{A, B, C, D, E, EmitError, EmitResult, Emitter, FRAME, Part, Source, by, ymm};
use crate::kernel::Machine;
use crate::native::deferred::NAN_PENDING;
use crate::native::quotient::{Kind, Quotient};
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{Clamp, Format, NanRule, Rounding, Tininess};
use roundonce_ir::{Op, Operand, Width};

impl Emitter<'_> {
    pub(super) fn quotient(&mut self, op: &Op) -> EmitResult {
        let Some(quotient) = Quotient::of(op) else { return Err(EmitError::Unsupported) };
        let profile = self.launch.code.profile;
        let Quotient { d, kind, format, rounding, flush, saturate, a } = quotient;
        let width = quotient.width();
        // Neither a root nor its reciprocal is tiny.
        let flushes = flush && matches!(kind, Kind::Quotient(_) | Kind::Power);
        if width == Width::B32 && profile.nan_f32 != NanRule::Canonical && !saturate
            || flushes && profile.tininess == Tininess::BeforeRounding
        {
            return Err(EmitError::Unsupported);
        }
        let after_rounding = flushes && !self.deferred.ftz && profile.tininess == Tininess::AfterRounding;
        let rounding = Some(rounding).filter(|&rounding| rounding != Rounding::NearestEven);
        let decorators = Decorators { rounding, ..Decorators::default() };
        let pick = |narrow, wide| by(width, narrow, wide);
        for part in self.parts(d) {
            let x = self.flushed_operand(a, (format, flush), part, A)?;
            let to = self.target(d, part, D);
            match kind {
                Kind::Quotient(b) => {
                    let y = self.flushed_operand(b, (format, flush), part, B)?;
                    let divide =
                        pick(Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er);
                    self.asm.vector(Instruction::with3(divide, to, x, y), decorators);
                }
                Kind::Root => {
                    let root = pick(Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er);
                    self.asm.vector(Instruction::with2(root, to, x), decorators);
                }
                Kind::ReciprocalRoot => self.reciprocal_root(to, x),
                Kind::Power => self.power_of_two(to, x),
            }
            if after_rounding {
                self.exit_at_boundary(format, d, part, to);
            }
            if flushes && !self.deferred.ftz {
                self.flush(format, to, 0);
            }
            if width == Width::B64 {
                self.exit_on_nan(d, part, to);
            } else if saturate {
                self.clamp_single(Clamp::Unit, to);
            } else if self.deferred.eager.contains(&d) {
                self.canonicalise(to, NAN_PENDING);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }

    /// An operand in a register, flushed by instructions where the processor does not.
    fn flushed_operand(
        &mut self,
        arg: Operand,
        (format, flush): (Format, bool),
        part: Part,
        scratch: Register,
    ) -> EmitResult<Register> {
        let register = self.register(arg, Width::holding(format.width()), part, scratch)?;
        let is_flushed = matches!(self.shapes.shape(arg), VectorShape::Constant(bits) if !format.is_subnormal(bits));
        if !flush || self.deferred.daz || is_flushed {
            return Ok(register);
        }
        self.copy_vector(scratch, register);
        self.flush(format, scratch, 0);
        Ok(scratch)
    }

    /// 1 / √x of f32 lanes, rounded once: root and quotient in f64, rounded to nearest, then to f32. That no result
    /// is rounded otherwise by that, `reciprocal_roots_in_f64` in `roundonce-functions` shows for all.
    fn reciprocal_root(&mut self, to: Register, x: Register) {
        let one = self.broadcast_constant(Format::F64.one(), Width::B64);
        let one = self.load(one, Width::B64, E);
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.asm.push(Instruction::with3(extract, ymm(C), x, 1));
        for (half, wide) in [(C, C), (x, D)] {
            self.asm.rr(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, wide, ymm(half));
            self.asm.rr(Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er, wide, wide);
            self.asm.push(Instruction::with3(Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er, wide, one, wide));
            self.asm.rr(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, ymm(wide), wide);
        }
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.push(Instruction::with4(insert, to, D, ymm(C), 1));
    }

    /// 2^x of f32 lanes, rounded once: in f64, by a polynomial for the fraction, then to f32. `powers_of_two` in
    /// tests/native/quotients.rs compares all whose rounding is their own with what is rounded once. Uses A to E and K2.
    fn power_of_two(&mut self, to: Register, x: Register) {
        let exact = Decorators::default();
        // Beyond 160 in magnitude f32 has no finite result but 0. The second operand is the result for a NaN.
        for (code, bound) in [
            (Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, 160f32),
            (Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, -160f32),
        ] {
            let bound = self.broadcast_constant(bound.to_bits().into(), Width::B32);
            let bound = self.load(bound, Width::B32, E);
            let from = if code == Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae { x } else { B };
            self.op3(code, B, bound, Source::Register(from), exact);
        }
        let [hard, same] = HARD_POWER.map(|bits| self.broadcast_constant(bits.into(), Width::B32));
        match (self.machine(), hard) {
            (Machine::Avx2, Source::Frame(hard)) => self.asm.decrement_where_equal(B, at(FRAME, hard)),
            _ => {
                self.op3_immediate(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, Register::K2, B, hard, 0);
                self.op3(Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, B, B, same, Decorators::masked(Register::K2));
            }
        }
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.asm.push(Instruction::with3(extract, ymm(C), B, 1));
        // Both halves step by step: each step of one waits for the one before.
        let first_exponents = self.frame.reserve(self.vector_bytes() as usize, 64);
        let shifter = self.broadcast_constant(WHOLE, Width::B64);
        for (half, wide) in [(C, C), (B, D)] {
            self.asm.rr(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, wide, ymm(half));
            // The nearest whole number, in the low bits of A.
            self.op3(Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, A, wide, shifter, exact);
            self.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, E, A, shifter, exact);
            self.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, wide, wide, Source::Register(E), exact);
            self.shift(Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, A, A, 52);
            if wide == C {
                self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, first_exponents), A);
            }
        }
        let [first, terms @ ..] = POWER.map(|term| self.broadcast_constant(term, Width::B64));
        for sum in [B, E] {
            self.load(first, Width::B64, sum);
        }
        for term in terms {
            for (sum, x) in [(B, C), (E, D)] {
                self.op3(Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er, sum, x, term, exact);
            }
        }
        for (sum, exponents, half) in [(B, Source::Frame(first_exponents), C), (E, Source::Register(A), D)] {
            self.op3(Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64, sum, sum, exponents, exact);
            self.asm.rr(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, ymm(half), sum);
        }
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.push(Instruction::with4(insert, to, D, ymm(C), 1));
    }
}

/// 1.5 2^52: a number is rounded to a whole one where this is added.
const WHOLE: u64 = 0x4338_0000_0000_0000;
/// 2^r for r between -1/2 and 1/2 as a polynomial, the highest power first: the least maximum of the relative error, 2^-51.5.
const POWER: [u64; 11] = [
    0x3e3e_8b75_dd34_6fa9,
    0x3e7b_689b_4498_2a70,
    0x3eb6_2be6_8666_c20e,
    0x3eef_fcb3_f1b8_be9b,
    0x3f24_3091_387c_624d,
    0x3f55_d87f_ea4a_72dd,
    0x3f83_b2ab_6fb8_2092,
    0x3fac_6b08_d703_955b,
    0x3fce_bfbd_ff82_c61f,
    0x3fe6_2e42_fefa_3a28,
    0x3ff0_0000_0000_0000,
];
/// The one operand, -0.0297, whose power f64 does not tell from the middle between two numbers, though it is 2^-57 above; and
/// the one before by its bits, of which the result is the same.
const HARD_POWER: [u32; 2] = [0xbcf3_a937, 0xbcf3_a936];
