//! What a run left, kept in few bytes: whether a later run leaves the same, and if not, the first instruction that gives
//! something else.

use std::collections::HashSet;

use roundonce_exec::Report;
use roundonce_ir::{Kernel, place_name};
use roundonce_isa::{counted, grouped};
use roundonce_why::{COLUMNS, Line, Role, wrap};
use serde::{Deserialize, Serialize};

/// The version of the form.
const VERSION: u32 = 1;

/// Digests of a run: of what it left in each buffer, and of each instruction's results. It does not hold the data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of this form.
    pub schema: u32,
    /// The kernel.
    pub kernel: String,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// What was left.
    pub buffers: Vec<BufferDigest>,
    /// Whether lines are addresses, as in machine code.
    #[serde(default, skip_serializing_if = "is_false")]
    pub addresses: bool,
    /// In the order of their first results.
    pub instructions: Vec<InstructionDigest>,
}

/// A buffer after a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferDigest {
    /// What it is called.
    pub name: String,
    /// How long it is.
    pub bytes: usize,
    /// 64 bits of its content, in hexadecimal.
    pub digest: String,
}

/// The results of an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InstructionDigest {
    /// Its line.
    pub line: u32,
    /// The line of the source that it was compiled from, where the module says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// As it stands there.
    pub instruction: String,
    /// Whether its results are floats.
    pub is_float: bool,
    /// How many results it had.
    pub results: u64,
    /// 64 bits of the results that threads had at the first time, the second, the third and fourth, the fifth to eighth …
    pub digests: Vec<String>,
}

/// How a run differs from a baseline.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BaselineComparison {
    /// Whether every buffer is the same.
    pub equal: bool,
    /// Bytes of the buffers that were compared.
    pub bytes: usize,
    /// How many buffers were.
    pub buffers: usize,
    /// The buffers that differ, or that one of the two runs does not have.
    pub differing: Vec<String>,
    /// The first instruction whose results the baseline does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_divergent: Option<Divergent>,
    /// The first instruction of the baseline whose results are not among these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_baseline: Option<Divergent>,
}

/// An instruction where two runs part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Divergent {
    /// Its line; of machine code its address.
    pub line: u32,
    /// What that is called.
    #[serde(skip)]
    pub place: String,
    /// The line of the source that it was compiled from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// As it stands there.
    pub instruction: String,
    /// The first and the last time that a thread runs it, counted from 1, between which they part.
    pub times: [u64; 2],
}

impl Baseline {
    /// Of a run whose results were [digested](roundonce_exec::Options::digest_results). `buffers`: the names of the
    /// arguments to compare.
    pub fn of(report: &Report, kernel: &Kernel, sizes: [[u32; 3]; 2], buffers: &[(&str, usize)]) -> Baseline {
        let hex = |digest: u64| format!("0x{digest:016x}");
        let buffer = |&(name, arg): &(&str, usize)| {
            let buffer = report.buffers[arg].as_ref()?;
            Some(BufferDigest { name: name.to_owned(), bytes: buffer.len(), digest: hex(buffer.digest()) })
        };
        let instructions = report.digests.iter().map(|it| {
            let place = &kernel.source_locs[it.loc as usize];
            InstructionDigest {
                line: place.line,
                source: place.source.to_string(),
                instruction: place.text.split_whitespace().collect::<Vec<_>>().join(" "),
                is_float: it.is_float,
                results: it.results,
                digests: it.digests.iter().copied().map(hex).collect(),
            }
        });
        let [grid, block] = sizes;
        Baseline {
            schema: VERSION,
            kernel: kernel.name.clone(),
            grid,
            block,
            buffers: buffers.iter().filter_map(buffer).collect(),
            addresses: kernel.addresses,
            instructions: instructions.collect(),
        }
    }

