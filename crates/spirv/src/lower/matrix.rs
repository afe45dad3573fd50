//! Matrices: their columns one after another.

use roundonce_arith::{ArithOp, Format};
use roundonce_ir::Operand;
use rspirv::spirv::Op;

use super::types::{Part, TypeKind};
use super::{Body, Result};

/// A matrix, or a vector as one of one column.
struct Matrix {
    format: Format,
    rows: usize,
    parts: Vec<Operand>,
}

impl Matrix {
    fn columns(&self) -> usize {
        self.parts.len() / self.rows
    }
    fn at(&self, column: usize, row: usize) -> Operand {
        self.parts[column * self.rows + row]
    }
}

impl Body<'_> {
    fn matrix_operand(&mut self, index: usize) -> Result<Matrix> {
        let id = self.operand(index)?;
        let parts = self.parts(id)?.to_vec();
        let types = &self.lowering.types;
        let type_id = self.typed_value(id)?.type_id;
        let column = match types.kind(type_id) {
            Some(TypeKind::Matrix { of, .. }) => *of,
            _ => type_id,
        };
        match types.components(column) {
            Some((Part::Float(format), rows)) => Ok(Matrix { format, rows, parts }),
            _ => Err(self.malformed(format!("operand {} is no matrix or vector of floats", index + 1))),
        }
    }

    /// The determinant of a square matrix, or its inverse: the cofactors over the determinant.
    pub(super) fn by_cofactors(&mut self, spelled: &str, inverse: bool) -> Result<()> {
        let matrix = self.matrix_operand(2)?;
        let (format, size) = (matrix.format, matrix.rows);
        if matrix.columns() != size || !matches!(size, 2..=4) {
            return Err(self.malformed("the operand is no square matrix"));
        }
        self.open(format!("{spelled}: expanded along first columns, in order, each operation rounded"));
        let all: Vec<usize> = (0..size).collect();
        let determinant = self.minor(&matrix, &all, &all);
        if !inverse {
            return self.define(vec![determinant]);
        }
        let mut parts = Vec::with_capacity(size * size);
        for column in 0..size {
            for row in 0..size {
                // The transpose of the cofactors.
                let without = |skipped: usize| all.iter().copied().filter(|&at| at != skipped).collect::<Vec<_>>();
                let minor = self.minor(&matrix, &without(row), &without(column));
                let cofactor = if (row + column) % 2 == 1 { self.negated(format, minor) } else { minor };
                parts.push(self.divide(format, cofactor, determinant));
            }
        }
        self.define(parts)
    }

    /// The determinant of some columns and rows: expanded along the first of the columns.
    fn minor(&mut self, matrix: &Matrix, columns: &[usize], rows: &[usize]) -> Operand {
        let format = matrix.format;
        let Some((&first, rest)) = columns.split_first() else { return Operand::Imm(format.one()) };
        let mut sum = None;
        for (at, &row) in rows.iter().enumerate() {
            let entry = matrix.at(first, row);
            let product = if rest.is_empty() {
                entry
            } else {
                let others: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
                let minor = self.minor(matrix, rest, &others);
                self.float(ArithOp::Mul, format, &[entry, minor])
            };
            sum = Some(match sum {
                None => product,
                Some(sum) if at % 2 == 1 => self.subtract(format, sum, product),
                Some(sum) => self.float(ArithOp::Add, format, &[sum, product]),
            });
        }
        sum.unwrap_or(Operand::ZERO)
    }

    pub(super) fn matrix(&mut self, op: Op) -> Result<()> {
        let a = self.matrix_operand(0)?;
        if op == Op::Transpose {
            let (rows, columns) = (a.rows, a.columns());
            let parts: Vec<_> = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row))).collect();
            let parts: Vec<Operand> = parts.into_iter().map(|(column, row)| a.at(column, row)).collect();
            return self.define(parts);
        }
        let b = self.matrix_operand(1)?;
        if a.format != b.format {
            return Err(self.malformed("the operands are of different types"));
        }
        let (format, contractible) = (a.format, self.is_contractible(a.format.width()));
        let mismatch = |body: &Self| body.malformed("the operands' sizes do not fit each other");
        let mut parts = Vec::new();
        match op {
            Op::MatrixTimesScalar | Op::OuterProduct => {
                // A scalar is a vector of one; an outer product's columns are the first vector times a component.
                let factors = if op == Op::OuterProduct { b.parts.clone() } else { vec![b.parts[0]] };
                let operation = self.operation(ArithOp::Mul, format);
                for factor in factors {
                    for &part in &a.parts {
                        parts.push(self.operate_as(operation, contractible, &[part, factor]));
                    }
                }
            }
            Op::VectorTimesMatrix => {
                if a.parts.len() != b.rows {
                    return Err(mismatch(self));
                }
                for column in 0..b.columns() {
                    let pairs: Vec<_> = (0..b.rows).map(|row| [a.parts[row], b.at(column, row)]).collect();
                    parts.push(self.sum_of_products(format, contractible, &pairs));
                }
            }
            // A vector on the right is a matrix of one column.
            _ => {
                if a.columns() != b.rows {
                    return Err(mismatch(self));
                }
                for column in 0..b.columns() {
                    for row in 0..a.rows {
                        let pairs: Vec<_> = (0..b.rows).map(|at| [a.at(at, row), b.at(column, at)]).collect();
                        parts.push(self.sum_of_products(format, contractible, &pairs));
                    }
                }
            }
        }
        self.define(parts)
    }
}
