//! Minima and maxima of special numbers, in code that flushes subnormals and in code that does not.

use super::{Case, has_native, lowered, words, zeros};

const BLOCKS: u32 = 24;
const THREADS: u32 = 128;

#[test]
fn of_special_numbers() {
    let mut bodies = Vec::new();
    for op in ["min", "max"] {
        for modifiers in ["", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"] {
            bodies.push(format!("{op}{modifiers}.f32 %f3, %f1, %f2;"));
            // One side, and a result of arithmetic whose NaN and flush are still to come.
            bodies.push(format!("{op}{modifiers}.f32 %f3, %f1, %f2; @%p1 {op}{modifiers}.f32 %f3, %f5, %f1;"));
        }
        for modifiers in ["", ".ftz", ".NaN"] {
            // A NaN that may be a signalling one though it is a result; one observed by its bits, and by what may be raw bits too.
            bodies.push(format!("neg.f32 %f4, %f1; {op}{modifiers}.f32 %f3, %f4, %f2;"));
            bodies.push(format!("{op}{modifiers}.f32 %f3, %f1, %f2; {op}{modifiers}.f32 %f3, %f3, %f5; mov.b32 %r4, %f3; add.u32 %r4, %r4, 1; mov.b32 %f3, %r4;"));
            bodies.push(format!("mov.f32 %f3, %f1; @%p1 {op}{modifiers}.f32 %f3, %f1, %f2; mov.b32 %r4, %f3; add.u32 %r4, %r4, 1; mov.b32 %f3, %r4;"));
        }
        for modifiers in ["", ".xorsign.abs"] {
            bodies.push(format!("{op}{modifiers}.f32 %f3, %f1, %f1; {op}.ftz.f32 %f3, %f3, %f2;"));
            bodies.push(format!(
                "cvt.ftz.f32.f32 %f4, %f1; {op}{modifiers}.ftz.f32 %f3, %f4, %f2; {op}.f32 %f3, %f5, %f3;"
            ));
        }
        bodies.push(format!("mov.b32 {{%h1, %h2}}, %f1; cvt.ftz.f32.bf16 %f4, %h2; {op}.f32 %f3, %f4, %f2;"));
        for modifiers in ["", ".NaN", ".xorsign.abs"] {
            bodies.push(format!(
                "mov.b32 {{%h1, %h2}}, %f1; mov.b32 {{%h3, %h4}}, %f2; {op}{modifiers}.bf16 %h1, %h1, %h3;
                 {op}{modifiers}.f16 %h2, %h2, %h4; mov.b32 %f3, {{%h1, %h2}};"
            ));
        }
        bodies.push(format!(
            "cvt.f64.f32 %d1, %f1; cvt.f64.f32 %d2, %f2; setp.nan.f32 %p2, %f1, %f2; @%p2 mov.f64 %d1, 0d0000000000000001;
             {op}.f64 %d1, %d1, %d2; mov.b64 {{%r4, %r5}}, %d1; xor.b32 %r4, %r4, %r5; mov.b32 %f3, %r4;"
        ));
    }
    // What is beside them decides whether the processor flushes operands: in the second it does.
    let beside = ["fma.rn.f32 %f5, %f1, %f2, %f2;", "fma.rn.ftz.f32 %f5, %f1, %f2, %f2;"];
    let mut text = String::from(".version 8.6\n.target sm_100\n.address_size 64\n");
    let kernels: Vec<String> =
        beside.iter().flat_map(|beside| bodies.iter().map(move |body| format!("{beside} {body}"))).collect();
    for (number, body) in kernels.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u64 z) {{
             .reg .pred %p<3>; .reg .b16 %h<5>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .f64 %d<3>; .reg .b64 %rd<8>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [z];
             mov.u32 %r2, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, {THREADS}, %r2; mul.wide.u32 %rd4, %r1, 4;
             add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;
             ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 0;
             {body}
             xor.b32 %r3, %r3, %r2; add.f32 %f5, %f5, %f5; st.global.f32 [%rd7], %f3; ret; }}\n"
        ));
    }
    let program = lowered(&text);
    let n = (BLOCKS * THREADS) as usize;
    let mut shares = Vec::new();
    for (number, body) in kernels.iter().enumerate() {
        let entry = format!("k{number}");
        let args = vec![words(n, 1, 2), words(n, 2, 2), zeros(n)];
        shares.push((Case::line(&program, &entry, BLOCKS, THREADS, args).hold(body), body));
    }
    let native = shares.iter().filter(|(share, _)| *share > 0.9).count();
    assert!(!has_native() || native > shares.len() * 3 / 4, "{shares:?}");
}
