//! Registers of many lanes: uniform, affine along rows, or varying (a column of lanes).

use crate::kernel::LANES;
use roundonce_arith::batch::Source;
use roundonce_ir::{Kernel, Operand, Reg, Width};

/// The lanes of a register, aligned to a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Column<T>(pub(crate) [T; LANES]);

/// A column of any width.
#[derive(Debug)]
pub(super) enum AnyColumn {
    Pred(Box<Column<u8>>),
    B16(Box<Column<u16>>),
    B32(Box<Column<u32>>),
    B64(Box<Column<u64>>),
}

/// Something of a column of any width.
macro_rules! of_any {
    ($any:expr, $column:ident => $value:expr) => {
        match $any {
            AnyColumn::Pred($column) => $value,
            AnyColumn::B16($column) => $value,
            AnyColumn::B32($column) => $value,
            AnyColumn::B64($column) => $value,
        }
    };
}

impl AnyColumn {
    /// Where it is, for native code.
    pub(super) fn address(&mut self) -> u64 {
        of_any!(self, column => column.0.as_mut_ptr().expose_provenance() as u64)
    }
    /// The number that the lanes from one on are, plus a pattern. `None` if they are not.
    pub(super) fn number(&self, first: usize, pattern: &[i64]) -> Option<u64> {
        of_any!(self, column => column.number(first, pattern))
    }
    /// The lanes from one on become a number plus a pattern.
    pub(super) fn spread(&mut self, first: usize, pattern: &[i64], number: u64) {
        of_any!(self, column => spread(&mut column.0[first..], pattern, number));
    }
}

impl<T: Lane> Column<T> {
    fn number(&self, first: usize, pattern: &[i64]) -> Option<u64> {
        let lanes = &self.0[first..first + pattern.len()];
        let number = T::of(lanes[0].bits().wrapping_sub(pattern[0] as u64));
        let fits = lanes.iter().zip(pattern).all(|(&lane, &at)| lane == number.step(T::of(at as u64), 1));
        fits.then(|| number.bits())
    }
}

/// Lanes become a number plus a pattern.
pub(super) fn spread<T: Lane>(lanes: &mut [T], pattern: &[i64], number: u64) {
    let number = T::of(number);
    lanes.iter_mut().zip(pattern).for_each(|(lane, &at)| *lane = number.step(T::of(at as u64), 1));
}

/// An integer that holds a lane of a register; a predicate has 8 bits.
pub(crate) trait Lane: Copy + Default + Eq + core::fmt::Debug + 'static {
    const WIDTH: Width;
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// base + stride × step, modulo the width.
    fn step(self, stride: Self, step: usize) -> Self;
    /// A column among those of other widths.
    fn into_any(column: Box<Column<Self>>) -> AnyColumn;
    fn file(files: &RegisterFiles) -> &RegisterFile<Self>;
    fn file_mut(files: &mut RegisterFiles) -> &mut RegisterFile<Self>;
}

macro_rules! lane {
    ($int:ty, $width:ident, $field:ident) => {
        impl Lane for $int {
            const WIDTH: Width = Width::$width;
            #[inline(always)]
            fn of(bits: u64) -> Self {
                bits as $int
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn step(self, stride: Self, step: usize) -> Self {
                self.wrapping_add(stride.wrapping_mul(step as $int))
            }
            fn into_any(column: Box<Column<Self>>) -> AnyColumn {
                AnyColumn::$width(column)
            }
            #[inline(always)]
            fn file(files: &RegisterFiles) -> &RegisterFile<Self> {
                &files.$field
            }
            #[inline(always)]
            fn file_mut(files: &mut RegisterFiles) -> &mut RegisterFile<Self> {
                &mut files.$field
            }
        }
    };
}
lane!(u8, Pred, preds);
lane!(u16, B16, b16);
lane!(u32, B32, b32);
lane!(u64, B64, b64);

/// Instantiates code for the lane type of a width.
macro_rules! with_lane {
    ($width:expr, $t:ident => $body:expr) => {
        match $width {
            roundonce_ir::Width::Pred => {
                type $t = u8;
                $body
            }
            roundonce_ir::Width::B16 => {
                type $t = u16;
                $body
            }
            roundonce_ir::Width::B32 => {
                type $t = u32;
                $body
            }
            roundonce_ir::Width::B64 => {
                type $t = u64;
                $body
            }
        }
    };
}
pub(crate) use with_lane;

/// What is known about the values of a register's lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaneShape {
    /// The same in all lanes: `value`.
    Uniform,
    /// In each row `rows[row] + value × index in the row`.
    Affine,
    /// Anything: the column.
    Varying,
}

