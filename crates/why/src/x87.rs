//! An evaluation on the x87's stack: operands of f32 and f64 become 80 bits, operations are computed there.

use roundonce_arith::{ArithOp, Extended, ExtendedResult, Format, Rounding};
use roundonce_deviate::Typed;
use roundonce_functions::Function;
use roundonce_isa::convert;

use crate::call::{Call, Relation};
use crate::plan::{OpKind, PlanOp};

/// One operation there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct X87Outcome {
    pub(crate) result: ExtendedResult,
    /// The result as it was stored, where it was.
    pub(crate) stored: Option<Typed>,
}

/// What an operation gives to those that take its result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum X87Value {
    Memory(Typed),
    Stack(Extended),
}

impl X87Value {
    fn loaded(self) -> Extended {
        match self {
            X87Value::Memory(value) => Extended::of(value.format, value.bits),
            X87Value::Stack(number) => number,
        }
    }
}

/// Whether the x87 has an operation: none that is fused, no function but quotients and roots.
pub(crate) fn has(op: &PlanOp) -> bool {
    let is_call = |call| {
        matches!(
            call,
            Call::Function(Function::Divide | Function::Reciprocal | Function::SquareRoot)
                | Call::Abs
                | Call::Negate
                | Call::Round
                | Call::Compare(_)
        )
    };
    let has_kind = match op.kind {
        OpKind::Arith(kind) => matches!(kind, ArithOp::Add | ArithOp::Mul),
        OpKind::Call(call) => is_call(call),
    };
    has_kind && matches!(op.format, Format::F32 | Format::F64)
}

/// Carries an operation out, and stores its result in its own type if that is asked for, or if it is a cast.
pub(crate) fn carry_out(op: &PlanOp, operands: &[X87Value], stores: bool) -> X87Outcome {
    let load = |at: usize, negative: bool| {
        let number = operands.get(at).map_or(Extended::of(Format::F32, 0), |value| value.loaded());
        if negative { number.negated() } else { number }
    };
    let [a, b] = [0, 1].map(|at| load(at, false));
    let one = Extended::of(Format::F32, Format::F32.one());
    let exactly = |number| ExtendedResult { number, inexact: false };
    let result = match op.kind {
        OpKind::Arith(ArithOp::Add) => load(0, op.negate_product).plus(load(1, op.negate_addend)),
        OpKind::Arith(_) => load(0, op.negate_product).times(b),
        OpKind::Call(Call::Function(Function::Divide)) => a.over(b),
        OpKind::Call(Call::Function(Function::Reciprocal)) => one.over(a),
        OpKind::Call(Call::Function(_)) => a.root(),
        OpKind::Call(Call::Abs) => exactly(a.magnitude()),
        OpKind::Call(Call::Negate) => exactly(a.negated()),
        OpKind::Call(Call::Compare(relation)) if holds(relation, a, b) => exactly(one),
        OpKind::Call(Call::Compare(_)) => exactly(Extended::of(Format::F32, 0)),
        OpKind::Call(_) => exactly(a),
    };
    let is_cast = op.kind == OpKind::Call(Call::Round);
    let stored = (stores || is_cast).then(|| Typed { format: op.format, bits: result.number.round(op.format).bits });
    X87Outcome { result, stored }
}

fn holds(relation: Relation, a: Extended, b: Extended) -> bool {
    match a.order(b) {
        Some(order) => relation.accepts(order),
        None => relation == Relation::Unequal,
    }
}

impl X87Outcome {
    pub(crate) fn value(&self) -> X87Value {
        self.stored.map_or(X87Value::Stack(self.result.number), X87Value::Memory)
    }
    /// The result in a type.
    pub(crate) fn as_format(&self, format: Format) -> Typed {
        let bits = match self.stored {
            Some(stored) => convert(stored.format, format, Rounding::NearestEven, stored.bits).0,
            None => self.result.number.round(format).bits,
        };
        Typed { format, bits }
    }
}
