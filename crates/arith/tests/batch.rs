//! Every batch kernel against the scalar pipeline, and against SoftFloat directly.
//!
//! `ROUNDONCE_BATCH_LANES` sets how many lanes each operation computes (default 50,000: about a minute of
//! one core in all, some 10^9 lanes; the nightly run asks for 10^6 and more).

#[path = "common/batch.rs"]
mod batch;
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use batch::compute;
use common::{direction, layout};
use roundonce_arith::batch::{Batch, Level, Source, Stores};
use roundonce_arith::{
    ArithOp, Clamp, FmzSatNan, Format, NanRule, OperandIndex, Operation, Profile, Rounding, Sm1xMad, Tininess,
};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::softfloat;

const KINDS: [ArithOp; 4] = [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul, ArithOp::TruncatedMulAdd];

fn lanes() -> usize {
    std::env::var("ROUNDONCE_BATCH_LANES").map_or(50_000, |lanes| lanes.parse().expect("a number of lanes"))
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// Operands for a kernel that takes many lanes at a time and has a fast way for those that are all ordinary: runs of
/// directed triples, runs of normal operands, and runs of normal operands with a normal sum.
fn triples(factors: Format, to: Format, count: usize, seed: u64) -> Vec<[u64; 3]> {
    let mut generator = Generator::new(seed, layout(factors), layout(to));
    let plain = Operation { source_format: factors, ..Operation::mul_add(to, Rounding::NearestEven) };
    let normal = |format: Format, bits| {
        let magnitude = bits & format.magnitude_mask();
        magnitude >= format.smallest_normal() && magnitude < format.infinity()
    };
    let operands_normal = |[a, b, c]: [u64; 3]| normal(factors, a) && normal(factors, b) && normal(to, c);
    (0..count)
        .map(|lane| {
            loop {
                let triple = generator.triple();
                let ordinary = match lane / 64 % 4 {
                    0 | 1 => true,
                    2 => operands_normal(triple),
                    _ => operands_normal(triple) && normal(to, plain.evaluate(&Profile::NVIDIA, &triple).bits),
                };
                if ordinary {
                    return triple;
                }
            }
        })
        .collect()
}

/// Every setting of an operation's fields but the formats, with the profiles that can tell.
fn operations(factors: Format, format: Format) -> Vec<(Operation, Profile)> {
    use OperandIndex::{A, B, C};
    let mut list = Vec::new();
    for kind in KINDS {
        for rounding in Rounding::ALL {
            // `.relu` is of 16 bits alone.
            let clamps = if format.width() == 16 { 3 } else { 2 };
            for bits in 0..16 * clamps {
                let operation = Operation {
                    source_format: factors,
                    negate_product: bits & 1 != 0,
                    negate_addend: bits & 2 != 0,
                    flush: bits & 4 != 0,
                    fmz: bits & 8 != 0,
                    clamp: [Clamp::None, Clamp::Unit, Clamp::Relu][bits >> 4],
                    ..Operation::new(kind, format, rounding)
                };
                let mut profiles = vec![Profile::NVIDIA];
                if operation.flush {
                    profiles.push(Profile { tininess: Tininess::Result, ..Profile::NVIDIA });
                    profiles.push(Profile { tininess: Tininess::BeforeRounding, ..Profile::NVIDIA });
                }
                for nan in [NanRule::Canonical, NanRule::Payload([C, A, B])] {
                    profiles.push(Profile { nan_f32: nan, nan_f64: nan, nan_small: nan, ..Profile::NVIDIA });
                }
                if operation.fmz && operation.saturates() {
                    profiles.push(Profile { fmz_sat_nan: FmzSatNan::Zero, ..Profile::NVIDIA });
                }
                if kind == ArithOp::TruncatedMulAdd {
                    profiles.push(Profile { sm1x_mad: Sm1xMad::FusedFtz, ..Profile::NVIDIA });
                }
                list.extend(profiles.into_iter().map(|profile| (operation, profile)));
            }
        }
    }
    list
}

/// The operands that the kind takes, in order.
fn used(kind: ArithOp, [a, b, c]: [u64; 3]) -> Vec<u64> {
    kind.operands().iter().map(|&operand| [a, b, c][operand as usize]).collect()
}

fn scalar(operation: &Operation, profile: &Profile, triple: [u64; 3]) -> u64 {
    let outcome = match operation.op {
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => operation.evaluate(profile, &triple),
        ArithOp::Add => operation.evaluate(profile, &[triple[0], triple[2]]),
        ArithOp::Mul => operation.evaluate(profile, &triple[..2]),
    };
    outcome.bits
}

/// A lane type, for tests that are the same for all.
trait Bits: roundonce_arith::batch::Lane + PartialEq + std::fmt::LowerHex + std::fmt::Debug {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}
macro_rules! bits {
    ($($int:ty)*) => {$(
        impl Bits for $int {
            fn of(bits: u64) -> $int {
                bits as $int
            }
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
bits!(u16 u32 u64);

fn column<T: Bits>(triples: &[[u64; 3]], place: usize) -> Vec<T> {
    triples.iter().map(|triple| T::of(triple[place])).collect()
}

#[track_caller]
fn assert_lanes<T: Bits>(batch: &Batch, profile: &Profile, triples: &[[u64; 3]], expected: &[u64], out: &[T]) {
    let wrong = expected.iter().zip(out).position(|(expected, out)| *expected != out.bits());
    if let Some(lane) = wrong {
        panic!(
            "{:?}, {:?}, {profile:?}: lane {lane} of {:x?} is {:x}, the pipeline gives {:x}",
            batch.level(),
            batch.operation(),
            used(batch.operation().op, triples[lane]),
            out[lane],
            expected[lane]
        );
    }
}

/// All settings, by every kernel. Where no level has a vector kernel a few lanes are enough.
fn every_setting(factors: Format, format: Format, triples: &[[u64; 3]]) {
    for (operation, profile) in operations(factors, format) {
        let levels = levels().filter(|&level| level != Level::Portable);
        let batches: Vec<Batch> = levels.map(|level| Batch::at_level(operation, &profile, level)).collect();
        let portable = batches.iter().all(|batch| batch.level() == Level::Portable);
        let triples = if portable { &triples[..triples.len().min(100)] } else { triples };
        let expected: Vec<u64> = triples.iter().map(|&triple| scalar(&operation, &profile, triple)).collect();
        for batch in batches {
            assert_lanes(&batch, &profile, triples, &expected, &compute(&batch, triples));
        }
    }
}

/// Turns of ordinary lanes with one odd lane each, in every place of a turn by and by: what is special in a lane must be
/// seen there, and what is not must not be lost beside it.
fn odd_lanes(factors: Format, format: Format) -> Vec<[u64; 3]> {
    const TURN: usize = 128;
    let one = |format: Format| (format.exp_max() / 2) << format.frac_bits();
    let negative = |format: Format, bits| format.sign_mask() | bits;
    let (narrow, wide) = (factors, format);
    let a = [
        negative(narrow, 0),
        1,
        negative(narrow, narrow.frac_mask()),
        narrow.smallest_normal(),
        one(narrow) - 1,
        narrow.infinity(),
        narrow.infinity() + 1,
    ];
    let b = [0, negative(narrow, 1), narrow.smallest_normal(), one(narrow), negative(narrow, narrow.infinity())];
    let c = [0, negative(wide, 0), wide.frac_mask(), negative(wide, wide.smallest_normal()), wide.infinity() + 3];
    let odd = (0..a.len() * b.len() * c.len())
        .map(|n| [a[n % a.len()], b[n / a.len() % b.len()], c[n / (a.len() * b.len())]]);
    let ordinary = [one(factors) + 1, one(factors) + 3, one(format) + 5];
    odd.enumerate()
        .flat_map(|(number, odd)| (0..TURN).map(move |lane| if lane == number * 5 % TURN { odd } else { ordinary }))
        .collect()
}

fn pipeline(factors: Format, format: Format) {
    every_setting(factors, format, &triples(factors, format, lanes(), 7));
    every_setting(factors, format, &odd_lanes(factors, format));
}

#[test]
fn f32_is_the_scalar_pipeline() {
    pipeline(Format::F32, Format::F32);
}

#[test]
fn f64_is_the_scalar_pipeline() {
    pipeline(Format::F64, Format::F64);
}

#[test]
fn f16_is_the_scalar_pipeline() {
    pipeline(Format::F16, Format::F16);
}

#[test]
fn bf16_is_the_scalar_pipeline() {
    pipeline(Format::BF16, Format::BF16);
}

#[test]
fn f16_with_f32_is_the_scalar_pipeline() {
    pipeline(Format::F16, Format::F32);
}

#[test]
fn bf16_with_f32_is_the_scalar_pipeline() {
    pipeline(Format::BF16, Format::F32);
}

#[test]
fn other_formats_and_wider_lanes_are_the_scalar_pipeline() {
    fn few<T: Bits>(format: Format, factors: Format) {
        let triples = triples(factors, format, 200, 9);
        let columns = [0, 1, 2].map(|place| column::<T>(&triples, place));
        for (operation, profile) in operations(factors, format) {
            let places = operation.op.operands();
            let operands: Vec<_> = places.iter().map(|&place| Source::Slice(&columns[place as usize][..])).collect();
            let expected: Vec<u64> = triples.iter().map(|&triple| scalar(&operation, &profile, triple)).collect();
            let batch = Batch::new(operation, &profile);
            let mut out = vec![T::of(u64::MAX); triples.len()];
            batch.run(&operands, &mut out);
            assert_lanes(&batch, &profile, &triples, &expected, &out);
        }
    }
    few::<u16>(Format::E4M3, Format::E4M3);
    few::<u16>(Format::F16, Format::E5M2);
    few::<u32>(Format::F16, Format::F16);
    few::<u32>(Format::BF16, Format::BF16);
    few::<u64>(Format::F32, Format::F32);
    few::<u64>(Format::F64, Format::F32);
}

/// Every length to 160, every start within a vector, and every way of giving the operands: slices, one value, and what
/// `out` holds; results through the cache and around it. Nothing beyond the lanes is touched.
fn shapes<T: Bits>(format: Format) {
    const WAYS: usize = 3;
    let triples = triples(format, format, 256, 10);
    let columns = [0, 1, 2].map(|place| column::<T>(&triples, place));
    let guard = T::of(0xa5a5_a5a5_a5a5_a5a5);
    let marked = Operation { flush: true, ..Operation::mul_add(format, Rounding::Down) };
    for operation in [marked, Operation { flush: false, ..marked }] {
        for level in levels() {
            for stores in [Stores::Automatic, Stores::Streaming] {
                let batch = Batch::at_level(operation, &Profile::NVIDIA, level).with_stores(stores);
                // Miri takes a thousand times as long.
                for length in (0..=160_usize).step_by(if cfg!(miri) { 10 } else { 1 }) {
                    let ways = (length * 7 + level as usize) % WAYS.pow(3);
                    // All 27 ways at the lengths around a vector and a turn, one at the others.
                    let all = [0, 1, 7, 8, 9, 31, 32, 33, 64, 65, 128, 130, 160].contains(&length);
                    for ways in if all { 0..27 } else { ways..ways + 1 } {
                        for start in [length % 16, (length * 5 + 1) % 16] {
                            let way = |place: usize| ways / WAYS.pow(place as u32) % WAYS;
                            let begin = |place: usize| (start * (place + 1)) % 16;
                            let old: Vec<T> = columns[2].iter().rev().copied().collect();
                            let mut out = vec![guard; 16 + length + 16];
                            out[start..start + length].copy_from_slice(&old[..length]);
                            let operands = [0, 1, 2].map(|place| match way(place) {
                                0 => Source::Slice(&columns[place][begin(place)..begin(place) + length]),
                                1 => Source::Uniform(columns[place][length]),
                                _ => Source::Out,
                            });
                            batch.run(&operands, &mut out[start..start + length]);
                            for lane in 0..length {
                                let triple = [0, 1, 2].map(|place| match way(place) {
                                    0 => columns[place][begin(place) + lane].bits(),
                                    1 => columns[place][length].bits(),
                                    _ => old[lane].bits(),
                                });
                                let expected = scalar(&operation, &Profile::NVIDIA, triple);
                                assert_eq!(
                                    out[start + lane].bits(),
                                    expected,
                                    "{level:?}, {stores:?}, length {length}, start {start}, ways {ways}, lane {lane}"
                                );
                            }
                            let outside = out[..start].iter().chain(&out[start + length..]);
                            assert!(outside.copied().all(|lane| lane == guard), "{level:?}, {length}, {start}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn any_length_start_and_source_f32() {
    shapes::<u32>(Format::F32);
}

#[test]
fn any_length_start_and_source_f64() {
    shapes::<u64>(Format::F64);
}

#[test]
fn any_length_start_and_source_f16() {
    shapes::<u16>(Format::F16);
}

#[test]
fn any_length_start_and_source_bf16() {
    shapes::<u16>(Format::BF16);
}

#[test]
fn any_length_start_and_source_mixed() {
    let triples = triples(Format::BF16, Format::F32, 256, 11);
    let [a, b] = [0, 1].map(|place| column::<u16>(&triples, place));
    let c = column::<u32>(&triples, 2);
    let operation = Operation { source_format: Format::BF16, ..Operation::mul_add(Format::F32, Rounding::Up) };
    for level in levels() {
        for stores in [Stores::Automatic, Stores::Streaming] {
            let batch = Batch::at_level(operation, &Profile::NVIDIA, level).with_stores(stores);
            for length in 0..=130 {
                for (start, ways) in (0..16).zip((length..).map(|n| n % 12)) {
                    let mut out = vec![0xa5a5_a5a5_u32; length + 32];
                    out[start..start + length].copy_from_slice(&c[64..64 + length]);
                    let factor = |uniform, from: &Vec<u16>| if uniform { Some(from[3]) } else { None };
                    let slices = [&a[start..start + length], &b[start..start + length]];
                    let source = |value: Option<u16>, slice| value.map_or(Source::Slice(slice), Source::Uniform);
                    let pair =
                        [source(factor(ways & 1 != 0, &a), slices[0]), source(factor(ways & 2 != 0, &b), slices[1])];
                    let addend = match ways / 4 {
                        0 => Source::Slice(&c[start..start + length]),
                        1 => Source::Uniform(c[5]),
                        _ => Source::Out,
                    };
                    batch.run_mixed(&pair, Some(addend), &mut out[start..start + length]);
                    for lane in 0..length {
                        let triple = [
                            if ways & 1 != 0 { a[3] } else { a[start + lane] } as u64,
                            if ways & 2 != 0 { b[3] } else { b[start + lane] } as u64,
                            [c[start + lane], c[5], c[64 + lane]][ways / 4] as u64,
                        ];
                        let expected = scalar(&operation, &Profile::NVIDIA, triple);
                        assert_eq!(out[start + lane] as u64, expected, "{level:?}, {stores:?}, {length}, {start}");
                    }
                    let outside = out[..start].iter().chain(&out[start + length..]);
                    assert!(outside.copied().all(|lane| lane == 0xa5a5_a5a5), "{level:?}, {length}, {start}");
                }
            }
        }
    }
}

/// No product code between the kernels and SoftFloat but what turns its NaNs into ours.
#[test]
fn kernels_against_softfloat() {
    if !softfloat::is_available() {
        return;
    }
    fn compare<T: Bits>(format: Format) {
        let triples = triples(format, format, lanes() * 4, 12);
        let columns = [0, 1, 2].map(|place| column::<T>(&triples, place));
        let calls = [
            (softfloat::Call::MulAdd, ArithOp::MulAdd, false),
            (softfloat::Call::Add, ArithOp::Add, false),
            (softfloat::Call::Sub, ArithOp::Add, true),
            (softfloat::Call::Mul, ArithOp::Mul, false),
        ];
        for (call, kind, negate_addend) in calls {
            for rounding in Rounding::ALL {
                let operation = Operation { negate_addend, ..Operation::new(kind, format, rounding) };
                let places = operation.op.operands();
                let operands: Vec<_> =
                    places.iter().map(|&place| Source::Slice(&columns[place as usize][..])).collect();
                let judge = |&triple: &[u64; 3]| {
                    softfloat::judge(call, layout(format), direction(rounding), false, triple).bits
                };
                let expected: Vec<u64> = triples.iter().map(judge).collect();
                for level in levels() {
                    let batch = Batch::at_level(operation, &Profile::NVIDIA, level);
                    let mut out = vec![T::of(0); triples.len()];
                    batch.run(&operands, &mut out);
                    for lane in 0..out.len() {
                        let (ours, theirs) = (out[lane].bits(), expected[lane]);
                        let both_nan = format.is_nan(ours) && format.is_nan(theirs);
                        assert!(
                            ours == theirs || both_nan,
                            "{level:?}, {operation:?}: {:x?} gives {ours:x}, SoftFloat {theirs:x}",
                            triples[lane]
                        );
                    }
                }
            }
        }
    }
    compare::<u32>(Format::F32);
    compare::<u64>(Format::F64);
    compare::<u16>(Format::F16);
}

#[test]
fn what_does_not_fit_is_refused() {
    let fma = Batch::new(Operation::mul_add(Format::F32, Rounding::NearestEven), &Profile::NVIDIA);
    let half = Operation { source_format: Format::F16, ..*fma.operation() };
    let mixed = Batch::new(half, &Profile::NVIDIA);
    let refused = |work: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("it was not refused");
        panic.downcast_ref::<String>().cloned().expect("a message with its numbers")
    };
    let (one, eight) = (Source::Uniform(1_u32), Source::Slice(&[0_u32; 8][..]));
    let short = refused(&|| fma.run(&[one, eight, one], &mut [0; 9]));
    assert_eq!(short, "operand b has 8 lanes and the output 9");
    assert_eq!(refused(&|| fma.run(&[one, one], &mut [0; 9])), "MulAdd takes 3 operands, not 2");
    assert_eq!(refused(&|| fma.run(&[Source::Uniform(1_u16); 3], &mut [0; 9])), "factors of 32 bits in lanes of 16");
    let out = refused(&|| mixed.run_mixed(&[Source::Uniform(1), Source::Out], Some(one), &mut [0; 9]));
    assert_eq!(out, "operand b has 16 bits and the output 32: it can't be Out");
    let missing = refused(&|| mixed.run_mixed(&[Source::Uniform(1); 2], None, &mut [0; 9]));
    assert_eq!(missing, "MulAdd takes 3 operands, not 2 factors and 0 addends");
}

/// A thread may run with flush-to-zero, subnormals as zeros and another direction (a library built with fast-math
/// flags sets the first two when it is loaded): the bits are the same, and its environment is left as it was.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
#[allow(unsafe_code)]
fn the_floating_point_environment_is_neither_trusted_nor_changed() {
    #[cfg(target_arch = "x86_64")]
    fn exchange(new: Option<u64>) -> u64 {
        let mut old = 0_u32;
        // SAFETY: reads the register into a local.
        unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack)) };
        if let Some(new) = new {
            // SAFETY: between this and the exchange back, this test computes with integers alone.
            unsafe { core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const new, options(nostack)) };
        }
        old.into()
    }
    /// As it starts, without and with a sticky bit; flushed both ways, and each way; toward zero; upward with a sticky
    /// bit; all traps set.
    #[cfg(target_arch = "x86_64")]
    const ENVIRONMENTS: [u64; 8] = [0x1f80, 0x1fa0, 0x9fc0, 0x9f80, 0x1fc0, 0x7f80, 0x5fa0, 0];

    /// The control register above the status register.
    #[cfg(target_arch = "aarch64")]
    fn exchange(new: Option<u64>) -> u64 {
        let (control, status): (u64, u64);
        // SAFETY: reads two registers.
        unsafe { core::arch::asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status) };
        if let Some(new) = new {
            // SAFETY: between this and the exchange back, this test computes with integers alone.
            unsafe { core::arch::asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) new >> 32, in(reg) new as u32 as u64) };
        }
        control << 32 | status
    }
    /// As it starts, without and with a sticky bit; flushed; NaNs by default; toward zero; upward with a sticky bit.
    #[cfg(target_arch = "aarch64")]
    const ENVIRONMENTS: [u64; 6] = [0, 1 << 4, 1 << 56, 1 << 57, 3 << 54, 1 << 54 | 1 << 4];

    for (factors, format) in [
        (Format::F16, Format::F16),
        (Format::BF16, Format::BF16),
        (Format::F32, Format::F32),
        (Format::F64, Format::F64),
        (Format::F16, Format::F32),
    ] {
        let triples = triples(factors, format, 4096, 13);
        for (operation, profile) in operations(factors, format) {
            if profile != Profile::NVIDIA || operation.negate_product || operation.negate_addend {
                continue;
            }
            let expected: Vec<u64> = triples.iter().map(|&triple| scalar(&operation, &profile, triple)).collect();
            for level in levels() {
                let batch = Batch::at_level(operation, &profile, level);
                for environment in ENVIRONMENTS {
                    let before = exchange(Some(environment));
                    let found = compute(&batch, &triples);
                    let after = exchange(Some(before));
                    assert_eq!(after, environment, "{level:?}, {operation:?}: the environment has changed");
                    assert_lanes(&batch, &profile, &triples, &expected, &found);
                }
            }
        }
    }
}
