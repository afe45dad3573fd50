//! Instructions on general registers, and their flags as far as they are used.

use super::forms::*;
use super::{Access, AsmError, Flags, Neon, U, X4, X16, X17, ZERO, memory_of};
use crate::native::asm::{Label, general_number};
use iced_x86::{Code, Instruction, OpKind, Register};

const LOAD_64: Access = Access { scaled: LDR_X, signed: Some(LDUR_X), bytes: 8 };
const LOAD_32: Access = Access { scaled: LDR_W, signed: Some(LDUR_W), bytes: 4 };
const LOAD_SIGNED_32: Access = Access { scaled: LDRSW, signed: Some(LDURSW), bytes: 4 };
const LOAD_16: Access = Access { scaled: LDRH, signed: Some(LDURH), bytes: 2 };
const LOAD_8: Access = Access { scaled: LDRB, signed: Some(LDURB), bytes: 1 };
const STORE_64: Access = Access { scaled: STR_X, signed: Some(STUR_X), bytes: 8 };
const STORE_32: Access = Access { scaled: STR_W, signed: Some(STUR_W), bytes: 4 };
const STORE_16: Access = Access { scaled: STRH, signed: Some(STURH), bytes: 2 };
const STORE_8: Access = Access { scaled: STRB, signed: Some(STURB), bytes: 1 };

fn is_wide(register: Register) -> bool {
    (Register::RAX as u32..=Register::R15 as u32).contains(&(register as u32))
}

/// A64's conditions.
const EQ: u32 = 0;
const NE: u32 = 1;
const CARRY: u32 = 2;
const NO_CARRY: u32 = 3;
const NEGATIVE: u32 = 4;
const OVERFLOW: u32 = 6;
const ABOVE: u32 = 8;
const BELOW_OR_EQUAL: u32 = 9;
const GE: u32 = 10;
const LT: u32 = 11;
const GT: u32 = 12;
const LE: u32 = 13;

/// The condition of a jump, a conditional move or a byte, after a difference.
fn condition(code: Code) -> Option<u32> {
    use Code as K;
    Some(match code {
        K::Je_rel32_64 | K::Sete_rm8 => EQ,
        K::Jne_rel32_64 | K::Setne_rm8 | K::Cmovne_r64_rm64 => NE,
        K::Jae_rel32_64 | K::Setae_rm8 | K::Cmovae_r32_rm32 | K::Cmovae_r64_rm64 => CARRY,
        K::Jb_rel32_64 | K::Setb_rm8 | K::Cmovb_r32_rm32 | K::Cmovb_r64_rm64 => NO_CARRY,
        K::Js_rel32_64 => NEGATIVE,
        K::Jo_rel32_64 => OVERFLOW,
        K::Ja_rel32_64 | K::Seta_rm8 | K::Cmova_r32_rm32 | K::Cmova_r64_rm64 => ABOVE,
        K::Jbe_rel32_64 | K::Setbe_rm8 => BELOW_OR_EQUAL,
        K::Jge_rel32_64 | K::Setge_rm8 => GE,
        K::Jl_rel32_64 | K::Setl_rm8 | K::Cmovl_r32_rm32 | K::Cmovl_r64_rm64 => LT,
        K::Jg_rel32_64 | K::Setg_rm8 | K::Cmovg_r32_rm32 | K::Cmovg_r64_rm64 => GT,
        K::Jle_rel32_64 | K::Setle_rm8 => LE,
        _ => return None,
    })
}

/// Arithmetic of two operands, the first of which is the result too: its form for 32 bits and for 64, the form with a number
/// of 12 bits, whether there is a result, and the flags afterwards.
struct Arithmetic {
    forms: [u32; 2],
    short: Option<[u32; 2]>,
    has_result: bool,
    flags: Flags,
}

