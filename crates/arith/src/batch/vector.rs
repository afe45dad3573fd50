//! The pipeline on vectors: the steps of the scalar one, in its order, on whatever a machine calls a vector.
//!
//! Vectors with a lane that the machine's arithmetic does not settle (at the smallest normal number, by some policies)
//! are left to the scalar pipeline ([`rescue`]).

use super::portable::scalar;
use super::{Job, Kernel, Lane};
use crate::{ArithOp, Format, NanRule, Operand, Operation, Profile, Rounding, Tininess};

/// What a kernel is compiled for beside its rounding and kind: a set of these bits. Signs and the tiny policy are looked
/// at when a flushing kernel runs, so that there are fewer kernels.
pub(super) type Mode = u8;
/// Step 2 changes signs.
pub(super) const NEGATE: Mode = 1;
/// Steps 3 and 9.
pub(super) const FLUSH: Mode = 2;
/// Step 4, with `FLUSH`.
pub(super) const DOMINANCE: Mode = 4;
/// Step 10.
pub(super) const SATURATE: Mode = 8;

/// What a kernel is compiled for: the direction as x86 numbers it, its exceptions suppressed.
pub(super) const NEAREST: i32 = 8;
pub(super) const DOWN: i32 = 9;
pub(super) const UP: i32 = 10;
pub(super) const ZERO: i32 = 11;

/// What a kernel is compiled for: the kind.
pub(super) const MUL_ADD: u8 = 0;
pub(super) const ADD: u8 = 1;
pub(super) const MUL: u8 = 2;

/// A set of lanes.
pub(super) trait Lanes: Copy {
    /// None of them.
    const NONE: Self;
    fn union(self, other: Self) -> Self;
    fn is_empty(self) -> bool;
}

/// A vector of lanes of one format.
pub(super) trait Vector: Copy {
    /// The type of a lane in memory.
    type Lane: Lane;
    /// As many of them as the vector has.
    type Array: Copy + Default + AsMut<[Self::Lane]> + AsRef<[Self::Lane]>;
    /// A set of its lanes.
    type Lanes: Lanes;
    /// A vector of integers as wide as its lanes are in registers.
    type Magnitudes: Copy;

    const LANES: usize;
    const FORMAT: Format;
    /// Whether NaN results are canonical; otherwise they keep a payload.
    const CANONICAL_NAN: bool;
    /// Whether the machine takes subnormal operands as zeros while a kernel that flushes runs: in arithmetic and comparisons,
    /// not in integer instructions.
    const MACHINE_FLUSHES: bool;

    fn load(from: &Self::Array) -> Self;
    fn store(self, to: &mut Self::Array);
    /// Around the cache; `to` must be aligned to the array's size.
    fn stream(self, to: &mut Self::Array);
    /// What was so stored comes before whatever another thread is told next.
    fn order_streams();
    /// Every lane with these bits of `FORMAT`.
    fn splat(bits: u64) -> Self;

    fn flip(self, mask: Self) -> Self;
    fn select(lanes: Self::Lanes, yes: Self, no: Self) -> Self;
    /// These lanes become zero of their sign.
    fn to_zero(self, lanes: Self::Lanes) -> Self;
    /// Lanes of zeros, by their bits.
    fn zero(self) -> Self::Lanes;
    /// The lanes where either is NaN.
    fn unordered(one: Self, other: Self) -> Self::Lanes;
    /// Subnormal lanes, by their bits.
    fn subnormal(self) -> Self::Lanes;
    /// The bits without the sign.
    fn magnitude(self) -> Self::Magnitudes;
    /// The lesser ones.
    fn lesser(one: Self::Magnitudes, other: Self::Magnitudes) -> Self::Magnitudes;
    /// Whether any is below its bound.
    fn any_below(magnitudes: Self::Magnitudes, bound: Self::Magnitudes) -> bool;
    /// Lanes of the smallest normal magnitude.
    fn smallest_normal(self) -> Self::Lanes;
    /// NaN lanes.
    #[inline(always)]
    fn nan(self) -> Self::Lanes {
        Self::unordered(self, self)
    }
    /// NaN lanes become the canonical NaN.
    #[inline(always)]
    fn canonical_nan(self) -> Self {
        Self::select(self.nan(), Self::splat(Self::FORMAT.magnitude_mask()), self)
    }
    /// NaN lanes become quiet.
    fn quiet(self) -> Self;
    /// Step 10.
    fn clamp(self) -> Self;

    /// Nothing, in a branch: it keeps the compiler from computing both branches before it knows which is meant. That
    /// would be right, but slow where arithmetic on subnormals takes a hundred cycles.
    fn keep_branch();

