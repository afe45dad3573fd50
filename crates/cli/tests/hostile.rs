//! Files made to hurt: every verb that reads one ends with an error that says what is wrong, within bounds of memory and
//! time that the system enforces. Never a panic, a signal or a success.
//!
//! `cargo test -p roundonce-cli --test hostile -- --ignored` does the same with a gigabyte of each kind of garbage.
#![cfg(unix)]

use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

/// Address space in KiB, and seconds of processor time: far more than any of these may need.
const LIMITS: &str = "ulimit -v 3000000; ulimit -t 30";

/// A file and what is to be done with it: `FILE` stands for its path.
struct Case {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    commands: &'static [&'static str],
}

fn case(what: &'static str, name: &'static str, bytes: impl Into<Vec<u8>>, commands: &'static [&'static str]) -> Case {
    Case { what, name, bytes: bytes.into(), commands }
}

/// Runs a command under the limits; what it says, if it ended as it should.
fn fails_well(what: &str, path: &Path, command: &str) -> Result<String, String> {
    let line = command.replace("FILE", path.to_str().expect("a plain path"));
    let script = format!("{LIMITS}; exec {} {line}", env!("CARGO_BIN_EXE_roundonce"));
    let output = Command::new("sh").args(["-c", &script]).output().map_err(|error| error.to_string())?;
    // Findings are results, on stdout.
    let mut errors = String::from_utf8_lossy(&output.stderr).into_owned();
    errors.push_str(&String::from_utf8_lossy(&output.stdout));
    // It may quote what it is about, a line of text among others.
    let most = (1 << 16) + 4 * std::fs::metadata(path).map_or(0, |file| file.len() as usize);
    let problem = match (output.status.code(), output.status.signal()) {
        (_, Some(signal)) => format!("ended by signal {signal}"),
        (Some(1..=3), _) if errors.contains("panicked") => "a thread panicked".to_owned(),
        (Some(1..=3), _) if !errors.contains("error") => "no error is told".to_owned(),
        (Some(1..=3), _) if errors.len() > most => format!("{} bytes of errors", errors.len()),
        (Some(1..=3), _) => return Ok(errors),
        (code, _) => format!("exit status {code:?}"),
    };
    let head: String = errors.chars().take(300).collect();
    Err(format!("{what}: `{command}`: {problem}\n  {head}"))
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
/// A SPIR-V module of version 1.3 with this bound and these instructions after the usual beginning.
fn spirv(bound: u32, instructions: &[&[u32]]) -> Vec<u8> {
    let mut all = vec![0x0723_0203, 0x0001_0300, 0, bound, 0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 1];
    for instruction in instructions {
        all.push((instruction.len() as u32) << 16 | instruction[0]);
        all.extend(&instruction[1..]);
    }
    words(&all)
}
/// A .npy file of version 2, whose header says so long and this.
fn npy(length: u32, header: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}
fn npy_of(shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    npy(header.len() as u32, &header)
}
/// An ELF file for Maxwell with one field of its header, or of its section's, set to something.
fn cubin(at: usize, field: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[0x12..0x14].copy_from_slice(&190_u16.to_le_bytes());
    bytes[0x28..0x30].copy_from_slice(&64_u64.to_le_bytes());
    bytes[0x3a..0x40].copy_from_slice(&[64, 0, 2, 0, 0, 0]);
    bytes[at..at + field.len()].copy_from_slice(field);
    bytes
}
fn kernel(body: &str) -> String {
    format!(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n{body}\nret;\n}}\n")
}
/// A gzip file of zeros: a kilobyte a megabyte.
fn zeros_packed(megabytes: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..megabytes {
        packer.write_all(&vec![0; 1 << 20]).expect("memory takes it");
    }
    packer.finish().expect("memory takes it")
}

const PTX: &[&str] = &["check FILE", "run FILE --arg 0=zeros:f32:4"];
const SPIRV: &[&str] = &["check FILE", "run FILE --arg 0.0=zeros:f32:4"];
const ARRAY: &[&str] =
    &["eval fma.rn.f32 --in FILE FILE FILE", "why a*b+c a=FILE b=1f c=1f --saw FILE", "diff FILE FILE"];
const VECTORS: &[&str] = &["vectors verify FILE"];
const MESSAGES: &[&str] = &["lsp <FILE"];

