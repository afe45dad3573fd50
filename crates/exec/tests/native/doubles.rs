//! f64 arithmetic where few threads have a NaN: which one only the interpreter knows.

use super::scattered::{hold, program, random_words};
use super::{Case, words, zeros};
use roundonce_arith::{NanRule, OperandIndex, Profile};

fn bodies() -> Vec<String> {
    let mut all = Vec::new();
    for operation in [
        "add.rn.f64 %d3, %d1, %d2;",
        "sub.rp.f64 %d3, %d2, %d1;",
        "mul.rz.f64 %d3, %d1, %d2;",
        "fma.rn.f64 %d3, %d2, %d2, %d1;",
        "fma.rm.f64 %d3, %d1, %d2, %d2;",
        "@%p1 fma.rn.f64 %d3, %d1, %d2, %d2;",
        "@%p1 bra A; add.rn.f64 %d3, %d1, %d2; A:",
        // Arithmetic reads it, whose result is stored; nothing does.
        "add.rn.f64 %d4, %d1, %d2; fma.rn.f64 %d3, %d4, %d2, %d2;",
        "add.rn.f64 %d4, %d1, %d2; fma.rn.f64 %d4, %d4, %d1, %d1;",
        // Something else does.
        "add.rn.f64 %d4, %d1, %d2; mov.b64 %rd9, %d4; shr.u64 %rd9, %rd9, 1; mov.b64 %d3, %rd9;",
        "add.rn.f64 %d4, %d2, %d1; mov.f64 %d3, %d4;",
        "add.rn.f64 %d4, %d1, %d2; selp.f64 %d3, %d4, %d2, %p1;",
        "add.rn.f64 %d3, %d1, %d2; st.global.f64 [%rd2], %d3; bar.sync 0;",
        "add.rn.f64 %d3, %d1, %d2; bar.sync 0;",
        "add.rn.f64 %d3, %d1, %d2; mul.rn.f64 %d4, %d3, %d2; bar.sync 0; fma.rn.f64 %d3, %d4, %d4, %d3;",
        "mul.rn.f64 %d4, %d1, %d2; neg.f64 %d3, %d4;",
        // By some threads; several at once.
        "add.rn.f64 %d3, %d1, %d2; @%p1 st.global.f64 [%rd2], %d3; add.rn.f64 %d3, %d3, %d2;",
        "mul.rn.f64 %d4, %d1, %d2; fma.rn.f64 %d3, %d1, %d2, %d2; and.b64 %rd9, %rd2, 8; setp.eq.u64 %p4, %rd9, 0;
         @%p4 st.global.v2.f64 [%rd2], {%d4, %d3};",
        "@%p1 bra A; add.rn.f64 %d4, %d1, %d2; st.global.f64 [%rd2], %d4; bra B; A: mul.rn.f64 %d3, %d1, %d2; B:",
        "mov.u32 %r9, 3; mov.f64 %d4, %d2; L: fma.rn.f64 %d4, %d1, %d2, %d4; add.rn.f64 %d3, %d4, %d3; sub.u32 %r9, %r9, 1;
         setp.ne.u32 %p4, %r9, 0; @%p4 bra L;",
        "mov.u32 %r9, 3; L: fma.rn.f64 %d3, %d3, %d2, %d1; st.global.f64 [%rd2], %d3; sub.u32 %r9, %r9, 1;
         setp.ne.u32 %p4, %r9, 0; @%p4 bra L;",
        "mov.u32 %r9, 3; L: fma.rn.f64 %d3, %d3, %d2, %d1; sub.u32 %r9, %r9, 1; setp.ne.u32 %p4, %r9, 0; @%p4 bra L;",
    ] {
        // Two NaNs; what has none, but gives one.
        let (infinity, nan) = ("0x7ff0000000000000", "0x7ff8000000001234");
        for (a, b) in [
            (nan, "0xfff8000000000001"),
            ("0xfff8000000000001", nan),
            (infinity, "0xfff0000000000000"),
            (infinity, "0"),
            (infinity, infinity),
        ] {
            // By data, so that its tile goes on: of 2,048 threads two or three.
            for bits in ["0x3ff0000", "0xffc000", "0x1ff8000"] {
                all.push(format!(
                    "mov.b64 %rd9, {{%r4, %r3}}; or.b64 %rd9, %rd9, 0x3ff0000000000000; cvt.rn.f64.u32 %d2, %r1; mov.b64 %rd10, %d2;
                     and.b32 %r7, %r4, {bits}; setp.eq.u32 %p3, %r7, 0; @%p3 mov.u64 %rd9, {a}; @%p3 mov.u64 %rd10, {b}; mov.b64 %d1, %rd9;
                     mov.b64 %d2, %rd10; mov.f64 %d3, %d2; {operation} st.global.f64 [%rd2], %d3;"
                ));
            }
        }
    }
    all
}

#[test]
fn a_nan_of_few_threads() {
    hold(&bodies(), random_words, 0.2);
}

/// Arithmetic may leave a NaN to the store, which must not take one that was there before for it.
#[test]
fn a_nan_that_is_stored_as_it_is() {
    let body = "mov.f64 %d3, 0d7FF8000000000000; mov.u32 %r7, %ctaid.x; and.b32 %r7, %r7, 1; setp.eq.u32 %p4, %r7, 0; @%p4 bra S;
                cvt.rn.f64.u32 %d1, %r1; add.rn.f64 %d3, %d1, %d1; S: st.global.f64 [%rd2], %d3;";
    hold(&[body.to_owned()], random_words, 0.9);
}

