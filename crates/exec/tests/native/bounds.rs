//! What compiling may cost, where regions are cut, and errors of several blocks at once.

use super::{Case, has_native, lowered, words, zeros};
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use std::fmt::Write;

/// A kernel of one buffer, at whose address plus four times the thread's index it leaves `%f0`.
fn kernel(registers: usize, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .f32 %f<{registers}>;\n\
         .reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %b<4>;\nld.param.u64 %b0, [p];\nmov.u32 %r0, %tid.x;\n\
         cvt.rn.f32.u32 %f0, %r0;\n{body}mul.wide.u32 %b1, %r0, 4;\nadd.u64 %b1, %b0, %b1;\n\
         st.global.f32 [%b1], %f0;\nret;\n}}\n"
    )
}

fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// More instructions than a region has, more blocks, more live registers than slots, more loops.
fn large() -> Vec<(&'static str, String)> {
    vec![
        ("long", kernel(9, &lines(9_000, |index| format!("fma.rn.f32 %f0, %f0, 0f3F800001, 0f{index:08X};\n")))),
        (
            "branches",
            kernel(
                9,
                &lines(1_500, |index| {
                    let value = index % 37;
                    format!(
                        "setp.eq.u32 %p0, %r0, {value};\n@%p0 bra L{index};\nadd.rn.f32 %f0, %f0, 0f3F800000;\nL{index}:\n"
                    )
                }),
            ),
        ),
        (
            "live",
            kernel(3_001, &{
                let mut body = lines(3_000, |index| format!("add.rn.f32 %f{}, %f0, 0f{index:08X};\n", index + 1));
                body += &lines(3_000, |index| format!("add.rn.f32 %f0, %f0, %f{};\n", index + 1));
                body
            }),
        ),
        (
            "loops",
            kernel(
                9,
                &lines(400, |index| {
                    format!(
                        "mov.u32 %r1, 0;\nM{index}: add.rn.f32 %f0, %f0, 0f3F800000;\nadd.u32 %r1, %r1, 1;\n\
                     setp.lt.u32 %p0, %r1, 3;\n@%p0 bra M{index};\n"
                    )
                }),
            ),
        ),
    ]
}

#[test]
fn large_kernels() {
    for (what, text) in large() {
        let program = lowered(&text);
        let share = Case::line(&program, "k", 1, 256, vec![Arg::Buffer(Buffer::zeros(1024))]).hold(what);
        // Too many values are live for a region; of the others some part is native.
        assert_eq!(share > 0.0, what != "live" && has_native(), "{what}: {share}");
    }
}

/// Tiles of 64 lanes, of which one parts and runs on lane by lane: thousands of steps behind the other one, which waits for it.
#[test]
fn the_first_error_of_lanes_that_are_ahead() {
    let text = ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<3>;\n\
                .reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %b<2>;\nmov.u32 %r1, %tid.x;\nA: mov.u32 %r2, 0;\n\
                B: setp.gt.u32 %p0, %r1, 1;\nmul.rn.f32 %f2, %f0, %f1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 40;\n\
                @%p1 bra B;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 40;\n@%p1 bra A;\nmul.wide.u32 %b0, %r4, 4;\n\
                add.s64 %b1, %b1, %b0;\nld.shared.f32 %f1, [%b1];\nmad.lo.u32 %r4, %r4, 4, %r1;\nret;\n}\n";
    let program = lowered(text);
    Case::line(&program, "k", 1, 128, vec![Arg::Buffer(Buffer::zeros(1024))]).hold("two loops");
}

#[test]
fn what_compiling_may_cost() {
    for (what, text) in large() {
        let program = lowered(&text);
        let run = |compile_limit: u64| {
            let launch = Launch {
                program: &program,
                entry: None,
                grid: [1, 1, 1],
                block: [256, 1, 1],
                args: vec![Arg::Buffer(Buffer::zeros(1024))],
                dynamic_shared: 0,
                options: Options { compile_limit, engine: Engine::Native, ..Options::default() },
            };
            let report = launch.run().unwrap();
            (report.buffers, report.steps, report.native_steps)
        };
        let (buffers, steps, native) = run(0);
        assert_eq!(native, 0, "{what}");
        for limit in [1 << 16, 1 << 20, 1 << 24, 1 << 28] {
            let (other, counted, _) = run(limit);
            assert!(other == buffers && counted == steps, "{what}, limit {limit}");
        }
    }
}

