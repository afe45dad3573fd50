//! Every vector of the TestFloat sample, results and flags.
//!
//! NaN results are compared bit by bit under a profile with TestFloat's rule (the first NaN operand, made quiet), with
//! one named exception, [`hides_the_addend`]; and under NVIDIA's, where any NaN of f16 and f32 must be the canonical
//! one, and one of f64 that of b, else of c, else of a. Nothing else is tolerated. `ROUNDONCE_TESTFLOAT` names another folder of such files.

mod common;

use std::io::Read;
use std::path::PathBuf;

use common::layout;
use flate2::read::GzDecoder;
use roundonce_arith::{Format, NanRule, OperandIndex, Operation, Profile, Rounding, Underflow};
use roundonce_oracle::softfloat::hides_the_addend;

fn folder() -> PathBuf {
    match std::env::var_os("ROUNDONCE_TESTFLOAT") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/edge/testfloat"),
    }
}

/// The lines of `{format}_mulAdd_{rounding}.txt.gz`: operands, result, flags.
fn vectors(name: &str, rounding: Rounding) -> Vec<[u64; 5]> {
    let path = folder().join(format!("{name}_mulAdd_{}.txt.gz", rounding.name()));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| {
            let fields: Vec<u64> = line
                .split_whitespace()
                .map(|field| u64::from_str_radix(field, 16).unwrap_or_else(|_| panic!("not hex: {line}")))
                .collect();
            fields.try_into().unwrap_or_else(|_| panic!("not five fields: {line}"))
        })
        .collect()
}

fn every_vector(name: &str, format: Format) {
    let first = NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C]);
    let theirs = Profile {
        underflow: Underflow::AfterRounding,
        nan_f32: first,
        nan_f64: first,
        nan_small: first,
        ..Profile::NVIDIA
    };
    for rounding in Rounding::ALL {
        let vectors = vectors(name, rounding);
        assert!(vectors.len() > 20_000, "{name} {}: only {} vectors", rounding.name(), vectors.len());
        let operation = Operation::mul_add(format, rounding);
        for [a, b, c, result, flags] in vectors {
            let operands = [a, b, c];
            let outcome = operation.evaluate(&theirs, &operands);
            let case = format!("{name} {} {a:x} {b:x} {c:x}", rounding.name());
            assert_eq!(u64::from(outcome.flags.bits()), flags, "flags of {case}");
            if hides_the_addend(layout(format), operands) {
                assert!(format.is_nan(result) && format.is_nan(outcome.bits), "{case}");
            } else {
                assert_eq!(outcome.bits, result, "{case}: {:x}, not {result:x}", outcome.bits);
            }
            let nvidia = operation.evaluate(&Profile::NVIDIA, &operands);
            assert_eq!(nvidia.flags, outcome.flags, "{case}");
            // An f64 NaN keeps b's payload, then c's, then a's.
            let kept = [b, c, a].into_iter().find(|&bits| format.is_nan(bits));
            let expected = match (format.is_nan(result), format == Format::F64) {
                (true, true) => kept.map_or(outcome.bits, |bits| bits | format.quiet_bit()),
                (true, false) => format.magnitude_mask(),
                (false, _) => outcome.bits,
            };
            assert_eq!(nvidia.bits, expected, "{case}");
        }
    }
}

#[test]
fn f16() {
    every_vector("f16", Format::F16);
}
#[test]
fn f32() {
    every_vector("f32", Format::F32);
}
#[test]
fn f64() {
    every_vector("f64", Format::F64);
}
