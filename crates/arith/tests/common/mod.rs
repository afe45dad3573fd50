//! The product's operations in the judges' words: the only file that knows both.

// Every test binary compiles this file and uses its own part of it.
#![allow(dead_code, unreachable_pub)]

use roundonce_arith::{
    ArithOp, Clamp, FmzSatNan, Format, NanRule, Operation, Profile, Rounding, Sm1xMad, Tininess, Underflow,
};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, Verdict};

pub fn layout(format: Format) -> Layout {
    Layout { exp_bits: format.exp_bits(), frac_bits: format.frac_bits() }
}

pub fn direction(rounding: Rounding) -> Direction {
    match rounding {
        Rounding::NearestEven => Direction::Nearest,
        Rounding::TowardZero => Direction::Zero,
        Rounding::Down => Direction::Down,
        Rounding::Up => Direction::Up,
    }
}

/// The NaN rule of a profile goes by the width of the result (semantics, NaN rules).
fn nan(profile: &Profile, format: Format) -> NanBits {
    let rule = match format.width() {
        33.. => profile.nan_f64,
        17..=32 => profile.nan_f32,
        ..=16 => profile.nan_small,
    };
    match rule {
        NanRule::Canonical => NanBits::AllOnes,
        NanRule::Payload(order) => NanBits::FirstOf(order.map(|operand| operand as usize)),
    }
}

pub fn spec(operation: &Operation, profile: &Profile) -> Spec {
    let recompiled = operation.op == ArithOp::TruncatedMulAdd && profile.sm1x_mad == Sm1xMad::FusedFtz;
    let rule = |tininess| match tininess {
        Tininess::Result => FlushRule::Delivered,
        Tininess::AfterRounding => FlushRule::Rounded,
        Tininess::BeforeRounding => FlushRule::Exact,
    };
    let truncates = operation.op == ArithOp::TruncatedMulAdd && !recompiled;
    Spec {
        shape: match operation.op {
            ArithOp::TruncatedMulAdd if recompiled => Shape::MulAdd,
            ArithOp::TruncatedMulAdd => Shape::TruncatedMulAdd,
            ArithOp::MulAdd => Shape::MulAdd,
            ArithOp::Add => Shape::Add,
            ArithOp::Mul => Shape::Mul,
        },
        to: layout(operation.format),
        factors: layout(operation.source_format),
        operands: operation.operand_formats.map(|formats| formats.map(layout)),
        negate_a: operation.negate_product,
        negate_c: operation.negate_addend,
        direction: direction(operation.rounding),
        flush: (operation.flush || recompiled).then_some(rule(if truncates {
            profile.sm1x_tininess
        } else {
            profile.tininess
        })),
        flush_of_two: (operation.flush && truncates).then_some(rule(profile.tininess)),
        fmz: operation.fmz,
        fmz_nan_is_zero: profile.fmz_sat_nan == FmzSatNan::Zero,
        saturate: operation.clamp == Clamp::Unit,
        relu: operation.clamp == Clamp::Relu,
        oob_nan: operation.oob.then_some(profile.oob_nan),
        nan: nan(profile, operation.format),
        underflow_before_rounding: profile.underflow == Underflow::BeforeRounding,
    }
}

/// The product's answer on `[a, b, c]`; an operand that the kind does not take is dropped.
#[inline]
pub fn evaluate(operation: &Operation, profile: &Profile, [a, b, c]: [u64; 3]) -> Verdict {
    let outcome = match operation.op {
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => operation.evaluate(profile, &[a, b, c]),
        ArithOp::Add => operation.evaluate(profile, &[a, c]),
        ArithOp::Mul => operation.evaluate(profile, &[a, b]),
    };
    Verdict { bits: outcome.bits, flags: outcome.flags.bits() }
}

/// Fails with everything that is needed to try the case again.
#[cold]
#[inline(never)]
pub fn differ(operation: &Operation, profile: &Profile, operands: [u64; 3], product: Verdict, judge: Verdict) -> ! {
    panic!(
        "operands {:#x} {:#x} {:#x}: the product says {product:?}, the judge {judge:?}\n{operation:?}\n{profile:?}",
        operands[0], operands[1], operands[2]
    )
}

/// How many triples per mode: `ROUNDONCE_CASES`, or what an ordinary test run affords.
pub fn cases(default: u64) -> u64 {
    match std::env::var("ROUNDONCE_CASES") {
        Ok(text) => text.parse().expect("ROUNDONCE_CASES is a number of triples"),
        Err(_) => default,
    }
}

/// The operands of a mode. Each mode has its own, and the same ones in every run.
pub fn generator(mode: u64, operation: &Operation) -> Generator {
    Generator::new(mode.wrapping_mul(0xd134_2543_de82_ef95), layout(operation.source_format), layout(operation.format))
}

pub const TINY: [Tininess; 3] = Tininess::ALL;
pub const UNDERFLOW: [Underflow; 2] = [Underflow::AfterRounding, Underflow::BeforeRounding];
