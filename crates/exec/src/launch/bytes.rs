//! Sets of bytes of a memory.

use std::ops::Range;

/// Bytes of a mask's word.
const WORD: u64 = 64;

/// Some bytes of a buffer or a variable: a range, and which of it where not all of it is meant.
///
/// ```
/// use roundonce_exec::Bytes;
/// let (even, odd) = (Bytes::of([0, 2, 4, 200]), Bytes::of([1, 3, 5]));
/// assert_eq!((even.range(), even.first_common(&odd)), (0..201, None));
/// assert_eq!(odd.first_common(&Bytes::of(4..8)), Some(5));
/// let mut memory = [0; 8];
/// odd.copy(&[1, 2, 3, 4, 5], &mut memory);
/// assert_eq!(memory, [0, 1, 0, 3, 0, 5, 0, 0]);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bytes {
    start: u64,
    end: u64,
    /// 64 bytes a word, the first word's first byte at `start` rounded down; empty where all of the range is meant.
    mask: Vec<u64>,
}

impl Bytes {
    /// Those at these offsets, which ascend.
    pub fn of(offsets: impl IntoIterator<Item = u64>) -> Bytes {
        let mut offsets = offsets.into_iter();
        let Some(start) = offsets.next() else { return Bytes::default() };
        let mut bytes = Bytes { start, end: start + 1, mask: Vec::new() };
        let first = start / WORD;
        let mut mask = vec![1 << (start % WORD)];
        let mut count = 1;
        for at in offsets {
            mask.resize((at / WORD - first) as usize + 1, 0);
            mask[(at / WORD - first) as usize] |= 1 << (at % WORD);
            (bytes.end, count) = (at + 1, count + 1);
        }
        if count < bytes.end - start {
            bytes.mask = mask;
        }
        bytes
    }

    /// The same of a memory that begins so many bytes earlier, a multiple of 64.
    pub(super) fn behind(self, bytes: u64) -> Bytes {
        if self.is_empty() { self } else { Bytes { start: self.start + bytes, end: self.end + bytes, ..self } }
    }

    /// Those whose byte is not zero.
    pub(super) fn marked(marks: &[u32]) -> Bytes {
        let Some(first) = marks.iter().position(|&word| word != 0) else { return Bytes::default() };
        let last = marks.iter().rposition(|&word| word != 0).unwrap_or(first);
        // Without an exit in the middle the loop is one over vectors.
        let is_full = |words: &[u32]| words.iter().fold(u32::MAX, |all, word| all & word) == u32::MAX;
        let start = first as u64 * 4 + u64::from(marks[first].trailing_zeros() / 8);
        let end = last as u64 * 4 + u64::from(4 - marks[last].leading_zeros() / 8);
        let edges = [first, last].iter().all(|&edge| {
            (0..4)
                .filter(|byte| (start..end).contains(&(edge as u64 * 4 + byte)))
                .all(|byte| marks[edge] >> (8 * byte) & 1 == 1)
        });
        if edges && (last <= first + 1 || marks[first + 1..last].chunks(1 << 12).all(is_full)) {
            return Bytes { start, end, mask: Vec::new() };
        }
        let from = (start / WORD * WORD / 4) as usize;
        let word = |words: &[u32]| {
            let nibble = |word: u32| (word & 0x0101_0101).wrapping_mul(0x0102_0408) >> 24;
            words.iter().rev().fold(0, |mask, &word| mask << 4 | u64::from(nibble(word)))
        };
        Bytes { start, end, mask: marks[from..=last].chunks(16).map(word).collect() }
    }

    /// From what [`range`](Bytes::range) and [`mask`](Bytes::mask) say; `None` where they do not fit together.
    pub fn from_parts(range: Range<u64>, mask: &[u8]) -> Option<Bytes> {
        let Range { start, end } = range;
        let words = if start < end { end.div_ceil(WORD) - start / WORD } else { 0 };
        let fits = start <= end && (mask.is_empty() || mask.len() as u64 == 8 * words);
        let mask = mask.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        fits.then_some(Bytes { start, end, mask })
    }
    /// From the first to the last.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }
    /// A bit for each byte from the range's start on, rounded down to a multiple of 64, in words of 64 bits; nothing where
    /// it is all of the range.
    pub fn mask(&self) -> Vec<u8> {
        self.mask.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Which bytes of a word of 64.
    fn word(&self, index: u64) -> u64 {
        let (from, to) = (index * WORD, (index + 1) * WORD);
        let (start, end) = (self.start.clamp(from, to) - from, self.end.clamp(from, to) - from);
        if start >= end {
            return 0;
        }
        let mask = if self.mask.is_empty() { u64::MAX } else { self.mask[(index - self.start / WORD) as usize] };
        mask & u64::MAX << start & u64::MAX >> (WORD - end)
    }
    /// The first byte that is in both.
    pub fn first_common(&self, other: &Bytes) -> Option<u64> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        if start >= end {
            return None;
        }
        (start / WORD..end.div_ceil(WORD)).find_map(|index| {
            let both = self.word(index) & other.word(index);
            (both != 0).then(|| index * WORD + u64::from(both.trailing_zeros()))
        })
    }
    /// Copies these bytes into a memory, from one that begins where the range does.
    ///
    /// # Panics
    /// If one of the two is too short.
    pub fn copy(&self, from: &[u8], into: &mut [u8]) {
        let (start, end) = (self.start as usize, self.end as usize);
        if self.mask.is_empty() {
            into[start..end].copy_from_slice(&from[..end - start]);
            return;
        }
        for index in self.start / WORD..self.end.div_ceil(WORD) {
            let mut word = self.word(index);
            while word != 0 {
                let at = (index * WORD) as usize + word.trailing_zeros() as usize;
                let count = (word >> word.trailing_zeros()).trailing_ones() as usize;
                into[at..at + count].copy_from_slice(&from[at - start..at - start + count]);
                let next = word.trailing_zeros() as usize + count;
                word = if next < 64 { word >> next << next } else { 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks as the engine leaves them, against the offsets themselves.
    #[test]
    fn marks() {
        let sets: [&[u64]; 8] = [
            &[],
            &[0],
            &[3, 4],
            &[5, 6, 7, 8, 9, 10, 11, 12, 13],
            &[2, 3, 5],
            &[63, 64, 65, 190],
            &[0, 1, 2, 3, 4, 6, 7, 8, 9],
            &[64, 128, 129, 191, 192, 255],
        ];
        for set in sets {
            let mut words = [0u32; 64];
            set.iter().for_each(|&at| words[at as usize / 4] |= 0xff << (at % 4 * 8));
            let bytes = Bytes::marked(&words);
            assert_eq!(bytes, Bytes::of(set.iter().copied()), "{set:?}");
            assert_eq!(Bytes::from_parts(bytes.range(), &bytes.mask()), Some(bytes.clone()));
            for other in sets {
                let first = set.iter().find(|at| other.contains(at)).copied();
                assert_eq!(bytes.first_common(&Bytes::of(other.iter().copied())), first, "{set:?} {other:?}");
            }
            let (data, mut into) = ([7; 256], [0; 256]);
            bytes.copy(&data[bytes.range().start as usize..], &mut into);
            let copied: Vec<u64> = (0..256).filter(|&at| into[at as usize] == 7).collect();
            assert_eq!(copied, set);
        }
        assert_eq!(Bytes::from_parts(0..65, &[1; 8]), None);
    }
}
