//! The input's bytes, read as choices.

/// Numbers at the edges of f32, f64 and the integers.
const EDGES: [u64; 24] = [
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
    0x3ff0_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Past the input's end every choice is the first one: a shorter input is a smaller program.
pub struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// Below a count: of one byte, or of two where one does not reach.
    pub fn below(&mut self, count: usize) -> usize {
        let low = usize::from(self.byte());
        let choice = if count > 256 { low | usize::from(self.byte()) << 8 } else { low };
        choice % count.max(1)
    }

    /// Seldom: never past the end.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// So many bits: an edge, or bytes of the input.
    pub fn bits(&mut self, width: u32) -> u64 {
        let bits = if self.byte() % 2 == 0 {
            let edge = *self.pick(&EDGES);
            if width == 64 && edge >> 32 == 0 && self.byte() % 2 == 1 { edge << 32 | edge } else { edge }
        } else {
            (0..width.div_ceil(8)).fold(0, |all, _| all << 8 | u64::from(self.byte()))
        };
        bits & (u64::MAX >> (64 - width))
    }

    /// Numbers that the first of them, which the input holds, go on to: data for buffers, where few bytes of input
    /// would make most of it zero.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        roundonce_scalar::numbers(self.bits(64) | 1, count)
    }
}
