//! Conversions from and to the formats of eight bits and fewer.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::Profile;
use roundonce::arith::{ConversionRounding, Element, Format, NarrowFormat, PackedConversion, Rounding};
use roundonce::array::{Operand, Results, convert_into};
use roundonce::conversion::Conversion as Inner;

use crate::error;
use crate::evaluate::{Column, Out, over_columns, profile};
use crate::report::{Report, report};

/// A conversion, as PTX spells it, on a target, and the machine that evaluates it.
#[pyclass(frozen, module = "roundonce._native")]
pub(crate) struct Conversion {
    #[pyo3(get)]
    pub(crate) spelling: String,
    pub(crate) inner: Inner,
    pub(crate) profile: Profile,
}

#[pymethods]
impl Conversion {
    #[getter]
    fn syntax(&self) -> String {
        self.inner.form.syntax()
    }
    /// Of each operand its bits, and the format and number of the values in it; of the random bits no format.
    #[getter]
    fn operand_types(&self) -> Vec<(u32, Option<&'static str>, u32)> {
        let types = self.inner.operand_types();
        let of = |values: Option<(Element, u32)>| values.map_or((None, 1), |(ty, count)| (Some(ty.name()), count));
        types.into_iter().map(|ty| (ty.bits, of(ty.values).0, of(ty.values).1)).collect()
    }
    #[getter]
    fn result_bits(&self) -> u32 {
        self.inner.meaning.result_bits()
    }

    fn check_arity(&self, py: Python<'_>, found: usize) -> PyResult<()> {
        self.inner.check_arity(found).map_err(|finding| error::of_finding(py, &finding))
    }

    /// The bits of an operand written as text.
    fn read(&self, py: Python<'_>, index: usize, text: &str) -> PyResult<u64> {
        if index >= self.inner.names().len() {
            return Err(PyValueError::new_err(format!("`{}` has no operand {}", self.spelling, index + 1)));
        }
        self.inner.operand(index, text).map(|(bits, _)| bits).map_err(|finding| error::of_finding(py, &finding))
    }

    /// Evaluates columns, an element an operand, packed where it is.
    fn eval_into<'py>(&self, py: Python<'py>, operands: Vec<Option<Column<'py>>>, out: Out<'py>) -> PyResult<()> {
        let work = |operands: &[Operand<'_>], results: Results<'_>| {
            convert_into(&self.inner, &self.profile, operands, results)
        };
        over_columns(py, 1, operands, out, work)
    }

    fn explain(&self, py: Python<'_>, operands: Vec<u64>) -> PyResult<Report> {
        self.check_arity(py, operands.len())?;
        let explained = self.inner.explain(&self.spelling, &self.profile, &self.inner.operands(&operands));
        report(explained.lines(), &explained)
    }
}

fn element(name: &str) -> PyResult<Element> {
    let float = Format::NAMED.into_iter().find(|(known, format)| *known == name && *format != Format::F64);
    float
        .map(|(_, format)| Element::Float(format))
        .or(NarrowFormat::named(name).map(Element::Narrow))
        .ok_or_else(|| PyValueError::new_err(format!("`{name}` is not a format that PTX `cvt` converts here")))
}

/// Each value converted as PTX `cvt` does, its bits in a `u64`; with random bits under `.rs`, 16 of them (of an f16
/// result 13).
#[pyfunction]
#[pyo3(signature = (values, from_format, to_format, rounding, relu, random=None, profile=None))]
#[allow(clippy::too_many_arguments, reason = "the signature that Python calls")]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, u64>,
    from_format: &str,
    to_format: &str,
    rounding: &str,
    relu: bool,
    random: Option<PyReadonlyArray1<'py, u64>>,
    profile: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let profile = self::profile(py, profile, Profile::NVIDIA)?;
    let (from, to) = (element(from_format)?, element(to_format)?);
    let rounding_name = rounding;
    let rounding = match (rounding, &random) {
        ("rn", None) => ConversionRounding::Direction(Rounding::NearestEven),
        ("rz", None) => ConversionRounding::Direction(Rounding::TowardZero),
        ("rs", Some(_)) => ConversionRounding::Random,
        ("rs", None) => return Err(PyValueError::new_err("rounding `rs` needs `random`")),
        ("rn" | "rz", Some(_)) => return Err(PyValueError::new_err("`random` needs rounding `rs`")),
        _ => return Err(PyValueError::new_err(format!("rounding `{rounding}`: expected rn, rz or rs"))),
    };
    let is_narrow = |element| matches!(element, Element::Narrow(_));
    let is_random = rounding == ConversionRounding::Random;
    let is_ptx = match (is_narrow(from), is_narrow(to)) {
        (false, true) => !is_random || from == Element::Float(Format::F32),
        (true, false) => rounding == ConversionRounding::Direction(Rounding::NearestEven) && to.width() == 16,
        (false, false) => is_random && from == Element::Float(Format::F32) && to.width() == 16,
        (true, true) => false,
    };
    if !is_ptx {
        let message = if is_narrow(from) || is_narrow(to) {
            format!("PTX has no `cvt` from {from_format} to {to_format} with this rounding")
        } else {
            format!(
                "from {from_format} to {to_format} `convert` does not go with rounding `{rounding_name}`: of these it takes f32 to 16 bits with `rs` alone; `astype` rounds to nearest even"
            )
        };
        return Err(PyValueError::new_err(message));
    }
    let count = if to == Element::Float(Format::F16) { 13 } else { 16 };
    let conversion = PackedConversion { to, from, count: 2, rounding, satfinite: is_narrow(to), relu };
    let contiguous = |problem: numpy::AsSliceError| PyValueError::new_err(problem.to_string());
    let values = values.as_slice().map_err(contiguous)?;
    let random = random.as_ref().map(|random| random.as_slice()).transpose().map_err(contiguous)?;
    if random.is_some_and(|random| random.len() != values.len()) {
        return Err(PyValueError::new_err("values and random bits have different lengths"));
    }
    if let Some(large) = random.into_iter().flatten().find(|bits| **bits >> count != 0) {
        return Err(PyValueError::new_err(format!("random bits {large:#x}: expected {count} bits")));
    }
    let results: Vec<u64> = py.detach(|| {
        let bits = |index: usize| random.map_or(0, |random| random[index]);
        let each = values.iter().enumerate();
        each.map(|(index, value)| conversion.convert(&profile, *value, (bits(index), count))).collect()
    });
    Ok(PyArray1::from_vec(py, results))
}
