//! Instructions of a warp and of a block: shuffles, votes, barriers.

use super::statement::Inst;
use super::{Body, Result};
use crate::types::{ScalarKind, Type};
use roundonce_ir::{BarrierKind, IntOp, Op, Operand, Reduction, ShuffleMode, VoteMode};

/// Behind those that a block may name.
const CLUSTER_BARRIER: u64 = 16;

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn barrier(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let has = |modifier| inst.has(modifier);
        if has(".cluster") {
            // The cluster is this block. What waits has arrived.
            if has(".wait") {
                let (kind, id, count) = (BarrierKind::Wait, Operand::Imm(CLUSTER_BARRIER), None);
                self.emit(Op::Barrier { kind, id, count });
            }
            return Ok(());
        }
        if has(".warp") {
            let mask = self.value_at(inst, 0, Type::B32)?;
            self.emit(Op::WarpBarrier { mask });
            return Ok(());
        }
        if has(".red") {
            let last = inst.operands.len().saturating_sub(1);
            let p = self.value_at(inst, last, Type::PRED)?;
            let id = self.value_at(inst, 1, Type::U32)?;
            let count = if last > 2 { Some(self.value_at(inst, 2, Type::U32)?) } else { None };
            let kind = if has(".popc") {
                BarrierKind::Count { d: self.exact(self.operand_at(inst, 0)?, Type::U32)?, p }
            } else {
                BarrierKind::Reduce { d: self.exact(self.operand_at(inst, 0)?, Type::PRED)?, p, all: has(".and") }
            };
            self.emit(Op::Barrier { kind, id, count });
            return Ok(());
        }
        let id = if inst.operands.is_empty() { Operand::ZERO } else { self.value_at(inst, 0, Type::U32)? };
        let count = if inst.operands.len() > 1 { Some(self.value_at(inst, 1, Type::U32)?) } else { None };
        let kind = if has(".arrive") { BarrierKind::Arrive } else { BarrierKind::Wait };
        self.emit(Op::Barrier { kind, id, count });
        Ok(())
    }

    pub(super) fn shuffle(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let mode = inst.modifiers.iter().find_map(|modifier| match *modifier {
            ".up" => Some(ShuffleMode::Up),
            ".down" => Some(ShuffleMode::Down),
            ".bfly" => Some(ShuffleMode::Butterfly),
            ".idx" => Some(ShuffleMode::Index),
            _ => None,
        });
        let Some(mode) = mode else { return Err(self.refuse(inst)) };
        let (d, p) = self.pair(self.operand_at(inst, 0)?);
        let a = self.value_at(inst, 1, Type::B32)?;
        let (b, c) = (self.value_at(inst, 2, Type::U32)?, self.value_at(inst, 3, Type::U32)?);
        let mask = if inst.has(".sync") { Some(self.value_at(inst, 4, Type::B32)?) } else { None };
        let d = self.exact(d, Type::B32)?;
        let p = match p {
            Some(p) => Some(self.exact(p, Type::PRED)?),
            None => None,
        };
        self.emit(Op::Shuffle { d, p, mode, a, b, c, mask });
        Ok(())
    }

    pub(super) fn vote(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let mode = inst.modifiers.iter().find_map(|modifier| match *modifier {
            ".all" => Some(VoteMode::All),
            ".any" => Some(VoteMode::Any),
            ".uni" => Some(VoteMode::Uniform),
            ".ballot" => Some(VoteMode::Ballot),
            _ => None,
        });
        let Some(mode) = mode else { return Err(self.refuse(inst)) };
        let a = self.value_at(inst, 1, Type::PRED)?;
        let mask = if inst.has(".sync") { Some(self.value_at(inst, 2, Type::B32)?) } else { None };
        let ty = if mode == VoteMode::Ballot { Type::B32 } else { Type::PRED };
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Vote { d, mode, a, mask });
        Ok(())
    }

    pub(super) fn matching(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (d, p) = self.pair(self.operand_at(inst, 0)?);
        let (a, mask) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, Type::B32)?);
        let d = self.exact(d, Type::B32)?;
        let p = match p {
            Some(p) => Some(self.exact(p, Type::PRED)?),
            None => None,
        };
        self.emit(Op::Match { d, p, all: inst.has(".all"), width: ty.width(), a, mask });
        Ok(())
    }

    pub(super) fn redux(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let ty = self.type_of(inst)?;
        let (min, max) = (inst.has(".min"), inst.has(".max"));
        let reduction = match ty.kind {
            ScalarKind::Float(_) if (min || max) && ty.bits == 32 => {
                Reduction::Float { max, abs: inst.has(".abs"), nan: inst.has(".NaN") }
            }
            ScalarKind::Float(_) | ScalarKind::Pred => return Err(self.refuse(inst)),
            _ if min => Reduction::Int(IntOp::Min(ty.sign())),
            _ if max => Reduction::Int(IntOp::Max(ty.sign())),
            _ if inst.has(".add") => Reduction::Int(IntOp::Add),
            _ if inst.has(".and") => Reduction::Int(IntOp::And),
            _ if inst.has(".or") => Reduction::Int(IntOp::Or),
            _ if inst.has(".xor") => Reduction::Int(IntOp::Xor),
            _ => return Err(self.refuse(inst)),
        };
        let (a, mask) = (self.value_at(inst, 1, ty)?, self.value_at(inst, 2, Type::B32)?);
        let d = self.exact(self.operand_at(inst, 0)?, ty)?;
        self.emit(Op::Reduce { d, reduction, a, mask });
        Ok(())
    }

    pub(super) fn elect(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let (d, p) = self.pair(self.operand_at(inst, 0)?);
        let Some(p) = p else { return Err(self.refuse(inst)) };
        let mask = self.value_at(inst, 1, Type::B32)?;
        let discard = matches!(d.kind, crate::ast::OperandKind::Discard);
        let d = if discard { None } else { Some(self.exact(d, Type::B32)?) };
        let p = self.exact(p, Type::PRED)?;
        self.emit(Op::Elect { d, p, mask });
        Ok(())
    }
}