fn arithmetic(code: Code) -> Option<Arithmetic> {
    use Code as K;
    let row = |forms, short, has_result, flags| Some(Arithmetic { forms, short, has_result, flags });
    let (sum, difference) = (Some([ADDS_W_IMM, ADDS_X_IMM]), Some([SUBS_W_IMM, SUBS_X_IMM]));
    match code {
        K::Add_r32_rm32
        | K::Add_r64_rm64
        | K::Add_rm32_r32
        | K::Add_rm64_r64
        | K::Add_rm32_imm32
        | K::Add_rm64_imm32 => row([ADDS_W, ADDS_X], sum, true, Flags::Sum),
        K::Sub_r32_rm32 | K::Sub_r64_rm64 | K::Sub_rm32_imm32 | K::Sub_rm64_imm32 => {
            row([SUBS_W, SUBS_X], difference, true, Flags::Difference)
        }
        K::Cmp_r32_rm32 | K::Cmp_r64_rm64 | K::Cmp_rm32_imm32 | K::Cmp_rm64_imm32 => {
            row([SUBS_W, SUBS_X], difference, false, Flags::Difference)
        }
        K::And_r32_rm32
        | K::And_r64_rm64
        | K::And_rm32_r32
        | K::And_rm64_r64
        | K::And_rm32_imm32
        | K::And_rm64_imm32 => row([ANDS_W, ANDS_X], None, true, Flags::Logic),
        K::Test_rm32_r32 | K::Test_rm64_r64 => row([ANDS_W, ANDS_X], None, false, Flags::Logic),
        K::Or_r32_rm32 | K::Or_r64_rm64 | K::Or_rm32_r32 | K::Or_rm64_r64 | K::Or_rm32_imm32 | K::Or_rm64_imm32 => {
            row([ORR_W, ORR_X], None, true, Flags::Unknown)
        }
        K::Xor_r32_rm32
        | K::Xor_r64_rm64
        | K::Xor_rm32_r32
        | K::Xor_rm64_r64
        | K::Xor_rm32_imm32
        | K::Xor_rm64_imm32 => row([EOR_W, EOR_X], None, true, Flags::Unknown),
        K::Imul_r32_rm32 | K::Imul_r64_rm64 => row([MUL_W, MUL_X], None, true, Flags::Unknown),
        _ => None,
    }
}

impl Neon {
    /// The number of a general register of an instruction.
    fn number_of(i: &Instruction, index: u32) -> Result<u32, AsmError> {
        let register = Some(i.op_register(index)).filter(|_| i.op_kind(index) == OpKind::Register);
        register.and_then(general_number).ok_or(AsmError::NoCounterpart(i.code()))
    }
    /// A general operand: a register, or memory or a number in `scratch`.
    fn value(&mut self, i: &Instruction, index: u32, wide: bool, scratch: u32) -> Result<u32, AsmError> {
        match i.op_kind(index) {
            OpKind::Register => Self::number_of(i, index),
            OpKind::Memory => {
                self.access(if wide { LOAD_64 } else { LOAD_32 }, scratch, &memory_of(i))?;
                Ok(scratch)
            }
            _ => {
                self.constant(scratch, if wide { i.immediate(index) } else { i.immediate(index) & 0xffff_ffff });
                Ok(scratch)
            }
        }
    }

