//! Whether two kernels do the same, for every input.
//!
//! Both are followed block by block, in step. Where a pair of blocks begins, the registers of both are divided into
//! classes that hold one value; inside the pair every register is an expression over these ([`values`]). What others see
//! must be equal, operation by operation: loads, stores, atomics, barriers, what lanes exchange, and the conditions of
//! branches. The classes start as coarse as the first path to the pair allows and are split until they hold on every
//! path: then they are an inductive invariant, and the kernels are equal. Where an expression is equal by a law that
//! the values do not know, the kernels are not said to differ: nothing is said.

mod symbolic;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use symbolic::{Ending, Run, Step};
use values::{Node, Side, Value, Values};

use crate::cfg::depth_first;
use crate::{Kernel, Liveness, MemoryOrder, Op, Program, Reg, Terminator, Variable, scalarize};

/// What a launch of the second kernel gives for one of its parameters, by the parameters of the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// What it gives the first kernel for a parameter.
    Param(usize),
    /// How many bytes the buffer has that it gives the first kernel for a parameter.
    BufferBytes(usize),
    /// Something else.
    Other,
}

/// Where the proof ends that two kernels are equal: indices into the [`source_locs`](Kernel::source_locs) of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unproved {
    /// Why.
    pub reason: &'static str,
    /// The places.
    pub locs: [u32; 2],
}

/// The most operations that are looked at.
const MOST_STEPS: usize = 1 << 22;
/// The most expressions that are kept.
const MOST_VALUES: usize = 1 << 22;

/// Proves that two kernels, launched on the same data, do the same operations on memory with the same values: their
/// buffers are equal afterwards, for all data, where no access fails, no thread's result depends on the order in which
/// threads run, and contraction is not asked for.
///
/// # Errors
/// Where the two could not be shown to be equal. They may be equal all the same.
///
/// ```
/// use roundonce_ir::{Block, Given, Instruction, Kernel, Op, Operand, Program, Space, Terminator, Width, equal};
/// // A kernel that stores a value at an address that is its parameter.
/// let storing = |value| {
///     let mut kernel = Kernel::new("store");
///     let address = kernel.register(Width::B64);
///     # kernel.params.push(roundonce_ir::Param {
///     #     name: "p".into(), offset: 0, size: 8, scalar: None, passing: roundonce_ir::Passing::Buffer,
///     # });
///     let load = Op::Load {
///         d: vec![Some(address)], space: Space::Param, bytes: 8, signed: false, address: Operand::ZERO, offset: 0,
///     };
///     let values = vec![Operand::Imm(value)];
///     let address = Operand::Reg(address);
///     let store = Op::Store { values, width: Width::B32, space: Space::Global, bytes: 4, address, offset: 0 };
///     let instructions = vec![Instruction::new(load, 0), Instruction::new(store, 0)];
///     kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
///     Program::of(kernel)
/// };
/// let [one, same, other] = [storing(1), storing(1), storing(2)];
/// let given = [Given::Param(0)];
/// assert_eq!(equal((&one, &one.kernels[0]), (&same, &same.kernels[0]), &given), Ok(()));
/// assert!(equal((&one, &one.kernels[0]), (&other, &other.kernels[0]), &given).is_err());
/// ```
pub fn equal(first: (&Program, &Kernel), second: (&Program, &Kernel), given: &[Given]) -> Result<(), Unproved> {
    proved(first, second, given, false)
}

/// The same, and that the second orders memory for other threads at least as the first does: what is volatile is so in
/// both, and what acquires or releases does, for as many threads.
///
/// # Errors
/// Where that could not be shown.
pub fn equal_in_order(
    first: (&Program, &Kernel),
    second: (&Program, &Kernel),
    given: &[Given],
) -> Result<(), Unproved> {
    proved(first, second, given, true)
}

fn proved(
    first: (&Program, &Kernel),
    second: (&Program, &Kernel),
    given: &[Given],
    in_order: bool,
) -> Result<(), Unproved> {
    let identity: Vec<Given> = (0..first.1.params.len()).map(Given::Param).collect();
    let [first_kernel, second_kernel] = [scalarize(first.1), scalarize(second.1)];
    let sides =
        [Code::of(first.0, &first_kernel, &identity, first.0)?, Code::of(second.0, &second_kernel, given, first.0)?];
    let mut proof = Proof {
        sides: &sides,
        values: Values::default(),
        pairs: Vec::new(),
        numbers: HashMap::new(),
        steps: 0,
        in_order,
    };
    let start = proof.pair([0, 0]);
    let undefined = |&(side, reg): &(Side, Reg)| {
        let width = sides[side as usize].kernel.width(reg);
        proof.values.number(Node::Undefined(side, reg), width)
    };
    let undefined = proof.pairs[start].keys.iter().map(undefined).collect();
    proof.pairs[start].edges.insert((usize::MAX, 0), undefined);
    let mut waiting = BTreeSet::from([start]);
    while let Some(pair) = waiting.pop_first() {
        proof.follow(pair, &mut waiting)?;
    }
    Ok(())
}

