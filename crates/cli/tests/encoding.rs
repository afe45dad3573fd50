//! Modules of PTX in other encodings than UTF-8: comments alone may be.

use std::path::Path;
use std::process::{Command, Output};

const HEADER: &[u8] = b".version 8.6\n.target sm_90\n.address_size 64\n";

fn ran(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_roundonce")).args(arguments).current_dir(folder).output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn comments_of_ptx_are_in_any_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, body: &[u8]| std::fs::write(folder.path().join(name), [HEADER, body].concat()).unwrap();

    write("good.ptx", b"// caf\xe9\n.entry k() { /* \xff\xfe */ ret; } // \xe9");
    assert_eq!(said(&ran(folder.path(), &["check", "good.ptx"])), (Some(0), "good.ptx: valid\n".to_owned()));
    let (status, text) = said(&ran(folder.path(), &["check", "--fix", "good.ptx"]));
    assert_eq!(
        (status, text.as_str()),
        (Some(2), "error: good.ptx: --fix writes UTF-8 text: expected comments in it\n")
    );
    assert_eq!(said(&ran(folder.path(), &["run", "good.ptx"])).0, Some(0));

    // Behind such a byte places are what they were.
    write("finding.ptx", b"/* caf\xe9 */ .entry k() { rte; }\n");
    let (status, text) = said(&ran(folder.path(), &["check", "finding.ptx"]));
    assert!(status == Some(1) && text.contains("finding.ptx:4:25\n"), "{text}");

    for (body, place) in [
        (&b"// \xe9\n.entry k\xe9() { ret; }\n"[..], "5:9: the byte 0xe9"),
        (b".file 1 \"caf\xff.cu\"\n.entry k() { ret; }\n", "4:13: the byte 0xff"),
        (b"/* caf\xe9 */ .entry k() { \xc3 }\n", "4:25: the byte 0xc3"),
    ] {
        write("bad.ptx", body);
        let expected = format!("error: bad.ptx:{place} is not UTF-8 text: expected such ones in comments alone\n");
        assert_eq!(said(&ran(folder.path(), &["check", "bad.ptx"])), (Some(2), expected));
    }
    // In UTF-8 it is a character of the text.
    write("string.ptx", ".file 1 \"café.cu\"\n.entry k() { ret; }\n".as_bytes());
    let (status, text) = said(&ran(folder.path(), &["check", "string.ptx"]));
    assert!(status == Some(1) && text.contains("`é` in a string: expected ASCII"), "{text}");
}
