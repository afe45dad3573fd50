//! Which registers may still be read.

use super::cfg::{depth_first, reversed};
use super::{Instruction, Kernel, Operand, Reg, Role, Terminator};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The most words of all blocks' sets together: 128 MiB.
const MOST_WORDS: usize = 1 << 24;
/// The most words that the iteration reads.
const MOST_WORK: usize = 1 << 28;
/// A register that is in no block's set.
const LOCAL: u32 = u32::MAX;

/// Which registers may still be read.
///
/// Most registers are written before they are read in every block that has them; they are live nowhere between blocks.
/// The others are **global**. Where blocks and global registers are so many that their sets would take more than 128 MiB,
/// or the iteration goes over a named amount of work, every global register counts as live everywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Liveness {
    /// By register, its bit in the sets.
    bits: Vec<u32>,
    /// The global registers, by bit.
    globals: Vec<Reg>,
    words: usize,
    /// By block, what may be read from its start on; `None` where every global register is live everywhere.
    before: Option<Vec<u64>>,
}

impl Liveness {
    /// Computed once for a kernel. Every register and target must exist.
    pub fn of(kernel: &Kernel) -> Liveness {
        Liveness::within(kernel, MOST_WORDS, MOST_WORK)
    }

    fn within(kernel: &Kernel, most_words: usize, most_work: usize) -> Liveness {
        let mut liveness =
            Liveness { bits: vec![LOCAL; kernel.registers.len()], globals: Vec::new(), words: 0, before: None };
        let blocks = liveness.find_globals(kernel);
        liveness.words = liveness.globals.len().div_ceil(64);
        let fits = liveness.words.checked_mul(blocks.len()).is_some_and(|words| words <= most_words);
        if fits {
            liveness.before = liveness.solve(kernel, &blocks, most_work);
        }
        liveness
    }

    /// Numbers the global registers; what each block reads first and what it writes first.
    fn find_globals(&mut self, kernel: &Kernel) -> Vec<BlockEffect> {
        // The last block that wrote, or read first, each register.
        let (mut written, mut read) = (vec![usize::MAX; self.bits.len()], vec![usize::MAX; self.bits.len()]);
        let mut effects = Vec::with_capacity(kernel.blocks.len());
        for (index, block) in kernel.blocks.iter().enumerate() {
            let mut effect = BlockEffect::default();
            let mut reads = |reg: Reg, written: &[usize]| {
                let at = reg.0 as usize;
                if written[at] != index && read[at] != index {
                    read[at] = index;
                    effect.reads.push(reg);
                    if self.bits[at] == LOCAL {
                        self.bits[at] = self.globals.len() as u32;
                        self.globals.push(reg);
                    }
                }
            };
            for instruction in &block.instructions {
                instruction.guard.into_iter().for_each(|guard| reads(guard.pred, &written));
                instruction.op.registers(|role, reg| {
                    if role == Role::Use {
                        reads(reg, &written);
                    }
                });
                // A guarded write keeps the old value alive.
                instruction.op.registers(|role, reg| {
                    if role == Role::Def && instruction.guard.is_none() && written[reg.0 as usize] != index {
                        written[reg.0 as usize] = index;
                        effect.writes.push(reg);
                    }
                });
            }
            read_by_terminator(&block.terminator).into_iter().for_each(|reg| reads(reg, &written));
            effects.push(effect);
        }
        for effect in &mut effects {
            effect.writes.retain(|reg| self.bits[reg.0 as usize] != LOCAL);
        }
        effects
    }

