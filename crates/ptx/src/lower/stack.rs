//! The part of a thread's stack that `alloca` takes.
//!
//! Frames grow up from the stack's lower end (see `routine`). What is allocated grows down from its upper end, as PTX
//! has it; the stack is full where they would meet. A function gives back what it allocated when it returns.

use super::statement::Inst;
use super::{Body, Purpose, Result};
use crate::ast::Operand as Written;
use crate::literal::{LARGEST_ALIGNMENT, alignment};
use crate::types::{ScalarKind, Type};
use roundonce_ir::{Comparand, Comparison, IntOp, Op, Operand, Reg, Signedness, Space as Memory, Width};

/// What `alloca` aligns to at least (PTX ISA, `alloca`).
const ALIGNMENT: u64 = 8;

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// The register that holds the lowest address allocated.
    pub(super) fn stack(&mut self) -> Reg {
        self.frame();
        let width = self.address_width();
        match self.stack {
            Some(stack) => stack,
            None => *self.stack.insert(self.kernel.register(width)),
        }
    }

    /// Where the stack was, for a function that moves it.
    pub(super) fn keep_stack(&mut self, function: &str) -> Option<Reg> {
        if !self.lowering.moves_stack.contains(function) {
            return None;
        }
        let (stack, kept) = (self.stack(), self.fresh(self.address_width()));
        self.emit(Op::Move { d: kept, a: stack.into() });
        Some(kept)
    }

    /// Gives back what was allocated since.
    pub(super) fn give_back(&mut self, kept: Option<Reg>) {
        if let Some(kept) = kept {
            let stack = self.stack();
            self.emit(Op::Move { d: stack, a: kept.into() });
        }
    }

    /// Ends the launch where the predicate holds.
    pub(super) fn trap_full_stack(&mut self, full: Reg, why: &str) {
        let message = format!("the stack of {} bytes is full: {why}", self.lowering.settings.stack_bytes);
        self.trap_where(full, message, true);
    }

    pub(super) fn alloca(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.stack_type(inst)?;
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        let size = self.value_at(inst, 1, ty)?;
        let align = match inst.operands.get(2) {
            Some(written) => self.alignment(written)?.max(ALIGNMENT),
            None => ALIGNMENT,
        };
        let size = self.base(size, Memory::Generic)?;
        self.only_if(|body| {
            body.allocate(size, align);
            body.read_stack(d, ty);
            Ok(())
        })
    }

    fn allocate(&mut self, size: Operand, align: u64) {
        let (width, stack, frame) = (self.address_width(), self.stack(), self.frame());
        let mask = Operand::Imm(!(align - 1) & width.mask());
        let end = self.end_of_frame(frame);
        let end = self.int(IntOp::Add, width, [end.into(), Operand::Imm(align - 1), Operand::ZERO]);
        let end = self.int(IntOp::And, width, [end.into(), mask, Operand::ZERO]);
        // A stack restored to any number may lie below.
        let top = self.int(IntOp::Max(Signedness::Unsigned), width, [stack.into(), end.into(), Operand::ZERO]);
        let room = self.int(IntOp::Sub, width, [top.into(), end.into(), Operand::ZERO]);
        let full = self.fresh(Width::Pred);
        let of = Comparand::Unsigned(width);
        self.emit(Op::Compare { d: full, comparison: Comparison::Gt, of, a: size, b: room.into() });
        let function = self.calls.last().map_or(&*self.kernel.name, |(name, _)| name);
        let why = format!("`{function}` allocates too much");
        self.trap_full_stack(full, &why);
        let lowest = self.int(IntOp::Sub, width, [stack.into(), size, Operand::ZERO]);
        let args = [lowest.into(), mask, Operand::ZERO, Operand::ZERO];
        self.emit(Op::Int { d: stack, op: IntOp::And, width, args });
    }

    /// What lies behind the frame of the function that runs; completed when the frame's size is known.
    pub(super) fn end_of_frame(&mut self, frame: Reg) -> Reg {
        let end = self.fresh(self.address_width());
        let (block, index) = self.here();
        self.ends_of_frames.push((self.owner, block, index));
        self.move_by(IntOp::Add, end, frame.into(), Operand::ZERO);
        end
    }

    pub(super) fn stacksave(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.stack_type(inst)?;
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.read_stack(d, ty);
        Ok(())
    }

    pub(super) fn stackrestore(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.stack_type(inst)?;
        let from = self.value_at(inst, 0, ty)?;
        let (a, d) = (self.base(from, Memory::Generic)?, self.stack());
        self.emit(Op::Move { d, a });
        Ok(())
    }

    /// The stack's lowest address as a value of a type; local memory has addresses of 32 bits at most.
    fn read_stack(&mut self, d: Reg, ty: Type) {
        let (a, width) = (self.stack().into(), self.address_width());
        if ty.width() == width {
            self.emit(Op::Move { d, a });
        } else {
            self.emit(Op::Extract { d, a, width, shift: 0 });
        }
    }

    fn stack_type(&self, inst: &Inst<'m, 'a>) -> Result<Type> {
        let ty = self.type_of(inst)?;
        let is_wider = ty.width() > self.address_width();
        if self.purpose == Purpose::Analysis || is_wider || ty.kind != ScalarKind::Unsigned || ty.bits < 32 {
            return Err(self.refuse(inst));
        }
        Ok(ty)
    }

    fn alignment(&self, written: &Written<'a>) -> Result<u64> {
        alignment(self.module, written)
            .ok_or_else(|| self.malformed(format!("an alignment is a power of two, {LARGEST_ALIGNMENT} at most")))
    }
}
