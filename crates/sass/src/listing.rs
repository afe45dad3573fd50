//! From a text file to its lines of code: listings of nvdisasm and cuobjdump, and text in any of the scheduling
//! styles, mixed as they come.

use std::collections::HashMap;
use std::str::FromStr;

use roundonce_isa::{Finding, Location};

use crate::decode::decode_for;
use crate::generation::Generation;
use crate::lookup;
use crate::parse::{Cursor, Span, Statement};
use crate::rules;
use crate::schedule::{Control, PAIR, Slot};
use crate::schedule_text::{Scheduling, in_seed_style, read_envytools};
use crate::{Style, fields};

/// What a line of code is.
#[expect(clippy::large_enum_variant, reason = "nearly every line is a statement")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// An instruction of the rows.
    Statement(Statement),
    /// A word that is known but not read: another instruction, with its hex beside it, or `.dword`.
    Word(u64),
}

/// One line of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its content.
    pub code: Code,
    /// Where it is: the bytes of the text, or the word of the binary.
    pub location: Location,
    /// Its scheduling, where more than `.reuse` is written, in whatever style; what is not written is
    /// [`Slot::CAUTIOUS`]'s, or a pair's.
    pub slot: Option<Slot>,
    /// `{`: the next instruction issues in the same cycle.
    pub pairs: bool,
    /// The word that a comment beside it gives.
    pub word: Option<u64>,
    /// Bit 63 of the control word before it.
    pub control_top: bool,
}

/// A parsed text.
///
/// ```
/// let (listing, findings) = roundonce_sass::Listing::parse("FFMA R0, R1, R2, R3;\n@P0 FFMA R0, R0, R2, 1.5;");
/// assert_eq!((listing.lines.len(), findings.len()), (1, 1));
/// assert_eq!(findings[0].code, "SASS0006");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The code, in order.
    pub lines: Vec<Line>,
    /// The kernels: each name with the number of its first line of code.
    pub kernels: Vec<(String, usize)>,
    /// The labels: each name with the number of the line of code behind it.
    pub labels: Vec<(String, usize)>,
    /// The GPUs whose instructions they are.
    pub generation: Generation,
}

/// What a line of cuobjdump or nvdisasm begins with that is no code.
static HEADERS: &[&str] = &[
    "Function",
    "code for",
    "code version",
    "Fatbin",
    "====",
    "arch =",
    "host =",
    "compile_size",
    "producer =",
    "....",
    "identifier:",
];

/// What a line that is no code says: the kernel that begins there, if one does. `None` for a line of code.
pub(crate) fn heading(line: &str) -> Option<Option<&str>> {
    if line.starts_with(".dword") {
        return None;
    }
    let label = line.strip_suffix(':').filter(|label| !label.contains([' ', '\t']));
    let function = line.strip_prefix("Function").and_then(|rest| rest.trim_start().strip_prefix(':'));
    let kernel = match (label, function) {
        (Some(label), _) => label.strip_prefix(".text."),
        (None, Some(name)) => Some(name.trim()),
        (None, None) => None,
    };
    let known = label.is_some() || line.starts_with('.') || HEADERS.iter().any(|known| line.starts_with(known));
    known.then_some(kernel)
}

/// The target that the headings name: `code for sm_90`, `.target sm_90`, `.headerflags @"EF_CUDA_SM90"`.
pub(crate) fn headed<T: FromStr>(text: &str) -> Option<T> {
    let named = |line: &str| {
        let line = line.trim();
        if let Some(flags) = line.strip_prefix(".headerflags") {
            let digits = flags.split_once("EF_CUDA_SM")?.1;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            return format!("sm_{}", &digits[..end]).parse().ok();
        }
        let line = line
            .strip_prefix("code for")
            .or_else(|| line.strip_prefix("arch ="))
            .or_else(|| line.strip_prefix(".target"))?;
        line.split([',', ' ', '\t']).find(|word| !word.is_empty())?.parse().ok()
    };
    text.lines().find_map(named)
}

