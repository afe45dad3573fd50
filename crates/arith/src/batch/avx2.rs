//! AVX2 with FMA and F16C.
//!
//! The machine has one direction of rounding, to nearest, unless the thread's mode is changed. The others come of the
//! exact error of a sum or a product: the nearest number is right or its neighbour is.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::environment::{environment, is_default, set_environment};
use super::sweep::sweep;
use super::vector::{self, DOWN, Factor, Lanes, Mode, NAN_CLASS, NEAREST, UP, Vector, ZERO, ZERO_CLASS};
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

/// What is the same for lanes of 32 and 64 bits, in integers, which raise no exception's flag. `$smallest` and
/// `$infinity` bound the lane's format within the register's.
macro_rules! bitwise {
    ($int:ident, $one:expr, $smallest:expr, $infinity:expr, $quiet:expr, $cast:ident, $uncast:ident, $set1:ident,
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
        fn class<const CLASS: i32>(self) -> Mask {
            let magnitude = self.magnitude();
            let mut lanes = Mask::NONE;
            if CLASS & NAN_CLASS != 0 {
                lanes = lanes.union(Mask(avx2!($greater(magnitude, $set1($infinity)))));
            }
            if CLASS & ZERO_CLASS != 0 {
                lanes = lanes.union(Mask(avx2!($equal(magnitude, _mm256_setzero_si256()))));
            }
            lanes
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> Mask {
            Mask(avx2!($uncast($compare::<_CMP_UNORD_Q>(one.0, other.0))))
        }
        #[inline(always)]
        fn subnormal(self) -> Mask {
            let magnitude = self.magnitude();
            let zero = avx2!($equal(magnitude, _mm256_setzero_si256()));
            Mask(avx2!(_mm256_andnot_si256(zero, $greater($set1($smallest), magnitude))))
        }
        #[inline(always)]
        fn smallest_normal(self) -> Mask {
            Mask(avx2!($equal(self.magnitude(), $set1($smallest))))
        }
        #[inline(always)]
        fn magnitude(self) -> __m256i {
            avx2!(_mm256_and_si256($uncast(self.0), $set1($int::MAX)))
        }
        #[inline(always)]
        fn lesser(one: __m256i, other: __m256i) -> __m256i {
            avx2!(_mm256_blendv_epi8(one, other, $greater(one, other)))
        }
        #[inline(always)]
        fn any_below_normal(magnitudes: __m256i) -> bool {
            !Mask(avx2!($greater($set1($smallest), magnitudes))).is_empty()
        }
        #[inline(always)]
        fn canonical_nan(self) -> Self {
            Self::select(self.class::<NAN_CLASS>(), Self(avx2!($cast($set1($int::MAX)))), self)
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
        fn keep_branch() {
            // SAFETY: no instruction.
            unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
        }
        fn run<F: Factor<Self>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
            job: &Job<'_, F::Lane, Self::Lane>,
            out: &mut [Self::Lane],
        ) {
            enter::<Self, F, ROUND, KIND, MODE>(job, out);
        }
    };
}

macro_rules! bitwise_ps {
    ($smallest:expr) => {
        bitwise!(
            i32,
            0x3f80_0000,
            $smallest,
            0x7f80_0000,
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

/// The rounded sum of two numbers, and what it lacks of the exact sum (Knuth's two-sum); exact in formats with
/// gradual underflow unless the sum overflows. NaN where anything is infinite or NaN.
macro_rules! two_sum {
    ($x:expr, $y:expr, $add:ident, $sub:ident) => {{
        let (x, y) = ($x, $y);
        let sum = avx2!($add(x, y));
        let y_part = avx2!($sub(sum, x));
        (sum, avx2!($add($sub(x, $sub(sum, y_part)), $sub(y, y_part))))
    }};
}

/// An exactly zero sum: +0 to nearest; downward −0 unless both terms are +0, which is the union of their signs.
#[inline(always)]
fn zero_downward_pd(sum: __m256d, x: __m256d, y: __m256d) -> __m256d {
    avx2!({
        let signs = _mm256_and_pd(_mm256_or_pd(x, y), _mm256_set1_pd(-0.0));
        _mm256_blendv_pd(sum, signs, _mm256_cmp_pd::<_CMP_EQ_OQ>(sum, _mm256_setzero_pd()))
    })
}
/// The same.
#[inline(always)]
fn zero_downward_ps(sum: __m256, x: __m256, y: __m256) -> __m256 {
    avx2!({
        let signs = _mm256_and_ps(_mm256_or_ps(x, y), _mm256_set1_ps(-0.0));
        _mm256_blendv_ps(sum, signs, _mm256_cmp_ps::<_CMP_EQ_OQ>(sum, _mm256_setzero_ps()))
    })
}

/// The lanes of `nearest` whose last place changes by one, and into which direction, given the sign of `error` = exact
/// value − `nearest`: the result in the direction. NaN errors change nothing.
macro_rules! neighbour {
    ($round:expr, $nearest:expr, $low:expr, $high:expr, $add:ident, $sub:ident, $negative:expr) => {{
        let (nearest, low, high, negative) = ($nearest, $low, $high, $negative);
        // Magnitudes grow by one where the value moves away from zero. A mask is −1.
        match $round {
            DOWN => avx2!($sub($add(nearest, _mm256_andnot_si256(negative, low)), _mm256_and_si256(negative, low))),
            UP => avx2!($add($sub(nearest, _mm256_andnot_si256(negative, high)), _mm256_and_si256(negative, high))),
            _ => avx2!($add(
                nearest,
                _mm256_or_si256(_mm256_andnot_si256(negative, low), _mm256_and_si256(negative, high))
            )),
        }
    }};
}

/// The low 32 bits of four masks of 64.
#[inline(always)]
fn pack(masks: __m256d) -> __m128i {
    avx2!({
        let order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(masks), order))
    })
}

impl F32x8 {
    /// Four lanes of a × b + c, or of a × b: the nearest f32, and masks of where it is above and below the exact value.
    /// The product of two f32 is exact in f64, and of the sum the error is known.
    #[inline(always)]
    fn half<const ROUND: i32, const SUM: bool>(a: __m128, b: __m128, c: __m128) -> (__m128, __m128i, __m128i) {
        let zero = avx2!(_mm256_setzero_pd());
        let product = avx2!(_mm256_mul_pd(_mm256_cvtps_pd(a), _mm256_cvtps_pd(b)));
        let (mut sum, mut error) = (product, zero);
        if SUM {
            let addend = avx2!(_mm256_cvtps_pd(c));
            (sum, error) = two_sum!(product, addend, _mm256_add_pd, _mm256_sub_pd);
            if ROUND == DOWN {
                sum = zero_downward_pd(sum, product, addend);
            }
        }
        let nearest = avx2!(_mm256_cvtpd_ps(sum));
        // Exact, but for an infinity that came of a number; and where it is not zero, larger than the sum's own error.
        let coarse = avx2!(_mm256_sub_pd(sum, _mm256_cvtps_pd(nearest)));
        let error = avx2!(_mm256_blendv_pd(coarse, error, _mm256_cmp_pd::<_CMP_EQ_OQ>(coarse, zero)));
        let low = pack(avx2!(_mm256_cmp_pd::<_CMP_LT_OQ>(error, zero)));
        let high = pack(avx2!(_mm256_cmp_pd::<_CMP_GT_OQ>(error, zero)));
        (nearest, low, high)
    }

    /// a × b + c, or a × b, in another direction than to nearest.
    #[inline(always)]
    fn directed<const ROUND: i32, const SUM: bool>(a: __m256, b: __m256, c: __m256) -> (Self, Mask) {
        let lower = avx2!([_mm256_castps256_ps128(a), _mm256_castps256_ps128(b), _mm256_castps256_ps128(c)]);
        let upper =
            avx2!([_mm256_extractf128_ps::<1>(a), _mm256_extractf128_ps::<1>(b), _mm256_extractf128_ps::<1>(c)]);
        let (near0, low0, high0) = Self::half::<ROUND, SUM>(lower[0], lower[1], lower[2]);
        let (near1, low1, high1) = Self::half::<ROUND, SUM>(upper[0], upper[1], upper[2]);
        let nearest = avx2!(_mm256_castps_si256(_mm256_set_m128(near1, near0)));
        let (low, high) = avx2!((_mm256_set_m128i(low1, low0), _mm256_set_m128i(high1, high0)));
        let negative = avx2!(_mm256_srai_epi32::<31>(nearest));
        let bits = neighbour!(ROUND, nearest, low, high, _mm256_add_epi32, _mm256_sub_epi32, negative);
        (Self(avx2!(_mm256_castsi256_ps(bits))), Mask::NONE)
    }
}

impl Vector for F32x8 {
    type Lane = u32;
    type Array = [u32; 8];
    type Lanes = Mask;
    type Magnitudes = __m256i;

    const LANES: usize = 8;
    const FORMAT: Format = Format::F32;
    const CANONICAL_NAN: bool = true;
    const MACHINE_FLUSHES: bool = false;

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
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> (Self, Mask) {
        if ROUND == NEAREST {
            (Self(avx2!(_mm256_fmadd_ps(a.0, b.0, c.0))), Mask::NONE)
        } else {
            Self::directed::<ROUND, true>(a.0, b.0, c.0)
        }
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> (Self, Mask) {
        if ROUND == NEAREST {
            (Self(avx2!(_mm256_add_ps(a.0, c.0))), Mask::NONE)
        } else {
            Self::directed::<ROUND, true>(a.0, avx2!(_mm256_set1_ps(1.0)), c.0)
        }
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> (Self, Mask) {
        if ROUND == NEAREST {
            (Self(avx2!(_mm256_mul_ps(a.0, b.0))), Mask::NONE)
        } else {
            Self::directed::<ROUND, false>(a.0, b.0, a.0)
        }
    }
    bitwise_ps!(Format::F32.smallest_normal() as i32);
}

impl F64x4 {
    /// `nearest` moved into the direction by the sign of `error`.
    #[inline(always)]
    fn directed<const ROUND: i32>(nearest: __m256d, error: __m256d, unsettled: __m256d) -> (Self, Mask) {
        let zero = avx2!(_mm256_setzero_pd());
        let low = avx2!(_mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(error, zero)));
        let high = avx2!(_mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GT_OQ>(error, zero)));
        let bits = avx2!(_mm256_castpd_si256(nearest));
        let negative = avx2!(_mm256_cmpgt_epi64(_mm256_setzero_si256(), bits));
        let bits = neighbour!(ROUND, bits, low, high, _mm256_add_epi64, _mm256_sub_epi64, negative);
        (Self(avx2!(_mm256_castsi256_pd(bits))), Mask(avx2!(_mm256_castpd_si256(unsettled))))
    }

    /// Lanes neither zero nor so far from both ends that errors are exact: magnitudes outside 2^-900 to 2^1000, which
    /// infinities and NaNs are too.
    #[inline(always)]
    fn extreme(x: __m256d) -> __m256d {
        let magnitude = avx2!(_mm256_and_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(i64::MAX))));
        let small =
            avx2!(_mm256_cmp_pd::<_CMP_LT_OQ>(magnitude, _mm256_castsi256_pd(_mm256_set1_epi64x((1023 - 900) << 52))));
        let large = avx2!(_mm256_cmp_pd::<_CMP_NLE_UQ>(
            magnitude,
            _mm256_castsi256_pd(_mm256_set1_epi64x((1023 + 1000) << 52))
        ));
        avx2!(_mm256_or_pd(small, large))
    }
    #[inline(always)]
    fn is_zero(x: __m256d) -> __m256d {
        avx2!(_mm256_cmp_pd::<_CMP_EQ_OQ>(x, _mm256_setzero_pd()))
    }
    /// A product, its error, and the lanes where that is not exact.
    #[inline(always)]
    fn product(a: __m256d, b: __m256d) -> (__m256d, __m256d, __m256d) {
        let product = avx2!(_mm256_mul_pd(a, b));
        let error = avx2!(_mm256_fmsub_pd(a, b, product));
        let zero = avx2!(_mm256_or_pd(Self::is_zero(a), Self::is_zero(b)));
        // Zero × infinity is NaN, hence extreme whatever its factors.
        let settled = avx2!(_mm256_and_pd(zero, Self::is_zero(product)));
        (product, error, avx2!(_mm256_andnot_pd(settled, Self::extreme(product))))
    }
}

