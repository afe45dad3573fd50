//! Masks: comparisons, and bits in the frame, in general registers and in memory.

use super::forms::*;
use super::{AsmError, LOAD_HALF, Lanes, Neon, STORE_HALF, T, U, W, X16, X17, general_number, lanes_of, vector};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Neon {
    /// T, in the lanes of the instruction's mask, becomes the mask register that it writes.
    pub(super) fn finish_mask(&mut self, i: &Instruction, inverted: bool) -> Result<(), AsmError> {
        let mask = self.mask_of(i)?;
        let to = self.new_mask(i.op0_register())?;
        match (mask, inverted) {
            (Some(mask), false) => self.op3(AND_16B, to, T, mask),
            (Some(mask), true) => self.op3(BIC_16B, to, mask, T),
            (None, false) => self.copy(to, T),
            (None, true) => self.op2(NOT_16B, to, T),
        }
        Ok(())
    }

    /// A comparison by the number of its predicate, in the quiet forms.
    pub(super) fn float_mask(&mut self, i: &Instruction, wide: bool) -> Result<(), AsmError> {
        let (a, b) = (self.vector_of(i, 1)?, self.operand(i, 2, U, lanes_of(wide))?);
        let (equal, greater, not_less) =
            if wide { (FCMEQ_2D, FCMGT_2D, FCMGE_2D) } else { (FCMEQ_4S, FCMGT_4S, FCMGE_4S) };
        // The one comparison, or two of which one holds; and whether the others are meant.
        let (first, second, inverted) = match i.immediate8() {
            0x00 => ((equal, a, b), None, false),
            0x04 => ((equal, a, b), None, true),
            0x11 => ((greater, b, a), None, false),
            0x15 => ((greater, b, a), None, true),
            0x12 => ((not_less, b, a), None, false),
            0x16 => ((not_less, b, a), None, true),
            0x1e => ((greater, a, b), None, false),
            0x1a => ((greater, a, b), None, true),
            0x1d => ((not_less, a, b), None, false),
            0x19 => ((not_less, a, b), None, true),
            0x0c => ((greater, a, b), Some((greater, b, a)), false),
            0x08 => ((greater, a, b), Some((greater, b, a)), true),
            0x07 | 0x03 if a == b => ((equal, a, a), None, i.immediate8() == 0x03),
            0x07 => ((not_less, a, b), Some((greater, b, a)), false),
            0x03 => ((not_less, a, b), Some((greater, b, a)), true),
            _ => return Err(AsmError::NoCounterpart(i.code())),
        };
        self.op3(first.0, T, first.1, first.2);
        if let Some((form, x, y)) = second {
            self.op3(form, W, x, y);
            self.op3(ORR_16B, T, T, W);
        }
        self.finish_mask(i, inverted)
    }

    pub(super) fn integer_mask(
        &mut self,
        i: &Instruction,
        predicate: u8,
        signed: bool,
        wide: bool,
    ) -> Result<(), AsmError> {
        let (a, b) = (self.vector_of(i, 1)?, self.operand(i, 2, U, lanes_of(wide))?);
        let (greater, not_less) = match (signed, wide) {
            (true, false) => (CMGT_4S, CMGE_4S),
            (true, true) => (CMGT_2D, CMGE_2D),
            (false, false) => (CMHI_4S, CMHS_4S),
            (false, true) => (CMHI_2D, CMHS_2D),
        };
        let equal = if wide { CMEQ_2D } else { CMEQ_4S };
        let (form, x, y) = match predicate {
            0 | 4 => (equal, a, b),
            1 => (greater, b, a),
            2 => (not_less, b, a),
            5 => (not_less, a, b),
            6 => (greater, a, b),
            _ => return Err(AsmError::NoCounterpart(i.code())),
        };
        self.op3(form, T, x, y);
        self.finish_mask(i, predicate == 4)
    }

    /// The lanes that have common bits, or have none.
    pub(super) fn test_mask(&mut self, i: &Instruction, wide: bool, some: bool) -> Result<(), AsmError> {
        let (a, b) = (self.vector_of(i, 1)?, self.operand(i, 2, U, lanes_of(wide))?);
        self.op3(if wide { CMTST_2D } else { CMTST_4S }, T, a, b);
        self.finish_mask(i, !some)
    }

    /// A mask register from bits in the frame: `bits` is the word that holds them, `lanes` has the bit of each lane.
    pub(in crate::native::asm) fn mask_from_bits(
        &mut self,
        to: Register,
        bits: &MemoryOperand,
        lanes: &MemoryOperand,
        wide: bool,
    ) -> Result<(), AsmError> {
        let to = self.new_mask(to)?;
        self.load(T, lanes, Lanes::Words)?;
        let from = self.exact(bits)?;
        self.op2(if wide { LD1R_2D } else { LD1R_4S }, to, from);
        self.op3(if wide { CMTST_2D } else { CMTST_4S }, to, to, T);
        Ok(())
    }

    /// The bits of a mask's lanes, 4 or 2, in a general register.
    pub(in crate::native::asm) fn bits_of_mask(
        &mut self,
        mask: Register,
        to: Register,
        wide: bool,
    ) -> Result<(), AsmError> {
        let (mask, to) = (self.mask(mask)?, general_number(to).ok_or(AsmError::NoCounterpart(Code::VEX_Kmovw_r32_kr))?);
        let top = if wide {
            self.right(USHR_2D, 64, U, mask, 63);
            1
        } else {
            // Bit 0 of each half, and the upper lane's above it.
            self.right(USHR_4S, 32, U, mask, 31);
            self.op2(USRA_2D + ((64 - 31) << 16), U, U);
            2
        };
        self.op2(UMOV_S, X16, U);
        self.op2(UMOV_S + (2 << 19), X17, U);
        self.word(ORR_X_LSL | X17 << 16 | top << 10 | X16 << 5 | to);
        Ok(())
    }

    /// Bytes 0 and 1 from the bits of 8 lanes. `lanes` has the bit of each, `ones` is the byte 1 for each.
    pub(in crate::native::asm) fn bytes_from_bits(
        &mut self,
        to: &MemoryOperand,
        bits: &MemoryOperand,
        lanes: &MemoryOperand,
        ones: &MemoryOperand,
    ) -> Result<(), AsmError> {
        let from = self.exact(bits)?;
        self.op2(LD1R_8B, T, from);
        self.load(U, lanes, Lanes::Words)?;
        self.op3(CMTST_16B, T, T, U);
        self.load(U, ones, Lanes::Words)?;
        self.op3(AND_16B, T, T, U);
        self.access(STORE_HALF, T, to)
    }

    /// The bits of 8 lanes from bytes that are 0 or not.
    pub(in crate::native::asm) fn bits_from_bytes(
        &mut self,
        to: Register,
        from: &MemoryOperand,
    ) -> Result<(), AsmError> {
        let to = general_number(to).ok_or(AsmError::NoCounterpart(Code::VEX_Vpmovmskb_r32_xmm))?;
        self.access(LOAD_HALF, T, from)?;
        self.op3(CMTST_16B, T, T, T);
        // Each byte's own bit, and the sum of all.
        self.constant(X16, 0x8040_2010_0804_0201);
        self.op2(FMOV_DX, U, X16);
        self.op3(AND_16B, T, T, U);
        self.op2(ADDV_8B, T, T);
        self.op2(FMOV_WS, to, T);
        Ok(())
    }

    /// f32 lanes with all NaNs replaced.
    pub(in crate::native::asm) fn replace_nans(
        &mut self,
        to: Register,
        from: Register,
        by: &MemoryOperand,
    ) -> Result<(), AsmError> {
        let none = || AsmError::NoCounterpart(Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8);
        let (to, from) = (vector(to).ok_or_else(none)?, vector(from).ok_or_else(none)?);
        self.load(U, by, Lanes::Words)?;
        self.op3(FCMEQ_4S, T, from, from);
        self.op3(BSL_16B, T, from, U);
        self.copy(to, T);
        Ok(())
    }
}
