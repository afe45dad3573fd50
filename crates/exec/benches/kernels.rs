//! Four kernels beside the loops that a compiler makes for this machine, taking turns; and one whose lanes diverge.
//!
//! `cargo bench -p roundonce-exec` prints for each the median rate of fused multiply-adds, by rounding, and the ratio to
//! the native loop of the same rounds. Two threads stand there by the clock (`rn, 2`), and by half of the processor time
//! that both took (`rn, 2 cpu`): what two free processors would give that share the work evenly. `rn, first` is the launch that
//! compiles; those behind it use its code. The native loops round to nearest even and keep the machine's NaNs; the engine's bits
//! are a GPU's. With `dev/peers/pocl/run.sh` PoCL takes
//! its turns too, the same kernels in OpenCL C; with `dev/peers/lavapipe/run.sh` lavapipe does, in GLSL.
//!
//! `cargo bench -p roundonce-exec -- scaling` prints instead what two threads make of one by the clock, also on larger
//! problems, and what two processes of one thread each make of one: more than that the machine does not give.
//! `cargo bench -p roundonce-exec -- suite` prints ten more kernels, with barriers, shuffles, atomics and tables,
//! `cargo bench -p roundonce-exec -- doubles` prints K1 to K4 in f64,
//! `cargo bench -p roundonce-exec -- halves` prints the kernels of tests/kernels that compute in f16 and bf16,
//! `cargo bench -p roundonce-exec -- waits` those whose blocks wait for each other,
//! `cargo bench -p roundonce-exec -- sizes` few blocks of the first two tables' kernels and more.
//! With `avx2` among the words, native loops and native code use AVX2 on a processor that has AVX-512, too.
#![allow(missing_docs)]

#[path = "common/doubles.rs"]
mod doubles;
#[path = "common/halves.rs"]
mod halves;
#[path = "common/native.rs"]
mod native;
#[path = "common/native_suite.rs"]
mod native_suite;
#[path = "common/scaling.rs"]
mod scaling;
#[path = "common/sizes.rs"]
mod sizes;
#[path = "common/suite.rs"]
mod suite;
#[path = "common/waits.rs"]
mod waits;

use cpu_time::ProcessTime;
use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_ir::Program;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// Whether no more than AVX2 is to be used.
static AVX2: LazyLock<bool> = LazyLock::new(|| std::env::args().any(|argument| argument == "avx2"));

/// What runs the kernels by default.
fn engine() -> Engine {
    if *AVX2 { Engine::Avx2 } else { Engine::Auto }
}

/// Random numbers between 1 and 2, or below 1 in magnitude.
fn random(count: usize, seed: u64, below: f32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    (0..count).map(|_| ((next() * 2.0 - 1.0) * below).to_bits()).collect()
}

struct Work {
    name: String,
    entry: &'static str,
    /// Multiply-adds in all.
    operations: f64,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
    native: Native,
}

/// The same by a native loop: its seconds.
type Native = Box<dyn Fn(&[Arg]) -> f64>;

/// Seconds of a call: the processor's, so that a busy machine does not count.
fn timed(work: impl FnOnce()) -> f64 {
    let start = ProcessTime::now();
    work();
    start.elapsed().as_secs_f64()
}

fn words(arg: &Arg) -> &[u32] {
    match arg {
        Arg::Buffer(buffer) => buffer.words(),
        _ => &[],
    }
}

fn program(rounding: &str) -> Program {
    program_of(&include_str!("kernels.ptx").replace(".RND", rounding))
}
fn program_of(text: &str) -> Program {
    let parsed = roundonce_ptx::parse(text);
    match roundonce_ptx::lower(&parsed.module, None) {
        Ok(program) => program,
        Err(findings) => panic!("{}", findings[0]),
    }
}

/// One run, and its seconds: the processor's, of all threads together, or the clock's. The buffers go in and come back,
/// so that none is copied.
fn run<const WALL: bool>(program: &Program, work: &Work, args: &mut Vec<Arg>, threads: usize, engine: Engine) -> f64 {
    run_with::<WALL>(program, work, args, Options { threads, engine, ..Options::default() })
}

fn run_with<const WALL: bool>(program: &Program, work: &Work, args: &mut Vec<Arg>, options: Options) -> f64 {
    let given = std::mem::take(args);
    let (entry, kept) = (Some(work.entry), given.clone_scalars());
    let launch = Launch { program, entry, grid: work.grid, block: work.block, args: given, dynamic_shared: 0, options };
    let (wall, start) = (Instant::now(), ProcessTime::now());
    let report = launch.run();
    let seconds = if WALL { wall.elapsed() } else { start.elapsed() }.as_secs_f64();
    match report {
        Ok(report) => {
            let buffers = report.buffers.into_iter().zip(kept);
            *args = buffers.map(|(buffer, scalar)| buffer.map_or(scalar, Arg::Buffer)).collect();
        }
        Err(error) => panic!("{error}"),
    }
    seconds
}

