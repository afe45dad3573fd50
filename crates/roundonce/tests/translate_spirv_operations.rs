//! Single instructions of PTX as SPIR-V: on directed and random operands each gives the bits of the source, and those of
//! the multiply-add family are what the arithmetic says.

#[path = "translation/instructions.rs"]
mod instructions;

use instructions::{BLOCK, compared, results, spelled, triples};
use roundonce::Profile;
use roundonce::arith::{ArithOp, Clamp, Format, Operation, Rounding};

const DIRECTIONS: [(&str, Rounding); 4] =
    [(".rn", Rounding::NearestEven), (".rz", Rounding::TowardZero), (".rm", Rounding::Down), (".rp", Rounding::Up)];

/// The family in f32, every direction, flushed or not, saturated or not; the operation that each line is.
fn family() -> Vec<(String, Operation)> {
    let mut all = Vec::new();
    for (direction, rounding) in DIRECTIONS {
        for (ftz, flush) in [("", false), (".ftz", true)] {
            for (sat, clamp) in [("", Clamp::None), (".sat", Clamp::Unit)] {
                for (name, op, operands) in [
                    ("fma", ArithOp::MulAdd, "a32, b32, c32"),
                    ("mul", ArithOp::Mul, "a32, b32"),
                    ("add", ArithOp::Add, "a32, c32"),
                    ("sub", ArithOp::Add, "a32, c32"),
                ] {
                    let negate_addend = name == "sub";
                    let operation =
                        Operation { flush, clamp, negate_addend, ..Operation::new(op, Format::F32, rounding) };
                    all.push((format!("{name}{direction}{ftz}{sat}.f32 o32, {operands}"), operation));
                }
            }
        }
    }
    all
}

/// The family in f64, every direction.
fn family_of_doubles() -> Vec<(String, Operation)> {
    let operations = [
        ("fma", ArithOp::MulAdd, "a64, b64, c64"),
        ("mul", ArithOp::Mul, "a64, b64"),
        ("add", ArithOp::Add, "a64, c64"),
        ("sub", ArithOp::Add, "a64, c64"),
    ];
    let of = |(direction, rounding): (&str, Rounding)| {
        operations.map(|(name, op, operands)| {
            let negate_addend = name == "sub";
            let operation = Operation { negate_addend, ..Operation::new(op, Format::F64, rounding) };
            (format!("{name}{direction}.f64 o64, {operands}"), operation)
        })
    };
    DIRECTIONS.into_iter().flat_map(of).collect()
}

/// By the arithmetic.
fn check(lines: &[(String, Operation)], triples: &[[u64; 3]]) -> usize {
    let texts: Vec<String> = lines.iter().map(|(line, _)| line.clone()).collect();
    let found = results(&texts, triples);
    for (place, &found) in found.iter().enumerate() {
        let (triple, (line, operation)) = (triples[place / lines.len()], &lines[place % lines.len()]);
        let [a, b, c] = triple;
        let operands = match operation.op {
            ArithOp::Add => vec![a, c],
            ArithOp::Mul => vec![a, b],
            _ => vec![a, b, c],
        };
        let wanted = operation.evaluate(&Profile::NVIDIA, &operands).bits;
        assert_eq!(found, wanted, "`{line}` of {triple:x?}");
    }
    found.len()
}

/// Together, so that the modes say none of the directions but one: a million results by f64.
#[test]
fn roundings_that_modes_do_not_say() {
    let lines = family();
    let done = check(&lines, &triples(Format::F32, 16_384, 1));
    assert!(done >= 1_000_000, "only {done} results");
}

/// Each alone, so that the modes say what they can.
#[test]
fn roundings_that_modes_say() {
    let triples = triples(Format::F32, 2_048, 2);
    for line in family() {
        check(&[line], &triples);
    }
}

#[test]
fn quotients_and_roots() {
    let mut lines = Vec::new();
    for (direction, _) in DIRECTIONS {
        for ftz in ["", ".ftz"] {
            lines.push(format!("div{direction}{ftz}.f32 o32, a32, b32"));
            lines.push(format!("rcp{direction}{ftz}.f32 o32, a32"));
            lines.push(format!("sqrt{direction}{ftz}.f32 o32, a32"));
        }
    }
    results(&lines, &triples(Format::F32, 32_768, 3));
    let lines = ["div.rn.f64", "sqrt.rn.f64", "rcp.rn.f64", "rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"];
    let lines = lines.map(|name| format!("{name} o64, a64{}", if name.starts_with("div") { ", b64" } else { "" }));
    results(&lines, &triples(Format::F64, 8_192, 4));
}

