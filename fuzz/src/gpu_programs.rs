//! Programs for a GPU to run, and what the engines leave: a line each, as `dev/gpu/programs.py` takes them.
//!
//!     gpu_programs COUNT > programs.jsonl          every instruction alone, then COUNT programs
//!     gpu_programs COUNT FIRST > programs.jsonl    COUNT programs from number FIRST on
//!     gpu_programs COUNT FIRST native              the same by native code: the checksums must be those of the interpreter
//!
//! A line names the module, its text, the launch, the seeds of its inputs, and the checksum (CRC-32) of what each of them leaves in
//! the two buffers behind the input.

use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce_fuzz::{Choices, engines::STEPS, ptx};
use std::io::{self, Write};

/// Seeds of an instruction alone, and of a program.
const ALONE: u64 = 64;
const OF_A_PROGRAM: u64 = 3;

/// The checksums, one a seed; none where the text is refused or a launch fails.
fn left(module: &ptx::Module, seeds: u64, engine: Engine) -> Option<Vec<u32>> {
    let ready = Ready::read(Source::Ptx(&module.text), &Choice::default()).ok()?;
    let one = |seed| {
        let mut args = module.args.clone();
        args[0] = Arg::Buffer(Buffer::from_words(roundonce_scalar::input(seed)));
        let (grid, block) = (module.grid, module.block);
        let options = Options { engine, threads: 1, step_limit: STEPS, ..Options::default() };
        let launch = Launch { program: &ready.program, entry: None, grid, block, args, dynamic_shared: 0, options };
        let mut crc = flate2::Crc::new();
        for buffer in launch.run().ok()?.buffers.iter().flatten().skip(1) {
            crc.update(&buffer.to_bytes());
        }
        Some(crc.sum())
    };
    (0..seeds).map(one).collect()
}

fn write(out: &mut impl Write, name: &str, module: &ptx::Module, seeds: u64, engine: Engine) -> io::Result<()> {
    let Some(sums) = left(module, seeds, engine) else { return Ok(()) };
    let bytes: Vec<usize> = module
        .args
        .iter()
        .skip(1)
        .map(|arg| if let Arg::Buffer(buffer) = arg { buffer.to_bytes().len() } else { 0 })
        .collect();
    // Rust writes the escapes that JSON has.
    writeln!(
        out,
        "{{\"name\":{name:?},\"ptx\":{:?},\"grid\":{:?},\"block\":{:?},\"bytes\":{bytes:?},\"crc32\":{sums:?}}}",
        module.text, module.grid, module.block
    )
}

fn main() -> io::Result<()> {
    ptx::check_table();
    let mut numbers = std::env::args().skip(1).map_while(|number| number.parse::<u64>().ok());
    let (count, first) = (numbers.next().unwrap_or(2_000), numbers.next());
    let engine = if std::env::args().any(|word| word == "native") { Engine::Native } else { Engine::Interpreter };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let bytes = |seed: u64, count| {
        roundonce_scalar::numbers(seed | 1, count).iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
    };
    if first.is_none() {
        for (name, module) in ptx::each_instruction(&mut Choices::new(&bytes(1, 1 << 20))) {
            write(&mut out, &name, &module, ALONE, engine)?;
        }
    }
    for number in (first.unwrap_or(0)..).take(count as usize) {
        let bytes = bytes(2 * number + 1_000_001, 400);
        write(
            &mut out,
            &format!("program {number}"),
            &ptx::generate_portable(&mut Choices::new(&bytes)),
            OF_A_PROGRAM,
            engine,
        )?;
    }
    out.flush()
}
