//! Every spelling of every row against the rational judge, on every kind of operand.

use roundonce_arith::{ConditionCodes, Format, Profile};
use roundonce_oracle::{Direction, FlushRule, Layout, Shape, Spec, condition_codes, rational::judge};
use roundonce_sass::{FORMS, parse_line};

/// One of each kind, and neighbours of every boundary.
const VALUES: [u64; 18] = [
    0x0000_0000, // +0
    0x8000_0000, // -0
    0x0000_0001, // the smallest subnormal
    0x807f_ffff, // the largest subnormal, negative
    0x0080_0000, // the smallest normal
    0x8080_0001,
    0x3f80_0000, // 1
    0x3f80_0001,
    0xbf80_0002,
    0x3f00_0000,
    0x1f80_0001, // its square is a rounded subnormal
    0xa000_0000,
    0x7f7f_ffff, // the largest finite
    0xff7f_ffff,
    0x7f80_0000, // infinity
    0xff80_0000,
    0x7fc1_2345, // NaN
    0xff80_0001, // a signalling NaN
];

/// What a spelling means, read here and not by the product: text in, the judge's own types out.
fn spec(spelling: &str, [a, b, c]: [bool; 3]) -> Spec {
    let mut parts = spelling.split('.');
    let shape = match parts.next().unwrap() {
        "FFMA" | "FFMA32I" => Shape::MulAdd,
        "FADD" | "FADD32I" => Shape::Add,
        "FMUL" | "FMUL32I" => Shape::Mul,
        other => panic!("{other}"),
    };
    let mut spec = Spec::new(shape, Layout::F32, Direction::Nearest);
    for part in parts {
        match part {
            "FTZ" => spec.flush = Some(FlushRule::Rounded),
            "FMZ" => {
                spec.flush = Some(FlushRule::Rounded);
                spec.fmz = true;
            }
            "RN" => spec.direction = Direction::Nearest,
            "RM" => spec.direction = Direction::Down,
            "RP" => spec.direction = Direction::Up,
            "RZ" => spec.direction = Direction::Zero,
            "SAT" => spec.saturate = true,
            "CC" => {}
            other => panic!("{other}"),
        }
    }
    spec.negate_a = a ^ b;
    spec.negate_c = c;
    spec
}

fn signed(negate: bool, register: &str) -> String {
    format!("{}{register}", if negate { "-" } else { "" })
}

/// The statement of a spelling, its three signs as far as it has them, and the immediate where it takes one.
fn statement(spelling: &str, [a, b, c]: [bool; 3], immediate: u64) -> String {
    let (a, rb, rc) = (signed(a, "R1"), signed(b, "R2"), signed(c, "R3"));
    let neg = if b { ".NEG" } else { "" };
    match spelling.split('.').next().unwrap() {
        "FFMA" => format!("{spelling} R0, {a}, {rb}, {rc}"),
        "FFMA32I" => format!("{spelling} R0, {a}, {immediate:#010x}{neg}, {}", signed(c, "R0")),
        "FADD" => format!("{spelling} R0, {a}, {rc}"),
        "FMUL" => format!("{spelling} R0, {a}, {rb}"),
        "FADD32I" => format!("{spelling} R0, {a}, {immediate:#010x}"),
        _ => format!("{spelling} R0, {a}, {immediate:#010x}{neg}"),
    }
}

