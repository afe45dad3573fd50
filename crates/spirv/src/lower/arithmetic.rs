//! Integers and bools.
//!
//! Values of 8 bits live in registers of 16 with zeros above; what looks at a sign extends them first, and what may
//! leave bits above cuts them.

use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Signedness, Width};
use rspirv::spirv::Op;

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

const fn is_integer(part: Part) -> bool {
    matches!(part, Part::Int { .. })
}

impl Body<'_> {
    /// Operands as wide as the result, an integer's, component by component.
    pub(super) fn each_int(
        &mut self,
        ids: &[u32],
        mut f: impl FnMut(&mut Self, Part, &[Operand]) -> Operand,
    ) -> Result<()> {
        let (part, count) = self.result()?;
        let Part::Int { bits, .. } = part else {
            return Err(self.malformed("the Result Type is no integer scalar or vector"));
        };
        let fits = |found| is_integer(found) && found.bits() == bits;
        let all = self.alike(ids, &fits, count)?;
        let mut parts = Vec::with_capacity(count);
        for at in 0..count {
            let args: Vec<Operand> = all.iter().map(|parts| parts[at]).collect();
            parts.push(f(self, part, &args));
        }
        self.define(parts)
    }

    /// An operation on integers of one width, the operands extended as the sign says.
    pub(super) fn int_of(&mut self, op: IntOp, part: Part, sign: Signedness, args: &[Operand]) -> Operand {
        let args: Vec<Operand> = args.iter().map(|&a| self.extended(part, sign, a)).collect();
        let value = self.int(op, part.width(), &args);
        self.cut(part, value)
    }

    #[rustfmt::skip] // An opcode a line.
    pub(super) fn integer_arithmetic(&mut self, op: Op) -> Result<()> {
        let ids = self.operands().to_vec();
        let (op, signed) = match op {
            Op::IAdd       => (IntOp::Add, false),
            Op::ISub       => (IntOp::Sub, false),
            Op::IMul       => (IntOp::Mul, false),
            Op::UDiv       => (IntOp::Div(Signedness::Unsigned), false),
            Op::SDiv       => (IntOp::Div(Signedness::Signed), true),
            Op::UMod       => (IntOp::Rem(Signedness::Unsigned), false),
            Op::SRem       => (IntOp::Rem(Signedness::Signed), true),
            Op::BitwiseAnd => (IntOp::And, false),
            Op::BitwiseOr  => (IntOp::Or, false),
            Op::BitwiseXor => (IntOp::Xor, false),
            Op::SNegate    => (IntOp::Neg, true),
            Op::Not        => (IntOp::Not, false),
            _ => return self.each_int(&ids, |body, part, args| body.modulo(part, args[0], args[1])),
        };
        self.each_int(&ids, |body, part, args| body.int_of(op, part, Self::sign(signed), args))
    }

    /// The remainder with the sign of the divisor.
    fn modulo(&mut self, part: Part, a: Operand, b: Operand) -> Operand {
        let rest = self.int_of(IntOp::Rem(Signedness::Signed), part, Signedness::Signed, &[a, b]);
        let moved = self.int_of(IntOp::Add, part, Signedness::Unsigned, &[rest, b]);
        let signs = self.int(IntOp::Xor, part.width(), &[rest, b]);
        let opposed = self.is_negative(part, signs);
        let nonzero = self.is_not_zero(part.width(), rest);
        let moves = self.int(IntOp::And, Width::Pred, &[opposed, nonzero]);
        self.select(part.width(), moves, moved, rest)
    }

    /// The count may be of another width than what is shifted.
    pub(super) fn shift(&mut self, op: Op) -> Result<()> {
        const LARGEST: u64 = u32::MAX as u64;
        let counts = self.components(self.operand(1)?)?;
        let (op, signed) = match op {
            Op::ShiftLeftLogical => (IntOp::Shl, false),
            Op::ShiftRightLogical => (IntOp::Shr(Signedness::Unsigned), false),
            _ => (IntOp::Shr(Signedness::Signed), true),
        };
        let ids = [self.operand(0)?];
        let count = self.result()?.1;
        if !is_integer(counts.part) || counts.parts.len() != count {
            return Err(self.malformed("the count is no integer, or has another number of components"));
        }
        let mut places = counts.parts.iter();
        self.each_int(&ids, |body, part, args| {
            // A count of the width or more stays one without its upper half.
            let count = match places.next().copied().unwrap_or(Operand::ZERO) {
                Operand::Imm(count) => Operand::Imm(count.min(LARGEST)),
                count if counts.part.bits() > 32 => {
                    let op = IntOp::Min(Signedness::Unsigned);
                    body.int(op, counts.part.width(), &[count, Operand::Imm(LARGEST)])
                }
                count => count,
            };
            let count = body.resized(counts.part, Signedness::Unsigned, 32, count);
            let a = body.extended(part, Self::sign(signed), args[0]);
            let value = body.int(op, part.width(), &[a, count]);
            body.cut(part, value)
        })
    }

    /// Two operands of one integer type, and its components.
    fn integers(&mut self) -> Result<(Part, Vec<[Operand; 2]>)> {
        let Components { part, parts: a } = self.components(self.operand(0)?)?;
        let Components { part: other, parts: b } = self.components(self.operand(1)?)?;
        if !is_integer(part) || !is_integer(other) || part.bits() != other.bits() || a.len() != b.len() {
            return Err(self.malformed("the operands are no integers of one width"));
        }
        Ok((part, a.iter().zip(&b[..]).map(|(&a, &b)| [a, b]).collect()))
    }

    #[rustfmt::skip] // An opcode a line.
    pub(super) fn integer_comparison(&mut self, op: Op) -> Result<()> {
        let (comparison, signed) = match op {
            Op::IEqual            => (Comparison::Eq, false),
            Op::INotEqual         => (Comparison::Ne, false),
            Op::ULessThan         => (Comparison::Lt, false),
            Op::SLessThan         => (Comparison::Lt, true),
            Op::UGreaterThan      => (Comparison::Gt, false),
            Op::SGreaterThan      => (Comparison::Gt, true),
            Op::ULessThanEqual    => (Comparison::Le, false),
            Op::SLessThanEqual    => (Comparison::Le, true),
            Op::UGreaterThanEqual => (Comparison::Ge, false),
            _                     => (Comparison::Ge, true),
        };
        let (part, pairs) = self.integers()?;
        let of = if signed { Comparand::Signed(part.width()) } else { Comparand::Unsigned(part.width()) };
        let mut parts = Vec::with_capacity(pairs.len());
        for [a, b] in pairs {
            let (a, b) = (self.extended(part, Self::sign(signed), a), self.extended(part, Self::sign(signed), b));
            parts.push(self.compare(comparison, of, a, b));
        }
        self.define(parts)
    }

    pub(super) fn logic(&mut self, op: Op) -> Result<()> {
        let ids = self.operands().to_vec();
        let count = self.result()?.1;
        let all = self.alike(&ids, &|part| part == Part::Bool, count)?;
        let mut parts = Vec::with_capacity(count);
        for at in 0..count {
            let args: Vec<Operand> = all.iter().map(|parts| parts[at]).collect();
            let op = match op {
                Op::LogicalAnd => IntOp::And,
                Op::LogicalOr => IntOp::Or,
                Op::LogicalNot => IntOp::Not,
                _ => IntOp::Xor,
            };
            let value = self.int(op, Width::Pred, &args);
            let flipped = self.at.opcode == Op::LogicalEqual as u16;
            parts.push(if flipped { self.not(value) } else { value });
        }
        self.define(parts)
    }

    pub(super) fn any_or_all(&mut self, op: Op) -> Result<()> {
        let parts = self.components(self.operand(0)?)?.parts;
        let op = if op == Op::Any { IntOp::Or } else { IntOp::And };
        let value = parts.iter().copied().reduce(|a, b| self.int(op, Width::Pred, &[a, b]));
        self.define(vec![value.unwrap_or(Operand::ZERO)])
    }

    /// Products of integers added, in the result's width; with an accumulator added last and clamped. The vectors may be
    /// packed into words.
    pub(super) fn int_dot(&mut self, op: Op) -> Result<()> {
        let (first_signed, second_signed, accumulates) = match op {
            Op::SDot => (true, true, false),
            Op::UDot => (false, false, false),
            Op::SUDot => (true, false, false),
            Op::SDotAccSat => (true, true, true),
            Op::UDotAccSat => (false, false, true),
            _ => (true, false, true),
        };
        let (part, count) = self.result()?;
        let packed = self.operands().len() > if accumulates { 3 } else { 2 };
        if !is_integer(part) || count != 1 {
            return Err(self.malformed("the Result Type is no integer"));
        }
        let mut all = Vec::with_capacity(2);
        for (index, signed) in [(0, first_signed), (1, second_signed)] {
            let Components { part: of, parts } = self.components(self.operand(index)?)?;
            if !is_integer(of) || packed && (of.bits() != 32 || parts.len() != 1) {
                return Err(self.malformed("an operand is no vector of integers, and no word of packed ones"));
            }
            let sign = Self::sign(signed);
            let mut wide = Vec::new();
            if packed {
                for place in [0, 8, 16, 24] {
                    let field = [parts[0], Operand::Imm(place), Operand::Imm(8)];
                    let byte = self.int(IntOp::FieldExtract(sign), Width::B32, &field);
                    wide.push(self.resized(of, sign, part.bits(), byte));
                }
            } else {
                for &a in &parts[..] {
                    wide.push(self.resized(of, sign, part.bits(), a));
                }
            }
            all.push(wide);
        }
        if all[0].len() != all[1].len() {
            return Err(self.malformed("the vectors are of different sizes"));
        }
        let mut sum = Operand::ZERO;
        for (&a, &b) in all[0].iter().zip(&all[1]) {
            sum = self.int_of(IntOp::MulAdd, part, Signedness::Unsigned, &[a, b, sum]);
        }
        if accumulates {
            let (of, accumulator) = self.scalar(self.operand(2)?)?;
            if of.bits() != part.bits() || !is_integer(of) {
                return Err(self.malformed("the accumulator is of another type than the result"));
            }
            sum = self.sum_saturated(part, Self::sign(first_signed), false, sum, accumulator);
        }
        self.define(vec![sum])
    }

    /// A result and its carry, a product's two halves: a struct of both.
    pub(super) fn extended_arithmetic(&mut self, op: Op) -> Result<()> {
        let (part, pairs) = self.integers()?;
        let width = part.width();
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for [a, b] in pairs {
            match op {
                Op::IAddCarry | Op::ISubBorrow => {
                    let adds = op == Op::IAddCarry;
                    let value =
                        self.int_of(if adds { IntOp::Add } else { IntOp::Sub }, part, Signedness::Unsigned, &[a, b]);
                    let (x, y) = if adds { (value, a) } else { (a, b) };
                    let carries = self.compare(Comparison::Lt, Comparand::Unsigned(width), x, y);
                    low.push(value);
                    high.push(self.select(width, carries, Operand::Imm(1), Operand::ZERO));
                }
                _ if part.bits() == 8 => return Err(self.unsupported(format!("{} of 8 bits", self.opcode()))),
                _ => {
                    let sign = Self::sign(op == Op::SMulExtended);
                    low.push(self.int(IntOp::Mul, width, &[a, b]));
                    high.push(self.int(IntOp::MulHigh(sign), width, &[a, b]));
                }
            }
        }
        low.append(&mut high);
        self.define(low)
    }
}
