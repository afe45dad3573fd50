//! The shape of a kernel: in which order its blocks want to run, where branches meet again, which registers live.

use super::{Instruction, Kernel, Operand, Reg, Role, Terminator};

/// A kernel's control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    /// The rank of each block: of several parts of a divergent group the one at the lowest rank goes first, so that
    /// the others meet it where their paths join. A loop's blocks rank before what follows the loop.
    pub priority: Vec<usize>,
    /// Where all paths from a block meet again first (its immediate post-dominator); `None` where they do not before
    /// the end.
    pub ipdom: Vec<Option<usize>>,
}

impl Cfg {
    /// Computed once for a kernel. Every target must exist.
    pub fn of(kernel: &Kernel) -> Cfg {
        let count = kernel.blocks.len();
        let successors: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        let mut predecessors = vec![Vec::new(); count];
        for (block, following) in successors.iter().enumerate() {
            for &next in following {
                predecessors[next].push(block);
            }
        }
        // Post-dominators: the graph turned round, with one more node, `count`, that every exit leads to.
        let mut backward = predecessors.clone();
        backward.push((0..count).filter(|&block| successors[block].is_empty()).collect());
        let mut forward = successors.clone();
        for following in &mut forward {
            if following.is_empty() {
                following.push(count);
            }
        }
        forward.push(Vec::new());
        let post = dominators(count, &backward, &forward);
        let meets = (0..count).map(|block| post[block].filter(|&meet| meet != count)).collect::<Vec<_>>();

        let dominator = dominators(0, &successors, &predecessors);
        let depth = loop_depths(&successors, &predecessors, &dominator);
        // Depth first, leaving loops first: what is visited last ranks first.
        let order = postorder(0, count, |block| {
            let mut following = successors[block].clone();
            following.sort_by_key(|&next| (depth[next], meets[block] != Some(next)));
            following
        });
        let mut rank = vec![usize::MAX; count];
        for (place, block) in order.into_iter().rev().enumerate() {
            rank[block] = place;
        }
        Cfg { priority: rank, ipdom: meets }
    }
}

/// Nodes reachable from `start`, each after those that it leads to (but for back edges).
fn postorder(start: usize, count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    let mut stack = vec![(start, successors(start), 0)];
    if start < count {
        seen[start] = true;
    }
    while let Some((node, following, next)) = stack.last_mut() {
        if let Some(&child) = following.get(*next) {
            *next += 1;
            if !seen[child] {
                seen[child] = true;
                stack.push((child, successors(child), 0));
            }
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order
}

/// The immediate dominator of every node that `start` reaches, by Cooper, Harvey and Kennedy's iteration.
fn dominators(start: usize, successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let count = successors.len();
    let order = postorder(start, count, |node| successors[node].clone());
    let mut place = vec![usize::MAX; count];
    for (index, &node) in order.iter().enumerate() {
        place[node] = index;
    }
    let mut dominator: Vec<Option<usize>> = vec![None; count];
    dominator[start] = Some(start);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != start) {
            let mut new: Option<usize> = None;
            for &before in predecessors[node].iter().filter(|&&before| dominator[before].is_some()) {
                new = Some(match new {
                    None => before,
                    Some(other) => meet(&dominator, &place, before, other),
                });
            }
            if new != dominator[node] {
                dominator[node] = new;
                changed = true;
            }
        }
    }
    dominator[start] = None;
    dominator
}

/// The nearest node that dominates both.
fn meet(dominator: &[Option<usize>], place: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        // The one that stands lower climbs; both have dominators, because the start stands highest.
        let low = if place[a] < place[b] { &mut a } else { &mut b };
        *low = dominator[*low].unwrap_or(*low);
    }
    a
}

/// In how many loops each block lies.
fn loop_depths(successors: &[Vec<usize>], predecessors: &[Vec<usize>], dominator: &[Option<usize>]) -> Vec<usize> {
    let count = successors.len();
    let dominates = |head: usize, mut node: usize| loop {
        if node == head {
            return true;
        }
        match dominator[node] {
            Some(above) => node = above,
            None => return false,
        }
    };
    let mut depth = vec![0; count];
    for head in 0..count {
        let mut todo: Vec<usize> = predecessors[head].iter().copied().filter(|&tail| dominates(head, tail)).collect();
        if todo.is_empty() {
            continue;
        }
        let mut inside = vec![false; count];
        inside[head] = true;
        while let Some(node) = todo.pop() {
            if !core::mem::replace(&mut inside[node], true) {
                todo.extend(&predecessors[node]);
            }
        }
        for (depth, inside) in depth.iter_mut().zip(inside) {
            *depth += inside as usize;
        }
    }
    depth
}

