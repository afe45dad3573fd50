//! How much an array says for an evaluation: what matches is compared with what matches once the array is moved.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use roundonce_arith::Format;
use roundonce_deviate::Deviation;
use roundonce_deviate::cover::{Cover, Group, Matcher, is_subset};

use super::{AS_WRITTEN, Candidates, Column, Comparison, LOOKED_AT};
use crate::chance::{FARTHEST, WEAK_BITS, bits_after_choice, bits_of_evidence, chance_of_a_match};
use crate::evaluation::has_wider_type;
use crate::plan::terms_of;
use crate::search::place;

/// Elements that are moved, for the most candidates and for the fewest.
const SAMPLE: [usize; 2] = [64, 1024];
/// Results of candidates that are compared with the moved elements.
pub(super) const MAX_RESULTS: usize = 2_000_000;

/// Evaluations that match most of a sample, which are compared on all elements where the best one misses some.
const NEAREST: usize = 4;

/// Of so many elements that tell an evaluation from as written, one may contradict it.
const EXCEPTIONS: f64 = 20.0;

/// What of a cover is more than an accident.
pub(super) struct Graded {
    /// With the bits of evidence of each group.
    pub(super) groups: Vec<(Group, f64)>,
    /// Elements in the order of the array.
    pub(super) unexplained: Vec<usize>,
    /// The elements left contradict the first group, which is then the only one: it is near to what was computed, and no
    /// cause.
    pub(super) is_contradicted: bool,
    /// The best evaluation of some of them, which explains too few, and how many one matches at most after a move.
    pub(super) too_few: Option<(Group, usize)>,
}

/// How much a group says.
pub(super) struct Evidence {
    /// The bits of evidence that it is no accident.
    pub(super) bits: f64,
    /// The chance that one of its elements matches by accident.
    chance: f64,
    /// The other evaluations, those first that match most of a sample.
    nearest: Vec<usize>,
}

/// A class of bits of a format.
type Class = fn(&Format, u64) -> bool;

/// How many of a sample candidates match.
struct Accidents {
    /// The most that one matches once what was seen is moved by the same ulps everywhere.
    moved: usize,
    /// What half of the others match, which compute otherwise than the group.
    others: usize,
    sampled: usize,
    /// The others, those first that match most.
    nearest: Vec<usize>,
}

