//! The multiply-add family on vectors.

use super::super::asm::{Decorators, at};
use super::{A, B, C, D, DeoptReason, E, EmitError, EmitResult, Emitter, FRAME, Location, Part, by};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use crate::native::deferred::{FLUSH_PENDING, NAN_PENDING};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use roundonce_arith::{ArithOp, Clamp, Format, NanRule, Operation, Rounding, Tininess};
use roundonce_ir::{Operand, Reg, Width};

impl Emitter<'_> {
    /// The multiply-add family of operations.
    pub(super) fn float(&mut self, d: Reg, operation: &Operation, args: &[Operand; 3]) -> EmitResult {
        let profile = self.launch.code.profile;
        let format = operation.format;
        let width = match format {
            Format::F16 | Format::BF16 => return self.half_float(d, operation, args),
            Format::F32 => Width::B32,
            Format::F64 => Width::B64,
            _ => return Err(EmitError::Unsupported),
        };
        let canonical =
            format != Format::F32 || operation.clamp != Clamp::None || profile.nan_f32 == NanRule::Canonical;
        let mixed = format == Format::F32
            && operation.operand_formats.is_none()
            && matches!(operation.source_format, Format::F16 | Format::BF16);
        let known = !operation.fmz
            && (operation.is_uniform() || mixed)
            && canonical
            && (!operation.flush || format == Format::F32 && profile.tininess != Tininess::BeforeRounding)
            && operation.op != ArithOp::TruncatedMulAdd
            && !operation.oob
            && (operation.clamp != Clamp::Unit || format == Format::F32);
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
        for (index, scratch) in [A, B, C].into_iter().enumerate().take(used.len()) {
            if self.is_uniform(used[index]) {
                shared[index] = Some(self.factor(operation, index, used[index], first, scratch)?);
            }
        }
        let checked_late = self.deferred.checked_late[d.0 as usize];
        let is_whole = width == Width::B64 && operation.clamp == Clamp::None && self.merge_mask(d).is_none();
        // Where results of f64 are, if they are looked through for NaNs together.
        let places = self.parts(d).into_iter().filter(|_| is_whole).map(|part| self.location(d, part));
        let results: Vec<Location> = places.collect::<Option<_>>().unwrap_or_default();
        for part in self.parts(d) {
            // A factor in memory is read by the multiply-add itself.
            let from_memory = match operation.op {
                ArithOp::MulAdd if !mixed && !flushes && (rounding.is_none() || self.machine() != Machine::Avx512) => {
                    (0..2).find_map(|index| Some(index).zip(self.memory_operand(used[index], width, part)))
                }
                _ => None,
            };
            let mut x = [A; 3];
            for (index, scratch) in [A, B, C].into_iter().enumerate().take(used.len()) {
                x[index] = match shared[index] {
                    Some(register) => register,
                    None if from_memory.is_some_and(|(memory, _)| memory == index) => scratch,
                    None => self.factor(operation, index, used[index], part, scratch)?,
                };
            }
            let target = self.target(d, part, D);
            // The steps after the arithmetic need a scratch register.
            let clamps = operation.clamp != Clamp::None;
            let to = if clamps || eager || flushes { D } else { target };
            match from_memory {
                Some((index, memory)) => {
                    self.multiply_from_memory(operation, to, x[1 - index], memory, x[2], decorators)
                }
                None => self.arithmetic(operation, width, to, x, decorators),
            }
            if may_be_tiny {
                self.exit_at_boundary(format, d, part, to);
            }
            if width == Width::B64 && results.is_empty() && !checked_late {
                self.exit_on_nan(d, part, to);
            }
            match operation.clamp {
                Clamp::None => {}
                Clamp::Relu if width == Width::B64 => {
                    let zero = self.broadcast_constant(0, width);
                    self.op3(Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64, D, to, zero, Decorators::default());
                }
                Clamp::Unit => self.clamp_single(Clamp::Unit, D),
                Clamp::Relu => {
                    self.nan_mask(D, Register::K2);
                    self.clamp_single(Clamp::Relu, D);
                    self.canonical_nan(format, D, Register::K2);
                }
            }
            let late = if flushes || eager && operation.flush && !operation.saturates() { FLUSH_PENDING } else { 0 };
            let nan = if eager && !clamps { NAN_PENDING } else { 0 };
            if width == Width::B32 {
                self.canonicalise(D, late | nan);
            }
            if to != target && target != D {
                self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, target, D);
            }
            self.write_back(d, part, target);
        }
        if !results.is_empty() && !checked_late {
            self.exit_on_nans(&results);
        }
        Ok(())
    }

    /// Where in memory a part of an operand is, if its lanes lie there side by side.
    fn memory_operand(&self, arg: Operand, width: Width, part: Part) -> Option<MemoryOperand> {
        let Operand::Reg(reg) = arg else { return None };
        match (self.location(reg, part), &self.allocations[reg.0 as usize], self.folded) {
            (Some(Location::Slot(offset)), ..) => Some(at(FRAME, offset)),
            (_, Allocation::Folded, Some(load)) => self.contiguous_part(load, width, part),
            _ => None,
        }
    }
    /// A fused multiply-add of a factor in a register and one in memory.
    fn multiply_from_memory(
        &mut self,
        operation: &Operation,
        to: Register,
        factor: Register,
        memory: MemoryOperand,
        addend: Register,
        decorators: Decorators,
    ) {
        let [overwrite_factor, _, overwrite_addend] = fused(operation, operation.format == Format::F64);
        let (code, other) = if to == factor {
            (overwrite_factor, addend)
        } else {
            self.copy_vector(to, addend);
            (overwrite_addend, factor)
        };
        self.asm.vector(Instruction::with3(code, to, other, memory), decorators);
    }

    /// Whether an operand is the same vector in all parts.
    pub(super) fn is_uniform(&self, arg: Operand) -> bool {
        self.shapes.shape(arg).is_uniform()
    }
    /// An operand by its index, as the result's format, flushed by instructions where the processor does not.
    fn factor(
        &mut self,
        operation: &Operation,
        index: usize,
        arg: Operand,
        part: Part,
        scratch: Register,
    ) -> EmitResult<Register> {
        let register = match operation.operand_format(index) {
            Format::F16 | Format::BF16 => {
                self.widened_half(arg, (operation.operand_format(index), false), part, scratch)?;
                scratch
            }
            format => self.register(arg, Width::holding(format.width()), part, scratch)?,
        };
        if operation.flush && !self.deferred.daz {
            self.copy_vector(scratch, register);
            self.flush(Format::F32, scratch, 0);
            return Ok(scratch);
        }
        Ok(register)
    }
    /// A result of the smallest normal magnitude is tiny where it was rounded up to that at subnormal precision only, which
    /// the result does not show: a side exit. Rare, because no other result is in doubt.
    pub(super) fn exit_at_boundary(&mut self, format: Format, d: Reg, part: Part, register: Register) {
        let width = Width::holding(format.width());
        let and = by(width, Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
        let equal = by(width, Code::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32, Code::EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64);
        let magnitude = self.broadcast_constant(format.magnitude_mask(), width);
        self.op3(and, E, register, magnitude, Decorators::default());
        let mask = self.merge_mask(d).map(|mask| {
            self.load_mask(mask, width, part, Register::K1);
            Register::K1
        });
        let smallest = self.broadcast_constant(format.smallest_normal(), width);
        let decorators = Decorators { mask, ..Decorators::default() };
        self.op3(equal, Register::K2, E, smallest, decorators);
        self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
        self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
    }
    /// Steps 2, 6, 7 and 8 of the pipeline. `x` are the operation's operands in order.
    pub(super) fn arithmetic(
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
                let [_, overwrite_a, overwrite_c] = fused(operation, wide);
                let (code, first, second) = if to == a {
                    (overwrite_a, b, c)
                } else if to == b {
                    (overwrite_a, a, c)
                } else {
                    self.copy_vector(to, c);
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
    pub(super) fn sign(&mut self, d: Reg, negate: bool, format: Format, arithmetic: bool, a: Operand) -> EmitResult {
        let width = self.width(d);
        let rule = self.launch.code.profile.nan_rule(format);
        let is_known = (rule == NanRule::Canonical) == (format != Format::F64) || !arithmetic;
        if !is_known || !matches!(format, Format::F16 | Format::BF16 | Format::F32 | Format::F64) {
            return Err(EmitError::Unsupported);
        }
        let eager = self.deferred.eager.contains(&d);
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
            let target = self.target(d, part, D);
            // The operand is read again behind the result.
            let to = if arithmetic { D } else { target };
            self.op3(by(width, narrow, wide), to, x, mask, Decorators::default());
            match format {
                _ if !arithmetic => {}
                Format::F32 if !eager => {}
                Format::F32 => self.canonicalise(to, NAN_PENDING),
                Format::F64 => {
                    let code = Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
                    self.asm.push(Instruction::with4(code, Register::K2, x, x, 3));
                    let quiet = self.broadcast_constant(format.quiet_bit(), width);
                    self.op3(Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, to, x, quiet, Decorators::masked(Register::K2));
                }
                _ => {
                    let magnitude = self.broadcast_constant(format.magnitude_mask(), Width::B32);
                    self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, B, x, magnitude, Decorators::default());
                    let infinity = self.broadcast_constant(format.infinity(), Width::B32);
                    self.op3_immediate(Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, Register::K3, B, infinity, 6);
                    self.canonical_nan(format, to, Register::K3);
                }
            }
            if to != target {
                self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, target, to);
            }
            self.write_back(d, part, target);
        }
        Ok(())
    }
}

/// The fused multiply-adds of an operation's signs: those that overwrite the first factor and take the second from memory,
/// that overwrite a factor, and that overwrite the addend.
fn fused(operation: &Operation, wide: bool) -> [Code; 3] {
    use Code as K;
    match (operation.negate_product, operation.negate_addend, wide) {
        (false, false, false) => [
            K::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (false, false, true) => [
            K::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
        (false, true, false) => [
            K::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (false, true, true) => [
            K::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
        (true, false, false) => [
            K::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (true, false, true) => [
            K::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
        (true, true, false) => [
            K::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
            K::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (true, true, true) => [
            K::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
            K::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
    }
}
