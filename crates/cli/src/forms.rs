//! `forms`: the table of every instruction form.

use clap::Args;
use roundonce::answers::{form_lines, forms};

use crate::output::{self, Format, FormatArgument};
use crate::{Ended, Failure, Status};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show only forms with this in their syntax, spellings, language or gate (case does not matter)
    pattern: Option<String>,
    /// List every spelling
    #[arg(long)]
    spellings: bool,
    #[command(flatten)]
    format: FormatArgument,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let pattern = arguments.pattern.as_deref().unwrap_or("");
    let rows = forms(pattern);
    if rows.is_empty() {
        return Err(Failure::Input(format!("no form matches `{}`", pattern.to_lowercase())));
    }
    match arguments.format.format {
        Format::Json => rows.iter().try_for_each(output::json)?,
        Format::Text => output::lines(&form_lines(&rows, arguments.spellings))?,
    }
    Ok(Status::Done)
}
