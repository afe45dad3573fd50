//! AVX2 with FMA and F16C.
//!
//! The rounding direction is the thread's, set by a guard while a kernel runs. The operations that round are inline
//! assembly, because the compiler assumes rounding to nearest for all arithmetic that it knows.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::driver::for_each_vector;
use super::environment::{CONTROL, DENORMALS_ARE_ZEROS, FpEnvGuard, direction};
use super::table;
use super::vector::{DOWN, FLUSH, Factor, Mask, Mode, NEAREST, Vector};
use super::{Job, Kernels, portable};
use crate::{Format, Operation, Profile};

/// Whether this processor has the features that the kernels are compiled for.
pub(super) fn is_available() -> bool {
    has_features!("avx2" "fma" "f16c")
}

/// The kernel for an operation; `None` if there is none.
pub(super) fn select(operation: &Operation, profile: &Profile) -> Option<Kernels> {
    if !is_available() {
        return None;
    }
    match (operation.source_format, operation.format) {
        (Format::F32, Format::F32) => table::select_f32::<F32x8>(operation, profile).map(Kernels::U32),
        (Format::F64, Format::F64) => table::select_f64::<F64x4>(operation, profile).map(Kernels::U64),
        (Format::F16, Format::F16) => table::select_f16::<F16x8>(operation, profile).map(Kernels::U16),
        (Format::BF16, Format::BF16) => table::select_bf16::<Bf16x16>(operation, profile).map(Kernels::U16),
        (Format::F16, Format::F32) => table::select_mixed::<F32x8, F16Factors>(operation, profile).map(Kernels::U16U32),
        (Format::BF16, Format::F32) => {
            table::select_mixed::<F32x8, Bf16Factors>(operation, profile).map(Kernels::U16U32)
        }
        _ => None,
    }
}

/// Eight f32.
#[derive(Clone, Copy)]
struct F32x8(__m256);
/// Four f64.
#[derive(Clone, Copy)]
struct F64x4(__m256d);
/// A mask: all ones in its lanes.
#[derive(Clone, Copy)]
struct MaskVector(__m256i);

/// Calls intrinsics.
macro_rules! avx2 {
    ($($intrinsics:tt)*) => {
        // SAFETY: only `select` returns the functions that use these vectors, and it checks the features.
        unsafe { $($intrinsics)* }
    };
}

