//! The evaluations in which functions give other values than the correctly rounded ones.

use roundonce_arith::Profile;
use roundonce_deviate::Typed;

use crate::accuracy::{ALL_DOCUMENTS, AllowedValue, Documents, allowed};
use crate::evaluation::{Evaluation, Step};
use crate::spell::call_text;

/// More of one plan are not tried.
pub(crate) const MAX_APPROXIMATIONS: usize = 4096;

impl Evaluation {
    /// The same with every combination of values that one document allows its functions, but for all correctly rounded
    /// ones; at least [`MAX_APPROXIMATIONS`] where some are left out.
    pub(crate) fn approximated(self, profile: &Profile) -> Vec<Evaluation> {
        if !self.plan.ops.iter().any(|op| op.call().is_some_and(|call| call.function().is_some())) {
            return Vec::new();
        }
        let mut found: Vec<Evaluation> = Vec::new();
        // With one function that gives another value, then with two, and so on.
        let mut last = vec![(self, 0, ALL_DOCUMENTS)];
        while !last.is_empty() {
            let mut next = Vec::new();
            for (evaluation, from, documents) in &last {
                evaluation.extended(*from, *documents, profile, &mut next);
                if found.len() + next.len() >= MAX_APPROXIMATIONS {
                    break;
                }
            }
            found.extend(next.iter().map(|(evaluation, ..)| evaluation.clone()));
            last = if found.len() >= MAX_APPROXIMATIONS { Vec::new() } else { next };
        }
        found
    }

    /// Those in which one operation more, of those from one on, gives another value.
    fn extended(
        &self,
        from: usize,
        documents: Documents,
        profile: &Profile,
        found: &mut Vec<(Evaluation, usize, Documents)>,
    ) {
        let (_, steps) = self.trace(profile);
        for (index, step) in steps.iter().enumerate().skip(from) {
            let values = self.values(step, profile).into_iter();
            for value in values.filter(|value| value.documents & documents != 0) {
                let mut other = self.clone();
                other.approximations.push((index, value.approximation));
                found.push((other, index + 1, value.documents & documents));
            }
        }
    }

    /// What the function of a step may give in the place of its value.
    fn values(&self, step: &Step, profile: &Profile) -> Vec<AllowedValue> {
        let function = step.call.and_then(|call| call.function());
        let Some(function) = function.filter(|_| step.narrowed.is_none()) else { return Vec::new() };
        let rounded = Typed { format: step.operation.format, bits: step.result };
        let call = call_text(self, step);
        allowed(function, (&call, &step.bits), rounded, profile)
    }
}
