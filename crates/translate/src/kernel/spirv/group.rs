//! What the lanes of a warp do together: a warp is a subgroup of 32 invocations, counted as the threads of a block are.
//!
//! OpenCL does not say which invocations are one subgroup; that they are 32 neighbours is noted as a warning. Only what all
//! lanes take part in has a counterpart: a subgroup has no masks.

use roundonce_ir::{Operand, Reg, ShuffleMode, Special, VoteMode};
use roundonce_isa::Version;

use super::super::location;
use super::body::{Body, Result};
use super::ids::{Id, Ty, Type};
use crate::rules;

const U32: Ty = Ty::U32;
/// The scope of a subgroup.
const SUBGROUP: u64 = 3;
/// Acquires and releases the memory of a block and of buffers.
const ORDERED: u64 = 0x8 | 0x100 | 0x200;

impl Body<'_> {
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
        let [execution, memory] = [SUBGROUP; 2].map(|scope| Id::constant(U32, scope));
        self.effect("OpControlBarrier", &[execution, memory, Id::constant(U32, ORDERED)]);
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
        self.warp(mask)?;
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

    /// A value of 32 bits from another lane.
    pub(super) fn shuffle_from(&mut self, value: Id, lane: Id) -> Id {
        self.module.capability("SubgroupShuffleINTEL");
        self.module.extension("SPV_INTEL_subgroups");
        self.emit(U32, "OpSubgroupShuffleINTEL", &[value, lane])
    }

    pub(super) fn vote(&mut self, d: Reg, mode: VoteMode, a: Operand, mask: Option<Operand>) -> Result {
        self.warp(mask)?;
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
