//! What an editor shows of a module's text, and the words that may stand at a place of it.

use std::collections::HashMap;

use roundonce_isa::{Declaration, Outline, Spelled, TokenClass, Use};
use rspirv::grammar::{OperandKind, OperandQuantifier};

use crate::asm::{Token, starts, tokens};
use crate::grammar::{self, Class, Expected};

/// The outline of a text, whether it can be assembled or not.
///
/// ```
/// use roundonce_isa::TokenClass;
/// let text = "%float = OpTypeFloat 32\n%v = OpTypeVector %float 4\n%d = OpFmaKHR %v %a %b %c ; exact\n";
/// let outline = roundonce_spirv::outline(text);
/// assert_eq!(outline.spelled[2].spelling, "OpFmaKHR.v4f32");
/// let used = outline.used(text.find("%v %a").unwrap()).unwrap();
/// assert_eq!(outline.declarations[used.declaration].class, TokenClass::Type);
/// assert_eq!(outline.token(text.len() - 2).unwrap().class, TokenClass::Comment);
/// ```
pub fn outline(text: &str) -> Outline {
    let words = Words::of(text);
    let mut outline = Outline::default();
    let mut names = HashMap::new();
    for (first, behind) in words.statements() {
        let Some((name, opcode)) = words.defined(first) else { continue };
        let span = words.span(first);
        let whole = (span.0, words.span(behind - 1).1);
        let class = match opcode {
            "OpLabel" => TokenClass::Label,
            "OpFunction" => TokenClass::Function,
            "OpFunctionParameter" => TokenClass::Parameter,
            "OpVariable" => TokenClass::Variable,
            _ if opcode.starts_with("OpType") => TokenClass::Type,
            _ => TokenClass::Register,
        };
        names.insert(name, outline.declarations.len());
        let (name, scope) = (name.to_owned(), (0, text.len()));
        outline.declarations.push(Declaration { name, class, span, whole, scope, is_predicate: false });
    }
    for at in 0..words.tokens.len() {
        let (word, (start, end)) = (words.word(at), words.span(at));
        let class = match word.as_bytes() {
            [b'%', ..] => match names.get(word) {
                Some(&declaration) => {
                    outline.uses.push(Use { start, end, declaration, number: None });
                    outline.declarations[declaration].class
                }
                None => TokenClass::Mark,
            },
            [b'O', b'p', b'A'..=b'Z', ..] => TokenClass::Opcode,
            [b'"', ..] => TokenClass::Text,
            // `2D`.
            [b'0'..=b'9', ..] if grammar::value_of(OperandKind::Dim, word).is_some() => TokenClass::Enumerant,
            [b'0'..=b'9' | b'-' | b'+' | b'!', ..] => TokenClass::Number,
            b"=" => TokenClass::Mark,
            _ => TokenClass::Enumerant,
        };
        outline.tokens.push(roundonce_isa::Token { start, end, class });
    }
    for (first, behind) in words.statements() {
        let at = first + if words.defined(first).is_some() { 2 } else { 0 };
        let opcode = words.word(at);
        if at < behind && opcode.starts_with("Op") {
            let (start, end) = words.span(at);
            let of_type = words.word(at + 1);
            let suffix = words.float_type(&names, &outline, of_type).unwrap_or_default();
            let instruction_end = words.span(behind - 1).1;
            outline.spelled.push(Spelled { start, end, instruction_end, spelling: format!("{opcode}{suffix}") });
        }
    }
    outline.add_comments(text, &[";"]);
    outline
}

/// A text's words.
struct Words<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Words<'t> {
        // A longer one is not read.
        let tokens = if u32::try_from(text.len()).is_ok() { tokens(text) } else { Vec::new() };
        Words { text, tokens }
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.of(self.text))
    }

    fn span(&self, at: usize) -> (usize, usize) {
        self.tokens.get(at).map_or((0, 0), |token| (token.start as usize, token.end as usize))
    }

    /// The first word of each statement, and the one behind its last.
    fn statements(&self) -> impl Iterator<Item = (usize, usize)> {
        let firsts = (0..self.tokens.len()).filter(|&at| starts(self.text, &self.tokens, at));
        // The opcode behind `%id =` begins none.
        let firsts: Vec<usize> = firsts.filter(|&at| at == 0 || self.word(at - 1) != "=").collect();
        let ends: Vec<usize> = firsts.iter().skip(1).copied().chain([self.tokens.len()]).collect();
        firsts.into_iter().zip(ends)
    }

    /// The id that a statement defines, and its opcode.
    fn defined(&self, first: usize) -> Option<(&'t str, &'t str)> {
        let name = self.word(first);
        (name.starts_with('%') && self.word(first + 1) == "=").then(|| (name, self.word(first + 2)))
    }

    /// `.v4f32`: a float, or a vector of them, as the rows of forms write it.
    fn float_type(&self, names: &HashMap<&str, usize>, outline: &Outline, id: &str) -> Option<String> {
        let definition = |id: &str| {
            let (start, _) = outline.declarations.get(*names.get(id)?)?.span;
            let at = self.tokens.binary_search_by_key(&start, |token| token.start as usize).ok()?;
            Some([2, 3, 4].map(|by| self.word(at + by)))
        };
        let of_float = |words: [&str; 3]| (words[0] == "OpTypeFloat").then(|| format!("f{}", words[1]));
        let words = definition(id)?;
        let (count, float) = match words[0] {
            "OpTypeVector" => (format!("v{}", words[2]), of_float(definition(words[1])?)?),
            _ => (String::new(), of_float(words)?),
        };
        Some(format!(".{count}{float}"))
    }
}

