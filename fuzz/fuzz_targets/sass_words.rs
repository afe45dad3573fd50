//! Any bytes as words of every GPU of Maxwell and Pascal: what decodes encodes to itself, and every text of it reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::{
    Generation, Layout, ScheduleStyle, Style, asm_file_for, asm_line_for, check_word, decode_for, disasm_bundles,
    disasm_word_into,
};

fuzz_target!(|bytes: &[u8]| {
    let (words, _) = bytes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    for &word in &words {
        let _ = check_word(word, 0);
        for generation in Generation::ALL {
            let Ok(instruction) = decode_for(word, generation) else { continue };
            assert!(decode_for(word, Generation::NEWEST).is_ok(), "the newest has all");
            assert_eq!(instruction.word(), word);
            // Some fields have one text for several values: the text is all that comes back.
            for style in [Style::Exact, Style::Hex, Style::Nvdisasm] {
                let print = |word| {
                    let mut text = String::new();
                    disasm_word_into(word, style, generation, &mut text).expect("it decodes");
                    text
                };
                let text = print(word);
                let again = asm_line_for(&text, generation).expect("its own text");
                assert_eq!(print(again), text, "{generation:?}");
            }
        }
    }
    let whole = &words[..words.len() / 4 * 4];
    let styles = ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]);
    for (schedule, generation) in styles.zip(Generation::ALL.into_iter().cycle()) {
        let layout = Layout { schedule, words: true, generation, ..Layout::default() };
        let text = disasm_bundles(whole, &layout).expect("whole bundles");
        match asm_file_for(&text, Some(generation)) {
            Ok(assembly) => assert_eq!(assembly.bundles().concat(), whole, "{text}"),
            Err(findings) => panic!("{text}: {findings:?}"),
        }
    }
});
