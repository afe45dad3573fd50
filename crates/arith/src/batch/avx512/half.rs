//! f16 and bf16: 16 bits a lane, but for the arithmetic. The pipeline's file says why that of f32 is exact for them.

use super::*;
use crate::batch::vector::{DOWN, NEAREST, UP, ZERO};

/// Sixteen f16.
#[derive(Clone, Copy)]
pub(super) struct F16x16(__m256i);
/// Thirty-two bf16.
#[derive(Clone, Copy)]
pub(super) struct Bf16x32(__m512i);
/// Sixteen f16 as factors with f32.
pub(super) struct F16Factors;
/// Sixteen bf16 as factors with f32.
pub(super) struct Bf16Factors;

/// Of the results rounded down and up: the odd one, or the one that they both are. Of −0 and +0 (opposite terms
/// cancelled) it is +0.
#[inline(always)]
fn to_odd(below: __m512, above: __m512) -> __m512 {
    avx512!({
        let odd = _mm512_test_epi32_mask(_mm512_castps_si512(below), _mm512_set1_epi32(1));
        _mm512_mask_blend_ps(odd, above, below)
    })
}

/// In f32, for a rounding to 16 bits in the direction `ROUND`: in that direction, or to odd.
#[inline(always)]
fn mul_add<const ROUND: i32>(a: __m512, b: __m512, c: __m512) -> __m512 {
    if ROUND == NEAREST {
        avx512!(to_odd(_mm512_fmadd_round_ps::<DOWN>(a, b, c), _mm512_fmadd_round_ps::<UP>(a, b, c)))
    } else {
        avx512!(_mm512_fmadd_round_ps::<ROUND>(a, b, c))
    }
}

/// The same.
#[inline(always)]
fn add<const ROUND: i32>(a: __m512, c: __m512) -> __m512 {
    if ROUND == NEAREST {
        avx512!(to_odd(_mm512_add_round_ps::<DOWN>(a, c), _mm512_add_round_ps::<UP>(a, c)))
    } else {
        avx512!(_mm512_add_round_ps::<ROUND>(a, c))
    }
}

/// A product in f32, for a rounding to 16 bits in the direction `ROUND`: to nearest any direction will do.
#[inline(always)]
fn mul<const ROUND: i32>(a: __m512, b: __m512) -> __m512 {
    if ROUND == NEAREST {
        avx512!(_mm512_mul_round_ps::<ZERO>(a, b))
    } else {
        avx512!(_mm512_mul_round_ps::<ROUND>(a, b))
    }
}

/// What is the same for both formats; comparisons are of integers.
macro_rules! packed {
    ($format:expr, $int:ident, $lanes:expr, $mask:ident, $load:ident, $store:ident, $stream:ident, $set1:ident,
     $zero:ident, $and:ident, $or:ident, $xor:ident, $sub:ident, $max:ident, $min:ident, $min_unsigned:ident, $blend:ident,
     $maskz:ident, $equal:ident, $greater:ident, $below:ident) => {
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
            Self(avx512!($load(from.as_ptr().cast())))
        }
        #[inline(always)]
        fn store(self, to: &mut Self::Array) {
            avx512!($store(to.as_mut_ptr().cast(), self.0));
        }
        #[inline(always)]
        fn store_nontemporal(self, to: &mut Self::Array) {
            debug_assert!(to.as_ptr().cast::<$int>().is_aligned());
            avx512!($stream(to.as_mut_ptr().cast(), self.0));
        }
        #[inline(always)]
        fn splat(bits: u64) -> Self {
            Self(avx512!($set1(bits as i16)))
        }
        #[inline(always)]
        fn flip(self, mask: Self) -> Self {
            Self(avx512!($xor(self.0, mask.0)))
        }
        #[inline(always)]
        fn select(mask: $mask, yes: Self, no: Self) -> Self {
            Self(avx512!($blend(mask, no.0, yes.0)))
        }
        #[inline(always)]
        fn to_zero(self, mask: $mask) -> Self {
            let sign = Self(avx512!($and(self.0, $set1(i16::MIN))));
            Self::select(mask, sign, self)
        }
        #[inline(always)]
        fn zero(self) -> $mask {
            avx512!($equal(self.magnitude(), $zero()))
        }
        #[inline(always)]
        fn unordered(one: Self, other: Self) -> $mask {
            avx512!($greater($max(one.magnitude(), other.magnitude()), $set1(Self::FORMAT.infinity() as i16)))
        }
        #[inline(always)]
        fn subnormal(self) -> $mask {
            // Between zero and the smallest normal: zero wraps around.
            let bound = avx512!($set1(Self::FORMAT.smallest_normal() as i16 - 1));
            avx512!($below($sub(self.magnitude(), $set1(1)), bound))
        }
        #[inline(always)]
        fn magnitude(self) -> $int {
            avx512!($and(self.0, $set1(i16::MAX)))
        }
        #[inline(always)]
        fn lesser(one: $int, other: $int) -> $int {
            avx512!($min_unsigned(one, other))
        }
        #[inline(always)]
        fn any_below(magnitudes: $int, bound: $int) -> bool {
            avx512!($below(magnitudes, bound)) != 0
        }
        #[inline(always)]
        fn smallest_normal(self) -> $mask {
            avx512!($equal(self.magnitude(), $set1(Self::FORMAT.smallest_normal() as i16)))
        }
        #[inline(always)]
        fn quiet(self) -> Self {
            Self(avx512!($or(self.0, $set1(Self::FORMAT.quiet_bit() as i16))))
        }
        #[inline(always)]
        fn rectify(self) -> Self {
            Self(avx512!($max(self.0, $zero())))
        }
        #[inline(always)]
        fn clamp(self) -> Self {
            // A positive NaN is above infinity; a negative one is negative.
            let nan = avx512!($greater(self.0, $set1(Self::FORMAT.infinity() as i16)));
            Self(avx512!($maskz(!nan, $min(self.rectify().0, $set1(Self::FORMAT.one() as i16)))))
        }
        run!();
    };
}

