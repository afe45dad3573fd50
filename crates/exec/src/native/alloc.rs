//! Which machine register, or which place of the frame, each register lives in: the same throughout a region.

use super::frame::Frame;
use super::region::{Exit, Region, Target};
use super::shape::{Shape, Shapes, VECTOR};
use super::waiting::Waiting;
use crate::kernel::DecodedKernel;
use iced_x86::Register;
use roundonce_ir::{Op, Operand, Reg, Role, Width};

/// General registers for registers of the kernel; the others are the frame, the tile, the steps left, and scratch.
const GENERAL: [Register; 9] = [
    Register::RBX,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
];
/// Vector registers for registers of the kernel; the last ones are scratch.
pub(super) const VECTORS: u32 = 27;

/// A vector, or a part of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Register(Register),
    /// At an offset in the frame.
    Frame(i64),
}

/// Where a register lives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Nowhere: it is a constant, or never used.
    Nowhere,
    /// One number.
    Scalar(Place),
    /// Vectors: one (all lanes alike), or as many as the shape says.
    Vectors(Vec<Place>),
    /// A predicate's lanes: 16 bits a vector, from an offset in the frame on.
    Mask(i64),
}

/// When a register is needed: half-open intervals of positions.
type Range = Vec<(u32, u32)>;

fn overlap(a: &Range, b: &Range) -> bool {
    a.iter().any(|&(start, end)| b.iter().any(|&(from, to)| start < to && from < end))
}
/// Whether one begins where the other ends: a result and an operand that dies of it.
fn touch(a: &Range, b: &Range) -> bool {
    a.iter().any(|&(start, end)| b.iter().any(|&(from, to)| start == to || from == end))
}

/// A vector register's or slot's tenants: when, and all places that the tenant has.
type Tenants = Vec<(Range, Vec<usize>)>;

/// Whether a place is free. A result may take over an operand's places only one for one: it is made part by part.
fn is_free(tenants: &Tenants, range: &Range, places: Option<&[usize]>) -> bool {
    tenants
        .iter()
        .all(|(taken, theirs)| !overlap(taken, range) && (places == Some(&theirs[..]) || !touch(taken, range)))
}

/// A register's wants.
struct Want {
    reg: Reg,
    range: Range,
    weight: u64,
    parts: usize,
    scalar: bool,
    /// Registers it would like to share with.
    friends: Vec<Reg>,
}

/// How many vectors a register takes: whole ones for each 16 lanes.
pub(super) fn parts(shapes: &Shapes, width: Width, reg: Reg) -> usize {
    let halves = if width == Width::B64 { 2 } else { 1 };
    match shapes.shape(Operand::Reg(reg)) {
        shape if shape.is_uniform() => 1,
        Shape::Periodic => halves,
        _ => halves * shapes.lanes / VECTOR,
    }
}

/// Whether a register is one number in a general register.
pub(super) fn is_general(shapes: &Shapes, reg: Reg) -> bool {
    match shapes.shape(Operand::Reg(reg)) {
        Shape::Scalar(0) => !shapes.is_float(reg),
        shape => shape.is_scalar(),
    }
}

