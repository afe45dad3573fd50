//! A launch in parts: some of its blocks each, in any processes, and what they wrote put together.

use std::collections::BTreeMap;
use std::ops::Range;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use roundonce::exec::{Accesses, Arg, Bytes, Conflict, FaultKind, Launch, Part, RunError, conflict};

use crate::error;
use crate::evaluate::unusable;
use crate::interrupt::interruptible;
use crate::kernel::{Asked, Prepared, Ran, contiguous, held};

/// Some bytes of a memory: the first, one past the last, and which of these.
type Marked = (u64, u64, Vec<u8>);

/// What was accessed of a memory: its name, what was written and what was read.
type Accessed = (String, Marked, Marked);

/// What one part wrote of an array: what the caller calls it, which bytes, and those from the first to the last.
type Wrote<'py> = (String, Marked, Bound<'py, PyArray1<u8>>);

/// A part after its run.
#[derive(IntoPyObject)]
pub(crate) struct RanPart<'py> {
    /// What it left but the arrays; nothing where it failed.
    ran: Option<Ran<'py>>,
    /// Why it failed.
    fault: Option<Py<PyAny>>,
    written: Vec<Wrote<'py>>,
    accesses: Vec<Accessed>,
}

fn told(bytes: &Bytes) -> Marked {
    let Range { start, end } = bytes.range();
    (start, end, bytes.mask())
}

fn read(start: u64, end: u64, mask: &[u8]) -> PyResult<Bytes> {
    Bytes::from_parts(start..end, mask).ok_or_else(|| PyValueError::new_err("a range and a mask that do not fit"))
}

/// The blocks of so many parts of a launch, as ranges.
#[pyfunction]
pub(crate) fn parts(py: Python<'_>, asked: Asked<'_>, count: u64) -> PyResult<Vec<(u64, u64)>> {
    let ready = asked.ready(py)?;
    let launch = Launch {
        program: &ready.program,
        entry: Some(&ready.kernel().name),
        grid: asked.grid,
        block: asked.block(ready.kernel()),
        args: Vec::new(),
        dynamic_shared: asked.how.shared,
        options: asked.how.options(py, ready.profile)?,
    };
    let ranges = launch.parts(count).map_err(|problem| error::of_run(py, &asked.name, &problem))?;
    Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
}

/// For each of these ranges of blocks what they are expected to access of arrays, of which that is known: the first byte and one past the last.
#[pyfunction]
pub(crate) fn footprints(
    py: Python<'_>,
    asked: Asked<'_>,
    parts: Vec<(u64, u64)>,
) -> PyResult<Vec<BTreeMap<String, (u64, u64)>>> {
    let mut prepared = Prepared::of(py, asked, false)?;
    let args = std::mem::take(&mut prepared.args);
    let parts: Vec<Range<u64>> = parts.into_iter().map(|(start, end)| start..end).collect();
    let found = py.detach(|| prepared.launch(args).footprints(&parts));
    let found = found.map_err(|problem| error::of_run(py, &prepared.name, &problem))?;
    let of_part = |part: Vec<Option<Range<u64>>>| {
        let known = prepared.arrays.iter().filter_map(|(place, name)| Some((name, part[*place].as_ref()?)));
        known.map(|(name, range)| (name.clone(), (range.start, range.end))).collect()
    };
    Ok(found.into_iter().map(of_part).collect())
}

/// Runs some blocks of a launch.
#[pyfunction]
pub(crate) fn run_part<'py>(py: Python<'py>, asked: Asked<'py>, first: u64, end: u64) -> PyResult<RanPart<'py>> {
    let mut prepared = Prepared::read(py, asked)?;
    let args = std::mem::take(&mut prepared.args);
    let starts = args.iter().map(|arg| if let Arg::Slice { at, .. } = arg { *at } else { 0 });
    let starts: Vec<u64> = starts.collect();
    let part = interruptible(py, &prepared.options.stop, || prepared.launch(args).run_part(first..end))?;
    let Part { outcome, accesses } = part.map_err(|problem| error::of_run(py, &prepared.name, &problem))?;
    let mut ran = RanPart { ran: None, fault: None, written: Vec::new(), accesses: Vec::new() };
    ran.accesses.extend(accesses.iter().map(|it| (it.name.clone(), told(&it.written), told(&it.read))));
    let report = match outcome {
        Ok(report) => report,
        Err(fault) if fault.kind == FaultKind::Stopped => return Err(error::of_run(py, &prepared.name, &fault)),
        Err(fault) => {
            ran.fault = Some(error::of_run(py, &prepared.name, &fault).into_value(py).into_any());
            return Ok(ran);
        }
    };
    let mut left = Ran::of(prepared.ready.kernel(), &report, &prepared.options, &[])?;
    left.undetermined.clone_from(&prepared.ready.undetermined);
    ran.ran = Some(left);
    for it in &accesses {
        let Some(place) = it.argument else { continue };
        if let (Some(parameter), Some(buffer)) = (prepared.arrays.get(&place), &report.buffers[place]) {
            let Range { start, end } = it.written.range();
            let [from, to] = [start, end].map(|at| at.saturating_sub(starts[place]) as usize);
            let data = PyArray1::from_vec(py, buffer.bytes(from..to));
            ran.written.push((parameter.clone(), told(&it.written), data));
        }
    }
    Ok(ran)
}

/// Bytes of an array as Python has them: where they start and end, and which of them.
type MarkedBytes = (u64, u64, PyBackedBytes);
/// An array's name, what of it a part wrote and what it read.
type ArrayAccesses = (String, MarkedBytes, MarkedBytes);

/// Raises what makes one of these parts depend on another one.
#[pyfunction]
pub(crate) fn check_parts(
    py: Python<'_>,
    name: &str,
    kernel: String,
    parts: Vec<((u64, u64), Vec<ArrayAccesses>)>,
) -> PyResult<()> {
    let accesses = |(name, written, read): ArrayAccesses| {
        let [written, read] = [written, read].map(|(start, end, mask)| self::read(start, end, &mask));
        Ok(Accesses { name, argument: None, written: written?, read: read? })
    };
    let parts = parts.into_iter().map(|((start, end), all)| {
        let all = all.into_iter().map(accesses).collect::<PyResult<Vec<Accesses>>>()?;
        Ok((start..end, all))
    });
    let parts = parts.collect::<PyResult<Vec<_>>>()?;
    let Some(found): Option<Conflict> = py.detach(|| conflict(&parts)) else { return Ok(()) };
    let error = RunError {
        kind: FaultKind::Dependence,
        message: found.to_string(),
        kernel,
        line: 0,
        is_address: false,
        instruction: String::new(),
        thread: None,
    };
    Err(error::of_run(py, name, &error))
}

/// Copies what a part wrote of an array into the whole.
#[pyfunction]
pub(crate) fn copy_part(
    into: &Bound<'_, PyArray1<u8>>,
    start: u64,
    end: u64,
    mask: PyBackedBytes,
    data: &Bound<'_, PyArray1<u8>>,
) -> PyResult<()> {
    let data = held(data)?;
    let mut into = into.try_readwrite().map_err(unusable)?;
    let into = into.as_slice_mut().map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    let data = contiguous(&data)?;
    if end > into.len() as u64 || end - start.min(end) != data.len() as u64 {
        return Err(PyValueError::new_err("a part of another array"));
    }
    read(start, end, &mask)?.copy(data, into);
    Ok(())
}
