//! Between the lanes of a warp.

use roundonce_ir::ShuffleMode;

/// The lane of the warp that a lane's shuffle reads, by PTX ISA 9.0, `shfl.sync`, and whether it is in range; out of range it
/// is the lane itself. `b` is the lane or the offset, `c` has the clamp value in bits 0-4 and the segment mask in bits 8-12.
pub(crate) fn shuffle_source(mode: ShuffleMode, lane: usize, b: u32, c: u32) -> (usize, bool) {
    let (b, c) = (b as usize & 31, c as usize);
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let lowest = lane & segment;
    let highest = lowest | (clamp & !segment & 31);
    let (from, in_range) = match mode {
        ShuffleMode::Up => {
            let from = lane as isize - b as isize;
            (from, from >= highest as isize)
        }
        ShuffleMode::Down => ((lane + b) as isize, lane + b <= highest),
        ShuffleMode::Butterfly => ((lane ^ b) as isize, lane ^ b <= highest),
        ShuffleMode::Index => {
            let from = lowest | (b & !segment & 31);
            (from as isize, from <= highest)
        }
    };
    (if in_range { from.clamp(0, 31) as usize } else { lane }, in_range)
}
