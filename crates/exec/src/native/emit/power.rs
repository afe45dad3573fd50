//! 2^x of f32 lanes, rounded once: computed in f64, then rounded to f32. `powers_of_two` in tests/native/quotients.rs compares all
//! whose rounding is their own with what is rounded once.

use super::super::asm::{Decorators, at};
use super::{A, B, C, D, E, Emitter, FRAME, Source, ymm};
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::Width;

impl Emitter<'_> {
    /// The first half of 2^x, of which [`end_power`](Emitter::end_power) is the other: so the processor has the steps of several
    /// vectors to choose from, each of which waits for the one before. What is between is in the frame, three vectors from the place
    /// returned on: 2^(k + j/8) of the lower lanes and of the upper ones, by a table, and x - (k + j/8). Uses A to E.
    pub(super) fn begin_power(&mut self, x: Register) -> i64 {
        let exact = Decorators::default();
        self.clamp_power(x);
        let lanes = self.machine().lanes();
        let constant = |emit: &mut Self, number: &dyn Fn(usize) -> u32| {
            let bytes = (0..lanes).flat_map(|lane| number(lane).to_le_bytes()).collect();
            Source::Frame(emit.frame.constant(bytes))
        };
        // The bits of 2^(j/8), less what j adds to them where 8 k + j is shifted to the exponent.
        let entry = |lane: usize| EIGHTHS[lane % 8] - ((lane as u64 % 8) << 49);
        let [low, high] = [0, 32].map(|half| constant(self, &|lane| (entry(lane) >> half) as u32));
        // Pairs of lanes so that what is unpacked is in order: the lower half's first in each 128 bits.
        let pairs = lanes / 4;
        let order = constant(self, &|lane| (lane / 4 * 2 + lane % 2 + lane / 2 % 2 * 2 * pairs) as u32);
        // The nearest eighth, by its number in the low bits of A.
        let eighth = self.broadcast_constant(EIGHTH.to_bits().into(), Width::B32);
        self.op3(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, A, B, eighth, exact);
        self.op3(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, E, A, eighth, exact);
        self.op3(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, B, B, Source::Register(E), exact);
        let order = self.load(order, Width::B32, E);
        let permute = Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32;
        self.op3(permute, A, order, Source::Register(A), exact);
        self.op3(permute, C, A, low, exact);
        self.op3(permute, D, A, high, exact);
        self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, A, A, 17);
        self.op3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, D, D, Source::Register(A), exact);
        self.op3(Code::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32, A, C, Source::Register(D), exact);
        self.op3(Code::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32, C, C, Source::Register(D), exact);
        let begun = self.frame.reserve(3 * self.vector_bytes() as usize, 64);
        for (vector, from) in (0..).zip([A, C, B]) {
            self.asm.mr(Code::EVEX_Vmovdqa32_zmmm512_k1z_zmm, at(FRAME, begun + vector * self.vector_bytes()), from);
        }
        begun
    }

    /// The other half: 2^(k + j/8) times 2^r for what is left, by a polynomial of few terms. Uses A to E.
    pub(super) fn end_power(&mut self, to: Register, begun: i64) {
        let exact = Decorators::default();
        let bytes = self.vector_bytes();
        // Both halves step by step: each step of one waits for the one before.
        let halves = [(C, D), (E, B)];
        for (half, (_, x)) in (0..).zip(halves) {
            let rest = at(FRAME, begun + 2 * bytes + half * bytes / 2);
            self.asm.rm(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, x, rest);
        }
        let [first, terms @ ..] = NEAR_ZERO.map(|term| self.broadcast_constant(term, Width::B64));
        for (sum, _) in halves {
            self.load(first, Width::B64, sum);
        }
        let fused = Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
        for term in terms {
            halves.into_iter().for_each(|(sum, x)| self.op3(fused, sum, x, term, exact));
        }
        for (sum, x) in halves {
            self.op3(Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er, sum, sum, Source::Register(x), exact);
        }
        for (half, (sum, _)) in (0..).zip(halves) {
            let power = self.load(Source::Frame(begun + half * bytes), Width::B64, A);
            self.op3(fused, sum, power, Source::Register(power), exact);
        }
        for (half, sum) in [(D, C), (C, E)] {
            self.asm.rr(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, ymm(half), sum);
        }
        self.join_power(to);
    }
    /// B becomes x, or, where 2^x of f32 is 0 or infinite, a number of which that is true too. Uses E.
    fn clamp_power(&mut self, x: Register) {
        // Beyond 160 in magnitude f32 has no finite result but 0. The second operand is the result for a NaN.
        for (code, bound, from) in [
            (Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, 160f32, x),
            (Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, -160f32, B),
        ] {
            let bound = self.broadcast_constant(bound.to_bits().into(), Width::B32);
            let bound = self.load(bound, Width::B32, E);
            self.op3(code, B, bound, Source::Register(from), Decorators::default());
        }
    }
    /// `to` becomes the lower lanes in D and the upper ones in C.
    fn join_power(&mut self, to: Register) {
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.asm.push(Instruction::with4(insert, to, D, ymm(C), 1));
    }

    /// 2^x without a table, in one. Uses A to E and K2.
    pub(super) fn power_by_polynomial(&mut self, to: Register, x: Register) {
        let exact = Decorators::default();
        self.clamp_power(x);
        let [hard, same] = HARD_POWER.map(|bits| self.broadcast_constant(bits.into(), Width::B32));
        self.op3_immediate(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, Register::K2, B, hard, 0);
        self.op3(Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, B, B, same, Decorators::masked(Register::K2));
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.asm.push(Instruction::with3(extract, ymm(C), B, 1));
        for (half, wide) in [(C, C), (B, D)] {
            self.asm.rr(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, wide, ymm(half));
            // The nearest whole number, in the low bits of A.
            let shifter = self.broadcast_constant(WHOLE, Width::B64);
            let shifter = self.load(shifter, Width::B64, E);
            self.op3(Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, A, wide, Source::Register(shifter), exact);
            self.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, E, A, Source::Register(shifter), exact);
            self.op3(Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, wide, wide, Source::Register(E), exact);
            let [first, terms @ ..] = POWER.map(|term| self.broadcast_constant(term, Width::B64));
            self.load(first, Width::B64, E);
            for term in terms {
                self.op3(Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er, E, wide, term, exact);
            }
            self.shift(Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, A, A, 52);
            self.op3(Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64, E, E, Source::Register(A), exact);
            self.asm.rr(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, ymm(wide), E);
        }
        self.join_power(to);
    }
}

