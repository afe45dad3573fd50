//! Any bytes as 128-bit words of every generation, and as text: what decodes prints, and its text reads back. What is computed of them
//! is a program that all engines agree on, from the text as from the words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::modern::{TARGETS, Target, asm_file, asm_line, check, decode, disasm_words, lower};
use roundonce::sass::{Layout, ScheduleStyle, Style};
use roundonce_fuzz::{Choices, listing};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let Some(target) = Target::new(TARGETS[usize::from(*first) % TARGETS.len()]) else { return };
    if let Ok(text) = std::str::from_utf8(rest) {
        let _ = asm_line(text, target);
        let _ = check(text, target);
    }
    let (words, _) = rest.as_chunks::<16>();
    let words: Vec<u128> = words.iter().map(|word| u128::from_le_bytes(*word)).collect();
    for &word in &words {
        let Ok(instruction) = decode(word, target) else { continue };
        assert_eq!(instruction.word(), word);
        let _ = (instruction.recipe(), instruction.illegal_modifier());
        for style in [Style::Exact, Style::Hex, Style::Nvdisasm] {
            let mut text = String::new();
            instruction.write(style, &mut text);
            let back = asm_line(&text, target).unwrap_or_else(|finding| panic!("{text}: {finding}"));
            let mut again = String::new();
            decode(back, target).expect("its own word").write(style, &mut again);
            assert_eq!(text, again);
        }
    }
    // What is computed alone is computed together.
    let texts = words.iter().filter_map(|word| {
        let mut text = String::new();
        decode(*word, target).ok()?.write(Style::Exact, &mut text);
        lower(&text, None, target).ok().map(|_| text + " ;\n")
    });
    let text: String = texts.take(64).collect();
    if !text.is_empty() {
        let lowered = lower(&text, None, target).unwrap_or_else(|findings| panic!("{text}{findings:?}"));
        let data = Choices::new(bytes).words(listing::LANES * 8);
        listing::run(&lowered, &data, &text);
    }
    for schedule in [Some(ScheduleStyle::Seed), Some(ScheduleStyle::Maxas), Some(ScheduleStyle::CuAssembler), None] {
        // With the words beside, all of every word comes back.
        let layout = Layout { schedule, words: true, ..Layout::default() };
        let text = disasm_words(&words, target, &layout);
        assert_eq!(asm_file(&text, target).as_ref(), Ok(&words), "{text}");
    }
});
