//! Native code against the interpreter: buffers, counts of instructions, errors.

mod barriers;
mod bounds;
mod comparisons;
mod detect;
mod doubles;
mod extrema;
mod gathers;
mod half;
mod indices;
mod integers;
mod orders;
mod phases;
mod quotients;
mod reductions;
mod relaunch;
mod scattered;
mod sides;
mod switches;
mod warps;
mod whole;

use roundonce_arith::Profile;
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options, Report};
use roundonce_ir::Program;
use std::collections::BTreeMap;

use detect::has_native;

/// What a launch must give whatever executes it.
#[derive(PartialEq, Debug)]
struct Result {
    buffers: Vec<Option<Buffer>>,
    steps: u64,
    /// How often each approximate instruction ran.
    approximations: BTreeMap<String, u64>,
}

struct Case<'a> {
    program: &'a Program,
    entry: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    step_limit: u64,
    profile: Profile,
}

impl<'a> Case<'a> {
    /// As many threads as `grid` and `block` say in a row.
    fn line(program: &'a Program, entry: &'a str, grid: u32, block: u32, args: Vec<Arg>) -> Case<'a> {
        let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
        Case { program, entry, grid, block, args, step_limit: 1 << 30, profile: Profile::NVIDIA }
    }

    fn run(&self, engine: Engine, threads: usize) -> (std::result::Result<Result, String>, u64) {
        let Case { step_limit, profile, .. } = *self;
        let options = Options { engine, threads, step_limit, profile, ..Options::default() };
        let launch = Launch {
            program: self.program,
            entry: Some(self.entry),
            grid: self.grid,
            block: self.block,
            args: self.args.clone(),
            dynamic_shared: 0,
            options,
        };
        match launch.run() {
            Ok(report) => {
                let Report { buffers, steps, approximations, native_steps, .. } = report;
                (Ok(Result { buffers, steps, approximations }), native_steps)
            }
            Err(error) => (Err(error.to_string()), 0),
        }
    }

    /// Both engines, native code of each machine, on one thread and on two; the least share of the instructions that was native.
    fn hold(&self, what: &str) -> f64 {
        let (expected, none) = self.run(Engine::Interpreter, 1);
        assert_eq!(none, 0);
        let mut share = f64::INFINITY;
        for &engine in Engine::native() {
            for threads in [2, 1] {
                let (got, native) = self.run(engine, threads);
                if got != expected {
                    panic!("{what}, {engine:?}, {threads} threads: {}", difference(&got, &expected));
                }
                share = share.min(expected.as_ref().map_or(0.0, |result| native as f64 / result.steps as f64));
            }
        }
        share
    }
}

fn difference(got: &std::result::Result<Result, String>, expected: &std::result::Result<Result, String>) -> String {
    let (Ok(got), Ok(expected)) = (got, expected) else {
        return format!("{:?}, not {:?}", got.as_ref().err(), expected.as_ref().err());
    };
    for (index, (got, expected)) in got.buffers.iter().zip(&expected.buffers).enumerate() {
        let (Some(got), Some(expected)) = (got, expected) else { continue };
        let mut pairs = got.words().iter().zip(expected.words()).enumerate();
        if let Some((word, (got, expected))) = pairs.find(|(_, (got, expected))| got != expected) {
            return format!("buffer {index}, word {word}: {got:08x}, not {expected:08x}");
        }
    }
    let Result { steps, approximations, .. } = got;
    format!("{steps} steps and {approximations:?}, not {} and {:?}", expected.steps, expected.approximations)
}

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Numbers of moderate size; with `special`, one in so many is a zero, a subnormal, an infinity or a NaN.
fn words(count: usize, seed: u64, special: u64) -> Arg {
    let mut next = random(seed);
    let mut word = || {
        let bits = next();
        let moderate = 0x3e00_0000 | (bits >> 32) as u32 & 0x81ff_ffff;
        if special == 0 || !(bits & 0xffff).is_multiple_of(special) {
            return moderate;
        }
        match bits >> 16 & 7 {
            0 => 0,
            1 => 0x8000_0000,
            2 | 3 => moderate & 0x807f_ffff,
            4 => 0x7f80_0000 | moderate & 0x8000_0000,
            5 => 0x7f80_0001 | moderate & 0x803f_ffff,
            6 => 0x7fc0_0000 | moderate & 0x803f_ffff,
            // Products around the smallest normal number.
            _ => 0x2000_0000 | moderate & 0x807f_ffff,
        }
    };
    Arg::Buffer(Buffer::from_words((0..count).map(|_| word()).collect()))
}

