//! Deferred canonicalisation: which registers still need the pipeline's last steps, the canonical NaN and the flush of
//! subnormals.
//!
//! Arithmetic gives the same result for any NaN operand, and where the processor flushes operands (`DAZ`) also for an
//! operand that was not flushed yet. So both steps are deferred until the bits are observed: by a store, an integer
//! operation or the interpreter. This is a forward dataflow analysis: it computes for every point what a register may
//! hold. A loop's accumulator shows why it must follow the paths: its first value is loaded, and loaded bits must not
//! change.
//!
//! A NaN of f64 keeps an operand's payload, by a rule that no processor has: a tile is left to the interpreter where there is
//! one. Where arithmetic alone reads a result, whose results are NaNs then too, that waits for the store.

use super::budget::Budget;
use super::quotient::Quotient;
use super::region::{Next, Region, Target};
use crate::kernel::{DecodedInst, DecodedKernel, Machine};
use roundonce_arith::{Clamp, Format, Tininess};
use roundonce_ir::{Comparand, Op, Operand, Reg, Role, Scalar, Width};
use std::collections::BTreeSet;

/// An arithmetic result whose NaN is not canonical yet: any NaN stands for the profile's.
pub(super) const NAN_PENDING: u8 = 1;
/// A result of flushing arithmetic that is not flushed yet: any subnormal stands for the zero of its sign.
pub(super) const FLUSH_PENDING: u8 = 2;
/// An arithmetic result that may be a subnormal and keeps it.
pub(super) const SUBNORMAL: u8 = 4;
/// Bits that are not a result of arithmetic: none of them may change.
pub(super) const RAW: u8 = 8;
/// An arithmetic result whose NaN may be a signalling one, as no result of the processor's arithmetic is.
pub(super) const SIGNALLING: u8 = 16;

/// What each register may hold: the flags above.
pub(super) type States = Vec<u8>;

/// The result of the analysis.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    /// At the start of each node.
    pub(super) before: Vec<States>,
    /// At each exit.
    pub(super) at_exit: Vec<States>,
    /// Which registers have 64 bits.
    wide: Vec<bool>,
    /// Registers whose values are canonicalised at once, because they may also hold raw bits.
    pub(super) eager: BTreeSet<Reg>,
    /// Of each register, whether NaNs of f64 in it are looked for where it is stored.
    pub(super) checked_late: Vec<bool>,
    /// Whether the processor flushes subnormal operands (`DAZ`): right for all arithmetic of the region.
    pub(super) daz: bool,
    /// Whether it also flushes results (`FTZ`), by [`Tininess::AfterRounding`]: all arithmetic of the region flushes, by
    /// that criterion.
    pub(super) ftz: bool,
}

