//! Findings as a person or a program reads them.

use std::io::Write;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level as Shown, Renderer, Snippet};
use roundonce::answers::{Checked, sentence};
use roundonce::isa::{Finding, LineIndex, Location, Severity};
use roundonce::why::diff::Witness;

use crate::{Failure, output, sarif, terminal};

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

/// Writes the findings of all files, which were read from these paths, to stdout.
pub(crate) fn write(format: Format, files: &[Checked], paths: &[&Path]) -> Result<(), Failure> {
    match format {
        Format::Text => text(files, &mut terminal::styled()),
        Format::Json => files.iter().flat_map(Checked::rows).try_for_each(|row| output::json(&row)),
        Format::Sarif => output::json(&sarif::log(files, paths)),
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
        writeln!(out, "{}: {}", file.file, file.summary())?;
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
            // The renderer takes whole characters.
            let start = lines.floor(start);
            let end = lines.floor(end).max(start);
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
