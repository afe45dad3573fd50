//! Any binary that is read: its entry points are made ready and run, or refused with places inside it; no panic, no
//! endless run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce_ir::Passing;
use roundonce_isa::Location;
use roundonce_spirv::{Assume, Module, Settings, lower, spec_constants};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let mut binary = 0x0723_0203_u32.to_le_bytes().to_vec();
    binary.extend(&rest[..rest.len() / 4 * 4]);
    let Ok(module) = Module::from_binary(&binary) else { return };
    let assume = [Assume::Nvidia, Assume::Strict, Assume::Flush][usize::from(first) % 3];
    let spec = spec_constants(&module).iter().map(|constant| (constant.id, u64::from(first & 7))).collect();
    let lowered = match lower(&module, None, &Settings { spec, assume, ..Settings::default() }) {
        Ok(lowered) => lowered,
        Err(findings) => {
            assert!(!findings.is_empty());
            for finding in findings {
                assert!(
                    !matches!(finding.location, Location::Word(word) if word > module.words().len()),
                    "{finding:?}"
                );
            }
            return;
        }
    };
    let kernel = &lowered.program.kernels[0];
    let args = kernel.params.iter().map(|param| match (param.passing, param.size) {
        (Passing::Buffer, _) => Arg::Buffer(Buffer::zeros(256)),
        (_, size @ 1..=8) => Arg::Scalar(u64::from(size)),
        (_, size) => Arg::Bytes(vec![1; size as usize]),
    });
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: [2, 1, 1],
        block: kernel.required_block.unwrap_or([3, 1, 1]),
        args: args.collect(),
        dynamic_shared: 64,
        options: Options {
            step_limit: 10_000,
            memory_limit: 1 << 24,
            check_races: true,
            profile: assume.profile(),
            ..Options::default()
        },
    };
    let _ = launch.run();
});
