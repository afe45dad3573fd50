//! Every kernel of tests/kernels gives its reference's bits, by every way to run it.

mod cases;
mod parts;
mod slices;

use roundonce_exec::{Engine, Options};

fn all(options: &Options) {
    let mut failures = Vec::new();
    for case in cases::all() {
        let report = case.launch(options).run().map_err(|error| error.to_string());
        if let Err(failure) = report.and_then(|report| case.compare(&report)) {
            failures.push(format!("{}: {failure}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn alone() {
    all(&Options::default());
}

#[test]
fn by_native_code() {
    all(&Options { engine: Engine::Native, ..Options::default() });
}

#[test]
fn by_the_interpreter() {
    all(&Options { engine: Engine::Interpreter, ..Options::default() });
}

#[test]
fn on_two_threads() {
    all(&Options { threads: 2, engine: Engine::Native, ..Options::default() });
}

#[test]
fn with_races_checked_and_lines_counted() {
    all(&Options { check_races: true, count_lines: true, trace_lane: Some(5), ..Options::default() });
}
