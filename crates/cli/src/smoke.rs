//! `run --smoke`: every kernel of a module on arguments made by type.

use std::io::Write;
use std::path::Path;

use roundonce::exec::{FaultKind, Options};
use serde::Serialize;

use crate::launch::LaunchArguments;
use crate::modules;
use crate::{Ended, Failure, Status, output, terminal};

/// How a kernel ended.
#[derive(Serialize)]
struct Outcome<'a> {
    file: &'a str,
    kernel: &'a str,
    outcome: &'static str,
    message: &'a str,
    steps: u64,
}

/// A line a kernel, then how many ended how. Exit 1 where one failed, otherwise 3 where one was refused.
pub(crate) fn run(file: &Path, arguments: &LaunchArguments, options: &Options, json: bool) -> Ended {
    let path = file.display().to_string();
    let (mut ran, mut refused, mut failed) = (0, 0, 0);
    for (kernel, ready) in modules::each(file, arguments)? {
        let (outcome, message, steps) = match ready {
            Err(Failure::Unsupported(message)) => ("refused", message, 0),
            Err(Failure::Input(message)) => ("failed", message, 0),
            Err(failure) => return Err(failure),
            Ok(mut ready) => {
                ready.split_structures();
                match arguments.smoke(&ready, options.clone())?.run() {
                    Ok(report) => ("ran", String::new(), report.steps),
                    Err(error) if error.kind == FaultKind::Unsupported => ("refused", format!("{path}: {error}"), 0),
                    Err(error) => ("failed", format!("{path}: {error}"), 0),
                }
            }
        };
        *match outcome {
            "ran" => &mut ran,
            "refused" => &mut refused,
            _ => &mut failed,
        } += 1;
        if json {
            output::json(&Outcome { file: &path, kernel: &kernel, outcome, message: &message, steps })?;
        } else {
            let first = message.lines().next().unwrap_or_default();
            let because = if first.is_empty() { "" } else { ": " };
            writeln!(terminal::stdout(), "{kernel}: {outcome}{because}{first}")?;
        }
    }
    let all = ran + refused + failed;
    let kernels = if all == 1 { "kernel" } else { "kernels" };
    output::note(&format!("{all} {kernels}: {ran} ran, {refused} refused, {failed} failed"));
    match (failed, refused) {
        (0, 0) => Ok(Status::Done),
        (0, _) => Err(Failure::Unsupported(format!("{path}: not every kernel can be run"))),
        _ => Ok(Status::Found),
    }
}
