//! Generated triples against the judges: as many a mode as `ROUNDONCE_CASES` says, or as an ordinary run affords.

mod common;

use common::{TINY, UNDERFLOW, cases, differ, direction, evaluate, generator, layout, spec};
use roundonce_arith::{
    ArithOp, Clamp, ConditionCodes, ExactNumber, FmzSatNan, Format, NanRule, OperandIndex, Operation, Profile,
    Rounding, Sm1xMad, Tininess, widen,
};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::{Direction, INEXACT, Layout, UNDERFLOW as UNDERFLOW_FLAG, Verdict, condition_codes, rational};

/// SoftFloat's NaNs: the first NaN operand, made quiet.
const FIRST: NanRule = NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C]);

/// One call, four directions, both tininess rules; flags and NaN bits too.
fn against_softfloat(format: Format, call: Call) {
    if !softfloat::is_available() {
        return;
    }
    let (kind, negate_addend) = match call {
        Call::MulAdd => (ArithOp::MulAdd, false),
        Call::Add => (ArithOp::Add, false),
        Call::Sub => (ArithOp::Add, true),
        Call::Mul => (ArithOp::Mul, false),
    };
    for rounding in Rounding::ALL {
        for underflow in UNDERFLOW {
            let profile = Profile { underflow, nan_f32: FIRST, nan_f64: FIRST, nan_small: FIRST, ..Profile::NVIDIA };
            let operation = Operation { negate_addend, ..Operation::new(kind, format, rounding) };
            let before = underflow == UNDERFLOW[1];
            let mode = 100 + 10 * call as u64 + 2 * rounding as u64 + u64::from(before);
            let mut generator = generator(mode, &operation);
            for _ in 0..cases(1_000_000) {
                let operands = generator.triple();
                let mut judge = softfloat::judge(call, layout(format), direction(rounding), before, operands);
                let product = evaluate(&operation, &profile, operands);
                // One named difference, in the bits of a NaN: SoftFloat prefers the NaN of 0 × infinity to the addend's.
                if call == Call::MulAdd && softfloat::hides_the_addend(layout(format), operands) {
                    assert!(format.is_nan(judge.bits) && format.is_nan(product.bits));
                    judge.bits = product.bits;
                }
                if product != judge {
                    differ(&operation, &profile, operands, product, judge);
                }
            }
        }
    }
}

#[test]
fn f16_mul_add_against_softfloat() {
    against_softfloat(Format::F16, Call::MulAdd);
}
#[test]
fn f32_mul_add_against_softfloat() {
    against_softfloat(Format::F32, Call::MulAdd);
}
#[test]
fn f64_mul_add_against_softfloat() {
    against_softfloat(Format::F64, Call::MulAdd);
}
#[test]
fn add_sub_mul_against_softfloat() {
    for format in [Format::F16, Format::F32, Format::F64] {
        for call in [Call::Add, Call::Sub, Call::Mul] {
            against_softfloat(format, call);
        }
    }
}

/// The two criteria that SoftFloat has, on operands that need no flush themselves: a result is tiny where SoftFloat raises
/// underflow, or where it is subnormal and exact.
#[test]
fn flushed_results_against_softfloat() {
    if !softfloat::is_available() {
        return;
    }
    let calls = [(Call::MulAdd, ArithOp::MulAdd), (Call::Add, ArithOp::Add), (Call::Mul, ArithOp::Mul)];
    for format in [Format::F16, Format::F32, Format::F64] {
        for (call, kind) in calls {
            for rounding in Rounding::ALL {
                for (tininess, before) in [(Tininess::AfterRounding, false), (Tininess::BeforeRounding, true)] {
                    let profile = Profile { tininess, ..Profile::NVIDIA };
                    let operation = Operation { flush: true, ..Operation::new(kind, format, rounding) };
                    let mut generator = generator(9000 + 10 * call as u64 + rounding as u64, &operation);
                    for _ in 0..cases(100_000) {
                        let operands = generator.triple().map(|bits| format.flush(bits));
                        let mut judge = softfloat::judge(call, layout(format), direction(rounding), before, operands);
                        if format.is_nan(judge.bits) {
                            continue;
                        }
                        if judge.flags & UNDERFLOW_FLAG != 0 || format.is_subnormal(judge.bits) {
                            judge = Verdict { bits: judge.bits & format.sign_mask(), flags: UNDERFLOW_FLAG | INEXACT };
                        }
                        let product = evaluate(&operation, &profile, operands);
                        if product != judge {
                            differ(&operation, &profile, operands, product, judge);
                        }
                    }
                }
            }
        }
    }
}

