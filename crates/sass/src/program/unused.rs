//! What nothing reads, left out, and the registers split.

use roundonce_ir::{Kernel, Op, Operand, Program, Reg, Role, Special, Terminator};

use super::{barriers, copies, live_ranges, pairs};

/// Leaves out of a program what nothing reads: condition codes, and halves of sums that are known whole; and gives each value
/// a register of its own. Its results stay; a trace of it lacks what was left out.
pub fn without_unused(program: &mut Program) {
    for kernel in &mut program.kernels {
        live_ranges::split(kernel);
        copies::propagate(kernel);
        pairs::join(kernel);
        // Of halves that are still read here and there, the other values are unused now.
        live_ranges::split(kernel);
        copies::propagate(kernel);
        of_kernel(kernel);
        barriers::hoist(kernel);
    }
}

/// Leaves out what computes registers that nothing needed reads.
fn of_kernel(kernel: &mut Kernel) {
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
fn computes_alone(op: &Op) -> bool {
    matches!(
        op,
        Op::Move { .. }
            | Op::Int { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::Sign { .. }
    ) || matches!(op, Op::Special { special, .. } if !matches!(special, Special::Clock))
}
