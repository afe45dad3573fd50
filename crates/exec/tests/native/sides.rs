//! Branches whose short sides native code runs under masks, and numbers that are known by their bits.

use super::scattered::FILL;
use super::{Case, has_native, lowered, random, words, zeros};
use roundonce_exec::{Arg, Buffer, Engine};

/// Kernels of one line of threads, `k0` on: `%r1` is the thread's number in the grid, `%r2` that in its block; `%r3` and `%f1` to
/// `%f3` are data; `%p1` and `%p2` are conditions of the data, of which the second is rarely true. `%rd1` is the data, `%rd2` the
/// thread's place among four words of the result. `t` is 1,024 words of shared memory, the first of which are the block's data.
fn program(bodies: &[String]) -> roundonce_ir::Program {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{number}(.param .u64 x, .param .u64 y, .param .u32 n) {{
             .reg .pred %p<6>; .reg .f32 %f<10>; .reg .b32 %r<16>; .reg .b64 %rd<10>; .reg .b16 %h<4>;
             .shared .align 4 .b8 t[4096];
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd3, [y]; ld.param.u32 %r15, [n];
             mov.u32 %r2, %tid.x; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r1, %r5, %r6, %r2;
             mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5; ld.global.u32 %r3, [%rd6]; mov.b32 %f1, %r3;
             add.f32 %f2, %f1, 0f3F000000; mul.f32 %f3, %f1, %f1; shl.b64 %rd7, %rd5, 2; add.u64 %rd2, %rd3, %rd7;
             setp.lt.f32 %p1, %f1, 0f3E400000; and.b32 %r7, %r3, 0xf80; setp.eq.u32 %p2, %r7, 0;
             mov.u32 %r8, t; shl.b32 %r9, %r2, 2; add.u32 %r9, %r8, %r9; st.shared.u32 [%r9], %r3; bar.sync 0; {FILL}
             {body}
             ret; }}\n"
        ));
    }
    lowered(&text)
}

