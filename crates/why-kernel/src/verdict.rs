//! The answer as a sentence for each run that was seen.

use roundonce_isa::grouped;
use roundonce_why::{Verdict, simplest};

use crate::{KernelAnswer, ObservedRun};

impl KernelAnswer {
    /// A verdict for each run seen.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |seen: &ObservedRun| {
            let saw = seen.saw.join(", ");
            let (of, kernel) = (grouped(seen.elements as u64), &self.kernel);
            let sentence = match (seen.explanations.first(), &seen.nearest) {
                (Some(first), _) => {
                    let gives = simplest(seen.explanations.len(), "policy", &first.sentence);
                    format!("kernel {kernel}: {gives} gives all {of} elements of {saw}")
                }
                (None, Some(nearest)) => format!(
                    "kernel {kernel}: no policy gives all {of} elements of {saw}; the one that {} gives {}",
                    nearest.policy.sentence,
                    grouped(nearest.explained as u64)
                ),
                (None, None) => format!("kernel {kernel}: no policy gives all {of} elements of {saw}"),
            };
            let difference = seen.first_difference.as_ref().and_then(|element| element.at.as_ref());
            Verdict { saw, outcome: seen.outcome, sentence, line: difference.map(|difference| difference.first.line) }
        };
        self.seen.iter().map(verdict).collect()
    }
}