/// The opcodes, with their operands by kind.
pub fn opcodes() -> impl Iterator<Item = (String, String)> {
    let rows = rspirv::grammar::INSTRUCTION_TABLE.iter();
    rows.map(|row| (format!("Op{}", row.opname), kinds(row)))
}

fn kinds(row: &grammar::Grammar) -> String {
    let shown = row.operands.iter().map(|operand| match operand.quantifier {
        OperandQuantifier::One => format!("{:?}", operand.kind),
        OperandQuantifier::ZeroOrOne => format!("[{:?}]", operand.kind),
        OperandQuantifier::ZeroOrMore => format!("[{:?} ...]", operand.kind),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// An opcode's operands by kind, and the capabilities one of which it needs.
pub fn opcode_text(name: &str) -> Option<(String, String)> {
    let shape = grammar::shape(grammar::opcode_of(name.strip_prefix("Op")?)?)?;
    let capabilities = shape.grammar.capabilities.iter().map(|capability| format!("{capability:?}"));
    Some((kinds(shape.grammar), capabilities.collect::<Vec<_>>().join(" or ")))
}

/// Values of an enumeration are below this.
const LARGEST_ENUMERANT: u32 = 8192;

/// The words of fixed sets that may stand at a byte of a text: enumerants and masks, instructions of an imported set. Empty
/// where an id, a number or a string is expected.
///
/// ```
/// let text = "OpMemoryModel Logical ";
/// assert!(roundonce_spirv::enumerants_at(text, text.len()).contains(&"Vulkan".to_owned()));
/// ```
pub fn enumerants_at(text: &str, byte: usize) -> Vec<String> {
    let words = Words::of(text.get(..byte).unwrap_or_default());
    let Some((first, behind)) = words.statements().last() else { return Vec::new() };
    let at = first + if words.defined(first).is_some() { 2 } else { 0 };
    let shape = words.word(at).strip_prefix("Op").and_then(grammar::opcode_of).and_then(grammar::shape);
    let Some(shape) = shape else { return Vec::new() };
    // The word that is being written is not there yet.
    let is_open = words.text.len() == words.span(behind - 1).1;
    let operands = at + 1..behind - usize::from(is_open);
    let mut expected = Expected::new();
    expected.start(shape.grammar);
    let mut before = "";
    let mut operands = operands.map(|at| words.word(at));
    loop {
        let Some((kind, _)) = expected.next() else { return Vec::new() };
        let class = grammar::class(kind);
        if class == Class::Result {
            continue;
        }
        let Some(word) = operands.next() else { return words.choices(kind, before) };
        match class {
            Class::Value | Class::Mask => {
                if let Some(value) = grammar::value_of(kind, word) {
                    expected.after_enumerant(kind, value);
                }
            }
            Class::Extended => {
                let set = words.set(before);
                let number = set.and_then(|set| grammar::extended_of(set, word));
                expected.after_extended(set, number.unwrap_or(u32::MAX));
            }
            Class::SpecOpcode => {
                if let Some(opcode) = grammar::opcode_of(word) {
                    expected.after_spec_opcode(opcode.into());
                }
            }
            _ => {}
        }
        before = word;
    }
}

impl Words<'_> {
    /// The words of an operand kind; `before` is the operand before it.
    fn choices(&self, kind: OperandKind, before: &str) -> Vec<String> {
        match grammar::class(kind) {
            Class::Value => (0..LARGEST_ENUMERANT).filter_map(|value| grammar::name_of(kind, value)).collect(),
            Class::Mask => {
                let bits = (0..32).map(|at| 1 << at);
                [0].into_iter().chain(bits).filter_map(|value| grammar::name_of(kind, value)).collect()
            }
            Class::Extended => self.set(before).map_or(Vec::new(), grammar::extended_names),
            _ => Vec::new(),
        }
    }

    /// The name of an imported set.
    fn set(&self, id: &str) -> Option<&str> {
        let imports = self.statements().filter(|&(first, _)| self.defined(first) == Some((id, "OpExtInstImport")));
        imports.map(|(first, _)| self.word(first + 3).trim_matches('"')).next()
    }
}
