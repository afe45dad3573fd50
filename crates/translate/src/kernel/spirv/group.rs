//! What the lanes of a warp do together: a warp is a subgroup of 32 invocations, counted as the threads of a block are.
//!
//! OpenCL does not say which invocations are one subgroup; that they are 32 neighbours is noted as a warning. Only what all
//! lanes take part in has a counterpart, or all that are here: a subgroup has no masks.

use roundonce_arith::Format;
use roundonce_ir::{Operand, Reduction, Reg, ShuffleMode, Special, VoteMode, Width};
use roundonce_isa::Version;

use super::super::location;
use super::body::{Body, Result};
use super::ids::{Id, Ty, Type};
use crate::rules;

const U32: Ty = Ty::U32;
/// The scope of a subgroup.
const SUBGROUP: u64 = 3;

impl Body<'_> {
    /// Notes that a warp is a subgroup, and that the lanes take part that are here: that is what a mask without any other
    /// says, and the mask that was asked for where it is used.
    fn lanes_here(&mut self, mask: Option<Operand>) -> Result {
        let asked = mask.map(|mask| self.read_as(mask, U32));
        let is_here = asked.is_some_and(|mask| self.here == Some((mask, self.at)));
        self.warp(mask.filter(|_| !is_here))
    }

    /// Notes that a warp is a subgroup, and that all of it takes part.
    pub(super) fn warp(&mut self, mask: Option<Operand>) -> Result {
        if let Some(mask) = mask
            && self.read_as(mask, U32).known() != Some(U32.mask())
        {
            return Err("lanes of a warp chosen by a mask".to_owned());
        }
        if self.options.environment().version() < Version(1, 1) {
            return Err("a subgroup of 32 invocations, which SPIR-V has from 1.1 on".to_owned());
        }
        if !std::mem::replace(&mut self.has_warps, true) {
            let what = format!("`{}`: a warp is a subgroup of 32 neighbours, as devices form them", self.kernel.name);
            self.losses.push(rules::WARP.finding(location(self.kernel, self.loc), what));
        }
        Ok(())
    }

    pub(super) fn warp_barrier(&mut self, mask: Operand) -> Result {
        self.warp(Some(mask))?;
        let [memory, semantics] = self.at_barrier(SUBGROUP);
        self.effect("OpControlBarrier", &[Id::constant(U32, SUBGROUP), memory, semantics]);
        Ok(())
    }

    /// PTX's `shfl`: the lane is computed as it says, and is its own where it is out of range.
    pub(super) fn shuffle(
        &mut self,
        (d, p): (Reg, Option<Reg>),
        mode: ShuffleMode,
        [a, b, c]: [Operand; 3],
        mask: Option<Operand>,
    ) -> Result {
        self.lanes_here(mask)?;
        let lane = self.number(Special::Lane)?.0;
        let (a, b, c) = (self.read_as(a, U32), self.read_as(b, U32), self.read_as(c, U32));
        let constant = |bits: u64| Id::constant(U32, bits);
        let five = |body: &mut Self, value: Id, shift: u64| match value.known() {
            Some(known) => constant(known >> shift & 31),
            None => {
                let moved = match shift {
                    0 => value,
                    _ => body.emit(U32, "OpShiftRightLogical", &[value, constant(shift)]),
                };
                body.emit(U32, "OpBitwiseAnd", &[moved, constant(31)])
            }
        };
        let (by, clamp, segment) = (five(self, b, 0), five(self, c, 0), five(self, c, 8));
        let others = match segment.known() {
            Some(known) => constant(!known & 31),
            None => self.emit(U32, "OpBitwiseXor", &[segment, constant(31)]),
        };
        let first = self.emit(U32, "OpBitwiseAnd", &[lane, segment]);
        let rest = match (clamp.known(), others.known()) {
            (Some(clamp), Some(others)) => constant(clamp & others),
            _ => self.emit(U32, "OpBitwiseAnd", &[clamp, others]),
        };
        let last = self.emit(U32, "OpBitwiseOr", &[first, rest]);
        let from = match mode {
            ShuffleMode::Up => self.emit(U32, "OpISub", &[lane, by]),
            ShuffleMode::Down => self.emit(U32, "OpIAdd", &[lane, by]),
            ShuffleMode::Butterfly => self.emit(U32, "OpBitwiseXor", &[lane, by]),
            ShuffleMode::Index => {
                let inside = self.emit(U32, "OpBitwiseAnd", &[by, others]);
                self.emit(U32, "OpBitwiseOr", &[first, inside])
            }
        };
        // Up from the first lane leads below 0.
        let compare = if mode == ShuffleMode::Up { "OpSGreaterThanEqual" } else { "OpSLessThanEqual" };
        let in_range = self.emit(Ty::Bool, compare, &[from, last]);
        let from = self.select(U32, in_range, from, lane);
        let value = self.shuffle_from(a, from);
        self.write(d, value, U32);
        if let Some(p) = p {
            self.write(p, in_range, Ty::Bool);
        }
        Ok(())
    }

    /// A value of 32 or 64 bits from another lane.
    pub(super) fn shuffle_wide(&mut self, value: Id, ty: Ty, lane: Id) -> Id {
        if ty != Ty::U64 {
            return self.shuffle_from(value, lane);
        }
        let halves = [0, 32].map(|shift| self.extracted(value, Ty::U64, shift, U32));
        let [low, high] = halves.map(|half| self.shuffle_from(half, lane));
        self.joined(Ty::U64, low, high)
    }

    /// A value of 32 bits from another lane.
    pub(super) fn shuffle_from(&mut self, value: Id, lane: Id) -> Id {
        self.module.capability("SubgroupShuffleINTEL");
        self.module.extension("SPV_INTEL_subgroups");
        self.emit(U32, "OpSubgroupShuffleINTEL", &[value, lane])
    }

    pub(super) fn vote(&mut self, d: Reg, mode: VoteMode, a: Operand, mask: Option<Operand>) -> Result {
        self.lanes_here(mask)?;
        let a = self.read_as(a, Ty::Bool);
        let value = match mode {
            VoteMode::Ballot => {
                let value = self.ballot(a);
                self.write(d, value, U32);
                return Ok(());
            }
            VoteMode::All => self.asked("OpSubgroupAllKHR", a),
            VoteMode::Any => self.asked("OpSubgroupAnyKHR", a),
            VoteMode::Uniform => {
                let (all, any) = (self.asked("OpSubgroupAllKHR", a), self.asked("OpSubgroupAnyKHR", a));
                let none = self.emit(Ty::Bool, "OpLogicalNot", &[any]);
                self.emit(Ty::Bool, "OpLogicalOr", &[all, none])
            }
        };
        self.write(d, value, Ty::Bool);
        Ok(())
    }

    /// The lanes that hold a lane's value: each is asked.
    pub(super) fn matching(
        &mut self,
        (d, p): (Reg, Option<Reg>),
        all: bool,
        width: Width,
        a: Operand,
        mask: Operand,
    ) -> Result {
        self.warp(Some(mask))?;
        let ty = Ty::of(width);
        let value = self.read_as(a, ty);
        let here = self.ballot(Id::constant(Ty::Bool, 1));
        let same = |body: &mut Self, lane: u64| {
            let other = body.shuffle_wide(value, ty, Id::constant(U32, lane));
            body.emit(Ty::Bool, "OpIEqual", &[value, other])
        };
        if all {
            // The first lane is always here.
            let equal = same(self, 0);
            let every = self.asked("OpSubgroupAllKHR", equal);
            let lanes = self.select(U32, every, here, Id::constant(U32, 0));
            self.write(d, lanes, U32);
            if let Some(p) = p {
                self.write(p, every, Ty::Bool);
            }
            return Ok(());
        }
        let mut lanes = Id::constant(U32, 0);
        for lane in 0..32 {
            let equal = same(self, lane);
            let bit = self.select(U32, equal, Id::constant(U32, 1 << lane), Id::constant(U32, 0));
            lanes = self.emit(U32, "OpBitwiseOr", &[lanes, bit]);
        }
        let lanes = self.emit(U32, "OpBitwiseAnd", &[lanes, here]);
        self.write(d, lanes, U32);
        Ok(())
    }

    /// The values of all lanes combined, pair by pair, to the first lane's, which it gives to all.
    pub(super) fn reduce(&mut self, d: Reg, reduction: Reduction, a: Operand, mask: Operand) -> Result {
        self.warp(Some(mask))?;
        let lane = self.number(Special::Lane)?.0;
        let mut value = self.read_as(a, U32);
        if let Reduction::Float { abs: true, .. } = reduction {
            let magnitude = Id::constant(U32, Format::F32.magnitude_mask());
            value = self.emit(U32, "OpBitwiseAnd", &[value, magnitude]);
        }
        let here = self.ballot(Id::constant(Ty::Bool, 1));
        for step in [16, 8, 4, 2, 1] {
            let from = self.emit(U32, "OpIAdd", &[lane, Id::constant(U32, step)]);
            let from = self.emit(U32, "OpBitwiseAnd", &[from, Id::constant(U32, 31)]);
            let other = self.shuffle_from(value, from);
            let pair = self.scratch_pair([value, other], U32);
            let combined = match reduction {
                Reduction::Int(op) => {
                    self.integer(op, Width::B32, &[pair[0], pair[1], Operand::ZERO, Operand::ZERO])?.0
                }
                Reduction::Float { max, nan, .. } => {
                    let (combined, ty) = self.extremum(max, (Format::F32, false), (nan, false), pair)?;
                    self.bitcast(combined, ty, U32)
                }
            };
            // Of lanes that are not here nothing comes, nor from beyond the last.
            let bit = self.emit(U32, "OpShiftRightLogical", &[here, from]);
            let bit = self.emit(U32, "OpBitwiseAnd", &[bit, Id::constant(U32, 1)]);
            let is_here = self.emit(Ty::Bool, "OpINotEqual", &[bit, Id::constant(U32, 0)]);
            let above = self.emit(Ty::Bool, "OpUGreaterThan", &[from, lane]);
            let counts = self.emit(Ty::Bool, "OpLogicalAnd", &[is_here, above]);
            value = self.select(U32, counts, combined, value);
        }
        let value = self.shuffle_from(value, Id::constant(U32, 0));
        self.write(d, value, U32);
        Ok(())
    }

    fn asked(&mut self, opcode: &str, a: Id) -> Id {
        self.module.capability("SubgroupVoteKHR");
        self.module.extension("SPV_KHR_subgroup_vote");
        self.emit(Ty::Bool, opcode, &[a])
    }

    fn ballot(&mut self, a: Id) -> Id {
        self.module.capability("SubgroupBallotKHR");
        self.module.extension("SPV_KHR_shader_ballot");
        let all = self.emit(Type::Vector(U32, 4), "OpSubgroupBallotKHR", &[a]);
        self.emit_with(U32, "OpCompositeExtract", &[all], "0")
    }

    pub(super) fn active_mask(&mut self, d: Reg) -> Result {
        self.warp(None)?;
        let value = self.ballot(Id::constant(Ty::Bool, 1));
        self.here = Some((value, self.at));
        self.write(d, value, U32);
        Ok(())
    }

    /// Of all lanes the first.
    pub(super) fn elect(&mut self, d: Option<Reg>, p: Reg, mask: Operand) -> Result {
        self.warp(Some(mask))?;
        let lane = self.number(Special::Lane)?.0;
        let first = self.emit(Ty::Bool, "OpIEqual", &[lane, Id::constant(U32, 0)]);
        if let Some(d) = d {
            self.write(d, Id::constant(U32, 0), U32);
        }
        self.write(p, first, Ty::Bool);
        Ok(())
    }
}