/// `mad.f32` of sm_1x, whose product is cut: addends that are zeros, subnormals, and products that cancel.
#[test]
fn cut_products() {
    let text = "ld.global.u32 a, [i];\nld.global.u32 b, [i+8];\nld.global.u32 c, [i+16];\nmov.b32 x, a;\nmov.b32 y, b;\nmov.b32 z, c;\n\
                mad.f32 w, x, y, z;\nst.global.f32 [o], w;\nmad.sat.f32 w, x, y, z;\nst.global.f32 [o+8], w;\nexit;\n}\n";
    let text = format!(
        ".version 1.4\n.target sm_13\n.entry k (.param .u32 p, .param .u32 q)\n{{\n.reg .u32 a, b, c, i, o, t, v;\n.reg .f32 x, y, z, w;\n\
         cvt.u32.u16 t, %tid.x;\ncvt.u32.u16 v, %ctaid.x;\nmad.lo.u32 t, v, {BLOCK}, t;\nld.param.u32 i, [p];\nmad.lo.u32 i, t, 24, i;\n\
         ld.param.u32 o, [q];\nmad.lo.u32 o, t, 16, o;\n{text}"
    );
    let mut all = triples(Format::F32, 65_536, 12);
    for (at, triple) in all.iter_mut().enumerate() {
        let product = f32::from_bits(triple[0] as u32) * f32::from_bits(triple[1] as u32);
        match at % 5 {
            0 => triple[2] = (at as u64 / 5 % 2) << 31,
            1 => triple[2] = u64::from((-product).to_bits()) ^ (at as u64 / 5 % 3),
            2 => triple[2] = (at as u64 * 7_919) & 0x807f_ffff,
            _ => {}
        }
    }
    compared(&text, &["mad".to_owned(), "mad.sat".to_owned()], &all);
}

/// f64 is rounded in a direction by integers where the modes say another: sums and products near the ends of the range, ties,
/// subnormals, cancellations.
#[test]
fn directions_of_doubles() {
    let lines = family_of_doubles();
    let mut all = triples(Format::F64, 16_384, 11);
    // Products and addends at every distance, some of which cancel.
    for at in 0..8_192u64 {
        let [a, b, c] = all[(at * 2) as usize];
        let field = |bits: u64, by: u64| bits & !(0x7ff << 52) | (by & 0x7ff) << 52;
        let (x, y) = (1_023 + at % 40, 1_023 + at / 40 % 40);
        let addend = (x + y).wrapping_sub(1_023).wrapping_add(at / 3 % 260).wrapping_sub(130);
        all.push([field(a, x), field(b, y), field(c, addend)]);
        // The product's own bits with the other sign: what is left is what was rounded away.
        let product = f64::from_bits(field(a, x)) * f64::from_bits(field(b, y));
        all.push([field(a, x), field(b, y), (-product).to_bits() ^ (at & 3)]);
    }
    let done = check(&lines, &all);
    assert!(done >= 500_000, "only {done} results");
}

#[test]
fn doubles() {
    let lines = [
        "fma.rn.f64 o64, a64, b64, c64",
        "mul.rn.f64 o64, a64, b64",
        "add.rn.f64 o64, a64, c64",
        "sub.rn.f64 o64, a64, c64",
        "min.f64 o64, a64, b64",
        "max.f64 o64, a64, b64",
        "abs.f64 o64, a64",
        "neg.f64 o64, a64",
        "copysign.f64 o64, a64, b64",
        "setp.lt.f64 p, a64, b64",
        "setp.equ.f64 p, a64, b64",
        "testp.subnormal.f64 p, a64",
        "cvt.rn.f32.f64 o32, a64",
        "cvt.rz.f32.f64 o32, a64",
        "cvt.rm.f32.f64 o32, a64",
        "cvt.rp.f32.f64 o32, a64",
        "cvt.rp.ftz.f32.f64 o32, a64",
        "cvt.rn.ftz.f32.f64 o32, a64",
        "cvt.rn.sat.f32.f64 o32, a64",
        "cvt.rn.f16.f64 o16, a64",
        "cvt.rni.s32.f64 o32, a64",
        "cvt.rzi.u32.f64 o32, a64",
        "cvt.rmi.s64.f64 o64, a64",
        "cvt.rpi.u64.f64 o64, a64",
        "cvt.rni.f64.f64 o64, a64",
        "cvt.rmi.f64.f64 o64, a64",
        "cvt.rn.f64.s64 o64, a64",
        "cvt.rn.f64.u64 o64, a64",
    ]
    .map(str::to_owned);
    results(&lines, &triples(Format::F64, 16_384, 5));
}

