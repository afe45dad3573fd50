//! Branches and returns.

use super::statement::Inst;
use super::{Body, Entity, Named, Purpose, Result};
use crate::ast::{Operand as Written, OperandKind};
use crate::scopes::Found;
use crate::types::Type;
use roundonce_ir::{LARGEST_KERNEL, Op, Terminator};

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn bra(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let target = self.label(self.operand_at(inst, 0)?)?;
        self.branch(target);
        Ok(())
    }

    pub(super) fn exit(&mut self) {
        self.emit(Op::Exit);
        if self.guard.is_none() {
            self.after(Terminator::Exit);
        }
    }

    /// From a function that was inlined back to its call; from the kernel itself out.
    pub(super) fn ret(&mut self) {
        match self.calls.last() {
            Some(&(_, back)) => self.branch(back),
            None => {
                self.returns();
                self.exit();
            }
        }
    }

    /// Ends the block; what follows is reached by its own labels alone.
    fn after(&mut self, terminator: Terminator) {
        self.end(terminator);
        self.current = self.new_block();
    }

    /// On to a block, where the guard holds.
    fn branch(&mut self, target: usize) {
        let Some(guard) = self.guard.take() else {
            return self.after(Terminator::Jump(target));
        };
        let next = self.new_block();
        let (then, otherwise) = if guard.expected { (target, next) } else { (next, target) };
        self.end(Terminator::Branch { pred: guard.pred, then, otherwise });
        self.current = next;
    }

    fn label(&mut self, written: &Written<'a>) -> Result<usize> {
        let name = written.name().ok_or_else(|| self.unsupported("a computed branch target"))?;
        self.label_named(name)
    }

    fn label_named(&self, name: &str) -> Result<usize> {
        match self.scopes.find(name) {
            Some(Found::Name(_, Named { entity: Entity::Label(block), .. })) => Ok(*block),
            _ => Err(self.malformed(format!("there is no label `{name}`"))),
        }
    }

    /// `brx.idx i, targets`
    pub(super) fn brx(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        let index = self.value_at(inst, 0, Type::U32)?;
        let name = self.operand_at(inst, 1)?.name();
        let list = match name.and_then(|name| self.find(name)) {
            Some(Entity::Targets(list)) => self.operands(list),
            _ => return Err(self.malformed("there is no such list of targets")),
        };
        let count = |written: &Written| match written.kind {
            OperandKind::Range(_, count) => count as usize,
            _ => 1,
        };
        self.size = list.iter().map(count).fold(self.size, usize::saturating_add);
        if self.is_too_large() {
            return Ok(());
        }
        // What is only looked at has no limit of its own.
        if self.purpose == Purpose::Analysis && self.size > LARGEST_KERNEL {
            return Err(self.unsupported("a jump by one table more"));
        }
        let mut targets = Vec::new();
        for written in list {
            match written.kind {
                OperandKind::Range(prefix, count) => {
                    for number in 0..count {
                        targets.push(self.label_named(&format!("{prefix}{number}"))?);
                    }
                }
                _ => targets.push(self.label(written)?),
            }
        }
        if targets.is_empty() {
            return Err(self.malformed("the list of targets is empty"));
        }
        self.only_if(|body| {
            let (count, otherwise) = (targets.len(), body.new_block());
            body.end(Terminator::Switch { index, targets, otherwise });
            body.current = otherwise;
            let message = format!("the index is none of the {count} targets'");
            body.emit(Op::Trap { message, is_asked_for: false });
            body.after(Terminator::Exit);
            Ok(())
        })
    }

    /// Runs what cannot be guarded itself in a block that is entered where the guard holds.
    pub(super) fn only_if(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(guard) = self.guard.take() else { return work(self) };
        let (inside, next) = (self.new_block(), self.new_block());
        let (then, otherwise) = if guard.expected { (inside, next) } else { (next, inside) };
        self.end(Terminator::Branch { pred: guard.pred, then, otherwise });
        self.current = inside;
        let result = work(self);
        self.start(next);
        result
    }
}
