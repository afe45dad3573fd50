//! Any bytes are a module or findings about them, never a panic; every finding lies within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_isa::Location;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for finding in roundonce_ptx::parse(&text).findings {
        if let Location::Span { start, end } = finding.location {
            assert!(start <= end && text.get(start..end).is_some(), "{finding} at {start}..{end}");
        }
        assert!(!finding.message.is_empty());
    }
});
