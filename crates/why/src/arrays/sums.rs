//! Sums over an axis: in which order, fused or not, in which precision.

use std::collections::BTreeMap;

use std::sync::Arc;

use roundonce_arith::{ArithOp, Format, Operation, Profile, Rounding};
use roundonce_deviate::{Deviation, Products};
use roundonce_isa::convert;

use super::Column;
use super::evaluate::{BLOCK, Runner};
use crate::evaluation::Evaluation;
use crate::expr::Expr;
use crate::plan::Plan;

/// The order of a sum's terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Order {
    /// From the first to the last, from +0.
    Forward,
    /// From the last to the first, from +0.
    Backward,
    /// Halves, and halves of halves, down to single terms.
    Pairwise,
    /// As NumPy's `add.reduce` over contiguous terms: eight partial sums in blocks of 128, halves above.
    Numpy,
    /// So many partial sums, each of every so-manieth term, then halved until one is left: lanes or threads.
    Threads(usize),
    /// Blocks of so many terms, each in order, then the blocks' sums in order.
    Blocks(usize),
}

impl Order {
    pub(crate) const ALL: [Order; 13] = [
        Order::Forward,
        Order::Backward,
        Order::Pairwise,
        Order::Numpy,
        Order::Threads(4),
        Order::Threads(8),
        Order::Threads(16),
        Order::Threads(32),
        Order::Threads(128),
        Order::Threads(256),
        Order::Blocks(32),
        Order::Blocks(128),
        Order::Blocks(256),
    ];

    fn name(self) -> Option<String> {
        Some(match self {
            Order::Forward => return None,
            Order::Backward => "from the last term to the first".to_owned(),
            Order::Pairwise => "by halves (pairwise)".to_owned(),
            Order::Numpy => "as NumPy's add.reduce (eight partial sums, blocks of 128)".to_owned(),
            Order::Threads(n) => {
                let who = if n < 32 { "lanes of a vector" } else { "a block of threads" };
                format!("of {n} partial sums, every {n}th term each, then halved ({who})")
            }
            Order::Blocks(n) => format!("of blocks of {n} terms, then of the blocks' sums"),
        })
    }
}

/// One evaluation of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SumEvaluation {
    order: Order,
    is_fused: bool,
    wide: Option<Format>,
    is_flushed: bool,
}

/// Every evaluation of the sum of a term.
pub(crate) fn evaluations(term: &Expr) -> Vec<SumEvaluation> {
    let wides = match term.format() {
        Format::F16 | Format::BF16 => vec![None, Some(Format::F32)],
        Format::F32 => vec![None, Some(Format::F64)],
        _ => vec![None],
    };
    let mut evaluations = Vec::new();
    for order in Order::ALL {
        for is_fused in [false, true] {
            for &wide in &wides {
                for is_flushed in [false, true] {
                    let cannot_flush = wide.is_some() || !matches!(term.format(), Format::F16 | Format::F32);
                    if is_fused && !matches!(term, Expr::Mul(..)) || is_flushed && cannot_flush {
                        continue;
                    }
                    evaluations.push(SumEvaluation { order, is_fused, wide, is_flushed });
                }
            }
        }
    }
    evaluations
}

impl SumEvaluation {
    pub(crate) fn deviations(&self, term: &Expr) -> Vec<Deviation> {
        let mut all = Vec::new();
        all.extend(self.is_fused.then(|| Deviation::Contract(Products::Only(term.to_string()))));
        all.extend(self.is_flushed.then_some(Deviation::Flush(None)));
        all.extend(self.wide.map(Deviation::WideWhole));
        all.extend(self.order.name().map(Deviation::Order));
        all
    }
}

/// A sum over an axis of columns.
pub(crate) struct Sum<'a> {
    pub(crate) term: &'a Expr,
    pub(crate) columns: &'a BTreeMap<String, Column>,
    /// Terms of each sum.
    pub(crate) length: usize,
    /// Elements from one term to the next.
    pub(crate) stride: usize,
}