/// One register.
#[derive(Clone, Debug)]
pub(crate) struct Register<T> {
    pub(crate) shape: LaneShape,
    /// The uniform value, or the stride along rows.
    pub(crate) value: T,
    pub(crate) rows: Vec<T>,
    /// The lanes. A register that is not varying may have them too, materialised.
    pub(crate) column: Option<Box<Column<T>>>,
}

impl<T: Lane> Register<T> {
    /// One lane.
    pub(crate) fn lane(&self, lane: usize, row: usize) -> T {
        match (self.shape, &self.column) {
            (LaneShape::Uniform, _) => self.value,
            (LaneShape::Affine, _) => self.rows[lane / row].step(self.value, lane % row),
            (LaneShape::Varying, Some(column)) => column.0[lane],
            (LaneShape::Varying, None) => T::default(),
        }
    }
    /// Whether the lanes from one on are a number plus the pattern. Affine rows are determined by a lane of each and one more.
    pub(crate) fn has_pattern(&self, first: usize, row: usize, pattern: &[i64]) -> bool {
        if self.shape == LaneShape::Varying {
            // A load that is folded has its lanes in memory.
            let Some(column) = &self.column else { return false };
            let lanes = &column.0[first..first + pattern.len()];
            // Without a branch a lane.
            let differs = |(&lane, &at): (&T, &i64)| lane.bits() ^ lanes[0].step(T::of(at as u64), 1).bits();
            return lanes.iter().zip(pattern).fold(0, |all, pair| all | differs(pair)) == 0;
        }
        let (from, last) = (first / row, pattern.len() - 1);
        let is = |value: T, start: T, place: usize| value == T::of(start.bits().wrapping_add(pattern[place] as u64));
        if first.is_multiple_of(row) && pattern.len().is_multiple_of(row) {
            let rows = &self.rows[from..from + pattern.len() / row];
            let mut firsts = rows.iter().zip((0..).step_by(row));
            return firsts.all(|(&value, place)| is(value, rows[0], place))
                && is(rows[0].step(self.value, 1 % row), rows[0], 1 % row)
                && is(rows[rows.len() - 1].step(self.value, row - 1), rows[0], last);
        }
        let value = |place: usize| self.rows[(first + place) / row].step(self.value, (first + place) % row);
        let places = (0..pattern.len()).step_by(row.min(pattern.len())).chain([1 % row, last]);
        places.filter(|&place| place <= last).all(|place| is(value(place), value(0), place))
    }
}

/// A register as an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'a, T> {
    Uniform(T),
    /// The first value of each row, and the stride.
    Affine(&'a [T], T),
    Varying,
}

/// The lanes of a batch as rows of equal length (a block's x axis).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) lanes: usize,
    pub(crate) row: usize,
    pub(crate) rows: usize,
}

/// The registers of one width. A kernel's registers are numbered across all widths: a file has one for each number, and
/// those of other widths are unused.
#[derive(Debug, Default)]
pub(crate) struct RegisterFile<T> {
    pub(crate) registers: Vec<Register<T>>,
    /// Free columns, the last used last: it is still in the cache.
    pool: Vec<Box<Column<T>>>,
    /// Columns in all.
    columns: usize,
    /// A free list of rows.
    row_pool: Vec<T>,
}

impl<T: Lane> View<'_, T> {
    /// The first value of a row; 0 if varying.
    #[inline(always)]
    pub(crate) fn row(self, row: usize) -> T {
        match self {
            View::Uniform(value) => value,
            View::Affine(rows, _) => rows[row],
            View::Varying => T::default(),
        }
    }
    /// The stride along rows.
    #[inline(always)]
    pub(crate) fn stride(self) -> T {
        match self {
            View::Affine(_, stride) => stride,
            View::Uniform(_) | View::Varying => T::default(),
        }
    }
    /// Whether it is affine; a uniform value is.
    #[inline(always)]
    pub(crate) fn is_affine(self) -> bool {
        !matches!(self, View::Varying)
    }
}

