//! Affine arithmetic: integer operations on affine registers give affine registers, at the cost of a few operations a
//! row instead of one a lane.

use super::interpreter::Interpreter;
use super::register::{Lane, RegisterFile, View, with_lane};
use crate::scalar::{compare, int_op_inline, sign_extend};
use roundonce_ir::{Comparand, Comparison, IntOp, Operand, Reg, Signedness, Width};

impl Interpreter<'_> {
    /// An integer operation, if its result is affine. Whether it was done.
    pub(super) fn affine_int(&mut self, d: Reg, op: IntOp, width: Width, args: &[Operand; 4]) -> bool {
        if !self.inactive_lanes_are_dead(d) {
            return false;
        }
        match width {
            Width::B32 => self.affine_int_of::<u32>(d, op, args),
            Width::B64 => self.affine_int_of::<u64>(d, op, args),
            Width::B16 | Width::Pred => false,
        }
    }

    #[inline]
    fn affine_int_of<T: Lane>(&mut self, d: Reg, op: IntOp, args: &[Operand; 4]) -> bool {
        let bits = T::WIDTH.bits();
        let one = |op, x: T, y: T| T::of(int_op_inline(op, bits, [x.bits(), y.bits(), 0, 0]));
        let rows = self.geometry.rows;
        let mut out = T::file_mut(&mut self.files).acquire_rows();
        let file = T::file(&self.files);
        let (a, b) = (file.view(args[0]), file.view(args[1]));
        let stride = match op {
            _ if !a.is_affine() => None,
            IntOp::Add if b.is_affine() => {
                out.extend((0..rows).map(|row| one(IntOp::Add, a.row(row), b.row(row))));
                Some(one(IntOp::Add, a.stride(), b.stride()))
            }
            IntOp::Sub if b.is_affine() => {
                out.extend((0..rows).map(|row| one(IntOp::Sub, a.row(row), b.row(row))));
                Some(one(IntOp::Sub, a.stride(), b.stride()))
            }
            IntOp::Mul if b.is_affine() => product(a, b, |x, y| one(IntOp::Mul, x, y)).inspect(|_| {
                out.extend((0..rows).map(|row| one(IntOp::Mul, a.row(row), b.row(row))));
            }),
            IntOp::MulAdd if b.is_affine() => {
                let c = file.view(args[2]);
                product(a, b, |x, y| one(IntOp::Mul, x, y)).filter(|_| c.is_affine()).map(|stride| {
                    let sum = |row| one(IntOp::Add, one(IntOp::Mul, a.row(row), b.row(row)), c.row(row));
                    out.extend((0..rows).map(sum));
                    one(IntOp::Add, stride, c.stride())
                })
            }
            IntOp::Shl => u32::file(&self.files).uniform(args[1]).map(|count| {
                let shift = |x: T| T::of(int_op_inline(IntOp::Shl, bits, [x.bits(), count.into(), 0, 0]));
                out.extend((0..rows).map(|row| shift(a.row(row))));
                shift(a.stride())
            }),
            IntOp::MulWide(sign) | IntOp::MulAddWide(sign) if bits == 32 => {
                let done = self.affine_mul_wide(d, op, sign, args);
                T::file_mut(&mut self.files).release_rows(out);
                return done;
            }
            _ => None,
        };
        let file = T::file_mut(&mut self.files);
        match stride {
            Some(stride) => file.put_affine_rows(d, stride, out),
            None => file.release_rows(out),
        }
        stride.is_some()
    }

    /// Products of 32-bit numbers with 64 bits: only where no factor wraps within a row.
    fn affine_mul_wide(&mut self, d: Reg, op: IntOp, sign: Signedness, args: &[Operand; 4]) -> bool {
        let row = self.geometry.row;
        let mut out = self.files.b64.acquire_rows();
        let (a, b) = (self.files.b32.view(args[0]), self.files.b32.view(args[1]));
        let adds = matches!(op, IntOp::MulAddWide(_));
        let c = if adds { self.files.b64.view(args[2]) } else { View::Uniform(0) };
        let wide = |x: u32| extend(x.into(), 32, sign) as u64;
        let (x, y) = (sign_extend(a.stride().into(), 32) as u64, sign_extend(b.stride().into(), 32) as u64);
        let fixed = if x == 0 { a } else { b };
        let known = a.is_affine() && b.is_affine() && c.is_affine();
        let affine_int = known && (x == 0 || y == 0) && (x | y == 0 || matches!(fixed, View::Uniform(_)));
        let fits = affine_int
            && (0..self.geometry.rows).all(|index| {
                fits_row(a.row(index).into(), x as i64, row, 32, sign)
                    && fits_row(b.row(index).into(), y as i64, row, 32, sign)
            });
        if !fits {
            self.files.b64.release_rows(out);
            return false;
        }
        let value = |row| wide(a.row(row)).wrapping_mul(wide(b.row(row))).wrapping_add(c.row(row));
        out.extend((0..self.geometry.rows).map(value));
        let moved = (x | y).wrapping_mul(if x | y == 0 { 0 } else { wide(fixed.row(0)) });
        let stride = moved.wrapping_add(c.stride());
        self.files.b64.put_affine_rows(d, stride, out);
        true
    }

    /// A widening or a narrowing, if its result is affine. Whether it was done.
    pub(super) fn affine_convert(&mut self, d: Reg, from: (u32, bool), to: u32, a: Operand) -> bool {
        let (bits, signed) = from;
        if !self.inactive_lanes_are_dead(d) || bits < 16 || to < 16 {
            return false;
        }
        let sign = if signed { Signedness::Signed } else { Signedness::Unsigned };
        let (row, rows) = (self.geometry.row, self.geometry.rows);
        with_lane!(Width::holding(bits), A => {
            let view = A::file(&self.files).view(a);
            let stride = sign_extend(view.stride().bits(), bits);
            let fits = view.is_affine()
                && (to <= bits || (0..rows).all(|index| fits_row(view.row(index).bits(), stride, row, bits, sign)));
            if !fits {
                return false;
            }
            let values: Vec<u64> = (0..rows).map(|index| extend(view.row(index).bits(), bits, sign) as u64).collect();
            with_lane!(Width::holding(to), D => {
                D::file_mut(&mut self.files).put_affine(d, D::of(stride as u64), values.into_iter().map(D::of));
            });
        });
        true
    }

    /// A comparison of integers, if its result is the same along every row. Whether it was done.
    pub(super) fn affine_compare(
        &mut self,
        d: Reg,
        comparison: Comparison,
        of: Comparand,
        a: Operand,
        b: Operand,
    ) -> bool {
        if !self.inactive_lanes_are_dead(d) {
            return false;
        }
        match of {
            Comparand::Unsigned(Width::B32) => self.compare_rows::<u32>(d, comparison, of, Signedness::Unsigned, a, b),
            Comparand::Signed(Width::B32) => self.compare_rows::<u32>(d, comparison, of, Signedness::Signed, a, b),
            Comparand::Unsigned(Width::B64) => self.compare_rows::<u64>(d, comparison, of, Signedness::Unsigned, a, b),
            Comparand::Signed(Width::B64) => self.compare_rows::<u64>(d, comparison, of, Signedness::Signed, a, b),
            _ => false,
        }
    }

    fn compare_rows<T: Lane>(
        &mut self,
        d: Reg,
        comparison: Comparison,
        of: Comparand,
        sign: Signedness,
        a: Operand,
        b: Operand,
    ) -> bool {
        let bits = T::WIDTH.bits();
        let file: &RegisterFile<T> = T::file(&self.files);
        let (a, b) = (file.view(a), file.view(b));
        if !a.is_affine() || !b.is_affine() {
            return false;
        }
        let row = self.geometry.row;
        let (x_step, y_step) = (sign_extend(a.stride().bits(), bits), sign_extend(b.stride().bits(), bits));
        let mut truths = Vec::with_capacity(self.geometry.rows);
        for index in 0..self.geometry.rows {
            let (x, y) = (a.row(index), b.row(index));
            if !fits_row(x.bits(), x_step, row, bits, sign) || !fits_row(y.bits(), y_step, row, bits, sign) {
                return false;
            }
            // The difference is monotone: if both ends order alike, so do all lanes between.
            let (p, q) = (x.step(a.stride(), row - 1), y.step(b.stride(), row - 1));
            let first = |comparison| compare(comparison, of, x.bits(), y.bits());
            let last = |comparison| compare(comparison, of, p.bits(), q.bits());
            let truth = first(comparison);
            let monotone = !matches!(comparison, Comparison::Eq | Comparison::Ne) && truth == last(comparison);
            let same_order = || {
                [Comparison::Lt, Comparison::Gt, Comparison::Eq].into_iter().all(|order| first(order) == last(order))
            };
            if !monotone && !same_order() {
                return false;
            }
            truths.push(truth as u8);
        }
        self.files.preds.put_affine(d, 0, truths.into_iter());
        true
    }
}

