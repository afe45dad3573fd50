//! Modules, run over a grid.

use std::collections::BTreeMap;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use roundonce::arith::{Format, Rounding};
use roundonce::exec::{Arg, Breadth, Buffer, Contract, Launch, Options, Report};
use roundonce::ir::Kernel;
use roundonce::isa::convert;
use roundonce::kernel::{self, Choice, LaneValues, Lanes, Ready, Refusal, Source};
use roundonce::matrix::other_machines;
use roundonce::observed::{exceptions, shadow};
use roundonce::spirv::Assume;
use roundonce::why::Allowed;
use roundonce::why_kernel::{Experiment, Freedom, Observation, ObservedBuffer, answer_kernel};
use roundonce::{Profile, sass};

use crate::argument::{Given, argument, constants, image_argument};
use crate::error::{self, unmarked};
use crate::evaluate::{on_pool, profile, unusable};
use crate::interrupt::interruptible;
use crate::report::{Report as Told, named, report};

/// A module as Python holds it.
#[derive(FromPyObject)]
pub(crate) enum Content {
    Text(PyBackedStr),
    Binary(PyBackedBytes),
}

/// How a kernel is run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    contract: String,
    pub(crate) shared: u32,
    threads: usize,
    step_limit: u64,
    memory_limit: u64,
    check_races: bool,
    trace: Option<u64>,
    count_lines: bool,
    exceptions: bool,
    /// `f64` or `long`.
    shadow: Option<String>,
    /// What arrays should hold afterwards, by the names of their parameters: what an element is, and the bytes.
    expect: Vec<(String, String, PyBackedBytes)>,
    profile: Option<String>,
    /// The machine whose matrix multiply-add it is.
    arch: Option<String>,
}

/// What a run leaves.
#[derive(IntoPyObject)]
pub(crate) struct Ran<'py> {
    kernel: String,
    /// By the parameter's place, or the register's name.
    arrays: Vec<(String, Bound<'py, PyArray1<u8>>)>,
    steps: u64,
    printed: String,
    not_exact: BTreeMap<String, u64>,
    unordered: Vec<u32>,
    pub(crate) undetermined: Vec<String>,
    fused_lines: Vec<u32>,
    differences: Vec<Differing>,
    lines: BTreeMap<u32, u64>,
    trace: Vec<Traced>,
    /// As JSON, where it was asked for.
    exceptions: Option<String>,
    /// The same.
    shadow: Option<String>,
}

#[derive(IntoPyObject)]
struct Differing {
    parameter: String,
    words: usize,
    first: usize,
    unfused: u32,
    fused: u32,
}

#[derive(IntoPyObject)]
struct Traced {
    line: u32,
    instruction: String,
    operands: Vec<(u64, u32)>,
    results: Vec<(u64, u32)>,
}

impl How {
    /// With what was chosen in place of what the module has.
    pub(crate) fn options(&self, py: Python<'_>, base: Profile) -> PyResult<Options> {
        let contract = match self.contract.as_str() {
            "none" => Contract::None,
            "fuse" => Contract::Fuse,
            "report" => Contract::Report,
            other => {
                return Err(PyValueError::new_err(format!("`contract` is {other:?}: expected none, fuse or report")));
            }
        };
        let shadow = match self.shadow.as_deref() {
            None => None,
            Some("f64") => Some(Breadth::Double),
            Some("long") => Some(Breadth::Long),
            Some(other) => {
                return Err(PyValueError::new_err(format!("`shadow` is {other:?}: expected f64 or long")));
            }
        };
        if shadow.is_none() && !self.expect.is_empty() {
            return Err(PyValueError::new_err("`expect` is compared with a shadow: add shadow=\"f64\""));
        }
        Ok(Options {
            contract,
            profile: profile(py, self.profile.as_deref(), base)?,
            step_limit: self.step_limit,
            memory_limit: self.memory_limit,
            threads: self.threads,
            check_races: self.check_races,
            trace_lane: self.trace,
            count_lines: self.count_lines,
            count_exceptions: self.exceptions,
            shadow,
            ..Options::default()
        })
    }
}

fn json(data: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(data).map_err(|problem| PyValueError::new_err(problem.to_string()))
}