/// Both sides compute; one; a side of several blocks; what they compute is read behind, in arithmetic that must not see what the
/// other lanes had.
fn sides() -> Vec<String> {
    let conditions = [
        "",
        "setp.eq.u32 %p1, %r2, 5;",
        "setp.lt.u32 %p1, %r2, 40;",
        "setp.ne.u32 %p1, %r1, 3000;",
        "setp.ge.s32 %p1, %r1, %r15;",
        "setp.lt.u32 %p1, %r2, 7; setp.gt.u32 %p2, %r2, 60; or.pred %p1, %p1, %p2;",
        "setp.lt.u32 %p4, %r2, 99; and.pred %p1, %p1, %p4; not.pred %p1, %p1;",
        "and.b32 %r7, %r2, 31; setp.eq.u32 %p1, %r7, 0;",
        "shr.u32 %r7, %r2, 5; setp.eq.u32 %p1, %r7, 1;",
        "mov.pred %p1, %p2;",
    ];
    let bodies = [
        // Two sides, and two that are a jump away.
        "@%p1 bra A; max.f32 %f4, %f1, %f2; bra B; A: min.f32 %f4, %f1, %f2; B: st.global.f32 [%rd2], %f4;",
        "@%p1 bra A; bra.uni C; A: min.f32 %f4, %f1, %f2; bra.uni B; C: max.f32 %f4, %f1, %f2; B: st.global.f32 [%rd2], %f4; @%p1 bra D; bra.uni F; D: max.f32 %f5, %f1, %f2; bra.uni G; F: min.f32 %f5, %f1, %f2; G: st.global.f32 [%rd2+4], %f5;",
        // NaNs and subnormals that are not canonical yet on one side, raw bits on the other.
        "mov.b32 %f4, %r3; @%p1 bra A; fma.rn.f32 %f4, %f1, %f2, %f3; A: mov.b32 %r10, %f4; add.u32 %r10, %r10, 1; st.global.u32 [%rd2], %r10;",
        "mov.f32 %f4, %f3; @%p1 bra A; fma.rn.ftz.f32 %f4, %f1, %f2, %f3; mul.rz.f32 %f5, %f4, %f4; add.rm.f32 %f4, %f4, %f5; A: st.global.f32 [%rd2], %f4;",
        "mov.u32 %r10, 7; @%p1 bra A; mov.u32 %r10, 9; A: mad.lo.u32 %r10, %r10, 3, %r2; st.global.u32 [%rd2], %r10;",
        // Bits that must not change on the one side, of a register that the other one overwrites.
        "mov.b32 %f4, %r3; @%p1 bra A; fma.rn.f32 %f4, %f1, %f2, %f3; mov.b32 %r10, %f4; bra B; A: mov.b32 %r10, %f4; add.u32 %r10, %r10, 1; B: st.global.u32 [%rd2], %r10;",
        "mov.b32 %f4, %r3; @%p1 bra A; mov.b32 %r10, %f4; add.u32 %r10, %r10, 1; bra B; A: fma.rn.f32 %f4, %f1, %f2, %f3; mov.b32 %r10, %f4; B: st.global.u32 [%rd2], %r10;",
        // A NaN of a side with a store, of lanes that the interpreter goes on with behind it.
        "mov.f32 %f4, 0f3F800000; @%p1 bra A; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd2], %f3; A: ld.global.u32 %r11, [%rd6+4]; st.global.u32 [%rd2+8], %r11; st.global.f32 [%rd2+4], %f4;",
        // The condition is overwritten on the side that runs first.
        "@%p1 bra A; setp.gt.f32 %p1, %f2, %f3; add.u32 %r10, %r3, 5; bra B; A: setp.lt.f32 %p1, %f2, %f3; mul.lo.u32 %r10, %r3, 5; B: selp.u32 %r11, 1, 2, %p1; add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10;",
        // A number that all lanes have before, and one with a pattern.
        "mov.u32 %r10, %r5; @%p1 bra A; add.u32 %r10, %r10, %r6; A: add.u32 %r11, %r10, %r10; st.global.u32 [%rd2], %r11;",
        "mov.u32 %r10, %r2; @%p1 bra A; shl.b32 %r10, %r2, 1; A: and.b32 %r10, %r10, 1023; mad.lo.u32 %r11, %r10, 4, %r8; and.b32 %r11, %r11, 511; add.u32 %r11, %r11, %r8; and.b32 %r11, %r11, -4; ld.shared.u32 %r12, [%r11]; st.global.u32 [%rd2], %r12;",
        // Predicates, 16 and 64 bits.
        "setp.gt.f32 %p3, %f1, %f3; @%p1 bra A; setp.gt.f32 %p3, %f2, %f3; A: selp.u32 %r10, 1, 2, %p3; st.global.u32 [%rd2], %r10;",
        "cvt.u16.u32 %h1, %r3; cvt.u64.u32 %rd8, %r3; @%p1 bra A; add.u16 %h1, %h1, 3; add.u64 %rd8, %rd8, 77; A: cvt.u32.u16 %r10, %h1; st.global.u32 [%rd2], %r10; st.global.u64 [%rd2+8], %rd8;",
        // A value that the other side still reads where the first one computes.
        "@%p1 bra A; add.u32 %r10, %r3, 1; add.u32 %r11, %r10, %r2; mul.lo.u32 %r12, %r11, %r10; bra B; A: add.u32 %r12, %r3, %r9; xor.b32 %r12, %r12, %r1; B: add.u32 %r12, %r12, %r3; st.global.u32 [%rd2], %r12;",
        // Loads: of lanes that are in bounds, where the others are not; of as many as there are words.
        "mov.u32 %r10, 5; @!%p1 bra A; ld.shared.u32 %r10, [%r9]; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; and.b32 %r7, %r2, 31; shl.b32 %r11, %r7, 7; add.u32 %r11, %r11, %r8; setp.gt.u32 %p3, %r7, 31; or.pred %p1, %p1, %p3; @%p1 bra A; ld.shared.u32 %r10, [%r11]; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; mul.lo.u32 %r11, %r2, 64; add.u32 %r11, %r11, %r8; setp.gt.u32 %p1, %r2, 63; @%p1 bra A; ld.shared.u32 %r10, [%r11]; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; sub.u32 %r11, %r2, 20; setp.gt.u32 %p1, %r11, 40; mad.lo.u32 %r11, %r11, 4, %r8; @%p1 bra A; ld.shared.u32 %r10, [%r11]; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; @%p1 bra A; ld.global.u32 %r10, [%rd6+4]; ld.global.u32 %r11, [%rd6+16]; add.u32 %r10, %r10, %r11; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; and.b32 %r11, %r3, 1020; add.u32 %r11, %r11, %r8; @%p1 bra A; ld.shared.u32 %r10, [%r11]; A: st.global.u32 [%rd2], %r10;",
        // One in the other, one behind the other, in a loop, one that ends the kernel.
        "mov.u32 %r10, 1; @%p1 bra A; add.u32 %r10, %r10, %r3; @%p2 bra A; mul.lo.u32 %r10, %r10, 5; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 0; L: @%p1 bra A; add.u32 %r10, %r10, %r3; bra B; A: xor.b32 %r10, %r10, %r2; B: add.u32 %r7, %r7, 128; setp.lt.u32 %p3, %r7, 4200; @%p3 bra L; st.global.u32 [%rd2], %r10;",
        "@%p1 bra E; add.f32 %f4, %f1, %f2; mul.f32 %f4, %f4, %f3; ld.shared.f32 %f5, [%r9]; add.f32 %f4, %f4, %f5; st.global.f32 [%rd2], %f4; E:",
        "@%p1 bra A; st.global.u32 [%rd2], %r3; A: @%p2 bra B; add.u32 %r10, %r3, 1; B: st.global.u32 [%rd2+4], %r10;",
        "@%p1 bra A; st.global.u32 [%rd2], %r3; bra B; A: st.global.u32 [%rd2+4], %r2; B: add.u32 %r10, %r3, 1; st.global.u32 [%rd2+8], %r10;",
        // All lanes of a warp store to one place, some of them, by one type or another; then to that of the block.
        "and.b32 %r10, %r1, -32; mul.wide.u32 %rd8, %r10, 16; add.u64 %rd8, %rd3, %rd8; fma.rn.f32 %f4, %f1, %f2, %f3; @%p1 bra A; st.global.f32 [%rd8], %f4; bra B; A: st.global.v2.u32 [%rd8], {%r3, %r2}; B: st.global.u32 [%rd2+8], %r3;",
        "and.b32 %r10, %r1, -32; mul.wide.u32 %rd8, %r10, 16; add.u64 %rd8, %rd3, %rd8; cvt.u64.u32 %rd9, %r3; mul.lo.u64 %rd9, %rd9, %rd9; cvt.u16.u32 %h1, %r3; @%p1 bra A; st.global.u64 [%rd8], %rd9; bra B; A: st.global.u16 [%rd8+2], %h1; st.global.u8 [%rd8+5], %r2; B: st.global.u32 [%rd2+8], %r3;",
        "st.shared.u32 [t+4], %r3; @%p1 bra A; st.shared.u32 [t], %r3; A: bar.sync 0; ld.shared.u32 %r10, [t]; ld.shared.u32 %r11, [t+4]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10;",
        // Approximations are counted where they run.
        "mov.f32 %f4, %f1; @%p1 bra A; ex2.approx.f32 %f4, %f2; A: st.global.f32 [%rd2], %f4;",
        // Warps together inside one.
        "@%p1 bra A; shfl.sync.bfly.b32 %r3, %r3, 4, 31, 0xffffffff; A: st.global.u32 [%rd2], %r3;",
        "mov.f32 %f4, %f3; @%p1 bra A; add.f32 %f4, %f1, %f2; mov.b32 %r10, %f4; shfl.sync.down.b32 %r11|%p3, %r10, 16, 31, 0xffffffff; mov.b32 %f5, %r11; add.f32 %f4, %f4, %f5; A: st.global.f32 [%rd2], %f4;",
        "mov.u32 %r10, %r3; @%p1 bra A; fma.rn.f32 %f4, %f1, %f2, %f3; mov.b32 %r11, %f4; shfl.sync.bfly.b32 %r10, %r11, 3, 31, 0xffffffff; A: add.u32 %r10, %r10, 1; st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 1; @%p1 bra A; vote.sync.any.pred %p4, %p2, 0xffffffff; shfl.sync.up.b32 %r10|%p3, %r3, 3, 0, 0xffffffff; @%p3 add.u32 %r10, %r10, 1; @%p4 add.u32 %r10, %r10, 2; bra B; A: vote.sync.ballot.b32 %r10, %p2, 0xffffffff; B: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, %r3; @%p1 bra A; shfl.sync.bfly.b32 %r10, %r3, 16, 31, 0xffffffff; bar.warp.sync 0xffffffff; st.global.u32 [%rd2+4], %r10; A: ld.shared.u32 %r11, [%r9]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10;",
    ];
    let warps = |condition: &str, body: &str| !body.contains("shfl") || condition.starts_with("shr");
    let pairs = bodies.iter().flat_map(|body| conditions.iter().map(move |condition| (condition, body)));
    pairs
        .filter(|(condition, body)| warps(condition, body))
        .map(|(condition, body)| format!("{condition} {body}"))
        .collect()
}

