//! What nothing reads, left out.

use roundonce_ir::{Kernel, Op, Operand, Reg, Role, Space, Special, Terminator};

/// Leaves out what computes registers that nothing needed reads.
pub(super) fn leave_out(kernel: &mut Kernel) {
    // By register, the instructions that write it, until it is needed.
    let mut writers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); kernel.registers.len()];
    let mut needed: Vec<Vec<bool>> = Vec::with_capacity(kernel.blocks.len());
    let mut todo: Vec<Reg> = Vec::new();
    for (index, block) in kernel.blocks.iter().enumerate() {
        let mut of_block = Vec::with_capacity(block.instructions.len());
        for (at, instruction) in block.instructions.iter().enumerate() {
            let is_needed = !computes_alone(&instruction.op);
            of_block.push(is_needed);
            instruction.op.registers(|role, register| match role {
                Role::Def if !is_needed => writers[register.0 as usize].push((index, at)),
                Role::Use if is_needed => todo.push(register),
                _ => {}
            });
            todo.extend(instruction.guard.filter(|_| is_needed).map(|guard| guard.pred));
        }
        match block.terminator {
            Terminator::Branch { pred, .. } => todo.push(pred),
            Terminator::Switch { index: Operand::Reg(register), .. } => todo.push(register),
            _ => {}
        }
        needed.push(of_block);
    }
    while let Some(register) = todo.pop() {
        for (index, at) in std::mem::take(&mut writers[register.0 as usize]) {
            if std::mem::replace(&mut needed[index][at], true) {
                continue;
            }
            let instruction = &kernel.blocks[index].instructions[at];
            instruction.op.registers(|role, register| {
                if role == Role::Use {
                    todo.push(register);
                }
            });
            todo.extend(instruction.guard.map(|guard| guard.pred));
        }
    }
    for (block, needed) in kernel.blocks.iter_mut().zip(needed) {
        let mut needed = needed.into_iter();
        block.instructions.retain(|_| needed.next().unwrap_or(true));
    }
}

/// Whether nothing but the result shows that an operation ran.
pub(super) fn computes_alone(op: &Op) -> bool {
    matches!(
        op,
        Op::Move { .. }
            | Op::Int { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::Sign { .. }
            | Op::Float { .. }
            | Op::Approximate { .. }
            | Op::Load { space: Space::Param, address: Operand::Imm(_), .. }
    ) || matches!(op, Op::Special { special, .. } if !matches!(special, Special::Clock))
}
