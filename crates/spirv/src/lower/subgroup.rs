//! Communication among the 32 invocations of a subgroup.

use roundonce_arith::{ArithOp, Rounding};
use roundonce_ir::{
    Comparand, Comparison, IntOp, Op, Operand, Scalar, ShuffleMode, Signedness, Special, VoteMode, Width,
};
use rspirv::spirv::{GroupOperation, Op as Opcode, Scope};

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    fn of_subgroup(&self) -> Result<()> {
        match self.lowering.constants.scalar(self.operand(0)?) {
            Some(scope) if scope == Scope::Subgroup as u64 => Ok(()),
            _ => Err(self.unsupported(format!("{} of a scope other than Subgroup", self.opcode()))),
        }
    }

    /// A reduction or a scan: the values of the active lanes, from the lowest on.
    pub(super) fn group_operation(&mut self, op: Opcode) -> Result<()> {
        self.of_subgroup()?;
        self.scan(op)
    }

    /// The same, whatever the scope is.
    pub(super) fn scan(&mut self, op: Opcode) -> Result<()> {
        let kind = GroupOperation::from_u32(self.operand(1)?);
        let Components { part, parts } = self.components(self.operand(2)?)?;
        let lane = self.lane();
        let active = self.active();
        let (last, limit) = match kind {
            Some(GroupOperation::Reduce | GroupOperation::ClusteredReduce) => (Comparison::Ge, None),
            Some(GroupOperation::InclusiveScan) => (Comparison::Ge, Some(lane)),
            Some(GroupOperation::ExclusiveScan) => (Comparison::Gt, Some(lane)),
            _ => return Err(self.unsupported(format!("{} of this kind", self.opcode()))),
        };
        let identity = identity(op, kind, part).ok_or_else(|| self.malformed("the value is of another type"))?;
        if matches!(part, Part::Float(_)) {
            self.open(format!("{}: from the lowest lane on", self.opcode()));
        }
        let cluster = match kind {
            Some(GroupOperation::ClusteredReduce) => {
                let size = self.cluster_size(self.operand(3)?)?;
                let of = self.int(IntOp::And, Width::B32, &[lane, Operand::Imm(32 - size)]);
                Some((of, 32 - size))
            }
            _ => None,
        };
        let mut takes = Vec::new();
        for at in 0..32 {
            let bit = self.int(IntOp::And, Width::B32, &[active, Operand::Imm(1 << at)]);
            let here = self.is_not_zero(Width::B32, bit);
            takes.push(match (limit, cluster) {
                (None, None) => here,
                (None, Some((of, mask))) => {
                    let same =
                        self.compare(Comparison::Eq, Comparand::Unsigned(Width::B32), of, Operand::Imm(at & mask));
                    self.int(IntOp::And, Width::Pred, &[here, same])
                }
                (Some(lane), _) => {
                    let below = self.compare(last, Comparand::Unsigned(Width::B32), lane, Operand::Imm(at));
                    self.int(IntOp::And, Width::Pred, &[here, below])
                }
            });
        }
        let mut results = Vec::new();
        for &a in &parts[..] {
            let mut all = Operand::Imm(identity);
            for (at, &takes) in takes.iter().enumerate() {
                let value = self.other_lane(part, ShuffleMode::Index, a, Operand::Imm(at as u64));
                let combined = self.combined(op, part, all, value);
                all = self.select(part.width(), takes, combined, all);
            }
            results.push(all);
        }
        self.define(results)
    }

    pub(super) fn combined(&mut self, op: Opcode, part: Part, a: Operand, b: Operand) -> Operand {
        let (op, signed) = match (op, part) {
            (Opcode::GroupNonUniformFAdd, Part::Float(format)) => return self.float(ArithOp::Add, format, &[a, b]),
            (Opcode::GroupNonUniformFMul, Part::Float(format)) => return self.float(ArithOp::Mul, format, &[a, b]),
            (Opcode::GroupNonUniformFMax, Part::Float(format)) => return self.maximum(format, a, b),
            (_, Part::Float(format)) => return self.minimum(format, a, b),
            (Opcode::GroupNonUniformIAdd, _) => (IntOp::Add, false),
            (Opcode::GroupNonUniformIMul, _) => (IntOp::Mul, false),
            (Opcode::GroupNonUniformSMin, _) => (IntOp::Min(Signedness::Signed), true),
            (Opcode::GroupNonUniformUMin, _) => (IntOp::Min(Signedness::Unsigned), false),
            (Opcode::GroupNonUniformSMax, _) => (IntOp::Max(Signedness::Signed), true),
            (Opcode::GroupNonUniformUMax, _) => (IntOp::Max(Signedness::Unsigned), false),
            (Opcode::GroupNonUniformBitwiseAnd | Opcode::GroupNonUniformLogicalAnd, _) => (IntOp::And, false),
            (Opcode::GroupNonUniformBitwiseOr | Opcode::GroupNonUniformLogicalOr, _) => (IntOp::Or, false),
            _ => (IntOp::Xor, false),
        };
        self.int_of(op, part, Self::sign(signed), &[a, b])
    }

    pub(super) fn subgroup(&mut self, op: Opcode) -> Result<()> {
        self.of_subgroup()?;
        if op == Opcode::GroupNonUniformElect {
            let (mask, p) = (self.active(), self.fresh(Width::Pred));
            self.emit(Op::Elect { d: None, p, mask });
            return self.define(vec![p.into()]);
        }
        let Components { part, parts } = self.components(self.operand(1)?)?;
        match op {
            Opcode::GroupNonUniformAll | Opcode::GroupNonUniformAny => {
                let mode = if op == Opcode::GroupNonUniformAll { VoteMode::All } else { VoteMode::Any };
                let d = self.vote(mode, parts[0]);
                self.define(vec![d])
            }
            Opcode::GroupNonUniformBallot => {
                let d = self.vote(VoteMode::Ballot, parts[0]);
                self.define(vec![d, Operand::ZERO, Operand::ZERO, Operand::ZERO])
            }
            Opcode::GroupNonUniformAllEqual => self.all_equal(part, &parts),
            _ => {
                let mode = match op {
                    Opcode::GroupNonUniformShuffleXor => ShuffleMode::Butterfly,
                    Opcode::GroupNonUniformShuffleUp => ShuffleMode::Up,
                    Opcode::GroupNonUniformShuffleDown => ShuffleMode::Down,
                    _ => ShuffleMode::Index,
                };
                let lane = if op == Opcode::GroupNonUniformBroadcastFirst {
                    self.leader()
                } else {
                    let (part, lane) = self.scalar(self.operand(2)?)?;
                    self.resized(part, Signedness::Unsigned, 32, lane)
                };
                let parts: Vec<_> = parts.iter().map(|&a| self.other_lane(part, mode, a, lane)).collect();
                self.define(parts)
            }
        }
    }

    /// Whether all active lanes have the same value.
    fn all_equal(&mut self, part: Part, parts: &[Operand]) -> Result<()> {
        let leader = self.leader();
        let mut all = Operand::Imm(1);
        for &a in parts {
            let first = self.other_lane(part, ShuffleMode::Index, a, leader);
            let equal = match part {
                Part::Float(format) => {
                    self.compare(Comparison::Eq, Comparand::Float { format, flush: false }, a, first)
                }
                Part::Bool => {
                    let differs = self.int(IntOp::Xor, Width::Pred, &[a, first]);
                    self.not(differs)
                }
                _ => self.compare(Comparison::Eq, Comparand::Unsigned(part.width()), a, first),
            };
            all = self.int(IntOp::And, Width::Pred, &[all, equal]);
        }
        let d = self.vote(VoteMode::All, all);
        self.define(vec![d])
    }

    /// Instructions of SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote and SPV_INTEL_subgroups: of the subgroup, without naming
    /// it.
    pub(super) fn khr_subgroup(&mut self, op: Opcode) -> Result<()> {
        let Components { part, parts } = self.components(self.operand(0)?)?;
        match op {
            Opcode::SubgroupBallotKHR => {
                let d = self.vote(VoteMode::Ballot, parts[0]);
                self.define(vec![d, Operand::ZERO, Operand::ZERO, Operand::ZERO])
            }
            Opcode::SubgroupAllKHR | Opcode::SubgroupAnyKHR => {
                let mode = if op == Opcode::SubgroupAllKHR { VoteMode::All } else { VoteMode::Any };
                let d = self.vote(mode, parts[0]);
                self.define(vec![d])
            }
            Opcode::SubgroupAllEqualKHR => self.all_equal(part, &parts),
            _ => {
                let lane = if op == Opcode::SubgroupFirstInvocationKHR {
                    self.leader()
                } else {
                    let (part, lane) = self.scalar(self.operand(1)?)?;
                    self.resized(part, Signedness::Unsigned, 32, lane)
                };
                let exchanges = op == Opcode::SubgroupShuffleXorINTEL;
                let mode = if exchanges { ShuffleMode::Butterfly } else { ShuffleMode::Index };
                let parts: Vec<_> = parts.iter().map(|&a| self.other_lane(part, mode, a, lane)).collect();
                self.define(parts)
            }
        }
    }

    /// How many lanes a cluster has, by its constant.
    fn cluster_size(&self, constant: u32) -> Result<u64> {
        let size = self.lowering.constants.scalar(constant);
        let size = size.filter(|size| size.is_power_of_two() && *size <= 32);
        size.ok_or_else(|| self.malformed("the cluster's size is no power of two up to 32"))
    }

    fn lane(&mut self) -> Operand {
        let d = self.fresh(Width::B32);
        self.emit(Op::Special { d, special: Special::Lane });
        d.into()
    }

    /// What a ballot says: its first word has a bit for each of the 32 lanes.
    pub(super) fn of_ballot(&mut self, op: Opcode) -> Result<()> {
        self.of_subgroup()?;
        let counts = op == Opcode::GroupNonUniformBallotBitCount;
        let Components { part, parts } = self.components(self.operand(if counts { 2 } else { 1 })?)?;
        if part.bits() != 32 || parts.len() != 4 {
            return Err(self.malformed("the ballot is no vector of four words"));
        }
        let ballot = parts[0];
        let value = match op {
            Opcode::GroupNonUniformInverseBallot => {
                let lane = self.lane();
                self.bit_of(ballot, lane)
            }
            Opcode::GroupNonUniformBallotBitExtract => {
                let (of, index) = self.scalar(self.operand(2)?)?;
                let index = self.resized(of, Signedness::Unsigned, 32, index);
                let shift = IntOp::Shr(Signedness::Unsigned);
                let word = self.int(shift, Width::B32, &[index, Operand::Imm(5)]);
                let word = self.component_at(part, &parts, part, word);
                let place = self.int(IntOp::And, Width::B32, &[index, Operand::Imm(31)]);
                self.bit_of(word, place)
            }
            Opcode::GroupNonUniformBallotFindLSB => self.find_lowest(part, ballot),
            Opcode::GroupNonUniformBallotFindMSB => self.find_highest(part, Signedness::Unsigned, ballot),
            _ => {
                let mask = match GroupOperation::from_u32(self.operand(1)?) {
                    Some(GroupOperation::Reduce) => None,
                    Some(GroupOperation::InclusiveScan) => Some(Special::MaskLe),
                    Some(GroupOperation::ExclusiveScan) => Some(Special::MaskLt),
                    _ => return Err(self.unsupported(format!("{} of this kind", self.opcode()))),
                };
                let counted = match mask {
                    Some(special) => {
                        let d = self.fresh(Width::B32);
                        self.emit(Op::Special { d, special });
                        self.int(IntOp::And, Width::B32, &[ballot, d.into()])
                    }
                    None => ballot,
                };
                self.int(IntOp::PopCount, Width::B32, &[counted])
            }
        };
        let to = self.result()?.0;
        let from = Part::Int { bits: 32, signed: true };
        let value = if to == Part::Bool { value } else { self.resized(from, Signedness::Signed, to.bits(), value) };
        self.define(vec![value])
    }

    /// Whether a word has a bit set.
    fn bit_of(&mut self, word: Operand, place: Operand) -> Operand {
        let low = self.int(IntOp::Shr(Signedness::Unsigned), Width::B32, &[word, place]);
        let bit = self.int(IntOp::And, Width::B32, &[low, Operand::Imm(1)]);
        self.is_not_zero(Width::B32, bit)
    }

    /// A value from another lane of the four that belong together, or from one so many lanes on.
    pub(super) fn neighbour_lane(&mut self, op: Opcode) -> Result<()> {
        self.of_subgroup()?;
        let Components { part, parts } = self.components(self.operand(1)?)?;
        let (of, given) = self.scalar(self.operand(2)?)?;
        let given = self.resized(of, Signedness::Unsigned, 32, given);
        let own = self.lane();
        let and = |body: &mut Self, a, mask: u64| body.int(IntOp::And, Width::B32, &[a, Operand::Imm(mask)]);
        let (mode, lane) = match op {
            // 0 across, 1 down, 2 both: the bits of the lane's number that are turned.
            Opcode::GroupNonUniformQuadSwap => {
                (ShuffleMode::Butterfly, self.int(IntOp::Add, Width::B32, &[given, Operand::Imm(1)]))
            }
            Opcode::GroupNonUniformQuadBroadcast => {
                let (quad, place) = (and(self, own, 28), and(self, given, 3));
                (ShuffleMode::Index, self.int(IntOp::Or, Width::B32, &[quad, place]))
            }
            _ => {
                let size = match self.operands().get(3) {
                    Some(&size) => self.cluster_size(size)?,
                    None => 32,
                };
                let moved = self.int(IntOp::Add, Width::B32, &[own, given]);
                let (cluster, place) = (and(self, own, 32 - size), and(self, moved, size - 1));
                (ShuffleMode::Index, self.int(IntOp::Or, Width::B32, &[cluster, place]))
            }
        };
        let parts: Vec<_> = parts.iter().map(|&a| self.other_lane(part, mode, a, lane)).collect();
        self.define(parts)
    }

    /// This invocation's place among those of its subgroup, and how many they are.
    pub(super) fn place_in_subgroup(&mut self) -> (Operand, Operand) {
        let (all, below) = (self.active(), self.fresh(Width::B32));
        self.emit(Op::Special { d: below, special: Special::MaskLt });
        let before = self.int(IntOp::And, Width::B32, &[all, below.into()]);
        let mut count = |mask| {
            let count = self.int(IntOp::PopCount, Width::B32, &[mask]);
            self.resized(Part::Int { bits: 32, signed: false }, Signedness::Unsigned, 64, count)
        };
        (count(before), count(all))
    }

    fn active(&mut self) -> Operand {
        let d = self.fresh(Width::B32);
        self.emit(Op::ActiveMask { d });
        d.into()
    }

    /// The lowest active lane.
    fn leader(&mut self) -> Operand {
        let (mask, d, p) = (self.active(), self.fresh(Width::B32), self.fresh(Width::Pred));
        self.emit(Op::Elect { d: Some(d), p, mask });
        d.into()
    }

    pub(super) fn vote(&mut self, mode: VoteMode, a: Operand) -> Operand {
        let d = self.fresh(if mode == VoteMode::Ballot { Width::B32 } else { Width::Pred });
        self.emit(Op::Vote { d, mode, a, mask: None });
        d.into()
    }

    /// A value of any type from another lane, 32 bits at a time.
    pub(super) fn other_lane(&mut self, part: Part, mode: ShuffleMode, a: Operand, lane: Operand) -> Operand {
        let one = |body: &mut Self, a: Operand| {
            let d = body.fresh(Width::B32);
            let c = Operand::Imm(if mode == ShuffleMode::Up { 0 } else { 31 });
            body.emit(Op::Shuffle { d, p: None, mode, a, b: lane, c, mask: None });
            Operand::Reg(d)
        };
        let scalar = |bits| Scalar::Int { bits, signed: false };
        match part.width() {
            Width::Pred => {
                let a = self.select(Width::B32, a, Operand::Imm(1), Operand::ZERO);
                let d = one(self, a);
                self.is_not_zero(Width::B32, d)
            }
            Width::B16 => {
                let a = self.convert(scalar(16), scalar(32), Rounding::TowardZero, a);
                let d = one(self, a);
                self.convert(scalar(32), scalar(16), Rounding::TowardZero, d)
            }
            Width::B32 => one(self, a),
            Width::B64 => {
                let [low, high] = [0, 32].map(|shift| self.extract(Width::B32, Width::B64, a, shift));
                let (low, high) = (one(self, low), one(self, high));
                self.pack(Width::B64, low, high)
            }
        }
    }
}

