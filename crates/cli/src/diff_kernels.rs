//! `diff` on two kernels: the same program, or what they make of the same data.

use std::path::Path;

use roundonce::arith::Format as Lane;
use roundonce::exec::Options;
use roundonce::isa::counted;
use roundonce::why_kernel::{
    self, Baseline, BufferDifferences, Equality, KernelComparison, KernelPair, SharedBuffer, Side, compare_kernels,
};

use crate::launch::{Asked, LaunchArguments, Prepared};
use crate::modules::{Language, presumed_machine, ready};
use crate::output::{self, Format};
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::run::failed;
use crate::why_kernel::element;
use crate::{Ended, Failure, Status, files};

pub(crate) fn run(files: [&Path; 2], arguments: &LaunchArguments, plot: Option<&Path>, format: Format) -> Ended {
    plot.map_or(Ok(()), plot::check)?;
    let listings =
        [Language::read(files[0])?, Language::read(files[1])?].map(|language| language == Some(Language::Sass));
    if listings[0] != listings[1] {
        let message = "a listing's registers are no kernel's parameters: a listing is compared with another listing";
        return Err(Failure::Input(message.to_owned()));
    }
    let [first, second] = arguments.asked_of_two()?;
    if !arguments.gives_arguments()
        && !listings[0]
        && let Some(comparison) = proved(files, [first, second], arguments)?
    {
        if plot.is_some() {
            output::note("nothing differs: no picture is drawn");
        }
        match format {
            Format::Json => output::json(&comparison)?,
            Format::Text => output::lines(&comparison.lines())?,
        }
        return Ok(Status::Done);
    }
    let kernels = [Prepared::read(files[0], first, arguments)?, Prepared::read(files[1], second, arguments)?];
    let pair = KernelPair {
        launches: kernels.each_ref().map(|kernel| kernel.launch(arguments.options())),
        kernels: kernels.each_ref().map(Prepared::kernel),
        undetermined: kernels.each_ref().map(|kernel| kernel.undetermined.as_slice()),
        presumed: kernels.each_ref().map(|kernel| kernel.presumed.as_deref()),
        buffers: shared(&kernels)?,
    };
    let progress = Progress::open("kernels run");
    let comparison = compare_kernels(&pair, &mut |runs| progress.advance(runs));
    drop(progress);
    let comparison = match comparison {
        Ok(comparison) => comparison,
        Err((which, error)) => return failed(files[which], &error).map(|()| Status::Found),
    };
    match plot {
        Some(_) if comparison.buffers.is_empty() => output::note("nothing differs: no picture is drawn"),
        Some(path) => {
            let row = |buffer: &BufferDifferences| Comparison {
                title: buffer.name.clone(),
                differences: buffer.differences.clone(),
            };
            plot::write(path, &comparison.buffers.iter().map(row).collect::<Vec<_>>())?;
        }
        None => {}
    }
    match format {
        Format::Json => output::json(&comparison)?,
        Format::Text => output::lines(&comparison.lines())?,
    }
    Ok(if comparison.equality == Equality::Different { Status::Found } else { Status::Done })
}

/// That two kernels are proved to be equal for all data, which needs none.
fn proved(
    files: [&Path; 2],
    [first, second]: [Asked<'_>; 2],
    arguments: &LaunchArguments,
) -> Result<Option<KernelComparison>, Failure> {
    let ready = [ready(files[0], first, arguments)?.0, ready(files[1], second, arguments)?.0];
    let choice = arguments.choice()?;
    let profiles = ready.each_ref().map(|ready| choice.apply(ready.profile));
    let machines = [first, second].map(|asked| asked.machine);
    let presumed = [0, 1].map(|at| presumed_machine(&ready[at], machines[at]));
    let sides = [0, 1].map(|at| Side {
        program: &ready[at].program,
        kernel: ready[at].kernel(),
        profile: &profiles[at],
        undetermined: &ready[at].undetermined,
        presumed: presumed[at].as_deref(),
    });
    Ok(why_kernel::proved(&sides))
}

/// A kernel's run against an earlier one.
pub(crate) fn against_baseline(
    file: &Path,
    arguments: &LaunchArguments,
    baseline: &Path,
    records: bool,
    format: Format,
) -> Ended {
    let earlier = if records { None } else { Some(read_baseline(baseline)?) };
    let prepared = Prepared::read(file, arguments.asked()?, arguments)?;
    let launch = prepared.launch(Options { digest_results: true, ..arguments.options() });
    let sizes = [launch.grid, launch.block];
    let report = match launch.run() {
        Ok(report) => report,
        Err(error) => return failed(file, &error).map(|()| Status::Found),
    };
    let buffers = prepared.buffers();
    if buffers.is_empty() {
        return Err(Failure::Input("the kernel has no buffer: there is nothing to compare".to_owned()));
    }
    let now = Baseline::of(&report, prepared.kernel(), sizes, &buffers);
    let Some(earlier) = earlier else {
        files::write(baseline, now.json().as_bytes())?;
        output::note(&format!("{}: recorded, {}", baseline.display(), counted(now.buffers.len() as u64, "buffer")));
        return Ok(Status::Done);
    };
    let named = |message: String| Failure::Input(format!("{} {message}", baseline.display()));
    let comparison = earlier.compare(&now).map_err(named)?;
    match format {
        Format::Json => output::json(&comparison)?,
        Format::Text => output::lines(&comparison.lines())?,
    }
    Ok(if comparison.equal { Status::Done } else { Status::Found })
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    if !path.exists() {
        let message = format!("{}: there is no baseline: --record writes one", path.display());
        return Err(Failure::Input(message));
    }
    Baseline::read(&files::text(path, files::read(path)?)?)
        .map_err(|message| Failure::Input(format!("{} {message}", path.display())))
}

/// The buffers of both: of listings the registers that both write, otherwise the parameters of one position.
fn shared([first, second]: &[Prepared; 2]) -> Result<Vec<SharedBuffer>, Failure> {
    let is_listing = first.language == Language::Sass;
    let others = second.buffers();
    let mut shared = Vec::new();
    for (name, arg) in first.buffers() {
        let same = |(other, place): &&(&str, usize)| if is_listing { *other == name } else { *place == arg };
        let Some((_, other)) = others.iter().find(same) else { continue };
        let (format, size, shape) = match &first.arrays[arg] {
            Some(array) => {
                let (format, size) = element(&array.header).map_err(Failure::Input)?;
                (format, size, array.header.shape.iter().map(|&length| length as usize).collect())
            }
            None => (Some(Lane::F32), 4, vec![first.buffer_bytes(arg) / 4]),
        };
        shared.push(SharedBuffer { name: name.to_owned(), args: [arg, *other], size, format, shape });
    }
    if shared.is_empty() {
        return Err(Failure::Input("the two have no buffer in common: there is nothing to compare".to_owned()));
    }
    Ok(shared)
}
