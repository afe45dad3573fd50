//! Conversions to narrow formats that are not to nearest even: cut off, with ties away from zero, without infinities.

#[allow(dead_code, reason = "the tests share it")]
mod rational;

use std::collections::BTreeMap;

use rational::{NEAREST, array, ask, convert, deviations, fma, numbers, plus};
use roundonce_arith::{Format, Profile};
use roundonce_oracle::Layout;
use roundonce_why::{
    ArrayAnswer, ObservedValue, Options, Question, Values, answer, answer_arrays, parse_expr, parse_typed,
};

const BF16_AWAY: &str = r#"[{"kind":"ties-away","what":"bf16"}]"#;
const BF16_CUT: &str = r#"[{"kind":"bf16-cut","what":"the result"}]"#;

/// Numbers near one, a third of which lie half way between two of bf16.
fn with_ties(seed: u64) -> Vec<u64> {
    let tie = |(at, bits): (usize, u64)| if at % 3 == 0 { bits & 0xffff_8000 | 0x8000 } else { bits };
    numbers(seed, 900).into_iter().enumerate().map(tie).collect()
}

fn of(format: Format, values: &[u64]) -> Values {
    array(format, values, &[values.len()])
}

fn ask_plainly(text: &str, names: &[(&str, Values)], seen: &[u64]) -> ArrayAnswer {
    let names: BTreeMap<String, Values> =
        names.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect();
    let question = Question::parse(text, names).unwrap();
    let seen = [("seen".to_owned(), of(Format::BF16, seen))];
    answer_arrays(&question, &seen, Options::default(), &Profile::NVIDIA, &mut |_| ()).unwrap()
}

/// What becomes of an f32's bits.
type Way = fn(u64) -> u64;
/// The two ways in which a bf16 is made of an f32 by integers alone.
const WAYS: [(&str, Way); 2] = [(BF16_AWAY, |bits| (bits + 0x8000) >> 16), (BF16_CUT, |bits| bits >> 16)];

#[test]
fn a_cast_to_bf16() {
    let (x, y) = (with_ties(1), with_ties(2));
    let f32s = [("x", of(Format::F32, &x)), ("y", of(Format::F32, &y))];
    for (want, way) in WAYS {
        for (text, value) in
            [("bf16(x)", x.clone()), ("bf16(x+y)", x.iter().zip(&y).map(|(&x, &y)| plus(x, y)).collect())]
        {
            let seen: Vec<u64> = value.iter().map(|&bits: &u64| way(bits)).collect();
            let answer = ask_plainly(text, &f32s, &seen);
            assert_eq!((deviations(&answer).as_str(), answer.seen[0].unexplained), (want, 0), "{text}: {answer:#?}");
        }
    }
}

#[test]
fn a_sum_in_bf16() {
    let [x, y] = [3, 4].map(|seed| numbers(seed, 900).iter().map(|bits| bits >> 16).collect::<Vec<u64>>());
    let sums: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| plus(x << 16, y << 16)).collect();
    let names = [("x", of(Format::BF16, &x)), ("y", of(Format::BF16, &y))];
    let seen: Vec<u64> = sums.iter().map(|bits| (bits + 0x8000) >> 16).collect();
    let answer = ask_plainly("x+y", &names, &seen);
    assert_eq!((deviations(&answer).as_str(), answer.seen[0].unexplained), (BF16_AWAY, 0), "{answer:#?}");
}

#[test]
fn one_value() {
    let names = BTreeMap::from([("x".to_owned(), parse_typed("0x3f808000").unwrap().0)]);
    let expr = parse_expr("bf16(x)", &names).unwrap();
    let found = answer(&expr, &[ObservedValue::parse("0x3f81:bf16").unwrap()], Options::default(), &Profile::NVIDIA);
    let first = &found.seen[0].explanations[0];
    assert_eq!(serde_json::to_string(&first.deviations).unwrap(), BF16_AWAY, "{found:#?}");
}

