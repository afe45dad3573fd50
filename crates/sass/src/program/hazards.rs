//! Whether scheduling keeps what an instruction reads and writes apart from results that come late.
//!
//! An instruction of variable latency counts on a barrier until its result is written, on another until its sources are
//! read; a later one waits for them by its mask, and so does `DEPBAR`. Results of one unit come in order, so that one
//! without a barrier is waited for by that of a later one (ptxas's code of loads). The kernel is followed along every path: a register
//! or predicate is late from such an instruction to the wait. What an instruction reads and writes is what its lowering
//! does. How long results of fixed latency take no document says: those are not checked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundonce_ir::{Guard, Instruction as Step, Kernel, Reg, Role};
use roundonce_isa::{Finding, Location};

use super::Words;
use super::body::Body;
use crate::instruction::Value;
use crate::print::Register;
use crate::rules;
use crate::schedule::{Control, Slot};

/// Registers, then predicates, then the condition codes.
const NAMES: usize = 256 + 8 + 1;
const PREDICATES: u16 = 256;
pub(super) const CODES: u16 = 264;
/// The barriers that there are.
const BARRIERS: u8 = 0x3f;
/// A result that no barrier is counted on for.
const NEVER: u8 = 0x40;
/// Instructions that are gone through at most.
const MOST_STEPS: usize = 1 << 24;
/// Blocks, for each of which all names are kept.
const MOST_BLOCKS: usize = 1 << 15;

/// What an instruction reads and writes, by number.
#[derive(Clone, Default, Debug)]
struct Effects {
    reads: BTreeSet<u16>,
    writes: BTreeSet<u16>,
    /// The guard, which is read when it issues.
    guard: Option<u16>,
}

/// The instructions of a kernel along its paths, by the numbers of their words.
#[derive(Default)]
pub(super) struct Trace {
    blocks: Vec<Vec<usize>>,
    effects: BTreeMap<usize, Effects>,
    names: HashMap<Reg, u16>,
    /// An instruction that leads where nothing says.
    pub(super) lost: Option<usize>,
}

impl Trace {
    /// An instruction with what it was lowered to.
    pub(super) fn record(&mut self, body: &Body<'_>, block: usize, at: usize, ops: &[Step], guard: Option<Guard>) {
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, Vec::new());
        }
        self.blocks[block].push(at);
        if self.names.len() != body.named().count() {
            self.names = body.named().collect();
        }
        let effects = self.effects.entry(at).or_default();
        effects.guard = guard.and_then(|guard| self.names.get(&guard.pred)).copied();
        let mut written = BTreeSet::new();
        for step in ops {
            step.op.registers(|role, reg| {
                let Some(name) = self.names.get(&reg) else { return };
                match role {
                    Role::Use if !written.contains(name) => {
                        effects.reads.insert(*name);
                    }
                    Role::Def => {
                        written.insert(*name);
                    }
                    Role::Use => {}
                }
            });
        }
        effects.writes.extend(written);
    }
    /// A register that the control flow reads.
    pub(super) fn read(&mut self, at: usize, reg: Reg) {
        if let Some(name) = self.names.get(&reg) {
            self.effects.entry(at).or_default().reads.insert(*name);
        }
    }
}

/// What is late: by name, on which barriers, and since which word.
#[derive(Clone)]
struct Late {
    writes: [u8; NAMES],
    reads: [u8; NAMES],
    /// Of a result without a barrier, those of later results of the same unit: one of them tells that it is there.
    covers: [u8; NAMES],
    /// How many instructions counted on the barrier of a result after its own.
    ages: [u8; NAMES],
    /// By the barrier of the read, the barriers of the same instruction's result: when that is there, it was read.
    results: [[u8; 6]; NAMES],
    since: [[u32; 2]; NAMES],
}

impl Late {
    const NOTHING: Late = Late {
        writes: [0; NAMES],
        reads: [0; NAMES],
        covers: [0; NAMES],
        ages: [0; NAMES],
        results: [[0; 6]; NAMES],
        since: [[0; 2]; NAMES],
    };

    /// With what is late on another path; whether that is more.
    fn join(&mut self, other: &Late) -> bool {
        let mut grew = false;
        for name in 0..NAMES {
            if self.writes[name] == 0 {
                (self.ages[name], self.covers[name]) = (other.ages[name], other.covers[name]);
            } else if other.writes[name] != 0 {
                let age = self.ages[name].min(other.ages[name]);
                let covers = self.covers[name] & other.covers[name];
                grew |= (age, covers) != (self.ages[name], self.covers[name]);
                (self.ages[name], self.covers[name]) = (age, covers);
            }
            for (which, (own, more)) in
                [(&mut self.writes[name], other.writes[name]), (&mut self.reads[name], other.reads[name])]
                    .into_iter()
                    .enumerate()
            {
                if which == 1 {
                    for (own, more) in self.results[name].iter_mut().zip(other.results[name]) {
                        *own |= more;
                    }
                }
                if more & !*own != 0 {
                    if *own == 0 {
                        self.since[name][which] = other.since[name][which];
                    }
                    *own |= more;
                    grew = true;
                }
            }
        }
        grew
    }

