//! A kernel's run, by the interpreter, and what explains what was seen of another run.

use roundonce::Profile;
use roundonce::answers::{NoAnswer, RunAnswer};
use roundonce::elements::{ElementType, Elements, WRITTEN};
use roundonce::exec::{Arg, Contract, Engine, Launch, Options, RunError};
use roundonce::ir::Passing;
use roundonce::isa::hex_bits;
use roundonce::kernel::{self, Choice, Ready, Source};
use roundonce::matrix::other_machines;
use roundonce::why::{Allowed, Line};
use roundonce::why_kernel::{Experiment, Freedom, Observation, ObservedBuffer, answer_kernel};
use serde::Deserialize;

use crate::reply::{BufferAfter, Ended, Reply, option};
use crate::verbs::Machine;

#[derive(Deserialize)]
pub(crate) struct Run {
    file: String,
    text: String,
    #[serde(default)]
    entry: Option<String>,
    #[serde(default = "one")]
    grid: [u32; 3],
    #[serde(default)]
    block: Option<[u32; 3]>,
    /// `P=VALUE`, as the command's `--arg`.
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    contract: Option<String>,
    /// The instructions of one thread.
    #[serde(default)]
    trace: Option<u64>,
    /// Of `why`: `P=VALUES`, buffers as they were afterwards.
    #[serde(default)]
    saw: Vec<String>,
    #[serde(flatten)]
    machine: Machine,
}

const fn one() -> [u32; 3] {
    [1; 3]
}

/// What a tab may take: a run that needs more belongs to the command.
const MOST_BYTES: u64 = 1 << 28;
/// Elements of a buffer that are shown.
const SHOWN: usize = 1024;

/// A kernel with its arguments.
struct Prepared {
    ready: Ready,
    profile: Profile,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    /// The element types of the arguments that are buffers.
    types: Vec<Option<&'static ElementType>>,
    freedom: Freedom,
}

impl Prepared {
    fn of(request: &Run) -> Result<Prepared, NoAnswer> {
        let Run { file, text, entry, grid, block, args, machine, .. } = request;
        let (source, freedom) = match file.rsplit_once('.') {
            Some((_, "ptx")) => (Source::Ptx(text), Freedom::ptx()),
            Some((_, "spvasm")) => (Source::SpirvText(text), Freedom::spirv()),
            _ => return Err(NoAnswer::Input(format!("{file}: expected a .ptx or .spvasm file"))),
        };
        let (target, profile) = (machine.target()?, machine.profile()?);
        let names = || args.iter().filter_map(|text| text.split_once('=')).map(|(name, _)| name);
        let arguments = names().map(str::to_owned).collect();
        let choice = Choice { entry: entry.clone(), machine: target.sm, profile, arguments, ..Choice::default() };
        let mut ready = Ready::read_portable(source, &choice).map_err(|refusal| NoAnswer::refused(file, text, refusal))?;
        ready.name_members(names()).map_err(|problem| NoAnswer::Input(format!("--arg: {problem}")))?;
        let (args, types) = bind(&ready, args)?;
        let formats: Vec<_> = types.iter().map(|ty| ty.filter(|ty| ty.format().is_some()).map(|ty| ty.name)).collect();
        ready.check_formats(&formats).map_err(NoAnswer::Input)?;
        let block = block.or(ready.kernel().required_block).unwrap_or([1; 3]);
        Ok(Prepared { ready, profile, grid: *grid, block, args, types, freedom })
    }

    /// Its launch, in this thread.
    fn launch(&self, options: Options) -> Launch<'_> {
        let fixed = Options {
            profile: self.profile,
            memory_limit: MOST_BYTES,
            threads: 1,
            engine: Engine::Interpreter,
            ..options
        };
        Launch {
            program: &self.ready.program,
            entry: Some(&self.ready.kernel().name),
            grid: self.grid,
            block: self.block,
            args: self.args.clone(),
            dynamic_shared: 0,
            options: fixed,
        }
    }
}

pub(crate) fn run(request: Run) -> Ended {
    let contract = match request.contract.as_deref() {
        None | Some("none") => Contract::None,
        Some("fuse") => Contract::Fuse,
        Some("report") => Contract::Report,
        Some(_) => return Err(NoAnswer::Input("contract: expected none, fuse or report".to_owned())),
    };
    let prepared = Prepared::of(&request)?;
    let (ready, types) = (&prepared.ready, &prepared.types);
    let launch = prepared.launch(Options { contract, trace_lane: request.trace, ..Options::default() });
    let report = launch.run().map_err(|error| failed(&request.file, &error))?;
    let answer = RunAnswer::of(&report, ready.kernel(), &ready.undetermined, false, &[]);
    let after = types.iter().zip(&report.buffers).zip(&ready.kernel().params);
    let buffers = after.filter_map(|((ty, buffer), param)| {
        let mut bytes = Vec::new();
        buffer.as_ref()?.write_to(&mut bytes).ok()?;
        Some(buffer_after(&param.name, ty.as_ref()?, &bytes))
    });
    let lines = vec![Line::plain(format!("{}: {} instructions", answer.kernel, answer.steps))];
    let reply = Reply { notes: answer.notes(), buffers: buffers.collect(), ..Reply::default() };
    Ok(reply.with(&answer, lines)?.found(!answer.differences.is_empty()))
}

