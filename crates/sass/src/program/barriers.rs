//! Arithmetic that stands behind a barrier, but depends on nothing there, is moved in front of it. ptxas puts it there so
//! that it runs while loads are under way; here each register that is live at a barrier has to be kept in memory.

use roundonce_ir::{Block, Instruction, Kernel, Op, Reg, Role};
use std::collections::HashSet;

/// Moves the floating-point arithmetic of each block before the barriers that it does not depend on.
pub(super) fn hoist(kernel: &mut Kernel) {
    kernel.blocks.iter_mut().for_each(of_block);
}

fn of_block(block: &mut Block) {
    let mut code: Vec<Instruction> = Vec::with_capacity(block.instructions.len());
    // From the last barrier on: what stays behind it, what that reads, and what it writes.
    let mut behind: Vec<Instruction> = Vec::new();
    let (mut read, mut written): (HashSet<Reg>, HashSet<Reg>) = Default::default();
    for instruction in std::mem::take(&mut block.instructions) {
        let is_barrier = matches!(instruction.op, Op::Barrier { .. });
        if is_barrier {
            code.append(&mut behind);
            read.clear();
            written.clear();
        }
        let mut stays = is_barrier || !behind.is_empty();
        if matches!(instruction.op, Op::Float { .. }) && instruction.guard.is_none() {
            stays = false;
            instruction.op.registers(|role, register| {
                stays |= written.contains(&register) || role == Role::Def && read.contains(&register);
            });
        }
        if !stays {
            code.push(instruction);
            continue;
        }
        instruction.op.registers(|role, register| {
            let set = if role == Role::Use { &mut read } else { &mut written };
            set.insert(register);
        });
        read.extend(instruction.guard.map(|guard| guard.pred));
        behind.push(instruction);
    }
    code.append(&mut behind);
    block.instructions = code;
}
