//! Blocks that go from barrier to barrier in native code: those behind the first go the same way in groups of few. The
//! interpreter's bits, steps and errors, also where one block goes another way.

use super::{Case, has_native, lowered, words, zeros};
use roundonce_exec::Arg;

const BLOCKS: u32 = 150;
const THREADS: u32 = 64;

/// A sum over a block by halves in shared memory, after `before` and with `between` the steps; `%f1` is the thread's number,
/// `%rd3` and `%rd4` are the addresses of its input and output, `%r2` is its index in the block, `%r3` the block's.
fn kernel(before: &str, between: &str, after: &str) -> roundonce_ir::Program {
    lowered(&format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 flags) {{
         .reg .pred %p<6>; .reg .b16 %h<3>; .reg .b32 %r<16>; .reg .b64 %rd<12>; .reg .f32 %f<8>; .reg .f64 %d<3>;
         .shared .align 4 .b8 part[256]; .shared .align 4 .b8 never[256];
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd8, [flags];
         mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
         mad.lo.u32 %r1, %r3, %r4, %r2; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5;
         mul.wide.u32 %rd9, %r3, 4; add.u64 %rd9, %rd8, %rd9; ld.global.u32 %r9, [%rd9];
         ld.global.f32 %f1, [%rd3]; mul.rn.f32 %f2, %f1, 0f3F000001; mov.u32 %r5, part; shl.b32 %r6, %r2, 2; add.u32 %r7, %r5, %r6;
         mov.u32 %r13, never; add.u32 %r13, %r13, %r6; cvt.f64.f32 %d1, %f1; cvt.rn.f16.f32 %h1, %f1; setp.gt.f32 %p5, %f1, 0f00000000;
         {before}
         st.shared.f32 [%r7], %f1; bar.sync 0;
         mov.u32 %r8, 32;
       STEP: xor.b32 %r10, %r2, %r8; shl.b32 %r10, %r10, 2; add.u32 %r10, %r5, %r10; ld.shared.f32 %f3, [%r10];
         bar.sync 0; fma.rz.f32 %f1, %f3, 0f3F7FFFFF, %f1; st.shared.f32 [%r7], %f1; bar.sync 0;
         {between}
         shr.u32 %r8, %r8, 1; setp.ne.u32 %p1, %r8, 0; @%p1 bra STEP;
         ld.shared.f32 %f5, [%r13]; add.f32 %f1, %f1, %f5; st.shared.f32 [%r13], %f1;
         fma.rm.f32 %f1, %f1, %f2, %f2; cvt.rn.f32.f64 %f6, %d1; add.f32 %f1, %f1, %f6; cvt.f32.f16 %f6, %h1; selp.f32 %f6, %f6, %f2, %p5;
         add.rp.f32 %f1, %f1, %f6; {after}
         st.global.f32 [%rd4], %f1; ret; }}\n"
    ))
}

/// More words than the caches are taken to hold: phases prefetch, without debug assertions too.
const MANY: usize = (1 << 18) + 1;

/// So many words, 0 but for those of some blocks.
fn flags(set: &[(u32, u32)], count: usize) -> Arg {
    let mut words = vec![0; count];
    set.iter().for_each(|&(block, flag)| words[block as usize] = flag);
    Arg::Buffer(roundonce_exec::Buffer::from_words(words))
}

fn case<'a>(program: &'a roundonce_ir::Program, set: &[(u32, u32)], count: usize) -> Case<'a> {
    let n = (BLOCKS * THREADS) as usize;
    Case::line(program, "k", BLOCKS, THREADS, vec![words(n, 3, 50), zeros(n), flags(set, count)])
}
/// With few words and with many; which part was native code.
fn hold(program: &roundonce_ir::Program, set: &[(u32, u32)], name: &str) -> f64 {
    let [few, many] =
        [BLOCKS as usize, MANY].map(|count| case(program, set, count).hold(&format!("{name}, {count} words")));
    few.min(many)
}

#[test]
fn blocks_that_go_one_way() {
    let program = kernel("", "", "");
    let share = hold(&program, &[], "one way");
    assert!(!has_native() || share > 0.7, "{share} native");
}

/// Blocks 100, 101 and 149 do more, in all their threads, in some, or in some of a warp.
#[test]
fn some_blocks_go_another_way() {
    let more = |threads: &str| {
        format!(
            "setp.ne.u32 %p2, %r9, 0; setp.lt.u32 %p3, %r2, {threads}; and.pred %p2, %p2, %p3; @!%p2 bra ON;
             sqrt.rn.f32 %f1, %f2; st.global.f32 [%rd3], %f1; ld.global.f32 %f7, [%rd3]; add.f32 %f1, %f1, %f7; ON:"
        )
    };
    for threads in ["64", "32", "5"] {
        for (before, between, after) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
            let text = more(threads);
            let at = |place: i32| if place == 0 { &text[..] } else { "" };
            let program = kernel(at(before), at(between), at(after));
            for set in [&[(100, 1), (101, 1), (149, 1)][..], &[(103, 1)], &[(64, 1), (96, 1)]] {
                hold(&program, set, &format!("{threads} threads, {before} {between} {after}, {set:?}"));
            }
        }
    }
    // So many that groups do not pay.
    let program = kernel("", &more("64"), "");
    let most: Vec<(u32, u32)> = (66..BLOCKS).map(|block| (block, block % 2)).collect();
    hold(&program, &most, "every other block");
}

/// More barriers in one block.
#[test]
fn one_block_has_more_barriers() {
    let more = "setp.ne.u32 %p2, %r9, 0; @!%p2 bra ON; bar.sync 0; st.shared.f32 [%r7], %f2; bar.sync 0; ld.shared.f32 %f7, [part]; \
                add.f32 %f1, %f1, %f7; bar.sync 0; ON:";
    let program = kernel("", more, "");
    hold(&program, &[(90, 1), (120, 1)], "more barriers");
}

/// An access outside of a buffer in one block, and a block that never ends.
#[test]
fn errors_are_the_interpreters() {
    for (before, between, after) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        let wild = "mul.wide.u32 %rd10, %r9, 4; add.u64 %rd11, %rd4, %rd10; ld.global.f32 %f7, [%rd11]; add.f32 %f1, %f1, %f7;";
        let at = |place: i32| if place == 0 { wild } else { "" };
        let program = kernel(at(before), at(between), at(after));
        hold(&program, &[(110, 0x1000_0000)], &format!("wild, {before} {between} {after}"));
        hold(&program, &[(149, 40)], &format!("at the end, {before} {between} {after}"));
    }
    let again = "mov.u32 %r11, %r9; LOOP: setp.eq.u32 %p2, %r11, 0; @%p2 bra ON; fma.rn.f32 %f1, %f1, %f2, %f2; sub.u32 %r11, %r11, 1; \
                 bra LOOP; ON:";
    let program = kernel("", again, "");
    hold(&program, &[(99, 7)], "a loop");
    let mut endless = case(&program, &[(99, 0xffff_ffff)], MANY);
    endless.step_limit = 1 << 16;
    endless.hold("no end");
    // What blocks have run before counts: all of a batch of the interpreter's.
    let long: Vec<(u32, u32)> = (96..128).map(|block| (block, 20)).collect();
    for (limit, count) in (100..1000).step_by(23).flat_map(|limit| [(limit, BLOCKS as usize), (limit, MANY)]) {
        let mut long = case(&program, &long, count);
        long.step_limit = limit;
        long.hold(&format!("{limit} steps, {count} words"));
    }
}
