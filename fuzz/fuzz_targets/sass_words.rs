//! Any bytes as words: what decodes encodes to itself, and every text of it reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::{
    Layout, ScheduleStyle, Style, asm_file, asm_line, check_word, decode, disasm_bundles, disasm_word,
};

fuzz_target!(|bytes: &[u8]| {
    let (words, _) = bytes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    for &word in &words {
        let _ = check_word(word, 0);
        let Ok(instruction) = decode(word) else { continue };
        assert_eq!(instruction.word(), word);
        // Some fields have one text for several values: the text is all that comes back.
        for style in [Style::Exact, Style::Hex, Style::Nvdisasm] {
            let text = disasm_word(word, style).expect("it decodes");
            let again = asm_line(&text).expect("its own text");
            assert_eq!(disasm_word(again, style).as_deref(), Ok(&*text), "{text}");
        }
    }
    let whole = &words[..words.len() / 4 * 4];
    for style in ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]) {
        let layout = Layout { schedule: style, words: true, ..Layout::default() };
        let text = disasm_bundles(whole, &layout).expect("whole bundles");
        match asm_file(&text) {
            Ok(assembly) => assert_eq!(assembly.bundles().concat(), whole, "{text}"),
            Err(findings) => panic!("{text}: {findings:?}"),
        }
    }
});
