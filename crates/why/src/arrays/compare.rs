//! Candidates at elements, compared with what was seen.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use roundonce_arith::{Profile, Rounding};
use roundonce_deviate::cover::{Group, Matcher, NanMatch};
use roundonce_deviate::{Deviation, EvalModel, Plausibility, Typed, plausibility};
use roundonce_isa::convert;

use super::evaluate::{BLOCK, Runner};
use super::sums::{Prepared, SumEvaluation, Sums};
use super::{Bits, Candidates, Column, Question, Work, parallel};
use crate::chance::WEAK_BITS;
use crate::evaluation::{Evaluation, is_same_fused};
use crate::search::Options;

/// Elements of a piece of work.
const PIECE: usize = 64 * BLOCK;
/// Elements, beyond which the same is done where no sum is taken.
const LONG: usize = 1 << 22;
/// Elements, beyond which no further groups are searched for beside an accident.
const MANY: usize = 65_536;
/// Terms of sums that are as much work as comparing an element.
const TERMS: usize = 4;
/// Results of sums that are kept, and of how many lists of elements.
const MAX_KEPT: usize = 1 << 24;
const LISTS: usize = 2;
/// Terms of sums that one evaluation adds up at most: of larger arrays some elements are compared.
const MAX_TERMS: usize = 100_000_000;
/// The share of them that is compared first: where nothing explains it, nothing else is compared.
const FIRST_SHARE: usize = 16;
/// Elements beside each other that are compared where not all are.
const RUN: usize = 16;

/// Evaluates candidates at elements and compares them with what was seen.
pub(super) struct Comparison<'a> {
    pub(super) question: &'a Question,
    pub(super) candidates: &'a Candidates<'a>,
    /// How each of them deviates.
    pub(super) deviations: &'a [Vec<Deviation>],
    pub(super) seen: &'a Column,
    any_nan: bool,
    /// Other orders are asked for.
    pub(super) reassociates: bool,
    pub(super) profile: &'a Profile,
    pub(super) threads: usize,
    pub(super) progress: &'a mut dyn FnMut(Work),
    /// How many candidates are compared.
    pub(super) tried: usize,
    /// How many elements are compared.
    pub(super) compared: usize,
    /// Which they are, if not all.
    places: Option<Vec<usize>>,
    /// The factors of settings' terms.
    prepared: HashMap<usize, Prepared<'a>>,
    kept: VecDeque<Kept>,
}

