//! Buffers, and the address space that a launch lays them out in.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Words that are converted at once.
const PIECE: usize = 1 << 14;
/// Bytes that are given back at once, at least.
const LEAST_FREED: usize = 1 << 20;

/// A kernel's argument in memory: bytes, kept as 32-bit words (little-endian).
///
/// ```
/// use roundonce_exec::Buffer;
/// let buffer = Buffer::from_bytes(&[1, 2, 3, 4, 5]);
/// assert_eq!(buffer.words()[0], 0x0403_0201);
/// assert_eq!(buffer.to_bytes(), [1, 2, 3, 4, 5]);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Buffer {
    words: Vec<u32>,
    bytes: usize,
}

/// A 64-bit number of which every bit depends on every bit of the argument (the finalizer of SplitMix64).
pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Buffer {
    /// Zeros.
    pub fn zeros(bytes: usize) -> Buffer {
        Buffer { words: vec![0; bytes.div_ceil(4)], bytes }
    }
    /// A copy of the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Buffer {
        let (words, rest) = bytes.as_chunks::<4>();
        let mut words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if !rest.is_empty() {
            words.push(rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
        }
        Buffer { words, bytes: bytes.len() }
    }
    /// The bytes. Their memory is given back piece by piece: most of it is never there twice. Zeros take none until
    /// they are written over.
    pub fn from_vec(mut bytes: Vec<u8>) -> Buffer {
        let mut buffer = Buffer::zeros(bytes.len());
        // A multiple of a word.
        let piece = (bytes.len() / 16).max(LEAST_FREED).next_multiple_of(4);
        while !bytes.is_empty() {
            let start = (bytes.len() - 1) / piece * piece;
            // Without an exit in the middle the loop is one over vectors.
            let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) == 0;
            if !bytes[start..].chunks(PIECE).all(is_zero) {
                let words = Buffer::from_bytes(&bytes[start..]).words;
                buffer.words[start / 4..][..words.len()].copy_from_slice(&words);
            }
            bytes.truncate(start);
            bytes.shrink_to_fit();
        }
        buffer
    }
    /// Words of 32 bits: f32 and integers.
    pub fn from_words(words: Vec<u32>) -> Buffer {
        let bytes = words.len() * 4;
        Buffer { words, bytes }
    }
    /// Words; the last one may have bytes past the end, which are zero.
    pub(crate) fn from_parts(words: Vec<u32>, bytes: usize) -> Buffer {
        Buffer { words, bytes }
    }
    /// How many bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    /// The words; of the last one the bytes past the end are zero.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
    /// The words, by value.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }
    /// 64 bits that tell one content from another; not against an adversary.
    pub fn digest(&self) -> u64 {
        self.words.iter().fold(self.bytes as u64, |digest, &word| mix(digest ^ u64::from(word)))
    }
    /// The bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes(0..self.bytes)
    }
    /// Some of the bytes; what lies past the end is left out.
    pub fn bytes(&self, range: Range<usize>) -> Vec<u8> {
        let (start, end) = (range.start.min(self.bytes), range.end.min(self.bytes));
        if start >= end {
            return Vec::new();
        }
        let words = &self.words[start / 4..end.div_ceil(4)];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(end - start / 4 * 4);
        bytes.drain(..start % 4);
        bytes
    }
    /// Writes the bytes piece by piece: a second copy of a large buffer would double the memory.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut left = self.bytes;
        let mut bytes = Vec::new();
        for words in self.words.chunks(PIECE) {
            bytes.clear();
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            bytes.truncate(left);
            left -= bytes.len();
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// Generic addresses of a block's shared memory start here.
pub(crate) const SHARED_WINDOW: u64 = 0x0100_0000;
/// Generic addresses of a thread's local memory start here.
pub(crate) const LOCAL_WINDOW: u64 = 0x0200_0000;
/// Addresses of the parameter block start here.
pub(crate) const PARAM_WINDOW: u64 = 0x0300_0000;
/// Each window's bytes.
pub(crate) const WINDOW: u64 = 0x0100_0000;
/// Buffers and variables start here.
const GLOBAL_BASE: u64 = 0x1000_0000;
/// What segments are aligned to, at least.
pub(crate) const BUFFER_ALIGN: u64 = 256;
/// Addresses below this are those of null pointers, and of their elements.
const NULL_PAGE: u64 = 0x1000;
/// Unmapped bytes between segments, so that an access past the end faults.
const GAP: u64 = 0x1000;

/// A buffer or a variable in the address space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) name: String,
    pub(crate) writes: Writes,
    /// All addresses of the buffer, of which only these bytes may be given.
    pub(crate) whole: Range<u64>,
}

