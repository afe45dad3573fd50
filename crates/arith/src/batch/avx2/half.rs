//! f16 and bf16 by AVX2, as by AVX-512.

use super::*;
use crate::batch::vector::{UP, ZERO};

/// Eight f16.
#[derive(Clone, Copy)]
pub(super) struct F16x8(__m128i);
/// Sixteen bf16.
#[derive(Clone, Copy)]
pub(super) struct Bf16x16(__m256i);
/// Eight f16 as factors with f32.
pub(super) struct F16Factors;
/// Eight bf16 as factors with f32.
pub(super) struct Bf16Factors;
/// A mask of eight f16: all ones in its lanes.
#[derive(Clone, Copy)]
pub(super) struct HalfMask(__m128i);

impl Mask for HalfMask {
    // SAFETY: any 16 bytes are a value of the type.
    const NONE: HalfMask = HalfMask(unsafe { core::mem::zeroed() });
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        HalfMask(avx2!(_mm_or_si128(self.0, other.0)))
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        avx2!(_mm_testz_si128(self.0, self.0)) != 0
    }
}

/// The direction that the thread is set to for a rounding to 16 bits: to nearest, what [`to_odd`] needs.
const fn thread(round: i32) -> i32 {
    if round == NEAREST { DOWN } else { round }
}

/// Of a result rounded down, and of its opposite rounded down (the result rounded up is the opposite of that): the odd
/// one, or the one that they both are. Of -0 and +0 (opposite terms cancelled) it is +0.
#[inline(always)]
fn to_odd(below: __m256, opposite: __m256) -> __m256 {
    avx2!({
        let below = _mm256_castps_si256(below);
        let above = _mm256_xor_si256(_mm256_castps_si256(opposite), _mm256_set1_epi32(i32::MIN));
        // The smaller magnitude: of two neighbours, that with its last bit set is itself or the other one.
        let toward_zero = _mm256_min_epu32(below, above);
        let odd = _mm256_and_si256(_mm256_or_si256(below, above), _mm256_set1_epi32(1));
        _mm256_castsi256_ps(_mm256_or_si256(toward_zero, odd))
    })
}

/// In f32, for a rounding to 16 bits in the direction `ROUND`: in that direction, or to odd.
#[inline(always)]
fn mul_add<const ROUND: i32>(a: __m256, b: __m256, c: __m256) -> __m256 {
    let sum = avx2!(fma_ps(a, b, c));
    if ROUND == NEAREST { to_odd(sum, avx2!(neg_fma_ps(a, b, c))) } else { sum }
}

/// The same.
#[inline(always)]
fn add<const ROUND: i32>(a: __m256, c: __m256) -> __m256 {
    let sum = avx2!(add_ps(a, c));
    if ROUND == NEAREST { to_odd(sum, avx2!(sub_ps(negative(a), c))) } else { sum }
}

#[inline(always)]
fn negative(x: __m256) -> __m256 {
    avx2!(_mm256_xor_ps(x, _mm256_set1_ps(-0.0)))
}

/// What is the same for both formats; comparisons are of integers.
macro_rules! packed {
    ($format:expr, $int:ident, $lanes:expr, $mask:ident, $load:ident, $store:ident, $stream:ident, $set1:ident, $zero:ident,
     $and:ident, $andnot:ident, $or:ident, $xor:ident, $max:ident, $min:ident, $blend:ident, $equal:ident, $greater:ident) => {
        type Lane = u16;
        type Array = [u16; $lanes];
        type Mask = $mask;
        type Magnitudes = $int;

        const LANES: usize = $lanes;
        const FORMAT: Format = $format;
        const CANONICAL_NAN: bool = true;
        const HARDWARE_FLUSH: bool = false;

        #[inline(always)]
        fn load(from: &Self::Array) -> Self {
            Self(avx2!($load(from.as_ptr().cast())))
        }
        #[inline(always)]
        fn store<const ROUND: i32>(self, to: &mut Self::Array) {
            avx2!($store(to.as_mut_ptr().cast(), self.0));
        }
        #[inline(always)]
        fn store_nontemporal<const ROUND: i32>(self, to: &mut Self::Array) {
            debug_assert!(to.as_ptr().cast::<$int>().is_aligned());
            avx2!($stream(to.as_mut_ptr().cast(), self.0));
        }
        #[inline(always)]
        fn splat(bits: u64) -> Self {
            Self(avx2!($set1(bits as i16)))
        }
        #[inline(always)]
        fn flip(self, mask: Self) -> Self {
            Self(avx2!($xor(self.0, mask.0)))
        }
        #[inline(always)]
        fn select(mask: $mask, yes: Self, no: Self) -> Self {
            Self(avx2!($blend(no.0, yes.0, mask.0)))
        }
        #[inline(always)]
        fn to_zero(self, mask: $mask) -> Self {
            let sign = Self(avx2!($and(self.0, $set1(i16::MIN))));
            Self::select(mask, sign, self)
        }
        #[inline(always)]
        fn zero(self) -> $mask {
            $mask(avx2!($equal(self.magnitude(), $zero())))
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> $mask {
            let largest = avx2!($max(one.magnitude(), other.magnitude()));
            $mask(avx2!($greater(largest, $set1(Self::FORMAT.infinity() as i16))))
        }
        #[inline(always)]
        fn subnormal(self) -> $mask {
            let small = avx2!($greater($set1(Self::FORMAT.smallest_normal() as i16), self.magnitude()));
            $mask(avx2!($andnot(self.zero().0, small)))
        }
        #[inline(always)]
        fn magnitude(self) -> $int {
            avx2!($and(self.0, $set1(i16::MAX)))
        }
        #[inline(always)]
        fn lesser(one: $int, other: $int) -> $int {
            avx2!($min(one, other))
        }
        #[inline(always)]
        fn any_below(magnitudes: $int, bound: $int) -> bool {
            !$mask(avx2!($greater(bound, magnitudes))).is_empty()
        }
        #[inline(always)]
        fn smallest_normal(self) -> $mask {
            $mask(avx2!($equal(self.magnitude(), $set1(Self::FORMAT.smallest_normal() as i16))))
        }
        #[inline(always)]
        fn quiet(self) -> Self {
            Self(avx2!($or(self.0, $set1(Self::FORMAT.quiet_bit() as i16))))
        }
        #[inline(always)]
        fn rectify(self) -> Self {
            Self(avx2!($max(self.0, $zero())))
        }
        #[inline(always)]
        fn clamp(self) -> Self {
            // A positive NaN is above infinity; a negative one is negative.
            let nan = avx2!($greater(self.0, $set1(Self::FORMAT.infinity() as i16)));
            Self(avx2!($andnot(nan, $min(self.rectify().0, $set1(Self::FORMAT.one() as i16)))))
        }
        run!(ROUND, const { thread(ROUND) });
    };
}

impl F16x8 {
    #[inline(always)]
    fn widen(self) -> __m256 {
        avx2!(_mm256_cvtph_ps(self.0))
    }
    #[inline(always)]
    fn narrow<const ROUND: i32>(wide: __m256) -> Self {
        Self(match ROUND {
            DOWN => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEG_INF>(wide)),
            UP => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_POS_INF>(wide)),
            ZERO => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_ZERO>(wide)),
            _ => avx2!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide)),
        })
    }
}

