//! The table of every instruction form.

use roundonce_isa::Form;
use roundonce_ptx::matrix::{Family, ROWS, UnitRow};
use roundonce_ptx::{conversions, integer};
use roundonce_why::{Line, Role, wrap};
use serde::Serialize;

use crate::TABLES;

/// A form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FormRow {
    /// PTX, SASS or SPIR-V.
    pub language: &'static str,
    /// As the manual writes it.
    pub syntax: String,
    /// Its operands.
    pub operands: &'static str,
    /// What has it.
    pub gate: String,
    /// Document and section.
    pub source: &'static str,
    /// What a reader would not guess.
    pub note: String,
    /// Every spelling.
    pub spellings: Vec<String>,
    /// What a row of a matrix multiply-add has beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixColumns>,
}

/// What a row of a matrix multiply-add has beside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MatrixColumns {
    /// What computes it.
    pub unit: &'static str,
    /// How it sums.
    pub sum: String,
    /// How the result is converted.
    pub conversion: &'static str,
    /// How it is known.
    pub evidence: &'static str,
}

impl FormRow {
    pub(super) fn of<M>(form: &Form<M>) -> FormRow {
        FormRow {
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

    pub(super) fn of_matrix(row: &UnitRow) -> FormRow {
        let mut targets = row.targets.to_vec();
        targets.sort_unstable();
        let targets: Vec<String> = targets.iter().map(|number| format!("sm_{number}")).collect();
        let (sum, conversion, evidence) = (row.unit.text(), row.conversion(), row.evidence.name());
        let family = row.families[0];
        FormRow {
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

/// The forms with a pattern in their syntax, spellings, language or gate; case does not matter.
pub fn forms(pattern: &str) -> Vec<FormRow> {
    let pattern = pattern.to_lowercase();
    let floats = TABLES.into_iter().flatten().map(FormRow::of);
    let others = integer::FORMS.iter().chain(conversions::FORMS).map(FormRow::of);
    let all = floats.chain(others).chain(ROWS.iter().map(FormRow::of_matrix));
    all.filter(|row| row.matches(&pattern)).collect()
}

/// The table for a person; with every spelling, if they are wanted.
pub fn form_lines(rows: &[FormRow], spellings: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in rows {
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
        if spellings {
            lines.extend(wrap(Role::Plain, &row.spellings.join(" "), 8, 80));
        }
    }
    lines
}
