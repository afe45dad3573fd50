//! The run of one group of blocks.
//!
//! All lanes start as one fragment. A branch that some take and some do not splits a fragment in two; the fragment at
//! the lowest rank runs first, so that others meet it where their paths join, and become one with it there. A barrier
//! holds a fragment until nothing else can run; then every block whose lanes have all arrived goes on.

use super::barrier::may_wait;
use super::code::{Code, Step};
use super::lanes::{Files, Geometry, LANES, Lane, Shape};
use super::lent::Lent;
use super::mask::Mask;
use super::native::Natives;
use super::races::Races;
use super::watch::Traced;
use super::{Fault, Outcome};
use crate::launch::{TraceLine, Trouble};
use crate::memory::Global;
use crate::native::Shelf;
use roundonce_ir::{Operand, Reg, Terminator, Width};
use std::collections::BTreeMap;

/// What a launch says to every group.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// The parameter block.
    pub(crate) params: Vec<u32>,
    pub(crate) param_bytes: u64,
    pub(crate) static_shared: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) step_limit: u64,
    pub(crate) check_races: bool,
    pub(crate) trace_lane: Option<u64>,
    pub(crate) only_block: Option<u64>,
    pub(crate) count_lines: bool,
    /// Native code may be used.
    pub(crate) native: bool,
    /// The native code that there is so far.
    pub(crate) shelf: Shelf,
    /// The address of each variable of the program.
    pub(crate) variables: Vec<u64>,
    /// The size of each parameter's buffer.
    pub(crate) buffer_bytes: Vec<u64>,
}

impl Setup {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> usize {
        self.block.iter().map(|&axis| axis as usize).product()
    }
    /// A number taken apart by axes.
    pub(crate) fn axes(size: [u32; 3], index: u64) -> [u32; 3] {
        let (x, y) = (size[0].max(1) as u64, size[1].max(1) as u64);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
}

/// What the groups of a worker leave behind.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    /// By name.
    pub(crate) approximations: BTreeMap<String, u64>,
    /// By group.
    pub(crate) printed: Vec<(u64, String)>,
    pub(crate) steps: u64,
    /// Of them, by native code.
    pub(crate) native_steps: u64,
    pub(crate) trace: Vec<TraceLine>,
    /// By place.
    pub(crate) places: BTreeMap<u32, u64>,
}

/// Lanes that are at the same instruction.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    pub(super) block: usize,
    pub(super) at: usize,
    pub(super) mask: Mask,
    pub(super) waits: Option<Wait>,
    /// When it last ran.
    pub(super) ran: u64,
    /// Native code gave these lanes up here: the interpreter takes them.
    pub(super) interpreted: Option<(usize, usize)>,
}

/// What a fragment waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wait {
    /// A barrier of its block, and how many threads it wants (all where absent).
    Barrier { id: u32, count: Option<u32> },
    /// Other lanes of its warp; how many lanes lived when it began to.
    Warp(usize),
}

/// The lanes an instruction acts on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) mask: Mask,
    /// All lanes that have not ended: what the others hold is of no interest.
    pub(super) full: bool,
    /// Fewer than the fragment's: a guard holds the others back.
    pub(super) guarded: bool,
    /// All lie within.
    pub(super) low: usize,
    pub(super) high: usize,
    pub(super) count: usize,
}

/// How an instruction went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Went {
    /// On to the next.
    On,
    /// On past the next, which is done too.
    Stored,
    /// These lanes ended.
    Ended,
    /// The fragment waits before this instruction.
    Waits(Wait),
}

