//! `diff`: are two expressions, instructions, kernels or files of results bit-equal; else the first input that shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use roundonce::answers::{Compared, Noted, between, equal, literal_type};
use roundonce::matrix;
use roundonce::why::diff::files::compare_arrays;
use roundonce::why::diff::{Budget, Query};

use crate::argument::Argument;
use crate::launch::LaunchArguments;
use crate::modules::KERNELS;
use crate::options::{self, Given, Kind};
use crate::output::{self, Format, FormatArgument, TargetArguments};
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::why::split_input;
use crate::{Ended, Failure, Status, diff_kernels, why_arrays};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    given: Given,
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
    #[arg(long, requires = "baseline", conflicts_with = "second")]
    record: bool,
    /// The type of an expression's names, where no instruction gives it
    #[arg(id = "type", long = "type", value_name = "TYPE", default_value = "f32")]
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
    #[arg(long, value_name = "FILE.svg", conflicts_with = "baseline")]
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
        let Some(kind) = Kind::of_module(first.path())? else {
            return Err(Failure::Input(format!("`{first}` is no kernel: expected a {KERNELS} file for --baseline")));
        };
        let Arguments { given, launch, record, format, .. } = arguments;
        given.check(options::DIFF, &[kind], first)?;
        return diff_kernels::against_baseline(first.path(), launch, baseline, *record, format.format);
    }
    let Some(second) = &arguments.second else { return Err(Failure::Input("two sides are compared".to_owned())) };
    let [first, second] = &on_machines(arguments, [first, second])?;
    let kinds = [Kind::of(first)?, Kind::of(second)?];
    let is_kernel = |kind| matches!(kind, Kind::Ptx | Kind::Cuda | Kind::Spirv | Kind::MachineCode | Kind::Listing);
    if is_kernel(kinds[0]) != is_kernel(kinds[1]) {
        return Err(Failure::Input(format!("`{first}` and `{second}`: a kernel is compared with another one")));
    }
    first.no_other_array()?;
    second.no_other_array()?;
    arguments.given.check(options::DIFF, &kinds, first)?;
    match kinds {
        [one, _] if is_kernel(one) => {
            let (plot, format) = (arguments.plot.as_deref(), arguments.format.format);
            diff_kernels::run([first.path(), second.path()], &arguments.launch, plot, format)
        }
        [Kind::Matrix, Kind::Matrix] => matrices(arguments, [first.text()?, second.text()?]),
        [Kind::Results, Kind::Results] => files(arguments, [first, second]),
        [Kind::Results, _] | [_, Kind::Results] => {
            let message = format!("`{first}` and `{second}`: a file of results is compared with another one");
            Err(Failure::Input(message))
        }
        _ => computations(arguments, [first, second]),
    }
}

/// The two sides, instructions with the machine of --arch behind an `@`. Of `--arch sm_80 sm_90 X` both sides are X.
fn on_machines(arguments: &Arguments, [first, second]: [&Argument; 2]) -> Result<[Argument; 2], Failure> {
    let machines = arguments.launch.machines();
    let second_machine = first.text().ok().and_then(|text| roundonce::parse_sm(text).ok());
    let (sides, machines) = match (machines, second_machine) {
        ([machine], Some(other)) => ([second, second], [*machine, other]),
        ([machine], _) => ([first, second], [*machine; 2]),
        ([machine, other], _) => ([first, second], [*machine, *other]),
        ([], _) => return Ok([first.clone(), second.clone()]),
        _ => return Err(Failure::Input("--arch is given more than twice".to_owned())),
    };
    let kinds = [Kind::of(sides[0])?, Kind::of(sides[1])?];
    let has_machine = |kind: &Kind| matches!(kind, Kind::Instruction | Kind::Matrix);
    let is_module = |kind: &Kind| matches!(kind, Kind::Ptx | Kind::Cuda);
    if machines[0] != machines[1]
        && let Some(at) =
            kinds.iter().position(|kind| !has_machine(kind) && (second_machine.is_some() || !is_module(kind)))
    {
        let message = format!("two machines are for an instruction, and `{}` is {}", sides[at], kinds[at].name());
        return Err(Failure::Input(message));
    }
    let side = |at: usize| match sides[at].text() {
        Ok(text) if has_machine(&kinds[at]) && text.contains('@') => {
            Err(Failure::Input(format!("`{text}` names its machine, and --arch names {}", machines[at])))
        }
        Ok(text) if has_machine(&kinds[at]) => Ok(Argument::from(format!("{text}@{}", machines[at]).as_str())),
        _ => Ok(sides[at].clone()),
    };
    Ok([side(0)?, side(1)?])
}

/// One matrix multiply-add on two machines.
fn matrices(arguments: &Arguments, texts: [&str; 2]) -> Ended {
    let [spelling, other] = texts.map(|text| text.split_once('@').map_or(text, |(name, _)| name));
    if spelling != other {
        let message = "two matrix multiply-adds are compared on two machines: one spelling, MMA@sm_80 MMA@sm_90";
        return Err(Failure::Unsupported(message.to_owned()));
    }
    let profile = arguments.launch.profile()?;
    let [one, other] = texts.map(|text| matrix::instruction(text, &arguments.target.target(), &profile));
    let comparison = one?.compare(&other?, spelling, &profile, arguments.tries.min(MOST_DOTS));
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
    let threads = arguments.launch.threads();
    let budget = Budget { random: arguments.tries, nan_bits: arguments.nan_bits, threads, ..Budget::default() };
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