/// The thread's number taken apart and put together, as a number, as an address on both sides of a barrier, as a condition.
fn bits() -> Vec<String> {
    let mut numbers = Vec::new();
    for constant in [1u32, 3, 4, 31, 32, 48, 64, 127, 0x55, 0xffff_fffe, 0xffff_ffe0, 0x8000_0001] {
        for op in ["and", "or", "xor"] {
            numbers.push(format!("{op}.b32 %r10, %r2, {constant};"));
            numbers.push(format!("{op}.b32 %r10, {constant}, %r1;"));
        }
        numbers.push(format!("and.b32 %r10, %r2, {constant}; shl.b32 %r11, %r2, 1; sub.u32 %r10, %r11, %r10;"));
        // As many bits as are zero in the tile's number, and one more.
        numbers.push(format!("and.b32 %r11, %r2, 31; add.u32 %r10, %r2, %r11; and.b32 %r10, %r10, {constant};"));
        numbers.push(format!("mul.lo.u32 %r10, %r2, 6; and.b32 %r10, %r10, {constant}; add.u32 %r10, %r10, %r2;"));
    }
    for count in [0, 1, 3, 5, 7, 31, 32, 256] {
        for op in ["shr.u32", "shr.s32"] {
            numbers.push(format!("{op} %r10, %r2, {count};"));
            numbers.push(format!("or.b32 %r10, %r2, 0x80000000; {op} %r10, %r10, {count};"));
            numbers.push(format!("sub.u32 %r10, %r1, 64; {op} %r10, %r10, {count}; xor.b32 %r10, %r10, 3;"));
        }
    }
    // Another pattern each time round a loop with a barrier.
    for step in ["add.u32 %r12, %r12, 1;", "shl.b32 %r12, %r12, 1;"] {
        numbers.push(format!(
            "mov.u32 %r12, 1; mov.u32 %r13, 0; L: mul.lo.u32 %r10, %r2, %r12; and.b32 %r10, %r10, 255; bar.sync 0; {FILL} shl.b32 %r11, %r10, 2;
             add.u32 %r11, %r11, %r8; ld.shared.u32 %r14, [%r11]; add.u32 %r13, %r13, %r14; {step} setp.lt.u32 %p4, %r12, 24; @%p4 bra L; add.u32 %r10, %r10, %r13;"
        ));
    }
    numbers.push("cvt.u64.u32 %rd8, %r1; and.b64 %rd8, %rd8, 31; shr.u64 %rd9, %rd8, 2; xor.b64 %rd8, %rd8, %rd9; cvt.u32.u64 %r10, %rd8;".into());
    let uses = [
        "st.global.u32 [%rd2], %r10;",
        "and.b32 %r11, %r10, 1023; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r8; ld.shared.u32 %r12, [%r11]; st.global.u32 [%rd2], %r12; bar.sync 0;
         st.shared.u32 [%r11], %r2; bar.sync 0; ld.shared.u32 %r13, [%r11]; add.u32 %r13, %r13, %r12; add.u32 %r13, %r13, %r10; st.global.u32 [%rd2+4], %r13;",
        "and.b32 %r11, %r10, 4; setp.eq.u32 %p3, %r11, 0; @%p3 bra A; add.u32 %r10, %r10, %r3; A: st.global.u32 [%rd2], %r10;",
        "and.b32 %r11, %r10, 255; mul.wide.u32 %rd8, %r11, 4; add.u64 %rd8, %rd1, %rd8; ld.global.u32 %r12, [%rd8]; st.global.u32 [%rd2], %r12;",
    ];
    numbers.iter().flat_map(|number| uses.iter().map(move |of| format!("{number} {of}"))).collect()
}

