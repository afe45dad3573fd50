//! AVX-512. The rounding direction is a field of each instruction, so the thread's is not changed.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::driver::for_each_vector;
use super::environment::{DENORMALS_ARE_ZEROS, EXCEPTION_MASKS, FLUSH_TO_ZERO, FpEnvGuard, underflows_gradually};
use super::table;
use super::vector::{FLUSH, Factor, Mask, Mode, Vector};
use super::{Job, Kernels, portable};
use crate::{Format, Operation, Profile};

/// Whether this processor has the features that the kernels are compiled for.
pub(super) fn is_available() -> bool {
    has_features!("avx512f" "avx512bw" "avx512dq" "avx512vl")
}

/// The kernel for an operation; `None` if there is none.
pub(super) fn select(operation: &Operation, profile: &Profile) -> Option<Kernels> {
    if !is_available() {
        return None;
    }
    match (operation.source_format, operation.format) {
        (Format::F32, Format::F32) => table::select_f32::<F32x16>(operation, profile).map(Kernels::U32),
        (Format::F64, Format::F64) => table::select_f64::<F64x8>(operation, profile).map(Kernels::U64),
        (Format::F16, Format::F16) => table::select_f16::<Halves<F16>>(operation, profile).map(Kernels::U16),
        (Format::BF16, Format::BF16) => table::select_bf16::<Halves<Bf16>>(operation, profile).map(Kernels::U16),
        (Format::F16, Format::F32) => {
            table::select_mixed::<F32x16, F16Factors>(operation, profile).map(Kernels::U16U32)
        }
        (Format::BF16, Format::F32) => {
            table::select_mixed::<F32x16, Bf16Factors>(operation, profile).map(Kernels::U16U32)
        }
        _ => None,
    }
}

/// Sixteen f32.
#[derive(Clone, Copy)]
struct F32x16(__m512);
/// Eight f64.
#[derive(Clone, Copy)]
struct F64x8(__m512d);

/// Calls intrinsics.
macro_rules! avx512 {
    ($($intrinsics:tt)*) => {
        // SAFETY: only `select` returns the functions that use these vectors, and it checks the features.
        unsafe { $($intrinsics)* }
    };
}

