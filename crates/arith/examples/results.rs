//! Generated triples and what the pipeline makes of them, a line each: `FORMAT ROUNDING A B C RESULT INEXACT`, in hex.
//! What a model of the pipeline is held against (`dev/proofs/agree.py`).
//!
//! `cargo run --release -p roundonce-arith --example results -- 100000`

#[path = "../tests/common/mod.rs"]
mod common;

use std::io::Write;

use common::{evaluate, generator};
use roundonce_arith::{Flags, Format, NanRule, Operation, Profile, Rounding};

fn main() -> std::io::Result<()> {
    let count: u64 = std::env::args().nth(1).map_or(1000, |count| count.parse().expect("a number of triples"));
    let profile = Profile { nan_f64: NanRule::Canonical, ..Profile::NVIDIA };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (name, format) in Format::NAMED {
        for rounding in Rounding::ALL {
            let operation = Operation::mul_add(format, rounding);
            let mut generator = generator(9000 + rounding as u64, &operation);
            for _ in 0..count {
                let operands @ [a, b, c] = generator.triple();
                let result = evaluate(&operation, &profile, operands);
                let inexact = u8::from(result.flags & Flags::INEXACT.bits() != 0);
                writeln!(out, "{name} {} {a:x} {b:x} {c:x} {:x} {inexact}", rounding.name(), result.bits)?;
            }
        }
    }
    out.flush()
}
