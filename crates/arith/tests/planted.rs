//! Wrong references, planted: each must be caught by the generator that the differential tests use, in no more cases
//! than an ordinary run gives a mode. What is not caught here would not be caught in the product either.
//!
//! The host's floats appear here on purpose: they are the bugs, not the judges.

mod common;

use common::{TINY, UNDERFLOW, evaluate, generator};
use roundonce_arith::{
    ArithOp, Clamp, ExactNumber, Format, NanRule, OperandIndex, Operation, Profile, Rounding, Tininess, widen,
};
use roundonce_oracle::Verdict;

use Rounding::{Down, NearestEven, TowardZero, Up};

/// What an ordinary run of the differential tests gives every multiply-add mode.
const CASES: u64 = 200_000;

const NVIDIA: Profile = Profile::NVIDIA;
const NAN: u64 = 0x7fff_ffff;
const SIGN: u64 = 0x8000_0000;
const F32: Operation = Operation::mul_add(Format::F32, NearestEven);
const F64: Operation = Operation::mul_add(Format::F64, NearestEven);
const BF16: Operation = Operation::mul_add(Format::BF16, NearestEven);
const F16: Operation = Operation::mul_add(Format::F16, NearestEven);
const RZ: Operation = Operation { rounding: TowardZero, ..F32 };
const RM: Operation = Operation { rounding: Down, ..F32 };
const RP: Operation = Operation { rounding: Up, ..F32 };
const FTZ: Operation = Operation { flush: true, ..F32 };
const SAT: Operation = Operation { clamp: Clamp::Unit, ..F32 };
const RELU: Operation = Operation { clamp: Clamp::Relu, ..F32 };
const FMZ: Operation = Operation { fmz: true, ..FTZ };
const SM_1X: Operation =
    Operation { flush: true, ..Operation::new(ArithOp::TruncatedMulAdd, Format::F32, NearestEven) };

/// The right answer, to be spoiled.
fn right(operation: Operation, operands: [u64; 3]) -> u64 {
    evaluate(&operation, &NVIDIA, operands).bits
}
fn negative(bits: u64) -> bool {
    bits & SIGN != 0
}
fn is_zero(bits: u64) -> bool {
    Format::F32.is_zero(bits)
}
fn is_nan(bits: u64) -> bool {
    Format::F32.is_nan(bits)
}
fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}
/// The bits of a host result, its NaN made ours: a wrong NaN must not give the others away.
fn bits(value: f32) -> u64 {
    if value.is_nan() { NAN } else { value.to_bits().into() }
}
/// An f32 as a narrower format, to nearest even, by the product's own rounding (which is not what is wrong here).
fn narrowed(value: f32, format: Format) -> u64 {
    let value = u64::from(value.to_bits());
    if is_nan(value) {
        return format.magnitude_mask();
    }
    if Format::F32.is_infinite(value) {
        return format.infinity() | if negative(value) { format.sign_mask() } else { 0 };
    }
    let (field, fraction) = (value >> 23 & 0xff, value & 0x7f_ffff);
    let significand = if field == 0 { fraction } else { fraction | 0x80_0000 };
    let quantum = field.max(1) as i32 - 150;
    let exact = ExactNumber { negative: negative(value), quantum, significand: significand.into(), sticky: false };
    exact.round(format, NearestEven).bits
}
fn wide(bits: u64, from: Format) -> f32 {
    float(widen(from, Format::F32, bits))
}
/// f32's exact product as a double, its significand cut or rounded to 24 bits: the exponent has room.
fn short_product(a: u64, b: u64, round: bool) -> f64 {
    let product = f64::from(float(a)) * f64::from(float(b));
    if !product.is_finite() {
        return product;
    }
    let low = (1_u64 << 29) - 1;
    let half = if round { (1 << 28) - 1 + (product.to_bits() >> 29 & 1) } else { 0 };
    f64::from_bits((product.to_bits() + half) & !low)
}
/// One more bit of significand, for those who ask for a tie.
fn longer([a, b, c]: [u64; 3]) -> (u64, bool) {
    let format = Format::new(8, 24);
    let operation = Operation::mul_add(format, TowardZero);
    let verdict = evaluate(&operation, &NVIDIA, [a << 1, b << 1, c << 1]);
    (verdict.bits, verdict.flags != 0)
}
fn flushed(bits: u64) -> u64 {
    if Format::F32.is_subnormal(bits) { bits & SIGN } else { bits }
}
fn exponent(bits: u64) -> i64 {
    (bits >> 23 & 0xff) as i64 - 127
}

