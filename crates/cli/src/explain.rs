//! `explain`: the pipeline step by step, or the rule behind a code.

use std::path::PathBuf;

use clap::Args;
use roundonce::answers::{Noted, explain};
use roundonce::rules;

use crate::output::{self, Format, FormatArgument, MachineArguments, ProfileArgument};
use crate::{Ended, Failure, Status, files, plot};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The instruction, as its language spells it; or a code that a finding has, such as PTX0022
    instruction: String,
    /// Hex bits, 0f3F800000, a decimal, 0x1.8p0, inf, nan
    #[arg(value_parser = output::signed)]
    operands: Vec<String>,
    /// Of floats: a picture of the product and the addend, aligned bit by bit, and of the cut; the first component's
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    target: MachineArguments,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let Arguments { instruction, operands, plot, target, profile, format } = arguments;
    if let Some(rule) = rules::explain(instruction).filter(|_| operands.is_empty() && plot.is_none()) {
        match format.format {
            Format::Json => output::json(&rule)?,
            Format::Text => output::lines(&rule.lines())?,
        }
        return Ok(Status::Done);
    }
    if rules::explain(instruction).is_some() {
        return Err(Failure::Input(format!("`{instruction}` is a code: it takes neither operands nor --plot")));
    }
    if rules::is_code(instruction) {
        return Err(Failure::Input(format!("there is no code `{instruction}`: docs/reference lists all")));
    }
    plot.as_deref().map_or(Ok(()), plot::check)?;
    let Noted { answer, notes } = explain(instruction, operands, &target.target(), &profile.profile())?;
    notes.iter().for_each(|note| output::note(note));
    if let Some(path) = plot {
        let Some(picture) = answer.picture_file() else {
            return Err(Failure::Input("--plot draws the terms of a finite sum: there is none".to_owned()));
        };
        files::write(path, picture.as_bytes())?;
    }
    match format.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::lines(&answer.lines())?,
    }
    Ok(Status::Done)
}
