//! Results of hardware that others published: `vectors/hw/hardware.tsv`, held by `crates/roundonce/tests/hardware.rs`.

use std::collections::BTreeMap;

use roundonce::arith::Machine;
use roundonce::isa::grouped;

use crate::records;

/// Where they are.
const FILE: &str = "vectors/hw/hardware.tsv";
/// Results in `vectors/hw/h100-fma-ftz.tsv.gz`, of each of two instructions.
const PROBED: u64 = 262_144;

/// What of a row the page counts: its machine, its source and the strength of that.
#[derive(Debug)]
pub(crate) struct Row {
    machine: String,
    source: String,
    strength: String,
}

/// The rows.
///
/// # Errors
/// If the file cannot be read, or a row has another number of fields.
pub(crate) fn rows() -> Result<Vec<Row>, String> {
    let text = records::read(FILE)?;
    let row = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [_, machine, _, _, source, strength] => {
            Ok(Row { machine: machine.to_owned(), source: source.to_owned(), strength: strength.to_owned() })
        }
        _ => Err(format!("{FILE}: `{line}` has not six fields")),
    };
    text.lines().skip(1).map(row).collect()
}

/// The section of the page.
pub(crate) fn section(rows: &[Row]) -> String {
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for row in rows {
        *counts.entry((&row.machine, &row.source, &row.strength)).or_default() += 1;
    }
    let mut text = format!(
        "\n## Hardware\n\n\
         Results of machines that others published, none of our own: {} rows of `{FILE}`, each with its machine, its\n\
         source (repository and path) and how strong it is, and all {} results of an H100 for `fma.rn.f32` and\n\
         `fma.rn.ftz.f32`, recomputed: the log has their hash. Every row agrees, under its machine's profile; so do the hashes\n\
         of the same probe on an MI300X and on an Apple M4. Three rows are a model's claim. Command: `cargo test -p roundonce --test hardware`.\n\n\
         | machine | rows | source | strength |\n|---|---:|---|---|\n",
        grouped(rows.len() as u64),
        grouped(PROBED)
    );
    for ((machine, source, strength), count) in counts {
        let title = Machine::named(machine).map_or("", |machine| machine.title);
        text.push_str(&format!("| {machine} ({title}) | {} | {source} | {strength} |\n", grouped(count)));
    }
    text
}
