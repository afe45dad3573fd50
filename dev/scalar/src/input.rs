//! Numbers that a seed goes on to: what generated programs read. `dev/gpu/programs.py` has the same.

/// Words of a program's input.
const WORDS: usize = 320;
const EDGES: [u32; 19] = [
    0,
    1,
    2,
    31,
    33,
    0x7f,
    0x7fff,
    0x3c01,
    0x7c01,
    0x3f80_0000,
    0xbf80_0001,
    0x7f80_0000,
    0x7fc0_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8000_0000,
    0x7f7f_ffff,
    0x4b00_0001,
    0xffff_ffff,
];

/// The numbers that an odd seed goes on to; a quarter of them are edges of f32, f16 and the integers.
pub fn numbers(mut state: u64, count: usize) -> Vec<u32> {
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    (0..count)
        .map(|_| {
            let word = next();
            if word % 4 == 0 { EDGES[(word >> 8) as usize % EDGES.len()] } else { (word >> 32) as u32 }
        })
        .collect()
}

/// Numbers at the edges of f32, two of f16 or bf16 at a time, and of f64, whose upper and lower halves stand side by side.
const SINGLE: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0001,
    0x3f80_0000,
    0xbf80_0001,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0xffa0_0002,
    0x7fc0_0000,
    0xffc1_2345,
    0x387f_efff,
    0x7f7f_ffff,
];
const HALVES: [u32; 16] = [
    0x7c01_fc05,
    0x7e03_fe00,
    0x7c00_fc00,
    0x7f81_ff91,
    0x7fc3_ffc0,
    0x7f80_ff80,
    0x7ff7_fff7,
    0x7fff_8000,
    0x0001_83ff,
    0x0400_8080,
    0x007f_807f,
    0x3c00_bc01,
    0x3f80_bf81,
    0x7bff_fbff,
    0x7f7f_ff7f,
    0xffff_7ff7,
];
const UPPER: [u32; 16] = [
    0x7ff0_0000,
    0xfff0_0000,
    0x7ff0_0001,
    0xfff7_ffff,
    0x7ff8_0000,
    0xfff8_1234,
    0x000f_ffff,
    0x8000_0000,
    0x0000_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0x3690_0000,
    0xb80f_ffff,
    0x3f0f_fc00,
    0x47ef_ffff,
    0x7fef_ffff,
];
const LOWER: [u32; 8] = [0, 1, 0xffff_ffff, 0x2000_0000, 0x1000_0000, 0xe000_0000, 0x8000_0000, 0x0000_ffff];

/// The input that a seed goes on to: of four seeds, one has numbers of every kind, one each the edges of f32, of halves and of f64
/// beside them.
pub fn input(seed: u64) -> Vec<u32> {
    let mut words = numbers(2 * seed + 1, WORDS);
    let more = numbers(!(2 * seed), WORDS);
    for (place, (word, more)) in words.iter_mut().zip(more).enumerate() {
        let which = (more >> 8) as usize;
        *word = match (seed % 4, more % 4) {
            (0, _) | (_, 0) => *word,
            (1, _) => SINGLE[which % 16],
            (2, _) => HALVES[which % 16],
            _ if place % 2 == 1 => UPPER[which % 16],
            _ => LOWER[which % 8],
        };
    }
    words
}
