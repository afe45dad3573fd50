//! Comparisons of numbers that a tile has once, about the bounds where its lanes stop to agree: what only a branch reads, and what
//! else reads it.

use super::sides::hold;

fn bodies() -> Vec<String> {
    let mut all = Vec::new();
    for comparison in ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"] {
        for ty in ["u32", "s32", "s64"] {
            let is_unsigned = ["lo", "ls", "hi", "hs"].contains(&comparison);
            if is_unsigned && ty != "u32" {
                continue;
            }
            for number in [0, 1, 31, 32, 63, 64, 127, 3008, 3071, 3072, -1, -40] {
                if ty == "u32" && number == -40 {
                    continue;
                }
                // The thread's number in the grid, that in the block, the block's; one that wraps.
                for of in ["%r1", "%r2", "%r5", "%r14"] {
                    let compare = match ty {
                        "s64" => format!("cvt.s64.s32 %rd8, {of}; setp.{comparison}.s64 %p1, %rd8, {number};"),
                        _ => format!("setp.{comparison}.{ty} %p1, {of}, {number};"),
                    };
                    let before = "sub.u32 %r14, %r2, 40; mov.u32 %r10, 5;";
                    let branch = "@%p1 bra A; mad.lo.u32 %r10, %r3, 3, %r10; A: st.global.u32 [%rd2], %r10;";
                    all.push(format!("{before} {compare} {branch}"));
                    if of == "%r1" {
                        all.push(format!("{before} {compare} selp.u32 %r10, 1, 2, %p1; st.global.u32 [%rd2], %r10;"));
                        all.push(format!("{before} {compare} @%p1 exit; st.global.u32 [%rd2], %r10;"));
                    }
                }
            }
        }
    }
    all
}

#[test]
fn about_their_bounds() {
    // One of five, which are each of the six forms at some number.
    hold(&bodies().into_iter().step_by(5).collect::<Vec<_>>(), &[128], -1.0);
}
