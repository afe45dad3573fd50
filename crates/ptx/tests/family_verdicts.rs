//! What the assembler takes of the multiply-add family, and `check` with it: `vectors/edge/ptx/family-verdicts.tsv`.

use std::collections::{BTreeMap, BTreeSet};

use roundonce_isa::{Location, Severity, Version};
use roundonce_ptx::{Options, check_text};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/family-verdicts.tsv");

/// The first and last PTX of a place, as `8.6-8.8` or `9.5`.
type Span = (Version, Version);
/// Targets, and their versions.
type Targets = BTreeMap<&'static str, Vec<Span>>;

#[derive(Default)]
struct Record {
    registers: String,
    kinds: Vec<&'static str>,
    targets: Targets,
    /// Where, and what.
    taken: Vec<(Targets, Vec<&'static str>)>,
    refused: Vec<String>,
    /// What each operand takes, and whose they are.
    operands: Vec<(Vec<BTreeSet<&'static str>>, Vec<&'static str>)>,
}

fn spans(text: &str) -> Vec<Span> {
    let version = |text: &str| text.parse().expect("a version");
    let span = |word: &str| match word.split_once('-') {
        Some((first, last)) => (version(first), version(last)),
        None => (version(word), version(word)),
    };
    text.split_whitespace().map(span).collect()
}

fn holds(spans: &[Span], version: Version) -> bool {
    spans.iter().any(|(first, last)| (*first..=*last).contains(&version))
}

fn record() -> Record {
    let mut record = Record::default();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once('\t').expect("a kind");
        let (first, second) = rest.split_once('\t').unwrap_or((rest, ""));
        let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        match kind {
            "registers" => {
                let pairs = words(first).into_iter().map(|pair| pair.split_once('=').expect("letter=type"));
                record.registers = pairs.map(|(letter, ty)| format!(".reg .{ty} %{letter}<4>;\n")).collect();
            }
            "kinds" => record.kinds = words(first),
            "target" => drop(record.targets.insert(first, spans(second))),
            "taken" => {
                let places = first.split("; ").map(|place| place.split_once(' ').expect("target versions"));
                record.taken.push((places.map(|(target, text)| (target, spans(text))).collect(), words(second)));
            }
            "refused" => record.refused.extend(words(second).into_iter().map(|head| format!("{head}{first}"))),
            "operands" => {
                let places = first.split("; ").map(|place| place.split_whitespace().collect()).collect();
                record.operands.push((places, words(second)));
            }
            _ => panic!("{line}"),
        }
    }
    record
}

/// `add.f16/hhh` as an instruction.
fn instruction(written: &str) -> String {
    let (spelling, letters) = written.split_once('/').expect("operands");
    let operand = |(at, letter)| match letter {
        'F' => "{%f0,%f1,%f2,%f3}".to_owned(),
        letter => format!("%{letter}{at}"),
    };
    let operands: Vec<String> = letters.chars().enumerate().map(operand).collect();
    format!("{spelling} {};", operands.join(", "))
}

