//! Findings as data: code, location, what was found, what was expected, the rule. The command renders them.

use crate::OpenChoice;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Information; nothing is wrong.
    Note,
    /// Legal, but probably not intended.
    Warning,
    /// A rule is violated.
    Error,
}

/// Whether a rule is violated.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

impl Severity {
    /// `note`, `warning`, `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A location in the input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// A range of bytes of a text.
    Span {
        /// The first byte.
        start: usize,
        /// The byte after the last.
        end: usize,
    },
    /// A word of a binary, from 0.
    Word(usize),
    /// The input as a whole.
    Whole,
}

/// Line and column, both from 1, of a byte of a text; the column counts characters.
///
/// ```
/// assert_eq!(roundonce_isa::line_column("ab\ncd", 4), (2, 2));
/// assert_eq!(roundonce_isa::line_column("a\rb\r\nc", 5), (3, 1));
/// ```
pub fn line_column(text: &str, byte: usize) -> (usize, usize) {
    LineIndex::new(text).line_column(byte)
}

/// What columns are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ColumnUnit {
    /// Bytes of UTF-8.
    Byte,
    /// Units of UTF-16: two for a character beyond U+FFFF.
    Utf16,
    /// Characters.
    Character,
}

impl ColumnUnit {
    /// How many units begin in some bytes.
    fn count(self, bytes: &[u8]) -> usize {
        let characters = || bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        match self {
            ColumnUnit::Byte => bytes.len(),
            ColumnUnit::Utf16 => characters() + bytes.iter().filter(|&&byte| byte >= 0xf0).count(),
            ColumnUnit::Character => characters(),
        }
    }
}

/// The lines of a text, for many questions about one: each is answered in logarithmic time.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t str,
    unit: ColumnUnit,
    /// The first byte of each line.
    starts: Vec<usize>,
    /// How many units begin before every 256th byte.
    units: Vec<usize>,
}

/// Bytes between the places where units are counted.
const STRIDE: usize = 256;

impl<'t> LineIndex<'t> {
    /// Of columns in characters.
    pub fn new(text: &'t str) -> LineIndex<'t> {
        LineIndex::counting(text, ColumnUnit::Character)
    }

    /// Reads the text once.
    pub fn counting(text: &'t str, unit: ColumnUnit) -> LineIndex<'t> {
        let mut units = vec![0];
        for bytes in text.as_bytes().chunks(STRIDE) {
            units.push(units.last().unwrap_or(&0) + unit.count(bytes));
        }
        // `\n`, `\r\n` and a `\r` alone end a line, as the Language Server Protocol has it.
        let bytes = text.as_bytes();
        let ends = (0..bytes.len()).filter(|&at| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        LineIndex { text, unit, starts: [0].into_iter().chain(ends.map(|at| at + 1)).collect(), units }
    }

    /// As [`line_column`].
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let line = self.number(byte);
        (line, self.units(byte) - self.units(self.starts[line - 1]) + 1)
    }

    /// The byte at a line and column, both from 1. A column inside a character is its first byte, one behind the line's
    /// end that end, and a line behind the last one the text's end.
    ///
    /// ```
    /// use roundonce_isa::{ColumnUnit, LineIndex};
    /// let lines = LineIndex::counting("a𝄞b\nc", ColumnUnit::Utf16);
    /// assert_eq!(lines.line_column(5), (1, 4));
    /// assert_eq!([lines.byte(1, 3), lines.byte(1, 4), lines.byte(1, 9), lines.byte(2, 2)], [1, 5, 6, 8]);
    /// ```
    pub fn byte(&self, line: usize, column: usize) -> usize {
        let Some(&start) = self.starts.get(line.saturating_sub(1)) else { return self.text.len() };
        let range = self.line(start);
        let wanted = self.units(start).saturating_add(column.saturating_sub(1));
        // The last stride of the line that does not begin behind it.
        let strides = &self.units[start / STRIDE..=range.end / STRIDE];
        let stride = start / STRIDE + strides.partition_point(|&units| units <= wanted).saturating_sub(1);
        let mut at = self.floor((stride * STRIDE).max(start));
        let mut units = self.units(at);
        for character in self.text[at..range.end].chars() {
            units += self.unit.count(character.encode_utf8(&mut [0; 4]).as_bytes());
            if units > wanted {
                break;
            }
            at += character.len_utf8();
        }
        at
    }

    /// How many units stand before a byte; one inside a character counts as its first.
    pub fn units(&self, byte: usize) -> usize {
        let end = self.floor(byte);
        // Every byte is a unit.
        if self.units.last() == Some(&self.text.len()) {
            return end;
        }
        self.units[end / STRIDE] + self.unit.count(&self.text.as_bytes()[end / STRIDE * STRIDE..end])
    }

    /// The bytes of the line that a byte is in, without its end.
    pub fn line(&self, byte: usize) -> core::ops::Range<usize> {
        let number = self.number(byte);
        let end = self.starts.get(number).map_or(self.text.len(), |next| next - 1);
        self.starts[number - 1]..end
    }

    /// The first byte of the character that a byte is in, or the text's end.
    pub fn floor(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        (0..=byte).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
    }

    /// The first byte of a line, counted from 1; of one that is not there, the text's.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// The line of a byte, from 1.
    pub fn number(&self, byte: usize) -> usize {
        let byte = self.floor(byte);
        self.starts.partition_point(|&start| start <= byte)
    }
}

/// A replacement of a range of bytes that resolves a finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fix {
    /// The first byte replaced.
    pub start: usize,
    /// The byte after the last one replaced.
    pub end: usize,
    /// The new text.
    pub replacement: String,
}

/// One finding about an input.
///
/// ```
/// use roundonce_isa::{Finding, Severity, Location};
/// let finding = Finding::error("PTX0001", Location::Whole, "`.sat` is not allowed on `fma.f64`")
///     .rule("PTX ISA, fma: syntax")
///     .help("drop `.sat`");
/// assert_eq!(finding.severity, Severity::Error);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// A stable code: the language's letters and four digits.
    pub code: &'static str,
    /// Where.
    pub location: Location,
    /// What was found, and what was expected in its place.
    pub message: String,
    /// The rule that is violated: document and section. Empty if no document has it.
    pub rule: String,
    /// What to do about it; may be empty.
    pub help: String,
    /// A safe replacement.
    pub fix: Option<Fix>,
    /// The implementation-defined choice that it is about.
    pub open: Option<Box<OpenChoice>>,
}

