//! Every published case: what the simplest explanation of each seen value is.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::rational::judge;
use roundonce_oracle::{Direction, Layout, Shape, Spec};
use roundonce_why::{
    Allowed, Answer, CASES, Case, Delivered, Language, LiteralTypes, ObservedAnswer, ObservedValue, Options, Outcome,
    Plausibility, Typed, Untyped, answer, parse_expr, parse_typed,
};

fn ask(case: &Case) -> Answer {
    let names: BTreeMap<_, _> =
        case.inputs.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
    let expr = parse_expr(case.expression, &names).unwrap();
    let seen: Vec<ObservedValue> = case.seen.iter().map(|(value, _)| ObservedValue::parse(value).unwrap()).collect();
    answer(&expr, &seen, Options::default(), &Profile::NVIDIA)
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
    let ask = |expression: &str, inputs: &[(&str, &str)], seen: &str, allow: &str| {
        let names: BTreeMap<_, _> =
            inputs.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
        let expr = parse_expr(expression, &names).unwrap();
        let options = Options { allow: Allowed::parse(allow).unwrap(), ..Options::default() };
        let seen = ObservedValue::parse(seen).unwrap();
        answer(&expr, &[seen], options, &Profile::NVIDIA).seen.remove(0)
    };
    // 1 + 2^-24 is a tie: even is below, so .rp alone gives the number above.
    let tie = [("a", "1.0f"), ("b", "0x33800000")];
    let unasked = ask("a+b", &tie, "0x3f800001", "");
    assert_eq!((unasked.outcome, unasked.explanations.len()), (Outcome::None, 0));
    assert_eq!(unasked.also_possible.unwrap().sentence, "rounds toward +infinity (.rp)");
    assert_eq!(ask("a+b", &tie, "0x3f800001", "sat").outcome, Outcome::None);
    // The number below has an explanation too: to nearest.
    let up = ask("a+b", &tie, "0x3f800001", "directed");
    assert_eq!((up.outcome, up.explanations.len()), (Outcome::Consistent, 1));
    let down = ask("a+b", &[("a", "1.0f"), ("b", "0x33800001")], "0x3f800000", "directed");
    assert_eq!((down.outcome, down.explanations.len()), (Outcome::Consistent, 2));
    // Every NaN is a NaN of other bits.
    let nan = ask("a*b", &[("a", "1.0f"), ("b", "0x7fa00001")], "0x7fc00000", "");
    assert_eq!((nan.outcome, nan.nearby.explained), (Outcome::Consistent, nan.nearby.values));
    // The sign that is flipped last is a step of its own.
    let negated = ask("-(a*b)", &[("a", "2.0f"), ("b", "3.0f")], "-6", "");
    let steps: Vec<(&str, &str)> =
        negated.explanations[0].steps.iter().map(|step| (step.operation.as_str(), step.value.as_str())).collect();
    assert_eq!(steps, [("mul.rn.f32(a, b)", "6"), ("-t0", "-6")]);
    let exact = ask("a+b", &[("a", "1.0f"), ("b", "1.0f")], "2.0f", "");
    assert_eq!((exact.outcome, exact.nearby.explained, exact.nearby.values), (Outcome::One, 1, 65));
    let none = ask("a+b", &[("a", "1.0f"), ("b", "1.0f")], "3", "directed,sat,fmz,sm1x");
    assert!(none.outcome == Outcome::None && none.also_possible.is_none());
}

/// The same bits by every product contracted and by one: the uniform policy is the answer.
#[test]
fn a_uniform_policy_comes_first() {
    // The second product is exact, so that fusing it or not is the same: 2^-104 + 2^-107.
    let (a, e) = ("0x3ff0000000000001", "0xbff0000000000002");
    let names = [("a", a), ("b", a), ("c", "2.0"), ("d", "0x1p-108"), ("e", e)]
        .map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
    let expr = parse_expr("(a*b+e)+c*d", &BTreeMap::from(names)).unwrap();
    let seen = [ObservedValue::parse("0x3972000000000000").unwrap()];
    let answer = answer(&expr, &seen, Options::default(), &Profile::NVIDIA);
    let [seen] = answer.seen.as_slice() else { panic!("{answer:?}") };
    assert_eq!(seen.outcome, Outcome::One, "{answer:?}");
    assert_eq!(seen.explanations[0].sentence, "fuses a product into every sum that has one, of two the first");
    assert_eq!(seen.explanations[0].plausibility, Plausibility::Uniform);
    assert_eq!(seen.less_plausible.as_ref().unwrap().plausibility, Plausibility::PartialContraction);
}

