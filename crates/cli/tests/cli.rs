//! The command as people use it: every file of tests/cli and tests/bad, and every example of the documents.
//!
//! A new case is a file dropped in; `TRYCMD=overwrite cargo test -p roundonce-cli` writes what the command says now,
//! and the diff is read before it is committed.

#[test]
fn commands() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    // The documents' examples name files as they stand from the root.
    std::env::set_current_dir(root).unwrap();
    // Those of the book that write files write them here, anew.
    let written = std::path::Path::new("target/book");
    if written.exists() {
        std::fs::remove_dir_all(written).unwrap();
    }
    std::fs::create_dir_all(written).unwrap();
    let cases = trycmd::TestCases::new();
    for files in
        ["tests/cli/*.md", "tests/cli/*.toml", "tests/bad/*.md", "README.md", "crates/cli/README.md", "docs/*.md"]
    {
        cases.case(files);
    }
}