/// Numbers about a condition's bound, with NaNs, subnormals and infinities.
fn data(seed: u64) -> Arg {
    let mut next = random(seed);
    let mut word = || match next() {
        bits if bits & 15 == 0 => (bits >> 32) as u32,
        bits if bits & 15 == 1 => 0x7f80_0000 | (bits >> 41) as u32 | (bits >> 32) as u32 & 0x8000_0000,
        bits if bits & 15 == 2 => (bits >> 32) as u32 & 0x807f_ffff,
        bits => 0x3e00_0000 | (bits >> 40) as u32 & 0x7f_ffff,
    };
    Arg::Buffer(Buffer::from_words((0..N + 8).map(|_| word()).collect()))
}

/// Threads: of several batches, so that what one batch shows the others are compiled for.
const N: usize = 6144;

pub(crate) fn hold(bodies: &[String], blocks: &[u32], least: f64) {
    let program = program(bodies);
    for (number, body) in bodies.iter().enumerate() {
        for &block in blocks {
            let args = vec![data(number as u64), zeros(4 * N), Arg::Scalar(5000)];
            let entry = format!("k{number}");
            let case = Case::line(&program, &entry, N as u32 / block, block, args);
            let share = case.hold(&format!("{body} by {block}"));
            assert!(!has_native() || share > least, "{body} by {block}: {share} native");
        }
    }
}

