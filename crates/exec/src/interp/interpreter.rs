//! One worker's state, used for one batch of thread blocks after another.

use super::mask::Mask;
use super::native_entries::NativeEntries;
use super::observe::Observers;
use super::races::RaceDetector;
use super::register::{Geometry, Lane, LaneShape, RegisterFiles};
use super::split::{ActiveLanes, Split};
use super::stats::Stats;
use super::trace::Tracer;
use crate::kernel::{DecodedKernel, Global, LANES, LaunchConfig};
use crate::native::CodeCache;
use roundonce_ir::{Operand, Reg, Width};
use std::collections::BTreeMap;

/// One worker's registers and memories.
pub(crate) struct Interpreter<'a> {
    pub(super) code: &'a DecodedKernel<'a>,
    pub(super) config: &'a LaunchConfig,
    /// The native code of all workers.
    pub(super) code_cache: &'a CodeCache,
    pub(super) global: Global<'a>,
    pub(super) files: RegisterFiles,
    pub(super) geometry: Geometry,
    pub(super) active: ActiveLanes,
    pub(super) live: Mask,
    /// The splits that are not running.
    pub(super) splits: Vec<Split>,
    /// The shared memory of each thread block of the batch, `shared_words` each.
    pub(super) shared: Vec<u32>,
    pub(super) shared_words: usize,
    /// Local memory: of each word the values of all lanes.
    pub(super) local: Vec<u32>,
    pub(super) local_words: usize,
    /// The batch's number, its first thread block in the grid, and how many there are.
    pub(super) batch: u64,
    pub(super) first_block: u64,
    pub(super) blocks: usize,
    /// Threads of a block.
    pub(super) threads: usize,
    /// Operands as 64 bits a lane, for operations without a loop of their own.
    pub(super) wide: Vec<Box<[u64; LANES]>>,
    /// Addresses of an access, one a row, and the index of each row's first word: kept so that no access allocates.
    pub(super) addresses: Vec<u64>,
    pub(super) starts: Vec<usize>,
    /// Whether the batch has written any register.
    pub(super) registers_dirty: bool,
    /// Registers live in splits that are not running, by their bit in the live sets: their lanes must be kept. `None`
    /// where any register may be live, or there are none.
    pub(super) inactive_live: Option<Vec<u64>>,
    /// Barrier arrivals without waiting, by block and barrier.
    pub(super) arrivals: BTreeMap<(usize, u32), u32>,
    pub(super) races: Option<RaceDetector>,
    pub(super) stats: Stats,
    /// Instructions issued for this batch.
    pub(super) issued: u64,
    /// Turns of the scheduler.
    pub(super) turns: u64,
    /// Turns in succession of splits that wait, without a change of memory.
    pub(super) idle_turns: usize,
    /// The batch has done more than wait since it was last taken up.
    pub(super) has_moved: bool,
    /// An atomic has changed memory since the last turn.
    pub(super) atomic_changed: bool,
    /// Bytes of the batches that are set aside.
    pub(super) parked_bytes: u64,
    pub(super) tracer: Tracer<'a>,
    /// What else is asked of the run.
    pub(super) observers: Option<Box<Observers>>,
    pub(super) native: NativeEntries,
    /// Loads whose lanes are still in memory.
    pub(super) folded: Vec<FoldedLoad>,
    /// The source location of the current instruction, for errors.
    pub(super) loc: u32,
}

