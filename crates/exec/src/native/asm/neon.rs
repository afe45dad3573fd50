//! The instructions that `emit` writes, as A64 instructions: vectors of 4 lanes in the 32 registers, masks as vectors in
//! registers of their own, and directions of rounding by FPCR instead of in the instruction.
//!
//! x86's vector registers have their numbers: those that are allocated are the first ones, the emitter's scratch registers the
//! last. The general registers have theirs too, `RAX` being x0; all of them are the callee's. `RSP` is not used, so that
//! x4 is scratch as x16 and x17 are.
//!
//! FPCR is set where an instruction rounds in another direction than the one before; at labels and jumps it is as the region
//! begins. Nothing is flushed: the processor would do it before rounding.

mod forms;
mod general;
mod lanes;
mod masks;
mod plain;
mod sequences;
#[cfg(test)]
mod tests;

use super::super::frame::header;
use super::{AsmError, Direction, FRAME, Label, direction_number, general_number};
use crate::kernel::Machine;
use forms::*;
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};
use roundonce_arith::Rounding;
use std::collections::BTreeMap;

/// Scratch vectors of the rewriting, behind those that are allocated.
const T: u32 = Machine::Neon.registers() as u32;
const U: u32 = T + 1;
const W: u32 = T + 2;
/// The mask registers that are used, from K1 on.
const MASKS: core::ops::Range<u32> = T + 3..T + 6;
/// Scratch general registers. Addresses are computed in the first.
const X16: u32 = 16;
const X17: u32 = 17;
const X4: u32 = 4;
/// The frame's.
const FRAME_NUMBER: u32 = FRAME as u32 - Register::RAX as u32;
/// The register that is zero.
const ZERO: u32 = 31;

/// What an instruction of x86 that has set the flags has in the carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flags {
    /// Nothing that is used.
    Unknown,
    /// A sum's carry.
    Sum,
    /// A difference's, which is A64's inverted.
    Difference,
    /// None: the carry and the overflow are clear.
    Logic,
    /// A bit that was tested: not the zero flag.
    Bit,
}

/// A jump to a label, at a place of the code.
#[derive(Debug)]
struct Jump {
    from: usize,
    to: Label,
    condition: Option<u32>,
}

/// The code so far, and what is known at its end.
#[derive(Debug)]
pub(super) struct Neon {
    words: Vec<u32>,
    labels: BTreeMap<u64, usize>,
    jumps: Vec<Jump>,
    direction: Direction,
    flags: Flags,
    /// The mask that has all lanes.
    full: Option<u32>,
}

/// A vector register's number. `None` for registers that nothing is allocated to.
fn vector(register: Register) -> Option<u32> {
    let first = match register {
        _ if register.is_zmm() => Register::ZMM0,
        _ if register.is_ymm() => Register::YMM0,
        _ if register.is_xmm() => Register::XMM0,
        _ => return None,
    };
    Some(register as u32 - first as u32).filter(|number| !(T..MASKS.end).contains(number))
}

/// How a register is loaded or stored: the form with a number of so many bytes, the one with a signed number, if there is
/// one.
#[derive(Clone, Copy)]
struct Access {
    scaled: u32,
    signed: Option<u32>,
    bytes: i64,
}

const LOAD_VECTOR: Access = Access { scaled: LDR_Q, signed: Some(LDUR_Q), bytes: 16 };
const STORE_VECTOR: Access = Access { scaled: STR_Q, signed: Some(STUR_Q), bytes: 16 };
const STORE_HALF: Access = Access { scaled: STR_D, signed: Some(STUR_D), bytes: 8 };
const LOAD_HALF: Access = Access { scaled: LDR_D, signed: Some(LDUR_D), bytes: 8 };
const LOAD_QUARTER: Access = Access { scaled: LDR_S, signed: Some(LDUR_S), bytes: 4 };
const STORE_QUARTER: Access = Access { scaled: STR_S, signed: Some(STUR_S), bytes: 4 };

/// The lanes of a vector by their size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lanes {
    Halves,
    Words,
    Doubles,
}

fn lanes_of(wide: bool) -> Lanes {
    if wide { Lanes::Doubles } else { Lanes::Words }
}

impl Neon {
    pub(super) fn new(home: Rounding) -> Neon {
        Neon {
            words: Vec::new(),
            labels: BTreeMap::new(),
            jumps: Vec::new(),
            direction: Direction::new(home),
            flags: Flags::Unknown,
            full: None,
        }
    }