impl Deferred {
    pub(super) fn analyse(
        code: &DecodedKernel<'_>,
        region: &Region,
        inputs: &[Reg],
        eager: &BTreeSet<Reg>,
        (machine, divergent): (Machine, bool),
        budget: &Budget,
    ) -> Option<Deferred> {
        let insts = || (0..region.nodes.len()).flat_map(|node| region.insts(code, node));
        // f16 in f32 is neither flushed nor subnormal.
        let flushes = |inst: &DecodedInst<'_>| match inst.op {
            Op::Float { operation, .. } if operation.format != Format::F16 => Some(operation.flush),
            // Those that flush do it themselves where the processor does not.
            op => Quotient::of(op).filter(|quotient| !quotient.flush).map(|_| false),
        };
        let daz = machine.flushes() && insts().any(|inst| flushes(inst) == Some(true));
        let ftz = code.profile.tininess == Tininess::AfterRounding && insts().all(|inst| flushes(inst) != Some(false));
        let none = vec![0; code.kernel.registers.len()];
        let (before, at_exit) = (vec![none.clone(); region.nodes.len()], vec![none; region.exits.len()]);
        let checked_late = checked_late(code, region, eager, divergent);
        let wide = code.kernel.registers.iter().map(|&width| width == Width::B64).collect();
        let mut deferred = Deferred { before, at_exit, wide, eager: eager.clone(), checked_late, daz, ftz: daz && ftz };
        for &reg in inputs {
            deferred.before[region.entry][reg.0 as usize] = RAW;
        }
        deferred.solve(code, region, budget)?;
        if daz && deferred.reads_subnormal(code, region) {
            (deferred.daz, deferred.ftz) = (false, false);
            deferred.before.iter_mut().chain(&mut deferred.at_exit).flatten().for_each(|states| *states &= RAW);
            deferred.solve(code, region, budget)?;
        }
        Some(deferred)
    }

    /// Iterates to the fixed point.
    fn solve(&mut self, code: &DecodedKernel<'_>, region: &Region, budget: &Budget) -> Option<()> {
        let mut changed = true;
        while changed {
            changed = false;
            budget.spend(8 * region.length() + region.nodes.len() * code.kernel.registers.len() / 8)?;
            for (index, node) in region.nodes.iter().enumerate() {
                let mut states = self.before[index].clone();
                for inst in region.insts(code, index) {
                    self.transfer(inst, &mut states);
                }
                for target in region.targets(node.next) {
                    let next = match target {
                        Target::Node(next) => &mut self.before[next],
                        Target::Exit(exit) => &mut self.at_exit[exit],
                    };
                    for (all, states) in next.iter_mut().zip(&states) {
                        changed |= *all | states != *all;
                        *all |= states;
                    }
                }
            }
        }
        Some(())
    }

    /// Whether arithmetic that keeps subnormals may read one.
    fn reads_subnormal(&self, code: &DecodedKernel<'_>, region: &Region) -> bool {
        (0..region.nodes.len()).any(|index| {
            let mut states = self.before[index].clone();
            region.insts(code, index).any(|inst| {
                let quotient = Quotient::of(inst.op).filter(|quotient| !quotient.flush);
                let operands = quotient.map(|quotient| quotient.operands());
                let (strict, formats): (&[Operand], [Format; 3]) = match inst.op {
                    Op::Float { operation, args, .. } if !operation.flush => {
                        let count = operation.op.arity();
                        (&args[..count], core::array::from_fn(|at| operation.operand_format(at.min(count - 1))))
                    }
                    &Op::Compare { of: Comparand::Float { flush: false, format }, ref a, ref b, .. } => {
                        (&[*a, *b], [format; 3])
                    }
                    &Op::Convert { from: Scalar::Float(format), flush: false, ref a, .. } => (&[*a], [format; 3]),
                    _ => {
                        let format = quotient.map_or(Format::F32, |quotient| quotient.format);
                        (operands.as_ref().map_or(&[], |operands| operands), [format; 3])
                    }
                };
                let saturated = matches!(inst.op, Op::Float { operation, .. }
                    if !operation.flush && operation.saturates() && operation.format != Format::F16);
                let reads = strict.iter().zip(formats).any(|(&arg, format)| match arg {
                    _ if format == Format::F16 => false,
                    Operand::Imm(bits) => format.is_subnormal(bits),
                    Operand::Reg(_) => operand_state(&states, arg) & (SUBNORMAL | RAW) != 0,
                });
                self.transfer(inst, &mut states);
                saturated || reads
            })
        })
    }

    /// What a register holds where it receives an operand. The bits of an ordinary f32 are a subnormal f64.
    fn moved(&self, d: Reg, operand: Operand, states: &States) -> u8 {
        match operand {
            Operand::Imm(1..) if self.wide[d.0 as usize] => RAW,
            _ => operand_state(states, operand),
        }
    }

    /// The transfer function of an instruction.
    pub(super) fn transfer(&self, inst: &DecodedInst<'_>, states: &mut States) {
        let made = match inst.op {
            Op::Float { operation, .. } if operation.format.width() == 16 => RAW,
            Op::Float { operation, .. } => {
                let clamps = operation.clamp != Clamp::None;
                let nan = if clamps || operation.format != Format::F32 { 0 } else { NAN_PENDING };
                nan | match (operation.flush, operation.saturates()) {
                    (true, true) => 0,
                    // Without `DAZ` results are flushed at once, with `FTZ` by the processor.
                    (true, false) if self.daz && !self.ftz => FLUSH_PENDING,
                    (true, false) => 0,
                    (false, _) => SUBNORMAL,
                }
            }
            // A NaN keeps its payload.
            &Op::Convert { from: Scalar::Float(from), saturate: false, integral: false, flush, .. }
                if from == Format::F64 || from == Format::BF16 && !flush =>
            {
                RAW
            }
            // No f16 is a subnormal f32.
            &Op::Convert { to: Scalar::Float(Format::F32), from: Scalar::Float(format), flush, saturate, .. } => {
                let nan = if saturate { 0 } else { NAN_PENDING | SIGNALLING };
                nan | if format == Format::F16 || flush { 0 } else { SUBNORMAL }
            }
            &Op::Sign { format: Format::F32, arithmetic: true, flush: false, .. } => {
                NAN_PENDING | SUBNORMAL | SIGNALLING
            }
            &Op::MinMax { format: Format::F32, flush, nan, .. } => {
                let nan = if nan { 0 } else { NAN_PENDING };
                nan | if flush { 0 } else { SUBNORMAL }
            }
            Op::Move { d, a } | Op::Shuffle { d, a, .. } => self.moved(*d, *a, states),
            Op::Select { d, a, b, .. } => self.moved(*d, *a, states) | self.moved(*d, *b, states),
            op => Quotient::of(op).map_or(RAW, |quotient| {
                let nan = if quotient.saturate || quotient.format != Format::F32 { 0 } else { NAN_PENDING };
                nan | if quotient.flush { 0 } else { SUBNORMAL }
            }),
        };
        let predicated = inst.guard.is_some();
        inst.op.registers(|role, reg| {
            if role == Role::Def {
                let made =
                    if self.eager.contains(&reg) && made & (NAN_PENDING | FLUSH_PENDING) != 0 { RAW } else { made };
                let old = &mut states[reg.0 as usize];
                *old = if predicated { *old | made } else { made };
            }
        });
    }
}

