//! Barriers that count: each block, and each barrier of a block, has a result of its own.

use super::{Case, has_native, lowered, words, zeros};
use roundonce_exec::Engine;

const BLOCKS: u32 = 6;
const THREADS: u32 = 96;

/// Stores `%r6`, which `body` computes, for each thread.
fn kernel(body: &str) -> roundonce_ir::Program {
    lowered(&format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y) {{
         .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .f32 %f<3>;
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
         mad.lo.u32 %r1, %r3, %r4, %r2; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5;
         ld.global.u32 %r5, [%rd3]; setp.gt.u32 %p1, %r2, %r3;
         {body}
         st.global.u32 [%rd4], %r6; ret; }}\n"
    ))
}

/// The interpreter's results are `expected` of a block's and a thread's number, and native code has the same ones.
fn hold(what: &str, body: &str, expected: impl Fn(u32, u32) -> u32) -> f64 {
    let program = kernel(body);
    let n = (BLOCKS * THREADS) as usize;
    let case = Case::line(&program, "k", BLOCKS, THREADS, vec![words(n, 1, 0), zeros(n)]);
    for engine in [Engine::Interpreter].iter().chain(Engine::native()) {
        let result = case.run(*engine, 1).0.unwrap();
        let got = result.buffers[1].as_ref().unwrap().words();
        for (at, &got) in (0..).zip(got) {
            let (block, thread) = (at / THREADS, at % THREADS);
            assert_eq!(got, expected(block, thread), "{what}, {engine:?}: block {block}, thread {thread}");
        }
    }
    case.hold(what)
}

/// The register of the result is dead before the barrier, and live in the lanes of a block that has passed it.
#[test]
fn each_block_counts_its_own() {
    let ways = [
        (
            "all together",
            "mov.u32 %r6, %r5; setp.lt.s32 %p2, %r5, 0; @%p2 bra L; add.u32 %r6, %r6, 1; st.global.u32 [%rd4], %r6; L:",
        ),
        ("from native code", "mov.b32 %f1, %r5; add.rn.f32 %f1, %f1, %f1; bra L; L:"),
    ];
    for (what, way) in ways {
        let count = |block, _| THREADS - 1 - block;
        let share = hold(what, &format!("{way} barrier.red.popc.u32 %r6, 0, %p1;"), count);
        assert!(!has_native() || share > 0.3, "{what}: {share} native");
        let all = "setp.ge.u32 %p3, %r2, %r3; barrier.red.and.pred %p3, 0, %p3; selp.b32 %r6, 1, 0, %p3;";
        hold(what, &format!("{way} {all}"), |block, _| u32::from(block == 0));
        let all = "setp.ge.u32 %p3, %r2, %r3; bra M; M: barrier.red.and.pred %p2, 0, %p3; selp.b32 %r6, 1, 0, %p2;";
        hold(what, &format!("{way} {all}"), |block, _| u32::from(block == 0));
    }
}

/// Warps that wait at barriers of their own, at the start of a basic block.
#[test]
fn each_barrier_counts_its_own() {
    let body = "shr.u32 %r7, %r2, 5; bra L; L: barrier.red.popc.u32 %r6, %r7, 32, %p1;";
    hold("by warp", body, |block, thread| if thread < 32 { 31 - block } else { 32 });
}
