//! Conversions of formats of eight bits and fewer: every row is evaluated and explained, and mistakes are named. What
//! they compute is held against a judge in `crates/arith/tests/narrow.rs` and `crates/exec/tests/forms`.

use roundonce::conversion::{instruction, is_conversion};
use roundonce::ptx::conversions::{FORMS, NOT_RUN};
use roundonce::{Batch, NOT_COMPUTED, Profile, Target};

#[test]
fn every_spelling_has_an_answer() {
    let mut count = 0;
    for (spelling, _) in FORMS.iter().flat_map(|form| form.spelled()) {
        assert!(is_conversion(&spelling), "{spelling}");
        let found = instruction(&spelling, &Target::default()).expect("a row's spelling");
        let given: Vec<String> = found.names().iter().map(|_| "0x3f".to_owned()).collect();
        let given = if found.meaning.operand_bits() == 32 && found.meaning.has_separate_operands() {
            found.names().iter().map(|name| if *name == "rbits" { "0xffffffff" } else { "1e30" }.to_owned()).collect()
        } else {
            given
        };
        let operands = found.read(&given).expect("operands");
        let bits = found.eval(&Profile::NVIDIA, &operands);
        let explained = found.explain(&spelling, &Profile::NVIDIA, &operands);
        assert_eq!(explained.bits, found.hex(bits));
        assert_eq!(explained.steps.len(), found.meaning.count as usize);
        for line in explained.lines() {
            assert!(line.to_string().chars().count() <= 80, "{spelling}: {line}");
        }
        let mut line = String::new();
        Batch::default().line(&format!("{spelling} {}", given.join(" ")), &mut line).expect("a line");
        assert_eq!(line, found.hex(bits));
        count += 1;
    }
    // sm_89 and sm_90 share 12 spellings.
    assert_eq!(count, 117 + 12);
}

#[test]
fn what_no_document_says_is_refused_by_name() {
    for (spelling, _) in NOT_RUN.iter().flat_map(|form| form.spelled()) {
        assert!(is_conversion(&spelling), "{spelling}");
        let finding = instruction(&spelling, &Target::default()).expect_err("not computed");
        assert_eq!(finding.code, NOT_COMPUTED);
        assert!(finding.message.starts_with(&format!("`{spelling}` is not computed: ")), "{finding}");
    }
}

#[test]
fn mistakes_are_named() {
    let message = |spelling: &str| instruction(spelling, &Target::default()).expect_err("a mistake").to_string();
    assert!(message("cvt.rn.e4m3x2.f32").contains("lacks one of .satfinite"));
    assert!(message("cvt.rn.satfinite.f16x2.e4m3x2").contains(".satfinite"));
    assert!(message("cvt.rm.satfinite.e5m2x2.f32").contains(".rn"));
    let old = Target { sm: Some(80.into()), ptx: None };
    assert!(instruction("cvt.rn.f16x2.e4m3x2", &old).expect_err("too old").to_string().contains("sm_80"));
    let found = instruction("cvt.rn.f16x2.e4m3x2", &Target::default()).expect("a conversion");
    assert!(found.read(&["0x10000"]).expect_err("too wide").to_string().contains("does not fit 16 bits"));
    assert!(found.read(&["1.0"]).expect_err("no bits").to_string().contains("expected such as 0x0001"));
    assert!(found.read(&["0x1", "0x2"]).expect_err("two").to_string().contains("takes 1 operands (a), found 2"));
    assert!(!is_conversion("cvt.rn.f16x2.f32") && !is_conversion("add.f32"));
}
