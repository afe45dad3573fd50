//! What an answer about arrays may be sure of: one wrong element, results of a wider type, what the elements do not tell
//! apart, and orders that were not tried.

mod rational;

use std::collections::BTreeMap;

use rational::{NEAREST, array, ask, convert, deviations, fma, multiply, numbers, plus};
use roundonce_arith::{Extended, Format, Profile};
use roundonce_oracle::Layout;
use roundonce_oracle::generate::Generator;
use roundonce_why::{
    ArrayAnswer, ObservedValue, Options, Outcome, Plausibility, Question, Values, answer, answer_arrays, parse_expr,
    parse_typed,
};

fn f32s(values: &[u64]) -> Values {
    array(Format::F32, values, &[values.len()])
}

/// Without unusual modes.
fn ask_plainly(text: &str, names: &[(&str, Values)], seen: Values, options: Options) -> ArrayAnswer {
    let names: BTreeMap<String, Values> =
        names.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect();
    let question = Question::parse(text, names).unwrap();
    answer_arrays(&question, &[("seen".to_owned(), seen)], options, &Profile::NVIDIA, &mut |_| ()).unwrap()
}

#[test]
fn a_few_wrong_elements_leave_the_others_explained() {
    // Of many magnitudes: rounded to one side, more than half of them are what was seen, moved by one ulp.
    let smaller = |bits: u64| bits - ((bits & 7) << 23);
    let [a, b, c] = [1, 2, 3].map(|seed| numbers(seed, 1000).into_iter().map(smaller).collect::<Vec<u64>>());
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c))];
    for (wrong, is_fused) in [(1, true), (1, false), (20, true)] {
        let of = |at: usize| if is_fused { fma(a[at], b[at], c[at]) } else { plus(multiply(a[at], b[at]), c[at]) };
        let mut seen: Vec<u64> = (0..1000).map(of).collect();
        (0..wrong).for_each(|at| seen[at * 10] = 0);
        let answer = ask_plainly("a*b+c", &names, f32s(&seen), Options::default());
        let seen = &answer.seen[0];
        assert_eq!((seen.outcome, seen.unexplained, seen.groups.len()), (Outcome::None, wrong, 1), "{answer:#?}");
        assert_eq!((seen.groups[0].count, deviations(&answer).contains("fused")), (1000 - wrong, is_fused));
        assert!(seen.groups[0].evidence > 50.0, "{answer:#?}");
        assert_eq!(seen.first_unexplained.as_ref().unwrap().index, [0]);
    }
}

/// Elements that the expression as written gives too say nothing for another evaluation.
#[test]
fn what_is_exact_is_no_evidence() {
    let [mut a, mut b, mut c] = [1, 2, 3].map(|seed| numbers(seed, 64));
    let differs = |at: &usize| fma(a[*at], b[*at], c[*at]) != plus(multiply(a[*at], b[*at]), c[*at]);
    let telling = (0..64).find(differs).unwrap();
    for at in (0..64).filter(|at| *at != telling) {
        // 1, 2, 3 and so on.
        [a[at], b[at], c[at]] =
            [1, 2, 3].map(|step| (0..at as u64 + step).fold(0, |sum, _| plus(sum, Layout::F32.one())));
    }
    let seen: Vec<u64> = (0..64).map(|at| fma(a[at], b[at], c[at])).collect();
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c))];
    let answer = ask_plainly("a*b+c", &names, f32s(&seen), Options::default());
    let [group] = &answer.seen[0].groups[..] else { panic!("{answer:#?}") };
    assert_eq!(
        (group.count, group.deciding, answer.seen[0].outcome),
        (64, Some(1), Outcome::Consistent),
        "{answer:#?}"
    );
}

/// The example of what nothing explains is none that is as written, where there is another.
#[test]
fn the_example_of_the_rest_is_a_wrong_one() {
    let [a, b] = [4, 5].map(|seed| numbers(seed, 64));
    let mut generator = Generator::new(6, Layout::F32, Layout::F32);
    let right = |at: usize| multiply(a[at], b[at]);
    let seen: Vec<u64> =
        (0..64).map(|at| if at == 0 { right(0) } else { right(at) + generator.triple()[0] % 9 - 4 }).collect();
    let answer = ask_plainly("a*b", &[("a", f32s(&a)), ("b", f32s(&b))], f32s(&seen), Options::default());
    let seen = &answer.seen[0];
    assert!(seen.groups.is_empty(), "{answer:#?}");
    assert_ne!(seen.first_unexplained.as_ref().unwrap().ulps, Some(0), "{answer:#?}");
}

