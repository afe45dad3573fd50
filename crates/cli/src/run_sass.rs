//! `run` for a straight-line SASS listing: registers and constants in, registers out, one lane for each element.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use roundonce::arith::{ConditionCodes, Format as Float};
use roundonce::exec::{Buffer, Launch};
use roundonce::isa::{hex_bits, shortest_decimal};
use roundonce::kernel::{self, LaneValues, Lanes};
use roundonce::sass::{self, Lowered, Name};
use serde::Serialize;

use crate::array::Array;
use crate::output;
use crate::run::{Arguments, launched, located, split_pair, tell};
use crate::{Ended, Failure, Status, files};

/// Lanes whose results are printed.
const SHOWN: usize = 8;

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let path = &arguments.file;
    let text = files::text(path, files::read(path)?)?;
    let lowered = sass::lower(&text, arguments.entry.as_deref())
        .map_err(|findings| Failure::Input(located(path, &text, findings)))?;
    let given = given(arguments)?;
    let Lanes { count, grid, block, args } = kernel::lanes(&lowered, &given, missing).map_err(Failure::Input)?;
    let outputs = outputs(&lowered, arguments)?;
    let launch = Launch {
        program: &lowered.program,
        entry: None,
        grid,
        block,
        args,
        dynamic_shared: 0,
        options: arguments.options(),
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
        let bytes: Vec<u8> = results[place].1.iter().flat_map(|word| word.to_le_bytes()).collect();
        Array::zeros(&format!("zeros:u32:{count}"))?.write(path, &bytes)?;
    }
    show(&results, arguments)?;
    if arguments.trace_or_profile() {
        tell(&report, &lowered.program.kernels[0], &[], arguments)?;
    }
    Ok(Status::Done)
}

/// `R1=0x3f800000`, `P0=1`, `0x3:0x140=x.npy`, by the names that the lowering gives.
fn given(arguments: &Arguments) -> Result<BTreeMap<String, LaneValues>, Failure> {
    let mut given = BTreeMap::new();
    let registers = arguments.reg.iter().map(|text| ("--reg", text));
    let constants = arguments.cbank.iter().map(|text| ("--cbank", text));
    for (option, text) in registers.chain(constants) {
        let (name, value) = split_pair(option, text)?;
        let name = if option == "--reg" { name.to_uppercase() } else { constant_name(name)? };
        let value = if value.ends_with(".npy") {
            let bytes = Array::read(Path::new(value))?.bytes;
            let (words, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(Failure::Input(format!("{value}: a register takes elements of 4 bytes")));
            }
            LaneValues::PerLane(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
        } else {
            LaneValues::parse(value).map_err(|problem| Failure::Input(format!("{option} {name}: {problem}")))?
        };
        if given.insert(name.clone(), value).is_some() {
            return Err(Failure::Input(format!("{option}: `{name}` is given twice")));
        }
    }
    Ok(given)
}

fn constant_name(text: &str) -> Result<String, Failure> {
    let problem = || Failure::Input(format!("--cbank `{text}` is not BANK:OFFSET, such as 0x3:0x140"));
    kernel::constant_name(text).ok_or_else(problem)
}

fn missing(name: &Name) -> String {
    let option = match name {
        Name::Constant { bank, offset } => format!("--cbank {bank:#x}:{offset:#x}=…"),
        _ => format!("--reg {name}=…"),
    };
    format!("{name} is read before it is written: add {option}")
}

/// The places, among the outputs, of those that go to files.
fn outputs<'a>(lowered: &Lowered, arguments: &'a Arguments) -> Result<Vec<(usize, &'a Path)>, Failure> {
    let mut outputs = Vec::new();
    for text in &arguments.out {
        let (name, path) = split_pair("--out", text)?;
        let found = lowered.outputs.iter().position(|output| output.to_string() == name.to_uppercase());
        let names: Vec<String> = lowered.outputs.iter().map(ToString::to_string).collect();
        let place = found.ok_or_else(|| {
            Failure::Input(format!("--out: the listing does not write `{name}`: it writes {}", names.join(", ")))
        })?;
        outputs.push((place, Path::new(path)));
    }
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
    let mut out = anstream::stdout().lock();
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
