//! What is compiled as one piece: from one entry along every path, up to what only the interpreter does.
//!
//! A region runs as a transaction: until it is left it has written nothing, so that whatever goes wrong (an access
//! outside its buffer, lanes that part in code not made for it, too many steps) is answered by forgetting it; the
//! interpreter runs the same lanes from the entry on. That is why stores stand only at the end of a path.

use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_ir::{Kernel, Op, Operand, Reg, Role, Space, Terminator, Width};
use std::collections::{BTreeMap, BTreeSet};

/// An instruction of a kernel; one past the last is the block's terminator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Point {
    pub(crate) block: usize,
    pub(crate) at: usize,
}

/// Where lanes are once they have left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Ended.
    Ended,
    /// At an instruction that is the interpreter's.
    At(Point),
}

/// Straight-line code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) start: Point,
    /// One past its last instruction.
    pub(super) end: usize,
    pub(super) next: Next,
    pub(super) cost: Cost,
}

/// What a node adds to the counts of its lanes, on the way in.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Cost {
    pub(super) issued: u32,
    /// Instructions that all its lanes complete.
    pub(super) completed: u32,
    /// Whether the steps left are looked at.
    pub(super) ends: bool,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.issued += other.issued;
        self.completed += other.completed;
        self.ends |= other.ends;
    }
}

/// How a node goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// It leaves in the middle of a block.
    Leave(usize),
    /// By the block's terminator.
    Jump(Target),
    /// By the block's terminator, or by an exit that only some lanes take (`inside`: the block is not at its end).
    Branch { pred: Reg, then: Target, otherwise: Target, inside: bool },
    /// With its stores, which are a node of their own.
    Stores(usize),
}

/// Where a jump goes: a node, or an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Node(usize),
    Exit(usize),
}

impl Next {
    pub(super) fn targets(self) -> [Option<Target>; 2] {
        match self {
            Next::Leave(exit) => [Some(Target::Exit(exit)), None],
            Next::Jump(target) => [Some(target), None],
            Next::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Next::Stores(node) => [Some(Target::Node(node)), None],
        }
    }
}

/// Fewer instructions are done by the interpreter while native code would still be given its registers.
const SHORT: usize = 12;

/// A piece of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// By rank, so that loops stand before what follows them.
    pub(super) nodes: Vec<Node>,
    /// The node where it begins.
    pub(super) entry: usize,
    pub(super) exits: Vec<Exit>,
}

impl Region {
    /// The region from a point on. `cuts` are instructions that turned out to be the interpreter's. `parting`: its lanes may
    /// go different ways. `None` where it would be empty.
    pub(super) fn from(
        code: &DecodedKernel<'_>,
        start: Point,
        cuts: &BTreeSet<Point>,
        parting: bool,
    ) -> Option<Region> {
        let mut finder = Finder { code, cuts, nodes: BTreeMap::new(), exits: Vec::new(), todo: vec![start] };
        while let Some(point) = finder.todo.pop() {
            if !finder.nodes.contains_key(&point) {
                let found = finder.walk(point);
                finder.nodes.insert(point, found);
            }
        }
        // Names of nodes become their places in the order of ranks.
        let mut order: Vec<Point> = finder.nodes.keys().copied().collect();
        order.sort_by_key(|point| (code.cfg.priority[point.block], point.at));
        let place = |point: Point| order.iter().position(|&other| other == point).unwrap_or(0);
        let target = |way: Way| match way {
            Way::Node(point) => Target::Node(place(point)),
            Way::Exit(exit) => Target::Exit(exit),
        };
        let nodes: Vec<Node> = order
            .iter()
            .map(|point| {
                let (end, next) = finder.nodes[point];
                let next = match next {
                    Found::Leave(exit) => Next::Leave(exit),
                    Found::Jump(way) => Next::Jump(target(way)),
                    Found::Branch { pred, then, otherwise, inside } => {
                        Next::Branch { pred, then: target(then), otherwise: target(otherwise), inside }
                    }
                };
                Node { start: *point, end, next, cost: cost(code, *point, end, next) }
            })
            .collect();
        let entry = place(start);
        let mut region = Region { nodes, entry, exits: finder.exits };
        if parting {
            region.set_stores_apart(code);
        }
        let first = &region.nodes[entry];
        (first.end > first.start.at || !matches!(first.next, Next::Leave(_))).then_some(region)
    }

