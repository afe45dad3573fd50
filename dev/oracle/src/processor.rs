//! This machine's processor as a judge: AVX-512's fused multiply-add with the direction in the instruction, for f32 and
//! f64. The fastest judge there is, and independent of the product.
//!
//! Its NaN bits are x86's, not ours: a NaN is only known to be one. Its flags are suppressed with the rounding field.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use crate::Direction;

/// Triples that are judged in one call.
pub const TRIPLES: usize = 16;

/// Whether the processor has the instructions.
pub fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
}

/// One direction of an intrinsic whose rounding is a constant.
macro_rules! rounded {
    ($call:ident, $direction:expr, $($operand:expr),*) => {
        match $direction {
            Direction::Nearest => $call::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>($($operand),*),
            Direction::Zero => $call::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>($($operand),*),
            Direction::Down => $call::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>($($operand),*),
            Direction::Up => $call::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>($($operand),*),
        }
    };
}

/// a × b + c of f32.
///
/// # Panics
/// If the processor has no AVX-512.
pub fn mul_add_f32(direction: Direction, triples: &[[u64; 3]; TRIPLES]) -> [u64; TRIPLES] {
    assert!(is_available(), "this processor has no AVX-512");
    // SAFETY: the features that the function is compiled for are there.
    unsafe { f32x16(direction, triples) }
}

/// a × b + c of f64.
///
/// # Panics
/// If the processor has no AVX-512.
pub fn mul_add_f64(direction: Direction, triples: &[[u64; 3]; TRIPLES]) -> [u64; TRIPLES] {
    assert!(is_available(), "this processor has no AVX-512");
    // SAFETY: as above.
    unsafe { f64x16(direction, triples) }
}

#[target_feature(enable = "avx512f")]
fn f32x16(direction: Direction, triples: &[[u64; 3]; TRIPLES]) -> [u64; TRIPLES] {
    let column = |place: usize| -> __m512 {
        let bits: [u32; TRIPLES] = core::array::from_fn(|i| triples[i][place] as u32);
        // SAFETY: sixteen 32-bit integers are as many bits as the vector; an unaligned load reads them.
        unsafe { _mm512_castsi512_ps(_mm512_loadu_si512(bits.as_ptr().cast())) }
    };
    let result = rounded!(_mm512_fmadd_round_ps, direction, column(0), column(1), column(2));
    let mut bits = [0_u32; TRIPLES];
    // SAFETY: as above, written.
    unsafe { _mm512_storeu_si512(bits.as_mut_ptr().cast(), _mm512_castps_si512(result)) };
    bits.map(u64::from)
}

#[target_feature(enable = "avx512f")]
fn f64x16(direction: Direction, triples: &[[u64; 3]; TRIPLES]) -> [u64; TRIPLES] {
    let mut bits = [0_u64; TRIPLES];
    for half in [0, TRIPLES / 2] {
        let column = |place: usize| -> __m512d {
            let bits: [u64; TRIPLES / 2] = core::array::from_fn(|i| triples[half + i][place]);
            // SAFETY: eight 64-bit integers are as many bits as the vector; an unaligned load reads them.
            unsafe { _mm512_castsi512_pd(_mm512_loadu_si512(bits.as_ptr().cast())) }
        };
        let result = rounded!(_mm512_fmadd_round_pd, direction, column(0), column(1), column(2));
        // SAFETY: `half` is 0 or 8: eight integers of the sixteen are written.
        unsafe { _mm512_storeu_si512(bits[half..].as_mut_ptr().cast(), _mm512_castpd_si512(result)) };
    }
    bits
}
