//! The instructions of AVX-512 that `emit` writes, rewritten for AVX2: vectors of 8 lanes in sixteen registers, masks as
//! vectors in the frame, and directions of rounding by MXCSR instead of in the instruction.
//!
//! A mask register is a vector of all ones and all zeros in the frame's header. The last one that was made is also in
//! [`T`], until that register is needed otherwise or control flow joins. MXCSR is set where an instruction rounds in
//! another direction than the one before; at labels and jumps it is as the region begins.

mod dead_masks;
mod floats;
mod lanes;
mod sequences;
mod spare;
mod table;

use super::super::frame::header;
use super::{Asm, AsmError, Direction, FRAME, at, direction_number, direction_of, low};
pub(super) use dead_masks::without_dead_masks;
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register, RoundingControl};
use roundonce_arith::Rounding;
pub(super) use spare::with_spare_registers;
use table::{counterpart, rounds};

/// Scratch registers of the rewriting: masks, and what else takes more than one instruction.
const T: Register = Register::YMM14;
const U: Register = Register::YMM15;

/// What is known at a point of the code.
#[derive(Debug)]
pub(super) struct Avx2 {
    /// The mask register that T holds as well.
    held: Option<Register>,
    /// MXCSR's.
    direction: Direction,
}

impl Avx2 {
    pub(super) fn new(home: Rounding) -> Avx2 {
        Avx2 { held: None, direction: Direction::new(home) }
    }
}

/// The register that stands for one of AVX-512, at half its length. `None` for registers that nothing is allocated to.
fn halved(register: Register) -> Option<Register> {
    let (first, half) = match register {
        _ if register.is_zmm() => (Register::ZMM0, Register::YMM0),
        _ if register.is_ymm() => (Register::YMM0, Register::XMM0),
        _ if register.is_xmm() => (Register::XMM0, Register::XMM0),
        _ => return Some(register),
    };
    match register as u32 - first as u32 {
        number @ 0..=8 => Some(half + number),
        number @ 9..=11 => Some(half + (number - 9 + spare::FIRST)),
        // The scratch registers of the emitter.
        number @ 27..=31 => Some(half + (number - 18)),
        _ => None,
    }
}

/// The first 128 bits of a register of 256.
fn lower(register: Register) -> Register {
    Register::XMM0 + (register as u32 - Register::YMM0 as u32)
}

/// The place of a mask register in the frame.
fn slot(mask: Register) -> MemoryOperand {
    at(FRAME, header::MASKS + 32 * (mask as i64 - Register::K0 as i64))
}

/// The word of MXCSR for a direction, in the frame.
const fn environment(direction: Rounding) -> i64 {
    header::ENVIRONMENTS + 4 * direction_number(direction) as i64
}

/// A source operand.
#[derive(Clone, Copy)]
enum Operand {
    Register(Register),
    Memory(MemoryOperand),
}

/// A vector register of an instruction.
fn vector_of(i: &Instruction, index: u32) -> Result<Register, AsmError> {
    let register = Some(i.op_register(index)).filter(|_| i.op_kind(index) == OpKind::Register);
    register.and_then(halved).ok_or(AsmError::NoCounterpart(i.code()))
}
/// The memory operand of an instruction.
fn memory_of(i: &Instruction) -> Result<MemoryOperand, AsmError> {
    let index = halved(i.memory_index()).filter(|_| !i.is_broadcast()).ok_or(AsmError::NoCounterpart(i.code()))?;
    let (base, scale, displacement) = (i.memory_base(), i.memory_index_scale(), i.memory_displacement64() as i64);
    Ok(MemoryOperand::with_base_index_scale_displ_size(base, index, scale, displacement, 1))
}
fn operand_of(i: &Instruction, index: u32) -> Result<Operand, AsmError> {
    match i.op_kind(index) {
        OpKind::Memory => memory_of(i).map(Operand::Memory),
        _ => vector_of(i, index).map(Operand::Register),
    }
}

/// The same operands at half the length.
fn same(mut i: Instruction, code: Code) -> Result<Instruction, AsmError> {
    if i.is_broadcast() {
        return Err(AsmError::NoCounterpart(i.code()));
    }
    for index in 0..i.op_count() {
        if i.op_kind(index) == OpKind::Register {
            let register = vector_of(&i, index)?;
            i.set_op_register(index, register);
        }
    }
    i.set_code(code);
    i.set_op_mask(Register::None);
    i.set_rounding_control(RoundingControl::None);
    i.set_suppress_all_exceptions(false);
    Ok(i)
}

