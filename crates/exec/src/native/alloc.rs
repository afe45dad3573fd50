//! Register allocation: the processor's register, or the spill slot in the frame, of each of the kernel's registers. One
//! location for the whole region, without live-range splitting; the most used registers choose first.

use super::budget::Budget;
use super::folded::folded;
use super::frame::Frame;
use super::inactive::InactiveLiveness;
use super::indexed::IndexedAddresses;
use super::quotient::Quotient;
use super::region::{Region, is_store, members};
use super::shape::{Shapes, VectorShape};
use crate::kernel::DecodedKernel;
use iced_x86::Register;
use roundonce_ir::{Op, Operand, Reg, Role, Width};
use std::rc::Rc;

/// General registers that are allocated; the others hold the frame, the tile's record, the budget left, the steps, and
/// scratch.
const GENERAL: [Register; 8] = [
    Register::RBX,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// The location of one number or one vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    Register(Register),
    /// A slot of the frame, by its offset.
    Slot(i64),
}

/// What is allocated to a register of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Allocation {
    /// Nothing: it is a constant, or never used.
    None,
    /// One number.
    Scalar(Location),
    /// Vectors: one if uniform, otherwise as many as the shape needs.
    Vectors(Vec<Location>),
    /// Nothing: it is loaded where it is used ([`folded`]).
    Folded,
    /// A predicate's lanes in the frame: one bit a lane, from this offset.
    Mask(i64),
}

/// Where a register is live: half-open intervals of positions, in order, with a gap between each and the next.
type Intervals = Vec<(u32, u32)>;

/// What a register or slot is already allocated to: intervals in order, and all registers of the value that is live there.
#[derive(Clone, Default)]
struct Interference(Vec<(u32, u32, Rc<[usize]>)>);

impl Interference {
    /// Whether it is free in all of a range. Where one value begins and another one ends, a result may reuse an operand's
    /// registers only if all of them are the same and in the same order, because the result is computed part by part.
    fn is_free(&self, range: &Intervals, registers: Option<&[usize]>) -> bool {
        range.iter().all(|&(from, to)| {
            // Of those that begin before the interval's end, the last; and one that begins there.
            let after = self.0.partition_point(|&(start, ..)| start < to);
            let last = self.0[..after].last();
            let next = self.0.get(after).filter(|&&(start, ..)| start == to);
            let overlaps = last.is_some_and(|&(_, end, _)| end > from);
            let mut touching = last.filter(|&&(_, end, _)| end == from).into_iter().chain(next);
            !overlaps && touching.all(|(.., theirs)| registers == Some(&theirs[..]))
        })
    }
    /// The same for general registers, which hold one number each.
    fn is_free_for_one(&self, range: &Intervals) -> bool {
        self.is_free(range, Some(&[]))
    }
    fn take(&mut self, range: &Intervals, registers: &Rc<[usize]>) {
        self.0.extend(range.iter().map(|&(from, to)| (from, to, registers.clone())));
        // Two runs in order: merged in linear time.
        self.0.sort_by_key(|&(from, ..)| from);
    }
}

/// In order, with those that overlap or touch joined, or that go on at the start of the next node, before which there is
/// nothing.
fn joined(mut intervals: Intervals, nodes: &[(u32, u32)]) -> Intervals {
    let is_start = |at: u32| nodes.binary_search_by_key(&at, |&(start, _)| start).is_ok();
    intervals.sort_unstable();
    intervals.dedup_by(|next, last| {
        let joins = next.0 <= last.1 || next.0 == last.1 + 1 && is_start(next.0);
        last.1 = if joins { last.1.max(next.1) } else { last.1 };
        joins
    });
    intervals
}

/// The intervals of a register while they are found.
#[derive(Clone, Default)]
struct Found {
    intervals: Intervals,
    /// Of all that were added; where these overlap, more than once.
    length: u32,
}

impl Found {
    fn add(&mut self, (start, end): (u32, u32)) {
        self.length += end - start;
        self.intervals.push((start, end));
    }

