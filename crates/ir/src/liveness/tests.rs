//! Liveness against its definition, on random kernels.

use super::{Liveness, MOST_WORDS, MOST_WORK};
use crate::random::Random;
use crate::{Kernel, Reg, Role, Terminator};

/// Whether a register may be read from an instruction of a block on: some way leads to a read before a write.
fn is_read(kernel: &Kernel, block: usize, at: usize, reg: Reg) -> bool {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut todo = vec![(block, at)];
    'ways: while let Some((block, at)) = todo.pop() {
        let contents = &kernel.blocks[block];
        for instruction in contents.instructions.iter().skip(at) {
            let (mut reads, mut writes) = (instruction.guard.is_some_and(|guard| guard.pred == reg), false);
            instruction.op.registers(|role, other| {
                reads |= role == Role::Use && other == reg;
                writes |= role == Role::Def && other == reg;
            });
            if reads {
                return true;
            }
            if writes && instruction.guard.is_none() {
                continue 'ways;
            }
        }
        if matches!(contents.terminator, Terminator::Branch { pred, .. } if pred == reg) {
            return true;
        }
        for next in contents.terminator.successors() {
            if !std::mem::replace(&mut seen[next], true) {
                todo.push((next, 0));
            }
        }
    }
    false
}

#[test]
fn of_random_kernels() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut live_registers = 0;
    for _ in 0..2_000 {
        let kernel = random.kernel();
        let exact = Liveness::of(&kernel);
        // Too few words, or too little work, for sets of their own.
        let coarse = [(0, MOST_WORK), (MOST_WORDS, 1)].map(|(words, work)| Liveness::within(&kernel, words, work));
        for (block, contents) in kernel.blocks.iter().enumerate() {
            let deaths = exact.last_uses(&kernel, block);
            for at in 0..=contents.instructions.len() {
                let live = exact.before_instruction(&kernel, block, at);
                let mut listed: Vec<Reg> = live.registers().collect();
                listed.sort_unstable();
                let expected: Vec<Reg> = (0..kernel.registers.len() as u32)
                    .map(Reg)
                    .filter(|&reg| is_read(&kernel, block, at, reg))
                    .collect();
                assert_eq!(listed, expected, "block {block}, instruction {at} of {kernel:?}");
                live_registers += expected.len();
                for &reg in &expected {
                    assert!(live.has(reg));
                    assert!(coarse.iter().all(|all| all.before_instruction(&kernel, block, at).has(reg)));
                }
                if at > 0 {
                    assert!(deaths[at - 1].iter().all(|reg| !expected.contains(reg)));
                }
                let global = |reg: &&Reg| {
                    exact.bit(**reg).is_some_and(|bit| {
                        exact.before(block).is_some_and(|words| words[bit / 64] >> (bit % 64) & 1 == 1)
                    })
                };
                if at == 0 {
                    assert_eq!(expected.iter().filter(global).count(), expected.len());
                }
            }
        }
    }
    assert!(live_registers > 10_000, "{live_registers}");
}