/// Which registers may still be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Liveness {
    words: usize,
    /// By block, a bit a register.
    after: Vec<Vec<u64>>,
    before: Vec<Vec<u64>>,
}

impl Liveness {
    /// Computed once for a kernel. Every register and target must exist.
    pub fn of(kernel: &Kernel) -> Liveness {
        let words = kernel.registers.len().div_ceil(64);
        let none = vec![vec![0; words]; kernel.blocks.len()];
        let mut liveness = Liveness { words, after: none.clone(), before: none };
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in kernel.blocks.iter().enumerate().rev() {
                let mut live = vec![0; words];
                for next in block.terminator.successors() {
                    for (live, next) in live.iter_mut().zip(&liveness.before[next]) {
                        *live |= next;
                    }
                }
                liveness.after[index].copy_from_slice(&live);
                read_by_terminator(&block.terminator, &mut live);
                for instruction in block.instructions.iter().rev() {
                    step(instruction, &mut live);
                }
                if liveness.before[index] != live {
                    liveness.before[index] = live;
                    changed = true;
                }
            }
        }
        liveness
    }

    /// Whether a register may be read after a block has ended.
    pub fn is_live_after(&self, block: usize, reg: Reg) -> bool {
        is_live(&self.after[block], reg)
    }

    /// The registers that may be read from a block's start on: 64 a word, the first in the lowest bit.
    pub fn before(&self, block: usize) -> &[u64] {
        &self.before[block]
    }

    /// The registers that may be read from an instruction of a block on, as [`before`](Liveness::before); its number is
    /// that of the terminator where it is one past the last.
    pub fn before_instruction(&self, kernel: &Kernel, block: usize, at: usize) -> Vec<u64> {
        let contents = &kernel.blocks[block];
        let mut live = self.after[block].clone();
        read_by_terminator(&contents.terminator, &mut live);
        for instruction in contents.instructions.iter().skip(at).rev() {
            step(instruction, &mut live);
        }
        live
    }

    /// For each instruction of a block, then for its terminator: the registers that it is the last to touch.
    pub fn last_uses(&self, kernel: &Kernel, block: usize) -> Vec<Vec<Reg>> {
        let contents = &kernel.blocks[block];
        let mut live = self.after[block].clone();
        let mut deaths = vec![Vec::new(); contents.instructions.len() + 1];
        let mut before = live.clone();
        read_by_terminator(&contents.terminator, &mut before);
        if let Terminator::Branch { pred: reg, .. } | Terminator::Switch { index: Operand::Reg(reg), .. } =
            &contents.terminator
            && !is_live(&live, *reg)
        {
            deaths[contents.instructions.len()].push(*reg);
        }
        live = before;
        for (index, instruction) in contents.instructions.iter().enumerate().rev() {
            let mut touched = Vec::new();
            instruction.op.registers(|_, reg| touched.push(reg));
            touched.extend(instruction.guard.map(|guard| guard.pred));
            touched.sort_unstable();
            touched.dedup();
            deaths[index] = touched.into_iter().filter(|&reg| !is_live(&live, reg)).collect();
            step(instruction, &mut live);
        }
        deaths
    }
}

/// Whether a set of live registers, a bit each, has one.
pub fn is_live(live: &[u64], reg: Reg) -> bool {
    live[reg.0 as usize / 64] >> (reg.0 % 64) & 1 == 1
}

fn set(live: &mut [u64], reg: Reg, is: bool) {
    let word = &mut live[reg.0 as usize / 64];
    let bit = 1 << (reg.0 % 64);
    *word = if is { *word | bit } else { *word & !bit };
}

fn read_by_terminator(terminator: &Terminator, live: &mut [u64]) {
    match terminator {
        Terminator::Branch { pred: reg, .. } | Terminator::Switch { index: Operand::Reg(reg), .. } => {
            set(live, *reg, true);
        }
        _ => {}
    }
}

/// From what lives after an instruction to what lives before it. A guarded write keeps the old value alive.
pub(crate) fn step(instruction: &Instruction, live: &mut [u64]) {
    let guarded = instruction.guard.is_some();
    instruction.op.registers(|role, reg| {
        if role == Role::Def && !guarded {
            set(live, reg, false);
        }
    });
    instruction.op.registers(|role, reg| {
        if role == Role::Use {
            set(live, reg, true);
        }
    });
    if let Some(guard) = instruction.guard {
        set(live, guard.pred, true);
    }
}
