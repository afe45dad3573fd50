//! A SASS listing over its lanes: what it is launched with.

use std::collections::BTreeMap;

use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer};
use roundonce_isa::parse_value;

use crate::sass::{Lowered, Name};

/// What a listing of SASS finds in a name: one value for every lane, or one for each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneValues {
    /// For every lane.
    Uniform(u32),
    /// One a lane.
    PerLane(Vec<u32>),
}

impl LaneValues {
    /// A number for every lane: hexadecimal bits, or a decimal f32; of a predicate and the condition codes an integer.
    ///
    /// # Errors
    /// If it is none, or more than `name` holds.
    pub fn parse(name: Name, text: &str) -> Result<LaneValues, String> {
        let value = match (largest(name), whole(text)) {
            (u32::MAX, _) => parse_value(Format::F32, 1, text)?.value.components()[0] as u32,
            (_, Some(value)) => value,
            (largest, None) => return Err(format!("`{text}` is not a number of 0 to {largest}")),
        };
        LaneValues::Uniform(value).checked(name)
    }

    /// Little-endian words, one a lane.
    ///
    /// # Errors
    /// If they are no whole words, or one is more than `name` holds.
    pub fn of_bytes(name: Name, bytes: &[u8]) -> Result<LaneValues, String> {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("a register takes elements of 4 bytes".to_owned());
        }
        LaneValues::PerLane(words.iter().map(|word| u32::from_le_bytes(*word)).collect()).checked(name)
    }

    /// The same, where `name` holds numbers as large.
    ///
    /// # Errors
    /// Which is too large.
    pub fn checked(self, name: Name) -> Result<LaneValues, String> {
        let largest = largest(name);
        let words = match &self {
            LaneValues::Uniform(word) => core::slice::from_ref(word),
            LaneValues::PerLane(words) => words,
        };
        match words.iter().find(|word| **word > largest) {
            Some(word) => Err(format!("{name} holds 0 to {largest}, found {word:#x}")),
            None => Ok(self),
        }
    }
}

/// The largest number that fits.
const fn largest(name: Name) -> u32 {
    match name {
        Name::Predicate(_) => 1,
        Name::ConditionCodes => 3,
        Name::Register(_) | Name::Constant { .. } => u32::MAX,
    }
}

/// Threads of a block of a listing; a lane's number is its thread's through the grid.
const LISTING_BLOCK: u32 = 256;

/// How a listing is launched over its lanes.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// How many: as many as the arrays have elements; one without arrays.
    pub count: usize,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// The arguments.
    pub args: Vec<Arg>,
}

impl Lanes {
    /// Whether a grid of such blocks has a thread for each lane, where one is asked for.
    ///
    /// # Errors
    /// If it has more or fewer.
    pub fn fit(&self, grid: [u32; 3], block: Option<[u32; 3]>) -> Result<(), String> {
        let threads =
            grid.iter().chain(block.iter().flatten()).fold(1u64, |all, &axis| all.saturating_mul(axis.into()));
        if (grid, block) == ([1; 3], None) || threads == self.count as u64 {
            return Ok(());
        }
        Err(format!("a grid of {threads} threads: the listing's registers have elements for {}", self.count))
    }
}

/// The launch of a SASS listing: what it reads before it writes it comes from `given`, by the names that it has in
/// [`Lowered::inputs`]; a name that is not read is ignored.
///
/// # Errors
/// If arrays have different lengths; `missing` says what to tell about a name that has no value.
pub fn lanes(
    lowered: &Lowered,
    given: &BTreeMap<String, LaneValues>,
    missing: impl Fn(&Name) -> String,
) -> Result<Lanes, String> {
    let mut lengths = given.iter().filter_map(|(name, value)| match value {
        LaneValues::PerLane(words) => Some((name, words.len())),
        LaneValues::Uniform(_) => None,
    });
    let count = match lengths.next() {
        None => 1,
        Some((first, count)) => {
            if let Some((other, length)) = lengths.find(|(_, length)| *length != count) {
                return Err(format!("{first} has {count} lanes, {other} has {length}"));
            }
            if count == 0 || count > u32::MAX as usize {
                return Err(format!("{first} has {count} lanes: expected 1 to {}", u32::MAX));
            }
            count
        }
    };
    let mut args = vec![Arg::Scalar(count as u64)];
    for name in &lowered.inputs {
        let words = match given.get(&name.to_string()) {
            Some(LaneValues::Uniform(bits)) => vec![*bits; count],
            Some(LaneValues::PerLane(words)) => words.clone(),
            None => return Err(missing(name)),
        };
        args.push(Arg::Buffer(Buffer::from_words(words)));
    }
    args.extend(lowered.outputs.iter().map(|_| Arg::Buffer(Buffer::zeros(count * 4))));
    let grid = [(count as u32).div_ceil(LISTING_BLOCK), 1, 1];
    Ok(Lanes { count, grid, block: [LISTING_BLOCK.min(count as u32), 1, 1], args })
}

/// A whole number, decimal or hexadecimal.
fn whole(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A word of a constant bank, from `0x3:0x140` or `c[0x3][0x140]`.
pub fn constant_name(text: &str) -> Option<Name> {
    let inside = text.strip_prefix("c[").and_then(|text| text.strip_suffix(']'));
    let (bank, offset) = inside.map_or_else(|| text.split_once(':'), |text| text.split_once("]["))?;
    Some(Name::Constant { bank: whole(bank)?.try_into().ok()?, offset: whole(offset)?.try_into().ok()? })
}

/// A register, a predicate or the condition codes, from `R1`, `P0` or `CC` in letters of any case. R255 and P7 are RZ and PT,
/// which hold nothing.
pub fn register_name(text: &str) -> Option<Name> {
    let text = text.to_ascii_uppercase();
    let number = |text: &str| text.parse::<u8>().ok().filter(|number| number.to_string() == text);
    match text.strip_prefix(['R', 'P']).and_then(number) {
        Some(number @ 0..=254) if text.starts_with('R') => Some(Name::Register(number)),
        Some(number @ 0..=6) if text.starts_with('P') => Some(Name::Predicate(number)),
        _ => (text == "CC").then_some(Name::ConditionCodes),
    }
}
