//! Floors, casts to integers and comparisons: what is near to a whole number is the next one.

use std::collections::BTreeMap;

use roundonce_arith::Profile;
use roundonce_why::{Answer, ObservedValue, Options, Outcome, answer, parse_expr, parse_typed};

fn ask_one(text: &str, values: &[(&str, &str)], saw: &str) -> Answer {
    let names = values.iter().map(|(name, value)| ((*name).to_owned(), parse_typed(value).unwrap().0));
    let expr = parse_expr(text, &names.collect::<BTreeMap<_, _>>()).unwrap();
    answer(&expr, &[ObservedValue::parse(saw).unwrap()], Options::default(), &Profile::NVIDIA)
}

#[test]
fn a_whole_number_beside_the_right_one_is_weak_evidence() {
    let cases: [(&str, &str, &str, &str); 11] = [
        ("floor(a/b)", "6f", "3f", "1"),
        ("floor(a/b)", "6f", "3f", "1f"),
        ("floor(a/b)", "6f", "3f", "0x3f800000"),
        ("floor(a/b)", "5f", "5f", "0f"),
        ("(int)(a/b)", "6f", "3f", "1"),
        ("-float(floor(a/b))", "6f", "3f", "-1"),
        // Before the last operation too.
        ("floor(a/b)*0.1f", "6f", "3f", "0.1f"),
        ("floor(a*(1f/b))", "3f", "3f", "0"),
        ("trunc(a*b)", "1.1f", "10f", "10f"),
        ("(int)(a*b)", "0.29f", "100f", "28"),
        ("(int)(a*b)", "0.29f", "100f", "28f"),
    ];
    for (text, a, b, saw) in cases {
        let found = ask_one(text, &[("a", a), ("b", b)], saw);
        let seen = &found.seen[0];
        assert_eq!((seen.outcome, seen.nearby.is_weak()), (Outcome::Consistent, true), "{text} {saw}: {found:#?}");
    }
}

#[test]
fn a_whole_number_that_nothing_else_is_near_to_is_explained() {
    let far = [("a", "1e20f"), ("b", "-1e20f"), ("x", "1e10f")];
    let fused = ask_one("floor(a*x+b*x)", &far, "0x638758c0");
    assert_eq!((fused.seen[0].outcome, fused.seen[0].nearby.explained), (Outcome::One, 1), "{fused:#?}");
    let plain = ask_one("floor(a*b)", &[("a", "2.5f"), ("b", "3f")], "7");
    assert!(!plain.seen[0].nearby.is_weak(), "{plain:#?}");
    // Where the whole numbers are as written, rounding is looked at as everywhere.
    let names = [("a", "6f"), ("b", "4f"), ("c", "0.1f")];
    let plain = ask_one("floor(a/b)*c", &names, "0.1f");
    assert_eq!(plain.seen[0].nearby.values, 65, "{plain:#?}");
}
