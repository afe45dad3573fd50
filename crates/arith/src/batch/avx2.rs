//! AVX2 with FMA and F16C.
//!
//! The direction is the thread's, lent to a kernel while it runs. What rounds is written as instructions, of which the
//! compiler knows nothing: it takes the direction for the nearest wherever it sees arithmetic.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::environment::{CONTROL, DENORMALS_ARE_ZEROS, Lent, direction};
use super::sweep::sweep;
use super::vector::{self, DOWN, FLUSH, Factor, Lanes, Mode, NEAREST, UP, Vector, ZERO};
use super::{Job, Kernels, portable};
use crate::{Format, Operation, Profile};

/// Whether this machine has what the kernels are compiled for.
pub(super) fn is_available() -> bool {
    has_features!("avx2" "fma" "f16c")
}

/// The kernel for an operation; `None` where there is none.
pub(super) fn select(operation: &Operation, profile: &Profile) -> Option<Kernels> {
    if !is_available() {
        return None;
    }
    match (operation.factors, operation.format) {
        (Format::F32, Format::F32) => vector::select_f32::<F32x8>(operation, profile).map(Kernels::U32),
        (Format::F64, Format::F64) => vector::select_f64::<F64x4>(operation, profile).map(Kernels::U64),
        (Format::F16, Format::F16) => vector::select_f16::<F16x8>(operation, profile).map(Kernels::U16),
        (Format::F16, Format::F32) => vector::select_mixed::<F32x8, F16x8>(operation, profile).map(Kernels::U16U32),
        (Format::BF16, Format::F32) => vector::select_mixed::<F32x8, Bf16x8>(operation, profile).map(Kernels::U16U32),
        _ => None,
    }
}

/// Eight f32.
#[derive(Clone, Copy)]
struct F32x8(__m256);
/// Four f64.
#[derive(Clone, Copy)]
struct F64x4(__m256d);
/// Eight f16, each as the f32 of its value.
#[derive(Clone, Copy)]
struct F16x8(__m256);
/// Eight bf16: factors only.
struct Bf16x8;
/// All ones in the lanes of the set.
#[derive(Clone, Copy)]
struct Mask(__m256i);

/// Calls intrinsics.
macro_rules! avx2 {
    ($($intrinsics:tt)*) => {
        // SAFETY: `select` alone gives out the functions that work on these vectors, and it asked for the features.
        unsafe { $($intrinsics)* }
    };
}