    /// Adds one from the start of a node, to the last one where it goes on: what lives through many nodes is one interval, not
    /// as many as these.
    fn add_from_start(&mut self, (start, end): (u32, u32)) {
        match self.intervals.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 + 1 => {
                self.length += end - start;
                last.1 = last.1.max(end);
            }
            _ => self.add((start, end)),
        }
    }
}

/// More slots than these are not worth their memory: the interpreter is as fast.
const MAX_SLOTS: usize = 2048;

/// A register that needs a location.
struct LiveRange {
    reg: Reg,
    intervals: Intervals,
    /// How often it is probably used.
    uses: u64,
    /// The same by the length of its intervals.
    spill_weight: u64,
    vectors: usize,
    is_general: bool,
    /// Copy hints: registers to share a location with.
    hints: Vec<Reg>,
}

/// How many vectors a register needs: one or two for each vector of 32-bit lanes.
pub(super) fn vector_count(shapes: &Shapes, width: Width, reg: Reg) -> usize {
    let halves = if width == Width::B64 { 2 } else { 1 };
    match shapes.shape(Operand::Reg(reg)) {
        shape if shape.is_uniform() => 1,
        _ => halves * shapes.vectors(reg).count(),
    }
}

/// The locations of all registers.
pub(super) struct Allocated {
    pub(super) allocations: Vec<Allocation>,
    pub(super) addresses: IndexedAddresses,
    /// The vectors in the frame, weighted by use and the length of their live ranges.
    pub(super) spilled: u64,
    /// The vectors in the frame that are read or written, each as often as its instructions probably run.
    pub(super) spilled_uses: u64,
}

impl Allocated {
    /// The general registers that no value has anywhere.
    pub(super) fn free_general(&self) -> Vec<Register> {
        let is_free = |&register: &Register| {
            let taken = Allocation::Scalar(Location::Register(register));
            !self.allocations.contains(&taken)
        };
        GENERAL.into_iter().filter(is_free).collect()
    }
}

