//! The assembler's verdicts on whole modules, `vectors/edge/ptx/ptx-verdicts.jsonl`: ok, warn or error.

use roundonce_isa::{Finding, Severity};
use roundonce_ptx::{Options, check_text};
use serde_json::Value;

const CORPUS: &str = include_str!("../../../vectors/edge/ptx/ptx-verdicts.jsonl");

/// Disagreements that stay, each by what the assembler says and why it is not followed.
const TOLERATED: &[(&str, &str)] = &[(
    "cannot be compiled to future architecture",
    "said of how the assembler was called, for another architecture than the module names: the module is legal",
)];

fn verdict(findings: &[Finding]) -> &'static str {
    match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warn",
        Some(Severity::Note) | None => "ok",
    }
}

#[test]
fn verdicts_agree_with_the_assembler() {
    let mut cases = 0;
    let mut different = Vec::new();
    let mut tolerated = 0;
    for line in CORPUS.lines() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        cases += 1;
        let findings = check_text(text("ptx"), &Options::default());
        let ours = verdict(&findings);
        if ours == text("verdict") {
            continue;
        }
        if TOLERATED.iter().any(|(message, _)| text("message").contains(message)) {
            tolerated += 1;
            continue;
        }
        let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
        different.push(format!(
            "{} {}: {} ({}), here {ours} {found:?}\n{}",
            text("id"),
            text("group"),
            text("verdict"),
            text("message"),
            text("ptx")
        ));
    }
    assert_eq!(cases, 1502, "the corpus is whole");
    assert!(different.is_empty(), "{} of {cases} differ:\n{}", different.len(), different.join("\n"));
    assert!(tolerated * 100 < cases, "{tolerated} of {cases} disagreements tolerated is more than 1 %");
}

/// Every error says what was found and what was expected, and where; every rule of the family its source.
#[test]
fn findings_are_complete() {
    for line in CORPUS.lines() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = case["ptx"].as_str().unwrap_or_default();
        for finding in check_text(text, &Options::default()) {
            assert!(finding.message.contains("expected"), "{finding}");
            assert!(finding.code.starts_with("PTX"), "{finding}");
            let syntax = finding.code < "PTX0010";
            assert!(syntax || !finding.rule.is_empty() || finding.severity == Severity::Note, "{finding}");
            if let roundonce_isa::Location::Span { start, end } = finding.location {
                assert!(start <= end && end <= text.len() && text.get(start..end).is_some(), "{finding}");
            }
        }
    }
}