/// Zero- or sign-extended by the type's signedness.
#[inline(always)]
fn extend(value: u64, bits: u32, sign: Signedness) -> i64 {
    match sign {
        Signedness::Unsigned => value as i64,
        Signedness::Signed => sign_extend(value, bits),
    }
}

/// Whether no value of a row wraps in its type.
#[inline(always)]
fn fits_row(start: u64, stride: i64, row: usize, bits: u32, sign: Signedness) -> bool {
    if stride == 0 {
        return true;
    }
    let (start, low, high) = match sign {
        Signedness::Unsigned => (start as i128, 0, (1i128 << bits) - 1),
        Signedness::Signed => (sign_extend(start, bits) as i128, -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    let end = start + stride as i128 * (row as i128 - 1);
    low <= end && end <= high
}

/// The stride of a product: known if one factor is uniform, or neither varies along rows.
#[inline(always)]
fn product<T: Lane>(a: View<'_, T>, b: View<'_, T>, multiply: impl Fn(T, T) -> T) -> Option<T> {
    let zero = T::default();
    match (a.stride() == zero, b.stride() == zero) {
        (true, true) => Some(zero),
        (false, true) if matches!(b, View::Uniform(_)) => Some(multiply(a.stride(), b.row(0))),
        (true, false) if matches!(a, View::Uniform(_)) => Some(multiply(a.row(0), b.stride())),
        _ => None,
    }
}