impl Asm {
    /// Appends what does the same as an instruction of AVX-512.
    pub(super) fn rewrite(&mut self, i: Instruction) -> Result<(), AsmError> {
        use Code as K;
        let (code, mask) = (i.code(), i.op_mask());
        match code {
            K::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae => self.float_mask(&i, K::VEX_Vcmpps_ymm_ymm_ymmm256_imm8),
            K::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae => self.float_mask(&i, K::VEX_Vcmppd_ymm_ymm_ymmm256_imm8),
            K::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8 => self.integer_mask(&i, i.immediate8(), true, false),
            K::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8 => self.integer_mask(&i, i.immediate8(), false, false),
            K::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8 => self.integer_mask(&i, i.immediate8(), true, true),
            K::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8 => self.integer_mask(&i, i.immediate8(), false, true),
            K::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32 => self.integer_mask(&i, 0, true, false),
            K::EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64 => self.integer_mask(&i, 0, true, true),
            K::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32 => self.test_mask(&i, false, true),
            K::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32 => self.test_mask(&i, false, false),
            K::EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64 => self.test_mask(&i, true, false),
            K::EVEX_Vpmovd2m_kr_zmm => {
                let from = vector_of(&i, 1)?;
                self.take_t();
                self.append(Instruction::with3(K::VEX_Vpsrad_ymm_ymm_imm8, T, from, 31u32)?);
                self.set_mask(i.op0_register())
            }
            K::VEX_Kandw_kr_kr_kr | K::VEX_Korw_kr_kr_kr | K::VEX_Kandnw_kr_kr_kr => {
                let code = match code {
                    K::VEX_Kandw_kr_kr_kr => K::VEX_Vandps_ymm_ymm_ymmm256,
                    K::VEX_Korw_kr_kr_kr => K::VEX_Vorps_ymm_ymm_ymmm256,
                    _ => K::VEX_Vandnps_ymm_ymm_ymmm256,
                };
                self.load_mask(i.op1_register())?;
                self.take_t();
                self.append(Instruction::with3(code, T, T, slot(i.op2_register()))?);
                self.set_mask(i.op0_register())
            }
            K::VEX_Knotw_kr_kr => {
                self.load_mask(i.op1_register())?;
                self.invert_t()?;
                self.set_mask(i.op0_register())
            }
            // All lanes.
            K::VEX_Kxnorw_kr_kr_kr => {
                self.take_t();
                self.append(Instruction::with3(K::VEX_Vpcmpeqd_ymm_ymm_ymmm256, T, T, T)?);
                self.set_mask(i.op0_register())
            }
            // A number that is all ones or zero.
            K::VEX_Kmovw_kr_r32 => {
                self.take_t();
                self.append(Instruction::with2(K::VEX_Vmovd_xmm_rm32, lower(T), i.op1_register())?);
                self.append(Instruction::with2(K::VEX_Vpbroadcastd_ymm_xmmm32, T, lower(T))?);
                self.set_mask(i.op0_register())
            }
            K::VEX_Kmovw_r32_kr => {
                self.load_mask(i.op1_register())?;
                self.append(Instruction::with2(K::VEX_Vmovmskps_r32_ymm, i.op0_register(), T)?);
                Ok(())
            }
            K::VEX_Kortestw_kr_kr => {
                self.load_mask(i.op0_register())?;
                self.append(Instruction::with2(K::VEX_Vptest_ymm_ymmm256, T, T)?);
                Ok(())
            }
            K::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32 | K::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64 => {
                let (to, a, b) = (vector_of(&i, 0)?, vector_of(&i, 1)?, operand_of(&i, 2)?);
                self.blend(to, a, b, mask)
            }
            K::EVEX_Vpbroadcastd_zmm_k1z_r32 | K::EVEX_Vpbroadcastq_zmm_k1z_r64 => {
                let (to, from) = (vector_of(&i, 0)?, i.op1_register());
                let (insert, spread) = match code {
                    K::EVEX_Vpbroadcastd_zmm_k1z_r32 => (K::VEX_Vmovd_xmm_rm32, K::VEX_Vpbroadcastd_ymm_xmmm32),
                    _ => (K::VEX_Vmovq_xmm_rm64, K::VEX_Vpbroadcastq_ymm_xmmm64),
                };
                self.append(Instruction::with2(insert, lower(to), from)?);
                self.append(Instruction::with2(spread, to, lower(to))?);
                Ok(())
            }
            K::EVEX_Vpgatherdd_zmm_k1_vm32z => self.gather(&i, K::VEX_Vpgatherdd_ymm_vm32y_ymm),
            K::EVEX_Vpgatherdq_zmm_k1_vm32y => self.gather(&i, K::VEX_Vpgatherdq_ymm_vm32x_ymm),
            K::EVEX_Vpgatherqq_zmm_k1_vm64z => self.gather(&i, K::VEX_Vpgatherqq_ymm_vm64y_ymm),
            K::EVEX_Vpgatherqd_ymm_k1_vm64z => self.gather(&i, K::VEX_Vpgatherqd_xmm_vm64y_xmm),
            K::EVEX_Vprord_zmm_k1z_zmmm512b32_imm8 => self.rotate(&i, false),
            K::EVEX_Vprorq_zmm_k1z_zmmm512b64_imm8 => self.rotate(&i, true),
            K::EVEX_Vpmovdw_ymmm256_k1z_zmm if mask == Register::None => self.narrow(&i, 16),
            K::EVEX_Vpmovdb_xmmm128_k1z_zmm if mask == Register::None => self.narrow(&i, 24),
            K::EVEX_Vpmovqd_ymmm256_k1z_zmm => {
                let (to, from) = (vector_of(&i, 0)?, vector_of(&i, 1)?);
                self.append(Instruction::with3(K::VEX_Vextracti128_xmmm128_ymm_imm8, lower(U), from, 1u32)?);
                let even = Instruction::with4(K::VEX_Vshufps_xmm_xmm_xmmm128_imm8, to, lower(from), lower(U), 0x88u32)?;
                self.append(even);
                Ok(())
            }
            K::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64 => self.multiply_wide(&i),
            K::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64 => self.extremum_wide(&i, true, false),
            K::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64 => self.extremum_wide(&i, true, true),
            K::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64 => self.extremum_wide(&i, false, false),
            K::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64 => self.extremum_wide(&i, false, true),
            // Only for the sign.
            K::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8 if i.immediate8() == 63 => {
                let (to, from) = (vector_of(&i, 0)?, vector_of(&i, 1)?);
                self.take_t();
                self.append(Instruction::with3(K::VEX_Vpxor_ymm_ymm_ymmm256, T, T, T)?);
                self.append(Instruction::with3(K::VEX_Vpcmpgtq_ymm_ymm_ymmm256, to, T, from)?);
                Ok(())
            }
            K::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64 => self.shift_wide(&i),
            K::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er => {
                let (to, from) = (vector_of(&i, 0)?, vector_of(&i, 1)?);
                let direction = direction_of(&i);
                let rounded = if direction == Rounding::TowardZero { from } else { U };
                if rounded != from {
                    // Without the inexact exception.
                    let rounding = 8 | direction_number(direction);
                    self.append(Instruction::with3(K::VEX_Vroundps_ymm_ymmm256_imm8, U, from, rounding)?);
                }
                self.append(Instruction::with2(K::VEX_Vcvttps2dq_ymm_ymmm256, to, rounded)?);
                Ok(())
            }
            _ => match counterpart(code) {
                Some(plain) => self.plain(i, plain),
                None if is_general(&i) => {
                    self.append(i);
                    Ok(())
                }
                None => Err(AsmError::NoCounterpart(code)),
            },
        }
    }

