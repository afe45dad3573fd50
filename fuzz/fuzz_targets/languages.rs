//! The same arithmetic in PTX, SPIR-V and SASS, and one instruction after the other: the same bits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::kernel::{Choice, LaneValues, Ready, Source, lanes};
use roundonce::sass::lower;
use roundonce_fuzz::portable::{INPUTS, LANES, generate};
use roundonce_fuzz::{Choices, engines};

fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices::new(bytes);
    let program = generate(choices);
    let (width, count) = (program.format.width(), program.steps.len());
    let size = width as usize / 8;
    let words = choices.words(LANES * INPUTS * 2);
    let values: Vec<u64> = words
        .chunks(2)
        .map(|pair| {
            let both = u64::from(pair[0]) << 32 | u64::from(pair[1]);
            both >> (64 - width)
        })
        .collect();
    let wanted: Vec<Vec<u64>> = values.chunks(INPUTS).map(|inputs| program.evaluated(inputs)).collect();

    for (source, text) in [("PTX", program.ptx()), ("SPIR-V", program.spirv())] {
        let read = if source == "PTX" { Source::Ptx(&text) } else { Source::SpirvText(&text) };
        let ready = Ready::read(read, &Choice::default()).unwrap_or_else(|refusal| panic!("{text}{refusal:?}"));
        let given: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
        let mut args = vec![Arg::Buffer(Buffer::from_bytes(&given)), Arg::Buffer(Buffer::zeros(LANES * count * size))];
        // A shader has no parameter for what it does not read.
        args.drain(..2 - ready.kernel().params.len());
        let launch = Launch {
            program: &ready.program,
            entry: None,
            grid: [1, 1, 1],
            block: [LANES as u32, 1, 1],
            args,
            dynamic_shared: 0,
            options: Options { engine: Engine::Native, profile: ready.profile, ..Options::default() },
        };
        let ran = engines::run_all(&launch, &|| text.clone()).expect("no limit is near");
        let ran = ran.unwrap_or_else(|error| panic!("{text}{error}"));
        let out = ran.last().expect("there is a buffer");
        let results: Vec<u64> = out.chunks(size).map(number).collect();
        assert!(results == wanted.concat(), "{text}{results:x?}\n{wanted:x?}");
    }

    let Some(text) = program.sass() else { return };
    let lowered = lower(&text, None).unwrap_or_else(|findings| panic!("{text}{findings:?}"));
    let input = |at: usize| values.iter().skip(at).step_by(INPUTS).map(|value| *value as u32).collect();
    let given = (0..INPUTS).map(|at| (format!("R{at}"), LaneValues::PerLane(input(at)))).collect();
    let launched = lanes(&lowered, &given, |name| name.to_string()).expect("R0 to R2 are given");
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: launched.grid,
        block: launched.block,
        args: launched.args,
        dynamic_shared: 0,
        options: Options { engine: Engine::Native, ..Options::default() },
    };
    let ran = engines::run_all(&launch, &|| text.clone()).expect("no limit is near");
    let ran = ran.unwrap_or_else(|error| panic!("{text}{error}"));
    for (name, out) in lowered.outputs.iter().zip(&ran[lowered.inputs.len()..]) {
        let step = name.to_string().trim_start_matches('R').parse::<usize>().expect("a register") - INPUTS;
        let results: Vec<u64> = out.chunks(4).map(number).collect();
        let wanted: Vec<u64> = wanted.iter().map(|lane| lane[step]).collect();
        assert!(results == wanted, "{text}{name}: {results:x?}\n{wanted:x?}");
    }
});

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
}
