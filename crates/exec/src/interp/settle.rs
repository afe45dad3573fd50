//! Registers that native code has left as numbers of tiles are written to the register file.

use super::interpreter::Interpreter;
use super::register::{Lane, spread, with_lane};
use roundonce_ir::Reg;

impl Interpreter<'_> {
    /// Writes all registers to the file that it does not have, of all lanes.
    pub(super) fn settle(&mut self) {
        while let Some(reg) = self.native.held.last() {
            self.settle_register(reg);
        }
    }
    /// Writes a register to the file, which alone has it from now on.
    pub(super) fn settle_register(&mut self, reg: Reg) {
        if let Some((pattern, numbers)) = self.native.held.forget(reg) {
            with_lane!(self.code.kernel.width(reg), T => self.put_numbers::<T>(reg, &pattern, |tile| numbers[tile]));
        }
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
            spread(to, pattern, number(tile));
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
