//! Captured results of matrix multiply-adds, an element at a time: which machine or which reading of an open question gives
//! those that fail.

use std::collections::BTreeMap;

use roundonce::arith::{Format, Profile};
use roundonce::matrix::{DotOperands, Matrix};
use roundonce::{Target, matrix};

use crate::report::{Checked, Example, Group, Report};

/// Passing elements of an instruction that every cause is held against.
const PASSING: usize = 1000;

/// What is known of one instruction on one machine.
pub(crate) struct MatrixEntry {
    spelling: String,
    matrix: Matrix,
    profile: Profile,
    vectors: u64,
    failed: u64,
    /// By which of the others explain them, a bit each: how many failures, and the first.
    failures: BTreeMap<u32, (u64, Example)>,
    passing: Vec<(DotOperands, u64)>,
    others: Vec<(String, Matrix, Profile)>,
}

/// A row as it is written: an element, its operands as [`Matrix::read`] takes them.
pub(crate) struct MatrixRow<'t> {
    pub(crate) operands: &'t [&'t str],
    pub(crate) result: &'t str,
}

impl MatrixEntry {
    pub(crate) fn new(spelling: &str, target: &Target, profile: Profile) -> Result<MatrixEntry, String> {
        let matrix = matrix::instruction(spelling, target, &profile).map_err(|finding| finding.to_string())?;
        let spelling = match spelling.contains('@') {
            true => spelling.to_owned(),
            false => format!("{spelling}@{}", matrix.target),
        };
        let (failures, passing, others) = (BTreeMap::new(), Vec::new(), others(&matrix, profile));
        Ok(MatrixEntry { spelling, matrix, profile, vectors: 0, failed: 0, failures, passing, others })
    }

    /// The formats of c and d.
    pub(crate) fn accumulators(&self) -> [Format; 2] {
        [self.matrix.row.dot.c, self.matrix.row.dot.d]
    }

    /// One element.
    pub(crate) fn push(&mut self, number: u64, row: &MatrixRow<'_>) -> Result<(), String> {
        let (operands, _) = self.matrix.read(row.operands).map_err(|finding| finding.to_string())?;
        let result = self.matrix.read_result(row.result).map_err(|finding| finding.to_string())?;
        self.vectors += 1;
        let expected = self.matrix.eval(&self.profile, &operands);
        if expected == result {
            if self.passing.len() < PASSING {
                self.passing.push((operands, result));
            }
            return Ok(());
        }
        self.failed += 1;
        let explains = |(_, matrix, profile): &(String, Matrix, Profile)| matrix.eval(profile, &operands) == result;
        let set = self.others.iter().enumerate().fold(0, |set, (at, other)| set | u32::from(explains(other)) << at);
        let example = || Example {
            file: None,
            row: number,
            instruction: self.spelling.clone(),
            operands: row.operands.iter().map(|text| (*text).to_owned()).collect(),
            saw: self.matrix.hex(result),
            expected: self.matrix.hex(expected),
        };
        self.failures.entry(set).or_insert_with(|| (0, example())).0 += 1;
        Ok(())
    }

    /// What was found. A failure counts for the cause that explains most of them.
    pub(crate) fn finish(self) -> Report {
        let MatrixEntry { spelling: instruction, vectors, failed, mut failures, passing, others, .. } = self;
        let mut causes = Vec::new();
        while !failures.is_empty() {
            let explained = |at: usize, failures: &BTreeMap<u32, (u64, Example)>| -> u64 {
                failures.iter().filter(|(set, _)| *set >> at & 1 == 1).map(|(_, (count, _))| count).sum()
            };
            // Of several that explain as many, the first.
            let best = (0..others.len()).rev().max_by_key(|at| explained(*at, &failures));
            let best = best.filter(|at| explained(*at, &failures) > 0);
            let contradicted = |at: usize| {
                let (_, matrix, profile) = &others[at];
                passing.iter().filter(|(operands, result)| matrix.eval(profile, operands) != *result).count() as u64
            };
            // The first says no more than those that explain the same failures and are contradicted no more often.
            let best = best.map(|best| {
                let sets = |at: usize| failures.keys().map(move |set| set >> at & 1);
                let against = contradicted(best);
                let is_alike = |at: &usize| *at != best && sets(*at).eq(sets(best)) && contradicted(*at) <= against;
                let as_well: Vec<String> = (0..others.len()).filter(is_alike).map(|at| others[at].0.clone()).collect();
                (best, against, as_well)
            });
            let is_of = |set: &u32| best.as_ref().is_none_or(|(at, ..)| set >> at & 1 == 1);
            let all: Vec<(u64, Example)> =
                failures.iter().filter(|(set, _)| is_of(set)).map(|(_, it)| it.clone()).collect();
            failures.retain(|set, _| !is_of(set));
            let count = all.iter().map(|(count, _)| count).sum();
            let Some((_, first)) = all.into_iter().min_by_key(|(_, example)| example.row) else { break };
            causes.push(match best {
                Some((at, contradicted, as_well)) => {
                    let sampled = passing.len() as u64;
                    Group { contradicted, sampled, as_well, ..Group::new(true, others[at].0.clone(), count, first) }
                }
                None => Group::new(false, "results of no known machine".to_owned(), count, first),
            });
        }
        let checked = Checked { instruction, vectors, failed, constant: None, choices: BTreeMap::new() };
        let instructions = if vectors > 0 { vec![checked] } else { Vec::new() };
        Report { vectors, failed, bad: 0, instructions, examined: failed, causes }
    }
}

/// What may have computed it instead: other readings of what is open, then other machines.
fn others(this: &Matrix, own: Profile) -> Vec<(String, Matrix, Profile)> {
    let on = |target: roundonce::SmTarget, profile: Profile| {
        let row = this.instruction.row(target, &profile).ok()?;
        Some(Matrix { row, target, ..*this })
    };
    let readings = matrix::readings(own).into_iter().filter_map(|(name, profile)| {
        Some((format!("computing with --profile {name}"), on(this.target, profile)?, profile))
    });
    let machines = this.instruction.targets().into_iter().filter_map(|number| {
        let matrix = on(number.into(), own)?;
        Some((format!("computing as {}", matrix.target), matrix, own))
    });
    readings.chain(machines).collect()
}
