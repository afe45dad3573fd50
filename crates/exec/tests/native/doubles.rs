//! f64 arithmetic where few threads have a NaN: which one only the interpreter knows.

use super::scattered::{hold, random_words};

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
