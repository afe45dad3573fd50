//! Casts to integers: what the type holds, and what it does not.

use std::collections::BTreeMap;

use roundonce_arith::{Format, Profile};
use roundonce_oracle::generate::SplitMix64;
use roundonce_why::{
    Answer, Delivered, Evaluation, IntegerType, Language, LiteralTypes, ObservedValue, Options, Outcome, Untyped,
    names_in, parse_expr, parse_typed,
};

fn ask_as(language: Option<Language>, text: &str, x: &str, saw: &str) -> Answer {
    let values = BTreeMap::from([("x".to_owned(), x.to_owned())]);
    let ty = (x == "nan").then_some(Format::F32);
    let types = LiteralTypes { ty, language, ..LiteralTypes::default() };
    let asked = Untyped { expression: text, result: None, values: &values, types };
    asked.answer(&[ObservedValue::parse(saw).unwrap()], Options::default(), &Profile::NVIDIA).unwrap().0
}

fn ask(text: &str, x: &str, saw: &str) -> Answer {
    ask_as(None, text, x, saw)
}

/// The outcome and the kinds of the first explanation's deviations.
fn found(answer: &Answer) -> (Outcome, String) {
    let seen = &answer.seen[0];
    let kinds = seen.explanations.first().map(|it| serde_json::to_string(&it.deviations).unwrap());
    (seen.outcome, kinds.unwrap_or_default())
}

const WRITTEN: &str = "[]";
const X86: &str = r#"[{"kind":"x86-integers"}]"#;
const UNLIMITED: &str = r#"[{"kind":"unlimited-integers"}]"#;

/// On a GPU: PTX ISA, `cvt`, "clamping … to the range of the destination type" and a NaN's 0 (2^63 from f64 or to 64 bits, as
/// an H100 has it). On x86: Intel SDM, CVTTSS2SI, the indefinite integer 0x80000000 or 0x8000000000000000.
#[test]
fn what_a_type_does_not_hold_is_clamped_or_what_x86_gives() {
    for (text, x, saw, kinds) in [
        ("(int)x", "3e9f", "2147483647", WRITTEN),
        ("(int)x", "3e9f", "-2147483648", X86),
        ("int(x)", "-1e20f", "-2147483648", WRITTEN),
        ("(int)x", "3e9", "2147483647", WRITTEN),
        ("np.int32(x)", "3e9", "-2147483648", X86),
        ("(int)x", "nan", "0", WRITTEN),
        ("(int)x", "nan", "-2147483648", X86),
        ("(int)x", "inf", "2147483647", WRITTEN),
        ("__float2int_rn(x)", "1e20f", "2147483647", WRITTEN),
        ("(long long)x", "1e20f", "9223372036854775807", WRITTEN),
        ("(long long)x", "1e20f", "-9223372036854775808", X86),
        ("(unsigned int)x", "-5f", "0", WRITTEN),
        ("(unsigned int)x", "-5f", "4294967291", X86),
        ("(unsigned)x", "5e9f", "4294967295", WRITTEN),
        ("(unsigned)x", "5e9f", "705032704", X86),
        ("(uint8_t)x", "300f", "255", WRITTEN),
        ("(uint8_t)x", "300f", "44", X86),
        ("(short)x", "40000f", "32767", WRITTEN),
        ("(short)x", "40000f", "-25536", X86),
        ("(signed char)x", "-1e4f", "-128", WRITTEN),
        ("(unsigned long long)x", "1e20f", "18446744073709551615", WRITTEN),
        ("(unsigned long long)x", "1e20f", "0", X86),
        // GLSL's and C++'s `int`, and Python's.
        ("int(x)", "-3e9f", "-3000000000", UNLIMITED),
        // Of the value behind the cast, too.
        ("(float)(int)x * 2f", "3e9f", "4294967296", WRITTEN),
        ("(double)(int)x", "3e9f", "2147483647", WRITTEN),
    ] {
        let answer = ask(text, x, saw);
        let (outcome, found) = found(&answer);
        assert!(outcome != Outcome::None && found == kinds, "{text} of {x}: {saw}\n{answer:#?}");
    }
}

#[test]
fn types_that_are_not_computed_are_named() {
    let names = BTreeMap::from([("x".to_owned(), parse_typed("300f").unwrap().0)]);
    for (text, ty) in
        [("(long double)x", "`long double`"), ("1f + (bool)x", "`bool`"), ("(short char)x", "`short char`")]
    {
        let error = parse_expr(text, &names).unwrap_err();
        assert!(
            error.message.starts_with(ty) && error.message.contains("no type that casts are computed to"),
            "{error:?}"
        );
    }
    // A name that has a value is none.
    let named = ["x", "uint"].map(|name| (name.to_owned(), names["x"]));
    assert_eq!(parse_expr("(uint)*x", &BTreeMap::from(named)).unwrap().to_string(), "uint * x");
    assert!(names_in("(unsigned int)x + (long)(y)").iter().eq(["x", "y"]));
}

