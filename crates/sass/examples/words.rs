//! Reads words in hex, one a line, for the target that is the last argument; writes each with its text, and the word that
//! the text assembles to. With `--rows` it writes the mnemonic, mask and bits of every row that the target has. What
//! `dev/sass/judge.py` compares with nvdisasm.

use std::io::{BufRead, Write};

use roundonce_sass::{Generation, Style, asm_line_for, decode_for, rows};

fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let generation: Generation =
        std::env::args().next_back().and_then(|name| name.parse().ok()).expect("a target: sm_50");
    if std::env::args().any(|argument| argument == "--rows") {
        for row in rows().filter(|row| row.is_of(generation)) {
            writeln!(out, "{}\t{:016x}\t{:016x}", row.name, row.mask, row.bits).unwrap();
        }
        return;
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let word = u64::from_str_radix(line.trim(), 16).unwrap();
        let Ok(instruction) = decode_for(word, generation) else {
            writeln!(out, "{word:016x}\t\t").unwrap();
            continue;
        };
        let mut text = String::new();
        instruction.write_body(Style::Nvdisasm, None, &mut text);
        let again = match asm_line_for(&text, generation) {
            Ok(again) => format!("{again:016x}"),
            Err(finding) => finding.to_string().replace('\n', " "),
        };
        writeln!(out, "{word:016x}\t{text}\t{again}\t{:016x}", instruction.ignored_bits()).unwrap();
    }
}