impl Comparison<'_> {
    /// The groups of a cover by some candidates that say something. One that does not is kept if it is all that was left, or
    /// if two groups are all there is; else it ends the cover, since the groups after it explain what it leaves.
    pub(super) fn graded(&mut self, cover: &Cover, candidates: usize) -> Graded {
        let are_two = cover.unexplained.is_empty() && cover.groups.len() <= 2;
        let mut nearest = Vec::new();
        let unexplained = cover.unexplained.clone();
        let mut graded = Graded { groups: Vec::new(), unexplained, is_contradicted: false, too_few: None };
        for (at, group) in cover.groups.iter().enumerate() {
            let left: Vec<usize> = cover.groups[at..]
                .iter()
                .flat_map(|group| &group.elements)
                .chain(&cover.unexplained)
                .copied()
                .collect();
            let evidence = self.evidence(group, &left, candidates);
            let Evidence { bits, chance, .. } = evidence;
            if at == 0 {
                nearest = evidence.nearest;
            }
            if bits < WEAK_BITS && group.elements.len() < left.len() && !are_two {
                let at_most = (chance * left.len() as f64).ceil() as usize;
                graded.too_few = Some((group.clone(), at_most.min(left.len())));
                graded.unexplained = left;
                break;
            }
            graded.groups.push((group.clone(), bits));
        }
        // The last first: what it leaves contradicts those before it too, and what is behind one that is no cause explains
        // nothing.
        for at in (0..graded.groups.len()).rev() {
            let group = graded.groups[at].0.clone();
            if self.is_contradicted(&group, &graded.unexplained) {
                let explained_no_more = graded.groups.drain(at.max(1)..).flat_map(|(group, _)| group.elements);
                graded.unexplained.extend(explained_no_more);
                graded.is_contradicted = at == 0;
            }
        }
        // What was found is one of many that are near to the true one, unless it is far better than the others.
        let are_left =
            !graded.unexplained.is_empty() || graded.groups.iter().skip(1).any(|(_, bits)| *bits < WEAK_BITS);
        if let Some(first) = cover.groups.first()
            && (are_left || self.hides_functions(first))
            && !self.is_alone(first, &nearest)
        {
            graded.groups.iter_mut().take(1).for_each(|(_, bits)| *bits = 0.0);
            graded.is_contradicted |= are_left && graded.groups.len() == 1;
        }
        if graded.is_contradicted {
            graded.groups[0].1 = 0.0;
            graded.too_few = None;
        }
        graded.unexplained.sort_unstable();
        graded
    }

    /// Whether the elements left contradict an evaluation. An algorithm that is near to it gives the same at most elements,
    /// the more the nearer it is: a more accurate one what an evaluation in a wider type gives. So however many match say
    /// nothing where too many do not: those count that the evaluation and the expression as written give otherwise.
    /// Elements of a kind of their own, such as subnormals, may have a cause of their own.
    fn is_contradicted(&mut self, group: &Group, left: &[usize]) -> bool {
        if left.is_empty() {
            return false;
        }
        let kind = self.in_common(left);
        if kind.is_some() && kind != self.in_common(&group.elements) {
            return false;
        }
        let (against, own) = (self.telling(group, left), self.telling(group, &group.elements));
        against * EXCEPTIONS > against + own
    }

    /// How many of some elements tell a group's evaluation from as written, estimated from a sample.
    fn telling(&mut self, group: &Group, elements: &[usize]) -> f64 {
        if group.candidates.contains(&AS_WRITTEN) {
            return elements.len() as f64;
        }
        let sample: Vec<usize> = sample(elements, SAMPLE[1]).collect();
        let as_written = self.results(AS_WRITTEN, &sample);
        let results = self.results(group.candidates[0], &sample);
        let differ = results.iter().zip(&as_written).filter(|(one, other)| one != other).count();
        differ as f64 * elements.len() as f64 / sample.len() as f64
    }

    /// What the inputs of all these elements have in common.
    pub(super) fn in_common(&self, elements: &[usize]) -> Option<&'static str> {
        self.question.reduction.is_none().then_some(())?;
        let looked_at = &elements[..elements.len().min(LOOKED_AT)];
        let columns: Vec<&Column> = self.question.columns.values().collect();
        let all = |is: Class| {
            looked_at.iter().all(|&element| {
                columns.iter().any(|column| {
                    let value = column.at(element);
                    is(&value.format, value.bits)
                })
            })
        };
        let kinds: [(Class, &'static str); 4] = [
            (|format, bits| format.is_nan(bits), "a NaN is among the inputs of each"),
            (|format, bits| format.is_infinite(bits), "an infinity is among the inputs of each"),
            (|format, bits| format.is_subnormal(bits), "a subnormal is among the inputs of each"),
            (|format, bits| format.is_zero(bits), "a zero is among the inputs of each"),
        ];
        if let Some((_, text)) = kinds.into_iter().find(|(is, _)| all(*is)) {
            return Some(text);
        }
        let tiny = |element: &usize| {
            let bits = self.saw(*element);
            self.seen.format.is_subnormal(bits) || self.seen.format.is_zero(bits)
        };
        looked_at.iter().all(tiny).then_some("each result is subnormal or zero")
    }

    /// The evidence of a group of some elements.
    pub(super) fn evidence(&mut self, group: &Group, of: &[usize], candidates: usize) -> Evidence {
        let Accidents { moved, others, sampled, nearest } = self.accidents(group, of, candidates);
        let mut chance = chance_of_a_match(moved, sampled);
        // Of a sum of several terms there are more evaluations than were tried: they match as often as those that were.
        if matches!(self.candidates, Candidates::Evaluations(_)) && terms_of(&self.question.expr) > 2 {
            chance = chance.max(chance_of_a_match(others, sampled));
        }
        let bits = bits_of_evidence(group.elements.len(), of.len(), chance) * self.distinct_share(of);
        let bits = bits_after_choice(bits, self.chosen_among(group.candidates[0]));
        Evidence { bits, chance, nearest }
    }

    /// Whether a group's functions are computed in a wider type than what was seen: it shows an error of theirs at few elements
    /// alone, at which the group's other deviations show too.
    fn hides_functions(&self, group: &Group) -> bool {
        let Candidates::Evaluations(all) = self.candidates else { return false };
        let evaluation = &all[group.candidates[0]];
        has_wider_type(&evaluation.modes) && evaluation.has_function()
    }

    /// Whether the best ones of others miss at least twice as many of all elements as a group, and more by so many that it
    /// is no accident which of two that are near to the true one gives them. Those that give all that the group gives, or
    /// flush in another way alone, are no others.
    fn is_alone(&mut self, group: &Group, others: &[usize]) -> bool {
        let deviations = self.deviations;
        let own = &deviations[group.candidates[0]];
        let kind = of_one_kind(own);
        let missed = self.compared - group.elements.len();
        let all: Vec<usize> = (0..self.compared).collect();
        let others = others.iter().filter(|&&other| of_one_kind(&deviations[other]) != kind).take(NEAREST);
        others.copied().all(|other| {
            let matches = self.matches(other, &all, group.nan);
            let misses = matches.iter().filter(|matches| !**matches).count();
            // One that does more otherwise and gives less is no rival.
            let is_rival = || !is_subset(own, &deviations[other]) && ((misses - missed) as f64) < WEAK_BITS;
            misses >= 2 * missed && !is_rival() || group.elements.iter().all(|&element| matches[element])
        })
    }

    /// How many orders one is chosen among. Those that are less plausible than it do not count.
    fn chosen_among(&self, candidate: usize) -> usize {
        match self.candidates {
            Candidates::Sums(all) => all.different(candidate),
            Candidates::Evaluations(_) => 1,
        }
    }

    /// The elements of a sample that differ in what was seen, the first of equals.
    fn distinct(&self, sample: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut known = HashSet::new();
        sample.filter(|&element| known.insert(self.saw(element))).collect()
    }

    /// Elements of equal bits count once: what share of some elements that leaves. Where a sample has few that differ,
    /// there are no more.
    fn distinct_share(&self, elements: &[usize]) -> f64 {
        let sampled = sample(elements, SAMPLE[1]).count();
        let distinct = self.distinct(sample(elements, SAMPLE[1])).len();
        let of = if distinct * 2 < sampled { elements.len() } else { sampled };
        distinct as f64 / of as f64
    }

    /// What candidates match of a sample of some elements, where equal ones count once. Where what was seen is noise, none
    /// matches what was not moved more often than what was.
    fn accidents(&mut self, group: &Group, elements: &[usize], candidates: usize) -> Accidents {
        let wanted = (MAX_RESULTS / (candidates * self.cost()).max(1)).clamp(SAMPLE[0], SAMPLE[1]);
        let sample = self.distinct(sample(elements, wanted));
        let format = self.seen.format;
        let judge = self.judge();
        let explained: HashSet<usize> = group.elements.iter().copied().collect();
        let own: Vec<bool> = sample.iter().map(|element| explained.contains(element)).collect();
        let mut moved = 0;
        // The most that candidates match which differ in how they flush or choose NaNs alone; none, if one matches the same.
        let mut unmoved: HashMap<Vec<&Deviation>, Option<usize>> = HashMap::new();
        let mut nearest = Vec::new();
        self.expect(&(0..candidates).collect::<Vec<usize>>(), &sample);
        for candidate in 0..candidates {
            let mut matched = [0; 2 * FARTHEST as usize + 1];
            let mut as_seen = Vec::with_capacity(sample.len());
            let results = self.results(candidate, &sample);
            for (&element, bits) in sample.iter().zip(results) {
                let saw = self.saw(element);
                as_seen.push(judge.accepts(saw, bits));
                let apart = place(format, bits) - place(format, saw);
                if apart.abs() <= FARTHEST && !format.is_nan(bits) && !format.is_nan(saw) {
                    matched[(apart + FARTHEST) as usize] += 1;
                }
            }
            matched[FARTHEST as usize] = 0;
            moved = moved.max(matched.into_iter().max().unwrap_or(0));
            let count = as_seen.iter().filter(|matches| **matches).count();
            let known = unmoved.entry(of_one_kind(&self.deviations[candidate])).or_insert(Some(0));
            if as_seen == own {
                *known = None;
            } else {
                *known = known.map(|most| most.max(count));
            }
            if !group.candidates.contains(&candidate) {
                nearest.push((count, candidate));
            }
        }
        nearest.sort_by_key(|&(count, _)| Reverse(count));
        let mut others: Vec<usize> = unmoved.into_values().flatten().collect();
        others.sort_unstable();
        Accidents {
            moved,
            others: others.get(others.len() / 2).copied().unwrap_or(0),
            sampled: sample.len(),
            nearest: nearest.into_iter().map(|(_, candidate)| candidate).collect(),
        }
    }
}

/// What an evaluation does otherwise, but for how it flushes and chooses NaNs.
fn of_one_kind(deviations: &[Deviation]) -> Vec<&Deviation> {
    let is_special = |it: &&Deviation| {
        matches!(
            it,
            Deviation::Flush(_)
                | Deviation::FlushResults(_)
                | Deviation::SubnormalsTwice
                | Deviation::NanOperand(_)
                | Deviation::OtherNan
        )
    };
    deviations.iter().filter(|it| !is_special(it)).collect()
}

/// Some elements, evenly spread.
pub(super) fn sample(elements: &[usize], wanted: usize) -> impl Iterator<Item = usize> + '_ {
    elements.iter().step_by(elements.len().div_ceil(wanted).max(1)).copied()
}
