//! Registers of many lanes: a uniform value, rows of equal steps, or a column of lanes.

use super::native::Out;
use roundonce_arith::batch::Source;
use roundonce_ir::{Operand, Reg, Width};

/// Lanes of a group at most: whole thread blocks. More would leave the first-level cache, fewer would pay for each
/// instruction more often.
pub(crate) const LANES: usize = 2048;
/// Threads of a block at most, as on the machines themselves.
pub(crate) const THREADS: usize = 1024;

/// The lanes of a register, aligned to a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Column<T>(pub(crate) [T; LANES]);

/// An integer that holds a lane of a register; a predicate has 8 bits.
pub(crate) trait Lane: Copy + Default + Eq + core::fmt::Debug + 'static {
    const WIDTH: Width;
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// base + stride × step, modulo the width.
    fn step(self, stride: Self, step: usize) -> Self;
    /// A column among those of other widths.
    fn out(column: Box<Column<Self>>) -> Out;
    fn file(files: &Files) -> &File<Self>;
    fn file_mut(files: &mut Files) -> &mut File<Self>;
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
            fn out(column: Box<Column<Self>>) -> Out {
                Out::$width(column)
            }
            #[inline(always)]
            fn file(files: &Files) -> &File<Self> {
                &files.$field
            }
            #[inline(always)]
            fn file_mut(files: &mut Files) -> &mut File<Self> {
                &mut files.$field
            }
        }
    };
}
lane!(u8, Pred, preds);
lane!(u16, B16, b16);
lane!(u32, B32, b32);
lane!(u64, B64, b64);

/// Runs the same code for the type of a width.
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

/// What is known about the lanes of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// All the same: the cell's value.
    Uniform,
    /// In each row `rows[row] + value × place in the row`.
    Rows,
    /// Anything: the column.
    Lanes,
}

/// One register.
#[derive(Clone, Debug)]
pub(crate) struct Cell<T> {
    pub(crate) shape: Shape,
    /// The uniform value, or the stride of rows.
    pub(crate) value: T,
    pub(crate) rows: Vec<T>,
    /// The lanes; of another shape than `Lanes` they may be here too, written out.
    pub(crate) column: Option<Box<Column<T>>>,
}

/// A cell as it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View<'a, T> {
    Uniform(T),
    Rows(&'a [T], T),
    Lanes,
}

/// How the lanes of a group lie: rows of equal length (a block's x axis).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) lanes: usize,
    pub(crate) row: usize,
    pub(crate) rows: usize,
}

/// The registers of one width. A kernel's registers are numbered through all widths: a file has a cell for each,
/// those of other widths unused.
#[derive(Debug, Default)]
pub(crate) struct File<T> {
    pub(crate) cells: Vec<Cell<T>>,
    /// Columns that nobody needs, the last used last: it is still in the cache.
    pool: Vec<Box<Column<T>>>,
    /// Rows that nobody needs.
    spare: Vec<T>,
}

impl<T: Lane> View<'_, T> {
    /// The first value of a row; lanes have none.
    #[inline(always)]
    pub(crate) fn row(self, row: usize) -> T {
        match self {
            View::Uniform(value) => value,
            View::Rows(rows, _) => rows[row],
            View::Lanes => T::default(),
        }
    }
    /// The step within rows.
    #[inline(always)]
    pub(crate) fn stride(self) -> T {
        match self {
            View::Rows(_, stride) => stride,
            View::Uniform(_) | View::Lanes => T::default(),
        }
    }
    /// Whether it is rows, or uniform.
    #[inline(always)]
    pub(crate) fn has_rows(self) -> bool {
        !matches!(self, View::Lanes)
    }
}

