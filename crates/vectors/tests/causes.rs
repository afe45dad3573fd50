//! Errors planted by judges that share no code with the product, and the cause that each must be diagnosed as.

mod common;

use common::{of, verified};
use roundonce_oracle::generate::Generator;
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, UNDERFLOW, Verdict, rational};
use roundonce_vectors::Report;

const F32: Layout = Layout::F32;

fn triples(layout: Layout) -> Vec<[u64; 3]> {
    let mut generator = Generator::new(8, layout, layout);
    (0..20_000).map(|_| generator.triple()).collect()
}

fn right(direction: Direction) -> Spec {
    Spec::new(Shape::MulAdd, F32, direction)
}

/// TestFloat's text of what a machine gives, verified as an instruction.
fn report(spelling: &str, layout: Layout, flags: bool, machine: impl Fn([u64; 3]) -> Verdict) -> Report {
    let mut text = String::new();
    for triple in triples(layout) {
        let [a, b, c] = triple;
        let Verdict { bits, flags: raised } = machine(triple);
        text.push_str(&format!("{a:08x} {b:08x} {c:08x} {bits:08x}"));
        text.push_str(&if flags { format!(" {raised:02x}\n") } else { "\n".to_owned() });
    }
    verified(text.as_bytes(), &of(spelling))
}

/// The only cause of all failures, contradicted by no vector that passes.
fn only_cause(report: &Report) -> &str {
    assert!(report.failed > 0, "nothing fails");
    let [group] = report.causes.as_slice() else {
        panic!("{}", report.lines().join("\n"));
    };
    assert_eq!((group.count, group.contradicted), (report.failed, 0), "{}", report.lines().join("\n"));
    &group.cause
}

fn planted(spelling: &str, spec: Spec) -> String {
    only_cause(&report(spelling, spec.to, false, |triple| rational::judge(&spec, triple))).to_owned()
}

fn subnormal(bits: u64) -> bool {
    bits & F32.magnitude() != 0 && bits & F32.magnitude() < F32.smallest_normal()
}

#[test]
fn nothing_planted() {
    for direction in Direction::ALL {
        let name = ["rn", "rz", "rm", "rp"][direction as usize];
        let all = report(&format!("fma.{name}.f32"), F32, true, |triple| rational::judge(&right(direction), triple));
        assert!(all.is_clean(), "{}", all.lines().join("\n"));
        assert_eq!(all.vectors, 20_000);
    }
}

#[test]
fn another_rounding() {
    for (direction, cause) in
        [(Direction::Zero, "rounding toward zero"), (Direction::Down, "rounding down"), (Direction::Up, "rounding up")]
    {
        assert_eq!(planted("fma.rn.f32", right(direction)), cause);
    }
    assert_eq!(planted("fma.rz.f32", right(Direction::Nearest)), "rounding to nearest even");
}

#[test]
fn flushes() {
    let nearest = right(Direction::Nearest);
    let flushing = Spec { flush: Some(FlushRule::Rounded), ..nearest };
    assert_eq!(planted("fma.rn.f32", flushing), "flushing subnormal operands and results");
    assert_eq!(planted("fma.rn.ftz.f32", nearest), "keeping subnormal operands and results");
    let delivered = Spec { flush: Some(FlushRule::Delivered), ..nearest };
    assert_eq!(planted("fma.rn.ftz.f32", delivered), "flushing results that are delivered as subnormals");
    let exact = Spec { flush: Some(FlushRule::Exact), ..nearest };
    assert_eq!(planted("fma.rn.ftz.f32", exact), "flushing subnormal results before rounding");
}

#[test]
fn half_a_flush() {
    let zeroed = |bits| if subnormal(bits) { bits & F32.sign() } else { bits };
    let judge = |triple| rational::judge(&right(Direction::Nearest), triple);
    let operands = report("fma.rn.f32", F32, false, |triple| judge(triple.map(zeroed)));
    assert_eq!(only_cause(&operands), "flushing subnormal operands");
    let results = report("fma.rn.f32", F32, false, |triple| Verdict { bits: zeroed(judge(triple).bits), flags: 0 });
    assert_eq!(only_cause(&results), "flushing results that are delivered as subnormals");
    // Flushed by the exact value: underflow before rounding says of which inexact results that holds.
    let underflow = Spec { underflow_before_rounding: true, ..right(Direction::Nearest) };
    let before = report("fma.rn.f32", F32, false, |triple| {
        let Verdict { bits, .. } = judge(triple);
        let tiny = rational::judge(&underflow, triple).flags & UNDERFLOW != 0;
        Verdict { bits: if tiny || subnormal(bits) { bits & F32.sign() } else { bits }, flags: 0 }
    });
    assert_eq!(only_cause(&before), "flushing subnormal results before rounding");
}

