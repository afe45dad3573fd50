//! Loops that wait: for memory that another thread writes.
//!
//! An iteration that ends at a **wait edge** leaves nothing behind: the loop writes no memory, and one of its exits depends
//! on memory and on nothing that the iterations change. So another iteration goes the same way until another thread has
//! written. Threads that wait let others run first, and native code, which runs one tile after another, does not wait.
//!
//! What is not found (a wait with its own address in every iteration) runs as any other loop.

use roundonce_ir::{
    AtomicKind, Cfg, Dominators, Instruction, IntOp, Kernel, Liveness, Op, Operand, Reg, Role, Space, Special,
    Terminator,
};
use std::collections::{BTreeMap, BTreeSet};

/// Loops of more blocks or instructions do more than wait. It bounds what a back edge costs to look at.
const MOST_BLOCKS: usize = 64;
const MOST_INSTRUCTIONS: usize = 512;

/// What is known of one loop that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wait {
    /// Nothing but memory tells one iteration from the next: without a write it never ends. Otherwise a number of
    /// attempts may end it.
    pub(crate) is_endless: bool,
    /// For memory that other thread blocks may write.
    is_global: bool,
    /// Which of the kernel's loops that wait.
    number: usize,
}

/// The loops of a kernel that wait.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Waits {
    /// By the loop's head and the block that leads back to it.
    edges: BTreeMap<(usize, usize), Wait>,
    /// Each loop's blocks.
    bodies: Vec<BTreeSet<usize>>,
    /// A loop tries to swap what is in global memory.
    has_retries: bool,
}

impl Waits {
    pub(crate) fn of(kernel: &Kernel, cfg: &Cfg, dominators: &Dominators, liveness: &Liveness) -> Waits {
        // Each once: a table may name one block many times.
        let mut back_edges = BTreeSet::new();
        for (tail, block) in kernel.blocks.iter().enumerate() {
            // A loop is entered at its head alone.
            let is_back = |&head: &usize| cfg.priority[tail] != usize::MAX && dominators.dominates(head, tail);
            back_edges.extend(block.terminator.successors().into_iter().filter(is_back).map(|head| (tail, head)));
        }
        if back_edges.is_empty() {
            return Waits::default();
        }
        let predecessors = Cfg::predecessors(kernel);
        let mut waits = Waits::default();
        for (tail, head) in back_edges {
            let Some(body) = body(kernel, &predecessors, tail, head) else { continue };
            let all = Loop { kernel, liveness, head, body };
            waits.has_retries |= all.instructions().any(|instruction| swaps_globally(&instruction.op));
            if let Some(wait) = all.wait(waits.bodies.len()) {
                waits.edges.insert((head, tail), wait);
                waits.bodies.push(all.body);
            }
        }
        waits
    }

    /// The wait whose next iteration begins by this edge.
    #[inline]
    pub(crate) fn at(&self, from: usize, to: usize) -> Option<Wait> {
        if self.edges.is_empty() { None } else { self.edges.get(&(to, from)).copied() }
    }
    /// What threads that wait, or do not, wait for behind this edge.
    #[inline]
    pub(crate) fn after(&self, wait: Option<Wait>, from: usize, to: usize) -> Option<Wait> {
        self.at(from, to).or_else(|| wait.filter(|wait| self.bodies[wait.number].contains(&to)))
    }
    /// Whether no loop waits.
    pub(crate) fn are_none(&self) -> bool {
        self.edges.is_empty()
    }
    /// How many blocks a loop has.
    pub(crate) fn blocks(&self, wait: Wait) -> usize {
        self.bodies[wait.number].len()
    }
    /// The wait of a loop's head.
    pub(crate) fn of_head(&self, head: usize) -> Option<Wait> {
        self.edges.range((head, 0)..=(head, usize::MAX)).next().map(|(_, wait)| *wait)
    }
    /// Whether threads may try again until they have swapped what is in global memory. It does not count as a wait: each try
    /// has the value that the one before it found.
    pub(crate) fn has_retries(&self) -> bool {
        self.has_retries
    }
    /// Where thread blocks wait for others: a block that leads back to the head of the loop.
    pub(crate) fn between_blocks(&self) -> Option<usize> {
        self.edges.iter().find(|(_, wait)| wait.is_global).map(|(&(_, tail), _)| tail)
    }
}

/// The blocks of the natural loop of a back edge: those that lead to its tail without passing its head. `None` where there
/// are too many.
fn body(kernel: &Kernel, predecessors: &[Vec<usize>], tail: usize, head: usize) -> Option<BTreeSet<usize>> {
    let mut body = BTreeSet::from([head, tail]);
    let mut todo = vec![tail];
    let mut instructions = kernel.blocks[head].instructions.len();
    while let Some(block) = todo.pop().filter(|&block| block != head) {
        instructions += kernel.blocks[block].instructions.len();
        if instructions > MOST_INSTRUCTIONS {
            return None;
        }
        // All of them are in the loop.
        for &before in &predecessors[block] {
            if body.insert(before) {
                todo.push(before);
            }
            if body.len() > MOST_BLOCKS {
                return None;
            }
        }
    }
    (instructions <= MOST_INSTRUCTIONS).then_some(body)
}

