//! f16 and bf16, held as f32: the pipeline's file says why its arithmetic is exact for them. What arithmetic gives is
//! rounded to 16 bits when it is stored. The tests and clamps before that do not mind: a result is a NaN, below a number
//! of 16 bits or above it only if it is so before the rounding, if not strictly; and 0 and 1 are such numbers.

use core::marker::PhantomData;

use super::*;
use crate::batch::vector::{DOWN, NEAREST, UP, ZERO};

/// Thirty-two lanes of a format of 16 bits.
pub(super) struct Halves<H>([F32x16; 2], PhantomData<H>);
/// The lanes in order.
pub(super) struct F16;
/// The lanes of even and of odd number.
pub(super) struct Bf16;
/// Sixteen f16 as factors with f32.
pub(super) struct F16Factors;
/// Sixteen bf16 as factors with f32.
pub(super) struct Bf16Factors;

/// What depends on the format.
pub(super) trait Half: Sized {
    const FORMAT: Format;
    fn load(from: &[u16; 32]) -> [__m512; 2];
    /// Every lane with these bits.
    fn splat(bits: u16) -> __m512;
    /// Rounds and stores, `STREAM`: non-temporally.
    fn store<const ROUND: i32, const STREAM: bool>(halves: [__m512; 2], to: &mut [u16; 32]);
    /// a × b + c in f32, rounded to odd.
    fn mul_add_to_odd(a: __m512, b: __m512, c: __m512) -> __m512;
}

impl Half for F16 {
    const FORMAT: Format = Format::F16;
    /// Without the suppression of exceptions, which an instruction with an operand in memory cannot have: a signalling
    /// NaN raises a flag.
    #[inline(always)]
    fn load(from: &[u16; 32]) -> [__m512; 2] {
        let from: *const __m256i = from.as_ptr().cast();
        avx512!({
            let [one, other] = [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))];
            [
                _mm512_cvt_roundph_ps::<_MM_FROUND_CUR_DIRECTION>(one),
                _mm512_cvt_roundph_ps::<_MM_FROUND_CUR_DIRECTION>(other),
            ]
        })
    }
    #[inline(always)]
    fn splat(bits: u16) -> __m512 {
        avx512!(_mm512_cvt_roundph_ps::<_MM_FROUND_NO_EXC>(_mm256_set1_epi16(bits as i16)))
    }
    /// By way of registers: straight to memory, exceptions are not suppressed, and the first subnormal result of a run
    /// takes about 80 ns more.
    #[inline(always)]
    fn store<const ROUND: i32, const STREAM: bool>([one, other]: [__m512; 2], to: &mut [u16; 32]) {
        let to: *mut __m256i = to.as_mut_ptr().cast();
        avx512!({
            let [one, other] = [_mm512_cvt_roundps_ph::<ROUND>(one), _mm512_cvt_roundps_ph::<ROUND>(other)];
            if STREAM {
                _mm256_stream_si256(to, one);
                _mm256_stream_si256(to.add(1), other);
            } else {
                _mm256_storeu_si256(to, one);
                _mm256_storeu_si256(to.add(1), other);
            }
        });
    }
    /// The product is exact. Of the sum rounded down and up it is the odd one, or the one that they both are. Of −0 and +0
    /// (opposite terms cancelled) it is +0.
    #[inline(always)]
    fn mul_add_to_odd(a: __m512, b: __m512, c: __m512) -> __m512 {
        avx512!({
            let product = _mm512_mul_round_ps::<NEAREST>(a, b);
            let below = _mm512_add_round_ps::<DOWN>(product, c);
            _mm512_mask_add_round_ps::<UP>(below, even(below), product, c)
        })
    }
}

