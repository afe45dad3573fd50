//! Regions, the unit of compilation: from one entry along every path, up to what only the interpreter runs.
//!
//! A side exit needs no undoing: on any failure (an access out of bounds, divergence in code not compiled for it, an
//! exhausted budget) the interpreter runs the same lanes from the entry, or from behind the last stores. Therefore stores
//! are executed at the end of a node: those before other instructions wait for them, as long as no instruction between reads
//! memory or overwrites what they read. Where code follows, the node **commits**: it leaves the tile as an exit there would,
//! and goes on.

mod detour;
mod next;

use super::budget::Budget;
use super::quotient::Quotient;
use super::schedule;
use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_ir::{AtomicKind, Op, Operand, Reg, Role, Space, Terminator, step_back};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) use detour::Detour;
use detour::PendingDetour;
pub(super) use next::{Next, Switch, Target};

/// How a region is compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct CompileMode {
    /// Each store is the boundary of a region and runs in the interpreter.
    pub(crate) isolate_stores: bool,
    /// Some tiles take both sides of a branch: short sides run under masks, one after the other.
    pub(crate) masked: bool,
    /// Lanes of a tile may diverge.
    pub(crate) divergent: bool,
}

/// An instruction of a kernel; one past a block's last instruction is its terminator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ProgramPoint {
    pub(crate) block: usize,
    pub(crate) at: usize,
}

/// Where a region's lanes continue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Exit {
    /// Nowhere: they have ended.
    Ended,
    /// At an instruction that the interpreter runs.
    At(ProgramPoint),
}

/// Straight-line code: a block or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) start: ProgramPoint,
    /// One past its last instruction.
    pub(super) end: usize,
    /// The places of its instructions in the block, in the order in which they are compiled.
    order: Vec<usize>,
    pub(super) next: Next,
    pub(super) cost: Cost,
}

/// What a node adds to its lanes' step counts, at its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Cost {
    pub(super) issued: u32,
    /// Instructions that all its lanes complete.
    pub(super) completed: u32,
    /// Whether the budget is checked.
    pub(super) checks_budget: bool,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.issued += other.issued;
        self.completed += other.completed;
        self.checks_budget |= other.checks_budget;
    }
}

/// A region ends where it has so many nodes or instructions; what is behind is another one's. There are tables of nodes
/// times registers.
const MAX_NODES: usize = 1024;
const MAX_TABLE: usize = 1 << 24;
const MAX_LENGTH: usize = 1 << 13;
/// A part of a kernel with one entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// In reverse postorder, so that loops are before what follows them.
    pub(super) nodes: Vec<Node>,
    /// The index of the entry node.
    pub(super) entry: usize,
    pub(super) exits: Vec<Exit>,
    pub(super) switches: Vec<Switch>,
    /// The registers that are live at each node's start, then at each exit, a bit each.
    pub(super) live: Vec<Vec<u64>>,
    /// Whether [`CompileMode::masked`] would keep lanes together that part now.
    pub(super) may_mask: bool,
}