/// Allocates all registers. Where so many of the scratch registers are spare, values may have those too, then also for some of their
/// vectors alone.
pub(super) fn allocate(
    code: &DecodedKernel<'_>,
    region: &Region,
    shapes: &Shapes,
    inactive: &InactiveLiveness,
    (frame, spare): (&mut Frame, usize),
    budget: &Budget,
) -> Option<Allocated> {
    // Where the liveness of so many registers is not known, all of them are live in all nodes.
    budget.spend(8 * region.nodes.len() * code.kernel.registers.len())?;
    let folded = folded(code, region, shapes);
    let addresses = IndexedAddresses::analyse(code, region, shapes);
    let mut ranges = live_ranges(code, region, shapes, inactive, &addresses);
    ranges.retain(|range| !folded[range.reg.0 as usize]);
    ranges.sort_by_key(|range| (std::cmp::Reverse(range.spill_weight), range.reg));
    let mut allocations: Vec<Allocation> =
        folded.iter().map(|&is_folded| if is_folded { Allocation::Folded } else { Allocation::None }).collect();
    let mut general = GENERAL.map(|register| (register, Interference::default()));
    let mut vectors = vec![Interference::default(); shapes.machine.registers() + spare];
    let alone: Rc<[usize]> = Rc::new([]);
    let mut slots: Vec<(i64, Interference)> = Vec::new();
    let (mut spilled, mut spilled_uses) = (0, 0);
    for range in ranges {
        // Each interval is looked up in every register and slot.
        budget.spend(100 * range.intervals.len() * (vectors.len() + slots.len()))?;
        let fits = |taken: &Interference| taken.is_free_for_one(&range.intervals);
        let allocation = match code.kernel.width(range.reg) {
            Width::Pred if !range.is_general => Allocation::Mask(frame.reserve(8 * shapes.lanes.div_ceil(64), 8)),
            _ if range.is_general => {
                let hinted = range.hints.iter().find_map(|&hint| match &allocations[hint.0 as usize] {
                    Allocation::Scalar(Location::Register(register)) => {
                        general.iter().position(|(other, taken)| other == register && fits(taken))
                    }
                    _ => None,
                });
                match hinted.or_else(|| general.iter().position(|(_, taken)| fits(taken))) {
                    Some(index) => {
                        general[index].1.take(&range.intervals, &alone);
                        Allocation::Scalar(Location::Register(general[index].0))
                    }
                    None => Allocation::Scalar(Location::Slot(frame.reserve(8, 8))),
                }
            }
            _ => {
                let number = |register: Register| (register as u32 - Register::ZMM0 as u32) as usize;
                let hinted = range.hints.iter().find_map(|&hint| {
                    let Allocation::Vectors(locations) = &allocations[hint.0 as usize] else { return None };
                    let numbers = locations.iter().map(|location| match location {
                        Location::Register(register) => Some(number(*register)),
                        Location::Slot(_) => None,
                    });
                    let all = numbers.collect::<Option<Vec<usize>>>().filter(|all| all.len() == range.vectors)?;
                    all.iter().all(|&at| vectors[at].is_free(&range.intervals, Some(&all))).then_some(all)
                });
                let free = || {
                    let alone = |at: usize| (range.vectors == 1).then_some([at]);
                    let is_free =
                        |&at: &usize| vectors[at].is_free(&range.intervals, alone(at).as_ref().map(|at| &at[..]));
                    let all: Vec<usize> = (0..vectors.len()).filter(is_free).take(range.vectors).collect();
                    if spare > 0 || all.len() == range.vectors { all } else { Vec::new() }
                };
                let in_registers = hinted.unwrap_or_else(free);
                let rest = range.vectors - in_registers.len();
                // Those of a value that is in slots too are no other's to reuse: its parts are not all there.
                let partial = if rest == 0 { &[][..] } else { &[usize::MAX] };
                let registers: Rc<[usize]> = [&in_registers, partial].concat().into();
                in_registers.iter().for_each(|&at| vectors[at].take(&range.intervals, &registers));
                spilled += range.spill_weight * rest as u64;
                spilled_uses += range.uses * rest as u64;
                let is_free = |&at: &usize| slots[at].1.is_free(&range.intervals, None);
                let mut in_slots: Vec<usize> = (0..slots.len()).filter(is_free).take(rest).collect();
                while in_slots.len() < rest {
                    in_slots.push(slots.len());
                    slots.push((frame.reserve(64, 64), Interference::default()));
                }
                in_slots.iter().for_each(|&at| slots[at].1.take(&range.intervals, &alone));
                let register = |at: usize| Location::Register(Register::ZMM0 + at as u32);
                let slot = |at: usize| Location::Slot(slots[at].0);
                Allocation::Vectors(
                    in_registers.into_iter().map(register).chain(in_slots.into_iter().map(slot)).collect(),
                )
            }
        };
        if slots.len() > MAX_SLOTS {
            return None;
        }
        allocations[range.reg.0 as usize] = allocation;
    }
    Some(Allocated { allocations, addresses, spilled, spilled_uses })
}

/// The last use of each register's value in a node, going backward.
struct Uses {
    last: Vec<Option<u32>>,
    /// All registers that have one, or had.
    known: Vec<usize>,
}

impl Uses {
    /// A use; the last one is seen first.
    fn at(&mut self, reg: Reg, position: u32) {
        let last = &mut self.last[reg.0 as usize];
        if last.is_none() {
            *last = Some(position);
            self.known.push(reg.0 as usize);
        }
    }
}

