//! Inputs on which two computations may differ: edges, special ones and random ones first, and all where they are few.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use roundonce_arith::{Elements, Format};

use super::{Frequency, Kind, Pair};
use crate::arrays::{BLOCK, Bits, Column, parallel};
use crate::search::ulps;

/// Elements of a random column.
const RANDOM: usize = 1 << 16;
/// Differences that are made simpler.
const FIRST: usize = 16;
/// Inputs tried after a first difference for one that a person would sooner call so.
const TRIED_SINCE: usize = 1 << 20;
/// Special and random inputs that are tried before all are.
const BEFORE_ALL: u64 = 1 << 20;
/// Blocks that are compared at a time, at most: what is found does not depend on how many threads compare them.
const AT_ONCE: usize = 16;

/// xorshift64*: any sequence will do, as long as it is the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }

    /// A number of magnitude 2^-`range` to 2^`range`, its exponent uniform.
    fn near_one(&mut self, format: Format, range: i32) -> u64 {
        let range = range.min(format.bias() - 1).max(1);
        let exponent = (format.bias() - range) as u64 + self.below(2 * range as u64 + 1);
        let bits = self.next();
        (bits & format.sign_mask()) | exponent << format.frac_bits() | (bits >> 8) & format.frac_mask()
    }

    /// One of the kinds of numbers on which computations differ.
    fn directed(&mut self, format: Format) -> u64 {
        match self.below(8) {
            0 => self.next() & format.mask(),
            1 => {
                let all = specials(format);
                all[self.below(all.len() as u64) as usize]
            }
            // Few significant bits: ties and exact results.
            2 | 3 => {
                let dropped = self.below(u64::from(format.frac_bits()) + 1);
                self.near_one(format, 6) >> dropped << dropped
            }
            // All ones but few: carries.
            4 => self.near_one(format, 6) | format.frac_mask() >> self.below(4),
            5 => self.near_one(format, 3 * format.bias()),
            _ => self.near_one(format, 4),
        }
    }
}

/// The edges of a format, with both signs.
fn specials(format: Format) -> Vec<u64> {
    let one = format.one();
    let unsigned = [
        0,
        1,
        format.frac_mask(),
        format.smallest_normal(),
        format.smallest_normal() + 1,
        one - 1,
        one,
        one + 1,
        one | format.frac_mask(),
        format.largest_finite(),
        format.infinity(),
        format.infinity() | format.quiet_bit(),
    ];
    unsigned.into_iter().flat_map(|bits| [bits, bits | format.sign_mask()]).collect()
}

/// The edges, all powers of two with the numbers beside them, and the fractions in which a single bit begins or ends what
/// is set: halfway cases of narrower formats among them, and numbers with few significant bits.
fn edges(format: Format) -> Vec<u64> {
    let fractions = (0..format.frac_bits()).flat_map(|at| {
        let (bit, below) = (1 << at, (1 << at) - 1);
        [bit, below, bit | below, format.frac_mask() ^ below, (format.frac_mask() ^ below) - bit]
    });
    let fractions: BTreeSet<u64> = fractions.chain([0, 1, format.frac_mask()]).collect();
    let exponents = (0..=format.exp_max()).map(|exponent| exponent << format.frac_bits());
    let numbers = exponents.flat_map(|exponent| fractions.iter().map(move |fraction| exponent | fraction));
    let signed = numbers.flat_map(|bits| [bits, bits | format.sign_mask()]);
    specials(format).into_iter().chain(signed).collect()
}

fn column(format: Format, mut value: impl FnMut() -> u64, count: usize) -> Bits {
    let mut elements = Elements::of(format);
    elements.extend((0..count).map(|_| value()));
    Bits::Each(elements)
}

/// Special and random values of some formats, one column each: those on which computations differ.
pub(crate) fn directed_inputs(formats: &[Format], count: usize) -> Vec<Column> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let columns = formats.iter();
    columns.map(|&format| Column { format, bits: column(format, || random.directed(format), count) }).collect()
}

/// Inputs, and which of them.
type Block = (BTreeMap<String, Column>, Range<usize>);

