//! How a worker's instance of a compiled region runs the tiles of a group.

use super::call::{FrameChunk, put};
use super::compile::CompiledRegion;
use super::emit::DeoptReason;
use super::frame::{Access, AccessSite, header, record};
use crate::kernel::LaunchConfig;
use std::ops::Range;
use std::sync::Arc;

const PREFETCH: [i64; 2] = [header::NEXT_READ, header::NEXT_WRITTEN];

/// A segment of the program's memory as this worker has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentView {
    /// The program's address.
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) writable: bool,
    /// The host's address.
    pub(crate) host: u64,
}

/// Where a tile's accesses at a site ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessEnd {
    /// The host's address behind the last byte.
    pub(crate) host: u64,
    pub(crate) is_store: bool,
    /// How many bytes a lane accesses.
    pub(crate) bytes: u64,
}

/// Compiled code with one worker's frame and tile records.
#[derive(Clone, Debug)]
pub(crate) struct CodeInstance {
    pub(crate) code: Arc<CompiledRegion>,
    /// Of each of its patterns the number among its worker's.
    pub(crate) patterns: Vec<usize>,
    frame: Vec<FrameChunk>,
    /// The segment in each access site's inline cache, once it is filled.
    cached: Vec<Option<usize>>,
    /// The tiles' records.
    records: Vec<u64>,
    /// Tiles that diverged behind what they had committed, since it was last asked.
    diverged_late: u32,
    /// Of a whole kernel: the block whose tiles come first.
    first_block: u64,
}

/// The outcome of a run over tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TileOutcome {
    /// All tiles are done.
    Completed,
    /// This tile took a side exit; those before it are done.
    SideExit(usize),
    /// The same, because its lanes diverge.
    Diverged(usize),
    /// The same, because stores may conflict with other lanes' accesses: the code must not be used again.
    Conflict(usize),
}

impl TileOutcome {
    /// One past the last tile that is done, of those up to one.
    pub(crate) const fn done(self, end: usize) -> usize {
        match self {
            TileOutcome::Completed => end,
            TileOutcome::SideExit(tile) | TileOutcome::Diverged(tile) | TileOutcome::Conflict(tile) => tile,
        }
    }
}

/// What tiles have counted.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TileCounts {
    /// The least that is left of a tile's budget; not counted for a whole kernel.
    pub(crate) budget_left: Option<i64>,
    /// Instructions completed by every lane.
    pub(crate) steps: u64,
    /// Instructions completed by some lanes only, summed over those lanes.
    pub(crate) predicated: u64,
}

/// What became of an inline cache's miss.
enum CacheFill {
    Filled,
    /// The address is in no segment that the site may access.
    Invalid,
    /// The site's stores may conflict with other lanes' accesses.
    Conflict,
}

impl CodeInstance {
    pub(crate) fn new(code: Arc<CompiledRegion>, number: impl FnMut(&[i64]) -> usize) -> CodeInstance {
        let (frame, cached) = (code.frame.clone(), vec![None; code.sites.len()]);
        let patterns = code.patterns.iter().map(Vec::as_slice).map(number).collect();
        CodeInstance { code, patterns, frame, cached, records: Vec::new(), diverged_late: 0, first_block: 0 }
    }

