//! Unordered accesses of a block's threads to shared memory.
//!
//! For each byte: who wrote it last and one who read it since, and how many barriers its block had passed then. Two
//! accesses of different threads with no barrier between them are a race unless both only read, or both are atomic.
//! Lanes of one warp that have met at a warp barrier or a shuffle since are ordered too.

use super::fault::{Fault, FaultKind, Outcome};

/// One access: the lane, the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    lane: u32,
    /// Barriers of the block, meetings of the lane's warp.
    time: (u32, u32),
    atomic: bool,
}

#[derive(Debug)]
pub(super) struct RaceDetector {
    bytes: usize,
    writes: Vec<Option<Access>>,
    /// The last reader, and another one if there were several.
    reads: Vec<[Option<Access>; 2]>,
    barriers: Vec<u32>,
    epochs: Vec<u32>,
}

impl RaceDetector {
    pub(super) fn new(lanes: usize, blocks: usize, bytes: usize) -> RaceDetector {
        RaceDetector {
            bytes,
            writes: vec![None; bytes * blocks],
            reads: vec![[None; 2]; bytes * blocks],
            barriers: vec![0; blocks],
            epochs: vec![0; lanes],
        }
    }
    pub(super) fn barrier(&mut self, block: usize) {
        self.barriers[block] += 1;
    }
    /// Lanes of a warp met.
    pub(super) fn sync_warp(&mut self, lanes: impl Iterator<Item = usize>) {
        for lane in lanes {
            self.epochs[lane] += 1;
        }
    }
    fn access(&self, block: usize, lane: usize, atomic: bool) -> Access {
        Access { lane: lane as u32, time: (self.barriers[block], self.epochs[lane]), atomic }
    }
    /// Whether two accesses may come in any order.
    fn unordered(&self, old: Access, new: Access) -> bool {
        let met = self.epochs[old.lane as usize] > old.time.1 && new.time.1 > 0 && old.lane / 32 == new.lane / 32;
        old.lane != new.lane && old.time.0 == new.time.0 && !met && !(old.atomic && new.atomic)
    }
    pub(super) fn read(&mut self, block: usize, lane: usize, address: u64, bytes: u32) -> Outcome {
        let new = self.access(block, lane, false);
        for byte in 0..bytes as usize {
            let at = block * self.bytes + address as usize + byte;
            if let Some(old) = self.writes[at]
                && self.unordered(old, new)
            {
                return Err(race(lane, address, "is read here and was written by", old));
            }
            let [last, other] = &mut self.reads[at];
            if last.is_some_and(|last| last.lane != new.lane) {
                *other = *last;
            }
            *last = Some(new);
        }
        Ok(())
    }
    pub(super) fn write(&mut self, block: usize, lane: usize, address: u64, bytes: u32, atomic: bool) -> Outcome {
        let new = self.access(block, lane, atomic);
        for byte in 0..bytes as usize {
            let at = block * self.bytes + address as usize + byte;
            if let Some(old) = self.writes[at]
                && self.unordered(old, new)
            {
                return Err(race(lane, address, "is written here and was written by", old));
            }
            for old in self.reads[at].into_iter().flatten() {
                if self.unordered(old, new) {
                    return Err(race(lane, address, "is written here and was read by", old));
                }
            }
            self.writes[at] = Some(new);
        }
        Ok(())
    }
}

#[cold]
fn race(lane: usize, address: u64, what: &str, old: Access) -> Box<Fault> {
    let other = old.lane;
    let message = format!("race: shared memory at {address:#x} {what} lane {other} of the group, no barrier between");
    Fault::at(FaultKind::Race, lane, message)
}
