//! The values of a name over many elements.

use roundonce_arith::{Elements, Format};
use roundonce_deviate::Typed;

use crate::observed::ObservedValue;

/// The values of one format over all elements, or one value for all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The format of each.
    pub format: Format,
    /// Their bits.
    pub bits: Bits,
}

/// Bits in the width that holds them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bits {
    /// The same everywhere.
    One(u64),
    /// All bits there are, one element after the other: those of the element's own number from `shift` on, the first
    /// element's number being `start`.
    Counted {
        /// More numbers than a machine has addresses may be counted in parts.
        start: u64,
        /// How many lower bits of the number belong to others.
        shift: u32,
    },
    /// Each element's own.
    Each(Elements),
    /// One number that was printed: these bits, and what else prints so.
    Printed(u64, Box<ObservedValue>),
}

impl Column {
    /// One value for all elements.
    pub fn one(value: Typed) -> Column {
        Column { format: value.format, bits: Bits::One(value.bits) }
    }
    /// One number that was seen: typed or hex bits, or a decimal of a format, right to the digits given.
    ///
    /// # Errors
    /// As [`ObservedValue::parse`].
    pub fn printed(format: Format, text: &str) -> Result<Column, String> {
        let value = ObservedValue::parse_of(format, text)?;
        let typed = value.typed(format).ok_or_else(|| format!("`{text}` is not a value"))?;
        Ok(Column { format: typed.format, bits: Bits::Printed(typed.bits, Box::new(value)) })
    }
    /// Values from the little-endian bytes of an array; `None` if they do not fill whole elements of a format of 16,
    /// 32 or 64 bits.
    pub fn of_bytes(format: Format, bytes: &[u8]) -> Option<Column> {
        Some(Column { format, bits: Bits::Each(Elements::of_bytes(format, bytes)?) })
    }
    /// How many elements there are; `None` where there is no end of them.
    pub fn len(&self) -> Option<usize> {
        match &self.bits {
            Bits::One(_) | Bits::Counted { .. } | Bits::Printed(..) => None,
            Bits::Each(values) => Some(values.len()),
        }
    }
    /// Whether it is an array without elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
    /// The value at an element.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at(&self, element: usize) -> Typed {
        let bits = match &self.bits {
            Bits::One(bits) | Bits::Printed(bits, _) => *bits,
            Bits::Counted { start, shift } => (start + element as u64) >> shift & self.format.mask(),
            Bits::Each(values) => values.get(element),
        };
        Typed { format: self.format, bits }
    }
    /// The values at some elements.
    pub(crate) fn gather(&self, elements: &[usize], out: &mut Vec<u64>) {
        out.clear();
        match &self.bits {
            Bits::One(bits) | Bits::Printed(bits, _) => out.resize(elements.len(), *bits),
            Bits::Counted { .. } => out.extend(elements.iter().map(|&at| self.at(at).bits)),
            Bits::Each(values) => out.extend(elements.iter().map(|&at| values.get(at))),
        }
    }
}
