//! Matrix multiply-add over arrays.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::arith::{Element, Elements, Pairs, Vectors};
use roundonce::matrix::{self, Matrix, Scales};
use roundonce::{Finding, Profile, Target};

use crate::error;
use crate::evaluate::profile;

fn found(py: Python<'_>, spelling: &str, arch: Option<&str>, profile: &Profile) -> PyResult<Matrix> {
    let sm = arch.map(roundonce::parse_sm).transpose().map_err(|problem| error::whole(py, problem))?;
    let found = matrix::instruction(spelling, &Target { sm, ptx: None }, profile);
    found.map_err(|finding: Finding| error::of_finding(py, &finding))
}

/// The types of d, a, b and c; of scales the type, and how many products share one; and the target.
type Types = ([&'static str; 4], Option<(&'static str, u32)>, String);

/// These of an instruction.
#[pyfunction]
#[pyo3(signature = (spelling, arch=None))]
pub(crate) fn matrix_types(py: Python<'_>, spelling: &str, arch: Option<&str>) -> PyResult<Types> {
    let Matrix { row, target, .. } = found(py, spelling, arch, &Profile::NVIDIA)?;
    let (dot, sum) = (row.dot, |format| Element::Float(format).name());
    let scale = dot.scale.map(|scale| (scale.format.name(), scale.block));
    Ok(([sum(dot.d), dot.a.name(), dot.b.name(), sum(dot.c)], scale, target.to_string()))
}

/// d = a × b + c of matrices of `shape` (M, K, N), each by rows, an element's bits in a `u64`.
#[pyfunction]
#[pyo3(signature = (spelling, shape, a, b, c, scales=None, arch=None, profile=None))]
#[allow(clippy::too_many_arguments, reason = "the signature that Python calls")]
pub(crate) fn multiply<'py>(
    py: Python<'py>,
    spelling: &str,
    shape: (usize, usize, usize),
    a: PyReadonlyArray1<'py, u64>,
    b: PyReadonlyArray1<'py, u64>,
    c: PyReadonlyArray1<'py, u64>,
    scales: Option<[PyReadonlyArray1<'py, u64>; 2]>,
    arch: Option<&str>,
    profile: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let profile = self::profile(py, profile, Profile::NVIDIA)?;
    let matrix = found(py, spelling, arch, &profile)?;
    let (m, k, n) = shape;
    let elements = |width: u32, array: &PyReadonlyArray1<'py, u64>, count: usize| {
        let slice = array.as_slice().map_err(|problem| PyValueError::new_err(problem.to_string()))?;
        if slice.len() != count {
            return Err(PyValueError::new_err(format!("{} elements, expected {count}", slice.len())));
        }
        let mut all = Elements::of_width(width);
        slice.iter().for_each(|bits| all.push(*bits));
        Ok(all)
    };
    let dot = matrix.row.dot;
    let a = elements(dot.a.stride().max(8), &a, m * k)?;
    let b = elements(dot.b.stride().max(8), &b, k * n)?;
    let mut sums: Vec<u64> = elements(64, &c, m * n)?.iter().collect();
    let blocks = dot.scale.map_or(0, |scale| k / scale.block as usize);
    let scales = match &scales {
        Some([of_a, of_b]) => Some([elements(8, of_a, m * blocks)?, elements(8, of_b, blocks * n)?]),
        None => None,
    };
    let scales = scales.as_ref().map(|[of_a, of_b]| Scales {
        a: Vectors::new(of_a, blocks, 1),
        b: Vectors::new(of_b, 1, n),
        shapes: [[m, blocks], [blocks, n]],
    });
    let vectors = [Vectors::new(&a, k, 1), Vectors::new(&b, 1, n)];
    let product = matrix.product(&profile, vectors, Pairs::All { columns: n }, [m, k], scales);
    let product = product.map_err(|finding| error::of_finding(py, &finding))?;
    py.detach(|| product.rows(0, &mut sums));
    Ok(PyArray1::from_vec(py, sums))
}
