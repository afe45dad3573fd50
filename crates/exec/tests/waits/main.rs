//! Kernels that wait: blocks for flags, locks and barriers of other blocks, warps for each other. Every way to run them
//! gives the same bits, and none takes long.

use roundonce_exec::{Arg, Buffer, Engine, FaultKind, Launch, Options, Report, RunError};
use roundonce_ir::Program;
use std::time::{Duration, Instant};

fn program() -> Program {
    let parsed = roundonce_ptx::parse(include_str!("kernels.ptx"));
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    roundonce_ptx::lower(&parsed.module, None).unwrap_or_else(|findings| panic!("{}", findings[0]))
}

fn run(entry: &str, grid: [u32; 2], block: u32, args: Vec<Arg>, options: Options) -> Result<Report, RunError> {
    let (grid, block) = ([grid[0], grid[1], 1], [block, 1, 1]);
    let program = program();
    Launch { program: &program, entry: Some(entry), grid, block, args, dynamic_shared: 0, options }.run()
}

fn zeros(words: usize) -> Arg {
    Arg::Buffer(Buffer::zeros(4 * words))
}
fn words(words: impl IntoIterator<Item = u32>) -> Arg {
    Arg::Buffer(Buffer::from_words(words.into_iter().collect()))
}

/// Runs a kernel by both engines, on one thread and on two: the words of a buffer are those expected every time.
fn expect(entry: &str, grid: [u32; 2], block: u32, args: &[Arg], buffer: usize, expected: &[u32]) {
    for engine in [Engine::Interpreter, Engine::Native] {
        for threads in [1, 2] {
            let options = Options { engine, threads, ..Options::default() };
            let case = format!("{entry}, {grid:?} blocks of {block}, {engine:?}, {threads} threads");
            let started = Instant::now();
            let report =
                run(entry, grid, block, args.to_vec(), options).unwrap_or_else(|error| panic!("{case}: {error}"));
            let took = started.elapsed();
            let got = report.buffers[buffer].as_ref().unwrap().words();
            let differs = got.iter().zip(expected).position(|(got, expected)| got != expected);
            assert_eq!((got.len(), differs), (expected.len(), None), "{case}");
            assert!(took < Duration::from_secs(60), "{case}: {took:?}");
        }
    }
}

#[test]
fn a_chain_of_flags() {
    for (blocks, block) in [(1, 32), (4, 32), (100, 1), (1000, 128), (10_000, 32)] {
        let expected: Vec<u32> = (1..=blocks).collect();
        expect("chain", [blocks, 1], block, &[zeros(blocks as usize)], 0, &expected);
    }
}

#[test]
fn a_chain_from_behind() {
    for (blocks, block) in [(1, 1), (100, 32), (100, 1024), (2000, 96)] {
        let expected: Vec<u32> = (1..=blocks).rev().collect();
        expect("chain_back", [blocks, 1], block, &[zeros(blocks as usize)], 0, &expected);
    }
}

#[test]
fn decoupled_look_back() {
    for blocks in [1u32, 4, 100, 10_000] {
        let values: Vec<u32> = (0..32 * blocks).map(|at| at.wrapping_mul(2_654_435_761) >> 20).collect();
        let mut sum = 0u32;
        let sums: Vec<u32> = values
            .iter()
            .map(|value| {
                sum = sum.wrapping_add(*value);
                sum
            })
            .collect();
        expect("look_back", [blocks, 1], 32, &[words(values), zeros(2 * blocks as usize)], 0, &sums);
    }
}

/// Small integers, so that every order of the sums gives the same.
#[test]
fn a_product_split_along_k() {
    for (splits, tiles) in [(1, 1), (4, 2), (50, 3), (10, 200)] {
        let (k, columns) = (16 * splits as usize, 8 * tiles as usize);
        let a: Vec<u32> = (0..8 * k).map(|at| at as u32 * 7 % 5).collect();
        let b: Vec<u32> = (0..k * columns).map(|at| at as u32 * 11 % 7).collect();
        let product = |row: usize, column: usize| (0..k).map(|at| a[row * k + at] * b[at * columns + column]).sum();
        let c: Vec<u32> = (0..8 * columns).map(|at| product(at / columns, at % columns)).collect();
        let floats = |integers: &[u32]| integers.iter().map(|&integer| (integer as f32).to_bits()).collect::<Vec<_>>();
        let args = [words(floats(&a)), words(floats(&b)), zeros(8 * columns), zeros(tiles as usize)];
        expect("split_k", [splits, tiles], 64, &args, 2, &floats(&c));
    }
}