#[test]
fn halves() {
    let mut lines: Vec<String> = Vec::new();
    for ty in ["f16", "bf16"] {
        let ftz = if ty == "f16" { [".ftz", ""] } else { ["", ""] };
        for ftz in ftz {
            lines.push(format!("fma.rn{ftz}.{ty} o16, a16, b16, c16"));
            lines.push(format!("fma.rn{ftz}.relu.{ty} o16, a16, b16, c16"));
            lines.push(format!("fma.rn.oob.{ty} o16, a16, b16, c16"));
            lines.push(format!("fma.rn.oob.relu.{ty}x2 o32, a32, b32, c32"));
            lines.push(format!("fma.rn{ftz}.{ty}x2 o32, a32, b32, c32"));
            lines.push(format!("add{ftz}.rn.{ty} o16, a16, b16").replace("add.ftz.rn", "add.rn.ftz"));
            lines.push(format!("mul{ftz}.rn.{ty}x2 o32, a32, b32").replace("mul.ftz.rn", "mul.rn.ftz"));
            lines.push(format!("min{ftz}.{ty} o16, a16, b16"));
            lines.push(format!("max{ftz}.NaN.{ty} o16, a16, b16"));
            lines.push(format!("setp.lt{ftz}.{ty} p, a16, b16"));
        }
        lines.push(format!("abs.{ty} o16, a16"));
        lines.push(format!("neg.{ty} o16, a16"));
        lines.push(format!("cvt.f32.{ty} o32, a16"));
    }
    lines.push("fma.rn.sat.f16 o16, a16, b16, c16".to_owned());
    lines.push("cvt.rni.s32.f16 o32, a16".to_owned());
    lines.push("cvt.rzi.u16.f16 o16, a16".to_owned());
    lines.push("cvt.rn.f16.s32 o16, a32".to_owned());
    lines.push("cvt.rz.f16.u64 o16, a64".to_owned());
    lines.push("cvt.f64.f16 o64, a16".to_owned());
    lines.push("cvt.rmi.f16.f16 o16, a16".to_owned());
    let mut all = triples(Format::F16, 8_192, 6);
    all.extend(triples(Format::BF16, 8_192, 7));
    // The out-of-bounds NaN among the operands.
    for at in 0..256usize {
        let place = at * 61;
        all[place][at % 3] = 0x7ff7;
    }
    let lines = spelled(lines);
    assert!(lines.len() >= 42, "{} lines", lines.len());
    // Of packed operations the upper half has other numbers.
    let swapped: Vec<[u64; 3]> = all.iter().rev().map(|&[a, b, c]| [c, a, b]).collect();
    let packed = all.iter().zip(&swapped);
    let packed: Vec<[u64; 3]> =
        packed.map(|(low, high)| [0, 1, 2].map(|at| low[at] & 0xffff | (high[at] & 0xffff) << 16)).collect();
    results(&lines, &packed);
}

/// A subnormal f16 is a normal f32: beside halves that are flushed it is not.
#[test]
fn halves_of_f32() {
    let mut lines = vec!["mul.rn.ftz.f16x2 o32, a32, b32".to_owned()];
    for rounding in ["rn", "rz", "rm", "rp"] {
        for sat in ["", ".sat"] {
            lines.push(format!("add.{rounding}{sat}.f32.f16 o32, a16, c32"));
            lines.push(format!("sub.{rounding}{sat}.f32.f16 o32, a16, c32"));
            lines.push(format!("fma.{rounding}{sat}.f32.f16 o32, a16, b16, c32"));
        }
    }
    let lines = spelled(lines);
    assert_eq!(lines.len(), 25);
    let mut all = triples(Format::F16, 4_096, 15);
    for ([_, _, c], wide) in all.iter_mut().zip(triples(Format::F32, 4_096, 16)) {
        *c = if *c % 3 == 0 { 0 } else { wide[2] };
    }
    results(&lines, &all);
}

