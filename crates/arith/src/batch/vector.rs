//! The pipeline on vectors: the steps of the scalar one, in its order, for any vector type.
//!
//! A vector with a lane that the processor's arithmetic cannot decide (at the smallest normal number, with some tininess
//! criteria) goes through the scalar pipeline ([`scalar_fallback`]).
//!
//! # f16 and bf16 by the arithmetic of f32
//!
//! Every f16 and every bf16 is an f32, so a × b + c, a + c or a × b is first rounded to f32 and then to 16 bits. Two
//! roundings give the bits of one:
//!
//! - In the same direction (.rz, .rm, .rp): the largest number of 16 bits that is at most x is an f32, so it is at most
//!   the largest f32 that is at most x; likewise upward and toward zero. With the infinities among the numbers that holds
//!   from the subnormals to beyond the largest number. The sign of a zero comes from the first rounding.
//! - To nearest, if the first rounding is to odd: x itself if it is an f32, else whichever of its two neighbours in f32
//!   has an odd last bit. Where the second rounding changes its result (half way between two numbers of 16 bits) is
//!   always an even f32 or a 16-bit number: the grid of f32 is finer by 2^13 (f16) or 2^16 (bf16) or more, between the
//!   subnormals too, and beyond the largest number the bound 65520 or 2^128 − 2^119 is an even f32. So an inexact x and
//!   its odd neighbour lie between the same two bounds, and neither is on one. Beyond the largest f32, which is odd, that
//!   stands for x, and rounds to infinity; below the smallest, which is odd, that one does, and rounds to zero of its
//!   sign. A tie is only seen where x is exactly one.
//! - A product needs no more than any rounding. That of two f16 is an f32: 22 bits, from 2^-48 to below 2^32. That of two
//!   bf16 has 16 bits, so it is an f32 unless it overflows, to the largest f32 or infinity, which both round to infinity,
//!   or its lowest bit is below 2^-149. Then it is below 2^-134, half the smallest bf16, which in f32 it can at most
//!   become: it rounds to zero of its sign.
//! - Nor does a sum of two, x = a + c with |a| ≥ |c|, but for the sign of a zero. Let 2^e ≤ |x| < 2^(e+1). If x is no f32
//!   because it has too many bits, its last one is below 2^(e−23) and c's, because a's is not: c has at most 11 bits, so
//!   |c| < 2^(e−13), and |a| ≥ 2^e, since below that it would be at most 2^e − 2^(e−11). So a is the number of 16 bits
//!   nearest to x, and less than a quarter of the way to a tie: up to there, a ± 2^(e−13), which is an f32, any rounding
//!   leaves x. A sum that overflows f32 does so in bf16, and is exact: 2^128 or more, with a below 2^128 − 2^119, has a
//!   c above 2^119. No bit of a sum is below the last one of the subnormals.
//!
//! For a × b + c, rounding to nearest in f32 would not do: (1 + 2^-10) × (2^-11 − 2^-21) + (1 + 2^-10) would lose its last
//! bit, 2^-31, and what is left is a tie of f16.

use super::portable::scalar;
use super::{Job, Lane};
use crate::{Format, NanRule, OperandIndex, Operation, Profile, Tininess};

/// What a kernel is specialised for besides rounding and operation: a set of these bits. A flushing kernel reads the signs
/// and the tininess criterion at run time, so that there are fewer kernels.
pub(super) type Mode = u8;
/// Step 2 changes signs.
pub(super) const NEGATE: Mode = 1;
/// Steps 3 and 9.
pub(super) const FLUSH: Mode = 2;
/// Step 4 (`.FMZ`), with `FLUSH`.
pub(super) const FMZ: Mode = 4;
/// Step 10 to [+0, 1].
pub(super) const SATURATE: Mode = 8;
/// Step 10 to [+0, +infinity].
pub(super) const RELU: Mode = 16;

/// What a kernel is specialised for: the rounding direction in x86's encoding, exceptions suppressed.
pub(super) const NEAREST: i32 = 8;
pub(super) const DOWN: i32 = 9;
pub(super) const UP: i32 = 10;
pub(super) const ZERO: i32 = 11;

