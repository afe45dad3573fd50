//! Kernels that are small as text and were hard to make ready: each is checked and run by both engines under limits of
//! memory and processor time that the system enforces, and both leave the same output.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

/// Address space in KiB, and seconds of processor time.
const LIMITS: &str = "ulimit -v 2000000; ulimit -t 10";
/// The same for what is refused as larger than its address space.
const LITTLE: &str = "ulimit -v 1000000; ulimit -t 10";

const HEADER: &str = ".version 8.6\n.target sm_100\n.address_size 64\n";

fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// A kernel with these functions before it, so many registers, and this body.
fn kernel(functions: &str, registers: usize, body: &str) -> String {
    format!(
        "{HEADER}{functions}.visible .entry k(.param .u64 o)\n{{\n.reg .f32 %f<{registers}>;\n.reg .pred %p<3>;\n\
         .reg .b32 %r<4>;\n.reg .b64 %b<2>;\nld.param.u64 %b0, [o];\nmov.u32 %r0, %tid.x;\n{body}\
         st.global.f32 [%b0], %f0;\nret;\n}}\n"
    )
}

/// Functions of which each calls the one before it twice.
fn calls_doubled(depth: usize) -> String {
    let first = ".func (.reg .f32 %o) f0(.reg .f32 %a) { add.rn.f32 %o, %a, 0f3F800000; ret; }\n".to_owned();
    let functions = lines(depth, |index| {
        format!(
            ".func (.reg .f32 %o) f{}(.reg .f32 %a) {{ .reg .f32 %t; call (%t), f{index}, (%a); \
             call (%o), f{index}, (%t); ret; }}\n",
            index + 1
        )
    });
    kernel(&(first + &functions), 2, &format!("call (%f0), f{depth}, (%f0);\n"))
}

/// Jumps that all go by one table, each to the labels before all of them or to the end.
fn jumps_by_table(count: usize, table: impl Fn(usize) -> String) -> String {
    let table: Vec<String> = (0..count).map(table).collect();
    let jump = |index| format!("L{index}: setp.eq.u32 %p0, %r0, {index};\n@%p0 bra END;\nbrx.idx %r0, table;\n");
    kernel("", 9, &format!("table: .branchtargets {};\n{}END:\n", table.join(", "), lines(count, jump)))
}

fn shapes() -> Vec<(&'static str, String)> {
    let add = "add.rn.f32 %f0, %f0, 0f3F800000;\n";
    let part = |index: usize| format!("setp.eq.u32 %p0, %r0, {index};\n@%p0 bra L{index};\n{add}L{index}:\n");
    let round = |index: usize| {
        format!("mov.u32 %r1, 0;\nL{index}: {add}add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 2;\n@%p0 bra L{index};\n")
    };
    let to_end = |index: usize| format!("setp.eq.u32 %p0, %r0, {index};\n@%p0 bra END;\n{add}");
    let across = |index: usize| format!("setp.eq.u32 %p0, %r0, {index};\n@%p0 bra M{};\n", index % 8_000);
    let back = |index: usize| format!("setp.gt.u32 %p0, %r0, {};\n@%p0 bra L{};\n", 100 + index, 7_999 - index);
    let function =
        |index: usize| format!(".func (.reg .f32 %o) f{index}(.reg .f32 %a) {{ add.rn.f32 %o, %a, %a; ret; }}\n");
    vec![
        ("ifs", kernel("", 9, &lines(12_000, part))),
        (
            "registers that live together",
            kernel("", 32_001, &{
                let made = lines(32_000, |index| format!("cvt.rn.f32.u32 %f{}, %r0;\n", index + 1));
                made + &lines(32_000, |index| format!("add.rn.f32 %f0, %f0, %f{};\n", index + 1))
            }),
        ),
        (
            "a chain of registers",
            kernel("", 32_001, &lines(32_000, |index| format!("add.rn.f32 %f{}, %f{index}, %f0;\n", index + 1))),
        ),
        (
            "calls",
            kernel(&lines(16_000, function), 2, &lines(16_000, |index| format!("call (%f0), f{index}, (%f0);\n"))),
        ),
        ("calls, 13 times doubled", calls_doubled(13)),
        ("loops", kernel("", 9, &lines(8_000, round))),
        ("loops in loops", kernel("", 9, &(lines(8_000, |index| format!("L{index}:\n")) + &lines(8_000, back)))),
        ("jumps to the end", kernel("", 9, &(lines(12_000, to_end) + "END:\n"))),
        ("jumps across", {
            let targets = lines(8_000, |index| format!("M{index}: {add}"));
            kernel("", 9, &(lines(16_000, across) + &targets))
        }),
        ("jumps by a table", jumps_by_table(1_000, |index| format!("L{index}"))),
        ("jumps by a table that is one label", jumps_by_table(1_000, |_| "END".to_owned())),
        ("braces", kernel("", 9, &("{\n".repeat(50_000) + add + &"}\n".repeat(50_000)))),
        ("stores", kernel("", 9, &lines(20_000, |index| format!("st.global.f32 [%b0+{}], %f0;\n", 4 * index)))),
        ("stores that are read", {
            let read = |at: usize| {
                format!("ld.global.f32 %f1, [%b0+{at}];\nadd.rn.f32 %f0, %f0, %f1;\nst.global.f32 [%b0+{at}], %f0;\n")
            };
            kernel("", 9, &lines(8_000, |index| read(4 * index)))
        }),
        (
            "ends",
            kernel("", 9, &("setp.eq.u32 %p0, %r0, 77;\n".to_owned() + &format!("@%p0 exit;\n{add}").repeat(8_000))),
        ),
        ("carries", kernel("", 9, &"add.cc.u32 %r1, %r1, %r2;\naddc.cc.u32 %r2, %r3, %r1;\n".repeat(10_000))),
    ]
}

