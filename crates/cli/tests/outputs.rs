//! Outputs and inputs as a Unix user expects them: links, modes, streams, signals, full disks, any bytes in a name; and
//! that nothing done is no success.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const ROUNDONCE: &str = env!("CARGO_BIN_EXE_roundonce");

/// A script of sh in a folder; `$R` is the command.
fn sh(folder: &TempDir, script: &str) -> Output {
    Command::new("timeout").args(["60", "sh", "-c", script]).env("R", ROUNDONCE).current_dir(folder).output().unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A .npy file of f32.
fn npy(values: &[f32]) -> Vec<u8> {
    let mut bytes = roundonce_vectors::npy::Header::bytes("<f4", &[values.len() as u64]);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn a_link_and_a_mode_stay() {
    let folder = folder();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let real = folder.path().join("elsewhere/real.jsonl");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o604)).unwrap();
    symlink("elsewhere/real.jsonl", folder.path().join("link")).unwrap();
    symlink("elsewhere/new.jsonl", folder.path().join("dangling")).unwrap();
    let ran =
        sh(&folder, "$R vectors gen fma.rn.f32 --count 2 -o link && $R vectors gen fma.rn.f32 --count 2 -o dangling");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    for name in ["link", "dangling"] {
        assert!(folder.path().join(name).is_symlink(), "{name}");
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap().lines().count(), 2, "{name}");
    }
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o604);
    assert_eq!(names(&folder.path().join("elsewhere")), ["new.jsonl", "real.jsonl"]);
}

/// Devices, pipes and what is open already, for formats that are written in order and for those that are not.
#[test]
fn streams() {
    let folder = folder();
    let script = "for format in jsonl npz; do
            $R vectors gen fma.rn.f32 --count 3 --as $format -o /dev/null || exit
            rm -f pipe; mkfifo pipe
            $R vectors gen fma.rn.f32 --count 3 --as $format -o pipe & $R vectors verify pipe && wait $! || exit
            { $R vectors gen fma.rn.f32 --count 3 --as $format -o /dev/stdout; } | $R vectors verify - || exit
            $R vectors gen fma.rn.f32 --count 3 --as $format -o - | $R vectors verify /dev/stdin || exit
        done
        { echo before; $R vectors gen fma.rn.f32 --count 1 -o /dev/stdout; echo after; } > all.txt
        [ -p pipe ] && [ -c /dev/null ] && cat all.txt";
    let ran = sh(&folder, script);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let lines: Vec<&str> = text(&ran.stdout).lines().collect();
    assert_eq!(lines[..6], ["fma.rn.f32: 3 vectors, as expected"; 6]);
    assert_eq!((lines[6], lines[8], lines.len()), ("before", "after", 9));
}

/// Arrays are read from pipes and written to them.
#[test]
fn arrays_through_pipes() {
    let folder = folder();
    fs::write(folder.path().join("a.npy"), npy(&[1.0, 2.0, 3.0])).unwrap();
    let script = "mkfifo in.npy out.npy
        cat a.npy > in.npy & cat out.npy > result.npy &
        $R eval add.rn.f32 --in in.npy 1.0 --out out.npy && wait";
    let ran = sh(&folder, script);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert_eq!(fs::read(folder.path().join("result.npy")).unwrap(), npy(&[2.0, 3.0, 4.0]));
}

#[test]
fn a_signal_leaves_nothing() {
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let folder = folder();
        // A shell's background jobs ignore SIGINT, and the command ignores what it finds ignored.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM,HUP,QUIT", ROUNDONCE]);
        command.args(["vectors", "gen", "fma.rn.f32", "--count", "1000000000", "-o", "v.jsonl"]);
        let mut child = command.current_dir(&folder).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        while names(folder.path()).is_empty() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(names(folder.path())[0].starts_with(".roundonce-"));
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let number = [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)].into_iter().find(|(name, _)| *name == signal);
        assert_eq!(child.wait().unwrap().signal(), number.map(|(_, number)| number));
        assert_eq!(names(folder.path()), Vec::<String>::new(), "{signal}");
    }
}

