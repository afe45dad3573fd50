//! In the place of `parquet.rs` where this build has none: every call says how to get one that has.

use std::fs::File;
use std::io;

use super::Options;
use crate::generate::Generated;
use crate::verify::Verifier;

fn absent() -> io::Error {
    let problem = "this build has no Parquet: `cargo build --release --features parquet` makes one that has";
    io::Error::new(io::ErrorKind::Unsupported, problem)
}

pub(super) fn read_file(_: File, _: &Options, _: &mut Verifier<'_>) -> io::Result<()> {
    Err(absent())
}

pub(super) fn read_bytes(_: Vec<u8>, _: &Options, _: &mut Verifier<'_>) -> io::Result<()> {
    Err(absent())
}

pub(super) fn write(_: &Generated, _: &mut File) -> io::Result<()> {
    Err(absent())
}
