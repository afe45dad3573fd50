//! Operations put into blocks.

use roundonce_arith::{ArithOp, Format, Operation, Rounding};
use roundonce_ir::{
    Comparand, Comparison, Instruction as Step, IntOp, Op, Operand, Reg, Scalar, Signedness, Terminator, Width,
    too_large,
};

use super::types::Part;
use super::{Body, Draft, Result};

impl Body<'_> {
    pub(super) fn new_block(&mut self) -> usize {
        self.blocks.push(Draft { instructions: Vec::new(), terminator: None, place: self.place });
        self.blocks.len() - 1
    }

    /// Ends the current block, if it has no end yet.
    pub(super) fn end(&mut self, terminator: Terminator) {
        let place = self.place;
        let block = &mut self.blocks[self.current];
        if block.terminator.is_none() {
            block.terminator = Some(terminator);
            block.place = place;
        }
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.operations += 1;
        let step = Step::new(op, self.place);
        self.blocks[self.current].instructions.push(step);
    }

    /// Whether the kernel is still of a size that can be run.
    pub(super) fn check_size(&self) -> Result<()> {
        let largest = self.lowering.largest_kernel;
        if self.operations + self.blocks.len() > largest {
            let (what, help) = too_large(largest);
            return Err(self.unsupported(what).help(help));
        }
        Ok(())
    }

    pub(super) fn fresh(&mut self, width: Width) -> Reg {
        self.kernel.register(width)
    }

    /// An integer operation.
    pub(super) fn int(&mut self, op: IntOp, width: Width, args: &[Operand]) -> Operand {
        let d = self.fresh(op.result_width(width));
        let mut all = [Operand::ZERO; 4];
        for (place, &arg) in all.iter_mut().zip(args) {
            *place = arg;
        }
        self.emit(Op::Int { d, op, width, args: all });
        d.into()
    }

    pub(super) fn compare(&mut self, comparison: Comparison, of: Comparand, a: Operand, b: Operand) -> Operand {
        let d = self.fresh(Width::Pred);
        self.emit(Op::Compare { d, comparison, of, a, b });
        d.into()
    }

    pub(super) fn select(&mut self, width: Width, p: Operand, a: Operand, b: Operand) -> Operand {
        if let Operand::Imm(known) = p {
            return if known & 1 == 1 { a } else { b };
        }
        let d = self.fresh(width);
        self.emit(Op::Select { d, p, a, b });
        d.into()
    }

    /// A copy that later writes to the source do not touch.
    pub(super) fn copied(&mut self, width: Width, a: Operand) -> Operand {
        let d = self.fresh(width);
        self.emit(Op::Move { d, a });
        d.into()
    }

    /// An operation of the multiply-add family as the module's modes have it.
    pub(super) fn float(&mut self, kind: ArithOp, format: Format, args: &[Operand]) -> Operand {
        let operation = self.operation(kind, format);
        self.operate(operation, args)
    }

    /// The family's operation of a width, as the modes have it.
    pub(super) fn operation(&mut self, kind: ArithOp, format: Format) -> Operation {
        let mode = self.rounds(format);
        Operation { flush: mode.flush, ..Operation::new(kind, format, mode.rounding) }
    }

    /// An operation that no compiler may fuse with another.
    pub(super) fn operate(&mut self, operation: Operation, args: &[Operand]) -> Operand {
        self.operate_as(operation, false, args)
    }

    pub(super) fn operate_as(&mut self, operation: Operation, contractible: bool, args: &[Operand]) -> Operand {
        self.contractible.0 |= contractible && operation.op == ArithOp::Mul;
        self.contractible.1 |= contractible && operation.op == ArithOp::Add;
        let d = self.fresh(Width::holding(operation.format.width()));
        let mut all = [Operand::ZERO; 3];
        for (place, &arg) in all.iter_mut().zip(args) {
            *place = arg;
        }
        self.emit(Op::Float { d, operation, components: 1, contractible, args: all });
        d.into()
    }

    /// From one scalar type to another.
    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, rounding: Rounding, a: Operand) -> Operand {
        let d = self.fresh(to.width());
        self.emit(Op::Convert { d, to, from, rounding, integral: false, flush: false, saturate: false, a });
        d.into()
    }

    /// A value of a small integer type with its bits above the type's, as the sign says; wider types are as they are.
    pub(super) fn extended(&mut self, part: Part, sign: Signedness, a: Operand) -> Operand {
        let signed = sign == Signedness::Signed;
        let Part::Int { bits: 8, .. } = part else { return a };
        if let Operand::Imm(bits) = a {
            return Operand::Imm(if signed { bits as u8 as i8 as i16 as u16 as u64 } else { bits & 0xff });
        }
        self.convert(Scalar::Int { bits: 8, signed }, Scalar::Int { bits: 16, signed }, Rounding::TowardZero, a)
    }

    /// An 8-bit result with zeros above, as all 8-bit values are kept.
    pub(super) fn cut(&mut self, part: Part, a: Operand) -> Operand {
        match part {
            Part::Int { bits: 8, .. } => self.int(IntOp::And, Width::B16, &[a, Operand::Imm(0xff)]),
            _ => a,
        }
    }

    /// An integer in another width.
    pub(super) fn resized(&mut self, part: Part, sign: Signedness, to: u32, a: Operand) -> Operand {
        let (bits, signed) = (part.bits(), sign == Signedness::Signed);
        let a = self.extended(part, sign, a);
        if bits == to || part.width() == Width::holding(to) {
            return self.cut(Part::Int { bits: to, signed }, a);
        }
        let bits = if bits == 8 { 16 } else { bits };
        let wide = if to == 8 { 16 } else { to };
        let scalar = |bits| Scalar::Int { bits, signed };
        let resized = self.convert(scalar(bits), scalar(wide), Rounding::TowardZero, a);
        self.cut(Part::Int { bits: to, signed }, resized)
    }

    /// Whether an integer is not zero.
    pub(super) fn is_not_zero(&mut self, width: Width, a: Operand) -> Operand {
        self.compare(Comparison::Ne, Comparand::Unsigned(width), a, Operand::ZERO)
    }

    pub(super) fn not(&mut self, a: Operand) -> Operand {
        self.int(IntOp::Not, Width::Pred, &[a])
    }

    /// Two halves put together, the first in the low bits.
    pub(super) fn pack(&mut self, width: Width, low: Operand, high: Operand) -> Operand {
        let d = self.fresh(width);
        self.emit(Op::Pack { d, low, high });
        d.into()
    }

    /// Bits cut out of a wider value.
    pub(super) fn extract(&mut self, to: Width, from: Width, a: Operand, shift: u32) -> Operand {
        let d = self.fresh(to);
        self.emit(Op::Extract { d, a, width: from, shift });
        d.into()
    }

    /// An index as 64 bits: indices are signed.
    pub(super) fn index(&mut self, part: Part, a: Operand) -> Operand {
        self.resized(part, Signedness::Signed, 64, a)
    }

    pub(super) const fn sign(signed: bool) -> Signedness {
        if signed { Signedness::Signed } else { Signedness::Unsigned }
    }
}
