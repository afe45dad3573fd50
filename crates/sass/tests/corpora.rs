//! Every row of the judge's files: words print as nvdisasm 12.8 prints them, texts assemble back to the words.

use roundonce_sass::{
    Assembly, Control, Generation, Layout, Listing, Style, asm_file, asm_line, decode, decode_for, disasm_bundles,
    disasm_word, fields,
};

mod rows;
use rows::{read, word};

fn nvdisasm(word: u64) -> String {
    disasm_word(word, Style::Nvdisasm).unwrap_or_else(|finding| format!("{word:#018x}: {finding}"))
}

/// Whether a text shows less than its word holds: NaN immediates have no payload in it.
fn loses_payload(text: &str) -> bool {
    text.contains("QNAN")
}

/// Asserts both directions for a word and its text.
fn both_ways(word: u64, text: &str) {
    assert_eq!(nvdisasm(word), text, "{word:#018x}");
    let assembled = asm_line(text).unwrap_or_else(|finding| panic!("{text}: {finding}"));
    let ignored = decode(word).unwrap().ignored_bits();
    if loses_payload(text) {
        assert_eq!(nvdisasm(assembled), text);
    } else {
        assert_eq!(assembled, word & !ignored, "{text}: {assembled:#018x}, not {word:#018x}");
    }
    // The default style loses nothing that the word's form uses.
    let exact = disasm_word(word, Style::Exact).unwrap();
    assert_eq!(asm_line(&exact), Ok(word & !ignored), "{exact}");
    assert_eq!(asm_line(&disasm_word(word, Style::Hex).unwrap()), Ok(word & !ignored));
    // With the word beside it, a text gives all of it back.
    assert_eq!(asm_line(&format!("        /*0008*/   {text}  /* {word:#018x} */")), Ok(word));
}

#[test]
fn random_words() {
    let rows = read("pairs.tsv");
    assert_eq!(rows.len(), 3020);
    for row in &rows {
        both_ways(word(&row[1]), &row[2]);
    }
}

#[test]
fn constants() {
    let rows = read("const.tsv");
    assert_eq!(rows.len(), 816);
    for row in rows {
        both_ways(word(&row[0]), &row[1]);
    }
}

#[test]
fn short_immediates() {
    let rows = read("imm20.tsv");
    assert_eq!(rows.len(), 1726);
    for row in rows {
        both_ways(word(&row[0]), &row[4]);
        let word = word(&row[0]);
        assert_eq!(fields::IMMEDIATE_LOW.get(word), rows::word(&row[1]));
    }
}

#[test]
fn long_immediates() {
    let rows = read("imm32.tsv");
    assert_eq!(rows.len(), 2564);
    for row in rows {
        both_ways(word(&row[1]), &row[2]);
        assert_eq!(fields::IMMEDIATE_32.get(word(&row[1])), word(&row[0]));
    }
}

#[test]
fn decimals() {
    let rows = read("decimals.tsv");
    assert!(rows.len() > 1500);
    for row in rows {
        let word = 0x0c00_0000_0007_0008 | fields::IMMEDIATE_32.put(word(&row[0]));
        both_ways(word, &format!("FFMA32I R8, R0, {}, R8;", row[1]));
    }
}

#[test]
fn flipped_bits() {
    let rows = read("bitflips.tsv");
    assert_eq!(rows.len(), 325);
    for row in rows {
        let (word, text) = (word(&row[2]), &row[3]);
        let mnemonic = text.split([' ', '.']).find(|part| !part.starts_with('@')).unwrap();
        // The judge was asked for SM50.
        match decode_for(word, Generation::Sm50) {
            Ok(instruction) if text.starts_with("ERR") => panic!("{word:#018x} is {instruction}"),
            Ok(_) => both_ways(word, text),
            Err(error) => {
                assert_eq!(mnemonic, "ERR", "{word:#018x} is {text}");
                let message = error.to_string();
                assert!(message.contains("opcode") || message.contains("is one from sm_"), "{message}");
            }
        }
    }
}

#[test]
fn every_opcode() {
    for row in read("opcodes.tsv") {
        for low in [0, 0x0055_5555_5555_5555, (1 << 55) - 1] {
            let word = word(&row[0]) << 55 | low;
            let mnemonic = decode(word).map_or("other", |instruction| instruction.mnemonic());
            let mnemonic = if mnemonic.starts_with("FFMA") { mnemonic } else { "other" };
            assert_eq!(mnemonic, row[1], "{word:#018x}");
        }
    }
}

/// The three instructions of every row of control.tsv, without their registers' reuse.
const BUNDLE: [u64; 3] = [0x5980_0380_0067_0008, 0x5980_0380_0067_0109, 0x5980_0380_0067_020a];

#[test]
fn control_words() {
    let rows = read("control.tsv");
    assert_eq!(rows.len(), 180);
    for row in rows {
        let control = word(&row[0]);
        let words = [control, BUNDLE[0], BUNDLE[1], BUNDLE[2]];
        let layout = Layout { style: Style::Nvdisasm, ..Layout::default() };
        let text = disasm_bundles(&words, &layout).unwrap();
        let legal = row[4].is_empty();
        if legal {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines, row[1..4], "{control:#018x}");
        }
        // With its words a listing is the bundle again, legal or not.
        let listing = disasm_bundles(&words, &Layout::NVDISASM_HEX).unwrap();
        let assembly = asm_file(&listing).unwrap_or_else(|findings| panic!("{control:#018x}: {findings:?}"));
        assert_eq!(assembly.bundles(), [words], "{listing}");
        let codes: Vec<&str> = assembly.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes.is_empty(), legal, "{control:#018x}: {codes:?} but {}", row[4]);
        let faults = Control(control).slots().iter().flat_map(|slot| slot.faults()).count();
        if row[4].contains("Unrecognized operation") {
            assert!(faults > 0, "{control:#018x}");
        }
    }
}

#[test]
fn reuse_flags() {
    let rows = read("reuse.tsv");
    assert_eq!(rows.len(), 160);
    for row in rows {
        let slot = Control(word(&row[0])).slots()[0];
        let mut text = String::new();
        decode(word(&row[1])).unwrap().write(Style::Nvdisasm, Some(slot), &mut text);
        assert_eq!(text, row[2]);
        assert_eq!(asm_line(&text), Ok(word(&row[1])));
    }
}

fn listing_file(name: &str) -> String {
    // The judge's first line heads the file; ours does not.
    let text = std::fs::read_to_string(rows::path(name)).unwrap();
    text.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn whole_listings() {
    let judge = listing_file("listing.sass");
    let assembly: Assembly = asm_file(&judge).unwrap();
    let words: Vec<u64> = assembly.bundles().into_iter().flatten().collect();
    assert_eq!(words.len(), 164);
    rows::same_lines(&disasm_bundles(&words, &Layout::NVDISASM_HEX).unwrap(), &judge);
    let plain = Layout { words: false, ..Layout::NVDISASM_HEX };
    rows::same_lines(&disasm_bundles(&words, &plain).unwrap(), &listing_file("listing-plain.sass"));
    // Without the words the text alone gives the instructions.
    let from_plain = asm_file(&listing_file("listing-plain.sass")).unwrap();
    let used = |word: &u64| word & !decode(*word).unwrap().ignored_bits();
    let (left, right) = (from_plain.words(), assembly.words());
    assert!(left.iter().zip(right.iter().map(used)).all(|(l, r)| *l == r || nvdisasm(r).contains("QNAN")));
    let (listing, findings) = Listing::parse(&judge);
    assert!(findings.is_empty() && listing.lines.iter().filter(|line| line.pairs).count() > 10);
}