/// The registers in which NaNs of f64 are looked for where they are stored, if nothing else may be in them there: results of arithmetic
/// that only arithmetic and stores read. Not where some lanes may be inactive, which hold anything, NaNs too.
fn checked_late(code: &DecodedKernel<'_>, region: &Region, eager: &BTreeSet<Reg>, divergent: bool) -> Vec<bool> {
    let mut late = vec![false; code.kernel.registers.len()];
    if divergent || region.nodes.iter().any(|node| matches!(node.next, Next::Branch { detour: Some(_), .. })) {
        return late;
    }
    let mut observed = late.clone();
    for inst in (0..region.nodes.len()).flat_map(|node| region.insts(code, node)) {
        let arithmetic = match inst.op {
            Op::Float { operation, .. } => operation.format == Format::F64 && operation.clamp == Clamp::None,
            _ => false,
        };
        let stores = |value| match inst.op {
            Op::Store { values, address, .. } => values.contains(&value) && *address != value,
            _ => false,
        };
        inst.op.registers(|role, reg| match role {
            Role::Def if arithmetic && inst.guard.is_none() => late[reg.0 as usize] = true,
            Role::Def => observed[reg.0 as usize] |= arithmetic,
            _ => observed[reg.0 as usize] |= !arithmetic && !stores(reg.into()),
        });
    }
    for (index, late) in late.iter_mut().enumerate() {
        let reg = Reg(index as u32);
        *late &= !observed[index] && !eager.contains(&reg) && !region.leaves(reg);
    }
    late
}

/// What an operand may hold.
pub(super) fn operand_state(states: &States, operand: Operand) -> u8 {
    match operand {
        Operand::Reg(reg) => states[reg.0 as usize],
        Operand::Imm(bits) if bits >> 32 == 0 && !Format::F32.is_subnormal(bits) && !Format::F32.is_nan(bits) => 0,
        Operand::Imm(_) => RAW,
    }
}

/// Whether a register may hold both bits that must be canonicalised and bits that must not change.
pub(super) const fn is_conflicting(states: u8) -> bool {
    states & RAW != 0 && states & (NAN_PENDING | FLUSH_PENDING) != 0
        || states & SUBNORMAL != 0 && states & FLUSH_PENDING != 0
}
