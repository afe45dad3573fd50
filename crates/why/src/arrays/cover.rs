//! Which candidates explain which elements: the one that explains most, then what explains the rest.
//!
//! Every candidate is tried on a sample, the best ones on all elements. What a candidate is, is not decided here.

use crate::way::Departure;

/// Elements that are tried first.
const SAMPLE: usize = 2048;
/// Elements that are tried where the first ones are explained by nothing, and the most on which every candidate is.
const LARGE_SAMPLE: usize = 65_536;
/// Candidates, different on the sample, that are tried on all elements.
const FINALISTS: usize = 12;
/// Groups, beyond which the rest is left unexplained: nobody reads more.
const MAX_GROUPS: usize = 8;

/// Tells, for a candidate and some elements, which of these it explains.
pub(crate) trait Judge {
    /// `any_nan`: any NaN is as good as another.
    fn matches(&mut self, candidate: usize, elements: &[usize], any_nan: bool) -> Vec<bool>;
}

/// Elements that the same candidates explain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    /// The simplest candidates that explain exactly these.
    pub(crate) candidates: Vec<usize>,
    /// They do so but for the bits of NaNs.
    pub(crate) any_nan: bool,
    /// The elements.
    pub(crate) elements: Vec<usize>,
}

/// Every element in the group of what explains it, the largest first, then those that nothing explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cover {
    pub(crate) groups: Vec<Group>,
    pub(crate) unexplained: Vec<usize>,
}

/// `candidates` are the departures of each, the expression as written first.
pub(crate) fn cover(candidates: &[Vec<Departure>], elements: usize, judge: &mut dyn Judge) -> Cover {
    let all: Vec<usize> = (0..elements).collect();
    let mut found = continued(candidates, Vec::new(), all, judge);
    // One departure more may explain a smaller group and the first one together.
    while let Some(both) = joined(candidates, &found, elements, judge) {
        let main = Group { any_nan: false, ..both };
        let mut rest = vec![true; elements];
        main.elements.iter().for_each(|&at| rest[at] = false);
        let rest = (0..elements).filter(|&at| rest[at]).collect();
        found = continued(candidates, vec![main], rest, judge);
    }
    found
}

/// The groups of the elements that are left.
fn continued(
    candidates: &[Vec<Departure>],
    mut groups: Vec<Group>,
    mut left: Vec<usize>,
    judge: &mut dyn Judge,
) -> Cover {
    while !left.is_empty() && groups.len() < MAX_GROUPS {
        let best = best(candidates, &left, false, judge).or_else(|| best(candidates, &left, true, judge));
        let Some((group, rest)) = best else { break };
        groups.push(group);
        left = rest;
    }
    Cover { groups, unexplained: left }
}

/// A candidate that departs as the first group's and a later one's do together, and explains more than the first.
fn joined(candidates: &[Vec<Departure>], found: &Cover, elements: usize, judge: &mut dyn Judge) -> Option<Group> {
    let (main, others) = found.groups.split_first()?;
    for &one in &main.candidates {
        for &other in others.iter().filter(|group| !group.any_nan).flat_map(|group| &group.candidates) {
            let departs = |departure| candidates[one].contains(departure) || candidates[other].contains(departure);
            let both = candidates.iter().position(|candidate| {
                candidate.iter().all(departs)
                    && candidates[one].iter().chain(&candidates[other]).all(|it| candidate.contains(it))
            });
            let Some(both) = both.filter(|both| !main.candidates.contains(both)) else { continue };
            let all: Vec<usize> = (0..elements).collect();
            let explained = chosen(&all, &judge.matches(both, &all, false)).0;
            if explained.len() > main.elements.len() {
                return Some(Group { candidates: vec![both], any_nan: false, elements: explained });
            }
        }
    }
    None
}

/// The elements that match, and the others.
fn chosen(elements: &[usize], matches: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let mut parts = (Vec::new(), Vec::new());
    for (&element, &matches) in elements.iter().zip(matches) {
        if matches { &mut parts.0 } else { &mut parts.1 }.push(element);
    }
    parts
}

fn count(matches: &[bool]) -> usize {
    matches.iter().filter(|it| **it).count()
}

/// Candidates that match the same elements of the sample, the simplest alone.
struct Class {
    candidates: Vec<usize>,
    matches: Vec<bool>,
    count: usize,
}

/// The candidates that explain most of the elements, and the elements that they leave.
fn best(
    candidates: &[Vec<Departure>],
    left: &[usize],
    any_nan: bool,
    judge: &mut dyn Judge,
) -> Option<(Group, Vec<usize>)> {
    let few = left.len() <= LARGE_SAMPLE && left.len().saturating_mul(candidates.len()) <= 50_000_000;
    let sizes: &[usize] = if few { &[usize::MAX] } else { &[SAMPLE, LARGE_SAMPLE] };
    for &size in sizes {
        let sample = sample(left, size);
        let mut classes = classes(candidates, &sample, any_nan, judge);
        if classes.is_empty() {
            continue;
        }
        // Ties go to the simplest, which stands first.
        classes.sort_by_key(|class| std::cmp::Reverse(class.count));
        if sample.len() < left.len() {
            classes.truncate(FINALISTS);
            for class in &mut classes {
                let first = judge.matches(class.candidates[0], left, any_nan);
                let others = class.candidates.split_off(1);
                class.candidates.extend(others.into_iter().filter(|&it| judge.matches(it, left, any_nan) == first));
                class.count = count(&first);
                class.matches = first;
            }
            classes.sort_by_key(|class| std::cmp::Reverse(class.count));
        }
        let class = classes.swap_remove(0);
        let (elements, rest) = chosen(left, &class.matches);
        return Some((Group { candidates: class.candidates, any_nan, elements }, rest));
    }
    None
}

/// Evenly spread.
fn sample(left: &[usize], size: usize) -> Vec<usize> {
    if left.len() <= size {
        return left.to_vec();
    }
    (0..size).map(|index| left[(index as u128 * left.len() as u128 / size as u128) as usize]).collect()
}

/// The candidates that match anything, by what they match, the simplest class first.
fn classes(candidates: &[Vec<Departure>], sample: &[usize], any_nan: bool, judge: &mut dyn Judge) -> Vec<Class> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&at| (candidates[at].len(), &candidates[at]));
    let mut classes: Vec<Class> = Vec::new();
    let mut known: std::collections::HashMap<Vec<bool>, usize> = std::collections::HashMap::new();
    for candidate in order {
        let matches = judge.matches(candidate, sample, any_nan);
        let count = count(&matches);
        if count == 0 {
            continue;
        }
        let at = *known.entry(matches.clone()).or_insert_with(|| {
            classes.push(Class { candidates: Vec::new(), matches, count });
            classes.len() - 1
        });
        let class = &mut classes[at].candidates;
        let simpler = class.iter().any(|&other| candidates[other].iter().all(|it| candidates[candidate].contains(it)));
        if !simpler {
            class.push(candidate);
        }
    }
    classes
}
