//! Kernels K5 to K14 (`suite.cu`), as nvcc makes them, beside the loops that a compiler makes for this machine: milliseconds
//! a launch, in turns. Results are compared first.

use super::{
    Native, Peer, Work, buffer, engine, median, native_suite as native, program_of, random, run, second, timed, words,
    zeros,
};
use roundonce_exec::{Arg, Engine};
use roundonce_ir::Program;

const ROUNDS: usize = 8;

fn scalar(value: usize) -> Arg {
    Arg::Scalar(value as u64)
}

/// A work, and its last buffer afterwards by the native loop.
pub(crate) type Compared = (Work, Box<dyn Fn(&[Arg]) -> Vec<u32>>);

/// A work whose last buffer is its result. `native` writes the same to a copy of it.
fn work(
    name: &str,
    entry: &'static str,
    elements: usize,
    (grid, block): ([u32; 2], [u32; 2]),
    args: Vec<Arg>,
    native: impl Fn(&[Arg], &mut [u32]) + 'static,
) -> Compared {
    let native = std::rc::Rc::new(native);
    let again = native.clone();
    let timed: Native = Box::new(move |args| {
        let mut result = args.last().map(words).unwrap_or_default().to_vec();
        timed(|| native(args, &mut result))
    });
    let of = move |args: &[Arg]| {
        let mut result = args.last().map(words).unwrap_or_default().to_vec();
        again(args, &mut result);
        result
    };
    let (grid, block) = ([grid[0], grid[1], 1], [block[0], block[1], 1]);
    (Work { name: name.into(), entry, operations: elements as f64, grid, block, args, native: timed }, Box::new(of))
}

pub(crate) fn program() -> Program {
    program_of(include_str!("../suite.ptx"))
}

/// The kernels, and their results by the native loops.
pub(crate) fn works() -> Vec<Compared> {
    let lines = |n: usize| ([n as u32 / 256, 1], [256, 1]);
    let n = 1 << 22;
    let (width, height) = (2048, 2048);
    let plane = ([width as u32 / 32, height as u32 / 8], [32, 8]);
    let weights = (0x3f00_0001, 0x3dff_ffff);
    let bytes: Vec<u32> = random(n, 14, 1.0).iter().map(|bits| bits.wrapping_mul(0x9e37_79b9)).collect();
    let steps = 4096;
    let indices = random(n, 24, 1.0).iter().map(|bits| bits.wrapping_mul(0x9e37_79b9) >> 20).collect();
    let p = 1 << 10;
    vec![
        work(
            "K5 stencil 2048²",
            "stencil",
            width * height,
            plane,
            vec![
                scalar(width),
                scalar(height),
                Arg::Scalar(weights.0.into()),
                Arg::Scalar(weights.1.into()),
                buffer(random(width * height, 11, 1.0)),
                zeros(width * height),
            ],
            move |args, out| native::stencil(width, weights, words(&args[4]), out),
        ),
        work(
            "K6 reduction, 2^22",
            "reduce",
            n,
            ([256, 1], [256, 1]),
            vec![scalar(n), buffer(random(n, 12, 1.0)), zeros(256)],
            |args, out| native::reduce(words(&args[1]), out),
        ),
        work(
            "K7 histogram of bytes, 2^24",
            "histogram",
            4 * n,
            ([256, 1], [256, 1]),
            vec![scalar(4 * n), buffer(bytes), zeros(256)],
            |args, out| native::histogram(words(&args[1]), out),
        ),
        work(
            "K8 softmax, 2^12 rows",
            "softmax",
            n,
            ([4096, 1], [256, 1]),
            vec![buffer(random(n, 15, 8.0)), zeros(n)],
            |args, out| native::softmax(words(&args[0]), out),
        ),
        work(
            "K9 layer norm, 2^12 rows",
            "layer_norm",
            n,
            ([4096, 1], [256, 1]),
            vec![buffer(random(n, 16, 8.0)), buffer(random(1024, 17, 1.0)), buffer(random(1024, 18, 1.0)), zeros(n)],
            |args, out| native::layer_norm(words(&args[0]), words(&args[1]), words(&args[2]), out),
        ),
        work(
            "K10 bitonic sort, 2^20 by 512",
            "bitonic",
            1 << 20,
            ([2048, 1], [256, 1]),
            vec![buffer(random(1 << 20, 19, 1.0))],
            |_, out| native::bitonic(out),
        ),
        work(
            "K11 stage of a transform, 2^20",
            "fft_stage",
            1 << 20,
            lines(1 << 19),
            vec![
                scalar(1 << 20),
                scalar(p),
                buffer(random(2 << 20, 20, 1.0)),
                buffer(random(1 << 20, 21, 1.0)),
                zeros(2 << 20),
            ],
            move |args, out| native::fft_stage(p, words(&args[2]), words(&args[3]), out),
        ),
        work(
            "K12 table, 2^22",
            "lookup",
            n,
            lines(n),
            vec![scalar(n), scalar(steps), buffer(random(steps + 1, 22, 1.0)), buffer(random(n, 23, 1.0)), zeros(n)],
            move |args, out| native::lookup(steps, words(&args[2]), words(&args[3]), out),
        ),
        work(
            "K13 sums by index, 2^22 into 2^12",
            "sum_by_index",
            n,
            lines(n),
            vec![scalar(n), buffer(indices), buffer(random(n, 25, 1.0)), zeros(steps)],
            |args, out| native::sum_by_index(words(&args[1]), words(&args[2]), out),
        ),
        work(
            "K14 elements kept, of 2^22",
            "keep",
            n,
            lines(n),
            vec![scalar(n), Arg::Scalar(0x3e80_0000), buffer(random(n, 26, 1.0)), zeros(n + 1)],
            |args, out| native::keep(0.25, words(&args[2]), out),
        ),
    ]
}