/// One worker's registers and memories, used for one group after another.
pub(crate) struct Machine<'a> {
    pub(super) code: &'a Code<'a>,
    pub(super) setup: &'a Setup,
    pub(super) global: Global<'a>,
    pub(super) files: Files,
    pub(super) geometry: Geometry,
    pub(super) active: Active,
    pub(super) live: Mask,
    pub(super) fragments: Vec<Fragment>,
    /// By block of the group, `shared_words` each.
    pub(super) shared: Vec<u32>,
    pub(super) shared_words: usize,
    /// Word by word, each of all lanes.
    pub(super) local: Vec<u32>,
    /// The group's first block, and how many.
    pub(super) first_block: u64,
    pub(super) blocks: usize,
    pub(super) threads: usize,
    /// Operands as 64 bits a lane, for operations without a loop of their own.
    pub(super) wide: Vec<Box<[u64; LANES]>>,
    /// Addresses of an access, one a row, and where their words are: kept so that no access allocates.
    pub(super) addresses: Vec<u64>,
    pub(super) starts: Vec<usize>,
    /// Whether anything was written into the registers for this group.
    pub(super) written: bool,
    /// Registers that waiting fragments may still read, a bit each: their lanes must be kept.
    wanted: Vec<u64>,
    /// Barrier arrivals without waiting, by block and barrier.
    pub(super) arrivals: BTreeMap<(usize, u32), u32>,
    pub(super) races: Option<Races>,
    pub(super) tally: Tally,
    /// Instructions issued for this group.
    pub(super) issued: u64,
    turns: u64,
    pub(super) traced: Traced<'a>,
    pub(super) native: Natives,
    /// Registers whose lanes are still in memory.
    pub(super) lent: Vec<Lent>,
    /// The place of the instruction at work, for errors.
    pub(super) place: u32,
}

/// After so many turns the fragment that has waited longest runs, so that a lane that spins lets others go on.
const PATIENCE: u64 = 1024;

