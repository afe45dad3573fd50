//! An element that shows what explains an array.

use roundonce_deviate::Typed;
use roundonce_isa::{hex_bits, shortest_decimal};

use super::approximated::bound;
use super::compare::Comparison;
use super::{AS_WRITTEN, Candidates, Example};
use crate::evaluation_text::EvaluationText;
use crate::search::ulps;

impl Comparison<'_> {
    /// An element, and the evaluation of a candidate there.
    pub(super) fn example(&mut self, element: usize, candidate: Option<usize>) -> Example {
        let format = self.seen.format;
        let saw = self.saw(element);
        let as_written = self.results(AS_WRITTEN, &[element])[0];
        let element = self.place(element);
        let value = |bits: u64| format!("{} {}", hex_bits(format.width(), bits), shortest_decimal(format, bits));
        let evaluated = match (self.candidates, candidate) {
            (Candidates::Evaluations(all), Some(candidate)) => {
                let value = |name: &str| Some(self.question.columns.get(name)?.at(element));
                Some(EvaluationText::of(&bound(&all[candidate], value), self.profile))
            }
            _ => None,
        };
        let inputs = match self.question.reduction {
            Some(_) => Vec::new(),
            None => self.question.columns.iter().map(|(name, column)| input(name, column.at(element))).collect(),
        };
        Example {
            index: element_index(&self.question.result_shape(), element),
            inputs,
            saw: value(saw),
            as_written: value(as_written),
            ulps: ulps(format, saw, as_written),
            evaluated,
        }
    }
}

fn input(name: &str, value: Typed) -> (String, String) {
    let bits = hex_bits(value.format.width(), value.bits);
    (name.to_owned(), format!("{bits} {}", shortest_decimal(value.format, value.bits)))
}

/// An element's place along each axis.
pub fn element_index(shape: &[usize], mut element: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, length) in index.iter_mut().zip(shape).rev() {
        *place = element % length;
        element /= length;
    }
    index
}