/// The address of the instruction behind one.
fn next_address(address: u64) -> u64 {
    address + if address % 32 == 24 { 16 } else { 8 }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    listing: Listing,
    findings: Vec<Finding>,
    /// Slots of a control word whose instructions are still to come.
    control: Vec<Slot>,
    control_top: bool,
    /// `{` was read and its instruction was not.
    opened: bool,
    /// Instructions still to come before `}`.
    inside: u32,
    line_start: bool,
    /// Within a section that holds no code.
    in_data: bool,
    /// A pair was closed and the word of its second instruction is still to come: on the next line, or behind the
    /// label there.
    word_of_pair: bool,
    /// A line that has no meaning without the word that may follow, and its finding.
    unresolved: Option<(usize, Finding)>,
}

impl Listing {
    /// The address of each line within its kernel, in bytes.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        let mut starts = self.kernels.iter().map(|(_, first)| *first).peekable();
        let mut in_kernel = 0;
        let address = |index: usize| {
            while starts.next_if(|start| *start <= index).is_some_and(|start| start == index) {
                in_kernel = 0;
            }
            in_kernel += 1;
            8 + 32 * ((in_kernel - 1) / 3) + 8 * ((in_kernel - 1) % 3)
        };
        (0..self.lines.len()).map(address).collect()
    }

    /// The address of each label; one at the end is where the next line would be.
    pub(crate) fn label_addresses(&self, addresses: &[u64]) -> HashMap<&str, i64> {
        let end = addresses.last().map_or(8, |last| next_address(*last));
        let address = |line: usize| addresses.get(line).copied().unwrap_or(end) as i64;
        self.labels.iter().map(|(name, line)| (name.as_str(), address(*line))).collect()
    }

    /// Reads a text; what cannot be read is left out and becomes a finding.
    pub fn parse(text: &str) -> (Listing, Vec<Finding>) {
        Listing::parse_for(text, None)
    }

    /// The same of the GPUs of one generation; without one, of those that the headings name, or of the newest.
    pub fn parse_for(text: &str, generation: Option<Generation>) -> (Listing, Vec<Finding>) {
        let generation = generation.or_else(|| headed(text)).unwrap_or_default();
        let mut reader = Reader {
            cursor: Cursor::of(text, generation),
            listing: Listing { generation, ..Listing::default() },
            findings: Vec::new(),
            control: Vec::new(),
            control_top: false,
            opened: false,
            inside: 0,
            line_start: true,
            in_data: false,
            word_of_pair: false,
            unresolved: None,
        };
        reader.all();
        reader.drop_unresolved();
        (reader.listing, reader.findings)
    }
}