/// The bits of an ordinary f32 are a subnormal f64, which must not be flushed where arithmetic of f32 beside it flushes.
#[test]
fn small_constants_beside_arithmetic_that_flushes() {
    let flushes = "add.ftz.f32 %f1, %f1, %f2;";
    let bodies = [
        "fma.rm.f64 %d3, 0d000000007F7FFFFF, 0d000000007F7FFFFF, 0d000000007F7FFFFF;",
        "add.f64 %d3, %d1, 0d000000003F800000;",
        "mov.f64 %d2, 0d000000003F800000; add.f64 %d3, %d1, %d2;",
        "selp.f64 %d2, 0d000000003F800000, 0d0000000000000000, %p1; add.f64 %d3, %d1, %d2;",
        "setp.lt.f64 %p4, %d1, 0d000000003F800000; selp.f64 %d3, 0d3FF0000000000000, %d1, %p4;",
        "mov.f64 %d2, 0d000000003F800000; setp.lt.f64 %p4, %d1, %d2; selp.f64 %d3, 0d3FF0000000000000, %d1, %p4;",
        "div.rn.f64 %d3, 0d000000003F800000, 0d3FE0000000000000;",
        "sqrt.rn.f64 %d3, 0d000000003F800000;",
    ]
    .map(|body| format!("mov.f64 %d1, 0d0000000000000000; {flushes} {body} {flushes} st.global.f64 [%rd2], %d3;"));
    hold(&bodies, random_words, 0.9);
}

/// Where NaNs follow other rules than a GPU's, as modules of SPIR-V may ask for.
#[test]
fn nans_by_other_rules() {
    let mut bodies = Vec::new();
    for operation in [
        "add.f32 %f3, %f1, %f2",
        "fma.rz.ftz.f32 %f3, %f1, %f2, %f1",
        "mul.sat.f32 %f3, %f1, %f2",
        "min.ftz.f32 %f3, %f1, %f2",
        "max.NaN.f32 %f3, %f1, %f2",
        "neg.ftz.f32 %f3, %f1",
        "abs.f32 %f3, %f1",
        "div.rn.f32 %f3, %f1, %f2",
        "sqrt.rn.ftz.f32 %f3, %f1",
        "rcp.rn.f32 %f3, %f1",
        "ex2.approx.ftz.f32 %f3, %f1",
        "cvt.ftz.f32.f32 %f3, %f1",
        "cvt.rzi.f32.f32 %f3, %f1",
        "cvt.rn.f32.f64 %f3, %d2",
        "cvt.rn.ftz.f32.f64 %f3, %d2",
        "cvt.f32.f16 %f3, %h1",
        "cvt.ftz.f32.f16 %f3, %h1",
    ] {
        bodies.push(format!("{operation}; st.global.f32 [%rd2], %f3;"));
    }
    for operation in [
        "add.f64 %d3, %d1, %d2",
        "fma.rm.f64 %d3, %d1, %d2, %d1",
        "min.f64 %d3, %d1, %d2",
        "neg.f64 %d3, %d1",
        "abs.f64 %d3, %d1",
        "div.rn.f64 %d3, %d1, %d2",
        "sqrt.rn.f64 %d3, %d1",
        "cvt.f64.f32 %d3, %f1",
        "cvt.ftz.f64.f32 %d3, %f1",
        "cvt.f64.f16 %d3, %h1",
        "cvt.rni.f64.f64 %d3, %d1",
    ] {
        bodies.push(format!("{operation}; st.global.f64 [%rd2], %d3;"));
    }
    for operation in ["cvt.rn.f16.f32 %h2, %f1", "cvt.rn.f16.f64 %h2, %d1", "add.f16 %h2, %h1, %h1", "neg.f16 %h2, %h1"]
    {
        bodies.push(format!("{operation}; st.global.b16 [%rd2], %h2;"));
    }
    let bodies = bodies.iter().map(|body| {
        format!(
            "mov.b32 %f1, %r4; mov.b32 %f2, %r10; mov.b64 %d1, {{%r4, %r4}}; mov.b64 %d2, {{%r10, %r11}}; mov.b32 {{%h1, %h3}}, %r4; {body}"
        )
    });
    let bodies: Vec<String> = bodies.collect();
    let program = program(&bodies);
    let rules = [NanRule::Canonical, NanRule::Payload([OperandIndex::A, OperandIndex::B, OperandIndex::C])];
    let n = 2048;
    for (number, body) in bodies.iter().enumerate() {
        for place in 0..8 {
            let [nan_f32, nan_f64, nan_small] = [1, 2, 4].map(|bit| rules[usize::from(place & bit != 0)]);
            let profile = Profile { nan_f32, nan_f64, nan_small, ..Profile::NVIDIA };
            let entry = format!("k{number}");
            let args = vec![words(2100, 1, 5), words(2100, 2, 2), zeros(16 * n)];
            Case { profile, ..Case::line(&program, &entry, n as u32 / 128, 128, args) }
                .hold(&format!("{profile:?}: {body}"));
        }
    }
}
