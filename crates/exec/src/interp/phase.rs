//! What is known of the way that batches go from barrier to barrier: the data of [`phases`](super::phases).

use super::prefetch::Prefetch;
use super::register::AnyColumn;
use super::tile_numbers::Retiling;
use crate::native::{CodeInstance, CompiledRegion, ProgramPoint};
use roundonce_ir::Reg;
use std::sync::Arc;

/// The most phases of a block.
const MAX_PHASES: usize = 256;
/// If so many batches have not gone one way, no more are looked at.
const MAX_BATCHES: u32 = 8;

/// Native code that all lanes of a batch entered at one point and left by one exit.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) start: ProgramPoint,
    pub(super) code: Arc<CompiledRegion>,
    pub(super) exit: usize,
    /// How many barriers they passed behind it, and how many of those count as instructions.
    pub(super) barriers: u64,
    pub(super) counted: u64,
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        let key = |step: &Step| (step.start, step.exit, step.barriers, step.counted);
        Arc::ptr_eq(&self.code, &other.code) && key(self) == key(other)
    }
}

/// The way of a batch, as long as it is in native code alone.
#[derive(Debug, Default)]
pub(super) struct Recording {
    steps: Vec<Step>,
    /// That of the batch before.
    last: Vec<Step>,
    is_stopped: bool,
    /// How many batches have entered native code, and whether this one has.
    batches: u32,
    has_entered: bool,
    is_off: bool,
}

impl Recording {
    /// A batch begins.
    pub(super) fn start(&mut self) {
        self.steps.clear();
        self.batches += u32::from(std::mem::take(&mut self.has_entered));
        self.is_off |= self.batches > MAX_BATCHES;
        self.is_stopped = self.is_off;
    }
    /// Whether batches may yet be found to go the same way.
    pub(super) const fn is_on(&self) -> bool {
        !self.is_off
    }
    /// Something else ran.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }
    /// Native code has run.
    pub(super) fn entered(&mut self) {
        self.has_entered = true;
    }
    /// All lanes ran code from a point to an exit.
    pub(super) fn left(&mut self, start: ProgramPoint, code: &Arc<CompiledRegion>, exit: usize) {
        self.is_stopped |= self.steps.len() == MAX_PHASES;
        if !self.is_stopped {
            self.steps.push(Step { start, code: code.clone(), exit, barriers: 0, counted: 0 });
        }
    }
    /// All lanes passed a barrier.
    pub(super) fn passed_barrier(&mut self, is_counted: bool) {
        if let Some(step) = self.steps.last_mut() {
            step.barriers += 1;
            step.counted += u64::from(is_counted);
        }
    }
    /// The way of the batch that has ended, if that before went it as well and it has a barrier.
    pub(super) fn repeated(&mut self) -> Option<&[Step]> {
        let is_whole = !self.is_stopped && self.steps.len() > 1;
        std::mem::swap(&mut self.steps, &mut self.last);
        let is_repeated = is_whole && self.steps == self.last;
        self.is_off |= is_repeated;
        is_repeated.then_some(&self.last)
    }
}

/// How a phase takes a register from an earlier one, other than as a column as it is.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) phase: usize,
    pub(super) way: Way,
}

#[derive(Debug)]
pub(super) enum Way {
    /// A number of a word of that phase's records for one of this phase's; that one may have tiles of another size.
    Number { from: usize, to: usize, retiling: Option<Retiling> },
    /// A column of that phase, by its place among these, has one of this phase's patterns.
    Found { column: usize, to: usize, pattern: usize },
    /// A number, with one of that phase's patterns, for a column of this phase's own, by its place among them.
    Spread { from: usize, pattern: usize, column: usize },
}

#[derive(Debug)]
pub(super) struct Phase {
    pub(super) step: Step,
    /// Its columns are set in its frame.
    pub(super) instance: CodeInstance,
    pub(super) columns: Vec<(Reg, AnyColumn)>,
    pub(super) passed: Vec<Passed>,
    /// Columns that it takes numbers in.
    pub(super) spread: Vec<AnyColumn>,
}

impl Phase {
    /// Takes the registers of so many lanes from earlier phases; whether all are as this phase's code expects them.
    pub(super) fn take_registers(&mut self, before: &[Phase], lanes: usize, [old, new]: &mut [Vec<u64>; 2]) -> bool {
        let Phase { step, instance, passed, spread, .. } = self;
        let of_tile = step.code.lanes;
        let count = lanes / of_tile;
        passed.iter().all(|Passed { phase, way }| {
            let source = &before[*phase];
            let code = &source.step.code;
            let tiles = lanes / code.lanes;
            match way {
                &Way::Number { from, to, retiling: None } => {
                    instance
                        .words_mut(to)
                        .zip(source.instance.words(from))
                        .take(count)
                        .for_each(|(to, from)| *to = from);
                    true
                }
                Way::Number { from, to, retiling: Some(retiling) } => {
                    old.clear();
                    old.extend(source.instance.words(*from).take(tiles));
                    new.clear();
                    retiling.extend(new, old);
                    instance.words_mut(*to).zip(new.iter()).for_each(|(to, &number)| *to = number);
                    retiling.fits(old)
                }
                &Way::Found { column, to, pattern } => {
                    instance.words_mut(to).take(count).enumerate().all(|(tile, word)| {
                        let number = source.columns[column].1.number(tile * of_tile, step.code.pattern(pattern));
                        *word = number.unwrap_or_default();
                        number.is_some()
                    })
                }
                &Way::Spread { from, pattern, column } => {
                    let (column, pattern) = (&mut spread[column], code.pattern(pattern));
                    let words = source.instance.words(from).take(tiles).enumerate();
                    words.for_each(|(tile, word)| column.spread(tile * code.lanes, pattern, word));
                    true
                }
            }
        })
    }
}

/// What runs instead of batches.
#[derive(Default, Debug)]
pub(super) struct Phases {
    pub(super) all: Vec<Phase>,
    /// Columns of registers that hold one number.
    pub(super) uniform: Vec<AnyColumn>,
    pub(super) prefetch: Prefetch,
    /// Kept so that no change of tiles allocates.
    pub(super) numbers: [Vec<u64>; 2],
    pub(super) groups: u64,
    pub(super) deviations: u64,
}

/// Where a group went another way: in which phase, how many tiles of it were done if it has run, and how many
/// instructions had been issued before.
pub(super) struct Deviation {
    pub(super) phase: usize,
    pub(super) issued: u64,
    pub(super) done: Option<usize>,
}
