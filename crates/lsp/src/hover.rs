//! Hover and completion: the rows of forms, the bits of numbers, the declarations of names.

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, Hover, HoverContents, InsertTextFormat, MarkupContent,
    MarkupKind,
};
use roundonce::Finding;
use roundonce::answers::{Checked, Completion, Described, TextLanguage, completions, describe, literal, sentence};
use roundonce::isa::{Token, TokenClass};

use crate::document::{Document, Places, span};

/// Rows of one hover.
const ROWS: usize = 4;

pub(crate) fn hover(document: &Document, findings: &[Finding], places: &Places<'_>, byte: usize) -> Option<Hover> {
    let outline = document.outline();
    let (mut parts, range) = if let Some(spelled) = outline.opcode(byte) {
        let rows = describe(document.language, &spelled.spelling, &outline.into());
        (rows.iter().take(ROWS).map(|row| described(document.language, row)).collect(), (spelled.start, spelled.end))
    } else if let Some(used) = outline.used(byte) {
        let declaration = &outline.declarations[used.declaration];
        let whole = document.text.get(declaration.whole.0..declaration.whole.1).unwrap_or_default();
        (vec![code(id(document.language), head(whole))], (used.start, used.end))
    } else {
        let token = outline.token(byte).filter(|token| token.class == TokenClass::Number)?;
        if is_version(document, token) {
            return None;
        }
        let text = document.text.get(token.start..token.end).unwrap_or_default();
        let lines = literal(document.language, text, outline.instruction(byte));
        (if lines.is_empty() { Vec::new() } else { vec![code("", &lines.join("\n"))] }, (token.start, token.end))
    };
    parts.extend(open_bits(findings, byte));
    if parts.is_empty() {
        return None;
    }
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: parts.join("\n\n---\n\n") };
    Some(Hover { contents: HoverContents::Markup(contents), range: Some(places.range(range)) })
}

/// Whether a number is that of `.version 9.0`, and not a float.
fn is_version(document: &Document, number: &Token) -> bool {
    let before = document.outline().tokens.iter().take_while(|token| token.start < number.start);
    let before = before.filter(|token| token.class != TokenClass::Comment).last();
    before.and_then(|token| document.text.get(token.start..token.end)) == Some(".version")
}

/// Lines of a declaration that are shown.
const LINES: usize = 12;

/// A declaration without a body.
fn head(whole: &str) -> &str {
    let whole = whole.find('{').map_or(whole, |at| &whole[..at]).trim_end();
    let end = whole.match_indices('\n').nth(LINES - 1).map_or(whole.len(), |(at, _)| at);
    &whole[..end]
}

fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```")
}

/// The language's name in an editor.
fn id(language: TextLanguage) -> &'static str {
    match language {
        TextLanguage::Ptx => "ptx",
        TextLanguage::Spirv => "spirv",
        TextLanguage::Sass => "sass",
    }
}

fn described(language: TextLanguage, row: &Described) -> String {
    let mut text = code(id(language), format!("{} {}", row.syntax, row.operands).trim_end());
    let lines = [("", &row.meaning), ("needs ", &row.gate), ("", &row.source), ("", &row.note)];
    for (lead, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
        text.push_str(&format!("\n\n{lead}{}", plain(line)));
    }
    text
}

/// Text whose marks are no markup; the backquotes of names stay, and an underscore within a word is none.
fn plain(text: &str) -> String {
    text.replace('*', "\\*").replace('<', "\\<")
}

/// What is left open at a byte, with the smallest input that shows it.
fn open_bits(findings: &[Finding], byte: usize) -> Option<String> {
    let covers = |(start, end): (usize, usize)| start <= byte && byte < end;
    let finding = findings.iter().find(|finding| {
        let product = finding.open.as_ref().and_then(|open| open.product);
        finding.open.is_some() && (covers(span(finding.location)) || product.is_some_and(|at| covers(span(at))))
    })?;
    let checked = Checked::new("", String::new(), vec![finding.clone()], true);
    let witness = checked.witnesses.iter().flatten().next().map(sentence);
    let witness = witness.map_or(String::new(), |witness| format!("\n\n{}", plain(&witness)));
    Some(format!("{}{witness}", plain(&finding.message)))
}

pub(crate) fn complete(document: &Document, byte: usize) -> CompletionList {
    let found = completions(document.language, &document.text, byte, document.outline());
    CompletionList { is_incomplete: false, items: found.into_iter().map(item).collect() }
}

fn item(found: Completion) -> CompletionItem {
    let kind = match found.class {
        TokenClass::Opcode | TokenClass::Directive => CompletionItemKind::KEYWORD,
        TokenClass::Function | TokenClass::Label => CompletionItemKind::FUNCTION,
        TokenClass::Type => CompletionItemKind::TYPE_PARAMETER,
        TokenClass::Modifier | TokenClass::Enumerant => CompletionItemKind::ENUM_MEMBER,
        _ => CompletionItemKind::VARIABLE,
    };
    CompletionItem {
        sort_text: Some(format!("{:02}{}", found.place, found.text)),
        label: found.text,
        kind: Some(kind),
        detail: Some(found.detail).filter(|detail| !detail.is_empty()),
        insert_text_format: Some(InsertTextFormat::PLAIN_TEXT),
        ..CompletionItem::default()
    }
}
