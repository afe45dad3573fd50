//! Berkeley TestFloat's own vectors verify, flags included; a copy with errors does not.

mod common;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use common::Bad;
use roundonce_vectors::{Options, Report, verify_file};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/edge/testfloat")
}

fn verified(path: &Path) -> Report {
    let mut bad = Bad::default();
    let report = verify_file(path, &Options::default(), &mut bad).unwrap();
    assert_eq!(bad.0, []);
    report
}

#[test]
fn every_file() {
    for format in ["f16", "f32", "f64"] {
        for direction in ["rn", "rz", "rm", "rp"] {
            let function = format!("{format}_mulAdd_{direction}");
            let report = verified(&folder().join(format!("{function}.txt.gz")));
            assert_eq!(report.lines(), [format!("{function}: 20445 vectors, as expected")]);
        }
    }
}

/// The results of one direction under the name of another.
#[test]
fn a_direction_mistaken_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("f64_mulAdd_rn.txt.gz");
    std::fs::copy(self::folder().join("f64_mulAdd_rz.txt.gz"), &copy).unwrap();
    let report = verified(&copy);
    assert!(report.failed > 5000, "{}", report.lines().join("\n"));
    assert_eq!(report.causes[0].cause, "rounding toward zero");
    assert_eq!((report.causes.len(), report.causes[0].count), (1, report.failed));
}

/// A flag of every hundredth vector is lost.
#[test]
fn a_lost_flag() {
    let mut text = String::new();
    let file = std::fs::File::open(folder().join("f16_mulAdd_rn.txt.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut planted = 0;
    let lines = text.lines().enumerate().map(|(index, line)| match line.strip_suffix("01") {
        Some(rest) if index % 100 == 0 => {
            planted += 1;
            format!("{rest}00\n")
        }
        _ => format!("{line}\n"),
    });
    let lines: String = lines.collect();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("f16_mulAdd_rn.txt");
    std::fs::File::create(&copy).unwrap().write_all(lines.as_bytes()).unwrap();
    let report = verified(&copy);
    assert!(planted > 50);
    assert_eq!(report.failed, planted);
    assert_eq!(report.causes[0].cause, "flags alone: inexact missing");
    assert_eq!(report.causes[0].count, planted);
}

/// A file in parts, each verified by itself: what they find together is what the whole says.
#[test]
fn in_parts() {
    let mut text = String::new();
    let file = std::fs::File::open(folder().join("f64_mulAdd_rz.txt.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let verified = |lines: &[&str]| common::verified(lines.concat().as_bytes(), &common::of("f64_mulAdd_rn"));
    let whole = verified(&lines).placed("all", 0);
    let parts = lines.chunks(7000).enumerate();
    let parts: Vec<Report> = parts.map(|(at, part)| verified(part).placed("all", 7000 * at as u64)).collect();
    assert_eq!(parts.len(), 3);
    let together = Report::together(parts);
    assert_eq!(together.instructions, whole.instructions);
    assert_eq!((together.failed, together.examined), (whole.failed, whole.examined));
    let [one, other] = [&together, &whole].map(|report| &report.causes[0]);
    assert_eq!((&one.cause, one.count, &one.first), (&other.cause, other.count, &other.first));
    assert!(whole.failed > 5000 && together.causes.len() == 1);
    assert!(together.lines().iter().any(|line| line.contains("first: all, row ")), "{:?}", together.lines());
}