/// A sum of thirty products: what compilers do is tried, and the answer says what was not.
#[test]
fn a_large_expression() {
    let mut generator = Generator::new(5, Layout::F32, Layout::F32);
    let names: BTreeMap<String, Typed> = (0..60)
        .map(|at| {
            let sign = u64::from(at % 3 == 0) << 31;
            let bits = (generator.triple()[0] & 0x007f_ffff) | 0x3f80_0000 | sign;
            (format!("x{at}"), Typed { format: Format::F32, bits })
        })
        .collect();
    let text = (0..30).map(|at| format!("x{}*x{}", 2 * at, 2 * at + 1)).collect::<Vec<_>>().join("+");
    let expr = parse_expr(&text, &names).unwrap();
    let value = |at: usize| names[&format!("x{at}")].bits;
    let round =
        |shape: Shape, operands: [u64; 3]| judge(&Spec::new(shape, Layout::F32, Direction::Nearest), operands).bits;
    let second = round(Shape::Mul, [value(2), value(3), 0]);
    let first = round(Shape::MulAdd, [value(0), value(1), second]);
    let fused = (2..30).fold(first, |sum, at| round(Shape::MulAdd, [value(2 * at), value(2 * at + 1), sum]));
    let seen = [ObservedValue::parse(&format!("0x{fused:08x}")).unwrap()];
    let options = Options { reassociate: true, ..Options::default() };
    let answer = answer(&expr, &seen, options, &Profile::NVIDIA);
    let sentence = answer.seen[0].explanations.first().map(|found| found.sentence.as_str());
    assert_eq!(sentence, Some("fuses a product into every sum that has one, of two the first"), "{:?}", answer.seen);
    assert!(answer.untried[0].starts_with("of 30 products that can be fused"), "{:?}", answer.untried);
    assert!(answer.untried[1].starts_with("the sum has 30 terms"), "{:?}", answer.untried);
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
    let with = |reassociate| answer(&expr, &seen, Options { reassociate, ..Options::default() }, &Profile::NVIDIA);
    // Where orders are asked for, they come before a wider type.
    let sentences = |answer: &Answer| -> Vec<String> {
        answer.seen[0].explanations.iter().map(|found| found.sentence.clone()).collect()
    };
    let wide = sentences(&with(false));
    assert!(!wide.is_empty() && wide.iter().all(|sentence| sentence.contains("in f64")));
    assert_eq!(sentences(&with(true)), [vec!["adds in the order ((a + b) + c)".to_owned()], wide].concat());
}

fn sentences_of(expression: &str, names: &[(&str, &str)], saw: &str) -> Vec<String> {
    let names = names.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
    let expr = parse_expr(expression, &names).unwrap();
    let seen = [ObservedValue::parse(saw).unwrap()];
    let answer = answer(&expr, &seen, Options::default(), &Profile::NVIDIA);
    answer.seen[0].explanations.iter().map(|found| found.sentence.clone()).collect()
}