/// The blocks take the lock in their order.
#[test]
fn a_lock() {
    for (blocks, block) in [(1, 32), (4, 96), (100, 1), (100, 96), (10_000, 32)] {
        let sum = (0..blocks).fold(0u32, |sum, block| sum.wrapping_mul(3).wrapping_add(block));
        expect("lock", [blocks, 1], block, &[zeros(1), zeros(1)], 1, &[sum]);
    }
}

#[test]
fn a_barrier_of_the_grid() {
    for (blocks, block) in [(1, 32), (4, 32), (100, 96), (10_000, 32)] {
        let count = blocks * block;
        let expected: Vec<u32> = (0..count).rev().map(|at: u32| at.wrapping_mul(2_654_435_761)).collect();
        expect("meet", [blocks, 1], block, &[zeros(1), zeros(count as usize), zeros(count as usize)], 2, &expected);
    }
}

/// With 96 threads some pairs stand in two batches.
#[test]
fn two_blocks_hand_over() {
    for (blocks, block, n) in [(2, 32, 100), (100, 96, 20), (10_000, 32, 3)] {
        let of_pair = |pair: u32| {
            let (mut word, mut sum) = (1u32, 1u32);
            for _ in 0..n {
                word = word.wrapping_mul(1_664_525).wrapping_add(2 * pair + 1);
                sum = sum.wrapping_mul(31).wrapping_add(word);
            }
            sum
        };
        let expected: Vec<u32> = (0..blocks / 2).map(of_pair).collect();
        let args = [zeros(blocks as usize), zeros(blocks as usize / 2), Arg::Scalar(n)];
        expect("hand_over", [blocks, 1], block, &args, 1, &expected);
    }
}

#[test]
fn warps_take_turns() {
    for (blocks, block) in [(1, 256), (10_000, 64)] {
        let expected = vec![block / 32; (blocks * block) as usize];
        expect("warps", [blocks, 1], block, &[zeros(expected.len())], 0, &expected);
    }
}

#[test]
fn attempts_run_out() {
    expect("attempts", [4, 1], 1024, &[zeros(2), Arg::Scalar(100_000)], 0, &[0, 1]);
}

/// Nothing comes: that is the step limit's error, at once.
#[test]
fn a_wait_without_end() {
    for (engine, threads, blocks) in
        [(Engine::Native, 1, 1), (Engine::Native, 2, 100), (Engine::Interpreter, 1, 1), (Engine::Interpreter, 2, 1000)]
    {
        for entry in ["forever", "forever_in_two"] {
            let started = Instant::now();
            let options = Options { engine, threads, ..Options::default() };
            let error = run(entry, [blocks, 1], 64, vec![zeros(1)], options).unwrap_err();
            assert_eq!(error.kind, FaultKind::StepLimit, "{error}");
            let place = "`@%p bra wait`, block (0, 0, 0) thread (0, 0, 0): the step limit of 1073741824 instructions";
            assert!(error.to_string().contains(place), "{error}");
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        }
    }
}

/// What is observed belongs to the batches too, which are set aside.
#[test]
fn observed() {
    let expected: Vec<u32> = (0..9600u32).rev().map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let options = Options {
        check_races: true,
        trace_lane: Some(5),
        count_lines: true,
        shadow: Some(roundonce_exec::Breadth::Double),
        ..Options::default()
    };
    let report = run("meet", [100, 1], 96, vec![zeros(1), zeros(9600), zeros(9600)], options).unwrap();
    assert_eq!(report.buffers[2].as_ref().unwrap().words(), expected);
    assert!(report.trace.iter().any(|line| line.text.starts_with("st.global.u32 [%a6]")));
}
