//! `run` for a straight-line SASS listing: registers and constants in, registers out, one lane for each element.

use std::io::Write;

use roundonce::arith::{ConditionCodes, Format as Float};
use roundonce::exec::{Buffer, Launch, Options};
use roundonce::isa::{hex_bits, shortest_decimal};
use roundonce::kernel::Lanes;
use roundonce::sass::{Lowered, Name};
use serde::Serialize;

use crate::argument::Argument;
use crate::array::Array;
use crate::launch::{self, split_pair};
use crate::output;
use crate::run::{Arguments, launched, tell};
use crate::{Ended, Failure, Status, files, terminal};

/// Lanes whose results are printed.
const SHOWN: usize = 8;

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let entry = arguments.launch.entry()?;
    let (lowered, Lanes { count, grid, block, args }, _) = launch::listing(&arguments.file, entry, &arguments.launch)?;
    let outputs = outputs(&lowered, arguments)?;
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid,
        block,
        args,
        dynamic_shared: 0,
        options: Options { profile: arguments.launch.profile()?, ..arguments.options() },
    };
    let Some(report) = launched(launch, arguments)? else { return Ok(Status::Found) };
    let first = 1 + lowered.inputs.len();
    let results: Vec<(Name, &[u32])> = lowered
        .outputs
        .iter()
        .zip(&report.buffers[first..])
        .map(|(name, buffer)| (*name, buffer.as_ref().map_or(&[][..], Buffer::words)))
        .collect();
    for (place, path) in outputs {
        let array = Array::written(&format!("zeros:u32:{count}")).transpose()?;
        if let (Some(array), Some(buffer)) = (array, &report.buffers[first + place]) {
            array.write(path.path(), buffer)?;
        }
    }
    show(&results, arguments)?;
    if arguments.asks_for_more() {
        tell(&report, &lowered.program.kernels[0], &[], &[], arguments)?;
    }
    Ok(Status::Done)
}

/// The places, among the outputs, of those that go to files.
fn outputs(lowered: &Lowered, arguments: &Arguments) -> Result<Vec<(usize, Argument)>, Failure> {
    let mut outputs = Vec::new();
    for text in &arguments.out {
        let (name, path) = split_pair("--out", text)?;
        files::check_extension("--out", path.path(), "npy")?;
        let found = lowered.outputs.iter().position(|output| output.to_string() == name.to_uppercase());
        let names: Vec<String> = lowered.outputs.iter().map(ToString::to_string).collect();
        let place = found.ok_or_else(|| {
            Failure::Input(format!("--out: the listing does not write `{name}`: it writes {}", names.join(", ")))
        })?;
        outputs.push((place, path));
    }
    files::check_outputs("--out", outputs.iter().map(|(_, path)| path.path()))?;
    Ok(outputs)
}

#[derive(Serialize)]
struct Row {
    name: String,
    bits: Vec<String>,
}

fn show(results: &[(Name, &[u32])], arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json() {
        let rows: Vec<Row> = results
            .iter()
            .map(|(name, words)| Row {
                name: name.to_string(),
                bits: words.iter().map(|&word| hex_bits(32, u64::from(word))).collect(),
            })
            .collect();
        return output::json(&rows);
    }
    let mut out = terminal::styled();
    for (name, words) in results {
        for (lane, &word) in words.iter().take(SHOWN).enumerate() {
            let place = if words.len() > 1 { format!("{name} lane {lane}") } else { name.to_string() };
            let bits = hex_bits(32, u64::from(word));
            match name {
                Name::Register(_) => {
                    writeln!(out, "{place} {bits} {}", shortest_decimal(Float::F32, u64::from(word)))?;
                }
                Name::ConditionCodes => {
                    let codes = ConditionCodes { zero: word & 1 != 0, sign: word & 2 != 0 };
                    writeln!(out, "{place} {codes}")?;
                }
                _ => writeln!(out, "{place} {bits}")?,
            }
        }
        if words.len() > SHOWN {
            writeln!(out, "{name} … {} lanes more: --out {name}=FILE.npy writes all", words.len() - SHOWN)?;
        }
    }
    Ok(())
}