/// What is rounded in another place than the types say. The values are those of public threads
/// (`tests/threads/threads.jsonl`), which `dev/threads.py` computes with exact rationals.
#[test]
fn other_places_of_rounding() {
    let first = |expression: &str, names: &[(&str, &str)], saw: &str| sentences_of(expression, names, saw).remove(0);
    let operands = [("x", "0x5259ffdf64f0d2f8"), ("y", "0xd5771addd21280b5")];
    assert!(first("x-y", &operands, "0x55771addd21280bc").contains("80 bits (x87"));
    assert!(first("x-y", &operands, "0x55771addd21280bb").contains("as written"));
    let terms = [("a", "-0.2"), ("b", "0.8"), ("c", "0.8"), ("d", "-3.2"), ("e", "1.8")];
    assert!(first("a+b+c+d+e", &terms.map(|(name, value)| (name, value)), "-5.551115e-17").contains("80 bits (x87"));
    let operands = [("a", "0.24999998f"), ("b", "2.3509885e-38f"), ("c", "-1e-45f")];
    assert!(first("fma(a,b,c)", &operands, "0x003ffffe").contains("rounds subnormal results twice"));
    let operands = [("a", "1.25b"), ("b", "1.609375b")];
    assert!(first("a*b", &operands, "2.0b").contains("cuts the result to bf16"));
    let operands = [("a", "6.2f"), ("b", "10f")];
    assert_eq!(
        first("a*b", &operands, "61.99999809265137"),
        "computes everything in f64 and does not round the result"
    );
    let terms = [("a", "2.5392"), ("b", "0.4608"), ("c", "3.0")];
    let both = sentences_of("a+b-c", &terms, "1.1102230246251565e-16");
    assert!(both[0].contains("80 bits (x87") && both[1].contains("compensated summation"), "{both:?}");
}

/// Names that the printed code makes are none of the expression's.
#[test]
fn code_takes_no_name_of_the_expression() {
    let names = [("c2", "2.5f"), ("n0", "1.5f")].map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
    let names = BTreeMap::from(names);
    let code = |expression: &str| {
        let seen = [ObservedValue::parse("0").unwrap()];
        let expr = parse_expr(expression, &names).unwrap();
        answer(&expr, &seen, Options::default(), &Profile::NVIDIA).as_written.write
    };
    let constant = code("c2*n0 + 1.0f");
    assert_eq!(constant.spirv[0], "%c2_ = OpConstant %float 0x1p0");
    assert_eq!(constant.spirv[2], "%d = OpFAdd %float %t0 %c2_");
    assert_eq!(constant.ptx[1], "add.rn.f32 d, t0, 0f3F800000;");
    let negated = code("fma(-n0, c2, n0)");
    assert_eq!(negated.ptx, ["neg.f32 n0_, n0;", "fma.rn.f32 d, n0_, c2, n0;"]);
}

/// What has no type was not stored in another one.
#[test]
fn a_number_without_a_type_is_not_stored() {
    let stored = |saw: &str| {
        let names = BTreeMap::from([("a".to_owned(), parse_typed("0.75f").unwrap().0)]);
        let seen = ObservedValue::parse(saw).unwrap();
        answer(&parse_expr("a*2f", &names).unwrap(), &[seen], Options::default(), &Profile::NVIDIA).seen[0].stored_as
    };
    assert_eq!(["inf", "nan", "0x1.8p0"].map(stored), [None; 3]);
    assert_eq!(["0x3ff8000000000000", "1.5h"].map(stored), [Some("f64"), Some("f16")]);
}

fn ask_all(expression: &str, names: &[(&str, &str)], seen: &[&str]) -> Answer {
    let names = names.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0)).collect();
    let seen: Vec<ObservedValue> = seen.iter().map(|saw| ObservedValue::parse(saw).unwrap()).collect();
    answer(&parse_expr(expression, &names).unwrap(), &seen, Options::default(), &Profile::NVIDIA)
}

/// NumPy and Rust print the fewest digits that tell a number from others, and fill the rest by zeros.
#[test]
fn zeros_up_to_the_point_are_no_digits() {
    let outcome = |value: &str, saw: &str| ask_all("a*1f", &[("a", value)], &[saw]).seen[0].outcome;
    assert_eq!(outcome("123456792f", "123456790.0"), Outcome::One);
    assert_eq!(outcome("123456792f", "123456790"), Outcome::One);
    assert_eq!(outcome("-123456792f", "-1.234567900e8"), Outcome::One);
    // These are read as other numbers, or as that one and with other digits.
    for saw in ["123456800", "123456793.0", "12345679.0", "123456790.5"] {
        assert_eq!(outcome("123456792f", saw), Outcome::None, "{saw}");
    }
    assert_eq!(ask_all("a*1h", &[("a", "65504h")], &["65500.0"]).seen[0].outcome, Outcome::One);
    // Zeros behind the point were printed.
    assert_eq!(outcome("0x3f8147ae", "1.010"), Outcome::One);
    assert_eq!(outcome("0x3f8147ae", "1.0100"), Outcome::One);
    assert_eq!(outcome("0x3f815000", "1.0100"), Outcome::None);
}

