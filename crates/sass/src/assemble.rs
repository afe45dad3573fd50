//! Text to words: a line, or a listing.

use roundonce_isa::{Finding, Location, Severity, has_errors};

use crate::generation::Generation;
use crate::listing::{Listing, word_differs};
use crate::parse::{Cursor, Statement};
use crate::rules;
use crate::schedule::{Control, Slot};

/// The instruction of one line of text: its statement, with or without an address comment before it, scheduling in
/// any style, a semicolon, and comments behind it.
///
/// # Errors
/// The first error, with its location in the line.
pub fn parse_line(line: &str) -> Result<Statement, Finding> {
    let mut statement = Statement::blank();
    parse_line_into(line, Generation::NEWEST, &mut statement)?;
    Ok(statement)
}

/// The same, written into `statement`; the result is the word that a comment behind it gives.
fn parse_line_into(line: &str, generation: Generation, statement: &mut Statement) -> Result<Option<u64>, Finding> {
    let mut cursor = Cursor::of(line, generation);
    skip_comments(&mut cursor)?;
    let prefix = cursor.schedule_prefix()?;
    cursor.statement(prefix, statement)?;
    if cursor.peek() == b';' {
        cursor.at += 1;
    }
    let word = skip_comments(&mut cursor)?;
    if cursor.at < line.len() {
        return Err(rules::SYNTAX.at(cursor.character(), "expected `;` or the end of the line behind the statement"));
    }
    Ok(word)
}

/// Blanks and comments; the last word of 16 hex digits among them.
fn skip_comments(cursor: &mut Cursor<'_>) -> Result<Option<u64>, Finding> {
    let mut word = None;
    loop {
        cursor.skip_blanks();
        if cursor.peek() == b'\n' {
            cursor.at += 1;
        } else if cursor.starts_with("//") || cursor.peek() == b'#' {
            cursor.at = cursor.text[cursor.at..].find('\n').map_or(cursor.text.len(), |length| cursor.at + length);
        } else if cursor.starts_with("/*") {
            word = cursor.comment()?.or(word);
        } else {
            return Ok(word);
        }
    }
}

/// The word of one line of text. Scheduling beside the instruction, `.reuse` included, belongs to the control word
/// and is read and left out. `.INVALIDFMZ3` has a word; [`check`](crate::check()) reports it.
///
/// # Errors
/// A finding with its location in the line: nothing is truncated or guessed.
///
/// ```
/// use roundonce_sass::asm_line;
/// assert_eq!(asm_line("FFMA.FTZ.RZ.SAT R0, R1, R2, R3;"), Ok(0x59bc018000270100));
/// assert_eq!(asm_line("FFMA R0, -R1, -R2, R3;"), Ok(0x5980018000270100));
/// assert_eq!(asm_line("FFMA32I R0, R1, 0x3d000000"), Ok(0x0c03d00000070100));
/// assert_eq!(asm_line("FFMA R0, R1, 0.1, R0;").unwrap_err().code, "SASS0007");
/// ```
pub fn asm_line(line: &str) -> Result<u64, Finding> {
    asm_line_for(line, Generation::NEWEST)
}

/// The same of the GPUs of one generation.
///
/// # Errors
/// As [`asm_line`], and where an instruction is one of later GPUs.
pub fn asm_line_for(line: &str, generation: Generation) -> Result<u64, Finding> {
    let mut statement = Statement::blank();
    let beside = parse_line_into(line, generation, &mut statement)?;
    let word = statement.word().map_err(|error| rules::encode_finding(&statement, error))?;
    // A line alone is at address 0.
    let word = statement.placed(word, 0, |_| None)?;
    match beside {
        None => Ok(word),
        Some(beside) => match word_differs(&statement, beside, generation) {
            None => Ok(beside),
            Some(message) => Err(rules::WORD_DIFFERS.at(statement.span, message)),
        },
    }
}

/// One instruction of a listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assembled {
    /// Its word.
    pub word: u64,
    /// Its scheduling; what was not written is [`Slot::CAUTIOUS`]'s.
    pub slot: Slot,
    /// Whether more of it than `.reuse` and braces was written.
    pub is_scheduled: bool,
}

/// A listing as code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assembly {
    /// The instructions, in order.
    pub code: Vec<Assembled>,
    /// The kernels: each name with the number of its first instruction.
    pub kernels: Vec<(String, usize)>,
    /// What is worth knowing. What [`check`](crate::check()) calls an error and still has a word, `.INVALIDFMZ3` or a
    /// barrier, is a warning.
    pub findings: Vec<Finding>,
    /// The GPUs whose instructions they are.
    pub generation: Generation,
    /// Bit 63 of the control word of each bundle that has one.
    control_tops: Vec<bool>,
    /// Where each instruction is in the text.
    pub(crate) locations: Vec<Location>,
    /// The labels, each with its address in its kernel.
    pub(crate) labels: Vec<(String, i64)>,
}

