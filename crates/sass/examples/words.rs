//! Reads words in hex, one a line; writes each with its text, and the word that the text assembles to. With `--rows` it
//! writes every row's mnemonic, mask, bits and first GPU. What `dev/sass/judge.py` compares with nvdisasm.

use std::io::{BufRead, Write};

use roundonce_sass::{Style, asm_line, decode, rows};

fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if std::env::args().any(|argument| argument == "--rows") {
        for row in rows() {
            let since = row.since.number();
            writeln!(out, "{}\t{:016x}\t{:016x}\t{since}", row.name, row.mask, row.bits).unwrap();
        }
        return;
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let word = u64::from_str_radix(line.trim(), 16).unwrap();
        let Ok(instruction) = decode(word) else {
            writeln!(out, "{word:016x}\t\t").unwrap();
            continue;
        };
        let mut text = String::new();
        instruction.write_body(Style::Nvdisasm, None, &mut text);
        let again = match asm_line(&text) {
            Ok(again) => format!("{again:016x}"),
            Err(finding) => finding.to_string().replace('\n', " "),
        };
        writeln!(out, "{word:016x}\t{text}\t{again}\t{:016x}", instruction.ignored_bits()).unwrap();
    }
}
