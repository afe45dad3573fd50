//! Strided loads, from affine addresses: whole rows are copied, and all rows at once if they are contiguous.

use super::interpreter::Interpreter;
use super::register::Lane;
use crate::kernel::WordsView;
use roundonce_ir::{Reg, Space};

/// The rows' words in memory: all in one segment, or in shared memory.
struct RowSpan {
    segment: Option<usize>,
    /// Words from one lane to the next.
    step: usize,
    /// Each row begins where the one before it ends.
    joined: bool,
}

impl Interpreter<'_> {
    /// A load from the affine addresses in `addresses`. Nothing is done if a row is not inside one buffer: some of its lanes
    /// may be inactive.
    pub(super) fn load_rows(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        stride: i64,
        foldable: bool,
    ) -> bool {
        let (rows, mut starts) = (std::mem::take(&mut self.addresses), std::mem::take(&mut self.starts));
        starts.clear();
        self.native.interpreted_singly(rows.len());
        let span = self.row_starts(d, space, bytes, &rows, stride, &mut starts);
        let folded = match (&span, d) {
            (Some(RowSpan { segment: Some(segment), step: 1, joined: true }), &[Some(d)]) if foldable => {
                self.fold_load(d, *segment, starts[0])
            }
            _ => false,
        };
        if let Some(span) = span.as_ref().filter(|_| !folded) {
            for (index, d) in d.iter().enumerate() {
                let Some(d) = *d else { continue };
                let shift = index * bytes as usize / 4;
                if bytes == 4 {
                    let copy = |words: &[u32], lanes: &mut [u32]| {
                        if lanes.len() > 64 {
                            lanes.copy_from_slice(words);
                        } else {
                            // A call to memcpy costs more than the copy.
                            lanes.iter_mut().zip(words).for_each(|(lane, word)| *lane = *word);
                        }
                    };
                    self.copy_rows::<u32>(d, span, &starts, shift, |words| words[0], copy);
                } else {
                    let pair = |words: &[u32]| words[0] as u64 | (words[1] as u64) << 32;
                    let copy = |words: &[u32], lanes: &mut [u64]| {
                        lanes.iter_mut().zip(words.chunks_exact(2)).for_each(|(lane, words)| *lane = pair(words));
                    };
                    self.copy_rows::<u64>(d, span, &starts, shift, pair, copy);
                }
            }
        }
        (self.addresses, self.starts) = (rows, starts);
        span.is_some()
    }

    /// Finds the index of each row's first word; none if a row is not inside a segment, or the rows are in several.
    fn row_starts(
        &mut self,
        d: &[Option<Reg>],
        space: Space,
        bytes: u32,
        rows: &[u64],
        stride: i64,
        starts: &mut Vec<usize>,
    ) -> Option<RowSpan> {
        let row = self.geometry.row;
        let fits = |d: &Reg| self.code.kernel.width(*d).bits() == bytes * 8;
        if bytes < 4 || stride < 0 || stride % bytes as i64 != 0 || !d.iter().flatten().all(fits) {
            return None;
        }
        let (first, last, bits) =
            rows.iter().fold((u64::MAX, 0, 0), |(low, high, bits), &at| (low.min(at), high.max(at), bits | at));
        if bits & (bytes as u64 - 1) != 0 {
            return None;
        }
        let span = (stride as u64).checked_mul(row as u64 - 1)?.checked_add(bytes as u64 * d.len() as u64)?;
        let (space, low) = Self::resolve(space, first);
        let whole = (last - first).checked_add(span)?;
        let segment = match space {
            Space::Global => {
                let (segment, offset) = self.global.locate(low, whole)?;
                starts.extend(rows.iter().map(|&at| (at - first + offset) as usize / 4));
                Some(segment)
            }
            Space::Shared if low < self.shared_bytes() && self.shared_bytes() - low >= whole => {
                let rows_of_block = self.threads / row;
                let of_block = |index: usize| index / rows_of_block * self.shared_words;
                let place = |(index, &at): (usize, &u64)| of_block(index) + (at - first + low) as usize / 4;
                starts.extend(rows.iter().enumerate().map(place));
                None
            }
            _ => return None,
        };
        let step = stride as usize / 4;
        let joined = starts.windows(2).all(|pair| pair[1] == pair[0] + row * step);
        Some(RowSpan { segment, step, joined })
    }

    /// Copies the lanes of one destination; row-invariant ones stay one value a row.
    fn copy_rows<T: Lane>(
        &mut self,
        d: Reg,
        span: &RowSpan,
        starts: &[usize],
        shift: usize,
        read: impl Fn(&[u32]) -> T,
        copy: impl Fn(&[u32], &mut [T]),
    ) {
        let words = match span.segment {
            Some(segment) => self.global.words[segment].view(),
            None => WordsView::Slice(&self.shared),
        };
        let element = |at: usize| match words {
            WordsView::Slice(words) => read(&words[at..]),
            WordsView::Atomics(_) => T::of(words.element(at, T::WIDTH.bits() / 8)),
        };
        let (row, step) = (self.geometry.row, span.step);
        if step == 0 {
            let values = starts.iter().map(|&start| element(start + shift)).collect();
            return self.put_row_invariant(d, values);
        }
        let mut out = T::file_mut(&mut self.files).acquire();
        let wide = T::WIDTH.bits() as usize / 32;
        // Contiguous rows are copied as one.
        let length = if span.joined { self.geometry.lanes } else { row };
        let lanes = out.0[..self.geometry.lanes].chunks_exact_mut(length);
        for (lanes, &start) in lanes.zip(starts) {
            let from = start + shift;
            match words {
                WordsView::Slice(words) if step == wide => {
                    copy(&words[from..from + length * wide], lanes);
                }
                WordsView::Slice(words) => {
                    let words = &words[from..from + (length - 1) * step + wide];
                    for (lane, word) in lanes.iter_mut().zip(words.chunks(step)) {
                        *lane = read(word);
                    }
                }
                WordsView::Atomics(_) => {
                    for (index, lane) in lanes.iter_mut().enumerate() {
                        *lane = element(from + index * step);
                    }
                }
            }
        }
        self.set_column(d, out);
    }

    /// One value a row.
    fn put_row_invariant<T: Lane>(&mut self, d: Reg, values: Vec<T>) {
        if self.inactive_lanes_are_dead(d) {
            T::file_mut(&mut self.files).put_affine(d, T::default(), values.into_iter());
            return;
        }
        let mut out = T::file_mut(&mut self.files).acquire();
        for (lanes, value) in out.0.chunks_exact_mut(self.geometry.row).zip(values) {
            lanes.fill(value);
        }
        self.set_column(d, out);
    }
}
