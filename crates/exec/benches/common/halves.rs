//! The kernels of tests/kernels with 16-bit registers and packed arithmetic, on more threads: nanoseconds a thread, by
//! the interpreter alone and with native code.

use super::{buffer, median, zeros};
use cpu_time::ProcessTime;
use roundonce_exec::{Arg, Engine, Launch, Options};

const ROUNDS: usize = 9;
const BLOCK: u32 = 128;

struct Kernel {
    name: &'static str,
    text: &'static str,
    args: Vec<Arg>,
}

/// Pairs of f16 between 2^-2 and 2, of either sign: as bf16 they are between 2^-63 and 2^65.
fn pairs(count: usize, seed: u64) -> Arg {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut half = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state >> 40) as u32;
        0x3400 + (bits & 0x8bff)
    };
    buffer((0..count).map(|_| half() | half() << 16).collect())
}

fn kernels(n: usize) -> Vec<Kernel> {
    let count = || Arg::Scalar(n as u64);
    macro_rules! kernel {
        ($name:literal, $args:expr) => {
            Kernel {
                name: $name,
                text: include_str!(concat!("../../../../tests/kernels/", $name, ".ptx")),
                args: $args.into(),
            }
        };
    }
    let floats = |count: usize, seed| buffer(super::random(count, seed, 8.0));
    let (columns, rows) = (64, n);
    let layer = [Arg::Scalar(rows as u64), Arg::Scalar(columns as u64)].into_iter();
    let layer = layer.chain([pairs(rows * columns, 1), pairs(columns.div_ceil(2), 2), pairs(rows, 3), zeros(rows)]);
    let dot = [count(), pairs(n * n / BLOCK as usize, 1), pairs(n * n / BLOCK as usize, 2)].into_iter();
    let axpy = [count(), Arg::Scalar(0x3e99_999a), Arg::Scalar(0x3f00_0001), pairs(n, 1), pairs(n, 2)].into_iter();
    let convert = [count(), floats(2 * n, 1), pairs(n, 2), pairs(n, 3), zeros(4 * n), zeros(3 * n)].into_iter();
    vec![
        kernel!("half2_axpy", axpy.chain([zeros(4 * n), zeros(2 * n)]).collect::<Vec<_>>()),
        kernel!("half2_dot", dot.chain([zeros(n / 2), zeros(n)]).collect::<Vec<_>>()),
        kernel!("half2_ops", [count(), pairs(n, 1), pairs(n, 2), pairs(n, 3), zeros(16 * n)]),
        kernel!("bf162_ops", [count(), pairs(n, 1), pairs(n, 2), pairs(n, 3), zeros(12 * n), zeros(3 * n)]),
        kernel!("bf16", [count(), pairs(n / 2, 1), pairs(n / 2, 2), floats(n, 3), zeros(4 * n)]),
        kernel!("bf16_relu", layer.collect::<Vec<_>>()),
        kernel!("half_convert", convert.chain([zeros(4 * n), zeros(4 * n)]).collect::<Vec<_>>()),
    ]
}

/// The table.
pub(crate) fn print() {
    let n = 1 << 14;
    println!("{:16} {:>14} {:>14} {:>8} {:>10}", "kernel", "interpreter", "with native", "ratio", "native");
    for Kernel { name, text, args } in kernels(n) {
        let parsed = roundonce_ptx::parse(text);
        let program = match roundonce_ptx::lower(&parsed.module, None) {
            Ok(program) => program,
            Err(findings) => panic!("{name}: {}", findings[0]),
        };
        let run = |engine| {
            let options = Options { engine, ..Options::default() };
            let (grid, block) = ([n as u32 / BLOCK, 1, 1], [BLOCK, 1, 1]);
            let args = args.clone();
            let launch = Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options };
            let start = ProcessTime::now();
            let report = launch.run().unwrap_or_else(|error| panic!("{name}: {error}"));
            (start.elapsed().as_secs_f64(), report.native_steps as f64 / report.steps as f64)
        };
        let (mut interpreted, mut native, mut share) = (Vec::new(), Vec::new(), 0.0);
        for round in 0..ROUNDS {
            let (slow, fast) = (run(Engine::Interpreter), run(Engine::Auto));
            // The first round warms caches and pages.
            if round > 0 {
                interpreted.push(slow.0);
                native.push(fast.0);
            }
            share = fast.1;
        }
        let [slow, fast] = [&mut interpreted, &mut native].map(|times| median(times) / n as f64 * 1e9);
        println!("{name:16} {slow:>11.1} ns {fast:>11.1} ns {:>8.2} {:>9.0}%", slow / fast, share * 100.0);
    }
}