/// What a kernel is specialised for: the operation.
pub(super) const MUL_ADD: u8 = 0;
pub(super) const ADD: u8 = 1;
pub(super) const MUL: u8 = 2;

/// A mask: a set of a vector's lanes.
pub(super) trait Mask: Copy {
    /// No lane.
    const NONE: Self;
    fn union(self, other: Self) -> Self;
    fn is_empty(self) -> bool;
}

/// A vector of lanes of one format.
pub(super) trait Vector: Copy {
    /// The type of a lane in memory.
    type Lane: Lane;
    /// An array of the vector's lanes.
    type Array: Copy + Default + AsMut<[Self::Lane]> + AsRef<[Self::Lane]>;
    /// A mask of its lanes.
    type Mask: Mask;
    /// A vector of integers as wide as its lanes are in registers.
    type Magnitudes: Copy;

    const LANES: usize;
    const FORMAT: Format;
    /// Whether NaN results are canonical; otherwise they keep a payload.
    const CANONICAL_NAN: bool;
    /// Whether the processor flushes subnormal operands while a flushing kernel runs: in arithmetic and comparisons, not in
    /// integer instructions.
    const HARDWARE_FLUSH: bool;

    fn load(from: &Self::Array) -> Self;
    /// Rounded, where arithmetic left it to be rounded to `FORMAT` in the direction `ROUND`.
    fn store<const ROUND: i32>(self, to: &mut Self::Array);
    /// The same by a non-temporal store; `to` must be aligned to the array's size.
    fn store_nontemporal<const ROUND: i32>(self, to: &mut Self::Array);
    /// What `store` rounds to.
    #[inline(always)]
    fn round<const ROUND: i32>(self) -> Self {
        self
    }
    /// Orders non-temporal stores before later synchronisation with other threads (`sfence`).
    fn store_fence();
    /// Every lane with these bits of `FORMAT`.
    fn splat(bits: u64) -> Self;

    fn flip(self, mask: Self) -> Self;
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The lanes of the mask become zero of their sign.
    fn to_zero(self, mask: Self::Mask) -> Self;
    /// Lanes of zeros, by their bits.
    fn zero(self) -> Self::Mask;
    /// The lanes where either is NaN.
    fn unordered(one: Self, other: Self) -> Self::Mask;
    /// Subnormal lanes, by their bits.
    fn subnormal(self) -> Self::Mask;
    /// For the two functions below, which ignore signs.
    fn magnitude(self) -> Self::Magnitudes;
    /// The lesser ones.
    fn lesser(one: Self::Magnitudes, other: Self::Magnitudes) -> Self::Magnitudes;
    /// Whether any is below its bound.
    fn any_below(magnitudes: Self::Magnitudes, bound: Self::Magnitudes) -> bool;
    /// Lanes of the smallest normal magnitude.
    fn smallest_normal(self) -> Self::Mask;
    /// NaN lanes.
    #[inline(always)]
    fn nan(self) -> Self::Mask {
        Self::unordered(self, self)
    }
    /// NaN lanes become the canonical NaN.
    #[inline(always)]
    fn canonical_nan(self) -> Self {
        Self::select(self.nan(), Self::splat(Self::FORMAT.magnitude_mask()), self)
    }
    /// NaN lanes become quiet.
    fn quiet(self) -> Self;
    /// Lanes below zero and −0 become +0; what becomes of a NaN is not said.
    fn rectify(self) -> Self;
    /// Step 10 to [+0, 1], of NaNs too.
    fn clamp(self) -> Self;

    /// An optimisation barrier, for use in a branch: it keeps the compiler from replacing the branch by computing both sides.
    /// That would be correct, but slow where arithmetic on subnormals takes a hundred cycles.
    fn optimisation_barrier();

    /// Steps 6 to 8; the last rounding may be left to `store`.
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self;
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self;
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self;

