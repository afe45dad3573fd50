//! Elements of an array, as bits.

use crate::Format;
use std::vec::Vec;

/// Elements of one format as bits, in the integers that are as wide; of packed values the components, the lowest first.
///
/// ```
/// use roundonce_arith::{Elements, Format};
/// let half = Elements::of_bytes(Format::F16, &[0x00, 0x3c, 0xff, 0x7f]).unwrap();
/// assert_eq!(half.iter().collect::<Vec<_>>(), [0x3c00, 0x7fff]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Elements {
    /// Formats of eight bits and fewer.
    U8(Vec<u8>),
    /// f16 or bf16.
    U16(Vec<u16>),
    /// f32.
    U32(Vec<u32>),
    /// f64.
    U64(Vec<u64>),
}

/// The same expression for the vector of each width.
macro_rules! each {
    ($elements:expr, $all:ident => $value:expr) => {
        match $elements {
            Elements::U8($all) => $value,
            Elements::U16($all) => $value,
            Elements::U32($all) => $value,
            Elements::U64($all) => $value,
        }
    };
}

impl Elements {
    /// None yet, of a format of 16, 32 or 64 bits.
    pub fn of(format: Format) -> Elements {
        Elements::of_width(format.width())
    }

    /// None yet, of 8, 16, 32 or 64 bits each.
    pub fn of_width(width: u32) -> Elements {
        match width {
            8 => Elements::U8(Vec::new()),
            16 => Elements::U16(Vec::new()),
            32 => Elements::U32(Vec::new()),
            _ => Elements::U64(Vec::new()),
        }
    }

    /// From the little-endian bytes of an array; `None` if they do not fill whole elements of a format of 16, 32 or 64
    /// bits.
    pub fn of_bytes(format: Format, bytes: &[u8]) -> Option<Elements> {
        let mut elements = Elements::of(format);
        (elements.width() == format.width() && bytes.len().is_multiple_of(format.width() as usize / 8)).then(|| {
            elements.fill_from_bytes(bytes);
            elements
        })
    }

    /// Replaces all by the whole elements of little-endian bytes.
    pub fn fill_from_bytes(&mut self, bytes: &[u8]) {
        fn fill<const N: usize, T>(all: &mut Vec<T>, bytes: &[u8], element: impl Fn([u8; N]) -> T) {
            all.clear();
            all.extend(bytes.as_chunks().0.iter().map(|bytes| element(*bytes)));
        }
        match self {
            Elements::U8(all) => fill(all, bytes, u8::from_le_bytes),
            Elements::U16(all) => fill(all, bytes, u16::from_le_bytes),
            Elements::U32(all) => fill(all, bytes, u32::from_le_bytes),
            Elements::U64(all) => fill(all, bytes, u64::from_le_bytes),
        }
    }

    /// Bits of an element.
    pub fn width(&self) -> u32 {
        match self {
            Elements::U8(_) => 8,
            Elements::U16(_) => 16,
            Elements::U32(_) => 32,
            Elements::U64(_) => 64,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        each!(self, all => all.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        match self {
            Elements::U8(all) => all[index].into(),
            Elements::U16(all) => all[index].into(),
            Elements::U32(all) => all[index].into(),
            Elements::U64(all) => all[index],
        }
    }

    /// Does something with each: faster than [`Elements::iter`], for the width is looked at once.
    #[inline]
    pub fn for_each(&self, mut act: impl FnMut(u64)) {
        match self {
            Elements::U8(all) => all.iter().for_each(|&bits| act(bits.into())),
            Elements::U16(all) => all.iter().for_each(|&bits| act(bits.into())),
            Elements::U32(all) => all.iter().for_each(|&bits| act(bits.into())),
            Elements::U64(all) => all.iter().for_each(|&bits| act(bits)),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends the lower bits of a number, as many as an element has.
    #[inline]
    pub fn push(&mut self, bits: u64) {
        each!(self, all => all.push(bits as _));
    }

    /// Appends the same element so many times.
    #[inline]
    pub fn push_repeated(&mut self, bits: u64, count: usize) {
        each!(self, all => all.resize(all.len() + count, bits as _));
    }

    /// Drops all of them; their memory stays.
    pub fn clear(&mut self) {
        each!(self, all => all.clear());
    }

    /// So many of them: what is missing is zero.
    pub fn resize(&mut self, count: usize) {
        each!(self, all => all.resize(count, 0));
    }
}

impl Extend<u64> for Elements {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, bits: I) {
        bits.into_iter().for_each(|bits| self.push(bits));
    }
}
