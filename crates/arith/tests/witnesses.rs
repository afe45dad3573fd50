//! Cases to keep for ever: each has fooled somebody, or stands for a clause that is easy to get wrong. Every one is also
//! put to the exact judge, so that a witness cannot lie.

mod common;

use common::{evaluate, spec};
use roundonce_arith::{ArithOp, Clamp, Flags, Format, Operation, Profile, Rounding, Tininess};
use roundonce_oracle::rational;

use Rounding::{Down, NearestEven, TowardZero, Up};

const F16: Operation = Operation::mul_add(Format::F16, NearestEven);
const BF16: Operation = Operation::mul_add(Format::BF16, NearestEven);
const F32: Operation = Operation::mul_add(Format::F32, NearestEven);
const F64: Operation = Operation::mul_add(Format::F64, NearestEven);
const RZ: Operation = Operation { rounding: TowardZero, ..F32 };
const RM: Operation = Operation { rounding: Down, ..F32 };
const RP: Operation = Operation { rounding: Up, ..F32 };
const FTZ: Operation = Operation { flush: true, ..F32 };
const SAT: Operation = Operation { clamp: Clamp::Unit, ..F32 };
const RELU: Operation = Operation { clamp: Clamp::Relu, ..F16 };
const OOB: Operation = Operation { oob: true, ..F16 };
const OOB_BF16: Operation = Operation { oob: true, ..BF16 };
const FMZ: Operation = Operation { fmz: true, ..FTZ };
const FMZ_SAT: Operation = Operation { clamp: Clamp::Unit, ..FMZ };
const SM_1X: Operation =
    Operation { flush: true, ..Operation::new(ArithOp::TruncatedMulAdd, Format::F32, NearestEven) };
const HALVES: Operation = Operation { source_format: Format::F16, ..F32 };
const BRAINS: Operation = Operation { source_format: Format::BF16, ..F32 };
const BRAINS_FTZ: Operation = Operation { flush: true, ..BRAINS };
const HALF_ADD: Operation = Operation { op: ArithOp::Add, ..HALVES };

