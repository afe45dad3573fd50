//! AVX-512: every direction is a field of the instruction, so that no mode is changed.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::vector::{Lanes, Mode, Plan, Vector, select as select_kernel, step};
use super::{Job, Kernels, Lane, Source, portable};
use crate::{Format, Operation, Profile};

/// Whether this machine has what the kernels are compiled for.
pub(super) fn is_available() -> bool {
    macro_rules! has {
        ($($feature:tt)*) => {{
            #[cfg(feature = "std")]
            { $(std::arch::is_x86_feature_detected!($feature))&&* }
            #[cfg(not(feature = "std"))]
            { $(cfg!(target_feature = $feature))&&* }
        }};
    }
    has!("avx512f" "avx512bw" "avx512dq" "avx512vl")
}

/// The kernel for an operation; `None` where there is none.
pub(super) fn select(operation: &Operation, profile: &Profile) -> Option<Kernels> {
    match (operation.factors, operation.format) {
        (Format::F32, Format::F32) => select_kernel::<F32x16>(operation, profile).map(Kernels::U32),
        _ => None,
    }
}

impl Lanes for __mmask16 {
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        self == 0
    }
}

/// Sixteen f32.
#[derive(Clone, Copy)]
struct F32x16(__m512);

/// Calls intrinsics.
macro_rules! lanes {
    ($($intrinsics:tt)*) => {
        // SAFETY: `run` makes the first vector after it asked the machine for these features.
        unsafe { $($intrinsics)* }
    };
}

/// `vfpclassps` and `vfpclasspd`: either zero.
const CLASS_ZERO: i32 = 0x06;
/// Either subnormal.
const CLASS_SUBNORMAL: i32 = 0x20;
/// `vfixupimmps`, four bits a class of the second operand: quiet and signalling NaN take the first operand's bits,
/// all other classes the second's.
const FIXUP_NAN: i32 = 0x1111_1100;

impl Vector for F32x16 {
    type Factor = u32;
    type Lane = u32;
    type Factors = [u32; 16];
    type Values = [u32; 16];
    type Lanes = __mmask16;

    const LANES: usize = 16;
    const FORMAT: Format = Format::F32;
    const CANONICAL_NAN: bool = true;

