//! Uniform values in general registers: addresses, counters, conditions.

use super::super::asm::{Label, at};
use super::super::frame::{header, record};
use super::{DeoptReason, EmitError, EmitResult, Emitter, FRAME, Part, TILE, low};
use crate::native::alloc::Allocation;
use crate::native::shape::VectorShape;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Scalar, Signedness, Special, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

/// Where a comparison leads: where it holds in all lanes of a tile, in none, or in some; without a place for the last the tile
/// takes a side exit.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    pub(super) yes: Label,
    pub(super) no: Label,
    pub(super) apart: Option<Label>,
}

/// The jump where a comparison of integers holds.
fn jump_where(comparison: Comparison, sign: Signedness) -> Option<Code> {
    let (signed, unsigned) = match comparison {
        Comparison::Eq => (Code::Je_rel32_64, Code::Je_rel32_64),
        Comparison::Ne => (Code::Jne_rel32_64, Code::Jne_rel32_64),
        Comparison::Lt => (Code::Jl_rel32_64, Code::Jb_rel32_64),
        Comparison::Le => (Code::Jle_rel32_64, Code::Jbe_rel32_64),
        Comparison::Gt => (Code::Jg_rel32_64, Code::Ja_rel32_64),
        Comparison::Ge => (Code::Jge_rel32_64, Code::Jae_rel32_64),
        _ => return None,
    };
    Some(if sign == Signedness::Signed { signed } else { unsigned })
}

