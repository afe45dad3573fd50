//! One evaluation of an expression: a plan, and what each of its operations rounds to. Every difference from the
//! expression as written is a deviation with a name.

use roundonce_arith::{Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, EvalModel, Fmas, Plausibility, Products, Stages, Typed, plausibility};

use crate::plan::{Plan, Ref};

/// A plan and the modes of its operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Evaluation {
    /// The operations.
    pub plan: Plan,
    /// The sum's order, if it is not the written one.
    pub order: Option<String>,
    /// What all operations do otherwise.
    pub modes: Vec<Deviation>,
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
    /// What is flushed apart from the operation: its operands before it, its result after it.
    pub flushed: [bool; 2],
}

impl Evaluation {
    /// A plan as written.
    pub(crate) fn plain(plan: Plan) -> Evaluation {
        Evaluation { plan, order: None, modes: Vec::new() }
    }

    /// The deviations from the expression as written.
    pub fn deviations(&self) -> Vec<Deviation> {
        let Plan { fused, contracts_all, .. } = &self.plan;
        let fused: Vec<Products> = match fused.as_slice() {
            [product] if *contracts_all => vec![Products::Only(product.clone())],
            [_, _, ..] if *contracts_all => vec![Products::All],
            products => products.iter().cloned().map(Products::Written).collect(),
        };
        let split = (self.plan.split > 0).then_some(Deviation::Split(Fmas::All));
        let order = self.order.clone().map(Deviation::Order);
        // That a product is contracted to sm_1x's `mad` says that subnormals are flushed.
        let is_mad = !self.plan.fused.is_empty() && self.modes.contains(&Deviation::TruncatedProduct);
        let modes = self.modes.iter().filter(|mode| !is_mad || !matches!(mode, Deviation::Flush(_))).cloned();
        fused.into_iter().map(Deviation::Contract).chain(split).chain(modes).chain(order).collect()
    }

    /// How plausible it is as a cause.
    pub fn plausibility(&self) -> Plausibility {
        plausibility(&self.deviations())
    }

    /// How the operations are evaluated, seen from a multiply-add of the expression's type.
    pub(crate) fn model(&self) -> EvalModel {
        let multiply_add = Operation::mul_add(self.plan.format(), Rounding::NearestEven);
        EvalModel::of(multiply_add, &Profile::NVIDIA).with_all(&self.modes)
    }

    /// How the plan's `index`th operation is carried out.
    pub(crate) fn stages(&self, index: usize, profile: &Profile) -> Stages {
        let is_last = index + 1 == self.plan.ops.len();
        // The result alone is clamped.
        let modes = self.modes.iter().filter(|mode| is_last || **mode != Deviation::Saturate);
        EvalModel::of(self.plan.ops[index].operation(), profile).with_all(modes).stages(is_last)
    }

    /// Carries the plan out. `steps` receives every operation, in order.
    pub(crate) fn run(&self, profile: &Profile, mut steps: impl FnMut(Step)) -> Typed {
        let mut results: Vec<Typed> = Vec::with_capacity(self.plan.ops.len());
        for (index, op) in self.plan.ops.iter().enumerate() {
            let stages = self.stages(index, profile);
            let value = |operand: &Ref| match *operand {
                Ref::Leaf(leaf) => self.plan.leaves[leaf].0,
                Ref::Op(earlier) => results[earlier],
            };
            let operands: Vec<Typed> = op.operands.iter().map(value).collect();
            let carried = stages.run(&operands);
            results.push(carried.value());
            steps(Step {
                operation: stages.operation,
                operands: op.operands.clone(),
                bits: carried.operands[..operands.len()].to_vec(),
                result: carried.result.bits,
                inexact: carried.inexact,
                narrowed: carried.narrowed,
                flushed: [stages.flush_operands, carried.flushed_result],
            });
        }
        let mut result = match (results.last(), self.plan.leaves.first()) {
            (Some(result), _) => *result,
            (None, Some((leaf, _))) => *leaf,
            (None, None) => Typed { format: self.plan.format(), bits: 0 },
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