    /// At a label: what is known of the code before is not known any more.
    pub(super) fn join_paths(&mut self) -> Result<(), AsmError> {
        self.take_t();
        self.go_home()
    }

    /// A mask register from bits in the frame: `bits` is the word that holds them, `lanes` has the bit of each lane.
    pub(in crate::native) fn mask_from_bits(
        &mut self,
        to: Register,
        bits: MemoryOperand,
        lanes: MemoryOperand,
        wide: bool,
    ) {
        use Code as K;
        let (spread, equal) = match wide {
            true => (K::VEX_Vpbroadcastq_ymm_xmmm64, K::VEX_Vpcmpeqq_ymm_ymm_ymmm256),
            false => (K::VEX_Vpbroadcastd_ymm_xmmm32, K::VEX_Vpcmpeqd_ymm_ymm_ymmm256),
        };
        self.sequence(|asm| {
            if let Some(neon) = &mut asm.neon {
                return neon.mask_from_bits(to, &bits, &lanes, wide);
            }
            asm.take_t();
            asm.append(Instruction::with2(spread, T, bits)?);
            asm.append(Instruction::with3(K::VEX_Vpand_ymm_ymm_ymmm256, T, T, lanes)?);
            asm.append(Instruction::with3(equal, T, T, lanes)?);
            asm.set_mask(to)
        });
    }
    /// The bits of a mask's lanes, 8 or 4, in a general register.
    pub(in crate::native) fn bits_of_mask(&mut self, mask: Register, to: Register, wide: bool) {
        let code = if wide { Code::VEX_Vmovmskpd_r32_ymm } else { Code::VEX_Vmovmskps_r32_ymm };
        self.sequence(|asm| {
            if let Some(neon) = &mut asm.neon {
                return neon.bits_of_mask(mask, to, wide);
            }
            asm.load_mask(mask)?;
            asm.append(Instruction::with2(code, to, T)?);
            Ok(())
        });
    }