/// Where both zeros were seen, `0` is the positive one.
#[test]
fn zeros_that_differ_in_sign() {
    let names = [("a", "-1e-25f"), ("b", "1e-25f"), ("c", "0f")];
    let both = ask_all("a*b+c", &names, &["-0.0", "0.0"]);
    let bits = |at: usize| both.seen[at].explanations.iter().map(|found| found.bits.as_str()).collect::<Vec<_>>();
    assert!(bits(0).iter().all(|bits| *bits == "0x80000000"), "{:?}", bits(0));
    assert_eq!(bits(1), ["0x00000000"]);
    // Alone it is either.
    let alone = ask_all("a*b+c", &names, &["0.0"]);
    assert_eq!(alone.seen[0].explanations.len(), 2);
    let negative = ask_all("a*b", &names, &["0", "-0"]);
    let outcomes: Vec<Outcome> = negative.seen.iter().map(|seen| seen.outcome).collect();
    assert_eq!(outcomes, [Outcome::None, Outcome::One]);
}

/// What is neither rounded nor exact is called by what became of it, and no type has options that are about another.
#[test]
fn flushes() {
    let of = |names: &[(&str, &str)]| {
        let answer = ask_all("a*b", names, &["0"]);
        let found = &answer.seen[0].explanations[0];
        let advised: Vec<&str> = answer.advice.iter().map(|advice| advice.toolchain).collect();
        (found.steps[0].delivered, found.steps[0].operation.clone(), found.write.cuda.clone(), advised.join(" "))
    };
    let flushed = Some(Delivered::Flushed);
    let (delivered, step, cuda, advised) = of(&[("a", "1e-30f"), ("b", "1e-10f")]);
    assert_eq!((delivered, step.as_str()), (flushed, "mul.rn.ftz.f32(a, b)"));
    assert!(cuda.contains("-ftz=true") && advised.starts_with("nvcc clang gcc xla"), "{cuda} {advised}");
    let (delivered, step, cuda, advised) = of(&[("a", "0x1p-1060"), ("b", "1.5")]);
    assert_eq!((delivered, step.as_str()), (flushed, "mul.rn.f64(a, b), flushing"));
    assert_eq!((cuda.as_str(), advised.as_str()), ("", "clang gcc torch spirv"));
    let (delivered, step, cuda, advised) = of(&[("a", "0x1p-10h"), ("b", "0x1p-10h")]);
    assert_eq!((delivered, step.as_str()), (flushed, "mul.rn.ftz.f16(a, b)"));
    assert_eq!((cuda.as_str(), advised.as_str()), ("", "spirv"));
}

/// A sign alone is an operation, too.
#[test]
fn a_negation_is_written_of_its_operand() {
    let negated = ask_all("-(x)", &[("x", "1.5f")], &[]).as_written;
    assert_eq!((negated.write.ptx, negated.write.cuda), (vec!["neg.f32 d, x;".to_owned()], "-x".to_owned()));
    assert_eq!((negated.steps[0].operation.as_str(), negated.steps[0].value.as_str()), ("-x", "-1.5"));
}

/// What is exact in another type is no difference.
#[test]
fn the_place_is_a_number_that_differs() {
    let names = [("a", "0x3c01:f16"), ("b", "0x3c01:f16"), ("c", "-1h"), ("d", "1h")];
    let place = ask_all("a*b+c*d", &names, &["0x1801:f16"]).cause.join(" ");
    assert!(place.contains("computes fma") && place.contains("in place of mul.rn.f16(a, b)"), "{place}");
}

