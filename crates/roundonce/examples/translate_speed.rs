//! What a translation to SPIR-V takes, and what the kernel takes to run before and after it.
//!
//! `cargo run --release -p roundonce --example translate_speed` takes the GEMM of the engine's benchmark; given a file of
//! PTX it measures how fast its text is read, lowered and written, in MB of PTX a second.

use std::time::Instant;

use cpu_time::ProcessTime;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::ptx;
use roundonce::translate::kernel::spirv;

/// The best of some runs, in seconds.
fn best(runs: usize, mut run: impl FnMut()) -> f64 {
    let seconds = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn text_speed(file: &str) {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let megabytes = text.len() as f64 / 1e6;
    let report = |what: &str, seconds: f64| println!("{what}: {seconds:.4} s, {:.1} MB/s", megabytes / seconds);
    report("parse", best(5, || drop(ptx::parse(&text))));
    let module = ptx::parse(&text).module;
    report("lower", best(5, || drop(ptx::lower(&module, None))));
    let program = ptx::lower(&module, None).expect("every kernel is lowered");
    report("write", best(5, || drop(spirv::write(&program, &Default::default()))));
    match spirv::write(&program, &Default::default()) {
        Ok(translation) => {
            println!("{megabytes:.2} MB of PTX, {:.2} MB of SPIR-V", translation.text.len() as f64 / 1e6)
        }
        Err(findings) => println!("{} refusals, the first: {}", findings.len(), findings[0].message),
    }
}

fn gemm() {
    const SIZE: usize = 512;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../exec/benches/kernels.ptx");
    let text = std::fs::read_to_string(file).expect("the benchmark's kernels").replace("fma.RND.f32", "fma.rn.f32");
    let choice = Choice { entry: Some("k3".to_owned()), ..Choice::default() };
    let before = Ready::read(Source::Ptx(&text), &choice).expect("K3");
    let translation = spirv::write(&before.program, &Default::default()).expect("K3 has a counterpart");
    let after = Ready::read(Source::SpirvText(&translation.text), &choice).expect("K3 as SPIR-V");
    let matrix = |seed: u32| {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            0x3f00_0000 | state >> 9
        };
        Arg::Buffer(Buffer::from_words((0..SIZE * SIZE).map(|_| next()).collect()))
    };
    for (grid, block) in [([2, 512, 1], [256, 1, 1]), ([32, 32, 1], [16, 16, 1])] {
        let mut times = [f64::INFINITY; 2];
        // They take turns, so that both see the same machine.
        for _ in 0..40 {
            for (time, ready) in times.iter_mut().zip([&before, &after]) {
                let args = vec![Arg::Scalar(SIZE as u64), matrix(1), matrix(2), matrix(3)];
                let options = Options { profile: ready.profile, ..Options::default() };
                let (program, entry) = (&ready.program, Some(ready.kernel().name.as_str()));
                let launch = Launch { program, entry, grid, block, args, dynamic_shared: 0, options };
                // Processor time: others may want the machine too.
                let start = ProcessTime::now();
                launch.run().expect("it runs");
                *time = time.min(start.elapsed().as_secs_f64());
            }
        }
        let [ptx, spirv] = times;
        println!("GEMM {SIZE}, blocks {block:?}: PTX {ptx:.4} s, SPIR-V {spirv:.4} s, speed {:.3}", ptx / spirv);
    }
}

fn main() {
    match std::env::args().nth(1) {
        Some(file) => text_speed(&file),
        None => gemm(),
    }
}
