//! Whole numbers and their bits.

mod sum_of_three;

use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand as Arg, PermuteMode, Reg, Signedness, Width};

use super::body::{B32, Body, Flags, TRUE};
use super::wide::{Half, Halves};
use crate::instruction::{Instruction, Operand, PT, RZ, Value};
use crate::lower::integer;

/// Whether a row's `.U32` stands.
fn sign(inst: &Instruction) -> Signedness {
    if inst.modifier("type") == Some(".U32") { Signedness::Unsigned } else { Signedness::Signed }
}

/// The comparison of integers; `Err` of a constant.
pub(super) fn comparison(text: Option<&str>) -> Option<Result<Comparison, Arg>> {
    Some(match text? {
        ".F" => Err(Arg::ZERO),
        ".LT" => Ok(Comparison::Lt),
        ".EQ" => Ok(Comparison::Eq),
        ".LE" => Ok(Comparison::Le),
        ".GT" => Ok(Comparison::Gt),
        ".NE" => Ok(Comparison::Ne),
        ".GE" => Ok(Comparison::Ge),
        ".T" => Err(TRUE),
        _ => return None,
    })
}

/// An immediate without signs.
fn plain(operand: &Operand) -> Option<u32> {
    match operand.value {
        Value::Immediate(bits) => Some(bits),
        _ => None,
    }
}

