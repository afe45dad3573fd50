//! Real modules, `tests/kernels/*.ptx`: each is read whole, printed to the same module, and found legal.

use roundonce_isa::Severity;
use roundonce_ptx::{Options, check, parse, print};
use std::path::PathBuf;

fn kernels() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    let mut all: Vec<(PathBuf, String)> = std::fs::read_dir(folder)
        .expect("the folder of kernels")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).expect("text")))
        .collect();
    all.sort();
    assert!(all.len() >= 21, "only {} kernels", all.len());
    all
}

#[test]
fn every_kernel_is_read_printed_back_and_legal() {
    for (path, text) in kernels() {
        let parsed = parse(&text);
        assert_eq!(parsed.findings, [], "{}", path.display());
        let printed = print(&parsed.module);
        let again = parse(&printed);
        assert_eq!(again.findings, [], "{}", path.display());
        assert!(again.module == parsed.module, "{} differs once printed:\n{printed}", path.display());
        assert_eq!(print(&again.module), printed, "{}", path.display());
        let bad: Vec<String> = check(&parsed.module, &Options::default())
            .iter()
            .filter(|finding| finding.severity > Severity::Note)
            .map(ToString::to_string)
            .collect();
        assert!(bad.is_empty(), "{}: {bad:?}", path.display());
    }
}

/// Every instruction cut out of every kernel is an error or not, but never a panic; so is every prefix of the text.
#[test]
fn a_text_cut_anywhere_is_no_panic() {
    for (_, text) in kernels() {
        // Each prefix is read as a whole: of a long text fewer.
        let step = (text.len() / 1000).max(7);
        for end in (0..text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
            let _ = check(&parse(&text[..end]).module, &Options { determinacy: true });
        }
    }
}