/// Whether a result is the native loop's: bit for bit, but where the kernel asks the machine for approximations.
fn agrees(entry: &str, got: u32, wanted: u32) -> bool {
    let [a, b] = [got, wanted].map(f32::from_bits);
    got == wanted || matches!(entry, "softmax" | "layer_norm") && (a - b).abs() <= 1e-5 * b.abs().max(0.1)
}

/// The table.
pub(crate) fn print(filter: &str, peer: &mut Option<Peer>) {
    let program = program();
    let other = peer.as_ref().map_or("-", |peer| &peer.name).to_owned();
    println!(
        "{:32} {:>10} {:>12} {:>10} {:>10} {:>10} {other:>10} {:>10} {:>10}",
        "milliseconds", "native", "interpreter", "first", "roundonce", "2 threads", "to native", "to peer"
    );
    for (work, expected) in works().into_iter().filter(|(work, _)| work.name.contains(filter)) {
        let mut args = work.args.clone();
        // It compiles what those behind it use.
        let first = run::<false>(&program, &work, &mut args, 1, engine()) * 1e3;
        let (got, wanted) = (args.last().map(words).unwrap_or_default(), expected(&work.args));
        let wrong = got.iter().zip(&wanted).position(|(&got, &wanted)| !agrees(work.entry, got, wanted));
        if let Some(at) = wrong {
            panic!("{}: element {at} is {:08x}, {:08x} by the native loop", work.name, got[at], wanted[at]);
        }
        let mut times: [Vec<f64>; 5] = Default::default();
        for round in 0..ROUNDS {
            let round_times = [
                Some(second(&mut || (work.native)(&work.args))),
                Some(run::<false>(&program, &work, &mut args, 1, Engine::Interpreter)),
                Some(second(&mut || run::<false>(&program, &work, &mut args, 1, engine()))),
                Some(run::<true>(&program, &work, &mut args, 2, engine())),
                peer.as_mut().map(|peer| second(&mut || peer.run(&work))),
            ];
            // The first round warms caches and pages.
            if round > 0 {
                times.iter_mut().zip(round_times).for_each(|(all, time)| all.extend(time));
            }
        }
        let [native, interpreter, one, two, peer] =
            times.each_mut().map(|times| if times.is_empty() { f64::NAN } else { median(times) * 1e3 });
        println!(
            "{:32} {native:>10.2} {interpreter:>12.2} {first:>10.2} {one:>10.2} {two:>10.2} {peer:>10.2} {:>10.2} {:>10.2}",
            work.name,
            native / one,
            peer / one
        );
    }
}
