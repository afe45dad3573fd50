//! Vector instructions, and the sequences for those that A64 takes several for.

use super::forms::*;
use super::plain::{Fused, Plain, fused, plain};
use super::{AsmError, Lanes, Neon, STORE_HALF, T, U, W, X16, X17, general_number, lanes_of, memory_of};
use crate::native::asm::direction_of;
use iced_x86::{Code, Instruction, OpKind};
use roundonce_arith::Rounding;

/// The direction of an immediate operand.
fn direction_in(i: &Instruction) -> Rounding {
    match i.immediate8() & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Down,
        2 => Rounding::Up,
        _ => Rounding::TowardZero,
    }
}
/// One of the forms of each direction: to nearest, down, up, toward zero.
fn directed(direction: Rounding, forms: [u32; 4]) -> u32 {
    forms[super::direction_number(direction) as usize]
}

impl Neon {
    pub(super) fn vector_instruction(&mut self, i: &Instruction) -> Result<(), AsmError> {
        use Code as K;
        let code = i.code();
        if let Some(plain) = plain(code) {
            return self.plain(i, plain);
        }
        if let Some(fused) = fused(code) {
            return self.fused(i, fused);
        }
        let none = AsmError::NoCounterpart(code);
        match code {
            K::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae => self.float_mask(i, false),
            K::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae => self.float_mask(i, true),
            K::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8 => self.integer_mask(i, i.immediate8(), true, false),
            K::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8 => self.integer_mask(i, i.immediate8(), false, false),
            K::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8 => self.integer_mask(i, i.immediate8(), true, true),
            K::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8 => self.integer_mask(i, i.immediate8(), false, true),
            K::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32 => self.integer_mask(i, 0, true, false),
            K::EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64 => self.integer_mask(i, 0, true, true),
            K::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32 => self.test_mask(i, false, true),
            K::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32 => self.test_mask(i, false, false),
            K::EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64 => self.test_mask(i, true, false),
            K::EVEX_Vpmovd2m_kr_zmm => {
                let (from, to) = (self.vector_of(i, 1)?, self.new_mask(i.op0_register())?);
                self.right(SSHR_4S, 32, to, from, 31);
                Ok(())
            }
            K::VEX_Kandw_kr_kr_kr | K::VEX_Korw_kr_kr_kr | K::VEX_Kandnw_kr_kr_kr => {
                let (a, b) = (self.mask(i.op1_register())?, self.mask(i.op2_register())?);
                let to = self.new_mask(i.op0_register())?;
                match code {
                    K::VEX_Kandw_kr_kr_kr => self.op3(AND_16B, to, a, b),
                    K::VEX_Korw_kr_kr_kr => self.op3(ORR_16B, to, a, b),
                    _ => self.op3(BIC_16B, to, b, a),
                }
                Ok(())
            }
            K::VEX_Knotw_kr_kr => {
                let from = self.mask(i.op1_register())?;
                let to = self.new_mask(i.op0_register())?;
                self.op2(NOT_16B, to, from);
                Ok(())
            }
            // All lanes.
            K::VEX_Kxnorw_kr_kr_kr => {
                let to = self.new_mask(i.op0_register())?;
                self.op3(CMEQ_4S, to, to, to);
                self.full = Some(to);
                Ok(())
            }
            // A number that is all ones or zero.
            K::VEX_Kmovw_kr_r32 => {
                let from = general_number(i.op1_register()).ok_or(none)?;
                let to = self.new_mask(i.op0_register())?;
                self.op2(DUP_4S, to, from);
                Ok(())
            }
            K::VEX_Kmovw_r32_kr => self.bits_of_mask(i.op1_register(), i.op0_register(), false),
            K::VEX_Kortestw_kr_kr => {
                let mask = self.mask(i.op0_register())?;
                self.op2(UMAXV_4S, U, mask);
                self.op2(FMOV_WS, X16, U);
                self.compare_with_zero(X16);
                Ok(())
            }
            K::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32 | K::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64 => {
                let (to, a, b) = (self.vector_of(i, 0)?, self.vector_of(i, 1)?, self.operand(i, 2, U, Lanes::Words)?);
                let mask = self.mask(i.op_mask())?;
                if to == b {
                    self.op3(BIF_16B, to, a, mask);
                } else {
                    self.copy(to, a);
                    self.op3(BIT_16B, to, b, mask);
                }
                Ok(())
            }
            K::EVEX_Vpbroadcastd_zmm_k1z_r32 | K::EVEX_Vpbroadcastq_zmm_k1z_r64 => {
                let from = general_number(i.op1_register()).ok_or(none)?;
                let form = if code == K::EVEX_Vpbroadcastd_zmm_k1z_r32 { DUP_4S } else { DUP_2D };
                let to = self.unmasked(i)?;
                self.op2(form, to, from);
                Ok(())
            }
            K::EVEX_Vbroadcastss_zmm_k1z_xmmm32 | K::EVEX_Vbroadcastsd_zmm_k1z_xmmm64
                if i.op_kind(1) == OpKind::Memory =>
            {
                let (to, mask) = (self.vector_of(i, 0)?, self.mask_of(i)?);
                let from = self.exact(&memory_of(i))?;
                let form = if code == K::EVEX_Vbroadcastss_zmm_k1z_xmmm32 { LD1R_4S } else { LD1R_2D };
                let result = if mask.is_some() { U } else { to };
                self.op2(form, result, from);
                self.merge(to, result, mask);
                Ok(())
            }
            K::EVEX_Vpgatherdd_zmm_k1_vm32z => self.gather(i, [false, false]),
            K::EVEX_Vpgatherdq_zmm_k1_vm32y => self.gather(i, [false, true]),
            K::EVEX_Vpgatherqq_zmm_k1_vm64z => self.gather(i, [true, true]),
            K::EVEX_Vpgatherqd_ymm_k1_vm64z => self.gather(i, [true, false]),
            K::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => self.shift_left(i, SHL_4S, 32),
            K::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 => self.shift_left(i, SHL_2D, 64),
            K::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 => self.shift_right(i, USHR_4S, 32),
            K::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 => self.shift_right(i, USHR_2D, 64),
            K::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 => self.shift_right(i, SSHR_4S, 32),
            K::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8 => self.shift_right(i, SSHR_2D, 64),
            K::EVEX_Vprord_zmm_k1z_zmmm512b32_imm8 => self.rotate(i, [USHR_4S, SLI_4S], 32),
            K::EVEX_Vprorq_zmm_k1z_zmmm512b64_imm8 => self.rotate(i, [USHR_2D, SLI_2D], 64),
            K::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 => self.shift_each(i, USHL_4S, None, 32),
            K::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 => self.shift_each(i, USHL_4S, Some(NEG_4S), 32),
            K::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 => self.shift_each(i, SSHL_4S, Some(NEG_4S), 32),
            K::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64 => self.shift_each(i, USHL_2D, None, 64),
            K::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64 => self.shift_each(i, USHL_2D, Some(NEG_2D), 64),
            K::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64 => self.shift_each(i, SSHL_2D, Some(NEG_2D), 64),
            K::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64 => self.multiply_halves(i, SMULL_2D),
            K::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 => self.multiply_halves(i, UMULL_2D),
            K::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64 => self.multiply_wide(i),
            K::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64 => self.extremum(i, CMGT_2D, true, true),
            K::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64 => self.extremum(i, CMGT_2D, false, true),
            K::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64 => self.extremum(i, CMHI_2D, true, true),
            K::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64 => self.extremum(i, CMHI_2D, false, true),
            // The second operand where one is a NaN or both are zeros.
            K::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae => self.extremum(i, FCMGT_4S, true, false),
            K::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae => self.extremum(i, FCMGT_4S, false, false),
            K::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae => self.extremum(i, FCMGT_2D, true, true),
            K::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae => self.extremum(i, FCMGT_2D, false, true),
            // Only to a whole number, without the inexact exception.
            K::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae if i.immediate8() & 0xfc == 8 => {
                let (to, from) = (self.unmasked(i)?, self.operand(i, 1, T, Lanes::Words)?);
                self.op2(directed(direction_in(i), [FRINTN_4S, FRINTM_4S, FRINTP_4S, FRINTZ_4S]), to, from);
                Ok(())
            }
            K::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae if i.immediate8() & 0xfc == 8 => {
                let (to, from) = (self.unmasked(i)?, self.operand(i, 1, T, Lanes::Doubles)?);
                self.op2(directed(direction_in(i), [FRINTN_2D, FRINTM_2D, FRINTP_2D, FRINTZ_2D]), to, from);
                Ok(())
            }
            // In the direction that it says, not the environment's.
            K::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae if i.immediate8() & 4 == 0 => {
                let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
                self.turn(direction_in(i));
                self.op2(FCVTN_4H, to, from);
                Ok(())
            }
            // What is too small becomes the least number, as there. What is too large, or a NaN, is the largest number or zero
            // here and the least there: the emitter replaces it.
            // As a GPU has it: see `saturate_integers`.
            K::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er => {
                let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
                self.op2(directed(direction_of(i), [FCVTNS_4S, FCVTMS_4S, FCVTPS_4S, FCVTZS_4S]), to, from);
                Ok(())
            }
            // What is too large becomes the largest number, as there. Nothing is negative or a NaN, which become zero here.
            K::EVEX_Vcvtps2udq_zmm_k1z_zmmm512b32_er => {
                let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
                self.op2(directed(direction_of(i), [FCVTNU_4S, FCVTMU_4S, FCVTPU_4S, FCVTZU_4S]), to, from);
                Ok(())
            }
            K::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae => self.double_to_signed(i),
            K::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er => {
                let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
                self.op2(SXTL_2D, to, from);
                self.op2(SCVTF_2D, to, to);
                Ok(())
            }
            K::EVEX_Vpmovzxbd_zmm_k1z_xmmm128 => self.widen_bytes(i, UXTL_8H, UXTL_4S),
            K::EVEX_Vpmovsxbd_zmm_k1z_xmmm128 => self.widen_bytes(i, SXTL_8H, SXTL_4S),
            K::EVEX_Vpmovdw_ymmm256_k1z_zmm => self.narrow(i, false),
            K::EVEX_Vpmovdb_xmmm128_k1z_zmm => self.narrow(i, true),
            K::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 => self.permute(i),
            K::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8 if i.immediate8() == 1 => {
                let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
                self.op2(UPPER, to, from);
                Ok(())
            }
            K::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8 if i.immediate8() == 1 => {
                let (to, low, high) = (self.unmasked(i)?, self.vector_of(i, 1)?, self.vector_of(i, 2)?);
                self.op3(ZIP1_2D, to, low, high);
                Ok(())
            }
            K::EVEX_Vmovaps_zmmm512_k1z_zmm
            | K::EVEX_Vmovapd_zmmm512_k1z_zmm
            | K::EVEX_Vmovdqa32_zmmm512_k1z_zmm
            | K::EVEX_Vmovups_zmmm512_k1z_zmm
            | K::EVEX_Vmovupd_zmmm512_k1z_zmm => {
                let wide = matches!(code, K::EVEX_Vmovapd_zmmm512_k1z_zmm | K::EVEX_Vmovupd_zmmm512_k1z_zmm);
                self.store_masked(i, wide)
            }
            K::EVEX_Vmovups_ymmm256_k1z_ymm if self.mask_of(i)?.is_none() => {
                let from = self.vector_of(i, 1)?;
                self.access(STORE_HALF, from, &memory_of(i))
            }
            K::EVEX_Vmovd_rm32_xmm | K::EVEX_Vmovq_rm64_xmm if i.op_kind(0) == OpKind::Register => {
                let to = general_number(i.op0_register()).ok_or(none)?;
                let from = self.vector_of(i, 1)?;
                self.op2(if code == K::EVEX_Vmovq_rm64_xmm { FMOV_XD } else { FMOV_WS }, to, from);
                Ok(())
            }
            _ => Err(none),
        }
    }

