//! The files of records: JSON objects, a line each, as the checks wrote them.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file of the repository.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A whole file.
///
/// # Errors
/// If it cannot be read.
pub fn read(name: &str) -> Result<String, String> {
    std::fs::read_to_string(path(name)).map_err(|error| format!("{name}: {error}"))
}

/// Writes a whole file.
///
/// # Errors
/// If it cannot be written.
pub fn write(name: &str, text: &str) -> Result<(), String> {
    std::fs::write(path(name), text).map_err(|error| format!("{name}: {error}"))
}

/// One record.
#[derive(Clone, Debug)]
pub struct Record(Value);

impl Record {
    /// A field's text; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or("")
    }
    /// A field's number; 0 where there is none.
    pub fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or(0)
    }
    /// Whether a field is `true`.
    pub fn is(&self, name: &str) -> bool {
        self.0[name].as_bool().unwrap_or(false)
    }
}

/// The records of a file.
///
/// # Errors
/// If it cannot be read, with the line that is no object.
pub fn records(name: &str) -> Result<Vec<Record>, String> {
    let text = read(name)?;
    let parse = |(index, line): (usize, &str)| {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{name}:{}: {error}", index + 1))?;
        if value.is_object() { Ok(Record(value)) } else { Err(format!("{name}:{}: no object", index + 1)) }
    };
    text.lines().enumerate().map(parse).collect()
}

/// What GPUs gave: the records of every vectors/hw/*/results.jsonl, in the order of their names.
///
/// # Errors
/// As [`records`].
pub fn measured() -> Result<Vec<Record>, String> {
    let Ok(entries) = std::fs::read_dir(path("vectors/hw")) else { return Ok(Vec::new()) };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|name| format!("vectors/hw/{name}/results.jsonl"))
        .filter(|name| path(name).is_file())
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        all.extend(records(&name)?);
    }
    Ok(all)
}