    /// The kernel specialised for these parameters.
    fn run<F: Factor<Self>, const ROUND: i32, const OP: u8, const MODE: Mode>(
        job: &Job<'_, F::Lane, Self::Lane>,
        out: &mut [Self::Lane],
    );
}

/// Step 1: how a vector's factors are stored in memory.
pub(super) trait Factor<V> {
    type Lane: Lane;
    type Array: Copy + Default + AsMut<[Self::Lane]> + AsRef<[Self::Lane]>;
    fn load(from: &Self::Array) -> V;
}

/// Factors of the vector's own format.
pub(super) struct Same;

impl<V: Vector> Factor<V> for Same {
    type Lane = V::Lane;
    type Array = V::Array;
    #[inline(always)]
    fn load(from: &V::Array) -> V {
        V::load(from)
    }
}

/// What a kernel computes before its loop.
pub(super) struct Plan<'a, V: Vector> {
    operation: &'a Operation,
    profile: &'a Profile,
    flip_product: V,
    flip_addend: V,
    negates: bool,
    /// Whether the tininess criterion may flush a result of the smallest normal magnitude.
    edge: bool,
    /// Step 9 changes no result that is at least as large.
    bound: V::Magnitudes,
}

impl<'a, V: Vector> Plan<'a, V> {
    #[inline(always)]
    pub(super) fn new<N>(job: &Job<'a, N, V::Lane>) -> Plan<'a, V> {
        let sign = |negate| V::splat(if negate { V::FORMAT.sign_mask() } else { 0 });
        let edge = job.profile.tininess != Tininess::Result;
        Plan {
            operation: job.operation,
            profile: job.profile,
            flip_product: sign(job.operation.negate_product),
            flip_addend: sign(job.operation.negate_addend),
            negates: job.operation.negate_product || job.operation.negate_addend,
            edge,
            bound: V::splat(V::FORMAT.smallest_normal() + u64::from(edge)).magnitude(),
        }
    }
}

/// Steps 2 to 10 of several vectors; `None` if the slow path may be needed. One test covers the results of all vectors (and
/// another one their operands, where the processor does not flush them, before arithmetic that may be slow with
/// subnormals).
#[inline(always)]
pub(super) fn steps<V: Vector, const ROUND: i32, const OP: u8, const MODE: Mode, const N: usize>(
    plan: &Plan<'_, V>,
    operands: [[V; 3]; N],
) -> Option<[V; N]> {
    // Loops, not `map`: its closure is a function in which intrinsics are not inlined.
    if MODE & FLUSH != 0 && !V::HARDWARE_FLUSH {
        let mut smallest = smallest_operand::<V, OP>(operands[0]);
        for lanes in &operands[1..] {
            smallest = V::lesser(smallest, smallest_operand::<V, OP>(*lanes));
        }
        // Zeros have small magnitudes too, but need no flush.
        if V::any_below(smallest, V::splat(V::FORMAT.smallest_normal()).magnitude()) {
            V::optimisation_barrier();
            for lanes in operands {
                if any_subnormal::<V, OP>(lanes) {
                    return None;
                }
            }
        }
        V::optimisation_barrier();
    }
    let mut operands = operands;
    // One branch for all vectors.
    if MODE & (NEGATE | FLUSH) != 0 && (MODE & NEGATE != 0 || plan.negates) {
        V::optimisation_barrier();
        for lanes in &mut operands {
            *lanes = negated(plan, *lanes);
        }
    }
    let mut results = [V::splat(0); N];
    for number in 0..N {
        results[number] = arithmetic::<V, ROUND, OP>(operands[number]);
    }
    if needs_slow_path::<V, ROUND, MODE, N>(plan, results) {
        return None;
    }
    if MODE & (SATURATE | RELU) != 0 {
        for result in &mut results {
            *result = if MODE & SATURATE != 0 { result.clamp() } else { result.rectify() };
        }
    }
    Some(results)
}

/// Of each lane, the smallest magnitude of an operand.
#[inline(always)]
fn smallest_operand<V: Vector, const OP: u8>([a, b, c]: [V; 3]) -> V::Magnitudes {
    let mut smallest = a.magnitude();
    if OP != ADD {
        smallest = V::lesser(smallest, b.magnitude());
    }
    if OP != MUL {
        smallest = V::lesser(smallest, c.magnitude());
    }
    smallest
}

/// Step 2, where it may change a sign.
#[inline(always)]
fn negated<V: Vector>(plan: &Plan<'_, V>, [a, b, c]: [V; 3]) -> [V; 3] {
    [a.flip(plan.flip_product), b, c.flip(plan.flip_addend)]
}

/// Whether step 3 changes an operand.
#[inline(always)]
fn any_subnormal<V: Vector, const OP: u8>([a, b, c]: [V; 3]) -> bool {
    let mut subnormal = a.subnormal();
    if OP != ADD {
        subnormal = subnormal.union(b.subnormal());
    }
    if OP != MUL {
        subnormal = subnormal.union(c.subnormal());
    }
    !subnormal.is_empty()
}

/// Whether steps 4, 5 and 9 may change any of these results, step 3 being done. A zero factor can only matter for a NaN
/// result or for the sign of a zero; saturation turns NaN into +0.
#[inline(always)]
fn needs_slow_path<V: Vector, const ROUND: i32, const MODE: Mode, const N: usize>(
    plan: &Plan<'_, V>,
    results: [V; N],
) -> bool {
    let mut special = V::Mask::NONE;
    if MODE & (FMZ | SATURATE) != SATURATE {
        for pair in 0..N.div_ceil(2) {
            special = special.union(V::unordered(results[2 * pair], results[(2 * pair + 1).min(N - 1)]));
        }
    }
    if MODE & FLUSH != 0 {
        let mut smallest = results[0].magnitude();
        for result in &results[1..] {
            smallest = V::lesser(smallest, result.magnitude());
        }
        if V::any_below(smallest, plan.bound) {
            V::optimisation_barrier();
            if MODE & FMZ != 0 {
                return true;
            }
            for result in results {
                let result = result.round::<ROUND>();
                special = special.union(result.subnormal());
                if plan.edge {
                    special = special.union(result.smallest_normal());
                }
            }
        }
    }
    !special.is_empty()
}

/// Steps 2 to 10.
#[inline(always)]
pub(super) fn step<V: Vector, const ROUND: i32, const OP: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
) -> V {
    let mut negated = operands;
    if MODE & (NEGATE | FLUSH) != 0 && (MODE & NEGATE != 0 || plan.negates) {
        V::optimisation_barrier();
        negated = self::negated(plan, operands);
    }
    if MODE & FLUSH != 0 && !V::HARDWARE_FLUSH && any_subnormal::<V, OP>(negated) {
        return slow_path::<V, ROUND, OP, MODE>(plan, operands, negated);
    }
    V::optimisation_barrier();
    // 6 to 8.
    let result = arithmetic::<V, ROUND, OP>(negated);
    if MODE & FLUSH != 0 && needs_slow_path::<V, ROUND, MODE, 1>(plan, [result]) {
        return slow_path::<V, ROUND, OP, MODE>(plan, operands, negated);
    }
    finish::<V, OP, MODE>(plan, result, operands)
}

