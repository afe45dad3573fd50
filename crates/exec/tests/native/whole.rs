//! Kernels that native code runs from their starts to their ends, block after block: which block it is in, where it goes on after
//! a tile that it cannot run, and what it counts.

use super::{Case, lowered, words, zeros};
use crate::detect::has_native;
use roundonce_exec::{Arg, Engine, Launch, Options};
use roundonce_ir::Program;

/// `%r1` is the thread in its block, `%r2` the block's number in the grid, `%r3` the thread in the grid; `%rd1` and `%rd2` the addresses
/// of its elements of x and y. What `body` leaves in `%r9` is stored to y.
fn program(body: &str) -> Program {
    lowered(&format!(
        ".version 7.0 .target sm_70 .address_size 64
         .visible .entry k(.param .u64 x, .param .u64 y) {{
         .reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
         mov.u32 %r1, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %ntid.x; mad.lo.u32 %r1, %r4, %r5, %r1;
         mov.u32 %r2, %ctaid.z; mov.u32 %r4, %nctaid.y; mov.u32 %r5, %ctaid.y; mad.lo.u32 %r2, %r2, %r4, %r5;
         mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r2, %r2, %r4, %r5;
         mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mul.lo.u32 %r4, %r4, %r5; mad.lo.u32 %r3, %r2, %r4, %r1;
         mul.wide.u32 %rd3, %r3, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
         {body} st.global.u32 [%rd2], %r9; ret; }}"
    ))
}

const BODIES: [&str; 6] = [
    "mov.u32 %r9, %r3;",
    // The axes by themselves.
    "mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ctaid.y; mad.lo.u32 %r9, %r10, 1000, %r9; mov.u32 %r10, %ctaid.z;
     mad.lo.u32 %r9, %r10, 100000, %r9;",
    // Approximate instructions are counted, in a loop too, and where only some lanes run them.
    "ld.global.f32 %f1, [%rd1]; ex2.approx.f32 %f2, %f1; and.b32 %r10, %r2, 3;
     L: rcp.approx.f32 %f2, %f1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 4; @%p1 bra L;
     setp.lt.u32 %p2, %r1, 7; @%p2 sqrt.approx.f32 %f2, %f1; mov.b32 %r9, %f2; and.b32 %r9, %r9, 0xff000000;",
    // Few tiles part, the last of a block among them, so that the interpreter runs them.
    "mov.u32 %r9, %r3; rem.u32 %r10, %r2, 11; setp.ne.u32 %p1, %r10, 4; @%p1 bra E; setp.lt.u32 %p2, %r1, %r10; @%p2 bra A;
     setp.gt.u32 %p3, %r1, 250; @%p3 bra A; bra E; A: mul.lo.u32 %r9, %r9, 7; L: add.u32 %r9, %r9, 3; and.b32 %r10, %r9, 31;
     setp.ne.u32 %p1, %r10, 0; @%p1 bra L; E:",
    // One load in two buffers, by turns.
    "and.b32 %r10, %r2, 1; setp.eq.u32 %p1, %r10, 0; selp.b64 %rd4, %rd1, %rd2, %p1; ld.global.u32 %r9, [%rd4]; add.u32 %r9, %r9, %r3;",
    // Lanes go on for as long as their data say.
    "ld.global.u32 %r10, [%rd1]; and.b32 %r10, %r10, 15; mov.u32 %r9, %r3; L: mad.lo.u32 %r9, %r9, 5, 1; sub.u32 %r10, %r10, 1;
     setp.gt.s32 %p1, %r10, 0; @%p1 bra L;",
];

#[test]
fn blocks_of_any_grid() {
    let mut shares = Vec::new();
    for body in BODIES {
        let kernel = program(body);
        for (grid, block) in
            [([45, 1, 1], [256, 1, 1]), ([5, 3, 4], [64, 1, 1]), ([1, 7, 6], [32, 4, 1]), ([1, 1, 50], [512, 1, 1])]
        {
            let threads = grid.iter().chain(&block).product::<u32>() as usize;
            let mut case = Case::line(&kernel, "k", 1, 1, vec![words(threads, 3, 0), zeros(threads)]);
            (case.grid, case.block) = (grid, block);
            shares.push(case.hold(&format!("{grid:?} of {block:?}: {body}")));
        }
    }
    // Half of the blocks of one load in two buffers are the interpreter's, once it has gone from one to the other too often.
    assert!(!has_native() || shares.iter().all(|&share| share > 0.3), "{shares:?}");
}

/// Part of a grid, from any block on.
#[test]
fn some_blocks_of_a_grid() {
    let kernel = program(BODIES[1]);
    let (grid, block): ([u32; 3], [u32; 3]) = ([5, 3, 4], [64, 1, 1]);
    for blocks in [0..60, 7..8, 4..31, 14..60, 44..46] {
        let run = |engine| {
            let options = Options { engine, blocks: Some(blocks.clone()), threads: 1, ..Options::default() };
            let args = vec![words(60 * 64, 3, 0), zeros(60 * 64)];
            let launch = Launch { program: &kernel, entry: Some("k"), grid, block, args, dynamic_shared: 0, options };
            let report = launch.run().unwrap_or_else(|error| panic!("{error}"));
            (report.buffers, report.steps, report.native_steps)
        };
        let expected = run(Engine::Interpreter);
        for &engine in Engine::native() {
            let got = run(engine);
            assert!((&got.0, got.1) == (&expected.0, expected.1), "{blocks:?} by {engine:?}");
            assert_eq!(got.2, got.1);
        }
    }
}

/// The first access out of bounds, wherever in its block it is.
#[test]
fn errors_in_the_middle_of_a_grid() {
    for (block_number, thread) in [(0, 0), (0, 255), (17, 3), (17, 70), (17, 255), (44, 254)] {
        let body = format!(
            "mov.u32 %r9, %r3; mad.lo.u32 %r10, %r2, 256, %r1; setp.ge.u32 %p1, %r10, {}; selp.b64 %rd3, 0x400000, 0, %p1;
             add.u64 %rd2, %rd2, %rd3;",
            block_number * 256 + thread
        );
        let kernel = program(&body);
        let case = Case::line(&kernel, "k", 45, 256, vec![Arg::Scalar(0), zeros(45 * 256)]);
        assert!(case.run(Engine::Interpreter, 1).0.is_err());
        case.hold(&format!("block {block_number}, thread {thread}"));
    }
}
