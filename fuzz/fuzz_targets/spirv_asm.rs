//! Assembly text: whatever it holds, it is assembled or refused with places inside it; what is assembled is printed and
//! assembles to the same words; a migration leaves a text that is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_isa::Place;
use roundonce_spirv::{Migration, assemble, disassemble, migrate_text};

fuzz_target!(|text: &str| {
    match assemble(text) {
        Ok(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let printed = disassemble(&bytes).expect("what was assembled is a module");
            assert_eq!(assemble(&printed).as_ref(), Ok(&words), "{printed}");
            if let Ok(migrated) = migrate_text(text, Migration { glsl_fma: true }) {
                assert!(assemble(&migrated.output).is_ok(), "{}", migrated.output);
            }
        }
        Err(findings) => {
            assert!(!findings.is_empty());
            for finding in findings {
                let Place::Span { start, end } = finding.place else { panic!("{finding:?}") };
                assert!(start <= end && text.get(start..end).is_some(), "{finding:?}");
            }
        }
    }
});
