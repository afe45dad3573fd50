//! Targets: every one of PTX is known by its name, with its variants, and what a row's gate refuses is refused.

use roundonce::isa::{Form, Language, SmVariant};
use roundonce::ptx::{conversions, integer as integers, targets};
use roundonce::{SmTarget, TABLES, Target, conversion, instruction, integer, parse_sm};

fn on(target: SmTarget) -> Target {
    Target { sm: Some(target), ptx: None }
}

#[test]
fn names_are_read_and_written() {
    for name in targets() {
        assert_eq!(parse_sm(&name).expect("a target").to_string(), name);
    }
    assert_eq!(parse_sm("sm_100a"), Ok(SmTarget { number: 100, variant: Some(SmVariant::Architecture) }));
    assert_eq!(parse_sm("sm_120f"), Ok(SmTarget { number: 120, variant: Some(SmVariant::Family) }));
    for wrong in ["sm_99", "sm_80a", "sm_090", "sm_+90", "sm_", "sm_90b", "90", "compute_90", "sm_90aa", ""] {
        let problem = parse_sm(wrong).expect_err(wrong);
        assert!(problem.contains("sm_10 ") && problem.contains(" sm_107f "), "{problem}");
    }
}

/// Each spelling exists on a target just where the gate of some row that has it says so.
fn every_target<M: Copy + 'static>(forms: &[&'static Form<M>], exists: impl Fn(&str, &Target) -> bool) -> usize {
    let known: Vec<SmTarget> = targets().map(|name| parse_sm(&name).expect("a target")).collect();
    let mut refused = 0;
    for form in forms {
        assert!(known.iter().any(|target| form.gate.has_target(*target)), "no target has {}", form.syntax());
        let (spelling, _) = form.spelled().into_iter().next_back().expect("a spelling");
        let (mnemonic, modifiers) = roundonce::isa::split_spelling(&spelling);
        let rows: Vec<_> = forms.iter().filter(|row| row.effects(mnemonic, &modifiers).is_ok()).collect();
        for target in &known {
            let expected = rows.iter().any(|row| row.gate.has_target(*target));
            assert_eq!(exists(&spelling, &on(*target)), expected, "{spelling} on {target}");
            refused += usize::from(!expected);
        }
    }
    refused
}

#[test]
fn rows_exist_where_their_gates_say() {
    let ptx: Vec<&Form> = TABLES.into_iter().flatten().filter(|form| form.language == Language::Ptx).collect();
    assert!(every_target(&ptx, |spelling, target| instruction(spelling, target).is_ok()) > 100);
    let cvt: Vec<&Form<()>> = conversions::FORMS.iter().collect();
    assert!(every_target(&cvt, |spelling, target| conversion::instruction(spelling, target).is_ok()) > 100);
    let of_integers: Vec<&Form<()>> = integers::FORMS.iter().collect();
    assert!(every_target(&of_integers, |spelling, target| integer::instruction(spelling, target).is_ok()) > 20);
}

#[test]
fn variants_are_told_apart() {
    let has = |spelling: &str, name: &str| {
        let target = on(parse_sm(name).expect("a target"));
        if conversion::is_conversion(spelling) {
            conversion::instruction(spelling, &target).map(|_| ())
        } else {
            instruction(spelling, &target).map(|_| ())
        }
    };
    let four_bits = "cvt.rn.satfinite.e2m1x2.f32";
    for name in ["sm_100a", "sm_100f", "sm_103a", "sm_121f"] {
        assert!(has(four_bits, name).is_ok(), "{name}");
    }
    let problem = has(four_bits, "sm_100").expect_err("no variant").to_string();
    assert!(problem.contains("does not exist for sm_100") && problem.contains("`a` or `f`"), "{problem}");
    let random = "cvt.rs.satfinite.e4m3x4.f32";
    assert!(has(random, "sm_103a").is_ok());
    for name in ["sm_103f", "sm_103", "sm_110a", "sm_120a"] {
        assert!(has(random, name).is_err(), "{name}");
    }
    assert!(has("add.f32x2.f16x2.f32x2", "sm_107a").is_ok());
    assert!(has("add.f32x2.f16x2.f32x2", "sm_107").is_err());
    // Behind an @ as well.
    assert!(conversion::instruction("cvt.rn.satfinite.e2m1x2.f32@sm_100a", &Target::default()).is_ok());
    assert!(conversion::instruction("cvt.rn.satfinite.e2m1x2.f32@sm_100", &Target::default()).is_err());
}
