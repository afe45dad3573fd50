//! Cubins: ELF files by structure and with what may be wrong in them. They are read or refused, never a panic, and what is
//! read is no larger than the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::{Cubin, Layout, ScheduleStyle, asm_file_for};
use roundonce_fuzz::{Choices, elf};

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let mut file = elf::generate(choices);
    for _ in 0..choices.below(4) {
        let (at, bits) = (choices.below(file.len().max(1)), choices.byte());
        if let Some(byte) = file.get_mut(at) {
            *byte ^= bits;
        }
    }
    let Ok(cubin) = Cubin::parse(&file) else { return };
    // A byte of a name that is no UTF-8 is shown by three.
    let read: usize = cubin.kernels.iter().map(|kernel| 8 * kernel.words.len() + kernel.name.len() / 3).sum();
    assert!(read <= file.len(), "{read} bytes of {}", file.len());
    for style in ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]) {
        let layout = Layout { schedule: style, words: true, ..Layout::default() };
        let text = cubin.disassemble(&layout).expect("the code is whole bundles");
        // A label is what a name may be, not what it is.
        let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if cubin.kernels.iter().all(|kernel| is_plain(&kernel.name)) {
            let assembly = match asm_file_for(&text, Some(cubin.generation())) {
                Ok(assembly) => assembly,
                // Values of the encoding that mean nothing are shown, and not taken.
                Err(findings) if findings.iter().all(|finding| finding.code == "SASS0011") => continue,
                Err(findings) => panic!("{text}: {findings:?}"),
            };
            let words: Vec<u64> = cubin.kernels.iter().flat_map(|kernel| kernel.words.iter().copied()).collect();
            assert_eq!(assembly.bundles().concat(), words, "{text}");
        }
    }
});