impl<T: Lane> File<T> {
    pub(crate) fn reset(&mut self, registers: usize) {
        for cell in &mut self.cells {
            if let Some(column) = cell.column.take() {
                self.pool.push(column);
            }
            cell.shape = Shape::Uniform;
            cell.value = T::default();
        }
        let empty = || Cell { shape: Shape::Uniform, value: T::default(), rows: Vec::new(), column: None };
        self.cells.resize_with(registers, empty);
    }
    #[inline(always)]
    pub(crate) fn view(&self, operand: Operand) -> View<'_, T> {
        match operand {
            Operand::Imm(bits) => View::Uniform(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let cell = &self.cells[index as usize];
                match cell.shape {
                    Shape::Uniform => View::Uniform(cell.value),
                    Shape::Rows => View::Rows(&cell.rows, cell.value),
                    Shape::Lanes => View::Lanes,
                }
            }
        }
    }
    #[inline(always)]
    pub(crate) fn uniform(&self, operand: Operand) -> Option<T> {
        match operand {
            Operand::Imm(bits) => Some(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let cell = &self.cells[index as usize];
                (cell.shape == Shape::Uniform).then_some(cell.value)
            }
        }
    }
    /// A column to be written, its contents anything.
    #[inline]
    pub(crate) fn take(&mut self) -> Box<Column<T>> {
        self.pool.pop().unwrap_or_else(|| Box::new(Column([T::default(); LANES])))
    }
    #[inline]
    pub(crate) fn give(&mut self, column: Box<Column<T>>) {
        self.pool.push(column);
    }
    #[inline]
    pub(crate) fn put_uniform(&mut self, reg: Reg, value: T) {
        let cell = &mut self.cells[reg.0 as usize];
        cell.shape = Shape::Uniform;
        cell.value = value;
        if let Some(column) = cell.column.take() {
            self.pool.push(column);
        }
    }
    /// Rows of equal steps; all the same becomes uniform.
    #[inline]
    pub(crate) fn put_rows(&mut self, reg: Reg, stride: T, rows: impl Iterator<Item = T>) {
        let mut all = self.take_rows();
        all.extend(rows);
        self.give_rows(reg, stride, all);
    }
    /// An empty list for rows, to be given back by [`give_rows`](File::give_rows).
    #[inline]
    pub(crate) fn take_rows(&mut self) -> Vec<T> {
        let mut rows = std::mem::take(&mut self.spare);
        rows.clear();
        rows
    }
    /// Rows that came to nothing.
    #[inline]
    pub(crate) fn spare_rows(&mut self, rows: Vec<T>) {
        self.spare = rows;
    }
    #[inline]
    pub(crate) fn give_rows(&mut self, reg: Reg, stride: T, rows: Vec<T>) {
        let cell = &mut self.cells[reg.0 as usize];
        self.spare = std::mem::replace(&mut cell.rows, rows);
        cell.value = stride;
        cell.shape = Shape::Rows;
        if stride == T::default()
            && let [first, rest @ ..] = &cell.rows[..]
            && rest.iter().all(|row| row == first)
        {
            cell.value = *first;
            cell.shape = Shape::Uniform;
        }
        if let Some(column) = cell.column.take() {
            self.pool.push(column);
        }
    }
    #[inline]
    pub(crate) fn put_column(&mut self, reg: Reg, column: Box<Column<T>>) {
        let cell = &mut self.cells[reg.0 as usize];
        cell.shape = Shape::Lanes;
        if let Some(old) = cell.column.replace(column) {
            self.pool.push(old);
        }
    }
    /// A register that nobody will read before it is written.
    #[inline]
    pub(crate) fn kill(&mut self, reg: Reg) {
        let cell = &mut self.cells[reg.0 as usize];
        cell.shape = Shape::Uniform;
        if let Some(column) = cell.column.take() {
            self.pool.push(column);
        }
    }
    /// Writes rows out as lanes, so that [`source`](File::source) can be asked for them. The shape stays known.
    #[inline]
    pub(crate) fn settle(&mut self, operand: Operand, geometry: Geometry) {
        if let Operand::Reg(reg) = operand {
            let cell = &self.cells[reg.0 as usize];
            if cell.shape == Shape::Rows && cell.column.is_none() {
                self.write_out(reg, geometry);
            }
        }
    }
    #[cold]
    fn write_out(&mut self, reg: Reg, geometry: Geometry) {
        let mut column = self.take();
        let cell = &mut self.cells[reg.0 as usize];
        for (lanes, &base) in column.0[..geometry.lanes].chunks_exact_mut(geometry.row).zip(&cell.rows) {
            if cell.value == T::default() {
                lanes.fill(base);
                continue;
            }
            for (place, lane) in lanes.iter_mut().enumerate() {
                *lane = base.step(cell.value, place);
            }
        }
        cell.column = Some(column);
    }
    /// Makes a register a column, whatever it was.
    pub(crate) fn spread(&mut self, reg: Reg, geometry: Geometry) -> &mut Column<T> {
        self.settle(Operand::Reg(reg), geometry);
        let cell = &mut self.cells[reg.0 as usize];
        if cell.shape == Shape::Uniform {
            let mut column = cell.column.take().or_else(|| self.pool.pop());
            let lanes = column.get_or_insert_with(|| Box::new(Column([T::default(); LANES])));
            lanes.0[..geometry.lanes].fill(cell.value);
            cell.column = column;
        }
        cell.shape = Shape::Lanes;
        cell.column.get_or_insert_with(|| Box::new(Column([T::default(); LANES])))
    }
    /// Lanes `low..high` of an operand; rows must have been settled.
    #[inline(always)]
    pub(crate) fn source(&self, operand: Operand, low: usize, high: usize) -> Source<'_, T> {
        match operand {
            Operand::Imm(bits) => Source::Uniform(T::of(bits)),
            Operand::Reg(Reg(index)) => {
                let cell = &self.cells[index as usize];
                match &cell.column {
                    Some(column) if cell.shape != Shape::Uniform => Source::Slice(&column.0[low..high]),
                    _ => Source::Uniform(cell.value),
                }
            }
        }
    }
    /// One lane.
    pub(crate) fn lane(&self, operand: Operand, lane: usize, geometry: Geometry) -> T {
        match operand {
            Operand::Imm(bits) => T::of(bits),
            Operand::Reg(Reg(index)) => {
                let cell = &self.cells[index as usize];
                match (cell.shape, &cell.column) {
                    (Shape::Uniform, _) => cell.value,
                    (Shape::Rows, _) => cell.rows[lane / geometry.row].step(cell.value, lane % geometry.row),
                    (Shape::Lanes, Some(column)) => column.0[lane],
                    (Shape::Lanes, None) => T::default(),
                }
            }
        }
    }
}

/// All registers of a group.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) preds: File<u8>,
    pub(crate) b16: File<u16>,
    pub(crate) b32: File<u32>,
    pub(crate) b64: File<u64>,
}

impl Files {
    /// Before the first group.
    pub(crate) fn is_empty(&self) -> bool {
        self.preds.cells.is_empty()
    }
    pub(crate) fn reset(&mut self, registers: usize) {
        self.preds.reset(registers);
        self.b16.reset(registers);
        self.b32.reset(registers);
        self.b64.reset(registers);
    }
    /// One lane of an operand of a width, as bits.
    pub(crate) fn lane(&self, operand: Operand, width: Width, lane: usize, geometry: Geometry) -> u64 {
        let bits = with_lane!(width, T => T::file(self).lane(operand, lane, geometry).bits());
        bits & width.mask()
    }
}