const WIDE_RESULT: &str = r#"[{"kind":"wide-result","what":"f32"}]"#;

/// Of halves in f32: elements, sums, products of vectors and of matrices.
#[test]
fn results_that_are_not_rounded_to_the_inputs_type() {
    let to_half = |values: Vec<u64>| -> Vec<u64> {
        values.into_iter().map(|bits| convert(Layout::F32, Layout::F16, NEAREST, bits)).collect()
    };
    let wide = |bits: u64| convert(Layout::F16, Layout::F32, NEAREST, bits);
    let (rows, length) = (40, 30);
    let [a, b] = [7, 8].map(|seed| to_half(numbers(seed, rows * length)));
    let f16s = |values: &[u64]| array(Format::F16, values, &[rows, length]);
    let product = |at: usize| multiply(wide(a[at]), wide(b[at]));
    let each: Vec<u64> = (0..rows * length).map(product).collect();
    let all_found = |text: &str, names: &[(&str, Values)], seen: Values| {
        let answer = ask(text, names, seen);
        let seen = &answer.seen[0];
        assert_eq!((seen.unexplained, seen.groups.len()), (0, 1), "{text}: {answer:#?}");
        // A short sum of halves is exact in f32, in every order.
        let is_wide = |other: &String| other.contains("does not round the result");
        assert!(seen.groups[0].alternatives.iter().all(is_wide), "{text}: {answer:#?}");
        assert_eq!(deviations(&answer), WIDE_RESULT, "{text}");
    };
    let names = [("a", f16s(&a)), ("b", f16s(&b))];
    all_found("a*b", &names, array(Format::F32, &each, &[rows, length]));
    let in_order = |term: &dyn Fn(usize) -> u64| -> Vec<u64> {
        (0..rows).map(|row| (0..length).fold(0, |sum, at| plus(sum, term(row * length + at)))).collect()
    };
    all_found("sum(a, 1)", &names, array(Format::F32, &in_order(&|at| wide(a[at])), &[rows]));
    all_found("sum(a*b, 1)", &names, array(Format::F32, &in_order(&product), &[rows]));
    let vector = b[..length].to_vec();
    let by_vector = in_order(&|at| multiply(wide(a[at]), wide(vector[at % length])));
    let names = [("a", f16s(&a)), ("v", array(Format::F16, &vector, &[length]))];
    all_found("a @ v", &names, array(Format::F32, &by_vector, &[rows]));
    // In its own type there is no result that is wider.
    let answer = ask("a*a", &names, f16s(&to_half(a.iter().map(|&a| multiply(wide(a), wide(a))).collect())));
    assert_eq!((deviations(&answer).as_str(), answer.seen[0].groups[0].alternatives.len()), ("[]", 0), "{answer:#?}");
}

