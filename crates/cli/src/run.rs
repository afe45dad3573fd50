//! `run`: a kernel over a grid.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use roundonce::answers::RunAnswer;
use roundonce::exec::{Contract, Engine, FaultKind, Launch, Options, Report, RunError};
use roundonce::ir::Kernel;
use roundonce::isa::{Severity, grouped};
use roundonce::sass;

use crate::argument::Argument;
use crate::array::Array;
use crate::check::LARGEST;
use crate::launch::{LaunchArguments, Prepared, split_pair};
use crate::modules::Language;
use crate::options::{self, Given, Kind};
use crate::output::{self, Format, FormatArgument};
use crate::run_observed::{self, ShadowBreadth};
use crate::{Ended, Failure, Status, files, run_sass, smoke, terminal};

/// What may be done with unmodified mul and add.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Contraction {
    None,
    Fuse,
    Report,
    /// What the machine code of a cubin does.
    Compiled(PathBuf),
}

impl Contraction {
    fn parser() -> impl TypedValueParser<Value = Contraction> {
        PathBufValueParser::new().try_map(|word| match word.to_str() {
            Some("none") => Ok(Contraction::None),
            Some("fuse") => Ok(Contraction::Fuse),
            Some("report") => Ok(Contraction::Report),
            _ if word.extension().is_some_and(|extension| extension == "cubin") => Ok(Contraction::Compiled(word)),
            _ => Err("expected none, fuse, report or a .cubin file"),
        })
    }
}

/// Who executes the kernel
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Execution {
    /// The interpreter, and native code once the launch is long enough to pay for compiling it
    Auto,
    /// Native code from the start where there can be some, the interpreter elsewhere
    Native,
    /// The same for AVX2, also where the processor has AVX-512
    Avx2,
    /// The same for AArch64 under Linux
    Neon,
    /// The interpreter alone
    Interpreter,
}

impl Execution {
    const fn engine(self) -> Engine {
        match self {
            Execution::Auto => Engine::Auto,
            Execution::Native => Engine::Native,
            Execution::Avx2 => Engine::Avx2,
            Execution::Neon => Engine::Neon,
            Execution::Interpreter => Engine::Interpreter,
        }
    }
}

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// The kernel's module: .ptx, .spv, .spvasm, .cubin, a .sass listing, or CUDA C++, .cu; `-` reads stdin, whose language is
    /// known by what it holds
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    /// Where a buffer goes afterwards, in the shape and type it came in with; of a .sass listing, a register
    #[arg(long, value_name = "P=FILE", value_parser = Argument::parser())]
    pub(crate) out: Vec<Argument>,
    /// What is done with mul and add that have no rounding modifier: none is fused, all that the assembler would fuse,
    /// both to see where the bits differ, or what the machine code in a cubin of the module has
    #[arg(long, value_name = "none|fuse|report|FILE.cubin", default_value = "none", value_parser = Contraction::parser())]
    contract: Contraction,
    /// Print each instruction of one thread, counted through the grid from 0
    #[arg(long, value_name = "LANE")]
    trace: Option<u64>,
    /// Report data races on shared memory inside a block
    #[arg(long)]
    check_races: bool,
    /// Machine code of Maxwell and Pascal: report registers that are read or overwritten before a result of variable
    /// latency was waited for, and do not run
    #[arg(long)]
    check_hazards: bool,
    /// Count NaN, infinite, subnormal and inexact results by instruction, the first to occur first
    #[arg(long)]
    exceptions: bool,
    /// Carry a wider number beside every float: how far rounding has moved each result, by instruction too
    #[arg(long, value_enum, value_name = "BREADTH")]
    shadow: Option<ShadowBreadth>,
    /// With --shadow: what a buffer should hold; whether rounding explains the difference
    #[arg(long, value_name = "P=FILE.npy", requires = "shadow", value_parser = Argument::parser())]
    expect: Vec<Argument>,
    /// Who executes: the results do not depend on it
    #[arg(long, value_enum, default_value = "auto")]
    engine: Execution,
    /// Run every kernel, or the one that is named, on arguments made by type: zeros, 1 MiB for each buffer; a line each:
    /// ran, refused, failed
    #[arg(long, conflicts_with_all = ["arg", "out", "trace", "check_races", "contract", "reg", "cbank", "exceptions", "shadow", "check_hazards", "push", "texture", "sampler"])]
    smoke: bool,
    #[command(flatten)]
    format: FormatArgument,
}

