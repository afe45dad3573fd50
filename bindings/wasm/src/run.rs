//! A kernel's run, by the interpreter.

use roundonce::answers::{NoAnswer, RunAnswer};
use roundonce::elements::{ElementType, Elements, WRITTEN};
use roundonce::exec::{Arg, Contract, Engine, Launch, Options};
use roundonce::ir::{Kernel, Passing};
use roundonce::isa::hex_bits;
use roundonce::kernel::{self, Choice, Ready, Source};
use roundonce::why::Line;
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

pub(crate) fn run(request: Run) -> Ended {
    let Run { file, text, entry, grid, block, args, contract, trace, machine } = request;
    let source = match file.rsplit_once('.') {
        Some((_, "ptx")) => Source::Ptx(&text),
        Some((_, "spvasm")) => Source::SpirvText(&text),
        _ => return Err(NoAnswer::Input(format!("{file}: expected a .ptx or .spvasm file"))),
    };
    let (target, profile) = (machine.target()?, machine.profile()?);
    let choice = Choice { entry, machine: target.sm, profile, ..Choice::default() };
    let ready = Ready::read(source, &choice).map_err(|refusal| NoAnswer::refused(&file, &text, refusal))?;
    let (args, types) = bind(ready.kernel(), &args)?;
    let formats: Vec<_> = types.iter().map(|ty| ty.filter(|ty| ty.format().is_some()).map(|ty| ty.name)).collect();
    ready.check_formats(&formats).map_err(NoAnswer::Input)?;
    let contract = match contract.as_deref() {
        None | Some("none") => Contract::None,
        Some("fuse") => Contract::Fuse,
        Some("report") => Contract::Report,
        Some(_) => return Err(NoAnswer::Input("contract: expected none, fuse or report".to_owned())),
    };
    let launch = Launch {
        program: &ready.program,
        entry: Some(&ready.kernel().name),
        grid,
        block: block.or(ready.kernel().required_block).unwrap_or([1; 3]),
        args,
        dynamic_shared: 0,
        options: Options {
            contract,
            profile,
            memory_limit: MOST_BYTES,
            threads: 1,
            trace_lane: trace,
            engine: Engine::Interpreter,
            ..Options::default()
        },
    };
    let report = launch.run().map_err(|error| NoAnswer::Input(format!("{file}: {error}")))?;
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

fn bind(kernel: &Kernel, given: &[String]) -> Result<Bound, NoAnswer> {
    let mut values = vec![None; kernel.params.len()];
    for text in given {
        let (name, value) =
            text.split_once('=').ok_or_else(|| NoAnswer::Input(format!("--arg `{text}` is not P=VALUE")))?;
        let place = kernel::parameter(kernel, name).map_err(NoAnswer::Input)?;
        if values[place].replace(value).is_some() {
            return Err(NoAnswer::Input(format!("--arg: `{name}` is given twice")));
        }
    }
    let bound = kernel.params.iter().zip(values).enumerate().map(|(place, (param, value))| {
        let called = kernel::called(place, param);
        let value =
            value.ok_or_else(|| NoAnswer::Input(format!("{called} has no value: add --arg {}=…", param.name)))?;
        if matches!(param.passing, Passing::Image(_) | Passing::Sampler) {
            return Err(NoAnswer::Unsupported(format!("{called} is an image or a sampler: the command takes those")));
        }
        if let Some(elements) = Elements::parse(value).transpose().map_err(NoAnswer::Input)? {
            return Ok((kernel::array_argument(param, &elements.bytes), Some(elements.ty)));
        }
        if param.passing == Passing::Buffer {
            let message = format!("{called} is a buffer: expected {WRITTEN}, found `{value}`");
            return Err(NoAnswer::Input(message));
        }
        Ok((Arg::Scalar(option(&called, kernel::number(param.size, param.scalar, value))?), None))
    });
    Ok(bound.collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}