#[test]
fn what_fused_and_unfused_give_is_said_of_both() {
    let names =
        [("a", "2f"), ("b", "3f"), ("c", "4f")].map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
    let expr = parse_expr("a*b+c", &BTreeMap::from(names)).unwrap();
    let found = answer(&expr, &[ObservedValue::parse("10").unwrap()], Options::default(), &Profile::NVIDIA);
    let kinds: Vec<String> =
        found.seen[0].explanations.iter().map(|it| serde_json::to_string(&it.deviations).unwrap()).collect();
    assert_eq!(found.seen[0].outcome, Outcome::Ambiguous);
    assert_eq!(kinds, ["[]", r#"[{"kind":"fused","what":"a * b"}]"#]);
    let text: String = found.lines().iter().map(|line| format!("{line}\n")).collect();
    assert!(text.contains("fused or not, it is the same here"), "{text}");
    // Small integers, as elements and as terms: every product and sum is exact.
    let integers = |seed: u64| -> Vec<u64> {
        let mut generator = Generator::new(seed, Layout::F32, Layout::F32);
        (0..640).map(|_| u64::from(((generator.triple()[0] % 64) as f32 - 32.0).to_bits())).collect()
    };
    let (a, b) = (integers(9), integers(10));
    let seen: Vec<u64> = (0..640).map(|at| fma(a[at], b[at], a[at])).collect();
    let answer = ask("a*b+a", &[("a", f32s(&a)), ("b", f32s(&b))], f32s(&seen));
    let group = &answer.seen[0].groups[0];
    assert_eq!((group.count, answer.seen[0].outcome, deviations(&answer).as_str()), (640, Outcome::Ambiguous, "[]"));
    assert_eq!(group.alternatives, ["fuses `a * b` into the sum, which rounds once"], "{answer:#?}");
    let sums: Vec<u64> = a.chunks(32).map(|row| row.iter().fold(0, |sum, &term| plus(sum, term))).collect();
    let answer = ask("sum(a, 1)", &[("a", array(Format::F32, &a, &[20, 32]))], f32s(&sums));
    let (seen, group) = (&answer.seen[0], &answer.seen[0].groups[0]);
    assert_eq!((group.count, seen.outcome, deviations(&answer).as_str()), (20, Outcome::Ambiguous, "[]"));
    for name in ["NumPy's add.reduce", "from the last term to the first", "by halves (pairwise)", "Kahan"] {
        assert!(group.alternatives.iter().any(|other| other.contains(name)), "{name}: {answer:#?}");
    }
}

const Y: [u64; 8] =
    [0x3f21_a6e9, 0x3ee0_d07d, 0xbf44_6a6b, 0x3f07_432d, 0x3eaf_1125, 0xbf25_69a2, 0x4000_12da, 0x3f4d_4d3f];
const Z: [u64; 8] =
    [0xbf97_4dea, 0xbf7c_ec62, 0x3ea2_37c3, 0x3e9f_c444, 0xbf3a_133d, 0x3f9b_a1e3, 0x3dc6_b0e9, 0xbf5c_d8d1];
const W: [u64; 8] =
    [0xbebf_cb45, 0xbe37_159e, 0xbfc6_d2e2, 0xbf55_0bdb, 0xbfe7_ab32, 0xbe96_4cff, 0x3f1c_d5f2, 0xbfa4_96c1];
const U: [u64; 8] =
    [0x3ea4_e87e, 0xbf97_61a2, 0xbe27_8d7f, 0xbf04_2375, 0xbf9b_28d2, 0xbf0c_91b8, 0xbf9c_dc2d, 0x3e96_470a];

/// `(x*y + u) + z*w`, asked as `x*y + z*w + u`, where a compensated sum gives the same.
/// A sum of values alone within an expression may be kept in a wider type: here in f64, which no sum in f32 gives.
#[test]
fn a_sum_within_an_expression_is_kept_wider() {
    let value = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let names = numbers(7, 512).into_iter().map(|bits| bits & !(7 << 27) | 7 << 27).collect::<Vec<u64>>();
    let sum = names.iter().map(|&bits| value(bits)).sum::<f64>() as f32;
    let quotient = |bits: &u64| u64::from((f32::from_bits(*bits as u32) / sum).to_bits());
    let seen = f32s(&names.iter().map(quotient).collect::<Vec<u64>>());
    let answer = ask_plainly("x / sum(x)", &[("x", f32s(&names))], seen, Options::default());
    assert!(words(&answer).contains("keeps the sums in f64 and rounds them at the end"), "{}", words(&answer));
}

#[test]
fn an_order_that_was_not_tried_is_not_ruled_out() {
    let columns: [(&str, [u64; 8]); 5] = [
        ("x", [0xbebd_73e3, 0x3f7e_7bf1, 0x3ed4_eb46, 0xbf1e_3ffa, 0x3f2c_116b, 0xbfb9_9b39, 0x3f17_ee9c, 0xbf0f_d413]),
        ("y", Y),
        ("z", Z),
        ("w", W),
        ("u", U),
    ];
    let at = |name: usize, element: usize| columns[name].1[element];
    let of = |e: usize| plus(plus(multiply(at(0, e), at(1, e)), at(4, e)), multiply(at(2, e), at(3, e)));
    let seen: Vec<u64> = (0..8).map(of).collect();
    let names = columns.map(|(name, values)| (name, f32s(&values)));
    let answer = ask_plainly("x*y+z*w+u", &names, f32s(&seen), Options::default());
    assert_eq!(deviations(&answer), r#"[{"kind":"compensated"}]"#);
    assert_eq!(answer.seen[0].outcome, Outcome::Consistent, "{answer:#?}");
    assert!(answer.untried.iter().any(|text| text.contains("--reassociate")), "{answer:#?}");
    let options = Options { reassociate: true, ..Options::default() };
    let answer = ask_plainly("x*y+z*w+u", &names, f32s(&seen), options);
    assert_eq!(deviations(&answer), r#"[{"kind":"order","what":"((x * y + u) + z * w)"}]"#);
    let alternatives = &answer.seen[0].groups[0].alternatives;
    assert!(alternatives.iter().any(|other| other.contains("compensated")), "{answer:#?}");
    assert_eq!(answer.seen[0].outcome, Outcome::Consistent);
}

/// Where other orders are asked for, one stands before a wider type that gives the same.
#[test]
fn an_order_that_is_asked_for_comes_before_a_wider_type() {
    let [a, b] = [11, 12].map(|seed| numbers(seed, 64));
    // The great term cancels: the order that takes it away first is exact, and so is f64.
    let great = 0x4cbe_bc20;
    let seen: Vec<u64> = (0..64).map(|at| plus(a[at], b[at])).collect();
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("g", f32s(&[great; 64])), ("h", f32s(&[great | 0x8000_0000; 64]))];
    let plain = ask_plainly("a+g+b+h", &names, f32s(&seen), Options::default());
    assert!(deviations(&plain).contains("wide-whole"), "{plain:#?}");
    let options = Options { reassociate: true, ..Options::default() };
    let answer = ask_plainly("a+g+b+h", &names, f32s(&seen), options);
    assert!(deviations(&answer).contains("order"), "{answer:#?}");
    let alternatives = &answer.seen[0].groups[0].alternatives;
    assert!(alternatives.iter().any(|other| other.contains("everything in f64")), "{answer:#?}");
}

#[test]
fn a_wider_type_that_fits_as_well_is_named_behind_a_function() {
    let x: Vec<u64> = numbers(13, 100).into_iter().map(|bits| bits & 0x7fff_ffff).collect();
    // The host's root in f64 gives the right f32.
    let rsqrt = |bits: &u64| u64::from(((1.0 / f64::from(f32::from_bits(*bits as u32)).sqrt()) as f32).to_bits());
    let seen: Vec<u64> = x.iter().map(rsqrt).collect();
    let answer = ask_plainly("1f/sqrt(x)", &[("x", f32s(&x))], f32s(&seen), Options::default());
    let (seen, group) = (&answer.seen[0], &answer.seen[0].groups[0]);
    assert_eq!((group.count, seen.outcome), (100, Outcome::Ambiguous), "{answer:#?}");
    // A library's reciprocal root comes before a wider type.
    assert_eq!(deviations(&answer), r#"[{"kind":"reciprocal-root"}]"#, "{answer:#?}");
    let less = group.less_plausible.iter().chain(&group.others_less_plausible).chain(&group.alternatives);
    assert!(less.into_iter().any(|other| other.contains("computes everything in f64")), "{answer:#?}");
}

/// Factors converted to halves, as mixed precision does: f16 has the significand of TF32, which is commoner.
#[test]
fn factors_of_a_narrower_type() {
    let (m, k, n) = (8, 40, 8);
    let (a, b) = (numbers(14, m * k), numbers(15, k * n));
    let names = [("a", array(Format::F32, &a, &[m, k])), ("b", array(Format::F32, &b, &[k, n]))];
    let tf32 = r#"[{"kind":"tf32-factors","what":"to nearest even"}]"#;
    let bf16 = r#"[{"kind":"narrow-factors","what":"bf16"}]"#;
    for (layout, first, has_f16) in [(Layout::F16, tf32, true), (Layout::BF16, bf16, false)] {
        let rounded = |bits: u64| convert(layout, Layout::F32, NEAREST, convert(Layout::F32, layout, NEAREST, bits));
        let of = |at: usize| {
            let term = |step: usize| multiply(rounded(a[at / n * k + step]), rounded(b[step * n + at % n]));
            (0..k).fold(0, |sum, step| plus(sum, term(step)))
        };
        let seen: Vec<u64> = (0..m * n).map(of).collect();
        let answer = ask("a @ b", &names, array(Format::F32, &seen, &[m, n]));
        assert_eq!(deviations(&answer), first, "{answer:#?}");
        let alternatives = &answer.seen[0].groups[0].alternatives;
        assert_eq!(alternatives.iter().any(|other| other == "rounds the factors to f16"), has_f16, "{answer:#?}");
    }
}

/// Four partial sums added in order, which is none of the orders that are tried; one that is near to it gives most.
#[test]
fn an_order_near_to_the_true_one_is_not_it() {
    let (rows, length) = (100, 128);
    let terms = numbers(16, rows * length);
    let sum = |row: &[u64]| {
        let mut sums = [0; 4];
        row.iter().enumerate().for_each(|(at, &term)| sums[at % 4] = plus(sums[at % 4], term));
        plus(plus(plus(sums[0], sums[1]), sums[2]), sums[3])
    };
    let seen: Vec<u64> = terms.chunks(length).map(sum).collect();
    let answer = ask("sum(m, 1)", &[("m", array(Format::F32, &terms, &[rows, length]))], f32s(&seen));
    let (seen, group) = (&answer.seen[0], &answer.seen[0].groups[0]);
    assert!(seen.unexplained > 0 && group.count > rows / 3, "{answer:#?}");
    assert_eq!((seen.outcome, group.evidence, answer.advice.len()), (Outcome::None, 0.0, 0), "{answer:#?}");
    let text: String = answer.lines().iter().map(|line| format!("{line}\n")).collect();
    assert!(text.contains("closest, contradicted by") && text.contains("may be none"), "{text}");
    assert_eq!(group.contradicted, Some(seen.unexplained));
}

/// The words of an answer on one line.
fn words(answer: &ArrayAnswer) -> String {
    let text: String = answer.lines().iter().map(|line| format!("{line} ")).collect();
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// A result that is more accurate than the expression as written is what f64 gives at most elements, whatever the algorithm:
/// here Kahan's for a * b + c * d, which adds the error of a product. More elements are no more evidence.
#[test]
fn a_more_accurate_algorithm_is_no_wider_type() {
    for count in [50, 1000] {
        let [a, b, c, d] = [21, 22, 23, 24].map(|seed| numbers(seed, count));
        let kahan = |at: usize| {
            let product = multiply(c[at], d[at]);
            let minus = product ^ 0x8000_0000;
            plus(fma(a[at], b[at], product), fma(c[at], d[at], minus))
        };
        let seen: Vec<u64> = (0..count).map(kahan).collect();
        let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c)), ("d", f32s(&d))];
        let answer = ask_plainly("a*b+c*d", &names, f32s(&seen), Options::default());
        let seen = &answer.seen[0];
        assert_eq!((seen.outcome, answer.advice.len()), (Outcome::None, 0), "{answer:#?}");
        let [group] = &seen.groups[..] else { panic!("{answer:#?}") };
        assert!(deviations(&answer).contains("wide-whole") && group.count > count / 2, "{answer:#?}");
        assert_eq!((group.evidence, group.contradicted), (0.0, Some(count - group.count)));
        let words = words(&answer);
        assert!(words.contains(&format!("none fits: closest, contradicted by {}, is", count - group.count)), "{words}");
    }
}

/// The same where no other evaluation is near: what f64 gives, but for every eighth element, which is one ulp above.
#[test]
fn matches_say_nothing_where_too_many_contradict() {
    let [a, b, c, d] = [27, 28, 29, 30].map(|seed| numbers(seed, 800));
    let wide = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let of = |at: usize| {
        let sum = wide(a[at]) * wide(b[at]) + wide(c[at]) * wide(d[at]);
        u64::from((sum as f32).to_bits()) + u64::from(at.is_multiple_of(8))
    };
    let seen: Vec<u64> = (0..800).map(of).collect();
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c)), ("d", f32s(&d))];
    let answer = ask_plainly("a*b+c*d", &names, f32s(&seen), Options::default());
    let (seen, group) = (&answer.seen[0], &answer.seen[0].groups[0]);
    assert_eq!((seen.groups.len(), seen.outcome, group.evidence), (1, Outcome::None, 0.0), "{answer:#?}");
    assert!(deviations(&answer).contains("wide-whole") && group.contradicted.is_some_and(|by| by >= 95), "{answer:#?}");
}