impl Region {
    /// The region that starts at a point; `None` if it would be empty. `boundaries` are further instructions that the
    /// interpreter must run.
    pub(super) fn build(
        code: &DecodedKernel<'_>,
        start: ProgramPoint,
        boundaries: &BTreeSet<ProgramPoint>,
        mode: CompileMode,
        budget: &Budget,
    ) -> Option<Region> {
        let mut builder = RegionBuilder {
            code,
            boundaries,
            mode,
            nodes: BTreeMap::new(),
            length: 0,
            exits: Vec::new(),
            switches: Vec::new(),
            exit_numbers: HashMap::new(),
            todo: vec![start],
            may_mask: false,
        };
        let max_nodes = MAX_NODES.min(MAX_TABLE / code.kernel.registers.len().max(1));
        while let Some(point) = builder.todo.pop() {
            if !builder.nodes.contains_key(&point) {
                let found = if builder.nodes.len() < max_nodes && builder.length < MAX_LENGTH {
                    builder.scan_node(point)
                } else {
                    (point.at, PendingNext::Exit(builder.exit(Exit::At(point))))
                };
                builder.length += found.0 - point.at;
                builder.nodes.insert(point, found);
            }
        }
        // Sort the nodes and replace points by indices.
        let mut order: Vec<ProgramPoint> = builder.nodes.keys().copied().collect();
        order.sort_by_key(|point| (code.cfg.priority[point.block], point.at));
        let places: HashMap<ProgramPoint, usize> = order.iter().enumerate().map(|(at, &point)| (point, at)).collect();
        let node_index = |point: ProgramPoint| places.get(&point).copied().unwrap_or(0);
        let target = |target: PendingTarget| match target {
            PendingTarget::Node(point) => Target::Node(node_index(point)),
            PendingTarget::Exit(exit) => Target::Exit(exit),
        };
        let nodes: Vec<Node> = order
            .iter()
            .map(|point| {
                let (end, next) = builder.nodes[point];
                let next = match next {
                    PendingNext::Exit(exit) => Next::Exit(exit),
                    PendingNext::Jump(to) => Next::Jump(target(to)),
                    PendingNext::Fall(point) => Next::Fall(node_index(point)),
                    PendingNext::Switch(switch) => Next::Switch(switch),
                    PendingNext::Commit { exit, point, before } => {
                        Next::Commit { exit, node: node_index(point), before }
                    }
                    PendingNext::Branch { pred, then, otherwise, mid_block, detour } => {
                        // Blocks in which the region ends are none.
                        let is_whole = |block: usize| {
                            let found = builder.nodes.get(&ProgramPoint { block, at: 0 });
                            found.is_some_and(|&(end, _)| end == code.blocks[block].insts.len())
                        };
                        let detour = detour.and_then(|detour| detour.with_target(code, target, is_whole));
                        Next::Branch { pred, then: target(then), otherwise: target(otherwise), mid_block, detour }
                    }
                };
                Node { start: *point, end, order: Vec::new(), next, cost: cost(code, *point, end, next) }
            })
            .collect();
        let entry = node_index(start);
        let switches = builder.switches.iter().map(|switch| switch.with_targets(target)).collect();
        let (exits, may_mask) = (builder.exits, builder.may_mask);
        let mut region = Region { nodes, entry, exits, switches, live: Vec::new(), may_mask };
        region.join_ends(code);
        if mode.divergent {
            region.split_stores(code);
        }
        for node in &mut region.nodes {
            let insts = &code.blocks[node.start.block].insts[node.start.at..node.end];
            node.order = schedule::order(insts).into_iter().map(|place| node.start.at + place).collect();
        }
        let starts = region.nodes.iter().map(|node| Exit::At(node.start));
        region.live = live_sets(code, starts.chain(region.exits.iter().copied()), budget)?;
        let first = &region.nodes[entry];
        (first.end > first.start.at || !matches!(first.next, Next::Exit(_))).then_some(region)
    }

    /// A block that only exits is counted with the stores that it comes behind, a side's too: where steps run out, nothing has been stored.
    fn join_ends(&mut self, code: &DecodedKernel<'_>) {
        for index in 0..self.nodes.len() {
            let Node { start, end, next, cost, .. } = self.nodes[index].clone();
            let (next, more) = match next {
                Next::Jump(Target::Node(to))
                    if code.blocks[start.block].insts[start.at..end].iter().any(|inst| is_store(inst.op)) =>
                {
                    (self.nodes[to].next, self.nodes[to].cost)
                }
                Next::Branch { pred, then, otherwise, mid_block, detour: Some(mut detour) }
                    if detour.commit.is_none()
                        && let Target::Node(to) = detour.to
                        && let Node { start, end, next: Next::Jump(exit @ Target::Exit(_)), cost, .. } =
                            self.nodes[to]
                        && start.at == end =>
                {
                    (detour.to, detour.end) = (exit, cost);
                    (Next::Branch { pred, then, otherwise, mid_block, detour: Some(detour) }, Cost::default())
                }
                _ => continue,
            };
            let node = &mut self.nodes[index];
            (node.next, node.cost) = (next, cost);
            node.cost.add(more);
        }
    }

