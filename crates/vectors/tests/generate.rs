//! What `gen` makes: right by an independent judge, and reaching every boundary.

#[path = "../../roundonce/tests/reader/mod.rs"]
mod reader;

use reader::{Reading, judged, read, spellings};
use roundonce::{Target, Value};
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, rational};
use roundonce_vectors::{Generated, Vector};

fn generated(spelling: &str, count: u64) -> Generated {
    Generated::new(&[spelling], count, 0, &Default::default()).unwrap()
}

/// The components' operands as the judge takes them.
fn triples(reading: &Reading, vector: &Vector) -> Vec<[u64; 3]> {
    let lane = |lane: usize| {
        let of = |value: &Value| value.components()[lane];
        match (reading.spec.shape, vector.operands.as_slice()) {
            (Shape::Add, [a, c]) => [of(a), 0, of(c)],
            (Shape::Mul, [a, b]) => [of(a), of(b), 0],
            (_, [a, b, c]) => [of(a), of(b), of(c)],
            (shape, operands) => panic!("{shape:?} of {} operands", operands.len()),
        }
    };
    (0..reading.lanes).map(lane).collect()
}

#[test]
fn every_vector_agrees_with_the_judge() {
    for spelling in spellings() {
        let reading = read(&spelling);
        let mut count = 0;
        for (_, vector) in generated(&spelling, 400).iter() {
            let mut all_flags = 0;
            for (lane, triple) in triples(&reading, &vector).into_iter().enumerate() {
                let (bits, flags) = judged(&reading, triple);
                assert_eq!(vector.result.components()[lane], bits, "{spelling} {triple:x?}");
                all_flags |= flags;
            }
            assert_eq!(vector.flags, Some(all_flags), "flags of {spelling} {vector:x?}");
            count += 1;
        }
        assert_eq!(count, 400, "{spelling}");
    }
}

/// Specifications that differ from a spelling's own in one thing, and which thing.
fn neighbours(spec: &Spec) -> Vec<(&'static str, Spec)> {
    let mut all = vec![
        ("not saturating", Spec { saturate: false, ..*spec }),
        ("saturating", Spec { saturate: true, ..*spec }),
        ("keeping subnormals", Spec { flush: None, ..*spec }),
        ("flushing delivered", Spec { flush: Some(FlushRule::Delivered), ..*spec }),
        ("flushing rounded", Spec { flush: Some(FlushRule::Rounded), ..*spec }),
        ("flushing exact", Spec { flush: Some(FlushRule::Exact), ..*spec }),
        ("negated product", Spec { negate_a: !spec.negate_a, ..*spec }),
    ];
    let directions = Direction::ALL.into_iter().zip(["to nearest", "toward zero", "down", "up"]);
    all.extend(directions.map(|(direction, name)| (name, Spec { direction, ..*spec })));
    if !spec.saturate && !spec.relu {
        // A NaN becomes zero, or the canonical one.
        all.push(("canonical NaN", Spec { nan: NanBits::AllOnes, ..*spec }));
        all.push(("first NaN", Spec { nan: NanBits::FirstOf([0, 1, 2]), ..*spec }));
        all.push(("last NaN", Spec { nan: NanBits::FirstOf([2, 1, 0]), ..*spec }));
    }
    if spec.shape != Shape::Mul {
        all.push(("negated addend", Spec { negate_c: !spec.negate_c, ..*spec }));
    }
    if spec.shape != Shape::Add {
        all.push(("zero dominance", Spec { fmz: true, ..*spec }));
        all.push(("no zero dominance", Spec { fmz: false, ..*spec }));
    }
    match spec.shape {
        Shape::MulAdd => all.push(("truncated", Spec { shape: Shape::TruncatedMulAdd, ..*spec })),
        Shape::TruncatedMulAdd => all.push(("not truncated", Spec { shape: Shape::MulAdd, ..*spec })),
        _ => {}
    }
    if spec.oob_nan.is_some() {
        all.push(("no out-of-bounds NaN", Spec { oob_nan: None, ..*spec }));
        all.push(("another out-of-bounds NaN", Spec { oob_nan: Some(0x7ff6), ..*spec }));
    }
    all.retain(|(_, other)| other != spec);
    all
}

