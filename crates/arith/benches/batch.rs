//! The batch kernels beside the plain native loop and beside other exact arithmetic, taking turns in one run.
//!
//! `cargo bench -p roundonce-arith --features mpfr [-- [write] [LARGEST]]` prints the marks and every table (`halves`:
//! those of f16 and bf16 alone); with `write` they go into `docs/performance.md` (between its two comments) and `docs/performance.svg`. The largest arrays
//! have 2^LARGEST elements (28 by default: 4 GiB in all). Without `mpfr`, numba or PoCL their lines are left out.
#![allow(missing_docs)]

#[path = "common/peers.rs"]
mod peers;
#[path = "common/plain.rs"]
mod plain;
#[path = "common/report.rs"]
mod report;
#[path = "common/rounds.rs"]
mod rounds;

use std::hint::black_box;

use peers::Peer;
use report::{Curve, Report};
use roundonce_arith::batch::{Batch, Level, Source};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};
use rounds::{Bench, Lines, Measured, random};

/// Lanes of an operand: in the first-level cache, in the second, in memory.
const L1: usize = 1 << 10;
const L2: usize = 1 << 16;
const MEMORY: usize = 1 << 24;

type Operands<T> = [Lines<T>; 3];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let largest = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(28);
    let mut report = Report::default();
    if arguments.iter().any(|argument| argument == "halves") {
        sixteen_bits(&mut report);
        print!("{}", report.figures());
        return;
    }
    if arguments.iter().any(|argument| argument == "scalar") {
        one_by_one(&mut report);
        print!("{}", report.figures());
        return;
    }
    let first_level = f32_marks(&mut report);
    special_marks(&mut report);
    sixteen_bits(&mut report);
    lanes(&mut report);
    let softfloat = one_by_one(&mut report);
    let slowest = first_level[1..].iter().map(|row| row.nanoseconds[1]).fold(0.0, f64::max);
    report.at_least("f32, slowest mode, L1: times as fast as SoftFloat", 100.0, softfloat / slowest);
    whole_arrays(&mut report);
    growth(&mut report, largest);
    print!("{}", report.text());
    if arguments.iter().any(|argument| argument == "write") {
        report.write();
    }
}

/// The spellings of one format's fma: each direction, then the modes toward zero.
fn spellings(format: Format) -> Vec<(String, Operation)> {
    let fma = |rounding| Operation::mul_add(format, rounding);
    let mut all: Vec<_> =
        Rounding::ALL.into_iter().map(|rounding| (format!("fma.{}", rounding.name()), fma(rounding))).collect();
    let rz = fma(Rounding::TowardZero);
    let flush = Operation { flush: true, ..rz };
    let dominance = Operation { fmz: true, ..flush };
    if format == Format::F32 {
        all.push(("fma.rz.sat".into(), Operation { clamp: Clamp::Unit, ..rz }));
        all.push(("flush: FFMA.FMZ.RZ".into(), dominance));
        all.push(("flush: FFMA.FMZ.RZ.SAT".into(), Operation { clamp: Clamp::Unit, ..dominance }));
        all.push(("flush: fma.rz.ftz.sat".into(), Operation { clamp: Clamp::Unit, ..flush }));
    }
    all.push(("flush: fma.rz.ftz".into(), flush));
    all
}

/// A batch over two halves on as many threads.
fn on_two_threads(out: &mut [u32], work: impl Fn(std::ops::Range<usize>, &mut [u32]) + Sync) {
    let (length, middle) = (out.len(), out.len() / 2);
    let (lower, upper) = out.split_at_mut(middle);
    std::thread::scope(|scope| {
        scope.spawn(|| work(0..middle, lower));
        work(middle..length, upper);
    });
}

/// All spellings of f32 beside the plain loop.
fn f32_modes(size: &str, lanes: usize, level: Level, [a, b, c]: &Operands<u32>) -> Vec<Measured> {
    let mut bench = Bench::<u32>::new("f32", size, lanes, "");
    bench.add("plain loop", |out| plain::f32(a, b, c, out));
    for (name, operation) in spellings(Format::F32) {
        let batch = Batch::at_level(operation, &Profile::NVIDIA, level);
        let operands = [Source::Slice(&a[..]), Source::Slice(b), Source::Slice(c)];
        bench.add(&name, move |out| batch.run(&operands, out));
    }
    if lanes == MEMORY {
        bench.add("memcpy", |out| out.copy_from_slice(a));
    }
    bench.measure()
}