fn live_ranges(
    code: &DecodedKernel<'_>,
    region: &Region,
    shapes: &Shapes,
    inactive: &InactiveLiveness,
    addresses: &IndexedAddresses,
) -> Vec<LiveRange> {
    let count = code.kernel.registers.len();
    let mut ranges = vec![Found::default(); count];
    let (mut weights, mut writes) = (vec![0u64; count], vec![0u64; count]);
    let mut hints: Vec<Vec<Reg>> = vec![Vec::new(); count];
    let depths = region.loop_depths();
    let count_of = |reg: Reg| vector_count(shapes, code.kernel.width(reg), reg);
    let alike = |a: Reg, b: Reg| {
        let is_general = shapes.is_general(a) == shapes.is_general(b);
        is_general && count_of(a) == count_of(b) && shapes.are_kept_alike(a, b)
    };
    let mut base = 0;
    let mut spans = Vec::with_capacity(region.nodes.len());
    let mut until = Uses { last: vec![None; count], known: Vec::new() };
    for (index, node) in region.nodes.iter().enumerate() {
        let insts = region.insts(code, index);
        let weight = 8u64.pow(depths[index].min(6));
        let end = base + 2 * (insts.len() as u32 + 1) + 1;
        let live = region.live_out(index);
        // Going backward: the last use of each register's value.
        members(&live).for_each(|reg| until.at(reg, end));
        if let Some(reg) = region.decider(node.next) {
            until.at(reg, end);
            weights[reg.0 as usize] += weight;
        }
        for (index, inst) in insts.enumerate().rev() {
            let at = base + 2 * (index as u32 + 1);
            let (mut read, mut written) = (Vec::new(), Vec::new());
            addresses.registers(inst.op, |role, reg| match role {
                Role::Use => read.push(reg),
                Role::Def => written.push(reg),
            });
            read.extend(inst.guard.map(|guard| guard.pred));
            for &reg in &written {
                weights[reg.0 as usize] += weight;
                writes[reg.0 as usize] += weight;
                let to = until.last[reg.0 as usize].take().unwrap_or(at + 2);
                if inst.guard.is_some() {
                    until.at(reg, to);
                } else {
                    ranges[reg.0 as usize].add((at + 1, to));
                }
            }
            // A result is written while operands are still read if they are allocated differently, if there are several
            // results, or if it is a predicate.
            let by_part = match inst.op {
                Op::Float { .. } | Op::Int { .. } | Op::Move { .. } => true,
                // Those of up to 32 bits; between vectors of unlike numbers of lanes the forms differ.
                Op::Convert { d, .. } | Op::Extract { d, .. } | Op::Pack { d, .. } => {
                    code.kernel.width(*d) != Width::B64
                }
                op => Quotient::of(op).is_some(),
            };
            let early = written.len() > 1 || !by_part;
            for &reg in &read {
                weights[reg.0 as usize] += weight;
                if is_store(inst.op) {
                    // Stores are executed at the end of the node.
                    until.last[reg.0 as usize] = None;
                    until.at(reg, end);
                }
                let differs = written.iter().any(|&other| !alike(other, reg));
                until.at(reg, if early || differs { at + 2 } else { at + 1 });
                for &other in &written {
                    hints[reg.0 as usize].push(other);
                    hints[other.0 as usize].push(reg);
                }
            }
        }
        for reg in until.known.drain(..) {
            if let Some(until) = until.last[reg].take() {
                ranges[reg].add_from_start((base, until));
            }
        }
        spans.push((base, end));
        base = end + 1;
    }
    // Registers live in inactive lanes interfere throughout the node.
    for (node, &span) in spans.iter().enumerate() {
        for reg in members(inactive.live(node)) {
            let range = &mut ranges[reg.0 as usize];
            if !range.intervals.is_empty() {
                range.add_from_start(span);
            }
        }
    }
    let is_constant = |reg: usize| matches!(shapes.shape(Operand::Reg(Reg(reg as u32))), VectorShape::Constant(_));
    let allocated: Vec<usize> =
        (0..count).filter(|&reg| !ranges[reg].intervals.is_empty() && !is_constant(reg)).collect();
    allocated
        .into_iter()
        .map(|index| {
            let reg = Reg(index as u32);
            let vectors = vector_count(shapes, code.kernel.width(reg), reg);
            let Found { intervals, length } = std::mem::take(&mut ranges[index]);
            LiveRange {
                reg,
                // A store of a vector takes as long as several loads.
                uses: weights[index] + 3 * writes[index],
                spill_weight: weights[index] * 1024 / u64::from(length.max(1)),
                intervals: joined(intervals, &spans),
                vectors,
                is_general: shapes.is_general(reg),
                hints: std::mem::take(&mut hints[index]),
            }
        })
        .collect()
}