impl<T: Lane> RegisterFile<T> {
    fn resize(&mut self, registers: usize) {
        let empty = || Register { shape: LaneShape::Uniform, value: T::default(), rows: Vec::new(), column: None };
        self.registers.resize_with(registers, empty);
    }
    fn clear(&mut self, register: usize) {
        let register = &mut self.registers[register];
        self.pool.extend(register.column.take());
        (register.shape, register.value) = (LaneShape::Uniform, T::default());
    }
    #[inline(always)]
    pub(crate) fn view(&self, operand: Operand) -> View<'_, T> {
        match operand {
            Operand::Imm(bits) => View::Uniform(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let register = &self.registers[index as usize];
                match register.shape {
                    LaneShape::Uniform => View::Uniform(register.value),
                    LaneShape::Affine => View::Affine(&register.rows, register.value),
                    LaneShape::Varying => View::Varying,
                }
            }
        }
    }
    #[inline(always)]
    pub(crate) fn uniform(&self, operand: Operand) -> Option<T> {
        match operand {
            Operand::Imm(bits) => Some(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let register = &self.registers[index as usize];
                (register.shape == LaneShape::Uniform).then_some(register.value)
            }
        }
    }
    /// A column from the pool, its contents arbitrary.
    #[inline]
    pub(crate) fn acquire(&mut self) -> Box<Column<T>> {
        self.pool.pop().unwrap_or_else(|| {
            self.columns += 1;
            Box::new(Column([T::default(); LANES]))
        })
    }
    /// A copy of a column, of so many lanes.
    fn copy(&mut self, column: &Column<T>, lanes: usize) -> Box<Column<T>> {
        let mut copy = self.acquire();
        copy.0[..lanes].copy_from_slice(&column.0[..lanes]);
        copy
    }
    #[inline]
    pub(crate) fn release(&mut self, column: Box<Column<T>>) {
        self.pool.push(column);
    }
    #[inline]
    pub(crate) fn put_uniform(&mut self, reg: Reg, value: T) {
        let register = &mut self.registers[reg.0 as usize];
        register.shape = LaneShape::Uniform;
        register.value = value;
        if let Some(column) = register.column.take() {
            self.pool.push(column);
        }
    }
    /// Makes a register affine, or uniform if all lanes are the same.
    #[inline]
    pub(crate) fn put_affine(&mut self, reg: Reg, stride: T, rows: impl Iterator<Item = T>) {
        let mut all = self.acquire_rows();
        all.extend(rows);
        self.put_affine_rows(reg, stride, all);
    }
    /// An empty list of rows, for [`put_affine_rows`](RegisterFile::put_affine_rows).
    #[inline]
    pub(crate) fn acquire_rows(&mut self) -> Vec<T> {
        let mut rows = std::mem::take(&mut self.row_pool);
        rows.clear();
        rows
    }
    /// Returns a list of rows that is not used.
    #[inline]
    pub(crate) fn release_rows(&mut self, rows: Vec<T>) {
        self.row_pool = rows;
    }
    #[inline]
    pub(crate) fn put_affine_rows(&mut self, reg: Reg, stride: T, rows: Vec<T>) {
        let register = &mut self.registers[reg.0 as usize];
        self.row_pool = std::mem::replace(&mut register.rows, rows);
        register.value = stride;
        register.shape = LaneShape::Affine;
        if stride == T::default()
            && let [first, rest @ ..] = &register.rows[..]
            && rest.iter().all(|row| row == first)
        {
            register.value = *first;
            register.shape = LaneShape::Uniform;
        }
        if let Some(column) = register.column.take() {
            self.pool.push(column);
        }
    }
    #[inline]
    pub(crate) fn put_column(&mut self, reg: Reg, column: Box<Column<T>>) {
        let register = &mut self.registers[reg.0 as usize];
        register.shape = LaneShape::Varying;
        if let Some(old) = register.column.replace(column) {
            self.pool.push(old);
        }
    }
    /// Marks a register dead: it is written before it is read again.
    #[inline]
    pub(crate) fn kill(&mut self, reg: Reg) {
        let register = &mut self.registers[reg.0 as usize];
        register.shape = LaneShape::Uniform;
        if let Some(column) = register.column.take() {
            self.pool.push(column);
        }
    }
    /// Computes the lanes of an affine register for [`source`](RegisterFile::source). It stays affine.
    #[inline]
    pub(crate) fn materialise(&mut self, operand: Operand, geometry: Geometry) {
        if let Operand::Reg(reg) = operand {
            let register = &self.registers[reg.0 as usize];
            if register.shape == LaneShape::Affine && register.column.is_none() {
                self.compute_column(reg, geometry);
            }
        }
    }
    #[cold]
    fn compute_column(&mut self, reg: Reg, geometry: Geometry) {
        let mut column = self.acquire();
        let register = &mut self.registers[reg.0 as usize];
        for (lanes, &base) in column.0[..geometry.lanes].chunks_exact_mut(geometry.row).zip(&register.rows) {
            if register.value == T::default() {
                lanes.fill(base);
                continue;
            }
            for (place, lane) in lanes.iter_mut().enumerate() {
                *lane = base.step(register.value, place);
            }
        }
        register.column = Some(column);
    }
    /// Makes a register varying.
    pub(crate) fn make_varying(&mut self, reg: Reg, geometry: Geometry) -> &mut Column<T> {
        self.materialise(Operand::Reg(reg), geometry);
        let register = &mut self.registers[reg.0 as usize];
        if register.shape == LaneShape::Uniform {
            let (value, column) = (register.value, register.column.take());
            let mut column = column.unwrap_or_else(|| self.acquire());
            column.0[..geometry.lanes].fill(value);
            self.registers[reg.0 as usize].column = Some(column);
        }
        let register = &mut self.registers[reg.0 as usize];
        register.shape = LaneShape::Varying;
        register.column.get_or_insert_with(|| Box::new(Column([T::default(); LANES])))
    }
    /// Lanes `low..high` of an operand; an affine one must be materialised.
    #[inline(always)]
    pub(crate) fn source(&self, operand: Operand, low: usize, high: usize) -> Source<'_, T> {
        match operand {
            Operand::Imm(bits) => Source::Uniform(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let register = &self.registers[index as usize];
                match &register.column {
                    Some(column) if register.shape != LaneShape::Uniform => Source::Slice(&column.0[low..high]),
                    _ => Source::Uniform(register.value),
                }
            }
        }
    }
    /// Calls `see` with the number and the first lane of each group of `size` lanes.
    pub(crate) fn each_group(
        &self,
        reg: Reg,
        size: usize,
        groups: usize,
        geometry: Geometry,
        mut see: impl FnMut(usize, T),
    ) {
        let register = &self.registers[reg.0 as usize];
        match (register.shape, &register.column) {
            (LaneShape::Uniform, _) => (0..groups).for_each(|group| see(group, register.value)),
            (LaneShape::Affine, _) if size.is_multiple_of(geometry.row) => {
                let firsts = register.rows.iter().step_by(size / geometry.row).take(groups);
                firsts.enumerate().for_each(|(group, &first)| see(group, first));
            }
            (LaneShape::Varying, Some(column)) => {
                column.0.iter().step_by(size).take(groups).enumerate().for_each(|(group, &first)| see(group, first));
            }
            _ => (0..groups).for_each(|group| see(group, self.lane(Operand::Reg(reg), group * size, geometry))),
        }
    }
    /// One lane.
    pub(crate) fn lane(&self, operand: Operand, lane: usize, geometry: Geometry) -> T {
        match operand {
            Operand::Imm(bits) => T::of(bits),
            Operand::Reg(Reg(index)) => self.registers[index as usize].lane(lane, geometry.row),
        }
    }
}

