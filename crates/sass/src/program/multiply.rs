//! `XMAD`: halves of two registers multiplied, and a sum.

use roundonce_ir::{Comparison, IntOp, Op, Operand as Arg, Signedness};

use super::body::Body;
use crate::instruction::{Instruction, Operand};

const LOW: Arg = Arg::Imm(0xffff);

impl Body<'_> {
    /// A half of a value, extended.
    fn half(&mut self, operand: &Operand, whole: Arg, signed: bool) -> Arg {
        let place = Arg::Imm(if operand.suffix == ".H1" { 16 } else { 0 });
        if let Arg::Imm(bits) = whole {
            let half = (bits >> if operand.suffix == ".H1" { 16 } else { 0 }) as u16;
            return Arg::Imm(u64::from(if signed { half as i16 as u32 } else { u32::from(half) }));
        }
        let sign = if signed { Signedness::Signed } else { Signedness::Unsigned };
        self.int32(IntOp::FieldExtract(sign), &[whole, place, Arg::Imm(16)])
    }

    pub(super) fn multiply_halves(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "psl", "mode", "mrg", "half"])?;
        let operands = inst.operands();
        let (signed_a, signed_b) = match inst.modifier("type") {
            None => (false, false),
            Some(".S16.U16") => (true, false),
            Some(".U16.S16") => (false, true),
            _ => (true, true),
        };
        let (a, b, c) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
        let (half_a, half_b) = (self.half(&operands[1], a, signed_a), self.half(&operands[2], b, signed_b));
        let addend = match inst.modifier("mode") {
            None => c,
            Some(".CLO") => self.int32(IntOp::And, &[c, LOW]),
            Some(".CHI") => self.int32(IntOp::Shr(Signedness::Unsigned), &[c, Arg::Imm(16)]),
            Some(".CBCC") => {
                let shifted = self.int32(IntOp::Shl, &[b, Arg::Imm(16)]);
                self.int32(IntOp::Add, &[shifted, c])
            }
            Some(".CSFU") => {
                let upper = [&operands[1], &operands[2]].iter().all(|operand| operand.suffix == ".H1");
                if !(signed_a && signed_b && upper) {
                    return None;
                }
                self.sign_corrected(a, b, c)
            }
            Some(_) => return None,
        };
        let d = self.target(&operands[0])?;
        let shift = inst.modifier("psl").is_some();
        let merge = inst.modifier("mrg").is_some();
        if !shift && !merge {
            self.finish(crate::lower::integer(IntOp::MulAdd, d, super::body::B32, &[half_a, half_b, addend]));
            return Some(());
        }
        let mut product = self.int32(IntOp::Mul, &[half_a, half_b]);
        if shift {
            product = self.int32(IntOp::Shl, &[product, Arg::Imm(16)]);
        }
        let mut sum = self.int32(IntOp::Add, &[product, addend]);
        if merge {
            // The low half of b above the low half of the sum.
            let low = self.int32(IntOp::And, &[sum, LOW]);
            let high = self.int32(IntOp::Shl, &[b, Arg::Imm(16)]);
            sum = self.int32(IntOp::Or, &[low, high]);
        }
        self.finish(Op::Move { d, a: sum });
        Some(())
    }

    /// The addend of a signed product's upper half. The two products of an upper and a lower half are added without
    /// signs (`IADD3.RS`), each 2^32 too large where it is negative: where the upper half is and the lower is not zero.
    /// Source: ptxas's `mul.hi.s32`, whose product is right for all operands with this alone.
    fn sign_corrected(&mut self, a: Arg, b: Arg, mut c: Arg) -> Arg {
        for (upper, lower) in [(a, b), (b, a)] {
            let sign = self.int32(IntOp::Shr(Signedness::Unsigned), &[upper, Arg::Imm(31)]);
            let low = self.int32(IntOp::And, &[lower, LOW]);
            let counts = self.compare_bits(Comparison::Ne, low, Arg::ZERO);
            let correction = self.int32(IntOp::Shl, &[sign, Arg::Imm(16)]);
            let correction = self.select(counts, correction, Arg::ZERO);
            c = self.int32(IntOp::Sub, &[c, correction]);
        }
        c
    }
}