    pub(super) fn general(&mut self, i: &Instruction) -> Result<(), AsmError> {
        use Code as K;
        let code = i.code();
        let none = || AsmError::NoCounterpart(code);
        if let Some(arithmetic) = arithmetic(code) {
            return self.arithmetic(i, arithmetic);
        }
        if let Some(after_difference) = condition(code) {
            let condition = self.carry_of(after_difference).ok_or_else(none)?;
            return self.conditional(i, condition);
        }
        match code {
            K::Jmp_rel32_64 => self.jump(Label(i.near_branch64()), None),
            K::Mov_r64_rm64 | K::Mov_r32_rm32 | K::Mov_r32_imm32 | K::Mov_r64_imm64 => {
                let (to, wide) = (Self::number_of(i, 0)?, is_wide(i.op0_register()));
                let from = self.value(i, 1, wide, to)?;
                // With 32 bits a copy to itself clears the others.
                if i.op_kind(1) == OpKind::Register && (from != to || !wide) {
                    self.op3(if wide { ORR_X } else { ORR_W }, to, ZERO, from);
                }
            }
            K::Mov_rm64_imm32 | K::Mov_rm32_imm32 if i.op_kind(0) == OpKind::Register => {
                let to = Self::number_of(i, 0)?;
                self.value(i, 1, code == K::Mov_rm64_imm32, to)?;
            }
            K::Mov_rm64_r64
            | K::Mov_rm32_r32
            | K::Mov_rm16_r16
            | K::Mov_rm8_r8
            | K::Mov_rm64_imm32
            | K::Mov_rm32_imm32 => {
                let access = match code {
                    K::Mov_rm64_r64 | K::Mov_rm64_imm32 => STORE_64,
                    K::Mov_rm32_r32 | K::Mov_rm32_imm32 => STORE_32,
                    K::Mov_rm16_r16 => STORE_16,
                    _ => STORE_8,
                };
                let from = match i.op_kind(1) {
                    OpKind::Register => Self::number_of(i, 1)?,
                    _ if i.immediate(1) == 0 => ZERO,
                    _ => self.value(i, 1, code == K::Mov_rm64_imm32, X17)?,
                };
                self.access(access, from, &memory_of(i))?;
            }
            K::Movsxd_r64_rm32 => self.extend(i, LOAD_SIGNED_32, SXTW_X)?,
            K::Movzx_r32_rm16 => self.extend(i, LOAD_16, UXTH_W)?,
            K::Movzx_r32_rm8 => self.extend(i, LOAD_8, UXTB_W)?,
            K::Movsx_r32_rm16 => self.extend(i, Access { scaled: LDRSH_W, signed: None, bytes: 2 }, SXTH_W)?,
            K::Movsx_r64_rm16 => self.extend(i, Access { scaled: LDRSH_X, signed: None, bytes: 2 }, SXTH_X)?,
            K::Movsx_r32_rm8 => self.extend(i, Access { scaled: LDRSB_W, signed: None, bytes: 1 }, SXTB_W)?,
            K::Movsx_r64_rm8 => self.extend(i, Access { scaled: LDRSB_X, signed: None, bytes: 1 }, SXTB_X)?,
            K::Lea_r64_m => {
                let (to, from) = (Self::number_of(i, 0)?, self.exact(&memory_of(i))?);
                if to != from {
                    self.op3(ORR_X, to, ZERO, from);
                }
            }
            K::Neg_rm32 | K::Neg_rm64 => {
                let to = Self::number_of(i, 0)?;
                self.op3(if code == K::Neg_rm64 { SUBS_X } else { SUBS_W }, to, ZERO, to);
                self.flags = Flags::Difference;
            }
            K::Not_rm32 | K::Not_rm64 => {
                let to = Self::number_of(i, 0)?;
                self.op3(if code == K::Not_rm64 { ORN_X } else { ORN_W }, to, ZERO, to);
            }
            K::Imul_r32_rm32_imm32 | K::Imul_r64_rm64_imm32 => {
                let wide = code == K::Imul_r64_rm64_imm32;
                let (to, from) = (Self::number_of(i, 0)?, self.value(i, 1, wide, X17)?);
                self.constant(X4, i.immediate(2));
                self.op3(if wide { MUL_X } else { MUL_W }, to, from, X4);
                self.flags = Flags::Unknown;
            }
            // All ones where there is a carry, otherwise zero.
            K::Sbb_r32_rm32 if i.op0_register() == i.op1_register() => {
                let to = Self::number_of(i, 0)?;
                let unless = match self.flags {
                    Flags::Sum => NO_CARRY,
                    Flags::Difference => CARRY,
                    _ => return Err(none()),
                };
                self.word(CSINV_W | ZERO << 16 | unless << 12 | ZERO << 5 | to);
                self.flags = Flags::Unknown;
            }
            K::Popcnt_r64_rm64 => {
                let to = Self::number_of(i, 0)?;
                let from = self.value(i, 1, true, to)?;
                self.op2(FMOV_DX, U, from);
                self.op2(CNT_8B, U, U);
                self.op2(ADDV_8B, U, U);
                self.op2(FMOV_WS, to, U);
                self.flags = Flags::Unknown;
            }
            K::Tzcnt_r32_rm32 => {
                let (to, from) = (Self::number_of(i, 0)?, Self::number_of(i, 1)?);
                self.op2(RBIT_W, to, from);
                self.op2(CLZ_W, to, to);
                self.flags = Flags::Unknown;
            }
            K::Bt_rm32_imm8 => {
                let from = self.value(i, 0, false, X17)?;
                self.word(tested_bit(u32::from(i.immediate8()) % 32) | from << 5);
                self.flags = Flags::Bit;
            }
            K::Cmp_r8_rm8 => {
                let (a, b) = (Self::number_of(i, 0)?, Self::number_of(i, 1)?);
                self.word(left_32(24) | a << 5 | X16);
                self.op3(SUBS_W_LSL_24, ZERO, X16, b);
                self.flags = Flags::Difference;
            }
            _ => return self.shift(i),
        }
        Ok(())
    }

    fn arithmetic(&mut self, i: &Instruction, arithmetic: Arithmetic) -> Result<(), AsmError> {
        let Arithmetic { forms, short, has_result, flags } = arithmetic;
        let in_memory = i.op_kind(0) == OpKind::Memory;
        let is_wide = match in_memory {
            false => is_wide(i.op0_register()),
            true if i.op_kind(1) == OpKind::Register => is_wide(i.op1_register()),
            true => i.op_kind(1) == OpKind::Immediate32to64,
        };
        let (load, store) = if is_wide { (LOAD_64, STORE_64) } else { (LOAD_32, STORE_32) };
        let memory = memory_of(i);
        let a = match in_memory {
            true => {
                self.access(load, X17, &memory)?;
                X17
            }
            false => Self::number_of(i, 0)?,
        };
        let to = if has_result { a } else { ZERO };
        let is_number = !matches!(i.op_kind(1), OpKind::Register | OpKind::Memory);
        match short {
            Some(short) if is_number && i.immediate(1) < 1 << 12 => {
                self.word(short[usize::from(is_wide)] | (i.immediate(1) as u32) << 10 | a << 5 | to);
            }
            _ => {
                let b = self.value(i, 1, is_wide, X4)?;
                self.op3(forms[usize::from(is_wide)], to, a, b);
            }
        }
        if in_memory && has_result {
            self.access(store, X17, &memory)?;
        }
        self.flags = flags;
        Ok(())
    }

