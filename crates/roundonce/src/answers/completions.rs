//! The words that may stand at a place of a text.

use std::collections::HashSet;

use roundonce_isa::{Declaration, Outline, TokenClass, split_spelling};
use roundonce_ptx::matrix::{ROWS, matrix_gates};
use roundonce_ptx::{conversions, integer};

use super::TextLanguage;
use super::describe::{LONGEST, is_of};
use crate::{TABLES, ptx, sass, spirv};

/// A word that may stand at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Its place in the list: a modifier's in the manual's order.
    pub place: usize,
    /// The word; a modifier's without the dot that is already there.
    pub text: String,
    /// What it is for.
    pub detail: String,
    /// What it is.
    pub class: TokenClass,
}

/// The words that may stand at a byte of a text. What is written of the word is not compared: an editor filters.
///
/// ```
/// use roundonce::answers::{TextLanguage, completions};
/// let text = ".version 8.6\n.target sm_90\n.entry k () { .reg .f32 %f<4>; fma.rz. ";
/// let outline = TextLanguage::Ptx.outline(text);
/// let found = completions(TextLanguage::Ptx, text, text.len() - 1, &outline);
/// assert!(found.iter().any(|word| word.text == "ftz") && found.iter().all(|word| word.text != "rn"));
/// ```
pub fn completions(language: TextLanguage, text: &str, byte: usize, outline: &Outline) -> Vec<Completion> {
    let before = text.get(..byte).unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '%' | '$' | '+');
    let word = &before[before.trim_end_matches(is_word).len()..];
    let before = &before[..before.len() - word.len()];
    let inside = outline.token(byte).filter(|token| token.start < byte);
    let is_free = inside.is_some_and(|token| matches!(token.class, TokenClass::Comment | TokenClass::Text));
    if is_free || word.len() > LONGEST {
        return Vec::new();
    }
    let mut found = match word.rsplit_once('.') {
        Some(("", _)) if language == TextLanguage::Ptx => directives(),
        Some((written, _)) if !written.is_empty() && language != TextLanguage::Spirv => {
            modifiers(language, written, outline)
        }
        Some(_) if language != TextLanguage::Spirv => Vec::new(),
        _ if begins_guard(language, before) => predicates(text, byte, outline),
        _ if begins_statement(language, before) => opcodes(language, outline),
        _ => names(language, text, byte, word, outline),
    };
    found.sort_by(|one, other| (one.place, &one.text).cmp(&(other.place, &other.text)));
    // Of rows that have a word in different places the first.
    let mut seen = HashSet::new();
    found.retain(|word| seen.insert(word.text.clone()));
    found
}

/// What a text has behind the end of its last statement.
fn of_statement(language: TextLanguage, before: &str) -> &str {
    let ends: &[char] = match language {
        TextLanguage::Ptx => &[';', '{', '}', ':', '\n'],
        TextLanguage::Sass => &[';', '{', '}', '/', '\n'],
        TextLanguage::Spirv => &['\n', '='],
    };
    before[before.rfind(ends).map_or(0, |at| at + 1)..].trim()
}

/// Whether the predicate of a guard is to be named behind a text.
fn begins_guard(language: TextLanguage, before: &str) -> bool {
    language != TextLanguage::Spirv && matches!(of_statement(language, before), "@" | "@!")
}

/// Whether a statement begins behind a text, but for its guard.
fn begins_statement(language: TextLanguage, before: &str) -> bool {
    let behind = of_statement(language, before);
    let is_guard = || behind.starts_with('@') && !behind.contains(char::is_whitespace);
    behind.is_empty() || language != TextLanguage::Spirv && is_guard()
}

fn directives() -> Vec<Completion> {
    let word = |text: &str| Completion {
        place: 0,
        text: text.trim_start_matches('.').to_owned(),
        detail: String::new(),
        class: TokenClass::Directive,
    };
    ptx::directives().map(word).collect()
}

/// The modifiers that may stand behind what is written of a spelling.
fn modifiers(language: TextLanguage, written: &str, outline: &Outline) -> Vec<Completion> {
    let (mnemonic, words) = split_spelling(written);
    let offered = |(place, text): (usize, &str), detail: String| Completion {
        place,
        text: text.trim_start_matches('.').to_owned(),
        detail,
        class: TokenClass::Modifier,
    };
    let of_rows = TABLES.into_iter().flatten().filter(|row| is_of(language, row.language));
    let mut found: Vec<Completion> = Vec::new();
    let mut add = |next: Option<Vec<(usize, &'static str)>>, syntax: String| {
        found.extend(next.into_iter().flatten().map(|next| offered(next, syntax.clone())));
    };
    for row in of_rows.filter(|row| row.mnemonic == mnemonic && row.gate.holds(outline.sm, outline.version)) {
        add(row.next_modifiers(&words), row.syntax());
    }
    match language {
        TextLanguage::Ptx => {
            let rows = integer::FORMS.iter().chain(conversions::FORMS).filter(|row| row.mnemonic == mnemonic);
            for row in rows.filter(|row| row.gate.holds(outline.sm, outline.version)) {
                add(row.next_modifiers(&words), row.syntax());
            }
            add(Some(ptx::next_modifiers(mnemonic, &words, outline.sm, outline.version)), mnemonic.to_owned());
            found.extend(of_matrices(written, outline));
        }
        TextLanguage::Sass => {
            let is_newer = outline.sm.map(|sm| sm.number >= 70);
            let fitting = sass::next_modifiers(mnemonic, &words).into_iter();
            let fitting = fitting.filter(|(.., newer)| is_newer.is_none_or(|is_newer| is_newer == *newer));
            found.extend(fitting.map(|(place, text, _)| offered((place, text), mnemonic.to_owned())));
        }
        TextLanguage::Spirv => {}
    }
    found
}

