//! Checking never panics, every finding lies within the text, and the safe fixes leave no more errors than there were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_isa::{Finding, Location, Severity, apply_fixes};
use roundonce_ptx::{Options, check_text};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let findings = check_text(&text, &Options { determinacy: true });
    for finding in &findings {
        if let Location::Span { start, end } = finding.location {
            assert!(start <= end && text.get(start..end).is_some(), "{finding} at {start}..{end}");
        }
    }
    let errors = |findings: &[Finding]| findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let fixed = apply_fixes(&text, &findings);
    if fixed != text {
        assert!(errors(&check_text(&fixed, &Options::default())) <= errors(&findings), "{text}\n---\n{fixed}");
    }
});
