//! Conversions, 16-bit integers, and what takes registers apart and puts them together.

use super::super::asm::{Decorators, at, direction_number};
use super::{A, B, C, D, E, EmitError, EmitResult, Emitter, FRAME, Part, Source, by, ymm};
use crate::kernel::Machine;
use crate::native::deferred::{FLUSH_PENDING, NAN_PENDING, operand_state};
use crate::scalar::Conversion;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{Clamp, Format, NanRule, Rounding};
use roundonce_ir::{IntOp, Operand, Reg, Scalar, Signedness, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const K2: Register = Register::K2;
const K3: Register = Register::K3;

impl Emitter<'_> {
    pub(super) fn convert(&mut self, d: Reg, how: Conversion, a: Operand) -> EmitResult {
        if self.is_constant(d) {
            return Ok(());
        }
        match (how.from, how.to) {
            (Scalar::Int { .. }, Scalar::Int { .. }) if !how.saturate => self.convert_integer(d, how, a),
            (Scalar::Int { bits: ..=32, .. }, Scalar::Float(format)) if !how.saturate => {
                self.convert_to_float(d, how, format, a)
            }
            (Scalar::Float(Format::F32), Scalar::Float(to @ (Format::F16 | Format::BF16))) if !how.integral => {
                self.convert_to_half(d, how, to, a)
            }
            (Scalar::Float(from @ (Format::F16 | Format::BF16)), Scalar::Float(Format::F32)) if !how.integral => {
                self.convert_from_half(d, how, from, a)
            }
            (Scalar::Float(Format::F32), Scalar::Float(Format::F32)) if how.flush || how.integral || how.saturate => {
                self.convert_single(d, how, a)
            }
            (Scalar::Float(Format::F32), Scalar::Float(Format::F64)) if !how.saturate && !how.integral => {
                self.convert_to_double(d, how, a)
            }
            (Scalar::Float(Format::F64), Scalar::Float(Format::F32)) if !how.saturate && !how.integral => {
                self.convert_from_double(d, how, a)
            }
            (Scalar::Float(Format::F64), Scalar::Int { bits: 32, signed }) if !how.flush => {
                self.convert_double_to_integer(d, how.rounding, signed, a)
            }
            (Scalar::Float(from), Scalar::Int { bits: to @ ..=32, signed }) => {
                self.convert_to_integer(d, how, from, (to, signed), a)
            }
            _ => Err(EmitError::Unsupported),
        }
    }

    fn convert_integer(&mut self, d: Reg, how: Conversion, a: Operand) -> EmitResult {
        let (Some((bits, sign)), Some((to, to_sign))) = (Self::integer(how.from), Self::integer(how.to)) else {
            return Err(EmitError::Unsupported);
        };
        if self.is_general(d) {
            return self.convert_scalars(d, to, (bits, sign), a);
        }
        for part in self.parts(d) {
            let x = match (bits, to) {
                (64, 64) => self.register(a, Width::B64, part, A)?,
                (64, _) => self.low_words(a, part, 0)?,
                _ => self.extended(a, (bits, sign), part, A)?,
            };
            let x = match to {
                64 if bits < 64 => self.widened_lanes(x, part.half == 1 && !self.is_uniform(a), sign, A),
                32 | 64 => x,
                16 if bits == 16 || bits == 8 && sign == Signedness::Unsigned => {
                    self.copied(x, A, 0xffff, sign == Signedness::Signed)
                }
                16 => self.copied(x, A, 0xffff, true),
                _ if to_sign == Signedness::Signed => {
                    self.sign_extend_lanes(A, x, 24);
                    self.copied(A, A, 0xffff, true)
                }
                _ => self.copied(x, A, 0xff, true),
            };
            self.write_back(d, part, x);
        }
        Ok(())
    }
    /// A register, or its bits under a mask in `scratch` if it has others.
    fn copied(&mut self, x: Register, scratch: Register, mask: u64, has_others: bool) -> Register {
        if !has_others {
            return x;
        }
        self.mask_lanes(scratch, x, mask);
        scratch
    }

    /// Integers of up to 32 bits rounded to f32, f16 or bf16.
    fn convert_to_float(&mut self, d: Reg, how: Conversion, format: Format, a: Operand) -> EmitResult {
        let Some((bits, sign)) = Self::integer(how.from) else { return Err(EmitError::Unsupported) };
        let half = match format {
            Format::F32 => false,
            Format::F16 | Format::BF16 => true,
            Format::F64 => return self.convert_integer_to_double(d, (bits, sign), a),
            _ => return Err(EmitError::Unsupported),
        };
        let code = match sign {
            Signedness::Signed => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
            Signedness::Unsigned => Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
        };
        // AVX2 has no conversion of unsigned numbers; those of fewer bits are not negative.
        let by_halves = self.machine() == Machine::Avx2 && (bits, sign) == (32, Signedness::Unsigned);
        let code = match self.machine() {
            Machine::Avx2 => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
            Machine::Avx512 | Machine::Neon => code,
        };
        let convert = |emit: &mut Self, to, from, rounding| {
            let rounding = Some(rounding).filter(|&rounding| rounding != Rounding::NearestEven);
            if by_halves {
                return emit.convert_by_halves(to, from, rounding);
            }
            emit.asm.vector(Instruction::with2(code, to, from), Decorators { rounding, ..Decorators::default() });
        };
        for part in self.parts(d) {
            let x = self.extended(a, (bits, sign), part, A)?;
            let to = self.target(d, part, D);
            if !half {
                convert(self, to, x, how.rounding);
            } else if how.rounding == Rounding::NearestEven {
                convert(self, B, x, Rounding::Down);
                convert(self, C, x, Rounding::Up);
                self.round_to_odd(B, C);
                self.narrowed_half((format, how.rounding), to, C);
            } else {
                convert(self, C, x, how.rounding);
                self.narrowed_half((format, how.rounding), to, C);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }

    /// f32 to f32: flushed, integral, clamped.
    fn convert_single(&mut self, d: Reg, how: Conversion, a: Operand) -> EmitResult {
        if !how.saturate && self.launch.code.profile.nan_f32 != NanRule::Canonical {
            return Err(EmitError::Unsupported);
        }
        let eager = self.deferred.eager.contains(&d);
        for part in self.parts(d) {
            let to = self.target(d, part, D);
            self.single(a, how.flush, part, to)?;
            if how.integral {
                // Without the inexact exception.
                let how = 8 | direction_number(how.rounding);
                self.asm.push(Instruction::with3(Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, to, to, how));
            }
            if how.saturate {
                self.clamp_single(Clamp::Unit, to);
            } else if eager {
                self.canonicalise(to, NAN_PENDING);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }
    /// Unsigned numbers to f32, rounded once: 2^16 times the upper half, plus the lower one. Uses E.
    fn convert_by_halves(&mut self, to: Register, from: Register, rounding: Option<Rounding>) {
        let (left, right) = (Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8);
        let decorators = Decorators { rounding, ..Decorators::default() };
        let exact = Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
        self.shift(right, E, from, 16);
        self.shift(left, to, from, 16);
        self.shift(right, to, to, 16);
        for half in [E, to] {
            self.asm.vector(Instruction::with2(exact, half, half), decorators);
        }
        // 2^16 as f32.
        let scale = self.broadcast_constant(0x4780_0000, Width::B32);
        self.op3(Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er, to, E, scale, decorators);
    }

    fn convert_to_half(&mut self, d: Reg, how: Conversion, format: Format, a: Operand) -> EmitResult {
        if !how.saturate && self.launch.code.profile.nan_small != NanRule::Canonical {
            return Err(EmitError::Unsupported);
        }
        for part in self.parts(d) {
            self.single(a, how.flush, part, A)?;
            let to = self.target(d, part, D);
            if how.saturate {
                self.clamp_single(Clamp::Unit, A);
                self.narrowed_half((format, how.rounding), to, A);
            } else {
                self.nan_mask(A, K3);
                self.narrowed_half((format, how.rounding), to, A);
                self.canonical_nan(format, to, K3);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }

    fn convert_from_half(&mut self, d: Reg, how: Conversion, format: Format, a: Operand) -> EmitResult {
        if !how.saturate && self.launch.code.profile.nan_f32 != NanRule::Canonical {
            return Err(EmitError::Unsupported);
        }
        let eager = self.deferred.eager.contains(&d);
        for part in self.parts(d) {
            let to = self.target(d, part, D);
            self.widened_half(a, (format, false), part, to)?;
            // f16 has no number that is subnormal in f32.
            if how.flush && format == Format::BF16 {
                self.flush(Format::F32, to, 0);
            }
            if how.saturate {
                self.clamp_single(Clamp::Unit, to);
            } else if eager && (format == Format::F16 || how.flush) {
                self.canonicalise(to, NAN_PENDING);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }

    /// Floats rounded to integers of up to 32 bits, those out of range to its ends, NaNs to zero.
    fn convert_to_integer(
        &mut self,
        d: Reg,
        how: Conversion,
        from: Format,
        (bits, signed): (u32, bool),
        a: Operand,
    ) -> EmitResult {
        let half = match from {
            Format::F32 => false,
            Format::F16 | Format::BF16 => true,
            _ => return Err(EmitError::Unsupported),
        };
        let round = Decorators { rounding: Some(how.rounding), ..Decorators::default() };
        for part in self.parts(d) {
            if half {
                self.widened_half(a, (from, false), part, A)?;
            } else {
                self.single(a, how.flush, part, A)?;
            }
            let clamp = |emit: &mut Self, code, bound: u64| {
                let bound = emit.broadcast_constant(bound, Width::B32);
                emit.op3(code, D, D, bound, Decorators::default());
            };
            if signed {
                // What is out of range becomes the least integer.
                self.asm.vector(Instruction::with2(Code::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er, D, A), round);
                // 2^31.
                let limit = self.broadcast_constant(0x4f00_0000, Width::B32);
                if let Source::Frame(limit) = limit {
                    self.asm.saturate_integers(D, A, at(FRAME, limit));
                } else {
                    self.nan_mask(A, K2);
                    self.op3_immediate(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, K3, A, limit, 0x1d);
                    for (mask, bound) in [(K2, 0), (K3, 0x7fff_ffff)] {
                        self.merge_constant(D, bound, mask);
                    }
                }
                if bits < 32 {
                    let most = (1u64 << (bits - 1)) - 1;
                    clamp(self, Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32, most);
                    clamp(self, Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, !most);
                    self.mask_lanes(D, D, 0xffff);
                }
            } else {
                // What is too large becomes the largest integer; the second operand is the result for a NaN.
                let zero = self.broadcast_constant(0, Width::B32);
                self.op3(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, A, A, zero, Decorators::default());
                let convert = Code::EVEX_Vcvtps2udq_zmm_k1z_zmmm512b32_er;
                match self.machine() {
                    Machine::Avx512 | Machine::Neon => self.asm.vector(Instruction::with2(convert, D, A), round),
                    Machine::Avx2 => self.convert_to_unsigned(how.rounding),
                }
                if bits < 32 {
                    clamp(self, Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, (1u64 << bits) - 1);
                }
            }
            self.write_back(d, part, D);
        }
        Ok(())
    }

    /// f32 in A, not negative, to unsigned numbers in D, where there are signed conversions only. Uses A, B, C, K2 and K3.
    fn convert_to_unsigned(&mut self, rounding: Rounding) {
        let (compare, xor) =
            (Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32);
        // 2^31 and 2^32: from there on only integers, so that neither the comparison nor the difference rounds.
        let [half, whole] = [0x4f00_0000, 0x4f80_0000].map(|bits| self.broadcast_constant(bits, Width::B32));
        self.op3_immediate(compare, K3, A, whole, 0x1d);
        self.op3_immediate(compare, K2, A, half, 0x1d);
        self.op3(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, A, A, half, Decorators::masked(K2));
        let round = Decorators { rounding: Some(rounding), ..Decorators::default() };
        self.asm.vector(Instruction::with2(Code::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er, D, A), round);
        let sign = self.broadcast_constant(0x8000_0000, Width::B32);
        self.op3(xor, D, D, sign, Decorators::masked(K2));
        self.merge_constant(D, u64::from(u32::MAX), K3);
    }

    /// Lanes of f32 in `to`, any NaN for a NaN, flushed if so asked.
    pub(super) fn single(&mut self, a: Operand, flush: bool, part: Part, to: Register) -> EmitResult {
        let late = operand_state(&self.states, a) & FLUSH_PENDING != 0;
        let x =
            if late { self.canonicalised(a, Width::B32, part, to)? } else { self.register(a, Width::B32, part, to)? };
        self.copy_vector(to, x);
        if flush {
            self.flush(Format::F32, to, 0);
        }
        Ok(())
    }

    /// Integers of up to 32 bits extended to 32: in their location, or in `scratch`.
    pub(super) fn extended(
        &mut self,
        a: Operand,
        (bits, sign): (u32, Signedness),
        part: Part,
        scratch: Register,
    ) -> EmitResult<Register> {
        let x = self.canonicalised(a, Width::holding(bits), part, scratch)?;
        Ok(match (bits, sign) {
            (32, _) | (16, Signedness::Unsigned) => x,
            (_, Signedness::Unsigned) => self.copied(x, scratch, u64::MAX >> (64 - bits), true),
            (_, Signedness::Signed) => {
                self.sign_extend_lanes(scratch, x, 32 - bits);
                scratch
            }
        })
    }
    /// The low bits of 32-bit lanes, all but so many, extended by their sign.
    pub(super) fn sign_extend_lanes(&mut self, to: Register, from: Register, count: u32) {
        self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, to, from, count);
        self.shift(Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, to, to, count);
    }
    /// The bits of 32-bit lanes under a mask.
    pub(super) fn mask_lanes(&mut self, to: Register, from: Register, mask: u64) {
        let mask = self.broadcast_constant(mask, Width::B32);
        self.op3(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, to, from, mask, Decorators::default());
    }
    /// Half of a vector's 32-bit lanes, extended to 64 bits, in `scratch`.
    pub(super) fn widened_lanes(&mut self, x: Register, upper: bool, sign: Signedness, scratch: Register) -> Register {
        let half = if upper {
            let code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
            self.asm.push(Instruction::with3(code, ymm(scratch), x, 1));
            scratch
        } else {
            x
        };
        let code = match sign {
            Signedness::Signed => Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
            Signedness::Unsigned => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
        };
        self.asm.rr(code, scratch, ymm(half));
        scratch
    }
    /// 32 bits of each 64-bit lane from a bit on, in D. Uses A, B and C.
    fn low_words(&mut self, a: Operand, part: Part, shift: u32) -> EmitResult<Register> {
        for (half, scratch, to) in [(0, A, C), (1, B, D)] {
            let mut x = self.register(a, Width::B64, Part { half, ..part }, scratch)?;
            if shift > 0 {
                self.shift(Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, scratch, x, shift);
                x = scratch;
            }
            self.asm.rr(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(to), x);
        }
        let code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.push(Instruction::with4(code, D, C, ymm(D), 1));
        Ok(D)
    }

    /// Two values of 16 or 32 bits in one register.
    pub(super) fn pack(&mut self, d: Reg, low: Operand, high: Operand) -> EmitResult {
        if self.is_constant(d) {
            return Ok(());
        }
        let width = self.width(d);
        let half = Width::holding(width.bits() / 2);
        if self.is_general(d) {
            let shift = by(width, Code::Shl_rm32_imm8, Code::Shl_rm64_imm8);
            let or = by(width, Code::Or_r32_rm32, Code::Or_r64_rm64);
            let named = |register| if width == Width::B64 { register } else { super::low(register) };
            let y = self.scalar(high, half, RAX)?;
            self.copy_scalar(Width::B32, RAX, y);
            self.asm.push(Instruction::with2(shift, named(RAX), half.bits()));
            let x = self.scalar(low, half, RCX)?;
            self.copy_scalar(Width::B32, RCX, x);
            self.asm.rr(or, named(RAX), named(RCX));
            return self.define(d, RAX, 0);
        }
        for part in self.parts(d) {
            if width == Width::B64 {
                for (arg, to) in [(low, A), (high, B)] {
                    let x = self.canonicalised(arg, Width::B32, part, to)?;
                    let upper = part.half == 1 && !self.is_uniform(arg);
                    self.widened_lanes(x, upper, Signedness::Unsigned, to);
                }
                self.shift(Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, B, B, 32);
                self.op3(Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, A, A, Source::Register(B), Decorators::default());
                self.write_back(d, part, A);
                continue;
            }
            let (x, y) = (self.register(low, half, part, A)?, self.register(high, half, part, B)?);
            self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, B, y, 16);
            let to = self.target(d, part, D);
            self.op3(Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, to, B, Source::Register(x), Decorators::default());
            self.write_back(d, part, to);
        }
        Ok(())
    }

    /// Some bits of a register.
    pub(super) fn extract(&mut self, d: Reg, a: Operand, from: Width, shift: u32) -> EmitResult {
        let to = self.width(d);
        if self.is_constant(d) {
            return Ok(());
        }
        let widths = matches!((from, to), (Width::B64 | Width::B32, Width::B32 | Width::B16));
        if !widths || to > from || shift >= from.bits() {
            return Err(EmitError::Unsupported);
        }
        if self.is_general(d) {
            let x = self.scalar(a, from, RAX)?;
            self.copy_scalar(from, RAX, x);
            self.asm.push(Instruction::with2(Code::Shr_rm64_imm8, RAX, shift));
            self.asm.rr(Code::Mov_r32_rm32, Register::EAX, Register::EAX);
            return self.define(d, RAX, 0);
        }
        for part in self.parts(d) {
            let x = match (from, to) {
                (Width::B64, _) => self.low_words(a, part, shift)?,
                _ if shift > 0 => {
                    let x = self.canonicalised(a, from, part, A)?;
                    self.shift(Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, A, x, shift);
                    A
                }
                _ => self.canonicalised(a, from, part, A)?,
            };
            let has_others = to == Width::B16 && from.bits() - shift > 16;
            let x = self.copied(x, A, 0xffff, has_others);
            self.write_back(d, part, x);
        }
        Ok(())
    }

    /// Integer arithmetic of 16 bits, in lanes of 32.
    pub(super) fn narrow_int(&mut self, d: Reg, op: IntOp, args: &[Operand; 4]) -> EmitResult {
        use Code as K;
        let [a, b, c, _] = *args;
        let signed = Signedness::Signed;
        // How operands are extended, and the instruction.
        let (sign, code) = match op {
            IntOp::Add => (Signedness::Unsigned, K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Sub => (Signedness::Unsigned, K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Mul | IntOp::MulAdd => (Signedness::Unsigned, K::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32),
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) => (sign, K::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32),
            IntOp::And => (Signedness::Unsigned, K::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Or => (Signedness::Unsigned, K::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32),
            IntOp::Xor | IntOp::Not => (Signedness::Unsigned, K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32),
            IntOp::Neg => (Signedness::Unsigned, K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Min(sign) => (sign, K::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Max(sign) => (sign, K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32),
            // Counts are 32 bits; by 16 or more only the sign is left.
            IntOp::Shl => (Signedness::Unsigned, K::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(sign) if sign == signed => (sign, K::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(sign) => (sign, K::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32),
            _ => return Err(EmitError::Unsupported),
        };
        for part in self.parts(d) {
            let x = self.extended(a, (16, sign), part, A)?;
            let to = self.target(d, part, D);
            match op {
                IntOp::Not => {
                    let ones = self.broadcast_constant(0xffff, Width::B32);
                    self.op3(code, to, x, ones, Decorators::default());
                }
                IntOp::Neg => {
                    let zero = self.broadcast_constant(0, Width::B32);
                    let zero = self.load(zero, Width::B32, B);
                    self.op3(code, to, zero, Source::Register(x), Decorators::default());
                }
                IntOp::MulAdd | IntOp::MulAddWide(_) => {
                    let y = self.extended(b, (16, sign), part, B)?;
                    self.op3(code, C, x, Source::Register(y), Decorators::default());
                    let width = if op == IntOp::MulAdd { Width::B16 } else { Width::B32 };
                    let z = self.canonicalised(c, width, part, A)?;
                    let add = K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
                    self.op3(add, to, C, Source::Register(z), Decorators::default());
                }
                IntOp::Shl | IntOp::Shr(_) => {
                    let y = self.canonicalised(b, Width::B32, part, B)?;
                    self.op3(code, to, x, Source::Register(y), Decorators::default());
                }
                _ => {
                    let y = self.extended(b, (16, sign), part, B)?;
                    self.op3(code, to, x, Source::Register(y), Decorators::default());
                }
            }
            if self.width(d) == Width::B16 {
                self.mask_lanes(to, to, 0xffff);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }
}