    fn word(&mut self, word: u32) {
        self.words.push(word);
    }
    /// An instruction of a result and one operand.
    fn op2(&mut self, form: u32, d: u32, n: u32) {
        self.word(form | n << 5 | d);
    }
    /// Of two operands.
    fn op3(&mut self, form: u32, d: u32, n: u32, m: u32) {
        self.word(form | m << 16 | n << 5 | d);
    }
    /// A copy of a vector, if they differ.
    fn copy(&mut self, to: u32, from: u32) {
        if to != from {
            self.op3(ORR_16B, to, from, from);
        }
    }
    /// A constant of 64 bits.
    fn constant(&mut self, to: u32, value: u64) {
        self.word(MOVZ | (value as u32 & 0xffff) << 5 | to);
        for (form, part) in [(MOVK_16, value >> 16), (MOVK_32, value >> 32), (MOVK_48, value >> 48)] {
            if part & 0xffff != 0 {
                self.word(form | (part as u32 & 0xffff) << 5 | to);
            }
        }
    }

    /// The function's start.
    pub(super) fn enter(&mut self, frame: Register, record: Register) {
        self.words.extend(SAVE_VECTORS);
        for (argument, to) in [frame, record].into_iter().filter_map(general_number).enumerate() {
            self.op3(ORR_X, to, ZERO, argument as u32);
        }
        self.word(MRS_FPCR | X16);
        self.word(MRS_FPSR | X17);
        self.words.extend(SAVE_ENVIRONMENT);
        self.environment(header::ENVIRONMENT);
    }
    /// The return.
    pub(super) fn leave(&mut self) {
        self.words.extend(RESTORE_ENVIRONMENT);
        self.word(MSR_FPCR | X16);
        self.word(MSR_FPSR | X17);
        self.words.extend(RESTORE_VECTORS);
        self.word(RET);
    }
    /// FPCR becomes a word of the frame's header.
    fn environment(&mut self, offset: i64) {
        self.word(LDR_W | (offset as u32 / 4) << 10 | FRAME_NUMBER << 5 | X16);
        self.word(MSR_FPCR | X16);
    }
    fn turn(&mut self, to: Rounding) {
        if self.direction.turn(to) {
            self.environment(header::ENVIRONMENTS + 4 * i64::from(direction_number(to)));
        }
    }
    /// Before a jump.
    pub(super) fn go_home(&mut self) {
        self.turn(self.direction.home);
    }
    /// At a label.
    pub(super) fn bind(&mut self, Label(label): Label) {
        self.go_home();
        (self.flags, self.full) = (Flags::Unknown, None);
        self.labels.insert(label, self.words.len());
    }
    /// The code's bytes. A conditional jump that does not reach its label jumps over one that does.
    pub(super) fn finish(self) -> Result<Vec<u8>, AsmError> {
        let Neon { words, labels, jumps, .. } = self;
        let targets = jumps.iter().map(|&Jump { to: Label(to), .. }| labels.get(&to).copied());
        let targets = targets.collect::<Option<Vec<usize>>>().ok_or(AsmError::Distance)?;
        // The jumps of two words, in order; each moves what is behind it.
        let mut long: Vec<usize> = Vec::new();
        let place = |long: &[usize], at: usize| (at + long.partition_point(|&from| from < at)) as i64;
        loop {
            let misses = |&(jump, &to): &(&Jump, &usize)| {
                jump.condition.is_some()
                    && long.binary_search(&jump.from).is_err()
                    && (place(&long, to) - place(&long, jump.from)).unsigned_abs() >= 1 << 18
            };
            let more: Vec<usize> = jumps.iter().zip(&targets).filter(misses).map(|(jump, _)| jump.from).collect();
            if more.is_empty() {
                break;
            }
            long.extend(more);
            long.sort_unstable();
        }
        let mut code = Vec::with_capacity(words.len() + long.len());
        let mut rest = words.as_slice();
        for (jump, &to) in jumps.iter().zip(&targets) {
            let (before, from) = rest.split_at(jump.from - (words.len() - rest.len()));
            code.extend_from_slice(before);
            rest = &from[1..];
            let is_long = long.binary_search(&jump.from).is_ok();
            let distance = place(&long, to) - code.len() as i64;
            match jump.condition {
                Some(condition) if !is_long => code.push(B_COND | (distance as u32 & 0x7_ffff) << 5 | condition),
                condition => {
                    if let Some(condition) = condition {
                        code.push(B_COND | 2 << 5 | condition ^ 1);
                    }
                    let distance = place(&long, to) - code.len() as i64;
                    if distance.unsigned_abs() >= 1 << 25 {
                        return Err(AsmError::Distance);
                    }
                    code.push(B | distance as u32 & 0x3ff_ffff);
                }
            }
        }
        code.extend_from_slice(rest);
        Ok(code.into_iter().flat_map(u32::to_le_bytes).collect())
    }
    /// A jump, the distance to be filled in.
    fn jump(&mut self, to: Label, condition: Option<u32>) {
        self.jumps.push(Jump { from: self.words.len(), to, condition });
        self.word(0);
    }
    /// Jumps over what is written next if a register of 32 bits is zero; [`land`](Neon::land) says where to.
    fn skip_if_zero(&mut self, register: u32) -> usize {
        self.word(CBZ_W | register);
        self.words.len() - 1
    }
    fn land(&mut self, skip: Option<usize>) {
        if let Some(from) = skip {
            self.words[from] |= ((self.words.len() - from) as u32) << 5;
        }
    }

