//! What a launch can be asked besides its results: where NaNs, infinities, subnormals and inexact results arise, how far
//! rounding has moved every value, and a digest of every instruction's results.
//!
//! Observed lanes are the interpreter's: what an operation reads is taken before it, what it leaves after it. Reading
//! order: `floats` (an operation without rounding), `exceptions` (counts), `shadow` (wider values beside all floats),
//! `digests`.

mod digests;
mod exceptions;
mod floats;
mod shadow;

use std::collections::HashMap;

use super::interpreter::Interpreter;
use crate::kernel::{DecodedInst, Observed};
pub(crate) use digests::Digests;
pub use digests::ResultDigest;
use exceptions::Computed;
pub(crate) use exceptions::Exceptions;
pub use exceptions::{Exception, ExceptionKind};
use roundonce_ir::{AtomicKind, Kernel, Op, Operand, Reg, Role, Scalar};
pub(crate) use shadow::Shadow;
pub(super) use shadow::ShadowBatch;
pub use shadow::{Moved, ShadowElement, ShadowLine};

/// The observers of one worker.
#[derive(Debug)]
pub(crate) struct Observers {
    pub(crate) exceptions: Option<Exceptions>,
    pub(crate) shadow: Option<Shadow>,
    pub(crate) digests: Option<Digests>,
    /// What the current operation reads: the types, and the bits by active lane.
    types: Vec<Scalar>,
    operands: Vec<(usize, Vec<u64>)>,
    /// What conversions in several steps read, whose registers may be gone at the last one: by register and lane.
    kept: HashMap<(Reg, usize), u64>,
    /// Where the current operation stands.
    loc: u32,
}

impl Observers {
    /// Those that are asked for, if any.
    pub(super) fn of(observed: Observed) -> Option<Box<Observers>> {
        observed.any().then(|| {
            Box::new(Observers {
                exceptions: observed.exceptions.then(Exceptions::default),
                shadow: observed.shadow.map(Shadow::new),
                digests: observed.digests.then(Digests::default),
                types: Vec::new(),
                operands: Vec::new(),
                kept: HashMap::new(),
                loc: 0,
            })
        })
    }
    /// Bytes that the shadow takes, about.
    pub(super) fn bytes(&self) -> u64 {
        self.shadow.as_ref().map_or(0, Shadow::bytes)
    }
}

/// What an observer sees of an operation: itself, or of a conversion in several steps at the last one the whole, and nothing
/// at those before.
fn as_observed<'k>(kernel: &'k Kernel, inst: &DecodedInst<'k>) -> Option<&'k Op> {
    let Some(conversions) = kernel.stepwise.get(&inst.loc) else { return Some(inst.op) };
    let written = Interpreter::registers_of(inst.op, Role::Def);
    conversions.iter().find(|whole| Interpreter::registers_of(whole, Role::Def) == written)
}

/// Whether the operation that is observed is not the one that runs.
fn is_stepwise(observed: &Op, inst: &DecodedInst<'_>) -> bool {
    !std::ptr::eq(observed, inst.op)
}

impl Interpreter<'_> {
    /// Before an operation.
    #[cold]
    pub(super) fn observe_before(&mut self, inst: &DecodedInst<'_>) {
        let Some(mut observers) = self.observers.take() else { return };
        observers.loc = inst.loc;
        observers.operands.clear();
        observers.types.clear();
        match as_observed(self.code.kernel, inst) {
            Some(op) => {
                let numbers = floats::numbers(op);
                observers.types.extend(numbers.iter().map(|&(_, of)| of));
                for lane in self.active.mask.lanes().filter(|_| !numbers.is_empty()) {
                    let bits = |&(operand, of): &(Operand, Scalar)| {
                        let kept = match operand {
                            Operand::Reg(reg) if is_stepwise(op, inst) => observers.kept.get(&(reg, lane)).copied(),
                            _ => None,
                        };
                        kept.unwrap_or_else(|| self.files.lane(operand, of.width(), lane, self.geometry))
                    };
                    observers.operands.push((lane, numbers.iter().map(bits).collect()));
                }
                if let Some(shadow) = &mut observers.shadow {
                    shadow.before(self, (inst.loc, op), &numbers, &observers.operands);
                }
            }
            None => {
                for reg in Self::registers_of(inst.op, Role::Use) {
                    let width = self.code.kernel.width(reg);
                    let bits = |lane: usize| self.files.lane(reg.into(), width, lane, self.geometry);
                    observers.kept.extend(self.active.mask.lanes().map(|lane| ((reg, lane), bits(lane))));
                }
            }
        }
        self.observers = Some(observers);
    }

    /// After an operation that ran.
    #[cold]
    pub(super) fn observe_after(&mut self, inst: &DecodedInst<'_>) {
        let Some(mut observers) = self.observers.take() else { return };
        let observed = as_observed(self.code.kernel, inst);
        if let (Some(exceptions), Some(op)) = (&mut observers.exceptions, observed) {
            let profile = &self.code.profile;
            let register =
                |d: Reg, lane: usize| self.files.lane(d.into(), self.code.kernel.width(d), lane, self.geometry);
            for (lane, operands) in &observers.operands {
                let thread = self.thread_of(*lane);
                match *op {
                    Op::Sign { .. } | Op::CopySign { .. } => {}
                    Op::ConvertPacked { d, ref conversion, .. } => {
                        let all = Computed::of_conversion(conversion, operands, register(d, *lane));
                        all.into_iter().for_each(|it| exceptions.record(inst.loc, thread, it));
                    }
                    _ => {
                        let Some((d, format)) = floats::result(op) else { break };
                        let result = (format, register(d, *lane) & format.mask());
                        let it = Computed::of(profile, op, &observers.types, operands, result);
                        exceptions.record(inst.loc, thread, it);
                    }
                }
            }
        }
        if let Some(digests) = &mut observers.digests {
            digests.enter(self.first_block);
            let place = (inst.loc, floats::result(inst.op).is_some());
            for register in Self::registers_of(inst.op, Role::Def) {
                let width = self.code.kernel.width(register);
                let first = self.first_block * self.threads as u64;
                let bits = |lane: usize| self.files.lane(register.into(), width, lane, self.geometry);
                let written = self.active.mask.lanes().map(|lane| (lane, first + lane as u64, bits(lane)));
                digests.record(place, register, written);
            }
        }
        if let (Some(shadow), Some(op)) = (&mut observers.shadow, observed) {
            shadow.after(self, (inst.loc, op), &observers.operands);
        }
        self.observers = Some(observers);
    }

    /// An atomic of one lane: what was in memory, the operand, what is there now.
    pub(super) fn observe_atomic(&mut self, lane: usize, kind: AtomicKind, bits: [u64; 3]) {
        if self.observers.is_none() {
            return;
        }
        let thread = self.thread_of(lane);
        if let Some(observers) = &mut self.observers
            && let Some(exceptions) = &mut observers.exceptions
        {
            let all = Computed::of_atomic(&self.code.profile, kind, bits);
            all.into_iter().for_each(|it| exceptions.record(observers.loc, thread, it));
        }
    }

    /// The registers that an operation reads or writes.
    pub(super) fn registers_of(op: &Op, wanted: Role) -> Vec<Reg> {
        let mut registers = Vec::new();
        op.registers(|role, reg| {
            if role == wanted {
                registers.push(reg);
            }
        });
        registers
    }
}