fn command(path: &Path, words: &str) -> Output {
    limited(LIMITS, path, words)
}

fn limited(limits: &str, path: &Path, words: &str) -> Output {
    let file = path.to_str().expect("a plain path");
    let script = format!("{limits}; exec {} {}", env!("CARGO_BIN_EXE_roundonce"), words.replace("FILE", file));
    Command::new("sh").args(["-c", &script]).output().expect("sh runs")
}

#[test]
fn within_two_gigabytes_and_ten_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    for (what, text) in shapes() {
        let path = folder.path().join("kernel.ptx");
        std::fs::write(&path, text).expect("a file");
        let output = folder.path().join("out.npy");
        let run = |engine: &str| {
            let words = format!("run FILE --arg o=zeros:f32:20000 --out o={} --block 32 {engine}", output.display());
            let ended = command(&path, &words);
            assert!(ended.status.success(), "{what}: {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
            std::fs::read(&output).expect("an array")
        };
        let expected = run("--engine interpreter");
        for engine in ["", "--engine native"] {
            assert!(run(engine) == expected, "{what}: the engines differ");
        }
        assert!(command(&path, "check FILE").status.success(), "{what}: check");
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.ptx");
    // 2^22 and 2^40 calls.
    for depth in [22, 40] {
        std::fs::write(&path, calls_doubled(depth)).expect("a file");
        let ended = command(&path, "run FILE --arg o=zeros:f32:1");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{said}");
        assert!(said.contains("more than 1048576 operations and blocks, its calls inlined"), "{said}");
        assert_eq!(said.matches("error").count(), 1, "{said}");
    }
    let functions = lines(2_000, |index| {
        format!(".func (.reg .f32 %o) f{index}(.reg .f32 %a) {{ add.rn.f32 %o, %a, %a; ret; }}\n")
    });
    let called = lines(2_000, |index| format!("mov.b64 %b1, f{index};\n"))
        + "p: .callprototype (.reg .f32 _) _ (.reg .f32 _);\n"
        + &"call (%f0), %b1, (%f0), p;\n".repeat(2_000);
    for (what, text) in [
        ("jumps by a table", jumps_by_table(10_000, |index| format!("L{index}"))),
        ("calls through addresses", kernel(&functions, 9, &called)),
    ] {
        std::fs::write(&path, text).expect("a file");
        let ended = command(&path, "run FILE --arg o=zeros:f32:1");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{what}: {said}");
        assert!(said.contains("more than 1048576 operations and blocks"), "{what}: {said}");
    }
    let limited = command(&path, "run FILE --arg o=zeros:f32:1 --limit-instructions 1000");
    assert!(String::from_utf8_lossy(&limited.stderr).contains("more than 1000 operations"));
    // Registers of 2,048 lanes take memory as they are written.
    let made = lines(1_000, |index| format!("cvt.rn.f32.u32 %f{}, %r0;\n", index + 1));
    let added = lines(1_000, |index| format!("add.rn.f32 %f0, %f0, %f{};\n", index + 1));
    std::fs::write(&path, kernel("", 1_001, &(made + &added))).expect("a file");
    let ended = command(&path, "run FILE --arg o=zeros:f32:1 --block 32 --engine interpreter --memory-limit 1000000");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("the registers take"), "{said}");
}

#[test]
fn limits_of_the_address_space() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.ptx");
    let jumps = |count: usize| kernel("", 9, &("@%p0 bra A;\n".repeat(count) + "A:\n"));
    std::fs::write(&path, jumps(600_000)).expect("a file");
    // The kernel would take as much as there is, whatever limit is asked for.
    let ended = limited(LITTLE, &path, "run FILE --arg o=zeros:f32:1 --limit-instructions 100000000");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("more than 533333 operations and blocks"), "{said}");
    // So would a module.
    std::fs::write(&path, jumps(700_000)).expect("a file");
    let ended = limited(LITTLE, &path, "check FILE");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("more than 7 MiB: expected a module"), "{said}");
}
