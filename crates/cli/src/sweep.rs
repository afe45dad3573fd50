//! `sweep`: every operand of a space on all cores, in a folder that a later run continues.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use roundonce::Target;
use roundonce::answers::{inexact_operand, undeclared};
use roundonce_vectors::InstructionUnderTest;
use roundonce_vectors::sweep::{Manifest, SHARD, Sweep, Swept};
use serde::Serialize;

use crate::output::{self, Format, FormatArgument};
use crate::progress::Progress;
use crate::{Ended, Failure, Status, files, signals, threads};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The instruction, of one component
    instruction: String,
    /// The values of each operand: `all`, a range of bits `0x0000..0x7fff` (the last included), or values with commas
    /// between
    #[arg(value_parser = output::signed, required = true)]
    spaces: Vec<String>,
    /// The folder of the sweep: begun, or continued where it was left
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// An instruction that must give the same bits everywhere (exit 1 if it does not)
    #[arg(long, value_name = "INSTRUCTION")]
    against: Option<String>,
    /// Results of a shard: what a killed run loses
    #[arg(long, value_name = "N", default_value_t = SHARD, value_parser = clap::value_parser!(u64).range(1..))]
    shard: u64,
    /// Threads (default: one a core)
    #[arg(long, value_name = "N", value_parser = threads::count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    format: FormatArgument,
}

#[derive(Serialize)]
struct Report<'a> {
    instruction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a str>,
    spaces: &'a [String],
    #[serde(flatten)]
    swept: Swept,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let Arguments { instruction, spaces, out, against, shard, threads, format } = arguments;
    signals::watch();
    for spelling in std::iter::once(instruction).chain(against) {
        let tested = InstructionUnderTest::of(spelling, &Target::default())?;
        undeclared(spelling, &tested.instruction).iter().for_each(|open| output::note(open));
    }
    let manifest = Manifest::new(instruction, against.as_deref(), spaces, *shard).map_err(Failure::Input)?;
    for (operand, text) in manifest.rounded() {
        output::note(&inexact_operand(operand, text));
    }
    let sweep = Sweep::create(out, &manifest).map_err(Failure::Input)?;
    let missing = sweep.missing(&mut |problem| output::note(&format!("{problem}: the shard is evaluated again")));
    let pool = threads::pool(*threads, missing.len() as u64)?;
    let progress = Progress::new(missing.len() as u64);
    let swept = pool.install(|| {
        missing.into_par_iter().try_for_each(|shard| {
            sweep.run(shard)?;
            progress.advance(1);
            Ok(())
        })
    });
    swept.map_err(Failure::Input)?;
    drop(progress);
    let swept = sweep.finish().map_err(Failure::Input)?;
    let differs = swept.mismatches.is_some_and(|mismatches| mismatches > 0);
    if format.format == Format::Json {
        output::json(&Report { instruction, against: against.as_deref(), spaces, swept })?;
    } else {
        files::print_lines(&lines(&manifest, &swept))?;
    }
    Ok(if differs { Status::Found } else { Status::Done })
}

fn lines(manifest: &Manifest, swept: &Swept) -> Vec<String> {
    let Swept { count, digest, mismatches, first } = swept;
    let mut lines = vec![format!("{}: {count} results, digest {digest}", manifest.instruction)];
    if let (Some(against), Some(mismatches)) = (&manifest.against, mismatches) {
        lines.push(match first {
            None => format!("{against} gives the same bits"),
            Some(first) => format!("{against} differs in {mismatches}, the first at {}", first.join(" ")),
        });
    }
    lines
}