    /// The register and the offset of a memory operand, where the instruction takes such offsets; otherwise the offset is 0.
    fn address(&mut self, memory: &MemoryOperand, takes: impl Fn(i64) -> bool) -> Result<(u32, i64), AsmError> {
        let MemoryOperand { base, index, scale, displacement, is_broadcast, .. } = *memory;
        let base = general_number(base).filter(|_| !is_broadcast).ok_or(AsmError::NoCounterpart(Code::Lea_r64_m))?;
        let (mut base, mut rest) = (base, 0);
        if takes(displacement) {
            rest = displacement;
        } else if displacement.unsigned_abs() < 1 << 24 {
            let (low, high) = (displacement.unsigned_abs() as u32 & 0xfff, displacement.unsigned_abs() as u32 >> 12);
            let (add, add_high) = if displacement > 0 { (ADD_X_IMM, ADD_X_IMM_12) } else { (SUB_X_IMM, SUB_X_IMM_12) };
            for (form, number) in [(add_high, high), (add, low)] {
                if number != 0 {
                    self.word(form | number << 10 | base << 5 | X16);
                    base = X16;
                }
            }
        } else {
            self.constant(X16, displacement as u64);
            self.op3(ADD_X_LSL, X16, X16, base);
            base = X16;
        }
        if let Some(index) = general_number(index) {
            self.word(ADD_X_LSL | index << 16 | scale.trailing_zeros() << 10 | base << 5 | X16);
            base = X16;
        }
        Ok((base, rest))
    }
    /// The register that holds a memory operand's address.
    fn exact(&mut self, memory: &MemoryOperand) -> Result<u32, AsmError> {
        Ok(self.address(memory, |offset| offset == 0)?.0)
    }
    /// Loads or stores a register.
    fn access(&mut self, access: Access, register: u32, memory: &MemoryOperand) -> Result<(), AsmError> {
        let Access { scaled, signed, bytes } = access;
        let is_scaled = |offset: i64| offset >= 0 && offset % bytes == 0 && offset / bytes < 1 << 12;
        let is_signed = |offset: i64| signed.is_some() && (-256..256).contains(&offset);
        let (base, offset) = self.address(memory, |offset| is_scaled(offset) || is_signed(offset))?;
        self.word(match signed {
            Some(form) if !is_scaled(offset) => form | (offset as u32 & 0x1ff) << 12 | base << 5 | register,
            _ => scaled | ((offset / bytes) as u32) << 10 | base << 5 | register,
        });
        Ok(())
    }
    /// Loads a vector: of the frame, or one whose lanes are each loaded whole.
    fn load(&mut self, to: u32, from: &MemoryOperand, lanes: Lanes) -> Result<(), AsmError> {
        if from.base == FRAME {
            return self.access(if lanes == Lanes::Halves { LOAD_HALF } else { LOAD_VECTOR }, to, from);
        }
        let base = self.exact(from)?;
        self.op2(
            match lanes {
                Lanes::Halves => LD1_4H,
                Lanes::Words => LD1_4S,
                Lanes::Doubles => LD1_2D,
            },
            to,
            base,
        );
        Ok(())
    }
    fn store(&mut self, to: &MemoryOperand, from: u32, lanes: Lanes) -> Result<(), AsmError> {
        if to.base == FRAME && lanes != Lanes::Halves {
            return self.access(STORE_VECTOR, from, to);
        }
        let base = self.exact(to)?;
        self.op2(
            match lanes {
                Lanes::Halves => ST1_4H,
                Lanes::Words => ST1_4S,
                Lanes::Doubles => ST1_2D,
            },
            from,
            base,
        );
        Ok(())
    }