/// Of functions a document that allows every element is named, not f64 for those that are right by being accurate.
#[test]
fn accurate_functions_are_one_mechanism() {
    // Of negative ones it is log1p(exp(x)).
    let x: Vec<u64> = numbers(25, 800).into_iter().map(|bits| bits & 0x7fff_ffff).collect();
    // The host's functions in f64 give the right f32 but for very few.
    let softplus = |bits: &u64| {
        let x = f32::from_bits(*bits as u32);
        let term = f64::from(f64::from(-x).exp() as f32).ln_1p() as f32;
        plus(*bits, u64::from(term.to_bits()))
    };
    let seen: Vec<u64> = x.iter().map(softplus).collect();
    let answer = ask_plainly("log(1f + exp(x))", &[("x", f32s(&x))], f32s(&seen), Options::default());
    let seen = &answer.seen[0];
    let [group] = &seen.groups[..] else { panic!("{answer:#?}") };
    assert_eq!((group.plausibility, group.evidence), (Plausibility::Approximated, 0.0), "{answer:#?}");
    assert!(group.count > 700 && !deviations(&answer).contains("wide"), "{answer:#?}");
    let exact = seen.nearest.as_ref().unwrap();
    let contradicted = format!("of exact evaluations, closest, contradicted by {}", 800 - exact.count);
    assert!(words(&answer).contains(&contradicted) && exact.sentence.contains("f64"), "{answer:#?}");
}