/// What fails says so once, names what it was writing, and leaves what was there.
#[test]
fn what_cannot_be_written() {
    let folder = folder();
    let full = "No space left on device (os error 28)";
    let large = "File too large (os error 27)";
    let limited = "trap '' XFSZ; ulimit -f 1; exec $R vectors gen fma.rn.f32 -o v";
    fs::write(folder.path().join("v.jsonl"), "old").unwrap();
    for (script, problem) in [
        ("$R vectors gen fma.rn.f32 -o /dev/full".to_owned(), format!("/dev/full: {full}")),
        ("$R vectors gen fma.rn.f32 --as npz -o /dev/full".to_owned(), format!("/dev/full: {full}")),
        ("$R forms > /dev/full".to_owned(), format!("standard output: {full}")),
        ("$R --help > /dev/full".to_owned(), format!("standard output: {full}")),
        (
            "$R why > /dev/full 2> e; code=$?; tail -n 1 e >&2; exit $code".to_owned(),
            format!("standard output: {full}"),
        ),
        (format!("{limited}.jsonl"), format!("v.jsonl: {large}")),
        (format!("{limited}.npz"), format!("v.npz: {large}")),
        (
            "$R vectors gen fma.rn.f32 -o no/v.jsonl".to_owned(),
            "no/v.jsonl: No such file or directory (os error 2)".to_owned(),
        ),
        ("$R vectors gen fma.rn.f32 -o .".to_owned(), ".: is a directory".to_owned()),
    ] {
        let ran = sh(&folder, &script);
        assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(2), &*format!("error: {problem}\n")), "{script}");
    }
    fs::remove_file(folder.path().join("e")).unwrap();
    assert_eq!(names(folder.path()), ["v.jsonl"]);
    assert_eq!(fs::read(folder.path().join("v.jsonl")).unwrap(), b"old");
}

/// Edits that could not be written were not made.
#[test]
fn a_fix_that_cannot_be_written() {
    let folder = folder();
    let body = "{\n.reg .f32 f<4>;\nmad.f32 f0, f1, f2, f3;\nexit;\n}\n";
    let module = format!(".version 3.2\n.target sm_20\n.entry k ()\n{body}// {}\n", "x".repeat(2000));
    fs::write(folder.path().join("k.ptx"), &module).unwrap();
    let ran = sh(&folder, "trap '' XFSZ; ulimit -f 1; exec $R check --fix k.ptx");
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(2), "error: k.ptx: File too large (os error 27)\n"));
    assert_eq!(fs::read(folder.path().join("k.ptx")).unwrap(), module.as_bytes());
    let ran = sh(&folder, "$R check --fix k.ptx");
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(0), "note: k.ptx: 1 edit made\n"));
}

/// Every verb that takes a path takes one of any bytes, also behind `=`.
#[test]
fn names_of_any_bytes() {
    let folder = folder();
    let at = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    fs::write(at(b"\xff.npy"), npy(&[1.0, 2.0])).unwrap();
    fs::write(at(b"\xff.sass"), "FFMA R2, R0, R1, R1\n").unwrap();
    let ptx = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\nret;\n}\n";
    fs::write(at(b"\xff.ptx"), ptx).unwrap();
    let script = "f=$(printf '\\377'); set -e
        $R vectors gen fma.rn.f32 --count 2 -o $f.jsonl; $R vectors verify $f.jsonl
        $R check $f.sass $f.ptx; $R asm $f.sass -o $f.bin; $R disasm $f.sass -o $f.txt
        $R eval add.rn.f32 --in $f.npy $f.npy --out $f.out.npy
        $R diff $f.npy $f.npy; $R why a+b a=$f.npy b=$f.npy --saw $f.out.npy
        $R diff a+b b+a --data a=$f.npy --data b=$f.npy
        $R run $f.ptx --arg p=$f.npy --out p=$f.2.npy; $R why $f.ptx --arg p=$f.npy --saw p=$f.2.npy
        $R run $f.sass --reg R0=$f.npy --reg R1=1.0 --out R2=$f.3.npy
        $R sweep fma.rn.f32 0 0 0 --out $f.sweep";
    let ran = sh(&folder, script);
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    for name in
        [&b"\xff.jsonl"[..], b"\xff.bin", b"\xff.txt", b"\xff.out.npy", b"\xff.2.npy", b"\xff.3.npy", b"\xff.sweep"]
    {
        assert!(at(name).exists(), "{name:?}");
    }
    // A URI has the name's bytes.
    fs::write(at(b"\xfe \xc3\xa9.ptx"), ptx.replace("ret", "rat")).unwrap();
    let ran = sh(
        &folder,
        "$R check --format sarif $(printf '\\376 \\303\\251').ptx"
            .replace("$(", "\"$(")
            .replace(".ptx", ".ptx\"")
            .as_str(),
    );
    assert!(text(&ran.stdout).contains(r#"{"uri":"%FE%20%C3%A9.ptx"}"#), "{}", text(&ran.stdout));
    let ran = sh(&folder, "$R why a+b a=$(printf '\\377') b=1f");
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(2), "error: `\u{fffd}` is not UTF-8\n"));
}

