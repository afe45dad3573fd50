//! The pipeline on vectors: the steps of the scalar one, in its order, on whatever a machine calls a vector.
//!
//! Lanes that a machine's arithmetic does not settle are left to the scalar pipeline ([`rescue`]).

use super::portable::scalar;
use super::{Job, Kernel, Lane};
use crate::{Format, Kind, NanRule, Operand, Operation, Profile, Rounding, Tiny};

/// What a kernel is compiled for beside its rounding and kind: a set of these bits.
pub(super) type Mode = u8;
/// Step 2 changes signs.
pub(super) const NEGATE: Mode = 1;
/// Steps 3 and 9.
pub(super) const FLUSH: Mode = 2;
/// Step 4 (with `FLUSH`).
pub(super) const DOMINANCE: Mode = 4;
/// A result of the smallest normal magnitude may be one that the tiny policy flushes.
pub(super) const EDGE: Mode = 8;
/// Step 10.
pub(super) const SATURATE: Mode = 16;

/// What a kernel is compiled for: the direction as x86 numbers it, its exceptions suppressed.
pub(super) const NEAREST: i32 = 8;
pub(super) const DOWN: i32 = 9;
pub(super) const UP: i32 = 10;
pub(super) const ZERO: i32 = 11;

/// What a kernel is compiled for: the kind.
pub(super) const MUL_ADD: u8 = 0;
pub(super) const ADD: u8 = 1;
pub(super) const MUL: u8 = 2;

/// Classes of values, numbered as `vfpclassps` does: any of these bits.
pub(super) const NAN_CLASS: i32 = 0x81;
pub(super) const ZERO_CLASS: i32 = 0x06;
pub(super) const SUBNORMAL_CLASS: i32 = 0x20;

/// A set of lanes.
pub(super) trait Lanes: Copy {
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

    const LANES: usize;
    const FORMAT: Format;
    /// Whether NaN results are canonical; otherwise they keep a payload.
    const CANONICAL_NAN: bool;

    fn load(from: &Self::Array) -> Self;
    fn store(self, to: &mut Self::Array);
    /// Around the cache; `to` must be aligned to the array's size.
    fn stream(self, to: &mut Self::Array);
    /// Every lane with these bits of `FORMAT`.
    fn splat(bits: u64) -> Self;

    fn flip(self, mask: Self) -> Self;
    fn select(lanes: Self::Lanes, yes: Self, no: Self) -> Self;
    /// These lanes become zero of their sign.
    fn to_zero(self, lanes: Self::Lanes) -> Self;
    /// The lanes of any of the classes.
    fn class<const CLASS: i32>(self) -> Self::Lanes;
    /// Lanes of the smallest normal magnitude.
    fn smallest_normal(self) -> Self::Lanes;
    /// NaN lanes become the canonical NaN.
    fn canonical_nan(self) -> Self;
    /// NaN lanes become quiet.
    fn quiet(self) -> Self;
    /// Step 10.
    fn clamp(self) -> Self;

    /// Steps 6 to 8, and the lanes where the result is not settled.
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> (Self, Self::Lanes);
    fn add<const ROUND: i32>(a: Self, c: Self) -> (Self, Self::Lanes);
    fn mul<const ROUND: i32>(a: Self, b: Self) -> (Self, Self::Lanes);

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
pub(super) struct Plan<'a, V> {
    operation: Operation,
    profile: &'a Profile,
    flip_product: V,
    flip_addend: V,
}

impl<'a, V: Vector> Plan<'a, V> {
    #[inline(always)]
    pub(super) fn new<N>(job: &Job<'a, N, V::Lane>) -> Plan<'a, V> {
        let sign = |negate| V::splat(if negate { V::FORMAT.sign_mask() } else { 0 });
        Plan {
            // Factors are widened by the time that the scalar pipeline sees them.
            operation: Operation { factors: V::FORMAT, ..*job.operation },
            profile: job.profile,
            flip_product: sign(job.operation.negate_product),
            flip_addend: sign(job.operation.negate_addend),
        }
    }
}

/// Steps 2 to 10.
#[inline(always)]
pub(super) fn step<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
) -> V {
    let [mut a, b, mut c] = operands;
    // 2. Negate.
    if MODE & NEGATE != 0 {
        a = a.flip(plan.flip_product);
        c = c.flip(plan.flip_addend);
    }
    // 3. Operands to flush are rare: one test for all, before arithmetic that may be slow with them.
    if MODE & FLUSH != 0 {
        let mut subnormal = a.class::<SUBNORMAL_CLASS>();
        if KIND != ADD {
            subnormal = subnormal.union(b.class::<SUBNORMAL_CLASS>());
        }
        if KIND != MUL {
            subnormal = subnormal.union(c.class::<SUBNORMAL_CLASS>());
        }
        if !subnormal.is_empty() {
            return careful::<V, ROUND, KIND, MODE>(plan, operands, [a, b, c]);
        }
    }
    // 6 to 8.
    let (mut result, unsettled) = arithmetic::<V, ROUND, KIND>([a, b, c]);
    if MODE & FLUSH != 0 {
        // Steps 4, 5 and 9 change no result but these: a zero factor shows in a NaN or in the sign of a zero.
        let mut doubtful = match MODE & (DOMINANCE | SATURATE) {
            0 => result.class::<{ SUBNORMAL_CLASS | NAN_CLASS }>(),
            SATURATE => result.class::<SUBNORMAL_CLASS>(),
            _ => result.class::<{ SUBNORMAL_CLASS | NAN_CLASS | ZERO_CLASS }>(),
        };
        if MODE & EDGE != 0 {
            doubtful = doubtful.union(result.smallest_normal());
        }
        if !doubtful.is_empty() {
            return careful::<V, ROUND, KIND, MODE>(plan, operands, [a, b, c]);
        }
    } else if MODE & SATURATE == 0 {
        // 5. NaN.
        result = nan::<V, KIND>(plan, result, [a, b, c]);
    }
    // 10. Saturate; it makes NaN zero, so that step 5 does not matter.
    if MODE & SATURATE != 0 {
        result = result.clamp();
    }
    if unsettled.is_empty() { result } else { rescue(plan, KIND, operands) }
}

