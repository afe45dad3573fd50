//! Binaries: whatever the bytes are, they are refused or printed, and what is printed assembles to the same words (but
//! for a header that declares fewer ids than there are).
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce_spirv::{Migration, Module, assemble, disassemble, migrate_binary};

fuzz_target!(|bytes: &[u8]| {
    // Most inputs would fail at the magic number.
    let mut binary = 0x0723_0203_u32.to_le_bytes().to_vec();
    binary.extend(&bytes[..bytes.len() / 4 * 4]);
    let Ok(module) = Module::from_binary(&binary) else { return };
    assert_eq!(module.to_bytes(), binary);
    let text = disassemble(&binary).expect("the module was read");
    let mut words = assemble(&text).expect("what is printed is read");
    words[3] = words[3].min(module.bound());
    // A version's other bytes are zero where a version is written as text.
    words[1] = words[1] & 0x00ff_ff00 | module.words()[1] & 0xff00_00ff;
    assert_eq!(words, module.words(), "{text}");
    let migrated = migrate_binary(&binary, Migration { glsl_fma: true }).expect("the module was read");
    assert!(Module::from_binary(&migrated.output).is_ok());
});