impl<'py> Ran<'py> {
    pub(crate) fn of(
        kernel: &Kernel,
        report: &Report,
        options: &Options,
        expected: &[(usize, Vec<u8>)],
    ) -> PyResult<Ran<'py>> {
        let params = &kernel.params;
        let exceptions = options.count_exceptions.then(|| json(&exceptions(&report.exceptions, kernel)));
        let shadow = report.shadow.as_ref().map(|it| json(&shadow(it, kernel, expected)));
        Ok(Ran {
            exceptions: exceptions.transpose()?,
            shadow: shadow.transpose()?,
            kernel: kernel.name.clone(),
            arrays: Vec::new(),
            steps: report.steps,
            printed: report.printed.clone(),
            not_exact: report.approximations.clone(),
            unordered: kernel.unordered_sums(),
            undetermined: Vec::new(),
            fused_lines: report.fused.clone(),
            differences: report
                .differences
                .iter()
                .map(|difference| Differing {
                    parameter: params[difference.arg].name.clone(),
                    words: difference.words,
                    first: difference.first,
                    unfused: difference.unfused,
                    fused: difference.fused,
                })
                .collect(),
            lines: report.lines.clone(),
            trace: report
                .trace
                .iter()
                .filter(|step| step.is_written())
                .map(|step| Traced {
                    line: step.line,
                    instruction: step.text.split_whitespace().collect::<Vec<_>>().join(" "),
                    operands: step.operands.clone(),
                    results: step.results.clone(),
                })
                .collect(),
        })
    }
}

fn bytes<'py>(py: Python<'py>, buffer: &Buffer) -> Bound<'py, PyArray1<u8>> {
    PyArray1::from_vec(py, buffer.to_bytes())
}

pub(crate) fn contiguous<'a>(array: &'a PyReadonlyArray1<'_, u8>) -> PyResult<&'a [u8]> {
    array.as_slice().map_err(|problem| PyValueError::new_err(problem.to_string()))
}

pub(crate) fn held<'py>(array: &Bound<'py, PyArray1<u8>>) -> PyResult<PyReadonlyArray1<'py, u8>> {
    array.try_readonly().map_err(unusable)
}

