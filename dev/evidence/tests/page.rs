//! The page and the README say what the records say, every spelling has a record, and a record can be had again.

use roundonce_evidence::check::check;
use roundonce_evidence::page::{Evidence, PAGE, README, page, readme, totals};
use roundonce_evidence::records::{read, records};
use roundonce_evidence::{conversions, spellings};

const WRITE: &str = "run `cargo run -p roundonce-evidence -- page`";

#[test]
fn the_page_is_the_records() {
    let evidence = Evidence::load().unwrap();
    assert!(read(PAGE).unwrap() == page(&evidence), "{PAGE} is out of date: {WRITE}");
    let text = read(README).unwrap();
    assert!(text == readme(&text, &totals(&evidence)).unwrap(), "{README} is out of date: {WRITE}");
}

/// SoftFloat has no bf16, and no result narrower than an operand.
fn has_softfloat(spelling: &str) -> bool {
    let operation = roundonce::instruction(spelling, &Default::default()).unwrap().recipe.operation;
    let widths = (0..operation.op.arity()).map(|index| operation.operand_format(index).width());
    let is_unlike = operation.operand_formats.is_some();
    let is_wider = widths.max() <= Some(operation.format.width()) && operation.format.width() > 16;
    operation.format != roundonce::arith::Format::BF16 && (!is_unlike || is_wider)
}

#[test]
fn every_spelling_is_recorded_without_mismatch() {
    let forms = records("evidence/forms.jsonl").unwrap();
    for spelling in spellings() {
        let record = forms.iter().find(|record| record.text("form") == spelling);
        let record = record.unwrap_or_else(|| panic!("{spelling} has no record: `check --all --record` makes it"));
        assert!(record.number("rationals") >= 10_000, "{spelling}");
        assert_eq!(record.number("mismatches"), 0, "{spelling}");
    }
    assert_eq!(forms.len(), spellings().len(), "a record is of no spelling");
    let arrays = records("evidence/arrays.jsonl").unwrap();
    let known: Vec<&str> = arrays.iter().map(|record| record.text("spelling")).collect();
    let judged: Vec<String> = spellings().into_iter().filter(|spelling| has_softfloat(spelling)).collect();
    for spelling in &judged {
        assert!(known.contains(&spelling.as_str()), "{spelling} has no record over arrays: dev/evidence.sh arrays");
    }
    assert_eq!(known.len(), judged.len(), "a record over arrays is of no spelling");
}

/// A few, of every language: the recorded digest comes out again.
#[test]
fn a_record_can_be_had_again() {
    let forms = records("evidence/forms.jsonl").unwrap();
    for record in forms.iter().step_by(forms.len() / 12) {
        let checked = check(record.text("form"), Some(record.number("rationals")));
        assert_eq!(checked.mismatches, 0, "{checked}");
        assert_eq!(format!("{:016x}", checked.digest), record.text("digest"), "{checked}");
    }
}

#[test]
fn every_conversion_is_recorded_without_mismatch() {
    let recorded = records(conversions::RECORDS).unwrap();
    let names: Vec<&str> = recorded.iter().map(|record| record.text("form")).collect();
    assert_eq!(names, conversions::spellings(), "`check --new --record` makes what is missing");
    for record in &recorded {
        let values = record.number("rationals");
        assert!(values >= if conversions::is_exhaustive(record.text("form")) { 512 } else { 1_000_000 });
        assert_eq!(record.number("mismatches"), 0, "{}", record.text("form"));
    }
    // A few again: those that are short, and some of the drawn values of the others.
    for record in recorded.iter().filter(|record| record.number("rationals") <= 8192) {
        let checked = check(record.text("form"), None);
        assert_eq!(checked.mismatches, 0, "{checked}");
        assert_eq!(format!("{:016x}", checked.digest), record.text("digest"), "{checked}");
    }
    for record in recorded.iter().filter(|record| !conversions::is_exhaustive(record.text("form"))) {
        let checked = check(record.text("form"), Some(2000));
        assert_eq!((checked.mismatches, checked.rationals), (0, 2000), "{checked}");
    }
}
