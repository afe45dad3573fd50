//! Which lane of a warp holds which elements of the matrices (PTX ISA, "Matrix fragments for mma" of each shape).
//!
//! Those of `mma` follow one rule, whatever the type: a register has r elements, g = lane / 4 and t = lane mod 4. Of a,
//! register i holds the columns r·t to r·t + r − 1 of row g, the odd ones those of row g + 8, from i = 2 on 4·r columns
//! further; of b the same with columns for rows; of c and d the columns 2t and 2t + 1 of the rows g and g + 8. m8n8k4 of
//! f16 has tables of its own. The fragments of `wmma` are opaque: element i of lane l is the one of number l · count + i,
//! modulo the matrix' size.

use super::{Family, Layout, MatrixInstruction};
use roundonce_arith::{Element, Format};
use roundonce_ir::{Fragment, MatrixMultiply, ScaleFragment, Width};

/// A matrix of a multiply-add; c and d are spread alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Matrix {
    A,
    B,
    C,
    D,
}

/// A register of elements of a type.
fn width(element: Element) -> Width {
    if element.stride() == 64 { Width::B64 } else { Width::B32 }
}

impl MatrixInstruction {
    /// The type of a matrix' elements.
    pub(crate) fn element(&self, matrix: Matrix) -> Element {
        match matrix {
            Matrix::A => self.a,
            Matrix::B => self.b,
            Matrix::C => Element::Float(self.c),
            Matrix::D => Element::Float(self.d),
        }
    }

    /// Lines of a matrix as they stand in [`MatrixMultiply`], and the length of each: rows, of b columns.
    pub(crate) fn lines(&self, matrix: Matrix) -> [usize; 2] {
        let [m, n, k] = [self.m, self.n, self.k].map(|size| size as usize);
        match matrix {
            Matrix::A => [m, k],
            Matrix::B => [n, k],
            Matrix::C | Matrix::D => [m, n],
        }
    }

    /// Matrices that a warp multiplies at once.
    const fn count(&self) -> usize {
        if self.is_quad_pairs() { 4 } else { 1 }
    }

    /// m8n8k4 of f16: eight lanes, a quad and the one 16 lanes further, multiply matrices of their own.
    const fn is_quad_pairs(&self) -> bool {
        matches!(self.family, Family::Mma) && self.k == 4 && matches!(self.a, Element::Float(Format::F16))
    }

    /// How the elements of a matrix are spread over a warp; of `wgmma` the 16 rows of one warp and the first 8 columns.
    pub(crate) fn fragment(&self, matrix: Matrix) -> Fragment {
        if self.family == Family::Wmma {
            return self.opaque_fragment(matrix);
        }
        if self.is_quad_pairs() {
            return self.quad_pair_fragment(matrix);
        }
        let element = self.element(matrix);
        let (width, stride, k) = (width(element), element.stride(), self.k as usize);
        let in_register = (width.bits() / stride) as usize;
        let rows = if self.m == 8 { 8 } else { 16 };
        match matrix {
            Matrix::A => Fragment::new(width, stride, rows * k / 32, |lane, at| {
                let (register, within, t) = (at / in_register, at % in_register, lane % 4);
                let (half, further) = if rows == 8 { (0, register) } else { (register % 2, register / 2) };
                (lane / 4 + 8 * half) * k + in_register * (t + 4 * further) + within
            }),
            Matrix::B => Fragment::new(width, stride, 8 * k / 32, |lane, at| {
                let (register, within, t) = (at / in_register, at % in_register, lane % 4);
                lane / 4 * k + in_register * (t + 4 * register) + within
            }),
            Matrix::C | Matrix::D => Fragment::new(width, stride, rows * 8 / 32, |lane, at| {
                (lane / 4 + 8 * (at / 2)) * 8 + 2 * (lane % 4) + at % 2
            }),
        }
    }

    fn opaque_fragment(&self, matrix: Matrix) -> Fragment {
        let element = self.element(matrix);
        let [lines, length] = self.lines(matrix);
        let size = lines * length;
        // Of f16, a and b take eight registers in every shape.
        let is_f16_factor = matches!(matrix, Matrix::A | Matrix::B) && element == Element::Float(Format::F16);
        let elements = if is_f16_factor { 16 } else { size / 32 };
        Fragment::new(width(element), element.stride(), elements, |lane, at| (lane * elements + at) % size)
    }

    fn quad_pair_fragment(&self, matrix: Matrix) -> Fragment {
        let (a, b) = (self.layouts[0] == Some(Layout::Row), self.layouts[1] == Some(Layout::Column));
        // A line of a pair's own matrix, four or eight elements long.
        let place = move |lane: usize, line: usize, at: usize, length: usize| {
            (lane % 16 / 4 * 8 + line + if lane >= 16 { 4 } else { 0 }) * length + at
        };
        let factor = |along: bool| {
            Fragment::new(Width::B32, 16, 4, move |lane, at| match along {
                true => place(lane, lane % 4, at, 4),
                false => place(lane, at, lane % 4, 4),
            })
        };
        match matrix {
            Matrix::A => factor(a),
            Matrix::B => factor(b),
            Matrix::C | Matrix::D if self.element(matrix) == Element::Float(Format::F32) => {
                Fragment::new(Width::B32, 32, 8, |lane, at| {
                    place(lane, lane % 2 + (at & 2), (at & 4) + (lane & 2) + at % 2, 8)
                })
            }
            Matrix::C | Matrix::D => Fragment::new(Width::B32, 16, 8, |lane, at| place(lane, lane % 4, at, 8)),
        }
    }

    /// The lanes with the scales of rows of a, or of columns of b (PTX ISA, "Block scaling for mma.sync").
    fn scale_fragments(&self) -> Option<[ScaleFragment; 2]> {
        self.scale?;
        let rows = |thread: u8| (0..16).map(|row| 4 * (row % 8) + 2 * thread + row / 8).collect();
        let columns = |thread: u8| (0..8).map(|column| 4 * column + thread).collect();
        Some([
            ScaleFragment { lanes: (0..2).map(rows).collect() },
            ScaleFragment { lanes: (0..4).map(columns).collect() },
        ])
    }

    /// What a warp computes of it; of `wgmma` for 8 columns.
    pub(crate) fn multiply(&self, name: &str, dot: roundonce_arith::Dot) -> MatrixMultiply {
        let is_wide = self.family == Family::Wgmma;
        MatrixMultiply {
            name: name.to_owned(),
            dot,
            warps: if is_wide { 4 } else { 1 },
            count: self.count(),
            m: if is_wide { 16 } else { self.m as usize },
            n: if is_wide { 8 } else { self.n as usize },
            a: self.fragment(Matrix::A),
            b: self.fragment(Matrix::B),
            c: self.fragment(Matrix::C),
            d: self.fragment(Matrix::D),
            scales: self.scale_fragments(),
        }
    }
}
