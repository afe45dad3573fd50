//! Which threads of a block a tile's lanes are.

use super::LaunchConstants;

/// The layout of a tile's lanes.
#[derive(Clone, Debug)]
pub(super) struct TileLayout {
    pub(super) lanes: usize,
    /// Zeros, and the three axes of `tid`.
    pub(super) patterns: Vec<Vec<i64>>,
}

impl TileLayout {
    /// Tiles of so many lanes, if every tile of a block has the same pattern of threads.
    pub(super) fn new(block: [u32; 3], lanes: usize) -> Option<TileLayout> {
        let threads: usize = block.iter().map(|&axis| axis as usize).product();
        if !threads.is_multiple_of(lanes) {
            return None;
        }
        let axes: Vec<[i64; 3]> =
            (0..threads).map(|thread| LaunchConstants::axes(block, thread as u64).map(i64::from)).collect();
        let pattern = |tile: usize, axis: usize| {
            let tile = &axes[tile * lanes..(tile + 1) * lanes];
            tile.iter().map(move |at| at[axis] - tile[0][axis])
        };
        let first: Vec<Vec<i64>> = (0..3).map(|axis| pattern(0, axis).collect()).collect();
        let alike =
            (0..threads / lanes).all(|tile| (0..3).all(|axis| pattern(tile, axis).eq(first[axis].iter().copied())));
        alike.then(|| TileLayout { lanes, patterns: [vec![vec![0; lanes]], first].concat() })
    }
    /// The index of a pattern, which may be new.
    pub(super) fn pattern(&mut self, pattern: Vec<i64>) -> usize {
        self.patterns.iter().position(|other| *other == pattern).unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        })
    }
}
