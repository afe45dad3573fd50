//! Where a predicate may still be what `LEA` wrote, a hint for generic accesses of which no source says what it means.
//!
//! Code is followed along every path. Of each predicate it is known whether some lane may have a hint in it, and of those
//! lanes which predicates are true or false there: a write under a guard leaves the hint only where the guard does not
//! hold, and a read under the same guard is then none of it.

use std::collections::BTreeSet;

use roundonce_ir::{Role, Terminator};

use super::body::Body;
use crate::instruction::{Guard, PT};

/// The predicates but `PT`.
const COUNT: usize = PT as usize;

/// What is known of predicates: bit n that `Pn` is true, bit 8 + n that it is false.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Truths(u16);

impl Truths {
    fn of(predicate: u8, holds: bool) -> Truths {
        Truths(1 << (predicate + if holds { 0 } else { 8 }))
    }
    fn guard(guard: Guard) -> Truths {
        if guard.predicate == PT { Truths::default() } else { Truths::of(guard.predicate, !guard.negated) }
    }
    fn opposite(self) -> Truths {
        Truths(self.0.rotate_left(8))
    }
    /// That some lane can have both.
    fn allows(self, other: Truths) -> bool {
        self.opposite().0 & other.0 == 0
    }
    fn and(self, other: Truths) -> Truths {
        Truths(self.0 | other.0)
    }
    fn common(self, other: Truths) -> Truths {
        Truths(self.0 & other.0)
    }
    fn without(self, predicates: u8) -> Truths {
        Truths(self.0 & !(u16::from(predicates) * 0x101))
    }
}

/// What an instruction does to predicates, a bit for each.
struct Access {
    /// The number of its word.
    at: usize,
    guard: Guard,
    reads: u8,
    writes: u8,
    /// Which of those it writes is a hint.
    hint: Option<u8>,
}

/// The instructions of each block that have to do with predicates.
#[derive(Default)]
pub(super) struct Predicates {
    blocks: Vec<Vec<Access>>,
}

/// A hint that lanes have in a predicate: what is known of those lanes, and the word that wrote it.
#[derive(Clone, Copy)]
struct Held {
    lanes: Truths,
    by: usize,
}

/// Of each predicate.
type Hints = [Option<Held>; COUNT];

impl Predicates {
    /// An instruction of a block, from so many steps of the block on.
    pub(super) fn record(&mut self, body: &Body<'_>, block: usize, at: usize, guard: Guard, from: usize) {
        let (mut reads, mut writes) = (0, 0);
        for step in &body.code[from..] {
            step.op.registers(|role, reg| {
                let Some(number) = body.predicate_number(reg) else { return };
                match role {
                    // What it writes and then reads is its own.
                    Role::Use => reads |= 1 << number & !writes,
                    Role::Def => writes |= 1 << number,
                }
            });
        }
        let hint = body.hint.and_then(|reg| body.predicate_number(reg));
        if let Some(number) = hint {
            writes |= 1 << number;
        }
        if reads != 0 || writes != 0 || guard.predicate != PT {
            if self.blocks.len() <= block {
                self.blocks.resize_with(block + 1, Vec::new);
            }
            self.blocks[block].push(Access { at, guard, reads, writes, hint });
        }
    }

    /// The words that read a hint, each with the one that wrote it.
    pub(super) fn hints_read(&self, body: &Body<'_>) -> BTreeSet<(usize, usize)> {
        let mut found = BTreeSet::new();
        let mut at_start: Vec<Hints> = vec![[None; COUNT]; body.kernel.blocks.len()];
        let has_hint = |block: &usize| self.of(*block).iter().any(|access| access.hint.is_some());
        let mut waiting: Vec<usize> = (0..self.blocks.len()).filter(has_hint).collect();
        while let Some(block) = waiting.pop() {
            let mut hints = at_start[block];
            for access in self.of(block) {
                access.read(&hints, &mut found);
                access.write(&mut hints);
            }
            for (next, known) in successors(body, block) {
                if join(&mut at_start[next], &hints, known) {
                    waiting.push(next);
                }
            }
        }
        found
    }

    fn of(&self, block: usize) -> &[Access] {
        self.blocks.get(block).map_or(&[], Vec::as_slice)
    }
}

/// The blocks behind a block, and what the branch says of a predicate.
fn successors(body: &Body<'_>, block: usize) -> Vec<(usize, Truths)> {
    match &body.kernel.blocks[block].terminator {
        Terminator::Branch { pred, then, otherwise } => {
            let known = |holds| body.predicate_number(*pred).map_or(Truths::default(), |p| Truths::of(p, holds));
            vec![(*then, known(true)), (*otherwise, known(false))]
        }
        other => other.successors().into_iter().map(|next| (next, Truths::default())).collect(),
    }
}

/// Hints with those of another path; whether that is more.
fn join(hints: &mut Hints, others: &Hints, known: Truths) -> bool {
    let mut grew = false;
    for (own, other) in hints.iter_mut().zip(others) {
        let Some(other) = other.filter(|other| other.lanes.allows(known)) else { continue };
        let other = Held { lanes: other.lanes.and(known), ..other };
        match own {
            None => (*own, grew) = (Some(other), true),
            Some(own) => {
                let common = own.lanes.common(other.lanes);
                grew |= common != own.lanes;
                own.lanes = common;
            }
        }
    }
    grew
}

impl Access {
    fn read(&self, hints: &Hints, found: &mut BTreeSet<(usize, usize)>) {
        let guard = Truths::guard(self.guard);
        for (number, held) in hints.iter().enumerate() {
            let Some(held) = held else { continue };
            let is_read = self.reads >> number & 1 != 0 && held.lanes.allows(guard);
            // Every lane reads the guard.
            if is_read || usize::from(self.guard.predicate) == number {
                found.insert((self.at, held.by));
            }
        }
    }

    fn write(&self, hints: &mut Hints) {
        let guard = Truths::guard(self.guard);
        for (number, place) in hints.iter_mut().enumerate() {
            // Where it does not run nothing changes.
            let Some(held) = place.as_mut().filter(|held| held.lanes.allows(guard)) else { continue };
            if self.writes >> number & 1 == 0 {
                held.lanes = held.lanes.without(self.writes);
            } else if held.lanes.common(guard) == guard {
                *place = None;
            } else {
                held.lanes = held.lanes.and(guard.opposite());
            }
        }
        if let Some(number) = self.hint {
            let new = Held { lanes: guard.without(self.writes), by: self.at };
            let place = &mut hints[usize::from(number)];
            *place = Some(match place {
                Some(held) => Held { lanes: held.lanes.common(new.lanes), by: new.by },
                None => new,
            });
        }
    }
}