/// Where the nearest evaluation matches more than one does by accident, but too few to be the cause, it is named, and the
/// answer does not call it an accident.
#[test]
fn the_nearest_evaluation_is_named() {
    let (rows, length) = (60, 96);
    let terms = numbers(26, rows * length);
    let sum = |row: &[u64]| {
        let mut sums = [0; 8];
        row.iter().enumerate().for_each(|(at, &term)| sums[at % 8] = plus(sums[at % 8], term));
        sums[1..].iter().fold(sums[0], |all, &one| plus(all, one))
    };
    let seen: Vec<u64> = terms.chunks(length).map(sum).collect();
    let answer = ask("sum(m, 1)", &[("m", array(Format::F32, &terms, &[rows, length]))], f32s(&seen));
    let seen = &answer.seen[0];
    assert!(seen.groups.is_empty() && seen.by_accident.is_some_and(|[found, after]| found > after), "{answer:#?}");
    let (nearest, words) = (seen.nearest.as_ref().unwrap(), words(&answer));
    assert_eq!(nearest.count, seen.by_accident.unwrap()[0]);
    assert!(words.contains(&format!("closest is the evaluation that {}", nearest.sentence)), "{words}");
    assert!(!words.contains("by accident"), "{words}");
    assert!(words.contains("not tried: the partial sums of an unrolled loop"), "{words}");
}

