//! The crate's floors: each uses only those below it, and files of one floor do not use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From the lowest to the highest. `scalar` is below all.
const FLOORS: [&str; 5] = ["scalar", "kernel", "native", "interp", "launch"];

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The names that a file takes by `prefix` followed by `name` or by `{name, …}`, outside comments.
fn taken(text: &str, prefix: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let preceding = code[..at].chars().next_back();
        if preceding.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                names.extend(
                    list.split(';').next().unwrap_or_default().split([',', '{', '\n']).map(|item| word(item.trim())),
                );
            }
            None => {
                names.insert(word(rest));
            }
        }
    }
    names
}

#[test]
fn arrows_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (height, floor) in FLOORS.iter().enumerate() {
        let mut files = Vec::new();
        rust_files(&source.join(floor), &mut files);
        assert!(!files.is_empty(), "{floor}");
        for file in files {
            let used = taken(&std::fs::read_to_string(&file).unwrap(), "crate::");
            for above in &FLOORS[height + 1..] {
                assert!(!used.contains(*above), "{} uses {above}", file.display());
            }
            // What is public is above every floor.
            let public = ["Launch", "Options", "Report", "RunError", "Arg", "Buffer", "FaultKind"];
            assert!(public.iter().all(|name| !used.contains(*name)), "{} uses the public interface", file.display());
        }
    }
}

/// Follows `use super::…` between the files of one floor.
#[test]
fn no_circles() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for floor in ["kernel", "native", "interp", "launch"] {
        let mut files = Vec::new();
        rust_files(&source.join(floor), &mut files);
        let texts: BTreeMap<String, String> = files
            .iter()
            .filter(|file| file.parent() == Some(&source.join(floor)))
            .map(|file| {
                (file.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(file).unwrap())
            })
            .collect();
        let uses: BTreeMap<&str, BTreeSet<String>> = texts
            .iter()
            .filter(|(name, _)| *name != "mod")
            .map(|(name, text)| (name.as_str(), taken(text, "super::")))
            .collect();
        // Files that use only files already placed are placed; what is left is in a circle, or above one.
        let mut left: BTreeSet<&str> = uses.keys().copied().collect();
        loop {
            let free: Vec<&str> = left
                .iter()
                .copied()
                .filter(|file| !uses[file].iter().any(|name| left.contains(name.as_str())))
                .collect();
            if free.is_empty() {
                break;
            }
            left.retain(|file| !free.contains(file));
        }
        assert!(left.is_empty(), "{floor}: a circle among {left:?}");
    }
}