/// All registers of a batch.
#[derive(Debug, Default)]
pub(crate) struct RegisterFiles {
    pub(crate) preds: RegisterFile<u8>,
    pub(crate) b16: RegisterFile<u16>,
    pub(crate) b32: RegisterFile<u32>,
    pub(crate) b64: RegisterFile<u64>,
}

impl RegisterFiles {
    /// The bytes of all columns.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        let words = self.preds.columns + 2 * self.b16.columns + 4 * self.b32.columns + 8 * self.b64.columns;
        (words * LANES) as u64
    }
    /// Whether no batch has run yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.preds.registers.is_empty()
    }
    /// A copy of a column, of so many lanes.
    pub(super) fn copy(&mut self, column: &AnyColumn, lanes: usize) -> AnyColumn {
        match column {
            AnyColumn::Pred(column) => AnyColumn::Pred(self.preds.copy(column, lanes)),
            AnyColumn::B16(column) => AnyColumn::B16(self.b16.copy(column, lanes)),
            AnyColumn::B32(column) => AnyColumn::B32(self.b32.copy(column, lanes)),
            AnyColumn::B64(column) => AnyColumn::B64(self.b64.copy(column, lanes)),
        }
    }
    pub(super) fn release(&mut self, column: AnyColumn) {
        match column {
            AnyColumn::Pred(column) => self.preds.release(column),
            AnyColumn::B16(column) => self.b16.release(column),
            AnyColumn::B32(column) => self.b32.release(column),
            AnyColumn::B64(column) => self.b64.release(column),
        }
    }
    /// All registers of a kernel become zero.
    pub(crate) fn reset(&mut self, kernel: &Kernel) {
        let registers = kernel.registers.len();
        self.preds.resize(registers);
        self.b16.resize(registers);
        self.b32.resize(registers);
        self.b64.resize(registers);
        for (index, width) in kernel.registers.iter().enumerate() {
            with_lane!(*width, T => T::file_mut(self).clear(index));
        }
    }
    /// One lane of an operand of a width, as bits.
    pub(crate) fn lane(&self, operand: Operand, width: Width, lane: usize, geometry: Geometry) -> u64 {
        let bits = with_lane!(width, T => T::file(self).lane(operand, lane, geometry).bits());
        bits & width.mask()
    }
}