/// A program that runs the same kernels on request and says how long each took: see `dev/peers`.
struct Peer {
    name: String,
    child: Child,
    /// Closed before the end is waited for.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// What `ROUNDONCE_PEER` names, its arguments behind it.
    fn start() -> Option<Peer> {
        let command = std::env::var("ROUNDONCE_PEER").ok()?;
        let mut words = command.split_whitespace();
        let program = std::path::Path::new(words.next()?);
        let name = program.file_name()?.to_string_lossy().into_owned();
        let mut peer = Command::new(program);
        let child = peer.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        match child.map(|mut child| (child.stdin.take(), child.stdout.take(), child)) {
            Ok((Some(requests), Some(answers), child)) => {
                Some(Peer { name, child, requests: Some(requests), answers: BufReader::new(answers) })
            }
            Ok((.., mut child)) => panic!("{command} has no pipes: {:?}", child.wait()),
            Err(error) => panic!("{command}: {error}"),
        }
    }
    fn run(&mut self, work: &Work) -> f64 {
        let mut answer = String::new();
        if let Some(requests) = &mut self.requests {
            let _ = writeln!(requests, "{} {} {}", work.entry, work.block[0], work.block[1]);
        }
        let answered = self.answers.read_line(&mut answer);
        match (answered, answer.trim().parse()) {
            (Ok(_), Ok(seconds)) => seconds,
            (problem, _) => panic!("the peer does not answer: {problem:?} {answer:?}, {:?}", self.child.try_wait()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.child.wait();
    }
}

trait CloneScalars {
    fn clone_scalars(&self) -> Vec<Arg>;
}
impl CloneScalars for Vec<Arg> {
    fn clone_scalars(&self) -> Vec<Arg> {
        self.iter()
            .map(|arg| match arg {
                Arg::Scalar(bits) => Arg::Scalar(*bits),
                _ => Arg::Scalar(0),
            })
            .collect()
    }
}

fn buffer(words: Vec<u32>) -> Arg {
    Arg::Buffer(Buffer::from_words(words))
}
fn zeros(count: usize) -> Arg {
    Arg::Buffer(Buffer::zeros(count * 4))
}
/// Blocks of 256 threads.
const LINE: [u32; 3] = [256, 1, 1];
fn blocks(n: usize) -> [u32; 3] {
    [n as u32 / LINE[0], 1, 1]
}

fn works() -> Vec<Work> {
    vec![saxpy(24), horner(22), gemm(512, false), gemm(512, true), fir(20), divergent(18)]
}

/// The kernels of the marks for two threads, and the same on eight times as much.
const SCALED: [fn() -> Work; 8] = [
    || horner(22),
    || horner(25),
    || gemm(512, false),
    || gemm(1024, false),
    || gemm(512, true),
    || gemm(1024, true),
    || fir(20),
    || fir(23),
];

fn saxpy(log: u32) -> Work {
    let n = 1 << log;
    Work {
        name: format!("K1 y = a x + y, 2^{log}"),
        entry: "k1",
        operations: n as f64,
        grid: blocks(n),
        block: LINE,
        args: vec![
            Arg::Scalar(n as u64),
            Arg::Scalar(0x3f00_0001),
            buffer(random(n, 1, 1.0)),
            buffer(random(n, 2, 1.0)),
        ],
        native: Box::new(|args| {
            let mut y = words(&args[3]).to_vec();
            timed(|| native::saxpy(0x3f00_0001, words(&args[2]), &mut y))
        }),
    }
}

fn horner(log: u32) -> Work {
    let n = 1 << log;
    Work {
        name: format!("K2 Horner 16, 2^{log}"),
        entry: "k2",
        operations: 16.0 * n as f64,
        grid: blocks(n),
        block: LINE,
        args: vec![Arg::Scalar(n as u64), buffer(random(17, 3, 1.0)), buffer(random(n, 4, 1.0)), zeros(n)],
        native: Box::new(|args| {
            let mut y = vec![1; words(&args[2]).len()];
            timed(|| native::horner(words(&args[1]), words(&args[2]), &mut y))
        }),
    }
}

/// In blocks of 256 threads in a row, or of 16 by 16.
fn gemm(n: usize, square: bool) -> Work {
    let side = n as u32;
    let (grid, block) =
        if square { ([side / 16, side / 16, 1], [16, 16, 1]) } else { ([side / LINE[0], side, 1], LINE) };
    Work {
        name: format!("K3 GEMM {n}, {}", if square { "16 x 16" } else { "rows" }),
        entry: "k3",
        operations: (n * n * n) as f64,
        grid,
        block,
        args: vec![Arg::Scalar(n as u64), buffer(random(n * n, 8, 1.0)), buffer(random(n * n, 9, 1.0)), zeros(n * n)],
        native: Box::new(move |args| {
            let mut c = vec![1; words(&args[1]).len()];
            timed(|| native::gemm(n, words(&args[1]), words(&args[2]), &mut c))
        }),
    }
}

fn fir(log: u32) -> Work {
    let n = 1 << log;
    Work {
        name: format!("K4 FIR 64, 2^{log}"),
        entry: "k4",
        operations: 64.0 * n as f64,
        grid: blocks(n),
        block: LINE,
        args: vec![Arg::Scalar(n as u64), buffer(random(64, 5, 1.0)), buffer(random(n + 64, 6, 1.0)), zeros(n)],
        native: Box::new(|args| {
            let mut y = vec![1; words(&args[3]).len()];
            timed(|| native::fir(words(&args[1]), words(&args[2]), &mut y))
        }),
    }
}

fn divergent(log: u32) -> Work {
    let n = 1 << log;
    let c = random(n, 7, 2.0);
    Work {
        name: format!("divergent loops, 2^{log}"),
        entry: "k5",
        operations: divergent_operations(&c),
        grid: blocks(n),
        block: LINE,
        args: vec![Arg::Scalar(n as u64), Arg::Scalar(100), buffer(c), zeros(n)],
        native: Box::new(|args| {
            let mut y = vec![1; words(&args[2]).len()];
            timed(|| native::divergent(100, words(&args[2]), &mut y))
        }),
    }
}

fn divergent_operations(c: &[u32]) -> f64 {
    let mut rounds = vec![0; c.len()];
    native::divergent(100, c, &mut rounds);
    rounds.iter().map(|&rounds| f64::from(rounds)).sum()
}

/// Of two runs the second, whose data the contender before it has not put out of the caches.
fn second(once: &mut dyn FnMut() -> f64) -> f64 {
    once();
    once()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    if scaling::answers() {
        return;
    }
    let mut words = std::env::args().skip(1).filter(|argument| !argument.starts_with('-') && argument != "avx2");
    let filter = words.next().unwrap_or_default();
    let modes = [("rn", ".rn"), ("rz", ".rz"), ("rm", ".rm"), ("rn.ftz", ".rn.ftz")];
    let mut peer = Peer::start();
    let programs = modes.map(|(_, spelled)| program(spelled));
    match &filter[..] {
        "scaling" => return scaling::print(),
        "doubles" => return doubles::print(),
        "halves" => return halves::print(),
        "waits" => return waits::print(),
        "sizes" => return sizes::print(&words.next().unwrap_or_default()),
        "suite" => return suite::print(&words.next().unwrap_or_default(), &mut peer),
        _ => {}
    }
    println!("{:24} {:>10} {:>10} {:>8} {:>8}", "work", "mode", "G fma/s", "spread", "ratio");
    for work in works().iter().filter(|work| work.name.contains(&filter)) {
        let mut args = work.args.clone();
        let (mut native, mut one, mut two) = (Vec::new(), vec![Vec::new(); modes.len()], Vec::new());
        let (mut shared, mut interpreted, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = f64::NAN;
        for round in 0..8 {
            let native_time = second(&mut || (work.native)(&work.args));
            let cold = run::<false>(&programs[0], work, &mut args, 1, engine());
            let times = (
                native_time,
                programs.iter().map(|program| run::<false>(program, work, &mut args, 1, engine())).collect::<Vec<_>>(),
                run::<true>(&programs[0], work, &mut args, 2, engine()),
                run::<false>(&programs[0], work, &mut args, 2, engine()) / 2.0,
                run::<false>(&programs[0], work, &mut args, 1, Engine::Interpreter),
                peer.as_mut().map(|peer| second(&mut || peer.run(work))),
            );
            // The first round warms caches and pages, and compiles.
            if round == 0 {
                first = cold;
            } else {
                native.push(times.0);
                for (all, time) in one.iter_mut().zip(times.1) {
                    all.push(time);
                }
                two.push(times.2);
                shared.push(times.3);
                interpreted.push(times.4);
                others.extend(times.5);
            }
        }
        let base = median(&mut native);
        let line = |mode: &str, times: &mut Vec<f64>| {
            let middle = median(times);
            let spread = (times[times.len() - 2] - times[1]) / middle;
            let rate = work.operations / middle / 1e9;
            println!("{:24} {mode:>10} {rate:>10.2} {:>7.0}% {:>8.2}", work.name, spread * 100.0, base / middle);
        };
        line("native", &mut native);
        if let Some(peer) = &peer {
            line(&peer.name, &mut others);
        }
        for ((mode, _), times) in modes.iter().zip(&mut one) {
            line(mode, times);
        }
        line("rn, first", &mut vec![first; 2]);
        line("rn, interp", &mut interpreted);
        line("rn, 2", &mut two);
        line("rn, 2 cpu", &mut shared);
    }
}
