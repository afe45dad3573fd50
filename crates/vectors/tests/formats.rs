//! Every format that is written: read back by `verify` where it can be, by a reader of the test's own elsewhere.

mod common;
#[path = "../../roundonce/tests/reader/mod.rs"]
mod reader;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::Bad;
use reader::spellings;
use roundonce_vectors::output::Output;
use roundonce_vectors::{Format, Generated, InstructionUnderTest, Options, Report, verify_file};

fn write(format: Format, spellings: &[&str], count: u64, path: &Path) -> Generated {
    let vectors = Generated::new(spellings, count, 3, &Default::default()).unwrap();
    let mut out = Output::create(path).unwrap();
    format.write(&vectors, &mut out).unwrap();
    out.finish().unwrap();
    vectors
}

fn verified(path: &Path, options: &Options) -> Report {
    let mut bad = Bad::default();
    let report = verify_file(path, options, &mut bad).unwrap();
    assert_eq!(bad.0, [], "{}", path.display());
    report
}

const READ: [(Format, &str); 5] = [
    (Format::TestFloat, "v.txt"),
    (Format::JsonLines, "v.jsonl"),
    (Format::Csv, "v.csv"),
    (Format::Npz, "v.npz"),
    (Format::Parquet, "v.parquet"),
];

#[test]
fn every_form_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in READ {
        let path = folder.path().join(name);
        for spelling in spellings() {
            write(format, &[&spelling], 40, &path);
            let report = verified(&path, &common::of(&spelling));
            assert!(report.is_clean(), "{name}: {}", report.lines().join("\n"));
            assert_eq!(report.vectors, 40, "{name}: {spelling}");
        }
    }
}

#[test]
fn forms_together() {
    let folder = tempfile::tempdir().unwrap();
    let all = spellings();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    // Wide values make the columns strings; without them they are integers.
    let narrow: Vec<&str> = all.iter().copied().filter(|name| !name.contains(".v")).collect();
    for (format, name) in READ.into_iter().skip(1) {
        for spellings in [&all, &narrow] {
            let path = folder.path().join(name);
            write(format, spellings, 25, &path);
            let report = verified(&path, &Options::default());
            assert!(report.is_clean(), "{name}: {}", report.lines().join("\n"));
            assert_eq!(report.instructions.len(), spellings.len(), "{name}");
            assert_eq!(report.vectors, 25 * spellings.len() as u64, "{name}");
        }
    }
}

/// More vectors than a block, a row group's flags among them.
#[test]
fn many() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in READ {
        let path = folder.path().join(name);
        write(format, &["fma.rz.f32.bf16"], 120_000, &path);
        let report = verified(&path, &common::of("fma.rz.f32.bf16"));
        assert_eq!(report.lines(), ["fma.rz.f32.bf16: 120000 vectors, as expected"], "{name}");
    }
}

/// A wrong result is seen in every format, at its row.
#[test]
fn a_wrong_result() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in READ {
        let path = folder.path().join(name);
        write(format, &["fma.rz.f32"], 1000, &path);
        // The rows say .rz; where the file names the instruction itself, it is read as what it is.
        let report = verified(&path, &common::of("fma.rn.f32"));
        let mistaken = format == Format::TestFloat;
        assert_eq!(report.failed > 100, mistaken, "{name}");
    }
    let path = folder.path().join("fma.rn.f32.txt");
    write(Format::TestFloat, &["fma.rn.f32"], 1000, &path);
    assert!(verified(&path, &Options::default()).is_clean());
}

/// A header that a C compiler takes, and whose arrays hold the vectors.
#[test]
fn c_header() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = write(Format::C, &["fma.rn.f32.f16", "add.f64", "OpFmaKHR.v4f32"], 50, &folder.path().join("v.h"));
    let main = r#"
        #include "v.h"
        #include <inttypes.h>
        #include <stdio.h>
        int main(void) {
            for (int i = 0; i < 50; i++) {
                struct fma_rn_f32_f16 v = fma_rn_f32_f16_vectors[i];
                printf("%04" PRIx16 " %04" PRIx16 " %08" PRIx32 " %08" PRIx32 " %02x\n", v.a, v.b, v.c, v.d, v.flags);
            }
            for (int i = 0; i < 50; i++) {
                struct add_f64 v = add_f64_vectors[i];
                printf("%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %02x\n", v.a, v.b, v.d, v.flags);
            }
            for (int i = 0; i < 50; i++) {
                struct OpFmaKHR_v4f32 v = OpFmaKHR_v4f32_vectors[i];
                const uint32_t *all[] = {v.a, v.b, v.c, v.d};
                for (int k = 0; k < 4; k++)
                    printf("%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32 " ", all[k][3], all[k][2], all[k][1], all[k][0]);
                printf("%02x\n", v.flags);
            }
        }"#;
    std::fs::write(folder.path().join("main.c"), main).unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(Command::new("cc").args(["-std=c99", "-Wall", "-Werror", "main.c", "-o", "main"]));
    assert_eq!(run(&mut Command::new("./main")), lines(&vectors, " "));
}