/// Sums at some elements.
struct Kept {
    elements: Vec<usize>,
    results: HashMap<SumEvaluation, Vec<u64>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        question: &'a Question,
        (candidates, deviations): (&'a Candidates<'a>, &'a [Vec<Deviation>]),
        seen: &'a Column,
        options: Options,
        profile: &'a Profile,
        progress: &'a mut dyn FnMut(Work),
    ) -> Comparison<'a> {
        let threads = parallel::threads(options.threads);
        let (any_nan, prepared, kept) = (options.any_nan, HashMap::new(), VecDeque::new());
        let compared = question.shape.iter().product();
        Comparison {
            question,
            candidates,
            deviations,
            seen,
            any_nan,
            reassociates: options.reassociate,
            profile,
            threads,
            progress,
            tried: 0,
            compared,
            places: None,
            prepared,
            kept,
        }
    }

    /// How many elements are compared: all of them, or more and more as long as something explains them.
    pub(super) fn amounts(&self) -> Vec<usize> {
        let all: usize = self.question.shape.iter().product();
        let Candidates::Sums(sums) = self.candidates else {
            return if all > LONG { vec![LONG / FIRST_SHARE, all] } else { vec![all] };
        };
        let most = (MAX_TERMS / sums.terms()).max(RUN);
        let first = (most / FIRST_SHARE).max(FIRST_SHARE * RUN);
        if all <= first { vec![all] } else { vec![first, all.min(most.max(first))] }
    }

    /// Compares so many elements from now on, evenly spread in runs.
    pub(super) fn compare_only(&mut self, count: usize) {
        let all: usize = self.question.shape.iter().product();
        self.kept.clear();
        self.compared = count;
        self.places = (count < all).then(|| {
            let runs = count.div_ceil(RUN);
            let first = |at: usize| ((at / RUN) as u128 * all as u128 / runs as u128) as usize;
            (0..count).map(|at| (first(at) + at % RUN).min(all - 1)).collect()
        });
    }

    /// The element of the array that one of those compared is.
    pub(super) fn place(&self, at: usize) -> usize {
        self.places.as_ref().map_or(at, |places| places[at])
    }

    /// What was seen at one of the elements compared.
    pub(super) fn saw(&self, at: usize) -> u64 {
        self.seen.at(self.place(at)).bits
    }

    /// For results of no evaluation in particular.
    pub(super) fn judge(&self) -> Judge<'a> {
        Judge { seen: self.seen, any_nan: self.any_nan, model: None }
    }

    /// Whether a NaN is among what was seen.
    pub(super) fn saw_nan(&self) -> bool {
        (0..self.compared).any(|at| self.seen.format.is_nan(self.saw(at)))
    }

    /// The results of a candidate at elements, in the seen array's format.
    pub(super) fn results(&mut self, candidate: usize, elements: &[usize]) -> Vec<u64> {
        match self.candidates {
            Candidates::Evaluations(all) => {
                self.by_piece(&all[candidate], elements, |_, results, out: &mut Vec<u64>| out.extend(results))
            }
            Candidates::Sums(all) => {
                self.add_up(all, &[candidate], elements);
                self.kept[0].results[&all.representative(candidate)].clone()
            }
        }
    }

    /// What becomes of the results of an evaluation, block by block.
    fn by_piece<T: Send>(
        &mut self,
        evaluation: &Evaluation,
        elements: &[usize],
        take: impl Fn(&[usize], &mut dyn Iterator<Item = u64>, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let to = self.seen.format;
        let (columns, profile) = (&self.question.columns, self.profile);
        let pieces: Vec<&[usize]> = elements.chunks(PIECE).collect();
        let places = self.places.as_deref();
        let each = elements.len().min(PIECE) as u64;
        let taken = parallel::map(self.threads, pieces.len(), each, self.progress, |piece| {
            let mut runner = Runner::new(evaluation, columns, profile);
            // A result that is not rounded to the expression's type stays in its own.
            let from = runner.format();
            let mut taken = Vec::with_capacity(pieces[piece].len());
            let elements = match places {
                None => Cow::Borrowed(pieces[piece]),
                Some(places) => pieces[piece].iter().map(|&at| places[at]).collect(),
            };
            for block in elements.chunks(BLOCK) {
                let results = runner.run(block).iter();
                let store = |&bits| if from == to { bits } else { convert(from, to, Rounding::NearestEven, bits).0 };
                take(block, &mut results.map(store), &mut taken);
            }
            taken
        });
        taken.into_iter().flatten().collect()
    }

    /// Computes the sums of some candidates at elements, where they are not known; they stand first of what is kept.
    fn add_up(&mut self, all: &Sums<'a>, candidates: &[usize], elements: &[usize]) {
        match self.kept.iter().position(|kept| kept.elements == elements) {
            Some(known) => self.kept.swap(0, known),
            None => {
                self.kept.truncate(LISTS - 1);
                self.kept.push_front(Kept { elements: elements.to_vec(), results: HashMap::new() });
            }
        }
        let known = &mut self.kept[0].results;
        let mut asked = HashSet::new();
        let is_missing = |it: &SumEvaluation| !known.contains_key(it) && asked.insert(*it);
        let mut missing: Vec<SumEvaluation> =
            candidates.iter().map(|&candidate| all.representative(candidate)).filter(is_missing).collect();
        missing.sort();
        let alike: Vec<&[SumEvaluation]> = missing.chunk_by(|one, other| one.has_sums_of(*other)).collect();
        if missing.is_empty() {
            return;
        }
        for it in &missing {
            let threads = self.threads;
            self.prepared.entry(it.setting()).or_insert_with(|| all.prepare(*it, threads));
        }
        let places: Vec<usize> =
            elements.iter().map(|&at| self.places.as_ref().map_or(at, |places| places[at])).collect();
        let pieces: Vec<(&[SumEvaluation], &[usize])> = alike
            .iter()
            .flat_map(|alike| places.chunks(all.at_once(alike[0])).map(move |elements| (*alike, elements)))
            .collect();
        let steps = (elements.len() * missing.len() * all.terms() / pieces.len().max(1)) as u64;
        let (to, prepared) = (self.seen.format, &self.prepared);
        let found = parallel::map(self.threads, pieces.len(), steps, self.progress, |piece| {
            let (alike, elements) = pieces[piece];
            all.results(alike, &prepared[&alike[0].setting()], elements, to)
        });
        for it in &missing {
            known.insert(*it, Vec::with_capacity(elements.len()));
        }
        for ((alike, _), found) in pieces.into_iter().zip(found) {
            for (it, found) in alike.iter().zip(found) {
                known.entry(*it).or_default().extend(found);
            }
        }
    }
}

