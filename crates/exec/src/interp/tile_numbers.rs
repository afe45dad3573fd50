//! Registers as native code has them: a number for each tile, plus a pattern of its lanes.
//!
//! Code that goes on behind a barrier takes them from the code before it as they are. Before anything else runs they are
//! written to the register file.

use roundonce_ir::Reg;
use std::borrow::Cow;
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
    fn get(&self, reg: Reg) -> Option<(usize, &[u64])> {
        let register = self.by_register.get(reg.0 as usize)?;
        register.pattern.map(|pattern| (pattern, &register.numbers[..]))
    }
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.get(reg).is_some()
    }
    /// A register's numbers for tiles of a pattern, modulo its width, if they are known and it has that pattern.
    pub(super) fn numbers(&self, reg: Reg, pattern: usize, mask: u64) -> Option<Cow<'_, [u64]>> {
        let (held, numbers) = self.get(reg)?;
        if held == pattern {
            return Some(Cow::Borrowed(numbers));
        }
        retiled(numbers, &self.patterns[held], &self.patterns[pattern], mask).map(Cow::Owned)
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

/// The numbers of larger or smaller tiles: lanes of the same values by another pattern. None if that pattern has others.
fn retiled(numbers: &[u64], from: &[i64], to: &[i64], mask: u64) -> Option<Vec<u64>> {
    let is_smaller = from.len() < to.len();
    let (small, large) = if is_smaller { (from, to) } else { (to, from) };
    let less = |a: i64, b: i64| a.wrapping_sub(b) as u64;
    let first = small[0];
    let alike = large.chunks_exact(small.len()).all(|part| {
        let mut pairs = part.iter().zip(small);
        pairs.all(|(&large, &small)| (less(large, part[0]) ^ less(small, first)) & mask == 0)
    });
    // What a smaller tile's number is more than the larger one's.
    let more = || large.iter().step_by(small.len()).map(|&part| less(part, first));
    if !alike || !large.len().is_multiple_of(small.len()) {
        return None;
    }
    if !is_smaller {
        return Some(numbers.iter().flat_map(|number| more().map(|more| number.wrapping_add(more) & mask)).collect());
    }
    let merged = numbers.chunks(large.len() / small.len()).map(|parts| {
        let number = parts[0].wrapping_sub(less(large[0], first));
        let same = parts.iter().zip(more()).all(|(&part, more)| (part.wrapping_sub(number) ^ more) & mask == 0);
        same.then_some(number & mask)
    });
    merged.collect()
}

#[cfg(test)]
mod tests {
    use super::retiled;

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
