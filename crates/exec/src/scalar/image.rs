//! What one lane computes of an image: which texels a coordinate means, with which weights, and what becomes of a texel's
//! component between the image and a register.
//!
//! Sources: the CUDA C++ Programming Guide, "Texture Fetching" (the weights have 8 bits of fraction), the Vulkan
//! specification, "Image Operations", and the OpenCL C specification, "Image Addressing and Filtering". How a weight is
//! rounded to its 8 bits, and how the sum is, no document says; [`Op::ImageSample`](roundonce_ir::Op::ImageSample) says
//! what is done here.

use super::{Conversion, convert};
use roundonce_arith::{ExactNumber, FiniteNumber, Format, Profile, Rounding, Unpacked, unpack};
use roundonce_functions::{divide, to_integral};
use roundonce_ir::{AddressMode, Sampler, Scalar};

/// Bits of a weight's fraction.
const FRACTION: u32 = 8;
/// Coordinates end here: far outside every image.
const FARTHEST: i64 = 1 << 60;

/// The texels of one axis that a coordinate takes, `None` for the border, and the weight of each in units of 1/256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taps {
    /// The lower first.
    pub(crate) texels: [Option<u32>; 2],
    /// Together 256.
    pub(crate) weights: [u32; 2],
}

/// The texel of an axis of `extent` texels that a number, perhaps outside, means; `None` for the border.
pub(crate) const fn texel_at(mode: AddressMode, normalized: bool, at: i64, extent: u32) -> Option<u32> {
    let last = extent as i64 - 1;
    match mode {
        AddressMode::Border if at < 0 || at > last => None,
        AddressMode::Repeat if normalized => Some(at.rem_euclid(extent as i64) as u32),
        AddressMode::Mirror if normalized => {
            let at = at.rem_euclid(2 * extent as i64);
            Some(if at > last { 2 * extent as i64 - 1 - at } else { at } as u32)
        }
        _ if at < 0 => Some(0),
        _ if at > last => Some(last as u32),
        _ => Some(at as u32),
    }
}

/// ⌊512 u⌋ of a coordinate, an f32. What repeats is brought near the image first.
fn halves_of_256(sampler: Sampler, mode: AddressMode, bits: u64, extent: u32) -> i64 {
    let scale = if sampler.normalized { extent } else { 1 };
    let repeats = sampler.normalized && matches!(mode, AddressMode::Repeat | AddressMode::Mirror);
    match unpack(Format::F32, bits) {
        Unpacked::Nan { .. } | Unpacked::Zero { .. } => 0,
        Unpacked::Infinite { .. } if repeats => 0,
        Unpacked::Infinite { negative } => {
            if negative {
                -FARTHEST
            } else {
                FARTHEST
            }
        }
        Unpacked::Finite(FiniteNumber { negative, quantum, significand }) => {
            if repeats && quantum > 0 {
                // A multiple of 2: as if it were 0.
                return 0;
            }
            // Below 2^57, so that nine bits more fit in 128 bits whatever stays of the exponent.
            let product = i128::from(significand) * i128::from(scale);
            let product = if negative { -product } else { product };
            let shift = quantum + 9;
            let value = match shift {
                0..=60 => product << shift,
                61.. => product.signum() << 126,
                -126..=-1 => product >> -shift,
                _ => product >> 126,
            };
            value.clamp(-i128::from(FARTHEST), i128::from(FARTHEST)) as i64
        }
    }
}

/// The texels that a coordinate along an axis takes. `gather` takes the two of linear filtering whatever the filter is.
pub(crate) fn taps(sampler: Sampler, axis: usize, bits: u64, extent: u32, offset: i32, gather: bool) -> Taps {
    let mode = sampler.address[axis.min(2)];
    let u = halves_of_256(sampler, mode, bits, extent);
    let texel = |at: i64| texel_at(mode, sampler.normalized, at.saturating_add(offset.into()), extent);
    if gather {
        let lower = (u - 256) >> 9;
        return Taps { texels: [texel(lower), texel(lower + 1)], weights: [128; 2] };
    }
    if !sampler.linear {
        return Taps { texels: [texel(u >> 9), None], weights: [1 << FRACTION, 0] };
    }
    // ⌊256 (u − ½) + ½⌋
    let t = (u - 255) >> 1;
    let (lower, alpha) = (t >> FRACTION, (t & 255) as u32);
    Taps { texels: [texel(lower), texel(lower + 1)], weights: [256 - alpha, alpha] }
}

/// The lowest bit of a subnormal f32, normalised.
const LOWEST: i32 = Format::F32.min_quantum() - Format::F32.frac_bits() as i32;

/// A sum of f32 numbers times weights, exact: in units of 2^[`LOWEST`], modulo 2^384.
#[derive(Default)]
struct ExactSum {
    words: [u64; 6],
}

