//! What phases prefetch while they compute, so that other phases, which access it, do not wait.

use crate::kernel::LINE;
use crate::native::AccessEnd;
use std::ops::Range;

/// A site of a phase, where the last group's accesses at it ended, and what the next group will access and has not been prefetched.
#[derive(Debug)]
struct Site {
    phase: usize,
    is_store: bool,
    end: u64,
    left: Range<u64>,
}

#[derive(Default, Debug)]
pub(super) struct Prefetch {
    sites: Vec<Site>,
    /// Whether some may have lines left.
    is_waiting: bool,
    /// The sites whose lines the current phase prefetches: one that loads and one that stores.
    current: [Option<usize>; 2],
}

impl Prefetch {
    /// Adds the sites of a phase.
    pub(super) fn add(&mut self, phase: usize, ends: impl Iterator<Item = AccessEnd>) {
        self.sites.extend(ends.map(|AccessEnd { is_store, .. }| Site { phase, is_store, end: 0, left: 0..0 }));
    }
    /// What a phase is to prefetch: what is read next behind it, and what is written.
    pub(super) fn next(&mut self, phase: usize) -> [&Range<u64>; 2] {
        self.current = [None, None];
        if self.is_waiting {
            self.current = [false, true].map(|is_store| {
                let waits = |site: &Site| site.is_store == is_store && site.phase != phase && !site.left.is_empty();
                let waiting = (0..self.sites.len()).filter(|&at| waits(&self.sites[at]));
                waiting.min_by_key(|&at| (self.sites[at].phase < phase, self.sites[at].phase))
            });
            self.is_waiting = self.current != [None, None];
        }
        self.current.map(|at| at.map_or(&(0..0), |at| &self.sites[at].left))
    }
    /// Notes up to where a phase of so many lanes has prefetched, and where it has accessed memory: the next group goes on behind it by as
    /// much as this one did behind the last.
    pub(super) fn note(
        &mut self,
        phase: usize,
        prefetched: [u64; 2],
        ends: impl Iterator<Item = AccessEnd>,
        lanes: usize,
    ) {
        for (at, prefetched) in self.current.iter_mut().zip(prefetched) {
            if let Some(at) = at.take() {
                self.sites[at].left.start = prefetched;
            }
        }
        let mut ends = ends.peekable();
        if ends.peek().is_none() {
            return;
        }
        let sites = self.sites.iter_mut().filter(|site| site.phase == phase);
        for (site, AccessEnd { host, bytes, .. }) in sites.zip(ends) {
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
    fn sites() -> Prefetch {
        let mut prefetch = Prefetch::default();
        (0..2).for_each(|site| prefetch.add(2 * site, std::iter::once(ends([0, 0])[site])));
        prefetch
    }
    /// What three phases are to prefetch, each of which prefetches 512 bytes of it.
    fn group(prefetch: &mut Prefetch, at: [u64; 2]) -> [[Range<u64>; 2]; 3] {
        let ends = ends(at);
        std::array::from_fn(|phase| {
            let lines = prefetch.next(phase).map(Range::clone);
            let prefetched = [0, 1].map(|way| lines[way].start + if lines[way].is_empty() { 0 } else { 512 });
            prefetch.note(
                phase,
                prefetched,
                ends.into_iter().filter(|end| phase == 2 * usize::from(end.is_store)),
                LANES,
            );
            lines
        })
    }
    const NONE: Range<u64> = 0..0;

    #[test]
    fn the_next_group_continues_the_last_two() {
        let mut prefetch = sites();
        let (load, store) = (1 << 20, 1 << 30);
        assert_eq!(group(&mut prefetch, [load, store]), [[NONE, NONE], [NONE, NONE], [NONE, NONE]]);
        let (loads, stores) = (load + 4096, store + 8192);
        let lines = group(&mut prefetch, [load + 2048, store + 4096]);
        assert_eq!(lines, [[NONE, NONE], [load + 2048..loads, NONE], [load + 2560..loads, NONE]]);
        let lines = group(&mut prefetch, [loads, stores]);
        assert_eq!(lines[0], [NONE, store + 4096..stores]);
        assert_eq!(lines[1], [loads..loads + 2048, store + 4608..stores]);
        assert_eq!(lines[2], [loads + 512..loads + 2048, NONE]);
        // A worker's next groups lie elsewhere: nothing is prefetched until it is known where they go on.
        let lines = group(&mut prefetch, [2 * load, 2 * store]);
        assert_eq!(lines[1..], [[NONE, stores + 512..stores + 4096], [NONE, NONE]]);
        assert_eq!(group(&mut prefetch, [2 * load + 2048, 2 * store])[0], [NONE, NONE]);
        assert_eq!(prefetch.next(0), [&NONE, &NONE], "of the same addresses again nothing is left");
    }

    #[test]
    fn nothing_is_prefetched_twice() {
        let mut prefetch = sites();
        group(&mut prefetch, [1 << 20, 1 << 30]);
        group(&mut prefetch, [(1 << 20) + 2048, (1 << 30) + 4096]);
        let mut named = [0, 0];
        for _ in 0..10 {
            let lines = prefetch.next(1).map(Range::clone);
            (0..2).for_each(|way| named[way] += u32::from(!lines[way].is_empty()));
            prefetch.note(1, lines.map(|lines| lines.end.min(lines.start + 512)), std::iter::empty(), LANES);
        }
        // Phase 2 had prefetched a quarter of the loads.
        assert_eq!(named, [2, 8]);
    }
}