impl Reader<'_> {
    fn all(&mut self) {
        while self.cursor.at < self.cursor.text.len() {
            match self.cursor.peek() {
                b'\n' => {
                    self.cursor.at += 1;
                    self.line_start = true;
                }
                b' ' | b'\t' | b'\r' | b';' => self.cursor.at += 1,
                b'/' if self.cursor.starts_with("/*") => self.comment(),
                b'/' if self.cursor.starts_with("//") => self.skip_line(),
                b'#' => self.skip_line(),
                b'{' => {
                    if self.opened || self.inside > 0 {
                        self.fault(rules::PAIR.at((self.cursor.at, self.cursor.at + 1), "a pair within a pair"));
                    }
                    self.opened = true;
                    self.cursor.at += 1;
                }
                b'}' => {
                    if self.inside != 1 {
                        let message = "a pair is two instructions: `{ A; B }`";
                        self.fault(rules::PAIR.at((self.cursor.at, self.cursor.at + 1), message));
                    }
                    self.inside = 0;
                    self.word_of_pair = true;
                    self.cursor.at += 1;
                }
                _ if self.line_start && self.header() => {}
                _ => self.code(),
            }
        }
        if self.inside > 0 || self.opened {
            self.fault(rules::PAIR.at((self.cursor.at, self.cursor.at), "`{` without its `}`"));
        }
    }

    fn fault(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn rest_of_line(&self) -> &str {
        let rest = self.cursor.text.get(self.cursor.at..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default().trim_end()
    }

    fn skip_line(&mut self) {
        while self.cursor.at < self.cursor.text.len() && self.cursor.peek() != b'\n' {
            self.cursor.at += 1;
        }
    }

    /// `(*"BRANCH_TARGETS .L_x_1"*)`: where nvdisasm says that an instruction may lead.
    fn skip_note(&mut self) {
        if self.cursor.starts_with("(*") {
            let length = self.rest_of_line().find("*)").map_or(0, |at| at + 2);
            self.cursor.at += length;
            self.cursor.skip_blanks();
        }
    }

    /// `/* … */`: a word of 16 hex digits belongs to the instruction before it or is a control word.
    fn comment(&mut self) {
        let start = self.cursor.at;
        let word = match self.cursor.comment() {
            Ok(Some(word)) => word,
            Ok(None) => return,
            Err(finding) => return self.fault(finding),
        };
        let wanting = self.listing.lines.last().is_some_and(|line| line.word.is_none());
        if wanting && (!self.line_start || core::mem::take(&mut self.word_of_pair)) {
            self.beside(word, start);
        } else {
            self.control = Control(word).slots().to_vec();
            self.control_top = Control(word).top();
        }
    }

    /// The word that a comment gives for the last line of code.
    fn beside(&mut self, word: u64, start: usize) {
        let index = self.listing.lines.len() - 1;
        let line = &mut self.listing.lines[index];
        line.word = Some(word);
        if self.unresolved.as_ref().is_some_and(|(line, _)| *line == index) {
            line.code = Code::Word(word);
            self.unresolved = None;
            return;
        }
        let Code::Statement(statement) = &line.code else { return };
        if let Some(differs) = word_differs(statement, word, self.listing.generation) {
            self.fault(rules::WORD_DIFFERS.at((start, self.cursor.at), differs));
        }
    }

    /// An unreadable line stays unreadable once the next line of code begins.
    fn drop_unresolved(&mut self) {
        if let Some((index, finding)) = self.unresolved.take() {
            self.findings.push(finding);
            self.listing.lines.remove(index);
            // It was the last line: what begins behind it is last too.
            for named in [&mut self.listing.kernels, &mut self.listing.labels] {
                named.iter_mut().rev().take_while(|(_, first)| *first > index).for_each(|(_, first)| *first -= 1);
            }
        }
    }

    /// Labels, directives and the disassemblers' headings.
    fn header(&mut self) -> bool {
        let Some(kernel) = heading(self.rest_of_line()) else { return false };
        let kernel = kernel.map(str::to_owned);
        let label = self.rest_of_line().strip_suffix(':').map(str::to_owned);
        let section = self.rest_of_line().strip_prefix(".section");
        if let Some(section) = section.filter(|rest| rest.starts_with(['\t', ' '])) {
            self.in_data = !section.trim_start().starts_with(".text");
        }
        if let Some(kernel) = kernel {
            self.drop_unresolved();
            self.listing.kernels.push((kernel, self.listing.lines.len()));
        } else if let Some(label) = label {
            self.listing.labels.push((label, self.listing.lines.len()));
        }
        self.skip_line();
        true
    }

    fn code(&mut self) {
        self.line_start = false;
        self.word_of_pair = false;
        if self.in_data {
            return self.skip_line();
        }
        if self.cursor.starts_with("sched") {
            self.sched();
            return;
        }
        self.drop_unresolved();
        let start = self.cursor.at;
        let prefix = match self.cursor.schedule_prefix() {
            Ok(prefix) => prefix,
            Err(finding) => return self.skip_erroneous(finding),
        };
        self.cursor.skip_blanks();
        let statement_start = self.cursor.at;
        let (code, scheduling, end) = if self.cursor.starts_with(".dword") {
            match self.dword(prefix) {
                Ok((word, scheduling)) => (Ok(Code::Word(word)), scheduling, self.cursor.at),
                Err(finding) => return self.skip_erroneous(finding),
            }
        } else {
            let mut statement = Statement::blank();
            match self.cursor.statement(prefix, &mut statement) {
                Ok(()) => (Ok(Code::Statement(statement)), statement.scheduling, statement.span.1),
                Err(finding) if self.may_be_another(statement_start) => (Err(finding), prefix, self.cursor.at),
                Err(finding) => return self.skip_erroneous(finding),
            }
        };
        if code.is_err() {
            self.skip_statement();
        }
        self.cursor.skip_blanks();
        self.skip_note();
        if !matches!(self.cursor.peek(), b';' | b'}' | b'\n' | b'/' | b'#' | 0) {
            let finding = rules::SYNTAX.at(self.cursor.character(), "expected `;` at the end of the statement");
            return self.skip_erroneous(finding);
        }
        let (slot, pairs) = self.schedule(scheduling, (start, end));
        let control_top = core::mem::take(&mut self.control_top);
        let location = Location::Span { start, end };
        let line = Line { code: Code::Word(0), location, slot, pairs, word: None, control_top };
        match code {
            Ok(code) => self.listing.lines.push(Line { code, ..line }),
            Err(finding) => {
                self.unresolved = Some((self.listing.lines.len(), finding));
                self.listing.lines.push(line);
            }
        }
    }

    /// Joins the scheduling of the control word, of the statement and of the braces.
    fn schedule(&mut self, own: Scheduling, span: Span) -> (Option<Slot>, bool) {
        let from_control = (!self.control.is_empty()).then(|| self.control.remove(0));
        let slot = match from_control {
            Some(control) => {
                let both = own.over(control);
                if both != control {
                    let [control, both] = [control, both].map(in_seed_style);
                    let message = format!("the control word is `{control}`, and with what stands here `{both}`");
                    self.fault(rules::SCHEDULE.at(span, message));
                }
                Some(both)
            }
            None => own.is_given().then(|| own.over(slowest(self.opened))),
        };
        let opened = core::mem::take(&mut self.opened);
        self.inside = if opened { 2 } else { self.inside.saturating_sub(1) };
        // `{` counts its first instruction; `}` expects the second to be the last one counted.
        let pairs = opened || slot.is_some_and(Slot::pairs);
        let slot = match slot {
            Some(slot) if opened && !slot.pairs() => {
                let message =
                    format!("`{{` pairs the instruction with the next, but its scheduling is {}", slot.name());
                self.fault(rules::PAIR.at(span, message));
                Some(slot.with(fields::SCHEDULE, PAIR))
            }
            slot => slot,
        };
        (slot, pairs)
    }

    /// `sched (st 0x1) (st 0x1) (st 0x1)`.
    fn sched(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += "sched".len();
        let line = self.rest_of_line();
        let text = line.split(['/', '#', ';']).next().unwrap_or_default();
        let (slots, length) = (read_envytools(text), text.len());
        self.cursor.at += length;
        match slots {
            Some(slots) => self.control = slots.to_vec(),
            None => {
                let finding = rules::SCHEDULE
                    .at((start, self.cursor.at), "this is not envytools' `sched (st 0x1) (st 0x1) (st 0x1)`");
                self.fault(finding);
            }
        }
    }

    fn dword(&mut self, prefix: Scheduling) -> Result<(u64, Scheduling), Finding> {
        let start = self.cursor.at;
        self.cursor.at += ".dword".len();
        self.cursor.skip_blanks();
        let text = self.cursor.take_while(|byte| byte.is_ascii_alphanumeric());
        let word = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && digits.len() <= 16);
        let word = word.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let Some(word) = word else {
            let message = format!("`{text}` is not a word: expected 0x and up to 16 hex digits");
            return Err(rules::SYNTAX.at((start, self.cursor.at), message));
        };
        Ok((word, self.cursor.schedule_suffix(prefix)?))
    }

    /// Whether the statement's mnemonic has no encoding here: a word beside it may say what it is.
    fn may_be_another(&self, start: usize) -> bool {
        let text = self.cursor.text.get(start..).unwrap_or_default();
        let text = match text.strip_prefix('@') {
            Some(guarded) => guarded.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start()),
            None => text,
        };
        let mnemonic = text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        text.starts_with(|c: char| c.is_ascii_uppercase())
            && lookup::mnemonic(mnemonic, self.listing.generation).is_none()
    }

    /// On to the end of the statement. Braces within it are an operand: `DEPBAR {0}`.
    fn skip_statement(&mut self) {
        let mut inside = false;
        while self.cursor.at < self.cursor.text.len() && !matches!(self.cursor.peek(), b';' | b'\n') {
            match self.cursor.peek() {
                b'{' => inside = true,
                b'}' if inside => inside = false,
                b'}' => break,
                _ if self.cursor.starts_with("/*") || self.cursor.starts_with("//") => break,
                _ => {}
            }
            self.cursor.at += 1;
        }
    }

    fn skip_erroneous(&mut self, finding: Finding) {
        self.fault(finding);
        self.opened = false;
        self.inside = self.inside.saturating_sub(1);
        if !self.control.is_empty() {
            self.control.remove(0);
        }
        self.skip_statement();
        // Whatever stopped it is past.
        if matches!(self.cursor.peek(), b';') {
            self.cursor.at += 1;
        }
    }
}