    /// Steps 6 to 8.
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self;
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self;
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self;

    /// The kernel compiled for these.
    fn run<F: Factor<Self>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
        job: &Job<'_, F::Lane, Self::Lane>,
        out: &mut [Self::Lane],
    );
}

/// Step 1: how the factors for a vector lie in memory.
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

/// What a kernel takes out of the job before its loop.
pub(super) struct Plan<'a, V: Vector> {
    operation: Operation,
    profile: &'a Profile,
    flip_product: V,
    flip_addend: V,
    negates: bool,
    /// A result of the smallest normal magnitude may be one that the tiny policy flushes.
    edge: bool,
    /// Results at least as large are none that step 9 changes.
    bound: V::Magnitudes,
}

impl<'a, V: Vector> Plan<'a, V> {
    #[inline(always)]
    pub(super) fn new<N>(job: &Job<'a, N, V::Lane>) -> Plan<'a, V> {
        let sign = |negate| V::splat(if negate { V::FORMAT.sign_mask() } else { 0 });
        let edge = job.profile.tininess != Tininess::Result;
        Plan {
            // Factors are widened by the time that the scalar pipeline sees them.
            operation: Operation { source_format: V::FORMAT, ..*job.operation },
            profile: job.profile,
            flip_product: sign(job.operation.negate_product),
            flip_addend: sign(job.operation.negate_addend),
            negates: job.operation.negate_product || job.operation.negate_addend,
            edge,
            bound: V::splat(V::FORMAT.smallest_normal() + u64::from(edge)).magnitude(),
        }
    }
}

/// Steps 2 to 10 of several vectors; without a result where one of the rarer steps may have something to do: one look
/// at the results of all (and, where the machine does not flush operands, one at those, before arithmetic that may be
/// slow with subnormals).
#[inline(always)]
pub(super) fn steps<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode, const N: usize>(
    plan: &Plan<'_, V>,
    operands: [[V; 3]; N],
) -> Option<[V; N]> {
    // Loops, not `map`: that is a function of its own, in which intrinsics are calls.
    if MODE & FLUSH != 0 && !V::MACHINE_FLUSHES {
        let mut smallest = operands[0][0].magnitude();
        for [a, b, c] in operands {
            smallest = V::lesser(smallest, a.magnitude());
            if KIND != ADD {
                smallest = V::lesser(smallest, b.magnitude());
            }
            if KIND != MUL {
                smallest = V::lesser(smallest, c.magnitude());
            }
        }
        // Zeros have small magnitudes too, and nothing to be flushed.
        if V::any_below(smallest, V::splat(V::FORMAT.smallest_normal()).magnitude()) {
            V::keep_branch();
            for lanes in operands {
                if any_subnormal::<V, KIND>(lanes) {
                    return None;
                }
            }
        }
        V::keep_branch();
    }
    let mut results = [V::splat(0); N];
    for number in 0..N {
        results[number] = arithmetic::<V, ROUND, KIND>(negate::<V, MODE>(plan, operands[number]));
    }
    if doubtful::<V, MODE, N>(plan, results) {
        return None;
    }
    if MODE & SATURATE != 0 {
        for result in &mut results {
            *result = result.clamp();
        }
    }
    Some(results)
}

/// Step 2.
#[inline(always)]
fn negate<V: Vector, const MODE: Mode>(plan: &Plan<'_, V>, [mut a, b, mut c]: [V; 3]) -> [V; 3] {
    if MODE & (NEGATE | FLUSH) != 0 && (MODE & NEGATE != 0 || plan.negates) {
        V::keep_branch();
        a = a.flip(plan.flip_product);
        c = c.flip(plan.flip_addend);
    }
    [a, b, c]
}

/// Whether step 3 has something to do.
#[inline(always)]
fn any_subnormal<V: Vector, const KIND: u8>([a, b, c]: [V; 3]) -> bool {
    let mut subnormal = a.subnormal();
    if KIND != ADD {
        subnormal = subnormal.union(b.subnormal());
    }
    if KIND != MUL {
        subnormal = subnormal.union(c.subnormal());
    }
    !subnormal.is_empty()
}

/// Whether steps 4, 5 and 9 may change any of these results, where step 3 is done. A zero factor shows in a NaN or in the
/// sign of a zero; saturation makes +0 of NaN.
#[inline(always)]
fn doubtful<V: Vector, const MODE: Mode, const N: usize>(plan: &Plan<'_, V>, results: [V; N]) -> bool {
    let mut doubt = V::Lanes::NONE;
    if MODE & (DOMINANCE | SATURATE) != SATURATE {
        for pair in 0..N.div_ceil(2) {
            doubt = doubt.union(V::unordered(results[2 * pair], results[(2 * pair + 1).min(N - 1)]));
        }
    }
    if MODE & FLUSH != 0 {
        let mut smallest = results[0].magnitude();
        for result in results {
            smallest = V::lesser(smallest, result.magnitude());
        }
        if V::any_below(smallest, plan.bound) {
            V::keep_branch();
            if MODE & DOMINANCE != 0 {
                return true;
            }
            for result in results {
                doubt = doubt.union(result.subnormal());
                if plan.edge {
                    doubt = doubt.union(result.smallest_normal());
                }
            }
        }
    }
    !doubt.is_empty()
}

/// Steps 2 to 10.
#[inline(always)]
pub(super) fn step<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
) -> V {
    let negated = negate::<V, MODE>(plan, operands);
    if MODE & FLUSH != 0 && !V::MACHINE_FLUSHES && any_subnormal::<V, KIND>(negated) {
        return careful::<V, ROUND, KIND, MODE>(plan, operands, negated);
    }
    V::keep_branch();
    // 6 to 8.
    let result = arithmetic::<V, ROUND, KIND>(negated);
    if MODE & FLUSH != 0 && doubtful::<V, MODE, 1>(plan, [result]) {
        return careful::<V, ROUND, KIND, MODE>(plan, operands, negated);
    }
    finish::<V, KIND, MODE>(plan, result, negated)
}