impl Lanes for Mask {
    // SAFETY: the type is 32 bytes, any of which are a value.
    const NONE: Mask = Mask(unsafe { core::mem::zeroed() });
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        Mask(avx2!(_mm256_or_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        avx2!(_mm256_testz_si256(self.0, self.0)) != 0
    }
}

/// The same bits, hidden from the compiler as AVX-512's are.
#[target_feature(enable = "avx")]
#[inline]
fn hidden(mut bits: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("/* {} */", inout(ymm_reg) bits, options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

/// What is the same for lanes of 32 and 64 bits, mostly in integers. `$smallest` is the
/// smallest normal number of the lane's format, in the register's.
macro_rules! bitwise {
    ($int:ident, $one:expr, $smallest:expr, $quiet:expr, $cast:ident, $uncast:ident, $set1:ident,
     $equal:ident, $greater:ident, $compare:ident, $blend:ident, $max:ident, $min:ident, $zero:ident) => {
        #[inline(always)]
        fn flip(self, mask: Self) -> Self {
            Self(avx2!($cast(_mm256_xor_si256($uncast(self.0), $uncast(mask.0)))))
        }
        #[inline(always)]
        fn select(lanes: Mask, yes: Self, no: Self) -> Self {
            Self(avx2!($blend(no.0, yes.0, $cast(lanes.0))))
        }
        #[inline(always)]
        fn to_zero(self, lanes: Mask) -> Self {
            let signs = Self(avx2!($cast(_mm256_and_si256($uncast(self.0), $set1($int::MIN)))));
            Self::select(lanes, signs, self)
        }
        #[inline(always)]
        fn zero(self) -> Mask {
            Mask(avx2!($equal(self.magnitude(), _mm256_setzero_si256())))
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> Mask {
            Mask(avx2!($uncast($compare::<_CMP_UNORD_Q>(one.0, other.0))))
        }
        #[inline(always)]
        fn subnormal(self) -> Mask {
            Mask(avx2!(_mm256_andnot_si256(self.zero().0, $greater($set1($smallest), self.magnitude()))))
        }
        #[inline(always)]
        fn smallest_normal(self) -> Mask {
            Mask(avx2!($equal(self.magnitude(), $set1($smallest))))
        }
        #[inline(always)]
        fn magnitude(self) -> __m256i {
            avx2!(_mm256_and_si256(hidden($uncast(self.0)), $set1($int::MAX)))
        }
        #[inline(always)]
        fn lesser(one: __m256i, other: __m256i) -> __m256i {
            avx2!(_mm256_blendv_epi8(one, other, $greater(one, other)))
        }
        #[inline(always)]
        fn any_below(magnitudes: __m256i, bound: __m256i) -> bool {
            !Mask(avx2!($greater(bound, magnitudes))).is_empty()
        }
        #[inline(always)]
        fn quiet(self) -> Self {
            Self(avx2!($cast(_mm256_or_si256($uncast(self.0), $set1($quiet)))))
        }
        #[inline(always)]
        fn clamp(self) -> Self {
            // Of NaN and a number, and of two zeros, the second operand is taken.
            Self(avx2!($min($max(self.0, $zero()), $cast($set1($one)))))
        }
        #[inline(always)]
        fn order_streams() {
            // SAFETY: SSE is there.
            unsafe { _mm_sfence() };
        }
        #[inline(always)]
        fn keep_branch() {
            // SAFETY: no instruction.
            unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
        }
    };
}

/// The direction that a kernel is compiled for where it takes the thread's: one serves all four.
const THREADS: i32 = NEAREST;

/// `$compiled` is the direction that the kernel itself knows.
macro_rules! run {
    ($compiled:ident) => {
        #[inline(never)] // Nor does what surrounds this one.
        fn run<F: Factor<Self>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
            job: &Job<'_, F::Lane, Self::Lane>,
            out: &mut [Self::Lane],
        ) {
            // f16 is rounded by an instruction that has the direction in it, from sums to nearest.
            let thread = if Self::FORMAT.width() == 16 { NEAREST } else { ROUND };
            enter::<Self, F, $compiled, KIND, MODE>(thread, job, out);
        }
    };
}

macro_rules! bitwise_ps {
    ($smallest:expr) => {
        bitwise!(
            i32,
            0x3f80_0000,
            $smallest,
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
    };
}

/// The rounded sum of two numbers, and what it lacks of the exact sum (Knuth's two-sum); exact to nearest unless the sum
/// overflows. NaN where anything is infinite or NaN.
#[inline(always)]
fn two_sum(x: __m256, y: __m256) -> (__m256, __m256) {
    avx2!({
        let sum = _mm256_add_ps(x, y);
        let y_part = _mm256_sub_ps(sum, x);
        (sum, _mm256_add_ps(_mm256_sub_ps(x, _mm256_sub_ps(sum, y_part)), _mm256_sub_ps(y, y_part)))
    })
}

/// An exactly zero sum: +0 to nearest; downward −0 unless both terms are +0, which is the union of their signs.
#[inline(always)]
fn zero_downward_ps(sum: __m256, x: __m256, y: __m256) -> __m256 {
    avx2!({
        let signs = _mm256_and_ps(_mm256_or_ps(x, y), _mm256_set1_ps(-0.0));
        _mm256_blendv_ps(sum, signs, _mm256_cmp_ps::<_CMP_EQ_OQ>(sum, _mm256_setzero_ps()))
    })
}

/// What rounds: a function of one instruction each.
macro_rules! instructions {
    ($float:ident, $mul_add:ident $mul_add_text:literal, $add:ident $add_text:literal, $mul:ident $mul_text:literal) => {
        #[target_feature(enable = "avx,fma")]
        #[inline]
        fn $mul_add(mut a: $float, b: $float, c: $float) -> $float {
            // SAFETY: registers alone are read and written; pure, since the direction is one while a kernel runs.
            unsafe {
                core::arch::asm!($mul_add_text, a = inout(ymm_reg) a, b = in(ymm_reg) b, c = in(ymm_reg) c,
                    options(pure, nomem, nostack));
            }
            a
        }
        instructions!($float, $add $add_text);
        instructions!($float, $mul $mul_text);
    };
    ($float:ident, $name:ident $text:literal) => {
        #[target_feature(enable = "avx")]
        #[inline]
        fn $name(mut a: $float, b: $float) -> $float {
            // SAFETY: registers alone are read and written; pure, since the direction is one while a kernel runs.
            unsafe {
                core::arch::asm!($text, a = inout(ymm_reg) a, b = in(ymm_reg) b,
                    options(pure, nomem, nostack));
            }
            a
        }
    };
}
instructions!(__m256, fma_ps "vfmadd213ps {a}, {b}, {c}", add_ps "vaddps {a}, {a}, {b}", mul_ps "vmulps {a}, {a}, {b}");
instructions!(__m256d, fma_pd "vfmadd213pd {a}, {b}, {c}", add_pd "vaddpd {a}, {a}, {b}", mul_pd "vmulpd {a}, {a}, {b}");

/// The arithmetic of a format that the machine computes with.
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
    type Lanes = Mask;
    type Magnitudes = __m256i;

    const LANES: usize = 8;
    const FORMAT: Format = Format::F32;
    const CANONICAL_NAN: bool = true;
    const MACHINE_FLUSHES: bool = true;

    #[inline(always)]
    fn load(from: &[u32; 8]) -> Self {
        Self(avx2!(_mm256_loadu_ps(from.as_ptr().cast())))
    }
    #[inline(always)]
    fn store(self, to: &mut [u32; 8]) {
        avx2!(_mm256_storeu_ps(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn stream(self, to: &mut [u32; 8]) {
        debug_assert!(to.as_ptr().cast::<__m256>().is_aligned());
        avx2!(_mm256_stream_ps(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        Self(avx2!(_mm256_castsi256_ps(_mm256_set1_epi32(bits as i32))))
    }
    arithmetic!(fma_ps, add_ps, mul_ps);
    bitwise_ps!(Format::F32.smallest_normal() as i32);
    run!(THREADS);
}

impl Vector for F64x4 {
    type Lane = u64;
    type Array = [u64; 4];
    type Lanes = Mask;
    type Magnitudes = __m256i;

    const LANES: usize = 4;
    const FORMAT: Format = Format::F64;
    const CANONICAL_NAN: bool = false;
    const MACHINE_FLUSHES: bool = true;

    #[inline(always)]
    fn load(from: &[u64; 4]) -> Self {
        Self(avx2!(_mm256_loadu_pd(from.as_ptr().cast())))
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4]) {
        avx2!(_mm256_storeu_pd(to.as_mut_ptr().cast(), self.0));
    }
    #[inline(always)]
    fn stream(self, to: &mut [u64; 4]) {
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
        Format::F64.smallest_normal() as i64,
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
    run!(THREADS);
}

impl F16x8 {
    /// The f16 of `sum` + `error`: `sum` is first rounded to odd (moved to the neighbour with an odd last bit, if it is
    /// inexact and even), which has more than twice the f16's precision.
    #[inline(always)]
    fn narrow<const ROUND: i32>(sum: __m256, error: __m256) -> Self {
        let bits = avx2!(_mm256_castps_si256(sum));
        let inexact = avx2!(_mm256_castps_si256(_mm256_cmp_ps::<_CMP_NEQ_OQ>(error, _mm256_setzero_ps())));
        let one = avx2!(_mm256_set1_epi32(1));
        let even = avx2!(_mm256_andnot_si256(bits, _mm256_and_si256(inexact, one)));
        // One up in magnitude where the signs agree, one down where they do not.
        let toward_zero = avx2!(_mm256_srai_epi32::<31>(_mm256_xor_si256(bits, _mm256_castps_si256(error))));
        let step = avx2!(_mm256_sub_epi32(_mm256_xor_si256(even, toward_zero), toward_zero));
        let odd = avx2!(_mm256_castsi256_ps(_mm256_add_epi32(bits, step)));
        Self(avx2!(_mm256_cvtph_ps(Self::halves::<ROUND>(odd))))
    }
    #[inline(always)]
    fn halves<const ROUND: i32>(x: __m256) -> __m128i {
        match ROUND {
            DOWN => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(x)),
            UP => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_POS_INF>(x)),
            ZERO => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_ZERO>(x)),
            _ => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)),
        }
    }
}

impl Vector for F16x8 {
    type Lane = u16;
    type Array = [u16; 8];
    type Lanes = Mask;
    type Magnitudes = __m256i;

    const LANES: usize = 8;
    const FORMAT: Format = Format::F16;
    const CANONICAL_NAN: bool = true;
    const MACHINE_FLUSHES: bool = false;

    #[inline(always)]
    fn load(from: &[u16; 8]) -> Self {
        Self(avx2!(_mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast()))))
    }
    #[inline(always)]
    fn store(self, to: &mut [u16; 8]) {
        avx2!(_mm_storeu_si128(to.as_mut_ptr().cast(), Self::halves::<NEAREST>(self.0)));
    }
    #[inline(always)]
    fn stream(self, to: &mut [u16; 8]) {
        debug_assert!(to.as_ptr().cast::<__m128i>().is_aligned());
        avx2!(_mm_stream_si128(to.as_mut_ptr().cast(), Self::halves::<NEAREST>(self.0)));
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        Self(avx2!(_mm256_cvtph_ps(_mm_set1_epi16(bits as i16))))
    }
    // Products of two f16 are exact in f32 and far from its ends, and so are the errors of sums.
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
        Self::add::<ROUND>(Self(avx2!(_mm256_mul_ps(a.0, b.0))), c)
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
        let (mut sum, error) = two_sum(a.0, c.0);
        if ROUND == DOWN {
            sum = zero_downward_ps(sum, a.0, c.0);
        }
        Self::narrow::<ROUND>(sum, error)
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
        let exact = avx2!(_mm256_mul_ps(a.0, b.0));
        Self(avx2!(_mm256_cvtph_ps(Self::halves::<ROUND>(exact))))
    }
    // The smallest normal f16 is 2^-14.
    bitwise_ps!(0x3880_0000);
    run!(ROUND);
}