    #[inline(always)]
    fn load_factors(from: &[u32; 16]) -> Self {
        Self::load(from)
    }
    #[inline(always)]
    fn load(from: &[u32; 16]) -> Self {
        F32x16(lanes!(_mm512_loadu_ps(from.as_ptr().cast())))
    }
    #[inline(always)]
    fn store(self, to: &mut [u32; 16]) {
        lanes!(_mm512_storeu_ps(to.as_mut_ptr().cast(), self.0))
    }
    #[inline(always)]
    fn stream(self, to: &mut [u32; 16]) {
        lanes!(_mm512_stream_ps(to.as_mut_ptr().cast(), self.0))
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        F32x16(lanes!(_mm512_castsi512_ps(_mm512_set1_epi32(bits as i32))))
    }
    #[inline(always)]
    fn flip(self, mask: Self) -> Self {
        F32x16(lanes!(_mm512_xor_ps(self.0, mask.0)))
    }
    #[inline(always)]
    fn select(lanes: __mmask16, yes: Self, no: Self) -> Self {
        F32x16(lanes!(_mm512_mask_blend_ps(lanes, no.0, yes.0)))
    }
    #[inline(always)]
    fn to_zero(self, lanes: __mmask16) -> Self {
        F32x16(lanes!(_mm512_mask_and_ps(self.0, lanes, self.0, _mm512_set1_ps(-0.0))))
    }
    #[inline(always)]
    fn subnormal(self) -> __mmask16 {
        lanes!(_mm512_fpclass_ps_mask::<CLASS_SUBNORMAL>(self.0))
    }
    #[inline(always)]
    fn zero(self) -> __mmask16 {
        lanes!(_mm512_fpclass_ps_mask::<CLASS_ZERO>(self.0))
    }
    #[inline(always)]
    fn nan(self) -> __mmask16 {
        lanes!(_mm512_cmp_round_ps_mask::<_CMP_UNORD_Q, _MM_FROUND_NO_EXC>(self.0, self.0))
    }
    #[inline(always)]
    fn smallest_normal(self) -> __mmask16 {
        lanes!({
            let magnitude = _mm512_and_si512(_mm512_castps_si512(self.0), _mm512_set1_epi32(0x7fff_ffff));
            _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x0080_0000))
        })
    }
    #[inline(always)]
    fn canonical_nan(self) -> Self {
        lanes!({
            let nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fff_ffff));
            F32x16(_mm512_fixupimm_round_ps::<0, _MM_FROUND_NO_EXC>(nan, self.0, _mm512_set1_epi32(FIXUP_NAN)))
        })
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        F32x16(lanes!(_mm512_or_ps(self.0, _mm512_castsi512_ps(_mm512_set1_epi32(0x0040_0000)))))
    }
    #[inline(always)]
    fn clamp(self) -> Self {
        lanes!({
            // Of NaN and a number, and of two zeros, `vmaxps` takes the second operand.
            let positive = _mm512_max_round_ps::<_MM_FROUND_NO_EXC>(self.0, _mm512_setzero_ps());
            F32x16(_mm512_min_round_ps::<_MM_FROUND_NO_EXC>(positive, _mm512_set1_ps(1.0)))
        })
    }
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> (Self, __mmask16) {
        (F32x16(lanes!(_mm512_fmadd_round_ps::<ROUND>(a.0, b.0, c.0))), 0)
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> (Self, __mmask16) {
        (F32x16(lanes!(_mm512_add_round_ps::<ROUND>(a.0, c.0))), 0)
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> (Self, __mmask16) {
        (F32x16(lanes!(_mm512_mul_round_ps::<ROUND>(a.0, b.0))), 0)
    }

    fn run<const ROUND: i32, const KIND: u8, const MODE: Mode>(job: &Job<'_, u32, u32>, out: &mut [u32]) {
        enter::<Self, ROUND, KIND, MODE>(job, out);
    }
}

/// Into a kernel, if the machine and the thread's floating-point environment are as it needs them.
#[inline(always)]
fn enter<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, V::Factor, V::Lane>,
    out: &mut [V::Lane],
) {
    if !is_available() || !is_default_environment() {
        return portable::run(job, out);
    }
    // SAFETY: the features are there.
    unsafe { kernel::<V, ROUND, KIND, MODE>(job, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn kernel<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, V::Factor, V::Lane>,
    out: &mut [V::Lane],
) {
    sweep::<V, ROUND, KIND, MODE>(job, out);
}

/// Round to nearest, neither subnormal operands nor subnormal results taken as zero, no exception traps: what a
/// thread starts with. A library built with fast-math flags may have changed it when it was loaded.
#[inline(always)]
pub(super) fn is_default_environment() -> bool {
    /// Everything but the six sticky exception bits.
    const CONTROL: u32 = 0xffc0;
    const DEFAULT: u32 = 0x1f80;
    let mut mxcsr = 0_u32;
    // SAFETY: stores the register's four bytes into a local.
    unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
    mxcsr & CONTROL == DEFAULT
}

/// Vectors in one turn of the main loop.
const UNROLL: usize = 4;
/// Lanes of the largest turn.
const TURN: usize = UNROLL * 16;

/// A stream of lanes: the next ones.
struct Stream<T> {
    next: *const T,
    uniform: bool,
}

impl<T: Lane> Stream<T> {
    /// `buffer` must outlive the stream, as must the slice or `out`.
    #[inline(always)]
    fn new(source: Source<'_, T>, out: *const T, buffer: &mut [T; TURN]) -> Stream<T> {
        match source {
            Source::Slice(slice) => Stream { next: slice.as_ptr(), uniform: false },
            Source::Out => Stream { next: out, uniform: false },
            Source::Uniform(value) => {
                buffer.fill(value);
                Stream { next: buffer.as_ptr(), uniform: true }
            }
        }
    }

    /// # Safety
    /// A stream that is not uniform must have this many lanes left.
    #[inline(always)]
    unsafe fn advance(&mut self, lanes: usize) {
        // SAFETY: the caller's word.
        self.next = unsafe { self.next.add(if self.uniform { 0 } else { lanes }) };
    }
}

/// The loop over a job's vectors.
#[inline(always)]
pub(super) fn sweep<V: Vector, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, V::Factor, V::Lane>,
    out: &mut [V::Lane],
) {
    let plan = Plan::<V>::new(job);
    let length = out.len();
    let turn = UNROLL * V::LANES;
    let base = out.as_mut_ptr();
    let [mut uniform_a, mut uniform_b] = [[V::Factor::default(); TURN]; 2];
    let mut uniform_c = [V::Lane::default(); TURN];
    // A factor is `Out` only where both types are the same (`Batch` checks it).
    let mut a = Stream::new(job.factors[0], base.cast_const().cast(), &mut uniform_a);
    let mut b = Stream::new(job.factors[1], base.cast_const().cast(), &mut uniform_b);
    let mut c = Stream::new(job.addend, base.cast_const(), &mut uniform_c);
    let mut done = 0;
    // Fewer lanes than a vector: through arrays.
    let part =
        |a: &mut Stream<V::Factor>, b: &mut Stream<V::Factor>, c: &mut Stream<V::Lane>, done: usize, count: usize| {
            let [mut fa, mut fb] = [V::Factors::default(); 2];
            let mut vc = V::Values::default();
            let mut result = V::Values::default();
            // SAFETY: each stream has `count` lanes from `next` on, so does `out` from `done` on, and the arrays have
            // `LANES`, which is more.
            unsafe {
                a.next.copy_to_nonoverlapping(fa.as_mut().as_mut_ptr(), count);
                b.next.copy_to_nonoverlapping(fb.as_mut().as_mut_ptr(), count);
                c.next.copy_to_nonoverlapping(vc.as_mut().as_mut_ptr(), count);
                let abc = [V::load_factors(&fa), V::load_factors(&fb), V::load(&vc)];
                step::<V, ROUND, KIND, MODE>(&plan, abc).store(&mut result);
                base.add(done).copy_from_nonoverlapping(result.as_ref().as_ptr(), count);
                a.advance(count);
                b.advance(count);
                c.advance(count);
            }
        };
    let streaming = job.streams(length) && length >= turn;
    if streaming {
        // Stores around the cache want aligned vectors.
        done = base.align_offset(V::LANES * size_of::<V::Lane>()).min(length);
        part(&mut a, &mut b, &mut c, 0, done);
    }
    while length - done >= turn {
        let mut results = [V::splat(0); UNROLL];
        for (vector, result) in results.iter_mut().enumerate() {
            let at = vector * V::LANES;
            // SAFETY: each stream has `turn` lanes from `next` on: a slice and `out` have `length` lanes, of which
            // `done` lie behind, and a uniform has `TURN`. Arrays of integers need no more than their elements'
            // alignment. What is read of `out` is a copy by the time that anything is written there.
            let abc = unsafe {
                [
                    V::load_factors(&*a.next.add(at).cast()),
                    V::load_factors(&*b.next.add(at).cast()),
                    V::load(&*c.next.add(at).cast()),
                ]
            };
            *result = step::<V, ROUND, KIND, MODE>(&plan, abc);
        }
        for (vector, result) in results.into_iter().enumerate() {
            // SAFETY: `out` has `turn` lanes from `done` on.
            let to = unsafe { &mut *base.add(done + vector * V::LANES).cast() };
            if streaming { result.stream(to) } else { result.store(to) }
        }
        // SAFETY: at most one past the end.
        unsafe {
            a.advance(turn);
            b.advance(turn);
            c.advance(turn);
        }
        done += turn;
    }
    if streaming {
        // SAFETY: SSE is there. Stores around the cache are not ordered with what another thread is told next.
        unsafe { _mm_sfence() };
    }
    while done < length {
        let count = V::LANES.min(length - done);
        part(&mut a, &mut b, &mut c, done, count);
        done += count;
    }
}
