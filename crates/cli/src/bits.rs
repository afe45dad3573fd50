//! `bits`: one number taken apart.

use clap::Args;
use roundonce::why::BitFields;

use crate::output::{self, Format, FormatArgument};
use crate::{Ended, Failure, Status};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A number with its type: 1e20f f32, 2.0 f64, 1.5h f16, 1.5b bf16, 0x3f800000, 0x3c00:f16, 448:e4m3
    #[arg(value_parser = output::signed)]
    value: String,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let (fields, exact) = BitFields::parse(&arguments.value).map_err(Failure::Input)?;
    if !exact {
        let ty = fields.ty;
        output::note(&format!("`{}` is not exact in {ty}: rounded once, to nearest even", arguments.value));
    }
    match arguments.format.format {
        Format::Json => output::json(&fields)?,
        Format::Text => output::lines(&fields.lines())?,
    }
    Ok(Status::Done)
}
