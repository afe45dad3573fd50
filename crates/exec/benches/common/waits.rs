//! Kernels whose blocks wait for each other (`tests/waits`): milliseconds a launch, by the interpreter alone and as it is by
//! default.

use super::{buffer, median, zeros};
use cpu_time::ProcessTime;
use roundonce_exec::{Arg, Engine, Launch, Options};

const ROUNDS: usize = 9;

/// A kernel, what it is, its grid, its block and its arguments.
type Kernel = (&'static str, &'static str, [u32; 2], u32, Vec<Arg>);

fn kernels() -> Vec<Kernel> {
    let numbers = |count: usize| buffer((0..count as u32).map(|at| (at % 7) as f32).map(f32::to_bits).collect());
    let n = 10_000;
    let chain = |block| ("chain", "a chain of flags", [n as u32, 1], block, vec![zeros(n)]);
    vec![
        chain(32),
        chain(128),
        ("chain_back", "the same from behind", [1000, 1], 64, vec![zeros(1000)]),
        ("look_back", "decoupled look-back", [n as u32, 1], 32, vec![numbers(32 * n), zeros(2 * n)]),
        (
            "split_k",
            "a matrix product split along k",
            [10, 1000],
            64,
            vec![numbers(8 * 160), numbers(160 * 8000), zeros(64 * 1000), zeros(1000)],
        ),
        ("lock", "a spin lock", [n as u32, 1], 32, vec![zeros(1), zeros(1)]),
        ("meet", "a barrier of the grid", [n as u32, 1], 32, vec![zeros(1), zeros(32 * n), zeros(32 * n)]),
        ("hand_over", "pairs of blocks", [n as u32, 1], 32, vec![zeros(n), zeros(n / 2), Arg::Scalar(16)]),
        ("warps", "warps of a block", [n as u32, 1], 64, vec![zeros(64 * n)]),
    ]
}

/// The table.
pub(crate) fn print() {
    let parsed = roundonce_ptx::parse(include_str!("../../tests/waits/kernels.ptx"));
    let program = match roundonce_ptx::lower(&parsed.module, None) {
        Ok(program) => program,
        Err(findings) => panic!("{}", findings[0]),
    };
    println!("{:32} {:>8} {:>8} {:>14} {:>14} {:>8}", "kernel", "blocks", "threads", "interpreter", "default", "ratio");
    for (entry, name, [x, y], block, args) in kernels() {
        let run = |engine| {
            let options = Options { engine, ..Options::default() };
            let (grid, block, args) = ([x, y, 1], [block, 1, 1], args.clone());
            let launch =
                Launch { program: &program, entry: Some(entry), grid, block, args, dynamic_shared: 0, options };
            let start = ProcessTime::now();
            launch.run().unwrap_or_else(|error| panic!("{name}: {error}"));
            start.elapsed().as_secs_f64() * 1e3
        };
        let (mut interpreted, mut native, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let (slow, fast) = (run(Engine::Interpreter), run(Engine::Auto));
            // The first round warms caches and pages.
            if round > 0 {
                interpreted.push(slow);
                native.push(fast);
                ratios.push(fast / slow);
            }
        }
        let [slow, fast] = [&mut interpreted, &mut native].map(|times| median(times));
        let ratio = median(&mut ratios);
        println!("{name:32} {:>8} {block:>8} {slow:>11.1} ms {fast:>11.1} ms {ratio:>8.2}", x * y);
    }
}