    /// Makes the stores at nodes' ends nodes of their own, behind all others: while lanes go different ways none stores
    /// before all have met what can go wrong. What a store's node adds to the counts its first part does.
    fn set_stores_apart(&mut self, code: &DecodedKernel<'_>) {
        for index in 0..self.nodes.len() {
            let node = self.nodes[index].clone();
            let steps = &code.blocks[node.start.block].insts[node.start.at..node.end];
            let Some(first) = steps.iter().position(|step| matches!(step.op, Op::Store { .. })) else { continue };
            let at = node.start.at + first;
            let mut cost = node.cost;
            let next = match node.next {
                // A block that only ends.
                Next::Jump(Target::Node(end)) => {
                    cost.add(self.nodes[end].cost);
                    self.nodes[end].next
                }
                Next::Branch { .. } => {
                    cost = self::cost(code, node.start, node.end, Next::Leave(0));
                    self.exits.push(Exit::At(Point { at: node.end, ..node.start }));
                    Next::Leave(self.exits.len() - 1)
                }
                next => next,
            };
            let stores = self.nodes.len();
            self.nodes[index] = Node { end: at, next: Next::Stores(stores), cost, ..node };
            let start = Point { at, ..node.start };
            self.nodes.push(Node { start, end: node.end, next, cost: Cost::default() });
        }
    }