    /// Moves the stores at nodes' ends to nodes of their own, after all others: when lanes diverge, no lane stores before
    /// all lanes have passed what can fail. The store's steps are counted with the node it came from.
    fn split_stores(&mut self, code: &DecodedKernel<'_>) {
        for index in 0..self.nodes.len() {
            let node = self.nodes[index].clone();
            if matches!(node.next, Next::Commit { .. }) {
                continue;
            }
            let insts = &code.blocks[node.start.block].insts[node.start.at..node.end];
            let Some(first) = insts.iter().position(|inst| is_store(inst.op)) else { continue };
            let at = node.start.at + first;
            let stores = self.nodes.len();
            self.nodes[index] = Node { end: at, next: Next::Stores(stores), ..node };
            let start = ProgramPoint { at, ..node.start };
            self.nodes.push(Node { start, end: node.end, order: Vec::new(), next: node.next, cost: Cost::default() });
        }
    }

    /// A node's instructions, in the order in which they are compiled, and where they stand.
    pub(super) fn placed_insts<'a, 'p>(
        &'a self,
        code: &'a DecodedKernel<'p>,
        node: usize,
    ) -> impl DoubleEndedIterator<Item = (ProgramPoint, &'a DecodedInst<'p>)> + ExactSizeIterator + use<'a, 'p> {
        let Node { start, order, .. } = &self.nodes[node];
        let block = &code.blocks[start.block].insts;
        order.iter().map(|&at| (ProgramPoint { at, ..*start }, &block[at]))
    }
    /// A node's instructions, in the order in which they are compiled.
    pub(super) fn insts<'a, 'p>(
        &'a self,
        code: &'a DecodedKernel<'p>,
        node: usize,
    ) -> impl DoubleEndedIterator<Item = &'a DecodedInst<'p>> + ExactSizeIterator + use<'a, 'p> {
        self.placed_insts(code, node).map(|(_, inst)| inst)
    }

    /// The registers that are live at a target, a bit each.
    pub(super) fn live_at(&self, target: Target) -> &[u64] {
        match target {
            Target::Node(node) => &self.live[node],
            Target::Exit(exit) => &self.live_at_exits()[exit],
        }
    }
    /// The same at every exit.
    pub(super) fn live_at_exits(&self) -> &[Vec<u64>] {
        &self.live[self.nodes.len()..]
    }
    /// How often each register is defined and used.
    pub(super) fn counts(&self, code: &DecodedKernel<'_>) -> [Vec<u32>; 2] {
        let mut counts = [(); 2].map(|()| vec![0; code.kernel.registers.len()]);
        for inst in (0..self.nodes.len()).flat_map(|node| self.insts(code, node)) {
            inst.op.registers(|role, reg| counts[usize::from(role == Role::Use)][reg.0 as usize] += 1);
        }
        for reg in self.nodes.iter().filter_map(|node| self.decider(node.next)) {
            counts[1][reg.0 as usize] += 1;
        }
        counts
    }
    /// Whether a register is live at any exit.
    pub(super) fn leaves(&self, reg: Reg) -> bool {
        self.live_at_exits().iter().any(|live| is_live(live, reg))
    }
    /// The registers that are live at the end of a node.
    pub(super) fn live_out(&self, node: usize) -> Vec<u64> {
        let mut live = vec![0; self.live[node].len()];
        for target in self.targets(self.nodes[node].next) {
            live.iter_mut().zip(self.live_at(target)).for_each(|(all, more)| *all |= more);
        }
        live
    }

    /// Whether a tile may commit.
    pub(super) fn commits(&self) -> bool {
        self.nodes.iter().any(|node| match node.next {
            Next::Commit { .. } => true,
            Next::Branch { detour, .. } => detour.is_some_and(|detour| detour.commit.is_some()),
            _ => false,
        })
    }
    /// How many instructions it has.
    pub(super) fn length(&self) -> usize {
        self.nodes.iter().map(|node| node.end - node.start.at).sum()
    }

    /// The loop depth of each node, from the back edges: one spans its loop's body in the order of nodes.
    pub(super) fn loop_depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.nodes.len()];
        for (tail, node) in self.nodes.iter().enumerate() {
            for target in self.targets(node.next) {
                if let Target::Node(head) = target
                    && head <= tail
                {
                    depths[head..=tail].iter_mut().for_each(|depth| *depth += 1);
                }
            }
        }
        depths
    }
}