/// A byte order mark is no part of a text.
#[test]
fn byte_order_marks() {
    let folder = folder();
    let marked = |name: &str, text: &str| fs::write(folder.path().join(name), format!("\u{feff}{text}")).unwrap();
    marked("v.sass", "FFMA R2, R0, R1, R1\n");
    marked("v.ptx", ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n");
    marked("v.spvasm", "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n");
    marked("v.txt", "3F800000 3F800000 3F800000 40000000 00\n");
    marked("v.jsonl", "{\"instruction\":\"add.rn.f32\",\"a\":0,\"b\":0,\"d\":0}\n");
    marked("v.lines", "add.rn.f32 0x3f800000 0x3f800000\n");
    let script = "set -e; for f in v.sass v.ptx v.spvasm; do $R check $f; done
        { printf '\\357\\273\\277'; $R asm v.sass; } > v.hex; $R disasm --no-control v.hex > /dev/null
        $R asm v.spvasm -o v.spv; $R run v.ptx
        $R vectors verify v.txt --instruction fma.rn.f32; $R vectors verify v.jsonl; $R eval - < v.lines";
    let ran = sh(&folder, script);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    assert!(text(&ran.stdout).ends_with("0x40000000\n"), "{}", text(&ran.stdout));
}

/// Fixes keep the mark, and capitals in a name are no other language.
#[test]
fn fixes_keep_a_byte_order_mark() {
    let folder = folder();
    let kernel =
        "\u{feff}.version 3.2\n.target sm_20\n.entry k()\n{\n.reg .f32 f<4>;\nmad.f32 f0, f1, f2, f3;\nexit;\n}\n";
    fs::write(folder.path().join("A.PTX"), kernel).unwrap();
    let ran = sh(&folder, "$R check --fix A.PTX");
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let fixed = fs::read_to_string(folder.path().join("A.PTX")).unwrap();
    assert_ne!(fixed, kernel);
    assert!(fixed.starts_with("\u{feff}.version"), "{fixed}");
}

/// The language server ends with 0 behind `shutdown` and `exit` alone, and with a sentence.
#[test]
fn a_language_server_ends_as_the_protocol_has_it() {
    let folder = folder();
    let frame = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let initialize = r#"{"id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let (shutdown, exit) = (r#"{"id":2,"method":"shutdown"}"#, r#"{"method":"exit"}"#);
    let hasty = "error: lsp: the client sent `exit` without `shutdown`\n";
    for (messages, code, said) in [
        (vec![initialize, "{", shutdown, exit], 0, ""),
        (vec![initialize, exit], 1, hasty),
        (vec![exit], 1, hasty),
        (vec![initialize], 1, "error: lsp: the client went away without `exit`\n"),
    ] {
        let input: String = messages.iter().map(|message| frame(message)).collect();
        fs::write(folder.path().join("input"), input).unwrap();
        let ran = sh(&folder, "$R lsp < input");
        assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(code), said), "{messages:?}");
        assert_eq!(text(&ran.stdout).contains("-32700"), code == 0, "{messages:?}");
    }
}

