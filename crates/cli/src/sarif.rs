//! Findings as SARIF 2.1.0 (OASIS), for code-scanning services.

use serde_json::{Value, json};

use roundonce::answers::{Checked, Edit, Row, sentence};

/// One log with one run.
pub(crate) fn log(files: &[Checked]) -> Value {
    let results: Vec<Value> = files.iter().flat_map(Checked::rows).map(|row| result(&row)).collect();
    let mut log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "roundonce",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(files),
            } },
            "results": results,
        }],
    });
    let unchecked: usize = files.iter().map(|file| file.unchecked.instructions()).sum();
    if unchecked > 0 {
        log["runs"][0]["properties"] = json!({ "instructionsNotChecked": unchecked });
    }
    log
}

fn result(row: &Row) -> Value {
    let mut text = row.message.to_owned();
    if !row.help.is_empty() {
        text += &format!(". {}", row.help);
    }
    if let Some(witness) = row.witness {
        text += &format!(". Witness: {}", sentence(witness));
    }
    let mut result = json!({
        "ruleId": row.code,
        "level": row.level,
        "message": { "text": text },
    });
    if !row.file.is_empty() {
        result["locations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": row.file },
            "region": { "startLine": row.line, "startColumn": row.column },
        } }]);
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
                "artifactLocation": { "uri": row.file },
                "replacements": row.edits.iter().map(edit).collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

/// Every code that was found, once, with the rule it stands for.
fn rules(files: &[Checked]) -> Vec<Value> {
    let mut found: Vec<(&str, &str)> =
        files.iter().flat_map(|file| &file.findings).map(|finding| (finding.code, finding.rule.as_str())).collect();
    found.sort_unstable();
    found.dedup_by_key(|(code, _)| *code);
    found.into_iter().map(|(code, rule)| json!({ "id": code, "shortDescription": { "text": rule } })).collect()
}
