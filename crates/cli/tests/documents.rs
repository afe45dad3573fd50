//! The documents as a whole: the book's list of pages, the links, and the map of the crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files of a folder, not of those below it.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The text without fenced blocks and code spans, in which nothing is a link or a heading.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let outside: Vec<&str> = line.split('`').step_by(2).collect();
            prose.push_str(&outside.join("`"));
        }
        prose.push('\n');
    }
    prose
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// GitHub's and mdBook's anchor of each heading.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = text.lines().filter(|line| {
        fenced ^= line.trim_start().starts_with("```");
        !fenced && line.starts_with('#')
    });
    let anchor = |heading: &str| -> String {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

/// The folders of the book.
const BOOK: [&str; 2] = ["docs", "docs/reference"];

#[test]
fn the_book_lists_every_page() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let listed: Vec<PathBuf> = links(&read(&summary)).iter().map(|link| docs.join(link)).collect();
    let mut found: BTreeSet<PathBuf> = BOOK.iter().flat_map(|folder| pages(&root().join(folder))).collect();
    found.remove(&summary);
    for page in &found {
        assert!(listed.contains(page), "docs/SUMMARY.md does not list {}", page.display());
    }
    assert_eq!(listed.len(), found.len(), "docs/SUMMARY.md lists a page twice, or one that is not in docs/");
}

#[test]
fn links_resolve() {
    let root = root();
    let others = ["", "bindings/python", "dev/gpu", "tests/kernels", "tests/shaders"];
    let folders = others.iter().chain(&BOOK).map(|name| root.join(name));
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut broken = Vec::new();
    for page in folders.chain(crates).flat_map(|folder| pages(&folder)) {
        for link in &links(&read(&page)) {
            // Pages that are shown elsewhere name the repository's files by their addresses.
            let (folder, link) = match link.strip_prefix(concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/")) {
                Some(link) => (root.as_path(), link),
                None => (page.parent().unwrap(), link.as_str()),
            };
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let resolves = target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !resolves {
                broken.push(format!("{}: {link}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that do not resolve:\n{}", broken.join("\n"));
}

/// What each crate of the workspaces depends on inside the repository.
#[derive(Default)]
struct Crates {
    normal: BTreeMap<String, BTreeSet<String>>,
    tests: BTreeMap<String, BTreeSet<String>>,
}

impl Crates {
    /// From the manifests of the product and of the page, which is a workspace of its own.
    fn of_the_manifests() -> Crates {
        let mut crates = Crates::default();
        for manifest in ["Cargo.toml", "bindings/wasm/Cargo.toml"] {
            let cargo = Command::new(env!("CARGO"))
                .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
                .arg(root().join(manifest))
                .output()
                .unwrap();
            assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
            let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
            for package in metadata["packages"].as_array().unwrap() {
                let name = short(package["name"].as_str().unwrap());
                crates.normal.entry(name.clone()).or_default();
                // Outside the repository, a dependency has no path.
                let inside = |dependency: &&Value| dependency["path"].is_string();
                for dependency in package["dependencies"].as_array().unwrap().iter().filter(inside) {
                    let table = match dependency["kind"].as_str() {
                        None => &mut crates.normal,
                        Some(_) => &mut crates.tests,
                    };
                    table.entry(name.clone()).or_default().insert(short(dependency["name"].as_str().unwrap()));
                }
            }
        }
        crates
    }

    /// Everything that a crate reaches over one or more arrows.
    fn reached(&self, from: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(name) = open.pop() {
            for next in &self.normal[&name] {
                if reached.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        reached
    }

    /// The arrows without those that longer paths imply.
    fn reduced(&self) -> BTreeSet<(String, String)> {
        let mut arrows = BTreeSet::new();
        for (from, direct) in &self.normal {
            for to in direct {
                let implied = direct.iter().any(|other| other != to && self.reached(other).contains(to));
                if !implied {
                    arrows.insert((from.clone(), to.clone()));
                }
            }
        }
        arrows
    }
}

/// The name in the picture.
fn short(package: &str) -> String {
    package.strip_prefix("roundonce-").unwrap_or(package).to_owned()
}

/// From one crate to another.
type Arrows = BTreeSet<(String, String)>;

/// The picture of ARCHITECTURE.md: its boxes, and its arrows by their shape.
fn drawn() -> (BTreeSet<String>, BTreeMap<&'static str, Arrows>) {
    let text = read(&root().join("ARCHITECTURE.md"));
    let picture = text.split_once("```mermaid\n").expect("a picture").1.split_once("```").unwrap().0;
    let (mut boxes, mut arrows) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for line in picture.lines().map(str::trim).skip(1) {
        let shape = [" --> ", " -.-> "].into_iter().find(|shape| line.contains(shape));
        if let Some((name, _)) = line.split_once('[') {
            boxes.insert(name.to_owned());
        } else if let Some(shape) = shape {
            let (from, to) = line.split_once(shape).unwrap();
            for to in to.split(" & ") {
                arrows.entry(shape).or_default().insert((from.to_owned(), to.to_owned()));
            }
        } else {
            panic!("ARCHITECTURE.md: `{line}` is neither a box nor an arrow");
        }
    }
    (boxes, arrows)
}

fn text(arrows: impl IntoIterator<Item = (String, String)>) -> String {
    let lines: Vec<String> = arrows.into_iter().map(|(from, to)| format!("{from} --> {to}")).collect();
    lines.join(", ")
}

/// A solid arrow is a dependency; those that others imply are left out. A dotted arrow is a dependency of tests.
#[test]
fn the_map_is_what_cargo_says() {
    let crates = Crates::of_the_manifests();
    let (boxes, mut arrows) = drawn();
    let names: BTreeSet<String> = crates.normal.keys().cloned().collect();
    assert_eq!(boxes, names, "the boxes of ARCHITECTURE.md's picture, and the crates");

    let (solid, expected) = (arrows.remove(" --> ").unwrap_or_default(), crates.reduced());
    let (missing, extra) = (text(&expected - &solid), text(&solid - &expected));
    assert!(missing.is_empty(), "missing in ARCHITECTURE.md's picture: {missing}");
    assert!(extra.is_empty(), "in ARCHITECTURE.md's picture, and no dependency or implied by others: {extra}");

    for (from, to) in arrows.remove(" -.-> ").unwrap_or_default() {
        let known = crates.tests.get(&from).is_some_and(|tests| tests.contains(&to));
        assert!(known, "in ARCHITECTURE.md's picture, and no dependency of tests: {from} -.-> {to}");
    }
}
