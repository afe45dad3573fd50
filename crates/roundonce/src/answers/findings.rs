//! Findings about a module, with their places worked out.

use roundonce_isa::{Finding, Fix, LineIndex, Location, Outline, Severity};
use roundonce_why::diff::{Witness, Witnesses};
use serde::Serialize;

use crate::spirv::{self, Environment};
use crate::{Profile, ptx, sass};

/// A checked file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its name as given.
    pub file: String,
    /// Its text; empty for a binary.
    pub text: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// For each finding, the smallest input found that shows what is left open there, where that was asked.
    pub witnesses: Vec<Option<Witness>>,
    /// Whether they were asked for.
    pub wanted: bool,
    /// What the verdict is not about.
    pub unchecked: Unchecked,
}

/// What a verdict is not about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unchecked {
    /// PTX: so many instructions.
    Instructions(usize),
    /// SPIR-V: these groups of rules, which the module gives reason for.
    Rules(Vec<&'static str>),
}

impl Unchecked {
    /// How many instructions were not looked at.
    pub fn instructions(&self) -> usize {
        match self {
            Unchecked::Instructions(count) => *count,
            Unchecked::Rules(_) => 0,
        }
    }
}

/// A finding with its place worked out.
#[derive(Clone, Debug, Serialize)]
pub struct Row<'a> {
    /// The file.
    pub file: &'a str,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1, in characters.
    pub column: usize,
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// What is found.
    pub code: &'static str,
    /// In a sentence.
    pub message: &'a str,
    /// What to do.
    pub help: &'a str,
    /// Document and section.
    pub rule: &'a str,
    /// The place in a binary, in words from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<usize>,
    /// What shows that the bits are left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<&'a Witness>,
    /// What settles it, all together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit<'a>>,
}

/// A replacement in a text: lines and columns from 1, the end not included.
#[derive(Clone, Debug, Serialize)]
pub struct Edit<'a> {
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1, in characters.
    pub column: usize,
    /// The end's line.
    pub end_line: usize,
    /// The end's column.
    pub end_column: usize,
    /// What stands there afterwards.
    pub replacement: &'a str,
}

impl Checked {
    /// Findings about a file; with witnesses of what is left open, if they are `wanted`.
    pub fn new(file: &str, text: String, findings: Vec<Finding>, wanted: bool) -> Checked {
        let mut search = Witnesses::new(&Profile::NVIDIA);
        let open = findings.iter().map(|finding| finding.open.as_deref().filter(|_| wanted));
        let witnesses = open.map(|open| open.and_then(|open| search.of(open))).collect();
        let unchecked = Unchecked::Instructions(0);
        Checked { file: file.to_owned(), text, findings, witnesses, wanted, unchecked }
    }

    /// The same, where something was not checked.
    pub fn without(self, unchecked: impl FnOnce(&str) -> Unchecked) -> Checked {
        let unchecked = unchecked(&self.text);
        Checked { unchecked, ..self }
    }

    /// Each finding with its place.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
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

    /// How many of each level, and what was not checked.
    pub fn summary(&self) -> String {
        let named = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let count = |level: Severity| {
            let count = self.findings.iter().filter(|finding| finding.severity == level).count();
            (count > 0).then(|| named(count, level.name()))
        };
        let mut parts: Vec<String> =
            [Severity::Error, Severity::Warning, Severity::Note].into_iter().filter_map(count).collect();
        let clean = parts.is_empty();
        match &self.unchecked {
            Unchecked::Instructions(count) if *count > 0 => {
                parts.extend(clean.then(|| "family valid".to_owned()));
                parts.push(format!("{} not checked", named(*count, "instruction")));
            }
            // A module that is refused is refused whatever else holds.
            Unchecked::Rules(groups) if !groups.is_empty() && self.worst() != Some(Severity::Error) => {
                let groups = format!("not checked: {}", groups.join(", "));
                return if clean { groups } else { format!("{}; {groups}", parts.join(", ")) };
            }
            _ => {}
        }
        if parts.is_empty() { "valid".to_owned() } else { parts.join(", ") }
    }

    /// The worst level among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

fn edit<'a>(lines: &LineIndex<'_>, fix: &'a Fix) -> Edit<'a> {
    let ((line, column), (end_line, end_column)) = (lines.line_column(fix.start), lines.line_column(fix.end));
    Edit { line, column, end_line, end_column, replacement: &fix.replacement }
}

/// A witness in one line.
pub fn sentence(witness: &Witness) -> String {
    let inputs = witness.inputs.iter().map(|input| format!("{} = {} ({})", input.name, input.bits, input.value));
    let results = witness.results.iter().map(|result| format!("{} {} ({})", result.choice, result.bits, result.value));
    format!("with {}: {}", inputs.collect::<Vec<_>>().join(", "), results.collect::<Vec<_>>().join(", "))
}

/// Findings as `file:line:column: message`, of a binary `file: word 12: message`, one a line.
pub fn located(file: &str, text: &str, findings: Vec<Finding>) -> String {
    let checked = Checked::new(file, text.to_owned(), findings, false);
    let lines: Vec<String> = checked
        .rows()
        .map(|row| match row.word {
            Some(word) => format!("{}: word {word}: {} [{}]", row.file, row.message, row.code),
            None => format!("{}:{}:{}: {} [{}]", row.file, row.line, row.column, row.message, row.code),
        })
        .collect();
    lines.join("\n")
}

/// A language whose modules are checked as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextLanguage {
    /// PTX.
    Ptx,
    /// A listing of SASS.
    Sass,
    /// SPIR-V as its tools write it.
    Spirv,
}