macro_rules! impl_mask {
    ($mask:ty) => {
        impl Mask for $mask {
            const NONE: Self = 0;
            #[inline(always)]
            fn union(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn is_empty(self) -> bool {
                self == 0
            }
        }
    };
}
impl_mask!(__mmask32);
impl_mask!(__mmask16);
impl_mask!(__mmask8);

/// Exceptions suppressed: the instructions have explicit rounding directions, and the others must raise no flag either.
const QUIETLY: i32 = _MM_FROUND_NO_EXC;

/// The same bits, opaque to the compiler. It would otherwise replace tests of bits by equivalent tests of floats, which are
/// not equivalent where subnormals are flushed or no exception may be raised.
#[target_feature(enable = "avx512f")]
#[inline]
fn opaque(mut bits: __m512i) -> __m512i {
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("/* {} */", inout(zmm_reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// The operations common to lanes of 32 and 64 bits.
macro_rules! bitwise {
    ($float:ident, $int:ident, $set1:ident, $cast:ident, $uncast:ident, $xor:ident, $and:ident,
     $or:ident, $blend:ident, $max:ident, $min:ident, $lesser:ident, $sub:ident, $below:ident, $equal:ident, $compare:ident) => {
        #[inline(always)]
        fn magnitude(self) -> __m512i {
            avx512!(_mm512_and_si512(opaque($uncast(self.0)), $set1($int::MAX)))
        }
        #[inline(always)]
        fn lesser(one: __m512i, other: __m512i) -> __m512i {
            avx512!($lesser(one, other))
        }
        #[inline(always)]
        fn any_below(magnitudes: __m512i, bound: __m512i) -> bool {
            avx512!($below(magnitudes, bound)) != 0
        }
        #[inline(always)]
        fn subnormal(self) -> Self::Mask {
            // Between zero and the smallest normal: zero wraps around.
            avx512!($below($sub(self.magnitude(), $set1(1)), $set1(Self::FORMAT.smallest_normal() as $int - 1)))
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> Self::Mask {
            avx512!($compare::<_CMP_UNORD_Q, QUIETLY>(one.0, other.0))
        }
        #[inline(always)]
        fn smallest_normal(self) -> Self::Mask {
            avx512!($equal(self.magnitude(), $set1(Self::FORMAT.smallest_normal() as $int)))
        }
        #[inline(always)]
        fn flip(self, mask: Self) -> Self {
            Self(avx512!($xor(self.0, mask.0)))
        }
        #[inline(always)]
        fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
            Self(avx512!($blend(mask, no.0, yes.0)))
        }
        #[inline(always)]
        fn to_zero(self, mask: Self::Mask) -> Self {
            Self(avx512!($and(self.0, mask, self.0, $cast($set1($int::MIN)))))
        }
        #[inline(always)]
        fn zero(self) -> Self::Mask {
            avx512!($equal(self.magnitude(), _mm512_setzero_si512()))
        }
        #[inline(always)]
        fn quiet(self) -> Self {
            let bit = 1 << ($float::MANTISSA_DIGITS - 2);
            Self(avx512!($or(self.0, $cast($set1(bit)))))
        }
        #[inline(always)]
        fn rectify(self) -> Self {
            // The second operand if one is a NaN or both are zeros; so does min below.
            Self(avx512!($max::<QUIETLY>(self.0, $cast(_mm512_setzero_si512()))))
        }
        #[inline(always)]
        fn clamp(self) -> Self {
            let one = avx512!($cast($set1($float::to_bits(1.0) as $int)));
            Self(avx512!($min::<QUIETLY>(self.rectify().0, one)))
        }
    };
}

macro_rules! bitwise_ps {
    () => {
        bitwise!(
            f32,
            i32,
            _mm512_set1_epi32,
            _mm512_castsi512_ps,
            _mm512_castps_si512,
            _mm512_xor_ps,
            _mm512_mask_and_ps,
            _mm512_or_ps,
            _mm512_mask_blend_ps,
            _mm512_max_round_ps,
            _mm512_min_round_ps,
            _mm512_min_epu32,
            _mm512_sub_epi32,
            _mm512_cmplt_epu32_mask,
            _mm512_cmpeq_epi32_mask,
            _mm512_cmp_round_ps_mask
        );
    };
}

macro_rules! bitwise_pd {
    () => {
        bitwise!(
            f64,
            i64,
            _mm512_set1_epi64,
            _mm512_castsi512_pd,
            _mm512_castpd_si512,
            _mm512_xor_pd,
            _mm512_mask_and_pd,
            _mm512_or_pd,
            _mm512_mask_blend_pd,
            _mm512_max_round_pd,
            _mm512_min_round_pd,
            _mm512_min_epu64,
            _mm512_sub_epi64,
            _mm512_cmplt_epu64_mask,
            _mm512_cmpeq_epi64_mask,
            _mm512_cmp_round_pd_mask
        );
    };
}

/// A format that the processor has arithmetic for.
macro_rules! native {
    ($vector:ident, $format:expr, $canonical:expr, $lane:ident, $int:ident, $lanes:expr, $mask:ident, $bitwise:ident,
     $load:ident, $store:ident, $stream:ident, $set1:ident, $cast:ident, $mul_add:ident, $add:ident, $mul:ident) => {
        impl Vector for $vector {
            type Lane = $lane;
            type Array = [$lane; $lanes];
            type Mask = $mask;
            type Magnitudes = __m512i;

            const LANES: usize = $lanes;
            const FORMAT: Format = $format;
            const CANONICAL_NAN: bool = $canonical;
            const HARDWARE_FLUSH: bool = true;

            #[inline(always)]
            fn load(from: &Self::Array) -> Self {
                Self(avx512!($load(from.as_ptr().cast())))
            }
            #[inline(always)]
            fn store<const ROUND: i32>(self, to: &mut Self::Array) {
                avx512!($store(to.as_mut_ptr().cast(), self.0));
            }
            #[inline(always)]
            fn store_nontemporal<const ROUND: i32>(self, to: &mut Self::Array) {
                debug_assert!(to.as_ptr().cast::<__m512>().is_aligned());
                avx512!($stream(to.as_mut_ptr().cast(), self.0));
            }
            #[inline(always)]
            fn splat(bits: u64) -> Self {
                Self(avx512!($cast($set1(bits as $int))))
            }
            #[inline(always)]
            fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
                Self(avx512!($mul_add::<ROUND>(a.0, b.0, c.0)))
            }
            #[inline(always)]
            fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
                Self(avx512!($add::<ROUND>(a.0, c.0)))
            }
            #[inline(always)]
            fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
                Self(avx512!($mul::<ROUND>(a.0, b.0)))
            }
            $bitwise!();
            run!();
        }
    };
}

macro_rules! run {
    () => {
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
            enter::<Self, F, ROUND, OP, MODE>(job, out);
        }
    };
}

/// Lanes of 16 bits: with the macros above.
mod half;
use half::{Bf16, Bf16Factors, F16, F16Factors, Halves};

native!(
    F32x16,
    Format::F32,
    true,
    u32,
    i32,
    16,
    __mmask16,
    bitwise_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_stream_ps,
    _mm512_set1_epi32,
    _mm512_castsi512_ps,
    _mm512_fmadd_round_ps,
    _mm512_add_round_ps,
    _mm512_mul_round_ps
);
native!(
    F64x8,
    Format::F64,
    false,
    u64,
    i64,
    8,
    __mmask8,
    bitwise_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_stream_pd,
    _mm512_set1_epi64,
    _mm512_castsi512_pd,
    _mm512_fmadd_round_pd,
    _mm512_add_round_pd,
    _mm512_mul_round_pd
);

/// Runs a kernel if the thread's floating-point environment is as required.
#[inline(always)]
fn enter<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    // The instructions override the thread's direction and, but for one, exception masks: what else matters is the handling
    // of subnormals.
    let guard = if MODE & FLUSH != 0 && V::HARDWARE_FLUSH {
        FpEnvGuard::enter(FLUSH_TO_ZERO, DENORMALS_ARE_ZEROS).map(Some)
    } else if V::FORMAT == Format::F16 {
        // Operands are widened by an instruction that may raise a flag, and traps if its exception is unmasked.
        FpEnvGuard::enter(FLUSH_TO_ZERO | DENORMALS_ARE_ZEROS | EXCEPTION_MASKS, 0).map(Some)
    } else {
        underflows_gradually().then_some(None)
    };
    let Some(_guard) = guard else {
        return portable::run(job, out);
    };
    // SAFETY: only `select` returns the functions that call this, and it checks the features.
    unsafe { kernel::<V, F, ROUND, OP, MODE>(job, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)] // The environment is not the default in here.
fn kernel<V: Vector, F: Factor<V>, const ROUND: i32, const OP: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    for_each_vector::<V, F, ROUND, OP, MODE>(job, out);
}
