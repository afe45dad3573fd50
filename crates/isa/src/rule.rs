//! What a finding's code stands for.

use crate::{Finding, Location, Severity};

/// One rule: a stable code, the level of its findings, what it requires, and its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The language's letters and four digits; never used for anything else.
    pub code: &'static str,
    /// The severity of a finding against it; where they differ, the highest.
    pub level: Severity,
    /// What it asks for.
    pub title: &'static str,
    /// The document, or the observation.
    pub source: &'static str,
}

impl Rule {
    /// One whose findings are errors.
    pub const fn error(code: &'static str, title: &'static str, source: &'static str) -> Rule {
        Rule { code, level: Severity::Error, title, source }
    }
    /// One whose findings are warnings.
    pub const fn warning(code: &'static str, title: &'static str, source: &'static str) -> Rule {
        Rule { code, level: Severity::Warning, title, source }
    }
    /// One whose findings are notes.
    pub const fn note(code: &'static str, title: &'static str, source: &'static str) -> Rule {
        Rule { code, level: Severity::Note, title, source }
    }
    /// A finding against it.
    pub fn finding(&self, location: Location, message: impl Into<String>) -> Finding {
        Finding::new(self.level, self.code, location, message).rule(self.source)
    }
    /// The same about a range of bytes.
    pub fn at(&self, (start, end): (usize, usize), message: impl Into<String>) -> Finding {
        self.finding(Location::Span { start, end }, message)
    }
}
