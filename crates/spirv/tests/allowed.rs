//! The set of legal results against a judge that shares nothing with the product: exact rationals, and the documents'
//! choices enumerated anew. As the conformance suite tests it: every signed triple of special values and random ones,
//! three rounding states by three denormal states, here with and without SignedZeroInfNanPreserve.

use std::collections::BTreeSet;

use judge::{Legal, Rounded, legal, rounded, special_values};
use roundonce_arith::{Format, Rounding};
use roundonce_oracle::{Layout, generate::Generator};
use roundonce_spirv::{AllowedSet, Denorm, FloatModes, allowed};

mod judge;

fn agrees(format: Format, set: &AllowedSet, legal: &Legal) -> bool {
    if legal.anything {
        return matches!(set.ranges(), [all] if all.first == 0 && all.last == format.mask());
    }
    let points: BTreeSet<u64> =
        set.ranges().iter().filter(|range| range.first == range.last).map(|range| range.first).collect();
    let sign = format.sign_mask();
    let nans: Vec<(u64, u64)> =
        set.ranges().iter().filter(|range| range.first != range.last).map(|range| (range.first, range.last)).collect();
    let expected = if legal.any_nan {
        vec![(format.infinity() + 1, sign - 1), (sign + format.infinity() + 1, format.mask())]
    } else {
        vec![]
    };
    points == legal.bits && nans == expected && legal.bits.iter().all(|&bits| set.contains(bits))
}

fn all_modes() -> Vec<FloatModes> {
    let mut all = Vec::new();
    for rounding in [None, Some(Rounding::NearestEven), Some(Rounding::TowardZero)] {
        for denorm in [None, Some(Denorm::Preserve), Some(Denorm::FlushToZero)] {
            for preserve_special in [false, true] {
                all.push(FloatModes { rounding, denorm, preserve_special });
            }
        }
    }
    all
}

fn compare(format: Format, layout: Layout, operands: [u64; 3], modes: &[FloatModes]) {
    // The modes need the same roundings again and again.
    let mut known: Vec<([u64; 3], Rounded)> = Vec::new();
    let mut round = |operands| match known.iter().find(|(asked, _)| *asked == operands) {
        Some((_, answer)) => *answer,
        None => {
            let answer = rounded(layout, operands);
            known.push((operands, answer));
            answer
        }
    };
    for &modes in modes {
        let set = allowed(format, modes, operands);
        let legal = legal(layout, modes, operands, &mut round);
        assert!(
            agrees(format, &set, &legal),
            "{operands:#x?} under {modes}:\n judge {legal:#x?}\n ours {:#x?}",
            set.ranges()
        );
    }
}

fn conformance(format: Format, layout: Layout, random: usize) {
    let modes = all_modes();
    let values = special_values(layout);
    assert_eq!(values.len(), 38);
    for &a in &values {
        for &b in &values {
            for &c in &values {
                compare(format, layout, [a, b, c], &modes);
            }
        }
    }
    let mut generator = Generator::new(7, layout, layout);
    for _ in 0..random {
        compare(format, layout, generator.triple(), &modes);
    }
}

#[test]
fn f16_sets_are_the_judges() {
    conformance(Format::F16, Layout::F16, 20_000);
}

#[test]
fn f32_sets_are_the_judges() {
    conformance(Format::F32, Layout::F32, 20_000);
}

#[test]
fn f64_sets_are_the_judges() {
    conformance(Format::F64, Layout::F64, 5_000);
}

#[test]
fn an_explanation_names_the_choice() {
    let open = FloatModes { preserve_special: true, ..FloatModes::default() };
    let said = |modes, operands, bits| {
        allowed(Format::F32, modes, operands)
            .explain(bits)
            .map_or_else(|| "illegal".to_owned(), |choice| choice.to_string())
    };
    // 2^-126 × (1 − 2^-24) rounds up to the smallest normal number, and is subnormal before that.
    let edge = [0x0080_0000, 0x3f7f_ffff, 0x0000_0000];
    assert_eq!(said(open, edge, 0x0080_0000), "rounded to nearest even");
    assert_eq!(said(open, edge, 0x007f_ffff), "the neighbour below");
    assert_eq!(
        said(open, edge, 0x0000_0000),
        "rounded to nearest even, a result subnormal before rounding flushed to zero"
    );
    let kept =
        FloatModes { denorm: Some(Denorm::Preserve), rounding: Some(Rounding::NearestEven), preserve_special: true };
    assert_eq!(said(kept, edge, 0x0000_0000), "illegal");
    assert_eq!(said(open, [0x0000_0001, 0x3f80_0000, 0x3f80_0000], 0x3f80_0000), "rounded to nearest even");
    assert_eq!(said(open, [0x0000_0001, 0x7e80_0000, 0], 0), "rounded to nearest even, Operand 1 flushed to zero");
    assert_eq!(said(open, [0x7fc0_0000, 0, 0], 0x7f80_0001), "a NaN: any bits of one");
    assert_eq!(said(open, [0x7fc0_0000, 0, 0], 0x7f80_0000), "illegal");
    let closed =
        FloatModes { rounding: Some(Rounding::NearestEven), denorm: Some(Denorm::Preserve), preserve_special: true };
    assert_eq!(allowed(Format::F32, closed, [0x3eaa_aaab, 0x3eaa_aaab, 0x3f80_0000]).determined(), Some(0x3f8e_38e4));
}