/// How much of a kernel that loops so often is native by default, on so many blocks of 256 threads.
fn share_by_default(rounds: u32, blocks: u32) -> f64 {
    let text = kernel(
        9,
        &format!(
            "mov.u32 %r1, 0;\nM: fma.rn.f32 %f0, %f0, 0f3F800001, 0f3F800000;\nadd.u32 %r1, %r1, 1;\n\
             setp.lt.u32 %p0, %r1, {rounds};\n@%p0 bra M;\n"
        ),
    );
    let program = lowered(&text);
    let case = Case::line(&program, "k", blocks, 256, vec![Arg::Buffer(Buffer::zeros(1024))]);
    let (got, native) = case.run(Engine::Auto, 1);
    assert!(got == case.run(Engine::Interpreter, 1).0, "{rounds} rounds, {blocks} blocks");
    native as f64 / got.unwrap().steps as f64
}

#[test]
fn compiled_once_that_pays() {
    // A launch that ends soon, one of many threads, one of many rounds, and one of many batches of some rounds.
    assert_eq!(share_by_default(3, 1), 0.0);
    assert_eq!(share_by_default(3, 100_000) > 0.9, has_native());
    assert_eq!(share_by_default(1_000_000, 1) > 0.9, has_native());
    assert_eq!(share_by_default(1_000, 256) > 0.8, has_native());
    // Of the largest grid there is the first block ends the launch.
    let program = lowered(&kernel(9, "mov.u64 %b0, 0;\n"));
    let mut case = Case::line(&program, "k", 1, 1024, vec![Arg::Buffer(Buffer::zeros(4))]);
    case.grid = [0x7fff_ffff, 65_535, 65_535];
    assert!(case.run(Engine::Interpreter, 1).0.is_err());
    case.hold("the largest grid");
    assert_eq!(case.run(Engine::Auto, 1).0, case.run(Engine::Interpreter, 1).0);
}

/// A store under a guard, which the interpreter runs, behind a branch that parts the lanes of one block.
fn guarded_store(guarded: u32, stride: u64, offset: i64) -> String {
    let mut text = String::new();
    write!(
        text,
        ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
         .reg .f32 %f<3>;\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %b<8>;\nld.param.u64 %b0, [p];\n\
         ld.param.u64 %b1, [q];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 64, %r0;\n\
         cvt.u64.u32 %b2, %r0;\nmul.lo.u64 %b3, %b2, {stride};\nadd.u64 %b3, %b3, %b0;\n\
         setp.lt.u32 %p1, %r0, {guarded};\n@%p1 st.global.f32 [%b3+{offset}], %f1;\nmul.wide.u32 %b4, %r0, 4;\n\
         add.u64 %b4, %b4, %b1;\nadd.rn.f32 %f1, %f1, 0f3F800000;\nst.global.f32 [%b4], %f1;\nret;\n}}\n"
    )
    .expect("memory takes it");
    text
}

