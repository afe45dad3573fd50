//! `bits`: one number taken apart.

use clap::Args;
use roundonce::answers::{Noted, bits};

use crate::output::{self, Format, FormatArgument};
use crate::{Ended, Status};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A number with its type: 1e20f f32, 2.0 f64, 1.5h f16, 1.5b bf16, 0x3f800000, 0x3c00:f16, 448:e4m3
    #[arg(value_parser = output::signed)]
    value: String,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let Noted { answer, notes } = bits(&arguments.value)?;
    notes.iter().for_each(|note| output::note(note));
    match arguments.format.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::lines(&answer.lines())?,
    }
    Ok(Status::Done)
}