/// Steps 5 and 10; what saturates makes zero of NaN.
#[inline(always)]
fn finish<V: Vector, const KIND: u8, const MODE: Mode>(plan: &Plan<'_, V>, result: V, operands: [V; 3]) -> V {
    if MODE & SATURATE != 0 { result.clamp() } else { nan::<V, KIND>(plan, result, operands) }
}

/// Steps 3 to 10 with every lane looked at.
#[cold]
#[inline(always)]
fn careful<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
    negated: [V; 3],
) -> V {
    V::keep_branch();
    // 3. Flush operands.
    let [mut a, mut b, mut c] = negated;
    a = a.to_zero(a.subnormal());
    b = b.to_zero(b.subnormal());
    c = c.to_zero(c.subnormal());
    // 4. Zero dominance.
    if MODE & DOMINANCE != 0 {
        let zero = a.zero().union(b.zero());
        a = V::select(zero, V::splat(0), a);
        b = V::select(zero, V::splat(0), b);
    }
    // 6 to 8.
    let result = arithmetic::<V, ROUND, KIND>([a, b, c]);
    // 9. Flush the result. A magnitude below the smallest normal is tiny by every policy; one equal to it may be tiny
    // by all but `Tininess::Result`.
    if plan.edge && !result.smallest_normal().is_empty() {
        return rescue(plan, KIND, operands);
    }
    finish::<V, KIND, MODE>(plan, result.to_zero(result.subnormal()), [a, b, c])
}

#[inline(always)]
fn arithmetic<V: Vector, const ROUND: i32, const KIND: u8>([a, b, c]: [V; 3]) -> V {
    match KIND {
        MUL_ADD => V::mul_add::<ROUND>(a, b, c),
        ADD => V::add::<ROUND>(a, c),
        _ => V::mul::<ROUND>(a, b),
    }
}

/// Step 5.
#[inline(always)]
fn nan<V: Vector, const KIND: u8>(plan: &Plan<'_, V>, result: V, operands: [V; 3]) -> V {
    if V::CANONICAL_NAN {
        result.canonical_nan()
    } else if result.nan().is_empty() {
        result
    } else {
        payload(plan.profile, KIND, result, operands)
    }
}

/// Step 5 where NaNs keep a payload: the first NaN operand in the profile's order.
#[cold]
#[inline(always)]
fn payload<V: Vector>(profile: &Profile, kind: u8, result: V, operands: [V; 3]) -> V {
    V::keep_branch();
    let format = V::FORMAT;
    let mut nan = V::splat(format.magnitude_mask());
    if let NanRule::Payload([first, second, third]) = profile.nan_rule(format) {
        nan = V::splat(format.sign_mask() | format.infinity() | format.quiet_bit());
        nan = nan_operand(kind, third, operands, nan);
        nan = nan_operand(kind, second, operands, nan);
        nan = nan_operand(kind, first, operands, nan);
    }
    V::select(result.nan(), nan, result)
}

