//! A text that a client has open, and places in it as the protocol counts them.

use std::cell::OnceCell;
use std::sync::Arc;

use lsp_server::Request;
use lsp_types::{Position, Range, Uri};
use roundonce::answers::TextLanguage;
use roundonce::isa::{ColumnUnit, LineIndex, Location, Outline};

use crate::worker::Findings;

/// Bytes of a text that is read.
pub const LARGEST: usize = 16 << 20;

/// An open text.
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) language: TextLanguage,
    /// The client's number of this text.
    pub(crate) version: i32,
    /// Ours, which no two texts of a session have.
    pub(crate) edition: u64,
    /// Without a byte order mark.
    pub(crate) text: Arc<str>,
    /// Whether the client's text begins with one.
    is_marked: bool,
    outline: OnceCell<Outline>,
    /// What was found in this edition.
    pub(crate) findings: Option<Findings>,
    /// Requests that need it.
    pub(crate) waiting: Vec<Request>,
}

impl Document {
    pub(crate) fn new(uri: Uri, language: TextLanguage, version: i32, edition: u64, text: String) -> Document {
        let (is_marked, text) = unmarked(&text);
        let (outline, findings, waiting) = (OnceCell::new(), None, Vec::new());
        Document { uri, language, version, edition, text, is_marked, outline, findings, waiting }
    }

    /// Takes another text.
    pub(crate) fn replace(&mut self, version: i32, edition: u64, text: String) {
        (self.version, self.edition) = (version, edition);
        (self.is_marked, self.text) = unmarked(&text);
        (self.outline, self.findings) = (OnceCell::new(), None);
    }

    /// The text's outline; an empty one of a text that is too long.
    pub(crate) fn outline(&self) -> &Outline {
        let read = || if self.is_too_long() { Outline::default() } else { self.language.outline(&self.text) };
        self.outline.get_or_init(read)
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.text.len() > LARGEST
    }

    pub(crate) fn places(&self, unit: ColumnUnit) -> Places<'_> {
        let mark = if self.is_marked { MARK } else { "" };
        let mark = LineIndex::counting(mark, unit).units(mark.len());
        Places { lines: LineIndex::counting(&self.text, unit), mark }
    }
}

/// The byte order mark.
const MARK: &str = "\u{feff}";

/// Whether a text begins with a byte order mark, and what is behind it.
fn unmarked(text: &str) -> (bool, Arc<str>) {
    let rest = text.strip_prefix(MARK);
    (rest.is_some(), rest.unwrap_or(text).into())
}

/// A text's lines, in the units that were agreed on.
pub(crate) struct Places<'t> {
    lines: LineIndex<'t>,
    /// Units of the byte order mark, which stands in the first line.
    mark: usize,
}

impl Places<'_> {
    pub(crate) fn position(&self, byte: usize) -> Position {
        let (line, column) = self.lines.line_column(byte);
        let mark = if line == 1 { self.mark } else { 0 };
        Position::new(line as u32 - 1, (column - 1 + mark) as u32)
    }

    pub(crate) fn range(&self, (start, end): (usize, usize)) -> Range {
        Range::new(self.position(start), self.position(end))
    }

    /// Of a finding; one about the whole is at the beginning.
    pub(crate) fn range_of(&self, location: Location) -> Range {
        self.range(span(location))
    }

    pub(crate) fn byte(&self, position: Position) -> usize {
        let mark = if position.line == 0 { self.mark } else { 0 };
        self.lines.byte(position.line as usize + 1, (position.character as usize).saturating_sub(mark) + 1)
    }

    /// The number of the line that a byte is in, from 1.
    pub(crate) fn number(&self, byte: usize) -> usize {
        self.lines.number(byte)
    }
}

/// A location's bytes.
pub(crate) fn span(location: Location) -> (usize, usize) {
    match location {
        Location::Span { start, end } => (start, end),
        Location::Word(_) | Location::Whole => (0, 0),
    }
}