fn zeros(count: usize) -> Arg {
    Arg::Buffer(Buffer::zeros(count * 4))
}

fn kernels(rounding: &str) -> Program {
    let text = include_str!("../../benches/kernels.ptx").replace(".RND", rounding);
    lowered(&text)
}

fn lowered(text: &str) -> Program {
    let parsed = roundonce_ptx::parse(text);
    roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]))
}

const MODES: [&str; 9] = [".rn", ".rz", ".rm", ".rp", ".rn.ftz", ".rz.ftz", ".rm.sat", ".rn.ftz.sat", ".rp.ftz"];

/// The benchmark's kernels, on `n` elements.
fn cases<'a>(program: &'a Program, n: usize, block: u32, special: u64) -> Vec<Case<'a>> {
    let grid = [(n as u32).div_ceil(block), 1, 1];
    let line = [block, 1, 1];
    let case = |entry, grid, block, args| Case { grid, block, ..Case::line(program, entry, 1, 1, args) };
    let count = Arg::Scalar(n as u64);
    let side = 32;
    let square = || {
        vec![
            Arg::Scalar(side as u64),
            words(side * side, 5, special),
            words(side * side, 6, special),
            zeros(side * side),
        ]
    };
    vec![
        case(
            "k1",
            grid,
            line,
            vec![count.clone(), Arg::Scalar(0x3f00_0001), words(n, 1, special), words(n, 2, special)],
        ),
        case("k2", grid, line, vec![count.clone(), words(17, 3, special), words(n, 4, special), zeros(n)]),
        case("k3", [1, side as u32, 1], [side as u32, 1, 1], square()),
        case("k3", [2, 2, 1], [16, 16, 1], square()),
        case("k3", [4, 4, 1], [8, 8, 1], square()),
        case("k4", grid, line, vec![count.clone(), words(64, 7, special), words(n + 64, 8, special), zeros(n)]),
        case("k5", grid, line, vec![count, Arg::Scalar(100), words(n, 9, special), zeros(n)]),
    ]
}

#[test]
fn every_mode_on_every_kind_of_data() {
    for mode in MODES {
        let program = kernels(mode);
        for special in [0, 40, 3] {
            for case in cases(&program, 4096, 256, special) {
                let share = case.hold(&format!("{} {mode}, special {special}, {:?}", case.entry, case.block));
                assert!(!has_native() || share > 0.9, "{} {mode}: {share} native", case.entry);
            }
        }
    }
}

/// Flushing arithmetic beside such as keeps subnormals, so that the machine cannot do the flushing.
#[test]
fn flushing_and_not_in_one_kernel() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n
        .visible .entry both(.param .u64 x, .param .u64 y) {
        .reg .f32 %f<6>; .reg .b32 %r<5>; .reg .b64 %rd<6>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4]; mul.rz.f32 %f2, %f1, 0f3f000000; fma.rz.ftz.sat.f32 %f3, %f1, 0f00800000, %f2;
        mul.rn.ftz.sat.f32 %f4, %f1, 0f3f000000; mul.rm.ftz.f32 %f5, %f1, 0f3f000000;
        st.global.f32 [%rd5], %f2; st.global.f32 [%rd5+1024], %f3; st.global.f32 [%rd5+2048], %f4;
        st.global.f32 [%rd5+3072], %f5; ret; }";
    let program = lowered(text);
    let near = (0..256u32).map(|lane| (lane & 1) << 31 | (0x007f_fff0 + (lane >> 1)) << (lane >> 6 & 1)).collect();
    let args = vec![Arg::Buffer(Buffer::from_words(near)), zeros(1024)];
    // Stores of one lane to where another's may fall stand apart.
    let share = Case::line(&program, "both", 1, 256, args).hold("both");
    assert!(!has_native() || share > 0.6, "{share} native");
}

