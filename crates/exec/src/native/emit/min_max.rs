//! Minima and maxima of floats.

use super::super::asm::Decorators;
use super::super::deferred::{FLUSH_PENDING, NAN_PENDING, RAW, SIGNALLING, operand_state};
use super::{A, B, C, D, DeoptReason, E, EmitError, EmitResult, Emitter, Source, by};
use crate::kernel::Machine;
use crate::scalar::MinMax;
use iced_x86::{Code, Instruction, Register};
use roundonce_arith::{Format, NanRule};
use roundonce_ir::{Operand, Reg, Width};

const K1: Register = Register::K1;
const K2: Register = Register::K2;
const K3: Register = Register::K3;

impl Emitter<'_> {
    pub(super) fn min_max(&mut self, d: Reg, op: MinMax, a: Operand, b: Operand) -> EmitResult {
        let MinMax { format, max, flush, nan, xorsign_abs } = op;
        let canonical = self.launch.code.profile.nan_rule(format) == NanRule::Canonical;
        if !matches!(format, Format::F16 | Format::BF16 | Format::F32 | Format::F64)
            || !(canonical || format == Format::F64)
        {
            return Err(EmitError::Unsupported);
        }
        let width = Width::holding(format.width());
        // 16 bits are compared in the upper half of a lane.
        let up = if width == Width::B16 { 16 } else { 0 };
        let lane = if width == Width::B64 { Width::B64 } else { Width::B32 };
        let pick = |narrow, wide| by(lane, narrow, wide);
        let and = pick(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
        let or = pick(Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64);
        let xor = pick(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
        let [sign, magnitude] =
            [format.sign_mask(), format.magnitude_mask()].map(|bits| self.broadcast_constant(bits << up, lane));
        // The processor compares floats where it does not take subnormals for zeros, or there are none; f16 has other NaNs.
        let compares_floats = (flush || !self.deferred.daz) && format != Format::F16;
        let has_single = match self.machine() {
            Machine::Avx512 => true,
            Machine::Avx2 => !nan,
            _ => false,
        };
        if compares_floats && format == Format::F32 && !xorsign_abs && has_single {
            return self.extremum_of_singles(d, op, [a, b]);
        }
        // `vrangeps` takes no results of this code for arithmetic's: of two NaNs it may leave a signalling one.
        let defers = self.machine() != Machine::Avx512 && self.defers_nan(d, op);
        for part in self.parts(d) {
            for (arg, to) in [(a, A), (b, B)] {
                // Any NaN will do where its sign is not looked at: the result's is another one.
                let x = match operand_state(&self.states, arg) & FLUSH_PENDING {
                    0 if !xorsign_abs => self.register(arg, width, part, to)?,
                    _ => self.canonicalised(arg, width, part, to)?,
                };
                if up > 0 {
                    self.shift(Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, to, x, up);
                } else {
                    self.copy_vector(to, x);
                }
                if flush {
                    self.flush(format, to, up);
                }
            }
            if xorsign_abs {
                self.op3(xor, C, A, Source::Register(B), Decorators::default());
                self.op3(and, C, C, sign, Decorators::default());
                self.op3(and, A, A, magnitude, Decorators::default());
                self.op3(and, B, B, magnitude, Decorators::default());
            }
            if compares_floats {
                self.extremum_of_floats(lane, max, nan);
            } else {
                let infinity = self.broadcast_constant(format.infinity() << up, lane);
                self.extremum_of_bits(lane, (magnitude, infinity), max, nan);
            }
            if xorsign_abs {
                self.op3(or, B, B, Source::Register(C), Decorators::default());
            }
            if width == Width::B64 {
                // Its payload is the interpreter's.
                if let Some(mask) = self.merge_mask(d) {
                    self.load_mask(mask, width, part, K1);
                    self.asm.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, K2, K2, K1));
                }
                self.asm.rr(Code::VEX_Kortestw_kr_kr, K2, K2);
                self.side_exit(Code::Jne_rel32_64, DeoptReason::Other, 0);
            }
            if up > 0 {
                self.shift(Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, B, B, up);
            }
            if width != Width::B64 && !defers {
                self.canonical_nan(format, B, K2);
            }
            self.write_back(d, part, B);
        }
        Ok(())
    }

    /// Whether a NaN of a result is made canonical where its bits are observed.
    fn defers_nan(&self, d: Reg, op: MinMax) -> bool {
        op.format == Format::F32 && !op.nan && !self.deferred.eager.contains(&d)
    }

    /// The same of f32 in few instructions. `vrangeps` has -0 below +0, and a quiet NaN is no number.
    fn extremum_of_singles(&mut self, d: Reg, op: MinMax, args: [Operand; 2]) -> EmitResult {
        let by_range = self.machine() == Machine::Avx512;
        for part in self.parts(d) {
            let mut from = [A, B];
            for (arg, x) in args.into_iter().zip(&mut from) {
                let scratch = *x;
                let state = operand_state(&self.states, arg);
                *x = match state & FLUSH_PENDING {
                    0 => self.register(arg, Width::B32, part, scratch)?,
                    _ => self.canonicalised(arg, Width::B32, part, scratch)?,
                };
                if op.flush {
                    self.copy_vector(scratch, *x);
                    self.flush(op.format, scratch, 0);
                    *x = scratch;
                }
                if by_range && !op.nan && state & (RAW | SIGNALLING) != 0 {
                    self.quieted(scratch, *x);
                    *x = scratch;
                }
            }
            let [x, y] = from;
            if op.nan {
                self.op3_immediate(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, K2, x, Source::Register(y), 3);
            }
            let to = self.target(d, part, D);
            if by_range {
                // The sign is the result's own.
                let extremum = 4 | u32::from(op.max);
                let range = Code::EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
                self.op3_immediate(range, to, x, Source::Register(y), extremum);
            } else {
                self.asm.extremum(to, [x, y], D, op.max);
            }
            if op.nan {
                self.canonical_nan(op.format, to, K2);
            } else if !self.defers_nan(d, op) {
                self.canonicalise(to, NAN_PENDING);
            }
            self.write_back(d, part, to);
        }
        Ok(())
    }
    /// `to` becomes an f32 with its NaNs quiet. Where subnormals are taken for zeros there may be none.
    fn quieted(&mut self, to: Register, x: Register) {
        // Four bits for each class of numbers: itself, or of signalling NaNs the quiet one.
        let table = self.broadcast_constant(0x1111_1121, Width::B32);
        self.op3_immediate(Code::EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae, to, x, table, 0);
    }

    /// B becomes the extremum of A and B, K2 the lanes in which the result is NaN: those with any NaN if `nan`, or with two. By the
    /// order of their bits. Uses D, E, K1 and K3.
    fn extremum_of_bits(&mut self, lane: Width, (magnitude, infinity): (Source, Source), max: bool, nan: bool) {
        let pick = |narrow, wide| by(lane, narrow, wide);
        let and = pick(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64);
        let xor = pick(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64);
        let signs = pick(Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, Code::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8);
        let right = pick(Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8);
        let copy = pick(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, Code::EVEX_Vmovapd_zmm_k1z_zmmm512);
        let signed = pick(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8);
        // NaNs, and the numbers' order as integers: a negative one with its other bits flipped.
        for (x, key, mask) in [(A, D, K2), (B, E, K3)] {
            self.op3(and, key, x, magnitude, Decorators::default());
            self.op3_immediate(signed, mask, key, infinity, 6);
            self.shift(signs, key, x, lane.bits() - 1);
            self.shift(right, key, key, 1);
            self.op3(xor, key, key, Source::Register(x), Decorators::default());
        }
        // K1: a is the result. That is the one above, or the one not above; where only one is a number, that one.
        self.op3_immediate(signed, K1, D, Source::Register(E), if max { 6 } else { 2 });
        self.asm.push(Instruction::with3(Code::VEX_Kandnw_kr_kr_kr, K1, K2, K1));
        self.asm.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, K1, K1, K3));
        self.asm.vector(Instruction::with2(copy, B, A), Decorators::masked(K1));
        let code = if nan { Code::VEX_Korw_kr_kr_kr } else { Code::VEX_Kandw_kr_kr_kr };
        self.asm.push(Instruction::with3(code, K2, K2, K3));
    }

    /// The same by the processor's comparisons of floats, which must not take subnormals for zeros. Uses D.
    fn extremum_of_floats(&mut self, lane: Width, max: bool, nan: bool) {
        let pick = |narrow, wide| by(lane, narrow, wide);
        let compare =
            pick(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae);
        let copy = pick(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, Code::EVEX_Vmovapd_zmm_k1z_zmmm512);
        let unordered = |emitter: &mut Self, to, a, b| emitter.op3_immediate(compare, to, a, Source::Register(b), 3);
        if nan {
            unordered(self, K2, A, B);
        } else {
            for (x, other) in [(A, B), (B, A)] {
                unordered(self, K2, x, x);
                self.asm.vector(Instruction::with2(copy, x, other), Decorators::masked(K2));
            }
        }
        // Each way round: of two zeros the second is the result. The bits of both give the zero that is right.
        let (extremum, join) = match max {
            true => (
                pick(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae),
                pick(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64),
            ),
            false => (
                pick(Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae),
                pick(Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64),
            ),
        };
        self.op3(extremum, D, A, Source::Register(B), Decorators::default());
        self.op3(extremum, B, B, Source::Register(A), Decorators::default());
        self.op3(join, B, B, Source::Register(D), Decorators::default());
        if !nan {
            unordered(self, K2, B, B);
        }
    }
}
