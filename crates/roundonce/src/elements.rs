//! The elements of a buffer, written on one line: `zeros:f32:1024`, `random:f32:1024:SEED`, `values:f32:1,0x40000000,inf`.

use roundonce_arith::Format;
use std::hint::black_box;

use crate::answers::inexact_numbers;
use crate::bits::{parse_bits, read_float};
use crate::why::random;

/// An element type: our name, NumPy's with its byte order, and the bytes of an element. NumPy has no bf16: two opaque bytes
/// stand for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType {
    /// `f32`.
    pub name: &'static str,
    /// `<f4`.
    pub descr: &'static str,
    /// Bytes.
    pub size: usize,
}

const fn element(name: &'static str, descr: &'static str, size: usize) -> ElementType {
    ElementType { name, descr, size }
}

static TYPES: [ElementType; 12] = [
    element("f16", "<f2", 2),
    element("bf16", "<V2", 2),
    element("f32", "<f4", 4),
    element("f64", "<f8", 8),
    element("u8", "|u1", 1),
    element("i8", "|i1", 1),
    element("u16", "<u2", 2),
    element("i16", "<i2", 2),
    element("u32", "<u4", 4),
    element("i32", "<i4", 4),
    element("u64", "<u8", 8),
    element("i64", "<i8", 8),
];

impl ElementType {
    /// The type of a name.
    pub fn named(name: &str) -> Option<&'static ElementType> {
        TYPES.iter().find(|known| known.name == name)
    }

    /// Its format, of floats.
    pub fn format(&self) -> Option<Format> {
        Format::NAMED.iter().find(|(name, _)| *name == self.name).map(|(_, format)| *format)
    }

    /// An element as written: of floats any number, of integers a decimal or hex bits.
    fn read(&self, text: &str) -> Result<u64, String> {
        match self.format() {
            Some(format) => read_float(format, text),
            None => parse_bits(text, 8 * self.size as u32).map_err(|_| format!("`{text}` is no {}", self.name)),
        }
    }
}

/// Elements in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elements {
    /// Their type.
    pub ty: &'static ElementType,
    /// Their axes.
    pub shape: Vec<u64>,
    /// Little-endian.
    pub bytes: Vec<u8>,
}

/// The ways to write elements, for messages.
pub const WRITTEN: &str = "zeros:f32:N, random:f32:N:SEED or values:f32:1,2,3";

impl Elements {
    /// Reads elements; `None` for a text of another kind. Random floats are spread evenly over (-1, 1), with all bits of
    /// their significand, integers over all their values; the same for the same seed.
    ///
    /// ```
    /// let pair = roundonce::elements::Elements::parse("values:f16:1,0x3c01").unwrap().unwrap();
    /// assert_eq!(pair.bytes, [0x00, 0x3c, 0x01, 0x3c]);
    /// ```
    pub fn parse(text: &str) -> Option<Result<Elements, String>> {
        let (kind, rest) = text.split_once(':')?;
        Some(match kind {
            "zeros" => zeros(text, rest),
            "random" => pseudorandom(text, rest),
            "values" => values(text, rest),
            _ => return None,
        })
    }

    /// What is said of the elements that [`parse`](Elements::parse) reads and their type has not.
    ///
    /// ```
    /// let notes = roundonce::elements::Elements::notes("values:f32:1,0.1,1e50");
    /// assert_eq!(notes[0], "`0.1` is not exact in f32: rounded once, to nearest even");
    /// assert_eq!(notes[1], "`1e50` is not exact in f32: rounded once, to nearest even, which is infinity");
    /// ```
    pub fn notes(text: &str) -> Vec<String> {
        let values = text.strip_prefix("values:").and_then(|rest| rest.split_once(':'));
        let known = values.and_then(|(ty, values)| Some((ElementType::named(ty)?.format()?, values)));
        known.map_or(Vec::new(), |(format, values)| inexact_numbers(format, values.split(',').map(str::trim)))
    }