/// Steps 5 and 10. Saturation turns NaN into zero, so step 5 is not needed then. Step 5 asks for the operands before step
/// 2, which leaves NaNs alone; steps 3 and 4 do not matter to a kernel that keeps payloads: f64 has no `.FMZ`.
#[inline(always)]
fn finish<V: Vector, const OP: u8, const MODE: Mode>(plan: &Plan<'_, V>, result: V, operands: [V; 3]) -> V {
    if MODE & SATURATE != 0 {
        return result.clamp();
    }
    let result = nan::<V, OP>(plan, result, operands);
    // The canonical NaN is positive.
    if MODE & RELU != 0 { result.rectify() } else { result }
}

/// Steps 3 to 10 with the flushes and zero factors handled lane by lane.
#[cold]
#[inline(always)]
fn slow_path<V: Vector, const ROUND: i32, const OP: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
    negated: [V; 3],
) -> V {
    V::optimisation_barrier();
    // 3. Flush operands.
    let [mut a, mut b, mut c] = negated;
    a = a.to_zero(a.subnormal());
    b = b.to_zero(b.subnormal());
    c = c.to_zero(c.subnormal());
    // 4. A zero factor under `.FMZ`.
    if MODE & FMZ != 0 {
        let zero = a.zero().union(b.zero());
        a = V::select(zero, V::splat(0), a);
        b = V::select(zero, V::splat(0), b);
    }
    // 6 to 8.
    let result = arithmetic::<V, ROUND, OP>([a, b, c]).round::<ROUND>();
    // 9. Flush the result. A magnitude below the smallest normal is tiny by every criterion; one equal to it may be tiny
    // by all but `Tininess::Result`.
    if plan.edge && !result.smallest_normal().is_empty() {
        return scalar_fallback(plan, OP, operands);
    }
    finish::<V, OP, MODE>(plan, result.to_zero(result.subnormal()), operands)
}

