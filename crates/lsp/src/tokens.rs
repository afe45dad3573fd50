//! Semantic tokens: the outline's, in the protocol's numbers.

use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use roundonce::isa::{Token, TokenClass};

use crate::document::{Document, Places};

/// The types, in the order of their numbers.
static TYPES: [SemanticTokenType; 12] = [
    SemanticTokenType::COMMENT,
    SemanticTokenType::MACRO,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::MODIFIER,
    SemanticTokenType::TYPE,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::new("label"),
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
];

/// The modifiers, in the order of their bits.
const MODIFIERS: [SemanticTokenModifier; 3] =
    [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::READONLY, SemanticTokenModifier::STATIC];
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const STATIC: u32 = 4;

pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// A class's number and modifiers; nothing for punctuation.
fn number(class: TokenClass) -> Option<(u32, u32)> {
    let plain = |number| Some((number, 0));
    match class {
        TokenClass::Comment => plain(0),
        TokenClass::Directive => plain(1),
        TokenClass::Opcode => plain(2),
        TokenClass::Modifier => plain(3),
        TokenClass::Type => plain(4),
        TokenClass::Register => plain(5),
        TokenClass::Special => Some((5, READONLY)),
        TokenClass::Variable => Some((5, STATIC)),
        TokenClass::Parameter => plain(6),
        TokenClass::Function => plain(7),
        TokenClass::Label => plain(8),
        TokenClass::Enumerant => plain(9),
        TokenClass::Number => plain(10),
        TokenClass::Text => plain(11),
        TokenClass::Mark => None,
    }
}

/// The tokens within some bytes.
pub(crate) fn tokens(document: &Document, places: &Places<'_>, (first, last): (usize, usize)) -> Vec<SemanticToken> {
    let outline = document.outline();
    let mut declared: Vec<usize> = outline.declarations.iter().map(|declaration| declaration.span.0).collect();
    declared.sort_unstable();
    let mut all = Vec::new();
    let (mut line, mut column) = (0, 0);
    let wanted = outline.tokens.iter().filter(|token| token.start < last && first < token.end);
    for token in wanted.flat_map(|token| by_line(&document.text, token)) {
        let Some((token_type, modifiers)) = number(token.class) else { continue };
        let is_declared = declared.binary_search(&token.start).is_ok();
        let (start, end) = (places.position(token.start), places.position(token.end));
        if end.character <= start.character {
            continue;
        }
        let delta_line = start.line - line;
        all.push(SemanticToken {
            delta_line,
            delta_start: if delta_line == 0 { start.character - column } else { start.character },
            length: end.character - start.character,
            token_type,
            token_modifiers_bitset: modifiers | if is_declared { DECLARATION } else { 0 },
        });
        (line, column) = (start.line, start.character);
    }
    all
}

/// A token cut at the ends of lines, without the blanks there: not every client takes one of several lines.
fn by_line<'t>(text: &'t str, token: &Token) -> impl Iterator<Item = Token> + use<'t> {
    let (mut at, class) = (token.start, token.class);
    let lines = text.get(token.start..token.end).unwrap_or_default().split_inclusive(['\n', '\r']);
    lines.map(move |line| {
        let blanks = line.len() - line.trim_start().len();
        let start = at + blanks;
        let end = at + line.trim_end().len();
        at += line.len();
        Token { start: start.min(end), end, class }
    })
}
