//! Findings as SARIF 2.1.0 (OASIS), for code-scanning services.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use roundonce::answers::{Checked, Edit, Row, sentence};
use roundonce::isa::{Finding, LineIndex, Location};
use roundonce::rules;

/// One log with one run; each file with the path that it was read from.
pub(crate) fn log(files: &[Checked], paths: &[&Path]) -> Value {
    let found = files.iter().flat_map(|file| &file.findings);
    // The rules that were violated, each with its place in the log.
    let mut places: BTreeMap<&str, usize> = found.map(|finding| (finding.code, 0)).collect();
    places.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let lines = files.iter().flat_map(|file| {
        let index = LineIndex::new(&file.text);
        file.findings.iter().map(move |finding| end(&index, finding)).collect::<Vec<_>>()
    });
    let rows = files.iter().zip(paths).flat_map(|(file, path)| file.rows().map(move |row| (row, *path)));
    let results = rows.zip(lines).map(|((row, path), end)| result(&row, path, places[row.code], end));
    let results: Vec<Value> = results.collect();
    let rules: Vec<Value> = places.keys().map(|code| rule(code)).collect();
    let mut log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "roundonce",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let unchecked: usize = files.iter().map(|file| file.unchecked.instructions()).sum();
    if unchecked > 0 {
        log["runs"][0]["properties"] = json!({ "instructionsNotChecked": unchecked });
    }
    log
}

/// The line and the column behind a finding's place.
fn end(lines: &LineIndex<'_>, finding: &Finding) -> Option<(usize, usize)> {
    match finding.location {
        Location::Span { end, .. } => Some(lines.line_column(end)),
        Location::Word(_) | Location::Whole => None,
    }
}

fn result(row: &Row, path: &Path, rule: usize, end: Option<(usize, usize)>) -> Value {
    let mut text = row.message.to_owned();
    if !row.help.is_empty() {
        text += &format!(". {}", row.help);
    }
    if let Some(witness) = row.witness {
        text += &format!(". Witness: {}", sentence(witness));
    }
    let mut result = json!({
        "ruleId": row.code,
        "ruleIndex": rule,
        "level": row.level,
        "message": { "text": text },
    });
    if !row.file.is_empty() {
        let mut region = json!({ "startLine": row.line, "startColumn": row.column });
        if let Some((line, column)) = end {
            region["endLine"] = line.into();
            region["endColumn"] = column.into();
        }
        result["locations"] = json!([{ "physicalLocation": { "artifactLocation": artifact(path), "region": region } }]);
    }
    if !row.edits.is_empty() {
        let edit = |edit: &Edit| {
            json!({
                "deletedRegion": {
                    "startLine": edit.line, "startColumn": edit.column,
                    "endLine": edit.end_line, "endColumn": edit.end_column,
                },
                "insertedContent": { "text": edit.replacement },
            })
        };
        result["fixes"] = json!([{
            "description": { "text": if row.help.is_empty() { row.message } else { row.help } },
            "artifactChanges": [{
                "artifactLocation": artifact(path),
                "replacements": row.edits.iter().map(edit).collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

/// A file by its name, of any bytes, as a URI reference (RFC 3986, 2.1).
fn artifact(path: &Path) -> Value {
    let name = path.as_os_str().as_encoded_bytes();
    let mut uri = String::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    json!({ "uri": uri })
}

/// What a code stands for.
fn rule(code: &str) -> Value {
    let Some(rule) = rules::explain(code) else { return json!({ "id": code }) };
    let full = format!("{}. Source: {}.", rule.title, rule.source);
    json!({
        "id": code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": full },
        "help": { "text": format!("{full} More: {}", rule.address) },
        "helpUri": rule.address,
        "defaultConfiguration": { "level": rule.level },
    })
}
