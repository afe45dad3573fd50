//! The multiply-add family on vectors.

use super::super::asm::Decorators;
use super::{A, B, C, D, DeoptReason, E, EmitError, EmitResult, Emitter, Part, by};
use crate::native::deferred::{FLUSH_PENDING, NAN_PENDING};
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{ArithOp, Clamp, Format, NanRule, Operation, Rounding, Tininess};
use roundonce_ir::{Operand, Reg, Width};

impl Emitter<'_> {
    /// The multiply-add family of operations.
    pub(super) fn float(&mut self, d: Reg, operation: &Operation, args: &[Operand; 3]) -> EmitResult {
        let profile = self.launch.code.profile;
        let format = operation.format;
        let width = match format {
            Format::F32 => Width::B32,
            Format::F64 => Width::B64,
            _ => return Err(EmitError::Unsupported),
        };
        let canonical =
            format != Format::F32 || operation.clamp == Clamp::Unit || profile.nan_f32 == NanRule::Canonical;
        let known = !operation.fmz
            && operation.is_uniform()
            && canonical
            && (!operation.flush || format == Format::F32 && profile.tininess != Tininess::BeforeRounding)
            && operation.op != ArithOp::TruncatedMulAdd
            && !operation.oob
            && match operation.clamp {
                Clamp::None => true,
                Clamp::Unit => format == Format::F32,
                Clamp::Relu => false,
            };
        if !known {
            return Err(EmitError::Unsupported);
        }
        let rounding = Some(operation.rounding).filter(|&rounding| rounding != Rounding::NearestEven);
        // Without `DAZ` operands and results are flushed by instructions.
        let flushes = operation.flush && !self.deferred.daz;
        let may_be_tiny = operation.flush && !self.deferred.ftz && profile.tininess == Tininess::AfterRounding;
        let eager = self.deferred.eager.contains(&d);
        let decorators = Decorators { rounding, ..Decorators::default() };
        // Uniform operands are loaded once.
        let used = &args[..operation.op.arity()];
        let mut shared = [None; 3];
        let first = Part { vector: 0, half: 0 };
        for ((slot, &arg), scratch) in shared.iter_mut().zip(used).zip([A, B, C]) {
            if self.is_uniform(arg) {
                *slot = Some(self.register(arg, width, first, scratch)?);
                if flushes {
                    *slot = Some(self.flushed(*slot, scratch));
                }
            }
        }
        for part in self.parts(d) {
            let mut x = [A; 3];
            for ((x, (slot, &arg)), scratch) in x.iter_mut().zip(shared.iter().zip(used)).zip([A, B, C]) {
                *x = match slot {
                    Some(register) => *register,
                    None => self.register(arg, width, part, scratch)?,
                };
                if flushes && slot.is_none() {
                    *x = self.flushed(Some(*x), scratch);
                }
            }
            let target = self.target(d, part, D);
            // The steps after the arithmetic need a scratch register.
            let to = if operation.saturates() || eager || flushes { D } else { target };
            self.arithmetic(operation, width, to, x, decorators);
            if may_be_tiny {
                self.exit_at_boundary(d, part, to);
            }
            if operation.saturates() {
                // vmaxps and vminps return the second operand if one is a NaN or both are zeros.
                let (zero, one) = (self.broadcast_constant(0, width), self.broadcast_constant(format.one(), width));
                let (max, min) =
                    (Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae);
                self.op3(max, D, to, zero, Decorators::default());
                self.op3(min, D, D, one, Decorators::default());
                if flushes {
                    self.canonicalise(D, FLUSH_PENDING);
                }
            } else if eager || flushes {
                let late = if operation.flush { FLUSH_PENDING } else { 0 };
                self.canonicalise(D, if eager { NAN_PENDING | late } else { late });
            }
            if width == Width::B64 {
                self.exit_on_nan(d, part, to);
            }
            if to != target && target != D {
                self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, target, D);
            }
            self.write_back(d, part, target);
        }
        Ok(())
    }

    /// Whether an operand is the same vector in all parts.
    pub(super) fn is_uniform(&self, arg: Operand) -> bool {
        self.shapes.shape(arg).is_uniform()
    }
    fn flushed(&mut self, register: Option<Register>, scratch: Register) -> Register {
        let register = register.unwrap_or(scratch);
        if register != scratch {
            self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, scratch, register);
        }
        self.flush(scratch);
        scratch
    }
    /// A result of the smallest normal magnitude is tiny where it was rounded up to that at subnormal precision only, which
    /// the result does not show: a side exit. Rare, because no other result is in doubt.
    fn exit_at_boundary(&mut self, d: Reg, part: Part, register: Register) {
        let magnitude = self.broadcast_constant(Format::F32.magnitude_mask(), Width::B32);
        self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, E, register, magnitude, Decorators::default());
        let mask = self.merge_mask(d).map(|mask| {
            self.load_mask(mask, Width::B32, part, Register::K1);
            Register::K1
        });
        let smallest = self.broadcast_constant(Format::F32.smallest_normal(), Width::B32);
        let decorators = Decorators { mask, ..Decorators::default() };
        self.op3(Code::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32, Register::K2, E, smallest, decorators);
        self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
        self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
    }
    /// A NaN of f64 keeps a payload by a rule that only the interpreter has: a side exit.
    fn exit_on_nan(&mut self, d: Reg, part: Part, register: Register) {
        let code = Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
        let mask = self.merge_mask(d).map(|mask| {
            self.load_mask(mask, Width::B64, part, Register::K1);
            Register::K1
        });
        let compare = Instruction::with4(code, Register::K2, register, register, 3);
        self.asm.vector(compare, Decorators { mask, ..Decorators::default() });
        self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
        self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
    }

    /// Steps 2, 6, 7 and 8 of the pipeline. `x` are the operation's operands in order.
    fn arithmetic(
        &mut self,
        operation: &Operation,
        width: Width,
        to: Register,
        x: [Register; 3],
        decorators: Decorators,
    ) {
        let wide = width == Width::B64;
        let pick = |narrow: Code, double: Code| if wide { double } else { narrow };
        let [a, b, c] = x;
        match operation.op {
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => {
                use Code as K;
                // By the signs of product and addend: the opcodes that overwrite the first factor and the addend.
                let (overwrite_a, overwrite_c) = match (operation.negate_product, operation.negate_addend) {
                    (false, false) => (
                        pick(
                            K::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                        pick(
                            K::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                    ),
                    (false, true) => (
                        pick(
                            K::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                        pick(
                            K::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                    ),
                    (true, false) => (
                        pick(
                            K::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                        pick(
                            K::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                    ),
                    (true, true) => (
                        pick(
                            K::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                        pick(
                            K::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
                            K::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
                        ),
                    ),
                };
                let (code, first, second) = if to == a {
                    (overwrite_a, b, c)
                } else if to == b {
                    (overwrite_a, a, c)
                } else {
                    if to != c {
                        self.asm.rr(K::EVEX_Vmovaps_zmm_k1z_zmmm512, to, c);
                    }
                    (overwrite_c, a, b)
                };
                self.asm.vector(Instruction::with3(code, to, first, second), decorators);
            }
            ArithOp::Add => {
                // `a` and the addend, which is the second operand.
                let (a, c) = (a, b);
                let add =
                    pick(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er);
                let sub =
                    pick(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er);
                let (code, first, second) = match (operation.negate_product, operation.negate_addend) {
                    (false, false) => (add, a, c),
                    (false, true) => (sub, a, c),
                    (true, false) => (sub, c, a),
                    (true, true) => (sub, self.negated(a, width), c),
                };
                self.asm.vector(Instruction::with3(code, to, first, second), decorators);
            }
            ArithOp::Mul => {
                let code =
                    pick(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er);
                let a = if operation.negate_product { self.negated(a, width) } else { a };
                self.asm.vector(Instruction::with3(code, to, a, b), decorators);
            }
        }
    }
    fn negated(&mut self, a: Register, width: Width) -> Register {
        let format = if width == Width::B64 { Format::F64 } else { Format::F32 };
        let sign = self.broadcast_constant(format.sign_mask(), width);
        let code = by(width, Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
        self.op3(code, E, a, sign, Decorators::default());
        E
    }

    /// Flips or clears the sign bit.
    pub(super) fn sign(&mut self, d: Reg, negate: bool, format: Format, a: Operand) -> EmitResult {
        let width = self.width(d);
        if !matches!(format, Format::F32 | Format::F64) {
            return Err(EmitError::Unsupported);
        }
        let (mask, narrow, wide) = match negate {
            true => {
                (format.sign_mask(), Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64)
            }
            false => (
                format.magnitude_mask(),
                Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
                Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
            ),
        };
        let mask = self.broadcast_constant(mask, width);
        for part in self.parts(d) {
            let x = self.canonicalised(a, width, part, A)?;
            let to = self.target(d, part, D);
            self.op3(by(width, narrow, wide), to, x, mask, Decorators::default());
            self.write_back(d, part, to);
        }
        Ok(())
    }
}