    /// Elements of two vectors by their numbers among both, which are in memory. Those of `second` are the second one's; of
    /// `to` only the lanes in `changed` change.
    pub(in crate::native) fn pick(
        &mut self,
        to: Register,
        from: [Register; 2],
        numbers: MemoryOperand,
        (second, changed): (u32, u32),
    ) {
        use Code as K;
        self.sequence(|asm| {
            let vector =
                |register| halved(register).ok_or(AsmError::NoCounterpart(K::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32));
            let (to, one, other) = (vector(to)?, vector(from[0])?, vector(from[1])?);
            asm.take_t();
            asm.append(Instruction::with2(K::VEX_Vmovdqa_ymm_ymmm256, U, numbers)?);
            let blend = K::VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
            let picked = if changed == 0xff { to } else { U };
            if second & changed == 0 {
                asm.append(Instruction::with3(K::VEX_Vpermd_ymm_ymm_ymmm256, picked, U, one)?);
            } else {
                asm.append(Instruction::with3(K::VEX_Vpermd_ymm_ymm_ymmm256, T, U, one)?);
                asm.append(Instruction::with3(K::VEX_Vpermd_ymm_ymm_ymmm256, U, U, other)?);
                asm.append(Instruction::with4(blend, picked, T, U, second)?);
            }
            if changed != 0xff {
                asm.append(Instruction::with4(blend, to, to, picked, changed)?);
            }
            Ok(())
        });
    }

    /// The low 16 bits of 32-bit lanes, stored side by side in the lanes of K1; in the others what was there.
    pub(in crate::native) fn merge_halves(&mut self, to: MemoryOperand, from: Register) {
        use Code as K;
        self.sequence(|asm| {
            let from = halved(from).ok_or(AsmError::NoCounterpart(K::EVEX_Vpmovdw_ymmm256_k1z_zmm))?;
            let (low, mask) = (lower(U), lower(T));
            asm.pack(from, 16)?;
            let upper = at(FRAME, header::MASKS + 32 + 16);
            asm.append(Instruction::with2(K::VEX_Vmovaps_xmm_xmmm128, mask, slot(Register::K1))?);
            asm.append(Instruction::with3(K::VEX_Vpackssdw_xmm_xmm_xmmm128, mask, mask, upper)?);
            asm.append(Instruction::with3(K::VEX_Vpand_xmm_xmm_xmmm128, low, low, mask)?);
            asm.append(Instruction::with3(K::VEX_Vpandn_xmm_xmm_xmmm128, mask, mask, to)?);
            asm.append(Instruction::with3(K::VEX_Vpor_xmm_xmm_xmmm128, low, low, mask)?);
            asm.append(Instruction::with2(K::VEX_Vmovups_xmmm128_xmm, to, low)?);
            Ok(())
        });
    }

