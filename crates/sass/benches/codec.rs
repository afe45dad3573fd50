//! Words and lines a second, on one core. `cargo bench -p roundonce-sass`.

use std::hint::black_box;
use std::io::Read;

use divan::Bencher;
use divan::counter::ItemsCount;
use flate2::read::GzDecoder;
use roundonce_sass::{Style, asm_line, check, decode, disasm_word_into};

fn main() {
    divan::main();
}

const WORDS: usize = 4096;

/// Words of kernels and of every row.
fn words() -> Vec<u64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maxwell/words.tsv.gz");
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let words = rows.iter().step_by(rows.len() / WORDS).take(WORDS);
    words.map(|row| u64::from_str_radix(&row[..16], 16).unwrap()).collect()
}

fn lines() -> Vec<String> {
    let print = |word: u64| {
        let mut text = String::new();
        disasm_word_into(word, Style::Exact, &mut text).unwrap();
        text
    };
    words().into_iter().map(print).collect()
}

#[divan::bench]
fn decode_words(bencher: Bencher<'_, '_>) {
    let words = words();
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        for word in &words {
            let _ = black_box(decode(black_box(*word)));
        }
    });
}

#[divan::bench(args = [Style::Exact, Style::Nvdisasm, Style::Hex])]
fn print_lines(bencher: Bencher<'_, '_>, style: Style) {
    let words = words();
    let mut text = String::with_capacity(128 * WORDS);
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        text.clear();
        for word in &words {
            let _ = disasm_word_into(*word, style, &mut text);
            text.push('\n');
        }
        black_box(&text);
    });
}

#[divan::bench]
fn parse_lines(bencher: Bencher<'_, '_>) {
    let lines = lines();
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        for line in &lines {
            let _ = black_box(asm_line(black_box(line)));
        }
    });
}

#[divan::bench]
fn check_lines(bencher: Bencher<'_, '_>) {
    let text = lines().join("\n");
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| black_box(check(black_box(&text))));
}
