//! Switches in native code: by a number that all lanes have, and by one of each lane.

use super::{Case, has_native, lowered, words, zeros};
use roundonce_exec::Arg;

const CASES: &str = "bra E; A: add.f32 %f2, %f1, 0f3F800000; bra E; B: mul.f32 %f2, %f1, %f1; bra E;
    C: fma.rn.f32 %f2, %f1, %f1, %f1; max.f32 %f2, %f2, %f1; bra E; D: sub.f32 %f2, %f1, %f3; E:";

fn bodies() -> Vec<(bool, String)> {
    let targets = |targets: &str| format!("ts: .branchtargets {targets};");
    let go = |index: &str| format!("setp.gt.u32 %p1, {index}, 3; @%p1 bra E; brx.idx {index}, ts; {CASES}");
    let four = targets("A, B, C, D");
    let many = targets(&["A, B, C, D, D, C, B, A"; 9].join(", "));
    vec![
        // By a parameter, the block's number, a loop's counter; with stores before.
        (true, format!("{four} {}", go("%r5"))),
        (true, format!("{four} and.b32 %r6, %r4, 7; {}", go("%r6"))),
        (
            true,
            format!(
                "{four} mov.u32 %r6, 0; L: {} mov.f32 %f1, %f2; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 6; @%p2 bra L;",
                go("%r6")
            ),
        ),
        (true, format!("{four} st.global.f32 [%rd6], %f3; {}", go("%r5"))),
        // Two targets that are the same, one behind the other, and more than are compared.
        (true, format!("ts: .branchtargets B, B, D, A; {}", go("%r5"))),
        (false, format!("{many} setp.gt.u32 %p1, %r5, 71; @%p1 bra E; brx.idx %r5, ts; {CASES}")),
        // Other numbers of the tile are made between the index and the switch.
        (true, format!("{four} and.b32 %r6, %r4, 3; mad.lo.u32 %r8, %r5, %r4, 7; mad.lo.u32 %r9, %r8, %r4, %r5; mad.lo.u32 %r10, %r9, %r8, 3;
            mad.lo.u32 %r11, %r10, %r9, %r8; brx.idx %r6, ts; {CASES} xor.b32 %r8, %r8, %r9; xor.b32 %r10, %r10, %r11; xor.b32 %r8, %r8, %r10;
            cvt.rn.f32.u32 %f3, %r8; add.f32 %f2, %f2, %f3;")),
        // By a number and a pattern.
        (false, format!("{four} and.b32 %r6, %r2, 3; {}", go("%r6"))),
        // By the lanes' own numbers, and behind a branch where lanes part.
        (false, format!("{four} and.b32 %r6, %r3, 3; {}", go("%r6"))),
        (false, format!("{four} setp.lt.f32 %p2, %f1, %f3; @%p2 bra F; mul.f32 %f1, %f1, %f3; F: {}", go("%r5"))),
        (
            false,
            format!(
                "{four} mov.u32 %r6, 0; L: {} mov.f32 %f1, %f2; add.u32 %r6, %r6, 1; and.b32 %r7, %r3, 7; setp.lt.u32 %p2, %r6, %r7; @%p2 bra L;",
                go("%r5")
            ),
        ),
    ]
}

#[test]
fn switches() {
    let bodies = bodies();
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, (_, body)) in bodies.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u32 n) {{
             .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<10>; .reg .f32 %f<4>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r5, [n];
             mov.u32 %r2, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r4, %r7, %r2; mul.wide.u32 %rd4, %r1, 4;
             add.u64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5]; mov.b32 %f1, %r3; add.u64 %rd6, %rd2, %rd4; mul.f32 %f3, %f1, %f1;
             mov.f32 %f2, %f3; {body}
             st.global.f32 [%rd6], %f2; ret; }}\n"
        ));
    }
    let program = lowered(&text);
    let n = 1 << 13;
    for (index, (is_native, body)) in bodies.iter().enumerate() {
        for by in [0, 1, 2, 3, 4, 71, 0xffff_ffff] {
            let entry = format!("k{index}");
            let args = vec![words(n, index as u64, 20), zeros(n), Arg::Scalar(by)];
            let share = Case::line(&program, &entry, n as u32 / 256, 256, args).hold(&format!("{body} by {by}"));
            assert!(!has_native() || !is_native || share > 0.9, "{body} by {by}: {share} native");
        }
    }
}