impl Finding {
    /// A finding with only the required fields.
    pub fn new(severity: Severity, code: &'static str, location: Location, message: impl Into<String>) -> Finding {
        Finding {
            severity,
            code,
            location,
            message: message.into(),
            rule: String::new(),
            help: String::new(),
            fix: None,
            open: None,
        }
    }
    /// An error.
    pub fn error(code: &'static str, location: Location, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Error, code, location, message)
    }
    /// A warning.
    pub fn warning(code: &'static str, location: Location, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Warning, code, location, message)
    }
    /// A note.
    pub fn note(code: &'static str, location: Location, message: impl Into<String>) -> Finding {
        Finding::new(Severity::Note, code, location, message)
    }
    /// With the rule it is against.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Finding {
        self.rule = rule.into();
        self
    }
    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }
    /// With more advice, behind what there is.
    pub fn add_help(&mut self, help: &str) {
        if !self.help.is_empty() {
            self.help.push_str("; ");
        }
        self.help.push_str(help);
    }
    /// With a safe replacement of bytes `start..end`.
    #[must_use]
    pub fn fix(mut self, start: usize, end: usize, replacement: impl Into<String>) -> Finding {
        self.fix = Some(Fix { start, end, replacement: replacement.into() });
        self
    }
    /// With the choice that the module leaves.
    #[must_use]
    pub fn open(mut self, open: Option<OpenChoice>) -> Finding {
        self.open = open.map(Box::new);
        self
    }
}

/// The finding in one line: message, rule, help, code.
impl core::fmt::Display for Finding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)?;
        if !self.rule.is_empty() {
            write!(f, " ({})", self.rule)?;
        }
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        write!(f, " [{}]", self.code)
    }
}

/// Applies the safe fixes of findings to a text: [`apply_edits`].
pub fn apply_fixes(text: &str, findings: &[Finding]) -> String {
    apply_edits(text, findings.iter().filter_map(|finding| finding.fix.as_ref()))
}

/// Applies edits to a text, from its end to its start. Of two that overlap, the later one in the text is applied and the
/// other is skipped. Several insertions at one position are made in alphabetical order, each once.
pub fn apply_edits<'a>(text: &str, edits: impl IntoIterator<Item = &'a Fix>) -> String {
    apply_counted(text, edits).0
}

/// The same, and how many edits were made.
pub fn apply_counted<'a>(text: &str, edits: impl IntoIterator<Item = &'a Fix>) -> (String, usize) {
    let mut edits: Vec<&Fix> = edits.into_iter().collect();
    edits.sort_by(|one, other| {
        let key = |fix: &'a Fix| (fix.start, fix.end, fix.replacement.as_str());
        key(other).cmp(&key(one))
    });
    edits.dedup();
    // The pieces of the text, from its end.
    let mut pieces = Vec::with_capacity(2 * edits.len() + 1);
    let mut untouched = text.len();
    for edit in edits {
        if edit.end <= untouched {
            pieces.extend([&text[edit.end..untouched], &edit.replacement]);
            untouched = edit.start;
        }
    }
    let made = pieces.len() / 2;
    pieces.push(&text[..untouched]);
    (pieces.into_iter().rev().collect(), made)
}