#[test]
fn sides_under_masks() {
    hold(&sides(), &[128], 0.4);
}

/// Each side changes what it stores to, in a buffer of its own: if the second side leaves native code, the first must not run again.
#[test]
fn sides_that_store_where_they_load() {
    let (x, y) = (
        "ld.global.u32 %r10, [%rd6]; add.u32 %r10, %r10, 1; st.global.u32 [%rd6], %r10;",
        "ld.global.u32 %r11, [%rd2]; add.u32 %r11, %r11, 1; st.global.u32 [%rd2], %r11;",
    );
    let bodies = [
        format!("@%p1 bra A; {x} bra B; A: {y} B: ret;"),
        format!("@%p1 bra A; {y} bra B; A: {x} B: ret;"),
        format!("setp.lt.u32 %p1, %r2, 40; @%p1 bra A; {x} bra B; A: {y} B: ret;"),
        format!("setp.lt.u32 %p1, %r2, 40; @%p1 bra A; {y} bra B; A: {x} B: ret;"),
        // The second side's store alone; one side, several stores.
        format!("@%p1 bra A; {x} bra B; A: st.global.u32 [%rd2], %r3; B: ret;"),
        format!("@%p1 bra A; {x} bra.uni C; C: st.global.u32 [%rd2], %r10; A: ret;"),
    ];
    hold(&bodies, &[128, 32], 0.0);
}

/// Loops of which lanes leave at different times, with sides that end at the loop's head: what all lanes have as one number until one of
/// them passes a side.
#[test]
fn sides_that_go_on_with_a_loop() {
    let looped = |side: &str| {
        format!(
            "and.b32 %r10, %r3, 7; add.u32 %r10, %r10, 1; mov.u32 %r11, 0; mov.u32 %r12, 3; mov.u32 %r14, 1;
             L: mad.lo.u32 %r11, %r11, %r14, %r12; sub.u32 %r10, %r10, 1; setp.eq.u32 %p3, %r10, 0; @%p3 bra O;
             and.b32 %r13, %r10, 1; setp.eq.u32 %p4, %r13, 0; @%p4 bra L; {side} bra L; O: st.global.u32 [%rd2], %r11;"
        )
    };
    let sides = [
        "mov.u32 %r12, 10;",
        "add.u32 %r12, %r12, 1; add.u32 %r14, %r12, 2;",
        "mul.lo.u32 %r5, %r12, %r12; mov.u32 %r12, %r5;",
    ];
    hold(&sides.map(looped), &[128, 32, 16], 0.1);
}