/// Homes for all registers, and how many vectors had to live in the frame, weighed by how often they are used.
pub(super) fn homes(
    code: &DecodedKernel<'_>,
    region: &Region,
    shapes: &Shapes,
    waiting: &Waiting,
    frame: &mut Frame,
) -> (Vec<Home>, u64) {
    let mut wants = wants(code, region, shapes, waiting);
    wants.sort_by_key(|want| (std::cmp::Reverse(want.weight), want.reg));
    let mut homes = vec![Home::Nowhere; code.kernel.registers.len()];
    let mut general: Vec<(Register, Vec<Range>)> = GENERAL.iter().map(|&register| (register, Vec::new())).collect();
    let mut vectors: Vec<Tenants> = vec![Vec::new(); VECTORS as usize];
    let mut slots: Vec<(i64, Tenants)> = Vec::new();
    let mut spilled = 0;
    for want in wants {
        let fits = |taken: &[Range]| !taken.iter().any(|range| overlap(range, &want.range));
        let home = match code.kernel.width(want.reg) {
            Width::Pred if !want.scalar => Home::Mask(frame.reserve(8 * shapes.lanes.div_ceil(64), 8)),
            _ if want.scalar => {
                let liked = want.friends.iter().find_map(|&friend| match &homes[friend.0 as usize] {
                    Home::Scalar(Place::Register(register)) => {
                        general.iter().position(|(other, taken)| other == register && fits(taken))
                    }
                    _ => None,
                });
                match liked.or_else(|| general.iter().position(|(_, taken)| fits(taken))) {
                    Some(index) => {
                        general[index].1.push(want.range.clone());
                        Home::Scalar(Place::Register(general[index].0))
                    }
                    None => Home::Scalar(Place::Frame(frame.reserve(8, 8))),
                }
            }
            _ => {
                let number = |register: Register| (register as u32 - Register::ZMM0 as u32) as usize;
                let liked = want.friends.iter().find_map(|&friend| {
                    let Home::Vectors(places) = &homes[friend.0 as usize] else { return None };
                    let numbers = places.iter().map(|place| match place {
                        Place::Register(register) => Some(number(*register)),
                        Place::Frame(_) => None,
                    });
                    let all = numbers.collect::<Option<Vec<usize>>>().filter(|all| all.len() == want.parts)?;
                    all.iter().all(|&at| is_free(&vectors[at], &want.range, Some(&all))).then_some(all)
                });
                let free = || {
                    let alone = |at: usize| (want.parts == 1).then_some([at]);
                    let is_free =
                        |&at: &usize| is_free(&vectors[at], &want.range, alone(at).as_ref().map(|at| &at[..]));
                    let all: Vec<usize> = (0..vectors.len()).filter(is_free).take(want.parts).collect();
                    (all.len() == want.parts).then_some(all)
                };
                match liked.or_else(free) {
                    Some(all) => {
                        for &at in &all {
                            vectors[at].push((want.range.clone(), all.clone()));
                        }
                        let register = |at: usize| Place::Register(Register::ZMM0 + at as u32);
                        Home::Vectors(all.into_iter().map(register).collect())
                    }
                    None => {
                        spilled += want.weight * want.parts as u64;
                        let place = |_| {
                            let free = slots.iter().position(|(_, tenants)| is_free(tenants, &want.range, None));
                            let index = free.unwrap_or_else(|| {
                                slots.push((frame.reserve(64, 64), Vec::new()));
                                slots.len() - 1
                            });
                            slots[index].1.push((want.range.clone(), Vec::new()));
                            Place::Frame(slots[index].0)
                        };
                        Home::Vectors((0..want.parts).map(place).collect())
                    }
                }
            }
        };
        homes[want.reg.0 as usize] = home;
    }
    (homes, spilled)
}

