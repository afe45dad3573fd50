//! Every example under `--help` runs as it stands, where its files are.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Of the command as a whole, then of each verb.
const VERBS: [&str; 19] = [
    "",
    "eval",
    "explain",
    "bits",
    "why",
    "diff",
    "translate",
    "forms",
    "run",
    "check",
    "lsp",
    "asm",
    "disasm",
    "vectors",
    "vectors gen",
    "vectors verify",
    "vectors run",
    "sweep",
    "completions",
];

/// What an editor says that opens nothing.
fn session(path: &Path) {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    fs::write(path, messages.map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len())).concat()).unwrap();
}

/// A .npy file of four floats.
fn numbers(path: &Path, values: [f32; 4]) {
    let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_example_runs() {
    let command = Path::new(env!("CARGO_BIN_EXE_roundonce"));
    let cli = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    let folder = tempfile::tempdir().unwrap();
    for file in ["run.in/saxpy.ptx", "run-sass.in/axpy.sass", "run-spirv.in/scale.spvasm", "compiled.in/plain.cubin"] {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(cli.join(file), folder.path().join(name)).unwrap();
    }
    numbers(&folder.path().join("x.npy"), [1.5, 2.5, 1e-40, 3.0]);
    numbers(&folder.path().join("y.npy"), [0.1, -2.5, 1.0, 7.0]);
    numbers(&folder.path().join("d.npy"), [0.15, -6.25, 1e-40, 21.0]);
    session(&folder.path().join("session.rpc"));
    let path = format!("{}:{}", command.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for verb in VERBS {
        let help = Command::new(command).args(verb.split_whitespace()).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let examples: Vec<&str> = help.split("Examples:\n").nth(1).unwrap().lines().map(str::trim).collect();
        assert!(examples.len() >= 2, "{verb}");
        for example in examples {
            // Help is at most 100 wide, and a line that was broken is no example.
            assert!(example.starts_with("roundonce ") || example.contains("| roundonce "), "{example}");
            let mut shell = Command::new("bash");
            let run =
                shell.args(["-c", &format!("set -o pipefail; {example}")]).current_dir(&folder).env("PATH", &path);
            let output = run.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{example}: {said}");
        }
    }
}