    /// Bytes 0 and 1 from the bits of 8 lanes. `lanes` has the bit of each, `ones` is the byte 1 for each.
    pub(in crate::native) fn bytes_from_bits(
        &mut self,
        to: MemoryOperand,
        bits: MemoryOperand,
        lanes: MemoryOperand,
        ones: MemoryOperand,
    ) {
        use Code as K;
        let t = lower(T);
        self.sequence(|asm| {
            if let Some(neon) = &mut asm.neon {
                return neon.bytes_from_bits(&to, &bits, &lanes, &ones);
            }
            asm.take_t();
            asm.append(Instruction::with2(K::VEX_Vpbroadcastb_xmm_xmmm8, t, bits)?);
            asm.append(Instruction::with3(K::VEX_Vpand_xmm_xmm_xmmm128, t, t, lanes)?);
            asm.append(Instruction::with3(K::VEX_Vpcmpeqb_xmm_xmm_xmmm128, t, t, lanes)?);
            asm.append(Instruction::with3(K::VEX_Vpand_xmm_xmm_xmmm128, t, t, ones)?);
            asm.append(Instruction::with2(K::VEX_Vmovq_xmmm64_xmm, to, t)?);
            Ok(())
        });
    }
    /// The bits of 8 lanes from bytes that are 0 or not.
    pub(in crate::native) fn bits_from_bytes(&mut self, to: Register, from: MemoryOperand) {
        use Code as K;
        let (t, to) = (lower(T), low(to));
        self.sequence(|asm| {
            if let Some(neon) = &mut asm.neon {
                return neon.bits_from_bytes(to, &from);
            }
            asm.take_t();
            asm.append(Instruction::with3(K::VEX_Vpxor_xmm_xmm_xmmm128, lower(U), lower(U), lower(U))?);
            asm.append(Instruction::with2(K::VEX_Vmovq_xmm_xmmm64, t, from)?);
            asm.append(Instruction::with3(K::VEX_Vpcmpeqb_xmm_xmm_xmmm128, t, t, lower(U))?);
            asm.append(Instruction::with2(K::VEX_Vpmovmskb_r32_xmm, to, t)?);
            asm.append(Instruction::with1(K::Not_rm32, to)?);
            Ok(())
        });
    }

    /// From now on T holds no mask.
    fn take_t(&mut self) {
        if let Some(avx2) = &mut self.avx2 {
            avx2.held = None;
        }
    }
    /// T becomes a mask register, which it may be already.
    fn load_mask(&mut self, mask: Register) -> Result<(), AsmError> {
        let Some(avx2) = &mut self.avx2 else { return Ok(()) };
        if avx2.held != Some(mask) {
            avx2.held = Some(mask);
            self.append(Instruction::with2(Code::VEX_Vmovaps_ymm_ymmm256, T, slot(mask))?);
        }
        Ok(())
    }
    /// A mask register becomes T.
    fn set_mask(&mut self, mask: Register) -> Result<(), AsmError> {
        self.append(Instruction::with2(Code::VEX_Vmovaps_ymmm256_ymm, slot(mask), T)?);
        if let Some(avx2) = &mut self.avx2 {
            avx2.held = Some(mask);
        }
        Ok(())
    }
    /// Sets MXCSR for a direction.
    fn turn(&mut self, to: Rounding) -> Result<(), AsmError> {
        let Some(avx2) = &mut self.avx2 else { return Ok(()) };
        if avx2.direction.turn(to) {
            self.append(Instruction::with1(Code::Ldmxcsr_m32, at(FRAME, environment(to)))?);
        }
        Ok(())
    }
    /// Before a jump.
    pub(super) fn go_home(&mut self) -> Result<(), AsmError> {
        if let Some(neon) = &mut self.neon {
            neon.go_home();
        }
        let home = self.avx2.as_ref().map_or(Rounding::NearestEven, |avx2| avx2.direction.home);
        self.turn(home)
    }

