//! Registers and variables that a function declares.

use super::{Body, Entity, Named, RangeOf, Result, module};
use crate::ast::{Space, Variable, Variables};
use crate::types::Type;
use roundonce_ir::Width;

impl<'m, 'a> Body<'_, 'm, 'a> {
    /// Bytes and alignment of a variable.
    pub(super) fn size_of(&self, variable: &Variable<'a>) -> Result<(u32, u32)> {
        module::size_of(self.module, variable)
    }

    /// Registers and variables declared inside a function.
    pub(super) fn declare(&mut self, variables: Variables) -> Result<()> {
        for variable in self.module.variables(variables) {
            self.declare_one(variable)?;
        }
        Ok(())
    }

    fn declare_one(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        self.span = variable.span;
        if let Some(count) = variable.count {
            let of = self.range(variable, count)?;
            self.ranges += 1;
            self.scopes.declare_range(variable.name, count, (of, self.ranges));
            return Ok(());
        }
        let entity = match variable.space {
            Space::Reg => return self.declare_registers(variable),
            Space::Local => {
                let (size, align) = self.size_of(variable)?;
                self.local(size, align)?
            }
            Space::Param => match in_register(variable) {
                Some(ty) => Entity::CallParam(self.fresh(ty.width()), ty),
                None => {
                    let (size, align) = self.size_of(variable)?;
                    self.local(size, align)?
                }
            },
            Space::Shared => match self.shared.get(&variable.span.start) {
                Some(&offset) => Entity::Shared(offset),
                None => return Err(self.unsupported(format!("shared variable `{}`", variable.name))),
            },
            Space::Const(_) | Space::Global | Space::Tex | Space::Sreg => {
                return Err(self.unsupported(format!("`{}` inside a function", variable.space.text())));
            }
        };
        self.scopes.declare(variable.name, Named::of(variable, entity));
        Ok(())
    }

    fn declare_registers(&mut self, variable: &'m Variable<'a>) -> Result<()> {
        let ty = self.type_of_register(variable)?;
        let entity = self.register(ty, variable.lanes);
        self.name(variable.name, entity);
        Ok(())
    }

    fn type_of_register(&self, variable: &Variable<'a>) -> Result<Type> {
        Type::of(variable.ty).ok_or_else(|| self.unsupported(format!("a register of type `{}`", variable.ty)))
    }

    /// A register of a type and so many lanes; 128 bits are two halves, the lower one first.
    fn register(&mut self, ty: Type, lanes: u8) -> Entity<'m, 'a> {
        match lanes {
            _ if ty.bits > 64 => Entity::Vector(vec![self.fresh(Width::B64), self.fresh(Width::B64)]),
            0 | 1 => Entity::Register(self.fresh(ty.width()), ty),
            lanes => Entity::Vector((0..lanes).map(|_| self.fresh(ty.width())).collect()),
        }
    }

    /// What the names of a range stand for.
    fn range(&mut self, variable: &'m Variable<'a>, count: u32) -> Result<RangeOf> {
        if variable.space == Space::Reg {
            return Ok(RangeOf::Register(self.type_of_register(variable)?, variable.lanes));
        }
        if let (Space::Param, Some(ty)) = (variable.space, in_register(variable)) {
            return Ok(RangeOf::CallParam(ty));
        }
        let (size, align) = self.size_of(variable)?;
        let each = size / count.max(1);
        let first = match (variable.space, self.shared.get(&variable.span.start)) {
            _ if !each.is_multiple_of(align.max(1)) => None,
            (Space::Shared, Some(&offset)) => Some(RangeOf::Shared(offset, each)),
            (Space::Local | Space::Param, _) => match self.local(size, align)? {
                Entity::Local(first) => Some(RangeOf::Local(first, each)),
                Entity::Frame(first) => Some(RangeOf::Frame(first, each)),
                _ => None,
            },
            _ => None,
        };
        first.ok_or_else(|| self.unsupported(format!("`{}<{count}>` of `{}`", variable.name, variable.space.text())))
    }

    /// What one name of a range stands for.
    pub(super) fn of_range(&mut self, of: RangeOf, number: u32) -> Entity<'m, 'a> {
        match of {
            RangeOf::Register(ty, lanes) => self.register(ty, lanes),
            RangeOf::CallParam(ty) => Entity::CallParam(self.fresh(ty.width()), ty),
            RangeOf::Local(first, each) => Entity::Local(first + number * each),
            RangeOf::Frame(first, each) => Entity::Frame(first + number * each),
            RangeOf::Shared(first, each) => Entity::Shared(first + number * each),
        }
    }
}

/// The type of a parameter of a call that a register holds, as long as its address is not taken.
fn in_register(variable: &Variable<'_>) -> Option<Type> {
    let ty = Type::of(variable.ty).filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1)?;
    (16..=64).contains(&ty.bits).then_some(ty)
}
