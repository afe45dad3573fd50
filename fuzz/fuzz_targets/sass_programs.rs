//! SASS listings by structure: text to words and back, checks, and all engines compute what the instructions say, also
//! from the words' text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::Profile;
use roundonce::sass::{
    Layout, ScheduleStyle, Style, asm_file, asm_line, check, decode, disasm_bundles, disasm_word, lower,
};
use roundonce_fuzz::listing::{LANES, input, run};
use roundonce_fuzz::{Choices, sass};

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let data = choices.words(LANES * 8);
    let code = sass::generate(choices);
    let text = code.text();
    let findings = check(&text);
    for line in &code.lines {
        let Ok(word) = asm_line(line) else { continue };
        assert!(decode(word).is_ok(), "{line}");
        for style in [Style::Exact, Style::Hex] {
            let shown = disasm_word(word, style).expect("it was encoded");
            assert_eq!(asm_line(&shown), Ok(word), "{line}: {shown}");
        }
    }
    let Ok(lowered) = lower(&text, None) else {
        assert!(!findings.is_empty(), "{text}");
        return;
    };
    let ran = run(&lowered, &data, &text);
    for lane in 0..LANES {
        let names = lowered.inputs.iter().enumerate();
        let mut values: sass::Lane = names.map(|(at, name)| (name.to_string(), input(&data, at)[lane])).collect();
        sass::run(&code.lines, &mut values, &Profile::NVIDIA).expect("it was lowered");
        for (name, result) in &ran {
            let wanted = values.get(name).copied().unwrap_or(0);
            assert_eq!(result[lane], wanted, "{text}lane {lane}, {name}: {:#x}, {wanted:#x}", result[lane]);
        }
    }
    if let Ok(assembly) = asm_file(&text) {
        let words = assembly.bundles().concat();
        for (_, style) in ScheduleStyle::NAMED {
            let layout = Layout { schedule: Some(style), ..Layout::default() };
            let shown = disasm_bundles(&words, &layout).expect("whole bundles");
            let again = asm_file(&shown).unwrap_or_else(|findings| panic!("{text}---\n{shown}: {findings:?}"));
            assert_eq!(again.bundles().concat(), words, "{text}---\n{shown}");
        }
    }
    let shown = |line: &String| disasm_word(asm_line(line).expect("it has a word"), Style::Exact);
    let shown: Vec<String> = code.lines.iter().map(|line| shown(line).expect("it decodes") + "\n").collect();
    let again = lower(&shown.concat(), None).unwrap_or_else(|findings| panic!("{text}---\n{shown:?}: {findings:?}"));
    assert_eq!(run(&again, &data, &text), ran, "{text}---\n{}", shown.concat());
});