    /// The result of an instruction that has no mask.
    pub(super) fn unmasked(&self, i: &Instruction) -> Result<u32, AsmError> {
        match self.mask_of(i)? {
            None => self.vector_of(i, 0),
            Some(_) => Err(AsmError::NoCounterpart(i.code())),
        }
    }
    fn plain(&mut self, i: &Instruction, plain: Plain) -> Result<(), AsmError> {
        let Plain { form, two, rounds, wide } = plain;
        if rounds {
            self.turn(direction_of(i));
        }
        let (to, mask) = (self.vector_of(i, 0)?, self.mask_of(i)?);
        let lanes = match form {
            UXTL_4S | SXTL_4S | FCVTL_4S => Lanes::Halves,
            // Nothing loads half a vector of words.
            UXTL_2D | SXTL_2D | FCVTL_2D if i.op_kind(1) == OpKind::Memory => {
                return Err(AsmError::NoCounterpart(i.code()));
            }
            _ => lanes_of(wide),
        };
        if form == ORR_16B && !two && mask.is_none() && i.op_kind(1) == OpKind::Memory {
            return self.load(to, &memory_of(i), lanes);
        }
        let last = self.operand(i, if two { 2 } else { 1 }, T, lanes)?;
        if form == ORR_16B && !two {
            self.merge(to, last, mask);
            return Ok(());
        }
        let result = if mask.is_some() { U } else { to };
        match two {
            true => {
                let first = self.vector_of(i, 1)?;
                self.op3(form, result, first, last);
            }
            false => self.op2(form, result, last),
        }
        self.merge(to, result, mask);
        Ok(())
    }
    /// A fused multiply-add. A64's adds to the result: the addend is there first, or in a scratch register.
    fn fused(&mut self, i: &Instruction, fused: Fused) -> Result<(), AsmError> {
        let Fused { places, negates_product, negates_addend, wide } = fused;
        self.turn(direction_of(i));
        let (to, mask) = (self.vector_of(i, 0)?, self.mask_of(i)?);
        let last = self.operand(i, 2, T, lanes_of(wide))?;
        let all = [to, self.vector_of(i, 1)?, last];
        let [x, y, addend] = places.map(|place| all[place as usize]);
        let form = match (negates_product, wide) {
            (false, false) => FMLA_4S,
            (false, true) => FMLA_2D,
            (true, false) => FMLS_4S,
            (true, true) => FMLS_2D,
        };
        let sum = if mask.is_some() || to == x || to == y { U } else { to };
        if negates_addend {
            self.op2(if wide { FNEG_2D } else { FNEG_4S }, sum, addend);
        } else {
            self.copy(sum, addend);
        }
        self.op3(form, sum, x, y);
        self.merge(to, sum, mask);
        Ok(())
    }