/// One word that is no instruction is one error.
#[test]
fn an_unknown_opcode_is_reported_once() {
    let folder = folder();
    let ran = sh(&folder, "printf '%%1 = OpFoo\\n%%2 = OpBar\\n' > k.spvasm; $R check --format json k.spvasm");
    assert_eq!(text(&ran.stdout).lines().count(), 2, "{}", text(&ran.stdout));
}

/// What the help does not list is not suggested.
#[test]
fn hidden_verbs_are_not_suggested() {
    let folder = folder();
    let shown = |word: &str| text(&sh(&folder, &format!("$R {word}")).stderr).to_owned();
    assert!(!shown("mann").contains("tip"), "{}", shown("mann"));
    assert!(shown("evla").contains("'eval'"), "{}", shown("evla"));
}

/// An infinity that a number was rounded to is not that number.
#[test]
fn infinities_are_not_said_to_be_exact() {
    let folder = folder();
    let first = |word: &str| text(&sh(&folder, &format!("$R bits {word}")).stdout).lines().next().map(str::to_owned);
    assert_eq!(first("1e400").as_deref(), Some("1e400   f64, inf"));
    assert_eq!(first("2.0").as_deref(), Some("2.0   f64, exactly 2"));
}

/// Empty, blank, of comments alone, or cut off: exit 2, and a sentence.
#[test]
fn nothing_is_no_success() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let nothing = "no vector is in it: nothing was verified";
    let empty = "the file is empty: expected a module";
    let mut cases: Vec<(String, &str)> = Vec::new();
    for (name, bytes) in [("e", ""), ("blank", " \n\n\t\n"), ("mark", "\u{feff}\n")] {
        for extension in ["jsonl", "txt"] {
            write(&format!("{name}.{extension}"), bytes.as_bytes());
            cases.push((format!("vectors verify {name}.{extension}"), nothing));
        }
        for extension in ["ptx", "sass", "spvasm", "spv"] {
            write(&format!("{name}.{extension}"), bytes.as_bytes());
            cases.push((format!("check {name}.{extension}"), empty));
            cases.push((format!("run {name}.{extension}"), empty));
        }
        cases.push((format!("asm {name}.sass"), empty));
        cases.push((format!("disasm {name}.sass"), empty));
        cases.push((format!("asm {name}.spvasm -o out.spv"), empty));
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"\n").unwrap();
    write("e.jsonl.gz", &packed.finish().unwrap());
    cases.push(("vectors verify e.jsonl.gz".to_owned(), nothing));
    write("c.sass", b"// nothing\n");
    let listing = "the listing has no instruction";
    cases.extend(["check", "run", "asm", "disasm"].map(|verb| (format!("{verb} c.sass"), listing)));
    write("c.ptx", b"// nothing\n");
    write("c.spvasm", b"; nothing\n");
    write("no.spvasm", b"OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n");
    let kernel = "there is no kernel in it";
    let commands = ["run c.ptx", "run c.ptx --smoke", "run no.spvasm --smoke", "translate c.ptx --to ptx"];
    cases.extend(commands.map(|command| (command.to_owned(), kernel)));
    cases.push(("asm c.spvasm -o out.spv".to_owned(), "c.spvasm: there is no instruction in it"));
    write("k.ptx", ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n".as_bytes());
    cases.push((
        "run k.ptx --grid 2 --block 3 --trace 6".to_owned(),
        "there is no lane 6 to trace: the launch has 6, counted from 0",
    ));
    write("z.npy", &npy(&[]));
    let explain = "it has no elements: there is nothing to explain";
    cases.push(("why a+b a=z.npy b=z.npy --saw z.npy".to_owned(), explain));
    cases.push(("why 'sum(a)' a=z.npy --saw 0f".to_owned(), explain));
    cases.push(("diff z.npy z.npy".to_owned(), "the arrays have no elements: there is nothing to compare"));
    let ran = sh(&folder, "for f in npz parquet jsonl; do $R vectors gen fma.rn.f32 -o v.$f; done; gzip v.jsonl");
    let whole = if text(&ran.stderr).contains("parquet") {
        vec!["v.npz", "v.jsonl.gz"]
    } else {
        vec!["v.npz", "v.parquet", "v.jsonl.gz"]
    };
    for name in whole {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        for length in [1, 3, 10, bytes.len() / 2, bytes.len() - 1] {
            write(&format!("{length}{name}"), &bytes[..length]);
            cases.push((format!("vectors verify {length}{name}"), ""));
        }
    }
    for (command, problem) in cases {
        let ran = sh(&folder, &format!("$R {command}"));
        let errors = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{command}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(problem), "{command}: {errors}");
        assert!(!text(&ran.stdout).contains("as expected"), "{command}");
    }
    // A filter of nothing gives nothing.
    for filter in ["eval -", "asm --lang sass -", "disasm --lang sass -"] {
        let ran = sh(&folder, &format!("$R {filter} < /dev/null"));
        assert_eq!((ran.status.code(), ran.stdout.len(), ran.stderr.len()), (Some(0), 0, 0), "{filter}");
    }
}