    /// Sets a word of the frame.
    pub(crate) fn set(&mut self, at: i64, value: u64) {
        put(&mut self.frame, at, value);
    }
    fn get(&self, at: i64) -> u64 {
        let (chunk, offset) = (at as usize / 64, at as usize % 64);
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.frame[chunk].0[offset..offset + 8]);
        u64::from_le_bytes(bytes)
    }

    /// Makes records for so many tiles; `thread` is a tile's first thread in its block.
    pub(crate) fn reserve_tiles(&mut self, count: usize, thread: impl Fn(usize) -> [u32; 3]) {
        for tile in self.records.len() / self.code.record_words..count {
            let mut record = vec![0; self.code.record_words];
            record[record::LANE] = (tile * self.code.lanes) as u64;
            for (word, axis) in record[record::TID..].iter_mut().zip(thread(tile)) {
                *word = axis.into();
            }
            self.records.extend(record);
        }
    }
    #[inline]
    fn record(&self, tile: usize) -> &[u64] {
        &self.records[tile * self.code.record_words..(tile + 1) * self.code.record_words]
    }
    /// Of a whole kernel: the block whose tiles come first.
    pub(crate) fn set_first_block(&mut self, block: u64) {
        self.first_block = block;
    }
    /// Sets the block of some tiles and the host address of its shared memory.
    #[inline]
    pub(crate) fn set_block(&mut self, tiles: Range<usize>, block: [u32; 3], shared: u64) {
        let words = self.code.record_words;
        for record in self.records[tiles.start * words..tiles.end * words].chunks_exact_mut(words) {
            record[record::SHARED] = shared;
            for (word, axis) in record[record::CTAID..].iter_mut().zip(block) {
                *word = axis.into();
            }
        }
    }
    /// A word of each tile's record, from the first tile on.
    #[inline]
    pub(crate) fn words(&self, word: usize) -> impl Iterator<Item = u64> {
        self.records.iter().skip(word).step_by(self.code.record_words).copied()
    }
    #[inline]
    pub(crate) fn words_mut(&mut self, word: usize) -> impl Iterator<Item = &mut u64> {
        self.records.iter_mut().skip(word).step_by(self.code.record_words)
    }
    /// A word of a tile's record.
    pub(crate) fn word(&self, tile: usize, word: usize) -> u64 {
        self.record(tile)[word]
    }
    /// The exit that a tile took; the number of exits if its lanes took several.
    #[inline]
    pub(crate) fn exit(&self, tile: usize) -> usize {
        self.record(tile)[record::EXIT] as usize
    }

    /// The same of all tiles, from the first one on.
    pub(crate) fn exits(&self) -> impl Iterator<Item = usize> {
        self.words(record::EXIT).map(|exit| exit as usize)
    }

    /// The mask of a tile's lanes that took an exit, where they took several: 64 lanes a word.
    pub(crate) fn exit_mask(&self, tile: usize, exit: usize) -> &[u64] {
        let (first, words) = (self.code.exit_words[exit], self.code.lanes.div_ceil(64));
        &self.record(tile)[first..first + words]
    }

    /// How many tiles diverged behind what they had committed, since it was last asked.
    pub(crate) fn take_diverged_late(&mut self) -> u32 {
        std::mem::take(&mut self.diverged_late)
    }

    /// What the tiles that the last run has completed have counted.
    pub(crate) fn counts(&self, tiles: Range<usize>) -> TileCounts {
        if self.code.is_whole {
            let [steps, predicated] = [header::ALL_STEPS, header::ALL_PREDICATED].map(|at| self.get(at));
            return TileCounts { steps, predicated, budget_left: None };
        }
        let mut counts = TileCounts::default();
        let words = self.code.record_words;
        for record in self.records[tiles.start * words..tiles.end * words].chunks_exact(words) {
            counts.steps += record[record::STEPS];
            counts.predicated += record[record::PREDICATED];
            let left = record[record::BUDGET_LEFT] as i64;
            counts.budget_left = Some(counts.budget_left.map_or(left, |least| least.min(left)));
        }
        counts
    }
    /// How often an approximate instruction has run in these tiles; of a whole kernel since it was last asked.
    pub(crate) fn take_approximations(&mut self, index: usize, tiles: impl Iterator<Item = usize>) -> u64 {
        let (_, word) = self.code.approximations[index];
        if !self.code.is_whole {
            return tiles.map(|tile| self.word(tile, word)).sum();
        }
        let sum = self.get(word as i64 + 8);
        self.set(word as i64 + 8, 0);
        sum
    }

    /// Where the last tile's accesses ended, of each site where that is recorded.
    pub(crate) fn ends(&self) -> impl Iterator<Item = AccessEnd> {
        let end = |&(site, word)| {
            let AccessSite { access, length, .. } = self.code.sites[site];
            AccessEnd { host: self.get(word), is_store: access != Access::Load, bytes: length }
        };
        self.code.ends.iter().map(end)
    }
    /// Names lines that tiles prefetch, by their host addresses: some to read and some to write.
    pub(crate) fn set_prefetch(&mut self, lines: [&Range<u64>; 2]) {
        let is_any = lines.iter().any(|lines| !lines.is_empty());
        self.set(header::NEXT_ANY, is_any.into());
        if is_any {
            for (at, lines) in PREFETCH.into_iter().zip(lines) {
                self.set(at, lines.start);
                self.set(at + 8, lines.end);
            }
        }
    }
    /// Up to where they have been prefetched.
    pub(crate) fn prefetched(&self) -> [u64; 2] {
        PREFETCH.map(|at| self.get(at))
    }

    /// Runs tiles until all are done or one takes a side exit. The inline caches are those of the segments: see
    /// [`refresh_caches`](CodeInstance::refresh_caches).
    ///
    /// Every address in the records and the frame must be valid: the columns of
    /// [`inputs`](CompiledRegion::inputs) and `columns`, shared memory, segments.
    pub(crate) fn run(
        &mut self,
        tiles: Range<usize>,
        launch: &LaunchConfig,
        segments: &[SegmentView],
        budget: i64,
    ) -> TileOutcome {
        self.set(header::BUDGET, budget as u64);
        let mut records = std::mem::take(&mut self.records);
        let outcome = if self.code.is_whole {
            self.run_blocks(&mut records, tiles, launch, segments)
        } else {
            self.run_records(&mut records[..tiles.end * self.code.record_words], tiles.start, segments)
        };
        self.records = records;
        outcome
    }
    /// So often an inline cache may miss in a run. Every site may a few times, for several segments: the limit ensures termination.
    fn max_misses(&self) -> usize {
        self.code.sites.len() * 4
    }
    /// The same of a whole kernel, whose tiles are counted from the first block's first one on.
    fn run_blocks(
        &mut self,
        records: &mut [u64],
        tiles: Range<usize>,
        launch: &LaunchConfig,
        segments: &[SegmentView],
    ) -> TileOutcome {
        let (of_block, words) = (launch.threads() / self.code.lanes, self.code.record_words);
        let base = records.as_ptr() as u64;
        self.set(header::FIRST, base);
        self.set(header::ALL_STEPS, 0);
        self.set(header::ALL_PREDICATED, 0);
        let mut misses_left = self.max_misses();
        let mut tile = tiles.start;
        while tile < tiles.end {
            // Part of a block, or some whole ones.
            let (block, place) = (tile / of_block, tile % of_block);
            let blocks = if place == 0 { ((tiles.end - tile) / of_block).max(1) } else { 1 };
            let last = of_block.min(place + tiles.end - tile);
            self.set(header::END, base + (last * words * 8) as u64);
            self.set(header::BLOCKS, blocks as u64);
            for (axis, number) in
                LaunchConfig::axes(launch.grid, self.first_block + block as u64).into_iter().enumerate()
            {
                self.set(header::CTAID + 8 * axis as i64, number.into());
            }
            let result = self.code.executable.run(&mut self.frame, records, place * words);
            if result == 0 {
                tile += if place == 0 && last == of_block { blocks * of_block } else { last - place };
                continue;
            }
            let in_block = (self.get(header::TILE) - base) as usize / 8 / words;
            tile = (block + blocks - self.get(header::BLOCKS) as usize) * of_block + in_block;
            if let Some(outcome) = self.side_exit(result, tile, segments, &mut misses_left) {
                return outcome;
            }
        }
        TileOutcome::Completed
    }
    /// What becomes of a tile that took a side exit, if it does not run again.
    fn side_exit(
        &mut self,
        result: u64,
        tile: usize,
        segments: &[SegmentView],
        misses_left: &mut usize,
    ) -> Option<TileOutcome> {
        if result & 0xff == DeoptReason::Divergence as u64 {
            return Some(TileOutcome::Diverged(tile));
        }
        if result & 0xff != DeoptReason::CacheMiss as u64 || *misses_left == 0 {
            return Some(TileOutcome::SideExit(tile));
        }
        *misses_left -= 1;
        match self.fill_cache((result >> 8) as usize, segments) {
            CacheFill::Filled => None,
            CacheFill::Invalid => Some(TileOutcome::SideExit(tile)),
            CacheFill::Conflict => Some(TileOutcome::Conflict(tile)),
        }
    }
    /// The same where each tile has a record, from one on.
    fn run_records(&mut self, records: &mut [u64], tile: usize, segments: &[SegmentView]) -> TileOutcome {
        self.set(header::END, records.as_ptr_range().end as u64);
        let mut from = tile * self.code.record_words;
        let mut misses_left = self.max_misses();
        loop {
            let result = self.code.executable.run(&mut self.frame, records, from);
            if result == 0 {
                return TileOutcome::Completed;
            }
            from = (self.get(header::TILE) - records.as_ptr() as u64) as usize / 8;
            let tile = from / self.code.record_words;
            if self.get(header::COMMITTED) != 0 {
                // The tile is done: it continues at the exit in its record.
                for (_, word) in &self.code.approximations {
                    records[from + word] = records[from + word + 1];
                }
                self.diverged_late += u32::from(result & 0xff == DeoptReason::Divergence as u64);
                let missed = result & 0xff == DeoptReason::CacheMiss as u64 && misses_left > 0;
                if missed {
                    misses_left -= 1;
                    if matches!(self.fill_cache((result >> 8) as usize, segments), CacheFill::Conflict) {
                        return TileOutcome::Conflict(tile + 1);
                    }
                }
                from += self.code.record_words;
                if from == records.len() {
                    return TileOutcome::Completed;
                }
                continue;
            }
            if let Some(outcome) = self.side_exit(result, tile, segments, &mut misses_left) {
                return outcome;
            }
        }
    }

    /// Fills a site's inline cache after a miss.
    fn fill_cache(&mut self, site: usize, segments: &[SegmentView]) -> CacheFill {
        let address = self.get(header::ADDRESS);
        let AccessSite { access, span, align, .. } = self.code.sites[site];
        let allows = |segment: &SegmentView| {
            let offset = address.checked_sub(segment.base).filter(|&offset| offset < segment.bytes);
            offset.is_some_and(|offset| segment.bytes - offset >= span) && (segment.writable || access == Access::Load)
        };
        let Some(segment) = segments.iter().position(allows) else { return CacheFill::Invalid };
        if !address.is_multiple_of(align.into()) {
            return CacheFill::Invalid;
        }
        self.cached[site] = Some(segment);
        let conflict = (0..self.code.sites.len()).any(|other| {
            other != site
                && self.cached[other] == Some(segment)
                && self.code.may_conflict(&self.code.sites[site], &self.code.sites[other])
        });
        if conflict {
            return CacheFill::Conflict;
        }
        self.refresh_cache(site, segments);
        CacheFill::Filled
    }
    /// Writes what is known of where each site accesses memory into the frame, for these segments.
    pub(crate) fn refresh_caches(&mut self, segments: &[SegmentView]) {
        for site in 0..self.code.sites.len() {
            self.refresh_cache(site, segments);
        }
    }
    /// Writes a site's inline cache into the frame, for this run's segments.
    fn refresh_cache(&mut self, site: usize, segments: &[SegmentView]) {
        let AccessSite { cache, span, align, length, .. } = self.code.sites[site];
        let Some(segment) = self.cached[site].map(|segment| segments[segment]) else { return };
        let positions = |bytes: u64| ((segment.bytes - bytes) >> align.trailing_zeros()) + 1;
        self.set(cache, segment.base);
        self.set(cache + 8, positions(span));
        self.set(cache + 16, segment.host.wrapping_sub(segment.base));
        self.set(cache + 24, positions(length.min(span)));
        if let Some(&(_, word)) = self.code.unwritten.iter().find(|(of, _)| *of == site) {
            self.set(word, if segment.writable { 0 } else { u64::MAX });
        }
    }
}