/// `NOP`: what pads the last bundle. Source: the ends of kernels that compilers wrote.
pub const NOP: u64 = 0x50b0_0000_0007_0f00;

impl Assembly {
    /// The instruction words alone.
    pub fn words(&self) -> Vec<u64> {
        self.code.iter().map(|instruction| instruction.word).collect()
    }

    /// Bundles of a control word and three instructions, the last one padded with [`NOP`].
    pub fn bundles(&self) -> Vec<[u64; 4]> {
        let starts: Vec<usize> = self.kernels.iter().map(|(_, first)| *first).filter(|first| *first > 0).collect();
        let mut bundles = Vec::new();
        let mut begin = 0;
        for end in starts.into_iter().chain([self.code.len()]) {
            for chunk in self.code.get(begin..end).unwrap_or_default().chunks(3) {
                let mut bundle = bundle(chunk);
                let top = u64::from(self.control_tops.get(bundles.len()).copied().unwrap_or(false));
                bundle[0] |= top << 63;
                bundles.push(bundle);
            }
            begin = end;
        }
        bundles
    }

    /// The bundles of some of the instructions as bytes.
    pub(crate) fn part(&self, first: usize, end: usize) -> Vec<u8> {
        let code = self.code.get(first..end).unwrap_or_default();
        code.chunks(3).flat_map(bundle).flat_map(u64::to_le_bytes).collect()
    }

    /// The bundles as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.bundles().iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// What is no error to an assembler, because the text has a word.
pub(crate) fn still_with_a_word(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.iter_mut().for_each(|finding| finding.severity = finding.severity.min(Severity::Warning));
    findings
}

/// A bundle of up to three instructions.
fn bundle(code: &[Assembled]) -> [u64; 4] {
    let mut slots = [Slot::PADDING; 3];
    let mut bundle = [NOP; 4];
    for (index, instruction) in code.iter().enumerate() {
        slots[index] = instruction.slot;
        bundle[index + 1] = instruction.word;
    }
    bundle[0] = Control::of(slots).0;
    bundle
}

/// The code of a listing.
///
/// # Errors
/// Everything that has no word, and everything that cannot be read.
///
/// ```
/// let text = "[B0-----:R-:W-:Y:S06] FFMA R0, R1.reuse, R2, R3;\nFFMA R1, R1, R2, R3 &req={1} ?W6G;";
/// let assembly = roundonce_sass::asm_file(text).unwrap();
/// assert_eq!(assembly.words(), [0x5980018000270100, 0x5980018000270101]);
/// assert_eq!(assembly.bundles()[0][0], 0x001f8002fcc20fe6);
/// ```
pub fn asm_file(text: &str) -> Result<Assembly, Vec<Finding>> {
    asm_file_for(text, None)
}

/// The same of the GPUs of one generation; without one, of those that the listing's headings name, or of the newest.
///
/// # Errors
/// As [`asm_file`], and where an instruction is one of later GPUs.
pub fn asm_file_for(text: &str, generation: Option<Generation>) -> Result<Assembly, Vec<Finding>> {
    let (listing, unreadable) = Listing::parse_for(text, generation);
    let mut code = Vec::with_capacity(listing.lines.len());
    let mut errors = unreadable;
    let addresses = listing.addresses();
    let labels = listing.label_addresses(&addresses);
    for (line, address) in listing.lines.iter().zip(&addresses) {
        match line.to_word_at(*address, |(start, end)| labels.get(text.get(start..end)?).copied()) {
            Ok(word) => {
                let slot = line.slot.unwrap_or_else(|| line.unscheduled());
                code.push(Assembled { word, slot, is_scheduled: line.slot.is_some() || line.pairs });
            }
            Err(finding) => errors.push(finding),
        }
    }
    if has_errors(&errors) {
        return Err(errors);
    }
    let control_tops = listing.lines.chunks(3).map(|bundle| bundle[0].control_top).collect();
    let findings = still_with_a_word(crate::check::listing_findings(text, &listing));
    let locations = listing.lines.iter().map(|line| line.location).collect();
    let labels = labels.into_iter().map(|(name, address)| (name.to_owned(), address)).collect();
    let Listing { kernels, generation, .. } = listing;
    Ok(Assembly { code, kernels, findings, generation, control_tops, locations, labels })
}
