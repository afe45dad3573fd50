//! Pairs of 16-bit floats.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce_ir::{Comparand, IntOp, Op, Operand as Arg, Reg, Scalar, Width};

use super::body::{B32, Body};
use super::float::{comparison, negated};
use super::moves::logic;
use crate::instruction::{Instruction, Operand, RZ, Value};

/// Both halves of an operand, their absolute values taken where it says so.
struct Pair {
    bits: Arg,
    negate: bool,
}

fn conversion(d: Reg, to: Format, from: Format, rounding: Rounding, a: Arg) -> Op {
    Op::Convert {
        d,
        to: Scalar::Float(to),
        from: Scalar::Float(from),
        rounding,
        integral: false,
        flush: false,
        saturate: false,
        a,
    }
}

impl Body<'_> {
    /// The pairs that an instruction takes. An f32 among them is both halves of one, where it is `converted`.
    fn pairs(&mut self, mut operands: &[Operand], converted: bool) -> Option<Vec<Pair>> {
        let mut pairs = Vec::new();
        while let [operand, rest @ ..] = operands {
            operands = rest;
            let mut bits = if let Value::Half(high) = operand.value {
                // A packed number is two operands, and its sign is in it.
                let [Operand { value: Value::Half(low), negate: false, .. }, rest @ ..] = rest else { return None };
                operands = rest;
                Arg::Imm(u64::from(high) << 16 | u64::from(*low))
            } else {
                let both = self.bits(operand)?;
                // One half in the place of both.
                match operand.suffix {
                    "" => both,
                    ".H0_H0" => self.int32(IntOp::Permute, &[both, Arg::ZERO, Arg::Imm(0x1010)]),
                    ".H1_H1" => self.int32(IntOp::Permute, &[both, Arg::ZERO, Arg::Imm(0x3232)]),
                    ".F32" if converted => {
                        let (half, d) = (self.fresh(Width::B16), self.fresh(B32));
                        self.emit(conversion(half, Format::F16, Format::F32, Rounding::TowardZero, both));
                        self.emit(Op::Pack { d, low: half.into(), high: half.into() });
                        d.into()
                    }
                    _ => return None,
                }
            };
            if operand.absolute {
                bits = self.int32(IntOp::And, &[bits, Arg::Imm(0x7fff_7fff)]);
            }
            let negate = operand.negate && !matches!(operand.value, Value::Half(_));
            pairs.push(Pair { bits, negate });
        }
        Some(pairs)
    }

    /// The half of a register that begins at a bit.
    pub(super) fn half_float(&mut self, pair: Arg, shift: u32) -> Reg {
        let d = self.fresh(Width::B16);
        self.emit(Op::Extract { d, a: pair, width: B32, shift });
        d
    }

    pub(super) fn half_arithmetic(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["merge", "fmz", "ftz", "sat", "half"])?;
        let op = match inst.mnemonic().get(..5)? {
            "HADD2" => ArithOp::Add,
            "HMUL2" => ArithOp::Mul,
            _ => ArithOp::MulAdd,
        };
        let operands = inst.operands();
        // ptxas takes an f32 for nothing but `cvt.rz.f16.f32`, as its sum with −0.
        let converted = op == ArithOp::Add && operands[2].value == Value::Register(RZ) && operands[2].negate;
        let sources = self.pairs(&operands[1..], converted)?;
        let operation = Operation::new(op, Format::F16, Rounding::NearestEven);
        let mut operation = negated(operation, sources.iter().map(|source| source.negate));
        operation.fmz = inst.modifier("fmz") == Some(".FMZ");
        operation.flush = inst.modifier("fmz").or(inst.modifier("ftz")).is_some();
        if inst.modifier("sat").is_some() {
            operation.clamp = Clamp::Unit;
        }
        let mut args = [Arg::ZERO; 3];
        for (arg, source) in args.iter_mut().zip(sources) {
            *arg = source.bits;
        }
        let float = |d| Op::Float { d, operation, components: 2, contractible: false, args };
        let d = self.target(&operands[0])?;
        let Some(merge) = inst.modifier("merge") else {
            self.finish(float(d));
            return Some(());
        };
        let both = self.fresh(B32);
        self.emit(float(both));
        // Of the result's halves and those that the register had.
        let merged = |bytes| crate::lower::integer(IntOp::Permute, d, B32, &[d.into(), both.into(), Arg::Imm(bytes)]);
        let op = match merge {
            ".MRG_H0" => merged(0x3254),
            ".MRG_H1" => merged(0x7610),
            ".F32" => {
                let low = self.half_float(both.into(), 0);
                conversion(d, Format::F32, Format::F16, Rounding::NearestEven, low.into())
            }
            _ => return None,
        };
        self.finish(op);
        Some(())
    }

    /// Comparisons of each half: into a predicate each, of both into one and its opposite, or into a truth in each half.
    pub(super) fn half_comparison(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["bf", "cmp", "ftz", "bool", "h_and", "half"])?;
        let operands = inst.operands();
        let is_set = inst.mnemonic() == "HSET2";
        let (with, sources) = operands.get(if is_set { 1 } else { 2 }..)?.split_last()?;
        let mut sides = [Arg::ZERO; 2];
        for (side, pair) in sides.iter_mut().zip(self.pairs(sources, false)?) {
            *side = if pair.negate { self.int32(IntOp::Xor, &[pair.bits, Arg::Imm(0x8000_8000)]) } else { pair.bits };
        }
        let comparison = comparison(inst.modifier("cmp"))?;
        let of = Comparand::Float { format: Format::F16, flush: inst.modifier("ftz").is_some() };
        let results = [0, 16].map(|shift| {
            let halves = sides.map(|side| self.half_float(side, shift).into());
            self.holds(comparison, of, halves)
        });
        if inst.modifier("h_and").is_some() {
            let both = self.combine(IntOp::And, results[0], results[1]);
            return self.write_comparison(inst, both, with);
        }
        let op = logic(inst.modifier("bool"))?;
        let with = self.condition(with)?;
        let results = results.map(|result| self.combine(op, result, with));
        if !is_set {
            return self.write_predicates([&operands[0], &operands[1]], results);
        }
        let truth = if inst.modifier("bf").is_some() { 0x3c00 } else { 0xffff };
        let low = self.select(results[0], Arg::Imm(truth), Arg::ZERO);
        let high = self.select(results[1], Arg::Imm(truth << 16), Arg::ZERO);
        let d = self.target(&operands[0])?;
        self.finish(crate::lower::integer(IntOp::Or, d, B32, &[low, high]));
        Some(())
    }
}
