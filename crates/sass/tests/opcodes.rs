//! The table contradicts itself nowhere: no two rows are one, fields do not overlap, and the words of every row read
//! back from their texts. A failure names the row.

use std::collections::BTreeMap;

use roundonce_ir::Op;
use roundonce_oracle::generate::SplitMix64;
use roundonce_sass::{
    ARITHMETIC, FORMS, Generation, Lowering, Row, Style, asm_line_for, decode, decode_for, disasm_word,
    disasm_word_into, lower, parse_line, rows,
};

#[test]
fn the_family_is_whole() {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows().filter(|row| row.is_of(Generation::NEWEST)) {
        *names.entry(row.name).or_default() += 1;
    }
    assert_eq!((names.len(), names.values().sum::<usize>()), (MNEMONICS, ROWS));
    assert_eq!(rows().count(), ROWS + OLDER_ROWS);
    for arithmetic in &ARITHMETIC {
        assert!(names.contains_key(arithmetic.name), "{} has no row", arithmetic.name);
        let long = arithmetic.long_immediate;
        assert!(long.is_none_or(|long| names.contains_key(long)), "{}: {long:?} has no row", arithmetic.name);
        assert!(!arithmetic.source.is_empty(), "{} has no source", arithmetic.name);
    }
}

const MNEMONICS: usize = 154;
const ROWS: usize = 424;
/// Rows that only GPUs before the newest have.
const OLDER_ROWS: usize = 50;

#[test]
fn rows_are_consistent() {
    for row in rows() {
        assert_eq!(row.bits & !row.mask, 0, "{}: {:#018x}", row.name, row.bits);
        assert!(row.since <= row.until, "{}: {:#018x}", row.name, row.bits);
        for slot in row.slots() {
            let values = 1_usize << slot.bits.width();
            assert!(slot.texts.len() <= values, "{}: {} has more texts than values", row.name, slot.name);
            let reachable = (0..values as u64).filter(|value| reaches(row, slot.bits.put(*value), slot.bits.mask()));
            for value in reachable {
                let named = slot.texts.len() > value as usize || !slot.numbered.is_empty();
                assert!(named, "{} {:#018x}: {} has no text for {value}", row.name, row.bits, slot.name);
            }
        }
    }
}

/// Whether words of a row have these bits under a mask.
fn reaches(row: &Row, bits: u64, mask: u64) -> bool {
    let fits = (bits ^ row.bits) & mask & row.mask == 0;
    let known = bits | row.bits;
    fits && !row.refused.iter().any(|(refused, value)| refused & !(mask | row.mask) == 0 && known & refused == *value)
}

#[test]
fn every_row_has_words() {
    let mut random = SplitMix64(0);
    for (number, row) in rows().enumerate() {
        let mut met = 0;
        for _ in 0..400 {
            let word = random.next_bits() & !row.mask | row.bits;
            let Ok(instruction) = decode_for(word, row.until) else { continue };
            assert_eq!(instruction.word(), word);
            if !core::ptr::eq(instruction.row(), row) {
                // An earlier row is more special.
                continue;
            }
            met += 1;
            let text = print(word, row.until);
            let again = asm_line_for(&text, row.until);
            let again = again.unwrap_or_else(|finding| panic!("{word:#018x}: {text}: {finding}"));
            assert_eq!(print(again, row.until), text, "{word:#018x} and {again:#018x}");
        }
        assert!(met > 0, "row {number}, {} {:#018x}, is never met", row.name, row.bits);
    }
}

fn print(word: u64, generation: Generation) -> String {
    let mut text = String::new();
    disasm_word_into(word, Style::Exact, generation, &mut text).unwrap();
    text
}

#[test]
fn arithmetic_rows_are_lowered() {
    let mut seen = 0;
    for row in rows() {
        let Lowering::Arithmetic(arithmetic) = row.lowering else { continue };
        seen += 1;
        let instruction = decode(row.bits | 7 << 16).unwrap();
        let text = disasm_word(instruction.word(), Style::Exact).unwrap();
        let lowered = lower(&text, None).unwrap_or_else(|findings| panic!("{text}: {findings:?}"));
        lowered.program.verify().unwrap_or_else(|invalid| panic!("{text}: {invalid}"));
        let wanted = parse_line(&text).unwrap().instruction.recipe().unwrap();
        assert_eq!(wanted.operation.op, arithmetic.recipe.operation.op);
        let blocks = &lowered.program.kernels[0].blocks;
        let computed = blocks.iter().flat_map(|block| &block.instructions).any(
            |instruction| matches!(&instruction.op, Op::Float { operation, .. } if *operation == wanted.operation),
        );
        assert!(computed, "{text} is not in the program");
    }
    assert_eq!(seen, 4 + 1 + 3 + 1 + 3 + 1);
}

#[test]
fn arithmetic_rows_are_forms() {
    assert_eq!(FORMS.len(), ARITHMETIC.len());
    for (arithmetic, form) in ARITHMETIC.iter().zip(FORMS) {
        assert_eq!(form.mnemonic, arithmetic.name);
        assert_eq!(form.slots().count(), arithmetic.slots.len(), "{}", arithmetic.name);
        assert_eq!(form.syntax(), arithmetic.syntax());
    }
}