/// The cost of a node's instructions and of its terminator.
fn cost(code: &DecodedKernel<'_>, start: ProgramPoint, end: usize, next: Next) -> Cost {
    let block = &code.blocks[start.block];
    let insts = &block.insts[start.at..end];
    let at_terminator = match next {
        Next::Exit(_) | Next::Stores(_) | Next::Fall(_) | Next::Commit { .. } => false,
        Next::Jump(_) | Next::Switch(_) => true,
        Next::Branch { mid_block, .. } => !mid_block,
    };
    let completed = insts.iter().filter(|inst| inst.completes && inst.guard.is_none()).count();
    Cost {
        issued: (insts.len() + usize::from(at_terminator)) as u32,
        completed: (completed + usize::from(at_terminator && block.ends_by_instruction)) as u32,
        checks_budget: at_terminator,
    }
}

/// A target before the nodes are sorted.
#[derive(Clone, Copy)]
enum PendingTarget {
    Node(ProgramPoint),
    Exit(usize),
}

#[derive(Clone, Copy)]
enum PendingNext {
    Exit(usize),
    Jump(PendingTarget),
    Fall(ProgramPoint),
    Switch(usize),
    Commit { exit: usize, point: ProgramPoint, before: Option<usize> },
    Branch { pred: Reg, then: PendingTarget, otherwise: PendingTarget, mid_block: bool, detour: Option<PendingDetour> },
}

struct RegionBuilder<'a, 'p> {
    code: &'a DecodedKernel<'p>,
    boundaries: &'a BTreeSet<ProgramPoint>,
    mode: CompileMode,
    nodes: BTreeMap<ProgramPoint, (usize, PendingNext)>,
    /// Instructions so far.
    length: usize,
    exits: Vec<Exit>,
    switches: Vec<Switch<PendingTarget>>,
    exit_numbers: HashMap<Exit, usize>,
    todo: Vec<ProgramPoint>,
    may_mask: bool,
}

impl RegionBuilder<'_, '_> {
    fn exit(&mut self, exit: Exit) -> usize {
        *self.exit_numbers.entry(exit).or_insert_with(|| {
            self.exits.push(exit);
            self.exits.len() - 1
        })
    }

    /// Finds the end of the node that starts at a point.
    fn scan_node(&mut self, start: ProgramPoint) -> (usize, PendingNext) {
        let block = &self.code.blocks[start.block];
        let mut stored = false;
        // What the stores so far read.
        let mut read: Vec<Reg> = Vec::new();
        for (at, inst) in block.insts.iter().enumerate().skip(start.at) {
            let point = ProgramPoint { block: start.block, at };
            let store = is_store(inst.op);
            let ends = matches!(inst.op, Op::Exit);
            if self.boundaries.contains(&point)
                || store && self.mode.isolate_stores
                || self.length + at - start.at >= MAX_LENGTH
                || !(ends || is_supported(inst.op, inst.guard.is_some()))
            {
                return (at, PendingNext::Exit(self.exit(Exit::At(point))));
            }
            if stored && !store && !ends && !self.may_precede_stores(inst, &read) {
                return (at, self.commit(start, point));
            }
            if store && self.mode.divergent && at > start.at && !stored {
                self.todo.push(point);
                return (at, PendingNext::Fall(point));
            }
            if ends {
                let ended = self.exit(Exit::Ended);
                return match inst.guard {
                    None => (at + 1, PendingNext::Exit(ended)),
                    // Nothing that can fail may follow a store.
                    Some(_) if stored => (at, self.commit(start, point)),
                    Some(guard) => {
                        let on = self.node(ProgramPoint { at: at + 1, ..point });
                        let (then, otherwise) = if guard.expected {
                            (PendingTarget::Exit(ended), on)
                        } else {
                            (on, PendingTarget::Exit(ended))
                        };
                        (
                            at + 1,
                            PendingNext::Branch { pred: guard.pred, then, otherwise, mid_block: true, detour: None },
                        )
                    }
                };
            }
            if store {
                stored = true;
                inst.op.registers(|_: Role, reg| read.push(reg));
                read.extend(inst.guard.map(|guard| guard.pred));
            }
        }
        let end = block.insts.len();
        let terminator = ProgramPoint { block: start.block, at: end };
        if self.boundaries.contains(&terminator) {
            return (end, PendingNext::Exit(self.exit(Exit::At(terminator))));
        }
        let next = match block.terminator {
            Terminator::Exit => PendingNext::Jump(PendingTarget::Exit(self.exit(Exit::Ended))),
            Terminator::Jump(target) if stored && !self.ends_or_leaves(start.block, *target) => {
                self.commit(start, terminator)
            }
            Terminator::Jump(target) => PendingNext::Jump(self.block_target((start.block, *target))),
            // Where lanes diverge the code takes a side exit: nothing may be stored before.
            Terminator::Branch { .. } | Terminator::Switch { .. } if stored => self.commit(start, terminator),
            Terminator::Branch { pred, then, otherwise } => {
                let detour = self.detour(start.block, *then, *otherwise);
                let (then, otherwise) =
                    (self.block_target((start.block, *then)), self.block_target((start.block, *otherwise)));
                PendingNext::Branch { pred: *pred, then, otherwise, mid_block: false, detour }
            }
            Terminator::Switch { index, targets, otherwise } => {
                let switch = self.switch(start.block, *index, (targets, *otherwise));
                switch.unwrap_or_else(|| PendingNext::Exit(self.exit(Exit::At(terminator))))
            }
        };
        (end, next)
    }

