//! Which candidates explain which elements: the one that explains most, then what explains the rest.
//!
//! A candidate is a set of deviations; what it is a candidate for (an element of an array, a failing vector) is not
//! decided here. Where there are many elements, every candidate is tried on a sample, the best ones on all elements.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::deviation::Deviation;
use crate::plausibility::Plausibility;

/// Elements that are tried first.
const SAMPLE: usize = 2048;
/// Elements that are tried where the first ones are explained by nothing, and the most on which every candidate is.
const LARGE_SAMPLE: usize = 65_536;
/// Elements that are tried at least, whatever they cost.
const LEAST_SAMPLE: usize = 32;
/// Elements of a sample, of which a candidate that matches half as many as another one matches fewer of all too.
const ENOUGH: u64 = 32;
/// Candidates, different on the sample, that are tried on all elements, and how many with those that are like them there.
const FINALISTS: usize = 12;
const MAX_FINALISTS: usize = 32;
/// Candidates times the cost of elements, beyond which a sample is taken.
const MAX_MATCHES: usize = 50_000_000;

/// Which bits explain a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanMatch {
    /// The same bits.
    Exact,
    /// Those of any NaN.
    Any,
}

/// Which of two candidates is believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preference {
    /// The one that explains more elements. The elements are all there are, those computed as written among them.
    MostExplained,
    /// The one of fewer deviations, unless only several together explain all that is left. The elements are failures:
    /// several deviations explain more of them than one by changing what is right.
    FewestDeviations,
}

/// Says which elements a candidate explains.
pub trait Matcher {
    /// For each of some elements whether the candidate explains it.
    fn matches(&mut self, candidate: usize, elements: &[usize], nan: NanMatch) -> Vec<bool>;

    /// How plausible the candidate is. Of those that explain as much the most plausible one is believed.
    fn plausibility(&self, candidate: usize) -> Plausibility;

    /// Says that these candidates will be asked for on these elements.
    fn expect(&mut self, _candidates: &[usize], _elements: &[usize]) {}

    /// Whether a candidate is superfluous beside one with some of its deviations that matches the same.
    fn is_refinement(&self, _simpler: usize, _other: usize) -> bool {
        true
    }

    /// Whether the first group, of some elements, is so likely an accident that no others are searched for.
    fn is_accident(&mut self, _group: &Group, _of: &[usize]) -> bool {
        false
    }

    /// Which of two candidates comes first, where they are as plausible and of as many deviations.
    fn rank(&self, _candidate: usize) -> usize {
        0
    }

    /// How much work an element is, for one candidate.
    fn cost(&self) -> usize {
        1
    }

    /// For how many observations an element stands.
    fn weight(&self, _element: usize) -> u64 {
        1
    }

    /// How many observations that are right the candidate would have changed.
    fn contradictions(&mut self, _candidate: usize) -> u64 {
        0
    }
}

/// How a cover is searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search {
    /// Which candidate is believed.
    pub preference: Preference,
    /// Groups, beyond which the rest is left unexplained.
    pub max_groups: usize,
    /// Where nothing explains more, candidates explain a NaN by any NaN.
    pub falls_back_to_any_nan: bool,
}

/// Elements that the same candidates explain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The simplest candidates that explain exactly these.
    pub candidates: Vec<usize>,
    /// How they explain NaNs.
    pub nan: NanMatch,
    /// The elements.
    pub elements: Vec<usize>,
}

/// Every element in the group of what explains it, in the order in which they were found, then those that nothing
/// explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cover {
    /// The groups.
    pub groups: Vec<Group>,
    /// What nothing explains.
    pub unexplained: Vec<usize>,
}

/// Whether all of some deviations of a computation are among others.
pub fn is_subset(part: &[Deviation], whole: &[Deviation]) -> bool {
    part.iter().all(|deviation| has(whole, deviation))
}

fn has(deviations: &[Deviation], wanted: &Deviation) -> bool {
    deviations.iter().any(|deviation| deviation.is_alike(wanted))
}

/// Of explanations, the simplest first, those that no earlier one makes superfluous.
pub fn minimal<T>(found: Vec<T>, makes_superfluous: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let is_kept: Vec<bool> =
        (0..found.len()).map(|at| !found[..at].iter().any(|simpler| makes_superfluous(simpler, &found[at]))).collect();
    found.into_iter().zip(is_kept).filter_map(|(one, is_kept)| is_kept.then_some(one)).collect()
}

