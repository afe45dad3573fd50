//! Batches that wait for others: what a worker keeps of them while it runs the others.

use super::interpreter::{FoldedLoad, Interpreter};
use super::mask::Mask;
use super::observe::ShadowBatch;
use super::races::RaceDetector;
use super::register::{Geometry, RegisterFiles};
use super::split::Split;
use super::trace::Tracer;
use std::collections::BTreeMap;

/// How far a batch got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// All its lanes have exited.
    Ended,
    /// Every lane that has not waits.
    Waits {
        /// Without a write to memory none of them ever goes on.
        is_endless: bool,
        /// It has done something since it was last run.
        has_moved: bool,
    },
}

/// A batch that waits: everything that is not the same for all.
#[derive(Debug)]
pub(crate) struct Parked<'a> {
    pub(crate) batch: u64,
    first_block: u64,
    blocks: usize,
    geometry: Geometry,
    files: RegisterFiles,
    registers_dirty: bool,
    live: Mask,
    splits: Vec<Split>,
    shared: Vec<u32>,
    local: Vec<u32>,
    arrivals: BTreeMap<(usize, u32), u32>,
    races: Option<RaceDetector>,
    tracer: Tracer<'a>,
    folded: Vec<FoldedLoad>,
    shadow: Option<ShadowBatch>,
    issued: u64,
    loc: u32,
}

impl Parked<'_> {
    fn bytes(&self) -> u64 {
        self.files.bytes() + 4 * (self.shared.len() + self.local.len()) as u64
    }
}

impl<'a> Interpreter<'a> {
    /// Sets the batch aside.
    pub(crate) fn park(&mut self) -> Parked<'a> {
        let shadow = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut());
        let parked = Parked {
            batch: self.batch,
            first_block: self.first_block,
            blocks: self.blocks,
            geometry: self.geometry,
            files: std::mem::take(&mut self.files),
            registers_dirty: self.registers_dirty,
            live: self.live,
            splits: std::mem::take(&mut self.splits),
            shared: std::mem::take(&mut self.shared),
            local: std::mem::take(&mut self.local),
            arrivals: std::mem::take(&mut self.arrivals),
            races: self.races.take(),
            tracer: std::mem::take(&mut self.tracer),
            folded: std::mem::take(&mut self.folded),
            shadow: shadow.map(|shadow| shadow.set_aside()),
            issued: self.issued,
            loc: self.loc,
        };
        self.parked_bytes += parked.bytes();
        parked
    }

    /// Takes a batch up again, in the place of one that has ended or was set aside.
    pub(crate) fn take_up(&mut self, parked: Parked<'a>) {
        self.parked_bytes -= parked.bytes();
        let shadow = self.observers.as_mut().and_then(|observers| observers.shadow.as_mut());
        if let (Some(shadow), Some(batch)) = (shadow, parked.shadow) {
            shadow.take_up(batch);
        }
        self.batch = parked.batch;
        self.first_block = parked.first_block;
        self.blocks = parked.blocks;
        self.geometry = parked.geometry;
        self.files = parked.files;
        self.registers_dirty = parked.registers_dirty;
        self.live = parked.live;
        self.splits = parked.splits;
        self.shared = parked.shared;
        self.local = parked.local;
        self.arrivals = parked.arrivals;
        self.races = parked.races;
        self.tracer = parked.tracer;
        self.folded = parked.folded;
        self.issued = parked.issued;
        self.loc = parked.loc;
    }
}