    /// Whether an instruction behind stores, which read these registers, may run before them: the stores are executed at
    /// the end of their node. In divergent code they are a node of their own.
    fn may_precede_stores(&self, inst: &DecodedInst<'_>, read: &[Reg]) -> bool {
        let mut overwrites = false;
        inst.op.registers(|role, reg| overwrites |= role == Role::Def && read.contains(&reg));
        let loads = matches!(inst.op, Op::Load { space, .. } if *space != Space::Param);
        !(self.mode.divergent || overwrites || loads)
    }

    fn node(&mut self, point: ProgramPoint) -> PendingTarget {
        self.todo.push(point);
        PendingTarget::Node(point)
    }

    /// What a node does behind its stores, where code that can fail follows.
    fn commit(&mut self, start: ProgramPoint, point: ProgramPoint) -> PendingNext {
        self.todo.push(point);
        let before = self.mode.divergent.then(|| self.exit(Exit::At(start)));
        PendingNext::Commit { exit: self.exit(Exit::At(point)), point, before }
    }

    /// A block as the target of another one.
    fn block_target(&mut self, (from, block): (usize, usize)) -> PendingTarget {
        let point = ProgramPoint { block, at: 0 };
        if self.leaves(from, block) {
            return PendingTarget::Exit(self.exit(Exit::At(point)));
        }
        self.node(point)
    }
    /// Whether the interpreter runs a block: it is unlikely, or waits for what another tile does.
    fn leaves(&self, from: usize, block: usize) -> bool {
        let point = ProgramPoint { block, at: 0 };
        self.code.kernel.unlikely.contains(&block)
            || self.code.waits.at(from, block).is_some()
            || self.boundaries.contains(&point)
    }
    /// The same, or whether nothing in the block can fail: it ends the kernel, or its first instruction is the interpreter's.
    fn ends_or_leaves(&self, from: usize, block: usize) -> bool {
        let target = &self.code.blocks[block];
        let empty = target.insts.is_empty() && matches!(target.terminator, Terminator::Exit);
        let ends = matches!(&target.insts[..], [only] if matches!(only.op, Op::Exit) && only.guard.is_none());
        let first = target.insts.first();
        let is_boundary = first.is_some_and(|inst| {
            !matches!(inst.op, Op::Exit) && !is_supported(inst.op, inst.guard.is_some())
                || self.mode.isolate_stores && is_store(inst.op)
        });
        empty || ends || is_boundary || self.leaves(from, block)
    }
}

