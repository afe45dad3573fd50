//! What is computed in the place of a product or a function that is written: multiplied out and fused, `expm1`, `log1p`,
//! factors of a narrower type, the other integer beside a half.

#[allow(dead_code, reason = "the tests share it")]
mod rational;

use rational::{NEAREST, array, ask, convert, deviations, fma, multiply, numbers, plus};
use roundonce_arith::{Format, Profile, Rounding};
use roundonce_functions::{Function, approximate};
use roundonce_oracle::Layout;
use roundonce_why::{ArrayAnswer, Options, Outcome, Question, Values, answer_arrays};

const NEGATIVE: u64 = 0x8000_0000;

fn f32s(values: &[u64]) -> Values {
    array(Format::F32, values, &[values.len()])
}

/// Every way to explain all elements.
fn ways(answer: &ArrayAnswer) -> String {
    assert_eq!((answer.seen[0].groups.len(), answer.seen[0].unexplained), (1, 0), "{answer:#?}");
    let group = &answer.seen[0].groups[0];
    [&group.sentence].into_iter().chain(&group.alternatives).cloned().collect::<Vec<String>>().join("; ")
}

#[test]
fn a_product_with_a_sum_that_has_a_one() {
    let (x, y) = (numbers(41, 2000), numbers(42, 2000));
    let cases: [(&str, Way); 5] = [
        ("x*(y+1f)", |x, y| fma(x, y, x)),
        ("(1f+y)*x", |x, y| fma(x, y, x)),
        ("x*(y-1f)", |x, y| fma(x, y, x ^ NEGATIVE)),
        ("x*(1f-y)", |x, y| fma(x, y ^ NEGATIVE, x)),
        ("x*(x+1f)", |x, _| fma(x, x, x)),
    ];
    for (text, of) in cases {
        let seen: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| of(x, y)).collect();
        let answer = ask(text, &[("x", f32s(&x)), ("y", f32s(&y))], f32s(&seen));
        assert_eq!(deviations(&answer), r#"[{"kind":"multiplied-out"}]"#, "{text}: {answer:#?}");
        ways(&answer);
    }
    // Where the two give the same, neither is the only one.
    let few: Vec<u64> = x[..24].iter().map(|&x| fma(x, x, x)).collect();
    let found = ways(&ask("x*(x+1f)", &[("x", f32s(&x[..24]))], f32s(&few)));
    assert!(found.contains("fma(x, y, ±x)"), "{found}");
    // Of other sums the answer says that they were not multiplied out.
    let z = numbers(43, 2000);
    let seen: Vec<u64> = (0..2000).map(|at| fma(x[at], y[at], multiply(x[at], z[at]))).collect();
    let answer = ask("x*(y+z)", &[("x", f32s(&x)), ("y", f32s(&y)), ("z", f32s(&z))], f32s(&seen));
    assert!(answer.untried.iter().any(|text| text.contains("multiplied out")), "{answer:#?}");
}

#[test]
fn functions_near_a_zero() {
    let x: Vec<u64> = numbers(44, 500).into_iter().map(|bits| bits - (10 << 23)).collect();
    for (text, function) in [("exp(x)-1f", Function::ExpM1), ("log(1f+x)", Function::Log1P)] {
        let of = |&x: &u64| approximate(&Profile::NVIDIA, function, Format::F32, Rounding::NearestEven, false, [x, 0]);
        let seen: Vec<u64> = x.iter().map(of).collect();
        let answer = ask(text, &[("x", f32s(&x))], f32s(&seen));
        let found = ways(&answer);
        assert!(found.contains("expm1(x)") || found.contains("log1p(x)"), "{text}: {found}");
        assert!(answer.seen[0].outcome != Outcome::One || !found.contains("f64"), "{text}: {answer:#?}");
    }
}