impl Arguments {
    pub(crate) fn json(&self) -> bool {
        self.format.format == Format::Json
    }
    /// Whether more was asked for than the results.
    pub(crate) fn asks_for_more(&self) -> bool {
        let observed = self.exceptions || self.shadow.is_some();
        !self.json() && (observed || self.trace.is_some() || self.launch.counts_lines())
    }
    /// Whether single instructions are looked at.
    fn observes(&self) -> bool {
        self.trace.is_some() || self.launch.counts_lines() || self.exceptions || self.shadow.is_some()
    }
    pub(crate) fn options(&self) -> Options {
        Options {
            contract: match self.contract {
                Contraction::None | Contraction::Compiled(_) => Contract::None,
                Contraction::Fuse => Contract::Fuse,
                Contraction::Report => Contract::Report,
            },
            check_races: self.check_races,
            trace_lane: self.trace,
            count_lines: self.launch.counts_lines(),
            count_exceptions: self.exceptions,
            shadow: self.shadow.map(ShadowBreadth::breadth),
            engine: self.engine.engine(),
            ..self.launch.options()
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let kind = Kind::of_module(&arguments.file)?;
    arguments.given.check(options::RUN, kind.as_slice(), arguments.file.display())?;
    if !arguments.engine.engine().is_available() {
        let name = arguments.engine.to_possible_value();
        let name = name.as_ref().map_or("", PossibleValue::get_name);
        output::note(&format!(
            "--engine {name}: this processor lacks its instructions: the interpreter runs the kernel"
        ));
    }
    if arguments.smoke {
        return smoke::run(&arguments.file, &arguments.launch, &arguments.options(), arguments.json());
    }
    if kind == Some(Kind::Listing) {
        return run_sass::run(arguments);
    }
    let mut prepared = Prepared::read(&arguments.file, arguments.launch.asked()?, &arguments.launch)?;
    if arguments.check_hazards && has_hazards(&arguments.file, &prepared)? {
        return Ok(Status::Found);
    }
    if prepared.language == Language::Cubin && !arguments.observes() {
        sass::simplify(&mut prepared.program);
    }
    let fused = match &arguments.contract {
        Contraction::Compiled(cubin) => prepared.follow(cubin)?,
        _ => Vec::new(),
    };
    let outputs = outputs(&prepared, arguments)?;
    let expected = expected(&prepared, arguments)?;
    let launch = prepared.launch_once(arguments.options());
    let Some(mut report) = launched(launch, arguments)? else { return Ok(Status::Found) };
    report.fused.extend(fused);
    for (place, path) in &outputs {
        if let (Some(array), Some(buffer)) = (&prepared.arrays[*place], &report.buffers[*place]) {
            array.write(path.path(), buffer)?;
        }
    }
    tell(&report, prepared.kernel(), &prepared.undetermined, &expected, arguments)?;
    Ok(if report.differences.is_empty() { Status::Done } else { Status::Found })
}

/// Whether the scheduling of the kernel that is run has hazards: told on stderr.
fn has_hazards(file: &Path, prepared: &Prepared) -> Result<bool, Failure> {
    let name = Some(prepared.kernel().name.as_str());
    let found = match prepared.language {
        Language::Cubin if prepared.text.is_empty() => sass::cubin_hazards(&files::read(file)?, name, LARGEST),
        Language::Cubin => sass::listing_hazards(&prepared.text, name, LARGEST),
        _ => return Err(Failure::Input(format!("{}: --check-hazards is about machine code", file.display()))),
    };
    let found = found.unwrap_or_else(|found| found);
    let is_error = found.iter().any(|finding| finding.severity == Severity::Error);
    for finding in &found {
        let help = if finding.help.is_empty() { String::new() } else { format!(" ({})", finding.help) };
        let message = format!("{}: {}{help}", file.display(), finding.message);
        if is_error { output::error(&message) } else { output::note(&message) }
    }
    Ok(is_error)
}

/// Runs a kernel. A fault of the kernel itself is printed, and there is no report.
pub(crate) fn launched(launch: Launch, arguments: &Arguments) -> Result<Option<Report>, Failure> {
    launch.run().map(Some).or_else(|error| failed(&arguments.file, &error).map(|()| None))
}

/// Why a kernel's run failed: told here where the kernel itself is at fault.
pub(crate) fn failed(file: &Path, error: &RunError) -> Result<(), Failure> {
    let message = format!("{}: {error}", file.display());
    match error.kind {
        FaultKind::Usage | FaultKind::Invalid => Err(Failure::Input(message)),
        FaultKind::Unsupported => Err(Failure::Unsupported(message)),
        _ => {
            output::error(&message);
            Ok(())
        }
    }
}

/// Where each wanted buffer goes.
fn outputs(prepared: &Prepared, arguments: &Arguments) -> Result<Vec<(usize, Argument)>, Failure> {
    let output = |argument| {
        let (name, path) = split_pair("--out", argument)?;
        files::check_extension("--out", path.path(), "npy")?;
        Ok((prepared.buffer("--out", name)?, path))
    };
    let outputs = arguments.out.iter().map(output).collect::<Result<Vec<_>, Failure>>()?;
    files::check_outputs("--out", outputs.iter().map(|(_, path)| path.path()))?;
    Ok(outputs)
}

/// What each buffer of `--expect` should hold.
fn expected(prepared: &Prepared, arguments: &Arguments) -> Result<Vec<(usize, Vec<u8>)>, Failure> {
    let one = |argument| {
        let (name, path) = split_pair("--expect", argument)?;
        let place = prepared.buffer("--expect", name)?;
        let array = Array::of_file(path.path())?;
        let (found, bytes) = (array.bytes.len(), prepared.buffer_bytes(place));
        if found != bytes {
            let file = path.path().display();
            return Err(Failure::Input(format!("--expect: {file} has {found} bytes, `{name}` has {bytes}")));
        }
        Ok((place, array.bytes))
    };
    arguments.expect.iter().map(one).collect()
}

pub(crate) fn tell(
    report: &Report,
    kernel: &Kernel,
    undetermined: &[String],
    expected: &[(usize, Vec<u8>)],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let told = RunAnswer::of(report, kernel, undetermined, arguments.exceptions, expected);
    if arguments.json() {
        return output::json(&told);
    }
    let mut out = terminal::styled();
    write!(out, "{}", told.printed)?;
    for step in &told.trace {
        let instruction = step.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = if kernel.addresses { kernel.place_name(step.line) } else { format!("{:>5}", step.line) };
        let mut line = format!("{place}  {instruction:<48} {}", step.operands.join(" "));
        if !step.results.is_empty() {
            line += &format!(" -> {}", step.results.join(" "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for (line, count) in told.lines {
        writeln!(out, "{}: {count}", kernel.place_name(*line))?;
    }
    for difference in &told.differences {
        writeln!(
            out,
            "contraction changes `{}`: {} words, the first at {}: {} unfused, {} fused",
            difference.parameter, difference.words, difference.first, difference.unfused, difference.fused
        )?;
    }
    run_observed::write(&mut out, told.exceptions.as_deref(), told.shadow.as_ref())?;
    told.notes().iter().for_each(|note| output::note(note));
    if terminal::is_verbose() {
        let [steps, native] = [report.steps, report.native_steps].map(grouped);
        output::note(&format!("{steps} instructions counted by thread, {native} of them as native code"));
    }
    Ok(())
}