    /// The lesser or the greater; where neither is, the second operand.
    fn extremum(&mut self, i: &Instruction, greater: u32, least: bool, wide: bool) -> Result<(), AsmError> {
        let (to, a, b) = (self.unmasked(i)?, self.vector_of(i, 1)?, self.operand(i, 2, U, lanes_of(wide))?);
        let (x, y) = if least { (b, a) } else { (a, b) };
        self.op3(greater, T, x, y);
        self.op3(BSL_16B, T, a, b);
        self.copy(to, T);
        Ok(())
    }

    /// A shift to the right by less than the lanes' bits.
    pub(super) fn right(&mut self, form: u32, bits: u32, to: u32, from: u32, count: u32) {
        match count {
            0 => self.copy(to, from),
            _ => self.op2(form + ((bits - count) << 16), to, from),
        }
    }
    fn shift_left(&mut self, i: &Instruction, form: u32, bits: u32) -> Result<(), AsmError> {
        let (to, from) = (self.unmasked(i)?, self.operand(i, 1, T, Lanes::Words)?);
        let count = Some(u32::from(i.immediate8())).filter(|&count| count < bits);
        let count = count.ok_or(AsmError::NoCounterpart(i.code()))?;
        self.op2(form + (count << 16), to, from);
        Ok(())
    }
    fn shift_right(&mut self, i: &Instruction, form: u32, bits: u32) -> Result<(), AsmError> {
        let (to, from) = (self.unmasked(i)?, self.operand(i, 1, T, Lanes::Words)?);
        let count = Some(u32::from(i.immediate8())).filter(|&count| count < bits);
        let count = count.ok_or(AsmError::NoCounterpart(i.code()))?;
        self.right(form, bits, to, from, count);
        Ok(())
    }
    /// A rotation to the right by a constant.
    fn rotate(&mut self, i: &Instruction, [right, insert_left]: [u32; 2], bits: u32) -> Result<(), AsmError> {
        let (to, from, count) = (self.unmasked(i)?, self.vector_of(i, 1)?, u32::from(i.immediate8()) % bits);
        self.right(right, bits, T, from, count);
        if count > 0 {
            self.op2(insert_left + ((bits - count) << 16), T, from);
        }
        self.copy(to, T);
        Ok(())
    }
    /// Shifts by counts of 32 bits, zeros above, those of the width or more as by the width; A64's are to the left, or
    /// negative.
    fn shift_each(&mut self, i: &Instruction, form: u32, negate: Option<u32>, bits: u32) -> Result<(), AsmError> {
        let (to, from, count) = (self.unmasked(i)?, self.vector_of(i, 1)?, self.operand(i, 2, U, Lanes::Words)?);
        self.word(MOVI_4S | (bits & 0x1f) << 5 | (bits >> 5) << 16 | T);
        self.op3(UMIN_4S, T, T, count);
        if let Some(negate) = negate {
            self.op2(negate, T, T);
        }
        self.op3(form, to, from, T);
        Ok(())
    }
    /// Products of the lower halves of 64-bit lanes.
    fn multiply_halves(&mut self, i: &Instruction, form: u32) -> Result<(), AsmError> {
        let (to, a, b) = (self.unmasked(i)?, self.vector_of(i, 1)?, self.operand(i, 2, U, Lanes::Doubles)?);
        self.op2(XTN_2S, T, a);
        self.op2(XTN_2S, U, b);
        self.op3(form, to, T, U);
        Ok(())
    }
    /// The low 64 bits of products of 64 bits, lane by lane.
    fn multiply_wide(&mut self, i: &Instruction) -> Result<(), AsmError> {
        let (to, a, b) = (self.unmasked(i)?, self.vector_of(i, 1)?, self.operand(i, 2, U, Lanes::Doubles)?);
        for lane in [0, 1] {
            self.op2(UMOV_D + (lane << 20), X16, a);
            self.op2(UMOV_D + (lane << 20), X17, b);
            self.op3(MUL_X, X16, X16, X17);
            self.op2(INS_D + (lane << 20), T, X16);
        }
        self.copy(to, T);
        Ok(())
    }

    /// f64 to signed numbers of 32 bits toward zero; what is out of range, or a NaN, becomes the least one.
    fn double_to_signed(&mut self, i: &Instruction) -> Result<(), AsmError> {
        let (to, from) = (self.unmasked(i)?, self.vector_of(i, 1)?);
        self.op2(FCVTZS_2D, T, from);
        self.op2(XTN_2S, U, T);
        self.op2(SXTL_2D, W, U);
        self.op3(CMEQ_2D, W, W, T);
        self.op3(FCMEQ_2D, T, from, from);
        self.op3(AND_16B, W, W, T);
        self.op2(XTN_2S, W, W);
        self.word(MOVI_4S_24 | (0x80 >> 5) << 16 | T);
        self.op3(BSL_16B, W, U, T);
        self.copy(to, W);
        Ok(())
    }
}
