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
        let kind = GroupOperation::from_u32(self.operand(1)?);
        let Components { part, parts } = self.components(self.operand(2)?)?;
        let lane = self.fresh(Width::B32);
        self.emit(Op::Special { d: lane, special: Special::Lane });
        let active = self.active();
        let (last, limit) = match kind {
            Some(GroupOperation::Reduce) => (Comparison::Ge, None),
            Some(GroupOperation::InclusiveScan) => (Comparison::Ge, Some(lane)),
            Some(GroupOperation::ExclusiveScan) => (Comparison::Gt, Some(lane)),
            _ => return Err(self.unsupported(format!("{} of this kind", self.opcode()))),
        };
        let identity = identity(op, kind, part).ok_or_else(|| self.malformed("the value is of another type"))?;
        if matches!(part, Part::Float(_)) {
            self.open(format!("{}: from the lowest lane on", self.opcode()));
        }
        let mut takes = Vec::new();
        for at in 0..32 {
            let bit = self.int(IntOp::And, Width::B32, &[active, Operand::Imm(1 << at)]);
            let here = self.is_not_zero(Width::B32, bit);
            takes.push(match limit {
                None => here,
                Some(lane) => {
                    let below = self.compare(last, Comparand::Unsigned(Width::B32), lane.into(), Operand::Imm(at));
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

    fn combined(&mut self, op: Opcode, part: Part, a: Operand, b: Operand) -> Operand {
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
            Opcode::GroupNonUniformAllEqual => {
                let leader = self.leader();
                let mut all = Operand::Imm(1);
                for &a in &parts[..] {
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

    fn vote(&mut self, mode: VoteMode, a: Operand) -> Operand {
        let d = self.fresh(if mode == VoteMode::Ballot { Width::B32 } else { Width::Pred });
        self.emit(Op::Vote { d, mode, a, mask: None });
        d.into()
    }

    /// A value of any type from another lane, 32 bits at a time.
    fn other_lane(&mut self, part: Part, mode: ShuffleMode, a: Operand, lane: Operand) -> Operand {
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
fn identity(op: Opcode, kind: Option<GroupOperation>, part: Part) -> Option<u64> {
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