/// A wrong way to compute `operation` (under NVIDIA's profile).
type Wrong = fn([u64; 3]) -> u64;

#[rustfmt::skip] // one bug a paragraph, named first
const BUGS: &[(&str, Operation, Wrong)] = &[
    ("f32 through f64 and a cast", F32, |[a, b, c]| {
        bits((f64::from(float(a)) * f64::from(float(b)) + f64::from(float(c))) as f32)
    }),
    ("f32 through a double fma and a cast", F32, |[a, b, c]| {
        bits(f64::from(float(a)).mul_add(f64::from(float(b)), f64::from(float(c))) as f32)
    }),
    ("f32 unfused", F32, |[a, b, c]| bits(float(a) * float(b) + float(c))),
    ("f64 unfused", F64, |[a, b, c]| {
        let z = double(a) * double(b) + double(c);
        if z.is_nan() { right(F64, [a, b, c]) } else { z.to_bits() }
    }),
    ("f64 by error-free transformation, two roundings", F64, |[a, b, c]| {
        let (a, b, c) = (double(a), double(b), double(c));
        let high = a * b;
        let low = a.mul_add(b, -high);
        let sum = high + c;
        let rest = sum - high;
        let error = (high - (sum - rest)) + (c - rest);
        let z = sum + (error + low);
        let fused = right(F64, [a.to_bits(), b.to_bits(), c.to_bits()]);
        // Its overflows and NaNs are not what is planted here.
        if z.is_finite() && high.is_normal() && low.is_normal() { z.to_bits() } else { fused }
    }),
    ("bf16 through f32", BF16, |[a, b, c]| {
        let f = Format::BF16;
        narrowed(wide(a, f).mul_add(wide(b, f), wide(c, f)), f)
    }),
    ("bf16 through f64", BF16, |[a, b, c]| {
        let f = Format::BF16;
        let z = f64::from(wide(a, f)) * f64::from(wide(b, f)) + f64::from(wide(c, f));
        // To odd on the way to f32, so that the only double rounding is f64's.
        let nearest = z as f32;
        let inexact = f64::from(nearest) != z && nearest.is_finite() && nearest != 0.0;
        let toward = if inexact && f64::from(nearest).abs() > z.abs() { nearest.to_bits() - 1 } else { nearest.to_bits() };
        narrowed(f32::from_bits(toward | u32::from(inexact)), f)
    }),
    ("f16 through f32", F16, |[a, b, c]| {
        let f = Format::F16;
        narrowed(wide(a, f).mul_add(wide(b, f), wide(c, f)), f)
    }),
    ("f16 factors rounded to f16 before the f32 sum", Operation { source_format: Format::F16, ..F32 }, |[a, b, c]| {
        let f = Format::F16;
        bits(wide(narrowed(wide(a, f) * wide(b, f), f), f) + float(c))
    }),
    ("f16 factors flushed before they are widened", Operation { source_format: Format::F16, ..FTZ }, |[a, b, c]| {
        let flush = |x: u64| if Format::F16.is_subnormal(x) { x & 0x8000 } else { x };
        right(Operation { source_format: Format::F16, ..FTZ }, [flush(a), flush(b), c])
    }),
    ("bf16 factors not flushed", Operation { source_format: Format::BF16, ..FTZ }, |[a, b, c]| {
        flushed(right(Operation { source_format: Format::BF16, ..F32 }, [a, b, flushed(c)]))
    }),

    ("rz ignored", RZ, |x| right(F32, x)),
    ("rm as rp", RM, |x| right(RP, x)),
    ("rm as rz", RM, |x| right(RZ, x)),
    ("rp as rz", RP, |x| right(RZ, x)),
    ("ties away from zero", F32, |x| {
        let (z, inexact) = longer(x);
        if !inexact && z & 1 == 1 && !Format::new(8, 24).is_nan(z) { (z >> 1) + 1 } else { right(F32, x) }
    }),
    ("ties toward zero", F32, |x| {
        let (z, inexact) = longer(x);
        if !inexact && z & 1 == 1 && !Format::new(8, 24).is_nan(z) { z >> 1 } else { right(F32, x) }
    }),
    ("the sticky bit of a far addend lost", F32, |[a, b, c]| {
        let finite = [a, b, c].iter().all(|&x| exponent(x) < 128);
        let far = finite && !is_zero(a) && !is_zero(b) && exponent(a) + exponent(b) - exponent(c) > 50;
        right(F32, [a, b, if far { c & SIGN } else { c }])
    }),
    ("the sticky bit of a far product lost, toward zero", RZ, |[a, b, c]| {
        let finite = [a, b, c].iter().all(|&x| exponent(x) < 128);
        if finite && exponent(c) - exponent(a) - exponent(b) > 30 { c } else { right(RZ, [a, b, c]) }
    }),
    ("overflow to infinity under rz", RZ, |x| {
        let z = right(RZ, x);
        let near = right(F32, x);
        if Format::F32.is_infinite(near) { near } else { z }
    }),
    ("overflow to infinity under rp, below zero", RP, |x| {
        let near = right(F32, x);
        if near == 0xff80_0000 { near } else { right(RP, x) }
    }),
    ("overflow stops at the largest number", F32, |x| {
        let z = right(F32, x);
        if Format::F32.is_infinite(z) && x.iter().all(|&x| exponent(x) < 128) { z - 1 } else { z }
    }),
    ("a subnormal result rounded twice", F32, |x| {
        let z = right(Operation::mul_add(Format::new(11, 23), NearestEven), x.map(|x| widen(Format::F32, Format::new(11, 23), x)));
        let f = f64::from_bits(z << 29);
        if f.is_nan() { NAN } else { bits(f as f32) }
    }),
    ("cancelled to +0 under rm", RM, |x| {
        let z = right(RM, x);
        if z == SIGN && !x.iter().all(|&x| negative(x)) { 0 } else { z }
    }),
    ("-0 + -0 = +0", F32, |x| if right(F32, x) == SIGN { 0 } else { right(F32, x) }),
    ("the sum negated instead of the product", Operation { negate_product: true, ..RP }, |[a, b, c]| {
        let z = right(RP, [a, b, c ^ SIGN]);
        if is_nan(z) { z } else { z ^ SIGN }
    }),
    ("the addend's negation forgotten", Operation { negate_addend: true, ..F32 }, |x| right(F32, x)),

    ("operands flushed, results not", FTZ, |x| right(F32, x.map(flushed))),
    ("results flushed, operands not", FTZ, |x| flushed(right(F32, x))),
    ("results flushed to +0", FTZ, |x| {
        let z = right(FTZ, x);
        if z == SIGN && right(F32, x.map(flushed)) != SIGN { 0 } else { z }
    }),
    ("operands flushed to +0", FTZ, |x| {
        right(FTZ, x.map(|x| if Format::F32.is_subnormal(x) { 0 } else { x }))
    }),
    ("the addend not flushed", FTZ, |[a, b, c]| flushed(right(F32, [flushed(a), flushed(b), c]))),
    ("flushed before the rounding", FTZ, |x| {
        evaluate(&FTZ, &Profile { tininess: Tininess::BeforeRounding, ..NVIDIA }, x).bits
    }),
    ("flushed where delivered as a subnormal", FTZ, |x| {
        evaluate(&FTZ, &Profile { tininess: Tininess::Result, ..NVIDIA }, x).bits
    }),
    ("flushed to the smallest normal number under rp", Operation { flush: true, ..RP }, |x| {
        let z = right(RP, x.map(flushed));
        if Format::F32.is_subnormal(z) && !negative(z) { 0x0080_0000 } else { right(Operation { flush: true, ..RP }, x) }
    }),

    ("zero dominance keeps the product's sign", FMZ, |[a, b, c]| {
        let dominated = is_zero(flushed(a)) || is_zero(flushed(b));
        if dominated { right(FTZ, [(a ^ b) & SIGN, 0x3f80_0000, c]) } else { right(FMZ, [a, b, c]) }
    }),
    ("zero dominance before the flush", FMZ, |[a, b, c]| {
        right(if is_zero(a) || is_zero(b) { FMZ } else { FTZ }, [a, b, c])
    }),
    ("zero does not dominate a NaN", FMZ, |[a, b, c]| {
        if is_nan(a) || is_nan(b) { NAN } else { right(FMZ, [a, b, c]) }
    }),
    ("zero does not dominate infinity", FMZ, |[a, b, c]| right(if exponent(a).max(exponent(b)) == 128 { FTZ } else { FMZ }, [a, b, c])),
    ("only the first factor dominates", FMZ, |[a, b, c]| right(if is_zero(flushed(a)) { FMZ } else { FTZ }, [a, b, c])),
    ("zero dominance gives the addend as it is", FMZ, |[a, b, c]| {
        if is_zero(flushed(a)) || is_zero(flushed(b)) { c } else { right(FMZ, [a, b, c]) }
    }),
    ("zero dominance gives zero", FMZ, |[a, b, c]| {
        if is_zero(flushed(a)) || is_zero(flushed(b)) { 0 } else { right(FMZ, [a, b, c]) }
    }),

    ("a NaN saturates to a NaN", SAT, |x| if is_nan(right(F32, x)) { NAN } else { right(SAT, x) }),
    ("a NaN saturates to one", SAT, |x| if is_nan(right(F32, x)) { 0x3f80_0000 } else { right(SAT, x) }),
    ("-0 saturates to -0", SAT, |x| if right(F32, x) == SIGN { SIGN } else { right(SAT, x) }),
    ("saturated above only", SAT, |x| if negative(right(F32, x)) { right(F32, x) } else { right(SAT, x) }),
    ("saturated below one", SAT, |x| right(SAT, x).min(0x3f7f_ffff)),
    ("infinity does not saturate", SAT, |x| if right(F32, x) == 0x7f80_0000 { 0x7f80_0000 } else { right(SAT, x) }),

    ("-0 stays under relu", RELU, |x| if right(F32, x) == SIGN { SIGN } else { right(RELU, x) }),
    ("a NaN rectifies to zero", RELU, |x| if is_nan(right(F32, x)) { 0 } else { right(RELU, x) }),
    ("relu clamps above one", RELU, |x| right(RELU, x).min(0x3f80_0000)),
    ("relu turns the sign over", RELU, |x| if is_nan(right(F32, x)) { NAN } else { right(F32, x) & !SIGN }),

    ("a negative NaN", F32, |x| if is_nan(right(F32, x)) { 0xffff_ffff } else { right(F32, x) }),
    ("the usual NaN, 7fc00000", F32, |x| if is_nan(right(F32, x)) { 0x7fc0_0000 } else { right(F32, x) }),
    ("payload kept in f32", F32, |x| {
        let order = [OperandIndex::A, OperandIndex::B, OperandIndex::C];
        evaluate(&F32, &Profile { nan_f32: NanRule::Payload(order), ..NVIDIA }, x).bits
    }),
    ("payload lost in f64", F64, |x| evaluate(&F64, &Profile { nan_f64: NanRule::Canonical, ..NVIDIA }, x).bits),
    ("the addend's NaN first in f64", F64, |x| {
        let order = [OperandIndex::C, OperandIndex::A, OperandIndex::B];
        evaluate(&F64, &Profile { nan_f64: NanRule::Payload(order), ..NVIDIA }, x).bits
    }),
    ("a's NaN before c's in f64", F64, |x| {
        let order = [OperandIndex::B, OperandIndex::A, OperandIndex::C];
        evaluate(&F64, &Profile { nan_f64: NanRule::Payload(order), ..NVIDIA }, x).bits
    }),
    ("a signalling NaN stays one in f64", F64, |x| {
        let signalling = x.into_iter().find(|&x| Format::F64.is_nan(x)).filter(|&x| Format::F64.is_signalling(x));
        signalling.unwrap_or_else(|| right(F64, x))
    }),
    ("a positive NaN from an invalid operation in f64", F64, |x| {
        let z = right(F64, x);
        if x.iter().any(|&x| Format::F64.is_nan(x)) || z != 0xfff8_0000_0000_0000 { z } else { 0x7ff8_0000_0000_0000 }
    }),
    ("infinity - infinity = infinity", F32, |x| {
        let z = right(F32, x);
        if is_nan(z) && Format::F32.is_infinite(x[2]) && !is_nan(x[0]) && !is_nan(x[1]) { x[2] } else { z }
    }),
    ("0 x infinity = 0", F32, |[a, b, c]| {
        let z = right(F32, [a, b, c]);
        if is_nan(z) && (is_zero(a) || is_zero(b)) && !is_nan(a) && !is_nan(b) && !is_nan(c) { c } else { z }
    }),

    ("the product truncated", F32, |[a, b, c]| bits((short_product(a, b, false) + f64::from(float(c))) as f32)),
    ("the product rounded, its exponent unbounded", F32, |[a, b, c]| {
        bits((short_product(a, b, true) + f64::from(float(c))) as f32)
    }),
    ("sm_1x: fused", SM_1X, |x| right(FTZ, x)),
    ("sm_1x: the product rounded", SM_1X, |[a, b, c]| {
        let [a, b, c] = [a, b, c].map(flushed);
        flushed(bits((short_product(a, b, true) + f64::from(float(c))) as f32))
    }),
    ("sm_1x: the product's exponent bounded", SM_1X, |[a, b, c]| {
        let mul = Operation { op: ArithOp::Mul, flush: true, ..RZ };
        let whole = right(Operation { op: ArithOp::Mul, ..FTZ }, [a, b, 0]);
        let short = if Format::F32.is_infinite(whole) { whole } else { right(mul, [a, b, 0]) };
        if is_zero(flushed(c)) { right(SM_1X, [a, b, c]) } else { right(FTZ, [short, 0x3f80_0000, c]) }
    }),
    ("sm_1x: no exception for a zero addend", SM_1X, |[a, b, c]| {
        if !is_zero(flushed(c)) {
            return right(SM_1X, [a, b, c]);
        }
        let [a, b, c] = [a, b, c].map(flushed);
        flushed(bits((short_product(a, b, false) + f64::from(float(c))) as f32))
    }),
    ("sm_1x: the exception for +0 only", SM_1X, |[a, b, c]| {
        if c != SIGN {
            return right(SM_1X, [a, b, c]);
        }
        flushed(bits((short_product(flushed(a), flushed(b), false) - 0.0) as f32))
    }),
    ("sm_1x: no flush", SM_1X, |x| right(Operation { flush: false, ..SM_1X }, x)),
];

