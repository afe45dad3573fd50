//! Bits of integers: counted, reversed, taken out and put in.

use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Signedness, Width};
use rspirv::spirv::Op;

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    pub(super) fn count_or_reverse(&mut self, op: Op) -> Result<()> {
        if op == Op::BitCount {
            return self.each_counted(0, |body, part, a| body.int(IntOp::PopCount, part.width(), &[a]));
        }
        let ids = [self.operand(0)?];
        self.each_int(&ids, |body, part, args| {
            let value = body.int(IntOp::Reverse, part.width(), args);
            match part.bits() {
                8 => body.int(IntOp::Shr(Signedness::Unsigned), Width::B16, &[value, Operand::Imm(8)]),
                _ => value,
            }
        })
    }

    /// A number of 32 bits for each component of an operand, in the width of the result.
    pub(super) fn each_counted(
        &mut self,
        operand: usize,
        mut f: impl FnMut(&mut Self, Part, Operand) -> Operand,
    ) -> Result<()> {
        let Components { part, parts } = self.components(self.operand(operand)?)?;
        let (to, _) = self.result()?;
        let (Part::Int { .. }, Part::Int { .. }) = (part, to) else {
            return Err(self.malformed("the operand or the result is no integer"));
        };
        let mut counts = Vec::with_capacity(parts.len());
        for &a in &parts[..] {
            let count = f(self, part, a);
            counts.push(self.resized(Part::Int { bits: 32, signed: true }, Signedness::Signed, to.bits(), count));
        }
        self.define(counts)
    }

    pub(super) fn bit_field(&mut self, op: Op) -> Result<()> {
        let inserts = op == Op::BitFieldInsert;
        let ids = if inserts { vec![self.operand(0)?, self.operand(1)?] } else { vec![self.operand(0)?] };
        let mut numbers = [Operand::ZERO; 2];
        for (number, index) in numbers.iter_mut().zip(ids.len()..) {
            let (part, a) = self.scalar(self.operand(index)?)?;
            *number = self.resized(part, Signedness::Unsigned, 32, a);
        }
        let [offset, count] = numbers;
        let sign = Self::sign(op == Op::BitFieldSExtract);
        self.each_int(&ids, |body, part, args| {
            let value = match *args {
                [base, insert] => body.int(IntOp::FieldInsert, part.width(), &[insert, base, offset, count]),
                [base, ..] => body.int(IntOp::FieldExtract(sign), part.width(), &[base, offset, count]),
                [] => Operand::ZERO,
            };
            body.cut(part, value)
        })
    }

    /// The position of the lowest bit set, −1 for none.
    pub(super) fn find_lowest(&mut self, part: Part, a: Operand) -> Operand {
        let width = part.width();
        let zeros = self.zeros_below(width, a);
        let count = self.int(IntOp::PopCount, width, &[zeros]);
        let none = self.compare(Comparison::Eq, Comparand::Unsigned(width), a, Operand::ZERO);
        self.select(Width::B32, none, Operand::Imm(0xffff_ffff), count)
    }

    /// Ones in the place of the zeros below the lowest bit set.
    pub(super) fn zeros_below(&mut self, width: Width, a: Operand) -> Operand {
        let below = self.int(IntOp::Sub, width, &[a, Operand::Imm(1)]);
        let flipped = self.int(IntOp::Not, width, &[a]);
        self.int(IntOp::And, width, &[below, flipped])
    }

    /// The position of the highest bit that differs from the sign, −1 for none.
    pub(super) fn find_highest(&mut self, part: Part, sign: Signedness, a: Operand) -> Operand {
        let a = self.extended(part, sign, a);
        self.int(IntOp::FindHighest { sign, shift: false }, part.width(), &[a])
    }
}
