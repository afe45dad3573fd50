//! Numbers that look random and are the same in every run: SplitMix64.

/// Mixes the bits of a number: SplitMix64's finalizer.
pub const fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// What the state of a sequence grows by.
pub const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next number of a sequence.
pub const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(INCREMENT);
    mixed(*state)
}
