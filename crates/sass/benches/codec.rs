//! Words and lines a second, on one core. `cargo bench -p roundonce-sass`.

use std::hint::black_box;
use std::io::Read;

use divan::Bencher;
use divan::counter::ItemsCount;
use flate2::read::GzDecoder;
use roundonce_sass::modern::{self, Target};
use roundonce_sass::{Generation, Layout, Style, asm_line, check, decode, disasm_word_into};

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
        disasm_word_into(word, Style::Exact, Generation::NEWEST, &mut text).unwrap();
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
            let _ = disasm_word_into(*word, style, Generation::NEWEST, &mut text);
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

/// 128-bit words of sm_90, each legal: every opcode and form with random fields.
fn long_words() -> Vec<u128> {
    let forms: Vec<u128> = modern::OPCODES
        .iter()
        .flat_map(|row| row.forms.iter().map(|(form, _)| u128::from(row.low) | u128::from(*form) << 9))
        .collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u128::from(state)
    };
    let target = sm_90();
    // Stall 5, no barrier, nothing kept.
    let control = (5_u128 | 63 << 5) << 105;
    let words = core::iter::repeat_with(|| (random() << 64 | random()) & ((1 << 105) - 1) & !0xfff | control);
    let words = words.zip(forms.iter().cycle()).map(|(bits, form)| bits | form);
    words.filter(|word| modern::decode(*word, target).is_ok()).take(WORDS).collect()
}

fn sm_90() -> Target {
    "sm_90".parse().unwrap()
}

fn long_lines() -> Vec<String> {
    let print = |word: u128| {
        let mut text = String::new();
        modern::disasm_word_into(word, sm_90(), &Layout::default(), &mut text).unwrap();
        text
    };
    long_words().into_iter().map(print).collect()
}

#[divan::bench]
fn decode_long_words(bencher: Bencher<'_, '_>) {
    let (words, target) = (long_words(), sm_90());
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        for word in &words {
            let _ = black_box(modern::decode(black_box(*word), target));
        }
    });
}

#[divan::bench(args = [Style::Exact, Style::Nvdisasm, Style::Hex])]
fn print_long_lines(bencher: Bencher<'_, '_>, style: Style) {
    let (words, target) = (long_words(), sm_90());
    let layout = Layout { style, ..Layout::default() };
    let mut text = String::with_capacity(128 * WORDS);
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        text.clear();
        for word in &words {
            let _ = modern::disasm_word_into(*word, target, &layout, &mut text);
            text.push('\n');
        }
        black_box(&text);
    });
}

#[divan::bench]
fn parse_long_lines(bencher: Bencher<'_, '_>) {
    let (lines, target) = (long_lines(), sm_90());
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        for line in &lines {
            let _ = black_box(modern::asm_line(black_box(line), target));
        }
    });
}
