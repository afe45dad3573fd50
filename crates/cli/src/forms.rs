//! `forms`: the table of every instruction form.

use clap::Args;
use roundonce::ptx::matrix::{Family, ROWS, UnitRow};
use roundonce::ptx::{conversions, integer};
use roundonce::why::{Line, Role, wrap};
use roundonce::{Form, TABLES};
use serde::Serialize;

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

#[derive(Serialize)]
struct Row {
    language: &'static str,
    syntax: String,
    operands: &'static str,
    gate: String,
    source: &'static str,
    note: String,
    spellings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<MatrixColumns>,
}

/// What a row of a matrix multiply-add has beside.
#[derive(Serialize)]
struct MatrixColumns {
    unit: &'static str,
    sum: String,
    conversion: &'static str,
    evidence: &'static str,
}

impl Row {
    fn of<M>(form: &Form<M>) -> Row {
        Row {
            language: form.language.name(),
            syntax: form.syntax(),
            operands: form.operands,
            gate: form.gate.to_string(),
            source: form.source,
            note: form.note.to_owned(),
            spellings: form.spelled().into_iter().map(|(text, _)| text).collect(),
            matrix: None,
        }
    }

    fn of_matrix(row: &UnitRow) -> Row {
        let mut targets = row.targets.to_vec();
        targets.sort_unstable();
        let targets: Vec<String> = targets.iter().map(|number| format!("sm_{number}")).collect();
        let (sum, conversion, evidence) = (row.unit.text(), row.conversion(), row.evidence.name());
        let family = row.families[0];
        Row {
            language: "PTX",
            syntax: format!("{} {} {}", family.name(), row.shapes, row.operands.name()),
            operands: if family == Family::Tcgen05 { "[d], a, b" } else { "d, a, b, c" },
            gate: targets.join(" "),
            source: row.source,
            note: format!("{}: {sum}; {conversion}; evidence: {evidence}", row.sass),
            spellings: row.spellings(),
            matrix: Some(MatrixColumns { unit: row.sass, sum, conversion, evidence }),
        }
    }

    fn matches(&self, pattern: &str) -> bool {
        let fields = [self.language, &self.syntax, &self.gate, self.source];
        let mut texts = fields.into_iter().chain(self.spellings.iter().map(String::as_str));
        texts.any(|text| text.to_lowercase().contains(pattern))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let pattern = arguments.pattern.as_deref().unwrap_or("").to_lowercase();
    let rows: Vec<Row> = TABLES
        .into_iter()
        .flatten()
        .map(Row::of)
        .chain(integer::FORMS.iter().chain(conversions::FORMS).map(Row::of))
        .chain(ROWS.iter().map(Row::of_matrix))
        .filter(|row| row.matches(&pattern))
        .collect();
    if rows.is_empty() {
        return Err(Failure::Input(format!("no form matches `{pattern}`")));
    }
    if arguments.format.format == Format::Json {
        for row in &rows {
            output::json(row)?;
        }
        return Ok(Status::Done);
    }
    let mut lines = Vec::new();
    for row in &rows {
        lines.push(
            Line::of(Role::Label, format!("{:<7} ", row.language))
                .and(Role::Strong, row.syntax.clone())
                .and(Role::Plain, format!("  {}", row.operands)),
        );
        let count = row.spellings.len();
        let plural = if count == 1 { "" } else { "s" };
        let text = format!("        {}; {}; {count} spelling{plural}", row.gate, row.source);
        lines.push(Line::of(Role::Faint, text));
        if !row.note.is_empty() {
            lines.extend(wrap(Role::Faint, &row.note, 8, 80));
        }
        if arguments.spellings {
            lines.extend(wrap(Role::Plain, &row.spellings.join(" "), 8, 80));
        }
    }
    output::lines(&lines)?;
    Ok(Status::Done)
}
