//! Unordered accesses of a block's threads to shared memory.
//!
//! For each byte one or two writers and one or two readers since are kept with their epochs: how many barriers the block
//! had passed. Two accesses of different threads in the same epoch are a race unless both only read, both are atomic, or the
//! later one writes what is there. A warp barrier or a shuffle orders the lanes of a warp: each lane has an epoch for these too.

use super::fault::{Fault, FaultKind, Outcome};

/// One access: the lane and its epochs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    lane: u32,
    /// Barriers of the block, synchronisations of the lane's warp.
    epoch: (u32, u32),
    atomicity: Atomicity,
}

/// Whether an access is atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Atomicity {
    Plain,
    Atomic,
}

#[derive(Debug)]
pub(super) struct RaceDetector {
    bytes: usize,
    /// The last writer, and another one if several wrote the same.
    writes: Vec<[Option<Access>; 2]>,
    /// The last reader, and another one if there were several.
    reads: Vec<[Option<Access>; 2]>,
    barriers: Vec<u32>,
    epochs: Vec<u32>,
}

impl RaceDetector {
    pub(super) fn new(lanes: usize, blocks: usize, bytes: usize) -> RaceDetector {
        RaceDetector {
            bytes,
            writes: vec![[None; 2]; bytes * blocks],
            reads: vec![[None; 2]; bytes * blocks],
            barriers: vec![0; blocks],
            epochs: vec![0; lanes],
        }
    }
    pub(super) fn barrier(&mut self, block: usize) {
        self.barriers[block] += 1;
    }
    /// Lanes of a warp synchronised.
    pub(super) fn sync_warp(&mut self, lanes: impl Iterator<Item = usize>) {
        for lane in lanes {
            self.epochs[lane] += 1;
        }
    }
    fn access(&self, block: usize, lane: usize, atomicity: Atomicity) -> Access {
        Access { lane: lane as u32, epoch: (self.barriers[block], self.epochs[lane]), atomicity }
    }
    /// Whether no synchronisation orders two accesses.
    fn unordered(&self, old: Access, new: Access) -> bool {
        let synced = self.epochs[old.lane as usize] > old.epoch.1 && new.epoch.1 > 0 && old.lane / 32 == new.lane / 32;
        old.lane != new.lane
            && old.epoch.0 == new.epoch.0
            && !synced
            && [old, new].iter().any(|access| access.atomicity == Atomicity::Plain)
    }
    pub(super) fn read(&mut self, block: usize, lane: usize, address: u64, bytes: u32) -> Outcome {
        let new = self.access(block, lane, Atomicity::Plain);
        for byte in 0..bytes as usize {
            let at = block * self.bytes + address as usize + byte;
            if let Some(old) = self.writes[at].into_iter().flatten().find(|&old| self.unordered(old, new)) {
                return Err(race(lane, address, "is read here and was written by", old));
            }
            remember(&mut self.reads[at], new);
        }
        Ok(())
    }
    /// `changed`: the bits that the write changes.
    pub(super) fn write(
        &mut self,
        block: usize,
        lane: usize,
        (address, bytes): (u64, u32),
        changed: u64,
        atomicity: Atomicity,
    ) -> Outcome {
        let new = self.access(block, lane, atomicity);
        for byte in 0..bytes as usize {
            let at = block * self.bytes + address as usize + byte;
            let same = changed.to_le_bytes()[byte] == 0;
            let before = self.writes[at].into_iter().flatten().find(|&old| self.unordered(old, new));
            match before {
                Some(old) if !same => return Err(race(lane, address, "is written here and was written by", old)),
                Some(_) => {}
                None => self.writes[at] = [None; 2],
            }
            for old in self.reads[at].into_iter().flatten() {
                if self.unordered(old, new) {
                    return Err(race(lane, address, "is written here and was read by", old));
                }
            }
            remember(&mut self.writes[at], new);
        }
        Ok(())
    }
}

/// Makes an access the last one, and keeps one of another lane.
fn remember([last, other]: &mut [Option<Access>; 2], new: Access) {
    if last.is_some_and(|last| last.lane != new.lane) {
        *other = *last;
    }
    *last = Some(new);
}

#[cold]
fn race(lane: usize, address: u64, what: &str, old: Access) -> Box<Fault> {
    let other = old.lane;
    let message = format!("race: shared memory at {address:#x} {what} lane {other} of the group, no barrier between");
    Fault::at(FaultKind::Race, lane, message)
}