#[test]
fn the_same_error_of_several_blocks() {
    let mut errors = 0;
    for guarded in [0, 1, 63, 64, 65, 100, 127, 128, 200, 1000] {
        for (stride, offset) in [(1 << 33, 708), (4, 708), (4, -4), (0, 400), (0, 0), (1 << 20, 0), (2, 0)] {
            let program = lowered(&guarded_store(guarded, stride, offset));
            for words in [10, 70, 1_000] {
                let buffers = [100, words].map(|words| Arg::Buffer(Buffer::zeros(4 * words))).to_vec();
                let case = Case::line(&program, "k", 4, 64, buffers);
                errors += usize::from(case.run(Engine::Interpreter, 1).0.is_err());
                case.hold(&format!("{guarded} lanes, stride {stride}, offset {offset}, {words} words"));
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

/// Two loads at one address, checked together where all threads of a tile come to them and one by one where some do: the second is
/// out of bounds in the last threads.
#[test]
fn loads_checked_together_and_one_by_one() {
    let text = ".version 7.0 .target sm_70 .address_size 64
        .visible .entry k(.param .u64 flags, .param .u64 x, .param .u64 y) {
        .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
        mul.wide.u32 %rd4, %r1, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
        ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra M;
        ld.global.u32 %r5, [%rd2]; ld.global.u32 %r6, [%rd2+1020]; add.u32 %r5, %r5, %r6; st.global.u32 [%rd3], %r5;
        M: ret; }";
    let program = lowered(text);
    let threads = 4096;
    for (few, beyond) in [(0, 255), (7, 255), (0, 254), (7, 100)] {
        // In some tiles few threads are not among those that load; at the end all are.
        let is_passed = |thread: usize| few > 0 && thread < threads / 2 && thread % 100 == few;
        let flags = (0..threads).map(|thread| u32::from(!is_passed(thread))).collect();
        let elements = (0..(threads + beyond) as u32).collect();
        let args = [flags, elements, vec![0; threads]].map(|words| Arg::Buffer(Buffer::from_words(words)));
        Case::line(&program, "k", 16, 256, args.into()).hold(&format!("{few} not loading, {beyond} more"));
    }
}

/// Loads from one buffer up to nine, in turns, so that addresses outnumber the registers that are left for them: in a loop, and some addresses
/// change between the turns.
#[test]
fn loads_checked_together_in_turns() {
    for buffers in 1..10 {
        for moved in [false, true] {
            let address = |buffer: usize| 10 + buffer;
            let load = |buffer: usize, at: usize| {
                format!(
                    "ld.global.f32 %f2, [%rd{}+{}]; fma.rn.f32 %f1, %f1, 0f3F800001, %f2;\n",
                    address(buffer),
                    4 * at
                )
            };
            let mut body = String::new();
            for turn in 0..3 {
                (0..buffers).for_each(|buffer| body += &load(buffer, turn));
                if moved && turn == 1 {
                    body += &format!("add.u64 %rd{0}, %rd{0}, 4;\n", address(buffers / 2));
                }
            }
            let params = lines(buffers, |buffer| format!(".param .u64 p{buffer}, "));
            let addresses = lines(buffers, |buffer| {
                format!(
                    "ld.param.u64 %rd{0}, [p{buffer}]; add.u64 %rd{1}, %rd{0}, %rd1;\n",
                    20 + buffer,
                    address(buffer)
                )
            });
            let program = lowered(&format!(
                ".version 7.0 .target sm_70 .address_size 64 .visible .entry k({params} .param .u64 y) {{
                .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<9>; .reg .b64 %rd<30>;
                mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r5, %r1, %r2, %r3;
                mul.wide.s32 %rd1, %r5, 4; {addresses} ld.param.u64 %rd2, [y]; add.u64 %rd3, %rd2, %rd1;
                mov.f32 %f1, 0f00000000; mov.u32 %r4, 5;
                L: {body} sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;
                st.global.f32 [%rd3], %f1; ret; }}"
            ));
            let args = (0..buffers).map(|buffer| words(1024 + 8, 40 + buffer as u64, 50)).chain([zeros(1024)]);
            let share = Case::line(&program, "k", 4, 256, args.collect()).hold(&format!("{buffers} buffers"));
            assert_eq!(share > 0.9, has_native(), "{buffers} buffers: {share}");
        }
    }
}

/// A kernel of blocks of 32 × 4 and 16 × 8 threads for each body, which runs where the thread is inside a plane of `w` × `h` elements by so
/// much: what lies outside has no memory where its lanes are inactive.
fn planes(bodies: &[(&str, u32)]) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (number, (body, border)) in bodies.iter().enumerate() {
        write!(
            text,
            ".visible .entry k{number}(.param .u64 in, .param .u64 out, .param .u32 w, .param .u32 h)\n{{\n\
             .reg .pred %p<6>; .reg .f32 %f<10>; .reg .f64 %d<6>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n\
             ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [w]; ld.param.u32 %r2, [h];\n\
             mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;\n\
             mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ntid.y; mov.u32 %r5, %tid.y; mad.lo.s32 %r7, %r3, %r4, %r5;\n\
             sub.s32 %r8, %r1, {border}; sub.s32 %r9, %r2, {border}; setp.lt.s32 %p1, %r6, {border}; setp.lt.s32 %p2, %r7, {border};\n\
             or.pred %p1, %p1, %p2; setp.ge.s32 %p2, %r6, %r8; or.pred %p1, %p1, %p2; setp.ge.s32 %p2, %r7, %r9;\n\
             or.pred %p1, %p1, %p2;\n{}\nE: ret;\n}}\n",
            body.replace("A;", ADDRESSES)
        )
        .unwrap();
    }
    text
}

/// Where a thread's elements are, and those in the lines before and behind.
const ADDRESSES: &str = "mad.lo.s32 %r10, %r7, %r1, %r6; mul.wide.s32 %rd3, %r10, 4; mul.wide.s32 %rd13, %r10, 8;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; mul.wide.s32 %rd6, %r1, 4; sub.s64 %rd7, %rd4, %rd6;
    add.s64 %rd8, %rd4, %rd6; add.s64 %rd14, %rd1, %rd13; add.s64 %rd15, %rd2, %rd13;";

#[test]
fn inactive_lanes_out_of_bounds() {
    let bodies = [
        // Neighbours behind a branch, of 4 and of 8 bytes; under a guard; and a store alone.
        (
            "@%p1 bra E; A; ld.global.f32 %f1, [%rd4+-4]; ld.global.f32 %f2, [%rd4+4]; ld.global.f32 %f3, [%rd7]; ld.global.f32 %f4, [%rd8];\n\
             add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; fma.rn.f32 %f1, %f1, %f3, %f4; st.global.f32 [%rd5], %f1;",
            1,
        ),
        (
            "@%p1 bra E; A; ld.global.f64 %d1, [%rd14]; ld.global.f64 %d2, [%rd14+8]; add.f64 %d1, %d1, %d2; st.global.f64 [%rd15], %d1;",
            1,
        ),
        (
            "A; mov.f32 %f1, 0f3F800000; @!%p1 ld.global.f32 %f1, [%rd7]; @!%p1 ld.global.f32 %f2, [%rd8]; @!%p1 st.global.f32 [%rd5], %f1;",
            1,
        ),
        ("@%p1 bra E; A; st.global.f32 [%rd5], 0f3F800000;", 0),
        ("@%p1 bra E; A; ld.global.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1;", 0),
        // On both sides of a branch.
        (
            "@%p1 bra E; A; and.b32 %r11, %r6, 1; setp.eq.u32 %p3, %r11, 0; @%p3 bra X; ld.global.f32 %f1, [%rd7]; bra Y;
             X: ld.global.f32 %f1, [%rd8]; Y: st.global.f32 [%rd5], %f1;",
            1,
        ),
        // Loads that lanes share: they go to the interpreter at the edges.
        (
            "@%p1 bra E; A; mul.wide.s32 %rd9, %r7, 4; add.s64 %rd9, %rd1, %rd9; ld.global.f32 %f1, [%rd9+-4]; st.global.f32 [%rd5], %f1;",
            1,
        ),
    ];
    let program = lowered(&planes(&bodies));
    let buffer =
        |bytes: usize| Arg::Buffer(Buffer::from_words((0..bytes as u32 / 4).map(|n| 0x3f80_0000 + n * 77).collect()));
    for (number, (body, _)) in bodies.iter().enumerate() {
        let element = if body.contains("f64") { 8 } else { 4 };
        let entry = format!("k{number}");
        let mut least: f64 = 1.0;
        let (wide, tall, rows) = ([32, 4, 1], [8, 16, 1], [16, 8, 1]);
        for (w, h, block) in
            [(96, 40, wide), (97, 41, wide), (64, 1, wide), (33, 9, rows), (96, 40, rows), (96, 40, tall)]
        {
            let grid = [(w as u32).div_ceil(block[0]), (h as u32).div_ceil(block[1]), 1];
            let bytes = w * h * element;
            let args = vec![buffer(bytes), buffer(bytes), Arg::Scalar(w as u64), Arg::Scalar(h as u64)];
            let case = Case { grid, block, ..Case::line(&program, &entry, 1, 32, args) };
            let share = case.hold(&format!("{body}: {w} × {h}"));
            least = if h > 9 { least.min(share) } else { least };
            // An active lane out of bounds is the same error: where the first lane is, and where the last one is.
            for side in [0, 1] {
                let mut short = Case {
                    args: case.args.clone(),
                    ..Case { grid, block, ..Case::line(&program, &entry, 1, 32, Vec::new()) }
                };
                short.args[side] = buffer(bytes.saturating_sub(2 * w * element));
                short.hold(&format!("{body}: {w} × {h}, too short"));
            }
        }
        assert!(!has_native() || least > 0.95, "{body}: {least} native");
    }
    // A compiler's code, whose tiles have two lines: nothing but the tile that fills the caches goes to the interpreter.
    let text = include_str!("../../benches/suite.ptx");
    let (w, h) = (512, 256);
    let run = |text: &str, bytes: usize, what: &str| {
        let program = lowered(text);
        let mut args = vec![Arg::Scalar(w), Arg::Scalar(h), Arg::Scalar(0x3f00_0000), Arg::Scalar(0x3e00_0000)];
        args.extend([buffer(bytes), buffer(4 * (w * h) as usize)]);
        let case = Case { grid: [16, 32, 1], block: [32, 8, 1], ..Case::line(&program, "stencil", 1, 32, args) };
        (case.hold(what), case.run(Engine::Interpreter, 1).0.is_ok())
    };
    let (share, _) = run(text, 4 * (w * h) as usize, "a stencil");
    // AArch64 has no loads under masks.
    let least = if cfg!(target_arch = "x86_64") { 0.999 } else { 0.9 };
    assert!(!has_native() || share > least, "{share} native");
    // Of the active lanes of a tile at the edge the last few alone are out of bounds, or the first few.
    assert!(!run(text, 4 * (255 * 512 + 505), "a stencil whose buffer ends too early").1);
    // From the last line to the first, so that the caches are filled before.
    let shifted = text.replace("mov.u32 \t%r9, %ctaid.y;", "mov.u32 %r9, %ctaid.y; sub.s32 %r9, 31, %r9;");
    let shifted = shifted.replace("[%rd8];", "[%rd8+-32];");
    assert!(!run(&shifted, 4 * (w * h) as usize, "a stencil that begins before its buffer").1);
}
