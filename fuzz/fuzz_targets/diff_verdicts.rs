//! `diff` on pairs of expressions: where it says equal, values by exact rationals are; where it says different, they differ
//! on its witness, and are what it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::Profile;
use roundonce::arith::Format;
use roundonce::why::diff::{Budget, Side, Verdict, compare};
use roundonce::why::{Bits, Column, Typed, parse_expr};
use roundonce_fuzz::Choices;
use roundonce_fuzz::expression::{NAMES, generate, rewritten};
use roundonce_oracle::Layout;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const TYPES: [(&str, Format, Layout); 4] = [
    ("f16", Format::F16, Layout::F16),
    ("bf16", Format::BF16, Layout::BF16),
    ("f32", Format::F32, Layout::F32),
    ("f64", Format::F64, Layout::F64),
];

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let (name, format, layout) = *choices.pick(&TYPES);
    let names = 1 + choices.below(3);
    let one = generate(choices, layout, names, 3);
    let mut other = one.clone();
    if choices.one_in(4) {
        other = generate(choices, layout, names, 3);
    }
    for _ in 0..choices.below(3) {
        other = rewritten(choices, &other);
    }
    let typed = BTreeMap::from(NAMES.map(|name| (name.to_owned(), Typed { format, bits: 0 })));
    let sides = [&one, &other].map(|tree| {
        let text = tree.text(name, format.width());
        Side::expression(&parse_expr(&text, &typed).unwrap_or_else(|error| panic!("{text}: {error:?}")))
    });
    let budget = Budget { exhaustive_bits: 8, random: 1, nan_bits: choices.one_in(4), threads: NonZeroUsize::new(1) };
    let shown = || format!("{name}: {} and {}", sides[0].text, sides[1].text);
    // How often they differ is not asked: a million inputs would be tried.
    let data = NAMES.map(|name| (name.to_owned(), Column { format, bits: Bits::One(0) }));
    let data = BTreeMap::from(data);
    let compared = compare(&sides[0], &sides[1], Some(&data), budget, &Profile::NVIDIA, &|_| None, &|_| ());
    let compared = compared.unwrap_or_else(|problem| panic!("{}: {problem}", shown()));
    assert!(!compared.lines().is_empty());

    let alike = |a: u64, b: u64| a == b || layout.is_nan(a) && layout.is_nan(b);
    let values = |inputs: &[u64; 3]| [&one, &other].map(|tree| tree.value(layout, inputs));
    match &compared.verdict {
        Verdict::Equal { .. } => {
            for _ in 0..24 {
                let inputs = [(); 3].map(|()| choices.bits(format.width()));
                let [first, second] = values(&inputs);
                assert!(alike(first, second), "{} at {inputs:x?}: {first:#x}, {second:#x}", shown());
            }
        }
        Verdict::Different { inputs, first, second, .. } => {
            let bits = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal bits");
            let mut at = [0; 3];
            for input in inputs {
                at[NAMES.iter().position(|name| *name == input.name).expect("a name")] = bits(&input.bits);
            }
            let said = [first, second].map(|text| bits(text.split(' ').next().unwrap_or_default()));
            let found = values(&at);
            assert!(said[0] != said[1], "{}: {compared:?}", shown());
            let right = (0..2).all(|side| alike(said[side], found[side]));
            assert!(right, "{} at {at:x?}: {said:x?}, by the judge {found:x?}", shown());
            // Where only NaNs' bits differ the judge's own may not.
            assert!(budget.nan_bits || !alike(found[0], found[1]), "{} at {at:x?}: {found:x?}", shown());
        }
        Verdict::Unknown { .. } => {}
    }
});