    /// The condition that is true where one is after a difference, by the flags as they are.
    fn carry_of(&self, condition: u32) -> Option<u32> {
        match (condition, self.flags) {
            (_, Flags::Difference) | (OVERFLOW | NEGATIVE | EQ | NE, Flags::Sum) => Some(condition),
            (EQ | NE | NEGATIVE, Flags::Logic) => Some(condition),
            (CARRY, Flags::Bit) => Some(EQ),
            (NO_CARRY, Flags::Bit) => Some(NE),
            _ => None,
        }
    }
    /// A jump, a byte or a conditional move.
    fn conditional(&mut self, i: &Instruction, condition: u32) -> Result<(), AsmError> {
        if i.op_kind(0) == OpKind::NearBranch64 {
            self.jump(Label(i.near_branch64()), Some(condition));
            return Ok(());
        }
        let to = Self::number_of(i, 0)?;
        if i.op_count() == 1 {
            // The other bits stay.
            self.word(CSINC_W | ZERO << 16 | (condition ^ 1) << 12 | ZERO << 5 | X16);
            self.op2(BFI_W_8, to, X16);
            return Ok(());
        }
        let from = Self::number_of(i, 1)?;
        let form = if is_wide(i.op0_register()) { CSEL_X } else { CSEL_W };
        self.word(form | to << 16 | condition << 12 | from << 5 | to);
        Ok(())
    }
    /// A narrow number from memory or a register, extended.
    fn extend(&mut self, i: &Instruction, load: Access, form: u32) -> Result<(), AsmError> {
        let to = Self::number_of(i, 0)?;
        if i.op_kind(1) == OpKind::Memory {
            return self.access(load, to, &memory_of(i));
        }
        let from = Self::number_of(i, 1)?;
        self.op2(form, to, from);
        Ok(())
    }

    fn shift(&mut self, i: &Instruction) -> Result<(), AsmError> {
        use Code as K;
        let code = i.code();
        let to = Self::number_of(i, 0)?;
        let by_register = match code {
            K::Shl_rm32_CL => Some(LSLV_W),
            K::Shl_rm64_CL => Some(LSLV_X),
            K::Shr_rm32_CL => Some(LSRV_W),
            K::Shr_rm64_CL => Some(LSRV_X),
            K::Sar_rm32_CL => Some(ASRV_W),
            K::Sar_rm64_CL => Some(ASRV_X),
            _ => None,
        };
        self.flags = Flags::Unknown;
        if let Some(form) = by_register {
            let count = general_number(Register::CL).ok_or(AsmError::NoCounterpart(code))?;
            self.op3(form, to, to, count);
            return Ok(());
        }
        let count = u32::from(i.immediate8());
        match code {
            K::Shl_rm32_imm8 if count < 32 => self.word(left_32(count) | to << 5 | to),
            K::Shl_rm64_imm8 if count < 64 => self.word(left_64(count) | to << 5 | to),
            K::Shr_rm64_imm8 if count < 64 => {
                self.word(LSR_X | count << 16 | to << 5 | to);
                self.op3(ANDS_X, ZERO, to, to);
                self.flags = Flags::Logic;
            }
            K::Shr_rm32_imm8 if count < 32 => self.word(LSR_W | count << 16 | to << 5 | to),
            K::Sar_rm32_imm8 if count < 32 => self.word(ASR_W | count << 16 | to << 5 | to),
            K::Sar_rm64_imm8 if count < 64 => self.word(ASR_X | count << 16 | to << 5 | to),
            K::Ror_rm64_imm8 => self.word(EXTR_X | to << 16 | (count % 64) << 10 | to << 5 | to),
            K::Rol_rm64_imm8 => self.word(EXTR_X | to << 16 | ((64 - count % 64) % 64) << 10 | to << 5 | to),
            _ => return Err(AsmError::NoCounterpart(code)),
        }
        Ok(())
    }

    /// The flags of whether a register of 32 bits is zero.
    pub(super) fn compare_with_zero(&mut self, register: u32) {
        self.word(SUBS_W_IMM | register << 5 | ZERO);
        self.flags = Flags::Difference;
    }
}

/// `tst` of one bit of 32.
pub(super) const fn tested_bit(bit: u32) -> u32 {
    0x7200_001f | ((32 - bit) % 32) << 16
}
/// `lsl` of 32 bits, and of 64.
pub(super) const fn left_32(count: u32) -> u32 {
    0x5300_0000 | ((32 - count) % 32) << 16 | (31 - count) << 10
}
pub(super) const fn left_64(count: u32) -> u32 {
    0xd340_0000 | ((64 - count) % 64) << 16 | (63 - count) << 10
}
