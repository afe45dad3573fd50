//! Quick fixes: the edits that findings carry.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use roundonce::Finding;
use roundonce::isa::Fix;

use crate::diagnostics::diagnostic;
use crate::document::{Document, Places, span};

/// Applies every safe fix of a text.
const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.roundonce");

/// The kinds that there are.
pub(crate) const KINDS: [CodeActionKind; 2] = [CodeActionKind::QUICKFIX, FIX_ALL];

/// Characters of a replaced text that a title shows.
const SHOWN: usize = 40;

/// A text that actions are about.
pub(crate) struct Edited<'d> {
    pub(crate) document: &'d Document,
    pub(crate) places: &'d Places<'d>,
    /// Whether the client takes edits of a version of a text.
    pub(crate) versioned: bool,
}

pub(crate) fn actions(
    edited: &Edited<'_>,
    findings: &[Finding],
    params: &CodeActionParams,
) -> Vec<CodeActionOrCommand> {
    let Edited { document, places, .. } = edited;
    let is_wanted = |kind: &CodeActionKind| {
        let only = params.context.only.as_ref();
        only.is_none_or(|only| {
            only.iter().any(|wanted| {
                let behind = kind.as_str().strip_prefix(wanted.as_str());
                behind.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let (first, last) = (places.byte(params.range.start), places.byte(params.range.end));
    let mut all = Vec::new();
    if is_wanted(&CodeActionKind::QUICKFIX) {
        let here = findings.iter().filter(|finding| {
            let (start, end) = span(finding.location);
            start <= last && first <= end
        });
        for finding in here {
            all.extend(finding.fix.as_ref().map(|fix| {
                let title = title(&document.text, fix);
                action(edited, title, CodeActionKind::QUICKFIX, Some(finding), [fix].into_iter())
            }));
            let settles = finding.open.as_ref().filter(|open| !open.edits.is_empty());
            all.extend(settles.map(|open| {
                let words: Vec<String> = open.edits.iter().map(|fix| title(&document.text, fix)).collect();
                let title = format!("{}: leaves one evaluation", words.join(", "));
                action(edited, title, CodeActionKind::QUICKFIX, Some(finding), open.edits.iter())
            }));
        }
    }
    let fixes: Vec<&Fix> = untouched(findings.iter().filter_map(|finding| finding.fix.as_ref()));
    if !fixes.is_empty() && params.context.only.is_some() && is_wanted(&FIX_ALL) {
        let title = "Apply every safe fix".to_owned();
        all.push(action(edited, title, FIX_ALL, None, fixes.into_iter()));
    }
    all.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

/// Of fixes that overlap the first: a client takes none that do.
fn untouched<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<&'f Fix> {
    let mut fixes: Vec<&Fix> = fixes.collect();
    fixes.sort_by_key(|fix| (fix.start, fix.end));
    fixes.dedup();
    let mut behind = 0;
    fixes.retain(|fix| {
        let is_free = fix.start >= behind;
        behind = if is_free { fix.end } else { behind };
        is_free
    });
    fixes
}

/// What an edit does.
fn title(text: &str, fix: &Fix) -> String {
    let shown = |text: &str| {
        let line = text.trim().lines().next().unwrap_or_default();
        let cut: String = line.chars().take(SHOWN).collect();
        if cut.len() < text.trim().len() { format!("`{cut}…`") } else { format!("`{cut}`") }
    };
    let old = text.get(fix.start..fix.end).unwrap_or_default();
    match (old.is_empty(), fix.replacement.is_empty()) {
        (true, _) => format!("insert {}", shown(&fix.replacement)),
        (false, true) => format!("remove {}", shown(old)),
        (false, false) => format!("replace {} by {}", shown(old), shown(&fix.replacement)),
    }
}

fn action<'f>(
    edited: &Edited<'_>,
    title: String,
    kind: CodeActionKind,
    finding: Option<&Finding>,
    fixes: impl Iterator<Item = &'f Fix>,
) -> CodeAction {
    let Edited { document, places, versioned } = edited;
    let edits = fixes.map(|fix| {
        let (range, new_text) = (places.range((fix.start, fix.end)), fix.replacement.clone());
        TextEdit { range, new_text }
    });
    let uri = document.uri.clone();
    let edit = if *versioned {
        // A client does not apply it to a later text.
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: Some(document.version) };
        let edits = edits.map(OneOf::Left).collect();
        let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
        WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
    } else {
        #[expect(clippy::mutable_key_type, reason = "the protocol's type has this key, and its hash does not change")]
        let changes = HashMap::from([(uri, edits.collect())]);
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    };
    let diagnostics = finding.map(|finding| vec![diagnostic(finding, places)]);
    CodeAction { title, kind: Some(kind), diagnostics, edit: Some(edit), ..CodeAction::default() }
}
