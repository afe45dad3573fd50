//! What an editor shows of a text: its tokens, the names that it declares, and where they are used.

use crate::{SmTarget, Version};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenClass {
    /// A comment.
    Comment,
    /// What is for the assembler: `.reg`, `.loc`.
    Directive,
    /// An instruction's first word.
    Opcode,
    /// A word that changes it: `.rn`.
    Modifier,
    /// A type: `.f32`.
    Type,
    /// A register, or a value that an instruction names.
    Register,
    /// A register that the machine sets: `%tid`.
    Special,
    /// A variable in memory.
    Variable,
    /// A parameter of a function.
    Parameter,
    /// A kernel or a function.
    Function,
    /// A place that a jump leads to.
    Label,
    /// A word of a fixed set: `Shader`, `sm_90`.
    Enumerant,
    /// A number.
    Number,
    /// Text in quotes.
    Text,
    /// Punctuation, and what has no meaning that is known.
    Mark,
}

/// A token: bytes `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it is.
    pub class: TokenClass,
}

/// A name that a text declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    /// As written; of a range of registers the common prefix.
    pub name: String,
    /// What it is the name of.
    pub class: TokenClass,
    /// The bytes of the name.
    pub span: (usize, usize),
    /// The bytes of the whole declaration.
    pub whole: (usize, usize),
    /// The bytes in which the name is known.
    pub scope: (usize, usize),
    /// Whether it may guard an instruction.
    pub is_predicate: bool,
}

/// A place where a declared name stands, that of its declaration among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The index of its declaration.
    pub declaration: usize,
    /// The register's number, where a declaration is of a range of them: 1 of `%f1` under `%f<4>`.
    pub number: Option<u32>,
}

/// The opcode of an instruction with its modifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spelled {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The instruction's last byte, plus one.
    pub instruction_end: usize,
    /// As the tables of forms write it: `fma.rn.f32`.
    pub spelling: String,
}

/// A text as an editor shows it. Every list is in the order of the text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outline {
    /// Its tokens, comments among them.
    pub tokens: Vec<Token>,
    /// The names that it declares.
    pub declarations: Vec<Declaration>,
    /// Where they stand.
    pub uses: Vec<Use>,
    /// Its instructions.
    pub spelled: Vec<Spelled>,
    /// The machine that it is for.
    pub sm: Option<SmTarget>,
    /// The language's version.
    pub version: Option<Version>,
}

/// The item that a byte is in or right behind, of items in order that do not overlap. Of two that meet there, the later.
fn at<T>(items: &[T], byte: usize, range: impl Fn(&T) -> (usize, usize)) -> Option<&T> {
    let behind = items.partition_point(|item| range(item).0 <= byte);
    items[..behind].last().filter(|item| byte <= range(item).1)
}

impl Outline {
    /// The token at a byte.
    pub fn token(&self, byte: usize) -> Option<&Token> {
        at(&self.tokens, byte, |token| (token.start, token.end))
    }

    /// The use of a name at a byte.
    pub fn used(&self, byte: usize) -> Option<&Use> {
        at(&self.uses, byte, |used| (used.start, used.end))
    }

    /// The uses of what is named at a byte. Of a range of registers those of the one register, with the range's declaration;
    /// at that declaration those of all of them.
    pub fn uses_at(&self, byte: usize) -> Option<impl Iterator<Item = &Use>> {
        let &Use { declaration, number, .. } = self.used(byte)?;
        let is_same = move |used: &&Use| {
            used.declaration == declaration && (number.is_none() || used.number.is_none() || used.number == number)
        };
        Some(self.uses.iter().filter(is_same))
    }

    /// The opcode with its modifiers at a byte.
    pub fn opcode(&self, byte: usize) -> Option<&Spelled> {
        at(&self.spelled, byte, |spelled| (spelled.start, spelled.end))
    }

    /// The instruction that a byte is in.
    pub fn instruction(&self, byte: usize) -> Option<&Spelled> {
        at(&self.spelled, byte, |spelled| (spelled.start, spelled.instruction_end))
    }

    /// What is left between the tokens is blanks and comments: adds the comments. `open` are the texts that begin one.
    pub fn add_comments(&mut self, text: &str, open: &[&str]) {
        let mut comments = Vec::new();
        let mut behind = 0;
        let ends = self.tokens.iter().map(|token| (token.start, token.end)).chain([(text.len(), text.len())]);
        for (start, end) in ends {
            let gap = text.get(behind..start).unwrap_or_default();
            let first = open.iter().filter_map(|mark| gap.find(mark)).min();
            if let Some(first) = first {
                let comment = gap[first..].trim_end();
                let start = behind + first;
                comments.push(Token { start, end: start + comment.len(), class: TokenClass::Comment });
            }
            behind = end.max(behind);
        }
        self.tokens.extend(comments);
        self.tokens.sort_by_key(|token| token.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_what_stands_between_tokens() {
        let text = "a // b\n/* c */ d // e";
        let token = |start, end, class| Token { start, end, class };
        let mut outline = Outline {
            tokens: vec![token(0, 1, TokenClass::Opcode), token(15, 16, TokenClass::Opcode)],
            ..Outline::default()
        };
        outline.add_comments(text, &["//", "/*"]);
        let comments: Vec<&str> = outline.tokens.iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(comments, ["a", "// b\n/* c */", "d", "// e"]);
    }

    #[test]
    fn a_byte_behind_a_token_is_at_it() {
        let token = |start, end| Token { start, end, class: TokenClass::Number };
        let outline = Outline { tokens: vec![token(2, 4), token(4, 6), token(9, 10)], ..Outline::default() };
        let found: Vec<Option<usize>> = (0..12).map(|byte| outline.token(byte).map(|token| token.start)).collect();
        let [none, first, second, third] = [None, Some(2), Some(4), Some(9)];
        assert_eq!(found, [none, none, first, first, second, second, second, none, none, third, third, none]);
    }
}
