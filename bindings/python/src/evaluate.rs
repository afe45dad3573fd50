//! An instruction, and its evaluation over columns.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roundonce::arith::{Format, Rounding};
use roundonce::array::{Operand, PART, Results, eval_into};
use roundonce::exec::Threads;
use roundonce::isa::convert;
use roundonce::{
    Finding, NOT_COMPUTED, Profile, ProfileChoice, Target, Value, conversion, integer, matrix, parse_ptx, parse_sm,
};

use crate::convert::Conversion;
use crate::error;
use crate::integer::Integer;

/// An instruction, as its language spells it, on a target, and the machine that evaluates it.
#[pyclass(frozen, module = "roundonce._native")]
pub(crate) struct Instruction {
    #[pyo3(get)]
    pub(crate) spelling: String,
    pub(crate) inner: roundonce::Instruction,
    pub(crate) profile: Profile,
}

/// A target as its name and a PTX version.
pub(crate) fn target(py: Python<'_>, target: Option<&str>, version: Option<&str>) -> PyResult<Target> {
    let sm = target.map(parse_sm).transpose().map_err(|problem| error::whole(py, problem))?;
    let ptx = version.map(parse_ptx).transpose().map_err(|problem| error::whole(py, problem))?;
    Ok(Target { sm, ptx })
}

/// A profile with what a text changes of it.
pub(crate) fn profile(py: Python<'_>, text: Option<&str>, base: Profile) -> PyResult<Profile> {
    let choice = text.map(ProfileChoice::parse).transpose();
    let choice = choice.map_err(|problem| error::whole(py, format!("profile: {problem}")))?;
    Ok(choice.map_or(base, |choice| choice.apply(base)))
}

/// What a spelling names.
#[derive(IntoPyObject)]
pub(crate) enum AnyInstruction {
    Float(Instruction),
    Integer(Integer),
    Conversion(Conversion),
}

/// The instruction that a spelling names, on a target and a machine.
#[pyfunction]
#[pyo3(signature = (spelling, target=None, version=None, profile=None))]
pub(crate) fn instruction(
    py: Python<'_>,
    spelling: &str,
    target: Option<&str>,
    version: Option<&str>,
    profile: Option<&str>,
) -> PyResult<AnyInstruction> {
    let (target, profile) = (self::target(py, target, version)?, self::profile(py, profile, Profile::NVIDIA)?);
    let spelled = spelling.to_owned();
    let found = if integer::is_integer(spelling) {
        // No profile changes an integer; one that is wrong is refused all the same.
        integer::instruction(spelling, &target)
            .map(|inner| AnyInstruction::Integer(Integer { spelling: spelled, inner }))
    } else if conversion::is_conversion(spelling) {
        conversion::instruction(spelling, &target)
            .map(|inner| AnyInstruction::Conversion(Conversion { spelling: spelled, inner, profile }))
    } else {
        roundonce::instruction(spelling, &target)
            .map(|inner| AnyInstruction::Float(Instruction { spelling: spelled, inner, profile }))
    };
    found.map_err(|mut finding| {
        if finding.code == NOT_COMPUTED && matrix::is_matrix(spelling) {
            // What computes it has another name here than in the command.
            "`roundonce.mma` computes it".clone_into(&mut finding.help);
        }
        error::of_finding(py, &finding)
    })
}

