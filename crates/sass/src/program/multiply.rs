//! `XMAD`: halves of two registers multiplied, and a sum; `IMUL` and `IMAD`: whole registers; `IDP`: sums of products of bytes.

use roundonce_ir::{Comparison, IntOp, Op, Operand as Arg, Signedness, Width};

use super::body::{B32, Body};
use crate::instruction::{Instruction, Operand, RZ, Value};

const LOW: Arg = Arg::Imm(0xffff);

impl Body<'_> {
    /// A half of a value, extended.
    pub(super) fn half(&mut self, operand: &Operand, whole: Arg, signed: bool) -> Arg {
        let place = Arg::Imm(if operand.suffix == ".H1" { 16 } else { 0 });
        if let Arg::Imm(bits) = whole {
            let half = (bits >> if operand.suffix == ".H1" { 16 } else { 0 }) as u16;
            return Arg::Imm(u64::from(if signed { half as i16 as u32 } else { u32::from(half) }));
        }
        // Operations that engines compile.
        match (signed, place) {
            (false, Arg::Imm(0)) => self.int32(IntOp::And, &[whole, LOW]),
            (false, _) => self.int32(IntOp::Shr(Signedness::Unsigned), &[whole, place]),
            (true, Arg::Imm(0)) => {
                let top = self.int32(IntOp::Shl, &[whole, Arg::Imm(16)]);
                self.int32(IntOp::Shr(Signedness::Signed), &[top, Arg::Imm(16)])
            }
            (true, _) => self.int32(IntOp::Shr(Signedness::Signed), &[whole, place]),
        }
    }

    /// PTX's `dp4a` and `dp2a`.
    pub(super) fn dot_product(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["mode", "type"])?;
        let (first, second) = inst.modifier("type")?.strip_prefix('.')?.split_once('.')?;
        let [a, b] =
            [first, second].map(|text| if text.starts_with('S') { Signedness::Signed } else { Signedness::Unsigned });
        let op = match (inst.modifier("mode")?, first.ends_with("16")) {
            (".4A", false) => IntOp::DotProduct4(a, b),
            (".2A.LO", true) => IntOp::DotProduct2 { a, b, high: false },
            (".2A.HI", true) => IntOp::DotProduct2 { a, b, high: true },
            _ => return None,
        };
        let operands = inst.operands();
        let mut args = [Arg::ZERO; 3];
        for (arg, operand) in args.iter_mut().zip(&operands[1..]) {
            *arg = self.bits(operand)?;
        }
        let d = self.target(&operands[0])?;
        self.finish(crate::lower::integer(op, d, B32, &args));
        Some(())
    }

    /// The lower or the upper half of a product, and with `IMAD` a sum: PTX's `mul` and `mad`. ptxas makes only
    /// `IMAD.HI.SAT` of them.
    pub(super) fn product(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "hi", "sat"])?;
        let operands = inst.operands();
        let (a, b) = (self.bits(&operands[1])?, self.bits(&operands[2])?);
        let (high, saturates) = (inst.modifier("hi").is_some(), inst.modifier("sat").is_some());
        let signs = [Signedness::Signed, Signedness::Unsigned];
        let [sign_a, sign_b] = match inst.modifier("type") {
            None => [signs[0]; 2],
            Some(".S32.U32") => signs,
            Some(".U32.S32") => [signs[1], signs[0]],
            _ => [signs[1]; 2],
        };
        let product = match high {
            false => self.int32(IntOp::Mul, &[a, b]),
            true if sign_a == sign_b => self.int32(IntOp::MulHigh(sign_a), &[a, b]),
            true => {
                let [a, b] = [(a, sign_a), (b, sign_b)].map(|(factor, sign)| self.widened(factor, sign));
                let whole = self.int(IntOp::Mul, Width::B64, &[a, b]).into();
                let d = self.fresh(B32);
                self.emit(Op::Extract { d, a: whole, width: Width::B64, shift: 32 });
                d.into()
            }
        };
        let addend = match operands.get(3) {
            Some(operand) => Some((self.bits(operand)?, operand.negate)),
            None => None,
        };
        let d = self.target(&operands[0])?;
        let op = match (addend, operands[1].negate) {
            (None, false) if !saturates => Op::Move { d, a: product },
            (Some((c, false)), false) if saturates && high && sign_a == sign_b && sign_a == signs[0] => {
                crate::lower::integer(IntOp::AddSat, d, B32, &[product, c])
            }
            _ if saturates => return None,
            (Some((c, false)), false) => crate::lower::integer(IntOp::Add, d, B32, &[product, c]),
            (Some((c, true)), false) => crate::lower::integer(IntOp::Sub, d, B32, &[product, c]),
            // What becomes of the half that is cut off is not said.
            (Some((c, false)), true) if !high => crate::lower::integer(IntOp::Sub, d, B32, &[c, product]),
            _ => return None,
        };
        self.finish(op);
        Some(())
    }

    pub(super) fn multiply_halves(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "psl", "mode", "mrg", "half"])?;
        let operands = inst.operands();
        let (part, product) = self.product_part(inst);
        if let Some([a, b, c]) = product {
            let d = self.target(&operands[0])?;
            self.finish(crate::lower::integer(IntOp::MulAdd, d, B32, &[a, b, c]));
            return Some(());
        }
        self.product_of_halves(inst)?;
        if let (Some(part), Value::Register(number)) = (part, operands[0].value)
            && number != RZ
        {
            self.known.insert(number, part);
        }
        Some(())
    }

    fn product_of_halves(&mut self, inst: &Instruction) -> Option<()> {
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
            self.finish(crate::lower::integer(IntOp::MulAdd, d, B32, &[half_a, half_b, addend]));
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