/// Results about the smallest normal number, where a flush by the value with an unbounded exponent differs from one by the
/// delivered bits: the machine's own flush where all arithmetic flushes, a side exit where some does not.
#[test]
fn results_at_the_boundary_of_the_flush() {
    for rounding in ["rn", "rz", "rm", "rp"] {
        for (other, is_uniform) in [("mul.RND.ftz.f32", true), ("mul.RND.f32", false)] {
            let text = ".version 8.0\n.target sm_80\n.address_size 64\n
                .visible .entry edge(.param .u64 x, .param .u64 y) {
                .reg .f32 %f<7>; .reg .b32 %r<5>; .reg .b64 %rd<6>;
                ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
                add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
                ld.global.f32 %f1, [%rd4]; mul.RND.ftz.f32 %f2, %f1, 0f3f7fffff; mul.RND.ftz.f32 %f3, %f1, 0f3f7ffffe;
                fma.RND.ftz.f32 %f4, %f2, 0f80000001, %f3; fma.RND.ftz.sat.f32 %f5, %f1, 0f3f7fffff, 0f00000000;
                OTHER %f6, %f1, 0f3f7fffff;
                st.global.f32 [%rd5], %f2; st.global.f32 [%rd5+1024], %f3; st.global.f32 [%rd5+2048], %f4;
                st.global.f32 [%rd5+3072], %f5; st.global.f32 [%rd5+4096], %f6; ret; }";
            let text = text.replace("OTHER", other).replace("RND", rounding);
            let program = lowered(&text);
            // Of some tiles no result is at the boundary.
            let near = (0..256u32).map(|lane| (lane & 1) << 31 | (0x0080_0000 + (lane >> 1 & 3) + (lane >> 7 << 20)));
            let args = vec![Arg::Buffer(Buffer::from_words(near.collect())), zeros(1280)];
            let share = Case::line(&program, "edge", 1, 256, args).hold("edge");
            // Where the processor flushes nothing, a tile with a result at the boundary is the interpreter's: half of them.
            let least = if cfg!(target_arch = "aarch64") { 0.3 } else { 0.6 };
            assert!(!has_native() || !is_uniform || share > least, "{rounding}, {other}: {share} native");
        }
    }
}

/// Kernels whose lanes part, each `name`, its body: `%r1` is the thread's number in the grid, `%r2` that in its block,
/// `%f1` its number of x, `%rd4` its place in y; it has `%f1` to `%f9`, `%r1` to `%r9`, `%d1` to `%d4` and `%p1` to `%p5`.
const PARTING: [(&str, &str); 14] = [
    ("either", "@%p1 bra A; mul.RND.f32 %f2, %f1, 0f40400000; bra B; A: add.RND.f32 %f2, %f1, 0f3f8ccccd; B:"),
    ("one", "mov.f32 %f2, %f1; @%p1 bra B; fma.RND.f32 %f2, %f1, %f1, %f2; B:"),
    (
        "nested",
        "mov.f32 %f2, %f1; @%p1 bra C; setp.lt.f32 %p2, %f1, 0f3e800000; @%p2 bra A;
         fma.RND.f32 %f2, %f1, %f2, %f2; bra B; A: sub.RND.f32 %f2, %f1, 0f3f800000; B: mul.RND.f32 %f2, %f2, %f1; C:",
    ),
    ("numbers", "mov.u32 %r5, 7; @%p1 bra A; mov.u32 %r5, 9; A: cvt.rn.f32.u32 %f2, %r5;"),
    (
        // Lanes leave one by one, and what they leave with is each their own.
        "rounds",
        "and.b32 %r3, %r2, 15; mov.u32 %r4, 0; mov.f32 %f2, %f1; L: fma.RND.f32 %f2, %f2, %f1, %f1; add.u32 %r4, %r4, 1;
         setp.lt.u32 %p2, %r4, %r3; @%p2 bra L; cvt.rn.f32.u32 %f3, %r4; add.RND.f32 %f2, %f2, %f3;",
    ),
    (
        "broken",
        "mov.u32 %r4, 0; mov.f32 %f2, %f1; L: mul.RND.f32 %f2, %f2, 0f3f99999a; setp.gt.f32 %p2, %f2, 0f3fc00000;
         @%p2 bra B; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 9; @%p3 bra L; neg.f32 %f2, %f2; B:",
    ),
    (
        "loops",
        "and.b32 %r3, %r1, 7; mov.f32 %f2, 0f00000000; O: mov.u32 %r4, %r3; I: fma.RND.f32 %f2, %f1, %f1, %f2;
         sub.u32 %r4, %r4, 1; setp.gt.s32 %p2, %r4, 0; @%p2 bra I; sub.u32 %r3, %r3, 2; setp.gt.s32 %p2, %r3, 0; @%p2 bra O;",
    ),
    (
        // Back to the head from two places.
        "again",
        "mov.u32 %r4, 0; mov.f32 %f2, %f1; L: add.u32 %r4, %r4, 1; setp.ge.u32 %p2, %r4, 12; @%p2 bra B;
         setp.lt.f32 %p3, %f2, 0f3f000000; @!%p3 bra H; add.RND.f32 %f2, %f2, %f1; bra L; H: mul.RND.f32 %f2, %f2, 0f3f000000; bra L; B:",
    ),
    ("gone", "mov.f32 %f2, %f1; @%p1 exit; fma.RND.f32 %f2, %f1, %f1, %f1; st.global.f32 [%rd4], %f2; @%p4 exit; neg.f32 %f2, %f2;"),
    (
        "stores",
        "mov.f32 %f2, %f1; @%p1 bra A; add.RND.f32 %f2, %f1, %f1; st.global.f32 [%rd4], %f2; exit;
         A: mul.RND.f32 %f2, %f1, %f1; st.global.f32 [%rd4], %f2; ret;",
    ),
    ("loads", "mov.f32 %f2, 0f00000000; @%p1 bra A; ld.global.f32 %f2, [%rd3+64]; A: @%p4 ld.global.f32 %f2, [%rd3+4]; add.RND.f32 %f2, %f2, %f1;"),
    (
        "guards",
        "mov.f32 %f2, %f1; @%p4 bra A; @%p1 mul.RND.f32 %f2, %f1, %f1; @!%p1 setp.gt.f32 %p3, %f1, 0f00000000;
         @%p3 mov.u32 %r5, %ctaid.x; @%p3 cvt.rn.f32.u32 %f2, %r5; A: @!%p4 add.RND.f32 %f2, %f2, 0f3f800000;",
    ),
    (
        "doubles",
        "cvt.f64.f32 %d1, %f1; mov.f64 %d2, 0d3ff0000000000000; @%p1 bra A; fma.rn.f64 %d2, %d2, %d2, %d2;
         A: cvt.rn.f32.f64 %f2, %d2; add.RND.f32 %f2, %f2, %f1;",
    ),
    (
        "threads",
        "mov.f32 %f2, %f1; setp.lt.u32 %p2, %r2, 5; @%p2 bra A; setp.gt.u32 %p3, %r2, 40; @%p3 bra B; add.RND.f32 %f2, %f2, %f2; bra B;
         A: mul.RND.f32 %f2, %f2, 0f40400000; B:",
    ),
];