    /// As JSON, a line for each field.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| format!("is no baseline: {error}"))?;
        if baseline.schema != VERSION {
            return Err(format!("is a baseline of version {}: expected {VERSION}", baseline.schema));
        }
        Ok(baseline)
    }

    /// How a later run differs from this one.
    ///
    /// # Errors
    /// If it was launched otherwise.
    pub fn compare(&self, later: &Baseline) -> Result<BaselineComparison, String> {
        if (self.grid, self.block) != (later.grid, later.block) {
            return Err(format!(
                "was recorded with --grid {} --block {}: this run has {} and {}",
                extent(self.grid),
                extent(self.block),
                extent(later.grid),
                extent(later.block)
            ));
        }
        let is_missing = |buffer: &&BufferDigest, others: &[BufferDigest]| !others.contains(buffer);
        let of_later = later.buffers.iter().filter(|buffer| is_missing(buffer, &self.buffers));
        let of_self = self.buffers.iter().filter(|buffer| is_missing(buffer, &later.buffers));
        let mut differing: Vec<String> = of_later.chain(of_self).map(|buffer| buffer.name.clone()).collect();
        differing.sort();
        differing.dedup();
        let equal = differing.is_empty();
        Ok(BaselineComparison {
            equal,
            bytes: later.buffers.iter().map(|buffer| buffer.bytes).sum(),
            buffers: later.buffers.len(),
            differing,
            first_divergent: later.divergent(self).filter(|_| !equal),
            in_baseline: self.divergent(later).filter(|_| !equal),
        })
    }

    /// The first instruction with results that another run has nowhere: of floats if there is one, at the least time, the
    /// first in the order of the run. Values decide and not texts, so that registers may have other names.
    fn divergent(&self, other: &Baseline) -> Option<Divergent> {
        let windows = |it: &InstructionDigest| it.digests.clone().into_iter().enumerate();
        let known: HashSet<(usize, String)> = other.instructions.iter().flat_map(windows).collect();
        let parts = |it: &InstructionDigest| windows(it).find(|window| !known.contains(window)).map(|(at, _)| at);
        let found = self.instructions.iter().filter_map(|it| Some((!it.is_float, parts(it)?, it)));
        let (_, window, it) = found.min_by_key(|(is_other, window, _)| (*is_other, *window))?;
        let times = if window == 0 { [1, 1] } else { [(1 << (window - 1)) + 1, 1 << window] };
        let place = place_name(self.addresses, it.line);
        Some(Divergent { line: it.line, place, source: it.source.clone(), instruction: it.instruction.clone(), times })
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn extent([x, y, z]: [u32; 3]) -> String {
    format!("{x},{y},{z}")
}

impl Divergent {
    fn text(&self) -> String {
        let source = if self.source.is_empty() { String::new() } else { format!(" ({})", self.source) };
        let times = match self.times {
            [1, 1] => "the first time that a thread runs it".to_owned(),
            [first, last] if first == last => format!("the time number {first} that a thread runs it"),
            [first, last] => format!("between the times number {first} and {last} that a thread runs it"),
        };
        format!("{}{source}  {}, {times}", self.place, self.instruction)
    }
}

impl BaselineComparison {
    /// For a reader.
    pub fn lines(&self) -> Vec<Line> {
        let bytes = counted(self.bytes as u64, "byte").replace(&self.bytes.to_string(), &grouped(self.bytes as u64));
        let buffers = counted(self.buffers as u64, "buffer");
        if self.equal {
            return vec![
                Line::of(Role::Strong, "equal to the baseline").and(Role::Plain, format!(": {buffers}, {bytes}")),
            ];
        }
        let names: Vec<String> = self.differing.iter().map(|name| format!("`{name}`")).collect();
        let head = format!(": {} of {buffers}: {}", names.len(), names.join(", "));
        let mut lines = vec![Line::of(Role::Strong, "different from the baseline").and(Role::Plain, head)];
        let mut say = |label: &str, divergent: &Option<Divergent>| {
            let text = divergent
                .as_ref()
                .map_or("none: every result is one that the other run has".to_owned(), Divergent::text);
            lines.push(Line::of(Role::Label, format!("  {label}")));
            lines.extend(wrap(Role::Plain, &text, 4, COLUMNS));
        };
        say("the first instruction with other results", &self.first_divergent);
        say("the first of the baseline whose results are not there now", &self.in_baseline);
        lines
    }
}
