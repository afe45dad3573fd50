//! Since when the assembler takes the forms of asynchronous instructions, and `check` with it:
//! `vectors/edge/ptx/asynchronous-verdicts.tsv`.

#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::Version;
use std::collections::BTreeSet;
use verdicts::{Differences, numbers, refused};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/asynchronous-verdicts.tsv");

#[derive(Default)]
struct Record {
    registers: String,
    places: Vec<(&'static str, Version)>,
    /// Where, and what.
    taken: Vec<(BTreeSet<usize>, Vec<&'static str>)>,
}

fn record() -> Record {
    let mut record = Record::default();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["registers", all] => {
                let pairs = all.split(' ').map(|pair| pair.split_once('=').expect("a pair"));
                record.registers = pairs.map(|(letter, ty)| format!(".reg .{ty} %{letter}<8>;\n")).collect();
            }
            ["place", place] => {
                let (target, version) = place.split_once(' ').expect("a target and a version");
                record.places.push((target, version.parse().expect("a version")));
            }
            ["taken", places, all] => record.taken.push((numbers(places), all.split("; ").collect())),
            _ => panic!("{line}"),
        }
    }
    record
}

/// Every form, at every place: one version and one target below the first, too.
#[test]
fn forms_agree_with_the_assembler() {
    let record = record();
    let taken: Vec<(&BTreeSet<usize>, &str)> =
        record.taken.iter().flat_map(|(places, all)| all.iter().map(move |one| (places, *one))).collect();
    let lines: Vec<String> = taken.iter().map(|(_, line)| (*line).to_owned()).collect();
    let mut differences = Differences::new(|_| false);
    for (at, place) in record.places.iter().enumerate() {
        for ((places, line), is_refused) in taken.iter().zip(refused(&record.registers, *place, &lines)) {
            let text = || format!("{line} on sm_{}, PTX {}", place.0, place.1);
            differences.add(text, is_refused, places.contains(&at));
        }
    }
    assert!(differences.cases > 150_000, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}
