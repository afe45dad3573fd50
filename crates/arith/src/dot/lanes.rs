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

    /// One element of each lane; whether it is a number.
    #[inline(always)]
    fn packed(&self, bits: Lanes<u32>) -> (Packed, Lanes<bool>) {
        let magnitude: Lanes<u32> = lanes(|lane| bits[lane] >> self.below & ((1 << self.sign) - 1));
        let field: Lanes<u32> = lanes(|lane| magnitude[lane] >> self.fraction);
        let significand: Lanes<i32> = lanes(|lane| {
            let hidden = u32::from(field[lane] != 0) << self.fraction;
            let significand = (magnitude[lane] & ((1 << self.fraction) - 1) | hidden) << self.left;
            let sign = -((bits[lane] >> self.below >> self.sign & 1) as i32);
            (significand as i32 ^ sign) - sign
        });
        let exponent = lanes(|lane| match magnitude[lane] {
            0 => ZERO,
            _ => (field[lane].max(1) as i32 - self.bias) as i16,
        });
        (Packed { significand, exponent }, lanes(|lane| magnitude[lane] < self.special))
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

    /// One lane, as [`Rows::One`] takes it.
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
        let (these, are_numbers) = decoder.packed(elements(place));
        *packed = these;
        numbers = lanes(|lane| numbers[lane] & are_numbers[lane]);
    }
    mask(numbers)
}

