//! Berkeley TestFloat's own vectors verify, flags included; a copy with errors does not.

mod common;

use std::cell::RefCell;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use common::Bad;
use roundonce_vectors::{InstructionUnderTest, Options, Report, run_testfloat, verify_file, verify_stream};

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

/// The operands of TestFloat's own vectors give its results and its flags again; any NaN is one.
#[test]
fn operands_run() {
    for (function, infinity) in
        [("f16_mulAdd_rz", 0x7c00), ("f32_mulAdd_rm", 0x7f80_0000), ("f64_mulAdd_rp", 0x7ff << 52)]
    {
        let file = std::fs::File::open(folder().join(format!("{function}.txt.gz"))).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let operands: String =
            text.lines().map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" ") + "\n").collect();
        let tested = InstructionUnderTest::of(function, &Default::default()).unwrap();
        // The results that a line has already are replaced.
        for given in [&operands, &text] {
            let mut out = Vec::new();
            run_testfloat(&tested, given.as_bytes(), &mut out, |row, problem| panic!("{row}: {problem}")).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out.lines().count(), text.lines().count());
            for (ours, theirs) in out.lines().zip(text.lines()) {
                let words = [ours, theirs].map(|line| line.split(' ').collect::<Vec<_>>());
                let is_nan = |word: &str| {
                    let sign = (infinity + 1u64).next_power_of_two();
                    u64::from_str_radix(word, 16).unwrap() & (sign - 1) > infinity
                };
                let same =
                    words[0] == words[1] || is_nan(words[0][3]) && is_nan(words[1][3]) && words[0][4] == words[1][4];
                assert!(same, "{function}: {ours}, expected {theirs}");
            }
        }
    }
}

#[test]
fn operands_that_cannot_be_read_are_left_out() {
    let tested = InstructionUnderTest::of("f32_add", &Default::default()).unwrap();
    let (mut out, mut bad) = (Vec::new(), Vec::new());
    // The byte order mark that it begins with is no part of it.
    let given = "\u{feff}3F800000 40000000\n\nzz 1\n1 2 3\n+7F.000000 -7F.000000 00000000 00\n+7F.00 1\n";
    run_testfloat(&tested, given.as_bytes(), &mut out, |row, problem| bad.push((row, problem.to_owned()))).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "3F800000 40000000 40400000 00\n3F800000 BF800000 00000000 00\n");
    assert_eq!(bad.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3, 4, 6]);
    assert!(bad[2].1.contains("expected such as +00.000000"), "{bad:?}");
}

/// What can be read, then what was written when it was.
struct Conversation<'a> {
    given: Vec<&'a str>,
    written: &'a RefCell<Vec<u8>>,
    seen: &'a RefCell<Vec<usize>>,
}

impl Read for Conversation<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.seen.borrow_mut().push(self.written.borrow().iter().filter(|byte| **byte == b'\n').count());
        match self.given.is_empty() {
            true => Ok(0),
            false => self.given.remove(0).as_bytes().read(bytes),
        }
    }
}

/// Another process that asks a line at a time and reads the answer before it goes on.
#[test]
fn what_was_read_is_answered_before_more_is_waited_for() {
    struct Out<'a>(&'a RefCell<Vec<u8>>);
    impl Write for Out<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let tested = InstructionUnderTest::of("f32_add", &Default::default()).unwrap();
    let (written, seen) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let given = vec!["3F800000 40000000\n", "3F800000 40000000\n3F800000 40000000\n3F8", "00000 40000000\n"];
    let input = Conversation { given, written: &written, seen: &seen };
    run_testfloat(&tested, input, &mut BufWriter::new(Out(&written)), |_, _| panic!()).unwrap();
    assert_eq!(*seen.borrow(), [0, 1, 3, 4]);
}

/// What testfloat_ver writes of errors, long lines broken, is read as what was seen.
#[test]
fn error_lines() {
    let text = "Errors found in f64_mulAdd, rounding near_even:\n\
        +3FF.0000000000000  +3FF.0000000000000\n\t+000.0000000000001\n\t=> +3FF.0000000000000 .....  expected +3FF.0000000000000 ....x\n\
        +3FF.0000000000000  +3FF.0000000000000\n\t-7FF.0000000000000\n\t=> -7FF.0000000000000 .....  expected +000.0000000000000 .....\n\
        +3FF.0000000000000  +3FF.0000000000000\n\t+000.0000000000001\n\t=> +3FF.000000000000 .....  expected +3FF.0000000000000 ....x\n\
        10000 tests performed; 2 errors found.\n";
    let tested = InstructionUnderTest::of("f64_mulAdd", &Default::default()).unwrap();
    let options = Options { instruction: Some(tested), ..Options::default() };
    let mut bad = Bad::default();
    let report = verify_stream(text.as_bytes(), &options, &mut bad).unwrap();
    assert_eq!((report.vectors, report.failed), (2, 1), "{:?}", bad.0);
    assert_eq!(bad.0.len(), 1, "{:?}", bad.0);
    assert_eq!(bad.0[0].0, 8);
}