impl Vector for F16x8 {
    packed!(
        Format::F16,
        __m128i,
        8,
        HalfMask,
        _mm_loadu_si128,
        _mm_storeu_si128,
        _mm_stream_si128,
        _mm_set1_epi16,
        _mm_setzero_si128,
        _mm_and_si128,
        _mm_andnot_si128,
        _mm_or_si128,
        _mm_xor_si128,
        _mm_max_epi16,
        _mm_min_epi16,
        _mm_blendv_epi8,
        _mm_cmpeq_epi16,
        _mm_cmpgt_epi16
    );
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
        Self::narrow::<ROUND>(mul_add::<ROUND>(a.widen(), b.widen(), c.widen()))
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
        Self::narrow::<ROUND>(add::<ROUND>(a.widen(), c.widen()))
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
        Self::narrow::<ROUND>(avx2!(mul_ps(a.widen(), b.widen())))
    }
}

impl Bf16x16 {
    /// The lanes of even and of odd number: a bf16 is the upper half of its f32.
    #[inline(always)]
    fn widen(self) -> [__m256; 2] {
        avx2!({
            let even = _mm256_slli_epi32::<16>(self.0);
            let odd = _mm256_and_si256(self.0, _mm256_set1_epi32(!0xffff));
            [_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd)]
        })
    }
    #[inline(always)]
    fn narrow<const ROUND: i32>([even, odd]: [__m256; 2]) -> Self {
        let [even, odd] = [upper_half::<ROUND>(even), upper_half::<ROUND>(odd)];
        Self(avx2!(_mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(even), odd)))
    }
}

/// The bf16 in the upper half, by carries, as for AVX-512.
#[inline(always)]
fn upper_half<const ROUND: i32>(x: __m256) -> __m256i {
    avx2!({
        let bits = _mm256_castps_si256(x);
        let all = _mm256_set1_epi32(0xffff);
        let negative = _mm256_srai_epi32::<31>(bits);
        match ROUND {
            ZERO => bits,
            DOWN => _mm256_add_epi32(bits, _mm256_and_si256(negative, all)),
            UP => _mm256_add_epi32(bits, _mm256_andnot_si256(negative, all)),
            _ => {
                let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
                _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)))
            }
        }
    })
}

impl Vector for Bf16x16 {
    packed!(
        Format::BF16,
        __m256i,
        16,
        MaskVector,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_stream_si256,
        _mm256_set1_epi16,
        _mm256_setzero_si256,
        _mm256_and_si256,
        _mm256_andnot_si256,
        _mm256_or_si256,
        _mm256_xor_si256,
        _mm256_max_epi16,
        _mm256_min_epi16,
        _mm256_blendv_epi8,
        _mm256_cmpeq_epi16,
        _mm256_cmpgt_epi16
    );
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
        let ([a, d], [b, e], [c, f]) = (a.widen(), b.widen(), c.widen());
        Self::narrow::<ROUND>([mul_add::<ROUND>(a, b, c), mul_add::<ROUND>(d, e, f)])
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
        let ([a, d], [c, f]) = (a.widen(), c.widen());
        Self::narrow::<ROUND>([add::<ROUND>(a, c), add::<ROUND>(d, f)])
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
        let ([a, d], [b, e]) = (a.widen(), b.widen());
        Self::narrow::<ROUND>(avx2!([mul_ps(a, b), mul_ps(d, e)]))
    }
}

impl Factor<F32x8> for F16Factors {
    type Lane = u16;
    type Array = [u16; 8];
    #[inline(always)]
    fn load(from: &[u16; 8]) -> F32x8 {
        F32x8(<F16x8 as Vector>::load(from).widen())
    }
}

impl Factor<F32x8> for Bf16Factors {
    type Lane = u16;
    type Array = [u16; 8];
    #[inline(always)]
    fn load(from: &[u16; 8]) -> F32x8 {
        let halves = avx2!(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast())));
        F32x8(avx2!(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(halves))))
    }
}