/// How the word beside an instruction differs from it: `None` if the word prints as the instruction does.
/// Bits that mean nothing and NaN payloads, which the disassembler does not print, are the word's own.
pub(crate) fn word_differs(statement: &Statement, word: u64, generation: Generation) -> Option<String> {
    let print = |instruction: &crate::Instruction| {
        let mut text = String::new();
        instruction.write(Style::Nvdisasm, None, &mut text);
        text
    };
    let mut own = statement.word().ok()?;
    // Where the two stand, the listing says; a target is read in the word.
    if statement.target.is_some()
        && let Some(bits) = statement.target_field()
    {
        own = own & !bits.mask() | word & bits.mask();
    }
    let canonical = decode_for(own, generation).ok()?;
    match decode_for(word, generation) {
        Err(error) => Some(error.to_string()),
        Ok(beside) if print(&beside) == print(&canonical) => None,
        Ok(beside) => Some(format!("the word beside is `{}`, not `{}`", print(&beside), print(&canonical))),
    }
}

/// The slot of which nothing is written: the longest stall, or that of a pair.
const fn slowest(pairs: bool) -> Slot {
    if pairs { Slot::CAUTIOUS.with(fields::SCHEDULE, PAIR) } else { Slot::CAUTIOUS }
}

impl Line {
    /// The slot of a line without scheduling: the longest stall or that of a pair, and its `.reuse`.
    pub(crate) fn unscheduled(&self) -> Slot {
        match self.code {
            Code::Statement(statement) => statement.scheduling.over(slowest(self.pairs)),
            Code::Word(_) => slowest(self.pairs),
        }
    }
    /// The line's word.
    ///
    /// # Errors
    /// If its instruction has none.
    pub(crate) fn to_word(self) -> Result<u64, Finding> {
        let statement = match self.code {
            Code::Word(word) => return Ok(word),
            Code::Statement(statement) => statement,
        };
        match (statement.word(), self.word) {
            // It prints the same, and knows the bits that the text does not show.
            (Ok(_), Some(word)) => Ok(word),
            (Ok(word), None) => Ok(word),
            (Err(error), _) => Err(rules::encode_finding(&statement, error)),
        }
    }
    /// The line's word at an address.
    ///
    /// # Errors
    /// If its instruction has none there.
    pub(crate) fn to_word_at(
        self,
        address: u64,
        label: impl FnOnce((usize, usize)) -> Option<i64>,
    ) -> Result<u64, Finding> {
        let word = self.to_word()?;
        let Code::Statement(statement) = self.code else { return Ok(word) };
        if self.word.is_some() {
            return Ok(word);
        }
        statement.placed(word, address, label)
    }
}
