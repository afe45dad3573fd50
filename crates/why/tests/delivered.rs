//! What became of a step's exact result: exact, rounded, flushed, and by which machines.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use roundonce_why::{Answer, Delivered, ObservedValue, Options, Outcome, answer, parse_expr, parse_typed};

fn ask(text: &str, values: &[&str], saw: &str) -> Answer {
    let names = ["a", "b", "c"].into_iter().zip(values);
    let names = names.map(|(name, value)| (name.to_owned(), parse_typed(value).unwrap().0));
    let expr = parse_expr(text, &names.collect::<BTreeMap<_, _>>()).unwrap();
    answer(&expr, &[ObservedValue::parse(saw).unwrap()], Options::default(), &Profile::NVIDIA)
}

fn toolchains(answer: &Answer) -> Vec<&str> {
    answer.advice.iter().map(|advice| advice.toolchain).collect()
}

#[test]
fn what_is_flushed_is_not_exact_and_not_rounded() {
    for (text, values, operation) in [
        ("a/b", &["0x00800000", "3f"][..], "div.rn.ftz.f32(a, b)"),
        ("a/b", &["1f", "0x7f000000"], "div.rn.ftz.f32(a, b)"),
        ("1f/a", &["0x7f000000"], "div.rn.ftz.f32(1f, a)"),
        ("exp(a)", &["-90f"], "exp.ftz.f32(a)"),
        ("sqrt(a)", &["1e-40f"], "sqrt.rn.ftz.f32(a)"),
        ("float(a)", &["1e-40"], "cvt.rn.ftz.f32(a)"),
        ("a*b", &["1e-20f", "1e-20f"], "mul.rn.ftz.f32(a, b)"),
        // `.ftz` of a conversion is about f32 alone.
        ("(half)a", &["6e-5f"], "cvt.rn.f16(a), flushing"),
    ] {
        let found = ask(text, values, "0");
        let step = &found.seen[0].explanations[0].steps[0];
        assert_eq!((&step.operation[..], step.delivered), (operation, Some(Delivered::Flushed)), "{text}: {found:#?}");
    }
}

/// No option of nvcc is about a result of f16, whatever is done with it.
#[test]
fn a_cast_to_f16_is_flushed_by_no_option_for_f32() {
    assert_eq!(ask("(half)a", &["6e-5f"], "0").seen[0].explanations[0].sentence, "flushes subnormals of f16 to zero");
    for text in ["(half)a", "float((half)a)"] {
        let found = ask(text, &["6e-5f"], "0");
        let first = &found.seen[0].explanations[0];
        assert!(first.code.is_empty() && !toolchains(&found).contains(&"nvcc"), "{text}: {found:#?}");
    }
}

/// 0x00800001 × 0x3f7ffffe lies below 2^-126 and rounds to it: PTX's `mul.rn.ftz.f32` gives that, and Arm's FZ, which looks
/// before rounding, zero (Arm ARM, FPRound).
#[test]
fn what_flushes_before_rounding_is_no_gpu() {
    let found = ask("a*b", &["0x00800001", "0x3f7ffffe"], "0");
    let first = &found.seen[0].explanations[0];
    let step = &first.steps[0];
    assert_eq!((&step.operation[..], step.delivered), ("mul.rn.f32(a, b), flushing", Some(Delivered::Flushed)));
    assert_eq!(first.sentence, "flushes subnormals to zero, results before rounding, as Arm's processors do");
    assert!(first.code.is_empty());
    assert_eq!(toolchains(&found), ["torch", "spirv"]);
}

/// PTX has no `copysign.ftz`, and a sign that is set leaves a subnormal as it is.
#[test]
fn signs_are_set_without_a_flush() {
    let alone = ask("copysign(a, b)", &["1e-40f", "1f"], "0");
    assert_eq!(alone.seen[0].outcome, Outcome::None, "{alone:#?}");
    let product = ask("copysign(a, b)*c", &["1e-40f", "1f", "1e30f"], "0");
    let [sign, times] = &product.seen[0].explanations[0].steps[..] else { panic!("{product:#?}") };
    assert_eq!((&sign.operation[..], sign.delivered), ("copysign.f32(a, b)", Some(Delivered::Exact)));
    assert_eq!((&times.operation[..], times.delivered), ("mul.rn.ftz.f32(t0, c)", Some(Delivered::Flushed)));
    // `abs.ftz.f32` exists; of f64 processors clear the sign bit.
    let magnitude = ask("fabs(a)", &["-1e-40f"], "0");
    let step = &magnitude.seen[0].explanations[0].steps[0];
    assert_eq!((&step.operation[..], step.delivered), ("abs.ftz.f32(a)", Some(Delivered::Flushed)));
    assert_eq!(ask("fabs(a)", &["-1e-310"], "0").seen[0].outcome, Outcome::None);
}

/// An integer has no -0: nothing was cut to one.
#[test]
fn nothing_is_cut_to_minus_zero() {
    for (text, values) in
        [("a*b", ["0.3f", "0.3f"]), ("a-a", ["1f", "1f"]), ("a*b", ["0f", "1f"]), ("a+b", ["1f", "-1f"])]
    {
        assert_eq!(ask(text, &values, "-0").seen[0].cut, None, "{text}");
    }
    assert!(ask("a*b", &["0.3f", "0.3f"], "0").seen[0].cut.is_some());
}

/// Irrational values are not exact, and neither is an overflow. 3-4-5 is.
#[test]
fn what_a_function_gives_is_rounded_where_it_has_no_other_value() {
    for (text, values, saw, delivered) in [
        ("atan2(a, b)", &["0.1", "-2.0"][..], "3.0916342578678506", Delivered::Rounded),
        ("atan2(a, b)", &["0.1f", "-2f"], "3.0916343", Delivered::Rounded),
        ("atan2(a, b)", &["0.0", "2.0"], "0", Delivered::Exact),
        ("hypot(a, b)", &["1e-20f", "3f"], "3", Delivered::Rounded),
        ("hypot(a, b)", &["3f", "4f"], "5", Delivered::Exact),
        ("hypot(a, b)", &["3.0", "4.0"], "5", Delivered::Exact),
        ("sinh(a)", &["-838.4"], "-inf", Delivered::Rounded),
        ("exp(a)", &["-800.0"], "0", Delivered::Rounded),
        ("pow(a, b)", &["0x4a47bf65", "0x449bec84"], "inf", Delivered::Rounded),
        ("pow(a, b)", &["0x400342fad2cb0d1a", "0x40b1b156a336d20f"], "inf", Delivered::Rounded),
        ("log(a)", &["0f"], "-inf", Delivered::Exact),
        ("pow(a, b)", &["0.0", "-1.0"], "inf", Delivered::Exact),
    ] {
        let found = ask(text, values, saw);
        let first = &found.seen[0].explanations[0];
        assert_eq!((first.deviations.len(), first.steps[0].delivered), (0, Some(delivered)), "{text}: {found:#?}");
    }
}
