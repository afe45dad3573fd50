//! Lanewise loops: functions of a lane over the active lanes.

use super::interpreter::Interpreter;
use super::register::{Column, Lane, View, with_lane};
use roundonce_arith::batch::Source;
use roundonce_ir::{Operand, Reg, Width};

impl<'a> Interpreter<'a> {
    /// Writes a column's active lanes.
    pub(super) fn set_column<T: Lane>(&mut self, d: Reg, column: Box<Column<T>>) {
        if self.inactive_lanes_are_dead(d) {
            T::file_mut(&mut self.files).put_column(d, column);
            return;
        }
        let (mask, geometry) = (&self.active.mask, self.geometry);
        let file = T::file_mut(&mut self.files);
        let old = file.make_varying(d, geometry);
        let chunks = old.0.chunks_exact_mut(64).zip(column.0.chunks_exact(64));
        for ((old, new), word) in chunks.zip(mask.words()) {
            if word == u64::MAX {
                old.copy_from_slice(new);
            } else if word != 0 {
                for (place, (old, new)) in old.iter_mut().zip(new).enumerate() {
                    *old = if word >> place & 1 == 1 { *new } else { *old };
                }
            }
        }
        file.release(column);
    }

    /// A function of one operand.
    #[inline]
    pub(super) fn map1<A: Lane, D: Lane>(&mut self, d: Reg, a: Operand, f: impl Fn(A) -> D) {
        if let Some(a) = A::file(&self.files).uniform(a) {
            return self.set_uniform(d, f(a));
        }
        A::file_mut(&mut self.files).materialise(a, self.geometry);
        let mut out = D::file_mut(&mut self.files).acquire();
        let (low, high) = (self.active.low, self.active.high);
        if let Source::Slice(a) = A::file(&self.files).source(a, low, high) {
            for (out, &a) in out.0[low..high].iter_mut().zip(a) {
                *out = f(a);
            }
        }
        self.set_column(d, out);
    }

    /// A function of two operands.
    #[inline]
    pub(super) fn map2<A: Lane, B: Lane, D: Lane>(&mut self, d: Reg, a: Operand, b: Operand, f: impl Fn(A, B) -> D) {
        let uniform = (A::file(&self.files).uniform(a), B::file(&self.files).uniform(b));
        if let (Some(a), Some(b)) = uniform {
            return self.set_uniform(d, f(a, b));
        }
        let rows = match (self.row_invariant::<A>(a), self.row_invariant::<B>(b)) {
            (Some(a), Some(b)) if self.inactive_lanes_are_dead(d) => {
                Some((0..self.geometry.rows).map(|row| f(a(row), b(row))).collect::<Vec<D>>())
            }
            _ => None,
        };
        if let Some(rows) = rows {
            D::file_mut(&mut self.files).put_affine(d, D::default(), rows.into_iter());
            return;
        }
        A::file_mut(&mut self.files).materialise(a, self.geometry);
        B::file_mut(&mut self.files).materialise(b, self.geometry);
        let mut out = D::file_mut(&mut self.files).acquire();
        let (low, high) = (self.active.low, self.active.high);
        let lanes = out.0[low..high].iter_mut();
        match (A::file(&self.files).source(a, low, high), B::file(&self.files).source(b, low, high)) {
            (Source::Slice(a), Source::Slice(b)) => {
                for ((out, &a), &b) in lanes.zip(a).zip(b) {
                    *out = f(a, b);
                }
            }
            (Source::Slice(a), Source::Uniform(b)) => {
                for (out, &a) in lanes.zip(a) {
                    *out = f(a, b);
                }
            }
            (Source::Uniform(a), Source::Slice(b)) => {
                for (out, &b) in lanes.zip(b) {
                    *out = f(a, b);
                }
            }
            _ => {}
        }
        self.set_column(d, out);
    }