/// What a decimal names comes before what rounds to it, which is never explained by it for sure.
#[test]
fn a_decimal_names_one_number() {
    let outcomes = |expression: &str, names: &[(&str, &str)], seen: &[&str]| -> Vec<(Outcome, Option<usize>)> {
        let of = |seen: &ObservedAnswer| (seen.outcome, seen.explanations.first().and_then(|first| first.digits));
        ask_all(expression, names, seen).seen.iter().map(of).collect()
    };
    let (one, none) = ((Outcome::One, None), (Outcome::None, None));
    let printed = |digits| (Outcome::Consistent, Some(digits));
    let tenths = [("a", "0.1"), ("b", "0.2")];
    assert_eq!(outcomes("a+b", &tenths, &["0.30000000000000004"]), [one]);
    assert_eq!(outcomes("a+b", &tenths, &["0.3"]), [printed(1)]);
    assert_eq!(outcomes("a+b", &tenths, &["0.3", "0.30000000000000004"]), [none, one]);
    assert_eq!(outcomes("a+b", &tenths, &["0.30000000000000004", "0.3"]), [one, none]);
    assert_eq!(outcomes("a+b", &tenths, &["0.3", "0x3fd3333333333334"]), [none, one]);
    // Of two that are printed with too few digits, the one with more of them.
    assert_eq!(outcomes("a/b", &[("a", "7f"), ("b", "3f")], &["2.33", "2.333"]), [none, printed(4)]);
    assert_eq!(outcomes("a*a", &[("a", "1.1")], &["1.21", "1.2100000000000002"]), [none, one]);
    assert_eq!(outcomes("a*a", &[("a", "1.1f")], &["1.21", "1.2100000381469727"]), [one, one]);
    assert_eq!(outcomes("a*b+c", &[("a", "1.5"), ("b", "1.5"), ("c", "0.2")], &["2.5"]), [printed(2)]);
    assert_eq!(outcomes("a*1f", &[("a", "104040000f")], &["1e8"]), [printed(1)]);
    // Fewer digits than all, and yet the nearest number to them.
    assert_eq!(outcomes("a/b", &[("a", "1f"), ("b", "3f")], &["0.33333334"]), [one]);
    assert_eq!(outcomes("a/b", &[("a", "1f"), ("b", "3f")], &["0.333333"]), [printed(6)]);
    let text = lines(&ask_all("a/b", &[("a", "7f"), ("b", "3f")], &["2"]));
    assert!(text.contains("2 is consistent with the evaluation that rounds every operation as written"), "{text}");
    assert!(text.contains("to\n  nearest even (2.3333333 printed with 1 digit)."), "{text}");
}

/// A result that was cut to an integer is no rounded one, nor one that a quick division gives.
#[test]
fn a_result_cut_to_an_integer() {
    let cut = |a: &str, b: &str, saw: &str| {
        let seen = ask_all("a/b", &[("a", a), ("b", b)], &[saw]).seen.remove(0);
        (seen.outcome, seen.cut.unwrap_or_default())
    };
    let (outcome, text) = cut("7f", "2f", "3");
    assert_eq!(outcome, Outcome::None);
    assert!(text.starts_with("as written it is 3.5, and cut to a whole number 3:"), "{text}");
    assert_eq!(cut("-7f", "2f", "-3").0, Outcome::None);
    let (outcome, text) = cut("7f", "3f", "2");
    assert_eq!(outcome, Outcome::Consistent);
    assert!(text.starts_with("as written it is 2.3333333,"), "{text}");
    for (a, b, saw) in [("7f", "2f", "4"), ("7f", "2f", "3.0"), ("6f", "2f", "3"), ("7f", "2f", "3f")] {
        assert_eq!(cut(a, b, saw).1, "", "{a} / {b} {saw}");
    }
}

/// A quotient that is approximated is no instruction that rounds.
#[test]
fn an_approximated_step_has_its_own_name() {
    let answer = ask_all("a/b", &[("a", "0x4168a20d"), ("b", "0xc0f51d03")], &["0xbff2f725"]);
    let steps = |at: usize| -> Vec<(&str, Option<Delivered>)> {
        let steps = &answer.seen[0].explanations[at].steps;
        steps.iter().map(|step| (step.operation.as_str(), step.delivered)).collect()
    };
    assert_eq!(steps(0), [("a / b", Some(Delivered::Approximated))]);
    let reciprocal = [("rcp(b)", Some(Delivered::Approximated)), ("mul.rn.f32(a, t0)", Some(Delivered::Rounded))];
    assert_eq!(steps(1), reciprocal);
    let place = answer.cause.join(" ");
    assert!(
        place.contains("computes a / b = 0xbff2f725 -1.8981673 (approximated) in place of div.rn.f32(a, b)"),
        "{place}"
    );
}