/// One of the two kernels.
struct Code<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    given: &'a [Given],
    /// By variable of the program, the first program's that is the same.
    variables: Vec<Option<u32>>,
    /// Where a jump to a block leads: past blocks without instructions.
    target: Vec<usize>,
    /// How many edges lead to a block.
    entries: Vec<usize>,
    liveness: Liveness,
}

impl<'a> Code<'a> {
    fn of(program: &'a Program, kernel: &'a Kernel, given: &'a [Given], first: &Program) -> Result<Code<'a>, Unproved> {
        let unproved = |reason, loc| Unproved { reason, locs: [loc; 2] };
        for instruction in kernel.blocks.iter().flat_map(|block| &block.instructions) {
            if depends_on_convergence(&instruction.op) {
                return Err(unproved("which lanes run together is not compared", instruction.loc));
            }
        }
        let variables = program.variables.iter().map(|variable| {
            first.variables.iter().position(|other| is_same(other, variable)).map(|index| index as u32)
        });
        let is_empty = |block: usize| kernel.blocks[block].instructions.is_empty();
        let mut target: Vec<usize> = (0..kernel.blocks.len()).collect();
        for block in 0..kernel.blocks.len() {
            // No further than there are blocks: empty blocks may be a loop.
            let mut at = block;
            let mut path = Vec::new();
            while let Terminator::Jump(next) = kernel.blocks[at].terminator
                && is_empty(at)
                && target[at] == at
                && path.len() < kernel.blocks.len()
            {
                path.push(at);
                at = next;
            }
            let end = target[at];
            path.into_iter().for_each(|at| target[at] = end);
        }
        // Of blocks that are reached alone, and a block that both ways of a branch lead to once.
        let successors = |block: usize| {
            let mut next: Vec<usize> =
                kernel.blocks[block].terminator.successors().into_iter().map(|next| target[next]).collect();
            next.sort_unstable();
            next.dedup();
            next
        };
        let mut entries = vec![0; kernel.blocks.len()];
        for (block, _) in depth_first(target[0], kernel.blocks.len(), successors).pre {
            successors(block).into_iter().for_each(|next| entries[next] += 1);
        }
        let variables = variables.collect();
        Ok(Code { program, kernel, given, variables, target, entries, liveness: Liveness::of(kernel) })
    }

    /// The registers that may be read from a block on.
    fn live(&self, block: usize) -> impl Iterator<Item = Reg> + '_ {
        let mut registers: Vec<Reg> = self.liveness.registers_before(block).collect();
        registers.sort_unstable();
        registers.into_iter()
    }
}

/// Whether two variables are one, wherever each is placed.
fn is_same(one: &Variable, other: &Variable) -> bool {
    let content = |variable: &Variable| {
        let length = variable.initial.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        (variable.size, variable.constant, length)
    };
    let (size, constant, length) = content(one);
    one.name == other.name
        && (size, constant, length) == content(other)
        && one.initial[..length] == other.initial[..length]
        && one.relocations == other.relocations
}

/// Whether what it gives depends on which lanes arrive together.
fn depends_on_convergence(op: &Op) -> bool {
    matches!(op, Op::ActiveMask { .. } | Op::Shuffle { mask: None, .. } | Op::Vote { mask: None, .. })
}

/// A pair of blocks that run in step.
struct Pair {
    blocks: [usize; 2],
    /// The registers that may be read from here on.
    keys: Vec<(Side, Reg)>,
    /// What they hold, by the edge that leads here: a pair and which of its successors.
    edges: BTreeMap<(usize, usize), Vec<Value>>,
    /// What they held when the pair was last followed.
    followed: Option<Vec<Value>>,
}

struct Proof<'c, 'a> {
    sides: &'c [Code<'a>; 2],
    values: Values,
    pairs: Vec<Pair>,
    numbers: HashMap<[usize; 2], usize>,
    steps: usize,
    /// Whether the order of memory is compared.
    in_order: bool,
}

impl<'c, 'a> Proof<'c, 'a> {
    fn pair(&mut self, blocks: [usize; 2]) -> usize {
        let blocks = [self.sides[0].target[blocks[0]], self.sides[1].target[blocks[1]]];
        if let Some(&pair) = self.numbers.get(&blocks) {
            return pair;
        }
        let sides = self.sides;
        let of = |side: Side| sides[side as usize].live(blocks[side as usize]).map(move |reg| (side, reg));
        let keys = of(Side::First).chain(of(Side::Second)).collect();
        self.pairs.push(Pair { blocks, keys, edges: BTreeMap::new(), followed: None });
        self.numbers.insert(blocks, self.pairs.len() - 1);
        self.pairs.len() - 1
    }