/// An integer of 32 bits is not 3,000,000,000, and no code gives it.
#[test]
fn what_no_machine_gives_is_not_explained() {
    for (language, text, x, saw) in [
        (None, "(int)x", "3e9f", "3000000000"),
        (Some(Language::Cuda), "int(x)", "-3e9f", "-3000000000"),
        (None, "__float2int_rn(x)", "1e20f", "1e20"),
        (None, "(int)x", "3e9f", "2147483648"),
        (None, "(long long)x", "1e20f", "9223372036854775808"),
        (None, "(int)x", "-0.25f", "-0"),
    ] {
        let answer = ask_as(language, text, x, saw);
        assert_eq!(answer.seen[0].outcome, Outcome::None, "{text} of {x}: {saw}\n{answer:#?}");
    }
    let python = ask_as(Some(Language::Numpy), "int(x)", "-3e9f", "-3000000000");
    assert_eq!(found(&python), (Outcome::One, WRITTEN.to_owned()));
}

/// The casts of Rust are clamped as PTX's are, and a NaN gives 0 (The Rust Reference, numeric cast).
#[test]
fn clamped_casts_are_those_of_the_standard_library() {
    type Cast = (&'static str, fn(f32) -> i128);
    const CASTS: [Cast; 8] = [
        ("(int)x", |x| (x as i32).into()),
        ("(unsigned int)x", |x| (x as u32).into()),
        ("(short int)x", |x| (x as i16).into()),
        ("(uint16_t)x", |x| (x as u16).into()),
        ("(int8_t)x", |x| (x as i8).into()),
        ("(unsigned char)x", |x| (x as u8).into()),
        ("(long)x", |x| (x as i64).into()),
        ("(size_t)x", |x| (x as u64).into()),
    ];
    let mut bits = SplitMix64(2026);
    for _ in 0..200 {
        // Up to 2^70 in magnitude, of both signs.
        let smaller = bits.next_bits() as u32 & 0x0800_0000;
        let x = f32::from_bits((bits.next_bits() as u32 & 0x8fff_ffff | 0x4000_0000) - smaller);
        for (text, cast) in CASTS {
            let answer = ask(text, &format!("{:#010x}", x.to_bits()), &cast(x).to_string());
            let found = found(&answer);
            assert!(found.0 != Outcome::None && found.1 == WRITTEN, "{text} of {x}: {}\n{answer:#?}", cast(x));
        }
    }
}

#[test]
fn the_code_of_a_cast_is_a_cast() {
    for (text, x, ptx, cuda) in [
        ("(int)x", "3.7f", "cvt.rzi.s32.f32 d, x;", "__float2int_rz(x)"),
        ("__float2int_rd(x)", "3.7f", "cvt.rmi.s32.f32 d, x;", "__float2int_rd(x)"),
        ("(unsigned)x", "3.7", "cvt.rzi.u32.f64 d, x;", "__double2uint_rz(x)"),
        ("lrint(x)", "3.2f", "cvt.rni.s64.f32 d, x;", "__float2ll_rn(x)"),
    ] {
        let saw = &x[..1];
        let answer = ask(text, x, saw);
        let write = &answer.seen[0].explanations[0].write;
        assert_eq!((write.ptx.as_slice(), write.cuda.as_str()), ([ptx.to_owned()].as_slice(), cuda), "{text}");
    }
    let values = BTreeMap::from([("x".to_owned(), parse_typed("3.7f").unwrap().0)]);
    let expr = parse_expr("-(unsigned)x", &values).unwrap();
    assert_eq!(Evaluation::as_written(&expr).plan.integer().map(IntegerType::c_name), Some("unsigned int"));
    let x86 = ask("(int)x", "3e9f", "-2147483648");
    assert_eq!(x86.seen[0].explanations[0].code, BTreeMap::new());
    // What stands in the text, too, is the integer.
    let clamped = ask("(int)x", "3e9f", "2147483647");
    let step = &clamped.seen[0].explanations[0].steps[0];
    assert_eq!([&clamped.expression[..], &clamped.ty], ["int32(x)", "int32"]);
    assert_eq!([&step.operation[..], &step.bits, &step.value], ["cvt.rzi.s32(x)", "0x7fffffff", "2147483647"]);
    assert_eq!(step.delivered, Some(Delivered::Clamped));
}
