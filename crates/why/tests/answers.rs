//! What answers say of single values: torch's sums with numbers, NaNs, types, CUDA's conversions in a direction.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use roundonce_why::{Answer, Language, LiteralTypes, ObservedValue, Options, Outcome, Untyped};

fn ask(language: Option<Language>, text: &str, values: &[(&str, &str)], saw: &str) -> Answer {
    let values: BTreeMap<String, String> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let types = LiteralTypes { language, ..LiteralTypes::default() };
    let asked = Untyped { expression: text, result: None, values: &values, types };
    asked.answer(&[ObservedValue::parse(saw).unwrap()], Options::default(), &Profile::NVIDIA).unwrap().0
}

fn kinds(answer: &Answer) -> Vec<String> {
    answer.seen[0].explanations.iter().map(|it| serde_json::to_string(&it.deviations).unwrap()).collect()
}

fn text(answer: &Answer) -> String {
    answer.lines().iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
}

/// 0x2132 is 10393 × 2^-20, and 0.1 in f32 13421773 × 2^-27: their sum 0.1101470962… lies nearest to 0x2f0d. The f16 nearest to
/// 0.1 is 0x2e66, and the sum with it lies nearest to 0x2f0c. By rational arithmetic. PyTorch: aten/src/ATen/native/cuda/Loops.cuh
/// takes the number as `opmath_t`, the CPU's kernel as the tensor's type.
#[test]
fn sums_of_a_tensor_and_a_number_on_both_devices() {
    const FIRST: &str = r#"[{"kind":"number-rounded-first"}]"#;
    for (text, saw, kind) in [
        ("h+0.1", "0x2f0d:f16", "[]"),
        ("h+0.1", "0x2f0c:f16", FIRST),
        ("0.1+h", "0x2f0c:f16", FIRST),
        ("h - -0.1", "0x2f0c:f16", FIRST),
    ] {
        let torch = ask(Some(Language::Torch), text, &[("h", "0x2132:f16")], saw);
        assert_eq!(kinds(&torch).first().map(String::as_str), Some(kind), "{text}: {torch:#?}");
    }
    let named = ask(Some(Language::Torch), "h+c", &[("h", "0x2132:f16"), ("c", "0.1")], "0x2f0c:f16");
    assert_eq!(kinds(&named)[0], FIRST);
}

/// 0x3f60 is 1.84375 and 0x303b 0.132...: with 0.1 in f32 the product and the sum in f32, rounded once to f16, is 0x3511, and with the
/// product rounded to f16 first 0x3510. By rational arithmetic.
#[test]
fn casts_of_a_language_may_be_left_out() {
    const LEFT_OUT: &str = r#"[{"kind":"casts-left-out"}]"#;
    let values = [("x", "0x3f60:f16"), ("z", "0x303b:f16")];
    let torch = ask(Some(Language::Torch), "x*0.1+z", &values, "0x3511:f16");
    assert_eq!(kinds(&torch)[0], LEFT_OUT, "{torch:#?}");
    assert!(torch.advice.iter().any(|advice| advice.text.contains("emulate_precision_casts")));
    let written = ask(None, "f16(f32(x)*0x3dcccccd) + z", &values, "0x3511:f16");
    assert_eq!(kinds(&written)[0], LEFT_OUT, "{written:#?}");
    assert_eq!(kinds(&ask(Some(Language::Torch), "x*0.1+z", &values, "0x3510:f16"))[0], "[]");
}

/// Where terms cancel, narrow factors give few values: that a wrong one is among them says little, and what switches them off
/// in libraries of matrices is no advice.
#[test]
fn narrow_factors_of_what_is_no_matrix_product() {
    let squares = ask(None, "a*a-b*b", &[("a", "1.1f"), ("b", "1.0999999f")], "0");
    let seen = &squares.seen[0];
    assert!(seen.merely_narrow && seen.outcome == Outcome::Consistent && squares.advice.is_empty(), "{squares:#?}");
    assert!(
        text(&squares).contains("in products of matrices")
            && squares.verdicts()[0].sentence.contains("in products of matrices")
    );
    // 1.1 x 1.2 + 1.3 x 1.4 of f32 with factors cut to TF32 by rational arithmetic: a sum of products may be a matrix's element.
    let values = [("a", "1.1f"), ("b", "1.2f"), ("c", "1.3f"), ("d", "1.4f")];
    let product = ask(None, "a*b+c*d", &values, "0x4048cf0c");
    assert!(!product.seen[0].merely_narrow && product.seen[0].outcome != Outcome::Consistent, "{product:#?}");
    assert!(product.advice.iter().any(|advice| advice.toolchain == "torch"));
}