/// More threads than work or machine: as quick, and the same.
#[test]
fn too_many_threads() {
    let folder = folder();
    fs::write(folder.path().join("a.npy"), npy(&[1.5; 8])).unwrap();
    let script = "ulimit -t 20; for n in 1 20000; do
            $R eval add.rn.f32 --in a.npy 1.0 --out e$n.npy --threads $n &&
            $R run k.ptx --grid 40000 --threads $n --arg p=a.npy --out p=k$n.npy &&
            $R sweep add.rn.f32.f16 all 0x3f800000 --shard 16 --out s$n --threads $n > s$n.txt || exit
        done; cmp e1.npy e20000.npy && cmp k1.npy k20000.npy && cmp s1.txt s20000.txt";
    let ptx = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\nret;\n}\n";
    File::create(folder.path().join("k.ptx")).and_then(|mut file| file.write_all(ptx.as_bytes())).unwrap();
    let start = Instant::now();
    let ran = sh(&folder, script);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// A record that was edited, rotted, of an older version or of another sweep is evaluated again, and named.
#[test]
fn records_that_do_not_fit() {
    let folder = folder();
    let sweep = "$R sweep fma.rn.f32 0x3f800000..0x3f80000f 0x3f800001 0x00000001 --shard 4 --out s";
    let whole = sh(&folder, sweep);
    assert!(whole.status.success() && whole.stderr.is_empty());
    let other = sh(&folder, "$R sweep fma.rz.f32 0x3f800000..0x3f80000f 0x3f800001 0x00000001 --shard 4 --out other");
    assert!(other.status.success());
    let path = |shard: u32| folder.path().join(format!("s/shards/{shard}.json"));
    let record = fs::read_to_string(path(0)).unwrap();
    let digit = record.find("\"digest\":\"").unwrap() + 10;
    let changed = if &record[digit..=digit] == "0" { "1" } else { "0" };
    fs::write(path(0), format!("{}{changed}{}", &record[..digit], &record[digit + 1..])).unwrap();
    let record = fs::read_to_string(path(1)).unwrap();
    let check = record.find(",\"check\"").unwrap();
    fs::write(path(1), format!("{}}}\n", &record[..check])).unwrap();
    fs::copy(folder.path().join("other/shards/2.json"), path(2)).unwrap();
    let ran = sh(&folder, sweep);
    assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(0), text(&whole.stdout)));
    let named =
        |shard: u32, problem: &str| format!("note: s/shards/{shard}.json: {problem}: the shard is evaluated again\n");
    let edited = "its check does not fit what it says: it was edited or damaged";
    let old = "it has no check, as those of an older version";
    assert_eq!(text(&ran.stderr), [named(0, edited), named(1, old), named(2, edited)].concat());
    assert!(sh(&folder, sweep).stderr.is_empty());
}

/// The reader of the output goes away before all is written: the status is that of the answer.
#[test]
fn a_closed_pipe_keeps_the_status() {
    let folder = folder();
    let bad = ".version 8.0\n.target sm_80\n.entry k { fma.f32 %f1, %f1, %f1, %f1; }\n".repeat(2000);
    fs::write(folder.path().join("bad.ptx"), bad).unwrap();
    for (script, status) in [
        ("$R check bad.ptx", "1"),
        ("$R forms", "0"),
        ("$R diff 'a*b + c' 'fma(a, b, c)'", "1"),
        ("yes 'fma.rn.f32 1 1 x' | $R eval -", "2"),
        ("yes 'fma.rn.f32 1 1 1' | $R eval -", "0"),
    ] {
        let ran = sh(&folder, &format!("( {script}; echo $? > status ) | true; sleep 0.2; cat status"));
        assert_eq!(text(&ran.stdout).trim(), status, "{script}: {}", text(&ran.stderr));
    }
}

