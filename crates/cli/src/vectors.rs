//! `vectors gen`, `vectors verify`: test vectors made, captured results verified.

use std::io::{BufWriter, IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Args, Subcommand};
use roundonce::isa::counted;
use roundonce::spirv::Environment;
use roundonce_vectors::{
    Format as FileFormat, Generated, InstructionUnderTest, Observer, Options, run_testfloat, verify_file, verify_stream,
};

use crate::output::{self, Format, FormatArgument, ProfileArgument, TargetArguments};
use crate::progress::Progress;
use crate::{Ended, Failure, Status, examples, files};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Vectors directed at every boundary of the pipeline, then random ones, with results and flags
    #[command(after_help = examples::VECTORS_GEN)]
    Gen(Gen),
    /// Captured results against the right ones; failures grouped by cause
    #[command(after_help = examples::VECTORS_VERIFY)]
    Verify(Verify),
    /// Results and flags behind the operands on stdin, in TestFloat's text: `testfloat_gen f32 3 | roundonce vectors run
    /// f32_mulAdd | testfloat_ver -tininessafter f32_mulAdd`
    #[command(after_help = examples::VECTORS_RUN)]
    Run(Run),
}

#[derive(Args)]
struct Gen {
    /// The instructions, as their languages spell them, or functions of TestFloat (f16_mulAdd_rm)
    #[arg(required = true)]
    instructions: Vec<String>,
    /// Vectors for each instruction
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Another seed gives other vectors, the same seed the same ones
    #[arg(long, value_name = "SEED", default_value = "0")]
    seed: u64,
    /// testfloat, jsonl, csv, npz, parquet, c or readmemh (default: what the file's extension says, jsonl where it has none)
    #[arg(long = "as", value_name = "FORMAT", value_parser = FileFormat::of_name)]
    file_format: Option<FileFormat>,
    /// The file to write (default: stdout)
    #[arg(short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    profile: ProfileArgument,
}

#[derive(Args)]
struct Run {
    /// The instruction, as its language spells it, or a function of TestFloat (f16_mulAdd_rm)
    instruction: String,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    profile: ProfileArgument,
}

#[derive(Args)]
struct Verify {
    /// TestFloat's text or its error lines, JSON Lines or a JSON array, CSV, Parquet or .npz, with columns `instruction, a, b, c, d` and,
    /// if captured, `flags`; text may be gzipped; `-` reads stdin
    file: PathBuf,
    /// The instruction of rows that name none (default: what the file's name says)
    #[arg(long, value_name = "INSTRUCTION")]
    instruction: Option<String>,
    /// SPIR-V: the environment of instructions that name none, such as vulkan1.3 or opencl2.2
    #[arg(long, value_name = "ENVIRONMENT")]
    target_env: Option<Environment>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    match &arguments.verb {
        Verb::Gen(arguments) => generate(arguments),
        Verb::Verify(arguments) => verify(arguments),
        Verb::Run(arguments) => run_lines(arguments),
    }
}

fn generate(arguments: &Gen) -> Ended {
    let Gen { instructions, count, seed, file_format, out, target, profile } = arguments;
    let vectors = Generated::new(instructions, *count, *seed, &target.target())?.with_profile(profile.profile());
    let by_name = || out.as_deref().map_or(Ok(FileFormat::JsonLines), FileFormat::of_path);
    let format = file_format.map_or_else(by_name, Ok);
    let format = format.map_err(|problem| Failure::Input(format!("{problem} (--as FORMAT)")))?;
    // A bar between lines of text on the same terminal would tear both.
    let to_stdout = out.as_deref().is_none_or(|path| path == Path::new("-"));
    let vectors = if to_stdout && stdout().is_terminal() { vectors } else { watched(vectors) };
    let Some(path) = out else {
        format.write_text(&vectors, &mut stdout().lock())?;
        return Ok(Status::Done);
    };
    files::write_with(path, |out| format.write(&vectors, out))?;
    Ok(Status::Done)
}

/// The same with a bar that says how many are made.
fn watched(vectors: Generated) -> Generated {
    let progress: OnceLock<Progress> = OnceLock::new();
    vectors.with_watch(move |more, of| progress.get_or_init(|| Progress::new(of)).advance(more))
}

/// Rows that cannot be read and are shown; of the others the number is said.
const SHOWN: u64 = 10;

/// Shows bad rows.
#[derive(Default)]
struct BadRows(u64);

impl BadRows {
    fn show(&mut self, row: u64, problem: &str) {
        self.0 += 1;
        if self.0 <= SHOWN {
            output::error(&format!("row {row}: {problem}"));
        }
    }
}

impl Drop for BadRows {
    fn drop(&mut self) {
        if self.0 > SHOWN {
            output::error(&format!("{} could not be read either", counted(self.0 - SHOWN, "row")));
        }
    }
}

/// Tells of bad rows, and how far the run has come.
#[derive(Default)]
struct Watch {
    bad: BadRows,
    progress: Option<Progress>,
    done: u64,
}

impl Observer for Watch {
    fn bad_row(&mut self, row: u64, problem: &str) {
        self.bad.show(row, problem);
    }
    fn note(&mut self, note: &str) {
        output::note(note);
    }
    fn progress(&mut self, done: u64, of: Option<u64>) {
        let Some(of) = of else { return };
        self.progress.get_or_insert_with(|| Progress::new(of)).advance(done - self.done);
        self.done = done;
    }
}

fn run_lines(arguments: &Run) -> Ended {
    let tested = InstructionUnderTest::of(&arguments.instruction, &arguments.target.target())?;
    let tested = InstructionUnderTest { profile: arguments.profile.profile(), ..tested };
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    let mut bad = BadRows::default();
    run_testfloat(&tested, stdin().lock(), &mut out, |row, problem| bad.show(row, problem))?;
    Ok(if bad.0 == 0 { Status::Done } else { Status::Unreadable })
}

fn verify(arguments: &Verify) -> Ended {
    let Verify { file, instruction, target_env, target, profile, format } = arguments;
    let target = target.target();
    let instruction = instruction.as_ref().map(|spelling| InstructionUnderTest::of(spelling, &target)).transpose()?;
    let options = Options { instruction, target, environment: *target_env, profile: profile.profile() };
    let mut watch = Watch::default();
    let report = if file == Path::new("-") {
        verify_stream(stdin().lock(), &options, &mut watch)
    } else {
        verify_file(file, &options, &mut watch)
    };
    let report = report.map_err(|error| files::failed(file, error))?;
    drop(watch);
    if report.vectors == 0 && report.bad == 0 {
        return Err(Failure::Input(format!("{}: no vector is in it: nothing was verified", file.display())));
    }
    match format.format {
        Format::Json => output::json(&report)?,
        Format::Text => files::print_lines(&report.lines())?,
    }
    Ok(match (report.bad, report.failed) {
        (0, 0) => Status::Done,
        (0, _) => Status::Found,
        _ => Status::Unreadable,
    })
}
