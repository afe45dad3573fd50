//! Reads the judge's files in `vectors/edge/sass`.

#![allow(dead_code, unreachable_pub)] // Each test file takes what it needs.

use std::path::PathBuf;

/// Where a file of vectors is.
pub fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../vectors/edge/sass", name].iter().collect()
}

/// The rows of a file, without its `#` line and its headings. Blanks at the ends of columns count.
pub fn read(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// A number written `0x…`.
pub fn word(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

/// Asserts that two texts are equal, naming the first line that is not.
pub fn same_lines(ours: &str, theirs: &str) {
    for (number, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "line {}", number + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}