fn parting(rounding: &str) -> Program {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for (name, body) in PARTING {
        text.push_str(&format!(
            ".visible .entry {name}(.param .u64 x, .param .u64 y) {{
             .reg .pred %p<6>; .reg .f32 %f<10>; .reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .f64 %d<5>;
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
             mad.lo.u32 %r1, %r3, %r4, %r2; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd3, %rd1, %rd5; add.u64 %rd4, %rd2, %rd5;
             ld.global.f32 %f1, [%rd3]; setp.lt.f32 %p1, %f1, 0f3dcccccd; and.b32 %r5, %r2, 3; setp.eq.u32 %p4, %r5, 1;
             {body}
             st.global.f32 [%rd4], %f2; ret; }}\n"
        ));
    }
    lowered(&text.replace(".RND", rounding))
}

fn parting_cases<'a>(program: &'a Program, n: usize, block: u32, special: u64) -> impl Iterator<Item = Case<'a>> {
    PARTING.into_iter().map(move |(entry, _)| {
        // Beyond its end some read.
        Case::line(program, entry, n as u32 / block, block, vec![words(n + 16, 1, special), zeros(n)])
    })
}

#[test]
fn lanes_that_part() {
    for mode in [".rn", ".rz", ".rm.ftz"] {
        let program = parting(mode);
        for (special, block) in [(0, 256), (40, 64), (3, 128), (3, 32), (40, 16), (7, 33)] {
            for case in parting_cases(&program, 2112 / block as usize * block as usize, block, special) {
                let share = case.hold(&format!("{} {mode} by {block}, special {special}", case.entry));
                // Conversions from f64 are the interpreter's.
                let fits = has_native() && block != 33 && case.entry != "doubles";
                assert!(!fits || share > 0.7, "{} by {block}: {share} native", case.entry);
            }
        }
    }
}

