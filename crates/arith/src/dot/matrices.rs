//! Whole matrices, and many dot products.

use super::lanes::{self, Decoder, LANES, Packed, Plan, Rows};
use super::{Addend, Dot, Order};
use crate::batch::Level;
use crate::{ArithOp, Elements, Operation, Profile, Rounding};
use std::vec;
use std::vec::Vec;

/// Rows of a that are packed at a time.
const ROWS: usize = 64;

/// The vectors of a matrix that dot products are made of: rows of a, columns of b. Each is a k of its own.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    elements: &'a Elements,
    /// Elements from one vector to the next.
    stride: usize,
    /// Elements from one k to the next.
    step: usize,
}

impl<'a> Vectors<'a> {
    /// Vectors of which number `i` has its element `k` at `i * stride + k * step`.
    pub const fn new(elements: &'a Elements, stride: usize, step: usize) -> Vectors<'a> {
        Vectors { elements, stride, step }
    }

    /// An element.
    ///
    /// # Panics
    /// If the matrix has no such element.
    pub fn get(&self, vector: usize, k: usize) -> u64 {
        self.elements.get(vector * self.stride + k * self.step)
    }

    /// The elements of one k of up to sixteen vectors; behind them that of the last one again.
    #[inline(always)]
    fn sixteen(&self, first: usize, count: usize, k: usize) -> [u32; LANES] {
        #[inline(always)]
        fn gather<T: Copy + Into<u32>>(all: &[T], stride: usize, count: usize) -> [u32; LANES] {
            // One check for all: the last one is the farthest.
            let all = &all[..(count - 1) * stride + 1];
            match count {
                LANES => core::array::from_fn(|lane| all[lane * stride].into()),
                _ => core::array::from_fn(|lane| all[lane.min(count - 1) * stride].into()),
            }
        }
        let start = first * self.stride + k * self.step;
        match self.elements {
            Elements::U8(all) => gather(&all[start..], self.stride, count),
            Elements::U16(all) => gather(&all[start..], self.stride, count),
            Elements::U32(all) => gather(&all[start..], self.stride, count),
            // No plan has elements of 64 bits.
            Elements::U64(_) => [0; LANES],
        }
    }

    /// The elements of each k of sixteen vectors whose elements are next to each other.
    fn transposed(&self, level: Level, first: usize, to: &mut [[u32; LANES]]) {
        let start = first * self.stride;
        match self.elements {
            Elements::U8(all) => lanes::transpose(level, &all[start..], self.stride, to),
            Elements::U16(all) => lanes::transpose(level, &all[start..], self.stride, to),
            Elements::U32(all) => lanes::transpose(level, &all[start..], self.stride, to),
            // No plan has elements of 64 bits.
            Elements::U64(_) => {}
        }
    }
}

/// Which vectors meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// Every row of a with every column of b: results row by row.
    All {
        /// Columns of b.
        columns: usize,
    },
    /// Row i of a with column i of b: one result each.
    Each,
}

/// A matrix multiply-add of matrices of any size: products in the order of k, `k` of them an instruction, each instruction's
/// result the next one's addend.
#[derive(Clone, Copy, Debug)]
pub struct MatrixProduct<'a> {
    dot: Dot,
    profile: Profile,
    level: Level,
    a: Vectors<'a>,
    b: Vectors<'a>,
    pairs: Pairs,
    depth: usize,
    scales: Option<[Vectors<'a>; 2]>,
}

impl<'a> MatrixProduct<'a> {
    /// The product of rows of a and columns of b, `depth` elements each.
    ///
    /// # Errors
    /// A text if `depth` is not a multiple of the instruction's products, or if it is more than that and c has another format
    /// than d.
    pub fn new(
        dot: Dot,
        profile: &Profile,
        a: Vectors<'a>,
        b: Vectors<'a>,
        pairs: Pairs,
        depth: usize,
    ) -> Result<MatrixProduct<'a>, &'static str> {
        if depth == 0 || !depth.is_multiple_of(dot.k as usize) {
            return Err("the depth is no multiple of the products of an instruction");
        }
        if depth > dot.k as usize && dot.c != dot.d {
            return Err("c has another type than d, so that one instruction's result is no addend of the next");
        }
        Ok(MatrixProduct { dot, profile: *profile, level: Level::best(), a, b, pairs, depth, scales: None })
    }