    fn append3(&mut self, code: Code, to: Register, a: Register, b: Operand) -> Result<(), AsmError> {
        let instruction = match b {
            Operand::Register(b) => Instruction::with3(code, to, a, b)?,
            Operand::Memory(b) => Instruction::with3(code, to, a, b)?,
        };
        self.append(instruction);
        Ok(())
    }
    /// An operand in a register: where it is, or U.
    fn in_register(&mut self, operand: Operand) -> Result<Register, AsmError> {
        match operand {
            Operand::Register(register) => Ok(register),
            Operand::Memory(memory) => {
                self.append(Instruction::with2(Code::VEX_Vmovaps_ymm_ymmm256, U, memory)?);
                Ok(U)
            }
        }
    }
    /// `to = mask ? b : a`.
    fn blend(&mut self, to: Register, a: Register, b: Operand, mask: Register) -> Result<(), AsmError> {
        self.load_mask(mask)?;
        let code = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
        self.append(match b {
            Operand::Register(b) => Instruction::with4(code, to, a, b, T)?,
            Operand::Memory(b) => Instruction::with4(code, to, a, b, T)?,
        });
        Ok(())
    }
    fn invert_t(&mut self) -> Result<(), AsmError> {
        self.take_t();
        self.append(Instruction::with3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, U, U, U)?);
        self.append(Instruction::with3(Code::VEX_Vpxor_ymm_ymm_ymmm256, T, T, U)?);
        Ok(())
    }
    /// T, in the lanes of the instruction's mask, becomes the mask register that it writes.
    fn finish_mask(&mut self, i: &Instruction) -> Result<(), AsmError> {
        if i.op_mask() != Register::None {
            self.append(Instruction::with3(Code::VEX_Vandps_ymm_ymm_ymmm256, T, T, slot(i.op_mask()))?);
        }
        self.set_mask(i.op0_register())
    }

    /// An instruction of the same operands, masked or not.
    fn plain(&mut self, i: Instruction, code: Code) -> Result<(), AsmError> {
        use Code as K;
        if rounds(code) {
            self.turn(direction_of(&i))?;
        }
        let mask = i.op_mask();
        if mask == Register::None {
            let same = same(i, code)?;
            self.append(same);
            return Ok(());
        }
        match code {
            // What other threads may write next to it is left alone.
            K::VEX_Vmovups_ymmm256_ymm | K::VEX_Vmovupd_ymmm256_ymm => {
                let (to, from) = (memory_of(&i)?, vector_of(&i, 1)?);
                self.load_mask(mask)?;
                let code = match code {
                    K::VEX_Vmovups_ymmm256_ymm => K::VEX_Vmaskmovps_m256_ymm_ymm,
                    _ => K::VEX_Vmaskmovpd_m256_ymm_ymm,
                };
                self.append(Instruction::with3(code, to, T, from)?);
            }
            // What inactive lanes would read may lie outside of the segment.
            K::VEX_Vmovups_ymm_ymmm256 | K::VEX_Vmovupd_ymm_ymmm256 if i.zeroing_masking() => {
                let (to, from) = (vector_of(&i, 0)?, memory_of(&i)?);
                self.load_mask(mask)?;
                self.append(Instruction::with3(K::VEX_Vmaskmovps_ymm_ymm_m256, to, T, from)?);
            }
            // The frame is this code's alone.
            K::VEX_Vmovaps_ymmm256_ymm | K::VEX_Vmovapd_ymmm256_ymm => {
                let (to, from) = (memory_of(&i)?, vector_of(&i, 1)?);
                let old = self.in_register(Operand::Memory(to))?;
                self.blend(U, old, Operand::Register(from), mask)?;
                self.append(Instruction::with2(K::VEX_Vmovaps_ymmm256_ymm, to, U)?);
            }
            K::VEX_Vmovaps_ymm_ymmm256 | K::VEX_Vmovapd_ymm_ymmm256 => {
                let (to, from) = (vector_of(&i, 0)?, operand_of(&i, 1)?);
                self.blend(to, to, from, mask)?;
            }
            _ => {
                let to = vector_of(&i, 0)?;
                let mut same = same(i, code)?;
                same.set_op0_register(U);
                self.append(same);
                self.blend(to, to, Operand::Register(U), mask)?;
            }
        }
        Ok(())
    }

    fn float_mask(&mut self, i: &Instruction, code: Code) -> Result<(), AsmError> {
        let (a, b, predicate) = (vector_of(i, 1)?, operand_of(i, 2)?, u32::from(i.immediate8()));
        self.take_t();
        self.append(match b {
            Operand::Register(b) => Instruction::with4(code, T, a, b, predicate)?,
            Operand::Memory(b) => Instruction::with4(code, T, a, b, predicate)?,
        });
        self.finish_mask(i)
    }
}

/// Whether an instruction has neither vectors nor masks: it is the same everywhere.
fn is_general(i: &Instruction) -> bool {
    (0..i.op_count()).all(|index| {
        let register = i.op_register(index);
        i.op_kind(index) != OpKind::Register || !(register.is_vector_register() || register.is_k())
    })
}