/// Rounding × (nothing | flush × `tiny` | `.FMZ`) × clamp, with signs, the underflow rule and the order of
/// NaNs changing from one mode to the next.
fn against_rational(kinds: &[ArithOp], factors: Format, format: Format) {
    const ORDERS: [[OperandIndex; 3]; 3] = [
        [OperandIndex::A, OperandIndex::B, OperandIndex::C],
        [OperandIndex::C, OperandIndex::B, OperandIndex::A],
        [OperandIndex::B, OperandIndex::C, OperandIndex::A],
    ];
    let mut number = 0;
    for &kind in kinds {
        for rounding in Rounding::ALL {
            for flush in 0..5_usize {
                for clamp in [Clamp::None, Clamp::Unit, Clamp::Relu] {
                    number += 1;
                    let operation = Operation {
                        source_format: factors,
                        flush: flush > 0,
                        fmz: flush == 4,
                        clamp,
                        negate_product: number % 4 == 1,
                        negate_addend: number % 5 == 1,
                        ..Operation::new(kind, format, rounding)
                    };
                    let profile = Profile {
                        tininess: TINY[flush.saturating_sub(1) % 3],
                        sm1x_tininess: TINY[number % 3],
                        fmz_sat_nan: [FmzSatNan::Addend, FmzSatNan::Zero][number % 2],
                        underflow: UNDERFLOW[number % 2],
                        nan_f64: NanRule::Payload(ORDERS[number / 2 % 3]),
                        ..Profile::NVIDIA
                    };
                    let spec = spec(&operation, &profile);
                    let mut generator = generator(1000 + number as u64, &operation);
                    let default = if kind == ArithOp::MulAdd { 200_000 } else { 50_000 };
                    for _ in 0..cases(default) {
                        let operands = generator.triple();
                        let product = evaluate(&operation, &profile, operands);
                        let judge = rational::judge(&spec, operands);
                        if product != judge {
                            differ(&operation, &profile, operands, product, judge);
                        }
                    }
                }
            }
        }
    }
}

const ALL: [ArithOp; 4] = [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul, ArithOp::TruncatedMulAdd];

#[test]
fn f16_against_rational() {
    against_rational(&ALL[..3], Format::F16, Format::F16);
}
#[test]
fn bf16_against_rational() {
    against_rational(&ALL[..3], Format::BF16, Format::BF16);
}
#[test]
fn f32_against_rational() {
    against_rational(&ALL, Format::F32, Format::F32);
}
#[test]
fn f64_against_rational() {
    against_rational(&ALL[..3], Format::F64, Format::F64);
}
#[test]
fn f16_factors_against_rational() {
    against_rational(&ALL[..3], Format::F16, Format::F32);
}
#[test]
fn bf16_factors_against_rational() {
    against_rational(&ALL[..3], Format::BF16, Format::F32);
}

/// Formats without a name, at the edges of what `Format` takes.
#[test]
fn odd_formats_against_rational() {
    for (exp_bits, frac_bits) in [(11, 1), (2, 27), (5, 28), (8, 29), (2, 52), (9, 30), (11, 51), (3, 40)] {
        let format = Format::new(exp_bits, frac_bits);
        for rounding in Rounding::ALL {
            for kind in ALL {
                let operation = Operation { flush: kind as u32 % 2 == 1, ..Operation::new(kind, format, rounding) };
                let rule = NanRule::Canonical;
                let profile = Profile { nan_f32: rule, nan_f64: rule, nan_small: rule, ..Profile::NVIDIA };
                let spec = spec(&operation, &profile);
                let mut generator = generator(2000, &operation);
                for _ in 0..cases(20_000) {
                    let operands = generator.triple();
                    let product = evaluate(&operation, &profile, operands);
                    let judge = rational::judge(&spec, operands);
                    if product != judge {
                        differ(&operation, &profile, operands, product, judge);
                    }
                }
            }
        }
    }
}

/// `mad.f32` of sm_1x as the machine has it, and as a later machine runs it.
#[test]
fn sm_1x_against_rational() {
    for sm1x_mad in [Sm1xMad::Truncate, Sm1xMad::FusedFtz] {
        for clamp in [Clamp::None, Clamp::Unit, Clamp::Relu] {
            let base = Operation::new(ArithOp::TruncatedMulAdd, Format::F32, Rounding::NearestEven);
            let operation = Operation { flush: true, clamp, ..base };
            let profile = Profile { sm1x_mad, ..Profile::NVIDIA };
            let spec = spec(&operation, &profile);
            let mut generator = generator(3000, &operation);
            for _ in 0..cases(1_000_000) {
                let operands = generator.triple();
                let product = evaluate(&operation, &profile, operands);
                let judge = rational::judge(&spec, operands);
                if product != judge {
                    differ(&operation, &profile, operands, product, judge);
                }
            }
        }
    }
}

