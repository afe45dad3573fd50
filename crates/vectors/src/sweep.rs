//! Every operand of a space: cut into shards, each evaluated by itself and leaving one small record, so that a sweep can
//! be killed, continued and shared.
//!
//! A folder holds a sweep: `manifest.json` says what is asked, `shards/N.json` is the record of a finished shard, written
//! whole or not at all. Whoever reads the manifest can evaluate any shard, on any machine; the order, the number of
//! workers and a shard evaluated twice change nothing.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use roundonce::Target;
use roundonce::arith::Elements;
use roundonce::array::{Operand, PART, eval_into};
use roundonce::isa::{hex_bits, parse_value};
use roundonce::why::random;
use serde::{Deserialize, Serialize};

use crate::instruction::InstructionUnderTest;
use crate::output;

/// Results of a shard, unless said otherwise: a second or a few.
pub const SHARD: u64 = 1 << 27;
/// What a manifest begins with.
const KIND: &str = "roundonce sweep 1";

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    kind: String,
    /// The instruction.
    pub instruction: String,
    /// An instruction of the same operands that must give the same bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The values of each operand: `all`, `0x0000..0x7fff` (the last included), or values with commas between.
    pub spaces: Vec<String>,
    /// Results in all.
    pub count: u64,
    /// Results of a shard; the last may have fewer.
    pub shard: u64,
}

/// The record of a finished shard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its number, from 0.
    pub shard: u64,
    /// Its results.
    pub count: u64,
    /// The sum of [`Digest`] over them.
    pub digest: Digest,
    /// Results that the second instruction does not give.
    pub mismatches: u64,
    /// The operands of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<String>>,
    /// CRC-32 of the manifest and of the record with an empty check, as one JSON array without spaces: an edited or rotted
    /// record, or one of another sweep, does not fit. It is a check against accidents, not against forgery.
    #[serde(default)]
    check: String,
}

/// What a finished sweep found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Swept {
    /// Results.
    pub count: u64,
    /// Their digest.
    pub digest: Digest,
    /// Where there is a second instruction, results that it does not give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatches: Option<u64>,
    /// The operands of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<String>>,
}

/// A sum over all results, each scrambled with its place: any order and any cut into shards give the same, and one
/// changed result always another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(pub u64);

impl Digest {
    /// Of the result at a place.
    #[inline]
    fn of(place: u64, bits: u64) -> Digest {
        Digest(random::mixed(place.wrapping_mul(random::INCREMENT) ^ bits))
    }
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Digest) -> Digest {
        Digest(self.0.wrapping_add(other.0))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digest = u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)?;
        Ok(Digest(digest))
    }
}

/// The values of one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Axis {
    /// From one to another, both included.
    Range { first: u64, last: u64 },
    /// These.
    Values(Vec<u64>),
}

impl Axis {
    fn parse(tested: &InstructionUnderTest, operand: usize, text: &str) -> Result<Axis, String> {
        let value = |text: &str| {
            let read = roundonce::operand(&tested.instruction, operand, text);
            read.map(|parsed| parsed.value.components()[0]).map_err(|finding| finding.to_string())
        };
        if text == "all" {
            return Ok(Axis::Range { first: 0, last: tested.format(operand).mask() });
        }
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (value(first)?, value(last)?);
            if first > last {
                return Err(format!("operand {}: `{text}` is empty: its bits run backwards", operand + 1));
            }
            return Ok(Axis::Range { first, last });
        }
        Ok(Axis::Values(text.split(',').map(value).collect::<Result<_, _>>()?))
    }
    fn count(&self) -> u128 {
        match self {
            Axis::Range { first, last } => u128::from(last - first) + 1,
            Axis::Values(all) => all.len() as u128,
        }
    }
    fn value(&self, index: u64) -> u64 {
        match self {
            Axis::Range { first, .. } => first + index,
            Axis::Values(all) => all[index as usize],
        }
    }
}

impl Manifest {
    /// A sweep of an instruction over the values of its operands, in shards of so many results.
    ///
    /// # Errors
    /// If a spelling, a space or their number is wrong, there are more than 2^63 results, values are packed, or the second
    /// instruction has other operands.
    pub fn new(instruction: &str, against: Option<&str>, spaces: &[String], shard: u64) -> Result<Manifest, String> {
        let tested =
            InstructionUnderTest::of(instruction, &Target::default()).map_err(|finding| finding.to_string())?;
        let axes = axes(&tested, spaces)?;
        other(&tested, against)?;
        let count = axes.iter().map(Axis::count).try_fold(1, u128::checked_mul).filter(|count| *count <= 1 << 63);
        let count = count.ok_or("the space has more than 2^63 results")? as u64;
        let manifest = Manifest {
            kind: KIND.to_owned(),
            instruction: instruction.to_owned(),
            against: against.map(str::to_owned),
            spaces: spaces.to_vec(),
            count,
            shard: shard.max(1),
        };
        Ok(manifest)
    }

