//! The rewriting that contraction is.

use super::{Candidate, Instruction, Kernel, Liveness, Op, Operand, Position, Reg, Role, Terminator, candidates};
use crate::cfg::step;
use crate::contraction::is_useful;
use std::collections::BTreeMap;

/// Does what the assembler does: fuses what [`candidates`] says it fuses, and removes the products that nothing uses
/// any more. Returns the source locations of the additions.
pub fn contract(kernel: &mut Kernel) -> Vec<u32> {
    let mut chosen = candidates(kernel);
    chosen.retain(|candidate| candidate.fuses);
    let loc = |at: Position| kernel.blocks[at.block].instructions[at.index].loc;
    let locs = chosen.iter().map(|candidate| loc(candidate.sum)).collect();
    let inserted = fuse(kernel, &chosen);
    // What was inserted stands before the product and moves it.
    let moved = |at: Position| {
        let before = inserted.iter().filter(|other| other.block == at.block && other.index <= at.index).count();
        Position { index: at.index + before, ..at }
    };
    let mut products: Vec<Position> = chosen.iter().map(|candidate| moved(candidate.product)).collect();
    products.sort_unstable();
    products.dedup();
    remove_unused(kernel, &products);
    locs
}

/// Rewrites the additions of some candidates to multiply-adds; the products stay where they are. A candidate whose
/// product and addition no longer fit is left out, and of several with one addition the first counts.
///
/// A factor that is overwritten before the addition is copied. Returns where copies were inserted: each stands before
/// the instruction that was at that position.
pub fn fuse(kernel: &mut Kernel, chosen: &[Candidate]) -> Vec<Position> {
    // By the product and the place of the factor.
    let mut copies: BTreeMap<(Position, usize), (Reg, Operand)> = BTreeMap::new();
    for candidate in chosen {
        let Some(operation) = candidate.operation(kernel) else { continue };
        let Candidate { product, sum, first, .. } = *candidate;
        let (Op::Float { args: factors, .. }, Op::Float { args: terms, .. }) = (op(kernel, product), op(kernel, sum))
        else {
            continue;
        };
        let addend = terms[usize::from(first)];
        let mut args = [factors[0], factors[1], addend];
        for (place, arg) in args.iter_mut().enumerate().take(2) {
            if let Operand::Reg(factor) = *arg
                && kernel.is_overwritten(factor, product, sum)
            {
                let width = kernel.width(factor);
                let (copy, _) = *copies.entry((product, place)).or_insert_with(|| (kernel.register(width), *arg));
                *arg = Operand::Reg(copy);
            }
        }
        if let Op::Float { operation: of_sum, contractible, args: of_args, .. } =
            &mut kernel.blocks[sum.block].instructions[sum.index].op
        {
            (*of_sum, *contractible, *of_args) = (operation, false, args);
        }
    }
    let mut inserted = Vec::new();
    for ((at, _), (d, a)) in copies.into_iter().rev() {
        let instructions = &mut kernel.blocks[at.block].instructions;
        let loc = instructions[at.index].loc;
        instructions.insert(at.index, Instruction::new(Op::Move { d, a }, loc));
        inserted.push(at);
    }
    inserted
}

fn op(kernel: &Kernel, at: Position) -> &Op {
    &kernel.blocks[at.block].instructions[at.index].op
}

impl Kernel {
    /// Whether a register is written by an instruction, or between it and a later one of the same straight line.
    pub fn is_overwritten(&self, reg: Reg, from: Position, to: Position) -> bool {
        let mut at = from;
        while at != to {
            let block = &self.blocks[at.block];
            let Some(instruction) = block.instructions.get(at.index) else {
                let Terminator::Jump(next) = block.terminator else { return true };
                at = Position { block: next, index: 0 };
                continue;
            };
            let mut written = false;
            instruction.op.registers(|role, other| written |= role == Role::Def && other == reg);
            if written {
                return true;
            }
            at.index += 1;
        }
        false
    }
}

fn remove_unused(kernel: &mut Kernel, products: &[Position]) {
    let liveness = Liveness::of(kernel);
    for block in 0..kernel.blocks.len() {
        let mut live = liveness.before_instruction(kernel, block, kernel.blocks[block].instructions.len());
        for index in (0..kernel.blocks[block].instructions.len()).rev() {
            let instructions = &mut kernel.blocks[block].instructions;
            if is_useful(&instructions[index].op, &live) {
                step(&instructions[index], &mut live);
            } else if products.binary_search(&Position { block, index }).is_ok() {
                instructions.remove(index);
            }
        }
    }
}
