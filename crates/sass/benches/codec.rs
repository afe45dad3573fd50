//! Words and lines a second, on one core. `cargo bench -p roundonce-sass`.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use roundonce_sass::{Instruction, Style, asm_line, check, decode, disasm_word_into};

fn main() {
    divan::main();
}

const WORDS: usize = 4096;

/// Words of every form with random fields, none of them refused.
fn words() -> Vec<u64> {
    let forms = [(0xb3_u64, 9), (0x93, 9), (0xa3, 9), (0x65, 9), (0x03, 6)];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = || {
        // xorshift64: any words will do, as long as they are the same in every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words = core::iter::repeat_with(random).zip(forms.iter().cycle());
    words.map(|(bits, (opcode, width))| opcode << (64 - width) | bits >> width).take(WORDS).collect()
}

fn lines() -> Vec<String> {
    let print = |word: u64| {
        let mut text = String::new();
        disasm_word_into(word, Style::Exact, &mut text).unwrap();
        text
    };
    words().into_iter().map(print).collect()
}

fn instructions() -> Vec<Instruction> {
    words().into_iter().map(|word| decode(word).unwrap()).collect()
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

#[divan::bench]
fn encode_words(bencher: Bencher<'_, '_>) {
    let instructions = instructions();
    bencher.counter(ItemsCount::new(WORDS)).bench_local(|| {
        for instruction in &instructions {
            let _ = black_box(black_box(instruction).word());
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