    /// A node's instructions.
    pub(super) fn steps<'a, 'p>(&self, code: &'a DecodedKernel<'p>, node: usize) -> &'a [DecodedInst<'p>] {
        let Node { start, end, .. } = self.nodes[node];
        &code.blocks[start.block].insts[start.at..end]
    }

    /// Whether it is worth the way in and out: it goes round, or it is long.
    pub(super) fn is_worthwhile(&self) -> bool {
        let length: usize = self.nodes.iter().map(|node| node.end - node.start.at).sum();
        length >= SHORT || self.depths().iter().any(|&depth| depth > 0)
    }

    /// How many loops each node lies in, as the order of nodes shows them: jumps back span their bodies.
    pub(super) fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.nodes.len()];
        for (tail, node) in self.nodes.iter().enumerate() {
            for target in node.next.targets().into_iter().flatten() {
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

/// What a node's instructions count, and its way out.
fn cost(code: &DecodedKernel<'_>, start: Point, end: usize, next: Next) -> Cost {
    let block = &code.blocks[start.block];
    let steps = &block.insts[start.at..end];
    let ends = match next {
        Next::Leave(_) | Next::Stores(_) => false,
        Next::Jump(_) => true,
        Next::Branch { inside, .. } => !inside,
    };
    let completed = steps.iter().filter(|step| step.completes && step.guard.is_none()).count();
    Cost {
        issued: (steps.len() + usize::from(ends)) as u32,
        completed: (completed + usize::from(ends && block.ends_by_instruction)) as u32,
        ends,
    }
}

/// A target while nodes have no numbers.
#[derive(Clone, Copy)]
enum Way {
    Node(Point),
    Exit(usize),
}

#[derive(Clone, Copy)]
enum Found {
    Leave(usize),
    Jump(Way),
    Branch { pred: Reg, then: Way, otherwise: Way, inside: bool },
}

struct Finder<'a, 'p> {
    code: &'a DecodedKernel<'p>,
    cuts: &'a BTreeSet<Point>,
    nodes: BTreeMap<Point, (usize, Found)>,
    exits: Vec<Exit>,
    todo: Vec<Point>,
}

impl Finder<'_, '_> {
    fn exit(&mut self, exit: Exit) -> usize {
        self.exits.iter().position(|&other| other == exit).unwrap_or_else(|| {
            self.exits.push(exit);
            self.exits.len() - 1
        })
    }

    /// From a point to the end of its node.
    fn walk(&mut self, start: Point) -> (usize, Found) {
        let block = &self.code.blocks[start.block];
        let mut stored = false;
        for (at, step) in block.insts.iter().enumerate().skip(start.at) {
            let point = Point { block: start.block, at };
            let store = matches!(step.op, Op::Store { .. });
            let ends = matches!(step.op, Op::Exit);
            if self.cuts.contains(&point)
                || !(ends || is_supported(self.code.kernel, step.op, step.guard.is_some()))
                || stored && !store && !ends
            {
                return (at, Found::Leave(self.exit(Exit::At(point))));
            }
            if ends {
                let ended = self.exit(Exit::Ended);
                return match step.guard {
                    None => (at + 1, Found::Leave(ended)),
                    // What follows a store must not go wrong any more.
                    Some(_) if stored => (at, Found::Leave(self.exit(Exit::At(point)))),
                    Some(guard) => {
                        let on = self.node(Point { at: at + 1, ..point });
                        let (then, otherwise) =
                            if guard.expected { (Way::Exit(ended), on) } else { (on, Way::Exit(ended)) };
                        (at + 1, Found::Branch { pred: guard.pred, then, otherwise, inside: true })
                    }
                };
            }
            stored |= store;
        }
        let end = block.insts.len();
        let terminator = Point { block: start.block, at: end };
        if self.cuts.contains(&terminator) {
            return (end, Found::Leave(self.exit(Exit::At(terminator))));
        }
        let next = match block.terminator {
            Terminator::Exit => Found::Jump(Way::Exit(self.exit(Exit::Ended))),
            Terminator::Jump(target) => Found::Jump(self.way(*target, stored)),
            Terminator::Branch { pred, then, otherwise } => {
                let (then, otherwise) = (self.way(*then, stored), self.way(*otherwise, stored));
                Found::Branch { pred: *pred, then, otherwise, inside: false }
            }
            Terminator::Switch { .. } => Found::Leave(self.exit(Exit::At(terminator))),
        };
        (end, next)
    }

    fn node(&mut self, point: Point) -> Way {
        self.todo.push(point);
        Way::Node(point)
    }

    /// The way into a block; after a store only one that cannot go wrong: the kernel's end.
    fn way(&mut self, block: usize, stored: bool) -> Way {
        let point = Point { block, at: 0 };
        let steps = &self.code.blocks[block];
        let empty = steps.insts.is_empty() && matches!(steps.terminator, Terminator::Exit);
        let ends = matches!(&steps.insts[..], [only] if matches!(only.op, Op::Exit) && only.guard.is_none());
        if stored && !empty && !ends || self.cuts.contains(&point) {
            return Way::Exit(self.exit(Exit::At(point)));
        }
        self.node(point)
    }
}

/// Whether an instruction may be native at all; how its operands turn out to be decides the rest.
pub(crate) fn is_supported(kernel: &Kernel, op: &Op, guarded: bool) -> bool {
    let mut narrow = false;
    op.registers(|_: Role, reg| narrow |= kernel.width(reg) == Width::B16);
    let space = |space: Space| matches!(space, Space::Global | Space::Const | Space::Shared | Space::Generic);
    let kind = match op {
        Op::Move { .. } | Op::Float { .. } | Op::Int { .. } | Op::Compare { .. } | Op::Select { .. } => true,
        Op::Convert { .. } | Op::Special { .. } | Op::Sign { .. } => true,
        Op::Load { space: Space::Param, address: Operand::Imm(_), .. } => true,
        Op::Load { space: of, .. } => space(*of),
        Op::Store { space: of, .. } => space(*of) && !guarded,
        _ => false,
    };
    kind && !narrow
}