impl Half for Bf16 {
    const FORMAT: Format = Format::BF16;
    /// A bf16 is the upper half of its f32.
    #[inline(always)]
    fn load(from: &[u16; 32]) -> [__m512; 2] {
        avx512!({
            let lanes = _mm512_loadu_si512(from.as_ptr().cast());
            let even = _mm512_slli_epi32::<16>(lanes);
            let odd = _mm512_and_si512(lanes, _mm512_set1_epi32(!0xffff));
            [_mm512_castsi512_ps(even), _mm512_castsi512_ps(odd)]
        })
    }
    #[inline(always)]
    fn splat(bits: u16) -> __m512 {
        avx512!(_mm512_castsi512_ps(_mm512_set1_epi32(i32::from(bits) << 16)))
    }
    /// Where the lower halves say so, the upper ones grow. Carries reach the infinities and stop there: the lower half of
    /// an infinity is zero, and so is that of a NaN, which is an operand's, the processor's own or the canonical one.
    #[inline(always)]
    fn store<const ROUND: i32, const STREAM: bool>([even, odd]: [__m512; 2], to: &mut [u16; 32]) {
        avx512!({
            let [even, odd] = [_mm512_castps_si512(even), _mm512_castps_si512(odd)];
            let upper = exchanged::<0x3333_3333_3333_3333>(odd, even);
            let lower = exchanged::<0xcccc_cccc_cccc_cccc>(even, odd);
            let grows = match ROUND {
                ZERO => 0,
                DOWN => _mm512_mask_test_epi16_mask(_mm512_movepi16_mask(upper), lower, lower),
                UP => _mm512_mask_test_epi16_mask(!_mm512_movepi16_mask(upper), lower, lower),
                _ => {
                    // More than half the last place, or half and that place is odd: then it counts as a bit more.
                    let odd_is_more = _mm512_ternarylogic_epi32::<0xf8>(lower, upper, _mm512_set1_epi16(1));
                    _mm512_cmpgt_epu16_mask(odd_is_more, _mm512_set1_epi16(i16::MIN))
                }
            };
            let rounded = if ROUND == ZERO { upper } else { increased(upper, grows) };
            if STREAM {
                _mm512_stream_si512(to.as_mut_ptr().cast(), rounded);
            } else {
                _mm512_storeu_si512(to.as_mut_ptr().cast(), rounded);
            }
        });
    }
    #[inline(always)]
    fn mul_add_to_odd(a: __m512, b: __m512, c: __m512) -> __m512 {
        avx512!({
            let below = _mm512_fmadd_round_ps::<DOWN>(a, b, c);
            _mm512_mask_mov_ps(below, even(below), _mm512_fmadd_round_ps::<UP>(a, b, c))
        })
    }
}

/// In f32, for a rounding to 16 bits in the direction `ROUND`: in that direction, or to odd.
#[inline(always)]
fn mul_add<H: Half, const ROUND: i32>(a: F32x16, b: F32x16, c: F32x16) -> F32x16 {
    if ROUND == NEAREST {
        return F32x16(H::mul_add_to_odd(a.0, b.0, c.0));
    }
    F32x16::mul_add::<ROUND>(a, b, c)
}

/// The lesser absolute value, if either is a NaN the other one's.
#[inline(always)]
fn least(one: F32x16, other: F32x16) -> F32x16 {
    F32x16(avx512!(_mm512_range_round_ps::<0b1010, QUIETLY>(one.0, other.0)))
}

/// `to`, where the mask has its bytes: the other halves of `from`'s lanes of 32 bits. Without assembly the compiler takes
/// two instructions.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn exchanged<const BYTES: u64>(mut to: __m512i, from: __m512i) -> __m512i {
    let order = _mm512_set4_epi32(0x0d0c_0f0e, 0x0908_0b0a, 0x0504_0706, 0x0100_0302);
    // SAFETY: only the registers are read, and `to` is written.
    unsafe {
        core::arch::asm!(
            "vpshufb {to}{{{bytes}}}, {from}, {order}",
            to = inout(zmm_reg) to,
            bytes = in(kreg) BYTES,
            from = in(zmm_reg) from,
            order = in(zmm_reg) order,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    to
}

/// One more in the mask's lanes of 16 bits; assembly for the same reason.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn increased(mut lanes: __m512i, mask: __mmask32) -> __m512i {
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "vpsubw {lanes}{{{mask}}}, {lanes}, {minus_one}",
            lanes = inout(zmm_reg) lanes,
            mask = in(kreg) mask,
            minus_one = in(zmm_reg) _mm512_set1_epi16(-1),
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    lanes
}

/// The lanes whose last bit is zero.
#[inline(always)]
fn even(x: __m512) -> __mmask16 {
    avx512!(_mm512_testn_epi32_mask(_mm512_castps_si512(x), _mm512_set1_epi32(1)))
}

impl<H> Clone for Halves<H> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<H> Copy for Halves<H> {}

impl<H: Half> Halves<H> {
    #[inline(always)]
    fn new([one, other]: [F32x16; 2]) -> Self {
        Halves([one, other], PhantomData)
    }
    /// Bits in f32 of the smallest normal number.
    #[inline(always)]
    fn smallest_normal_bits() -> __m512i {
        avx512!(_mm512_castps_si512(H::splat(H::FORMAT.smallest_normal() as u16)))
    }
}

impl Mask for [__mmask16; 2] {
    const NONE: Self = [0; 2];
    #[inline(always)]
    fn union(self, other: Self) -> Self {
        [self[0] | other[0], self[1] | other[1]]
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        self[0] | self[1] == 0
    }
}

impl<H: Half> Vector for Halves<H> {
    type Lane = u16;
    type Array = [u16; 32];
    type Mask = [__mmask16; 2];
    type Magnitudes = [F32x16; 2];

    const LANES: usize = 32;
    const FORMAT: Format = H::FORMAT;
    const CANONICAL_NAN: bool = true;
    const HARDWARE_FLUSH: bool = false;

