//! Quotients, roots and functions in expressions: hidden ways of computing them, with exact integers as the judge; values
//! that documents allow; and the words of other languages.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile, Rounding};
use roundonce_isa::convert;
use roundonce_oracle::generate::SplitMix64;
use roundonce_oracle::rational::{judge, number};
use roundonce_oracle::{Direction, Layout, Shape, Spec};
use roundonce_why::{
    Answer, Evaluation, Language, Literal, LiteralTypes, ObservedValue, Options, Outcome, Plausibility, Typed, answer,
    parse_expr, parse_statements,
};

/// The significand and the exponent of a positive normal f32.
fn parts(bits: u64) -> (u128, i32) {
    (u128::from(bits & 0x7f_ffff | 0x80_0000), (bits >> 23) as i32 - 150)
}

fn rounded(significand: u128, exponent: i32, more: bool) -> u64 {
    number(Layout::F32, Direction::Nearest, false, significand, exponent, more).bits
}

fn div(a: u64, b: u64) -> u64 {
    let ((a, a_exponent), (b, b_exponent)) = (parts(a), parts(b));
    rounded((a << 60) / b, a_exponent - b_exponent - 60, (a << 60) % b != 0)
}

fn rcp(a: u64) -> u64 {
    div(0x3f80_0000, a)
}

fn sqrt(a: u64) -> u64 {
    let (m, exponent) = parts(a);
    let odd = exponent.rem_euclid(2);
    let square = m << (60 + odd);
    let root = square.isqrt();
    rounded(root, (exponent - 60 - odd) / 2, root * root != square)
}

fn rsqrt(a: u64) -> u64 {
    let (m, exponent) = parts(a);
    let odd = exponent.rem_euclid(2);
    let m = m << odd;
    let root = ((1u128 << 120) / m).isqrt();
    rounded(root, -60 - (exponent - odd) / 2, root * root * m != 1 << 120)
}

fn arithmetic(shape: Shape, operands: [u64; 3]) -> u64 {
    judge(&Spec::new(shape, Layout::F32, Direction::Nearest), operands).bits
}

fn mul(a: u64, b: u64) -> u64 {
    arithmetic(Shape::Mul, [a, b, 0])
}

fn add(a: u64, c: u64) -> u64 {
    arithmetic(Shape::Add, [a, 0, c])
}

fn fma(a: u64, b: u64, c: u64) -> u64 {
    arithmetic(Shape::MulAdd, [a, b, c])
}