/// Whether an instruction may be compiled at all; the rest depends on its operands' shapes.
pub(crate) fn is_supported(op: &Op, guarded: bool) -> bool {
    let space = |space: Space| matches!(space, Space::Global | Space::Const | Space::Shared | Space::Generic);
    match op {
        Op::Move { .. } | Op::Float { .. } | Op::Int { .. } | Op::Compare { .. } | Op::Select { .. } => true,
        Op::Convert { .. } | Op::Special { .. } | Op::Sign { .. } => true,
        Op::MinMax { .. } | Op::Pack { .. } | Op::Extract { .. } => true,
        Op::Shuffle { .. } | Op::Vote { .. } | Op::WarpBarrier { .. } => !guarded,
        Op::Load { space: Space::Param, address: Operand::Imm(_), .. } => true,
        Op::Load { space: of, .. } => space(*of),
        Op::Store { space: of, .. } | Op::Atomic { kind: AtomicKind::Int(_), space: of, high: None, .. } => space(*of),
        _ => Quotient::of(op).is_some(),
    }
}

/// Whether an instruction changes memory, of those that have code.
pub(super) fn is_store(op: &Op) -> bool {
    matches!(op, Op::Store { .. } | Op::Atomic { .. })
}

/// The registers that are live at a point, in order.
pub(crate) fn live_registers(code: &DecodedKernel<'_>, point: ProgramPoint, budget: &Budget) -> Option<Vec<Reg>> {
    live_sets(code, std::iter::once(Exit::At(point)), budget).map(|sets| members(&sets[0]).collect())
}
/// The registers that are live at each of some places, a bit each. A block is walked once for all places in it.
fn live_sets(code: &DecodedKernel<'_>, places: impl Iterator<Item = Exit>, budget: &Budget) -> Option<Vec<Vec<u64>>> {
    let mut sets = Vec::new();
    let mut inside: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, place) in places.enumerate() {
        sets.push(match place {
            Exit::At(ProgramPoint { block, at: 0 }) => live_at_start(code, block),
            Exit::At(ProgramPoint { block, at }) => {
                inside.entry(block).or_default().push((at, index));
                Vec::new()
            }
            Exit::Ended => bits(code, std::iter::empty()),
        });
    }
    for (block, mut points) in inside {
        points.sort_unstable();
        let instructions = &code.kernel.blocks[block].instructions;
        let mut end = instructions.len();
        let mut live = bits(code, code.liveness.before_instruction(code.kernel, block, end).registers());
        budget.spend(16 * (end - points[0].0))?;
        for (at, index) in points.into_iter().rev() {
            for instruction in instructions[at..end].iter().rev() {
                step_back(instruction, |reg, is| {
                    let word = &mut live[reg.0 as usize / 64];
                    *word = *word & !(1 << (reg.0 % 64)) | u64::from(is) << (reg.0 % 64);
                });
            }
            (sets[index], end) = (live.clone(), at);
        }
    }
    Some(sets)
}
/// The registers that are live at a block's start, a bit each.
fn live_at_start(code: &DecodedKernel<'_>, block: usize) -> Vec<u64> {
    bits(code, code.liveness.registers_before(block))
}
/// A set of registers, a bit each.
fn bits(code: &DecodedKernel<'_>, registers: impl Iterator<Item = Reg>) -> Vec<u64> {
    let mut set = vec![0; code.kernel.registers.len().div_ceil(64)];
    registers.for_each(|reg| set[reg.0 as usize / 64] |= 1 << (reg.0 % 64));
    set
}

/// The registers of a set, a bit each.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = Reg> + '_ {
    let not_empty = |bits: u64| (bits != 0).then_some(bits);
    set.iter().enumerate().flat_map(move |(word, &bits)| {
        std::iter::successors(not_empty(bits), move |left| not_empty(left & (left - 1)))
            .map(move |left| Reg(64 * word as u32 + left.trailing_zeros()))
    })
}

/// Whether a set of live registers, a bit each, has one.
pub(super) fn is_live(live: &[u64], reg: Reg) -> bool {
    live[reg.0 as usize / 64] >> (reg.0 % 64) & 1 == 1
}
