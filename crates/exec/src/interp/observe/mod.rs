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

use super::interpreter::Interpreter;
use crate::kernel::{DecodedInst, Observed};
pub(crate) use digests::Digests;
pub use digests::ResultDigest;
use exceptions::Computed;
pub(crate) use exceptions::Exceptions;
pub use exceptions::{Exception, ExceptionKind};
use roundonce_ir::{Op, Reg, Role, Scalar};
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
            })
        })
    }
    /// Bytes that the shadow takes, about.
    pub(super) fn bytes(&self) -> u64 {
        self.shadow.as_ref().map_or(0, Shadow::bytes)
    }
}

impl Interpreter<'_> {
    /// Before an operation.
    #[cold]
    pub(super) fn observe_before(&mut self, inst: &DecodedInst<'_>) {
        let Some(mut observers) = self.observers.take() else { return };
        observers.operands.clear();
        observers.types.clear();
        let numbers = floats::numbers(inst.op);
        observers.types.extend(numbers.iter().map(|&(_, of)| of));
        if !numbers.is_empty() {
            for lane in self.active.mask.lanes() {
                let bits = |&(operand, of): &(_, Scalar)| self.files.lane(operand, of.width(), lane, self.geometry);
                observers.operands.push((lane, numbers.iter().map(bits).collect()));
            }
        }
        if let Some(shadow) = &mut observers.shadow {
            shadow.before(self, inst, &numbers, &observers.operands);
        }
        self.observers = Some(observers);
    }

    /// After an operation that ran.
    #[cold]
    pub(super) fn observe_after(&mut self, inst: &DecodedInst<'_>) {
        let Some(mut observers) = self.observers.take() else { return };
        if let (Some(exceptions), Some((d, format))) = (&mut observers.exceptions, floats::result(inst.op))
            && !matches!(inst.op, Op::Sign { .. } | Op::CopySign { .. })
        {
            for (lane, operands) in &observers.operands {
                let bits = self.files.lane(d.into(), self.code.kernel.width(d), *lane, self.geometry) & format.mask();
                let (types, thread) = (&observers.types[..], self.thread_of(*lane));
                let it = Computed { op: inst.op, loc: inst.loc, types, operands, format, bits, thread };
                exceptions.record(&self.code.profile, &it);
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
        if let Some(shadow) = &mut observers.shadow {
            shadow.after(self, inst, &observers.operands);
        }
        self.observers = Some(observers);
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
