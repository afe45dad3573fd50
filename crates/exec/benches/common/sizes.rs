//! The kernels on few of their blocks and on more: microseconds a launch by the interpreter alone, by native code from the
//! start, and as it is by default.

use super::{Work, median, program, run_with, suite, works};
use roundonce_exec::{Engine, Options};
use roundonce_ir::Program;

const ROUNDS: usize = 10;
const ENGINES: [Engine; 3] = [Engine::Interpreter, Engine::Native, Engine::Auto];
/// Numbers of blocks that run.
const BLOCKS: [u64; 6] = [1, 4, 16, 64, 256, 1024];

/// The table.
pub(crate) fn print(filter: &str) {
    println!(
        "{:28} {:>6} {:>12} {:>12} {:>12} {:>15} {:>8}",
        "kernel", "blocks", "interpreter", "native", "default", "to interpreter", "to best"
    );
    let (plain, others) = (program(".rn"), suite::program());
    let kernels = works().into_iter().map(|work| (&plain, work));
    for (program, work) in kernels.chain(suite::works().into_iter().map(|(work, _)| (&others, work))) {
        if work.name.contains(filter) {
            BLOCKS.iter().for_each(|&blocks| line(program, &work, blocks));
        }
    }
}

fn line(program: &Program, work: &Work, blocks: u64) {
    if blocks > work.grid.iter().map(|&axis| u64::from(axis)).product() {
        return;
    }
    let mut args = work.args.clone();
    let mut times = [const { Vec::new() }; 3];
    let mut ratios = [const { Vec::new() }; 2];
    for round in 0..ROUNDS {
        let mut now = [0.0; 3];
        // Each comes first in turn.
        for engine in (0..3).map(|place| (round + place) % 3) {
            // Each launch is a first one.
            let options =
                Options { engine: ENGINES[engine], blocks: Some(0..blocks), keep_code: false, ..Options::default() };
            now[engine] = run_with::<false>(program, work, &mut args, options);
        }
        // The first round warms caches and pages.
        if round > 0 {
            times.iter_mut().zip(now).for_each(|(all, time)| all.push(time));
            ratios[0].push(now[2] / now[0]);
            ratios[1].push(now[2] / now[0].min(now[1]));
        }
    }
    let [interpreted, native, default] = times.map(|mut times| median(&mut times) * 1e6);
    let [to_interpreter, to_best] = ratios.map(|mut ratios| median(&mut ratios));
    println!(
        "{:28} {blocks:>6} {interpreted:>9.0} µs {native:>9.0} µs {default:>9.0} µs {to_interpreter:>15.2} {to_best:>8.2}",
        work.name
    );
}
