//! `run`: a kernel over a grid.

mod spirv;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use roundonce::exec::{Arg, Contract, Launch, Options, Report, Trouble};
use roundonce::isa::program::{Kernel, Passing};
use roundonce::isa::{Finding, hex_bits};
use roundonce::kernel::{self, Ready, Refusal, Source};
use serde::Serialize;

use crate::array::Array;
use crate::output::{self, Format, FormatArgument};
use crate::report::Checked;
use crate::{Ended, Failure, Status, files, run_sass};

/// What may be done with unmodified mul and add.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Contraction {
    /// Nothing is fused
    None,
    /// What the assembler may fuse is
    Fuse,
    /// Both, and where the bits differ
    Report,
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// The kernel's module: .ptx, .spv, .spvasm, or a straight-line .sass listing
    pub(crate) file: PathBuf,
    /// The kernel (needed when there are several)
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", default_value = "1", value_parser = extent)]
    grid: [u32; 3],
    /// Threads of a block; where the kernel says how many it wants, that is the default, otherwise 1
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extent)]
    block: Option<[u32; 3]>,
    /// A parameter, by position from 0 or by name: a number, in.npy (a buffer with the file's bytes) or zeros:f32:1024;
    /// a SPIR-V buffer by set and binding, 0.1=in.npy
    #[arg(long, visible_alias = "buffer", value_name = "P=VALUE")]
    arg: Vec<String>,
    /// Where a buffer goes afterwards, in the shape and type it came in with; of a .sass listing, a register
    #[arg(long, value_name = "P=FILE")]
    pub(crate) out: Vec<String>,
    /// SASS: a register, predicate or CC before the listing; a number for every lane, or in.npy with one a lane
    #[arg(long, value_name = "R1=VALUE", value_parser = output::signed)]
    pub(crate) reg: Vec<String>,
    /// SASS: a word of a constant bank, as --reg
    #[arg(long, value_name = "BANK:OFFSET=VALUE", value_parser = output::signed)]
    pub(crate) cbank: Vec<String>,
    /// SPIR-V: a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE")]
    pub(crate) spec: Vec<String>,
    /// SPIR-V: what is done where the module leaves bits open
    #[arg(long, value_enum, default_value = "nvidia")]
    pub(crate) assume: spirv::Assumption,
    /// What is done with mul and add that have no rounding modifier
    #[arg(long, value_enum, default_value = "none")]
    contract: Contraction,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Print each instruction of one thread, counted through the grid from 0
    #[arg(long, value_name = "LANE")]
    trace: Option<u64>,
    /// Count the instructions by line
    #[arg(long)]
    profile: bool,
    /// Report data races on shared memory inside a block
    #[arg(long)]
    check_races: bool,
    /// Worker threads
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Give up after this many instructions of one group of blocks
    #[arg(long, value_name = "N", default_value_t = Options::default().step_limit)]
    step_limit: u64,
    /// Give up beyond this many bytes of memory
    #[arg(long, value_name = "BYTES", default_value_t = Options::default().memory_limit)]
    memory_limit: u64,
    #[command(flatten)]
    format: FormatArgument,
}

impl Arguments {
    pub(crate) fn json(&self) -> bool {
        self.format.format == Format::Json
    }
    /// Whether more was asked for than the results.
    pub(crate) fn trace_or_profile(&self) -> bool {
        !self.json() && (self.trace.is_some() || self.profile)
    }
    pub(crate) fn options(&self) -> Options {
        Options {
            contract: match self.contract {
                Contraction::None => Contract::None,
                Contraction::Fuse => Contract::Fuse,
                Contraction::Report => Contract::Report,
            },
            step_limit: self.step_limit,
            memory_limit: self.memory_limit,
            threads: self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            check_races: self.check_races,
            trace_lane: self.trace,
            count_lines: self.profile,
            ..Options::default()
        }
    }
}

