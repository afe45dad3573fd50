//! The instructions of AVX-512 that AVX2 has too, at half the length.

use iced_x86::Code;

/// Whether the result depends on the direction of rounding.
pub(super) fn rounds(code: Code) -> bool {
    use Code as K;
    matches!(
        code,
        K::VEX_Vaddps_ymm_ymm_ymmm256
            | K::VEX_Vaddpd_ymm_ymm_ymmm256
            | K::VEX_Vsubps_ymm_ymm_ymmm256
            | K::VEX_Vsubpd_ymm_ymm_ymmm256
            | K::VEX_Vmulps_ymm_ymm_ymmm256
            | K::VEX_Vmulpd_ymm_ymm_ymmm256
            | K::VEX_Vdivps_ymm_ymm_ymmm256
            | K::VEX_Vdivpd_ymm_ymm_ymmm256
            | K::VEX_Vsqrtps_ymm_ymmm256
            | K::VEX_Vsqrtpd_ymm_ymmm256
            | K::VEX_Vcvtdq2ps_ymm_ymmm256
            | K::VEX_Vcvtpd2ps_xmm_ymmm256
            | K::VEX_Vfmadd132ps_ymm_ymm_ymmm256
            | K::VEX_Vfmadd132pd_ymm_ymm_ymmm256
            | K::VEX_Vfmsub132ps_ymm_ymm_ymmm256
            | K::VEX_Vfmsub132pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd132ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd132pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub132ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub132pd_ymm_ymm_ymmm256
            | K::VEX_Vfmadd213ps_ymm_ymm_ymmm256
            | K::VEX_Vfmadd213pd_ymm_ymm_ymmm256
            | K::VEX_Vfmadd231ps_ymm_ymm_ymmm256
            | K::VEX_Vfmadd231pd_ymm_ymm_ymmm256
            | K::VEX_Vfmsub213ps_ymm_ymm_ymmm256
            | K::VEX_Vfmsub213pd_ymm_ymm_ymmm256
            | K::VEX_Vfmsub231ps_ymm_ymm_ymmm256
            | K::VEX_Vfmsub231pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd213ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd213pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd231ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmadd231pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub213ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub213pd_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub231ps_ymm_ymm_ymmm256
            | K::VEX_Vfnmsub231pd_ymm_ymm_ymmm256
    )
}