/// TF32 is a commoner type of f32's factors than f16, which often holds the same.
#[test]
fn factors_in_tf32_come_first() {
    let found = sentences_of("a*b", &[("a", "0x3f801001"), ("b", "1f")], "0x3f802000");
    assert!(found[0].starts_with("rounds the factors to TF32"), "{found:?}");
}

/// The NaN of an invalid operation is no operand's, and what was rounded to its type did not stay in another.
#[test]
fn a_nan_of_no_operand() {
    let found = sentences_of("a-a", &[("a", "0x7f800000")], "0xffc00000");
    assert_eq!(found[0], "gives the first NaN operand in the order abc, and where none is a NaN x86's negative one");
    assert!(found.iter().all(|sentence| !sentence.contains("does not round")), "{found:?}");
}

/// C cuts a quotient of integers: where that gives what was seen it is said, and where it is not done too.
#[test]
fn quotients_of_integers() {
    let ask = |expression: &str, values: &[(&str, &str)], language: Option<Language>, saw: &str| {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let types = LiteralTypes { language, ..LiteralTypes::default() };
        let question = Untyped { expression, result: None, values: &values, types };
        let seen = [ObservedValue::parse(saw).unwrap()];
        let mut answer = question.answer(&seen, Options::default(), &Profile::NVIDIA).unwrap().0;
        let seen = answer.seen.remove(0);
        (answer.literals.unwrap_or_default(), seen.outcome, seen.cut.unwrap_or_default())
    };
    let cut = |quotient: &str| {
        format!(
            "with `{quotient}` cut to a whole number, as c cuts quotients of integers, it is explained by the evaluation"
        )
    };
    let (literals, outcome, hint) = ask("1/2*x", &[("x", "3f")], None, "0");
    assert!(
        literals.ends_with("a guess. `1 / 2` is not cut to a whole number, as c cuts quotients of integers."),
        "{literals}"
    );
    assert!(outcome == Outcome::None && hint.starts_with(&cut("1 / 2")), "{hint}");
    let (literals, outcome, hint) = ask("a/b", &[("a", "7"), ("b", "2")], Some(Language::C), "3");
    assert!(literals.contains("`a / b` is not cut"), "{literals}");
    assert!(outcome == Outcome::None && hint.starts_with(&cut("a / b")), "{hint}");
    // Python's quotients are numbers, and so are those of a point.
    for (expression, language) in [("1/2*x", Some(Language::Numpy)), ("1.0/2*x", None)] {
        let (literals, _, hint) = ask(expression, &[("x", "3f")], language, "0");
        assert!(!literals.contains("cut") && hint.is_empty(), "{literals} {hint}");
    }
}

/// `(a - b) * (a + b)` is more accurate than `a*a - b*b`, and gives what that gives in f64. Of a value that f64 rounds twice, the
/// type says more.
#[test]
fn what_is_accurate_may_be_another_formula() {
    let names = [("a", "0xc0c0fce0"), ("b", "0xc0c1079a")];
    let answer = ask_all("a*a-b*b", &names, &["0xbc816520"]);
    let seen = &answer.seen[0];
    assert!(seen.merely_accurate && seen.outcome == Outcome::Consistent, "{answer:#?}");
    assert!(lines(&answer).contains("more accurate than the one written"), "{}", lines(&answer));
    assert!(answer.verdicts()[0].sentence.contains("more accurate than the one written"));
    // 1 + 2^-24 + 2^-23 - 2^-60: f64 drops the last term, so that a tie is left.
    let names = [("a", "1f"), ("b", "0x1p-24f"), ("c", "0x1p-23f"), ("d", "-0x1p-60f")];
    let twice = &ask_all("a+b+c+d", &names, &["0x3f800002"]).seen[0];
    assert!(twice.explanations[0].sentence.contains("in f64") && !twice.merely_accurate, "{twice:#?}");
}