/// Lanes part behind a store that nothing else in the loop is behind: it is made once.
#[test]
fn lanes_that_part_behind_a_store() {
    let program = lowered(
        ".version 8.0\n.target sm_80\n.address_size 64
         .visible .entry k(.param .u64 x, .param .u64 y) {
         .reg .pred %p<3>; .reg .f32 %f<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
         ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 64; add.s64 %rd3, %rd1, %rd2; mov.u32 %r2, 0;
         M: ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, 0f3f800000; setp.gt.f32 %p1, %f1, 0f40000000;
         st.global.f32 [%rd3], %f1; @%p1 bra L; bra.uni N;
         L: add.u32 %r2, %r2, 1;
         N: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 8; @%p2 bra M;
         ret; }",
    );
    for block in [16, 32, 64, 128] {
        Case::line(&program, "k", 1, block, vec![zeros(1), words(16 * block as usize, 1, 0)])
            .hold("a store, then a branch");
    }
}

/// A vector lies at a multiple of all its bytes.
#[test]
fn vectors_that_are_not_aligned() {
    for (access, aligned) in [
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3+8]", true),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3+4]", false),
        ("st.global.v4.f32 [%rd3+8], {%f1, %f2, %f1, %f2}", false),
        ("st.global.v4.f32 [%rd3+16], {%f1, %f2, %f1, %f2}", true),
    ] {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64
             .visible .entry k(.param .u64 x, .param .u64 y) {{
             .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .b64 %rd<4>;
             ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, %rd2;
             mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000; {access}; st.global.f32 [%rd3], %f2; ret; }}"
        );
        let program = lowered(&text);
        let case = Case::line(&program, "k", 1, 64, vec![zeros(1), words(16 * 64 + 16, 1, 0)]);
        case.hold(access);
        assert_eq!(case.run(Engine::Native, 1).0.is_ok(), aligned, "{access}");
    }
}

/// A loop that lanes leave at different times may be given up by the interpreter where native code, which counts tile by
/// tile, still goes on or gives up at another instruction; otherwise they agree.
#[test]
fn limits_where_lanes_part() {
    let program = parting(".rn");
    for limit in (1..400).step_by(9) {
        for mut case in parting_cases(&program, 512, 128, 9) {
            case.step_limit = limit;
            let (expected, _) = case.run(Engine::Interpreter, 1);
            for &engine in Engine::native() {
                case.step_limit = 1 << 30;
                let (free, _) = case.run(engine, 1);
                case.step_limit = limit;
                let (got, _) = case.run(engine, 1);
                let agrees = match (&expected, &got) {
                    (Ok(_), _) => got == expected,
                    (Err(_), Ok(_)) => got == free,
                    (Err(_), Err(error)) => error.contains(&format!("the step limit of {limit} ")),
                };
                assert!(agrees, "{}, {engine:?}, limit {limit}: {:?}, not {:?}", case.entry, got.err(), expected.err());
            }
        }
    }
}

/// The case with one of some buffers shorter, one after the other.
fn hold_shortened(case: &mut Case<'_>, arguments: std::ops::Range<usize>, short: usize) {
    for at in arguments {
        let given = case.args[at].clone();
        let Arg::Buffer(buffer) = &given else { continue };
        let left = buffer.words().len().saturating_sub(short);
        case.args[at] = Arg::Buffer(Buffer::from_words(buffer.words()[..left].to_vec()));
        case.hold(&format!("{}, argument {at} shorter by {short}", case.entry));
        case.args[at] = given;
    }
}

#[test]
fn the_same_error_where_lanes_diverge() {
    let program = parting(".rn");
    for short in [1, 17, 64, 300, 500] {
        for mut case in parting_cases(&program, 512, 128, 5) {
            hold_shortened(&mut case, 0..2, short);
        }
    }
}

#[test]
fn sizes_that_fit_nothing() {
    let program = kernels(".rz");
    for (n, block) in [(1000, 256), (3000, 96), (500, 33), (5, 128), (777, 64), (2049, 1024), (16, 16), (1, 1)] {
        for case in cases(&program, n, block, 50) {
            case.hold(&format!("{} of {n} by {block}", case.entry));
        }
    }
}

#[test]
fn the_same_error_in_the_middle_of_a_loop() {
    let program = kernels(".rn");
    for short in [1, 17, 64, 300, 1000] {
        for mut case in cases(&program, 1024, 256, 0) {
            let all = 0..case.args.len();
            hold_shortened(&mut case, all, short);
        }
    }
}

#[test]
fn the_same_step_limit() {
    let program = kernels(".rn");
    for limit in (1..600).step_by(7) {
        for mut case in cases(&program, 512, 128, 0) {
            // Divergent lanes are counted by their path.
            if case.entry != "k5" {
                case.step_limit = limit;
                case.hold(&format!("{}, limit {limit}", case.entry));
            }
        }
    }
}
