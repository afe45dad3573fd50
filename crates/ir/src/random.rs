//! Random control flow for the tests of the analyses.

use crate::{Block, Guard, Instruction, Kernel, Op, Operand, Reg, Terminator, Width};

/// Marsaglia's xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// A kernel of copies between predicates, some guarded, in blocks that lead anywhere.
    pub(crate) fn kernel(&mut self) -> Kernel {
        let mut kernel = Kernel::new("random");
        let registers: Vec<Reg> = (0..1 + self.below(90)).map(|_| kernel.register(Width::Pred)).collect();
        let count = 1 + self.below(12);
        for _ in 0..count {
            let reg = |random: &mut Random| registers[random.below(registers.len())];
            let copy = |random: &mut Random| {
                let op = Op::Move { d: reg(random), a: Operand::Reg(reg(random)) };
                let guard = (random.below(3) == 0).then(|| Guard { pred: reg(random), expected: true });
                Instruction { guard, ..Instruction::new(op, 0) }
            };
            let instructions = (0..self.below(5)).map(|_| copy(self)).collect();
            let terminator = match self.below(8) {
                0 => Terminator::Exit,
                1 | 2 => Terminator::Jump(self.below(count)),
                3 => Terminator::Switch {
                    index: Operand::Imm(0),
                    targets: vec![self.below(count), self.below(count)],
                    otherwise: self.below(count),
                },
                _ => Terminator::Branch { pred: reg(self), then: self.below(count), otherwise: self.below(count) },
            };
            kernel.blocks.push(Block { instructions, terminator, loc: 0 });
        }
        kernel
    }
}
