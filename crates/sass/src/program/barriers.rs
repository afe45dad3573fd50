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

#[cfg(test)]
mod tests {
    use super::super::simplify::tests::{after, copy};
    use super::*;
    use roundonce_arith::{ArithOp, Format, Operation, Rounding};
    use roundonce_ir::{BarrierKind, Operand, Width};

    fn sum(d: u32, a: u32, b: u32) -> Op {
        let operation = Operation::new(ArithOp::Add, Format::F32, Rounding::NearestEven);
        let args = [Reg(a).into(), Reg(b).into(), Operand::Imm(0)];
        Op::Float { d: Reg(d), operation, components: 1, contractible: false, args }
    }
    fn barrier() -> Op {
        Op::Barrier { kind: BarrierKind::Wait, id: Operand::Imm(0), count: None }
    }
    fn hoisted(code: Vec<(Op, Option<u32>)>) -> Vec<Op> {
        after(hoist, &[Width::B32, Width::B32, Width::B32, Width::B32, Width::Pred], code)
    }

    #[test]
    fn arithmetic_moves_before_a_barrier_that_it_does_not_depend_on() {
        let code = vec![(barrier(), None), (copy(3, Operand::Imm(0)), None), (sum(2, 0, 1), None)];
        assert_eq!(hoisted(code), [sum(2, 0, 1), barrier(), copy(3, Operand::Imm(0))]);
    }

    #[test]
    fn other_arithmetic_stays() {
        let reads = vec![(barrier(), None), (copy(0, Operand::Imm(0)), None), (sum(2, 0, 1), None)];
        let overwrites = vec![(barrier(), None), (copy(3, Reg(2)), None), (sum(2, 0, 1), None)];
        let written_twice = vec![(barrier(), None), (copy(2, Operand::Imm(0)), None), (sum(2, 0, 1), None)];
        let under_a_predicate = vec![(barrier(), None), (sum(2, 0, 1), Some(4))];
        for code in [reads, overwrites, written_twice, under_a_predicate] {
            let ops: Vec<Op> = code.iter().map(|(op, _)| op.clone()).collect();
            assert_eq!(hoisted(code), ops);
        }
    }
}