impl Pair<'_> {
    /// All inputs, those on which computations differ first: the first differences that a person would call one; else the
    /// first of another kind.
    pub(super) fn exhaust(&self, bits: u32, progress: &dyn Fn(u64)) -> Vec<Vec<u64>> {
        let part = |start: u64| {
            let mut shift = 0;
            let columns = self.columns(|_, format| {
                let here = shift;
                shift += format.width();
                Bits::Counted { start, shift: here }
            });
            let left = usize::try_from((1 << bits) - start).unwrap_or(usize::MAX);
            (columns, 0..left.min(RANDOM))
        };
        let all = (0..1u64 << bits).step_by(RANDOM).map(part);
        // Few are counted as soon as chosen.
        let chosen = (1 << bits > BEFORE_ALL).then(|| std::iter::once(self.edges()).chain(self.directed(BEFORE_ALL)));
        self.first_found(chosen.into_iter().flatten().chain(all), progress)
    }

    /// The first differences in special and random inputs.
    pub(super) fn search(&self, most: u64, progress: &dyn Fn(u64)) -> Vec<Vec<u64>> {
        self.first_found(self.directed(most), progress)
    }

    /// Every edge of one input; of several each edge of one with each of the others, as far as a block goes.
    fn edges(&self) -> Block {
        let edges = if self.inputs.len() == 1 { edges } else { specials };
        let mut before = 1;
        let mut count = 1;
        let columns = self.columns(|_, format| {
            let all = edges(format);
            let mut at = 0;
            let every = before;
            before *= all.len();
            count = before.min(RANDOM);
            let next = || {
                at += 1;
                all[(at - 1) / every % all.len()]
            };
            column(format, next, RANDOM)
        });
        (columns, 0..count)
    }

    /// Special and random inputs, block by block.
    fn directed(&self, most: u64) -> impl Iterator<Item = Block> {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut block = move || self.columns(|_, format| column(format, || random.directed(format), RANDOM));
        (0..most.div_ceil(RANDOM as u64)).map(move |_| (block(), 0..RANDOM))
    }

    /// A few of the first differences of the plainest kind in some blocks: of some that are made as simple as can be the
    /// simplest is simpler than of one. After the first difference so many inputs more are tried for a plainer one.
    fn first_found(&self, mut blocks: impl Iterator<Item = Block>, progress: &dyn Fn(u64)) -> Vec<Vec<u64>> {
        let (mut best, mut tried_since) = (None, 0);
        // Most differences are in the first block.
        let mut at_once = 1;
        loop {
            let now: Vec<Block> = blocks.by_ref().take(at_once).collect();
            if now.is_empty() {
                break;
            }
            at_once = AT_ONCE.min(2 * at_once);
            let found = parallel::map(self.threads, now.len(), RANDOM as u64, &mut |_| (), |at| {
                let (columns, elements) = &now[at];
                self.plainest(columns, elements.clone())
            });
            for (found, (_, elements)) in found.into_iter().zip(&now) {
                progress(elements.len() as u64);
                let is_plainer =
                    |(kind, _): &(Kind, Vec<Vec<u64>>)| best.as_ref().is_none_or(|(known, _)| kind < known);
                best = found.filter(is_plainer).or(best);
                if let Some((kind, values)) = &best {
                    tried_since += elements.len();
                    if *kind == Kind::Finite || tried_since >= TRIED_SINCE {
                        return values.clone();
                    }
                }
            }
        }
        best.map_or_else(Vec::new, |(_, values)| values)
    }

    /// The first differences of the plainest kind in a block.
    fn plainest(&self, columns: &BTreeMap<String, Column>, elements: Range<usize>) -> Option<(Kind, Vec<Vec<u64>>)> {
        let mut found: BTreeMap<Kind, Vec<Vec<u64>>> = BTreeMap::new();
        self.each_difference(columns, elements, |element, one, other| {
            let kind = self.kind(one, other);
            let all = found.entry(kind).or_default();
            if all.len() < FIRST {
                all.push(columns.values().map(|column| column.at(element).bits).collect());
            }
            kind == Kind::Finite && all.len() == FIRST
        });
        found.pop_first()
    }

    /// How often they differ on the data given, or on random numbers.
    pub(super) fn frequency(&self, data: Option<&BTreeMap<String, Column>>) -> Result<Option<Frequency>, String> {
        let range = 8;
        let (columns, of, text) = match data {
            Some(data) => {
                let mut count = None;
                for (name, format) in &self.inputs {
                    let column = data.get(name).ok_or_else(|| format!("the data has no `{name}`"))?;
                    if column.format != *format {
                        let [found, expected] = [column.format, *format].map(|of| of.name().unwrap_or("another type"));
                        return Err(format!("the data's `{name}` is {found}, expected {expected}"));
                    }
                    match (count, column.len()) {
                        (Some(known), Some(length)) if known != length => {
                            return Err(format!("the data's `{name}` has {length} elements, another name {known}"));
                        }
                        (_, Some(length)) => count = Some(length),
                        (_, None) => {}
                    }
                }
                (data.clone(), count.unwrap_or(1), "on the data given".to_owned())
            }
            None => {
                let mut random = Random(0x0123_4567_89ab_cdef);
                let count = 16 * RANDOM;
                let columns = self.columns(|_, format| column(format, || random.near_one(format, range), count));
                (columns, count, format!("on random numbers of magnitude 2^-{range} to 2^{range}"))
            }
        };
        let format = self.first.plan.format();
        let (mut different, mut most_ulps) = (0, 0);
        self.each_difference(&columns, 0..of, |_, one, other| {
            different += 1;
            most_ulps = most_ulps.max(ulps(format, one, other).unwrap_or(0));
            false
        });
        Ok(Some(Frequency { different, of, most_ulps, data: text }))
    }
}

const _: () = assert!(RANDOM.is_multiple_of(BLOCK));
