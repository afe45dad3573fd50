//! Which of a tile's vectors are the same: one of them is computed and kept.

use super::{Shapes, VectorShape};
use crate::kernel::Machine;
use crate::native::butterfly::{How, Part, Step};
use crate::native::warp_lanes::{Lanes, WARP};
use crate::scalar::shuffle_source;
use roundonce_ir::{Operand, Reg};

/// Which vectors are the same. In order: what leaves fewer different ones is less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::native) enum Period {
    /// All of a tile.
    Tile,
    /// In each warp, those that are so many apart: fewer than a warp has.
    Warp(usize),
}

/// How many vectors a warp has.
fn of_warp(machine: Machine) -> usize {
    WARP / machine.lanes()
}

/// The first vector that is the same as this one.
fn first(period: Option<Period>, vector: usize, machine: Machine) -> usize {
    let in_warp = vector % of_warp(machine);
    match period {
        None => vector,
        Some(Period::Tile) => 0,
        Some(Period::Warp(apart)) => vector - in_warp + in_warp % apart,
    }
}

/// The least period of so many vectors, by what says whether two of them are the same.
fn least(vectors: usize, machine: Machine, same: impl Fn(usize, usize) -> bool) -> Option<Period> {
    let of_warp = of_warp(machine);
    let in_warps = (0..of_warp.ilog2()).map(|log| Period::Warp(1 << log));
    let in_warps = in_warps.filter(|_| vectors.is_multiple_of(of_warp));
    let holds = |period: &Period| (0..vectors).all(|vector| same(vector, first(Some(*period), vector, machine)));
    std::iter::once(Period::Tile).chain(in_warps).find(holds)
}

/// The period of what a warp's vectors are made into, in all warps alike: two are the same where they are made of the same.
fn of_each_warp<K: PartialEq>(
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

pub(super) fn repeated(period: Option<Period>) -> VectorShape {
    period.map_or(VectorShape::Varying, VectorShape::Repeated)
}

impl Shapes {
    /// Which of a shape's vectors are the same.
    pub(super) fn period(&self, shape: VectorShape) -> Option<Period> {
        match shape {
            VectorShape::Undefined | VectorShape::Constant(_) | VectorShape::Scalar(0) => Some(Period::Tile),
            VectorShape::Scalar(pattern) => {
                let vectors: Vec<&[i64]> = self.patterns[pattern].chunks(self.machine.lanes()).collect();
                least(vectors.len(), self.machine, |a, b| vectors[a] == vectors[b])
            }
            VectorShape::Repeated(period) => Some(period),
            VectorShape::Varying => None,
        }
    }
    /// The period of the vectors that a register is kept in.
    fn kept(&self, reg: Reg) -> Option<Period> {
        match self.shape(Operand::Reg(reg)) {
            // In vectors a number has its pattern added.
            VectorShape::Scalar(pattern) if pattern != 0 => None,
            shape => self.period(shape),
        }
    }
    /// The vectors that a register is kept in: of those that are the same, the first.
    pub(in crate::native) fn vectors(&self, reg: Reg) -> impl Iterator<Item = usize> + use<> {
        let (period, machine) = (self.kept(reg), self.machine);
        (0..self.lanes / machine.lanes()).filter(move |&vector| first(period, vector, machine) == vector)
    }
    /// The number among these of the one that has a vector's lanes.
    pub(in crate::native) fn place(&self, reg: Reg, vector: usize) -> usize {
        let of_warp = of_warp(self.machine);
        match self.kept(reg) {
            None => vector,
            Some(Period::Tile) => 0,
            Some(Period::Warp(apart)) => vector / of_warp * apart + vector % of_warp % apart,
        }
    }
    /// Whether two registers are kept in the same vectors.
    pub(in crate::native) fn are_kept_alike(&self, a: Reg, b: Reg) -> bool {
        self.kept(a) == self.kept(b)
    }
    /// The first vector that is the same as this one of an operand.
    pub(in crate::native) fn first_vector(&self, operand: Operand, vector: usize) -> usize {
        first(self.period(self.shape(operand)), vector, self.machine)
    }

    /// The lanes that a warp's lanes have their values from, and whether these are in range, where it is known before the launch.
    pub(in crate::native) fn sources(&self, (mode, b, c): How) -> Option<Vec<(usize, bool)>> {
        let (b, c) = (self.constant(b)?, self.constant(c)?);
        let sources = (0..WARP).map(|lane| shuffle_source(mode, lane, b as u32, c as u32));
        self.lanes.is_multiple_of(WARP).then(|| sources.collect())
    }
    pub(super) fn shuffled(&self, a: Operand, how: How) -> Option<Period> {
        let (operand, sources, lanes) = (self.period(self.shape(a)), self.sources(how)?, self.machine.lanes());
        let lane = |&(lane, _): &(usize, bool)| (self.first_vector(a, lane / lanes), lane % lanes);
        let vector = |vector: usize| sources[vector * lanes..][..lanes].iter().map(lane).collect::<Vec<_>>();
        of_each_warp(operand, self.machine, vector)
    }
    /// What a step of a reduction makes, where it is made of whole vectors.
    fn joined(&self, Step { value, how, .. }: Step) -> Option<Period> {
        let value = Operand::Reg(value);
        let (operand, sources, lanes) = (self.period(self.shape(value)), self.sources(how)?, self.machine.lanes());
        let is_whole = |vector: &[(usize, bool)]| {
            vector.iter().enumerate().all(|(at, &(lane, _))| lane == vector[0].0 / lanes * lanes + at)
        };
        let vector = |vector: usize| {
            let pair = [vector, sources[vector * lanes].0 / lanes].map(|vector| self.first_vector(value, vector));
            [pair[0].min(pair[1]), pair[0].max(pair[1])]
        };
        let period = of_each_warp(operand, self.machine, vector);
        period.filter(|_| sources.chunks(lanes).all(is_whole))
    }
    /// The same for what an instruction does for it, where that says more than the instruction alone.
    pub(super) fn of_step(&self, part: Part) -> Option<VectorShape> {
        Some(match part {
            Part::Result(step) => VectorShape::Repeated(self.joined(step)?),
            // What the result is kept in for whatever reason.
            Part::Given(step) => {
                let least = VectorShape::Repeated(self.joined(step)?);
                self.join(least, self.of[step.result.0 as usize])
            }
        })
    }
    /// A shape of which these lanes are read, in each warp: behind the last of them the vectors may be the same as those before.
    pub(super) fn where_read(&self, shape: VectorShape, read: Lanes) -> VectorShape {
        let vectors =
            (32 - read.leading_zeros()).div_ceil(self.machine.lanes() as u32).max(1).next_power_of_two() as usize;
        if vectors >= of_warp(self.machine) {
            return shape;
        }
        match shape {
            VectorShape::Varying => VectorShape::Repeated(Period::Warp(vectors)),
            VectorShape::Repeated(period) => VectorShape::Repeated(period.min(Period::Warp(vectors))),
            other => other,
        }
    }
    /// Whether a lane of a tile may run a block.
    pub(in crate::native) fn may_run(&self, block: usize, lane: usize) -> bool {
        self.warp_lanes.as_ref().is_none_or(|lanes| lanes.that_run(block) >> (lane % WARP) & 1 == 1)
    }
}