#[test]
fn modifiers() {
    let nearest = right(Direction::Nearest);
    let saturating = Spec { saturate: true, ..nearest };
    assert_eq!(planted("fma.rn.f32", saturating), "saturating the result");
    assert_eq!(planted("fma.rn.sat.f32", nearest), "not saturating the result");
    let flushing = Spec { flush: Some(FlushRule::Rounded), ..nearest };
    let dominated = Spec { fmz: true, ..flushing };
    assert_eq!(planted("FFMA.FTZ", dominated), "a zero factor making the product +0 (FMZ)");
    assert_eq!(planted("FFMA.FMZ", flushing), "a zero factor not making the product +0 (no FMZ)");
    let truncated = Spec {
        shape: Shape::TruncatedMulAdd,
        flush: Some(FlushRule::Delivered),
        flush_of_two: Some(FlushRule::Rounded),
        ..nearest
    };
    assert_eq!(planted("fma.rn.ftz.f32", truncated), "cutting the product to the result's precision (mad of sm_1x)");
    assert_eq!(planted("mad.f32@sm_13", flushing), "not cutting the product (fma)");
    let negated = Spec { negate_c: true, ..nearest };
    assert_eq!(planted("fma.rn.f32", negated), "the addend's sign flipped");
}

#[test]
fn rounded_twice() {
    let unfused = |[a, b, c]: [u64; 3]| {
        let one = |shape, operands| rational::judge(&Spec { shape, ..right(Direction::Nearest) }, operands);
        one(Shape::Add, [one(Shape::Mul, [a, b, 0]).bits, 0, c])
    };
    let all = report("f32_mulAdd", F32, false, unfused);
    assert_eq!(only_cause(&all), "rounding the product before the sum (unfused)");
    // The host's f64, as people do it: the product of two f32 is exact in it.
    let wide = |triple: [u64; 3]| {
        let [a, b, c] = triple.map(|bits| f64::from(f32::from_bits(bits as u32)));
        Verdict { bits: ((a * b + c) as f32).to_bits().into(), flags: 0 }
    };
    let all = report("f32_mulAdd", F32, false, wide);
    assert_eq!(only_cause(&all), "computing in f64 and rounding again (double rounding)");
}

#[test]
fn specials() {
    let judge = |triple| rational::judge(&right(Direction::Nearest), triple);
    let payload = Spec { nan: NanBits::FirstOf([0, 1, 2]), ..right(Direction::Nearest) };
    assert_eq!(planted("fma.rn.f32", payload), "giving the first NaN operand in the order abc");
    // TestFloat takes any NaN for any other.
    assert!(report("f32_mulAdd", F32, true, |triple| rational::judge(&payload, triple)).is_clean());
    let zero = report("fma.rn.f32", F32, false, |triple| {
        let Verdict { bits, flags } = judge(triple);
        Verdict { bits: if bits & F32.magnitude() == 0 { bits ^ F32.sign() } else { bits }, flags }
    });
    assert_eq!(only_cause(&zero), "the other sign of a zero");
}

