//! Every kernel of tests/kernels and every shader of tests/shaders through the command: its buffers afterwards are the
//! reference's, bit for bit.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs every case of a folder with more options; the number of cases.
fn run_all(folder: &str, options: &[&str]) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["name"].as_str().unwrap();
        let arguments = case["command"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
        let expected = case["expected"].as_object().unwrap();
        let out = |place: &str| scratch.path().join(format!("{name}.{place}.npy"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        command.current_dir(&folder).args(arguments).args(["--format", "json"]).args(options);
        for place in expected.keys() {
            command.arg("--out").arg(format!("{place}={}", out(place).display()));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        for (place, file) in expected {
            let wanted = std::fs::read(folder.join(file.as_str().unwrap())).unwrap();
            assert!(std::fs::read(out(place)).unwrap() == wanted, "{name}: argument {place} differs from {file}");
        }
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let approximate: Vec<&str> = report["not_exact"].as_object().unwrap().keys().map(String::as_str).collect();
        let allowed: Vec<&str> = case["approximate"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(approximate, allowed, "{name}: approximate instructions");
        if let Some(determined) = case["determined"].as_bool() {
            assert_eq!(report.get("undetermined").is_none(), determined, "{name}: {:?}", report.get("undetermined"));
        }
        ran += 1;
    }
    ran
}

#[test]
fn every_kernel_gives_the_reference_bits() {
    let ran = run_all("kernels", &[]);
    assert!(ran >= 30, "only {ran} kernels were run");
}

#[test]
fn every_shader_gives_the_reference_bits() {
    let options = [&["--threads", "2"][..], &["--engine", "interpreter"], &["--threads", "1", "--check-races"]];
    for options in options {
        let ran = run_all("shaders", options);
        assert!(ran >= 26, "only {ran} shaders were run");
    }
}