/// 64-bit integers in the middle of two bf16, and beside it, which f64 cannot tell from it.
#[test]
fn long_integers_of_bf16() {
    let of = |rounding: &str| ["u64", "s64"].map(|ty| format!("cvt.{rounding}.bf16.{ty} o16, a64"));
    let lines: Vec<String> = ["rn", "rz", "rm", "rp"].into_iter().flat_map(of).collect();
    let middles = (0x101..0x200u64).step_by(2).flat_map(|bits| (0..56).map(move |height| bits << height));
    let all: Vec<[u64; 3]> = middles.flat_map(|middle| [middle - 1, middle, middle + 1]).map(|it| [it, 0, 0]).collect();
    let found = results(&lines, &all);
    // To nearest even, by whole numbers.
    for ([value, ..], halves) in all.iter().zip(found.chunks(lines.len())) {
        let below = value.ilog2() - 7;
        let (kept, rest, middle) = (value >> below, value & ((1 << below) - 1), 1 << (below - 1));
        let is_up = rest > middle || rest == middle && kept % 2 == 1;
        assert_eq!(halves[0], (u64::from(below + 7 + 127) << 7) + kept - 0x80 + u64::from(is_up), "{value:#x}");
    }
}

/// Without a flush, with it everywhere, and both together.
#[test]
fn neighbours_of_the_family() {
    let of = |ftz: &str| {
        let mut lines: Vec<String> = Vec::new();
        for modifiers in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
            lines.push(format!("min{ftz}{modifiers}.f32 o32, a32, b32"));
            lines.push(format!("max{ftz}{modifiers}.f32 o32, a32, b32"));
        }
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"] {
            lines.push(format!("setp.{comparison}{ftz}.f32 p, a32, b32"));
        }
        lines.push(format!("abs{ftz}.f32 o32, a32"));
        lines.push(format!("neg{ftz}.f32 o32, a32"));
        for rounding in ["rni", "rzi", "rmi", "rpi"] {
            lines.push(format!("cvt.{rounding}{ftz}.f32.f32 o32, a32"));
            for ty in ["s8", "u8", "s16", "u16"] {
                lines.push(format!("cvt.{rounding}{ftz}.{ty}.f32 o16, a32"));
            }
            for ty in ["s32", "u32"] {
                lines.push(format!("cvt.{rounding}{ftz}.{ty}.f32 o32, a32"));
            }
            for ty in ["s64", "u64"] {
                lines.push(format!("cvt.{rounding}{ftz}.{ty}.f32 o64, a32"));
            }
        }
        lines.push(format!("cvt{ftz}.sat.f32.f32 o32, a32"));
        lines.push(format!("cvt{ftz}.f64.f32 o64, a32"));
        lines.push(format!("ex2.approx{ftz}.f32 o32, a32"));
        lines.push(format!("lg2.approx{ftz}.f32 o32, a32"));
        lines.push(format!("rsqrt.approx{ftz}.f32 o32, a32"));
        lines.push(format!("rcp.approx{ftz}.f32 o32, a32"));
        lines.push(format!("div.approx{ftz}.f32 o32, a32, b32"));
        spelled(lines)
    };
    let mut rest: Vec<String> = Vec::new();
    for rounding in ["rn", "rz", "rm", "rp"] {
        for (to, result) in [("f32", "o32"), ("bf16", "o16")] {
            for ty in ["s8", "u8", "s16", "u16"] {
                rest.push(format!("cvt.{rounding}.{to}.{ty} {result}, a16"));
            }
            for ty in ["s32", "u32", "s64", "u64"] {
                rest.push(format!("cvt.{rounding}.{to}.{ty} {result}, a{}", &ty[1..]));
            }
        }
    }
    for rounding in ["rn", "rz"] {
        rest.push(format!("cvt.{rounding}.f16.f32 o16, a32"));
        rest.push(format!("cvt.{rounding}.bf16.f32 o16, a32"));
    }
    for class in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
        rest.push(format!("testp.{class}.f32 p, a32"));
    }
    rest.push("copysign.f32 o32, a32, b32".to_owned());
    let rest = spelled(rest);
    let triples = triples(Format::F32, 8_192, 8);
    let (kept, flushed) = (of(""), of(".ftz"));
    assert!(kept.len() >= 60 && kept.len() == flushed.len(), "{} and {} lines", kept.len(), flushed.len());
    results(&kept, &triples);
    results(&flushed, &triples);
    results(&rest, &triples);
    results(&[kept, flushed, rest].concat(), &triples);
}