#[rustfmt::skip] // one case a line
const WITNESSES: &[(Operation, [u64; 3], u64, &str)] = &[
    // Double rounding.
    (F32,  [0x3f80_0001, 0x337f_fffe, 0x3f80_0001], 0x3f80_0001, "through f64 and a cast: 3f800002"),
    (F32,  [0x3fa0_0000, 0x3f80_0002, 0x0080_0001], 0x3fa0_0003, "1.25 x (1 + 2^-22) is a tie, the addend tips it"),
    (BF16, [0x3f88, 0x3f88, 0x2180],                0x3f91,      "bf16 through f32: 3f90"),
    (F16,  [0x5801, 0x3bff, 0x0401],                0x5801,      "f16 through f32 errs"),
    // Clamped and out of bounds.
    (RELU, [0xbc00, 0x3c00, 0x0000],                0x0000,      "-1 becomes +0"),
    (RELU, [0x8000, 0x3c00, 0x8000],                0x0000,      "-0 becomes +0"),
    (RELU, [0x7c00, 0x0000, 0x3c00],                0x7fff,      "a NaN stays a NaN, which .sat would make +0"),
    (RELU, [0x4000, 0x4000, 0x0000],                0x4400,      "nothing is clamped above"),
    (OOB,  [0x7ff7, 0x7e00, 0x3c00],                0x0000,      "the out-of-bounds NaN, beside another"),
    (OOB,  [0x3c00, 0x7ff6, 0x3c00],                0x7fff,      "a NaN like any other"),
    (OOB,  [0xfff7, 0x7fff, 0xbbfe],                0x0000,      "of the other sign (H100)"),
    (OOB,  [0x3c00, 0x3c00, 0x7ff7],                0x7fff,      "as the addend a NaN like any other (H100)"),
    (OOB_BF16, [0x3f80, 0x7ff7, 0xff80],            0x0000,      "the same pattern in bf16"),
    // Ties and sticky bits.
    (F32,  [0x3f80_0000, 0x3f80_0000, 0x3380_0000], 0x3f80_0000, "1 + 2^-24: a tie goes to the even neighbour, below"),
    (F32,  [0x3f80_0001, 0x3f80_0000, 0x3380_0000], 0x3f80_0002, "a tie goes to the even neighbour, above"),
    (F32,  [0x3f80_0000, 0x3f80_0000, 0x3380_0001], 0x3f80_0001, "just above the tie"),
    (F32,  [0x2b00_0000, 0x2b00_0000, 0x3f80_0000], 0x3f80_0000, "1 + 2^-82"),
    (RP,   [0x2b00_0000, 0x2b00_0000, 0x3f80_0000], 0x3f80_0001, "1 + 2^-82 up: a sticky bit is enough"),
    (RZ,   [0x2b00_0000, 0xab00_0000, 0x3f80_0000], 0x3f7f_ffff, "1 - 2^-82 toward zero"),
    // One rounding, not two.
    (F32,  [0x3f80_0001, 0x3f80_0001, 0xbf80_0002], 0x2880_0000, "unfused: 0"),
    (RZ,   [0x3f80_0001, 0x3f80_0001, 0x0000_0000], 0x3f80_0002, "toward zero"),
    (RP,   [0x3f80_0001, 0x3f80_0001, 0x0000_0000], 0x3f80_0003, "up"),
    (RP,   [0xbf80_0001, 0x3f80_0001, 0x0000_0000], 0xbf80_0002, "up, below zero"),
    (RM,   [0xbf80_0001, 0x3f80_0001, 0x0000_0000], 0xbf80_0003, "down, below zero"),
    // The sign of zero.
    (F32,  [0x3f80_0000, 0x3f80_0000, 0xbf80_0000], 0x0000_0000, "cancelled: +0"),
    (RM,   [0x3f80_0000, 0x3f80_0000, 0xbf80_0000], 0x8000_0000, "cancelled under .rm: -0"),
    (RP,   [0x8000_0000, 0x3f80_0000, 0x8000_0000], 0x8000_0000, "two zeros of one sign keep it"),
    (RM,   [0x8000_0000, 0x3f80_0000, 0x0000_0000], 0x8000_0000, "two zeros of unlike signs under .rm"),
    (F32,  [0x8000_0000, 0x3f80_0000, 0x0000_0000], 0x0000_0000, "two zeros of unlike signs"),
    // Zero dominance.
    (FMZ_SAT, [0x7f80_0000, 0x0000_0000, 0x3f00_0000], 0x3f00_0000, "infinity x 0 + 0.5 = 0.5"),
    (FMZ,  [0x0000_0000, 0x4120_0000, 0x8000_0000], 0x0000_0000, "0 x x + (-0) = +0 under .RN"),
    (FMZ,  [0x8000_0000, 0x7fc0_0000, 0x3f80_0000], 0x3f80_0000, "-0 x NaN = +0"),
    (FMZ,  [0x007f_ffff, 0xff80_0000, 0x4000_0000], 0x4000_0000, "a flushed factor dominates"),
    (FMZ,  [0x0000_0000, 0x3f80_0000, 0x7fc0_1234], 0x7fff_ffff, "the addend's NaN is not dominated"),
    (FMZ,  [0x0000_0000, 0x3f80_0000, 0x0040_0000], 0x0000_0000, "the addend is flushed"),
    // Flushing.
    (F32,  [0x0080_0000, 0x3f00_0000, 0x0000_0000], 0x0040_0000, "gradual underflow"),
    (FTZ,  [0x0080_0000, 0x3f00_0000, 0x0000_0000], 0x0000_0000, "a subnormal result is flushed"),
    (FTZ,  [0x0080_0000, 0xbf00_0000, 0x0000_0000], 0x8000_0000, "to zero of its sign"),
    (FTZ,  [0x0040_0000, 0x7f00_0000, 0x3f80_0000], 0x3f80_0000, "a subnormal operand is flushed"),
    (FTZ,  [0x007f_ffff, 0x7f80_0000, 0x3f80_0000], 0x7fff_ffff, "and then is zero x infinity"),
    (FTZ,  [0x3f7f_ffff, 0x0080_0000, 0x0000_0000], 0x0000_0000, "delivered as the smallest normal, but tiny: flushed"),
    (FTZ,  [0x3f7f_fffe, 0x0080_0001, 0x0000_0000], 0x0080_0000, "rounds up to the smallest normal at any precision: kept"),
    // Saturation.
    (SAT,  [0x7fc0_0000, 0x3f80_0000, 0x3f80_0000], 0x0000_0000, "NaN is +0"),
    (SAT,  [0x8000_0000, 0x3f80_0000, 0x8000_0000], 0x0000_0000, "-0 is +0"),
    (SAT,  [0xff80_0000, 0x3f80_0000, 0x3f80_0000], 0x0000_0000, "-infinity"),
    (SAT,  [0x3f80_0001, 0x3f80_0000, 0x0000_0000], 0x3f80_0000, "just above one"),
    (SAT,  [0x3f7f_ffff, 0x3f80_0000, 0x0000_0000], 0x3f7f_ffff, "just below one"),
    // Overflow goes by the direction.
    (F32,  [0x7f7f_ffff, 0x4000_0000, 0x0000_0000], 0x7f80_0000, "to infinity"),
    (RZ,   [0x7f7f_ffff, 0x4000_0000, 0x0000_0000], 0x7f7f_ffff, "to the largest"),
    (RM,   [0xff7f_ffff, 0x4000_0000, 0x0000_0000], 0xff80_0000, "down"),
    (RP,   [0xff7f_ffff, 0x4000_0000, 0x0000_0000], 0xff7f_ffff, "up"),
    // NaNs.
    (F32,  [0xffc1_2345, 0x3f80_0000, 0x3f80_0000], 0x7fff_ffff, "f32 keeps neither sign nor payload"),
    (F32,  [0x7f80_0000, 0x0000_0000, 0x3f80_0000], 0x7fff_ffff, "infinity x 0"),
    (F64,  [0x3ff0_0000_0000_0000, 0xfff0_0000_0000_1234, 0x7ff8_0000_0000_0001], 0xfff8_0000_0000_1234, "f64: b before c"),
    (F64,  [0x7ff0_0000_0000_0000, 0x3ff0_0000_0000_0000, 0xfff0_0000_0000_0000], 0xfff8_0000_0000_0000, "f64: invalid"),
    (F16,  [0x7c01, 0x3c00, 0x3c00],                0x7fff,      "f16"),
    // Widened operands.
    (HALVES, [0x0001, 0x3c00, 0x0000_0000],         0x3380_0000, "the smallest f16 is a normal f32"),
    (Operation { flush: true, ..HALVES }, [0x0001, 0x3c00, 0x0000_0000], 0x3380_0000, "and is not flushed"),
    (BRAINS, [0x0001, 0x3f80, 0x0000_0000],         0x0001_0000, "the smallest bf16 is a subnormal f32"),
    (BRAINS_FTZ, [0x0001, 0x3f80, 0x3f80_0000],     0x3f80_0000, "and is flushed"),
    (HALF_ADD, [0x7bff, 0, 0x3f80_0000],            0x477f_e100, "65504 + 1"),
    // sm_1x: the product is truncated to 24 bits, its exponent unbounded.
    (SM_1X, [0x3f80_0001, 0x3f80_0001, 0xbf80_0002], 0x0000_0000, "the product loses 2^-46"),
    (SM_1X, [0x7f00_0000, 0x4000_0000, 0xff7f_ffff], 0x7380_0000, "2^128 - the largest: no overflow on the way"),
    (SM_1X, [0x7f7f_ffff, 0x3f80_0001, 0x0000_0000], 0x7f80_0000, "a zero addend: mul.f32, which overflows"),
    (SM_1X, [0x3fc0_0000, 0x3f80_0001, 0x0000_0000], 0x3fc0_0002, "a zero addend: the product is rounded"),
    (SM_1X, [0x3fc0_0000, 0x3f80_0001, 0x2000_0000], 0x3fc0_0001, "any other: cut"),
    (SM_1X, [0x3f7f_ffff, 0x0080_0000, 0x0000_0000], 0x0000_0000, "a zero addend: flushed as mul.f32"),
    (SM_1X, [0x1a00_0000, 0x9a00_0000, 0x0080_0000], 0x0080_0000, "2^-126 - 2^-150, any other addend: kept"),
    (FTZ,   [0x1a00_0000, 0x9a00_0000, 0x0080_0000], 0x0000_0000, "and fused: flushed"),
];

