//! Which of a tile's vectors are the same: one of them is computed and kept.

use crate::kernel::Machine;

pub(super) const WARP: usize = 32;

/// Vectors that are the same. The fewer are left, the less it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Period {
    /// All of a tile.
    Tile,
    /// Of each warp, those so many apart; a warp has more.
    Warp(usize),
}

/// So many vectors has a warp.
pub(super) fn of_warp(machine: Machine) -> usize {
    WARP / machine.lanes()
}

/// The first vector that is the same as this one.
pub(super) fn first(period: Option<Period>, vector: usize, machine: Machine) -> usize {
    let in_warp = vector % of_warp(machine);
    match period {
        None => vector,
        Some(Period::Tile) => 0,
        Some(Period::Warp(apart)) => vector - in_warp + in_warp % apart,
    }
}

/// The least period of so many vectors of which it is known whether two are the same. Whole warps have one of their own.
pub(super) fn least(vectors: usize, machine: Machine, same: impl Fn(usize, usize) -> bool) -> Option<Period> {
    let of_warp = of_warp(machine);
    let in_warps = (0..of_warp.ilog2()).map(|log| Period::Warp(1 << log));
    let in_warps = in_warps.filter(|_| vectors.is_multiple_of(of_warp));
    let holds = |period: &Period| (0..vectors).all(|vector| same(vector, first(Some(*period), vector, machine)));
    std::iter::once(Period::Tile).chain(in_warps).find(holds)
}

/// The period of vectors of which those of a warp are the same as these functions of the operand's: of its own period, and made alike in all
/// warps.
pub(super) fn of_each_warp<K: PartialEq>(
    operand: Option<Period>,
    machine: Machine,
    made_of: impl Fn(usize) -> K,
) -> Option<Period> {
    let all: Vec<K> = (0..of_warp(machine)).map(made_of).collect();
    match least(all.len(), machine, |a, b| all[a] == all[b]) {
        Some(Period::Tile) if operand != Some(Period::Tile) => Some(Period::Warp(1)),
        period => period,
    }
}