/// The operand where it is a NaN, made quiet.
#[inline(always)]
fn nan_operand<V: Vector>(kind: u8, place: Operand, [a, b, c]: [V; 3], otherwise: V) -> V {
    let operand = match place {
        Operand::A => a,
        Operand::B if kind == ADD => return otherwise,
        Operand::B => b,
        Operand::C if kind == MUL => return otherwise,
        Operand::C => c,
    };
    V::select(operand.nan(), operand.quiet(), otherwise)
}

/// Every lane by the scalar pipeline.
#[cold]
#[inline(never)]
pub(super) fn rescue<V: Vector>(plan: &Plan<'_, V>, kind: u8, [a, b, c]: [V; 3]) -> V {
    let zero = V::Array::default();
    let mut lanes = [zero; 3];
    a.store(&mut lanes[0]);
    if kind != ADD {
        b.store(&mut lanes[1]);
    }
    if kind != MUL {
        c.store(&mut lanes[2]);
    }
    let mut results = zero;
    for (lane, slot) in results.as_mut().iter_mut().enumerate() {
        let operands = lanes.map(|values| values.as_ref()[lane].to_bits());
        *slot = V::Lane::from_bits(scalar(&plan.operation, plan.profile, operands));
    }
    V::load(&results)
}

/// The mode of the kernel for an operation, if there can be one; whether there is, the tables below say.
fn mode<V: Vector>(operation: &Operation, profile: &Profile, may_negate: bool) -> Option<Mode> {
    let canonical = profile.nan_rule(V::FORMAT) == NanRule::Canonical;
    let saturate = if operation.saturate { SATURATE } else { 0 };
    if operation.fmz && !operation.flush || V::CANONICAL_NAN && !canonical && !operation.saturate {
        return None;
    }
    Some(match operation.flush {
        true => FLUSH | saturate | if operation.fmz { DOMINANCE } else { 0 },
        false if may_negate || operation.negate_product || operation.negate_addend => NEGATE | saturate,
        false => saturate,
    })
}

/// The kernels that are compiled: a kind, and the modes that it is wanted in.
macro_rules! kernels {
    ($vector:ident, $factor:ident, $operation:ident, $mode:expr; $($kind:ident, $number:ident: $($compiled:expr),*;)*) => {{
        let mode = $mode?;
        match $operation.op {
            $(ArithOp::$kind => match mode {
                $(mode if mode == ($compiled) => {
                    Some(by_rounding::<$vector, $factor, $number, { $compiled }>($operation.rounding))
                })*
                _ => None,
            },)*
            #[allow(unreachable_patterns)] // Not every table has all kinds.
            _ => None,
        }
    }};
}

/// The kernel of f32 for an operation.
pub(super) fn select_f32<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, false);
        MulAdd, MUL_ADD: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE, FLUSH | DOMINANCE,
            FLUSH | DOMINANCE | SATURATE;
        Add, ADD: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE;
        Mul, MUL: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE;
    )
}

/// The kernel of f64, which GPUs do not saturate.
pub(super) fn select_f64<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, false);
        MulAdd, MUL_ADD: 0, NEGATE, FLUSH;
        Add, ADD: 0, NEGATE, FLUSH;
        Mul, MUL: 0, NEGATE, FLUSH;
    )
}

/// The kernel of f16, which SPIR-V alone has: flushed or not.
#[cfg(target_arch = "x86_64")]
pub(super) fn select_f16<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, true);
        MulAdd, MUL_ADD: NEGATE, FLUSH;
        Add, ADD: NEGATE, FLUSH;
        Mul, MUL: NEGATE, FLUSH;
    )
}

/// The kernel for factors of 16 bits with f32, which PTX alone has: not flushed, not multiplied only.
pub(super) fn select_mixed<V: Vector, F: Factor<V>>(
    operation: &Operation,
    profile: &Profile,
) -> Option<Kernel<F::Lane, V::Lane>> {
    kernels!(V, F, operation, mode::<V>(operation, profile, true);
        MulAdd, MUL_ADD: NEGATE, NEGATE | SATURATE;
        Add, ADD: NEGATE, NEGATE | SATURATE;
    )
}

fn by_rounding<V: Vector, F: Factor<V>, const KIND: u8, const MODE: Mode>(
    rounding: Rounding,
) -> Kernel<F::Lane, V::Lane> {
    match rounding {
        Rounding::NearestEven => V::run::<F, NEAREST, KIND, MODE>,
        Rounding::TowardZero => V::run::<F, ZERO, KIND, MODE>,
        Rounding::Down => V::run::<F, DOWN, KIND, MODE>,
        Rounding::Up => V::run::<F, UP, KIND, MODE>,
    }
}
