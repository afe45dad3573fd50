//! Kernels of tests/kernels from their PTX and from ptxas's machine code for sm_50, taking turns: the processor's time of
//! each on one thread, and the ratio of the medians, PTX over cubin.
//!
//! `cargo bench -p roundonce --bench maxwell` prints the table of docs/performance.md; a name behind `--` prints that alone.
#![allow(missing_docs)]

use std::path::PathBuf;

use cpu_time::ProcessTime;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::sass::simplify;

const ROUNDS: usize = 7;

struct Work {
    name: &'static str,
    /// Beside the name, where the size matters.
    size: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
}

/// Numbers from 0.5 to 1, as f32 or f64.
fn numbers(count: usize, wide: bool) -> Arg {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(count * if wide { 8 } else { 4 });
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match wide {
            true => bytes.extend((0x3fe0_0000_0000_0000 | state >> 12).to_le_bytes()),
            false => bytes.extend((0x3f00_0000 | (state >> 41) as u32).to_le_bytes()),
        }
    }
    Arg::Buffer(Buffer::from_bytes(&bytes))
}

fn single(value: f32) -> Arg {
    Arg::Scalar(u64::from(value.to_bits()))
}

fn works() -> Vec<Work> {
    let f32s = |count| numbers(count, false);
    let one = |blocks, threads| ([blocks, 1, 1], [threads, 1, 1]);
    let sized = |name, size, (grid, block), args| Work { name, size, grid, block, args };
    let work = |name, launch, args| sized(name, "", launch, args);
    let sgemm = |size, n: u32| {
        let matrix = || f32s((n * n) as usize);
        let args = vec![Arg::Scalar(n.into()), matrix(), matrix(), matrix()];
        sized("sgemm", size, ([n / 16, n / 16, 1], [16, 16, 1]), args)
    };
    let nbody = |size, n: u32| {
        let bodies = || f32s(4 * n as usize);
        sized("nbody", size, one(n / 32, 32), vec![Arg::Scalar(n.into()), single(0.01), bodies(), bodies()])
    };
    let n = 1 << 18;
    let count = Arg::Scalar(n as u64);
    vec![
        work("saxpy", one(n as u32 / 128, 128), vec![count.clone(), single(1.5), f32s(n), f32s(n)]),
        work("horner", one(n as u32 / 128, 128), vec![count.clone(), f32s(n), f32s(n)]),
        work("fir", one(n as u32 / 128, 128), vec![count.clone(), f32s(16), f32s(n + 15), f32s(n)]),
        work("dot", one(1, 128), vec![count.clone(), f32s(n), f32s(n), f32s(1)]),
        work("interval", one(n as u32 / 128, 128), vec![count.clone(), f32s(4 * n), f32s(4 * n)]),
        work(
            "stencil",
            ([32, 64, 1], [16, 8, 1]),
            vec![Arg::Scalar(512), Arg::Scalar(512), single(0.1), f32s(1 << 18), f32s(1 << 18)],
        ),
        sgemm(", 512³", 512),
        sgemm(", 256³", 256),
        sized(
            "dgemm",
            ", 256³",
            ([32, 32, 1], [8, 8, 1]),
            vec![Arg::Scalar(256), numbers(1 << 16, true), numbers(1 << 16, true), numbers(1 << 16, true)],
        ),
        nbody(", 512", 512),
        nbody(", 4096", 4096),
        work(
            "mandelbrot",
            ([64, 64, 1], [8, 8, 1]),
            vec![Arg::Scalar(512), Arg::Scalar(512), Arg::Scalar(200), f32s(1 << 18)],
        ),
    ]
}

fn seconds(ready: &Ready, work: &Work) -> f64 {
    let launch = Launch {
        program: &ready.program,
        entry: None,
        grid: work.grid,
        block: work.block,
        args: work.args.clone(),
        dynamic_shared: 0,
        options: Options { threads: 1, profile: ready.profile, ..Options::default() },
    };
    let start = ProcessTime::now();
    launch.run().unwrap_or_else(|error| panic!("{}: {error}", work.name));
    start.elapsed().as_secs_f64()
}

fn main() {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    println!("| kernel | PTX, ms | sm_50, ms | ratio |\n|---|---|---|---|");
    for work in works().iter().filter(|work| wanted.as_ref().is_none_or(|wanted| *wanted == work.name)) {
        let text = std::fs::read_to_string(folder.join(format!("{}.ptx", work.name))).unwrap();
        let cubin = std::fs::read(folder.join(format!("maxwell/{}.sm_50.cubin", work.name))).unwrap();
        let mut ready =
            [Source::Ptx(&text), Source::Cubin(&cubin)].map(|it| Ready::read(it, &Choice::default()).unwrap());
        simplify(&mut ready[1].program);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (ready, times) in ready.iter().zip(&mut times) {
                times.push(seconds(ready, work));
            }
        }
        let [ptx, sass] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            1000.0 * times[ROUNDS / 2]
        });
        println!("| {}{} | {ptx:.2} | {sass:.2} | {:.2} |", work.name, work.size, ptx / sass);
    }
}
