//! Text with roles: what a piece of a line is, not how it looks. A terminal, a notebook or a page gives it its colours.

use serde::Serialize;

/// Columns of a line of an answer.
pub const COLUMNS: usize = 80;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Running text.
    Plain,
    /// What the reader came for.
    Strong,
    /// A caption.
    Label,
    /// Bits that the result keeps.
    Kept,
    /// Bits that rounding drops.
    Dropped,
    /// An aside.
    Faint,
}

/// A line of text, in pieces.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Line(pub Vec<(Role, String)>);

impl Line {
    /// A line of one role.
    pub fn of(role: Role, text: impl Into<String>) -> Line {
        Line(vec![(role, text.into())])
    }
    /// Running text.
    pub fn plain(text: impl Into<String>) -> Line {
        Line::of(Role::Plain, text)
    }
    /// The same line with a piece more.
    #[must_use]
    pub fn and(mut self, role: Role, text: impl Into<String>) -> Line {
        self.0.push((role, text.into()));
        self
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.0.iter().map(|(_, piece)| piece.as_str()).collect();
        f.write_str(text.trim_end())
    }
}

/// Breaks running text into lines of at most `width` characters, each indented.
pub fn wrap(role: Role, text: &str, indent: usize, width: usize) -> Vec<Line> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width.saturating_sub(indent) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| Line::of(role, format!("{}{line}", " ".repeat(indent)))).collect()
}
