//! What a verification found, as data and as sentences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a verification found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Rows that could be read.
    pub vectors: u64,
    /// Of these, with another result than any right one, or other flags.
    pub failed: u64,
    /// Rows that could not be read.
    pub bad: u64,
    /// What was found of each instruction, in the order of first appearance.
    pub instructions: Vec<Checked>,
    /// Failures that were looked into: all of them, or the first hundred thousand.
    pub examined: u64,
    /// These by cause, what explains most first.
    pub causes: Vec<Group>,
}

/// What was found of one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checked {
    /// Its spelling.
    pub instruction: String,
    /// Its vectors.
    pub vectors: u64,
    /// Those that fail.
    pub failed: u64,
    /// The one result that all its vectors have, where some of them fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
    /// SPIR-V: how many of the passing results are not the engine's own but legal, by what an implementation chose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, u64>,
}

/// Causes beside the first that are named in sentences.
const MOST_AS_WELL: usize = 3;

/// Failures of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Whether the cause explains them, or only describes them.
    pub explained: bool,
    /// What was done otherwise.
    pub cause: String,
    /// What explains the same failures as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_well: Vec<String>,
    /// How many failures.
    pub count: u64,
    /// Passing vectors that the cause would have changed: more than none says that it is not at work everywhere.
    pub contradicted: u64,
    /// Passing vectors that were asked.
    pub sampled: u64,
    /// Failing vectors whose result the cause would have changed too, but not to what was seen.
    #[serde(default)]
    pub failures_contradicted: u64,
    /// Failing vectors that were asked.
    #[serde(default)]
    pub failures_sampled: u64,
    /// The first of them.
    pub first: Example,
}

/// A failing vector.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Example {
    /// The file, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its number in the file, from 1.
    pub row: u64,
    /// The instruction.
    pub instruction: String,
    /// The operands' bits.
    pub operands: Vec<String>,
    /// The result's bits, and flags where the file has them.
    pub saw: String,
    /// What would have been right.
    pub expected: String,
}

impl Report {
    /// Whether there are vectors, every row could be read, and all are right.
    pub fn is_clean(&self) -> bool {
        self.vectors > 0 && self.failed == 0 && self.bad == 0
    }

    /// The same of a part of a file: its rows count from there.
    #[must_use]
    pub fn placed(mut self, file: &str, rows_before: u64) -> Report {
        for group in &mut self.causes {
            group.first.file = Some(file.to_owned());
            group.first.row += rows_before;
        }
        self
    }

    /// What several parts found together, in their order. Causes are those found in each part: a failure that two
    /// causes explain equally well counts for the one that explains more of its own part.
    pub fn together(parts: impl IntoIterator<Item = Report>) -> Report {
        let mut whole = Report { vectors: 0, failed: 0, bad: 0, instructions: vec![], examined: 0, causes: vec![] };
        for part in parts {
            whole.vectors += part.vectors;
            whole.failed += part.failed;
            whole.bad += part.bad;
            whole.examined += part.examined;
            for checked in part.instructions {
                match whole.instructions.iter_mut().find(|known| known.instruction == checked.instruction) {
                    None => whole.instructions.push(checked),
                    Some(known) => {
                        let (one, other) = (known.constant.take(), checked.constant);
                        known.constant = one.filter(|one| other.as_ref() == Some(one));
                        known.vectors += checked.vectors;
                        known.failed += checked.failed;
                        for (choice, count) in checked.choices {
                            *known.choices.entry(choice).or_default() += count;
                        }
                    }
                }
            }
            for group in part.causes {
                let same = |known: &&mut Group| (known.explained, &known.cause) == (group.explained, &group.cause);
                match whole.causes.iter_mut().find(same) {
                    None => whole.causes.push(group),
                    Some(known) => {
                        known.count += group.count;
                        known.as_well.retain(|other| group.as_well.contains(other));
                        known.contradicted += group.contradicted;
                        known.sampled += group.sampled;
                        known.failures_contradicted += group.failures_contradicted;
                        known.failures_sampled += group.failures_sampled;
                    }
                }
            }
        }
        whole.causes.sort_by_key(|group| std::cmp::Reverse(group.count));
        whole
    }