    /// A vector register of an instruction.
    fn vector_of(&self, i: &Instruction, index: u32) -> Result<u32, AsmError> {
        let register = Some(i.op_register(index)).filter(|_| i.op_kind(index) == OpKind::Register);
        register.and_then(vector).ok_or(AsmError::NoCounterpart(i.code()))
    }
    /// A vector operand: where it is, or in `scratch`.
    fn operand(&mut self, i: &Instruction, index: u32, scratch: u32, lanes: Lanes) -> Result<u32, AsmError> {
        if i.op_kind(index) != OpKind::Memory {
            return self.vector_of(i, index);
        }
        self.load(scratch, &memory_of(i), lanes)?;
        Ok(scratch)
    }
    /// A mask register that is read.
    fn mask(&self, mask: Register) -> Result<u32, AsmError> {
        let number = (mask as u32).wrapping_sub(Register::K1 as u32).wrapping_add(MASKS.start);
        Some(number).filter(|number| MASKS.contains(number)).ok_or(AsmError::NoCounterpart(Code::VEX_Knotw_kr_kr))
    }
    /// One that is about to be written.
    fn new_mask(&mut self, mask: Register) -> Result<u32, AsmError> {
        let number = self.mask(mask)?;
        self.full = self.full.filter(|&full| full != number);
        Ok(number)
    }
    /// The mask of an instruction, if it has one whose lanes keep what is there.
    fn mask_of(&self, i: &Instruction) -> Result<Option<u32>, AsmError> {
        match i.op_mask() {
            Register::None => Ok(None),
            _ if i.zeroing_masking() => Err(AsmError::NoCounterpart(i.code())),
            mask => self.mask(mask).map(Some),
        }
    }
    /// The lanes of `mask` in `to` become those of `from`; all where there is no mask.
    fn merge(&mut self, to: u32, from: u32, mask: Option<u32>) {
        match mask {
            Some(mask) => self.op3(BIT_16B, to, from, mask),
            None => self.copy(to, from),
        }
    }

    /// Writes what does the same as an instruction.
    pub(super) fn rewrite(&mut self, i: &Instruction) -> Result<(), AsmError> {
        let is_vector = (0..i.op_count()).any(|index| {
            let register = i.op_register(index);
            i.op_kind(index) == OpKind::Register && (register.is_vector_register() || register.is_k())
        });
        match is_vector {
            true => self.vector_instruction(i),
            false => self.general(i),
        }
    }
}

/// The memory operand of an instruction.
fn memory_of(i: &Instruction) -> MemoryOperand {
    let (base, index, scale) = (i.memory_base(), i.memory_index(), i.memory_index_scale());
    let (displacement, is_broadcast) = (i.memory_displacement64() as i64, i.is_broadcast());
    MemoryOperand::new(base, index, scale, displacement, 1, is_broadcast, Register::None)
}

/// `stp` and `ldp` of the callee-saved vectors' lower halves, d8 to d15, below the stack pointer; then FPCR and FPSR, in x16
/// and x17.
const SAVE_VECTORS: [u32; 4] = [0x6dbb_27e8, 0x6d01_2fea, 0x6d02_37ec, 0x6d03_3fee];
const RESTORE_VECTORS: [u32; 4] = [0x6d41_2fea, 0x6d42_37ec, 0x6d43_3fee, 0x6cc5_27e8];
const SAVE_ENVIRONMENT: [u32; 2] = [0xf900_23f0, 0xf900_27f1];
const RESTORE_ENVIRONMENT: [u32; 2] = [0xf940_23f0, 0xf940_27f1];
/// Jumps, whose distances are filled in.
const CBZ_W: u32 = 0x3400_0000;
const B: u32 = 0x1400_0000;
const B_COND: u32 = 0x5400_0000;
