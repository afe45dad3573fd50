//! Failures by cause: which machines give the seen results, and the fewest causes that explain them all.

use std::collections::HashMap;

use roundonce::arith::{Flags, Underflow};

use crate::block::Vector;
use crate::machine::{Cause, Machine};
use crate::report::{Example, Group};
use crate::subject::{PROFILE, Subject};

/// Failures beyond these are counted, not looked into.
pub(crate) const MOST_EXAMINED: u64 = 100_000;
/// Passing vectors that a cause is held against: one that is at work everywhere contradicts none.
const MOST_PASSING: usize = 4096;
/// Of one block, so that the sample is of more than one instruction.
const PASSING_OF_A_BLOCK: usize = 1024;

/// One thing done otherwise, or two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Explanation {
    One(Cause),
    Two(Cause, Cause),
}

impl Explanation {
    fn machine(self, right: Machine) -> Option<Machine> {
        match self {
            Explanation::One(cause) => right.with(cause),
            Explanation::Two(first, second) => right.with(first)?.with(second),
        }
    }
    fn text(self) -> String {
        match self {
            Explanation::One(cause) => cause.text().to_owned(),
            Explanation::Two(first, second) => format!("{} and {}", first.text(), second.text()),
        }
    }
}

/// What a failing vector may be explained by; vectors with the same are counted together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// These, singly or in pairs.
    Machines(Vec<Explanation>),
    /// The bits are right, the flags those of tininess before rounding.
    TininessBeforeRounding,
    /// The bits are right; these flags are missing and these too many.
    Flags { missing: u8, extra: u8 },
    /// One unit in the last place beside the right result.
    OneUlp,
    /// Nothing known.
    Unknown,
}

struct Tally {
    count: u64,
    first: Example,
}

/// The machines of an instruction, each different from the right one and from the others.
struct Machines(Vec<(Explanation, Machine)>);

impl Machines {
    fn of(subject: &Subject) -> Machines {
        let right = Machine::right(subject);
        let pairs = Cause::ALL.iter().enumerate().flat_map(|(index, &first)| {
            Cause::ALL[index + 1..].iter().map(move |&second| Explanation::Two(first, second))
        });
        let mut all: Vec<(Explanation, Machine)> = Vec::new();
        for explanation in Cause::ALL.into_iter().map(Explanation::One).chain(pairs) {
            let machine = explanation.machine(right).filter(|machine| *machine != right);
            // A pair whose second undoes or repeats the first, or that one cause already says.
            if let Some(machine) = machine
                && !all.iter().any(|(_, known)| *known == machine)
            {
                all.push((explanation, machine));
            }
        }
        Machines(all)
    }
}

/// The failures of a run.
#[derive(Default)]
pub(crate) struct Failures {
    tallies: HashMap<Key, Tally>,
    examined: u64,
    passing: Vec<(usize, Vector)>,
    machines: HashMap<usize, Machines>,
}

impl Failures {
    /// Whether one more will be looked into.
    pub(crate) fn wants_more(&self) -> bool {
        self.examined < MOST_EXAMINED
    }

    /// How many were looked into.
    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    /// Looks into a failing vector of the `subject`th instruction.
    pub(crate) fn add(&mut self, index: usize, subject: &Subject, vector: &Vector, example: Example) {
        self.examined += 1;
        let key = self.key(index, subject, vector);
        let tally = self.tallies.entry(key).or_insert_with(|| Tally { count: 0, first: example.clone() });
        tally.count += 1;
        if example.row < tally.first.row {
            tally.first = example;
        }
    }

    fn key(&mut self, index: usize, subject: &Subject, vector: &Vector) -> Key {
        let right = subject.evaluate(&vector.operands);
        if right.value == vector.result
            && let Some(flags) = vector.flags
        {
            let before = roundonce::eval(
                &subject.instruction,
                &vector.operands,
                &roundonce::Profile { underflow: Underflow::BeforeRounding, ..PROFILE },
            );
            if before.flags.bits() == flags {
                return Key::TininessBeforeRounding;
            }
            let right = right.flags.bits();
            return Key::Flags { missing: right & !flags, extra: flags & !right };
        }
        let machines = self.machines.entry(index).or_insert_with(|| Machines::of(subject));
        let explain =
            machines.0.iter().filter(|(_, machine)| machine.gives(vector)).map(|(explanation, _)| *explanation);
        let explained: Vec<Explanation> = explain.collect();
        if !explained.is_empty() {
            return Key::Machines(explained);
        }
        let format = subject.recipe().operation.format;
        let lanes = right.value.components().iter().zip(vector.result.components());
        let near =
            |(&right, &seen): (&u64, &u64)| roundonce::why::ulps(format, right, seen).is_some_and(|ulps| ulps <= 1);
        if lanes.clone().all(near) { Key::OneUlp } else { Key::Unknown }
    }

    /// How many passing vectors of a block of so many are worth keeping.
    pub(crate) fn passing_wanted(&self) -> usize {
        PASSING_OF_A_BLOCK.min(MOST_PASSING - self.passing.len())
    }
    /// Keeps a passing vector.
    pub(crate) fn keep_passing(&mut self, index: usize, vector: Vector) {
        self.passing.push((index, vector));
    }

