//! The integer multiply-add.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::integer::Integer as Inner;

use crate::error;
use crate::report::{Report, report};

/// An integer multiply-add, as PTX spells it, on a target.
#[pyclass(frozen, module = "roundonce._native")]
pub(crate) struct Integer {
    #[pyo3(get)]
    pub(crate) spelling: String,
    pub(crate) inner: Inner,
}

/// The results' bits, and the carry flags where they are written.
type Results<'py> = (Bound<'py, PyArray1<u64>>, Option<Bound<'py, PyArray1<bool>>>);

#[pymethods]
impl Integer {
    #[getter]
    fn syntax(&self) -> String {
        self.inner.form.syntax()
    }
    /// The operands' types: bits, and whether they are signed.
    #[getter]
    fn operand_types(&self) -> Vec<(u32, bool)> {
        self.inner.operands.iter().map(|ty| (ty.bits, ty.signed)).collect()
    }
    #[getter]
    fn result_type(&self) -> (u32, bool) {
        (self.inner.result.bits, self.inner.result.signed)
    }

    fn check_arity(&self, py: Python<'_>, found: usize) -> PyResult<()> {
        self.inner.check_arity(found).map_err(|finding| error::of_finding(py, &finding))
    }

    /// The bits of an operand written as text.
    fn read(&self, py: Python<'_>, index: usize, text: &str) -> PyResult<u64> {
        if index >= self.inner.operands.len() {
            return Err(PyValueError::new_err(format!("`{}` has no operand {}", self.spelling, index + 1)));
        }
        self.inner.operand(index, text).map_err(|finding| error::of_finding(py, &finding))
    }

    /// Evaluates columns of one length, of bits.
    fn eval<'py>(&self, py: Python<'py>, operands: Vec<PyReadonlyArray1<'py, u64>>) -> PyResult<Results<'py>> {
        self.check_arity(py, operands.len())?;
        let columns = operands.iter().map(PyReadonlyArray1::as_slice).collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|problem| PyValueError::new_err(problem.to_string()))?;
        let length = columns.first().map_or(0, |column| column.len());
        if columns.iter().any(|column| column.len() != length) {
            return Err(PyValueError::new_err("the operands have different lengths"));
        }
        let results: Vec<_> = py.detach(|| {
            let rows = (0..length).map(|row| columns.iter().map(|column| column[row]).collect::<Vec<u64>>());
            rows.map(|row| self.inner.eval(&row)).collect()
        });
        let carries = self.inner.writes_carry.then(|| results.iter().map(|result| result.carry == Some(true)));
        Ok((
            PyArray1::from_iter(py, results.iter().map(|result| result.bits)),
            carries.map(|carries| PyArray1::from_iter(py, carries)),
        ))
    }

    fn explain(&self, py: Python<'_>, operands: Vec<u64>) -> PyResult<Report> {
        self.check_arity(py, operands.len())?;
        let explained = self.inner.explain(&self.spelling, &operands);
        report(explained.lines(), &explained)
    }
}
