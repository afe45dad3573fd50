//! Steps of sixteen elements at once, as arrays that the compiler makes vectors of. Only numbers pass here: an element with a
//! NaN or an infinity, or that overflows, is computed alone.
#![allow(unsafe_code)] // Calls of functions that are compiled for vector instructions, behind a check of the processor.

use super::Dot;
use crate::batch::Level;
use crate::{AddendCut, Element, Format, Profile, Rounding, ZeroExponent, ZeroSum};

/// Elements at once.
pub(super) const LANES: usize = 16;

/// The exponent of a zero: below every floor, also as a sum of two.
const ZERO: i16 = -8192;

/// One element of each of sixteen rows or columns: ±significand × 2^exponent.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    significand: [i32; LANES],
    exponent: [i16; LANES],
}

/// How elements of a format are packed.
#[derive(Clone, Copy)]
pub(super) struct Decoder {
    /// Bits of a register below the element.
    below: u32,
    fraction: u32,
    sign: u32,
    bias: i32,
    /// The smallest magnitude that is no number.
    special: u32,
    /// Left shift of the significand.
    left: u32,
}

impl Decoder {
    fn of(element: Element, left: i32) -> Decoder {
        let fields = element.fields();
        let largest = element.largest_finite() as u32;
        Decoder {
            below: element.stride() - element.width().max(element.stride().min(8)),
            fraction: fields.frac_bits(),
            sign: fields.width() - 1,
            bias: fields.bias(),
            special: largest + 1,
            left: left as u32,
        }
    }

    /// Elements taken apart: significands, exponents, and whether each is a number.
    #[inline(always)]
    fn decoded<const N: usize>(&self, bits: [u32; N]) -> ([i32; N], [i32; N], [bool; N]) {
        let magnitude = bits.map(|bits| bits >> self.below & ((1 << self.sign) - 1));
        let significand = core::array::from_fn(|at| {
            let hidden = u32::from(magnitude[at] >> self.fraction != 0) << self.fraction;
            let significand = (magnitude[at] & ((1 << self.fraction) - 1) | hidden) << self.left;
            let sign = -((bits[at] >> self.below >> self.sign & 1) as i32);
            (significand as i32 ^ sign) - sign
        });
        let exponent = magnitude.map(|magnitude| match magnitude {
            0 => ZERO.into(),
            _ => (magnitude >> self.fraction).max(1) as i32 - self.bias,
        });
        (significand, exponent, magnitude.map(|magnitude| magnitude < self.special))
    }
}

/// What a step does, and how the elements are packed for it.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Of a, each significand on the grid of its product's exponent.
    pub(super) a: Decoder,
    pub(super) b: Decoder,
    accumulator: Format,
    block: usize,
    to_nearest: bool,
    /// Bits below the largest exponent.
    kept: i32,
    floor: i32,
    fraction: i32,
}

impl Plan {
    /// The plan of an operation, if its steps can be computed so: no scales, numbers of at most 32 bits, and the default reading
    /// of what is open.
    pub(super) fn of(dot: &Dot, profile: &Profile) -> Option<Plan> {
        let kept = dot.kept? as i32;
        let left = kept - (dot.a.fields().frac_bits() + dot.b.fields().frac_bits()) as i32;
        let is_default = profile.dot_zero == ZeroExponent::Floor
            && profile.dot_zero_sign == ZeroSum::Positive
            && profile.dot_addend == AddendCut::AsProducts;
        let fits = dot.scale.is_none() && (0..=21).contains(&left) && kept <= 25 && [4, 8, 16, 32].contains(&dot.block);
        (is_default && fits).then_some(Plan {
            a: Decoder::of(dot.a, left),
            b: Decoder::of(dot.b, 0),
            accumulator: dot.accumulator,
            block: dot.block as usize,
            to_nearest: dot.rounding == Rounding::NearestEven,
            kept,
            floor: dot.floor,
            fraction: dot.fraction as i32,
        })
    }
}

impl Packed {
    pub(super) const ZERO: Packed = Packed { significand: [0; LANES], exponent: [ZERO; LANES] };

    /// One lane, as a [`Row`] has it.
    pub(super) fn lane(&self, lane: usize) -> (i32, i32) {
        (self.significand[lane], self.exponent[lane].into())
    }
}

