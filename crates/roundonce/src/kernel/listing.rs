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
    /// A number for every lane: hexadecimal bits, or a decimal f32.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<LaneValues, String> {
        Ok(LaneValues::Uniform(parse_value(Format::F32, 1, text)?.value.components()[0] as u32))
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

/// The name of a word of a constant bank in [`Lowered::inputs`], from `0x3:0x140`.
pub fn constant_name(text: &str) -> Option<String> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let (bank, offset) = text.split_once(':')?;
    Some(format!("c[{:#x}][{:#x}]", number(bank)?, number(offset)?))
}