impl ExactSum {
    fn add(&mut self, number: FiniteNumber, weight: u64) {
        // A significand of 24 bits times a weight of 25.
        let product = number.significand * weight;
        let shift = (number.quantum - LOWEST) as u32;
        let (word, bit) = ((shift / 64) as usize, shift % 64);
        let parts = u128::from(product) << bit;
        // A difference adds the complement.
        let flip = if number.negative { u64::MAX } else { 0 };
        let mut carry = u128::from(flip & 1);
        for (place, sum) in self.words.iter_mut().enumerate().skip(word) {
            let part = match place - word {
                0 => parts as u64,
                1 => (parts >> 64) as u64,
                _ => 0,
            };
            let total = u128::from(*sum) + u128::from(part ^ flip) + carry;
            (*sum, carry) = (total as u64, total >> 64);
        }
    }

    /// Times 2^−`fraction`, rounded.
    fn round(mut self, format: Format, fraction: u32) -> Option<u64> {
        let negative = self.words[5] >> 63 == 1;
        if negative {
            let mut carry = true;
            for word in &mut self.words {
                (*word, carry) = (!*word).overflowing_add(carry.into());
            }
        }
        let top = self.words.iter().rposition(|&word| word != 0)?;
        let word = |place: Option<usize>| place.map_or(0, |place| u128::from(self.words[place]));
        let significand = word(Some(top)) << 64 | word(top.checked_sub(1));
        let below = top.saturating_sub(1);
        let sticky = self.words[..below].iter().any(|&word| word != 0);
        let quantum = LOWEST - fraction as i32 + (top as i32 - 1) * 64;
        Some(ExactNumber { negative, quantum, significand, sticky }.round(format, Rounding::NearestEven).bits)
    }
}

/// The sum of f32 values times weights in units of 2^−`fraction`, rounded once to nearest even. A value of weight 0 does
/// not count.
pub(crate) fn weighted_sum(profile: &Profile, to: Format, values: &[(u64, u32)], fraction: u32) -> u64 {
    let mut sum = ExactSum::default();
    let mut infinities = [false; 2];
    let mut zeros = [false; 2];
    for &(bits, weight) in values.iter().filter(|(_, weight)| *weight > 0) {
        match unpack(Format::F32, bits) {
            Unpacked::Nan { .. } => return profile.nan_result(to, None),
            Unpacked::Infinite { negative } => infinities[usize::from(negative)] = true,
            Unpacked::Zero { negative } => zeros[usize::from(negative)] = true,
            Unpacked::Finite(number) => {
                zeros[0] = true;
                sum.add(number, weight.into());
            }
        }
    }
    match infinities {
        [true, true] => profile.nan_result(to, None),
        [true, false] => to.infinity(),
        [false, true] => to.sign_mask() | to.infinity(),
        [false, false] => {
            let zero = if zeros == [false, true] { to.sign_mask() } else { 0 };
            sum.round(to, fraction).unwrap_or(zero)
        }
    }
}

/// The conversions between a texel's component and a register, without a direction but to nearest even.
fn plain(profile: &Profile, from: Scalar, to: Scalar, saturate: bool, bits: u64) -> u64 {
    let how = Conversion { from, to, rounding: Rounding::NearestEven, integral: false, flush: false, saturate };
    let mask = u64::MAX >> (64 - to.bits());
    convert(profile, how, bits) & mask
}

/// The largest number of a normalized integer, which stands for 1.
const fn full_scale(bits: u32, signed: bool) -> u64 {
    let bits = if signed { bits - 1 } else { bits };
    (1 << bits) - 1
}

/// A component as a register has it; `None` where the one is an integer that the other is not, and not normalized
/// either: those have 8 or 16 bits.
pub(crate) fn read_component(profile: &Profile, element: Scalar, to: Scalar, bits: u64) -> Option<u64> {
    match (element, to) {
        (Scalar::Int { bits: 8 | 16, signed }, Scalar::Float(format)) => {
            let value = plain(profile, element, Scalar::Float(Format::F32), false, bits);
            let whole = full_scale(element.bits(), signed);
            let int = Scalar::Int { bits: 32, signed: false };
            let whole = plain(profile, int, Scalar::Float(Format::F32), false, whole);
            let quotient = divide(profile, Format::F32, Rounding::NearestEven, false, value, whole);
            // The lowest integer lies below −1.
            let least = Format::F32.sign_mask() | Format::F32.one();
            let quotient = if quotient > least { least } else { quotient };
            Some(plain(profile, Scalar::Float(Format::F32), Scalar::Float(format), false, quotient))
        }
        (Scalar::Int { signed, .. }, Scalar::Int { bits: width, .. }) => {
            Some(plain(profile, element, Scalar::Int { bits: width, signed }, false, bits))
        }
        (Scalar::Float(_), Scalar::Float(_)) => Some(plain(profile, element, to, false, bits)),
        _ => None,
    }
}

