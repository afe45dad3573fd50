//! Lane masks.

use crate::kernel::LANES;

const WORDS: usize = LANES / 64;

/// A set of a batch's lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mask([u64; WORDS]);

impl Mask {
    /// Lanes `0..count`.
    pub(crate) fn first(count: usize) -> Mask {
        Mask::range(0, count)
    }
    /// Lanes `low..high`.
    pub(crate) fn range(low: usize, high: usize) -> Mask {
        let below = |count: usize, word: usize| match count.saturating_sub(word * 64) {
            0 => 0,
            bits => u64::MAX >> (64 - bits.min(64)),
        };
        Mask(core::array::from_fn(|word| below(high, word) & !below(low, word)))
    }
    /// The lanes whose byte is not zero.
    pub(crate) fn of_bytes(bytes: &[u8; LANES]) -> Mask {
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(64)) {
            for (place, eight) in bytes.chunks_exact(8).enumerate() {
                let eight = eight.iter().rev().fold(0u64, |all, &byte| all << 8 | byte as u64);
                // Each byte is 0 or 1: the product collects them in its top byte.
                *word |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
            }
        }
        Mask(words)
    }
    #[inline]
    pub(crate) fn and(self, other: Mask) -> Mask {
        Mask(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }
    #[inline]
    pub(crate) fn or(self, other: Mask) -> Mask {
        Mask(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }
    #[inline]
    pub(crate) fn without(self, other: Mask) -> Mask {
        Mask(core::array::from_fn(|word| self.0[word] & !other.0[word]))
    }
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    pub(crate) fn count(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    #[inline]
    pub(crate) fn has(self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }
    /// The lowest lane.
    #[inline]
    pub(crate) fn first_lane(self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }
    /// The lanes, in order.
    pub(crate) fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(place, mut word)| {
            core::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                Some(place * 64 + bit)
            })
        })
    }
    /// The words, 64 lanes each.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().copied()
    }
    /// The first lane, and one past the last, rounded outward to 64s.
    pub(crate) fn extent(self) -> (usize, usize) {
        let first = self.0.iter().position(|&word| word != 0).unwrap_or(0);
        let last = self.0.iter().rposition(|&word| word != 0).map_or(first, |word| word + 1);
        (first * 64, last * 64)
    }
    /// Up to 32 lanes from `start`, as bits.
    pub(crate) fn bits32(self, start: usize, count: usize) -> u32 {
        let (word, shift) = (start / 64, start % 64);
        let low = self.0[word] >> shift;
        let high = if shift == 0 { 0 } else { self.0.get(word + 1).copied().unwrap_or(0) << (64 - shift) };
        (low | high) as u32 & (u32::MAX >> (32 - count.clamp(1, 32)))
    }
    /// Takes a lane out.
    #[inline]
    pub(crate) fn remove(&mut self, lane: usize) {
        self.0[lane / 64] &= !(1 << (lane % 64));
    }
    /// Adds lanes `low..high`.
    pub(crate) fn add_range(&mut self, low: usize, high: usize) {
        for start in (low..high).step_by(64) {
            self.set_word(start, u64::MAX >> (64 - (high - start).min(64)));
        }
    }
    /// Adds up to 64 lanes from `start`.
    pub(crate) fn set_word(&mut self, start: usize, bits: u64) {
        let (word, shift) = (start / 64, start % 64);
        self.0[word] |= bits << shift;
        if shift > 0
            && let Some(next) = self.0.get_mut(word + 1)
        {
            *next |= bits >> (64 - shift);
        }
    }
    /// Adds up to 32 lanes from `start`.
    pub(crate) fn set_bits32(&mut self, start: usize, bits: u32) {
        let (word, shift) = (start / 64, start % 64);
        self.0[word] |= (bits as u64) << shift;
        if shift > 32
            && let Some(next) = self.0.get_mut(word + 1)
        {
            *next |= (bits as u64) >> (64 - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let mask = Mask::range(60, 70);
        assert_eq!(mask.count(), 10);
        assert_eq!(mask.lanes().collect::<Vec<_>>(), (60..70).collect::<Vec<_>>());
        assert_eq!(mask.bits32(62, 32), 0xff);
        assert_eq!(mask.bits32(64, 4), 0xf);
        assert_eq!(mask.extent(), (0, 128));
        let mut other = Mask::default();
        other.set_bits32(50, 0x8000_0001);
        other.set_word(60, 1 << 63 | 1);
        assert_eq!(other.lanes().collect::<Vec<_>>(), [50, 60, 81, 123]);
        let mut ranges = Mask::range(3, 5);
        ranges.add_range(60, 200);
        assert_eq!(ranges, Mask::range(60, 200).or(Mask::range(3, 5)));
        let mut bytes = [0; LANES];
        bytes[5] = 1;
        bytes[LANES - 1] = 1;
        assert_eq!(Mask::of_bytes(&bytes).lanes().collect::<Vec<_>>(), [5, LANES - 1]);
    }
}