/// Whether a launch writes a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writes {
    Possible,
    /// No address of a store belongs to it: one that leads there all the same is an error.
    Unexpected,
    Constant,
}

/// The segments by address.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Layout {
    pub(crate) segments: Vec<Segment>,
    end: u64,
}

impl Segment {
    fn new(base: u64, bytes: u64, name: &str, writes: Writes) -> Segment {
        Segment { base, bytes, name: name.to_owned(), writes, whole: base..base.saturating_add(bytes) }
    }
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.writes == Writes::Possible
    }
    /// Why a store to it is an error.
    pub(crate) fn refused_store(&self) -> String {
        match self.writes {
            Writes::Constant => format!("`{}` is constant and cannot be written", self.name),
            _ => format!("`{}` is written by an address that belongs to no buffer that the kernel writes", self.name),
        }
    }
    /// The offset of an access that lies inside.
    #[inline]
    fn offset(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes && self.bytes - offset >= bytes).then_some(offset)
    }
}

impl Layout {
    /// The segment that contains an access, and the offset in it.
    #[inline]
    pub(crate) fn locate(&self, address: u64, bytes: u64) -> Option<(usize, u64)> {
        let index = self.segments.partition_point(|segment| segment.base <= address).checked_sub(1)?;
        Some((index, self.segments[index].offset(address, bytes)?))
    }
    /// A new segment behind the others; its address.
    pub(crate) fn add(&mut self, name: &str, bytes: u64, align: u64, writes: Writes) -> u64 {
        let align = align.max(BUFFER_ALIGN);
        let from = self.end.max(GLOBAL_BASE);
        let base = from.saturating_add(GAP).next_multiple_of(align);
        self.end = base.saturating_add(bytes);
        self.segments.push(Segment::new(base, bytes, name, writes));
        base
    }
    /// A nameless segment at an address behind all others.
    pub(crate) fn add_at(&mut self, base: u64, bytes: u64) {
        self.end = base.saturating_add(bytes);
        self.segments.push(Segment::new(base, bytes, "", Writes::Possible));
    }
    /// Leaves so many bytes of the last segment, from one on.
    pub(crate) fn slice(&mut self, at: u64, bytes: u64) {
        if let Some(last) = self.segments.last_mut() {
            (last.base, last.bytes) = (last.whole.start + at, bytes);
        }
    }
    /// Whether an address is in a buffer, but not among the bytes of it that are given.
    pub(crate) fn is_absent(&self, address: u64) -> bool {
        let mut all = self.segments.iter();
        all.any(|segment| segment.whole.contains(&address) && segment.offset(address, 1).is_none())
    }
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }
    /// An address relative to the nearest segment, for messages.
    pub(crate) fn describe(&self, address: u64) -> String {
        if address < NULL_PAGE {
            return "a null pointer, or a number that is taken for an address".to_owned();
        }
        let distance = |Segment { whole, .. }: &Segment| {
            if address < whole.start {
                whole.start - address
            } else {
                address.saturating_sub(whole.end.saturating_sub(1).max(whole.start))
            }
        };
        let named = self.segments.iter().filter(|segment| !segment.name.is_empty());
        let Some(nearest) = named.min_by_key(|segment| distance(segment)) else {
            return "there is no buffer".to_owned();
        };
        let Segment { name, whole: Range { start: base, end }, .. } = nearest;
        let bytes = end - base;
        let counted = |count: u64| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
        let position = if address < *base {
            format!("{} before", counted(base - address))
        } else if address - base < bytes {
            format!("at byte {} of", address - base)
        } else {
            format!("{} past the end of", counted(address - base - bytes))
        };
        format!("{position} `{name}` ({bytes} bytes at {base:#x})")
    }
}