#[test]
fn readmemh() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.hex");
    let vectors = write(Format::Readmemh, &["OpFmaKHR.v3f16"], 50, &path);
    let text = std::fs::read_to_string(path).unwrap();
    let (comments, words): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("//"));
    assert_eq!(comments[0], "// OpFmaKHR.v3f16: {a[47:0], b[47:0], c[47:0], d[47:0], flags[7:0]}");
    assert_eq!(words.join("\n") + "\n", lines(&vectors, "_"));
    // reg [199:0]: every word has as many digits.
    assert!(comments[1].contains("[199:0]") && words.iter().all(|word| word.replace('_', "").len() == 50));
}

/// Operands, result and flags in hex digits.
fn lines(vectors: &Generated, between: &str) -> String {
    let line = |(tested, vector): (&InstructionUnderTest, roundonce_vectors::Vector)| {
        let operation = tested.instruction.recipe.operation;
        let operands = vector.operands.iter().enumerate().map(|(at, value)| value.hex(operation.operand_format(at)));
        let values = operands.chain([vector.result.hex(operation.format)]);
        let mut words: Vec<String> = values.map(|hex| hex[2..].to_owned()).collect();
        words.push(format!("{:02x}", vector.flags.unwrap()));
        words.join(between) + "\n"
    };
    vectors.iter().map(line).collect()
}

/// An extension in capitals is the same one.
#[test]
fn extensions_in_capitals() {
    for (_, name) in READ {
        let written = Format::of_path(Path::new(name)).unwrap();
        assert_eq!(Format::of_path(Path::new(&name.to_uppercase())), Ok(written));
    }
    let cut = tempfile::Builder::new().suffix(".NPZ").tempfile().unwrap();
    let problem = verify_file(cut.path(), &Options::default(), &mut Bad::default()).unwrap_err().to_string();
    assert_eq!(problem, "it is cut short, or no .npz archive: it does not begin like one");
}

/// Who watches sees all that a file needs, and no more.
#[test]
fn watched() {
    let folder = tempfile::tempdir().unwrap();
    for (format, spellings, passes) in [
        (Format::JsonLines, &["add.f32", "fma.rn.f32"][..], 1),
        (Format::C, &["add.f32", "fma.rn.f32"], 1),
        (Format::Parquet, &["add.f32", "fma.rn.f32"], 1),
        // Made anew for a, b, d and the flags; for the names and c too.
        (Format::Npz, &["add.f32"], 4),
        (Format::Npz, &["add.f32", "fma.rn.f32"], 6),
    ] {
        let (made, of) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (seen_made, seen_of) = (Arc::clone(&made), Arc::clone(&of));
        let vectors = Generated::new(spellings, 1500, 3, &Default::default()).unwrap().with_watch(move |more, of| {
            seen_made.fetch_add(more, Ordering::Relaxed);
            seen_of.store(of, Ordering::Relaxed);
        });
        let mut out = Output::create(&folder.path().join("v")).unwrap();
        format.write(&vectors, &mut out).unwrap();
        let expected = 1500 * spellings.len() as u64 * passes;
        assert_eq!([made, of].map(|number| number.load(Ordering::Relaxed)), [expected; 2], "{format:?} {spellings:?}");
    }
}

/// What a format cannot hold is refused, not cut.
#[test]
fn refusals() {
    let two = Generated::new(&["fma.rn.f32", "fma.rz.f32"], 1, 0, &Default::default()).unwrap();
    for (format, problem) in [
        (Format::TestFloat, "TestFloat's text names no instruction: give one, or another format"),
        (Format::Readmemh, "a memory has words of one width: give one instruction, or another format"),
        (Format::Npz, "npz and parquet are no text: name a file"),
    ] {
        let mut out = Vec::new();
        assert_eq!(format.write_text(&two, &mut out).unwrap_err().to_string(), problem);
        assert!(out.is_empty());
    }
}
