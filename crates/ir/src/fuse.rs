//! The rewriting that contraction is.

use super::contraction::{is_useful, lines};
use super::{Candidate, Instruction, Kernel, Liveness, Op, Operand, Position, Reg, Role, candidates};
use std::collections::{BTreeMap, HashMap};

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
        let start = inserted.partition_point(|other| other.block < at.block);
        let before = inserted.partition_point(|&other| other <= at) - start;
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
/// A factor that is overwritten before the addition is copied. Returns where copies were inserted, in order: each stands
/// before the instruction that was at that position.
pub fn fuse(kernel: &mut Kernel, chosen: &[Candidate]) -> Vec<Position> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let writes = Writes::of(kernel);
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
                && writes.any(factor, product, sum)
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
    let inserted = copies.keys().map(|&(at, _)| at).collect();
    let mut copies = copies.into_iter().peekable();
    while let Some(&((Position { block, .. }, _), _)) = copies.peek() {
        let old = std::mem::take(&mut kernel.blocks[block].instructions);
        let new = &mut kernel.blocks[block].instructions;
        for (index, instruction) in old.into_iter().enumerate() {
            while let Some((_, (d, a))) = copies.next_if(|((at, _), _)| *at == Position { block, index }) {
                new.push(Instruction::new(Op::Move { d, a }, instruction.loc));
            }
            new.push(instruction);
        }
    }
    inserted
}

fn op(kernel: &Kernel, at: Position) -> &Op {
    &kernel.blocks[at.block].instructions[at.index].op
}

/// Where a kernel's registers are written.
#[derive(Clone, Debug)]
pub struct Writes {
    /// Of each block its straight line, and the number of its first instruction: instructions are numbered along the
    /// lines. `None` where nothing leads to the block.
    starts: Vec<Option<(usize, usize)>>,
    /// Numbers of instructions, in order.
    by_register: HashMap<Reg, Vec<usize>>,
}

impl Writes {
    /// Computed once for a kernel. Every target must exist.
    pub fn of(kernel: &Kernel) -> Writes {
        let mut writes = Writes { starts: vec![None; kernel.blocks.len()], by_register: HashMap::new() };
        let mut number = 0;
        let lines = lines(kernel).blocks.into_iter().enumerate();
        for (line, block) in lines.flat_map(|(line, blocks)| blocks.into_iter().map(move |block| (line, block))) {
            writes.starts[block] = Some((line, number));
            for instruction in &kernel.blocks[block].instructions {
                instruction.op.registers(|role, reg| {
                    if role == Role::Def {
                        writes.by_register.entry(reg).or_default().push(number);
                    }
                });
                number += 1;
            }
        }
        writes
    }

    /// Whether a register may be written by an instruction, or between it and another; if that is a later one of the same
    /// straight line, whether it is.
    pub fn any(&self, reg: Reg, from: Position, to: Position) -> bool {
        let number = |at: Position| self.starts[at.block].map(|(line, start)| (line, start + at.index));
        let (Some((line, from)), Some((other, to))) = (number(from), number(to)) else { return true };
        if line != other || to < from {
            return true;
        }
        let written = self.by_register.get(&reg).map_or(&[][..], |numbers| numbers);
        written.get(written.partition_point(|&number| number < from)).is_some_and(|&first| first < to)
    }
}

fn remove_unused(kernel: &mut Kernel, products: &[Position]) {
    let liveness = Liveness::of(kernel);
    for block in 0..kernel.blocks.len() {
        let mut live = liveness.before_instruction(kernel, block, kernel.blocks[block].instructions.len());
        let mut keeps = vec![true; kernel.blocks[block].instructions.len()];
        for (index, instruction) in kernel.blocks[block].instructions.iter().enumerate().rev() {
            if is_useful(&instruction.op, &live) {
                live.step(instruction);
            } else {
                keeps[index] = products.binary_search(&Position { block, index }).is_err();
            }
        }
        let mut keeps = keeps.into_iter();
        kernel.blocks[block].instructions.retain(|_| keeps.next().unwrap_or(true));
    }
}