#[test]
fn integers() {
    let mut lines: Vec<String> = Vec::new();
    for ty in ["s16", "u16", "s32", "u32", "s64", "u64"] {
        let w = &ty[1..];
        for op in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"] {
            lines.push(format!("{op}.{ty} o{w}, a{w}, b{w}"));
        }
        lines.push(format!("mad.lo.{ty} o{w}, a{w}, b{w}, c{w}"));
        lines.push(format!("shr.{ty} o{w}, a{w}, b32"));
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge"] {
            lines.push(format!("setp.{comparison}.{ty} p, a{w}, b{w}"));
        }
        if w != "64" {
            let double = if w == "16" { "32" } else { "64" };
            lines.push(format!("mul.wide.{ty} o{double}, a{w}, b{w}"));
            lines.push(format!("mad.wide.{ty} o{double}, a{w}, b{w}, c{double}"));
        }
        if w != "16" {
            lines.push(format!("bfind.{ty} o32, a{w}"));
            lines.push(format!("bfind.shiftamt.{ty} o32, a{w}"));
            lines.push(format!("bfe.{ty} o{w}, a{w}, b32, c32"));
            lines.push(format!("bfe.{ty} o{w}, a{w}, 5, 9"));
        }
        lines.push(format!("sad.{ty} o{w}, a{w}, b{w}, c{w}"));
        if ty.starts_with('s') {
            lines.push(format!("abs.{ty} o{w}, a{w}"));
            lines.push(format!("neg.{ty} o{w}, a{w}"));
        }
        for other in ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"] {
            let held = other[1..].parse::<u32>().unwrap().max(16);
            lines.push(format!("cvt.{other}.{ty} o{held}, a{w}"));
            lines.push(format!("cvt.sat.{other}.{ty} o{held}, a{w}"));
            lines.push(format!("cvt.{ty}.{other} o{w}, a{held}"));
        }
    }
    for w in ["16", "32", "64"] {
        lines.push(format!("shl.b{w} o{w}, a{w}, b32"));
        lines.push(format!("and.b{w} o{w}, a{w}, b{w}"));
        lines.push(format!("or.b{w} o{w}, a{w}, b{w}"));
        lines.push(format!("xor.b{w} o{w}, a{w}, b{w}"));
        lines.push(format!("not.b{w} o{w}, a{w}"));
        lines.push(format!("cnot.b{w} o{w}, a{w}"));
    }
    for w in ["32", "64"] {
        for op in ["popc", "clz"] {
            lines.push(format!("{op}.b{w} o32, a{w}"));
        }
        lines.push(format!("brev.b{w} o{w}, a{w}"));
        lines.push(format!("bfi.b{w} o{w}, a{w}, b{w}, c32, 7"));
        lines.push(format!("bfi.b{w} o{w}, a{w}, b{w}, 3, c32"));
    }
    for side in ["l", "r"] {
        for mode in ["clamp", "wrap"] {
            lines.push(format!("shf.{side}.{mode}.b32 o32, a32, b32, c32"));
            lines.push(format!("shf.{side}.{mode}.b32 o32, a32, b32, 13"));
        }
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        lines.push(format!("prmt.b32{mode} o32, a32, b32, c32"));
    }
    lines.push("prmt.b32 o32, a32, b32, 0x3ba0".to_owned());
    for table in 0..=255 {
        lines.push(format!("lop3.b32 o32, a32, b32, c32, {table}"));
    }
    for (a, b) in [("s32", "s32"), ("s32", "u32"), ("u32", "s32"), ("u32", "u32")] {
        lines.push(format!("dp4a.{a}.{b} o32, a32, b32, c32"));
        lines.push(format!("dp2a.lo.{a}.{b} o32, a32, b32, c32"));
        lines.push(format!("dp2a.hi.{a}.{b} o32, a32, b32, c32"));
    }
    lines.push("add.sat.s32 o32, a32, b32".to_owned());
    lines.push("sub.sat.s32 o32, a32, b32".to_owned());
    lines.push("add.cc.u32 o32, a32, b32;\naddc.cc.u32 o32, a32, c32;\naddc.u32 o32, b32, c32".to_owned());
    lines.push("sub.cc.u64 o64, a64, b64;\nsubc.cc.u64 o64, a64, c64;\nsubc.u64 o64, b64, c64".to_owned());
    lines.push("bmsk.clamp.b32 o32, a32, b32".to_owned());
    lines.push("bmsk.wrap.b32 o32, a32, b32".to_owned());
    lines.push("szext.clamp.s32 o32, a32, b32".to_owned());
    // Guards: the old value stays.
    lines.push(
        "mov.b32 o32, c32;\nsetp.lt.u32 q, a32, b32;\n@q add.u32 o32, a32, 7;\n@!q st.global.u32 [out], a32".to_owned(),
    );
    lines.push("mov.b32 o32, c32;\nsetp.lt.u32 q, a32, b32;\n@!q ld.global.u32 o32, [in+4]".to_owned());
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let edges = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7f, 0x7fff, 0x8000, 0xffff];
    let wide = [0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, u64::MAX, u64::MAX >> 1, 0xffff_ff80, u64::MAX - 1];
    let edges = [&edges[..], &wide[..]].concat();
    let mut all: Vec<[u64; 3]> = Vec::new();
    for &a in &edges {
        for &b in &edges {
            all.push([a, b, edges[next() as usize % edges.len()]]);
        }
    }
    while all.len() < 4_096 {
        let mixed = |word: u64, by: u64| if by & 3 == 0 { word & 0x3f } else { word };
        let by = next();
        all.push([mixed(next(), by), mixed(next(), by >> 2), mixed(next(), by >> 4)]);
    }
    let lines = spelled(lines);
    assert!(lines.len() >= 540, "{} lines", lines.len());
    results(&lines, &all);
}

