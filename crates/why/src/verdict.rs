//! Every answer as a sentence for each thing that was observed, for a list of findings.

use roundonce_isa::grouped;
use serde::Serialize;

use crate::answer::Answer;
use crate::arrays::ArrayAnswer;

/// How many evaluations, or policies, explain one thing that was observed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// One explains all of it.
    One,
    /// Each part of it has one of its own.
    Several,
    /// More than one explain all of it.
    Ambiguous,
    /// One or more explain all of it, and might by accident.
    Consistent,
    /// None explains all of it.
    None,
}

impl Outcome {
    /// Of so many that explain all of it, weak or not.
    pub const fn of(count: usize, is_weak: bool) -> Outcome {
        match count {
            0 => Outcome::None,
            _ if is_weak => Outcome::Consistent,
            1 => Outcome::One,
            _ => Outcome::Ambiguous,
        }
    }
}

/// What one thing that was seen comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Its name.
    pub saw: String,
    /// As in the answer.
    pub outcome: Outcome,
    /// What gives it.
    pub sentence: String,
    /// The line of the kernel at which that parts from what is written there.
    pub line: Option<u32>,
}

/// "the evaluation that …, or one of 2 others,": the start of a verdict's sentence.
pub fn simplest(count: usize, what: &str, sentence: &str) -> String {
    let others = match count {
        1 => String::new(),
        2 => ", or another one,".to_owned(),
        _ => format!(", or one of {} others,", count - 1),
    };
    format!("the {what} that {sentence}{others}")
}

impl Answer {
    /// A verdict for each value seen.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |seen: &crate::ObservedAnswer| {
            let sentence = match seen.explanations.first() {
                Some(first) => {
                    let gives = simplest(seen.explanations.len(), "evaluation", &first.of_seen());
                    let chance = seen.nearby.is_weak().then(|| format!("; {}", seen.nearby.sentence()));
                    let others = seen.doubts().map(|doubt| format!("; {doubt}"));
                    let doubts: String = chance.into_iter().chain(others).collect();
                    format!("`{}`: {gives} gives {}{doubts}", self.expression, seen.saw)
                }
                None => {
                    let nearest = seen.nearest.as_ref().map_or(String::new(), |nearest| format!("; {nearest}"));
                    format!("`{}`: no evaluation gives {}{nearest}", self.expression, seen.saw)
                }
            };
            Verdict { saw: seen.saw.clone(), outcome: seen.outcome, sentence, line: None }
        };
        self.seen.iter().map(verdict).collect()
    }
}

impl ArrayAnswer {
    /// A verdict for each array seen.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |seen: &crate::ObservedArray| {
            let part = |group: &crate::ArrayGroup| {
                let gives = simplest(group.fitting(), "evaluation", &group.sentence);
                let count = grouped(group.count as u64);
                if let Some(others) = group.contradicted {
                    format!("{gives} is closest with {count}, contradicted by {}", grouped(others as u64))
                } else if group.is_weak() {
                    format!("{count} are consistent with {gives}")
                } else {
                    format!("{gives} explains {count}")
                }
            };
            let mut parts: Vec<String> = seen.groups.iter().map(part).collect();
            parts.extend(
                (seen.unexplained > 0).then(|| format!("nothing explains {}", grouped(seen.unexplained as u64))),
            );
            let of = grouped(self.elements as u64);
            let sentence = format!("`{}`, {of} elements: {}", self.expression, parts.join("; "));
            Verdict { saw: seen.saw.clone(), outcome: seen.outcome, sentence, line: None }
        };
        self.seen.iter().map(verdict).collect()
    }
}