#[inline(always)]
fn arithmetic<V: Vector, const ROUND: i32, const OP: u8>([a, b, c]: [V; 3]) -> V {
    match OP {
        MUL_ADD => V::mul_add::<ROUND>(a, b, c),
        ADD => V::add::<ROUND>(a, c),
        _ => V::mul::<ROUND>(a, b),
    }
}

/// Step 5.
#[inline(always)]
fn nan<V: Vector, const OP: u8>(plan: &Plan<'_, V>, result: V, operands: [V; 3]) -> V {
    if V::CANONICAL_NAN {
        result.canonical_nan()
    } else if result.nan().is_empty() {
        result
    } else {
        payload(plan.profile, OP, result, operands)
    }
}

/// Step 5 where NaNs keep a payload: the first NaN operand in the profile's order.
#[cold]
#[inline(always)]
fn payload<V: Vector>(profile: &Profile, op: u8, result: V, operands: [V; 3]) -> V {
    V::optimisation_barrier();
    let format = V::FORMAT;
    let mut nan = V::splat(format.magnitude_mask());
    if let NanRule::Payload([first, second, third]) = profile.nan_rule(format) {
        nan = V::splat(format.sign_mask() | format.infinity() | format.quiet_bit());
        nan = nan_operand(op, third, operands, nan);
        nan = nan_operand(op, second, operands, nan);
        nan = nan_operand(op, first, operands, nan);
    }
    V::select(result.nan(), nan, result)
}

/// The operand where it is a NaN, made quiet.
#[inline(always)]
fn nan_operand<V: Vector>(op: u8, place: OperandIndex, [a, b, c]: [V; 3], otherwise: V) -> V {
    let operand = match place {
        OperandIndex::A => a,
        OperandIndex::B if op == ADD => return otherwise,
        OperandIndex::B => b,
        OperandIndex::C if op == MUL => return otherwise,
        OperandIndex::C => c,
    };
    V::select(operand.nan(), operand.quiet(), otherwise)
}

/// Every lane through the scalar pipeline.
#[cold]
#[inline(never)]
pub(super) fn scalar_fallback<V: Vector>(plan: &Plan<'_, V>, op: u8, [a, b, c]: [V; 3]) -> V {
    let zero = V::Array::default();
    let mut lanes = [zero; 3];
    a.store::<NEAREST>(&mut lanes[0]);
    if op != ADD {
        b.store::<NEAREST>(&mut lanes[1]);
    }
    if op != MUL {
        c.store::<NEAREST>(&mut lanes[2]);
    }
    // The factors are widened already.
    let operation = Operation { source_format: V::FORMAT, ..*plan.operation };
    let mut results = zero;
    for (lane, slot) in results.as_mut().iter_mut().enumerate() {
        let operands = lanes.map(|values| values.as_ref()[lane].to_bits());
        *slot = V::Lane::from_bits(scalar(&operation, plan.profile, operands));
    }
    V::load(&results)
}
