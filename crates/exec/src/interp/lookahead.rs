//! The lines of memory that phases ask for while they compute, so that other phases, which access them, do not wait.

use crate::native::{AccessEnd, BYTES_AHEAD, LINE};
use std::ops::Range;

/// What the next group will access at a site of a phase, as far as it has not been asked for, by where the last two groups did.
#[derive(Debug)]
struct Ahead {
    phase: usize,
    is_store: bool,
    end: u64,
    left: Range<u64>,
}

#[derive(Default, Debug)]
pub(super) struct Lookahead {
    sites: Vec<Ahead>,
    /// Whether some may have lines left.
    is_waiting: bool,
}

impl Lookahead {
    /// Adds the sites of a phase.
    pub(super) fn add(&mut self, phase: usize, ends: impl Iterator<Item = AccessEnd>) {
        self.sites.extend(ends.map(|AccessEnd { is_store, .. }| Ahead { phase, is_store, end: 0, left: 0..0 }));
    }
    /// From where on so many tiles of a phase ask for what is read next behind it, and for what is written; 0 for nothing.
    pub(super) fn ask(&mut self, phase: usize, tiles: usize) -> [u64; 2] {
        if !self.is_waiting {
            return [0, 0];
        }
        let named = [false, true].map(|is_store| {
            let others = self.sites.iter_mut().filter(|site| site.is_store == is_store && site.phase != phase);
            let next =
                others.filter(|site| !site.left.is_empty()).min_by_key(|site| (site.phase < phase, site.phase))?;
            let from = next.left.start;
            next.left.start = from.saturating_add(BYTES_AHEAD * tiles as u64);
            Some(from)
        });
        self.is_waiting = named != [None, None];
        named.map(Option::unwrap_or_default)
    }
    /// Notes where a phase of so many lanes has accessed memory.
    pub(super) fn note(&mut self, phase: usize, mut ends: impl Iterator<Item = AccessEnd>, lanes: usize) {
        let Some(first) = ends.next() else { return };
        let sites = self.sites.iter_mut().filter(|site| site.phase == phase);
        for (site, AccessEnd { host, bytes, .. }) in sites.zip(std::iter::once(first).chain(ends)) {
            let step = host.wrapping_sub(std::mem::replace(&mut site.end, host));
            // What lanes share is soon in a cache; groups that are further apart, or in another order, leave out more than they access.
            let is_next = (LINE..=2 * bytes * lanes as u64).contains(&step);
            site.left = host..if is_next { host.saturating_add(step) } else { host };
            self.is_waiting |= !site.left.is_empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANES: usize = 512;

    /// Phase 0 loads 4 bytes a lane, phase 2 stores 8.
    fn ends([load, store]: [u64; 2]) -> [AccessEnd; 2] {
        [AccessEnd { host: load, is_store: false, bytes: 4 }, AccessEnd { host: store, is_store: true, bytes: 8 }]
    }
    /// What three phases of so many tiles ask for.
    fn group(ahead: &mut Lookahead, tiles: usize, at: [u64; 2]) -> [[u64; 2]; 3] {
        let ends = ends(at);
        std::array::from_fn(|phase| {
            let asked = ahead.ask(phase, tiles);
            ahead.note(phase, ends.into_iter().filter(|end| phase == 2 * usize::from(end.is_store)), LANES);
            asked
        })
    }

    #[test]
    fn the_next_group_continues_the_last_two() {
        let mut ahead = Lookahead::default();
        (0..2).for_each(|site| ahead.add(2 * site, std::iter::once(ends([0, 0])[site])));
        let (load, store) = (1 << 20, 1 << 30);
        // Two tiles ask for a quarter of what a group loads, and for an eighth of what it stores.
        assert_eq!(BYTES_AHEAD * 2, 512);
        assert_eq!(group(&mut ahead, 2, [load, store]), [[0; 2]; 3]);
        let asked = group(&mut ahead, 2, [load + 2048, store + 4096]);
        assert_eq!(asked, [[0, 0], [load + 2048, 0], [load + 2048 + 512, 0]]);
        let asked = group(&mut ahead, 2, [load + 4096, store + 8192]);
        assert_eq!(asked, [[0, store + 4096], [load + 4096, store + 4096 + 512], [load + 4096 + 512, 0]]);
        // A worker's next groups lie elsewhere: nothing is asked for until it is known where they go on.
        let asked = group(&mut ahead, 2, [2 * load, 2 * store]);
        assert_eq!(asked, [[0, store + 8192], [0, store + 8192 + 512], [0, 0]]);
        assert_eq!(group(&mut ahead, 2, [2 * load + 2048, 2 * store])[0], [0, 0]);
        assert_eq!(ahead.ask(0, 2), [0, 0], "of the same addresses again nothing is left");
    }

    #[test]
    fn what_is_asked_for_is_not_again() {
        let mut ahead = Lookahead::default();
        (0..2).for_each(|site| ahead.add(2 * site, std::iter::once(ends([0, 0])[site])));
        group(&mut ahead, 2, [1 << 20, 1 << 30]);
        group(&mut ahead, 2, [(1 << 20) + 2048, (1 << 30) + 4096]);
        let asked: Vec<[u64; 2]> = (0..10).map(|_| ahead.ask(1, 2)).collect();
        let count = |way: usize| asked.iter().filter(|asked| asked[way] != 0).count();
        // One run of two tiles had asked for part of the loads.
        assert_eq!((count(0), count(1)), (2, 8), "{asked:?}");
    }
}
