//! Every result that an OpFmaKHR may have under the modes that a module declares.
//!
//! The document leaves to the implementation, where no execution mode says it: which neighbour of the exact value is
//! taken, whether subnormal operands and results become zero, the sign of such a zero, whether "subnormal" is asked of
//! the exact or of the rounded value, the sign of every zero, what an infinity or a NaN is. Each combination of
//! choices gives one result; the set is their union.

use std::fmt;

use roundonce_arith::{Format, Operation, Profile, Rounding};

use crate::modes::{Denorm, FloatModes};

/// A legal result, or a range of them, and the choice that gives it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The lowest bits.
    pub first: u64,
    /// The highest bits.
    pub last: u64,
    /// What an implementation chose to get there; the simplest where there are several.
    pub choice: Choice,
}

/// What an implementation chose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choice {
    /// Infinities, NaNs and zero signs need not be kept.
    pub special: Special,
    /// Operands that were flushed to zero, one bit each: Operand 1 is bit 0.
    pub flushed: u8,
    /// The sign of a flushed operand's zero was changed.
    pub zero_sign: bool,
    /// The direction of the one rounding.
    pub rounding: Rounding,
    /// The result was flushed, and why it counted as subnormal.
    pub result: ResultFlush,
}

/// Whether the result was flushed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ResultFlush {
    /// It is as rounded.
    Kept,
    /// The rounded result is subnormal.
    AfterRounding,
    /// The exact value is below the smallest normal number, whatever it rounds to.
    BeforeRounding,
}

/// What was done to infinities, NaNs and zero signs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    /// IEEE 754's result.
    Kept,
    /// A NaN of other bits: every NaN is legal.
    AnyNan,
    /// The other zero.
    ZeroSign,
    /// Infinities and NaNs were assumed not to be: anything is legal.
    Anything,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.special {
            Special::Anything => {
                return f.write_str("an infinity or a NaN takes part and need not be kept: any result");
            }
            Special::AnyNan => return f.write_str("a NaN: any bits of one"),
            Special::Kept | Special::ZeroSign => {}
        }
        let direction = match self.rounding {
            Rounding::NearestEven => "rounded to nearest even",
            Rounding::TowardZero => "rounded toward zero",
            Rounding::Down => "the neighbour below",
            Rounding::Up => "the neighbour above",
        };
        f.write_str(direction)?;
        let flushed: Vec<String> =
            (0..3).filter(|at| self.flushed >> at & 1 == 1).map(|at| format!("Operand {}", at + 1)).collect();
        if !flushed.is_empty() {
            write!(f, ", {} flushed to zero", flushed.join(" and "))?;
        }
        match self.result {
            ResultFlush::Kept => {}
            ResultFlush::AfterRounding => f.write_str(", a subnormal result flushed to zero")?,
            ResultFlush::BeforeRounding => f.write_str(", a result subnormal before rounding flushed to zero")?,
        }
        if self.zero_sign {
            f.write_str(" of the other sign")?;
        }
        if self.special == Special::ZeroSign {
            f.write_str(", the zero's sign changed")?;
        }
        Ok(())
    }
}

/// The legal results of one component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedSet {
    format: Format,
    ranges: Vec<Range>,
}

impl AllowedSet {
    /// Ranges of bits, from the lowest; no two overlap.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }
    /// The choice that explains a captured result; `None` if no legal implementation gives it.
    pub fn explain(&self, bits: u64) -> Option<Choice> {
        let bits = bits & self.format.mask();
        let at = self.ranges.partition_point(|range| range.last < bits);
        self.ranges.get(at).filter(|range| range.first <= bits).map(|range| range.choice)
    }
    /// Whether a captured result is legal.
    pub fn contains(&self, bits: u64) -> bool {
        self.explain(bits).is_some()
    }
    /// The only legal result, if there is one.
    pub fn determined(&self) -> Option<u64> {
        match self.ranges.as_slice() {
            [only] if only.first == only.last => Some(only.first),
            _ => None,
        }
    }
}

const SIMPLEST: Choice = Choice {
    special: Special::Kept,
    flushed: 0,
    zero_sign: false,
    result: ResultFlush::Kept,
    rounding: Rounding::NearestEven,
};

