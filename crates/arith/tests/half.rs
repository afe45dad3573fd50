//! The vector kernels of f16 and bf16 where their ways through f32 could go wrong, against exact rationals: every pair
//! and triple of operands at the edges of the formats, and generated triples.

#[path = "common/batch.rs"]
mod batch;
mod common;

use batch::compute;
use common::{cases, generator, spec};
use roundonce_arith::batch::{Batch, Level};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding, Tininess};
use roundonce_oracle::rational;

/// Zero, the ends of the subnormals and of the normal numbers, one and what is around it and half its last place, the
/// infinities and NaNs; of both signs.
fn edges(format: Format) -> Vec<u64> {
    let (normal, one, infinity) = (format.smallest_normal(), format.one(), format.infinity());
    let half_place = one - ((format.precision() as u64) << format.frac_bits());
    let magnitudes = [
        0,
        1,
        2,
        3,
        normal - 1,
        normal,
        normal + 1,
        half_place - 1,
        half_place,
        half_place + 1,
        one - 1,
        one,
        one + 1,
        one + normal / 2,
        infinity - 1,
        infinity,
        infinity + 1,
        format.magnitude_mask(),
    ];
    magnitudes.into_iter().flat_map(|bits| [bits, bits | format.sign_mask()]).collect()
}

/// The settings that forms of one format have: PTX's, and SPIR-V's f16 in every direction.
fn operations(format: Format) -> Vec<Operation> {
    let mut list = Vec::new();
    let mut add = |op: ArithOp, rounding: Rounding, clamps: &[Clamp], flushes: &[bool]| {
        for (&clamp, &flush) in clamps.iter().flat_map(|clamp| flushes.iter().map(move |flush| (clamp, flush))) {
            list.push(Operation { clamp, flush, ..Operation::new(op, format, rounding) });
        }
    };
    for rounding in Rounding::ALL {
        if format == Format::F16 {
            add(ArithOp::MulAdd, rounding, &[Clamp::None], &[false, true]);
        } else {
            add(ArithOp::MulAdd, rounding, &[Clamp::None, Clamp::Relu], &[false]);
        }
    }
    let nearest = Rounding::NearestEven;
    if format == Format::F16 {
        add(ArithOp::MulAdd, nearest, &[Clamp::Unit, Clamp::Relu], &[false, true]);
        add(ArithOp::Add, nearest, &[Clamp::None, Clamp::Unit], &[false, true]);
        add(ArithOp::Mul, nearest, &[Clamp::None, Clamp::Unit], &[false, true]);
    } else {
        add(ArithOp::Add, nearest, &[Clamp::None], &[false]);
        add(ArithOp::Mul, nearest, &[Clamp::None], &[false]);
    }
    let subtractions: Vec<Operation> = list
        .iter()
        .filter(|operation| operation.op == ArithOp::Add)
        .map(|sum| Operation { negate_addend: true, ..*sum })
        .collect();
    list.extend(subtractions);
    list
}

/// At each level of x86-64, which must have a kernel.
fn check(operation: &Operation, profile: &Profile, triples: &[[u64; 3]]) {
    let spec = spec(operation, profile);
    let expected: Vec<u64> = triples.iter().map(|&triple| rational::judge(&spec, triple).bits).collect();
    for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
        let batch = Batch::at_level(*operation, profile, level);
        assert_eq!(batch.level(), level, "{operation:?}");
        for ((triple, found), expected) in triples.iter().zip(compute(&batch, triples)).zip(&expected) {
            assert_eq!(found, *expected, "{level:?} {operation:?} {triple:#x?}: {found:#x}, not {expected:#x}");
        }
    }
}

fn edges_of(format: Format) {
    let edges = edges(format);
    let every = |c: &[u64]| -> Vec<[u64; 3]> {
        let pair = |&a: &u64| edges.iter().map(move |&b| (a, b));
        edges.iter().flat_map(pair).flat_map(|(a, b)| c.iter().map(move |&c| [a, b, c])).collect()
    };
    let triples = every(&edges);
    for operation in operations(format) {
        let pairs: Vec<[u64; 3]> = match operation.op {
            ArithOp::Add => every(&[0]).into_iter().map(|[a, c, b]| [a, b, c]).collect(),
            _ => every(&[0]),
        };
        let cases = if operation.op == ArithOp::MulAdd { &triples } else { &pairs };
        for tininess in if operation.flush { &Tininess::ALL[..] } else { &[Tininess::AfterRounding] } {
            check(&operation, &Profile { tininess: *tininess, ..Profile::NVIDIA }, cases);
        }
    }
}

