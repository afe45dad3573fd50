//! `diff` on two kernels: the same program, or what they make of the same data.

use std::path::Path;

use roundonce::arith::Format as Lane;
use roundonce::why_kernel::{BufferDifferences, Equality, KernelPair, SharedBuffer, compare_kernels};

use crate::launch::{Language, LaunchArguments, Prepared};
use crate::output::{self, Format};
use crate::plot::{self, Comparison};
use crate::progress::Progress;
use crate::run::failed;
use crate::why_kernel::element;
use crate::{Ended, Failure, Status};

pub(crate) fn run(files: [&Path; 2], arguments: &LaunchArguments, plot: Option<&Path>, format: Format) -> Ended {
    plot.map_or(Ok(()), plot::check)?;
    let listings = files.map(|file| Language::of(file) == Some(Language::Sass));
    if listings[0] != listings[1] {
        let message = "a listing's registers are no kernel's parameters: a .sass file is compared with another one";
        return Err(Failure::Input(message.to_owned()));
    }
    let [first, second] = arguments.entries()?;
    let kernels = [Prepared::read(files[0], first, arguments)?, Prepared::read(files[1], second, arguments)?];
    let pair = KernelPair {
        launches: kernels.each_ref().map(|kernel| kernel.launch(arguments.options())),
        kernels: kernels.each_ref().map(Prepared::kernel),
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
