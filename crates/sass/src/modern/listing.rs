//! From a listing of nvdisasm or cuobjdump, or text of one's own, to its words.

use roundonce_isa::{Finding, Location, has_errors};

use super::decode::decode;
use super::names::is_mnemonic;
use super::parse::parse_line;
use super::target::Target;
use crate::listing::{headed, heading};
use crate::parse::Cursor;
use crate::rules;

/// One instruction of a listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeLine {
    /// Its word.
    pub word: u128,
    /// Its bytes in the text.
    pub span: (usize, usize),
}

/// The code of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// In order.
    pub lines: Vec<CodeLine>,
    /// The kernels: each name with the number of its first line of code.
    pub kernels: Vec<(String, usize)>,
}

impl Listing {
    /// Reads a text. An instruction that is not of the float family is its word, which a comment beside it gives; what
    /// cannot be read is left out and becomes a finding. A rounded immediate becomes a note.
    ///
    /// ```
    /// use roundonce_sass::modern::{Listing, Target};
    /// let text = "EXIT ; /* 0x000000000000794d */\n /* 0x000fea0003800000 */\nFMUL.RZ R0, R1, R2 ;";
    /// let (listing, findings) = Listing::parse(text, Target::new(90).unwrap());
    /// assert_eq!((listing.lines.len(), findings.len()), (2, 0));
    /// assert_eq!(listing.lines[0].word, 0x000fea0003800000_000000000000794d);
    /// ```
    pub fn parse(text: &str, target: Target) -> (Listing, Vec<Finding>) {
        let mut reader = Reader { text, target, listing: Listing::default(), findings: Vec::new(), open: None };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            reader.line(line, start);
            start += line.len();
        }
        reader.close();
        (reader.listing, reader.findings)
    }
}

/// The words of a listing.
///
/// # Errors
/// Everything that has no word.
pub fn asm_file(text: &str, target: Target) -> Result<Vec<u128>, Vec<Finding>> {
    let (listing, findings) = Listing::parse(text, target);
    if has_errors(&findings) { Err(findings) } else { Ok(listing.lines.iter().map(|line| line.word).collect()) }
}

/// The target that the headings of a listing name, where its words have 128 bits: `code for sm_90`, `.target sm_90`.
pub fn listing_target(text: &str) -> Option<Target> {
    headed(text)
}

struct Reader<'a> {
    text: &'a str,
    target: Target,
    listing: Listing,
    findings: Vec<Finding>,
    /// A line of code whose word may go on in the next line.
    open: Option<(usize, usize)>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, start: usize) {
        let trimmed = line.trim();
        let is_comment = trimmed.starts_with("/*") && trimmed.find("*/") == Some(trimmed.len() - 2);
        if let (true, Some((from, _))) = (is_comment, self.open) {
            self.open = Some((from, start + line.trim_end().len()));
            return self.close();
        }
        if trimmed.is_empty() || is_comment || trimmed.starts_with("//") || trimmed.starts_with('#') {
            return;
        }
        self.close();
        match heading(trimmed) {
            Some(Some(kernel)) => self.listing.kernels.push((kernel.to_owned(), self.listing.lines.len())),
            Some(None) => {}
            None => self.open = Some((start, start + line.trim_end().len())),
        }
    }

    /// Reads the line of code that has no more lines.
    fn close(&mut self) {
        let Some((start, end)) = self.open.take() else { return };
        let code = &self.text[start..end];
        match parse_line(code, self.target) {
            Ok(line) => {
                self.listing.lines.push(CodeLine { word: line.word, span: (start, end) });
                self.findings.extend(line.rounded(code).map(|note| moved(note, start)));
            }
            Err(finding) => match other(code) {
                // A word of the family must read as such.
                Some(word) if finding.code == rules::MNEMONIC.code || code.contains(".dword") => {
                    self.listing.lines.push(CodeLine { word, span: (start, end) });
                }
                _ => self.findings.push(moved(finding, start)),
            },
        }
    }
}

/// A finding about a line that begins at a byte of the text.
fn moved(mut finding: Finding, by: usize) -> Finding {
    if let Location::Span { start, end } = &mut finding.location {
        (*start, *end) = (*start + by, *end + by);
    }
    finding
}

/// The word of a line that is not of the family: `.dword LOW, HIGH`, or two comments behind a statement.
fn other(code: &str) -> Option<u128> {
    let joined = |[low, high]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
    let statement = code.split(';').next().unwrap_or_default();
    if let Some((_, halves)) = statement.split_once(".dword") {
        let half = |text: &str| u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
        let (low, high) = halves.split("/*").next()?.split_once(',')?;
        return Some(joined([half(low)?, half(high)?]));
    }
    let mut words = Vec::new();
    let mut cursor = Cursor::new(code);
    while let Some(ahead) = code[cursor.at..].find("/*") {
        cursor.at += ahead;
        words.extend(cursor.comment().ok()?);
    }
    words.try_into().ok().map(joined)
}

/// Every finding of a listing, and how many of its instructions were not checked: those outside of the float family.
pub fn check(text: &str, target: Target) -> (Vec<Finding>, usize) {
    let (listing, mut findings) = Listing::parse(text, target);
    let read = findings.len();
    findings.retain(|finding| match finding.location {
        Location::Span { start, end } => finding.code != rules::MNEMONIC.code || !is_mnemonic(&text[start..end]),
        _ => true,
    });
    let others = listing.lines.iter().filter(|line| decode(line.word, target).is_err()).count();
    let unchecked = read - findings.len() + others;
    for line in &listing.lines {
        let location = Location::Span { start: line.span.0, end: line.span.1 };
        word_findings(line.word, target, location, &mut findings);
    }
    findings.sort_by_key(|finding| match finding.location {
        Location::Span { start, .. } => start,
        Location::Word(_) | Location::Whole => 0,
    });
    (findings, unchecked)
}

/// Violations in a word; one of another instruction has none that are known.
pub(super) fn word_findings(word: u128, target: Target, location: Location, findings: &mut Vec<Finding>) {
    let Ok(instruction) = decode(word, target) else { return };
    if let Some(text) = instruction.illegal_modifier() {
        findings.push(
            rules::INVALID_FMZ.finding(location, format!("`{text}` is a value of the encoding that means nothing")),
        );
    }
    if instruction.guard().predicate == crate::PT && instruction.guard().negated {
        findings.push(rules::NEVER.finding(location, "`@!PT` never holds: the instruction never runs"));
    }
}