impl Factor<F32x8> for F16x8 {
    type Lane = u16;
    type Array = [u16; 8];
    #[inline(always)]
    fn load(from: &[u16; 8]) -> F32x8 {
        F32x8(<F16x8 as Vector>::load(from).0)
    }
}

impl Factor<F32x8> for Bf16x8 {
    type Lane = u16;
    type Array = [u16; 8];
    #[inline(always)]
    fn load(from: &[u16; 8]) -> F32x8 {
        let halves = avx2!(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast())));
        F32x8(avx2!(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(halves))))
    }
}

/// Into a kernel, with the direction and the flushing of operands that it wants of the thread.
#[inline(always)]
fn enter<V: Vector, F: Factor<V>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    thread: i32,
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    let flushes = MODE & FLUSH != 0 && V::MACHINE_FLUSHES;
    let set = direction(thread) | if flushes { DENORMALS_ARE_ZEROS } else { 0 };
    let Some(_lent) = Lent::begin(CONTROL, set) else {
        return portable::run(job, out);
    };
    // SAFETY: `select` alone gives out the functions that end here, and it asked for the features.
    unsafe { kernel::<V, F, ROUND, KIND, MODE>(job, out) }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)] // The environment is another only in here.
fn kernel<V: Vector, F: Factor<V>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    sweep::<V, F, ROUND, KIND, MODE>(job, out);
}
