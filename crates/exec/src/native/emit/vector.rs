//! Lanewise operations on vectors but the multiply-add family: integers, conversions, comparisons.

use super::super::asm::{Decorators, at};
use super::scalar::Ways;
use super::{A, B, C, D, EmitError, EmitResult, Emitter, FRAME, Part, Source, by};
use crate::kernel::Machine;
use crate::native::alloc::Allocation;
use crate::native::deferred::{FLUSH_PENDING, operand_state};
use crate::native::shape::VectorShape;
use crate::scalar::compare;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::Format;
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Signedness, Width};

/// The masks of the vectors of a word, while the others are computed.
const WORD: [Register; 4] = [Register::K4, Register::K5, Register::K6, Register::K7];

/// The predicates of `vcmpps`, in the quiet forms.
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

impl Emitter<'_> {
    pub(super) fn copy(&mut self, d: Reg, a: Operand) -> EmitResult {
        let width = self.width(d);
        if self.is_constant(d) {
            return Ok(());
        }
        if width == Width::Pred && !self.is_general(d) {
            return self.copy_mask(d, a);
        }
        if self.is_general(d) {
            let x = self.scalar(a, width, Register::RAX)?;
            return self.define(d, x, 0);
        }
        let canonicalises = self.deferred.eager.contains(&d);
        for part in self.parts(d) {
            let to = self.target(d, part, A);
            let x = match canonicalises {
                true => self.canonicalised(a, width, part, to)?,
                false => self.register(a, width, part, to)?,
            };
            self.write_back(d, part, x);
        }
        Ok(())
    }

    fn copy_mask(&mut self, d: Reg, a: Operand) -> EmitResult {
        let Allocation::Mask(to) = self.allocations[d.0 as usize] else { return Err(EmitError::Unsupported) };
        for word in 0..self.mask_words() {
            self.mask_word(a, word, Register::RAX)?;
            self.set_mask_word(d, to, word);
        }
        Ok(())
    }

    /// Integer arithmetic: on uniform values in general registers if possible.
    pub(super) fn int(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> EmitResult {
        if self.is_constant(d) {
            return Ok(());
        }
        if let Some(emitted) = self.composed_int(d, op, width, args) {
            return emitted;
        }
        if self.is_general(d) && width != Width::B16 {
            return self.int_scalars(d, op, width, args);
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
            // These treat counts of the width or more as the program does: only the sign is left.
            IntOp::Shl if width == Width::B32 => Some(K::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(Signedness::Unsigned) if width == Width::B32 => Some(K::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32),
            IntOp::Shr(Signedness::Signed) if width == Width::B32 => Some(K::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32),
            _ => None,
        };
        match width {
            Width::Pred => return Err(EmitError::Unsupported),
            // The first lane's number is not that of a pattern.
            Width::B16 if self.pattern_of(Operand::Reg(d)) != 0 => return Err(EmitError::Unsupported),
            Width::B16 => return self.narrow_int(d, op, args),
            Width::B32 | Width::B64 => {}
        }
        for part in self.parts(d) {
            let to = self.target(d, part, D);
            if let Some(code) = two {
                // A constant is read from memory by the operation, which has such an operand at the second place.
                let is_ordered = matches!(op, IntOp::Sub | IntOp::Shl | IntOp::Shr(_));
                let swaps = !is_ordered && matches!(self.shapes.shape(a), VectorShape::Constant(_));
                let (a, b) = if swaps { (b, a) } else { (a, b) };
                let x = self.canonicalised(a, width, part, A)?;
                let y = self.canonicalised_source(b, width, part, B)?;
                if op == IntOp::MulAdd {
                    self.op3(code, C, x, y, Decorators::default());
                    let z = self.canonicalised_source(c, width, part, A)?;
                    let add = narrow_wide(K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64);
                    self.op3(add, to, C, z, Decorators::default());
                } else {
                    self.op3(code, to, x, y, Decorators::default());
                }
            } else {
                match op {
                    IntOp::Shl | IntOp::Shr(_) => {
                        let x = self.canonicalised(a, width, part, A)?;
                        let y = self.widened(b, part, Signedness::Unsigned, B)?;
                        let code = match op {
                            IntOp::Shl => K::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
                            IntOp::Shr(Signedness::Unsigned) => K::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
                            _ => K::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
                        };
                        self.op3(code, to, x, Source::Register(y), Decorators::default());
                    }
                    IntOp::Not | IntOp::Neg => {
                        let x = self.canonicalised(a, width, part, A)?;
                        let ones = self.broadcast_constant(u64::MAX, width);
                        let not =
                            narrow_wide(K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, K::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
                        self.op3(not, to, x, ones, Decorators::default());
                        if op == IntOp::Neg {
                            let sub = narrow_wide(
                                K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
                                K::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
                            );
                            self.op3(sub, to, to, ones, Decorators::default());
                        }
                    }
                    IntOp::MulWide(sign) | IntOp::MulAddWide(sign) => {
                        let x = self.widened(a, part, sign, A)?;
                        let y = self.widened(b, part, sign, B)?;
                        let code = match sign {
                            Signedness::Signed => K::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
                            Signedness::Unsigned => K::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
                        };
                        if matches!(op, IntOp::MulAddWide(_)) {
                            self.op3(code, C, x, Source::Register(y), Decorators::default());
                            let z = self.register(c, Width::B64, part, A)?;
                            let add = K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
                            self.op3(add, to, C, Source::Register(z), Decorators::default());
                        } else {
                            self.op3(code, to, x, Source::Register(y), Decorators::default());
                        }
                    }
                    _ => return Err(EmitError::Unsupported),
                }
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }

    /// Half a vector of 32-bit lanes, extended to 64 bits.
    fn widened(&mut self, a: Operand, part: Part, sign: Signedness, scratch: Register) -> EmitResult<Register> {
        let x = self.canonicalised(a, Width::B32, part, scratch)?;
        Ok(self.widened_lanes(x, part.half == 1 && !self.is_uniform(a), sign, scratch))
    }

    /// A comparison, or with `ways` the branch on one of numbers that nothing else reads: where lanes part and each has its own
    /// result, the code goes on with the predicate's bits.
    pub(super) fn compare(
        &mut self,
        d: Reg,
        (comparison, of): (Comparison, Comparand),
        a: Operand,
        b: Operand,
        ways: Option<Ways>,
    ) -> EmitResult {
        let (width, code, number) = match of {
            Comparand::Float { format: Format::F32, .. } => {
                let code = Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
                (Width::B32, code, float_predicate(comparison))
            }
            Comparand::Float { format: Format::F64, flush: false } => {
                (Width::B64, Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, float_predicate(comparison))
            }
            Comparand::Float { format: Format::F16 | Format::BF16, flush: false } => {
                (Width::B16, Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, float_predicate(comparison))
            }
            Comparand::Float { .. } => return Err(EmitError::Unsupported),
            Comparand::Signed(width) | Comparand::Unsigned(width) => {
                if self.is_general(d) && width != Width::B16 {
                    if let Some(ways) = ways {
                        return self.branch_on_scalars((comparison, of), a, b, ways);
                    }
                    self.compare_scalars((comparison, of), a, b, None)?;
                    return self.define(d, Register::RAX, 0);
                }
                let number = match comparison {
                    Comparison::Eq => 0,
                    Comparison::Lt => 1,
                    Comparison::Le => 2,
                    Comparison::Ne => 4,
                    Comparison::Ge => 5,
                    Comparison::Gt => 6,
                    _ => return Err(EmitError::Unsupported),
                };
                let signed = matches!(of, Comparand::Signed(_));
                let code = match (width, signed) {
                    (Width::B16 | Width::B32, true) => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                    (Width::B16 | Width::B32, false) => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
                    (Width::B64, true) => Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
                    (Width::B64, false) => Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
                    _ => return Err(EmitError::Unsupported),
                };
                (width, code, number)
            }
        };
        // Comparisons of floats do not depend on a NaN's payload; those of integers depend on all bits.
        let late = [a, b].iter().any(|&arg| operand_state(&self.states, arg) & FLUSH_PENDING != 0);
        if matches!(of, Comparand::Float { .. }) && late && !self.deferred.daz {
            return Err(EmitError::Unsupported);
        }
        // Without `DAZ` operands are flushed by instructions.
        let flushes = matches!(of, Comparand::Float { flush: true, .. }) && !self.deferred.daz;
        let one = |emit: &mut Self, part: Part, to: Register| -> EmitResult {
            let operand = |emit: &mut Self, arg, scratch| match of {
                _ if flushes => emit.single(arg, true, part, scratch).map(|()| scratch),
                Comparand::Float { format, .. } if width == Width::B16 => {
                    emit.widened_half(arg, (format, false), part, scratch).map(|()| scratch)
                }
                Comparand::Float { .. } => emit.register(arg, width, part, scratch),
                Comparand::Signed(Width::B16) => emit.extended(arg, (16, Signedness::Signed), part, scratch),
                _ => emit.canonicalised(arg, width, part, scratch),
            };
            let x = operand(emit, a, A)?;
            let y = match of {
                _ if width == Width::B16 || flushes => Source::Register(operand(emit, b, B)?),
                Comparand::Float { .. } => emit.source(b, width, part, B)?,
                _ => emit.canonicalised_source(b, width, part, B)?,
            };
            emit.op3_immediate(code, to, x, y, number);
            Ok(())
        };
        if self.is_general(d) {
            one(self, Part { vector: 0, half: 0 }, Register::K2)?;
            return self.first_lane(d, Register::K2);
        }
        let Allocation::Mask(to) = self.allocations[d.0 as usize] else { return Err(EmitError::Unsupported) };
        if let (Some(a), Some(b), true) =
            (self.shapes.known_lanes(a), self.shapes.known_lanes(b), self.shapes.is_by_tile(of, a, b))
        {
            let lanes: Vec<bool> = a.iter().zip(b).map(|(&a, b)| compare(comparison, of, a, b)).collect();
            for (word, lanes) in (0..).zip(lanes.chunks(64)) {
                let bits = lanes.iter().rev().fold(0, |bits, &is_true| bits << 1 | u64::from(is_true));
                self.asm.constant(Register::RAX, bits);
                self.set_mask_word(d, to, word);
            }
            return Ok(());
        }
        if self.compares_by_tile(of, a, b) {
            // Most tiles agree.
            let [apart, done] = core::array::from_fn(|_| self.asm.label());
            match ways {
                Some(ways) => self.branch_on_scalars((comparison, of), a, b, Ways { apart: Some(apart), ..ways })?,
                None => {
                    self.compare_scalars((comparison, of), a, b, Some(apart))?;
                    self.define(d, Register::RAX, 0)?;
                    self.asm.jump(Code::Jmp_rel32_64, done);
                }
            }
            self.asm.bind(apart);
            self.compare_lanes(d, to, width, one)?;
            self.asm.bind(done);
            return Ok(());
        }
        self.compare_lanes(d, to, width, one)
    }
    /// Whether lanes may take different ways by a comparison that is made once for the tile first.
    pub(super) fn compares_by_tile(&self, of: Comparand, a: Operand, b: Operand) -> bool {
        self.shapes.is_by_tile(of, a, b) && self.active_mask.is_none() && !self.shapes.divergent
    }

    /// A comparison lane by lane into a predicate's mask, by what compares a part.
    fn compare_lanes(
        &mut self,
        d: Reg,
        to: i64,
        width: Width,
        one: impl Fn(&mut Self, Part, Register) -> EmitResult,
    ) -> EmitResult {
        let (k2, k3) = (Register::K2, Register::K3);
        let vectors = self.shapes.lanes / self.machine().lanes();
        if self.machine() != Machine::Avx512 {
            let (ecx, edx) = (Register::ECX, Register::EDX);
            let lanes = self.machine().lanes();
            let of_word = 64 / lanes;
            for vector in 0..vectors {
                // RDX collects the bits of 64 lanes.
                let at = lanes * (vector % of_word);
                for half in 0..=usize::from(width == Width::B64) {
                    one(self, Part { vector, half }, k2)?;
                    if at + half == 0 {
                        self.asm.bits_of_mask(k2, edx, width == Width::B64);
                        continue;
                    }
                    self.asm.bits_of_mask(k2, ecx, width == Width::B64);
                    let up = (at + half * lanes / 2) as u32;
                    self.asm.push(Instruction::with2(Code::Shl_rm64_imm8, Register::RCX, up));
                    self.asm.rr(Code::Or_r64_rm64, Register::RDX, Register::RCX);
                }
                if vector % of_word == of_word - 1 || vector + 1 == vectors {
                    self.asm.rr(Code::Mov_r64_rm64, Register::RAX, Register::RDX);
                    self.set_mask_word(d, to, (vector / of_word) as i64);
                }
            }
            return Ok(());
        }
        for vector in 0..vectors {
            one(self, Part { vector, half: 0 }, k2)?;
            if width == Width::B64 {
                one(self, Part { vector, half: 1 }, k3)?;
                self.asm.push(Instruction::with3(Code::VEX_Kunpckbw_kr_kr_kr, k2, k3, k2));
            }
            if let Some(mask) = self.merge_mask(d) {
                // The other lanes keep their bits.
                let k1 = Register::K1;
                self.load_mask(mask, Width::B32, Part { vector, half: 0 }, k1);
                self.asm.rm(Code::VEX_Kmovw_kr_km16, k3, at(FRAME, to + 2 * vector as i64));
                self.asm.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, k2, k2, k1));
                self.asm.push(Instruction::with3(Code::VEX_Kandnw_kr_kr_kr, k3, k1, k3));
                self.asm.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, k2, k2, k3));
            }
            self.asm.rr(Code::VEX_Kmovw_kr_km16, WORD[vector % 4], k2);
            if vector % 4 == 3 || vector + 1 == vectors {
                self.store_mask_word(to + 8 * (vector as i64 / 4), vector % 4 + 1);
            }
        }
        Ok(())
    }
    /// Stores the masks of so many vectors as one word: what reads it finds all of it in one store.
    fn store_mask_word(&mut self, to: i64, vectors: usize) {
        let [first, second, third, fourth] = WORD;
        let (words, doubles) = (Code::VEX_Kunpckwd_kr_kr_kr, Code::VEX_Kunpckdq_kr_kr_kr);
        let mut join = |code, low, high| self.asm.push(Instruction::with3(code, low, high, low));
        if vectors > 1 {
            join(words, first, second);
        }
        if vectors > 3 {
            join(words, third, fourth);
        }
        if vectors > 2 {
            join(doubles, first, third);
        }
        self.asm.mr(Code::VEX_Kmovq_m64_kr, at(FRAME, to), first);
    }

    pub(super) fn select(&mut self, d: Reg, p: Operand, a: Operand, b: Operand) -> EmitResult {
        let width = self.width(d);
        if self.is_constant(d) {
            return Ok(());
        }
        if width == Width::Pred {
            return Err(EmitError::Unsupported);
        }
        if self.is_general(d) {
            return self.select_scalars(d, p, a, b);
        }
        let canonicalises = self.deferred.eager.contains(&d);
        let code = by(width, Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64);
        for part in self.parts(d) {
            let (x, y) = if canonicalises {
                (self.canonicalised(a, width, part, A)?, self.canonicalised(b, width, part, B)?)
            } else {
                (self.register(a, width, part, A)?, self.register(b, width, part, B)?)
            };
            self.mask(p, width, part, Register::K3)?;
            let to = self.target(d, part, D);
            self.op3(code, to, y, Source::Register(x), Decorators::masked(Register::K3));
            self.write_back(d, part, to);
        }
        Ok(())
    }
}
