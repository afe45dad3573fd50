//! Findings as a person or a program reads them.

use std::io::Write;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level as Shown, Renderer, Snippet};
use roundonce::Profile;
use roundonce::isa::{Finding, Fix, LineIndex, Location, Severity};
use roundonce::why::diff::{Witness, Witnesses};
use serde::Serialize;

use crate::{Failure, output, sarif, terminal};

/// A checked file.
pub(crate) struct Checked {
    /// Its name as given.
    pub(crate) file: String,
    /// Its text; empty for a binary.
    pub(crate) text: String,
    /// What was found.
    pub(crate) findings: Vec<Finding>,
    /// For each finding, the smallest input that shows what is left open there, where that was asked.
    witnesses: Vec<Option<Witness>>,
    /// Whether they were asked for.
    wanted: bool,
    /// What the verdict is not about.
    pub(crate) unchecked: Unchecked,
}

/// What a verdict is not about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unchecked {
    /// PTX: so many instructions.
    Instructions(usize),
    /// SPIR-V: these groups of rules, which the module gives reason for.
    Rules(Vec<&'static str>),
}

impl Unchecked {
    /// How many instructions were not looked at.
    pub(crate) fn instructions(&self) -> usize {
        match self {
            Unchecked::Instructions(count) => *count,
            Unchecked::Rules(_) => 0,
        }
    }
}

/// Who reads findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    /// A person: each finding under the line it is about
    Text,
    /// A program: one object a line
    Json,
    /// A code-scanning service: SARIF 2.1.0
    Sarif,
}

/// A finding with its place worked out.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) level: &'static str,
    pub(crate) code: &'static str,
    pub(crate) message: &'a str,
    pub(crate) help: &'a str,
    pub(crate) rule: &'a str,
    /// The place in a binary, in words from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) word: Option<usize>,
    /// What shows that the bits are left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) witness: Option<&'a Witness>,
    /// What settles it, all together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) edits: Vec<Edit<'a>>,
}

/// A replacement in a text: lines and columns from 1, the end not included.
#[derive(Serialize)]
pub(crate) struct Edit<'a> {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end_line: usize,
    pub(crate) end_column: usize,
    pub(crate) replacement: &'a str,
}

impl Checked {
    /// Findings about a file; with witnesses of what is left open, if they are `wanted`.
    pub(crate) fn new(path: &Path, text: String, findings: Vec<Finding>, wanted: bool) -> Checked {
        let mut search = Witnesses::new(&Profile::NVIDIA);
        let open = findings.iter().map(|finding| finding.open.as_deref().filter(|_| wanted));
        let witnesses = open.map(|open| open.and_then(|open| search.of(open))).collect();
        let unchecked = Unchecked::Instructions(0);
        Checked { file: path.display().to_string(), text, findings, witnesses, wanted, unchecked }
    }

    /// The same, where something was not checked.
    pub(crate) fn without(self, unchecked: impl FnOnce(&str) -> Unchecked) -> Checked {
        let unchecked = unchecked(&self.text);
        Checked { unchecked, ..self }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let lines = LineIndex::new(&self.text);
        self.findings.iter().zip(&self.witnesses).map(move |(finding, witness)| {
            let settled = finding.open.iter().flat_map(|open| &open.edits);
            let edits = finding.fix.iter().chain(settled);
            let (line, column) = match finding.location {
                Location::Span { start, .. } => lines.line_column(start),
                Location::Word(_) | Location::Whole => (1, 1),
            };
            Row {
                file: &self.file,
                line,
                column,
                level: finding.severity.name(),
                code: finding.code,
                message: &finding.message,
                help: &finding.help,
                rule: &finding.rule,
                word: match finding.location {
                    Location::Word(word) => Some(word),
                    _ => None,
                },
                witness: witness.as_ref(),
                edits: edits.map(|fix| edit(&lines, fix)).collect(),
            }
        })
    }