/// A module and its launch as Python gives them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked<'py> {
    pub(crate) name: String,
    language: String,
    content: Content,
    entry: Option<String>,
    assume: String,
    spec: Vec<(u32, Given<'py>)>,
    pub(crate) grid: [u32; 3],
    block: Option<[u32; 3]>,
    args: Vec<(String, Given<'py>)>,
    /// Textures, surfaces and images, with the words of their samplers.
    textures: Vec<(String, Given<'py>, Option<String>)>,
    /// All push constants, as the bytes of their block.
    push: Option<Vec<u8>>,
    pub(crate) how: How,
}

/// The same read: what a launch takes.
pub(crate) struct Prepared {
    pub(crate) name: String,
    pub(crate) ready: Ready,
    pub(crate) args: Vec<Arg>,
    /// What the caller calls each parameter that is an array.
    pub(crate) arrays: BTreeMap<usize, String>,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    pub(crate) options: Options,
    /// What arguments should hold afterwards.
    expected: Vec<(usize, Vec<u8>)>,
}

impl Asked<'_> {
    /// The module, with the kernel that is meant.
    pub(crate) fn ready(&self, py: Python<'_>) -> PyResult<Ready> {
        let Asked { name, language, content, entry, assume, spec, args, how, .. } = self;
        let assume = match assume.as_str() {
            "nvidia" => Assume::Nvidia,
            "strict" => Assume::Strict,
            "flush" => Assume::Flush,
            other => {
                return Err(PyValueError::new_err(format!("`assume` is {other:?}: expected nvidia, strict or flush")));
            }
        };
        let machine = how.arch.as_deref().map(kernel::machine).transpose();
        let machine = machine.map_err(|problem| PyValueError::new_err(format!("`arch`: {problem}")))?;
        let profile = profile(py, how.profile.as_deref(), Profile::NVIDIA)?;
        let (source, text) = match (content, language.as_str()) {
            (Content::Text(text), "ptx") => (Source::Ptx(unmarked(text)), &**text),
            (Content::Text(text), _) => (Source::SpirvText(unmarked(text)), &**text),
            (Content::Binary(bytes), _) => (Source::Spirv(bytes), ""),
        };
        let (entry, spec) = (entry.clone(), constants(py, name, source, spec)?);
        let arguments = args.iter().map(|(parameter, _)| parameter.clone()).collect();
        let choice = Choice { entry, machine, profile, assume, spec, arguments, ..Choice::default() };
        let ready = on_pool(py, || Ready::read(source, &choice))?;
        ready.map_err(|refusal| error::of_module(py, name, text, &refusal))
    }

    /// The threads of a block.
    pub(crate) fn block(&self, kernel: &Kernel) -> [u32; 3] {
        self.block.or(kernel.required_block).unwrap_or([1; 3])
    }
}

impl Prepared {
    pub(crate) fn read(py: Python<'_>, asked: Asked<'_>) -> PyResult<Prepared> {
        Prepared::of(py, asked, true)
    }
    /// The same; without `contents` buffers have their lengths alone.
    pub(crate) fn of(py: Python<'_>, asked: Asked<'_>, contents: bool) -> PyResult<Prepared> {
        let mut ready = asked.ready(py)?;
        let block = asked.block(ready.kernel());
        let Asked { name, grid, args, textures, push, how, .. } = asked;
        let wrong = |problem: String| error::whole(py, format!("{name}: {problem}"));

        ready.name_members(args.iter().map(|(parameter, _)| parameter.as_str())).map_err(wrong)?;
        let kernel = ready.kernel();
        // Of a texture the words behind it too.
        let mut given: BTreeMap<usize, (String, Given<'_>, Option<Option<String>>)> = BTreeMap::new();
        let args = args.into_iter().map(|(parameter, value)| (parameter, value, None));
        let textures = textures.into_iter().map(|(parameter, value, words)| (parameter, value, Some(words)));
        for (parameter, value, words) in args.chain(textures) {
            let place = kernel::parameter(kernel, &parameter).map_err(wrong)?;
            if given.insert(place, (parameter.clone(), value, words)).is_some() {
                return Err(wrong(format!("`{parameter}` is given twice")));
            }
        }
        let mut pushed = match push {
            Some(block) => kernel::push_constants(kernel, &block).map_err(wrong)?,
            None => BTreeMap::new(),
        };
        if let Some((parameter, ..)) = pushed.keys().find_map(|place| given.get(place)) {
            return Err(wrong(format!("`{parameter}` is given twice: in `args` and in `push`")));
        }
        let takes_array = ready.array_parameters();
        let mut arguments = Vec::with_capacity(kernel.params.len());
        let mut formats = Vec::with_capacity(kernel.params.len());
        let mut defaults = kernel::default_arguments(kernel, how.shared);
        for (place, param) in kernel.params.iter().enumerate() {
            let Some((_, value, words)) = given.get(&place) else {
                if let Some(member) = pushed.remove(&place) {
                    arguments.push(member);
                    formats.push(None);
                    continue;
                }
                if let Some(default) = defaults[place].take() {
                    arguments.push(default);
                    formats.push(None);
                    continue;
                }
                return Err(wrong(format!("{} has no value: add it to `args`", kernel::called(kernel, place))));
            };
            let called = kernel::called(kernel, place);
            arguments.push(match words {
                Some(words) => image_argument(py, &called, param, value, words.as_deref())?,
                None => argument(py, kernel, (place, takes_array[place]), value, contents)?,
            });
            formats.push(match value {
                Given::Array(format, ..) | Given::Slice(format, ..) => format.as_deref(),
                _ => None,
            });
        }
        ready.check_formats(&formats).map_err(|problem| PyTypeError::new_err(format!("{name}: {problem}")))?;
        let options = how.options(py, ready.profile)?;
        let is_buffer = |place: &usize| matches!(arguments[*place], Arg::Buffer(_) | Arg::Slice { .. } | Arg::Image(_));
        let mut expected = Vec::with_capacity(how.expect.len());
        for (parameter, element, bytes) in &how.expect {
            let place = kernel::parameter(kernel, parameter).map_err(wrong)?;
            let (Arg::Buffer(buffer), Some((_, Given::Array(_, _, known, _), _))) =
                (&arguments[place], given.get(&place))
            else {
                return Err(wrong(format!("`expect`: `{parameter}` is no array among `args`")));
            };
            if element != known {
                let message = format!("{name}: `expect`: `{parameter}` has elements of {known}, found {element}");
                return Err(PyTypeError::new_err(message));
            }
            if buffer.len() != bytes.len() {
                let (found, wanted) = (bytes.len(), buffer.len());
                return Err(wrong(format!("`expect`: `{parameter}` has {wanted} bytes, found {found}")));
            }
            expected.push((place, bytes.to_vec()));
        }
        let arrays = given.into_iter().map(|(place, (parameter, ..))| (place, parameter));
        let arrays = arrays.filter(|(place, _)| is_buffer(place)).collect();
        Ok(Prepared { name, ready, args: arguments, arrays, grid, block, shared: how.shared, options, expected })
    }

    /// A launch with its arguments, or a copy of them.
    pub(crate) fn launch(&self, args: Vec<Arg>) -> Launch<'_> {
        Launch {
            program: &self.ready.program,
            entry: Some(&self.ready.kernel().name),
            grid: self.grid,
            block: self.block,
            args,
            dynamic_shared: self.shared,
            options: self.options.clone(),
        }
    }
}

/// Runs a kernel of a module of PTX or SPIR-V.
#[pyfunction]
pub(crate) fn run<'py>(py: Python<'py>, asked: Asked<'py>) -> PyResult<Ran<'py>> {
    let mut prepared = Prepared::read(py, asked)?;
    let args = std::mem::take(&mut prepared.args);
    let kernel = prepared.ready.kernel();
    let report = interruptible(py, &prepared.options.stop, || prepared.launch(args).run())?;
    let report = report.map_err(|problem| error::of_run(py, &prepared.name, &problem))?;
    let mut ran = Ran::of(kernel, &report, &prepared.options, &prepared.expected)?;
    for (place, parameter) in &prepared.arrays {
        if let Some(buffer) = &report.buffers[*place] {
            ran.arrays.push((parameter.clone(), bytes(py, buffer)));
        }
    }
    ran.undetermined.clone_from(&prepared.ready.undetermined);
    Ok(ran)
}

/// An array that was seen: its parameter, its format if it is one of floats, an element's bytes, its shape, its bytes.
type Seen = (String, Option<String>, usize, Vec<usize>, PyBackedBytes);

/// Which policy gives the arrays that were seen after runs elsewhere.
#[pyfunction]
pub(crate) fn why_kernel(
    py: Python<'_>,
    asked: Asked<'_>,
    saw: Vec<Vec<Seen>>,
    allow: &str,
    toolchain: Option<&str>,
) -> PyResult<Told> {
    let allow = Allowed::parse(allow).map_err(|problem| error::whole(py, format!("allow: {problem}")))?;
    let toolchain = toolchain.map(roundonce::why::toolchain).transpose();
    let toolchain = toolchain.map_err(|problem| error::whole(py, format!("toolchain: {problem}")))?;
    let freedom = if asked.language == "ptx" { Freedom::ptx() } else { Freedom::spirv() };
    let prepared = Prepared::read(py, asked)?;
    let wrong = |problem: String| error::whole(py, format!("{}: {problem}", prepared.name));
    let kernel = prepared.ready.kernel();
    let seen = |(name, format, size, shape, bytes): Seen| {
        let arg = kernel::parameter(kernel, &name).map_err(wrong)?;
        let parameter = kernel.params[arg].name.clone();
        let Arg::Buffer(buffer) = &prepared.args[arg] else {
            return Err(wrong(format!("{} is a number, not a buffer", kernel::called(kernel, arg))));
        };
        if buffer.len() != bytes.len() {
            let message =
                format!("saw {name}: it has {} bytes, the buffer `{parameter}` {}", bytes.len(), buffer.len());
            return Err(wrong(message));
        }
        let format = format.and_then(|name| named(&name));
        Ok(ObservedBuffer { name, parameter, arg, bytes: bytes.to_vec(), size, format, shape })
    };
    let observations = saw.into_iter().map(|arrays| {
        let arrays = arrays.into_iter().map(seen).collect::<PyResult<Vec<ObservedBuffer>>>()?;
        Ok(Observation { arrays })
    });
    let observations = observations.collect::<PyResult<Vec<Observation>>>()?;
    let launch = prepared.launch(prepared.args.clone());
    let freedom = Freedom { machines: other_machines(kernel, &launch.options.profile), ..freedom };
    let experiment = Experiment { launch, kernel, freedom, observations, allow, toolchain };
    let answer = interruptible(py, &prepared.options.stop, || answer_kernel(&experiment, &mut |_| ()))?;
    let answer = answer.map_err(|problem| error::of_run(py, &prepared.name, &problem))?;
    report(answer.lines(), &answer)
}

/// The first option that was given and that only a kernel takes: a straight-line listing has a lane for each element of its
/// arrays, and neither parameters nor shared memory.
fn of_kernels(asked: &Asked<'_>) -> Option<&'static str> {
    let given = [
        ("textures", !asked.textures.is_empty()),
        ("push", asked.push.is_some()),
        ("spec", !asked.spec.is_empty()),
        ("shared", asked.how.shared != 0),
        ("expect", !asked.how.expect.is_empty()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// Runs a straight-line listing of SASS over lanes.
#[pyfunction]
pub(crate) fn run_sass<'py>(py: Python<'py>, asked: Asked<'py>) -> PyResult<Ran<'py>> {
    let refused = of_kernels(&asked);
    let Asked { name, content, entry, grid: asked_grid, block: asked_block, args, how, .. } = asked;
    let name = name.as_str();
    if let Some(option) = refused {
        let problem = "a listing of straight-line SASS takes none: its registers are `args`";
        return Err(error::whole(py, format!("{name}: `{option}`: {problem}")));
    }
    let Content::Text(text) = content else {
        return Err(PyTypeError::new_err(format!("{name}: a listing of SASS is text")));
    };
    let lowered = sass::lower(unmarked(&text), entry.as_deref());
    let lowered = lowered
        .map_err(|findings| error::of_module(py, name, &text, &Refusal::Findings { findings, unsupported: false }))?;
    let mut given = BTreeMap::new();
    for (text, value) in args {
        let wrong = |problem: String| error::whole(py, format!("{text}: {problem}"));
        let register = kernel::register_name(&text).or_else(|| kernel::constant_name(&text));
        let register =
            register.ok_or_else(|| wrong("expected R0 to R254, P0 to P6, CC or c[BANK][OFFSET]".to_owned()))?;
        let value = match value {
            Given::Text(value) | Given::Integer(_, value) => LaneValues::parse(register, &value),
            Given::Float(value) => {
                let bits = convert(Format::F64, Format::F32, Rounding::NearestEven, value.to_bits()).0;
                LaneValues::Uniform(bits as u32).checked(register)
            }
            Given::Typed(format, bits) if format == "f32" => LaneValues::Uniform(bits as u32).checked(register),
            Given::Typed(format, _) => {
                return Err(PyTypeError::new_err(format!("{text} is a register of 32 bits: found {format}")));
            }
            Given::Array(_, array, ..) => LaneValues::of_bytes(register, contiguous(&held(&array)?)?),
            Given::Slice(..) => return Err(PyTypeError::new_err(format!("{text} is a register, no slice of one"))),
        };
        if given.insert(register.to_string(), value.map_err(wrong)?).is_some() {
            return Err(error::whole(py, format!("`{text}` is given twice")));
        }
    }
    let missing = |name: &sass::Name| format!("{name} is read before it is written: add it to `args`");
    let lanes = kernel::lanes(&lowered, &given, missing);
    let lanes = lanes.and_then(|lanes| lanes.fit(asked_grid, asked_block).map(|()| lanes));
    let Lanes { grid, block, args, .. } = lanes.map_err(|problem| error::whole(py, format!("{name}: {problem}")))?;
    let options = how.options(py, Profile::NVIDIA)?;
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid,
        block,
        args,
        dynamic_shared: 0,
        options: options.clone(),
    };
    let report = interruptible(py, &options.stop, || launch.run())?;
    let report = report.map_err(|problem| error::of_run(py, name, &problem))?;
    let kernel = &lowered.program.kernels[0];
    let mut ran = Ran::of(kernel, &report, &options, &[])?;
    let buffers = report.buffers[1 + lowered.inputs.len()..].iter().flatten();
    ran.arrays = lowered.outputs.iter().map(ToString::to_string).zip(buffers.map(|buffer| bytes(py, buffer))).collect();
    Ok(ran)
}