/// The largest median ratio among the contenders whose name has the words: which is the mark's figure.
fn worst(rows: &[Measured], has: &str) -> f64 {
    let of = rows[1..].iter().filter(|row| row.name.contains(has) && row.name != "memcpy");
    of.map(|row| row.ratio[1]).fold(0.0, f64::max)
}

fn operands(lanes: usize) -> Operands<u32> {
    [1, 2, 3].map(|seed| random::f32s(lanes, seed))
}

fn f32_marks(report: &mut Report) -> Vec<Measured> {
    let best = Level::best();
    let first = f32_modes("L1", L1, best, &operands(L1));
    let directions = ["fma.rn", "fma.rz", "fma.rm", "fma.rp"].map(|name| first.iter().find(|row| row.name == name));
    let slowest = directions.into_iter().flatten().map(|row| row.ratio[1]).fold(0.0, f64::max);
    report.at_most("f32, every direction, L1 / plain loop", 1.10, slowest);
    report.at_most("f32 .sat, L1 / plain loop", 1.35, worst(&first, "fma.rz.sat"));
    report.at_most("f32 .ftz, .FMZ, with and without .sat, L1 / plain loop", 2.5, worst(&first, "flush"));
    let second = f32_modes("L2", L2, best, &operands(L2));
    report.at_most("the same, L2 / plain loop", 1.05, worst(&second, "flush"));
    let all = operands(MEMORY);
    let memory = f32_modes("memory", MEMORY, best, &all);
    report.at_most("the same, memory / plain loop", 1.05, worst(&memory, "flush"));
    report.at_most("f32, every mode, memory / plain loop", 0.90, worst(&memory, ""));
    // Four bytes of each of four arrays, against four of each of two.
    let median = |name: &str| memory.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.nanoseconds[1]);
    report.at_least("f32 fma.rz, memory: bytes a second / memcpy's", 0.90, 2.0 * median("memcpy") / median("fma.rz"));
    if Level::Avx2.is_available() {
        let rows = f32_modes("memory", MEMORY, Level::Avx2, &all);
        report.at_most("f32, every mode, AVX2, memory / plain loop", 1.10, worst(&rows, ""));
        report.rows("f32 from memory by AVX2", &rows);
    }
    let [a, b, c] = &all;
    let mut bench = Bench::<u32>::new("two threads", "memory", MEMORY, "");
    bench.add_threaded("plain loop", 2, |out| {
        on_two_threads(out, |range, out| plain::f32(&a[range.clone()], &b[range.clone()], &c[range], out));
    });
    for (name, operation) in spellings(Format::F32) {
        let batch = Batch::new(operation, &Profile::NVIDIA);
        bench.add_threaded(&name, 2, move |out| {
            on_two_threads(out, |range, out| {
                batch.run(&[a, b, c].map(|operand| Source::Slice(&operand[range.clone()])), out);
            });
        });
    }
    report.at_most("f32, every mode, memory, two threads / plain loop on two", 0.90, worst(&bench.measure(), ""));
    report.rows("f32 in the first-level cache", &first);
    report.rows("f32 in the second-level cache", &second);
    report.rows("f32 from memory", &memory);
    first
}

