//! What a launch can be asked besides its results: where NaNs, infinities, subnormals and inexact results arise, and how
//! far rounding has moved every value.
//!
//! Observed lanes are the interpreter's: what an operation reads is taken before it, what it leaves after it. Reading
//! order: `floats` (an operation without rounding), `exceptions` (counts), `shadow` (wider values beside all floats).

mod exceptions;
mod floats;
mod shadow;

use super::interpreter::Interpreter;
use crate::kernel::DecodedInst;
use exceptions::Computed;
pub(crate) use exceptions::Exceptions;
pub use exceptions::{Exception, ExceptionKind};
use roundonce_functions::Breadth;
use roundonce_ir::{Op, Reg, Role, Scalar};
pub(crate) use shadow::Shadow;
pub use shadow::{Moved, ShadowElement, ShadowLine};

/// The observers of one worker.
#[derive(Debug)]
pub(crate) struct Observers {
    pub(crate) exceptions: Option<Exceptions>,
    pub(crate) shadow: Option<Shadow>,
    /// What the current operation reads: the types, and the bits by active lane.
    types: Vec<Scalar>,
    operands: Vec<(usize, Vec<u64>)>,
}

impl Observers {
    /// Those that are asked for, if any.
    pub(super) fn of(exceptions: bool, shadow: Option<Breadth>) -> Option<Box<Observers>> {
        (exceptions || shadow.is_some()).then(|| {
            Box::new(Observers {
                exceptions: exceptions.then(Exceptions::default),
                shadow: shadow.map(Shadow::new),
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