/// Steps 3 to 10 with every lane looked at.
#[cold]
#[inline(always)]
fn careful<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    plan: &Plan<'_, V>,
    operands: [V; 3],
    negated: [V; 3],
) -> V {
    // 3. Flush operands.
    let [mut a, mut b, c] = negated.map(|x| x.to_zero(x.class::<SUBNORMAL_CLASS>()));
    // 4. Zero dominance.
    if MODE & DOMINANCE != 0 {
        let zero = a.class::<ZERO_CLASS>().union(b.class::<ZERO_CLASS>());
        a = V::select(zero, V::splat(0), a);
        b = V::select(zero, V::splat(0), b);
    }
    // 6 to 8.
    let (mut result, mut unsettled) = arithmetic::<V, ROUND, KIND>([a, b, c]);
    // 9. Flush the result. A magnitude below the smallest normal is tiny by every policy; one equal to it may be tiny
    // by all but `Tiny::Result`.
    if MODE & EDGE != 0 {
        unsettled = unsettled.union(result.smallest_normal());
    }
    result = result.to_zero(result.class::<SUBNORMAL_CLASS>());
    // 5 and 10.
    result = if MODE & SATURATE != 0 { result.clamp() } else { nan::<V, KIND>(plan, result, [a, b, c]) };
    if unsettled.is_empty() { result } else { rescue(plan, KIND, operands) }
}

#[inline(always)]
fn arithmetic<V: Vector, const ROUND: i32, const KIND: u8>([a, b, c]: [V; 3]) -> (V, V::Lanes) {
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
    } else if result.class::<NAN_CLASS>().is_empty() {
        result
    } else {
        payload(plan.profile, KIND, result, operands)
    }
}

/// Step 5 where NaNs keep a payload: the first NaN operand in the profile's order.
#[cold]
#[inline(always)]
fn payload<V: Vector>(profile: &Profile, kind: u8, result: V, operands: [V; 3]) -> V {
    let format = V::FORMAT;
    let (order, made) = match profile.nan_rule(format) {
        NanRule::Canonical => ([Operand::A; 3], format.magnitude_mask()),
        NanRule::Payload(order) => (order, format.sign_mask() | format.infinity() | format.quiet_bit()),
    };
    let mut nan = V::splat(made);
    if let NanRule::Payload(_) = profile.nan_rule(format) {
        for place in order.into_iter().rev() {
            let used = match place {
                Operand::A => true,
                Operand::B => kind != ADD,
                Operand::C => kind != MUL,
            };
            if used {
                let operand = operands[place as usize];
                nan = V::select(operand.class::<NAN_CLASS>(), operand.quiet(), nan);
            }
        }
    }
    V::select(result.class::<NAN_CLASS>(), nan, result)
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

/// The kernel of `V` for an operation; `None` where it has none.
pub(super) fn select<V: Vector, F: Factor<V>>(
    operation: &Operation,
    profile: &Profile,
) -> Option<Kernel<F::Lane, V::Lane>> {
    let mut mode = 0;
    if operation.negate_product || operation.negate_addend {
        mode |= NEGATE;
    }
    if operation.flush {
        // Flushing kernels have time to flip signs that are not negated.
        mode |= FLUSH | NEGATE;
        if profile.tiny != Tiny::Result {
            mode |= EDGE;
        }
    }
    if operation.zero_dominance {
        mode |= DOMINANCE;
    }
    if operation.saturate {
        mode |= SATURATE;
    } else if V::CANONICAL_NAN != (profile.nan_rule(V::FORMAT) == NanRule::Canonical) && V::CANONICAL_NAN {
        return None;
    }
    macro_rules! compiled {
        ($($mode:expr),* $(,)?) => {
            match mode {
                $(mode if mode == ($mode) => by_kind::<V, F, { $mode }>(operation),)*
                _ => None,
            }
        };
    }
    const FL: Mode = FLUSH | NEGATE;
    compiled!(
        0,
        NEGATE,
        SATURATE,
        NEGATE | SATURATE,
        FL,
        FL | SATURATE,
        FL | EDGE,
        FL | EDGE | SATURATE,
        FL | DOMINANCE,
        FL | DOMINANCE | SATURATE,
        FL | DOMINANCE | EDGE,
        FL | DOMINANCE | EDGE | SATURATE,
    )
}

fn by_kind<V: Vector, F: Factor<V>, const MODE: Mode>(operation: &Operation) -> Option<Kernel<F::Lane, V::Lane>> {
    Some(match operation.kind {
        Kind::MulAdd => by_rounding::<V, F, MUL_ADD, MODE>(operation.rounding),
        Kind::Add => by_rounding::<V, F, ADD, MODE>(operation.rounding),
        Kind::Mul => by_rounding::<V, F, MUL, MODE>(operation.rounding),
        Kind::TruncatedMulAdd => return None,
    })
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