/// A column as Python gives it: components one after the other, or one value's components.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    U8(Bound<'py, PyArray1<u8>>),
    U16(Bound<'py, PyArray1<u16>>),
    U32(Bound<'py, PyArray1<u32>>),
    U64(Bound<'py, PyArray1<u64>>),
    Uniform(Vec<u64>),
}

/// A column that is not written while it is read.
enum Held<'py> {
    U8(PyReadonlyArray1<'py, u8>),
    U16(PyReadonlyArray1<'py, u16>),
    U32(PyReadonlyArray1<'py, u32>),
    U64(PyReadonlyArray1<'py, u64>),
    Uniform(Value),
    Out,
}

#[derive(FromPyObject)]
pub(crate) enum Out<'py> {
    U8(Bound<'py, PyArray1<u8>>),
    U16(Bound<'py, PyArray1<u16>>),
    U32(Bound<'py, PyArray1<u32>>),
    U64(Bound<'py, PyArray1<u64>>),
}

enum HeldOut<'py> {
    U8(PyReadwriteArray1<'py, u8>),
    U16(PyReadwriteArray1<'py, u16>),
    U32(PyReadwriteArray1<'py, u32>),
    U64(PyReadwriteArray1<'py, u64>),
}

/// Why an array cannot be had: what else has it is another call.
pub(crate) fn unusable(problem: impl std::fmt::Display) -> PyErr {
    let advice = "another thread's call is writing it, or this one would write what is being read: \
        wait for that call, or pass a copy (array.copy())";
    PyValueError::new_err(format!("an array cannot be used now ({problem}): {advice}"))
}

/// As many components as a value has.
pub(crate) fn value(components: &[u64], lanes: u32) -> PyResult<Value> {
    if components.len() != lanes as usize {
        let message = format!("a value has {} components, the instruction {lanes}", components.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(Value::of(components.iter().copied()))
}

impl<'py> Column<'py> {
    fn hold(self, lanes: u32) -> PyResult<Held<'py>> {
        Ok(match self {
            Column::U8(array) => Held::U8(array.try_readonly().map_err(unusable)?),
            Column::U16(array) => Held::U16(array.try_readonly().map_err(unusable)?),
            Column::U32(array) => Held::U32(array.try_readonly().map_err(unusable)?),
            Column::U64(array) => Held::U64(array.try_readonly().map_err(unusable)?),
            Column::Uniform(components) => Held::Uniform(value(&components, lanes)?),
        })
    }
}

impl Held<'_> {
    fn operand(&self) -> PyResult<Operand<'_>> {
        Ok(match self {
            Held::U8(array) => Operand::U8(array.as_slice().map_err(unusable)?),
            Held::U16(array) => Operand::U16(array.as_slice().map_err(unusable)?),
            Held::U32(array) => Operand::U32(array.as_slice().map_err(unusable)?),
            Held::U64(array) => Operand::U64(array.as_slice().map_err(unusable)?),
            Held::Uniform(value) => Operand::Uniform(*value),
            Held::Out => Operand::Out,
        })
    }
}

impl HeldOut<'_> {
    fn results(&mut self) -> PyResult<Results<'_>> {
        Ok(match self {
            HeldOut::U8(array) => Results::U8(array.as_slice_mut().map_err(unusable)?),
            HeldOut::U16(array) => Results::U16(array.as_slice_mut().map_err(unusable)?),
            HeldOut::U32(array) => Results::U32(array.as_slice_mut().map_err(unusable)?),
            HeldOut::U64(array) => Results::U64(array.as_slice_mut().map_err(unusable)?),
        })
    }
}

#[pymethods]
impl Instruction {
    #[getter]
    fn syntax(&self) -> String {
        self.inner.form.syntax()
    }
    #[getter]
    fn lanes(&self) -> u32 {
        self.inner.recipe.components
    }
    /// The format of the result's components.
    #[getter]
    fn format(&self) -> &'static str {
        name(self.inner.recipe.operation.format)
    }
    /// The formats of the operands' components.
    #[getter]
    fn operand_formats(&self) -> Vec<&'static str> {
        let operation = &self.inner.recipe.operation;
        (0..operation.op.arity()).map(|index| name(operation.operand_format(index))).collect()
    }

    pub(crate) fn check_arity(&self, py: Python<'_>, found: usize) -> PyResult<()> {
        roundonce::check_arity(&self.inner, found).map_err(|finding| error::of_finding(py, &finding))
    }

    /// The components of an operand written as text.
    fn read(&self, py: Python<'_>, index: usize, text: &str) -> PyResult<Vec<u64>> {
        self.check_index(index)?;
        let parsed = roundonce::operand(&self.inner, index, text);
        Ok(parsed.map_err(|finding| error::of_finding(py, &finding))?.value.components().to_vec())
    }

    /// The bits of a number in an operand's format, rounded once, to nearest even, if it does not fit.
    fn convert(&self, index: usize, number: f64) -> PyResult<u64> {
        self.check_index(index)?;
        let format = self.inner.recipe.operation.operand_format(index);
        Ok(convert(Format::F64, format, Rounding::NearestEven, number.to_bits()).0)
    }

    /// Evaluates columns; of an operand that is `None` the column is what `out` holds before.
    fn eval_into<'py>(&self, py: Python<'py>, operands: Vec<Option<Column<'py>>>, out: Out<'py>) -> PyResult<()> {
        let work =
            |operands: &[Operand<'_>], results: Results<'_>| eval_into(&self.inner, &self.profile, operands, results);
        over_columns(py, self.inner.recipe.components, operands, out, work)
    }
}

/// Evaluates columns on this process's threads, the interpreter free meanwhile.
pub(crate) fn over_columns<'py>(
    py: Python<'py>,
    lanes: u32,
    operands: Vec<Option<Column<'py>>>,
    out: Out<'py>,
    work: impl FnOnce(&[Operand<'_>], Results<'_>) -> Result<(), Finding> + Send,
) -> PyResult<()> {
    let held = operands.into_iter().map(|column| column.map_or(Ok(Held::Out), |column| column.hold(lanes)));
    let held = held.collect::<PyResult<Vec<_>>>()?;
    let mut out = match out {
        Out::U8(array) => HeldOut::U8(array.try_readwrite().map_err(unusable)?),
        Out::U16(array) => HeldOut::U16(array.try_readwrite().map_err(unusable)?),
        Out::U32(array) => HeldOut::U32(array.try_readwrite().map_err(unusable)?),
        Out::U64(array) => HeldOut::U64(array.try_readwrite().map_err(unusable)?),
    };
    let operands = held.iter().map(Held::operand).collect::<PyResult<Vec<_>>>()?;
    let results = out.results()?;
    let length = match &results {
        Results::U8(slice) => slice.len(),
        Results::U16(slice) => slice.len(),
        Results::U32(slice) => slice.len(),
        Results::U64(slice) => slice.len(),
    };
    let operands = operands.as_slice();
    let evaluate = || work(operands, results);
    let evaluated = if length > PART { on_pool(py, evaluate)? } else { py.detach(evaluate) };
    evaluated.map_err(|finding| error::of_finding(py, &finding))
}

impl Instruction {
    fn check_index(&self, index: usize) -> PyResult<()> {
        if index < self.inner.recipe.operation.op.arity() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("`{}` has no operand {}", self.spelling, index + 1)))
    }
}

fn name(format: Format) -> &'static str {
    format.name().unwrap_or("?")
}

/// Does work on this process's threads, the interpreter free meanwhile: what the front door does side by side goes to them.
/// They are not those of runs, which may have all of theirs for long.
pub(crate) fn on_pool<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    static THREADS: Threads = Threads::new();
    let pool = THREADS.pool().map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    Ok(py.detach(|| pool.install(work)))
}
