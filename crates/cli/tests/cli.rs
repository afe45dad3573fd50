//! The command as people use it: every file of tests/cli and tests/bad, and every example of the documents.
//!
//! A new case is a file dropped in; `TRYCMD=overwrite cargo test -p roundonce-cli` writes what the command says now,
//! and the diff is read before it is committed.

#[test]
fn commands() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let cases = trycmd::TestCases::new();
    for files in ["tests/cli/*.md", "tests/cli/*.toml", "tests/bad/*.md", "tests/bad/*.toml", "README.md"] {
        cases.case(format!("{root}/{files}"));
    }
}