/// Element `k` of sixteen vectors, for each k: their elements are next to each other, the vectors `stride` apart.
pub(super) fn transpose<T: Copy + Into<u32>>(level: Level, from: &[T], stride: usize, to: &mut [[u32; LANES]]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is available only where the processor has these features.
        Level::Avx512 => unsafe { transpose_with_avx512(from, stride, to) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { transpose_with_avx2(from, stride, to) },
        _ => transpose_all(from, stride, to),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn transpose_with_avx512<T: Copy + Into<u32>>(from: &[T], stride: usize, to: &mut [[u32; LANES]]) {
    transpose_all(from, stride, to)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn transpose_with_avx2<T: Copy + Into<u32>>(from: &[T], stride: usize, to: &mut [[u32; LANES]]) {
    transpose_all(from, stride, to)
}

#[inline(always)]
fn transpose_all<T: Copy + Into<u32>>(from: &[T], stride: usize, to: &mut [[u32; LANES]]) {
    let (blocks, rest) = to.as_chunks_mut::<LANES>();
    let done = blocks.len() * LANES;
    for (index, block) in blocks.iter_mut().enumerate() {
        transpose_block(&from[index * LANES..], stride, block);
    }
    let (blocks, rest) = rest.as_chunks_mut::<4>();
    for (index, block) in blocks.iter_mut().enumerate() {
        transpose_block(&from[done + index * 4..], stride, block);
    }
    debug_assert!(rest.is_empty(), "an instruction has a multiple of four products");
}

/// Sixteen vectors of K elements, K a power of two. Read one behind the other, an element's number is its vector's and then
/// its own; each perfect shuffle of the whole moves the upper bit of the number to its end, so that four of them exchange the two.
#[inline(always)]
fn transpose_block<const K: usize, T: Copy + Into<u32>>(from: &[T], stride: usize, to: &mut [[u32; LANES]; K]) {
    let from = &from[..(LANES - 1) * stride + K];
    let (all, _) = to.as_flattened_mut().as_chunks_mut::<K>();
    for (to, from) in all.iter_mut().zip(from.chunks(stride)) {
        for (to, from) in to.iter_mut().zip(&from[..K]) {
            *to = (*from).into();
        }
    }
    let mut between = [[0; LANES]; K];
    for _ in 0..2 {
        shuffle(to, &mut between);
        shuffle(&between, to);
    }
}

/// The elements of the first half and of the second in turns.
#[inline(always)]
fn shuffle<const K: usize>(from: &[[u32; LANES]; K], to: &mut [[u32; LANES]; K]) {
    for half in 0..K / 2 {
        let (first, second) = (&from[half], &from[half + K / 2]);
        let merged = |start: usize| lanes(|lane| if lane % 2 == 0 { first } else { second }[start + lane / 2]);
        to[2 * half] = merged(0);
        to[2 * half + 1] = merged(LANES / 2);
    }
}

#[inline(always)]
fn mask(set: Lanes<bool>) -> u16 {
    set.iter().enumerate().fold(0, |mask, (lane, is_set)| mask | u16::from(*is_set) << lane)
}

/// a's elements: one row for all sixteen columns, or one for each.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    /// k ascending.
    One(&'a [(i32, i32)]),
    /// k ascending.
    Each(&'a [Packed]),
}

/// Adds the products of sixteen elements to their sums, step by step, and says for which lanes the sum is one: a clear bit means
/// that a sum was or became an infinity or a NaN.
pub(super) fn add(level: Level, plan: &Plan, a: Rows<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is available only where the processor has these features; AVX-512 CD is asked for beside.
        Level::Avx512 if std::arch::is_x86_feature_detected!("avx512cd") => unsafe { with_avx512(plan, a, b, sums) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx512 | Level::Avx2 => unsafe { with_avx2(plan, a, b, sums) },
        _ => by_block(plan, a, b, sums),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
fn with_avx512(plan: &Plan, a: Rows<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    by_block(plan, a, b, sums)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(plan: &Plan, a: Rows<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    by_block(plan, a, b, sums)
}

#[inline(always)]
fn by_block(plan: &Plan, a: Rows<'_>, b: &[Packed], sums: &mut [u32; LANES]) -> u16 {
    match plan.block {
        4 => steps::<4>(plan, a, b, sums),
        8 => steps::<8>(plan, a, b, sums),
        16 => steps::<16>(plan, a, b, sums),
        _ => steps::<32>(plan, a, b, sums),
    }
}

/// The lanes of one number for each.
type Lanes<T> = [T; LANES];

/// `array::from_fn`, which is not inlined into functions with more vector instructions.
#[inline(always)]
fn lanes<T: Copy + Default>(mut value: impl FnMut(usize) -> T) -> Lanes<T> {
    let mut all = [T::default(); LANES];
    for (lane, one) in all.iter_mut().enumerate() {
        *one = value(lane);
    }
    all
}

#[inline(always)]
fn steps<const BLOCK: usize>(plan: &Plan, a: Rows<'_>, b: &[Packed], sums: &mut Lanes<u32>) -> u16 {
    let mut numbers = lanes(|_| true);
    for (step, b) in b.as_chunks::<BLOCK>().0.iter().enumerate() {
        let factors = |index: usize| match a {
            Rows::One(row) => {
                let (significand, exponent) = row[step * BLOCK + index];
                (lanes(|_| significand), lanes(|_| exponent))
            }
            Rows::Each(rows) => {
                let row = &rows[step * BLOCK + index];
                (row.significand, lanes(|lane| i32::from(row.exponent[lane])))
            }
        };
        one_step(plan, factors, b, sums, &mut numbers);
    }
    mask(numbers)
}

#[inline(always)]
fn one_step<const BLOCK: usize>(
    plan: &Plan,
    a: impl Fn(usize) -> (Lanes<i32>, Lanes<i32>),
    b: &[Packed; BLOCK],
    sums: &mut Lanes<u32>,
    numbers: &mut Lanes<bool>,
) {
    let format = plan.accumulator;
    let (width, fraction) = (format.frac_bits() as i32, plan.fraction);
    // The addend's significand and exponent.
    let field: Lanes<i32> = lanes(|lane| (sums[lane] >> width) as i32 & format.exp_max() as i32);
    let magnitude: Lanes<i32> = lanes(|lane| {
        let hidden = if field[lane] == 0 { 0 } else { 1 << width };
        (sums[lane] & format.frac_mask() as u32) as i32 | hidden
    });
    let addend_exponent: Lanes<i32> = lanes(|lane| {
        let exponent = field[lane].max(1) - format.bias();
        if magnitude[lane] == 0 { i32::from(ZERO) } else { exponent }
    });
    let mut largest: Lanes<i32> = lanes(|lane| addend_exponent[lane].max(plan.floor));
    let mut exponents = [[0i32; LANES]; BLOCK];
    for index in 0..BLOCK {
        let (_, exponent) = a(index);
        exponents[index] = lanes(|lane| exponent[lane] + i32::from(b[index].exponent[lane]));
        largest = lanes(|lane| largest[lane].max(exponents[index][lane]));
    }
    // Each term toward zero; sixteen of them stay below 2^31.
    let mut total = [0i64; LANES];
    for part in 0..BLOCK.div_ceil(16) {
        let mut some = [0i32; LANES];
        for index in part * 16..BLOCK.min(part * 16 + 16) {
            let (significand, _) = a(index);
            some = lanes(|lane| {
                let product = significand[lane] * b[index].significand[lane];
                let right = (largest[lane] - exponents[index][lane]) as u32;
                let cut = if right < 32 { product.unsigned_abs() >> right } else { 0 } as i32;
                let sign = product >> 31;
                some[lane] + ((cut ^ sign) - sign)
            });
        }
        total = lanes(|lane| total[lane] + i64::from(some[lane]));
    }
    let (left, right) = ((plan.kept - width).max(0), (width - plan.kept).max(0));
    total = lanes(|lane| {
        let by = (largest[lane] - addend_exponent[lane] + right) as u32;
        let cut = if by < 32 { ((magnitude[lane] << left) as u32) >> by } else { 0 };
        let sign = -i64::from(sums[lane] >> (format.width() - 1) & 1);
        total[lane] + ((i64::from(cut) ^ sign) - sign)
    });
    // The conversion, as `round` has it.
    let min_quantum = format.emin() - fraction;
    let shift = width - fraction;
    let results: Lanes<u32> = lanes(|lane| {
        let magnitude = total[lane].unsigned_abs();
        let length = 64 - magnitude.leading_zeros() as i32;
        let grid = largest[lane] - plan.kept;
        let quantum = (grid + length - 1 - fraction).max(min_quantum);
        let drop = quantum - grid;
        let right = drop.clamp(0, 63) as u32;
        let mut kept = (magnitude << (-drop).clamp(0, 63) as u32) >> right;
        if plan.to_nearest {
            let rest = magnitude & ((1 << right) - 1);
            let half = (1 << right) >> 1;
            kept += u64::from(right > 0 && (rest > half || rest == half && kept & 1 == 1));
        }
        let bits = (((quantum - min_quantum) as u32) << fraction).wrapping_add(kept as u32) << shift;
        let sign = ((total[lane] < 0) as u32) << (format.width() - 1);
        if kept == 0 { 0 } else { sign | bits }
    });
    let infinity = format.infinity() as u32;
    *numbers = lanes(|lane| {
        let after = results[lane] & format.magnitude_mask() as u32;
        // An exponent that does not fit its field is caught by its size.
        let too_large =
            largest[lane] - plan.kept + 64 - total[lane].unsigned_abs().leading_zeros() as i32 - 1 > format.emax();
        numbers[lane] && field[lane] != format.exp_max() as i32 && after < infinity && !too_large
    });
    *sums = results;
}