fn failed(file: &str, error: &RunError) -> NoAnswer {
    NoAnswer::Input(format!("{file}: {error}"))
}

pub(crate) fn why_kernel(request: Run) -> Ended {
    let prepared = Prepared::of(&request)?;
    let kernel = prepared.ready.kernel();
    let seen = request.saw.iter().map(|text| observed(&prepared, text)).collect::<Result<Vec<_>, _>>()?;
    if seen.is_empty() {
        return Err(NoAnswer::Input("nothing was seen: expected a buffer as it was afterwards".to_owned()));
    }
    let experiment = Experiment {
        launch: prepared.launch(Options::default()),
        kernel,
        freedom: Freedom { machines: other_machines(kernel, &prepared.profile), ..prepared.freedom.clone() },
        observations: Observation::by_run(seen),
        allow: Allowed::default(),
        toolchain: None,
    };
    let answer = answer_kernel(&experiment, &mut |_| ()).map_err(|error| failed(&request.file, &error))?;
    Ok(Reply::default().with(&answer, answer.lines())?.found(!answer.explained()))
}

/// `P=values:f32:1,2`: the buffer of a parameter as it was afterwards.
fn observed(prepared: &Prepared, text: &str) -> Result<ObservedBuffer, NoAnswer> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| NoAnswer::Input(format!("--saw `{text}` is not P=VALUES")))?;
    let arg = kernel::parameter(prepared.ready.kernel(), name).map_err(NoAnswer::Input)?;
    let Arg::Buffer(buffer) = &prepared.args[arg] else {
        return Err(NoAnswer::Input(format!("--saw: parameter `{name}` is a number, not a buffer")));
    };
    let elements = Elements::parse(value).transpose().map_err(NoAnswer::Input)?;
    let Elements { ty, shape, bytes } =
        elements.ok_or_else(|| NoAnswer::Input(format!("{name}: expected {WRITTEN}, found `{value}`")))?;
    let parameter = prepared.ready.kernel().params[arg].name.clone();
    let observed = ObservedBuffer {
        name: parameter.clone(),
        parameter,
        arg,
        bytes,
        size: ty.size,
        format: ty.format(),
        shape: shape.iter().map(|&length| length as usize).collect(),
    };
    observed.of_bytes(buffer.len()).map_err(NoAnswer::Input)
}

fn buffer_after(name: &str, ty: &'static ElementType, bytes: &[u8]) -> BufferAfter {
    let shown = &bytes[..bytes.len().min(SHOWN * ty.size)];
    let bits = shown.chunks_exact(ty.size).map(|element| {
        let mut word = [0; 8];
        word[..element.len()].copy_from_slice(element);
        hex_bits(8 * ty.size as u32, u64::from_le_bytes(word))
    });
    BufferAfter {
        name: name.to_owned(),
        ty: ty.name,
        count: bytes.len() / ty.size,
        bits: bits.collect(),
        values: Elements::decimals(ty, shown),
    }
}

/// The arguments, and the element types of those that are buffers.
type Bound = (Vec<Arg>, Vec<Option<&'static ElementType>>);

fn bind(ready: &Ready, given: &[String]) -> Result<Bound, NoAnswer> {
    let kernel = ready.kernel();
    let takes_array = ready.array_parameters();
    let mut values = vec![None; kernel.params.len()];
    for text in given {
        let (name, value) =
            text.split_once('=').ok_or_else(|| NoAnswer::Input(format!("--arg `{text}` is not P=VALUE")))?;
        let place = kernel::parameter(kernel, name).map_err(NoAnswer::Input)?;
        if values[place].replace(value).is_some() {
            return Err(NoAnswer::Input(format!("--arg: `{name}` is given twice")));
        }
    }
    let mut defaults = kernel::default_arguments(kernel, 0);
    let bound = kernel.params.iter().zip(values).enumerate().map(|(place, (param, value))| {
        let called = kernel::called(kernel, place);
        let Some(value) = value else {
            let missing = || NoAnswer::Input(ready.value_expected(place, "--arg"));
            return Ok((defaults[place].take().ok_or_else(missing)?, None));
        };
        if matches!(param.passing, Passing::Image(_) | Passing::Sampler) {
            return Err(NoAnswer::Unsupported(format!("{called} is an image or a sampler: the command takes those")));
        }
        if let Some(elements) = Elements::parse(value).transpose().map_err(NoAnswer::Input)? {
            if !takes_array[place] {
                return Err(NoAnswer::Input(format!("{}, `{value}`", kernel::number_expected(kernel, place))));
            }
            return Ok((kernel::array_argument(param, elements.bytes), Some(elements.ty)));
        }
        if param.passing == Passing::Buffer {
            let message = format!("{called} is a buffer: expected {WRITTEN}, found `{value}`");
            return Err(NoAnswer::Input(message));
        }
        Ok((Arg::Scalar(option(&called, kernel::number(param.size, param.scalar, value))?), None))
    });
    Ok(bound.collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}