#[test]
fn every_planted_bug_is_caught() {
    for (number, (name, operation, wrong)) in BUGS.iter().enumerate() {
        let mut generator = generator(5000 + number as u64, operation);
        let caught = (1..=CASES).find(|_| {
            let operands = generator.triple();
            wrong(operands) != evaluate(operation, &NVIDIA, operands).bits
        });
        match caught {
            Some(case) => println!("{case:>6} cases caught: {name}"),
            None => panic!("{CASES} cases did not catch: {name}"),
        }
    }
}

/// A way to get the flags wrong.
type WrongFlags = fn([u64; 3]) -> u8;

const SMALL: u8 = 2;
const INVALID: u8 = 16;

fn plain(operation: Operation, operands: [u64; 3]) -> Verdict {
    evaluate(&operation, &NVIDIA, operands)
}

#[rustfmt::skip] // one bug a paragraph, named first
const FLAG_BUGS: &[(&str, Operation, WrongFlags)] = &[
    ("tininess before instead of after", F32, |x| {
        evaluate(&F32, &Profile { underflow: UNDERFLOW[1], ..NVIDIA }, x).flags
    }),
    ("f64: tininess before instead of after", F64, |x| {
        evaluate(&F64, &Profile { underflow: UNDERFLOW[1], ..NVIDIA }, x).flags
    }),
    ("an exact subnormal underflows", F32, |x| {
        let z = plain(F32, x);
        if Format::F32.is_subnormal(z.bits) { z.flags | SMALL } else { z.flags }
    }),
    ("a flushed result is silent", FTZ, |x| {
        let z = plain(FTZ, x);
        if is_zero(z.bits) { 0 } else { z.flags }
    }),
    ("a flushed operand is inexact", FTZ, |x| {
        let z = plain(FTZ, x);
        if x.iter().any(|&x| Format::F32.is_subnormal(x)) { z.flags | 1 } else { z.flags }
    }),
    ("overflow without inexact", F32, |x| {
        let z = plain(F32, x);
        if z.flags & 4 != 0 { 4 } else { z.flags }
    }),
    ("no overflow where the largest number stands in", RZ, |x| {
        let z = plain(RZ, x);
        if z.bits & !SIGN == 0x7f7f_ffff { z.flags & !4 } else { z.flags }
    }),
    ("a signalling NaN is not invalid", F32, |x| {
        if x.iter().any(|&x| Format::F32.is_signalling(x)) { 0 } else { plain(F32, x).flags }
    }),
    ("every NaN is invalid", F32, |x| {
        let z = plain(F32, x);
        if is_nan(z.bits) { INVALID } else { z.flags }
    }),
    ("a quiet addend hides 0 x infinity", F32, |x| {
        let quiet = |x| is_nan(x) && !Format::F32.is_signalling(x);
        if quiet(x[2]) && !is_nan(x[0]) && !is_nan(x[1]) { 0 } else { plain(F32, x).flags }
    }),
    ("a dominated signalling NaN is invalid", FMZ, |x| {
        let z = plain(FMZ, x);
        if x.iter().any(|&x| Format::F32.is_signalling(x)) { z.flags | INVALID } else { z.flags }
    }),
    ("saturation clears the flags", SAT, |x| {
        let z = plain(SAT, x);
        if z.bits == 0 { 0 } else { z.flags }
    }),
    ("a truncated product is exact", SM_1X, |x| {
        let z = plain(SM_1X, x);
        if z.bits == plain(FTZ, x).bits { plain(FTZ, x).flags } else { z.flags & !1 }
    }),
];