/// 1.5 2^20: a number is rounded to eighths where this is added.
const EIGHTH: f32 = 1_572_864.0;
/// 2^(j/8).
const EIGHTHS: [u64; 8] = [
    0x3ff0_0000_0000_0000,
    0x3ff1_72b8_3c7d_517b,
    0x3ff3_06fe_0a31_b715,
    0x3ff4_bfda_d536_2a27,
    0x3ff6_a09e_667f_3bcd,
    0x3ff8_ace5_422a_a0db,
    0x3ffa_e89f_995a_d3ad,
    0x3ffd_5818_dcfb_a487,
];
/// (2^r - 1) / r for r between -1/16 and 1/16 as a polynomial, the highest power first: near the least maximum of the error of 2^r, which is
/// 2^-49.9, and so that no power is rounded otherwise.
const NEAR_ZERO: [u64; 6] = [
    0x3f24_317c_9065_c71d,
    0x3f55_d8f1_1588_6e03,
    0x3f83_b2ab_6cb1_8627,
    0x3fac_6b08_d53a_802c,
    0x3fce_bfbd_ff82_d4a6,
    0x3fe6_2e42_fefa_3be4,
];
/// 1.5 2^52: a number is rounded to a whole one where this is added.
const WHOLE: u64 = 0x4338_0000_0000_0000;
/// 2^r for r between -1/2 and 1/2 as a polynomial, the highest power first: the least maximum of the relative error, 2^-51.5.
const POWER: [u64; 11] = [
    0x3e3e_8b75_dd34_6fa9,
    0x3e7b_689b_4498_2a70,
    0x3eb6_2be6_8666_c20e,
    0x3eef_fcb3_f1b8_be9b,
    0x3f24_3091_387c_624d,
    0x3f55_d87f_ea4a_72dd,
    0x3f83_b2ab_6fb8_2092,
    0x3fac_6b08_d703_955b,
    0x3fce_bfbd_ff82_c61f,
    0x3fe6_2e42_fefa_3a28,
    0x3ff0_0000_0000_0000,
];
/// The one operand, -0.0297, whose power f64 does not tell from the middle between two numbers, though it is 2^-57 above; and
/// the next one, of which the result is the same.
const HARD_POWER: [u32; 2] = [0xbcf3_a937, 0xbcf3_a936];