/// Every legal result of Operand 1 × Operand 2 + Operand 3 under the modes declared for the format's width.
///
/// Source: SPV_KHR_fma, OpFmaKHR; SPV_KHR_float_controls; Vulkan, Precision and Operation of SPIR-V Instructions.
///
/// ```
/// use roundonce_arith::Format;
/// use roundonce_spirv::{FloatModes, allowed};
/// // 1 + 2^-23 squared, minus 1 + 2^-22: exactly 2^-46, whatever is left open.
/// let set = allowed(Format::F32, FloatModes::default(), [0x3f80_0001, 0x3f80_0001, 0xbf80_0002]);
/// assert_eq!(set.determined(), Some(0x2880_0000));
/// // 1/3-like values are rounded: either neighbour is legal.
/// let set = allowed(Format::F32, FloatModes::default(), [0x3eaa_aaab, 0x3eaa_aaab, 0x3f80_0000]);
/// assert!(set.contains(0x3f8e_38e4) && set.contains(0x3f8e_38e3) && !set.contains(0x3f8e_38e5));
/// ```
pub fn allowed(format: Format, modes: FloatModes, operands: [u64; 3]) -> AllowedSet {
    let operands = operands.map(|bits| bits & format.mask());
    let mut found: Vec<(u64, Choice)> = Vec::new();
    let mut any_nan = None;
    let mut anything = false;
    let subnormal: u8 = (0..3).map(|at| u8::from(format.is_subnormal(operands[at])) << at).sum();
    // Operands that must, and that may, be flushed.
    let (must, may) = match modes.denorm {
        Some(Denorm::Preserve) => (0, 0),
        Some(Denorm::FlushToZero) if !modes.may_keep_operands => (subnormal, subnormal),
        Some(Denorm::FlushToZero) => (0, subnormal),
        None => (0, subnormal),
    };
    let directions: &[Rounding] = match modes.rounding {
        Some(Rounding::TowardZero) => &[Rounding::TowardZero],
        Some(_) => &[Rounding::NearestEven],
        None if modes.nearest_or_zero => &[Rounding::NearestEven, Rounding::TowardZero],
        None => &[Rounding::NearestEven, Rounding::Down, Rounding::Up],
    };
    for flushed in (0..8u8).filter(|flushed| flushed & !may == 0 && flushed & must == must) {
        // Where zero signs count, a flushed operand's zero may have either.
        for signs in (0..8u8).filter(|signs| signs & !flushed == 0) {
            let given = std::array::from_fn(|at| {
                let keep = if flushed >> at & 1 == 1 { operands[at] & format.sign_mask() } else { operands[at] };
                keep ^ if signs >> at & 1 == 1 { format.sign_mask() } else { 0 }
            });
            // Where the direction is open, so is the sign of an exact zero sum, as the conformance suite has it: toward
            // negative infinity it is −0.
            for &rounding in directions {
                let choice = Choice { flushed, zero_sign: signs != 0, rounding, ..SIMPLEST };
                one(
                    format,
                    modes,
                    given,
                    choice,
                    &mut |bits, choice| found.push((bits, choice)),
                    &mut any_nan,
                    &mut anything,
                );
            }
        }
    }
    if anything && !modes.preserve_special {
        let choice = Choice { special: Special::Anything, ..SIMPLEST };
        return AllowedSet { format, ranges: vec![Range { first: 0, last: format.mask(), choice }] };
    }
    if let Some(choice) = any_nan {
        let sign = format.sign_mask();
        let nans = [(format.infinity() + 1, sign - 1), ((sign | format.infinity()) + 1, format.mask())];
        return set(format, found, nans.map(|(first, last)| Range { first, last, choice }).to_vec());
    }
    set(format, found, Vec::new())
}

/// The results of one choice for operands and rounding: kept, flushed, the zero's other sign, any NaN.
fn one(
    format: Format,
    modes: FloatModes,
    operands: [u64; 3],
    choice: Choice,
    give: &mut impl FnMut(u64, Choice),
    any_nan: &mut Option<Choice>,
    anything: &mut bool,
) {
    let sign = format.sign_mask();
    let operation = Operation::mul_add(format, choice.rounding);
    let bits = operation.evaluate(&Profile::NVIDIA, &operands).bits;
    let special = |bits| format.is_nan(bits) || format.is_infinite(bits);
    *anything |= special(bits) || operands.into_iter().any(special);
    if format.is_nan(bits) {
        any_nan.get_or_insert(Choice { special: Special::AnyNan, ..choice });
        return;
    }
    let mut zero = |bits: u64, choice: Choice| {
        give(bits, choice);
        if !modes.preserve_special {
            give(bits ^ sign, Choice { special: Special::ZeroSign, ..choice });
        }
    };
    if format.is_zero(bits) {
        zero(bits, choice);
    } else if modes.denorm != Some(Denorm::FlushToZero) || !format.is_subnormal(bits) {
        give(bits, choice);
    }
    if modes.denorm == Some(Denorm::Preserve) || format.is_zero(bits) && exact_zero(format, operands) {
        return;
    }
    // A flushed result is a zero of either sign.
    let mut flush = |choice| {
        give(bits & sign, choice);
        give(bits & sign ^ sign, Choice { zero_sign: true, ..choice });
    };
    if format.is_subnormal(bits) {
        flush(Choice { result: ResultFlush::AfterRounding, ..choice });
    }
    if tiny_before_rounding(format, operands) {
        flush(Choice { result: ResultFlush::BeforeRounding, ..choice });
    }
}

/// Whether the exact value is zero.
fn exact_zero(format: Format, operands: [u64; 3]) -> bool {
    [Rounding::Down, Rounding::Up]
        .into_iter()
        .all(|rounding| format.is_zero(Operation::mul_add(format, rounding).evaluate(&Profile::NVIDIA, &operands).bits))
}

/// Whether the exact value is not zero and below the smallest normal number: so is what it is rounded to toward zero.
fn tiny_before_rounding(format: Format, operands: [u64; 3]) -> bool {
    let toward_zero = Operation::mul_add(format, Rounding::TowardZero).evaluate(&Profile::NVIDIA, &operands).bits;
    (format.is_subnormal(toward_zero) || format.is_zero(toward_zero)) && !exact_zero(format, operands)
}

/// Sorted and joined, with the simplest choice for each.
fn set(format: Format, mut found: Vec<(u64, Choice)>, extra: Vec<Range>) -> AllowedSet {
    found.sort_unstable();
    found.dedup_by_key(|(bits, _)| *bits);
    let mut ranges: Vec<Range> =
        found.into_iter().map(|(bits, choice)| Range { first: bits, last: bits, choice }).chain(extra).collect();
    ranges.sort_unstable_by_key(|range| range.first);
    AllowedSet { format, ranges }
}