/// What was not tried is said where nothing explains what was seen.
#[test]
fn what_was_not_tried_is_said() {
    let [a, b, c] = [31, 32, 33].map(|seed| numbers(seed, 200));
    let seen: Vec<u64> = (0..200).map(|at| multiply(a[at], multiply(b[at], c[at]))).collect();
    let names = [("a", f32s(&a)), ("b", f32s(&b)), ("c", f32s(&c))];
    let answer = ask_plainly("a*b*c", &names, f32s(&seen), Options::default());
    assert!(answer.untried.iter().any(|text| text.starts_with("products of three factors")), "{answer:#?}");
    let text =
        parse_expr("sum(a)", &BTreeMap::from([("a".to_owned(), parse_typed("1f").unwrap().0)])).unwrap_err().message;
    assert!(text.contains("`sum` is of an array"), "{text}");
}

/// The x87's 80 bits are tried on arrays too: beside what gives the same, and where nothing else gives all.
#[test]
fn eighty_bits_on_arrays() {
    let mut generator = Generator::new(13, Layout::F64, Layout::F64);
    let near_one = |bits: u64| (bits & !Layout::F64.infinity()) | Layout::F64.one();
    let [a, b, c]: [Vec<u64>; 3] =
        [(); 3].map(|()| (0..4096).map(|_| near_one(generator.triple()[0] ^ generator.triple()[1] << 1)).collect());
    let load = |bits: u64| Extended::of(Format::F64, bits);
    let stored = |number: Extended| number.round(Format::F64).bits;
    let ask_first = |text: &str, count: usize, of: &dyn Fn([Extended; 3]) -> u64| {
        let seen: Vec<u64> = (0..count).map(|at| of([a[at], b[at], c[at]].map(load))).collect();
        let values = |bits: &[u64]| array(Format::F64, &bits[..count], &[count]);
        let names = [("a", values(&a)), ("b", values(&b)), ("c", values(&c))];
        let answer = ask_plainly(text, &names, values(&seen), Options::default());
        assert_eq!((answer.seen[0].groups.len(), answer.seen[0].unexplained), (1, 0), "{text}: {answer:#?}");
        answer
    };
    const WHOLE: &str = r#"[{"kind":"wide-whole","what":"x87"}]"#;
    let fused = |[a, b, c]: [Extended; 3]| stored(a.times(b).number.plus(c).number);
    assert_eq!(deviations(&ask_first("a*b+c", 4096, &fused)), WHOLE);
    let few = ask_first("a*b+c", 32, &fused);
    assert!(few.seen[0].groups[0].alternatives.iter().any(|other| other.contains("80 bits")), "{few:#?}");
    let sum = ask_first("a+b+c", 4096, &|[a, b, c]| stored(a.plus(b).number.plus(c).number));
    assert_eq!(deviations(&sum), WHOLE);
    let compensated = sum.seen[0].groups[0].less_plausible.as_ref();
    assert!(compensated.is_some_and(|other| other.contains("compensated")), "{sum:#?}");
    assert_eq!(
        deviations(&ask_first("-(a*b*c)", 256, &|[a, b, c]| { stored(a.times(b).number.times(c).number.negated()) })),
        WHOLE
    );
    assert_eq!(deviations(&ask_first("a/b/c", 256, &|[a, b, c]| stored(a.over(b).number.over(c).number))), WHOLE);
    let each = |[a, b, c]: [Extended; 3]| stored(load(stored(a.plus(b).number)).times(c).number);
    assert_eq!(deviations(&ask_first("(a+b)*c", 4096, &each)), r#"[{"kind":"wide-each-operation","what":"x87"}]"#);
}

/// Sums are not kept in 80 bits: where they may have been, the answer says that this was not tried.
#[test]
fn sums_in_eighty_bits() {
    let mut generator = Generator::new(14, Layout::F64, Layout::F64);
    let near_one = |bits: u64| (bits & !Layout::F64.infinity()) | Layout::F64.one();
    let terms: Vec<u64> = (0..40 * 12).map(|_| near_one(generator.triple()[0] ^ generator.triple()[1] << 1)).collect();
    let sum = |row: &[u64]| {
        let add = |sum: Extended, &term: &u64| sum.plus(Extended::of(Format::F64, term)).number;
        row.iter().fold(Extended::of(Format::F64, 0), add).round(Format::F64).bits
    };
    let seen: Vec<u64> = terms.chunks(12).map(sum).collect();
    let terms = array(Format::F64, &terms, &[40, 12]);
    let answer = ask_plainly("sum(m, 1)", &[("m", terms)], array(Format::F64, &seen, &[40]), Options::default());
    assert_eq!(answer.seen[0].unexplained, 0, "{answer:#?}");
    assert!(answer.seen[0].groups[0].sentence.contains("compensation"), "{answer:#?}");
    assert!(answer.untried.iter().any(|text| text.contains("80 bits")), "{answer:#?}");
}

/// Elements that an evaluation alone gives are a bit each: the one as written or the next one.
#[test]
fn a_few_whole_numbers_of_an_array_are_weak_evidence() {
    let bits = |values: &[f32]| f32s(&values.iter().map(|value| u64::from(value.to_bits())).collect::<Vec<u64>>());
    let mut a: Vec<f32> = (0..64).map(|at| at as f32 * 1.25).collect();
    let mut b: Vec<f32> = a.iter().map(|a| a / 3.5).collect();
    // In f32 the product is 29, exactly below it.
    (a[0], b[0]) = (100.0, 0.29);
    let seen: Vec<f32> = a.iter().zip(&b).map(|(a, b)| (f64::from(*a) * f64::from(*b)).floor() as f32).collect();
    let answer = ask("floor(a*b)", &[("a", bits(&a)), ("b", bits(&b))], bits(&seen));
    let group = &answer.seen[0].groups[0];
    assert_eq!((answer.seen[0].outcome, group.deciding), (Outcome::Consistent, Some(1)), "{answer:#?}");
    assert!(group.evidence <= 1.0, "{answer:#?}");
}