    /// The values that their operand's format has not, which are rounded: the place of each operand, from 0, and the text.
    pub fn rounded(&self) -> Vec<(usize, &str)> {
        let Ok(tested) = InstructionUnderTest::of(&self.instruction, &Target::default()) else { return Vec::new() };
        let mut rounded = Vec::new();
        for (operand, space) in self.spaces.iter().enumerate() {
            let values = space.split_once("..").map_or_else(|| space.split(',').collect(), |(a, b)| vec![a, b]);
            let is_rounded =
                |text: &&str| parse_value(tested.format(operand), 1, text).is_ok_and(|parsed| !parsed.exact);
            rounded.extend(values.into_iter().filter(is_rounded).map(|text| (operand, text)));
        }
        rounded
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.count.div_ceil(self.shard)
    }
}

/// The second instruction.
fn other(tested: &InstructionUnderTest, against: Option<&str>) -> Result<Option<InstructionUnderTest>, String> {
    let Some(spelling) = against else { return Ok(None) };
    let other = InstructionUnderTest::of(spelling, &Target::default()).map_err(|finding| finding.to_string())?;
    let formats = |tested: &InstructionUnderTest| (0..=tested.arity()).map(|at| tested.format(at)).collect::<Vec<_>>();
    if formats(&other) != formats(tested) || other.components() != 1 {
        return Err(format!("`{}` and `{}` have other operands or results", other.spelling, tested.spelling));
    }
    Ok(Some(other))
}

fn axes(tested: &InstructionUnderTest, spaces: &[String]) -> Result<Vec<Axis>, String> {
    if tested.components() > 1 {
        return Err(format!("`{}` has packed operands: sweep its one-component form", tested.spelling));
    }
    if spaces.len() != tested.arity() {
        return Err(format!("`{}` takes {} operands, found {} spaces", tested.spelling, tested.arity(), spaces.len()));
    }
    spaces.iter().enumerate().map(|(operand, text)| Axis::parse(tested, operand, text)).collect()
}

/// A sweep in its folder.
#[derive(Clone, Debug)]
pub struct Sweep {
    folder: PathBuf,
    manifest: Manifest,
    tested: InstructionUnderTest,
    against: Option<InstructionUnderTest>,
    axes: Vec<Axis>,
}

