//! `diff`: are two expressions, instructions, kernels or files of results bit-equal; else the first input that shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use roundonce::answers::{Compared, Noted, between, equal, literal_type};
use roundonce::why::diff::files::compare_arrays;
use roundonce::why::diff::{Budget, Query};
use roundonce::{SmTarget, Target, matrix};

use crate::argument::Argument;
use crate::launch::LaunchArguments;
use crate::modules::{KERNELS, Language};
use crate::output::{self, Format, FormatArgument, TargetArguments};
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::why::split_input;
use crate::{Ended, Failure, Status, diff_kernels, why_arrays};

#[derive(Args)]
pub(crate) struct Arguments {
    /// An expression (fma(a,b,c)), an instruction (fma.rz.f32, FFMA.FTZ; its operands are a, b, c), a .npy file, or a
    /// kernel (.ptx, .spv, .spvasm, .sass, .cubin, .cu) with its arguments as for `run`
    #[arg(allow_hyphen_values = true, value_parser = Argument::parser())]
    first: Argument,
    /// What it is compared with
    #[arg(allow_hyphen_values = true, value_parser = Argument::parser(), required_unless_present = "baseline")]
    second: Option<Argument>,
    /// Of a kernel: compare its run with what FILE says of an earlier one (digests of the buffers and of each
    /// instruction's results)
    #[arg(long, value_name = "FILE.json", conflicts_with = "second")]
    baseline: Option<PathBuf>,
    /// Write the baseline
    #[arg(long, requires = "baseline")]
    record: bool,
    /// The type of an expression's names, where no instruction gives it
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    ty: String,
    /// Values to estimate on how often the two differ: a=x.npy
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = Argument::parser())]
    data: Vec<Argument>,
    /// Random inputs to try where nothing can be proved
    #[arg(long, value_name = "COUNT", default_value_t = Budget::default().random)]
    tries: u64,
    /// Take two NaNs of different bits for a difference; of files of results they always are one
    #[arg(long)]
    nan_bits: bool,
    /// Of two files of results, or of what two kernels leave: a picture of the distances, their distribution and where
    /// in the range they are
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    format: FormatArgument,
    #[command(flatten)]
    launch: LaunchArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let first = &arguments.first;
    if let Some(baseline) = &arguments.baseline {
        if Language::of(first.path()).is_none() {
            return Err(Failure::Input(format!("`{first}` is no kernel: expected a {KERNELS} file for --baseline")));
        }
        let Arguments { launch, record, format, .. } = arguments;
        return diff_kernels::against_baseline(first.path(), launch, baseline, *record, format.format);
    }
    if let Some(second) = &arguments.second
        && let Some(machines) = machines(arguments, first, second)?
    {
        return matrices(arguments, machines);
    }
    let Some(second) = &arguments.second else { return Err(Failure::Input("two sides are compared".to_owned())) };
    let kernels = [first, second].map(Argument::path);
    match kernels.map(|file| Language::of(file).is_some()) {
        [true, true] => {
            let plot = arguments.plot.as_deref();
            return diff_kernels::run(kernels, &arguments.launch, plot, arguments.format.format);
        }
        [false, false] if arguments.launch.has_arguments() => {
            let message = format!("`{first}` is no kernel: expected a {KERNELS} file");
            return Err(Failure::Input(message));
        }
        [false, false] => {}
        _ => return Err(Failure::Input(format!("`{first}` and `{second}`: a kernel is compared with another one"))),
    }
    first.no_other_array()?;
    second.no_other_array()?;
    match (first.is_array(), second.is_array()) {
        (true, true) => files(arguments, [first, second]),
        (false, false) if arguments.plot.is_some() => {
            let message = "--plot draws how results differ: expected two .npy files, or two kernels";
            Err(Failure::Input(message.to_owned()))
        }
        (false, false) => computations(arguments, [first, second]),
        _ => Err(Failure::Input(format!("`{first}` and `{second}`: a file of results is compared with another one"))),
    }
}

/// One instruction and two machines.
type Machines = (String, [Target; 2]);