/// What changes nothing: the bits that a reduction of no values has.
pub(super) fn identity(op: Opcode, kind: Option<GroupOperation>, part: Part) -> Option<u64> {
    let width = part.width();
    let highest = |bits: u32| u64::MAX >> (65 - bits);
    Some(match (op, part) {
        // −0 + x is x, whatever x is; but an exclusive scan returns +0 in the first lane.
        (Opcode::GroupNonUniformFAdd, Part::Float(_)) if kind == Some(GroupOperation::ExclusiveScan) => 0,
        (Opcode::GroupNonUniformFAdd, Part::Float(format)) => format.sign_mask(),
        (Opcode::GroupNonUniformFMul, Part::Float(format)) => format.one(),
        (Opcode::GroupNonUniformFMin, Part::Float(format)) => format.infinity(),
        (Opcode::GroupNonUniformFMax, Part::Float(format)) => format.infinity() | format.sign_mask(),
        (Opcode::GroupNonUniformLogicalAnd, Part::Bool) => 1,
        (Opcode::GroupNonUniformLogicalOr | Opcode::GroupNonUniformLogicalXor, Part::Bool) => 0,
        (Opcode::GroupNonUniformIMul, Part::Int { .. }) => 1,
        (Opcode::GroupNonUniformSMin, Part::Int { bits, .. }) => highest(bits),
        (Opcode::GroupNonUniformSMax, Part::Int { bits, .. }) => highest(bits) + 1,
        (Opcode::GroupNonUniformUMin | Opcode::GroupNonUniformBitwiseAnd, Part::Int { bits, .. }) => {
            width.mask() >> (width.bits() - bits)
        }
        (
            Opcode::GroupNonUniformIAdd
            | Opcode::GroupNonUniformUMax
            | Opcode::GroupNonUniformBitwiseOr
            | Opcode::GroupNonUniformBitwiseXor,
            Part::Int { .. },
        ) => 0,
        _ => return None,
    })
}
