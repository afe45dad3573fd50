//! Verification of captured results, and sweeps, for callers that spread them over machines.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use roundonce::Profile;
use roundonce_vectors::sweep::{Manifest, Sweep as Inner};
use roundonce_vectors::{Generated, InstructionUnderTest, Observer, Options, Report, verify_file, verify_stream};

use crate::error;
use crate::evaluate::{profile, target};

/// Rows that could not be read, of which a few are told, and what else is worth knowing.
#[derive(Default)]
struct Seen {
    bad: Vec<(u64, String)>,
    notes: Vec<String>,
}

/// How many.
const TOLD: usize = 100;

impl Observer for Seen {
    fn bad_row(&mut self, row: u64, problem: &str) {
        if self.bad.len() < TOLD {
            self.bad.push((row, problem.to_owned()));
        }
    }
    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }
    fn progress(&mut self, _: u64, _: Option<u64>) {}
}

/// What is verified: a file, or what one would hold.
#[derive(FromPyObject)]
pub(crate) enum What {
    Bytes(PyBackedBytes),
    File(PathBuf),
}

fn json<T: serde::Serialize>(py: Python<'_>, value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|problem| error::whole(py, problem.to_string()))
}

/// The report as JSON, the first rows that could not be read, and notes.
type Told = (String, Vec<(u64, String)>, Vec<String>);

/// Verifies a file, or a part of it. `name` and `rows_before` are the place of the part.
#[pyfunction]
#[pyo3(signature = (what, name, rows_before, instruction, target=None, version=None, profile=None))]
#[allow(clippy::too_many_arguments, reason = "the signature that Python calls")]
pub(crate) fn verify(
    py: Python<'_>,
    what: What,
    name: &str,
    rows_before: u64,
    instruction: Option<&str>,
    target: Option<&str>,
    version: Option<&str>,
    profile: Option<&str>,
) -> PyResult<Told> {
    let (target, profile) = (self::target(py, target, version)?, self::profile(py, profile, Profile::NVIDIA)?);
    let instruction = instruction.map(|spelling| InstructionUnderTest::of(spelling, &target)).transpose();
    let instruction = instruction.map_err(|finding| error::of_finding(py, &finding))?;
    let options = Options { instruction, target, environment: None, profile };
    let mut seen = Seen::default();
    let report = py.detach(|| match &what {
        What::Bytes(bytes) => verify_stream(&bytes[..], &options, &mut seen),
        What::File(path) => verify_file(path, &options, &mut seen),
    });
    // The command's option is an argument here.
    let wrong = |problem: std::io::Error| problem.to_string().replace("--instruction", "`instruction`");
    let report = report.map_err(|problem| error::whole(py, format!("{name}: {}", wrong(problem))))?;
    let rows = seen.bad.into_iter().map(|(row, problem)| (row + rows_before, problem)).collect();
    Ok((json(py, &report.placed(name, rows_before))?, rows, seen.notes))
}

/// A column of vectors: the format and the bytes of its components.
type GeneratedColumn<'py> = (String, Bound<'py, PyArray1<u8>>);

/// Vectors of an instruction: its operands and its result, components in a value, and the exceptions.
#[pyfunction]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    instruction: &str,
    count: u64,
    seed: u64,
    target: Option<&str>,
    version: Option<&str>,
) -> PyResult<(Vec<GeneratedColumn<'py>>, u32, Bound<'py, PyArray1<u8>>)> {
    let target = self::target(py, target, version)?;
    let vectors = Generated::new(&[instruction], count, seed, &target);
    let vectors = vectors.map_err(|finding| error::of_finding(py, &finding))?;
    let tested = &vectors.instructions()[0];
    let columns = tested.arity() + 1;
    let (bytes, flags) = py.detach(|| {
        let (mut bytes, mut flags) = (vec![Vec::new(); columns], Vec::new());
        for (_, vector) in vectors.iter() {
            for (column, value) in vector.operands.iter().chain([&vector.result]).enumerate() {
                let width = tested.format(column).width() as usize / 8;
                for component in value.components() {
                    bytes[column].extend_from_slice(&component.to_le_bytes()[..width]);
                }
            }
            flags.extend(vector.flags);
        }
        (bytes, flags)
    });
    let name = |column: usize| tested.format(column).name().unwrap_or_default().to_owned();
    let columns = bytes.into_iter().enumerate();
    let columns = columns.map(|(column, bytes)| (name(column), PyArray1::from_vec(py, bytes))).collect();
    Ok((columns, tested.components(), PyArray1::from_vec(py, flags)))
}

/// Several reports as one: its lines, and as JSON.
#[pyfunction]
pub(crate) fn together(py: Python<'_>, reports: Vec<String>) -> PyResult<(Vec<String>, String)> {
    let read = reports.iter().map(|report| serde_json::from_str(report));
    let reports = read.collect::<Result<Vec<Report>, _>>().map_err(|problem| error::whole(py, problem.to_string()))?;
    let whole = Report::together(reports);
    Ok((whole.lines(), json(py, &whole)?))
}

/// A sweep in its folder.
#[pyclass(frozen, module = "roundonce._native")]
pub(crate) struct Sweep(Inner);

#[pymethods]
impl Sweep {
    /// One that a folder holds.
    #[new]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Sweep> {
        Inner::open(&folder).map(Sweep).map_err(|problem| error::whole(py, problem))
    }
    /// Begins one, or continues the same one.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        instruction: &str,
        against: Option<&str>,
        spaces: Vec<String>,
        shard: u64,
    ) -> PyResult<Sweep> {
        let manifest = Manifest::new(instruction, against, &spaces, shard);
        let sweep = manifest.and_then(|manifest| Inner::create(&folder, &manifest));
        sweep.map(Sweep).map_err(|problem| error::whole(py, problem))
    }
    /// The shards that have no record that can be relied on.
    fn missing(&self, py: Python<'_>) -> Vec<u64> {
        py.detach(|| self.0.missing(&mut |_| ()))
    }
    /// Evaluates a shard and leaves its record.
    fn run(&self, py: Python<'_>, shard: u64) -> PyResult<()> {
        let ran = py.detach(|| self.0.run(shard));
        ran.map(|_| ()).map_err(|problem| error::whole(py, problem))
    }
    /// The whole as JSON, once every shard has its record.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let swept = py.detach(|| self.0.finish()).map_err(|problem| error::whole(py, problem))?;
        json(py, &swept)
    }
}
