//! A sweep that is killed goes on where it was, and ends with the digest of one that was left alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// 2^22 results in 256 shards, on two threads.
fn sweep(folder: &Path) -> Child {
    let spaces = ["0x3f80..0x3fbf", "all", "0x3f800000"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
    command.args(["sweep", "fma.rz.f32.bf16"]).args(spaces).arg("--out").arg(folder);
    command.args(["--shard", "16384", "--threads", "2", "--format", "json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn records(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder.join("shards")).into_iter().flatten().flatten();
    names.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json")).count()
}

fn finished(child: Child) -> serde_json::Value {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn killed_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, killed) = (folder.path().join("alone"), folder.path().join("killed"));
    let expected = finished(sweep(&alone));
    assert_eq!(expected["count"], 1 << 22);
    assert_eq!(records(&alone), 256);
    let mut before = 0;
    for _ in 0..3 {
        let mut child = sweep(&killed);
        let start = Instant::now();
        while records(&killed) < before + 20 && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = records(&killed);
        assert!(now >= before + 20 && now < 256, "killed too late or never begun: {before}, then {now}");
        before = now;
    }
    assert_eq!(finished(sweep(&killed)), expected);
    assert_eq!(records(&killed), 256);
}

#[test]
fn what_is_refused_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let sweep = |against: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        command.args(["sweep", "fma.rn.f16", "all", "1", "0"]).args(against).arg("--out").arg(&out).output().unwrap()
    };
    for against in ["bogus", "fma.rn.f32", "fma.rn.f16x2"] {
        assert_eq!(sweep(&["--against", against]).status.code(), Some(2), "{against}");
        assert!(!out.exists(), "{against}");
    }
    assert_eq!(sweep(&[]).status.code(), Some(0));
}