    /// A function of three operands.
    #[inline]
    pub(super) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
        &mut self,
        d: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
        f: impl Fn(A, B, C) -> D,
    ) {
        let files = &self.files;
        let uniform = (A::file(files).uniform(a), B::file(files).uniform(b), C::file(files).uniform(c));
        if let (Some(a), Some(b), Some(c)) = uniform {
            return self.set_uniform(d, f(a, b, c));
        }
        A::file_mut(&mut self.files).materialise(a, self.geometry);
        B::file_mut(&mut self.files).materialise(b, self.geometry);
        C::file_mut(&mut self.files).materialise(c, self.geometry);
        let mut out = D::file_mut(&mut self.files).acquire();
        let (low, high) = (self.active.low, self.active.high);
        let files = &self.files;
        let sources = (
            A::file(files).source(a, low, high),
            B::file(files).source(b, low, high),
            C::file(files).source(c, low, high),
        );
        let lanes = out.0[low..high].iter_mut();
        match sources {
            (Source::Slice(a), Source::Slice(b), Source::Slice(c)) => {
                for (((out, &a), &b), &c) in lanes.zip(a).zip(b).zip(c) {
                    *out = f(a, b, c);
                }
            }
            (a, b, c) => {
                for (place, out) in lanes.enumerate() {
                    *out = f(at(a, place), at(b, place), at(c, place));
                }
            }
        }
        self.set_column(d, out);
    }

    /// A row-invariant operand, as a function of the row.
    fn row_invariant<T: Lane>(&self, operand: Operand) -> Option<impl Fn(usize) -> T + use<'_, 'a, T>> {
        let rows = match T::file(&self.files).view(operand) {
            View::Uniform(value) => (None, value),
            View::Affine(rows, stride) if stride == T::default() => (Some(rows), stride),
            _ => return None,
        };
        Some(move |row: usize| rows.0.map_or(rows.1, |all| all[row]))
    }

    /// Any function of up to four operands, lane by lane.
    pub(super) fn lanewise(&mut self, d: Reg, args: &[(Operand, Width)], f: &mut dyn FnMut(&[u64; 5]) -> u64) {
        let width = self.code.kernel.width(d);
        let mut values = [0; 5];
        let uniform = args.iter().zip(&mut values).all(|(&(arg, width), value)| {
            let known = with_lane!(width, T => T::file(&self.files).uniform(arg).map(Lane::bits));
            known.map(|bits| *value = bits & width.mask()).is_some()
        });
        if uniform {
            let bits = f(&values) & width.mask();
            with_lane!(width, T => self.set_uniform::<T>(d, T::of(bits)));
            return;
        }
        with_lane!(width, T => {
            let column = self.lanewise_column::<T>(args, &mut |x| f(x) & width.mask());
            self.set_column::<T>(d, column);
        });
    }

    /// The same, as a column that belongs to no register yet.
    pub(super) fn lanewise_column<T: Lane>(
        &mut self,
        args: &[(Operand, Width)],
        f: &mut dyn FnMut(&[u64; 5]) -> u64,
    ) -> Box<Column<T>> {
        for (at, &(arg, width)) in args.iter().enumerate() {
            self.widen_operand(at, arg, width);
        }
        let mut out = T::file_mut(&mut self.files).acquire();
        for lane in self.active.mask.lanes() {
            let mut values = [0; 5];
            for (value, wide) in values.iter_mut().zip(&self.wide).take(args.len()) {
                *value = wide[lane];
            }
            out.0[lane] = T::of(f(&values));
        }
        out
    }

    /// Writes an operand's lanes into `wide[at]`.
    pub(super) fn widen_operand(&mut self, at: usize, operand: Operand, width: Width) {
        let (geometry, low, high) = (self.geometry, self.active.low, self.active.high);
        self.native.interpreted_singly(self.active.count);
        let Some(wide) = self.wide.get_mut(at) else { return };
        with_lane!(width, T => {
            T::file_mut(&mut self.files).materialise(operand, geometry);
            match T::file(&self.files).source(operand, low, high) {
                Source::Slice(lanes) => {
                    for (wide, lane) in wide[low..high].iter_mut().zip(lanes) {
                        *wide = lane.bits();
                    }
                }
                Source::Uniform(value) => wide[low..high].fill(value.bits() & width.mask()),
                Source::Out => {}
            }
        });
    }
}

#[inline(always)]
fn at<T: Lane>(source: Source<'_, T>, place: usize) -> T {
    match source {
        Source::Slice(lanes) => lanes[place],
        Source::Uniform(value) => value,
        Source::Out => T::default(),
    }
}