#[test]
fn every_witness() {
    for (operation, operands, bits, why) in WITNESSES {
        let product = evaluate(operation, &Profile::NVIDIA, *operands);
        let judge = rational::judge(&spec(operation, &Profile::NVIDIA), *operands);
        assert_eq!(product, judge, "{why}: the judge disagrees; {operation:?}");
        assert_eq!(product.bits, *bits, "{why}: {:x}, not {bits:x}; {operation:?}", product.bits);
    }
}

/// Where the three readings of "subnormal result" part: products just below the smallest normal number.
#[test]
fn three_ways_to_be_tiny() {
    #[rustfmt::skip] // operands, then the results of `Result`, `AfterRounding`, `BeforeRounding`
    let cases = [
        // 2^-126 - 2^-150 = 1.11…1 (24 ones) × 2^-127 rounds to the smallest normal at subnormal precision only.
        ([0x3f7f_ffff, 0x0080_0000, 0x0000_0000], [0x0080_0000, 0, 0]),
        // 2^-126 - 2^-172 rounds to it at any precision.
        ([0x3f7f_fffe, 0x0080_0001, 0x0000_0000], [0x0080_0000, 0x0080_0000, 0]),
        // The last subnormal, exactly; and the first number that no reading calls tiny.
        ([0x3f7f_fffe, 0x0080_0000, 0x0000_0000], [0, 0, 0]),
        ([0x3f80_0000, 0x0080_0000, 0x0000_0000], [0x0080_0000; 3]),
    ];
    for (operands, results) in cases {
        for (tiny, bits) in
            [Tininess::Result, Tininess::AfterRounding, Tininess::BeforeRounding].into_iter().zip(results)
        {
            let profile = Profile { tininess: tiny, ..Profile::NVIDIA };
            let product = evaluate(&FTZ, &profile, operands);
            assert_eq!(
                product,
                rational::judge(&spec(&FTZ, &profile), operands),
                "the judge disagrees on {operands:x?}"
            );
            assert_eq!(product.bits, bits, "{operands:x?} {tiny:?}: {:x}", product.bits);
            let flushed = bits == 0;
            assert_eq!(product.flags & Flags::UNDERFLOW.bits() != 0, flushed || tiny_flag(operands), "{operands:x?}");
        }
    }
}

/// Underflow is raised by an inexact tiny result (after rounding), flushed or not.
fn tiny_flag(operands: [u64; 3]) -> bool {
    let plain = evaluate(&F32, &Profile::NVIDIA, operands);
    plain.flags & Flags::UNDERFLOW.bits() != 0
}