/// Subnormal operands, f64, mixed precision.
fn special_marks(report: &mut Report) {
    let [a, b, c] = [1, 2, 3].map(|seed| random::with_subnormals(random::f32s(L1, seed), 100, seed + 10));
    let mut bench = Bench::<u32>::new("subnormal", "L1", L1, "");
    bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
    for (name, operation) in spellings(Format::F32) {
        let batch = Batch::new(operation, &Profile::NVIDIA);
        let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
        bench.add(&name, move |out| batch.run(&operands, out));
    }
    let rows = bench.measure();
    let unflushed = rows[1..].iter().filter(|row| !row.name.contains("flush")).map(|row| row.ratio[1]);
    report.at_most("f32, 1 % subnormal operands, no flush, L1 / plain loop", 1.0, unflushed.fold(0.0, f64::max));
    report.rows("f32 with 1 % subnormal operands, L1", &rows);

    let [a, b, c] = [1, 2, 3].map(|seed| random::f64s(L1, seed));
    let mut bench = Bench::<u64>::new("f64", "L1", L1, "");
    bench.add("plain loop", |out| plain::f64(&a, &b, &c, out));
    for (name, operation) in spellings(Format::F64) {
        let batch = Batch::new(operation, &Profile::NVIDIA);
        let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
        bench.add(&name, move |out| batch.run(&operands, out));
    }
    let rows = bench.measure();
    report.at_most("f64, every direction, L1 / plain loop", 1.10, worst(&rows[..5], ""));
    report.rows("f64 in the first-level cache", &rows);

    let [a, b, c] = operands(L2);
    let [x, y] = [4, 5].map(|seed| random::halves(L2, seed));
    let mut bench = Bench::<u32>::new("mixed", "L2", L2, "");
    bench.add("plain loop of f32", |out| plain::f32(&a, &b, &c, out));
    for (factors, saturate) in [(Format::F16, false), (Format::F16, true), (Format::BF16, false), (Format::BF16, true)]
    {
        let operation = Operation {
            source_format: factors,
            clamp: if saturate { Clamp::Unit } else { Clamp::None },
            ..Operation::mul_add(Format::F32, Rounding::TowardZero)
        };
        let batch = Batch::new(operation, &Profile::NVIDIA);
        let sat = if saturate { ".sat" } else { "" };
        let (x, y, c) = (Source::Slice(&x[..]), Source::Slice(&y[..]), Source::Slice(&c[..]));
        let name = format!("fma.rz{sat}.f32.{}", factors.name().unwrap_or_default());
        bench.add(&name, move |out| batch.run_mixed(&[x, y], Some(c), out));
    }
    let rows = bench.measure();
    report.at_most("mixed f16 and bf16, L2 / plain loop of f32", 0.85, worst(&rows, ""));
    report.rows("mixed precision in the second-level cache", &rows);
}

/// f16 and bf16: PTX's modes by each level.
fn sixteen_bits(report: &mut Report) {
    for format in [Format::F16, Format::BF16] {
        let name = format.name().unwrap_or_default();
        let operation = |op| Operation::new(op, format, Rounding::NearestEven);
        let fma = operation(ArithOp::MulAdd);
        let mut work = vec![
            ("fma.rn", fma),
            ("add.rn", operation(ArithOp::Add)),
            ("sub.rn", Operation { negate_addend: true, ..operation(ArithOp::Add) }),
            ("mul.rn", operation(ArithOp::Mul)),
            ("fma.rn.relu", Operation { clamp: Clamp::Relu, ..fma }),
        ];
        if format == Format::F16 {
            work.push(("fma.rn.sat", Operation { clamp: Clamp::Unit, ..fma }));
            work.push(("fma.rn.ftz", Operation { flush: true, ..fma }));
            work.push(("fma.rn.ftz.sat", Operation { flush: true, clamp: Clamp::Unit, ..fma }));
        } else {
            work.push(("fma.rz", Operation { rounding: Rounding::TowardZero, ..fma }));
        }
        // As many bytes as the arrays of f32 have.
        let lanes = 2 * L1;
        let all = [1, 2, 3].map(|seed| random::halves(lanes, seed));
        let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
        let mut bench = Bench::<u16>::new(name, "L1", lanes, "");
        for (spelling, operation) in &work {
            for level in &levels {
                let batch = Batch::at_level(*operation, &Profile::NVIDIA, *level);
                let places = operation.op.operands();
                let operands: Vec<_> = places.iter().map(|place| Source::Slice(&all[*place as usize][..])).collect();
                bench.add(&format!("{spelling}, {level:?}"), move |out| batch.run(&operands, out));
            }
        }
        let rows = bench.measure();
        let medians = |level| rows.iter().skip(level).step_by(levels.len()).map(|row| row.nanoseconds[1]);
        // The first four are without a clamp or flush.
        for (what, count) in [("fma, add, sub, mul", 4), ("slowest mode", work.len())] {
            for (number, level) in levels.iter().enumerate() {
                let times = medians(0).zip(medians(number)).take(count);
                if *level == Level::Avx512 {
                    let slowest = times.map(|(_, vector)| vector).fold(0.0, f64::max);
                    report.at_least(&format!("{name} {what}, AVX-512, L1: G elements a second"), 4.0, 1.0 / slowest);
                } else if *level == Level::Avx2 {
                    let least = times.map(|(portable, vector)| portable / vector).fold(f64::INFINITY, f64::min);
                    report.at_least(&format!("{name} {what}, AVX2, L1: times as fast as portable"), 20.0, least);
                }
            }
        }
        report.rows(&format!("{name} in the first-level cache, by level"), &rows);
    }
}

