//! What is lowered, run on a value for each lane.

use roundonce_exec::{Arg, Buffer, Engine, Launch, Options};
use roundonce_sass::{Lowered, Name};

/// Runs a listing on `lanes` lanes of inputs; gives each output's lanes.
pub(crate) fn run(
    engine: Engine,
    lowered: &Lowered,
    lanes: usize,
    input: impl Fn(Name, usize) -> u32,
) -> Vec<(Name, Vec<u32>)> {
    lowered.program.verify().unwrap_or_else(|invalid| panic!("{invalid}"));
    let buffer = |name: &Name| Arg::Buffer(Buffer::from_words((0..lanes).map(|lane| input(*name, lane)).collect()));
    let mut args = vec![Arg::Scalar(lanes as u64)];
    args.extend(lowered.inputs.iter().map(buffer));
    args.extend(lowered.outputs.iter().map(|_| Arg::Buffer(Buffer::zeros(4 * lanes))));
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: [lanes.div_ceil(128) as u32, 1, 1],
        block: [128, 1, 1],
        args,
        dynamic_shared: 0,
        options: Options { engine, ..Options::default() },
    };
    let report = launch.run().unwrap_or_else(|error| panic!("{error:?}"));
    let first = 1 + lowered.inputs.len();
    let outputs = lowered.outputs.iter().zip(&report.buffers[first..]);
    outputs.map(|(name, buffer)| (*name, buffer.as_ref().unwrap().words().to_vec())).collect()
}