struct Loop<'a> {
    kernel: &'a Kernel,
    liveness: &'a Liveness,
    head: usize,
    body: BTreeSet<usize>,
}

/// What a condition depends on.
#[derive(Default)]
struct Sources {
    /// A register that one iteration leaves to the next.
    is_carried: bool,
    /// Memory that other threads of the block, or other blocks, may write.
    reads_shared: bool,
    reads_global: bool,
}

impl Loop<'_> {
    fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.body.iter().flat_map(|&block| &self.kernel.blocks[block].instructions)
    }

    fn wait(&self, number: usize) -> Option<Wait> {
        if !self.instructions().all(|instruction| leaves_nothing(&instruction.op)) {
            return None;
        }
        let mut definitions: BTreeMap<Reg, Vec<&Instruction>> = BTreeMap::new();
        for instruction in self.instructions() {
            instruction.op.registers(|role, reg| {
                if role == Role::Def {
                    definitions.entry(reg).or_default().push(instruction);
                }
            });
        }
        let carried: BTreeSet<Reg> =
            definitions.keys().copied().filter(|&reg| self.is_live_before(reg, self.head)).collect();
        let is_endless = carried.is_empty() && !self.instructions().any(|instruction| depends_on_time(&instruction.op));
        let mut wait: Option<Wait> = None;
        for &block in &self.body {
            let terminator = &self.kernel.blocks[block].terminator;
            let outside: Vec<usize> =
                terminator.successors().into_iter().filter(|to| !self.body.contains(to)).collect();
            let of_terminator = match terminator {
                Terminator::Branch { pred, .. } => Some(*pred),
                Terminator::Switch { index: Operand::Reg(index), .. } => Some(*index),
                _ => None,
            };
            // An iteration that leaves a number behind has done something.
            if outside.iter().any(|&to| carried.iter().any(|&reg| self.is_live_before(reg, to))) {
                return None;
            }
            let exits = self.kernel.blocks[block].instructions.iter().filter(|inst| matches!(inst.op, Op::Exit));
            let of_exits = exits.filter_map(|exit| exit.guard.map(|guard| guard.pred));
            for condition in of_exits.chain(of_terminator.filter(|_| !outside.is_empty())) {
                let Sources { is_carried, reads_shared, reads_global } = sources(condition, &definitions, &carried);
                if !is_carried && (reads_shared || reads_global) {
                    let known = wait.is_some_and(|wait| wait.is_global);
                    wait = Some(Wait { is_endless, is_global: known || reads_global, number });
                }
            }
        }
        wait
    }

    fn is_live_before(&self, reg: Reg, block: usize) -> bool {
        let Some(bit) = self.liveness.bit(reg) else { return false };
        self.liveness.before(block).is_none_or(|live| live[bit / 64] >> (bit % 64) & 1 == 1)
    }
}

/// What a register depends on in one iteration.
fn sources(condition: Reg, definitions: &BTreeMap<Reg, Vec<&Instruction>>, carried: &BTreeSet<Reg>) -> Sources {
    let mut sources = Sources::default();
    let mut seen = BTreeSet::new();
    let mut todo = vec![condition];
    while let Some(reg) = todo.pop() {
        if !seen.insert(reg) {
            continue;
        }
        sources.is_carried |= carried.contains(&reg);
        for instruction in definitions.get(&reg).into_iter().flatten() {
            if let Op::Load { space, .. } | Op::Atomic { space, .. } = &instruction.op {
                sources.reads_shared |= *space == Space::Shared;
                sources.reads_global |= matches!(space, Space::Global | Space::Generic);
            }
            instruction.op.registers(|role, reg| {
                if role == Role::Use {
                    todo.push(reg);
                }
            });
            todo.extend(instruction.guard.map(|guard| guard.pred));
        }
    }
    sources
}

/// Whether an instruction changes registers at most, or memory only where it has taken what it waited for.
fn leaves_nothing(op: &Op) -> bool {
    match op {
        Op::Store { .. } | Op::ImageStore { .. } | Op::Barrier { .. } | Op::Print { .. } => false,
        Op::MultiplyMatrices { .. } | Op::Trap { .. } | Op::Unsupported { .. } => false,
        Op::Atomic { kind: AtomicKind::CompareAndSwap | AtomicKind::Exchange, .. } => true,
        // A read as some programs write it.
        Op::Atomic { kind: AtomicKind::Int(IntOp::Add | IntOp::Or | IntOp::Xor), b: Operand::Imm(0), .. } => true,
        Op::Atomic { .. } => false,
        _ => true,
    }
}

/// Whether it compares and swaps what other thread blocks may swap.
fn swaps_globally(op: &Op) -> bool {
    let space = match op {
        Op::Atomic { kind: AtomicKind::CompareAndSwap, space, .. } => *space,
        _ => return false,
    };
    matches!(space, Space::Global | Space::Generic)
}

/// Whether it may give another value in the next iteration though no memory has changed.
fn depends_on_time(op: &Op) -> bool {
    matches!(op, Op::Special { special: Special::Clock, .. } | Op::ActiveMask { .. } | Op::Elect { .. })
}
