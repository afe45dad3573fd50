//! `cp.async`: a copy from global to shared memory.
//!
//! It is done at once. A program that reads the destination or writes the source before it has waited is not ordered
//! with the copy, so that every result it could see is one the documents allow; one that waits sees the same.

use super::memory::atomic_operation;
use super::operand::Address;
use super::statement::Inst;
use super::{Body, Result};
use crate::types::Type;
use roundonce_ir::{Comparand, Comparison, Guard, Op, Operand, Reg, Space, Width};

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn copy(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        match inst.modifiers {
            [".reduce", ".async", ".bulk", ..] => return self.reduce_bulk(inst),
            // Words of other forms.
            _ if atomic_operation(inst).is_some() || inst.has(".noftz") || inst.has(".reduce") => {
                return Err(self.refuse(inst));
            }
            _ if inst.has(".cp_mask") && !inst.has(".bulk_group") => return Err(self.refuse(inst)),
            _ if inst.has(".ignore_oob")
                && !inst.modifiers.starts_with(&[".async", ".bulk", ".shared::cta", ".global"]) =>
            {
                return Err(self.refuse(inst));
            }
            [".async", ".commit_group" | ".wait_group" | ".wait_all"]
            | [".async", ".bulk", ".commit_group" | ".wait_group" | ".prefetch", ..] => return Ok(()),
            [".async", ".mbarrier", ".arrive", ..] => return self.copy_arrives(inst),
            [".async", ".bulk", ..] => return self.copy_bulk(inst),
            [".async", ".ca" | ".cg", ..] => {}
            _ => return Err(self.refuse(inst)),
        }
        let (Address::Memory { base: to, offset: to_offset, .. }, Address::Memory { base: from, offset, .. }) =
            (self.address(self.operand_at(inst, 0)?)?, self.address(self.operand_at(inst, 1)?)?)
        else {
            return Err(self.refuse(inst));
        };
        let Operand::Imm(size @ (4 | 8 | 16)) = self.value_at(inst, 2, Type::U32)? else {
            return Err(self.malformed("`cp.async` copies 4, 8 or 16 bytes"));
        };
        let policy = inst.has(".L2::cache_hint");
        let limit = if inst.operands.len() > 3 + usize::from(policy) { Some(3) } else { None };
        let (to, from) = (self.base(to, Space::Shared)?, self.base(from, Space::Global)?);
        let Some(limit) = limit else {
            let words: Vec<Reg> = (0..size / 4).map(|_| self.fresh(Width::B32)).collect();
            let d = words.iter().copied().map(Some).collect();
            self.emit(Op::Load { d, space: Space::Global, bytes: 4, signed: false, address: from, offset });
            let values = words.into_iter().map(Operand::Reg).collect();
            let (space, width, address) = (Space::Shared, Width::B32, to);
            self.emit(Op::Store { values, width, space, bytes: 4, address, offset: to_offset });
            return Ok(());
        };
        // `ignore-src` is a predicate, `src-size` a number.
        let ignored = self.value_at(inst, limit, Type::PRED).ok().filter(|value| matches!(value, Operand::Reg(_)));
        let given = match ignored {
            Some(ignored) => {
                let given = self.fresh(Width::B32);
                let (a, b) = (Operand::ZERO, Operand::Imm(size));
                self.emit_always(Op::Select { d: given, p: ignored, a, b });
                given.into()
            }
            None => self.value_at(inst, limit, Type::U32)?,
        };
        self.only_if(|body| {
            if ignored.is_none() {
                body.trap_from(given, size + 1, "`src-size` is larger than `cp-size`");
            }
            for byte in 0..size {
                let (value, here) = (body.fresh(Width::B16), body.fresh(Width::Pred));
                body.emit(Op::Move { d: value, a: Operand::ZERO });
                let of = Comparand::Unsigned(Width::B32);
                let (a, b) = (Operand::Imm(byte), given);
                body.emit(Op::Compare { d: here, comparison: Comparison::Lt, of, a, b });
                body.guard = Some(Guard { pred: here, expected: true });
                let (space, d) = (Space::Global, vec![Some(value)]);
                let at = offset.wrapping_add(byte as i64);
                body.emit(Op::Load { d, space, bytes: 1, signed: false, address: from, offset: at });
                body.guard = None;
                let (values, width, space) = (vec![Operand::Reg(value)], Width::B16, Space::Shared);
                let offset = to_offset.wrapping_add(byte as i64);
                body.emit(Op::Store { values, width, space, bytes: 1, address: to, offset });
            }
            Ok(())
        })
    }
}
