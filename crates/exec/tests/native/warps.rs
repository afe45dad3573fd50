//! Shuffles and votes in native code.

use super::{Case, has_native, lowered, words, zeros};

fn bodies() -> Vec<String> {
    let mut all = Vec::new();
    for (mode, clamp) in [("up", 0u32), ("down", 31), ("bfly", 31), ("idx", 31)] {
        for b in [0, 1, 2, 4, 7, 8, 16, 31, 40] {
            for segment in [0, 0x1000, 0x1800, 0x1f00, 0x0500] {
                for clamp in [clamp, 5] {
                    let c = segment | clamp;
                    all.push(format!(
                        "shfl.sync.{mode}.b32 %r6|%p3, %r5, {b}, {c}, 0xffffffff; @%p3 add.u32 %r6, %r6, 3; xor.b32 %r7, %r7, %r6;"
                    ));
                }
            }
        }
    }
    for vote in ["all", "any", "uni"] {
        for pred in ["%p1", "!%p1", "%p2", "%p4"] {
            all.push(format!("vote.sync.{vote}.pred %p3, {pred}, 0xffffffff; @%p3 add.u32 %r7, %r7, 5;"));
        }
    }
    all.push("vote.sync.ballot.b32 %r6, %p1, 0xffffffff; xor.b32 %r7, %r7, %r6; bar.warp.sync 0xffffffff;".into());
    // The sum of a warp, as everybody takes it; one warp of several; warps of which some threads have gone.
    let sum = "add.rn.f32 %f1, %f1, %f1; mov.b32 %r5, %f1; L: shfl.sync.down.b32 %r6, %r5, 16, 31, 0xffffffff; mov.b32 %f2, %r6; add.rn.f32 %f1, %f1, %f2; mov.b32 %r5, %f1;
        shfl.sync.bfly.b32 %r6, %r5, 8, 31, 0xffffffff; mov.b32 %f2, %r6; add.rn.f32 %f1, %f1, %f2; mov.b32 %r7, %f1;";
    all.push(sum.into());
    all.push(format!("setp.gt.u32 %p5, %r2, 31; @%p5 bra E; {sum} E:"));
    // In the place of what is given, and where raw bits may be too.
    for b in [16, 8, 24, 31] {
        all.push(format!(
            "mul.f32 %f1, %f1, %f1; mov.b32 %r5, %f1; shfl.sync.bfly.b32 %r5, %r5, {b}, 31, 0xffffffff; shfl.sync.bfly.b32 %r5, %r5, {b}, 31, 0xffffffff;
             shfl.sync.down.b32 %r5|%p3, %r5, {b}, 31, 0xffffffff; add.u32 %r7, %r5, 1;"
        ));
        all.push(format!(
            "mov.u32 %r6, %r5; add.f32 %f2, %f1, %f1; mov.b32 %r8, %f2; @%p1 mov.u32 %r6, %r8;
             shfl.sync.bfly.b32 %r6, %r6, {b}, 31, 0xffffffff; mov.b32 %f3, %r6; max.f32 %f3, %f3, %f2; mov.b32 %r9, %f3; xor.b32 %r7, %r6, %r9;"
        ));
    }
    all.push(format!("@%p1 bra D; add.u32 %r5, %r5, 1; D: {sum}"));
    all.push(format!("@%p4 exit; {}", sum.replace("sync.", "")));
    // Parts of warps, on a short side.
    all.push(
        "@%p1 bra D; shfl.bfly.b32 %r6|%p3, %r5, 3, 31; @%p3 add.u32 %r6, %r6, 1; add.u32 %r7, %r7, %r6; D:".into(),
    );
    all.push("@%p1 bra D; vote.all.pred %p3, %p2; @%p3 add.u32 %r7, %r7, 5; D:".into());
    all
}

#[test]
fn shuffles_and_votes() {
    let mut text = String::from(".version 6.3\n.target sm_60\n.address_size 64\n");
    let bodies = bodies();
    for (number, body) in bodies.iter().enumerate() {
        let body = if body.contains("@%p4 exit") { body.replace(", 0xffffffff", "") } else { body.clone() };
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y) {{
             .reg .pred %p<6>; .reg .f32 %f<6>; .reg .b32 %r<10>; .reg .b64 %rd<6>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
             mad.lo.u32 %r1, %r3, %r4, %r2; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5;
             ld.global.u32 %r5, [%rd3]; mov.b32 %f1, %r5; setp.lt.f32 %p1, %f1, 0f3f000000; setp.lt.f32 %p2, %f1, 0f7f800000;
             and.b32 %r6, %r1, 256; setp.eq.u32 %p4, %r6, 0; mov.u32 %r7, 0;
             {body}
             st.global.u32 [%rd4], %r7; ret; }}\n"
        ));
    }
    let program = lowered(&text);
    for (number, body) in bodies.iter().enumerate() {
        for block in [32, 64, 128, 256, 48] {
            let n = 2304;
            let entry = format!("k{number}");
            let args = vec![words(n, number as u64, 0), zeros(n)];
            let share = Case::line(&program, &entry, n as u32 / block, block, args).hold(&format!("{body} by {block}"));
            let fits = has_native() && block != 48 && !body.contains("exit") && body.contains("sync");
            assert!(!fits || share > 0.6, "{body} by {block}: {share} native");
        }
    }
}
