//! Every kernel of tests/kernels through the command: its buffers afterwards are the reference's, bit for bit.

use std::path::Path;
use std::process::Command;

#[test]
fn every_kernel_gives_the_reference_bits() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels"));
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = case["name"].as_str().unwrap();
        let arguments = case["command"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
        let expected = case["expected"].as_object().unwrap();
        let out = |place: &str| scratch.path().join(format!("{name}.{place}.npy"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        command.current_dir(folder).args(arguments).args(["--format", "json"]);
        for place in expected.keys() {
            command.arg("--out").arg(format!("{place}={}", out(place).display()));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        for (place, file) in expected {
            let wanted = std::fs::read(folder.join(file.as_str().unwrap())).unwrap();
            assert!(std::fs::read(out(place)).unwrap() == wanted, "{name}: argument {place} differs from {file}");
        }
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let approximate: Vec<&str> = report["not_exact"].as_object().unwrap().keys().map(String::as_str).collect();
        let allowed: Vec<&str> =
            case["approximate"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        assert_eq!(approximate, allowed, "{name}: approximate instructions");
        ran += 1;
    }
    assert!(ran >= 21, "only {ran} kernels were run");
}
