//! Copies inside a block: an operand is read where it was copied from, and a copy that nothing reads is not written.
//! Front ends that keep variables in registers copy most values twice.

use roundonce_ir::{Instruction, Kernel, Op, Operand, Reg, Role, Terminator};

/// What is known at a place of a block.
pub(super) struct Copies {
    /// Of each register: the one that it is a copy of, how often that one had been written, and in which block.
    of: Vec<(Reg, u32, u32)>,
    /// How often each register has been written.
    written: Vec<u32>,
    /// How many blocks have begun.
    block: u32,
    /// Which registers something reads, copies left aside.
    needed: Vec<bool>,
}

impl Copies {
    /// Of a kernel, with its registers that something reads in a block that is reached.
    pub(super) fn of(kernel: &Kernel, reached: &[bool]) -> Copies {
        let count = kernel.registers.len();
        let of = vec![(Reg(0), 0, 0); count];
        let mut copies = Copies { of, written: vec![0; count], block: 0, needed: vec![false; count] };
        for (block, _) in kernel.blocks.iter().zip(reached).filter(|(_, reached)| **reached) {
            copies.begin_block();
            for instruction in &block.instructions {
                // A copy's operand is needed where the copy is.
                if !is_copy(instruction) {
                    instruction.op.registers(|role, reg| {
                        if role == Role::Use {
                            let root = copies.root(reg);
                            copies.need(root);
                        }
                    });
                }
                instruction.guard.iter().for_each(|guard| copies.need(guard.pred));
                copies.after(instruction);
            }
            match &block.terminator {
                Terminator::Branch { pred, .. } => copies.need(*pred),
                Terminator::Switch { index: Operand::Reg(index), .. } => copies.need(copies.root(*index)),
                _ => {}
            }
        }
        // What a copy that stays reads is needed too: a register may be needed by a copy in a later block.
        copies.need_sources(kernel, reached);
        copies
    }

    /// Sources of the copies that are written, until there are no more.
    fn need_sources(&mut self, kernel: &Kernel, reached: &[bool]) {
        let mut sources: Vec<Vec<Reg>> = vec![Vec::new(); self.needed.len()];
        for (block, _) in kernel.blocks.iter().zip(reached).filter(|(_, reached)| **reached) {
            self.begin_block();
            for instruction in &block.instructions {
                if let (true, Op::Move { d, a: Operand::Reg(a) }) = (is_copy(instruction), &instruction.op)
                    && let Some(sources) = sources.get_mut(d.0 as usize)
                {
                    sources.push(self.root(*a));
                }
                self.after(instruction);
            }
        }
        let mut todo: Vec<usize> = (0..self.needed.len()).filter(|&reg| self.needed[reg]).collect();
        while let Some(reg) = todo.pop() {
            for source in core::mem::take(&mut sources[reg]) {
                if self.needed.get(source.0 as usize) == Some(&false) {
                    self.need(source);
                    todo.push(source.0 as usize);
                }
            }
        }
    }

    fn need(&mut self, reg: Reg) {
        if let Some(needed) = self.needed.get_mut(reg.0 as usize) {
            *needed = true;
        }
    }

    /// In another block nothing is known.
    pub(super) fn begin_block(&mut self) {
        self.block += 1;
    }

    /// The register that holds what a register holds.
    pub(super) fn root(&self, reg: Reg) -> Reg {
        match self.of.get(reg.0 as usize) {
            Some(&(root, version, block)) if block == self.block && self.version(root) == version => root,
            _ => reg,
        }
    }

    fn version(&self, reg: Reg) -> u32 {
        self.written.get(reg.0 as usize).copied().unwrap_or(0)
    }

    /// Whether an instruction only copies to a register that nothing reads.
    pub(super) fn is_dead(&self, instruction: &Instruction) -> bool {
        match &instruction.op {
            Op::Move { d, .. } | Op::Special { d, .. } if instruction.guard.is_none() => {
                self.needed.get(d.0 as usize) == Some(&false)
            }
            _ => false,
        }
    }

    /// After an instruction.
    pub(super) fn after(&mut self, instruction: &Instruction) {
        let root = match &instruction.op {
            Op::Move { a: Operand::Reg(a), .. } if is_copy(instruction) => Some(self.root(*a)),
            _ => None,
        };
        instruction.op.registers(|role, reg| {
            let place = reg.0 as usize;
            if let (Role::Def, Some(written), Some(of)) = (role, self.written.get_mut(place), self.of.get_mut(place)) {
                *written = written.wrapping_add(1);
                of.2 = 0;
            }
        });
        if let (Some(root), Op::Move { d, .. }) = (root, &instruction.op)
            && root != *d
        {
            let known = (root, self.version(root), self.block);
            if let Some(of) = self.of.get_mut(d.0 as usize) {
                *of = known;
            }
        }
    }
}

/// A copy of a register, in all lanes.
fn is_copy(instruction: &Instruction) -> bool {
    instruction.guard.is_none() && matches!(instruction.op, Op::Move { a: Operand::Reg(_), .. })
}