fn cases() -> Vec<Case> {
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let deep = 200_000;
    vec![
        case("blocks in blocks", "deep.ptx", kernel(&(nested("{", "}", 20_000) + "mad.f32 x;")), PTX),
        case("blocks never closed", "open.ptx", kernel(&"{".repeat(deep)), PTX),
        case(
            "a deep constant expression",
            "expression.ptx",
            kernel(&format!(".reg .b32 r;\nmov.b32 r, {}1{};", "(".repeat(deep), ")".repeat(deep))),
            PTX,
        ),
        case(
            "a deep chain of signs",
            "signs.ptx",
            kernel(&format!(".reg .b32 r;\nmov.b32 r, {}1;", "-~".repeat(deep))),
            PTX,
        ),
        case(
            "a long sum of constants",
            "sum.ptx",
            kernel(&format!(".reg .b32 r;\nmov.b32 r, 1{};", "+1".repeat(deep))),
            PTX,
        ),
        case(
            "a huge array",
            "array.ptx",
            kernel(".shared .b8 x[18446744073709551615];"),
            &["run FILE --arg 0=zeros:f32:4"],
        ),
        case(
            "an array whose size wraps",
            "wraps.ptx",
            kernel(".shared .b64 x[4294967296][4294967296];"),
            &["run FILE --arg 0=zeros:f32:4"],
        ),
        case(
            "a number of a million digits",
            "digits.ptx",
            kernel(&format!("mov.b32 r, {};", "9".repeat(1 << 20))),
            PTX,
        ),
        case("an endless comment", "comment.ptx", format!(".version 7.8\n/*{}", "*".repeat(1 << 20)), PTX),
        case("a string without end", "string.ptx", ".version 7.8\n.file 1 \"".to_owned() + &"x".repeat(1 << 20), PTX),
        case("zero bytes", "zeros.ptx", vec![0; 1 << 20], PTX),
        case("an endless loop", "loop.ptx", kernel("l: bra l;"), &["run FILE --arg 0=zeros:f32:4 --step-limit 100000"]),
        case(
            "the largest grid",
            "grid.ptx",
            kernel("l: bra l;"),
            &[
                "run FILE --arg 0=zeros:f32:4 --grid 4294967295,4294967295,4294967295 --block 1024 --step-limit 100000",
                "run FILE --arg 0=zeros:f32:4 --block 4294967295,4294967295,4294967295",
                "run FILE --arg 0=zeros:f32:18446744073709551615",
                "run FILE --arg 0=zeros:f32:1152921504606846976",
            ],
        ),
        case("ids without end", "bound.spv", spirv(u32::MAX, &[]), SPIRV),
        case(
            "an instruction of no words",
            "empty.spv",
            [spirv(8, &[]), words(&[17])].concat(),
            &["check FILE", "run FILE", "disasm FILE"],
        ),
        case(
            "an instruction longer than the module",
            "long.spv",
            [spirv(8, &[]), words(&[0xffff_0011])].concat(),
            &["check FILE", "run FILE", "disasm FILE"],
        ),
        case("a structure that contains itself", "self.spv", spirv(8, &[&[30, 1, 1]]), SPIRV),
        case("two structures that contain each other", "cycle.spv", spirv(8, &[&[30, 1, 2], &[30, 2, 1]]), SPIRV),
        case("an array of itself", "array.spv", spirv(8, &[&[21, 1, 32, 0], &[43, 1, 2, 4], &[28, 3, 3, 2]]), SPIRV),
        case(
            "a constant made of itself",
            "constant.spv",
            spirv(8, &[&[22, 1, 32], &[23, 2, 1, 2], &[44, 2, 3, 3, 3]]),
            SPIRV,
        ),
        case(
            "arrays of arrays beyond all memory",
            "arrays.spv",
            spirv(
                16,
                &[
                    &[21, 1, 32, 0],
                    &[43, 1, 2, u32::MAX],
                    &[28, 3, 1, 2],
                    &[28, 4, 3, 2],
                    &[28, 5, 4, 2],
                    &[28, 6, 5, 2],
                    &[32, 7, 6, 6],
                    &[59, 7, 8, 6],
                ],
            ),
            SPIRV,
        ),
        case("half a word", "half.spv", &spirv(8, &[])[..39], &["check FILE", "run FILE", "disasm FILE"]),
        case(
            "text of nothing",
            "text.spvasm",
            "%".repeat(1 << 20),
            &["check FILE", "run FILE", "asm FILE -o /dev/null"],
        ),
        case(
            "a string without end",
            "string.spvasm",
            "OpName %1 \"".to_owned() + &"x".repeat(1 << 20),
            &["check FILE", "asm FILE -o /dev/null"],
        ),
        case("sections beyond the end", "offset.cubin", cubin(0x28, &u64::MAX.to_le_bytes()), &["disasm FILE"]),
        case("more sections than bytes", "count.cubin", cubin(0x3c, &[0xff, 0xff]), &["disasm FILE"]),
        case("a section of all memory", "size.cubin", cubin(64 + 64 + 0x20, &u64::MAX.to_le_bytes()), &["disasm FILE"]),
        case("half a header", "half.cubin", &cubin(0, b"\x7f")[..40], &["disasm FILE"]),
        case("listing of nothing", "garbage.sass", "FFMA ".repeat(1 << 18), &["check FILE", "run FILE"]),
        case(
            "operands of operands",
            "nested.sass",
            "FFMA R0, ".to_owned() + &nested("c[", "]", deep) + ", R1, R2;",
            &["check FILE", "asm FILE -o /dev/null"],
        ),
        case("a header of four gigabytes", "header.npy", npy(u32::MAX, "{"), ARRAY),
        case("a shape beyond all numbers", "wraps.npy", npy_of("(4294967296, 4294967296, 4294967296)"), ARRAY),
        case("a shape that wraps to nothing", "zero.npy", npy_of("(4294967296, 4294967296)"), ARRAY),
        case("more elements than bytes", "elements.npy", npy_of("(4611686018427387903,)"), ARRAY),
        case("a negative shape", "negative.npy", npy_of("(-1,)"), ARRAY),
        case("a shape in shapes", "deep.npy", npy_of(&nested("(", ")", deep)), ARRAY),
        case("no header", "no.npy", npy(10, "{}        "), ARRAY),
        case("a footer beyond the beginning", "footer.parquet", *b"PAR1\xf0\xff\xff\xffPAR1", VECTORS),
        case(
            "a footer of nothing",
            "zeros.parquet",
            [b"PAR1".as_slice(), &[0; 4096], b"\x00\x10\x00\x00PAR1"].concat(),
            VECTORS,
        ),
        case(
            "a footer of all ones",
            "ones.parquet",
            [b"PAR1".as_slice(), &[0xff; 4096], b"\x00\x10\x00\x00PAR1"].concat(),
            VECTORS,
        ),
        case(
            "an archive of nothing",
            "bad.npz",
            *b"PK\x05\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            VECTORS,
        ),
        case("arrays in arrays", "deep.jsonl", nested("[", "]", deep), VECTORS),
        case("objects in objects", "objects.jsonl", "{\"a\":".repeat(deep), VECTORS),
        case("one long line", "line.jsonl", vec![b'x'; 8 << 20], VECTORS),
        case("a packed long line", "line.jsonl.gz", zeros_packed(16), VECTORS),
        case("a message beyond all memory", "length.rpc", "Content-Length: 99999999999999\r\n\r\n{}", MESSAGES),
        case("a message without a header", "header.rpc", "garbage", MESSAGES),
        case("a header without end", "endless.rpc", vec![b'x'; 8 << 20], MESSAGES),
        case("a packed file cut off", "cut.jsonl.gz", &zeros_packed(1)[..500], VECTORS),
    ]
}