fn generated(format: Format) {
    for (number, operation) in operations(format).into_iter().enumerate() {
        let mut generator = generator(number as u64 + 700, &operation);
        let triples: Vec<_> = (0..cases(20_000)).map(|_| generator.triple()).collect();
        check(&operation, &Profile::NVIDIA, &triples);
    }
}

#[test]
fn edges_of_f16() {
    edges_of(Format::F16);
}

#[test]
fn edges_of_bf16() {
    edges_of(Format::BF16);
}

#[test]
fn generated_f16() {
    generated(Format::F16);
}

#[test]
fn generated_bf16() {
    generated(Format::BF16);
}

/// Cases that a shorter way would get wrong: sums rounded to nearest in f32, half a place added whatever the last place's
/// parity is, products flushed or rounded up among the subnormals.
#[test]
fn worked() {
    let fma = |format| Operation::mul_add(format, Rounding::NearestEven);
    let mul = |format| Operation::new(ArithOp::Mul, format, Rounding::NearestEven);
    #[rustfmt::skip] // A table.
    let cases = [
        // (1 + 2^-10) × (2^-11 − 2^-21) + (1 + 2^-10): 2^-31 below a tie, which in f32 it is: that goes up to 0x3c02.
        (fma(Format::F16), [0x3c01, 0x0ffe, 0x3c01], 0x3c01),
        // The product subtracted: 2^-31 above a tie, which goes down to 0x3c00.
        (fma(Format::F16), [0xbc01, 0x0ffe, 0x3c01], 0x3c01),
        // 1 + 2^-8, a tie; 1 + 2^-100.
        (fma(Format::BF16), [0x3b80, 0x3f80, 0x3f80], 0x3f80),
        (fma(Format::BF16), [0x0d80, 0x3f80, 0x3f80], 0x3f80),
        // 2^-8 × (1 + 2^-7) × (1 − 2^-7) + (1 + 2^-7): 2^-22 below a tie that goes up.
        (fma(Format::BF16), [0x3f81, 0x3b7e, 0x3f81], 0x3f81),
        // 1.5 × 2 × the smallest subnormal; 1.5 × it, a tie to 2; 1.25 × 2 × it, a tie to 2.
        (mul(Format::BF16), [0x3fc0, 0x0002, 0], 0x0003),
        (mul(Format::BF16), [0x3fc0, 0x0001, 0], 0x0002),
        (mul(Format::BF16), [0x3fa0, 0x0002, 0], 0x0002),
        // 2^-66 × 2^-67, the smallest subnormal; 2^-67 squared, half of it; 2^-67 × 2^-67 × (1 + 2^-7), more than half.
        (mul(Format::BF16), [0x1e80, 0x1e00, 0], 0x0001),
        (mul(Format::BF16), [0x1e00, 0x1e00, 0], 0x0000),
        (mul(Format::BF16), [0x1e00, 0x1e01, 0], 0x0001),
        // −2^-67 × 2^-68 × (2 − 2^-7): below half, and its lowest bit below f32's.
        (mul(Format::BF16), [0x9e00, 0x1dff, 0], 0x8000),
        // The largest number and half its last place less a little, and the whole half.
        (fma(Format::BF16), [0x3f80, 0x7f7f, 0x7b00 - 1], 0x7f7f),
        (fma(Format::BF16), [0x3f80, 0x7f7f, 0x7b00], 0x7f80),
        (fma(Format::F16), [0x3c00, 0x7bff, 0x4c00 - 1], 0x7bff),
        (fma(Format::F16), [0x3c00, 0x7bff, 0x4c00], 0x7c00),
    ];
    for (operation, triple, expected) in cases {
        let judge = rational::judge(&spec(&operation, &Profile::NVIDIA), triple).bits;
        assert_eq!(judge, expected, "{operation:?} {triple:#x?}: {judge:#x}");
        check(&operation, &Profile::NVIDIA, &[triple]);
    }
}
