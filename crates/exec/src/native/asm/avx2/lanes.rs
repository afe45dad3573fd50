//! Lanes one by one, without a way through memory: AVX2 has no scatters.

use super::{T, U, halved, lower};
use crate::native::asm::{Asm, AsmError};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Asm {
    /// Two lanes of 32 bits of a vector in a general register, by the number of the pair: all pairs in order. Uses U.
    pub(in crate::native) fn lane_pair(&mut self, to: Register, from: Register, pair: usize) {
        use Code as K;
        self.sequence(|asm| {
            let from = halved(from).ok_or(AsmError::NoCounterpart(K::VEX_Vpextrq_rm64_xmm_imm8))?;
            if pair == 2 {
                asm.append(Instruction::with3(K::VEX_Vextracti128_xmmm128_ymm_imm8, lower(U), from, 1u32)?);
            }
            let half = if pair < 2 { lower(from) } else { lower(U) };
            asm.append(match pair % 2 {
                0 => Instruction::with2(K::VEX_Vmovq_rm64_xmm, to, half)?,
                _ => Instruction::with3(K::VEX_Vpextrq_rm64_xmm_imm8, to, half, 1u32)?,
            });
            Ok(())
        });
    }
    /// Prepares [`store_lane`](Asm::store_lane): T becomes the upper half.
    pub(in crate::native) fn split_for_stores(&mut self, from: Register) {
        let code = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
        self.sequence(|asm| {
            let from = halved(from).ok_or(AsmError::NoCounterpart(code))?;
            asm.take_t();
            asm.append(Instruction::with3(code, lower(T), from, 1u32)?);
            Ok(())
        });
    }
    /// Stores a lane of 32 or 64 bits of a vector, of which T has the upper half.
    pub(in crate::native) fn store_lane(&mut self, to: MemoryOperand, from: Register, lane: usize, wide: bool) {
        use Code as K;
        self.sequence(|asm| {
            let from = halved(from).ok_or(AsmError::NoCounterpart(K::VEX_Vpextrd_rm32_xmm_imm8))?;
            let lanes = if wide { 2 } else { 4 };
            let half = if lane < lanes { lower(from) } else { lower(T) };
            let (first, other) = match wide {
                true => (K::VEX_Vmovq_xmmm64_xmm, K::VEX_Vpextrq_rm64_xmm_imm8),
                false => (K::VEX_Vmovd_rm32_xmm, K::VEX_Vpextrd_rm32_xmm_imm8),
            };
            asm.append(match lane % lanes {
                0 => Instruction::with2(first, to, half)?,
                lane => Instruction::with3(other, to, half, lane as u32)?,
            });
            Ok(())
        });
    }
}