/// `.oob` left out, or done unasked: no other cause, whatever formats that computes in.
#[test]
fn out_of_bounds() {
    let layout = Layout::F16;
    let mut all = triples(layout);
    for (index, triple) in all.iter_mut().enumerate().filter(|(index, _)| index % 3 == 0) {
        triple[index / 3 % 2] = 0x7ff7 | (index as u64 & 8) << 12;
    }
    let without = Spec::new(Shape::MulAdd, layout, Direction::Nearest);
    let with = Spec { oob_nan: Some(0x7ff7), ..without };
    for (spelling, machine, cause) in [
        ("fma.rn.oob.f16", without, "taking an out-of-bounds NaN as any NaN (no .oob)"),
        ("fma.rn.f16", with, "an out-of-bounds NaN as a factor making the result +0 (.oob)"),
    ] {
        let rows = all
            .iter()
            .map(|&[a, b, c]| format!("{a:04x} {b:04x} {c:04x} {:04x}\n", rational::judge(&machine, [a, b, c]).bits));
        let report = verified(rows.collect::<String>().as_bytes(), &of(spelling));
        assert_eq!(only_cause(&report), cause);
        assert_eq!(report.causes[0].as_well, Vec::<String>::new());
        // One vector alone is told, too.
        let one = format!("7ff7 3c00 3c00 {:04x}\n", rational::judge(&machine, [0x7ff7, 0x3c00, 0x3c00]).bits);
        assert_eq!(only_cause(&verified(one.as_bytes(), &of(spelling))), cause);
    }
}

/// A product that is exact in the result's format has no ties, whatever formats its factors have.
#[test]
fn exact_products_of_mixed_formats() {
    for row in [
        r#"{"instruction":"mul.f16x2.f16x2.bf16x2","a":"0x38003800","b":"0x47804780","d":"0x7c007c00"}"#,
        r#"{"instruction":"mul.f16x2.f16x2.bf16x2","a":"0x00000000","b":"0xefc0efc0","d":"0x7fff7fff"}"#,
    ] {
        let report = verified(row.as_bytes(), &roundonce_vectors::Options::default());
        let [group] = report.causes.as_slice() else { panic!("{}", report.lines().join("\n")) };
        assert!(!group.explained, "{}", group.cause);
    }
}

#[test]
fn two_at_once() {
    let spec = Spec { flush: Some(FlushRule::Rounded), ..right(Direction::Zero) };
    assert_eq!(planted("fma.rn.f32", spec), "flushing subnormal operands and results and rounding toward zero");
}

/// Two errors, never together: each by itself, the commoner first.
#[test]
fn two_apart() {
    let judge = |direction| move |triple| rational::judge(&right(direction), triple);
    let zeroed = |bits| if subnormal(bits) { bits & F32.sign() } else { bits };
    let all = report("fma.rn.f32", F32, false, |triple| match triple[2] % 2 {
        0 => judge(Direction::Up)(triple),
        _ => Verdict { bits: zeroed(judge(Direction::Nearest)(triple).bits), flags: 0 },
    });
    let causes: Vec<&str> = all.causes.iter().map(|group| group.cause.as_str()).collect();
    assert_eq!(causes, ["rounding up", "flushing results that are delivered as subnormals"]);
    assert!(all.causes.iter().all(|group| group.contradicted > 0));
    assert_eq!(all.causes.iter().map(|group| group.count).sum::<u64>(), all.failed);
}

#[test]
fn flags_alone() {
    let before = Spec { underflow_before_rounding: true, ..right(Direction::Nearest) };
    let all = report("fma.rn.f32", F32, true, |triple| rational::judge(&before, triple));
    assert_eq!(only_cause(&all), "flags of tininess detected before rounding");
    let silent = report("fma.rn.f32", F32, true, |triple| {
        let Verdict { bits, flags } = rational::judge(&right(Direction::Nearest), triple);
        Verdict { bits, flags: flags & !16 }
    });
    assert_eq!(only_cause(&silent), "flags alone: invalid missing");
    // Where a direction gives the right bits, its flags are its own.
    let down = report("fma.rn.f32", F32, true, |triple| rational::judge(&right(Direction::Down), triple));
    assert_eq!(only_cause(&down), "rounding down");
}

/// What explains the same failures as well is named beside the first.
#[test]
fn one_vector_has_many_causes() {
    let rows =
        [("3f800003 3f800001 33800000 3f800004", ".rz and .rm too"), ("3f800000 3f800000 33800001 3f800000", ".rz")];
    for (row, what) in rows {
        let all = verified(format!("{row}\n").as_bytes(), &of("fma.rn.f32"));
        let [group] = all.causes.as_slice() else { panic!("{}", all.lines().join("\n")) };
        let names: Vec<&str> = std::iter::once(&group.cause).chain(&group.as_well).map(String::as_str).collect();
        for cause in ["rounding toward zero", "rounding down"] {
            assert!(names.contains(&cause), "{what}: {names:?}");
        }
        assert!(all.lines().iter().any(|line| line.ends_with("these failures do not tell them apart")));
    }
}