#[test]
fn hostile_files_end_in_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    for Case { what, name, bytes, commands } in cases() {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("the file is written");
        problems.extend(commands.iter().filter_map(|command| fails_well(what, &path, command).err()));
    }
    assert!(problems.is_empty(), "{} of the hostile files:\n{}", problems.len(), problems.join("\n"));
}

/// Expressions and lines, which come by the command line or stdin.
#[test]
fn hostile_words_end_in_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = folder.path();
    let deep = format!("why {}a{} a=1f --saw 1f", "\\(".repeat(20_000), "\\)".repeat(20_000));
    let open = format!("why {}a a=1f --saw 1f", "\\(".repeat(20_000));
    let exponent = "eval fma.rn.f32 1e999999999999999999999 1 x";
    let long = "x".repeat(100_000);
    let words = [format!("eval fma.rn.f32 {long} 1 2"), format!("run k.ptx --threads {long}"), format!("forms {long}")];
    let problems: Vec<String> = [deep.as_str(), &open, exponent]
        .into_iter()
        .chain(words.iter().map(String::as_str))
        .filter_map(|command| fails_well("the command line", nothing, command).err())
        .map(|problem| problem.chars().take(400).collect())
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Nothing but zeros, a gigabyte, sparse on the disk, as each kind of file.
#[test]
#[ignore = "reads a gigabyte a command; dev/nightly.sh runs it"]
fn a_gigabyte_of_zeros_ends_in_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    for (name, commands) in [
        ("zeros.ptx", PTX),
        ("zeros.spv", SPIRV),
        ("zeros.spvasm", SPIRV),
        ("zeros.sass", &["check FILE", "run FILE"]),
        ("zeros.cubin", &["disasm FILE"]),
        ("zeros.npy", ARRAY),
        ("zeros.parquet", VECTORS),
        ("zeros.npz", VECTORS),
        ("zeros.jsonl", VECTORS),
        ("zeros.txt", VECTORS),
    ] {
        let path = folder.path().join(name);
        File::create(&path).and_then(|file| file.set_len(1 << 30)).expect("a sparse file");
        problems.extend(commands.iter().filter_map(|command| fails_well("a gigabyte of zeros", &path, command).err()));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