/// A register whose lanes are still in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldedLoad {
    pub(super) reg: Reg,
    pub(super) segment: usize,
    /// The index of the first lane's word.
    pub(super) start: usize,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(
        code: &'a DecodedKernel<'a>,
        config: &'a LaunchConfig,
        code_cache: &'a CodeCache,
        global: Global<'a>,
    ) -> Interpreter<'a> {
        Interpreter {
            code,
            config,
            code_cache,
            global,
            files: RegisterFiles::default(),
            geometry: Geometry::default(),
            active: ActiveLanes::none(),
            live: Mask::default(),
            splits: Vec::new(),
            shared: Vec::new(),
            shared_words: (config.static_shared as usize + config.dynamic_shared as usize).div_ceil(8) * 2,
            local: Vec::new(),
            local_words: (code.kernel.local_bytes as usize).div_ceil(4) * LANES,
            batch: 0,
            first_block: 0,
            blocks: 0,
            threads: config.threads(),
            wide: (0..5).map(|_| Box::new([0; LANES])).collect(),
            addresses: Vec::new(),
            starts: Vec::new(),
            registers_dirty: false,
            inactive_live: None,
            arrivals: BTreeMap::new(),
            races: None,
            stats: Stats::default(),
            issued: 0,
            turns: 0,
            idle_turns: 0,
            has_moved: false,
            atomic_changed: false,
            parked_bytes: 0,
            tracer: Tracer::default(),
            observers: Observers::of(config.observed),
            native: NativeEntries::new(code, config, code_cache),
            folded: Vec::new(),
            loc: 0,
        }
    }

    /// Recomputes which registers the splits that are not running may still read.
    pub(super) fn update_inactive_live(&mut self) {
        let mut all = self.inactive_live.take().unwrap_or_default();
        all.clear();
        for split in &self.splits {
            // In the middle of a block any register may be live.
            let live = self.code.liveness.before(split.block).filter(|_| split.at == 0);
            let Some(live) = live else { return };
            all.resize(live.len(), 0);
            all.iter_mut().zip(live).for_each(|(all, live)| *all |= live);
        }
        self.inactive_live = Some(all).filter(|_| !self.splits.is_empty());
    }

    /// Whether the inactive lanes of a register are dead, so that they may be overwritten.
    #[inline]
    pub(super) fn inactive_lanes_are_dead(&self, reg: Reg) -> bool {
        if self.active.full || self.active.predicated {
            return self.active.full;
        }
        let Some(live) = &self.inactive_live else { return false };
        let bit = self.code.liveness.bit(reg);
        bit.is_none_or(|bit| live[bit / 64] >> (bit % 64) & 1 == 0)
    }

    /// The lanes of a thread block of the batch.
    pub(super) fn block_mask(&self, block: usize) -> Mask {
        Mask::range(block * self.threads, (block + 1) * self.threads)
    }

    pub(super) fn activate(&mut self, mask: Mask) {
        let full = mask == self.live;
        let (low, high) = if full { (0, self.geometry.lanes) } else { mask.extent() };
        let high = high.min(self.geometry.lanes);
        self.active = ActiveLanes { mask, full, predicated: false, low, high, count: mask.count() };
    }

    /// The lanes in which a predicate is true.
    pub(super) fn true_lanes(&mut self, pred: Operand) -> Mask {
        let file = u8::file_mut(&mut self.files);
        if let Some(value) = file.uniform(pred) {
            return if value != 0 { Mask::first(self.geometry.lanes) } else { Mask::default() };
        }
        file.materialise(pred, self.geometry);
        let Operand::Reg(reg) = pred else { return Mask::default() };
        match &file.registers[reg.0 as usize].column {
            Some(column) => Mask::of_bytes(&column.0).and(Mask::first(self.geometry.lanes)),
            None => Mask::default(),
        }
    }

    #[inline]
    pub(super) fn kill(&mut self, reg: Reg) {
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
        (LaunchConfig::axes(self.config.grid, block), LaunchConfig::axes(self.config.block, thread))
    }
    /// Whether another thread stopped the launch.
    pub(crate) fn is_stopped(&self) -> bool {
        self.config.stop.is_stopped()
    }
    /// The first active lane.
    pub(crate) fn first_active(&self) -> Option<usize> {
        self.active.mask.first_lane()
    }
    /// The source location of the current instruction.
    pub(crate) const fn loc(&self) -> u32 {
        self.loc
    }
    /// What all batches produced.
    pub(crate) fn into_stats(self) -> Stats {
        self.native.note(self.code_cache);
        Stats { observers: self.observers, ..self.stats }
    }

    /// Writes one value into the active lanes.
    #[inline]
    pub(super) fn set_uniform<T: Lane>(&mut self, d: Reg, value: T) {
        let (free, geometry, mask) = (self.inactive_lanes_are_dead(d), self.geometry, &self.active.mask);
        let file = T::file_mut(&mut self.files);
        if free
            || (file.registers[d.0 as usize].shape == LaneShape::Uniform && file.registers[d.0 as usize].value == value)
        {
            file.put_uniform(d, value);
            return;
        }
        let column = file.make_varying(d, geometry);
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