    /// Iterates to the fixed point, backward, unless that takes too much work.
    fn solve(&self, kernel: &Kernel, blocks: &[BlockEffect], most_work: usize) -> Option<Vec<u64>> {
        let words = self.words;
        let mut all = vec![0; words * blocks.len()];
        let successors: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        let predecessors = reversed(&successors);
        // Blocks after what they lead to, but for back edges.
        let mut order = depth_first(0, blocks.len(), |block| successors[block].clone()).post;
        let mut rank = vec![usize::MAX; blocks.len()];
        order.iter().enumerate().for_each(|(place, &block)| rank[block] = place);
        order.extend((0..blocks.len()).filter(|&block| rank[block] == usize::MAX));
        order.iter().enumerate().for_each(|(place, &block)| rank[block] = place);
        // In rounds: where many blocks lead to many, each waits for all that its round changes.
        let mut todo: BinaryHeap<Reverse<(usize, usize)>> =
            (0..blocks.len()).map(|place| Reverse((0, place))).collect();
        let mut waits = vec![true; blocks.len()];
        let mut work = 0;
        let mut live = vec![0; words];
        while let Some(Reverse((round, place))) = todo.pop() {
            let block = order[place];
            waits[block] = false;
            let BlockEffect { reads, writes } = &blocks[block];
            work += words * (successors[block].len() + 1) + reads.len() + writes.len();
            if work > most_work {
                return None;
            }
            live.fill(0);
            for &next in &successors[block] {
                union(&mut live, &all[next * words..][..words]);
            }
            writes.iter().for_each(|&reg| self.set(&mut live, reg, false));
            reads.iter().for_each(|&reg| self.set(&mut live, reg, true));
            let old = &mut all[block * words..][..words];
            if *old != live[..] {
                old.copy_from_slice(&live);
                for &before in &predecessors[block] {
                    if !std::mem::replace(&mut waits[before], true) {
                        todo.push(Reverse((round + usize::from(rank[before] <= place), rank[before])));
                    }
                }
            }
        }
        Some(all)
    }

    fn set(&self, live: &mut [u64], reg: Reg, is: bool) {
        let bit = self.bits[reg.0 as usize];
        let word = &mut live[bit as usize / 64];
        *word = *word & !(1 << (bit % 64)) | u64::from(is) << (bit % 64);
    }

    /// A global register's bit in the sets; `None` of a register that is live nowhere between blocks.
    pub fn bit(&self, reg: Reg) -> Option<usize> {
        let bit = self.bits[reg.0 as usize];
        (bit != LOCAL).then_some(bit as usize)
    }

    /// The global registers that may be read from a block's start on, by their [`bit`](Liveness::bit), 64 a word; `None`
    /// where any may.
    pub fn before(&self, block: usize) -> Option<&[u64]> {
        self.before.as_ref().map(|all| &all[block * self.words..][..self.words])
    }

    /// The registers that may be read from a block's start on, in no order.
    pub fn registers_before(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        let words = self.before(block);
        let every = words.is_none().then(|| self.globals.iter().copied());
        let set = words.unwrap_or_default().iter().enumerate().filter(|(_, bits)| **bits != 0);
        let listed = set.flat_map(move |(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| self.globals[64 * word + bit])
        });
        every.into_iter().flatten().chain(listed)
    }

    /// The registers that may be read after a block has ended.
    pub fn after(&self, kernel: &Kernel, block: usize) -> LiveSet<'_> {
        let mut globals = Some(Cow::Borrowed(&[][..]));
        for next in kernel.blocks[block].terminator.successors() {
            globals = match (globals, self.before(next)) {
                (Some(globals), Some(more)) if globals.is_empty() => Some(Cow::Borrowed(more)),
                (Some(mut globals), Some(more)) => {
                    union(globals.to_mut(), more);
                    Some(globals)
                }
                _ => None,
            };
        }
        LiveSet { liveness: self, globals, changed: HashMap::new() }
    }

    /// The registers that may be read from an instruction of a block on; its number is that of the terminator where it
    /// is one past the last.
    pub fn before_instruction(&self, kernel: &Kernel, block: usize, at: usize) -> LiveSet<'_> {
        let contents = &kernel.blocks[block];
        let mut live = self.after(kernel, block);
        live.step_terminator(&contents.terminator);
        for instruction in contents.instructions.iter().skip(at).rev() {
            live.step(instruction);
        }
        live
    }

    /// For each instruction of a block, then for its terminator: the registers that it is the last to touch.
    pub fn last_uses(&self, kernel: &Kernel, block: usize) -> Vec<Vec<Reg>> {
        let contents = &kernel.blocks[block];
        let mut live = self.after(kernel, block);
        let mut deaths = vec![Vec::new(); contents.instructions.len() + 1];
        let of_terminator = read_by_terminator(&contents.terminator).filter(|&reg| !live.has(reg));
        deaths[contents.instructions.len()].extend(of_terminator);
        live.step_terminator(&contents.terminator);
        for (index, instruction) in contents.instructions.iter().enumerate().rev() {
            let mut touched = Vec::new();
            instruction.op.registers(|_, reg| touched.push(reg));
            touched.extend(instruction.guard.map(|guard| guard.pred));
            touched.sort_unstable();
            touched.dedup();
            deaths[index] = touched.into_iter().filter(|&reg| !live.has(reg)).collect();
            live.step(instruction);
        }
        deaths
    }
}