/// Of f64, 0.1 + (0.2 + 0.3) is 0.6, and (0.1 + 0.2) + 0.3 is 0.6000000000000001.
#[test]
fn an_order_comes_before_digits_that_were_cut_off() {
    let names = [("a", "0.1"), ("b", "0.2"), ("c", "0.3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let values = BTreeMap::from(names);
    let types = LiteralTypes { language: Some(Language::C), ..LiteralTypes::default() };
    let asked = Untyped { expression: "a+b+c", result: None, values: &values, types };
    let of = |saw: &[&str], reassociate| {
        let saw: Vec<ObservedValue> = saw.iter().map(|saw| ObservedValue::parse(saw).unwrap()).collect();
        asked.answer(&saw, Options { reassociate, ..Options::default() }, &Profile::NVIDIA).unwrap().0
    };
    let any = of(&["0.6"], true);
    assert!(kinds(&any)[0].contains("(a + (b + c))"), "{any:#?}");
    // What was seen beside it is not the same number printed with fewer digits.
    let both = of(&["0.6", "0.6000000000000001"], false);
    assert!(!kinds(&both).contains(&"[]".to_owned()), "{both:#?}");
    assert!(both.untried.iter().any(|untried| untried.contains("--reassociate")), "{both:#?}");
}

/// A NaN's own bits are evidence; that it has other ones is none.
#[test]
fn a_nan_is_explained_by_its_bits_or_weakly() {
    let of = |saw| ask(None, "x+y", &[("x", "0x7f812345"), ("y", "1f")], saw);
    let quiet = of("0x7fc12345");
    // The x87 keeps the operand's bits too.
    let seen = &quiet.seen[0];
    assert_eq!((seen.outcome, seen.nearby.explained), (Outcome::Ambiguous, 1), "{quiet:#?}");
    assert!(kinds(&quiet)[0].contains("nan-operand") && !kinds(&quiet).concat().contains("other-nan"));
    let signalling = of("0x7f812345");
    assert_eq!(signalling.seen[0].outcome, Outcome::Consistent);
    assert_eq!(kinds(&signalling), [r#"[{"kind":"other-nan"}]"#]);
}

/// What holds every number of a type rounds none of them.
#[test]
fn a_wider_type_is_not_rounded_to() {
    // 1025² / 2^20, which f32 has.
    let wide = ask(None, "a*b", &[("a", "1.001h"), ("b", "1.001h")], "0x3f804008");
    assert_eq!(wide.seen[0].stored_as, None, "{wide:#?}");
    assert!(!text(&wide).contains("as what was seen"), "{}", text(&wide));
    let held = text(&ask(None, "a*b", &[("a", "1.5h"), ("b", "1.5h")], "0x40100000"));
    assert!(held.contains("the f16 result is converted to f32, as what was seen"), "{held}");
    let narrow = text(&ask(None, "a*b", &[("a", "1.5f"), ("b", "1.5f")], "0x4080:f16"));
    assert!(narrow.contains("the f32 result is rounded to f16, as what was seen"), "{narrow}");
}

/// 1.9999 lies between 0x3fff and 0x4000 of f16, next to the second; 1 + 2^-9 between two of bf16; 1 + 2^-30 between two of f32.
#[test]
fn conversions_in_a_direction_of_their_own() {
    for (text, x, saw) in [
        ("__float2half_rn(x)", "1.9999f", "0x4000:f16"),
        ("__float2half_rz(x)", "1.9999f", "0x3fff:f16"),
        ("__float2half_rd(x)", "-1.9999f", "0xc000:f16"),
        ("__float2half_ru(x)", "-1.9999f", "0xbfff:f16"),
        ("__float2bfloat16_rz(x)", "0x3f804000", "0x3f80:bf16"),
        ("__float2bfloat16_ru(x)", "0x3f804000", "0x3f81:bf16"),
        ("__double2float_rd(x)", "0x3ff0000000400000", "0x3f800000"),
        ("__double2float_ru(x)", "0x3ff0000000400000", "0x3f800001"),
        // Finite, as that direction has it.
        ("__float2half_rz(x)", "1e6f", "0x7bff:f16"),
    ] {
        let answer = ask(None, text, &[("x", x)], saw);
        assert_eq!(kinds(&answer), ["[]"], "{text} of {x}: {answer:#?}");
    }
    let step = &ask(None, "__float2half_rz(x)", &[("x", "1.9999f")], "0x3fff:f16").as_written.steps[0];
    assert_eq!(step.operation, "cvt.rz.f16(x)");
}