    /// Each element as a number, of integers in decimal.
    pub fn decimals(ty: &ElementType, bytes: &[u8]) -> Vec<String> {
        let element = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let bits = u64::from_le_bytes(word);
            let spare = 64 - 8 * bytes.len() as u32;
            match ty.format() {
                Some(format) => roundonce_isa::shortest_decimal(format, bits),
                None if ty.name.starts_with('i') => ((bits << spare) as i64 >> spare).to_string(),
                None => bits.to_string(),
            }
        };
        bytes.chunks_exact(ty.size).map(element).collect()
    }
}

fn unreadable(text: &str, wanted: &str) -> String {
    let names: Vec<&str> = TYPES.iter().map(|ty| ty.name).collect();
    format!("`{text}` is not {wanted} with a type of {}", names.join(" "))
}

/// `f32:1024`, or `f32:32x32` with several axes.
fn zeros(text: &str, rest: &str) -> Result<Elements, String> {
    let axes = |text: &str| text.split('x').map(|axis| axis.parse().ok()).collect::<Option<Vec<u64>>>();
    let found = rest.split_once(':').and_then(|(ty, shape)| Some((ElementType::named(ty)?, axes(shape)?)));
    let (ty, shape) = found.ok_or_else(|| unreadable(text, "zeros:TYPE:COUNT"))?;
    let length = length(text, ty, &shape)?;
    Ok(Elements { ty, shape, bytes: vec![0; length] })
}

/// `f32:1024:7`.
fn pseudorandom(text: &str, rest: &str) -> Result<Elements, String> {
    let parts: Vec<&str> = rest.split(':').collect();
    let found = match parts[..] {
        [ty, count, seed] => ElementType::named(ty).zip(count.parse().ok()).zip(seed.parse::<u64>().ok()),
        _ => None,
    };
    let ((ty, count), seed) = found.ok_or_else(|| unreadable(text, "random:TYPE:COUNT:SEED"))?;
    let format = ty.format();
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    filled(text, ty, &[count], |_| {
        let bits = random::next(&mut state);
        format.map_or(bits, |format| {
            // Each binade below 1 is half as likely as the one above it.
            let below = u64::from(random::next(&mut state).leading_zeros()) + 1;
            let exponent = (format.bias() as u64).saturating_sub(below);
            let significand = bits & ((1 << (format.precision() - 1)) - 1);
            ((bits >> 63) * format.sign_mask()) | (exponent << (format.precision() - 1)) | significand
        })
    })
}

/// `f32:1,0x40000000,inf`.
fn values(text: &str, rest: &str) -> Result<Elements, String> {
    let found = rest.split_once(':').and_then(|(ty, values)| Some((ElementType::named(ty)?, values)));
    let (ty, values) = found.ok_or_else(|| unreadable(text, "values:TYPE:VALUE,VALUE"))?;
    let values: Vec<u64> = values.split(',').map(|value| ty.read(value.trim())).collect::<Result<_, _>>()?;
    filled(text, ty, &[values.len() as u64], |at| values[at])
}

/// How many bytes so many elements have, if there is room for them.
fn length(text: &str, ty: &ElementType, shape: &[u64]) -> Result<usize, String> {
    let count = shape.iter().try_fold(1, |all: u64, &axis| all.checked_mul(axis));
    let length = count.and_then(|count| usize::try_from(count).ok()).and_then(|count| ty.size.checked_mul(count));
    // Asked for and given back: an allocation that fails later would end the process. The compiler must not leave it out.
    let there_is_room = |length: &usize| {
        let mut bytes = Vec::<u8>::new();
        let asked = bytes.try_reserve_exact(*length);
        black_box(&bytes);
        asked.is_ok()
    };
    length.filter(there_is_room).ok_or_else(|| format!("`{text}`: no memory for so many elements"))
}

/// Elements; `bits` gives each.
fn filled(
    text: &str,
    ty: &'static ElementType,
    shape: &[u64],
    mut bits: impl FnMut(usize) -> u64,
) -> Result<Elements, String> {
    let length = length(text, ty, shape)?;
    let mut bytes = Vec::with_capacity(length);
    for at in 0..length / ty.size {
        bytes.extend_from_slice(&bits(at).to_le_bytes()[..ty.size]);
    }
    Ok(Elements { ty, shape: shape.to_vec(), bytes })
}
