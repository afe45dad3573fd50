//! Registers as native code has them: a number for each tile, plus a pattern of its lanes.
//!
//! Code that goes on behind a barrier takes them from the code before it as they are. Before anything else runs they are
//! written to the register file.

use roundonce_ir::Reg;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A register of all lanes.
#[derive(Debug, Default)]
struct TileNumbers {
    /// The number of its pattern, which is as long as a tile. `None` if the register is in the file alone.
    pattern: Option<usize>,
    /// Whether the file has it too.
    is_in_file: bool,
    numbers: Vec<u64>,
}

/// The registers of which the numbers of tiles are known.
#[derive(Debug, Default)]
pub(super) struct HeldRegisters {
    by_register: Vec<TileNumbers>,
    held: Vec<Reg>,
    /// The patterns of a worker's native code, each once, so that their numbers tell whether two are the same.
    patterns: Vec<Arc<[i64]>>,
    pattern_numbers: BTreeMap<Arc<[i64]>, usize>,
    retilings: Retilings,
    /// Kept so that no change of tiles allocates.
    retiled: Vec<u64>,
}

impl HeldRegisters {
    /// A pattern's number.
    pub(super) fn number_of(&mut self, pattern: &[i64]) -> usize {
        if let Some(&known) = self.pattern_numbers.get(pattern) {
            return known;
        }
        let (pattern, number): (Arc<[i64]>, usize) = (pattern.into(), self.patterns.len());
        self.patterns.push(pattern.clone());
        self.pattern_numbers.insert(pattern, number);
        number
    }
    /// Where a register's numbers are to be put, in the place of what is known of it.
    pub(super) fn hold(&mut self, reg: Reg, pattern: usize, is_in_file: bool) -> &mut Vec<u64> {
        let index = reg.0 as usize;
        if index >= self.by_register.len() {
            self.by_register.resize_with(index + 1, TileNumbers::default);
        }
        let register = &mut self.by_register[index];
        if register.pattern.replace(pattern).is_none() {
            self.held.push(reg);
        }
        register.is_in_file = is_in_file;
        register.numbers.clear();
        &mut register.numbers
    }
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.by_register.get(reg.0 as usize).is_some_and(|register| register.pattern.is_some())
    }
    /// Whether a register, if its numbers are known, has a pattern, modulo its width.
    pub(super) fn fits(&mut self, reg: Reg, pattern: usize, mask: u64) -> bool {
        let Some(register) = self.by_register.get(reg.0 as usize) else { return false };
        let Some(held) = register.pattern else { return false };
        held == pattern
            || retiling(&mut self.retilings, &self.patterns, (held, pattern, mask))
                .is_some_and(|retiling| retiling.fits(&register.numbers))
    }
    /// A register's numbers, if they are known, for tiles of a pattern that it fits, modulo its width.
    pub(super) fn numbers(&mut self, reg: Reg, pattern: usize, mask: u64) -> Option<&[u64]> {
        let register = self.by_register.get_mut(reg.0 as usize)?;
        let held = register.pattern?;
        if held != pattern {
            let retiling = retiling(&mut self.retilings, &self.patterns, (held, pattern, mask))?;
            debug_assert!(retiling.fits(&register.numbers), "they were asked whether they fit");
            self.retiled.clear();
            retiling.extend(&mut self.retiled, &register.numbers);
            std::mem::swap(&mut self.retiled, &mut register.numbers);
            register.pattern = Some(pattern);
        }
        Some(&register.numbers)
    }
    /// How tiles of one pattern become those of another, modulo a width. `None` where lanes differ.
    pub(super) fn retiling(&mut self, from: usize, to: usize, mask: u64) -> Option<Retiling> {
        retiling(&mut self.retilings, &self.patterns, (from, to, mask)).cloned()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
    /// One of the registers.
    pub(super) fn last(&self) -> Option<Reg> {
        self.held.last().copied()
    }
    /// The register is in the file alone. Returns its pattern and its numbers if it has yet to be written there.
    pub(super) fn forget(&mut self, reg: Reg) -> Option<(Arc<[i64]>, Vec<u64>)> {
        let register = self.by_register.get_mut(reg.0 as usize)?;
        let pattern = register.pattern.take()?;
        self.held.retain(|&other| other != reg);
        (!register.is_in_file).then(|| (self.patterns[pattern].clone(), std::mem::take(&mut register.numbers)))
    }
    /// Nothing is known of any.
    pub(super) fn clear(&mut self) {
        for reg in self.held.drain(..) {
            self.by_register[reg.0 as usize].pattern = None;
        }
    }
}

/// Of two patterns by their numbers and a width's mask, how one's tiles become the other's. `None` where lanes differ.
type Retilings = BTreeMap<(usize, usize, u64), Option<Retiling>>;

