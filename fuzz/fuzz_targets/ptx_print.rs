//! What parses is printed to a text that parses to the same module, and is printed the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let parsed = roundonce_ptx::parse(&text);
    if !parsed.findings.is_empty() {
        return;
    }
    let printed = roundonce_ptx::print(&parsed.module);
    let again = roundonce_ptx::parse(&printed);
    assert_eq!(again.findings, [], "{printed}");
    assert!(again.module == parsed.module, "{text}\n---\n{printed}");
    assert_eq!(roundonce_ptx::print(&again.module), printed);
});