fn wants(code: &DecodedKernel<'_>, region: &Region, shapes: &Shapes, waiting: &Waiting) -> Vec<Want> {
    let count = code.kernel.registers.len();
    let mut ranges: Vec<Range> = vec![Vec::new(); count];
    let mut weights = vec![0u64; count];
    let mut friends: Vec<Vec<Reg>> = vec![Vec::new(); count];
    let depths = region.depths();
    let all_parts = |reg: Reg| parts(shapes, code.kernel.width(reg), reg) * 2 + usize::from(is_general(shapes, reg));
    let mut base = 0;
    let mut spans = Vec::with_capacity(region.nodes.len());
    for (index, node) in region.nodes.iter().enumerate() {
        let steps = region.steps(code, index);
        let weight = 8u64.pow(depths[index].min(6));
        let end = base + 2 * (steps.len() as u32 + 1) + 1;
        let live = live_after(code, region, index);
        // Where each register's value will have been used last, going backward.
        let mut until: Vec<Option<u32>> = (0..count).map(|reg| has(&live, Reg(reg as u32)).then_some(end)).collect();
        if let super::region::Next::Branch { pred, .. } = node.next {
            until[pred.0 as usize].get_or_insert(end);
            weights[pred.0 as usize] += weight;
        }
        for (place, step) in steps.iter().enumerate().rev() {
            let at = base + 2 * (place as u32 + 1);
            let (mut read, mut written) = (Vec::new(), Vec::new());
            step.op.registers(|role, reg| match role {
                Role::Use => read.push(reg),
                Role::Def => written.push(reg),
            });
            read.extend(step.guard.map(|guard| guard.pred));
            for &reg in &written {
                weights[reg.0 as usize] += weight;
                let to = until[reg.0 as usize].take().unwrap_or(at + 2);
                if step.guard.is_some() {
                    until[reg.0 as usize] = Some(to);
                } else {
                    ranges[reg.0 as usize].push((at + 1, to));
                }
            }
            // A result that has another form than an operand is written while the operand is still read; so is one of
            // several, and a predicate's.
            let together = written.len() > 1 || !matches!(step.op, Op::Float { .. } | Op::Int { .. } | Op::Move { .. });
            for &reg in &read {
                weights[reg.0 as usize] += weight;
                let unlike = written.iter().any(|&other| all_parts(other) != all_parts(reg));
                until[reg.0 as usize].get_or_insert(if together || unlike { at + 2 } else { at + 1 });
                for &other in &written {
                    friends[reg.0 as usize].push(other);
                    friends[other.0 as usize].push(reg);
                }
            }
        }
        for (reg, until) in until.into_iter().enumerate() {
            if let Some(until) = until {
                ranges[reg].push((base, until));
            }
        }
        spans.push((base, end));
        base = end + 1;
    }
    // Who waits keeps what he has all the while.
    for (reg, range) in ranges.iter_mut().enumerate().filter(|(_, range)| !range.is_empty()) {
        let waits = spans.iter().enumerate().filter(|&(node, _)| waiting.keeps(node, Reg(reg as u32)));
        range.extend(waits.map(|(_, span)| span));
    }
    let is_constant = |reg: usize| matches!(shapes.shape(Operand::Reg(Reg(reg as u32))), Shape::Constant(_));
    let wanted: Vec<usize> = (0..count).filter(|&reg| !ranges[reg].is_empty() && !is_constant(reg)).collect();
    wanted
        .into_iter()
        .map(|index| {
            let reg = Reg(index as u32);
            let parts = parts(shapes, code.kernel.width(reg), reg);
            let length: u32 = ranges[index].iter().map(|(start, end)| end - start).sum();
            Want {
                reg,
                weight: weights[index] * 1024 / u64::from(length.max(1)),
                range: std::mem::take(&mut ranges[index]),
                parts,
                scalar: is_general(shapes, reg),
                friends: std::mem::take(&mut friends[index]),
            }
        })
        .collect()
}

pub(super) fn has(live: &[u64], reg: Reg) -> bool {
    live[reg.0 as usize / 64] >> (reg.0 % 64) & 1 == 1
}

/// The registers that an exit hands over.
pub(super) fn live_at(code: &DecodedKernel<'_>, exit: Exit) -> Vec<u64> {
    match exit {
        Exit::Ended => vec![0; code.kernel.registers.len().div_ceil(64)],
        Exit::At(point) => code.liveness.before_instruction(code.kernel, point.block, point.at),
    }
}

/// The registers that somebody reads behind a node.
fn live_after(code: &DecodedKernel<'_>, region: &Region, node: usize) -> Vec<u64> {
    let mut live = vec![0; code.kernel.registers.len().div_ceil(64)];
    for target in region.nodes[node].next.targets().into_iter().flatten() {
        let more = match target {
            Target::Exit(exit) => live_at(code, region.exits[exit]),
            Target::Node(next) => live_at(code, Exit::At(region.nodes[next].start)),
        };
        for (live, more) in live.iter_mut().zip(more) {
            *live |= more;
        }
    }
    live
}
