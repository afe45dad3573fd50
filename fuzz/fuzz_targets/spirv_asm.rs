//! Assembly text: whatever it holds, it is assembled or refused with places inside it; what is assembled is printed and
//! assembles to the same words, the header's bound apart where raw words stand for ids; a migration leaves a text that is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_isa::Location;
use roundonce_spirv::{Migration, assemble, disassemble, migrate_text};

fuzz_target!(|text: &str| {
    match assemble(text) {
        Ok(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let printed = disassemble(&bytes).expect("what was assembled is a module");
            let mut again = assemble(&printed).expect("what was printed is read");
            // A raw word is printed as the id that it stands for, which then counts.
            if text.contains('!') {
                again[3] = words[3];
            }
            assert_eq!(again, words, "{printed}");
            if let Ok(migrated) = migrate_text(text, Migration { glsl_fma: true }) {
                assert!(assemble(&migrated.output).is_ok(), "{}", migrated.output);
            }
        }
        Err(findings) => {
            assert!(!findings.is_empty());
            for finding in findings {
                let Location::Span { start, end } = finding.location else { panic!("{finding:?}") };
                assert!(start <= end && text.get(start..end).is_some(), "{finding:?}");
            }
        }
    }
});