/// Packs vectors of which `elements` gives sixteen of one place; the lanes of which all are numbers.
pub(super) fn pack(
    level: Level,
    decoder: &Decoder,
    to: &mut [Packed],
    elements: impl Fn(usize) -> [u32; LANES],
) -> u16 {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is available only where the processor has these features.
        Level::Avx512 => unsafe { pack_with_avx512(decoder, to, elements) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { pack_with_avx2(decoder, to, elements) },
        _ => pack_all(decoder, to, elements),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn pack_with_avx512(decoder: &Decoder, to: &mut [Packed], elements: impl Fn(usize) -> [u32; LANES]) -> u16 {
    pack_all(decoder, to, elements)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pack_with_avx2(decoder: &Decoder, to: &mut [Packed], elements: impl Fn(usize) -> [u32; LANES]) -> u16 {
    pack_all(decoder, to, elements)
}

#[inline(always)]
fn pack_all(decoder: &Decoder, to: &mut [Packed], elements: impl Fn(usize) -> [u32; LANES]) -> u16 {
    let mut numbers = [true; LANES];
    for (place, packed) in to.iter_mut().enumerate() {
        let (significand, exponent, are_numbers) = decoder.decoded(elements(place));
        *packed = Packed { significand, exponent: exponent.map(|exponent| exponent as i16) };
        numbers = lanes(|lane| numbers[lane] & are_numbers[lane]);
    }
    mask(numbers)
}

#[inline(always)]
fn mask(set: Lanes<bool>) -> u16 {
    set.iter().enumerate().fold(0, |mask, (lane, is_set)| mask | u16::from(*is_set) << lane)
}

/// A row of a, k ascending: significands and exponents.
pub(super) type Row<'a> = &'a [(i32, i32)];

/// Adds the products of sixteen elements to their sums, step by step, and says for which lanes the sum is one: a clear bit means
/// that a sum was or became an infinity or a NaN.
pub(super) fn add(level: Level, plan: &Plan, a: Row<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is available only where the processor has these features; AVX-512 CD is asked for beside.
        Level::Avx512 if has_conflict_detection() => unsafe { with_avx512(plan, a, b, sums) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx512 | Level::Avx2 => unsafe { with_avx2(plan, a, b, sums) },
        _ => by_block(plan, a, b, sums),
    }
}

#[cfg(target_arch = "x86_64")]
fn has_conflict_detection() -> bool {
    #[cfg(feature = "std")]
    {
        std::arch::is_x86_feature_detected!("avx512cd")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(target_feature = "avx512cd")
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
fn with_avx512(plan: &Plan, a: Row<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    by_block(plan, a, b, sums)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(plan: &Plan, a: Row<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    by_block(plan, a, b, sums)
}

#[inline(always)]
fn by_block(plan: &Plan, a: Row<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    match plan.block {
        4 => steps::<4>(plan, a, b, sums),
        8 => steps::<8>(plan, a, b, sums),
        16 => steps::<16>(plan, a, b, sums),
        _ => steps::<32>(plan, a, b, sums),
    }
}

/// The lanes of one number for each.
type Lanes<T> = [T; LANES];

#[inline(always)]
fn lanes<T>(value: impl FnMut(usize) -> T) -> Lanes<T> {
    core::array::from_fn(value)
}

#[inline(always)]
fn steps<const BLOCK: usize>(plan: &Plan, a: Row<'_>, b: &[Packed], sums: &mut Lanes<u32>) -> u16 {
    let mut numbers = lanes(|_| true);
    for (step, b) in b.as_chunks::<BLOCK>().0.iter().enumerate() {
        one_step(plan, &a[step * BLOCK..], b, sums, &mut numbers);
    }
    mask(numbers)
}

#[inline(always)]
fn one_step<const BLOCK: usize>(
    plan: &Plan,
    a: Row<'_>,
    b: &[Packed; BLOCK],
    sums: &mut Lanes<u32>,
    numbers: &mut Lanes<bool>,
) {
    let addends = sums.map(|sum| plan.addend(sum));
    let mut largest: Lanes<i32> = lanes(|lane| addends[lane].exponent.max(plan.floor));
    let mut exponents = [[0i32; LANES]; BLOCK];
    for index in 0..BLOCK {
        exponents[index] = lanes(|lane| a[index].1 + i32::from(b[index].exponent[lane]));
        largest = lanes(|lane| largest[lane].max(exponents[index][lane]));
    }
    // Each term toward zero; sixteen of them stay below 2^31.
    let mut total = [0i64; LANES];
    for part in 0..BLOCK.div_ceil(16) {
        let mut some = [0i32; LANES];
        for index in part * 16..BLOCK.min(part * 16 + 16) {
            some = lanes(|lane| {
                let product = a[index].0 * b[index].significand[lane];
                some[lane] + toward_zero(product, largest[lane] - exponents[index][lane])
            });
        }
        total = lanes(|lane| total[lane] + i64::from(some[lane]));
    }
    let results = lanes(|lane| plan.converted(largest[lane], total[lane] + plan.kept_of(addends[lane], largest[lane])));
    *sums = results.map(|(bits, _)| bits);
    *numbers = lanes(|lane| numbers[lane] & addends[lane].is_number & results[lane].1);
}

/// An integer shifted right toward zero; by 32 and more nothing is left.
#[inline(always)]
fn toward_zero(number: i32, right: i32) -> i32 {
    let cut = if (right as u32) < 32 { number.unsigned_abs() >> right } else { 0 } as i32;
    let sign = number >> 31;
    (cut ^ sign) - sign
}

/// A sum taken apart, to be a term.
#[derive(Clone, Copy)]
struct Term {
    significand: i32,
    exponent: i32,
    is_number: bool,
}

impl Plan {
    #[inline(always)]
    fn addend(&self, sum: u32) -> Term {
        let format = self.accumulator;
        let width = format.frac_bits();
        let field = (sum >> width) as i32 & format.exp_max() as i32;
        let hidden = if field == 0 { 0 } else { 1 << width };
        let magnitude = (sum & format.frac_mask() as u32) as i32 | hidden;
        let exponent = if magnitude == 0 { ZERO.into() } else { field.max(1) - format.bias() };
        let sign = -((sum >> (format.width() - 1) & 1) as i32);
        Term { significand: (magnitude ^ sign) - sign, exponent, is_number: field != format.exp_max() as i32 }
    }

    /// What is kept of it, in units of the grid.
    #[inline(always)]
    fn kept_of(&self, term: Term, largest: i32) -> i64 {
        let width = self.accumulator.frac_bits() as i32;
        let (left, right) = ((self.kept - width).max(0), (width - self.kept).max(0));
        toward_zero(term.significand << left, largest - term.exponent + right).into()
    }

    /// The conversion of a step's sum, as `round` has it, and whether the result is a number.
    #[inline(always)]
    fn converted(&self, largest: i32, total: i64) -> (u32, bool) {
        let format = self.accumulator;
        let min_quantum = format.emin() - self.fraction;
        let shift = format.frac_bits() as i32 - self.fraction;
        let magnitude = total.unsigned_abs();
        let exponent = largest - self.kept + 63 - magnitude.leading_zeros() as i32;
        let quantum = (exponent - self.fraction).max(min_quantum);
        let drop = quantum - (largest - self.kept);
        let right = drop.clamp(0, 63) as u32;
        let mut kept = (magnitude << (-drop).clamp(0, 63) as u32) >> right;
        if self.to_nearest {
            let rest = magnitude & ((1 << right) - 1);
            let half = (1 << right) >> 1;
            kept += u64::from(right > 0 && (rest > half || rest == half && kept & 1 == 1));
        }
        let bits = (((quantum - min_quantum) as u32) << self.fraction).wrapping_add(kept as u32) << shift;
        let sign = ((total < 0) as u32) << (format.width() - 1);
        // An exponent that does not fit its field is caught by its size.
        let is_number = bits < format.infinity() as u32 && exponent <= format.emax();
        (if kept == 0 { 0 } else { sign | bits }, is_number)
    }
}

/// The elements of one dot product, k ascending, of as many bits each as `T` has.
pub(super) struct Pair<'a, T> {
    pub(super) a: &'a [T],
    pub(super) b: &'a [T],
}

/// Adds the products of one dot product to its sum, the products of a step together; `None` if a sum was or became an
/// infinity or a NaN, or an element is one.
pub(super) fn add_along<T: Copy + Into<u32>>(level: Level, plan: &Plan, pair: &Pair<'_, T>, sum: u32) -> Option<u32> {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is available only where the processor has these features.
        Level::Avx512 => unsafe { along_with_avx512(plan, pair, sum) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { along_with_avx2(plan, pair, sum) },
        _ => along_by_block(plan, pair, sum),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn along_with_avx512<T: Copy + Into<u32>>(plan: &Plan, pair: &Pair<'_, T>, sum: u32) -> Option<u32> {
    along_by_block(plan, pair, sum)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn along_with_avx2<T: Copy + Into<u32>>(plan: &Plan, pair: &Pair<'_, T>, sum: u32) -> Option<u32> {
    along_by_block(plan, pair, sum)
}

#[inline(always)]
fn along_by_block<T: Copy + Into<u32>>(plan: &Plan, pair: &Pair<'_, T>, sum: u32) -> Option<u32> {
    match plan.block {
        4 => along::<4, T>(plan, pair, sum),
        8 => along::<8, T>(plan, pair, sum),
        16 => along::<16, T>(plan, pair, sum),
        _ => along::<32, T>(plan, pair, sum),
    }
}

#[inline(always)]
fn along<const BLOCK: usize, T: Copy + Into<u32>>(plan: &Plan, pair: &Pair<'_, T>, mut sum: u32) -> Option<u32> {
    let steps = pair.a.as_chunks::<BLOCK>().0.iter().zip(pair.b.as_chunks::<BLOCK>().0);
    for (a, b) in steps {
        let (a, of_a, a_numbers) = plan.a.decoded(a.map(Into::into));
        let (b, of_b, b_numbers) = plan.b.decoded(b.map(Into::into));
        let addend = plan.addend(sum);
        let exponents: [i32; BLOCK] = core::array::from_fn(|at| of_a[at] + of_b[at]);
        let largest =
            exponents.iter().fold(addend.exponent.max(plan.floor), |largest, exponent| largest.max(*exponent));
        let terms: [i32; BLOCK] = core::array::from_fn(|at| toward_zero(a[at] * b[at], largest - exponents[at]));
        // Sixteen of them stay below 2^31.
        let total: i64 = terms.chunks(16).map(|terms| i64::from(terms.iter().sum::<i32>())).sum();
        let are_numbers = a_numbers.iter().chain(&b_numbers).fold(addend.is_number, |all, one| all & one);
        let (bits, is_number) = plan.converted(largest, total + plan.kept_of(addend, largest));
        if !are_numbers | !is_number {
            return None;
        }
        sum = bits;
    }
    Some(sum)
}