#[test]
fn every_planted_flag_bug_is_caught() {
    for (number, (name, operation, wrong)) in FLAG_BUGS.iter().enumerate() {
        let mut generator = generator(6000 + number as u64, operation);
        let caught = (1..=CASES).find(|_| {
            let operands = generator.triple();
            wrong(operands) != evaluate(operation, &NVIDIA, operands).flags
        });
        match caught {
            Some(case) => println!("{case:>6} cases caught: {name}"),
            None => panic!("{CASES} cases did not catch: {name}"),
        }
    }
}

/// The two readings of `tiny` that are not the profile's, each against the other: six ways to confuse them.
#[test]
fn every_confusion_of_the_flush_rules_is_caught() {
    for rounding in Rounding::ALL {
        for format in [Format::F16, Format::BF16, Format::F32, Format::F64] {
            let operation = Operation { flush: true, ..Operation::mul_add(format, rounding) };
            for (one, other) in [(0, 1), (0, 2), (1, 2)] {
                let [one, other] = [TINY[one], TINY[other]].map(|tiny| Profile { tininess: tiny, ..NVIDIA });
                let mut generator = generator(7000, &operation);
                let caught = (1..=CASES).any(|_| {
                    let operands = generator.triple();
                    evaluate(&operation, &one, operands).bits != evaluate(&operation, &other, operands).bits
                });
                // Toward zero the delivered result is below the smallest normal number exactly when the value is, and
                // so is the one of an unbounded exponent: the three readings are one.
                assert_eq!(caught, rounding != TowardZero, "{one:?} and {other:?}, {operation:?}");
            }
        }
    }
}