impl Sum<'_> {
    /// The elements of the terms of one sum.
    fn elements(&self, sum: usize) -> Vec<usize> {
        let (outer, inner) = (sum / self.stride, sum % self.stride);
        let first = outer * self.length * self.stride + inner;
        (0..self.length).map(|index| first + index * self.stride).collect()
    }

    /// The result of one sum.
    pub(crate) fn result(&self, evaluation: &SumEvaluation, sum: usize, profile: &Profile) -> u64 {
        let format = self.term.format();
        let working = evaluation.wide.unwrap_or(format);
        let elements = self.elements(sum);
        let terms = match self.term {
            Expr::Mul(a, b) if evaluation.is_fused => Terms::Products(
                self.values(a, evaluation, &elements, profile),
                self.values(b, evaluation, &elements, profile),
            ),
            term => Terms::Values(self.values(term, evaluation, &elements, profile)),
        };
        let operation =
            |kind| Operation { flush: evaluation.is_flushed, ..Operation::new(kind, working, Rounding::NearestEven) };
        let arithmetic = Arithmetic {
            terms,
            multiply: operation(ArithOp::Mul),
            add: operation(ArithOp::Add),
            multiply_add: operation(ArithOp::MulAdd),
            profile,
        };
        let bits = arithmetic.sum(evaluation.order, self.length);
        convert(working, format, Rounding::NearestEven, bits).0
    }

    /// The values of an expression at some elements, in the working format.
    fn values(&self, expr: &Expr, evaluation: &SumEvaluation, elements: &[usize], profile: &Profile) -> Vec<u64> {
        let plan = Plan::as_written(expr);
        let working = evaluation.wide.unwrap_or(self.term.format());
        let mut in_working = Evaluation::plain(plan);
        in_working.modes.extend(evaluation.is_flushed.then_some(Deviation::Flush(None)));
        // What is computed in the wide format is not narrowed before the sum.
        if evaluation.wide.is_some() {
            Arc::make_mut(&mut in_working.plan).ops.iter_mut().for_each(|op| op.format = working);
        }
        let mut runner = Runner::new(&in_working, self.columns, profile);
        let mut values = Vec::with_capacity(elements.len());
        for block in elements.chunks(BLOCK) {
            let from = runner.format();
            values.extend(runner.run(block).iter().map(|&bits| convert(from, working, Rounding::NearestEven, bits).0));
        }
        values
    }
}

enum Terms {
    Values(Vec<u64>),
    Products(Vec<u64>, Vec<u64>),
}

struct Arithmetic<'a> {
    terms: Terms,
    multiply: Operation,
    add: Operation,
    multiply_add: Operation,
    profile: &'a Profile,
}

impl Arithmetic<'_> {
    fn plus(&self, a: u64, b: u64) -> u64 {
        self.add.evaluate(self.profile, &[a, b]).bits
    }
    /// A term alone.
    fn term(&self, at: usize) -> u64 {
        match &self.terms {
            Terms::Values(values) => values[at],
            Terms::Products(a, b) => self.multiply.evaluate(self.profile, &[a[at], b[at]]).bits,
        }
    }
    /// A term more.
    fn and(&self, sum: u64, at: usize) -> u64 {
        match &self.terms {
            Terms::Values(values) => self.plus(sum, values[at]),
            Terms::Products(a, b) => self.multiply_add.evaluate(self.profile, &[a[at], b[at], sum]).bits,
        }
    }
    fn chain(&self, terms: impl Iterator<Item = usize>) -> u64 {
        terms.fold(0, |sum, at| self.and(sum, at))
    }

    fn sum(&self, order: Order, length: usize) -> u64 {
        match order {
            Order::Forward => self.chain(0..length),
            Order::Backward => self.chain((0..length).rev()),
            Order::Pairwise => self.halves(0, length),
            Order::Numpy => self.numpy(0, length),
            Order::Threads(threads) => {
                let mut partial: Vec<u64> =
                    (0..threads).map(|first| self.chain((first..length).step_by(threads))).collect();
                while partial.len() > 1 {
                    let upper = partial.split_off(partial.len() / 2);
                    partial.iter_mut().zip(upper).for_each(|(sum, other)| *sum = self.plus(*sum, other));
                }
                partial[0]
            }
            Order::Blocks(block) => (0..length)
                .step_by(block)
                .map(|first| self.chain(first..length.min(first + block)))
                .fold(0, |sum, partial| self.plus(sum, partial)),
        }
    }

    fn halves(&self, first: usize, length: usize) -> u64 {
        match length {
            0 => 0,
            1 => self.term(first),
            _ => self.plus(self.halves(first, length / 2), self.halves(first + length / 2, length - length / 2)),
        }
    }

    /// Source: NumPy, numpy/_core/src/umath/loops_utils.h.src, pairwise sum.
    fn numpy(&self, first: usize, length: usize) -> u64 {
        if length < 8 {
            return self.chain(first..first + length);
        }
        if length > 128 {
            let half = length / 2 - length / 2 % 8;
            return self.plus(self.numpy(first, half), self.numpy(first + half, length - half));
        }
        let mut partial: [u64; 8] = std::array::from_fn(|at| self.term(first + at));
        let whole = length - length % 8;
        for at in 8..whole {
            partial[at % 8] = self.and(partial[at % 8], first + at);
        }
        let [a, b, c, d, e, f, g, h] = partial;
        let left = self.plus(self.plus(a, b), self.plus(c, d));
        let right = self.plus(self.plus(e, f), self.plus(g, h));
        (whole..length).fold(self.plus(left, right), |sum, at| self.and(sum, first + at))
    }
}
