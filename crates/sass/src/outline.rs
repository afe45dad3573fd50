//! What an editor shows of a listing: words by where they stand in a line, read by the parser's cursor, so that a line that
//! is no instruction yet has its colours too.

use std::collections::HashMap;

use roundonce_isa::{Declaration, Outline, SmTarget, Spelled, Token, TokenClass, Use};

use crate::listing::{headed, heading};
use crate::parse::Cursor;
use crate::{RowSlot, modern, rows};

/// The outline of a listing.
///
/// ```
/// use roundonce_isa::TokenClass;
/// let text = ".L_1:\n  @P0 FFMA.FTZ R0, R1, R2, 1.5 ;\n  BRA `(.L_1) ;";
/// let outline = roundonce_sass::outline(text);
/// assert_eq!(outline.spelled[0].spelling, "FFMA.FTZ");
/// assert_eq!(outline.declarations[outline.used(text.len() - 4).unwrap().declaration].name, ".L_1");
/// assert_eq!(outline.token(text.find("1.5").unwrap()).unwrap().class, TokenClass::Number);
/// ```
pub fn outline(text: &str) -> Outline {
    let outline = Outline { sm: headed::<SmTarget>(text), ..Outline::default() };
    let mut scan = Scan { cursor: Cursor::new(text), outline, names: HashMap::new(), longest: 0 };
    scan.declarations();
    scan.lines();
    scan.outline
}

/// The name that a heading gives, where it begins in the line, and what it is the name of.
fn named(line: &str) -> Option<(usize, &str, TokenClass)> {
    match (heading(line)?, line.strip_suffix(':')) {
        (Some(kernel), _) => Some((line.rfind(kernel)?, kernel, TokenClass::Function)),
        (None, Some(label)) => Some((0, label, TokenClass::Label)),
        (None, None) => None,
    }
}

struct Scan<'t> {
    cursor: Cursor<'t>,
    outline: Outline,
    /// Declarations by name.
    names: HashMap<&'t str, usize>,
    /// Bytes of the longest of their names.
    longest: usize,
}

/// The bytes of labels: `.L_x_1`, `$name`.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

impl<'t> Scan<'t> {
    /// A label may be used above its line.
    fn declarations(&mut self) {
        let text = self.cursor.text;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let blanks = line.len() - line.trim_start().len();
            if let Some((at, name, class)) = named(line.trim()) {
                let first = start + blanks + at;
                let span = (first, first + name.len());
                let whole = (start + blanks, start + line.trim_end().len());
                self.names.insert(name, self.outline.declarations.len());
                self.longest = self.longest.max(name.len());
                let name = name.to_owned();
                let scope = (0, text.len());
                self.outline.declarations.push(Declaration { name, class, span, whole, scope, is_predicate: false });
            }
            start += line.len();
        }
    }

    fn token(&mut self, start: usize, class: TokenClass) {
        if self.cursor.at > start {
            self.outline.tokens.push(Token { start, end: self.cursor.at, class });
        }
    }

    /// Steps over one character.
    fn step(&mut self) {
        let rest = self.cursor.text.get(self.cursor.at..).unwrap_or_default();
        self.cursor.at += rest.chars().next().map_or(1, char::len_utf8);
    }

    fn rest_of_line(&self) -> &'t str {
        let rest = self.cursor.text.get(self.cursor.at..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default().trim_end()
    }

    fn skip_line(&mut self) {
        self.cursor.at += self.rest_of_line().len();
    }

    fn lines(&mut self) {
        let mut line_start = true;
        while self.cursor.at < self.cursor.text.len() {
            let start = self.cursor.at;
            match self.cursor.peek() {
                b'\n' => {
                    self.cursor.at += 1;
                    line_start = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.cursor.at += 1;
                    continue;
                }
                _ if self.comment() => continue,
                b';' | b'{' | b'}' => {
                    self.cursor.at += 1;
                    self.token(start, TokenClass::Mark);
                }
                _ if line_start && heading(self.rest_of_line()).is_some() => self.heading(),
                _ => self.statement(),
            }
            line_start = false;
        }
    }

    fn comment(&mut self) -> bool {
        let start = self.cursor.at;
        if self.cursor.starts_with("/*") {
            // One without its end takes the rest.
            let _ = self.cursor.comment();
        } else if self.cursor.starts_with("//") || self.cursor.peek() == b'#' {
            self.skip_line();
        } else {
            return false;
        }
        self.token(start, TokenClass::Comment);
        true
    }

    fn heading(&mut self) {
        let start = self.cursor.at;
        let line = self.rest_of_line();
        match named(line).and_then(|(at, name, _)| Some((start + at, name, *self.names.get(name)?))) {
            Some((first, name, declaration)) => {
                self.cursor.at = first;
                self.token(start, TokenClass::Directive);
                self.cursor.at += name.len();
                self.name(first, declaration);
                self.skip_line();
            }
            None => {
                self.cursor.take_while(|byte| !byte.is_ascii_whitespace());
                self.token(start, TokenClass::Directive);
                self.skip_line();
            }
        }
    }

    /// A name that was read.
    fn name(&mut self, start: usize, declaration: usize) {
        self.outline.uses.push(Use { start, end: self.cursor.at, declaration, number: None });
        self.token(start, self.outline.declarations[declaration].class);
    }

    fn statement(&mut self) {
        let start = self.cursor.at;
        match self.cursor.schedule_prefix() {
            Ok(scheduling) if scheduling.is_given() => self.token(start, TokenClass::Modifier),
            _ => self.cursor.at = start,
        }
        self.cursor.skip_blanks();
        let guard = self.cursor.at;
        if self.cursor.eat(b'@') {
            self.cursor.eat(b'!');
            self.cursor.take_word();
            self.token(guard, TokenClass::Register);
            self.cursor.skip_blanks();
        }
        let start = self.cursor.at;
        let mnemonic = self.cursor.take_word();
        if !mnemonic.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.token(start, TokenClass::Directive);
            return self.operands();
        }
        self.token(start, TokenClass::Opcode);
        while self.cursor.peek() == b'.' {
            let dot = self.cursor.at;
            self.cursor.at += 1;
            self.cursor.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?'));
            self.token(dot, TokenClass::Modifier);
        }
        let end = self.cursor.at;
        let spelling = self.cursor.text.get(start..end).unwrap_or_default().to_owned();
        self.operands();
        let instruction_end = self.cursor.at;
        self.outline.spelled.push(Spelled { start, end, instruction_end, spelling });
    }

    /// To the end of the statement. Braces within it are an operand: `DEPBAR {0}`.
    fn operands(&mut self) {
        let mut inside = false;
        while self.cursor.at < self.cursor.text.len() {
            let start = self.cursor.at;
            match self.cursor.peek() {
                b';' | b'\n' => return,
                b'}' if !inside => return,
                b' ' | b'\t' | b'\r' => self.cursor.at += 1,
                _ if self.comment() => {}
                b'0'..=b'9' => self.number(),
                b'?' | b'&' => {
                    self.cursor.at += 1;
                    self.cursor.take_word();
                    self.token(start, TokenClass::Modifier);
                }
                byte if is_name(byte) => self.word(),
                byte => {
                    inside = byte == b'{' || inside && byte != b'}';
                    self.step();
                    self.token(start, TokenClass::Mark);
                }
            }
        }
    }

    fn number(&mut self) {
        let start = self.cursor.at;
        loop {
            let piece = self.cursor.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
            let is_hex = piece.starts_with("0x") && !piece.contains('p');
            let signed = matches!(self.cursor.peek(), b'+' | b'-') && self.cursor.ahead(1).is_ascii_digit();
            if !(signed && !is_hex && piece.ends_with(['e', 'E', 'p'])) {
                break;
            }
            self.cursor.at += 1;
        }
        self.token(start, TokenClass::Number);
    }

    fn word(&mut self) {
        let start = self.cursor.at;
        // No name is longer, so that a long run of words is not read again for each.
        let ahead = &self.cursor.text.as_bytes()[start..];
        let length = ahead.iter().take(self.longest + 1).take_while(|byte| is_name(**byte)).count();
        let name = self.cursor.text.get(start..start + length).unwrap_or_default();
        if let Some(&declaration) = self.names.get(name) {
            self.cursor.at += length;
            return self.name(start, declaration);
        }
        if self.cursor.eat(b'.') {
            self.cursor.take_word();
            return self.token(start, TokenClass::Modifier);
        }
        let word = self.cursor.take_word();
        if word.is_empty() {
            self.step();
        }
        self.token(start, class(word));
    }
}

