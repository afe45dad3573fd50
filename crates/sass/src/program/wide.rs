//! Numbers of 64 bits that machine code computes in halves: addresses, mostly. Where both halves of a sum are seen in one
//! block, the sum is computed as one of 64 bits as well, and what takes the pair takes that: engines see how addresses
//! of neighbouring lanes lie.

use roundonce_ir::{IntOp, Op, Operand as Arg, Reg, Signedness, Width};

use super::body::{B32, Body};
use crate::instruction::{Instruction, Operand, RZ, Value};

/// What a register is known to hold, by registers that are written once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// The same.
    Copy(Reg),
    /// It shifted left.
    Left(Reg, u32),
    /// It shifted right, with its sign or without.
    Right(Reg, u32, Signedness),
    /// The lower half of it.
    Low(Reg),
    /// The upper half of it.
    High(Reg),
    /// The lower half of the last sum that set the carry.
    LowSum,
    /// The product of two lower halves of 16 bits, and a sum.
    LowProduct(Arg, Arg, Arg),
    /// The product of a lower and an upper half, cut to 16 bits, and the other's lower half above it.
    Merged(Arg, Arg),
}

/// Half of a summand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Half {
    Immediate(u32),
    Constant { bank: u8, offset: u16 },
    Known(Known),
}

/// The halves of two summands.
pub(super) type Halves = [Half; 2];