/// The next modifiers of matrix multiply-adds, whose spellings are listed whole.
fn of_matrices(written: &str, outline: &Outline) -> Vec<Completion> {
    let families = ["mma", "wmma", "wgmma", "tcgen05"];
    if !families.contains(&split_spelling(written).0) {
        return Vec::new();
    }
    let spellings = ROWS.iter().flat_map(|row| row.spellings());
    let behind = spellings.filter_map(|spelling| {
        // What stands behind a space is of the operands.
        let named = spelling.split(' ').next()?;
        let text = named.strip_prefix(written)?.strip_prefix('.')?.split('.').next()?.to_owned();
        let mut gates = matrix_gates(named).into_iter();
        let is_there = gates.any(|gate| gate.holds(outline.sm, outline.version));
        is_there.then_some(Completion { place: 0, text, detail: spelling, class: TokenClass::Modifier })
    });
    behind.collect()
}

fn opcodes(language: TextLanguage, outline: &Outline) -> Vec<Completion> {
    let word = |text: String, detail: String| Completion { place: 0, text, detail, class: TokenClass::Opcode };
    match language {
        TextLanguage::Ptx => {
            let there = ptx::opcodes(outline.sm, outline.version);
            there.map(|(name, operands)| word(name.to_owned(), operands.to_owned())).collect()
        }
        TextLanguage::Sass => sass::mnemonics().map(|name| word(name.to_owned(), String::new())).collect(),
        TextLanguage::Spirv => spirv::opcodes().map(|(name, operands)| word(name, operands)).collect(),
    }
}

/// The declarations that are known at a byte.
fn known(byte: usize, outline: &Outline) -> impl Iterator<Item = &Declaration> {
    outline.declarations.iter().filter(move |known| known.scope.0 <= byte && byte <= known.scope.1)
}

fn name(text: &str, known: &Declaration) -> Completion {
    Completion {
        place: 1,
        text: known.name.clone(),
        detail: text.get(known.whole.0..known.whole.1).map(one_line).unwrap_or_default(),
        class: known.class,
    }
}

/// The predicates that are declared at a byte; a listing declares none.
fn predicates(text: &str, byte: usize, outline: &Outline) -> Vec<Completion> {
    known(byte, outline).filter(|known| known.is_predicate).map(|known| name(text, known)).collect()
}

/// The names that are known at a byte; in SPIR-V, where no id is being written, the words of the operand's set.
fn names(language: TextLanguage, text: &str, byte: usize, word: &str, outline: &Outline) -> Vec<Completion> {
    if language != TextLanguage::Spirv || word.starts_with('%') {
        return known(byte, outline).map(|known| name(text, known)).collect();
    }
    let words = spirv::enumerants_at(text, byte).into_iter().map(|text| Completion {
        place: 0,
        text,
        detail: String::new(),
        class: TokenClass::Enumerant,
    });
    words.collect()
}

/// Characters of a declaration that are shown.
const SHOWN: usize = 80;

/// The first line of a declaration.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(language: TextLanguage, text: &str) -> Vec<String> {
        let outline = language.outline(text);
        completions(language, text, text.len(), &outline).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn what_the_target_lacks_is_not_offered() {
        let offered = |version: &str, target: &str, written: &str| {
            let head = format!(".version {version}\n.target {target}\n.entry k () {{\n.reg .f32 %f<4>;\n");
            offered(TextLanguage::Ptx, &(head + written))
        };
        let has = |list: &[String], word: &str| list.iter().any(|offered| offered == word);
        for (version, target, written, word) in [
            ("8.0", "sm_90", "add.", "u16x2"),
            ("7.8", "sm_90", "ld.", "shared::cluster"),
            ("8.0", "sm_90a", "wgmma.mma_async.sync.aligned.", "m64n8k16"),
            ("8.8", "sm_120a", "mma.sync.aligned.", "kind::mxf4"),
            ("8.6", "sm_100a", "tcgen05.mma.cta_group::1.", "kind::f16"),
            ("8.0", "sm_90a", "", "wgmma"),
        ] {
            assert!(has(&offered(version, target, written), word), "{target}: {written}{word}");
            for older in [(version, "sm_70"), ("7.0", target)] {
                assert!(!has(&offered(older.0, older.1, written), word), "{older:?}: {written}{word}");
            }
        }
        for written in ["add.", "mul.lo.", "ld.", "mma.sync.aligned."] {
            assert!(!offered("7.0", "sm_80", written).is_empty(), "{written}");
        }
    }

    #[test]
    fn a_guard_is_completed_by_predicates_and_what_it_guards_by_opcodes() {
        let head = ".version 8.6\n.target sm_90\n.func g () { .reg .pred %q; }\n.entry k () {\n.reg .f32 %f<4>;\n\
            .reg .pred %p<2>, done;\n";
        for guard in ["@", "@%", "@%p", "@!", "@!%", "@! %p", "L: @%"] {
            assert_eq!(offered(TextLanguage::Ptx, &format!("{head}{guard}")), ["%p", "done"], "{guard}");
        }
        for guard in ["", "@%p1 ", "@%p1 fm", "@!%p1 "] {
            let offered = offered(TextLanguage::Ptx, &format!("{head}{guard}"));
            assert!(offered.len() > 100 && offered.iter().any(|word| word == "fma"), "{guard}: {offered:?}");
        }
        assert_eq!(offered(TextLanguage::Sass, "@!P"), [""; 0]);
        assert!(offered(TextLanguage::Sass, "@P0 FF").iter().any(|word| word == "FFMA"));
    }
}
