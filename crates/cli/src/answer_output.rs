//! An answer in the format asked for: to a person, to a program, to a code-scanning service.

use std::path::Path;

use roundonce::answers::Checked;
use roundonce::isa::Location;
use roundonce::rules;
use roundonce::why::{Answer, ArrayAnswer, Line, Verdict};
use roundonce::why_kernel::KernelAnswer;
use serde::Serialize;

use crate::argument::Argument;
use crate::report::{self, Format};
use crate::why_report::Page;
use crate::{Ended, Failure, Status, output};

/// What every answer of `why` can say.
pub(crate) trait AnswerOutput: Serialize {
    /// To a person.
    fn lines(&self) -> Vec<Line>;
    /// In a sentence for each thing seen.
    fn verdicts(&self) -> Vec<Verdict>;
    /// Whether all is explained.
    fn explained(&self) -> bool;
}

macro_rules! answer_output {
    ($($answer:ty),*) => {$(
        impl AnswerOutput for $answer {
            fn lines(&self) -> Vec<Line> {
                self.lines()
            }
            fn verdicts(&self) -> Vec<Verdict> {
                self.verdicts()
            }
            fn explained(&self) -> bool {
                self.explained()
            }
        }
    )*};
}
answer_output!(Answer, ArrayAnswer, KernelAnswer);

/// Where answers go: to standard output in a format, and to a page if one is asked for.
pub(crate) struct Writer<'a> {
    format: Format,
    report: Option<&'a Path>,
    page: Page,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(format: Format, report: Option<&'a Path>) -> Writer<'a> {
        Writer { format, report, page: Page::default() }
    }

    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    /// Whether a page is asked for.
    pub(crate) fn has_page(&self) -> bool {
        self.report.is_some()
    }

    /// Gives the page its picture, as SVG.
    pub(crate) fn picture(&mut self, svg: String) {
        self.page.picture = Some(svg);
    }

    /// Writes an answer; `kernel` is what it is about, where it is about a file: its path and its text, if it has one.
    pub(crate) fn write(&mut self, answer: &impl AnswerOutput, kernel: Option<(&Path, &str)>) -> Ended {
        match self.format {
            Format::Text => output::lines(&answer.lines())?,
            Format::Json => output::json(answer)?,
            Format::Sarif => {
                let verdicts = answer.verdicts();
                let (found, paths): (Vec<Checked>, Vec<&Path>) =
                    verdicts.iter().map(|verdict| checked(verdict, kernel)).unzip();
                report::write(Format::Sarif, &found, &paths)?;
            }
        }
        if self.has_page() {
            let data = serde_json::to_string(answer).map_err(|error| Failure::Input(error.to_string()))?;
            self.page.answers.push((answer.lines(), data));
        }
        Ok(if answer.explained() { Status::Done } else { Status::Found })
    }

    /// Writes the page, once all answers are known.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.report.map_or(Ok(()), |path| self.page.write(path))
    }

    /// The only answer.
    pub(crate) fn only(mut self, answer: &impl AnswerOutput, kernel: Option<(&Path, &str)>) -> Ended {
        let status = self.write(answer, kernel)?;
        self.finish()?;
        Ok(status)
    }
}

/// A verdict as a finding: about the kernel, about the array that was seen, or about no file.
fn checked<'a>(verdict: &'a Verdict, kernel: Option<(&'a Path, &str)>) -> (Checked, &'a Path) {
    let rule = rules::of_outcome(verdict.outcome);
    let (path, text) = match kernel {
        Some(kernel) => kernel,
        None if Argument::from(verdict.saw.as_str()).is_array() => (Path::new(&verdict.saw), ""),
        None => (Path::new(""), ""),
    };
    let place = verdict.line.and_then(|line| line_of(text, line)).unwrap_or(Location::Whole);
    let finding = rule.finding(place, &verdict.sentence);
    (Checked::new(&path.display().to_string(), text.to_owned(), vec![finding], false), path)
}

/// A line, from 1, of a text.
fn line_of(text: &str, line: u32) -> Option<Location> {
    let (start, written) = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line))
        })
        .nth((line as usize).checked_sub(1)?)?;
    let indent = written.len() - written.trim_start().len();
    Some(Location::Span { start: start + indent, end: start + written.trim_end().len().max(indent) })
}