/// A literal's `f` may have been forgotten: of all, or of one.
#[test]
fn a_double_in_the_place_of_a_float() {
    let other = |text: &str, language, x: f32, seen: f32| {
        let values = BTreeMap::from([("x".to_owned(), format!("{:#010x}", x.to_bits()))]);
        let types = LiteralTypes { language, ..LiteralTypes::default() };
        let asked = Untyped { expression: text, result: None, values: &values, types };
        let seen = [ObservedValue::parse(&format!("{:#010x}", seen.to_bits())).unwrap()];
        let (found, _) = asked.answer(&seen, Options::default(), &Profile::NVIDIA).unwrap();
        let seen = &found.seen[0];
        (seen.outcome, seen.other_types.as_ref().map(|other| (other.option.clone(), other.is_weak)))
    };
    // The host's doubles, rounded once at the end.
    let x = f32::from_bits(0x4049_1150);
    let tenth = (f64::from(x) * 0.1) as f32;
    let option = |option: &str| (Outcome::None, Some((option.to_owned(), false)));
    assert_ne!(tenth, x * 0.1);
    assert_eq!(other("x*0.1f", None, x, tenth), option("a double in the place of `0.1f`"));
    assert_eq!(other("float(x*0.1F)", Some(Language::Cuda), x, tenth), option("a double in the place of `0.1F`"));
    // Where a literal is a float without its `f`, and where the double is there already.
    assert_eq!(other("x*0.1f", Some(Language::Glsl), x, tenth), (Outcome::None, None));
    assert_eq!(other("float(x*0.1)", None, x, tenth), (Outcome::One, None));
    // Of two literals all, or one.
    let (x, float) = (7.0 + 1.0 / 1024.0, f64::from(0.7_f32));
    let [all, one] = [0.7, float].map(|second| (f64::from(x) * 0.1 - second) as f32);
    assert_eq!(other("x*0.1f - 0.7f", None, x, all), option("doubles in the place of `0.1f`, `0.7f`"));
    assert_eq!(other("x*0.1f - 0.7f", None, x, one), option("a double in the place of `0.1f`"));
}

/// What is done to a cast is found where no cast is written, too.
#[test]
fn a_cast_that_is_not_written() {
    for (x, by, saw, sentence) in [
        ("300f", "300f", "0x7bff:f16", "at its largest finite number (.satfinite)"),
        ("0x3f808000", "1f", "0x3f81:bf16", "with ties away from zero (adds half an ulp and cuts)"),
    ] {
        let values = BTreeMap::from([("x", x), ("y", by)].map(|(name, text)| (name.to_owned(), text.to_owned())));
        let asked = Untyped { expression: "x*y", result: None, values: &values, types: LiteralTypes::default() };
        let seen = [ObservedValue::parse(saw).unwrap(), ObservedValue::parse("12345f").unwrap()];
        let (found, _) = asked.answer(&seen, Options::default(), &Profile::NVIDIA).unwrap();
        let other = found.seen[0].other_types.as_ref().unwrap();
        assert!(other.sentence.ends_with(sentence) && other.is_weak, "{other:?}");
        assert!(other.option.starts_with('`') && other.option.contains("f16("), "{other:?}");
        assert_eq!(found.seen[1].other_types, None);
    }
}

/// What clamps to the largest number is toward zero for numbers of either sign; of f16 conversions do so, of f32 none.
#[test]
fn an_overflow_that_stays_finite() {
    let found = ask_all("a*2h", &[("a", "60000h")], &["0x7bff:f16"]);
    assert!(found.seen[0].explanations[0].sentence.ends_with("at its largest finite number (.satfinite)"));
    let found = ask_all("a*2f", &[("a", "3e38f")], &["0x7f7fffff"]);
    assert_eq!(found.seen[0].also_possible.as_ref().unwrap().sentence, "rounds toward zero (.rz)");
}
