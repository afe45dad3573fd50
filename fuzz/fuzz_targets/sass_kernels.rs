//! Kernels of any words with any scheduling: a program or a refusal, never a panic; a kernel that waits for every barrier
//! everywhere has no hazard but results that count on none; and the listing of the words says the same as the words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::sass::{
    Control, Layout, ScheduleStyle, Slot, decode, disasm_bundles, fields, listing_hazards, lower_kernel_listing, rows,
};
use roundonce_fuzz::Choices;

const LARGEST: usize = 1 << 12;
/// `EXIT`.
const EXIT: u64 = 0xe300_0000_0007_000f;

/// A word of some row, or any.
fn word(choices: &mut Choices<'_>) -> u64 {
    let rows: Vec<_> = rows().collect();
    if choices.one_in(16) {
        return EXIT;
    }
    let row = choices.pick(&rows);
    let (mask, bits) = (row.mask, row.bits);
    // Mostly the first registers, and no guard.
    let mut others = choices.bits(64);
    if !choices.one_in(4) {
        others = others & !0xf_0000_f8f8 & !(0xf8 << 39) | 7 << 16;
    }
    if choices.one_in(64) { others } else { others & !mask | bits }
}

fn hazards(words: &[u64]) -> Option<Vec<(&'static str, String)>> {
    let layout = Layout { schedule: Some(ScheduleStyle::Maxas), words: true, addresses: true, ..Layout::default() };
    let text = disasm_bundles(words, &layout).expect("whole bundles");
    let text = format!(".text.k:\n{text}");
    let found = listing_hazards(&text, Some("k"), LARGEST).ok()?;
    match lower_kernel_listing(&text, "k", LARGEST) {
        Ok(program) => program.verify().unwrap_or_else(|invalid| panic!("{text}{invalid}")),
        Err(findings) => assert!(!findings.is_empty(), "{text}"),
    }
    Some(found.into_iter().map(|finding| (finding.code, finding.help)).collect())
}

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let mut words = Vec::new();
    for _ in 0..1 + choices.below(12) {
        let slots = [(); 3].map(|()| Slot::from_bits(choices.bits(20) as u32));
        words.push(Control::of(slots).0);
        words.extend((0..3).map(|_| word(choices)));
    }
    if decode(EXIT).is_err() || hazards(&words).is_none() {
        return;
    }
    for bundle in words.chunks_exact_mut(4) {
        bundle[0] = Control::of(Control(bundle[0]).slots().map(|slot| slot.with(fields::WAIT, 0x3f))).0;
    }
    for (code, help) in hazards(&words).expect("the same words") {
        assert!(code != "SASS0030" || help.ends_with("counts on no barrier"), "{help}");
    }
});
