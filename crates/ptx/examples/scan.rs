//! Parses, prints and parses again every file named, and says what was found.
fn main() {
    let mut bad = 0;
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        let parsed = roundonce_ptx::parse(&text);
        for finding in parsed.findings.iter().take(3) {
            let roundonce_isa::Place::Span { start, .. } = finding.place else { continue };
            let (line, column) = roundonce_isa::line_column(&text, start);
            println!("{path}:{line}:{column}: {finding}");
        }
        if !parsed.findings.is_empty() {
            bad += 1;
            continue;
        }
        let printed = roundonce_ptx::print(&parsed.module);
        let again = roundonce_ptx::parse(&printed);
        if again.module != parsed.module || !again.findings.is_empty() {
            println!("{path}: differs after printing: {:?}", again.findings.first());
            bad += 1;
        }
    }
    println!("{bad} bad");
}