fn extent(text: &str) -> Result<[u32; 3], String> {
    let mut extent = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("more than three numbers".to_owned());
    }
    for (place, part) in extent.iter_mut().zip(parts) {
        *place = part.trim().parse().map_err(|error| format!("`{part}`: {error}"))?;
    }
    Ok(extent)
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    if arguments.file.extension().is_some_and(|extension| extension == "sass") {
        return run_sass::run(arguments);
    }
    let ready = ready(arguments)?;
    let kernel = ready.kernel();
    let (args, arrays) = bind(kernel, arguments)?;
    ready.check_formats(&formats(&arrays)).map_err(Failure::Input)?;
    let outputs = outputs(kernel, &arrays, arguments)?;
    let launch = Launch {
        program: &ready.program,
        entry: Some(&kernel.name),
        grid: arguments.grid,
        block: arguments.block.or(kernel.required_block).unwrap_or([1; 3]),
        args,
        dynamic_shared: arguments.shared,
        options: Options { profile: ready.profile, ..arguments.options() },
    };
    let Some(report) = launched(launch, arguments)? else { return Ok(Status::Found) };
    for (place, path) in &outputs {
        if let (Some(array), Some(buffer)) = (&arrays[*place], &report.buffers[*place]) {
            array.write(path, &buffer.to_bytes())?;
        }
    }
    tell(&report, kernel, &ready.undetermined, arguments)?;
    Ok(if report.differences.is_empty() { Status::Done } else { Status::Found })
}

/// Runs a kernel. Where the kernel itself is at fault that is told, and there is no report.
pub(crate) fn launched(launch: Launch, arguments: &Arguments) -> Result<Option<Report>, Failure> {
    launch.run().map(Some).or_else(|error| {
        let message = format!("{}: {error}", arguments.file.display());
        match error.trouble {
            Trouble::Usage | Trouble::Invalid => Err(Failure::Input(message)),
            _ => {
                output::error(&message);
                Ok(None)
            }
        }
    })
}

/// A module, read for what is asked.
fn ready(arguments: &Arguments) -> Result<Ready, Failure> {
    let path = &arguments.file;
    let choice = spirv::choice(arguments)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension == Some("spv") {
        let read = Ready::read(Source::Spirv(&files::read(path)?), &choice);
        return read.map_err(|refusal| refused(path, "", refusal));
    }
    if !matches!(extension, Some("ptx" | "spvasm")) {
        return Err(Failure::Input(format!("{}: expected a .ptx, .spv, .spvasm or .sass file", path.display())));
    }
    let text = files::text(path, files::read(path)?)?;
    let source = if extension == Some("ptx") { Source::Ptx(&text) } else { Source::SpirvText(&text) };
    Ready::read(source, &choice).map_err(|refusal| refused(path, &text, refusal))
}

/// The failure that a refusal is: 3 where all findings are about what is not supported.
fn refused(path: &Path, text: &str, refusal: Refusal) -> Failure {
    let file = path.display();
    match refusal {
        Refusal::Findings { findings, unsupported: true } => Failure::Unsupported(located(path, text, findings)),
        Refusal::Findings { findings, .. } => Failure::Input(located(path, text, findings)),
        Refusal::Several(names) => {
            Failure::Input(format!("{file}: several kernels, choose with --entry: {}", names.join(", ")))
        }
        Refusal::Usage(problem) => Failure::Input(format!("{file}: {problem}")),
    }
}

/// Findings as `file:line:column: message`, of a binary `file: word 12: message`, one a line.
pub(crate) fn located(path: &Path, text: &str, findings: Vec<Finding>) -> String {
    let checked = Checked::new(path, text.to_owned(), findings, false);
    let lines: Vec<String> = checked
        .rows()
        .map(|row| match row.word {
            Some(word) => format!("{}: word {word}: {} [{}]", row.file, row.message, row.code),
            None => format!("{}:{}:{}: {} [{}]", row.file, row.line, row.column, row.message, row.code),
        })
        .collect();
    lines.join("\n")
}

pub(crate) fn split_pair<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str), Failure> {
    text.split_once('=').ok_or_else(|| Failure::Input(format!("{option} `{text}` is not P=VALUE")))
}

/// The arguments, and the arrays that came with them.
fn bind(kernel: &Kernel, arguments: &Arguments) -> Result<(Vec<Arg>, Vec<Option<Array>>), Failure> {
    let mut given: BTreeMap<usize, &str> = BTreeMap::new();
    for text in &arguments.arg {
        let (name, value) = split_pair("--arg", text)?;
        if given.insert(kernel::parameter(kernel, name).map_err(Failure::Input)?, value).is_some() {
            return Err(Failure::Input(format!("--arg: `{name}` is given twice")));
        }
    }
    let mut args = Vec::new();
    let mut arrays = Vec::new();
    for (place, param) in kernel.params.iter().enumerate() {
        let Some(value) = given.get(&place) else {
            return Err(Failure::Input(format!("parameter {place} (`{0}`) has no value: add --arg {0}=…", param.name)));
        };
        let array = if value.starts_with("zeros:") {
            Some(Array::zeros(value)?)
        } else if value.ends_with(".npy") {
            Some(Array::read(Path::new(value))?)
        } else {
            None
        };
        let called = kernel::called(place, param);
        args.push(match &array {
            Some(array) => kernel::array_argument(param, &array.bytes),
            None if param.passing == Passing::Buffer => {
                let message = format!("{called} is a buffer: expected in.npy or zeros:f32:N, found `{value}`");
                return Err(Failure::Input(message));
            }
            None => Arg::Scalar(
                kernel::number(param.size, param.scalar, value)
                    .map_err(|problem| Failure::Input(format!("{called}: {problem}")))?,
            ),
        });
        arrays.push(array);
    }
    Ok((args, arrays))
}

