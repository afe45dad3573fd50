//! What the invocations of a subgroup, 32 neighbours, tell each other.

use roundonce_arith::Rounding;
use roundonce_isa::program::{Comparand, Comparison, IntOp, Op, Operand, Scalar, ShuffleMode, VoteMode, Width};
use rspirv::spirv::{Op as Opcode, Scope};

use super::types::Part;
use super::value::Components;
use super::{Body, Result};

impl Body<'_> {
    pub(super) fn subgroup(&mut self, op: Opcode) -> Result<()> {
        if self.lowering.constants.scalar(self.operand(0)?) != Some(Scope::Subgroup as u64) {
            return Err(self.unsupported(format!("{} of a scope other than Subgroup", self.opcode())));
        }
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
                        Part::Float(format) => self.compare(Comparison::Eq, Comparand::Float(format, false), a, first),
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
                    self.resized(part, false, 32, lane)
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
                let a = self.convert(scalar(16), scalar(32), Rounding::TowardZero, false, a);
                let d = one(self, a);
                self.convert(scalar(32), scalar(16), Rounding::TowardZero, false, d)
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
