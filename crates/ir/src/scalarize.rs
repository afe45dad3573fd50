//! Packed operations taken apart, for engines that compute one component at a time.

use super::{Instruction, Kernel, Op, Operand, Scope, Width};
use std::borrow::Cow;

/// The kernel with an operation a component in place of every packed [`Op::Float`]: the parts are extracted, computed
/// without a guard, and put together under the guard of the whole, all at the same source location.
///
/// The registers of the kernel keep their numbers; those of the parts follow.
pub fn scalarize(kernel: &Kernel) -> Cow<'_, Kernel> {
    let is_packed = |instruction: &Instruction| matches!(instruction.op, Op::Float { components: 2.., .. });
    if !kernel.blocks.iter().flat_map(|block| &block.instructions).any(is_packed) {
        return Cow::Borrowed(kernel);
    }
    let mut scalar = kernel.clone();
    for block in 0..scalar.blocks.len() {
        for instruction in core::mem::take(&mut scalar.blocks[block].instructions) {
            let mut parts = Vec::new();
            apart(&mut scalar, instruction, &mut parts);
            scalar.blocks[block].instructions.append(&mut parts);
        }
    }
    Cow::Owned(scalar)
}

/// The kernel as engines run it: with no packed operation, and without the fences that order a block for itself, in which
/// every engine is sequential.
pub fn runnable(kernel: &Kernel) -> Cow<'_, Kernel> {
    let is_idle = |at: &Instruction| at.op == Op::Fence && at.effective_order().scope == Scope::Block;
    let mut kernel = scalarize(kernel);
    if kernel.blocks.iter().flat_map(|block| &block.instructions).any(is_idle) {
        kernel.to_mut().blocks.iter_mut().for_each(|block| block.instructions.retain(|at| !is_idle(at)));
    }
    kernel
}

fn apart(kernel: &mut Kernel, instruction: Instruction, parts: &mut Vec<Instruction>) {
    let Op::Float { d, operation, components: components @ 2.., contractible, args } = instruction.op else {
        parts.push(instruction);
        return;
    };
    let loc = instruction.loc;
    // By operand, its components.
    let mut operands = Vec::new();
    for (index, arg) in args.into_iter().enumerate().take(operation.op.arity()) {
        let bits = operation.operand_format(index).width();
        let (part, width) = (Width::holding(bits), Width::holding(bits * components));
        let components = (0..components).map(|component| match arg {
            Operand::Imm(value) => Operand::Imm(value >> (component * bits) & part.mask()),
            Operand::Reg(_) => {
                let d = kernel.register(part);
                parts.push(Instruction::new(Op::Extract { d, a: arg, width, shift: component * bits }, loc));
                Operand::Reg(d)
            }
        });
        operands.push(components.collect::<Vec<_>>());
    }
    let mut results = Vec::new();
    for component in 0..components as usize {
        let d = kernel.register(Width::holding(operation.format.width()));
        let mut args = [Operand::ZERO; 3];
        for (arg, operand) in args.iter_mut().zip(&operands) {
            *arg = operand[component];
        }
        parts.push(Instruction::new(Op::Float { d, operation, components: 1, contractible, args }, loc));
        results.push(Operand::Reg(d));
    }
    let op = Op::Pack { d, low: results[0], high: results[1] };
    parts.push(Instruction { guard: instruction.guard, ..Instruction::new(op, loc) });
}
