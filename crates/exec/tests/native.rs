//! Native code against the interpreter: buffers, counts of instructions, errors.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_isa::program::Program;

/// What a launch must give whatever executes it.
#[derive(PartialEq, Debug)]
struct Result {
    buffers: Vec<Option<Buffer>>,
    steps: u64,
}

struct Case<'a> {
    program: &'a Program,
    entry: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    step_limit: u64,
}

impl Case<'_> {
    fn run(&self, engine: Engine, threads: usize) -> (std::result::Result<Result, String>, u64) {
        let options = Options { engine, threads, step_limit: self.step_limit, ..Options::default() };
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
            Ok(report) => (Ok(Result { buffers: report.buffers, steps: report.steps }), report.native_steps),
            Err(error) => (Err(error.to_string()), 0),
        }
    }

    /// Both engines, on one thread and on two; the share of the instructions that was native.
    fn hold(&self, what: &str) -> f64 {
        let (expected, none) = self.run(Engine::Interpreter, 1);
        assert_eq!(none, 0);
        let mut share = 0.0;
        for threads in [1, 2] {
            let (got, native) = self.run(Engine::Auto, threads);
            if got != expected {
                panic!("{what}, {threads} threads: {}", difference(&got, &expected));
            }
            share = expected.as_ref().map_or(0.0, |result| native as f64 / result.steps as f64);
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
    format!("{} steps, not {}", got.steps, expected.steps)
}

/// Whether this machine has native code at all.
fn has_native() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
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
    let text = include_str!("../benches/kernels.ptx").replace(".RND", rounding);
    let parsed = roundonce_ptx::parse(&text);
    roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]))
}

const MODES: [&str; 9] = [".rn", ".rz", ".rm", ".rp", ".rn.ftz", ".rz.ftz", ".rm.sat", ".rn.ftz.sat", ".rp.ftz"];

/// The benchmark's kernels, on `n` elements.
fn cases<'a>(program: &'a Program, n: usize, block: u32, special: u64) -> Vec<Case<'a>> {
    let grid = [(n as u32).div_ceil(block), 1, 1];
    let line = [block, 1, 1];
    let case = |entry, grid, block, args| Case { program, entry, grid, block, args, step_limit: 1 << 30 };
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
                assert!(!has_native() || case.entry == "k5" || share > 0.9, "{} {mode}: {share} native", case.entry);
            }
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
            for at in 0..case.args.len() {
                let given = case.args[at].clone();
                let Arg::Buffer(buffer) = &given else { continue };
                let left = buffer.words().len().saturating_sub(short);
                case.args[at] = Arg::Buffer(Buffer::from_words(buffer.words()[..left].to_vec()));
                case.hold(&format!("{}, argument {at} shorter by {short}", case.entry));
                case.args[at] = given;
            }
        }
    }
}

#[test]
fn the_same_step_limit() {
    let program = kernels(".rn");
    for limit in (1..600).step_by(7) {
        for mut case in cases(&program, 512, 128, 0) {
            // Lanes that part are counted by the way they take.
            if case.entry != "k5" {
                case.step_limit = limit;
                case.hold(&format!("{}, limit {limit}", case.entry));
            }
        }
    }
}
