//! Any text that parses: lowered and run, or refused; no panic, no endless run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Arg, Buffer, Launch, Options};

fuzz_target!(|text: &str| {
    let parsed = roundonce_ptx::parse(text);
    let Ok(program) = roundonce_ptx::lower(&parsed.module, None) else { return };
    for kernel in &program.kernels {
        let args = kernel.params.iter().map(|param| match param.size {
            8 => Arg::Buffer(Buffer::zeros(64)),
            size @ (1 | 2 | 4) => Arg::Scalar(u64::from(size)),
            size => Arg::Bytes(vec![0; size as usize]),
        });
        let options = Options { step_limit: 10_000, memory_limit: 1 << 24, check_races: true, ..Options::default() };
        let launch = Launch {
            program: &program,
            entry: Some(&kernel.name),
            grid: [2, 1, 1],
            block: kernel.required_block.unwrap_or([33, 1, 1]),
            args: args.collect(),
            dynamic_shared: 64,
            options,
        };
        let _ = launch.run();
    }
});