#[test]
fn factors_of_products_and_sums() {
    let [a, b, c] = [45, 46, 47].map(|seed| numbers(seed, 600));
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c))];
    // TF32, which is commoner, has the significand of f16.
    let tf32 = ("TF32", r#"[{"kind":"tf32-factors","what":"to nearest even"}]"#);
    let bf16 = ("bf16", r#"[{"kind":"narrow-factors","what":"bf16"}]"#);
    for (layout, (kind, first)) in [(Layout::F16, tf32), (Layout::BF16, bf16)] {
        let rounded = |bits: u64| convert(layout, Layout::F32, NEAREST, convert(Layout::F32, layout, NEAREST, bits));
        let seen: Vec<u64> = (0..600).map(|at| plus(multiply(rounded(a[at]), rounded(b[at])), c[at])).collect();
        let answer = ask("a*b+c", &names, f32s(&seen));
        assert_eq!(deviations(&answer), first, "{answer:#?}");
        let steps = &answer.seen[0].groups[0].example.evaluated.as_ref().unwrap().steps;
        assert!(steps[0].operation.ends_with(&format!("factors in {kind}")), "{steps:?}");
    }
}

fn of_function(function: Function, a: u64, b: u64) -> u64 {
    approximate(&Profile::NVIDIA, function, Format::F32, Rounding::NearestEven, false, [a, b])
}

/// What becomes of two numbers' bits.
type Way = fn(u64, u64) -> u64;

/// Ways in which `x * rsqrt(y)` and `x / sqrt(y)` are computed.
fn root_ways() -> [(&'static str, &'static str, Way); 3] {
    [
        ("x*rsqrt(y)", "reciprocal-by-root", |x, y| {
            let root = of_function(Function::SquareRoot, y, 0);
            multiply(x, of_function(Function::Divide, Layout::F32.one(), root))
        }),
        ("x*rsqrt(y)", "quotient-by-root", |x, y| {
            of_function(Function::Divide, x, of_function(Function::SquareRoot, y, 0))
        }),
        ("x/sqrt(y)", "reciprocal-root", |x, y| multiply(x, of_function(Function::ReciprocalSquareRoot, y, 0))),
    ]
}

type Rounded = fn(f32) -> f32;

/// C's `round` and NumPy's differ where two integers are as near.
#[test]
fn the_integer_that_a_half_is_rounded_to() {
    let quarters: Vec<f32> = (-40..=40i16).map(|quarter| f32::from(quarter) / 4.0).collect();
    let bits =
        |of: fn(f32) -> f32| -> Vec<u64> { quarters.iter().map(|&x| u64::from((of(x) * 0.1).to_bits())).collect() };
    let ways: [(&str, Rounded, &str); 4] = [
        ("round(x)*0.1f", f32::round_ties_even, r#"[{"kind":"half-to-even"}]"#),
        ("round(x)*0.1f", f32::round, "[]"),
        ("np.round(x)*0.1f", f32::round, r#"[{"kind":"half-away"}]"#),
        ("np.round(x)*0.1f", f32::round_ties_even, "[]"),
    ];
    let x: Vec<u64> = quarters.iter().map(|x| u64::from(x.to_bits())).collect();
    for (text, of, want) in ways {
        let answer = ask(text, &[("x", f32s(&x))], f32s(&bits(of)));
        assert_eq!((deviations(&answer).as_str(), answer.seen[0].unexplained), (want, 0), "{text}: {answer:#?}");
    }
}

#[test]
fn roots_with_and_without_a_sum() {
    const LENGTH: usize = 48;
    let x = numbers(48, 40 * LENGTH);
    let y: Vec<u64> = numbers(49, x.len()).iter().map(|bits| bits & !NEGATIVE).collect();
    let row = |row: &[u64]| row.iter().fold(0, |sum, &x| plus(sum, multiply(x, x)));
    let sums: Vec<u64> = x.chunks(LENGTH).map(row).collect();
    for (text, kind, of) in root_ways() {
        let want = format!(r#"[{{"kind":"{kind}"}}]"#);
        let seen: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| of(x, y)).collect();
        let answer = ask(text, &[("x", f32s(&x)), ("y", f32s(&y))], f32s(&seen));
        assert_eq!((deviations(&answer), answer.seen[0].unexplained), (want.clone(), 0), "{text}: {answer:#?}");
        let seen: Vec<u64> = x.iter().enumerate().map(|(at, &x)| of(x, sums[at / LENGTH])).collect();
        let shape = [40, LENGTH];
        let matrix = |values: &[u64]| array(Format::F32, values, &shape);
        let text = text.replace('y', "sum(x*x, 1, keepdims=True)");
        let answer = ask(&text, &[("x", matrix(&x))], matrix(&seen));
        assert_eq!((deviations(&answer), answer.seen[0].unexplained), (want, 0), "{text}: {answer:#?}");
    }
}

/// An exponential that is some ulps off tells nothing of the quotient behind it: a reciprocal that gives an element more
/// than the quotient does is no cause.
#[test]
fn a_function_off_by_some_ulps_is_no_reciprocal() {
    // Every f16 from 1/16 to 8, of either sign.
    let x: Vec<u64> = (0x2c00..0x4800).flat_map(|bits| [bits, bits | 0x8000]).collect();
    let by = |way: fn(f32, f32) -> f32, off: u64| -> Vec<u64> {
        let result = |&bits: &u64| {
            let wide = convert(Layout::F16, Layout::F32, NEAREST, bits);
            let exact = of_function(Function::Exp, wide ^ 0x8000_0000, 0);
            let divisor = 1.0 + f32::from_bits(exact.wrapping_add(off) as u32);
            let result = way(f32::from_bits(wide as u32), divisor);
            convert(Layout::F32, Layout::F16, NEAREST, result.to_bits().into())
        };
        x.iter().map(result).collect()
    };
    let of = |values: &[u64]| array(Format::F16, values, &[values.len()]);
    let ask_plainly = |seen: &[u64]| {
        let question = Question::parse("x / (1h + exp(-x))", [("x".to_owned(), of(&x))].into()).unwrap();
        let seen = [("seen".to_owned(), of(seen))];
        answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap()
    };
    // Where nothing is off, that a reciprocal misses one element alone says nothing against the quotient.
    let exact = ask_plainly(&by(|x, y| x / y, 0));
    assert!(exact.seen[0].outcome != Outcome::Consistent && exact.seen[0].groups[0].evidence > 100.0, "{exact:#?}");
    for (off, missed) in [(u64::MAX - 2, [2, 1]), (u64::MAX, [1, 0])] {
        let seen = by(|x, y| x / y, off);
        let missed_by = |way| by(way, 0).iter().zip(&seen).filter(|(one, other)| one != other).count();
        assert_eq!([missed_by(|x, y| x / y), missed_by(|x, y| x * (1.0 / y))], missed);
        let answer = ask_plainly(&seen);
        let [group] = answer.seen[0].groups.as_slice() else { panic!("{answer:#?}") };
        assert_eq!((group.count, answer.seen[0].outcome), (x.len(), Outcome::Consistent), "{answer:#?}");
        assert!(group.sentence.contains("in f32"), "{}", group.sentence);
        // Where the reciprocal misses none, it is named, and nothing said for it.
        let is_reciprocal = group.sentence.contains("a * (1 / b)");
        assert_eq!((is_reciprocal, group.sentence.contains("gives for exp(t0)")), (missed[1] == 0, missed[1] > 0));
    }
}
