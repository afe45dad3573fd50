//! `check`: files against the documents' rules.

use std::path::{Path, PathBuf};

use clap::Args;
use roundonce::isa::{Finding, Level, apply_fixes};
use roundonce::{ptx, sass};

use crate::report::{self, Checked, Format};
use crate::{Ended, Failure, Status, files};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Files to check: .ptx, .sass
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Make warnings count as errors
    #[arg(long, value_parser = ["warnings"], value_name = "LEVEL")]
    deny: Option<String>,
    /// PTX: list every unmodified mul that feeds an unmodified add or sub, whose bits are left open
    #[arg(long)]
    determinacy: bool,
    /// Apply the safe fixes to the files
    #[arg(long)]
    fix: bool,
    /// Who reads the findings
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let mut checked = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        checked.push(check(path, arguments)?);
    }
    report::write(arguments.format, &checked)?;
    let refused = if arguments.deny.is_some() { Level::Warning } else { Level::Error };
    let bad = checked.iter().any(|file| file.worst() >= Some(refused));
    Ok(if bad { Status::Found } else { Status::Done })
}

fn check(path: &Path, arguments: &Arguments) -> Result<Checked, Failure> {
    let options = ptx::Options { determinacy: arguments.determinacy };
    let checker: &dyn Fn(&str) -> Vec<Finding> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("ptx") => &|text| ptx::check_text(text, &options),
        Some("sass") => &sass::check,
        _ => return Err(Failure::Input(format!("{}: expected a .ptx or .sass file", path.display()))),
    };
    let mut text = files::text(path, files::read(path)?)?;
    let mut findings = checker(&text);
    if arguments.fix && findings.iter().any(|finding| finding.fix.is_some()) {
        text = apply_fixes(&text, &findings);
        files::write(path, text.as_bytes())?;
        findings = checker(&text);
    }
    Ok(Checked { file: path.display().to_string(), text, findings })
}