/// The language of what comes by stdin is known by what it holds.
#[test]
fn modules_by_stdin() {
    let folder = folder();
    let cli = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    for (file, name) in [
        ("run.in/saxpy.ptx", "k.ptx"),
        ("run-spirv.in/scale.spv", "k.spv"),
        ("run-spirv.in/scale.spvasm", "k.spvasm"),
        ("run-sass.in/axpy.sass", "k.sass"),
        ("compiled.in/plain.cubin", "k.cubin"),
    ] {
        fs::copy(cli.join(file), folder.path().join(name)).unwrap();
        let script =
            format!("$R check --format json {name} | sed 's/{name}/-/' > named; $R check --format json - < {name}");
        let ran = sh(&folder, &format!("{script} > piped; cmp named piped && ($R check - < {name}; [ $? -lt 2 ])"));
        assert!(ran.status.success(), "{name}: {}{}", text(&ran.stdout), text(&ran.stderr));
        assert!(text(&ran.stdout).contains("-: "), "{name}: {}", text(&ran.stdout));
    }
    let words = sh(
        &folder,
        "$R disasm k.cubin > named; $R disasm - < k.cubin | cmp - named; $R disasm - < k.spv | $R asm - -o a.spv && cmp a.spv k.spv",
    );
    assert!(words.status.success(), "{}", text(&words.stderr));
    let ran = sh(&folder, "$R run - --smoke < k.ptx");
    assert!(text(&ran.stdout).starts_with("saxpy: ran"), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let fixed = sh(&folder, "$R check --fix - < k.ptx");
    assert_eq!(fixed.status.code(), Some(2));
    assert!(text(&fixed.stderr).contains("--fix edits files"), "{}", text(&fixed.stderr));
}

#[test]
fn manners() {
    let folder = folder();
    fs::write(folder.path().join("k.ptx"), ".version 8.0\n.target sm_80\n.entry k { fma.f32 %f1, %f1; }\n").unwrap();
    let coloured = |script: &str| text(&sh(&folder, script).stdout).contains('\x1b');
    assert!(coloured("$R check k.ptx --color always") && coloured("$R --color always explain fma.rn.f32 1 1 1"));
    assert!(!coloured("$R check k.ptx") && !coloured("$R check --color never k.ptx"));
    let note = |script: &str| text(&sh(&folder, script).stderr).to_owned();
    assert!(note("$R eval fma.rn.f32 0.1 1 1").starts_with("note: "));
    assert_eq!(note("$R eval -q fma.rn.f32 0.1 1 1"), "");
    assert!(note("$R eval -q fma.rn.f32 zz 1 1").starts_with("error: "));
    // Ten bad rows and a count, however many there are.
    let many = sh(&folder, "yes zz | head -5000 | $R vectors verify - --instruction f32_add");
    assert_eq!((text(&many.stderr).lines().count(), many.status.code()), (11, Some(2)));
    assert!(text(&many.stderr).ends_with("error: 4,990 rows could not be read either\n"), "{}", text(&many.stderr));
    let extension = sh(&folder, "$R vectors gen f32_add -o v.jsonl.gz");
    assert_eq!(extension.status.code(), Some(2));
    assert!(text(&extension.stderr).contains("expected one of .txt"), "{}", text(&extension.stderr));
    assert_eq!(names(folder.path()), ["k.ptx"]);
    // Bits with digits missing.
    for (operand, status) in [("0x3f8", 2), ("-0x3f8", 2), ("0x0", 0), ("0x00000001", 0), ("0x1p-149", 0)] {
        assert_eq!(sh(&folder, &format!("$R eval fma.rn.f32 {operand} 1 1")).status.code(), Some(status), "{operand}");
    }
}