    /// The worst level among the findings.
    pub(crate) fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

fn edit<'a>(lines: &LineIndex<'_>, fix: &'a Fix) -> Edit<'a> {
    let ((line, column), (end_line, end_column)) = (lines.line_column(fix.start), lines.line_column(fix.end));
    Edit { line, column, end_line, end_column, replacement: &fix.replacement }
}

/// Writes the findings of all files to stdout.
pub(crate) fn write(format: Format, files: &[Checked]) -> Result<(), Failure> {
    match format {
        Format::Text => text(files, &mut terminal::styled()),
        Format::Json => files.iter().flat_map(Checked::rows).try_for_each(|row| output::json(&row)),
        Format::Sarif => output::json(&sarif::log(files)),
    }
}

/// Writes the findings of a file that was asked for something else to stderr, for a person.
pub(crate) fn tell(file: Checked) -> Result<(), Failure> {
    text(&[file], &mut anstream::stderr().lock())
}

/// The stream takes the colours away where they are not wanted.
fn text(files: &[Checked], out: &mut impl Write) -> Result<(), Failure> {
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    for file in files {
        let lines = LineIndex::new(&file.text);
        for (finding, witness) in file.findings.iter().zip(&file.witnesses) {
            writeln!(out, "{}\n", picture(&renderer, file, &lines, finding, witness.as_ref()))?;
        }
    }
    for file in files {
        writeln!(out, "{}: {}", file.file, summary(file))?;
    }
    Ok(())
}

/// A line of more bytes is not shown.
const LONGEST_LINE: usize = 4096;

fn picture(
    renderer: &Renderer,
    file: &Checked,
    lines: &LineIndex<'_>,
    finding: &Finding,
    witness: Option<&Witness>,
) -> String {
    let level = match finding.severity {
        Severity::Error => Shown::ERROR,
        Severity::Warning => Shown::WARNING,
        Severity::Note => Shown::NOTE,
    };
    let title = level.primary_title(finding.message.as_str()).id(finding.code);
    let mut group = match finding.location {
        Location::Span { start, end } => {
            let end = end.min(file.text.len()).max(start.min(file.text.len()));
            let start = start.min(end);
            // The renderer looks at all that it is given.
            let (first, last) = (lines.line(start).start, lines.line(end).end);
            let (line, column) = lines.line_column(start);
            if last - first > LONGEST_LINE {
                title.element(Shown::NOTE.message(format!("{}:{line}:{column}", file.file)))
            } else {
                let source = Snippet::source(&file.text[first..last]).line_start(line).path(file.file.as_str());
                title.element(source.annotation(AnnotationKind::Primary.span(start - first..end - first)))
            }
        }
        Location::Word(word) => title.element(Shown::NOTE.message(format!("{}, word {word}", file.file))),
        Location::Whole => title.element(Shown::NOTE.message(file.file.clone())),
    };
    if !finding.rule.is_empty() {
        group = group.element(Shown::NOTE.with_name("rule").message(finding.rule.as_str()));
    }
    if !finding.help.is_empty() {
        group = group.element(Shown::HELP.message(finding.help.as_str()));
    }
    let shown = witness.map(sentence).or_else(|| {
        let tried = "no input was found that shows it, of a million tried";
        (file.wanted && finding.open.is_some()).then(|| tried.to_owned())
    });
    if let Some(shown) = &shown {
        group = group.element(Shown::NOTE.with_name("witness").message(shown.as_str()));
    }
    renderer.render(&[group]).to_string()
}

/// A witness in one line.
pub(crate) fn sentence(witness: &Witness) -> String {
    let inputs = witness.inputs.iter().map(|input| format!("{} = {} ({})", input.name, input.bits, input.value));
    let results = witness.results.iter().map(|result| format!("{} {} ({})", result.choice, result.bits, result.value));
    format!("with {}: {}", inputs.collect::<Vec<_>>().join(", "), results.collect::<Vec<_>>().join(", "))
}

fn summary(file: &Checked) -> String {
    let named = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let count = |level: Severity| {
        let count = file.findings.iter().filter(|finding| finding.severity == level).count();
        (count > 0).then(|| named(count, level.name()))
    };
    let mut parts: Vec<String> =
        [Severity::Error, Severity::Warning, Severity::Note].into_iter().filter_map(count).collect();
    let clean = parts.is_empty();
    match &file.unchecked {
        Unchecked::Instructions(count) if *count > 0 => {
            parts.extend(clean.then(|| "family valid".to_owned()));
            parts.push(format!("{} not checked", named(*count, "instruction")));
        }
        // A module that is refused is refused whatever else holds.
        Unchecked::Rules(groups) if !groups.is_empty() && file.worst() != Some(Severity::Error) => {
            let groups = format!("not checked: {}", groups.join(", "));
            return if clean { groups } else { format!("{}; {groups}", parts.join(", ")) };
        }
        _ => {}
    }
    if parts.is_empty() { "valid".to_owned() } else { parts.join(", ") }
}
