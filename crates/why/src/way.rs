//! One way to evaluate an expression: a plan, and what each of its operations rounds to. Every difference from the
//! expression as written is a departure with a name.

use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use roundonce_isa::convert;
use serde::Serialize;

use crate::expr::Typed;
use crate::plan::{Plan, Ref};

/// The precision that the operations are carried out in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// The expression's own types.
    Native,
    /// Each operation in a wider format, its result rounded again to its own type.
    EachOperation(Format),
    /// Everything in a wider format, only the result rounded to its type.
    Whole(Format),
}

/// A way in which an evaluation departs from the expression as written, rounded to nearest even. The commoner in
/// practice stands first: so explanations of one length are ordered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(tag = "kind", content = "what", rename_all = "kebab-case")]
pub enum Departure {
    /// This product is fused into the sum that it is a term of.
    Fused(String),
    /// Each operation is computed in this wider type and rounded again to its own: double rounding.
    WideEachOperation(String),
    /// An explicit fma is computed as a product and a sum.
    SplitFma,
    /// Subnormal operands and results are flushed (`.ftz`).
    Flush,
    /// A zero factor makes a product +0 (`.FMZ`).
    ZeroDominance,
    /// Everything is computed in this wider type and rounded once at the end.
    WideWhole(String),
    /// Another direction of rounding.
    Round(String),
    /// Fused as `mad.f32` of sm_1x does it: the product cut to 24 bits.
    TruncatedProduct,
    /// The result is clamped to [0, 1] (`.sat`).
    Saturate,
    /// The sum is taken in this order.
    Order(String),
    /// A NaN has other bits.
    OtherNan,
}

/// A plan and the modes of its operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Way {
    /// The operations.
    pub plan: Plan,
    /// The sum's order, if it is not the written one.
    pub order: Option<String>,
    /// The precision.
    pub width: Width,
    /// The direction of every rounding.
    pub rounding: Rounding,
    /// Subnormals are flushed.
    pub flush: bool,
    /// Zero factors dominate.
    pub fmz: bool,
    /// Fused products are truncated.
    pub truncated: bool,
    /// The last operation saturates.
    pub saturate: bool,
}

/// One operation carried out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What was computed.
    pub operation: Operation,
    /// The operands' places.
    pub operands: Vec<Ref>,
    /// The operands' bits, in the operation's format.
    pub bits: Vec<u64>,
    /// The result, in the operation's format.
    pub result: u64,
    /// Whether it differs from the exact value.
    pub inexact: bool,
    /// The result rounded again to the expression's type.
    pub narrowed: Option<Typed>,
}

impl Way {
    /// A plan as written.
    pub(crate) fn plain(plan: Plan) -> Way {
        Way {
            plan,
            order: None,
            width: Width::Native,
            rounding: Rounding::NearestEven,
            flush: false,
            fmz: false,
            truncated: false,
            saturate: false,
        }
    }

    /// The departures from the expression as written, in order of simplicity.
    pub fn departures(&self) -> Vec<Departure> {
        let name = |format: Format| format.name().unwrap_or("wide").to_owned();
        let mut all: Vec<Departure> = self.plan.fused.iter().cloned().map(Departure::Fused).collect();
        all.extend((self.plan.split > 0).then_some(Departure::SplitFma));
        // Truncation brings its flushes with it.
        all.extend((self.flush && !self.truncated).then_some(Departure::Flush));
        all.extend(self.fmz.then_some(Departure::ZeroDominance));
        all.extend(match self.width {
            Width::Native => None,
            Width::EachOperation(format) => Some(Departure::WideEachOperation(name(format))),
            Width::Whole(format) => Some(Departure::WideWhole(name(format))),
        });
        all.extend((self.rounding != Rounding::NearestEven).then(|| Departure::Round(self.rounding.name().to_owned())));
        all.extend(self.truncated.then_some(Departure::TruncatedProduct));
        all.extend(self.saturate.then_some(Departure::Saturate));
        all.extend(self.order.clone().map(Departure::Order));
        all
    }

    /// The operation that the plan's `index`th step carries out.
    pub(crate) fn operation(&self, index: usize) -> Operation {
        let op = &self.plan.ops[index];
        let format = match self.width {
            Width::Native => op.format,
            Width::EachOperation(wide) | Width::Whole(wide) => wide,
        };
        let kind = if self.truncated && op.kind == ArithOp::MulAdd { ArithOp::TruncatedMulAdd } else { op.kind };
        Operation {
            negate_product: op.negate_product,
            negate_addend: op.negate_addend,
            flush: self.flush,
            fmz: self.fmz && kind != ArithOp::Add,
            clamp: if self.saturate && index + 1 == self.plan.ops.len() { Clamp::Unit } else { Clamp::None },
            ..Operation::new(kind, format, self.rounding)
        }
    }

    /// Whether the result of the plan's `index`th operation is rounded again to the expression's type.
    pub(crate) fn narrows(&self, index: usize) -> bool {
        match self.width {
            Width::Native => false,
            Width::EachOperation(_) => true,
            Width::Whole(_) => index + 1 == self.plan.ops.len(),
        }
    }

    /// Carries the plan out. `steps` receives every operation, in order.
    pub(crate) fn run(&self, profile: &Profile, mut steps: impl FnMut(Step)) -> Typed {
        let mut results: Vec<Typed> = Vec::with_capacity(self.plan.ops.len());
        for (index, op) in self.plan.ops.iter().enumerate() {
            let operation = self.operation(index);
            let value = |operand: &Ref| match *operand {
                Ref::Leaf(leaf) => self.plan.leaves[leaf].0,
                Ref::Op(earlier) => results[earlier],
            };
            let widened = |operand: &Ref| {
                let Typed { format, bits } = value(operand);
                convert(format, operation.format, Rounding::NearestEven, bits).0
            };
            let bits: Vec<u64> = op.operands.iter().map(widened).collect();
            let outcome = operation.evaluate(profile, &bits);
            let result = Typed { format: operation.format, bits: outcome.bits };
            let narrowed = self.narrows(index).then(|| Typed {
                format: op.format,
                bits: convert(operation.format, op.format, self.rounding, outcome.bits).0,
            });
            results.push(narrowed.unwrap_or(result));
            steps(Step {
                operation,
                operands: op.operands.clone(),
                bits,
                result: outcome.bits,
                inexact: outcome.flags.contains(roundonce_arith::Flags::INEXACT),
                narrowed,
            });
        }
        let mut result = match (results.last(), self.plan.leaves.first()) {
            (Some(result), _) => *result,
            (None, Some((leaf, _))) => *leaf,
            (None, None) => Typed { format: Format::F32, bits: 0 },
        };
        if self.plan.negate_result {
            result.bits ^= result.format.sign_mask();
        }
        result
    }

    /// The result and every step.
    pub fn trace(&self, profile: &Profile) -> (Typed, Vec<Step>) {
        let mut steps = Vec::new();
        let result = self.run(profile, |step| steps.push(step));
        (result, steps)
    }
}
