//! Which lanes of a warp run each block of a kernel, and which lanes read what each instruction writes.
//!
//! A reduction by `shfl.down` leaves its result in one lane, which stores it: of its last steps a few lanes are read. What no lane reads need
//! not be computed. The lanes that run a block follow from comparisons of indices with constants, as in `if (threadIdx.x % 32 == 0)`; what they
//! read is liveness with a set of lanes for each register.

use super::LaunchConstants;
use super::budget::Budget;
use super::region::ProgramPoint;
use crate::kernel::{DecodedInst, DecodedKernel};
use crate::scalar::shuffle_source;
use roundonce_ir::{
    Comparand, Comparison, IntOp, Op, Operand, Reg, Role, Scalar, Signedness, Special, Terminator, Width,
};
use std::collections::BTreeMap;

pub(super) const WARP: usize = 32;
/// A set of a warp's lanes.
pub(super) type Lanes = u32;
const ALL: Lanes = Lanes::MAX;

/// Kernels whose tables would be larger are left aside.
const MAX_TABLE: usize = 1 << 17;
const MAX_REGISTERS: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct WarpLanes {
    runs: Vec<Lanes>,
    /// By block and instruction.
    read: Vec<Vec<Lanes>>,
}

impl WarpLanes {
    /// `None` if lanes are not told apart.
    pub(super) fn of(launch: &LaunchConstants<'_>, budget: &Budget) -> Option<WarpLanes> {
        let code = launch.code;
        let shuffles = |block: usize| code.blocks[block].insts.iter().any(|inst| matches!(inst.op, Op::Shuffle { .. }));
        let blocks = code.blocks.len();
        let registers = code.kernel.registers.len();
        if !(0..blocks).any(shuffles) || registers > MAX_REGISTERS || blocks * registers > MAX_TABLE {
            return None;
        }
        let (constants, truths) = numbers(launch, budget)?;
        let edges: Vec<Edges> = code.blocks.iter().map(|block| edges(block.terminator, &truths)).collect();
        let runs = runs(&edges, budget)?;
        // What a lane gets from one that is elsewhere is not followed.
        if truths.is_empty() || (0..blocks).any(|block| runs[block] != ALL && shuffles(block)) {
            return None;
        }
        let read = read(code, (&runs, &constants), &edges, budget)?;
        Some(WarpLanes { runs, read })
    }

    /// The lanes that may run a block.
    pub(super) fn that_run(&self, block: usize) -> Lanes {
        self.runs[block]
    }
    /// The lanes in which what an instruction writes may be read.
    pub(super) fn that_read(&self, point: ProgramPoint) -> Lanes {
        self.read[point.block][point.at]
    }
}

/// What is known of an integer in each lane, the same in all warps: bits, and which of them are known.
type Known = [(u64, u64); WARP];

/// Of predicates the lanes in which they may be true, and may be false.
type Truths = BTreeMap<Reg, (Lanes, Lanes)>;

/// Numbers that are known, and predicates: with one definition, that every reader has before it.
fn numbers(launch: &LaunchConstants<'_>, budget: &Budget) -> Option<(BTreeMap<Reg, u64>, Truths)> {
    let code = launch.code;
    budget.spend(40 * code.insts().count() + code.kernel.registers.len())?;
    let mut definitions = vec![0u32; code.kernel.registers.len()];
    code.insts().for_each(|inst| {
        inst.op.registers(|role, reg| definitions[reg.0 as usize] += u32::from(role == Role::Def));
    });
    // Registers begin as zero.
    code.liveness.registers_before(0).for_each(|reg| definitions[reg.0 as usize] += 1);
    let (mut numbers, mut truths) = (BTreeMap::<Reg, Known>::new(), Truths::new());
    for inst in code.insts().filter(|inst| inst.guard.is_none()) {
        let of = |operand: Operand| match operand {
            Operand::Imm(bits) => Some([(bits, u64::MAX); WARP]),
            Operand::Reg(reg) => numbers.get(&reg).copied(),
        };
        if let &Op::Compare { d, comparison, of: Comparand::Unsigned(width) | Comparand::Signed(width), a, b } = inst.op
            && definitions[d.0 as usize] == 1
            && let (Some(a), Some(b)) = (of(a), of(b))
        {
            let signed = matches!(inst.op, Op::Compare { of: Comparand::Signed(_), .. });
            let lane = |(all, none): (Lanes, Lanes), lane: usize| {
                let (may, may_not) = may_be(comparison, [a[lane], b[lane]], width, signed);
                (all | Lanes::from(may) << lane, none | Lanes::from(may_not) << lane)
            };
            truths.insert(d, (0..WARP).fold((0, 0), lane));
        } else if let Some((d, known)) = number(launch, inst.op, of)
            && definitions[d.0 as usize] == 1
        {
            numbers.insert(d, known);
        }
    }
    let constants = numbers.iter().filter_map(|(&reg, known)| Some((reg, constant(known)?)));
    Some((constants.collect(), truths))
}