/// Step 1 alone: a + (−0) is a, exactly.
#[test]
fn every_f16_and_bf16_widened() {
    for from in [Format::F16, Format::BF16] {
        let add = Operation { source_format: from, ..Operation::new(ArithOp::Add, Format::F32, Rounding::NearestEven) };
        for bits in 0..0x1_0000 {
            let wide = widen(from, Format::F32, bits);
            if from.is_nan(bits) {
                assert!(Format::F32.is_nan(wide) && from.is_signalling(bits) == Format::F32.is_signalling(wide));
                assert_eq!(Format::F32.is_negative(wide), from.is_negative(bits), "{bits:#x}");
            } else {
                let judge = rational::judge(&spec(&add, &Profile::NVIDIA), [bits, 0, 0x8000_0000]);
                assert_eq!((wide, 0), (judge.bits, judge.flags), "{bits:#x}");
            }
        }
    }
}

/// Step 11, on every value of the 16-bit formats.
#[test]
fn condition_codes_of_every_f16_and_bf16() {
    for format in [Format::F16, Format::BF16] {
        for bits in 0..0x1_0000 {
            let codes = ConditionCodes::of(format, bits);
            assert_eq!(codes.bits(), condition_codes(layout(format), bits), "{bits:#x}");
        }
    }
}

/// What literals are read with: any significand, any exponent, a rest or none.
#[test]
fn exact_numbers_against_rational() {
    // Three words of the generator's stream make one case.
    let mut words = Generator::new(4000, Layout { exp_bits: 11, frac_bits: 52 }, Layout::F64);
    for (_, format) in Format::NAMED {
        let reach = format.emax() + format.precision() as i32 + 130;
        for rounding in Rounding::ALL {
            for _ in 0..cases(100_000) {
                let [x, y, z] = words.triple();
                let kept = (z >> 8) % 129;
                let wide = u128::from(x) << 64 | u128::from(y);
                let significand = if kept == 0 { 0 } else { wide >> (128 - kept) };
                let exponent = (z >> 20) as i32 % reach - if z & 2 != 0 { 2 * reach / 3 } else { 0 };
                // The terms under which a rest may be given: two bits more than the format keeps.
                let more = z & 1 != 0 && significand >> (format.precision() + 1) != 0;
                let negative = z & 4 != 0;
                let product =
                    ExactNumber { negative, quantum: exponent, significand, sticky: more }.round(format, rounding);
                let judge =
                    rational::number(layout(format), direction(rounding), negative, significand, exponent, more);
                assert_eq!(
                    (product.bits, product.flags.bits()),
                    (judge.bits, judge.flags),
                    "{format:?} {rounding:?} {negative} {significand:#x} x 2^{exponent}, more: {more}"
                );
            }
        }
        // Exponents that no format reaches.
        for exponent in [i32::MIN / 2, -1_000_000, 1_000_000, i32::MAX / 2] {
            for significand in [1, u128::MAX] {
                let product = ExactNumber { negative: true, quantum: exponent, significand, sticky: false }
                    .round(format, Rounding::NearestEven);
                let within = exponent.clamp(-5000, 5000);
                let judge = rational::number(layout(format), Direction::Nearest, true, significand, within, false);
                assert_eq!((product.bits, product.flags.bits()), (judge.bits, judge.flags), "2^{exponent}");
            }
        }
    }
}

/// Bits of every result, and of the flags inexact and overflow.
#[cfg(feature = "mpfr")]
#[test]
fn mul_add_against_mpfr() {
    use roundonce_oracle::mpfr::{FLAGS, Judge};
    for format in [Format::F16, Format::BF16, Format::F32, Format::F64] {
        let mut mpfr = Judge::new(layout(format));
        let profile = Profile { nan_f64: NanRule::Canonical, ..Profile::NVIDIA };
        for rounding in Rounding::ALL {
            let operation = Operation::mul_add(format, rounding);
            let mut generator = generator(200 + rounding as u64, &operation);
            for _ in 0..cases(1_000_000) {
                let operands = generator.triple();
                let mut product = evaluate(&operation, &profile, operands);
                let judge = mpfr.mul_add(direction(rounding), operands);
                product.flags &= FLAGS;
                if product != judge {
                    differ(&operation, &profile, operands, product, judge);
                }
            }
        }
    }
}
