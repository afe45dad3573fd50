//! Which conversions of narrow formats the assembler takes, and `check` with it: `vectors/edge/ptx/conversion-verdicts.tsv`.

#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::Version;
use roundonce_ptx::{Options, check_text};
use std::collections::{BTreeSet, HashMap};
use verdicts::{Differences, numbers, refused};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/conversion-verdicts.tsv");
const REGISTERS: &str = ".reg .b16 %h<8>;\n.reg .b32 %r<8>;\n.reg .b8 %b<8>;\n.reg .f32 %f<8>;\n";

fn axis(name: &str) -> Vec<&'static str> {
    let line = RECORD.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    line.expect("an axis").split(' ').collect()
}

/// The register of a type.
fn register(ty: &str, at: u32) -> String {
    let letter = match ty {
        "f32" => 'f',
        "f16x2" | "bf16x2" => 'r',
        "e2m1x2" => 'b',
        "e2m1x4" => 'h',
        _ if ty.ends_with("x4") => 'r',
        _ => 'h',
    };
    format!("%{letter}{at}")
}

/// Every spelling of the axes, and a line with it.
fn asked() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for to in axis("to") {
        for from in axis("from") {
            for rounding in axis("rounding") {
                for flags in 0..8 {
                    let word = |bit: u32, word: &'static str| if flags >> bit & 1 == 1 { word } else { "" };
                    let scaled = word(2, ".scaled::n2::ue8m0");
                    if !scaled.is_empty() && !matches!(rounding, "rn" | "rz") {
                        continue;
                    }
                    let rounded = if rounding == "-" { String::new() } else { format!(".{rounding}") };
                    let (satfinite, relu) = (word(0, ".satfinite"), word(1, ".relu"));
                    let spelling = format!("cvt{rounded}{satfinite}{relu}{scaled}.{to}.{from}");
                    let mut operands = vec![register(to, 0)];
                    match from {
                        "f32" if to.ends_with("x4") => operands.push("{%f1, %f2, %f3, %f4}".to_owned()),
                        "f32" => operands.extend(["%f1", "%f2"].map(str::to_owned)),
                        _ => operands.push(register(from, 1)),
                    }
                    operands.extend((rounding == "rs").then(|| "%r5".to_owned()));
                    operands.extend((!scaled.is_empty()).then(|| "%h2".to_owned()));
                    let line = format!("{spelling} {}", operands.join(", "));
                    all.push((spelling, line));
                }
            }
        }
    }
    all
}

#[test]
fn conversions_agree_with_the_assembler() {
    let mut places: Vec<(&str, Version)> = Vec::new();
    let mut taken: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for line in RECORD.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["place", target, version] => places.push((target, version.parse().expect("a version"))),
            ["taken", of, all] => taken.extend(all.split(' ').map(|spelling| (spelling, numbers(of)))),
            _ => {}
        }
    }
    let asked = asked();
    let lines: Vec<String> = asked.iter().map(|(_, line)| line.clone()).collect();
    let mut differences = Differences::new(|_| false);
    for (at, place) in places.iter().enumerate() {
        for ((spelling, _), is_refused) in asked.iter().zip(refused(REGISTERS, *place, &lines)) {
            let is_taken = taken.get(spelling.as_str()).is_some_and(|places| places.contains(&at));
            differences.add(|| format!("{spelling} on sm_{}, PTX {}", place.0, place.1), is_refused, is_taken);
        }
    }
    assert!(differences.cases > 70_000, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}

/// What a type that is none is called.
#[test]
fn an_unknown_type_is_named() {
    let text = ".version 9.2\n.target sm_100a\n.address_size 64\n.entry k () {\n.reg .b16 %h<2>; .reg .f32 %f<2>;\n\
                cvt.rn.e9m9x2.f32 %h0, %f0, %f1;\nret;\n}\n";
    let findings: Vec<String> =
        check_text(text, &Options::default()).into_iter().map(|finding| finding.message).collect();
    assert!(findings[0].starts_with("`.e9m9x2` is neither a type nor a modifier of `cvt`"), "{findings:?}");
}