#[test]
fn nothing_known() {
    let near = |[a, b, c]: [u64; 3]| rational::judge(&right(Direction::Nearest), [a, b, c]);
    // An error of one unit in one row of a hundred, and of many in another.
    let all = report("fma.rn.f32", F32, false, |triple| {
        let Verdict { bits, flags } = near(triple);
        let finite = bits & F32.magnitude() > 0x1000_0000 && bits & F32.magnitude() < 0x7f00_0000;
        // To the farther neighbour, which no rounding gives.
        let exact = near_exact(triple);
        let bits = match triple[0] % 100 {
            17 if finite && exact => bits ^ 1,
            18 if finite => bits ^ 0x0001_1000,
            _ => bits,
        };
        Verdict { bits, flags }
    });
    let causes: Vec<(&str, bool)> = all.causes.iter().map(|group| (group.cause.as_str(), group.explained)).collect();
    let beside = "one unit in the last place beside the expected result; nothing known explains it";
    assert!(causes.contains(&(beside, false)), "{causes:?}");
    assert!(causes.contains(&("nothing known explains it", false)), "{causes:?}");
    assert_eq!(all.causes.iter().map(|group| group.count).sum::<u64>(), all.failed);
}

/// Whether the exact result is an f32.
fn near_exact(triple: [u64; 3]) -> bool {
    rational::judge(&right(Direction::Nearest), triple).flags == 0
}

/// The first failure of a cause is shown with its row.
#[test]
fn the_first_of_a_cause() {
    let text = "3f800000 3f800000 3f800000 40000000 00\n3f800001 3f800001 bf800002 00000000 00\n";
    let all = verified(text.as_bytes(), &of("fma.rn.f32"));
    let expected = [
        "fma.rn.f32: 2 vectors, 1 fail",
        "",
        "the failure is explained by rounding the product before the sum (unfused)",
        "  or by cutting the product to the result's precision (mad of sm_1x): these failures do not tell them apart",
        "  first: row 2: fma.rn.f32 0x3f800001 0x3f800001 0xbf800002",
        "    saw 0x00000000 flags 00, expected 0x28800000 flags 00",
    ];
    assert_eq!(all.lines(), expected);
}

/// A cause that changes the failing vectors to something else does not explain them all, and says so; results one unit
/// beside the right ones are not explained by a rounding where as many are beside it that no rounding gives.
#[test]
fn what_contradicts() {
    let judge = |triple| rational::judge(&right(Direction::Nearest), triple);
    let zeros = report("fma.rn.f32", F32, false, |_| Verdict { bits: 0, flags: 0 });
    assert_eq!(zeros.instructions[0].constant.as_deref(), Some("0x00000000"));
    let says = |text: &str| zeros.lines().iter().any(|line| line.contains(text));
    assert!(says("every result is 0x00000000: perhaps nothing was computed"));
    // By accident: in JSON alone.
    assert!(!says("saturating the result") && says("first: row 1: ") && says("saw 0x00000000, expected "));
    let saturating = zeros.causes.iter().find(|group| group.cause.starts_with("saturating the result"));
    let saturating = saturating.unwrap_or_else(|| panic!("{}", zeros.lines().join("\n")));
    assert!(saturating.failures_contradicted > saturating.failures_sampled / 10, "{}", zeros.lines().join("\n"));
    let beside = |triple| {
        let Verdict { bits, .. } = judge(triple);
        let is_finite = bits & F32.magnitude() < F32.infinity() - 1;
        Verdict { bits: if is_finite { bits + 1 } else { bits }, flags: 0 }
    };
    let beside = report("fma.rn.f32", F32, false, beside);
    assert!(beside.failed > 10_000);
    let explained: u64 = beside.causes.iter().filter(|group| group.explained).map(|group| group.count).sum();
    assert!(explained < beside.failed / 100, "{}", beside.lines().join("\n"));
}