    /// What the registers hold where a pair begins. On one edge: what they hold there. On several: a class of registers
    /// that hold the same on each edge has a value of its own, unless it is one that never changes.
    fn entry(&mut self, pair: usize) -> Vec<Value> {
        let Pair { keys, edges, .. } = &self.pairs[pair];
        if let (1, Some(only)) = (edges.len(), edges.values().next()) {
            return only.clone();
        }
        let mut classes: HashMap<Vec<Value>, Value> = HashMap::new();
        let mut entry = Vec::with_capacity(keys.len());
        for (place, &(side, reg)) in keys.iter().enumerate() {
            let held: Vec<Value> = edges.values().map(|values| values[place]).collect();
            let first = held[0];
            let value = if self.values.is_fixed(first) && held.iter().all(|value| *value == first) {
                first
            } else if let Some(&class) = classes.get(&held) {
                class
            } else {
                let class = self.values.number(Node::Join { pair, side, reg }, self.values.width(first));
                classes.insert(held, class);
                class
            };
            entry.push(value);
        }
        entry
    }

    /// Runs a pair of blocks on what its registers hold, compares what others see, and tells the pairs behind.
    fn follow(&mut self, pair: usize, waiting: &mut BTreeSet<usize>) -> Result<(), Unproved> {
        let entry = self.entry(pair);
        if self.pairs[pair].followed.as_ref() == Some(&entry) {
            return Ok(());
        }
        let mut runs = Vec::with_capacity(2);
        for side in [Side::First, Side::Second] {
            let keys = self.pairs[pair].keys.iter().zip(&entry);
            let held = keys.filter(|((of, _), _)| *of == side).map(|((_, reg), value)| (*reg, *value)).collect();
            let run = Run::of(&self.sides[side as usize], side, pair, self.pairs[pair].blocks[side as usize], held);
            let run = run.finished(&mut self.values);
            self.steps += run.steps.len() + 1;
            runs.push(run);
        }
        self.pairs[pair].followed = Some(entry);
        let [first, second] = [&runs[0], &runs[1]];
        let reason = "the proof needs more steps than its budget";
        if self.steps > MOST_STEPS || self.values.count() > MOST_VALUES {
            return Err(Unproved { reason, locs: [first.loc, second.loc] });
        }
        compare_steps(first, second)?;
        if self.in_order {
            compare_order(first, second)?;
        }
        let locs = [first.loc, second.loc];
        let unequal = |reason| Err(Unproved { reason, locs });
        let successors: Vec<[usize; 2]> = match (&first.ending, &second.ending) {
            (Ending::Exit, Ending::Exit) => Vec::new(),
            (Ending::Jump(one), Ending::Jump(other)) => vec![[*one, *other]],
            (Ending::Branch(one, ways), Ending::Branch(other, others)) if one == other => {
                vec![[ways[0], others[0]], [ways[1], others[1]]]
            }
            (Ending::Switch(one, ways), Ending::Switch(other, others))
                if one == other && ways.len() == others.len() =>
            {
                ways.iter().zip(others).map(|(way, other)| [*way, *other]).collect()
            }
            (Ending::Branch(..), Ending::Branch(..)) => {
                return unequal("the two may branch by different conditions");
            }
            _ => return unequal("the two branch at different places"),
        };
        for (way, blocks) in successors.into_iter().enumerate() {
            let next = self.pair(blocks);
            let value = |&(side, reg): &(Side, Reg)| runs[side as usize].value(reg, &mut self.values);
            let held = self.pairs[next].keys.iter().map(value).collect();
            self.pairs[next].edges.insert((pair, way), held);
            waiting.insert(next);
        }
        Ok(())
    }
}

/// What others see of a pair of blocks, step by step.
fn compare_steps(first: &Run<'_, '_>, second: &Run<'_, '_>) -> Result<(), Unproved> {
    for (one, other) in first.steps.iter().zip(&second.steps) {
        let Step { loc, .. } = one;
        let locs = [*loc, other.loc];
        if one.what != other.what {
            return Err(Unproved { reason: "the proof cannot match the operations of the two", locs });
        }
        if one.guard != other.guard || one.args != other.args {
            return Err(Unproved { reason: "the two may do it with different values", locs });
        }
    }
    let longer = first.steps.len().cmp(&second.steps.len());
    let next = |run: &Run<'_, '_>, at: usize| run.steps.get(at).map_or(run.loc, |step| step.loc);
    let shared = first.steps.len().min(second.steps.len());
    if longer.is_ne() {
        return Err(Unproved {
            reason: "one of the two has more operations",
            locs: [next(first, shared), next(second, shared)],
        });
    }
    Ok(())
}

/// Whether the second orders its steps for other threads at least as the first, which has as many.
fn compare_order(first: &Run<'_, '_>, second: &Run<'_, '_>) -> Result<(), Unproved> {
    let count = first.steps.len();
    let fence = |run: &Run<'_, '_>, at: usize| run.steps.get(at).map_or(run.fence, |step| step.fence);
    for at in 0..=count {
        let fences = [fence(second, at), fence(second, at + 1)];
        let [one, other] = [first, second].map(|run| run.steps.get(at));
        let is_fenced = fences[0].covers([MemoryOrder::WEAK; 2], fence(first, at));
        let is_ordered = one.zip(other).is_none_or(|(one, other)| other.order.covers(fences, one.order));
        if !is_fenced || !is_ordered {
            let locs = [one.map_or(first.loc, |step| step.loc), other.map_or(second.loc, |step| step.loc)];
            return Err(Unproved { reason: "the second may order memory less for other threads", locs });
        }
    }
    Ok(())
}
