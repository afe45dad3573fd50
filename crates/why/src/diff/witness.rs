//! The smallest input that shows that a choice which a module leaves open matters.

use std::collections::HashMap;

use roundonce_arith::Profile;
use roundonce_isa::{Alternatives, OpenChoice, Sequence, hex_bits, shortest_decimal};
use serde::Serialize;

use super::{Input, OPERANDS, Pair, Side};

/// Inputs tried before it is said that none shows it.
const MOST: u64 = 1 << 20;

/// An input, and the two results that an implementation may give for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// The values that enter.
    pub inputs: Vec<Input>,
    /// The results.
    pub results: [Outcome; 2],
}

/// A result, and the choice that gives it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Outcome {
    /// The choice.
    pub choice: &'static str,
    /// Its bits.
    pub bits: String,
    /// Its value.
    pub value: String,
}

impl Outcome {
    fn new(choice: &'static str, format: roundonce_arith::Format, bits: u64) -> Outcome {
        Outcome { choice, bits: hex_bits(format.width(), bits), value: shortest_decimal(format, bits) }
    }
}

/// Finds witnesses; what was found for one choice serves all that are alike.
pub struct Witnesses<'p> {
    profile: &'p Profile,
    known: HashMap<[Sequence; 2], Option<Witness>>,
}

impl<'p> Witnesses<'p> {
    /// Nothing found yet.
    pub fn new(profile: &'p Profile) -> Witnesses<'p> {
        Witnesses { profile, known: HashMap::new() }
    }

    /// The witness of a choice, small in the sense of [`Verdict::Different`](super::Verdict): no single step makes it
    /// simpler. `None` if no input was found on which the results differ; two NaNs are no difference.
    ///
    /// ```
    /// use roundonce_arith::{ArithOp, Format, Operation, Profile, Rounding};
    /// use roundonce_isa::{Alternatives, OpenChoice, SequenceOperand};
    /// let operation = |kind| Operation::new(kind, Format::F32, Rounding::NearestEven);
    /// let (product, sum) = (operation(ArithOp::Mul), operation(ArithOp::Add));
    /// let factors = [SequenceOperand::Input(0), SequenceOperand::Input(0)];
    /// let alternatives = Alternatives::contraction(&product, factors, &sum, SequenceOperand::Input(1), true).unwrap();
    /// let inputs = vec!["%f1".to_owned(), "%f2".to_owned()];
    /// let open = OpenChoice { inputs, alternatives, edits: Vec::new(), product: None };
    /// let witness = roundonce_why::diff::Witnesses::new(&Profile::NVIDIA).of(&open).unwrap();
    /// assert_eq!(witness.inputs[0].name, "%f1");
    /// assert_ne!(witness.results[0].bits, witness.results[1].bits);
    /// ```
    pub fn of(&mut self, open: &OpenChoice) -> Option<Witness> {
        let mut found = match &open.alternatives {
            Alternatives::Results { format, inputs, results } => {
                let named = inputs.iter().zip(OPERANDS);
                Some(Witness {
                    inputs: named.map(|(&bits, name)| Input::new(name, *format, bits)).collect(),
                    results: results.map(|(choice, bits)| Outcome::new(choice, *format, bits)),
                })
            }
            Alternatives::Evaluations(readings) => {
                let profile = self.profile;
                self.known.entry(readings.clone()).or_insert_with(|| search(readings, profile)).clone()
            }
        };
        // The search knows the inputs as a, b, c.
        for input in found.iter_mut().flat_map(|witness| &mut witness.inputs) {
            if let Some(place) = OPERANDS.iter().position(|name| *name == input.name) {
                input.name.clone_from(&open.inputs[place]);
            }
        }
        found
    }
}

fn search(readings: &[Sequence; 2], profile: &Profile) -> Option<Witness> {
    let [first, second] = readings.each_ref().map(|reading| Side::reading(reading, &OPERANDS));
    let inputs = first.inputs();
    let pair = Pair { first: &first, second: &second, inputs, nan_bits: false, threads: 1, profile };
    let values = pair.simplest(pair.search(MOST, &|_| ()))?;
    let format = first.plan.format();
    let (one, other) = pair.results(&values);
    let inputs = pair.inputs.iter().zip(&values);
    Some(Witness {
        inputs: inputs.map(|((name, &format), &bits)| Input::new(name, format, bits)).collect(),
        results: [Outcome::new(readings[0].name, format, one), Outcome::new(readings[1].name, format, other)],
    })
}
