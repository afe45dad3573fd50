//! The assembler's verdicts on every spelling of the 16-bit and packed forms, by target and version:
//! `vectors/edge/ptx/half-verdicts.tsv`.

use roundonce_isa::Severity;
use roundonce_ptx::{Options, check_text};

const CORPUS: &str = include_str!("../../../vectors/edge/ptx/half-verdicts.tsv");

/// The bits of the registers that a spelling takes: of its types in order, the one type of all, or that of the result.
fn register(word: &str) -> &'static str {
    match word {
        "f32x2" => "q",
        "f16x2" | "bf16x2" => "r",
        _ => "h",
    }
}

fn operands(spelling: &str) -> String {
    let words: Vec<&str> = spelling.split('.').collect();
    let types: Vec<&str> = words.iter().copied().filter(|word| word.contains('6') || word.contains("32")).collect();
    let count = if words[0] == "fma" { 4 } else { 3 };
    (0..count).map(|at| format!("{}{at}", register(types.get(at).unwrap_or(&types[0])))).collect::<Vec<_>>().join(", ")
}

fn is_legal(spelling: &str, target: &str, version: &str) -> bool {
    let text = format!(
        ".version {version}\n.target sm_{target}\n.entry k () {{\n.reg .b16 h<4>; .reg .b32 r<4>; .reg .b64 q<4>;\n\
         {spelling} {};\nexit;\n}}\n",
        operands(spelling)
    );
    check_text(&text, &Options::default()).iter().all(|finding| finding.severity != Severity::Error)
}

#[test]
fn verdicts_agree_with_the_assembler() {
    let (mut cases, mut different) = (0, Vec::new());
    for line in CORPUS.lines().filter(|line| !line.starts_with('#')) {
        let [spelling, taken, refused] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        for (places, legal) in [(taken, true), (refused, false)] {
            for place in places.split_whitespace() {
                let (target, version) = place.split_once('/').expect("target/version");
                cases += 1;
                if is_legal(spelling, target, version) != legal {
                    different.push(format!("{spelling} on sm_{target}, PTX {version}: the assembler says {legal}"));
                }
            }
        }
    }
    assert!(different.is_empty(), "{} of {cases} differ:\n{}", different.len(), different.join("\n"));
}