/// Products that f16 cannot hold are its largest number, those of bf16 too; all else is as it was.
#[test]
fn what_is_too_large_stays_finite() {
    for (text, layout, format, largest) in
        [("f16(x)", Layout::F16, Format::F16, 0x7bff), ("bf16(x)", Layout::BF16, Format::BF16, 0x7f7f)]
    {
        // Every third is of the highest exponents of f32.
        let raised = |(at, bits): (usize, u64)| if at % 3 == 0 { bits & 0x807f_ffff | 0x7f00_0000 } else { bits };
        let x: Vec<u64> = numbers(8, 900).into_iter().enumerate().map(raised).collect();
        let infinity = largest + 1;
        let finite = |bits: u64| if bits & 0x7fff == infinity { bits - 1 } else { bits };
        let seen: Vec<u64> = x.iter().map(|&bits| finite(convert(Layout::F32, layout, NEAREST, bits))).collect();
        assert!(seen.iter().any(|bits| bits & 0x7fff == largest));
        let answer = ask(text, &[("x", of(Format::F32, &x))], of(format, &seen));
        let want = format!(r#"[{{"kind":"stay-finite","what":"{}"}}]"#, format.name().unwrap());
        assert_eq!((deviations(&answer), answer.seen[0].unexplained), (want, 0), "{answer:#?}");
    }
}

/// One value, also where an operation of f16 overflows and not a cast.
#[test]
fn one_value_stays_finite() {
    for (text, a, saw, operation) in [
        ("a*a", "300h", "65504", "mul.rn.f16(a, a), kept finite"),
        ("f16(a*a)", "300f", "65504", "cvt.rn.f16(t0), kept finite"),
        ("-a*a", "300h", "-65504", "mul.rn.f16(-a, a), kept finite"),
    ] {
        let names = BTreeMap::from([("a".to_owned(), parse_typed(a).unwrap().0)]);
        let seen = [ObservedValue::parse(saw).unwrap()];
        let found = answer(&parse_expr(text, &names).unwrap(), &seen, Options::default(), &Profile::NVIDIA);
        let step = found.seen[0].explanations[0].steps.last().unwrap();
        assert_eq!(step.operation, operation, "{found:#?}");
        assert_eq!(serde_json::to_string(&step.delivered).unwrap(), r#""clamped""#);
        // An infinity needs no such thing.
        let infinity = [ObservedValue::parse(if saw.starts_with('-') { "-inf" } else { "inf" }).unwrap()];
        let found = answer(&parse_expr(text, &names).unwrap(), &infinity, Options::default(), &Profile::NVIDIA);
        assert!(found.seen[0].explanations[0].deviations.is_empty(), "{found:#?}");
    }
}

/// A sum of two numbers near one is exact in the host's f64, whose bits are rounded by integers.
#[test]
fn a_sum_in_f32() {
    let (x, y) = (numbers(5, 900), numbers(6, 900));
    let away = |(&x, &y): (&u64, &u64)| {
        let exact = f64::from(f32::from_bits(x as u32)) + f64::from(f32::from_bits(y as u32));
        let rounded = f64::from_bits((exact.to_bits() + (1 << 28)) >> 29 << 29);
        u64::from((rounded as f32).to_bits())
    };
    let seen: Vec<u64> = x.iter().zip(&y).map(away).collect();
    let names = [("x", of(Format::F32, &x)), ("y", of(Format::F32, &y))];
    let answer = ask("x+y", &names, of(Format::F32, &seen));
    assert_eq!(
        (deviations(&answer).as_str(), answer.seen[0].unexplained),
        (r#"[{"kind":"ties-away"}]"#, 0),
        "{answer:#?}"
    );
}

/// A step is not called by an instruction that gives other bits.
#[test]
fn the_step_is_named_by_how_it_rounds() {
    for (a, saw, name) in
        [("0x3f80ffff", "0x3f80:bf16", "cvt.rz.bf16(a)"), ("0x3f808000", "0x3f81:bf16", "cvt.rna.bf16(a)")]
    {
        let names = BTreeMap::from([("a".to_owned(), parse_typed(a).unwrap().0)]);
        let seen = [ObservedValue::parse(saw).unwrap()];
        let found = answer(&parse_expr("bf16(a)", &names).unwrap(), &seen, Options::default(), &Profile::NVIDIA);
        assert_eq!(found.seen[0].explanations[0].steps[0].operation, name);
        let place = found.cause.last().unwrap();
        assert!(
            place.contains(&format!("computes {name} = ")) && place.contains("in place of cvt.rn.bf16(a)"),
            "{place}"
        );
    }
}

/// Just above a number that lies half way between two of the narrower type: f32 takes it for that number.
#[test]
fn a_cast_from_f64_through_f32() {
    const THROUGH: &str = r#"[{"kind":"cast-through-f32"}]"#;
    for (text, layout, format, half) in
        [("f16(x)", Layout::F16, Format::F16, 0x1000), ("bf16(x)", Layout::BF16, Format::BF16, 0x8000)]
    {
        let ties: Vec<u64> = numbers(7, 900).iter().map(|bits| bits & !(2 * half - 1) | half).collect();
        let x: Vec<u64> = ties.iter().map(|&bits| convert(Layout::F32, Layout::F64, NEAREST, bits) + 0x400).collect();
        let seen: Vec<u64> = ties.iter().map(|&bits| convert(Layout::F32, layout, NEAREST, bits)).collect();
        let answer = ask(text, &[("x", of(Format::F64, &x))], of(format, &seen));
        assert_eq!((deviations(&answer).as_str(), answer.seen[0].unexplained), (THROUGH, 0), "{text}: {answer:#?}");
    }
    let names = BTreeMap::from([("x".to_owned(), parse_typed("0x3ff96a0004000000").unwrap().0)]);
    let expr = parse_expr("np.float16(x)", &names).unwrap();
    let found = answer(&expr, &[ObservedValue::parse("0x3e5a:f16").unwrap()], Options::default(), &Profile::NVIDIA);
    let first = &found.seen[0].explanations[0];
    assert_eq!(serde_json::to_string(&first.deviations).unwrap(), THROUGH, "{found:#?}");
    let steps: Vec<&str> = first.steps.iter().map(|step| step.operation.as_str()).collect();
    assert_eq!(steps, ["cvt.rn.f32(x)", "cvt.rn.f16(t0)"]);
}

/// A matrix product of bf16 that is summed in f32 and cut: eight bits are left, and the bits below say how.
#[test]
fn a_matrix_product_in_bf16() {
    const SIDE: usize = 20;
    let [a, b] = [8, 9].map(|seed| numbers(seed, SIDE * SIDE).iter().map(|bits| bits >> 16).collect::<Vec<u64>>());
    let sum = |at: usize| {
        let term = |sum, k: usize| fma(a[at / SIDE * SIDE + k] << 16, b[k * SIDE + at % SIDE] << 16, sum);
        (0..SIDE).fold(0, term)
    };
    let seen: Vec<u64> = (0..SIDE * SIDE).map(|at| sum(at) >> 16).collect();
    let matrix = |values: &[u64]| array(Format::BF16, values, &[SIDE, SIDE]);
    let answer = ask("a @ b", &[("a", matrix(&a)), ("b", matrix(&b))], matrix(&seen));
    assert_eq!(answer.seen[0].unexplained, 0, "{answer:#?}");
    assert!(deviations(&answer).contains("bf16-cut"), "{answer:#?}");
}
