//! Checks: whatever a binary or a text holds, they end, in places inside it; and a module says the same in both byte
//! orders.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_isa::Location;
use roundonce_spirv::{Environment, Module, check_binary, check_text, disassemble};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let all: Vec<Environment> = Environment::all().collect();
    let environment = all[usize::from(first) % all.len()];
    if let Ok(text) = std::str::from_utf8(rest) {
        for finding in check_text(text, environment) {
            if let Location::Span { start, end } = finding.location {
                assert!(start <= end && text.get(start..end).is_some(), "{finding:?}");
            }
        }
    }
    let mut binary = 0x0723_0203_u32.to_le_bytes().to_vec();
    binary.extend(&rest[..rest.len() / 4 * 4]);
    let findings = check_binary(&binary, environment);
    let swapped: Vec<u8> = binary.chunks_exact(4).flat_map(|word| [word[3], word[2], word[1], word[0]]).collect();
    assert_eq!(findings, check_binary(&swapped, environment));
    if Module::from_binary(&binary).is_ok() {
        let text = disassemble(&binary).expect("the module was read");
        let _ = check_text(&text, environment);
    }
});
