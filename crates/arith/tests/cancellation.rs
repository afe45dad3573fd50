//! Every kernel beside the scalar pipeline where a direction of rounding goes wrong most easily: products and addends
//! that cancel, are far apart, underflow or overflow; infinities, NaNs and zeros of every sign.

#[path = "common/batch.rs"]
mod batch;
mod common;

use common::evaluate;
use roundonce_arith::batch::{Batch, Level};
use roundonce_arith::{ArithOp, Clamp, Format, Operation, Profile, Rounding};

/// All triples of numbers at the format's ends, in its middle, and where a product's last place leaves it, of infinities
/// and of NaNs.
fn extremes(factors: Format, to: Format) -> Vec<[u64; 3]> {
    let values = |format: Format| -> Vec<u64> {
        let last = format.frac_bits();
        let power = |exponent: i32| ((exponent + format.bias()).max(1) as u64) << last;
        let near = power(format.emin() + 2 * last as i32 - 20);
        let root = power((format.emin() + last as i32) / 2);
        let (one, infinity, smallest) = (power(0), format.infinity(), format.smallest_normal());
        let mut all = vec![0, 1, 2, smallest - 1, smallest, smallest + 1, root, root - 1, near, near - 1];
        all.extend([one - 1, one, one + 1, power(1) - 1, power(1)]);
        all.extend([infinity - (1 << last), infinity - 1, infinity, infinity + 1, format.magnitude_mask()]);
        all.iter().flat_map(|&bits| [bits, bits | format.sign_mask()]).collect()
    };
    let (of_factors, of_addends) = (values(factors), values(to));
    let pairs = of_factors.iter().flat_map(|&a| of_factors.iter().map(move |&b| [a, b]));
    pairs.flat_map(|[a, b]| of_addends.iter().map(move |&c| [a, b, c])).collect()
}

/// Factors with products of any size, and addends near the product or its opposite, or a power of two from there.
fn cancellations(factors: Format, to: Format, count: usize) -> Vec<[u64; 3]> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state >> 11
    };
    let product = Operation { source_format: factors, ..Operation::new(ArithOp::Mul, to, Rounding::NearestEven) };
    let mut triples = Vec::new();
    while triples.len() < count {
        let mut factor = |all_ones: bool| {
            let ones = if all_ones { (1 << factors.frac_bits()) - 1 } else { 0 };
            (random() | ones) & (factors.magnitude_mask() | factors.sign_mask())
        };
        let [a, b] = [factor(false), factor(triples.len() % 4 == 0)];
        let opposite = product.evaluate(&Profile::NVIDIA, &[a, b]).bits ^ to.sign_mask();
        for exponent in -(to.precision() as i64) - 3..=to.precision() as i64 + 3 {
            for places in -2..=2 {
                let magnitude = (opposite & to.magnitude_mask()) as i64 + (exponent << to.frac_bits()) + places;
                let magnitude = magnitude.clamp(0, to.infinity() as i64) as u64;
                triples.push([a, b, magnitude | opposite & to.sign_mask()]);
                triples.push([a, b, magnitude | !opposite & to.sign_mask()]);
            }
        }
    }
    triples
}

const CLAMPS: [Clamp; 3] = [Clamp::None, Clamp::Unit, Clamp::Relu];

fn check(factors: Format, to: Format) {
    let mut triples = extremes(factors, to);
    triples.extend(cancellations(factors, to, 100_000));
    let levels = || Level::ALL.into_iter().filter(|&level| level != Level::Portable && level.is_available());
    for kind in [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul] {
        for rounding in Rounding::ALL {
            for (flush, clamp) in [false, true].into_iter().flat_map(|flush| CLAMPS.map(|clamp| (flush, clamp))) {
                let operation =
                    Operation { source_format: factors, flush, clamp, ..Operation::new(kind, to, rounding) };
                let results = levels().map(|level| {
                    let batch = Batch::at_level(operation, &Profile::NVIDIA, level);
                    (level, batch::compute(&batch, &triples))
                });
                for (level, results) in results {
                    for (operands, found) in triples.iter().zip(results) {
                        let expected = evaluate(&operation, &Profile::NVIDIA, *operands).bits;
                        assert_eq!(
                            found, expected,
                            "{level:?}, {operation:?}: {operands:x?} gives {found:x}, the pipeline {expected:x}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn f32() {
    check(Format::F32, Format::F32);
}

#[test]
fn f64() {
    check(Format::F64, Format::F64);
}

#[test]
fn f16() {
    check(Format::F16, Format::F16);
}

#[test]
fn halves_with_f32() {
    check(Format::F16, Format::F32);
    check(Format::BF16, Format::F32);
}
