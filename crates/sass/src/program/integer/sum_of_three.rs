//! `IADD3`: sums of three numbers.

use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand as Arg, Reg, Signedness, Width};

use crate::instruction::{Instruction, Operand, Value};
use crate::lower::integer;
use crate::program::body::{B32, Body, Flags, TRUE};

/// The operands of an `IADD3`, an immediate's 20 bits extended by their sign, which nvdisasm does not print. Source: ptxas's
/// `a + b - 5`, and its quotients of f32, for sm_50.
fn summands(inst: &Instruction) -> Vec<Operand> {
    let mut operands = inst.operands().to_vec();
    for operand in &mut operands {
        if let Value::Immediate(bits) = &mut operand.value {
            *bits = (((*bits << 12) as i32) >> 12) as u32;
        }
    }
    operands
}

impl Body<'_> {
    pub(super) fn sum_of_three(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["shift", "x", "CC", "half"])?;
        let operands = summands(inst);
        let d = self.target(&operands[0])?;
        let (extended, writes) = (inst.modifier("x").is_some(), inst.modifier("CC").is_some());
        let has_halves = operands[1..].iter().any(|operand| !operand.suffix.is_empty());
        if extended || writes {
            return if has_halves { None } else { self.carried_sum_of_three(inst, d, &operands) };
        }
        match inst.modifier("shift") {
            None => {
                let [a, b, c] = [1, 2, 3].map(|at| self.half_or_whole(&operands[at]));
                let (a, b, c) = (a?, b?, c?);
                let first = self.int32(IntOp::Add, &[a, b]);
                self.finish(integer(IntOp::Add, d, B32, &[first, c]));
            }
            // The sum of two, 33 bits, shifted right by 16.
            Some(".RS") if !has_halves && operands.iter().all(|operand| !operand.negate) => {
                let (a, b, c) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
                let (low, out) = (self.fresh(B32), self.fresh(Width::Pred));
                self.emit(Op::Carry { d: low, out: Some(out), subtract: false, carry: Arg::ZERO, a, b });
                let low = self.int32(IntOp::Shr(Signedness::Unsigned), &[low.into(), Arg::Imm(16)]);
                let top = self.select(out, Arg::Imm(1 << 16), Arg::ZERO);
                let shifted = self.int32(IntOp::Or, &[low, top]);
                self.finish(integer(IntOp::Add, d, B32, &[shifted, c]));
            }
            Some(_) => return None,
        }
        Some(())
    }

    /// A number of a sum of three, or a half of it without its sign. Source: what ptxas makes of `cvt.u32.u16` and `add`.
    fn half_or_whole(&mut self, operand: &Operand) -> Option<Arg> {
        let bits = self.bits(operand)?;
        let bits = match operand.suffix {
            "" => bits,
            ".H0" | ".H1" => self.half(operand, bits, false),
            _ => return None,
        };
        Some(self.signed_int(operand, bits))
    }

    /// With a carry out: of two numbers and 0 or 1 it is one bit, of three numbers the next sum of three adds it once or
    /// twice. With a carry in: what is negated is inverted. Source: ptxas's `vmad.po`, and its sums of three numbers of
    /// 64 bits, for sm_61.
    fn carried_sum_of_three(&mut self, inst: &Instruction, d: Reg, operands: &[Operand]) -> Option<()> {
        let (extended, writes) = (inst.modifier("x").is_some(), inst.modifier("CC").is_some());
        if inst.modifier("shift").is_some() || extended == writes {
            return None;
        }
        let mut numbers = Vec::new();
        for operand in &operands[1..4] {
            numbers.push((self.bits(operand)?, operand.negate));
        }
        if extended {
            return self.counted_sum(d, &numbers);
        }
        let negated = numbers.iter().filter(|(_, negated)| *negated).count();
        let small = numbers.iter().position(|(number, negated)| matches!(number, Arg::Imm(0 | 1)) && !negated);
        if let (Some(small), 0) = (small, negated) {
            let (carry, out) = (numbers.remove(small).0, self.carry());
            self.finish(Op::Carry { d, out: Some(out), subtract: false, carry, a: numbers[0].0, b: numbers[1].0 });
            (self.flags, self.low_sum) = (Flags::Unknown, None);
            return Some(());
        }
        if let (Some(zero), 1) = (numbers.iter().position(|number| *number == (Arg::ZERO, false)), negated) {
            numbers.remove(zero);
        }
        numbers.sort_by_key(|(_, negated)| *negated);
        let flags = if numbers.len() == 2 { Flags::Unknown } else { Flags::Counted };
        if negated == 3 || self.guard.is_some() && (flags == Flags::Counted || self.flags == Flags::Counted) {
            return None;
        }
        let mut sum = numbers[0].0;
        for (place, &(number, negated)) in numbers[1..].iter().enumerate() {
            let out = if place == 0 { self.carry() } else { self.second_carry() };
            let op = if negated { IntOp::Sub } else { IntOp::Add };
            let next = self.int32(op, &[sum, number]);
            let (comparison, a, b) = if negated { (Comparison::Ge, sum, number) } else { (Comparison::Lt, next, sum) };
            self.finish(Op::Compare { d: out, comparison, of: Comparand::Unsigned(B32), a, b });
            sum = next;
        }
        self.finish(Op::Move { d, a: sum });
        (self.flags, self.low_sum) = (flags, None);
        Some(())
    }

    /// The sum of three numbers and of the carries of another.
    fn counted_sum(&mut self, d: Reg, numbers: &[(Arg, bool)]) -> Option<()> {
        let is_counted = self.flags == Flags::Counted;
        if !is_counted && !self.has_carry() {
            return None;
        }
        let [a, b, mut c] = [0, 1, 2].map(|place| match numbers[place] {
            (number, true) => self.int32(IntOp::Not, &[number]),
            (number, false) => number,
        });
        if is_counted {
            let second = self.second_carry();
            let more = self.select(second, TRUE, Arg::ZERO);
            c = self.int32(IntOp::Add, &[c, more]);
        }
        let first = self.int32(IntOp::Add, &[a, b]);
        self.sum_with_carry(d, None, first, c);
        Some(())
    }
}