/// Finds the cover of so many elements by candidates, of which each is the list of its deviations.
pub fn cover(candidates: &[Vec<Deviation>], elements: usize, search: Search, matcher: &mut dyn Matcher) -> Cover {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&at| (matcher.plausibility(at), candidates[at].len(), matcher.rank(at), &candidates[at]));
    let mut covering = Covering { candidates, order, search, matcher };
    let all: Vec<usize> = (0..elements).collect();
    let mut found = covering.continued(Vec::new(), all);
    // One deviation more may explain a smaller group and the first one together.
    while let Some(main) = covering.joined(&found, elements) {
        let mut is_left = vec![true; elements];
        main.elements.iter().for_each(|&at| is_left[at] = false);
        let rest = (0..elements).filter(|&at| is_left[at]).collect();
        found = covering.continued(vec![main], rest);
    }
    found
}

struct Covering<'a> {
    candidates: &'a [Vec<Deviation>],
    /// The candidates, the most plausible and of these the simplest first.
    order: Vec<usize>,
    search: Search,
    matcher: &'a mut dyn Matcher,
}

/// Candidates that match the same elements.
struct Class {
    candidates: Vec<usize>,
    matches: Vec<bool>,
    count: u64,
}

/// The elements that match, and the others.
fn split(elements: &[usize], matches: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let mut parts = (Vec::new(), Vec::new());
    for (&element, &matches) in elements.iter().zip(matches) {
        if matches { &mut parts.0 } else { &mut parts.1 }.push(element);
    }
    parts
}

/// Evenly spread.
fn sample(left: &[usize], size: usize) -> Vec<usize> {
    if left.len() <= size {
        return left.to_vec();
    }
    (0..size).map(|index| left[(index as u128 * left.len() as u128 / size as u128) as usize]).collect()
}

