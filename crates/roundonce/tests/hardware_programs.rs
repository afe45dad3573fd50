//! What PTX leaves in memory on an H200, by instruction and in whole programs: `vectors/hw/…/programs.jsonl.gz`, of which a line is a
//! module, its launch, and a checksum of the buffers for each input.

use flate2::read::GzDecoder;
use roundonce::exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce::kernel::{Choice, Ready, Source};
use serde::Deserialize;
use std::io::{BufRead, BufReader};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/hw");
const CAPTURES: [&str; 2] = ["h100-580.159.04-2026-11-26", "h200-580.159.04-2026-11-27"];

#[derive(Deserialize)]
struct Line {
    name: String,
    ptx: String,
    grid: [u32; 3],
    block: [u32; 3],
    bytes: Vec<usize>,
    crc32: Vec<u32>,
}

/// The checksums that an engine's buffers have, one an input.
fn left(line: &Line, engine: Engine) -> Vec<u32> {
    let ready = Ready::read(Source::Ptx(&line.ptx), &Choice::default());
    let program = ready.unwrap_or_else(|refusal| panic!("{}: {refusal:?}", line.name)).program;
    let one = |seed| {
        let input = Buffer::from_words(roundonce_scalar::input(seed));
        let buffers = std::iter::once(input).chain(line.bytes.iter().map(|bytes| Buffer::zeros(*bytes)));
        let launch = Launch {
            program: &program,
            entry: None,
            grid: line.grid,
            block: line.block,
            args: buffers.map(Arg::Buffer).collect(),
            dynamic_shared: 0,
            options: Options { engine, threads: 1, ..Options::default() },
        };
        let report = launch.run().unwrap_or_else(|error| panic!("{}: {error}", line.name));
        let mut crc = flate2::Crc::new();
        report.buffers.iter().flatten().skip(1).for_each(|buffer| crc.update(&buffer.to_bytes()));
        crc.sum()
    };
    (0..line.crc32.len() as u64).map(one).collect()
}

/// All by the interpreter, whose launches begin at once; some of the programs by native code, too.
#[test]
fn every_program_leaves_what_the_gpu_left() {
    let lines = CAPTURES.iter().flat_map(|capture| {
        let file = std::fs::File::open(format!("{DIRECTORY}/{capture}/programs.jsonl.gz")).unwrap();
        BufReader::new(GzDecoder::new(file)).lines()
    });
    let (mut count, mut wrong) = (0, Vec::new());
    for line in lines {
        let line: Line = serde_json::from_str(&line.unwrap()).unwrap();
        count += 1;
        let is_compiled = line.name.strip_prefix("program ").is_some_and(|number| number.ends_with(['0', '5']));
        let engines: &[Engine] =
            if is_compiled { &[Engine::Interpreter, Engine::Native] } else { &[Engine::Interpreter] };
        wrong.extend(
            engines
                .iter()
                .filter(|engine| left(&line, **engine) != line.crc32)
                .map(|engine| format!("{engine:?}: {}", line.name)),
        );
    }
    assert!(wrong.is_empty(), "{} of {count} differ: {wrong:#?}", wrong.len());
    assert!(count > 5_700, "{count} programs");
}
