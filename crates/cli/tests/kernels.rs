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

/// As compilers write it without optimisation: each argument and each variable has its place in local memory.
const UNOPTIMISED: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)
{
    .local .align 8 .b8 depot[40];
    .reg .b64 %SP, %SPL, %rd<10>;
    .reg .b32 %r<4>;
    .reg .f32 %f<5>;
    .reg .pred %p;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    ld.param.u64 %rd1, [px];
    ld.param.u64 %rd2, [py];
    ld.param.f32 %f1, [pa];
    ld.param.u32 %r1, [pn];
    st.u64 [%SP+0], %rd1;
    add.u64 %rd3, %SPL, 8;
    st.local.u64 [%rd3], %rd2;
    st.f32 [%SP+16], %f1;
    st.u32 [%SP+20], %r1;
    mov.u32 %r2, %tid.x;
    st.u32 [%SP+24], %r2;
    // float *at = x, kept once more.
    ld.u64 %rd4, [%SP];
    st.u64 [%SP+32], %rd4;
    ld.u32 %r2, [%SP+24];
    ld.u32 %r3, [%SP+20];
    setp.ge.u32 %p, %r2, %r3;
    @%p bra END;
    ld.u64 %rd5, [%SP+32];
    mul.wide.u32 %rd6, %r2, 4;
    add.s64 %rd7, %rd5, %rd6;
    ld.f32 %f2, [%rd7];
    ld.local.u64 %rd8, [%SPL+8];
    add.s64 %rd9, %rd8, %rd6;
    ld.f32 %f3, [%rd9];
    ld.f32 %f4, [%SP+16];
    fma.rn.f32 %f3, %f4, %f2, %f3;
    st.f32 [%rd9], %f3;
END:
    ret;
}
";

/// Arguments that are kept in local memory before they are used as addresses are buffers, where no value is given for them.
#[test]
fn addresses_that_are_kept_in_local_memory_are_buffers() {
    let folder = tempfile::tempdir().unwrap();
    // More threads than a count of zero has work for.
    let text = UNOPTIMISED.replace("setp.ge.u32 %p, %r2, %r3;", "setp.ge.u32 %p, %r3, 1;");
    std::fs::write(folder.path().join("k.ptx"), text).unwrap();
    for words in [&["run", "k.ptx", "--smoke"][..], &["translate", "k.ptx", "--to", "spirv", "--verify"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
        let output = command.current_dir(&folder).args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
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