impl Covering<'_> {
    /// The groups of the elements that are left.
    fn continued(&mut self, mut groups: Vec<Group>, mut left: Vec<usize>) -> Cover {
        while !left.is_empty() && groups.len() < self.search.max_groups {
            let mut best = self.best(&left, NanMatch::Exact);
            if best.is_none() && self.search.falls_back_to_any_nan {
                best = self.best(&left, NanMatch::Any);
            }
            let Some((group, rest)) = best else { break };
            let is_over = groups.is_empty() && self.matcher.is_accident(&group, &left);
            groups.push(group);
            left = rest;
            if is_over {
                break;
            }
        }
        Cover { groups, unexplained: left }
    }

    /// A candidate that deviates as the first group's and a later one's do together, and explains more than the first.
    fn joined(&mut self, found: &Cover, elements: usize) -> Option<Group> {
        if self.search.preference != Preference::MostExplained {
            return None;
        }
        let (main, others) = found.groups.split_first()?;
        for &one in &main.candidates {
            let exact = others.iter().filter(|group| group.nan == NanMatch::Exact);
            for &other in exact.flat_map(|group| &group.candidates) {
                let [first, second] = [one, other].map(|at| &self.candidates[at]);
                let has_both = |candidate: &Vec<Deviation>| {
                    candidate.iter().all(|it| has(first, it) || has(second, it))
                        && is_subset(first, candidate)
                        && is_subset(second, candidate)
                };
                let both = self.candidates.iter().position(has_both);
                let Some(both) = both.filter(|both| !main.candidates.contains(both)) else { continue };
                let all: Vec<usize> = (0..elements).collect();
                let explained = split(&all, &self.matcher.matches(both, &all, NanMatch::Exact)).0;
                if explained.len() > main.elements.len() {
                    return Some(Group { candidates: vec![both], nan: NanMatch::Exact, elements: explained });
                }
            }
        }
        None
    }

    /// The candidates that are believed of the elements left, and the elements that they leave.
    fn best(&mut self, left: &[usize], nan: NanMatch) -> Option<(Group, Vec<usize>)> {
        let most = MAX_MATCHES / (self.candidates.len() * self.matcher.cost()).max(1);
        let are_few = left.len() <= most.min(LARGE_SAMPLE);
        let large = most.clamp(LEAST_SAMPLE, LARGE_SAMPLE);
        let sizes = if are_few { vec![usize::MAX] } else { vec![SAMPLE.min(large), large] };
        for size in sizes {
            let sample = sample(left, size);
            let mut order = self.order.clone();
            if sample.len() < left.len() {
                let mut alike = self.alike(&order, &sample, nan);
                alike.sort_by_key(|class| Reverse(class.count));
                let best = alike.first().map_or(0, |class| class.count);
                alike.retain(|class| best < ENOUGH || class.count * 2 >= best);
                // What matches the same of a small sample may differ on all elements.
                if sample.len() >= SAMPLE {
                    alike.iter_mut().for_each(|class| self.simplify(class));
                }
                let classes = alike.iter().take(FINALISTS);
                let finalists = classes.clone().flat_map(|class| &class.candidates).take(MAX_FINALISTS);
                let finalists: HashSet<usize> =
                    finalists.chain(classes.map(|class| &class.candidates[0])).copied().collect();
                order.retain(|candidate| finalists.contains(candidate));
            }
            let mut classes = self.alike(&order, left, nan);
            for class in &mut classes {
                self.simplify(class);
            }
            if let Some(class) = self.believed(classes, left) {
                let (elements, rest) = split(left, &class.matches);
                return Some((Group { candidates: class.candidates, nan, elements }, rest));
            }
        }
        None
    }

    fn weight(&self, elements: &[usize], matches: &[bool]) -> u64 {
        let matching = elements.iter().zip(matches).filter(|(_, matches)| **matches);
        matching.map(|(&element, _)| self.matcher.weight(element)).sum()
    }

    /// Those of some candidates that match anything, by what they match, the simplest class first.
    fn alike(&mut self, order: &[usize], elements: &[usize], nan: NanMatch) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        let mut known: HashMap<Vec<bool>, usize> = HashMap::new();
        self.matcher.expect(order, elements);
        for &candidate in order {
            let matches = self.matcher.matches(candidate, elements, nan);
            let count = self.weight(elements, &matches);
            if count == 0 {
                continue;
            }
            let at = *known.entry(matches.clone()).or_insert_with(|| {
                classes.push(Class { candidates: Vec::new(), matches, count });
                classes.len() - 1
            });
            classes[at].candidates.push(candidate);
        }
        classes
    }

    /// Leaves the simplest candidates of a class.
    fn simplify(&self, class: &mut Class) {
        let found = std::mem::take(&mut class.candidates);
        class.candidates = minimal(found, |&simpler, &other| {
            is_subset(&self.candidates[simpler], &self.candidates[other]) && self.matcher.is_refinement(simpler, other)
        });
    }

    /// The class that is believed: that which explains most; or, of the fewest deviations, the one deviation that
    /// explains all that is left; else, where some elements are explained by no one deviation, several that explain
    /// all; else the one, and at last the several, that explain most. Of equals the one that the fewest right results
    /// contradict, then the simplest.
    fn believed(&mut self, classes: Vec<Class>, left: &[usize]) -> Option<Class> {
        let candidates = self.candidates;
        let is_single = |class: &Class| candidates[class.candidates[0]].len() <= 1;
        let most = |wanted: &dyn Fn(&Class) -> bool| {
            classes.iter().filter(|class| wanted(class)).map(|class| class.count).max().unwrap_or(0)
        };
        let mut considered: Box<dyn Fn(&Class) -> bool> = Box::new(|_| true);
        if self.search.preference == Preference::FewestDeviations {
            let all: u64 = left.iter().map(|&element| self.matcher.weight(element)).sum();
            let singles = || classes.iter().filter(|class| is_single(class));
            let by_one = (0..left.len()).all(|at| singles().any(|class| class.matches[at]));
            let (one, several) = (most(&is_single), most(&|class| !is_single(class)));
            let wants_single = one > 0 && (one == all || several != all || by_one);
            considered = Box::new(move |class| is_single(class) == wants_single);
        }
        let wanted = most(&*considered);
        let equals = classes.into_iter().filter(|it| considered(it) && it.count == wanted);
        // The first of equals is the simplest.
        let with_contradictions = equals.map(|mut class| {
            let length = candidates[class.candidates[0]].len();
            let as_simple = class.candidates.iter().take_while(|&&it| candidates[it].len() == length);
            let counted = as_simple.enumerate().map(|(place, &it)| (self.matcher.contradictions(it), place));
            let (contradicted, place) = counted.min().unwrap_or_default();
            class.candidates[..=place].rotate_right(1);
            (contradicted, class)
        });
        with_contradictions.min_by_key(|(contradicted, _)| *contradicted).map(|(_, class)| class)
    }
}
