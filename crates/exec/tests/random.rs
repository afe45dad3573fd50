//! Programs at random: the engine gives what a plain interpreter gives, one thread at a time.

#[path = "native/detect.rs"]
mod detect;

use detect::has_native;
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_scalar::{Case, generate, generate_plain};

/// The buffers; instructions that were run, and how many of them by native code.
type Ran = (Vec<Vec<u8>>, u64, u64);

fn run(case: &Case, engine: Engine, threads: usize) -> Result<Ran, String> {
    let args = case.buffers.iter().map(|buffer| Arg::Buffer(Buffer::from_bytes(buffer))).collect();
    let launch = Launch {
        program: &case.program,
        entry: None,
        grid: case.grid,
        block: case.block,
        args,
        dynamic_shared: 0,
        options: Options { engine, threads, ..Options::default() },
    };
    let report = launch.run().map_err(|error| error.to_string())?;
    let buffers = report.buffers.into_iter().flatten().map(|buffer| buffer.to_bytes()).collect();
    Ok((buffers, report.steps, report.native_steps))
}

type Generate = fn(&mut dyn FnMut() -> u64) -> Case;

/// The share of the instructions that was native.
fn hold(generate: Generate, seeds: std::ops::Range<u64>) -> f64 {
    let (mut all, mut native) = (0, 0);
    for seed in seeds {
        let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        let case = generate(&mut random);
        case.program.verify().unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}"));
        let expected = roundonce_scalar::run(&case.program, case.grid, case.block, case.buffers.clone());
        let mut steps = None;
        let engines = Engine::native().iter().map(|&engine| (engine, 1));
        for (engine, threads) in engines.chain([(Engine::Native, 2), (Engine::Interpreter, 1)]) {
            let ran = run(&case, engine, threads).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let (got, counted, by_native) = ran;
            native += by_native;
            all += if engine != Engine::Interpreter { counted } else { 0 };
            assert_eq!(*steps.get_or_insert(counted), counted, "seed {seed}, {engine:?}: steps");
            if got != expected {
                let differs = |index: &usize| got[*index] != expected[*index];
                let buffer = (0..got.len()).find(differs).unwrap_or(0);
                let at = got[buffer].iter().zip(&expected[buffer]).position(|(a, b)| a != b).unwrap_or(0);
                let (grid, block) = (case.grid, case.block);
                panic!(
                    "seed {seed}, {engine:?}, {threads} threads, grid {grid:?}, block {block:?}: buffer {buffer}, byte {at}"
                );
            }
        }
    }
    native as f64 / all as f64
}

/// How many programs: 2,000, or what `ROUNDONCE_PROGRAMS` says.
fn programs() -> std::ops::Range<u64> {
    0..std::env::var("ROUNDONCE_PROGRAMS").map_or(2_000, |count| count.parse().unwrap())
}

#[test]
fn two_thousand_programs() {
    hold(generate, programs());
}

/// What native code takes whole: lanes part in most of them.
#[test]
fn two_thousand_plain_programs() {
    let share = hold(generate_plain, programs());
    assert!(!has_native() || share > 0.5, "{share} of the instructions native");
}

/// Rows that differ by anything, so that tiles have no common pattern.
#[test]
fn found_before() {
    hold(generate, 1_006_531..1_006_532);
    hold(generate, 1_015_375..1_015_376);
    hold(generate_plain, 1_000_002..1_000_003);
}

/// By hand: `ROUNDONCE_PROGRAMS=50000 cargo test --release -p roundonce-exec --test random -- --ignored`, so many of each kind
/// (5,000,000, which take hours). docs/nightly.md keeps the last result.
#[test]
#[ignore = "takes hours"]
fn many_programs() {
    let count = std::env::var("ROUNDONCE_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(5_000_000);
    hold(generate, 1_000_000..1_000_000 + count);
    hold(generate_plain, 1_000_000..1_000_000 + count);
}
