//! Wrong multiply-adds, made by the exact-rational judge, are convicted of what they do; SoftFloat's is is_correct.

use roundonce_arith::{Clamp, Format, Operation, Profile, Rounding};
use roundonce_oracle::rational::judge;
use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec};
use roundonce_why::{Outcome, ReferenceReport, ReferenceTest};

const CASES: usize = 20_000;

fn tried(operation: Operation, reference: impl Fn([u64; 3]) -> u64) -> ReferenceReport {
    let trial = ReferenceTest::new(operation, CASES).unwrap();
    let results: Vec<u64> = trial.cases().map(|case| reference([case[0], case[1], case[2]])).collect();
    trial.answer(&results, &Profile::NVIDIA).unwrap()
}

fn fma(rounding: Rounding) -> Operation {
    Operation::mul_add(Format::F32, rounding)
}

fn by_judge(shape: Shape, layout: Layout, direction: Direction, operands: [u64; 3]) -> u64 {
    judge(&Spec::new(shape, layout, direction), operands).bits
}

fn widened(bits: u64) -> u64 {
    let one = Layout::F32.one();
    judge(&Spec { factors: Layout::F32, ..Spec::new(Shape::Mul, Layout::F64, Direction::Nearest) }, [bits, one, 0]).bits
}

fn narrowed(bits: u64) -> u64 {
    if Layout::F64.is_nan(bits) {
        return 0x7fff_ffff;
    }
    let spec = Spec { factors: Layout::F64, ..Spec::new(Shape::Mul, Layout::F32, Direction::Nearest) };
    judge(&spec, [bits, Layout::F64.one(), 0]).bits
}

#[track_caller]
fn convicted(answer: &ReferenceReport, ignores: &[&str], does: &str) {
    assert!(!answer.is_correct(), "{answer:#?}");
    assert_eq!(answer.ignores, ignores);
    assert!(answer.does.join("; ").starts_with(does) && answer.does.is_empty() == does.is_empty(), "{:?}", answer.does);
}

#[test]
fn rounding_twice_through_f64() {
    let nearest = Direction::Nearest;
    let reference = |[a, b, c]: [u64; 3]| {
        let product = by_judge(Shape::Mul, Layout::F64, nearest, [widened(a), widened(b), 0]);
        narrowed(by_judge(Shape::Add, Layout::F64, nearest, [product, 0, widened(c)]))
    };
    convicted(&tried(fma(Rounding::NearestEven), reference), &[], "computes each operation in f64 and rounds it again");
}

#[test]
fn a_product_and_a_sum() {
    let reference = |[a, b, c]: [u64; 3]| {
        let product = by_judge(Shape::Mul, Layout::F32, Direction::Nearest, [a, b, 0]);
        by_judge(Shape::Add, Layout::F32, Direction::Nearest, [product, 0, c])
    };
    convicted(&tried(fma(Rounding::NearestEven), reference), &[], "computes the fma as a product and a sum");
}

#[test]
fn a_modifier_ignored() {
    let nearest = |case| by_judge(Shape::MulAdd, Layout::F32, Direction::Nearest, case);
    convicted(&tried(fma(Rounding::TowardZero), nearest), &[".rz"], "");
    let flushing = Operation { flush: true, ..fma(Rounding::NearestEven) };
    convicted(&tried(flushing, nearest), &[".ftz"], "");
    let clamped = Operation { clamp: Clamp::Unit, ..fma(Rounding::NearestEven) };
    convicted(&tried(clamped, nearest), &[".sat"], "");
}

#[test]
fn subnormals_flushed() {
    let spec = Spec { flush: Some(FlushRule::Rounded), ..Spec::new(Shape::MulAdd, Layout::F32, Direction::Nearest) };
    convicted(&tried(fma(Rounding::NearestEven), |case| judge(&spec, case).bits), &[], "flushes subnormals to zero");
}

#[test]
fn rounding_the_wrong_way() {
    let up = |case| by_judge(Shape::MulAdd, Layout::F32, Direction::Up, case);
    convicted(&tried(fma(Rounding::Down), up), &[".rm"], "rounds toward +infinity");
}

#[test]
fn softfloat_is_acquitted() {
    if !softfloat::is_available() {
        return;
    }
    let directions = [
        (Rounding::NearestEven, Direction::Nearest),
        (Rounding::TowardZero, Direction::Zero),
        (Rounding::Down, Direction::Down),
        (Rounding::Up, Direction::Up),
    ];
    for (rounding, direction) in directions {
        for (format, layout) in [(Format::F16, Layout::F16), (Format::F32, Layout::F32), (Format::F64, Layout::F64)] {
            let reference = |case| softfloat::judge(Call::MulAdd, layout, direction, false, case).bits;
            let answer = tried(Operation::mul_add(format, rounding), reference);
            assert!(answer.is_correct(), "{format:?} {direction:?}: {} of {CASES}", answer.correct);
        }
    }
}

