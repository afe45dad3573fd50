//! How much an array says for an evaluation: what matches is compared with what matches once the array is moved.

use std::collections::HashSet;

use roundonce_deviate::cover::{Cover, Group, Matcher};

use super::{Candidates, Comparison};
use crate::chance::{FARTHEST, WEAK_BITS, bits_of_evidence, chance_of_a_match};
use crate::search::place;

/// Elements that are moved, for the most candidates and for the fewest.
const SAMPLE: [usize; 2] = [64, 1024];
/// Results of candidates that are compared with the moved elements.
const MAX_RESULTS: usize = 2_000_000;

/// What of a cover is more than an accident.
pub(super) struct Graded {
    /// With the bits of evidence of each group.
    pub(super) groups: Vec<(Group, f64)>,
    /// Elements in the order of the array.
    pub(super) unexplained: Vec<usize>,
    /// How many of them the best evaluation matches, and how many one does at most after a move.
    pub(super) by_accident: Option<[usize; 2]>,
}

impl Comparison<'_> {
    /// The groups of a cover by some candidates that say something. One that does not is kept if it is all that was left, or
    /// if two groups are all there is; else it ends the cover, since the groups after it explain what it leaves.
    pub(super) fn graded(&mut self, cover: &Cover, candidates: usize) -> Graded {
        let are_two = cover.unexplained.is_empty() && cover.groups.len() <= 2;
        let mut graded = Graded { groups: Vec::new(), unexplained: cover.unexplained.clone(), by_accident: None };
        for (at, group) in cover.groups.iter().enumerate() {
            let left: Vec<usize> = cover.groups[at..]
                .iter()
                .flat_map(|group| &group.elements)
                .chain(&cover.unexplained)
                .copied()
                .collect();
            let chance = self.chance_of_a_match(candidates, &left);
            let bits = bits_of_evidence(group.elements.len(), left.len(), chance) * self.distinct_share(&left);
            let bits = (bits - self.bits_of_choice(group.candidates[0])).max(0.0);
            if bits < WEAK_BITS && group.elements.len() < left.len() && !are_two {
                let at_most = (chance * left.len() as f64).ceil() as usize;
                graded.by_accident = Some([group.elements.len(), at_most.min(left.len())]);
                graded.unexplained = left;
                break;
            }
            graded.groups.push((group.clone(), bits));
        }
        graded.unexplained.sort_unstable();
        graded
    }

    /// The bits of evidence that the choice of an order takes: one of many matches by accident as often as they are many.
    /// Those that are less plausible than it do not count.
    fn bits_of_choice(&self, candidate: usize) -> f64 {
        match self.candidates {
            Candidates::Sums(all) => (all.different(candidate) as f64).log2(),
            Candidates::Evaluations(_) => 0.0,
        }
    }

    fn sample(elements: &[usize], wanted: usize) -> impl Iterator<Item = usize> + '_ {
        elements.iter().step_by(elements.len().div_ceil(wanted).max(1)).copied()
    }

    /// The elements of a sample that differ in what was seen, the first of equals.
    fn distinct(&self, sample: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut known = HashSet::new();
        sample.filter(|&element| known.insert(self.saw(element))).collect()
    }

    /// Elements of equal bits count once: what share of some elements that leaves. Where a sample has few that differ,
    /// there are no more.
    fn distinct_share(&self, elements: &[usize]) -> f64 {
        let sampled = Self::sample(elements, SAMPLE[1]).count();
        let distinct = self.distinct(Self::sample(elements, SAMPLE[1])).len();
        let of = if distinct * 2 < sampled { elements.len() } else { sampled };
        distinct as f64 / of as f64
    }

    /// The largest share of some elements that a candidate matches once what was seen is moved by the same ulps
    /// everywhere. Where what was seen is noise, none matches what was not moved more often.
    fn chance_of_a_match(&mut self, candidates: usize, elements: &[usize]) -> f64 {
        let wanted = (MAX_RESULTS / (candidates * self.cost()).max(1)).clamp(SAMPLE[0], SAMPLE[1]);
        let sample = self.distinct(Self::sample(elements, wanted));
        let format = self.seen.format;
        let mut most = 0;
        self.expect(&(0..candidates).collect::<Vec<usize>>(), &sample);
        for candidate in 0..candidates {
            let mut matched = [0; 2 * FARTHEST as usize + 1];
            let results = self.results(candidate, &sample);
            for (&element, bits) in sample.iter().zip(results) {
                let saw = self.saw(element);
                let apart = place(format, bits) - place(format, saw);
                if apart.abs() <= FARTHEST && !format.is_nan(bits) && !format.is_nan(saw) {
                    matched[(apart + FARTHEST) as usize] += 1;
                }
            }
            matched[FARTHEST as usize] = 0;
            most = most.max(matched.into_iter().max().unwrap_or(0));
        }
        chance_of_a_match(most, sample.len())
    }
}