/// The number that all lanes have.
fn constant(known: &Known) -> Option<u64> {
    known.iter().all(|&lane| lane == (known[0].0, u64::MAX)).then_some(known[0].0)
}

/// What is known of an instruction's result.
fn number(launch: &LaunchConstants<'_>, op: &Op, of: impl Fn(Operand) -> Option<Known>) -> Option<(Reg, Known)> {
    let width = |reg: Reg| launch.code.kernel.width(reg).mask();
    let [x, ..] = launch.config.block;
    Some(match *op {
        Op::Special { d, special: Special::Lane } => (d, std::array::from_fn(|lane| (lane as u64, u64::MAX))),
        Op::Special { d, special: Special::Tid(0) }
            if x.is_multiple_of(WARP as u32) || launch.config.threads() == x as usize =>
        {
            (d, std::array::from_fn(|lane| (lane as u64, WARP as u64 - 1)))
        }
        Op::Move { d, a } => (d, of(a)?.map(|(bits, known)| (bits & width(d), known | !width(d)))),
        Op::Convert {
            d,
            to: Scalar::Int { bits: to, .. },
            from: Scalar::Int { bits, signed: false },
            saturate: false,
            a,
            ..
        } if to >= 32 && bits >= 32 => {
            let mask = u64::MAX >> (64 - bits.min(to));
            (d, of(a)?.map(|(bits, known)| (bits & mask, known | !mask)))
        }
        Op::Int { d, op, width: Width::B32 | Width::B64, args: [a, b, ..] } => {
            let (a, b, mask) = (of(a)?, of(b)?, width(d));
            // A shift by what is known in all lanes alike.
            let count = constant(&b).filter(|&count| count < u64::from(mask.count_ones()));
            let each = |lane: usize| {
                let ((a, a_known), (b, b_known)) = (a[lane], b[lane]);
                Some(match op {
                    // A zero of either is one of the result.
                    IntOp::And => (a & b, a_known & b_known | a_known & !a | b_known & !b),
                    IntOp::Or => (a | b, a_known & b_known | a_known & a | b_known & b),
                    IntOp::Xor => (a ^ b, a_known & b_known),
                    IntOp::Shl => (a << count?, a_known << count? | ((1 << count?) - 1)),
                    IntOp::Shr(Signedness::Unsigned) => ((a & mask) >> count?, a_known >> count? | !(mask >> count?)),
                    _ => return None,
                })
            };
            let all: Option<Vec<(u64, u64)>> = (0..WARP).map(each).collect();
            let all = all?;
            (d, std::array::from_fn(|lane| (all[lane].0 & all[lane].1 & mask, all[lane].1 | !mask)))
        }
        _ => return None,
    })
}

/// Whether a comparison of numbers of which some bits are known may be true, and may be false.
fn may_be(comparison: Comparison, numbers: [(u64, u64); 2], width: Width, signed: bool) -> (bool, bool) {
    // The least and the most that each may be.
    let [(a, a_most), (b, b_most)] =
        numbers.map(|(bits, known)| (bits & known & width.mask(), (bits | !known) & width.mask()));
    // Two of the same sign are in the same order as numbers without one.
    let sign = width.mask() ^ width.mask() >> 1;
    let known = numbers[0].1 & numbers[1].1 & width.mask();
    let differ = (numbers[0].0 ^ numbers[1].0) & known != 0;
    let equal = (!differ, differ || known != width.mask());
    let less = (a < b_most, a_most >= b);
    let more = (a_most > b, a <= b_most);
    let is_ordered = !signed || (a_most | b_most) & sign == 0;
    let not = |(may, may_not): (bool, bool)| (may_not, may);
    match comparison {
        Comparison::Eq => equal,
        Comparison::Ne => not(equal),
        _ if !is_ordered => (true, true),
        Comparison::Lt => less,
        Comparison::Ge => not(less),
        Comparison::Gt => more,
        Comparison::Le => not(more),
        _ => (true, true),
    }
}

/// Where a block's lanes go on, and which may.
type Edges = Vec<(usize, Lanes)>;