/// What a word among the operands is.
fn class(word: &str) -> TokenClass {
    let numbered = |prefix: &str| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match word {
        "RZ" | "URZ" | "PT" | "UPT" | "CC" => TokenClass::Register,
        "INF" | "QNAN" | "SNAN" => TokenClass::Number,
        "c" | "cx" => TokenClass::Variable,
        _ if ["R", "UR", "P", "UP", "B", "SB"].into_iter().any(numbered) => TokenClass::Register,
        _ if word.starts_with("SR_") => TokenClass::Special,
        _ if word.is_empty() => TokenClass::Mark,
        _ => TokenClass::Enumerant,
    }
}

/// The mnemonics of every machine.
pub fn mnemonics() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = rows().map(|row| row.name).chain(modern::OPCODES.iter().map(|row| row.name)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

/// The operands of each row of a mnemonic of Maxwell and Pascal, in words.
pub fn operand_kinds(mnemonic: &str) -> Vec<String> {
    let mut kinds: Vec<String> = rows().filter(|row| row.name == mnemonic).map(|row| row.kinds()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The modifiers that a mnemonic takes beside some: each with its place, and whether the machines from sm_70 on have it.
pub fn next_modifiers(mnemonic: &str, written: &[&str]) -> Vec<(usize, &'static str, bool)> {
    let maxwell = rows().filter(|row| row.name == mnemonic).map(|row| (slots(row.modifiers), false));
    let newer = modern::OPCODES.iter().filter(|row| row.name == mnemonic);
    let newer = newer.map(|row| (row.modifiers.iter().map(|modifier| modifier.texts).collect(), true));
    let mut next: Vec<(usize, &'static str, bool)> = Vec::new();
    for (slots, is_newer) in maxwell.chain(newer) {
        let slots: Vec<&'static [&'static str]> = slots;
        let mut left = written.to_vec();
        let mut of_row = Vec::new();
        for (place, texts) in slots.into_iter().enumerate() {
            match left.iter().position(|word| texts.contains(word)) {
                Some(at) => drop(left.remove(at)),
                None => of_row.extend(texts.iter().map(|text| (place, *text, is_newer))),
            }
        }
        if left.is_empty() {
            next.extend(of_row.into_iter().filter(|(_, text, _)| is_word(text)));
        }
    }
    next.sort_unstable();
    next.dedup();
    next
}

fn slots(modifiers: &'static [RowSlot]) -> Vec<&'static [&'static str]> {
    modifiers.iter().map(|slot| slot.texts).collect()
}

/// Whether a modifier's text is one to write: values that mean nothing have names too.
fn is_word(text: &str) -> bool {
    text.starts_with('.') && !text.contains(['?', '#']) && !text.contains("INVALID")
}
