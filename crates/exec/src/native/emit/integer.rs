//! Integer quotients, remainders and upper halves of products, of 16 and 32 bits.

use super::super::asm::Decorators;
use super::{A, B, C, D, E, EmitResult, Emitter, Part, Source, ymm};
use iced_x86::{Code, Instruction, Register};
use roundonce_ir::{IntOp, Operand, Reg, Signedness, Width};

const K2: Register = Register::K2;
const EXACT: Decorators = Decorators { mask: None, zeroing: false, rounding: None };

impl Emitter<'_> {
    /// A quotient toward zero, or the remainder; by zero all ones. In f64: one that is no integer is further from the next integer than it is
    /// rounded by, in whatever direction.
    pub(super) fn divide_integers(
        &mut self,
        d: Reg,
        (remainder, sign, bits): (bool, Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let (subtract, xor) = (Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32);
        let unsigned = sign == Signedness::Unsigned;
        let double = |emit: &mut Self, number: f64| emit.broadcast_constant(number.to_bits(), Width::B64);
        for part in self.parts(d) {
            for (operand, to) in [(a, A), (b, B)] {
                let x = self.extended(operand, (bits, sign), part, to)?;
                // Without a sign: as numbers with one, less 2^31.
                match unsigned {
                    true => {
                        let top = self.broadcast_constant(0x8000_0000, Width::B32);
                        self.op3(xor, to, x, top, EXACT);
                    }
                    false => self.copy_vector(to, x),
                }
            }
            for (half, quotient) in [(0, C), (1, D)] {
                for (from, to) in [(A, quotient), (B, E)] {
                    let mut lanes = ymm(from);
                    if half == 1 {
                        lanes = ymm(to);
                        let upper = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                        self.asm.push(Instruction::with3(upper, lanes, from, 1));
                    }
                    self.asm.rr(Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er, to, lanes);
                    if unsigned {
                        let top = double(self, 2_147_483_648.0);
                        self.op3(Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, to, to, top, EXACT);
                    }
                }
                let divide = Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
                self.op3(divide, quotient, quotient, Source::Register(E), EXACT);
                if unsigned {
                    // The second operand is the result for a NaN, that of zero by zero.
                    let [most, top] = [4_294_967_295.0, 2_147_483_648.0].map(|number| double(self, number));
                    self.op3(Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae, quotient, quotient, most, EXACT);
                    let integral = Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
                    self.asm.push(Instruction::with3(integral, quotient, quotient, 8 | 3));
                    self.op3(subtract, quotient, quotient, top, EXACT);
                }
                self.asm.rr(Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae, ymm(quotient), quotient);
            }
            let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            self.asm.push(Instruction::with4(insert, C, C, ymm(D), 1));
            if unsigned {
                let top = self.broadcast_constant(0x8000_0000, Width::B32);
                self.op3(xor, C, C, top, EXACT);
            }
            if remainder || !unsigned {
                self.remainder_or_ones(part, (remainder, sign, bits), [a, b])?;
            }
            if bits < 32 {
                self.mask_lanes(C, C, 0xffff);
            }
            self.write_back(d, part, C);
        }
        Ok(())
    }
    /// C, a quotient, becomes the remainder if that is asked for, and all ones where the divisor is zero.
    fn remainder_or_ones(
        &mut self,
        part: Part,
        (remainder, sign, bits): (bool, Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let divisor = self.extended(b, (bits, sign), part, B)?;
        if remainder {
            let dividend = self.extended(a, (bits, sign), part, A)?;
            self.op3(Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, C, C, Source::Register(divisor), EXACT);
            self.op3(Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, C, dividend, Source::Register(C), EXACT);
        }
        let zero = self.broadcast_constant(0, Width::B32);
        self.op3_immediate(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, K2, divisor, zero, 0);
        self.merge_constant(C, u32::MAX.into(), K2);
        Ok(())
    }

    /// The upper half of a product.
    pub(super) fn multiply_high(
        &mut self,
        d: Reg,
        (sign, bits): (Signedness, u32),
        [a, b]: [Operand; 2],
    ) -> EmitResult {
        let right = Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
        let multiply = match sign {
            Signedness::Signed => Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
            Signedness::Unsigned => Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        };
        for part in self.parts(d) {
            let x = self.extended(a, (bits, sign), part, A)?;
            let y = self.extended(b, (bits, sign), part, B)?;
            if bits < 32 {
                self.op3(Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, C, x, Source::Register(y), EXACT);
                self.shift(Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, C, C, bits);
            } else {
                // Every second lane, then the others.
                self.op3(multiply, C, x, Source::Register(y), EXACT);
                self.shift(right, C, C, 32);
                self.shift(right, D, x, 32);
                self.shift(right, E, y, 32);
                self.op3(multiply, D, D, Source::Register(E), EXACT);
                let upper = self.broadcast_constant(0xffff_ffff_0000_0000, Width::B64);
                self.op3(Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64, D, D, upper, EXACT);
                self.op3(Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64, C, C, Source::Register(D), EXACT);
            }
            self.write_back(d, part, C);
        }
        Ok(())
    }

    /// Those of these operations that have code, of vectors whatever the shapes are: a number of the tile is that of its first lane.
    pub(super) fn quotient_or_high(
        &mut self,
        d: Reg,
        op: IntOp,
        width: Width,
        args: &[Operand; 4],
    ) -> Option<EmitResult> {
        let (bits, operands) = (width.bits(), [args[0], args[1]]);
        match op {
            _ if !matches!(width, Width::B16 | Width::B32) => None,
            IntOp::Div(sign) => Some(self.divide_integers(d, (false, sign, bits), operands)),
            IntOp::Rem(sign) => Some(self.divide_integers(d, (true, sign, bits), operands)),
            IntOp::MulHigh(sign) => Some(self.multiply_high(d, (sign, bits), operands)),
            _ => None,
        }
    }
}