/// What a block does to the sets.
#[derive(Default)]
struct BlockEffect {
    /// Registers that it reads before it writes them.
    reads: Vec<Reg>,
    /// Global registers that it writes whatever happens.
    writes: Vec<Reg>,
}

fn union(all: &mut [u64], more: &[u64]) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
}

fn read_by_terminator(terminator: &Terminator) -> Option<Reg> {
    match terminator {
        Terminator::Branch { pred: reg, .. } | Terminator::Switch { index: Operand::Reg(reg), .. } => Some(*reg),
        _ => None,
    }
}

/// Which registers are live before an instruction, where those live after it are known: each that changes, in order.
pub fn step_back(instruction: &Instruction, mut set: impl FnMut(Reg, bool)) {
    let guarded = instruction.guard.is_some();
    instruction.op.registers(|role, reg| {
        if role == Role::Def && !guarded {
            set(reg, false);
        }
    });
    instruction.op.registers(|role, reg| {
        if role == Role::Use {
            set(reg, true);
        }
    });
    if let Some(guard) = instruction.guard {
        set(guard.pred, true);
    }
}

/// The registers that may be read from a point of a kernel on.
#[derive(Clone, Debug)]
pub struct LiveSet<'l> {
    liveness: &'l Liveness,
    /// At the block's end, by bit; none beyond the last word. `None` where all are.
    globals: Option<Cow<'l, [u64]>>,
    /// What differs from that, and registers that are live in this block alone.
    changed: HashMap<Reg, bool>,
}

impl LiveSet<'_> {
    /// Whether a register may be read.
    pub fn has(&self, reg: Reg) -> bool {
        let changed = self.changed.get(&reg).copied();
        changed.unwrap_or_else(|| self.liveness.bit(reg).is_some_and(|bit| self.at_end(bit)))
    }
    fn at_end(&self, bit: usize) -> bool {
        match &self.globals {
            Some(globals) => globals.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1),
            None => true,
        }
    }

    /// All that may be read, in no order.
    pub fn registers(&self) -> impl Iterator<Item = Reg> + '_ {
        let globals =
            self.liveness.globals.iter().enumerate().filter(|&(bit, _)| self.at_end(bit)).map(|(_, reg)| *reg);
        let unchanged = globals.filter(|reg| self.changed.is_empty() || !self.changed.contains_key(reg));
        unchanged.chain(self.changed.iter().filter(|&(_, is)| *is).map(|(reg, _)| *reg))
    }

    /// From what is live after an instruction to what is live before it.
    pub fn step(&mut self, instruction: &Instruction) {
        step_back(instruction, |reg, is| self.set(reg, is));
    }

    fn step_terminator(&mut self, terminator: &Terminator) {
        read_by_terminator(terminator).into_iter().for_each(|reg| self.set(reg, true));
    }

    fn set(&mut self, reg: Reg, is: bool) {
        self.changed.insert(reg, is);
    }
}

#[cfg(test)]
mod tests;
