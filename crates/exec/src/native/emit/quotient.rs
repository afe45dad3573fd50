//! Quotients, roots and powers of two on vectors. The processor rounds the first two once, as the interpreter does; a
//! reciprocal root and a power of f32 (`power`) are computed in f64.

use super::super::asm::Decorators;
use super::{A, B, C, D, E, EmitError, EmitResult, Emitter, Part, by, ymm};
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
        let parts = self.parts(d);
        let mut begun = Vec::new();
        if matches!(kind, Kind::Power) && self.machine() != Machine::Neon {
            for &part in &parts {
                let x = self.flushed_operand(a, (format, flush), part, A)?;
                begun.push(self.begin_power(x));
            }
        }
        for (index, part) in parts.into_iter().enumerate() {
            let x = match begun.is_empty() {
                true => self.flushed_operand(a, (format, flush), part, A)?,
                false => A,
            };
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
                Kind::Power => match begun.get(index) {
                    Some(&begun) => self.end_power(to, begun),
                    None => self.power_by_polynomial(to, x),
                },
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
}