impl Body<'_> {
    /// Whether an addition is the lower or the upper half of one of 64 bits.
    pub(super) fn is_half_of_sum(inst: &Instruction) -> bool {
        inst.modifier("CC").is_some() != inst.modifier("x").is_some()
    }

    /// A register that holds what a register holds now.
    fn copy_of(&mut self, number: u8) -> Reg {
        if let Some(Known::Copy(reg)) = self.known.get(&number) {
            return *reg;
        }
        let (d, a) = (self.fresh(B32), self.read(number));
        self.emit(Op::Move { d, a });
        self.known.entry(number).or_insert(Known::Copy(d));
        d
    }

    /// An operand as what holds its value from here on.
    fn kept(&mut self, operand: &Operand) -> Option<Arg> {
        match operand.value {
            _ if self.guard.is_some() || operand.negate => None,
            Value::Register(RZ) => Some(Arg::ZERO),
            Value::Register(number) => Some(self.copy_of(number).into()),
            Value::Immediate(_) | Value::Constant { .. } => self.bits(operand),
            _ => None,
        }
    }

    /// What an `XMAD` makes of the product of two words: a part of it that is known, or where it is the last part the
    /// operands of the product and the sum. Source: ptxas's `mad.lo`, which is these three, or two with an immediate.
    pub(super) fn product_part(&mut self, inst: &Instruction) -> (Option<Known>, Option<[Arg; 3]>) {
        let operands = inst.operands();
        let uppers = [operands[1].suffix == ".H1", operands[2].suffix == ".H1"];
        if self.is_traced || inst.modifier("type").is_some() || self.guard.is_some() {
            return (None, None);
        }
        let (shifts, merges) = (inst.modifier("psl").is_some(), inst.modifier("mrg").is_some());
        let known = |body: &Self, operand: &Operand| match operand.value {
            Value::Register(number) => body.known.get(&number).copied(),
            _ => None,
        };
        let (second, third) = (known(self, &operands[2]), known(self, &operands[3]));
        match (shifts, merges, inst.modifier("mode"), uppers) {
            (false, false, None, [false, false]) => {
                let (Some(a), Some(b)) = (self.kept(&operands[1]), self.kept(&operands[2])) else {
                    return (None, None);
                };
                let Some(c) = self.kept(&operands[3]) else { return (None, None) };
                (Some(Known::LowProduct(a, b, c)), None)
            }
            (false, true, None, [false, true]) if operands[3].value == Value::Register(RZ) => {
                let (Some(a), Some(b)) = (self.kept(&operands[1]), self.kept(&operands[2])) else {
                    return (None, None);
                };
                (Some(Known::Merged(a, b)), None)
            }
            (true, false, Some(".CBCC"), [true, true]) => match (second, third, self.kept(&operands[1])) {
                (Some(Known::Merged(a, b)), Some(Known::LowProduct(x, y, c)), Some(upper))
                    if a == upper && a == x && b == y =>
                {
                    (None, Some([a, b, c]))
                }
                _ => (None, None),
            },
            (true, false, None, [true, false]) => match (operands[2].value, third, self.kept(&operands[1])) {
                (Value::Immediate(bits @ 0..=0xffff), Some(Known::LowProduct(a, b, c)), Some(upper))
                    if a == upper && b == Arg::Imm(u64::from(bits)) =>
                {
                    (None, Some([a, b, c]))
                }
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    /// What is added, where the sum is that of every lane.
    pub(super) fn summand(&mut self, operand: &Operand) -> Option<Half> {
        if self.is_traced || self.guard.is_some() || operand.negate {
            return None;
        }
        Some(match operand.value {
            Value::Register(RZ) => Half::Immediate(0),
            Value::Register(number) => match self.known.get(&number) {
                Some(known @ (Known::Left(..) | Known::Right(..) | Known::Low(_) | Known::High(_))) => {
                    Half::Known(*known)
                }
                _ => Half::Known(Known::Copy(self.copy_of(number))),
            },
            Value::Immediate(bits) => Half::Immediate(bits),
            Value::Constant { bank: bank @ (0 | 4), offset } => Half::Constant { bank, offset },
            _ => return None,
        })
    }
    /// The same shifted left.
    pub(super) fn scaled_half(&mut self, operand: &Operand, shift: u32) -> Option<Half> {
        match operand.value {
            _ if shift == 0 => self.summand(operand),
            Value::Register(number) if number != RZ && !self.is_traced && self.guard.is_none() && !operand.negate => {
                Some(Half::Known(Known::Left(self.copy_of(number), shift)))
            }
            _ => None,
        }
    }
    /// The upper half of a pair shifted left, of a lower half that is extended.
    pub(super) fn upper_half(&mut self, low: &Operand, high: &Operand, shift: u32) -> Option<Half> {
        let Half::Known(Known::Left(low, _)) = self.scaled_half(low, shift)? else { return None };
        let right = |sign| Some(Half::Known(Known::Right(low, 32 - shift, sign)));
        match self.summand(high)? {
            Half::Immediate(0) => right(Signedness::Unsigned),
            Half::Known(Known::Right(of, 31, Signedness::Signed)) if of == low => right(Signedness::Signed),
            _ => None,
        }
    }

    /// Both halves as one number.
    fn joined(&mut self, low: Half, high: Half) -> Option<Arg> {
        let extended = |body: &mut Self, reg: Reg, sign, factor| {
            Some(body.int(IntOp::MulWide(sign), B32, &[reg.into(), Arg::Imm(factor)]).into())
        };
        match (low, high) {
            (Half::Immediate(low), Half::Immediate(high)) => Some(Arg::Imm(u64::from(low) | u64::from(high) << 32)),
            (Half::Constant { bank, offset }, Half::Constant { bank: of, offset: next })
                if bank == of && offset.checked_add(4) == Some(next) =>
            {
                self.constant_pair(bank, offset)
            }
            (Half::Known(Known::Low(low)), Half::Known(Known::High(high))) if low == high => Some(low.into()),
            (Half::Known(Known::Left(low, left)), Half::Known(Known::Right(high, right, sign)))
                if low == high && left + right == 32 =>
            {
                extended(self, low, sign, 1 << left)
            }
            (Half::Known(Known::Copy(low)), Half::Known(Known::Right(high, 31, Signedness::Signed))) if low == high => {
                extended(self, low, Signedness::Signed, 1)
            }
            (Half::Known(Known::Copy(low)), Half::Immediate(0)) => extended(self, low, Signedness::Unsigned, 1),
            (Half::Known(Known::Copy(low)), Half::Known(Known::Copy(high))) => {
                Some(self.pack(low.into(), high.into()).into())
            }
            _ => None,
        }
    }

    /// A sum that set the carry: its summands and the register of its result.
    pub(super) fn begin_sum(&mut self, target: &Operand, halves: Option<Halves>) {
        self.low_sum = None;
        if let (Value::Register(number), Some(halves), None) = (target.value, halves, self.guard)
            && number != RZ
        {
            self.known.insert(number, Known::LowSum);
            self.low_sum = Some((number, halves));
        }
    }

    /// The upper half of that sum, which was computed to a register: the whole of it is known from here on.
    pub(super) fn end_sum(&mut self, target: &Operand, halves: Option<Halves>) {
        let (Value::Register(high), Some([a, b]), Some((low, [c, d])), None) =
            (target.value, halves, self.low_sum.take(), self.guard)
        else {
            return;
        };
        if high == RZ || high == low || self.known.get(&low) != Some(&Known::LowSum) {
            return;
        }
        let whole = [(c, a, d, b), (c, b, d, a)].into_iter().find_map(|(low_a, high_a, low_b, high_b)| {
            let a = self.joined(low_a, high_a)?;
            Some((a, self.joined(low_b, high_b)?))
        });
        if let Some((a, b)) = whole {
            let sum = self.int(IntOp::Add, Width::B64, &[a, b]);
            // From here on the halves are its: in another block the pair can be known for it. No trace shows that.
            let loc = std::mem::take(&mut self.loc);
            for (number, shift) in [(low, 0), (high, 32)] {
                let d = self.register(number);
                self.finish(Op::Extract { d, a: sum.into(), width: Width::B64, shift });
            }
            self.loc = loc;
            self.known.insert(low, Known::Low(sum));
            self.known.insert(high, Known::High(sum));
        }
    }

    /// The number in a register and the one behind it, where it is known as one.
    pub(super) fn known_pair(&self, first: u8) -> Option<Arg> {
        match (self.known.get(&first)?, self.known.get(&first.checked_add(1)?)?) {
            (Known::Low(low), Known::High(high)) if low == high => Some((*low).into()),
            _ => None,
        }
    }

    /// What a shift is to make: the half of an index that is scaled.
    pub(super) fn shifted(&mut self, source: &Operand, count: Arg, op: IntOp) -> Option<Known> {
        let (Value::Register(number), Arg::Imm(count), None) = (source.value, count, self.guard) else { return None };
        if number == RZ || self.is_traced {
            return None;
        }
        match (op, count as u32) {
            (IntOp::Shl, count @ 1..=4) => Some(Known::Left(self.copy_of(number), count)),
            (IntOp::Shr(sign), count @ 28..=31) => Some(Known::Right(self.copy_of(number), count, sign)),
            _ => None,
        }
    }
}