/// A way of computing an expression of a, b and c, and the kind of the deviation that says so.
type Way = (&'static str, fn([u64; 3]) -> u64);

const EXPRESSIONS: [(&str, &[Way]); 7] = [
    ("a / b", &[("[]", |[a, b, _]| div(a, b)), ("reciprocal", |[a, b, _]| mul(a, rcp(b)))]),
    (
        "a / b + c",
        &[
            ("[]", |[a, b, c]| add(div(a, b), c)),
            ("reciprocal", |[a, b, c]| add(mul(a, rcp(b)), c)),
            ("fused", |[a, b, c]| fma(a, rcp(b), c)),
        ],
    ),
    ("a * b / c", &[("[]", |[a, b, c]| div(mul(a, b), c)), ("reciprocal", |[a, b, c]| mul(mul(a, b), rcp(c)))]),
    (
        "a / sqrt(b)",
        &[
            ("[]", |[a, b, _]| div(a, sqrt(b))),
            ("reciprocal-root", |[a, b, _]| mul(a, rsqrt(b))),
            ("reciprocal", |[a, b, _]| mul(a, rcp(sqrt(b)))),
        ],
    ),
    ("sqrtf(a) * b", &[("[]", |[a, b, _]| mul(sqrt(a), b)), ("root-by-", |[a, b, _]| mul(mul(a, rsqrt(a)), b))]),
    (
        "rsqrt(a) * b + c",
        &[
            ("[]", |[a, b, c]| add(mul(rsqrt(a), b), c)),
            ("fused", |[a, b, c]| fma(rsqrt(a), b, c)),
            ("reciprocal-by-root", |[a, b, c]| add(mul(rcp(sqrt(a)), b), c)),
        ],
    ),
    ("1 / sqrt(a)", &[("[]", |[a, ..]| rcp(sqrt(a))), ("reciprocal-root", |[a, ..]| rsqrt(a))]),
];

fn names(values: [u64; 3]) -> BTreeMap<String, Typed> {
    let typed = |(name, bits): (&str, u64)| (name.to_owned(), Typed { format: Format::F32, bits });
    ["a", "b", "c"].into_iter().zip(values).map(typed).collect()
}

fn asked(text: &str, values: [u64; 3], saw: u64) -> Answer {
    let expr = parse_expr(&text.replace("1 /", "1f /"), &names(values)).unwrap();
    let seen = [ObservedValue::parse(&format!("{saw:#010x}")).unwrap()];
    answer(&expr, &seen, Options::default(), &Profile::NVIDIA)
}

fn kinds(answer: &Answer) -> Vec<String> {
    answer.seen[0].explanations.iter().map(|it| serde_json::to_string(&it.deviations).unwrap()).collect()
}

/// Functions that give integers, and the remainder, by the standard library.
#[test]
fn integers_and_remainders_are_those_of_the_standard_library() {
    type Computed = (&'static str, fn(f32, f32) -> f32);
    const COMPUTED: [Computed; 11] = [
        ("rint(a)", |a, _| a.round_ties_even()),
        ("np.round(a)", |a, _| a.round_ties_even()),
        ("torch.round(a)", |a, _| a.round_ties_even()),
        ("roundf(a)", |a, _| a.round()),
        ("std::round(a)", |a, _| a.round()),
        // An integer is never -0.
        ("__float2int_rn(a)", |a, _| a.round_ties_even() + 0.0),
        ("__float2int_rd(a)", |a, _| a.floor() + 0.0),
        ("(float)lroundf(a)", |a, _| a.round() + 0.0),
        ("(float)std::lround(a)", |a, _| a.round() + 0.0),
        ("fmod(a, b)", |a, b| a % b),
        ("np.fmod(a, b)", |a, b| a % b),
    ];
    let mut bits = SplitMix64(62);
    for index in 0..400 {
        let mut number = || f32::from_bits((bits.next_bits() as u32 & 0x8fff_ffff) | 0x3800_0000);
        let (a, b) = (number(), number());
        // Ties too.
        let a = if index % 4 == 0 { (a * 8.0).trunc() / 2.0 } else { a };
        for (text, compute) in COMPUTED {
            let expected = compute(a, b);
            let answer = asked(text, [a, b, 0.0].map(|x| u64::from(x.to_bits())), u64::from(expected.to_bits()));
            assert!(answer.seen[0].outcome != Outcome::None, "{text} of {a} and {b}: {expected}\n{answer:#?}");
        }
    }
    // The other integer beside a half is another function's.
    for (text, saw, kind) in [("round(a)", 2f32, "half-to-even"), ("rint(a)", 3.0, "half-away")] {
        let answer = asked(text, [2.5f32, 0.0, 0.0].map(|x| u64::from(x.to_bits())), u64::from(saw.to_bits()));
        assert_eq!(kinds(&answer), [format!(r#"[{{"kind":"{kind}"}}]"#)], "{text}");
    }
}

#[test]
fn hidden_ways_of_quotients_and_roots_are_found() {
    let mut bits = SplitMix64(61);
    let (mut asked_of, mut found) = (0, 0);
    for (text, ways) in EXPRESSIONS {
        for (kind, compute) in ways {
            for _ in 0..25 {
                let values: [u64; 3] = std::array::from_fn(|_| {
                    let bits = bits.next_bits();
                    (bits & 0x7f_ffff) | (112 + (bits >> 40) % 30) << 23
                });
                let (saw, plain) = (compute(values), ways[0].1(values));
                let answer = asked(text, values, saw);
                let context = format!("{kind} of {text}, {values:x?}: {saw:#x}");
                assert_ne!(answer.seen[0].outcome, Outcome::None, "{context}");
                let first = &answer.seen[0].explanations[0];
                assert!(first.plausibility <= Plausibility::Replaced, "{context}: {}", first.sentence);
                assert_eq!(first.deviations.is_empty(), saw == plain, "{context}: {}", first.sentence);
                asked_of += 1;
                found += usize::from(saw == plain || kinds(&answer).iter().any(|it| it.contains(kind)));
            }
        }
    }
    assert!(asked_of > 400 && found * 100 >= asked_of * 95, "{found} of {asked_of}");
}

/// What a document allows is said to be consistent with it and never more; what none allows is not explained.
/// `a / sqrt(b)` with a reciprocal is one change, not a reciprocal root that is computed as a reciprocal of a root.
#[test]
fn of_ways_to_one_expression_the_shortest_is_named() {
    let mut bits = SplitMix64(62);
    let mut named = 0;
    for _ in 0..100 {
        let values: [u64; 3] = std::array::from_fn(|_| bits.next_bits() & 0x7f_ffff | 127 << 23);
        let saw = mul(values[0], rcp(sqrt(values[1])));
        let kinds = kinds(&asked("a / sqrt(b)", values, saw));
        assert!(kinds.iter().all(|it| !it.contains("reciprocal-by-root")), "{kinds:?}");
        named += usize::from(kinds.iter().any(|it| it == r#"[{"kind":"reciprocal"}]"#));
    }
    // Of the others another explanation is as good, or the expression as written.
    assert!(named > 4, "{named}");
}

#[test]
fn what_documents_allow_is_never_as_sure_as_what_is_exact() {
    let mut bits = SplitMix64(67);
    let mut by_cuda = 0;
    for round in 0..60 {
        let a = bits.next_bits() & 0x7f_ffff | 0x3f80_0000;
        let text = ["exp(a)", "sinf(a)", "a / b", "erff(a) * b"][round % 4];
        let answer = asked(text, [a, 0x4000_0000, 0], 0);
        let exact = u64::from_str_radix(&answer.as_written.bits[2..], 16).unwrap();
        let moved = asked(text, [a, 0x4000_0000, 0], exact + 2);
        let far = asked(text, [a, 0x4000_0000, 0], exact + 500_000);
        assert_eq!(far.seen[0].outcome, Outcome::None, "{text} {a:#x}");
        if text == "a / b" {
            // A quotient by two is exact: what approximates it does not.
            continue;
        }
        assert_eq!(moved.seen[0].outcome, Outcome::Consistent, "{text} {a:#x}: {:?}", moved.cause);
        let first = &moved.seen[0].explanations[0];
        assert_eq!(first.plausibility, Plausibility::Approximated, "{text} {a:#x}");
        assert!(first.code.is_empty(), "{text}: nothing that can be written gives it");
        by_cuda += usize::from(first.sentence.contains("of CUDA (2 ulp)"));
    }
    assert_eq!(by_cuda, 45);
}

/// An answer says what the value of the function is and who allows it.
#[test]
fn an_approximated_value_is_named() {
    let answer = asked("exp(a)", [0x3fc0_0000, 0, 0], 0x408f_6a01);
    let sentence = &answer.seen[0].explanations[0].sentence;
    for part in ["has 0x408f6a01 for exp(a)", "2 values above", "expf of CUDA (2 ulp)", "exp of OpenCL (3 ulp)"] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    // glibc's 1 ulp does not reach two values above.
    assert!(!sentence.contains("glibc"), "{sentence}");
}

#[test]
fn lines_of_other_languages_are_read() {
    let mut values = names([0x3f80_0000; 3]);
    values.extend(["x[i]", "m[2, k]"].map(|name| (name.to_owned(), values["a"])));
    let read = |text: &str| parse_expr(text, &values).map(|expr| expr.to_string());
    for (text, meaning) in [
        ("fmaf(a, b, c)", "fma(a, b, c)"),
        ("__fmaf_rn(a, b, c)", "fma(a, b, c)"),
        ("std::fma(a, b, c)", "fma(a, b, c)"),
        ("__fmul_rn(a, b) + c", "rounded(a * b) + c"),
        ("__fadd_rn(a * b, c)", "rounded(rounded(a * b) + c)"),
        ("__fdividef(a, b)", "a / b"),
        ("__frcp_rn(a)", "rcp(a)"),
        ("__fsqrt_rn(a)", "sqrt(a)"),
        ("inversesqrt(a)", "rsqrt(a)"),
        ("mad(a, b, c)", "a * b + c"),
        ("mix(a, b, c)", "a * (1 - c) + b * c"),
        ("np.float32(a) * np.exp(b)", "f32(a) * exp(b)"),
        ("(float)(a * b)", "f32(a * b)"),
        ("lerp(a, b, c)", "a + c * (b - a)"),
        ("torch.lerp(a, b, .25f)", "a + .25f * (b - a)"),
        ("torch.lerp(a, b, .5f)", "b - (b - a) * (1 - .5f)"),
        ("a**2 + b**0.5", "a * a + sqrt(b)"),
        ("-a**2", "-(a * a)"),
        ("a / b / c * a", "a / b / c * a"),
        ("a / (b * c)", "a / (b * c)"),
        ("1.f - .5f * a", "1.f - .5f * a"),
        ("clamp(a, b, c)", "min(max(a, b), c)"),
        ("np.clip(a, b, c)", "minimum(maximum(a, b), c)"),
        ("np.minimum(a, torch.max(b, c))", "minimum(a, maximum(b, c))"),
        ("np.fmin(a, jnp.maximum(b, c))", "min(a, maximum(b, c))"),
        ("torch.clamp(fminimumf(a, b), b, c)", "minimum(maximum(minimum(a, b), b), c)"),
        ("const float t = a * b; t -= c; return t / a;", "(f32(a * b) - c) / a"),
        ("x = 1.5f\nx * a  # a comment", "1.5f * a"),
        ("a * b; // twice", "a * b"),
        ("a * b // the product of both", "a * b"),
        ("(float)(int)a * 2", "f32(int32(a)) * 2"),
        ("__float2int_rn(a / b)", "int32_rn(a / b)"),
        ("__float2half_rz(a) * __double2float_ru(b)", "f16_rz(a) * f32_rp(b)"),
        ("np.round(a) + roundf(b)", "rint(a) + round(b)"),
        ("jax.lax.round(jnp.fmod(a, b))", "round(fmod(a, b))"),
        ("a * x[i] + m[2, k]", "a * x[i] + m[2, k]"),
        ("(int)(a * 100)", "int32(a * 100)"),
        ("a / b >= c - 1", "a / b >= c - 1"),
        ("(a < b) * c", "(a < b) * c"),
        ("fmaxf(fabsf(a), fminf(b, c))", "max(abs(a), min(b, c))"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(meaning), "{text}");
    }
    for (text, at, message) in [
        ("a @ b", 2, "found `@`, expected the factors of a matrix product as arrays"),
        ("a $ b", 2, "`$` is not known"),
        ("foo(a)", 0, "`foo` is no function that is known"),
        ("Math.round(a)", 0, "`Math.round` is no function that is known"),
        ("lroundf(a) + 1", 11, "arithmetic of integers is not computed"),
        ("exp(a, b)", 0, "`exp` takes 1 operands, found 2"),
        ("a ^ 2", 2, "found `^`"),
        ("t + 1", 0, "`t` has no value"),
        ("a//b + 1f", 1, "`//` divides and rounds down in Python"),
        ("a // b", 2, "`//` divides and rounds down in Python"),
        ("(int)a + 1", 7, "arithmetic of integers is not computed"),
        ("int(a) * (2 - int(b))", 12, "arithmetic of integers is not computed"),
        ("t = a; t +", 10, "found the end"),
        ("", 0, "expected an expression"),
    ] {
        let error = parse_expr(text, &names([0; 3])).unwrap_err();
        assert!(error.at == at && error.message.contains(message), "{text}: {error:?}");
    }
    let doubled = format!("t = a; {} t", "t = t * t; ".repeat(40));
    assert!(parse_expr(&doubled, &names([0; 3])).unwrap_err().message.contains("operations"));
}

/// What languages make of integers and of functions of literals.
#[test]
fn types_by_language() {
    let read = |language: &str, text: &str| {
        let types = LiteralTypes { language: Some(Language::parse(language).unwrap()), ..LiteralTypes::default() };
        let names = BTreeMap::from([("x".to_owned(), types.read("1.5f").unwrap())]);
        types.parse_expr(text, &names).map(|expr| expr.format()).map_err(|error| error.message)
    };
    for language in ["c", "cuda", "glsl", "wgsl"] {
        let refused = read(language, "x * (1 / 2)").unwrap_err();
        assert_eq!(
            refused,
            format!("{language} cuts the quotient of two integers, which is not computed: write a point, `1.0`")
        );
        assert!(read(language, "x * (1 * 2 - 3) / 2").is_ok());
    }
    assert_eq!(read("numpy", "x * (1 / 2)"), Ok(Format::F32));
    for (language, format) in
        [("c", Format::F64), ("julia", Format::F64), ("glsl", Format::F32), ("torch", Format::F32)]
    {
        assert_eq!(read(language, "sqrt(2) * x"), Ok(format), "{language}");
    }
    assert_eq!((read("numpy", "np.sqrt(2) * x"), read("numpy", "np.sqrt(x) * 2")), (Ok(Format::F64), Ok(Format::F32)));
    assert_eq!((read("numpy", "float(x) * 0.1"), read("cuda", "float(x) * 2")), (Ok(Format::F64), Ok(Format::F32)));
}

/// C's functions of `<math.h>` without an `f` are of doubles, those with one of floats; CUDA has overloads.
#[test]
fn c_has_functions_of_doubles() {
    let read = |language: &str, text: &str| {
        let types = LiteralTypes { language: Some(Language::parse(language).unwrap()), ..LiteralTypes::default() };
        // The compiler's product of a double differs from a float's in the last bit.
        let values = [("a", "0x1.008p+0f"), ("b", "0x1.a66666p+1f"), ("c", "-0x1.008p+0f"), ("d", "0x1.b33334p+0f")];
        let names: BTreeMap<String, Literal> =
            values.map(|(name, text)| (name.to_owned(), types.read(text).unwrap())).into();
        let expr = types.parse_expr(text, &names).unwrap();
        let value = Evaluation::as_written(&expr).trace(&Profile::NVIDIA).0;
        (expr.to_string(), value.format, convert(value.format, Format::F32, Rounding::NearestEven, value.bits).0)
    };
    let doubles = "fma(f64(a), f64(b), f64(c)) * d".to_owned();
    assert_eq!(read("c", "fma(a, b, c) * d"), (doubles, Format::F64, 0x407a_ba8f));
    let floats = "fma(a, b, c) * d".to_owned();
    assert_eq!(read("c", "fmaf(a, b, c) * d"), (floats.clone(), Format::F32, 0x407a_ba90));
    for language in ["cuda", "glsl", "julia"] {
        assert_eq!(read(language, "fma(a, b, c) * d"), (floats.clone(), Format::F32, 0x407a_ba90), "{language}");
    }
    for (text, meaning) in [
        ("sqrt(-a)", "sqrt(-f64(a))"),
        ("sqrtf(a * 0.1)", "sqrt(f32(a * 0.1))"),
        ("std::sqrt(a)", "sqrt(a)"),
        ("fabs(a) + fminf(a, b)", "abs(f64(a)) + min(a, b)"),
    ] {
        assert_eq!(read("c", text).0, meaning, "{text}");
    }
}

/// Which of `min` and `minimum` gives the number beside a NaN is the language's.
#[test]
fn extrema_of_a_nan() {
    let read = |language: &str, text: &str| {
        let types = LiteralTypes { language: Some(Language::parse(language).unwrap()), ..LiteralTypes::default() };
        let names: BTreeMap<String, Literal> =
            [("a", "nan:f32"), ("b", "1f")].map(|(name, text)| (name.to_owned(), types.read(text).unwrap())).into();
        let expr = types.parse_expr(text, &names).unwrap();
        Evaluation::as_written(&expr).trace(&Profile::NVIDIA).0.bits
    };
    let (nan, one) = (0x7fff_ffff, 0x3f80_0000);
    for (language, text, bits) in [
        ("numpy", "np.minimum(a, b)", nan),
        ("numpy", "np.maximum(b, a)", nan),
        ("numpy", "np.fmax(a, b)", one),
        ("numpy", "np.clip(a, b, b)", nan),
        ("torch", "torch.max(a, b)", nan),
        ("torch", "torch.fmin(a, b)", one),
        ("jax", "jnp.minimum(b, a)", nan),
        ("julia", "min(a, b)", nan),
        ("julia", "clamp(a, b, b)", nan),
        ("cuda", "min(a, b)", one),
        ("cuda", "fmaxf(a, b)", one),
        ("wgsl", "max(b, a)", one),
        ("c", "fminimumf(a, b)", nan),
        ("c", "fminimum_numf(a, b)", one),
    ] {
        assert_eq!(read(language, text), bits, "{language}: {text}");
    }
}

/// What a statement names is computed once: it is fused in every place or in none.
#[test]
fn a_name_is_computed_once() {
    let read =
        parse_statements("t = a * b; u = t + c; u * u - u", &names([0x3f80_0001, 0x3f80_0001, 0xbf80_0002])).unwrap();
    let seen = [ObservedValue::parse("0xa8800000").unwrap()];
    let found = answer(&read.result, &seen, Options::default(), &Profile::NVIDIA);
    let first = &found.seen[0].explanations[0];
    let steps: Vec<&str> = first.steps.iter().map(|step| step.operation.as_str()).collect();
    assert_eq!(steps, ["fma.rn.f32(a, b, c)", "fma.rn.f32(t0, t0, -t0)"]);
    assert_eq!(read.named["u"].to_string(), "a * b + c");
}

/// The page of what documents allow is the table. ROUNDONCE_BLESS writes it.
#[test]
fn the_page_of_documents_is_the_table() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md");
    let mut documents: Vec<(String, String, Vec<String>)> = Vec::new();
    for row in roundonce_why::accuracy_rows() {
        let of = format!("{}, {}", row.library, row.format.name().unwrap());
        let function = format!("`{}` {}", row.name, row.bound.replace('|', "\\|"));
        match documents.last_mut().filter(|(known, ..)| *known == of) {
            Some((_, _, functions)) => functions.push(function),
            None => documents.push((of, row.source.to_owned(), vec![function])),
        }
    }
    let mut table = "\n| whose | functions | document |\n|---|---|---|\n".to_owned();
    for (of, source, functions) in documents {
        table += &format!("| {of} | {} | {source} |\n", functions.join("; "));
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (head, rest) = page.split_once("functions.rs -->").unwrap();
    let (found, tail) = rest.split_once("<!-- end").unwrap();
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        std::fs::write(PAGE, format!("{head}functions.rs -->{table}<!-- end{tail}")).unwrap();
    } else {
        assert!(found == table, "docs/accuracy.md is not the table: ROUNDONCE_BLESS=1 writes it");
    }
}

/// Factors in TF32, as libraries give them to tensor cores: integers are the judge.
#[test]
fn factors_in_tf32_are_found() {
    let mut bits = SplitMix64(71);
    let (mut found, mut asked_of) = (0, 0);
    for round in 0..150 {
        let values: [u64; 3] = std::array::from_fn(|_| bits.next_bits() & 0x1ff_ffff | 0x3f00_0000);
        // A TF32 has 13 bits fewer: up, down, or to the even one of two.
        let narrow = |bits: u64| {
            let (kept, rest) = (bits >> 13, bits & 0x1fff);
            let up = [rest >= 0x1000, false, rest > 0x1000 || rest == 0x1000 && kept & 1 == 1][round % 3];
            (kept + u64::from(up)) << 13
        };
        let [a, b, c] = values;
        let (text, saw) = match round % 2 {
            0 => ("a * b", mul(narrow(a), narrow(b))),
            _ => ("a * b + c", fma(narrow(a), narrow(b), c)),
        };
        let answer = asked(text, values, saw);
        let first = &answer.seen[0].explanations.first();
        assert!(first.is_some_and(|it| it.plausibility <= Plausibility::Replaced), "{text} {values:x?}");
        asked_of += 1;
        found += usize::from(kinds(&answer).iter().any(|it| it.contains("tf32-factors")));
    }
    assert!(found * 100 >= asked_of * 95, "{found} of {asked_of}");
}

/// Processors flush subnormals of f64 where they are asked to; GPUs do not, and no code of theirs is printed.
#[test]
fn subnormals_of_f64_may_be_flushed() {
    let double = |bits: u64| Typed { format: Format::F64, bits };
    let names =
        BTreeMap::from([("x".to_owned(), double(1e-200f64.to_bits())), ("y".to_owned(), double(1e-110f64.to_bits()))]);
    let seen = [ObservedValue::parse("0x0000000000000000").unwrap()];
    let found = answer(&parse_expr("x * y", &names).unwrap(), &seen, Options::default(), &Profile::NVIDIA);
    let first = &found.seen[0].explanations[0];
    assert!(first.sentence.contains("flushes subnormals") && first.code.is_empty(), "{}", first.sentence);
}

/// A comparison has two results: an explanation of one says little.
#[test]
fn a_comparison_is_weak_evidence() {
    let answer = asked("a / b >= c", [0x4cbe_bc20, 0x4e6e_6b28, 0x3dcc_cccd], 0);
    assert_eq!(answer.seen[0].outcome, Outcome::Consistent);
    assert!(kinds(&answer).iter().any(|it| it.contains("reciprocal")), "{:?}", kinds(&answer));
}

/// torch and JAX multiply for whole powers; torch's `lerp` has two forms, and keeps a number in f32 beside 16 bits.
#[test]
fn libraries_own_forms() {
    let read = |language: &str, text: &str| {
        let types = LiteralTypes { language: Some(Language::parse(language).unwrap()), ..LiteralTypes::default() };
        let values = [("x", "1.5f"), ("h", "1.5h"), ("b", "1.5b"), ("t", ".75f")];
        let names = values.map(|(name, value)| (name.to_owned(), types.read(value).unwrap())).into();
        types.parse_expr(text, &names).map(|expr| expr.to_string()).map_err(|error| error.message)
    };
    for (language, text, meaning) in [
        ("numpy", "x**3", "pow(x, 3)"),
        ("torch", "x**3", "x * (x * x)"),
        ("torch", "torch.pow(x, 3)", "x * (x * x)"),
        ("torch", "x**4", "pow(x, 4)"),
        ("torch", "h**3", "pow(h, 3)"),
        ("jax", "x**5", "x * (x * x * (x * x))"),
        ("jax", "jnp.power(x, 3)", "x * (x * x)"),
        ("jax", "x**2.5", "pow(x, 2.5)"),
        ("jax", "x**17", "pow(x, 17)"),
        ("torch", "lerp(x, b, .25)", "x + .25 * (b - x)"),
        ("torch", "lerp(x, b, .5)", "b - (b - x) * (1 - .5)"),
        ("glsl", "lerp(x, b, t)", "x + t * (b - x)"),
        ("torch", "h * 0.1", "f16(f32(h) * 0.1)"),
        ("torch", "h + 0.1", "f16(f32(h) + 0.1)"),
        ("torch", "2 - b + h", "bf16(2 - f32(b)) + h"),
        ("jax", "h + 0.1", "h + 0.1"),
        ("torch", "0.1 * b + b", "bf16(0.1 * f32(b)) + b"),
        ("torch", "h / 3 - 3 / h", "f16(f32(h) / 3) - 3 / h"),
        ("torch", "h * x * 0.1", "h * x * 0.1"),
        ("jax", "h * 0.1", "h * 0.1"),
    ] {
        assert_eq!(read(language, text).as_deref(), Ok(meaning), "{language}: {text}");
    }
    for (language, text, message) in [
        ("torch", "torch.lerp(x, b, t)", "a + t * (b - a) where |t| is below a half"),
        ("c", "std::lerp(x, b, .5f)", "another expression for each order and sign"),
    ] {
        let error = read(language, text).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
