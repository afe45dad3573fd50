//! What the tests share.

// Every test binary compiles this file and uses its own part of it.
#![allow(dead_code, unreachable_pub)]

use roundonce_vectors::{InstructionUnderTest, Observer, Options, Report, verify_stream};

/// Keeps what was said about bad rows, and about columns that are not read.
#[derive(Default)]
pub struct Bad(pub Vec<(u64, String)>, pub Vec<String>);

impl Observer for Bad {
    fn bad_row(&mut self, row: u64, problem: &str) {
        self.0.push((row, problem.to_owned()));
    }
    fn note(&mut self, note: &str) {
        self.1.push(note.to_owned());
    }
    fn progress(&mut self, _: u64, _: Option<u64>) {}
}

/// The report of what must have no bad row.
pub fn verified(bytes: &[u8], options: &Options) -> Report {
    let mut bad = Bad::default();
    let report = verify_stream(bytes, options, &mut bad).unwrap();
    assert_eq!(bad.0, []);
    report
}

/// Options that name an instruction.
pub fn of(spelling: &str) -> Options {
    Options {
        instruction: Some(InstructionUnderTest::of(spelling, &Default::default()).unwrap()),
        ..Options::default()
    }
}