/// A worker's access to a segment's words.
#[derive(Debug)]
pub(crate) enum SegmentWords<'a> {
    /// By this worker alone.
    Exclusive(&'a mut [u32]),
    /// By several workers, without writes.
    ReadOnly(&'a [u32]),
    /// By several workers.
    Atomic(&'a [AtomicU32]),
}

/// A view of words for reading.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordsView<'a> {
    Slice(&'a [u32]),
    Atomics(&'a [AtomicU32]),
}

impl WordsView<'_> {
    /// An element of 4 or 8 bytes from a word on.
    #[inline]
    pub(crate) fn element(self, word: usize, bytes: u32) -> u64 {
        match self {
            WordsView::Slice(words) => read_element(|index| words[index], word as u64 * 4, bytes),
            WordsView::Atomics(words) => {
                read_element(|index| words[index].load(Ordering::Relaxed), word as u64 * 4, bytes)
            }
        }
    }
}

impl SegmentWords<'_> {
    /// The view for reading.
    #[inline]
    pub(crate) fn view(&self) -> WordsView<'_> {
        match self {
            SegmentWords::Exclusive(words) => WordsView::Slice(words),
            SegmentWords::ReadOnly(words) => WordsView::Slice(words),
            SegmentWords::Atomic(words) => WordsView::Atomics(words),
        }
    }
    /// The host address of the first word. Of a [writable](Segment::is_writable) segment writes through it are allowed.
    pub(crate) fn address(&mut self) -> usize {
        match self {
            SegmentWords::Exclusive(words) => words.as_mut_ptr().expose_provenance(),
            SegmentWords::ReadOnly(words) => words.as_ptr().expose_provenance(),
            // Atomics may be written through a shared reference.
            SegmentWords::Atomic(words) => words.as_ptr().expose_provenance(),
        }
    }
    /// An element of 1, 2, 4 or 8 bytes, aligned to its size.
    #[inline]
    pub(crate) fn read(&self, offset: u64, bytes: u32) -> u64 {
        let word = |index: usize| match self {
            SegmentWords::Exclusive(words) => words[index],
            SegmentWords::ReadOnly(words) => words[index],
            SegmentWords::Atomic(words) => words[index].load(Ordering::Relaxed),
        };
        read_element(word, offset, bytes)
    }
    /// As [`read`](SegmentWords::read).
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, bytes: u32, value: u64) {
        let index = (offset / 4) as usize;
        match self {
            SegmentWords::Exclusive(words) => write_element(words, offset, bytes, value),
            SegmentWords::ReadOnly(_) => {}
            SegmentWords::Atomic(words) => match bytes {
                4 => words[index].store(value as u32, Ordering::Relaxed),
                8 => {
                    words[index].store(value as u32, Ordering::Relaxed);
                    words[index + 1].store((value >> 32) as u32, Ordering::Relaxed);
                }
                _ => {
                    let shift = (offset % 4) * 8;
                    let mask = element_mask(bytes) << shift;
                    let merged = |word| Some((word & !mask) | ((value as u32) << shift & mask));
                    // Other bytes of the word may be written by other threads at the same time.
                    let _ = words[index].fetch_update(Ordering::Relaxed, Ordering::Relaxed, merged);
                }
            },
        }
    }
    /// 32-bit elements to word `start` and on, `stride` words apart.
    #[inline]
    pub(crate) fn write_words(&mut self, start: usize, stride: usize, values: &[u32]) {
        let end = start + (values.len() - 1) * stride + 1;
        match self {
            SegmentWords::Exclusive(words) if stride == 1 => words[start..end].copy_from_slice(values),
            SegmentWords::Exclusive(words) => {
                for (word, &value) in words[start..end].iter_mut().step_by(stride).zip(values) {
                    *word = value;
                }
            }
            SegmentWords::ReadOnly(_) => {}
            SegmentWords::Atomic(words) => {
                for (word, &value) in words[start..end].iter().step_by(stride).zip(values) {
                    word.store(value, Ordering::Relaxed);
                }
            }
        }
    }
}

