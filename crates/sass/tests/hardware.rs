//! What an H200 gave for machine code that no PTX is made into: `vectors/hw/h200-580.159.04-2026-11-27/words.tsv.gz`, which
//! `dev/gpu/words.py` made by replacing one instruction of a cubin. A line is an instruction, what it does to its operands, a, b, c and
//! the result, or that the machine stops at it.

use flate2::read::GzDecoder;
use roundonce_exec::Engine;
use roundonce_sass::modern::{Target, lower};
use roundonce_sass::{Lowered, NOT_COMPUTED, Name};
use std::collections::BTreeMap;
use std::io::Read;

mod lanes;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/hw/h200-580.159.04-2026-11-27/words.tsv.gz");

/// Registers of the result and of a, b and c; an f64 takes the one behind too.
const RESULT: u8 = 20;
const OPERANDS: [(char, u8); 3] = [('a', 2), ('b', 4), ('c', 6)];

/// An instruction and its operands, as the table has them: a, b, c and d of each line, none where it is illegal.
fn table() -> BTreeMap<(String, String), Vec<[u64; 4]>> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(TABLE).unwrap()).read_to_string(&mut text).unwrap();
    let mut table = BTreeMap::<_, Vec<_>>::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let rows = table.entry((fields[0].to_owned(), fields[1].to_owned())).or_default();
        if fields[2] != "illegal" {
            rows.push([2, 3, 4, 5].map(|at| u64::from_str_radix(fields[at], 16).unwrap()));
        }
    }
    table
}

/// The statement: letters that stand alone are registers.
fn statement(instruction: &str, operands: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut text = format!("{instruction} R{RESULT}, ");
    for (at, c) in operands.char_indices() {
        let before = operands[..at].chars().next_back().is_some_and(is_word);
        let after = operands[at + 1..].chars().next().is_some_and(is_word);
        match OPERANDS.iter().find(|(name, _)| *name == c && !before && !after) {
            Some((_, register)) => text.push_str(&format!("R{register}")),
            None => text.push(c),
        }
    }
    text
}

/// The results of the lanes.
fn left(lowered: &Lowered, rows: &[[u64; 4]], engine: Engine) -> Vec<u64> {
    let word = |name: Name, row: &[u64; 4]| match name {
        Name::Register(number) => {
            let at = OPERANDS.iter().position(|(_, low)| *low == number & !1).unwrap();
            (row[at] >> (32 * u32::from(number & 1))) as u32
        }
        // What was seen was seen where P0 is true.
        _ => 1,
    };
    let mut results = vec![0; rows.len()];
    for (name, words) in lanes::run(engine, lowered, rows.len(), |name, lane| word(name, &rows[lane])) {
        let shift = if name == Name::Register(RESULT) { 0 } else { 32 };
        for (result, word) in results.iter_mut().zip(words) {
            *result |= u64::from(word) << shift;
        }
    }
    results
}

#[test]
fn machine_code_leaves_what_an_h200_left() {
    let (mut computed, mut illegal, mut unknown) = (0, 0, 0);
    for ((instruction, operands), rows) in table() {
        let text = statement(&instruction, &operands);
        match lower(&text, None, Target::new(90).unwrap()) {
            Ok(lowered) => {
                assert!(!rows.is_empty(), "{text} is illegal");
                for engine in [Engine::Interpreter, Engine::Native] {
                    for (row, found) in rows.iter().zip(left(&lowered, &rows, engine)) {
                        assert_eq!(found, row[3], "{text}, {engine:?}: {row:x?}");
                    }
                }
                computed += 1;
            }
            Err(findings) => {
                assert_eq!(findings[0].code, NOT_COMPUTED, "{text}: {findings:?}");
                assert_eq!(findings[0].message.contains("illegal"), rows.is_empty(), "{text}: {findings:?}");
                // The scales of FMUL.
                assert!(rows.is_empty() || text.starts_with("FMUL"), "{text}: {findings:?}");
                *(if rows.is_empty() { &mut illegal } else { &mut unknown }) += 1;
            }
        }
    }
    assert_eq!((computed, illegal, unknown), (187, 50, 144));
}

/// Before sm_86 the conversion is one opcode with the packed sum; nothing was measured there.
#[test]
fn a_half_becomes_an_f32_on_every_generation() {
    for number in [70, 75, 80, 86, 90, 100, 120] {
        let lowered = lower("HADD2.F32 R20, -RZ, -|R6|.H1_H1", None, Target::new(number).unwrap()).unwrap();
        let rows =
            [[0, 0, 0x3c01_0000, 0xbf80_2000], [0, 0, 0x8001_7fff, 0xb380_0000], [0, 0, 0xfe00_0000, 0x7fff_ffff]];
        let found = left(&lowered, &rows, Engine::Interpreter);
        assert_eq!(found, rows.map(|row| row[3]), "sm_{number}");
    }
}