/// Compares what an evaluation gives with what was seen.
pub(super) struct Judge<'a> {
    seen: &'a Column,
    any_nan: bool,
    model: Option<EvalModel>,
}

impl Judge<'_> {
    /// The same of a result in its own type.
    pub(super) fn accepts_result(&self, saw: u64, result: Typed) -> bool {
        self.accepts(saw, convert(result.format, self.seen.format, Rounding::NearestEven, result.bits).0)
    }
    /// The same of bits of what was seen.
    pub(super) fn accepts(&self, saw: u64, bits: u64) -> bool {
        let seen = self.seen;
        let is_accepted = match (&seen.bits, &self.model) {
            (Bits::Printed(_, value), _) => value.prints_as(Typed { format: seen.format, bits }),
            (_, Some(model)) => model.accepts(seen.format, bits, saw),
            (_, None) => bits == saw,
        };
        is_accepted || self.any_nan && seen.format.is_nan(bits) && seen.format.is_nan(saw)
    }
}

impl Matcher for Comparison<'_> {
    fn matches(&mut self, candidate: usize, elements: &[usize], nan: NanMatch) -> Vec<bool> {
        let any_nan = nan == NanMatch::Any || self.any_nan;
        match self.candidates {
            Candidates::Evaluations(all) => {
                let evaluation = &all[candidate];
                let judge = Judge { seen: self.seen, any_nan, model: Some(evaluation.model()) };
                self.by_piece(evaluation, elements, |block, results, out: &mut Vec<bool>| {
                    out.extend(
                        block.iter().zip(results).map(|(&at, bits)| judge.accepts(judge.seen.at(at).bits, bits)),
                    );
                })
            }
            Candidates::Sums(_) => {
                let judge = Judge { any_nan, ..self.judge() };
                let results = self.results(candidate, elements);
                elements.iter().zip(results).map(|(&at, bits)| judge.accepts(self.saw(at), bits)).collect()
            }
        }
    }

    fn plausibility(&self, candidate: usize) -> Plausibility {
        let deviations = &self.deviations[candidate];
        match self.candidates {
            Candidates::Sums(all) => all.plausibility(candidate, deviations),
            Candidates::Evaluations(_) => plausibility(deviations),
        }
    }

    fn expect(&mut self, candidates: &[usize], elements: &[usize]) {
        let terms = if let Candidates::Sums(all) = self.candidates { all.terms() } else { 1 };
        (self.progress)(Work::Expected(candidates.len() as u64 * (elements.len() * terms) as u64));
        if let Candidates::Sums(all) = self.candidates
            && candidates.len().saturating_mul(elements.len()) <= MAX_KEPT
        {
            self.add_up(all, candidates, elements);
        }
    }

    fn is_accident(&mut self, group: &Group, of: &[usize]) -> bool {
        let is_long = matches!(self.candidates, Candidates::Sums(_)) || of.len() > MANY;
        // Two groups that explain all are believed whatever their evidence; the first one is the larger.
        let are_few = group.elements.len() * 2 < of.len();
        is_long && are_few && self.evidence(group, of, self.tried).bits < WEAK_BITS
    }

    fn is_refinement(&self, simpler: usize, other: usize) -> bool {
        // No order is simpler than another one.
        let is_one_order = match self.candidates {
            Candidates::Sums(all) => all.row(simpler) == all.row(other),
            Candidates::Evaluations(_) => true,
        };
        is_one_order && !is_same_fused(&self.deviations[simpler], &self.deviations[other])
    }

    fn rank(&self, candidate: usize) -> usize {
        match self.candidates {
            Candidates::Sums(all) => all.row(candidate),
            Candidates::Evaluations(_) => 0,
        }
    }

    fn cost(&self) -> usize {
        match self.candidates {
            Candidates::Sums(all) => all.terms().div_ceil(TERMS),
            Candidates::Evaluations(_) => 1,
        }
    }
}
