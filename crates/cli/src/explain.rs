//! `explain`: the pipeline step by step.

use clap::Args;
use roundonce::{conversion, instruction, integer, matrix, operands};

use crate::eval::{check_digits, note_inexact, note_inexact_elements};
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
    let spelling = &arguments.instruction;
    if integer::is_integer(spelling) {
        let found = integer::instruction(spelling, &arguments.target.target())?;
        let explained = found.explain(spelling, &found.read(&arguments.operands)?);
        match arguments.format.format {
            Format::Json => output::json(&explained)?,
            Format::Text => output::lines(&explained.lines())?,
        }
        return Ok(Status::Done);
    }
    if conversion::is_conversion(spelling) {
        let found = conversion::instruction(spelling, &arguments.target.target())?;
        let operands = found.read(&arguments.operands)?;
        for &index in &operands.inexact {
            note_inexact(index, &arguments.operands[index]);
        }
        let explained = found.explain(spelling, &arguments.profile.profile(), &operands);
        match arguments.format.format {
            Format::Json => output::json(&explained)?,
            Format::Text => output::lines(&explained.lines())?,
        }
        return Ok(Status::Done);
    }
    if matrix::is_matrix(spelling) {
        let profile = arguments.profile.profile();
        let found = matrix::instruction(spelling, &arguments.target.target(), &profile)?;
        let (operands, exact) = found.read(&arguments.operands)?;
        if !exact {
            note_inexact_elements();
        }
        let explained = found.explain(spelling, &profile, &operands);
        match arguments.format.format {
            Format::Json => output::json(&explained)?,
            Format::Text => output::lines(&explained.lines())?,
        }
        return Ok(Status::Done);
    }
    let instruction = instruction(spelling, &arguments.target.target())?;
    check_digits(&instruction, &arguments.operands)?;
    let operands = operands(&instruction, &arguments.operands)?;
    for &index in &operands.inexact {
        note_inexact(index, &arguments.operands[index]);
    }
    let explained = roundonce::explain(spelling, &instruction, &operands.values, &arguments.profile.profile());
    match arguments.format.format {
        Format::Json => output::json(&explained)?,
        Format::Text => output::lines(&explained.lines(instruction.recipe.operation.op))?,
    }
    Ok(Status::Done)
}
