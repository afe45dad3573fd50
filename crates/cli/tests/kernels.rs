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

/// What a matrix kernel gives on another machine, as the references have it, is explained by that machine.
#[test]
fn results_of_another_machine_name_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |case: &Value| {
        let (kernel, number) = case["name"].as_str()?.rsplit_once("_on_")?;
        Some((kernel.to_owned(), format!("sm_{number}")))
    };
    let on_machines: Vec<_> = cases.iter().filter_map(|case| Some((named(case)?, case))).collect();
    let mut found = 0;
    for ((kernel, machine), case) in &on_machines {
        for ((_, other), seen) in on_machines.iter().filter(|((name, at), _)| name == kernel && at != machine) {
            let (place, file) = seen["expected"].as_object().unwrap().iter().next().unwrap();
            let wanted = std::fs::read(folder.join(file.as_str().unwrap())).unwrap();
            if std::fs::read(folder.join(case["expected"][place].as_str().unwrap())).unwrap() == wanted {
                continue;
            }
            let arguments = case["command"].as_array().unwrap()[1..].iter().filter_map(Value::as_str);
            let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
            command.current_dir(&folder).arg("why").args(arguments);
            command.args(["--saw", &format!("{place}={}", file.as_str().unwrap()), "--format", "json"]);
            let output = command.output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{kernel}: {}", String::from_utf8_lossy(&output.stderr)));
            let [explanation] = answer["seen"][0]["explanations"].as_array().unwrap().as_slice() else {
                panic!("{kernel} on {machine}, seen of {other}: {answer}");
            };
            assert_eq!(explanation["changes"][0]["kind"], "machine", "{kernel} on {machine}, seen of {other}");
            let sentence = explanation["sentence"].as_str().unwrap();
            let names: Vec<&str> = sentence.split([' ', ',']).collect();
            assert!(names.contains(&other.as_str()), "{kernel} on {machine}, seen of {other}: {sentence}");
            found += 1;
        }
    }
    assert!(found >= 20, "only {found} pairs of machines differ");
}

/// The command on the kernels' folder: its status and what it says on stderr.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let output = Command::new(env!("CARGO_BIN_EXE_roundonce")).current_dir(folder).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Native code for another machine is not taken for this one's without a word.
#[test]
fn an_engine_that_the_processor_lacks_is_named() {
    let other = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    for (engine, count) in [(other, 1), ("interpreter", 0)] {
        let (status, said) = said(&["run", "saxpy.ptx", "--smoke", "--engine", engine]);
        let note =
            format!("note: --engine {other}: this processor lacks its instructions: the interpreter runs the kernel\n");
        assert_eq!((status, said.matches(&note).count()), (Some(0), count), "{said}");
    }
}

/// A cubin says whose it is.
#[test]
fn another_target_than_the_cubins_is_refused() {
    for (arch, status) in [("sm_61", 0), ("sm_50", 2), ("sm_90", 2)] {
        let (found, said) = said(&["disasm", "maxwell/fir.sm_61.cubin", "--arch", arch]);
        assert_eq!(found, Some(status), "{said}");
        assert_eq!(said.contains("the cubin is for another target than --arch says"), status != 0, "{said}");
    }
}
