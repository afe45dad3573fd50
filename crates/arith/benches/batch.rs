//! The batch kernels beside the plain native loop and beside other exact arithmetic, interleaved in one run.
//!
//! `cargo bench -p roundonce-arith --bench batch [-- FILTER]` prints, for every work and size, the median time a lane,
//! its quartiles, and the median over the rounds of the ratio to the plain loop of the same round: that ratio is what
//! a busy machine disturbs least.
#![allow(missing_docs)]

#[path = "common/plain.rs"]
mod plain;
#[path = "common/rounds.rs"]
mod rounds;

use roundonce_arith::batch::{Batch, Level, Source, Stores};
use roundonce_arith::{Format, Kind, Operation, Profile, Rounding, Tiny};
use rounds::{Bench, random};
use std::hint::black_box;

/// Lanes of an operand: in the first-level cache, in the second, in memory.
const SIZES: [(&str, usize); 3] = [("L1", 1 << 10), ("L2", 1 << 16), ("memory", 1 << 24)];

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!("{:42} {:>6} {:>9} {:>18} {:>7}", "work", "size", "ns/lane", "quartiles", "ratio");
    for (size, lanes) in SIZES {
        f32_modes(&filter, size, lanes);
        f32_subnormals(&filter, size, lanes);
        f64_modes(&filter, size, lanes);
        mixed(&filter, size, lanes);
        f16(&filter, size, lanes);
    }
    peers(&filter);
}

fn fma(format: Format, rounding: Rounding) -> Operation {
    Operation::mul_add(format, rounding)
}

/// Every spelling's operation for one format: roundings, then the modes under one rounding.
fn modes(format: Format) -> Vec<(String, Operation, Profile)> {
    let mut list = Vec::new();
    for rounding in Rounding::ALL {
        list.push((format!("fma.{}", rounding.name()), fma(format, rounding), Profile::NVIDIA));
    }
    let rz = fma(format, Rounding::TowardZero);
    let after = Profile { tiny: Tiny::AfterRounding, ..Profile::NVIDIA };
    list.push(("sub of product (negated)".into(), Operation { negate_product: true, ..rz }, Profile::NVIDIA));
    list.push(("fma.rz.sat".into(), Operation { saturate: true, ..rz }, Profile::NVIDIA));
    list.push(("fma.rz.ftz".into(), Operation { flush: true, ..rz }, Profile::NVIDIA));
    list.push(("fma.rz.ftz.sat".into(), Operation { flush: true, saturate: true, ..rz }, Profile::NVIDIA));
    list.push(("fma.rz.ftz, tiny after".into(), Operation { flush: true, ..rz }, after));
    list.push(("FFMA.FMZ.RZ".into(), Operation { flush: true, zero_dominance: true, ..rz }, Profile::NVIDIA));
    let add = Operation { kind: Kind::Add, ..rz };
    list.push(("add.rz".into(), add, Profile::NVIDIA));
    list.push(("mul.rz".into(), Operation { kind: Kind::Mul, ..add }, Profile::NVIDIA));
    list
}

fn f32_modes(filter: &str, size: &str, lanes: usize) {
    let [a, b, c] = [1, 2, 3].map(|seed| random::f32s(lanes, seed));
    let mut bench = Bench::<u32>::new("f32", size, lanes, filter);
    bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
    for level in [Level::Avx512, Level::Avx2].into_iter().filter(|level| level.is_available()) {
        for (name, operation, profile) in modes(Format::F32) {
            let batch = Batch::at_level(operation, &profile, level);
            let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
            let operands: Vec<_> = operation.kind.operands().iter().map(|&place| operands[place as usize]).collect();
            bench.add(&format!("{name}, {:?}", batch.level()), move |out| batch.run(&operands, out));
        }
    }
    let rz = Batch::new(fma(Format::F32, Rounding::TowardZero), &Profile::NVIDIA);
    let (a, b, c) = (Source::Slice(&a[..]), Source::Slice(&b[..]), Source::Slice(&c[..]));
    let uniform = Source::Uniform(0x3f80_0001);
    bench.add("fma.rz, uniform a", move |out| rz.run(&[uniform, b, c], out));
    bench.add("fma.rz, in place", move |out| rz.run(&[a, b, Source::Out], out));
    bench.add("fma.rz, uniform a, in place", move |out| rz.run(&[uniform, b, Source::Out], out));
    for stores in [Stores::Cached, Stores::Streaming] {
        let rz = rz.with_stores(stores);
        bench.add(&format!("fma.rz, {stores:?}"), move |out| rz.run(&[a, b, c], out));
    }
    bench.finish();
}

/// Some of the operands subnormal, and results that underflow.
fn f32_subnormals(filter: &str, size: &str, lanes: usize) {
    for (name, each) in [("1 % subnormal", 100), ("10 % subnormal", 10), ("all subnormal", 1)] {
        let [a, b, c] = [1, 2, 3].map(|seed| random::with_subnormals(random::f32s(lanes, seed), each, seed + 10));
        let mut bench = Bench::<u32>::new(name, size, lanes, filter);
        bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
        for (name, operation, profile) in modes(Format::F32).into_iter().filter(|(_, op, _)| op.kind == Kind::MulAdd) {
            let batch = Batch::new(operation, &profile);
            let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
            bench.add(&name, move |out| batch.run(&operands, out));
        }
        bench.finish();
    }
}

