//! Warp instructions: shuffles, votes, reductions.

use super::fault::Outcome;
use super::interpreter::Interpreter;
use super::mask::Mask;
use super::register::Lane;
use super::split::{BlockedOn, Split, StepOutcome};
use crate::scalar::{MinMax, int_op, min_max, shuffle_source};
use roundonce_arith::Format;
use roundonce_ir::{MatrixMultiply, Op, Operand, Reduction, Reg, ShuffleMode, VoteMode, Width};

/// A warp with active lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warp {
    /// The first lane's number in the batch.
    pub(super) start: usize,
    /// Lanes, fewer in a block's last warp.
    lanes: usize,
    /// The active ones.
    pub(super) here: u32,
}

impl Warp {
    /// The lanes of a mask, by their numbers in the warp.
    fn members(mask: u32) -> impl Iterator<Item = usize> {
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }
}

impl Interpreter<'_> {
    /// The warps with active lanes.
    pub(super) fn warps(&self) -> Vec<Warp> {
        let mut warps = Vec::new();
        for block in 0..self.blocks {
            for first in (0..self.threads).step_by(32) {
                let start = block * self.threads + first;
                let lanes = (self.threads - first).min(32);
                let here = self.active.mask.bits32(start, lanes);
                if here != 0 {
                    warps.push(Warp { start, lanes, here });
                }
            }
        }
        warps
    }

    /// The warps of a warp's group that execute an operation together: their live lanes and the active ones. Of a
    /// block too small for the group the last are empty.
    pub(super) fn warpgroup(&self, op: &MatrixMultiply, warp: &Warp) -> impl Iterator<Item = (u32, u32)> {
        let threads = 32 * op.warps;
        let (block, thread) = (warp.start / self.threads, warp.start % self.threads);
        let first = thread / threads * threads;
        (first..first + threads).step_by(32).map(move |first| {
            let (start, lanes) = (block * self.threads + first, self.threads.saturating_sub(first).min(32));
            match lanes {
                0 => (0, 0),
                _ => (self.live.bits32(start, lanes), self.active.mask.bits32(start, lanes)),
            }
        })
    }

    /// Reconverges the lanes that the instruction's mask names: a warp waits until all its live ones have arrived. Whether
    /// any lanes stay active.
    fn sync_warps(&mut self, op: &Op, mask: Option<Operand>, split: &mut Split) -> bool {
        let Some(mask) = mask else { return true };
        self.gather(split);
        self.widen_operand(4, mask, Width::B32);
        let mut waiting = Mask::default();
        for warp in self.warps() {
            let live = self.live.bits32(warp.start, warp.lanes);
            let late =
                Warp::members(warp.here).any(|lane| self.wide[4][warp.start + lane] as u32 & live & !warp.here != 0);
            let late = late
                || matches!(op, Op::MultiplyMatrices { multiply, .. }
                    if self.warpgroup(multiply, &warp).any(|(live, here)| live & !here != 0));
            if late {
                waiting.set_bits32(warp.start, warp.here);
            }
        }
        let stay = self.leave_waiting(split, waiting);
        if stay && let Some(races) = &mut self.races {
            races.sync_warp(self.active.mask.lanes());
        }
        stay
    }

    pub(super) fn warp(&mut self, op: &Op, split: &mut Split) -> Outcome<StepOutcome> {
        let mask = match op {
            Op::WarpBarrier { mask } | Op::Match { mask, .. } | Op::Elect { mask, .. } | Op::Reduce { mask, .. } => {
                Some(*mask)
            }
            Op::Shuffle { mask, .. } | Op::Vote { mask, .. } => *mask,
            Op::MultiplyMatrices { .. } => Some(Operand::Imm(u32::MAX.into())),
            _ => None,
        };
        if !self.sync_warps(op, mask, split) {
            return Ok(StepOutcome::Blocked(BlockedOn::Warp(self.live.count())));
        }
        match op {
            Op::Shuffle { d, p, mode, a, b, c, .. } => self.shuffle(*d, *p, *mode, [*a, *b, *c]),
            Op::Vote { d, mode, a, mask } => self.vote(*d, *mode, *a, mask.is_some()),
            Op::Match { d, p, all, width, a, .. } => self.matching(*d, *p, *all, *width, *a),
            Op::ActiveMask { d } => {
                let results = self.by_warp(|_, warp, _| warp.here as u64);
                self.write_wide::<u32>(*d, results);
            }
            Op::Elect { d, p, .. } => {
                let leader = self.by_warp(|interp, warp, lane| named(interp, warp, lane).trailing_zeros().into());
                let chosen = self
                    .by_warp(|interp, warp, lane| (named(interp, warp, lane).trailing_zeros() as usize == lane) as u64);
                self.write_wide::<u8>(*p, chosen);
                if let Some(d) = d {
                    self.write_wide::<u32>(*d, leader);
                }
            }
            Op::Reduce { d, reduction, a, .. } => self.reduce(*d, *reduction, *a),
            Op::MultiplyMatrices { multiply, d, a, b, c, scales } => {
                self.multiply_matrices(multiply, d, [a, b, c], scales.as_ref())?;
            }
            _ => {}
        }
        Ok(StepOutcome::Next)
    }

    /// A result for each active lane, from its warp and its number in it.
    fn by_warp<T>(&self, f: impl Fn(&Self, Warp, usize) -> T) -> Vec<(usize, T)> {
        let mut results = Vec::new();
        for warp in self.warps() {
            for lane in Warp::members(warp.here) {
                results.push((warp.start + lane, f(self, warp, lane)));
            }
        }
        results
    }

    pub(super) fn write_wide<T: Lane>(&mut self, d: Reg, results: Vec<(usize, u64)>) {
        let mut out = T::file_mut(&mut self.files).acquire();
        for (lane, bits) in results {
            out.0[lane] = T::of(bits);
        }
        self.set_column::<T>(d, out);
    }

    fn shuffle(&mut self, d: Reg, p: Option<Reg>, mode: ShuffleMode, [a, b, c]: [Operand; 3]) {
        for (at, operand) in [a, b, c].into_iter().enumerate() {
            self.widen_operand(at, operand, Width::B32);
        }
        let source = |interp: &Self, warp: Warp, lane: usize| {
            let at = warp.start + lane;
            let (from, in_range) = shuffle_source(mode, lane, interp.wide[1][at] as u32, interp.wide[2][at] as u32);
            // The value of an inactive lane is undefined: the lane's own stands for it.
            let from = if warp.here >> from & 1 == 1 { from } else { lane };
            (warp.start + from, in_range)
        };
        let sources: Vec<(usize, (usize, bool))> = self.by_warp(source);
        let values = sources.iter().map(|&(lane, (from, _))| (lane, self.wide[0][from])).collect();
        if let Some(mut observers) = self.observers.take() {
            let from: Vec<(usize, usize)> = sources.iter().map(|&(lane, (from, _))| (lane, from)).collect();
            observers.shadow.iter_mut().for_each(|shadow| shadow.shuffle(self, d, a, &from));
            self.observers = Some(observers);
        }
        self.write_wide::<u32>(d, values);
        if let Some(p) = p {
            let in_range = |&(lane, (_, in_range)): &(usize, (usize, bool))| (lane, u64::from(in_range));
            self.write_wide::<u8>(p, sources.iter().map(in_range).collect());
        }
    }

    fn vote(&mut self, d: Reg, mode: VoteMode, a: Operand, has_mask: bool) {
        let truths = self.true_lanes(a);
        let results = self.by_warp(|interp, warp, lane| {
            let voters = if has_mask { named(interp, warp, lane) } else { warp.here };
            let yes = truths.bits32(warp.start, warp.lanes) & voters;
            match mode {
                VoteMode::All => (yes == voters) as u64,
                VoteMode::Any => (yes != 0) as u64,
                VoteMode::Uniform => (yes == 0 || yes == voters) as u64,
                VoteMode::Ballot => yes as u64,
            }
        });
        if mode == VoteMode::Ballot { self.write_wide::<u32>(d, results) } else { self.write_wide::<u8>(d, results) }
    }

    fn matching(&mut self, d: Reg, p: Option<Reg>, all: bool, width: Width, a: Operand) {
        self.widen_operand(0, a, width);
        let results = self.by_warp(|interp, warp, lane| {
            let voters = named(interp, warp, lane);
            let value = interp.wide[0][warp.start + lane];
            let same = Warp::members(voters).filter(|&other| interp.wide[0][warp.start + other] == value);
            let same = same.fold(0u32, |mask, other| mask | 1 << other);
            (if all && same != voters { 0 } else { same }) as u64
        });
        if let Some(p) = p {
            let truths = results.iter().map(|&(lane, mask)| (lane, (mask != 0) as u64)).collect();
            self.write_wide::<u8>(p, truths);
        }
        self.write_wide::<u32>(d, results);
    }

    fn reduce(&mut self, d: Reg, reduction: Reduction, a: Operand) {
        self.widen_operand(0, a, Width::B32);
        let profile = self.code.profile;
        let results = self.by_warp(|interp, warp, lane| {
            let values = Warp::members(named(interp, warp, lane)).map(|other| interp.wide[0][warp.start + other]);
            let combined = match reduction {
                Reduction::Int(op) => values.reduce(|x, y| int_op(op, 32, [x, y, 0, 0])),
                Reduction::Float { max, abs, nan } => {
                    let strip = |x: u64| if abs { x & Format::F32.magnitude_mask() } else { x };
                    let op = MinMax { format: Format::F32, max, flush: false, nan, xorsign_abs: false };
                    let combined = values.map(strip).reduce(|x, y| min_max(&profile, op, [x, y]));
                    // A single NaN becomes the canonical one too.
                    combined.map(|x| min_max(&profile, op, [x, x]))
                }
            };
            combined.unwrap_or(0)
        });
        self.write_wide::<u32>(d, results);
    }
}

/// The active lanes that a lane's mask names.
fn named(interp: &Interpreter<'_>, warp: Warp, lane: usize) -> u32 {
    interp.wide[4][warp.start + lane] as u32 & warp.here
}
