//! Every spelling of every form, against the exact-rational judge: thousands of generated operands each, and the
//! vectors kept in vectors/edge/forms.txt.
//!
//! What a spelling means is read by a second reader (`reader/`) that knows nothing of the rows, so that a wrong row is found
//! too. `ROUNDONCE_BLESS=1 cargo test -p roundonce --test forms` writes the vectors anew, from the judge.

mod reader;

use std::collections::BTreeMap;

use roundonce::{Batch, Target, Value, eval, instruction};
use roundonce_oracle::{Layout, condition_codes};

use reader::{Reading, generator, judged, read, spellings, taken, triple};

#[test]
fn every_spelling_agrees_with_the_judge() {
    for (index, spelling) in spellings().iter().enumerate() {
        let reading = read(spelling);
        let found = instruction(spelling, &Target::default()).unwrap();
        assert_eq!(found.recipe.components as usize, reading.lanes, "{spelling}");
        let mut generator = generator(&reading, index as u64);
        for _ in 0..2_000 / reading.lanes {
            let triples: Vec<[u64; 3]> = (0..reading.lanes).map(|_| triple(&reading, &mut generator)).collect();
            let column = |place: usize| Value::of(triples.iter().map(|triple| triple[place]));
            let operands = taken(reading.spec.shape, [column(0), column(1), column(2)]);
            let result = eval(&found, &operands, &Default::default());
            let mut all_flags = 0;
            for (lane, triple) in triples.iter().enumerate() {
                let (bits, flags) = judged(&reading, *triple);
                all_flags |= flags;
                assert_eq!(result.value.components()[lane], bits, "{spelling} {triple:x?}");
            }
            assert_eq!(result.flags.bits(), all_flags, "flags of {spelling} {triples:x?}");
            let codes = reading.codes.then(|| condition_codes(reading.spec.to, judged(&reading, triples[0]).0));
            assert_eq!(result.codes.map(|codes| codes.bits()), codes, "codes of {spelling} {triples:x?}");
        }
    }
}

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/edge/forms.txt");
const VECTORS_EACH: usize = 4;

/// The line that `eval -` should print for a spelling and its components' operands.
fn vector_line(spelling: &str, reading: &Reading, triples: &[[u64; 3]]) -> String {
    let packed = |layout: Layout, bits: &dyn Fn(usize) -> u64| {
        let digits = layout.width() as usize / 4;
        let lanes: String = (0..triples.len()).rev().map(|lane| format!("{:0digits$x}", bits(lane))).collect();
        format!("0x{lanes}")
    };
    let spec = &reading.spec;
    let operand = |place: usize| packed(spec.layouts()[place], &|lane| triples[lane][place]);
    let operands = taken(spec.shape, [0, 1, 2]).into_iter().map(operand).collect::<Vec<_>>().join(" ");
    let result = packed(spec.to, &|lane| judged(reading, triples[lane]).0);
    let codes = match condition_codes(spec.to, judged(reading, triples[0]).0) {
        _ if !reading.codes => "",
        0 => " ----",
        1 => " Z---",
        2 => " -S--",
        _ => " ZS--",
    };
    format!("{spelling} {operands} = {result}{codes}\n")
}

/// The lines that are kept: a spelling's vectors stay as they are, so that a new row adds lines and changes none.
fn blessed(kept: &str) -> String {
    let mut text = String::from(
        "# Every spelling of every form, a line a case: INSTRUCTION OPERAND... = RESULT [CODES], in hex bits.\n\
         # Judge: exact rationals (dev/oracle). Written by ROUNDONCE_BLESS=1 cargo test -p roundonce --test forms.\n",
    );
    for spelling in spellings() {
        let has = |line: &&str| line.split_whitespace().next() == Some(&spelling);
        let known: Vec<&str> = kept.lines().filter(has).collect();
        for line in &known {
            text.push_str(line);
            text.push('\n');
        }
        if known.is_empty() {
            text.push_str(&vectors(&spelling));
        }
    }
    text
}

/// New vectors of a spelling, on operands that its name decides.
fn vectors(spelling: &str) -> String {
    let reading = read(spelling);
    let seed = spelling
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut generator = generator(&reading, seed);
    let mut text = String::new();
    for _ in 0..VECTORS_EACH {
        let triples: Vec<[u64; 3]> = (0..reading.lanes).map(|_| triple(&reading, &mut generator)).collect();
        text.push_str(&vector_line(spelling, &reading, &triples));
    }
    text
}

#[test]
fn every_form_has_vectors() {
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        let kept = std::fs::read_to_string(VECTORS).unwrap_or_default();
        std::fs::write(VECTORS, blessed(&kept)).unwrap();
    }
    let text = std::fs::read_to_string(VECTORS).unwrap();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut batch = Batch::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (case, expected) = line.split_once(" = ").unwrap();
        let mut found = String::new();
        batch.line(case, &mut found).unwrap();
        assert_eq!(found, expected, "{case}");
        *count.entry(case.split_whitespace().next().unwrap()).or_default() += 1;
    }
    let without: Vec<String> =
        spellings().into_iter().filter(|spelling| !count.contains_key(spelling.as_str())).collect();
    assert!(without.is_empty(), "these spellings have no vector in {VECTORS}: {without:?}");
}
