//! Inlay hints: what is left open, where it stands.

use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};
use roundonce::Finding;

use crate::document::{Document, Places, span};

pub(crate) fn hints(document: &Document, findings: &[Finding], places: &Places<'_>, range: Range) -> Vec<InlayHint> {
    let mut hints = Vec::new();
    for finding in findings {
        let Some(open) = finding.open.as_deref() else { continue };
        let sum = span(finding.location);
        let mut add = |at: usize, label: String| {
            let position = places.position(behind(&document.text, at));
            if range.start <= position && position <= range.end {
                hints.push(InlayHint {
                    position,
                    label: InlayHintLabel::String(label),
                    kind: None,
                    text_edits: None,
                    tooltip: Some(InlayHintTooltip::String(finding.message.clone())),
                    padding_left: Some(true),
                    padding_right: None,
                    data: None,
                });
            }
        };
        match open.product {
            Some(product) => {
                let product = span(product);
                add(product.1, format!("may be fused with line {}", places.number(sum.0)));
                add(sum.1, format!("may be fused with line {}", places.number(product.0)));
            }
            None => add(sum.1, "the bits are left open".to_owned()),
        }
    }
    hints.sort_by_key(|hint| (hint.position.line, hint.position.character));
    hints
}

/// Behind the semicolon of an instruction.
fn behind(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[blanks..].starts_with(';') { end + blanks + 1 } else { end }
}