    /// The same with block scales of a's rows and of b's columns: as many as [`Dot::scales`] for each instruction.
    #[must_use]
    pub fn with_scales(self, scales: Option<[Vectors<'a>; 2]>) -> MatrixProduct<'a> {
        MatrixProduct { scales, ..self }
    }

    /// The same on another level, for comparison.
    #[must_use]
    pub fn at(self, level: Level) -> MatrixProduct<'a> {
        MatrixProduct { level, ..self }
    }

    /// Results from the row `first` on: `sums` has the addends, row by row, and gets the results.
    ///
    /// # Panics
    /// If `sums` is not whole rows, the matrices have no such rows, or an operation with scales was given none.
    pub fn rows(&self, first: usize, sums: &mut [u64]) {
        match self.pairs {
            Pairs::All { columns } => {
                assert!(sums.len().is_multiple_of(columns.max(1)), "sums of whole rows");
                for (part, sums) in sums.chunks_mut(columns.max(1) * ROWS).enumerate() {
                    self.some_rows(first + part * ROWS, columns, sums);
                }
            }
            Pairs::Each => self.pairs(first, sums),
        }
    }

    /// The plan of vectors, where they can be used.
    fn plan(&self) -> Option<Plan> {
        (self.dot.c == self.dot.accumulator && self.dot.d == self.dot.accumulator)
            .then(|| Plan::of(&self.dot, &self.profile))?
    }

    /// A few rows: a's are packed once for all columns, and sixteen columns of b once for all of the rows.
    fn some_rows(&self, first: usize, columns: usize, sums: &mut [u64]) {
        let Some(plan) = self.plan() else {
            for (index, sum) in sums.iter_mut().enumerate() {
                *sum = self.alone(first + index / columns, index % columns, *sum);
            }
            return;
        };
        let mut packed = vec![Packed::ZERO; self.depth];
        let mut rows: Vec<(bool, Vec<(i32, i32)>)> = Vec::with_capacity(ROWS);
        let count = sums.len() / columns;
        for start in (0..count).step_by(LANES) {
            let some = LANES.min(count - start);
            let numbers = self.pack(&plan.a, &mut packed, self.a, first + start, some);
            let row = |lane| (numbers >> lane & 1 == 1, packed.iter().map(|packed| packed.lane(lane)).collect());
            rows.extend((0..some).map(row));
        }
        for start in (0..columns).step_by(LANES) {
            let count = LANES.min(columns - start);
            let numbers = self.pack(&plan.b, &mut packed, self.b, start, count);
            for (row, (is_number, a)) in rows.iter().enumerate() {
                let numbers = if *is_number { numbers } else { 0 };
                let sums = &mut sums[row * columns + start..][..count];
                self.lanes(&plan, Rows::One(a), &packed, sums, numbers, |lane| (first + row, start + lane));
            }
        }
    }

    /// Rows of a with columns of b of their own.
    fn pairs(&self, first: usize, sums: &mut [u64]) {
        let Some(plan) = self.plan() else {
            for (index, sum) in sums.iter_mut().enumerate() {
                *sum = self.alone(first + index, first + index, *sum);
            }
            return;
        };
        let (mut a, mut b) = (vec![Packed::ZERO; self.depth], vec![Packed::ZERO; self.depth]);
        for (part, sums) in sums.chunks_mut(LANES).enumerate() {
            let (first, count) = (first + part * LANES, sums.len());
            let numbers =
                self.pack(&plan.a, &mut a, self.a, first, count) & self.pack(&plan.b, &mut b, self.b, first, count);
            self.lanes(&plan, Rows::Each(&a), &b, sums, numbers, |lane| (first + lane, first + lane));
        }
    }

    /// Packs up to sixteen vectors in the order of the steps; the lanes of numbers alone.
    fn pack(&self, decoder: &Decoder, to: &mut [Packed], vectors: Vectors<'_>, first: usize, count: usize) -> u16 {
        let k = self.dot.k as usize;
        let index = |place: usize| match self.dot.order {
            Order::Ascending => place,
            Order::Halves => place / k * k + self.dot.index(place % k),
        };
        if vectors.step == 1 && vectors.stride >= to.len() && count == LANES {
            let mut rows = vec![[0; LANES]; to.len()];
            vectors.transposed(self.level, first, &mut rows);
            return lanes::pack(self.level, decoder, to, |place| rows[index(place)]);
        }
        lanes::pack(self.level, decoder, to, |place| vectors.sixteen(first, count, index(place)))
    }

    /// Sixteen elements. Those that are not numbers all along are computed alone.
    fn lanes(
        &self,
        plan: &Plan,
        a: Rows<'_>,
        b: &[Packed],
        sums: &mut [u64],
        mut numbers: u16,
        place: impl Fn(usize) -> (usize, usize),
    ) {
        let addends: [u32; LANES] = core::array::from_fn(|lane| sums.get(lane).map_or(0, |sum| *sum as u32));
        let mut results = addends;
        if numbers != 0 && self.dot.addend == Addend::InFirstStep {
            numbers &= lanes::add(self.level, plan, a, b, &mut results);
        } else if numbers != 0 {
            let add = Operation::new(ArithOp::Add, self.dot.accumulator, Rounding::NearestEven);
            let k = self.dot.k as usize;
            for (index, b) in b.chunks(k).enumerate() {
                let a = match a {
                    Rows::One(row) => Rows::One(&row[index * k..index * k + k]),
                    Rows::Each(rows) => Rows::Each(&rows[index * k..index * k + k]),
                };
                let mut products = [0; LANES];
                numbers &= lanes::add(self.level, plan, a, b, &mut products);
                for (sum, product) in results.iter_mut().zip(products) {
                    *sum = add.evaluate(&self.profile, &[product.into(), (*sum).into()]).bits as u32;
                }
            }
        }
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = match numbers >> lane & 1 {
                1 => results[lane].into(),
                _ => {
                    let (row, column) = place(lane);
                    self.alone(row, column, *sum)
                }
            };
        }
    }

    /// One element.
    fn alone(&self, row: usize, column: usize, addend: u64) -> u64 {
        let k = self.dot.k as usize;
        let (mut a, mut b) = (vec![0; k], vec![0; k]);
        let mut sum = addend;
        for start in (0..self.depth).step_by(k) {
            for index in 0..k {
                (a[index], b[index]) = (self.a.get(row, start + index), self.b.get(column, start + index));
            }
            let count = self.dot.scales();
            let scale = |matrix: usize, vector: usize| -> Vec<u64> {
                let first = start / k * count;
                self.scales.map_or(Vec::new(), |scales| {
                    (first..first + count).map(|at| scales[matrix].get(vector, at)).collect()
                })
            };
            let (sa, sb) = (scale(0, row), scale(1, column));
            sum = self.dot.evaluate(&self.profile, &a, &b, sum, [&sa, &sb]);
        }
        sum
    }
}