#[test]
fn every_spelling() {
    let mut cases = 0_u64;
    for form in FORMS {
        for (spelling, _) in form.spellings() {
            for signs in 0..8 {
                // An immediate of an addition has its sign in its bits.
                let c = signs & 4 != 0 && form.mnemonic != "FADD32I";
                let negate = [signs & 1 != 0, signs & 2 != 0 && !form.mnemonic.starts_with("FADD"), c];
                let wanted = spec(&spelling, negate);
                let text = statement(&spelling, negate, 0x3dcc_cccd);
                let recipe = parse_line(&text).unwrap_or_else(|f| panic!("{text}: {f}")).instruction.recipe().unwrap();
                assert_eq!(recipe.condition_codes, spelling.ends_with(".CC"), "{text}");
                let kind = recipe.operation.op;
                for a in VALUES {
                    for b in VALUES {
                        let addends: &[u64] = if kind.arity() == 3 { &VALUES } else { &[0] };
                        for &c in addends {
                            let all = match wanted.shape {
                                Shape::MulAdd => [a, b, c],
                                Shape::Add => [a, 0, b],
                                _ => [a, b, 0],
                            };
                            // FMUL32I has no sign: the immediate's bits take it.
                            let folded = form.mnemonic == "FMUL32I" && negate[0] != negate[1];
                            let b = if folded { b ^ 0x8000_0000 } else { b };
                            let given: &[u64] = if kind.arity() == 3 { &[a, b, c] } else { &[a, b] };
                            let ours = recipe.operation.evaluate(&Profile::NVIDIA, given);
                            let theirs = judge(&wanted, all);
                            assert_eq!(ours.bits, theirs.bits, "{text} on {all:#010x?}");
                            let codes = ConditionCodes::of(Format::F32, ours.bits).bits();
                            assert_eq!(codes, condition_codes(Layout::F32, theirs.bits), "{text} on {all:#010x?}");
                            cases += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(cases, 8 * (72 * 18 * 18 * 18 + 116 * 18 * 18));
}

/// The cases that the manual's text singles out, by their bits.
#[test]
fn witnesses() {
    const INF: u64 = 0x7f80_0000;
    const NAN: u64 = 0x7fc0_0000;
    const NEGATIVE_ZERO: u64 = 0x8000_0000;
    const HALF: u64 = 0x3f00_0000;
    const ONE: u64 = 0x3f80_0000;
    const SUBNORMAL: u64 = 0x0040_0000;
    #[rustfmt::skip] // One case a row.
    let cases = [
        // .FMZ: a zero factor makes the product +0, whatever the other is; the addend takes part.
        ("FFMA.FMZ",        [INF, 0, ONE],                       ONE,           "----"),
        ("FFMA.FMZ",        [NAN, NEGATIVE_ZERO, ONE],           ONE,           "----"),
        ("FFMA.FMZ",        [INF, SUBNORMAL, ONE],               ONE,           "----"),
        ("FFMA.FMZ",        [0, ONE, NEGATIVE_ZERO],             0,             "Z---"),
        ("FFMA.FMZ",        [NEGATIVE_ZERO, ONE, NEGATIVE_ZERO], 0,             "Z---"),
        ("FFMA.FMZ.RM",     [0, ONE, NEGATIVE_ZERO],             NEGATIVE_ZERO, "Z---"),
        ("FFMA.FMZ",        [0, NAN, NAN],                       0x7fff_ffff,   "ZS--"),
        ("FFMA.FMZ",        [0, NAN, SUBNORMAL],                 0,             "Z---"),
        ("FFMA.FMZ.SAT",    [INF, 0, HALF],                      HALF,          "----"),
        ("FFMA.FMZ.SAT",    [0, NAN, NAN],                       0,             "Z---"),
        ("FFMA.FMZ.SAT",    [NAN, ONE, HALF],                    0,             "Z---"),
        ("FFMA32I.FMZ.SAT", [INF, 0, HALF],                      HALF,          "----"),
        // .FTZ alone: 0 × infinity is NaN; zeros keep their signs.
        ("FFMA.FTZ",        [INF, SUBNORMAL, ONE],               0x7fff_ffff,   "ZS--"),
        ("FFMA.FTZ",        [0x8040_0000, ONE, NEGATIVE_ZERO],   NEGATIVE_ZERO, "Z---"),
        ("FFMA.FTZ.SAT",    [NAN, ONE, ONE],                     0,             "Z---"),
        ("FFMA",            [SUBNORMAL, ONE, 0],                 SUBNORMAL,     "----"),
        // Codes of every class of result.
        ("FFMA",            [0xff80_0000, ONE, ONE],             0xff80_0000,   "-S--"),
        ("FFMA",            [INF, ONE, ONE],                     INF,           "----"),
        ("FFMA",            [0xbf80_0000, ONE, 0],               0xbf80_0000,   "-S--"),
        ("FFMA",            [0x8000_0001, ONE, 0],               0x8000_0001,   "-S--"),
        ("FFMA",            [NEGATIVE_ZERO, ONE, NEGATIVE_ZERO], NEGATIVE_ZERO, "Z---"),
        ("FFMA",            [INF, ONE, 0xff80_0000],             0x7fff_ffff,   "ZS--"),
        ("FFMA",            [0x3f80_0001, 0x3f80_0001, 0xbf80_0002], 0x2880_0000, "----"),
    ];
    for (spelling, operands, bits, codes) in cases {
        let signs = [false; 3];
        let text = statement(spelling, signs, operands[1]);
        let recipe = parse_line(&text).unwrap().instruction.recipe().unwrap();
        let outcome = recipe.operation.evaluate(&Profile::NVIDIA, &operands);
        assert_eq!(outcome.bits, bits, "{spelling} on {operands:#010x?}");
        assert_eq!(ConditionCodes::of(Format::F32, bits).to_string(), codes, "{spelling}: codes of {bits:#010x}");
        assert_eq!(judge(&spec(spelling, signs), operands).bits, bits, "{spelling} on {operands:#010x?}");
    }
}