#[test]
fn what_is_nobodys_is_said() {
    let answer = tried(fma(Rounding::NearestEven), |[a, b, c]| a ^ b ^ c);
    assert!(answer.evidence.seen[0].unexplained > CASES / 2);
    assert_eq!(answer.evidence.seen[0].outcome, Outcome::None);
    assert!(answer.evidence.seen[0].groups.is_empty(), "{answer:#?}");
    let trial = ReferenceTest::new(fma(Rounding::NearestEven), CASES).unwrap();
    assert!(trial.answer(&[0], &Profile::NVIDIA).unwrap_err().contains("1 results for 20000"));
}

/// NaNs are one, and that their bits are others is said.
#[test]
fn other_bits_of_nans_are_said() {
    let spec = Spec::new(Shape::MulAdd, Layout::F32, Direction::Nearest);
    let quiet = |case| Some(judge(&spec, case).bits).filter(|bits| !Layout::F32.is_nan(*bits)).unwrap_or(0x7fc0_0000);
    let answer = tried(fma(Rounding::NearestEven), quiet);
    assert!(answer.is_correct() && answer.other_nans > 0, "{answer:#?}");
    let expected = format!(
        "it: correct on 20,000 cases, the bits of NaNs apart: other ones in {}, such as 0x7fc00000 nan for 0x7fffffff nan",
        answer.other_nans
    );
    assert_eq!(answer.sentence("it").replace(',', ""), expected.replace(',', ""));
    let canonical = tried(fma(Rounding::NearestEven), |case| match quiet(case) {
        0x7fc0_0000 => 0x7fff_ffff,
        bits => bits,
    });
    assert_eq!(canonical.sentence("it"), "it: correct on 20,000 cases");
}

/// Where no evaluation is a cause, what is shown is wrong.
#[test]
fn what_is_shown_is_wrong() {
    let right = |case| by_judge(Shape::MulAdd, Layout::F32, Direction::Nearest, case);
    let is_finite = |bits: u64| bits & 0x7fff_ffff < 0x7f80_0000;
    let answer = tried(fma(Rounding::NearestEven), |case| match right(case) {
        bits if !is_finite(bits) && bits & 0x7f_ffff == 0 && case.into_iter().all(is_finite) => bits - 1,
        bits => bits,
    });
    assert!(answer.evidence.seen[0].groups.is_empty(), "{answer:#?}");
    let lines: Vec<String> = answer.lines("it").iter().map(ToString::to_string).collect();
    let shown = lines.iter().find(|line| line.contains("such as [")).unwrap();
    assert!(
        shown.contains("7f7fffff 3.4028235e38  (right: 0x7f800000 inf)")
            || shown.contains("ff7fffff -3.4028235e38  (right: 0xff800000 -inf)"),
        "{shown}"
    );
    let first = answer.first_wrong.unwrap();
    assert_ne!(first.gave, first.expected);
}

/// A zero of one sign for the other's is not said of all zeros.
#[test]
fn the_sign_of_a_zero_is_said() {
    let right = |case| by_judge(Shape::MulAdd, Layout::F32, Direction::Nearest, case);
    let positive = |case| Some(right(case)).filter(|bits| *bits != 0x8000_0000).unwrap_or(0);
    convicted(&tried(fma(Rounding::NearestEven), positive), &[], "gives +0 for -0");
    let flipped = |case| Some(right(case)).filter(|bits| bits << 33 != 0).unwrap_or(right(case) ^ 0x8000_0000);
    convicted(&tried(fma(Rounding::NearestEven), flipped), &[], "gives a zero of the other sign");
}

/// Most of what it gives is correct, or an evaluation's, and most of what is wrong is no evaluation's.
#[test]
fn a_part_is_not_the_whole() {
    let right = |case| by_judge(Shape::MulAdd, Layout::F32, Direction::Nearest, case);
    let flushed = Spec { flush: Some(FlushRule::Rounded), ..Spec::new(Shape::MulAdd, Layout::F32, Direction::Nearest) };
    let flushed = |case| judge(&flushed, case).bits;
    let noise = |[a, b, c]: [u64; 3]| (a ^ b ^ c) & 0x3fff_ffff;
    let mostly_right =
        tried(fma(Rounding::NearestEven), |case| if case[0] % 3 == 0 { noise(case) } else { right(case) });
    let mostly_flushed =
        tried(fma(Rounding::NearestEven), |case| if case[0] % 3 == 0 { noise(case) } else { flushed(case) });
    for answer in [mostly_right, mostly_flushed] {
        assert!(answer.correct > CASES / 4, "{}", answer.correct);
        convicted(&answer, &[], "");
        let sentence = answer.sentence("it");
        assert!(sentence.contains("none of the evaluations known explains most of the rest"), "{sentence}");
    }
}
