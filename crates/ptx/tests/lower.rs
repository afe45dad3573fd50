//! Real modules become programs.

use roundonce_ptx::{lower, parse};

/// Every module of tests/kernels.
#[test]
fn kernels_lower() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&path).unwrap();
            let parsed = parse(&text);
            assert!(parsed.findings.is_empty(), "{path:?}: {:?}", parsed.findings);
            if let Err(findings) = lower(&parsed.module, None) {
                panic!("{path:?}: {}", findings[0]);
            }
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}