    /// The report as sentences, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for checked in &self.instructions {
            let Checked { instruction, vectors, failed, constant, choices } = checked;
            let verdict = match *failed {
                0 => "as expected".to_owned(),
                failed => format!("{failed} fail"),
            };
            lines.push(format!("{instruction}: {}, {verdict}", counted(*vectors, "vector")));
            if let Some(result) = constant {
                lines.push(format!("  every result is {result}: perhaps nothing was computed"));
            }
            for (choice, count) in choices {
                lines.push(format!("  {count} legal though not what eval gives: {choice}"));
            }
        }
        // Of one instruction the line above says it.
        if self.instructions.len() != 1 {
            lines.push(format!("{} verified", counted(self.vectors, "vector")));
        }
        if self.bad > 0 {
            lines.push(format!("{} could not be read", counted(self.bad, "row")));
        }
        if self.failed > 0 {
            lines.push(String::new());
        }
        if self.examined < self.failed {
            lines.push(format!("the first {} of {} failures by cause:", self.examined, self.failed));
        }
        // Where nothing was computed, causes explain by accident what they do.
        if self.instructions.iter().any(|checked| checked.failed > 0 && checked.constant.is_none()) {
            self.causes.iter().for_each(|group| group.lines(self.examined, &mut lines));
        } else if let Some(group) = self.causes.iter().min_by_key(|group| group.first.row) {
            group.first.lines(&mut lines);
        }
        lines
    }
}

impl Group {
    /// Failures that no vector contradicts.
    pub(crate) fn new(explained: bool, cause: String, count: u64, first: Example) -> Group {
        let (contradicted, sampled) = (0, 0);
        let (failures_contradicted, failures_sampled) = (0, 0);
        let as_well = Vec::new();
        Group {
            explained,
            cause,
            as_well,
            count,
            contradicted,
            sampled,
            failures_contradicted,
            failures_sampled,
            first,
        }
    }

    /// So many more failures.
    pub(crate) fn add(&mut self, count: u64, first: Example) {
        self.count += count;
        if first.row < self.first.row {
            self.first = first;
        }
    }

    fn lines(&self, of: u64, lines: &mut Vec<String>) {
        let Group { count, cause, first, .. } = self;
        let verb = if *count == 1 { "is" } else { "are" };
        let who = match (*count == of, of) {
            (true, 1) => "the failure".to_owned(),
            (true, _) => format!("all {count} failures"),
            (false, _) => format!("{count} of {of} failures"),
        };
        let is_contradicted = self.contradicted + self.failures_contradicted > 0;
        lines.push(match self.explained {
            true if is_contradicted => format!("{who} {verb} as if by {cause}"),
            true => format!("{who} {verb} explained by {cause}"),
            false => format!("{who}: {cause}"),
        });
        if !self.as_well.is_empty() {
            let named = self.as_well.iter().take(MOST_AS_WELL).cloned().collect::<Vec<_>>().join("; or by ");
            let more = match self.as_well.len().saturating_sub(MOST_AS_WELL) {
                0 => String::new(),
                more => format!("; or by {more} others"),
            };
            lines.push(format!("  or by {named}{more}: these failures do not tell them apart"));
        }
        let against = [
            (self.contradicted, self.sampled, "passing vectors"),
            (self.failures_contradicted, self.failures_sampled, "failures"),
        ];
        let against = against.into_iter().filter(|(count, ..)| *count > 0);
        let against: Vec<String> = against.map(|(count, of, what)| format!("{count} of {of} {what}")).collect();
        if !against.is_empty() {
            lines.push(format!("  not everywhere: {} contradict it", against.join(" and ")));
        }
        first.lines(lines);
    }
}

impl Example {
    fn lines(&self, lines: &mut Vec<String>) {
        let Example { row, instruction, saw, expected, .. } = self;
        let file = self.file.as_ref().map_or(String::new(), |file| format!("{file}, "));
        lines.push(format!("  first: {file}row {row}: {instruction} {}", self.operands.join(" ")));
        lines.push(format!("    saw {saw}, expected {expected}"));
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
