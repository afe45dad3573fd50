//! Every published case: what the simplest explanation of each seen value is.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use roundonce_why::{Answer, CASES, Case, ObservedValue, Options, Outcome, answer, parse_expr, parse_typed};

fn ask(case: &Case) -> Answer {
    let names: BTreeMap<_, _> =
        case.inputs.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
    let expr = parse_expr(case.expression, &names).unwrap();
    let seen: Vec<ObservedValue> = case.seen.iter().map(|(value, _)| ObservedValue::parse(value).unwrap()).collect();
    answer(&expr, &seen, Options::default(), &Profile::NVIDIA).unwrap()
}

/// The threads' own answers, in the words of the search: `as written` for no deviation.
#[rustfmt::skip] // A case a line.
const EXPECTED: &[(&str, &[&str])] = &[
    ("xla-41579", &["fused a * x", "as written"]),
    ("triton-10671", &["fused q * s", "as written"]),
    ("llvm-132724", &["fused k * (e * e * e)", "as written"]),
    ("gpuifyloops-91", &["fused r * T", "as written"]),
    ("sharpemu-420", &["as written", "wide-each-operation f32"]),
    ("bf16-witness", &["as written", "wide-each-operation f32"]),
    ("f64-cast-witness", &["as written", "wide-each-operation f64"]),
    ("xla-22116", &["fused x * x", "as written"]),
    ("jax-18507", &["fused a * b", "as written"]),
    ("openblas-729", &["fused a * b", "fused b * a", "as written"]),
    ("llvm-163470", &["fused a * a", "as written"]),
    ("llvm-91224", &["fused i * w", "as written"]),
    ("numpy-26740", &["fused a * c", "as written"]),
    ("nvidia-78014", &["fused a * b", "as written"]),
    ("stackoverflow-58989033", &["fused a * a", "as written"]),
    ("libm-263", &["as written", "wide-each-operation f64"]),
    ("wasmtime-4512", &["as written", "split-fma"]),
    ("no-denormals-3", &["flush", "as written"]),
];

#[test]
fn every_case_is_explained_as_its_thread_ends() {
    assert_eq!(EXPECTED.len(), CASES.len(), "a case without an expectation");
    for (case, (name, expected)) in CASES.iter().zip(EXPECTED) {
        assert_eq!(case.name, *name);
        let found: Vec<String> = ask(case)
            .seen
            .iter()
            .map(|seen| match seen.explanations.first() {
                None => "none".to_owned(),
                Some(first) if first.deviations.is_empty() => "as written".to_owned(),
                Some(first) => {
                    let json = serde_json::to_value(&first.deviations).unwrap();
                    let words = |deviation: &serde_json::Value| {
                        let what = deviation.get("what").and_then(|what| what.as_str()).unwrap_or("");
                        format!("{} {what}", deviation["kind"].as_str().unwrap()).trim().to_owned()
                    };
                    json.as_array().unwrap().iter().map(words).collect::<Vec<_>>().join(" + ")
                }
            })
            .collect();
        assert_eq!(found, *expected, "{name}\n{}", lines(&ask(case)));
    }
}

fn lines(answer: &Answer) -> String {
    answer.lines().iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn double_rounding_is_always_among_the_explanations() {
    for name in ["sharpemu-420", "bf16-witness", "f64-cast-witness", "libm-263"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let text = serde_json::to_string(&ask(case).seen[1].explanations).unwrap();
        assert!(text.contains("wide-each-operation"), "{name}: {text}");
    }
}

#[test]
fn outcomes() {
    let ask = |expression: &str, inputs: &[(&str, &str)], seen: &str| {
        let names: BTreeMap<_, _> =
            inputs.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
        let expr = parse_expr(expression, &names).unwrap();
        answer(&expr, &[ObservedValue::parse(seen).unwrap()], Options::default(), &Profile::NVIDIA).unwrap().seen[0]
            .outcome
    };
    // 1 + 2^-24 is a tie: even is below, so .rp alone gives the number above.
    assert_eq!(ask("a+b", &[("a", "1.0f"), ("b", "0x33800000")], "0x3f800001"), Outcome::One);
    assert_eq!(ask("a+b", &[("a", "1.0f"), ("b", "0x33800001")], "0x3f800000"), Outcome::Ambiguous);
    assert_eq!(ask("a+b", &[("a", "1.0f"), ("b", "1.0f")], "3"), Outcome::None);
}

#[test]
fn sums_in_another_order() {
    let names = BTreeMap::from([
        ("a".to_owned(), parse_typed("1e8f").unwrap().0),
        ("b".to_owned(), parse_typed("-1e8f").unwrap().0),
        ("c".to_owned(), parse_typed("1.5f").unwrap().0),
    ]);
    let expr = parse_expr("a+c+b", &names).unwrap();
    let seen = [ObservedValue::parse("1.5").unwrap()];
    let with =
        |reassociate| answer(&expr, &seen, Options { reassociate, ..Options::default() }, &Profile::NVIDIA).unwrap();
    let sentences = |answer: Answer| -> Vec<String> {
        answer.seen[0].explanations.iter().map(|found| found.sentence.clone()).collect()
    };
    assert!(!sentences(with(false)).iter().any(|sentence| sentence.contains("order")));
    assert!(sentences(with(true)).contains(&"adds in the order ((a + b) + c)".to_owned()));
}