impl<'a> Machine<'a> {
    pub(crate) fn new(code: &'a Code<'a>, setup: &'a Setup, global: Global<'a>) -> Machine<'a> {
        let nobody = Active { mask: Mask::default(), full: true, guarded: false, low: 0, high: 0, count: 0 };
        Machine {
            code,
            setup,
            global,
            files: Files::default(),
            geometry: Geometry::default(),
            active: nobody,
            live: Mask::default(),
            fragments: Vec::new(),
            shared: Vec::new(),
            shared_words: (setup.static_shared as usize + setup.dynamic_shared as usize).div_ceil(8) * 2,
            local: vec![0; (code.kernel.local_bytes as usize).div_ceil(4) * LANES],
            first_block: 0,
            blocks: 0,
            threads: setup.threads(),
            wide: (0..5).map(|_| Box::new([0; LANES])).collect(),
            addresses: Vec::new(),
            starts: Vec::new(),
            written: false,
            wanted: Vec::new(),
            arrivals: BTreeMap::new(),
            races: None,
            tally: Tally::default(),
            issued: 0,
            turns: 0,
            traced: Traced::default(),
            native: Natives::new(code, setup),
            lent: Vec::new(),
            place: 0,
        }
    }

    /// Runs blocks `first..first + blocks` of the grid, as far as these lanes of theirs have not ended yet.
    pub(crate) fn run(&mut self, group: u64, first: u64, blocks: usize, lanes_left: Mask) -> Outcome {
        let row = self.setup.block[0] as usize;
        let lanes = blocks * self.threads;
        self.geometry = Geometry { lanes, row, rows: lanes / row };
        (self.first_block, self.blocks) = (first, blocks);
        // Registers that native code alone has used are as they were.
        if std::mem::take(&mut self.written) || self.files.is_empty() {
            self.files.reset(self.code.kernel.registers.len());
        }
        self.shared.clear();
        self.shared.resize(self.shared_words * blocks, 0);
        self.local.fill(0);
        self.arrivals.clear();
        self.issued = 0;
        self.races = self.setup.check_races.then(|| Races::new(lanes, blocks, self.shared_words * 4));
        self.live = lanes_left;
        let first_thread = first * self.threads as u64;
        let trace = self.setup.trace_lane.and_then(|lane| lane.checked_sub(first_thread));
        self.traced = Traced::of(trace.map(|lane| lane as usize).filter(|&lane| lane < lanes));
        self.tally.printed.push((group, String::new()));

        self.lent.clear();
        self.fragments.clear();
        self.fragments.push(Fragment { block: 0, at: 0, mask: self.live, waits: None, ran: 0, interpreted: None });
        while let Some(fragment) = self.pick()? {
            self.follow(fragment)?;
        }
        Ok(())
    }

    /// The next fragment to run, one with all others at the same place. None when all lanes have ended.
    fn pick(&mut self) -> Outcome<Option<Fragment>> {
        loop {
            if self.fragments.is_empty() {
                return Ok(None);
            }
            self.turns += 1;
            let rank = &self.code.flow.priority;
            let ready = self.fragments.iter().enumerate().filter(|(_, fragment)| fragment.waits.is_none());
            let chosen = if self.turns.is_multiple_of(PATIENCE) {
                ready.min_by_key(|(_, fragment)| fragment.ran)
            } else {
                ready.min_by_key(|(_, fragment)| (rank[fragment.block], fragment.at))
            };
            let Some((index, _)) = chosen else {
                self.release()?;
                continue;
            };
            let mut fragment = self.fragments.swap_remove(index);
            self.fragments.retain(|other| {
                let same = other.waits.is_none() && (other.block, other.at) == (fragment.block, fragment.at);
                if same {
                    fragment.mask = fragment.mask.or(other.mask);
                }
                !same
            });
            fragment.ran = self.turns;
            self.want();
            return Ok(Some(fragment));
        }
    }

    /// Notes what the waiting fragments may still read.
    pub(super) fn want(&mut self) {
        self.wanted.clear();
        for fragment in &self.fragments {
            if fragment.at > 0 {
                // In the middle of a block: anything may be.
                self.wanted.clear();
                self.wanted.resize(self.code.kernel.registers.len().div_ceil(64), u64::MAX);
                return;
            }
            let live = self.code.liveness.before(fragment.block);
            self.wanted.resize(live.len(), 0);
            for (all, live) in self.wanted.iter_mut().zip(live) {
                *all |= live;
            }
        }
    }

    /// Whether a register's other lanes may be overwritten: nobody reads them.
    #[inline]
    pub(super) fn is_free(&self, reg: Reg) -> bool {
        if self.active.full || self.active.guarded {
            return self.active.full;
        }
        self.wanted.get(reg.0 as usize / 64).is_some_and(|word| word >> (reg.0 % 64) & 1 == 0)
    }

    /// The lanes of a block of the group.
    pub(super) fn block_mask(&self, block: usize) -> Mask {
        Mask::range(block * self.threads, (block + 1) * self.threads)
    }

    pub(super) fn activate(&mut self, mask: Mask) {
        let full = mask == self.live;
        let (low, high) = if full { (0, self.geometry.lanes) } else { mask.extent() };
        let high = high.min(self.geometry.lanes);
        self.active = Active { mask, full, guarded: false, low, high, count: mask.count() };
    }

    /// Runs a fragment until it ends, splits, waits, or must let others go first.
    fn follow(&mut self, mut fragment: Fragment) -> Outcome {
        let code = self.code;
        self.activate(fragment.mask);
        'entries: loop {
            if self.may_enter(&fragment) && self.enter(&mut fragment) {
                if fragment.mask.is_empty() {
                    return Ok(());
                }
                continue;
            }
            self.written = true;
            let block = &code.blocks[fragment.block];
            while let Some(step) = block.steps.get(fragment.at) {
                self.place = step.place;
                self.issued += 1;
                match self.step(step, &mut fragment)? {
                    Went::On => {
                        fragment.at += 1;
                        if self.active.full && self.fragments.is_empty() {
                            for &reg in &step.deaths {
                                self.kill(reg);
                            }
                            if step.borders && self.native.enabled {
                                continue 'entries;
                            }
                        }
                    }
                    Went::Stored => {
                        let store = &block.steps[fragment.at + 1];
                        self.place = store.place;
                        self.issued += 1;
                        self.after(store);
                        fragment.at += 2;
                        for &reg in step.deaths.iter().chain(&store.deaths) {
                            self.kill(reg);
                        }
                    }
                    Went::Ended => {
                        self.live = self.live.without(self.active.mask);
                        fragment.mask = fragment.mask.without(self.active.mask);
                        if fragment.mask.is_empty() {
                            return Ok(());
                        }
                        self.activate(fragment.mask);
                        fragment.at += 1;
                    }
                    Went::Waits(wait) => {
                        if fragment.mask.is_empty() {
                            return Ok(());
                        }
                        if self.fragments.is_empty() && fragment.mask == self.live && self.passes_alone(wait, step) {
                            self.after(step);
                            fragment.at += 1;
                            continue 'entries;
                        }
                        fragment.waits = Some(wait);
                        self.fragments.push(fragment);
                        return Ok(());
                    }
                }
            }
            if block.place != 0 {
                self.place = block.place;
            }
            self.leave(block);
            self.issued += 1;
            if self.issued > self.setup.step_limit {
                let message = format!("the step limit of {} instructions is reached", self.setup.step_limit);
                return Err(Fault::new(Trouble::StepLimit, message));
            }
            fragment.at = 0;
            match block.terminator {
                Terminator::Jump(target) => fragment.block = *target,
                Terminator::Exit => {
                    self.live = self.live.without(fragment.mask);
                    return Ok(());
                }
                Terminator::Branch { pred, then, otherwise } => {
                    if let Some(value) = u8::file(&self.files).uniform(Operand::Reg(*pred)) {
                        fragment.block = if value != 0 { *then } else { *otherwise };
                    } else {
                        let taken = self.true_lanes(Operand::Reg(*pred)).and(fragment.mask);
                        self.split(&mut fragment, taken, *then, *otherwise);
                    }
                }
                Terminator::Switch { index, targets, otherwise } => {
                    if let Some(index) = u32::file(&self.files).uniform(*index) {
                        fragment.block = targets.get(index as usize).copied().unwrap_or(*otherwise);
                    } else {
                        self.switch(&mut fragment, *index, targets, *otherwise);
                    }
                }
            }
            if !self.fragments.is_empty() {
                self.fragments.push(fragment);
                return Ok(());
            }
            for &reg in &block.deaths {
                if self.active.full {
                    self.kill(reg);
                }
            }
        }
    }

    /// Some lanes go one way, some the other.
    fn split(&mut self, fragment: &mut Fragment, taken: Mask, then: usize, otherwise: usize) {
        let rest = fragment.mask.without(taken);
        fragment.block = then;
        if taken.is_empty() {
            fragment.block = otherwise;
        } else if !rest.is_empty() && then != otherwise {
            fragment.mask = taken;
            self.fragments.push(Fragment { block: otherwise, mask: rest, ..fragment.clone() });
        }
    }

    fn switch(&mut self, fragment: &mut Fragment, index: Operand, targets: &[usize], otherwise: usize) {
        let mut by_target: BTreeMap<usize, Mask> = BTreeMap::new();
        for lane in fragment.mask.lanes() {
            let index = u32::file(&self.files).lane(index, lane, self.geometry) as usize;
            let target = targets.get(index).copied().unwrap_or(otherwise);
            let mask = by_target.entry(target).or_default();
            *mask = mask.or(Mask::range(lane, lane + 1));
        }
        let mut parts = by_target.into_iter();
        if let Some((block, mask)) = parts.next() {
            (fragment.block, fragment.mask) = (block, mask);
        }
        for (block, mask) in parts {
            self.fragments.push(Fragment { block, mask, ..fragment.clone() });
        }
    }

    /// One instruction: its guard, its trace, its work.
    #[inline]
    fn step(&mut self, step: &Step<'a>, fragment: &mut Fragment) -> Outcome<Went> {
        let Some(guard) = step.guard else {
            return self.watched(step, fragment);
        };
        if let Some(value) = u8::file(&self.files).uniform(Operand::Reg(guard.pred)) {
            return if (value != 0) == guard.expected { self.watched(step, fragment) } else { Ok(Went::On) };
        }
        let holds = self.true_lanes(Operand::Reg(guard.pred));
        let whole = self.active;
        let mask = if guard.expected { whole.mask.and(holds) } else { whole.mask.without(holds) };
        if mask.is_empty() {
            return Ok(Went::On);
        }
        if mask == whole.mask {
            return self.watched(step, fragment);
        }
        self.activate(mask);
        if may_wait(step.op) {
            // Those without the instruction go on.
            let rest = Fragment { mask: whole.mask.without(mask), at: fragment.at + 1, ..fragment.clone() };
            self.fragments.push(rest);
            self.want();
            fragment.mask = mask;
            return self.watched(step, fragment);
        }
        self.active.guarded = true;
        let went = self.watched(step, fragment)?;
        if went == Went::On {
            self.active = whole;
        }
        Ok(went)
    }

    #[inline]
    fn watched(&mut self, step: &Step<'a>, fragment: &mut Fragment) -> Outcome<Went> {
        self.before(step);
        let went = self.execute(step, fragment)?;
        if !matches!(went, Went::Waits(_)) {
            self.after(step);
        }
        Ok(went)
    }

    /// The lanes in which a predicate is true.
    pub(super) fn true_lanes(&mut self, pred: Operand) -> Mask {
        let file = u8::file_mut(&mut self.files);
        if let Some(value) = file.uniform(pred) {
            return if value != 0 { Mask::first(self.geometry.lanes) } else { Mask::default() };
        }
        file.settle(pred, self.geometry);
        let Operand::Reg(reg) = pred else { return Mask::default() };
        match &file.cells[reg.0 as usize].column {
            Some(column) => Mask::of_bytes(&column.0).and(Mask::first(self.geometry.lanes)),
            None => Mask::default(),
        }
    }

    #[inline]
    fn kill(&mut self, reg: Reg) {
        match self.code.kernel.width(reg) {
            Width::Pred => self.files.preds.kill(reg),
            Width::B16 => self.files.b16.kill(reg),
            Width::B32 => self.files.b32.kill(reg),
            Width::B64 => self.files.b64.kill(reg),
        }
    }

    /// The block and the thread in it of a lane.
    pub(crate) fn thread_of(&self, lane: usize) -> ([u32; 3], [u32; 3]) {
        let block = self.first_block + (lane / self.threads) as u64;
        let thread = (lane % self.threads) as u64;
        (Setup::axes(self.setup.grid, block), Setup::axes(self.setup.block, thread))
    }
    /// The first lane at work.
    pub(crate) fn first_active(&self) -> Option<usize> {
        self.active.mask.first_lane()
    }
    /// The place of the instruction at work.
    pub(crate) const fn place(&self) -> u32 {
        self.place
    }
    /// What the groups have left so far.
    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }

    /// Writes one value into the active lanes.
    #[inline]
    pub(super) fn set_uniform<T: Lane>(&mut self, d: Reg, value: T) {
        let (free, geometry, mask) = (self.is_free(d), self.geometry, &self.active.mask);
        let file = T::file_mut(&mut self.files);
        if free || (file.cells[d.0 as usize].shape == Shape::Uniform && file.cells[d.0 as usize].value == value) {
            file.put_uniform(d, value);
            return;
        }
        let column = file.spread(d, geometry);
        for (lanes, word) in column.0.chunks_exact_mut(64).zip(mask.words()) {
            if word == u64::MAX {
                lanes.fill(value);
            } else if word != 0 {
                for (place, lane) in lanes.iter_mut().enumerate() {
                    *lane = if word >> place & 1 == 1 { value } else { *lane };
                }
            }
        }
    }
}
