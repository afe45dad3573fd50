//! Casts to integers: their types, and what a number becomes that a type does not hold.

use std::fmt;

use roundonce_arith::{ExactNumber, Format, Profile, Rounding};
use roundonce_deviate::NarrowBy;
use roundonce_functions::{as_integer, nan_as_integer};

use crate::call::whole_by;
use crate::evaluation_text::Delivered;

/// The format that has the integers: f64 holds those of 32 bits. Of those of 64 bits casts give what f64 holds, and the
/// greatest one, which it does not, as the next power of two.
pub(crate) const HELD_IN: Format = Format::F64;

/// A type of integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerType {
    /// How many bits it has.
    pub bits: u32,
    /// Whether it has negative numbers.
    pub is_signed: bool,
}

/// What gives the integer of a number that the type does not hold. No language's document says it of all its machines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutOfRange {
    /// The nearest integer of the type, as GPUs, AArch64 and Rust have it; of a NaN what PTX says.
    Clamped,
    /// x86's conversions.
    X86,
    /// Itself: the type has no limit, as Python's `int`.
    Kept,
}

/// A cast to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerCast {
    /// The type.
    pub to: IntegerType,
    /// How a fraction is rounded.
    pub by: NarrowBy,
    /// What is out of range.
    pub out_of_range: OutOfRange,
    /// Whether its name is also that of a type without limits.
    pub may_be_unlimited: bool,
}

impl IntegerType {
    const fn least(self) -> i128 {
        if self.is_signed { -1 << (self.bits - 1) } else { 0 }
    }

    const fn greatest(self) -> i128 {
        if self.is_signed { !self.least() } else { (1 << self.bits) - 1 }
    }

    fn holds(self, value: i128) -> bool {
        (self.least()..=self.greatest()).contains(&value)
    }

    /// The integer of the type that has the low bits of another one.
    const fn of_low_bits(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits) - 1);
        if low > self.greatest() { low - (1 << self.bits) } else { low }
    }

    /// Its name: `int32`, `uint8`.
    pub const fn name(self) -> &'static str {
        match (self.bits, self.is_signed) {
            (8, true) => "int8",
            (8, false) => "uint8",
            (16, true) => "int16",
            (16, false) => "uint16",
            (32, true) => "int32",
            (32, false) => "uint32",
            (_, true) => "int64",
            (_, false) => "uint64",
        }
    }

    /// C's name of it.
    pub const fn c_name(self) -> &'static str {
        match (self.bits, self.is_signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (_, true) => "long long",
            (_, false) => "unsigned long long",
        }
    }

    /// PTX's name of it.
    pub(crate) fn ptx(self) -> String {
        format!("{}{}", if self.is_signed { "s" } else { "u" }, self.bits)
    }

    /// The integer that bits of [`HELD_IN`] stand for.
    fn value(self, bits: u64) -> Option<i128> {
        let value = as_integer(HELD_IN, bits, Rounding::TowardZero)?;
        // Of the greatest ones the next power of two stands for the greatest.
        Some(if self.bits == 64 && value == self.greatest() + 1 { self.greatest() } else { value })
    }

    /// The bits and the digits of an integer; those of the number where the type does not hold it.
    pub(crate) fn texts(self, bits: u64) -> Option<[String; 2]> {
        let value = self.value(bits).filter(|value| self.holds(*value))?;
        let mask = (1i128 << self.bits) - 1;
        Some([format!("{:#0width$x}", value & mask, width = self.bits as usize / 4 + 2), value.to_string()])
    }
}

impl IntegerCast {
    /// A cast as it is written.
    pub(crate) const fn written(to: IntegerType, by: NarrowBy) -> IntegerCast {
        IntegerCast { to, by, out_of_range: OutOfRange::Clamped, may_be_unlimited: false }
    }

    /// The integer of a whole number, or of a NaN, as bits of [`HELD_IN`], and whether it is another one than the number.
    pub(crate) fn of_whole(self, format: Format, bits: u64) -> (u64, bool) {
        let to = self.to;
        let number = as_integer(format, bits, Rounding::TowardZero);
        let of_nan = || to.of_low_bits(nan_as_integer(format, to.bits).into());
        let value = match self.out_of_range {
            // Beyond 2^64 the integer is not looked at.
            OutOfRange::Kept => {
                let kept = roundonce_isa::convert(format, HELD_IN, Rounding::NearestEven, bits).0;
                return (if HELD_IN.is_zero(kept) { 0 } else { kept }, false);
            }
            OutOfRange::Clamped => number.map_or_else(of_nan, |value| value.clamp(to.least(), to.greatest())),
            OutOfRange::X86 => to.on_x86(number),
        };
        let held = ExactNumber { negative: value < 0, quantum: 0, significand: value.unsigned_abs(), sticky: false };
        (held.round(HELD_IN, Rounding::NearestEven).bits, number != Some(value))
    }

    /// What became of a number, of [`HELD_IN`]'s bits; absent for a NaN.
    pub(crate) fn delivered(self, profile: &Profile, bits: u64, inexact: bool) -> Option<Delivered> {
        let (_, is_other) = self.of_whole(HELD_IN, whole_by(profile, HELD_IN, self.by, bits));
        match (is_other, self.out_of_range) {
            _ if HELD_IN.is_nan(bits) => None,
            (true, OutOfRange::Clamped) => Some(Delivered::Clamped),
            (true, _) => Some(Delivered::OutOfRange),
            _ => Some(if inexact { Delivered::Rounded } else { Delivered::Exact }),
        }
    }

    /// The direction as PTX has it: `rzi`; of ties away from zero, which it lacks, `rnai`.
    pub(crate) fn direction(self) -> String {
        format!("{}i", self.by.name())
    }
}

impl IntegerType {
    /// What x86's instructions give: those to 32 and 64 signed bits exist, and give the least integer where they fail.
    /// The other types are made of them.
    ///
    /// Source: Intel SDM, volume 2, CVTTSS2SI ("the indefinite integer value"); the narrower and the unsigned types as
    /// GCC and Clang compile casts to them, of 64 unsigned bits as GCC does.
    fn on_x86(self, value: Option<i128>) -> i128 {
        let converted = |bits: u32, value: Option<i128>| {
            let to = IntegerType { bits, is_signed: true };
            value.filter(|value| to.holds(*value)).unwrap_or(to.least())
        };
        let half = 1i128 << 63;
        match (self.bits, self.is_signed, value) {
            (64, false, Some(large)) if large >= half => self.of_low_bits(converted(64, Some(large - half)) ^ half),
            (32, false, _) | (64, ..) => self.of_low_bits(converted(64, value)),
            _ => self.of_low_bits(converted(32, value)),
        }
    }
}

/// As expressions have it: `int32(x)`, and with the direction where it does not cut.
impl fmt::Display for IntegerCast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to.name())?;
        if self.by != NarrowBy::Direction(Rounding::TowardZero) {
            write!(f, "_{}", self.by.name())?;
        }
        f.write_str(match self.out_of_range {
            OutOfRange::Clamped => "",
            OutOfRange::X86 => "_x86",
            OutOfRange::Kept => "_unlimited",
        })
    }
}
