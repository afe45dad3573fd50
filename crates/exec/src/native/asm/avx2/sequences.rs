//! What one instruction of AVX-512 does and AVX2 takes several for.

use super::{Operand, T, U, halved, lower, memory_of, operand_of, vector_of};
use crate::native::asm::{Asm, AsmError};
use iced_x86::{Code, Instruction, Register};

impl Asm {
    /// A comparison of integers by the number of its predicate. There are equality and "greater" of signed ones; of
    /// unsigned ones of 32 bits, the extrema.
    pub(super) fn integer_mask(
        &mut self,
        i: &Instruction,
        predicate: u8,
        signed: bool,
        wide: bool,
    ) -> Result<(), AsmError> {
        use Code as K;
        const EQUAL: u8 = 0;
        const LESS: u8 = 1;
        const LESS_OR_EQUAL: u8 = 2;
        const NOT_EQUAL: u8 = 4;
        const NOT_LESS: u8 = 5;
        const NOT_LESS_OR_EQUAL: u8 = 6;
        let (a, b) = (vector_of(i, 1)?, operand_of(i, 2)?);
        let (equal, greater) = match wide {
            true => (K::VEX_Vpcmpeqq_ymm_ymm_ymmm256, K::VEX_Vpcmpgtq_ymm_ymm_ymmm256),
            false => (K::VEX_Vpcmpeqd_ymm_ymm_ymmm256, K::VEX_Vpcmpgtd_ymm_ymm_ymmm256),
        };
        self.take_t();
        let inverted = match predicate {
            EQUAL | NOT_EQUAL => {
                self.append3(equal, T, a, b)?;
                predicate == NOT_EQUAL
            }
            LESS | NOT_LESS | LESS_OR_EQUAL | NOT_LESS_OR_EQUAL if !signed && !wide => {
                let greatest = matches!(predicate, LESS | NOT_LESS);
                let code = if greatest { K::VEX_Vpmaxud_ymm_ymm_ymmm256 } else { K::VEX_Vpminud_ymm_ymm_ymmm256 };
                self.append3(code, T, a, b)?;
                self.append3(equal, T, T, Operand::Register(a))?;
                matches!(predicate, LESS | NOT_LESS_OR_EQUAL)
            }
            LESS | NOT_LESS | LESS_OR_EQUAL | NOT_LESS_OR_EQUAL => {
                let (x, y) = if signed { (a, b) } else { self.signed_order(a, b)? };
                if matches!(predicate, LESS | NOT_LESS) {
                    let y = self.in_register(y)?;
                    self.append3(greater, T, y, Operand::Register(x))?;
                } else {
                    self.append3(greater, T, x, y)?;
                }
                matches!(predicate, NOT_LESS | LESS_OR_EQUAL)
            }
            _ => return Err(AsmError::NoCounterpart(i.code())),
        };
        if inverted {
            self.invert_t()?;
        }
        self.finish_mask(i)
    }
    /// Unsigned numbers of 64 bits whose order is that of signed ones, in T and U.
    fn signed_order(&mut self, a: Register, b: Operand) -> Result<(Register, Operand), AsmError> {
        self.take_t();
        self.append(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, U, U, U)?);
        self.append(Instruction::with3(Code::VEX_Vpsllq_ymm_ymm_imm8, U, U, 63u32)?);
        self.append(Instruction::with3(Code::VEX_Vpxor_ymm_ymm_ymmm256, T, a, U)?);
        self.append3(Code::VEX_Vpxor_ymm_ymm_ymmm256, U, U, b)?;
        Ok((T, Operand::Register(U)))
    }
    /// The lanes that have common bits, or have none.
    pub(super) fn test_mask(&mut self, i: &Instruction, wide: bool, some: bool) -> Result<(), AsmError> {
        let (a, b) = (vector_of(i, 1)?, operand_of(i, 2)?);
        let equal = if wide { Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256 } else { Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256 };
        self.take_t();
        self.append3(Code::VEX_Vpand_ymm_ymm_ymmm256, T, a, b)?;
        self.append(Instruction::with3(Code::VEX_Vpxor_ymm_ymm_ymmm256, U, U, U)?);
        self.append(Instruction::with3(equal, T, T, U)?);
        if some {
            self.invert_t()?;
        }
        self.finish_mask(i)
    }

    /// The low bits of 32-bit lanes, all but so many, side by side: in a register, or in memory.
    pub(super) fn narrow(&mut self, i: &Instruction, dropped: u32) -> Result<(), AsmError> {
        use Code as K;
        let from = vector_of(i, 1)?;
        self.pack(from, dropped)?;
        let low = lower(U);
        self.append(match (operand_of(i, 0)?, dropped) {
            (Operand::Memory(to), 24) => Instruction::with2(K::VEX_Vmovq_xmmm64_xmm, to, low)?,
            (Operand::Memory(to), _) => Instruction::with2(K::VEX_Vmovups_xmmm128_xmm, to, low)?,
            (Operand::Register(to), _) => Instruction::with2(K::VEX_Vmovaps_xmm_xmmm128, to, low)?,
        });
        Ok(())
    }

    /// The same in U.
    pub(super) fn pack(&mut self, from: Register, dropped: u32) -> Result<(), AsmError> {
        use Code as K;
        let (low, high) = (lower(U), lower(T));
        self.take_t();
        self.append(Instruction::with3(K::VEX_Vpslld_ymm_ymm_imm8, U, from, dropped)?);
        self.append(Instruction::with3(K::VEX_Vpsrld_ymm_ymm_imm8, U, U, dropped)?);
        self.append(Instruction::with3(K::VEX_Vextracti128_xmmm128_ymm_imm8, high, U, 1u32)?);
        self.append(Instruction::with3(K::VEX_Vpackusdw_xmm_xmm_xmmm128, low, low, high)?);
        if dropped == 24 {
            self.append(Instruction::with3(K::VEX_Vpackuswb_xmm_xmm_xmmm128, low, low, low)?);
        }
        Ok(())
    }

    /// A gather, which clears its mask.
    pub(super) fn gather(&mut self, i: &Instruction, code: Code) -> Result<(), AsmError> {
        use Code as K;
        let (to, from) = (vector_of(i, 0)?, memory_of(i)?);
        self.load_mask(i.op_mask())?;
        self.take_t();
        if code == K::VEX_Vpgatherqd_xmm_vm64y_xmm {
            // Of a mask for 64-bit lanes.
            self.append(Instruction::with3(K::VEX_Vextracti128_xmmm128_ymm_imm8, lower(U), T, 1u32)?);
            let even = K::VEX_Vshufps_xmm_xmm_xmmm128_imm8;
            self.append(Instruction::with4(even, lower(T), lower(T), lower(U), 0x88u32)?);
            self.append(Instruction::with3(code, to, from, lower(T))?);
        } else {
            self.append(Instruction::with3(code, to, from, T)?);
        }
        Ok(())
    }
    /// A rotation to the right by a constant.
    pub(super) fn rotate(&mut self, i: &Instruction, wide: bool) -> Result<(), AsmError> {
        use Code as K;
        let (to, from, count) = (vector_of(i, 0)?, vector_of(i, 1)?, u32::from(i.immediate8()));
        let (right, left, bits) = match wide {
            true => (K::VEX_Vpsrlq_ymm_ymm_imm8, K::VEX_Vpsllq_ymm_ymm_imm8, 64),
            false => (K::VEX_Vpsrld_ymm_ymm_imm8, K::VEX_Vpslld_ymm_ymm_imm8, 32),
        };
        self.take_t();
        self.append(Instruction::with3(right, T, from, count)?);
        self.append(Instruction::with3(left, U, from, bits - count)?);
        self.append(Instruction::with3(K::VEX_Vpor_ymm_ymm_ymmm256, to, T, U)?);
        Ok(())
    }

    /// The low 64 bits of products of 64 bits, of those of 32.
    pub(super) fn multiply_wide(&mut self, i: &Instruction) -> Result<(), AsmError> {
        use Code as K;
        let (to, a, b) = (vector_of(i, 0)?, vector_of(i, 1)?, operand_of(i, 2)?);
        self.take_t();
        self.append(Instruction::with3(K::VEX_Vpsrlq_ymm_ymm_imm8, T, a, 32u32)?);
        self.append3(K::VEX_Vpmuludq_ymm_ymm_ymmm256, T, T, b)?;
        let y = self.in_register(b)?;
        self.append(Instruction::with3(K::VEX_Vpsrlq_ymm_ymm_imm8, U, y, 32u32)?);
        self.append(Instruction::with3(K::VEX_Vpmuludq_ymm_ymm_ymmm256, U, U, a)?);
        self.append(Instruction::with3(K::VEX_Vpaddq_ymm_ymm_ymmm256, T, T, U)?);
        self.append(Instruction::with3(K::VEX_Vpsllq_ymm_ymm_imm8, T, T, 32u32)?);
        self.append3(K::VEX_Vpmuludq_ymm_ymm_ymmm256, U, a, b)?;
        self.append(Instruction::with3(K::VEX_Vpaddq_ymm_ymm_ymmm256, to, T, U)?);
        Ok(())
    }

    /// The smaller or the larger of 64-bit lanes.
    pub(super) fn extremum_wide(&mut self, i: &Instruction, signed: bool, largest: bool) -> Result<(), AsmError> {
        let (to, a, b) = (vector_of(i, 0)?, vector_of(i, 1)?, operand_of(i, 2)?);
        self.take_t();
        let (x, y) = if signed { (a, b) } else { self.signed_order(a, b)? };
        self.append3(Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256, T, x, y)?;
        let (b, blend) = (self.in_register(b)?, Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm);
        let (other, chosen) = if largest { (b, a) } else { (a, b) };
        self.append(Instruction::with4(blend, to, other, chosen, T)?);
        Ok(())
    }

    /// Arithmetic shifts of 64-bit lanes, by 64 and more as by 63.
    pub(super) fn shift_wide(&mut self, i: &Instruction) -> Result<(), AsmError> {
        use Code as K;
        let (to, a, count) = (vector_of(i, 0)?, vector_of(i, 1)?, operand_of(i, 2)?);
        self.take_t();
        // Counts are 32 bits, zeros above.
        self.append(Instruction::with3(K::VEX_Vpcmpeqd_ymm_ymm_ymmm256, T, T, T)?);
        self.append(Instruction::with3(K::VEX_Vpsrlq_ymm_ymm_imm8, U, T, 58u32)?);
        self.append3(K::VEX_Vpminud_ymm_ymm_ymmm256, U, U, count)?;
        // The sign's bit, shifted alike: subtracting it extends the sign.
        self.append(Instruction::with3(K::VEX_Vpsllq_ymm_ymm_imm8, T, T, 63u32)?);
        self.append(Instruction::with3(K::VEX_Vpsrlvq_ymm_ymm_ymmm256, T, T, U)?);
        self.append(Instruction::with3(K::VEX_Vpsrlvq_ymm_ymm_ymmm256, U, a, U)?);
        self.append(Instruction::with3(K::VEX_Vpxor_ymm_ymm_ymmm256, U, U, T)?);
        self.append(Instruction::with3(K::VEX_Vpsubq_ymm_ymm_ymmm256, to, U, T)?);
        Ok(())
    }

    /// Of two or four vectors with that many elements of 32 bits a lane, lane after lane, a vector of each element, or `back`. The
    /// last register is free before. Returns where the vectors are, the first `count`.
    pub(in crate::native) fn transpose(&mut self, registers: [Register; 5], count: usize, back: bool) -> [Register; 4] {
        use Code as K;
        let (low, high) = (K::VEX_Vunpcklps_ymm_ymm_ymmm256, K::VEX_Vunpckhps_ymm_ymm_ymmm256);
        let (low_pair, high_pair) = (K::VEX_Vunpcklpd_ymm_ymm_ymmm256, K::VEX_Vunpckhpd_ymm_ymm_ymmm256);
        // Halves of two vectors, the lower ones by 0x20, the upper ones by 0x31; and elements of their halves.
        let (halves, elements) = (K::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, K::VEX_Vshufps_ymm_ymm_ymmm256_imm8);
        // Instruction, result, operands, and the immediate, which is not 0 where there is one.
        type Step = (Code, usize, [usize; 2], u32);
        let (steps, places): (&[Step], [usize; 4]) = match (count, back) {
            (2, false) => (&[(elements, 4, [0, 1], 0x88), (elements, 0, [0, 1], 0xdd)], [4, 0, 0, 0]),
            (2, true) => (
                &[(low, 4, [0, 1], 0), (high, 0, [0, 1], 0), (halves, 1, [4, 0], 0x20), (halves, 2, [4, 0], 0x31)],
                [1, 2, 0, 0],
            ),
            (_, false) => (
                &[
                    (halves, 4, [0, 2], 0x20),
                    (halves, 0, [0, 2], 0x31),
                    (halves, 2, [1, 3], 0x20),
                    (halves, 1, [1, 3], 0x31),
                    (low, 3, [4, 0], 0),
                    (high, 4, [4, 0], 0),
                    (low, 0, [2, 1], 0),
                    (high, 2, [2, 1], 0),
                    (low_pair, 1, [3, 0], 0),
                    (high_pair, 3, [3, 0], 0),
                    (low_pair, 0, [4, 2], 0),
                    (high_pair, 4, [4, 2], 0),
                ],
                [1, 3, 0, 4],
            ),
            (_, true) => (
                &[
                    (low, 4, [0, 1], 0),
                    (high, 0, [0, 1], 0),
                    (low, 1, [2, 3], 0),
                    (high, 2, [2, 3], 0),
                    (low_pair, 3, [4, 1], 0),
                    (high_pair, 4, [4, 1], 0),
                    (low_pair, 1, [0, 2], 0),
                    (high_pair, 0, [0, 2], 0),
                    (halves, 2, [3, 4], 0x20),
                    (halves, 3, [3, 4], 0x31),
                    (halves, 4, [1, 0], 0x20),
                    (halves, 1, [1, 0], 0x31),
                ],
                [2, 4, 3, 1],
            ),
        };
        self.sequence(|asm| {
            let of = |index: usize| halved(registers[index]).ok_or(AsmError::NoCounterpart(halves));
            for &(code, to, [a, b], immediate) in steps {
                let (to, a, b) = (of(to)?, of(a)?, of(b)?);
                asm.append(match immediate {
                    0 => Instruction::with3(code, to, a, b)?,
                    _ => Instruction::with4(code, to, a, b, immediate)?,
                });
            }
            if (count, back) == (2, false) {
                // Pairs of lanes are in the order 0, 2, 1, 3.
                for register in [of(4)?, of(0)?] {
                    asm.append(Instruction::with3(K::VEX_Vpermpd_ymm_ymmm256_imm8, register, register, 0xd8u32)?);
                }
            }
            Ok(())
        });
        places.map(|place| registers[place])
    }
}