impl Emitter<'_> {
    /// Whether a register is one number for the tile, in a general register. (Constants are in none.)
    pub(super) fn is_general(&self, reg: Reg) -> bool {
        self.shapes.is_general(reg)
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
        let of_tile = |word: usize, axis: u8| at(TILE, 8 * (word + usize::from(axis)) as i64);
        let (from, pattern) = match special.in_engine() {
            Special::Tid(axis) => (of_tile(record::TID, axis), self.shapes.tid(axis)),
            Special::Ctaid(axis) if self.whole => (at(FRAME, header::CTAID + 8 * i64::from(axis)), 0),
            Special::Ctaid(axis) => (of_tile(record::CTAID, axis), 0),
            _ => match self.launch.constant(special) {
                Some(bits) => {
                    self.asm.constant(RAX, bits);
                    return self.define(d, RAX, 0);
                }
                None => return Err(EmitError::Unsupported),
            },
        };
        let to = self.scalar_target(d, &[]);
        self.asm.rm(Code::Mov_r64_rm64, to, from);
        self.define(d, to, pattern)
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
        use Code as K;
        let [a, b, c, _] = *args;
        let to = match op {
            IntOp::Add => {
                self.sum(d, width, [a, b], [K::Add_r32_rm32, K::Add_r64_rm64, K::Add_rm32_imm32, K::Add_rm64_imm32])?
            }
            IntOp::Sub => {
                let codes = [K::Sub_r32_rm32, K::Sub_r64_rm64, K::Sub_rm32_imm32, K::Sub_rm64_imm32];
                self.in_order(d, width, [a, b], codes)?
            }
            IntOp::And => {
                self.sum(d, width, [a, b], [K::And_r32_rm32, K::And_r64_rm64, K::And_rm32_imm32, K::And_rm64_imm32])?
            }
            IntOp::Or => {
                self.sum(d, width, [a, b], [K::Or_r32_rm32, K::Or_r64_rm64, K::Or_rm32_imm32, K::Or_rm64_imm32])?
            }
            IntOp::Xor => {
                self.sum(d, width, [a, b], [K::Xor_r32_rm32, K::Xor_r64_rm64, K::Xor_rm32_imm32, K::Xor_rm64_imm32])?
            }
            IntOp::Mul => {
                let to = self.scalar_target(d, &[a, b]);
                self.product(to, width, [a, b])?;
                to
            }
            IntOp::MulAdd => {
                let to = self.scalar_target(d, &[a, b, c]);
                self.product(to, width, [a, b])?;
                let z = self.scalar(c, width, RCX)?;
                self.alu(width, K::Add_r32_rm32, K::Add_r64_rm64, to, z);
                to
            }
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) if width == Width::B32 => {
                let (a, b) = if self.immediate(a, width).is_some() { (b, a) } else { (a, b) };
                let to = self.scalar_target(d, &[b, c]);
                let x = self.scalar(a, width, RAX)?;
                self.check_range(a, x, 32, sign)?;
                self.extend(to, x, sign);
                let factor = self.immediate(b, width).filter(|&factor| factor >= 0 || sign == Signedness::Signed);
                match factor {
                    Some(factor) => self.times(to, Width::B64, factor),
                    None => {
                        let y = self.scalar(b, width, RCX)?;
                        self.check_range(b, y, 32, sign)?;
                        self.extend(RCX, y, sign);
                        self.asm.rr(K::Imul_r64_rm64, to, RCX);
                    }
                }
                if matches!(op, IntOp::MulAddWide(_)) {
                    let z = self.scalar(c, Width::B64, RCX)?;
                    self.asm.rr(K::Add_r64_rm64, to, z);
                }
                to
            }
            IntOp::Not | IntOp::Neg => {
                let to = self.scalar_target(d, &[]);
                let x = self.scalar(a, width, RAX)?;
                self.copy_scalar(width, to, x);
                let (narrow, wide) =
                    if op == IntOp::Not { (K::Not_rm32, K::Not_rm64) } else { (K::Neg_rm32, K::Neg_rm64) };
                let (code, register) = if width == Width::B64 { (wide, to) } else { (narrow, low(to)) };
                self.asm.push(Instruction::with1(code, register));
                to
            }
            IntOp::Min(sign) | IntOp::Max(sign) => {
                let (narrow, wide) = match (op, sign) {
                    (IntOp::Min(_), Signedness::Signed) => (K::Cmovg_r32_rm32, K::Cmovg_r64_rm64),
                    (IntOp::Min(_), Signedness::Unsigned) => (K::Cmova_r32_rm32, K::Cmova_r64_rm64),
                    (_, Signedness::Signed) => (K::Cmovl_r32_rm32, K::Cmovl_r64_rm64),
                    (_, Signedness::Unsigned) => (K::Cmovb_r32_rm32, K::Cmovb_r64_rm64),
                };
                let to = self.scalar_target(d, &[b]);
                let x = self.scalar(a, width, RAX)?;
                let y = self.scalar(b, width, RCX)?;
                self.copy_scalar(width, to, x);
                self.alu(width, K::Cmp_r32_rm32, K::Cmp_r64_rm64, to, y);
                self.alu(width, narrow, wide, to, y);
                to
            }
            IntOp::Shl | IntOp::Shr(_) => self.shift_scalar(d, op, width, a, b)?,
            _ => return Err(EmitError::Unsupported),
        };
        self.define(d, to, 0)
    }

    /// The general register in which to compute a result: its own, or RAX where its own holds an operand that is read later.
    fn scalar_target(&self, d: Reg, read_later: &[Operand]) -> Register {
        let home = |reg: Reg| match self.allocations[reg.0 as usize] {
            Allocation::Scalar(super::Location::Register(register)) => Some(register),
            _ => None,
        };
        let is_read = |to: Register| {
            let mut registers = read_later.iter().filter_map(|operand| match operand {
                Operand::Reg(reg) => home(*reg),
                Operand::Imm(_) => None,
            });
            registers.any(|register| register == to)
        };
        home(d).filter(|&to| !is_read(to)).unwrap_or(RAX)
    }
    /// A constant as an instruction of this width has it, which extends its sign.
    fn immediate(&self, value: Operand, width: Width) -> Option<i32> {
        let VectorShape::Constant(bits) = self.shapes.shape(value) else { return None };
        if width == Width::B64 { i32::try_from(bits as i64).ok() } else { Some(bits as i32) }
    }
    /// `a ∘ b` of two operands in any order, by the codes for registers of 32 and 64 bits and for constants.
    fn sum(&mut self, d: Reg, width: Width, [a, b]: [Operand; 2], codes: [Code; 4]) -> EmitResult<Register> {
        let swapped = self.immediate(a, width).is_some();
        self.in_order(d, width, if swapped { [b, a] } else { [a, b] }, codes)
    }
    fn in_order(&mut self, d: Reg, width: Width, [a, b]: [Operand; 2], codes: [Code; 4]) -> EmitResult<Register> {
        let [narrow, wide, narrow_constant, wide_constant] = codes;
        let to = self.scalar_target(d, &[b]);
        let x = self.scalar(a, width, RAX)?;
        match self.immediate(b, width) {
            Some(number) => {
                self.copy_scalar(width, to, x);
                match width {
                    Width::B64 => self.asm.ri(wide_constant, to, number),
                    _ => self.asm.ri(narrow_constant, low(to), number),
                }
            }
            None => {
                let y = self.scalar(b, width, RCX)?;
                self.copy_scalar(width, to, x);
                self.alu(width, narrow, wide, to, y);
            }
        }
        Ok(to)
    }
    /// `to = a b`, where `to` holds neither.
    fn product(&mut self, to: Register, width: Width, [a, b]: [Operand; 2]) -> EmitResult {
        let (a, b) = if self.immediate(a, width).is_some() { (b, a) } else { (a, b) };
        let x = self.scalar(a, width, RAX)?;
        if let Some(factor) = self.immediate(b, width) {
            self.copy_scalar(width, to, x);
            self.times(to, width, factor);
            return Ok(());
        }
        let y = self.scalar(b, width, RCX)?;
        self.copy_scalar(width, to, x);
        self.alu(width, Code::Imul_r32_rm32, Code::Imul_r64_rm64, to, y);
        Ok(())
    }
    /// `to` times a constant.
    fn times(&mut self, to: Register, width: Width, factor: i32) {
        let (shift, multiply, to) = match width {
            Width::B64 => (Code::Shl_rm64_imm8, Code::Imul_r64_rm64_imm32, to),
            _ => (Code::Shl_rm32_imm8, Code::Imul_r32_rm32_imm32, low(to)),
        };
        match factor {
            1 => {}
            _ if factor > 0 && factor.count_ones() == 1 => {
                self.asm.push(Instruction::with2(shift, to, factor.trailing_zeros()));
            }
            _ => self.asm.push(Instruction::with3(multiply, to, to, factor)),
        }
    }

    /// Shifts. By the width or more only the sign is left.
    fn shift_scalar(&mut self, d: Reg, op: IntOp, width: Width, a: Operand, count: Operand) -> EmitResult<Register> {
        use Code as K;
        let bits = width.bits();
        let [by_register, by_number] = match (op, width == Width::B64) {
            (IntOp::Shl, false) => [K::Shl_rm32_CL, K::Shl_rm32_imm8],
            (IntOp::Shl, true) => [K::Shl_rm64_CL, K::Shl_rm64_imm8],
            (IntOp::Shr(Signedness::Unsigned), false) => [K::Shr_rm32_CL, K::Shr_rm32_imm8],
            (IntOp::Shr(Signedness::Unsigned), true) => [K::Shr_rm64_CL, K::Shr_rm64_imm8],
            (_, false) => [K::Sar_rm32_CL, K::Sar_rm32_imm8],
            (_, true) => [K::Sar_rm64_CL, K::Sar_rm64_imm8],
        };
        let named = |register: Register| if width == Width::B64 { register } else { low(register) };
        if let VectorShape::Constant(count) = self.shapes.shape(count)
            && (count as u32) < bits
        {
            let to = self.scalar_target(d, &[]);
            let x = self.scalar(a, width, RAX)?;
            self.copy_scalar(width, to, x);
            self.asm.push(Instruction::with2(by_number, named(to), count as u32));
            return Ok(to);
        }
        let y = self.scalar(count, Width::B32, RCX)?;
        self.copy_scalar(Width::B32, RCX, y);
        let x = self.scalar(a, width, RAX)?;
        self.copy_scalar(width, RAX, x);
        let ecx = Register::ECX;
        if matches!(op, IntOp::Shr(Signedness::Signed)) {
            self.asm.constant(RDX, u64::from(bits) - 1);
            self.asm.rr(Code::Cmp_r32_rm32, ecx, Register::EDX);
            self.asm.rr(Code::Cmova_r32_rm32, ecx, Register::EDX);
        } else {
            self.asm.rr(Code::Xor_r32_rm32, Register::EDX, Register::EDX);
            self.asm.ri(Code::Cmp_rm32_imm32, ecx, bits as i32);
            self.alu(width, Code::Cmovae_r32_rm32, Code::Cmovae_r64_rm64, RAX, RDX);
        }
        self.asm.push(Instruction::with2(by_register, named(RAX), Register::CL));
        Ok(RAX)
    }

    /// Extends 32 bits to 64.
    pub(super) fn extend(&mut self, to: Register, from: Register, sign: Signedness) {
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
        let target = self.scalar_target(d, &[]);
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
                return self.define(d, RAX, 0);
            }
            (32, 64) => {
                self.check_range(a, x, 32, sign)?;
                self.extend(target, x, sign);
            }
            (64 | 32, 32) => self.asm.rr(Code::Mov_r32_rm32, low(target), low(x)),
            (64, 64) => self.copy_scalar(Width::B64, target, x),
            _ => return Err(EmitError::Unsupported),
        }
        self.define(d, target, 0)
    }

    /// A comparison of uniform values for the whole tile, into EAX (0 or 1). If the results at the patterns' ends differ,
    /// the code at `apart` continues, or the tile diverges.
    pub(super) fn compare_scalars(
        &mut self,
        compared: (Comparison, Comparand),
        a: Operand,
        b: Operand,
        apart: Option<Label>,
    ) -> EmitResult {
        let [yes, no, done] = core::array::from_fn(|_| self.asm.label());
        self.branch_on_scalars(compared, a, b, Ways { yes, no, apart })?;
        self.asm.bind(yes);
        self.asm.constant(RAX, 1);
        self.asm.jump(Code::Jmp_rel32_64, done);
        self.asm.bind(no);
        self.asm.constant(RAX, 0);
        self.asm.bind(done);
        Ok(())
    }

    /// Goes where a comparison of uniform values leads the tile.
    pub(super) fn branch_on_scalars(
        &mut self,
        (comparison, of): (Comparison, Comparand),
        a: Operand,
        b: Operand,
        Ways { yes, no, apart }: Ways,
    ) -> EmitResult {
        let (width, sign) = match of {
            Comparand::Signed(width) => (width, Signedness::Signed),
            Comparand::Unsigned(width) => (width, Signedness::Unsigned),
            Comparand::Float { .. } => return Err(EmitError::Unsupported),
        };
        let patterns = (self.pattern_of(a), self.pattern_of(b));
        if patterns == (0, 0) {
            let x = self.scalar(a, width, RAX)?;
            match (self.immediate(b, width), width) {
                (Some(number), Width::B64) => self.asm.ri(Code::Cmp_rm64_imm32, x, number),
                (Some(number), _) => self.asm.ri(Code::Cmp_rm32_imm32, low(x), number),
                (None, _) => {
                    let y = self.scalar(b, width, RCX)?;
                    self.alu(width, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64, x, y);
                }
            }
            self.asm.jump(jump_where(comparison, sign).ok_or(EmitError::Unsupported)?, yes);
            self.asm.jump(Code::Jmp_rel32_64, no);
            return Ok(());
        }
        let bits = width.bits();
        let x = self.scalar(a, width, RAX)?;
        self.check_range(a, x, bits, sign)?;
        let number = self.immediate(b, width).filter(|&number| number >= 0 || sign == Signedness::Signed);
        // RAX = a − b without the patterns, signed. With 64 bits the difference must not overflow.
        match (bits, number) {
            (32, Some(number)) => {
                self.extend(RAX, x, sign);
                self.asm.ri(Code::Sub_rm64_imm32, RAX, number);
            }
            _ => {
                let y = self.scalar(b, width, RCX)?;
                self.check_range(b, y, bits, sign)?;
                if bits == 32 {
                    self.extend(RAX, x, sign);
                    self.extend(RCX, y, sign);
                    self.asm.rr(Code::Sub_r64_rm64, RAX, RCX);
                } else {
                    self.copy_scalar(Width::B64, RAX, x);
                    self.asm.rr(Code::Sub_r64_rm64, RAX, y);
                    self.side_exit(Code::Jo_rel32_64, DeoptReason::Other, 0);
                }
            }
        }
        let pairs = self.shapes.pattern(patterns.0).iter().zip(self.shapes.pattern(patterns.1));
        let differences: Vec<i64> = pairs.map(|(&a, &b)| a.wrapping_sub(b)).collect();
        let least = differences.iter().copied().min().unwrap_or(0);
        let most = differences.iter().copied().max().unwrap_or(0);
        let (Ok(least), Ok(most)) = (i32::try_from(least), i32::try_from(most)) else {
            return Err(EmitError::Unsupported);
        };
        // A lane's difference is RAX + d: RAX is compared with −d at both ends.
        let (Some(high), Some(low_end)) = (least.checked_neg(), most.checked_neg()) else {
            return Err(EmitError::Unsupported);
        };
        // In the first case all lanes are on one side, in the second on another.
        let [first, second] = match comparison {
            // Above or below in every lane.
            Comparison::Eq | Comparison::Ne if least != most => {
                let differ = if comparison == Comparison::Ne { yes } else { no };
                [(high, Code::Jg_rel32_64, differ), (low_end, Code::Jl_rel32_64, differ)]
            }
            Comparison::Eq => [(high, Code::Je_rel32_64, yes), (high, Code::Jne_rel32_64, no)],
            Comparison::Ne => [(high, Code::Jne_rel32_64, yes), (high, Code::Je_rel32_64, no)],
            // The lane with the largest difference is the last to be less.
            Comparison::Lt => [(low_end, Code::Jl_rel32_64, yes), (high, Code::Jge_rel32_64, no)],
            Comparison::Le => [(low_end, Code::Jle_rel32_64, yes), (high, Code::Jg_rel32_64, no)],
            Comparison::Gt => [(low_end, Code::Jle_rel32_64, no), (high, Code::Jg_rel32_64, yes)],
            Comparison::Ge => [(low_end, Code::Jl_rel32_64, no), (high, Code::Jge_rel32_64, yes)],
            _ => return Err(EmitError::Unsupported),
        };
        for (end, code, to) in [first, second] {
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, end);
            self.asm.jump(code, to);
        }
        match apart {
            Some(apart) => self.asm.jump(Code::Jmp_rel32_64, apart),
            None => self.side_exit(Code::Jmp_rel32_64, DeoptReason::Divergence, 0),
        }
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