impl Body<'_> {
    pub(super) fn integer(&mut self, inst: &Instruction) -> Option<()> {
        match inst.mnemonic() {
            "IADD" | "IADD32I" => {
                inst.only(&["x", "CC", "neg", "sat"])?;
                let operands = inst.operands();
                let (a, b) = (self.bits(&operands[1])?, self.bits(&operands[2])?);
                if inst.modifier("sat").is_some() {
                    return self.clamped_sum(inst, a, b);
                }
                let halves = if Self::is_half_of_sum(inst) {
                    self.summand(&operands[1]).zip(self.summand(&operands[2])).map(<[Half; 2]>::from)
                } else {
                    None
                };
                self.sum(inst, &operands[0], (a, operands[1].negate), (b, operands[2].negate), halves)
            }
            "IMUL" | "IMUL32I" | "IMAD" | "IMAD32I" => self.product(inst),
            "ISCADD" | "ISCADD32I" => self.scaled_sum(inst),
            "LEA" => self.address_sum(inst),
            "IADD3" => self.sum_of_three(inst),
            "IMNMX" => self.int_min_max(inst),
            "ISET" | "ISETP" => self.int_set(inst),
            "ICMP" => self.int_choice(inst),
            "SHL" | "SHR" => self.shift(inst),
            "SHF" => self.funnel(inst),
            "BFE" | "BFI" => self.field(inst),
            "FLO" | "POPC" => self.count(inst),
            "PRMT" => self.permute(inst),
            "LOP" | "LOP32I" => self.logic(inst),
            "LOP3" => self.logic_of_three(inst),
            _ => None,
        }
    }

    /// a + b, either of them negated; with `.X` plus the carry, and what is negated only inverted.
    fn sum(
        &mut self,
        inst: &Instruction,
        target: &Operand,
        (a, negate_a): (Arg, bool),
        (b, negate_b): (Arg, bool),
        halves: Option<Halves>,
    ) -> Option<()> {
        let extended = inst.modifier("x").is_some();
        let writes = inst.modifier("CC").is_some();
        // Of lanes where the guard does not hold a count of carries would be taken as one.
        let is_mixed = writes && self.guard.is_some() && self.flags == Flags::Counted;
        if (negate_a && negate_b) || (extended && !self.has_carry()) || is_mixed {
            return None;
        }
        let d = self.target(target)?;
        if !extended && !writes {
            let (op, args) = match (negate_a, negate_b) {
                (true, _) => (IntOp::Sub, [b, a]),
                (_, true) => (IntOp::Sub, [a, b]),
                _ => (IntOp::Add, [a, b]),
            };
            self.finish(integer(op, d, B32, &args));
            return Some(());
        }
        let out = writes.then(|| self.carry());
        if extended {
            let a = if negate_a { self.int32(IntOp::Not, &[a]) } else { a };
            let b = if negate_b { self.int32(IntOp::Not, &[b]) } else { b };
            self.sum_with_carry(d, out, a, b);
        } else {
            // Additions and comparisons, which engines compile.
            let (op, a, b) = match (negate_a, negate_b) {
                (true, _) => (IntOp::Sub, b, a),
                (_, true) => (IntOp::Sub, a, b),
                _ => (IntOp::Add, a, b),
            };
            let sum = self.int32(op, &[a, b]);
            let comparison = if op == IntOp::Sub { Comparison::Ge } else { Comparison::Lt };
            let (of, first, second) = match op {
                IntOp::Sub => (Comparand::Unsigned(B32), a, b),
                _ => (Comparand::Unsigned(B32), sum, a),
            };
            if let Some(out) = out {
                self.finish(Op::Compare { d: out, comparison, of, a: first, b: second });
            }
            self.finish(Op::Move { d, a: sum });
        }
        match (writes, extended) {
            (true, false) => {
                self.write_flags(d, Flags::Sum);
                self.begin_sum(target, halves);
            }
            (true, true) => (self.flags, self.low_sum) = (Flags::Unknown, None),
            (false, _) => self.end_sum(target, halves),
        }
        Some(())
    }

    /// a + b clamped to the signed numbers. Source: ptxas's `add.sat.s32` and `sub.sat.s32`.
    fn clamped_sum(&mut self, inst: &Instruction, a: Arg, b: Arg) -> Option<()> {
        let operands = inst.operands();
        if inst.modifier("x").is_some() || inst.modifier("CC").is_some() {
            return None;
        }
        let d = self.target(&operands[0])?;
        let (op, args) = match (operands[1].negate, operands[2].negate) {
            (false, false) => (IntOp::AddSat, [a, b]),
            (false, true) => (IntOp::SubSat, [a, b]),
            (true, false) => (IntOp::SubSat, [b, a]),
            (true, true) => return None,
        };
        self.finish(integer(op, d, B32, &args));
        Some(())
    }

    /// a + b + the carry, and the carry out.
    fn sum_with_carry(&mut self, d: Reg, out: Option<Reg>, a: Arg, b: Arg) {
        let carry = self.carry();
        let more = self.select(carry, TRUE, Arg::ZERO);
        let first = self.int32(IntOp::Add, &[a, b]);
        let sum = self.int32(IntOp::Add, &[first, more]);
        if let Some(out) = out {
            let by_first = self.compare_bits(Comparison::Lt, first, a);
            let by_more = self.compare_bits(Comparison::Lt, sum, first);
            self.finish(integer(IntOp::Or, out, Width::Pred, &[by_first.into(), by_more.into()]));
        }
        self.finish(Op::Move { d, a: sum });
    }

    fn scaled_sum(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["CC"])?;
        let operands = inst.operands();
        let (a, b, shift) = (self.bits(&operands[1])?, self.bits(&operands[2])?, plain(&operands[3])?);
        let scaled = self.int32(IntOp::Shl, &[a, Arg::Imm(u64::from(shift))]);
        let halves = if Self::is_half_of_sum(inst) {
            self.scaled_half(&operands[1], shift).zip(self.summand(&operands[2])).map(<[Half; 2]>::from)
        } else {
            None
        };
        self.sum(inst, &operands[0], (scaled, operands[1].negate), (b, operands[2].negate), halves)
    }

    fn address_sum(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["x", "CC"])?;
        let operands = inst.operands();
        if operands[2].negate {
            return None;
        }
        if let Value::Predicate(number @ 0..PT) = operands[0].value {
            // What it says is known of no source; generic accesses take it as a hint.
            self.hint = Some(self.predicate(number));
        }
        let (a, b) = (self.bits(&operands[2])?, self.bits(&operands[3])?);
        let count = plain(operands.last()?)?;
        let shift = Arg::Imm(u64::from(count));
        let is_upper = inst.modifier("fixed") == Some(".HI");
        let first = match inst.modifier("fixed") {
            _ if !Self::is_half_of_sum(inst) => None,
            Some(_) if count == 0 => self.summand(&operands[4]),
            Some(_) => self.upper_half(&operands[2], &operands[4], count),
            None => self.scaled_half(&operands[2], count),
        };
        let halves = first.and_then(|first| Some([first, self.summand(&operands[3])?]));
        let scaled = match (is_upper, count) {
            // What is not scaled may be an address. A trace has all that is read.
            (true, 0) if !self.is_traced => self.bits(&operands[4])?,
            (false, 0) => a,
            // The upper half of the pair shifted.
            (true, _) => {
                let high = self.bits(&operands[4])?;
                self.int32(IntOp::Funnel { left: true, clamp: false }, &[a, high, shift])
            }
            (false, _) => self.int32(IntOp::Shl, &[a, shift]),
        };
        self.sum(inst, &operands[1], (scaled, false), (b, false), halves)
    }

    /// The smaller or the larger of two pairs: the upper halves first, which say what the lower ones are taken by.
    /// Source: ptxas's `min.s64`, which is these two alone.
    fn pair_min_max(&mut self, inst: &Instruction, part: &str) -> Option<()> {
        let operands = inst.operands();
        let (a, b, p) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.condition(&operands[3])?);
        let Arg::Imm(p) = p else { return None };
        let comparison = if p != 0 { Comparison::Lt } else { Comparison::Gt };
        let d = self.target(&operands[0])?;
        let (equal, first) = (self.zero(), self.carry());
        match (part, inst.modifier("CC").is_some()) {
            // Nothing asks for the lower half.
            (".XHI", false) => {
                let first = self.compare(comparison, Self::comparand(inst), a, b);
                self.finish(Op::Select { d, p: first.into(), a, b });
            }
            (".XHI", true) => {
                let of = Self::comparand(inst);
                self.low_sum = None;
                self.finish(Op::Compare { d: first, comparison, of, a, b });
                self.finish(Op::Compare { d: equal, comparison: Comparison::Eq, of, a, b });
                self.finish(Op::Select { d, p: first.into(), a, b });
                (self.flags, self.choice) = (Flags::Choice, Some(self.guard));
            }
            (".XLO", false) if self.flags == Flags::Choice && self.choice == Some(self.guard) => {
                let by_low = self.compare(comparison, Comparand::Unsigned(B32), a, b).into();
                let by_low = self.int(IntOp::And, Width::Pred, &[by_low, equal.into()]).into();
                let p = self.int(IntOp::Or, Width::Pred, &[by_low, first.into()]).into();
                self.finish(Op::Select { d, p, a, b });
            }
            _ => return None,
        }
        Some(())
    }

    fn int_min_max(&mut self, inst: &Instruction) -> Option<()> {
        if let Some(part) = inst.modifier("part") {
            return self.pair_min_max(inst, part);
        }
        inst.only(&["type"])?;
        let operands = inst.operands();
        let (a, b, p) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.condition(&operands[3])?);
        let d = self.target(&operands[0])?;
        let sign = sign(inst);
        match p {
            Arg::Imm(p) => {
                let op = if p != 0 { IntOp::Min(sign) } else { IntOp::Max(sign) };
                self.finish(integer(op, d, B32, &[a, b]));
            }
            Arg::Reg(_) => {
                let (min, max) = (self.int32(IntOp::Min(sign), &[a, b]), self.int32(IntOp::Max(sign), &[a, b]));
                self.finish(Op::Select { d, p, a: min, b: max });
            }
        }
        Some(())
    }

    fn comparand(inst: &Instruction) -> Comparand {
        match sign(inst) {
            Signedness::Unsigned => Comparand::Unsigned(B32),
            Signedness::Signed => Comparand::Signed(B32),
        }
    }

    fn int_set(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["bf", "cmp", "type", "x", "bool", "CC"])?;
        let operands = inst.operands();
        let [.., a, b, with] = &*operands else { return None };
        let (a, b) = (self.bits(a)?, self.bits(b)?);
        let of = Self::comparand(inst);
        let result = match comparison(inst.modifier("cmp"))? {
            Ok(comparison) if inst.modifier("x").is_some() => self.extended(comparison, of, a, b)?.into(),
            comparison => self.holds(comparison, of, [a, b]),
        };
        self.write_comparison(inst, result, with)
    }

    /// A comparison of the upper halves of two numbers whose lower halves were subtracted: the carry is clear where the
    /// lower half of the first is below the other's.
    fn extended(&mut self, comparison: Comparison, of: Comparand, a: Arg, b: Arg) -> Option<Reg> {
        if self.flags != Flags::Sum {
            return None;
        }
        let (carry, zero) = (self.carry().into(), self.zero().into());
        let equal = self.compare_bits(Comparison::Eq, a, b).into();
        let logic = |body: &mut Self, op, args: &[Arg]| -> Arg { body.int(op, Width::Pred, args).into() };
        let is_equal = logic(self, IntOp::And, &[equal, zero]);
        let borrow = logic(self, IntOp::Not, &[carry]);
        let below = self.compare(Comparison::Lt, of, a, b).into();
        let below_by_low = logic(self, IntOp::And, &[equal, borrow]);
        let is_below = logic(self, IntOp::Or, &[below, below_by_low]);
        let (op, args) = match comparison {
            Comparison::Eq => (IntOp::And, [is_equal, TRUE]),
            Comparison::Ne => (IntOp::Xor, [is_equal, TRUE]),
            Comparison::Lt => (IntOp::And, [is_below, TRUE]),
            Comparison::Ge => (IntOp::Xor, [is_below, TRUE]),
            Comparison::Le => (IntOp::Or, [is_below, is_equal]),
            Comparison::Gt => {
                let or_equal = logic(self, IntOp::Or, &[is_below, is_equal]);
                (IntOp::Xor, [or_equal, TRUE])
            }
            _ => return None,
        };
        Some(self.int(op, Width::Pred, &args))
    }

    fn int_choice(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["cmp", "type"])?;
        let operands = inst.operands();
        let (a, b, c) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
        let p = self.holds(comparison(inst.modifier("cmp"))?, Self::comparand(inst), [c, Arg::ZERO]);
        let d = self.target(&operands[0])?;
        self.finish(Op::Select { d, p, a, b });
        Some(())
    }

    fn shift(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "w"])?;
        let operands = inst.operands();
        let (a, mut count) = (self.bits(&operands[1])?, self.bits(&operands[2])?);
        if inst.modifier("w").is_some() {
            count = self.int32(IntOp::And, &[count, Arg::Imm(31)]);
        }
        let op = if inst.mnemonic() == "SHL" { IntOp::Shl } else { IntOp::Shr(sign(inst)) };
        let known = self.shifted(&operands[1], count, op);
        let d = self.target(&operands[0])?;
        self.finish(integer(op, d, B32, &[a, count]));
        if let (Some(known), Value::Register(number)) = (known, operands[0].value)
            && number != RZ
        {
            self.known.insert(number, known);
        }
        Some(())
    }

    /// A pair shifted: left its upper half, right its lower one.
    fn funnel(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["w", "type"])?;
        let operands = inst.operands();
        let (low, count, high) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
        let left = inst.modifier("fixed") == Some(".L");
        let wraps = inst.modifier("w").is_some();
        let d = self.target(&operands[0])?;
        let Some(ty) = inst.modifier("type") else {
            self.finish(integer(IntOp::Funnel { left, clamp: !wraps }, d, B32, &[low, high, count]));
            return Some(());
        };
        if wraps {
            return None;
        }
        let whole = self.pack(low, high).into();
        let (op, shift) = match (left, ty) {
            (true, ".U64") => (IntOp::Shl, 32),
            (false, ".U64") => (IntOp::Shr(Signedness::Unsigned), 0),
            (false, ".S64") => (IntOp::Shr(Signedness::Signed), 0),
            _ => return None,
        };
        let shifted = self.int(op, Width::B64, &[whole, count]);
        self.finish(Op::Extract { d, a: shifted.into(), width: Width::B64, shift });
        Some(())
    }

    /// The place of a field is the first byte of an operand, its length the second.
    fn field(&mut self, inst: &Instruction) -> Option<()> {
        /// All 32 bits.
        const WHOLE: u32 = 32 << 8;
        let operands = inst.operands();
        if inst.modifier("brev").is_some() && plain(&operands[2]) == Some(WHOLE) && inst.modifier("CC").is_none() {
            let a = self.bits(&operands[1])?;
            let d = self.target(&operands[0])?;
            self.finish(integer(IntOp::Reverse, d, B32, &[a]));
            return Some(());
        }
        inst.only(&["type"])?;
        let (a, which) = (self.bits(&operands[1])?, self.bits(&operands[2])?);
        let byte = |body: &mut Self, place| match which {
            Arg::Imm(bits) => Arg::Imm(bits >> place & 0xff),
            Arg::Reg(_) => {
                let field = [which, Arg::Imm(place), Arg::Imm(8)];
                body.int32(IntOp::FieldExtract(Signedness::Unsigned), &field)
            }
        };
        let (place, length) = (byte(self, 0), byte(self, 8));
        let d = self.target(&operands[0])?;
        let op = if inst.mnemonic() == "BFE" {
            integer(IntOp::FieldExtract(sign(inst)), d, B32, &[a, place, length])
        } else {
            let into = self.bits(&operands[3])?;
            integer(IntOp::FieldInsert, d, B32, &[a, into, place, length])
        };
        self.finish(op);
        Some(())
    }

    fn count(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["type", "sh"])?;
        let operands = inst.operands();
        let a = self.whole(&operands[1])?;
        let d = self.target(&operands[0])?;
        let op = match inst.mnemonic() {
            "POPC" => IntOp::PopCount,
            _ => IntOp::FindHighest { sign: sign(inst), shift: inst.modifier("sh").is_some() },
        };
        self.finish(integer(op, d, B32, &[a]));
        Some(())
    }

    fn permute(&mut self, inst: &Instruction) -> Option<()> {
        let operands = inst.operands();
        let (a, which, b) = (self.bits(&operands[1])?, self.bits(&operands[2])?, self.bits(&operands[3])?);
        let op = match inst.modifier("mode") {
            None => IntOp::Permute,
            Some(".F4E") => IntOp::PermuteMode(PermuteMode::F4e),
            Some(".B4E") => IntOp::PermuteMode(PermuteMode::B4e),
            Some(".RC8") => IntOp::PermuteMode(PermuteMode::Rc8),
            Some(".ECL") => IntOp::PermuteMode(PermuteMode::Ecl),
            Some(".ECR") => IntOp::PermuteMode(PermuteMode::Ecr),
            Some(".RC16") => IntOp::PermuteMode(PermuteMode::Rc16),
            Some(_) => return None,
        };
        let d = self.target(&operands[0])?;
        self.finish(integer(op, d, B32, &[a, b, which]));
        Some(())
    }

    fn logic(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["logic", "test", "CC", "x"])?;
        let operands = inst.operands();
        let [before @ .., target, a, b] = &*operands else { return None };
        let (a, b) = (self.whole(a)?, self.whole(b)?);
        let (op, args) = match inst.modifier("logic")? {
            ".AND" => (IntOp::And, [a, b]),
            ".OR" => (IntOp::Or, [a, b]),
            ".XOR" => (IntOp::Xor, [a, b]),
            _ => (IntOp::Or, [b, Arg::ZERO]),
        };
        let result = self.int32(op, &args);
        self.write_tested(inst, before.first(), target, result)
    }

    fn logic_of_three(&mut self, inst: &Instruction) -> Option<()> {
        inst.only(&["test"])?;
        let operands = inst.operands();
        let [before @ .., target, a, b, c, table] = &*operands else { return None };
        let (a, b, c) = (self.bits(a)?, self.bits(b)?, self.bits(c)?);
        let result = self.int32(IntOp::Logic3(plain(table)? as u8), &[a, b, c]);
        self.write_tested(inst, before.first(), target, result)
    }

    /// A result, and a predicate that says whether it is zero.
    fn write_tested(&mut self, inst: &Instruction, p: Option<&Operand>, target: &Operand, result: Arg) -> Option<()> {
        let p = p.filter(|p| p.value != Value::Predicate(PT));
        let test = match (p, inst.modifier("test")) {
            (None, _) => None,
            (_, Some(".Z")) => Some(Comparison::Eq),
            (_, Some(".NZ")) => Some(Comparison::Ne),
            _ => return None,
        };
        let extends = inst.modifier("x").is_some();
        let is_asked = test.is_some() && target.value == Value::Register(RZ) && inst.modifier("CC").is_none();
        if extends && !(is_asked && self.flags == Flags::Result) {
            return None;
        }
        let d = self.target(target)?;
        self.finish(Op::Move { d, a: result });
        if inst.modifier("CC").is_some() {
            self.write_flags(d, Flags::Result);
        }
        let (Some(Operand { value: Value::Predicate(number), .. }), Some(comparison)) = (p, test) else {
            return Some(());
        };
        let d = self.predicate(*number);
        if !extends {
            self.finish(Op::Compare { d, comparison, of: Comparand::Unsigned(B32), a: result, b: Arg::ZERO });
            return Some(());
        }
        // Of the upper half, the lower half's result in the flags. Source: ptxas's comparisons of 64 bits with zero.
        let (upper, lower) = (self.compare_bits(Comparison::Eq, result, Arg::ZERO), self.zero());
        let both = self.int(IntOp::And, Width::Pred, &[upper.into(), lower.into()]).into();
        let op = if comparison == Comparison::Eq { IntOp::And } else { IntOp::Xor };
        self.finish(integer(op, d, Width::Pred, &[both, TRUE]));
        Some(())
    }
}
