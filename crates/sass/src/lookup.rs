//! The table's indexes, one for each generation: by word and by mnemonic.

use std::sync::LazyLock;

use crate::generation::Generation;
use crate::maxwell;
use crate::row::{Arithmetic, Lowering, Row};

/// The upper bits of a word that the index is over.
const INDEXED: u32 = 13;

struct Index {
    /// Every row of the table, those of other generations too.
    rows: Vec<&'static Row>,
    ignored: Vec<u64>,
    /// For each value of the upper bits the range in `candidates`.
    ranges: Vec<(u16, u16)>,
    /// The numbers of rows, those of one value of the upper bits beside each other in the table's order.
    candidates: Vec<u16>,
    /// The rows' numbers, by mnemonic.
    names: Vec<(&'static str, Vec<u16>)>,
}

static INDEXES: [LazyLock<Index>; 4] = [
    LazyLock::new(|| Index::of(Generation::Sm50)),
    LazyLock::new(|| Index::of(Generation::Sm52)),
    LazyLock::new(|| Index::of(Generation::Sm60)),
    LazyLock::new(|| Index::of(Generation::Sm61)),
];

#[inline]
fn index(generation: Generation) -> &'static Index {
    &INDEXES[generation as usize]
}

impl Index {
    fn of(generation: Generation) -> Index {
        let rows: Vec<&'static Row> = maxwell::rows().collect();
        let mut candidates = Vec::new();
        let ranges = (0..1_u64 << INDEXED).map(|top| {
            let top = top << (64 - INDEXED);
            let first = candidates.len() as u16;
            let upper = u64::MAX << (64 - INDEXED);
            let known = rows.iter().enumerate().filter(|(_, row)| row.is_of(generation));
            let fitting = known.filter(|(_, row)| (top ^ row.bits) & row.mask & upper == 0);
            candidates.extend(fitting.map(|(number, _)| number as u16));
            (first, candidates.len() as u16)
        });
        let ranges = ranges.collect();
        let mut names: Vec<(&'static str, Vec<u16>)> = Vec::new();
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.is_of(generation)) {
            match names.iter_mut().find(|(name, _)| *name == row.name) {
                Some((_, numbers)) => numbers.push(number as u16),
                None => names.push((row.name, vec![number as u16])),
            }
        }
        names.sort_by_key(|(name, _)| *name);
        let ignored = rows.iter().map(|row| row.ignored()).collect();
        Index { rows, ignored, ranges, candidates, names }
    }
}

/// A row by its number.
#[inline]
pub(crate) fn row(number: u16) -> &'static Row {
    index(Generation::NEWEST).rows[usize::from(number)]
}

/// The bits that mean nothing in a row.
#[inline]
pub(crate) fn ignored(number: u16) -> u64 {
    index(Generation::NEWEST).ignored[usize::from(number)]
}

/// The number of the row that a word is of.
#[inline]
pub(crate) fn word(word: u64, generation: Generation) -> Option<u16> {
    let index = index(generation);
    let (first, end) = index.ranges[(word >> (64 - INDEXED)) as usize];
    let candidates = &index.candidates[usize::from(first)..usize::from(end)];
    candidates.iter().copied().find(|number| index.rows[usize::from(*number)].matches(word))
}

/// The numbers of a mnemonic's rows.
pub(crate) fn mnemonic(name: &str, generation: Generation) -> Option<&'static [u16]> {
    let names = &index(generation).names;
    let at = names.binary_search_by_key(&name, |(known, _)| known).ok()?;
    Some(&names[at].1)
}

/// Every mnemonic, sorted.
pub(crate) fn mnemonics(generation: Generation) -> impl Iterator<Item = &'static str> + Clone {
    index(generation).names.iter().map(|(name, _)| *name)
}

/// The mnemonic whose counterpart with a 32-bit immediate is this one.
pub(crate) fn short_counterpart(name: &str) -> Option<&'static Arithmetic> {
    maxwell::ARITHMETIC.iter().find(|short| short.long_immediate == Some(name))
}

/// The arithmetic of a row.
pub(crate) fn arithmetic(row: &Row) -> Option<&'static Arithmetic> {
    match row.lowering {
        Lowering::Arithmetic(arithmetic) => Some(arithmetic),
        Lowering::Move | Lowering::None => None,
    }
}