/// Formats of 8, 6 and 4 bits, several values at once, and random bits: every pair of types that PTX has.
#[test]
fn narrow_formats() {
    let narrow = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"];
    let wide = ["f16", "bf16", "f32", "tf32"];
    let mut lines = Vec::new();
    let mut line = |modifiers: &str, to: &str, from: &str, count: u32| {
        let bits = |ty: &str| match ty {
            "f32" | "tf32" => 32,
            "f16" | "bf16" => 16 * count,
            "e2m1" => 4 * count,
            _ => 8 * count,
        };
        let random = if modifiers.contains(".rs") { ", c32" } else { "" };
        let operands = match (from, count) {
            ("f32", 4) => "{a32, b32, c32, a32}".to_owned(),
            ("f32", 2) => "a32, b32".to_owned(),
            _ => format!("a{}", bits(from)),
        };
        let named = |ty: &str| if count > 1 && ty != "f32" { format!("{ty}x{count}") } else { ty.to_owned() };
        let mnemonic = format!("cvt{modifiers}.{}.{}", named(to), named(from));
        lines.push(match (bits(to), bits(from)) {
            (8, _) => format!(
                "{{.reg .b8 t, z; mov.b16 {{t, z}}, 0; {mnemonic} t, {operands}{random}; mov.b16 o16, {{t, z}};}}"
            ),
            (_, 8) => {
                format!("{{.reg .b8 a8, z; mov.b16 {{a8, z}}, a16; {mnemonic} o{}, {operands}{random};}}", bits(to))
            }
            (held, _) => format!("{mnemonic} o{held}, {operands}{random}"),
        });
    };
    for (count, rounding, saturation, relu) in [2, 4].into_iter().flat_map(|count| {
        let roundings = [".rn", ".rz", ".rs"].into_iter();
        roundings.flat_map(move |rounding| {
            let saturations = ["", ".satfinite"].into_iter();
            saturations.flat_map(move |saturation| ["", ".relu"].map(|relu| (count, rounding, saturation, relu)))
        })
    }) {
        for small in narrow {
            for large in wide {
                for modifiers in [format!("{rounding}{saturation}{relu}"), format!("{rounding}{relu}{saturation}")] {
                    line(&modifiers, small, large, count);
                    line(&modifiers, large, small, count);
                }
            }
        }
        for to in ["f16", "bf16", "tf32"] {
            for modifiers in [format!("{rounding}{saturation}{relu}"), format!("{rounding}{relu}{saturation}")] {
                line(&modifiers, to, "f32", count);
            }
        }
    }
    lines.sort();
    lines.dedup();
    let lines = spelled(lines);
    assert!(lines.len() >= 70, "{} lines: {lines:#?}", lines.len());
    let mut all = triples(Format::F32, 2_048, 9);
    // Near the ends and the halves of the narrow formats.
    let mut generator = triples(Format::F16, 2_048, 10).into_iter();
    for at in 0..2_048u64 {
        let [a, b, c] = generator.next().unwrap_or_default();
        let exponent = 117 + at % 30;
        all.push([(exponent << 23) ^ (a << 12) ^ (b & 1) << 31, a | b << 16, c << 16 | a]);
    }
    all.extend((0..0x1_0000).step_by(17).map(|bits: u64| [bits | bits << 16, !bits & 0xffff, bits << 3]));
    all.truncate(all.len() / BLOCK * BLOCK);
    results(&lines, &all);
}