/// The instruction that takes the same operands at half their length.
pub(super) fn counterpart(code: Code) -> Option<Code> {
    use Code as K;
    Some(match code {
        K::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        K::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmsub213pd_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmsub231pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmsub213pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmsub231pd_ymm_ymm_ymmm256,
        K::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpaddd_ymm_ymm_ymmm256,
        K::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpaddq_ymm_ymm_ymmm256,
        K::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpsubd_ymm_ymm_ymmm256,
        K::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpsubq_ymm_ymm_ymmm256,
        K::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpmulld_ymm_ymm_ymmm256,
        K::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpand_ymm_ymm_ymmm256,
        K::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpand_ymm_ymm_ymmm256,
        K::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpandn_ymm_ymm_ymmm256,
        K::EVEX_Vpandnq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpandn_ymm_ymm_ymmm256,
        K::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpor_ymm_ymm_ymmm256,
        K::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpor_ymm_ymm_ymmm256,
        K::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpxor_ymm_ymm_ymmm256,
        K::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpxor_ymm_ymm_ymmm256,
        K::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpminsd_ymm_ymm_ymmm256,
        K::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpmaxsd_ymm_ymm_ymmm256,
        K::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpminud_ymm_ymm_ymmm256,
        K::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpmaxud_ymm_ymm_ymmm256,
        K::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpsllvd_ymm_ymm_ymmm256,
        K::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpsrlvd_ymm_ymm_ymmm256,
        K::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpsravd_ymm_ymm_ymmm256,
        K::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpsllvq_ymm_ymm_ymmm256,
        K::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpsrlvq_ymm_ymm_ymmm256,
        K::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpmuldq_ymm_ymm_ymmm256,
        K::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 => K::VEX_Vpmuludq_ymm_ymm_ymmm256,
        K::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vaddps_ymm_ymm_ymmm256,
        K::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vaddpd_ymm_ymm_ymmm256,
        K::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vsubps_ymm_ymm_ymmm256,
        K::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vsubpd_ymm_ymm_ymmm256,
        K::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vmulps_ymm_ymm_ymmm256,
        K::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vmulpd_ymm_ymm_ymmm256,
        K::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vdivps_ymm_ymm_ymmm256,
        K::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vdivpd_ymm_ymm_ymmm256,
        K::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae => K::VEX_Vmaxps_ymm_ymm_ymmm256,
        K::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae => K::VEX_Vminps_ymm_ymm_ymmm256,
        K::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => K::VEX_Vpslld_ymm_ymm_imm8,
        K::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 => K::VEX_Vpsrld_ymm_ymm_imm8,
        K::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 => K::VEX_Vpsrad_ymm_ymm_imm8,
        K::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 => K::VEX_Vpsllq_ymm_ymm_imm8,
        K::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 => K::VEX_Vpsrlq_ymm_ymm_imm8,
        K::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er => K::VEX_Vsqrtps_ymm_ymmm256,
        K::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er => K::VEX_Vsqrtpd_ymm_ymmm256,
        K::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er => K::VEX_Vcvtdq2ps_ymm_ymmm256,
        K::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er => K::VEX_Vcvtdq2pd_ymm_xmmm128,
        K::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae => K::VEX_Vcvttpd2dq_xmm_ymmm256,
        K::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae => K::VEX_Vroundps_ymm_ymmm256_imm8,
        K::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae => K::VEX_Vroundpd_ymm_ymmm256_imm8,
        K::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae => K::VEX_Vmaxpd_ymm_ymm_ymmm256,
        K::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae => K::VEX_Vminpd_ymm_ymm_ymmm256,
        K::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae => K::VEX_Vcvtps2pd_ymm_xmmm128,
        K::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er => K::VEX_Vcvtpd2ps_xmm_ymmm256,
        K::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae => K::VEX_Vcvtph2ps_ymm_xmmm128,
        K::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae => K::VEX_Vcvtps2ph_xmmm128_ymm_imm8,
        K::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => K::VEX_Vpmovzxwd_ymm_xmmm128,
        K::EVEX_Vpmovsxwd_zmm_k1z_ymmm256 => K::VEX_Vpmovsxwd_ymm_xmmm128,
        K::EVEX_Vpmovzxbd_zmm_k1z_xmmm128 => K::VEX_Vpmovzxbd_ymm_xmmm64,
        K::EVEX_Vpmovsxbd_zmm_k1z_xmmm128 => K::VEX_Vpmovsxbd_ymm_xmmm64,
        K::EVEX_Vpmovzxdq_zmm_k1z_ymmm256 => K::VEX_Vpmovzxdq_ymm_xmmm128,
        K::EVEX_Vpmovsxdq_zmm_k1z_ymmm256 => K::VEX_Vpmovsxdq_ymm_xmmm128,
        K::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpermd_ymm_ymm_ymmm256,
        K::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpunpckldq_ymm_ymm_ymmm256,
        K::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32 => K::VEX_Vpunpckhdq_ymm_ymm_ymmm256,
        K::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8 => K::VEX_Vextracti128_xmmm128_ymm_imm8,
        K::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8 => K::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        K::EVEX_Vbroadcastss_zmm_k1z_xmmm32 => K::VEX_Vbroadcastss_ymm_m32,
        K::EVEX_Vbroadcastsd_zmm_k1z_xmmm64 => K::VEX_Vbroadcastsd_ymm_m64,
        K::EVEX_Vmovaps_zmm_k1z_zmmm512 => K::VEX_Vmovaps_ymm_ymmm256,
        K::EVEX_Vmovapd_zmm_k1z_zmmm512 => K::VEX_Vmovapd_ymm_ymmm256,
        K::EVEX_Vmovups_zmm_k1z_zmmm512 => K::VEX_Vmovups_ymm_ymmm256,
        K::EVEX_Vmovupd_zmm_k1z_zmmm512 => K::VEX_Vmovupd_ymm_ymmm256,
        K::EVEX_Vmovdqa32_zmm_k1z_zmmm512 => K::VEX_Vmovdqa_ymm_ymmm256,
        K::EVEX_Vmovaps_zmmm512_k1z_zmm => K::VEX_Vmovaps_ymmm256_ymm,
        K::EVEX_Vmovapd_zmmm512_k1z_zmm => K::VEX_Vmovapd_ymmm256_ymm,
        K::EVEX_Vmovups_zmmm512_k1z_zmm => K::VEX_Vmovups_ymmm256_ymm,
        K::EVEX_Vmovups_ymmm256_k1z_ymm => K::VEX_Vmovups_xmmm128_xmm,
        K::EVEX_Vmovupd_zmmm512_k1z_zmm => K::VEX_Vmovupd_ymmm256_ymm,
        K::EVEX_Vmovdqa32_zmmm512_k1z_zmm => K::VEX_Vmovdqa_ymmm256_ymm,
        K::EVEX_Vmovd_rm32_xmm => K::VEX_Vmovd_rm32_xmm,
        K::EVEX_Vmovq_rm64_xmm => K::VEX_Vmovq_rm64_xmm,
        K::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmadd132pd_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfmsub132ps_ymm_ymm_ymmm256,
        K::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfmsub132pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er => K::VEX_Vfnmsub132ps_ymm_ymm_ymmm256,
        K::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er => K::VEX_Vfnmsub132pd_ymm_ymm_ymmm256,
        _ => return None,
    })
}
