//! What explains all elements as well as what was found, and is less plausible: it is named beside it.

use std::ops::Range;

use roundonce_deviate::Plausibility;
use roundonce_deviate::cover::{Group, Matcher, is_subset};

use super::compare::Comparison;
use super::evidence::{MAX_RESULTS, sample};
use crate::evaluation::has_wider_type;

/// Elements that each candidate is tried on first.
const SAMPLE: usize = 64;
/// The same of sums of very many terms.
const LEAST_SAMPLE: usize = 8;
/// Candidates that are named at least, where there are so many.
const FEW: usize = 12;

impl Comparison<'_> {
    /// Adds to the group that explains all elements those of some further candidates that do, and that are not superfluous
    /// beside it: other orders first, where they are asked for and it computes in a wider type. Returns how many were
    /// compared.
    pub(super) fn add_what_fits(&mut self, group: &mut Group, further: Range<usize>) -> usize {
        let deviations = self.deviations;
        let class: Vec<Plausibility> = (0..further.end).map(|at| self.plausibility(at)).collect();
        let is_beside = |comparison: &Self, known: &[usize], at: usize| {
            let is_more = |&simpler: &usize| {
                is_subset(&deviations[simpler], &deviations[at]) && comparison.is_refinement(simpler, at)
            };
            !known.iter().any(is_more)
        };
        let mut order: Vec<usize> = further
            .filter(|&at| class[at] <= Plausibility::OtherOrder && is_beside(self, &group.candidates, at))
            .collect();
        order.sort_by_key(|&at| (class[at], deviations[at].len(), self.rank(at), &deviations[at]));
        let compared = order.len();

        let all: Vec<usize> = (0..self.compared).collect();
        let wanted = (MAX_RESULTS / (compared * self.cost()).max(1)).clamp(LEAST_SAMPLE, SAMPLE);
        let some: Vec<usize> = sample(&all, wanted).collect();
        self.expect(&order, &some);
        order.retain(|&at| self.matches(at, &some, group.nan).iter().all(|matches| *matches));
        let most = (MAX_RESULTS / (all.len() * self.cost()).max(1)).max(FEW);
        for at in order.into_iter().take(most) {
            if is_beside(self, &group.candidates, at)
                && self.matches(at, &all, group.nan).iter().all(|matches| *matches)
            {
                group.candidates.push(at);
            }
        }
        let is_order = |at: &usize| class[*at] == Plausibility::OtherOrder;
        if self.reassociates && group.candidates.iter().all(|at| has_wider_type(&deviations[*at]) || is_order(at)) {
            group.candidates.sort_by_key(|at| !is_order(at));
        }
        compared
    }
}
