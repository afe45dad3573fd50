//! What the pipeline's last steps have still to do on a register: NaNs made canonical, subnormals flushed.
//!
//! Arithmetic does not care which NaN it meets, and with operands flushed by the machine (`DAZ`) not whether a result was
//! flushed before. So both wait until somebody looks at the bits: a store, an integer operation, the interpreter. The
//! notes say for every point what a register may hold; they follow the paths, because a loop's sum begins as something
//! loaded, whose bits count as they are.

use super::region::{Region, Target};
use crate::kernel::{DecodedInst, DecodedKernel};
use roundonce_arith::Format;
use roundonce_ir::{Comparand, Op, Operand, Reg, Role, Scalar};
use std::collections::BTreeSet;

/// An arithmetic result that may be a NaN: any NaN stands for the profile's.
pub(super) const NAN: u8 = 1;
/// A result of flushing arithmetic: any subnormal stands for zero of its sign.
pub(super) const LATE: u8 = 2;
/// A subnormal that counts, from arithmetic.
pub(super) const SUBNORMAL: u8 = 4;
/// Bits from elsewhere: whatever they are, they stay.
pub(super) const RAW: u8 = 8;

/// The notes of all registers.
pub(super) type Notes = Vec<u8>;

/// The notes at the start of each node.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) before: Vec<Notes>,
    /// At each exit.
    pub(super) leaving: Vec<Notes>,
    /// Registers whose values are finished at once, because they may also hold bits from elsewhere.
    pub(super) eager: BTreeSet<Reg>,
    /// Subnormal operands are zeros for all arithmetic of the region.
    pub(super) flushes: bool,
}

impl Noted {
    pub(super) fn of(code: &DecodedKernel<'_>, region: &Region, inputs: &[Reg], eager: &BTreeSet<Reg>) -> Noted {
        let steps = || (0..region.nodes.len()).flat_map(|node| region.steps(code, node));
        let flushes = steps().any(|step| matches!(step.op, Op::Float { operation, .. } if operation.flush));
        let none = vec![0; code.kernel.registers.len()];
        let (before, leaving) = (vec![none.clone(); region.nodes.len()], vec![none; region.exits.len()]);
        let mut noted = Noted { before, leaving, eager: eager.clone(), flushes };
        for &reg in inputs {
            noted.before[region.entry][reg.0 as usize] = RAW;
        }
        noted.settle(code, region);
        if flushes && noted.meets_subnormals(code, region) {
            noted.flushes = false;
            noted.before.iter_mut().chain(&mut noted.leaving).flatten().for_each(|notes| *notes &= RAW);
            noted.settle(code, region);
        }
        noted
    }

    fn settle(&mut self, code: &DecodedKernel<'_>, region: &Region) {
        let mut changed = true;
        while changed {
            changed = false;
            for (index, node) in region.nodes.iter().enumerate() {
                let mut notes = self.before[index].clone();
                for step in region.steps(code, index) {
                    self.pass(step, &mut notes);
                }
                for target in node.next.targets().into_iter().flatten() {
                    let next = match target {
                        Target::Node(next) => &mut self.before[next],
                        Target::Exit(exit) => &mut self.leaving[exit],
                    };
                    for (all, notes) in next.iter_mut().zip(&notes) {
                        changed |= *all | notes != *all;
                        *all |= notes;
                    }
                }
            }
        }
    }

    /// Whether arithmetic that keeps subnormals may meet one that counts.
    fn meets_subnormals(&self, code: &DecodedKernel<'_>, region: &Region) -> bool {
        (0..region.nodes.len()).any(|index| {
            let mut notes = self.before[index].clone();
            region.steps(code, index).iter().any(|step| {
                let strict: &[Operand] = match step.op {
                    Op::Float { operation, args, .. } if !operation.flush => &args[..operation.op.arity()],
                    Op::Compare { of: Comparand::Float(_, false), a, b, .. } => &[*a, *b],
                    Op::Convert { from: Scalar::Float(_), flush: false, a, .. } => &[*a],
                    _ => &[],
                };
                let saturated =
                    matches!(step.op, Op::Float { operation, .. } if !operation.flush && operation.saturate);
                let meets = strict.iter().any(|&arg| operand(&notes, arg) & (SUBNORMAL | RAW) != 0);
                self.pass(step, &mut notes);
                saturated || meets
            })
        })
    }

    /// Past an instruction.
    pub(super) fn pass(&self, step: &DecodedInst<'_>, notes: &mut Notes) {
        let made = match step.op {
            Op::Float { operation, .. } => {
                let nan = if operation.saturate || operation.format != Format::F32 { 0 } else { NAN };
                nan | match (operation.flush, operation.saturate) {
                    (true, true) => 0,
                    // Where the machine does not flush, results are flushed at once.
                    (true, false) if self.flushes => LATE,
                    (true, false) => 0,
                    (false, _) => SUBNORMAL,
                }
            }
            Op::Move { a, .. } => operand(notes, *a),
            Op::Select { a, b, .. } => operand(notes, *a) | operand(notes, *b),
            _ => RAW,
        };
        let keeps = step.guard.is_some();
        step.op.registers(|role, reg| {
            if role == Role::Def {
                let made = if self.eager.contains(&reg) && made & (NAN | LATE) != 0 { RAW } else { made };
                let old = &mut notes[reg.0 as usize];
                *old = if keeps { *old | made } else { made };
            }
        });
    }
}

/// What an operand may hold.
pub(super) fn operand(notes: &Notes, operand: Operand) -> u8 {
    match operand {
        Operand::Reg(reg) => notes[reg.0 as usize],
        Operand::Imm(bits) if bits >> 32 == 0 && !Format::F32.is_subnormal(bits) && !Format::F32.is_nan(bits) => 0,
        Operand::Imm(_) => RAW,
    }
}

/// Whether a register's notes contradict each other: what stands for something else, and what stays as it is.
pub(super) const fn is_mixed(notes: u8) -> bool {
    notes & RAW != 0 && notes & (NAN | LATE) != 0 || notes & SUBNORMAL != 0 && notes & LATE != 0
}