/// The same operation on as many lanes at a time as each level has.
fn lanes(report: &mut Report) {
    let [a, b, c] = operands(L1);
    let mut bench = Bench::<u32>::new("lanes", "L1", L1, "");
    bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
    let rz = Operation::mul_add(Format::F32, Rounding::TowardZero);
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let lanes = match level {
            Level::Portable => 1,
            Level::Neon => 4,
            Level::Avx2 => 8,
            Level::Avx512 => 16,
        };
        for (spelling, flush) in [("fma.rz", false), ("fma.rz.ftz", true)] {
            let batch = Batch::at_level(Operation { flush, ..rz }, &Profile::NVIDIA, level);
            let operands = [Source::Slice(&a[..]), Source::Slice(&b), Source::Slice(&c)];
            bench.add(&format!("{spelling}, {lanes} at a time"), move |out| batch.run(&operands, out));
        }
    }
    report.rows("f32 in the first-level cache, by lanes of a vector", &bench.measure());
}

/// Libraries that compute one fma a call. Returns SoftFloat's time.
fn one_by_one(report: &mut Report) -> f64 {
    use roundonce_oracle::{Direction, Layout, softfloat};
    use rustc_apfloat::{Float, Round, ieee::Single};
    let [a, b, c] = operands(L1);
    let triples: Vec<[u64; 3]> = (0..L1).map(|i| [a[i] as u64, b[i] as u64, c[i] as u64]).collect();
    let doubles: Vec<[u64; 3]> = triples
        .iter()
        .map(|triple| triple.map(|bits| f64::from(f32::from_bits(bits as u32)).to_bits() | 0x1357))
        .collect();
    let mut bench = Bench::<u32>::new("one by one", "L1", L1, "");
    bench.add("Berkeley SoftFloat 3e", |out| {
        for (out, triple) in out.iter_mut().zip(&triples) {
            let verdict = softfloat::judge(softfloat::Call::MulAdd, Layout::F32, Direction::Zero, false, *triple);
            *out = verdict.bits as u32;
        }
    });
    bench.add("Operation::evaluate", |out| {
        let rz = Operation::mul_add(Format::F32, Rounding::TowardZero);
        for (out, triple) in out.iter_mut().zip(&triples) {
            *out = rz.evaluate(&Profile::NVIDIA, triple).bits as u32;
        }
    });
    bench.add("Operation::evaluate, to nearest, flags too", |out| {
        let rn = Operation::mul_add(Format::F32, Rounding::NearestEven);
        for (out, triple) in out.iter_mut().zip(&triples) {
            let outcome = rn.evaluate(&Profile::NVIDIA, triple);
            *out = outcome.bits as u32 ^ u32::from(outcome.flags.bits());
        }
    });
    bench.add("Operation::evaluate, f64", |out| {
        let rz = Operation::mul_add(Format::F64, Rounding::TowardZero);
        for (out, triple) in out.iter_mut().zip(&doubles) {
            *out = (rz.evaluate(&Profile::NVIDIA, triple).bits >> 16) as u32;
        }
    });
    let late = black_box(Operation::mul_add(Format::F32, Rounding::TowardZero));
    bench.add("Operation::evaluate, operation known late", |out| {
        for (out, triple) in out.iter_mut().zip(&triples) {
            *out = late.evaluate(&Profile::NVIDIA, triple).bits as u32;
        }
    });
    bench.add("rustc_apfloat", |out| {
        for (out, triple) in out.iter_mut().zip(&triples) {
            let [a, b, c] = triple.map(|bits| Single::from_bits(bits.into()));
            *out = a.mul_add_r(b, c, Round::TowardZero).value.to_bits() as u32;
        }
    });
    #[cfg(feature = "mpfr")]
    {
        let mut judge = roundonce_oracle::mpfr::Judge::new(Layout::F32);
        let triples = &triples;
        bench.add("MPFR", move |out| {
            for (out, triple) in out.iter_mut().zip(triples) {
                *out = judge.mul_add(Direction::Zero, *triple).bits as u32;
            }
        });
    }
    let rows = bench.measure();
    let nanoseconds = |name: &str| rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.nanoseconds[1]);
    report.nanoseconds_at_most("one f32 fma by `Operation::evaluate`", 4.0, nanoseconds("Operation::evaluate"));
    report.rows("one f32 fma at a time", &rows);
    nanoseconds("Berkeley SoftFloat 3e")
}