/// Which lines of a module are refused, each an instruction. `None`: all of it.
fn refused(registers: &str, target: &str, version: Version, lines: &[String]) -> Option<Vec<bool>> {
    // A `.f16x2` register has rules of its own, on targets before sm_53.
    let head = format!(".version {version}\n.target sm_{target}\n.address_size 64\n.entry k () {{\n{registers}");
    let head = if matches!(target, "50" | "52") { head.replace(".reg .f16x2 %x<4>;\n", "") } else { head };
    let (mut text, mut starts) = (head, Vec::new());
    for line in lines {
        starts.push(text.len());
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("ret;\n}\n");
    let mut refused = vec![false; lines.len()];
    for finding in check_text(&text, &Options::default()) {
        if finding.severity == Severity::Error {
            let Location::Span { start, .. } = finding.location else { return None };
            let line = starts.partition_point(|begin| *begin <= start).checked_sub(1)?;
            refused[line] = true;
        }
    }
    Some(refused)
}

fn versions() -> Vec<Version> {
    let last = [(4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, 5)];
    last.into_iter().flat_map(|(major, last)| (0..=last).map(move |minor| Version(major, minor))).collect()
}

/// Every spelling that is taken anywhere, at every place.
#[test]
fn spellings_agree_with_the_assembler() {
    let record = record();
    let lines: Vec<String> =
        record.taken.iter().flat_map(|(_, words)| words.iter().map(|word| instruction(word))).collect();
    let (mut cases, mut different) = (0, Vec::new());
    for (target, known) in &record.targets {
        for version in versions() {
            let found = refused(&record.registers, target, version, &lines);
            if !holds(known, version) {
                assert!(found.is_none(), "the assembler knows no sm_{target} in PTX {version}");
                continue;
            }
            let found = found.unwrap_or_else(|| panic!("sm_{target}, PTX {version}"));
            let expected = record.taken.iter().flat_map(|(places, words)| {
                let taken = places.get(target).is_some_and(|spans| holds(spans, version));
                words.iter().map(move |_| !taken)
            });
            for ((line, found), expected) in lines.iter().zip(found).zip(expected) {
                cases += 1;
                if found != expected {
                    different
                        .push(format!("{line} on sm_{target}, PTX {version}: refused by the assembler: {expected}"));
                }
            }
        }
    }
    assert!(cases > 200_000, "{cases} cases: the record is whole");
    assert!(different.is_empty(), "{} of {cases} differ:\n{}", different.len(), different.join("\n"));
}

/// What is taken nowhere.
#[test]
fn what_is_no_form_is_refused() {
    let record = record();
    let lines: Vec<String> = record.refused.iter().map(|word| instruction(word)).collect();
    assert!(lines.len() > 5_000, "{}: the record is whole", lines.len());
    for (target, version) in
        [("107a", Version(9, 5)), ("121", Version(8, 8)), ("90", Version(7, 8)), ("53", Version(4, 2))]
    {
        let found = refused(&record.registers, target, version, &lines).expect("a known target");
        let wrong: Vec<&String> =
            lines.iter().zip(found).filter(|(_, refused)| !refused).map(|(line, _)| line).collect();
        assert!(wrong.is_empty(), "sm_{target}, PTX {version}: {wrong:#?}");
    }
}

/// Two pairs of types where the assembler takes registers of the wrong kind or width, which no document has: `check`
/// refuses them.
fn is_slip(spelling: &str, kind: &str) -> bool {
    let kinds: &[&str] = match spelling {
        _ if spelling.ends_with(".e2m1x2.bf16x2") => &["%u1", "%s1", "%x1", "%f1", "%p1", "0f3F800000"],
        _ if spelling.starts_with("cvt.rs")
            && spelling.ends_with(".f16x2.f32")
            && !spelling.ends_with(".bf16x2.f32") =>
        {
            &["%q1"]
        }
        _ => &[],
    };
    kinds.contains(&kind)
}

/// Every kind of register and constant for every operand of what sm_107a takes.
#[test]
fn operands_agree_with_the_assembler() {
    let record = record();
    let letters: BTreeMap<&str, &str> =
        record.taken.iter().flat_map(|(_, words)| words).filter_map(|word| word.split_once('/')).collect();
    let (mut lines, mut expected, mut slips) = (Vec::new(), Vec::new(), 0);
    for (places, spellings) in &record.operands {
        for spelling in spellings {
            let plain = instruction(&format!("{spelling}/{}", letters[spelling]));
            let (_, operands) = plain.trim_end_matches(';').split_once(' ').expect("operands");
            let operands: Vec<&str> = operands.split(", ").collect();
            assert_eq!(operands.len(), places.len(), "{spelling}");
            for (place, takes) in places.iter().enumerate() {
                for kind in &record.kinds {
                    let mut operands = operands.clone();
                    operands[place] = kind;
                    lines.push(format!("{spelling} {};", operands.join(", ")));
                    let is_slip = takes.contains(kind) && is_slip(spelling, kind);
                    slips += u32::from(is_slip);
                    expected.push(!takes.contains(kind) || is_slip);
                }
            }
        }
    }
    assert_eq!(slips, 4 * 6 + 4 * 3, "registers taken by mistake");
    assert!(lines.len() > 20_000, "{}: the record is whole", lines.len());
    let found = refused(&record.registers, "107a", Version(9, 5), &lines).expect("a known target");
    let wrong = lines.iter().zip(found.iter().zip(&expected)).filter(|(_, (found, expected))| found != expected);
    let wrong: Vec<String> = wrong.map(|(line, (_, expected))| format!("{line} refused: {expected}")).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
