//! A SASS listing without memory, run on a value for each lane.

use crate::engines;
use roundonce::exec::{Arg, Buffer, Launch, Options};
use roundonce::kernel::{LaneValues, lanes};
use roundonce::sass::Lowered;
use std::collections::BTreeMap;

pub const LANES: usize = 37;

/// The values of one input, out of data.
pub fn input(data: &[u32], at: usize) -> Vec<u32> {
    (0..LANES).map(|lane| data[(lane + at * 13) % data.len()].rotate_left(at as u32 & 1)).collect()
}

/// What each output is afterwards, by all engines.
///
/// # Panics
/// If they differ, or the program is none.
pub fn run(lowered: &Lowered, data: &[u32], text: &str) -> BTreeMap<String, Vec<u32>> {
    lowered.program.verify().unwrap_or_else(|invalid| panic!("{text}{invalid}"));
    let names = lowered.inputs.iter().enumerate();
    let given = names.map(|(at, name)| (name.to_string(), LaneValues::PerLane(input(data, at)))).collect();
    let mut launched = lanes(lowered, &given, |name| name.to_string()).expect("every input is given");
    if given.is_empty() {
        // Without inputs there is one lane; all are alike.
        launched.args[0] = Arg::Scalar(LANES as u64);
        launched.block = [LANES as u32, 1, 1];
        launched.args.iter_mut().skip(1).for_each(|arg| *arg = Arg::Buffer(Buffer::zeros(4 * LANES)));
    }
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid: launched.grid,
        block: launched.block,
        args: launched.args,
        dynamic_shared: 0,
        options: Options::default(),
    };
    let ran = engines::run_all(&launch, &|| text.to_owned()).expect("no limit is near");
    let buffers = ran.unwrap_or_else(|error| panic!("{text}{error}"));
    let words = |bytes: &Vec<u8>| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let outputs = lowered.outputs.iter().zip(&buffers[lowered.inputs.len()..]);
    outputs.map(|(name, bytes)| (name.to_string(), words(bytes))).collect()
}