    fn wait(&mut self, barriers: u8) {
        if barriers != 0 {
            for (late, covers) in self.writes.iter_mut().zip(&self.covers) {
                *late = if covers & barriers == 0 { *late & !barriers } else { 0 };
            }
            for (late, results) in self.reads.iter_mut().zip(&self.results) {
                for (barrier, results) in results.iter().enumerate() {
                    if *results & barriers != 0 {
                        *late &= !(1 << barrier);
                    }
                }
                *late &= !barriers;
            }
        }
    }

    /// `DEPBAR.LE`: the last instructions that count on a barrier may still be late.
    fn wait_for_all_but(&mut self, barrier: u8, rest: u8) {
        if rest == 0 {
            return self.wait(barrier);
        }
        for (late, age) in self.writes.iter_mut().zip(&self.ages) {
            if *age >= rest {
                *late &= !barrier;
            }
        }
    }

    /// An instruction with a barrier stands for those before it of its unit that have none.
    fn cover(&mut self, barrier: u8, is_of_unit: impl Fn(usize) -> bool) {
        for (name, late) in self.writes.iter_mut().enumerate() {
            if *late & barrier != 0 {
                self.ages[name] = self.ages[name].saturating_add(1);
            }
            if *late == 0 || !is_of_unit(self.since[name][0] as usize) {
                continue;
            }
            if *late & NEVER != 0 {
                *late = *late & !NEVER | barrier;
                (self.ages[name], self.covers[name]) = (0, barrier);
            } else if self.covers[name] != 0 {
                self.covers[name] |= barrier;
            }
        }
    }

    fn issue(&mut self, at: usize, slot: Slot, effects: &Effects, is_late: bool) {
        let bit = |barrier: Option<u32>| existing(barrier).map(|barrier| 1 << barrier);
        for name in &effects.writes {
            let name = usize::from(*name);
            self.writes[name] = if is_late { bit(slot.write_barrier()).unwrap_or(NEVER) } else { 0 };
            self.since[name][0] = at as u32;
            (self.ages[name], self.covers[name]) = (0, 0);
        }
        let result = bit(slot.write_barrier()).unwrap_or(0);
        if let Some(bit) = bit(slot.read_barrier()) {
            for name in &effects.reads {
                let name = usize::from(*name);
                let results = &mut self.results[name][bit.trailing_zeros() as usize];
                *results = if self.reads[name] & bit == 0 { result } else { *results & result };
                self.reads[name] |= bit;
                self.since[name][1] = at as u32;
            }
        }
    }
}

/// There are six barriers; a field may name a seventh, on which nothing can wait.
fn existing(barrier: Option<u32>) -> Option<u32> {
    barrier.filter(|barrier| *barrier < 6)
}

/// A kernel's code with what is known of it.
pub(super) struct Checked<'a> {
    pub(super) code: Words<'a>,
    pub(super) kernel: &'a Kernel,
    pub(super) trace: Trace,
    /// Where the code begins in the file, in words.
    pub(super) first: usize,
}

