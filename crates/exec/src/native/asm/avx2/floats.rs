//! What floats need more than one instruction for: extrema, NaNs, conversions that saturate.

use super::{T, U, halved};
use crate::native::asm::{Asm, AsmError};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Asm {
    /// The greater or the less of f32 lanes, -0 below +0; where one is a NaN, the other one. `free` is used where `to` is an operand.
    pub(in crate::native) fn extremum(&mut self, to: Register, from: [Register; 2], free: Register, max: bool) {
        use Code as K;
        self.sequence(|asm| {
            let vector = |register| halved(register).ok_or(AsmError::NoCounterpart(K::VEX_Vmaxps_ymm_ymm_ymmm256));
            let (to, x, y, free) = (vector(to)?, vector(from[0])?, vector(from[1])?, vector(free)?);
            asm.take_t();
            let nans = |to, of| Instruction::with4(K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, to, of, of, 3u32);
            let extremum = if max { K::VEX_Vmaxps_ymm_ymm_ymmm256 } else { K::VEX_Vminps_ymm_ymm_ymmm256 };
            // Each way round: of two zeros, or beside a NaN, the second is the result. The bits of both give the zero that is right,
            // once a NaN has those that leave the other result as it is.
            let both = if max {
                asm.append(nans(T, y)?);
                asm.append(Instruction::with3(extremum, U, x, y)?);
                asm.append(Instruction::with3(K::VEX_Vorps_ymm_ymm_ymmm256, U, U, T)?);
                asm.append(nans(T, x)?);
                asm.append(Instruction::with3(extremum, to, y, x)?);
                asm.append(Instruction::with3(K::VEX_Vorps_ymm_ymm_ymmm256, to, to, T)?);
                K::VEX_Vandps_ymm_ymm_ymmm256
            } else {
                // Of two NaNs `y` stays.
                let free = if to == x || to == y { free } else { to };
                asm.append(nans(U, y)?);
                asm.append(nans(T, x)?);
                asm.append(Instruction::with3(K::VEX_Vandnps_ymm_ymm_ymmm256, U, T, U)?);
                asm.append(Instruction::with3(extremum, free, x, y)?);
                asm.append(Instruction::with3(K::VEX_Vandnps_ymm_ymm_ymmm256, U, U, free)?);
                asm.append(Instruction::with3(extremum, to, y, x)?);
                asm.append(Instruction::with3(K::VEX_Vandnps_ymm_ymm_ymmm256, to, T, to)?);
                K::VEX_Vorps_ymm_ymm_ymmm256
            };
            asm.append(Instruction::with3(both, to, to, U)?);
            Ok(())
        });
    }

    /// f32 lanes with all NaNs replaced.
    pub(in crate::native) fn replace_nans(&mut self, to: Register, from: Register, by: MemoryOperand) {
        let code = Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
        self.sequence(|asm| {
            if let Some(neon) = &mut asm.neon {
                return neon.replace_nans(to, from, &by);
            }
            let none = || AsmError::NoCounterpart(code);
            let (to, from) = (halved(to).ok_or_else(none)?, halved(from).ok_or_else(none)?);
            asm.take_t();
            asm.append(Instruction::with4(code, T, from, from, 3u32)?);
            asm.append(Instruction::with4(Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, to, from, by, T)?);
            Ok(())
        });
    }

    /// T gets the lanes of 64 bits or of 32 in which one of two vectors has a NaN, beside those that it has unless this is the first pair.
    pub(in crate::native) fn collect_nans(&mut self, x: Register, y: Register, wide: bool, is_first: bool) {
        use Code as K;
        let compare = if wide { K::VEX_Vcmppd_ymm_ymm_ymmm256_imm8 } else { K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8 };
        self.sequence(|asm| {
            let none = || AsmError::NoCounterpart(compare);
            let (x, y) = (halved(x).ok_or_else(none)?, halved(y).ok_or_else(none)?);
            if is_first {
                asm.take_t();
            }
            let to = if is_first { T } else { U };
            asm.append(Instruction::with4(compare, to, x, y, 3u32)?);
            if !is_first {
                asm.append(Instruction::with3(K::VEX_Vorps_ymm_ymm_ymmm256, T, T, U)?);
            }
            Ok(())
        });
    }
    /// Clears the flag for zero if [`collect_nans`](Asm::collect_nans) found one.
    pub(in crate::native) fn test_nans(&mut self) {
        self.sequence(|asm| {
            asm.append(Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, T, T)?);
            Ok(())
        });
    }

    /// Signed integers from f32 as a GPU has them: what was out of range became the least one, but is the greatest from `limit`
    /// on, and zero of a NaN.
    pub(in crate::native) fn saturate_integers(&mut self, integers: Register, from: Register, limit: MemoryOperand) {
        use Code as K;
        self.sequence(|asm| {
            // A64 converts so itself.
            if asm.neon.is_some() {
                return Ok(());
            }
            let none = || AsmError::NoCounterpart(K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8);
            let (to, from) = (halved(integers).ok_or_else(none)?, halved(from).ok_or_else(none)?);
            asm.take_t();
            asm.append(Instruction::with4(K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, T, from, limit, 0x1du32)?);
            asm.append(Instruction::with3(K::VEX_Vpxor_ymm_ymm_ymmm256, to, to, T)?);
            asm.append(Instruction::with4(K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, T, from, from, 7u32)?);
            asm.append(Instruction::with3(K::VEX_Vpand_ymm_ymm_ymmm256, to, to, T)?);
            Ok(())
        });
    }
}