fn f64_modes(filter: &str, size: &str, lanes: usize) {
    let [a, b, c] = [1, 2, 3].map(|seed| random::f64s(lanes, seed));
    let mut bench = Bench::<u64>::new("f64", size, lanes, filter);
    bench.add("plain loop", |out| plain::f64(&a, &b, &c, out));
    for level in [Level::Avx512, Level::Avx2].into_iter().filter(|level| level.is_available()) {
        for (name, operation, profile) in modes(Format::F64) {
            let batch = Batch::at_level(operation, &profile, level);
            let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
            let operands: Vec<_> = operation.kind.operands().iter().map(|&place| operands[place as usize]).collect();
            bench.add(&format!("{name}, {:?}", batch.level()), move |out| batch.run(&operands, out));
        }
    }
    bench.finish();
}

/// Against the plain f32 loop over as many lanes.
fn mixed(filter: &str, size: &str, lanes: usize) {
    let [a, b, c] = [1, 2, 3].map(|seed| random::f32s(lanes, seed));
    let [x, y] = [4, 5].map(|seed| random::halves(lanes, seed));
    let mut bench = Bench::<u32>::new("mixed", size, lanes, filter);
    bench.add("plain loop of f32", |out| plain::f32(&a, &b, &c, out));
    for level in [Level::Avx512, Level::Avx2].into_iter().filter(|level| level.is_available()) {
        for factors in [Format::F16, Format::BF16] {
            let name = factors.name().unwrap_or_default();
            for saturate in [false, true] {
                let operation = Operation { factors, saturate, ..fma(Format::F32, Rounding::TowardZero) };
                let sat = if saturate { ".sat" } else { "" };
                let batch = Batch::at_level(operation, &Profile::NVIDIA, level);
                let (x, y, c) = (Source::Slice(&x[..]), Source::Slice(&y[..]), Source::Slice(&c[..]));
                let run = move |out: &mut [u32]| batch.run_mixed(&[x, y], Some(c), out);
                bench.add(&format!("fma.rz{sat}.f32.{name}, {:?}", batch.level()), run);
            }
            let operation = Operation { kind: Kind::Add, factors, ..fma(Format::F32, Rounding::TowardZero) };
            let batch = Batch::at_level(operation, &Profile::NVIDIA, level);
            let (x, c) = (Source::Slice(&x[..]), Source::Slice(&c[..]));
            let run = move |out: &mut [u32]| batch.run_mixed(&[x], Some(c), out);
            bench.add(&format!("add.rz.f32.{name}, {:?}", batch.level()), run);
        }
    }
    bench.finish();
}

fn f16(filter: &str, size: &str, lanes: usize) {
    let [a, b, c] = [1, 2, 3].map(|seed| random::halves(lanes, seed));
    let [p, q, r] = [1, 2, 3].map(|seed| random::f32s(lanes, seed));
    let mut bench = Bench::<u32>::new("f16", size, lanes, filter);
    bench.add("plain loop of f32", |out| plain::f32(&p, &q, &r, out));
    for level in [Level::Avx512, Level::Avx2].into_iter().filter(|level| level.is_available()) {
        for (name, operation, profile) in modes(Format::F16).into_iter().filter(|(_, op, _)| op.kind == Kind::MulAdd) {
            let batch = Batch::at_level(operation, &profile, level);
            let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
            let mut halves = random::halves(lanes, 4);
            let run = move |_: &mut [u32]| batch.run(&operands, black_box(&mut halves[..]));
            bench.add(&format!("{name}, {:?}", batch.level()), run);
        }
    }
    bench.finish();
}

/// One fma at a time.
fn peers(filter: &str) {
    use roundonce_oracle::{Direction, Layout, softfloat};
    use rustc_apfloat::{Float, Round, ieee::Single};
    let lanes = 1 << 10;
    let [a, b, c] = [1, 2, 3].map(|seed| random::f32s(lanes, seed));
    let mut bench = Bench::<u32>::new("f32 one by one", "L1", lanes, filter);
    let at = |i: usize| [a[i] as u64, b[i] as u64, c[i] as u64];
    bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
    bench.add("Operation::evaluate, operation known", |out| {
        let operation = fma(Format::F32, Rounding::TowardZero);
        for (i, out) in out.iter_mut().enumerate() {
            *out = operation.evaluate(&Profile::NVIDIA, &at(i)).bits as u32;
        }
    });
    let known_late = black_box(fma(Format::F32, Rounding::TowardZero));
    bench.add("Operation::evaluate, known at run time", |out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = known_late.evaluate(&Profile::NVIDIA, &at(i)).bits as u32;
        }
    });
    let portable = Batch::at_level(fma(Format::F32, Rounding::TowardZero), &Profile::NVIDIA, Level::Portable);
    bench.add("Batch, Portable", |out| portable.run(&[Source::Slice(&a), Source::Slice(&b), Source::Slice(&c)], out));
    bench.add("SoftFloat", |out| {
        for (i, out) in out.iter_mut().enumerate() {
            let call = softfloat::Call::MulAdd;
            *out = softfloat::judge(call, Layout::F32, Direction::Zero, false, at(i)).bits as u32;
        }
    });
    bench.add("rustc_apfloat", |out| {
        for (i, out) in out.iter_mut().enumerate() {
            let [a, b, c] = at(i).map(|bits| Single::from_bits(bits.into()));
            *out = a.mul_add_r(b, c, Round::TowardZero).value.to_bits() as u32;
        }
    });
    bench.finish();
}
