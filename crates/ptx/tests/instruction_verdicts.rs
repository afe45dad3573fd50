//! What the assembler takes outside the multiply-add family, and `check` with it:
//! `vectors/edge/ptx/instruction-verdicts.tsv`.

#[path = "common/verdicts.rs"]
mod verdicts;

use roundonce_isa::Version;
use std::collections::{BTreeMap, BTreeSet};
use verdicts::{Differences, numbers, refused};

const RECORD: &str = include_str!("../../../vectors/edge/ptx/instruction-verdicts.tsv");

/// Opcodes, modifiers and types; the operands.
struct Axes {
    slots: Vec<Vec<&'static str>>,
    operands: Vec<Vec<&'static str>>,
}

#[derive(Default)]
struct Record {
    registers: String,
    letters: BTreeMap<&'static str, char>,
    kinds: Vec<&'static str>,
    axes: Vec<Axes>,
    places: Vec<(&'static str, Version)>,
    /// Where, and what.
    taken: Vec<(BTreeSet<usize>, Vec<&'static str>)>,
    /// What each operand takes, and whose they are.
    operands: Vec<(Vec<BTreeSet<&'static str>>, Vec<&'static str>)>,
    discards: BTreeSet<&'static str>,
    /// What was asked for with `_`.
    asked: Vec<&'static str>,
}

fn record() -> Record {
    let mut record = Record::default();
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once('\t').expect("a kind");
        let (first, second) = rest.split_once('\t').unwrap_or((rest, ""));
        let pairs = |text: &'static str| text.split(' ').map(|pair| pair.split_once('=').expect("a pair"));
        let list = |text: &'static str| text.split("; ").collect::<Vec<_>>();
        match kind {
            "registers" => {
                let declared = pairs(first).map(|(letter, ty)| format!(".reg .{ty} %{letter}<8>;\n"));
                record.registers = declared.collect();
            }
            "letters" => {
                let letter = |text: &'static str| text.chars().next().expect("a letter");
                record.letters = pairs(first).map(|(ty, text)| (ty, letter(text))).collect();
            }
            "kinds" => record.kinds = first.split(' ').collect(),
            "axes" => {
                let mut slots: Vec<&str> = first.split(" / ").collect();
                let operands = slots.pop().expect("operands").split(' ').map(|one| one.split('+').collect()).collect();
                let slots = slots.iter().map(|slot| slot.split(',').collect()).collect();
                record.axes.push(Axes { slots, operands });
            }
            "place" => {
                let (target, version) = first.split_once(' ').expect("a target and a version");
                record.places.push((target, version.parse().expect("a version")));
            }
            "taken" => record.taken.push((numbers(first), list(second))),
            "operands" => {
                let places = first.split("; ").map(|place| place.split_whitespace().collect()).collect();
                record.operands.push((places, list(second)));
            }
            "discards" => record.discards = list(first).into_iter().collect(),
            "asked" => record.asked = list(first),
            _ => panic!("{line}"),
        }
    }
    record
}

impl Axes {
    /// Every instruction of the cross product.
    fn instructions(&self, letters: &BTreeMap<&str, char>) -> Vec<String> {
        let mut spellings = vec![String::new()];
        for slot in &self.slots {
            let with =
                |text: &String| slot.iter().map(|word| text.clone() + word.trim_matches('-')).collect::<Vec<_>>();
            spellings = spellings.iter().flat_map(with).collect();
        }
        let written = |spelling: &String| {
            let words: Vec<&str> = spelling.split('.').skip(1).collect();
            let types: Vec<char> = words.iter().filter_map(|word| letters.get(word).copied()).collect();
            let with = |operands: &Vec<&str>| {
                let codes = operands.iter().filter(|code| **code != "none").enumerate();
                let operands: Vec<String> = codes.map(|(at, code)| operand(code, at, &types, &words)).collect();
                format!("{spelling} {}", operands.join(", ")).trim_end().to_owned()
            };
            self.operands.iter().map(with).collect::<Vec<_>>()
        };
        spellings.iter().flat_map(written).collect()
    }
}

/// An operand as dev/verdicts/axes.txt names it.
fn operand(code: &str, at: usize, types: &[char], words: &[&str]) -> String {
    let wide = |letter| match letter {
        'b' => 'h',
        'h' => 'r',
        _ => 'q',
    };
    let second = if code.ends_with('|') { "|%p1" } else { "" };
    match code.chars().next().expect("a code") {
        'A' => "[%q1]".to_owned(),
        'I' => "1".to_owned(),
        'P' => "%p0|%p1".to_owned(),
        'W' if words.contains(&"wide") && types[0] != 'p' && types[0] != 'Q' => format!("%{}{at}", wide(types[0])),
        'W' => format!("%{}{at}", types[0]),
        'V' => {
            let count = words.iter().find_map(|word| word.strip_prefix('v')?.parse::<usize>().ok()).unwrap_or(1);
            let named: Vec<String> = (0..count).map(|each| format!("%{}{each}", types[0])).collect();
            if count == 1 { named.concat() } else { format!("{{{}}}", named.join(",")) }
        }
        digit @ '0'..='9' => format!("%{}{at}{second}", types[digit as usize - '0' as usize]),
        letter => format!("%{letter}{at}{second}"),
    }
}

/// What the assembler takes against its documents, and `check` refuses: a register of two halves for a predicate, a
/// fourth operand of an atomic operation that has three, an address `_`; and a narrow address in global memory, which
/// the assembler refuses at the module's end, not at the line that the record has.
fn is_slip(line: &str) -> bool {
    let line = line.split(" on sm_").next().unwrap_or(line);
    let (spelling, operands) = line.split_once(' ').unwrap_or((line, ""));
    let has = |word: &str| spelling.contains(word);
    let has_extra = [".and", ".or", ".xor", ".exch"].into_iter().any(has) && !has(".L2::cache_hint");
    let is_global = ![".shared", ".local", ".const", ".param"].into_iter().any(has);
    is_global && operands.contains("[%r1")
        // It refuses the module for it, and no line.
        || operands == "%r0, G"
        || has(".pred") && operands.contains("%x1")
        || spelling.starts_with("atom.") && has_extra && operands.split(", ").count() == 4
        || spelling.starts_with("red.") && operands.starts_with('_')
}

/// What is taken anywhere, at every place.
#[test]
fn spellings_agree_with_the_assembler() {
    let record = record();
    let taken: Vec<(&BTreeSet<usize>, &str)> =
        record.taken.iter().flat_map(|(places, all)| all.iter().map(move |one| (places, *one))).collect();
    let lines: Vec<String> = taken.iter().map(|(_, line)| (*line).to_owned()).collect();
    let mut differences = Differences::new(is_slip);
    for (at, place) in record.places.iter().enumerate() {
        for ((places, line), is_refused) in taken.iter().zip(refused(&record.registers, *place, &lines)) {
            let text = || format!("{line} on sm_{}, PTX {}", place.0, place.1);
            differences.add(text, is_refused, places.contains(&at));
        }
    }
    assert!(differences.cases > 1_000_000, "{} cases: the record is whole", differences.cases);
    differences.judge(0);
}

/// What is taken nowhere. Missed: constants that are no number of a barrier and no multiple of a warp.
#[test]
fn what_is_no_form_is_refused() {
    let record = record();
    let taken: BTreeSet<&str> = record.taken.iter().flat_map(|(_, all)| all.iter().copied()).collect();
    let all: BTreeSet<String> = record.axes.iter().flat_map(|axes| axes.instructions(&record.letters)).collect();
    assert!(taken.iter().all(|line| all.contains(*line)), "the axes are the record's");
    let lines: Vec<String> = all.into_iter().filter(|line| !taken.contains(line.as_str())).collect();
    assert!(lines.len() > 40_000, "{}: the record is whole", lines.len());
    for place in [("107a", Version(9, 5)), ("90", Version(7, 8)), ("50", Version(4, 0))] {
        let mut differences = Differences::new(is_slip);
        for (line, is_refused) in lines.iter().zip(refused(&record.registers, place, &lines)) {
            differences.add(|| format!("{line} on sm_{}, PTX {}", place.0, place.1), is_refused, false);
        }
        differences.judge(1);
    }
}

/// Every kind of register, constant and address for every operand of what sm_107a takes. Missed: constants out of an
/// operand's range, a constant predicate beside bf16, the address of a function in a state space.
#[test]
fn operands_agree_with_the_assembler() {
    let record = record();
    let (mut lines, mut taken) = (Vec::new(), Vec::new());
    for (places, instructions) in &record.operands {
        for instruction in instructions {
            let (spelling, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
            let operands: Vec<&str> = operands.split(", ").filter(|operand| !operand.is_empty()).collect();
            for (place, takes) in places.iter().enumerate().take(operands.len()) {
                for kind in record.kinds.iter().filter(|kind| place == 0 || !kind.contains('|')) {
                    let mut operands = operands.clone();
                    operands[place] = kind;
                    lines.push(format!("{spelling} {}", operands.join(", ")));
                    taken.push(takes.contains(kind));
                }
            }
        }
    }
    assert!(lines.len() > 400_000, "{}: the record is whole", lines.len());
    let mut differences = Differences::new(is_slip);
    let found = refused(&record.registers, ("107a", Version(9, 5)), &lines);
    for ((line, is_refused), is_taken) in lines.iter().zip(found).zip(taken) {
        differences.add(|| line.clone(), is_refused, is_taken);
    }
    differences.judge(1);
}

/// A result that is thrown away.
#[test]
fn results_are_thrown_away_where_the_assembler_lets_them() {
    let record = record();
    let with = |line: &&str| {
        let (spelling, operands) = line.split_once(' ').expect("operands");
        // The first operand may be several in braces.
        let end = operands.find('}').or_else(|| operands.find(',').map(|at| at - 1)).unwrap_or(operands.len() - 1);
        format!("{spelling} _{}", &operands[end + 1..])
    };
    let lines: Vec<String> = record.asked.iter().map(with).collect();
    assert!(lines.len() > 100, "{}: the record is whole", lines.len());
    let mut differences = Differences::new(is_slip);
    let found = refused(&record.registers, ("107a", Version(9, 5)), &lines);
    for ((line, is_refused), asked) in lines.iter().zip(found).zip(&record.asked) {
        differences.add(|| line.clone(), is_refused, record.discards.contains(asked));
    }
    differences.judge(0);
}