const fn element_mask(bytes: u32) -> u32 {
    u32::MAX >> (32 - 8 * bytes)
}

/// Reads an element.
#[inline]
pub(crate) fn read_element(word: impl Fn(usize) -> u32, offset: u64, bytes: u32) -> u64 {
    let index = (offset / 4) as usize;
    match bytes {
        4 => word(index) as u64,
        8 => word(index) as u64 | (word(index + 1) as u64) << 32,
        _ => (word(index) >> ((offset % 4) * 8) & element_mask(bytes)) as u64,
    }
}

/// Writes an element.
#[inline]
pub(crate) fn write_element(words: &mut [u32], offset: u64, bytes: u32, value: u64) {
    let index = (offset / 4) as usize;
    match bytes {
        4 => words[index] = value as u32,
        8 => {
            words[index] = value as u32;
            words[index + 1] = (value >> 32) as u32;
        }
        _ => {
            let shift = (offset % 4) * 8;
            let mask = element_mask(bytes) << shift;
            words[index] = (words[index] & !mask) | ((value as u32) << shift & mask);
        }
    }
}

/// The global memory as one worker sees it.
#[derive(Debug)]
pub(crate) struct Global<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) words: Vec<SegmentWords<'a>>,
    /// The segment of the last access: the next one is mostly in the same.
    pub(crate) last: usize,
}

impl Global<'_> {
    /// The segment that contains an access, and the offset in it.
    #[inline]
    pub(crate) fn locate(&mut self, address: u64, bytes: u64) -> Option<(usize, u64)> {
        if let Some(segment) = self.layout.segments.get(self.last)
            && let Some(offset) = segment.offset(address, bytes)
        {
            return Some((self.last, offset));
        }
        let (index, offset) = self.layout.locate(address, bytes)?;
        self.last = index;
        Some((index, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements() {
        let mut words = [0u32; 4];
        write_element(&mut words, 5, 1, 0xab);
        write_element(&mut words, 6, 2, 0x1234);
        write_element(&mut words, 8, 8, 0x1122_3344_5566_7788);
        assert_eq!(words, [0, 0x1234_ab00, 0x5566_7788, 0x1122_3344]);
        assert_eq!(read_element(|index| words[index], 8, 8), 0x1122_3344_5566_7788);
        assert_eq!(read_element(|index| words[index], 6, 2), 0x1234);
    }

    #[test]
    fn bytes_by_value() {
        for length in [0, 1, 7, 8, LEAST_FREED - 1, LEAST_FREED, LEAST_FREED + 1, 40 * LEAST_FREED + 3] {
            let mut bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            assert_eq!(Buffer::from_vec(bytes.clone()), Buffer::from_bytes(&bytes), "{length}");
            assert_eq!(Buffer::from_bytes(&bytes).to_bytes(), bytes, "{length}");
            bytes.fill(0);
            assert_eq!(Buffer::from_vec(bytes), Buffer::zeros(length), "{length}");
        }
    }

    #[test]
    fn the_nearest() {
        let mut layout = Layout::default();
        let x = layout.add("x", 16, 4, Writes::Possible);
        assert_eq!(layout.describe(x + 20), format!("4 bytes past the end of `x` (16 bytes at {x:#x})"));
        assert_eq!(layout.describe(x - 8), format!("8 bytes before `x` (16 bytes at {x:#x})"));
    }
}
