//! Arithmetic on all lanes of a tile, vector by vector.

use super::super::asm::{Manner, at};
use super::{A, B, C, D, Done, E, Emit, FRAME, Part, Source, Stop, Trouble, by, ymm};
use crate::native::alloc::Home;
use crate::native::notes::{LATE, NAN, operand};
use crate::native::shape::VECTOR;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{ArithOp, Format, NanRule, Operation, Rounding, Tininess};
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Scalar, Signedness, Width};

/// `vcmpps`'s numbers of comparisons that raise nothing.
fn float_predicate(comparison: Comparison) -> u32 {
    match comparison {
        Comparison::Eq => 0x00,
        Comparison::Ne => 0x0c,
        Comparison::Lt => 0x11,
        Comparison::Le => 0x12,
        Comparison::Gt => 0x1e,
        Comparison::Ge => 0x1d,
        Comparison::Equ => 0x08,
        Comparison::Neu => 0x04,
        Comparison::Ltu => 0x19,
        Comparison::Leu => 0x1a,
        Comparison::Gtu => 0x16,
        Comparison::Geu => 0x15,
        Comparison::Num => 0x07,
        Comparison::Nan => 0x03,
    }
}

impl Emit<'_> {
    /// The multiply-add family.
    pub(super) fn float(&mut self, d: Reg, operation: &Operation, args: &[Operand; 3]) -> Done {
        let profile = self.given.code.profile;
        let format = operation.format;
        let width = match format {
            Format::F32 => Width::B32,
            Format::F64 => Width::B64,
            _ => return Err(Stop::Cut),
        };
        let canonical = format != Format::F32 || operation.saturate || profile.nan_f32 == NanRule::Canonical;
        let known = !operation.fmz
            && operation.source_format == format
            && canonical
            && (!operation.flush || format == Format::F32 && profile.tininess == Tininess::Result)
            && (!operation.saturate || format == Format::F32);
        if !known {
            return Err(Stop::Cut);
        }
        let rounding = Some(operation.rounding).filter(|&rounding| rounding != Rounding::NearestEven);
        // The machine flushes, or we do.
        let flushes = operation.flush && !self.noted.flushes;
        let eager = self.noted.eager.contains(&d);
        let manner = Manner { rounding, ..Manner::default() };
        // What all lanes share is fetched once.
        let used = &args[..operation.op.arity()];
        let mut shared = [None; 3];
        let first = Part { vector: 0, half: 0 };
        for ((slot, &arg), scratch) in shared.iter_mut().zip(used).zip([A, B, C]) {
            if self.is_same_for_all(arg) {
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
            let home = self.target(d, part, D);
            // What comes after the arithmetic is done on the way home.
            let to = if operation.saturate || eager || flushes { D } else { home };
            self.arithmetic(operation, width, to, x, manner);
            if operation.saturate {
                // Of NaN and a number, and of two zeros, the second operand is taken.
                let (zero, one) = (self.every(0, width), self.every(format.one(), width));
                let (max, min) =
                    (Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae);
                self.op3(max, D, to, zero, Manner::default());
                self.op3(min, D, D, one, Manner::default());
                if flushes {
                    self.finish(D, LATE);
                }
            } else if eager || flushes {
                let late = if operation.flush { LATE } else { 0 };
                self.finish(D, if eager { NAN | late } else { late });
            }
            if width == Width::B64 {
                self.refuse_nan(d, part, to);
            }
            if to != home && home != D {
                self.asm.rr(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, home, D);
            }
            self.bring(d, part, home);
        }
        Ok(())
    }

    /// Whether an operand is the same vector in all parts.
    fn is_same_for_all(&self, arg: Operand) -> bool {
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
    /// A NaN of f64 keeps a payload by a rule that is the interpreter's.
    fn refuse_nan(&mut self, d: Reg, part: Part, register: Register) {
        let code = Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
        let mask = self.held_back(d).map(|mask| {
            self.lanes_of(mask, Width::B64, part, Register::K1);
            Register::K1
        });
        let compare = Instruction::with4(code, Register::K2, register, register, 3);
        self.asm.vector(compare, Manner { mask, ..Manner::default() });
        self.asm.rr(Code::VEX_Kortestw_kr_kr, Register::K2, Register::K2);
        self.give_up(Code::Jne_rel32_64, Trouble::Other, 0);
    }

    /// Steps 2, 6, 7 and 8 of the pipeline. `x` are the kind's operands in order.
    fn arithmetic(&mut self, operation: &Operation, width: Width, to: Register, x: [Register; 3], manner: Manner) {
        let wide = width == Width::B64;
        let pick = |narrow: Code, double: Code| if wide { double } else { narrow };
        let [a, b, c] = x;
        match operation.op {
            ArithOp::MulAdd | ArithOp::TruncatedMulAdd => {
                use Code as K;
                // The product's sign, the addend's sign: three codes, by which operand is overwritten.
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
                self.asm.vector(Instruction::with3(code, to, first, second), manner);
            }
            ArithOp::Add => {
                // a and the addend, which stands second.
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
                self.asm.vector(Instruction::with3(code, to, first, second), manner);
            }
            ArithOp::Mul => {
                let code =
                    pick(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er);
                let a = if operation.negate_product { self.negated(a, width) } else { a };
                self.asm.vector(Instruction::with3(code, to, a, b), manner);
            }
        }
    }
    fn negated(&mut self, a: Register, width: Width) -> Register {
        let format = if width == Width::B64 { Format::F64 } else { Format::F32 };
        let sign = self.every(format.sign_mask(), width);
        let code = by(width, Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
        self.op3(code, E, a, sign, Manner::default());
        E
    }

    /// The sign bit flipped or cleared.
    pub(super) fn sign(&mut self, d: Reg, negate: bool, format: Format, a: Operand) -> Done {
        let width = self.width(d);
        if !matches!(format, Format::F32 | Format::F64) {
            return Err(Stop::Cut);
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
        let mask = self.every(mask, width);
        for part in self.parts(d) {
            let x = self.finished(a, width, part, A)?;
            let to = self.target(d, part, D);
            self.op3(by(width, narrow, wide), to, x, mask, Manner::default());
            self.bring(d, part, to);
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, d: Reg, a: Operand) -> Done {
        let width = self.width(d);
        if self.is_constant(d) {
            return Ok(());
        }
        if width == Width::Pred && !self.is_general(d) {
            return self.copy_mask(d, a);
        }
        if self.is_general(d) {
            let x = self.number(a, width, Register::RAX)?;
            return self.give(d, x, 0);
        }
        let finishes = self.noted.eager.contains(&d);
        for part in self.parts(d) {
            let x = if finishes { self.finished(a, width, part, A)? } else { self.register(a, width, part, A)? };
            self.bring(d, part, x);
        }
        Ok(())
    }

    fn copy_mask(&mut self, d: Reg, a: Operand) -> Done {
        let Home::Mask(to) = self.homes[d.0 as usize] else { return Err(Stop::Cut) };
        for word in 0..self.mask_words() {
            self.mask_word(a, word, Register::RAX)?;
            self.set_mask_word(d, to, word);
        }
        Ok(())
    }

    /// Integer arithmetic: on numbers where it can be.
    pub(super) fn int(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> Done {
        if self.is_constant(d) {
            return Ok(());
        }
        if self.is_general(d) {
            return self.int_numbers(d, op, width, args);
        }
        let [a, b, c, _] = *args;
        let narrow_wide = |narrow, wide| by(width, narrow, wide);
        use Code as K;
        let two = match op {
            IntOp::Add => {
                Some(narrow_wide(K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Sub => {
                Some(narrow_wide(K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Mul | IntOp::MulAdd => {
                Some(narrow_wide(K::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::And => {
                Some(narrow_wide(K::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Or => Some(narrow_wide(K::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64)),
            IntOp::Xor => {
                Some(narrow_wide(K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Min(Signedness::Signed) => {
                Some(narrow_wide(K::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Max(Signedness::Signed) => {
                Some(narrow_wide(K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Min(Signedness::Unsigned) => {
                Some(narrow_wide(K::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64))
            }
            IntOp::Max(Signedness::Unsigned) => {
                Some(narrow_wide(K::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64))
            }
            // Counts of 32 bits; by the width or more leaves nothing but the sign, as here.
            IntOp::Shl if width == Width::B32 => Some(K::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(Signedness::Unsigned) if width == Width::B32 => Some(K::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(Signedness::Signed) if width == Width::B32 => Some(K::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32),
            _ => None,
        };
        if !matches!(width, Width::B32 | Width::B64) {
            return Err(Stop::Cut);
        }
        for part in self.parts(d) {
            let to = self.target(d, part, D);
            if let Some(code) = two {
                let x = self.finished(a, width, part, A)?;
                let y = self.finished(b, width, part, B)?;
                if op == IntOp::MulAdd {
                    self.op3(code, C, x, Source::Register(y), Manner::default());
                    let z = self.finished(c, width, part, A)?;
                    let add = narrow_wide(K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64);
                    self.op3(add, to, C, Source::Register(z), Manner::default());
                } else {
                    self.op3(code, to, x, Source::Register(y), Manner::default());
                }
            } else {
                match op {
                    IntOp::Shl | IntOp::Shr(_) => {
                        let x = self.finished(a, width, part, A)?;
                        let y = self.widened(b, part, false, B)?;
                        let code = match op {
                            IntOp::Shl => K::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
                            IntOp::Shr(Signedness::Unsigned) => K::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
                            _ => K::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
                        };
                        self.op3(code, to, x, Source::Register(y), Manner::default());
                    }
                    IntOp::Not | IntOp::Neg => {
                        let x = self.finished(a, width, part, A)?;
                        let ones = self.every(u64::MAX, width);
                        let not =
                            narrow_wide(K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
                        self.op3(not, to, x, ones, Manner::default());
                        if op == IntOp::Neg {
                            let sub = narrow_wide(
                                K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
                                K::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
                            );
                            self.op3(sub, to, to, ones, Manner::default());
                        }
                    }
                    IntOp::MulWide(sign) | IntOp::MulAddWide(sign) => {
                        let signed = sign == Signedness::Signed;
                        let x = self.widened(a, part, signed, A)?;
                        let y = self.widened(b, part, signed, B)?;
                        let code = if signed {
                            K::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64
                        } else {
                            K::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64
                        };
                        if matches!(op, IntOp::MulAddWide(_)) {
                            self.op3(code, C, x, Source::Register(y), Manner::default());
                            let z = self.register(c, Width::B64, part, A)?;
                            let add = K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
                            self.op3(add, to, C, Source::Register(z), Manner::default());
                        } else {
                            self.op3(code, to, x, Source::Register(y), Manner::default());
                        }
                    }
                    _ => return Err(Stop::Cut),
                }
            }
            self.bring(d, part, to);
        }
        Ok(())
    }

    /// Half a vector of 32-bit lanes as 64-bit ones.
    fn widened(&mut self, a: Operand, part: Part, signed: bool, scratch: Register) -> Done<Register> {
        let x = self.finished(a, Width::B32, part, scratch)?;
        let half = if part.half == 1 && !self.is_same_for_all(a) {
            let code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
            self.asm.push(Instruction::with3(code, ymm(scratch), x, 1));
            scratch
        } else {
            x
        };
        let code = if signed { Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256 } else { Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256 };
        self.asm.rr(code, scratch, ymm(half));
        Ok(scratch)
    }

    pub(super) fn convert(&mut self, d: Reg, to: Scalar, from: Scalar, rounding: Rounding, a: Operand) -> Done {
        if self.is_constant(d) {
            return Ok(());
        }
        let Some((bits, signed)) = Self::is_integer(from) else { return Err(Stop::Cut) };
        match Self::is_integer(to) {
            Some((to, _)) if self.is_general(d) => self.convert_numbers(d, to, (bits, signed), a),
            Some((64, _)) if bits == 32 => {
                for part in self.parts(d) {
                    let x = self.widened(a, part, signed, A)?;
                    self.bring(d, part, x);
                }
                Ok(())
            }
            Some((32, _)) if bits == 64 => {
                for part in self.parts(d) {
                    let low = self.register(a, Width::B64, Part { half: 0, ..part }, A)?;
                    self.asm.rr(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(C), low);
                    let high = self.register(a, Width::B64, Part { half: 1, ..part }, B)?;
                    self.asm.rr(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, ymm(D), high);
                    let code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
                    self.asm.push(Instruction::with4(code, D, C, ymm(D), 1));
                    self.bring(d, part, D);
                }
                Ok(())
            }
            None if bits == 32 && to == Scalar::Float(Format::F32) => {
                let code = if signed {
                    Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er
                } else {
                    Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er
                };
                let rounding = Some(rounding).filter(|&rounding| rounding != Rounding::NearestEven);
                for part in self.parts(d) {
                    let x = self.finished(a, Width::B32, part, A)?;
                    let to = self.target(d, part, D);
                    self.asm.vector(Instruction::with2(code, to, x), Manner { rounding, ..Manner::default() });
                    self.bring(d, part, to);
                }
                Ok(())
            }
            _ => Err(Stop::Cut),
        }
    }

    pub(super) fn compare(&mut self, d: Reg, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Done {
        let (width, code, number) = match of {
            Comparand::Float(Format::F32, flush) => {
                if flush && !self.noted.flushes {
                    return Err(Stop::Cut);
                }
                let code = Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
                (Width::B32, code, float_predicate(comparison))
            }
            Comparand::Float(Format::F64, false) => {
                (Width::B64, Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, float_predicate(comparison))
            }
            Comparand::Float(..) => return Err(Stop::Cut),
            Comparand::Signed(width) | Comparand::Unsigned(width) => {
                if self.is_general(d) {
                    self.compare_numbers(comparison, of, a, b)?;
                    return self.give(d, Register::RAX, 0);
                }
                let number = match comparison {
                    Comparison::Eq => 0,
                    Comparison::Lt => 1,
                    Comparison::Le => 2,
                    Comparison::Ne => 4,
                    Comparison::Ge => 5,
                    Comparison::Gt => 6,
                    _ => return Err(Stop::Cut),
                };
                let signed = matches!(of, Comparand::Signed(_));
                let code = match (width, signed) {
                    (Width::B32, true) => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                    (Width::B32, false) => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
                    (Width::B64, true) => Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
                    (Width::B64, false) => Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
                    _ => return Err(Stop::Cut),
                };
                (width, code, number)
            }
        };
        // Comparisons of floats look at no NaN's payload; those of integers look at all bits.
        let finishes = !matches!(of, Comparand::Float(..));
        let late = [a, b].iter().any(|&arg| operand(&self.notes, arg) & LATE != 0);
        if !finishes && late && !self.noted.flushes {
            return Err(Stop::Cut);
        }
        let one = |emit: &mut Self, part: Part, to: Register| -> Done {
            let (x, y) = if finishes {
                (emit.finished(a, width, part, A)?, emit.finished(b, width, part, B)?)
            } else {
                (emit.register(a, width, part, A)?, emit.register(b, width, part, B)?)
            };
            emit.asm.push(Instruction::with4(code, to, x, y, number));
            Ok(())
        };
        let (k2, k3) = (Register::K2, Register::K3);
        if self.is_general(d) {
            one(self, Part { vector: 0, half: 0 }, k2)?;
            return self.first_lane(d, k2);
        }
        let Home::Mask(to) = self.homes[d.0 as usize] else { return Err(Stop::Cut) };
        for vector in 0..self.shapes.lanes / VECTOR {
            one(self, Part { vector, half: 0 }, k2)?;
            if width == Width::B64 {
                one(self, Part { vector, half: 1 }, k3)?;
                self.asm.push(Instruction::with3(Code::VEX_Kunpckbw_kr_kr_kr, k2, k3, k2));
            }
            if let Some(mask) = self.held_back(d) {
                // The others' bits stay.
                let k1 = Register::K1;
                self.lanes_of(mask, Width::B32, Part { vector, half: 0 }, k1);
                self.asm.rm(Code::VEX_Kmovw_kr_km16, k3, at(FRAME, to + 2 * vector as i64));
                self.asm.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, k2, k2, k1));
                self.asm.push(Instruction::with3(Code::VEX_Kandnw_kr_kr_kr, k3, k1, k3));
                self.asm.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, k2, k2, k3));
            }
            self.asm.mr(Code::VEX_Kmovw_m16_kr, at(FRAME, to + 2 * vector as i64), k2);
        }
        Ok(())
    }

    pub(super) fn select(&mut self, d: Reg, p: Operand, a: Operand, b: Operand) -> Done {
        let width = self.width(d);
        if self.is_constant(d) {
            return Ok(());
        }
        if width == Width::Pred {
            return Err(Stop::Cut);
        }
        if self.is_general(d) {
            return self.select_numbers(d, p, a, b);
        }
        let finishes = self.noted.eager.contains(&d);
        let code = by(width, Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64);
        for part in self.parts(d) {
            let (x, y) = if finishes {
                (self.finished(a, width, part, A)?, self.finished(b, width, part, B)?)
            } else {
                (self.register(a, width, part, A)?, self.register(b, width, part, B)?)
            };
            self.mask(p, width, part, Register::K3)?;
            let to = self.target(d, part, D);
            self.op3(code, to, y, Source::Register(x), Manner::masked(Register::K3));
            self.bring(d, part, to);
        }
        Ok(())
    }
}