/// A register's value as the component that is written: rounded to nearest even, clamped to what there is.
pub(crate) fn write_component(profile: &Profile, element: Scalar, from: Scalar, bits: u64) -> Option<u64> {
    match (element, from) {
        (Scalar::Int { bits: width @ (8 | 16), signed }, Scalar::Float(_)) => {
            let mask = u64::MAX >> (64 - width);
            let bits = plain(profile, from, Scalar::Float(Format::F32), false, bits);
            let whole = full_scale(width, signed);
            let magnitude = match unpack(Format::F32, bits) {
                Unpacked::Nan { .. } | Unpacked::Zero { .. } => 0,
                Unpacked::Infinite { .. } => whole,
                Unpacked::Finite(FiniteNumber { quantum: 0.., .. }) => whole,
                Unpacked::Finite(FiniteNumber { quantum, significand, .. }) => {
                    let all = to_integral(significand * whole, quantum, false, Rounding::NearestEven);
                    u64::try_from(all).unwrap_or(u64::MAX).min(whole)
                }
            };
            let negative = Format::F32.is_negative(bits);
            Some(match (negative, signed) {
                (true, true) => magnitude.wrapping_neg() & mask,
                (true, false) => 0,
                (false, _) => magnitude,
            })
        }
        // The sign is the image's: SPIR-V's integers may have none.
        (Scalar::Int { signed, .. }, Scalar::Int { bits: width, .. }) => {
            Some(plain(profile, Scalar::Int { bits: width, signed }, element, true, bits))
        }
        (Scalar::Float(_), Scalar::Float(_)) => Some(plain(profile, from, element, false, bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Profile = Profile::NVIDIA;
    const F32: Scalar = Scalar::Float(Format::F32);

    /// Halfway between 1 and its successor, and the least that there is on either side of it.
    #[test]
    fn a_sum_is_rounded_once() {
        let half = [(0x3f80_0000, 1 << 23), (0x3f80_0001, 1 << 23)];
        for (least, expected) in [(0, 0x3f80_0000), (1, 0x3f80_0001), (0x8000_0001, 0x3f80_0000)] {
            let [a, b] = half;
            assert_eq!(weighted_sum(&P, Format::F32, &[a, (least, 1), b], 24), expected, "{least:#x}");
        }
        let odd = [(0x3f80_0001, 1 << 23), (0x3f80_0002, 1 << 23), (0x8000_0001, 1)];
        assert_eq!(weighted_sum(&P, Format::F32, &odd, 24), 0x3f80_0001);
        let largest = [(0x7f7f_ffff, 1 << 24), (0xff7f_ffff, 1 << 24), (3, 1 << 24)];
        assert_eq!(weighted_sum(&P, Format::F32, &largest, 24), 3);
        assert_eq!(weighted_sum(&P, Format::F32, &[(0x8000_0000, 1), (0x8000_0000, 1)], 1), 0x8000_0000);
        assert_eq!(weighted_sum(&P, Format::F32, &[(0x8000_0000, 1), (0, 1)], 1), 0);
        assert_eq!(weighted_sum(&P, Format::F32, &[(0x7f80_0000, 0), (0x3f80_0000, 2)], 1), 0x3f80_0000);
        assert_eq!(weighted_sum(&P, Format::F16, &[(0x3f80_0000, 1), (0x4040_0000, 1)], 1), 0x4000);
    }

    /// Every integer of 8 and 16 bits comes back; the lowest is −1, as the next one is.
    #[test]
    fn normalized_integers_come_back() {
        for (bits, signed) in [(8, false), (8, true), (16, false), (16, true)] {
            let element = Scalar::Int { bits, signed };
            let lowest = 1 << (bits - 1);
            for value in 0..1u64 << bits {
                let read = read_component(&P, element, F32, value).unwrap();
                let expected = if signed && value == lowest { value + 1 } else { value };
                assert_eq!(write_component(&P, element, F32, read), Some(expected), "{element:?} {value:#x} {read:#x}");
            }
        }
        let byte = Scalar::Int { bits: 8, signed: true };
        assert_eq!(read_component(&P, byte, F32, 0x80), Some(0xbf80_0000));
        assert_eq!(read_component(&P, byte, F32, 0x81), Some(0xbf80_0000));
        for (float, expected) in [(0x7f80_0000, 0x7f), (0xff80_0000, 0x81), (0x7fc0_0000, 0), (0x4b80_0000, 0x7f)] {
            assert_eq!(write_component(&P, byte, F32, float), Some(expected), "{float:#x}");
        }
        assert_eq!(read_component(&P, Scalar::Int { bits: 32, signed: true }, F32, 1), None);
    }
}
