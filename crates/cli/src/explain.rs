//! `explain`: the pipeline step by step.

use clap::Args;
use roundonce::answers::{Noted, explain};

use crate::output::{self, Format, FormatArgument, MachineArguments, ProfileArgument};
use crate::{Ended, Status};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The instruction, as its language spells it
    instruction: String,
    /// Hex bits, 0f3F800000, a decimal, 0x1.8p0, inf, nan
    #[arg(value_parser = output::signed)]
    operands: Vec<String>,
    #[command(flatten)]
    target: MachineArguments,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let Arguments { instruction, operands, target, profile, format } = arguments;
    let Noted { answer, notes } = explain(instruction, operands, &target.target(), &profile.profile())?;
    notes.iter().for_each(|note| output::note(note));
    match format.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::lines(&answer.lines())?,
    }
    Ok(Status::Done)
}