impl Mask for MaskVector {
    // SAFETY: any 32 bytes are a value of the type.
    const NONE: MaskVector = MaskVector(unsafe { core::mem::zeroed() });
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        MaskVector(avx2!(_mm256_or_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        avx2!(_mm256_testz_si256(self.0, self.0)) != 0
    }
}

/// The same bits, opaque to the compiler, as for AVX-512.
#[target_feature(enable = "avx")]
#[inline]
fn opaque(mut bits: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("/* {} */", inout(ymm_reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// The operations common to lanes of 32 and 64 bits, mostly on integers.
macro_rules! bitwise {
    ($int:ident, $one:expr, $quiet:expr, $cast:ident, $uncast:ident, $set1:ident,
     $equal:ident, $greater:ident, $compare:ident, $blend:ident, $max:ident, $min:ident, $zero:ident) => {
        #[inline(always)]
        fn flip(self, mask: Self) -> Self {
            Self(avx2!($cast(_mm256_xor_si256($uncast(self.0), $uncast(mask.0)))))
        }
        #[inline(always)]
        fn select(mask: MaskVector, yes: Self, no: Self) -> Self {
            Self(avx2!($blend(no.0, yes.0, $cast(mask.0))))
        }
        #[inline(always)]
        fn to_zero(self, mask: MaskVector) -> Self {
            let signs = Self(avx2!($cast(_mm256_and_si256($uncast(self.0), $set1($int::MIN)))));
            Self::select(mask, signs, self)
        }
        #[inline(always)]
        fn zero(self) -> MaskVector {
            MaskVector(avx2!($equal(self.magnitude(), _mm256_setzero_si256())))
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> MaskVector {
            MaskVector(avx2!($uncast($compare::<_CMP_UNORD_Q>(one.0, other.0))))
        }
        #[inline(always)]
        fn subnormal(self) -> MaskVector {
            MaskVector(avx2!(_mm256_andnot_si256(
                self.zero().0,
                $greater($set1(Self::FORMAT.smallest_normal() as $int), self.magnitude())
            )))
        }
        #[inline(always)]
        fn smallest_normal(self) -> MaskVector {
            MaskVector(avx2!($equal(self.magnitude(), $set1(Self::FORMAT.smallest_normal() as $int))))
        }
        #[inline(always)]
        fn magnitude(self) -> __m256i {
            avx2!(_mm256_and_si256(opaque($uncast(self.0)), $set1($int::MAX)))
        }
        #[inline(always)]
        fn lesser(one: __m256i, other: __m256i) -> __m256i {
            avx2!(_mm256_blendv_epi8(one, other, $greater(one, other)))
        }
        #[inline(always)]
        fn any_below(magnitudes: __m256i, bound: __m256i) -> bool {
            !MaskVector(avx2!($greater(bound, magnitudes))).is_empty()
        }
        #[inline(always)]
        fn quiet(self) -> Self {
            Self(avx2!($cast(_mm256_or_si256($uncast(self.0), $set1($quiet)))))
        }
        #[inline(always)]
        fn rectify(self) -> Self {
            // The second operand if one is a NaN or both are zeros; so does min below.
            Self(avx2!($max(self.0, $zero())))
        }
        #[inline(always)]
        fn clamp(self) -> Self {
            Self(avx2!($min(self.rectify().0, $cast($set1($one)))))
        }
    };
}

/// The direction that a kernel is compiled for if it uses the thread's: one kernel serves all four.
const THREADS: i32 = NEAREST;

/// `$compiled` is the direction that the kernel is compiled for, `$thread` the one that the thread is set to.
macro_rules! run {
    ($compiled:expr, $thread:expr) => {
        #[inline(always)]
        fn store_fence() {
            // SAFETY: SSE is there.
            unsafe { _mm_sfence() };
        }
        #[inline(always)]
        fn optimisation_barrier() {
            // SAFETY: no instruction.
            unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
        }
        #[inline(never)] // The same for the function around it.
        fn run<F: Factor<Self>, const ROUND: i32, const OP: u8, const MODE: Mode>(
            job: &Job<'_, F::Lane, Self::Lane>,
            out: &mut [Self::Lane],
        ) {
            enter::<Self, F, { $compiled }, OP, MODE>($thread, job, out);
        }
    };
}

/// The operations that round, one instruction each.
macro_rules! instructions {
    ($float:ident, three $name:ident $text:literal) => {
        #[target_feature(enable = "avx,fma")]
        #[inline]
        fn $name(mut a: $float, b: $float, c: $float) -> $float {
            // SAFETY: only registers are read and written; pure, because the direction is constant while a kernel runs.
            unsafe {
                core::arch::asm!($text, a = inout(ymm_reg) a, b = in(ymm_reg) b, c = in(ymm_reg) c,
                    options(pure, nomem, nostack));
            }
            a
        }
    };
    ($float:ident, two $name:ident $text:literal) => {
        #[target_feature(enable = "avx")]
        #[inline]
        fn $name(mut a: $float, b: $float) -> $float {
            // SAFETY: only registers are read and written; pure, because the direction is constant while a kernel runs.
            unsafe {
                core::arch::asm!($text, a = inout(ymm_reg) a, b = in(ymm_reg) b,
                    options(pure, nomem, nostack));
            }
            a
        }
    };
}
instructions!(__m256, three fma_ps "vfmadd213ps {a}, {b}, {c}");
instructions!(__m256, two add_ps "vaddps {a}, {a}, {b}");
instructions!(__m256, two mul_ps "vmulps {a}, {a}, {b}");
instructions!(__m256, three neg_fma_ps "vfnmsub213ps {a}, {b}, {c}"); // -(a × b) - c
instructions!(__m256, two sub_ps "vsubps {a}, {a}, {b}");
instructions!(__m256d, three fma_pd "vfmadd213pd {a}, {b}, {c}");
instructions!(__m256d, two add_pd "vaddpd {a}, {a}, {b}");
instructions!(__m256d, two mul_pd "vmulpd {a}, {a}, {b}");

/// Lanes of 16 bits: with the macros above.
mod half;
use half::{Bf16Factors, Bf16x16, F16Factors, F16x8};

/// The arithmetic of a format that the processor has.
macro_rules! arithmetic {
    ($mul_add:ident, $add:ident, $mul:ident) => {
        #[inline(always)]
        fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
            Self(avx2!($mul_add(a.0, b.0, c.0)))
        }
        #[inline(always)]
        fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
            Self(avx2!($add(a.0, c.0)))
        }
        #[inline(always)]
        fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
            Self(avx2!($mul(a.0, b.0)))
        }
    };
}

impl Vector for F32x8 {
    type Lane = u32;
    type Array = [u32; 8];
    type Mask = MaskVector;
    type Magnitudes = __m256i;

    const LANES: usize = 8;
    const FORMAT: Format = Format::F32;
    const CANONICAL_NAN: bool = true;
    const HARDWARE_FLUSH: bool = true;

    #[inline(always)]
    fn load(from: &[u32; 8]) -> Self {
        Self(avx2!(_mm256_loadu_ps(from.as_ptr().cast())))
    }
    #[inline(always)]
    fn store<const ROUND: i32>(self, to: &mut [u32; 8]) {
        avx2!(_mm256_storeu_ps(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn store_nontemporal<const ROUND: i32>(self, to: &mut [u32; 8]) {
        debug_assert!(to.as_ptr().cast::<__m256>().is_aligned());
        avx2!(_mm256_stream_ps(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        Self(avx2!(_mm256_castsi256_ps(_mm256_set1_epi32(bits as i32))))
    }
    arithmetic!(fma_ps, add_ps, mul_ps);
    bitwise!(
        i32,
        0x3f80_0000,
        0x0040_0000,
        _mm256_castsi256_ps,
        _mm256_castps_si256,
        _mm256_set1_epi32,
        _mm256_cmpeq_epi32,
        _mm256_cmpgt_epi32,
        _mm256_cmp_ps,
        _mm256_blendv_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_setzero_ps
    );
    run!(THREADS, ROUND);
}

impl Vector for F64x4 {
    type Lane = u64;
    type Array = [u64; 4];
    type Mask = MaskVector;
    type Magnitudes = __m256i;

    const LANES: usize = 4;
    const FORMAT: Format = Format::F64;
    const CANONICAL_NAN: bool = false;
    const HARDWARE_FLUSH: bool = true;

    #[inline(always)]
    fn load(from: &[u64; 4]) -> Self {
        Self(avx2!(_mm256_loadu_pd(from.as_ptr().cast())))
    }
    #[inline(always)]
    fn store<const ROUND: i32>(self, to: &mut [u64; 4]) {
        avx2!(_mm256_storeu_pd(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn store_nontemporal<const ROUND: i32>(self, to: &mut [u64; 4]) {
        debug_assert!(to.as_ptr().cast::<__m256>().is_aligned());
        avx2!(_mm256_stream_pd(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        Self(avx2!(_mm256_castsi256_pd(_mm256_set1_epi64x(bits as i64))))
    }
    arithmetic!(fma_pd, add_pd, mul_pd);
    bitwise!(
        i64,
        0x3ff0_0000_0000_0000,
        0x0008_0000_0000_0000,
        _mm256_castsi256_pd,
        _mm256_castpd_si256,
        _mm256_set1_epi64x,
        _mm256_cmpeq_epi64,
        _mm256_cmpgt_epi64,
        _mm256_cmp_pd,
        _mm256_blendv_pd,
        _mm256_max_pd,
        _mm256_min_pd,
        _mm256_setzero_pd
    );
    run!(THREADS, ROUND);
}

/// Runs a kernel with the rounding direction and the flushing of operands that it needs.
#[inline(always)]
fn enter<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    thread: i32,
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    let flushes = MODE & FLUSH != 0 && V::HARDWARE_FLUSH;
    let set = direction(thread) | if flushes { DENORMALS_ARE_ZEROS } else { 0 };
    let Some(_guard) = FpEnvGuard::enter(CONTROL, set) else {
        return portable::run(job, out);
    };
    // SAFETY: only `select` returns the functions that call this, and it checks the features.
    unsafe { kernel::<V, F, ROUND, OP, MODE>(job, out) }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)] // The environment is not the default in here.
fn kernel<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    for_each_vector::<V, F, ROUND, OP, MODE>(job, out);
}