impl Sweep {
    /// Begins a sweep in a folder, or continues the same one there.
    ///
    /// # Errors
    /// If the folder holds another sweep or cannot be written.
    pub fn create(folder: &Path, manifest: &Manifest) -> Result<Sweep, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder.join("shards")).map_err(failed)?;
        let path = folder.join("manifest.json");
        if !path.exists() {
            write_whole(&path, &(serde_json::to_string_pretty(manifest).map_err(|e| e.to_string())? + "\n"))?;
        }
        let sweep = Sweep::open(folder)?;
        if sweep.manifest != *manifest {
            let Manifest { instruction, against, spaces, shard, .. } = &sweep.manifest;
            let against = against.as_ref().map_or(String::new(), |other| format!(" against {other}"));
            let spaces = spaces.join(" ");
            let there = format!("`{instruction} {spaces}`{against} in shards of {shard}");
            return Err(format!("{}: another sweep is there: {there}", path.display()));
        }
        Ok(sweep)
    }

    /// A sweep that a folder holds.
    ///
    /// # Errors
    /// If it holds none, or one that cannot be understood.
    pub fn open(folder: &Path) -> Result<Sweep, String> {
        let path = folder.join("manifest.json");
        let wrong = |problem: String| format!("{}: {problem}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let asked = &manifest;
        let again = Manifest::new(&asked.instruction, asked.against.as_deref(), &asked.spaces, asked.shard);
        if again.map_err(wrong)? != manifest {
            return Err(wrong("it does not describe a sweep of this version".to_owned()));
        }
        let of = |spelling: &String| {
            InstructionUnderTest::of(spelling, &Target::default()).map_err(|finding| wrong(finding.to_string()))
        };
        let tested = of(&manifest.instruction)?;
        let against = other(&tested, manifest.against.as_deref()).map_err(wrong)?;
        let axes = axes(&tested, &manifest.spaces).map_err(wrong)?;
        Ok(Sweep { folder: folder.to_owned(), manifest, tested, against, axes })
    }

    /// What is asked.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The shards that have no record that can be relied on. `refused` is called with what is wrong with each record that is
    /// there all the same.
    pub fn missing(&self, refused: &mut dyn FnMut(String)) -> Vec<u64> {
        let is_missing = |shard: &u64| match self.record(*shard) {
            Ok(_) => false,
            Err(problem) => {
                if self.path(*shard).exists() {
                    refused(problem);
                }
                true
            }
        };
        (0..self.manifest.shards()).filter(is_missing).collect()
    }

    /// Evaluates a shard and leaves its record.
    ///
    /// # Errors
    /// If there is no such shard or the record cannot be written.
    pub fn run(&self, shard: u64) -> Result<Record, String> {
        let mut record = self.evaluate(shard)?;
        record.check = self.check(&record)?;
        let text = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        write_whole(&self.path(shard), &(text + "\n"))?;
        Ok(record)
    }

    /// The whole, once every shard has its record.
    ///
    /// # Errors
    /// Which record is missing or wrong.
    pub fn finish(&self) -> Result<Swept, String> {
        let mismatches = self.against.is_some().then_some(0);
        let mut swept = Swept { count: 0, digest: Digest::default(), mismatches, first: None };
        for shard in 0..self.manifest.shards() {
            let record = self.record(shard)?;
            swept.count += record.count;
            swept.digest = swept.digest.plus(record.digest);
            swept.mismatches = swept.mismatches.map(|all| all + record.mismatches);
            swept.first = swept.first.or(record.first);
        }
        Ok(swept)
    }

    fn path(&self, shard: u64) -> PathBuf {
        self.folder.join("shards").join(format!("{shard}.json"))
    }

    fn record(&self, shard: u64) -> Result<Record, String> {
        let path = self.path(shard);
        let wrong = |problem: String| format!("{}: {problem}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let record: Record = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if record.shard != shard || record.count != self.count(shard) {
            return Err(wrong("it is the record of another shard".to_owned()));
        }
        if record.check.is_empty() {
            return Err(wrong("it has no check, as those of an older version".to_owned()));
        }
        if record.check != self.check(&record)? {
            return Err(wrong("its check does not fit what it says: it was edited or damaged".to_owned()));
        }
        Ok(record)
    }

    /// What the check of a record must be.
    fn check(&self, record: &Record) -> Result<String, String> {
        let unchecked = Record { check: String::new(), ..record.clone() };
        let text = serde_json::to_string(&(&self.manifest, unchecked)).map_err(|error| error.to_string())?;
        Ok(format!("{:08x}", crc32fast::hash(text.as_bytes())))
    }

    /// Results of a shard.
    fn count(&self, shard: u64) -> u64 {
        self.manifest.shard.min(self.manifest.count - shard * self.manifest.shard)
    }

    /// A shard's record, its check yet to be made.
    fn evaluate(&self, shard: u64) -> Result<Record, String> {
        if shard >= self.manifest.shards() {
            return Err(format!("there is no shard {shard}: there are {}", self.manifest.shards()));
        }
        let start = shard * self.manifest.shard;
        let end = start + self.count(shard);
        let (count, digest, check) = (end - start, Digest::default(), String::new());
        let mut record = Record { shard, count, digest, mismatches: 0, first: None, check };
        let elements = |tested: &InstructionUnderTest, at| Elements::of(tested.format(at));
        let arity = self.tested.arity();
        let mut columns: Vec<Elements> = (0..arity).map(|at| elements(&self.tested, at)).collect();
        let (mut results, mut others) = (elements(&self.tested, arity), elements(&self.tested, arity));
        let mut from = start;
        while from < end {
            let count = (end - from).min(PART as u64) as usize;
            self.operands(from, count, &mut columns);
            let evaluate = |tested: &InstructionUnderTest, out: &mut Elements| {
                let operands: Vec<_> = columns.iter().map(Operand::from).collect();
                out.resize(count);
                eval_into(&tested.instruction, &tested.profile, &operands, out.into())
            };
            evaluate(&self.tested, &mut results).map_err(|finding| finding.to_string())?;
            record.digest = record.digest.plus(digest_of(&results, from));
            if let Some(other) = &self.against {
                evaluate(other, &mut others).map_err(|finding| finding.to_string())?;
                for at in (0..count).filter(|_| results != others) {
                    if results.get(at) != others.get(at) {
                        record.mismatches += 1;
                        let values = columns.iter().enumerate();
                        let hex = |(operand, column): (usize, &Elements)| {
                            hex_bits(self.tested.format(operand).width(), column.get(at))
                        };
                        record.first.get_or_insert_with(|| values.map(hex).collect());
                    }
                }
            }
            from += count as u64;
        }
        Ok(record)
    }

    /// The operands of so many results from one on; the last operand runs fastest.
    fn operands(&self, from: u64, count: usize, columns: &mut [Elements]) {
        let mut stride = 1;
        for (axis, column) in self.axes.iter().zip(columns).rev() {
            column.clear();
            let values = axis.count() as u64;
            // Where in the axis, and how often its value comes yet.
            let (mut index, mut left) = (from / stride % values, stride - from % stride);
            while column.len() < count {
                let run = left.min((count - column.len()) as u64) as usize;
                column.push_repeated(axis.value(index), run);
                index = if index + 1 == values { 0 } else { index + 1 };
                left = stride;
            }
            // Of the slowest axis there is nothing after: it may be as long as the whole.
            stride = stride.saturating_mul(values);
        }
    }
}

/// The digest of results that begin at a place.
fn digest_of(results: &Elements, first: u64) -> Digest {
    let (mut digest, mut place) = (Digest::default(), first);
    results.for_each(|bits| {
        digest = digest.plus(Digest::of(place, bits));
        place += 1;
    });
    digest
}

fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    output::write(path, text.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))
}