    /// The failures that an explanation takes.
    fn group(&self, explanation: Explanation, taken: Vec<(Vec<Explanation>, Tally)>) -> Option<Group> {
        let count = taken.iter().map(|(_, tally)| tally.count).sum();
        let first = taken.into_iter().map(|(_, tally)| tally.first).min_by_key(|first| first.row)?;
        let (contradicted, sampled) = self.contradicted(explanation);
        Some(Group { explained: true, cause: explanation.text(), count, contradicted, sampled, first })
    }

    /// How many of the passing vectors kept an explanation would have changed, and of how many.
    fn contradicted(&self, explanation: Explanation) -> (u64, u64) {
        let mut of = 0;
        let mut contradicted = 0;
        for (index, vector) in &self.passing {
            let Some(machines) = self.machines.get(index) else { continue };
            of += 1;
            let machine = machines.0.iter().find(|(it, _)| *it == explanation);
            contradicted += u64::from(machine.is_some_and(|(_, machine)| !machine.gives(vector)));
        }
        (contradicted, of)
    }

    /// The failures by cause, what explains most first.
    pub(crate) fn groups(mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        let tallies = std::mem::take(&mut self.tallies);
        let mut machines: Vec<(Vec<Explanation>, Tally)> = Vec::new();
        let mut rest: Vec<(bool, String, Tally)> = Vec::new();
        for (key, tally) in tallies {
            match key {
                Key::Machines(explained) => machines.push((explained, tally)),
                Key::TininessBeforeRounding => rest.push((true, TININESS.to_owned(), tally)),
                Key::Flags { missing, extra } => rest.push((false, flags_text(missing, extra), tally)),
                Key::OneUlp => rest.push((false, ONE_ULP.to_owned(), tally)),
                Key::Unknown => rest.push((false, UNKNOWN.to_owned(), tally)),
            }
        }
        while let Some(best) = self.best(&machines) {
            let taken = machines.extract_if(.., |(explained, _)| explained.contains(&best)).collect();
            groups.extend(self.group(best, taken));
        }
        rest.sort_by_key(|(explained, text, tally)| {
            (!explained, text == UNKNOWN, std::cmp::Reverse(tally.count), tally.first.row)
        });
        let group = |(explained, cause, tally): (bool, String, Tally)| Group {
            explained,
            cause,
            count: tally.count,
            contradicted: 0,
            sampled: 0,
            first: tally.first,
        };
        groups.extend(rest.into_iter().map(group));
        groups
    }

    /// The next explanation to believe: one cause that explains all that is left; else, where some are explained by no
    /// one cause, two together that explain all; else the one cause, and at last the two, that explain most. Of equals
    /// the one that fewest passing vectors contradict, then the simpler.
    fn best(&self, left: &[(Vec<Explanation>, Tally)]) -> Option<Explanation> {
        let all: u64 = left.iter().map(|(_, tally)| tally.count).sum();
        let mut counts: HashMap<Explanation, u64> = HashMap::new();
        for (explained, tally) in left {
            for explanation in explained {
                *counts.entry(*explanation).or_default() += tally.count;
            }
        }
        let single = |explanation: &Explanation| matches!(explanation, Explanation::One(_));
        let most = |singles: bool| {
            counts.iter().filter(|(it, _)| single(it) == singles).map(|(_, count)| *count).max().unwrap_or(0)
        };
        let by_one = left.iter().all(|(explained, _)| explained.iter().any(single));
        let (singles, wanted) = match (most(true), most(false)) {
            (0, 0) => return None,
            (one, _) if one == all => (true, one),
            (_, two) if two == all && !by_one => (false, two),
            (0, two) => (false, two),
            (one, _) => (true, one),
        };
        counts
            .into_iter()
            .filter(|(it, count)| single(it) == singles && *count == wanted)
            .map(|(it, _)| it)
            .min_by_key(|it| (self.contradicted(*it).0, *it))
    }
}

const TININESS: &str = "flags of tininess detected before rounding";
const ONE_ULP: &str = "one unit in the last place beside the expected result; nothing known explains it";
const UNKNOWN: &str = "nothing known explains it";

fn flags_text(missing: u8, extra: u8) -> String {
    let names = |bits: u8| {
        let known = [Flags::INEXACT, Flags::UNDERFLOW, Flags::OVERFLOW, Flags::INVALID];
        let mut names: Vec<&str> =
            known.into_iter().filter(|flag| bits & flag.bits() != 0).flat_map(Flags::names).collect();
        names.extend((bits & DIVISION_BY_ZERO != 0).then_some("infinite"));
        names.join(", ")
    };
    let mut parts = Vec::new();
    parts.extend((missing != 0).then(|| format!("{} missing", names(missing))));
    parts.extend((extra != 0).then(|| format!("{} too many", names(extra))));
    format!("flags alone: {}", parts.join(", "))
}

/// TestFloat's flag of a division by zero, which no multiply-add raises.
const DIVISION_BY_ZERO: u8 = 8;