    #[inline(always)]
    fn load(from: &[u16; 32]) -> Self {
        let [one, other] = H::load(from);
        Self::new([F32x16(one), F32x16(other)])
    }
    #[inline(always)]
    fn store<const ROUND: i32>(self, to: &mut [u16; 32]) {
        let [one, other] = self.0;
        H::store::<ROUND, false>([one.0, other.0], to);
    }
    #[inline(always)]
    fn store_nontemporal<const ROUND: i32>(self, to: &mut [u16; 32]) {
        debug_assert!(to.as_ptr().cast::<__m512i>().is_aligned());
        let [one, other] = self.0;
        H::store::<ROUND, true>([one.0, other.0], to);
    }
    #[inline(always)]
    fn round<const ROUND: i32>(self) -> Self {
        let mut rounded = [0; 32];
        self.store::<ROUND>(&mut rounded);
        Self::load(&rounded)
    }
    #[inline(always)]
    fn splat(bits: u64) -> Self {
        Self::new([F32x16(H::splat(bits as u16)); 2])
    }
    #[inline(always)]
    fn flip(self, mask: Self) -> Self {
        Self::new([self.0[0].flip(mask.0[0]), self.0[1].flip(mask.0[1])])
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self::new([F32x16::select(mask[0], yes.0[0], no.0[0]), F32x16::select(mask[1], yes.0[1], no.0[1])])
    }
    #[inline(always)]
    fn to_zero(self, mask: Self::Mask) -> Self {
        Self::new([self.0[0].to_zero(mask[0]), self.0[1].to_zero(mask[1])])
    }
    #[inline(always)]
    fn zero(self) -> Self::Mask {
        [self.0[0].zero(), self.0[1].zero()]
    }
    #[inline(always)]
    fn unordered(one: Self, other: Self) -> Self::Mask {
        [F32x16::unordered(one.0[0], other.0[0]), F32x16::unordered(one.0[1], other.0[1])]
    }
    #[inline(always)]
    fn subnormal(self) -> Self::Mask {
        // Between zero and the smallest normal: zero wraps around.
        avx512!({
            let one = _mm512_set1_epi32(1);
            let bound = _mm512_sub_epi32(Self::smallest_normal_bits(), one);
            [
                _mm512_cmplt_epu32_mask(_mm512_sub_epi32(self.0[0].magnitude(), one), bound),
                _mm512_cmplt_epu32_mask(_mm512_sub_epi32(self.0[1].magnitude(), one), bound),
            ]
        })
    }
    #[inline(always)]
    fn magnitude(self) -> Self::Magnitudes {
        self.0
    }
    #[inline(always)]
    fn lesser(one: Self::Magnitudes, other: Self::Magnitudes) -> Self::Magnitudes {
        [least(one[0], other[0]), least(one[1], other[1])]
    }
    #[inline(always)]
    fn any_below(magnitudes: Self::Magnitudes, bound: Self::Magnitudes) -> bool {
        avx512!(_mm512_cmp_round_ps_mask::<_CMP_LT_OQ, QUIETLY>(least(magnitudes[0], magnitudes[1]).0, bound[0].0)) != 0
    }
    #[inline(always)]
    fn smallest_normal(self) -> Self::Mask {
        let bits = Self::smallest_normal_bits();
        avx512!([
            _mm512_cmpeq_epi32_mask(self.0[0].magnitude(), bits),
            _mm512_cmpeq_epi32_mask(self.0[1].magnitude(), bits),
        ])
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        Self::new([self.0[0].quiet(), self.0[1].quiet()])
    }
    #[inline(always)]
    fn rectify(self) -> Self {
        // As integers, so that a positive NaN stays.
        avx512!({
            let [one, other] = [_mm512_castps_si512(self.0[0].0), _mm512_castps_si512(self.0[1].0)];
            let zero = _mm512_setzero_si512();
            let [one, other] = [_mm512_max_epi32(one, zero), _mm512_max_epi32(other, zero)];
            Self::new([F32x16(_mm512_castsi512_ps(one)), F32x16(_mm512_castsi512_ps(other))])
        })
    }
    #[inline(always)]
    fn clamp(self) -> Self {
        Self::new([self.0[0].clamp(), self.0[1].clamp()])
    }
    #[inline(always)]
    fn mul_add<const ROUND: i32>(a: Self, b: Self, c: Self) -> Self {
        Self::new([mul_add::<H, ROUND>(a.0[0], b.0[0], c.0[0]), mul_add::<H, ROUND>(a.0[1], b.0[1], c.0[1])])
    }
    #[inline(always)]
    fn add<const ROUND: i32>(a: Self, c: Self) -> Self {
        Self::new([F32x16::add::<ROUND>(a.0[0], c.0[0]), F32x16::add::<ROUND>(a.0[1], c.0[1])])
    }
    #[inline(always)]
    fn mul<const ROUND: i32>(a: Self, b: Self) -> Self {
        Self::new([F32x16::mul::<ROUND>(a.0[0], b.0[0]), F32x16::mul::<ROUND>(a.0[1], b.0[1])])
    }
    run!();
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