fn retiling<'a>(
    known: &'a mut Retilings,
    patterns: &[Arc<[i64]>],
    (from, to, mask): (usize, usize, u64),
) -> Option<&'a Retiling> {
    let new = || Retiling::new(&patterns[from], &patterns[to], mask);
    known.entry((from, to, mask)).or_insert_with(new).as_ref()
}

/// Lanes of the same values by tiles of another size.
#[derive(Clone, Debug)]
pub(super) struct Retiling {
    /// Whether the new tiles are the larger ones.
    merges: bool,
    /// What the number of each smaller tile in a larger one is more than the larger one's.
    more: Vec<u64>,
    mask: u64,
}

impl Retiling {
    /// `None` if the patterns differ.
    fn new(from: &[i64], to: &[i64], mask: u64) -> Option<Retiling> {
        let merges = from.len() < to.len();
        let (small, large) = if merges { (from, to) } else { (to, from) };
        let less = |a: i64, b: i64| a.wrapping_sub(b) as u64;
        let alike = large.chunks_exact(small.len()).all(|part| {
            let mut pairs = part.iter().zip(small);
            pairs.all(|(&large, &at)| (less(large, part[0]) ^ less(at, small[0])) & mask == 0)
        });
        let more = || large.iter().step_by(small.len()).map(|&part| less(part, small[0])).collect();
        (alike && large.len().is_multiple_of(small.len())).then(|| Retiling { merges, more: more(), mask })
    }
    /// The number of a larger tile by that of its first smaller one.
    fn merged(&self, parts: &[u64]) -> u64 {
        parts[0].wrapping_sub(self.more[0]) & self.mask
    }
    /// Whether the new tiles have such numbers: smaller tiles side by side may not be a larger one.
    pub(super) fn fits(&self, numbers: &[u64]) -> bool {
        let fits = |parts: &[u64]| {
            let number = self.merged(parts);
            parts.iter().zip(&self.more).all(|(&part, &more)| (part.wrapping_sub(number) ^ more) & self.mask == 0)
        };
        !self.merges || numbers.chunks(self.more.len()).all(fits)
    }
    /// Adds the numbers of the new tiles.
    pub(super) fn extend(&self, to: &mut Vec<u64>, numbers: &[u64]) {
        if self.merges {
            to.extend(numbers.chunks(self.more.len()).map(|parts| self.merged(parts)));
        } else {
            let more = |number: u64| self.more.iter().map(move |&more| number.wrapping_add(more) & self.mask);
            to.extend(numbers.iter().flat_map(|&number| more(number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Retiling;

    fn retiled(numbers: &[u64], from: &[i64], to: &[i64], mask: u64) -> Option<Vec<u64>> {
        let retiling = Retiling::new(from, to, mask).filter(|retiling| retiling.fits(numbers))?;
        let mut new = Vec::new();
        retiling.extend(&mut new, numbers);
        Some(new)
    }
    /// Lanes by their tiles' numbers and a pattern, modulo 2^16.
    fn lanes(numbers: &[u64], pattern: &[i64]) -> Vec<u64> {
        numbers
            .iter()
            .flat_map(|number| pattern.iter().map(move |&at| number.wrapping_add(at as u64) & 0xffff))
            .collect()
    }

    #[test]
    fn tiles_of_another_size_have_the_same_lanes() {
        let (by_two, by_four): (&[i64], &[i64]) = (&[0, -3], &[0, -3, 7, 4]);
        let (pairs, fours) = ([5, 12, 0xffff, 6], [5, 0xffff]);
        assert_eq!(retiled(&pairs, by_two, by_four, 0xffff).as_deref(), Some(&fours[..]));
        assert_eq!(retiled(&fours, by_four, by_two, 0xffff).as_deref(), Some(&pairs[..]));
        assert_eq!(lanes(&pairs, by_two), lanes(&fours, by_four));
        // The second tile of two lanes is not where the pattern of four has it; the patterns differ; no tile has whole ones.
        assert_eq!(retiled(&[5, 13, 0xffff, 6], by_two, by_four, 0xffff), None);
        assert_eq!(retiled(&pairs, &[0, -2], by_four, 0xffff), None);
        assert_eq!(retiled(&fours, by_four, &[0, -3, 7], 0xffff), None);
        // A pattern that does not begin with 0.
        let moved = retiled(&fours, by_four, &[2, -1], 0xffff).unwrap_or_default();
        assert_eq!(lanes(&moved, &[2, -1]), lanes(&fours, by_four));
        assert_eq!(retiled(&moved, &[2, -1], by_four, 0xffff).as_deref(), Some(&fours[..]));
    }
}
