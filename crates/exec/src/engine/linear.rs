//! Integer arithmetic on rows of equal steps stays rows of equal steps: addresses and indices cost a few operations a
//! row, not one a lane.

use super::group::Machine;
use super::lanes::{Lane, View, with_lane};
use crate::scalar::{compare, int_op, sign_extend};
use roundonce_isa::program::{Comparand, Comparison, IntOp, Operand, Reg, Sign, Width};

/// A value a row, and the stride within rows.
struct Lines {
    rows: Vec<u64>,
    stride: u64,
    uniform: bool,
}

impl Machine<'_> {
    /// The rows of an operand, if it has any.
    fn lines<T: Lane>(&self, operand: Operand) -> Option<Lines> {
        match T::file(&self.files).view(operand) {
            View::Uniform(value) => {
                Some(Lines { rows: vec![value.bits(); self.geometry.rows], stride: 0, uniform: true })
            }
            View::Rows(rows, stride) => {
                Some(Lines { rows: rows.iter().map(|row| row.bits()).collect(), stride: stride.bits(), uniform: false })
            }
            View::Lanes => None,
        }
    }
    fn lines_of(&self, operand: Operand, width: Width) -> Option<Lines> {
        with_lane!(width, T => self.lines::<T>(operand))
    }

    /// An integer operation, if it keeps rows rows. Whether it was done.
    pub(super) fn linear(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> bool {
        if !self.active.full {
            return false;
        }
        let Some(a) = self.lines_of(args[0], width) else { return false };
        let bits = width.bits();
        let one = |op, x: u64, y: u64| int_op(op, bits, [x, y, 0, 0]);
        let (rows, stride): (Vec<u64>, u64) = match op {
            IntOp::Add | IntOp::Sub => {
                let Some(b) = self.lines_of(args[1], width) else { return false };
                let rows = a.rows.iter().zip(&b.rows).map(|(&x, &y)| one(op, x, y)).collect();
                (rows, one(op, a.stride, b.stride))
            }
            IntOp::Mul | IntOp::MulAdd => {
                let Some(b) = self.lines_of(args[1], width) else { return false };
                let Some((mut rows, mut stride)) = product(&a, &b, |x, y| one(IntOp::Mul, x, y)) else { return false };
                if op == IntOp::MulAdd {
                    let Some(c) = self.lines_of(args[2], width) else { return false };
                    for (row, &addend) in rows.iter_mut().zip(&c.rows) {
                        *row = one(IntOp::Add, *row, addend);
                    }
                    stride = one(IntOp::Add, stride, c.stride);
                }
                (rows, stride)
            }
            IntOp::Shl => {
                let Some(count) = u32::file(&self.files).uniform(args[1]) else { return false };
                let shift = |x: &u64| one(IntOp::Shl, *x, count.into());
                (a.rows.iter().map(shift).collect(), shift(&a.stride))
            }
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) => {
                let Some(b) = self.lines_of(args[1], width) else { return false };
                let wide = |lines: &Lines| self.widened(lines, bits, sign);
                let (Some(a), Some(b)) = (wide(&a), wide(&b)) else { return false };
                let Some((mut rows, mut stride)) = product(&a, &b, u64::wrapping_mul) else { return false };
                if matches!(op, IntOp::MulAddWide(_)) {
                    let Some(c) = self.lines_of(args[2], op.result_width(width)) else { return false };
                    for (row, &addend) in rows.iter_mut().zip(&c.rows) {
                        *row = row.wrapping_add(addend);
                    }
                    stride = stride.wrapping_add(c.stride);
                }
                (rows, stride)
            }
            _ => return false,
        };
        with_lane!(op.result_width(width), T => {
            T::file_mut(&mut self.files).put_rows(d, T::of(stride), rows.into_iter().map(T::of));
        });
        true
    }

    /// The same rows as wider numbers: only where none wraps within a row.
    fn widened(&self, lines: &Lines, bits: u32, sign: Sign) -> Option<Lines> {
        let stride = sign_extend(lines.stride, bits);
        let span = (stride as i128) * (self.geometry.row as i128 - 1);
        let (low, high) = match sign {
            Sign::Unsigned => (0, (1i128 << bits) - 1),
            Sign::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        };
        let mut rows = Vec::with_capacity(lines.rows.len());
        for &row in &lines.rows {
            let start = match sign {
                Sign::Unsigned => row as i128,
                Sign::Signed => sign_extend(row, bits) as i128,
            };
            if !(low..=high).contains(&(start + span)) {
                return None;
            }
            rows.push(start as u64);
        }
        Some(Lines { rows, stride: stride as u64, uniform: lines.uniform })
    }

    /// A widening or a narrowing, if it keeps rows rows. Whether it was done.
    pub(super) fn linear_convert(&mut self, d: Reg, from: (u32, bool), to: u32, a: Operand) -> bool {
        let (bits, signed) = from;
        if !self.active.full || bits < 16 || to < 16 {
            return false;
        }
        let Some(lines) = self.lines_of(a, Width::holding(bits)) else { return false };
        let lines = if to > bits {
            let sign = if signed { Sign::Signed } else { Sign::Unsigned };
            match self.widened(&lines, bits, sign) {
                Some(lines) => lines,
                None => return false,
            }
        } else {
            lines
        };
        with_lane!(Width::holding(to), T => {
            T::file_mut(&mut self.files).put_rows(d, T::of(lines.stride), lines.rows.into_iter().map(T::of));
        });
        true
    }

    /// A comparison of integers that comes out the same along every row. Whether it was done.
    pub(super) fn linear_compare(
        &mut self,
        d: Reg,
        comparison: Comparison,
        of: Comparand,
        a: Operand,
        b: Operand,
    ) -> bool {
        let (width, sign) = match of {
            Comparand::Unsigned(width) => (width, Sign::Unsigned),
            Comparand::Signed(width) => (width, Sign::Signed),
            Comparand::Float(..) => return false,
        };
        if !self.active.full || width < Width::B16 {
            return false;
        }
        let (Some(a), Some(b)) = (self.lines_of(a, width), self.lines_of(b, width)) else { return false };
        let bits = width.bits();
        let wide = |lines: &Lines| self.widened(lines, bits, sign);
        let (Some(a), Some(b)) = (wide(&a), wide(&b)) else { return false };
        let last = self.geometry.row as u64 - 1;
        let mut rows = Vec::with_capacity(a.rows.len());
        for (&x, &y) in a.rows.iter().zip(&b.rows) {
            // The difference moves one way: where both ends order the same way, so does all between.
            let (p, q) = (x.wrapping_add(a.stride.wrapping_mul(last)), y.wrapping_add(b.stride.wrapping_mul(last)));
            let at = |comparison, first: bool| {
                let (x, y) = if first { (x, y) } else { (p, q) };
                compare(comparison, of, x, y)
            };
            let same_order =
                [Comparison::Lt, Comparison::Gt, Comparison::Eq].iter().all(|&c| at(c, true) == at(c, false));
            let truth = at(comparison, true);
            let monotone = !matches!(comparison, Comparison::Eq | Comparison::Ne) && truth == at(comparison, false);
            if !same_order && !monotone {
                return false;
            }
            rows.push(truth as u8);
        }
        u8::file_mut(&mut self.files).put_rows(d, 0, rows.into_iter());
        true
    }
}

/// A product is linear where one factor does not change along rows.
fn product(a: &Lines, b: &Lines, multiply: impl Fn(u64, u64) -> u64) -> Option<(Vec<u64>, u64)> {
    let (moving, fixed) = if a.stride == 0 { (b, a) } else { (a, b) };
    if fixed.stride != 0 {
        return None;
    }
    let same = fixed.uniform || fixed.rows.iter().all(|row| *row == fixed.rows[0]);
    if moving.stride != 0 && !same {
        return None;
    }
    let rows = moving.rows.iter().zip(&fixed.rows).map(|(&x, &y)| multiply(x, y)).collect();
    Some((rows, multiply(moving.stride, fixed.rows.first().copied().unwrap_or(0))))
}
