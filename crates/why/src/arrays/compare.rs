//! Candidates at elements, compared with what was seen.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use roundonce_arith::{Profile, Rounding};
use roundonce_deviate::cover::{Matcher, NanMatch};
use roundonce_deviate::{EvalModel, Typed};
use roundonce_isa::convert;

use super::evaluate::{BLOCK, Runner};
use super::sums::{Prepared, SumEvaluation, Sums};
use super::{Bits, Candidates, Column, Question, parallel};
use crate::evaluation::Evaluation;
use crate::search::Options;

/// Elements of a piece of work.
const PIECE: usize = 64 * BLOCK;
/// Terms of sums that are as much work as comparing an element.
const TERMS: usize = 8;
/// Results of sums that are kept.
const MAX_KEPT: usize = 1 << 24;

/// Evaluates candidates at elements and compares them with what was seen.
pub(super) struct Comparison<'a> {
    pub(super) question: &'a Question,
    pub(super) candidates: &'a Candidates<'a>,
    pub(super) seen: &'a Column,
    any_nan: bool,
    pub(super) profile: &'a Profile,
    threads: usize,
    progress: &'a mut dyn FnMut(u64),
    kept: Kept<'a>,
}

/// What is known of sums.
#[derive(Default)]
struct Kept<'a> {
    /// The factors of settings' terms.
    prepared: HashMap<usize, Prepared<'a>>,
    /// The elements of the results below.
    elements: Vec<usize>,
    results: HashMap<SumEvaluation, Vec<u64>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        question: &'a Question,
        candidates: &'a Candidates<'a>,
        seen: &'a Column,
        options: Options,
        profile: &'a Profile,
        progress: &'a mut dyn FnMut(u64),
    ) -> Comparison<'a> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = options.threads.map_or_else(cores, NonZeroUsize::get);
        let (any_nan, kept) = (options.any_nan, Kept::default());
        Comparison { question, candidates, seen, any_nan, profile, threads, progress, kept }
    }

    /// The results of a candidate at elements, in the seen array's format.
    pub(super) fn results(&mut self, candidate: usize, elements: &[usize]) -> Vec<u64> {
        match self.candidates {
            Candidates::Evaluations(all) => {
                self.by_piece(&all[candidate], elements, |_, results, out: &mut Vec<u64>| out.extend(results))
            }
            Candidates::Sums(all) => {
                self.add_up(all, &[candidate], elements);
                self.kept.results[&all.representative(candidate)].clone()
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
        let (from, to) = (self.question.format(), self.seen.format);
        let (columns, profile) = (&self.question.columns, self.profile);
        let pieces: Vec<&[usize]> = elements.chunks(PIECE).collect();
        let each = elements.len().min(PIECE) as u64;
        let taken = parallel::map(self.threads, pieces.len(), each, self.progress, |piece| {
            let mut runner = Runner::new(evaluation, columns, profile);
            let mut taken = Vec::with_capacity(pieces[piece].len());
            for block in pieces[piece].chunks(BLOCK) {
                let results = runner.run(block).iter();
                let store = |&bits| if from == to { bits } else { convert(from, to, Rounding::NearestEven, bits).0 };
                take(block, &mut results.map(store), &mut taken);
            }
            taken
        });
        taken.into_iter().flatten().collect()
    }

    /// Keeps the sums of some candidates at elements, which are the only ones whose sums are kept.
    fn add_up(&mut self, all: &Sums<'a>, candidates: &[usize], elements: &[usize]) {
        if self.kept.elements != elements {
            self.kept.elements = elements.to_vec();
            self.kept.results.clear();
        }
        let mut asked = HashSet::new();
        let is_missing = |it: &SumEvaluation| !self.kept.results.contains_key(it) && asked.insert(*it);
        let missing: Vec<SumEvaluation> =
            candidates.iter().map(|&candidate| all.representative(candidate)).filter(is_missing).collect();
        for it in &missing {
            let threads = self.threads;
            self.kept.prepared.entry(it.setting()).or_insert_with(|| all.prepare(*it, threads));
        }
        let pieces: Vec<(usize, &[usize])> = (0..missing.len())
            .flat_map(|at| elements.chunks(all.at_once(missing[at])).map(move |elements| (at, elements)))
            .collect();
        let steps = (elements.len() * missing.len() / pieces.len().max(1) * all.terms()) as u64;
        let (to, prepared) = (self.seen.format, &self.kept.prepared);
        let found = parallel::map(self.threads, pieces.len(), steps, self.progress, |piece| {
            let (at, elements) = pieces[piece];
            all.results(missing[at], &prepared[&missing[at].setting()], elements, to)
        });
        for it in &missing {
            self.kept.results.insert(*it, Vec::with_capacity(elements.len()));
        }
        for ((at, _), found) in pieces.into_iter().zip(found) {
            self.kept.results.entry(missing[at]).or_default().extend(found);
        }
    }
}

/// Compares what an evaluation gives with what was seen.
struct Judge<'a> {
    seen: &'a Column,
    any_nan: bool,
    model: Option<EvalModel>,
}

impl Judge<'_> {
    fn accepts(&self, element: usize, bits: u64) -> bool {
        let seen = self.seen;
        let saw = seen.at(element).bits;
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
                    out.extend(block.iter().zip(results).map(|(&element, bits)| judge.accepts(element, bits)));
                })
            }
            Candidates::Sums(_) => {
                let judge = Judge { seen: self.seen, any_nan, model: None };
                let results = self.results(candidate, elements);
                elements.iter().zip(results).map(|(&element, bits)| judge.accepts(element, bits)).collect()
            }
        }
    }

    fn expect(&mut self, candidates: &[usize], elements: &[usize]) {
        if let Candidates::Sums(all) = self.candidates
            && candidates.len().saturating_mul(elements.len()) <= MAX_KEPT
        {
            self.add_up(all, candidates, elements);
        }
    }

    fn cost(&self) -> usize {
        match self.candidates {
            Candidates::Sums(all) => all.terms().div_ceil(TERMS),
            Candidates::Evaluations(_) => 1,
        }
    }
}
