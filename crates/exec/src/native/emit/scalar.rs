//! Uniform values in general registers: addresses, counters, conditions.

use super::super::asm::{Label, at};
use super::super::frame::record;
use super::{DeoptReason, EmitError, EmitResult, Emitter, FRAME, Part, TILE, low};
use crate::native::alloc::{Allocation, is_general};
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Scalar, Signedness, Special, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

impl Emitter<'_> {
    /// Whether a register is one number for the tile, in a general register. (Constants are in none.)
    pub(super) fn is_general(&self, reg: Reg) -> bool {
        is_general(self.shapes, reg)
    }
    pub(super) fn is_constant(&self, reg: Reg) -> bool {
        matches!(self.shapes.shape(Operand::Reg(reg)), VectorShape::Constant(_))
    }
    pub(super) fn pattern_of(&self, value: Operand) -> usize {
        match self.shapes.shape(value) {
            VectorShape::Scalar(pattern) => pattern,
            _ => 0,
        }
    }

    pub(super) fn special(&mut self, d: Reg, special: Special) -> EmitResult {
        if self.is_constant(d) {
            return Ok(());
        }
        let (word, pattern) = match special {
            Special::Tid(axis) => (record::TID + usize::from(axis), self.shapes.tid(axis)),
            Special::Ctaid(axis) => (record::CTAID + usize::from(axis), 0),
            _ => match self.launch.constant(special) {
                Some(bits) => {
                    self.asm.constant(RAX, bits);
                    return self.define(d, RAX, 0);
                }
                None => return Err(EmitError::Unsupported),
            },
        };
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(TILE, 8 * word as i64));
        self.define(d, RAX, pattern)
    }

    /// `a ∘= b` in general registers of a width.
    fn alu(&mut self, width: Width, narrow: Code, wide: Code, a: Register, b: Register) {
        match width {
            Width::B64 => self.asm.rr(wide, a, b),
            _ => self.asm.rr(narrow, low(a), low(b)),
        }
    }
    pub(super) fn copy_scalar(&mut self, width: Width, to: Register, from: Register) {
        if to != from {
            self.alu(width, Code::Mov_r32_rm32, Code::Mov_r64_rm64, to, from);
        }
    }

    /// Integer arithmetic on uniform values. A result's pattern is known from the analysis and needs no code.
    pub(super) fn int_scalars(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> EmitResult {
        let [a, b, c, _] = *args;
        let x = self.scalar(a, width, RAX)?;
        // The register in which the result may be computed.
        let target = match self.allocations[d.0 as usize] {
            Allocation::Scalar(super::Location::Register(target)) => target,
            _ => RAX,
        };
        let two = |emit: &mut Self, narrow, wide| {
            let y = emit.scalar(b, width, RCX)?;
            let to = if target == y { RAX } else { target };
            emit.copy_scalar(width, to, x);
            emit.alu(width, narrow, wide, to, y);
            emit.define(d, to, 0)
        };
        match op {
            IntOp::Add => two(self, Code::Add_r32_rm32, Code::Add_r64_rm64),
            IntOp::Sub => two(self, Code::Sub_r32_rm32, Code::Sub_r64_rm64),
            IntOp::Mul => two(self, Code::Imul_r32_rm32, Code::Imul_r64_rm64),
            IntOp::And => two(self, Code::And_r32_rm32, Code::And_r64_rm64),
            IntOp::Or => two(self, Code::Or_r32_rm32, Code::Or_r64_rm64),
            IntOp::Xor => two(self, Code::Xor_r32_rm32, Code::Xor_r64_rm64),
            IntOp::MulAdd => {
                let y = self.scalar(b, width, RCX)?;
                self.copy_scalar(width, RAX, x);
                self.alu(width, Code::Imul_r32_rm32, Code::Imul_r64_rm64, RAX, y);
                let z = self.scalar(c, width, RCX)?;
                self.alu(width, Code::Add_r32_rm32, Code::Add_r64_rm64, RAX, z);
                self.define(d, RAX, 0)
            }
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) if width == Width::B32 => {
                self.check_range(a, x, 32, sign)?;
                self.extend(RAX, x, sign);
                let y = self.scalar(b, width, RCX)?;
                self.check_range(b, y, 32, sign)?;
                self.extend(RCX, y, sign);
                self.asm.rr(Code::Imul_r64_rm64, RAX, RCX);
                if matches!(op, IntOp::MulAddWide(_)) {
                    let z = self.scalar(c, Width::B64, RCX)?;
                    self.asm.rr(Code::Add_r64_rm64, RAX, z);
                }
                self.define(d, RAX, 0)
            }
            IntOp::Not | IntOp::Neg => {
                self.copy_scalar(width, target, x);
                let (narrow, wide) =
                    if op == IntOp::Not { (Code::Not_rm32, Code::Not_rm64) } else { (Code::Neg_rm32, Code::Neg_rm64) };
                let (code, register) = if width == Width::B64 { (wide, target) } else { (narrow, low(target)) };
                self.asm.push(Instruction::with1(code, register));
                self.define(d, target, 0)
            }
            IntOp::Min(sign) | IntOp::Max(sign) => {
                let y = self.scalar(b, width, RCX)?;
                self.copy_scalar(width, RAX, x);
                self.alu(width, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64, RAX, y);
                let (narrow, wide) = match (op, sign) {
                    (IntOp::Min(_), Signedness::Signed) => (Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64),
                    (IntOp::Min(_), Signedness::Unsigned) => (Code::Cmova_r32_rm32, Code::Cmova_r64_rm64),
                    (_, Signedness::Signed) => (Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64),
                    (_, Signedness::Unsigned) => (Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64),
                };
                self.alu(width, narrow, wide, RAX, y);
                self.define(d, RAX, 0)
            }
            IntOp::Shl | IntOp::Shr(_) => self.shift_scalar(d, op, width, x, b),
            _ => Err(EmitError::Unsupported),
        }
    }

    /// Shifts. By the width or more only the sign is left.
    fn shift_scalar(&mut self, d: Reg, op: IntOp, width: Width, x: Register, count: Operand) -> EmitResult {
        let bits = width.bits() as i32;
        let y = self.scalar(count, Width::B32, RCX)?;
        self.copy_scalar(Width::B32, RCX, y);
        self.copy_scalar(width, RAX, x);
        let ecx = Register::ECX;
        if matches!(op, IntOp::Shr(Signedness::Signed)) {
            self.asm.constant(RDX, bits as u64 - 1);
            self.asm.rr(Code::Cmp_r32_rm32, ecx, Register::EDX);
            self.asm.rr(Code::Cmova_r32_rm32, ecx, Register::EDX);
        } else {
            self.asm.rr(Code::Xor_r32_rm32, Register::EDX, Register::EDX);
            self.asm.ri(Code::Cmp_rm32_imm32, ecx, bits);
            self.alu(width, Code::Cmovae_r32_rm32, Code::Cmovae_r64_rm64, RAX, RDX);
        }
        let (narrow, wide) = match op {
            IntOp::Shl => (Code::Shl_rm32_CL, Code::Shl_rm64_CL),
            IntOp::Shr(Signedness::Unsigned) => (Code::Shr_rm32_CL, Code::Shr_rm64_CL),
            _ => (Code::Sar_rm32_CL, Code::Sar_rm64_CL),
        };
        let (code, register) = if width == Width::B64 { (wide, RAX) } else { (narrow, Register::EAX) };
        self.asm.push(Instruction::with2(code, register, Register::CL));
        self.define(d, RAX, 0)
    }

    /// Extends 32 bits to 64.
    fn extend(&mut self, to: Register, from: Register, sign: Signedness) {
        if sign == Signedness::Signed {
            self.asm.rr(Code::Movsxd_r64_rm32, to, low(from));
        } else {
            self.asm.rr(Code::Mov_r32_rm32, low(to), low(from));
        }
    }

    /// The lowest and the highest number of a pattern.
    fn ends(&self, value: Operand) -> (i64, i64) {
        let pattern = self.shapes.pattern(self.pattern_of(value));
        (pattern.iter().copied().min().unwrap_or(0), pattern.iter().copied().max().unwrap_or(0))
    }

    /// A side exit if a number plus its pattern wraps in its type: then the pattern is not that of the wider number. Uses
    /// RDX.
    fn check_range(&mut self, value: Operand, number: Register, bits: u32, sign: Signedness) -> EmitResult {
        let (least, most) = self.ends(value);
        for end in [least, most] {
            if end == 0 {
                continue;
            }
            let Ok(end) = i32::try_from(end) else { return Err(EmitError::Unsupported) };
            match (bits, sign) {
                (32, Signedness::Signed) => {
                    self.asm.rr(Code::Mov_r32_rm32, Register::EDX, low(number));
                    self.asm.ri(Code::Add_rm32_imm32, Register::EDX, end);
                    self.side_exit(Code::Jo_rel32_64, DeoptReason::Other, 0);
                }
                (32, Signedness::Unsigned) => {
                    self.asm.rr(Code::Mov_r32_rm32, Register::EDX, low(number));
                    self.asm.ri(Code::Add_rm64_imm32, RDX, end);
                    // Neither negative nor more than 32 bits.
                    self.asm.push(Instruction::with2(Code::Shr_rm64_imm8, RDX, 32));
                    self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
                }
                (_, Signedness::Signed) => {
                    self.asm.rr(Code::Mov_r64_rm64, RDX, number);
                    self.asm.ri(Code::Add_rm64_imm32, RDX, end);
                    self.side_exit(Code::Jo_rel32_64, DeoptReason::Other, 0);
                }
                (_, Signedness::Unsigned) => return Err(EmitError::Unsupported),
            }
        }
        Ok(())
    }

    /// A conversion of integers, on uniform values.
    pub(super) fn convert_scalars(
        &mut self,
        d: Reg,
        to: u32,
        (from, sign): (u32, Signedness),
        a: Operand,
    ) -> EmitResult {
        let x = self.scalar(a, Width::holding(from), RAX)?;
        match (from, to) {
            (8 | 16, 32 | 64) => {
                let code = match (from, sign) {
                    (8, Signedness::Signed) => Code::Movsx_r64_rm8,
                    (8, Signedness::Unsigned) => Code::Movzx_r32_rm8,
                    (_, Signedness::Signed) => Code::Movsx_r64_rm16,
                    (_, Signedness::Unsigned) => Code::Movzx_r32_rm16,
                };
                self.copy_scalar(Width::B32, RAX, x);
                let to = if sign == Signedness::Signed { RAX } else { Register::EAX };
                self.asm.rr(code, to, if from == 8 { Register::AL } else { Register::AX });
            }
            (32, 64) => {
                self.check_range(a, x, 32, sign)?;
                self.extend(RAX, x, sign);
            }
            (64, 32) | (32, 32) => self.asm.rr(Code::Mov_r32_rm32, Register::EAX, low(x)),
            (64, 64) => self.copy_scalar(Width::B64, RAX, x),
            _ => return Err(EmitError::Unsupported),
        }
        self.define(d, RAX, 0)
    }

    /// A comparison of uniform values for the whole tile, into EAX (0 or 1). If the results at the patterns' ends differ,
    /// the code at `apart` continues, or the tile diverges.
    pub(super) fn compare_scalars(
        &mut self,
        (comparison, of): (Comparison, Comparand),
        a: Operand,
        b: Operand,
        apart: Option<Label>,
    ) -> EmitResult {
        let differ = |emit: &mut Self, code: Code| match apart {
            Some(apart) => emit.asm.jump(code, apart),
            None => emit.side_exit(code, DeoptReason::Divergence, 0),
        };
        let (width, sign) = match of {
            Comparand::Signed(width) => (width, Signedness::Signed),
            Comparand::Unsigned(width) => (width, Signedness::Unsigned),
            Comparand::Float { .. } => return Err(EmitError::Unsupported),
        };
        let patterns = (self.pattern_of(a), self.pattern_of(b));
        let x = self.scalar(a, width, RAX)?;
        let y = self.scalar(b, width, RCX)?;
        let (set, set_unsigned) = match comparison {
            Comparison::Eq => (Code::Sete_rm8, Code::Sete_rm8),
            Comparison::Ne => (Code::Setne_rm8, Code::Setne_rm8),
            Comparison::Lt => (Code::Setl_rm8, Code::Setb_rm8),
            Comparison::Le => (Code::Setle_rm8, Code::Setbe_rm8),
            Comparison::Gt => (Code::Setg_rm8, Code::Seta_rm8),
            Comparison::Ge => (Code::Setge_rm8, Code::Setae_rm8),
            _ => return Err(EmitError::Unsupported),
        };
        if patterns == (0, 0) {
            self.alu(width, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64, x, y);
            self.asm
                .push(Instruction::with1(if sign == Signedness::Signed { set } else { set_unsigned }, Register::AL));
            self.asm.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
            return Ok(());
        }
        let bits = width.bits();
        self.check_range(a, x, bits, sign)?;
        self.check_range(b, y, bits, sign)?;
        // RAX = a − b without the patterns, signed. With 64 bits the difference must not overflow.
        if bits == 32 {
            self.extend(RAX, x, sign);
            self.extend(RCX, y, sign);
            self.asm.rr(Code::Sub_r64_rm64, RAX, RCX);
        } else {
            self.copy_scalar(Width::B64, RAX, x);
            self.asm.rr(Code::Sub_r64_rm64, RAX, y);
            self.side_exit(Code::Jo_rel32_64, DeoptReason::Other, 0);
        }
        let pairs = self.shapes.pattern(patterns.0).iter().zip(self.shapes.pattern(patterns.1));
        let differences: Vec<i64> = pairs.map(|(&a, &b)| a.wrapping_sub(b)).collect();
        let least = differences.iter().copied().min().unwrap_or(0);
        let most = differences.iter().copied().max().unwrap_or(0);
        let (Ok(least), Ok(most)) = (i32::try_from(least), i32::try_from(most)) else {
            return Err(EmitError::Unsupported);
        };
        // A lane's difference is RAX + d: compare RAX with −d at both ends.
        let (Some(high), Some(low_end)) = (least.checked_neg(), most.checked_neg()) else {
            return Err(EmitError::Unsupported);
        };
        if matches!(comparison, Comparison::Eq | Comparison::Ne) && least != most {
            // Uniform only where every lane differs: all above, or all below.
            let all_differ = self.asm.label();
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, high);
            self.asm.jump(Code::Jg_rel32_64, all_differ);
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, low_end);
            differ(self, Code::Jge_rel32_64);
            self.asm.bind(all_differ);
            self.asm.constant(RAX, u64::from(comparison == Comparison::Ne));
            return Ok(());
        }
        self.asm.ri(Code::Cmp_rm64_imm32, RAX, high);
        self.asm.push(Instruction::with1(set, Register::CL));
        self.asm.ri(Code::Cmp_rm64_imm32, RAX, low_end);
        self.asm.push(Instruction::with1(set, Register::AL));
        self.asm.rr(Code::Cmp_r8_rm8, Register::AL, Register::CL);
        differ(self, Code::Jne_rel32_64);
        self.asm.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
        Ok(())
    }

    /// A selection between uniform values by a uniform predicate.
    pub(super) fn select_scalars(&mut self, d: Reg, p: Operand, a: Operand, b: Operand) -> EmitResult {
        let width = self.width(d);
        let y = self.scalar(b, width, RAX)?;
        self.copy_scalar(Width::B64, RAX, y);
        let x = self.scalar(a, width, RCX)?;
        let p = self.scalar(p, Width::Pred, RDX)?;
        self.asm.rr(Code::Test_rm32_r32, low(p), low(p));
        self.asm.rr(Code::Cmovne_r64_rm64, RAX, x);
        self.define(d, RAX, 0)
    }

    /// A uniform predicate from a vector comparison: the first lane's.
    pub(super) fn first_lane(&mut self, d: Reg, mask: Register) -> EmitResult {
        self.asm.rr(Code::VEX_Kmovw_r32_kr, Register::EAX, mask);
        self.asm.ri(Code::And_rm32_imm32, Register::EAX, 1);
        self.define(d, RAX, 0)
    }

    /// Logic of predicates: on numbers 0 and 1, or on masks.
    pub(super) fn logic(&mut self, d: Reg, op: IntOp, args: &[Operand; 4]) -> EmitResult {
        let [a, b, ..] = *args;
        let (narrow, code) = match op {
            IntOp::And => (Code::And_r32_rm32, Code::And_r64_rm64),
            IntOp::Or => (Code::Or_r32_rm32, Code::Or_r64_rm64),
            IntOp::Xor => (Code::Xor_r32_rm32, Code::Xor_r64_rm64),
            _ => (Code::Xor_r32_rm32, Code::Xor_r64_rm64),
        };
        let negates = !matches!(op, IntOp::And | IntOp::Or | IntOp::Xor);
        let b = if negates { Operand::Imm(1) } else { b };
        if self.is_constant(d) {
            return Ok(());
        }
        if self.is_general(d) {
            let x = self.scalar(a, Width::Pred, RAX)?;
            self.copy_scalar(Width::B64, RAX, x);
            let y = self.scalar(b, Width::Pred, RCX)?;
            self.asm.rr(narrow, Register::EAX, low(y));
            return self.define(d, RAX, 0);
        }
        let Allocation::Mask(to) = self.allocations[d.0 as usize] else { return Err(EmitError::Unsupported) };
        for word in 0..self.mask_words() {
            self.mask_word(a, word, RAX)?;
            self.mask_word(b, word, RCX)?;
            self.asm.rr(code, RAX, RCX);
            self.set_mask_word(d, to, word);
        }
        Ok(())
    }

    /// Stores RAX as 64 lanes of a predicate whose mask is at `to`, for the active lanes. Uses RCX.
    pub(super) fn set_mask_word(&mut self, d: Reg, to: i64, word: i64) {
        let target = at(FRAME, to + 8 * word);
        let Some(mask) = self.merge_mask(d) else { return self.asm.mr(Code::Mov_rm64_r64, target, RAX) };
        // The other lanes keep their bits.
        self.asm.rr(Code::Mov_r64_rm64, RCX, RAX);
        self.asm.rm(Code::Xor_r64_rm64, RCX, target);
        self.asm.rm(Code::And_r64_rm64, RCX, at(FRAME, mask + 8 * word));
        self.asm.mr(Code::Xor_rm64_r64, target, RCX);
    }

    /// The number of 64-lane words in a mask.
    pub(super) fn mask_words(&self) -> i64 {
        (self.shapes.lanes as i64).div_euclid(64) + i64::from(!self.shapes.lanes.is_multiple_of(64))
    }
    /// Loads 64 lanes of a predicate.
    pub(super) fn mask_word(&mut self, value: Operand, word: i64, to: Register) -> EmitResult {
        if let Operand::Reg(reg) = value
            && let Allocation::Mask(from) = self.allocations[reg.0 as usize]
        {
            self.asm.rm(Code::Mov_r64_rm64, to, at(FRAME, from + 8 * word));
            return Ok(());
        }
        let number = self.scalar(value, Width::Pred, to)?;
        self.copy_scalar(Width::B64, to, number);
        self.asm.push(Instruction::with1(Code::Neg_rm64, to));
        Ok(())
    }

    /// Loads a part of a predicate into a mask register.
    pub(super) fn mask(&mut self, p: Operand, width: Width, part: Part, to: Register) -> EmitResult {
        if let Operand::Reg(reg) = p
            && let Allocation::Mask(mask) = self.allocations[reg.0 as usize]
        {
            self.load_mask(mask, width, part, to);
            return Ok(());
        }
        let number = self.scalar(p, Width::Pred, RAX)?;
        self.copy_scalar(Width::B64, RAX, number);
        self.asm.push(Instruction::with1(Code::Neg_rm32, Register::EAX));
        self.asm.rr(Code::VEX_Kmovw_kr_r32, to, Register::EAX);
        Ok(())
    }

    /// The width and signedness of an integer type.
    pub(super) fn integer(scalar: Scalar) -> Option<(u32, Signedness)> {
        match scalar {
            Scalar::Int { bits, signed: true } => Some((bits, Signedness::Signed)),
            Scalar::Int { bits, signed: false } => Some((bits, Signedness::Unsigned)),
            Scalar::Float(_) => None,
        }
    }
}