/// Steps count before what is stored: where they run out, the interpreter runs the tile again.
#[test]
fn limits_of_sides() {
    let bodies = [
        "@%p1 bra A; st.global.u32 [%rd1], %r1; A: ret;",
        "@%p1 bra A; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; A:",
        "@!%p1 bra A; st.global.u32 [%rd1], 1000; A:",
        "add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; bra E; E:",
    ];
    let kernels: Vec<String> = (0..)
        .zip(bodies)
        .map(|(number, body)| {
            format!(
                ".visible .entry k{number}(.param .u64 x) {{ .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
             ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
             ld.global.u32 %r2, [%rd1]; sub.u32 %r3, %r1, 20; setp.lt.s32 %p1, %r2, %r3; {body} }}\n"
            )
        })
        .collect();
    let program = lowered(&format!(".version 8.0\n.target sm_80\n.address_size 64\n{}", kernels.concat()));
    for (number, body) in bodies.iter().enumerate() {
        let entry = format!("k{number}");
        let mut case = Case::line(&program, &entry, 1, 64, vec![zeros(64)]);
        for &engine in Engine::native() {
            for limit in 1..20 {
                case.step_limit = limit;
                let ((got, native), (expected, _)) = (case.run(engine, 1), case.run(Engine::Interpreter, 1));
                assert_eq!(got, expected, "{body}, {engine:?}, limit {limit}");
                assert!(limit < 19 || native > 0, "{body}, {engine:?}");
            }
        }
    }
}

/// One lane's access is out of bounds, under a mask.
#[test]
fn the_same_error_on_a_side() {
    let bodies = [
        "setp.ne.u32 %p1, %r1, 5000; @%p1 bra A; ld.shared.u32 %r10, [%r9+4096]; A: st.global.u32 [%rd2], %r10;",
        "mov.u32 %r10, 5; @%p1 bra A; mov.u64 %rd8, %rd6; setp.eq.u32 %p3, %r1, 6001; @%p3 mov.u64 %rd8, 4; ld.global.u32 %r10, [%rd8]; A: st.global.u32 [%rd2], %r10;",
        "@%p1 bra A; mul.lo.u32 %r11, %r2, 33; add.u32 %r11, %r11, %r8; and.b32 %r11, %r11, -4; ld.shared.u32 %r10, [%r11]; A: st.global.u32 [%rd2], %r10;",
    ];
    hold(&bodies.map(String::from), &[128], -1.0);
}

#[test]
fn numbers_by_their_bits() {
    hold(&bits(), &[256], 0.5);
    hold(&bits().into_iter().step_by(9).collect::<Vec<_>>(), &[32, 64], 0.5);
}

/// The thread's number in a block of two axes.
#[test]
fn numbers_by_their_bits_in_planes() {
    let bodies: Vec<String> = bits()
        .into_iter()
        .step_by(3)
        .map(|body| format!("mov.u32 %r14, %tid.y; mad.lo.u32 %r2, %r14, %r6, %r2; {body}"))
        .collect();
    let program = program(&bodies);
    for (number, body) in bodies.iter().enumerate() {
        for block in [[16, 16, 1], [8, 4, 2], [64, 2, 1], [4, 32, 1]] {
            let args = vec![words(N, 3, 0), zeros(4 * N), Arg::Scalar(5000)];
            let entry = format!("k{number}");
            let blocks = N as u32 / 512;
            let case = Case { block, ..Case::line(&program, &entry, blocks, 1, args) };
            case.hold(&format!("{body} by {block:?}"));
        }
    }
}
