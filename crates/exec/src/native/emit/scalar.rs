//! Numbers that a tile has once: addresses, counters, conditions; in general registers.

use super::super::asm::at;
use super::super::frame::line;
use super::{Done, Emit, FRAME, Part, Stop, TILE, Trouble, low};
use crate::native::alloc::{Home, is_general};
use crate::native::shape::Shape;
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Scalar, Signedness, Special, Width};

const RAX: Register = Register::RAX;
const RCX: Register = Register::RCX;
const RDX: Register = Register::RDX;

impl Emit<'_> {
    /// Whether a register has one number for the tile, in a general register; constants have it nowhere.
    pub(super) fn is_general(&self, reg: Reg) -> bool {
        is_general(self.shapes, reg)
    }
    pub(super) fn is_constant(&self, reg: Reg) -> bool {
        matches!(self.shapes.shape(Operand::Reg(reg)), Shape::Constant(_))
    }
    pub(super) fn pattern_of(&self, value: Operand) -> usize {
        match self.shapes.shape(value) {
            Shape::Scalar(pattern) => pattern,
            _ => 0,
        }
    }

    pub(super) fn special(&mut self, d: Reg, special: Special) -> Done {
        if self.is_constant(d) {
            return Ok(());
        }
        let (word, pattern) = match special {
            Special::Tid(axis) => (line::TID + usize::from(axis), self.shapes.tid(axis)),
            Special::Ctaid(axis) => (line::CTAID + usize::from(axis), 0),
            _ => match self.given.constant(special) {
                Some(bits) => {
                    self.asm.constant(RAX, bits);
                    return self.give(d, RAX, 0);
                }
                None => return Err(Stop::Cut),
            },
        };
        self.asm.rm(Code::Mov_r64_rm64, RAX, at(TILE, 8 * word as i64));
        self.give(d, RAX, pattern)
    }

    /// `a ∘= b` in general registers of a width.
    fn alu(&mut self, width: Width, narrow: Code, wide: Code, a: Register, b: Register) {
        match width {
            Width::B64 => self.asm.rr(wide, a, b),
            _ => self.asm.rr(narrow, low(a), low(b)),
        }
    }
    pub(super) fn copy_number(&mut self, width: Width, to: Register, from: Register) {
        if to != from {
            self.alu(width, Code::Mov_r32_rm32, Code::Mov_r64_rm64, to, from);
        }
    }

    /// Integer arithmetic on numbers: patterns follow by themselves.
    pub(super) fn int_numbers(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> Done {
        let [a, b, c, _] = *args;
        let x = self.number(a, width, RAX)?;
        // Where the result may be made at once.
        let home = match self.homes[d.0 as usize] {
            Home::Scalar(super::Place::Register(home)) => home,
            _ => RAX,
        };
        let two = |emit: &mut Self, narrow, wide| {
            let y = emit.number(b, width, RCX)?;
            let to = if home == y { RAX } else { home };
            emit.copy_number(width, to, x);
            emit.alu(width, narrow, wide, to, y);
            emit.give(d, to, 0)
        };
        match op {
            IntOp::Add => two(self, Code::Add_r32_rm32, Code::Add_r64_rm64),
            IntOp::Sub => two(self, Code::Sub_r32_rm32, Code::Sub_r64_rm64),
            IntOp::Mul => two(self, Code::Imul_r32_rm32, Code::Imul_r64_rm64),
            IntOp::And => two(self, Code::And_r32_rm32, Code::And_r64_rm64),
            IntOp::Or => two(self, Code::Or_r32_rm32, Code::Or_r64_rm64),
            IntOp::Xor => two(self, Code::Xor_r32_rm32, Code::Xor_r64_rm64),
            IntOp::MulAdd => {
                let y = self.number(b, width, RCX)?;
                self.copy_number(width, RAX, x);
                self.alu(width, Code::Imul_r32_rm32, Code::Imul_r64_rm64, RAX, y);
                let z = self.number(c, width, RCX)?;
                self.alu(width, Code::Add_r32_rm32, Code::Add_r64_rm64, RAX, z);
                self.give(d, RAX, 0)
            }
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) if width == Width::B32 => {
                let signed = sign == Signedness::Signed;
                self.check_range(a, x, 32, signed)?;
                self.extend(RAX, x, signed);
                let y = self.number(b, width, RCX)?;
                self.check_range(b, y, 32, signed)?;
                self.extend(RCX, y, signed);
                self.asm.rr(Code::Imul_r64_rm64, RAX, RCX);
                if matches!(op, IntOp::MulAddWide(_)) {
                    let z = self.number(c, Width::B64, RCX)?;
                    self.asm.rr(Code::Add_r64_rm64, RAX, z);
                }
                self.give(d, RAX, 0)
            }
            IntOp::Not | IntOp::Neg => {
                self.copy_number(width, home, x);
                let (narrow, wide) =
                    if op == IntOp::Not { (Code::Not_rm32, Code::Not_rm64) } else { (Code::Neg_rm32, Code::Neg_rm64) };
                let (code, register) = if width == Width::B64 { (wide, home) } else { (narrow, low(home)) };
                self.asm.push(Instruction::with1(code, register));
                self.give(d, home, 0)
            }
            IntOp::Min(sign) | IntOp::Max(sign) => {
                let y = self.number(b, width, RCX)?;
                self.copy_number(width, RAX, x);
                self.alu(width, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64, RAX, y);
                let (narrow, wide) = match (op, sign) {
                    (IntOp::Min(_), Signedness::Signed) => (Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64),
                    (IntOp::Min(_), Signedness::Unsigned) => (Code::Cmova_r32_rm32, Code::Cmova_r64_rm64),
                    (_, Signedness::Signed) => (Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64),
                    (_, Signedness::Unsigned) => (Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64),
                };
                self.alu(width, narrow, wide, RAX, y);
                self.give(d, RAX, 0)
            }
            IntOp::Shl | IntOp::Shr(_) => self.shift(d, op, width, x, b),
            _ => Err(Stop::Cut),
        }
    }

    /// Shifts by the width or more leave nothing but the sign.
    fn shift(&mut self, d: Reg, op: IntOp, width: Width, x: Register, count: Operand) -> Done {
        let bits = width.bits() as i32;
        let y = self.number(count, Width::B32, RCX)?;
        self.copy_number(Width::B32, RCX, y);
        self.copy_number(width, RAX, x);
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
        self.give(d, RAX, 0)
    }

    /// 32 bits to 64.
    fn extend(&mut self, to: Register, from: Register, signed: bool) {
        if signed {
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

    /// Gives up where a number with its pattern wraps in its type: then the pattern is not the wider number's. Uses RDX.
    fn check_range(&mut self, value: Operand, number: Register, bits: u32, signed: bool) -> Done {
        let (least, most) = self.ends(value);
        for end in [least, most] {
            if end == 0 {
                continue;
            }
            let Ok(end) = i32::try_from(end) else { return Err(Stop::Cut) };
            match (bits, signed) {
                (32, true) => {
                    self.asm.rr(Code::Mov_r32_rm32, Register::EDX, low(number));
                    self.asm.ri(Code::Add_rm32_imm32, Register::EDX, end);
                    self.give_up(Code::Jo_rel32_64, Trouble::Other, 0);
                }
                (32, false) => {
                    self.asm.rr(Code::Mov_r32_rm32, Register::EDX, low(number));
                    self.asm.ri(Code::Add_rm64_imm32, RDX, end);
                    // Neither below zero nor past 32 bits.
                    self.asm.push(Instruction::with2(Code::Shr_rm64_imm8, RDX, 32));
                    self.give_up(Code::Jne_rel32_64, Trouble::Other, 0);
                }
                (_, true) => {
                    self.asm.rr(Code::Mov_r64_rm64, RDX, number);
                    self.asm.ri(Code::Add_rm64_imm32, RDX, end);
                    self.give_up(Code::Jo_rel32_64, Trouble::Other, 0);
                }
                (_, false) => return Err(Stop::Cut),
            }
        }
        Ok(())
    }

    /// A conversion of integers, on numbers.
    pub(super) fn convert_numbers(&mut self, d: Reg, to: u32, (from, signed): (u32, bool), a: Operand) -> Done {
        let x = self.number(a, Width::holding(from), RAX)?;
        match (from, to) {
            (32, 64) => {
                self.check_range(a, x, 32, signed)?;
                self.extend(RAX, x, signed);
            }
            (64, 32) | (32, 32) => self.asm.rr(Code::Mov_r32_rm32, Register::EAX, low(x)),
            (64, 64) => self.copy_number(Width::B64, RAX, x),
            _ => return Err(Stop::Cut),
        }
        self.give(d, RAX, 0)
    }

    /// A comparison of numbers, for the tile as a whole: where its ends disagree, the lanes part. EAX is 0 or 1.
    pub(super) fn compare_numbers(&mut self, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Done {
        let (width, signed) = match of {
            Comparand::Signed(width) => (width, true),
            Comparand::Unsigned(width) => (width, false),
            Comparand::Float(..) => return Err(Stop::Cut),
        };
        let patterns = (self.pattern_of(a), self.pattern_of(b));
        let x = self.number(a, width, RAX)?;
        let y = self.number(b, width, RCX)?;
        let (set, set_unsigned) = match comparison {
            Comparison::Eq => (Code::Sete_rm8, Code::Sete_rm8),
            Comparison::Ne => (Code::Setne_rm8, Code::Setne_rm8),
            Comparison::Lt => (Code::Setl_rm8, Code::Setb_rm8),
            Comparison::Le => (Code::Setle_rm8, Code::Setbe_rm8),
            Comparison::Gt => (Code::Setg_rm8, Code::Seta_rm8),
            Comparison::Ge => (Code::Setge_rm8, Code::Setae_rm8),
            _ => return Err(Stop::Cut),
        };
        if patterns == (0, 0) {
            self.alu(width, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64, x, y);
            self.asm.push(Instruction::with1(if signed { set } else { set_unsigned }, Register::AL));
            self.asm.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
            return Ok(());
        }
        let bits = width.bits();
        self.check_range(a, x, bits, signed)?;
        self.check_range(b, y, bits, signed)?;
        // RAX = a − b of the numbers alone, with its sign: numbers of 64 bits must not be so far apart that it wraps.
        if bits == 32 {
            self.extend(RAX, x, signed);
            self.extend(RCX, y, signed);
            self.asm.rr(Code::Sub_r64_rm64, RAX, RCX);
        } else {
            self.copy_number(Width::B64, RAX, x);
            self.asm.rr(Code::Sub_r64_rm64, RAX, y);
            self.give_up(Code::Jo_rel32_64, Trouble::Other, 0);
        }
        let pairs = self.shapes.pattern(patterns.0).iter().zip(self.shapes.pattern(patterns.1));
        let differences: Vec<i64> = pairs.map(|(&a, &b)| a.wrapping_sub(b)).collect();
        let least = differences.iter().copied().min().unwrap_or(0);
        let most = differences.iter().copied().max().unwrap_or(0);
        let (Ok(least), Ok(most)) = (i32::try_from(least), i32::try_from(most)) else { return Err(Stop::Cut) };
        // A lane's difference is RAX + d: compare RAX with −d at both ends.
        let (Some(high), Some(low_end)) = (least.checked_neg(), most.checked_neg()) else { return Err(Stop::Cut) };
        if matches!(comparison, Comparison::Eq | Comparison::Ne) && least != most {
            // Uniform only where every lane differs: all above, or all below.
            let apart = self.asm.label();
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, high);
            self.asm.jump(Code::Jg_rel32_64, apart);
            self.asm.ri(Code::Cmp_rm64_imm32, RAX, low_end);
            self.give_up(Code::Jge_rel32_64, Trouble::Parts, 0);
            self.asm.bind(apart);
            self.asm.constant(RAX, u64::from(comparison == Comparison::Ne));
            return Ok(());
        }
        self.asm.ri(Code::Cmp_rm64_imm32, RAX, high);
        self.asm.push(Instruction::with1(set, Register::CL));
        self.asm.ri(Code::Cmp_rm64_imm32, RAX, low_end);
        self.asm.push(Instruction::with1(set, Register::AL));
        self.asm.rr(Code::Cmp_r8_rm8, Register::AL, Register::CL);
        self.give_up(Code::Jne_rel32_64, Trouble::Parts, 0);
        self.asm.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
        Ok(())
    }

    /// A choice between numbers by one predicate.
    pub(super) fn select_numbers(&mut self, d: Reg, p: Operand, a: Operand, b: Operand) -> Done {
        let width = self.width(d);
        let y = self.number(b, width, RAX)?;
        self.copy_number(Width::B64, RAX, y);
        let x = self.number(a, width, RCX)?;
        let p = self.number(p, Width::Pred, RDX)?;
        self.asm.rr(Code::Test_rm32_r32, low(p), low(p));
        self.asm.rr(Code::Cmovne_r64_rm64, RAX, x);
        self.give(d, RAX, 0)
    }

    /// A uniform predicate of floats: the first lane's.
    pub(super) fn first_lane(&mut self, d: Reg, mask: Register) -> Done {
        self.asm.rr(Code::VEX_Kmovw_r32_kr, Register::EAX, mask);
        self.asm.ri(Code::And_rm32_imm32, Register::EAX, 1);
        self.give(d, RAX, 0)
    }

    /// Logic of predicates: numbers 0 and 1, or masks.
    pub(super) fn logic(&mut self, d: Reg, op: IntOp, args: &[Operand; 4]) -> Done {
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
            let x = self.number(a, Width::Pred, RAX)?;
            self.copy_number(Width::B64, RAX, x);
            let y = self.number(b, Width::Pred, RCX)?;
            self.asm.rr(narrow, Register::EAX, low(y));
            return self.give(d, RAX, 0);
        }
        let Home::Mask(to) = self.homes[d.0 as usize] else { return Err(Stop::Cut) };
        for word in 0..self.mask_words() {
            self.mask_word(a, word, RAX)?;
            self.mask_word(b, word, RCX)?;
            self.asm.rr(code, RAX, RCX);
            self.set_mask_word(d, to, word);
        }
        Ok(())
    }

    /// RAX becomes 64 lanes of a predicate that lives at `to`, in the lanes at work. Uses RCX.
    pub(super) fn set_mask_word(&mut self, d: Reg, to: i64, word: i64) {
        let home = at(FRAME, to + 8 * word);
        let Some(mask) = self.held_back(d) else { return self.asm.mr(Code::Mov_rm64_r64, home, RAX) };
        // The others' bits stay.
        self.asm.rr(Code::Mov_r64_rm64, RCX, RAX);
        self.asm.rm(Code::Xor_r64_rm64, RCX, home);
        self.asm.rm(Code::And_r64_rm64, RCX, at(FRAME, mask + 8 * word));
        self.asm.mr(Code::Xor_rm64_r64, home, RCX);
    }

    /// Words of 64 lanes in a mask.
    pub(super) fn mask_words(&self) -> i64 {
        (self.shapes.lanes as i64).div_euclid(64) + i64::from(!self.shapes.lanes.is_multiple_of(64))
    }
    /// 64 lanes of a predicate.
    pub(super) fn mask_word(&mut self, value: Operand, word: i64, to: Register) -> Done {
        if let Operand::Reg(reg) = value
            && let Home::Mask(from) = self.homes[reg.0 as usize]
        {
            self.asm.rm(Code::Mov_r64_rm64, to, at(FRAME, from + 8 * word));
            return Ok(());
        }
        let number = self.number(value, Width::Pred, to)?;
        self.copy_number(Width::B64, to, number);
        self.asm.push(Instruction::with1(Code::Neg_rm64, to));
        Ok(())
    }

    /// The lanes of a vector where a predicate is true, in a mask register.
    pub(super) fn mask(&mut self, p: Operand, width: Width, part: Part, to: Register) -> Done {
        if let Operand::Reg(reg) = p
            && let Home::Mask(mask) = self.homes[reg.0 as usize]
        {
            self.lanes_of(mask, width, part, to);
            return Ok(());
        }
        let number = self.number(p, Width::Pred, RAX)?;
        self.copy_number(Width::B64, RAX, number);
        self.asm.push(Instruction::with1(Code::Neg_rm32, Register::EAX));
        self.asm.rr(Code::VEX_Kmovw_kr_r32, to, Register::EAX);
        Ok(())
    }

    /// Conversions between integers where the result is a number.
    pub(super) fn is_integer(scalar: Scalar) -> Option<(u32, bool)> {
        match scalar {
            Scalar::Int { bits, signed } => Some((bits, signed)),
            Scalar::Float(_) => None,
        }
    }
}
