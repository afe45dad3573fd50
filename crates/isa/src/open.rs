//! Implementation-defined choices: the evaluations among which a compiler of the module may choose, and the edits that
//! leave only one.

use crate::{Fix, Location};
use roundonce_arith::{Format, Operation};

/// A choice that a module leaves to its compiler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpenChoice {
    /// The module's names of the input values.
    pub inputs: Vec<String>,
    /// The alternatives.
    pub alternatives: Alternatives,
    /// The edits that leave only one alternative, to be applied together.
    pub edits: Vec<Fix>,
    /// Of a contraction, where the product stands; the finding is at the sum.
    pub product: Option<Location>,
}

/// The alternatives of a choice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Alternatives {
    /// One of two evaluations.
    Evaluations([Sequence; 2]),
    /// One of several results of the same evaluation; the inputs that show it are known.
    Results {
        /// The format of inputs and results.
        format: Format,
        /// The inputs.
        inputs: Vec<u64>,
        /// Two of the results, and the choice that gives each.
        results: [(&'static str, u64); 2],
    },
}

/// An evaluation: a few operations, the last one gives the result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sequence {
    /// A short name.
    pub name: &'static str,
    /// In order.
    pub steps: Vec<(Operation, Vec<SequenceOperand>)>,
}

/// An operand of an evaluation's operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SequenceOperand {
    /// An index into [`OpenChoice::inputs`].
    Input(usize),
    /// Bits of the operand's format.
    Constant(u64),
    /// The result of an earlier operation.
    Step(usize),
}

impl SequenceOperand {
    /// The input with this name, which may be new.
    pub fn named(name: String, inputs: &mut Vec<String>) -> SequenceOperand {
        let known = inputs.iter().position(|other| *other == name);
        SequenceOperand::Input(known.unwrap_or_else(|| {
            inputs.push(name);
            inputs.len() - 1
        }))
    }
}

impl Sequence {
    /// One operation whose operands are the inputs in order.
    pub fn single(name: &'static str, operation: Operation) -> Sequence {
        let inputs = (0..operation.op.arity()).map(SequenceOperand::Input).collect();
        Sequence { name, steps: vec![(operation, inputs)] }
    }
}

impl Alternatives {
    /// A product and a sum that may be fused: the product is the sum's first operand where `first`, and both where the
    /// addend is [`SequenceOperand::Step`] 0. `None` where no single operation has the modes of both ([`crate::fused`]).
    pub fn contraction(
        product: &Operation,
        factors: [SequenceOperand; 2],
        sum: &Operation,
        addend: SequenceOperand,
        first: bool,
    ) -> Option<Alternatives> {
        let fused = crate::fused(product, sum, first)?;
        let [a, b] = factors;
        let terms = if first { vec![SequenceOperand::Step(0), addend] } else { vec![addend, SequenceOperand::Step(0)] };
        let product = (*product, factors.to_vec());
        let mut steps = vec![(fused, vec![a, b, addend])];
        if addend == SequenceOperand::Step(0) {
            steps.insert(0, product.clone());
        }
        let apart = Sequence { name: "apart", steps: vec![product, (*sum, terms)] };
        Some(Alternatives::Evaluations([apart, Sequence { name: "fused", steps }]))
    }
}
