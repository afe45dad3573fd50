//! The long comparison: generated triples by the thousand million against SoftFloat, MPFR or the processor's own fused
//! multiply-add, on every core; and the vector kernels against the pipeline that these have judged. The kernels of f16
//! and bf16 against SoftFloat: `pairs`, additions and multiplications, all of them if COUNT is 2^32, and `triples`.
//!
//! `cargo run --release -p roundonce-arith --features mpfr --example nightly -- softfloat 1000000000 f32`
//!
//! One line a format and direction; `ROUNDONCE_RECORD` names a file that takes it as a record. Triple number n of a run is
//! the same on every machine and with any number of cores.

#[path = "../tests/common/batch.rs"]
mod batch;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/half.rs"]
mod half;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use common::{UNDERFLOW, direction, evaluate, generator, layout};
use roundonce_arith::batch::{Batch, Level};
use roundonce_arith::{ArithOp, Clamp, Format, NanRule, OperandIndex, Operation, Profile, Rounding};
use roundonce_oracle::record::{self, Record};
use roundonce_oracle::softfloat::{self, Call};

/// Triples that share a seed: what one thread takes at a time.
const CHUNK: u64 = 1 << 20;

const FORMATS: [(&str, Format); 3] = [("f16", Format::F16), ("f32", Format::F32), ("f64", Format::F64)];
/// Those that have kernels on the arithmetic of f32.
const HALVES: [(&str, Format); 2] = [("f16", Format::F16), ("bf16", Format::BF16)];

/// Compares `count` triples of one chunk; says the first that differ, and how many do.
type Comparison = fn(Operation, u64, u64) -> u64;

fn against_softfloat(operation: Operation, chunk: u64, count: u64) -> u64 {
    let format = operation.format;
    let first = NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C]);
    // One tininess rule for the even chunks, the other for the odd ones.
    let before = chunk % 2 == 1;
    let underflow = UNDERFLOW[usize::from(before)];
    let profile = Profile { underflow, nan_f32: first, nan_f64: first, nan_small: first, ..Profile::NVIDIA };
    let direction = direction(operation.rounding);
    let mut generator = generator(seed(operation, chunk, 1), &operation);
    let mut mismatches = 0;
    for _ in 0..count {
        let operands = generator.triple();
        let product = evaluate(&operation, &profile, operands);
        let judge = softfloat::judge(Call::MulAdd, layout(format), direction, before, operands);
        if product != judge {
            // The bits of that NaN are the one named difference; its flags are not.
            let hidden = softfloat::hides_the_addend(layout(format), operands);
            let named = hidden && format.is_nan(product.bits) && format.is_nan(judge.bits);
            if !(named && product.flags == judge.flags) {
                mismatches += 1;
                report(mismatches, &format!("{operation:?} {operands:#x?}: product {product:?}, judge {judge:?}"));
            }
        }
    }
    mismatches
}

#[cfg(feature = "mpfr")]
fn against_mpfr(operation: Operation, chunk: u64, count: u64) -> u64 {
    use roundonce_oracle::mpfr::{FLAGS, Judge};
    let profile = Profile { nan_f64: NanRule::Canonical, ..Profile::NVIDIA };
    let direction = direction(operation.rounding);
    let mut judge = Judge::new(layout(operation.format));
    let mut generator = generator(seed(operation, chunk, 2), &operation);
    let mut mismatches = 0;
    for _ in 0..count {
        let operands = generator.triple();
        let mut product = evaluate(&operation, &profile, operands);
        product.flags &= FLAGS;
        let judge = judge.mul_add(direction, operands);
        if product != judge {
            mismatches += 1;
            report(mismatches, &format!("{operation:?} {operands:#x?}: product {product:?}, judge {judge:?}"));
        }
    }
    mismatches
}

#[cfg(not(feature = "mpfr"))]
fn against_mpfr(_: Operation, _: u64, _: u64) -> u64 {
    panic!("build with --features mpfr");
}

/// The processor's AVX-512, whose NaN bits are not compared.
#[cfg(target_arch = "x86_64")]
fn against_processor(operation: Operation, chunk: u64, count: u64) -> u64 {
    use roundonce_oracle::processor::{TRIPLES, mul_add_f32, mul_add_f64};
    let format = operation.format;
    let judge = if format == Format::F32 { mul_add_f32 } else { mul_add_f64 };
    let direction = direction(operation.rounding);
    let mut generator = generator(seed(operation, chunk, 4), &operation);
    let mut mismatches = 0;
    let mut left = count as usize;
    while left > 0 {
        let triples: [[u64; 3]; TRIPLES] = std::array::from_fn(|_| generator.triple());
        let results = judge(direction, &triples);
        for (operands, result) in triples.iter().zip(results).take(left) {
            let bits = evaluate(&operation, &Profile::NVIDIA, *operands).bits;
            if bits != result && !(format.is_nan(bits) && format.is_nan(result)) {
                mismatches += 1;
                report(mismatches, &format!("{operation:?} {operands:#x?}: product {bits:#x}, processor {result:#x}"));
            }
        }
        left -= TRIPLES.min(left);
    }
    mismatches
}

#[cfg(not(target_arch = "x86_64"))]
fn against_processor(_: Operation, _: u64, _: u64) -> u64 {
    panic!("the processor is a judge on x86-64 alone");
}

