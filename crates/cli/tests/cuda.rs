//! CUDA C++ on the command line, with compilers of our own making: what is asked of them, and what is made of what they
//! say. The real ones are asked by `dev/spelling/judge.py`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use tempfile::TempDir;

const TEXT: &str = "__global__ void axpy(float a, const float *x, float *y, int n) {}\n";
const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/diff-kernels.in");

/// A folder with axpy.cu and a compiler, which is a script.
fn folder(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("axpy.cu"), TEXT).unwrap();
    let compiler = folder.path().join("nvcc");
    fs::write(&compiler, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The words after `roundonce`, with the compiler first in the path and nothing else that could be one.
fn roundonce(folder: &TempDir, words: &str) -> (Option<i32>, String, String) {
    let path = format!("{}:/nowhere", folder.path().display());
    let command = Command::new(env!("CARGO_BIN_EXE_roundonce"))
        .args(words.split_whitespace())
        .env_remove("CUDACXX")
        .env("PATH", path)
        .current_dir(folder)
        .output();
    let Output { status, stdout, stderr } = command.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn arguments() -> String {
    format!("--block 64 --arg 0=0x40133333 --arg 1={KERNELS}/x.npy --arg 2={KERNELS}/y.npy --arg 3=64")
}

/// What stands behind `-o` receives a module; the words are kept.
fn compiler_of(module: &str) -> String {
    format!("echo \"$@\" >words\nwhile [ \"$1\" != -o ]; do shift; done\n/bin/cat {KERNELS}/{module} >\"$2\"")
}

#[test]
fn a_line_is_compiled_and_its_kernel_is_found() {
    let split = folder(&compiler_of("axpy.ptx"));
    let (code, _, error) = roundonce(&split, &format!("run axpy.cu {} --out 2=split.npy", arguments()));
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let words = fs::read_to_string(split.path().join("words")).unwrap();
    assert!(words.starts_with("-ptx -lineinfo axpy.cu -o "), "{words}");

    let fused = folder(&compiler_of("fused.ptx"));
    let seen = split.path().join("split.npy");
    let question = format!("why axpy.cu:4 {} --compiler-flags -arch=sm_90 --saw 2={}", arguments(), seen.display());
    let (code, answer, error) = roundonce(&fused, &question);
    assert_eq!(code, Some(0), "{error}");
    assert!(answer.contains("computes the fma of line 32 as a product and a sum"), "{answer}");
    assert!(error.contains("line 4 of axpy.cu is in `axpy`: fma.rn.f32"), "{error}");
    assert!(fs::read_to_string(fused.path().join("words")).unwrap().contains("-arch=sm_90 axpy.cu"));

    let (code, _, error) = roundonce(&fused, &format!("run axpy.cu:1 {}", arguments()));
    assert!(code == Some(2) && error.contains("no instruction comes from line 1: there are some of 2"), "{error}");
    let (code, _, error) = roundonce(&fused, &format!("run axpy.cu --entry saxpy {}", arguments()));
    assert!(code == Some(2) && error.contains("there is no such kernel: it has axpy"), "{error}");
}

#[test]
fn what_does_not_compile() {
    let (code, _, error) = roundonce(&folder("echo 'axpy.cu(1): error: no' >&2; exit 1"), "run axpy.cu");
    assert_eq!(code, Some(2));
    assert!(error.contains("axpy.cu: nvcc does not compile it:\naxpy.cu(1): error: no"), "{error}");
    let none = folder("");
    fs::remove_file(none.path().join("nvcc")).unwrap();
    let (code, _, error) = roundonce(&none, "why axpy.cu:4 --saw 2=x.npy");
    assert!(code == Some(3) && error.contains("install the CUDA toolkit or clang"), "{error}");
    let (code, _, error) = roundonce(&none, "run other.cu");
    assert!(code == Some(2) && error.contains("other.cu: No such file"), "{error}");
    // One that says that it is done and has written nothing.
    let (code, _, error) = roundonce(&folder("exit 0"), "run axpy.cu");
    assert!(code == Some(2) && error.contains("axpy.cu: nvcc wrote no PTX"), "{error}");
}
