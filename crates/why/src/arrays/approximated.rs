//! Elements whose functions give other values than the correctly rounded ones, as documents allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use roundonce_deviate::{Approximation, Deviation, Plausibility};

use super::compare::Comparison;
use super::{ArrayGroup, Work, parallel};
use crate::accuracy::{ALL_DOCUMENTS, Documents};
use crate::evaluation::Evaluation;
use crate::evaluation_text::{EvaluationText, describe};

/// Elements that decide which document it is.
const SAMPLE: usize = 256;
/// One of so many elements may have another cause.
const FEW: usize = 10;
/// Elements of a piece of work, and how many steps one of them is.
const PIECE: usize = 256;
const STEPS: u64 = 64;

/// An evaluation that gives an element, and the documents that allow its values.
type Allowed = (Evaluation, Documents);

impl Comparison<'_> {
    /// Of some elements, those that one document explains: the one that explains most. `all`: the evaluations whose
    /// functions may give other values, by the type that these are computed in; the first of each is as written. `telling`: elements that tell documents apart,
    /// as no exact evaluation gives them.
    pub(super) fn approximated(
        &mut self,
        all: &[Vec<Evaluation>],
        elements: &[usize],
        telling: &[usize],
    ) -> Option<(Vec<usize>, ArrayGroup)> {
        if elements.is_empty() {
            return None;
        }
        // Which document it is, and what else is done, a few tell.
        let spread =
            |of: &[usize]| of.iter().step_by(of.len().div_ceil(SAMPLE).max(1)).copied().collect::<Vec<usize>>();
        let some = [spread(elements), spread(telling)].concat();
        let explains = |allowed: &[Allowed], document: u32| allowed.iter().any(|(_, by)| by >> document & 1 == 1);
        let mut best = (0, None);
        for bases in all {
            let Some(plain) = bases.first() else { continue };
            let found = self.allowed_at(bases, &some, ALL_DOCUMENTS);
            for document in 0..Documents::BITS {
                let count = found.iter().filter(|allowed| explains(allowed, document)).count();
                // A wider type brings many values more: it is to explain all.
                if count > best.0 && (plain.modes.is_empty() || count == some.len()) {
                    best = (count, Some((&plain.modes, bases, document)));
                }
            }
        }
        let (modes, bases, document) = best.1?;

        let found = self.allowed_at(bases, elements, 1 << document);
        let mut explained = Vec::new();
        let mut by_call: BTreeMap<String, Approximation> = BTreeMap::new();
        let mut shown: Option<(usize, &Evaluation)> = None;
        for (&element, allowed) in elements.iter().zip(&found) {
            // The nearest values come first.
            let Some((evaluation, _)) = allowed.first() else { continue };
            explained.push(element);
            shown = shown.or((!evaluation.approximations.is_empty()).then_some((element, evaluation)));
            for (_, given) in &evaluation.approximations {
                let all =
                    by_call.entry(given.call.clone()).or_insert_with(|| Approximation { bits: None, ..given.clone() });
                all.steps = all.steps.abs().max(given.steps.abs());
                all.allowed_by.retain(|document| given.allowed_by.contains(document));
            }
        }
        // A document's bound holds everywhere: what lies beyond it at many elements has another cause.
        let few = if modes.is_empty() { elements.len() / FEW } else { 0 };
        if explained.len() < elements.len() - few {
            return None;
        }
        let approximations = by_call.into_values().map(Deviation::Approximate);
        let deviations: Vec<Deviation> = modes.iter().cloned().chain(approximations).collect();
        let (element, evaluation) = shown?;
        let mut example = self.example(element, None);
        example.evaluated = Some(EvaluationText::of(evaluation, self.profile));
        let group = ArrayGroup {
            count: explained.len(),
            // Any value that is near enough is explained so.
            deciding: None,
            contradicted: None,
            evidence: 0.0,
            sentence: describe(&deviations),
            deviations,
            plausibility: Plausibility::Approximated,
            by: None,
            alternatives: Vec::new(),
            less_plausible: None,
            others_less_plausible: Vec::new(),
            is_fused_or_not: false,
            inputs: None,
            example,
        };
        Some((explained, group))
    }

    /// At each of some elements, the evaluations that give what was seen: as they are, and with values that some documents
    /// allow.
    fn allowed_at(&mut self, bases: &[Evaluation], elements: &[usize], documents: Documents) -> Vec<Vec<Allowed>> {
        let pieces: Vec<&[usize]> = elements.chunks(PIECE).collect();
        let steps = PIECE as u64 * STEPS;
        (self.progress)(Work::Expected(steps * pieces.len() as u64));
        let places: Vec<Vec<usize>> =
            pieces.iter().map(|piece| piece.iter().map(|&at| self.place(at)).collect()).collect();
        let (question, profile, seen, judge) = (self.question, self.profile, self.seen, self.judge());
        let give = |place: usize| -> Vec<Allowed> {
            let saw = seen.at(place).bits;
            let at_place = |base: &Evaluation| bound(base, |name| Some(question.columns.get(name)?.at(place)));
            let bases: Vec<Evaluation> = bases.iter().map(at_place).collect();
            let others = bases.iter().flat_map(|base| base.clone().approximations(documents, profile));
            let all = bases.iter().map(|base| (base.clone(), documents)).chain(others);
            all.filter(|(evaluation, _)| judge.accepts_result(saw, evaluation.result(profile))).collect()
        };
        let found = parallel::map(self.threads, pieces.len(), steps, self.progress, |piece| {
            places[piece].iter().map(|&place| give(place)).collect::<Vec<_>>()
        });
        found.into_iter().flatten().collect()
    }
}

/// An evaluation with its names' values.
pub(super) fn bound(base: &Evaluation, value: impl Fn(&str) -> Option<roundonce_deviate::Typed>) -> Evaluation {
    let mut evaluation = base.clone();
    for (leaf, name) in &mut Arc::make_mut(&mut evaluation.plan).leaves {
        *leaf = value(name).unwrap_or(*leaf);
    }
    evaluation
}
