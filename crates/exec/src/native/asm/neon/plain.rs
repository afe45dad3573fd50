//! The vector instructions of one A64 instruction: one row a form.

use super::forms::*;
use iced_x86::Code;

/// What an instruction becomes, unless it is masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub(super) form: u32,
    /// Whether it has two operands, or one.
    pub(super) two: bool,
    /// Whether the result depends on the direction of rounding.
    pub(super) rounds: bool,
    /// Whether lanes have 64 bits.
    pub(super) wide: bool,
}

const fn row(form: u32, two: bool, rounds: bool, wide: bool) -> Option<Plain> {
    Some(Plain { form, two, rounds, wide })
}
/// Arithmetic of two operands that rounds; of one.
const fn rounded2(form: u32, wide: bool) -> Option<Plain> {
    row(form, true, true, wide)
}
const fn rounded1(form: u32, wide: bool) -> Option<Plain> {
    row(form, false, true, wide)
}
/// What does not round, with two operands and with one.
const fn exact2(form: u32, wide: bool) -> Option<Plain> {
    row(form, true, false, wide)
}
const fn exact1(form: u32, wide: bool) -> Option<Plain> {
    row(form, false, false, wide)
}

pub(super) fn plain(code: Code) -> Option<Plain> {
    use Code as K;
    match code {
        K::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er => rounded2(FADD_4S, false),
        K::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er => rounded2(FADD_2D, true),
        K::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er => rounded2(FSUB_4S, false),
        K::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er => rounded2(FSUB_2D, true),
        K::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er => rounded2(FMUL_4S, false),
        K::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er => rounded2(FMUL_2D, true),
        K::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er => rounded2(FDIV_4S, false),
        K::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er => rounded2(FDIV_2D, true),
        K::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er => rounded1(FSQRT_4S, false),
        K::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er => rounded1(FSQRT_2D, true),
        K::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er => rounded1(SCVTF_4S, false),
        K::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er => rounded1(UCVTF_4S, false),
        K::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er => rounded1(FCVTN_2S, true),
        K::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae => exact1(FCVTL_2D, true),
        K::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae => exact1(FCVTL_4S, false),
        K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => exact2(ADD_4S, false),
        K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 => exact2(ADD_2D, true),
        K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 => exact2(SUB_4S, false),
        K::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 => exact2(SUB_2D, true),
        K::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 => exact2(MUL_4S, false),
        K::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 => exact2(AND_16B, false),
        K::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 => exact2(AND_16B, true),
        K::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 => exact2(ORR_16B, false),
        K::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64 => exact2(ORR_16B, true),
        K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 => exact2(EOR_16B, false),
        K::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 => exact2(EOR_16B, true),
        K::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 => exact2(SMIN_4S, false),
        K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 => exact2(SMAX_4S, false),
        K::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 => exact2(UMIN_4S, false),
        K::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 => exact2(UMAX_4S, false),
        K::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => exact1(UXTL_4S, false),
        K::EVEX_Vpmovsxwd_zmm_k1z_ymmm256 => exact1(SXTL_4S, false),
        K::EVEX_Vpmovzxdq_zmm_k1z_ymmm256 => exact1(UXTL_2D, true),
        K::EVEX_Vpmovsxdq_zmm_k1z_ymmm256 => exact1(SXTL_2D, true),
        K::EVEX_Vpmovqd_ymmm256_k1z_zmm => exact1(XTN_2S, true),
        K::EVEX_Vmovaps_zmm_k1z_zmmm512 => exact1(ORR_16B, false),
        K::EVEX_Vmovapd_zmm_k1z_zmmm512 => exact1(ORR_16B, true),
        K::EVEX_Vmovdqa32_zmm_k1z_zmmm512 => exact1(ORR_16B, false),
        K::EVEX_Vmovups_zmm_k1z_zmmm512 => exact1(ORR_16B, false),
        K::EVEX_Vmovupd_zmm_k1z_zmmm512 => exact1(ORR_16B, true),
        _ => None,
    }
}

/// A fused multiply-add: which operands are the factors and the addend, what is negated, and whether lanes have 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    pub(super) places: [u32; 3],
    pub(super) negates_product: bool,
    pub(super) negates_addend: bool,
    pub(super) wide: bool,
}

pub(super) fn fused(code: Code) -> Option<Fused> {
    use Code as K;
    const ONE_THREE_TWO: [u32; 3] = [0, 2, 1];
    const TWO_ONE_THREE: [u32; 3] = [1, 0, 2];
    const TWO_THREE_ONE: [u32; 3] = [1, 2, 0];
    let row =
        |places, negates_product, negates_addend, wide| Some(Fused { places, negates_product, negates_addend, wide });
    match code {
        K::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er => row(ONE_THREE_TWO, false, false, false),
        K::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er => row(ONE_THREE_TWO, false, false, true),
        K::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er => row(ONE_THREE_TWO, false, true, false),
        K::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er => row(ONE_THREE_TWO, false, true, true),
        K::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er => row(ONE_THREE_TWO, true, false, false),
        K::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er => row(ONE_THREE_TWO, true, false, true),
        K::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er => row(ONE_THREE_TWO, true, true, false),
        K::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er => row(ONE_THREE_TWO, true, true, true),
        K::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_ONE_THREE, false, false, false),
        K::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_ONE_THREE, false, false, true),
        K::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_ONE_THREE, false, true, false),
        K::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_ONE_THREE, false, true, true),
        K::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_ONE_THREE, true, false, false),
        K::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_ONE_THREE, true, false, true),
        K::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_ONE_THREE, true, true, false),
        K::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_ONE_THREE, true, true, true),
        K::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_THREE_ONE, false, false, false),
        K::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_THREE_ONE, false, false, true),
        K::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_THREE_ONE, false, true, false),
        K::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_THREE_ONE, false, true, true),
        K::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_THREE_ONE, true, false, false),
        K::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_THREE_ONE, true, false, true),
        K::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er => row(TWO_THREE_ONE, true, true, false),
        K::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er => row(TWO_THREE_ONE, true, true, true),
        _ => None,
    }
}