impl Vector for F64x4 {
    type Lane = u64;
    type Array = [u64; 4];
    type Lanes = Mask;
    type Magnitudes = __m256i;

    const LANES: usize = 4;
    const FORMAT: Format = Format::F64;
    const CANONICAL_NAN: bool = false;
    const MACHINE_FLUSHES: bool = false;

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
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> (Self, Mask) {
        let mut nearest = avx2!(_mm256_fmadd_pd(a.0, b.0, c.0));
        if ROUND == NEAREST {
            return (Self(nearest), Mask::NONE);
        }
        // The error of a fused multiply-add as the sum of two numbers (Boldo and Muller, 2011, ErrFma).
        let (product, product_error, far_product) = Self::product(a.0, b.0);
        let (alpha, alpha_error) = two_sum!(c.0, product_error, _mm256_add_pd, _mm256_sub_pd);
        let (beta, beta_error) = two_sum!(product, alpha, _mm256_add_pd, _mm256_sub_pd);
        let gamma = avx2!(_mm256_add_pd(_mm256_sub_pd(beta, nearest), beta_error));
        let error = avx2!(_mm256_add_pd(gamma, alpha_error));
        let far_addend = avx2!(_mm256_andnot_pd(Self::is_zero(c.0), Self::extreme(c.0)));
        if ROUND == DOWN {
            nearest = zero_downward_pd(nearest, product, c.0);
        }
        Self::directed::<ROUND>(nearest, error, avx2!(_mm256_or_pd(far_product, far_addend)))
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> (Self, Mask) {
        if ROUND == NEAREST {
            return (Self(avx2!(_mm256_add_pd(a.0, c.0))), Mask::NONE);
        }
        let (mut sum, error) = two_sum!(a.0, c.0, _mm256_add_pd, _mm256_sub_pd);
        let magnitude = avx2!(_mm256_and_pd(sum, _mm256_castsi256_pd(_mm256_set1_epi64x(i64::MAX))));
        // 2^1022: no step on the way overflows below it.
        let large = avx2!(_mm256_castsi256_pd(_mm256_set1_epi64x(0x7fd0_0000_0000_0000)));
        let far = avx2!(_mm256_cmp_pd::<_CMP_NLE_UQ>(magnitude, large));
        if ROUND == DOWN {
            sum = zero_downward_pd(sum, a.0, c.0);
        }
        Self::directed::<ROUND>(sum, error, far)
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> (Self, Mask) {
        if ROUND == NEAREST {
            return (Self(avx2!(_mm256_mul_pd(a.0, b.0))), Mask::NONE);
        }
        let (product, error, far) = Self::product(a.0, b.0);
        Self::directed::<ROUND>(product, error, far)
    }
    bitwise!(
        i64,
        0x3ff0_0000_0000_0000,
        Format::F64.smallest_normal() as i64,
        Format::F64.infinity() as i64,
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
}

impl F16x8 {
    /// The f16 of `sum` + `error`: `sum` is first rounded to odd (moved to the neighbour with an odd last bit, if it is
    /// inexact and even), which has more than twice the f16's precision.
    #[inline(always)]
    fn narrow<const ROUND: i32>(sum: __m256, error: __m256) -> (Self, Mask) {
        let bits = avx2!(_mm256_castps_si256(sum));
        let inexact = avx2!(_mm256_castps_si256(_mm256_cmp_ps::<_CMP_NEQ_OQ>(error, _mm256_setzero_ps())));
        let one = avx2!(_mm256_set1_epi32(1));
        let even = avx2!(_mm256_andnot_si256(bits, _mm256_and_si256(inexact, one)));
        // One up in magnitude where the signs agree, one down where they do not.
        let toward_zero = avx2!(_mm256_srai_epi32::<31>(_mm256_xor_si256(bits, _mm256_castps_si256(error))));
        let step = avx2!(_mm256_sub_epi32(_mm256_xor_si256(even, toward_zero), toward_zero));
        let odd = avx2!(_mm256_castsi256_ps(_mm256_add_epi32(bits, step)));
        (Self(avx2!(_mm256_cvtph_ps(Self::halves::<ROUND>(odd)))), Mask::NONE)
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
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> (Self, Mask) {
        Self::add::<ROUND>(Self(avx2!(_mm256_mul_ps(a.0, b.0))), c)
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> (Self, Mask) {
        let (mut sum, error) = two_sum!(a.0, c.0, _mm256_add_ps, _mm256_sub_ps);
        if ROUND == DOWN {
            sum = zero_downward_ps(sum, a.0, c.0);
        }
        Self::narrow::<ROUND>(sum, error)
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> (Self, Mask) {
        let exact = avx2!(_mm256_mul_ps(a.0, b.0));
        (Self(avx2!(_mm256_cvtph_ps(Self::halves::<ROUND>(exact)))), Mask::NONE)
    }
    // The smallest normal f16 is 2^-14.
    bitwise_ps!(0x3880_0000);
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

/// Into a kernel, if the thread's floating-point environment is as it needs it; which is left as it was.
#[inline(always)]
fn enter<V: Vector, F: Factor<V>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    let before = environment();
    if !is_default(before) {
        return portable::run(job, out);
    }
    // SAFETY: `select` alone gives out the functions that end here, and it asked for the features.
    unsafe { kernel::<V, F, ROUND, KIND, MODE>(job, out) }
    if environment() != before {
        set_environment(before);
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn kernel<V: Vector, F: Factor<V>, const ROUND: i32, const KIND: u8, const MODE: Mode>(
    job: &Job<'_, F::Lane, V::Lane>,
    out: &mut [V::Lane],
) {
    sweep::<V, F, ROUND, KIND, MODE>(job, out);
}
