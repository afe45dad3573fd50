//! Which kernels are compiled, and which of them computes an operation.

use super::Kernel;
use super::vector::{
    ADD, DOWN, FLUSH, FMZ, Factor, MUL, MUL_ADD, Mode, NEAREST, NEGATE, RELU, SATURATE, Same, UP, Vector, ZERO,
};
use crate::{ArithOp, Clamp, FmzSatNan, NanRule, Operation, Profile, Rounding};

/// Whether the kernels without negation are compiled too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Negation {
    /// Kernels with and without.
    Specialised,
    /// Only kernels that negate.
    Always,
}

/// The mode of the kernel for an operation, if one is possible; the tables below list those that exist.
fn mode<V: Vector>(operation: &Operation, profile: &Profile, negation: Negation) -> Option<Mode> {
    let canonical = profile.nan_rule(V::FORMAT) == NanRule::Canonical;
    let (clamp, clamps) = match operation.clamp {
        Clamp::None => (0, false),
        Clamp::Unit => (SATURATE, true),
        Clamp::Relu => (RELU, true),
    };
    let fmz_sat = operation.fmz && operation.saturates() && profile.fmz_sat_nan == FmzSatNan::Zero;
    // Both clamps decide what becomes of a NaN.
    if operation.oob || fmz_sat || operation.fmz && !operation.flush || V::CANONICAL_NAN && !canonical && !clamps {
        return None;
    }
    Some(match operation.flush {
        true => FLUSH | clamp | if operation.fmz { FMZ } else { 0 },
        false if negation == Negation::Always || operation.negate_product || operation.negate_addend => NEGATE | clamp,
        false => clamp,
    })
}

/// The kernels that are compiled: each operation with its modes, in all directions or one.
macro_rules! kernels {
    ($vector:ident, $factor:ident, $operation:ident, $mode:expr;
     $($op:ident, $number:ident, $rounding:ident: $($compiled:expr),*;)*) => {{
        let mode = $mode?;
        $($(if $operation.op == ArithOp::$op && mode == ($compiled) {
            return $rounding::<$vector, $factor, $number, { $compiled }>($operation.rounding);
        })*)*
        None
    }};
}

/// The kernel of f32 for an operation.
pub(super) fn select_f32<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, Negation::Specialised);
        MulAdd, MUL_ADD, all: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE, FLUSH | FMZ,
            FLUSH | FMZ | SATURATE;
        Add, ADD, all: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE;
        Mul, MUL, all: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE, FLUSH | FMZ,
            FLUSH | FMZ | SATURATE;
    )
}

/// The kernel of f64, which GPUs do not saturate.
pub(super) fn select_f64<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, Negation::Specialised);
        MulAdd, MUL_ADD, all: 0, NEGATE, FLUSH;
        Add, ADD, all: 0, NEGATE, FLUSH;
        Mul, MUL, all: 0, NEGATE, FLUSH;
    )
}

/// The kernel of f16: the modes of PTX and SASS, and SPIR-V's multiply-add in the other directions.
#[cfg(target_arch = "x86_64")]
pub(super) fn select_f16<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, Negation::Specialised);
        MulAdd, MUL_ADD, all: 0, FLUSH;
        MulAdd, MUL_ADD, nearest: NEGATE, SATURATE, FLUSH | SATURATE, RELU, FLUSH | RELU, FLUSH | FMZ,
            FLUSH | FMZ | SATURATE, FLUSH | FMZ | RELU;
        Add, ADD, nearest: 0, NEGATE, SATURATE, NEGATE | SATURATE, FLUSH, FLUSH | SATURATE;
        Mul, MUL, nearest: 0, SATURATE, FLUSH, FLUSH | SATURATE, FLUSH | FMZ, FLUSH | FMZ | SATURATE;
    )
}

/// The kernel of bf16: PTX's modes.
#[cfg(target_arch = "x86_64")]
pub(super) fn select_bf16<V: Vector>(operation: &Operation, profile: &Profile) -> Option<Kernel<V::Lane, V::Lane>> {
    kernels!(V, Same, operation, mode::<V>(operation, profile, Negation::Specialised);
        MulAdd, MUL_ADD, all: 0, RELU;
        MulAdd, MUL_ADD, nearest: NEGATE;
        Add, ADD, nearest: 0, NEGATE;
        Mul, MUL, nearest: 0;
    )
}

/// The kernel for factors of 16 bits with f32, which only PTX has: not flushed, no plain multiplication.
pub(super) fn select_mixed<V: Vector, F: Factor<V>>(
    operation: &Operation,
    profile: &Profile,
) -> Option<Kernel<F::Lane, V::Lane>> {
    kernels!(V, F, operation, mode::<V>(operation, profile, Negation::Always);
        MulAdd, MUL_ADD, all: NEGATE, NEGATE | SATURATE;
        Add, ADD, all: NEGATE, NEGATE | SATURATE;
    )
}

fn all<V: Vector, F: Factor<V>, const OP: u8, const MODE: Mode>(
    rounding: Rounding,
) -> Option<Kernel<F::Lane, V::Lane>> {
    match rounding {
        Rounding::NearestEven => nearest::<V, F, OP, MODE>(rounding),
        Rounding::TowardZero => Some(V::run::<F, ZERO, OP, MODE>),
        Rounding::Down => Some(V::run::<F, DOWN, OP, MODE>),
        Rounding::Up => Some(V::run::<F, UP, OP, MODE>),
    }
}

#[inline(always)]
fn nearest<V: Vector, F: Factor<V>, const OP: u8, const MODE: Mode>(
    rounding: Rounding,
) -> Option<Kernel<F::Lane, V::Lane>> {
    (rounding == Rounding::NearestEven).then_some(V::run::<F, NEAREST, OP, MODE>)
}
