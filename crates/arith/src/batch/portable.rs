//! The scalar pipeline for each lane: the reference for every other kernel.

use super::{Job, Lane, Source, check_width};
use crate::{ArithOp, Operation, Profile};

/// Any operation, on any processor.
pub(super) fn run<N: Lane, W: Lane>(job: &Job<'_, N, W>, out: &mut [W]) {
    check_width::<N, W>(job.operation);
    let [a, b] = job.factors;
    for (lane, slot) in out.iter_mut().enumerate() {
        let old = *slot;
        let factor = |source: &Source<'_, N>| match source {
            Source::Slice(slice) => slice[lane].to_bits(),
            Source::Uniform(value) => value.to_bits(),
            Source::Out => old.to_bits(),
        };
        let addend = match job.addend {
            Source::Slice(slice) => slice[lane],
            Source::Uniform(value) => *value,
            Source::Out => old,
        };
        *slot = W::from_bits(scalar(job.operation, job.profile, [factor(a), factor(b), addend.to_bits()]));
    }
}

/// One lane.
#[inline]
pub(super) fn scalar(operation: &Operation, profile: &Profile, [a, b, c]: [u64; 3]) -> u64 {
    let outcome = match operation.op {
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => operation.evaluate(profile, &[a, b, c]),
        ArithOp::Add => operation.evaluate(profile, &[a, c]),
        ArithOp::Mul => operation.evaluate(profile, &[a, b]),
    };
    outcome.bits
}