/// `diff --arch sm_80 sm_90 mma…`, or one spelling with each of two machines behind an `@`.
fn machines(arguments: &Arguments, first: &Argument, second: &Argument) -> Result<Option<Machines>, Failure> {
    let (Ok(one), Ok(other)) = (first.text(), second.text()) else { return Ok(None) };
    let on = |sm: Option<SmTarget>| Target { sm, ..arguments.target.target() };
    if matrix::is_matrix(other)
        && let (Ok(second), Some(first)) = (roundonce::parse_sm(one), arguments.launch.machine()?)
    {
        return Ok(Some((other.to_owned(), [on(Some(first)), on(Some(second))])));
    }
    if !matrix::is_matrix(one) || !matrix::is_matrix(other) {
        return Ok(None);
    }
    let split = |text: &str| match text.split_once('@') {
        Some((name, sm)) => roundonce::parse_sm(sm).map(|sm| (name.to_owned(), on(Some(sm)))),
        None => Ok((text.to_owned(), on(arguments.target.target().sm))),
    };
    let sides = [split(one), split(other)].map(|side| side.map_err(Failure::Input));
    let [one, other] = sides;
    let ((name, first), (second_name, second)) = (one?, other?);
    if name != second_name {
        let message = "two matrix multiply-adds are compared on two machines: one spelling, MMA@sm_80 MMA@sm_90";
        return Err(Failure::Unsupported(message.to_owned()));
    }
    Ok(Some((name, [first, second])))
}

fn matrices(arguments: &Arguments, (spelling, targets): Machines) -> Ended {
    let profile = arguments.launch.profile()?;
    let [one, other] = targets.map(|target| matrix::instruction(&spelling, &target, &profile));
    let comparison = one?.compare(&other?, &spelling, &profile, arguments.tries.min(MOST_DOTS));
    match arguments.format.format {
        Format::Json => output::json(&comparison)?,
        Format::Text => output::lines(&comparison.lines())?,
    }
    Ok(if comparison.differs() { Status::Found } else { Status::Done })
}

/// Dot products of each kind of data that are compared.
const MOST_DOTS: u64 = 100_000;

fn files(arguments: &Arguments, sides: [&Argument; 2]) -> Ended {
    arguments.plot.as_deref().map_or(Ok(()), plot::check)?;
    let [first, second] = sides.map(|file| why_arrays::read(file.path()));
    let differences = compare_arrays(&first?, &second?).map_err(Failure::Input)?;
    if let Some(path) = &arguments.plot {
        let title = format!("{} and {}", sides[0], sides[1]);
        plot::write(path, &[Comparison { title, differences: differences.clone() }])?;
    }
    match arguments.format.format {
        Format::Json => output::json(&differences)?,
        Format::Text => output::lines(&differences.lines())?,
    }
    Ok(if differences.equal() { Status::Done } else { Status::Found })
}

fn computations(arguments: &Arguments, [first, second]: [&Argument; 2]) -> Ended {
    let ty = literal_type(&arguments.ty).map_err(|problem| Failure::Input(format!("--type: {problem}")))?;
    let texts = [first.text()?, second.text()?];
    let mut data = BTreeMap::new();
    for input in &arguments.data {
        let (name, path) = split_input(input)?;
        data.insert(name.to_owned(), why_arrays::read(path.path())?.column);
    }
    let data = (!data.is_empty()).then_some(&data);
    let profile = arguments.launch.profile()?;
    let budget = Budget { random: arguments.tries, nan_bits: arguments.nan_bits, ..Budget::default() };
    let progress = Progress::open("inputs compared");
    let advance = |tried| progress.advance(tried);
    let asked = Compared { texts, ty, target: arguments.target.target(), profile: &profile, budget, data };
    let comparison = between(&asked, &solve, &advance);
    drop(progress);
    let Noted { answer: comparison, notes } = comparison?;
    notes.iter().for_each(|note| output::note(note));
    match arguments.format.format {
        Format::Json => output::json(&comparison)?,
        Format::Text => output::lines(&comparison.lines())?,
    }
    Ok(if equal(&comparison)? { Status::Done } else { Status::Found })
}

/// The solvers that are asked, with what makes them give up.
static SOLVERS: [(&str, &[&str]); 3] =
    [("bitwuzla", &["--time-limit", "60000"]), ("cvc5", &["--tlimit=60000"]), ("z3", &["-T:60"])];

/// The name of a solver that proves the query unsatisfiable.
fn solve(query: &Query) -> Option<String> {
    let file = tempfile::Builder::new().suffix(".smt2").tempfile().ok()?;
    std::fs::write(file.path(), &query.script).ok()?;
    SOLVERS.iter().find_map(|(name, limits)| {
        let asked = Command::new(name).args(*limits).arg(file.path()).stdin(Stdio::null()).output().ok()?;
        let answer = String::from_utf8_lossy(&asked.stdout);
        (answer.lines().next() == Some("unsat")).then(|| (*name).to_owned())
    })
}