impl Checked<'_> {
    fn slot(&self, at: usize) -> Slot {
        Control(self.code.words[at / 4 * 4]).slots()[(at % 4).saturating_sub(1)]
    }

    /// What an instruction waits for, by its mask or as `DEPBAR`.
    fn wait(&self, at: usize, late: &mut Late) {
        late.wait(self.slot(at).wait() as u8 & BARRIERS);
        let Some(instruction) = self.code.instruction(at) else { return };
        if instruction.mnemonic() != "DEPBAR" {
            return;
        }
        let operands = instruction.operands();
        for (place, operand) in operands.iter().enumerate() {
            match operand.value {
                Value::Set(set) => late.wait(set & BARRIERS),
                Value::Name(_, number @ 0..6) => {
                    let rest = operands.get(place + 1).map_or(0, |rest| match rest.value {
                        Value::Immediate(rest) => rest as u8,
                        _ => 0,
                    });
                    late.wait_for_all_but(1 << number, rest);
                }
                _ => {}
            }
        }
    }

    /// What takes the same path: it reads, and its results come, in order.
    fn unit(&self, at: usize) -> &'static str {
        match self.code.instruction(at).map_or("", |instruction| instruction.mnemonic()) {
            "LD" | "LDG" | "LDL" | "ATOM" => "LDG",
            "MUFU" | "F2F" | "F2I" | "I2F" | "I2I" | "FLO" | "POPC" | "FCHK" => "MUFU",
            "DADD" | "DMUL" | "DFMA" | "DMNMX" | "DSET" | "DSETP" => "DFMA",
            name if name.starts_with('H') => "HFMA2",
            name => name,
        }
    }

    /// Whether no lane does both: their guards are opposite, and the predicate, last written before a place in the block,
    /// is the same.
    fn exclude(&self, at: usize, earlier: usize, block: &[usize], written: &[usize; 8]) -> bool {
        let guard = |at| Some(self.code.instruction(at)?.guard());
        let (Some(one), Some(other)) = (guard(earlier), guard(at)) else { return false };
        one.predicate == other.predicate
            && one.negated != other.negated
            && block.binary_search(&earlier).is_ok_and(|place| place >= written[usize::from(one.predicate)])
    }

    fn is_late(&self, at: usize) -> bool {
        // `FCHK` has no barrier in ptxas's code.
        let is_late = self.code.instruction(at).is_some_and(|found| found.is_variable() && found.row().name != "FCHK");
        is_late || self.slot(at).write_barrier().is_some()
    }

    /// A block gone through; what is read or written too early goes to `tell`.
    fn run(&self, block: usize, late: &mut Late, mut tell: impl FnMut(usize, u16, usize, &'static str)) {
        let none = Effects::default();
        let block = self.trace.blocks.get(block).map_or(&[][..], Vec::as_slice);
        // Behind the last write of each predicate in the block.
        let mut changed = [0; 8];
        for (place, &at) in block.iter().enumerate() {
            self.wait(at, late);
            let effects = self.trace.effects.get(&at).unwrap_or(&none);
            for name in effects.reads.iter().chain(&effects.guard) {
                if late.writes[usize::from(*name)] != 0 {
                    tell(at, *name, late.since[usize::from(*name)][0] as usize, "read before it is written");
                }
            }
            for name in &effects.writes {
                let [written, read] = late.since[usize::from(*name)].map(|since| since as usize);
                // Whether two results that both come late come in order is not said.
                let overwrites = late.writes[usize::from(*name)] != 0 && !effects.reads.contains(name);
                if overwrites && !self.is_late(at) && !self.exclude(at, written, block, &changed) {
                    tell(at, *name, written, "overwritten before it is written");
                }
                let in_order = self.is_late(at) && self.unit(at) == self.unit(read);
                if late.reads[usize::from(*name)] != 0 && !in_order && !self.exclude(at, read, block, &changed) {
                    tell(at, *name, read, "overwritten before it is read");
                }
            }
            for name in effects.writes.range(PREDICATES..CODES) {
                changed[usize::from(name - PREDICATES)] = place + 1;
            }
            if let Some(barrier) = existing(self.slot(at).write_barrier()) {
                let unit = self.unit(at);
                late.cover(1 << barrier, |since| self.unit(since) == unit);
            }
            late.issue(at, self.slot(at), effects, self.is_late(at));
        }
    }

    /// Everything that comes too early, in the order of the code.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let blocks = self.kernel.blocks.len();
        let mut before: Vec<Option<Box<Late>>> = vec![None; blocks];
        let mut waiting = BTreeSet::from([0]);
        before[0] = Some(Box::new(Late::NOTHING));
        let mut steps = 0;
        while let Some(block) = waiting.pop_first() {
            steps += 1 + self.trace.blocks.get(block).map_or(0, Vec::len);
            if steps > MOST_STEPS || blocks > MOST_BLOCKS {
                let message =
                    format!("kernel `{}` has too many paths: its scheduling is not checked", self.kernel.name);
                return vec![rules::UNCHECKED.finding(Location::Whole, message)];
            }
            let Some(mut late) = before[block].clone() else { continue };
            self.run(block, &mut late, |_, _, _, _| {});
            for next in self.kernel.blocks[block].terminator.successors() {
                let grew = match &mut before[next] {
                    Some(known) => known.join(&late),
                    unknown => {
                        *unknown = Some(late.clone());
                        true
                    }
                };
                if grew {
                    waiting.insert(next);
                }
            }
        }
        let mut found = BTreeMap::new();
        for (block, late) in before.iter().enumerate() {
            let Some(late) = late else { continue };
            self.run(block, &mut late.clone(), |at, name, since, what| {
                found.entry((at, name)).or_insert((since, what));
            });
        }
        found.into_iter().map(|((at, name), (since, what))| self.finding(at, name, since, what)).collect()
    }

    fn finding(&self, at: usize, name: u16, since: usize, what: &str) -> Finding {
        let called = match name {
            CODES => "CC".to_owned(),
            PREDICATES.. => format!("P{}", name - PREDICATES),
            _ => Register(name as u8).to_string(),
        };
        let (before, after) = (self.code.text(since), self.code.text(at));
        let message = format!(
            "kernel `{}`: {called} is {what}: `{after}` at {:#06x} does not wait for `{before}` at {:#06x}",
            self.kernel.name,
            8 * at,
            8 * since
        );
        let slot = self.slot(since);
        let barrier = existing(if what.ends_with("written") { slot.write_barrier() } else { slot.read_barrier() });
        let help = match barrier {
            Some(barrier) => format!("wait for barrier {barrier}"),
            None => format!("`{before}` counts on no barrier"),
        };
        rules::HAZARD.finding(Location::Word(self.first + at), message).help(help)
    }
}