/// How a text is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// Findings about what is left open too: of PTX all of them, of SPIR-V those that nearly every module has.
    pub determinacy: bool,
    /// SPIR-V: the environment.
    pub environment: Environment,
}

impl CheckOptions {
    /// What is wrong with a SPIR-V module.
    pub fn spirv_binary(&self, binary: &[u8]) -> Vec<Finding> {
        self.asked(spirv::check_binary(binary, self.environment))
    }

    /// The findings about a SPIR-V module that these options ask for.
    fn asked(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain(|finding| self.determinacy || !spirv::OF_DETERMINACY.contains(&finding.code));
        findings
    }
}

/// Whether a word is an opcode of SPIR-V.
fn is_spirv(word: &str) -> bool {
    word.strip_prefix("Op").is_some_and(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// The directives that modules of PTX alone have.
const OF_PTX: [&str; 6] = [".version", ".address_size", ".visible", ".extern", ".entry", ".func"];
/// Those that disassemblers begin listings with.
const OF_LISTINGS: [&str; 3] = [".headerflags", ".elftype", ".section"];

impl TextLanguage {
    /// By what a text holds: the first line that only one language has. What has none is a listing.
    ///
    /// ```
    /// use roundonce::answers::TextLanguage;
    /// let of = TextLanguage::of_text;
    /// assert_eq!(of("/* by hand */ .version 7.0\n.target sm_80"), TextLanguage::Ptx);
    /// assert_eq!(of(".target sm_80\n.entry k() { ret; }"), TextLanguage::Ptx);
    /// assert_eq!(of(".target sm_80\nFFMA R0, R1, R2, R3;"), TextLanguage::Sass);
    /// assert_eq!(of("; SPIR-V\nOpCapability Shader"), TextLanguage::Spirv);
    /// ```
    pub fn of_text(text: &str) -> TextLanguage {
        let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
        while !rest.is_empty() {
            let line = rest.lines().next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let comment_ends = if line.starts_with("/*") { rest[2..].find("*/").map(|at| at + 4) } else { None };
            let end = match (comment_ends, words.next().unwrap_or_default()) {
                (Some(end), _) => end,
                (None, first) if OF_PTX.contains(&first) => return TextLanguage::Ptx,
                (None, first) if OF_LISTINGS.contains(&first) => return TextLanguage::Sass,
                (None, first) if is_spirv(first) => return TextLanguage::Spirv,
                (None, first)
                    if first.starts_with('%') && words.next() == Some("=") && words.next().is_some_and(is_spirv) =>
                {
                    return TextLanguage::Spirv;
                }
                _ => line.len(),
            };
            rest = rest[end..].trim_start();
        }
        TextLanguage::Sass
    }

    /// By a file name's extension, in capitals or not.
    pub fn of_extension(extension: &str) -> Option<TextLanguage> {
        match extension.to_ascii_lowercase().as_str() {
            "ptx" => Some(TextLanguage::Ptx),
            "sass" => Some(TextLanguage::Sass),
            "spvasm" => Some(TextLanguage::Spirv),
            _ => None,
        }
    }

    /// What an editor shows of a text.
    pub fn outline(self, text: &str) -> Outline {
        match self {
            TextLanguage::Ptx => ptx::outline(text),
            TextLanguage::Sass => sass::outline(text),
            TextLanguage::Spirv => spirv::outline(text),
        }
    }

    /// What is wrong with a text.
    pub fn report(self, text: &str, options: &CheckOptions) -> ptx::Report {
        let whole = |findings| ptx::Report { findings, unchecked: 0 };
        match self {
            TextLanguage::Ptx => ptx::report_text(text, &ptx::Options { determinacy: options.determinacy }),
            TextLanguage::Sass => {
                let (findings, unchecked) = sass::check_counted(text);
                ptx::Report { findings, unchecked }
            }
            TextLanguage::Spirv => whole(options.asked(spirv::check_text(text, options.environment))),
        }
    }

    /// The same as an answer; with witnesses of what is left open, if they are `wanted`.
    pub fn checked(
        self,
        file: &str,
        text: String,
        report: ptx::Report,
        options: &CheckOptions,
        wanted: bool,
    ) -> Checked {
        let checked = Checked::new(file, text, report.findings, wanted);
        match self {
            TextLanguage::Spirv => checked.without(|text| {
                let module = spirv::assemble_module(text, Some(options.environment.version()));
                Unchecked::Rules(module.map_or_else(|_| Vec::new(), |module| spirv::unchecked(&module)))
            }),
            _ => checked.without(|_| Unchecked::Instructions(report.unchecked)),
        }
    }
}
