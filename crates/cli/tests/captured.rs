//! What the capture kit brought back from an H100 and an H200: every line is what the program computes, and the other readings of
//! what was open are not.

use std::process::Command;

const VECTORS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/hw/h100-580.159.04-2026-11-26/vectors.jsonl.gz");

/// The exit code and the output of `vectors verify` under a profile.
fn verified(profile: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
    let ran = command.args(["vectors", "verify", "--profile", profile, VECTORS]).output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn every_captured_vector_is_what_is_computed() {
    let (code, said) = verified("sm_90");
    assert_eq!(code, Some(0), "{said}");
    // Multiply-adds, additions and multiplications; and the elements of the matrices.
    assert!(said.contains(" vectors verified"), "{said}");
}

#[test]
fn other_readings_are_refuted() {
    for reading in [
        "tininess=result",
        "tininess=before-rounding",
        "nan_f32=bca",
        "nan_f64=abc",
        "nan_f64=acb",
        "nan_f64=bac",
        "nan_f64=cab",
        "nan_f64=cba",
        "nan_small=bca",
        "fmz_sat_nan=zero",
        "oob_nan=0x7fff",
        "dot_zero=operand",
        "dot_zero=absent",
        "dot_zero_sign=all-negative",
        "dot_addend=to-precision",
    ] {
        let (code, said) = verified(reading);
        assert_eq!(code, Some(1), "{reading}: {said}");
    }
}
