//! The x87's format against LLVM's APFloat as Rust has it; square roots against exact integers.

use num_bigint::BigUint;
use roundonce_arith::{Extended, ExtendedResult, Format, Unpacked};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Status, StatusAnd};

/// Bits of f64: near each other, far apart, subnormal, of few bits, special.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let special = [0, 1, 0x000f_ffff_ffff_ffff, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0001, 0x3ff0_0000_0000_0000];
    (0u64..).map(move |count| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let sign = state & 1 << 63;
        match count % 7 {
            0 => sign | special[(state % 6) as usize],
            1 => sign | (0x3fe0_0000_0000_0000 + ((state >> 8 & 0x3f) << 20)),
            2 | 3 => sign | (0x3d0 + (state >> 52 & 0x5f)) << 52 | state & 0xf_ffff_ffff_ffff,
            4 => sign | state >> (12 + state % 40),
            _ => state,
        }
    })
}

fn judged(number: Extended) -> X87DoubleExtended {
    X87DoubleExtended::from_bits(number.bits())
}

fn of_f64(bits: u64) -> X87DoubleExtended {
    Double::from_bits(bits.into()).convert(&mut false).value
}

/// NaNs by that they are one: which it is, APFloat does not decide as the x87 does.
fn same(found: ExtendedResult, judge: StatusAnd<X87DoubleExtended>, what: &str) {
    if judge.value.is_nan() {
        assert!(matches!(found.number.unpack(), Unpacked::Nan { signalling: false }), "{what}");
        return;
    }
    assert_eq!(found.number.bits(), judge.value.to_bits(), "{what}");
    assert_eq!(found.inexact, judge.status.contains(Status::INEXACT), "{what}");
}

/// Chains of operations, so that operands have all of 64 bits, and leave f64's range.
#[test]
fn against_apfloat() {
    let mut numbers = numbers();
    let mut narrowed = 0;
    for _ in 0..150_000 {
        let mut next = || numbers.next().unwrap();
        let (first, second) = (next(), next());
        let (mut a, b) = (Extended::of(Format::F64, first), Extended::of(Format::F64, second));
        assert_eq!((judged(a).to_bits(), judged(b).to_bits()), (of_f64(first).to_bits(), of_f64(second).to_bits()));
        for step in 0..6 {
            let (x, y) = (judged(a), judged(b));
            let what = format!("{:020x} {:020x} {step}", a.bits(), b.bits());
            same(a.plus(b), x + y, &what);
            same(a.plus(b.negated()), x - y, &what);
            same(a.times(b), x * y, &what);
            same(a.over(b), x / y, &what);
            same(b.over(a), y / x, &what);
            assert_eq!(a.order(b), x.partial_cmp(&y), "{what}");
            if !x.is_nan() {
                let double: StatusAnd<Double> = x.convert(&mut false);
                let single: StatusAnd<Single> = x.convert(&mut false);
                assert_eq!(u128::from(a.round(Format::F64).bits), double.value.to_bits(), "{what}");
                assert_eq!(u128::from(a.round(Format::F32).bits), single.value.to_bits(), "{what}");
                narrowed += usize::from(double.status.contains(Status::INEXACT));
            }
            // Products and quotients of one direction walk to the ends of the range.
            a = match (first >> 3) % 4 {
                0 => a.times(b).number,
                1 => a.over(b).number,
                2 => a.plus(b).number.times(a).number,
                _ => a.times(a).number.plus(b).number,
            };
        }
    }
    assert!(narrowed > 100_000, "{narrowed}");
}

/// (2r − 1)² < 4x < (2r + 1)², with r and x as integers of one scale.
#[test]
fn roots_are_nearest() {
    let mut inexact = 0;
    for bits in numbers().take(200_000) {
        let x = Extended::of(Format::F64, bits & i64::MAX as u64);
        let x = x.times(Extended::of(Format::F64, 0x3ff5_5555_5555_5555)).number;
        let root = x.root();
        let (Unpacked::Finite(number), Unpacked::Finite(found)) = (x.unpack(), root.number.unpack()) else {
            assert!(!matches!(x.unpack(), Unpacked::Finite(_)));
            continue;
        };
        let up = (number.quantum - 2 * found.quantum) as u32;
        let four_x = (BigUint::from(number.significand) << 2) << up;
        let twice = BigUint::from(found.significand) << 1;
        let (below, above) = (&twice - 1u32, &twice + 1u32);
        assert!(&below * &below < four_x && four_x < &above * &above, "{:020x}", x.bits());
        assert_eq!(root.inexact, &twice * &twice != four_x);
        inexact += usize::from(root.inexact);
    }
    assert!(inexact > 100_000, "{inexact}");
    let root = |bits: u64| Extended::of(Format::F64, bits).root().number.bits();
    assert_eq!(root((-0f64).to_bits()), 1 << 79);
    assert_eq!(root((-1f64).to_bits()), 0xffff_c000_0000_0000_0000);
    assert_eq!(root(f64::INFINITY.to_bits()), 0x7fff_8000_0000_0000_0000);
}
