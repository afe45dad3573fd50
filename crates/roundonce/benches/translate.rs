//! How fast PTX becomes SPIR-V and PTX: megabytes of PTX text a second for each stage, in the processor's time and by the clock
//! on all threads; and how fast a shader's product of matrices runs as PTX: `cargo bench -p roundonce --bench translate`.
#![allow(missing_docs)]

use std::fmt::Write as _;
use std::time::Instant;

use cpu_time::ProcessTime;
use roundonce::exec::{Arg, Buffer, Launch, Options as Run};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::translation::{Options, To, translate};
use roundonce_translate::kernel;

const ROUNDS: usize = 7;
const BYTES: usize = 4 << 20;

/// What compilers made of the project's kernels, each many times over under other names.
fn kernels() -> String {
    let sources = [
        ("nbody", include_str!("../../../tests/kernels/nbody.ptx")),
        ("sgemm", include_str!("../../../tests/kernels/sgemm.ptx")),
        ("twosum", include_str!("../../../tests/kernels/twosum.ptx")),
        ("fft", include_str!("../../../tests/kernels/fft.ptx")),
        ("softmax", include_str!("../../../tests/kernels/softmax.ptx")),
        ("mandelbrot", include_str!("../../../tests/kernels/mandelbrot.ptx")),
    ];
    let mut text = ".version 9.5\n.target sm_75\n.address_size 64\n".to_owned();
    for copy in 0.. {
        for (name, source) in sources {
            let (_, body) = source.split_once(".address_size 64").expect("a header");
            let _ = write!(text, "// copy {copy}\n{}", body.replace(name, &format!("{name}_{copy}")));
        }
        if text.len() > BYTES {
            break;
        }
    }
    text
}

/// The medians of the processor's seconds and of the clock's.
fn seconds<T>(mut run: impl FnMut() -> T) -> [f64; 2] {
    let mut both: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let (clock, processor) = (Instant::now(), ProcessTime::now());
        let result = run();
        both[0].push(processor.elapsed().as_secs_f64());
        both[1].push(clock.elapsed().as_secs_f64());
        drop(result);
    }
    both.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

fn main() {
    let text = kernels();
    let megabytes = text.len() as f64 / 1e6;
    let row = |stage: &str, [processor, clock]: [f64; 2]| {
        println!("| {stage} | {:.1} | {:.1} |", megabytes / processor, megabytes / clock);
    };
    println!(
        "{megabytes:.1} MB of PTX\n\n| stage | MB/s of the processor's time | MB/s of the clock |\n|---|---:|---:|"
    );
    row("read", seconds(|| roundonce::ptx::parse(&text)));
    let module = roundonce::ptx::parse(&text).module;
    let lower = || roundonce::ptx::lower(&module, None).expect("lowered");
    row("lower", seconds(lower));
    let program = lower();
    let options = Options::default();
    row("write PTX", seconds(|| kernel::ptx::write(&program, &options).expect("written")));
    row("write SPIR-V", seconds(|| kernel::spirv::write(&program, &options).expect("written")));
    for (stage, to) in [("PTX to PTX", To::Ptx), ("PTX to SPIR-V", To::Spirv)] {
        row(stage, seconds(|| translate(Source::Ptx(&text), to, &Choice::default(), &options).expect("translated")));
    }
    product();
}

/// A tiled product of 512 × 512 × 512, as a shader and as PTX.
fn product() {
    let shader = Source::SpirvText(include_str!("../../../tests/shaders/gemm.spvasm"));
    let translated = translate(shader, To::Ptx, &Choice::default(), &Options::default()).expect("translated");
    let text = translated.translation.text;
    let after = Ready::read(Source::Ptx(&text), &Choice::default()).expect("PTX");
    let matrix = |seed: u32| {
        let word = |place: u32| 0x3f00_0000 | (place.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 10);
        Arg::Buffer(Buffer::from_words((0..512 * 512).map(word).collect()))
    };
    let args = vec![Arg::Scalar(512), matrix(1), matrix(2), Arg::Buffer(Buffer::zeros(512 * 512 * 4))];
    let run = |ready: &Ready| {
        let options = Run { step_limit: u64::MAX, ..Run::default() };
        let (program, args, entry, dynamic_shared) = (&ready.program, args.clone(), None, 0);
        let launch = Launch { program, entry, grid: [64, 64, 1], block: [8, 8, 1], args, dynamic_shared, options };
        launch.run().expect("run").buffers[3].as_ref().map(Buffer::digest)
    };
    assert_eq!(run(&translated.source), run(&after));
    let [before, after] = [&translated.source, &after].map(|ready| seconds(|| run(ready))[0]);
    println!(
        "\n512 × 512 × 512: {before:.3} s of the processor's time before, {after:.3} s after: {:.3}",
        before / after
    );
}
