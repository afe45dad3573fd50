//! Words and lines a second, on one core. `cargo bench -p roundonce-sass`.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use roundonce_sass::modern::{self, Target};
use roundonce_sass::{Instruction, Layout, Style, asm_line, check, decode, disasm_word_into};

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