/// The formats of arrays of floats. Integers are bits.
fn formats(arrays: &[Option<Array>]) -> Vec<Option<&'static str>> {
    let format = |array: &Option<Array>| match array.as_ref()?.element.as_str() {
        "f2" => Some("f16"),
        "f4" => Some("f32"),
        "f8" => Some("f64"),
        _ => None,
    };
    arrays.iter().map(format).collect()
}

/// Where each wanted buffer goes.
fn outputs(kernel: &Kernel, arrays: &[Option<Array>], arguments: &Arguments) -> Result<Vec<(usize, PathBuf)>, Failure> {
    let mut outputs = Vec::new();
    for text in &arguments.out {
        let (name, path) = split_pair("--out", text)?;
        let place = kernel::parameter(kernel, name).map_err(Failure::Input)?;
        if arrays[place].is_none() {
            return Err(Failure::Input(format!("--out: parameter `{name}` is a number, not a buffer")));
        }
        outputs.push((place, PathBuf::from(path)));
    }
    Ok(outputs)
}

#[derive(Serialize)]
struct Told<'a> {
    kernel: &'a str,
    steps: u64,
    printed: &'a str,
    not_exact: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    undetermined: &'a [String],
    fused_lines: &'a [u32],
    differences: Vec<Differing<'a>>,
    lines: &'a BTreeMap<u32, u64>,
    trace: Vec<Traced<'a>>,
}

#[derive(Serialize)]
struct Differing<'a> {
    parameter: &'a str,
    words: usize,
    first: usize,
    unfused: String,
    fused: String,
}

#[derive(Serialize)]
struct Traced<'a> {
    line: u32,
    instruction: &'a str,
    operands: Vec<String>,
    results: Vec<String>,
}

pub(crate) fn tell(
    report: &Report,
    kernel: &Kernel,
    undetermined: &[String],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let bits = |values: &[(u64, u32)]| values.iter().map(|&(bits, width)| hex_bits(width, bits)).collect();
    let told = Told {
        kernel: &kernel.name,
        steps: report.steps,
        printed: &report.printed,
        not_exact: &report.approximations,
        undetermined,
        fused_lines: &report.fused,
        differences: report
            .differences
            .iter()
            .map(|difference| Differing {
                parameter: &kernel.params[difference.arg].name,
                words: difference.words,
                first: difference.first,
                unfused: hex_bits(32, u64::from(difference.unfused)),
                fused: hex_bits(32, u64::from(difference.fused)),
            })
            .collect(),
        lines: &report.lines,
        trace: report
            .trace
            .iter()
            .map(|step| Traced {
                line: step.line,
                instruction: &step.text,
                operands: bits(&step.operands),
                results: bits(&step.results),
            })
            .collect(),
    };
    if arguments.json() {
        return output::json(&told);
    }
    let mut out = anstream::stdout().lock();
    write!(out, "{}", told.printed)?;
    for step in &told.trace {
        let instruction = step.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut line = format!("{:>5}  {instruction:<48} {}", step.line, step.operands.join(" "));
        if !step.results.is_empty() {
            line += &format!(" -> {}", step.results.join(" "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for (line, count) in told.lines {
        writeln!(out, "line {line}: {count}")?;
    }
    for difference in &told.differences {
        writeln!(
            out,
            "contraction changes `{}`: {} words, the first at {}: {} unfused, {} fused",
            difference.parameter, difference.words, difference.first, difference.unfused, difference.fused
        )?;
    }
    if !undetermined.is_empty() {
        output::note(&format!("the module does not determine the bits; assumed {}", undetermined.join("; ")));
    }
    for (name, count) in told.not_exact {
        output::note(&format!("not exact: {name} × {count} (correctly rounded here; the GPU approximates it)"));
    }
    Ok(())
}
