//! Findings as diagnostics.

use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Range};
use roundonce::Finding;
use roundonce::isa::Severity;

use crate::document::{LARGEST, Places};

/// Diagnostics of one text.
const MOST: usize = 1000;

/// What diagnostics come from.
const SOURCE: &str = "roundonce";

pub(crate) fn diagnostics(findings: &[Finding], places: &Places<'_>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = findings.iter().take(MOST).map(|finding| diagnostic(finding, places)).collect();
    if findings.len() > MOST {
        let message = format!("{} findings: the first {MOST} are shown", findings.len());
        all.push(of_document(message));
    }
    all
}

/// About a text that is not read.
pub(crate) fn too_long(bytes: usize) -> Vec<Diagnostic> {
    vec![of_document(format!("the text has {bytes} bytes: the language server reads texts of up to {LARGEST}"))]
}

fn of_document(message: String) -> Diagnostic {
    let (severity, source) = (Some(DiagnosticSeverity::WARNING), Some(SOURCE.to_owned()));
    Diagnostic { range: Range::default(), severity, source, message, ..Diagnostic::default() }
}

/// What is left open is a hint: the inlay hint beside it says so too.
pub(crate) fn diagnostic(finding: &Finding, places: &Places<'_>) -> Diagnostic {
    let severity = match finding.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note if finding.open.is_some() => DiagnosticSeverity::HINT,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    };
    let mut message = finding.message.clone();
    for (name, text) in [("rule", &finding.rule), ("help", &finding.help)] {
        if !text.is_empty() {
            message.push_str(&format!("\n{name}: {text}"));
        }
    }
    Diagnostic {
        range: places.range_of(finding.location),
        severity: Some(severity),
        code: Some(NumberOrString::String(finding.code.to_owned())),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}