/// Compilers for arrays, from memory.
fn whole_arrays(report: &mut Report) {
    let [a, b, c] = operands(MEMORY);
    let mut bench = Bench::<u32>::new("arrays", "memory", MEMORY, "");
    bench.add("plain loop", |out| plain::f32(&a, &b, &c, out));
    let rn = Batch::new(Operation::mul_add(Format::F32, Rounding::NearestEven), &Profile::NVIDIA);
    bench.add("Batch, fma.rn", |out| rn.run(&[Source::Slice(&a), Source::Slice(&b), Source::Slice(&c)], out));
    for name in ["numba", "pocl"] {
        match Peer::start(name, MEMORY) {
            Some(mut peer) => bench.add_timed(name, move |repeats| peer.nanoseconds(repeats)),
            None => report.absent(name),
        }
    }
    report.rows("whole arrays of f32 from memory, beside compilers for them", &bench.measure());
}

/// Time against size and threads.
fn growth(report: &mut Report, largest: u32) {
    let all = operands(1 << largest);
    let batch = |flush| {
        let rz = Operation::mul_add(Format::F32, Rounding::TowardZero);
        Batch::new(Operation { flush, ..rz }, &Profile::NVIDIA)
    };
    let (rz, ftz) = (batch(false), batch(true));
    let mut curves: Vec<Curve> = Vec::new();
    for power in (10..=largest).step_by(2) {
        let [a, b, c] = &all;
        let [a, b, c] = [&a[..1 << power], &b[..1 << power], &c[..1 << power]];
        let operands = [Source::Slice(a), Source::Slice(b), Source::Slice(c)];
        let mut bench = Bench::<u32>::new("growth", "", 1 << power, "");
        bench.add("plain loop", |out| plain::f32(a, b, c, out));
        bench.add("fma.rz", |out| rz.run(&operands, out));
        bench.add("fma.rz.ftz", |out| ftz.run(&operands, out));
        // Below, starting a thread takes longer than the work.
        if power >= 20 {
            bench.add_threaded("plain loop, two threads", 2, |out| {
                on_two_threads(out, |range, out| plain::f32(&a[range.clone()], &b[range.clone()], &c[range], out));
            });
            bench.add_threaded("fma.rz, two threads", 2, |out| {
                on_two_threads(out, |range, out| {
                    rz.run(&[a, b, c].map(|operand| Source::Slice(&operand[range.clone()])), out);
                });
            });
        }
        for row in bench.measure() {
            let at = curves.iter().position(|curve| curve.name == row.name).unwrap_or_else(|| {
                curves.push(Curve { name: row.name.clone(), points: Vec::new() });
                curves.len() - 1
            });
            curves[at].points.push((power, row.nanoseconds[1]));
        }
    }
    report.growth(&curves);
}
