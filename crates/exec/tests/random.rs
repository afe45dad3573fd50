//! Programs at random: the engine gives what a plain interpreter gives, one thread at a time.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_scalar::{Case, generate};

fn run(case: &Case, engine: Engine, threads: usize) -> Result<Vec<Vec<u8>>, String> {
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
    Ok(report.buffers.into_iter().flatten().map(|buffer| buffer.to_bytes()).collect())
}

fn hold(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        let case = generate(&mut random);
        case.program.check().unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}"));
        let expected = roundonce_scalar::run(&case.program, case.grid, case.block, case.buffers.clone());
        for (engine, threads) in [(Engine::Auto, 1), (Engine::Auto, 2), (Engine::Interpreter, 1)] {
            let got = run(&case, engine, threads).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
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
}

#[test]
fn two_thousand_programs() {
    hold(0..2_000);
}

/// Rows that differ by anything, so that tiles have no common pattern.
#[test]
fn found_before() {
    hold(1_006_531..1_006_532);
}

/// By hand, for hours: `cargo test --release -p roundonce-exec --test random -- --ignored`.
#[test]
#[ignore = "takes an hour"]
fn many_programs() {
    hold(1_000_000..11_000_000);
}