fn edges(terminator: &Terminator, truths: &Truths) -> Edges {
    match terminator {
        Terminator::Branch { pred, then, otherwise } => {
            let &(may, may_not) = truths.get(pred).unwrap_or(&(ALL, ALL));
            vec![(*then, may), (*otherwise, may_not)]
        }
        other => other.successors().into_iter().map(|block| (block, ALL)).collect(),
    }
}

fn runs(edges: &[Edges], budget: &Budget) -> Option<Vec<Lanes>> {
    let mut runs = vec![0; edges.len()];
    runs[0] = ALL;
    let mut todo = vec![0];
    while let Some(block) = todo.pop() {
        budget.spend(16 + 4 * edges[block].len())?;
        for &(to, lanes) in &edges[block] {
            let more = runs[block] & lanes & !runs[to];
            if more != 0 {
                runs[to] |= more;
                todo.push(to);
            }
        }
    }
    Some(runs)
}

/// Iterates to the fixed point, backward.
fn read(
    code: &DecodedKernel<'_>,
    (runs, constants): (&[Lanes], &BTreeMap<Reg, u64>),
    edges: &[Edges],
    budget: &Budget,
) -> Option<Vec<Vec<Lanes>>> {
    let count = code.kernel.registers.len();
    let mut before = vec![vec![0; count]; code.blocks.len()];
    let mut read: Vec<Vec<Lanes>> = code.blocks.iter().map(|block| vec![0; block.insts.len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        budget.spend(8 * code.insts().count() + 3 * code.blocks.len() * count)?;
        for (index, block) in code.blocks.iter().enumerate().rev() {
            let mut live: Vec<Lanes> = vec![0; count];
            for &(to, lanes) in &edges[index] {
                live.iter_mut().zip(&before[to]).for_each(|(all, more)| *all |= more & lanes);
            }
            match block.terminator {
                Terminator::Branch { pred, .. } => live[pred.0 as usize] = ALL,
                &Terminator::Switch { index: Operand::Reg(reg), .. } => live[reg.0 as usize] = ALL,
                _ => {}
            }
            for (inst, read) in block.insts.iter().zip(&mut read[index]).rev() {
                *read = transfer(inst, (runs[index], constants), &mut live);
            }
            changed |= live != before[index];
            before[index] = live;
        }
    }
    Some(read)
}

/// From what is read behind an instruction to what is before it; the lanes that read what it writes.
fn transfer(inst: &DecodedInst<'_>, (runs, constants): (Lanes, &BTreeMap<Reg, u64>), live: &mut [Lanes]) -> Lanes {
    let constant = |operand: Operand| match operand {
        Operand::Imm(bits) => Some(bits),
        Operand::Reg(reg) => constants.get(&reg).copied(),
    };
    let mut written = 0;
    inst.op.registers(|role, reg| {
        if role == Role::Def {
            written |= live[reg.0 as usize];
            if inst.guard.is_none() {
                live[reg.0 as usize] = 0;
            }
        }
    });
    let mut of_value = |operand: Operand, lanes: Lanes| {
        if let Operand::Reg(reg) = operand {
            live[reg.0 as usize] |= lanes;
        }
    };
    match *inst.op {
        // Where the result is read.
        Op::Float { .. }
        | Op::Sign { .. }
        | Op::MinMax { .. }
        | Op::Int { .. }
        | Op::Move { .. }
        | Op::Select { .. }
        | Op::Pack { .. }
        | Op::Extract { .. }
        | Op::Convert { .. }
        | Op::Divide { .. }
        | Op::SquareRoot { .. }
        | Op::Approximate { .. } => inst.op.registers(|role, reg| {
            if role == Role::Use {
                of_value(reg.into(), written & runs);
            }
        }),
        Op::Shuffle { mode, a, b, c, mask, .. } => {
            let lanes = (0..WARP).filter(|lane| written >> lane & 1 == 1);
            let sources = constant(b).zip(constant(c)).map_or(ALL, |(b, c)| {
                lanes.fold(0, |all, lane| all | 1 << shuffle_source(mode, lane, b as u32, c as u32).0)
            });
            of_value(a, sources);
            [Some(b), Some(c), mask].into_iter().flatten().for_each(|operand| of_value(operand, ALL));
        }
        // Where it runs; what is asked of a warp is of all its lanes.
        Op::Load { .. } | Op::Store { .. } => inst.op.registers(|role, reg| {
            if role == Role::Use {
                of_value(reg.into(), runs);
            }
        }),
        _ => inst.op.registers(|role, reg| {
            if role == Role::Use {
                of_value(reg.into(), ALL);
            }
        }),
    }
    inst.guard.into_iter().for_each(|guard| of_value(guard.pred.into(), ALL));
    written
}