impl F16x16 {
    /// Without the suppression of exceptions, which an instruction with an operand in memory cannot have: a signalling
    /// NaN raises a flag.
    #[inline(always)]
    fn widen(self) -> __m512 {
        avx512!(_mm512_cvt_roundph_ps::<_MM_FROUND_CUR_DIRECTION>(self.0))
    }
    #[inline(always)]
    fn narrow<const ROUND: i32>(wide: __m512) -> Self {
        Self(avx512!(_mm512_cvt_roundps_ph::<ROUND>(wide)))
    }
}

impl Vector for F16x16 {
    packed!(
        Format::F16,
        __m256i,
        16,
        __mmask16,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_stream_si256,
        _mm256_set1_epi16,
        _mm256_setzero_si256,
        _mm256_and_si256,
        _mm256_or_si256,
        _mm256_xor_si256,
        _mm256_sub_epi16,
        _mm256_max_epi16,
        _mm256_min_epi16,
        _mm256_min_epu16,
        _mm256_mask_blend_epi16,
        _mm256_maskz_mov_epi16,
        _mm256_cmpeq_epi16_mask,
        _mm256_cmpgt_epi16_mask,
        _mm256_cmplt_epu16_mask
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
        Self::narrow::<ROUND>(mul::<ROUND>(a.widen(), b.widen()))
    }
}

impl Bf16x32 {
    /// The lanes of even and of odd number: a bf16 is the upper half of its f32.
    #[inline(always)]
    fn widen(self) -> [__m512; 2] {
        avx512!({
            let even = _mm512_slli_epi32::<16>(self.0);
            let odd = _mm512_and_si512(self.0, _mm512_set1_epi32(!0xffff));
            [_mm512_castsi512_ps(even), _mm512_castsi512_ps(odd)]
        })
    }
    #[inline(always)]
    fn narrow<const ROUND: i32>([even, odd]: [__m512; 2]) -> Self {
        let [even, odd] = [upper_half::<ROUND>(even), upper_half::<ROUND>(odd)];
        Self(avx512!(_mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(even), odd)))
    }
}

/// The bf16 in the upper half: what is added to the lower half carries where the upper one is to grow. Carries reach the
/// infinities and stop there: the lower half of an infinity is zero, and so is that of a NaN, which is an operand's or
/// the processor's own.
#[inline(always)]
fn upper_half<const ROUND: i32>(x: __m512) -> __m512i {
    avx512!({
        let bits = _mm512_castps_si512(x);
        let all = _mm512_set1_epi32(0xffff);
        match ROUND {
            ZERO => bits,
            DOWN => _mm512_mask_add_epi32(bits, _mm512_movepi32_mask(bits), bits, all),
            UP => _mm512_mask_add_epi32(bits, !_mm512_movepi32_mask(bits), bits, all),
            _ => {
                // Half the last place, or a little less where that place is even.
                let odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x1_0000));
                let half = _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
                _mm512_add_epi32(bits, half)
            }
        }
    })
}

impl Vector for Bf16x32 {
    packed!(
        Format::BF16,
        __m512i,
        32,
        __mmask32,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_stream_si512,
        _mm512_set1_epi16,
        _mm512_setzero_si512,
        _mm512_and_si512,
        _mm512_or_si512,
        _mm512_xor_si512,
        _mm512_sub_epi16,
        _mm512_max_epi16,
        _mm512_min_epi16,
        _mm512_min_epu16,
        _mm512_mask_blend_epi16,
        _mm512_maskz_mov_epi16,
        _mm512_cmpeq_epi16_mask,
        _mm512_cmpgt_epi16_mask,
        _mm512_cmplt_epu16_mask
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
        Self::narrow::<ROUND>([mul::<ROUND>(a, b), mul::<ROUND>(d, e)])
    }
}

impl Factor<F32x16> for F16Factors {
    type Lane = u16;
    type Array = [u16; 16];
    #[inline(always)]
    fn load(from: &[u16; 16]) -> F32x16 {
        F32x16(avx512!(_mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast()))))
    }
}

impl Factor<F32x16> for Bf16Factors {
    type Lane = u16;
    type Array = [u16; 16];
    #[inline(always)]
    fn load(from: &[u16; 16]) -> F32x16 {
        let halves = avx512!(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from.as_ptr().cast())));
        F32x16(avx512!(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(halves))))
    }
}
