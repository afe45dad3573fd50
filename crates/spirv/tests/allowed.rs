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
                let declared = FloatModes { rounding, denorm, preserve_special, ..FloatModes::default() };
                all.push(declared);
                if rounding.is_none() {
                    all.push(FloatModes { nearest_or_zero: true, ..declared });
                }
                if denorm == Some(Denorm::FlushToZero) {
                    all.push(FloatModes { may_keep_operands: true, ..declared });
                }
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
    let kept = FloatModes {
        denorm: Some(Denorm::Preserve),
        rounding: Some(Rounding::NearestEven),
        preserve_special: true,
        ..FloatModes::default()
    };
    assert_eq!(said(kept, edge, 0x0000_0000), "illegal");
    assert_eq!(said(open, [0x0000_0001, 0x3f80_0000, 0x3f80_0000], 0x3f80_0000), "rounded to nearest even");
    assert_eq!(said(open, [0x0000_0001, 0x7e80_0000, 0], 0), "rounded to nearest even, Operand 1 flushed to zero");
    assert_eq!(said(open, [0x7fc0_0000, 0, 0], 0x7f80_0001), "a NaN: any bits of one");
    assert_eq!(said(open, [0x7fc0_0000, 0, 0], 0x7f80_0000), "illegal");
    let closed = FloatModes {
        rounding: Some(Rounding::NearestEven),
        denorm: Some(Denorm::Preserve),
        preserve_special: true,
        ..FloatModes::default()
    };
    assert_eq!(allowed(Format::F32, closed, [0x3eaa_aaab, 0x3eaa_aaab, 0x3f80_0000]).determined(), Some(0x3f8e_38e4));
}

/// VK_KHR_shader_float_controls, issue 2; SPV_KHR_float_controls, DenormFlushToZero; The OpenCL SPIR-V Environment, OpenCL
/// Numerical Compliance, Rounding Modes.
#[test]
fn environments_read_the_modes() {
    let of = |spelling: &str, operands| {
        let format = if spelling.contains("f16") { Format::F16 } else { Format::F32 };
        allowed(format, FloatModes::of_spelling(spelling), operands)
    };
    // The largest subnormal times 2^127, just below 2: the operand may be kept, the result is normal.
    let kept = [0x007f_ffff, 0x7f00_0000, 0];
    assert!(of("OpFmaKHR.f32+rte+ftz@vulkan1.3", kept).contains(0x3fff_fffe));
    assert!(of("OpFmaKHR.f32+rte+ftz@vulkan1.3", kept).contains(0));
    for environment in ["", "@spv1.6", "@opencl2.2"] {
        assert!(!of(&format!("OpFmaKHR.f32+rte+ftz{environment}"), kept).contains(0x3fff_fffe), "{environment}");
    }
    // A subnormal result is flushed everywhere.
    for environment in ["", "@vulkan1.3"] {
        assert!(
            !of(&format!("OpFmaKHR.f32+rte+ftz{environment}"), [0x0080_0000, 0x3f00_0000, 0]).contains(0x0040_0000)
        );
    }
    // 1 + 2^-26, and below 1 by 2^-26.
    let (above, below) = ([0x3f80_0000, 0x3f80_0000, 0x3280_0000], [0x3f80_0000, 0x3f80_0000, 0xb280_0000]);
    let legal = |spelling: &str, operands| -> Vec<u64> {
        of(spelling, operands).ranges().iter().map(|range| range.first).collect()
    };
    for (environment, expected) in [
        ("", [vec![0x3f80_0000, 0x3f80_0001], vec![0x3f7f_ffff, 0x3f80_0000]]),
        ("@vulkan1.4", [vec![0x3f80_0000, 0x3f80_0001], vec![0x3f7f_ffff, 0x3f80_0000]]),
        ("@opencl2.2", [vec![0x3f80_0000], vec![0x3f80_0000]]),
        ("@opencl2.2embedded", [vec![0x3f80_0000], vec![0x3f7f_ffff, 0x3f80_0000]]),
    ] {
        let spelling = format!("OpFmaKHR.f32+preserve+special{environment}");
        assert_eq!([above, below].map(|operands| legal(&spelling, operands)), expected, "{environment}");
    }
    // f16: 1 − 2^-13, to nearest even or toward zero.
    assert_eq!(legal("OpFmaKHR.f16+preserve+special@opencl2.2", [0x3c00, 0x3c00, 0x8800]), [0x3bff, 0x3c00]);
    assert_eq!(legal("OpFmaKHR.f16+preserve+special@opencl2.2", [0x3c00, 0x3c00, 0x0800]), [0x3c00]);
}

/// The sign of an exact zero sum depends on the direction: where that is open, so is the sign, as the conformance suite has
/// it.
#[test]
fn exact_zero_sums_of_an_open_direction() {
    let zeros = |modes| allowed(Format::F32, modes, [0x3f80_0000, 0x3f80_0000, 0xbf80_0000]);
    let open = FloatModes::of_spelling("OpFmaKHR.f32+preserve+special");
    assert!(zeros(open).contains(0) && zeros(open).contains(0x8000_0000));
    assert_eq!(zeros(FloatModes::of_spelling("OpFmaKHR.f32+preserve+special+rte")).determined(), Some(0));
    assert_eq!(zeros(FloatModes::of_spelling("OpFmaKHR.f32+preserve+special+rtz")).determined(), Some(0));
    // Two zeros of one sign keep it.
    assert_eq!(allowed(Format::F32, open, [0, 0, 0]).determined(), Some(0));
}
