//! Any text: read, checked, assembled, lowered without a panic; what assembles prints and reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::{Layout, ScheduleStyle, Style, asm_file, asm_line, check, disasm_bundles, disasm_word, lower};

fuzz_target!(|text: &str| {
    for line in text.lines() {
        if let Ok(word) = asm_line(line) {
            let again = disasm_word(word, Style::Exact).and_then(|text| asm_line(&text)).expect("its own text");
            assert_eq!(disasm_word(again, Style::Exact), disasm_word(word, Style::Exact));
        }
    }
    for finding in check(text) {
        let _ = finding.to_string();
    }
    if let Ok(lowered) = lower(text, None) {
        lowered.program.verify().expect("a program that engines run");
    }
    if let Ok(assembly) = asm_file(text) {
        let words = assembly.bundles().concat();
        for (_, style) in ScheduleStyle::NAMED {
            let layout = Layout { style: Style::Hex, schedule: Some(style), words: true, ..Layout::default() };
            let shown = disasm_bundles(&words, &layout).expect("whole bundles");
            let again = asm_file(&shown).unwrap_or_else(|findings| panic!("{shown}: {findings:?}"));
            assert_eq!(again.bundles().concat(), words, "{shown}");
        }
    }
});
