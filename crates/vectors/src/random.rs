//! The pseudorandom generator SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).

pub(crate) const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function, which is a bijection.
#[inline]
pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The next 64 bits of the sequence.
#[inline]
pub fn split_mix_64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(INCREMENT);
    mix(*state)
}
