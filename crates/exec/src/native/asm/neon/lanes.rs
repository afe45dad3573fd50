//! Lanes that are moved: narrower ones, one at a time, by their numbers.

use super::forms::*;
use super::{
    AsmError, FRAME, LOAD_QUARTER, Lanes, Neon, STORE_QUARTER, T, U, W, X16, X17, lanes_of, memory_of, vector,
};
use iced_x86::{Instruction, MemoryOperand, OpKind, Register};

impl Neon {
    pub(super) fn widen_bytes(&mut self, i: &Instruction, first: u32, second: u32) -> Result<(), AsmError> {
        let to = self.unmasked(i)?;
        let from = match i.op_kind(1) {
            OpKind::Memory => {
                self.access(LOAD_QUARTER, T, &memory_of(i))?;
                T
            }
            _ => self.vector_of(i, 1)?,
        };
        self.op2(first, T, from);
        self.op2(second, to, T);
        Ok(())
    }

    /// The low halves or bytes of 32-bit lanes side by side: in a register, or in memory.
    pub(super) fn narrow(&mut self, i: &Instruction, to_bytes: bool) -> Result<(), AsmError> {
        let (from, mask) = (self.vector_of(i, 1)?, self.mask_of(i)?);
        let to = if i.op_kind(0) == OpKind::Memory { U } else { self.unmasked(i)? };
        self.op2(XTN_4H, U, from);
        if to_bytes {
            self.op2(XTN_8B, U, U);
        }
        match (i.op_kind(0), mask) {
            (OpKind::Memory, Some(mask)) => {
                let form = if to_bytes { ST1_B } else { ST1_H };
                self.store_lanes(&memory_of(i), U, mask, form, if to_bytes { 1 } else { 2 })
            }
            (OpKind::Memory, None) if to_bytes => self.access(STORE_QUARTER, U, &memory_of(i)),
            (OpKind::Memory, None) => self.store(&memory_of(i), U, Lanes::Halves),
            _ => {
                self.copy(to, U);
                Ok(())
            }
        }
    }

    /// Lanes of 32 bits by their numbers, which are less than 4.
    pub(super) fn permute(&mut self, i: &Instruction) -> Result<(), AsmError> {
        let (to, places, from, mask) =
            (self.vector_of(i, 0)?, self.vector_of(i, 1)?, self.operand(i, 2, U, Lanes::Words)?, self.mask_of(i)?);
        // The numbers of the lane's bytes: four times its own, and 0 to 3.
        self.word(MOVI_16B | 4 << 5 | T);
        self.op3(MUL_4S, T, T, places);
        self.constant(X16, 0x0302_0100);
        self.op2(DUP_4S, W, X16);
        self.op3(ADD_4S, T, T, W);
        self.op3(TBL_16B, T, from, T);
        self.merge(to, T, mask);
        Ok(())
    }

    pub(super) fn store_masked(&mut self, i: &Instruction, wide: bool) -> Result<(), AsmError> {
        let (to, from, mask) = (memory_of(i), self.vector_of(i, 1)?, self.mask_of(i)?);
        match mask {
            None => self.store(&to, from, lanes_of(wide)),
            // The frame is this code's alone.
            Some(mask) if to.base == FRAME => {
                self.load(T, &to, Lanes::Words)?;
                self.op3(BIT_16B, T, from, mask);
                self.store(&to, T, Lanes::Words)
            }
            // What other threads may write next to it is left alone.
            Some(mask) => {
                let (form, bytes) = if wide { (ST1_D, 8) } else { (ST1_S, 4) };
                self.store_lanes(&to, from, mask, form, bytes)
            }
        }
    }

    /// Stores the elements of a mask's lanes. The mask has as many lanes as there are elements, but those of less than 4 bytes
    /// have 4.
    pub(super) fn store_lanes(
        &mut self,
        to: &MemoryOperand,
        from: u32,
        mask: u32,
        form: u32,
        bytes: u32,
    ) -> Result<(), AsmError> {
        let mut base = self.exact(to)?;
        for lane in 0..16 / bytes.max(4) {
            if lane > 0 {
                self.word(ADD_X_IMM | bytes << 10 | base << 5 | X16);
                base = X16;
            }
            let skip = self.skip_lane(mask, lane, bytes == 8);
            self.op2(in_lane(form, bytes, lane), from, base);
            self.land(skip);
        }
        Ok(())
    }

    /// Jumps over a lane that is not in a mask.
    pub(super) fn skip_lane(&mut self, mask: u32, lane: u32, wide: bool) -> Option<usize> {
        if self.full == Some(mask) {
            return None;
        }
        self.op2(UMOV_S + (lane << if wide { 20 } else { 19 }), X17, mask);
        Some(self.skip_if_zero(X17))
    }

    /// A gather, lane by lane: whether the indices and whether the elements have 64 bits.
    pub(super) fn gather(&mut self, i: &Instruction, [wide_index, wide]: [bool; 2]) -> Result<(), AsmError> {
        let none = || AsmError::NoCounterpart(i.code());
        let (to, memory, mask) = (self.vector_of(i, 0)?, memory_of(i), self.mask_of(i)?.ok_or_else(none)?);
        let index = vector(memory.index).ok_or_else(none)?;
        let base = self.exact(&MemoryOperand { index: Register::None, ..memory })?;
        let lanes = if wide || wide_index { 2 } else { 4 };
        for lane in 0..lanes {
            let skip = self.skip_lane(mask, lane, lanes == 2);
            match wide_index {
                true => self.op2(UMOV_D + (lane << 20), X17, index),
                false => self.op2(SMOV_S + (lane << 19), X17, index),
            }
            self.op3(ADD_X_LSL | memory.scale.trailing_zeros() << 10, X17, base, X17);
            let (form, bytes) = if wide { (LD1_D, 8) } else { (LD1_S, 4) };
            self.op2(in_lane(form, bytes, lane), to, X17);
            self.land(skip);
        }
        Ok(())
    }
}

/// The form for an element of so many bytes in a lane: of its number the low bits are `size` and `S`, the highest one is `Q`.
pub(super) const fn in_lane(form: u32, bytes: u32, lane: u32) -> u32 {
    let place = lane * bytes;
    form | (place >> 3) << 30 | (place >> 2 & 1) << 12 | (place & 3) << 10
}
