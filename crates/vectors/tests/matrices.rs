//! Captured matrix multiply-adds: verified as they are stored, and failures explained by the machine that made them.

use roundonce_vectors::{Observer, Options, Report, verify_stream};
use std::io::Read;

#[derive(Default)]
struct Bad(Vec<String>);

impl Observer for Bad {
    fn bad_row(&mut self, row: u64, problem: &str) {
        self.0.push(format!("{row}: {problem}"));
    }
    fn progress(&mut self, _: u64, _: Option<u64>) {}
}

fn verified(text: &str) -> (Report, Vec<String>) {
    let mut bad = Bad::default();
    let report = verify_stream(text.as_bytes(), &Options::default(), &mut bad).unwrap();
    (report, bad.0)
}

fn captures(of: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/matrix/mma-hw.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().filter(|line| line.contains(of)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn stored_results_are_as_expected() {
    let (report, bad) = verified(&captures(""));
    assert_eq!((report.vectors, report.failed, bad.len()), (6400, 0, 0));
    assert_eq!(report.instructions.len(), 34);
}

/// An H100's results said to be an A100's.
#[test]
fn the_machine_that_made_them_is_named() {
    let lines = captures("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32");
    let mistaken: String = lines
        .lines()
        .filter(|line| line.contains("sm_90a"))
        .map(|line| line.replace("sm_90a", "sm_80") + "\n")
        .collect();
    let (report, _) = verified(&mistaken);
    let causes: Vec<(&str, u64, u64)> =
        report.causes.iter().map(|group| (group.cause.as_str(), group.count, group.contradicted)).collect();
    assert_eq!((report.vectors, causes), (269, vec![("computing as sm_90", 100, 0)]));
    let as_well = &report.causes[0].as_well;
    assert!(as_well.contains(&"computing as sm_100".to_owned()), "{as_well:?}");
}

/// A matrix of several elements, one of which is wrong; scales; lines that cannot be read.
#[test]
fn elements_of_a_matrix() {
    let mma = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    let row =
        |numbers: [f64; 4]| -> String { numbers.iter().map(|number| format!("{:016x}", number.to_bits())).collect() };
    let (one, two, ends) = (row([1.0; 4]), row([2.0; 4]), row([0.0, 1.0, 0.0, 0.0]));
    let line = |d: [f64; 4]| {
        let bits = d.map(|number| format!("{:016x}", number.to_bits()));
        format!(
            r#"{{"instruction":"{mma}","arch":"sm_80","a":["{one}","{two}"],"b":["{one}","{ends}"],"c":["{z}{z}","{z}{z}"],"d":["{}{}","{}{}"]}}"#,
            bits[0],
            bits[1],
            bits[2],
            bits[3],
            z = "0".repeat(16)
        )
    };
    let (report, _) = verified(&line([4.0, 1.0, 8.0, 2.0]));
    assert_eq!((report.vectors, report.failed), (4, 0));
    let (report, _) = verified(&line([4.0, 1.0, 8.0, 3.0]));
    assert_eq!((report.failed, report.causes[0].explained, report.causes[0].first.row), (1, false, 1));

    let (report, bad) = verified(
        "{\"instruction\":\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\",\"arch\":\"sm_70\",\"a\":\"0\",\"b\":\"0\",\"c\":\"0\",\"d\":\"0\"}\n\
         {\"instruction\":\"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32\",\"arch\":\"sm_70\",\"a\":\"00\",\"b\":\"0\",\"c\":\"0\",\"d\":\"0\"}\n\
         {\"instruction\":\"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32@sm_70\",\"a\":[\"3c003c003c003c00\"],\"b\":[\"3c003c003c003c00\"],\"c\":[\"40000000\"],\"d\":[\"40c00000\"]}\n",
    );
    assert_eq!((report.vectors, report.failed, report.bad), (1, 0, 2));
    assert!(bad[0].contains("is not on sm_70") && bad[1].contains("expected 4 elements of f16"), "{bad:?}");
}