/// Where no operands tell a neighbour from the spelling.
fn is_the_same(spec: &Spec, thing: &str) -> bool {
    let sum = spec.shape == Shape::Add;
    let clamps = spec.saturate || spec.relu;
    let toward_zero = spec.direction == Direction::Zero || spec.direction == Direction::Down && clamps;
    match thing {
        // Nothing is rounded up to the smallest normal number; a subnormal sum of two f32 is exact as f32.
        "flushing delivered" | "flushing rounded" | "flushing exact" => {
            spec.flush.is_some()
                && (sum || toward_zero)
                && !(spec.operands.is_some() && spec.direction == Direction::Nearest)
        }
        // What is left above zero is rounded toward zero by both.
        "toward zero" | "down" => toward_zero && clamps,
        // Of two operands the second, which is the last.
        "last NaN" => spec.nan != NanBits::AllOnes && matches!(spec.shape, Shape::Add | Shape::Mul),
        // A NaN becomes +0 as well.
        "no out-of-bounds NaN" | "another out-of-bounds NaN" => spec.saturate,
        // Both zeros, and the NaN of zero times infinity, become +0.
        "zero dominance" | "no zero dominance" => spec.shape == Shape::Mul && spec.saturate,
        // The product of two f16 is an f32; that of two bf16 may be too small, and leaves the sign of a zero.
        "truncated" => {
            spec.operands.is_none() && spec.factors != spec.to && (spec.factors == Layout::F16 || spec.saturate)
        }
        _ => false,
    }
}

#[test]
fn every_boundary_is_reached() {
    for spelling in spellings() {
        let reading = read(&spelling);
        // Its flush has another rule than its product's, so that fewer operands tell the rules apart.
        let count = match reading.spec {
            Spec { shape: Shape::TruncatedMulAdd, .. } => 16_000,
            // Half of its results are clamped, and few of the others are products near the smallest normal number.
            Spec { shape: Shape::Mul, saturate: true, .. } => 16_000,
            // Operands of f32 are seldom near the edge of a narrow result.
            Spec { operands: Some(_), .. } => 64_000,
            _ => 4000,
        };
        let vectors: Vec<Vector> = generated(&spelling, count).iter().map(|(_, vector)| vector).collect();
        for (thing, other) in neighbours(&reading.spec) {
            let shows = vectors.iter().any(|vector| {
                let all = triples(&reading, vector).into_iter().enumerate();
                all.into_iter()
                    .any(|(lane, triple)| rational::judge(&other, triple).bits != vector.result.components()[lane])
            });
            assert_eq!(shows, !is_the_same(&reading.spec, thing), "{spelling}: {thing}");
        }
    }
}

/// Where the target decides what an instruction means, its spelling has it, so that the file is read as it was written.
#[test]
fn a_target_that_decides_is_spelled() {
    let of = |spelling: &str, sm: &str| {
        let target = Target { sm: Some(sm.parse().unwrap()), ptx: None };
        Generated::new(&[spelling], 1, 1, &target).unwrap().instructions()[0].spelling.clone()
    };
    assert_eq!(of("mad.f32", "sm_20"), "mad.f32@sm_20");
    assert_eq!(of("add.f32", "sm_13"), "add.f32@sm_13");
    assert_eq!(of("fma.rn.f32", "sm_90"), "fma.rn.f32");
    let twice = Generated::new(&["fma.rn.f32", "fma.rn.f32"], 1, 1, &Target::default()).unwrap_err();
    assert_eq!(twice.message, "`fma.rn.f32` is named twice");
}

#[test]
fn seeds() {
    let of = |seed| -> Vec<Vector> {
        let made = Generated::new(&["fma.rn.f32", "FFMA"], 100, seed, &Default::default()).unwrap();
        made.iter().map(|(_, vector)| vector).collect()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    // Two spellings of one operation get operands of their own.
    assert_ne!(of(1)[..100], of(1)[100..]);
}

/// The first vectors of a seed, for ever.
#[test]
fn the_same_on_every_machine() {
    let made = generated("fma.rn.f32", 3);
    let results: Vec<u64> = made.iter().map(|(_, vector)| vector.result.components()[0]).collect();
    assert_eq!(results, [0x8080_0000, 0x7fff_ffff, 0x5c00_0100]);
}