/// The vector kernels against the scalar pipeline: the chunks take turns with the operations, flushing, `.FMZ`,
/// saturation, and for f32 the format of the factors.
fn kernels(operation: Operation, chunk: u64, count: u64) -> u64 {
    let modes = chunk / 3 % 8;
    let factors = match (operation.format, chunk / 24 % 3) {
        (Format::F32, 1) => Format::F16,
        (Format::F32, 2) => Format::BF16,
        (format, _) => format,
    };
    let operation = Operation {
        op: [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul][(chunk % 3) as usize],
        source_format: factors,
        flush: modes & 1 != 0,
        fmz: modes & 2 != 0,
        clamp: if modes & 4 != 0 { Clamp::Unit } else { Clamp::None },
        ..operation
    };
    let mut generator = generator(seed(operation, chunk, 3), &operation);
    let triples: Vec<[u64; 3]> = (0..count).map(|_| generator.triple()).collect();
    let profile = Profile::NVIDIA;
    let mut mismatches = 0;
    for level in Level::ALL.into_iter().filter(|level| *level != Level::Portable && level.is_available()) {
        let results = batch::compute(&Batch::at_level(operation, &profile, level), &triples);
        for (operands, found) in triples.iter().zip(results) {
            let expected = evaluate(&operation, &profile, *operands).bits;
            if found != expected {
                mismatches += 1;
                report(mismatches, &format!("{level:?} {operation:?} {operands:#x?}: {found:#x}, not {expected:#x}"));
            }
        }
    }
    mismatches
}

fn pairs(operation: Operation, chunk: u64, count: u64) -> u64 {
    half::pairs(operation, chunk * CHUNK, count)
}

fn triples(operation: Operation, chunk: u64, count: u64) -> u64 {
    half::triples(operation, seed(operation, chunk, 5), count)
}

/// Every judge, format, direction and chunk has triples of its own.
fn seed(operation: Operation, chunk: u64, judge: u64) -> u64 {
    (judge << 60) + (u64::from(operation.format.width()) << 52) + ((operation.rounding as u64) << 48) + chunk
}

fn report(number: u64, text: &str) {
    if number <= 3 {
        eprintln!("{text}");
    }
}

/// All chunks of one run, on all cores; the number of mismatches.
fn run(comparison: Comparison, operation: Operation, count: u64) -> u64 {
    let next = AtomicU64::new(0);
    let work = || {
        let mut mismatches = 0;
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            let begin = chunk * CHUNK;
            if begin >= count {
                return mismatches;
            }
            mismatches += comparison(operation, chunk, CHUNK.min(count - begin));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).sum()
    })
}

fn every_direction(formats: &[(&str, Format)]) -> Vec<Operation> {
    let of = |&(_, format): &(&str, Format)| Rounding::ALL.map(|rounding| Operation::mul_add(format, rounding));
    formats.iter().flat_map(of).collect()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "nightly softfloat|mpfr|processor|kernels|pairs|triples COUNT [f16|bf16|f32|f64]... [rn|rz|rm|rp]...";
    let (judge, count, only) = match arguments.as_slice() {
        [judge, count, only @ ..] => (judge.as_str(), count.parse().expect(usage), only),
        _ => panic!("{usage}"),
    };
    let (comparison, title): (Comparison, _) = match judge {
        "softfloat" => (against_softfloat, "SoftFloat"),
        "mpfr" => (against_mpfr, "MPFR"),
        "processor" => (against_processor, "processor"),
        "kernels" => (kernels, "scalar pipeline"),
        "pairs" => (pairs, "SoftFloat"),
        "triples" => (triples, "SoftFloat"),
        _ => panic!("{usage}"),
    };
    // What is being run, not what the tree will hold when it ends.
    record::state();
    let operations: Vec<Operation> = match judge {
        "pairs" => HALVES.into_iter().flat_map(|(_, format)| half::of_pairs(format)).collect(),
        "triples" => every_direction(&HALVES),
        // It has no f16.
        "processor" => every_direction(&FORMATS[1..]),
        _ => every_direction(&FORMATS),
    };
    // None of the words of a kind are the same as all of them.
    let wanted = |word: &str, all: &[&str]| only.iter().any(|o| o == word) || !only.iter().any(|o| all.contains(&&**o));
    let mut all_agree = true;
    for operation in operations {
        let (name, rounding) = (operation.format.name().unwrap_or_default(), operation.rounding.name());
        if !wanted(name, &["f16", "bf16", "f32", "f64"]) || !wanted(rounding, &Rounding::ALL.map(Rounding::name)) {
            continue;
        }
        let start = Instant::now();
        let mismatches = run(comparison, operation, count);
        all_agree &= mismatches == 0;
        let seconds = start.elapsed().as_secs();
        let kind = match operation.op {
            ArithOp::Add => "add",
            ArithOp::Mul => "mul",
            _ => "mul_add",
        };
        let vectors = matches!(judge, "kernels" | "pairs" | "triples");
        // Those of the kernels against SoftFloat are kept in docs/nightly.md alone.
        if !matches!(judge, "pairs" | "triples") {
            let mut about = vec![("format", name.to_owned()), ("rounding", rounding.to_owned())];
            if !vectors {
                about.extend([("kind", kind.to_owned()), ("flush", "no".to_owned()), ("saturate", "no".to_owned())]);
            }
            let command =
                format!("cargo run --release -p roundonce-arith --features mpfr --example nightly -- {judge}");
            let command = format!("{command} {count} {name}");
            Record { judge: title, command, about, cases: count, mismatches, exhaustive: false, seconds }.append();
        }
        println!("{judge} {kind} {name} {rounding} {count} cases, {mismatches} mismatches, {seconds} s");
        std::io::stdout().flush().expect("standard output is closed");
    }
    if all_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
