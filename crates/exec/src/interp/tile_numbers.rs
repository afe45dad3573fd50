//! Registers as native code has them: a number for each tile, plus a pattern of its lanes.
//!
//! Code that goes on behind a barrier takes them from the code before it as they are. Before anything else runs they are
//! written to the register file.

use super::interpreter::Interpreter;
use super::register::{Lane, with_lane};
use roundonce_ir::Reg;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The patterns of a worker's native code, each once, so that their numbers tell whether two are the same.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    numbers: BTreeMap<Arc<[i64]>, usize>,
    all: Vec<Arc<[i64]>>,
}

impl Patterns {
    /// A pattern's number.
    pub(super) fn number(&mut self, pattern: &[i64]) -> usize {
        if let Some(&known) = self.numbers.get(pattern) {
            return known;
        }
        let (pattern, number): (Arc<[i64]>, usize) = (pattern.into(), self.all.len());
        self.all.push(pattern.clone());
        self.numbers.insert(pattern, number);
        number
    }
}

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
}

impl HeldRegisters {
    /// Takes a register's numbers, in the place of what is known of it.
    pub(super) fn hold(&mut self, reg: Reg, pattern: usize, is_in_file: bool, numbers: impl Iterator<Item = u64>) {
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
        register.numbers.extend(numbers);
    }
    /// The number of a register's pattern, and its numbers.
    fn get(&self, reg: Reg) -> Option<(usize, &[u64])> {
        let register = self.by_register.get(reg.0 as usize)?;
        register.pattern.map(|pattern| (pattern, &register.numbers[..]))
    }
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.get(reg).is_some()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
    /// The register is in the file alone.
    pub(super) fn forget(&mut self, reg: Reg) {
        if self.has(reg) {
            self.by_register[reg.0 as usize].pattern = None;
            self.held.retain(|&other| other != reg);
        }
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

impl Interpreter<'_> {
    /// A register's numbers for tiles of a pattern, if they are known and it has that pattern.
    pub(super) fn tile_numbers(&self, reg: Reg, pattern: usize) -> Option<Cow<'_, [u64]>> {
        let (held, numbers) = self.native.held.get(reg)?;
        if held == pattern {
            return Some(Cow::Borrowed(numbers));
        }
        let [from, to] = [held, pattern].map(|pattern| &self.native.patterns.all[pattern]);
        retiled(numbers, from, to, self.code.kernel.width(reg).mask()).map(Cow::Owned)
    }
    /// Writes all registers to the file that it does not have, of all lanes.
    pub(super) fn settle(&mut self) {
        while let Some(&reg) = self.native.held.held.last() {
            self.settle_register(reg);
        }
    }
    /// Writes a register to the file, which alone has it from now on.
    pub(super) fn settle_register(&mut self, reg: Reg) {
        let Some((pattern, _)) = self.native.held.get(reg) else { return };
        let register = &mut self.native.held.by_register[reg.0 as usize];
        let numbers = std::mem::take(&mut register.numbers);
        if !register.is_in_file {
            let pattern = self.native.patterns.all[pattern].clone();
            with_lane!(self.code.kernel.width(reg), T => self.put_numbers::<T>(reg, &pattern, |tile| numbers[tile]));
        }
        self.native.held.by_register[reg.0 as usize].numbers = numbers;
        self.native.held.forget(reg);
    }

    /// One number a tile plus a pattern becomes a register: uniform or affine if it is, otherwise varying.
    pub(super) fn put_numbers<T: Lane>(&mut self, d: Reg, pattern: &[i64], number: impl Fn(usize) -> u64) {
        if self.inactive_lanes_are_dead(d)
            && self.active.count == self.geometry.lanes
            && self.put_affine_numbers::<T>(d, pattern, &number)
        {
            return;
        }
        let mut column = T::file_mut(&mut self.files).acquire();
        // Lanes that are not active have what no one reads.
        for (tile, to) in column.0[..self.geometry.lanes].chunks_exact_mut(pattern.len()).enumerate() {
            let number = T::of(number(tile));
            to.iter_mut().zip(pattern).for_each(|(lane, &at)| *lane = number.step(T::of(at as u64), 1));
        }
        self.set_column::<T>(d, column);
    }

    /// The same if every row is affine: whether it is.
    fn put_affine_numbers<T: Lane>(&mut self, d: Reg, pattern: &[i64], number: impl Fn(usize) -> u64) -> bool {
        let (row, lanes) = (self.geometry.row, pattern.len());
        // A tile has whole rows, or a row whole tiles.
        let step = row.min(lanes);
        if !row.is_multiple_of(step) || !lanes.is_multiple_of(step) {
            return false;
        }
        let between = |one: i64, next: i64| T::of(next.wrapping_sub(one) as u64);
        let stride = if step > 1 { between(pattern[0], pattern[1]) } else { T::default() };
        let mut in_tile = pattern.chunks_exact(step);
        if !in_tile.all(|row| row.windows(2).all(|pair| between(pair[0], pair[1]) == stride)) {
            return false;
        }
        let number = |tile: usize, at: i64| T::of(number(tile).wrapping_add(at as u64));
        let mut rows = T::file_mut(&mut self.files).acquire_rows();
        let of_row = row / step;
        for tile in 0..self.geometry.lanes / lanes {
            let first = number(tile, pattern[0]);
            match tile % of_row {
                0 => rows.extend(pattern.iter().step_by(step).map(|&at| number(tile, at))),
                // The row goes on from the tile before.
                part if rows.last().is_some_and(|start| start.step(stride, part * lanes) == first) => {}
                _ => {
                    T::file_mut(&mut self.files).release_rows(rows);
                    return false;
                }
            }
        }
        T::file_mut(&mut self.files).put_affine_rows(d, stride, rows);
        true
    }
}
